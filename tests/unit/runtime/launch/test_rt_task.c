/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* What attributes of a task become in the metadata that the card reads, and which are refused (TSK-01, SYS-41). */
#include "launch/work.h"
#include "lock_check.h"
#include "queue/lost.h"
#include "rt_rig.h"
#include "tutti/record_api.h"
#include "tutti/tmd.h"

#define SMS 6u

static struct tutti_work *work;

static int open_task(void **state)
{
	int error = open_fake(state);

	device->known.sms = SMS;
	return error ? error : tutti_work_create(device, 4, 8, &work);
}

static int close_task(void **state)
{
	assert_int_equal(tutti_work_destroy(work), 0);
	return close_fake(state);
}

static uint64_t memory_in_use(void)
{
	struct tutti_pool pool;

	assert_int_equal(tutti_memory_pool(device, TUTTI_MEMORY_SYSTEM, &pool), 0);
	return pool.used;
}

/* The metadata that @a makes; the task is gone afterwards. */
static struct tutti_tmd of(const struct tutti_task_attributes *a)
{
	enum tutti_memory pool = TUTTI_MEMORY_CARD;
	uint64_t used = memory_in_use();
	struct tutti_task *task;
	struct tutti_tmd tmd;

	assert_int_equal(tutti_task_create(device, a, &task), 0);
	tmd = *(const struct tutti_tmd *)tutti_task_tmd(task);
	assert_int_equal(tutti_memory_info(device, tutti_task_tmd(task), NULL, NULL, &pool), 0);
	assert_int_equal(pool, TUTTI_MEMORY_SYSTEM); /* the host reads its counters */
	assert_int_equal(tutti_task_destroy(task), 0);
	assert_null(tutti_task_tmd(task));
	assert_true(memory_in_use() == used);
	return tmd;
}

#define OF(...) of(&(struct tutti_task_attributes){__VA_ARGS__})

static void flags(void **state)
{
	static const uint32_t mask[] = {5, 0, 7};

	assert_int_equal(OF(.priority = 0).flags, 0);
	assert_int_equal(OF(.head = true).flags, TUTTI_TMD_HEAD);
	assert_int_equal(OF(.sequence = true).flags, TUTTI_TMD_SEQUENCE);
	assert_int_equal(OF(.quota = 1).flags, TUTTI_TMD_QUOTA);
	assert_int_equal(OF(.affinity = mask, .affinity_words = 3).flags, TUTTI_TMD_AFFINITY);
	assert_int_equal(OF(.throttle_sms = 1).flags, TUTTI_TMD_THROTTLE);
	assert_int_equal(OF(.independence = TUTTI_WAVES_AS_KERNEL).flags, 0);
	assert_int_equal(OF(.independence = TUTTI_WAVES_INDEPENDENT).flags, TUTTI_TMD_INDEPENDENT);
	assert_int_equal(OF(.independence = TUTTI_WAVES_TOGETHER).flags, TUTTI_TMD_DEPENDENT);
	assert_int_equal(OF(.multicast = true).flags, 0);
}

static void fields(void **state)
{
	struct tutti_tmd t = OF(.priority = 10, .quota = ~0u, .throttle_sms = SMS);

	assert_int_equal(t.magic, TUTTI_TMD_MAGIC);
	assert_int_equal(t.version, TUTTI_TMD_VERSION);
	assert_int_equal(t.type, TUTTI_TASK_GRID);
	assert_int_equal(t.priority, 10);
	assert_int_equal(t.quota, ~0u);
	assert_int_equal(t.throttle_sms, SMS);
	assert_int_equal(t.cga_mode, TUTTI_CGA_LOAD_BALANCE);
	assert_true(!t.affinity && !t.queue && !t.coalesce_min && !t.coalesce_max && !t.coalesce_us && !t.pad0);
	assert_int_equal(t.state, 0);
	assert_int_equal(OF(.multicast = true).cga_mode, TUTTI_CGA_MULTICAST);
}

/* The mask is copied, whole words of SMs that are not named are empty. */
static void affinity(void **state)
{
	uint32_t mask[TUTTI_MAX_SMS / 32];
	struct tutti_task *task;
	const uint32_t *copy;

	for (unsigned words = 1; words <= TUTTI_MAX_SMS / 32; words++) {
		struct tutti_task_attributes a = {.affinity = mask, .affinity_words = words};

		memset(mask, 0xa5, sizeof(mask));
		assert_int_equal(tutti_task_create(device, &a, &task), 0);
		memset(mask, 0, sizeof(mask));
		copy = (const uint32_t *)(uintptr_t)((const struct tutti_tmd *)tutti_task_tmd(task))->affinity;
		for (unsigned i = 0; i < TUTTI_MAX_SMS / 32; i++)
			assert_int_equal(copy[i], i < words ? 0xa5a5a5a5 : 0);
		assert_int_equal(tutti_task_destroy(task), 0);
	}
}

/* Tasks lie side by side, each with all of its mask. */
static void neighbours(void **state)
{
	uint32_t mask[TUTTI_MAX_SMS / 32];
	struct tutti_task *task[16];
	const struct tutti_tmd *tmd;
	const uint32_t *copy;
	size_t bytes;
	void *start;

	for (unsigned t = 0; t < 16; t++) {
		memset(mask, 0x10 + (int)t, sizeof(mask));
		assert_int_equal(
		    tutti_task_create(device,
				      &(struct tutti_task_attributes){.affinity = t % 4 ? mask : NULL,
								      .affinity_words = t % 4 ? TUTTI_MAX_SMS / 32 : 0,
								      .quota = t + 1},
				      &task[t]),
		    0);
	}
	for (unsigned t = 0; t < 16; t++) {
		tmd = tutti_task_tmd(task[t]);
		assert_int_equal(tmd->magic, TUTTI_TMD_MAGIC);
		assert_int_equal(tmd->quota, t + 1);
		copy = (const uint32_t *)(uintptr_t)tmd->affinity;
		assert_int_equal(copy != NULL, t % 4 != 0);
		for (unsigned i = 0; copy && i < TUTTI_MAX_SMS / 32; i++)
			assert_int_equal(copy[i], (0x10 + t) * 0x01010101u);
		assert_int_equal(tutti_memory_info(device,
						   copy ? &copy[TUTTI_MAX_SMS / 32 - 1] : (const void *)((const char *)(tmd + 1) - 1),
						   &start, &bytes, NULL),
				 0);
		assert_ptr_equal(start, tmd);
	}
	for (unsigned t = 0; t < 16; t++)
		assert_int_equal(tutti_task_destroy(task[t]), 0);
}

static void work_queue(void **state)
{
	struct tutti_tmd t = OF(.work = work);

	assert_int_equal(t.type, TUTTI_TASK_QUEUE);
	assert_int_not_equal(t.queue, 0);
	assert_int_equal(t.coalesce_min, 1);
	assert_int_equal(t.coalesce_max, 1);
	assert_int_equal(t.coalesce_us, 0);
	t = OF(.work = work, .coalesce_min = 7, .coalesce_us = 5);
	assert_int_equal(t.coalesce_min, 7);
	assert_int_equal(t.coalesce_max, 7);
	assert_int_equal(t.coalesce_us, 5);
	t = OF(.work = work, .coalesce_min = 7, .coalesce_max = 0xffff);
	assert_int_equal(t.coalesce_min, 7);
	assert_int_equal(t.coalesce_max, 0xffff);
	assert_int_equal(OF(.work = work, .coalesce_min = 0xffff).coalesce_max, 0xffff);
	assert_int_equal(OF(.work = work, .coalesce_max = 1).coalesce_min, 1);
	assert_int_equal(OF(.work = work, .coalesce_min = 9, .coalesce_max = 9).coalesce_max, 9);
}

#define ALL_LEVELS                                                                                                     \
	{                                                                                                              \
		{1, 2, 3, 1}, {4, 5, 6, 2}, {7, 8, 9, 3},                                                              \
		{                                                                                                      \
			10, 11, 12, 4                                                                                  \
		}                                                                                                      \
	}

/* Every number of levels; what stands behind the last one in the structure does not matter. */
static void levels(void **state)
{
	static const struct tutti_cga_shape all[] = ALL_LEVELS;
	struct tutti_task_attributes a;
	struct tutti_tmd t;

	_Static_assert(TUTTI_CGA_LEVELS == 4 && TUTTI_CGA_GPU == 4, "each kind can be a level of its own");
	for (unsigned n = 0; n <= TUTTI_CGA_LEVELS; n++) {
		a = (struct tutti_task_attributes){.multicast = true, .priority = 3};
		memset(&a.multicast + 1, 0xff,
		       offsetof(struct tutti_task_attributes, work) -
			   offsetof(struct tutti_task_attributes, multicast) - 1);
		memcpy(a.cga, all, n * sizeof(*all));
		t = of(&a);
		assert_memory_equal(t.cga, a.cga, sizeof(t.cga));
		if (n) { /* only the outermost kind of the card */
			a.cga[n - 1].kind = TUTTI_CGA_GPU;
			of(&a);
		}
	}
}

static void refused(void **state)
{
	static const uint32_t mask[TUTTI_MAX_SMS / 32 + 1] = {1};
	static const struct tutti_task_attributes bad[] = {
	    {.priority = 11},
	    {.throttle_sms = SMS + 1},
	    {.affinity = mask},
	    {.affinity_words = 1},
	    {.affinity = mask, .affinity_words = TUTTI_MAX_SMS / 32 + 1},
	    {.coalesce_min = 1},
	    {.coalesce_max = 1},
	    {.coalesce_us = 1},
	    {.cga = {{1, 1, 1, TUTTI_CGA_GPU + 1}}},
	    {.cga = {{0, 1, 1, 1}}},
	    {.cga = {{1, 0, 1, 1}}},
	    {.cga = {{1, 1, 0, 1}}},
	    {.cga = {{1, 1, 1, 2}, {1, 1, 1, 2}}},
	    {.cga = {{1, 1, 1, 2}, {1, 1, 1, 1}}},
	    {.cga = {{1, 1, 1, 1}, {0}, {1, 1, 1, 2}}},
	    {.cga = {{1, 0, 0, 0}}},
	    {.cga = {{1, 1, 1, 1}, {0, 1, 0, 0}}},
	    {.cga = {{1, 1, 1, 1}, {1, 1, 1, 2}, {1, 1, 1, 3}, {0, 0, 1, 0}}},
	    {.cga = {{1, 1, 1, 1}, {1, 1, 1, 2}, {1, 1, 1, 3}, {1, 1, 0, 4}}},
	    {.cga = {{1, 1, 1, 1}}, .sequence = true},
	};
	struct tutti_task_attributes with[] = {
	    {.work = work, .cga = {{1, 1, 1, 1}}},
	    {.work = work, .coalesce_max = 0x10000},
	    {.work = work, .coalesce_min = 0x10000},
	    {.work = work, .coalesce_min = 0x10000, .coalesce_max = 0x10000},
	    {.work = work, .coalesce_min = 2, .coalesce_max = 1},
	};
	struct tutti_work *gone;
	struct tutti_task *task;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (tutti_task_create(device, &bad[i], &task) != -EINVAL)
			fail_msg("attributes %u were accepted", i);
	for (unsigned i = 0; i < sizeof(with) / sizeof(*with); i++)
		if (tutti_task_create(device, &with[i], &task) != -EINVAL)
			fail_msg("attributes %u of a work queue were accepted", i);
	assert_int_equal(tutti_work_create(device, 4, 8, &gone), 0);
	assert_int_equal(tutti_work_destroy(gone), 0);
	assert_int_equal(tutti_task_create(device, &(struct tutti_task_attributes){.work = gone}, &task), -EINVAL);
	assert_int_equal(tutti_task_create(device, NULL, &task), -EINVAL);
	assert_int_equal(tutti_task_create(device, &bad[0], NULL), -EINVAL);
}

/* tutti_task_counters() returns the state and the counters just as the card has written them to the task's metadata. */
static void counters(void **state)
{
	struct tutti_task_counters got;
	struct tutti_task *task;
	struct tutti_tmd *tmd;

	assert_int_equal(tutti_task_create(device, &(struct tutti_task_attributes){0}, &task), 0);
	tmd = tutti_task_tmd(task);
	tmd->state = 3;
	tmd->error = 4;
	tmd->issued = 5ull << 32 | 1;
	tmd->completed = 6ull << 32 | 1;
	tmd->outstanding = 7;
	tmd->evictions = 8;
	tmd->turns = 9;
	tmd->timeouts = 10;
	memset(&got, 0xff, sizeof(got));
	assert_int_equal(tutti_task_counters(task, &got), 0);
	assert_int_equal(got.state, 3);
	assert_int_equal(got.error, 4);
	assert_int_equal(got.issued, tmd->issued);
	assert_int_equal(got.completed, tmd->completed);
	assert_int_equal(got.outstanding, 7);
	assert_int_equal(got.evictions, 8);
	assert_int_equal(got.turns, 9);
	assert_int_equal(got.timeouts, 10);
	assert_int_equal(tutti_task_counters(task, NULL), -EINVAL);
	assert_int_equal(tutti_task_counters(NULL, &got), -EINVAL);
	assert_int_equal(tutti_task_destroy(task), 0);
	assert_int_equal(tutti_task_counters(task, &got), -EINVAL);
}

/* A task can be destroyed only once and is invalid afterwards. A task that was never dispatched cannot be cancelled. */
static void destroyed_once(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_launch launch = a_launch(0, 0, NULL);
	struct tutti_task *task;

	assert_int_equal(tutti_task_create(device, &(struct tutti_task_attributes){0}, &task), 0);
	assert_int_equal(tutti_task_cancel(task), -ENOENT);
	assert_int_equal(tutti_task_destroy(task), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tutti_task_destroy(task), -EINVAL);
	assert_int_equal(tutti_task_destroy(NULL), 0);
	assert_null(tutti_task_tmd(NULL));
	assert_int_equal(tutti_task_cancel(task), -EINVAL);
	assert_int_equal(tutti_task_dispatch(queue, &launch, task), -EINVAL);
	assert_true(*queue->write_index == 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

static unsigned cancelled_queue;
static uint64_t cancelled_packet;
static struct tutti_queue *cancelled_of;

static int cancels(struct tutti_device *of, unsigned queue, uint64_t packet)
{
	if (cancelled_of)
		assert_int_equal(queue_of(cancelled_of)->handle.calls, 1); /* it cannot be destroyed meanwhile */
	cancelled_queue = queue;
	cancelled_packet = packet;
	return 77;
}

/*
 * Dispatching a task sends the packet of its launch, which points to the task's metadata. To cancel the task, the library
 * names the queue and the index of that packet to the card.
 */
static void dispatched(void **state)
{
	struct tutti_queue *first = a_queue(TUTTI_QUEUE_EXTENDED, false), *queue = a_queue(TUTTI_QUEUE_EXTENDED, true);
	struct tutti_launch launch = a_launch(3, 0x5000, NULL);
	struct tutti_task *task;

	transport.task_cancel = cancels;
	fake.deaf = true;
	assert_int_equal(tutti_task_create(device, &(struct tutti_task_attributes){.work = work}, &task), 0);
	for (uint64_t i = 0; i < 3; i++) {
		union tutti_packet want = {0};

		launch.tmd = tutti_task_tmd(task);
		assert_int_equal(tutti_launch_packet(&launch, &want.dispatch), 0);
		launch.tmd = NULL;
		assert_int_equal(tutti_task_dispatch(queue, &launch, task), 0);
		assert_true(*queue->write_index == i + 1);
		assert_true(*queue->doorbell == i);
		assert_memory_equal(tutti_queue_slot(queue, i), &want, sizeof(want));
		assert_ptr_equal(work->user.queue, queue_of(queue)); /* its doorbell tells the card about new work items */
		cancelled_of = queue;
		assert_int_equal(tutti_task_cancel(task), 77);
		assert_int_equal(cancelled_queue, queue->id);
		assert_true(cancelled_packet == i);
	}
	assert_int_equal(tutti_task_dispatch(first, &launch, task), 0);
	cancelled_of = first;
	assert_int_equal(tutti_task_cancel(task), 77);
	assert_int_equal(cancelled_queue, first->id);
	assert_true(cancelled_packet == 0);
	assert_true(handle_close(&queue_of(first)->handle)); /* a thread has begun to destroy it */
	assert_int_equal(tutti_task_cancel(task), -ENOENT);
	handle_begin(&queue_of(first)->handle, &device->handle);
	assert_int_equal(tutti_queue_destroy(first), 0);
	cancelled_of = NULL;
	assert_int_equal(tutti_task_cancel(task), -ENOENT);
	assert_int_equal(tutti_task_destroy(task), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	transport.task_cancel = NULL;
}

static int dispatch_with(struct tutti_queue *queue, struct tutti_task *task, tutti_signal_t signal, uint16_t workgroup)
{
	struct tutti_launch launch = a_launch(0, 0, signal);
	uint64_t written = *queue->write_index;
	int error;

	launch.workgroup[0] = workgroup;
	error = tutti_task_dispatch(queue, &launch, task);
	assert_true(*queue->write_index == written + !error);
	return error;
}

/* tutti_task_dispatch() refuses what tutti_dispatch() refuses, and there is then nothing to cancel. */
static void not_dispatched(void **state)
{
	struct tutti_queue *plain = a_queue(0, false), *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_launch launch = a_launch(0, 0, NULL);
	struct tutti_task *task;
	tutti_signal_t signal;

	fake.deaf = true;
	transport.task_cancel = cancels;
	assert_int_equal(tutti_task_create(device, &(struct tutti_task_attributes){0}, &task), 0);
	assert_int_equal(tutti_signal_create(device, 1, &signal), 0);
	assert_int_equal(dispatch_with(queue, task, signal, 64), 0);
	assert_int_equal(tutti_task_cancel(task), 77);
	assert_int_equal(dispatch_with(queue, task, signal, 1025), -EINVAL); /* more work-items than a workgroup may have */
	assert_int_equal(tutti_task_cancel(task), -ENOENT);
	assert_int_equal(dispatch_with(queue, task, signal, 0), -EINVAL);
	assert_int_equal(dispatch_with(plain, task, signal, 64), -EINVAL);
	assert_int_equal(tutti_task_dispatch(queue, NULL, task), -EINVAL);
	assert_int_equal(tutti_task_dispatch(NULL, &launch, task), -EINVAL);
	assert_int_equal(tutti_task_dispatch(queue, &launch, NULL), -EINVAL);
	launch.bytes = 8;
	assert_int_equal(tutti_task_dispatch(queue, &launch, task), -EINVAL);
	launch.bytes = 0;
	assert_int_equal(tutti_record_begin(queue), 0);
	assert_int_equal(tutti_task_dispatch(queue, &launch, task), 0);
	assert_int_equal(tutti_task_cancel(task), -ENOENT); /* it has been recorded, so it is not in the queue */
	assert_int_equal(tutti_queue_destroy(queue), 0);
	queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	queue_error_take(device, &(struct tutti_fault){.code = TUTTI_ERROR_PACKET, .queue = (uint16_t)queue->id});
	assert_int_equal(dispatch_with(queue, task, signal, 64), -EIO);
	assert_int_equal(tutti_task_destroy(task), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_queue_destroy(plain), 0);
	transport.task_cancel = NULL;
}

/*
 * The signal of a launch must belong to the device of the queue; otherwise the card would change other memory. A signal
 * that was given up as lost can be waited for again as soon as a launch names it.
 */
static void signals_of_launches(void **state)
{
	static uint64_t words[8] __attribute__((aligned(64)));
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_task *task;
	tutti_signal_t signal;

	fake.deaf = true;
	assert_int_equal(tutti_task_create(device, &(struct tutti_task_attributes){0}, &task), 0);
	assert_int_equal(tutti_signal_create(device, 1, &signal), 0);
	lost_by_failure(device, signal, tutti_signal_load(signal));
	assert_int_equal(dispatch_with(queue, task, signal, 64), 0);
	assert_int_equal(signal->event, 0);
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL), -ETIMEDOUT);
	assert_int_equal(dispatch_with(queue, task, (tutti_signal_t)words, 64), -EINVAL);
	assert_int_equal(tutti_signal_destroy(device, signal), 0);
	assert_int_equal(dispatch_with(queue, task, signal, 64), -EINVAL);
	assert_int_equal(dispatch_with(queue, task, NULL, 64), 0);
	assert_int_equal(tutti_task_destroy(task), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* A task of another device is refused, since its metadata is in the memory of that device. */
static void task_of_another_device(void **state)
{
	struct tutti_device *other = aligned_alloc(64, (sizeof(*other) + 63) & ~63ull);
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_task *task;

	memcpy(other, device, sizeof(*other));
	memset(&other->handle, 0, sizeof(other->handle));
	handle_begin(&other->handle, NULL);
	assert_int_equal(tutti_task_create(other, &(struct tutti_task_attributes){0}, &task), 0);
	assert_int_equal(dispatch_with(queue, task, NULL, 64), -EINVAL);
	assert_int_equal(tutti_task_destroy(task), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	free(other);
}

/*
 * The attributes carry their size. A larger structure, of a newer version, is accepted if all fields that this version does
 * not know are 0, and refused with -E2BIG otherwise. A size that is too small is refused with -EINVAL.
 */
static void sizes_of_attributes(void **state)
{
	struct {
		struct tutti_task_attributes a;
		uint64_t more;
	} of = {.a = {.priority = 3}};
	struct tutti_task *task;

	of.a.bytes = sizeof(of);
	assert_int_equal(tutti_task_create(device, &of.a, &task), 0);
	assert_int_equal(((const struct tutti_tmd *)tutti_task_tmd(task))->priority, 3);
	assert_int_equal(tutti_task_destroy(task), 0);
	of.more = 1;
	assert_int_equal(tutti_task_create(device, &of.a, &task), -E2BIG);
	of.a.bytes = 8;
	assert_int_equal(tutti_task_create(device, &of.a, &task), -EINVAL);
}

/* So does a launch, whether it is for a task or not. */
static void sizes_of_launches(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct {
		struct tutti_launch launch;
		uint64_t more[64]; /* larger than whatever is 0 behind a copy */
	} of = {.launch = a_launch(0, 0, NULL)};
	struct tutti_task *task;

	of.launch.bytes = sizeof(of);
	assert_int_equal(tutti_task_create(device, &(struct tutti_task_attributes){0}, &task), 0);
	assert_int_equal(tutti_dispatch(queue, &of.launch), 0);
	assert_int_equal(tutti_task_dispatch(queue, &of.launch, task), 0);
	of.more[63] = 1;
	assert_int_equal(tutti_dispatch(queue, &of.launch), -E2BIG);
	assert_int_equal(tutti_task_dispatch(queue, &of.launch, task), -E2BIG);
	assert_int_equal(tutti_task_destroy(task), 0);
}

/* If there is no memory for what the card reads, creating a task or a work queue fails and leaves nothing allocated. */
static void no_memory(void **state)
{
	static const size_t sizes[] = {1 << 16, sizeof(struct tutti_tmd), sizeof(struct tutti_work_queue) + 4 * 16};
	struct tutti_work *more;
	struct tutti_task *task;
	void *block;

	for (unsigned i = 0; i < 3; i++)
		while (!memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizes[i], &block))
			;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(tutti_task_create(device, &(struct tutti_task_attributes){0}, &task), -ENOMEM);
		assert_int_equal(tutti_work_create(device, 4, 8, &more), -ENOMEM);
	}
}

#define TASK(f) cmocka_unit_test_setup_teardown(f, open_task, close_task)

int main(void)
{
	const struct CMUnitTest tests[] = {TASK(flags),	     TASK(fields), TASK(affinity), TASK(neighbours),
					   TASK(work_queue), TASK(levels), TASK(refused),  TASK(counters),
					   TASK(destroyed_once), TASK(no_memory), TASK(dispatched), TASK(not_dispatched),
					   TASK(sizes_of_attributes), TASK(sizes_of_launches), TASK(signals_of_launches),
					   TASK(task_of_another_device)};

	return cmocka_run_group_tests_name("TSK-01, SYS-41, RES-07 attributes of tasks", tests, NULL, NULL);
}
