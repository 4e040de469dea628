// SPDX-License-Identifier: MIT
/*
 * Topology files (SYS-14). Each line holds one setting; `#` starts a comment.
 *
 *   gpc 18 18 16 14    SMs of each GPC, in order; there may be several such lines
 *   gpc 18*8           the same, eight GPCs of 18
 *   gpc 6+5+4          one GPC by the SMs of its CPCs; if a number is odd, the last TPC has one SM
 *   ugpu 5 3           GPCs of each µGPU; two halves if this is missing
 *   memory 1G          card memory, suffix K, M or G
 *   peus 4             and: peu_waves, scalar_blocks, vector_blocks, shared_blocks,
 *                      shared_block_bytes (a power of two from 128 on; 256 blocks, or all of the card if it has fewer,
 *                      are at most 16M), barriers, cta_slots, local_bytes (256K; at most 512K)
 *   acknowledge 3      SMs acknowledge each task state three turns later; otherwise they take all in order
 *   idle_traps 1       the soft core has no idle unit: ecall traps to the firmware's handler, whose wfi waits
 *   split_signals 1    the card makes no atomic operations across the bus, so that signals of the host are split
 *   slice 300          deterministic mode: the soft core runs up to 300 instructions in each turn of the card
 *   garbage 16M        card memory behind its reserved part that holds garbage at power-on, as in hardware all may
 *   energy 1           count instruction classes and energy; picojoules of each: energy_move,
 *                      _load, _store, _matrix32, _matrix64, _compare, _jump, _other, and of
 *                      what a CTA takes: energy_wave, _scalar, _vector, _shared, _barrier, _cta;
 *                      energy_variation 50: SMs differ by up to 50 per mille
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/state.h"

#define LINE_BYTES 512

static const struct {
	const char *name;
	size_t offset;
} settings[] = {
#define SETTING(name) { #name, offsetof(struct tutti_card_config, name) }
	SETTING(peus),          SETTING(peu_waves),          SETTING(scalar_blocks), SETTING(vector_blocks),
	SETTING(shared_blocks), SETTING(shared_block_bytes), SETTING(barriers),      SETTING(cta_slots),
	SETTING(local_bytes),   SETTING(energy),        SETTING(energy_variation),
	SETTING(acknowledge),   SETTING(idle_traps),         SETTING(garbage),
	SETTING(slice),         SETTING(split_signals),
#undef SETTING
#define CLASS(name, class) { "energy_" name, offsetof(struct tutti_card_config, energy_class[TUTTI_CLASS_##class]) }
	CLASS("move", MOVE),         CLASS("load", LOAD),         CLASS("store", STORE), CLASS("matrix32", MATRIX32),
	CLASS("matrix64", MATRIX64), CLASS("compare", COMPARE),   CLASS("jump", JUMP),   CLASS("other", OTHER),
#undef CLASS
#define RESOURCE(name, r) { "energy_" name, offsetof(struct tutti_card_config, energy_resource[TUTTI_RESOURCE_##r]) }
	RESOURCE("wave", WAVES),    RESOURCE("scalar", SCALAR),    RESOURCE("vector", VECTOR),
	RESOURCE("shared", SHARED), RESOURCE("barrier", BARRIERS), RESOURCE("cta", CTAS),
#undef RESOURCE
};

/* Read a number such as "64", "256K" or "1G". Return: 0 if @text is no positive number. */
static uint64_t parse_size(const char *text)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	char *end;
	uint64_t value;

	if (!isdigit((unsigned char)*text))
		return 0;
	value = strtoull(text, &end, 0);
	if (*end) {
		suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (!suffix || end[1])
			return 0;
		value <<= 10 * (suffix - suffixes + 1);
	}
	return value;
}

/* Read one GPC, "18" or by CPCs "6+6+6". Return: its number of SMs, or 0 if @text is malformed. */
static uint64_t parse_gpc(char *text, uint8_t cpc[TUTTI_CARD_CPCS])
{
	uint64_t sms = 0;
	unsigned n = 0;

	memset(cpc, 0, TUTTI_CARD_CPCS);
	if (!strchr(text, '+'))
		return parse_size(text);
	for (char *next = text; next; text = next) {
		uint64_t size;

		next = strchr(text, '+');
		if (next)
			*next++ = 0;
		size = parse_size(text);
		if (!size || size > UINT8_MAX || n == TUTTI_CARD_CPCS)
			return 0;
		cpc[n++] = (uint8_t)size;
		sms += size;
	}
	return sms;
}

/* Read one or several equal GPCs: "18", "18*8", "6+5+4" or "6+5+4*2". */
static int parse_gpcs(struct tutti_card_config *config, char *text)
{
	uint8_t cpc[TUTTI_CARD_CPCS];
	char *star = strchr(text, '*');
	uint64_t sms, times = 1;

	if (star) {
		*star = 0;
		times = parse_size(star + 1);
	}
	sms = parse_gpc(text, cpc);
	if (!sms || sms > TUTTI_MAX_SMS || !times || times > TUTTI_MAX_GPCS - config->gpcs)
		return -EINVAL;
	while (times--) {
		memcpy(config->cpc[config->gpcs], cpc, sizeof(cpc));
		config->topology[config->gpcs++] = (uint16_t)sms;
	}
	return 0;
}

static int parse_ugpu(struct tutti_card_config *config, const char *text)
{
	uint64_t gpcs = parse_size(text);

	if (!gpcs || gpcs > TUTTI_MAX_GPCS || config->ugpus == TUTTI_MAX_GPCS)
		return -EINVAL;
	config->ugpu[config->ugpus++] = (uint8_t)gpcs;
	return 0;
}

static int parse_setting(struct tutti_card_config *config, const char *name, const char *text)
{
	uint64_t value = text ? parse_size(text) : 0;
	size_t i;

	if (!value)
		return -EINVAL;
	if (!strcmp(name, "memory")) {
		config->memory_bytes = value;
		return 0;
	}
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (!strcmp(name, settings[i].name) && value <= UINT32_MAX) {
			*(uint32_t *)((char *)config + settings[i].offset) = (uint32_t)value;
			return 0;
		}
	return -EINVAL;
}

static int parse_line(struct tutti_card_config *config, char *line)
{
	char *save = NULL, *name, *word;
	bool gpc;
	int error = 0;

	line[strcspn(line, "#\r\n")] = 0;
	name = strtok_r(line, " \t", &save);
	if (!name)
		return 0;
	word = strtok_r(NULL, " \t", &save);
	gpc = !strcmp(name, "gpc");
	if (!gpc && strcmp(name, "ugpu")) {
		error = parse_setting(config, name, word);
		return error ? error : strtok_r(NULL, " \t", &save) ? -EINVAL : 0;
	}
	if (!word)
		return -EINVAL;
	for (; word && !error; word = strtok_r(NULL, " \t", &save))
		error = gpc ? parse_gpcs(config, word) : parse_ugpu(config, word);
	return error;
}

int tutti_card_config_read(struct tutti_card_config *config, FILE *file)
{
	char line[LINE_BYTES];
	unsigned i, sms = 0;
	int error;

	config->gpcs = config->ugpus = 0;
	while (fgets(line, sizeof(line), file)) {
		if (!strchr(line, '\n') && !feof(file))
			return -EINVAL;
		error = parse_line(config, line);
		if (error)
			return error;
	}
	if (ferror(file))
		return -EIO;
	for (i = 0; i < config->gpcs; i++)
		sms += config->topology[i];
	return sms > TUTTI_MAX_SMS ? -EINVAL : 0;
}

const struct tutti_card_config *card_config(const struct tutti_card *card)
{
	return &card->config;
}
