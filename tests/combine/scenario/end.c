// SPDX-License-Identifier: MIT
/* Brings a scenario to its end: everything must have ended, and nothing may be left. */
#include "rules/rules.h"
#include "scenario/scenario.h"

/* Runs until nothing happens, time has passed @beats times without effect, or nothing is left to do. */
static void run_down(unsigned beats)
{
	unsigned idle = 0, i;
	uint64_t n = 0, ctas = w.ctas;
	uint32_t before = 0;

	while (idle < beats) {
		if (card_step()) {
			n = w.ctas == ctas ? n + 1 : 0;
			ctas = w.ctas;
			RULE(n < 60000, "end (REL-10)", "no CTA starts in 60 000 events, and there is no end");
			continue;
		}
		if (rules_all_over() && driver_idle() && card_quiet())
			return;
		idle = w.now - before < 60 ? idle + 1 : 0; /* polls are not progress */
		before = (uint32_t)w.now;
		for (i = 0; i < QUEUES; i++)
			op_reset(&w.program[i]);
		if (!driver_idle())
			card_event(&(struct tutti_event){{TUTTI_EVENT_MESSAGE}});
		card_timer();
	}
}

/* Longer than SMs are held for a task (firmware: tasks/patience.h), however often queues look at something meanwhile. */
#define HOLDS_TICKS 150000000ull

/*
 * A task may wait although it fits while SMs are held for another one, and each CTA that is launched wave by wave waits
 * for its rounds (RES-07).
 */
static void outlast_waits(void)
{
	uint64_t until = hal_host.time + HOLDS_TICKS;
	unsigned n;

	for (n = 0; n < 10000 && (fair_idle() || fair_unsplit()) && hal_host.time < until; n++)
		run_down(1);
}

/*
 * SMs may be held for a CGA that waits for CTAs of a parent, while the child of that parent waits for these SMs. Return: a
 * CTA has started when they were not held any more
 */
static bool outlast_holds(void)
{
	uint64_t until = hal_host.time + HOLDS_TICKS, ctas = w.ctas;
	unsigned n;

	for (n = 0; n < 10000 && w.ctas == ctas && hal_host.time < until; n++)
		run_down(1);
	return w.ctas != ctas;
}

static bool packet_will_send(const struct program *program, uint32_t signal)
{
	uint64_t i;

	for (i = program->oldest; i < program->write && program->alive && !program->dying; i++)
		if (program->entry[i].kind >= BARRIER_AND && program->entry[i].signal == signal && !program->entry[i].done)
			return true;
	return false;
}

static bool will_be_sent(uint32_t signal)
{
	const struct job *job;
	unsigned i;

	for (job = w.job; job < w.job + w.jobs; job++)
		if (job->signal == signal && !job->signalled && job_of_this_life(job) &&
		    (job->life < DONE || (job->life == DONE && !job->child && !entry_over(&w.program[job->queue], entry_of(job)))))
			return true;
	for (i = 0; i < QUEUES; i++)
		if (packet_will_send(&w.program[i], signal))
			return true;
	return false;
}

/*
 * The host sets to 0 the signals that are waited for and that nobody will decrement any more: those of lost kernels, and
 * those that several kernels have decremented past 0 before the firmware looked.
 */
static bool release_signals(void)
{
	bool any = false;
	unsigned i, k;

	for (i = 0; i < QUEUES; i++) {
		struct entry *e = &w.program[i].entry[w.program[i].oldest % ENTRIES];

		if (!w.program[i].alive || w.program[i].oldest >= w.program[i].write ||
		    (e->kind != BARRIER_AND && e->kind != BARRIER_OR))
			continue;
		for (k = 0; k < 5; k++)
			if (e->dependency[k] && signals[e->dependency[k]].value && !will_be_sent(e->dependency[k])) {
				signals[e->dependency[k]].value = 0;
				owners[e->dependency[k]].zero = any = true;
			}
	}
	return any;
}

static void say_what_is_left(void)
{
	unsigned i;

	for (i = 0; i < w.jobs; i++)
		if (w.job[i].life < DONE)
			rule("end (REL-10)", "%s never ends: %u run, slot %d%s; time %lu",
			     job_name(&w.job[i]), w.job[i].running, w.job[i].slot,
			     w.job[i].evicted ? ", evicted" : "", hal_host.time);
	for (i = 0; i < QUEUES; i++)
		if (w.program[i].alive && w.program[i].oldest < w.program[i].write)
			rule("end (REL-10)", "packet %lu of queue %u never ends", w.program[i].oldest, i);
	for (i = 0; i < QUEUES; i++)
		RULE(!w.program[i].alive || !w.program[i].stopped, "end (REL-10)", "queue %u is never reset",
		     i);
}

void end_finish(void)
{
	uint64_t done;
	unsigned i;

	seed_random(w.scenario.config);
	w.stall = 0;
	while (w.suspending)
		op_suspend(), op_steps(1);
	for (i = 0; i < QUEUES; i++)
		if (w.program[i].alive)
			publish(&w.program[i], true);
	for (i = 0; i < w.works; i++)
		works[i].closed = 1;
	for (i = 0; i < QUEUES; i++) {
		card_later(&(struct tutti_event){{TUTTI_EVENT_DOORBELL, 1u << i}});
		w.program[i].flood = 0;
	}
	run_down(10);
	outlast_waits();
	if (card_quiet()) /* otherwise the visit of the last timer was cut short and goes on later */
		fair_quiet();
	w.draining = true;
	while (op_enabled_sms() < w.sms) {
		op_sms_on();
		op_steps(10);
	}
	for (i = 0; i < 60 && !rules_all_over(); i++) {
		run_down(i < 4 ? 2 : 8);
		if (!rules_all_over() && !release_signals() && i > 6 && !outlast_holds())
			break;
	}
	if (!rules_all_over())
		say_what_is_left();
	done = hal_host.time;
	/* queue tasks that look at their work queue now and then have looked */
	for (i = 0; i < 3 || hal_host.time < done + 30000000; i++) {
		run_down(1);
		card_timer();
	}
	run_down(2);
	rules_end();
}

void end_tear_down(void)
{
	struct tutti_message m = {.type = TUTTI_MSG_LOAD};
	unsigned i;

	RULE(!driver_call(&m), "channel (SYS-08)", "LOAD: status %d", m.status);
	RULE(m.value == w.slots && !m.arg[0] && m.arg[1] == w.sms, "leak (REL-05)",
	     "%lu slots of %u are free, %lu CTAs run, %lu SMs of %u", m.value, w.slots, m.arg[0], m.arg[1],
	     w.sms);
	for (i = 0; i < QUEUES; i++) {
		if (w.program[i].alive)
			RULE(!driver_ask(TUTTI_MSG_QUEUE_DESTROY, i, 0, 0), "leak (REL-05)",
			     "queue %u is not destroyed", i);
	}
	for (i = 0; i < QUEUES; i++) {
		if (w.program[i].flags)
			RULE(!driver_ask(TUTTI_MSG_RSB_DESTROY, i, 0, 0), "leak (REL-05)",
			     "reference buffer %u is not destroyed", i);
	}
	for (i = 0; i < QUEUES / 2; i++)
		RULE(!driver_ask(TUTTI_MSG_CONTEXT_DESTROY, ASID + i, 0, 0), "leak (REL-05)",
		     "context %u is not destroyed", ASID + i);
}
