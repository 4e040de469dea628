/* SPDX-License-Identifier: MIT */
/**
 * DOC: Identities of CGAs: one manager per GPC (spec CGA-17, CGA-23, CGA-26, CGA-28, CGA-31)
 *
 * A launched CGA has a gpc_local_cga_id from its first launch message until every
 * SM that ran a CTA of it has flushed: only then nothing of it can be under way.
 * The id, a credit of its GPC and a linear memory slot come and go together.
 */
#ifndef GPM_H
#define GPM_H

#include "domain.h"

#define GPM_CGAS 256u     /* of all GPCs */
#define GPM_LMEM_SLOTS 64u
#define GPM_NO_LMEM 0xffffffffu

/** struct gpm_cga - one CGA with an identity. */
struct gpm_cga {
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

/** struct gpm_state - all GPCs. */
struct gpm_state {
	uint32_t ids;         /* of each GPC */
	uint32_t flushing;    /* identities and slots that wait for their flush */
	uint32_t lmem_slots, lmem_free;
	uint32_t lmem_next;   /* where to look for the next free slot */
};
extern struct gpm_state gpm;

void gpm_init(void);
extern struct gpm_cga gpm_cgas[GPM_CGAS];

static inline struct gpm_cga *gpm_cga(const struct gpc *gpc, unsigned id)
{
	return &gpc->ids[id];
}

/** gpm_head() - identity in a launch record, no memory slot. */
static inline void gpm_head(uint32_t *record, uint32_t sequence, unsigned id, unsigned gpc)
{
	/* word 1: sequence | id << 16 | gpc << 24 */
	((uint16_t *)record)[2] = (uint16_t)sequence;
	((uint8_t *)record)[6] = (uint8_t)id;
	((uint8_t *)record)[7] = (uint8_t)gpc;
	record[2] = GPM_NO_LMEM;
}

/** gpm_take() - identity for a CGA of task @slot; the GPC has a credit, and so a free id. Return: its id. */
static inline unsigned gpm_take(struct gpc *gpc, unsigned slot)
{
	unsigned id = gpc->id_next;
	struct gpm_cga *cga = gpm_cga(gpc, id);

	gpc->id_next = (uint8_t)(cga->life >> 24);
	gpc->credits--;
	cga->sms = 0;
	cga->life = slot << 16;
	return id;
}

/** gpm_lmem_take() - a linear memory slot for it; there is one. */
uint32_t gpm_lmem_take(const struct gpc *gpc, unsigned id);
/** gpm_undo() - the CGA is not launched after all; once for each identity. */
void gpm_undo(struct gpc *gpc, unsigned id, uint32_t lmem);
/** gpm_started() - @n CTAs of it were launched on SMs @sms. */
static inline void gpm_started(const struct gpc *gpc, unsigned id, uint32_t sms, unsigned n)
{
	struct gpm_cga *cga = gpm_cga(gpc, id);

	cga->sms |= sms;
	cga->running = (uint16_t)(cga->running + n);
}

/** gpm_ended() - @n CTAs have ended; the last one: flush. */
void gpm_ended(struct gpc *gpc, unsigned id, unsigned n);
/** gpm_event_flushed() - SMs have flushed. Return: an identity or slot came back. */
bool gpm_event_flushed(const struct tutti_event *event);
/** gpm_idle() - no identity is in use, none waits for its flush. */
bool gpm_idle(void);
/** gpm_task() - slot of the task a CGA belongs to, or -1 if it is gone. */
int gpm_task(unsigned gpc_number, unsigned id);

#endif
