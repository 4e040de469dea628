// SPDX-License-Identifier: MIT
#include "queues/barrier_packet.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"
#include "place/shape_line.h"
#include "queues/fetch_buffers.h"
#include "queues/queue_life.h"
#include "queues/queue_timer.h"

#define DEPENDENCIES 5u
#define POLL_FIRST_US 4u
#define POLL_STEPS 6u

/* The part of a signal that is read: value, card_done, waiters and flags. */
struct glimpse {
	uint32_t word[6];
};

/* The reads of one barrier's signals that are under way. */
struct probe {
	struct queue *queue; /* NULL if the probe is free; queue->probing names it in return */
	uint8_t pending;     /* fetches in flight */
	uint8_t asked;       /* a bit for each dependency that is read */
	uint8_t number;
	uint8_t failed;      /* TUTTI_CAUSE_* of a failed read, or 0 */
	uint8_t orphan;      /* the queue no longer waits for it */
	uint8_t again;       /* the firmware has sent signals since, so the values may be old */
	uint64_t address;    /* of the fault */
	struct glimpse glimpse[DEPENDENCIES];
};

static struct probe probes[FW_PROBES];
static struct queue_set parked; /* queues at a barrier packet */
static uint32_t parked_count;
static uint32_t signals_seen;   /* value of counters.signals when they were last looked at */

void barrier_init(void)
{
	unsigned i;

	for (i = 0; i < FW_PROBES; i++)
		probes[i] = (struct probe){ .number = (uint8_t)i };
	parked = (struct queue_set){ 0 };
	parked_count = signals_seen = 0;
}

void barrier_leave(struct queue *queue)
{
	unsigned id = queue_id(queue);

	queue->seen = 0;
	if (queue->probing)
		probes[queue->probing - 1].orphan = 1;
	if (!queue_set_has(&parked, id))
		return;
	queue_set_remove(&parked, id);
	parked_count--;
}

static bool satisfied(const struct tutti_barrier_packet *packet, unsigned seen)
{
	unsigned i, wanted = 0;

	for (i = 0; i < DEPENDENCIES; i++)
		wanted |= (packet->dependency[i] ? 1u : 0u) << i;
	if (!wanted)
		return true;
	if ((packet->header & TUTTI_HEADER_TYPE) == TUTTI_PACKET_BARRIER_AND)
		return !(wanted & ~seen);
	return wanted & seen;
}

/* queue_run() has asked for room for this and for what ask() writes, as part of PLACE_OTHERS. */
static int complete(struct queue *queue, const struct tutti_barrier_packet *packet)
{
	unsigned acquire = packet->header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	unsigned release = packet->header >> TUTTI_HEADER_RELEASE_SHIFT & TUTTI_HEADER_SCOPE;

	barrier_leave(queue);
	counters.barriers++;
	if (acquire) {
		command_fence(acquire | TUTTI_FENCE_ACQUIRE);
		counters.acquires++;
	}
	if (release) {
		command_fence(release | TUTTI_FENCE_RELEASE);
		counters.releases++;
	}
	if (packet->signal) {
		command_signal(queue->asid_queue, packet->signal, queue->vector);
		counters.signals++;
	}
	return 0;
}

static void ask(struct queue *queue, const struct tutti_barrier_packet *packet, struct probe *probe)
{
	unsigned i;

	probe->queue = queue;
	probe->asked = 0;
	probe->failed = 0;
	probe->orphan = probe->again = 0;
	probe->pending = 0;
	queue->probing = (uint8_t)(probe->number + 1);
	for (i = 0; i < DEPENDENCIES; i++) {
		if (!packet->dependency[i] || queue->seen >> i & 1)
			continue;
		probe->asked |= (uint8_t)(1u << i);
		probe->pending++;
		counters.fetches++;
		command_fetch(queue_asid(queue), 0, packet->dependency[i], sizeof(struct glimpse), &probe->glimpse[i],
			      TAG_PROBE | probe->number);
	}
}

static int check(const struct tutti_barrier_packet *packet)
{
	unsigned i;

	for (i = 0; i < DEPENDENCIES; i++)
		if (!packet_signal_ok((uint32_t)packet->dependency[i], (uint32_t)(packet->dependency[i] >> 32)))
			return packet_refuse(TUTTI_ERROR_PACKET,
					     offsetof(struct tutti_barrier_packet, dependency) + 8 * i);
	if (!packet_signal_ok((uint32_t)packet->signal, (uint32_t)(packet->signal >> 32)))
		return packet_refuse(TUTTI_ERROR_PACKET, offsetof(struct tutti_barrier_packet, signal));
	return 0;
}

COLD int barrier_packet(struct queue *queue, const struct tutti_barrier_packet *packet)
{
	struct probe *probe;
	int code = check(packet);

	if (code)
		return code;
	if (satisfied(packet, queue->seen))
		return complete(queue, packet);
	if (!queue_set_has(&parked, queue_id(queue))) {
		queue_set_add(&parked, queue_id(queue));
		parked_count++;
		attention.settle |= ATTEND_BARRIER;
		queue->polls = 0;
		shape_line_parts(queue);
	}
	if (queue->probing)
		return wait_park(queue, WAIT_SIGNAL);
	for (probe = probes; probe < probes + FW_PROBES; probe++)
		if (!probe->queue) {
			ask(queue, packet, probe);
			if (queue_table.waiters[WAIT_BUFFER])
				buffer_drop(queue);
			return wait_park(queue, WAIT_SIGNAL);
		}
	return wait_park(queue, WAIT_PROBE);
}

static bool zero(const struct glimpse *g)
{
	uint64_t value = g->word[0] | (uint64_t)g->word[1] << 32;

	if (g->word[5] & TUTTI_SIGNAL_SPLIT)
		value -= g->word[2] | (uint64_t)g->word[3] << 32;
	return !value;
}

static void answered(struct probe *probe)
{
	struct queue *queue = probe->queue;
	unsigned i, seen = 0;

	probe->queue = NULL;
	queue->probing = 0;
	wait_wake(WAIT_PROBE);
	if (queue->state != QUEUE_RUNNING || queue_table.suspended) {
		queue_answered(queue);
		return;
	}
	if (probe->orphan) {
		wait_ready(queue);
		return;
	}
	if (probe->failed) {
		queue->skip = 1;
		queue_unreadable(queue, TUTTI_ERROR_RING_FAULT, probe->failed, probe->address);
		return;
	}
	for (i = 0; i < DEPENDENCIES; i++)
		if (probe->asked >> i & 1 && zero(&probe->glimpse[i]))
			seen |= 1u << i;
	queue->seen |= (uint8_t)seen;
	if (seen || probe->again) {
		queue_run(queue);
		return;
	}
	queue_timer_set(queue, POLL_FIRST_US << queue->polls);
	if (queue->polls < POLL_STEPS)
		queue->polls++;
}

void barrier_event_fetch(unsigned number, const struct tutti_event *event)
{
	struct probe *probe = &probes[number % FW_PROBES];
	unsigned cause = event->word[0] >> 8 & 0xff;

	if (!probe->queue || !probe->pending)
		return;
	if (cause) {
		probe->failed = (uint8_t)cause;
		probe->address = event->word[1] | (uint64_t)event->word[2] << 32;
	}
	if (!--probe->pending)
		answered(probe);
}

COLD bool barrier_recheck(void)
{
	unsigned w;
	uint32_t mask;

	if (!parked_count || signals_seen == counters.signals)
		return parked_count;
	signals_seen = counters.signals;
	for (w = 0; w < FW_QUEUE_WORDS; w++)
		for (mask = parked.word[w]; mask; mask &= mask - 1) {
			struct queue *queue = queue_at(32 * w + lowest_bit(mask));

			queue->polls = 0;
			if (queue->probing)
				probes[queue->probing - 1].again = 1;
			else if (queue->wait == WAIT_SIGNAL)
				wait_ready(queue);
		}
	return true;
}
