// SPDX-License-Identifier: MIT
/* What happens in a scenario, one operation after another. */
#include "scenario/scenario.h"

void op_steps(unsigned n)
{
	unsigned i, k;

	while (n--) {
		hal_host.time += roll(2000);
		for (i = 0; i < QUEUES; i++)
			for (k = 0; w.program[i].flood && k < 4; k++)
				if (produce(&w.program[i])) {
					publish(&w.program[i], true);
					if (!--w.program[i].flood)
						feature_off(F_FLOOD);
				}
		if (ALLOWED(NOTIFY) || ALLOWED(ASK) || ALLOWED(INVALIDATE) || ALLOWED(FORGET))
			questions_ask();
		if (ALLOWED(FAULT_AGAIN) && ALLOWED(FAULT) && !roll(2))
			card_fault_again();
		if (!card_step())
			break;
	}
}

static void burst(struct program *program)
{
	unsigned n = 2 + roll(7);

	while (n--)
		produce(program);
	publish(program, roll(2));
	publish(program, true);
}

/* Items for a queue task, or the end of them. */
static void work(void)
{
	unsigned i = w.works ? roll(w.works) : 0;
	struct tutti_work_queue *q = &works[i];
	struct work_model *m = &work_models[i];

	if (!w.works || q->closed)
		return;
	if (!roll(6)) {
		q->closed = 1;
	} else {
		if (m->given == q->write_index)
			m->since = hal_host.time;
		q->write_index += roll((uint32_t)(64 - (q->write_index - m->given)) + 1);
	}
	for (i = 0; i < QUEUES;
	     i++) /* the doorbell of its queue tells; any queue's reads all its work queues */
		if (w.program[i].alive && !w.program[i].dying)
			card_later(&(struct tutti_event){{TUTTI_EVENT_DOORBELL, 1u << i}});
}

static void cancel(void)
{
	struct job *job = &w.job[w.jobs ? roll(w.jobs) : 0];
	struct program *program = &w.program[job->queue];
	struct entry *e;
	struct job *one;

	if (!w.jobs || job->life >= DONE || job->child || !program->alive || program->dying ||
	    job->life_of_queue != program->life)
		return;
	e = entry_of(job);
	if (!e->published || e->bad ||
	    !driver_request(TUTTI_MSG_TASK_CANCEL, program->id, program->first + job->entry, program->life))
		return;
	TRACE("  cancel packet %u of queue %u\n", job->entry, program->id);
	for (one = w.job; one < w.job + w.jobs; one++) {
		if (one->queue != program->id || one->life_of_queue != program->life ||
		    root_of(one)->entry != job->entry)
			continue;
		one->cancelled = true;
		if (!features_has(&one->features, F_CANCEL) && one->life < DONE) {
			features_add(&one->features, F_CANCEL);
			if (one->life == RUNNING)
				feature_on(F_CANCEL);
		}
	}
}

unsigned op_enabled_sms(void)
{
	unsigned i, n = 0;

	for (i = 0; i < w.sms; i++)
		n += !(w.off[i / 32] >> (i % 32) & 1);
	return n;
}

static void enable(unsigned first, unsigned n, bool on)
{
	uint32_t id = driver_request(TUTTI_MSG_SM_ENABLE, first, n, on);
	unsigned i;

	if (!id)
		return;
	for (i = first; i < first + n; i++) {
		if (on) {
			w.off[i / 32] &= ~(1u << (i % 32));
		} else {
			w.off[i / 32] |= 1u << (i % 32);
			/* it counts when the firmware has taken the request */
			w.off_since[i] = hal_host.engines.command_tail + (1u << 30);
			w.off_id[i] = id;
		}
	}
	TRACE("  SMs %u..%u %s\n", first, first + n - 1, on ? "on" : "off");
}

static void sms_off(void)
{
	unsigned first = roll(w.sms), n = 1 + roll(3);

	if (first + n > w.sms || op_enabled_sms() < w.sms / 2 + n)
		return;
	enable(first, n, false);
	feature_on(F_SM_OFF);
}

void op_sms_on(void)
{
	enable(0, w.sms, true);
	feature_on(F_SM_ON); /* and are there from now on */
}

void op_reset(struct program *program)
{
	if (!program->alive || program->dying || !program->stopped || program->busy_reset)
		return;
	if (driver_request(TUTTI_MSG_QUEUE_RESET, program->id, 0, 0))
		program->busy_reset = true;
}

void op_suspend(void)
{
	if (w.suspending) {
		if (driver_request(TUTTI_MSG_RESUME, 0, 0, 0)) {
			w.suspending = w.suspended = false;
			feature_off(F_SUSPEND);
		}
	} else {
		w.suspend_id = driver_request(TUTTI_MSG_SUSPEND, 0, 0, 0);
		w.suspending = w.suspend_id;
		if (w.suspending)
			feature_on(F_SUSPEND);
	}
}

static void some_policy(void)
{
	switch (roll(3)) {
	case 0:
		driver_request(TUTTI_MSG_POLICY, TUTTI_POLICY_LEVEL_SEARCH, roll(3), 0);
		break;
	case 1:
		driver_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_PATIENCE, 1 + roll(40), 0);
		break;
	default:
		driver_request(TUTTI_MSG_COUNTERS, 0, 0, 0);
		break;
	}
}

/* The queue with the most packets that are not over. */
static struct program *fullest(void)
{
	struct program *program, *best = w.program;

	for (program = w.program; program < w.program + QUEUES; program++)
		if (program->alive &&
		    (!best->alive || program->write - program->oldest > best->write - best->oldest))
			best = program;
	return best;
}

void op_run(const struct op *op)
{
	struct program *program = &w.program[op->queue];

	seed_random(op->seed);
	switch (op->kind) {
	case OP_PACKET:
		produce(program);
		publish(program, roll(2));
		break;
	case OP_BURST:
		burst(program);
		break;
	case OP_TIME:
		hal_host.time += roll(2) ? roll(50000) : roll(12000000);
		break;
	case OP_WORK:
		work();
		break;
	case OP_CANCEL:
		cancel();
		break;
	case OP_BAD:
		produce_bad(program);
		break;
	case OP_FAULT:
		card_fault();
		break;
	case OP_RESET:
		op_reset(program);
		break;
	case OP_CREATE:
		for (program = w.program; program->alive && program < w.program + QUEUES - 1; program++)
			;
		if (!program->alive) {
			if (program->flags && !ALLOWED(SHARED_REFS))
				driver_ask(TUTTI_MSG_RSB_INVALIDATE, program->id, 0xff, 0);
			driver_create(program, true);
			feature_on(F_CREATE); /* and is there from now on */
		}
		break;
	case OP_DESTROY:
		driver_destroy(w.stall ? fullest() : program);
		break;
	case OP_SUSPEND:
		op_suspend();
		break;
	case OP_SM_OFF:
		sms_off();
		break;
	case OP_SM_ON:
		op_sms_on();
		break;
	case OP_POLICY:
		some_policy();
		break;
	case OP_STALL:
		if (!w.stall)
			feature_on(F_STALL);
		w.stall = roll(3) ? 2 + roll(30) : 1000 + roll(2500);
		op_steps(w.stall > 100 ? w.stall / 8 * 7 : 0);
		break;
	case OP_FLOOD:
		if (program->alive && !program->dying) {
			if (!program->flood)
				feature_on(F_FLOOD);
			program->flood += 20 + roll(roll(4) ? 40 : 500);
		}
		break;
	case OP_CROWD:
		op_crowd(op->queue);
		break;
	case OP_RING:
		card_later(&(struct tutti_event){{TUTTI_EVENT_DOORBELL, 1u << op->queue}});
		break;
	}
	op_steps(op->steps);
}
