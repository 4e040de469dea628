// SPDX-License-Identifier: MIT
/*
 * The CTAs of a CGA come to one engine together, meet at the barrier (spec CGA-25) and leave one by one (CGA-26).
 * Nothing here needs a lock, because one engine runs all of them.
 */
#include "emulator/hart/dsmem.h"
#include "emulator/waves/cga_barrier.h"
#include "emulator/waves/wave.h"

void cga_enter(struct engine *engine, struct cta *cta)
{
	struct cga *cga = cta->cga;
	struct cta *last = cga->last;

	cga->first = cga->last = NULL;
	cga->hart = hart_get(engine, cta->task->state.asid);
	if (cga->hart)
		cga->hart->live++; /* keeps the hart and with it the shared memory of CTAs not yet started */
	for (struct cta *follower = cta; follower != last; follower = follower->group)
		follower->next = follower->group;
	if (cta == last)
		return;
	last->next = engine->batch.head;
	if (!engine->batch.head)
		engine->batch.tail = &last->next;
	engine->batch.head = cta->group;
}

void cga_leave(struct sm_array *array, struct cta *cta)
{
	struct cga *cga = cta->cga;

	dsmem_invalidate(array, cta);
	if (--cga->left || !cga->hart)
		return;
	cga->hart->live--;
	cga->hart = NULL;
}

static void release(struct cga *cga, struct engine *engine)
{
	struct wave *wave = cga->waiting, *next;

	for (; wave; wave = next) {
		next = wave->next;
		wave_list_put(&engine->ready, wave);
	}
	cga->waiting = NULL;
	cga->waiting_end = &cga->waiting;
	cga->arrived = 0;
	cga->phase++;
	engine->barriers++;
	engine->spins = 0;
}

void cga_wave_end(struct wave *wave)
{
	struct cga *cga = wave->cta->cga;

	cga->waves--;
	if (wave->cga_arrived && wave->cga_phase == cga->phase)
		cga->arrived--;
	if (cga->arrived && cga->arrived == cga->waves)
		release(cga, wave->cta->engine);
}

static bool misused(struct hart *hart)
{
	wave_fault(hart, TUTTI_CAUSE_SERVICE, TUTTI_ACCESS_NONE, hart_ecall_pc(hart), hart_x(hart, 17));
	return false;
}

bool cga_arrive(struct hart *hart)
{
	struct wave *wave = hart->current;
	struct cga *cga = wave->cta->cga;

	if (wave->cga_arrived)
		return misused(hart);
	hart_x_set(hart, 10, 0);
	wave->cga_arrived = true;
	if (!cga)
		return true;
	wave->cga_phase = cga->phase;
	if (++cga->arrived == cga->waves)
		release(cga, hart->engine);
	return true;
}

bool cga_wait(struct hart *hart)
{
	struct wave *wave = hart->current;
	struct cga *cga = wave->cta->cga;

	if (!wave->cga_arrived)
		return misused(hart);
	wave->cga_arrived = false;
	if (!cga) /* a CTA without a CGA is its own CGA */
		return wave_service(hart, TUTTI_SERVICE_BARRIER);
	hart_x_set(hart, 10, 0);
	if (wave->cga_phase != cga->phase)
		return true;
	wave->next = NULL;
	*cga->waiting_end = wave;
	cga->waiting_end = &wave->next;
	hart->engine->switches++;
	hart->current = NULL;
	return false;
}
