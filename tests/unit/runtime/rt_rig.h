/* SPDX-License-Identifier: MIT */
/** DOC: A transport that plays the card: takes packets in the waiting thread, logs launches, fails on demand */
#ifndef RT_RIG_H
#define RT_RIG_H

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
#include "queue/copier.h"
#include "queue/event.h"
#include "queue/queue.h"
#include "tutti/task.h"

#define POOL	   (64u << 20)
#define BAD_KERNEL 0xbad00ull
#define BAD_BYTES  0xbad00ull /* a copy of so many fails */
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
	uint64_t time;
	bool dead, deaf, late; /* queue_create() times out */
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
	if (p->agent.type == TUTTI_AGENT_COPY && p->agent.arg[2] == BAD_BYTES)
		return false;
	if (p->agent.type == TUTTI_AGENT_TIME) {
		assert_true(!p->agent.arg[0] && !p->agent.arg[1] && !p->agent.arg[2] && !p->agent.arg[3]);
		*(uint64_t *)(uintptr_t)p->agent.return_address = ++fake.time;
	}
	if (p->agent.type == TUTTI_AGENT_FILL)
		for (uint64_t i = 0; i < p->agent.arg[2] / 4; i++)
			((uint32_t *)(uintptr_t)p->agent.arg[0])[i] = (uint32_t)p->agent.arg[1];
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
		memset(fake.stored[m->rsb], 0, sizeof(fake.stored[0])); /* as the card does */
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

static int card_queue_create(struct tutti_device *device, const struct transport_queue *queue)
{
	if (device_dead(device))
		return -EIO;
	pthread_mutex_lock(&fake.lock);
	fake.queue[queue->id] = *queue;
	if (fake.late) {
		pthread_mutex_unlock(&fake.lock);
		return -ETIMEDOUT;
	}
	fake.made[queue->id] = true;
	fake.stopped[queue->id] = false;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int card_queue_destroy(struct tutti_device *device, unsigned queue)
{
	if (device_dead(device))
		return -EIO;
	pthread_mutex_lock(&fake.lock);
	assert_true(fake.made[queue]);
	fake.made[queue] = false;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int card_queue_reset(struct tutti_device *device, unsigned queue)
{
	pthread_mutex_lock(&fake.lock);
	fake.stopped[queue] = false;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int card_rsb_create(struct tutti_device *device, unsigned rsb, bool in_memory)
{
	memset(fake.stored[rsb], 0, 8);
	return 0;
}

static int card_rsb_destroy(struct tutti_device *device, unsigned rsb)
{
	return 0;
}

static int card_rsb_invalidate(struct tutti_device *device, unsigned rsb, uint32_t entries)
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

static void wake_sleepers(struct tutti_device *device)
{
}

static int map(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool,
	       unsigned access)
{
	assert_int_equal(((uintptr_t)address | bytes) % 4096, 0);
	if ((uintptr_t)address - (uintptr_t)fake.pool < 2 * POOL)
		assert_int_equal(pool, (uintptr_t)address - (uintptr_t)fake.pool < POOL ? TUTTI_MEMORY_SYSTEM :
											  TUTTI_MEMORY_CARD);
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

static struct transport transport = {
    .name = "fake",
    .kick = kick,
    .run = run,
    .interrupts = interrupts,
    .sleep = sleep_card,
    .wake = wake_sleepers,
    .pending = pending,
    .poll = poll_card,
    .reserve = reserve,
    .map = map,
    .unmap = unmap,
    .queue_create = card_queue_create,
    .queue_destroy = card_queue_destroy,
    .queue_reset = card_queue_reset,
    .rsb_create = card_rsb_create,
    .rsb_destroy = card_rsb_destroy,
    .rsb_invalidate = card_rsb_invalidate,
    .policy_set = policy_set,
};

static struct tutti_device *device;
static pthread_t test_thread; /* the thread of the test; the one that handles events calls transport.sleep(), too */

/* Start with a card that nothing is known about, and memory for its pools. */
static void reset_fake(void)
{
	memset(bar, 0, sizeof(bar));
	memset(&fake, 0, sizeof(fake));
	pthread_mutex_init(&fake.lock, NULL);
	fake.pool = mmap(NULL, 2 * POOL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

__attribute__((unused)) static int open_fake(void **state)
{
	struct tutti_discovery *d = (void *)bar;

	test_thread = pthread_self();
	reset_fake();
	*d = (struct tutti_discovery){.magic = TUTTI_DISCOVERY_MAGIC,
				      .max_queues = 8,
				      .max_rsbs = 8,
				      .ring_packets_min = 64,
				      .ring_packets_max = 4096,
				      .shared_block_bytes = 2048,
				      .shared_blocks = 64,
				      .workgroup_items = 1024,
				      .private_bytes = 1 << 16,
				      .features = TUTTI_FEATURE_PCIE_ATOMICS,
				      .msix_vectors = 4};
	d->doorbells.offset = 0x8000;
	device = aligned_alloc(64, (sizeof(*device) + 63) & ~63ull);
	memset(device, 0, sizeof(*device));
	handle_begin(&device->handle, NULL);
	pthread_mutex_init(&device->lock, NULL);
	pthread_mutex_init(&device->start_lock, NULL);
	transport.write_combined = false;
	device->transport = &transport;
	device->run = run;
	device->bar = bar;
	device->known = *d;
	device->control = (void *)(bar + 0x1000);
	device->status = (void *)(bar + 0x2000);
	device->status->state = TUTTI_STATE_RUNNING;
	return memory_init(device);
}

__attribute__((unused)) static int close_fake(void **state)
{
	events_stop(device);
	for (unsigned i = 0; i < TUTTI_MAX_QUEUES; i++)
		if (device->queue_error[i])
			tutti_queue_destroy(device->queue_error[i]->queue);
	copier_fini(device);
	memory_fini(device);
	close_card(device);
	pthread_mutex_destroy(&device->lock);
	free(device);
	return 0;
}

static struct tutti_kernel_descriptor descriptor = {.magic = TUTTI_KERNEL_MAGIC};
static struct tutti_kernel kernel[20];

__attribute__((unused)) static struct tutti_launch a_launch(unsigned k, uint64_t kernarg, tutti_signal_t signal)
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

__attribute__((unused)) static struct tutti_queue *a_queue(uint32_t flags, bool multi)
{
	struct tutti_queue_options o = {
	    .packets = 64, .flags = flags, .multi = multi, .error = on_error, .context = &report};
	struct tutti_queue *queue;

	reported = 0;
	assert_int_equal(tutti_queue_create(device, &o, &queue), 0);
	return queue;
}

/* The card takes all packets that are in the ring, without running them. */
__attribute__((unused)) static void take_packets(struct tutti_queue *queue)
{
	for (uint64_t i = *queue->read_index; i < *queue->write_index; i++)
		tutti_queue_slot(queue, i)->dispatch.header = TUTTI_PACKET_INVALID;
	tutti_store_release((uint64_t *)queue->read_index, *queue->write_index);
}

#define T(f) cmocka_unit_test_setup_teardown(f, open_fake, close_fake)

#endif
