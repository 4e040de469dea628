/* SPDX-License-Identifier: MIT */
/* A card around the SM array alone: page tables as a list, events in an array. */
#ifndef TUTTI_TEST_SM_RIG_H
#define TUTTI_TEST_SM_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "emulator/base/window.h"
#include "emulator/launch/array.h"
#include "emulator/launch/cga.h"
#include "emulator/launch/launch.h"
#include "emulator/launch/report.h"
#include "emulator/launch/state_sync.h"
#include "emulator/launch/state_table.h"
#include "emulator/launch/stop.h"
#include "emulator/launch/task_state.h"
#include "emulator/launch/throttle.h"
#include "emulator/memory/mmu.h"
#include "emulator/hart/dsmem.h"
#include "emulator/hart/energy.h"
#include "emulator/waves/blocked.h"
#include "emulator/waves/schedule.h"
#include "emulator/waves/service_request.h"
#include "emulator/waves/tensor_port.h"
#include "emulator/waves/wave.h"
#include "sm_kernels.h"
#include "tutti/message.h"

#define CODE 0x10000000ull
#define DATA 0x20000000ull
#define RIG_MAPS 64

struct map {
	uint32_t asid;
	uint64_t va, bytes, prot;
	uint8_t *host;
};

struct tutti_card {
	struct tutti_discovery limits;
	struct tutti_card_config config;
	struct sm_array *array;
	struct map map[RIG_MAPS];
	unsigned maps;
	struct tutti_event event[65536];
	unsigned events;
	uint64_t counter[TUTTI_COUNTERS];
	uint64_t print_va;
	unsigned print_traps; /* faults to inject whenever a wave prints */
	uint64_t virtual_time;
	uint64_t traps, stuck, silent; /* injected */
	uint64_t translations;
	unsigned done[256];    /* CTAs reported per slot */
	uint16_t done_at[256][TUTTI_MAX_SMS]; /* the same for each place in the order of SMs; CGAs are not counted */
	unsigned killed[256];
	struct tutti_event fault, cga_fault, request;
	unsigned faults, cga_faults, requests;
	bool full; /* the event ring takes @room events and then nothing */
	unsigned room;
	uint32_t trace_kinds;
	struct tutti_trace trace[1024]; /* newest records, by number */
	unsigned traces;
	useconds_t slow_start_us; /* before the next CTA's first wave */
	unsigned wakes; /* atomic: calls of card_wake() */
};

const struct tutti_discovery *card_discovery(const struct tutti_card *card) { return &card->limits; }
const struct tutti_card_config *card_config(const struct tutti_card *card) { return &card->config; }
void card_count(struct tutti_card *card, enum tutti_counter counter, uint64_t n)
{
	__atomic_fetch_add(&card->counter[counter], n, __ATOMIC_RELAXED);
}
void card_trace_record(struct tutti_card *card, const struct tutti_trace *record)
{
	if (card->trace_kinds >> record->kind & 1)
		card->trace[__atomic_fetch_add(&card->traces, 1, __ATOMIC_RELAXED) % 1024] = *record;
}
const uint32_t *card_trace_kinds(const struct tutti_card *card) { return &card->trace_kinds; }
void card_trace(struct tutti_card *card, unsigned kind, unsigned queue, unsigned sm, unsigned slot, uint64_t packet,
		uint32_t cta, uint32_t value)
{
	useconds_t us = __atomic_exchange_n(&card->slow_start_us, 0, __ATOMIC_RELAXED);

	if (us)
		usleep(us);
	card_trace_record(card, &(struct tutti_trace){.kind = (uint16_t)kind, .queue = (uint16_t)queue, .sm = (uint16_t)sm,
						      .slot = (uint16_t)slot, .packet = packet, .cta = cta, .value = value});
}
uint64_t card_time(struct tutti_card *card)
{
	struct timespec t;

	if (card->config.mode == TUTTI_CARD_DETERMINISTIC)
		return card->virtual_time;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
/* TPCs of two; the last SM of every GPC has one to itself, so that places are not numbers. */
void card_sm_places(const struct tutti_card *card, struct tutti_sm_place *table)
{
	for (unsigned g = 0; g < card->limits.gpcs; g++) {
		unsigned n = card->limits.gpc[g].sms;

		for (unsigned i = 0; i < n; i++)
			table[card->limits.gpc[g].first_sm + i] = (struct tutti_sm_place){
				(uint8_t)g, 0, (uint8_t)(i == n - 1 ? n / 2 + 5 : i / 2), i == n - 1 ? 0 : i % 2};
	}
}
uint64_t card_context_print(struct tutti_card *card, uint32_t asid)
{
	card->traps += card->print_traps;
	return card->print_va;
}
void card_wake(struct tutti_card *card) { __atomic_fetch_add(&card->wakes, 1, __ATOMIC_RELAXED); }
bool inject_take(struct tutti_card *card, enum tutti_card_fault fault)
{
	return fault == TUTTI_INJECT_KERNEL_TRAP && card->traps && card->traps--;
}
bool inject_armed(struct tutti_card *card, enum tutti_card_fault fault, uint64_t *arg)
{
	if (fault == TUTTI_INJECT_KERNEL_TRAP)
		return card->traps;
	*arg = (fault == TUTTI_INJECT_STUCK_SM ? card->stuck : card->silent) - 1;
	return fault == TUTTI_INJECT_STUCK_SM ? card->stuck : fault == TUTTI_INJECT_SILENT_SM && card->silent;
}

static struct map *rig_find(struct tutti_card *card, uint32_t asid, uint64_t va)
{
	for (unsigned i = 0; i < card->maps; i++)
		if (card->map[i].asid == asid && va - card->map[i].va < card->map[i].bytes)
			return &card->map[i];
	return NULL;
}

void *mmu_translate(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, uint64_t *extent,
		    struct mmu_fault *fault)
{
	struct map *map = rig_find(card, asid, va);
	uint64_t need = access == TUTTI_ACCESS_READ ? TUTTI_PTE_R : access == TUTTI_ACCESS_EXECUTE ? TUTTI_PTE_X
											       : TUTTI_PTE_W;

	__atomic_fetch_add(&card->translations, 1, __ATOMIC_RELAXED);
	if (!map || !(map->prot & need)) {
		fault->cause = map ? TUTTI_CAUSE_PROTECTION : TUTTI_CAUSE_UNMAPPED;
		fault->address = va;
		return NULL;
	}
	if (extent)
		*extent = map->va + map->bytes - va;
	return map->host + (va - map->va);
}

bool mmu_span(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, struct mmu_span *span,
	      struct mmu_fault *fault)
{
	struct map *map = rig_find(card, asid, va);

	if (!mmu_translate(card, asid, va, access, NULL, fault))
		return false;
	*span = (struct mmu_span){map->va, map->bytes, map->prot, map->host};
	return true;
}

int mmu_copy_out(struct tutti_card *card, uint32_t asid, uint64_t va, const void *from, size_t bytes,
		 struct mmu_fault *fault)
{
	uint64_t extent;
	void *to = mmu_translate(card, asid, va, TUTTI_ACCESS_WRITE, &extent, fault);

	if (!to || extent < bytes)
		return -1;
	memcpy(to, from, bytes);
	return 0;
}

bool engines_event(struct tutti_card *card, const struct tutti_event *event)
{
	unsigned type = event->word[0] & 0xff, slot = event->word[0] >> 8 & 0xff;

	if (card->full && !card->room)
		return false;
	card->room -= card->full;
	card->event[card->events++ % 65536] = *event;
	if (type == TUTTI_EVENT_CTA) {
		unsigned n = 0, first = event->word[0] >> 16 & 0xff, words = event->word[0] >> 24;

		assert_in_range(words, 1, 5);
		assert_int_not_equal(event->word[2 + words], 0);
		for (unsigned i = 0; i < 5; i++)
			for (uint32_t bits = event->word[3 + i]; bits; bits &= bits - 1, n++) {
				assert_true(i < words && first + i < TUTTI_MAX_SMS / 32);
				card->done_at[slot][32 * (first + i) + (unsigned)__builtin_ctz(bits)] +=
					(uint16_t)event->word[1];
			}
		assert_int_equal(n * event->word[1], event->word[2]);
		card->done[slot] += event->word[2];
	} else if (type == TUTTI_EVENT_FAULT) {
		card->fault = *event;
		card->faults++;
	} else if (type == TUTTI_EVENT_CGA) {
		assert_int_equal((unsigned)__builtin_popcount(event->word[3]) * event->word[1], event->word[2]);
		card->done[slot] += event->word[2];
	} else if (type == TUTTI_EVENT_CGA_FAULT) {
		card->cga_fault = *event;
		card->cga_faults++;
	} else if (type == TUTTI_EVENT_REQUEST) {
		card->request = *event;
		card->requests++;
	} else if (type == TUTTI_EVENT_KILLED) {
		card->killed[slot]++;
	}
	return true;
}

static inline void *rig_map(struct tutti_card *card, uint32_t asid, uint64_t va, uint64_t bytes, uint64_t prot)
{
	struct map *map = &card->map[card->maps++];

	assert_true(card->maps <= RIG_MAPS);
	map->asid = asid;
	map->va = va;
	map->bytes = bytes;
	map->prot = prot;
	map->host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return map->host;
}

#define RW (TUTTI_PTE_R | TUTTI_PTE_W)
#define RX (TUTTI_PTE_R | TUTTI_PTE_X)

/* A context with code, a data page run of 64 KiB at DATA (guard behind it). Returns the data. */
static inline uint64_t *rig_context(struct tutti_card *card, uint32_t asid)
{
	memcpy(rig_map(card, asid, CODE, 4096, RX), sm_kernels, sizeof(sm_kernels));
	return rig_map(card, asid, DATA, 65536, RW);
}

/* How many CGAs the next card can have in a GPC; 0 means 32. */
static uint32_t rig_ids;

/* GPCs of 8 SMs, of 32 on the largest cards. */
static inline void rig_gpcs(struct tutti_discovery *limits)
{
	unsigned size = limits->sms > 8 * TUTTI_MAX_GPCS ? 32 : 8;

	for (unsigned first = 0; first < limits->sms; first += size) {
		struct tutti_gpc *gpc = &limits->gpc[limits->gpcs++];

		gpc->first_sm = (uint16_t)first;
		gpc->sms = (uint16_t)(limits->sms - first < size ? limits->sms - first : size);
	}
	limits->cga_ids = rig_ids ? rig_ids : 32;
	limits->cga_ctas = 16;
	limits->lmem_slots = 8;
	limits->lmem_slot_bytes = 4096;
}

/* For the next card: SMs acknowledge task states so many turns later; 0: they need not. */
static uint32_t rig_acknowledge;

/* For the next card: so many task slots; 0: 32. */
static uint32_t rig_slots;

static inline struct tutti_card *rig_create(enum tutti_card_mode mode, unsigned workers, unsigned sms)
{
	struct tutti_card *card = calloc(1, sizeof(*card));

	card->config.mode = mode;
	card->config.acknowledge = rig_acknowledge;
	card->config.workers = workers;
	card->limits.sms = sms;
	card->limits.task_slots = rig_slots ? rig_slots : 32;
	card->limits.peus = 4;
	card->limits.peu_waves = 8;
	card->limits.scalar_blocks = card->limits.vector_blocks = 32;
	card->limits.shared_blocks = 64;
	card->limits.shared_block_bytes = 2048;
	card->limits.barriers = 16;
	card->limits.cta_slots = 32;
	card->limits.tmau_requests = 4;
	rig_gpcs(&card->limits);
	assert_int_equal(sm_array_create(card, &card->array), 0);
	return card;
}

static inline void rig_destroy(struct tutti_card *card)
{
	sm_array_destroy(card->array);
	for (unsigned i = 0; i < card->maps; i++)
		munmap(card->map[i].host, card->map[i].bytes);
	free(card);
}

/* State of a kernel; data[0] of the context's page is "out": kernarg points at a pointer in its last page. */
static inline struct tutti_task_state rig_state(uint32_t asid, uint32_t entry, uint32_t ctas, uint32_t waves)
{
	struct tutti_task_state state = {
		.entry = CODE + entry, .kernarg = DATA + 61440, .groups_x = ctas, .groups_y = 1, .groups_z = 1,
		.grid_x = ctas * waves * 32, .grid_y = 1, .grid_z = 1, .workgroup_x = (uint16_t)(waves * 32),
		.workgroup_y = 1, .workgroup_z = 1, .waves = (uint16_t)waves, .private_bytes = 8192,
		.asid = (uint16_t)asid, .queue = 3, .scalar_blocks = 1, .vector_blocks = 1, .dimensions = 1,
	};

	return state;
}

/* @repeat CTAs on each of the first @sms SMs. */
static inline int rig_launch(struct tutti_card *card, unsigned slot, unsigned repeat, unsigned sms)
{
	uint32_t words[33] = {repeat | ((sms + 31) / 32) << 24};

	for (unsigned i = 0; i < sms; i++)
		words[1 + i / 32] |= 1u << (i % 32);
	return sm_array_launch(card->array, slot, 0, words, 1 + (sms + 31) / 32);
}

/* A context whose kernels find the address of its data where their arguments are. Return: these data */
static inline uint64_t *rig_prepare(struct tutti_card *card, uint32_t asid)
{
	uint64_t *data = rig_context(card, asid);

	data[61440 / 8] = DATA;
	return data;
}

/* A task of @state in @slot, and its first workgroup. */
static inline void rig_launch_one(struct tutti_card *card, struct tutti_task_state *state, unsigned slot)
{
	sm_array_state(card->array, slot, 0, state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, slot, 1, 1), 0);
}

/* Give the CTAs that have not started yet to the workers, as happens with long grids. */
static inline void rig_give_to_workers(struct tutti_card *card)
{
	struct sm_array *array = card->array;

	pthread_mutex_lock(&array->lock);
	cta_list_splice(&array->shared, &array->pending);
	tutti_store_relaxed(&array->shared_count, array->shared.count);
	pthread_cond_broadcast(&array->work);
	pthread_mutex_unlock(&array->lock);
}

/* The return value says whether anything was reported, since the caller looks again only then. */
static inline void rig_step(struct tutti_card *card)
{
	unsigned before = card->events;
	bool any;

	sm_array_acknowledge(card->array);
	sm_array_run(card->array);
	any = sm_array_report(card->array);
	assert_int_equal(any, card->events != before);
}

/* Run until @n CTAs of @slot are reported, or 60 s. */
static inline void rig_until(struct tutti_card *card, unsigned slot, unsigned n)
{
	time_t end = time(NULL) + 60; /* the host may be busy */

	while (card->done[slot] < n && time(NULL) < end)
		rig_step(card);
	if (card->done[slot] != n)
		fail_msg("%u CTAs have completed, not %u; %u faults, cause %u, address %#llx", card->done[slot], n, card->faults,
			 card->fault.word[0] >> 16 & 0xff,
			 (unsigned long long)(card->fault.word[4] | (uint64_t)card->fault.word[5] << 32));
}

static inline void rig_until_fault(struct tutti_card *card)
{
	time_t end = time(NULL) + 60; /* the host may be busy */

	while (!card->faults && time(NULL) < end)
		rig_step(card);
	assert_int_equal(card->faults, 1);
}

static inline double rig_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#endif
