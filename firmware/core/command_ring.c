// SPDX-License-Identifier: MIT
#define COMMAND_RING_ITSELF
#include "core/command_ring.h"

#include "core/task_state.h"
#include "core/wait.h"

/* On a shared card, @limit is this many words away, so that a visit launches few kernels (queues/turns.h). */
#define SHARED_WORDS 8u

struct command_ring command_ring HOT_DATA_RING;

void command_init(void)
{
	command_ring.next = command_ring.word;
	command_ring.end = command_ring.word + COMMAND_WORDS;
	command_ring.near_end = command_ring.end - COMMAND_SHORT;
	command_ring.bias = -(uint32_t)((uintptr_t)command_ring.word >> 2);
	command_ring.limit = NULL;
	command_ring.published = 0;
	command_ring.asked = command_ring.marked = false;
	HAL_ENGINES->command_base = hal_local(command_ring.word);
	HAL_ENGINES->command_words = COMMAND_WORDS;
	HAL_ENGINES->command_tail = 0;
#ifdef __riscv
	/* Absolute symbols tell `make image-report` these sizes. */
	__asm__ volatile(".globl command_owed, command_ring_words\n.set command_owed, %0\n.set command_ring_words, %1" ::
			 "i"(COMMAND_OWED), "i"(COMMAND_WORDS));
#endif
}

/* A NOP is no longer than the longest record, for engines that keep records in a buffer of fixed size. */
COLD uint32_t *command_wrap(void)
{
	uint32_t *p = command_ring.next;

	while (p < command_ring.end) {
		uint32_t rest = (uint32_t)(command_ring.end - p);

		if (rest > COMMAND_RECORD)
			rest = COMMAND_RECORD;
		*p = TUTTI_CMD_NOP | rest << 8;
		p += rest;
	}
	command_ring.bias += COMMAND_WORDS;
	command_ring.next = command_ring.word;
	command_ring.limit = NULL;
	return command_ring.word;
}

COLD bool command_renew(void)
{
	uint32_t free = command_free();
	uint32_t *limit;

	command_ring.limit = NULL;
	if (free < place_state.free_words)
		return false;
	if (queue_table.suspended || queue_table.crowded)
		return true;
	free -= place_state.free_words;
	limit = command_ring.next + (queue_table.shared && free > SHARED_WORDS ? SHARED_WORDS : free);
	command_ring.limit = limit < command_ring.near_end ? limit : command_ring.near_end;
	return true;
}

void command_write(uint32_t asid_queue, uint64_t address, uint64_t value, unsigned bytes)
{
	command_end(command_put_write(command_begin(COMMAND_WRITE_WORDS), asid_queue, address, value, bytes));
}

void command_scrub(uint32_t asid_queue, uint64_t address, unsigned slots, unsigned sub)
{
	command_end(command_put_scrub(command_begin(COMMAND_SCRUB_WORDS), asid_queue, address, slots, sub));
}

void command_fetch(unsigned asid, unsigned flags, uint64_t address, unsigned bytes, void *local, unsigned tag)
{
	command_end(command_put_fetch(command_begin(COMMAND_FETCH_WORDS), asid | flags << 16, address, bytes, local, tag));
}

COLD void command_mark(void)
{
	if (command_ring.marked)
		return;
	command_ring.marked = true;
	command_fetch(TUTTI_ASID_BUS, 0, 0, 4, &command_ring.sink, TAG_ROOM);
	command_publish();
}

void command_task_state(const uint32_t *command, uint32_t *state)
{
	uint32_t head = *command++;

	if ((head & 0xff) == TUTTI_CMD_STATE) {
		words_copy(state, command, STATE_WORDS);
		return;
	}
	words_copy(state, hal_pointer(command[0]), TUTTI_TASK_WORDS);
	state[STATE_AT(asid)] = command[1];
	state[STATE_AT(first)] = 0;
	state[STATE_AT(tmd)] = state[STATE_AT(tmd) + 1] = 0;
	state[STATE_AT(packet)] = command[2];
	state[STATE_AT(packet) + 1] = command[3];
	command += 4;
	if (head >> 16 & TUTTI_TASK_NEW_GRID) {
		state[STATE_AT(grid_x)] = *command++;
		state[STATE_AT(groups_x)] = *command++;
	}
	if (head >> 16 & TUTTI_TASK_NEW_KERNARG) {
		state[STATE_AT(kernarg)] = *command++;
		state[STATE_AT(kernarg) + 1] = *command;
	}
}

void command_words(unsigned op, unsigned sub, const uint32_t *words, unsigned n)
{
	uint32_t *p = command_begin(n + 1);

	p[0] = TUTTI_COMMAND(op, n + 1, sub);
	words_copy(p + 1, words, n);
	command_end(p + 1 + n);
}
