/* SPDX-License-Identifier: MIT */
/*
 * The hang limit of a queue (SYS-52): when its time begins, how much a heartbeat counts, what it is not counted for, and
 * what is reported. Heartbeats come every 10 ms unless a test says otherwise.
 */
#include "fw_direct.h"
#include "fw_reports.h"

#include "tasks/task_table.h"

#define US 1000u /* ticks */
#define LIMIT_MS 1000u
#define PERIOD_MS 10u
#define BEATS (LIMIT_MS / PERIOD_MS)

static void beat_after(uint64_t ticks)
{
	hal_host.time += ticks;
	hal_host.engines.timer_hi = TUTTI_TIMER_OFF;
	rig_event(TUTTI_EVENT_TIMER, 0, 0);
	take();
}

static void beat(unsigned n)
{
	while (n--)
		beat_after(PERIOD_MS * 1000ull * US);
}

static void kill_one(unsigned q)
{
	assert_int_equal(queue_at(q)->state, QUEUE_RUNNING);
	beat(1);
	assert_int_equal(queue_at(q)->error, TUTTI_ERROR_TIMEOUT);
}

/* ---- each way in which a kernel gets a slot, behind one that has nearly used up its time in the same slot ---- */

struct way {
	const char *name;
	unsigned flags;              /* of the queue */
	bool one_packet;             /* both kernels are of one condensed packet */
	bool by_itself;              /* the second one is there when the first ends */
	bool other_queue, metadata, stores, grid;
	uint16_t diff;               /* of the second kernel, if it is one of a condensed packet */
	bool condensed;
	unsigned slots;
};

static const struct way ways[] = {
	{ .name = "plain", .slots = 1 },
	{ .name = "plain, profiled", .flags = TUTTI_QUEUE_PROFILE, .slots = 1 },
	{ .name = "in place of one like it", .by_itself = true, .slots = 2 },
	{ .name = "in place of a smaller one", .by_itself = true, .grid = true, .slots = 2 },
	{ .name = "after another queue's", .other_queue = true, .by_itself = true, .slots = 1 },
	{ .name = "stores a reference", .stores = true, .slots = 1 },
	{ .name = "stores a reference in place", .stores = true, .by_itself = true, .slots = 2 },
	{ .name = "metadata", .metadata = true, .slots = 1 },
	{ .name = "metadata in order", .metadata = true, .by_itself = true, .slots = 2 },
	{ .name = "condensed", .condensed = true, .slots = 1 },
	{ .name = "condensed, in order", .condensed = true, .by_itself = true, .slots = 1 },
	{ .name = "condensed, profiled", .condensed = true, .flags = TUTTI_QUEUE_PROFILE, .slots = 1 },
	{ .name = "condensed, overlapping", .condensed = true, .flags = TUTTI_QUEUE_OVERLAP, .slots = 1 },
	{ .name = "condensed, a new grid", .condensed = true, .diff = TUTTI_DIFF_GRID_X, .slots = 1 },
	{ .name = "condensed, other scopes", .condensed = true, .diff = TUTTI_DIFF_SCOPES, .slots = 1 },
	{ .name = "the next one of its packet", .one_packet = true, .slots = 1 },
	{ .name = "the next one with a new grid", .one_packet = true, .diff = TUTTI_DIFF_GRID_X, .slots = 1 },
	{ .name = "the next one with other scopes", .one_packet = true, .diff = TUTTI_DIFF_SCOPES, .slots = 1 },
	{ .name = "the next one, profiled", .one_packet = true, .flags = TUTTI_QUEUE_PROFILE, .slots = 1 },
};

static union tutti_packet condensed_of(unsigned kernels, uint16_t diff)
{
	union tutti_packet p = condensed(kernels);
	unsigned at = kernels - 1; /* the others are as reference 0 */

	p.condensed.unit[at] = (uint16_t)(diff << TUTTI_DIFF_VECTOR_SHIFT);
	if (diff == TUTTI_DIFF_GRID_X)
		p.condensed.unit[at + 1] = 64;
	return p;
}

static void write_first(const struct way *way)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	union tutti_packet both = condensed_of(2, way->diff);

	if (way->metadata)
		p.tmd = TMD_AT;
	write_packet(0, way->one_packet ? (const void *)&both : (const void *)&p);
}

static void write_second(const struct way *way)
{
	struct tutti_dispatch_packet p = kernel_packet(0, way->grid ? 2 : 1);
	union tutti_packet c = condensed_of(1, way->diff);

	if (way->by_itself && !way->other_queue)
		p.header |= TUTTI_HEADER_BARRIER;
	if (way->metadata)
		p.tmd = TMD_AT + sizeof(tmd[0]);
	if (way->stores)
		p.ref_num = TUTTI_REF_STORE | 1;
	if (!way->one_packet)
		write_packet(way->other_queue, way->condensed ? (const void *)&c : (const void *)&p);
}

static void begin_way(const struct way *way)
{
	struct tutti_dispatch_packet reference = kernel_packet(0, 1);

	start(4, way->slots);
	hal_host.time = 5 * US;
	beat(1);
	for (unsigned q = 0; q < 2; q++) {
		rig_rsb(q, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | way->flags);
		queue_at(q)->timeout = LIMIT_MS;
	}
	tmd[0] = tmd[1] = child(0);
	if (way->condensed && way->by_itself)
		reference.header |= TUTTI_HEADER_BARRIER;
	store(0, 0, reference);
}

static void time_begins_with_the_kernel(void **unused)
{
	(void)unused;
	for (const struct way *way = ways; way < ways + sizeof(ways) / sizeof(*ways); way++) {
		unsigned q = way->other_queue, slot = 0;

		begin_way(way);
		write_first(way);
		if (way->by_itself)
			write_second(way);
		ring_doorbell(0);
		ring_doorbell(1);
		while (!running[slot].ctas)
			slot++;
		assert_int_equal(started[0] + started[1], 1);
		beat(BEATS);
		end_all(slot);
		if (!way->by_itself && !way->one_packet) {
			write_second(way);
			ring_doorbell(0);
		}
		if (started[0] + started[1] != 2 || !running[slot].ctas)
			fail_msg("%s: it did not start in the same slot", way->name);
		beat(BEATS);
		if (queue_at(q)->state != QUEUE_RUNNING)
			fail_msg("%s: killed too early", way->name);
		kill_one(q);
	}
}

/* ---- how much a heartbeat counts ---- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A late heartbeat counts as no more than an eighth of the limit, or than a period if that is more (REL-09). */
static void late_beats_count_in_part(void **unused)
{
	static const uint32_t limits[] = { 1, 79, 80, 81, 1000, 999999, 1000000, 1000001, ~0u };
	static const uint64_t passed[] = { 0, 1, 9999, 10000, 10001, 10124, 10125, 10126, 124999, 125000, 125001, 4294966, 4294967,
					   4294968, 100000000 };
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	for (unsigned l = 0; l < sizeof(limits) / sizeof(*limits); l++)
		for (unsigned i = 0; i < sizeof(passed) / sizeof(*passed); i++) {
			uint64_t limit = 1000 * (uint64_t)smaller(limits[l], 1000000), us = passed[i], want, before;

			start(1, 0);
			beat_after(0); /* the next heartbeat is due in 10 ms */
			rig_queue(0, ASID, 0);
			queue_at(0)->timeout = limits[l];
			submit(0, &p);
			before = hal_host.time;
			if (us * US < 10000 * US) {
				hal_host.time += us * US;
				rig_event(TUTTI_EVENT_TIMER, 0, 0);
				assert_int_equal(tasks[slot_of(0, 0)].progress, 0);
				continue;
			}
			beat_after(us * US);
			us = (hal_host.time - before) >> 32 ? 10000 : us; /* that many ticks are not counted at all */
			want = smaller(us, larger(limit / 8, 10000));
			if (want > limit) {
				assert_int_equal(queue_at(0)->error, TUTTI_ERROR_TIMEOUT);
				continue;
			}
			assert_int_equal(tasks[slot_of(0, 0)].progress, want);
			assert_int_equal(queue_at(0)->error, 0);
		}
}

/* The limit is in milliseconds, up to 1 000 000; a queue without one has none. */
static void limit_of_the_queue(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	for (unsigned ms = 0; ms <= 120; ms += 10) {
		start(1, 0);
		rig_queue(0, ASID, 0);
		queue_at(0)->timeout = ms;
		beat(1);
		submit(0, &p);
		beat(ms ? ms / 10 : 300);
		assert_int_equal(queue_at(0)->state, QUEUE_RUNNING);
		if (ms)
			kill_one(0);
	}
}

/* A kernel that ends a CTA now and then, or that waits for room and has none on the card, does not hang. */
static void progress_begins_it_again(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 64), other = kernel_packet(0, 1);
	struct tutti_event event = { { TUTTI_EVENT_CTA | 1u << 24, 1, 1, 1 } };

	(void)unused;
	start(1, 0);
	rig_queue(0, ASID, 0);
	rig_queue(1, ASID, 0);
	queue_at(0)->timeout = queue_at(1)->timeout = LIMIT_MS;
	submit(0, &p);
	queue_at(0)->timeout = 0;
	assert_int_equal(slot_of(0, 0), 0);
	assert_int_equal(running[0].ctas, 32);
	submit(1, &other); /* there is no room for its CTA */
	assert_int_equal(started[1], 1);
	beat(3 * BEATS);
	assert_int_equal(queue_at(1)->state, QUEUE_RUNNING);
	queue_at(0)->timeout = LIMIT_MS;
	for (unsigned round = 0; round < 5; round++) {
		beat(BEATS);
		running[0].on[0]--;
		running[0].ctas--;
		hal_host_event(&event);
		take();
	}
	beat(BEATS);
	kill_one(0);
}

/* A task of queue 2 has a wave on the only SM. Then those of queue 1 are split, of @groups CTAs of @waves waves (RES-07). */
static void split_beside_another(unsigned groups, unsigned waves)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	start(1, 0);
	beat(1);
	rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED);
	rig_queue(2, ASID, TUTTI_QUEUE_EXTENDED);
	rig_queue(3, ASID, TUTTI_QUEUE_EXTENDED);
	queue_at(1)->timeout = LIMIT_MS;
	queue_at(2)->timeout = queue_at(3)->timeout = 0;
	submit(2, &p);
	tmd[0] = child(0);
	tmd[0].flags = TUTTI_TMD_INDEPENDENT;
	p.tmd = TMD_AT;
	p.workgroup_x = (uint16_t)(32 * waves);
	p.grid_x = 32 * waves * groups;
	submit(1, &p);
	beat(1);
}

/* The slot of the task of queue 1 that is split, or of its waves. */
static unsigned slot_with(uint32_t rare)
{
	unsigned slot = 0;

	while (tasks[slot].state == TASK_FREE || !(tasks[slot].rare & rare))
		assert_true(++slot < SLOTS);
	return slot;
}

/* What is split waits for room like any other while none of its waves is on the card. */
static void split_and_waiting(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 31);
	unsigned waves;

	(void)unused;
	split_beside_another(1, 32);
	waves = slot_with(TASK_SPLIT);
	assert_int_equal(running[waves].ctas, 31);
	submit(3, &p); /* it takes the room of each wave that ends */
	end_all(waves);
	assert_int_equal(tasks[waves].unissued, 1);
	beat(3 * BEATS);
	assert_int_equal(queue_at(1)->state, QUEUE_RUNNING);
	end_all((unsigned)slot_of(3, 0));
	assert_int_equal(running[waves].ctas, 1);
	beat(BEATS);
	kill_one(1);
}

/* The last wave of a CTA is progress of the task that was split. */
static void split_and_ended(void **unused)
{
	unsigned waves, whole;

	(void)unused;
	split_beside_another(2, 16);
	waves = slot_with(TASK_SPLIT);
	whole = slot_with(TASK_SPLITTING);
	assert_int_equal(running[waves].ctas, 15);
	end_all((unsigned)slot_of(2, 0));
	assert_int_equal(running[waves].ctas, 16);
	beat(BEATS - 10);
	end_all(waves);
	assert_int_equal(tasks[whole].resident, 1);
	beat(BEATS);
	kill_one(1);
}

/* ---- what is reported ---- */

/* The kernel that hangs is killed and named; if its SMs do not even do that, that is reported after the limit once more. */
static void says_who_hangs(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	struct tutti_fault want = { .code = TUTTI_ERROR_TIMEOUT, .cause = TUTTI_CAUSE_WATCHDOG, .queue = 1, .packet = 3,
				    .context = ASID, .sm = 0xffff };
	union tutti_packet two = condensed(2);

	(void)unused;
	for (unsigned silent = 0; silent < 2; silent++) {
		start(2, 0);
		beat(1);
		rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		store(1, 0, p);
		for (unsigned i = 0; i < 2; i++) {
			submit(1, &p);
			end_all((unsigned)slot_of(1, 1 + i));
		}
		submit(1, &two);
		end_all((unsigned)slot_of(1, 3));
		queue_at(1)->timeout = LIMIT_MS;
		beat(BEATS);
		slow_kills = silent;
		if (silent) {
			beat(1);
			assert_int_equal(tasks[0].state, TASK_KILLED);
			assert_int_equal(queue_at(1)->error, 0);
			beat(BEATS);
			assert_int_equal(queue_at(1)->error, 0);
			beat(1);
			assert_int_equal(queue_at(1)->error, TUTTI_ERROR_SM);
			want.code = TUTTI_ERROR_SM;
		} else {
			kill_one(1);
			want.wave = reported()->wave; /* no SM, so no wave */
		}
		want.kernel = 1;
		if (silent)
			want.wave = 0;
		expect_report(&want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-52", time_begins_with_the_kernel),
		RIG_TEST("SYS-52 REL-09", late_beats_count_in_part),
		RIG_TEST("SYS-52", limit_of_the_queue),
		RIG_TEST("SYS-52", progress_begins_it_again),
		RIG_TEST("SYS-52 RES-07", split_and_waiting),
		RIG_TEST("SYS-52 RES-07", split_and_ended),
		RIG_TEST("SYS-06 SYS-52", says_who_hangs),
	};

	return cmocka_run_group_tests_name("firmware: the hang limit", tests, NULL, NULL);
}
