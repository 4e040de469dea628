// SPDX-License-Identifier: MIT
/*
 * Random RV64IMAFDC streams by our processor and by QEMU's user emulation: a program is made that loads all registers,
 * runs a stream, keeps what has become of the registers, and goes on with the next one; both run the same file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#define RIG_BYTES (8ull << 20)
#include "cpu_rig.h"
#include "stream.h"

#define CASES   1500
#define WORDS   65u                       /* x1 to x31, f0 to f31, fcsr, room */
#define INPUTS  (RIG_BASE + (4ull << 20)) /* per case WORDS doublewords */
#define RESULTS (RIG_BASE + (5ull << 20))
#define DATA    (RIG_BASE + (7ull << 20))
#define SPILL   (-2040)

static struct rig rig;
static uint8_t *image;
static uint64_t at; /* where the next instruction goes */
static uint64_t stream_at[CASES + 1];

static void put(uint32_t insn)
{
	unsigned bytes = (insn & 3) == 3 ? 4 : 2;

	memcpy(image + (at - RIG_BASE), &insn, bytes);
	at += bytes;
}

static void put_address(unsigned rd, uint64_t address)
{
	uint32_t low = (uint32_t)address & 0xfff;

	put(E_LUI(rd, (uint32_t)address + (low & 0x800) * 2));
	put(E_ADDI(rd, rd, low));
}

static uint64_t *word_of(uint64_t area, unsigned i, unsigned n)
{
	return (uint64_t *)(image + (area - RIG_BASE) + (i * WORDS + n) * 8ull);
}

static void make_inputs(struct stream *s, unsigned i)
{
	for (unsigned n = 0; n < 31; n++)
		*word_of(INPUTS, i, n) = stream_value(s);
	*word_of(INPUTS, i, 2 - 1) = DATA;
	*word_of(INPUTS, i, 8 - 1) = DATA + stream_below(s, 16);
	*word_of(INPUTS, i, 9 - 1) = DATA;
	for (unsigned n = 0; n < 32; n++)
		*word_of(INPUTS, i, 31 + n) = stream_below(s, 20) ? stream_float_value(s) : stream_random(s);
	*word_of(INPUTS, i, 63) = stream_below(s, 5) << 5 | (stream_random(s) & (stream_below(s, 2) ? 1 : 31));
	if (stream_below(s, 2))
		*word_of(INPUTS, i, 63) &= 0x1f; /* to nearest */
}

static void put_case(struct stream *s, unsigned i)
{
	stream_at[i] = at;
	put_address(31, INPUTS + i * WORDS * 8ull);
	put(E_LD(30, 31, 63 * 8));
	put(E_CSRRW(0, 3, 30));
	for (unsigned n = 0; n < 32; n++)
		put(E_FLD(n, 31, (31 + n) * 8));
	for (unsigned n = 1; n < 32; n++)
		put(E_LD(n, 31, (n - 1) * 8));
	stream_make(s, 1 + stream_below(s, 40));
	memcpy(image + (at - RIG_BASE), s->half, s->n * 2u);
	at += s->n * 2u;
	put(E_SD(31, 2, SPILL));
	put_address(31, RESULTS + i * WORDS * 8ull);
	for (unsigned n = 1; n < 31; n++)
		put(E_SD(n, 31, (n - 1) * 8));
	for (unsigned n = 0; n < 32; n++)
		put(E_FSD(n, 31, (31 + n) * 8));
	put(E_LD(30, 2, SPILL));
	put(E_SD(30, 31, 30 * 8));
	put(E_CSRRS(30, 3, 0));
	put(E_SD(30, 31, 63 * 8));
}

/* write(1, RESULTS, ...); exit(0) */
static void put_end(void)
{
	stream_at[CASES] = at;
	put(E_LI(10, 1));
	put_address(11, RESULTS);
	put_address(12, RIG_TOP - RESULTS);
	put(E_LI(17, 64));
	put(E_ECALL);
	put(E_LI(10, 0));
	put(E_LI(17, 93));
	put(E_ECALL);
}

static void make_program(struct stream *s)
{
	at = RIG_BASE;
	for (unsigned n = 0; n < 4096; n += 8)
		*(uint64_t *)(image + (DATA - 2048 - RIG_BASE) + n) = stream_float_value(s);
	for (unsigned i = 0; i < CASES; i++) {
		make_inputs(s, i);
		put_case(s, i);
	}
	assert_true(at < INPUTS - 64);
	put_end();
}

static void write_elf(const char *path)
{
	const uint64_t offset = 0x1000;
	uint8_t head[0x1000] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	const uint16_t h16[] = { 2, 243 };
	const uint32_t one = 1, flags = 5, rights = 7;
	const uint64_t entry = RIG_BASE, headers = 64, bytes = RIG_BYTES, align = 4096;
	const uint16_t sizes[] = { 64, 56, 1 };
	FILE *file = fopen(path, "wb");

	memcpy(head + 16, h16, 4);
	memcpy(head + 20, &one, 4);
	memcpy(head + 24, &entry, 8);
	memcpy(head + 32, &headers, 8);
	memcpy(head + 48, &flags, 4);
	memcpy(head + 52, sizes, 6);
	memcpy(head + 64, &one, 4);
	memcpy(head + 68, &rights, 4);
	memcpy(head + 72, &offset, 8);
	memcpy(head + 80, &entry, 8);
	memcpy(head + 88, &entry, 8);
	memcpy(head + 96, &bytes, 8);
	memcpy(head + 104, &bytes, 8);
	memcpy(head + 112, &align, 8);
	assert_non_null(file);
	assert_int_equal(fwrite(head, 1, sizeof(head), file), sizeof(head));
	assert_int_equal(fwrite(image, 1, RIG_BYTES, file), RIG_BYTES);
	assert_int_equal(fclose(file), 0);
}

static void run_qemu(const char *path, uint8_t *results, size_t bytes)
{
	char command[256];
	FILE *pipe;

	snprintf(command, sizeof(command), "chmod +x %s && exec qemu-riscv64 %s", path, path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fread(results, 1, bytes, pipe), bytes);
	assert_int_equal(pclose(pipe), 0);
}

static void compare_case(unsigned i, const uint8_t *results)
{
	for (unsigned n = 0; n < 64; n++) {
		uint64_t theirs, ours = *word_of(RESULTS, i, n);

		memcpy(&theirs, results + (i * WORDS + n) * 8ull, 8);
		if (ours != theirs)
			fail_msg("case %u at %llx: %s%u is %llx, should be %llx", i, (unsigned long long)stream_at[i],
				 n < 31 ? "x" : n < 63 ? "f" : "fcsr", n < 31 ? n + 1 : n - 31, (unsigned long long)ours,
				 (unsigned long long)theirs);
	}
}

static void compare_program(uint64_t seed)
{
	struct stream s = { .seed = seed, .xlen = 64, .floats = true, .atomics = true };
	size_t bytes = RIG_TOP - RESULTS;
	uint8_t *results = malloc(bytes);
	char path[64];

	snprintf(path, sizeof(path), "/tmp/test_cpu_qemu.%d", (int)getpid());
	rig_init(&rig, 64);
	image = rig.memory;
	make_program(&s);
	write_elf(path);
	run_qemu(path, results, bytes);
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(rig.regs.x[17], 64);
	for (unsigned i = 0; i < CASES; i++)
		compare_case(i, results);
	assert_memory_equal(results, image + (RESULTS - RIG_BASE), bytes);
	unlink(path);
	free(results);
	rig_fini(&rig);
}

static void random_programs(void **state)
{
	for (uint64_t seed = 1; seed <= (getenv("CPU_SEEDS") ? strtoull(getenv("CPU_SEEDS"), NULL, 0) : 3); seed++)
		compare_program(seed * 0x9e3779b97f4a7c15ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "SYS-51: random RV64IMAFDC, registers, memory and flags as QEMU", random_programs, NULL, NULL, NULL },
	};

	if (system("command -v qemu-riscv64 >/dev/null")) {
		puts("1..0 # SKIP no qemu-riscv64, which the package qemu-user has");
		return 0;
	}
	return cmocka_run_group_tests_name("cpu against QEMU", tests, NULL, NULL);
}
