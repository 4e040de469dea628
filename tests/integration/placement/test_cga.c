// SPDX-License-Identifier: MIT
/* CGAs from launch to completion: the shipped firmware places them, and the card's SMs run them. */
#include "kernels/cga_args.h"
#include "rig.h"
#include "tutti/code_object.h"
#include "tutti/task.h"

#define T(name, function) { name, function, open_rig, rig_group_close, NULL }
#define SWEPT "gpc 6+6+5 6+3+4 5+5+5\nugpu 2 1\nmemory 256M\n"

static int open_as(struct rig *r)
{
	rig = r;
	rig_load(rig, "tests/integration/kernels/cga.tco");
	return 0;
}

static int open_rig(void **state)
{
	return open_as(rig_open(NULL));
}

static int open_swept(void **state)
{
	return open_as(rig_topology(SWEPT));
}

static int open_one_sm(void **state)
{
	return open_as(rig_topology("gpc 1\nmemory 256M\n"));
}

static int open_deterministic(void **state)
{
	return open_as(rig_deterministic(SWEPT));
}

/* Grid of @x * @y workgroups of @items. */
static tutti_signal_t launch(struct tutti_queue *queue, const char *name, uint32_t x, uint32_t y, uint16_t items,
			     void *args)
{
	struct tutti_kernel kernel = rig_kernel(rig, name);
	tutti_signal_t signal = rig_signal(rig, 1);
	struct tutti_launch l = { .kernel = &kernel, .grid = { x * items, y, 1 }, .workgroup = { items, 1, 1 },
				  .kernarg = args, .signal = signal, .acquire = 2, .release = 2 };

	assert_int_equal(tutti_dispatch(queue, &l), 0);
	return signal;
}

static struct args_cga_seen *seen_args(uint32_t ctas)
{
	struct args_cga_seen *args = rig_alloc(rig, sizeof(*args));

	memset(args, 0, sizeof(*args));
	args->seen = rig_alloc(rig, ctas * sizeof(*args->seen));
	args->running = rig_alloc(rig, 64);
	memset(args->seen, 0, ctas * sizeof(*args->seen));
	*args->running = 0;
	return args;
}

/* Every CTA ran once and knows its position; the CTAs of a CGA were on one GPC, under one id. */
static void check_seen(const struct cga_seen *seen, uint32_t x, uint32_t y, uint32_t cx, uint32_t cy)
{
	for (uint32_t i = 0; i < x * y; i++) {
		const struct cga_seen *s = &seen[i], *leader = &seen[i % x / cx * cx + i / x / cy * cy * x];

		assert_int_equal(s->runs, 1);
		assert_int_equal(s->linear, i);
		assert_int_equal(s->ctas, cx * cy);
		assert_int_equal(s->rank, i % x % cx + cx * (i / x % cy));
		assert_int_equal(s->cta[0], i % x % cx);
		assert_int_equal(s->cta[1], i / x % cy);
		assert_int_equal(s->cga[0], i % x / cx);
		assert_int_equal(s->cga[1], i / x / cy);
		assert_int_equal(s->count[0], x / cx);
		assert_int_equal(s->cga_linear, i % x / cx + x / cx * (i / x / cy));
		assert_int_equal(s->gpc, leader->gpc);
		assert_int_equal(s->slot, leader->slot);
	}
}

static void look(const char *name, uint32_t x, uint32_t y, uint32_t cx, uint32_t cy)
{
	struct args_cga_seen *args = seen_args(x * y);

	for (unsigned items = 1; items <= 128; items *= 11) {
		memset(args->seen, 0, x * y * sizeof(*args->seen));
		rig_wait(rig, launch(rig->queue, name, x, y, (uint16_t)items, args));
		check_seen(args->seen, x, y, cx, cy);
	}
}

static void identity(void **state)
{
	look("cga_look", 20, 3, 1, 1);
	look("cga_look_8", 8, 1, 8, 1);
	look("cga_look_8", 800, 1, 8, 1);
	look("cga_look_6", 18, 12, 3, 2);
}

/* CTAs of a CPC_CGA run on the SMs of one CPC, also where CPCs have fewer SMs. */
static void cpc(void **state)
{
	const struct tutti_discovery *d = tutti_device_discovery(rig->device);
	const uint8_t *window = (const uint8_t *)d;
	struct args_cga_seen *args = seen_args(64);
	uint8_t cpc_of[64], n = 0;

	(void)window;
	for (unsigned g = 0; g < d->gpcs; g++) { /* SWEPT, CPC by CPC */
		static const uint8_t sizes[3][3] = { { 6, 6, 5 }, { 6, 3, 4 }, { 5, 5, 5 } };

		for (unsigned c = 0; c < 3; c++)
			for (unsigned i = 0; i < sizes[g][c]; i++)
				cpc_of[n++] = (uint8_t)(3 * g + c);
	}
	assert_int_equal(n, d->sms);
	rig_wait(rig, launch(rig->queue, "cga_look_cpc", 64, 1, 64, args));
	check_seen(args->seen, 64, 1, 4, 1);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(cpc_of[args->seen[i].sm], cpc_of[args->seen[i & ~3u].sm]);
}

/* A CGA that spans GPCs runs all at once, but its CTAs have no ranks. */
static void spanning(void **state)
{
	struct args_cga_seen *args = seen_args(64);

	rig_wait(rig, launch(rig->queue, "cga_look_gpu", 64, 1, 32, args));
	for (unsigned i = 0; i < 64; i++) {
		assert_int_equal(args->seen[i].runs, 1);
		assert_int_equal(args->seen[i].ctas, 1);
		assert_int_equal(args->seen[i].rank, 0);
	}
}

static void exchange_on(struct tutti_queue *queue, uint32_t ctas, uint16_t items, uint64_t rounds)
{
	struct args_cga_sum *args = rig_alloc(rig, sizeof(*args));

	args->out = rig_alloc(rig, ctas * 2 * 8);
	args->rounds = rounds;
	memset(args->out, 0, ctas * 2 * 8);
	rig_wait(rig, launch(queue, "cga_exchange", ctas, 1, items, args));
	for (uint32_t i = 0; i < ctas; i++)
		assert_int_equal(args->out[i], 0);
	for (uint32_t i = 0; i < ctas / 4; i++)
		assert_int_equal(args->out[ctas + i], 4 * items * rounds);
}

static void exchange(void **state)
{
	exchange_on(rig->queue, 4, 64, 100);
	exchange_on(rig->queue, 400, 96, 20);
	exchange_on(rig->queue, 4000, 32, 2);
}

/* Plain grids and CGAs from several queues share the card. */
static void mixed(void **state)
{
	struct tutti_queue *queue[4];
	struct args_cga_sum *args[4][8];
	tutti_signal_t signal[4][8];
	uint64_t *word = rig_alloc(rig, 64);

	*word = 0;
	for (unsigned q = 0; q < 4; q++)
		queue[q] = rig_queue(rig, TUTTI_QUEUE_EXTENDED);
	for (unsigned i = 0; i < 8; i++) {
		for (unsigned q = 0; q < 4; q++) {
			args[q][i] = rig_alloc(rig, sizeof(*args[q][i]));
			args[q][i]->out = rig_alloc(rig, 512 * 8);
			args[q][i]->rounds = 3;
			memset(args[q][i]->out, 0, 512 * 8);
			signal[q][i] = q & 1 ? launch(queue[q], "count", 300, 1, 64, rig_args(rig, word, 1, 0))
					     : launch(queue[q], "cga_exchange", 40 * (i + 1), 1, 64, args[q][i]);
		}
	}
	for (unsigned q = 0; q < 4; q++)
		for (unsigned i = 0; i < 8; i++)
			rig_wait(rig, signal[q][i]);
	assert_int_equal(*word, 2 * 8 * 300 * 64);
	for (unsigned q = 0; q < 4; q += 2)
		for (unsigned i = 0; i < 8; i++)
			for (unsigned c = 0; c < 50 * (i + 1); c++)
				assert_int_equal(args[q][i]->out[c], c < 40 * (i + 1) ? 0 : 4 * 64 * 3);
	for (unsigned q = 0; q < 4; q++)
		tutti_queue_destroy(queue[q]);
}

static void too_large(void **state)
{
	rig_refused(rig, "cga_giant", 1024 * 32, 32, 0, TUTTI_ERROR_GRID);
	/* by its registers: an SM holds four of its waves, which is half a workgroup, or one */
	rig_refused(rig, "cga_greedy", 256 * 256, 256, 0, TUTTI_ERROR_WORKGROUP);
	rig_refused(rig, "cga_greedy", 256 * 128, 128, 0, TUTTI_ERROR_GRID);
}

static struct args_cga_bad *bad_args(uint64_t rank, uint64_t offset)
{
	struct args_cga_bad *args = rig_alloc(rig, sizeof(*args));

	args->flag = rig_alloc(rig, 64);
	*args->flag = 0;
	args->rank = rank;
	args->offset = offset;
	return args;
}

static void bad_access(void **state)
{
	struct tutti_fault fault;

	/* found at the SM that accesses: reported with wave and pc */
	fault = rig_fails(rig, "cga_bad", 4 * 32, 32, bad_args(4, 0), TUTTI_ERROR_CGA);
	assert_int_equal(fault.cause, TUTTI_CAUSE_CGA_RANK);
	assert_true(fault.pc);
	assert_int_equal(fault.address, 0x803004000000ull);
	fault = rig_fails(rig, "cga_bad", 4 * 32, 32, bad_args(1, 0xfffff0), TUTTI_ERROR_CGA);
	assert_int_equal(fault.cause, TUTTI_CAUSE_CGA_OFFSET);
	assert_true(fault.pc);
	/* found at the SM that is accessed */
	fault = rig_fails(rig, "cga_bad", 400 * 32, 32, bad_args(1, 2048), TUTTI_ERROR_CGA);
	assert_int_equal(fault.cause, TUTTI_CAUSE_CGA_SEGMENT);
	assert_int_equal(fault.pc, 0);
	fault = rig_fails(rig, "cga_late", 2 * 32, 32, bad_args(0, 0), TUTTI_ERROR_CGA);
	assert_int_equal(fault.cause, TUTTI_CAUSE_CGA_EXITED);
	assert_int_equal(fault.pc, 0);
	exchange_on(rig->queue, 400, 64, 3);
}

/* A hung CGA is killed with its queue; its ids and SMs are used again. */
static void hang(void **state)
{
	struct tutti_queue_options o = { .flags = TUTTI_QUEUE_EXTENDED, .timeout_ms = 200 };
	struct args_cga_sum *args = rig_alloc(rig, sizeof(*args));

	for (unsigned i = 0; i < 3; i++) {
		struct tutti_queue *queue;
		struct tutti_fault fault;

		assert_int_equal(tutti_queue_create(rig->device, &o, &queue), 0);
		launch(queue, "cga_hang", 400, 1, 64, args);
		fault = rig_fault(rig, queue);
		assert_int_equal(fault.code, TUTTI_ERROR_TIMEOUT);
		tutti_queue_destroy(queue);
	}
	exchange_on(rig->queue, 4000, 64, 2);
}

static void linear_memory(void **state)
{
	struct args_cga_sum *args = rig_alloc(rig, sizeof(*args));
	unsigned n = 400;

	args->out = rig_alloc(rig, n * 8);
	for (unsigned round = 0; round < 3; round++) {
		memset(args->out, 0, n * 8);
		rig_wait(rig, launch(rig->queue, "cga_linear", n, 1, 32, args));
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(args->out[i], 1 + i / 4);
	}
}

/* Launches of @name, with metadata @tmd if it is not NULL, one after another. @last: when the one before them began */
static void times_of(struct tutti_queue *queue, const char *name, void *tmd, uint64_t *last)
{
	struct tutti_kernel kernel = rig_kernel(rig, name);
	struct args_cga_seen *args = seen_args(8);
	tutti_signal_t signals[4];

	args->wait = 0;
	for (unsigned i = 0; i < 4; i++) {
		struct tutti_launch l = { .kernel = &kernel, .grid = { 64 }, .workgroup = { 8 }, .kernarg = args,
					  .signal = signals[i] = rig_signal(rig, 1), .tmd = tmd, .barrier = 1 };

		assert_int_equal(tutti_dispatch(queue, &l), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		rig_wait(rig, signals[i]);
		assert_in_range(signals[i]->start_time, *last, signals[i]->end_time);
		*last = signals[i]->start_time;
	}
}

static void times(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_PROFILE);
	struct tutti_task *task;
	uint64_t last = 1;

	assert_int_equal(tutti_task_create(rig->device, &(struct tutti_task_attributes){ .priority = 2 }, &task), 0);
	for (unsigned round = 0; round < 2; round++) {
		times_of(queue, "cga_look", NULL, &last);
		times_of(queue, "cga_look_8", NULL, &last);
		times_of(queue, "cga_look", tutti_task_tmd(task), &last);
		times_of(queue, "cga_look_8", tutti_task_tmd(task), &last);
	}
	tutti_task_destroy(task);
	tutti_queue_destroy(queue);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("CGA-01, CGA-19, CGA-21, TSK-15: CTAs know their CGA, in any grid", identity),
		T("CGA-03, CGA-24, CGA-25: CTAs of a CGA exchange data and meet", exchange),
		T("CGA-01, CGA-03: a CGA that spans GPCs", spanning),
		T("CGA-13, RES-01: CGAs and plain grids share the card", mixed),
		T("CGA-05: a CGA that can never fit is an error", too_large),
		T("CGA-27: bad accesses are errors of the queue, with pc if the source found them", bad_access),
		T("CGA-26, TSK-12: a hung CGA is killed, what it had is given out again", hang),
		T("CGA-28: each CGA has linear memory of its own, empty at its start", linear_memory),
		T("TSK-01, CGA-01: signals tell when kernels with metadata and CGAs began and ended", times),
		{ "CGA-01, CGA-04: CPC_CGAs on a card with swept parts", cpc, open_swept, rig_group_close, NULL },
		{ "CGA-04, CGA-24: exchange on a card with swept parts", exchange, open_swept, rig_group_close, NULL },
		{ "CGA-04, CGA-09: a card of one SM runs CGAs of eight", identity, open_one_sm, rig_group_close, NULL },
		{ "SYS-14, CGA-25: the same in deterministic mode", exchange, open_deterministic, rig_group_close, NULL },
		{ "SYS-14, CGA-27: bad accesses in deterministic mode", bad_access, open_deterministic, rig_group_close, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
