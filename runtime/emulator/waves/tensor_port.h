/* SPDX-License-Identifier: MIT */
/** DOC: Tensor requests of waves, and what movers need to know of CTAs */
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
/** service_tensor(), service_wait_all(), service_mbarrier() - services. Return: true if the same wave goes on. */
bool service_tensor(struct hart *hart);
bool service_wait_all(struct hart *hart);
bool service_mbarrier(struct hart *hart);
/** tensor_issue() - put @wave->call into the queue of its SM. Return: false if the queue is full. */
bool tensor_issue(struct sm_array *array, struct wave *wave);
void tensor_kill(struct sm_array *array, unsigned slot);
/** tensor_open() - number of requests of @cta that are not served yet. */
static inline uint32_t tensor_open(const struct cta *cta)
{
	return tutti_load_relaxed(&cta->asked) - tutti_load_acquire(&cta->served);
}

/* The rest is for engines/: the front of the TMAU and the movers. */
/**
 * sm_array_request() - take the next tensor request. SMs take turns; requests of one SM stay in order.
 * @call: gets the request; its @cta is how the functions below name the CTA
 * Return: false if there is no request.
 */
bool sm_array_request(struct sm_array *array, struct tutti_tensor_call *call);
/** struct sm_shared - where the shared memory of a CTA lies in the emulator. */
struct sm_shared {
	uint8_t *base;
	uint64_t bytes;
};
#define SM_SELF (~0u)
#define SM_CGA_CTAS 16u
/**
 * sm_array_shared() - find the shared memory of the CTA @cta or of another one of its CGA.
 * @rank: rank of the CTA in the CGA, or SM_SELF for @cta itself
 * Return: 0, or TUTTI_CAUSE_* if there is no such CTA any more.
 */
uint8_t sm_array_shared(struct sm_array *array, uint32_t cta, uint32_t rank, struct sm_shared *shared);
/** sm_array_call_dropped() - true if @cta is being killed, so that movers drop its requests. */
bool sm_array_call_dropped(struct sm_array *array, uint32_t cta);
/** sm_array_call_failed() - stop all waves of @cta, because an access that a mover made for it was refused. */
void sm_array_call_failed(struct sm_array *array, uint32_t cta);
/** sm_array_call_done() - count the oldest request of @cta as served. */
void sm_array_call_done(struct sm_array *array, uint32_t cta);

#endif
