// SPDX-License-Identifier: MIT
/* What is known of each kernel and packet: its name in messages, whether it is over, what ends with it. */
#include "rules/rules.h"

struct world w;

const char *job_name(const struct job *job)
{
	static char text[4][200];
	static unsigned turn;
	char *to = text[turn++ % 4];
	unsigned i;
	int n;

	if (!job)
		return "nobody";
	n = snprintf(to, 200,
		     "[%u: queue %u %s%u.%u, level %u, %u of %d CTAs of %u waves %u/%u/%u/%u, kernel %u",
		     job->number, job->queue, job->child ? "child " : "packet ", job->child ? 0 : job->entry,
		     job->kernel, job->level, job->issued, (int)job->groups, job->waves, job->scalar,
		     job->vector, job->shared, job->barriers, job->shape);
	for (i = 0; i < TUTTI_CGA_LEVELS && job->cga[i].kind; i++)
		n += snprintf(to + n, 200 - n, " CGA %u of kind %u",
			      job->cga[i].x * job->cga[i].y * job->cga[i].z, job->cga[i].kind);
	snprintf(to + n, 200 - n, "%s%s%s%s%s%s%s%s%s]", job->sequence ? " sequence" : "",
		 job->quota ? " quota" : "", job->throttle ? " throttle" : "", job->work ? " queue" : "",
		 job->mask ? " mask" : "", job->hold ? " long" : "", job->head ? " head" : "",
		 job->multicast ? " multicast" : "", job->cancelled ? " cancelled" : "");
	return to;
}

struct entry *entry_of(const struct job *job)
{
	return job->child ? NULL : &w.program[job->queue].entry[job->entry];
}

bool job_of_this_life(const struct job *job)
{
	return job->life_of_queue == w.program[job->queue].life;
}

bool entry_over(const struct program *program, const struct entry *entry)
{
	unsigned i;

	if (!entry->published)
		return false;
	if (entry->bad)
		return entry->skipped || (entry->unskipped && program->busy_reset);
	if (entry->kind >= BARRIER_AND)
		return entry->done;
	for (i = 0; i < entry->n; i++)
		if (w.job[entry->job + i].life < DONE)
			return false;
	return true;
}

void program_advance(struct program *program)
{
	static const uint8_t live[] = {F_COUNT, F_COUNT, F_BARRIER_AND, F_BARRIER_OR, F_AGENT, F_AGENT};

	while (program->oldest < program->write && entry_over(program, &program->entry[program->oldest])) {
		struct entry *e = &program->entry[program->oldest++];

		if (e->live && live[e->kind] < F_COUNT && !e->bad)
			feature_off(live[e->kind]);
		e->live = false;
	}
}

struct job *root_of(struct job *job)
{
	while (job->child && job->parent)
		job = job->parent;
	return job;
}

void rules_lose_rest(struct job *failed, enum life life)
{
	struct job *job, *root = root_of(failed);

	for (job = w.job; job < w.job + w.jobs; job++)
		if (job != failed && job->queue == failed->queue &&
		    job->life_of_queue == failed->life_of_queue && root_of(job)->entry == root->entry &&
		    job->life == life && job->slot < 0 && !job->running && !job->told)
			job_over(job, LOST);
}

void job_over(struct job *job, enum life life)
{
	if (job->life == RUNNING)
		features_off(&job->features);
	if (job->faulted && life == FAILED)
		feature_off(F_FAULT);
	if (features_has(&job->features, F_PARENT_WAITS) && job->accepted && job->parent->children)
		job->parent->children--;
	job->life = (uint8_t)life;
	job->finished = ++w.now;
	job->children = 0;
	if (job->throttle)
		w.throttles--;
	if (job->slot >= 0 && w.act[job->slot] == job)
		w.act[job->slot] = NULL;
	job->slot = -1;
	if (job->faulted && life == FAILED)
		rules_lose_rest(job, WAITING); /* they never will start, children included (PKT-18) */
	if (job->child)
		return;
	if (job_of_this_life(job)) {
		entry_of(job)->last = job->finished;
		program_advance(&w.program[job->queue]);
	}
}

/* No more kernels of a cancelled packet start, even before the driver is told so. */
static bool cancelled_quietly(const struct entry *entry)
{
	unsigned i;

	for (i = 0; i < entry->n; i++) {
		const struct job *job = &w.job[entry->job + i];

		if (job->life < DONE && (!job->cancelled || job->running || job->told))
			return false;
	}
	return entry->n && !entry->bad;
}

unsigned program_packets_open(const struct program *program, uint64_t before)
{
	uint64_t i;
	unsigned n = 0;

	for (i = program->oldest; i < before; i++)
		n += !entry_over(program, &program->entry[i]) && !cancelled_quietly(&program->entry[i]);
	return n;
}
