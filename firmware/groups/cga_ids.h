/* SPDX-License-Identifier: MIT */
/**
 * DOC: Identities of CGAs: one manager per GPC (spec CGA-17, CGA-23, CGA-26, CGA-28, CGA-31)
 *
 * A launched CGA has a gpc_local_cga_id from its first LAUNCH until every SM that ran a CTA of it has flushed, because
 * an access to its shared memory may be under way until then. The id, a credit of its GPC and, if the CGA needs one, a
 * linear memory slot are allocated together.
 */
#ifndef CGA_IDS_H
#define CGA_IDS_H

#include "place/gpc_slots.h"

#define CGA_IDS_CGAS 256u     /* live CGAs with an identity, on all GPCs together */
#define CGA_IDS_LMEM_SLOTS 64u
#define CGA_IDS_NO_LMEM 0xffffffffu

/** struct live_cga - one CGA with an identity. */
struct live_cga {
	uint32_t sms;             /* SMs that run CTAs of it; once it has ended, those that have not flushed yet */
	union {
		struct {
			uint16_t running; /* its CTAs that run */
			uint8_t slot;     /* slot of its task */
			uint8_t next;     /* next id of the free list */
		};
		uint32_t life; /* the three of them, to be set by one store */
	};
};

/** cga_ids_init() - let every id, credit and memory slot be free. */
void cga_ids_init(void);
/** cga_ids_lmem_slots() - number of linear memory slots of the card; cga_ids_lmem_free() - of those that are free. */
uint32_t cga_ids_lmem_slots(void);
uint32_t cga_ids_lmem_free(void);

/** live_cga() - the CGA with gpc_local_cga_id @id. */
static inline struct live_cga *live_cga(const struct gpc *gpc, unsigned id)
{
	return &gpc->ids[id];
}

/** cga_ids_head() - write an identity without a memory slot into the head of a LAUNCH record. */
static inline void cga_ids_head(uint32_t *record, uint32_t sequence, unsigned id, unsigned gpc)
{
	/* word 1: sequence | id << 16 | gpc << 24 */
	((uint16_t *)record)[2] = (uint16_t)sequence;
	((uint8_t *)record)[6] = (uint8_t)id;
	((uint8_t *)record)[7] = (uint8_t)gpc;
	record[2] = CGA_IDS_NO_LMEM;
}

/** cga_ids_take() - allocate an identity for a CGA of task @slot; @gpc must have a credit. Return: its id */
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

/** cga_ids_lmem_take() - allocate a linear memory slot for a CGA; one must be free. Return: its number */
uint32_t cga_ids_lmem_take(const struct gpc *gpc, unsigned id);
/** cga_ids_undo() - the CGA is not launched after all. Call it once for each identity. */
void cga_ids_undo(struct gpc *gpc, unsigned id, uint32_t lmem);
/** cga_ids_started() - @n CTAs of a CGA were launched on SMs @sms. */
static inline void cga_ids_started(const struct gpc *gpc, unsigned id, uint32_t sms, unsigned n)
{
	struct live_cga *cga = live_cga(gpc, id);

	cga->sms |= sms;
	cga->running = (uint16_t)(cga->running + n);
}

/** cga_ids_ended() - @n CTAs of a CGA have ended; after the last one its SMs are told to flush. */
void cga_ids_ended(struct gpc *gpc, unsigned id, unsigned n);
/** cga_ids_resume() - the command ring may have room again: send the flushes that found none. */
void cga_ids_resume(void);
/** cga_ids_event_flushed() - SMs have flushed. Return: the GPC if an identity or a memory slot became free, otherwise NULL */
const struct gpc *cga_ids_event_flushed(const struct tutti_event *event);
/** cga_ids_idle() - whether no identity is in use and none waits for its flush. */
bool cga_ids_idle(void);
/** cga_ids_task() - the slot of the task that a running CGA belongs to, or -1 if it has ended. */
int cga_ids_task(unsigned gpc_number, unsigned id);

#endif
