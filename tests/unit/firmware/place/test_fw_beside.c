/* SPDX-License-Identifier: MIT */
/*
 * Free slots beside CTAs of other shapes (RES-01, PERF-04): what counting tells, when the table of SM states has to be read,
 * what is taken for free while it is out of date, and which answers are kept. The reference looks at one SM at a time.
 */
#include "fw_rig.h"

#include "place/mixed_shapes.h"
#include "place/sm_match.h"
#include "place/sm_order.h"
#include "top/main.h"

#define PEU_WAVES 8u /* the default card */
#define PEUS 4u
#define SHARED_BLOCKS 64u
#define BARRIERS 16u

static unsigned sms, scalar_blocks, vector_blocks;
static struct shape *kind[FW_SHAPES];
static unsigned held[TUTTI_MAX_SMS][FW_SHAPES]; /* CTAs of each kind on the SM at each position */
static bool mixed[TUTTI_MAX_SMS];               /* it has held several kinds since it was empty */
static unsigned limit[TUTTI_MAX_SMS];           /* CTAs that the table says an SM takes in all */
static bool current;                            /* the engines have taken all commands */
static unsigned ends;                           /* since somebody asked */
static uint32_t kept_free[LAKE_WORDS];          /* SMs that take no new work */
static bool holding;

/* What is known of each SM for each kind. */
enum known { CHANGED, EXACT, BOUND };
static struct { enum known known; unsigned slots; } kept[FW_SHAPES][TUTTI_MAX_SMS];

static unsigned asked, bounds, counted; /* answers of each sort */

static unsigned least_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static void forget_all(void)
{
	memset(kept, 0, sizeof(kept));
}

static void changed(unsigned at)
{
	for (unsigned k = 0; k < FW_SHAPES; k++)
		kept[k][at].known = CHANGED;
}

static unsigned ctas(unsigned at)
{
	unsigned k, n = 0;

	for (k = 0; k < FW_SHAPES; k++)
		n += held[at][k];
	return n;
}

/* ---- the reference ---- */

static unsigned scalar(unsigned k) { return kind[k]->registers & 0xffff; }
static unsigned vector(unsigned k) { return kind[k]->registers >> 16; }
static unsigned shared(unsigned k) { return kind[k]->shared & 0xffff; }
static unsigned barriers(unsigned k) { return kind[k]->shared >> 16; }

/*
 * Waves that a PEU takes in all, as far as registers of one class decide: if all waves need the same, that is a division.
 * Otherwise it is all of them, if there are enough blocks even with the others as large as they come and each free run
 * between them one block too short; or it is not known.
 */
static unsigned waves_of_peu(unsigned at, unsigned k, unsigned (*blocks)(unsigned), bool sure)
{
	unsigned need = blocks(k), others = need, all = blocks == scalar ? scalar_blocks : vector_blocks, i;
	bool same = !mixed[at] || !ctas(at);

	if (!need)
		return PEU_WAVES;
	for (i = 0; i < FW_SHAPES; i++)
		if (held[at][i]) {
			same &= blocks(i) == need;
			others = blocks(i) > others ? blocks(i) : others;
		}
	if (same)
		return least_of(PEU_WAVES, all / need);
	return sure && (PEU_WAVES - 1) * others + PEU_WAVES * (need - 1) + need > all ? 0 : PEU_WAVES;
}

/* CTAs for which there is room in shared memory: however its free blocks lie if @sure, else if they lie well. */
static unsigned room_in_shared(unsigned at, unsigned k, bool sure)
{
	unsigned need = shared(k), used = 0, runs = 0, waste, i;
	bool same = !mixed[at] || !ctas(at);

	if (!need)
		return ~0u;
	for (i = 0; i < FW_SHAPES; i++)
		if (held[at][i] && shared(i)) {
			used += held[at][i] * shared(i);
			runs += held[at][i];
			same &= shared(i) == need;
		}
	waste = sure && !same ? (runs + 1) * (need - 1) : 0;
	return SHARED_BLOCKS - used > waste ? (SHARED_BLOCKS - used - waste) / need : 0;
}

static unsigned count(unsigned at, unsigned k, bool sure)
{
	unsigned cap = least_of(shapes.cap, shapes.next_cap), waves = 0, used = 0, n, i;

	for (i = 0; i < FW_SHAPES; i++) {
		waves += held[at][i] * kind[i]->waves;
		used += held[at][i] * barriers(i);
	}
	n = least_of(kind[k]->capacity - held[at][k], cap > ctas(at) ? cap - ctas(at) : 0);
	if (barriers(k))
		n = least_of(n, (BARRIERS - used) / barriers(k));
	i = PEUS * least_of(waves_of_peu(at, k, scalar, sure), waves_of_peu(at, k, vector, sure));
	n = least_of(n, i > waves ? (i - waves) / kind[k]->waves : 0);
	return least_of(n, room_in_shared(at, k, sure));
}

static bool usable(unsigned at)
{
	return shapes.enabled[at / 32] & shapes.included[at / 32] & 1u << (at % 32);
}

/* Look at an SM again, if that is necessary. @*asks, @*waits: whether the table was wanted, and whether it was of no use */
static unsigned slots(unsigned at, unsigned k, bool known, bool *asks, bool *waits)
{
	unsigned most = count(at, k, false), least = count(at, k, true);
	const struct shape *s = kind[k];

	if (!usable(at))
		return 0;
	if (kept[k][at].known == EXACT || (kept[k][at].known == BOUND && !known))
		return kept[k][at].slots;
	kept[k][at].known = EXACT;
	if (!most)
		return kept[k][at].slots = 0;
	if (least >= most && !(match.search && ctas(at)) && !match.rotate) {
		counted += ctas(at) != held[at][k];
		return kept[k][at].slots = most;
	}
	*asks = true;
	if (known) {
		asked++;
		most = least_of(most, match_room(s->registers, s->shared, s->waves, at));
		return kept[k][at].slots = most || ctas(at) ? most : 1;
	}
	*waits = true;
	bounds++;
	kept[k][at].known = BOUND;
	return kept[k][at].slots = match.rotate ? 0 : least_of(least, most);
}

/* ---- the card ---- */

/* The table has free blocks for any CTA, but so many slots for CTAs as @limit says. */
static void show(unsigned at)
{
	struct tutti_sm_state *sm = &hal_host.sms[sm_order_at(at)];

	memset(sm, 0xff, sizeof(*sm));
	sm->cta_slots = limit[at] > ctas(at) ? limit[at] - ctas(at) : 0;
	sm->barriers = BARRIERS;
	sm->shared_blocks = SHARED_BLOCKS;
	sm->split = 3;
	for (unsigned p = 0; p < PEUS; p++) {
		sm->peu[p].free_waves = PEU_WAVES;
		sm->peu[p].scalar_free = (uint16_t)scalar_blocks;
		sm->peu[p].vector_free = (uint16_t)vector_blocks;
		sm->peu[p].scalar[0] = ~0u >> (32 - scalar_blocks);
		sm->peu[p].vector[0] = ~0u >> (32 - vector_blocks);
	}
}

static void drain(void)
{
	command_publish();
	rig_drain();
	match.waiting = 0;
	current = true;
}

static void some_kinds(void)
{
	unsigned k = 0, i;

	while (k < FW_SHAPES) {
		uint32_t registers = (roll(2) ? roll(9) : roll(2)) | (roll(2) ? roll(7) : 0) << 16;
		uint32_t needs = (roll(2) ? roll(12) : roll(2)) | (roll(3) ? 0 : roll(4)) << 16;

		kind[k] = shape_find(registers, needs, 1 + roll(5));
		assert_non_null(kind[k]);
		for (i = 0; kind[i] != kind[k]; i++)
			;
		if (i < k || !kind[k]->capacity)
			continue;
		kind[k++]->tasks = 1;
	}
}

static void begin(unsigned n)
{
	struct tutti_discovery *d = (void *)hal_host.window;
	unsigned at;

	sms = n;
	memset(&shapes, 0, sizeof(shapes));
	hal_host_reset(n);
	d->scalar_blocks = scalar_blocks = roll(2) ? 32 : 22 + 7 * roll(2);
	d->vector_blocks = vector_blocks = roll(2) ? 32 : 22 + 7 * roll(2);
	main_init();
	for (at = roll(4); at; at--)
		sm_order_swap(roll(n), roll(n));
	memset(held, 0, sizeof(held));
	memset(mixed, 0, sizeof(mixed));
	forget_all();
	ends = 0;
	holding = false;
	if (roll(2))
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CTA_CAP, 1 + roll(40), 0), 0);
	some_kinds();
	for (at = 0; at < n; at++) {
		limit[at] = roll(2) ? roll(33) : 32;
		show(at);
	}
	drain();
}

/* CTAs of kind @k were placed by segments: the model learns of it. */
static void note(unsigned k, const uint32_t *p, const uint32_t *end, const struct lake *from)
{
	unsigned n = 0, w, b, at;

	for (; p < end; p += 1 + (*p >> 24))
		for (w = 0; w < *p >> 24; w++)
			for (b = 0; b < 32; b++) {
				if (!(p[1 + w] >> b & 1))
					continue;
				at = 32 * ((*p >> 16 & 0xff) + w) + b;
				mixed[at] = ctas(at) && (mixed[at] || ctas(at) != held[at][k]);
				held[at][k] += *p & 0xffff;
				n += *p & 0xffff;
				kept[k][at].slots -= from ? *p & 0xffff : 0;
				for (unsigned i = 0; i < FW_SHAPES; i++)
					if (i != k || !from || match_exact())
						kept[i][at].known = CHANGED;
				show(at);
			}
	kind[k]->residents += n;
	place_state.residents += n;
	counters.ctas_issued += n;
	current = false;
}

/* A LAUNCH that nobody has taken: until then the table may be older than it. */
static void write_launch(void)
{
	command_words(TUTTI_CMD_LAUNCH, 0, (uint32_t[]){ 1u << 24, 0 }, 2);
}

static void place_anywhere(unsigned k)
{
	uint32_t segments[64], *p = segments;
	unsigned i, at;

	for (i = 1 + roll(4); i; i--) {
		at = roll(sms);
		if (!usable(at) || !count(at, k, false) || (p > segments && p[-2] >> 16 >= (1u << 8 | at / 32)))
			continue;
		*p++ = (1 + roll(count(at, k, false))) | at / 32 << 16 | 1u << 24;
		*p++ = 1u << (at % 32);
	}
	if (p == segments)
		return;
	shape_poured(kind[k], NULL, segments, p);
	note(k, segments, p, NULL);
	write_launch();
}

static void place_from(unsigned k, struct lake *lake)
{
	static uint32_t out[LAKE_MESSAGE(LAKE_WORDS)];
	uint32_t n = 1 + roll(sms * 3), *end;

	if (lake_pour(lake, n, out, &end) == n)
		return;
	shape_poured(kind[k], lake, out, end);
	note(k, out, end, lake == &kind[k]->lake || holding ? NULL : lake);
	write_launch();
}

/* Some CTAs of kind @k end: as many on each SM of a word, or of a few. */
static void end_some(unsigned k)
{
	struct tutti_event event = { { 0 } };
	unsigned first = roll((sms + 31) / 32), words = 1 + roll(5), n = 0, w, b;

	words = least_of(words, (sms + 31) / 32 - first);
	event.word[0] = TUTTI_EVENT_CTA | first << 16 | words << 24;
	event.word[1] = 1;
	for (w = 0; w < words; w++)
		for (b = 0; b < 32 && 32 * (first + w) + b < sms; b++)
			if (held[32 * (first + w) + b][k] && roll(2)) {
				event.word[3 + w] |= 1u << b;
				held[32 * (first + w) + b][k]--;
				changed(32 * (first + w) + b);
				n++;
				show(32 * (first + w) + b);
			}
	if (!n)
		return;
	event.word[2] = n;
	if (place_state.detours & DETOUR_BESIDE) {
		mixed_completed(&event);
		if (++ends > 64 || n == place_state.residents) {
			forget_all();
			assert_false(place_state.detours & DETOUR_BESIDE);
		}
	}
	for (w = 0; w < words; w++)
		if (event.word[3 + w])
			lake_raise(&kind[k]->lake, first + w, event.word[3 + w]);
	kind[k]->residents -= n;
	place_state.residents -= n;
	if (!place_state.residents)
		shape_empty();
}

/* ---- comparing ---- */

/* The firmware's answer for kind @k, in as many visits as it takes. */
static struct lake *answer(unsigned k)
{
	struct lake *lake;
	unsigned visits = 0;

	do {
		counters.events++;
		lake = shape_mixed(kind[k]);
		assert_true(++visits < 1000);
	} while (!lake);
	return lake;
}

static struct lake *same(unsigned k)
{
	bool on = match.on, known = on && current, asks = false, waits = false;
	struct lake *lake;
	unsigned at, n, top = 0;

	match.asked = match.waiting = 0;
	lake = answer(k);
	for (at = 0; at < sms; at++) {
		n = slots(at, k, known, &asks, &waits);
		if (holding && kept_free[at / 32] >> (at % 32) & 1)
			n = 0;
		if (lake_level(lake, at) != n)
			fail_msg("kind %u, SM %u of %u: %u free slots, not %u", k, at, sms, lake_level(lake, at), n);
		top = n > top ? n : top;
	}
	assert_int_equal(lake->top - lake->row, top);
	/* the table is wanted, and switched on, only for what counting does not tell */
	if (asks)
		assert_true(match.asked && match.on);
	else if (!on)
		assert_false(match.on);
	assert_int_equal(match.waiting, waits);
	ends = 0;
	if (match.on && !on)
		current = false;
	return lake;
}

/* SMs are switched on or off, the cap changes, or SMs are held for a CGA. */
static void change_the_card(void)
{
	uint32_t mask[LAKE_WORDS];

	for (unsigned w = 0; w < LAKE_WORDS; w++)
		mask[w] = w < sms / 32 ? roll32() & roll32() : w == sms / 32 ? roll32() & ~(~0u << (sms % 32)) : 0;
	switch (roll(4)) {
	case 0:
		shape_cap(roll(3) ? 0 : 1 + roll(32));
		forget_all();
		break;
	case 1:
		holding = roll(2);
		shape_hold(holding ? memcpy(kept_free, mask, sizeof(mask)) : NULL);
		break;
	default:
		shape_enable(mask, roll(4));
		shape_enabled();
		forget_all();
	}
}

static void step(void)
{
	unsigned k = roll(FW_SHAPES);
	struct lake *lake;

	if (!roll(20))
		change_the_card();
	while (!roll(30) && place_state.residents)
		for (unsigned i = 0; place_state.residents; i++)
			end_some(i % FW_SHAPES);
	if (!roll(4) && shape_alone(kind[k]))
		place_from(k, &kind[k]->lake);
	switch (roll(5)) {
	case 0:
		place_anywhere(k);
		break;
	case 1:
	case 2:
		end_some(k);
		break;
	default:
		if (roll(2))
			drain();
		lake = same(k);
		drain();
		/* what is placed on SMs of which only a bound is known would make that a guess */
		if (roll(2) && match.on) {
			lake = same(k);
			place_from(k, lake);
		}
	}
}

static void lives(unsigned from, unsigned rounds, const unsigned *sizes, unsigned n, unsigned steps)
{
	for (unsigned round = from; round < from + rounds; round++) {
		seed(round);
		begin(sizes[round % n]);
		if (round % 4 == 3) {
			match.search = roll(4);
			match.rotate = roll(2);
		}
		for (unsigned i = 0; i < steps; i++)
			step();
	}
}

static void one_sm_at_a_time(void **unused)
{
	static const unsigned small[] = { 1, 2, 5, 31, 32, 33 }, large[] = { 144, 1024 };

	(void)unused;
	lives(0, 240, small, 6, 120);
	lives(1000, 8, large, 2, 60);
	assert_true(asked > 10000 && bounds > 10000 && counted > 10000);
}

/* The only CTA of kind 0 on an SM comes, or goes. */
static void one_comes(unsigned at)
{
	const uint32_t segment[] = { 1 | at / 32 << 16 | 1u << 24, 1u << (at % 32) };

	shape_poured(kind[0], NULL, segment, segment + 2);
	note(0, segment, segment + 2, NULL);
}

static void one_goes(unsigned at)
{
	const struct tutti_event event = { { TUTTI_EVENT_CTA | at / 32 << 16 | 1u << 24, 1, 1, 1u << (at % 32) } };

	mixed_completed(&event);
	lake_raise(&kind[0]->lake, at / 32, 1u << (at % 32));
	held[at][0]--;
	changed(at);
	show(at);
	kind[0]->residents--;
	place_state.residents--;
}

/* An answer that nobody asks for is kept while 64 CTAs end, and no longer; whoever asks keeps it for as long again. */
static void kept_for_a_while(void **unused)
{
	unsigned at;

	(void)unused;
	seed(5);
	begin(256);
	for (at = 0; at < 200; at++)
		one_comes(at);
	assert_false(place_state.detours & DETOUR_BESIDE);
	same(1);
	for (at = 0; at < 10; at++)
		one_goes(at);
	same(1);
	for (; at < 10 + 64; at++) {
		one_goes(at);
		assert_true(place_state.detours & DETOUR_BESIDE);
	}
	one_goes(at++);
	assert_false(place_state.detours & DETOUR_BESIDE);
	forget_all();
	/* nor is it kept when nothing is left on the card */
	same(1);
	for (; at < 200; at++) {
		assert_true(place_state.detours & DETOUR_BESIDE);
		one_goes(at);
		if (!(at % 40))
			same(1);
	}
	assert_false(place_state.detours & DETOUR_BESIDE);
}

/* Policies that want every answer from the table: lakes alone decide no more, and do again on an empty card. */
static void exact_policies(void **unused)
{
	(void)unused;
	seed(1);
	begin(4);
	for (unsigned policy = 0; policy < 2; policy++) {
		unsigned which = policy ? TUTTI_POLICY_SPLIT : TUTTI_POLICY_SEARCH;

		assert_true(shape_alone(kind[0]));
		assert_int_equal(match_policy(which, 1), 0);
		assert_true(match_exact() && shape_is_exact());
		assert_false(shape_alone(kind[0]));
		shape_empty();
		assert_false(shape_alone(kind[0]));
		if (!policy)
			one_comes(2);
		assert_int_equal(match_policy(which, 0), 0);
		assert_false(match_exact() || shape_is_exact());
		assert_int_equal(shape_alone(kind[0]), policy);
		if (!policy)
			one_goes(2);
		shape_empty();
	}
}

/* What fits according to one search does not hold for another one, by which an SM is looked at anew. */
static void search_changes(void **unused)
{
	(void)unused;
	seed(2);
	begin(4);
	limit[2] = 2;
	one_comes(2);
	drain();
	for (unsigned search = TUTTI_SEARCH_FULL; search <= TUTTI_SEARCH_SHARED; search++)
		for (unsigned back = 0; back < 2; back++) {
			assert_int_equal(match_policy(TUTTI_POLICY_SEARCH, back ? TUTTI_SEARCH_FULL : search), 0);
			forget_all();
			drain();
			same(1);
			drain();
			same(1);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-01 RES-03 PERF-04", one_sm_at_a_time),
		RIG_TEST("PERF-04", kept_for_a_while),
		RIG_TEST("RES-09 RES-10 RES-11 RES-12", exact_policies),
		RIG_TEST("RES-09 RES-10 RES-11", search_changes),
	};

	return cmocka_run_group_tests_name("firmware: beside other shapes", tests, NULL, NULL);
}
