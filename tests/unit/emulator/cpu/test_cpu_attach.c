// SPDX-License-Identifier: MIT
/* When translated code runs in place of what it was made from: entries, limits, several pieces, taking it off, the
 * stub. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "cpu_rig.h"
#include "encode.h"
#include "hash.h"
#include "translation.h"

#define A     (RIG_BASE + 0x1000) /* two places of the same code, which adds 1 to x10 four times, and then goes to x1 */
#define B     (RIG_BASE + 0x3000)
#define END   (RIG_BASE + 0x5000) /* an ecall that nobody has translated */
#define STUB  (RIG_BASE + 0x6000)
#define PIECE 20u    /* bytes of the code */
#define FIRST 0x100u /* where the translation thinks that the code begins */

/* What stands for the code: it adds 0x100 four times, so that one sees who did it. */
static uint64_t stands_for(struct cpu *cpu, uint64_t pc)
{
	unsigned done = (unsigned)(pc - cpu->bias - FIRST) / 4;

	assert_true(done == 0 || done == 2);
	cpu->regs->x[10] += 0x100 * (4 - done);
	cpu->instructions += 5 - done;
	return cpu->regs->x[1];
}

static uint64_t asks(struct cpu *cpu, uint64_t pc)
{
	cpu->instructions++;
	cpu->regs->pc = pc + 4;
	return CPU_OUT_ECALL;
}

static const struct cpu_translated_entry entries[] = {{0, 0}, {8, 0}};
static const cpu_translated_function functions[] = {stands_for};
static const uint32_t margins[] = {5};
static const struct cpu_translation code = {
    .xlen = 64,
    .first = FIRST,
    .bytes = PIECE,
    .entries = 2,
    .functions = 1,
    .entry = entries,
    .function = functions,
    .margin = margins,
};
static const struct cpu_translated_entry asking_entry[] = {{0, 0}};
static const cpu_translated_function asking_function[] = {asks};
static const uint32_t asking_margin[] = {1};
static const struct cpu_translation asking = {
    .xlen = 64,
    .first = END,
    .bytes = 4,
    .entries = 1,
    .functions = 1,
    .entry = asking_entry,
    .function = asking_function,
    .margin = asking_margin,
};

static struct rig rig;

static int setup(void **state)
{
	const uint32_t piece[] = {E_ADDI(10, 10, 1), E_ADDI(10, 10, 1), E_ADDI(10, 10, 1), E_ADDI(10, 10, 1),
				  E_JALR(0, 1, 0)};
	const uint32_t end[] = {E_ECALL};
	const uint32_t stub[] = {E_LI(17, 99), E_ECALL};

	rig_init(&rig, 64);
	rig_code(&rig, A, piece, 5);
	rig_code(&rig, B, piece, 5);
	rig_code(&rig, END, end, 1);
	rig_code(&rig, STUB, stub, 2);
	return 0;
}

static int teardown(void **state)
{
	rig_fini(&rig);
	return 0;
}

/* What a run from @pc to x1 = @back adds to x10; it must have ended by the ecall, after as many instructions as ever.
 */
static uint64_t added(uint64_t pc, uint64_t back, unsigned instructions)
{
	uint64_t before = cpu_instructions(rig.cpu);

	rig.regs.pc = pc;
	rig.regs.x[1] = back;
	rig.regs.x[10] = 0;
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(cpu_instructions(rig.cpu) - before, instructions);
	return rig.regs.x[10];
}

/* It is entered at its entries only, wherever it lies; what is between them is interpreted up to the next one. */
static void entered(void **state)
{
	static const unsigned translated[] = {0x400, 0x201, 0x200, 1, 0};

	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(added(A + 4 * i, END, 6 - i), 4 - i);
	assert_false(cpu_is_attached(rig.cpu, A));
	assert_int_equal(cpu_attach(rig.cpu, A, &code), 0);
	assert_int_equal(cpu_attach(rig.cpu, B, &code), 0);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(added(A + 4 * i, END, 6 - i), translated[i]);
		assert_int_equal(added(B + 4 * i, END, 6 - i), translated[i]);
		assert_true(cpu_is_attached(rig.cpu, A + 4 * i) && cpu_is_attached(rig.cpu, B + 4 * i));
	}
	assert_false(cpu_is_attached(rig.cpu, A - 1) || cpu_is_attached(rig.cpu, A + PIECE));
	assert_false(cpu_is_attached(rig.cpu, B - 1) || cpu_is_attached(rig.cpu, B + PIECE));
}

/* From one piece to another one, and to what ends the run itself. */
static void pieces_in_turn(void **state)
{
	const uint32_t first[] = {E_LUI(1, END), E_J(0, A - RIG_BASE - 4)};

	rig_code(&rig, RIG_BASE, first, 2);
	assert_int_equal(cpu_attach(rig.cpu, A, &code), 0);
	assert_int_equal(cpu_attach(rig.cpu, B, &code), 0);
	rig.regs.pc = RIG_BASE; /* begins without translated code */
	rig.regs.x[10] = 0;
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(rig.regs.x[10], 0x400);
	assert_int_equal(cpu_instructions(rig.cpu), 2 + 5 + 1);
	assert_int_equal(cpu_translate(rig.cpu, &asking), 0); /* which takes off what was there */
	assert_int_equal(added(A, END, 6), 4);
	assert_int_equal(rig.regs.pc, END + 4);
	assert_int_equal(cpu_attach(rig.cpu, A, &code), 0);
	assert_int_equal(added(A, END, 6), 0x400);
	assert_int_equal(rig.regs.pc, END + 4);
	assert_int_equal(added(B, END, 6), 4);
	/* a processor of another width takes none */
	{
		struct cpu_translation narrow = code;

		narrow.xlen = 32;
		assert_int_equal(cpu_attach(rig.cpu, B, &narrow), -EINVAL);
		assert_false(cpu_is_attached(rig.cpu, B));
		assert_int_equal(cpu_translate(rig.cpu, &narrow), -EINVAL);
		assert_int_equal(cpu_translate(rig.cpu, NULL), 0);
		assert_int_equal(added(A, END, 6), 4);
	}
}

/* A run ends after exactly as many instructions as were asked for: what may take more is interpreted. */
static void limits(void **state)
{
	assert_int_equal(cpu_attach(rig.cpu, A, &code), 0);
	for (unsigned n = 1; n < 8; n++) {
		uint64_t before = cpu_instructions(rig.cpu);

		rig.regs.pc = A;
		rig.regs.x[1] = END;
		rig.regs.x[10] = 0;
		assert_int_equal(cpu_run(rig.cpu, &rig.regs, n), n > 5 ? CPU_STOP_ECALL : CPU_STOP_SLICE);
		assert_int_equal(cpu_instructions(rig.cpu) - before, n > 6 ? 6 : n);
		assert_int_equal(rig.regs.x[10], n < 5 ? n : 0x400);
		assert_int_equal(rig.regs.pc, n < 5 ? A + 4 * n : n == 5 ? END : END + 4);
	}
}

/* An invalidation takes off what stands for one of its bytes, and nothing else; also only if it is one of code. */
static void taken_off(void **state)
{
	static const struct {
		uint64_t first, bytes;
		bool code, off;
	} rows[] = {
	    {A - 8, 8, true, false},	 {A - 8, 9, true, true},
	    {A + PIECE, 8, true, false}, {A + PIECE - 1, 1, true, true},
	    {A + 4, 1, true, true},	 {A + 4, 1, false, false},
	    {0, 0, true, true},		 {0, 0, false, false},
	    {A - 8, 1000, true, true},	 {~0ull - 7, 16, true, true},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(cpu_attach(rig.cpu, B, &code), 0);
		assert_int_equal(cpu_attach(rig.cpu, A, &code), 0);
		assert_int_equal(added(A, END, 6), 0x400);
		cpu_invalidate(rig.cpu, rows[i].first, rows[i].bytes, rows[i].code);
		assert_int_equal(added(A, END, 6), rows[i].off ? 4 : 0x400);
		assert_int_equal(cpu_is_attached(rig.cpu, A), !rows[i].off);
		assert_int_equal(cpu_is_attached(rig.cpu, B),
				 !(rows[i].off && (!rows[i].bytes || rows[i].first > END)));
	}
	/* two that come together: all bytes from the first to the last */
	cpu_attach(rig.cpu, A, &code);
	cpu_attach(rig.cpu, B, &code);
	cpu_invalidate(rig.cpu, A - 16, 8, true);
	cpu_invalidate(rig.cpu, B + PIECE, 8, false);
	assert_int_equal(added(A, END, 6) + added(B, END, 6), 8);
	cpu_attach(rig.cpu, A, &code);
	cpu_invalidate(rig.cpu, B, 8, true);
	cpu_invalidate(rig.cpu, A + PIECE, 8, true);
	assert_int_equal(added(A, END, 6), 0x400);
	/* another piece over a part of it takes its place */
	cpu_attach(rig.cpu, A + PIECE - 4, &code);
	assert_false(cpu_is_attached(rig.cpu, A));
	assert_true(cpu_is_attached(rig.cpu, A + PIECE - 4));
	cpu_attach(rig.cpu, A, &code);
	assert_false(cpu_is_attached(rig.cpu, A + PIECE));
	/* what the embedder has vouched for stays */
	assert_int_equal(cpu_translate(rig.cpu, &asking), 0);
	cpu_invalidate(rig.cpu, 0, 0, true);
	assert_int_equal(added(A, END, 6), 4);
	assert_true(cpu_is_attached(rig.cpu, END));
}

/* Who looks for breakpoints or counts by function sees every instruction. */
static void looked_at(void **state)
{
	static uint16_t owner[PIECE / 2];
	static const uint64_t starts[] = {A};
	struct cpu_function function = {0};

	cpu_attach(rig.cpu, A, &code);
	assert_int_equal(cpu_breakpoint(rig.cpu, END + 64, true), 0);
	assert_int_equal(added(A, END, 6), 4);
	assert_int_equal(cpu_breakpoint(rig.cpu, END + 64, false), 0);
	assert_int_equal(added(A, END, 6), 0x400);
	for (unsigned i = 0; i < PIECE / 2; i++)
		owner[i] = 1;
	cpu_count(rig.cpu, A, PIECE / 2, owner, starts, &function);
	assert_int_equal(added(A, END, 6), 4);
	assert_int_equal(function.instructions, 5);
	assert_int_equal(function.calls, 1);
	cpu_count(rig.cpu, 0, 0, NULL, NULL, NULL);
	assert_int_equal(added(A, END, 6), 0x400);
	assert_int_equal(function.instructions, 5);
}

/* The stub's two instructions are executed at once after translated code, if the run may last so long. */
static void stub(void **state)
{
	cpu_stub(rig.cpu, STUB, 77);
	assert_int_equal(added(A, STUB, 7), 4);
	assert_int_equal(rig.regs.x[17], 99); /* from interpreted code it is what lies there */
	cpu_attach(rig.cpu, A, &code);
	assert_int_equal(added(A, STUB, 7), 0x400);
	assert_int_equal(rig.regs.x[17], 77);
	assert_int_equal(rig.regs.pc, STUB + 8);
	for (unsigned n = 5; n < 8; n++) {
		uint64_t before = cpu_instructions(rig.cpu);

		rig.regs.pc = A;
		rig.regs.x[1] = STUB;
		rig.regs.x[17] = 0;
		assert_int_equal(cpu_run(rig.cpu, &rig.regs, n), n < 7 ? CPU_STOP_SLICE : CPU_STOP_ECALL);
		assert_int_equal(cpu_instructions(rig.cpu) - before, n);
		assert_int_equal(rig.regs.x[17], n < 6 ? 0 : n < 7 ? 99 : 77);
		assert_int_equal(rig.regs.pc, STUB + 4 * (n - 5));
	}
}

/* ---- accesses of translated code ---- */

#define DEVICE	(RIG_TOP + 0x1000)
#define NOWHERE (RIG_TOP + 0x10000)

static uint64_t device_value;
static bool device_stops;

static int far_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	if (va - DEVICE >= 64)
		return rig_span(user, va, access, span);
	*span = (struct cpu_span){DEVICE, 64, NULL, CPU_MAY_LOAD | CPU_MAY_STORE, false};
	return 0;
}

static int device_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	if (device_stops)
		cpu_interrupt(((struct rig *)user)->cpu);
	*value = device_value;
	return 0;
}

static int device_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	if (device_stops)
		cpu_interrupt(((struct rig *)user)->cpu);
	device_value = value;
	return 0;
}

static struct {
	bool store;
	uint64_t va, value, result, loaded;
	unsigned bytes;
} access_now;

/* In place of A: one access, as translated code makes it, by an instruction of four bytes that is number 10. */
static uint64_t accesses(struct cpu *cpu, uint64_t pc)
{
	const unsigned what = CPU_WHAT(access_now.bytes, 6, 4);

	access_now.result = access_now.store
				? cpu->help->store_far(cpu, access_now.va, A + 8, 10, what, access_now.value)
				: cpu->help->load_far(cpu, access_now.va, A + 8, 10, what);
	access_now.loaded = cpu->loaded;
	return access_now.result ? access_now.result : END;
}

static enum cpu_stop access_far(bool store, uint64_t va, unsigned bytes, uint64_t value)
{
	static const cpu_translated_function function[] = {accesses};
	static struct cpu_translation one;

	one = code;
	one.function = function;
	access_now.store = store;
	access_now.va = va;
	access_now.bytes = bytes;
	access_now.value = value;
	rig.cpu->instructions = 0;
	assert_int_equal(cpu_attach(rig.cpu, A, &one), 0);
	rig.regs.pc = A;
	return cpu_run(rig.cpu, &rig.regs, ~0ull);
}

/* Translated code goes on behind an access, unless the access fails or asks for the end of the run. */
static void far(void **state)
{
	static const struct cpu_bus bus = {far_span, device_load, device_store};
	const struct cpu_config config = {.xlen = 64, .bus = &bus, .user = &rig};

	cpu_destroy(rig.cpu);
	assert_int_equal(cpu_create(&config, &rig.cpu), 0);
	for (unsigned bytes = 1; bytes <= 8; bytes *= 2)
		for (unsigned warm = 0; warm < 2; warm++) {
			const uint64_t value = 0x8877665544332211ull & (bytes < 8 ? (1ull << 8 * bytes) - 1 : ~0ull);

			memset(rig.memory + 0x8000, 0xee, 16);
			if (!warm)
				cpu_invalidate(rig.cpu, 0, 0, false);
			assert_int_equal(access_far(true, RIG_BASE + 0x8001, bytes, 0x8877665544332211ull),
					 CPU_STOP_ECALL);
			assert_int_equal(access_now.result, 0);
			assert_memory_equal(rig.memory + 0x8001, &value, bytes);
			assert_int_equal(rig.memory[0x8000], 0xee);
			assert_int_equal(rig.memory[0x8001 + bytes], 0xee);
			assert_int_equal(access_far(false, RIG_BASE + 0x8001, bytes, 0), CPU_STOP_ECALL);
			assert_int_equal(access_now.result, 0);
			assert_true(access_now.loaded == value);
		}
	for (unsigned store = 0; store < 2; store++) {
		device_value = 0x1234;
		assert_int_equal(access_far(store, DEVICE + 8, 8, 0x5678), CPU_STOP_ECALL);
		assert_int_equal(access_now.result, 0);
		assert_int_equal(store ? device_value : access_now.loaded, store ? 0x5678 : 0x1234);
		assert_int_equal(access_far(store, NOWHERE, 8, 0), CPU_STOP_FAULT);
		assert_int_equal(access_now.result, CPU_OUT_FAULT);
		assert_int_equal(rig.regs.pc, A + 8);
		assert_int_equal(cpu_instructions(rig.cpu), 10);
		assert_int_equal(cpu_fault(rig.cpu)->address, NOWHERE);
		device_stops = true;
		assert_int_equal(access_far(store, DEVICE, 4, 7), CPU_STOP_INTERRUPT);
		device_stops = false;
		assert_int_equal(access_now.result, A + 12);
		assert_int_equal(rig.regs.pc, A + 12);
		assert_int_equal(cpu_instructions(rig.cpu), 11);
	}
}

/* What is remembered for any register can be looked up, up to the last place where eight bytes begin. */
static void remembered(void **state)
{
	const uint32_t load[] = {E_LD(5, 6, 0), E_ECALL};
	struct cpu_near near;

	rig_code(&rig, RIG_BASE, load, 2);
	assert_false(rig.cpu->help->remembered(rig.cpu, RIG_BASE + 0x8000, &near));
	rig.regs.x[6] = RIG_BASE + 0x8000;
	rig.regs.pc = RIG_BASE;
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_true(rig.cpu->help->remembered(rig.cpu, RIG_BASE + 0x8ff0, &near));
	assert_int_equal(near.first, RIG_BASE);
	assert_int_equal(near.load, RIG_BYTES - 7);
	assert_int_equal(near.store, RIG_BYTES - 7);
	assert_true(near.first + near.delta == (uintptr_t)rig.memory);
	assert_false(rig.cpu->help->remembered(rig.cpu, RIG_BASE + 0x9000, &near));
	assert_false(rig.cpu->help->remembered(rig.cpu, RIG_BASE + 0x7ff8, &near));
}

/* An image has the hash of what its translation was made from, byte for byte, where it is loaded. */
static void fits(void **state)
{
	uint8_t memory[64];
	struct cpu_translation made = {.loaded = 16, .loaded_bytes = 32};

	for (unsigned i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i * 31 + 7);
	for (made.hash = 0; made.hash < 2; made.hash++)
		assert_false(cpu_translation_fits(&made, memory, sizeof(memory)));
	assert_true(cpu_hash((const uint8_t *)"a", 1) == 0xaf63dc4c8601ec8cull); /* as FNV-1a is defined */
	assert_true(cpu_hash((const uint8_t *)"foobar", 6) == 0x85944171f73967e8ull);
	made.hash = cpu_hash(memory + 16, 32);
	assert_true(cpu_translation_fits(&made, memory, sizeof(memory)));
	assert_true(cpu_translation_fits(&made, memory, 48));
	assert_false(cpu_translation_fits(&made, memory, 47));
	assert_false(cpu_translation_fits(&made, memory, 15));
	for (unsigned i = 0; i < sizeof(memory); i++) {
		memory[i] ^= 1;
		assert_int_equal(cpu_translation_fits(&made, memory, sizeof(memory)), i < 16 || i >= 48);
		memory[i] ^= 1;
	}
	made.loaded = ~0ull - 8;
	assert_false(cpu_translation_fits(&made, memory, sizeof(memory)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-51: entries of translated code", entered, setup, teardown, NULL},
	    {"SYS-51: pieces of translated code in turn", pieces_in_turn, setup, teardown, NULL},
	    {"SYS-51: runs of exactly so many instructions", limits, setup, teardown, NULL},
	    {"SYS-51: translated code that is taken off", taken_off, setup, teardown, NULL},
	    {"SYS-51, SYS-54: breakpoints and counts see all instructions", looked_at, setup, teardown, NULL},
	    {"SYS-51: the stub behind translated code", stub, setup, teardown, NULL},
	    {"SYS-51: accesses of translated code", far, setup, teardown, NULL},
	    {"SYS-51: memory that is remembered", remembered, setup, teardown, NULL},
	    {"SYS-51: which image a translation fits", fits, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("cpu: translated code", tests, NULL, NULL);
}
