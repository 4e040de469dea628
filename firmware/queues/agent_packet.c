// SPDX-License-Identifier: MIT
#include "queues/agent_packet.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"
#include "queues/queue_life.h"
#include "tensor/tensor_requests.h"

#define PIECE (1u << 30) /* most bytes that one mover descriptor moves */

/* A copy or fill in flight. It is moved piece by piece. */
struct work {
	struct queue *queue; /* NULL if this entry is free */
	uint64_t packet;
	uint64_t signal;
	uint64_t to, from, left;
	struct tutti_mover_shape shape; /* holds the value of a fill */
	uint32_t piece;
	uint8_t op;
	uint8_t release;
};

static struct work works[FW_AGENTS];

void agent_init(void)
{
	unsigned i;

	for (i = 0; i < FW_AGENTS; i++)
		works[i].queue = NULL;
}

/* COMMAND_OWED_AGENTS reserves room for this when a mover is done; otherwise queue_run() has asked for it. */
static void clean_up(struct queue *queue, unsigned release, uint64_t signal)
{
	if (release) {
		command_fence(release | TUTTI_FENCE_RELEASE);
		counters.releases++;
	}
	if (signal) {
		command_signal(queue->asid_queue, signal, queue->vector);
		counters.signals++;
	}
}

/* Tensor requests leave FW_AGENTS descriptors of the mover ring free, so there is always room. */
static void move(struct work *work)
{
	struct tutti_mover *m;

	m = mover_begin();
	work->piece = work->left > PIECE ? PIECE : (uint32_t)work->left;
	*m = (struct tutti_mover){
		.op = work->op,
		.flags = TUTTI_MOVER_EVENT | TUTTI_MOVER_LINEAR,
		.shape = hal_local(&work->shape),
		.global = work->op == TUTTI_MOVE_COPY ? work->from : work->to,
		.other = work->op == TUTTI_MOVE_COPY ? work->to : 0,
		.bytes = work->piece,
		.tag = (uint16_t)(TAG_AGENT | (unsigned)(work - works)),
		.asid = (uint8_t)queue_asid(work->queue),
	};
	/* what earlier commands write has to be in memory before the mover starts */
	command_publish();
	mover_end();
	mover_publish(0);
	tmau_published();
}

static int check(const struct tutti_agent_packet *p)
{
	bool fill = p->type == TUTTI_AGENT_FILL;

	if (!packet_signal_ok((uint32_t)p->signal, (uint32_t)(p->signal >> 32)))
		return packet_refuse(TUTTI_ERROR_PACKET, offsetof(struct tutti_agent_packet, signal));
	switch (p->type) {
	case TUTTI_AGENT_NOP:
		return 0;
	case TUTTI_AGENT_TIME:
		if (!p->return_address || p->return_address & 7 || !fw_address_ok(p->return_address))
			return packet_refuse(TUTTI_ERROR_AGENT, offsetof(struct tutti_agent_packet, return_address));
		return 0;
	case TUTTI_AGENT_COPY:
	case TUTTI_AGENT_FILL:
		if (p->arg[2] > TUTTI_VA_END || !fw_address_ok(p->arg[0]) || !fw_address_ok(p->arg[0] + p->arg[2]) ||
		    (fill && (p->arg[0] | p->arg[2]) & 3) ||
		    (!fill && (!fw_address_ok(p->arg[1]) || !fw_address_ok(p->arg[1] + p->arg[2]))))
			return packet_refuse(TUTTI_ERROR_AGENT, offsetof(struct tutti_agent_packet, arg));
		return 0;
	}
	return packet_refuse(TUTTI_ERROR_AGENT, offsetof(struct tutti_agent_packet, type));
}

/*
 * Find a free entry for @queue. While several clients have queues, none of them has more entries than it leaves free: so
 * copies of another one begin, however long its own are (REL-11). Return: NULL if it has to wait
 */
static struct work *work_find(const struct queue *queue)
{
	struct work *work, *found = NULL;
	unsigned free = 0, own = 0;

	for (work = works; work < works + FW_AGENTS; work++) {
		if (work->queue) {
			own += queue_asid(work->queue) == queue_asid(queue);
		} else {
			free++;
			found = work;
		}
	}
	return queue_table.shared && own >= free ? NULL : found;
}

COLD int agent_dispatch(struct queue *queue, const struct tutti_agent_packet *p)
{
	unsigned acquire = p->header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	unsigned release = p->header >> TUTTI_HEADER_RELEASE_SHIFT & TUTTI_HEADER_SCOPE;
	bool moves = (p->type == TUTTI_AGENT_COPY || p->type == TUTTI_AGENT_FILL) && p->arg[2];
	struct work *work = NULL;
	int code = check(p);

	if (code)
		return code;
	if (moves) {
		work = work_find(queue);
		if (!work)
			return wait_park(queue, WAIT_AGENT);
	}
	counters.agents++;
	/* queue_run() has asked for room, as part of PLACE_OTHERS */
	if (acquire) {
		command_fence(acquire | TUTTI_FENCE_ACQUIRE);
		counters.acquires++;
	}
	if (p->type == TUTTI_AGENT_TIME)
		command_write(queue->asid_queue, p->return_address, hal_time(), 8);
	if (!moves) {
		clean_up(queue, release, p->signal);
		return 0;
	}
	*work = (struct work){
		.queue = queue,
		.packet = queue->head,
		.signal = p->signal,
		.to = p->arg[0],
		.from = p->arg[1],
		.left = p->arg[2],
		.shape = { .fill = (uint32_t)p->arg[1] | p->arg[1] << 32, .type = TUTTI_U32 },
		.op = p->type == TUTTI_AGENT_COPY ? TUTTI_MOVE_COPY : TUTTI_MOVE_FILL,
		.release = (uint8_t)release,
	};
	queue->flight += QUEUE_ONE;
	move(work);
	return 0;
}

COLD void agent_event_mover(const struct tutti_event *event)
{
	struct work *work = &works[(event->word[0] >> 16 & TAG_NUMBER) % FW_AGENTS];
	struct queue *queue = work->queue;
	unsigned cause = event->word[0] >> 8 & 0xff;

	if (!queue)
		return;
	if (cause) {
		struct tutti_fault fault = {
			.code = cause == TUTTI_CAUSE_ECC ? TUTTI_ERROR_MEMORY : TUTTI_ERROR_MEMORY_FAULT,
			.engine = TUTTI_ENGINE_MOVER,
			.cause = (uint16_t)cause,
			.packet = work->packet,
			.address = event->word[1] | (uint64_t)event->word[2] << 32,
			.sm = 0xffff,
		};

		queue_stop(queue, &fault);
	} else {
		work->left -= work->piece;
		work->to += work->piece;
		work->from += work->piece;
		if (work->left && queue->state != QUEUE_DYING) {
			move(work);
			return;
		}
		clean_up(queue, work->release, work->left ? 0 : work->signal);
	}
	work->queue = NULL;
	queue_finished(queue, (uint32_t)work->packet);
	wait_wake(WAIT_AGENT);
}

uint64_t agent_oldest(const struct queue *queue, uint64_t none)
{
	unsigned i;

	for (i = 0; i < FW_AGENTS; i++)
		if (works[i].queue == queue && works[i].packet < none)
			none = works[i].packet;
	return none;
}
