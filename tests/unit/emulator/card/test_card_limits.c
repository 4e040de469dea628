// SPDX-License-Identifier: MIT
/* Limits: of a card's settings, of the soft core's address space, of the length of commands, of the trace ring. */
#include "card_rig.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* ---- settings ---- */

static int read_text(struct tutti_card_config *config, const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	int error;

	memset(config, 0, sizeof(*config));
	error = tutti_card_config_read(config, file);
	fclose(file);
	return error;
}

/* The last value that is allowed, and the first one that is not. */
static void test_settings(void **state)
{
	static const struct {
		const char *good, *bad;
	} pairs[] = {
		{"peus 8\npeu_waves 16\n", "peus 9\npeu_waves 8\n"},
		{"peus 2\npeu_waves 64\n", "peus 1\npeu_waves 65\n"},
		{"peus 4\npeu_waves 32\n", "peus 4\npeu_waves 33\n"},
		{"scalar_blocks 256\n", "scalar_blocks 257\n"},
		{"vector_blocks 256\n", "vector_blocks 257\n"},
		{"shared_blocks 256\n", "shared_blocks 257\n"},
		{"barriers 256\n", "barriers 257\n"},
		{"cta_slots 255\n", "cta_slots 256\n"},
		{"shared_block_bytes 128\n", "shared_block_bytes 64\n"},
		{"gpc 1\nshared_blocks 1\nshared_block_bytes 1M\n", "gpc 1\nshared_blocks 1\nshared_block_bytes 2M\n"},
		{"shared_block_bytes 128\n", "shared_block_bytes 192\n"},
		{"gpc 1\nshared_blocks 16\nshared_block_bytes 1M\n", "gpc 1\nshared_blocks 17\nshared_block_bytes 1M\n"},
		{"gpc 1\nshared_blocks 64\nshared_block_bytes 256K\n", "gpc 1\nshared_blocks 64\nshared_block_bytes 512K\n"},
		{"gpc 4\nshared_blocks 4\nshared_block_bytes 1M\n", "gpc 5\nshared_blocks 4\nshared_block_bytes 1M\n"},
		{"gpc 16*64\nshared_block_bytes 64K\n", "gpc 16*64\nshared_block_bytes 128K\n"},
		{"local_bytes 512K\n", "local_bytes 576K\n"},
		{"local_bytes 320K\n", "local_bytes 288K\n"},
		{"memory 8M\n", "memory 8188K\n"},
		{"memory 1024G\n", "memory 1025G\n"},
		{"gpc 16*64\n", "gpc 1024 1\n"},
		{"gpc 1*64\n", "gpc 1*64\ngpc 1\n"},
		{"gpc 3+2\n", "gpc 3+255+255+255+255+2\n"},
		{"gpc 2 2\nugpu 1 1\n", "gpc 2 2\nugpu 1 1 1\n"},
		{"gpc 2 2 2\nugpu 2 1\n", "gpc 2 2 2\nugpu 1 1\n"},
		{"gpc 1*64\nugpu 64\n", "gpc 1*64\nugpu 64 64 64\n"},
	};
	struct tutti_card_config config;

	for (unsigned i = 0; i < LENGTH(pairs); i++) {
		if (read_text(&config, pairs[i].good) || !tutti_card_bar_bytes(&config))
			fail_msg("refused: %s", pairs[i].good);
		if (!read_text(&config, pairs[i].bad) && tutti_card_bar_bytes(&config))
			fail_msg("not refused: %s", pairs[i].bad);
	}
}

/* A line that is too long is an error. */
static void test_long_lines(void **state)
{
	struct tutti_card_config config;
	char text[1200];

	memset(text, ' ', sizeof(text));
	memcpy(text, "peus 2", 6);
	strcpy(text + 510, "\nmemory 8M\n");
	assert_int_equal(read_text(&config, text), 0);
	assert_int_equal(config.peus, 2);
	assert_int_equal(config.memory_bytes, 8u << 20);
	memset(text, ' ', sizeof(text));
	memcpy(text, "peus 2", 6);
	strcpy(text + 511, "\n");
	assert_int_equal(read_text(&config, text), -22);
	strcpy(text + 510, "");
	assert_int_equal(read_text(&config, text), 0); /* the last line need not end with a newline */
}

static const struct tutti_discovery *described(const char *text, struct tutti_card **out)
{
	struct tutti_card_config config;

	assert_int_equal(read_text(&config, text), 0);
	config.mode = TUTTI_CARD_DETERMINISTIC;
	assert_int_equal(tutti_card_create(&config, out), 0);
	return tutti_card_bar(*out);
}

static void test_described(void **state)
{
	const struct tutti_discovery *d;
	struct tutti_card *other;

	d = described("gpc 2\nmemory 64M\n", &other);
	assert_int_equal(d->workgroup_items, 1024);
	assert_true(d->features & TUTTI_FEATURE_ORDERED_STATES);
	assert_false(d->features & TUTTI_FEATURE_ENERGY);
	assert_int_equal(d->gpc[0].cpcs, 1);
	tutti_card_destroy(other);
	d = described("gpc 6 7 12 13\nmemory 64M\npeus 2\npeu_waves 5\nacknowledge 3\nenergy 1\n", &other);
	assert_int_equal(d->workgroup_items, 320);
	assert_false(d->features & TUTTI_FEATURE_ORDERED_STATES);
	assert_true(d->features & TUTTI_FEATURE_ENERGY);
	assert_int_equal(d->gpc[0].cpcs | d->gpc[1].cpcs << 4 | d->gpc[2].cpcs << 8 | d->gpc[3].cpcs << 12, 0x3221);
	assert_int_equal(d->gpc[0].ugpu | d->gpc[1].ugpu << 4 | d->gpc[2].ugpu << 8 | d->gpc[3].ugpu << 12, 0x1100);
	tutti_card_destroy(other);
	d = described("gpc 2*5\nmemory 64M\npeus 8\npeu_waves 16\n", &other);
	assert_int_equal(d->workgroup_items, 1024);
	assert_int_equal(d->gpc[2].ugpu | d->gpc[3].ugpu << 4, 0x10);
	tutti_card_destroy(other);
}

/* What a program may count on if the topology says nothing else. */
static void test_limits(void **state)
{
	const struct tutti_discovery *d;
	struct tutti_card *other;

	d = described("gpc 2 2\nmemory 64M\n", &other);
	assert_int_equal(d->gpc[0].ugpu | d->gpc[1].ugpu << 4, 0x10);
	assert_int_equal(d->max_contexts, 256);
	assert_int_equal(d->max_queues, TUTTI_MAX_QUEUES);
	assert_int_equal(d->max_rsbs, TUTTI_MAX_RSBS);
	assert_int_equal(d->task_slots, 32);
	assert_int_equal(d->ring_packets_min, 2);
	assert_int_equal(d->ring_packets_max, 65536);
	assert_int_equal(d->soft_cores, 1);
	assert_int_equal(d->movers, 1);
	assert_int_equal(d->cga_ids, 32);
	assert_int_equal(d->cga_ctas, 16);
	assert_int_equal(d->lmem_slots, 64);
	assert_int_equal(d->lmem_slot_bytes, 64 << 10);
	assert_int_equal(d->tmau_requests, 16);
	assert_int_equal(d->peus, 4);
	assert_int_equal(d->peu_waves, 8);
	assert_int_equal(d->scalar_blocks, 32);
	assert_int_equal(d->vector_blocks, 32);
	assert_int_equal(d->shared_blocks, 64);
	assert_int_equal(d->shared_block_bytes, 2048);
	assert_int_equal(d->barriers, 16);
	assert_int_equal(d->cta_slots, 32);
	assert_int_equal(d->private_bytes, 256 << 10);
	assert_int_equal(d->local_bytes, 256 << 10);
	assert_int_equal(d->reserved_bytes, 4 << 20);
	assert_int_equal(d->memory_bytes, 64 << 20);
	assert_int_equal(d->aperture_bytes, d->memory_bytes);
	tutti_card_destroy(other);
	d = described("gpc 2\n", &other);
	assert_int_equal(d->memory_bytes, 1 << 30);
	tutti_card_destroy(other);
	d = described("memory 64M\n", &other);
	assert_int_equal(d->gpcs, 8);
	assert_int_equal(d->sms, 8 * 18);
	assert_int_equal(d->gpc[7].first_sm, 7 * 18);
	tutti_card_destroy(other);
}

/* A program that fills in the topology itself is held to the same limits as a file. */
static void test_unread(void **state)
{
	struct tutti_card_config config = {.gpcs = 2, .topology = {1000, 24}};

	assert_true(tutti_card_bar_bytes(&config) > 0);
	config.topology[1] = 25;
	assert_int_equal(tutti_card_bar_bytes(&config), 0);
	config.topology[1] = 0;
	assert_int_equal(tutti_card_bar_bytes(&config), 0);
	config = (struct tutti_card_config){.gpcs = TUTTI_MAX_GPCS};
	for (unsigned i = 0; i < TUTTI_MAX_GPCS; i++)
		config.topology[i] = 1;
	assert_true(tutti_card_bar_bytes(&config) > 0);
	config.gpcs++;
	assert_int_equal(tutti_card_bar_bytes(&config), 0);
}

/* At power-on the doorbells and the pages of RSBs hold anything, as they would in hardware. */
static void test_garbage(void **state)
{
	const uint8_t *base;
	const struct tutti_discovery *d;
	struct tutti_card *other;

	d = described("gpc 2\nmemory 64M\n", &other);
	base = (const uint8_t *)d;
	for (unsigned i = 0; i < d->max_queues; i++) {
		const struct tutti_doorbell_page *page = (const void *)(base + d->doorbells.offset);

		assert_true(page[i].doorbell != 0 && page[i].doorbell != TUTTI_DOORBELL_EMPTY);
	}
	for (unsigned i = 0; i < d->max_rsbs; i++) {
		uint64_t word[2];

		memcpy(word, base + d->rsb_window.offset + i * TUTTI_PAGE_SIZE, sizeof(word));
		assert_true(word[0] && word[1] && word[0] != word[1]);
	}
	tutti_card_destroy(other);
}

/* ---- the soft core's address space ---- */

/* The cause of the trap that @op takes at @address, or 0 if it takes none. The firmware runs again afterwards. */
static uint32_t trap_of(uint32_t op, uint32_t address)
{
	const uint32_t *traps = (uint32_t *)(memory + TRAPS);
	uint32_t cause = 0;

	SCRIPT_WORDS(op, address);
	if (status->state != TUTTI_STATE_RUNNING) {
		assert_int_equal(traps[2], address);
		cause = traps[0];
		boot(image_file, image_bytes);
	}
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	return cause;
}

static void test_areas(void **state)
{
	const uint32_t sms = (discovery->sms * (uint32_t)sizeof(struct tutti_sm_state) + 4095) & ~4095u; /* whole pages */
	const struct {
		uint32_t address, load, store;
	} places[] = {
		{TUTTI_CORE_LOCAL + discovery->local_bytes - 4, 0, 0},
		{TUTTI_CORE_LOCAL + discovery->local_bytes, 5, 7},
		{TUTTI_CORE_ENGINES - 4, 5, 7},
		{TUTTI_CORE_ENGINES + TUTTI_PAGE_SIZE - 4, 0, 0},
		{TUTTI_CORE_REGISTERS + 0xffc, 0, 0},
		{TUTTI_CORE_REGISTERS + 0x1000, 5, 7},
		{TUTTI_CORE_SMS - 4, 5, 7},
		{TUTTI_CORE_SMS, 0, 7},
		{TUTTI_CORE_SMS + sms - 4, 0, 7},
		{TUTTI_CORE_SMS + sms, 5, 7},
		{TUTTI_CORE_CONTROL - 4, 5, 7},
		{TUTTI_CORE_CONTROL + discovery->doorbells.offset - 4, 0, 0},
		{TUTTI_CORE_CONTROL + discovery->doorbells.offset, 5, 7},
		{TUTTI_CORE_CARD - 4, 5, 7},
		{TUTTI_CORE_CARD + (64u << 20) - 4, 0, 0},
		{TUTTI_CORE_CARD + (64u << 20), 5, 7},
	};

	for (unsigned i = 0; i < LENGTH(places); i++) {
		if (trap_of(OP_LOAD, places[i].address) != places[i].load)
			fail_msg("load from %#x", places[i].address);
		if (trap_of(OP_STORE, places[i].address) != places[i].store)
			fail_msg("store to %#x", places[i].address);
	}
	/* only local memory holds code */
	assert_int_equal(trap_of(OP_JUMP, TUTTI_CORE_ENGINES), 1);
	assert_int_equal(trap_of(OP_JUMP, TUTTI_CORE_CARD + SCRIPT), 1);
}

static void test_registers(void **state)
{
	uint32_t got[6];
	uint64_t time;

	/* the high half of the time is that of the moment when the low half was read */
	SCRIPT_WORDS(OP_TIMER, 0xfffffff0, 5);
	*(uint32_t *)(memory + EVENTS) = 0;
	settle();
	assert_non_null(event_of(TUTTI_EVENT_TIMER));
	peek(TUTTI_CORE_REGISTERS, got, 6);
	time = got[0] | (uint64_t)got[1] << 32;
	assert_in_range(time, 0x5fffffff0ull, 0x600ffffffull);
	/* all other registers read as 0 */
	for (unsigned i = 2; i < 6; i++)
		assert_int_equal(got[i], 0);
	peek(TUTTI_CORE_REGISTERS, got, 1);
	assert_true((uint32_t)(got[0] - (uint32_t)time) < 0x100000);
	peek(TUTTI_CORE_REGISTERS + 4, got, 1);
	assert_int_equal(got[0], 6);
	assert_in_range(got[0], time >> 32, (time >> 32) + 1);
}

/* SYS-13: a mark tells how many instructions were executed, the one that makes it included. */
static void test_mark(void **state)
{
	uint64_t mark[2][2];

	SCRIPT_WORDS(OP_MARK_HALT, 42);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(tutti_card_marks(card, mark, 2), 1);
	assert_int_equal(mark[0][0], 42);
	assert_int_equal(mark[0][1] + 1, tutti_card_instructions(card));
	assert_int_equal(tutti_card_marks(card, mark, 2), 0);
}

static void test_kind(void **state)
{
	struct tutti_card_function functions[2];
	uint64_t marks[2][2];

	card_open(TUTTI_CARD_DETERMINISTIC);
	assert_string_equal(tutti_card_core(card), "none");
	assert_int_equal(tutti_card_profile(card, functions, 2), 0);
	assert_int_equal(tutti_card_marks(card, marks, 2), 0);
	boot(image_file, image_bytes);
	assert_string_equal(tutti_card_core(card), "interpreted");
	tutti_card_count(card, true);
	assert_string_equal(tutti_card_core(card), "interpreted, counted by function");
	tutti_card_count(card, false);
	assert_string_equal(tutti_card_core(card), "interpreted");
	tutti_card_destroy(card);
}

/* ---- symbols of the image ---- */

/* SYS-13: symbols may have names of any length and any order; a table that lies outside of the file is ignored. */
static void test_symbols(void **state)
{
	struct tutti_image *image = malloc(image_bytes);
	struct tutti_card_function functions[4];
	struct tutti_image_symbol *symbols;

	memcpy(image, image_file, image_bytes);
	symbols = (struct tutti_image_symbol *)((uint8_t *)image + image->symbols_offset);
	symbols[1] = symbols[0];
	symbols[0].address = 0x120;
	memset(symbols[0].name, 'x', sizeof(symbols[0].name));
	image_seal(image);
	boot(image, image_bytes);
	assert_int_equal(tutti_card_profile(card, functions, 4), 2);
	assert_string_equal(functions[0].name, "start");
	assert_int_equal(functions[0].address, 0x100);
	assert_int_equal(strlen(functions[1].name), sizeof(symbols[0].name) - 1);
	assert_int_equal(functions[1].address, 0x120);
	assert_int_equal(tutti_card_profile(card, functions, 1), 2);
	for (unsigned i = 0; i < 6; i++) { /* on multiples of 4, and not behind the end of the file */
		bool good = i == 5;

		memcpy(image, image_file, image_bytes);
		image->symbols_offset += i;
		image->symbols = i ? 1 : 3;
		if (good)
			image->symbols_offset = (uint32_t)(image_bytes - sizeof(*symbols));
		image_seal(image);
		boot(image, image_bytes);
		assert_int_equal(status->state, TUTTI_STATE_RUNNING);
		assert_int_equal(tutti_card_profile(card, functions, 4), good || i == 4);
	}
	free(image);
}

/* ---- commands ---- */

/* The length of each command in words. One that is shorter or longer stops the soft core and has no effect. */
static void test_lengths(void **state)
{
	static const struct {
		uint8_t op, least, most;
	} commands[] = {
		{TUTTI_CMD_FENCE, 1, 1},	{TUTTI_CMD_FETCH, 6, 6},     {TUTTI_CMD_WRITE, 6, 6},	  {TUTTI_CMD_SCRUB, 5, 5},
		{TUTTI_CMD_SIGNAL, 4, 4},	{TUTTI_CMD_INTERRUPT, 1, 1}, {TUTTI_CMD_STATE, 25, 65},	  {TUTTI_CMD_LAUNCH, 2, 255},
		{TUTTI_CMD_KILL, 1, 1},		{TUTTI_CMD_CONTEXT, 5, 5},   {TUTTI_CMD_TLB, 5, 5},	  {TUTTI_CMD_ORDER, 3, 255},
		{TUTTI_CMD_TRACE, 3, 3},	{TUTTI_CMD_FLUSH, 3, 3},     {TUTTI_CMD_THROTTLE, 2, 255}, {TUTTI_CMD_REPLY, 4, 4},
		{TUTTI_CMD_SM_MODE, 1, 1},	{TUTTI_CMD_TASK, 5, 9},	     {TUTTI_CMD_BLOCK, 6, 20},
	};
	unsigned before = sms.states + sms.launches + sms.kills + sms.invalidates;

	for (unsigned i = 0; i < LENGTH(commands); i++)
		for (unsigned longer = 0; longer < 2; longer++) {
			uint32_t length = longer ? commands[i].most + 1u : commands[i].least - 1u, words[256] = {0};

			if (length > 255)
				continue;
			words[0] = TUTTI_COMMAND(commands[i].op, length, 0);
			interrupts = 0;
			script(OP_COMMANDS, words, length ? length : 1);
			if (status->state != TUTTI_STATE_CRASHED || crash->cause != TUTTI_CRASH_TRAP)
				fail_msg("command %u of %u words", commands[i].op, length);
			assert_int_equal(sms.states + sms.launches + sms.kills + sms.invalidates, before);
			boot(image_file, image_bytes);
			before = sms.states + sms.launches + sms.kills + sms.invalidates;
		}
	/* an unknown command, and one that ends behind the tail */
	for (unsigned i = 0; i < 2; i++) {
		COMMAND(i ? TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 0) : TUTTI_COMMAND(TUTTI_CMD_BLOCK + 1, 3, 0), 0, 0);
		assert_int_equal(status->state, TUTTI_STATE_CRASHED);
		boot(image_file, image_bytes);
	}
}

/* ---- the trace ring ---- */

static void trace_some(unsigned n)
{
	uint32_t words[900];

	while (n) {
		unsigned part = n < 300 ? n : 300;

		for (unsigned i = 0; i < part; i++)
			memcpy(&words[3 * i], (uint32_t[]){TUTTI_COMMAND(TUTTI_CMD_TRACE, 3, TUTTI_TRACE_EXPAND), 9, i}, 12);
		script(OP_COMMANDS, words, 3 * part);
		n -= part;
	}
}

static void test_trace(void **state)
{
	const struct tutti_trace *ring = (const void *)(bar + discovery->trace.offset);
	unsigned records = discovery->trace.bytes / (unsigned)sizeof(*ring);
	uint64_t first = status->trace_tail;

	trace_some(5);
	assert_int_equal(status->trace_tail, first); /* that kind is not enabled */
	control->trace_enable = 1u << TUTTI_TRACE_EXPAND;
	control->trace_head = first;
	trace_some(records - 1);
	assert_int_equal(status->trace_tail, first + records - 1);
	trace_some(1);
	assert_int_equal(status->trace_tail, first + records);
	assert_int_equal(status->trace_lost, 0);
	trace_some(2); /* the ring is full */
	assert_int_equal(status->trace_tail, first + records);
	assert_int_equal(status->trace_lost, 2);
	control->trace_head = first + 1;
	trace_some(2);
	assert_int_equal(status->trace_tail, first + records + 1);
	assert_int_equal(status->trace_lost, 3);
	assert_int_equal(ring[first % records].kind, TUTTI_TRACE_EXPAND);
	assert_int_equal(ring[first % records].queue, 9);
	assert_int_equal(ring[first % records].sm, 0xffff);
	assert_true(ring[first % records].time >= ring[(first + records - 1) % records].time);
}

static void expect_record(uint64_t number, struct tutti_trace want)
{
	const struct tutti_trace *got = (const struct tutti_trace *)(bar + discovery->trace.offset) + number;

	want.time = got->time;
	assert_memory_equal(got, &want, sizeof(want));
}

static uint64_t core_time(void)
{
	uint32_t now[2];

	peek(TUTTI_CORE_REGISTERS, now, 2);
	return now[0] | (uint64_t)now[1] << 32;
}

/* Each record has the time at which it was made. */
static void expect_times(uint64_t number, unsigned n, uint64_t begin, uint64_t end)
{
	const struct tutti_trace *got = (const struct tutti_trace *)(bar + discovery->trace.offset) + number;

	assert_true(begin > 0);
	for (; n--; got++) {
		assert_in_range(got->time, begin, end);
		begin = got->time + 1;
	}
}

/* What the records tell of the launches' way to the card and back; all that is not told of is 0. */
static void test_records(void **state)
{
	uint64_t first = status->trace_tail, newest, begin = core_time();

	control->trace_enable = 1u << TUTTI_TRACE_DOORBELL | 1u << TUTTI_TRACE_FETCH | 1u << TUTTI_TRACE_EXPAND |
				1u << TUTTI_TRACE_COMPLETE;
	control->trace_head = first;
	SCRIPT_WORDS(OP_ENABLE, 1, 1u << 3);
	*doorbell(35) = 7;
	settle();
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 0x1234), 0, BUS(0x400040), 192, LOCAL_BUFFER);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TRACE, 3, TUTTI_TRACE_EXPAND), 9 | 0xabcd0000, 17);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 5 << 16, BUS(0x400000));
	assert_int_equal(status->trace_tail, first + 4);
	expect_record(first, (struct tutti_trace){.kind = TUTTI_TRACE_DOORBELL, .queue = 35, .sm = 0xffff});
	expect_record(first + 1,
		      (struct tutti_trace){.kind = TUTTI_TRACE_FETCH, .queue = 0xffff, .sm = 0xffff, .value = 192});
	expect_record(first + 2, (struct tutti_trace){
				     .kind = TUTTI_TRACE_EXPAND, .queue = 9, .sm = 0xffff, .packet = 17, .value = 17});
	expect_record(first + 3, (struct tutti_trace){.kind = TUTTI_TRACE_COMPLETE,
						      .queue = 5,
						      .sm = 0xffff,
						      .packet = 0x400000,
						      .value = 1});
	/* The record of a signal in a context's memory holds the whole virtual address. */
	map_page(tutti_pte(0x400000ull, LEAF));
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 1 | 5 << 16, (uint32_t)VA, (uint32_t)(VA >> 32));
	expect_record(first + 4, (struct tutti_trace){.kind = TUTTI_TRACE_COMPLETE,
						      .queue = 5,
						      .sm = 0xffff,
						      .packet = VA,
						      .value = 1});
	expect_times(first, 5, begin, core_time());
	/* what was not done is not told */
	newest = status->trace_tail;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), 0, BUS(64u << 20), 192, LOCAL_BUFFER);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 5 << 16, BUS(64u << 20));
	assert_int_equal(status->trace_tail, newest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-14: settings at their limits", test_settings, NULL, NULL, NULL},
		{"SYS-14: lines at their limit", test_long_lines, NULL, NULL, NULL},
		{"SYS-14: what the discovery data say of a card", test_described, NULL, NULL, NULL},
		{"SYS-14: what the discovery data say if the topology does not", test_limits, NULL, NULL, NULL},
		{"SYS-14: topologies that no file has checked", test_unread, NULL, NULL, NULL},
		{"SYS-10: what memory holds at power-on", test_garbage, NULL, NULL, NULL},
		{"SYS-10: what the soft core reaches, to the word", test_areas, setup, teardown, NULL},
		{"SYS-12: the timer is read in two halves, other registers as 0", test_registers, setup, teardown, NULL},
		{"SYS-13: a mark counts its own instruction", test_mark, setup, teardown, NULL},
		{"SYS-13: how the firmware is executed", test_kind, NULL, NULL, NULL},
		{"SYS-13: symbols of the image", test_symbols, setup, teardown, NULL},
		{"SYS-10: commands that are too short or too long", test_lengths, setup, teardown, NULL},
		{"SYS-13, CGA-30: what trace records tell of queues", test_records, setup, teardown, NULL},
		{"SYS-13: a full trace ring drops what is new, and says how much", test_trace, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("card: limits", tests, make_image, drop_image);
}
