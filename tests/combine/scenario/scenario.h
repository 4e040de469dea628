/* SPDX-License-Identifier: MIT */
/* Scenarios from inside: what the files that make and run them ask of each other. Others see combine.h. */
#ifndef COMBINE_SCENARIO_H
#define COMBINE_SCENARIO_H

#include "combine.h"

#define ALLOWED(f) features_has(&w.scenario.allowed, F_##f)

/* ---- make.c ---- */

/** op_name() - of an enum op_kind, for people. */
const char *op_name(unsigned kind);

/* ---- card_setup.c: what is there before the first operation ---- */

void setup_boot(void);
void setup_policies(void);
void setup_queues(void);

/* ---- operations.c ---- */

void op_run(const struct op *op);
/** op_steps() - the card makes up to @n steps, and programs that flood their queue go on doing so. */
void op_steps(unsigned n);
void op_reset(struct program *program);
/** op_suspend() - suspend the card or, if it is suspended, resume it. */
void op_suspend(void);
void op_sms_on(void);

/* ---- crowd.c ---- */

/** op_crowd() - a large CTA or CGA in a queue, number @from or the next that can take it, and small ones in all others. */
void op_crowd(unsigned from);

/* ---- end.c ---- */

/** end_finish() - bring everything to its end; what is left breaks a rule. */
void end_finish(void);
/** end_tear_down() - queues, buffers and contexts go away; everything must be as before the first kernel. */
void end_tear_down(void);

#endif
