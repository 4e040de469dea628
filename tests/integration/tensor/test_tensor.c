/* SPDX-License-Identifier: MIT */
/*
 * Tensor requests end to end: kernel, firmware, movers, memory, against the oracle of
 * tensor_oracle.h. Each workgroup of a launch makes one random request.
 */
#include "tensor_jobs.h"

#define BATCH 48u
#define SHARED JOB_SHARED
#define ELEMENTS 65536u

/** struct work - the request of one workgroup of a batch, and the memory it uses. */
struct work {
	struct tutti_tensor *tensor;
	uint8_t *region, *linear;     /* tensor; other side of global to global */
	uint8_t *in, *out;            /* shared memory before and after */
	uint8_t *want_region, *want_linear, *want_shared;
	struct oracle_element *element;
	size_t elements;
	uint32_t bytes;               /* of an element */
};

static struct work works[BATCH];
static struct tensor_job *jobs;

static int open_rig(void **state)
{
	jobs_open(state);
	jobs = rig_alloc(rig, BATCH * sizeof(*jobs));
	for (unsigned i = 0; i < BATCH; i++) {
		struct work *w = &works[i];

		w->tensor = rig_alloc(rig, sizeof(*w->tensor));
		w->region = rig_alloc(rig, RANDOM_REGION);
		w->linear = rig_alloc(rig, SHARED);
		w->in = rig_alloc(rig, SHARED);
		w->out = rig_alloc(rig, SHARED);
		w->want_region = malloc(RANDOM_REGION);
		w->want_linear = malloc(SHARED);
		w->want_shared = malloc(SHARED);
		w->element = malloc(ELEMENTS * sizeof(*w->element));
	}
	return 0;
}

static int close_rig(void **state)
{
	for (unsigned i = 0; i < BATCH; i++) {
		free(works[i].want_region);
		free(works[i].want_linear);
		free(works[i].want_shared);
		free(works[i].element);
	}
	return jobs_close(state);
}

/* ---- a request and what must come of it ----------------------------------- */

/* A tensor, a place and the elements, small enough for shared memory. */
static void choose(struct work *w, struct tutti_tensor_request *r, bool im2col, bool store)
{
	size_t most = SHARED / 2;

	do {
		while (!(im2col ? random_column(w->tensor, w->region + RANDOM_REGION / 4, !store, store)
				: random_tile(w->tensor, w->region + RANDOM_REGION / 4, !store)))
			;
	} while (tutti_tensor_box_bytes(w->tensor) > most);
	random_place(w->tensor, store, r->coordinate, &r->offset);
	w->elements = oracle_elements(w->tensor, r->coordinate, r->offset, w->element, &w->bytes);
	assert_int_equal(w->elements * w->bytes, tutti_tensor_box_bytes(w->tensor));
	r->descriptor = (uintptr_t)w->tensor;
	r->flags = TUTTI_REQUEST_TENSOR | (any(4) ? 0 : TUTTI_REQUEST_INLINE);
	r->mode = w->tensor->mode;
	r->rank = w->tensor->rank;
	r->barrier = TUTTI_BARRIER_NONE;
	r->shared = 16 * any((SHARED / 2 - 1024) / 16);
}

static uint8_t *shared_at(uint8_t *shared, const struct work *w, const struct tutti_tensor_request *r, uint32_t at)
{
	return shared + oracle_swizzle(w->tensor->swizzle, r->shared + at);
}

/* Byte @i of element @e as a load stores it. */
static void loaded(const struct work *w, const struct oracle_element *e, uint8_t *to)
{
	if (!e->address) {
		for (uint32_t i = 0; i < w->bytes; i++)
			to[i] = oracle_fill(w->tensor, i);
		return;
	}
	memcpy(to, (const void *)(uintptr_t)e->address, w->bytes);
	for (uint32_t i = 0; oracle_type_bytes(w->tensor->type) == 4 && i < w->bytes; i += 4) {
		uint32_t bits;

		memcpy(&bits, to + i, 4);
		bits = oracle_load(w->tensor->type, bits);
		memcpy(to + i, &bits, 4);
	}
}

static void expect_load(struct work *w, const struct tutti_tensor_request *r)
{
	uint8_t bytes[32];

	for (size_t k = 0; k < w->elements; k++) {
		loaded(w, &w->element[k], bytes);
		for (uint32_t i = 0; i < w->bytes; i++)
			if (r->op == TUTTI_COPY_GLOBAL)
				w->want_linear[w->element[k].at + i] = bytes[i];
			else
				*shared_at(w->want_shared, w, r, w->element[k].at + i) = bytes[i];
	}
}

static uint8_t combine(unsigned op, uint8_t a, uint8_t b)
{
	return op == TUTTI_REDUCE_AND ? a & b : op == TUTTI_REDUCE_OR ? a | b : op == TUTTI_REDUCE_XOR ? a ^ b : b;
}

static void expect_store(struct work *w, const struct tutti_tensor_request *r)
{
	for (size_t k = 0; k < w->elements; k++) {
		const struct oracle_element *e = &w->element[k];
		uint8_t *to = w->want_region + (e->address - (uintptr_t)w->region);

		for (uint32_t i = 0; e->address && i < w->bytes; i++)
			to[i] = combine(r->reduce, to[i], r->op == TUTTI_COPY_SCATTER ?
								   w->linear[e->at + i] :
								   *shared_at(w->in, w, r, e->at + i));
	}
}

static void finish_load(struct work *w, struct tensor_job *job)
{
	uint64_t *barrier = (uint64_t *)(w->want_shared + SHARED - 8);

	job->request.barrier = SHARED - 8;
	job->expect = (uint32_t)(w->elements * w->bytes);
	*barrier = 1ull << TUTTI_MBARRIER_PHASE_SHIFT | 1ull << TUTTI_MBARRIER_EXPECTED_SHIFT | 1;
}

static void plan(struct work *w, struct tensor_job *job)
{
	static const uint8_t ops[] = { TUTTI_COPY_LOAD, TUTTI_COPY_LOAD, TUTTI_COPY_STORE, TUTTI_COPY_REDUCE,
				       TUTTI_COPY_GLOBAL, TUTTI_COPY_SCATTER, TUTTI_COPY_SHARED, TUTTI_COPY_PREFETCH };
	struct tutti_tensor_request *r = &job->request;
	bool store;

	memset(job, 0, sizeof(*job));
	*job = (struct tensor_job){ .in = (uint64_t *)w->in, .out = (uint64_t *)w->out, .shared_bytes = SHARED };
	r->op = ops[any(sizeof(ops))];
	store = r->op == TUTTI_COPY_STORE || r->op == TUTTI_COPY_REDUCE || r->op == TUTTI_COPY_SCATTER;
	choose(w, r, any(2), store);
	while (r->op == TUTTI_COPY_SHARED && r->shared + tutti_tensor_box_bytes(w->tensor) > SHARED / 2 - 1024)
		choose(w, r, any(2), store);
	while (r->op == TUTTI_COPY_REDUCE && (w->tensor->type < TUTTI_U32 || w->tensor->type > TUTTI_I64))
		choose(w, r, any(2), store);
	random_fill(w->region, RANDOM_REGION);
	random_fill(w->linear, SHARED);
	random_fill(w->in, SHARED);
	memcpy(w->want_region, w->region, RANDOM_REGION);
	memcpy(w->want_linear, w->linear, SHARED);
	memcpy(w->want_shared, w->in, SHARED);
	if (r->op == TUTTI_COPY_REDUCE)
		r->reduce = (uint8_t)(TUTTI_REDUCE_AND + any(3));
	if (r->op == TUTTI_COPY_GLOBAL || r->op == TUTTI_COPY_SCATTER)
		r->other = (uintptr_t)w->linear;
	if (r->op == TUTTI_COPY_SHARED)
		r->other = SHARED / 2 + r->shared;
	if (r->op == TUTTI_COPY_LOAD || r->op == TUTTI_COPY_GLOBAL)
		expect_load(w, r);
	if (r->op == TUTTI_COPY_LOAD)
		finish_load(w, job);
	if (store)
		expect_store(w, r);
	for (uint32_t i = 0; r->op == TUTTI_COPY_SHARED && i < w->elements * w->bytes; i++)
		*shared_at(w->want_shared, w, r, i) =
			w->in[oracle_swizzle(w->tensor->swizzle, (uint32_t)r->other + i)];
}

static void explain(const struct work *w, const struct tensor_job *job, unsigned number, const char *what)
{
	const struct tutti_tensor_request *r = &job->request;
	const struct tutti_tensor *t = w->tensor;

	print_message("# op %u reduce %u mode %u rank %u type %u interleave %u swizzle %u fill %u shared %u at %d %d %d %d %d + %#x\n",
		      r->op, r->reduce, t->mode, t->rank, t->type, t->interleave, t->swizzle, t->fill, r->shared,
		      r->coordinate[0], r->coordinate[1], r->coordinate[2], r->coordinate[3], r->coordinate[4],
		      r->offset);
	for (unsigned d = 0; d < t->rank; d++)
		print_message("#   size %u stride %llu traversal %u box %u lower %d upper %d\n", t->size_less_1[d] + 1,
			      d ? (unsigned long long)t->stride[d - 1] : 0ull, t->traversal[d], t->box[d],
			      d < 3 ? t->column.lower[d] : 0, d < 3 ? t->column.upper[d] : 0);
	print_message("#   channels %u pixels %u\n", t->column.channels, t->column.pixels);
	fail_msg("request %u: %s differs", number, what);
}

static void random_requests(void **state)
{
	for (unsigned number = 0; number < 4800; number += BATCH) {
		for (unsigned i = 0; i < BATCH; i++)
			plan(&works[i], &jobs[i]);
		jobs_run(jobs, BATCH);
		for (unsigned i = 0; i < BATCH; i++) {
			const struct work *w = &works[i];

			if (memcmp(w->want_shared, w->out, SHARED))
				explain(w, &jobs[i], number + i, "shared memory");
			if (memcmp(w->want_region, w->region, RANDOM_REGION))
				explain(w, &jobs[i], number + i, "tensor");
			if (memcmp(w->want_linear, w->linear, SHARED))
				explain(w, &jobs[i], number + i, "linear memory");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "TMA-01 TMA-08 TMA-09 TMA-11 TMA-12 TMA-15 TMA-16 TMA-17: random requests equal the oracle",
		  random_requests, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("TMAU end to end", tests, open_rig, close_rig);
}
