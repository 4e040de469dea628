/* SPDX-License-Identifier: MIT */
/*
 * The emulated card without its SMs: a test firmware (card_firmware.c) does what the tests ask for
 * through card memory, and a recorder replaces the SM array.
 */
#ifndef TUTTI_TEST_CARD_RIG_H
#define TUTTI_TEST_CARD_RIG_H

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
#include <zlib.h>

#include "emulator/card/card.h"
#include "emulator/memory/mmu.h"
#include "emulator/waves/tensor_port.h"

#define SCRIPT 0x200000u
#define EVENTS 0x210000u
#define TRAPS 0x220000u
#define COPY 0x230000u
#define TABLES 0x300000u
#define LOCAL_BUFFER 0x20000u

enum { OP_COMMANDS = 1, OP_TIMER, OP_ILLEGAL, OP_SPIN, OP_LOAD, OP_STORE, OP_BREAK, OP_ENABLE, OP_HALT, OP_PEEK, OP_POKE,
       OP_NO_HANDLER, OP_MARK, OP_JUMP, OP_BUSY, OP_MARK_HALT, OP_WFI, OP_MIE };

/* ---- recorder in place of the SM array ---- */

struct sm_array {
	unsigned states, launches, kills, resets, invalidates;
	unsigned slot, flags, state_flags, words;
	struct tutti_task_state state;
	int refuse;
	bool levels, masked; /* whether the newest STATE had CGA levels and a mask */
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	uint32_t mask[TUTTI_MAX_SMS / 32];
	unsigned mask_words;
	struct {
		unsigned op; /* TUTTI_CMD_* */
		uint64_t argument[4];
		uint32_t word[4]; /* the first words of a list */
	} command; /* the newest command other than STATE and TASK */
	bool endless; /* waves run for ever */
	bool busy; /* workers run waves */
	bool completes; /* each turn ends a CTA */
	unsigned tables, syncs; /* calls of sm_array_table() and sm_array_sync(), which write them to the state of SM 1 */
	unsigned requests, progress; /* tensor requests that wait; calls of sm_array_progress() */
	struct tutti_tensor_call request;
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
	array->state_flags = flags;
	array->state = *state;
	array->levels = level;
	if (level)
		memcpy(array->level, level, sizeof(array->level));
	array->masked = mask;
	array->mask_words = words;
	memset(array->mask, 0, sizeof(array->mask));
	memcpy(array->mask, mask ? mask : array->mask, 4 * words);
}
static void record(struct sm_array *array, unsigned op, const uint32_t *words, unsigned n, const uint64_t argument[4])
{
	array->command.op = op;
	memcpy(array->command.argument, argument, sizeof(array->command.argument));
	memset(array->command.word, 0, sizeof(array->command.word));
	memcpy(array->command.word, n ? words : array->command.word, 4 * (n < 4 ? n : 4));
}
#define RECORD(op, words, n, ...) record(array, op, words, n, (uint64_t[4]){ __VA_ARGS__ })
int sm_array_launch(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n)
{
	array->launches++;
	array->slot = slot;
	array->flags = flags;
	array->words = n;
	RECORD(TUTTI_CMD_LAUNCH, words, n, slot, flags, n);
	return array->refuse;
}
void sm_array_kill(struct sm_array *array, unsigned slot)
{
	array->kills++;
	RECORD(TUTTI_CMD_KILL, NULL, 0, slot);
}
void sm_array_order(struct sm_array *array, unsigned first, const uint32_t *words, unsigned n)
{
	RECORD(TUTTI_CMD_ORDER, words, n, first, n);
}
void sm_array_mode(struct sm_array *array, unsigned mode)
{
	RECORD(TUTTI_CMD_SM_MODE, NULL, 0, mode);
}
void sm_array_table(struct sm_array *array, struct tutti_sm_state *table)
{
	table[1].ctas = ++array->tables;
}
void sm_array_sync(struct sm_array *array, struct tutti_sm_state *table)
{
	table[1].completed = ++array->syncs;
}
void sm_array_reply(struct sm_array *array, unsigned sm, unsigned wave, uint64_t value)
{
	RECORD(TUTTI_CMD_REPLY, NULL, 0, sm, wave, value);
}
int sm_array_flush(struct sm_array *array, unsigned gpc, unsigned id, uint32_t mask)
{
	RECORD(TUTTI_CMD_FLUSH, NULL, 0, gpc, id, mask);
	return array->refuse;
}
int sm_array_flush_lmem(struct sm_array *array, unsigned slot)
{
	RECORD(TUTTI_CMD_FLUSH, NULL, 0, ~0ull, slot);
	return array->refuse;
}
int sm_array_throttle(struct sm_array *array, uint32_t blocks, const uint32_t *mask, unsigned words)
{
	RECORD(TUTTI_CMD_THROTTLE, mask, words, blocks, words);
	return array->refuse;
}
void sm_array_invalidate(struct sm_array *array, uint32_t asid, uint64_t va, uint64_t bytes)
{
	array->invalidates++;
	RECORD(TUTTI_CMD_TLB, NULL, 0, asid, va, bytes);
}
bool sm_array_run(struct sm_array *array)
{
	return array->endless;
}
bool sm_array_report(struct sm_array *array)
{
	return array->completes;
}
bool sm_array_request(struct sm_array *array, struct tutti_tensor_call *call)
{
	if (!array->requests)
		return false;
	array->requests--;
	*call = array->request;
	return true;
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
	array->progress++;
}

bool sm_array_acknowledge(struct sm_array *array)
{
	return false;
}
bool sm_array_busy(struct sm_array *array)
{
	return array->busy;
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
static uint8_t vectors[256]; /* of the newest interrupts, by number */
static uint32_t boots;

static inline void image_seal(struct tutti_image *image)
{
	image->crc = (uint32_t)crc32_z(0, (uint8_t *)image + 8, image->file_bytes - 8);
}

/* Compile the test firmware and wrap it into an image. */
static inline int make_image(void **state)
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
		 "-Wl,--no-relax,--build-id=none,-Ttext=0x100,-e,start -x c -o %s/f.elf tests/unit/emulator/card/card_firmware.c && "
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

static inline int drop_image(void **state)
{
	free(image_file);
	return 0;
}

static inline void on_interrupt(void *context, unsigned vector)
{
	vectors[interrupts++ % 256] = (uint8_t)vector;
}

static uint32_t slice, idle_traps, local_bytes; /* of the cards opened next */

static inline struct tutti_card_config config_small(enum tutti_card_mode mode)
{
	return (struct tutti_card_config){ .mode = mode, .topology = { 2 }, .gpcs = 1, .memory_bytes = 64u << 20,
					   .interrupt = on_interrupt, .slice = slice, .idle_traps = idle_traps,
					   .local_bytes = local_bytes };
}

static inline uint64_t *doorbell(unsigned queue)
{
	return &((struct tutti_doorbell_page *)(bar + discovery->doorbells.offset))[queue].doorbell;
}

static inline void card_open(enum tutti_card_mode mode)
{
	struct tutti_card_config config = config_small(mode);

	memset(&sms, 0, sizeof(sms));
	interrupts = 0;
	assert_int_equal(tutti_card_create(&config, &card), 0);
	bar = tutti_card_bar(card);
	discovery = (void *)bar;
	for (unsigned i = 0; i < discovery->max_queues; i++)
		*doorbell(i) = TUTTI_DOORBELL_EMPTY;
	memory = bar + discovery->aperture;
	control = (void *)(bar + discovery->control.offset);
	status = (void *)(bar + discovery->status.offset);
	crash = (void *)(bar + discovery->crash.offset);
}

static inline void settle(void)
{
	int i;

	for (i = 0; i < 10000 && !tutti_card_run(card, NULL, NULL); i++)
		;
	assert_true(i < 10000);
}

static inline void boot(const void *file, uint64_t bytes)
{
	memcpy(memory, file, bytes);
	control->image_offset = 0;
	control->image_bytes = bytes;
	control->host_ring_tail = 0;
	__atomic_store_n(&control->boot_sequence, ++boots, __ATOMIC_SEQ_CST);
	tutti_card_kick(card);
	settle();
}

static inline int setup(void **state)
{
	card_open(TUTTI_CARD_DETERMINISTIC);
	boot(image_file, image_bytes);
	return 0;
}

static inline int setup_fast(void **state)
{
	card_open(TUTTI_CARD_FAST);
	boot(image_file, image_bytes);
	return 0;
}

static inline int teardown(void **state)
{
	tutti_card_destroy(card);
	return 0;
}

static inline void script_begin(uint32_t op, const uint32_t *words, uint32_t n)
{
	uint32_t *script = (uint32_t *)(memory + SCRIPT);

	script[0] = op;
	script[1] = n;
	memcpy(script + 2, words, 4 * n);
	__atomic_add_fetch(&control->host_ring_tail, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&status->asleep, __ATOMIC_SEQ_CST))
		tutti_card_kick(card);
}

static inline void script(uint32_t op, const uint32_t *words, uint32_t n)
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
#define BUS(offset) (uint32_t)(offset), 0

/* Newest event of @type, or NULL. */
static inline const uint32_t *event_of(uint32_t type)
{
	const uint32_t *events = (uint32_t *)(memory + EVENTS);
	uint32_t i;

	for (i = events[0]; i--;)
		if ((events[8 + i * 8] & 0xff) == type)
			return &events[8 + i * 8];
	return NULL;
}

static inline void peek(uint32_t local, void *to, uint32_t words)
{
	SCRIPT_WORDS(OP_PEEK, local, words);
	memcpy(to, memory + COPY, 4 * words);
}

/* ---- page tables ---- */

static inline uint64_t *table(unsigned n)
{
	return (uint64_t *)(memory + TABLES + 4096 * n);
}

#define LEAF (TUTTI_PTE_V | TUTTI_PTE_R | TUTTI_PTE_W | TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D)
#define VA 0x123456789000ull

static inline void map_page(uint64_t pte)
{
	unsigned i;

	memset(table(0), 0, 4 * 4096);
	for (i = 0; i < 3; i++)
		table(i)[tutti_va_index(VA, 3 - i)] = tutti_pte((uint64_t)TABLES + 4096 * (i + 1), TUTTI_PTE_V);
	table(3)[tutti_va_index(VA, 0)] = pte;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_CONTEXT, 5, 1), TABLES, 0, 0, 0);
}

static inline uint32_t write_cause(uint64_t va)
{
	const uint32_t *event;

	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 8), 1, (uint32_t)va, (uint32_t)(va >> 32), 1, 2);
	event = event_of(TUTTI_EVENT_POST_FAULT);
	return event ? event[0] >> 8 & 0xff : 0;
}

static inline uint32_t read_cause(uint64_t va)
{
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 0), 1, (uint32_t)va, (uint32_t)(va >> 32), 4, LOCAL_BUFFER);
	return event_of(TUTTI_EVENT_FETCH)[0] >> 8 & 0xff;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_FAST(name) cmocka_unit_test_setup_teardown(name, setup_fast, teardown)

#endif
