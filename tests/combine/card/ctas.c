// SPDX-License-Identifier: MIT
/* CTAs that run: where they are, when they may end, and which ends the firmware has not been told. */
#include "card/card.h"

struct slot slots[SLOTS];
static unsigned running_all;
static uint16_t late_on[TUTTI_MAX_SMS]; /* ends the firmware does not know of */

void ctas_begin(unsigned sms)
{
	memset(slots, 0, sizeof(slots));
	memset(late_on, 0, sms * sizeof(late_on[0]));
	running_all = 0;
}

unsigned ctas_late(unsigned position)
{
	return late_on[position];
}

bool card_acknowledged(unsigned slot)
{
	return !slots[slot].unacknowledged;
}

unsigned card_resident(void)
{
	return running_all;
}

unsigned card_slots_taken(void)
{
	unsigned i, n = 0;

	for (i = 0; i < SLOTS; i++)
		n += w.act[i] || (slots[i].split && slots[i].job->life == RUNNING &&
				  (slots[i].running || slots[i].late || slots[i].job->waves_left));
	return n;
}

void cta_start(unsigned number, unsigned position)
{
	struct slot *slot = &slots[number];

	RULE(position < w.sms, "command", "LAUNCH on SM %u of %u", position, w.sms);
	rules_launch(slot->job, slot->split, position);
	RULE(!(w.off[card_sm_number(position) / 32] >> (card_sm_number(position) % 32) & 1) ||
		 (int32_t)(hal_host.engines.command_head - w.off_since[card_sm_number(position)]) < 0,
	     "disabled (CGA-04)", "%s on SM %u, which is disabled", job_name(slot->job), position);
	RULE(sms_put(&slot->state, number, position), "room (RES-05)",
	     "SM %u is over-booked by %s: %u CTAs there", position, job_name(slot->job),
	     sms_ctas(position));
	if (w.cap)
		RULE(sms_ctas(position) <= w.cap, "cap (CGA-04)", "SM %u has %u CTAs, the cap is %u",
		     position, sms_ctas(position), w.cap);
	slot->on[position]++;
	slot->running++;
	slot->next++;
	slot->job->running += !slot->split;
	slot->job->told++;
	running_all++;
}

void slot_killed_if_empty(unsigned number)
{
	struct slot *slot = &slots[number];

	if (!slot->killing || slot->running || slot->late)
		return;
	slot->killing = slot->known = slot->pinned = false;
	event_later(&(struct tutti_event){{TUTTI_EVENT_KILLED | number << 8, ~0u}}, (int)number, 0);
}

void cta_gone(struct slot *slot, unsigned number, unsigned position)
{
	sms_remove(&slot->state, number, position);
	slot->on[position]--;
	late_on[position]++;
	slot->running--;
	slot->job->running -= !slot->split;
	running_all--;
}

uint32_t ctas_may_end(const struct slot *slot)
{
	uint32_t keep;

	if (slot->killing)
		return slot->running;
	if (slot->job->hold && !w.draining)
		return 0;
	keep = slot->pinned + (slot->split ? 0 : slot->job->children);
	return slot->running > keep ? slot->running - keep : 0;
}

bool card_parents_wait(void)
{
	const struct slot *slot;

	for (slot = slots; slot < slots + SLOTS; slot++)
		if (slot->running && !slot->split && slot->job->children && !ctas_may_end(slot))
			return true;
	return false;
}

void ctas_ended(struct slot *slot, const struct tutti_event *event)
{
	slot->late++;
	rules_ended(slot->job);
	event_later(event, (int)(slot - slots), 0);
}

/* Some CTAs end, such that one event can report it: the same number on each SM of up to five mask words. */
bool ctas_end_plain(unsigned number)
{
	struct slot *slot = &slots[number];
	unsigned sm, first, n, i, repeat = 1;
	uint32_t left = ctas_may_end(slot), total = 0;
	struct tutti_event event = {{0}};
	bool many = !w.stall && !w.one_by_one && roll(2);

	if (!left || (slot->level[0].kind && (slot->level[0].kind <= TUTTI_CGA_GPC || slot->staged)))
		return false;
	for (sm = roll(w.sms); !slot->on[sm]; sm = (sm + 1) % w.sms)
		;
	first = sm / 32;
	n = many ? 1 + roll(5) : 1;
	if (n > (w.sms + 31) / 32 - first)
		n = (w.sms + 31) / 32 - first;
	if (many && left >= slot->on[sm])
		repeat = 1 + roll(slot->on[sm]);
	event.word[0] = TUTTI_EVENT_CTA | number << 8 | first << 16 | n << 24;
	event.word[1] = repeat;
	for (i = 32 * first; i < 32 * (first + n) && i < w.sms; i++)
		if ((i == sm || (many && roll(4))) && slot->on[i] >= repeat && total + repeat <= left) {
			event.word[3 + i / 32 - first] |= 1u << (i % 32);
			total += repeat;
			for (unsigned k = 0; k < repeat; k++)
				cta_gone(slot, number, i);
		}
	event.word[2] = total;
	ctas_ended(slot, &event);
	return true;
}

void ctas_told(unsigned number, const struct tutti_event *event)
{
	struct slot *slot = &slots[number];
	unsigned i, n = event->word[0] >> 24;

	slot->late--;
	slot->job->told -= event->word[2];
	if ((event->word[0] & 0xff) == TUTTI_EVENT_CGA) {
		for (i = 0; i < 32; i++)
			if (event->word[3] >> i & 1)
				late_on[sms_of_gpc(event->word[0] >> 16 & 0xff, i)]--;
		return;
	}
	for (i = 0; i < 32 * n; i++)
		if (event->word[3 + i / 32] >> (i % 32) & 1)
			late_on[32 * (event->word[0] >> 16 & 0xff) + i] -= (uint16_t)event->word[1];
}
