/* SPDX-License-Identifier: MIT */
/* A card of SMs (fw_sms.h) and task slots, for tests of the firmware: which task runs where, and completions. */
#ifndef TUTTI_TEST_FW_CARD_H
#define TUTTI_TEST_FW_CARD_H

#include "fw_rig.h"
#include "fw_sms.h"

#define CARD_SLOTS 32u

struct card_slot {
	struct tutti_task_state state;
	bool busy;        /* from STATE to its last completion or KILLED */
	bool killing;     /* KILL was taken */
	bool pinned;      /* a faulted CTA stays until killed */
	uint32_t groups, launched, running;
	uint32_t late;    /* completions under way to the firmware */
	uint16_t on[TUTTI_MAX_SMS];
	void *owner;
};

static struct card_slot card_slot[CARD_SLOTS];

static inline void card_reset(unsigned sms)
{
	card_empty(sms);
	memset(card_slot, 0, sizeof(card_slot));
}

/* Starts one CTA of @slot on SM @number. false: it does not fit, so the firmware has over-booked the SM. */
static inline bool card_start(unsigned slot, unsigned number)
{
	if (!card_put(&card_slot[slot].state, slot, number))
		return false;
	card_slot[slot].running++;
	card_slot[slot].launched++;
	card_slot[slot].on[number]++;
	return true;
}

/* One CTA of @slot on @number ends: any of them. */
static inline void card_end(unsigned slot, unsigned number)
{
	card_remove(&card_slot[slot].state, slot, number);
	card_slot[slot].running--;
	card_slot[slot].on[number]--;
}

/*
 * Some CTAs of @slot end, such that one event can report it: the same number on each SM of up to five mask words.
 * false: there is none that may end.
 */
static inline bool card_complete(unsigned slot, struct tutti_event *event, bool many)
{
	struct card_slot *s = &card_slot[slot];
	unsigned first, words = (card_sms + 31) / 32, n, w, b, repeat, left = s->running - (s->pinned && !s->killing);
	uint32_t total = 0;

	if (!s->running || !left)
		return false;
	for (b = roll(card_sms); !s->on[b]; b = (b + 1) % card_sms)
		;
	first = b / 32;
	n = many ? 1 + roll(5) : 1;
	if (n > words - first)
		n = words - first;
	repeat = many ? 1 + roll(s->on[b]) : 1;
	if (repeat > left)
		repeat = 1;
	*event = (struct tutti_event){ { TUTTI_EVENT_CTA | slot << 8 | first << 16 | n << 24, repeat } };
	for (w = 0; w < n; w++)
		for (unsigned sm = 32 * (first + w); sm < card_sms && sm < 32 * (first + w + 1); sm++)
			if ((sm == b || (many && roll(4))) && s->on[sm] >= repeat && total + repeat <= left) {
				event->word[3 + w] |= 1u << (sm % 32);
				total += repeat;
			}
	for (w = 0; w < n; w++)
		for (b = 0; b < 32; b++)
			if (event->word[3 + w] >> b & 1)
				for (unsigned i = 0; i < repeat; i++)
					card_end(slot, 32 * (first + w) + b);
	event->word[2] = total;
	return total;
}

#endif
