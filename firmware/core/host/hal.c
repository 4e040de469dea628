// SPDX-License-Identifier: MIT
#include "core/hal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/command_ring.h"

static uint32_t taken; /* words of the command ring that the test has been given */
uint32_t hal_host_most;
const char *hal_host_writer;
bool hal_host_tight;

#define SPELLED_WORDS (1 + sizeof(struct tutti_task_state) / 4)
static uint32_t spelled[SPELLED_WORDS]; /* the newest command TASK, written as a STATE */
static bool fenced; /* the test has been given the fence of that TASK and gets @spelled next */

void hal_host_reset(unsigned sms)
{
	memset(&hal_host, 0, sizeof(hal_host));
	taken = hal_host_most = 0;
	fenced = hal_host_tight = false;
	hal_host_discovery((struct tutti_discovery *)hal_host.window, sms);
}

void hal_host_fill(uint32_t left)
{
	uint32_t words, *p;

	while (command_free() > left) {
		p = command_ring.end - command_ring.next == 1 ? command_wrap() : command_ring.next;
		words = command_free() - left < COMMAND_RECORD ? command_free() - left : COMMAND_RECORD;
		if (words >= (uint32_t)(command_ring.end - p))
			words = (uint32_t)(command_ring.end - p) - 1;
		*p = TUTTI_CMD_NOP | words << 8;
		command_end(p + words);
	}
}

void hal_host_skip(uint32_t laps)
{
	command_ring.bias += laps * COMMAND_WORDS;
	command_ring.published = command_tail();
	taken += laps * COMMAND_WORDS;
	hal_host.engines.command_head = hal_host.engines.command_tail = taken;
}

/* Tests see a TASK as the commands it stands for: an acquire fence if it has a scope, then a STATE. */
static const uint32_t *spell_out(const uint32_t *word, unsigned *words)
{
	static uint32_t fence;
	uint32_t scope = *word >> 16 & 3;

	command_task_state(word, spelled + 1);
	spelled[0] = TUTTI_COMMAND(TUTTI_CMD_STATE, SPELLED_WORDS, *word >> 24 << 8);
	*words = SPELLED_WORDS;
	if (!scope)
		return spelled;
	fence = TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, scope | TUTTI_FENCE_ACQUIRE);
	fenced = true;
	*words = 1;
	return &fence;
}

/* Does one of these records start something new? Its writer must leave those words free that are owed to others. */
static bool begins(const uint32_t *record, const uint32_t *end)
{
	const uint32_t kinds = 1u << TUTTI_CMD_STATE | 1u << TUTTI_CMD_TASK | 1u << TUTTI_CMD_BLOCK | 1u << TUTTI_CMD_LAUNCH;

	for (; record < end && record[0] >> 8 & 0xff; record += record[0] >> 8 & 0xff)
		if (kinds >> (record[0] & 0xff) & 1)
			return true;
	return false;
}

void hal_host_written(uint32_t *end, const char *writer)
{
	bool begun = begins(command_ring.next, end), overrun;
	uint32_t used;

	command_ring.next = end;
	used = command_tail() - hal_host.engines.command_head;
	if (used > hal_host_most)
		hal_host_most = used;
	overrun = used > COMMAND_WORDS || end >= command_ring.end;
	if (!overrun && !(begun && command_free() < COMMAND_OWED)) {
		hal_host_writer = NULL;
		return;
	}
	fprintf(stderr, "command ring %s by %s(): %u of %u words in use\n",
		overrun ? "overrun" : "filled with words that are owed to others", hal_host_writer ? hal_host_writer : writer,
		used, COMMAND_WORDS);
	abort();
}

const uint32_t *hal_host_command(unsigned *words)
{
	const uint32_t *word;

	if (fenced) {
		fenced = false;
		*words = SPELLED_WORDS;
		return spelled;
	}
	while (taken != hal_host.engines.command_tail) {
		word = &command_ring.word[taken & (COMMAND_WORDS - 1)];
		*words = *word >> 8 & 0xff;
		taken += *words;
		hal_host.engines.command_head = taken;
		if ((*word & 0xff) == TUTTI_CMD_TASK)
			return spell_out(word, words);
		if ((*word & 0xff) != TUTTI_CMD_NOP)
			return word;
	}
	return NULL;
}
