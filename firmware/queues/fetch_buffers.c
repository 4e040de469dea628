// SPDX-License-Identifier: MIT
#include "queues/fetch_buffers.h"

#include "core/clock.h"

#define NEVER UINT64_MAX
#define LINE_US 64u /* after so long all owners that wait give their buffers to the line */

union tutti_packet buffers[FW_BUFFERS][FW_BUFFER_PACKETS] __attribute__((aligned(64)));
static struct queue *owner[FW_BUFFERS]; /* NULL: the buffer is free */
static unsigned next_in_line;           /* the next buffer goes to the first queue in line from this number on */
static uint64_t line_due;               /* when to call buffer_run() */

void buffer_init(void)
{
	unsigned i;

	for (i = 0; i < FW_BUFFERS; i++)
		owner[i] = NULL;
	next_in_line = 0;
	line_due = NEVER;
}

static void give(unsigned i, struct queue *queue)
{
	owner[i] = queue;
	queue->buffer = (uint8_t)(i + 1);
}

void buffer_drop(struct queue *queue)
{
	struct queue_set *line = &queue_table.waiting[WAIT_BUFFER - WAIT_SLOT];
	unsigned i = queue->buffer, w;
	uint32_t words = 0;

	queue->packet = queue->end = NULL;
	if (!i--)
		return;
	queue->buffer = 0;
	owner[i] = NULL;
	for (w = 0; w < FW_QUEUE_WORDS; w++)
		words |= (line->word[w] ? 1u : 0u) << w;
	while (words) {
		queue = queue_set_take(line, &words, next_in_line);
		if (queue->wait != WAIT_BUFFER)
			continue; /* it runs already, for another reason */
		next_in_line = (queue_id(queue) + 1) % TUTTI_MAX_QUEUES;
		give(i, queue);
		queue->wait = WAIT_NONE;
		wait_ready(queue);
		return;
	}
	queue_table.waiters[WAIT_BUFFER] = 0;
}

/* Does the queue wait for something that has not happened yet? */
static bool waits(const struct queue *queue)
{
	return !queue->fetching && queue->wait != WAIT_NONE && !queue_set_has(&queue_table.ready, queue_id(queue));
}

/*
 * May @queue take the buffer of @other, which waits? If other queues are in line for a buffer and it has no higher
 * priority, it may not: it would get ahead of them.
 */
static bool yields(const struct queue *other, const struct queue *queue)
{
	return other->priority > queue->priority || !queue_table.waiters[WAIT_BUFFER];
}

/*
 * Find a buffer for @queue: a free one or, if there is none, that of a queue that waits. Nothing else is taken from that
 * queue: the packets in the buffer were not taken yet, so it fetches and checks them again when it can go on.
 */
static bool find(struct queue *queue)
{
	static unsigned next; /* where to begin, so that the buffers are taken in turn */
	unsigned i, n, found = FW_BUFFERS;
	struct queue *other;

	for (n = 0; n < FW_BUFFERS; n++) {
		i = (next + n) % FW_BUFFERS;
		other = owner[i];
		if (!other || (waits(other) && other->packet == other->end)) {
			found = i;
			break;
		}
		if (found == FW_BUFFERS && waits(other) && yields(other, queue))
			found = i;
	}
	if (found == FW_BUFFERS)
		return false;
	next = found + 1;
	other = owner[found];
	if (other) {
		other->packet = other->end = NULL;
		other->buffer = 0;
	}
	give(found, queue);
	return true;
}

static void set_due(void)
{
	line_due = clock_now() + (uint64_t)LINE_US * fw.ticks_per_us;
	clock_at(line_due);
}

bool buffer_find(struct queue *queue)
{
	buffer_drop(queue);
	if (find(queue))
		return true;
	wait_park(queue, WAIT_BUFFER);
	if (line_due == NEVER)
		set_due();
	return false;
}

void buffer_run(uint64_t time)
{
	unsigned i;

	if (time < line_due)
		return;
	line_due = NEVER;
	for (i = 0; i < FW_BUFFERS && queue_table.waiters[WAIT_BUFFER]; i++)
		if (owner[i] && waits(owner[i]))
			buffer_drop(owner[i]);
	if (queue_table.waiters[WAIT_BUFFER])
		set_due();
}

uint64_t buffer_earliest(uint64_t at)
{
	return line_due < at ? line_due : at;
}
