// SPDX-License-Identifier: MIT
#include "answer.h"

struct answers answers HOT_DATA;

void answer_init(void)
{
	struct answer_word *word;
	unsigned s;

	answers.end = answers.word;
	for (word = answers.word; word < answers.word + ANSWER_WORDS; word++) {
		word->stale = word->used = 0;
		for (s = 0; s < LAKE_LEVELS; s++)
			word->fast[s] = 0;
	}
}

/* @n domains of which nobody has a speed. */
static inline void reset(unsigned n)
{
	struct answer_word *word;
	uint32_t used;

	for (word = answers.word; word < answers.end; word++) {
		for (used = word->used; used; used &= used - 1)
			word->fast[31 - lowest_bit(used)] = 0;
		word->used = word->stale = 0;
	}
	answers.end = answers.word + (n + 31) / 32;
}

static void all_stale(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		answers.word[i / 32].speed[i % 32] = MIMIC_INVALID;
		answers.word[i / 32].stale |= 1u << (i % 32);
	}
}

/* GPCs of one word, one after the other: neighbours are of one speed, mostly. */
static inline void ask_gpcs(struct answer_word *word, const struct gpc *gpc, const struct gpc *end, unsigned n)
{
	uint32_t bit = 1, same = 0;
	int8_t *speed = word->speed;
	int last = 0, now;

	for (; gpc < end; gpc++, bit <<= 1) {
		now = likely(gpc->credits) ? mimic_query_gpc(gpc, n) : MIMIC_INVALID;
		*speed++ = (int8_t)now;
		if (unlikely(now < 0))
			continue;
		if (unlikely(now != last)) {
			word->fast[last] |= same;
			if (same)
				word->used |= 0x80000000u >> last;
			last = now;
			same = 0;
		}
		same |= bit;
	}
	if (!same)
		return;
	word->fast[last] |= same;
	word->used |= 0x80000000u >> last;
}

static COLD void ask_others(struct mimic_ask ask)
{
	unsigned n = domain_inside(ask.kind, DOMAIN_KIND_CARD, 0).n;

	reset(n);
	all_stale(n);
}

HOT void answer_ask(struct mimic_ask ask)
{
	const struct gpc *gpc = domains.gpc, *end = gpc + domains.gpcs;
	struct answer_word *word;

	domains.asked = ask.whole;
	answers.ask = ask;
	if (ask.kind != TUTTI_CGA_GPC || ask.multicast || !ask.identity) {
		ask_others(ask);
		return;
	}
	reset(domains.gpcs);
	for (word = answers.word; word < answers.end; word++, gpc += 32)
		ask_gpcs(word, gpc, end - gpc > 32 ? gpc + 32 : end, ask.ctas);
}

COLD void answer_stale_slow(const struct gpc *gpc)
{
	unsigned first = 0, n = 1;

	if (answers.ask.kind == TUTTI_CGA_CPC) {
		first = gpc->cpc;
		n = gpc->cpcs;
	} else if (answers.ask.kind == TUTTI_CGA_UGPU) {
		first = gpc->ugpu;
	}
	for (; n--; first++)
		answers.word[first / 32].stale |= 1u << (first % 32);
}

static int speed_of(unsigned domain)
{
	const struct mimic_ask *ask = &answers.ask;
	const struct gpc *gpc;
	uint32_t within;

	if (ask->kind >= TUTTI_CGA_UGPU)
		return mimic_share(domain_inside(TUTTI_CGA_GPC, ask->kind, domain), ask->ctas, ask->multicast, NULL);
	gpc = mimic_gpc(ask->kind, domain, &within);
	if (ask->identity && !gpc->credits)
		return MIMIC_INVALID;
	return mimic_query(gpc, within, ask->ctas, ask->multicast);
}

HOT void answer_refresh(void)
{
	struct answer_word *word;
	uint32_t stale;
	unsigned number;

	for (word = answers.word; word < answers.end; word++) {
		for (stale = word->stale; stale; stale &= stale - 1) {
			number = lowest_bit(stale);
			answer_note(word, number, stale & -stale, speed_of(answer_number(word) + number));
		}
		word->stale = 0;
	}
}
