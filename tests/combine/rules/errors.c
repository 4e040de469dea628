// SPDX-License-Identifier: MIT
/* Errors that the firmware reports, what is lost by them, and what must hold when all is over. */
#include "rules/rules.h"

/* Valid packets that may be refused nevertheless: their CGAs may find no SMs that are enabled or in their mask. */
static bool may_be_refused(const struct entry *e, unsigned code)
{
	unsigned i;

	for (i = 0; i < e->n; i++) {
		const struct job *job = &w.job[e->job + i];

		if (!job->cga[0].kind)
			continue;
		if ((code == TUTTI_ERROR_GRID || code == TUTTI_ERROR_PACKET) &&
		    (job->cga[1].kind || (job->cga[0].kind > TUTTI_CGA_GPC && w.sms > 144) || job->mask || job->throttle ||
		     features_has(&job->features, F_LMEM) || w.cap ||
		     kernels[job->shape].flags & TUTTI_KERNEL_LMEM ||
		     features_has(&w.scenario.allowed, F_SM_OFF)))
			return true;
	}
	return false;
}

/* A packet whose references were invalidated before it was expanded is refused as a whole (PKT-10). */
static bool lacks_reference(const struct entry *e, unsigned code)
{
	unsigned i;

	if (!e->unsure || code != TUTTI_ERROR_PACKET)
		return false;
	for (i = 0; i < e->n; i++)
		RULE(w.job[e->job + i].life == WAITING, "state (PKT-10)", "%s has started without its reference",
		     job_name(&w.job[e->job + i]));
	return true;
}

void rules_error(const struct tutti_fault *fault)
{
	struct program *program = &w.program[fault->queue % QUEUES];
	uint64_t packet = fault->packet - program->first;
	struct entry *e = &program->entry[packet % ENTRIES];
	bool faulted = false;
	unsigned i;

	TRACE("    error %u of queue %u packet %lu\n", fault->code, fault->queue, packet);
	if (!program->alive || program->dying)
		return;
	if (program->stopped && program->busy_reset)
		rules_reset(program); /* its reply is behind the next error */
	RULE(!program->stopped, "error (PKT-06)", "queue %u reports two errors", fault->queue);
	for (i = 0; i < w.jobs; i++)
		faulted |= w.job[i].faulted && w.job[i].queue == fault->queue && job_of_this_life(&w.job[i]) &&
			   root_of(&w.job[i])->entry == (uint32_t)(e - program->entry);
	if (e->bad)
		RULE(e->errors >> fault->code & 1, "error (PKT-06)", "packet %lu of queue %u: code %u",
		     packet, fault->queue, fault->code);
	else
		RULE(faulted || may_be_refused(e, fault->code) || lacks_reference(e, fault->code), "error (PKT-06)",
		     "packet %lu of queue %u is sound and is refused: code %u, field %u", packet,
		     fault->queue, fault->code, fault->field);
	program->stopped = true;
	if (e->bad) {
		feature_on(F_BAD_PACKET);
		program->bad_packet = true;
		e->unskipped = true;
	}
	for (i = 0; i < e->n && !faulted; i++)
		if (w.job[e->job + i].life == WAITING)
			job_over(&w.job[e->job + i], LOST);
	if (!faulted)
		e->bad = e->unskipped = true; /* the reset goes on behind it */
	program_advance(program);
}

void rules_reset(struct program *program)
{
	uint64_t i;

	if (program->bad_packet)
		feature_off(F_BAD_PACKET);
	program->stopped = program->busy_reset = program->bad_packet = false;
	for (i = program->oldest; i < program->write; i++)
		if (program->entry[i].unskipped)
			program->entry[i].skipped = true;
	program_advance(program);
}

/*
 * The kernels of a queue that have not started are lost: those of packets in which a kernel has failed, or all if the
 * queue is destroyed.
 */
void rules_lost(struct program *program)
{
	unsigned i;

	for (i = 0; i < w.jobs; i++) {
		struct job *job = &w.job[i];

		if (job->queue != program->id || job->life_of_queue != program->life || job->life >= DONE)
			continue;
		RULE(!job->running && !job->told, "destroy (SYS-08)", "queue %u is gone and %s is not",
		     program->id, job_name(job));
		job_over(job, LOST);
	}
}

/* ---- the end ---- */

bool rules_all_over(void)
{
	unsigned i;

	for (i = 0; i < w.jobs; i++)
		if (w.job[i].life < DONE)
			return false;
	for (i = 0; i < QUEUES; i++)
		if (w.program[i].alive && (w.program[i].oldest < w.program[i].write || w.program[i].stopped))
			return false;
	return true;
}

static void check_metadata(const struct job *job)
{
	const struct tutti_tmd *t = &tmds[job->tmd - 1];
	uint32_t error = job->life == CANCELLED ? TUTTI_ERROR_CANCELLED : 0;

	if (job->kernels > 1 || (entry_of(job) && entry_of(job)->kind == CONDENSED) ||
	    job->features.word[0] >> F_REF_STORE & 1)
		return; /* several tasks used the record */
	if (job->life == DONE) {
		RULE(t->issued == job->issued && t->completed == job->issued, "metadata (TSK-16)",
		     "%s: its metadata say %lu and %lu CTAs", job_name(job), t->issued, t->completed);
		RULE(t->state & TUTTI_TMD_FINISHED && t->error == error, "metadata (TSK-16)",
		     "%s: its metadata say state %u, error %u", job_name(job), t->state, t->error);
	}
}

/* Of kernels that may overlap the last one's signal is that of the packet, which is not sent if one of them has failed. */
static bool fails_with_packet(const struct job *job)
{
	const struct entry *e = job->child ? NULL : &w.program[job->queue].entry[job->entry];
	const struct job *other;

	if (!e || !(w.program[job->queue].flags & TUTTI_QUEUE_OVERLAP) || job->number != e->job + e->n - 1)
		return false;
	for (other = w.job; other < w.job + w.jobs; other++)
		if (other->life == FAILED && other->queue == job->queue && other->entry == job->entry && !other->child &&
		    other->life_of_queue == job->life_of_queue)
			return true;
	return false;
}

void rules_end(void)
{
	unsigned i;

	for (i = 0; i < w.jobs; i++) {
		const struct job *job = &w.job[i];

		if (job->life == DONE && job_of_this_life(job) && w.program[job->queue].alive &&
		    !job->cancelled) {
			RULE(!job->signal || job->signalled || fails_with_packet(job), "signal (PKT-04)",
			     "%s has ended and is not signalled", job_name(job));
			if (job->tmd)
				check_metadata(job);
		}
	}
	for (i = 0; i < QUEUES; i++) {
		const struct program *program = &w.program[i];

		if (program->alive)
			RULE(program->read == program->write, "retire (PKT-05)",
			     "read index of queue %u is %lu, %lu packets were written", i, program->read,
			     program->write);
		if (program->alive)
			questions_end(program);
	}
}
