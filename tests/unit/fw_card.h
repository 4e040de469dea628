/* SPDX-License-Identifier: MIT */
/*
 * The SMs of a card, as /include says they are: a wave goes to the PEU with the most free wave slots that has the
 * register blocks (or by rotation), blocks are given first-fit, a CTA holds what it took until it ends. The table of SM
 * states shows it at once. Limits: hal_host_discovery().
 */
#ifndef TUTTI_TEST_FW_CARD_H
#define TUTTI_TEST_FW_CARD_H

#include "fw_rig.h"

#define CARD_SLOTS 32u
#define CARD_PEUS 4u

struct card_cta {
	uint8_t slot, shared;
	bool used;
	struct { uint8_t peu, scalar, vector; } wave[32];
};

struct card_sm {
	uint64_t shared;
	unsigned ctas, barriers, split;
	struct { unsigned waves; uint64_t scalar, vector; } peu[CARD_PEUS];
	struct card_cta cta[32];
};

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

static struct card_sm card_sm[TUTTI_MAX_SMS];
static struct card_slot card_slot[CARD_SLOTS];
static unsigned card_sms;
static bool card_rotate;
static uint16_t card_order[TUTTI_MAX_SMS]; /* SM number at each position; the model goes by positions */

/* What the firmware can read of the SM at position @number. */
static inline void card_show(unsigned number)
{
	struct tutti_sm_state *state = &hal_host.sms[card_order[number]];
	const struct card_sm *sm = &card_sm[number];

	state->cta_slots = 32 - sm->ctas;
	state->barriers = 16 - sm->barriers;
	state->split = sm->split;
	state->shared_blocks = 64;
	state->shared_free = 64 - (unsigned)__builtin_popcountll(sm->shared);
	state->shared[0] = state->shared[1] = 0;
	for (unsigned b = 0; b < 64; b++)
		state->shared[b % 2] |= (uint32_t)(~sm->shared >> b & 1) << (b / 2);
	for (unsigned p = 0; p < CARD_PEUS; p++) {
		state->peu[p].free_waves = (uint16_t)(8 - sm->peu[p].waves);
		state->peu[p].scalar[0] = (uint32_t)~sm->peu[p].scalar;
		state->peu[p].vector[0] = (uint32_t)~sm->peu[p].vector;
		state->peu[p].scalar_free = (uint16_t)__builtin_popcount(state->peu[p].scalar[0]);
		state->peu[p].vector_free = (uint16_t)__builtin_popcount(state->peu[p].vector[0]);
	}
}

/* The table is filled when the firmware switches it on. */
static inline void card_reset(unsigned sms)
{
	memset(card_sm, 0, sizeof(card_sm));
	memset(card_slot, 0, sizeof(card_slot));
	card_sms = sms;
	card_rotate = false;
	for (unsigned i = 0; i < sms; i++)
		card_order[i] = (uint16_t)i;
}

/* Command ORDER. */
static inline void card_reorder(const uint32_t *w, unsigned words)
{
	for (unsigned i = 0; i < 2 * (words - 2) && w[1] + i < card_sms; i++)
		card_order[w[1] + i] = (uint16_t)(w[2 + i / 2] >> (16 * (i & 1)));
}

/* Command SM_MODE. */
static inline void card_mode(unsigned sub)
{
	card_rotate = sub & TUTTI_SM_ROTATE;
	for (unsigned i = 0; i < card_sms; i++)
		card_show(i);
}

static inline uint64_t card_run(unsigned n)
{
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

/* Lowest start of @need free blocks out of @all, or -1. */
static inline int card_take(uint64_t *used, unsigned all, unsigned need)
{
	unsigned at;

	if (!need)
		return 0;
	for (at = 0; at + need <= all; at++)
		if (!(*used >> at & card_run(need))) {
			*used |= card_run(need) << at;
			return (int)at;
		}
	return -1;
}

static inline bool card_wave(struct card_sm *sm, const struct tutti_task_state *state, struct card_cta *cta, unsigned w)
{
	unsigned tried = 0, p, best;
	int scalar, vector;

	if (card_rotate) {
		p = (sm->split + 1 + w) % CARD_PEUS;
		if (sm->peu[p].waves == 8)
			return false;
		tried = ~(1u << p);
	}
	for (;;) {
		for (best = CARD_PEUS, p = 0; p < CARD_PEUS; p++)
			if (!(tried >> p & 1) && sm->peu[p].waves < 8 &&
			    (best == CARD_PEUS || sm->peu[p].waves < sm->peu[best].waves))
				best = p;
		if (best == CARD_PEUS)
			return false;
		tried |= 1u << best;
		scalar = card_take(&sm->peu[best].scalar, 32, state->scalar_blocks);
		if (scalar < 0)
			continue;
		vector = card_take(&sm->peu[best].vector, 32, state->vector_blocks);
		if (vector < 0) {
			if (state->scalar_blocks)
				sm->peu[best].scalar &= ~(card_run(state->scalar_blocks) << scalar);
			continue;
		}
		sm->peu[best].waves++;
		cta->wave[w].peu = (uint8_t)best;
		cta->wave[w].scalar = (uint8_t)scalar;
		cta->wave[w].vector = (uint8_t)vector;
		return true;
	}
}

/* Start one CTA of @slot on @number. false: it does not fit, the firmware has over-booked. */
static inline bool card_start(unsigned slot, unsigned number)
{
	const struct tutti_task_state *state = &card_slot[slot].state;
	struct card_sm *sm = &card_sm[number];
	struct card_cta *cta = sm->cta;
	unsigned w;
	int shared;

	if (sm->ctas == 32 || sm->barriers + state->barriers > 16)
		return false;
	while (cta->used)
		cta++;
	shared = card_take(&sm->shared, 64, state->shared_blocks);
	if (shared < 0)
		return false;
	for (w = 0; w < state->waves; w++)
		if (!card_wave(sm, state, cta, w))
			return false;
	sm->ctas++;
	sm->barriers += state->barriers;
	cta->used = true;
	sm->split = card_rotate ? (sm->split + state->waves) % CARD_PEUS : sm->split;
	cta->slot = (uint8_t)slot;
	cta->shared = (uint8_t)shared;
	card_slot[slot].running++;
	card_slot[slot].launched++;
	card_slot[slot].on[number]++;
	card_show(number);
	return true;
}

/* One CTA of @slot on @number ends: any of them. */
static inline void card_end(unsigned slot, unsigned number)
{
	const struct tutti_task_state *state = &card_slot[slot].state;
	struct card_sm *sm = &card_sm[number];
	unsigned i = roll(32), w;
	struct card_cta *cta;

	while (!sm->cta[i % 32].used || sm->cta[i % 32].slot != slot)
		i++;
	cta = &sm->cta[i % 32];
	cta->used = false;
	if (state->shared_blocks)
		sm->shared &= ~(card_run(state->shared_blocks) << cta->shared);
	for (w = 0; w < state->waves; w++) {
		sm->peu[cta->wave[w].peu].waves--;
		if (state->scalar_blocks)
			sm->peu[cta->wave[w].peu].scalar &= ~(card_run(state->scalar_blocks) << cta->wave[w].scalar);
		if (state->vector_blocks)
			sm->peu[cta->wave[w].peu].vector &= ~(card_run(state->vector_blocks) << cta->wave[w].vector);
	}
	sm->ctas--;
	sm->barriers -= state->barriers;
	card_slot[slot].running--;
	card_slot[slot].on[number]--;
	card_show(number);
}

/*
 * Some CTAs of @slot end, as one event can tell it: the same number on each SM of up to five mask words.
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
