/* SPDX-License-Identifier: MIT */
/* Waits end when what they wait for cannot come any more (SYS-56): queues that stop or go, devices that are closed. */
#include <pthread.h>

#include "rig.h"

#include "queue/lost.h"

/* A wait in a thread of its own, for ever. */
struct waiter {
	pthread_t thread;
	struct tutti_device *device;
	tutti_signal_t signal;
	bool begun;
	int result;
};

static void *wait_for_ever(void *context)
{
	struct waiter *waiter = context;

	tutti_store_release(&waiter->begun, true);
	waiter->result = tutti_signal_wait(waiter->device, waiter->signal, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL);
	return NULL;
}

static bool is_waiting(struct tutti_device *device, tutti_signal_t signal)
{
	bool found = false;

	pthread_mutex_lock(&device->lock);
	for (const struct signal_watch *watch = device->watches; watch; watch = watch->next)
		found |= watch->signal == signal;
	pthread_mutex_unlock(&device->lock);
	return found;
}

static void waiter_start(struct waiter *waiter, struct tutti_device *device, tutti_signal_t signal)
{
	*waiter = (struct waiter){ .device = device, .signal = signal };
	assert_int_equal(pthread_create(&waiter->thread, NULL, wait_for_ever, waiter), 0);
	while (!is_waiting(device, signal))
		usleep(100);
}

static int waiter_end(struct waiter *waiter)
{
	pthread_join(waiter->thread, NULL);
	return waiter->result;
}

static int wait_now(tutti_signal_t signal)
{
	return tutti_signal_wait(rig->device, signal, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL);
}

static void stop_queue(struct tutti_queue *queue, tutti_signal_t signal)
{
	rig_launch(rig, queue, "trap", 1, 1, rig_args(rig, NULL, 0, 0), signal);
}

/* The failed packet, one behind it, and a packet that the application has written. The queue goes on after a reset. */
static void stopped_queue(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, 0);
	tutti_signal_t failed = rig_signal(rig, 1), behind = rig_signal(rig, 1), plain = rig_signal(rig, 1);
	union tutti_packet packet = { .barrier = {
		.header = tutti_header(TUTTI_PACKET_BARRIER_AND, true, TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE),
		.signal = (uintptr_t)plain } };
	uint64_t *word = rig_alloc(rig, 64);
	struct waiter waiter[2];

	waiter_start(&waiter[0], rig->device, failed);
	waiter_start(&waiter[1], rig->device, plain);
	stop_queue(queue, failed);
	rig_launch(rig, queue, "poke", 1, 1, rig_args(rig, word, 5, 0), behind);
	assert_int_equal(tutti_queue_submit(queue, &packet), 0);
	assert_int_equal(waiter_end(&waiter[0]), -EIO);
	assert_int_equal(waiter_end(&waiter[1]), -EIO);
	assert_int_equal(wait_now(failed), -EIO);
	assert_int_equal(wait_now(behind), -EIO);
	assert_int_equal(wait_now(plain), -EIO);
	assert_int_equal(tutti_signal_wait(rig->device, behind, TUTTI_EQ, 0, 0, NULL), -EIO);
	assert_int_equal(tutti_signal_wait(rig->device, behind, TUTTI_EQ, 1, 0, NULL), 0);
	assert_int_equal(tutti_queue_error(queue, NULL), TUTTI_ERROR_KERNEL_TRAP);
	assert_int_equal(tutti_queue_reset(queue), 0);
	assert_int_equal(wait_now(behind), 0);
	assert_int_equal(wait_now(plain), 0);
	assert_int_equal(*word, 5);
	/* the signal that was left can be used again without being set */
	rig_launch(rig, queue, "poke", 1, 1, rig_args(rig, word, 6, 0), failed);
	assert_int_equal(wait_now(failed), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* Signals of other queues, of kernels that ran already, and those that the host itself will change. */
static void other_signals(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, 0);
	tutti_signal_t done = rig_signal(rig, 1), bad = rig_signal(rig, 1), host = rig_signal(rig, 1);
	tutti_signal_t other = rig_signal(rig, 1);
	uint64_t *word = rig_alloc(rig, 64);
	struct waiter waiter;

	rig_launch(rig, queue, "poke", 1, 1, rig_args(rig, word, 5, 0), done);
	assert_int_equal(wait_now(done), 0);
	tutti_signal_store(done, 1);
	stop_queue(queue, bad);
	assert_int_equal(wait_now(bad), -EIO);
	waiter_start(&waiter, rig->device, host);
	assert_int_equal(tutti_signal_wait(rig->device, host, TUTTI_EQ, 0, 5000000, NULL), -ETIMEDOUT);
	/* named by a packet of the stopped queue that is done: it is used for another queue now */
	assert_int_equal(tutti_signal_wait(rig->device, done, TUTTI_EQ, 0, 5000000, NULL), -ETIMEDOUT);
	rig_launch(rig, rig->queue, "poke", 1, 1, rig_args(rig, word, 7, 0), other);
	assert_int_equal(wait_now(other), 0);
	tutti_signal_store(host, 0);
	assert_int_equal(waiter_end(&waiter), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* An error callback that lets the queue go on does not make the wait hang. */
static void reset_at_once(struct tutti_queue *queue, const struct tutti_fault *fault, void *context)
{
	assert_int_equal(tutti_queue_reset(queue), 0);
}

static void callback_resets(void **state)
{
	struct tutti_queue_options options = { .error = reset_at_once };
	tutti_signal_t bad = rig_signal(rig, 1), good = rig_signal(rig, 1);
	struct tutti_queue *queue;
	struct waiter waiter;

	assert_int_equal(tutti_queue_create(rig->device, &options, &queue), 0);
	waiter_start(&waiter, rig->device, bad);
	stop_queue(queue, bad);
	assert_int_equal(waiter_end(&waiter), -EIO);
	assert_int_equal(tutti_queue_poll(queue), 0); /* the event thread may not have called it yet */
	rig_launch(rig, queue, "empty", 1, 1, rig_args(rig, NULL, 0, 0), good);
	assert_int_equal(wait_now(good), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

static void must_not_be_called(struct tutti_queue *queue, const struct tutti_fault *fault, void *context)
{
	*(bool *)context = true;
}

static union tutti_packet barrier_for(tutti_signal_t before, tutti_signal_t after)
{
	return (union tutti_packet){.barrier = {
		.header = tutti_header(TUTTI_PACKET_BARRIER_AND, true, TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE),
		.dependency = {(uintptr_t)before}, .signal = (uintptr_t)after}};
}

/* The card forgets the queue; its memory stays, and nothing that is written there matters. */
static void inactivated_queue(void **state)
{
	bool called = false;
	struct tutti_queue_options options = {.packets = 16, .error = must_not_be_called, .context = &called};
	tutti_signal_t never = rig_signal(rig, 1), held = rig_signal(rig, 1), late = rig_signal(rig, 1);
	union tutti_packet packet = barrier_for(never, held), after = barrier_for(NULL, late);
	struct tutti_queue *queue;
	struct waiter waiter;
	uint64_t index;

	assert_int_equal(tutti_queue_create(rig->device, &options, &queue), 0);
	assert_int_equal(tutti_queue_submit(queue, &packet), 0);
	waiter_start(&waiter, rig->device, held);
	assert_int_equal(tutti_queue_inactivate(queue), 0);
	assert_int_equal(waiter_end(&waiter), -EIO);
	assert_int_equal(tutti_queue_error(queue, NULL), TUTTI_ERROR_CANCELLED);
	tutti_signal_store(never, 0);
	assert_int_equal(tutti_queue_submit(queue, &after), 0);
	assert_int_equal(wait_now(late), -EIO);
	assert_int_equal(tutti_signal_load(held), 1);
	assert_int_equal(tutti_queue_reserve(queue, 16, &index), -EIO);
	assert_int_equal(tutti_queue_reset(queue), -EINVAL);
	assert_int_equal(tutti_queue_inactivate(queue), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_queue_inactivate(queue), -EINVAL);
	assert_false(called);
}

/* Condensed packets do not show their signals; recordings know them. */
static void recorded(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, TUTTI_QUEUE_EXTENDED);
	tutti_signal_t first = rig_signal(rig, 1), last = rig_signal(rig, 1);
	struct tutti_recording *recording;
	uint64_t *word = rig_alloc(rig, 64);
	void *args = rig_args(rig, word, 5, 0);

	assert_int_equal(tutti_record_begin(queue), 0);
	for (unsigned i = 0; i < 8; i++)
		rig_launch(rig, queue, "poke", 1, 1, args, i == 7 ? last : NULL);
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	assert_int_equal(tutti_replay(recording), 0);
	assert_int_equal(wait_now(last), 0);
	tutti_signal_store(last, 1);
	stop_queue(queue, first);
	assert_int_equal(tutti_replay(recording), 0);
	assert_int_equal(wait_now(last), -EIO);
	assert_int_equal(tutti_replay(recording), -EIO);
	assert_int_equal(tutti_recording_destroy(recording), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* The kernel that fails is the recording's own: the only one, its last, and one before others that are never begun. */
static void recorded_fault(void **state)
{
	static const unsigned sizes[][2] = { { 1, 0 }, { 8, 7 }, { 8, 0 }, { 70, 69 }, { 70, 3 } };
	uint64_t *word = rig_alloc(rig, 64);

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct tutti_queue *queue = rig_queue(rig, TUTTI_QUEUE_EXTENDED);
		tutti_signal_t bad = rig_signal(rig, 1), last = rig_signal(rig, 1);
		struct tutti_recording *recording;

		assert_int_equal(tutti_record_begin(queue), 0);
		for (unsigned k = 0; k < sizes[i][0]; k++) {
			tutti_signal_t signal = k == sizes[i][1] ? bad : k + 1 == sizes[i][0] ? last : NULL;

			rig_launch(rig, queue, "poke", 1, 1, rig_args(rig, signal == bad ? (void *)64 : word, 5, 0), signal);
		}
		assert_int_equal(tutti_record_end(queue, &recording), 0);
		assert_int_equal(tutti_replay(recording), 0);
		assert_int_equal(tutti_signal_wait(rig->device, bad, TUTTI_EQ, 0, RIG_WAIT, NULL), -EIO);
		if (sizes[i][1] + 1 < sizes[i][0])
			assert_int_equal(tutti_signal_wait(rig->device, last, TUTTI_EQ, 0, RIG_WAIT, NULL), -EIO);
		assert_int_equal(tutti_recording_destroy(recording), 0);
		assert_int_equal(tutti_queue_destroy(queue), 0);
	}
}

/* A kernel that never ends, and a packet behind it, go with their queue. */
static void destroyed_queue(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, 0);
	tutti_signal_t running = rig_signal(rig, 1), behind = rig_signal(rig, 1), again = rig_signal(rig, 1);
	uint64_t *word = rig_alloc(rig, 64);
	struct waiter waiter[2];

	rig_launch(rig, queue, "spin", 1, 1, rig_args(rig, word, 0, 0), running);
	rig_launch(rig, queue, "poke", 1, 1, rig_args(rig, word, 5, 0), behind);
	waiter_start(&waiter[0], rig->device, running);
	waiter_start(&waiter[1], rig->device, behind);
	assert_int_equal(tutti_signal_wait(rig->device, running, TUTTI_EQ, 0, 20000000, NULL), -ETIMEDOUT);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(waiter_end(&waiter[0]), -EIO);
	assert_int_equal(waiter_end(&waiter[1]), -EIO);
	assert_int_equal(wait_now(behind), -EIO);
	/* used again, with and without being set */
	rig_launch(rig, rig->queue, "poke", 1, 1, rig_args(rig, word, 6, 0), behind);
	assert_int_equal(wait_now(behind), 0);
	tutti_signal_store(running, 1);
	assert_int_equal(tutti_signal_wait(rig->device, running, TUTTI_EQ, 0, 5000000, NULL), -ETIMEDOUT);
	rig_launch(rig, rig->queue, "poke", 1, 1, rig_args(rig, word, 7, 0), again);
	assert_int_equal(wait_now(again), 0);
}

static void *drain_for_ever(void *context)
{
	struct waiter *waiter = context;

	tutti_store_release(&waiter->begun, true);
	waiter->result = tutti_queue_drain((struct tutti_queue *)(void *)waiter->signal, TUTTI_WAIT_FOREVER);
	return NULL;
}

/* A thread that drains a queue which another destroys. */
static void destroyed_under_a_drain(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, 0);
	uint64_t *word = rig_alloc(rig, 64);
	struct waiter waiter = { .signal = (tutti_signal_t)(void *)queue };

	rig_launch(rig, queue, "spin", 1, 1, rig_args(rig, word, 0, 0), NULL);
	rig_launch(rig, queue, "poke", 1, 1, rig_args(rig, word, 5, 0), NULL);
	assert_int_equal(pthread_create(&waiter.thread, NULL, drain_for_ever, &waiter), 0);
	while (!tutti_load_acquire(&waiter.begun))
		sched_yield();
	usleep(10000);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(waiter_end(&waiter), -EIO);
	assert_int_equal(tutti_queue_drain(queue, 0), -EINVAL);
}

/* Threads that wait, and that go on calling afterwards, while the device is closed. */
static void *wait_again_and_again(void *context)
{
	struct waiter *waiter = context;
	void *memory;

	tutti_store_release(&waiter->begun, true);
	do {
		waiter->result = tutti_signal_wait(waiter->device, waiter->signal, TUTTI_EQ, 0, 100000, NULL);
		if (!tutti_memory_alloc(waiter->device, TUTTI_MEMORY_SYSTEM, 100, &memory))
			tutti_memory_free(waiter->device, memory);
	} while (waiter->result == -ETIMEDOUT);
	return NULL;
}

static void closed_device(void **state)
{
	for (unsigned round = 0; round < 10; round++) {
		struct tutti_device_options options = { .name = rig_transport() };
		struct waiter waiter[4];
		struct tutti_device *device;
		struct tutti_queue *queue;
		tutti_signal_t signal;

		assert_int_equal(tutti_device_open(&options, &device), 0);
		assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
		assert_int_equal(tutti_signal_create(device, 1, &signal), 0);
		for (unsigned i = 0; i < 4; i++) {
			waiter[i] = (struct waiter){ .device = device, .signal = signal };
			pthread_create(&waiter[i].thread, NULL, i & 1 ? wait_again_and_again : wait_for_ever, &waiter[i]);
			while (!tutti_load_acquire(&waiter[i].begun))
				sched_yield();
		}
		usleep(round * 500);
		assert_int_equal(tutti_device_close(device), 0);
		for (unsigned i = 0; i < 4; i++) {
			int result = waiter_end(&waiter[i]);

			assert_true(result == -EIO || result == -EINVAL);
		}
		assert_int_equal(tutti_queue_poll(queue), -EINVAL);
	}
}

/* A program that only launches learns that its queue has stopped. */
static void launches_only(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, 0);
	struct tutti_kernel kernel = rig_kernel(rig, "empty");
	struct tutti_launch launch = { .kernel = &kernel, .grid = { 1 }, .workgroup = { 1 } };
	tutti_signal_t bad = rig_signal(rig, 1);
	uint64_t written;

	stop_queue(queue, bad);
	assert_int_equal(wait_now(bad), -EIO);
	written = *queue->write_index;
	assert_int_equal(tutti_dispatch(queue, &launch), -EIO);
	assert_int_equal(*queue->write_index, written);
	assert_int_equal(tutti_queue_reset(queue), 0);
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	assert_int_equal(tutti_queue_drain(queue, RIG_WAIT), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

static void bad_arguments(void **state)
{
	tutti_signal_t signal = rig_signal(rig, 1), gone = rig_signal(rig, 0);
	struct tutti_kernel kernel = rig_kernel(rig, "empty");
	struct tutti_launch launch = { .kernel = &kernel, .grid = { 1 }, .workgroup = { 1 }, .signal = gone };

	assert_int_equal(tutti_signal_wait(rig->device, signal, (enum tutti_condition)99, 0, 0, NULL), -EINVAL);
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_GTE, 1, 0, NULL), 0);
	assert_int_equal(tutti_signal_destroy(rig->device, gone), 0);
	assert_int_equal(tutti_signal_destroy(rig->device, gone), -EINVAL);
	assert_int_equal(tutti_memory_free(rig->device, signal), -EINVAL);
	assert_int_equal(tutti_dispatch(rig->queue, &launch), -EINVAL);
	assert_int_equal(tutti_signal_wait(rig->device, (tutti_signal_t)&kernel, TUTTI_EQ, 0, 0, NULL), -EINVAL);
	/* a workgroup and shared memory that no SM has */
	rig_refused(rig, "empty", 4096, 2048, 0, TUTTI_ERROR_WORKGROUP);
	rig_refused(rig, "empty", 64, 64, 1u << 30, TUTTI_ERROR_GROUP_MEMORY);
}

/* Fault records in words (SYS-58): each has all of @parts, and not @without. */
static void assert_text(const struct tutti_fault *fault, const char *without, const char *const parts[])
{
	char text[512], small[16];
	int bytes = tutti_fault_text(rig->queue, fault, text, sizeof(text));

	assert_int_equal(bytes, strlen(text));
	for (unsigned i = 0; parts[i]; i++)
		if (!strstr(text, parts[i]))
			fail_msg("\"%s\" does not say \"%s\"", text, parts[i]);
	if (without && strstr(text, without))
		fail_msg("\"%s\" says \"%s\"", text, without);
	assert_int_equal(tutti_fault_text(rig->queue, fault, small, sizeof(small)), bytes);
	assert_int_equal(strlen(small), sizeof(small) - 1);
	assert_int_equal(tutti_fault_text(rig->queue, fault, NULL, 0), bytes);
}

#define SAYS(fault, without, ...) assert_text(fault, without, (const char *const[]){ __VA_ARGS__, NULL })

static void faults_in_words(void **state)
{
	union tutti_packet packet = { 0 };
	struct tutti_fault fault;
	uint8_t *block = rig_alloc(rig, 5000);
	void *start;
	size_t bytes;

	fault = rig_fails(rig, "poke", 1, 1, rig_args(rig, (void *)64, 1, 0), TUTTI_ERROR_MEMORY_FAULT);
	SAYS(&fault, NULL, "memory fault in kernel poke", "nothing is mapped there", "write to 0x40", "in no allocation",
	     "in function poke + ", "SM ", "wave 0");
	fault = rig_fails(rig, "peek", 1, 1, rig_args(rig, block, 64, 0), TUTTI_ERROR_MEMORY_FAULT);
	SAYS(&fault, NULL, "in kernel peek", "read of 0x40", "in function peek + ");
	fault = rig_fails(rig, "trap", 1, 1, rig_args(rig, block, 0, 0), TUTTI_ERROR_KERNEL_TRAP);
	SAYS(&fault, "jump", "kernel trap in kernel trap", "illegal instruction", "in function trap + ");
	fault = rig_fails(rig, "give_up", 1, 1, rig_args(rig, block, 77, 0), TUTTI_ERROR_KERNEL_TRAP);
	SAYS(&fault, "write", "tutti_abort() with code 77");
	fault = rig_fails(rig, "overrun", 1, 1, rig_args(rig, block, 0, 0), TUTTI_ERROR_MEMORY_FAULT);
	SAYS(&fault, NULL, "the stack is full", "write to", "private memory", "in function overrun + ");
	/* what a record says of memory that is allocated, and of what lies behind it */
	assert_int_equal(tutti_memory_info(rig->device, block, &start, &bytes, NULL), 0);
	fault.cause = TUTTI_CAUSE_PROTECTION;
	fault.address = (uintptr_t)block + 17;
	SAYS(&fault, NULL, "the memory there does not allow it", "byte 17 of the 8192 bytes allocated at");
	/* refused by the card: no SM is to blame */
	packet.dispatch = (struct tutti_dispatch_packet){ .header = (uint16_t)tutti_header(TUTTI_PACKET_KERNEL_DISPATCH,
		true, 0, 0), .setup = 1, .workgroup_x = 2048, .workgroup_y = 1, .workgroup_z = 1, .grid_x = 1, .grid_y = 1,
		.grid_z = 1, .kernel_object = rig_kernel(rig, "empty").object };
	assert_int_equal(tutti_queue_submit(rig->queue, &packet), 0);
	fault = rig_fault(rig, rig->queue);
	SAYS(&fault, "SM ", "workgroup too large", "in kernel empty");
	SAYS(&fault, "pc", "packet ");
	assert_int_equal(tutti_queue_reset(rig->queue), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped_queue),   cmocka_unit_test(other_signals),
		cmocka_unit_test(callback_resets), cmocka_unit_test(recorded),
		cmocka_unit_test(recorded_fault),
		cmocka_unit_test(inactivated_queue),
		cmocka_unit_test(destroyed_queue), cmocka_unit_test(destroyed_under_a_drain),
		cmocka_unit_test(closed_device),   cmocka_unit_test(launches_only),
		cmocka_unit_test(bad_arguments),   cmocka_unit_test(faults_in_words),
	};

	return cmocka_run_group_tests_name("SYS-56, PKT-06 waits that cannot end", tests, rig_group_open, rig_group_close);
}
