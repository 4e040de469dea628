// SPDX-License-Identifier: MIT
/*
 * Code that ends amid a page, or goes on in other memory on the next one: what is executed, and which byte is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cpu_rig.h"
#include "encode.h"

#define FIRST  0x40001000ull /* pieces of code; the second one begins where the first one ends */
#define REASON 5
#define C_ADDI 0x0505u /* c.addi a0, 1 */
#define ROOM   0x1000u /* bytes of each piece of memory */

static uint8_t memory[2][ROOM];
static uint64_t bytes[2];
static uint8_t second_rights;

static int span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	uint64_t at = va - FIRST;

	if (at < bytes[0])
		*span = (struct cpu_span){FIRST, bytes[0], memory[0], CPU_MAY_FETCH, false};
	else if (at - bytes[0] < bytes[1])
		*span = (struct cpu_span){FIRST + bytes[0], bytes[1], memory[1], second_rights, false};
	else
		return REASON;
	return 0;
}

/* Put halfword @n of the code where it lies. */
static void put(unsigned n, uint16_t half)
{
	uint64_t at = 2 * n;

	if (at < bytes[0])
		memcpy(memory[0] + at, &half, 2);
	else if (at - bytes[0] < ROOM)
		memcpy(memory[1] + (at - bytes[0]), &half, 2);
}

/* @longs instructions of four bytes, each of which adds 16 to x10, behind @shorts of two bytes, which add 1. */
static void fill(unsigned shorts, unsigned longs)
{
	const uint32_t add = E_ADDI(10, 10, 16);

	for (unsigned i = 0; i < shorts; i++)
		put(i, C_ADDI);
	for (unsigned i = 0; i < longs; i++) {
		put(shorts + 2 * i, (uint16_t)add);
		put(shorts + 2 * i + 1, (uint16_t)(add >> 16));
	}
}

static void refused(unsigned xlen, unsigned shorts, unsigned longs, enum cpu_fault_kind kind)
{
	static const struct cpu_bus bus = {span, NULL, NULL};
	const struct cpu_config config = {.xlen = xlen, .bus = &bus};
	uint64_t end = bytes[0] + (second_rights & CPU_MAY_FETCH ? bytes[1] : 0), whole = (end - 2 * shorts) / 4;
	struct cpu_regs regs = {0};
	struct cpu *cpu;

	if (whole > longs)
		whole = longs;
	assert_int_equal(cpu_create(&config, &cpu), 0);
	for (unsigned again = 0; again < 3; again++) {
		uint64_t before = cpu_instructions(cpu);

		regs.pc = FIRST;
		regs.x[10] = 0;
		assert_int_equal(cpu_run(cpu, &regs, ~0ull), CPU_STOP_FAULT);
		assert_int_equal(regs.x[10], shorts + 16 * whole);
		assert_int_equal(cpu_instructions(cpu) - before, shorts + whole);
		assert_int_equal(regs.pc, FIRST + 2 * shorts + 4 * whole);
		assert_int_equal(cpu_fault(cpu)->kind, kind);
		assert_int_equal(cpu_fault(cpu)->access, CPU_FETCH);
		assert_int_equal(cpu_fault(cpu)->pc, regs.pc);
		assert_int_equal(cpu_fault(cpu)->address, FIRST + end); /* the first byte that is not there */
		assert_int_equal(cpu_fault(cpu)->reason, kind == CPU_FAULT_MEMORY ? REASON : 0);
		if (again == 1)
			cpu_invalidate(cpu, 0, 0, true);
	}
	cpu_destroy(cpu);
}

/* Ends on and amid an instruction, in a page and on its end, for both widths; once decoded it is the same. */
static void ends(void **state)
{
	second_rights = CPU_MAY_FETCH;
	bytes[1] = 0;
	for (unsigned xlen = 32; xlen <= 64; xlen += 32)
		for (unsigned shorts = 1; shorts < 4; shorts++)
			for (bytes[0] = 8; bytes[0] <= ROOM; bytes[0] += bytes[0] == 0x20 ? 0xfd0 : 2) {
				memset(memory, 0, sizeof(memory));
				fill(shorts, 1030);
				refused(xlen, shorts, 1030, CPU_FAULT_MEMORY);
			}
}

/* It goes on in other memory on the next page, which may begin amid an instruction. */
static void pieces(void **state)
{
	second_rights = CPU_MAY_FETCH;
	bytes[0] = ROOM;
	for (unsigned xlen = 32; xlen <= 64; xlen += 32)
		for (unsigned shorts = 2040; shorts < 2046; shorts++)
			for (bytes[1] = 2; bytes[1] < 12; bytes[1] += 2) {
				memset(memory, 0, sizeof(memory));
				fill(shorts, 20);
				refused(xlen, shorts, 20, CPU_FAULT_MEMORY);
			}
}

/* What may not be executed is refused by its rights, also if only the second half of an instruction lies there. */
static void rights(void **state)
{
	second_rights = CPU_MAY_LOAD | CPU_MAY_STORE;
	bytes[0] = ROOM;
	bytes[1] = 0x40;
	for (unsigned xlen = 32; xlen <= 64; xlen += 32)
		for (unsigned shorts = 2040; shorts < 2046; shorts++) {
			memset(memory, 0, sizeof(memory));
			fill(shorts, 20);
			refused(xlen, shorts, 20, CPU_FAULT_RIGHTS);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-51, SYS-52: code that ends", ends, NULL, NULL, NULL},
	    {"SYS-51: code in several pieces of memory", pieces, NULL, NULL, NULL},
	    {"SYS-52: code behind which data begin", rights, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("cpu: ends of code", tests, NULL, NULL);
}
