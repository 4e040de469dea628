/* SPDX-License-Identifier: MIT */
/* The device API: every wrapper, barriers, pipelines, descriptors that change, requests that outlive their waves. */
#include "tensor_jobs.h"

static void *alloc(size_t bytes)
{
	return rig_alloc(rig, bytes);
}

static struct tutti_tensor *tile(const void *base, enum tutti_tensor_type type, unsigned rank, const uint64_t *size,
				 const uint32_t *box)
{
	struct tutti_tiled t = { .tensor = { .base = base, .type = type, .rank = rank } };
	struct tutti_tensor *tensor = alloc(sizeof(*tensor));

	memcpy(t.tensor.size, size, rank * sizeof(*size));
	memcpy(t.box, box, rank * sizeof(*box));
	assert_int_equal(tutti_tensor_encode_tiled(tensor, &t), 0);
	return tensor;
}

/* ---- there and back ------------------------------------------------------- */

static uint8_t *want;
static struct oracle_element *elements;

static void plan_move(struct args_move *move, struct tutti_tensor *from, struct tutti_tensor *to, uint8_t *source,
		      uint8_t *target)
{
	bool im2col = any(2);

	do {
		while (!(im2col ? random_column(from, source + RANDOM_REGION / 4, false, true)
				: random_tile(from, source + RANDOM_REGION / 4, false)))
			;
	} while (tutti_tensor_box_bytes(from) > JOB_SHARED / 2);
	random_fill(source, RANDOM_REGION);
	random_fill(target, RANDOM_REGION);
	random_place(from, true, move->coordinate, &move->offset);
	*to = *from;
	to->base += (uintptr_t)target - (uintptr_t)source;
	tutti_tensor_seal(to);
	move->from = from;
	move->to = to;
	move->bytes = tutti_tensor_box_bytes(from);
}

static void expect_move(const struct args_move *move, const uint8_t *source, const uint8_t *target)
{
	uint32_t size, bits;
	size_t n = oracle_elements(move->from, move->coordinate, 0, elements, &size);

	memcpy(want, target, RANDOM_REGION);
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0; elements[k].address && i < size; i += oracle_type_bytes(move->from->type)) {
			size_t at = elements[k].address - (uintptr_t)source + i;

			memcpy(want + at, source + at, oracle_type_bytes(move->from->type));
			memcpy(&bits, source + at, 4);
			bits = oracle_load(move->from->type, bits);
			if (oracle_type_bytes(move->from->type) == 4)
				memcpy(want + at, &bits, 4);
		}
}

static void identity(void **state)
{
	struct args_move *move = alloc(sizeof(*move));
	struct tutti_tensor *from = alloc(128), *to = alloc(128);
	uint8_t *source = alloc(RANDOM_REGION), *target = alloc(RANDOM_REGION);

	want = malloc(RANDOM_REGION);
	elements = malloc(65536 * sizeof(*elements));
	for (unsigned round = 0; round < 600; round++) {
		plan_move(move, from, to, source, target);
		expect_move(move, source, target);
		jobs_kernel("tensor_move", 1, 32, JOB_SHARED, move);
		if (memcmp(target, want, RANDOM_REGION))
			fail_msg("round %u: rank %u mode %u swizzle %u interleave %u", round, from->rank, from->mode,
				 from->swizzle, from->interleave);
	}
	free(want);
	free(elements);
}

static void blocks(void **state)
{
	enum { N = 500, WORDS = 2 * N };
	struct args_late *args = alloc(sizeof(*args));
	uint64_t *in = alloc(8 * WORDS), *out = alloc(8 * 5 * WORDS);

	random_fill(in, 8 * WORDS);
	*args = (struct args_late){ in, out, N, 0 };
	jobs_kernel("tensor_blocks", 1, 32, 40960, args);
	for (unsigned i = 0; i < WORDS; i++) {
		uint32_t low = 2 * (uint32_t)in[i], high = 2 * (uint32_t)(in[i] >> 32);

		assert_int_equal(out[i], in[i]);
		assert_int_equal(out[WORDS + i], in[i]);
		assert_int_equal(out[2 * WORDS + i], 2 * in[i]);
		assert_int_equal(out[3 * WORDS + i], 2 * in[i]);
		assert_int_equal(out[4 * WORDS + i], low | (uint64_t)high << 32);
	}
}

/* ---- barriers ---------------------------------------------------------------- */

static void stream(void **state)
{
	enum { BOXES = 40, CTAS = 200 };
	struct args_stream *args = alloc(sizeof(*args));
	uint32_t *data = alloc(BOXES * 1024);
	uint64_t box_sum[BOXES] = { 0 };

	random_fill(data, BOXES * 1024);
	for (unsigned i = 0; i < BOXES * 256; i++)
		box_sum[i / 256] += data[i];
	args->tensor = tile(data, TUTTI_U32, 2, (uint64_t[]){ 32, 8 * BOXES }, (uint32_t[]){ 32, 8 });
	args->boxes = BOXES;
	args->sum = alloc(8 * CTAS);
	jobs_kernel("tensor_stream", CTAS, 128, 0, args);
	for (unsigned c = 0; c < CTAS; c++) {
		uint64_t sum = 0;

		for (unsigned i = 0; i < BOXES; i++)
			sum += box_sum[(i + c) % BOXES] * (i + 1);
		assert_int_equal(args->sum[c], sum);
	}
}

static void one_sync(void **state)
{
	struct args_one *args = alloc(sizeof(*args));

	args->count = alloc(64);
	args->who = alloc(64);
	args->late = alloc(64);
	jobs_kernel("tensor_one", 1, 256, 0, args);
	assert_int_equal(args->count[0], 50);
	assert_int_equal(args->count[1], 50);
	assert_int_equal(*args->who, 1); /* always the same one */
	assert_int_equal(*args->late, 0);
}

static void contend(void **state)
{
	enum { CTAS = 24, ROUNDS = 20 };
	struct args_contend *args = alloc(sizeof(*args));

	args->cells = alloc(1024);
	args->ticks = alloc(1024);
	args->rounds = ROUNDS;
	jobs_kernel("tensor_contend", CTAS, 32, 0, args);
	for (unsigned i = 0; i < 256; i++) {
		assert_int_equal(args->cells[i], 2 * CTAS * ROUNDS);
		assert_int_equal(args->ticks[i], CTAS * ROUNDS);
	}
}

/* ---- CGAs --------------------------------------------------------------------- */

static void check_cast(const uint32_t *data, struct args_cast *args, uint32_t mask)
{
	uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];

	args->mask = mask;
	memset(args->out, 0xff, 8 * 4096);
	rig_counters(rig, before);
	jobs_kernel("tensor_cast", 8, 32, 0, args);
	rig_counters(rig, after);
	/* two CGAs read the box once each, however many receive it */
	assert_int_equal(after[TUTTI_COUNTER_MOVER_LINES] - before[TUTTI_COUNTER_MOVER_LINES], 2 * 1024 / 128);
	for (uint32_t cta = 0; cta < 8; cta++) {
		const uint32_t *got = (const uint32_t *)(args->out + 512 * cta);

		for (uint32_t i = 0; i < 256; i++)
			assert_int_equal(got[i], mask >> cta % 4 & 1 ? data[i] : 0);
		assert_int_equal(args->out[512 * cta + 511], 1000 + (cta + 3) % 4);
	}
}

static void multicast(void **state)
{
	struct args_cast *args = alloc(sizeof(*args));
	uint32_t *data = alloc(1024);

	random_fill(data, 1024);
	args->tensor = tile(data, TUTTI_U32, 2, (uint64_t[]){ 32, 8 }, (uint32_t[]){ 32, 8 });
	args->bytes = 1024;
	args->out = alloc(8 * 4096);
	check_cast(data, args, 0xf);
	check_cast(data, args, 0x6); /* the requester is not among them */
	check_cast(data, args, 0x1);
	check_cast(data, args, 0x9);
}

/* ---- fill ---------------------------------------------------------------------- */

static void normalise(void **state)
{
	enum { W = 12, H = 9, BW = 20, BH = 13 };
	struct args_normalise *args = alloc(sizeof(*args));
	struct tutti_tensor *tensor = alloc(128);
	float *x = alloc(W * H * 4);
	struct tutti_tiled t = { .tensor = { .base = x, .type = TUTTI_F32, .rank = 2, .size = { W, H },
					     .fill = TUTTI_FILL_NAN }, .box = { BW, BH } };

	for (int i = 0; i < W * H; i++)
		x[i] = i == 7 ? __builtin_nanf("") : (float)(i - 50); /* a NaN of the data is data */
	assert_int_equal(tutti_tensor_encode_tiled(tensor, &t), 0);
	*args = (struct args_normalise){ tensor, alloc(BW * BH * 4), 0.5f, 3 };
	jobs_kernel("tensor_normalise", 1, 32, 8192, args);
	for (int row = 0; row < BH; row++)
		for (int i = 0; i < BW; i++) {
			int h = row - 2, w = i - 4;
			bool inside = h >= 0 && h < H && w >= 0 && w < W;
			float y = args->y[row * BW + i];

			if (inside && h * W + w == 7)
				assert_true(y != y);
			else
				assert_true(y == (inside ? 0.5f * (float)(h * W + w - 50) + 3 : 0));
		}
}

/* ---- descriptors ---------------------------------------------------------------- */

static void change(void **state)
{
	struct args_change *args = alloc(sizeof(*args));
	uint32_t *data = alloc(64 * 16);

	for (unsigned i = 0; i < 16 * 16; i++)
		data[i] = i / 16;
	args->tensor = tile(data, TUTTI_U32, 1, (uint64_t[]){ 16 }, (uint32_t[]){ 16 });
	args->base = (uintptr_t)data;
	args->out = alloc(64);
	jobs_kernel("tensor_change", 1, 32, 4096, args);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(args->out[i], i);
	/* the host changes the descriptor between two kernels: their fences are enough */
	args->tensor->base = (uintptr_t)data;
	tutti_tensor_seal(args->tensor);
	jobs_kernel("tensor_change", 1, 32, 4096, args);
	assert_int_equal(args->out[0], 0);
}

static void built(void **state)
{
	struct args_late *args = alloc(sizeof(*args));
	uint64_t *in = alloc(512), *out = alloc(512);

	for (unsigned i = 0; i < 64; i++)
		in[i] = i;
	*args = (struct args_late){ in, out, 32, 0 };
	jobs_kernel("tensor_built", 1, 32, 4096, args);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(out[i], i < 16 ? i + 17 : 0);
}

/* ---- requests that outlive their waves -------------------------------------------- */

static struct args_late *late(const void *from, uint64_t *out, uint32_t blocks)
{
	struct args_late *args = alloc(sizeof(*args));

	*args = (struct args_late){ from, out, blocks, 0 };
	return args;
}

/*
 * Workgroups end while their loads are in progress; others use the shared memory next to theirs, and theirs after them.
 */
static void leave(void **state)
{
	uint64_t *wrong = alloc(64);
	uint8_t *data = alloc(65536);
	tutti_signal_t signal = rig_signal(rig, 40);
	struct tutti_queue *other = rig_queue(rig, 0);

	memset(data, 0xee, 65536);
	for (unsigned i = 0; i < 20; i++) {
		jobs_start(rig->queue, "tensor_leave", 300, 32, 32768, late(data, NULL, 1900), signal);
		jobs_start(other, "tensor_watch", 300, 32, 32768, late(NULL, wrong, 3), signal);
	}
	jobs_wait(rig->queue, signal);
	assert_int_equal(*wrong, 0);
	tutti_queue_destroy(other);
	tutti_signal_destroy(rig->device, signal);
}

static void killed(void **state)
{
	uint64_t *wrong = alloc(64), *started = alloc(64);
	uint8_t *data = alloc(65536);

	memset(data, 0xee, 65536);
	for (unsigned i = 0; i < 10; i++) {
		struct tutti_queue *doomed = rig_queue(rig, 0);

		*started = 0;
		jobs_start(doomed, "tensor_endless", 200, 32, 32768, late(data, started, 1900), NULL);
		assert_true(rig_poll_until(doomed, started, 1, 20000));
		tutti_queue_destroy(doomed);
		jobs_kernel("tensor_watch", 300, 32, 32768, late(NULL, wrong, 3));
	}
	assert_int_equal(*wrong, 0);
}

/* ---- counters -------------------------------------------------------------------- */

static void counted(struct tensor_job *job, uint64_t delta[TUTTI_COUNTERS])
{
	uint64_t before[TUTTI_COUNTERS];

	rig_counters(rig, before);
	jobs_run(job, 1);
	rig_counters(rig, delta);
	for (unsigned i = 0; i < TUTTI_COUNTERS; i++)
		delta[i] -= before[i];
}

#define COUNT(name) delta[TUTTI_COUNTER_##name]

static void counters(void **state)
{
	struct tensor_job *job = alloc(sizeof(*job));
	uint64_t delta[TUTTI_COUNTERS];
	uint8_t *data = alloc(1 << 20);
	struct tutti_tensor *tensor = tile(data, TUTTI_U8, 2, (uint64_t[]){ 1024, 100 }, (uint32_t[]){ 48, 4 });

	/* rows of 48 bytes from byte 112 on: two lines, two sectors each */
	job->request = (struct tutti_tensor_request){
		.descriptor = (uintptr_t)tensor, .op = TUTTI_COPY_PREFETCH, .rank = 2, .flags = TUTTI_REQUEST_TENSOR,
		.coordinate = { 112, 0 }, .barrier = TUTTI_BARRIER_NONE };
	counted(job, delta);
	assert_int_equal(COUNT(TMAU_REQUESTS), 1);
	assert_int_equal(COUNT(TMAU_INTERIOR), 1);
	assert_int_equal(COUNT(TMAU_EDGE), 0);
	assert_int_equal(COUNT(MOVER_DESCRIPTORS), COUNT(TMAU_MOVERS));
	assert_int_equal(COUNT(MOVER_BYTES), 4 * 48);
	assert_int_equal(COUNT(MOVER_LINES), 8);
	assert_int_equal(COUNT(MOVER_SECTORS), 8);
	/* three of four rows lie outside: their lines are not read, and need no alignment */
	job->request.coordinate[0] = 113;
	job->request.coordinate[1] = 99;
	counted(job, delta);
	assert_int_equal(COUNT(TMAU_EDGE), 1);
	assert_int_equal(COUNT(TMAU_DESCRIPTOR_HITS) + COUNT(TMAU_DESCRIPTOR_MISSES), 1);
	assert_int_equal(COUNT(MOVER_LINES), 2);
	assert_int_equal(COUNT(MOVER_SECTORS), 3);
	/* a load counts the bytes it reads, not those it fills */
	job->request.op = TUTTI_COPY_LOAD;
	job->request.coordinate[0] = 1008;
	job->request.coordinate[1] = -1;
	job->request.barrier = 512;
	job->expect = 4 * 48;
	counted(job, delta);
	assert_int_equal(COUNT(MOVER_BYTES), 3 * 16);
	assert_int_equal(COUNT(MOVER_LINES), 3);
	/* a prefetched block: whole lines, nothing else */
	job->request = (struct tutti_tensor_request){ .descriptor = (uintptr_t)data, .op = TUTTI_COPY_PREFETCH,
						      .blocks = 64, .barrier = TUTTI_BARRIER_NONE };
	counted(job, delta);
	assert_int_equal(COUNT(MOVER_LINES), 8);
	assert_int_equal(COUNT(MOVER_SECTORS), 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "TMA-17 TMA-29: load then store is the identity, by the wrapper of each mode and rank", identity, NULL,
		  NULL, NULL },
		{ "TMA-26 TMA-25: blocks in every direction", blocks, NULL, NULL, NULL },
		{ "TMA-02 TMA-03 TMA-22 TMA-29: rings of stages in many workgroups", stream, NULL, NULL, NULL },
		{ "TMA-29: one_sync runs once, in the same wave, between two meetings", one_sync, NULL, NULL, NULL },
		{ "TMA-25: reductions and atomics of waves on the same words", contend, NULL, NULL, NULL },
		{ "TMA-23 TMA-21 TMA-28: multicast and blocks between workgroups of a CGA", multicast, NULL, NULL, NULL },
		{ "TMA-10: normalisation fused by is_fill equals the unfused one", normalise, NULL, NULL, NULL },
		{ "TMA-18 TMA-05: a descriptor changed under its fence", change, NULL, NULL, NULL },
		{ "TMA-05 TMA-29: a descriptor built by the wave goes with the request", built, NULL, NULL, NULL },
		{ "TMA-28: no late write after a workgroup's end", leave, NULL, NULL, NULL },
		{ "TMA-28: no late write after a kernel is killed", killed, NULL, NULL, NULL },
		{ "TMA-24 TMA-27: lines, sectors, bytes, tiles", counters, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("TMAU device API", tests, jobs_open, jobs_close);
}
