/* SPDX-License-Identifier: MIT */
/**
 * DOC: Answers of the innermost domains to one question (spec CGA-11, CGA-15)
 *
 * What speed a CGA would have in each domain is kept until something changes there; domains
 * stand in sets by speed, so that the fastest are found whatever the size of the card.
 */
#ifndef ANSWER_H
#define ANSWER_H

#include "mimic.h"

#define ANSWER_WORDS (DOMAIN_CPCS / 32)

/** struct answer_set - of innermost domains. */
struct answer_set {
	uint32_t word[ANSWER_WORDS];
};

/** struct answer_word - 32 domains. */
struct answer_word {
	uint32_t stale;                 /* those to be asked again */
	uint32_t used;                  /* speeds that one of them has: s at bit 31 - s */
	int8_t speed[32];               /* of each domain, or MIMIC_INVALID */
	uint32_t fast[LAKE_LEVELS];     /* those of each speed */
};

struct answers {
	struct mimic_ask ask;
	struct answer_word *end;        /* of those in use */
	struct answer_word word[ANSWER_WORDS];
};
extern struct answers answers;

void answer_init(void);
/** answer_ask() - the question is @ask from now on; all domains are asked. */
void answer_ask(struct mimic_ask ask);
/** answer_stale_slow() - see answer_stale(). */
void answer_stale_slow(const struct gpc *gpc);
/** answer_other() - the speed in a domain, however it is found. */
int answer_other(unsigned domain);

/** answer_begin() - @ask is what is asked for now. */
static inline void answer_begin(struct mimic_ask ask)
{
	if (unlikely(domains.asked != ask.whole))
		answer_ask(ask);
}

/** answer_stale() - a GPC has other free slots or credits than when it was asked. */
static inline void answer_stale(const struct gpc *gpc)
{
	if (likely(answers.ask.kind == TUTTI_CGA_GPC))
		answers.word[gpc->index / 32].stale |= 1u << (gpc->index % 32);
	else
		answer_stale_slow(gpc);
}

/** answer_gpc() - the speed in a GPC, while it has ids, of a CGA of @n CTAs. */
static inline __attribute__((always_inline)) int answer_gpc(const struct gpc *gpc, uint32_t n, bool multicast)
{
	if (unlikely(!gpc->credits))
		return MIMIC_INVALID;
	if (!multicast)
		return mimic_query_gpc(gpc, n);
	return mimic_paired(gpc) ? mimic_query_paired(gpc, n) : mimic_query(gpc, gpc->all, n, true);
}

/** answer_number() - of the first domain in a word. */
static inline unsigned answer_number(const struct answer_word *word)
{
	return 32 * (unsigned)(word - answers.word);
}

/** answer_note() - domain @number of a word, bit @bit, answers @now. */
static inline void answer_note(struct answer_word *word, unsigned number, uint32_t bit, int now)
{
	int old = word->speed[number];

	if (likely(now == old))
		return;
	word->speed[number] = (int8_t)now;
	if (now >= 0) {
		word->fast[now] |= bit;
		word->used |= 0x80000000u >> now;
	}
	if (old >= 0) {
		word->fast[old] ^= bit;
		if (!word->fast[old])
			word->used ^= 0x80000000u >> old;
	}
}

/** answer_refresh() - ask again whoever may answer otherwise now. */
void answer_refresh(void);

/**
 * answer_fastest() - highest speed of the domains @within, NULL = all; MIMIC_INVALID = there are none.
 * @single: the card has one word of domains
 */
static inline int answer_fastest(const uint32_t *within, bool single)
{
	const struct answer_word *word = answers.word;
	uint32_t used = 0;
	int speed;

	do
		used |= word->used;
	while (!single && ++word < answers.end);
	for (; likely(used); used &= used - 1) {
		speed = (int)(31 - lowest_bit(used));
		if (!within)
			return speed;
		for (word = answers.word; word < answers.end; word++)
			if (word->fast[speed] & within[word - answers.word])
				return speed;
	}
	return MIMIC_INVALID;
}

#endif
