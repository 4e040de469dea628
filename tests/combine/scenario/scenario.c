// SPDX-License-Identifier: MIT
/* Runs a scenario until a rule is broken or all is done. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include "scenario/scenario.h"

struct failure failure;
FILE *trace;
uint64_t random_state;
static sigjmp_buf broken;

void rule(const char *name, const char *format, ...)
{
	va_list args;

	snprintf(failure.rule, sizeof(failure.rule), "%s", name);
	va_start(args, format);
	vsnprintf(failure.text, sizeof(failure.text), format, args);
	va_end(args);
	siglongjmp(broken, 1);
}

static void crashed(int number)
{
	snprintf(failure.rule, sizeof(failure.rule), "crash");
	snprintf(failure.text, sizeof(failure.text), "signal %d", number);
	siglongjmp(broken, 1);
}

static void begin(const struct scenario *s)
{
	memory_reset();
	memset(&w.sms, 0, offsetof(struct world, program) - offsetof(struct world, sms));
	memset(&w.jobs, 0, sizeof(w) - offsetof(struct world, jobs));
	for (unsigned i = 0; i < QUEUES; i++)
		memset(&w.program[i], 0, offsetof(struct program, ring));
	w.scenario = *s;
	w.now = 1;
	features_begin();
	driver_reset();
	fair_begin();
	seed_random(s->config);
	w.in_order = !roll(3);
	w.shapes = ALLOWED(SHAPES_ONE) ? 1 : ALLOWED(SHAPES_TWO) ? 2 : 9;
	setup_boot();
	produce_reset();
	produce_kernels();
	setup_policies();
	setup_queues();
}

bool scenario_run(const struct scenario *s)
{
	static bool handlers;
	unsigned i;

	if (!handlers) {
		signal(SIGSEGV, crashed);
		signal(SIGFPE, crashed);
		signal(SIGBUS, crashed);
		signal(SIGABRT, crashed);
		handlers = true;
	}
	failure.rule[0] = 0;
	if (sigsetjmp(broken, 1)) {
		features_end();
		return false;
	}
	begin(s);
	for (i = 0; i < s->ops; i++) {
		TRACE("%2u: %s\n", i, op_name(s->op[i].kind));
		op_run(&s->op[i]);
	}
	TRACE("end\n");
	end_finish();
	features_end();
	end_tear_down();
	return true;
}
