// SPDX-License-Identifier: MIT
/* Waves from their start to their end, and the services that they call (wave.h of the contract). */
#include <stdlib.h>
#include <string.h>

#include "emulator/base/clock.h"
#include "emulator/base/inject.h"
#include "emulator/base/trace.h"
#include "emulator/waves/cga_barrier.h"
#include "emulator/waves/print.h"
#include "emulator/waves/schedule.h"
#include "emulator/waves/service_request.h"
#include "emulator/waves/tensor_port.h"
#include "emulator/waves/wave.h"
#include "tutti/message.h"

static uint32_t smaller(uint32_t grid, uint32_t workgroup, uint32_t cta)
{
	uint64_t left = grid - (uint64_t)cta * workgroup;

	return (uint64_t)cta * workgroup >= grid ? 0 : left < workgroup ? (uint32_t)left : workgroup;
}

static uint32_t edge_items(const struct cta *cta, struct tutti_wave_info *info)
{
	const struct tutti_task_state *state = &cta->task->state;

	info->extent[0] = (uint16_t)smaller(state->grid_x, state->workgroup_x, cta->at.x);
	info->extent[1] = (uint16_t)smaller(state->grid_y, state->workgroup_y, cta->at.y);
	info->extent[2] = (uint16_t)smaller(state->grid_z, state->workgroup_z, cta->at.z);
	return (uint32_t)info->extent[0] * info->extent[1] * info->extent[2];
}

/* Fill in what only CTAs of CGAs and of queue tasks have. */
static void fill_special(struct wave *wave)
{
	struct tutti_wave_info *info = wave->info;
	const struct cta *cta = wave->cta;
	const uint16_t *size = info->cga_size;

	wave->info_special = cta->special;
	info->cga_id = cta->cga ? cta->cga->id : 0;
	info->cga_rank = cta->cga ? cta->at.rank : 0;
	for (unsigned d = 0; d < 3; d++)
		info->cga[d] = info->cta[d] / (size[d] ? size[d] : 1u);
	info->lmem = cta->lmem;
	info->work_first = cta->special ? cta->work_first : 0;
	info->work_items = cta->special ? cta->work_items : 0;
}

/* Which work-items are its own. */
static void fill_items(struct wave *wave)
{
	struct tutti_wave_info *info = wave->info;
	const struct cta *cta = wave->cta;
	uint32_t number = cta->first_wave + (uint32_t)wave->number, first = TUTTI_WAVE_ITEMS * number;
	uint32_t items = unlikely(cta->task->edge) ? edge_items(cta, info) : cta->task->items;

	info->first_item = first;
	info->items = first >= items ? 0 : items - first < TUTTI_WAVE_ITEMS ? items - first : TUTTI_WAVE_ITEMS;
	info->wave = number;
}

static void fill_info(struct engine *engine, struct wave *wave)
{
	struct tutti_wave_info *info = wave->info;
	const struct cta *cta = wave->cta;
	struct task *task = cta->task;
	struct sm_array *array = engine->array;

	if (wave->info_serial != task->serial) {
		*info = task->info;
		wave->info_serial = task->serial;
		wave->info_special = false;
	}
	fill_items(wave);
	info->shared = TUTTI_WAVE_SHARED + cta->sm * array->shared_stride +
		       (uint64_t)cta->shared_first * array->limits->shared_block_bytes;
	info->cta[0] = cta->at.x;
	info->cta[1] = cta->at.y;
	info->cta[2] = cta->at.z;
	info->cta_linear = cta->at.index;
	info->cga[0] = cta->at.x; /* a CTA without a CGA counts as a CGA of one */
	info->cga[1] = cta->at.y;
	info->cga[2] = cta->at.z;
	info->sm = cta->sm;
	info->gpc = array->gpc_of[cta->sm];
	info->time = engine->time;
	if (unlikely(cta->special || wave->info_special))
		fill_special(wave);
}

static void cta_freeze(struct engine *engine, struct cta *cta, unsigned wave, unsigned cause, unsigned access,
		       uint64_t pc, uint64_t address)
{
	if (cta->frozen)
		return;
	cta->frozen = true;
	cta->fault.wave = (uint16_t)wave;
	cta->fault.cause = (uint8_t)cause;
	cta->fault.access = (uint8_t)access;
	cta->fault.pc = pc;
	cta->fault.address = address;
	engine->faults++;
	card_trace(engine->array->card, TUTTI_TRACE_FAULT, cta->task->state.queue, cta->sm, cta->slot,
		   cta->task->state.packet, cta->at.index, cause);
	engine_faulted(engine, cta);
}

/* @wave is the next one of its CTA. */
static void wave_begin(struct engine *engine, struct wave *wave)
{
	wave->number = wave->cta->started++;
	wave->fresh = true;
	wave->spun = false;
	wave->slot = WAVE_NO_SLOT;
	wave->cga_arrived = false;
	engine->waves++;
}

struct wave *wave_start(struct engine *engine, struct cta *cta)
{
	struct wave *wave;
	struct hart *hart;

	if (!cta->hart || unlikely(!cta->hart->free_waves))
		cta->hart = hart_get(engine, cta->task->state.asid);
	hart = cta->hart;
	wave = hart ? hart->free_waves : NULL;
	if (unlikely(!wave)) {
		cta_freeze(engine, cta, cta->started, TUTTI_CAUSE_BUS, TUTTI_ACCESS_NONE, 0, 0);
		return NULL;
	}
	if (unlikely(inject_take(engine->array->card, TUTTI_INJECT_KERNEL_TRAP))) {
		cta_freeze(engine, cta, cta->started, TUTTI_CAUSE_ILLEGAL, TUTTI_ACCESS_EXECUTE,
			   cta->task->state.entry, cta->task->state.entry);
		return NULL;
	}
	wave->cta = cta;
	if (unlikely(!hart_start(hart, wave))) {
		cta_freeze(engine, cta, cta->started, TUTTI_CAUSE_BUS, TUTTI_ACCESS_NONE, 0, 0);
		return NULL;
	}
	hart->free_waves = wave->next;
	hart->live++;
	wave_begin(engine, wave);
	wave->live_next = cta->live;
	wave->live_link = &cta->live;
	if (cta->live)
		cta->live->live_link = &wave->live_next;
	cta->live = wave;
	fill_info(engine, wave);
	return wave;
}

void wave_drop(struct wave *wave)
{
	struct hart *hart = wave->hart;

	*wave->live_link = wave->live_next;
	if (wave->live_next)
		wave->live_next->live_link = wave->live_link;
	hart_release(wave);
	wave->cta = NULL;
	wave->next = hart->free_waves;
	hart->free_waves = wave;
	hart->live--;
}

static void barrier_release(struct engine *engine, struct cta *cta)
{
	struct wave *wave = cta->waiting, *next;

	for (; wave; wave = next) {
		next = wave->next;
		wave_list_put(&engine->ready, wave);
	}
	cta->waiting = NULL;
	cta->waiting_end = &cta->waiting;
	cta->arrived = 0;
	engine->barriers++;
	engine->spins = 0;
}

static void cta_end(struct engine *engine, struct cta *cta)
{
	if (unlikely(cta->cga != NULL))
		cga_leave(engine->array, cta);
	engine_ended(engine, cta);
}

void wave_end(struct wave *wave)
{
	struct cta *cta = wave->cta;
	struct engine *engine = cta->engine;

	if (unlikely(cta->cga || cta->met))
		cga_wave_end(wave);
	wave_drop(wave);
	engine->spins = 0;
	if (!--cta->left)
		cta_end(engine, cta);
	else if (cta->arrived && cta->arrived == cta->left)
		barrier_release(engine, cta);
}

/*
 * While a CTA is being started, a wave of it that ends is mostly followed by the next one, which would be given the same
 * structure and stack. So it takes the other's place, and the hart does not stop.
 */
static bool wave_succeed(struct wave *wave)
{
	struct cta *cta = wave->cta;
	struct engine *engine = cta->engine;

	if (engine->starting != cta || cta->cga || wave->cga_arrived ||
	    inject_armed(engine->array->card, TUTTI_INJECT_KERNEL_TRAP, NULL) || !engine_goes_on(engine))
		return false;
	cta->left--;
	hart_registers(wave);
	wave_begin(engine, wave);
	fill_items(wave);
	return true;
}

void wave_fault(struct hart *hart, unsigned cause, unsigned access, uint64_t pc, uint64_t address)
{
	struct wave *wave = hart->current;

	hart->current = NULL;
	cta_freeze(hart->engine, wave->cta, wave->number, cause, access, pc, address);
}

static bool service_barrier(struct hart *hart)
{
	struct wave *wave = hart->current;
	struct cta *cta = wave->cta;
	struct engine *engine = hart->engine;

	hart_x_set(hart, 10, 0);
	if (cta->arrived + 1u == cta->left) {
		barrier_release(engine, cta);
		return true;
	}
	cta->arrived++;
	wave->next = NULL;
	*cta->waiting_end = wave;
	cta->waiting_end = &wave->next;
	engine->switches++;
	hart->current = NULL;
	return false;
}

static bool service_yield(struct hart *hart)
{
	struct wave *wave = hart->current;

	hart_x_set(hart, 10, 0);
	wave->spun = true;
	wave_list_put(&hart->engine->yielded, wave);
	hart->engine->switches++;
	hart->current = NULL;
	return false;
}

bool wave_service(struct hart *hart, uint64_t number)
{
	uint64_t pc;

	switch (number) {
	case TUTTI_SERVICE_EXIT: {
		struct wave *wave = hart->current;

		if (likely(wave_succeed(wave)))
			return true;
		hart->current = NULL;
		wave_end(wave);
		return false;
	}
	case TUTTI_SERVICE_BARRIER:
		return service_barrier(hart);
	case TUTTI_SERVICE_YIELD:
		return service_yield(hart);
	case TUTTI_SERVICE_TIME:
		hart_x_set(hart, 10, card_time(hart->array->card));
		return true;
	case TUTTI_SERVICE_PRINT:
		hart_x_set(hart, 10, (uint64_t)print_text(hart, hart_x(hart, 10), hart_x(hart, 11)));
		return true;
	case TUTTI_SERVICE_TENSOR:
		return service_tensor(hart);
	case TUTTI_SERVICE_WAIT_ALL:
		return service_wait_all(hart);
	case TUTTI_SERVICE_MBARRIER_WAIT:
		return service_mbarrier(hart);
	case TUTTI_SERVICE_TASK:
	case TUTTI_SERVICE_QUEUE_NOTIFY:
		return request_post(hart, number);
	case TUTTI_SERVICE_CGA_BARRIER:
		return cga_arrive(hart) && cga_wait(hart);
	case TUTTI_SERVICE_CGA_ARRIVE:
		return cga_arrive(hart);
	case TUTTI_SERVICE_CGA_WAIT:
		return cga_wait(hart);
	}
	pc = hart_ecall_pc(hart);
	if (number == TUTTI_SERVICE_ABORT)
		wave_fault(hart, TUTTI_CAUSE_ABORT, TUTTI_ACCESS_NONE, pc, hart_x(hart, 10));
	else
		wave_fault(hart, TUTTI_CAUSE_SERVICE, TUTTI_ACCESS_NONE, pc, number);
	return false;
}
