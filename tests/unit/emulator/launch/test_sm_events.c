// SPDX-License-Identifier: MIT
/* Events that find no room in the ring, kills at odd moments, and orders that name what is not there. */
#include "sm_cga_rig.h"

#define MANY 144u

static int setup_many(void **unused)
{
	card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, MANY);
	memcpy(rig_map(card, 1, CODE, 4096, RX), sm_cga_kernels, sizeof(sm_cga_kernels));
	data = rig_map(card, 1, DATA, 65536, RW);
	data[61440 / 8] = DATA;
	return 0;
}

static void plain(unsigned slot, uint32_t entry, uint32_t ctas, uint32_t waves)
{
	struct tutti_task_state state = rig_state(1, entry, ctas, waves);

	sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
}

static void run_silently(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		sm_array_run(card->array);
}

/* Take one event after another. Each call must say that it has done something, until nothing is left. */
static unsigned drain(void)
{
	unsigned n = 0, before = card->events;

	card->full = true;
	for (card->room = 0; !sm_array_report(card->array) && card->events == before && n < 1000; n++) {
		card->room = 1;
		if (!sm_array_report(card->array))
			break;
		assert_int_equal(card->events, ++before);
		assert_int_equal(card->room, 0);
	}
	card->full = false;
	return n;
}

/* Completions of one, of few and of many SMs, of CGAs, faults and kills: all of them wait for room, none comes twice.
 */
static void without_room(void **unused)
{
	const uint32_t words[] = {1 | 1u << 24, 1u << 5, 3 | 2u << 24, 0x10001, 0x8,   1 | 5u << 24,
				  ~0u,		~0u,	 ~0u,	       ~0u,	0xffff};
	unsigned n;

	plain(0, C_IDS, 1, 1);
	assert_int_equal(sm_array_launch(card->array, 0, 0, words, 2), 0);
	plain(1, C_IDS, 200, 1);
	assert_int_equal(sm_array_launch(card->array, 1, 0, words, 11), 0);
	cga_state(2, C_CLEAR, 12, 6, 1);
	sequence = 3;
	assert_int_equal(cga_send(2, 0, 1, 31, 1, 1 << 2 | 1 << 5), 0);
	assert_int_equal(cga_send(2, TUTTI_LAUNCH_END_OF_CGA, 1, 31, 2, 1 << 5 | 1 << 7), 0);
	plain(3, 0xffc, 2, 1); /* it runs off the end of its code */
	assert_int_equal(sm_array_launch(card->array, 3, 0, (uint32_t[]){1 | 1u << 24, 3}, 2), 0);
	plain(4, C_STAY, 2, 1);
	assert_int_equal(sm_array_launch(card->array, 4, 0, (uint32_t[]){1 | 1u << 24, 3}, 2), 0);
	run_silently(100);
	assert_int_equal(card->events, 0);
	sm_array_kill(card->array, 4);
	n = drain();
	assert_true(n >= 3 + 3 + 2);
	assert_int_equal(card->done[0], 1);
	assert_int_equal(card->done[1], 1 + 3 * 3 + 4 * 32 + 16);
	assert_int_equal(card->done[2], 6);
	assert_int_equal(card->done[4], 2);
	assert_int_equal(card->faults, 2);
	assert_int_equal(card->killed[4], 1);
	assert_false(sm_array_report(card->array));
	sm_array_kill(card->array, 3);
	assert_int_equal(drain(), 3 - 1);
	assert_int_equal(card->done[3], 2);
	assert_int_equal(card->killed[3], 1);
	assert_false(sm_array_busy(card->array));
}

/* Counts of every kind over words of the mask: each SM's is right however they are grouped into events. */
static void counts(void **unused)
{
	unsigned done = 0, seed = 7, want[MANY] = {0};

	for (unsigned round = 0; round < 40; round++) {
		unsigned ctas = 0;

		plain(31, C_IDS, 4000, 1);
		for (unsigned i = 0; i < 12; i++) {
			uint32_t words[7] = {0}, first = (seed = seed * 1103515245u + 12345) >> 16 & 3;

			words[0] = (1 + (seed >> 20 & 7)) | first << 16 | 1u << 24;
			words[1] = 1u << (seed >> 24 & 15) | (round & 1 ? 1u << (seed >> 28) : 0);
			ctas += (words[0] & 0xff) * (unsigned)__builtin_popcount(words[1]);
			for (unsigned p = 0; p < 32; p++)
				want[32 * first + p] += words[1] >> p & 1 ? words[0] & 0xff : 0;
			assert_int_equal(sm_array_launch(card->array, 31, 0, words, 2), 0);
			if (i % 4 == 3)
				run_silently(30);
		}
		while (sm_array_busy(card->array))
			run_silently(1);
		drain();
		assert_int_equal(card->done[31], done += ctas);
		for (unsigned p = 0; p < MANY; p++)
			assert_int_equal(card->done_at[31][p], want[p]);
	}
}

/* A kill of a task whose CTAs wait, have not begun, are being started, or have faulted; other tasks' lists stay in
 * order. */
static void kill_while_others_wait(void **unused)
{
	for (unsigned slot = 0; slot < 4; slot++) {
		plain(slot, slot & 1 ? C_STAY : C_IDS, 64, 1);
		assert_int_equal(sm_array_launch(card->array, slot, 0, (uint32_t[]){2 | 1u << 24, 0xff}, 2), 0);
	}
	sm_array_kill(card->array, 0); /* nothing has begun */
	sm_array_kill(card->array, 1);
	for (unsigned i = 0; i < 100; i++)
		rig_step(card);
	assert_int_equal(card->done[0], 16);
	assert_int_equal(card->done[1], 16);
	assert_int_equal(card->done[2], 16);
	assert_int_equal(card->done[3], 0);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(data[8 * i + 2], i); /* all of task 2 have run, as nobody else writes there */
	/* no wave had run, so that none is named */
	for (unsigned e = 0; e < card->events; e++)
		if ((card->event[e].word[0] & 0xff) == TUTTI_EVENT_KILLED)
			assert_int_equal(card->event[e].word[1], ~0u);
	data[7] = 1;
	rig_until(card, 3, 16);
	assert_int_equal(card->killed[0] + card->killed[1], 2);
	assert_int_equal(card->killed[2] + card->killed[3] + card->faults, 0);
	assert_false(sm_array_busy(card->array));
}

/*
 * Each wave does what four bits of its CTA's number in the arguments say, those of wave 0 being the lowest.
 *	lwu t0, 84(tp); slli t0, t0, 3; add t0, t0, a0; ld t1, 8(t0); lwu t0, 28(tp); slli t0, t0, 2; srl t1, t1, t0
 *	andi t1, t1, 15; beqz t1, 1f; addi t1, t1, -1; beqz t1, 2f; addi t1, t1, -1; beqz t1, 3f; addi t1, t1, -1
 *	beqz t1, 4f; li a7, 16; ecall; ret; 1: li a7, 1; ecall; ret; 2: j 2b; 3: li a7, 3; ecall; 4: li a7, 4; ecall; j
 *4b
 */
static const uint32_t deeds[] = {0x05426283, 0x00329293, 0x00a282b3, 0x0082b303, 0x01c26283, 0x00229293, 0x00535333,
				 0x00f37313, 0x02030463, 0xfff30313, 0x02030663, 0xfff30313, 0x02030463, 0xfff30313,
				 0x02030463, 0x01000893, 0x00000073, 0x00008067, 0x00100893, 0x00000073, 0x00008067,
				 0x0000006f, 0x00300893, 0x00000073, 0x00400893, 0x00000073, 0xff9ff06f};
#define DEEDS	0xc00u
#define SPIN	0x54u /* where waves are that spin, have aborted, or ask */
#define ABORTED 0x5cu
#define ASKED	0x44u
#define ANY	~0u

/* The event of a kill names the wave that faulted, else one that was stopped while it ran, else one that waits. */
static void who_is_named(void **unused)
{
	static const struct {
		uint64_t deeds[2];
		unsigned sm, wave, at;
	} rows[] = {
	    {{0x020, 0x300}, 0, 1, ABORTED}, {{0x333, 0x200}, 1, 2, ABORTED}, {{0x111, 0x002}, 1, 0, ABORTED},
	    {{0x001, 0x000}, 0, 0, SPIN},    {{0x010, 0x000}, 0, 1, SPIN},    {{0x100, 0x000}, 0, 2, SPIN},
	    {{0x444, 0x100}, 1, 2, SPIN},    {{0x444, 0x010}, 1, 1, SPIN},    {{0x444, 0x000}, 0, ANY, ASKED},
	};

	memcpy(card->map[0].host + DEEDS, deeds, sizeof(deeds));
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const uint32_t *word = card->event[0].word;

		memcpy(&PARAMETER(data), rows[i].deeds, sizeof(rows[i].deeds));
		plain(9, DEEDS, 2, 3);
		assert_int_equal(sm_array_launch(card->array, 9, 0, (uint32_t[]){1 | 1u << 24, 3}, 2), 0);
		for (unsigned k = 0; k < 30; k++)
			rig_step(card);
		sm_array_kill(card->array, 9);
		rig_step(card);
		for (unsigned e = 0; e < card->events; e++)
			if ((card->event[e].word[0] & 0xff) == TUTTI_EVENT_KILLED)
				word = card->event[e].word;
		assert_int_equal(word[0], TUTTI_EVENT_KILLED | 9 << 8);
		if ((word[1] & 0xffff) != rows[i].sm || (rows[i].wave != ANY && word[1] >> 16 != 8 * rows[i].wave) ||
		    word[2] != CODE + DEEDS + rows[i].at || word[3])
			fail_msg("row %u: SM %u, wave slot %u, pc %#x", i, word[1] & 0xffff, word[1] >> 16, word[2]);
		card->events = 0;
	}
	/* where nothing runs nobody is named, and not once more the last one either */
	sm_array_kill(card->array, 8);
	rig_step(card);
	assert_int_equal(card->events, 1);
	assert_int_equal(card->event[0].word[0], TUTTI_EVENT_KILLED | 8 << 8);
	assert_int_equal(card->event[0].word[1], ~0u);
	assert_int_equal(card->event[0].word[2] | card->event[0].word[3], 0);
}

/* Addresses of code and data are told with all of their bits. */
static void high_addresses(void **unused)
{
	const uint64_t high = 0x3456789a0000, nothing = high + 0x765000;
	struct tutti_task_state state = rig_state(1, 0, 2, 3);
	const uint32_t *word = card->fault.word;

	memcpy(rig_map(card, 1, high, 4096, RX), deeds, sizeof(deeds));
	for (unsigned i = 0; i < 3; i++) {
		const uint64_t at[] = {high + ABORTED, nothing, high + SPIN};

		PARAMETER(data) = i == 0 ? 0x222 : 0x111;
		state.entry = i == 1 ? nothing : high;
		card->events = card->faults = 0;
		sm_array_state(card->array, 9, 0, &state, NULL, NULL, 0);
		assert_int_equal(sm_array_launch(card->array, 9, 0, (uint32_t[]){1 | 1u << 24, 1}, 2), 0);
		for (unsigned k = 0; k < 30; k++)
			rig_step(card);
		assert_int_equal(card->faults, i != 2);
		if (card->faults)
			assert_true((word[2] | (uint64_t)word[3] << 32) == at[i]);
		if (i == 1)
			assert_true((word[4] | (uint64_t)word[5] << 32) == nothing);
		sm_array_kill(card->array, 9);
		rig_step(card);
		for (unsigned e = 0; e < card->events; e++)
			if ((card->event[e].word[0] & 0xff) == TUTTI_EVENT_KILLED)
				assert_memory_equal(&card->event[e].word[2], &at[i], 8);
		assert_int_equal(card->killed[9], i + 1);
	}
}

/* More kills than there are slots, of slots that have nothing, and of slots that are not there. */
static void too_many_kills(void **unused)
{
	sm_array_kill(card->array, 32);
	sm_array_kill(card->array, 255);
	assert_false(sm_array_report(card->array));
	card->full = true;
	for (unsigned i = 0; i < 100; i++)
		sm_array_kill(card->array, i % 32);
	card->full = false;
	sm_array_report(card->array);
	assert_int_equal(card->events, 32);
	for (unsigned i = 0; i < 31; i++)
		assert_true(card->killed[i]);
	sm_array_kill(card->array, 31);
	sm_array_report(card->array);
	assert_int_equal(card->killed[31], 1);
}

/* Orders that name tasks, SMs or contexts that are not there change nothing. */
static void not_there(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_IDS, 8, 1);
	const uint32_t mask[5] = {0, 0, 0, 0, 1u << 16};

	sm_array_state(card->array, 32, 0, &state, NULL, NULL, 0);
	sm_array_state(card->array, 255, 0, &state, NULL, NULL, 0);
	sm_array_invalidate(card->array, TUTTI_MAX_CONTEXTS, 0, 0);
	sm_array_invalidate(card->array, 9, 0, 0);
	sm_array_order(card->array, MANY, (uint32_t[]){0}, 1);
	sm_array_order(card->array, MANY - 2, (uint32_t[]){MANY | 0xffffu << 16, 0}, 2);
	assert_int_equal(sm_array_launch(card->array, 32, 0, (uint32_t[]){1 | 1u << 24, 1}, 2), -EINVAL);
	assert_int_equal(sm_array_launch(card->array, 0, 0, (uint32_t[]){1 | 1u << 24, 1}, 2), -EINVAL);
	/* for no SM that exists */
	sm_array_state(card->array, 0, 0, &state, NULL, mask, 5);
	assert_int_equal(sm_array_launch(card->array, 0, 0, (uint32_t[]){1 | 1u << 24, 1}, 2), -EINVAL);
	/* a context that cannot be, and CTAs of no waves */
	state.asid = TUTTI_MAX_CONTEXTS;
	sm_array_state(card->array, 1, 0, &state, NULL, NULL, 0);
	assert_int_equal(sm_array_launch(card->array, 1, 0, (uint32_t[]){1 | 1u << 24, 1}, 2), -EINVAL);
	state.asid = 1;
	state.waves = 0;
	sm_array_state(card->array, 1, 0, &state, NULL, NULL, 0);
	assert_int_equal(sm_array_launch(card->array, 1, 0, (uint32_t[]){1 | 1u << 24, 1}, 2), -EINVAL);
	assert_false(sm_array_busy(card->array));
	/* the order is that of before but for the names that were good */
	state.waves = 1;
	sm_array_state(card->array, 2, 0, &state, NULL, NULL, 0);
	for (unsigned i = 0; i < MANY; i += MANY - 1) {
		assert_int_equal(
		    sm_array_launch(card->array, 2, 0, (uint32_t[]){1 | (i / 32) << 16 | 1u << 24, 1u << i % 32}, 2),
		    0);
		rig_until(card, 2, i ? 2 : 1);
		assert_int_equal(data[8 * !!i + 7], i);
	}
}

/* A task whose new state is refused is gone: what is launched of it later is refused, too. */
static void refused_state(void **unused)
{
	for (unsigned i = 0; i < 3; i++) {
		plain(0, C_IDS, 8, 1);
		assert_int_equal(sm_array_launch(card->array, 0, 0, (uint32_t[]){1 | 1u << 24, 3}, 2), 0);
		cga_state(0, C_IDS, 8, 3, 1); /* does not divide the grid */
		assert_int_equal(sm_array_launch(card->array, 0, 0, (uint32_t[]){1 | 1u << 24, 3}, 2), -EINVAL);
		rig_until(card, 0, 2 * (i + 1)); /* those that run go on */
	}
}

/* A CGA whose CTAs have ended is not gone before that has been told: its id cannot be flushed and used again. */
static void flush_before_the_news(void **unused)
{
	cga_state(2, C_CLEAR, 12, 6, 1);
	for (unsigned round = 0; round < 3; round++) {
		assert_int_equal(cga_launch_one(2, 1, 31, 1, 0x3f), 0);
		run_silently(50);
		assert_int_equal(sm_array_flush(card->array, 1, 31, 0xff), -EINVAL);
		card->full = true;
		assert_false(sm_array_report(card->array));
		assert_int_equal(sm_array_flush(card->array, 1, 31, 0xff), -EINVAL);
		card->full = false;
		assert_true(sm_array_report(card->array));
		assert_int_equal(card->done[2], 6 * (round + 1));
		assert_int_equal(sm_array_flush(card->array, 1, 31, 0xff), 0);
	}
}

/* GPCs of up to 32 SMs have CGAs; the SMs of larger ones run everything else. */
static void large_gpcs(void **unused)
{
	for (unsigned sms = 32; sms <= 40; sms += 8) {
		bool good = sms == 32;

		card = calloc(1, sizeof(*card));
		card->config.mode = TUTTI_CARD_DETERMINISTIC;
		card->limits = (struct tutti_discovery){.sms = 2 + sms,
							.task_slots = 32,
							.peus = 4,
							.peu_waves = 8,
							.scalar_blocks = 32,
							.vector_blocks = 32,
							.shared_blocks = 64,
							.shared_block_bytes = 2048,
							.barriers = 16,
							.cta_slots = 32,
							.gpcs = 2,
							.cga_ids = 32,
							.cga_ctas = 16};
		card->limits.gpc[0].sms = 2;
		card->limits.gpc[1].first_sm = 2;
		card->limits.gpc[1].sms = (uint16_t)sms;
		assert_int_equal(sm_array_create(card, &card->array), 0);
		memcpy(rig_map(card, 1, CODE, 4096, RX), sm_cga_kernels, sizeof(sm_cga_kernels));
		data = rig_map(card, 1, DATA, 65536, RW);
		data[61440 / 8] = DATA;
		cga_state(0, C_IDS, 4, 2, 1);
		assert_int_equal(cga_launch_one(0, 0, 3, 1, 3), 0);
		rig_until(card, 0, 2);
		assert_int_equal(cga_launch_one(0, 1, 3, 1, 0x80000001), good ? 0 : -EINVAL);
		if (good) {
			rig_until(card, 0, 4);
			assert_int_equal(data[8 * 2 + 7], 2);
			assert_int_equal(data[8 * 3 + 7], 33);
			/* each finds the other one's shared memory */
			cga_state(2, C_RING, 2, 2, 1);
			memset(data, 0, 8192);
			assert_int_equal(cga_launch_one(2, 1, 4, 1, 0x80000001), 0);
			rig_until(card, 2, 2);
			assert_int_equal(data[0] | data[8], 0);
			assert_int_equal(card->cga_faults, 0);
		}
		assert_int_equal(sm_array_flush(card->array, 1, 3, 0x80000001), good ? 0 : -EINVAL);
		plain(1, C_IDS, 1, 1);
		assert_int_equal(sm_array_launch(card->array, 1, 0, (uint32_t[]){1 | 1u << 16 | 1u << 24, 2}, 2), 0);
		rig_until(card, 1, 1);
		assert_int_equal(data[7], 33);
		teardown(NULL);
	}
}

/* LAUNCHes that end early, at the end of memory: refused without a look behind their end, also while they are traced.
 */
static void cut_launches(void **unused)
{
	static const unsigned flags[] = {0,
					 TUTTI_LAUNCH_WORK,
					 TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA,
					 TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA | TUTTI_LAUNCH_WORK,
					 TUTTI_LAUNCH_END_OF_CGA,
					 8};
	static const unsigned heads[] = {0, 3, 2, 5, 0, 0};
	uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(pages + 4096, 4096, PROT_NONE);
	for (unsigned traced = 0; traced < 2; traced++)
		for (unsigned f = 0; f < 6; f++)
			for (unsigned n = 1; n < 10; n++) {
				uint32_t *words = (uint32_t *)(pages + 4096) - n, head = heads[f];

				for (unsigned i = 0; i < n; i++)
					words[i] = i < head ? 0 : i == head ? 1 | 200u << 24 : 1;
				card->trace_kinds = traced ? ~0u : 0;
				plain(0, C_IDS, 8, 1);
				assert_int_equal(sm_array_launch(card->array, 0, flags[f], words, n),
						 f == 1 && n == head ? 0 : -EINVAL); /* no CTAs at all */
				sm_array_reset(card->array);
			}
	munmap(pages, 8192);
}

/* CGA-30: a LAUNCH is traced with the number of its CTAs, over all its segments. */
static void traced_launches(void **unused)
{
	static const uint32_t words[] = {3 | 1u << 24, 0x11, 2 | 2u << 24, 0x7, 0x1, 1 | 3u << 16 | 1u << 24,
					 0x80000000};

	card->trace_kinds = 1u << TUTTI_TRACE_PLACE;
	plain(5, C_IDS, 200, 1);
	assert_int_equal(sm_array_launch(card->array, 5, 0, words, 7), 0);
	assert_int_equal(card->traces, 1);
	assert_int_equal(card->trace[0].cta, 3 * 2 + 2 * 4 + 1);
	assert_int_equal(card->trace[0].sm, 0xffff);
	assert_int_equal(card->trace[0].slot, 5);
	rig_until(card, 5, 15);
	cga_state(6, C_CLEAR, 12, 6, 1);
	sequence = 9;
	assert_int_equal(cga_send(6, TUTTI_LAUNCH_END_OF_CGA, 1, 31, 1, 0x3f), 0);
	assert_int_equal(card->traces, 2);
	assert_int_equal(card->trace[1].cta, 6);
	assert_int_equal(card->trace[1].sm, 1);
	assert_int_equal(card->trace[1].value & 0xffffff, 9 | 31u << 16);
	rig_until(card, 6, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"REL-10, SYS-10: events wait for room, and come once", without_room, setup_many, teardown, NULL},
	    {"RES-01: completions by mask and count, however they are grouped", counts, setup_many, teardown, NULL},
	    {"TSK-12: kills while other tasks wait", kill_while_others_wait, setup_many, teardown, NULL},
	    {"TSK-12: the wave that a kill names", who_is_named, setup_many, teardown, NULL},
	    {"SYS-09, TSK-12: addresses above 4 GiB", high_addresses, setup_many, teardown, NULL},
	    {"TSK-12: kills of what is not there", too_many_kills, setup_many, teardown, NULL},
	    {"SYS-10: orders that name what is not there", not_there, setup_many, teardown, NULL},
	    {"CGA-26: a flush before the completions", flush_before_the_news, setup_many, teardown, NULL},
	    {"CGA-16, SYS-14: GPCs of more than 32 SMs", large_gpcs, NULL, NULL, NULL},
	    {"SYS-10: LAUNCHes that end early", cut_launches, setup_many, teardown, NULL},
	    {"CGA-30: LAUNCHes that are traced", traced_launches, setup_many, teardown, NULL},
	    {"TSK-05: a state that is refused", refused_state, setup_many, teardown, NULL},
	};

	return cmocka_run_group_tests_name("SM: events", tests, NULL, NULL);
}
