// SPDX-License-Identifier: MIT
#include "queues/fetch_buffers.h"

#include "core/clock.h"

#define NEVER UINT64_MAX
#define LINE_US 64u /* after so long all owners that wait give their buffers to the line */

union tutti_packet buffers[FW_BUFFERS][FW_BUFFER_PACKETS] __attribute__((aligned(64)));
static struct queue *owner[FW_BUFFERS]; /* NULL: the buffer is free */
static unsigned next_in_line;           /* the next buffer goes to the first queue in line from this number on */
static unsigned passed_asid;            /* the client that was passed over last because it has its share, or 0 */
static struct queue_set passed;         /* queues in line that are known to be of this client */
static bool all_passed;                 /* every queue in line is of this client */
static uint64_t line_due;               /* when to call buffer_run() */

void buffer_init(void)
{
	unsigned i;

	for (i = 0; i < FW_BUFFERS; i++)
		owner[i] = NULL;
	next_in_line = 0;
	words_clear(&passed, FW_QUEUE_WORDS);
	passed_asid = 0;
	all_passed = false;
	line_due = NEVER;
}

static void give(unsigned i, struct queue *queue)
{
	owner[i] = queue;
	queue->buffer = (uint8_t)(i + 1);
}

static unsigned owner_asid(unsigned i)
{
	return owner[i] ? queue_asid(owner[i]) : 0;
}

/* Does client @asid have all buffers but one? Then that one is reserved for other clients. */
static bool has_its_share(unsigned asid)
{
	unsigned i, n = 0;

	if (!queue_table.shared || (owner_asid(0) != asid && owner_asid(1) != asid))
		return false; /* at most one of the first two would be another's */
	for (i = 0; i < FW_BUFFERS; i++)
		n += owner_asid(i) == asid;
	return n >= FW_BUFFERS - 1;
}

/* Return: the client that has its share, or 0 if no client has */
static unsigned with_share(void)
{
	unsigned asid = owner_asid(0);

	if (!asid || asid != owner_asid(1))
		asid = owner_asid(2); /* if one of the first two is not that client's, all others are */
	return asid && has_its_share(asid) ? asid : 0;
}

/*
 * Find the first queue in line that is not of client @asid, from number @from on and then from the lowest number on. The
 * queues that are passed over are remembered, so that each is looked at only once.
 */
static struct queue *first_in_line(unsigned from, unsigned asid)
{
	const struct queue_set *line = &queue_table.waiting[WAIT_BUFFER - WAIT_SLOT];
	unsigned n, id, w = from / 32;
	uint32_t mask = line->word[w] & ~0u << from % 32;

	if (asid != passed_asid) {
		words_clear(&passed, FW_QUEUE_WORDS);
		passed_asid = asid;
		all_passed = false;
	}
	if (all_passed)
		return NULL;
	for (n = 0; n <= FW_QUEUE_WORDS; n++) {
		for (mask &= ~passed.word[w]; mask; mask &= mask - 1) {
			id = 32 * w + lowest_bit(mask);
			if (queue_asid(queue_at(id)) != asid)
				return queue_at(id);
			queue_set_add(&passed, id);
		}
		w = (w + 1) % FW_QUEUE_WORDS;
		mask = line->word[w];
	}
	all_passed = asid;
	return NULL;
}

/* Remove from the line the queue that gets the next buffer. Return: NULL if no queue in line may have it */
static struct queue *next_of_line(void)
{
	struct queue_set *line = &queue_table.waiting[WAIT_BUFFER - WAIT_SLOT];
	unsigned asid = with_share();
	struct queue *queue;

	while ((queue = first_in_line(next_in_line, asid))) {
		queue_set_remove(line, queue_id(queue));
		if (queue->wait == WAIT_BUFFER) /* otherwise it runs already, for another reason */
			return queue;
	}
	if (!asid)
		queue_table.waiters[WAIT_BUFFER] = 0;
	return NULL;
}

void buffer_drop(struct queue *queue)
{
	unsigned i = queue->buffer;

	queue->packet = queue->end = NULL;
	if (!i--)
		return;
	queue->buffer = 0;
	owner[i] = NULL;
	if (!queue_table.waiters[WAIT_BUFFER])
		return;
	queue = next_of_line();
	if (!queue)
		return;
	next_in_line = (queue_id(queue) + 1) % TUTTI_MAX_QUEUES;
	give(i, queue);
	queue->wait = WAIT_NONE;
	wait_ready(queue);
}

/*
 * Does the queue wait for something that may take long? A kernel descriptor does not: it arrives as fast as packets do. If
 * the queue lost its packets meanwhile, another queue could replace the descriptor in the cache before they were fetched
 * again, and then lose its own in the same way, so that both would fetch for ever.
 */
static bool waits(const struct queue *queue)
{
	return !queue->fetching && queue->wait != WAIT_NONE && queue->wait != WAIT_KERNEL &&
	       !queue_set_has(&queue_table.ready, queue_id(queue));
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
	bool share = has_its_share(queue_asid(queue));
	struct queue *other;

	for (n = 0; n < FW_BUFFERS; n++) {
		i = (next + n) % FW_BUFFERS;
		other = owner[i];
		if (share && owner_asid(i) != queue_asid(queue))
			continue;
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
	queue_set_remove(&passed, queue_id(queue)); /* an earlier queue of this number may have been another client's */
	all_passed = all_passed && queue_asid(queue) == passed_asid;
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
