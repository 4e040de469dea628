// SPDX-License-Identifier: MIT
/* Plain packets and children, with what each of them means, and the signals that they decrement. */
#include "programs/produce.h"

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

void job_signal(struct job *job, uint32_t signal)
{
	job->signal = signal;
	if (signal)
		owners[signal].jobs++;
}

/* ---- packets ---- */

struct job *job_new(struct program *program, struct entry *e, unsigned kernel)
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

/* CTAs in the second and third dimension: as many as a CGA has. */
static unsigned cga_dimensions(const struct job *job, uint32_t *y, uint32_t *z)
{
	unsigned i;

	for (i = 0; i < TUTTI_CGA_LEVELS && job->cga[i].kind; i++) {
		*y *= job->cga[i].y;
		*z *= job->cga[i].z;
	}
	return *z > 1 ? 3 : *y > 1 ? 2 : 1;
}

static void size(struct job *job, struct tutti_dispatch_packet *p, bool many)
{
	static const uint8_t forms[] = {F_PLAIN_1D, F_PLAIN_2D, F_PLAIN_3D};
	uint32_t x = metadata_whole_x(job) * (1 + roll(many ? 40 : 6)), y = 1, z = 1;
	unsigned dimensions = cga_dimensions(job, &y, &z);

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

void packet_scopes(struct job *job, struct entry *e, union tutti_packet *p, unsigned type)
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
	unsigned k = roll(kernel_some_kind() ? WHOLE_KERNELS : CGA_KERNELS);

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

/* Packets of the buffer's other queue that use it may be under way. */
static bool in_use(const struct program *program, const struct reference *reference)
{
	const struct program *other = &w.program[program->id ^ 1];

	return reference->used && other->alive && other->life == reference->life && other->oldest < reference->used;
}

static void remember(struct program *program, struct job *job, struct entry *e, union tutti_packet *p)
{
	struct buffer *buffer = &w.buffer[program->buffer];
	unsigned ref = roll(TUTTI_REFERENCES);

	if (!(program->flags & TUTTI_QUEUE_RSB) || !MAYBE(REF_STORE, 2) || job->work ||
	    (job->throttle && !ALLOWED(THROTTLE_DIFF)))
		return;
	/* a packet that may be refused is not stored, because what uses it later could not be predicted */
	if (job->cga[0].kind && (job->cga[1].kind || job->mask || job->throttle || w.cap || ALLOWED(SM_OFF) || w.sms > 144 ||
				 kernels[job->shape].flags & TUTTI_KERNEL_LMEM))
		return;
	if (ALLOWED(SHARED_REFS)) /* each queue has its own of them, so that it can know what is there */
		ref = (ref & ~1u) | (program->id & 1);
	if (buffer->forgetting >> ref & 1 || in_use(program, &buffer->reference[ref]))
		return;
	p->dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | ref);
	e->reference = true;
	features_add(&job->features, F_REF_STORE);
	buffer->reference[ref] = (struct reference){.valid = true, .job = *job};
}

void packet_dispatch(struct program *program, struct entry *e, union tutti_packet *p, bool many)
{
	struct job *job = job_new(program, e, 0);
	bool extended = program->flags & TUTTI_QUEUE_EXTENDED;

	use_kernel(job, some_kernel(program));
	e->kind = DISPATCH;
	e->n = 1;
	e->job = job->number;
	if (extended && !roll(2) && w.tmds < TMDS)
		p->dispatch.tmd = TMD_AT + metadata_fill(job, false) * sizeof(tmds[0]);
	packet_scopes(job, e, p, TUTTI_PACKET_KERNEL_DISPATCH);
	metadata_whole(job);
	metadata_cga_features(job);
	if (MAYBE(LONG, 6) && !job->work) {
		job->hold = true;
		features_add(&job->features, F_LONG);
	}
	size(job, &p->dispatch, many);
	job->kernarg = 16ull * (job->number + 1);
	job_signal(job, roll(2) ? new_signal() : 0);
	p->dispatch.kernel_object = KERNEL_AT + 64 * job->shape;
	p->dispatch.kernarg = job->kernarg;
	p->dispatch.signal = signal_address(job->signal);
	if (job->throttle)
		p->dispatch.group_bytes = job->shared * 2048u - roll(2048);
	remember(program, job, e, p);
	e->signal = job->signal;
}

/* ---- large CTAs that compete with small ones ---- */

static void packet_plain(struct job *job, struct entry *e, union tutti_packet *p)
{
	e->kind = DISPATCH;
	e->n = 1;
	e->job = job->number;
	packet_scopes(NULL, e, p, TUTTI_PACKET_KERNEL_DISPATCH);
	job->kernarg = 16ull * (job->number + 1);
	job->grid_x = job->groups * 32 * job->waves;
	p->dispatch.setup = 1;
	p->dispatch.workgroup_x = (uint16_t)(32 * job->waves);
	p->dispatch.workgroup_y = p->dispatch.workgroup_z = 1;
	p->dispatch.grid_x = job->grid_x;
	p->dispatch.grid_y = p->dispatch.grid_z = 1;
	p->dispatch.kernel_object = KERNEL_AT + 64 * job->shape;
	p->dispatch.kernarg = job->kernarg;
	features_add(&job->features, F_PLAIN_1D);
}

static unsigned kernel_for_many_waves(void)
{
	const struct tutti_discovery *d = discovery();
	unsigned i = 0;

	/* a search by groups of four blocks finds no room for more (RES-09) */
	while (i < CGA_KERNELS && (kernels[i].scalar_blocks * d->peu_waves > d->scalar_blocks || kernels[i].scalar_blocks > 4 ||
				   kernels[i].vector_blocks * d->peu_waves > d->vector_blocks || kernels[i].vector_blocks > 4))
		i++;
	return i;
}

bool packet_whole(struct program *program, struct entry *e, union tutti_packet *p, unsigned level, unsigned kind)
{
	unsigned kernel = kernel_for_many_waves();
	struct tutti_tmd *t = &tmds[w.tmds];
	struct job *job;

	if (kernel == CGA_KERNELS || w.tmds >= TMDS || !(program->flags & TUTTI_QUEUE_EXTENDED))
		return false;
	job = job_new(program, e, 0);
	use_kernel(job, kernel);
	job->waves = (uint8_t)(discovery()->peus * discovery()->peu_waves);
	if (level < program->highest)
		level = program->highest;
	job->level = (uint8_t)level;
	job->tmd = (uint16_t)++w.tmds;
	*t = (struct tutti_tmd){.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .priority = (uint8_t)level};
	if (kind) {
		t->cga[0] = (struct tutti_cga_shape){(uint16_t)kernel_domain_sms(kind), 1, 1, (uint16_t)kind};
		t->cga_mode = job->multicast = roll(2);
		memcpy(job->cga, t->cga, sizeof(job->cga));
	}
	metadata_whole(job);
	metadata_cga_features(job);
	job->groups = job->whole;
	features_add(&job->features, kind ? F_WHOLE_DOMAIN : F_WHOLE_SM);
	p->dispatch.tmd = TMD_AT + (uint64_t)(t - tmds) * sizeof(*t);
	packet_plain(job, e, p);
	return true;
}

void packet_small(struct program *program, struct entry *e, union tutti_packet *p)
{
	struct job *job = job_new(program, e, 0);

	use_kernel(job, roll(CGA_KERNELS));
	job->groups = 1 + roll(roll(4) && w.sms <= CROWD_SMS ? 64 * w.sms : 6);
	packet_plain(job, e, p);
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
	job = job_new(program, NULL, 0);
	job->child = true;
	job->parent = parent;
	job->since = w.now;
	job->acquire = job->release = TUTTI_SCOPE_SYSTEM;
	use_kernel(job, roll(CGA_KERNELS));
	number = metadata_fill(job, true);
	size(job, &p, false);
	t = &tmds[number];
	job_signal(job, new_signal());
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
	if (ALLOWED(PARENT_WAITS))
		features_add(&job->features, F_PARENT_WAITS);
	job->cancelled = parent->cancelled; /* it belongs to its parent's packet */
	return TMD_AT + number * sizeof(tmds[0]);
}
