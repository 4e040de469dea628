// SPDX-License-Identifier: MIT
/*
 * The command ring by itself: each record word by word, when there is room for more, how its end is filled, and how far
 * launches may write without asking. Then the steps of a visit, and the timer.
 */
#include "core/hal.h"

/* The firmware orders what it has written before what it writes next. */
static void released(void);
#define hal_release() released()
#include "core/command_ring.h"
#undef hal_release

#include "core/clock.h"
#include "core/wait.h"
#include "fw_rig.h"

#define NEAR 80u /* launches ask again when they are this near to the end of the ring */

static unsigned releases;
static uint32_t shown; /* how many words the engines knew of then */

static void released(void)
{
	releases++;
	shown = hal_host.engines.command_tail;
}

static void begin(void)
{
	rig_load(4);
	command_publish();
	rig_drain();
	attention.settle = 0;
	command_ring.asked = false;
}

/* The next command is exactly these words. */
static void expect(unsigned n, const uint32_t *want)
{
	unsigned words;
	const uint32_t *w;

	command_publish();
	w = hal_host_command(&words);
	assert_non_null(w);
	assert_int_equal(words, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(w[i], want[i]);
	assert_null(hal_host_command(&words));
}

#define EXPECT(...) expect(sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, (const uint32_t[]){ __VA_ARGS__ })
#define HEAD(op, words, sub) ((op) | (words) << 8 | (uint32_t)(sub) << 16)

/* As include/tutti/softcore.h says. */
static void records(void **unused)
{
	static const uint32_t three[] = { 7, 8, 9 };
	static uint32_t to;

	begin();
	command_fence(TUTTI_SCOPE_AGENT | TUTTI_FENCE_ACQUIRE);
	EXPECT(HEAD(TUTTI_CMD_FENCE, 1, TUTTI_SCOPE_AGENT | TUTTI_FENCE_ACQUIRE));
	command_signal(0x00210004, 0x123456789ab0, 0x8003);
	EXPECT(HEAD(TUTTI_CMD_SIGNAL, 4, 0x8003), 0x00210004, 0x56789ab0, 0x1234);
	command_write(0x00210004, 0x123456789ab0, 0xfedcba9876543210, 8);
	EXPECT(HEAD(TUTTI_CMD_WRITE, 6, 8), 0x00210004, 0x56789ab0, 0x1234, 0x76543210, 0xfedcba98);
	command_scrub(0x00210004, 0x123456789ab0, 11, 1);
	EXPECT(HEAD(TUTTI_CMD_SCRUB, 5, 1), 0x00210004, 0x56789ab0, 0x1234, 11);
	command_fetch(4, 1, 0x123456789ab0, 64, &to, TAG_TMD | 5);
	EXPECT(HEAD(TUTTI_CMD_FETCH, 6, TAG_TMD | 5), 4 | 1 << 16, 0x56789ab0, 0x1234, 64, hal_local(&to));
	command_words(TUTTI_CMD_FLUSH, 0x102, three, 3);
	EXPECT(HEAD(TUTTI_CMD_FLUSH, 4, 0x102), 7, 8, 9);
	command_words(TUTTI_CMD_KILL, 3, NULL, 0);
	EXPECT(HEAD(TUTTI_CMD_KILL, 1, 3));
}

/* There is room for a record if a wrap may waste as much, and all that is owed would still fit: to the word. */
static void room(void **unused)
{
	static const unsigned sizes[] = { 0, 1, 2, 7, 40, 255, 1000 };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		begin();
		hal_host_fill(2 * sizes[i] + COMMAND_OWED);
		assert_true(command_room(sizes[i]));
		assert_false(command_room(sizes[i] + 1));
		assert_true(command_ask(sizes[i]));
		assert_false(command_ring.asked);
		assert_int_equal(attention.settle, 0);
		hal_host_fill(2 * sizes[i] + COMMAND_OWED - 1);
		assert_false(command_ask(sizes[i]));
		assert_true(command_ring.asked);
		assert_int_equal(attention.settle, ATTEND_ROOM);
	}
}

/* Move the place for the next record to @left words before the end of the ring. All is taken. */
static void near_end(uint32_t left)
{
	while (command_ring.end - command_ring.next != left) {
		uint32_t n = (uint32_t)(command_ring.end - command_ring.next) - left;

		n = command_ring.end - command_ring.next < left ? 1 : n < COMMAND_RECORD ? n : COMMAND_RECORD;
		*command_begin(n) = HEAD(TUTTI_CMD_NOP, n, 0);
		command_end(command_ring.next + n);
		command_publish();
		rig_drain();
	}
}

/* The rest of the ring becomes records that do nothing, none longer than the longest; words are counted on. */
static void wraps(void **unused)
{
	for (uint32_t left = 1; left < 3 * COMMAND_RECORD; left++) {
		uint32_t *at, *end, tail;

		begin();
		near_end(left);
		at = command_ring.next;
		end = command_ring.end;
		tail = command_tail();
		command_ring.limit = at;
		assert_ptr_equal(command_wrap(), command_ring.word);
		assert_ptr_equal(command_ring.next, command_ring.word);
		assert_null(command_ring.limit);
		assert_int_equal(command_tail(), tail + left);
		for (; at < end; at += *at >> 8 & 0xff) {
			assert_int_equal(*at & 0xff, TUTTI_CMD_NOP);
			assert_int_equal(*at >> 16, 0);
			assert_in_range(*at >> 8, 1, COMMAND_RECORD);
		}
		assert_ptr_equal(at, end);
		assert_int_equal((end - command_ring.word), COMMAND_WORDS);
	}
}

/* A record ends before the end of the ring, or begins at the start of it. */
static void records_are_whole(void **unused)
{
	static const uint32_t sizes[] = { 1, 2, 6, 80, 255 };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint32_t left = sizes[i] > 1 ? sizes[i] - 1 : 1; left <= sizes[i] + 2; left++) {
			begin();
			near_end(left);
			assert_ptr_equal(command_begin(sizes[i]),
					 left > sizes[i] ? command_ring.end - left : command_ring.word);
		}
}

/* ---- how far launches write without asking ---- */

static const uint32_t *limit_of(uint32_t free)
{
	const uint32_t *limit;

	if (free < place_state.free_words || queue_table.suspended || queue_table.crowded)
		return NULL;
	free -= place_state.free_words;
	limit = command_ring.next + (queue_table.shared && free > 8 ? 8 : free);
	return limit < command_ring.word + COMMAND_WORDS - NEAR ? limit : command_ring.word + COMMAND_WORDS - NEAR;
}

/*
 * Up to where place_room() holds and no wrap is near; a few words on a card that several clients use, so that each has its
 * turn; not at all while it is suspended, or while events wait on such a card.
 */
static void limits(void **unused)
{
	static const uint32_t beyond[] = { 0, 1, 7, 8, 9, 100, 2000 };

	begin();
	seed(5);
	for (unsigned i = 0; i < 4000; i++) {
		uint32_t free;

		queue_table.suspended = !roll(6);
		queue_table.shared = roll(2);
		queue_table.crowded = queue_table.shared && !roll(6);
		place_state.free_words = COMMAND_OWED + roll(200);
		near_end(roll(3) ? 1 + roll(200) : 1 + roll(COMMAND_WORDS - 1));
		free = place_state.free_words + beyond[roll(7)] - (uint32_t)!roll(5);
		hal_host.engines.command_head = command_tail() - (COMMAND_WORDS - free);
		command_ring.limit = command_ring.word;
		assert_int_equal(command_renew(), free >= place_state.free_words);
		assert_ptr_equal(command_ring.limit, limit_of(free));
		hal_host.engines.command_head = command_tail();
	}
	queue_table.suspended = queue_table.shared = queue_table.crowded = false;
}

/* The engines learn of commands when these have been written, and not before. */
static void published(void **unused)
{
	uint32_t before;

	begin();
	before = hal_host.engines.command_tail;
	releases = 0;
	command_fence(TUTTI_SCOPE_SYSTEM | TUTTI_FENCE_RELEASE);
	assert_int_equal(hal_host.engines.command_tail, before);
	command_publish();
	assert_int_equal(releases, 1);
	assert_int_equal(shown, before);
	assert_int_equal(hal_host.engines.command_tail, before + 1);
	assert_int_equal(command_ring.published, before + 1);
}

/* A mark is a fetch of nothing, published at once; there is one at a time. */
static void marks(void **unused)
{
	unsigned words;
	const uint32_t *w;

	begin();
	for (unsigned i = 0; i < 3; i++) {
		command_mark();
		w = hal_host_command(&words);
		assert_non_null(w);
		assert_int_equal(w[0], HEAD(TUTTI_CMD_FETCH, COMMAND_FETCH_WORDS, TAG_ROOM));
		assert_int_equal(w[1], TUTTI_ASID_BUS);
		assert_int_equal(w[2] | w[3], 0);
		assert_int_equal(w[4], 4);
		command_mark();
		command_publish();
		assert_null(hal_host_command(&words));
		command_marked();
	}
}

/* ---- visits ---- */

static void new_visit(void)
{
	counters.events++;
	attention.settle = 0;
	command_ring.limit = command_ring.word;
	place_state.detours = 0;
	command_ring.marked = true;
}

/* A visit has a fixed number of steps, more on the largest cards. Once they are used up, it is over until the next event. */
static void steps(void **unused)
{
	static const struct { unsigned sms, steps; } cards[] = { { 1, 2000 }, { 256, 2000 }, { 257, 16000 }, { 1024, 16000 } };

	for (unsigned i = 0; i < 4; i++) {
		unsigned all = cards[i].steps;

		rig_load(cards[i].sms);
		new_visit();
		assert_true(visit_has(all + 1)); /* nobody has counted yet */
		assert_false(visit_late());
		assert_true(visit_goes_on(0));
		assert_true(visit_has(all));
		assert_false(visit_has(all + 1));
		assert_true(visit_goes_on(all - 1));
		assert_true(visit_has(1));
		assert_false(visit_has(2));
		assert_false(visit_late());
		assert_int_equal(attention.settle, 0);
		assert_ptr_equal(command_ring.limit, command_ring.word);
		assert_false(visit_goes_on(1));
		assert_true(visit_late());
		assert_false(visit_has(1));
		assert_int_equal(attention.settle, ATTEND_VISIT);
		assert_null(command_ring.limit);
		assert_false(visit_goes_on(0));
		new_visit();
		assert_false(visit_late());
		assert_true(visit_goes_on(all - 1));
		assert_false(visit_goes_on(all)); /* more than are left */
		assert_false(visit_goes_on(1));
	}
}

/* Who stops in the middle says so: the visit is over, the rounds go on in another, which a mark brings about. */
static void cut(void **unused)
{
	begin();
	new_visit();
	command_ring.marked = false;
	assert_true(visit_goes_on(5));
	visit_cut();
	assert_true(visit_late());
	assert_int_equal(place_state.detours, DETOUR_CUT);
	assert_int_equal(attention.settle, ATTEND_ROOM | ATTEND_VISIT);
	assert_true(command_ring.marked);
}

/* ---- the timer ---- */

static uint64_t timer(void)
{
	return hal_host.engines.timer_lo | (uint64_t)hal_host.engines.timer_hi << 32;
}

/* It fires at the earliest of the times asked for, or at the one it is set to. */
static void earliest(void **unused)
{
	static const uint64_t times[] = { 0x200000005, 0x200000006, 0x200000004, 0x1ffffffff, 0x200000000, 0x100000007, 3 };
	uint64_t first = 0x300000000;

	begin();
	clock_set(first);
	assert_int_equal(timer(), first);
	for (unsigned i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		clock_at(times[i]);
		first = times[i] < first ? times[i] : first;
		assert_int_equal(timer(), first);
	}
	clock_set(0x400000001);
	assert_int_equal(timer(), 0x400000001);
	clock_at(0x400000001);
	assert_int_equal(timer(), 0x400000001);
	clock_at(0x400000000);
	assert_int_equal(timer(), 0x400000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-09", records),
		RIG_TEST("REL-11 SYS-09", room),
		RIG_TEST("SYS-09", wraps),
		RIG_TEST("SYS-09", records_are_whole),
		RIG_TEST("REL-11 SYS-08", limits),
		RIG_TEST("SYS-09", published),
		RIG_TEST("REL-11", marks),
		RIG_TEST("REL-11", steps),
		RIG_TEST("REL-11", cut),
		RIG_TEST("SYS-05", earliest),
	};

	return cmocka_run_group_tests_name("firmware: command ring, visits, timer", tests, NULL, NULL);
}
