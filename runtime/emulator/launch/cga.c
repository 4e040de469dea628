// SPDX-License-Identifier: MIT
/*
 * CGAs from launch to flush: ids, completions, order of exit (spec CGA-23, CGA-26). The firmware makes all decisions.
 * What it must not do is refused, which stops it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emulator/base/counters.h"
#include "emulator/base/window.h"
#include "emulator/launch/cga.h"
#include "emulator/memory/event_ring.h"
#include "emulator/hart/dsmem.h"

/* ---- launch ----------------------------------------------------------- */

static struct cga *cga_at(struct sm_array *array, unsigned gpc, unsigned id)
{
	return &array->cga[gpc * array->limits->cga_ids + id];
}

struct cga *cga_open(struct sm_array *array, unsigned gpc, unsigned id, unsigned slot)
{
	const struct task *task = array->slot[slot].task;
	struct cga *cga;

	if (gpc >= array->limits->gpcs || array->gpc[gpc].sms > GPC_SMS || id >= array->limits->cga_ids ||
	    !task->cga_ctas)
		return NULL;
	cga = cga_at(array, gpc, id);
	if (cga->used)
		return cga->staged && cga->slot == slot ? cga : NULL;
	memset(cga, 0, sizeof(*cga));
	cga->used = cga->staged = true;
	cga->gpc = (uint8_t)gpc;
	cga->id = (uint8_t)id;
	cga->slot = (uint8_t)slot;
	cga->size = task->cga_ctas;
	wave_list_init(&cga->barrier.waiting);
	memset(cga->rank_sm, CGA_NO_SM, sizeof(cga->rank_sm));
	memset(cga->sm_slot, 0xff, sizeof(cga->sm_slot));
	return cga;
}

bool cga_add(struct sm_array *array, struct cga *cga, struct cta *cta)
{
	uint32_t sm = cta->sm - array->limits->gpc[cga->gpc].first_sm;

	/* CTAs must come in the order of their ranks; otherwise the launch has left one out. */
	if (cta->at.rank != cga->ctas || cga->ctas == cga->size)
		return false;
	cta->cga = cga;
	cga->rank_sm[cta->at.rank] = (uint8_t)sm;
	cga->ran |= 1u << sm;
	cga->ctas++;
	cga->running++;
	cga->left++;
	cga->waves += cta->waves;
	if (cga->last)
		cga->last->group = cta;
	else
		cga->first = cta;
	cga->last = cta;
	return true;
}

bool cga_close(struct sm_array *array, struct cga *cga)
{
	if (cga->ctas != cga->size)
		return false;
	cga->staged = false;
	dsmem_announce(array, cga);
	card_count(array->card, TUTTI_COUNTER_CGAS, 1);
	return true;
}

/* ---- end -------------------------------------------------------------- */

void cga_complete(struct sm_array *array, struct cta *cta)
{
	struct cga *cga = cta->cga;
	const struct gpc *gpc = &array->gpc[cga->gpc];
	unsigned position = gpc->position[cta->sm - array->limits->gpc[cga->gpc].first_sm];

	dsmem_release(array, cta);
	cga->running--;
	cga->done[position]++;
	cga->done_mask |= 1u << position;
	if (cga->dirty)
		return;
	cga->dirty = true;
	cga->dirty_next = array->dirty_cgas;
	array->dirty_cgas = cga;
}

/* Report the least count for all SMs of the mask, after which at least one of them has nothing to report. */
static bool report_done(struct sm_array *array, struct cga *cga, bool *any)
{
	while (cga->done_mask) {
		uint32_t mask = cga->done_mask, least = ~0u;
		struct tutti_event event = {{0}};

		for (uint32_t bits = mask; bits; bits &= bits - 1)
			if (cga->done[__builtin_ctz(bits)] < least)
				least = cga->done[__builtin_ctz(bits)];
		event.word[0] = TUTTI_EVENT_CGA | (uint32_t)cga->slot << 8 | (uint32_t)cga->gpc << 16 |
				(uint32_t)cga->id << 24;
		event.word[1] = least;
		event.word[2] = least * (uint32_t)__builtin_popcount(mask);
		event.word[3] = mask;
		if (!engines_event(array->card, &event))
			return false;
		*any = true;
		for (uint32_t bits = mask; bits; bits &= bits - 1) {
			unsigned i = (unsigned)__builtin_ctz(bits);

			cga->done[i] -= least;
			if (!cga->done[i])
				cga->done_mask &= ~(1u << i);
		}
	}
	return true;
}

bool cga_report_done(struct sm_array *array, bool *any)
{
	while (array->dirty_cgas) {
		struct cga *cga = array->dirty_cgas;

		if (!report_done(array, cga, any))
			return false;
		cga->dirty = false;
		array->dirty_cgas = cga->dirty_next;
	}
	return true;
}

/* ---- DSMEM accesses that the receiving SM refused ---------------------- */

static bool report_fault(struct sm_array *array, const struct cga *cga)
{
	struct tutti_event event = {{
		TUTTI_EVENT_CGA_FAULT | (uint32_t)cga->gpc << 8 | (uint32_t)cga->id << 16 |
			(uint32_t)cga->fault.cause << 24,
		cga->fault.sm, cga->fault.rank | cga->fault.offset << 8,
	}};

	return engines_event(array->card, &event);
}

bool cga_report_faults(struct sm_array *array, bool *any)
{
	bool room = true;

	pthread_mutex_lock(&array->lock);
	while (array->faulted_cgas && (room = report_fault(array, array->faulted_cgas))) {
		array->faulted_cgas = array->faulted_cgas->fault_next;
		*any = true;
	}
	pthread_mutex_unlock(&array->lock);
	return room;
}

/* The CGA is gone, so its fault is no longer reported. */
static void drop_fault(struct sm_array *array, const struct cga *cga)
{
	struct cga **link = &array->faulted_cgas;

	if (!cga->faulted)
		return;
	pthread_mutex_lock(&array->lock);
	while (*link && *link != cga)
		link = &(*link)->fault_next;
	if (*link)
		*link = cga->fault_next;
	pthread_mutex_unlock(&array->lock);
}

/* ---- kill and flush --------------------------------------------------- */

void cga_kill(struct sm_array *array, unsigned slot)
{
	uint32_t n = array->limits->gpcs * array->limits->cga_ids;

	if (array->stage.open && array->stage.slot == slot) {
		array->stage.open = false;
		cta_list_init(&array->stage.ctas);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct cga *cga = &array->cga[i];

		if (!cga->used || cga->slot != slot)
			continue;
		drop_fault(array, cga);
		cga->staged = false;
		wave_list_init(&cga->barrier.waiting);
	}
}

/* Turn a mask of positions in the priority order into one of SM numbers in the GPC. */
static uint32_t sms_of(const struct gpc *gpc, uint32_t mask)
{
	uint32_t sms = 0;

	for (; mask; mask &= mask - 1)
		sms |= 1u << gpc->order[__builtin_ctz(mask)];
	return sms;
}

int sm_array_flush(struct sm_array *array, unsigned gpc, unsigned id, uint32_t mask)
{
	struct cga *cga;
	uint32_t sms;

	if (gpc >= array->limits->gpcs || id >= array->limits->cga_ids || array->gpc[gpc].sms > GPC_SMS ||
	    (uint64_t)mask >> array->gpc[gpc].sms)
		return -EINVAL;
	cga = cga_at(array, gpc, id);
	if (!cga->used)
		return 0;
	if (cga->running || cga->staged || cga->dirty)
		return -EINVAL; /* the shared memory of its CTAs may still be accessed, or their ends have not been told */
	sms = sms_of(&array->gpc[gpc], mask) & cga->ran;
	dsmem_forget(array, cga, sms);
	cga->ran &= ~sms;
	if (cga->ran)
		return 0;
	drop_fault(array, cga);
	cga->used = false;
	return 0;
}

int sm_array_flush_lmem(struct sm_array *array, unsigned slot)
{
	uint32_t bytes = array->limits->lmem_slot_bytes;

	if (slot >= array->limits->lmem_slots)
		return -EINVAL;
	if (array->lmem_used[slot])
		memset(array->lmem + (uint64_t)slot * bytes, 0, bytes);
	array->lmem_used[slot] = 0;
	return 0;
}

/* ---- creation and end ------------------------------------------------- */

void cga_order(struct sm_array *array)
{
	uint16_t n[TUTTI_MAX_GPCS] = {0};

	for (uint32_t p = 0; p < array->sms; p++) {
		unsigned sm = array->order[p], g = array->gpc_of[sm];
		struct gpc *gpc = &array->gpc[g];
		unsigned number = sm - array->limits->gpc[g].first_sm;

		/* Until several ORDER commands have replaced the whole order, an SM may be in it twice. */
		if (gpc->sms > GPC_SMS || n[g] >= gpc->sms)
			continue;
		gpc->order[n[g]] = (uint8_t)number;
		gpc->position[number] = (uint8_t)n[g]++;
	}
}

void cga_empty(struct sm_array *array)
{
	const struct tutti_discovery *limits = array->limits;

	memset(array->cga, 0, sizeof(*array->cga) * limits->gpcs * limits->cga_ids);
	array->dirty_cgas = array->faulted_cgas = NULL;
	array->stage.open = false;
	cta_list_init(&array->stage.ctas);
	dsmem_empty(array);
	for (uint32_t i = 0; i < limits->lmem_slots; i++)
		sm_array_flush_lmem(array, i);
	cga_order(array);
}

static void find_gpcs(struct sm_array *array)
{
	struct tutti_sm_place place[TUTTI_MAX_SMS];

	card_sm_places(array->card, place);
	for (uint32_t g = 0; g < array->limits->gpcs; g++) {
		const struct tutti_gpc *from = &array->limits->gpc[g];
		struct gpc *gpc = &array->gpc[g];

		gpc->sms = from->sms;
		for (uint32_t i = 0; i < from->sms && from->first_sm + i < array->sms; i++) {
			const struct tutti_sm_place *at = &place[from->first_sm + i];

			array->gpc_of[from->first_sm + i] = (uint8_t)g;
			if (from->sms > GPC_SMS)
				continue;
			gpc->place[i] = (uint8_t)(at->tpc << 1 | at->sm);
			gpc->number[gpc->place[i]] = (uint8_t)i;
		}
	}
}

int cga_create(struct sm_array *array)
{
	const struct tutti_discovery *limits = array->limits;
	uint64_t bytes = (uint64_t)limits->lmem_slots * limits->lmem_slot_bytes;

	if (limits->gpcs > TUTTI_MAX_GPCS || limits->cga_ids > 256 || limits->cga_ctas > CGA_RANKS)
		return -EINVAL;
	find_gpcs(array);
	array->cga = calloc((size_t)limits->gpcs * limits->cga_ids + 1, sizeof(*array->cga));
	array->lmem_used = calloc(limits->lmem_slots + 1, 1);
	array->lmem = NULL;
	if (bytes) {
		void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		array->lmem = p == MAP_FAILED ? NULL : p;
	}
	if (!array->cga || !array->lmem_used || (bytes && !array->lmem))
		return -ENOMEM;
	return dsmem_create(array);
}

void cga_destroy(struct sm_array *array)
{
	dsmem_destroy(array);
	if (array->lmem)
		munmap(array->lmem, (uint64_t)array->limits->lmem_slots * array->limits->lmem_slot_bytes);
	free(array->lmem_used);
	free(array->cga);
}
