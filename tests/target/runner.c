// SPDX-License-Identifier: MIT
/* main() of the test image: the firmware boots as it always does, then runs tests in place of its event loop. */
#include "core/crash.h"
#include "top/main.h"
#include "check.h"

int main(void);

bool target_engines(void)
{
	unsigned patience = 1000000;

	while (HAL_ENGINES->command_head != HAL_ENGINES->command_tail)
		if (!--patience)
			return false;
	return true;
}

/* Stacks that grow without end: frame by frame, and by one frame that is larger than the whole stack. */
static __attribute__((noinline)) uint32_t deep(uint32_t n)
{
	volatile uint32_t frame[20];

	frame[n % 20] = n;
	return n ? deep(n + 1) + frame[n % 20] : 0;
}

static __attribute__((noinline)) uint32_t large(uint32_t n)
{
	volatile uint32_t frame[8192];

	frame[n] = n;
	return frame[n];
}

int main(void)
{
	volatile uint32_t *request = hal_card(TARGET_REQUEST, 4);
	volatile struct tutti_status *status = hal_region(((const struct tutti_discovery *)HAL_WINDOW)->status);

	main_init();
	crash_note.queue = 7;
	crash_note.packet = 0x123456789ull;
	switch (*request) {
	case TARGET_ILLEGAL:
		__asm__ volatile("li s3, 0x5a5a1234\n .globl target_illegal\ntarget_illegal: .word 0xffffffff" ::: "s3");
		break;
	case TARGET_AGAIN: /* as if a panic had trapped after it has written its record */
		((struct tutti_crash *)hal_region(((const struct tutti_discovery *)HAL_WINDOW)->crash))->cause =
			TUTTI_CRASH_PANIC;
		__asm__ volatile(".word 0xffffffff");
		break;
	case TARGET_UNMAPPED:
		*(volatile uint32_t *)0x30000000u = 1;
		break;
	case TARGET_BREAK:
		__asm__ volatile("ebreak");
		break;
	case TARGET_DEEP:
		deep(1);
		break;
	case TARGET_LARGE:
		large(5);
		break;
	case TARGET_PANIC:
		CRASH_UNLESS(*request == TARGET_TESTS);
		break;
	default:
		target_run(*request);
	}
	hal_release();
	status->heartbeat = ~0ull; /* no firmware has that many heartbeats: the tests are over */
	hal_halt();
	for (;;)
		;
}
