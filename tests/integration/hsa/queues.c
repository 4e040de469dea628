// SPDX-License-Identifier: MIT
/* PKT-01 .. PKT-06 and SYS-43: what an HSA program may do to a queue, in all the ways that programs do it. */
#include <pthread.h>
#include <unistd.h>

#include "hsa_test.h"

static hsa_executable_t executable;
static struct kernel empty, poke, count;

static int begin(void **state)
{
	int error = found_all(state);

	if (error)
		return error;
	executable = load_code("test");
	empty = kernel_of(executable, "empty");
	poke = kernel_of(executable, "poke");
	count = kernel_of(executable, "count");
	return 0;
}

static hsa_queue_t *new_queue(uint32_t size, hsa_queue_type32_t type)
{
	hsa_queue_t *queue = NULL;

	OK(hsa_queue_create(found.card, size, type, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
	assert_non_null(queue);
	return queue;
}

/* A new queue is as the specification says. */
static void a_new_queue_is_empty(void **state)
{
	hsa_queue_t *queue = new_queue(64, HSA_QUEUE_TYPE_MULTI), *other = new_queue(1, HSA_QUEUE_TYPE_SINGLE);
	const hsa_kernel_dispatch_packet_t *packet = queue->base_address;
	uint32_t least = 0;

	(void)state;
	OK(hsa_agent_get_info(found.card, HSA_AGENT_INFO_QUEUE_MIN_SIZE, &least));
	assert_int_equal(queue->size, 64);
	assert_int_equal(other->size, least);
	assert_int_equal(queue->type, HSA_QUEUE_TYPE_MULTI);
	assert_int_equal(queue->features & HSA_QUEUE_FEATURE_KERNEL_DISPATCH, HSA_QUEUE_FEATURE_KERNEL_DISPATCH);
	assert_true(queue->id != other->id && queue->doorbell_signal.handle && !((uintptr_t)packet % 64));
	for (int i = 0; i < 64; i++)
		assert_int_equal(packet[i].header & 0xff, HSA_PACKET_TYPE_INVALID);
	assert_int_equal(hsa_queue_load_read_index_relaxed(queue), 0);
	assert_int_equal(hsa_queue_load_write_index_scacquire(queue), 0);
	OK(hsa_queue_destroy(queue));
	OK(hsa_queue_destroy(other));
}

static void indexes_under_all_their_names(void **state)
{
	uint64_t (*const adds[])(const hsa_queue_t *, uint64_t) = {
		hsa_queue_add_write_index_relaxed, hsa_queue_add_write_index_acquire, hsa_queue_add_write_index_scacquire,
		hsa_queue_add_write_index_release, hsa_queue_add_write_index_screlease, hsa_queue_add_write_index_acq_rel,
		hsa_queue_add_write_index_scacq_screl};
	uint64_t (*const swaps[])(const hsa_queue_t *, uint64_t, uint64_t) = {
		hsa_queue_cas_write_index_relaxed, hsa_queue_cas_write_index_acquire, hsa_queue_cas_write_index_scacquire,
		hsa_queue_cas_write_index_release, hsa_queue_cas_write_index_screlease, hsa_queue_cas_write_index_acq_rel,
		hsa_queue_cas_write_index_scacq_screl};
	hsa_signal_t bell = new_signal(0);
	hsa_queue_t *queue = NULL;

	(void)state;
	OK(hsa_soft_queue_create(found.fine, 32, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH, bell, &queue));
	assert_true(queue->doorbell_signal.handle == bell.handle && queue->size == 32);
	for (uint64_t i = 0; i < 7; i++) {
		hsa_queue_store_write_index_release(queue, 10);
		assert_int_equal(adds[i](queue, 5), 10);
		assert_int_equal(swaps[i](queue, 14, 99), 15);
		assert_int_equal(swaps[i](queue, 15, 20 + i), 15);
		assert_int_equal(hsa_queue_load_write_index_acquire(queue), 20 + i);
	}
	hsa_queue_store_write_index_relaxed(queue, 1);
	hsa_queue_store_write_index_screlease(queue, 2);
	assert_int_equal(hsa_queue_load_write_index_relaxed(queue), 2);
	hsa_queue_store_read_index_relaxed(queue, 1);
	assert_int_equal(hsa_queue_load_read_index_acquire(queue), 1);
	hsa_queue_store_read_index_release(queue, 2);
	assert_int_equal(hsa_queue_load_read_index_scacquire(queue), 2);
	hsa_queue_store_read_index_screlease(queue, 3);
	assert_int_equal(hsa_queue_load_read_index_relaxed(queue), 3);
	OK(hsa_queue_destroy(queue));
	OK(hsa_signal_destroy(bell));
}

static void many_packets_through_a_small_ring(void **state)
{
	hsa_queue_t *queue = new_queue(4, HSA_QUEUE_TYPE_SINGLE);
	hsa_signal_t done = new_signal(500);
	uint64_t *words = fine_memory(500 * 8);
	struct word *args = fine_memory(500 * sizeof(*args));

	(void)state;
	for (int i = 0; i < 500; i++) {
		args[i] = (struct word){&words[i], 1000 + i};
		launch(queue, &poke, 1, 1, &args[i], done);
	}
	wait_zero(done);
	for (int i = 0; i < 500; i++)
		assert_int_equal(words[i], 1000 + i);
	while (hsa_queue_load_read_index_relaxed(queue) != 500)
		usleep(100);
	OK(hsa_queue_destroy(queue));
}

#define PRODUCERS 4
#define PACKETS	  100

struct producer {
	hsa_queue_t *queue;
	struct word args;
	hsa_signal_t done;
	unsigned number;
};

/* Half of the producers store 16 bits last, and wait now and then before they do, so that there are holes. */
static void launch_in_halves(const struct producer *producer, int i)
{
	hsa_kernel_dispatch_packet_t packet = dispatch_packet(&count, 1, 1, (void *)&producer->args, producer->done), *slot;
	uint64_t index = hsa_queue_add_write_index_scacq_screl(producer->queue, 1);

	slot = (hsa_kernel_dispatch_packet_t *)producer->queue->base_address + index % producer->queue->size;
	while (index - hsa_queue_load_read_index_scacquire(producer->queue) >= producer->queue->size)
		usleep(10);
	if (i % 16 == 3)
		usleep(300);
	memcpy((char *)slot + 2, (char *)&packet + 2, 62);
	__atomic_store_n(&slot->header, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, i & 1), __ATOMIC_RELEASE);
	hsa_signal_store_relaxed(producer->queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void *produce(void *context)
{
	struct producer *producer = context;
	unsigned number = __atomic_fetch_add(&producer->number, 1, __ATOMIC_RELAXED);

	for (int i = 0; i < PACKETS; i++)
		if (number & 1)
			launch_in_halves(producer, i);
		else
			launch(producer->queue, &count, 1, 1, &producer->args, producer->done);
	return NULL;
}

/* Their doorbells go backwards all the time; in the smallest ring each slot is used again and again. */
static void several_producers(void **state)
{
	static const uint32_t sizes[] = {1, 4, 32};
	pthread_t thread[PRODUCERS];

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		struct producer *producer = fine_memory(sizeof(*producer));

		*producer = (struct producer){new_queue(sizes[s], HSA_QUEUE_TYPE_MULTI), {fine_memory(8), 1},
					      new_signal(PRODUCERS * PACKETS), 0};
		for (int i = 0; i < PRODUCERS; i++)
			pthread_create(&thread[i], NULL, produce, producer);
		for (int i = 0; i < PRODUCERS; i++)
			pthread_join(thread[i], NULL);
		wait_zero(producer->done);
		assert_int_equal(*producer->args.word, PRODUCERS * PACKETS);
		OK(hsa_queue_destroy(producer->queue));
	}
}

/* Packets 3 and 2 are rung before 0 and 1 are there: nothing runs past the hole, and nothing is forgotten. */
static void doorbells_go_backwards(void **state)
{
	hsa_queue_t *queue = new_queue(16, HSA_QUEUE_TYPE_MULTI);
	hsa_signal_t done[4];
	uint64_t *words = fine_memory(4 * 8);
	struct word *args = fine_memory(4 * sizeof(*args));
	static const int order[4] = {3, 2, 1, 0};

	(void)state;
	assert_int_equal(hsa_queue_add_write_index_relaxed(queue, 4), 0);
	for (int i = 0; i < 4; i++) {
		int n = order[i];
		hsa_kernel_dispatch_packet_t packet;

		args[n] = (struct word){&words[n], 7};
		done[n] = new_signal(1);
		packet = dispatch_packet(&poke, 1, 1, &args[n], done[n]);
		put(queue, n, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0));
		hsa_signal_store_relaxed(queue->doorbell_signal, n);
		if (n) {
			usleep(2000);
			assert_int_equal(hsa_queue_load_read_index_relaxed(queue), 0);
			assert_int_equal(words[n], 0);
		}
	}
	for (int n = 0; n < 4; n++) {
		wait_zero(done[n]);
		assert_int_equal(words[n], 7);
	}
	OK(hsa_queue_destroy(queue));
}

/* Some programs store only 16 bits of the header, some clear the slot first, and some never write reserved0. */
static void careless_publication(void **state)
{
	hsa_queue_t *queue = new_queue(2, HSA_QUEUE_TYPE_SINGLE);
	hsa_signal_t done = new_signal(20);
	struct word *args = fine_memory(sizeof(*args));

	(void)state;
	*args = (struct word){fine_memory(8), 1};
	for (uint64_t i = 0; i < 20; i++) {
		hsa_kernel_dispatch_packet_t packet = dispatch_packet(&count, 1, 1, args, done);
		hsa_kernel_dispatch_packet_t *slot = (hsa_kernel_dispatch_packet_t *)queue->base_address + i % 2;

		hsa_queue_store_write_index_relaxed(queue, i + 1);
		while (hsa_queue_load_read_index_scacquire(queue) + 2 <= i)
			usleep(100);
		memset(slot, 0, sizeof(*slot)); /* for a moment a packet of type 0 */
		hsa_signal_store_relaxed(queue->doorbell_signal, (hsa_signal_value_t)i);
		usleep(200);
		packet.reserved0 = 0x8003; /* what another program may have left there */
		memcpy((char *)slot + 2, (char *)&packet + 2, 62);
		__atomic_store_n(&slot->header, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0), __ATOMIC_RELEASE);
		hsa_signal_store_relaxed(queue->doorbell_signal, (hsa_signal_value_t)i + 1); /* one too far */
	}
	wait_zero(done);
	assert_int_equal(*args->word, 20);
	OK(hsa_queue_destroy(queue));
}

/* AND waits for all of its signals, OR for one; a queue's barrier packet may wait for another queue. */
static void barriers_between_queues(void **state)
{
	hsa_queue_t *first = new_queue(16, HSA_QUEUE_TYPE_SINGLE), *second = new_queue(16, HSA_QUEUE_TYPE_SINGLE);
	hsa_signal_t a = new_signal(1), b = new_signal(1), all = new_signal(1), any = new_signal(1), done = new_signal(1);
	hsa_barrier_and_packet_t and_packet = {.dep_signal = {a, {0}, b}, .completion_signal = all};
	hsa_barrier_or_packet_t or_packet = {.dep_signal = {{0}, a, b}, .completion_signal = any};
	struct word *args = fine_memory(sizeof(*args));

	(void)state;
	*args = (struct word){fine_memory(8), 42};
	put(first, hsa_queue_add_write_index_relaxed(first, 1), &and_packet, HEADER(HSA_PACKET_TYPE_BARRIER_AND, 1));
	hsa_signal_store_relaxed(first->doorbell_signal, 0);
	launch(first, &poke, 1, 1, args, done);
	put(second, hsa_queue_add_write_index_relaxed(second, 1), &or_packet, HEADER(HSA_PACKET_TYPE_BARRIER_OR, 1));
	hsa_signal_store_relaxed(second->doorbell_signal, 0);
	usleep(2000);
	assert_int_equal(hsa_signal_load_relaxed(any), 1);
	hsa_signal_store_screlease(b, 0);
	wait_zero(any);
	usleep(2000);
	assert_int_equal(hsa_signal_load_relaxed(all), 1);
	assert_int_equal(*args->word, 0);
	launch(second, &empty, 1, 1, args, a);
	wait_zero(done);
	assert_int_equal(hsa_signal_load_relaxed(all), 0);
	assert_int_equal(*args->word, 42);
	OK(hsa_queue_destroy(first));
	OK(hsa_queue_destroy(second));
}

struct report {
	hsa_signal_t told;
	hsa_status_t status;
	hsa_queue_t *queue;
	int calls;
};

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	struct report *report = data;

	report->status = status;
	report->queue = queue;
	report->calls++;
	hsa_signal_store_screlease(report->told, 0);
}

static void stops_with(hsa_status_t status, const hsa_kernel_dispatch_packet_t *packet, uint16_t header)
{
	struct report report = {.told = new_signal(1)};
	hsa_queue_t *queue = NULL;

	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, on_error, &report, UINT32_MAX, UINT32_MAX, &queue));
	put(queue, hsa_queue_add_write_index_relaxed(queue, 1), packet, header);
	hsa_signal_store_relaxed(queue->doorbell_signal, 0);
	wait_zero(report.told);
	assert_int_equal(report.status, status);
	assert_ptr_equal(report.queue, queue);
	OK(hsa_queue_destroy(queue));
	assert_int_equal(report.calls, 1);
	OK(hsa_signal_destroy(report.told));
}

static void errors_stop_the_queue_and_are_told(void **state)
{
	struct kernel trap = kernel_of(executable, "trap");
	const hsa_kernel_dispatch_packet_t good = dispatch_packet(&empty, 1, 1, fine_memory(64), (hsa_signal_t){0});
	const uint16_t dispatch = HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0);
	hsa_kernel_dispatch_packet_t bad;

	(void)state;
	bad = good;
	bad.setup = 0;
	stops_with(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, &bad, dispatch);
	bad = good;
	bad.workgroup_size_x = 60000;
	bad.grid_size_x = 60000;
	stops_with(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, &bad, dispatch);
	bad = good;
	bad.group_segment_size = 1 << 30;
	stops_with(HSA_STATUS_ERROR_INVALID_ALLOCATION, &bad, dispatch);
	bad = good;
	bad.kernel_object = 0;
	stops_with(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, &bad, dispatch);
	stops_with(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, &good, HEADER(0x33, 0));
	bad = dispatch_packet(&trap, 1, 1, fine_memory(64), (hsa_signal_t){0});
	stops_with(HSA_STATUS_ERROR_EXCEPTION, &bad, dispatch);
}

static hsa_queue_t *destroyed_by_event;
static const struct report *told_before_event;
static int told_then;
static hsa_signal_t event_over;

static hsa_status_t on_event(const hsa_amd_event_t *event, void *data)
{
	hsa_amd_event_t *copy = data;

	*copy = *event;
	if (destroyed_by_event) {
		told_then = told_before_event->calls;
		OK(hsa_queue_destroy(destroyed_by_event));
		hsa_signal_store_screlease(event_over, 0);
	}
	return HSA_STATUS_SUCCESS;
}

static void a_memory_fault_is_a_system_event(void **state)
{
	static hsa_amd_event_t event;
	struct word *args = fine_memory(sizeof(*args));
	hsa_kernel_dispatch_packet_t packet = dispatch_packet(&poke, 1, 1, args, (hsa_signal_t){0});

	(void)state;
	event.event_type = -1;
	*args = (struct word){(uint64_t *)0x123000, 1};
	OK(hsa_amd_register_system_event_handler(on_event, &event));
	assert_int_equal(HSA_STATUS_ERROR, hsa_amd_register_system_event_handler(on_event, &event));
	stops_with((hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0));
	assert_int_equal(event.event_type, HSA_AMD_GPU_MEMORY_FAULT_EVENT);
	assert_int_equal(event.memory_fault.virtual_address, 0x123000);
	assert_true(event.memory_fault.agent.handle == found.card.handle);
	assert_int_equal(event.memory_fault.fault_reason_mask, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* It may destroy the queue, so it is called when the queue's own function has been, and not the other way round. */
static void a_system_event_may_destroy_the_queue(void **state)
{
	struct word *args = fine_memory(sizeof(*args));
	hsa_kernel_dispatch_packet_t packet = dispatch_packet(&poke, 1, 1, args, (hsa_signal_t){0});
	struct report report = {.told = new_signal(1)};
	hsa_queue_t *queue = NULL;

	(void)state;
	*args = (struct word){(uint64_t *)0x123000, 1};
	event_over = new_signal(1);
	told_before_event = &report;
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, on_error, &report, UINT32_MAX, UINT32_MAX, &queue));
	destroyed_by_event = queue;
	put(queue, hsa_queue_add_write_index_relaxed(queue, 1), &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0));
	hsa_signal_store_relaxed(queue->doorbell_signal, 0);
	wait_zero(event_over);
	destroyed_by_event = NULL;
	assert_int_equal(told_then, 1);
	assert_int_equal(report.calls, 1);
	OK(hsa_signal_destroy(report.told));
	OK(hsa_signal_destroy(event_over));
}

static void an_inactive_queue_ignores_packets(void **state)
{
	hsa_queue_t *queue = new_queue(16, HSA_QUEUE_TYPE_SINGLE);
	hsa_signal_t done = new_signal(2);
	struct word *args = fine_memory(sizeof(*args));

	(void)state;
	*args = (struct word){fine_memory(8), 1};
	launch(queue, &count, 1, 1, args, done);
	assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 1);
	OK(hsa_queue_inactivate(queue));
	assert_int_equal(launch(queue, &count, 1, 1, args, done), 1);
	usleep(5000);
	assert_int_equal(*args->word, 1);
	assert_int_equal(hsa_signal_load_relaxed(done), 1);
	OK(hsa_queue_inactivate(queue));
	OK(hsa_queue_destroy(queue));
	FAILS(INVALID_QUEUE, hsa_queue_inactivate(queue));
}

/* An agent that the program itself is: its packets go through a soft queue. */
static void *serve(void *context)
{
	hsa_queue_t *queue = context;
	hsa_agent_dispatch_packet_t *packet = queue->base_address;

	hsa_signal_wait_scacquire(queue->doorbell_signal, HSA_SIGNAL_CONDITION_GTE, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
	*(uint64_t *)packet->return_address = packet->arg[0] + packet->arg[1];
	packet->header = HSA_PACKET_TYPE_INVALID;
	hsa_queue_store_read_index_screlease(queue, 1);
	hsa_signal_subtract_screlease(packet->completion_signal, 1);
	return NULL;
}

static void a_soft_queue_is_served_by_the_program(void **state)
{
	hsa_signal_t bell = new_signal(-1), done = new_signal(1);
	hsa_queue_t *queue = NULL;
	uint64_t result = 0;
	hsa_agent_dispatch_packet_t packet = {
		.type = 1, .return_address = &result, .arg = {20, 22}, .completion_signal = done};
	pthread_t thread;

	(void)state;
	OK(hsa_soft_queue_create(found.fine, 4, HSA_QUEUE_TYPE_SINGLE, HSA_QUEUE_FEATURE_AGENT_DISPATCH, bell, &queue));
	pthread_create(&thread, NULL, serve, queue);
	put(queue, hsa_queue_add_write_index_relaxed(queue, 1), &packet, HEADER(HSA_PACKET_TYPE_AGENT_DISPATCH, 0));
	hsa_signal_store_screlease(queue->doorbell_signal, 0);
	wait_zero(done);
	pthread_join(thread, NULL);
	assert_int_equal(result, 42);
	OK(hsa_queue_destroy(queue));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_queue_is_empty),
		cmocka_unit_test(indexes_under_all_their_names),
		cmocka_unit_test(many_packets_through_a_small_ring),
		cmocka_unit_test(several_producers),
		cmocka_unit_test(doorbells_go_backwards),
		cmocka_unit_test(careless_publication),
		cmocka_unit_test(barriers_between_queues),
		cmocka_unit_test(errors_stop_the_queue_and_are_told),
		cmocka_unit_test(a_memory_fault_is_a_system_event),
		cmocka_unit_test(a_system_event_may_destroy_the_queue),
		cmocka_unit_test(an_inactive_queue_ignores_packets),
		cmocka_unit_test(a_soft_queue_is_served_by_the_program),
	};

	return cmocka_run_group_tests(tests, begin, found_done);
}
