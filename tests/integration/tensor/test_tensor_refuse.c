/* SPDX-License-Identifier: MIT */
/*
 * Requests that break a rule, one rule at a time: their kernel stops with the right reason, nothing is copied, and
 * another kernel runs undisturbed.
 */
#include "tensor_jobs.h"

static struct tensor_job *job;
static struct args_tensor *args;
static struct tutti_tensor *tensor;
static uint8_t *region, *linear;
static uint64_t *gate_words;
static tutti_signal_t gate_signal;
static struct tutti_queue *other;

static int open_all(void **state)
{
	struct args_gate *gate;

	jobs_open(state);
	job = rig_alloc(rig, sizeof(*job));
	args = rig_alloc(rig, sizeof(*args));
	tensor = rig_alloc(rig, sizeof(*tensor));
	region = rig_alloc(rig, 1 << 20);
	linear = rig_alloc(rig, 1 << 16);
	args->job = job;
	/* another kernel, which runs from the first test to the last */
	other = rig_queue(rig, 0);
	gate = rig_alloc(rig, sizeof(*gate));
	gate_words = rig_alloc(rig, 64);
	*gate = (struct args_gate){ &gate_words[0], &gate_words[1], &gate_words[2] };
	gate_signal = rig_signal(rig, 1);
	rig_launch(rig, other, "gate", 64, 32, gate, gate_signal);
	return 0;
}

static int close_all(void **state)
{
	tutti_queue_destroy(other);
	return jobs_close(state);
}

static void tile_job(unsigned op)
{
	struct tutti_tiled t = { .tensor = { .base = region, .type = TUTTI_U32, .rank = 2, .size = { 64, 32 } },
				 .box = { 16, 4 } };

	assert_int_equal(tutti_tensor_encode_tiled(tensor, &t), 0);
	*job = (struct tensor_job){ .request = {
		.descriptor = (uintptr_t)tensor, .op = (uint8_t)op, .mode = TUTTI_TILE, .rank = 2,
		.flags = TUTTI_REQUEST_TENSOR, .other = op == TUTTI_COPY_SHARED ? 4096 : (uintptr_t)linear,
		.barrier = op == TUTTI_COPY_LOAD ? 1024 : TUTTI_BARRIER_NONE,
		.reduce = op == TUTTI_COPY_REDUCE ? TUTTI_REDUCE_ADD : 0 } };
	job->expect = op == TUTTI_COPY_LOAD ? 256 : 0;
}

static void column_job(unsigned op)
{
	bool store = op == TUTTI_COPY_STORE;
	struct tutti_im2col t = { .tensor = { .base = region, .type = TUTTI_U16, .rank = 4, .size = { 64, 9, 14, 4 } },
				  .lower = { store ? 0 : -1, store ? 0 : -1 }, .upper = { store ? 0 : -1, store ? 0 : -1 },
				  .channels = 8, .pixels = 16 };

	assert_int_equal(tutti_tensor_encode_im2col(tensor, &t), 0);
	tile_job(op);
	assert_int_equal(tutti_tensor_encode_im2col(tensor, &t), 0);
	job->request.mode = TUTTI_IM2COL;
	job->request.rank = 4;
}

static void block_job(unsigned op)
{
	tile_job(op);
	job->request.flags = 0;
	job->request.mode = job->request.rank = 0;
	job->request.descriptor = (uintptr_t)region;
	job->request.blocks = 16;
	job->request.type = TUTTI_U32;
}

/* Makes the request, which must be refused with @error. */
static void refused(enum tutti_tensor_error error)
{
	uint64_t index = *rig->queue->write_index;
	struct tutti_fault fault;
	char text[1024];

	random_fill(region, 1 << 16);
	random_fill(linear, 1 << 12);
	uint64_t sum = 0, after = 0;

	for (unsigned i = 0; i < 1 << 13; i++)
		sum += ((uint64_t *)region)[i] * (i + 1) + ((uint64_t *)linear)[i % 512];
	jobs_start(rig->queue, "tensor_job", 1, 32, 8192, args, NULL);
	fault = rig_fault(rig, rig->queue);
	if (fault.code != TUTTI_ERROR_TENSOR)
		fail_msg("code %u cause %u engine %u address %#llx pc %#llx", fault.code, fault.cause, fault.engine,
			 (unsigned long long)fault.address, (unsigned long long)fault.pc);
	assert_string_equal(tutti_tensor_strerror(fault.cause - TUTTI_CAUSE_TENSOR), tutti_tensor_strerror(error));
	assert_true(tutti_fault_text(rig->queue, &fault, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, tutti_tensor_strerror(error)));
	assert_int_equal(fault.packet, index);
	assert_int_not_equal(fault.pc, 0);
	for (unsigned i = 0; i < 1 << 13; i++)
		after += ((uint64_t *)region)[i] * (i + 1) + ((uint64_t *)linear)[i % 512];
	assert_int_equal(after, sum);
	assert_int_equal(tutti_queue_reset(rig->queue), 0);
}

#define TILE(op, error, change) do { tile_job(TUTTI_COPY_##op); change; refused(TUTTI_TENSOR_ERROR_##error); } while (0)
#define COLUMN(op, error, change) do { column_job(TUTTI_COPY_##op); change; refused(TUTTI_TENSOR_ERROR_##error); } while (0)
#define BLOCK(op, error, change) do { block_job(TUTTI_COPY_##op); change; refused(TUTTI_TENSOR_ERROR_##error); } while (0)
/* the same in the descriptor */
#define TILE_D(error, change) TILE(LOAD, error, (change, tutti_tensor_seal(tensor)))
#define COLUMN_D(error, change) COLUMN(LOAD, error, (change, tutti_tensor_seal(tensor)))

static void descriptors(void **state)
{
	TILE(LOAD, PLACE, job->request.descriptor += 16);
	TILE_D(VERSION, tensor->version++);
	TILE(LOAD, CHECK, tensor->base += 64);
	TILE_D(RESERVED, tensor->pad2 = 1);
	TILE_D(TYPE, tensor->type = TUTTI_TENSOR_TYPES);
	TILE_D(MODE, tensor->mode = 2);
	TILE_D(RANK, tensor->rank = 0);
	TILE_D(RANK, tensor->rank = 6);
	TILE_D(INTERLEAVE, tensor->interleave = 3);
	TILE_D(RANK_INTERLEAVE, tensor->interleave = TUTTI_INTERLEAVE_16);
	TILE_D(SWIZZLE, tensor->swizzle = 4);
	TILE_D(FILL, tensor->fill = 3);
	TILE_D(FILL_TYPE, tensor->fill = TUTTI_FILL_NAN);
	TILE_D(PROMOTION, tensor->promotion = 4);
	TILE_D(BASE, tensor->base += 8);
	TILE_D(STRIDE, tensor->stride[0] = 264);
	TILE_D(STRIDE_LARGE, tensor->stride[0] = 1ull << 40);
	TILE_D(EXTENT, tensor->base = (1ull << 47) - 4096);
	TILE_D(TRAVERSAL, tensor->traversal[1] = 0);
	TILE_D(TRAVERSAL, tensor->traversal[1] = 9);
	TILE_D(BOX, tensor->box[1] = 0);
	TILE_D(BOX, tensor->box[1] = 257);
	TILE_D(BOX_BYTES, tensor->box[0] = 15);
	TILE_D(BOX_SWIZZLE, tensor->swizzle = TUTTI_SWIZZLE_32);
	COLUMN_D(RANK_IM2COL, tensor->rank = 2);
	COLUMN_D(SWIZZLE_INTERLEAVE, tensor->interleave = TUTTI_INTERLEAVE_32);
	COLUMN_D(CORNER, tensor->column.lower[0] = -129);
	COLUMN_D(CORNER, tensor->column.upper[1] = 128);
	COLUMN_D(BOUNDING_BOX, tensor->column.upper[0] = -10);
	COLUMN_D(CHANNELS, tensor->column.channels = 257);
	COLUMN_D(CHANNEL_BYTES, tensor->column.channels = 4);
	COLUMN_D(CHANNEL_SWIZZLE, (tensor->swizzle = TUTTI_SWIZZLE_32, tensor->column.channels = 24));
	COLUMN_D(PIXELS, tensor->column.pixels = 0);
	COLUMN_D(PIXELS, tensor->column.pixels = 1025);
	/* one that came with the request */
	TILE(LOAD, VERSION, (job->request.flags |= TUTTI_REQUEST_INLINE, tensor->version++, tutti_tensor_seal(tensor)));
}

static void requests(void **state)
{
	TILE(LOAD, REQUEST_OP, job->request.op = TUTTI_TENSOR_OPS);
	TILE(STORE, REQUEST_FLAGS, (job->request.flags |= TUTTI_REQUEST_MULTICAST, job->request.cta_mask = 1));
	TILE(LOAD, REQUEST_MODE, job->request.mode = TUTTI_IM2COL);
	TILE(LOAD, REQUEST_RANK, job->request.rank = 3);
	TILE(LOAD, ORIGIN, job->request.coordinate[0] = 1);
	TILE(LOAD, ORIGIN, job->request.coordinate[0] = -1);
	TILE(STORE, ORIGIN, job->request.coordinate[0] = 2);
	TILE(LOAD, SHARED_ALIGN, job->request.shared = 8);
	TILE(LOAD, SHARED_RANGE, job->request.shared = 8192 - 240);
	TILE(LOAD, SHARED_RANGE, job->request.shared = ~15u);
	TILE(STORE, SHARED_RANGE, job->request.shared = 8192);
	TILE(SHARED, SHARED_RANGE, job->request.other = 1ull << 32);
	TILE(SHARED, SHARED_ALIGN, job->request.other = 8);
	TILE(LOAD, BARRIER_NEEDED, (job->request.barrier = TUTTI_BARRIER_NONE, job->expect = 0));
	TILE(STORE, BARRIER_UNUSED, job->request.barrier = 1024);
	TILE(LOAD, BARRIER_PLACE, (job->request.barrier = 1028, job->expect = 0));
	TILE(LOAD, BARRIER_PLACE, (job->request.barrier = 8192, job->expect = 0));
	TILE(LOAD, MASK, (job->request.flags |= TUTTI_REQUEST_MULTICAST, job->request.cta_mask = 2));
	TILE(LOAD, MASK, (job->request.flags |= TUTTI_REQUEST_MULTICAST, job->request.cta_mask = 0));
	TILE(SHARED, CTA, job->request.cta = 1);
	TILE(SHARED, CTA, job->request.cta = 200);
	TILE(REDUCE, REDUCE, job->request.reduce = TUTTI_REDUCE_NONE);
	TILE(REDUCE, REDUCE, job->request.reduce = TUTTI_REDUCE_OPS);
	TILE(REDUCE, REDUCE, (tensor->type = TUTTI_F32, job->request.reduce = TUTTI_REDUCE_MIN, tutti_tensor_seal(tensor)));
	TILE(STORE, REDUCE, job->request.reduce = TUTTI_REDUCE_ADD);
	TILE(GLOBAL, ADDRESS, job->request.other += 8);
	TILE(GLOBAL, ADDRESS, job->request.other = (1ull << 47) - 16);
	COLUMN(LOAD, BASE_PIXEL, job->request.coordinate[1] = -2);
	COLUMN(LOAD, BASE_PIXEL, job->request.coordinate[1] = 8);
	COLUMN(LOAD, BASE_PIXEL, job->request.coordinate[2] = 13);
	COLUMN(STORE, OFFSET, job->request.offset = 1);
	COLUMN(STORE, STORE_COORDINATE, job->request.coordinate[0] = -8);
	COLUMN(STORE, STORE_CORNER, (tensor->column.lower[0] = -1, tutti_tensor_seal(tensor)));
}

static void rank_5_offset(void **state)
{
	struct tutti_im2col t = { .tensor = { .base = region, .type = TUTTI_U16, .rank = 5, .size = { 8, 4, 4, 4, 2 } },
				  .channels = 8, .pixels = 4 };

	column_job(TUTTI_COPY_LOAD);
	assert_int_equal(tutti_tensor_encode_im2col(tensor, &t), 0);
	job->request.rank = 5;
	job->request.offset = 0x8000; /* three offsets of five bits */
	refused(TUTTI_TENSOR_ERROR_OFFSET);
}

static void blocks(void **state)
{
	BLOCK(LOAD, ADDRESS, job->request.descriptor += 8);
	BLOCK(LOAD, ADDRESS, job->request.descriptor = (1ull << 47) - 128);
	BLOCK(GLOBAL, ADDRESS, job->request.other += 4);
	BLOCK(STORE, SHARED_ALIGN, job->request.shared = 4);
	BLOCK(LOAD, SHARED_RANGE, job->request.blocks = 513);
	BLOCK(LOAD, SHARED_RANGE, job->request.blocks = ~0u);
	BLOCK(LOAD, BLOCK, job->request.flags = 12 << TUTTI_REQUEST_BLOCK_SHIFT);
	BLOCK(LOAD, REQUEST_OP, job->request.op = TUTTI_COPY_SCATTER);
	BLOCK(LOAD, BARRIER_NEEDED, (job->request.barrier = TUTTI_BARRIER_NONE, job->expect = 0));
	BLOCK(REDUCE, REDUCE, job->request.type = TUTTI_U8);
	BLOCK(LOAD, REQUEST_FLAGS, job->request.flags = TUTTI_REQUEST_INLINE);
}

/* What the rules cannot know: memory that is not mapped. */
static void fault_of(unsigned engine, uint64_t address)
{
	struct tutti_fault fault;

	jobs_start(rig->queue, "tensor_job", 1, 32, 8192, args, NULL);
	fault = rig_fault(rig, rig->queue);
	assert_int_equal(fault.code, TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
	assert_int_equal(fault.engine, engine);
	assert_int_equal(fault.address, address);
	assert_int_not_equal(fault.pc, 0);
	assert_int_equal(tutti_queue_reset(rig->queue), 0);
}

static void unmapped(void **state)
{
	static const uint8_t ops[] = { TUTTI_COPY_LOAD, TUTTI_COPY_STORE, TUTTI_COPY_REDUCE, TUTTI_COPY_GLOBAL };

	for (unsigned i = 0; i < 4; i++) {
		tile_job(ops[i]);
		tensor->base = 1ull << 45;
		tutti_tensor_seal(tensor);
		fault_of(TUTTI_ENGINE_MOVER, 1ull << 45);
	}
	tile_job(TUTTI_COPY_LOAD);
	job->request.descriptor = 1ull << 45;
	fault_of(TUTTI_ENGINE_FETCH, 1ull << 45);
}

/* A request that is refused counts as a request, but as no tile. */
static void counted_as_requests(void **state)
{
	uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];

	tile_job(TUTTI_COPY_LOAD);
	job->request.descriptor += 8;
	rig_counters(rig, before);
	jobs_start(rig->queue, "tensor_job", 1, 32, 8192, args, NULL);
	rig_fault(rig, rig->queue);
	assert_int_equal(tutti_queue_reset(rig->queue), 0);
	rig_counters(rig, after);
	assert_int_equal(after[TUTTI_COUNTER_TMAU_REQUESTS], before[TUTTI_COUNTER_TMAU_REQUESTS] + 1);
	assert_int_equal(after[TUTTI_COUNTER_TMAU_INTERIOR], before[TUTTI_COUNTER_TMAU_INTERIOR]);
	assert_int_equal(after[TUTTI_COUNTER_TMAU_EDGE], before[TUTTI_COUNTER_TMAU_EDGE]);
}

static void another_goes_on(void **state)
{
	struct tutti_fault f;

	if (tutti_queue_error(other, &f))
		fail_msg("the other queue: code %u cause %u engine %u sm %u wave %u pc %#llx address %#llx", f.code, f.cause,
			 f.engine, f.sm, f.wave, (unsigned long long)f.pc, (unsigned long long)f.address);
	assert_int_equal(gate_words[0], 2);
	tutti_store_release(&gate_words[1], 1);
	rig_wait(rig, gate_signal);
	assert_int_equal(gate_words[2], 2);
	/* the queue that has stopped so often still works */
	tile_job(TUTTI_COPY_GLOBAL);
	random_fill(region, 1 << 16);
	jobs_run(job, 1);
	for (unsigned row = 0; row < 4; row++)
		assert_memory_equal(linear + 64 * row, region + 256 * row, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "TMA-04 TMA-06 TMA-11: each rule of descriptors", descriptors, NULL, NULL, NULL },
		{ "TMA-04 TMA-07 TMA-11 TMA-12 TMA-23 TMA-25: each rule of requests", requests, NULL, NULL, NULL },
		{ "TMA-11: offsets of rank 5", rank_5_offset, NULL, NULL, NULL },
		{ "TMA-04 TMA-26: each rule of blocks", blocks, NULL, NULL, NULL },
		{ "TMA-04: accesses refused by the page tables", unmapped, NULL, NULL, NULL },
		{ "TMA-04 SYS-13: they are counted as requests, not as tiles", counted_as_requests, NULL, NULL, NULL },
		{ "TMA-04: nothing else is disturbed", another_goes_on, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("TMAU refusals", tests, open_all, close_all);
}
