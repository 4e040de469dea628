// SPDX-License-Identifier: MIT
#include "core/crash.h"

#include "core/hal.h"
#include "core/log.h"

struct crash_note crash_note = { .queue = ~0u };

static struct tutti_crash *crash_record(void)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;

	return hal_region(discovery->crash);
}

COLD void crash_init(void)
{
	words_clear(crash_record(), sizeof(struct tutti_crash) / 4);
}

/* The caller has filled in what it knows of the core. @cause comes last, since it says that there is a record. */
static void complete(struct tutti_crash *crash, uint32_t cause, uint32_t code, const char *text)
{
	unsigned i;

	crash->cause_code = code;
	crash->queue = crash_note.queue;
	crash->packet = crash_note.packet;
	crash->time = hal_time();
	for (i = 0; i < sizeof(crash->text) - 1 && text[i]; i++)
		crash->text[i] = text[i];
	hal_release();
	crash->cause = cause;
}

static void __attribute__((noreturn)) give_up(void)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;
	struct tutti_status *status = hal_region(discovery->status);

	hal_release();
	status->state = TUTTI_STATE_CRASHED;
	hal_halt();
#ifdef __riscv
	for (;;)
		;
#else
	__builtin_trap();
#endif
}

COLD void crash_panic(const char *text, uint32_t line)
{
	struct tutti_crash *crash = crash_record();

	crash->ra = hal_local(__builtin_return_address(0));
	crash->pc = crash->ra;
	crash->sp = hal_local(__builtin_frame_address(0));
	complete(crash, TUTTI_CRASH_PANIC, line, text);
	log_text("panic: ");
	log_text(text);
	log_line(" line", line);
	give_up();
}

/* A panic may trap while it reports. Its record is kept, because it says more than that of the trap. */
COLD void crash_trap(const uint32_t *x, uint32_t cause, uint32_t pc, uint32_t value)
{
	struct tutti_crash *crash = crash_record();

	if (crash->cause)
		give_up();
	words_copy(crash->x, x, 32);
	crash->pc = pc;
	crash->ra = x[1];
	crash->sp = x[2];
	crash->tval = value;
	complete(crash, TUTTI_CRASH_TRAP, cause, "trap");
	log_line("trap: mcause", cause);
	log_line("trap: pc", pc);
	give_up();
}
