// SPDX-License-Identifier: MIT
#include "top/main.h"

#include "core/card_memory.h"
#include "core/command_ring.h"
#include "core/context.h"
#include "core/counters.h"
#include "core/crash.h"
#include "core/log.h"
#include "core/outbox.h"
#include "core/state.h"
#include "core/visit.h"
#include "core/wait.h"
#include "groups/cga.h"
#include "place/affinity.h"
#include "place/gpc_slots.h"
#include "place/kernel_cache.h"
#include "place/plain_grid.h"
#include "place/sm_match.h"
#include "place/sm_order.h"
#include "place/sm_score.h"
#include "queues/agent_packet.h"
#include "queues/barrier_packet.h"
#include "queues/child_tasks.h"
#include "queues/queue.h"
#include "queues/queue_life.h"
#include "queues/queue_timer.h"
#include "queues/turns.h"
#include "tasks/grouped_tasks.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/priority_windows.h"
#include "tasks/task_start.h"
#include "tasks/throttle.h"
#include "tasks/tie_lots.h"
#include "tasks/wave_split.h"
#include "tasks/work_queue.h"
#include "tensor/mover_ring.h"
#include "tensor/tensor_requests.h"
#include "top/express.h"
#include "top/heartbeat.h"
#include "top/host_channel.h"

#define EVENT_SLOTS 128u

static struct tutti_event events[EVENT_SLOTS] __attribute__((aligned(64)));

void main_init(void)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;
	volatile struct tutti_status *status = hal_region(discovery->status);
	volatile struct tutti_control *control = hal_region(discovery->control);

	attention = (struct attention){ 0 };
	crash_init();
	log_init();
	CRASH_UNLESS(fw_limits_init(discovery));
	command_init();
	counter_init();
	context_init();
	sm_order_init();
	affinity_init();
	shape_init();
	match_init();
	score_init();
	task_init();
	tmd_init();
	pending_init();
	rounds_init();
	lots_init();
	window_init();
	throttle_init();
	split_init();
	place_init();
	sync_init();
	kernel_init();
	reference_init();
	condensed_init();
	barrier_init();
	tmau_init();
	agent_init();
	child_init();
	queue_init();
	queue_timer_init();
	outbox_init();
	channel_init();
	cga_init();
	HAL_ENGINES->event_base = hal_local(events);
	HAL_ENGINES->event_slots = EVENT_SLOTS;
	heartbeat_init();
	status->firmware_version = FW_VERSION;
	status->contract_min = FW_CONTRACT_MIN;
	status->contract_max = TUTTI_CONTRACT_VERSION;
	status->boot_sequence = control->boot_sequence;
	log_line("tutti firmware, contract", TUTTI_CONTRACT_VERSION);
	log_line("SMs", fw.sms);
	hal_release();
	status->state = TUTTI_STATE_RUNNING;
}

static COLD void task_killed(const struct tutti_event *event)
{
	struct tutti_fault fault;
	struct queue *queue = task_event_killed(event, &fault);

	if (queue)
		queue_stop(queue, &fault);
}

static COLD void work_fetched(unsigned number, const struct tutti_event *event)
{
	struct tutti_fault fault;
	struct queue *queue = work_event_fetch(number, event, &fault);

	if (queue)
		queue_stop(queue, &fault);
}

/* Tasks may wait for the CGA identity or the linear memory slot that has become free. */
static COLD void flushed(const struct tutti_event *event)
{
	if (cga_event_flushed(event) && place_state.detours & DETOUR_ISSUE) {
		cga_freed();
		rounds_run();
	}
}

static COLD void other_metadata(unsigned number, const struct tutti_event *event)
{
	struct queue *queue = tmd_event_fetch(tmd_at(number), event);

	if (queue)
		queue_run(queue);
	else if (child_look(number, 1))
		attention.settle |= ATTEND_CHILD;
}

static HOT void metadata_fetched(unsigned number, const struct tutti_event *event)
{
	struct tmd *tmd = tmd_at(number);

	if (likely(tmd_event_usual(tmd, event)))
		queue_metadata(tmd);
	else
		other_metadata(number, event);
}

static void event_fetch(const struct tutti_event *event)
{
	unsigned tag = event->word[0] >> 16;

	if ((tag & TAG_KIND) == TAG_TMD) { /* the only ones of which every kernel of a kind has one */
		metadata_fetched(tag & TAG_NUMBER, event);
		return;
	}
	switch (tag & TAG_KIND) {
	case TAG_PACKETS:
		queue_event_fetch(tag & TAG_NUMBER, event);
		break;
	case TAG_KERNEL:
		kernel_event_fetch(tag & TAG_NUMBER, event);
		break;
	case TAG_PROBE:
		barrier_event_fetch(tag & TAG_NUMBER, event);
		break;
	case TAG_WORK:
		work_fetched(tag & TAG_NUMBER, event);
		break;
	case TAG_TENSOR:
		tmau_event_fetch(tag & TAG_NUMBER, event);
		break;
	case TAG_REPLY:
		channel_event_fetch(tag & TAG_NUMBER);
		break;
	case TAG_TABLE:
		match_event();
		break;
	case TAG_ROOM:
		command_marked();
		break;
	}
}

void main_event(const struct tutti_event *event)
{
	counters.events++;
	switch (event->word[0] & 0xff) {
	case TUTTI_EVENT_CTA:
		express_event_cta(event, event->word[0]);
		break;
	case TUTTI_EVENT_FETCH:
		event_fetch(event);
		break;
	case TUTTI_EVENT_DOORBELL:
		queue_event_doorbell(event);
		break;
	case TUTTI_EVENT_MESSAGE:
		channel_event();
		break;
	case TUTTI_EVENT_TIMER:
		heartbeat_event();
		break;
	case TUTTI_EVENT_CGA:
		express_event_cga(event);
		break;
	case TUTTI_EVENT_FLUSHED:
		flushed(event);
		break;
	case TUTTI_EVENT_CGA_FAULT:
		grouped_event_fault(event);
		break;
	case TUTTI_EVENT_FAULT:
		task_event_fault(event);
		break;
	case TUTTI_EVENT_KILLED:
		task_killed(event);
		break;
	case TUTTI_EVENT_POST_FAULT:
		queue_event_post_fault(event);
		break;
	case TUTTI_EVENT_MOVER:
		agent_event_mover(event);
		break;
	case TUTTI_EVENT_MOVER_ROOM:
		tmau_run();
		break;
	case TUTTI_EVENT_REQUEST:
		if (event->word[0] >> 16 == TUTTI_SERVICE_TENSOR)
			tmau_event_request();
		else
			child_request(event);
		break;
	case TUTTI_EVENT_STATE:
		sync_event(event);
		break;
	case TUTTI_EVENT_THROTTLE:
		throttle_event(event);
		break;
	default:
		break;
	}
}

/* Go on with the issue rounds that wait for room in the command ring, or that were cut short. */
static COLD void issue(void)
{
	if (!visit_goes_on(0)) {
		command_mark(); /* its event begins another visit */
	} else if (place_state.blocked) {
		place_state.blocked = false;
		pending_run();
		rounds_run();
	} else if (place_state.detours & DETOUR_CUT) {
		rounds_go_on();
	}
}

/* Go on with work that waits for room in the command ring. Return: some of it still waits */
static COLD bool retry(void)
{
	struct tutti_fault fault;
	struct queue *queue;

	if (place_room()) {
		wait_wake(WAIT_ROOM);
		if (command_ring.asked) {
			command_ring.asked = false;
			while ((queue = task_resume(&fault)))
				queue_stop(queue, &fault);
			pending_resume();
			tmd_resume();
			work_resume();
			cga_ids_resume();
			child_resume();
			tmau_run();
		}
		issue();
	}
	return queue_table.waiters[WAIT_ROOM] || place_state.blocked || place_state.detours & DETOUR_CUT || command_ring.asked;
}

/* Let the task of a refused tensor request fail as if an SM had reported the fault. */
static COLD void request_refused(void)
{
	struct tutti_event fault;

	if (tmau_take_fault(&fault))
		task_event_fault(&fault);
}

/* The visit has used up its steps. The next one does what is left; it begins with the event of the mark. */
static COLD void visit_over(void)
{
	attention.settle &= ~ATTEND_VISIT;
	if (!(queue_table.any_ended | queue_table.any_ready))
		return;
	attention.settle |= ATTEND_READY;
	command_mark();
}

/* Run the queues whose kernels have ended, and one ready queue, on a shared card. @more: events are waiting */
static inline void run_turn(bool more)
{
	if (queue_table.any_ended)
		queue_run_ended();
	if (queue_table.any_ready && turns_due(more))
		queue_run_turn();
}

/* If issue rounds have used up the visit, queues have to wait for the next one, but not twice in a row. */
static bool put_off(void)
{
	turns.put_off = !turns.put_off && attention.settle & ATTEND_VISIT;
	return turns.put_off;
}

/* Run queues whose kernels have ended, or which are ready. */
static COLD void run_queues(uint32_t todo, bool more)
{
	if (put_off())
		return;
	if (todo & ATTEND_TURNS) {
		run_turn(more);
		return;
	}
	do {
		queue_run_ended();
		queue_run_ready();
	} while ((queue_table.any_ended | queue_table.any_ready) && !((todo | attention.settle) & ATTEND_VISIT));
}

/* End the visit on a shared card. Ready queues go on in later ones. */
static inline void give_turn(bool more)
{
	if (queue_table.any_ended | queue_table.any_ready)
		attention.settle |= ATTEND_READY;
	turns_begin(more);
}

/*
 * Do what @attention asks for. A bit is set again if some of its work has to wait.
 * @more: events are waiting
 */
static COLD void settle(bool more)
{
	uint32_t todo = attention.settle;

	attention.settle = todo & ATTEND_TURNS;
	if (todo & ATTEND_FAULT)
		request_refused();
	if (todo & ATTEND_ENDED)
		queue_run_ended();
	if (todo & ATTEND_ROOM && retry())
		attention.settle |= ATTEND_ROOM;
	if (todo & ATTEND_BARRIER && barrier_recheck())
		attention.settle |= ATTEND_BARRIER;
	if (todo & ATTEND_CHILD && child_look(0, FW_TMDS))
		attention.settle |= ATTEND_CHILD;
	if (todo & ATTEND_CGA)
		grouped_settle();
	run_queues(todo, more);
	if ((todo | attention.settle) & ATTEND_SUSPEND)
		channel_check_suspend();
	attention.settle &= ~(ATTEND_READY | ATTEND_ENDED | ATTEND_SUSPEND);
	if (todo & ATTEND_TMAU)
		tmau_run();
	if ((todo | attention.settle) & ATTEND_VISIT)
		visit_over();
	if (attention.settle & ATTEND_TURNS)
		give_turn(more);
}

void main_settle(void)
{
	if (attention.settle)
		settle(false);
	command_publish();
}

COLD bool main_goes_on(void)
{
	return attention.settle & ATTEND_READY && !command_ring.marked && !turns_held();
}

COLD void main_before_idle(void)
{
	main_settle(); /* the engines may have made room in their rings since the last event */
	if (attention.settle & ATTEND_ROOM)
		command_mark();
}

#ifdef __riscv
int main(void);

static COLD __attribute__((noinline)) void show(void)
{
	reference_mirror();
	counter_idle(place_state.residents, mover_tail());
}

/* It is costly to update the mirrors of reference buffers, so while kernels run this is as rare as that of counters. */
static inline bool only_mirrors(void)
{
	return attention.idle == ATTEND_MIRROR && place_state.residents;
}

static COLD void idle(void)
{
	if (counter_due())
		show();
	else if (!place_state.residents)
		reference_mirror();
	if (attention.idle & ATTEND_CHANNEL)
		channel_event();
	main_settle();
}

/* Do the same as settle() after @event on a shared card, and quickly if at most queues are to be run. */
static COLD void settle_shared(const volatile struct tutti_event *event)
{
	bool more;

	if (++event == events + EVENT_SLOTS)
		event = events;
	more = event->word[0];
	if (likely(attention.settle == ATTEND_TURNS)) {
		turns_begin(more);
	} else if (likely(!(attention.settle & ~(ATTEND_TURNS | ATTEND_READY | ATTEND_ENDED)))) {
		attention.settle = ATTEND_TURNS;
		run_turn(more);
		give_turn(more);
	} else {
		settle(more);
	}
}

/* No event waits. Return: whether there is something to do nevertheless */
static COLD __attribute__((noinline)) bool goes_on_unasked(void)
{
	if (attention.settle == ATTEND_TURNS)
		return false;
	main_before_idle();
	return attention.settle & ATTEND_TMAU || main_goes_on();
}

/*
 * Handle events until there are none, then sleep. All that a completed CTA leads to is one chain of calls from here.
 * Commands are published after every event, so that the engines work on them while the next event is handled.
 */
static HOT __attribute__((noreturn)) void loop(void)
{
	volatile struct tutti_event *event = events;
	uint32_t head, tail;

	for (;;) {
		head = event->word[0];
		if (unlikely(!head)) {
			if ((unlikely(attention.idle) && !only_mirrors()) || unlikely(counter_due()))
				idle();
			if (unlikely(attention.settle) && goes_on_unasked())
				continue;
			hal_idle();
			continue;
		}
		hal_acquire();
		if (likely((head & 0xff) == TUTTI_EVENT_CTA)) {
			counters.events++;
			express_event_cta((const struct tutti_event *)event, head);
		} else {
			main_event((const struct tutti_event *)event);
		}
		if (unlikely(attention.settle)) {
			if (queue_table.shared)
				settle_shared(event);
			else
				settle(false);
		}
		/* one fence both ends the reads of the event and completes the writes for the engines */
		tail = command_tail();
		hal_release();
		event->word[0] = 0;
		if (++event == events + EVENT_SLOTS)
			event = events;
		command_ring.published = tail;
		HAL_ENGINES->command_tail = tail;
	}
}

int main(void)
{
	main_init();
	loop();
}
#endif
