// SPDX-License-Identifier: MIT
/*
 * Exact instruction counts of the soft core by function (SYS-13), counted by the processor with the symbols of the
 * image. Marks are written by firmware that is built for benchmarks and tests.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/local.h"
#include "emulator/base/profile.h"
#include "emulator/base/state.h"
#include "emulator/base/wake.h"

#define HALVES (CARD_LOCAL_MAX / 2)
#define MARKS 65536u

struct function {
	char name[sizeof(((struct tutti_image_symbol *)0)->name)];
	uint32_t address;
};

/**
 * struct profile - counts since boot.
 * @owner: for each halfword, 1 + the index of its function, or 0 if it belongs to none
 * @function: by address; @start, @count: the same functions for the processor
 */
struct profile {
	uint16_t owner[HALVES];
	struct function *function;
	uint64_t *start;
	struct cpu_function *count;
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
		struct function *f = bsearch(&key, profile->function, n, sizeof(key), by_address);

		if (symbols[i].address >= CARD_LOCAL_MAX || end > CARD_LOCAL_MAX)
			continue;
		for (at = symbols[i].address & ~1u; at < end; at += 2)
			profile->owner[at / 2] = (uint16_t)(f - profile->function + 1);
	}
}

static void profile_free(struct profile *profile)
{
	free(profile->function);
	free(profile->start);
	free(profile->count);
	free(profile->mark);
	free(profile);
}

static struct profile *profile_alloc(uint32_t n)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->n = n;
	profile->function = calloc(n + 1, sizeof(*profile->function));
	profile->start = calloc(n + 1, sizeof(*profile->start));
	profile->count = calloc(n + 1, sizeof(*profile->count));
	profile->mark = malloc(MARKS * sizeof(*profile->mark));
	if (profile->function && profile->start && profile->count && profile->mark)
		return profile;
	profile_free(profile);
	return NULL;
}

int profile_create(struct tutti_card *card, const struct tutti_image_symbol *symbols, uint32_t n)
{
	struct profile *profile;
	uint32_t i;

	profile_destroy(card);
	if (n >= UINT16_MAX)
		n = UINT16_MAX - 1;
	profile = profile_alloc(n);
	if (!profile)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		memcpy(profile->function[i].name, symbols[i].name, sizeof(symbols[i].name) - 1);
		profile->function[i].address = symbols[i].address;
	}
	qsort(profile->function, n, sizeof(*profile->function), by_address);
	for (i = 0; i < n; i++)
		profile->start[i] = profile->function[i].address;
	fill_owners(profile, symbols, n);
	card->profile = profile;
	return 0;
}

void profile_destroy(struct tutti_card *card)
{
	if (card->profile)
		profile_free(card->profile);
	card->profile = NULL;
}

void profile_count(struct tutti_card *card, struct cpu *cpu, bool on)
{
	const struct profile *profile = card->profile;

	if (profile && on)
		cpu_count(cpu, TUTTI_CORE_LOCAL, HALVES, profile->owner, profile->start, profile->count);
	else
		cpu_count(cpu, 0, 0, NULL, NULL, NULL);
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

	card_lock(card);
	profile = card->profile;
	if (profile)
		n = profile->n;
	for (i = 0; i < n && i < max; i++)
		functions[i] = (struct tutti_card_function){
			.name = profile->function[i].name,
			.address = profile->function[i].address,
			.calls = profile->count[i].calls,
			.instructions = profile->count[i].instructions,
			.cycles = profile->count[i].cycles,
			.multiplications = profile->count[i].multiplications,
			.divisions = profile->count[i].divisions,
		};
	pthread_mutex_unlock(&card->lock);
	return n;
}

uint64_t tutti_card_instructions(struct tutti_card *card)
{
	uint64_t n;

	card_lock(card);
	n = card->ops->instructions(card->core);
	pthread_mutex_unlock(&card->lock);
	return n;
}

size_t tutti_card_marks(struct tutti_card *card, uint64_t (*marks)[2], size_t max)
{
	struct profile *profile;
	size_t n = 0;

	card_lock(card);
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
