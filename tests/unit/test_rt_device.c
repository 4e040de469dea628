/* SPDX-License-Identifier: MIT */
/* Queues, signals, memory and recordings over a transport that plays the card (SYS-40 .. SYS-42, PKT-06,
 * PKT-22). */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "memory/memory.h"
#include "packet/packet.h"
#include "queue/queue.h"

#define POOL	   (64u << 20)
#define BAD_KERNEL 0xbad00ull
#define LOG	   4096

/* The card: takes packets in the waiting thread, logs launches. */
static struct fake {
	pthread_mutex_t lock;
	struct transport_queue queue[8];
	bool made[8], stopped[8], bad_at[8];
	struct tutti_dispatch_packet rsb[8][8];
	bool stored[8][8];
	struct tutti_dispatch_packet ran[LOG];
	unsigned n, packets, kicks, maps;
	bool dead, deaf;
	struct tutti_fault pending;
	bool fault;
	void *pool;
} fake;
static uint8_t bar[1 << 16] __attribute__((aligned(4096)));

static void launch(const struct tutti_dispatch_packet *p)
{
	fake.ran[fake.n++ % LOG] = *p;
	if (p->signal)
		__atomic_fetch_sub(&((struct tutti_signal *)(uintptr_t)p->signal)->value, 1,
				   __ATOMIC_ACQ_REL);
}

static bool process(unsigned q, union tutti_packet *p)
{
	struct diff diffs[31];
	uint32_t field;
	int n;

	fake.packets++;
	if ((p->word[0] & 0xff) == TUTTI_PACKET_CONDENSED) {
		n = diff_decode(&p->condensed, false, diffs, &field);
		if (n < 0)
			return false;
		for (int k = 0; k < n; k++) {
			struct tutti_dispatch_packet d = fake.rsb[fake.queue[q].rsb][diffs[k].reference];

			if (!fake.stored[fake.queue[q].rsb][diffs[k].reference])
				return false;
			if (diffs[k].vector & TUTTI_DIFF_KERNARG)
				d.kernarg = diffs[k].value[11];
			if (diffs[k].vector & TUTTI_DIFF_SIGNAL)
				d.signal = diffs[k].value[12];
			if (diffs[k].vector & TUTTI_DIFF_KERNEL_OBJECT)
				d.kernel_object = diffs[k].value[10];
			if (diffs[k].vector & TUTTI_DIFF_GRID_X)
				d.grid_x = (uint32_t)diffs[k].value[5];
			launch(&d);
		}
		return true;
	}
	if ((p->word[0] & 0xff) == TUTTI_PACKET_KERNEL_DISPATCH) {
		if (p->dispatch.kernel_object == BAD_KERNEL)
			return false;
		if (p->dispatch.ref_num) {
			fake.rsb[fake.queue[q].rsb][p->dispatch.ref_num & 7] = p->dispatch;
			fake.stored[fake.queue[q].rsb][p->dispatch.ref_num & 7] = true;
		}
		launch(&p->dispatch);
		return true;
	}
	if (p->agent.type == TUTTI_AGENT_COPY)
		memcpy((void *)(uintptr_t)p->agent.arg[0], (void *)(uintptr_t)p->agent.arg[1],
		       p->agent.arg[2]);
	if (p->agent.signal)
		__atomic_fetch_sub(&((struct tutti_signal *)(uintptr_t)p->agent.signal)->value, 1,
				   __ATOMIC_ACQ_REL);
	return true;
}

static bool step(unsigned q)
{
	struct transport_queue *m = &fake.queue[q];
	uint64_t *read = (uint64_t *)(uintptr_t)m->read_index, index = *read;
	union tutti_packet *slot = (union tutti_packet *)(uintptr_t)m->ring +
				   (index & ((1u << m->size_log2) - 1)),
			   copy;

	if (!fake.made[q] || fake.stopped[q] || fake.deaf ||
	    (tutti_load_acquire(&slot->word[0]) & 0xff) <= TUTTI_PACKET_INVALID)
		return false;
	copy = *slot;
	if (!process(q, &copy)) {
		fake.stopped[q] = true;
		fake.pending = (struct tutti_fault){
		    .code = TUTTI_ERROR_CODE_OBJECT, .queue = (uint16_t)q, .packet = index};
		tutti_store_release(&fake.fault, true);
	}
	tutti_store_release(&slot->word[0], TUTTI_PACKET_INVALID);
	tutti_store_release(read, index + 1);
	return true;
}

static bool run(struct tutti_device *device, bool (*done)(void *), void *context)
{
	bool idle = false;

	if (pthread_mutex_trylock(&fake.lock))
		return false;
	while (!idle && !(done && done(context))) {
		idle = true;
		for (unsigned q = 0; q < 8; q++)
			idle &= !fake.made[q] || !step(q);
		if (__atomic_load_n(&fake.fault, __ATOMIC_ACQUIRE))
			break;
	}
	pthread_mutex_unlock(&fake.lock);
	return idle;
}

static int queue_create(struct tutti_device *device, const struct transport_queue *queue)
{
	if (device_dead(device))
		return -EIO;
	pthread_mutex_lock(&fake.lock);
	fake.queue[queue->id] = *queue;
	fake.made[queue->id] = true;
	fake.stopped[queue->id] = false;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int queue_destroy(struct tutti_device *device, unsigned queue)
{
	if (device_dead(device))
		return -EIO;
	pthread_mutex_lock(&fake.lock);
	assert_true(fake.made[queue]);
	fake.made[queue] = false;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int queue_reset(struct tutti_device *device, unsigned queue)
{
	pthread_mutex_lock(&fake.lock);
	fake.stopped[queue] = false;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int rsb_create(struct tutti_device *device, unsigned rsb, bool in_memory)
{
	memset(fake.stored[rsb], 0, 8);
	return 0;
}

static int rsb_destroy(struct tutti_device *device, unsigned rsb)
{
	return 0;
}

static int rsb_invalidate(struct tutti_device *device, unsigned rsb, uint32_t entries)
{
	pthread_mutex_lock(&fake.lock);
	for (unsigned e = 0; e < 8; e++)
		if (entries >> e & 1)
			fake.stored[rsb][e] = false;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int policy_set(struct tutti_device *device, unsigned policy, uint32_t value)
{
	return device_dead(device) ? -EIO : 0;
}

static bool pending(const struct tutti_device *device)
{
	return tutti_load_relaxed(&fake.fault);
}

static bool poll_card(struct tutti_device *device)
{
	if (!__atomic_exchange_n(&fake.fault, false, __ATOMIC_ACQ_REL))
		return false;
	queue_error_take(device, &fake.pending);
	return true;
}

static void sleep_card(struct tutti_device *device, uint64_t seen, uint64_t deadline)
{
	usleep(50);
}

static uint64_t interrupts(struct tutti_device *device)
{
	return 0;
}

static void kick(struct tutti_device *device)
{
	fake.kicks++;
}

static int map(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool,
	       unsigned access)
{
	assert_int_equal(((uintptr_t)address | bytes) % 4096, 0);
	fake.maps++;
	return 0;
}

static int unmap(struct tutti_device *device, void *address, size_t bytes)
{
	assert_int_equal(((uintptr_t)address | bytes) % 4096, 0);
	fake.maps--;
	return 0;
}

static int reserve(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes)
{
	*base = (uint8_t *)fake.pool + (pool ? POOL : 0);
	*bytes = POOL;
	return 0;
}

static void close_card(struct tutti_device *device)
{
	munmap(fake.pool, 2 * POOL);
}

static const struct transport transport = {
    .name = "fake",
    .kick = kick,
    .run = run,
    .interrupts = interrupts,
    .sleep = sleep_card,
    .pending = pending,
    .poll = poll_card,
    .reserve = reserve,
    .map = map,
    .unmap = unmap,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_reset = queue_reset,
    .rsb_create = rsb_create,
    .rsb_destroy = rsb_destroy,
    .rsb_invalidate = rsb_invalidate,
    .policy_set = policy_set,
};

static struct tutti_device *device;

static int open_fake(void **state)
{
	struct tutti_discovery *d = (void *)bar;

	memset(bar, 0, sizeof(bar));
	memset(&fake, 0, sizeof(fake));
	pthread_mutex_init(&fake.lock, NULL);
	fake.pool = mmap(NULL, 2 * POOL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*d = (struct tutti_discovery){.magic = TUTTI_DISCOVERY_MAGIC,
				      .max_queues = 8,
				      .max_rsbs = 8,
				      .ring_packets_min = 64,
				      .ring_packets_max = 4096,
				      .shared_block_bytes = 2048,
				      .features = TUTTI_FEATURE_PCIE_ATOMICS,
				      .msix_vectors = 4};
	d->doorbells.offset = 0x8000;
	device = aligned_alloc(64, (sizeof(*device) + 63) & ~63ull);
	memset(device, 0, sizeof(*device));
	pthread_mutex_init(&device->lock, NULL);
	device->transport = &transport;
	device->run = run;
	device->bar = bar;
	device->known = *d;
	device->control = (void *)(bar + 0x1000);
	device->status = (void *)(bar + 0x2000);
	device->status->state = TUTTI_STATE_RUNNING;
	return memory_init(device);
}

static int close_fake(void **state)
{
	for (unsigned i = 0; i < TUTTI_MAX_QUEUES; i++)
		if (device->queue_error[i])
			tutti_queue_destroy(device->queue_error[i]->queue);
	memory_fini(device);
	close_card(device);
	pthread_mutex_destroy(&device->lock);
	free(device);
	return 0;
}

static struct tutti_kernel_descriptor descriptor;
static struct tutti_kernel kernel[20];

static struct tutti_launch a_launch(unsigned k, uint64_t kernarg, tutti_signal_t signal)
{
	kernel[k] = (struct tutti_kernel){.object = 0x10000 + 64 * k, .descriptor = &descriptor};
	return (struct tutti_launch){.kernel = &kernel[k],
				     .grid = {1000},
				     .workgroup = {64},
				     .kernarg = (void *)kernarg,
				     .signal = signal,
				     .barrier = true,
				     .acquire = 2,
				     .release = 2};
}

static unsigned reported;
static struct tutti_fault report;

static void on_error(struct tutti_queue *queue, const struct tutti_fault *fault, void *context)
{
	reported++;
	report = *fault;
	if (context) {
		tutti_signal_t s; /* the library may be used from the callback */

		assert_int_equal(tutti_signal_create(device, 0, &s), 0);
		tutti_signal_destroy(device, s);
	}
}

static struct tutti_queue *a_queue(uint32_t flags, bool multi)
{
	struct tutti_queue_options o = {
	    .packets = 64, .flags = flags, .multi = multi, .error = on_error, .context = &report};
	struct tutti_queue *queue;

	reported = 0;
	assert_int_equal(tutti_queue_create(device, &o, &queue), 0);
	return queue;
}

static void dispatch_and_wait(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	tutti_signal_t signal;
	int64_t seen;

	assert_int_equal(tutti_signal_create(device, 500, &signal), 0);
	for (unsigned i = 0; i < 500; i++) { /* far more than the ring: waits drive the card */
		struct tutti_launch l = a_launch(i % 3, i, signal);

		assert_int_equal(tutti_dispatch(queue, &l), 0);
	}
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_LT, 1, TUTTI_WAIT_FOREVER, &seen), 0);
	assert_int_equal(seen, 0);
	for (unsigned i = 0; i < 500; i++)
		assert_int_equal(fake.ran[i].kernarg, i);
	assert_int_equal(tutti_queue_drain(queue, 1000000000), 0);
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_NE, 0, 0, NULL), -ETIMEDOUT);
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_NE, 0, 3000000, NULL), -ETIMEDOUT);
	tutti_signal_destroy(device, signal);
	tutti_queue_destroy(queue);
}

static void bad_launches(void **state)
{
	struct tutti_dispatch_packet p;
	struct tutti_launch l;
#define BAD(change)                                                                                          \
	do {                                                                                                 \
		l = a_launch(0, 0, NULL);                                                                    \
		assert_int_equal(tutti_launch_packet(&l, &p), 0);                                            \
		change;                                                                                      \
		assert_int_equal(tutti_launch_packet(&l, &p), -EINVAL);                                      \
	} while (0)

	BAD(l.kernel = NULL);
	BAD(l.grid[0] = 0);
	BAD(l.workgroup[0] = 0);
	BAD(l.acquire = 3);
	BAD(l.release = 3);
	BAD(l.signal = (tutti_signal_t)8);
	BAD(l.tmd = (void *)8);
	BAD((kernel[0].group_bytes = 1, l.dynamic_group_bytes = UINT32_MAX));
	BAD((l.workgroup[0] = 1024, l.workgroup[1] = 1024));
	l = a_launch(0, 7, NULL);
	l.grid[2] = 3;
	assert_int_equal(tutti_launch_packet(&l, &p), 0);
	assert_int_equal(p.setup, 3);
	assert_int_equal(p.grid_y, 1);
	assert_int_equal(p.workgroup_z, 1);
}

static void error_is_told_once(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	struct tutti_launch bad = a_launch(0, 0, NULL), good = a_launch(1, 5, NULL);
	struct tutti_fault fault;
	unsigned i;

	kernel[0].object = BAD_KERNEL;
	assert_int_equal(tutti_dispatch(queue, &good), 0);
	assert_int_equal(tutti_dispatch(queue, &bad), 0);
	assert_int_equal(tutti_dispatch(queue, &good), 0);
	for (i = 0; i < 5; i++)
		assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(report.packet, 1);
	assert_int_equal(tutti_queue_error(queue, &fault), TUTTI_ERROR_CODE_OBJECT);
	assert_int_equal(fault.packet, 1);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), -EIO);
	/* the ring fills, then the producer is told; its reservation is taken back */
	for (i = 0; i < 200 && !tutti_dispatch(queue, &good); i++)
		;
	assert_in_range(i, 62, 63);
	assert_int_equal(*queue->write_index - *queue->read_index, 64);
	assert_int_equal(tutti_queue_reset(queue), 0);
	assert_int_equal(tutti_queue_error(queue, NULL), 0);
	assert_int_equal(tutti_dispatch(queue, &good), 0);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(fake.n, 1 + 1 + i + 1);
	tutti_queue_destroy(queue);
}

static struct tutti_queue *shared;
static unsigned accepted;

static void *producer(void *context)
{
	struct tutti_launch l = {0};
	int error = 0;

	l = *(struct tutti_launch *)context;
	for (unsigned i = 0; i < 3000 && !error; i++) {
		error = tutti_dispatch(shared, &l);
		if (!error)
			__atomic_fetch_add(&accepted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void stopped_multi_queue_gives_back(void **state)
{
	struct tutti_launch bad = a_launch(0, 0, NULL), good = a_launch(1, 5, NULL);
	pthread_t thread[4];

	kernel[0].object = BAD_KERNEL;
	shared = a_queue(0, true);
	accepted = 0;
	assert_int_equal(tutti_dispatch(shared, &bad), 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, producer, &good);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(*shared->write_index, 1 + accepted); /* no holes */
	assert_int_equal(tutti_queue_reset(shared), 0);
	assert_int_equal(tutti_queue_drain(shared, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(fake.n, accepted);
	/* and without an error all of them arrive */
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, producer, &good);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(tutti_queue_drain(shared, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(fake.n, accepted);
	assert_true(accepted >= 12000);
	tutti_queue_destroy(shared);
}

static void card_dies(void **state)
{
	struct tutti_queue *queue = a_queue(0, false), *other;
	tutti_signal_t signal;

	tutti_signal_create(device, 1, &signal);
	device->status->state = TUTTI_STATE_CRASHED;
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), -EIO);
	assert_int_equal(tutti_queue_create(device, NULL, &other), -EIO);
	assert_int_equal(tutti_queue_poll(queue), -EIO);
	assert_int_equal(tutti_device_policy(device, 0, 0), -EIO);
	tutti_signal_destroy(device, signal);
	tutti_queue_destroy(queue);
}

static void queue_options(void **state)
{
	struct tutti_queue *queue;
#define REFUSED(want, ...)                                                                                   \
	do {                                                                                                 \
		struct tutti_queue_options o = {__VA_ARGS__};                                                \
		assert_int_equal(tutti_queue_create(device, &o, &queue), want);                              \
	} while (0)

	REFUSED(-EINVAL, .packets = 100);
	REFUSED(-EINVAL, .packets = 8192);
	REFUSED(-EINVAL, .priority = 11);
	REFUSED(-EINVAL, .flags = 64);
	REFUSED(-EINVAL, .flags = TUTTI_QUEUE_OVERLAP);
	REFUSED(-ENOTSUP, .ring = TUTTI_MEMORY_CARD);
	REFUSED(0, .packets = 2);
	assert_int_equal(queue->mask, 63);
	tutti_queue_destroy(queue);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	assert_int_equal(tutti_queue_create(device, NULL, &queue), -ENOSPC);
}

static void memory(void **state)
{
	static uint8_t mine[20000];
	void *a, *start;
	size_t bytes;
	enum tutti_memory pool;

	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 0, &a), -EINVAL);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 1ull << 40, &a), -ENOMEM);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 1ull << 40, &a), -ENOSPC);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 5000, &a), 0);
	assert_int_equal(tutti_memory_info(device, (uint8_t *)a + 4999, &start, &bytes, &pool), 0);
	assert_ptr_equal(start, a);
	assert_int_equal(bytes, 8192);
	assert_int_equal(pool, TUTTI_MEMORY_CARD);
	assert_int_equal(tutti_memory_free(device, NULL), 0);
	assert_int_equal(tutti_memory_free(device, (uint8_t *)a + 4096), -EINVAL);
	assert_int_equal(tutti_memory_free(device, mine), -EINVAL);
	assert_int_equal(tutti_memory_lock(device, a, 10), -EEXIST);
	assert_int_equal(tutti_memory_free(device, a), 0);
	assert_int_equal(tutti_memory_free(device, a), -EINVAL);
	assert_int_equal(tutti_memory_info(device, a, NULL, NULL, NULL), -ENOENT);
	/* neighbours may share a page; it stays mapped until both have gone */
	unsigned before = fake.maps;
	assert_int_equal(tutti_memory_lock(device, mine + 100, 5000), 0);
	assert_int_equal(tutti_memory_lock(device, mine + 5100, 5000), 0);
	assert_int_equal(tutti_memory_info(device, mine + 5099, &start, &bytes, &pool), 0);
	assert_ptr_equal(start, mine + 100);
	assert_int_equal(tutti_memory_unlock(device, mine + 100), 0);
	assert_int_equal(tutti_memory_unlock(device, mine + 100), -EINVAL);
	assert_int_equal(tutti_memory_unlock(device, mine + 5100), 0);
	assert_int_equal(fake.maps, before);
}

static void copies(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	uint8_t from[1000], to[1000] = {0};

	memset(from, 0x5a, sizeof(from));
	assert_int_equal(tutti_copy(queue, to, from, sizeof(to)), 0);
	assert_memory_equal(to, from, sizeof(to));
	tutti_queue_destroy(queue);
}

/* Replays run what was recorded, in any form, with changes, with another recording taking entries. */
static void replays(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_recording *r[2];
	uint64_t want[2][40];
	unsigned n[2] = {17, 9}, seed = 1, total = 0;

	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(tutti_record_begin(queue), 0);
		assert_int_equal(tutti_record_begin(queue), -EBUSY);
		for (unsigned i = 0; i < n[k]; i++) {
			struct tutti_launch l = a_launch(i % 11, want[k][i] = 100 * k + i, NULL);

			assert_int_equal(tutti_dispatch(queue, &l), 0);
		}
		assert_int_equal(tutti_record_end(queue, &r[k]), 0);
		assert_int_equal(tutti_record_end(queue, &r[k]), -EINVAL);
		assert_int_equal(tutti_recording_kernels(r[k]), n[k]);
	}
	assert_int_equal(*queue->write_index, 0);
	for (unsigned round = 0; round < 400; round++) {
		unsigned k = (unsigned)rand_r(&seed) % 3 ? round / 10 % 2 : round % 2,
			 i = (unsigned)rand_r(&seed) % n[k];

		if (rand_r(&seed) % 2)
			assert_int_equal(
			    tutti_recording_set_kernarg(r[k], i, (void *)(want[k][i] = 1000 + round)), 0);
		if (!(round % 31))
			tutti_recording_form(r[k], (unsigned)rand_r(&seed) % 3);
		if (!(round % 57))
			assert_int_equal(tutti_rsb_invalidate(tutti_queue_rsb(queue), 0xff), 0);
		fake.n = 0;
		assert_int_equal(tutti_replay(r[k]), 0);
		assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
		assert_int_equal(fake.n, n[k]);
		for (unsigned j = 0; j < n[k]; j++) {
			assert_int_equal(fake.ran[j].kernarg, want[k][j]);
			assert_int_equal(fake.ran[j].kernel_object, 0x10000 + 64 * (j % 11));
		}
		total++;
	}
	assert_int_equal(reported, 0);
	tutti_recording_destroy(r[0]);
	tutti_queue_destroy(queue);
	assert_int_equal(tutti_replay(r[1]), -EINVAL);
	tutti_recording_destroy(r[1]);
}

static void one_packet_for_six(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_recording *r;

	tutti_record_begin(queue);
	for (unsigned i = 0; i < 6; i++) {
		struct tutti_launch l = a_launch(i, i, NULL);

		tutti_dispatch(queue, &l);
	}
	tutti_record_end(queue, &r);
	assert_int_equal(tutti_replay(r), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(tutti_replay(r), 0);
	assert_int_equal(tutti_recording_packets(r), 1);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(fake.packets, 6 + 100);
	assert_int_equal(fake.n, 606);
	tutti_recording_destroy(r);
	assert_int_equal(tutti_rsb_destroy(tutti_queue_rsb(queue)), -EBUSY);
	tutti_queue_destroy(queue);
}

#define T(f) cmocka_unit_test_setup_teardown(f, open_fake, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(dispatch_and_wait),
	    T(bad_launches),
	    T(error_is_told_once),
	    T(stopped_multi_queue_gives_back),
	    T(card_dies),
	    T(queue_options),
	    T(memory),
	    T(copies),
	    T(replays),
	    T(one_packet_for_six),
	};

	return cmocka_run_group_tests_name("SYS-40 runtime over a played card", tests, NULL, NULL);
}
