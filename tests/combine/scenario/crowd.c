// SPDX-License-Identifier: MIT
/*
 * A CTA that needs a whole SM, or a CGA that needs a whole domain, among small kernels of its own and lower priorities
 * that keep coming until it has got its SMs. No SM becomes empty by chance, so they have to be held for it (RES-01,
 * CGA-05); that they are is for fair.c to judge.
 */
#include "scenario/scenario.h"

#define STEPS_MOST 12000u /* of the card; more than it takes to break the rule */
#define STEPS_FEW  1500u  /* the same where SMs need not become empty in that time */
#define OPEN_MOST  4u	  /* packets that a queue of the crowd has under way */

static bool can_take(const struct program *program)
{
	return program->alive && !program->dying && !program->stopped;
}

/* The queue that gets the large one. */
static struct program *some_queue(unsigned from)
{
	unsigned i;

	for (i = 0; i < QUEUES; i++, from++)
		if (can_take(&w.program[from % QUEUES]) && w.program[from % QUEUES].flags & TUTTI_QUEUE_EXTENDED)
			return &w.program[from % QUEUES];
	return NULL;
}

/* The highest priority of the others. */
static unsigned level_of_crowd(const struct program *program)
{
	unsigned i, level = 10;

	for (i = 0; i < QUEUES; i++)
		if (&w.program[i] != program && can_take(&w.program[i]) && w.program[i].priority < level)
			level = w.program[i].priority;
	return level;
}

static void more(const struct program *except)
{
	struct program *program;

	for (program = w.program; program < w.program + QUEUES; program++)
		while (program != except && can_take(program) && program->write - program->oldest < OPEN_MOST &&
		       produce_small(program))
			publish(program, true);
}

static bool without_sms(const struct job *job)
{
	return job->life <= RUNNING && !job->issued && !job->cancelled && can_take(&w.program[job->queue]);
}

void op_crowd(unsigned from)
{
	struct program *program = some_queue(from);
	bool domain = ALLOWED(WHOLE_DOMAIN) && (!ALLOWED(WHOLE_SM) || roll(2));
	const struct job *job = NULL;
	unsigned n, most = w.sms <= CROWD_SMS && fair_counts_visits() ? STEPS_MOST : STEPS_FEW;

	if (program)
		job = produce_whole(program, level_of_crowd(program), domain ? 1 + roll(2) : 0);
	if (!job)
		return;
	publish(program, true);
	w.one_by_one = w.sms <= CROWD_SMS;
	for (n = 0; n < most && without_sms(job); n++) {
		more(program);
		hal_host.time += roll(2000);
		if (!card_step())
			break;
	}
	w.one_by_one = false;
}
