// SPDX-License-Identifier: MIT
#include "top/heartbeat.h"

#include "core/clock.h"
#include "core/counters.h"
#include "core/hal.h"
#include "core/log.h"
#include "core/state.h"
#include "place/cta_shape.h"
#include "place/sm_match.h"
#include "queues/fetch_buffers.h"
#include "queues/queue.h"
#include "queues/queue_life.h"
#include "queues/queue_timer.h"
#include "tasks/issue_rounds.h"
#include "tasks/wave_split.h"
#include "tasks/work_queue.h"
#include "tensor/mover_ring.h"

#define HEARTBEAT_US 10000u
#define LATE_PART 8u /* a heartbeat counts as at most this part of a limit */

static uint64_t next_beat, last_beat;

void heartbeat_init(void)
{
	next_beat = last_beat = hal_time();
	clock_set(next_beat);
}

static uint32_t period_us(void)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;
	volatile struct tutti_control *control = hal_region(discovery->control);
	uint32_t us = control->heartbeat_us;

	if (!us)
		return HEARTBEAT_US;
	return us < 100 ? 100 : us > 10000000 ? 10000000 : us;
}

/* Time since the last heartbeat, which may be much more than a period when the core has had other things to do. */
static uint32_t since_last_us(uint64_t time, uint32_t period)
{
	uint64_t ticks = time - last_beat;

	last_beat = time;
	return ticks >> 32 ? period : (uint32_t)ticks / fw.ticks_per_us;
}

/*
 * SMs have to do something for this task: end CTAs, acknowledge its state, or kill it. When a CTA is issued wave by wave, its
 * waves are a task of their own, which is watched instead; if that is killed, so is the task of the CTA.
 */
static bool waits_for_sms(const struct task *task)
{
	return split_on_card(task) || task->state == TASK_KILLED || task->state == TASK_SYNC;
}

/* Kill a task that has completed no CTA for too long, and report one that does not end after it was killed. */
static void check_task(struct task *task, uint32_t us, uint32_t period)
{
	static const struct task_error timeout = { .code = TUTTI_ERROR_TIMEOUT,
						   .cause = TUTTI_CAUSE_WATCHDOG,
						   .sm_wave = ~0u };
	struct queue *queue = task->queue;
	uint32_t limit;

	if (task->state == TASK_FREE || !queue->timeout || !waits_for_sms(task))
		return;
	limit = queue->timeout > 1000000 ? 1000000000u : queue->timeout * 1000u;
	/* A task that has begun just now must not pay for a late heartbeat with more than a part of its time. */
	if (us > limit / LATE_PART && us > period)
		us = limit / LATE_PART > period ? limit / LATE_PART : period;
	task->progress = task->progress + us < task->progress ? ~0u : task->progress + us;
	if (task->progress <= limit)
		return;
	if (task->state != TASK_KILLED) {
		task_fail(task, &timeout);
	} else {
		struct tutti_fault fault = {
			.code = TUTTI_ERROR_SM,
			.cause = TUTTI_CAUSE_WATCHDOG,
			.packet = task->packet,
			.kernel = task->kernel,
			.sm = 0xffff,
		};

		queue_stop(queue, &fault);
	}
}

static void heartbeat(uint64_t time)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;
	struct tutti_status *status = hal_region(discovery->status);
	uint32_t us = period_us(), passed = since_last_us(time, us);
	unsigned i;

	status->heartbeat_time = time;
	status->heartbeat++;
	counter_flush(place_state.residents, mover_tail());
	match_beat();
	for (i = 0; i < fw.tasks; i++)
		check_task(&tasks[i], passed, us);
	work_poll_all(NULL);
	rounds_run();
	next_beat += (uint64_t)us * fw.ticks_per_us;
	if (next_beat < time)
		next_beat = time + (uint64_t)us * fw.ticks_per_us;
}

void heartbeat_event(void)
{
	uint64_t time = hal_time();

	queue_timer_run(time);
	buffer_run(time);
	work_timeout(time);
	if (split_due(time))
		rounds_run();
	if (time >= next_beat)
		heartbeat(time);
	clock_set(work_earliest(split_earliest(queue_timer_earliest(time, buffer_earliest(next_beat)))));
}
