// SPDX-License-Identifier: MIT
#include "queues/queue.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/crash.h"
#include "core/state.h"
#include "core/visit.h"
#include "core/wait.h"
#include "place/plain_grid.h"
#include "place/shape_line.h"
#include "queues/agent_packet.h"
#include "queues/barrier_packet.h"
#include "queues/fetch_buffers.h"
#include "queues/launch_condensed.h"
#include "queues/launch_plain.h"
#include "queues/launch_special.h"
#include "queues/queue_life.h"
#include "queues/queue_timer.h"
#include "queues/turns.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"
#include "tasks/task_start.h"
#include "tasks/task_table.h"
#include "tasks/throttle.h"
#include "tasks/work_queue.h"

static unsigned next_ready; /* where queue_run_ready() goes on */
static uint32_t late_event; /* counters.events of the visit in which goes_on() last let a queue go on */

#define READY_STEPS 40u /* visit.h: of a queue that is ready, and perhaps has to wait again */
#define POLL_FIRST_US 64u
#define POLL_LAST_US 10000u

/* Here the hardware stores the packet index that the host wrote to each doorbell (softcore.h). */
static uint32_t rung_index[TUTTI_MAX_QUEUES];

COLD void queue_init(void)
{
	unsigned i;

	queue_table = (struct queue_table){ 0 };
	for (i = 0; i < TUTTI_MAX_QUEUES; i++)
		*queue_at(i) = (struct queue){ .state = QUEUE_NONE };
	next_ready = 0;
	late_event = ~0u;
	turns_init();
	buffer_init();
	HAL_ENGINES->doorbell_index = hal_local(rung_index);
}

/* ---- fetching ---- */

/*
 * A fetch never crosses the middle of the ring or its end. The slots of packets that have just been taken become INVALID
 * only when the post unit gets there, which may be after the fetch: if the fetch reached round to them, they would
 * look like new packets and run a second time.
 */
static void fetch(struct queue *queue)
{
	uint32_t at = (uint32_t)queue->head & queue->mask, half = queue->mask >> 1;
	uint32_t n = half + 1 - ((uint32_t)queue->head & half);
	union tutti_packet *to;

	if (queue->fetching)
		return;
	to = buffer_take(queue);
	if (unlikely(!to))
		return;
	if (n > queue->batch)
		n = queue->batch;
	launch_kept[queue->buffer - 1].next = 0;
	queue->rung = 0;
	queue->fetching = (uint8_t)n;
	queue->wait = WAIT_FETCH;
	queue->packet = queue->end = to;
	counters.fetches++;
	command_fetch(queue_asid(queue), TUTTI_FETCH_PACKETS, queue->ring + at * 64ull, n * 64, to,
		      TAG_PACKETS | queue_id(queue));
}

/*
 * The next packet is not in the ring yet. A doorbell may come before its packet (PKT-05), so the queue polls until
 * all packets up to the highest index rung have come. It polls a few times even without that, because a later doorbell
 * with a lower index may have overwritten a higher one.
 */
static void starve(struct queue *queue)
{
	buffer_used(queue);
	queue->batch = QUEUE_FIRST_BATCH;
	if (queue->rung) {
		fetch(queue);
		return;
	}
	queue->wait = WAIT_RING;
	shape_line_parts(queue);
	if (queue->polls < QUEUE_POLL_STEPS)
		queue_timer_set(queue, POLL_FIRST_US << (4 * queue->polls++));
	else if ((int32_t)(queue->promise - (uint32_t)queue->head) >= 0)
		queue_timer_set(queue, POLL_LAST_US);
}

void queue_event_fetch(unsigned number, const struct tutti_event *event)
{
	struct queue *queue = queue_at(number & (TUTTI_MAX_QUEUES - 1));
	unsigned cause = event->word[0] >> 8 & 0xff, n = queue->fetching;

	if (!n)
		return;
	queue->fetching = 0;
	queue->wait = WAIT_NONE;
	if (unlikely(queue->stale)) {
		queue->stale = 0;
		buffer_drop(queue);
		queue_answered(queue);
		queue_run(queue);
		return;
	}
	if (unlikely(cause)) {
		queue_unreadable(queue, cause == TUTTI_CAUSE_ECC ? TUTTI_ERROR_MEMORY : TUTTI_ERROR_RING_FAULT, cause,
				 event->word[1] | (uint64_t)event->word[2] << 32);
		return;
	}
	queue->end = queue->packet + n;
	if (unlikely(queue->state != QUEUE_RUNNING || queue_table.suspended))
		queue_answered(queue);
	else
		queue_run(queue);
}

/* ---- working through packets ---- */

/*
 * Hand the slots that were taken back to the host. They have to be INVALID before the read index moves past them
 * (PKT-05). COMMAND_OWED_RETIRE reserves the room for these commands.
 */
static COLD __attribute__((noinline)) void retire_wrapped(struct queue *queue, uint32_t at, uint32_t count)
{
	uint32_t n = queue->mask + 1 - at;

	command_scrub(queue->asid_queue, queue->ring + at * 64ull, n, queue->scrub);
	command_scrub(queue->asid_queue, queue->ring, count - n, queue->scrub);
	command_write(queue->asid_queue, queue->read_index, queue->head, 8);
}

static inline __attribute__((always_inline)) void retire(struct queue *queue)
{
	uint32_t count = (uint32_t)queue->head - queue->retired, at = queue->retired & queue->mask, *p;

	queue->retired = (uint32_t)queue->head;
	counters.packets += count;
	if (unlikely(at + count > queue->mask + 1)) {
		retire_wrapped(queue, at, count);
	} else {
		p = command_begin(COMMAND_SCRUB_WORDS + COMMAND_WRITE_WORDS);
		p = command_put_scrub(p, queue->asid_queue, queue->ring + at * 64ull, count, queue->scrub);
		command_end(command_put_write(p, queue->asid_queue, queue->read_index, queue->head, 8));
	}
	queue->scrub = 0;
}

static COLD void retire_apart(struct queue *queue)
{
	retire(queue);
}

COLD void queue_retire(struct queue *queue)
{
	if ((uint32_t)queue->head != queue->retired && place_room())
		retire_apart(queue);
}

/* The caller has made sure of room in the command ring. */
static COLD void notify(struct queue *queue)
{
	if ((int32_t)(queue->progressed - queue->notify) < 0)
		return;
	queue->notifying = 0;
	*command_begin(1) = TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, queue->vector);
	command_end(command_ring.next + 1);
}

void queue_report(struct queue *queue, uint64_t done)
{
	if (queue->run_kernels && queue->run_packet < done)
		done = queue->run_packet;
	if (queue->flight) {
		done = task_oldest(queue, done);
		done = agent_oldest(queue, done);
	}
	if ((int32_t)((uint32_t)done - queue->progressed) <= 0)
		return;
	if (unlikely(!command_room(COMMAND_WRITE_WORDS + COMMAND_INTERRUPT_WORDS))) {
		wait_park(queue, WAIT_ROOM); /* when it is woken it reports */
		return;
	}
	queue->progressed = (uint32_t)done;
	command_write(TUTTI_ASID_BUS | queue_id(queue) << 16, queue->progress, done, 8);
	if (unlikely(queue->notifying))
		notify(queue);
}

static __attribute__((noinline)) void report_progress(struct queue *queue)
{
	if (queue->progress && queue->state == QUEUE_RUNNING)
		queue_report(queue, queue->head);
}

/* Decode and start the packet at the head. Return: 0 if the queue can go on with the next one */
static inline int step(struct queue *queue)
{
	const union tutti_packet *packet = queue->packet;
	uint32_t head = packet->word[0], type = head & TUTTI_HEADER_TYPE;

	if (likely(type == TUTTI_PACKET_KERNEL_DISPATCH)) {
		if (head & TUTTI_HEADER_BARRIER && queue->flight)
			return wait_park(queue, WAIT_TASKS);
		return launch_packet(queue, packet);
	}
	if (type == TUTTI_PACKET_CONDENSED && queue->flags & TUTTI_QUEUE_EXTENDED)
		return launch_condensed(queue, packet);
	if (type == TUTTI_PACKET_INVALID || (type == TUTTI_PACKET_VENDOR && !(head >> 16 & 0xff))) {
		starve(queue);
		return PACKET_PARKED;
	}
	if (type != TUTTI_PACKET_BARRIER_AND && type != TUTTI_PACKET_BARRIER_OR && type != TUTTI_PACKET_AGENT_DISPATCH)
		return packet_refuse(TUTTI_ERROR_PACKET, 0);
	if (head & TUTTI_HEADER_RESERVED || (head & head >> 1 & 0x0a00))
		return packet_refuse(TUTTI_ERROR_PACKET, 0);
	if (head & TUTTI_HEADER_BARRIER && queue->flight)
		return wait_park(queue, WAIT_TASKS);
	return type == TUTTI_PACKET_AGENT_DISPATCH ? agent_dispatch(queue, &packet->agent)
						   : barrier_packet(queue, &packet->barrier);
}

/* A visit to the queue ends. */
static inline __attribute__((always_inline)) void left(struct queue *queue)
{
	if ((uint32_t)queue->head != queue->retired)
		retire(queue);
	if (unlikely(queue->progress))
		report_progress(queue);
}

/*
 * There is no room in the command ring, or the visit is late (visit.h). A late visit still launches one packet or
 * kernel, so that queues make progress even if searches use up every visit. Return: whether @queue goes on
 */
static COLD bool goes_on(struct queue *queue)
{
	if (queue_table.shared && turns_starts(queue) && !turns_take()) {
		wait_ready(queue);
		return false;
	}
	if (!command_renew()) {
		wait_park(queue, WAIT_ROOM);
		return false;
	}
	if (visit_late() && late_event == counters.events) {
		wait_ready(queue);
		return false;
	}
	late_event = counters.events;
	return true;
}

/* @queue is not able to run, or the card is suspended or shared. Return: whether it may run now */
static COLD bool may_run(struct queue *queue)
{
	if (queue->state == QUEUE_RUNNING && !queue->fetching && !queue_table.suspended)
		return turns_enter(queue);
	queue_settle(queue);
	return false;
}

HOT void queue_run(struct queue *queue)
{
	int code;

	if (unlikely(queue->state != QUEUE_RUNNING || queue->fetching || queue_table.detour) && !may_run(queue))
		return;
	queue->wait = WAIT_NONE;
	for (;;) {
		if (unlikely(command_ring.next > command_ring.limit) && !goes_on(queue))
			return; /* it retires when it runs again, since it may have taken nothing in this visit */
		if (queue->run_kernels) {
			if (launch_more(queue) == LAUNCH_PARKED)
				break;
			continue;
		}
		if (queue->packet == queue->end) {
			/* All packets fetched were ready, so it pays to fetch more at a time. */
			if (queue->packet)
				queue->batch = FW_BUFFER_PACKETS;
			fetch(queue);
			break;
		}
		code = step(queue);
		if (unlikely(code)) {
			if (code > 0)
				queue_refuse_packet(queue, code);
			break;
		}
		queue->packet++;
		queue->head++;
	}
	left(queue);
}

COLD void launch_failed(struct queue *queue, int code)
{
	if (code > 0)
		queue_refuse_packet(queue, code);
	if ((uint32_t)queue->head != queue->retired)
		retire_apart(queue);
	report_progress(queue);
}

static HOT void launch_follower(struct queue *queue)
{
	int code;

	queue->wait = WAIT_NONE;
	code = launch_packet(queue, queue->packet);
	if (unlikely(code)) {
		launch_failed(queue, code);
		return;
	}
	queue->wait = WAIT_TASKS;
	queue->packet++;
	queue->head++;
}

COLD void queue_next(struct queue *queue)
{
	if (queue_follower_ready(queue))
		launch_follower(queue);
	else
		queue_run(queue);
}

HOT void queue_ahead(struct queue *queue)
{
	const union tutti_packet *packet = queue->packet;
	int code;

	if (packet == queue->end || (packet->word[0] & TUTTI_HEADER_TYPE) != TUTTI_PACKET_CONDENSED ||
	    unlikely(queue->flags & QUEUE_REPORTS) || unlikely(!queue_may_defer(queue)) ||
	    unlikely(command_ring.next > command_ring.limit)) {
		queue_run(queue);
		return;
	}
	code = launch_condensed(queue, packet);
	if (unlikely(code)) {
		launch_failed(queue, code);
		return;
	}
	queue->packet++;
	queue->head++;
	/* usually there is no need to ask: the first kernel has the barrier bit, so that it has to wait */
	if (likely(!(*queue->record & RECORD_GENERAL) && launch_entry(queue)->header & TUTTI_HEADER_BARRIER))
		return;
	launch_next(queue);
	if (unlikely(queue->wait != WAIT_TASKS))
		queue_run(queue);
}

HOT void queue_metadata(struct tmd *tmd)
{
	struct queue *queue = tmd->queue;

	/*
	 * A queue that waits may have lost its buffer to another one. On a shared card, other queues of its client may have
	 * taken the slots that the client may use.
	 */
	if (unlikely(queue->situation != (QUEUE_RUNNING | WAIT_FOLLOW << 8)) || unlikely(!queue->packet) ||
	    unlikely(queue_table.detour))
		queue_run(queue);
	else
		launch_metadata_now(queue, queue->packet, tmd);
}

HOT void queue_finished_metadata(struct queue *queue, uint32_t packet)
{
	const union tutti_packet *next = queue->packet;

	if (unlikely((queue->situation ^ QUEUE_BETWEEN) | (queue->flight ^ QUEUE_ONE) | queue->tmd) ||
	    unlikely(!queue_follows(queue)) || unlikely(command_ring.next > command_ring.limit) ||
	    unlikely(!tmd_quick(queue, next->dispatch.tmd))) {
		queue_finished(queue, packet);
		return;
	}
	queue->flight = 0;
	queue->wait = WAIT_FOLLOW; /* nothing is retired before the packet is launched */
	tmd_begin(queue, next->dispatch.tmd);
}

static COLD void finished_general(struct queue *queue)
{
	if (queue->wait == WAIT_TASKS)
		queue_run(queue);
	else
		report_progress(queue);
	queue_settle(queue);
	if (queue_table.suspended)
		attention.settle |= ATTEND_SUSPEND;
}

void queue_run_ended(void)
{
	while (queue_table.any_ended)
		finished_general(queue_set_take(&queue_table.ended, &queue_table.any_ended, 0));
}

/*
 * Each time it goes on behind the queue that ran last, so a queue that is ready again and again runs once at most
 * before any other that is ready. In one run a queue takes no more than the packets in its buffer.
 */
void queue_run_ready(void)
{
	struct queue *queue;
	bool more = queue_table.any_ready;

	while (more) {
		queue = queue_set_take(&queue_table.ready, &queue_table.any_ready, next_ready);
		next_ready = (queue_id(queue) + 1) % TUTTI_MAX_QUEUES;
		queue_run(queue);
		more = visit_goes_on(READY_STEPS) && queue_table.any_ready;
	}
}

COLD void queue_run_turn(void)
{
	struct queue *queue = turns_next();

	if (queue)
		queue_run(queue);
	turns.in_turn = false;
}

/* Nearly always the queue waits for exactly this end, to launch the next kernel of a condensed packet. */
HOT void queue_finished(struct queue *queue, uint32_t packet)
{
	queue->flight -= QUEUE_ONE + queue_of_run(queue, packet);
	if (unlikely((queue->situation ^ QUEUE_BETWEEN) | queue_table.detour))
		finished_general(queue);
	else if (queue->run_kernels && queue->run_stop > queue->run_kernel + 1u && place_room())
		launch_next(queue); /* and it waits for that one again */
	else if (queue_follower_ready(queue) && place_room())
		launch_follower(queue);
	else
		queue_run(queue);
}

void queue_event_doorbell(const struct tutti_event *event)
{
	unsigned first = (event->word[0] >> 8 & 0xff) * 32;
	uint32_t mask = event->word[1];
	struct queue *queue;
	unsigned id;

	for (; mask; mask &= mask - 1) {
		id = (first + lowest_bit(mask)) & (TUTTI_MAX_QUEUES - 1);
		queue = queue_at(id);
		if ((int32_t)(rung_index[id] - queue->promise) > 0)
			queue->promise = rung_index[id];
		queue->rung = 1;
		queue->polls = 0;
		if (unlikely(queue->works))
			work_poll_all(queue);
		if (queue->wait == WAIT_RING)
			queue_run(queue);
	}
}

void queue_poll(struct queue *queue)
{
	if (queue->wait == WAIT_RING || queue->wait == WAIT_SIGNAL)
		queue_run(queue);
}

COLD int queue_notify(uint32_t id_queue, uint32_t packets)
{
	struct queue *queue = queue_at(id_queue & (TUTTI_MAX_QUEUES - 1));

	if (id_queue >= fw.max_queues || queue->state == QUEUE_NONE)
		return -TUTTI_ENOENT;
	if (!queue->notifying || (int32_t)(packets - queue->notify) < 0)
		queue->notify = packets;
	queue->notifying = !!queue->progress;
	if (queue->notifying)
		notify(queue);
	return 0;
}

/* ---- suspending ---- */

COLD void queue_suspend(void)
{
	queue_table.suspended = true;
	command_ring.limit = NULL;
	throttle_update(); /* work items start no CTA now, so the card must not be emptied, or kept, for a queue task */
	rounds_run();
}

COLD void queue_resume(void)
{
	unsigned i;

	queue_table.suspended = false;
	for (i = 0; i < fw.max_queues; i++)
		if (queue_at(i)->state == QUEUE_RUNNING)
			wait_ready(queue_at(i));
	work_poll_all(NULL);
	throttle_update();
	rounds_run();
}
