// SPDX-License-Identifier: MIT
/* Tasks on the card: states that match a packet, in its order; each CTA once; tasks that end or are killed. */
#include "rules/rules.h"

/* ---- a task gets a slot ---- */

static bool same_task(const struct job *job, const struct tutti_task_state *s, bool split)
{
	if (job->life > RUNNING || (split && job->slot < 0) || job->kernarg != s->kernarg ||
	    (!job->work && job->grid_x != s->grid_x))
		return false;
	if (split)
		return s->first == job->issued * job->waves;
	return job->work || s->first == job->issued;
}

/* Equal kernels of a packet are told apart by their order. */
static struct job *find(unsigned slot, const struct tutti_task_state *s, bool split)
{
	struct program *program = &w.program[s->queue];
	struct job *job, *best = NULL;
	uint64_t packet = s->packet - program->first;
	struct entry *e;
	unsigned i;

	RULE(s->queue < QUEUES && program->alive, "order", "STATE for queue %u, which is gone", s->queue);
	if (s->tmd)
		for (i = 0; i < w.jobs; i++)
			if (w.job[i].child && TMD_AT + (w.job[i].tmd - 1) * sizeof(tmds[0]) == s->tmd)
				return &w.job[i];
	RULE(packet < program->write, "order (PKT-07)", "STATE for packet %lu of queue %u, which has %lu",
	     packet, s->queue, program->write);
	e = &program->entry[packet];
	RULE(e->published && !e->bad && e->kind <= CONDENSED, "order (PKT-07)",
	     "STATE for packet %lu of queue %u, which is %s", packet, s->queue,
	     e->bad ? "bad" : "not there");
	job = w.act[slot];
	if (job && job->queue == s->queue && !job->child && entry_of(job) == e && same_task(job, s, false)) {
		if (job->waves_left)
			return job; /* it continues after a CTA that was split */
		best = job;
	}
	for (i = 0; i < e->n; i++) {
		job = &w.job[e->job + i];
		if (!same_task(job, s, split))
			continue;
		/* one without a slot before one that has its slot still, unless it was evicted and gets the same slot again */
		if (!best || (best->slot >= 0 && job->slot < 0 &&
			      (best->slot != (int)slot || job->level < best->level)))
			best = job;
	}
	RULE(best, "once (TSK-03)", "STATE of packet %lu of queue %u at CTA %u: no kernel of it is there%s",
	     packet, s->queue, s->first, split ? " (waves)" : "");
	return best;
}

static void check_values(const struct job *job, const struct tutti_task_state *s,
			 const struct tutti_cga_shape *level)
{
	RULE(s->waves == job->waves && s->scalar_blocks == job->scalar && s->vector_blocks == job->vector &&
		 s->shared_blocks == job->shared && s->barriers == job->barriers,
	     "state (PKT-09)", "%s: state has %u waves, %u/%u/%u/%u blocks", job_name(job), s->waves,
	     s->scalar_blocks, s->vector_blocks, s->shared_blocks, s->barriers);
	RULE(job->work || s->groups_x * s->groups_y * s->groups_z == job->groups, "state (PKT-09)",
	     "%s: state has %u x %u x %u CTAs", job_name(job), s->groups_x, s->groups_y, s->groups_z);
	RULE(s->entry == KERNEL_AT + 64 * job->shape + 4096, "state (PKT-09)", "%s: entry %lx", job_name(job),
	     s->entry);
	RULE(s->asid == w.program[job->queue].asid, "state (PKT-10)", "%s: address space %u", job_name(job),
	     s->asid);
	RULE(!!level == !!job->cga[0].kind && (!level || !memcmp(level, job->cga, sizeof(job->cga))),
	     "state (CGA-01)", "%s: other CGAs than asked for", job_name(job));
}

/* One of its kernels has failed, and the others are dropped one after another. */
static bool failing(const struct entry *e)
{
	unsigned i;

	for (i = 0; i < e->n; i++)
		if (w.job[e->job + i].faulted || w.job[e->job + i].killed)
			return true;
	return false;
}

/* A later kernel of a queue waits for its turn (PKT-03, PKT-16, RES-02). */
static void check_order(const struct job *job)
{
	const struct program *program = &w.program[job->queue];
	const struct entry *e = entry_of(job);
	uint64_t i, since = e->since;
	unsigned k;

	RULE(!w.suspended, "suspend (SYS-08)", "%s starts while the card is suspended", job_name(job));
	for (i = program->oldest; i < job->entry; i++) {
		const struct entry *before = &program->entry[i];

		if (before->kind >= BARRIER_AND && before->kind != AGENT_FILL)
			RULE(before->done, "order (PKT-03)", "%s starts before packet %lu is over",
			     job_name(job), i);
		RULE(!before->errors || before->skipped || (before->unskipped && program->busy_reset),
		     "order (PKT-06)", "%s starts behind bad packet %lu", job_name(job), i);
		for (k = 0; k < before->n && !before->bad; k++) {
			const struct job *other = &w.job[before->job + k];

			/* accepted in order, one list a level: TSK-02, RES-02 */
			if (other->life == WAITING && !failing(before) && other->level == job->level &&
			    !job->head && !other->head && !job->work && !other->work && !other->cancelled)
				rule("order (RES-02)", "%s starts before %s", job_name(job), job_name(other));
		}
	}
	if (job->barrier) {
		RULE(!program_packets_open(program, job->entry), "barrier (PKT-03)",
		     "%s has the barrier bit, and %u packets before it are not over", job_name(job),
		     program_packets_open(program, job->entry));
		for (i = 0; i < job->entry; i++)
			since = program->entry[i].last > since ? program->entry[i].last : since;
	}
	for (k = 0; k < job->kernel; k++) {
		const struct job *before = &w.job[e->job + k];

		if (!(program->flags & TUTTI_QUEUE_OVERLAP) || job->barrier)
			RULE(before->life >= DONE, "sequence (PKT-16)", "%s starts before %s has ended",
			     job_name(job), job_name(before));
		RULE(before->life != FAILED, "sequence (PKT-18)", "%s starts though %s has failed",
		     job_name(job), job_name(before));
		if (before->life >= DONE && before->finished > since &&
		    !(program->flags & TUTTI_QUEUE_OVERLAP))
			since = before->finished;
	}
	if (job->acquire)
		RULE(w.fence[0][job->acquire] > since, "acquire (PKT-04)",
		     "%s starts without its acquire fence (scope %u)", job_name(job), job->acquire);
}

/* A task that has a slot may wait for it. */
static bool waited_for(const struct job *job)
{
	return job->child && job->parent && job->parent->life == RUNNING && job->parent->slot >= 0;
}

/*
 * The task for which @victim was evicted may have ended by now, or have been given another slot. Then the slot goes to the
 * first task that waits. That is @victim itself, which is put at the head of its priority's list, unless other tasks have
 * taken the last entry for a shape, or it is that of a child that might get none otherwise (TSK-11).
 */
static void check_eviction(const struct job *victim, const struct job *by)
{
	RULE(victim->work || victim->faulted || victim->killed || by->level < victim->level ||
		 (by->level == victim->level && by->head) || (waited_for(by) && !waited_for(victim)) ||
		 victim->cancelled || !fair_shapes_left(victim),
	     "evict (TSK-03)", "%s had to go for %s", job_name(victim), job_name(by));
}

struct job *rules_state(unsigned slot, const struct tutti_task_state *state,
			const struct tutti_cga_shape *level, bool split)
{
	struct job *job = find(slot, state, split), *before = w.act[slot];

	TRACE("    state slot %u: %s%s\n", slot, job_name(job), split ? " by waves" : "");
	RULE(job->life <= RUNNING, "once (TSK-03)", "STATE of %s, which has ended", job_name(job));
	if (before && before != job && before->life == RUNNING && before->slot == (int)slot) {
		check_eviction(before, job);
		before->slot = -1;
		before->evicted = true;
		before->ready = false; /* until the end of the visit in which it gets a slot again */
		feature_on(F_EVICTED);
		features_add(&before->features, F_EVICTED);
	}
	if (split) {
		RULE(job->independent && !job->shared && !job->barriers && !job->cga[0].kind,
		     "split (RES-07)", "%s by waves", job_name(job));
		features_add(&job->features, F_SPLIT);
		feature_on(F_SPLIT);
		job->issued++;
		job->waves_left += job->waves;
		return job;
	}
	check_values(job, state, level);
	if (job->life == WAITING) {
		if (!job->child)
			check_order(job);
		job->life = RUNNING;
		job->order = w.started++;
		features_on(&job->features);
	}
	job->evicted = false;
	job->slot = (int)slot;
	w.act[slot] = job;
	return job;
}

/* ---- CTAs ---- */

void rules_launch(struct job *job, bool split, unsigned position)
{
	unsigned sm = card_sm_number(position);

	w.ctas++;
	RULE(job->life == RUNNING, "once (TSK-03)", "LAUNCH of %s, which is not there", job_name(job));
	RULE(!job->mask || job->mask[sm / 32] >> (sm % 32) & 1, "affinity (TSK-04)", "%s on SM %u",
	     job_name(job), sm);
	if (split) {
		RULE(job->waves_left, "split (RES-07)", "more waves of %s than it has", job_name(job));
		job->waves_left--;
		return;
	}
	RULE(job->work || job->issued < job->groups, "once (TSK-03)", "more CTAs of %s than it has",
	     job_name(job));
	RULE(!job->sequence || (!job->running && !job->told), "sequence (TSK-08)",
	     "%s has two CTAs in flight", job_name(job));
	job->issued++;
}

static bool items_over(const struct job *job)
{
	const struct tutti_work_queue *q = &works[job->work_queue];

	return q->closed && work_models[job->work_queue].given == q->write_index;
}

/* CTAs have ended, or the firmware has been told so: the job may be over. */
void rules_ended(struct job *job)
{
	if (job->life != RUNNING || job->told || job->running ||
	    (job->waves_left && !job->faulted && !job->killed))
		return;
	if (job->faulted || job->killed)
		job_over(job, FAILED);
	else if (job->work ? job->reported && items_over(job) : job->issued == job->groups)
		job_over(job, DONE);
	else if (job->cancel_sure && !job->signal)
		job_over(job, CANCELLED);
}

/* The driver was told that the packet is cancelled: kernels that have not started never will. */
void rules_cancelled(struct program *program, uint64_t packet)
{
	struct entry *e = &program->entry[packet % ENTRIES];
	unsigned i;

	for (i = 0; i < e->n; i++) {
		struct job *job = &w.job[e->job + i];

		job->cancel_sure = true;
		if (job->signal || job->life >= DONE)
			continue;
		if (job->life == WAITING || (job->slot < 0 && !job->running && !job->told))
			job_over(job, CANCELLED);
		else
			rules_ended(job);
	}
}

void rules_killed(struct job *job)
{
	/* others of its packet that were evicted before do not come back; those that are evicted later do */
	if (job->faulted)
		rules_lose_rest(job, RUNNING);
	/* its last completion and the KILL may have crossed */
	if (job->life != RUNNING)
		return;
	job->killed = true;
	rules_ended(job);
}
