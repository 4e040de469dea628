/* SPDX-License-Identifier: MIT */
/*
 * Shapes of CTAs: how many fit an SM, who gets the next entry of their table, which SMs take CTAs, and the LAUNCH commands
 * of plain grids (CGA-04, CGA-06, RES-01, TSK-04), on cards of 1 to 1024 SMs.
 */
#include "fw_rig.h"

#include "core/task_record.h"
#include "place/affinity.h"
#include "place/gpc_slots.h"
#include "place/plain_grid.h"
#include "place/sm_order.h"
#include "top/main.h"

#define SLOT 5u /* of the only task */

static const unsigned cards[] = { 1, 7, 31, 32, 33, 40, 144, 160, 256, 1024 };
#define CARDS (sizeof(cards) / sizeof(cards[0]))

static unsigned sms, words;
static uint8_t level[TUTTI_MAX_SMS];

static void boot(unsigned n)
{
	sms = n;
	words = (n + 31) / 32;
	rig_load(n);
}

static bool in(const uint32_t *mask, unsigned at)
{
	return mask[at / 32] >> (at % 32) & 1;
}

static void random_mask(uint32_t *mask)
{
	unsigned density = roll(4);

	for (unsigned w = 0; w < LAKE_WORDS; w++)
		mask[w] = density == 0 ? ~0u : density == 1 ? 0 : density == 2 ? roll32() : roll32() & roll32() & roll32();
}

/* The lake has level[], in rows whose counts are right. */
static void same_lake(const struct lake *lake)
{
	unsigned at, k, w, top = 0;

	for (at = 0; at < sms; at++) {
		assert_int_equal(lake_level(lake, at), level[at]);
		top = level[at] > top ? level[at] : top;
	}
	assert_int_equal(lake->words, words);
	assert_int_equal(lake->top - lake->row, top);
	assert_int_equal(lake->row[0].count, ~0u); /* more than anybody asks for, and all SMs */
	for (w = 0; w < words; w++)
		assert_int_equal(lake->row[0].mask[w], ~0u);
	for (k = 1; k <= top; k++) {
		unsigned count = 0;

		for (w = 0; w < words; w++)
			count += (unsigned)__builtin_popcount(lake->row[k].mask[w]);
		assert_int_equal(lake->row[k].count, count);
	}
}

/* ---- what fits an SM ---- */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How often @need fits @have; what is not needed limits nothing. */
static unsigned times(unsigned have, unsigned need)
{
	return need ? have / need : ~0u;
}

/* CTAs that fit an idle SM of any card, for any need. */
static void fits_an_idle_sm(void **unused)
{
	struct tutti_discovery *d = (void *)hal_host.window;
	unsigned round, i, cap, peu, want;

	(void)unused;
	for (round = 0; round < 200; round++) {
		seed(round);
		boot(1 + roll(3));
		d->peus = 1 + roll(4);
		d->peu_waves = 1 + roll(16);
		d->scalar_blocks = 1 + roll(40);
		d->vector_blocks = 1 + roll(40);
		d->shared_blocks = 1 + roll(100);
		d->barriers = 1 + roll(20);
		d->cta_slots = 1 + roll(40);
		main_init();
		cap = roll(2) ? 0 : 1 + roll(40);
		shape_cap(cap);
		for (i = 0; i < 20; i++) {
			uint32_t scalar = roll(2) ? roll(42) : 0, vector = roll(2) ? roll(42) : 0, waves = 1 + roll(12);
			uint32_t shared = roll(2) ? roll(102) : 0, barriers = roll(3), blocks = 1 + roll(200);

			peu = least(d->peu_waves, least(times(d->scalar_blocks, scalar), times(d->vector_blocks, vector)));
			want = least(least(d->cta_slots, 32), cap ? cap : ~0u);
			want = least(least(want, d->peus * peu / waves), times(d->barriers, barriers));
			assert_int_equal(shape_capacity(scalar | vector << 16, shared | barriers << 16, waves),
					 least(want, times(d->shared_blocks, shared)));
			assert_int_equal(shape_capacity_with(scalar | vector << 16, shared | barriers << 16, waves, blocks),
					 least(want, times(blocks, shared)));
			assert_int_equal(shape_capacity_known(scalar | vector << 16, shared | barriers << 16, waves),
					 least(want, times(d->shared_blocks, shared)));
		}
	}
}

/* ---- the table ---- */

static struct entry {
	uint32_t key[3], used, id;
	bool taken, busy; /* by a task or a CTA */
} entry[FW_SHAPES];

/* The entry for a key: its own, else a new one, else the free one that was looked up longest ago; -1: none. */
static int entry_for(const uint32_t *key)
{
	int i, found = -1;

	for (i = 0; i < (int)FW_SHAPES; i++)
		if (entry[i].taken && !memcmp(entry[i].key, key, sizeof(entry[i].key)))
			return i;
	for (i = 0; i < (int)FW_SHAPES; i++)
		if (!entry[i].taken)
			return i;
	for (i = 0; i < (int)FW_SHAPES; i++)
		if (!entry[i].busy && (found < 0 || (int32_t)(entry[i].used - entry[found].used) < 0))
			found = i;
	return found;
}

static void look_up(const uint32_t *key, uint32_t clock)
{
	struct shape *shape;
	int want = entry_for(key);
	bool made;

	shape = shape_get(key[0], key[1], key[2]);
	if (want < 0) {
		assert_null(shape);
		return;
	}
	assert_ptr_equal(shape, &shapes.shape[want]);
	assert_ptr_equal(shape, shape_last);
	made = !entry[want].taken || memcmp(entry[want].key, key, sizeof(entry[want].key));
	if (made) {
		assert_int_equal(shape->tasks | shape->residents, 0);
		assert_int_equal(shape->waves, key[2]);
		assert_int_equal(shape->match, key[2]);
		assert_int_equal(shape->capacity, shape_capacity(key[0], key[1], key[2]));
		memset(level, (int)shape->capacity, sms);
		same_lake(&shape->lake);
		for (unsigned i = 0; i < FW_SHAPES; i++)
			assert_true(!entry[i].taken || entry[i].id != shape->id);
	}
	entry[want] = (struct entry){ { key[0], key[1], key[2] }, clock, shape->id, true, entry[want].busy && !made };
	assert_int_equal(shape->id, entry[want].id);
}

/* Which shape has which entry, over thousands of look-ups; the clock that orders them wraps. */
static void least_recently_used(void **unused)
{
	unsigned round, i, n;
	bool left;

	(void)unused;
	for (round = 0; round < 10; round++) {
		seed(100 + round);
		boot(cards[round % CARDS]);
		memset(entry, 0, sizeof(entry));
		shapes.clock = round & 1 ? ~0u - 300 : 0;
		for (i = 0; i < 600; i++) {
			const uint32_t key[] = { roll(3), roll(2), 1 + roll(3) };

			look_up(key, i);
			n = roll(FW_SHAPES);
			if (entry[n].taken) {
				shapes.shape[n].tasks = !roll(3);
				shapes.shape[n].residents = !roll(3);
				entry[n].busy = shapes.shape[n].tasks | shapes.shape[n].residents;
			}
			for (left = false, n = 0; n < FW_SHAPES; n++)
				left |= !entry[n].taken || !entry[n].busy;
			assert_int_equal(shape_left(), left);
		}
	}
}

/* A number of a shape stands for one key only; when there are none left, nothing can be recognised by it any more. */
static void numbers_run_out(void **unused)
{
	(void)unused;
	boot(4);
	assert_int_equal(shape_last->id, SHAPE_NO_ID);
	shapes.ids = SHAPE_NO_ID - 2;
	assert_int_equal(shape_find(1, 0, 1)->id, SHAPE_NO_ID - 1);
	assert_int_equal(shape_find(2, 0, 1)->id, SHAPE_NO_ID);
	assert_int_equal(shape_find(3, 0, 1)->id, SHAPE_NO_ID);
	assert_int_equal(shape_new_id(), SHAPE_NO_ID);
	/* after another boot none of them is known, not even the last one */
	shapes.shape[0].tasks = shapes.shape[0].residents = 2;
	shape_init();
	assert_false(shape_is_last(3, 0, 1));
	assert_int_equal(shape_last->id, SHAPE_NO_ID);
	assert_int_equal(shape_find(3, 0, 1)->id, 1);
	assert_ptr_equal(shape_last, &shapes.shape[0]);
	assert_int_equal(shape_last->tasks | shape_last->residents, 0);
	shape_init();
	assert_false(shape_is_last(3, 0, 1));
	assert_int_equal(shapes.shape[0].id, SHAPE_NO_ID);
}

/* ---- which SMs take CTAs ---- */

/* On an empty card each change is in effect at once, for shapes that are there and for new ones; see also test_fw_beside.c. */
static void changes_of_an_empty_card(void **unused)
{
	uint32_t mask[LAKE_WORDS], off[LAKE_WORDS], only[LAKE_WORDS];
	unsigned round, i, at, blocks, changes;
	struct shape *shape[2];

	(void)unused;
	for (round = 0; round < 60; round++) {
		seed(300 + round);
		boot(cards[round % CARDS]);
		shape[0] = shape_find(0, 5, 1);
		memset(off, 0, sizeof(off));
		memset(only, 0xff, sizeof(only));
		blocks = 64;
		for (i = 0; i < 6; i++) {
			bool enable = roll(2);

			random_mask(mask);
			switch (roll(3)) {
			case 0:
				for (at = 0; at < sms; at++)
					if (in(mask, at) && in(off, at) == enable)
						off[at / 32] ^= 1u << (at % 32);
				for (at = sms; at < 32 * LAKE_WORDS; at++)
					mask[at / 32] &= ~(1u << (at % 32));
				shape_enable(mask, enable);
				shape_enabled();
				break;
			case 1: /* throttle mode, or the end of it */
				blocks = enable ? 64 : 1 + roll(200);
				if (enable)
					memset(mask, 0xff, sizeof(mask));
				memcpy(only, mask, sizeof(only));
				shape_limit(mask, blocks);
				break;
			default:
				changes = shapes.changes;
				shape_empty();
				assert_int_equal(shapes.changes, changes); /* nothing was to change */
			}
			shape[1] = shape_find(0, 7, 2);
			for (unsigned k = 0; k < 2; k++) {
				assert_int_equal(shape[k]->capacity, least(32 / shape[k]->waves, blocks / shape[k]->shared));
				for (at = 0; at < sms; at++)
					level[at] = (uint8_t)(!in(off, at) && in(only, at) ? shape[k]->capacity : 0);
				same_lake(&shape[k]->lake);
				assert_true(shape_alone(shape[k]) && shape_truth(shape[k]));
			}
		}
	}
}

static void random_levels(unsigned most)
{
	unsigned at, kind = roll(4);

	for (at = 0; at < sms; at++)
		level[at] = (uint8_t)(kind == 0 ? most : kind == 1 ? (roll(5) ? 0 : most) : kind == 2 ? at % (most + 1) : roll(most + 1));
}

static void fill(struct lake *lake)
{
	for (unsigned at = 0; at < sms; at++)
		lake_set(lake, at / 32, 1u << (at % 32), level[at]);
}

/* What a mask leaves of a lake, also if it is the same lake that was masked before. */
static void masked_lakes(void **unused)
{
	uint32_t mask[LAKE_WORDS];
	struct lake *lake;
	unsigned round, i, at;

	(void)unused;
	for (round = 0; round < 100; round++) {
		seed(400 + round);
		boot(cards[round % CARDS]);
		random_levels(roll(33));
		lake = &shape_find(0, 2, 1)->lake;
		fill(lake);
		for (i = 0; i < 3; i++) {
			random_mask(mask);
			lake = shape_masked(lake, mask);
			for (at = 0; at < sms; at++)
				if (!in(mask, at))
					level[at] = 0;
			same_lake(lake);
		}
	}
}

/* ---- LAUNCH commands ---- */

static uint16_t want[32 * TUTTI_MAX_SMS], got[32 * TUTTI_MAX_SMS];
static unsigned launched, records;

/* On the SM with most free slots, or the next one with a free slot behind @*next; none: on no SM. */
static bool place_one(const uint32_t *mask, unsigned *next)
{
	unsigned at, i, best = sms;

	for (i = 0; i < sms; i++) {
		at = next ? (*next + i) % sms : i;
		if (level[at] && in(mask, at) && (best == sms || (!next && level[at] > level[best])))
			best = at;
	}
	if (best == sms)
		return false;
	level[best]--;
	want[launched++] = (uint16_t)best;
	if (next)
		*next = (best + 1) % sms;
	return true;
}

/*
 * SMs of the LAUNCH commands, CTA by CTA. No record is longer than its head can say, and the next one begins only when
 * the last one is full.
 */
static unsigned read_launches(bool items, unsigned n)
{
	const uint32_t *w, *p;
	unsigned length, before = 0, r, b;

	command_publish();
	for (records = 0; (w = hal_host_command(&length)); records++) {
		if ((*w & 0xff) == TUTTI_CMD_FETCH) { /* a mark, behind all of them */
			assert_true(place_state.detours & DETOUR_CUT);
			continue;
		}
		assert_int_equal(w[0], TUTTI_COMMAND(TUTTI_CMD_LAUNCH, length, SLOT | (items ? TUTTI_LAUNCH_WORK << 8 : 0)));
		p = w + 1 + (items ? PLACE_ITEM_WORDS : 0);
		assert_true(p < w + length);
		assert_true(!records || before + 1 + (*p >> 24) > COMMAND_RECORD);
		for (before = length; p < w + length; p += 1 + (*p >> 24))
			for (r = 0; r < (*p & 0xffff); r++)
				for (b = 0; b < 32 * (*p >> 24); b++)
					if (p[1 + b / 32] >> (b % 32) & 1)
						got[n++] = (uint16_t)(32 * (*p >> 16 & 0xff) + b);
		assert_ptr_equal(p, w + length);
	}
	return n;
}

static struct task *task_of(struct shape *shape, unsigned n)
{
	struct task *task = &tasks[SLOT];

	task->slot = SLOT;
	task->shape = shape;
	task->unissued = n;
	task->resident = 7;
	shape->residents = place_state.residents = 100;
	return task;
}

/* What was launched is counted everywhere, and as one placement if it is anything. */
static void is_counted(const struct task *task, unsigned n, uint64_t issued)
{
	assert_int_equal(task->unissued, n - launched);
	assert_int_equal(task->resident, 7 + launched);
	assert_int_equal(task->shape->residents, 100 + launched);
	assert_int_equal(place_state.residents, 100 + launched);
	assert_int_equal(counters.ctas_issued, issued + launched);
}

/* Place some of the @left CTAs of the task in one visit, after @before of them. Return: how many are left */
static unsigned place_now_or_some(struct task *task, unsigned left, const uint32_t *mask, bool items, unsigned before)
{
	static const uint32_t item[PLACE_ITEM_WORDS] = { 1, 2, 3 };
	uint64_t placements = counters.placements;
	unsigned now = left;

	counters.events++; /* a visit with all its steps */
	state_detour(DETOUR_CUT, false);
	command_marked();
	if (mask || items || roll(2))
		now -= place_some(task, left, mask, items ? item : NULL);
	else
		now = place_now(task);
	assert_int_equal(read_launches(items, before), before + left - now);
	assert_int_equal(counters.placements, placements + (now != left));
	return now;
}

/* Place the @n CTAs of a task. All that fit are launched: in one visit, or in several if SMs take turns. */
static void place(struct shape *shape, unsigned n, const uint32_t *mask, bool round_robin, bool items)
{
	uint32_t all[LAKE_WORDS];
	uint64_t issued = counters.ctas_issued;
	struct task *task = task_of(shape, n);
	unsigned next = place_state.round_next % sms, left = n;

	memset(all, 0xff, sizeof(all));
	launched = 0;
	while (launched < n && place_one(mask ? mask : all, round_robin ? &next : NULL))
		;
	do
		left = place_now_or_some(task, left, mask, items, n - left);
	while (place_state.detours & DETOUR_CUT && left > n - launched);
	assert_int_equal(left, n - launched);
	assert_false(place_state.detours & DETOUR_CUT); /* nothing is left that fits */
	assert_memory_equal(got, want, launched * sizeof(want[0]));
	is_counted(task, n, issued);
	same_lake(&shape->lake);
}

static void plain_grids(void **unused)
{
	uint32_t mask[LAKE_WORDS];
	unsigned round, i, n, split = 0;
	struct shape *shape;

	(void)unused;
	for (round = 0; round < 200; round++) {
		bool round_robin = round % 4 == 3;

		seed(500 + round);
		boot(cards[round % CARDS]);
		shape = shape_find(0, 2, 1);
		random_levels(32);
		fill(&shape->lake);
		state_detour(DETOUR_ROUND_ROBIN, round_robin);
		place_state.round_next = round_robin ? roll(sms) : 0;
		place_state.level_search = round % 3;
		for (i = 0; i < 4; i++) {
			bool items = !roll(4);

			random_mask(mask);
			n = 1 + roll(items ? words > 8 ? 16 : 64 : round_robin ? sms : roll(2) ? sms * 2 : sms * 30);
			place(shape, n, roll(3) ? NULL : mask, round_robin, items);
			split += records > 1;
		}
	}
	assert_true(split > 5);
}

/*
 * If no SM would have a free slot for the shape even on a card without other shapes, the firmware does not look for slots
 * that the other shapes leave. But while the rows of GPCs lead, only the rows know whether that is so.
 */
static void full_cards(void **unused)
{
	struct shape *shape;
	struct task *task;
	uint32_t *w;
	unsigned n;

	(void)unused;
	boot(4);
	shape = shape_find(0, 2, 1);
	memset(level, 0, sms);
	fill(&shape->lake);
	task = task_of(shape, 3);
	shape_find(0, 3, 1)->residents = 5;
	place_state.residents += 5;
	assert_int_equal(place_some(task, 3, NULL, NULL), 0);
	assert_false(place_state.detours & DETOUR_BESIDE);
	boot(4);
	shape = shape_find(0, 2, 1);
	fill(&shape->lake);
	task = task_of(shape, 3);
	shapes.grouped_ctas = place_state.residents;
	assert_true(domain_sync(shape) && gpc_rows_lead());
	w = command_ring.next;
	assert_int_equal(place_some(task, 3, NULL, NULL), 0);
	assert_true(gpc_rows_lead()); /* there was no need to settle anything */
	assert_ptr_equal(command_ring.next, w);
	domain_raise(&domains.gpc[0], 1, 1u << 2);
	assert_int_equal(place_some(task, 3, NULL, NULL), 1);
	n = read_launches(false, 0);
	assert_int_equal(n, 1);
	assert_int_equal(got[0], 2);
	same_lake(&shape->lake);
}

/* ---- masks of tasks ---- */

static void swap(unsigned position, unsigned sm)
{
	unsigned from = 0;

	while (sm_order_at(from) != sm)
		from++;
	assert_int_equal(sm_order_swap(position, sm), from);
}

static void affinity_masks(void **unused)
{
	unsigned round, i, number[FW_AFFINITIES], at;
	uint32_t mask[FW_AFFINITIES][LAKE_WORDS];

	(void)unused;
	for (round = 0; round < 40; round++) {
		seed(600 + round);
		boot(cards[round % CARDS]);
		for (i = roll(20); i; i--)
			swap(roll(sms), roll(sms));
		assert_int_equal(affinity_left(), FW_AFFINITIES);
		for (i = 0; i < FW_AFFINITIES; i++) {
			number[i] = affinity_take();
			assert_int_equal(number[i], i + 1);
			assert_int_equal(affinity_left(), FW_AFFINITIES - 1 - i);
			random_mask(mask[i]);
			if (!(i % 4)) /* none of this card's SMs */
				for (at = 0; at < sms; at++)
					mask[i][at / 32] &= ~(1u << (at % 32));
			memcpy(affinity_mask(number[i]), mask[i], words * 4);
		}
		assert_int_equal(affinity_take(), 0);
		for (i = 0; i < FW_AFFINITIES; i++) {
			bool any = false;

			for (at = 0; at < sms; at++)
				any |= in(mask[i], at);
			assert_int_equal(affinity_order(number[i]), any);
			for (at = 0; at < 32 * words; at++)
				assert_int_equal(in(affinity_mask(number[i]), at), at < sms && in(mask[i], sm_order_at(at)));
			if (i + 1 < FW_AFFINITIES)
				assert_memory_equal(affinity_mask(number[i + 1]), mask[i + 1], words * 4);
		}
		affinity_put(4);
		affinity_put(9);
		assert_int_equal(affinity_left(), 2);
		assert_int_equal(affinity_take(), 4);
		assert_int_equal(affinity_take(), 9);
		assert_int_equal(affinity_take(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-04 RES-03", fits_an_idle_sm),
		RIG_TEST("REL-11", least_recently_used),
		RIG_TEST("REL-11 PKT-11", numbers_run_out),
		RIG_TEST("CGA-04 TSK-07", changes_of_an_empty_card),
		RIG_TEST("TSK-04", masked_lakes),
		RIG_TEST("CGA-06 CGA-13 CGA-16 TSK-06", plain_grids),
		RIG_TEST("CGA-13 CGA-14 PERF-04", full_cards),
		RIG_TEST("TSK-04", affinity_masks),
	};

	return cmocka_run_group_tests_name("firmware: shapes and plain grids", tests, NULL, NULL);
}
