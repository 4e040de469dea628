// SPDX-License-Identifier: MIT
#include "groups/cga_ids.h"

#include "core/command_ring.h"
#include "core/state.h"

/* What all GPCs share. */
static struct {
	uint32_t ids;         /* number of ids of each GPC */
	uint32_t flushing;    /* identities and memory slots that wait for their flush */
	uint32_t lmem_slots, lmem_free;
	uint32_t lmem_next;   /* where to look for the next free slot */
} cga_ids;

static struct live_cga live_cgas[CGA_IDS_CGAS];

/* Linear memory slots: the identity that owns each, and the SMs that still have to flush it. */
static struct {
	uint32_t sms;
	uint16_t owner;   /* gpc index << 8 | id */
	uint8_t used;
	uint8_t flushing;
} lmem[CGA_IDS_LMEM_SLOTS];

static uint32_t flush_late[CGA_IDS_CGAS / 32]; /* CGAs that have ended, whose flush found no room yet */

COLD void cga_ids_init(void)
{
	const struct tutti_discovery *d = (const void *)HAL_WINDOW;
	struct gpc *gpc;
	unsigned i;

	cga_ids.ids = cga_ids.flushing = cga_ids.lmem_next = 0;
	if (domains.gpcs)
		cga_ids.ids = min32(min32(d->cga_ids, 256), CGA_IDS_CGAS / domains.gpcs);
	for (gpc = domains.gpc; gpc < domains.gpc + domains.gpcs; gpc++) {
		/* No more CGAs can run at once than the SMs have CTA slots. */
		gpc->credits = (uint16_t)min32(cga_ids.ids, popcount32(gpc->all) * min32(fw.cta_slots, LAKE_LEVELS));
		gpc->credits_all = gpc->credits;
		gpc->id_next = 0;
		gpc->ids = live_cgas + (unsigned)(gpc - domains.gpc) * cga_ids.ids;
		for (i = 0; i < cga_ids.ids; i++)
			*live_cga(gpc, i) = (struct live_cga){ .next = (uint8_t)(i + 1) };
	}
	cga_ids.lmem_slots = cga_ids.lmem_free = min32(d->lmem_slots, CGA_IDS_LMEM_SLOTS);
	for (i = 0; i < CGA_IDS_LMEM_SLOTS; i++)
		lmem[i].used = lmem[i].flushing = 0;
	for (i = 0; i < CGA_IDS_CGAS / 32; i++)
		flush_late[i] = 0;
}

COLD uint32_t cga_ids_lmem_slots(void)
{
	return cga_ids.lmem_slots;
}

uint32_t cga_ids_lmem_free(void)
{
	return cga_ids.lmem_free;
}

static void give(struct gpc *gpc, unsigned id)
{
	struct live_cga *cga = live_cga(gpc, id);

	cga->life = (uint32_t)gpc->id_next << 24;
	cga->sms = 0;
	gpc->id_next = (uint8_t)id;
	gpc->credits++;
}

static uint16_t owner_of(const struct gpc *gpc, unsigned id)
{
	return (uint16_t)((unsigned)(gpc - domains.gpc) << 8 | id);
}

uint32_t cga_ids_lmem_take(const struct gpc *gpc, unsigned id)
{
	unsigned slot = cga_ids.lmem_next;

	while (lmem[slot].used)
		slot = slot + 1 == cga_ids.lmem_slots ? 0 : slot + 1;
	lmem[slot].used = 1;
	lmem[slot].owner = owner_of(gpc, id);
	cga_ids.lmem_free--;
	cga_ids.lmem_next = slot;
	return slot;
}

static void lmem_give(uint32_t slot)
{
	lmem[slot].used = lmem[slot].flushing = 0;
	cga_ids.lmem_free++;
}

void cga_ids_undo(struct gpc *gpc, unsigned id, uint32_t slot)
{
	give(gpc, id);
	if (slot != CGA_IDS_NO_LMEM)
		lmem_give(slot);
}

static inline uint32_t *put_flush(uint32_t *p, const struct gpc *gpc, unsigned what, unsigned which, uint32_t sms)
{
	p[0] = TUTTI_COMMAND(TUTTI_CMD_FLUSH, COMMAND_FLUSH_WORDS, gpc->number | what << 8);
	p[1] = which;
	p[2] = sms;
	return p + COMMAND_FLUSH_WORDS;
}

/* The caller has asked for room for the command. */
static COLD void command_flush(const struct gpc *gpc, unsigned what, unsigned which, uint32_t sms)
{
	command_end(put_flush(command_begin(COMMAND_FLUSH_WORDS), gpc, what, which, sms));
	cga_ids.flushing++;
}

static COLD void flush_lmem(const struct gpc *gpc, unsigned id, uint32_t sms)
{
	unsigned i;

	for (i = 0; i < cga_ids.lmem_slots; i++)
		if (lmem[i].used && !lmem[i].flushing && lmem[i].owner == owner_of(gpc, id)) {
			lmem[i].sms = sms;
			lmem[i].flushing = 1;
			command_flush(gpc, TUTTI_FLUSH_LMEM, i, sms);
		}
}

/* An identity owns at most one memory slot, so it needs at most two FLUSH commands. */
#define IDENTITY_WORDS (2 * COMMAND_FLUSH_WORDS)

static COLD void flush(const struct gpc *gpc, unsigned id)
{
	uint32_t sms = live_cga(gpc, id)->sms;

	command_flush(gpc, TUTTI_FLUSH_DSMEM, id, sms);
	if (cga_ids.lmem_free != cga_ids.lmem_slots)
		flush_lmem(gpc, id, sms);
}

/* The command ring may have no room, or the CGA owns a memory slot. */
static COLD void flush_rare(struct gpc *gpc, unsigned id)
{
	unsigned index = (unsigned)(live_cga(gpc, id) - live_cgas);

	if (command_ask(IDENTITY_WORDS))
		flush(gpc, id);
	else
		flush_late[index / 32] |= 1u << (index % 32);
}

HOT void cga_ids_ended(struct gpc *gpc, unsigned id, unsigned n)
{
	struct live_cga *cga = live_cga(gpc, id);
	uint32_t *p = command_ring.next, left = cga->running - n;

	cga->running = (uint16_t)left;
	if (left)
		return;
	if (unlikely(!command_room(IDENTITY_WORDS)) || unlikely(p > command_ring.near_end) ||
	    unlikely(cga_ids.lmem_free != cga_ids.lmem_slots)) {
		flush_rare(gpc, id);
		return;
	}
	cga_ids.flushing++;
	command_end(put_flush(p, gpc, TUTTI_FLUSH_DSMEM, id, cga->sms));
}

COLD void cga_ids_resume(void)
{
	unsigned w, index;

	if (!cga_ids.ids)
		return;
	for (w = 0; w < CGA_IDS_CGAS / 32; w++)
		for (; flush_late[w]; flush_late[w] &= flush_late[w] - 1) {
			if (!command_ask(IDENTITY_WORDS))
				return;
			index = 32 * w + lowest_bit(flush_late[w]);
			flush(&domains.gpc[index / cga_ids.ids], index % cga_ids.ids);
		}
}

/* The SMs may confirm their flushes one by one or several in one event. */
const struct gpc *cga_ids_event_flushed(const struct tutti_event *event)
{
	uint32_t head = event->word[0], which = event->word[1];
	struct gpc *gpc = domain_gpc(domains.gpc, domains.index[head >> 8 & (TUTTI_MAX_GPCS - 1)]);
	bool slot = (head >> 16 & 0xff) == TUTTI_FLUSH_LMEM;
	uint32_t *sms = slot ? &lmem[which & (CGA_IDS_LMEM_SLOTS - 1)].sms : &live_cga(gpc, which)->sms;

	*sms &= ~event->word[2];
	if (*sms)
		return NULL;
	cga_ids.flushing--;
	if (slot)
		lmem_give(which);
	else
		give(gpc, which);
	return gpc;
}

bool cga_ids_idle(void)
{
	unsigned i;

	for (i = 0; i < domains.gpcs; i++)
		if (domains.gpc[i].credits != domains.gpc[i].credits_all)
			return false;
	return !cga_ids.flushing;
}

int cga_ids_task(unsigned number, unsigned id)
{
	const struct live_cga *cga;

	if (id >= cga_ids.ids)
		return -1;
	cga = live_cga(&domains.gpc[domains.index[number & (TUTTI_MAX_GPCS - 1)]], id);
	return cga->running ? cga->slot : -1;
}
