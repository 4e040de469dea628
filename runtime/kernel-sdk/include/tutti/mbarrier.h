/* SPDX-License-Identifier: MIT */
/**
 * DOC: Barriers with transaction counts, pipelines
 *
 * A barrier is a 64-bit word in shared memory, 8-byte aligned; it works like CUDA's
 * mbarrier. A phase of it ends when the expected number of arrivals has come and all
 * announced bytes have been moved; the next phase begins by itself. A wave that waits
 * names the parity of the phase: 0 for the first one, 1 for the second, then 0 again.
 *
 *	uint64_t *full = tutti_shared(uint64_t, 0);
 *
 *	if (tutti_first_wave())
 *		tutti_mbarrier_init(full, 1);
 *	tutti_barrier();
 *	if (tutti_first_wave()) {
 *		tutti_mbarrier_arrive_expect(full, bytes);
 *		tutti_load_tile(tensor, tile, full, x, y);
 *	}
 *	tutti_mbarrier_wait(full, 0);
 *
 * Barriers of another CTA of the CGA can be used by their DSMEM pointers, too, except
 * for waiting. (spec TMA-22)
 */
#ifndef TUTTI_MBARRIER_H
#define TUTTI_MBARRIER_H

#include "tutti/device.h"
#include "tutti/tensor.h"

#define TUTTI_MBARRIER_TX_MASK ((1ull << TUTTI_MBARRIER_TX_BITS) - 1)

/**
 * tutti_mbarrier_init() - initialize a barrier that expects @arrivals per phase, 1 .. TUTTI_MBARRIER_ARRIVALS_MAX.
 * Other waves may use it after a tutti_barrier().
 */
static inline void tutti_mbarrier_init(uint64_t *barrier, uint32_t arrivals)
{
	__atomic_store_n(barrier, arrivals | (uint64_t)arrivals << TUTTI_MBARRIER_EXPECTED_SHIFT, __ATOMIC_RELEASE);
}

/** tutti_mbarrier_next() - the word's value after @arrivals arrivals and @bytes announced (if negative: moved). */
static inline uint64_t tutti_mbarrier_next(uint64_t word, uint32_t arrivals, int64_t bytes)
{
	uint64_t tx = (word >> TUTTI_MBARRIER_TX_SHIFT) + (uint64_t)bytes;

	tx &= TUTTI_MBARRIER_TX_MASK;
	word &= ~(TUTTI_MBARRIER_TX_MASK << TUTTI_MBARRIER_TX_SHIFT);
	word -= arrivals;
	if (arrivals && !tx && !(word & TUTTI_MBARRIER_ARRIVALS_MAX)) {
		word ^= 1ull << TUTTI_MBARRIER_PHASE_SHIFT;
		word |= word >> TUTTI_MBARRIER_EXPECTED_SHIFT & TUTTI_MBARRIER_ARRIVALS_MAX;
	}
	return word | tx << TUTTI_MBARRIER_TX_SHIFT;
}

/**
 * tutti_mbarrier_arrive_n() - announce @bytes and arrive @arrivals times, in one atomic step.
 * Return: parity of the phase that was current, for tutti_mbarrier_wait().
 */
static inline uint32_t tutti_mbarrier_arrive_n(uint64_t *barrier, uint32_t arrivals, uint32_t bytes)
{
	uint64_t word = __atomic_load_n(barrier, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(barrier, &word, tutti_mbarrier_next(word, arrivals, bytes), false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	return (uint32_t)(word >> TUTTI_MBARRIER_PHASE_SHIFT);
}

/** tutti_mbarrier_arrive() - arrive once. */
static inline uint32_t tutti_mbarrier_arrive(uint64_t *barrier)
{
	return tutti_mbarrier_arrive_n(barrier, 1, 0);
}

/** tutti_mbarrier_arrive_expect() - announce @bytes and arrive, as the wave that issues loads has to do. */
static inline uint32_t tutti_mbarrier_arrive_expect(uint64_t *barrier, uint32_t bytes)
{
	return tutti_mbarrier_arrive_n(barrier, 1, bytes);
}

/** tutti_mbarrier_expect() - announce @bytes; less than 2^20 may be outstanding at a time. */
static inline void tutti_mbarrier_expect(uint64_t *barrier, uint32_t bytes)
{
	tutti_mbarrier_arrive_n(barrier, 0, bytes);
}

/** tutti_mbarrier_test() - has the phase of @parity ended? */
static inline bool tutti_mbarrier_test(const uint64_t *barrier, uint32_t parity)
{
	return __atomic_load_n(barrier, __ATOMIC_ACQUIRE) >> TUTTI_MBARRIER_PHASE_SHIFT != (parity & 1);
}

/** tutti_mbarrier_wait() - wait until the phase of @parity has ended. Other waves run meanwhile. */
static inline void tutti_mbarrier_wait(const uint64_t *barrier, uint32_t parity)
{
	while (!tutti_mbarrier_test(barrier, parity))
		tutti_service2(TUTTI_SERVICE_MBARRIER_WAIT, (uintptr_t)barrier - tutti_wave()->shared, parity & 1);
}

/* ---- pipelines ----------------------------------------------------------- */

/**
 * struct tutti_pipeline - a wave's position in a ring of stages (buffers).
 *
 * Each stage has two barriers: "full", which loads complete, and "empty", at which
 * consumers arrive. Every wave has a struct of its own; a wave that both produces and
 * consumes has two.
 */
struct tutti_pipeline {
	uint64_t *full;  /* the "full" barriers of all stages, followed by their "empty" barriers */
	uint32_t stages;
	uint32_t stage;
	uint32_t parity;
};

/** TUTTI_PIPELINE_BYTES() - bytes of shared memory that a pipeline needs for its barriers. */
#define TUTTI_PIPELINE_BYTES(stages) ((stages) * 16u)

/**
 * tutti_pipeline_init() - initialize the barriers; called by one wave.
 * @releases: number of arrivals after which a stage counts as empty
 * Other waves may use the pipeline after a tutti_barrier().
 */
static inline void tutti_pipeline_init(uint64_t *barriers, uint32_t stages, uint32_t releases)
{
	for (uint32_t i = 0; i < stages; i++) {
		tutti_mbarrier_init(&barriers[i], 1);
		tutti_mbarrier_init(&barriers[stages + i], releases);
	}
}

/** tutti_pipeline() - a position at the first stage, from which every wave starts. */
static inline struct tutti_pipeline tutti_pipeline(uint64_t *barriers, uint32_t stages)
{
	return (struct tutti_pipeline){ barriers, stages, 0, 0 };
}

/** tutti_pipeline_advance() - move on to the next stage. */
static inline void tutti_pipeline_advance(struct tutti_pipeline *pipeline)
{
	if (++pipeline->stage < pipeline->stages)
		return;
	pipeline->stage = 0;
	pipeline->parity ^= 1;
}

/**
 * tutti_pipeline_acquire() - as the producer, wait until the stage is empty and announce @bytes.
 * Return: the barrier for the loads of this stage, whose number is pipeline->stage.
 */
static inline uint64_t *tutti_pipeline_acquire(struct tutti_pipeline *pipeline, uint32_t bytes)
{
	uint64_t *full = &pipeline->full[pipeline->stage];

	tutti_mbarrier_wait(full + pipeline->stages, pipeline->parity ^ 1);
	tutti_mbarrier_arrive_expect(full, bytes);
	return full;
}

/** tutti_pipeline_wait() - as a consumer, wait until the stage is full. Return: its number. */
static inline uint32_t tutti_pipeline_wait(struct tutti_pipeline *pipeline)
{
	tutti_mbarrier_wait(&pipeline->full[pipeline->stage], pipeline->parity);
	return pipeline->stage;
}

/** tutti_pipeline_release() - as a consumer, let the stage be filled again, and move on to the next one. */
static inline void tutti_pipeline_release(struct tutti_pipeline *pipeline)
{
	tutti_mbarrier_arrive(&pipeline->full[pipeline->stages + pipeline->stage]);
	tutti_pipeline_advance(pipeline);
}

/* ---- one wave does the work of several ----------------------------------- */

static inline bool tutti_one_chosen(uint64_t mask)
{
	return tutti_wave()->wave == (uint32_t)__builtin_ctzll(mask);
}

/* Without @barrier, @mask is all waves of the workgroup, or one wave, which has nobody to wait for. */
static inline void tutti_one_meet(uint64_t *barrier, uint64_t mask)
{
	tutti_fence();
	if (barrier)
		tutti_mbarrier_wait(barrier, tutti_mbarrier_arrive(barrier));
	else if (mask & (mask - 1))
		tutti_barrier();
}

static inline int tutti_one_enter(uint64_t *barrier, uint64_t mask)
{
	tutti_one_meet(barrier, mask);
	if (tutti_one_chosen(mask))
		return 1;
	tutti_one_meet(barrier, mask);
	return 0;
}

static inline int tutti_one_leave(uint64_t *barrier, uint64_t mask)
{
	tutti_one_meet(barrier, mask);
	return 0;
}

/**
 * tutti_one_sync() - run the block that follows in one wave of @mask, always the same one.
 * @mask: all waves of the workgroup, or a single one (bit w is wave w); for other sets see tutti_one_sync_at()
 *
 * All waves of @mask wait for each other before and after the block.
 */
#define tutti_one_sync(mask) tutti_one_sync_at(NULL, mask)
/** tutti_one_sync_at() - the same for any set of waves; @barrier must expect one arrival of each. */
#define tutti_one_sync_at(barrier, mask)                                                \
	for (int tutti_one = tutti_one_enter(barrier, mask); tutti_one; tutti_one = tutti_one_leave(barrier, mask))

/** tutti_all_waves() - a mask with one bit for each wave of the workgroup. */
static inline uint64_t tutti_all_waves(void)
{
	uint32_t waves = tutti_wave()->waves;

	return waves < 64 ? (1ull << waves) - 1 : ~0ull;
}

#endif
