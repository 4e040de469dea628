/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Queues, signals, memory and recordings over a transport that plays the card (SYS-40 .. SYS-42, PKT-06,
 * PKT-22). */
#include "lock_check.h"
#include "rt_rig.h"

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
	union tutti_packet packet;
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
	/* launches are refused at once */
	assert_int_equal(tutti_dispatch(queue, &good), -EIO);
	assert_int_equal(*queue->write_index, 3);
	/* packets are taken until the ring is full, then the producer is told; its reservation is taken back */
	assert_int_equal(tutti_launch_packet(&good, &packet.dispatch), 0);
	for (i = 0; i < 200 && !tutti_queue_submit(queue, &packet); i++)
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
	/* without an error all of them arrive */
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
	unsigned n[2] = {17, 9}, seed = 1;

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
