// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=calloc -Wl,--wrap=malloc -Wl,--wrap=mmap -Wl,--wrap=munmap */
/* A host without memory: who would have needed it faults, and neither the card nor its process ends (SYS-10). */
#include "sm_rig.h"

/* For the thread that runs the card only: another one may translate kernels at the same time (REL-09). */
static _Thread_local bool no_memory;
static _Thread_local unsigned maps = ~0u; /* how many calls of mmap() succeed before one fails; ~0: all do */
static unsigned refused;

void *__real_calloc(size_t n, size_t bytes);
void *__real_malloc(size_t bytes);

void *__wrap_calloc(size_t n, size_t bytes)
{
	refused += no_memory;
	return no_memory ? NULL : __real_calloc(n, bytes);
}

void *__wrap_malloc(size_t bytes)
{
	refused += no_memory;
	return no_memory ? NULL : __real_malloc(bytes);
}

static int64_t mapped; /* bytes */

void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t bytes);

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
	if (no_memory || (maps != ~0u && !maps--)) {
		refused++;
		return MAP_FAILED;
	}
	mapped += (int64_t)bytes;
	return __real_mmap(address, bytes, protection, flags, file, offset);
}

int __wrap_munmap(void *address, size_t bytes)
{
	mapped -= (int64_t)bytes;
	return __real_munmap(address, bytes);
}

static void close_card(struct tutti_card *card)
{
	rig_destroy(card);
	assert_int_equal(mapped, 0);
}

/* The fault of @slot; afterwards its task is killed. */
static void fault_of(struct tutti_card *card, unsigned slot, unsigned killed)
{
	card->faults = 0;
	rig_until_fault(card);
	no_memory = false;
	assert_true(refused > 0);
	refused = 0;
	assert_int_equal(card->fault.word[0] >> 8 & 0xff, slot);
	assert_int_equal(card->fault.word[0] >> 16, TUTTI_CAUSE_BUS | TUTTI_ACCESS_NONE << 8);
	for (unsigned i = 2; i < 6; i++) /* the fault names no instruction and no address */
		assert_int_equal(card->fault.word[i], 0);
	sm_array_kill(card->array, slot);
	rig_until(card, slot, killed);
	assert_false(sm_array_busy(card->array));
}

static void first_wave_of_a_context(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	struct tutti_task_state state = rig_state(1, K_EMPTY, 1, 1);

	rig_context(card, 1);
	rig_launch_one(card, &state, 0);
	no_memory = true;
	fault_of(card, 0, 1);
	rig_launch_one(card, &state, 0);
	rig_until(card, 0, 2);
	close_card(card);
}

/* A context needs one mapping for its waves and one for their shared memory. Either of them may fail. */
static void context_without_pages(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	struct tutti_task_state state = rig_state(1, K_EMPTY, 1, 1);
	unsigned n;

	rig_context(card, 1);
	for (n = 0; n < 2; n++) {
		rig_launch_one(card, &state, 0);
		maps = n;
		fault_of(card, 0, n + 1);
		assert_int_equal(maps, ~0u);
	}
	rig_launch_one(card, &state, 0);
	rig_until(card, 0, n + 1);
	close_card(card);
}

static void wave_without_stack(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	uint64_t *data = rig_context(card, 1);
	struct tutti_task_state state = rig_state(1, K_EMPTY, 1, 1);

	data[61440 / 8] = DATA;
	/* the first wave has what it needs, and leaves it to the next */
	rig_launch_one(card, &state, 0);
	rig_until(card, 0, 1);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	no_memory = true;
	rig_until(card, 0, 2);
	assert_int_equal(refused, 0);
	no_memory = false;
	/* four waves at a barrier: the second one finds no memory */
	state = rig_state(1, K_BARRIER, 1, 4);
	state.shared_blocks = 1;
	state.shared_bytes = 2048;
	rig_launch_one(card, &state, 1);
	no_memory = true;
	fault_of(card, 1, 1);
	assert_true(card->fault.word[1] >> 16 > 0);
	/* and with memory it runs */
	rig_launch_one(card, &state, 1);
	rig_until(card, 1, 2);
	assert_int_equal(card->faults, 1);
	close_card(card);
}

/* More waves at once than are allocated together. */
static void wave_without_registers(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 8);
	uint64_t *data = rig_context(card, 1);
	struct tutti_task_state state = rig_state(1, K_WAIT, 129, 1);

	data[61440 / 8] = DATA;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 16, 8), 0);
	for (unsigned i = 0; i < 50; i++)
		rig_step(card);
	assert_int_equal(card->faults, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	no_memory = true;
	fault_of(card, 0, 129);
	close_card(card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-10: no memory for a context", first_wave_of_a_context, NULL, NULL, NULL},
		{"SYS-10: no pages for a context", context_without_pages, NULL, NULL, NULL},
		{"SYS-10: no memory for the stack of a wave", wave_without_stack, NULL, NULL, NULL},
		{"SYS-10: no memory for the registers of a wave", wave_without_registers, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SM: no memory", tests, NULL, NULL);
}
