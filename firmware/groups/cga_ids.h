/* SPDX-License-Identifier: MIT */
/**
 * DOC: Identities of CGAs: one manager per GPC (spec CGA-17, CGA-23, CGA-26, CGA-28, CGA-31)
 *
 * A launched CGA has a gpc_local_cga_id from its first launch message until every SM that ran a CTA of it has
 * flushed: only then nothing of it can be under way. The id, a credit of its GPC and a linear memory slot come and
 * go together.
 */
#ifndef CGA_IDS_H
#define CGA_IDS_H

#include "place/gpc_slots.h"

#define CGA_IDS_CGAS 256u     /* of all GPCs */
#define CGA_IDS_LMEM_SLOTS 64u
#define CGA_IDS_NO_LMEM 0xffffffffu

/** struct live_cga - one CGA with an identity. */
struct live_cga {
	uint32_t sms;             /* that run CTAs of it; when it has ended: that have not flushed yet */
	union {
		struct {
			uint16_t running; /* CTAs */
			uint8_t slot;     /* task */
			uint8_t next;     /* free list */
		};
		uint32_t life;
	};
};

void cga_ids_init(void);
/** cga_ids_lmem_slots() - linear memory slots of the card. cga_ids_lmem_free() - those that are free. */
uint32_t cga_ids_lmem_slots(void);
uint32_t cga_ids_lmem_free(void);

static inline struct live_cga *live_cga(const struct gpc *gpc, unsigned id)
{
	return &gpc->ids[id];
}

/** cga_ids_head() - identity in a launch record, no memory slot. */
static inline void cga_ids_head(uint32_t *record, uint32_t sequence, unsigned id, unsigned gpc)
{
	/* word 1: sequence | id << 16 | gpc << 24 */
	((uint16_t *)record)[2] = (uint16_t)sequence;
	((uint8_t *)record)[6] = (uint8_t)id;
	((uint8_t *)record)[7] = (uint8_t)gpc;
	record[2] = CGA_IDS_NO_LMEM;
}

/** cga_ids_take() - identity for a CGA of task @slot; the GPC has a credit, and so a free id. Return: its id. */
static inline unsigned cga_ids_take(struct gpc *gpc, unsigned slot)
{
	unsigned id = gpc->id_next;
	struct live_cga *cga = live_cga(gpc, id);

	gpc->id_next = (uint8_t)(cga->life >> 24);
	gpc->credits--;
	cga->sms = 0;
	cga->life = slot << 16;
	return id;
}

/** cga_ids_lmem_take() - a linear memory slot for it; there is one. */
uint32_t cga_ids_lmem_take(const struct gpc *gpc, unsigned id);
/** cga_ids_undo() - the CGA is not launched after all; once for each identity. */
void cga_ids_undo(struct gpc *gpc, unsigned id, uint32_t lmem);
/** cga_ids_started() - @n CTAs of it were launched on SMs @sms. */
static inline void cga_ids_started(const struct gpc *gpc, unsigned id, uint32_t sms, unsigned n)
{
	struct live_cga *cga = live_cga(gpc, id);

	cga->sms |= sms;
	cga->running = (uint16_t)(cga->running + n);
}

/** cga_ids_ended() - @n CTAs have ended; the last one: flush. */
void cga_ids_ended(struct gpc *gpc, unsigned id, unsigned n);
/** cga_ids_resume() - there is room in the command ring again for flushes that found none. */
void cga_ids_resume(void);
/** cga_ids_event_flushed() - SMs have flushed. Return: an identity or slot came back. */
bool cga_ids_event_flushed(const struct tutti_event *event);
/** cga_ids_idle() - no identity is in use, none waits for its flush. */
bool cga_ids_idle(void);
/** cga_ids_task() - slot of the task a CGA belongs to, or -1 if it is gone. */
int cga_ids_task(unsigned gpc_number, unsigned id);

#endif
