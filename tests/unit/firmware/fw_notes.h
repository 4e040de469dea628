/* SPDX-License-Identifier: MIT */
/*
 * The commands that the firmware writes, noted word for word and carried out as fw_direct.h does. Answers to requests of the
 * host, which wait for a mark behind the commands, can be held back.
 */
#ifndef TUTTI_TEST_FW_NOTES_H
#define TUTTI_TEST_FW_NOTES_H

#include "fw_direct.h"

#define NOTED 64u
static struct { unsigned words; uint32_t word[COMMAND_RECORD]; } noted[NOTED];
static unsigned notes;
static bool hold_answers;
static uint32_t held[NOTED];
static unsigned holds;

static inline void note(const uint32_t *w, unsigned words)
{
	unsigned at = notes++;
	bool mark = (w[0] & 0xff) == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) == TAG_REPLY;

	assert_true(at < NOTED && words <= COMMAND_RECORD);
	noted[at].words = words;
	memcpy(noted[at].word, w, 4 * words);
	if (!mark)
		take_one(noted[at].word, words);
	else if (hold_answers)
		held[holds++] = w[0] & 0xffff0000u;
	else
		rig_event(TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u), 0, 0);
}

/* Command number @at is this one, with @n words behind its first. */
static inline void expect_command(unsigned at, unsigned op, unsigned sub, const uint32_t *words, unsigned n)
{
	assert_true(at < notes);
	assert_int_equal(noted[at].word[0], TUTTI_COMMAND(op, n + 1, sub));
	assert_int_equal(noted[at].words, n + 1);
	assert_memory_equal(noted[at].word + 1, words, 4 * n);
}

/* What has been written until now is noted and carried out. */
static inline void take_noted(void)
{
	const uint32_t *w;
	unsigned words;

	notes = 0;
	command_publish();
	while ((w = hal_host_command(&words))) {
		uint32_t copy[COMMAND_RECORD];

		memcpy(copy, w, 4 * words);
		note(copy, words);
		command_publish();
	}
}

#endif
