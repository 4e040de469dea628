// SPDX-License-Identifier: MIT
/* SYS-52: what a wave may access, to the byte and by kind of access. */
#include "sm_rig.h"

#define STACK_TOP (TUTTI_WAVE_PRIVATE + (1ull << 32) + 2 * 8192) /* of the rig's 8 KiB */

static struct tutti_card *card;
static uint64_t *data;

static int setup(void **state)
{
	card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 4);
	data = rig_context(card, 1);
	return 0;
}

static int teardown(void **state)
{
	rig_destroy(card);
	return 0;
}

static void start(unsigned slot, uint32_t entry, uint32_t shared, uint64_t argument, unsigned sms)
{
	struct tutti_task_state state = rig_state(1, entry, 100, 1);

	state.shared_bytes = shared;
	state.shared_blocks = (uint16_t)((shared + 2047) / 2048);
	data[61440 / 8] = argument;
	sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, slot, 1, sms), 0);
}

/* @entry with @argument faults at @pc, first at @address. */
static void refused(uint32_t entry, uint32_t pc, uint32_t shared, uint64_t argument, unsigned cause, unsigned access,
		    uint64_t address)
{
	unsigned killed = card->done[0];

	card->faults = 0;
	start(0, entry, shared, argument, 1);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16 & 0xff, cause);
	assert_int_equal(card->fault.word[0] >> 24, access);
	assert_int_equal(card->fault.word[2] | (uint64_t)card->fault.word[3] << 32, CODE + pc);
	assert_int_equal(card->fault.word[4] | (uint64_t)card->fault.word[5] << 32, address);
	sm_array_kill(card->array, 0);
	rig_until(card, 0, killed + 1);
}

static void code_is_not_written(void **state)
{
	uint8_t before[4096];

	memcpy(before, card->map[0].host, sizeof(before));
	refused(K_STORE, K_STORE + 4, 0, CODE, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_WRITE, CODE);
	refused(K_AMO, K_AMO + 16, 0, CODE, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_ATOMIC, CODE);
	assert_memory_equal(card->map[0].host, before, sizeof(before));
}

static void shared_memory_ends_with_the_own(void **state)
{
	const uint64_t stride = card->array->shared_stride, own = TUTTI_WAVE_SHARED;
	unsigned killed;

	refused(K_LOAD, K_LOAD + 4, 0, own, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, own);
	refused(K_LOAD, K_LOAD + 4, 2048, own + 2048, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, own + 2048);
	refused(K_LOAD, K_LOAD_AT, 2048, own + 2048 - 8, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, own + 2048);
	refused(K_STORE, K_STORE_AT, 4096, own + 4096 - 8, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_WRITE, own + 4096);
	/* half of the word is there */
	refused(K_STORE, K_STORE + 4, 2048, own + 2044, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_WRITE, own + 2048);
	refused(K_AMO, K_AMO + 16, 2048, own + 2048, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_ATOMIC, own + 2048);
	/* of a CTA that is there, on another SM and on the same one */
	killed = card->done[1];
	start(1, K_SPIN, 2048, 0, 4);
	rig_step(card);
	refused(K_LOAD, K_LOAD + 4, 2048, own + stride, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, own + stride);
	refused(K_LOAD, K_LOAD + 4, 2048, own, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, own);
	refused(K_STORE, K_STORE + 4, 2048, own, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_WRITE, own);
	sm_array_kill(card->array, 1);
	rig_until(card, 1, killed + 4);
}

/* The processor must not remember what it found for the CTA before. */
static void shared_memory_of_the_last_cta(void **state)
{
	const uint64_t own = TUTTI_WAVE_SHARED;

	for (unsigned i = 0; i < 4; i++) {
		unsigned done = card->done[0];

		start(0, K_STORE, 4096, own, 1);
		card->faults = 0;
		rig_until_fault(card);
		assert_int_equal(card->fault.word[4] | (uint64_t)card->fault.word[5] << 32, own + 4096);
		sm_array_kill(card->array, 0);
		rig_until(card, 0, done + 1);
		refused(K_LOAD, K_LOAD_AT, 2048, own + 2048 - 8, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, own + 2048);
	}
}

/* The processor must not remember it either if the next CTA has as much shared memory, but on another SM. */
static void shared_memory_of_the_last_cta_elsewhere(void **state)
{
	const uint64_t own = TUTTI_WAVE_SHARED; /* shared memory of the first CTA of SM 0 */

	for (unsigned sm = 1; sm < 4; sm++) {
		struct tutti_task_state look = rig_state(1, K_PEEK, 100, 1), load = rig_state(1, K_LOAD, 100, 1);
		unsigned done = card->done[1];

		look.shared_bytes = load.shared_bytes = 2048;
		look.shared_blocks = load.shared_blocks = 1;
		data[61440 / 8] = DATA;
		rig_launch_one(card, &look, 1); /* this one uses its shared memory on SM 0 */
		rig_until(card, 1, done + 1);
		data[61440 / 8] = own;
		sm_array_state(card->array, 0, 0, &load, NULL, NULL, 0);
		card->faults = 0;
		assert_int_equal(sm_array_launch(card->array, 0, 0, (uint32_t[]){1 | 1u << 24, 1u << sm}, 2), 0);
		rig_until_fault(card);
		assert_int_equal(card->fault.word[0] >> 16, TUTTI_CAUSE_UNMAPPED | TUTTI_ACCESS_READ << 8);
		assert_true((card->fault.word[4] | (uint64_t)card->fault.word[5] << 32) == own);
		sm_array_kill(card->array, 0);
		rig_until(card, 0, sm);
	}
}

static void windows_are_not_code(void **state)
{
	const uint64_t shared = TUTTI_WAVE_SHARED - CODE, stack = STACK_TOP - 64 - CODE;
	struct tutti_task_state jump = rig_state(1, 0, 1, 1);

	for (unsigned i = 0; i < 2; i++) {
		jump.entry = CODE + (i ? stack : shared);
		jump.shared_bytes = 2048;
		jump.shared_blocks = 1;
		card->faults = 0;
		sm_array_state(card->array, 0, 0, &jump, NULL, NULL, 0);
		assert_int_equal(rig_launch(card, 0, 1, 1), 0);
		rig_until_fault(card);
		assert_int_equal(card->fault.word[0] >> 16, TUTTI_CAUSE_PROTECTION | TUTTI_ACCESS_EXECUTE << 8);
		sm_array_kill(card->array, 0);
		rig_until(card, 0, i + 1);
	}
}

static void guard_around_the_stack(void **state)
{
	const uint64_t below = STACK_TOP - 8192;

	refused(K_STACK, K_STACK_AT, 0, 0, TUTTI_CAUSE_STACK, TUTTI_ACCESS_WRITE, below - 256);
	refused(K_STORE, K_STORE + 4, 0, below - 4, TUTTI_CAUSE_STACK, TUTTI_ACCESS_WRITE, below - 4);
	refused(K_LOAD, K_LOAD_AT, 0, STACK_TOP - 8, TUTTI_CAUSE_STACK, TUTTI_ACCESS_READ, STACK_TOP);
	refused(K_LOAD, K_LOAD + 4, 0, TUTTI_WAVE_PRIVATE + 4096, TUTTI_CAUSE_STACK, TUTTI_ACCESS_READ,
		TUTTI_WAVE_PRIVATE + 4096);
}

/* The first and last words of windows, and the addresses beside them, where nothing is. */
static void windows_end(void **state)
{
	static const uint64_t infos = 4 * 32 * 256; /* of the rig's 4 SMs of 32 waves */
	const struct {
		uint64_t at;
		unsigned cause;
	} beside[] = {
		{TUTTI_WAVE_ROM - 8, TUTTI_CAUSE_UNMAPPED},	  {TUTTI_WAVE_ROM + 4096, TUTTI_CAUSE_UNMAPPED},
		{TUTTI_WAVE_INFO - 8, TUTTI_CAUSE_UNMAPPED},	  {TUTTI_WAVE_INFO + infos, TUTTI_CAUSE_UNMAPPED},
		{TUTTI_WAVE_SHARED - 8, TUTTI_CAUSE_UNMAPPED},	  {TUTTI_WAVE_PRIVATE - 8, TUTTI_CAUSE_UNMAPPED},
		{TUTTI_WAVE_PRIVATE, TUTTI_CAUSE_STACK},	  {TUTTI_WAVE_DSMEM - 8, TUTTI_CAUSE_STACK},
		{TUTTI_WAVE_DSMEM + (1 << 24), TUTTI_CAUSE_CGA_RANK}, {TUTTI_WAVE_LMEM, TUTTI_CAUSE_UNMAPPED},
	};

	for (unsigned i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
		refused(K_LOAD, K_LOAD + 4, 2048, beside[i].at, beside[i].cause, TUTTI_ACCESS_READ, beside[i].at);
		refused(K_STORE, K_STORE + 4, 2048, beside[i].at, beside[i].cause, TUTTI_ACCESS_WRITE, beside[i].at);
	}
	/* up to their last words they can be read, and only read */
	refused(K_LOAD, K_LOAD_AT, 0, TUTTI_WAVE_ROM + 4096 - 8, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, TUTTI_WAVE_ROM + 4096);
	refused(K_LOAD, K_LOAD_AT, 0, TUTTI_WAVE_INFO + infos - 8, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, TUTTI_WAVE_INFO + infos);
	refused(K_STORE, K_STORE + 4, 0, TUTTI_WAVE_ROM, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_WRITE, TUTTI_WAVE_ROM);
	refused(K_STORE, K_STORE + 4, 0, TUTTI_WAVE_INFO + infos - 8, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_WRITE,
		TUTTI_WAVE_INFO + infos - 8);
}

/* A mapping ends at its page, though the memory behind it is the emulator's, too. */
static void mappings_end_with_their_pages(void **state)
{
	refused(K_STORE, K_STORE_AT, 0, DATA + 65536 - 3 * 8, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_WRITE, DATA + 65536);
	refused(K_LOAD, K_LOAD + 4, 0, DATA + 65536 - 4, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, DATA + 65536);
	/* rights of the newest mapping, also where an older one was remembered */
	start(1, K_SET, 0, DATA, 1);
	rig_until(card, 1, 1);
	card->map[1].prot = TUTTI_PTE_R;
	sm_array_invalidate(card->array, 1, DATA, 65536);
	refused(K_SET, K_SET + 8, 0, DATA, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_WRITE, DATA);
}

/* The hundredth page costs what the first one does: pages are asked for once, whatever has been touched before. */
static void first_touch(void **state)
{
	enum { PAGES = 60 };
	const uint64_t first = DATA + 0x100000;
	uint64_t asked;

	for (unsigned i = 0; i < PAGES; i++) /* in host memory here and there */
		rig_map(card, 1, first + 4096 * i, 4096, RW);
	start(1, K_EMPTY, 0, DATA, 1);
	rig_until(card, 1, 1);
	asked = card->translations;
	refused(K_STORE, K_STORE + 4, 0, first, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_WRITE, first + PAGES * 4096);
	/* and once for the argument, and for the page that is not there */
	assert_in_range(card->translations - asked, PAGES, PAGES + 3);
}

#define TEST(name, function) {"SYS-52: " name, function, setup, teardown, NULL}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a store into code faults", code_is_not_written),
		TEST("shared memory is bounded to the CTA's", shared_memory_ends_with_the_own),
		TEST("shared memory of the CTA before is not remembered", shared_memory_of_the_last_cta),
		TEST("the last CTA's shared memory is not remembered elsewhere", shared_memory_of_the_last_cta_elsewhere),
		TEST("stack and shared memory are not executed", windows_are_not_code),
		TEST("nothing is mapped around a stack", guard_around_the_stack),
		TEST("nothing is mapped beside the windows", windows_end),
		TEST("mappings end with their pages", mappings_end_with_their_pages),
		TEST("first touch of scattered pages", first_touch),
	};

	return cmocka_run_group_tests_name("protection of waves' memory", tests, NULL, NULL);
}
