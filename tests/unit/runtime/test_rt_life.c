/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Queues that stop or are destroyed while something still refers to them, over a transport that plays the card. */
#include "device/print.h"
#include "lock_check.h"
#include "rt_rig.h"

/* A copy behind a kernel that fails is never made, and the next one is. */
static void copy_behind_a_fault(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	struct tutti_launch bad = a_launch(0, 0, NULL);
	uint8_t from[1000], to[1000] = {0}, other[1000] = {0};
	tutti_signal_t first = queue_of(queue)->copy_signal;

	memset(from, 0x5a, sizeof(from));
	kernel[0].object = BAD_KERNEL;
	assert_int_equal(tutti_dispatch(queue, &bad), 0);
	assert_int_equal(tutti_copy(queue, to, from, sizeof(to)), -EIO);
	assert_int_equal(tutti_queue_reset(queue), 0);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(to[0], 0);
	/* what the card may still do to the signal of the first copy does not end the second one */
	tutti_signal_store(first, 0);
	assert_int_equal(tutti_copy(queue, other, from, sizeof(other)), 0);
	assert_memory_equal(other, from, sizeof(other));
	assert_ptr_not_equal(queue_of(queue)->copy_signal, first);
	assert_int_equal(to[0], 0);
	tutti_queue_destroy(queue);
}

/* A copy that the card has taken before the queue stopped is left alone. */
static void copy_before_a_fault(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	uint8_t from[64] = {1}, to[64] = {0};

	fake.deaf = true;
	fake.pending = (struct tutti_fault){.code = TUTTI_ERROR_PACKET, .queue = (uint16_t)queue->id, .packet = 1};
	fake.fault = true;
	assert_int_equal(tutti_copy(queue, to, from, sizeof(to)), -EIO);
	assert_int_equal(queue->ring[0].word[0] & 0xff, TUTTI_PACKET_AGENT_DISPATCH);
	fake.deaf = false;
	tutti_queue_destroy(queue);
}

static struct tutti_queue *shared;
static bool over;

static void *one_at_a_time(void *context)
{
	struct tutti_launch launch = a_launch(1 + (unsigned)(uintptr_t)context, 1, NULL);
	uintptr_t sent = 0;

	while (!tutti_load_relaxed(&over) && sent < 20000)
		sent += !tutti_dispatch(shared, &launch);
	return (void *)sent;
}

/* A reservation that can never succeed leaves no gap between those of others. */
static void too_many_packets(void **state)
{
	pthread_t thread[2];
	uint64_t index, written;
	void *sent;

	shared = a_queue(0, true);
	over = false;
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, one_at_a_time, (void *)(uintptr_t)i);
	for (unsigned i = 0; i < 20000; i++)
		assert_int_equal(tutti_queue_reserve(shared, 65, &index), -EINVAL);
	tutti_store_relaxed(&over, true);
	written = 0;
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(thread[i], &sent);
		written += (uintptr_t)sent;
	}
	assert_int_equal(*shared->write_index, written);
	assert_int_equal(tutti_queue_drain(shared, 10000000000ull), 0);
	tutti_queue_destroy(shared);
	shared = a_queue(0, false);
	assert_int_equal(tutti_queue_reserve(shared, 65, &index), -EINVAL);
	assert_int_equal(*shared->write_index, 0);
	tutti_queue_destroy(shared);
}

/* Work queues and tasks may outlive the queue they were dispatched to. */
static void queue_goes_first(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false), *again;
	struct tutti_task_attributes attributes = {0};
	struct tutti_launch launch = a_launch(1, 1, NULL);
	struct tutti_work *work, *other;
	struct tutti_task *task, *plain;
	uint64_t item = 1;

	assert_int_equal(tutti_work_create(device, 2, sizeof(item), &work), 0);
	assert_int_equal(tutti_work_create(device, 2, sizeof(item), &other), 0);
	assert_int_equal(tutti_task_create(device, &attributes, &plain), 0);
	attributes.work = work;
	assert_int_equal(tutti_task_create(device, &attributes, &task), 0);
	assert_int_equal(tutti_task_dispatch(queue, &launch, task), 0);
	assert_int_equal(tutti_task_dispatch(queue, &launch, plain), 0);
	tutti_work_destroy(other); /* was never used with a queue */
	tutti_queue_destroy(queue);
	assert_int_equal(tutti_work_try_push(work, &item), 0);
	assert_int_equal(tutti_work_try_push(work, &item), 0);
	assert_int_equal(tutti_work_push(work, &item, TUTTI_WAIT_FOREVER), -EIO); /* nobody takes items */
	tutti_work_close(work);
	assert_int_equal(tutti_task_cancel(task), -ENOENT);
	/* used with another queue, which is destroyed after they have left it */
	again = a_queue(TUTTI_QUEUE_EXTENDED, false);
	assert_int_equal(tutti_task_dispatch(again, &launch, task), 0);
	assert_int_equal(tutti_task_dispatch(again, &launch, plain), 0);
	tutti_task_destroy(task);
	tutti_work_destroy(work);
	assert_null(queue_of(again)->users->next); /* the plain task alone is left */
	tutti_task_destroy(plain);
	assert_null(queue_of(again)->users);
	tutti_queue_destroy(again);
}

/* A queue whose creation was not answered in time may still be created: its number and its memory stay reserved. */
static void late_queue(void **state)
{
	struct tutti_queue_options options = {.packets = 64};
	struct tutti_queue *queue;

	fake.late = true;
	assert_int_equal(tutti_queue_create(device, &options, &queue), -ETIMEDOUT);
	fake.late = false;
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_int_equal(queue->id, 1);
	assert_ptr_not_equal(queue->ring, fake.queue[0].ring);
	tutti_queue_destroy(queue);
}

/* Rings that the host writes to through write-combining say so to the inline functions, not to the card. */
static void write_combined_ring(void **state)
{
	struct tutti_queue_options options = {.packets = 64, .ring = TUTTI_MEMORY_CARD};
	struct tutti_queue *queue;

	device->known.features |= TUTTI_FEATURE_CARD_RINGS;
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_int_equal(queue->flags & TUTTI_QUEUE_WRITE_COMBINED, 0);
	tutti_queue_destroy(queue);
	transport.write_combined = true;
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_true(queue->flags & TUTTI_QUEUE_WRITE_COMBINED);
	assert_int_equal(fake.queue[queue->id].flags, 0);
	tutti_queue_destroy(queue);
	options.ring = TUTTI_MEMORY_SYSTEM;
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_int_equal(queue->flags & TUTTI_QUEUE_WRITE_COMBINED, 0);
	tutti_queue_destroy(queue);
}

static char printed[64];

static void on_print(void *context, const char *text, size_t bytes)
{
	strncat(printed, text, bytes);
	tutti_device_flush_print(device);
	tutti_device_print_handler(device, on_print, context);
}

/* A print handler may call the library: it is not waited for, and nothing is printed twice. */
static void print_handler_prints(void **state)
{
	struct tutti_print_ring *ring;
	tutti_signal_t done;

	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*ring) + PRINT_BYTES, (void **)&ring), 0);
	assert_int_equal(print_init(device, ring), 0);
	tutti_device_print_handler(device, on_print, NULL);
	memcpy(ring + 1, "once", 4);
	ring->head = ring->ready = 4;
	printed[0] = 0;
	tutti_device_flush_print(device);
	assert_string_equal(printed, "once");
	memcpy((char *)(ring + 1) + 4, " more", 5);
	ring->head = ring->ready = 9;
	print_poll(device);
	assert_string_equal(printed, "once more");
	/* who waits sees what kernels have printed by then, also if there is nothing to wait for */
	assert_int_equal(tutti_signal_create(device, 0, &done), 0);
	memcpy((char *)(ring + 1) + 9, ".", 1);
	ring->head = ring->ready = 10;
	assert_int_equal(tutti_signal_wait(device, done, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), 0);
	assert_string_equal(printed, "once more.");
	assert_int_equal(tutti_signal_destroy(device, done), 0);
	print_fini(device);
	tutti_memory_free(device, ring);
}

static struct tutti_print_ring *late_ring;
static tutti_signal_t late_done;

static void prints_in_sleep(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (pthread_equal(pthread_self(), test_thread)) {
		memcpy(late_ring + 1, "late", 4);
		late_ring->head = late_ring->ready = 4;
	}
	sleep_card(of, seen, deadline);
}

static void ends_the_wait(void *context, const char *text, size_t bytes)
{
	assert_int_equal(bytes, 4);
	tutti_signal_store(late_done, 0);
}

/* While a thread waits, it passes on what kernels print, since they may wait for room in the print ring. */
static void printed_during_waits(void **state)
{
	size_t bytes = sizeof(*late_ring) + PRINT_BYTES;

	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, bytes, (void **)&late_ring), 0);
	assert_int_equal(print_init(device, late_ring), 0);
	tutti_device_print_handler(device, ends_the_wait, NULL);
	assert_int_equal(tutti_signal_create(device, 1, &late_done), 0);
	transport.sleep = prints_in_sleep;
	assert_int_equal(tutti_signal_wait(device, late_done, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), 0);
	transport.sleep = sleep_card;
	assert_int_equal(tutti_signal_destroy(device, late_done), 0);
	print_fini(device);
	tutti_memory_free(device, late_ring);
}

static void assert_clear(const void *memory, size_t bytes)
{
	const uint64_t *word = memory;

	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		if (word[i])
			fail_msg("word %zu of %zu bytes is %#llx", i, bytes, (unsigned long long)word[i]);
}

/* Card memory holds anything at first, and what was in it before when it is used again. */
static void memory_is_cleared(void **state)
{
	static const size_t sizes[] = {64, 2048, 4096, 40 * 4096, 2 << 20, 8 << 20};
	void *code;

	memset((uint8_t *)fake.pool + POOL, 0xa5, POOL);
	for (unsigned pool = TUTTI_MEMORY_SYSTEM; pool <= TUTTI_MEMORY_CARD; pool++) {
		for (unsigned round = 0; round < 3; round++) {
			void *block[sizeof(sizes) / sizeof(*sizes)];

			for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
				assert_int_equal(tutti_memory_alloc(device, pool, sizes[i], &block[i]), 0);
				assert_clear(block[i], sizes[i]);
				memset(block[i], 0x5a, sizes[i]);
			}
			for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
				assert_int_equal(tutti_memory_free(device, block[i]), 0);
		}
	}
	for (unsigned round = 0; round < 2; round++) { /* variables of kernels rely on it */
		code = memory_code_alloc(device, 3 * 4096);
		assert_non_null(code);
		assert_clear(code, 3 * 4096);
		memset(code, 0x5a, 3 * 4096);
		memory_code_free(device, code);
	}
}

/* Memory that madvise() does not clear, as the driver's buffers are, is cleared all the same. */
static void shared_memory_is_cleared(void **state)
{
	void *block;

	assert_ptr_equal(mmap(fake.pool, POOL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 fake.pool);
	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 4 << 20, &block), 0);
		assert_clear(block, 4 << 20);
		memset(block, 0x5a, 4 << 20);
		assert_int_equal(tutti_memory_free(device, block), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(copy_behind_a_fault), T(copy_before_a_fault), T(too_many_packets),     T(queue_goes_first),
	    T(late_queue),	    T(write_combined_ring), T(print_handler_prints),
	    T(printed_during_waits),
	    T(memory_is_cleared),   T(shared_memory_is_cleared),
	};

	return cmocka_run_group_tests_name("SYS-40, SYS-41, PKT-07 failures and lifetimes over a played card", tests, NULL,
					   NULL);
}
