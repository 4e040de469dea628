/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock,--wrap=sched_yield */
/* The host fills work queues, and the test takes the items as a task would (TSK-10, SYS-41). */
#include "launch/work.h"
#include "lock_check.h"
#include "rt_rig.h"

#include <signal.h>

#define ITEMS 4u

static struct tutti_work *work;
static struct tutti_work_queue *shared;

static int open_card(void **state)
{
	int error = open_fake(state);

	if (!error)
		error = tutti_work_create(device, ITEMS, 12, &work);
	shared = error ? NULL : tutti_work_queue(work);
	return error;
}

static int close_card_again(void **state)
{
	if (tutti_work_destroy(work))
		return -1;
	return close_fake(state);
}

static uint64_t *slot_of(uint64_t number)
{
	return (uint64_t *)(uintptr_t)(shared->base + number % shared->items * shared->item_bytes);
}

/* Take item @number as a task does, so that its place is free for the next round. */
static void take(uint64_t number)
{
	uint64_t *slot = slot_of(number);

	assert_true(*slot == number + 1);
	assert_int_equal(((uint32_t *)(slot + 1))[0], number);
	assert_int_equal(((uint32_t *)(slot + 1))[2], ~(uint32_t)number);
	*slot = number + ITEMS;
}

static int push(uint64_t number)
{
	uint32_t item[] = {(uint32_t)number, 7, ~(uint32_t)number};

	return tutti_work_try_push(work, item);
}

static uint64_t memory_in_use(void)
{
	struct tutti_pool pool;

	assert_int_equal(tutti_memory_pool(device, TUTTI_MEMORY_SYSTEM, &pool), 0);
	return pool.used;
}

/* The number of items is a power of two. A word precedes each item, which begins at a multiple of eight bytes. */
static void sizes(void **state)
{
	static const struct {
		uint32_t items, bytes, each;
	} rows[] = {{1, 1, 16}, {2, 8, 16}, {8, 9, 24}, {64, 16, 24}, {1, 0, 8}};
	static const uint32_t wrong[] = {0, 3, 5, 6, 7, 9, 1u << 31 | 1};
	uint64_t used = memory_in_use();
	struct tutti_work *other;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct tutti_work_queue *queue;

		assert_int_equal(tutti_work_create(device, rows[i].items, rows[i].bytes, &other), 0);
		queue = tutti_work_queue(other);
		assert_int_equal(queue->items, rows[i].items < 2 ? 2 : rows[i].items);
		assert_int_equal(queue->item_bytes, rows[i].each);
		for (uint64_t k = 0; k < rows[i].items; k++)
			assert_true(*(uint64_t *)(uintptr_t)(queue->base + k * rows[i].each) == k);
		assert_int_equal(tutti_work_destroy(other), 0);
		assert_int_equal(tutti_work_destroy(other), -EINVAL);
		assert_null(tutti_work_queue(other));
		assert_true(memory_in_use() == used);
	}
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(tutti_work_create(device, wrong[i], 8, &other), -EINVAL);
	assert_int_equal(tutti_work_create(device, 1, 0xfffffff1u, &other), -EINVAL);
	assert_int_equal(tutti_work_create(device, 1, UINT32_MAX, &other), -EINVAL);
	assert_int_equal(tutti_work_create(device, 1, 0xfffffff0u, &other), -ENOMEM); /* allowed, but too large */
	assert_int_equal(tutti_work_create(device, 1, 8, NULL), -EINVAL);
	assert_int_equal(tutti_work_destroy(NULL), 0);
	assert_null(tutti_work_queue(NULL));
}

/* The smallest work queue overwrites no item that has not been taken. */
static void smallest(void **state)
{
	struct tutti_work *one;
	const uint64_t items[] = {11, 22, 33};
	const struct tutti_work_queue *queue;
	const uint64_t *slots;

	assert_int_equal(tutti_work_create(device, 1, sizeof(*items), &one), 0);
	queue = tutti_work_queue(one);
	slots = (const uint64_t *)(uintptr_t)queue->base;
	for (unsigned i = 0; i < queue->items; i++)
		assert_int_equal(tutti_work_try_push(one, &items[i]), 0);
	assert_int_equal(tutti_work_try_push(one, &items[2]), -EAGAIN);
	assert_int_equal(tutti_work_push(one, &items[2], 0), -ETIMEDOUT);
	assert_int_equal(slots[0], 1);
	assert_int_equal(slots[1], 11);
	assert_int_equal(tutti_work_destroy(one), 0);
}

/* Items are pushed in order, round after round. None is overwritten before it is taken, or written past the end. */
static void rounds(void **state)
{
	uint64_t in = 0, out = 0;

	for (unsigned round = 0; round < 5; round++) {
		while (in - out < ITEMS)
			assert_int_equal(push(in++), 0);
		assert_int_equal(push(77), -EAGAIN);
		assert_true(shared->write_index == in);
		for (unsigned n = 0; n <= round % ITEMS; n++)
			take(out++);
	}
	assert_int_equal(tutti_work_try_push(work, NULL), -EINVAL);
	assert_int_equal(tutti_work_try_push(NULL, &in), -EINVAL);
	assert_int_equal(tutti_work_push(NULL, &in, 0), -EINVAL);
	assert_int_equal(tutti_work_close(NULL), -EINVAL);
	assert_int_equal(shared->closed, 0);
	assert_int_equal(tutti_work_close(work), 0);
	take(out);
	assert_int_equal(push(in), -EPIPE);
	assert_int_equal(tutti_work_push(work, &in, TUTTI_WAIT_FOREVER), -EPIPE);
	assert_true(shared->write_index == in);
}

/* A push rings the doorbell of the task's queue with an unchanged index, so that the task looks for items again. */
static void doorbells(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);

	fake.deaf = true;
	queue_use(device, &work->user, queue_of(queue));
	for (unsigned written = 0; written < 3; written++) {
		*queue->write_index = written;
		*queue->doorbell = 77;
		assert_int_equal(push(written), 0);
		assert_true(*queue->doorbell == (written ? written - 1 : 0));
	}
	*queue->doorbell = 77;
	assert_int_equal(tutti_work_close(work), 0);
	assert_int_equal(*queue->doorbell, 1);
	*queue->write_index = 0;
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_null(work->user.queue);
	assert_int_equal(tutti_work_close(work), 0);
}

static unsigned slept;
static struct tutti_queue *task_queue;
static enum { TAKES, CLOSES, STOPS } meanwhile;

static void something_happens(struct tutti_device *device, uint64_t seen, uint64_t deadline)
{
	struct tutti_fault fault = {
	    .code = TUTTI_ERROR_PACKET, .queue = (uint16_t)task_queue->id, .packet = UINT64_MAX / 2};

	if (!pthread_equal(pthread_self(), test_thread)) {
		sleep_card(device, seen, deadline);
		return;
	}
	if (slept++)
		return;
	if (meanwhile == TAKES)
		take(0);
	else if (meanwhile == CLOSES)
		shared->closed = 1;
	else
		queue_error_take(device, &fault);
}

/* A push waits for room, but fails at once if the queue is closed or its task takes no items any more. */
static void waits(void **state)
{
	static const int gives[] = {0, -EPIPE, -EIO};
	uint32_t item[] = {ITEMS, 7, ~ITEMS};

	task_queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	fake.deaf = true;
	queue_use(device, &work->user, queue_of(task_queue));
	for (unsigned i = 0; i < ITEMS; i++)
		assert_int_equal(push(i), 0);
	assert_int_equal(tutti_work_push(work, item, 0), -ETIMEDOUT);
	transport.sleep = something_happens;
	for (meanwhile = TAKES; meanwhile <= STOPS; meanwhile++) {
		slept = 0;
		assert_int_equal(tutti_work_push(work, item, TUTTI_WAIT_FOREVER), gives[meanwhile]);
		assert_int_equal(slept, 1);
		shared->closed = 0;
	}
	assert_true(shared->write_index == ITEMS + 1);
	assert_int_equal(tutti_work_push(work, item, TUTTI_WAIT_FOREVER), -EIO); /* it is full for ever */
	assert_int_equal(slept, 1);
	take(1);
	transport.sleep = sleep_card;
	assert_int_equal(tutti_work_push(work, item, 0), 0);
}

static void queue_goes_in_sleep(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (!pthread_equal(pthread_self(), test_thread))
		sleep_card(of, seen, deadline);
	else if (!slept++)
		assert_int_equal(tutti_queue_destroy(task_queue), 0);
	else if (slept == 100)
		shared->closed = 1; /* nobody has told the thread */
}

/* Nor does a task take items any more whose queue has been destroyed, until it is dispatched to another one. */
static void queue_is_destroyed(void **state)
{
	uint32_t item[] = {ITEMS, 7, ~ITEMS};

	task_queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	queue_use(device, &work->user, queue_of(task_queue));
	for (unsigned i = 0; i < ITEMS; i++)
		assert_int_equal(push(i), 0);
	slept = 0;
	transport.sleep = queue_goes_in_sleep;
	assert_int_equal(tutti_work_push(work, item, TUTTI_WAIT_FOREVER), -EIO);
	assert_int_equal(tutti_work_push(work, item, TUTTI_WAIT_FOREVER), -EIO);
	assert_int_equal(slept, 1);
	task_queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	queue_use(device, &work->user, queue_of(task_queue));
	meanwhile = TAKES;
	slept = 0;
	transport.sleep = something_happens;
	assert_int_equal(tutti_work_push(work, item, TUTTI_WAIT_FOREVER), 0);
	transport.sleep = sleep_card;
	assert_int_equal(tutti_queue_destroy(task_queue), 0);
}

static struct tutti_work *full;
static pthread_t destroyer;
static bool destroying;

static void *destroys(void *of)
{
	return (void *)(intptr_t)tutti_work_destroy(of);
}

static void destroyed_in_sleep(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	if (pthread_equal(pthread_self(), test_thread) && !destroying) {
		destroying = true;
		pthread_create(&destroyer, NULL, destroys, full);
	}
	sleep_card(of, seen, deadline);
}

/* Whoever waits for room waits no longer when another thread destroys the work queue. */
static void destroyed_meanwhile(void **state)
{
	uint64_t item = 0;
	void *result;

	assert_int_equal(tutti_work_create(device, 2, sizeof(item), &full), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tutti_work_try_push(full, &item), 0);
	destroying = false;
	transport.sleep = destroyed_in_sleep;
	assert_int_equal(tutti_work_push(full, &item, TUTTI_WAIT_FOREVER), -EIO);
	pthread_join(destroyer, &result);
	assert_null(result);
	transport.sleep = sleep_card;
}

static void *looked_at; /* a page */
static bool begun, waiting, gone, gone_first, faulted;

int __real_sched_yield(void);
int __wrap_sched_yield(void);

/* Destroying something yields while calls use it. */
int __wrap_sched_yield(void)
{
	if (tutti_load_relaxed(&begun) && pthread_equal(pthread_self(), destroyer))
		tutti_store_release(&waiting, true);
	return __real_sched_yield();
}

/* The push looks at what is being destroyed. It goes on when that has gone, or cannot go. */
static void on_look(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	if (pthread_equal(pthread_self(), test_thread)) {
		tutti_store_release(&begun, true);
		while (!tutti_load_acquire(&gone) && !tutti_load_acquire(&waiting))
			__real_sched_yield();
		gone_first = tutti_load_acquire(&gone);
		faulted = true;
	}
	mprotect(looked_at, TUTTI_PAGE_SIZE, PROT_READ | PROT_WRITE);
}

static void *destroys_queue(void *of)
{
	while (!tutti_load_acquire(&begun))
		__real_sched_yield();
	tutti_queue_destroy(of);
	tutti_store_release(&gone, true);
	return NULL;
}

static void *destroys_work(void *of)
{
	while (!tutti_load_acquire(&begun))
		__real_sched_yield();
	tutti_work_destroy(of);
	tutti_store_release(&gone, true);
	return NULL;
}

/* Another thread destroys @object while this one, within a push, looks at @page, which is part of it. */
static void push_meanwhile(struct tutti_work *into, void *(*destroy)(void *), void *object, void *page)
{
	struct sigaction look = {.sa_sigaction = on_look, .sa_flags = SA_SIGINFO}, before;
	uint32_t item[] = {0, 7, ~0u};

	looked_at = page;
	begun = waiting = gone = gone_first = faulted = false;
	assert_int_equal(sigaction(SIGSEGV, &look, &before), 0);
	assert_int_equal(pthread_create(&destroyer, NULL, destroy, object), 0);
	assert_int_equal(mprotect(page, TUTTI_PAGE_SIZE, PROT_NONE), 0);
	assert_int_equal(tutti_work_try_push(into, item), 0);
	pthread_join(destroyer, NULL);
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	assert_true(faulted);
	assert_false(gone_first);
}

/* The task's queue may be destroyed while another thread pushes: it waits until the push has rung the doorbell. */
static void queue_goes_meanwhile(void **state)
{
	fake.deaf = true;
	assert_int_equal(tutti_queue_create(device, NULL, &task_queue), 0);
	queue_use(device, &work->user, queue_of(task_queue));
	push_meanwhile(work, destroys_queue, task_queue, queue_of(task_queue)->words);
	assert_int_equal(push(1), 0);
}

/* So may the work queue itself. */
static void work_goes_meanwhile(void **state)
{
	assert_int_equal(tutti_work_create(device, 256, 12, &full), 0); /* whole pages */
	push_meanwhile(full, destroys_work, full, tutti_work_queue(full));
	assert_int_equal(tutti_work_destroy(full), -EINVAL);
}

#define W(f) cmocka_unit_test_setup_teardown(f, open_card, close_card_again)

int main(void)
{
	static const struct CMUnitTest tests[] = {W(sizes), W(smallest), W(rounds), W(doorbells), W(waits),
						  W(queue_is_destroyed), W(destroyed_meanwhile), W(queue_goes_meanwhile),
						  W(work_goes_meanwhile)};

	return cmocka_run_group_tests_name("TSK-10, SYS-41 work queues", tests, NULL, NULL);
}
