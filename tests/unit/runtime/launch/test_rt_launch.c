/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Launches that are refused when they are made, at the very limits of a card (SYS-41, PKT-06), and how a task is
 * dispatched. */
#include "lock_check.h"
#include "rt_rig.h"

static struct tutti_kernel_descriptor d;
static struct tutti_kernel k;
static struct tutti_launch l;

static int open_small(void **state)
{
	int error = open_fake(state);

	device->known.sms = 7;
	device->known.gpcs = 3;
	device->known.gpc[0].sms = 2;
	device->known.gpc[1].sms = 4;
	device->known.gpc[2].sms = 1;
	device->known.gpc[3].sms = 64; /* of no GPC */
	device->known.cta_slots = 16;
	device->known.cga_ctas = 40;
	device->known.peus = 4;
	device->known.peu_waves = 8;
	device->known.scalar_blocks = 12;
	device->known.vector_blocks = 20;
	return error;
}

/* A launch that this card takes; what the tests change of it. */
static void plain(void)
{
	d = (struct tutti_kernel_descriptor){.magic = TUTTI_KERNEL_MAGIC};
	k = (struct tutti_kernel){.object = 0x10000, .descriptor = &d};
	l = (struct tutti_launch){.kernel = &k, .grid = {64, 1, 1}, .workgroup = {32, 1, 1}};
}

#define GIVES(want, change)                                                                                            \
	do {                                                                                                           \
		plain();                                                                                               \
		change;                                                                                                \
		if (tutti_launch_check(device, &l) != (int)(want))                                                     \
			fail_msg("%s: %d", #change, tutti_launch_check(device, &l));                                   \
		assert_int_equal(tutti_dispatch(queue, &l), (want) ? -EINVAL : 0);                                     \
		assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);                                     \
	} while (0)

static void limits(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	static uint64_t tmd[8] __attribute__((aligned(64)));

	GIVES(0, (void)0);
	GIVES(0, (l.workgroup[0] = 1024));
	GIVES(TUTTI_ERROR_WORKGROUP, (l.workgroup[0] = 1025));
	GIVES(0, (l.workgroup[0] = 32, l.workgroup[1] = 32));
	GIVES(TUTTI_ERROR_WORKGROUP, (l.workgroup[0] = 41, l.workgroup[1] = 25));
	GIVES(0, (l.workgroup[0] = 16, l.workgroup[1] = 16, l.workgroup[2] = 4));
	GIVES(TUTTI_ERROR_WORKGROUP, (l.workgroup[0] = 16, l.workgroup[1] = 16, l.workgroup[2] = 5));
	GIVES(0, (k.private_bytes = (1 << 16) / 32));
	GIVES(TUTTI_ERROR_PRIVATE_MEMORY, (k.private_bytes = (1 << 16) / 32 + 1));
	GIVES(TUTTI_ERROR_PRIVATE_MEMORY, (k.private_bytes = 1u << 27)); /* which makes 2^32 for a wave */
	GIVES(0, (k.group_bytes = 64 * 2048));
	GIVES(TUTTI_ERROR_GROUP_MEMORY, (k.group_bytes = 64 * 2048, l.dynamic_group_bytes = 1));
	GIVES(TUTTI_ERROR_PRIVATE_MEMORY, (k.private_bytes = 1 << 16, l.tmd = tmd));
	GIVES(0, (k.group_bytes = 64 * 2048 + 1, l.tmd = tmd)); /* in throttle mode SMs share their memory */
	GIVES(0, (d.cga[0] = 3, d.cga[1] = d.cga[2] = 1, d.cga_kind = 2, l.tmd = tmd));
	for (unsigned i = 0; i < 3; i++) {
		GIVES(0, (d.workgroup[i] = (uint16_t)(i ? 1 : 32)));
		GIVES(-EINVAL, (d.workgroup[i] = 16));
	}
	GIVES(0, (d.workgroup_max = 32));
	GIVES(-EINVAL, (d.workgroup_max = 31));
	GIVES(-EINVAL, (l.workgroup[0] = 0x8000, l.workgroup[1] = 2)); /* more than a field of the packet says */
	GIVES(-EINVAL, d.magic++);
	GIVES(TUTTI_ERROR_WORKGROUP, (l.workgroup[0] = 0xffff));
	GIVES(0, k.descriptor = NULL);
	assert_int_equal(tutti_launch_check(device, NULL), -EINVAL);
}

/* What is not said of a grid is 1, and a packet has as many dimensions as one of grid and workgroup needs. */
static void dimensions(void **state)
{
	static const struct {
		uint32_t grid[3];
		uint16_t workgroup[3], setup;
	} rows[] = {{{9, 0, 0}, {4, 0, 0}, 1}, {{9, 1, 1}, {4, 1, 1}, 1}, {{9, 2, 0}, {4, 0, 0}, 2}, {{9, 2, 1}, {4, 1, 1}, 2},
		    {{9, 0, 0}, {4, 2, 0}, 2}, {{9, 1, 1}, {4, 2, 1}, 2}, {{9, 0, 2}, {4, 0, 0}, 3}, {{9, 1, 2}, {4, 1, 1}, 3},
		    {{9, 0, 0}, {4, 0, 2}, 3}, {{9, 1, 1}, {4, 1, 2}, 3}, {{9, 5, 6}, {4, 2, 3}, 3}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tutti_dispatch_packet p;

		memset(&p, 0xff, sizeof(p));
		plain();
		memcpy(l.grid, rows[i].grid, sizeof(l.grid));
		memcpy(l.workgroup, rows[i].workgroup, sizeof(l.workgroup));
		assert_int_equal(tutti_launch_packet(&l, &p), 0);
		assert_int_equal(p.setup, rows[i].setup);
		assert_int_equal(p.grid_x, 9);
		assert_int_equal(p.grid_y, rows[i].grid[1] ? rows[i].grid[1] : 1);
		assert_int_equal(p.grid_z, rows[i].grid[2] ? rows[i].grid[2] : 1);
		assert_int_equal(p.workgroup_x, 4);
		assert_int_equal(p.workgroup_y, rows[i].workgroup[1] ? rows[i].workgroup[1] : 1);
		assert_int_equal(p.workgroup_z, rows[i].workgroup[2] ? rows[i].workgroup[2] : 1);
		assert_int_equal(p.ref_num, 0);
	}
}

/* What the packet names lies at a multiple of 64 bytes. */
static void refused(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	struct tutti_dispatch_packet p;

	for (uintptr_t at = 1; at < 64; at *= 2) {
		plain();
		l.signal = (tutti_signal_t)at;
		assert_int_equal(tutti_launch_packet(&l, &p), -EINVAL);
		plain();
		l.tmd = (void *)at;
		assert_int_equal(tutti_launch_packet(&l, &p), -EINVAL);
	}
	plain();
	assert_int_equal(tutti_launch_packet(NULL, &p), -EINVAL);
	assert_int_equal(tutti_launch_packet(&l, NULL), -EINVAL);
	assert_int_equal(tutti_dispatch(NULL, &l), -EINVAL);
	assert_int_equal(tutti_dispatch(queue, NULL), -EINVAL);
	l.grid[0] = 0;
	assert_int_equal(tutti_dispatch(queue, &l), -EINVAL);
	plain();
	l.bytes = 1;
	assert_int_equal(tutti_launch_packet(&l, &p), -EINVAL);
	assert_int_equal(*queue->write_index, 0);
	plain();
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_dispatch(queue, &l), -EINVAL);
}

/* A program that only launches notices that the card has sent an error of the queue. */
static void launches_notice_errors(void **state)
{
	struct tutti_queue *queue;

	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0); /* nobody else looks */
	fake.pending = (struct tutti_fault){.code = TUTTI_ERROR_PACKET, .queue = (uint16_t)queue->id};
	fake.fault = true;
	plain();
	assert_int_equal(tutti_dispatch(queue, &l), -EIO);
	assert_int_equal(*queue->write_index, 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

#define CGA(x, y, z, kind_of) (d.cga[0] = x, d.cga[1] = y, d.cga[2] = z, d.cga_kind = kind_of)

/* CGAs: whole ones, no larger than what their part of the card can hold at once. */
static void cgas(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
	static const unsigned step[] = {2, 3, 5};

	for (unsigned i = 0; i < 3; i++) {
		GIVES(0, (CGA(1, 1, 1, TUTTI_CGA_GPC), d.cga[i] = (uint16_t)step[i],
			  l.grid[i] = step[i] * 4 * l.workgroup[i]));
		GIVES(TUTTI_ERROR_GRID, (CGA(1, 1, 1, TUTTI_CGA_GPC), d.cga[i] = (uint16_t)step[i],
					 l.grid[i] = (step[i] * 4 + 1) * l.workgroup[i]));
		if (!i) /* the last workgroup need not be full */
			GIVES(0, (CGA(2, 1, 1, TUTTI_CGA_GPC), l.grid[0] = 7 * 32 + 1));
		GIVES(TUTTI_ERROR_GRID, (CGA(1, 1, 1, TUTTI_CGA_GPC), d.cga[i] = 0));
		/* the kind decides whether there are CGAs, whatever else the code object says */
		GIVES(0, (CGA(2, 2, 2, TUTTI_CGA_NONE), d.cga[i] = 0, l.grid[0] = 3 * 32));
	}
	/* the largest with ranks, in a part and on the whole card */
	GIVES(0, (CGA(40, 1, 1, TUTTI_CGA_GPC), l.grid[0] = 80 * 32));
	GIVES(TUTTI_ERROR_GRID, (CGA(41, 1, 1, TUTTI_CGA_GPC), l.grid[0] = 82 * 32));
	GIVES(TUTTI_ERROR_GRID, (CGA(41, 1, 1, TUTTI_CGA_CPC), l.grid[0] = 82 * 32));
	GIVES(0, (CGA(41, 1, 1, TUTTI_CGA_GPU), l.grid[0] = 82 * 32));
	GIVES(0, (CGA(28, 4, 1, TUTTI_CGA_GPU), l.grid[0] = 28 * 32, l.grid[1] = 4)); /* 7 SMs of 16 */
	GIVES(TUTTI_ERROR_GRID, (CGA(29, 4, 1, TUTTI_CGA_GPU), l.grid[0] = 29 * 32, l.grid[1] = 4));
	GIVES(TUTTI_ERROR_GRID, (CGA(113, 1, 1, TUTTI_CGA_GPU), l.grid[0] = 113 * 32));
	GIVES(TUTTI_ERROR_GRID,
	      (CGA(0x8000, 0x8000, 4, TUTTI_CGA_GPU), l.grid[0] = 0x8000 * 32, l.grid[1] = 0x8000, l.grid[2] = 4));
	/* waves of eight a PEU, four PEUs: an SM holds 16 workgroups of two waves; four of eight, two of nine to 16 */
	GIVES(0, (CGA(32, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 128, l.grid[0] = 32 * 128));
	GIVES(TUTTI_ERROR_GRID, (CGA(33, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 128, l.grid[0] = 33 * 128));
	GIVES(0, (CGA(12, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 320, l.grid[0] = 12 * 320));
	GIVES(TUTTI_ERROR_GRID, (CGA(13, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 320, l.grid[0] = 13 * 320));
	GIVES(0, (CGA(12, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 10, l.workgroup[1] = 8, l.workgroup[2] = 4,
		  l.grid[0] = 120));
	GIVES(TUTTI_ERROR_GRID, (CGA(13, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 10, l.workgroup[1] = 8,
				 l.workgroup[2] = 4, l.grid[0] = 130));
}

/* Registers limit the waves of a PEU; waves that may run one after the other need only a slot. */
static void cgas_and_registers(void **state)
{
	struct tutti_queue *queue = a_queue(0, false);
#define WAVES(n) (CGA((n), 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 64, l.grid[0] = (n)*64)

	GIVES(0, (WAVES(40), d.scalar_blocks = 2)); /* six waves a PEU, 12 workgroups an SM */
	GIVES(0, (WAVES(24), d.scalar_blocks = 4));
	GIVES(TUTTI_ERROR_GRID, (WAVES(25), d.scalar_blocks = 4));
	GIVES(0, (WAVES(16), d.vector_blocks = 10));
	GIVES(TUTTI_ERROR_GRID, (WAVES(17), d.vector_blocks = 10));
	GIVES(0, (WAVES(8), d.vector_blocks = 20, d.scalar_blocks = 1));
	GIVES(TUTTI_ERROR_GRID, (WAVES(9), d.vector_blocks = 20));
	GIVES(TUTTI_ERROR_WORKGROUP, (WAVES(1), d.vector_blocks = 21));
	GIVES(TUTTI_ERROR_WORKGROUP, (WAVES(1), d.scalar_blocks = 13));
	GIVES(0, (WAVES(40), d.scalar_blocks = 13, d.flags = TUTTI_KERNEL_INDEPENDENT));
	GIVES(TUTTI_ERROR_WORKGROUP,
	      (CGA(1, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 1024, l.grid[0] = 1024, d.scalar_blocks = 2));
	GIVES(0, (CGA(4, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 1024, l.grid[0] = 4096));
	GIVES(TUTTI_ERROR_GRID, (CGA(5, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 1024, l.grid[0] = 5120));
	GIVES(0, (CGA(7, 1, 1, TUTTI_CGA_GPU), l.workgroup[0] = 1024, l.grid[0] = 7168));
	GIVES(TUTTI_ERROR_GRID, (CGA(8, 1, 1, TUTTI_CGA_GPU), l.workgroup[0] = 1024, l.grid[0] = 8192));
	device->known.gpc[0].sms = 5; /* whichever it is that is the largest */
	GIVES(0, (CGA(5, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 1024, l.grid[0] = 5120));
	device->known.gpcs = TUTTI_MAX_GPCS;
	device->known.gpc[TUTTI_MAX_GPCS - 1].sms = 6;
	device->known.gpc[3].sms = 0;
	GIVES(0, (CGA(6, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 1024, l.grid[0] = 6 * 1024));
	device->known.gpcs = TUTTI_MAX_GPCS - 1;
	GIVES(TUTTI_ERROR_GRID, (CGA(6, 1, 1, TUTTI_CGA_GPC), l.workgroup[0] = 1024, l.grid[0] = 6 * 1024));
}

/* ---- tasks ---- */

static struct tutti_task *a_task(struct tutti_work *work)
{
	struct tutti_task *task;

	assert_int_equal(tutti_task_create(device, &(struct tutti_task_attributes){.work = work}, &task), 0);
	return task;
}

static int cancels(struct tutti_device *device, unsigned queue, uint64_t packet)
{
	return queue * 1000 + (int)packet;
}

/* A task is dispatched to extended queues, with its metadata, and is cancelled where it was dispatched last. */
static void task_dispatch(void **state)
{
	struct tutti_queue *plain_queue = a_queue(0, false), *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_task *task = a_task(NULL);
	struct tutti_recording *recording;

	transport.task_cancel = cancels;
	plain();
	assert_int_equal(tutti_task_dispatch(plain_queue, &l, task), -EINVAL);
	assert_int_equal(tutti_task_cancel(task), -ENOENT);
	assert_int_equal(tutti_task_dispatch(queue, &l, task), 0);
	assert_int_equal(tutti_task_dispatch(queue, &l, task), 0);
	assert_int_equal(tutti_task_cancel(task), 1001);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(fake.n, 2);
	assert_int_equal(fake.ran[0].tmd, (uintptr_t)tutti_task_tmd(task));
	/* what cannot be dispatched is not cancelled, nor is what was dispatched before */
	k.private_bytes = 1 << 16;
	assert_int_equal(tutti_task_dispatch(queue, &l, task), -EINVAL);
	assert_int_equal(tutti_task_cancel(task), -ENOENT);
	plain();
	l.grid[0] = 0;
	assert_int_equal(tutti_task_dispatch(queue, &l, task), -EINVAL);
	assert_int_equal(*queue->write_index, 2);
	plain();
	l.bytes = sizeof(l) + 8; /* larger than this library knows: what follows is not 0 */
	assert_int_not_equal(tutti_task_dispatch(queue, &l, NULL), 0);
	plain();
	/* a recorded one has no packet to cancel */
	assert_int_equal(tutti_task_dispatch(queue, &l, task), 0);
	assert_int_equal(tutti_record_begin(queue), 0);
	assert_int_equal(tutti_task_dispatch(queue, &l, task), 0);
	assert_int_equal(tutti_task_cancel(task), -ENOENT);
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	assert_int_equal(tutti_recording_kernels(recording), 1);
	assert_int_equal(tutti_recording_destroy(recording), 0);
	assert_int_equal(tutti_task_dispatch(NULL, &l, task), -EINVAL);
	assert_int_equal(tutti_task_dispatch(queue, NULL, task), -EINVAL);
	assert_int_equal(tutti_task_destroy(task), 0);
}

/* Nothing is dispatched to a queue that has stopped, and no item is waited for that it should have taken. */
static void stopped(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_work *work;
	struct tutti_task *task;
	uint64_t item = 1, index;

	assert_int_equal(tutti_work_create(device, 2, sizeof(item), &work), 0);
	task = a_task(work);
	plain();
	assert_int_equal(tutti_task_dispatch(queue, &l, task), 0);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	k.object = BAD_KERNEL;
	assert_int_equal(tutti_dispatch(queue, &l), 0);
	assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(tutti_queue_poll(queue), 0);
	index = *queue->write_index;
	plain();
	assert_int_equal(tutti_dispatch(queue, &l), -EIO);
	assert_int_equal(tutti_task_dispatch(queue, &l, task), -EIO);
	assert_int_equal(*queue->write_index, index);
	assert_int_equal(tutti_work_push(work, &item, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(tutti_work_push(work, &item, TUTTI_WAIT_FOREVER), 0);
	assert_int_equal(tutti_work_push(work, &item, TUTTI_WAIT_FOREVER), -EIO);
	assert_int_equal(tutti_work_try_push(work, &item), -EAGAIN);
	assert_int_equal(tutti_task_destroy(task), 0);
	assert_int_equal(tutti_work_destroy(work), 0);
}

/* ---- work queues ---- */

static void work_queues(void **state)
{
	struct tutti_work *work;
	struct tutti_work_queue *shared;

	assert_int_equal(tutti_work_create(device, 0, 8, &work), -EINVAL);
	assert_int_equal(tutti_work_create(device, 3, 8, &work), -EINVAL);
	assert_int_equal(tutti_work_create(device, 1, UINT32_MAX, &work), -EINVAL);
	assert_int_equal(tutti_work_create(device, 1, UINT32_MAX - 14, &work), -EINVAL);
	assert_int_equal(tutti_work_create(device, 1, 8, NULL), -EINVAL);
	for (uint32_t bytes = 0; bytes < 40; bytes++) {
		char item[48], got[48];

		assert_int_equal(tutti_work_create(device, 4, bytes, &work), 0);
		shared = tutti_work_queue(work);
		assert_int_equal(shared->items, 4);
		assert_int_equal(shared->item_bytes, 8 + (bytes + 7) / 8 * 8);
		for (uint64_t i = 0; i < 9; i++) {
			uint64_t *slot = (uint64_t *)(uintptr_t)(shared->base + (i & 3) * shared->item_bytes);

			memset(item, (int)i + 1, sizeof(item));
			assert_int_equal(*slot, i);
			assert_int_equal(tutti_work_try_push(work, item), 0);
			assert_int_equal(*slot, i + 1);
			memcpy(got, slot + 1, bytes);
			assert_memory_equal(got, item, bytes);
			assert_int_equal(shared->write_index, i + 1);
			if (i == 3) /* full until the card gives a slot back */
				assert_int_equal(tutti_work_try_push(work, item), -EAGAIN);
			if (i >= 3)
				*(uint64_t *)(uintptr_t)(shared->base + ((i + 1) & 3) * shared->item_bytes) = i + 1;
			else
				continue;
		}
		assert_int_equal(tutti_work_close(work), 0);
		assert_int_equal(shared->closed, 1);
		assert_int_equal(tutti_work_try_push(work, item), -EPIPE);
		assert_int_equal(tutti_work_push(work, item, TUTTI_WAIT_FOREVER), -EPIPE);
		assert_int_equal(tutti_work_try_push(work, NULL), -EINVAL);
		assert_int_equal(tutti_work_destroy(work), 0);
	}
}

/* The card is told of items once the task has a queue. */
static void doorbells(void **state)
{
	struct tutti_queue *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	struct tutti_work *work;
	struct tutti_task *task;
	uint64_t item = 1;

	assert_int_equal(tutti_work_create(device, 4, sizeof(item), &work), 0);
	task = a_task(work);
	plain();
	assert_int_equal(tutti_work_try_push(work, &item), 0);
	assert_int_equal(tutti_task_dispatch(queue, &l, task), 0);
	assert_int_equal(tutti_task_dispatch(queue, &l, task), 0);
	*queue->doorbell = 77;
	assert_int_equal(tutti_work_try_push(work, &item), 0);
	assert_int_equal(*queue->doorbell, 1); /* of the newest packet, so nothing else is taken for it */
	*queue->doorbell = 77;
	assert_int_equal(tutti_work_close(work), 0);
	assert_int_equal(*queue->doorbell, 1);
	assert_int_equal(tutti_task_destroy(task), 0);
	assert_int_equal(tutti_work_destroy(work), 0);
}

#define SMALL(f) cmocka_unit_test_setup_teardown(f, open_small, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {SMALL(limits),	 SMALL(dimensions), SMALL(refused),
					   SMALL(launches_notice_errors), SMALL(cgas), SMALL(cgas_and_registers),
					   SMALL(task_dispatch), SMALL(stopped), SMALL(work_queues),
					   SMALL(doorbells)};

	return cmocka_run_group_tests_name("SYS-41, PKT-06, TSK-10, CGA-05 launches and their limits", tests, NULL,
					   NULL);
}
