/* SPDX-License-Identifier: MIT */
/** DOC: CTAs and lists of them */
#ifndef TUTTI_EMULATOR_SM_CTA_H
#define TUTTI_EMULATOR_SM_CTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/sm/rasteriser.h"
#include "emulator/sm/resource.h"

struct cga;
struct engine;
struct hart;
struct task;
struct wave;

/** struct cta - a CTA from its launch until its completion is recorded for the report. */
struct cta {
	struct cta *next;
	struct task *task;
	struct cga *cga;       /* NULL if it belongs to none */
	struct engine *engine; /* NULL until it has started */
	struct hart *hart;
	struct wave *live;     /* its waves that have started and not ended */
	struct wave *waiting, **waiting_end; /* waves that wait at the barrier */
	uint64_t wave_slots[SM_WAVES / 64];
	uint32_t number;       /* of this structure in the array's pool */
	struct raster_place at;
	uint16_t sm, shared_first;
	uint16_t waves, started, left, arrived;
	uint16_t first_wave; /* not 0 in split tasks only */
	uint8_t slot;
	bool used, frozen;
	bool met;              /* it has no CGA, and a wave has used the barrier that it has all the same, in sm_array.alone */
	bool special;          /* it uses the three members below, belongs to a CGA, or both */
	uint32_t lmem, work_items;
	uint64_t work_first;
	struct cta *group;     /* next CTA of the same CGA */
	/* Numbers of tensor requests that its waves have made and that movers have served (atomic). */
	uint32_t asked, served;
	bool failed;   /* atomic: an access that a mover made for it was refused */
	bool draining; /* ended or killed, but movers still work on its requests */
	bool killed;
	struct {
		uint64_t pc, address;
		uint16_t wave;
		uint8_t cause, access;
	} fault;
};

struct cta_list {
	struct cta *head, **tail;
	uint32_t count;
};

static inline void cta_list_init(struct cta_list *list)
{
	list->head = NULL;
	list->tail = &list->head;
	list->count = 0;
}

static inline void cta_list_put(struct cta_list *list, struct cta *cta)
{
	cta->next = NULL;
	*list->tail = cta;
	list->tail = &cta->next;
	list->count++;
}

static inline struct cta *cta_list_take(struct cta_list *list)
{
	struct cta *cta = list->head;

	if (cta) {
		list->head = cta->next;
		if (!list->head)
			list->tail = &list->head;
		list->count--;
	}
	return cta;
}

/** cta_list_splice() - move all of @from to the end of @to. */
static inline void cta_list_splice(struct cta_list *to, struct cta_list *from)
{
	if (!from->head)
		return;
	*to->tail = from->head;
	to->tail = from->tail;
	to->count += from->count;
	cta_list_init(from);
}

#endif
