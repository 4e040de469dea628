// SPDX-License-Identifier: MIT
/* Runs that follow each other without a barrier see what is asked for between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cpu_rig.h"
#include "encode.h"

#define DATA (RIG_BASE + 0x1000)

static enum cpu_stop again(struct rig *rig)
{
	rig->regs.pc = RIG_BASE;
	return cpu_run_entered(rig->cpu, &rig->regs, ~0ull);
}

static void entered(void **state)
{
	const uint32_t code[] = { E_LD(5, 6, 0), E_ECALL };
	struct rig rig;
	uint32_t kept;
	unsigned asked;

	rig_init(&rig, 64);
	rig_code(&rig, RIG_BASE, code, 2);
	rig.regs.x[6] = DATA;
	kept = cpu_enter(rig.cpu);
	assert_int_equal(again(&rig), CPU_STOP_ECALL);
	asked = rig.asked;
	assert_int_equal(again(&rig), CPU_STOP_ECALL);
	assert_int_equal(rig.asked, asked);
	cpu_invalidate(rig.cpu, DATA, 8, false);
	assert_true(cpu_invalidate_pending(rig.cpu)); /* it may begin the next run at any time */
	assert_int_equal(again(&rig), CPU_STOP_ECALL);
	assert_false(cpu_invalidate_pending(rig.cpu));
	assert_int_equal(rig.asked, asked + 1);
	cpu_interrupt(rig.cpu);
	assert_int_equal(again(&rig), CPU_STOP_INTERRUPT);
	assert_true(rig.regs.pc == RIG_BASE);
	cpu_invalidate(rig.cpu, DATA, 8, false);
	cpu_leave(rig.cpu, kept);
	assert_false(cpu_invalidate_pending(rig.cpu)); /* whatever runs next sees it first */
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(rig.asked, asked + 2);
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "SYS-51: runs one behind the other see what is asked for between them", entered, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("cpu, entered", tests, NULL, NULL);
}
