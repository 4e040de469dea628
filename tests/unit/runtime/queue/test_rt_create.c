/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Creating queues: which options are allowed, what the card is told, and waiting for room (PKT-01, SYS-24, SYS-41). */
#include "lock_check.h"
#include "rt_rig.h"

static struct tutti_queue *queue;

static int create(struct tutti_queue_options options)
{
	return tutti_queue_create(device, &options, &queue);
}

static const struct transport_queue *told(void)
{
	return &fake.queue[queue->id];
}

static void destroy(void)
{
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* The host reads it all the time, and would have to do so across the bus. */
static void assert_in_host_memory(const void *address)
{
	enum tutti_memory pool = TUTTI_MEMORY_CARD;

	assert_int_equal(tutti_memory_info(device, address, NULL, NULL, &pool), 0);
	assert_int_equal(pool, TUTTI_MEMORY_SYSTEM);
}

/* The size of a ring is a power of two between the card's limits. Smaller ones are rounded up to the lower limit. */
static void ring_sizes(void **state)
{
	static const struct {
		uint32_t wanted, made;
	} sizes[] = {{0, 256}, {1, 64}, {2, 64}, {32, 64}, {64, 64}, {128, 128}, {2048, 2048}, {4096, 4096}};
	static const uint32_t wrong[] = {3, 5, 6, 63, 65, 96, 4095, 4097, 8192, 1u << 31, UINT32_MAX};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_int_equal(create((struct tutti_queue_options){.packets = sizes[i].wanted}), 0);
		assert_int_equal(queue->mask + 1, sizes[i].made);
		assert_int_equal(queue->room, sizes[i].made);
		assert_int_equal(1u << told()->size_log2, sizes[i].made);
		assert_ptr_equal(told()->ring, queue->ring);
		assert_ptr_equal(told()->read_index, queue->read_index);
		assert_in_host_memory(queue->read_index);
		assert_in_host_memory(queue->write_index);
		assert_in_host_memory(queue->ring);
		for (uint32_t k = 0; k < sizes[i].made; k++)
			assert_int_equal(queue->ring[k].word[0], TUTTI_PACKET_INVALID);
		destroy();
	}
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(create((struct tutti_queue_options){.packets = wrong[i]}), -EINVAL);
	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	assert_int_equal(queue->mask + 1, 256);
	destroy();
	assert_int_equal(tutti_queue_create(device, NULL, NULL), -EINVAL);
	assert_int_equal(tutti_queue_destroy(NULL), 0);
}

/* Nothing is written beyond the end of the ring. */
static void end_of_the_ring(void **state)
{
	static const size_t bytes[] = {4096, 4096, 64 * 256, 4096};
	void *block[4];

	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, bytes[i], &block[i]), 0);
	assert_ptr_equal((uint8_t *)block[2] + bytes[2], block[3]);
	memset(block[3], 0x77, 4096);
	assert_int_equal(tutti_memory_free(device, block[0]), 0); /* the indices of the queue are allocated here */
	assert_int_equal(tutti_memory_free(device, block[2]), 0);
	assert_int_equal(create((struct tutti_queue_options){0}), 0);
	assert_ptr_equal(queue->ring, block[2]);
	for (unsigned i = 0; i < 4096; i++)
		assert_int_equal(((uint8_t *)block[3])[i], 0x77);
	destroy();
}

/* An option of 0 means its default, and a queue without a time limit has none on the card. */
static void told_to_the_card(void **state)
{
	static const struct {
		uint32_t priority, told, timeout_ms, told_ms;
	} values[] = {{0, 5, 0, 10000}, {1, 1, 1, 1}, {10, 10, UINT32_MAX, 0}, {9, 9, UINT32_MAX - 1, UINT32_MAX - 1}};

	for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++) {
		assert_int_equal(create((struct tutti_queue_options){.priority = values[i].priority,
								     .timeout_ms = values[i].timeout_ms}),
				 0);
		assert_int_equal(told()->priority, values[i].told);
		assert_int_equal(told()->timeout_ms, values[i].told_ms);
		assert_int_equal(told()->flags, 0);
		assert_int_equal(told()->rsb, 0);
		destroy();
	}
	assert_int_equal(create((struct tutti_queue_options){.priority = 11}), -EINVAL);
	assert_int_equal(create((struct tutti_queue_options){.flags = TUTTI_QUEUE_FLAGS + 1}), -EINVAL);
	assert_int_equal(create((struct tutti_queue_options){.ring = TUTTI_MEMORY_CARD}), -ENOTSUP);
	assert_int_equal(create((struct tutti_queue_options){.flags = TUTTI_QUEUE_PROFILE}), 0);
	assert_int_equal(told()->flags, TUTTI_QUEUE_PROFILE);
	destroy();
}

/* Only extended queues may have reference and condensed packets. */
static void extended_only(void **state)
{
	static const uint32_t flags[] = {TUTTI_QUEUE_OVERLAP, TUTTI_QUEUE_TABLE_DIFFS, TUTTI_QUEUE_RSB};
	struct tutti_rsb_object *rsb;

	assert_int_equal(tutti_rsb_create(device, false, &rsb), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(create((struct tutti_queue_options){.flags = flags[i]}), -EINVAL);
		assert_int_equal(create((struct tutti_queue_options){.flags = flags[i] | TUTTI_QUEUE_EXTENDED}), 0);
		assert_int_equal(told()->flags, flags[i] | TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		assert_int_equal(told()->rsb, 1);
		destroy();
	}
	assert_int_equal(create((struct tutti_queue_options){.rsb = rsb}), -EINVAL);
	assert_int_equal(create((struct tutti_queue_options){.rsb = rsb, .flags = TUTTI_QUEUE_EXTENDED}), 0);
	assert_int_equal(told()->rsb, rsb->id);
	assert_ptr_equal(tutti_queue_rsb(queue), rsb);
	assert_ptr_equal(tutti_queue_device(queue), device);
	destroy();
	assert_null(tutti_queue_rsb(queue));
	assert_null(tutti_queue_device(queue));
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
	assert_int_equal(create((struct tutti_queue_options){.rsb = rsb, .flags = TUTTI_QUEUE_EXTENDED}), -EINVAL);
}

/* A thread that reports errors is started only if there is a callback. Invalid options are refused with one as well. */
static void thread_for_errors(void **state)
{
	assert_int_equal(create((struct tutti_queue_options){.error = on_error, .priority = 11}), -EINVAL);
	assert_int_equal(create((struct tutti_queue_options){.packets = 64}), 0);
	assert_null(device->events);
	destroy();
	assert_int_equal(create((struct tutti_queue_options){.error = on_error}), 0);
	assert_non_null(device->events);
	destroy();
}

/* Each queue has its own doorbell. Whether the card sleeps matters only if doorbells do not wake it. */
static void doorbells(void **state)
{
	struct tutti_queue *all[8];

	memset(bar + 0x8000, 0x11, 0x8000);
	for (unsigned i = 0; i < 8; i++) {
		if (i == 4)
			device->known.features |= TUTTI_FEATURE_DOORBELL_WAKES;
		assert_int_equal(create((struct tutti_queue_options){.packets = 64}), 0);
		all[i] = queue;
		assert_int_equal(queue->id, i);
		assert_ptr_equal(queue->doorbell, bar + 0x8000 + i * 4096u);
		assert_true(*queue->doorbell == TUTTI_DOORBELL_EMPTY);
		assert_ptr_equal(queue->asleep, i < 4 ? &device->status->asleep : NULL);
	}
	assert_int_equal(create((struct tutti_queue_options){.packets = 64}), -ENOSPC);
	queue = all[3]; /* an inactive queue rings no doorbell any more */
	assert_int_equal(tutti_queue_inactivate(queue), 0);
	assert_ptr_not_equal(queue->doorbell, bar + 0x8000 + 3 * 4096u);
	assert_null(queue->asleep);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(tutti_queue_destroy(all[i]), 0);
	assert_int_equal(create((struct tutti_queue_options){.packets = 64}), 0);
	assert_int_equal(queue->id, 0);
	destroy();
}

static int makes_none(struct tutti_device *device, const struct transport_queue *queue)
{
	return -EEXIST;
}

static uint64_t memory_in_use(void)
{
	struct tutti_pool pool;

	assert_int_equal(tutti_memory_pool(device, TUTTI_MEMORY_SYSTEM, &pool), 0);
	return pool.used;
}

/* A queue that the card does not make leaves nothing behind: no number is used up, and no error can reach it. */
static void refused_by_the_card(void **state)
{
	uint64_t used = memory_in_use();

	transport.queue_create = makes_none;
	for (unsigned i = 0; i < 9; i++) {
		assert_int_equal(create((struct tutti_queue_options){.packets = 64}), -EEXIST);
		assert_null(device->queue_error[0]);
		assert_true(memory_in_use() == used);
	}
	transport.queue_create = card_queue_create;
	assert_int_equal(create((struct tutti_queue_options){.packets = 64}), 0);
	assert_int_equal(queue->id, 0);
	destroy();
	assert_true(memory_in_use() == used);
}

static int refuses_to_go(struct tutti_device *device, unsigned queue)
{
	return -ETIMEDOUT;
}

/* Memory of an inactive queue that the card may still use is not given to others when the queue is destroyed. */
static void inactive_but_not_gone(void **state)
{
	assert_int_equal(create((struct tutti_queue_options){.packets = 64}), 0);
	transport.queue_destroy = refuses_to_go;
	assert_int_equal(tutti_queue_inactivate(queue), -ETIMEDOUT);
	transport.queue_destroy = card_queue_destroy;
	assert_int_equal(tutti_queue_inactivate(queue), 0);
	destroy();
	assert_true(fake.made[0]);
	assert_int_equal(create((struct tutti_queue_options){.packets = 64}), 0);
	assert_int_equal(queue->id, 1);
	assert_ptr_not_equal(queue->ring, fake.queue[0].ring);
	destroy();
	fake.made[0] = false;
}

static unsigned buffers;

static int one_buffer_more(struct tutti_device *device, unsigned rsb, bool in_memory)
{
	buffers++;
	return 0;
}

static int one_buffer_less(struct tutti_device *device, unsigned rsb)
{
	buffers--;
	return 0;
}

#define PAGES (POOL / 4096)

/* If there is no memory for a part of a queue, creating it fails, and what has been allocated is freed. */
static void no_room(void **state)
{
	static void *page[PAGES + 1];
	unsigned pages = 0, spare;
	int error;

	transport.rsb_create = one_buffer_more;
	transport.rsb_destroy = one_buffer_less;
	while (!tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 4096, &page[pages]))
		pages++;
	assert_true(pages > 8);
	for (spare = 0; spare < 8; spare++) {
		error = create((struct tutti_queue_options){.packets = 64, .flags = TUTTI_QUEUE_EXTENDED});
		if (!error)
			break;
		assert_int_equal(error, -ENOMEM);
		assert_int_equal(buffers, 0);
		for (unsigned i = 0; i < spare; i++)
			assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 4096, &page[pages + i]), 0);
		pages += spare;
		for (unsigned i = 0; i <= spare; i++)
			assert_int_equal(tutti_memory_free(device, page[--pages]), 0);
	}
	assert_in_range(spare, 2, 4); /* its indices, its ring, and the signal for its copies */
	assert_int_equal(buffers, 1);
	destroy();
	assert_int_equal(buffers, 0);
	transport.rsb_create = card_rsb_create;
	transport.rsb_destroy = card_rsb_destroy;
}

static unsigned slept;
static uint64_t waits_for;

/* The card takes one packet at a time, and only packets for which the doorbell has been rung. */
static void take_one(struct tutti_device *device, uint64_t seen, uint64_t deadline)
{
	uint64_t *read = (uint64_t *)queue->read_index;

	assert_int_equal(*queue->doorbell, waits_for);
	++*read;
	slept++;
}

static void fill(void)
{
	struct tutti_launch launch = a_launch(0, 0, NULL);

	while (*queue->write_index - *queue->read_index <= queue->mask)
		assert_int_equal(tutti_dispatch(queue, &launch), 0);
}

/* A reservation waits until the ring has room for exactly that many packets, and assumes no more room than there is. */
static void waits_for_room(void **state)
{
	static const uint32_t counts[] = {1, 2, 63, 64};
	uint64_t index;

	fake.deaf = true;
	transport.sleep = take_one;
	for (unsigned i = 0; i < 8; i++) {
		uint32_t count = counts[i / 2];

		assert_int_equal(create((struct tutti_queue_options){.packets = 64, .multi = i & 1}), 0);
		fill();
		*queue->doorbell = 7;
		waits_for = 63;
		slept = 0;
		assert_int_equal(tutti_queue_reserve(queue, count, &index), 0);
		assert_int_equal(index, 64);
		assert_int_equal(slept, count);
		assert_int_equal(*queue->write_index, 64 + count);
		if (!queue->multi)
			assert_int_equal(queue->room, 64 + count);
		waits_for += count; /* the ring is full again, so the next one waits for further packets */
		assert_int_equal(tutti_queue_reserve(queue, 1, &index), 0);
		assert_int_equal(index, 64 + count);
		assert_int_equal(slept, count + 1);
		destroy();
	}
	transport.sleep = sleep_card;
}

/* A reservation fails if the queue has stopped or the card has died, and what it reserved is given back. */
static void no_room_for_ever(void **state)
{
	struct tutti_fault fault = {.code = TUTTI_ERROR_PACKET, .packet = UINT64_MAX / 2};
	uint64_t index;

	fake.deaf = true;
	for (unsigned dead = 0; dead < 2; dead++) {
		for (unsigned multi = 0; multi < 2; multi++) {
			device->dead = device->said_dead = false;
			device->status->state = TUTTI_STATE_RUNNING;
			assert_int_equal(create((struct tutti_queue_options){.packets = 64, .multi = multi}), 0);
			fill();
			fault.queue = (uint16_t)queue->id;
			if (dead)
				device->status->state = TUTTI_STATE_CRASHED;
			else
				queue_error_take(device, &fault);
			for (uint32_t count = 1; count <= 64; count += 21) {
				assert_int_equal(tutti_queue_reserve(queue, count, &index), -EIO);
				assert_int_equal(*queue->write_index, 64);
			}
			assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), -EIO);
			assert_int_equal(tutti_queue_destroy(queue), 0);
		}
	}
}

/* A wait for all packets ends with the last one or at the caller's time limit, and at once if the queue is empty. */
static void drains(void **state)
{
	unsigned kicks;

	fake.deaf = true;
	assert_int_equal(create((struct tutti_queue_options){.packets = 64}), 0);
	assert_int_equal(tutti_queue_drain(queue, 0), 0);
	fill();
	assert_int_equal(tutti_queue_drain(queue, 0), -ETIMEDOUT);
	assert_int_equal(tutti_queue_drain(queue, 1000), -ETIMEDOUT);
	*(uint64_t *)queue->read_index = 63;
	assert_int_equal(tutti_queue_drain(queue, 0), -ETIMEDOUT);
	transport.sleep = take_one;
	waits_for = 63;
	slept = 0;
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(slept, 1);
	transport.sleep = sleep_card;
	kicks = fake.kicks;
	tutti_queue_kick(queue);
	assert_int_equal(fake.kicks, kicks + 1);
	destroy();
	tutti_queue_kick(queue);
	assert_int_equal(fake.kicks, kicks + 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    T(ring_sizes), T(end_of_the_ring),	     T(told_to_the_card), T(extended_only),  T(thread_for_errors),
	    T(doorbells),  T(refused_by_the_card),   T(inactive_but_not_gone), T(no_room),	  T(waits_for_room), T(no_room_for_ever),
	    T(drains)};

	return cmocka_run_group_tests_name("PKT-01, SYS-24, SYS-41 queues and their room", tests, NULL, NULL);
}
