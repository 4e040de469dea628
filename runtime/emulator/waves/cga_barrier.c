// SPDX-License-Identifier: MIT
/*
 * The CTAs of a CGA come to one engine together, meet at the barrier (spec CGA-25) and leave one by one (CGA-26).
 * Nothing here needs a lock, because one engine runs all of them. A CTA without a CGA is its own CGA.
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

static struct cga_barrier *barrier_of(struct cta *cta)
{
	struct cga_barrier *alone = &cta->engine->array->alone[cta->number];

	if (cta->cga)
		return &cta->cga->barrier;
	if (!cta->met) {
		cta->met = true;
		alone->arrived = 0;
		wave_list_init(&alone->waiting);
	}
	return alone;
}

static uint32_t waves_of(const struct cta *cta)
{
	return cta->cga ? cta->cga->waves : cta->left;
}

static void release(struct cga_barrier *barrier, struct engine *engine)
{
	wave_list_splice(&engine->ready, &barrier->waiting);
	barrier->arrived = 0;
	barrier->phase++;
	engine->barriers++;
	engine->spins = 0;
}

void cga_wave_end(struct wave *wave)
{
	struct cta *cta = wave->cta;
	struct cga_barrier *barrier = barrier_of(cta);

	if (wave->cga_arrived && wave->cga_phase == barrier->phase)
		barrier->arrived--;
	if (barrier->arrived && barrier->arrived + 1 == waves_of(cta))
		release(barrier, cta->engine);
	if (cta->cga)
		cta->cga->waves--;
}

static bool misused(struct hart *hart)
{
	wave_fault(hart, TUTTI_CAUSE_SERVICE, TUTTI_ACCESS_NONE, hart_ecall_pc(hart), hart_x(hart, 17));
	return false;
}

bool cga_arrive(struct hart *hart)
{
	struct wave *wave = hart->current;
	struct cga_barrier *barrier = barrier_of(wave->cta);

	if (wave->cga_arrived)
		return misused(hart);
	hart_x_set(hart, 10, 0);
	wave->cga_arrived = true;
	wave->cga_phase = barrier->phase;
	if (++barrier->arrived == waves_of(wave->cta))
		release(barrier, hart->engine);
	return true;
}

bool cga_wait(struct hart *hart)
{
	struct wave *wave = hart->current;
	struct cga_barrier *barrier = barrier_of(wave->cta);

	if (!wave->cga_arrived)
		return misused(hart);
	wave->cga_arrived = false;
	hart_x_set(hart, 10, 0);
	if (wave->cga_phase != barrier->phase)
		return true;
	wave_list_put(&barrier->waiting, wave);
	hart->engine->switches++;
	hart->current = NULL;
	return false;
}
