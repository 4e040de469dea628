/* SPDX-License-Identifier: MIT */
/* The inline submit path: several producers against a consumer thread that plays the card (PKT-01, REL-07,
 * SYS-40). */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tutti.h"

#define PACKETS	  64
#define EACH	  100000
#define PRODUCERS 3

static union tutti_packet ring[PACKETS] __attribute__((aligned(64)));
static uint64_t write_index, read_index, doorbell;
static struct tutti_queue queue;
static uint64_t next_of[PRODUCERS];
static unsigned wrong;

/* The consumer thread plays the slow paths of the library. */
static int wait_room(uint64_t last)
{
	while (last - tutti_load_acquire(&read_index) > queue.mask)
		sched_yield();
	if (!queue.multi)
		queue.room = tutti_load_relaxed(&read_index) + PACKETS;
	return 0;
}

static int reserve(uint32_t count, uint64_t *index)
{
	/* tutti_queue_reserve() without its slow path: same fast path, own waiting */
	if (queue.multi)
		*index = __atomic_fetch_add(queue.write_index, count, __ATOMIC_RELAXED);
	else
		tutti_store_relaxed(queue.write_index, (*index = *queue.write_index) + count);
	return wait_room(*index + count - 1);
}

static void *consume(void *total)
{
	uint64_t n = *(uint64_t *)total;

	for (uint64_t i = 0; i < n; i++) {
		union tutti_packet *slot = &ring[i & queue.mask], copy;

		while ((tutti_load_acquire(&slot->word[0]) & 0xff) <= TUTTI_PACKET_INVALID)
			sched_yield();
		memcpy(&copy, slot, sizeof(copy));
		/* every body is whole, and each producer's packets come in its order */
		for (unsigned w = 4; w < 16; w++)
			wrong += copy.word[w] != copy.word[3];
		if (copy.word[2] < PRODUCERS)
			wrong += copy.word[3] != (uint32_t)next_of[copy.word[2]]++;
		else
			wrong++;
		tutti_store_release(&slot->word[0], TUTTI_PACKET_INVALID);
		tutti_store_release(&read_index, i + 1);
	}
	return NULL;
}

static void *produce(void *number)
{
	for (uint32_t i = 0; i < EACH;) {
		uint32_t batch = 1 + i % 3;
		uint64_t index;

		if (batch > EACH - i)
			batch = EACH - i;
		reserve(batch, &index);
		for (uint32_t k = 0; k < batch; k++, i++) {
			union tutti_packet *slot = tutti_queue_slot(&queue, index + k);

			slot->word[2] = (uint32_t)(uintptr_t)number;
			for (unsigned w = 3; w < 16; w++)
				slot->word[w] = i;
			tutti_queue_publish(&queue, index + k, TUTTI_PACKET_KERNEL_DISPATCH);
		}
		tutti_queue_ring(&queue, index + batch - 1);
	}
	return NULL;
}

static void run(unsigned producers)
{
	uint64_t total = (uint64_t)producers * EACH;
	pthread_t consumer, producer[PRODUCERS];

	memset(next_of, 0, sizeof(next_of));
	write_index = read_index = wrong = 0;
	for (unsigned i = 0; i < PACKETS; i++)
		ring[i].word[0] = TUTTI_PACKET_INVALID;
	queue = (struct tutti_queue){.ring = ring,
				     .mask = PACKETS - 1,
				     .write_index = &write_index,
				     .read_index = &read_index,
				     .doorbell = &doorbell,
				     .room = PACKETS,
				     .multi = producers > 1};
	pthread_create(&consumer, NULL, consume, &total);
	for (unsigned i = 0; i < producers; i++)
		pthread_create(&producer[i], NULL, produce, (void *)(uintptr_t)i);
	for (unsigned i = 0; i < producers; i++)
		pthread_join(producer[i], NULL);
	pthread_join(consumer, NULL);
	assert_int_equal(wrong, 0);
	assert_int_equal(read_index, total);
	assert_int_equal(write_index, total);
	for (unsigned i = 0; i < producers; i++)
		assert_int_equal(next_of[i], EACH);
}

static void one_producer(void **state)
{
	run(1);
}

static void several_producers(void **state)
{
	run(PRODUCERS);
}

static void reserves_until_full(void **state)
{
	uint64_t index;

	for (int multi = 0; multi < 2; multi++) {
		write_index = read_index = 0;
		queue.multi = multi;
		queue.room = PACKETS;
		for (unsigned i = 0; i < PACKETS / 2; i++) {
			assert_int_equal(tutti_queue_reserve(&queue, 2, &index), 0);
			assert_int_equal(index, 2 * i);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_producer),
	    cmocka_unit_test(several_producers),
	    cmocka_unit_test(reserves_until_full),
	};

	return cmocka_run_group_tests_name("PKT-01 submit path", tests, NULL, NULL);
}
