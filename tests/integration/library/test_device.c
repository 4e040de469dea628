/* SPDX-License-Identifier: MIT */
/* libtutti's objects and their errors: SYS-40, SYS-41, SYS-42, SYS-03, SYS-05, SYS-09, PKT-10. */
#include <pthread.h>

#include "rig.h"
#include "transport/emulator.h"
#include "tutti/policy.h"
#include "tutti/reference.h"

#define T(name, function) { name, function, NULL, NULL, NULL }

static void versions(void **state)
{
	const struct tutti_discovery *d = tutti_device_discovery(rig->device);

	assert_true(tutti_version() > 0);
	assert_true(tutti_device_firmware_version(rig->device) > 0);
	assert_string_equal(tutti_device_transport(rig->device), rig_transport());
	assert_true(d->magic == TUTTI_DISCOVERY_MAGIC);
	rig_needs_emulator(); /* the rest is the default card */
	assert_non_null(emulator_card(rig->device));
	assert_int_equal(d->sms, 144); /* the default card: 8 GPCs x 18 SMs */
	assert_int_equal(d->gpcs, 8);
}

static void open_errors(void **state)
{
	struct tutti_device *device = NULL;
	struct tutti_device_options o = { .name = "teapot" };

	rig_needs_emulator(); /* "drm" opens elsewhere */
	assert_true(tutti_device_open(&o, &device) < 0);
	o.name = "drm";
	assert_true(tutti_device_open(&o, &device) < 0);
	o.name = "drm:/dev/null";
	assert_true(tutti_device_open(&o, &device) < 0);
	o.name = "xrt";
	assert_true(tutti_device_open(&o, &device) < 0);
	o.name = "emulator";
	o.firmware = "/nonexistent";
	assert_true(tutti_device_open(&o, &device) < 0);
	o.firmware = "/bin/true";
	assert_true(tutti_device_open(&o, &device) < 0);
	o.firmware = rig_out("firmware/tutti-fw.bin");
	o.topology = "/nonexistent";
	assert_true(tutti_device_open(&o, &device) < 0);
	assert_null(device);
}

/* the shipped image with another range of contract versions, @pad bytes longer; what is said on stderr goes to @said */
static int open_with(uint32_t min, uint32_t max, size_t pad, char *said, size_t size)
{
	char path[64], log[80];
	struct tutti_device_options o = { .name = "emulator", .firmware = path };
	struct tutti_device *device = NULL;
	FILE *file = fopen(rig_out("firmware/tutti-fw.bin"), "rb");
	static uint8_t image[4 << 20];
	size_t bytes = fread(image, 1, sizeof(image) - pad, file), i;
	struct tutti_image { uint32_t magic, crc, header, file, firmware, min, max; } *header = (void *)image;
	uint32_t crc = ~0u, bit;
	int status, keep = dup(2);

	fclose(file);
	memset(image + bytes, 0, pad);
	bytes += pad;
	header->file = (uint32_t)bytes;
	header->min = min;
	header->max = max;
	for (i = 8; i < bytes; i++) {
		crc ^= image[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	header->crc = ~crc;
	snprintf(path, sizeof(path), "/tmp/tutti-fw-%d", (int)getpid());
	snprintf(log, sizeof(log), "%s.said", path);
	file = fopen(path, "wb");
	fwrite(image, 1, bytes, file);
	fclose(file);
	file = fopen(log, "w+");
	dup2(fileno(file), 2);
	status = tutti_device_open(&o, &device);
	dup2(keep, 2);
	close(keep);
	rewind(file);
	said[fread(said, 1, size - 1, file)] = 0;
	fclose(file);
	unlink(path);
	unlink(log);
	if (!status)
		tutti_device_close(device);
	return status;
}

static void firmware_versions(void **state)
{
	static const struct { uint32_t min, max; bool good; const char *says; } ranges[] = {
		{ TUTTI_VERSION(1, 1), TUTTI_VERSION(1, 1), true, NULL },
		{ TUTTI_VERSION(1, 0), TUTTI_VERSION(9, 7), true, NULL },
		{ TUTTI_VERSION(0, 1), TUTTI_VERSION(1, 1), true, NULL },
		{ TUTTI_VERSION(0, 1), TUTTI_VERSION(4, 0), true, NULL },
		{ TUTTI_VERSION(7, 0), TUTTI_VERSION(8, 3), false, "7.0 to 8.3" },
		{ TUTTI_VERSION(0, 1), TUTTI_VERSION(0, 9), false, "0.1 to 0.9" },
		{ TUTTI_VERSION(1, 0), TUTTI_VERSION(1, 0), false, "1.0 to 1.0" }, /* it does not know the command BLOCK */
		{ TUTTI_VERSION(1, 2), TUTTI_VERSION(1, 3), false, "1.2 to 1.3" },
	};
	static char said[4096], own[16];
	unsigned i;

	rig_needs_emulator(); /* the driver has a file of its own */
	assert_int_equal(TUTTI_CONTRACT_VERSION, TUTTI_VERSION(1, 1));
	snprintf(own, sizeof(own), "library %u.%u", TUTTI_VERSION_MAJOR(TUTTI_CONTRACT_VERSION),
		 TUTTI_CONTRACT_VERSION - TUTTI_VERSION(TUTTI_VERSION_MAJOR(TUTTI_CONTRACT_VERSION), 0));
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		int status = open_with(ranges[i].min, ranges[i].max, 0, said, sizeof(said));

		if (status != (ranges[i].good ? 0 : -EPROTO))
			fail_msg("range %u: status %d: %s", i, status, said);
		if (!ranges[i].good && (!strstr(said, ranges[i].says) || !strstr(said, own)))
			fail_msg("range %u: does not say both versions: %s", i, said);
	}
}

/* The firmware does not start from an image that lies where it keeps data of its own, so that none is put there. */
static void firmware_too_large(void **state)
{
	static char said[4096];
	const struct tutti_discovery *d = tutti_device_discovery(rig->device);
	size_t rsbs = d->max_rsbs * sizeof(struct tutti_rsb), most = d->reserved_bytes - TUTTI_FIRMWARE_BYTES - rsbs;
	FILE *file = fopen(rig_out("firmware/tutti-fw.bin"), "rb");
	long bytes;

	rig_needs_emulator();
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	bytes = ftell(file);
	fclose(file);
	assert_int_equal(open_with(TUTTI_CONTRACT_VERSION, TUTTI_CONTRACT_VERSION, most - bytes, said, sizeof(said)), 0);
	assert_int_equal(open_with(TUTTI_CONTRACT_VERSION, TUTTI_CONTRACT_VERSION, most - bytes + 4, said, sizeof(said)),
			 -EINVAL);
	assert_non_null(strstr(said, "larger than the room for it"));
}

static void several_devices(void **state)
{
	struct rig *second = rig_open(NULL), *third = rig_topology("gpc 2\n");
	uint64_t *word = rig_alloc(second, 64), *other = rig_alloc(third, 64);
	struct tutti_fault fault;

	rig_run(second, "poke", 1, 1, rig_args(second, word, 5, 0));
	rig_run(third, "poke", 1, 1, rig_args(third, other, 6, 0));
	assert_int_equal(*word, 5);
	assert_int_equal(*other, 6);
	/* memory of one device cannot be freed or used through another */
	rig_fails(third, "poke", 1, 1, rig_args(third, word, 7, 0), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(*word, 5);
	rig_fails(second, "poke", 1, 1, rig_args(second, other, 7, 0), TUTTI_ERROR_MEMORY_FAULT);
	fault = rig_fails(second, "peek", 1, 1, rig_args(second, word, (uintptr_t)other, 0), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(fault.address, (uintptr_t)other);
	assert_int_equal(*word, 5);
	assert_int_equal(*other, 6);
	/* nor can memory that has been freed, although small blocks stay mapped where they were used */
	assert_int_equal(tutti_memory_free(second->device, word), 0);
	fault = rig_fails(third, "peek", 1, 1, rig_args(third, other, (uintptr_t)word, 0), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(fault.address, (uintptr_t)word);
	rig_close(second);
	rig_close(third);
}

static void opens_and_closes(void **state)
{
	unsigned i;

	for (i = 0; i < 20; i++)
		rig_close(rig_open(NULL));
}

static void memory(void **state)
{
	static const size_t sizes[] = { 1, 63, 64, 4095, 4096, 4097, 100000, 1 << 20, 50 << 20 };
	void *address[2][9], *start;
	enum tutti_memory pool;
	size_t bytes;
	unsigned i, p, k;

	for (p = 0; p < 2; p++)
		for (i = 0; i < 9; i++) {
			uint8_t *m;

			assert_int_equal(tutti_memory_alloc(rig->device, p, sizes[i], &address[p][i]), 0);
			m = address[p][i];
			assert_int_equal((uintptr_t)m % (sizes[i] >= 4096 ? 4096 : 64), 0);
			for (k = 0; k < 64 && k < sizes[i]; k++)
				assert_int_equal(m[k] | m[sizes[i] - 1 - k], 0);
			memset(m, 0xa5, sizes[i]);
			assert_int_equal(tutti_memory_info(rig->device, m + sizes[i] - 1, &start, &bytes, &pool), 0);
			assert_ptr_equal(start, m);
			assert_true(bytes >= sizes[i]);
			assert_int_equal(pool, p);
		}
	assert_int_equal(tutti_memory_free(rig->device, (char *)address[0][5] + 64), -EINVAL);
	for (p = 0; p < 2; p++)
		for (i = 0; i < 9; i++)
			assert_int_equal(tutti_memory_free(rig->device, address[p][i]), 0);
	assert_int_equal(tutti_memory_free(rig->device, address[0][5]), -EINVAL);
	assert_int_equal(tutti_memory_free(rig->device, NULL), 0);
	assert_int_equal(tutti_memory_info(rig->device, &rig, &start, &bytes, &pool), -ENOENT);
	assert_int_equal(tutti_memory_alloc(rig->device, TUTTI_MEMORY_SYSTEM, 0, &start), -EINVAL);
	assert_int_equal(tutti_memory_alloc(rig->device, TUTTI_MEMORY_CARD, 1ull << 45, &start), -ENOSPC);
	assert_true(tutti_memory_alloc(rig->device, TUTTI_MEMORY_SYSTEM, 1ull << 60, &start) < 0);
	assert_true(tutti_memory_alloc(rig->device, 7, 64, &start) < 0);
	/* freed memory is zeroed before it is given out again */
	for (i = 0; i < 100; i++) {
		uint64_t *m;

		assert_int_equal(tutti_memory_alloc(rig->device, i % 2, 4096, (void **)&m), 0);
		for (k = 0; k < 512; k++)
			assert_int_equal(m[k], 0);
		memset(m, 0xff, 4096);
		tutti_memory_free(rig->device, m);
	}
}

/* Small blocks stay mapped until they are given out again; a block of a megabyte leaves the card's page tables. */
static void freed_blocks_are_gone_for_kernels(void **state)
{
	static const size_t sizes[] = { 1 << 20, 5 << 20, 64 << 20 };
	unsigned i, p;

	for (p = 0; p < 2; p++)
		for (i = 0; i < 3; i++) {
			uint64_t *args, *seen = rig_alloc(rig, 64), *last;
			void *block;

			assert_int_equal(tutti_memory_alloc(rig->device, p, sizes[i], &block), 0);
			last = (uint64_t *)((char *)block + sizes[i] - 8);
			args = rig_args(rig, last, 5, (uintptr_t)seen);
			rig_run(rig, "poke", 1, 1, args);
			assert_int_equal(*last, 5);
			assert_int_equal(tutti_memory_free(rig->device, block), 0);
			assert_int_equal(rig_fails(rig, "poke", 1, 1, args, TUTTI_ERROR_MEMORY_FAULT).address, (uintptr_t)last);
			args[0] = (uintptr_t)block;
			assert_int_equal(rig_fails(rig, "poke", 1, 1, args, TUTTI_ERROR_MEMORY_FAULT).address, (uintptr_t)block);
		}
}

static void locked_memory(void **state)
{
	static uint64_t area[8192] __attribute__((aligned(4096)));

	rig_fails(rig, "poke", 1, 1, rig_args(rig, &area[600], 5, 0), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(tutti_memory_lock(rig->device, &area[512], 4096), 0);
	rig_run(rig, "poke", 1, 1, rig_args(rig, &area[600], 5, 0));
	assert_int_equal(area[600], 5);
	assert_int_equal(tutti_memory_unlock(rig->device, &area[512]), 0);
	rig_fails(rig, "poke", 1, 1, rig_args(rig, &area[600], 6, 0), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(area[600], 5);
	assert_true(tutti_memory_unlock(rig->device, &area[512]) < 0);
}

/*
 * Two locked ranges that share a page, which stays mapped while either is locked; and one of many pages outside the
 * heap.
 */
static void locked_ranges(void **state)
{
	static uint64_t area[4096] __attribute__((aligned(4096)));
	uint64_t *heap = calloc(1, 3 << 20), *last = heap + (3 << 17) - 1;

	assert_int_equal(tutti_memory_lock(rig->device, &area[100], 3200), 0);
	assert_int_equal(tutti_memory_lock(rig->device, &area[505], 5000), 0);
	rig_run(rig, "poke", 1, 1, rig_args(rig, &area[101], 1, 0));
	rig_run(rig, "poke", 1, 1, rig_args(rig, &area[1100], 2, 0));
	assert_int_equal(tutti_memory_unlock(rig->device, &area[100]), 0);
	rig_run(rig, "poke", 1, 1, rig_args(rig, &area[506], 3, 0));
	assert_int_equal(tutti_memory_unlock(rig->device, &area[505]), 0);
	rig_fails(rig, "poke", 1, 1, rig_args(rig, &area[506], 4, 0), TUTTI_ERROR_MEMORY_FAULT);
	rig_fails(rig, "poke", 1, 1, rig_args(rig, &area[1100], 4, 0), TUTTI_ERROR_MEMORY_FAULT);
	assert_true(area[101] == 1 && area[1100] == 2 && area[506] == 3);
	assert_int_equal(tutti_memory_lock(rig->device, heap, 3 << 20), 0);
	rig_run(rig, "poke", 1, 1, rig_args(rig, heap, 7, (uintptr_t)last));
	assert_int_equal(heap[0], 7);
	assert_int_equal(tutti_memory_unlock(rig->device, heap), 0);
	free(heap);
}

static uint64_t ctas_run(const struct tutti_discovery *known)
{
	static struct tutti_sm_state sm[TUTTI_MAX_SMS];
	uint64_t all = 0;

	assert_int_equal(tutti_device_sm_states(rig->device, 0, known->sms, sm), 0);
	for (unsigned i = 0; i < known->sms; i++)
		all += sm[i].ctas;
	return all;
}

/* Works through any transport. */
static void policies_and_states(void **state)
{
	const struct tutti_discovery *known = tutti_device_discovery(rig->device);
	uint64_t *word = rig_alloc(rig, 64), before = ctas_run(known);
	struct tutti_sm_state none;
	uint32_t was, now;

	rig_run(rig, "poke", 64, 1, rig_args(rig, word, 5, 0));
	assert_int_equal(ctas_run(known) - before, 64);
	assert_int_equal(tutti_device_sm_states(rig->device, known->sms, 1, &none), -EINVAL);
	assert_int_equal(tutti_policy_get(rig->device, TUTTI_POLICY_ISSUE, 0, &was), 0);
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_ISSUE, !was), 0);
	assert_int_equal(tutti_policy_get(rig->device, TUTTI_POLICY_ISSUE, 0, &now), 0);
	assert_int_equal(now, !was);
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_ISSUE, was), 0);
	assert_int_equal(tutti_policy_get(rig->device, TUTTI_POLICIES, 0, &now), -EINVAL);
}

static void queue_errors(void **state)
{
	struct tutti_queue_options o = { .packets = 3 };
	struct tutti_queue *queue;

	assert_true(tutti_queue_create(rig->device, &o, &queue) == -EINVAL || queue->mask >= 3);
	o = (struct tutti_queue_options){ .packets = 1u << 30 };
	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), -EINVAL);
	o = (struct tutti_queue_options){ .priority = 11 };
	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), -EINVAL);
	o = (struct tutti_queue_options){ .flags = 1u << 20 };
	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), -EINVAL);
}

static void queues_run_out(void **state)
{
	struct tutti_queue_options o = { .packets = 64 };
	static struct tutti_queue *queue[TUTTI_MAX_QUEUES + 1];
	unsigned n = 0, i;
	int error = 0;

	while (n <= TUTTI_MAX_QUEUES && !(error = tutti_queue_create(rig->device, &o, &queue[n])))
		n++;
	assert_int_equal(error, -ENOSPC);
	assert_true(n >= 32);
	for (i = 0; i < n; i++)
		tutti_queue_destroy(queue[i]);
	assert_int_equal(tutti_queue_create(rig->device, &o, &queue[0]), 0);
	tutti_queue_destroy(queue[0]);
}

static void rsb_objects(void **state)
{
	unsigned in_memory;

	for (in_memory = 0; in_memory < 2; in_memory++) {
		struct tutti_queue_options o = { .flags = TUTTI_QUEUE_EXTENDED };
		struct tutti_queue *a, *b;
		static struct tutti_rsb table;
		uint64_t *cell = rig_alloc(rig, 64);
		union tutti_packet p;
		struct tutti_kernel kernel = rig_kernel(rig, "step");
		struct tutti_launch launch = { .kernel = &kernel, .grid = { 1 }, .workgroup = { 1 }, .barrier = true,
					       .kernarg = rig_args(rig, cell, 10, 3), .signal = rig_signal(rig, 2) };

		assert_int_equal(tutti_rsb_create(rig->device, in_memory, &o.rsb), 0);
		assert_int_equal(tutti_queue_create(rig->device, &o, &a), 0);
		assert_int_equal(tutti_queue_create(rig->device, &o, &b), 0);
		assert_ptr_equal(tutti_queue_rsb(a), o.rsb);
		assert_int_equal(tutti_rsb_destroy(o.rsb), -EBUSY);
		assert_int_equal(tutti_launch_packet(&launch, &p.dispatch), 0);
		p.dispatch.ref_num = TUTTI_REF_STORE | 2;
		assert_int_equal(tutti_queue_submit(a, &p), 0);
		assert_true(rig_poll_until(a, &launch.signal->value, 1, 5000));
		assert_int_equal(tutti_rsb_read(o.rsb, &table), 0);
		assert_int_equal(table.reference[2].flags & ~TUTTI_REFERENCE_DIMENSIONS, TUTTI_REFERENCE_VALID);
		assert_int_equal(table.reference[2].kernarg, (uintptr_t)launch.kernarg);
		assert_int_equal(table.reference[1].flags, 0);
		memset(&p, 0, sizeof(p));
		p.condensed.type = TUTTI_PACKET_CONDENSED;
		p.condensed.num_kernels = 1;
		p.condensed.unit[0] = 2;
		assert_int_equal(tutti_queue_submit(b, &p), 0);
		rig_wait(rig, launch.signal);
		assert_int_equal(*cell, 33);
		tutti_queue_destroy(a);
		tutti_queue_destroy(b);
		assert_int_equal(tutti_rsb_destroy(o.rsb), 0);
	}
}

static void copies(void **state)
{
	enum { N = 300007 };
	uint8_t *host = rig_alloc(rig, N), *back = rig_alloc(rig, N), *card;
	unsigned i;

	assert_int_equal(tutti_memory_alloc(rig->device, TUTTI_MEMORY_CARD, N, (void **)&card), 0);
	for (i = 0; i < N; i++)
		host[i] = (uint8_t)(i * 31 + (i >> 9));
	assert_int_equal(tutti_copy(rig->queue, card, host, N), 0);
	assert_int_equal(tutti_copy(rig->queue, back + 1, card, N - 1), 0);
	assert_memory_equal(back + 1, host, N - 1);
	assert_int_equal(back[0], 0);
	assert_int_equal(tutti_copy(rig->queue, back, host, 0), 0);
}

/* A copy behind a kernel that fails is not made, neither then nor after the queue's reset; the next one is. */
static void copy_behind_a_fault(void **state)
{
	uint64_t *from = rig_alloc(rig, 8), *to = rig_alloc(rig, 8), *other = rig_alloc(rig, 8);

	*from = 42;
	for (unsigned round = 1; round < 4; round++) {
		*to = *other = 0;
		rig_launch(rig, rig->queue, "trap", 64, 64, rig_args(rig, NULL, 0, 0), NULL);
		assert_int_equal(tutti_copy(rig->queue, to, from, 8), -EIO);
		assert_int_equal(tutti_queue_reset(rig->queue), 0);
		assert_int_equal(tutti_copy(rig->queue, other, from, 8), 0);
		assert_int_equal(*other, 42);
		assert_int_equal(*to, 0);
	}
}

static void launch_errors(void **state)
{
	struct tutti_kernel kernel = rig_kernel(rig, "empty");
	struct tutti_launch good = { .kernel = &kernel, .grid = { 64, 1, 1 }, .workgroup = { 64, 1, 1 } }, bad;
	struct tutti_dispatch_packet p;

	assert_int_equal(tutti_launch_packet(&good, &p), 0);
	assert_int_equal(p.header & 0xff, TUTTI_PACKET_KERNEL_DISPATCH);
	assert_int_equal(p.setup, 1);
	assert_int_equal(p.grid_y, 1);
	assert_int_equal(p.workgroup_z, 1);
	assert_int_equal(p.ref_num, 0);
	bad = good;
	bad.grid[0] = 0;
	assert_int_equal(tutti_launch_packet(&bad, &p), -EINVAL);
	bad = good;
	bad.workgroup[0] = 0;
	assert_int_equal(tutti_launch_packet(&bad, &p), -EINVAL);
	bad = good;
	bad.kernel = NULL;
	assert_int_equal(tutti_launch_packet(&bad, &p), -EINVAL);
	bad = good;
	bad.acquire = 3;
	assert_int_equal(tutti_launch_packet(&bad, &p), -EINVAL);
	bad = good;
	bad.dynamic_group_bytes = ~0u;
	if (tutti_launch_packet(&bad, &p) == 0)
		assert_true(p.group_bytes >= bad.dynamic_group_bytes);
}

static void full_ring_waits(void **state)
{
	struct tutti_queue_options o = { .packets = 64 };
	uint64_t *cell = rig_alloc(rig, 64), expect = 0;
	tutti_signal_t signal = rig_signal(rig, 2000);
	struct tutti_queue *queue;
	unsigned i;

	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), 0);
	for (i = 0; i < 2000; i++) {
		rig_launch(rig, queue, "step", 1, 1, rig_args(rig, cell, 3, i), signal);
		expect = expect * 3 + i;
	}
	rig_wait(rig, signal);
	assert_int_equal(*cell, expect);
	tutti_queue_destroy(queue);
}

static void stopped_queue_does_not_wait_for_ever(void **state)
{
	struct tutti_queue_options o = { .packets = 64 };
	struct tutti_queue *queue;
	unsigned i;
	int error = 0;

	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), 0);
	rig_launch(rig, queue, "trap", 1, 1, rig_args(rig, NULL, 0, 0), NULL);
	rig_fault(rig, queue);
	for (i = 0; i < 200 && !error; i++) {
		struct tutti_kernel kernel = rig_kernel(rig, "empty");
		struct tutti_launch launch = { .kernel = &kernel, .grid = { 1 }, .workgroup = { 1 } };

		error = tutti_dispatch(queue, &launch);
	}
	assert_int_equal(error, -EIO);
	tutti_queue_destroy(queue);
}

static void error_callback(void **state)
{
	rig_fails(rig, "trap", 1, 1, rig_args(rig, NULL, 0, 0), TUTTI_ERROR_KERNEL_TRAP);
	assert_int_equal(rig->fault.code, TUTTI_ERROR_KERNEL_TRAP);
}

static void error_texts(void **state)
{
	int i;

	for (i = 1; i <= 18; i++)
		assert_true(strlen(tutti_strerror(i)) > 3);
	assert_true(strlen(tutti_strerror(-EINVAL)) > 3);
	assert_non_null(tutti_strerror(12345));
	for (i = 0; i < TUTTI_COUNTERS; i++)
		assert_true(strlen(tutti_counter_name(i)) > 3);
	assert_string_equal(tutti_counter_name(TUTTI_COUNTER_PACKETS_CONDENSED), "packets_condensed");
}

static void log_and_time(void **state)
{
	char text[4096];
	uint64_t t = tutti_device_time(rig->device);

	rig_needs_emulator(); /* only root may read the log through the driver */
	assert_true(tutti_device_log(rig->device, text, sizeof(text)) > 0);
	assert_true(strlen(text) > 0);
	assert_int_equal(tutti_device_log(rig->device, text, 10) <= 9, 1);
	usleep(2000);
	assert_true(tutti_device_time(rig->device) > t);
}

static void *hammer(void *context)
{
	unsigned i, seed = (unsigned)(uintptr_t)context;

	for (i = 0; i < 200; i++) {
		tutti_signal_t signal;
		struct tutti_queue *queue;
		struct tutti_queue_options o = { .packets = 64 };
		void *memory;

		if (tutti_memory_alloc(rig->device, i % 2, 1 + (unsigned)rand_r(&seed) % 100000, &memory))
			return (void *)1;
		if (tutti_signal_create(rig->device, 1, &signal))
			return (void *)2;
		if (i % 8 == 0) {
			if (tutti_queue_create(rig->device, &o, &queue))
				return (void *)3;
			tutti_queue_destroy(queue);
		}
		tutti_signal_destroy(rig->device, signal);
		tutti_memory_free(rig->device, memory);
	}
	return NULL;
}

static void thread_safe(void **state)
{
	pthread_t thread[6];
	void *result;
	uintptr_t i;

	for (i = 0; i < 6; i++)
		pthread_create(&thread[i], NULL, hammer, (void *)(i + 1));
	for (i = 0; i < 6; i++) {
		pthread_join(thread[i], &result);
		assert_null(result);
	}
}

static void says_emulator_once(void **state)
{
	char line[512];
	unsigned said = 0;
	FILE *pipe;

	rig_needs_emulator();
	snprintf(line, sizeof(line), "env -u TUTTI_DEVICE TUTTI_FIRMWARE=%s %s info 2>&1 >/dev/null",
		 rig_out("firmware/tutti-fw.bin"), rig_out("tutti"));
	pipe = popen(line, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe))
		said += strstr(line, "emulat") != NULL;
	pclose(pipe);
	assert_int_equal(said, 1);
}

static void faults_by_environment(void **state)
{
	struct rig *victim;

	rig_needs_emulator();
	setenv("TUTTI_INJECT", "kernel-trap:1", 1);
	victim = rig_open(NULL);
	unsetenv("TUTTI_INJECT");
	rig_fails(victim, "empty", 1, 1, rig_args(victim, NULL, 0, 0), TUTTI_ERROR_KERNEL_TRAP);
	rig_run(victim, "empty", 1, 1, rig_args(victim, NULL, 0, 0));
	rig_close(victim);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("SYS-03, SYS-05, SYS-42: versions and discovery", versions),
		T("SYS-42: opening fails clearly", open_errors),
		T("SYS-05: a range of contract versions; if it does not fit: -EPROTO and both versions", firmware_versions),
		T("SYS-05: an image as large as its room, and one that is larger", firmware_too_large),
		T("SYS-06, SYS-41: several devices in a process", several_devices),
		T("SYS-41: open and close", opens_and_closes),
		T("SYS-41: memory of both pools", memory),
		T("SYS-06, SYS-41: freed blocks of a megabyte are gone for kernels", freed_blocks_are_gone_for_kernels),
		T("SYS-41: locked memory", locked_memory),
		T("SYS-41: locked ranges that share pages, and one of many", locked_ranges),
		T("SYS-41: policies and states of SMs", policies_and_states),
		T("SYS-41: bad queue options", queue_errors),
		T("SYS-41: queues run out", queues_run_out),
		T("PKT-10, SYS-41: RSB objects", rsb_objects),
		T("SYS-41: copies by the card", copies),
		T("SYS-40, PKT-07: a copy behind a kernel that fails is never made", copy_behind_a_fault),
		T("SYS-41: bad launches", launch_errors),
		T("PKT-01, SYS-41: a full ring makes the producer wait", full_ring_waits),
		T("PKT-06, SYS-41: a stopped queue gives -EIO", stopped_queue_does_not_wait_for_ever),
		T("PKT-06, SYS-41: the error callback", error_callback),
		T("SYS-41: texts of errors and counters", error_texts),
		T("SYS-05, SYS-41: firmware log and time", log_and_time),
		T("SYS-40: several threads", thread_safe),
		T("SYS-15: faults by environment", faults_by_environment),
		T("SYS-42: the emulator as default, said once", says_emulator_once),
	};

	return cmocka_run_group_tests_name("device", tests, rig_group_open, rig_group_close);
}
