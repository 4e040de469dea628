// SPDX-License-Identifier: MIT
#include "queues/turns.h"

#include "core/task_record.h"

struct turns turns;

COLD void turns_init(void)
{
	words_clear(&turns, sizeof(turns) / 4);
	queue_table.crowded = false;
}

COLD void turns_clients(unsigned clients)
{
	queue_table.shared = clients > 1;
	if (queue_table.shared) {
		attention.settle |= ATTEND_TURNS;
		command_ring.limit = NULL;
	} else {
		attention.settle &= ~ATTEND_TURNS;
		turns_init();
	}
}

COLD bool turns_due(bool more)
{
	if (more && ++turns.passed < TURN_EVENTS)
		return false;
	turns.passed = 0;
	turns.left = true;
	return true;
}

/*
 * Find a ready queue of another client than the one that had the last turn. Only TURN_LOOKS queues are looked at, from
 * number @from on.
 * @first: set to the number of the first of them
 * Return: its number, or @first if there is none
 */
static unsigned find_other(unsigned from, unsigned *first)
{
	unsigned looks, id = from;

	for (looks = 0; looks < TURN_LOOKS; looks++) {
		id = queue_set_next(&queue_table.ready, queue_table.any_ready, from);
		if (!looks)
			*first = id;
		else if (id == *first)
			break;
		if (queue_asid(queue_at(id)) != turns.turn)
			return id;
		from = (id + 1) % TUTTI_MAX_QUEUES;
	}
	return *first;
}

/* Do the ready queues let another client go first? */
static bool give_way(void)
{
	if (turns_held())
		return true;
	if (!turns.moment)
		return false;
	turns.moment--;
	return true;
}

COLD struct queue *turns_next(void)
{
	unsigned first, id;
	struct queue *queue;

	if (give_way())
		return NULL;
	id = find_other(turns.next, &first);
	queue = queue_set_take(&queue_table.ready, &queue_table.any_ready, id);
	turns.fetch = NULL;
	turns.gave_way = false;
	turns.in_turn = true;
	if (id == first) /* otherwise the queues that were passed over keep their place */
		turns.next = (id + 1) % TUTTI_MAX_QUEUES;
	turns.turn = (uint16_t)queue_asid(queue);
	turns.last = 0;
	return queue;
}

/* Are at most TURN_SLOTS task slots free, which are reserved for clients with few tasks? */
static bool slots_are_few(void)
{
	const struct task *task = task_table.free;
	unsigned n;

	for (n = 0; n < TURN_SLOTS && task; n++)
		task = task->next;
	return !task;
}

/* Does the client of @queue have so many tasks that it may not use the reserved slots? */
static bool has_slots(const struct queue *queue)
{
	const struct task *task;
	unsigned n = 0;

	for (task = tasks; task < tasks + fw.tasks; task++)
		if (task->state != TASK_FREE && !(task->rare & TASK_WORK) && queue_asid(task->queue) == queue_asid(queue))
			n++;
	return n >= TURN_SLOTS;
}

static unsigned next_type(const struct queue *queue)
{
	return queue->packet == queue->end ? TUTTI_PACKET_INVALID : queue->packet->word[0] & TUTTI_HEADER_TYPE;
}

COLD bool turns_starts(const struct queue *queue)
{
	return queue->run_kernels || next_type(queue) != TUTTI_PACKET_INVALID;
}

COLD bool turns_reserved(const struct queue *queue)
{
	return slots_are_few() && has_slots(queue);
}

/*
 * Will @queue launch a kernel when it goes on? Not while it checks the metadata of a condensed packet; launch_condensed()
 * asks whether the first kernel may start when the check is complete.
 */
static bool starts_kernel(const struct queue *queue)
{
	unsigned type = next_type(queue);

	return queue->run_kernels || type == TUTTI_PACKET_KERNEL_DISPATCH ||
	       (type == TUTTI_PACKET_CONDENSED && !(queue->seen | queue->tmd));
}

COLD bool turns_enter(struct queue *queue)
{
	unsigned asid = queue_asid(queue);
	bool asks = !turns.gave_way && !turns.in_turn && asid != turns.turn;

	if (!turns_starts(queue)) {
		if (asks && !turns_held())
			turns.fetch = queue;
		return true; /* fetching packets delays nobody */
	}
	if (queue_table.crowded) {
		if (turns.last == asid) {
			turns.moment = 0;
			wait_ready(queue);
			return false;
		}
		turns.last = (uint16_t)asid;
	}
	if (starts_kernel(queue) && turns_reserved(queue)) {
		wait_join(queue, WAIT_SLOT);
		return false;
	}
	if (asid == turns.turn)
		turns.gave_way = false;
	if (asks) {
		turns.gave_way = true;
		turns.moment = TURN_MOMENT;
	}
	return true;
}
