// SPDX-License-Identifier: MIT
#include "queues/queue_life.h"

#include "core/command_ring.h"
#include "core/context.h"
#include "core/counters.h"
#include "core/outbox.h"
#include "core/state.h"
#include "core/wait.h"
#include "place/shape_line.h"
#include "queues/barrier_packet.h"
#include "queues/fetch_buffers.h"
#include "queues/launch_condensed.h"
#include "queues/launch_plain.h"
#include "queues/queue.h"
#include "queues/queue_timer.h"
#include "queues/turns.h"
#include "tasks/metadata.h"
#include "tasks/task_table.h"

static COLD void gone(struct queue *queue)
{
	unsigned id = queue_id(queue);

	buffer_drop(queue);
	if (queue->rsb)
		queue->rsb->attached--;
	queue->state = QUEUE_NONE;
	context_queue_destroyed(queue_asid(queue));
	turns_clients(context_clients());
	outbox_reply_after(queue->destroy_id, id);
}

static bool quiet(const struct queue *queue)
{
	return !queue->in_flight && !queue->fetching && !queue->probing;
}

void queue_settle(struct queue *queue)
{
	if (queue->state != QUEUE_DYING || !quiet(queue))
		return;
	if (outbox_can_reply())
		gone(queue);
	else
		wait_park(queue, WAIT_ROOM);
}

COLD void queue_answered(struct queue *queue)
{
	if (queue->state == QUEUE_STOPPED)
		buffer_drop(queue);
	queue_settle(queue);
	attention.settle |= ATTEND_SUSPEND;
}

static COLD void run_drop(struct queue *queue)
{
	struct task_group *group = queue->run_kernels ? queue->block->group : NULL;

	if (!queue->run_kernels)
		return;
	launch_block_free(queue);
	if (group) {
		group->signal = 0;
		group->release = 0;
		task_group_put(queue, group);
	}
}

/* Stop @queue for what packet_error says. */
static void refuse(struct queue *queue, int code, uint64_t packet, unsigned kernel)
{
	struct tutti_fault fault = {
		.code = (uint16_t)code,
		.engine = packet_error.engine,
		.access = packet_error.access,
		.cause = (uint16_t)packet_error.cause,
		.packet = packet,
		.kernel = (uint16_t)kernel,
		.sm = 0xffff,
		.field = packet_error.field,
		.address = packet_error.address,
	};

	queue_stop(queue, &fault);
}

COLD void queue_refuse_packet(struct queue *queue, int code)
{
	queue->skip = 1;
	refuse(queue, code, queue->head, packet_error.kernel);
}

/* An error in one kernel makes the whole packet invalid (PKT-18), even if some of its kernels have run already. */
COLD int queue_refuse_run(struct queue *queue, int code)
{
	refuse(queue, code, queue->run_packet, queue->run_kernel);
	return PACKET_PARKED;
}

/* At most one signal is sent for each kernel of a packet. channel_event() has asked for room for that many. */
COLD bool queue_cancel_run(struct queue *queue, uint64_t packet)
{
	uint32_t state[STATE_WORDS];
	struct launch launch;
	struct task_group *group;
	uint64_t signal = 0;

	if (!queue->run_kernels || queue->run_packet != packet)
		return false;
	group = queue->block->group;
	for (; queue->run_kernel < queue->run_kernels; queue->run_kernel++) {
		queue->record = condensed_kernel(queue, queue->record, state, &launch);
		signal = launch.signal[0] | (uint64_t)launch.signal[1] << 32;
		if (signal && !(group && queue->run_kernel + 1u == queue->run_kernels)) {
			command_signal(queue->asid_queue, signal, queue->vector | TUTTI_SIGNAL_CANCEL);
			counters.signals++;
		}
	}
	launch_block_free(queue);
	if (group) {
		group->signal = signal;
		group->cancelled = 1;
		task_group_put(queue, group);
	}
	tmd_drop(queue);
	shape_line_leave(queue);
	wait_ready(queue);
	return true;
}

/* Make the queue wait for nothing any more. */
static void unpark(struct queue *queue)
{
	wait_forget(queue);
	shape_line_leave(queue);
	barrier_leave(queue);
	queue_timer_clear(queue);
	tmd_drop(queue);
	condensed_forget(queue_id(queue));
}

COLD void queue_unreadable(struct queue *queue, unsigned code, unsigned cause, uint64_t address)
{
	struct tutti_fault fault = {
		.code = (uint16_t)code,
		.engine = TUTTI_ENGINE_FETCH,
		.access = TUTTI_ACCESS_READ,
		.cause = (uint16_t)cause,
		.packet = queue->head,
		.address = address,
		.sm = 0xffff,
	};

	queue_stop(queue, &fault);
}

COLD void queue_stop(struct queue *queue, struct tutti_fault *fault)
{
	if (queue->state == QUEUE_DYING) {
		queue_settle(queue);
		return;
	}
	/* before the host hears of the error, which ends whatever waits for more */
	if (queue->progress && !queue->error)
		queue_report(queue, fault->packet);
	queue->state = QUEUE_STOPPED;
	queue_retire(queue);
	unpark(queue);
	/* if another packet has failed, the kernels of this one are launched after the reset */
	if (fault->packet == queue->run_packet)
		run_drop(queue);
	if (!queue->fetching)
		buffer_drop(queue);
	if (queue->error)
		return;
	queue->error = (uint8_t)fault->code;
	fault->queue = (uint16_t)queue_id(queue);
	fault->context = (uint16_t)queue_asid(queue);
	counters.queue_errors++;
	outbox_fault(fault);
}

COLD void queue_event_post_fault(const struct tutti_event *event)
{
	struct queue *queue = queue_at(event->word[0] >> 16 & (TUTTI_MAX_QUEUES - 1));
	struct tutti_fault fault = {
		.code = TUTTI_ERROR_RING_FAULT,
		.engine = TUTTI_ENGINE_POST,
		.access = TUTTI_ACCESS_WRITE,
		.cause = event->word[0] >> 8 & 0xff,
		.packet = queue->head - (uint32_t)((uint32_t)queue->head - queue->signalled),
		.sm = 0xffff,
		.address = event->word[1] | (uint64_t)event->word[2] << 32,
	};

	if (fault.address - queue->ring < (queue->mask + 1ull) * TUTTI_PACKET_BYTES ||
	    fault.address == queue->read_index)
		fault.packet = queue->head;
	if (queue->state == QUEUE_NONE || queue->state == QUEUE_DYING)
		return;
	queue_stop(queue, &fault);
}

/* ---- creation, destruction and reset, as the driver asks for them ---- */

static int create_check(const struct tutti_msg_queue *m)
{
	uint32_t size = 1u << (m->size_log2 & 31), priority = m->priority & TUTTI_QUEUE_PRIORITY;
	const struct rsb *rsb;

	if (m->queue >= fw.max_queues || m->size_log2 > 31 || size < fw.ring_min || size > fw.ring_max ||
	    m->flags & ~TUTTI_QUEUE_FLAGS || priority < 1 || priority > 10 ||
	    priority < m->priority >> TUTTI_QUEUE_HIGHEST_SHIFT || m->vector >= fw.vectors)
		return -TUTTI_EINVAL;
	if (m->ring & 63 || !fw_address_ok(m->ring) || m->read_index & 7 || !fw_address_ok(m->read_index) ||
	    m->progress & 7)
		return -TUTTI_EINVAL;
	if (m->ring + (uint64_t)size * TUTTI_PACKET_BYTES > TUTTI_VA_END ||
	    (m->flags & TUTTI_QUEUE_RSB && !(m->flags & TUTTI_QUEUE_EXTENDED)))
		return -TUTTI_EINVAL;
	if (!context_exists(m->asid))
		return -TUTTI_ENOENT;
	if (queue_at(m->queue)->state != QUEUE_NONE)
		return -TUTTI_EEXIST;
	if (m->flags & TUTTI_QUEUE_RSB) {
		rsb = reference_buffer(m->rsb);
		if (!rsb)
			return -TUTTI_ENOENT;
		if (rsb->asid != m->asid)
			return -TUTTI_EPERM;
	}
	return 0;
}

int queue_create(const struct tutti_msg_queue *m)
{
	struct queue *queue = queue_at(m->queue & (TUTTI_MAX_QUEUES - 1));
	volatile uint32_t *enable = &HAL_ENGINES->doorbell_enable[m->queue / 32 & (FW_QUEUE_WORDS - 1)];
	int status = create_check(m);

	if (status)
		return status;
	*queue = (struct queue){
		.asid_queue = m->asid | (uint32_t)m->queue << 16,
		.head = m->start,
		.retired = (uint32_t)m->start,
		.promise = (uint32_t)m->start - 1,
		.state = QUEUE_RUNNING,
		.wait = WAIT_RING,
		.flags = (uint16_t)(m->flags | (m->progress ? QUEUE_REPORTS : 0)),
		.ring = m->ring,
		.mask = (1u << m->size_log2) - 1,
		.vector = m->vector,
		.batch = QUEUE_FIRST_BATCH,
		.priority = m->priority & TUTTI_QUEUE_PRIORITY,
		.highest = (uint8_t)(m->priority >> TUTTI_QUEUE_HIGHEST_SHIFT),
		.timeout = m->timeout_ms,
		.read_index = m->read_index,
		.progress = m->progress,
		.progressed = (uint32_t)m->start,
		.polls = QUEUE_POLL_STEPS,
	};
	if (m->flags & TUTTI_QUEUE_RSB) {
		queue->rsb = reference_buffer(m->rsb);
		queue->table = queue->rsb->table;
		queue->rsb->attached++;
	}
	condensed_forget(m->queue);
	context_queue_created(m->asid);
	turns_clients(context_clients());
	*enable |= 1u << (m->queue % 32);
	return 0;
}

int queue_destroy(uint32_t id_queue, uint32_t id)
{
	struct queue *queue = queue_at(id_queue & (TUTTI_MAX_QUEUES - 1));

	if (id_queue >= fw.max_queues || queue->state == QUEUE_NONE)
		return -TUTTI_ENOENT;
	if (queue->state == QUEUE_DYING)
		return -TUTTI_EBUSY;
	HAL_ENGINES->doorbell_enable[id_queue / 32] &= ~(1u << (id_queue % 32));
	queue->state = QUEUE_DYING;
	queue->destroy_id = id;
	unpark(queue);
	run_drop(queue);
	task_kill_queue(queue);
	queue_settle(queue);
	return 0;
}

int queue_reset(uint32_t id_queue)
{
	struct queue *queue = queue_at(id_queue & (TUTTI_MAX_QUEUES - 1));

	if (id_queue >= fw.max_queues || queue->state == QUEUE_NONE)
		return -TUTTI_ENOENT;
	if (queue->state != QUEUE_STOPPED)
		return -TUTTI_EINVAL;
	if (!queue->error)
		return -TUTTI_EBUSY;
	/*
	 * A kernel of another packet may have failed since the queue stopped. The rest of that packet must not start. The
	 * queue stops again when the CTAs of that kernel are gone.
	 */
	if (task_failed(queue, queue->run_packet))
		run_drop(queue);
	queue->stale = !!queue->fetching;
	queue->error = 0;
	queue->state = QUEUE_RUNNING;
	queue->head += queue->skip;
	queue->scrub = queue->flags & TUTTI_QUEUE_EXTENDED ? 1 : 0;
	queue->skip = 0;
	queue->seen = 0;
	queue_retire(queue);
	wait_ready(queue);
	return 0;
}
