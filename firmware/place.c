// SPDX-License-Identifier: MIT
#include "place.h"

#include "cga.h"
#include "choice.h"
#include "command.h"
#include "counter.h"
#include "queue.h"

#define PATIENCE 64u

struct place_state place_state HOT_DATA;

void place_init(void)
{
	place_state = (struct place_state){ .message_words = 1 + LAKE_MESSAGE(fw.words) };
}

/* Segments that do not fit one record: cut them into several, each with its own first word. */
static COLD uint32_t *split(uint32_t *p, uint32_t *end, unsigned slot)
{
	uint32_t *from = p + 1, *to, segments[LAKE_MESSAGE(LAKE_WORDS)], n = (uint32_t)(end - from), at = 0, used;

	words_copy(segments, from, n);
	to = p;
	while (at < n) {
		used = 1;
		while (at < n && used + 1 + (segments[at] >> 24) <= COMMAND_RECORD) {
			words_copy(to + used, segments + at, 1 + (segments[at] >> 24));
			used += 1 + (segments[at] >> 24);
			at += 1 + (segments[at] >> 24);
		}
		*to = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, used, slot);
		to += used;
	}
	return to;
}

static inline uint32_t *finish(uint32_t *p, uint32_t *end, unsigned slot)
{
	uint32_t words = (uint32_t)(end - p);

	if (unlikely(words > COMMAND_RECORD))
		return split(p, end, slot);
	*p = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, words, slot);
	return end;
}

static COLD uint32_t pour_other(struct task *task, uint32_t *p, uint32_t **end)
{
	struct shape *shape = task->shape;
	bool alone = shape_settled(shape);
	struct lake *lake = alone ? &shape->lake : shape_mixed(shape);
	uint32_t left;

	if (place_state.round_robin)
		left = lake_pour_round(lake, task->unissued, &place_state.round_next, p + 1, end);
	else if (choice.policy)
		left = choice_pour(shape, lake, task->unissued, p + 1, end);
	else
		left = lake_pour(lake, task->unissued, p + 1, end);
	if (!alone)
		shape_placed(shape, p + 1, *end);
	return left;
}

/* Place what fits. Return: CTAs left. */
static HOT uint32_t place(struct task *task)
{
	struct shape *shape = task->shape;
	uint32_t *p = command_begin(place_state.message_words), *end;
	uint32_t left, placed;

	if (unlikely(shapes.special) && task->cga)
		return cga_place(task);
	if (likely(shape_alone(shape) && !place_state.round_robin))
		left = lake_pour(&shape->lake, task->unissued, p + 1, &end);
	else
		left = pour_other(task, p, &end);
	placed = task->unissued - left;
	if (!placed)
		return left;
	command_end(finish(p, end, task->slot));
	task->unissued = left;
	task->resident += placed;
	shape->residents += placed;
	shapes.residents += placed;
	counters.ctas_issued += placed;
	counters.placements++;
	return left;
}

/* Behind all others of its priority. */
static COLD void insert(struct task *task)
{
	struct task **at = &place_state.hungry;

	while (*at && (*at)->queue->priority <= task->queue->priority)
		at = &(*at)->next;
	task->next = *at;
	*at = task;
}

static COLD void place_later(struct task *task)
{
	task->passed = 0;
	insert(task);
}

HOT void place_task(struct task *task)
{
	if (unlikely(place_state.drain) || unlikely(place(task)))
		place_later(task);
}

/*
 * Tasks share: who got something and wants more goes behind the others of its
 * priority. Who found no room while others got some of it (a CTA of its shape is larger
 * than what one end of a CTA leaves) is passed over PATIENCE times; then nobody gets
 * anything until it does.
 */
void place_hungry(void)
{
	struct task **at = &place_state.hungry, *task, *again = NULL;
	uint32_t before;

	place_state.drain = false;
	while ((task = *at)) {
		if (task->shape->lake.top == task->shape->lake.row && !task->cga) {
			at = &task->next;
			continue;
		}
		if (unlikely(!command_room(place_state.message_words))) {
			place_state.blocked = true;
			attention.settle |= ATTEND_ROOM;
			break;
		}
		before = task->unissued;
		if (!place(task)) {
			*at = task->next;
		} else if (task->unissued != before) {
			*at = task->next;
			task->passed = 0;
			task->next = again;
			again = task;
		} else if (task->cga) {
			cga_passed(task);
			at = &task->next;
		} else if (++task->passed > PATIENCE) {
			place_state.drain = true;
			break;
		} else {
			at = &task->next;
		}
	}
	while ((task = again)) {
		again = task->next;
		insert(task);
	}
}

void place_remove(struct task *task)
{
	struct task **at;

	for (at = &place_state.hungry; *at; at = &(*at)->next)
		if (*at == task) {
			*at = task->next;
			place_state.drain = false;
			return;
		}
}
