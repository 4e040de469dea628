/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock */
/*
 * Tensor requests in the SMs: order, turns, room, what is in flight for each CTA,
 * waits. The test plays front, firmware and movers.
 */
#include "sm_rig.h"

/*
 * ask: asks out[1] times, `shared` counting up, writes to out[0][cta] how often it has; waits for
 * all if out[2], writes 1000 then. phase: waits for phase 0 at 0 of shared memory, writes 1. bad: waits at 4.
 *
 *	ask:  ld s0, 0(a0); ld s1, 8(a0); ld s2, 16(a0); lwu t1, 84(tp); slli t1, t1, 3; add s0, s0, t1
 *	      addi sp, sp, -64; li s3, 0
 *	1:    bgeu s3, s1, 2f; sw s3, 40(sp); mv a0, sp; li a7, 18; ecall; addi s3, s3, 1; sd s3, 0(s0); j 1b
 *	2:    beqz s2, 3f; li a7, 19; ecall; li t0, 1000; sd t0, 0(s0)
 *	3:    li a7, 0; ecall
 *	phase: ld s0, 0(a0); lwu t1, 84(tp); slli t1, t1, 3; add s0, s0, t1; li a0, 0; li a1, 0; li a7, 33
 *	      ecall; li t0, 1; sd t0, 0(s0); li a7, 0; ecall
 *	bad:  li a0, 4; li a7, 33; ecall
 */
static const uint32_t kernels[] = {
	0x00053403, 0x00853483, 0x01053903, 0x05426303, 0x00331313, 0x00640433, 0xfc010113, 0x00000993,
	0x0299f063, 0x03312423, 0x00010513, 0x01200893, 0x00000073, 0x00198993, 0x01343023, 0xfe5ff06f,
	0x00090a63, 0x01300893, 0x00000073, 0x3e800293, 0x00543023, 0x00000893, 0x00000073, 0x00053403,
	0x05426303, 0x00331313, 0x00640433, 0x00000513, 0x00000593, 0x02100893, 0x00000073, 0x00100293,
	0x00543023, 0x00000893, 0x00000073, 0x00400513, 0x02100893, 0x00000073,
};
#define ASK 0x00u
#define ASK_ECALL 0x30u
#define PHASE 0x5cu
#define BAD 0x8cu
#define ROOM 4u

static struct tutti_card *card;
static uint64_t *data;

static _Thread_local unsigned locks; /* that this thread has taken */

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	locks++;
	return __real_pthread_mutex_lock(mutex);
}

static void open_card_of(unsigned sms, enum tutti_card_mode mode, unsigned workers, uint64_t times, uint64_t wait)
{
	card = rig_create(mode, workers, sms);
	data = rig_context(card, 1);
	memcpy(rig_find(card, 1, CODE)->host, kernels, sizeof(kernels));
	data[61440 / 8] = DATA;
	data[61440 / 8 + 1] = times;
	data[61440 / 8 + 2] = wait;
}

static void open_card(enum tutti_card_mode mode, unsigned workers, uint64_t times, uint64_t wait)
{
	open_card_of(4, mode, workers, times, wait);
}

static void set_state(unsigned slot, uint32_t entry)
{
	struct tutti_task_state state = rig_state(1, entry, 64, 1);

	state.shared_bytes = 2048;
	state.shared_blocks = 1;
	sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
}

static void launch(unsigned slot, uint32_t entry, unsigned repeat, unsigned sms)
{
	set_state(slot, entry);
	assert_int_equal(rig_launch(card, slot, repeat, sms), 0);
}

/* Run until nothing moves any more. */
static void settle(void)
{
	for (unsigned i = 0; i < 200; i++) {
		rig_step(card);
		if (card->config.workers)
			usleep(100);
	}
}

/* The next request, however busy the machine is. */
static void take(struct tutti_tensor_call *call)
{
	for (unsigned i = 0; i < 100000; i++) {
		if (sm_array_request(card->array, call))
			return;
		rig_step(card);
		if (card->config.workers)
			usleep(100);
	}
	fail_msg("no request comes");
}

static void order_and_turns(void **state)
{
	struct tutti_tensor_call call;
	uint32_t next[4] = { 0 };

	open_card(TUTTI_CARD_DETERMINISTIC, 0, 3, 0);
	launch(0, ASK, 1, 4);
	settle();
	for (unsigned i = 0; i < 12; i++) {
		assert_true(sm_array_request(card->array, &call));
		assert_int_equal(call.sm, i % 4); /* each SM in its turn */
		assert_int_equal(call.request.shared, next[call.sm]++);
		assert_int_equal(call.asid, 1);
		assert_int_equal(call.slot, 0);
		assert_int_equal(call.shared_bytes, 2048);
		assert_int_equal(call.present, 1);
		assert_int_equal(call.pc, CODE + ASK_ECALL);
	}
	assert_false(sm_array_request(card->array, &call));
	rig_destroy(card);
}

static const unsigned some[] = {5, 30, 31, 32, 33, 63, 64, 100, 143};
#define SOME (sizeof(some) / sizeof(*some))

/* A CTA on each of these SMs, from number @first on. */
static void launch_on_some(unsigned slot, unsigned first)
{
	set_state(slot, ASK);
	for (unsigned i = first; i < SOME; i++) {
		const uint32_t words[] = {1 | (some[i] / 32) << 16 | 1u << 24, 1u << (some[i] % 32)};

		assert_int_equal(sm_array_launch(card->array, slot, 0, words, 2), 0);
	}
}

/* On a card of many SMs each has its turn, from the first one to the last one, and a kill leaves the others alone. */
static void many_sms(void **state)
{
	struct tutti_tensor_call call;

	open_card_of(144, TUTTI_CARD_DETERMINISTIC, 0, 3, 0);
	for (unsigned round = 0; round < 3; round++) {
		launch_on_some(0, 0);
		settle();
		for (unsigned i = 0; i < 3 * SOME; i++) {
			assert_true(sm_array_request(card->array, &call));
			assert_int_equal(call.sm, some[i % SOME]);
			assert_int_equal(call.request.shared, i / SOME);
			sm_array_call_done(card->array, call.cta);
		}
		assert_false(sm_array_request(card->array, &call));
		rig_until(card, 0, SOME * (round + 1));
		/* the turn goes on from where it was */
		launch_on_some(1, round * 2);
		launch_on_some(2, round * 3);
		settle();
		sm_array_kill(card->array, 1);
		settle(); /* the others have room now */
		for (unsigned i = 0; i < 3 * (SOME - 3 * round); i++) {
			assert_true(sm_array_request(card->array, &call));
			assert_int_equal(call.slot, 2);
			assert_int_equal(call.sm, some[3 * round + i % (SOME - 3 * round)]);
			sm_array_call_done(card->array, call.cta);
		}
		assert_false(sm_array_request(card->array, &call));
		settle();
		assert_int_equal(card->killed[1], round + 1);
		assert_false(sm_array_busy(card->array));
	}
	rig_destroy(card);
}

/* The card looks for requests in every round. While there are none, that takes no lock that waves may hold. */
static void looks_are_cheap(void **state)
{
	struct tutti_tensor_call call;
	unsigned before;

	open_card(TUTTI_CARD_DETERMINISTIC, 0, 1, 0);
	launch(0, ASK, 1, 4);
	settle();
	for (unsigned n = 0; n < 4; n++) {
		before = locks;
		assert_true(sm_array_request(card->array, &call));
		assert_true(locks > before);
	}
	before = locks;
	for (unsigned n = 0; n < 4; n++)
		assert_false(sm_array_request(card->array, &call));
	assert_int_equal(locks, before);
	rig_destroy(card);
}

static void room(enum tutti_card_mode mode, unsigned workers)
{
	struct tutti_tensor_call call;

	open_card(mode, workers, 10, 0);
	launch(0, ASK, 1, 1);
	settle();
	assert_int_equal(card->counter[TUTTI_COUNTER_TMAU_STALLS], 1);
	assert_int_equal(data[0], ROOM); /* the one after the last is asked, but has not come back */
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(sm_array_request(card->array, &call));
		assert_int_equal(call.request.shared, i);
		sm_array_progress(card->array);
		settle();
		assert_int_equal(data[0], i + 1 + ROOM < 10 ? i + 1 + ROOM : 10);
	}
	assert_int_equal(card->done[0], 0); /* requests are open */
	for (uint32_t i = 0; i < 10; i++) {
		settle();
		assert_int_equal(card->done[0], 0);
		sm_array_call_done(card->array, call.cta);
	}
	rig_until(card, 0, 1);
	rig_destroy(card);
}

static void full_queue(void **state)
{
	room(TUTTI_CARD_DETERMINISTIC, 0);
	room(TUTTI_CARD_FAST, 2);
}

static void waits_for_all(enum tutti_card_mode mode, unsigned workers)
{
	struct tutti_tensor_call call[3];

	open_card(mode, workers, 3, 1);
	launch(0, ASK, 1, 1);
	settle();
	for (unsigned i = 0; i < 3; i++)
		assert_true(sm_array_request(card->array, &call[i]));
	for (unsigned i = 0; i < 3; i++) {
		settle();
		assert_int_equal(data[0], 3);
		sm_array_call_done(card->array, call[i].cta);
		sm_array_progress(card->array);
	}
	rig_until(card, 0, 1);
	assert_int_equal(data[0], 1000);
	rig_destroy(card);
}

static void wait_all(void **state)
{
	waits_for_all(TUTTI_CARD_DETERMINISTIC, 0);
	waits_for_all(TUTTI_CARD_FAST, 2);
}

/* The phase ends by a mover; the waves do not run meanwhile. */
static void phase(enum tutti_card_mode mode, unsigned workers)
{
	open_card(mode, workers, 0, 0);
	launch(0, PHASE, 8, 4);
	settle();
	assert_int_equal(card->done[0], 0);
	assert_false(sm_array_run(card->array));
	for (unsigned n = 0; n < 32; n++) {
		struct cta *cta = &card->array->cta[n];
		struct sm_shared shared;

		assert_int_equal(sm_array_shared(card->array, cta->number, SM_SELF, &shared), 0);
		assert_int_equal(shared.bytes, 2048);
		assert_int_equal(data[cta->at.index], 0);
		__atomic_fetch_xor((uint64_t *)shared.base, 1ull << TUTTI_MBARRIER_PHASE_SHIFT, __ATOMIC_SEQ_CST);
		sm_array_progress(card->array);
	}
	rig_until(card, 0, 32);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(data[i], 1);
	rig_destroy(card);
}

static void phases(void **state)
{
	phase(TUTTI_CARD_DETERMINISTIC, 0);
	phase(TUTTI_CARD_FAST, 3);
}

static void bad_place(void **state)
{
	open_card(TUTTI_CARD_DETERMINISTIC, 0, 0, 0);
	launch(0, BAD, 1, 1);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16 & 0xff, TUTTI_CAUSE_SERVICE);
	sm_array_kill(card->array, 0);
	rig_until(card, 0, 1);
	rig_destroy(card);
}

/*
 * KILL: queued requests are dropped; those that the firmware has are waited for, and dropped by whoever carries them
 * out.
 */
static void killed(enum tutti_card_mode mode, unsigned workers)
{
	struct tutti_tensor_call call[2], other;

	open_card(mode, workers, 100, 0);
	launch(0, ASK, 1, 1);
	launch(1, ASK, 1, 2); /* another CTA, also on the same SM */
	settle();
	for (unsigned i = 0; i < 2; i++) {
		do
			take(&call[i]);
		while (call[i].slot != 0);
		assert_false(sm_array_call_dropped(card->array, call[i].cta));
	}
	sm_array_kill(card->array, 0);
	settle();
	assert_int_equal(card->killed[0], 0);
	assert_true(sm_array_call_dropped(card->array, call[0].cta));
	sm_array_call_done(card->array, call[0].cta);
	settle();
	assert_int_equal(card->killed[0], 0);
	sm_array_call_done(card->array, call[1].cta);
	for (unsigned i = 0; i < 500 && !card->killed[0]; i++)
		settle();
	assert_int_equal(card->killed[0], 1);
	assert_int_equal(card->done[0], 1);
	/* the other CTA's requests are all there */
	for (unsigned i = 0; i < 20; i++) {
		take(&other);
		assert_int_equal(other.slot, 1);
		sm_array_progress(card->array);
		settle();
	}
	sm_array_reset(card->array);
	assert_false(sm_array_request(card->array, &other));
	rig_destroy(card);
}

static void kill(void **state)
{
	killed(TUTTI_CARD_DETERMINISTIC, 0);
	killed(TUTTI_CARD_FAST, 2);
}

/* A reset drops all tensor requests, on every SM, and the turns of SMs begin with the first one again. */
static void reset(void **state)
{
	struct tutti_tensor_call call;

	open_card(TUTTI_CARD_DETERMINISTIC, 0, 3, 0);
	launch(0, ASK, 1, 4);
	settle();
	for (unsigned i = 0; i < 2; i++)
		assert_true(sm_array_request(card->array, &call));
	sm_array_reset(card->array);
	assert_false(sm_array_request(card->array, &call));
	launch(1, ASK, 1, 4);
	settle();
	for (unsigned i = 0; i < 12; i++) {
		assert_true(sm_array_request(card->array, &call));
		assert_int_equal(call.sm, i % 4);
		assert_int_equal(call.slot, 1);
		assert_int_equal(call.request.shared, i / 4);
		sm_array_call_done(card->array, call.cta);
	}
	assert_false(sm_array_request(card->array, &call));
	rig_until(card, 1, 4);
	rig_destroy(card);
}

/* A context whose waves have ended stays as long as movers need its shared memory, however many others run. */
static void held(void **state)
{
	struct tutti_tensor_call call;
	struct sm_shared before, after;

	open_card(TUTTI_CARD_DETERMINISTIC, 0, 1, 0);
	launch(0, ASK, 1, 1);
	settle();
	assert_true(sm_array_request(card->array, &call));
	assert_int_equal(sm_array_shared(card->array, call.cta, SM_SELF, &before), 0);
	for (unsigned asid = 2; asid <= 20; asid++) {
		struct tutti_task_state other = rig_state(asid, K_EMPTY, 1, 1);

		rig_context(card, asid);
		sm_array_state(card->array, asid, 0, &other, NULL, NULL, 0);
		assert_int_equal(rig_launch(card, asid, 1, 1), 0);
		rig_until(card, asid, 1);
	}
	assert_int_equal(sm_array_shared(card->array, call.cta, SM_SELF, &after), 0);
	assert_ptr_equal(after.base, before.base);
	assert_non_null(card->array->engine[0].hart[1]);
	memset(after.base, 0x55, after.bytes);
	sm_array_call_done(card->array, call.cta);
	rig_until(card, 0, 1);
	rig_destroy(card);
}

/* A CTA whose mover was refused an access stops running, and is over only when it has been killed. */
static void failed(void **state)
{
	struct tutti_tensor_call call;

	open_card(TUTTI_CARD_DETERMINISTIC, 0, 1, 1);
	launch(0, ASK, 1, 1);
	settle();
	assert_true(sm_array_request(card->array, &call));
	sm_array_call_failed(card->array, call.cta);
	sm_array_call_done(card->array, call.cta);
	settle();
	assert_int_equal(data[0], 1);
	assert_int_equal(card->done[0], 0);
	sm_array_kill(card->array, 0);
	settle();
	assert_int_equal(card->done[0], 1);
	assert_int_equal(card->killed[0], 1);
	rig_destroy(card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "TMA-03: requests of an SM in order, SMs in turns", order_and_turns, NULL, NULL, NULL },
		{ "TMA-03 SYS-14: requests of many SMs", many_sms, NULL, NULL, NULL },
		{ "TMA-03: looking for requests when there are none", looks_are_cheap, NULL, NULL, NULL },
		{ "TMA-03 TMA-28: a full queue blocks the issuer, drops nothing; a CTA ends with its requests", full_queue,
		  NULL, NULL, NULL },
		{ "TMA-01 TMA-28: wait_all waits for all that was asked", wait_all, NULL, NULL, NULL },
		{ "TMA-22: waiting for a phase costs nothing", phases, NULL, NULL, NULL },
		{ "TMA-22: a barrier that cannot be one", bad_place, NULL, NULL, NULL },
		{ "TMA-28: KILL waits for what is in flight", kill, NULL, NULL, NULL },
		{ "TMA-28: after a reset", reset, NULL, NULL, NULL },
		{ "TMA-28: contexts that movers need", held, NULL, NULL, NULL },
		{ "TMA-28: after a mover's fault", failed, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("TMAU in the SMs", tests, NULL, NULL);
}
