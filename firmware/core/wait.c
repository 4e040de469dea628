// SPDX-License-Identifier: MIT
#include "core/wait.h"

#include "core/card_memory.h"

_Static_assert((TUTTI_MAX_QUEUES - FW_QUEUES) * sizeof(struct queue) <= CARD_QUEUES_BYTES,
	       "queues beyond those in local memory lie in card memory");

COLD struct queue *queue_far(unsigned id)
{
	return (struct queue *)card_memory(CARD_QUEUES) + (id - FW_QUEUES);
}

/* Find the first word of @set, @w, with a queue of number @from or more, or the first of all. Return: these queues in it */
static inline uint32_t bits_from(const struct queue_set *set, uint32_t words, unsigned from, unsigned *w)
{
	uint32_t mask, behind;

	*w = from / 32;
	mask = set->word[*w] & ~0u << from % 32;
	if (!mask) {
		behind = words & ~1u << *w;
		*w = lowest_bit(behind ? behind : words);
		mask = set->word[*w];
	}
	return mask;
}

unsigned queue_set_next(const struct queue_set *set, uint32_t words, unsigned from)
{
	unsigned w;
	uint32_t mask = bits_from(set, words, from, &w);

	return 32 * w + lowest_bit(mask);
}

struct queue *queue_set_take(struct queue_set *set, uint32_t *words, unsigned from)
{
	unsigned w;
	uint32_t mask = single_bit(bits_from(set, *words, from, &w));

	set->word[w] ^= mask;
	if (!set->word[w])
		*words ^= 1u << w;
	return queue_at(32 * w + bit_number(mask));
}

void wait_ready(struct queue *queue)
{
	unsigned id = queue_id(queue);

	queue_set_add(&queue_table.ready, id);
	queue_table.any_ready |= 1u << (id / 32);
	attention.settle |= ATTEND_READY;
}

int wait_join(struct queue *queue, enum queue_wait wait)
{
	queue->wait = (uint8_t)wait;
	queue_set_add(&queue_table.waiting[wait - WAIT_SLOT], queue_id(queue));
	queue_table.waiters[wait]++;
	if (wait == WAIT_ROOM)
		attention.settle |= ATTEND_ROOM;
	if (wait == WAIT_SLOT || wait == WAIT_SHAPE)
		place_state.detours |= DETOUR_WAITERS;
	return PACKET_PARKED;
}

COLD void wait_wake_all(enum queue_wait wait)
{
	struct queue_set *set = &queue_table.waiting[wait - WAIT_SLOT];
	unsigned i;

	queue_table.waiters[wait] = 0;
	if (!(queue_table.waiters[WAIT_SLOT] | queue_table.waiters[WAIT_SHAPE]))
		place_state.detours &= ~DETOUR_WAITERS;
	attention.settle |= ATTEND_READY;
	for (i = 0; i < FW_QUEUE_WORDS; i++) {
		queue_table.ready.word[i] |= set->word[i];
		if (set->word[i])
			queue_table.any_ready |= 1u << i;
		set->word[i] = 0;
	}
}

void wait_ended(struct queue *queue, uint32_t packet)
{
	unsigned id = queue_id(queue);

	queue->flight -= QUEUE_ONE + queue_of_run(queue, packet);
	queue_set_add(&queue_table.ended, id);
	queue_table.any_ended |= 1u << (id / 32);
	attention.settle |= ATTEND_ENDED;
}

COLD void wait_forget(struct queue *queue)
{
	unsigned i;

	for (i = 0; i < QUEUE_WAITS - WAIT_SLOT; i++)
		queue_set_remove(&queue_table.waiting[i], queue_id(queue));
	queue->wait = WAIT_NONE;
}
