/* SPDX-License-Identifier: MIT */
/*
 * Every reduction of every type from kernel to memory, of tensors and of blocks, to global memory and to shared memory:
 * it gives what arithmetic_oracle.h says, or is refused by name where there is none.
 */
#include "tensor_jobs.h"

#define BYTES 256u  /* of a request */
#define SHARED 8192u
#define FROM 4096u  /* offsets in shared memory */
#define TO 1024u
#define OPS 12u     /* more than there are */
#define TYPES 16u
#define WAYS 4u     /* tensor or block, to global or to shared memory */
#define MOST (OPS * TYPES * WAYS)

/** struct work - one request, and the memory it works on. */
struct work {
	struct tutti_tensor tensor __attribute__((aligned(64)));
	uint8_t in[SHARED], out[SHARED], memory[BYTES];
	uint8_t before[BYTES];
	unsigned type, op;
	bool block, shared;
};

static struct work *works;
static struct tensor_job *jobs;

static int open_rig(void **state)
{
	jobs_open(state);
	works = rig_alloc(rig, MOST * sizeof(*works));
	jobs = rig_alloc(rig, MOST * sizeof(*jobs));
	return 0;
}

static void describe(struct work *w)
{
	unsigned type = w->type < TUTTI_TENSOR_TYPES ? w->type : TUTTI_F32, n = BYTES >> tutti_type_shift(type);
	struct tutti_tiled t = { .tensor = { .base = w->memory, .type = type, .rank = 1, .size = { n } }, .box = { n } };

	assert_int_equal(tutti_tensor_encode_tiled(&w->tensor, &t), 0);
	w->tensor.type = (uint8_t)w->type;
	tutti_tensor_seal(&w->tensor);
}

static void plan(struct work *w, struct tensor_job *job, unsigned type, unsigned op, unsigned way)
{
	unsigned size = type < TUTTI_TENSOR_TYPES ? 1u << tutti_type_shift(type) : 4;
	uint8_t *to;

	w->type = type;
	w->op = op;
	w->block = way & 1;
	w->shared = way & 2;
	describe(w);
	random_fill(w->in, SHARED);
	random_fill(w->memory, BYTES);
	to = w->shared ? w->in + TO : w->memory;
	for (unsigned i = 0; i < BYTES; i += size) {
		uint64_t a = oracle_operand(type, random_bits()), b = oracle_operand(type, random_bits());

		memcpy(to + i, &a, size);
		memcpy(w->in + FROM + i, &b, size);
	}
	memcpy(w->before, to, BYTES);
	*job = (struct tensor_job){ .in = (uint64_t *)w->in, .out = (uint64_t *)w->out, .shared_bytes = SHARED };
	job->request = (struct tutti_tensor_request){
		.descriptor = w->block ? (uintptr_t)w->memory : (uintptr_t)&w->tensor, .rank = w->block ? 0 : 1,
		.flags = w->block ? 0 : TUTTI_REQUEST_TENSOR, .reduce = (uint8_t)op, .type = (uint8_t)(w->block ? type : 0),
		.op = w->shared ? TUTTI_COPY_SHARED : TUTTI_COPY_REDUCE, .shared = w->shared ? TO : FROM, .other = FROM,
		.barrier = TUTTI_BARRIER_NONE, .blocks = BYTES / 16 };
}

static void check(const struct work *w)
{
	unsigned size = 1u << tutti_type_shift(w->type);
	const uint8_t *to = w->shared ? w->out + TO : w->memory, *from = w->in + FROM;

	for (unsigned i = 0; i < BYTES; i += size) {
		uint64_t a = 0, b = 0, got = 0, want;

		memcpy(&a, w->before + i, size);
		memcpy(&b, from + i, size);
		memcpy(&got, to + i, size);
		want = oracle_reduce(w->op, w->type, w->block, a, b);
		if (memcmp(&got, &want, size))
			fail_msg("op %u type %u block %d shared %d: %#llx, %#llx: got %#llx, not %#llx", w->op, w->type, w->block,
				 w->shared, (unsigned long long)a, (unsigned long long)b, (unsigned long long)got,
				 (unsigned long long)want);
	}
	assert_memory_equal(w->out + FROM, from, BYTES);
}

static void each(void **state)
{
	unsigned n = 0;

	for (unsigned type = 0; type < TYPES; type++)
		for (unsigned op = 0; op < OPS; op++)
			for (unsigned way = 0; way < WAYS; way++)
				if (oracle_reduces(op, type, way & 1)) {
					plan(&works[n], &jobs[n], type, op, way);
					n++;
				}
	assert_int_equal(n, 33 * 4 + 2); /* the two are those of F64 blocks */
	jobs_run(jobs, n);
	while (n--)
		check(&works[n]);
}

static void refused(const struct work *w, enum tutti_tensor_error error)
{
	struct args_tensor *args = rig_alloc(rig, sizeof(*args));
	struct tutti_fault fault;

	args->job = jobs;
	jobs_start(rig->queue, "tensor_job", 1, 32, SHARED, args, NULL);
	fault = rig_fault(rig, rig->queue);
	if (fault.code != TUTTI_ERROR_TENSOR || fault.cause != TUTTI_CAUSE_TENSOR + error)
		fail_msg("op %u type %u block %d shared %d: code %u cause %u (%s)", w->op, w->type, w->block, w->shared,
			 fault.code, fault.cause,
			 fault.cause >= TUTTI_CAUSE_TENSOR ? tutti_tensor_strerror(fault.cause - TUTTI_CAUSE_TENSOR) : "");
	if (!w->shared)
		assert_memory_equal(w->memory, w->before, BYTES);
	assert_int_equal(tutti_queue_reset(rig->queue), 0);
	tutti_memory_free(rig->device, args);
}

static void no_others(void **state)
{
	for (unsigned type = 0; type < TYPES; type++)
		for (unsigned op = 1; op < OPS; op++)
			for (unsigned way = 0; way < WAYS; way++) {
				bool known = type < TUTTI_TENSOR_TYPES || way & 1;

				if (oracle_reduces(op, type, way & 1))
					continue;
				plan(works, jobs, type, op, way);
				refused(works, known ? TUTTI_TENSOR_ERROR_REDUCE : TUTTI_TENSOR_ERROR_TYPE);
			}
}

/* A block that is not reduced is bytes, whatever a kernel has left in the field of the type. */
static void plain_blocks(void **state)
{
	for (unsigned type = 0; type < 256; type++) {
		plan(&works[type], &jobs[type], TUTTI_F32, 0, 1);
		jobs[type].request.op = TUTTI_COPY_LOAD;
		jobs[type].request.type = (uint8_t)type;
		jobs[type].request.barrier = 0;
		jobs[type].expect = BYTES;
	}
	jobs_run(jobs, 256);
	for (unsigned type = 0; type < 256; type++)
		assert_memory_equal(works[type].out + FROM, works[type].memory, BYTES);
}

/* What tiles load of each type; a traversal stride of dimension 0 without interleave changes nothing (TMA-06). */
static void loads(void **state)
{
	static const uint32_t marked[] = { 1, 0x807fffff, 0x3f801000, 0x3f803000, 0x3f805000, 0x7f7ff000, 0x7f800000, 0x7fc12345 };

	for (unsigned type = 0; type < TUTTI_TENSOR_TYPES; type++) {
		unsigned n = BYTES >> tutti_type_shift(type);
		struct tutti_tiled t = { .tensor = { .base = works[type].memory, .type = type, .rank = 1, .size = { n } },
					 .box = { n } };

		t.tensor.traversal[0] = type % 2 ? 9 : 0;
		plan(&works[type], &jobs[type], type, 0, 0);
		assert_int_equal(tutti_tensor_encode_tiled(&works[type].tensor, &t), 0);
		memcpy(works[type].memory, marked, sizeof(marked));
		jobs[type].request.op = TUTTI_COPY_LOAD;
		jobs[type].request.barrier = 0;
		jobs[type].expect = BYTES;
	}
	jobs_run(jobs, TUTTI_TENSOR_TYPES);
	for (unsigned type = 0; type < TUTTI_TENSOR_TYPES; type++)
		for (unsigned i = 0; i < BYTES; i += 4) {
			uint32_t in, out;

			memcpy(&in, works[type].memory + i, 4);
			memcpy(&out, works[type].out + FROM + i, 4);
			assert_int_equal(out, oracle_load(type, in));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "TMA-25 TMA-26: every reduction of every type, tensors and blocks", each, NULL, NULL, NULL },
		{ "TMA-04 TMA-25: no others, each refused by name", no_others, NULL, NULL, NULL },
		{ "TMA-26: blocks are bytes", plain_blocks, NULL, NULL, NULL },
		{ "TMA-06 TMA-10: loads round TF32 and nothing else", loads, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("TMAU arithmetic by type", tests, open_rig, jobs_close);
}
