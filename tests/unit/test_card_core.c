// SPDX-License-Identifier: MIT
/*
 * The emulated card without its SMs: boot, soft core, engines, MMU, timers,
 * sleep, injection. A test firmware (card_firmware.c) does what the tests ask it
 * through card memory; the SM array is replaced by a recorder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "card.h"
#include "internal.h"

#define SCRIPT 0x200000u
#define EVENTS 0x210000u
#define TRAPS 0x220000u
#define COPY 0x230000u
#define TABLES 0x300000u
#define LOCAL_BUFFER 0x20000u

enum { OP_COMMANDS = 1, OP_TIMER, OP_ILLEGAL, OP_SPIN, OP_LOAD, OP_STORE, OP_BREAK, OP_ENABLE, OP_HALT, OP_PEEK, OP_POKE,
       OP_NO_HANDLER, OP_MARK, OP_JUMP };

/* ---- recorder in place of the SM array ---- */

struct sm_array {
	unsigned states, launches, kills, resets, invalidates;
	unsigned slot, flags, words;
	struct tutti_task_state state;
	int refuse;
};
static struct sm_array sms;

int sm_array_create(struct tutti_card *card, struct sm_array **array)
{
	*array = &sms;
	return 0;
}
void sm_array_destroy(struct sm_array *array)
{
}
void sm_array_reset(struct sm_array *array)
{
	array->resets++;
}
void sm_array_state(struct sm_array *array, unsigned slot, unsigned flags, const struct tutti_task_state *state,
		    const struct tutti_cga_shape *level, const uint32_t *mask, unsigned words)
{
	array->states++;
	array->slot = slot;
	array->state = *state;
}
int sm_array_launch(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n)
{
	array->launches++;
	array->slot = slot;
	array->flags = flags;
	array->words = n;
	return array->refuse;
}
void sm_array_kill(struct sm_array *array, unsigned slot)
{
	array->kills++;
}
void sm_array_order(struct sm_array *array, unsigned first, const uint32_t *words, unsigned n)
{
}
void sm_array_mode(struct sm_array *array, unsigned mode)
{
}
void sm_array_table(struct sm_array *array, struct tutti_sm_state *table)
{
}
void sm_array_reply(struct sm_array *array, unsigned sm, unsigned wave, uint64_t value)
{
}
int sm_array_flush(struct sm_array *array, unsigned gpc, unsigned id, uint32_t mask)
{
	return array->refuse;
}
int sm_array_flush_lmem(struct sm_array *array, unsigned slot)
{
	return array->refuse;
}
int sm_array_throttle(struct sm_array *array, uint32_t blocks, const uint32_t *mask, unsigned words)
{
	return array->refuse;
}
void sm_array_invalidate(struct sm_array *array, uint32_t asid, uint64_t va, uint64_t bytes, bool code)
{
	array->invalidates++;
}
bool sm_array_run(struct sm_array *array)
{
	return false;
}
bool sm_array_report(struct sm_array *array)
{
	return false;
}
bool sm_array_request(struct sm_array *array, struct tutti_tensor_call *call)
{
	return false;
}

uint8_t sm_array_shared(struct sm_array *array, uint32_t cta, uint32_t rank, struct sm_shared *shared)
{
	return TUTTI_CAUSE_SERVICE;
}

bool sm_array_call_dropped(struct sm_array *array, uint32_t cta)
{
	return true;
}

void sm_array_call_failed(struct sm_array *array, uint32_t cta)
{
}

void sm_array_call_done(struct sm_array *array, uint32_t cta)
{
}

void sm_array_progress(struct sm_array *array)
{
}

bool sm_array_busy(struct sm_array *array)
{
	return false;
}

/* ---- the card under test ---- */

static uint8_t *image_file;
static size_t image_bytes;
static struct tutti_card *card;
static uint8_t *bar, *memory;
static const struct tutti_discovery *discovery;
static struct tutti_control *control;
static struct tutti_status *status;
static struct tutti_crash *crash;
static unsigned interrupts;
static uint32_t boots;

static uint32_t crc32(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0u;
	int k;

	for (; n--; p++)
		for (crc ^= *p, k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	return ~crc;
}

static void image_seal(struct tutti_image *image)
{
	image->crc = crc32((uint8_t *)image + 8, image->file_bytes - 8);
}

/* Compile the test firmware and wrap it into an image. */
static int make_image(void **state)
{
	char dir[] = "/tmp/tutti-card-XXXXXX", command[1024];
	struct tutti_image image = { .magic = TUTTI_IMAGE_MAGIC, .header_bytes = sizeof(image),
				     .firmware_version = TUTTI_VERSION(0, 7), .contract_min = TUTTI_VERSION(1, 0),
				     .contract_max = TUTTI_CONTRACT_VERSION, .segments = 1, .entry = 0x100 };
	struct tutti_image_symbol symbols[2] = { { 0x100, 0x20, "start" }, { 0x120, 0x1000, "rest" } };
	uint8_t code[65536];
	size_t n;
	FILE *f;

	if (!mkdtemp(dir))
		return -1;
	snprintf(command, sizeof(command),
		 "riscv64-unknown-elf-gcc -march=rv32imc_zicsr -mabi=ilp32 -Os -ffreestanding -nostdlib -Iinclude "
		 "-Wl,--no-relax,--build-id=none,-Ttext=0x100,-e,start -x c -o %s/f.elf tests/unit/card_firmware.c && "
		 "riscv64-unknown-elf-objcopy -O binary %s/f.elf %s/f.bin", dir, dir, dir);
	if (system(command))
		return -1;
	snprintf(command, sizeof(command), "%s/f.bin", dir);
	f = fopen(command, "rb");
	if (!f)
		return -1;
	n = (fread(code, 1, sizeof(code), f) + 3) & ~3ul;
	fclose(f);
	snprintf(command, sizeof(command), "riscv64-unknown-elf-nm %s/f.elf | awk '$3==\"start\"{print $1}'", dir);
	f = popen(command, "r");
	if (!f || fscanf(f, "%x", &image.entry) != 1)
		return -1;
	pclose(f);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	if (system(command))
		return -1;
	image.symbols_offset = (uint32_t)(sizeof(image) + n);
	image.symbols = 2;
	image.file_bytes = (uint32_t)(image.symbols_offset + sizeof(symbols));
	image.segment[0] = (struct tutti_image_segment){ 0x100, 0x10000, sizeof(image), (uint32_t)n };
	image_bytes = image.file_bytes;
	image_file = calloc(1, image_bytes);
	memcpy(image_file, &image, sizeof(image));
	memcpy(image_file + sizeof(image), code, n);
	memcpy(image_file + image.symbols_offset, symbols, sizeof(symbols));
	image_seal((struct tutti_image *)image_file);
	return 0;
}

static int drop_image(void **state)
{
	free(image_file);
	return 0;
}

static void on_interrupt(void *context, unsigned vector)
{
	interrupts++;
}

static struct tutti_card_config config_small(enum tutti_card_mode mode)
{
	return (struct tutti_card_config){ .mode = mode, .topology = { 2 }, .gpcs = 1, .memory_bytes = 64u << 20,
					   .interrupt = on_interrupt };
}

static void card_open(enum tutti_card_mode mode)
{
	struct tutti_card_config config = config_small(mode);

	memset(&sms, 0, sizeof(sms));
	interrupts = 0;
	assert_int_equal(tutti_card_create(&config, &card), 0);
	bar = tutti_card_bar(card);
	discovery = (void *)bar;
	memory = bar + discovery->aperture;
	control = (void *)(bar + discovery->control.offset);
	status = (void *)(bar + discovery->status.offset);
	crash = (void *)(bar + discovery->crash.offset);
}

static void settle(void)
{
	int i;

	for (i = 0; i < 10000 && !tutti_card_run(card, NULL, NULL); i++)
		;
	assert_true(i < 10000);
}

static void boot(const void *file, uint64_t bytes)
{
	memcpy(memory, file, bytes);
	control->image_offset = 0;
	control->image_bytes = bytes;
	control->host_ring_tail = 0;
	__atomic_store_n(&control->boot_sequence, ++boots, __ATOMIC_SEQ_CST);
	tutti_card_kick(card);
	settle();
}

static int setup(void **state)
{
	card_open(TUTTI_CARD_DETERMINISTIC);
	boot(image_file, image_bytes);
	return 0;
}

static int setup_fast(void **state)
{
	card_open(TUTTI_CARD_FAST);
	boot(image_file, image_bytes);
	return 0;
}

static int teardown(void **state)
{
	tutti_card_destroy(card);
	return 0;
}

static void script_begin(uint32_t op, const uint32_t *words, uint32_t n)
{
	uint32_t *script = (uint32_t *)(memory + SCRIPT);

	script[0] = op;
	script[1] = n;
	memcpy(script + 2, words, 4 * n);
	__atomic_add_fetch(&control->host_ring_tail, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&status->asleep, __ATOMIC_SEQ_CST))
		tutti_card_kick(card);
}

static void script(uint32_t op, const uint32_t *words, uint32_t n)
{
	*(uint32_t *)(memory + EVENTS) = 0;
	script_begin(op, words, n);
	settle();
}

#define SCRIPT_WORDS(op, ...)                                 \
	do {                                                  \
		const uint32_t words_[] = { __VA_ARGS__ };    \
		script(op, words_, sizeof(words_) / 4);       \
	} while (0)
#define COMMAND(...) SCRIPT_WORDS(OP_COMMANDS, __VA_ARGS__)

/* Newest event of @type, or NULL. */
static const uint32_t *event_of(uint32_t type)
{
	const uint32_t *events = (uint32_t *)(memory + EVENTS);
	uint32_t i;

	for (i = events[0]; i--;)
		if ((events[8 + i * 8] & 0xff) == type)
			return &events[8 + i * 8];
	return NULL;
}

static void peek(uint32_t local, void *to, uint32_t words)
{
	SCRIPT_WORDS(OP_PEEK, local, words);
	memcpy(to, memory + COPY, 4 * words);
}

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

static uint64_t *doorbell(unsigned queue)
{
	return &((struct tutti_doorbell_page *)(bar + discovery->doorbells.offset))[queue].doorbell;
}

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

/* ---- memory commands ---- */

#define BUS(offset) (uint32_t)(offset), 0

static void test_fetch(void **state)
{
	uint32_t got[16], i;
	static uint8_t host[8192] __attribute__((aligned(4096)));
	const uint32_t *event;
	uint64_t bus = (uint64_t)host | TUTTI_BUS_HOST;

	for (i = 0; i < 1024; i++)
		((uint32_t *)(memory + 0x400000))[i] = i * 3;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 0x1234), 0, BUS(0x400040), 64, LOCAL_BUFFER);
	event = event_of(TUTTI_EVENT_FETCH);
	assert_int_equal(event[0], TUTTI_EVENT_FETCH | 0x1234u << 16);
	peek(LOCAL_BUFFER, got, 16);
	assert_memory_equal(got, memory + 0x400040, 64);

	/* host memory: only when registered */
	memset(host, 0x5a, sizeof(host));
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), TUTTI_FETCH_PACKETS << 16, (uint32_t)bus, (uint32_t)(bus >> 32),
		64, LOCAL_BUFFER);
	event = event_of(TUTTI_EVENT_FETCH);
	assert_int_equal(event[0], TUTTI_EVENT_FETCH | TUTTI_CAUSE_BUS << 8 | 1 << 16);
	assert_int_equal(event[1] | (uint64_t)event[2] << 32, bus);
	assert_int_equal(tutti_card_host_add(card, host, sizeof(host)), 0);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), TUTTI_FETCH_PACKETS << 16, (uint32_t)(bus + 4096 - 64),
		(uint32_t)(bus >> 32), 128, LOCAL_BUFFER);
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | 1 << 16);
	peek(LOCAL_BUFFER + 64, got, 16);
	assert_memory_equal(got, host, 64);
	tutti_card_host_remove(card, host);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), 0, (uint32_t)bus, (uint32_t)(bus >> 32), 64, LOCAL_BUFFER);
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | TUTTI_CAUSE_BUS << 8 | 1 << 16);
}

static void test_fetch_bad(void **state)
{
	static const uint32_t bad[][2] = { { 0, LOCAL_BUFFER }, { 3, LOCAL_BUFFER }, { 4100, LOCAL_BUFFER },
					   { 0xfffffffc, LOCAL_BUFFER }, { 64, 0x3fff0 }, { 64, 2 },
					   { 64, 0x80000000 }, { 64, 0xfffffff0 } };
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 0, BUS(0), bad[i][0], bad[i][1]);
		assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0],
				 TUTTI_EVENT_FETCH | TUTTI_CAUSE_ALIGNMENT << 8 | 9 << 16);
	}
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 0, 0xffffffff, 0xffffffff, 4, LOCAL_BUFFER);
	assert_int_not_equal(event_of(TUTTI_EVENT_FETCH)[0] & 0xff00, 0);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 300, BUS(0), 4, LOCAL_BUFFER); /* no such context */
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | TUTTI_CAUSE_UNMAPPED << 8 | 9 << 16);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 0, BUS(64u << 20), 4, LOCAL_BUFFER);
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | TUTTI_CAUSE_BUS << 8 | 9 << 16);
}

static void test_post(void **state)
{
	struct tutti_signal *signal = (void *)(memory + 0x400000);
	const uint32_t *event;
	unsigned i;

	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 8), 0, BUS(0x401000), 0x89abcdef, 0x01234567);
	assert_true(*(uint64_t *)(memory + 0x401000) == 0x0123456789abcdefull);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 4), 0, BUS(0x401004), 5, 6);
	assert_true(*(uint64_t *)(memory + 0x401000) == 0x0000000589abcdefull);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 8), 7 << 16, BUS(0x401004), 5, 6);
	event = event_of(TUTTI_EVENT_POST_FAULT);
	assert_int_equal(event[0], TUTTI_EVENT_POST_FAULT | TUTTI_CAUSE_ALIGNMENT << 8 | 7 << 16);
	assert_int_equal(event[1], 0x401004);

	memset(signal, 0, sizeof(*signal));
	signal->value = 5;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 0, BUS(0x400000));
	assert_int_equal(signal->value, 4);
	assert_int_equal(signal->end_time, 0);
	assert_int_equal(interrupts, 0);
	signal->waiters = 1;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3 | TUTTI_SIGNAL_TIMES), 0, BUS(0x400000));
	assert_int_equal(signal->value, 3);
	assert_true(signal->end_time);
	assert_int_equal(interrupts, 1);
	signal->flags = TUTTI_SIGNAL_SPLIT;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 0, BUS(0x400000));
	assert_int_equal(signal->value, 3);
	assert_int_equal(signal->card_done, 1);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 8 << 16, BUS(0x400020));
	assert_int_equal(event_of(TUTTI_EVENT_POST_FAULT)[0],
			 TUTTI_EVENT_POST_FAULT | TUTTI_CAUSE_ALIGNMENT << 8 | 8 << 16);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 31));
	assert_int_equal(interrupts, 3);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 0xffff));
	assert_int_equal(interrupts, 3);

	for (i = 0; i < 128; i++)
		memset(memory + 0x402000 + 64 * i, 0x77, 64);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, 1), 0, BUS(0x402fc0), 2);
	assert_int_equal(*(uint16_t *)(memory + 0x402fc0), 1);
	assert_int_equal(*(uint16_t *)(memory + 0x402fca), 0);
	assert_int_equal(*(uint16_t *)(memory + 0x403000), 1);
	assert_int_equal(*(uint16_t *)(memory + 0x403040), 0x7777);
	assert_int_equal(*(uint16_t *)(memory + 0x402f80), 0x7777);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, 0), 0, BUS((64u << 20) - 64), 0xffffffff);
	assert_non_null(event_of(TUTTI_EVENT_POST_FAULT));
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, 0), 0, BUS((64u << 20) - 64), 2);
	assert_int_equal(event_of(TUTTI_EVENT_POST_FAULT)[1], 64u << 20);
}

static void test_commands_bad(void **state)
{
	static const uint32_t bad[] = { 200 | 1 << 8, TUTTI_CMD_FETCH, TUTTI_CMD_FETCH | 5 << 8, TUTTI_CMD_STATE | 3 << 8,
					TUTTI_CMD_WRITE | 255u << 8, 0 };
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		COMMAND(bad[i], 0, 0, 0, 0);
		assert_int_equal(status->state, TUTTI_STATE_CRASHED);
		assert_int_equal(crash->cause, TUTTI_CRASH_TRAP);
		boot(image_file, image_bytes);
	}
	/* ring words of the engine page: base, words, tail */
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES, 0x3fff0, 1024, 5);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES, 0x1000, 1000, 5);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 16, 0xfffffff0, 0x80000000);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 32, 0xfffffff0, 0x80000000, 77, 0);
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

static void test_launch(void **state)
{
	uint32_t words[25 + 2] = { TUTTI_COMMAND(TUTTI_CMD_STATE, 25, 9 << 8 | 2) };
	struct tutti_task_state task = { .entry = 0x1234, .waves = 3 };

	memcpy(words + 1, &task, sizeof(task));
	words[25] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, 9);
	words[26] = 1 | 1u << 24;
	script(OP_COMMANDS, (uint32_t[]){ 0 }, 0);
	{
		uint32_t all[28];

		memcpy(all, words, sizeof(words));
		all[27] = 1;
		script(OP_COMMANDS, all, 28);
	}
	assert_int_equal(sms.states, 1);
	assert_int_equal(sms.state.entry, 0x1234);
	assert_int_equal(sms.launches, 1);
	assert_int_equal(sms.slot, 9);
	assert_int_equal(sms.words, 2);
	assert_int_equal(event_of(TUTTI_EVENT_STATE)[0], TUTTI_EVENT_STATE | 9 << 8);
	sms.refuse = -22;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, 9), 1, 1);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, TUTTI_CRASH_TRAP);
}

/* More commands with events than the event ring has slots. */
static void test_full_ring(void **state)
{
	uint32_t words[160 * 6], i;

	for (i = 0; i < 160; i++)
		memcpy(&words[6 * i],
		       (uint32_t[]){ TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, i), 0, BUS(0), 4, LOCAL_BUFFER }, 24);
	script(OP_COMMANDS, words, 960);
	assert_int_equal(*(uint32_t *)(memory + EVENTS), 161);
	assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | 159 << 16);
}

/* ---- movers ---- */

static void move(const struct tutti_mover *d, const struct tutti_mover_shape *shape)
{
	uint32_t words[33] = { LOCAL_BUFFER + 0x1000 }, tail;

	memcpy(words + 1, d, sizeof(*d));
	memcpy(words + 17, shape, sizeof(*shape));
	words[1 + offsetof(struct tutti_mover, shape) / 4] = LOCAL_BUFFER + 0x1040;
	script(OP_POKE, words, 33);
	script(OP_POKE, (uint32_t[]){ TUTTI_CORE_ENGINES + 32, LOCAL_BUFFER + 0x1000, 1 }, 3);
	peek(TUTTI_CORE_ENGINES + 44, &tail, 1);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 60, tail + 1);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 40, tail + 1);
}

static void test_mover(void **state)
{
	struct tutti_mover d = { .op = TUTTI_MOVE_FILL, .tag = 0x77, .flags = TUTTI_MOVER_EVENT | TUTTI_MOVER_LINEAR,
				 .global = 0x500004, .bytes = 10000 };
	struct tutti_mover_shape shape = { .fill = 0x1234567812345678 };
	const uint32_t *words = (uint32_t *)(memory + 0x500000);
	unsigned i;

	move(&d, &shape);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER_ROOM)[0], TUTTI_EVENT_MOVER_ROOM);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER)[0], TUTTI_EVENT_MOVER | 0x77 << 16);
	assert_int_equal(words[0], 0);
	assert_int_equal(words[1], 0x12345678);
	assert_int_equal(words[2500], 0x12345678);
	assert_int_equal(words[2501], 0);
	/* 3 x 4 rows of 8 bytes, gathered */
	for (i = 0; i < 65536; i++)
		memory[0x600000 + i] = (uint8_t)(i ^ i >> 8);
	d = (struct tutti_mover){ .op = TUTTI_MOVE_COPY, .flags = TUTTI_MOVER_EVENT, .global = 0x600ffc,
				  .other = 0x700001 };
	shape = (struct tutti_mover_shape){ .unit = 1, .count = { 8, 3, 4, 1 }, .stride = { 1, 100, 5000 } };
	move(&d, &shape);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER)[0], TUTTI_EVENT_MOVER);
	for (i = 0; i < 96; i++)
		assert_int_equal(memory[0x700001 + i],
				 memory[0x600ffc + i % 8 + 100 * (i / 8 % 3) + 5000 * (i / 24)]);
	assert_int_equal(memory[0x700001 + 96], 0);
	/* units with a stride */
	d.global = 0x600000;
	d.other = 0x701000;
	shape = (struct tutti_mover_shape){ .unit = 2, .count = { 10, 1, 1, 1 }, .stride = { 6 } };
	move(&d, &shape);
	for (i = 0; i < 10; i++)
		assert_memory_equal(memory + 0x701000 + 2 * i, memory + 0x600000 + 6 * i, 2);
	d.flags |= TUTTI_MOVER_LINEAR;
	d.bytes = ~0u; /* runs out of card memory */
	move(&d, &shape);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER)[0], TUTTI_EVENT_MOVER | TUTTI_CAUSE_BUS << 8);
	d.op = TUTTI_MOVE_LOAD;
	move(&d, &shape);
	assert_int_equal(event_of(TUTTI_EVENT_MOVER)[0], TUTTI_EVENT_MOVER | TUTTI_CAUSE_SERVICE << 8);
	SCRIPT_WORDS(OP_POKE, TUTTI_CORE_ENGINES + 40, 0x7777);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
}

/* ---- MMU ---- */

static uint64_t *table(unsigned n)
{
	return (uint64_t *)(memory + TABLES + 4096 * n);
}

#define LEAF (TUTTI_PTE_V | TUTTI_PTE_R | TUTTI_PTE_W | TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D)
#define VA 0x123456789000ull

static void map_page(uint64_t pte)
{
	unsigned i;

	memset(table(0), 0, 4 * 4096);
	for (i = 0; i < 3; i++)
		table(i)[tutti_va_index(VA, 3 - i)] = tutti_pte((uint64_t)TABLES + 4096 * (i + 1), TUTTI_PTE_V);
	table(3)[tutti_va_index(VA, 0)] = pte;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_CONTEXT, 5, 1), TABLES, 0, 0, 0);
}

static uint32_t write_cause(uint64_t va)
{
	const uint32_t *event;

	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 8), 1, (uint32_t)va, (uint32_t)(va >> 32), 1, 2);
	event = event_of(TUTTI_EVENT_POST_FAULT);
	return event ? event[0] >> 8 & 0xff : 0;
}

static uint32_t read_cause(uint64_t va)
{
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 0), 1, (uint32_t)va, (uint32_t)(va >> 32), 4, LOCAL_BUFFER);
	return event_of(TUTTI_EVENT_FETCH)[0] >> 8 & 0xff;
}

static void test_mmu(void **state)
{
	map_page(tutti_pte(0x500000ull, LEAF));
	assert_int_equal(write_cause(VA + 8), 0);
	assert_int_equal(*(uint32_t *)(memory + 0x500008), 1);
	assert_int_equal(write_cause(VA + 4096), TUTTI_CAUSE_UNMAPPED);
	assert_int_equal(write_cause(VA | 1ull << 47), TUTTI_CAUSE_UNMAPPED);
	map_page(tutti_pte(0x500000ull, LEAF & ~(TUTTI_PTE_W | TUTTI_PTE_D)));
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION);
	assert_int_equal(read_cause(VA), 0);
	map_page(tutti_pte(0x500000ull, LEAF & ~TUTTI_PTE_R)); /* W without R */
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(0x500000ull, LEAF & ~TUTTI_PTE_U));
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(0x500000ull, LEAF & ~TUTTI_PTE_A));
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(0x500000ull, LEAF & ~TUTTI_PTE_D));
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(0x500000ull, LEAF) | 1ull << 63);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(64ull << 20, LEAF)); /* behind card memory */
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_BUS);
	map_page(tutti_pte(TUTTI_BUS_HOST | 0x1000, LEAF)); /* host memory nobody registered */
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_BUS);
	map_page(tutti_pte(0x500000ull, TUTTI_PTE_V)); /* not a leaf, and no level left */
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
}

static void test_mmu_tables(void **state)
{
	map_page(tutti_pte(0x500000ull, LEAF));
	table(1)[tutti_va_index(VA, 2)] = tutti_pte(64ull << 20, TUTTI_PTE_V); /* table outside card memory */
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 1), 0, 0, 0, 0);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_BUS);
	table(1)[tutti_va_index(VA, 2)] = tutti_pte(TUTTI_BUS_HOST | (TUTTI_BUS_HOST - 4096), TUTTI_PTE_V);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_BUS);
	table(1)[tutti_va_index(VA, 2)] = tutti_pte((uint64_t)TABLES + 4096, TUTTI_PTE_V); /* a loop */
	assert_int_not_equal(read_cause(VA), 0);
	map_page(0);
	table(2)[tutti_va_index(VA, 1)] = tutti_pte(0x600000ull, LEAF); /* 2 MiB */
	assert_int_equal(write_cause(VA), 0);
	assert_int_equal(*(uint32_t *)(memory + 0x600000 + (VA & 0x1fffff)), 1);
	table(2)[tutti_va_index(VA, 1)] = tutti_pte(0x601000ull, LEAF);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 1), 0, 0, 0, 0);
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION); /* misaligned */
	map_page(0);
	table(0)[tutti_va_index(VA, 3)] = tutti_pte(0ull, LEAF); /* 512 GiB leaf */
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_CONTEXT, 5, 1), 0, 0, 0, 0);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_UNMAPPED);
}

static void test_mmu_extent(void **state)
{
	struct mmu_fault fault;
	uint64_t extent;
	unsigned i;

	map_page(0);
	for (i = 0; i < 8; i++)
		table(3)[i] = tutti_pte(0x500000ull + 4096 * i, LEAF);
	table(3)[5] &= ~TUTTI_PTE_W & ~TUTTI_PTE_D;
	assert_ptr_equal(mmu_translate(card, 1, (VA & ~0x1fffffull) + 100, TUTTI_ACCESS_READ, &extent, &fault),
			 memory + 0x500000 + 100);
	assert_int_equal(extent, 5 * 4096 - 100);
	assert_ptr_equal(mmu_translate(card, 1, (VA & ~0x1fffffull) + 5 * 4096, TUTTI_ACCESS_READ, &extent, &fault),
			 memory + 0x505000);
	assert_int_equal(extent, 4096); /* pages with more rights are not part of it: code is not reached as data */
	assert_ptr_equal(mmu_translate(card, 1, (VA & ~0x1fffffull) + 6 * 4096, TUTTI_ACCESS_READ, &extent, &fault),
			 memory + 0x506000);
	assert_int_equal(extent, 2 * 4096);
	table(3)[7] = tutti_pte(0x400000ull, LEAF);
	mmu_translate(card, 1, (VA & ~0x1fffffull) + 6 * 4096, TUTTI_ACCESS_READ, &extent, &fault);
	assert_int_equal(extent, 4096);
	mmu_translate(card, 0, 0x500000, TUTTI_ACCESS_READ, &extent, &fault);
	assert_int_equal(extent, (64u << 20) - 0x500000);
}

/* ---- determinism, counts ---- */

static uint64_t work(void)
{
	uint64_t n;

	boot(image_file, image_bytes);
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	*doorbell(0) = 1;
	SCRIPT_WORDS(OP_TIMER, 0, 1);
	settle();
	settle();
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 9), 0, BUS(0), 64, LOCAL_BUFFER);
	n = tutti_card_instructions(card);
	return n * 1000003 + ((uint64_t *)(bar + discovery->counters.offset))[TUTTI_COUNTER_CORE_WAKES];
}

static void test_deterministic(void **state)
{
	uint64_t first = work();

	assert_int_equal(work(), first);
	tutti_card_destroy(card);
	card_open(TUTTI_CARD_DETERMINISTIC);
	assert_int_equal(work(), first);
}

static void test_marks(void **state)
{
	struct tutti_card_function functions[4];
	uint64_t marks[4][2], sum;

	SCRIPT_WORDS(OP_MARK, 0);
	assert_int_equal(tutti_card_marks(card, marks, 4), 2);
	assert_int_equal(marks[0][0], 1);
	assert_int_equal(marks[1][0], 2);
	/* 5 nops, and what the compiler needs for the second store: li and sw at least */
	assert_in_range(marks[1][1] - marks[0][1], 6, 9);
	assert_int_equal(tutti_card_profile(card, functions, 4), 2);
	assert_string_equal(functions[0].name, "start");
	sum = functions[0].instructions + functions[1].instructions;
	assert_int_equal(sum, tutti_card_instructions(card));
}

/* ---- injection ---- */

static void test_inject(void **state)
{
	const uint32_t *event;
	uint64_t before;
	int i;

	assert_int_equal(tutti_card_inject_string(card, "no-such-fault"), -22);
	assert_int_equal(tutti_card_inject_string(card, "lost-doorbell:x"), -22);
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	assert_int_equal(tutti_card_inject_string(card, "lost-doorbell:2,lost-interrupt"), 0);
	*(uint32_t *)(memory + EVENTS) = 0;
	for (i = 0; i < 3; i++) {
		assert_null(event_of(TUTTI_EVENT_DOORBELL));
		*doorbell(0) = 1;
		settle();
	}
	assert_non_null(event_of(TUTTI_EVENT_DOORBELL));
	interrupts = 0;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 1));
	assert_int_equal(interrupts, 0);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 1));
	assert_int_equal(interrupts, 1);

	map_page(tutti_pte(0x500000ull, LEAF));
	assert_int_equal(read_cause(VA), 0);
	tutti_card_inject(card, TUTTI_INJECT_PAGE_FAULT, 1);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_UNMAPPED);
	assert_int_equal(read_cause(VA), 0);
	tutti_card_inject(card, TUTTI_INJECT_MEMORY_ERROR, 1);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_ECC);
	assert_int_equal(read_cause(VA), 0);

	memset(memory + 0x400000, 0x11, 64);
	tutti_card_inject(card, TUTTI_INJECT_TORN_FETCH, 1);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 1), TUTTI_FETCH_PACKETS << 16, BUS(0x400000), 64, LOCAL_BUFFER);
	event = event_of(TUTTI_EVENT_FETCH);
	assert_int_equal(event[0], TUTTI_EVENT_FETCH | 1 << 16);
	{
		uint32_t got[16];

		peek(LOCAL_BUFFER, got, 16);
		assert_int_equal(got[0], 0x11110000 | TUTTI_PACKET_INVALID);
		assert_int_equal(got[1], 0x11111111);
		assert_int_equal(got[15], 0);
	}
	before = status->heartbeat;
	assert_int_equal(status->heartbeat, before);
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_CRASH, 0);
	SCRIPT_WORDS(OP_PEEK, 0, 0);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	boot(image_file, image_bytes);
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 1);
	script_begin(OP_PEEK, (uint32_t[]){ 0, 0 }, 2);
	for (i = 0; i < 3000 && status->state == TUTTI_STATE_RUNNING; i++)
		tutti_card_run(card, NULL, NULL);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 0);
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 1);
	*(uint32_t *)(memory + EVENTS) = 0;
	*doorbell(0) = 1;
	settle();
	assert_null(event_of(TUTTI_EVENT_DOORBELL));
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 0);
	settle();
	assert_non_null(event_of(TUTTI_EVENT_DOORBELL));
	tutti_card_inject(card, TUTTI_INJECT_REMOVED, 1);
	assert_true(discovery->magic == ~0ull);
	boot(image_file, 0);
	tutti_card_reset(card);
}

static uint64_t random_state = 12345;

static uint32_t random_word(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33) << (random_state >> 29 & 7);
}

/* Values around which things break, or anything. */
static uint32_t random_value(void)
{
	static const uint32_t odd[] = { 0, 1, 0xffffffff, 0x80000000, TABLES, TABLES + 4096, 0x00800000, 0x3fffc,
					LOCAL_BUFFER, 0x10000000, 64, 4096, 0x1234 };

	return random_word() & 1 ? odd[random_word() % (sizeof(odd) / 4)] : random_word();
}

/* Whatever is in the rings, the engine page and the page tables: the emulator lives and boots again. */
static void test_fuzz(void **state)
{
	uint32_t words[64], i, k, n, op;

	for (i = 0; i < 3000; i++) {
		if (status->state != TUTTI_STATE_RUNNING)
			boot(image_file, image_bytes);
		for (k = 0; k < 64; k++)
			words[k] = random_value();
		for (k = 0; k < 16; k++)
			table(0)[random_word() % 2048] = random_value() | (uint64_t)random_value() << 32;
		if (i % 50 == 49) { /* not the event ring's words: the test firmware would wait for ever */
			words[0] = TUTTI_CORE_ENGINES + (random_word() & 1 ? 0 : 32 + random_word() % 12 * 4);
			script(OP_POKE, words, 2 + random_word() % 3);
			continue;
		}
		op = random_word() % 18;
		n = op == TUTTI_CMD_STATE ? 25 + random_word() % 3 : 1 + random_word() % 6;
		words[0] = op | n << 8 | random_word() << 16;
		words[1] &= random_word() & 1 ? 3 : ~0u;
		script(OP_COMMANDS, words, random_word() % 8 ? n : 1 + random_word() % 60);
	}
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

/* An endless loop in deterministic mode ends by the watchdog. */
static void test_spin(void **state)
{
	int i;

	script_begin(OP_SPIN, (uint32_t[]){ 0 }, 1);
	for (i = 0; i < 3000 && status->state == TUTTI_STATE_RUNNING; i++)
		tutti_card_run(card, NULL, NULL);
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
}

/* ---- fast mode ---- */

static void wait_ms(int ms)
{
	struct timespec t = { 0, ms * 1000000l };

	nanosleep(&t, NULL);
}

static bool until(bool (*condition)(void))
{
	int i;

	for (i = 0; i < 3000 && !condition(); i++)
		wait_ms(1);
	return condition();
}

static bool is_asleep(void)
{
	return __atomic_load_n(&status->asleep, __ATOMIC_SEQ_CST);
}

static bool has_doorbell(void)
{
	return *(volatile uint32_t *)(memory + EVENTS) && event_of(TUTTI_EVENT_DOORBELL);
}

static void test_sleep(void **state)
{
	uint32_t *events = (uint32_t *)(memory + EVENTS);
	int i;

	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	for (i = 0; i < 50; i++) {
		assert_true(until(is_asleep));
		*(volatile uint32_t *)events = 0;
		__atomic_store_n(doorbell(0), 1, __ATOMIC_SEQ_CST);
		if (is_asleep())
			tutti_card_kick(card);
		assert_true(until(has_doorbell));
	}
	/* with no inline driver at all */
	for (i = 0; i < 2000; i++) {
		*(volatile uint32_t *)events = 0;
		__atomic_store_n(doorbell(0), 1, __ATOMIC_SEQ_CST);
		if (is_asleep())
			tutti_card_kick(card);
		while (*(volatile uint32_t *)events == 0)
			;
	}
}

static bool has_timer(void)
{
	return *(volatile uint32_t *)(memory + EVENTS) && event_of(TUTTI_EVENT_TIMER);
}

static void test_timer_fast(void **state)
{
	SCRIPT_WORDS(OP_TIMER, 0, 0); /* in the past */
	assert_true(until(has_timer));
	assert_true(until(is_asleep));
	SCRIPT_WORDS(OP_TIMER, 200000000, 0);
	assert_true(until(has_timer));
}

static void test_spin_fast(void **state)
{
	int i;

	script_begin(OP_SPIN, (uint32_t[]){ 0 }, 1);
	for (i = 0; i < 60000 && status->state == TUTTI_STATE_RUNNING; i++) {
		tutti_card_run(card, NULL, NULL);
		wait_ms(1);
	}
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	script_begin(OP_SPIN, (uint32_t[]){ 0 }, 1);
	wait_ms(5);
	/* destroyed while the firmware runs for ever */
}

static void test_count_fast(void **state)
{
	uint64_t n;

	SCRIPT_WORDS(OP_PEEK, 0, 1);
	assert_int_equal(tutti_card_instructions(card), 0);
	tutti_card_count(card, true);
	SCRIPT_WORDS(OP_PEEK, 0, 100);
	n = tutti_card_instructions(card);
	assert_in_range(n, 300, 3000);
	tutti_card_count(card, false);
	SCRIPT_WORDS(OP_PEEK, 0, 100);
	assert_int_equal(tutti_card_instructions(card), n);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_FAST(name) cmocka_unit_test_setup_teardown(name, setup_fast, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config), cmocka_unit_test(test_discovery),
		{"CGA-04, SYS-14: topologies with swept parts", test_topology, NULL, NULL, NULL},
		TEST(test_boot), TEST(test_bad_images), TEST(test_traps), TEST(test_doorbell), TEST(test_timer),
		TEST(test_fetch), TEST(test_fetch_bad), TEST(test_post), TEST(test_commands_bad), TEST(test_launch),
		TEST(test_full_ring), TEST(test_mover), TEST(test_mmu), TEST(test_mmu_tables), TEST(test_mmu_extent),
		TEST(test_deterministic), TEST(test_marks), TEST(test_inject), TEST(test_spin), TEST(test_fuzz),
		TEST_FAST(test_boot), TEST_FAST(test_sleep), TEST_FAST(test_timer_fast), TEST_FAST(test_count_fast), TEST_FAST(test_spin_fast),
	};

	return cmocka_run_group_tests(tests, make_image, drop_image);
}
