/* SPDX-License-Identifier: MIT */
/** DOC: Tensor requests of waves, and what movers ask of CTAs */
#ifndef TUTTI_EMULATOR_WAVES_TENSOR_PORT_H
#define TUTTI_EMULATOR_WAVES_TENSOR_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/base/hints.h"
#include "emulator/sm/cta.h"
#include "tutti/barrier.h"

struct hart;
struct sm_array;
struct wave;

int tensor_port_create(struct sm_array *array);
void tensor_port_destroy(struct sm_array *array);
void tensor_port_empty(struct sm_array *array);
/** service_tensor() and so on - services of waves. Return: true = go on with the same wave. */
bool service_tensor(struct hart *hart);
bool service_wait_all(struct hart *hart);
bool service_mbarrier(struct hart *hart);
/** tensor_issue() - put @wave->call into its SM's queue. Return: false if that is full. */
bool tensor_issue(struct sm_array *array, struct wave *wave);
void tensor_kill(struct sm_array *array, unsigned slot);
/** tensor_open() - requests of @cta that are not served yet. */
static inline uint32_t tensor_open(const struct cta *cta)
{
	return tutti_load_relaxed(&cta->asked) - tutti_load_acquire(&cta->served);
}

/* for the tensor front and the movers */
/**
 * sm_array_request() - the next tensor request: SMs in turns, those of one SM in order.
 * @call: all fields are filled; @call->cta names the CTA in what follows
 * Return: false if no wave has asked.
 */
bool sm_array_request(struct sm_array *array, struct tutti_tensor_call *call);
/** struct sm_shared - shared memory of a CTA. */
struct sm_shared {
	uint8_t *base;
	uint64_t bytes;
};
#define SM_SELF (~0u)
#define SM_CGA_CTAS 16u
/**
 * sm_array_shared() - shared memory of the CTA @cta, or of another of its CGA.
 * @rank: rank in the CGA, or SM_SELF
 * Return: 0, or TUTTI_CAUSE_* when there is no such CTA any more.
 */
uint8_t sm_array_shared(struct sm_array *array, uint32_t cta, uint32_t rank, struct sm_shared *shared);
/** sm_array_call_dropped() - @cta is being killed: what it asked for is not done. */
bool sm_array_call_dropped(struct sm_array *array, uint32_t cta);
/** sm_array_call_failed() - a mover was refused an access for @cta: none of its waves goes on. */
void sm_array_call_failed(struct sm_array *array, uint32_t cta);
/** sm_array_call_done() - the oldest request of @cta is done. */
void sm_array_call_done(struct sm_array *array, uint32_t cta);

#endif
