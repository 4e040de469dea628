// SPDX-License-Identifier: MIT
/*
 * Exact instruction counts of the soft core by function (SYS-13), from the basic blocks that the processor reports and
 * the symbols of the image. Marks are written by firmware that is built for benchmarks and tests.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/local.h"
#include "emulator/base/profile.h"
#include "emulator/base/state.h"

#define HALVES (CARD_LOCAL_MAX / 2)
#define MARKS 65536u

struct function {
	char name[sizeof(((struct tutti_image_symbol *)0)->name)];
	uint32_t address;
	uint64_t calls;
	uint64_t instructions;
};

/**
 * struct profile - counts since boot.
 * @block: for each halfword of local memory, bytes << 16 | instructions of the block that starts there, as decoded
 *	when it was first seen
 * @owner: for each halfword, 1 + the index of its function, or 0 if it belongs to none
 */
struct profile {
	uint32_t block[HALVES];
	uint16_t owner[HALVES];
	struct function *functions;
	uint32_t n;
	uint32_t marks;
	uint64_t (*mark)[2];
};

static int by_address(const void *a, const void *b)
{
	const struct function *fa = a, *fb = b;

	return fa->address < fb->address ? -1 : fa->address > fb->address;
}

static void fill_owners(struct profile *profile, const struct tutti_image_symbol *symbols, uint32_t n)
{
	uint32_t i, at;

	for (i = 0; i < n; i++) {
		uint32_t end = symbols[i].address + symbols[i].bytes;
		const struct function key = { .address = symbols[i].address };
		struct function *f = bsearch(&key, profile->functions, n, sizeof(key), by_address);

		if (symbols[i].address >= CARD_LOCAL_MAX || end > CARD_LOCAL_MAX)
			continue;
		for (at = symbols[i].address & ~1u; at < end; at += 2)
			profile->owner[at / 2] = (uint16_t)(f - profile->functions + 1);
	}
}

int profile_create(struct tutti_card *card, const struct tutti_image_symbol *symbols, uint32_t n)
{
	struct profile *profile;
	uint32_t i;

	profile_destroy(card);
	if (n >= UINT16_MAX)
		n = UINT16_MAX - 1;
	profile = calloc(1, sizeof(*profile));
	if (!profile)
		return -ENOMEM;
	profile->functions = calloc(n + 1, sizeof(*profile->functions));
	profile->mark = malloc(MARKS * sizeof(*profile->mark));
	if (!profile->functions || !profile->mark) {
		free(profile->functions);
		free(profile->mark);
		free(profile);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		memcpy(profile->functions[i].name, symbols[i].name, sizeof(symbols[i].name) - 1);
		profile->functions[i].address = symbols[i].address;
	}
	profile->n = n;
	qsort(profile->functions, n, sizeof(*profile->functions), by_address);
	fill_owners(profile, symbols, n);
	card->profile = profile;
	return 0;
}

void profile_destroy(struct tutti_card *card)
{
	if (!card->profile)
		return;
	free(card->profile->functions);
	free(card->profile->mark);
	free(card->profile);
	card->profile = NULL;
}

/* Count the instructions in [address, address + bytes), whose first bits tell their lengths. */
static uint32_t decode(struct tutti_card *card, uint32_t address, uint32_t bytes)
{
	const uint8_t *code = card_local(card, address, bytes, 2);
	uint32_t at, n = 0;

	if (!code)
		return bytes / 4;
	for (at = 0; at < bytes; n++)
		at += (code[at] & 3) == 3 ? 4 : 2;
	return n;
}

uint32_t profile_block(struct tutti_card *card, uint32_t address, uint32_t bytes)
{
	struct profile *profile = card->profile;
	uint32_t half = address / 2 % HALVES, known, n, owner;

	if (unlikely(!profile))
		return decode(card, address, bytes);
	known = profile->block[half];
	if (unlikely(known >> 16 != (bytes & 0xffff))) {
		known = bytes << 16 | decode(card, address, bytes);
		profile->block[half] = known;
	}
	n = known & 0xffff;
	owner = profile->owner[half];
	if (owner) {
		struct function *f = &profile->functions[owner - 1];

		f->instructions += n;
		f->calls += f->address == address;
	}
	return n;
}

void profile_undo(struct tutti_card *card, uint32_t address, uint32_t n)
{
	uint32_t owner = card->profile ? card->profile->owner[address / 2 % HALVES] : 0;

	if (owner)
		card->profile->functions[owner - 1].instructions -= n;
}

void profile_mark(struct tutti_card *card, uint32_t value, uint64_t instructions)
{
	struct profile *profile = card->profile;

	if (!profile || profile->marks == MARKS)
		return;
	profile->mark[profile->marks][0] = value;
	profile->mark[profile->marks][1] = instructions;
	profile->marks++;
}

/* ---- public functions ---- */

size_t tutti_card_profile(struct tutti_card *card, struct tutti_card_function *functions, size_t max)
{
	const struct profile *profile;
	size_t n = 0, i;

	pthread_mutex_lock(&card->lock);
	profile = card->profile;
	if (profile)
		n = profile->n;
	for (i = 0; i < n && i < max; i++)
		functions[i] = (struct tutti_card_function){ profile->functions[i].name, profile->functions[i].address,
							     profile->functions[i].calls,
							     profile->functions[i].instructions };
	pthread_mutex_unlock(&card->lock);
	return n;
}

uint64_t tutti_card_instructions(struct tutti_card *card)
{
	uint64_t n;

	pthread_mutex_lock(&card->lock);
	n = card->ops->instructions(card->core);
	pthread_mutex_unlock(&card->lock);
	return n;
}

size_t tutti_card_marks(struct tutti_card *card, uint64_t (*marks)[2], size_t max)
{
	struct profile *profile;
	size_t n = 0;

	pthread_mutex_lock(&card->lock);
	profile = card->profile;
	if (profile) {
		n = profile->marks < max ? profile->marks : max;
		memcpy(marks, profile->mark, n * sizeof(*marks));
		memmove(profile->mark, profile->mark + n, (profile->marks - n) * sizeof(*profile->mark));
		profile->marks -= n;
	}
	pthread_mutex_unlock(&card->lock);
	return n;
}
