// SPDX-License-Identifier: MIT
#include "answer.h"

struct answers answers HOT_DATA;

void answer_init(void)
{
	struct answer_word *word;
	unsigned s;

	answers.ask.whole = 0;
	answers.end = answers.word;
	for (word = answers.word; word < answers.word + ANSWER_WORDS; word++) {
		word->stale = word->used = 0;
		for (s = 0; s < LAKE_LEVELS; s++)
			word->fast[s] = 0;
	}
}

/* Nobody has a speed. */
static inline void reset(struct answer_word *word)
{
	uint32_t used;

	for (used = word->used; used; used &= used - 1)
		word->fast[31 - lowest_bit(used)] = 0;
	word->used = word->stale = 0;
}

/* Questions about other domains: @n of them. */
static COLD void ask_others(unsigned n)
{
	struct answer_word *word;
	unsigned i;

	for (word = answers.word; word < answers.end; word++)
		reset(word);
	answers.end = answers.word + (n + 31) / 32;
	for (i = 0; i < n; i++) {
		answers.word[i / 32].speed[i % 32] = MIMIC_INVALID;
		answers.word[i / 32].stale |= 1u << (i % 32);
	}
}

static inline void put(struct answer_word *word, uint32_t domains, int speed)
{
	if (speed < 0)
		return;
	word->fast[speed] |= domains;
	word->used |= 0x80000000u >> speed;
}

/* GPCs of a card that has one word of them, one after the other: neighbours are of one speed, mostly. */
static inline __attribute__((always_inline)) void ask_gpcs(uint32_t n, bool multicast)
{
	const struct gpc *gpc = domains.gpc, *end = domains.end;
	struct answer_word *word = answers.word;
	uint32_t bit = 1, same = 0;
	int8_t *speed = word->speed;
	int last = MIMIC_INVALID, now;

	reset(word);
	do {
		now = answer_gpc(gpc, n, multicast);
		__asm__("" : "+r"(now)); /* not extended once more to be stored */
		*speed++ = (int8_t)now;
		if (unlikely(now != last)) {
			put(word, same, last);
			same = 0;
			last = now;
		}
		same |= bit;
		bit <<= 1;
	} while (++gpc < end);
	put(word, same, last);
}

static COLD void ask_multicast(uint32_t n)
{
	ask_gpcs(n, true);
}

static COLD void ask_slowly(struct mimic_ask ask, bool same)
{
	if (!FW_LARGE && same && ask.kind == TUTTI_CGA_GPC && ask.identity && ask.multicast &&
	    answers.end == answers.word + 1)
		ask_multicast(ask.ctas);
	else
		ask_others(domain_inside(ask.kind, DOMAIN_KIND_CARD, 0).n);
}

/* What else is asked for than how many CTAs. */
static inline uint32_t question(struct mimic_ask ask)
{
	return ask.whole >> 16;
}

HOT void answer_ask(struct mimic_ask ask)
{
	const struct mimic_ask usual = { .kind = TUTTI_CGA_GPC, .identity = 1 };
	bool same = question(answers.ask) == question(ask);

	domains.asked = ask.whole;
	answers.ask = ask;
	if (unlikely(!same) || unlikely(question(ask) != question(usual)) || unlikely(answers.end != answers.word + 1))
		ask_slowly(ask, same);
	else
		ask_gpcs(ask.ctas, false);
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
		return mimic_share(domain_inside(TUTTI_CGA_GPC, ask->kind, domain), ask->ctas, ask->multicast, false);
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
