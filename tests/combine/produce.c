// SPDX-License-Identifier: MIT
/* Programs: packets of every form, with what each of them means. */
#include "combine.h"

#define ALLOWED(f)     features_has(&w.scenario.allowed, F_##f)
#define MAYBE(f, odds) (ALLOWED(f) && !roll(odds))

#define CGA_KERNELS   24u /* kernels from here on say that they have CGAs ... */
#define WHOLE_KERNELS 28u /* ... and these that their waves are independent */

static unsigned largest_cpc, largest_gpc, largest_ugpu;

void produce_reset(void)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;
	unsigned g, u[2] = {0, 0};

	largest_gpc = 0;
	for (g = 0; g < d->gpcs; g++) {
		largest_gpc = d->gpc[g].sms > largest_gpc ? d->gpc[g].sms : largest_gpc;
		u[d->gpc[g].ugpu & 1] += d->gpc[g].sms;
	}
	largest_ugpu = u[0] > u[1] ? u[0] : u[1];
	largest_cpc = largest_gpc < 6 ? largest_gpc : 6;
}

/* ---- kernels ---- */

/* Shape 0 is small; the others differ in what they need most of. */
static void make_shape(struct tutti_kernel_descriptor *k, unsigned shape)
{
	static const struct {
		uint16_t scalar, vector, barriers;
		uint32_t shared;
	} shapes[9] = {
	    {1, 2, 0, 0},  {3, 5, 0, 5},  {5, 3, 1, 10}, {7, 1, 0, 21}, {2, 12, 2, 0},
	    {12, 2, 0, 3}, {4, 9, 0, 33}, {8, 8, 4, 0},	 {1, 1, 1, 64},
	};

	k->scalar_blocks = shapes[shape].scalar;
	k->vector_blocks = shapes[shape].vector;
	k->barriers = shapes[shape].barriers;
	k->flags = k->barriers ? TUTTI_KERNEL_BARRIER : 0;
	k->group_bytes = 2048 * shapes[shape].shared;
}

static unsigned domain_sms(unsigned kind)
{
	switch (kind) {
	case TUTTI_CGA_CPC:
		return largest_cpc;
	case TUTTI_CGA_GPC:
		return largest_gpc;
	case TUTTI_CGA_UGPU:
		return largest_ugpu;
	default:
		return w.sms;
	}
}

static unsigned some_kind(void)
{
	static const uint8_t feature[] = {F_CGA_CPC, F_CGA_GPC, F_CGA_UGPU, F_CGA_GPU};
	unsigned kind[4], n = 0, i;

	for (i = 0; i < 4; i++)
		if (features_has(&w.scenario.allowed, feature[i]))
			kind[n++] = i + 1;
	return n ? kind[roll(n)] : 0;
}

static unsigned some_parts(unsigned kind)
{
	unsigned most = domain_sms(kind);

	return 1 + roll(most > 6 ? 6 : most);
}

void produce_kernels(void)
{
	unsigned i, kind, shapes = w.shapes;

	for (i = 0; i < KERNELS; i++) {
		kernels[i] = (struct tutti_kernel_descriptor){
		    .magic = TUTTI_KERNEL_MAGIC, .version = 1, .kernarg_align = 16, .entry_offset = 4096};
		make_shape(&kernels[i], shapes > 1 ? roll(shapes) : 0);
		if (i >= CGA_KERNELS && i < WHOLE_KERNELS && (kind = some_kind())) {
			kernels[i].cga_kind = (uint8_t)kind;
			kernels[i].cga[0] = (uint16_t)some_parts(kind);
			kernels[i].cga[1] = kernels[i].cga[2] = 1;
			if (kind <= TUTTI_CGA_GPC && MAYBE(LMEM, 2))
				kernels[i].flags |= TUTTI_KERNEL_LMEM;
		} else if (i >= WHOLE_KERNELS && ALLOWED(INDEPENDENT)) {
			make_shape(&kernels[i], shapes > 4 ? 4 : 0);
			kernels[i].barriers = kernels[i].group_bytes = kernels[i].flags = 0;
			kernels[i].flags = TUTTI_KERNEL_INDEPENDENT;
		}
	}
}

/* ---- signals ---- */

uint32_t new_signal(void)
{
	if (w.signals + 1 >= SIGNALS)
		return 0;
	w.signals++;
	signals[w.signals].value = 1;
	signals[w.signals].flags = 0;
	return w.signals;
}

uint64_t signal_address(uint32_t signal)
{
	return signal ? SIGNAL_AT + 64ull * signal : 0;
}

static void own(struct job *job, uint32_t signal)
{
	job->signal = signal;
	if (signal)
		owners[signal].jobs++;
}

/* ---- metadata ---- */

static void whole_of(struct job *job)
{
	unsigned i;

	job->whole = 1;
	for (i = 0; i < TUTTI_CGA_LEVELS && job->cga[i].kind; i++)
		job->whole *= job->cga[i].x;
}

static void cga_features(struct job *job)
{
	static const uint8_t feature[] = {0, F_CGA_CPC, F_CGA_GPC, F_CGA_UGPU, F_CGA_GPU};
	unsigned i;

	for (i = 0; i < TUTTI_CGA_LEVELS && job->cga[i].kind; i++)
		features_add(&job->features, feature[job->cga[i].kind]);
	if (i > 1)
		features_add(&job->features, F_CGA_NESTED);
	if (i && job->multicast)
		features_add(&job->features, F_MULTICAST);
	if (i && kernels[job->shape].flags & TUTTI_KERNEL_LMEM)
		features_add(&job->features, F_LMEM);
}

static void fill_levels(struct job *job, struct tutti_tmd *t)
{
	unsigned kind = some_kind(), inner, parts;

	if (!kind)
		return;
	parts = some_parts(kind);
	if (MAYBE(CGA_NESTED, 2) && kind > 1 && (inner = some_kind()) && inner < kind) {
		parts = 1 + roll(inner == TUTTI_CGA_CPC && largest_cpc < 3 ? 1 : 3);
		t->cga[0] = (struct tutti_cga_shape){(uint16_t)parts, 1, 1, (uint16_t)inner};
		t->cga[1] = (struct tutti_cga_shape){(uint16_t)(1 + roll(2)), 1, 1, (uint16_t)kind};
	} else {
		t->cga[0] = (struct tutti_cga_shape){(uint16_t)parts, 1, 1, (uint16_t)kind};
	}
	memcpy(job->cga, t->cga, sizeof(job->cga));
	t->cga_mode = MAYBE(MULTICAST, 2);
	job->multicast = t->cga_mode;
}

static void fill_mask(struct job *job, struct tutti_tmd *t, unsigned number)
{
	unsigned i, set = 0;

	for (i = 0; i < MASK_WORDS; i++)
		masks[number][i] = roll(3) ? roll(0x10000) << 16 | roll(0x10000) : 0;
	if (!roll(3)) { /* a single SM */
		memset(masks[number], 0, sizeof(masks[number]));
		i = roll(w.sms);
		masks[number][i / 32] = 1u << (i % 32);
	}
	for (i = 0; i < w.sms; i++)
		set |= masks[number][i / 32] >> (i % 32) & 1;
	masks[number][0] |= !set;
	t->flags |= TUTTI_TMD_AFFINITY;
	t->affinity = MASK_AT + number * sizeof(masks[0]);
	job->mask = masks[number];
	features_add(&job->features, F_AFFINITY);
}

static void fill_work(struct job *job, struct tutti_tmd *t)
{
	struct tutti_work_queue *q = &works[w.works];

	*q = (struct tutti_work_queue){.base = FILL_AT, .items = 64, .item_bytes = 16};
	t->type = TUTTI_TASK_QUEUE;
	t->queue = WORK_AT + w.works * sizeof(works[0]);
	t->coalesce_max = 1 + roll(16);
	t->coalesce_min = 1 + roll(t->coalesce_max);
	t->coalesce_us = roll(2) ? 0 : roll(200);
	job->work = true;
	job->work_queue = (uint16_t)w.works++;
	features_add(&job->features, F_WORK);
}

static void fill_throttle(struct job *job, struct tutti_tmd *t)
{
	unsigned blocks;

	t->flags |= TUTTI_TMD_THROTTLE;
	t->throttle_sms = 1 + roll(w.sms > 4 ? 4 : w.sms);
	job->throttle = true;
	job->throttle_sms = (uint16_t)t->throttle_sms;
	blocks = w.sms * 64 / t->throttle_sms;
	blocks = blocks > 256 ? 256 : blocks;
	job->shared = (uint16_t)(1 + roll(blocks));
	if (job->shared < (kernels[job->shape].group_bytes + 2047) / 2048)
		job->shared = (uint16_t)((kernels[job->shape].group_bytes + 2047) / 2048);
	features_add(&job->features, F_THROTTLE);
	w.throttles++;
}

/* Everything a record can say; what excludes something else comes first. Return: its number. */
static unsigned fill_tmd(struct job *job, const struct program *program, bool child)
{
	unsigned number = w.tmds++;
	struct tutti_tmd *t = &tmds[number];

	*t = (struct tutti_tmd){.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION};
	if (MAYBE(PRIORITY, 2)) {
		t->priority = (uint8_t)(1 + roll(10));
		job->level = t->priority;
		features_add(&job->features, F_PRIORITY);
	}
	if (MAYBE(HEAD, 3)) {
		t->flags |= TUTTI_TMD_HEAD;
		job->head = true;
		features_add(&job->features, F_HEAD);
	}
	if (!child && !job->cga[0].kind && w.works < WORKS && MAYBE(WORK, 3))
		fill_work(job, t);
	else if (!child && !job->cga[0].kind && MAYBE(THROTTLE, 4))
		fill_throttle(job, t);
	else if (!child && !roll(2))
		fill_levels(job, t);
	if (MAYBE(AFFINITY, 3) && !job->throttle && !job->cga[0].kind)
		fill_mask(job, t, number);
	if (!job->cga[0].kind && !job->work && MAYBE(SEQUENCE, 4)) {
		t->flags |= TUTTI_TMD_SEQUENCE;
		job->sequence = true;
		features_add(&job->features, F_SEQUENCE);
	}
	if (MAYBE(QUOTA, 2)) {
		t->flags |= TUTTI_TMD_QUOTA;
		t->quota = job->quota = 1 + roll(6);
		features_add(&job->features, F_QUOTA);
	}
	if (MAYBE(INDEPENDENT, 2) && !job->cga[0].kind) {
		t->flags |= TUTTI_TMD_INDEPENDENT;
		job->independent = true;
		features_add(&job->features, F_INDEPENDENT);
	} else if (job->independent && !roll(3)) {
		t->flags |= TUTTI_TMD_DEPENDENT;
		job->independent = false;
		features_remove(&job->features, F_INDEPENDENT);
	}
	(void)program;
	job->tmd = (uint16_t)(number + 1);
	return number;
}

/* ---- dispatch packets ---- */

static struct job *new_job(struct program *program, struct entry *e, unsigned kernel)
{
	struct job *job = &w.job[w.jobs];

	*job = (struct job){.number = w.jobs++,
			    .queue = (uint8_t)program->id,
			    .life_of_queue = (uint8_t)program->life,
			    .entry = e ? (uint32_t)(e - program->entry) : ENTRIES,
			    .kernel = (uint8_t)kernel,
			    .level = (uint8_t)program->priority,
			    .slot = -1,
			    .whole = 1,
			    .kernels = 1};
	return job;
}

static void needs(struct job *job)
{
	const struct tutti_kernel_descriptor *k = &kernels[job->shape];

	job->scalar = (uint8_t)k->scalar_blocks;
	job->vector = (uint8_t)k->vector_blocks;
	job->barriers = (uint8_t)k->barriers;
	if (!job->shared)
		job->shared = (uint16_t)((k->group_bytes + 2047) / 2048);
	job->independent |= k->flags & TUTTI_KERNEL_INDEPENDENT;
	if (job->independent)
		features_add(&job->features, F_INDEPENDENT);
}

static void size(struct job *job, struct tutti_dispatch_packet *p, bool many)
{
	static const uint8_t forms[] = {F_PLAIN_1D, F_PLAIN_2D, F_PLAIN_3D};
	uint32_t x = job->whole * (1 + roll(many ? 40 : 6)), y = 1, z = 1;
	unsigned dimensions = 1;

	if (!roll(30))
		x *= 20;
	else if (ALLOWED(STALL) && ALLOWED(CARD_144) && !roll(5))
		x *= 300; /* waits for every CTA that ends while the engines stand still */
	if (job->whole == 1 && !many) {
		for (dimensions = 1 + roll(3);
		     dimensions > 1 && !features_has(&w.scenario.allowed, forms[dimensions - 1]);)
			dimensions--;
		y = dimensions > 1 ? 1 + roll(4) : 1;
		z = dimensions > 2 ? 1 + roll(3) : 1;
	}
	features_add(&job->features, forms[dimensions - 1]);
	p->setup = (uint16_t)dimensions;
	p->workgroup_x = (uint16_t)(32 * job->waves);
	p->workgroup_y = p->workgroup_z = 1;
	p->grid_x = job->grid_x = x * 32 * job->waves - (job->whole == 1 ? roll(32) : 0);
	p->grid_y = y;
	p->grid_z = z;
	job->groups = x * y * z;
	if (job->work) {
		p->grid_x = 32u * job->waves;
		p->grid_y = p->grid_z = 1;
		p->setup = 1;
		job->groups = ~0u;
	}
}

static void scopes(struct job *job, struct entry *e, union tutti_packet *p, unsigned type)
{
	bool barrier = MAYBE(BARRIER_BIT, 3), fences = ALLOWED(FENCES);
	unsigned acquire = fences ? roll(3) : 0, release = fences ? roll(3) : 0;

	p->dispatch.header = tutti_header(type, barrier, acquire, release);
	e->barrier = barrier;
	e->acquire = (uint8_t)acquire;
	e->release = e->widest = (uint8_t)release;
	if (!job)
		return;
	job->barrier = barrier;
	job->acquire = (uint8_t)acquire;
	job->release = (uint8_t)release;
	if (barrier)
		features_add(&job->features, F_BARRIER_BIT);
	if (acquire || release)
		features_add(&job->features, F_FENCES);
}

/*
 * A queue that is never empty launches the same kernel most of the time, as programs do; those of neighbours
 * have the same place in a cache of 16 descriptors.
 */
static unsigned some_kernel(const struct program *program)
{
	unsigned k = roll(some_kind() ? WHOLE_KERNELS : CGA_KERNELS);

	if (ALLOWED(FLOOD) && roll(8))
		return w.scenario.config % 8 + 16 * (program->id & 1);

	return ALLOWED(INDEPENDENT) && !roll(4) ? WHOLE_KERNELS + roll(4) : k;
}

static void use_kernel(struct job *job, unsigned kernel)
{
	const struct tutti_kernel_descriptor *k = &kernels[kernel];

	job->shape = (uint8_t)kernel;
	job->waves = (uint8_t)(1 + kernel % (w.shapes > 1 || kernel >= WHOLE_KERNELS ? 4 : 1));
	if (kernel >= WHOLE_KERNELS)
		job->waves = (uint8_t)(2 + kernel % 3 * 2);
	if (k->cga_kind)
		job->cga[0] = (struct tutti_cga_shape){k->cga[0], k->cga[1], k->cga[2], k->cga_kind};
	needs(job);
}

static void remember(struct program *program, struct job *job, struct entry *e, union tutti_packet *p)
{
	unsigned ref = roll(TUTTI_REFERENCES);

	if (!(program->flags & TUTTI_QUEUE_RSB) || !MAYBE(REF_STORE, 2) || job->work || job->throttle)
		return;
	/* what may be refused is not stored: who uses it later could not be foretold */
	if (job->cga[0].kind && (job->cga[1].kind || job->mask || w.cap || ALLOWED(SM_OFF) || w.sms > 144 ||
				 kernels[job->shape].flags & TUTTI_KERNEL_LMEM))
		return;
	p->dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | ref);
	e->reference = true;
	features_add(&job->features, F_REF_STORE);
	program->reference[ref] = (struct reference){true, *job};
}

static void dispatch(struct program *program, struct entry *e, union tutti_packet *p, bool many)
{
	struct job *job = new_job(program, e, 0);
	bool extended = program->flags & TUTTI_QUEUE_EXTENDED;

	use_kernel(job, some_kernel(program));
	e->kind = DISPATCH;
	e->n = 1;
	e->job = job->number;
	if (extended && !roll(2) && w.tmds < TMDS)
		p->dispatch.tmd = TMD_AT + fill_tmd(job, program, false) * sizeof(tmds[0]);
	scopes(job, e, p, TUTTI_PACKET_KERNEL_DISPATCH);
	whole_of(job);
	cga_features(job);
	if (MAYBE(LONG, 6) && !job->work) {
		job->hold = true;
		features_add(&job->features, F_LONG);
	}
	size(job, &p->dispatch, many);
	job->kernarg = 16ull * (job->number + 1);
	own(job, roll(2) ? new_signal() : 0);
	p->dispatch.kernel_object = KERNEL_AT + 64 * job->shape;
	p->dispatch.kernarg = job->kernarg;
	p->dispatch.signal = signal_address(job->signal);
	if (job->throttle)
		p->dispatch.group_bytes = job->shared * 2048u - roll(2048);
	remember(program, job, e, p);
	e->signal = job->signal;
}

/* ---- condensed packets ---- */

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

		groups = job->whole * (1 + roll(6));
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
	if (w.program[job->queue].flags & TUTTI_QUEUE_OVERLAP)
		features_add(&job->features, F_OVERLAP);
	if (job->barrier)
		features_add(&job->features, F_BARRIER_BIT);
	if (job->acquire || job->release)
		features_add(&job->features, F_FENCES);
}

static bool any_reference(const struct program *program)
{
	unsigned i;

	for (i = 0; i < TUTTI_REFERENCES; i++)
		if (program->reference[i].valid)
			return true;
	return false;
}

static void condensed(struct program *program, struct entry *e, union tutti_packet *p)
{
	unsigned n = kernels_wanted(), at = 0, ref, i;
	bool changes = ALLOWED(DIFF_SEVERAL) && n < 20, table = program->flags & TUTTI_QUEUE_TABLE_DIFFS;
	uint32_t vector, vectors[TUTTI_CONDENSED_KERNELS];

	e->kind = CONDENSED;
	e->job = w.jobs;
	p->condensed.type = TUTTI_PACKET_CONDENSED;
	for (i = 0; i < n && at < TUTTI_CONDENSED_UNITS; i++) {
		struct job *job;
		unsigned number = w.jobs;

		for (ref = roll(8); !program->reference[ref % 8].valid; ref++)
			;
		ref %= 8;
		vector = some_vector(program, changes);
		/* a signal is decremented once: the reference's own has been */
		if (program->reference[ref].job.signal)
			vector |= table ? (unsigned)TUTTI_TABLE_SIGNAL : (unsigned)TUTTI_DIFF_SIGNAL;
		/* kernels that overlap may start in any order: each must be told from its like */
		if (program->flags & TUTTI_QUEUE_OVERLAP && (i || vector))
			vector |= table ? (unsigned)TUTTI_TABLE_KERNARG : (unsigned)TUTTI_DIFF_KERNARG;
		if (at + units_of(program, vector) > TUTTI_CONDENSED_UNITS)
			break;
		job = new_job(program, e, i);
		*job = program->reference[ref].job;
		job->number = number;
		job->entry = (uint32_t)(e - program->entry);
		job->kernel = (uint8_t)i;
		job->life_of_queue = (uint8_t)program->life;
		p->condensed.unit[at++] = (uint16_t)(vector << TUTTI_DIFF_VECTOR_SHIFT | ref);
		diff(program, job, p->condensed.unit, &at, vector);
		vectors[i] = vector;
		own(job, job->signal);
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

/* ---- barriers and agents ---- */

/* Signals made before, by packets of any queue: nobody waits in a circle. */
static void barrier(struct program *program, struct entry *e, union tutti_packet *p)
{
	bool or_packet = ALLOWED(BARRIER_OR) && (!ALLOWED(BARRIER_AND) || roll(2));
	uint32_t newest = w.signals, i;

	(void)program;
	e->kind = or_packet ? BARRIER_OR : BARRIER_AND;
	scopes(NULL, e, p, or_packet ? TUTTI_PACKET_BARRIER_OR : TUTTI_PACKET_BARRIER_AND);
	for (i = 0; i < 5; i++)
		if (newest && !roll(2)) {
			e->dependency[i] = newest - roll(newest < 12 ? newest : 12);
			p->barrier.dependency[i] = signal_address(e->dependency[i]);
		}
	e->signal = new_signal();
	p->barrier.signal = signal_address(e->signal);
}

static void agent(struct program *program, struct entry *e, union tutti_packet *p)
{
	e->kind = roll(2) ? AGENT_NOP : AGENT_FILL;
	scopes(NULL, e, p, TUTTI_PACKET_AGENT_DISPATCH);
	p->agent.type = e->kind == AGENT_NOP ? TUTTI_AGENT_NOP : TUTTI_AGENT_FILL;
	p->agent.arg[0] = FILL_AT + ((uint64_t)program->id << 32) + (program->write << 8);
	p->agent.arg[2] = 4 * (1 + roll(60));
	e->signal = new_signal();
	p->agent.signal = signal_address(e->signal);
}

/* ---- writing ---- */

static bool room(const struct program *program)
{
	return program->alive && !program->dying && program->write < ENTRIES &&
	       program->write - program->read < RING && w.jobs + TUTTI_CONDENSED_KERNELS < JOBS &&
	       w.signals + TUTTI_CONDENSED_KERNELS + 2 < SIGNALS;
}

static void write_packet(struct program *program, const struct entry *e, const union tutti_packet *p)
{
	union tutti_packet *slot = &program->ring[program->write % RING];

	((struct entry *)e)->first_word = p->word[0];
	memcpy(&slot->word[1], &p->word[1], sizeof(*p) - 4);
	program->write++;
}

static const char *const kind_name[] = {"dispatch",   "condensed", "barrier-AND",
					"barrier-OR", "agent nop", "agent fill"};

bool produce(struct program *program)
{
	struct entry *e = &program->entry[program->write % ENTRIES];
	union tutti_packet p = {{0}};
	bool may_condense, flood = program->flood;
	unsigned what = roll(12), i;

	if (!room(program))
		return false;
	memset(e, 0, sizeof(*e));
	may_condense = any_reference(program) && (ALLOWED(COND_1) || ALLOWED(COND_6) || ALLOWED(COND_31));
	if (what < 5 && may_condense)
		condensed(program, e, &p);
	else if (what == 5 && (ALLOWED(BARRIER_AND) || ALLOWED(BARRIER_OR)) && !flood)
		barrier(program, e, &p);
	else if (what == 6 && ALLOWED(AGENT))
		agent(program, e, &p);
	else
		dispatch(program, e, &p, w.sms > 8 && !roll(4));
	TRACE("  queue %u packet %lu: %s%s", program->id, program->write, kind_name[e->kind],
	      e->reference ? ", stored" : "");
	for (i = 0; i < e->n && trace; i++)
		TRACE("%s %s", i ? "," : "", job_name(&w.job[e->job + i]));
	for (i = 0; i < 5 && e->kind >= BARRIER_AND; i++)
		if (e->dependency[i])
			TRACE(" waits for signal %u;", e->dependency[i]);
	TRACE("\n");
	write_packet(program, e, &p);
	return true;
}

/* A packet that must be refused, and nothing else: not even the others notice (PKT-06). */
void produce_bad(struct program *program)
{
	struct entry *e = &program->entry[program->write % ENTRIES];
	union tutti_packet p = {{0}};

	if (!room(program))
		return;
	memset(e, 0, sizeof(*e));
	e->kind = DISPATCH;
	e->bad = true;
	p.dispatch = (struct tutti_dispatch_packet){.header = TUTTI_PACKET_KERNEL_DISPATCH,
						    .setup = 1,
						    .workgroup_x = 32,
						    .workgroup_y = 1,
						    .workgroup_z = 1,
						    .grid_x = 32,
						    .grid_y = 1,
						    .grid_z = 1,
						    .kernel_object = KERNEL_AT};
	e->errors = 1u << TUTTI_ERROR_PACKET;
	switch (roll(7)) {
	case 0:
		p.dispatch.grid_x = 0;
		e->errors = 1u << TUTTI_ERROR_DIMENSIONS;
		break;
	case 1:
		p.dispatch.group_bytes = 64 * 2048 + 1;
		e->errors = 1u << TUTTI_ERROR_GROUP_MEMORY;
		break;
	case 2:
		p.dispatch.workgroup_x = 1025;
		e->errors = 1u << TUTTI_ERROR_WORKGROUP;
		break;
	case 3:
		p.dispatch.kernel_object = roll(2) ? 0 : 0x5000000040ull;
		e->errors = 1u << TUTTI_ERROR_CODE_OBJECT;
		break;
	case 4:
		p.dispatch.signal = 0x1001;
		break;
	case 5:
		p.dispatch.header = 6 + (uint16_t)roll(50);
		break;
	default:
		p.condensed.type = TUTTI_PACKET_CONDENSED;
		p.condensed.num_kernels = (uint8_t)(32 + roll(200));
		break;
	}
	TRACE("  queue %u packet %lu: bad\n", program->id, program->write);
	write_packet(program, e, &p);
	publish(program, true);
}

static bool rung(const struct program *program)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;

	(void)d;
	return hal_host.engines.doorbell_enable[program->id / 32] >> (program->id % 32) & 1;
}

void publish(struct program *program, bool all)
{
	static const uint8_t live[] = {F_COUNT, F_COUNT, F_BARRIER_AND, F_BARRIER_OR, F_AGENT, F_AGENT};
	uint64_t i;

	for (i = program->oldest; i < program->write; i++) {
		struct entry *e = &program->entry[i % ENTRIES];
		uint32_t *word = program->ring[i % RING].word;

		if (e->published || (!all && !roll(3)))
			continue;
		e->published = e->live = true;
		e->since = ++w.now;
		*word = e->first_word;
		if (live[e->kind] < F_COUNT && !e->bad)
			feature_on(live[e->kind]);
		if (rung(program)) {
			if (hal_host.engines.doorbell_index)
				((uint32_t *)hal_pointer(hal_host.engines.doorbell_index))[program->id] =
				    (uint32_t)i;
			card_later(&(struct tutti_event){
			    {TUTTI_EVENT_DOORBELL | (program->id / 32) << 8, 1u << (program->id % 32)}});
		}
	}
}

/* ---- children ---- */

uint64_t child_make(struct job *parent)
{
	struct program *program = &w.program[parent->queue];
	struct tutti_dispatch_packet p = {0};
	struct tutti_tmd *t;
	struct job *job;
	unsigned number;

	if (w.tmds >= TMDS || w.jobs >= JOBS || w.signals + 2 > SIGNALS)
		return 0;
	job = new_job(program, NULL, 0);
	job->child = true;
	job->parent = parent;
	job->since = w.now;
	job->acquire = job->release = TUTTI_SCOPE_SYSTEM;
	use_kernel(job, roll(CGA_KERNELS));
	number = fill_tmd(job, program, true);
	size(job, &p, false);
	t = &tmds[number];
	own(job, new_signal());
	job->kernarg = 16ull * (job->number + 1);
	t->kernel_object = KERNEL_AT + 64 * job->shape;
	t->kernarg = job->kernarg;
	t->signal = signal_address(job->signal);
	t->grid[0] = p.grid_x;
	t->grid[1] = p.grid_y;
	t->grid[2] = p.grid_z;
	t->workgroup[0] = p.workgroup_x;
	t->workgroup[1] = t->workgroup[2] = 1;
	t->setup = p.setup;
	features_add(&job->features, F_CHILD);
	job->cancelled = parent->cancelled; /* it belongs to its parent's packet */
	return TMD_AT + number * sizeof(tmds[0]);
}
