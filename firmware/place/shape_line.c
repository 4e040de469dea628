// SPDX-License-Identifier: MIT
#include "place/shape_line.h"

#include "core/counters.h"
#include "core/wait.h"

#define LINE_LENGTH 6u /* further queues try to join the line each time they look for their shape again */

/** struct place_in_line - a queue, the kernel that it wants to launch, and the shape it needs for it. */
struct place_in_line {
	uint16_t queue;
	uint8_t kernel;            /* of a condensed packet */
	uint8_t waves;
	uint32_t packet;           /* index of its packet, low half */
	uint32_t registers, shared;
	uint32_t joined;           /* started() when the queue joined the line */
};

static struct {
	struct place_in_line place[LINE_LENGTH];
	uint32_t length;
	struct shape *closed;      /* the shape that is closed; may be NULL */
	uint32_t since;            /* started() when it was closed */
	uint32_t limit;            /* when this many kernels have started since then, another shape is closed instead */
	uint32_t next;             /* modulo the number of shapes, the one to be closed next */
} line;
bool shape_line_lifted;

/* The number of kernels that have ever started, of plain and condensed packets. */
static uint32_t started(void)
{
	return (uint32_t)(counters.dispatches + counters.kernels);
}

void shape_line_init(void)
{
	words_clear(&line, sizeof(line) / 4);
	shape_line_lifted = false;
}

/* ---- closed shapes ---- */

static void reopen(void)
{
	if (line.closed)
		line.closed->match = line.closed->waves;
	line.closed = NULL;
}

/* Close a shape, and open the one that was closed before. All shapes are closed in turn. */
static void close_one(void)
{
	struct shape *next = &shapes.shape[line.next % shapes.shapes];

	line.limit = line.closed ? 2 * line.limit : SHAPE_PATIENCE;
	reopen();
	next->match = 0;
	next->id = shape_new_id(); /* references hold the old one, so that their kernels look for the shape again */
	line.closed = next;
	line.next++;
	line.since = started();
}

/* ---- places ---- */

/*
 * Does the queue at @place still want to launch that kernel? If it has lost its fetch buffer, the program that owns the ring can
 * have put something else there, or nothing.
 */
static bool waits(const struct place_in_line *place)
{
	const struct queue *queue = queue_at(place->queue);

	return queue->state == QUEUE_RUNNING && (uint32_t)queue->head == place->packet && queue->run_kernel == place->kernel &&
	       queue->wait != WAIT_RING && queue->wait != WAIT_SIGNAL && queue->wait != WAIT_PROBE;
}

static bool has_lost_patience(const struct place_in_line *place)
{
	return started() - place->joined >= SHAPE_PATIENCE;
}

static void leave(unsigned i)
{
	for (line.length--; i < line.length; i++)
		line.place[i] = line.place[i + 1];
	if (!line.length)
		reopen();
}

/* Remove queues that do not wait any more from the line. */
static void settle(void)
{
	unsigned i;

	for (i = line.length; i--;)
		if (!waits(&line.place[i]))
			leave(i);
}

/* Return: the place of queue @id, or NULL */
static struct place_in_line *place_of(unsigned id)
{
	unsigned i;

	for (i = 0; i < line.length; i++)
		if (line.place[i].queue == id)
			return &line.place[i];
	return NULL;
}

/* Is there an entry after all? It may have been kept for the queue that was the first in line before @queue came. */
static bool need_not_wait(const struct queue *queue)
{
	return line.place[0].queue == queue_id(queue) && shape_left();
}

static bool goes_before(const struct queue *queue, const struct place_in_line *place)
{
	return queue->priority < queue_at(place->queue)->priority && !has_lost_patience(place);
}

/*
 * Put @queue into the line, behind others of its priority, of a higher one, and those that have lost their patience.
 * Return: its place, or NULL if the line is full
 */
static struct place_in_line *join(const struct queue *queue)
{
	unsigned i;

	for (i = line.length; i && goes_before(queue, &line.place[i - 1]); i--)
		if (i < LINE_LENGTH)
			line.place[i] = line.place[i - 1];
	if (i == LINE_LENGTH)
		return NULL;
	line.place[i] = (struct place_in_line){ .queue = (uint16_t)queue_id(queue), .kernel = queue->run_kernel,
						.packet = (uint32_t)queue->head, .joined = started() };
	line.length += line.length < LINE_LENGTH;
	return &line.place[i];
}

COLD int shape_line_wait(struct queue *queue, uint32_t registers, uint32_t shared, uint32_t waves)
{
	struct place_in_line *place;

	if (shape_line_lifted)
		return wait_park(queue, WAIT_SHAPE);
	settle();
	place = place_of(queue_id(queue));
	if (!place)
		place = join(queue);
	if (place) { /* even an old one, since the kernel's descriptor may have changed */
		place->registers = registers;
		place->shared = shared;
		place->waves = (uint8_t)waves;
	}
	if (line.closed ? started() - line.since >= line.limit : has_lost_patience(&line.place[0]))
		close_one();
	if (!need_not_wait(queue))
		return wait_park(queue, WAIT_SHAPE);
	queue->wait = WAIT_SHAPE;
	wait_ready(queue);
	return PACKET_PARKED;
}

COLD void shape_line_leave(const struct queue *queue)
{
	const struct place_in_line *place = place_of(queue_id(queue));

	if (!place)
		return;
	leave((unsigned)(place - line.place));
	wait_wake(WAIT_SHAPE);
}

/* ---- looking shapes up ---- */

static bool is_first(uint32_t registers, uint32_t shared, uint32_t waves)
{
	const struct place_in_line *first = &line.place[0];

	return first->registers == registers && first->shared == shared && first->waves == waves;
}

COLD bool shape_line_decides(uint32_t registers, uint32_t shared, uint32_t waves, struct shape **shape)
{
	struct shape *closed = line.closed;

	*shape = NULL;
	if (!line.length)
		return false;
	if (!shape_line_lifted) {
		settle();
		if (line.length && !is_first(registers, shared, waves))
			return true;
	}
	if (!closed || closed->registers != registers || closed->shared != shared || closed->waves != waves)
		return false;
	if (!shape_line_lifted)
		reopen(); /* the first in line wants this very shape */
	*shape = closed;
	return true;
}

COLD void shape_line_replaced(const struct shape *shape)
{
	if (line.closed == shape)
		line.closed = NULL;
}
