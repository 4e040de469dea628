// SPDX-License-Identifier: MIT
/* Loads and stores where one span of memory ends and another one begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cpu_rig.h"
#include "encode.h"

#define PIECES	    16u
#define PIECE	    16u
#define PIECES_BASE 0x700000ull

static uint8_t pieces[PIECES][PIECE];

/* Pieces that are neighbours in the guest's memory are not in the host's. */
static uint8_t *piece_at(uint64_t offset)
{
	return &pieces[offset / PIECE * 7 % PIECES][offset % PIECE];
}

static int pieces_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	uint64_t offset = (va - PIECES_BASE) & ~(uint64_t)(PIECE - 1);

	if (va - PIECES_BASE >= PIECES * PIECE)
		return rig_span(user, va, access, span);
	*span = (struct cpu_span){ PIECES_BASE + offset, PIECE, piece_at(offset), CPU_MAY_LOAD | CPU_MAY_STORE, false };
	return 0;
}

/* Accesses of every size at every address, with cold and with warm caches: done as a whole, or a fault and no effect. */
static void across_spans(void **state)
{
	static const struct cpu_bus bus = { pieces_span, NULL, NULL };
	const uint64_t value = 0x8877665544332211ull, end = PIECES_BASE + PIECES * PIECE;
	struct cpu_config config = { .xlen = 64, .bus = &bus };
	struct rig rig;

	rig_init(&rig, 64);
	cpu_destroy(rig.cpu);
	config.user = &rig;
	assert_int_equal(cpu_create(&config, &rig.cpu), 0);
	rig.regs.x[7] = value;
	for (unsigned size = 0; size < 4; size++)
		for (uint64_t va = PIECES_BASE; va < end; va++)
			for (unsigned warm = 0; warm < 2; warm++) {
				const unsigned bytes = 1u << size;
				const uint32_t code[] = { E_S(0x23, size, 6, 7, 0), E_I(0x03, 5, size, 6, 0), E_ECALL };
				bool whole = va + bytes <= end;

				if (!warm)
					cpu_invalidate(rig.cpu, 0, 0, true);
				memset(pieces, 0xee, sizeof(pieces));
				rig_code(&rig, RIG_BASE, code, 3);
				rig.regs.pc = RIG_BASE;
				rig.regs.x[5] = 0;
				rig.regs.x[6] = va;
				assert_int_equal(cpu_run(rig.cpu, &rig.regs, 10), whole ? CPU_STOP_ECALL : CPU_STOP_FAULT);
				for (uint64_t i = 0; i < PIECES * PIECE; i++) {
					uint64_t at = PIECES_BASE + i - va;

					assert_int_equal(*piece_at(i),
							 whole && at < bytes ? (uint8_t)(value >> 8 * at) : 0xee);
				}
				if (whole)
					assert_true(rig.regs.x[5] << (64 - 8 * bytes) == value << (64 - 8 * bytes));
				else
					assert_int_equal(cpu_fault(rig.cpu)->address, end);
			}
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "SYS-51: accesses across spans, whole or not at all", across_spans, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("cpu, spans", tests, NULL, NULL);
}
