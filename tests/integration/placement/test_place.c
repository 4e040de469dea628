/* SPDX-License-Identifier: MIT */
/* Placement of plain grids: CGA-04, CGA-06, CGA-07, CGA-08, CGA-13, CGA-19, CGA-22, SYS-03, SYS-14, TSK-14. */
#include "rig.h"
#include "tutti/policy.h"

#define T(name, function) { name, function, NULL, NULL, NULL }
#define MAX_CTAS 40000

struct parked {
	struct args_park *args;
	tutti_signal_t signal;
	struct tutti_queue *queue;
	unsigned ctas;
};

/* start @ctas workgroups of one wave that run until the host lets them end */
static struct parked park(unsigned ctas, uint32_t shared)
{
	struct parked p = { .args = rig_alloc(rig, sizeof(*p.args)), .signal = rig_signal(rig, 1), .ctas = ctas };
	struct tutti_kernel kernel = rig_kernel(rig, "park");
	struct tutti_queue_options o = { .packets = 64, .timeout_ms = UINT32_MAX }; /* virtual time passes quickly */
	struct tutti_launch launch = { .kernel = &kernel, .grid = { ctas }, .workgroup = { 1 }, .signal = p.signal,
				       .dynamic_group_bytes = shared, .kernarg = p.args };

	p.args->sm_of = rig_alloc(rig, ctas * 4);
	p.args->runs = rig_alloc(rig, ctas * 4);
	p.args->started = rig_alloc(rig, 64);
	p.args->go = rig_alloc(rig, 64);
	assert_int_equal(tutti_queue_create(rig->device, &o, &p.queue), 0);
	assert_int_equal(tutti_dispatch(p.queue, &launch), 0);
	return p;
}

static void started(struct parked *p, unsigned ctas)
{
	if (!rig_poll_until(p->queue, p->args->started, ctas, 20000))
		fail_msg("%llu of %u workgroups have started", (unsigned long long)*p->args->started, ctas);
}

static void let_go(struct parked *p)
{
	unsigned i;

	tutti_store_release(p->args->go, 1);
	rig_wait(rig, p->signal);
	for (i = 0; i < p->ctas; i++)
		assert_int_equal(p->args->runs[i], 1);
	tutti_queue_destroy(p->queue);
}

static void disable_all(void)
{
	assert_int_equal(tutti_device_enable_sms(rig->device, 0, tutti_device_discovery(rig->device)->sms, false), 0);
}

static void enable_only(unsigned sm)
{
	disable_all();
	assert_int_equal(tutti_device_enable_sms(rig->device, sm, 1, true), 0);
}

static void enable_all(void)
{
	assert_int_equal(tutti_device_enable_sms(rig->device, 0, tutti_device_discovery(rig->device)->sms, true), 0);
}

/* the definition: one CTA at a time, on the SM with the most free slots, the first one of equals */
static void pour(unsigned *free_slots, unsigned sms, const unsigned *order, unsigned ctas, unsigned *got)
{
	memset(got, 0, sms * sizeof(*got));
	while (ctas) {
		unsigned best = ~0u, i;

		for (i = 0; i < sms; i++)
			if (free_slots[order[i]] && (best == ~0u || free_slots[order[i]] > free_slots[best]))
				best = order[i];
		if (best == ~0u)
			return;
		free_slots[best]--;
		got[best]++;
		ctas--;
	}
}

static void identity(unsigned *order, unsigned sms)
{
	unsigned i;

	for (i = 0; i < sms; i++)
		order[i] = i;
}

/* occupy @used slots of the SMs, launch @ctas CTAs more, compare with the definition */
static void water(const unsigned *used, unsigned sms, const unsigned *order, unsigned ctas)
{
	const struct tutti_discovery *d = tutti_device_discovery(rig->device);
	unsigned slots = d->peus * d->peu_waves < d->cta_slots ? d->peus * d->peu_waves : d->cta_slots;
	unsigned free_slots[64], want[64], got[64] = { 0 }, i, depth, total = 0, n = 0;
	struct parked load[64], more;

	for (i = 0; i < sms; i++) {
		free_slots[i] = slots - used[i];
		total += free_slots[i];
	}
	for (depth = 1; depth <= slots; depth++) { /* one task for all SMs of the same depth: task slots are few */
		unsigned same = 0;

		disable_all();
		for (i = 0; i < sms; i++)
			if (used[i] == depth) {
				assert_int_equal(tutti_device_enable_sms(rig->device, i, 1, true), 0);
				same++;
			}
		if (!same)
			continue;
		load[n] = park(depth * same, 0);
		started(&load[n++], depth * same);
	}
	enable_all();
	more = park(ctas, 0);
	started(&more, ctas < total ? ctas : total);
	pour(free_slots, sms, order, ctas, want);
	assert_int_equal(*more.args->started, ctas < total ? ctas : total);
	for (i = 0; i < ctas; i++)
		if (more.args->runs[i])
			got[more.args->sm_of[i]]++;
	for (i = 0; i < sms; i++)
		if (got[i] != want[i])
			fail_msg("%u CTAs, SM %u (used %u): %u CTAs, should be %u", ctas, i, used[i], got[i], want[i]);
	let_go(&more);
	while (n--)
		let_go(&load[n]);
}

static const unsigned figure_21[32] = { 20, 24, 10, 32, 32, 7, 32, 3, 32, 25, 21, 30, 31, 28, 29, 26,
					 27, 23, 22, 30, 31, 28, 28, 29, 27, 26, 25, 30, 31, 29, 28, 32 };

static void figure_137_ctas(void **state)
{
	unsigned order[64];

	rig = rig_deterministic("gpc 16\ngpc 16\n");
	identity(order, 32);
	water(figure_21, 32, order, 137);
	rig_close(rig);
}

static void level_search(void **state)
{
	unsigned order[64], method;

	rig = rig_deterministic("gpc 16\ngpc 16\n");
	identity(order, 32);
	for (method = 0; method < 3; method++) {
		assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_LEVEL_SEARCH, method), 0);
		water(figure_21, 32, order, 137);
		water(figure_21, 32, order, 5);
	}
	rig_close(rig);
}

static void random_loads(void **state)
{
	unsigned order[64], used[64], seed = 42, round, i;

	rig = rig_deterministic("gpc 5\ngpc 3\ngpc 4\n");
	identity(order, 12);
	for (round = 0; round < 12; round++) {
		for (i = 0; i < 12; i++)
			used[i] = (unsigned)rand_r(&seed) % 33;
		water(used, 12, order, 1 + (unsigned)rand_r(&seed) % 200);
	}
	rig_close(rig);
}

static void priority_order(void **state)
{
	unsigned order[64], i, used[16] = { 0 };

	rig = rig_deterministic("gpc 8\ngpc 8\n");
	for (i = 0; i < 16; i++) {
		order[i] = (i * 5 + 3) % 16;
		assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_SM_ORDER, i << 16 | order[i]), 0);
	}
	for (i = 1; i <= 40; i += 3)
		water(used, 16, order, i);
	rig_close(rig);
}

static void overflow(void **state)
{
	struct parked p;

	rig = rig_topology("gpc 2\ngpc 1\n");
	p = park(1000, 0);
	started(&p, 96); /* all slots are taken */
	usleep(20000);
	tutti_queue_poll(p.queue);
	assert_int_equal(*p.args->started, 96);
	let_go(&p); /* as they complete, others start */
	rig_close(rig);
}

static void cap(void **state)
{
	struct parked p;

	rig = rig_topology("gpc 4\n");
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_CTA_CAP, 3), 0);
	p = park(100, 0);
	started(&p, 12);
	usleep(20000);
	tutti_queue_poll(p.queue);
	assert_int_equal(*p.args->started, 12);
	let_go(&p);
	rig_close(rig);
}

static void limited_by_shared_memory(void **state)
{
	struct parked p;

	rig = rig_topology("gpc 3\n");
	p = park(100, 50000); /* 25 of 64 blocks of 2 KiB */
	started(&p, 6);
	usleep(20000);
	tutti_queue_poll(p.queue);
	assert_int_equal(*p.args->started, 6);
	let_go(&p);
	rig_close(rig);
}

static void limited_by_registers(void **state)
{
	struct args_seen *args;
	unsigned i;

	rig = rig_topology("gpc 2\n");
	args = rig_alloc(rig, sizeof(*args));
	args->seen = rig_alloc(rig, 500 * sizeof(struct seen));
	args->sm_now = rig_alloc(rig, 64);
	args->sm_most = rig_alloc(rig, 64);
	rig_run(rig, "greedy", 500, 1, args); /* half a PEU's registers for each wave: 8 on an SM */
	for (i = 0; i < 500; i++)
		assert_int_equal(args->seen[i].runs, 1);
	assert_in_range(args->sm_most[0], 1, 8);
	assert_in_range(args->sm_most[1], 1, 8);
	rig_close(rig);
}

static void large_workgroups(void **state)
{
	struct args_seen *args;
	unsigned i;

	rig = rig_topology("gpc 2\n");
	args = rig_alloc(rig, sizeof(*args));
	args->seen = rig_alloc(rig, 300 * sizeof(struct seen));
	args->sm_now = rig_alloc(rig, 64);
	args->sm_most = rig_alloc(rig, 64);
	rig_run(rig, "crowd", 300 * 320, 320, args); /* 10 waves: 3 on an SM of 32 */
	for (i = 0; i < 300; i++)
		assert_int_equal(args->seen[i].runs, 1);
	assert_in_range(args->sm_most[0], 1, 3);
	assert_in_range(args->sm_most[1], 1, 3);
	rig_close(rig);
}

/* grids of different shapes on the same SMs at the same time: nothing over-booked (the card would crash) */
static void mixed_shapes(void **state)
{
	uint64_t *word;
	struct tutti_queue *queue[6];
	tutti_signal_t signal;
	unsigned q, i;

	rig = rig_topology("gpc 3\ngpc 1\n");
	word = rig_alloc(rig, 64 * 8);
	signal = rig_signal(rig, 6 * 20);
	for (q = 0; q < 6; q++)
		queue[q] = rig_queue(rig, 0);
	for (i = 0; i < 20; i++)
		for (q = 0; q < 6; q++) {
			static const char *names[] = { "own_shared", "tree", "count", "own_shared", "tree", "own_shared" };
			struct tutti_kernel kernel = rig_kernel(rig, names[q]);
			uint16_t size = (uint16_t)(q == 1 ? 256 : q == 4 ? 1024 : 32 * (q + 1));
			struct tutti_launch launch = { .kernel = &kernel, .grid = { size * 50u }, .workgroup = { size },
						       .kernarg = rig_args(rig, &word[q * 64], q == 2, 0), .signal = signal,
						       .dynamic_group_bytes = q == 0 ? 3000 : q == 3 ? 20000 : q == 5 ? 70000 : 0 };

			assert_int_equal(tutti_dispatch(queue[q], &launch), 0);
		}
	rig_wait(rig, signal);
	assert_int_equal(word[0], 0);
	assert_int_equal(word[1], 20 * 50);
	assert_int_equal(word[2 * 64], 20 * 50 * 96);
	assert_int_equal(word[3 * 64], 0);
	assert_int_equal(word[5 * 64 + 1], 20 * 50 * 6);
	for (q = 0; q < 6; q++)
		tutti_queue_destroy(queue[q]);
	rig_close(rig);
}

static void late_sm(void **state)
{
	struct parked p;
	unsigned i, on_late = 0;

	rig = rig_topology("gpc 4\n");
	assert_int_equal(tutti_device_enable_sms(rig->device, 3, 1, false), 0);
	p = park(5000, 0);
	started(&p, 96);
	usleep(5000);
	for (i = 0; i < 96; i++)
		assert_int_not_equal(p.args->sm_of[i], 3);
	assert_int_equal(tutti_device_enable_sms(rig->device, 3, 1, true), 0);
	started(&p, 128);
	let_go(&p); /* every CTA once */
	for (i = 0; i < 5000; i++)
		on_late += p.args->sm_of[i] == 3;
	assert_true(on_late >= 32);
	rig_close(rig);
}

/* SMs are switched off and on while a grid runs: every CTA runs once, and none starts on an SM that is off */
static void sms_come_and_go(void **state)
{
	struct parked p;
	unsigned i, round, seen;
	uint32_t started_on;

	rig = rig_topology("gpc 5\ngpc 2\n");
	p = park(6000, 0);
	started(&p, 7 * 32);
	/* all slots are taken; CTAs that end on SMs 3 and 5, which are off, are not replaced */
	assert_int_equal(tutti_device_enable_sms(rig->device, 3, 1, false), 0);
	assert_int_equal(tutti_device_enable_sms(rig->device, 5, 1, false), 0);
	for (i = 0, seen = 0; i < 6000; i++)
		seen += p.args->runs[i] && (p.args->sm_of[i] == 3 || p.args->sm_of[i] == 5);
	assert_int_equal(seen, 64);
	let_go(&p);
	for (i = 0, started_on = 0; i < 6000; i++)
		started_on += p.args->sm_of[i] == 3 || p.args->sm_of[i] == 5;
	assert_int_equal(started_on, 64);
	assert_int_equal(tutti_device_enable_sms(rig->device, 0, 7, true), 0);
	/* and while workgroups end as fast as they can */
	for (round = 0; round < 5; round++) {
		p = park(MAX_CTAS, 0);
		tutti_store_release(p.args->go, 1);
		for (i = 0; tutti_signal_load(p.signal) && i < 10000; i++) {
			assert_int_equal(tutti_device_enable_sms(rig->device, i % 7, 1, i / 7 % 2), 0);
			tutti_queue_poll(p.queue);
		}
		assert_int_equal(tutti_device_enable_sms(rig->device, 0, 7, true), 0);
		let_go(&p);
	}
	rig_close(rig);
}

static void late_sm_held_by_another_task(void **state)
{
	struct parked holder, p;
	unsigned i, on_late = 0;

	rig = rig_topology("gpc 3\n");
	enable_only(1);
	holder = park(32, 0);
	started(&holder, 32);
	enable_all();
	p = park(3000, 0);
	started(&p, 64);
	let_go(&holder);
	started(&p, 96);
	let_go(&p);
	for (i = 0; i < 3000; i++)
		on_late += p.args->sm_of[i] == 1;
	assert_true(on_late >= 32);
	rig_close(rig);
}

static void same_sm_different_tasks(void **state)
{
	struct parked a, b;

	rig = rig_topology("gpc 1\n");
	a = park(10, 0);
	b = park(10, 0);
	started(&a, 10);
	started(&b, 10); /* both on the only SM */
	let_go(&a);
	let_go(&b);
	rig_close(rig);
}

static void no_sm_enabled(void **state)
{
	struct parked p;

	rig = rig_topology("gpc 2\n");
	assert_int_equal(tutti_device_enable_sms(rig->device, 0, 2, false), 0);
	p = park(4, 0);
	usleep(20000);
	tutti_queue_poll(p.queue);
	assert_int_equal(*p.args->started, 0);
	enable_all();
	started(&p, 4);
	let_go(&p);
	rig_close(rig);
}

static void topology(const char *text, unsigned gpcs, unsigned sms)
{
	const struct tutti_discovery *d;
	struct parked p;
	unsigned i, used = 0, n;
	uint8_t *seen;

	rig = rig_topology(text);
	d = tutti_device_discovery(rig->device);
	assert_int_equal(d->gpcs, gpcs);
	assert_int_equal(d->sms, sms);
	for (i = 0; i < gpcs; i++) {
		assert_int_equal(d->gpc[i].first_sm, used);
		used += d->gpc[i].sms;
	}
	assert_int_equal(used, sms);
	n = sms * 2 + 1; /* at least two on each */
	p = park(n, 0);
	started(&p, n);
	seen = calloc(sms, 1);
	for (i = 0; i < n; i++) {
		assert_true(p.args->sm_of[i] < sms);
		seen[p.args->sm_of[i]]++;
	}
	for (i = 0; i < sms; i++)
		assert_in_range(seen[i], 2, 3);
	free(seen);
	let_go(&p);
	rig_close(rig);
}

static void topologies(void **state)
{
	topology("gpc 1\n", 1, 1);
	topology("gpc 3\ngpc 4\n", 2, 7);
	topology("gpc 18\ngpc 16\ngpc 18\ngpc 14\ngpc 18\ngpc 16\ngpc 16\ngpc 16\n", 8, 132);
}

static void topology_1024(void **state)
{
	char text[1024] = "";
	unsigned i;

	for (i = 0; i < 64; i++)
		strcat(text, "gpc 16\n");
	topology(text, 64, 1024);
}

static void bad_topologies(void **state)
{
	static const char *const bad[] = { "gpc 0\n", "gpc 100000\n", "nonsense\n", "gpc\n", "gpc -1\n" };
	char path[64];
	unsigned i;

	snprintf(path, sizeof(path), "/tmp/tutti-bad-topology-%d", (int)getpid());
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tutti_device_options o = { .name = "emulator", .topology = path };
		struct tutti_device *device = NULL;
		FILE *file = fopen(path, "w");

		fputs(bad[i], file);
		fclose(file);
		assert_true(tutti_device_open(&o, &device) < 0);
		assert_null(device);
	}
	unlink(path);
}

/* ---- runs of shared memory and registers (RES-05) ---- */

#define KEEPERS 24u
#define KEEP_SMS 2u

struct keeper {
	struct args_keep *args;
	struct tutti_queue *queue;
	tutti_signal_t signal;
	bool launched;
	unsigned waves, blocks; /* of shared memory */
};

static unsigned keep_seed;

static unsigned keep_roll(unsigned n)
{
	keep_seed = keep_seed * 1664525u + 1013904223u;
	return (unsigned)((uint64_t)keep_seed * n >> 32);
}

static void keeper_create(struct keeper *k, unsigned number)
{
	struct tutti_queue_options o = { .packets = 64, .timeout_ms = UINT32_MAX };

	memset(k, 0, sizeof(*k));
	k->args = rig_alloc(rig, sizeof(*k->args));
	*k->args = (struct args_keep){ .started = rig_alloc(rig, 64), .go = rig_alloc(rig, 64), .where = rig_alloc(rig, 64),
				       .bad = rig_alloc(rig, 64), .tag = 0x55 + number };
	k->signal = rig_signal(rig, 0);
	assert_int_equal(tutti_queue_create(rig->device, &o, &k->queue), 0);
}

static void keeper_launch(struct keeper *k)
{
	const struct tutti_discovery *card = tutti_device_discovery(rig->device);
	struct tutti_kernel kernel = rig_kernel(rig, "keep");
	struct tutti_launch launch = { .kernel = &kernel, .signal = k->signal, .kernarg = k->args };

	k->waves = 1 + keep_roll(6);
	k->blocks = keep_roll(20);
	*k->args->started = *k->args->go = 0;
	k->args->bytes = k->blocks * card->shared_block_bytes;
	launch.dynamic_group_bytes = k->args->bytes;
	launch.grid[0] = launch.workgroup[0] = (uint16_t)(k->waves * 32);
	tutti_signal_store(k->signal, 1);
	assert_int_equal(tutti_dispatch(k->queue, &launch), 0);
	k->launched = true;
}

static void keeper_let_go(struct keeper *k)
{
	tutti_store_release(k->args->go, 1);
	rig_wait(rig, k->signal);
	assert_int_equal(*k->args->bad, 0);
	k->launched = false;
}

static bool keeper_runs(const struct keeper *k)
{
	return k->launched && tutti_load_acquire(k->args->started);
}

static unsigned bits_set(const uint32_t *map)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TUTTI_BLOCK_WORDS; i++)
		n += (unsigned)__builtin_popcount(map[i]);
	return n;
}

/* Free resources of an SM are its resources less those of its CTAs. */
static void check_sm(const struct keeper *k, unsigned number)
{
	const struct tutti_discovery *card = tutti_device_discovery(rig->device);
	unsigned blocks = 0, waves = 0, ctas = 0, free_waves = 0, scalar = 0;
	struct tutti_sm_state sm;

	assert_int_equal(tutti_device_sm_states(rig->device, number, 1, &sm), 0);
	for (unsigned i = 0; i < KEEPERS; i++)
		if (keeper_runs(&k[i]) && k[i].args->where[0] == number) {
			blocks += k[i].blocks;
			waves += k[i].waves;
			ctas++;
		}
	for (unsigned p = 0; p < card->peus; p++) {
		free_waves += sm.peu[p].free_waves;
		scalar += card->scalar_blocks - bits_set(sm.peu[p].scalar);
		assert_int_equal(sm.peu[p].scalar_free, bits_set(sm.peu[p].scalar));
	}
	assert_int_equal(bits_set(sm.shared), card->shared_blocks - blocks);
	assert_int_equal(sm.cta_slots, card->cta_slots - ctas);
	assert_int_equal(free_waves, card->peus * card->peu_waves - waves);
	assert_true(waves ? scalar % waves == 0 && scalar >= waves : !scalar); /* all waves have as many */
}

/* Workgroups of all sizes start and end; those that run never share a byte, and nothing is lost. */
static void mixed_sizes_and_gaps(void **state)
{
	struct keeper k[KEEPERS];
	unsigned most = 0;

	rig = rig_deterministic("gpc 2\n");
	keep_seed = 5;
	for (unsigned i = 0; i < KEEPERS; i++)
		keeper_create(&k[i], i);
	for (unsigned step = 0; step < 400; step++) {
		struct keeper *one = &k[keep_roll(KEEPERS)];
		unsigned running = 0;

		if (!one->launched)
			keeper_launch(one);
		else if (keeper_runs(one))
			keeper_let_go(one);
		rig_poll_until(one->queue, one->args->go, 77, 1); /* those that fit now have started */
		for (unsigned i = 0; i < KEEPERS; i++) {
			running += keeper_runs(&k[i]);
			for (unsigned j = 0; j < i && keeper_runs(&k[i]); j++)
				if (keeper_runs(&k[j]) && k[i].args->where[0] == k[j].args->where[0])
					assert_true(k[i].args->where[1] + k[i].args->bytes <= k[j].args->where[1] ||
						    k[j].args->where[1] + k[j].args->bytes <= k[i].args->where[1] ||
						    !k[i].args->bytes || !k[j].args->bytes);
		}
		most = running > most ? running : most;
		for (unsigned sm = 0; sm < KEEP_SMS && step % 4 == 0; sm++)
			check_sm(k, sm);
	}
	assert_true(most >= 8);
	/* those that still wait start when all others have ended */
	for (unsigned i = 0; i < KEEPERS; i++)
		tutti_store_release(k[i].args->go, 1);
	for (unsigned i = 0; i < KEEPERS; i++) {
		if (k[i].launched)
			keeper_let_go(&k[i]);
		tutti_queue_destroy(k[i].queue);
	}
	for (unsigned sm = 0; sm < KEEP_SMS; sm++)
		check_sm(k, sm);
	rig_close(rig);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("CGA-06: 137 CTAs over 32 partly loaded SMs (figures 21-23)", figure_137_ctas),
		T("CGA-07: scan and binary search find the same level", level_search),
		T("CGA-06: random loads, equal to one at a time", random_loads),
		T("CGA-08: the last level follows the SM priority order", priority_order),
		T("CGA-13: more CTAs than slots", overflow),
		T("CGA-04: cap on CTAs of an SM", cap),
		T("CGA-06: limited by shared memory", limited_by_shared_memory),
		T("CGA-06: limited by registers", limited_by_registers),
		T("CGA-06: large workgroups", large_workgroups),
		T("RES-05: workgroups of mixed sizes, with gaps", mixed_sizes_and_gaps),
		T("CGA-06, TSK-14: grids of different shapes mixed", mixed_shapes),
		T("CGA-22: an SM enabled late", late_sm),
		T("CGA-22: SMs leave and join in the middle of a grid", sms_come_and_go),
		T("CGA-22: an SM that another task held", late_sm_held_by_another_task),
		T("TSK-14: two tasks on one SM", same_sm_different_tasks),
		T("CGA-04: all SMs disabled, then enabled", no_sm_enabled),
		T("SYS-03, SYS-14: 1, 7 and 132 SMs, unequal GPCs", topologies),
		T("SYS-14: 1024 SMs", topology_1024),
		T("SYS-14: bad topology files are refused", bad_topologies),
	};

	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
