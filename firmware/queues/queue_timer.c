// SPDX-License-Identifier: MIT
#include "queues/queue_timer.h"

#include "core/clock.h"
#include "core/state.h"
#include "queues/queue.h"

static struct queue_set timed;
static uint32_t timed_words; /* a bit for each word of @timed that may not be 0 */

void queue_timer_init(void)
{
	timed = (struct queue_set){ 0 };
	timed_words = 0;
}

/* Deadlines of queues count steps of 1024 timer ticks in 32 bits, which wrap in about an hour at 1 GHz. */
#define STEP_SHIFT 10

static int32_t steps_left(const struct queue *queue, uint64_t time)
{
	return (int32_t)(queue->deadline - (uint32_t)(time >> STEP_SHIFT));
}

void queue_timer_set(struct queue *queue, uint32_t us)
{
	uint64_t step = ((clock_now() + (uint64_t)us * fw.ticks_per_us) >> STEP_SHIFT) + 1;

	queue->deadline = (uint32_t)step;
	queue_set_add(&timed, queue_id(queue));
	timed_words |= 1u << queue_id(queue) / 32;
	clock_at(step << STEP_SHIFT);
}

void queue_timer_clear(struct queue *queue)
{
	queue_set_remove(&timed, queue_id(queue));
}

void queue_timer_run(uint64_t time)
{
	uint32_t words, mask;

	for (words = timed_words; words; words &= words - 1) {
		unsigned w = lowest_bit(words);

		for (mask = timed.word[w]; mask; mask &= mask - 1) {
			unsigned id = 32 * w + lowest_bit(mask);

			if (steps_left(queue_at(id), time) > 0)
				continue;
			queue_set_remove(&timed, id);
			queue_poll(queue_at(id));
		}
		if (!timed.word[w])
			timed_words ^= 1u << w;
	}
}

uint64_t queue_timer_earliest(uint64_t time, uint64_t at)
{
	uint32_t words, mask;

	for (words = timed_words; words; words &= words - 1) {
		unsigned w = lowest_bit(words);

		for (mask = timed.word[w]; mask; mask &= mask - 1) {
			int32_t left = steps_left(queue_at(32 * w + lowest_bit(mask)), time);
			uint64_t then = ((time >> STEP_SHIFT) + (left > 0 ? (uint32_t)left : 1)) << STEP_SHIFT;

			if (then < at)
				at = then;
		}
	}
	return at;
}
