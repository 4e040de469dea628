// SPDX-License-Identifier: MIT
/* Configuration, discovery, boot and bad images; traps, doorbells and timers of the soft core. */
#include "card_rig.h"

/* ---- configuration ---- */

static int read_text(struct tutti_card_config *config, const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int error = tutti_card_config_read(config, f);

	fclose(f);
	return error;
}

static void test_config(void **state)
{
	static const char *const bad[] = { "gpc\n", "gpc 0\n", "gpc 1025\n", "gpc 18*0\n", "gpc 1*65\n", "gpc 32*33\n",
					   "gpc 1*64 1\n", "gpc 1 1*64\n", "gpc 2*40 2*25\n",
					   "gpc 6+\n", "gpc 6++5\n", "gpc +6\n", "gpc 6+0\n", "gpc 300+1\n", "gpc 6+x*2\n",
					   "gpc 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1\n", "ugpu\n", "ugpu 0\n",
					   "ugpu 65\n", "memory\n", "memory 1X\n", "memory -1\n", "colour 3\n", "peus 4 4\n" };
	struct tutti_card_config config = { 0 };
	struct tutti_card *big;
	unsigned i;

	assert_int_equal(read_text(&config, "# x\ngpc 18 16 # two\n\ngpc 1*3\npeus 2\nmemory 256M\n"), 0);
	assert_int_equal(config.gpcs, 5);
	assert_int_equal(config.topology[1], 16);
	assert_int_equal(config.topology[4], 1);
	assert_int_equal(config.peus, 2);
	assert_int_equal(config.memory_bytes, 256u << 20);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_text(&config, bad[i]), -22);
	/* the smallest and the largest card */
	for (i = 0; i < 2; i++) {
		memset(&config, 0, sizeof(config));
		config.mode = TUTTI_CARD_DETERMINISTIC;
		assert_int_equal(read_text(&config, i ? "gpc 32*32\nmemory 4G\n" : "gpc 1\nmemory 64M\n"), 0);
		assert_int_equal(tutti_card_create(&config, &big), 0);
		assert_int_equal(((struct tutti_discovery *)tutti_card_bar(big))->sms, i ? 1024 : 1);
		tutti_card_destroy(big);
	}
	config.peus = 100;
	assert_int_equal(tutti_card_create(&config, &big), -22);
	assert_int_equal(tutti_card_bar_bytes(&config), 0);
}

/* Numbers are not cut to 32 bits, units may be small letters, and each reading begins anew. */
static void test_config_numbers(void **state)
{
	static const char *const bad[] = { "peus 0x100000002\n", "peus 4G\n", "memory 64MB\n", "memory M\n",
					   "gpc 0x100000001\n", "gpc 1*0x100000001\n", "ugpu 0x100000001\n",
					   "gpc 0x101+1\n" };
	struct tutti_card_config config = { 0 };
	FILE *folder = fopen("/", "r");

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_text(&config, bad[i]), -22);
	assert_int_equal(read_text(&config, "gpc 3 4 5\nugpu 1 2\nmemory 64m\npeus 0x2\n"), 0);
	assert_int_equal(config.gpcs, 3);
	assert_int_equal(config.ugpus, 2);
	assert_int_equal(config.memory_bytes, 64u << 20);
	assert_int_equal(config.peus, 2);
	assert_int_equal(read_text(&config, "gpc 7\nmemory 70k\nbarriers 4294967295\n"), 0);
	assert_int_equal(config.gpcs, 1);
	assert_int_equal(config.ugpus, 0);
	assert_int_equal(config.topology[0], 7);
	assert_int_equal(config.memory_bytes, 70u << 10);
	assert_int_equal(config.barriers, 4294967295);
	assert_int_equal(read_text(&config, "memory 3g\n"), 0);
	assert_true(config.memory_bytes == 3ull << 30);
	/* what cannot be read is no configuration */
	assert_int_equal(tutti_card_config_read(&config, folder), -5);
	fclose(folder);
}

/* Places of SMs, CPC by CPC; a TPC is in one CPC. */
static void test_topology(void **state)
{
	static const struct tutti_sm_place want[] = {
		{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}, {0, 1, 2, 0}, {0, 1, 2, 1}, {0, 2, 3, 0}, /* 3 + 2 + 1 */
		{1, 0, 0, 0}, {1, 0, 0, 1}, {1, 0, 1, 0}, {1, 0, 1, 1}, {1, 0, 2, 0}, {1, 0, 2, 1}, {1, 1, 3, 0}, /* 7 */
		{2, 0, 0, 0}, {2, 1, 1, 0}, {3, 0, 0, 0}, {3, 1, 1, 0}, /* 1 + 1, twice */
	};
	static const char *const wrong[] = { "gpc 4 4\nugpu 1\n", "gpc 4 4\nugpu 1 2\n", "gpc 4\nugpu 1 1\n" };
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC };
	const struct tutti_discovery *d;
	struct tutti_card *odd;

	assert_int_equal(read_text(&config, "gpc 3+2+1 7\ngpc 1+1*2\nugpu 1 2\nugpu 1\nmemory 64M\n"), 0);
	assert_int_equal(tutti_card_create(&config, &odd), 0);
	d = tutti_card_bar(odd);
	assert_int_equal(d->sms, 17);
	assert_int_equal(d->gpc[0].cpcs | d->gpc[1].cpcs << 4 | d->gpc[2].cpcs << 8 | d->gpc[3].cpcs << 12, 0x2223);
	assert_int_equal(d->gpc[0].ugpu | d->gpc[1].ugpu << 4 | d->gpc[2].ugpu << 8 | d->gpc[3].ugpu << 12, 0x2110);
	assert_memory_equal((const uint8_t *)d + d->sm_table.offset, want, sizeof(want));
	tutti_card_destroy(odd);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		memset(&config, 0, sizeof(config));
		assert_int_equal(read_text(&config, wrong[i]), 0);
		assert_int_equal(tutti_card_create(&config, &odd), -22);
	}
	memset(&config, 0, sizeof(config));
	assert_int_equal(read_text(&config, "gpc 3+2+1\n"), 0);
	config.topology[0] = 5;
	assert_int_equal(tutti_card_create(&config, &odd), -22);
}

/* ---- boot ---- */

static void test_discovery(void **state)
{
	const struct tutti_sm_place *table;

	card_open(TUTTI_CARD_DETERMINISTIC);
	assert_int_equal(discovery->magic, TUTTI_DISCOVERY_MAGIC);
	assert_int_equal(discovery->sms, 2);
	assert_int_equal(discovery->bytes, sizeof(*discovery));
	assert_true(discovery->doorbells.offset + discovery->doorbells.bytes <= discovery->window_bytes);
	assert_true(discovery->window_bytes <= discovery->aperture);
	table = (void *)(bar + discovery->sm_table.offset);
	assert_int_equal(table[1].sm, 1);
	assert_int_equal(status->state, TUTTI_STATE_OFF);
	tutti_card_destroy(card);
}

static void test_boot(void **state)
{
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	assert_int_equal(status->boot_sequence, boots);
	assert_int_equal(status->firmware_version, TUTTI_VERSION(0, 7));
	assert_int_equal(status->contract_min, TUTTI_VERSION(1, 0));
	assert_int_equal(status->contract_max, TUTTI_CONTRACT_VERSION);
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	assert_int_equal(status->boot_sequence, boots);
}

/* Boot a copy of the image with one defect. */
#define BOOT_BAD(code, seal, change)                                                   \
	do {                                                                           \
		struct tutti_image *image = malloc(image_bytes);                       \
		uint64_t bytes = image_bytes;                                          \
		memcpy(image, image_file, image_bytes);                                \
		change;                                                                \
		if (seal)                                                              \
			image_seal(image);                                             \
		boot(image, bytes);                                                    \
		free(image);                                                           \
		assert_int_equal(status->state, TUTTI_STATE_FAILED);                   \
		assert_int_equal(status->boot_error, code);                            \
		assert_int_equal(status->boot_sequence, boots);                        \
	} while (0)

static void test_bad_images(void **state)
{
	BOOT_BAD(TUTTI_IMAGE_BAD_MAGIC, true, image->magic++);
	BOOT_BAD(TUTTI_IMAGE_BAD_SIZE, true, image->header_bytes = 64);
	BOOT_BAD(TUTTI_IMAGE_BAD_SIZE, false, image->file_bytes++);
	BOOT_BAD(TUTTI_IMAGE_BAD_SIZE, false, bytes = 100);
	BOOT_BAD(TUTTI_IMAGE_BAD_CRC, false, image->entry++);
	BOOT_BAD(TUTTI_IMAGE_BAD_VERSION, true, image->contract_min = TUTTI_VERSION(2, 0));
	BOOT_BAD(TUTTI_IMAGE_BAD_VERSION, true, image->contract_max = TUTTI_VERSION(0, 9));
	BOOT_BAD(TUTTI_IMAGE_BAD_SEGMENT, true, image->segments = 0);
	BOOT_BAD(TUTTI_IMAGE_BAD_SEGMENT, true, image->segments = 9);
	BOOT_BAD(TUTTI_IMAGE_BAD_SEGMENT, true, image->segment[0].file_offset = 0xfffffff0u);
	BOOT_BAD(TUTTI_IMAGE_BAD_SEGMENT, true, image->segment[0].memory_bytes = 0xffffff00u);
	BOOT_BAD(TUTTI_IMAGE_BAD_SEGMENT, true, image->segment[0].memory_bytes = 4);
	BOOT_BAD(TUTTI_IMAGE_BAD_SEGMENT, true, image->segment[0].address = 0x40000);
	BOOT_BAD(TUTTI_IMAGE_BAD_SEGMENT, true, image->segment[0].address = 0x102);
	BOOT_BAD(TUTTI_IMAGE_BAD_SEGMENT, true, image->segment[1] = image->segment[0]; image->segments = 2);
	memcpy(memory, image_file, image_bytes);
	control->image_bytes = image_bytes;
	control->image_offset = discovery->memory_bytes - 64;
	control->boot_sequence = ++boots;
	settle();
	assert_int_equal(status->boot_error, TUTTI_IMAGE_BAD_PLACE);
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

static void boot_at(uint64_t offset, uint64_t bytes)
{
	control->image_offset = offset;
	control->image_bytes = bytes;
	control->host_ring_tail = 0;
	control->boot_sequence = ++boots;
	settle();
	assert_int_equal(status->boot_sequence, boots);
}

/* An image may lie anywhere in card memory, but wholly. */
static void test_image_places(void **state)
{
	const uint64_t end = discovery->memory_bytes, last = end - image_bytes;
	const uint64_t good[] = {1, 64, 0x1234567, last - 1, last}, bad[] = {last + 1, end - 1, end, end + 1, ~0ull};

	for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
		memset(memory, 0, image_bytes);
		memcpy(memory + good[i], image_file, image_bytes);
		boot_at(good[i], image_bytes);
		assert_int_equal(status->state, TUTTI_STATE_RUNNING);
		boot_at(bad[i], image_bytes);
		assert_int_equal(status->state, TUTTI_STATE_FAILED);
		assert_int_equal(status->boot_error, TUTTI_IMAGE_BAD_PLACE);
	}
}

/* An image has 4 MiB at most, and a whole header at least. */
static void test_image_sizes(void **state)
{
	const uint32_t most = 4u << 20;
	struct tutti_image *image = calloc(1, most + 4);

	for (uint32_t more = 0; more <= 4; more += 4) {
		memcpy(image, image_file, image_bytes);
		image->file_bytes = most + more;
		image_seal(image);
		boot(image, most + more);
		assert_int_equal(status->state, more ? TUTTI_STATE_FAILED : TUTTI_STATE_RUNNING);
		assert_int_equal(status->boot_error, more ? TUTTI_IMAGE_BAD_SIZE : 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		boot(image_file, (uint64_t[]){0, 1, sizeof(*image) - 1}[i]);
		assert_int_equal(status->boot_error, TUTTI_IMAGE_BAD_SIZE);
	}
	free(image);
}

/* ---- traps ---- */

static void expect_trap(uint32_t cause, uint32_t tval)
{
	const uint32_t *traps = (uint32_t *)(memory + TRAPS);

	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(traps[0], cause);
	assert_int_equal(traps[2], tval);
	assert_int_equal(crash->cause, TUTTI_CRASH_PANIC); /* its handler halts without a record */
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

static void test_traps(void **state)
{
	uint32_t *traps = (uint32_t *)(memory + TRAPS);

	SCRIPT_WORDS(OP_ILLEGAL, 0);
	expect_trap(2, 0xffffffff);
	SCRIPT_WORDS(OP_LOAD, 0x30000000);
	expect_trap(5, 0x30000000);
	SCRIPT_WORDS(OP_STORE, 0x70000000);
	expect_trap(7, 0x70000000);
	SCRIPT_WORDS(OP_BREAK, 0);
	assert_int_equal(traps[0], 3);
	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_JUMP, 0x00050000);
	expect_trap(1, 0x00050000);
	traps[3] = 1; /* trap inside the handler */
	SCRIPT_WORDS(OP_ILLEGAL, 0);
	traps[3] = 0;
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, TUTTI_CRASH_TRAP);
	assert_int_equal(crash->cause_code, 2);
	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_NO_HANDLER, 0);
	assert_int_equal(crash->cause, TUTTI_CRASH_TRAP);
	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_HALT, 0);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_true(interrupts > 0);
}

/* ---- events ---- */

static void test_doorbell(void **state)
{
	const uint32_t *event;

	*doorbell(35) = 7;
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	assert_null(event_of(TUTTI_EVENT_DOORBELL)); /* queue 35 is not enabled */
	assert_int_equal(*doorbell(35), 7);
	SCRIPT_WORDS(OP_ENABLE, 1, 0x80000008);
	event = event_of(TUTTI_EVENT_DOORBELL);
	assert_non_null(event);
	assert_int_equal(event[0], TUTTI_EVENT_DOORBELL | 1 << 8);
	assert_int_equal(event[1], 8);
	assert_true(*doorbell(35) == TUTTI_DOORBELL_EMPTY);
	*(uint32_t *)(memory + EVENTS) = 0;
	*doorbell(35) = 7; /* the same value again is seen again */
	*doorbell(63) = 0;
	settle();
	assert_int_equal(event_of(TUTTI_EVENT_DOORBELL)[1], 0x80000008);
}

static void test_timer(void **state)
{
	uint32_t *events = (uint32_t *)(memory + EVENTS);

	SCRIPT_WORDS(OP_TIMER, 0xffffffff, 5);
	assert_null(event_of(TUTTI_EVENT_TIMER));
	events[0] = 0;
	settle(); /* idle: the clock jumps */
	assert_non_null(event_of(TUTTI_EVENT_TIMER));
	events[0] = 0;
	settle();
	settle();
	assert_null(event_of(TUTTI_EVENT_TIMER));
	SCRIPT_WORDS(OP_TIMER, 0, 0); /* in the past */
	assert_non_null(event_of(TUTTI_EVENT_TIMER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config), cmocka_unit_test(test_config_numbers), cmocka_unit_test(test_discovery),
		{"CGA-04, SYS-14: topologies with swept parts", test_topology, NULL, NULL, NULL},
		TEST(test_boot), TEST(test_bad_images), TEST(test_image_places), TEST(test_image_sizes),
		TEST(test_traps), TEST(test_doorbell), TEST(test_timer),
		TEST_FAST(test_boot),
	};

	return cmocka_run_group_tests(tests, make_image, drop_image);
}
