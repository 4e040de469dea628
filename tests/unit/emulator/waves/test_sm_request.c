// SPDX-License-Identifier: MIT
/* Requests to the firmware, work items, throttle state, CTAs launched wave by wave. */
#include <stdio.h>
#include <unistd.h>

#include "emulator/launch/stop.h"
#include "sm_cga_rig.h"

static void until_requests(unsigned n)
{
	time_t end = time(NULL) + 60; /* the host may be busy */

	while (card->requests < n && time(NULL) < end)
		rig_step(card);
	assert_int_equal(card->requests, n);
}

static void requests(void **unused)
{
	unsigned before = card->events, n = 0;
	struct tutti_task_state state = rig_state(1, C_ASK, 40, 1);

	PARAMETER(data) = 0x123456789abcdef0ull;
	sm_array_state(card->array, 3, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 3, 2, SMS), 0);
	until_requests(2 * SMS);
	assert_int_equal(card->done[3], 0);
	assert_true(sm_array_busy(card->array));
	/* replies in any order, each to its own wave */
	for (unsigned i = card->events; i-- > before;) {
		const struct tutti_event event = card->event[i];

		assert_int_equal(event.word[0], TUTTI_EVENT_REQUEST | 3 << 8 | TUTTI_SERVICE_TASK << 16);
		assert_int_equal(event.word[3], 0x9abcdef0);
		assert_int_equal(event.word[4], 0x12345678);
		assert_int_equal(event.word[5], 0x9abcdef1);
		assert_int_equal(event.word[6], 0x12345678);
		assert_int_equal(event.word[7], 0x9abcdef2);
		sm_array_reply(card->array, event.word[1] & 0xffff, event.word[1] >> 16, 1000 + event.word[1]);
		n++;
	}
	rig_until(card, 3, n);
	for (unsigned c = 0, sum = 0; c < n; c++) {
		unsigned sm = c % SMS; /* one CTA on each SM, twice */

		assert_int_equal((data[8 * c] - 1000) & 0xffff, sm);
		sum += (unsigned)(data[8 * c] - 1000) >> 16;
		assert_true(sum <= 40 * 32);
	}
}

/* A wave whose answer has come, but which has not run since, is gone after a reset like all others. */
static void answered_before_reset(void **unused)
{
	struct tutti_task_state ask = rig_state(1, C_ASK, 40, 1), next = rig_state(1, C_IDS, 1, 1);

	sm_array_state(card->array, 3, 0, &ask, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 3, 1, 1), 0);
	until_requests(1);
	sm_array_reply(card->array, card->request.word[1] & 0xffff, card->request.word[1] >> 16, 7);
	sm_array_reset(card->array);
	data[0] = data[2] = ~0ull;
	assert_false(sm_array_run(card->array));
	sm_array_state(card->array, 2, 0, &next, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 2, 1, 1), 0);
	rig_until(card, 2, 1);
	assert_int_equal(data[2], 0);
	assert_int_equal(card->done[3], 0);
}

static void request_of_a_killed_wave(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_ASK, 40, 1), stay;
	struct tutti_event asked;

	sm_array_state(card->array, 3, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 3, 1, 1), 0);
	until_requests(1);
	asked = card->request;
	sm_array_kill(card->array, 3);
	rig_until(card, 3, 1);
	/* another wave in its place must not get its reply */
	data[8 * 0 + 7] = 0;
	stay = rig_state(1, C_ASK, 40, 1);
	sm_array_state(card->array, 4, 0, &stay, NULL, NULL, 0);
	sm_array_reply(card->array, asked.word[1] & 0xffff, asked.word[1] >> 16, 5);
	assert_int_equal(rig_launch(card, 4, 1, 1), 0);
	until_requests(2);
	idle();
	assert_int_equal(card->done[4], 0);
	sm_array_reply(card->array, card->request.word[1] & 0xffff, card->request.word[1] >> 16, 6);
	rig_until(card, 4, 1);
	assert_int_equal(data[0], 6);
	/* a reply that nobody waits for has no effect */
	sm_array_reply(card->array, 0, 0, 1);
	sm_array_reply(card->array, 0xffff, 0xffff, 1);
	/* killed before the firmware has heard of its request, which is then dropped */
	sm_array_state(card->array, 5, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 5, 1, 1), 0);
	card->full = true;
	idle();
	sm_array_kill(card->array, 5);
	card->full = false;
	rig_until(card, 5, 1);
	idle();
	assert_int_equal(card->requests, 2);
}

/* The workers get the CTAs that have not started yet, and have taken all of them when this returns. */
static void taken_by_workers(void)
{
	rig_give_to_workers(card);
	while (tutti_load_relaxed(&card->array->shared_count))
		usleep(100);
}

/* Let a wave on each SM send a request. The waves run on workers, none of them on the thread of the test. */
static void ask_on_workers(unsigned slot)
{
	struct tutti_task_state state = rig_state(1, C_ASK, 40, 1);

	sm_array_state(card->array, slot, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, slot, 1, SMS), 0);
	taken_by_workers();
	until_requests(SMS);
}

/* Answer the requests of ask_on_workers() with @value. */
static void answer_all(uint64_t value)
{
	for (unsigned i = card->events - SMS; i < card->events; i++)
		sm_array_reply(card->array, card->event[i].word[1] & 0xffff, card->event[i].word[1] >> 16, value);
}

/* Replies come while all engines pause, as they do for a kill. Afterwards the engines of the waves must not stay asleep. */
static void replies_in_a_pause(void **unused)
{
	ask_on_workers(3);
	engines_pause(card->array);
	for (struct wave *wave = card->array->asked.head; wave; wave = wave->next)
		assert_int_not_equal(wave->cta->engine->number, 0);
	answer_all(1);
	usleep(20000); /* the replies wake the workers, which go to sleep again */
	engines_resume(card->array);
	rig_until(card, 3, SMS);
}

/* A reset drops the answers that waves on workers have not taken yet. Waves that start later do not get them. */
static void replies_before_reset(void **unused)
{
	for (unsigned round = 1; round <= 3; round++) {
		ask_on_workers(3);
		engines_pause(card->array);
		answer_all(7);
		sm_array_reset(card->array);
		for (unsigned e = 0; e < card->array->engines; e++) {
			assert_null(card->array->engine[e].replied.head);
			assert_int_equal(tutti_load_relaxed(&card->array->engine[e].replies), 0);
		}
		card->requests = 0;
		ask_on_workers(4);
		answer_all(round);
		rig_until(card, 4, round * SMS);
		for (unsigned i = 0; i < SMS; i++)
			assert_int_equal(data[8 * i], round);
		card->requests = 0;
		assert_int_equal(card->done[3], 0);
	}
}

static void work_items(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_IDS, 40, 1);
	uint32_t words[] = {0xfffffff0u, 7, 12, 2 | 1u << 24, 0x05};
	uint64_t first = 0x7fffffff0ull;

	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_WORK, words, 5), 0);
	rig_until(card, 0, 4);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0); /* one without */
	rig_until(card, 0, 5);
	for (unsigned c = 0; c < 4; c++) {
		assert_int_equal(data[8 * c + 5], first + 12 * c);
		assert_int_equal(data[8 * c + 6], 12);
		assert_int_equal(data[8 * c + 4], ~0u);
	}
	assert_int_equal(data[8 * 4 + 5], 0);
	assert_int_equal(data[8 * 4 + 6], 0);
	assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_WORK, words, 2), -EINVAL);
	assert_int_equal(sm_array_launch(card->array, 0, 8, words, 5), -EINVAL);
	assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_END_OF_CGA, words + 3, 2), -EINVAL);
}

/* The other SMs keep their shared memory; two SMs share what all have. */
static void throttle(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_AMO, 40, 1);
	uint32_t mask = 0x3;

	state.shared_bytes = 200 * 2048;
	state.shared_blocks = 200;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), -EINVAL);
	assert_int_equal(sm_array_throttle(card->array, 257, &mask, 1), -EINVAL);
	assert_int_equal(sm_array_throttle(card->array, 256, &mask, 1), 0);
	assert_int_equal(rig_launch(card, 0, 1, 2), 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), -EINVAL); /* 56 blocks are left */
	assert_int_equal(sm_array_throttle(card->array, 0, &mask, 1), -EINVAL); /* in use */
	rig_until(card, 0, 2);
	assert_int_equal(sm_array_throttle(card->array, 0, &mask, 1), 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), -EINVAL);
	mask = 1u << SMS;
	assert_int_equal(sm_array_throttle(card->array, 32, &mask, 1), -EINVAL);
}

static void split(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_WAVES, 6, 4);
	unsigned n = 0;

	state.grid_x = 5 * 128 + 70; /* the last CTA has 70 items: waves of 32, 32, 6, 0 */
	sm_array_state(card->array, 0, TUTTI_STATE_SPLIT, &state, NULL, NULL, 0);
	for (; n < 11; n++) {
		uint32_t words[] = {1 | 1u << 24, 1u << (n % SMS)};

		assert_int_equal(sm_array_launch(card->array, 0, 0, words, 2), 0);
	}
	rig_until(card, 0, 11);
	/* resumed in the middle of a CTA, on SMs that have not seen the state yet */
	state.first = 11;
	sm_array_state(card->array, 1, TUTTI_STATE_SPLIT, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 1, 1, 13), 0);
	rig_until(card, 1, 13);
	for (unsigned c = 0; c < 6; c++) {
		for (unsigned w = 0; w < 4; w++) {
			unsigned items = c < 5 || w < 2 ? 32 : w == 2 ? 6 : 0;

			assert_int_equal(data[8 * c + w], items | (32 * w) << 8 | (c + 1) << 16);
		}
	}
	/* one wave's worth of an SM is taken, no more */
	assert_int_equal(rig_launch(card, 1, 32, 1), 0);
	assert_int_equal(rig_launch(card, 1, 1, 1), -EINVAL);
}

static void what_cannot_be_split(void **unused)
{
	struct tutti_task_state state = rig_state(1, C_IDS, 6, 4);

	state.barriers = 1;
	sm_array_state(card->array, 0, TUTTI_STATE_SPLIT, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), -EINVAL);
	state.barriers = 0;
	state.shared_blocks = 1;
	sm_array_state(card->array, 0, TUTTI_STATE_SPLIT, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), -EINVAL);
	state.shared_blocks = 0;
	state.cga_x = 2;
	state.cga_y = state.cga_z = 1;
	sm_array_state(card->array, 0, TUTTI_STATE_SPLIT, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), -EINVAL);
}

static const struct CMUnitTest tests[] = {
	CASE("TSK-11: a request waits for its reply, others do not wait for it", requests),
	CASE_THREADS("TSK-11: a request waits for its reply, others do not wait for it", requests),
	CASE("TSK-11: requests and replies of killed waves go nowhere", request_of_a_killed_wave),
	CASE_THREADS("TSK-11: requests and replies of killed waves go nowhere", request_of_a_killed_wave),
	CASE_THREADS("TSK-11, REL-10: replies that come while engines pause", replies_in_a_pause),
	CASE("TSK-10, TSK-15: CTAs of queue tasks are told their items", work_items),
	CASE_THREADS("SYS-10, TSK-11: a reset before waves on workers take their answers", replies_before_reset),
	CASE("SYS-10: a reset between a request's answer and its wave", answered_before_reset),
	CASE("TSK-07: throttle state: a few SMs share the shared memory, if they are empty", throttle),
	CASE("RES-07: a CTA launched wave by wave", split),
	CASE_THREADS("RES-07: a CTA launched wave by wave", split),
	CASE("RES-07: barriers, shared memory and CGAs cannot be split", what_cannot_be_split),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
