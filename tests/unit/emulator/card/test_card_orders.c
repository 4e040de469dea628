// SPDX-License-Identifier: MIT
/* What the firmware orders reaches the SMs whole, and what the SMs ask for reaches the firmware. */
#include "card_rig.h"
#include "emulator/base/clock.h"
#include "emulator/base/state.h"
#include "emulator/engines/engines.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define STATE_WORDS   24u
#define LEVEL_WORDS   (TUTTI_CGA_LEVELS * 2u)

/* ---- commands ---- */

/* Each command, and what the SMs are told: the operation, up to four numbers, the first words of its list. */
static void test_arguments(void **state)
{
	static const struct {
		uint32_t words[8];
		unsigned length;
		uint64_t argument[4];
		uint32_t list[4];
	} rows[] = {
	    {{TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 4, 9 | 2 << 8), 11, 12, 13}, 4, {9, 2, 3}, {11, 12, 13}},
	    {{TUTTI_COMMAND(TUTTI_CMD_KILL, 1, 31)}, 1, {31}, {0}},
	    {{TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 9), 0x5000, 7, 0x2000, 1}, 5, {9, 0x700005000, 0x100002000}, {0}},
	    {{TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 0x8000 | 3), 1, 2, 3, 4}, 5, {3, 0x200000001, 0x400000003}, {0}},
	    {{TUTTI_COMMAND(TUTTI_CMD_CONTEXT, 5, 255), 0x1000, 0, 0, 0}, 5, {255, 0, 0}, {0}},
	    {{TUTTI_COMMAND(TUTTI_CMD_ORDER, 5, 0), 6, 11, 12, 13}, 5, {6, 3}, {11, 12, 13}},
	    {{TUTTI_COMMAND(TUTTI_CMD_REPLY, 4, 0), 77 | 5u << 16, 0x89abcdef, 0x1234567},
	     4,
	     {77, 5, 0x123456789abcdef},
	     {0}},
	    {{TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, 0x1400)}, 1, {0x1400}, {0}},
	    {{TUTTI_COMMAND(TUTTI_CMD_FLUSH, 3, 5), 30, 0xf0f}, 3, {5, 30, 0xf0f}, {0}},
	    {{TUTTI_COMMAND(TUTTI_CMD_FLUSH, 3, 5 | TUTTI_FLUSH_LMEM << 8), 63, 1}, 3, {~0ull, 63}, {0}},
	    {{TUTTI_COMMAND(TUTTI_CMD_THROTTLE, 4, 1), 70, 8, 9}, 4, {70, 2}, {8, 9}},
	    {{TUTTI_COMMAND(TUTTI_CMD_THROTTLE, 4, 0), 70, 8, 9}, 4, {0, 2}, {8, 9}},
	};

	for (unsigned i = 0; i < LENGTH(rows); i++) {
		uint32_t op = rows[i].words[0] & 0xff;

		sms.command.op = 0;
		script(OP_COMMANDS, rows[i].words, rows[i].length);
		assert_int_equal(sms.command.op, op == TUTTI_CMD_CONTEXT ? TUTTI_CMD_TLB : op);
		assert_memory_equal(sms.command.argument, rows[i].argument, sizeof(rows[i].argument));
		assert_memory_equal(sms.command.word, rows[i].list, sizeof(rows[i].list));
	}
}

/* What is answered by an event: its words, and nothing if the SMs refuse, which stops the firmware. */
static void test_answers(void **state)
{
	static const struct {
		uint32_t words[4], length;
		uint32_t event[3];
	} rows[] = {
	    {{TUTTI_COMMAND(TUTTI_CMD_FLUSH, 3, 5), 30, 0xf0f}, 3, {TUTTI_EVENT_FLUSHED | 5 << 8, 30, 0xf0f}},
	    {{TUTTI_COMMAND(TUTTI_CMD_FLUSH, 3, 5 | TUTTI_FLUSH_LMEM << 8), 63, 1},
	     3,
	     {TUTTI_EVENT_FLUSHED | 5 << 8 | TUTTI_FLUSH_LMEM << 16, 63, 1}},
	    {{TUTTI_COMMAND(TUTTI_CMD_THROTTLE, 3, 1), 70, 8}, 3, {TUTTI_EVENT_THROTTLE | 1 << 8, 0, 0}},
	    {{TUTTI_COMMAND(TUTTI_CMD_THROTTLE, 3, 0), 0, 8}, 3, {TUTTI_EVENT_THROTTLE, 0, 0}},
	};

	for (unsigned i = 0; i < LENGTH(rows); i++) {
		script(OP_COMMANDS, rows[i].words, rows[i].length);
		assert_memory_equal(event_of(rows[i].event[0] & 0xff), rows[i].event, sizeof(rows[i].event));
	}
	for (unsigned i = 0; i < LENGTH(rows); i++) {
		sms.refuse = -22;
		script(OP_COMMANDS, rows[i].words, rows[i].length);
		assert_int_equal(status->state, TUTTI_STATE_CRASHED);
		assert_int_equal(crash->cause_code, 25);
		assert_int_equal(crash->tval, rows[i].words[0]);
		assert_null(event_of(rows[i].event[0] & 0xff));
		sms.refuse = 0;
		boot(image_file, image_bytes);
	}
	/* shared memory without a block is no throttle state */
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_THROTTLE, 3, 1), 0, 8);
	assert_int_equal(crash->cause_code, 25);
}

/* Addresses of the bus belong to no context, and there are no more than 256 of them. */
static void test_contexts(void **state)
{
	const unsigned asids[] = {0, TUTTI_MAX_CONTEXTS, 0xffff};

	for (unsigned i = 0; i < LENGTH(asids); i++) {
		unsigned before = sms.invalidates;

		COMMAND(TUTTI_COMMAND(TUTTI_CMD_CONTEXT, 5, asids[i]), TABLES, 0, 64, 0);
		assert_int_equal(sms.invalidates, before);
		assert_int_equal(card_context_print(card, asids[i]), 0);
	}
	mmu_context(card, TUTTI_MAX_CONTEXTS, TABLES);
	for (unsigned i = 1; i < TUTTI_MAX_CONTEXTS; i += 254) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_CONTEXT, 5, i), TABLES, 0, 64 * i, i);
		assert_true(card_context_print(card, i) == ((uint64_t)i << 32 | 64 * i));
	}
	tutti_card_reset(card);
	assert_int_equal(card_context_print(card, 1), 0);
}

/* STATE: the state, then CGA levels, then a mask, each only if the flags say so. */
static void test_states(void **state)
{
	uint32_t words[1 + STATE_WORDS + LEVEL_WORDS + 3];
	const unsigned lengths[] = {1 + STATE_WORDS, 1 + STATE_WORDS + LEVEL_WORDS, 1 + STATE_WORDS + 3,
				    1 + STATE_WORDS + LEVEL_WORDS + 3};

	for (unsigned i = 0; i < LENGTH(words); i++)
		words[i] = i * 0x01010101u + 5;
	for (unsigned i = 0; i < 4; i++) {
		unsigned flags = (i & 1 ? TUTTI_STATE_CGA : 0) | (i & 2 ? TUTTI_STATE_MASK : 0);

		words[0] = TUTTI_COMMAND(TUTTI_CMD_STATE, lengths[i], 7 << 8 | flags);
		script(OP_COMMANDS, words, lengths[i]);
		assert_int_equal(status->state, TUTTI_STATE_RUNNING);
		assert_int_equal(sms.slot, 7);
		assert_int_equal(sms.state_flags, flags);
		assert_memory_equal(&sms.state, words + 1, 4 * STATE_WORDS);
		assert_int_equal(sms.levels, i & 1);
		if (i & 1)
			assert_memory_equal(sms.level, words + 1 + STATE_WORDS, sizeof(sms.level));
		assert_int_equal(sms.masked, i >> 1);
		assert_int_equal(sms.mask_words, i & 2 ? 3 : 0);
		if (i & 2)
			assert_memory_equal(sms.mask, words + lengths[i] - 3, 12);
		assert_int_equal(sms.mask[3], 0);
	}
	/* levels that are not there, or not all of them */
	for (unsigned left = 0; left < LEVEL_WORDS; left += LEVEL_WORDS - 1) {
		words[0] = TUTTI_COMMAND(TUTTI_CMD_STATE, 1 + STATE_WORDS + left, TUTTI_STATE_CGA);
		script(OP_COMMANDS, words, 1 + STATE_WORDS + left);
		assert_int_equal(crash->cause_code, 24);
		boot(image_file, image_bytes);
	}
}

/* A fault that the firmware has made says which; one of these names the wait for an acknowledgement. */
static void test_refused_launch(void **state)
{
	static const int errors[] = {-11, -22};

	for (unsigned i = 0; i < 2; i++) {
		sms.refuse = errors[i];
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, 9 | 2 << 8), 1, 1);
		assert_int_equal(sms.flags, 2);
		assert_int_equal(crash->cause_code, 25);
		assert_int_equal(crash->tval, TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, 9 | 2 << 8));
		assert_in_range(crash->pc, 0x100, 0x10000);
		assert_int_equal(!!strstr(crash->text, "acknowledged"), !i);
		sms.refuse = 0;
		boot(image_file, image_bytes);
	}
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_BLOCK, 7, 0), 0, BUS(0x400000), 1, 2, 3);
	assert_int_equal(crash->cause_code, 24);
	assert_in_range(crash->pc, 0x100, 0x10000);
	/* A mover ring that has not been set up is an error of the firmware as well. */
	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 40, 1);
	assert_int_equal(crash->cause_code, 24);
	assert_in_range(crash->pc, 0x100, 0x10000);
}

/* The crash record holds the first word of the malformed command, and the pc of the firmware. */
static void test_broken(void **state)
{
	const uint32_t rows[][2] = {
	    {TUTTI_COMMAND(TUTTI_CMD_BLOCK, 7, 3), 7},
	    {TUTTI_COMMAND(TUTTI_CMD_STATE, 1 + STATE_WORDS, 5 << 8 | TUTTI_STATE_CGA), 1 + STATE_WORDS},
	    {TUTTI_COMMAND(TUTTI_CMD_TASK, 5, 9 << 8 | TUTTI_TASK_NEW_KERNARG), 5},
	    {TUTTI_COMMAND(TUTTI_CMD_WRITE, 7, 8), 7},
	    {TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 3, 9), 3},
	    {TUTTI_COMMAND(TUTTI_CMD_BLOCK + 1, 3, 0x7000), 3},
	    {TUTTI_CMD_NOP, 1},
	};

	for (unsigned i = 0; i < LENGTH(rows); i++) {
		uint32_t words[1 + STATE_WORDS] = {rows[i][0], LOCAL_BUFFER};

		script(OP_COMMANDS, words, rows[i][1]);
		assert_int_equal(status->state, TUTTI_STATE_CRASHED);
		assert_int_equal(crash->cause_code, 24);
		assert_int_equal(crash->tval, rows[i][0]);
		assert_in_range(crash->pc, 0x100, 0x10000);
		boot(image_file, image_bytes);
	}
}

/* The firmware's table of SM states is current while it wants that; the host's copy is made when it asks for it. */
static void test_sm_table(void **state)
{
	const struct tutti_sm_state *host = (void *)(bar + discovery->sm_states.offset);
	struct tutti_sm_state got[2];
	unsigned before;

	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, TUTTI_SM_ROTATE));
	assert_int_equal(sms.tables + sms.syncs, 0);
	for (unsigned i = 1; i <= 2; i++) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, TUTTI_SM_UPDATE));
		peek(TUTTI_CORE_SMS, got, sizeof(got) / 4);
		assert_int_equal(sms.tables, i);
		assert_int_equal(sms.syncs, i);
		assert_int_equal(host[1].ctas, i);
		assert_int_equal(host[1].completed, i);
		assert_int_equal(got[1].ctas, i);
	}
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, TUTTI_SM_TABLE));
	assert_int_equal(sms.tables, 3); /* before the core runs again */
	for (unsigned i = 0; i < 3; i++) {
		before = sms.tables;
		peek(TUTTI_CORE_SMS, got, sizeof(got) / 4);
		assert_in_range(got[1].ctas, before + 1, sms.tables);
	}
	assert_int_equal(sms.syncs, 2);
	assert_int_equal(host[1].ctas, 2);
	/* no longer than the firmware wants it, nor than it runs */
	for (unsigned i = 0; i < 2; i++) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, TUTTI_SM_TABLE));
		if (i)
			boot(image_file, image_bytes);
		else
			COMMAND(TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, 0));
		before = sms.tables;
		peek(TUTTI_CORE_SMS, got, sizeof(got) / 4);
		assert_int_equal(sms.tables, before);
	}
}

/* ---- the command ring, and what lies at the end of memory ---- */

#define LOCAL (512u << 10)

/* The firmware is told of a ring of @words at @base, in which it has put @tail commands. */
static void use_ring(uint32_t base, uint32_t words, uint32_t tail)
{
	uint32_t fences[17] = {base};

	for (unsigned i = 1; i < LENGTH(fences); i++)
		fences[i] = TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, 0);
	if (base < LOCAL && base % 4 == 0)
		script(OP_POKE, fences, 1 + (LOCAL - base < 64 ? (LOCAL - base) / 4 : 16));
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES, base, words, tail);
}

/* The words of a ring are a power of two, all of them lie in local memory, and no more are in use than there are. */
static void test_command_ring(void **state)
{
	static const struct {
		uint32_t base, words, tail;
		bool good;
	} rows[] = {
	    {LOCAL_BUFFER, 1, 1, true},
	    {LOCAL_BUFFER, 16, 16, true},
	    {LOCAL_BUFFER + 4, 16, 3, true},
	    {LOCAL - 64, 16, 3, true},
	    {LOCAL - 4, 1, 1, true},
	    {LOCAL_BUFFER, 0, 1, false},
	    {LOCAL_BUFFER, 12, 3, false},
	    {LOCAL_BUFFER, 16, 17, false},
	    {LOCAL_BUFFER + 2, 16, 3, false},
	    {LOCAL_BUFFER + 1, 16, 3, false},
	    {LOCAL - 60, 16, 3, false},
	    {LOCAL - 64, 32, 3, false},
	    {LOCAL, 1, 1, false},
	    {~3u, 1, 1, false},
	    {0, 1u << 31, 3, false},
	};

	local_bytes = LOCAL;
	card_open(TUTTI_CARD_DETERMINISTIC);
	local_bytes = 0;
	for (unsigned i = 0; i < LENGTH(rows); i++) {
		uint32_t head;

		boot(image_file, image_bytes);
		use_ring(rows[i].base, rows[i].words, rows[i].tail);
		if (!rows[i].good) {
			if (!strstr(crash->text, "ring"))
				fail_msg("row %u: %s", i, crash->text);
			assert_int_equal(status->state, TUTTI_STATE_CRASHED);
			assert_int_equal(crash->cause_code, 24);
			assert_int_equal(crash->tval, rows[i].tail);
			continue;
		}
		assert_int_equal(status->state, TUTTI_STATE_RUNNING);
		peek(TUTTI_CORE_ENGINES + 12, &head, 1);
		assert_int_equal(head, rows[i].tail);
	}
}

/* The state that a TASK names may be the last thing in local memory, or in card memory. */
static void test_last_task(void **state)
{
	const uint32_t last[] = {LOCAL - 4 * TUTTI_TASK_WORDS, TUTTI_CORE_CARD + (64u << 20) - 4 * TUTTI_TASK_WORDS};

	local_bytes = LOCAL;
	card_open(TUTTI_CARD_DETERMINISTIC);
	local_bytes = 0;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned behind = 0; behind < 2; behind++) {
			uint32_t words[1 + TUTTI_TASK_WORDS] = {last[i]};

			boot(image_file, image_bytes);
			for (unsigned k = 1; k <= TUTTI_TASK_WORDS; k++)
				words[k] = 0x1111 * k;
			script(OP_POKE, words, 1 + TUTTI_TASK_WORDS);
			COMMAND(TUTTI_COMMAND(TUTTI_CMD_TASK, 5, 9 << 8), last[i] + 4 * behind, 7, 0, 0);
			assert_int_equal(status->state, behind ? TUTTI_STATE_CRASHED : TUTTI_STATE_RUNNING);
			assert_int_equal(sms.states, i + 1);
			assert_memory_equal(&sms.state, words + 1, 4 * TUTTI_TASK_WORDS);
		}
}

/* The state that a TASK command refers to may be at the very beginning of card memory. */
static void test_first_task(void **state)
{
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TASK, 5, 9 << 8), TUTTI_CORE_CARD, 7, 0, 0);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	assert_int_equal(sms.states, 1);
	assert_memory_equal(&sms.state, memory, 4 * TUTTI_TASK_WORDS);
}

/* A state lies on a multiple of 4. */
static void test_crooked_task(void **state)
{
	for (uint32_t off = 1; off <= 4; off++) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_TASK, 5, 9 << 8), LOCAL_BUFFER + off, 7, 0, 0);
		assert_int_equal(status->state, off < 4 ? TUTTI_STATE_CRASHED : TUTTI_STATE_RUNNING);
		boot(image_file, image_bytes);
	}
}

/* ---- doorbells ---- */

/* Before the card sleeps it sees the doorbells of all queues that the firmware listens to, and of no others. */
static void test_visible(void **state)
{
	const unsigned queues[] = {0, 31, 32, 35, 64, TUTTI_MAX_QUEUES - 1};

	for (unsigned i = 0; i < LENGTH(queues); i++) {
		SCRIPT_WORDS(OP_ENABLE, queues[i] / 32, 1u << queues[i] % 32);
		for (unsigned q = 0; q < TUTTI_MAX_QUEUES; q++) {
			*doorbell(q) = 1;
			assert_int_equal(engines_visible(card), q == queues[i]);
			*doorbell(q) = TUTTI_DOORBELL_EMPTY;
		}
		assert_false(engines_visible(card));
		SCRIPT_WORDS(OP_ENABLE, queues[i] / 32, 0);
	}
}

/* The firmware learns the newest index of each doorbell before the event, where it wants it. */
static void test_doorbell_index(void **state)
{
	const unsigned queues[] = {0, 31, 32, TUTTI_MAX_QUEUES - 1};
	uint32_t told[TUTTI_MAX_QUEUES];

	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 56, LOCAL_BUFFER);
	for (unsigned w = 0; w < TUTTI_MAX_QUEUES / 32; w++)
		SCRIPT_WORDS(OP_ENABLE, w, ~0u);
	for (unsigned i = 0; i < LENGTH(queues); i++)
		SCRIPT_WORDS(OP_POKE, LOCAL_BUFFER + 4 * queues[i], 0xeeeeeeee);
	for (unsigned i = 0; i < LENGTH(queues); i++)
		*doorbell(queues[i]) = 0x700000000ull + 1000 + i;
	settle();
	peek(LOCAL_BUFFER, told, TUTTI_MAX_QUEUES);
	for (unsigned i = 0; i < LENGTH(queues); i++) {
		assert_int_equal(told[queues[i]], 1000 + i);
		assert_true(*doorbell(queues[i]) == TUTTI_DOORBELL_EMPTY);
	}
	assert_int_equal(((uint64_t *)(bar + discovery->counters.offset))[TUTTI_COUNTER_DOORBELLS], LENGTH(queues));
	/* a place outside of local memory is not written to, and the event comes all the same */
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 56, 0x3fffc);
	*(uint32_t *)(memory + EVENTS) = 0;
	*doorbell(1) = 5;
	settle();
	assert_int_equal(event_of(TUTTI_EVENT_DOORBELL)[1], 2);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

/* ---- tensor requests ---- */

static void request_area(uint32_t base, uint32_t slots)
{
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 48, base, slots);
}

/* Requests fill the slots of the area in turn; a slot is free again when the last mover of its request has ended. */
static void test_requests(void **state)
{
	const uint32_t *events = (uint32_t *)(memory + EVENTS), *event;
	struct tutti_tensor_call got;
	unsigned slot = 0;

	sms.request = (struct tutti_tensor_call){.slot = 5, .sm = 1, .wave = 9, .asid = 3, .cta = 77};
	sms.request.request.other = 0x1122334455667788ull;
	sms.requests = 5;
	settle();
	assert_int_equal(sms.requests, 5); /* there is no area yet */
	request_area(LOCAL_BUFFER, 3);
	assert_int_equal(sms.requests, 2);
	assert_int_equal(sms.progress, 1);
	for (unsigned i = 0; i < events[0]; i++) {
		event = &events[8 + 8 * i];
		if ((event[0] & 0xff) != TUTTI_EVENT_REQUEST)
			continue;
		assert_int_equal(event[0], TUTTI_EVENT_REQUEST | 5 << 8 | TUTTI_SERVICE_TENSOR << 16);
		assert_int_equal(event[1], 1 | 9 << 16);
		assert_int_equal(event[2], slot++);
	}
	assert_int_equal(slot, 3);
	peek(LOCAL_BUFFER + 2 * sizeof(got), &got, sizeof(got) / 4);
	assert_memory_equal(&got, &sms.request, sizeof(got));
	settle();
	assert_int_equal(sms.requests, 2);
	assert_int_equal(sms.progress, 1); /* nothing has moved since */
}

/* Areas of 1 to 256 slots that lie in local memory, on a multiple of 8. */
static void test_request_areas(void **state)
{
	const uint32_t call = sizeof(struct tutti_tensor_call), local = discovery->local_bytes;
	const struct {
		uint32_t base, slots;
		bool good;
	} rows[] = {
	    {LOCAL_BUFFER, 1, true},	  {LOCAL_BUFFER, 256, true},	{LOCAL_BUFFER, 0, false},
	    {LOCAL_BUFFER, 257, false},	  {LOCAL_BUFFER + 4, 1, false}, {local - call, 1, true},
	    {local - call + 8, 1, false}, {local - call, 2, false},	{LOCAL_BUFFER + 1, 1, false},
	    {LOCAL_BUFFER + 2, 1, false}, {LOCAL_BUFFER + 8, 1, true},
	};

	for (unsigned i = 0; i < LENGTH(rows); i++) {
		boot(image_file, image_bytes);
		sms.requests = 300;
		request_area(rows[i].base, rows[i].slots);
		for (unsigned k = 0; k < 20; k++)
			settle();
		assert_int_equal(300 - sms.requests, rows[i].good ? rows[i].slots : 0);
		assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	}
}

/* With another area requests begin at its first slot; without one that makes sense they wait. */
static void test_new_area(void **state)
{
	struct tutti_tensor_call got;

	sms.request = (struct tutti_tensor_call){.slot = 5, .sm = 1, .wave = 9, .asid = 3, .cta = 77};
	sms.requests = 1;
	request_area(LOCAL_BUFFER, 3);
	assert_int_equal(sms.requests, 0);
	memset(&card->engines.call, 0, sizeof(card->engines.call)); /* what was asked for is done */
	request_area(LOCAL_BUFFER, 300);
	sms.requests = 1;
	settle();
	assert_int_equal(sms.requests, 1);
	request_area(LOCAL_BUFFER + 0x1000, 2);
	assert_int_equal(sms.requests, 0);
	peek(LOCAL_BUFFER + 0x1000, &got, sizeof(got) / 4);
	assert_memory_equal(&got, &sms.request, sizeof(got));
}

/* ---- time ---- */

/* Virtual time that is not that of instructions, in ns. */
static uint64_t other_time(void)
{
	return card_time(card) - tutti_card_instructions(card) * CARD_NS_PER_INSTRUCTION;
}

static bool after_ten(void *rounds)
{
	return ++*(unsigned *)rounds > 10;
}

/* In virtual time commands, fetches, and turns of the waves take as long as on any other host. */
static void test_time(void **state)
{
	const uint32_t fence = TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, 0), fetch = TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9);
	uint64_t before = other_time(), empty;

	assert_false(card->thread_runs); /* only who drives the card makes time pass */
	COMMAND(fence);
	empty = other_time() - before - 20;
	before = other_time();
	COMMAND(fence, fence, fence, fence);
	assert_int_equal(other_time() - before, empty + 4 * 20);
	before = other_time();
	COMMAND(fetch, 0, BUS(0x400000), 64, LOCAL_BUFFER);
	assert_int_equal(other_time() - before, empty + 20 + 500);
	for (unsigned completes = 0; completes < 2; completes++) {
		unsigned rounds = 0;

		sms.endless = true;
		sms.completes = completes;
		before = other_time();
		assert_false(tutti_card_run(card, after_ten, &rounds));
		assert_int_equal(other_time() - before, 10 * (completes ? 1000 : 100000));
		sms.endless = sms.completes = false;
	}
}

/* In slices of one instruction, which is the least, the rest of the card has a turn after each. */
static void test_least_slice(void **state)
{
	const uint64_t *counters;
	uint64_t wakes, instructions;

	slice = 1;
	card_open(TUTTI_CARD_DETERMINISTIC);
	slice = 0;
	boot(image_file, image_bytes);
	counters = (uint64_t *)(bar + discovery->counters.offset);
	wakes = counters[TUTTI_COUNTER_CORE_WAKES];
	instructions = tutti_card_instructions(card);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, 0));
	instructions = tutti_card_instructions(card) - instructions;
	assert_true(instructions > 20);
	assert_in_range(counters[TUTTI_COUNTER_CORE_WAKES] - wakes, instructions, 2 * instructions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-10: what commands tell SMs", test_arguments, setup, teardown, NULL},
	    {"CGA-26, TSK-07: answers of SMs, and refusals", test_answers, setup, teardown, NULL},
	    {"SYS-10: contexts 1 to 255", test_contexts, setup, teardown, NULL},
	    {"TSK-05, CGA-02: states with levels and masks", test_states, setup, teardown, NULL},
	    {"SYS-10: commands that are refused are named in the crash record", test_refused_launch, setup, teardown,
	     NULL},
	    {"SYS-10: malformed commands are named in the crash record", test_broken, setup, teardown, NULL},
	    {"RES-01, TSK-16: the tables of SM states", test_sm_table, setup, teardown, NULL},
	    {"SYS-10: TASKs whose state ends with the memory", test_last_task, NULL, teardown, NULL},
	    {"SYS-10: where the command ring may lie", test_command_ring, NULL, teardown, NULL},
	    {"PKT-01: the newest index of each doorbell", test_doorbell_index, setup, teardown, NULL},
	    {"TMA-01: requests fill the request area in turn", test_requests, setup, teardown, NULL},
	    {"TMA-01: sizes and places of the request area", test_request_areas, setup, teardown, NULL},
	    {"TMA-01: a request area that is changed", test_new_area, setup, teardown, NULL},
	    {"SYS-12: what commands and turns of waves take in virtual time", test_time, setup, teardown, NULL},
	    {"SYS-12: slices of one instruction", test_least_slice, NULL, teardown, NULL},
	    {"SYS-10: TASKs whose state is at the beginning of card memory", test_first_task, setup, teardown, NULL},
	    {"SYS-10: TASKs whose state lies crooked", test_crooked_task, setup, teardown, NULL},
	    {"SYS-12: doorbells that a card sees before it sleeps", test_visible, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("card: orders", tests, make_image, drop_image);
}
