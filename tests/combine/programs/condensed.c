// SPDX-License-Identifier: MIT
/* Condensed packets in both forms, with what each of their kernels means. */
#include "programs/produce.h"

static void diff(struct program *program, struct job *job, uint16_t *unit, unsigned *at, uint32_t vector)
{
	bool table = program->flags & TUTTI_QUEUE_TABLE_DIFFS;
	uint32_t groups;
	uint64_t value;

	if (vector & TUTTI_DIFF_SCOPES) {
		job->barrier = MAYBE(BARRIER_BIT, 3);
		job->acquire = (uint8_t)(ALLOWED(FENCES) ? roll(3) : 0);
		job->release = (uint8_t)(ALLOWED(FENCES) ? roll(3) : 0);
		unit[(*at)++] = tutti_header(0, job->barrier, job->acquire, job->release) >> 8;
	}
	if (vector & (table ? TUTTI_TABLE_GRID_X : TUTTI_DIFF_GRID_X)) {
		uint32_t rest = job->groups / (1 + (job->grid_x - 1) / (32 * job->waves));

		groups = metadata_whole_x(job) * (1 + roll(6));
		job->grid_x = groups * 32 * job->waves;
		job->groups = groups * rest;
		memcpy(unit + *at, &job->grid_x, 4);
		*at += 2;
		if (table) {
			memcpy(unit + *at, &groups, 4);
			*at += 2;
		}
	}
	if (vector & (table ? TUTTI_TABLE_KERNARG : TUTTI_DIFF_KERNARG)) {
		job->kernarg = 16ull * (job->number + 1);
		memcpy(unit + *at, &job->kernarg, 8);
		*at += 4;
	}
	if (vector & (table ? TUTTI_TABLE_SIGNAL : TUTTI_DIFF_SIGNAL)) {
		job->signal = roll(2) ? new_signal() : 0;
		value = signal_address(job->signal);
		memcpy(unit + *at, &value, 8);
		*at += 4;
	}
}

static unsigned units_of(const struct program *program, uint32_t vector)
{
	bool table = program->flags & TUTTI_QUEUE_TABLE_DIFFS;

	if (table)
		return 1 + !!(vector & TUTTI_TABLE_SCOPES) + 4 * !!(vector & TUTTI_TABLE_GRID_X) +
		       4 * !!(vector & TUTTI_TABLE_KERNARG) + 4 * !!(vector & TUTTI_TABLE_SIGNAL);
	return 1 + !!(vector & TUTTI_DIFF_SCOPES) + 2 * !!(vector & TUTTI_DIFF_GRID_X) +
	       4 * !!(vector & TUTTI_DIFF_KERNARG) + 4 * !!(vector & TUTTI_DIFF_SIGNAL);
}

static uint32_t some_vector(const struct program *program, bool changes)
{
	bool table = program->flags & TUTTI_QUEUE_TABLE_DIFFS;
	uint32_t vector = 0;

	if (!changes)
		return 0;
	if (!roll(3))
		vector |= TUTTI_DIFF_SCOPES;
	if (!roll(2))
		vector |= table ? (unsigned)TUTTI_TABLE_GRID_X : (unsigned)TUTTI_DIFF_GRID_X;
	if (!roll(2))
		vector |= table ? (unsigned)TUTTI_TABLE_KERNARG : (unsigned)TUTTI_DIFF_KERNARG;
	if (!roll(3))
		vector |= table ? (unsigned)TUTTI_TABLE_SIGNAL : (unsigned)TUTTI_DIFF_SIGNAL;
	return vector;
}

static unsigned kernels_wanted(void)
{
	static const uint8_t feature[] = {F_COND_1, F_COND_6, F_COND_31};
	unsigned i = roll(3);

	while (!features_has(&w.scenario.allowed, feature[i]))
		i = (i + 1) % 3;
	return i == 0 ? 1 : i == 1 ? 2 + roll(5) : 7 + roll(25);
}

static void condensed_features(struct job *job, unsigned n, uint32_t vector)
{
	static const uint8_t forms[] = {F_PLAIN_1D,   F_PLAIN_2D,     F_PLAIN_3D, F_REF_STORE,
					F_DIFF_EMPTY, F_DIFF_SEVERAL, F_COND_1,	  F_COND_6,
					F_COND_31,    F_BARRIER_BIT,  F_FENCES};

	for (unsigned i = 0; i < sizeof(forms); i++)
		features_remove(&job->features, forms[i]);
	features_add(&job->features, n == 1 ? F_COND_1 : n <= 6 ? F_COND_6 : F_COND_31);
	if (!vector)
		features_add(&job->features, F_DIFF_EMPTY);
	if (vector & (vector - 1))
		features_add(&job->features, F_DIFF_SEVERAL);
	if (job->throttle)
		features_add(&job->features, F_THROTTLE_DIFF);
	if (w.program[job->queue].flags & TUTTI_QUEUE_OVERLAP)
		features_add(&job->features, F_OVERLAP);
	if (job->barrier)
		features_add(&job->features, F_BARRIER_BIT);
	if (job->acquire || job->release)
		features_add(&job->features, F_FENCES);
}

/* Another queue may have asked for a priority that @program may not; its packet would be refused as a whole (PKT-18). */
static bool above_limit(const struct program *program, const struct job *job)
{
	return features_has(&job->features, F_PRIORITY) && job->level < program->highest;
}

/* What another queue stores can be used when its packet is over, since nobody knows before in which order they are taken. */
static bool usable(const struct program *program, const struct reference *reference)
{
	return reference->valid && (reference->job.queue == program->id ||
				    (reference_settled(reference) && !above_limit(program, &reference->job)));
}

bool packet_has_reference(const struct program *program)
{
	unsigned i;

	for (i = 0; i < TUTTI_REFERENCES; i++)
		if (usable(program, &w.buffer[program->buffer].reference[i]))
			return true;
	return false;
}

/* @job, the next kernel of @e, is that of @reference. */
static void refer(const struct program *program, const struct entry *e, struct job *job, struct reference *reference)
{
	unsigned number = job->number, kernel = job->kernel;

	if (reference->job.queue != program->id) {
		reference->used = program->write + 1;
		reference->life = (uint8_t)program->life;
	}
	*job = reference->job;
	job->number = number;
	job->queue = (uint8_t)program->id;
	job->entry = (uint32_t)(e - program->entry);
	job->kernel = (uint8_t)kernel;
	job->life_of_queue = (uint8_t)program->life;
	if (!features_has(&job->features, F_PRIORITY))
		job->level = (uint8_t)program->priority;
}

void packet_condensed(struct program *program, struct entry *e, union tutti_packet *p)
{
	unsigned n = kernels_wanted(), at = 0, ref, i;
	bool changes = ALLOWED(DIFF_SEVERAL) && n < 20, table = program->flags & TUTTI_QUEUE_TABLE_DIFFS;
	struct reference *references = w.buffer[program->buffer].reference;
	uint32_t vector, vectors[TUTTI_CONDENSED_KERNELS];

	e->kind = CONDENSED;
	e->job = w.jobs;
	p->condensed.type = TUTTI_PACKET_CONDENSED;
	for (i = 0; i < n && at < TUTTI_CONDENSED_UNITS; i++) {
		struct job *job;

		for (ref = roll(8); !usable(program, &references[ref % 8]); ref++)
			;
		ref %= 8;
		vector = some_vector(program, changes);
		/* a signal is decremented once: the reference's own has been */
		if (references[ref].job.signal)
			vector |= table ? (unsigned)TUTTI_TABLE_SIGNAL : (unsigned)TUTTI_DIFF_SIGNAL;
		/* kernels that overlap may start in any order, so each must differ from the others */
		if (program->flags & TUTTI_QUEUE_OVERLAP && (i || vector))
			vector |= table ? (unsigned)TUTTI_TABLE_KERNARG : (unsigned)TUTTI_DIFF_KERNARG;
		if (at + units_of(program, vector) > TUTTI_CONDENSED_UNITS)
			break;
		job = job_new(program, e, i);
		refer(program, e, job, &references[ref]);
		e->references |= (uint8_t)(1u << ref);
		w.throttles += job->throttle;
		p->condensed.unit[at++] = (uint16_t)(vector << TUTTI_DIFF_VECTOR_SHIFT | ref);
		diff(program, job, p->condensed.unit, &at, vector);
		vectors[i] = vector;
		job_signal(job, job->signal);
		if (job->release > e->widest)
			e->widest = job->release;
	}
	e->n = (uint8_t)i;
	p->condensed.num_kernels = (uint8_t)i;
	for (n = e->n, i = 0; i < n; i++) {
		w.job[e->job + i].kernels = (uint8_t)n;
		condensed_features(&w.job[e->job + i], n, vectors[i]);
	}
	e->barrier = w.job[e->job].barrier;
	e->signal = w.job[e->job + n - 1].signal;
}
