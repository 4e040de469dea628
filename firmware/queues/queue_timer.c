// SPDX-License-Identifier: MIT
#include "queues/queue_timer.h"

#include "core/clock.h"
#include "core/state.h"
#include "queues/queue.h"

/* Deadlines of queues count steps of 1024 timer ticks in 32 bits, which wrap in about an hour at 1 GHz. */
#define STEP_SHIFT 10

static struct queue_set timed;
static uint32_t timed_words;         /* a bit for each word of @timed that may not be 0 */
static uint32_t due[FW_QUEUE_WORDS]; /* for each word of @timed: no queue in it is due earlier */

void queue_timer_init(void)
{
	timed = (struct queue_set){ 0 };
	timed_words = 0;
}

void queue_timer_clear(struct queue *queue)
{
	queue_set_remove(&timed, queue_id(queue));
}

/*
 * The deadline is put off by up to half of the time, to where those of other queues are: then one look serves all of
 * them.
 */
void queue_timer_set(struct queue *queue, uint32_t us)
{
	uint64_t ticks = (uint64_t)us * fw.ticks_per_us;
	uint64_t step = ((clock_now() + ticks) >> STEP_SHIFT | (uint32_t)ticks >> (STEP_SHIFT + 1)) + 1;
	unsigned w = queue_id(queue) / 32;

	queue->deadline = (uint32_t)step;
	queue_timer_clear(queue);
	if (!timed.word[w] || (int32_t)(due[w] - queue->deadline) > 0)
		due[w] = queue->deadline;
	queue_set_add(&timed, queue_id(queue));
	timed_words |= 1u << w;
	clock_at(step << STEP_SHIFT);
}

static void run_word(unsigned w, uint32_t now)
{
	uint32_t mask;

	due[w] = now + INT32_MAX;
	for (mask = timed.word[w]; mask; mask &= mask - 1) {
		struct queue *queue = queue_at(32 * w + lowest_bit(mask));

		if ((int32_t)(queue->deadline - now) <= 0) {
			queue_timer_clear(queue);
			queue_poll(queue);
		} else if ((int32_t)(due[w] - queue->deadline) > 0) {
			due[w] = queue->deadline;
		}
	}
	if (!timed.word[w])
		timed_words &= ~(1u << w);
}

void queue_timer_run(uint64_t time)
{
	uint32_t now = (uint32_t)(time >> STEP_SHIFT), words;

	for (words = timed_words; words; words &= words - 1) {
		unsigned w = lowest_bit(words);

		if ((int32_t)(due[w] - now) <= 0)
			run_word(w, now);
	}
}

uint64_t queue_timer_earliest(uint64_t time, uint64_t at)
{
	uint64_t now = time >> STEP_SHIFT, then;
	int32_t left = INT32_MAX, of;
	uint32_t words;

	for (words = timed_words; words; words &= words - 1) {
		of = (int32_t)(due[lowest_bit(words)] - (uint32_t)now);
		left = of < left ? of : left;
	}
	then = (now + (left > 0 ? (uint32_t)left : 1)) << STEP_SHIFT;
	return then < at ? then : at;
}
