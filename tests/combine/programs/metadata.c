// SPDX-License-Identifier: MIT
/* Metadata of tasks: CGAs, masks, work queues, throttle mode, quotas, with what each of them means. */
#include "programs/produce.h"

void metadata_whole(struct job *job)
{
	unsigned i;

	job->whole = 1;
	for (i = 0; i < TUTTI_CGA_LEVELS && job->cga[i].kind; i++)
		job->whole *= (uint32_t)job->cga[i].x * job->cga[i].y * job->cga[i].z;
}

uint32_t metadata_whole_x(const struct job *job)
{
	uint32_t x = 1;
	unsigned i;

	for (i = 0; i < TUTTI_CGA_LEVELS && job->cga[i].kind; i++)
		x *= job->cga[i].x;
	return x;
}

struct tutti_cga_shape metadata_cga(unsigned parts, unsigned kind)
{
	struct tutti_cga_shape cga = {(uint16_t)parts, 1, 1, (uint16_t)kind};

	if (!ALLOWED(CGA_YZ))
		return cga;
	if (cga.x % 3 == 0 && roll(2)) {
		cga.x /= 3;
		cga.z = 3;
	}
	for (; cga.x % 2 == 0 && roll(2); cga.x /= 2)
		*(roll(2) ? &cga.y : &cga.z) *= 2;
	return cga;
}

void metadata_cga_features(struct job *job)
{
	static const uint8_t feature[] = {0, F_CGA_CPC, F_CGA_GPC, F_CGA_UGPU, F_CGA_GPU};
	unsigned i;

	for (i = 0; i < TUTTI_CGA_LEVELS && job->cga[i].kind; i++) {
		features_add(&job->features, feature[job->cga[i].kind]);
		if (job->cga[i].y * job->cga[i].z > 1)
			features_add(&job->features, F_CGA_YZ);
	}
	if (i > 1)
		features_add(&job->features, F_CGA_NESTED);
	if (i && job->multicast)
		features_add(&job->features, F_MULTICAST);
	if (i && kernels[job->shape].flags & TUTTI_KERNEL_LMEM)
		features_add(&job->features, F_LMEM);
}

static void fill_levels(struct job *job, struct tutti_tmd *t)
{
	unsigned kind = kernel_some_kind(), inner, parts;

	if (!kind)
		return;
	parts = kernel_some_parts(kind);
	if (MAYBE(CGA_NESTED, 2) && kind > 1 && (inner = kernel_some_kind()) && inner < kind) {
		parts = 1 + roll(inner == TUTTI_CGA_CPC && kernel_domain_sms(TUTTI_CGA_CPC) < 3 ? 1 : 3);
		t->cga[0] = metadata_cga(parts, inner);
		t->cga[1] = metadata_cga(1 + roll(2), kind);
	} else {
		t->cga[0] = metadata_cga(parts, kind);
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
	blocks = w.sms * discovery()->shared_blocks / t->throttle_sms;
	blocks = blocks > 256 ? 256 : blocks;
	job->shared = (uint16_t)(1 + roll(blocks));
	if (job->shared < (kernels[job->shape].group_bytes + 2047) / 2048)
		job->shared = (uint16_t)((kernels[job->shape].group_bytes + 2047) / 2048);
	features_add(&job->features, F_THROTTLE);
	w.throttles++;
}

static bool some_mask(const struct job *job)
{
	if (!job->throttle && !job->cga[0].kind)
		return MAYBE(AFFINITY, 3);
	return (!job->throttle || MAYBE(THROTTLE_MASK, 2)) && (!job->cga[0].kind || MAYBE(CGA_MASK, 2));
}

/* Features that are two attributes of one task. */
static void fill_features(struct job *job)
{
	if (job->throttle && job->mask)
		features_add(&job->features, F_THROTTLE_MASK);
	if (job->throttle && job->cga[0].kind)
		features_add(&job->features, F_THROTTLE_CGA);
	if (job->cga[0].kind && job->mask)
		features_add(&job->features, F_CGA_MASK);
}

unsigned metadata_fill(struct job *job, bool child)
{
	unsigned number = w.tmds++;
	struct tutti_tmd *t = &tmds[number];

	*t = (struct tutti_tmd){.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION};
	if (MAYBE(PRIORITY, 2)) {
		t->priority = (uint8_t)(1 + roll(10));
		if (t->priority < w.program[job->queue].highest)
			t->priority = (uint8_t)w.program[job->queue].highest;
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
	if (job->throttle && MAYBE(THROTTLE_CGA, 2))
		fill_levels(job, t);
	if (some_mask(job))
		fill_mask(job, t, number);
	fill_features(job);
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
	job->tmd = (uint16_t)(number + 1);
	return number;
}
