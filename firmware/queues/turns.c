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

/* The first word of the ready set behind word @w that is not 0, or the first one of all. */
static unsigned next_word(unsigned w)
{
	uint32_t behind = queue_table.any_ready & ~1u << w;

	return lowest_bit(behind ? behind : queue_table.any_ready);
}

/*
 * Find a ready queue of another client than the one whose turn it was, among the next TURN_LOOKS from number @from on.
 * @first: the number of the first of them
 * Return: its number, or @first
 */
static unsigned find_other(unsigned from, unsigned *first)
{
	unsigned w = from / 32, looks, id;
	uint32_t mask = queue_table.ready.word[w] & ~0u << from % 32;

	for (looks = 0; looks < TURN_LOOKS; looks++) {
		if (!mask) {
			w = next_word(w);
			mask = queue_table.ready.word[w];
		}
		id = 32 * w + lowest_bit(mask);
		mask &= mask - 1;
		if (!looks)
			*first = id;
		else if (id == *first)
			break;
		if (queue_asid(queue_at(id)) != turns.turn)
			return id;
	}
	return *first;
}

/* Do the queues that are ready give way to another client? */
static bool give_way(void)
{
	if (turns.fetch && turns.fetch->fetching)
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

	turns.held = give_way();
	if (turns.held)
		return NULL;
	id = find_other(turns.next, &first);
	queue = queue_set_take(&queue_table.ready, &queue_table.any_ready, id);
	turns.fetch = NULL;
	turns.gave_way = false;
	turns.in_turn = true;
	if (id == first) /* those that another client's queue has got ahead of keep their place */
		turns.next = (id + 1) % TUTTI_MAX_QUEUES;
	turns.turn = (uint16_t)queue_asid(queue);
	turns.last = 0;
	return queue;
}

/* Are there no more free task slots than are left to clients with few tasks? */
static bool slots_are_few(void)
{
	const struct task *task = task_table.free;
	unsigned n;

	for (n = 0; n < TURN_SLOTS && task; n++)
		task = task->next;
	return !task;
}

/* Does the client of @queue have so many tasks that it leaves the last slots to others? */
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

/* Is a kernel what @queue starts next? */
static bool starts_kernel(const struct queue *queue)
{
	unsigned type = next_type(queue);

	return queue->run_kernels || type == TUTTI_PACKET_KERNEL_DISPATCH || type == TUTTI_PACKET_CONDENSED;
}

COLD bool turns_enter(struct queue *queue)
{
	unsigned asid = queue_asid(queue);
	bool asks = !turns.gave_way && !turns.in_turn && asid != turns.turn;

	turns.in_turn = false;
	if (!turns_starts(queue)) {
		if (asks && !(turns.fetch && turns.fetch->fetching))
			turns.fetch = queue;
		return true; /* to fetch packets is in nobody's way yet */
	}
	if (queue_table.crowded) {
		if (turns.last == asid) {
			turns.moment = 0;
			wait_ready(queue);
			return false;
		}
		turns.last = (uint16_t)asid;
	}
	if (slots_are_few() && starts_kernel(queue) && has_slots(queue)) {
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
