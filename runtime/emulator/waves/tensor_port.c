// SPDX-License-Identifier: MIT
/*
 * Tensor requests on the side of the SMs: a queue for each SM, an arbiter over the queues, and for each CTA the numbers
 * of requests made and served (spec TMA-03, TMA-28). Waves make requests on any thread; the driving thread passes them
 * on to engines/ and hears when they are done.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/counters.h"
#include "emulator/base/wake.h"
#include "emulator/hart/dsmem.h"
#include "emulator/waves/blocked.h"
#include "emulator/waves/tensor_port.h"
#include "emulator/waves/wave.h"

/** struct sm_queue - requests of one SM, a ring of limits->tmau_requests slots with free-running indexes. */
struct sm_queue {
	struct tutti_tensor_call *ring;
	uint32_t head, tail;
};

/** struct tensor_port - the queues of all SMs. @lock protects everything but @queued, which is atomic. */
struct tensor_port {
	pthread_mutex_t lock;
	uint32_t queued;
	uint32_t turn; /* the SM whose queue is looked at first */
	uint32_t waiting[MASK_WORDS]; /* SMs with requests */
	struct sm_queue queue[];
};

int tensor_port_create(struct sm_array *array)
{
	struct tensor_port *tensor = calloc(1, sizeof(*tensor) + array->sms * sizeof(tensor->queue[0]));
	size_t bytes = array->limits->tmau_requests * sizeof(struct tutti_tensor_call);

	if (!tensor)
		return -ENOMEM;
	pthread_mutex_init(&tensor->lock, NULL);
	array->tensor = tensor;
	for (uint32_t i = 0; i < array->sms; i++)
		if (bytes && !(tensor->queue[i].ring = calloc(1, bytes)))
			return -ENOMEM;
	return 0;
}

void tensor_port_destroy(struct sm_array *array)
{
	struct tensor_port *tensor = array->tensor;

	if (!tensor)
		return;
	for (uint32_t i = 0; i < array->sms; i++)
		free(tensor->queue[i].ring);
	pthread_mutex_destroy(&tensor->lock);
	free(tensor);
	array->tensor = NULL;
}

void tensor_port_empty(struct sm_array *array)
{
	for (uint32_t i = 0; i < array->sms; i++)
		array->tensor->queue[i].head = array->tensor->queue[i].tail = 0;
	tutti_store_relaxed(&array->tensor->queued, 0);
	array->tensor->turn = 0;
	memset(array->tensor->waiting, 0, sizeof(array->tensor->waiting));
}

/* ---- requests of waves ----------------------------------------------------- */

bool tensor_issue(struct sm_array *array, struct wave *wave)
{
	struct tensor_port *tensor = array->tensor;
	struct cta *cta = wave->cta;
	struct sm_queue *queue = &tensor->queue[cta->sm];
	bool room;

	pthread_mutex_lock(&tensor->lock);
	room = queue->tail - queue->head < array->limits->tmau_requests;
	if (room) {
		queue->ring[queue->tail++ % array->limits->tmau_requests] = *wave->call;
		tensor->waiting[cta->sm / 32] |= 1u << cta->sm % 32;
		__atomic_fetch_add(&tensor->queued, 1, __ATOMIC_RELEASE);
		__atomic_fetch_add(&cta->asked, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cta->hart->held, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&tensor->lock);
	if (room && cta->engine->number)
		card_wake(array->card);
	return room;
}

/* Copy memory of a wave once, since waves may change it meanwhile. Return: false after a fault of the wave. */
static bool copy_in(struct hart *hart, void *to, uint64_t va, uint32_t bytes)
{
	struct mmu_fault fault;

	if (hart_copy_in(hart, to, va, bytes, &fault))
		return true;
	wave_fault(hart, fault.cause, TUTTI_ACCESS_READ, hart_ecall_pc(hart), fault.address);
	return false;
}

bool service_tensor(struct hart *hart)
{
	struct wave *wave = hart->current;
	struct tutti_tensor_call *call = wave->call;

	if (!hart->array->limits->tmau_requests) {
		hart_x_set(hart, 10, (uint64_t)-TUTTI_ENOTSUP);
		return true;
	}
	if (!call)
		call = wave->call = calloc(1, sizeof(*call));
	if (!call) { /* out of memory */
		wave_fault(hart, TUTTI_CAUSE_BUS, TUTTI_ACCESS_NONE, hart_ecall_pc(hart), hart_x(hart, 10));
		return false;
	}
	if (!copy_in(hart, &call->request, hart_x(hart, 10), sizeof(call->request)))
		return false;
	if ((call->request.flags & (TUTTI_REQUEST_INLINE | TUTTI_REQUEST_TENSOR)) ==
		    (TUTTI_REQUEST_INLINE | TUTTI_REQUEST_TENSOR) &&
	    !copy_in(hart, &call->descriptor, call->request.descriptor, sizeof(call->descriptor)))
		return false;
	call->pc = hart_ecall_pc(hart);
	call->wave = wave->number;
	call->cta = wave->cta->number;
	hart_x_set(hart, 10, 0);
	if (tensor_issue(hart->array, wave))
		return true;
	card_count(hart->array->card, TUTTI_COUNTER_TMAU_STALLS, 1);
	return wave_block(hart, WAIT_ROOM, NULL, 0);
}

bool service_wait_all(struct hart *hart)
{
	struct wave *wave = hart->current;
	uint32_t asked = tutti_load_relaxed(&wave->cta->asked);

	hart_x_set(hart, 10, 0);
	if (tutti_load_acquire(&wave->cta->served) == asked)
		return true;
	return wave_block(hart, WAIT_SERVED, NULL, asked);
}

bool service_mbarrier(struct hart *hart)
{
	struct cta *cta = hart->current->cta;
	uint64_t at = hart_x(hart, 10), parity = hart_x(hart, 11) & 1;
	const uint64_t *word;

	if (at % 8 || at + 8 > cta->task->state.shared_bytes || at + 8 < at) {
		wave_fault(hart, TUTTI_CAUSE_SERVICE, TUTTI_ACCESS_READ, hart_ecall_pc(hart), at);
		return false;
	}
	hart_x_set(hart, 10, 0);
	word = (const uint64_t *)(cta_shared(hart->array, cta) + at);
	if (tutti_load_acquire(word) >> TUTTI_MBARRIER_PHASE_SHIFT != parity)
		return true;
	return wave_block(hart, WAIT_MBARRIER, word, (uint32_t)parity);
}

/* ---- the driving thread ---------------------------------------------------- */

/* Return: a mask of the ranks of the CGA that have not exited. */
static uint16_t ranks_present(struct sm_array *array, const struct cga *cga)
{
	uint32_t mask = 0;
	uint64_t at;

	for (unsigned rank = 0; rank < cga->size && rank < SM_CGA_CTAS; rank++)
		mask |= (uint32_t)dsmem_segment(array, cga, rank, &at) << rank;
	return (uint16_t)mask;
}

/* Fill in what the hardware itself knows of the wave that made the request. */
static void complete_call(struct sm_array *array, struct tutti_tensor_call *call)
{
	const struct cta *cta = &array->cta[call->cta];

	call->wave = (uint16_t)sm_wave_slot(&array->sm[cta->sm], cta, call->wave);
	call->sm = cta->sm;
	call->asid = cta->task->state.asid;
	call->slot = cta->slot;
	call->rank = cta->cga ? (uint8_t)cta->at.rank : 0;
	call->shared_bytes = cta->task->state.shared_bytes;
	call->present = 1;
	if (cta->cga)
		call->present = ranks_present(array, cta->cga);
}

/* Find the next SM with requests, from @turn on and then from the first SM. */
static uint32_t next_sm(const struct tensor_port *tensor)
{
	uint32_t first = tensor->turn / 32 % MASK_WORDS;
	uint32_t bits = tensor->waiting[first] & ~0u << tensor->turn % 32;

	for (uint32_t i = 0; i <= MASK_WORDS; i++) {
		uint32_t w = (first + i) % MASK_WORDS;

		if (i)
			bits = tensor->waiting[w];
		if (bits)
			return w * 32 + (uint32_t)__builtin_ctz(bits);
	}
	return ~0u;
}

bool sm_array_request(struct sm_array *array, struct tutti_tensor_call *call)
{
	struct tensor_port *tensor = array->tensor;
	struct sm_queue *queue = NULL;
	uint32_t sm;

	if (likely(!tutti_load_acquire(&tensor->queued)))
		return false;
	pthread_mutex_lock(&tensor->lock);
	sm = next_sm(tensor);
	if (sm < array->sms) {
		queue = &tensor->queue[sm];
		tensor->turn = sm + 1;
		*call = queue->ring[queue->head++ % array->limits->tmau_requests];
		if (queue->head == queue->tail)
			tensor->waiting[sm / 32] &= ~(1u << sm % 32);
		__atomic_fetch_sub(&tensor->queued, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&tensor->lock);
	if (queue)
		complete_call(array, call);
	return queue;
}

static struct cta *cta_find(struct sm_array *array, uint32_t number)
{
	return number < array->sms * array->limits->cta_slots && array->cta[number].used ? &array->cta[number] : NULL;
}

uint8_t sm_array_shared(struct sm_array *array, uint32_t number, uint32_t rank, struct sm_shared *shared)
{
	const struct cta *cta = cta_find(array, number);
	uint64_t at;

	if (!cta || !cta->hart)
		return TUTTI_CAUSE_SERVICE;
	shared->base = cta_shared(array, cta);
	shared->bytes = (uint64_t)cta->task->state.shared_blocks * array->limits->shared_block_bytes;
	if (rank == SM_SELF || (!rank && !cta->cga))
		return 0;
	/* All CTAs of a CGA have their shared memory in one hart, in parts of the same size. */
	if (!cta->cga || !dsmem_segment(array, cta->cga, rank, &at))
		return TUTTI_CAUSE_CGA_EXITED;
	shared->base = cta->hart->shared + at;
	return 0;
}

bool sm_array_call_dropped(struct sm_array *array, uint32_t number)
{
	const struct cta *cta = cta_find(array, number);

	return !cta || cta->killed;
}

void sm_array_call_failed(struct sm_array *array, uint32_t number)
{
	struct cta *cta = cta_find(array, number);

	if (cta)
		tutti_store_relaxed(&cta->failed, true);
}

static void served(struct cta *cta, uint32_t n)
{
	__atomic_fetch_sub(&cta->hart->held, n, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cta->served, n, __ATOMIC_RELEASE);
}

void sm_array_call_done(struct sm_array *array, uint32_t number)
{
	struct cta *cta = cta_find(array, number);

	if (!cta || !tensor_open(cta))
		return;
	served(cta, 1);
	if (cta->draining && !tensor_open(cta))
		array->release(array, cta);
}

/* Take back the requests of @slot that have not been passed on. Engines are paused. */
void tensor_kill(struct sm_array *array, unsigned slot)
{
	struct tensor_port *tensor = array->tensor;
	uint32_t size = array->limits->tmau_requests;

	pthread_mutex_lock(&tensor->lock);
	for (uint32_t sm = 0; sm < array->sms; sm++) {
		struct sm_queue *queue = &tensor->queue[sm];
		uint32_t to = queue->head;

		for (uint32_t from = queue->head; from != queue->tail; from++) {
			struct cta *cta = &array->cta[queue->ring[from % size].cta];

			if (cta->slot == slot) {
				served(cta, 1);
				__atomic_fetch_sub(&tensor->queued, 1, __ATOMIC_RELAXED);
			} else {
				queue->ring[to++ % size] = queue->ring[from % size];
			}
		}
		queue->tail = to;
		if (queue->head == to)
			tensor->waiting[sm / 32] &= ~(1u << sm % 32);
	}
	pthread_mutex_unlock(&tensor->lock);
}
