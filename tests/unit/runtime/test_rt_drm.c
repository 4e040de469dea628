/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=ioctl */
/* What the drm transport asks of the driver, and what it does when the driver refuses (SYS-40, SYS-42, PKT-07, PKT-10). */
#include <malloc.h>
#include <time.h>

#include "drm_rig.h"

/* Bytes of address space: those of this program, which under user emulation is not all that the process has. */
static uint64_t address_space(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	uint64_t bytes = 0;

	assert_non_null(file);
	while (fscanf(file, "%lx-%lx %*[^\n]", &from, &to) == 2)
		bytes += to - from;
	fclose(file);
	assert_true(bytes > 0);
	return bytes;
}

static void opens_again_and_again(void **state)
{
	uint64_t before = 0;

	mallopt(M_ARENA_MAX, 1); /* or threads that happen to meet in malloc() get 64 MiB of address space */
	for (unsigned i = 0; i < 50; i++) {
		if (i == 2)
			before = address_space();
		driver.has_context = false;
		driver.maps = driver.buffers = 0;
		tutti_device_close(open_device());
	}
	assert_in_range(address_space(), 0, before + (1u << 20));
}

static void early_maps_wait_for_the_context(void **state)
{
	struct tutti_device *device = open_device();
	unsigned before = driver.maps;
	void *big;

	/* the print ring's pool; the part of card memory for code has a buffer, but is not visible to the card */
	assert_true(before > 0);
	assert_true(driver.buffers > before);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 16 << 20, &big), 0);
	assert_true(driver.maps > before);
	assert_in_range((uintptr_t)big, driver.map[before].address,
			driver.map[before].address + driver.map[before].bytes - 1);
	tutti_device_close(device);
}

static void queues_by_their_handles(void **state)
{
	struct tutti_device *device = open_device();
	struct tutti_queue_options options = {.flags = TUTTI_QUEUE_EXTENDED, .timeout_ms = UINT32_MAX};
	struct tutti_queue *queue, *other;

	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_int_equal(driver.queue.context, CONTEXT);
	assert_int_equal(driver.queue.flags, TUTTI_QUEUE_EXTENDED);
	assert_int_equal(driver.queue.rsb, RSB_FIRST);
	assert_int_equal(driver.queue.ring, (uintptr_t)queue->ring);
	assert_int_equal(driver.queue.size_log2, 8);
	assert_int_equal(driver.queue.priority, 5);
	assert_int_equal(driver.queue.timeout_ms, 0);
	options = (struct tutti_queue_options){.ring = TUTTI_MEMORY_CARD};
	assert_int_equal(tutti_queue_create(device, &options, &other), 0);
	assert_true(other->flags & TUTTI_QUEUE_WRITE_COMBINED);
	assert_int_equal(driver.queue.flags, 0);
	assert_int_equal(driver.queue.rsb, 0);
	assert_int_equal(driver.queue.timeout_ms, 10000);
	tutti_queue_destroy(queue);
	tutti_queue_destroy(other);
	assert_int_equal(driver.queues_gone, 2);
	tutti_device_close(device);
}

#define SLEEPERS 3u
#define LONG_NS	 20000000000ull /* nobody sleeps for so long */

struct sleeper {
	pthread_t thread;
	struct tutti_device *device;
	uint64_t seen, ns;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *sleep_once(void *context)
{
	struct sleeper *me = context;

	me->device->transport->sleep(me->device, me->seen, now() + me->ns);
	return NULL;
}

static void sleepers_start(struct sleeper *sleeper, struct tutti_device *device, bool first_is_short)
{
	uint64_t seen = device->transport->interrupts(device);

	for (unsigned i = 0; i < SLEEPERS; i++) {
		sleeper[i] = (struct sleeper){
		    .device = device, .seen = seen, .ns = first_is_short && !i ? 2000000 : LONG_NS};
		assert_int_equal(pthread_create(&sleeper[i].thread, NULL, sleep_once, &sleeper[i]), 0);
		if (first_is_short && !i)
			usleep(500); /* so that it is most likely the one that looks for all */
	}
}

/* Interrupts and host threads wake all threads that sleep, also when the one that looks for all has left before. */
static void all_sleepers_are_woken(void **state)
{
	struct tutti_device *device = open_device();
	struct sleeper sleeper[SLEEPERS];
	struct tutti_queue *queue;
	const uint64_t one = 1;
	uint64_t start = now();

	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	assert_int_equal(driver.events_asked, 1);
	assert_int_equal(driver.event.handle, QUEUE_FIRST);
	assert_int_equal(driver.event.flags, DRM_TUTTI_EVENT_ERROR | DRM_TUTTI_EVENT_COMPLETION);
	for (unsigned round = 0; round < 300; round++) {
		sleepers_start(sleeper, device, round % 3 == 2);
		if (round % 2)
			usleep(round % 3 == 2 ? 4000 : 200);
		if (round % 5)
			assert_int_equal(write(driver.event.fd, &one, sizeof(one)), sizeof(one));
		else
			device_wake_all();
		for (unsigned i = 0; i < SLEEPERS; i++)
			pthread_join(sleeper[i].thread, NULL);
		assert_in_range(now() - start, 0, LONG_NS - 1);
	}
	tutti_queue_destroy(queue);
	tutti_device_close(device);
}

/* A barrier packet waits for the signal; the file is that of a fence behind it. Nothing is left when the driver refuses. */
static void sync_files(void **state)
{
	static const unsigned long refused[] = {DRM_IOCTL_SYNCOBJ_CREATE, DRM_IOCTL_TUTTI_FENCE,
						DRM_IOCTL_SYNCOBJ_TRANSFER, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD};
	struct tutti_device *device = open_device();
	union tutti_packet nothing = {.barrier = {.header = tutti_header(TUTTI_PACKET_BARRIER_AND, 0, 0, 0)}};
	struct tutti_queue *queue;
	tutti_signal_t signal;
	int fd = -1;

	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	assert_int_equal(tutti_signal_create(device, 1, &signal), 0);
	assert_int_equal(tutti_queue_submit(queue, &nothing), 0);
	assert_int_equal(tutti_signal_to_sync_file(queue, signal, &fd), 0);
	assert_int_equal(fd, 12345);
	assert_int_equal(queue->ring[1].barrier.header & TUTTI_HEADER_TYPE, TUTTI_PACKET_BARRIER_AND);
	assert_int_equal(queue->ring[1].barrier.dependency[0], (uintptr_t)signal);
	assert_int_equal(driver.fence.handle, QUEUE_FIRST);
	assert_int_equal(driver.fence.packet, 2);
	assert_int_equal(driver.fence.point, 1);
	assert_int_equal(driver.transfer.src_handle, driver.fence.syncobj);
	assert_int_equal(driver.transfer.src_point, 1);
	assert_int_equal(driver.file.handle, driver.transfer.dst_handle);
	assert_int_equal(driver.file.flags, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE);
	assert_int_equal(driver.syncobjs, 2);
	assert_int_equal(driver.syncobjs_gone, 6);
	for (unsigned i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		driver.refuses = refused[i];
		driver.syncobjs = driver.syncobjs_gone = 0;
		assert_int_equal(tutti_signal_to_sync_file(queue, signal, &fd), -EDQUOT);
		assert_int_equal(driver.syncobjs_gone, (2u << driver.syncobjs) - 2);
	}
	driver.refuses = 0;
	assert_int_equal(tutti_signal_to_sync_file(queue, NULL, &fd), -EINVAL);
	assert_int_equal(tutti_signal_to_sync_file(queue, signal, NULL), -EINVAL);
	tutti_queue_destroy(queue);
	tutti_device_close(device);
}

static unsigned reported;

static void on_error(struct tutti_queue *queue, const struct tutti_fault *fault, void *context)
{
	reported++;
}

/* An error is reported once; neither a driver that cannot be asked nor a reset is taken for another one. */
static void errors_are_told_once(void **state)
{
	struct tutti_device *device = open_device();
	struct tutti_queue_options options = {.error = on_error};
	struct tutti_queue *queue;

	reported = 0;
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	driver.fault = (struct tutti_fault){.code = TUTTI_ERROR_MEMORY_FAULT};
	driver.errors = 1;
	driver.events = 1;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(tutti_queue_error(queue, NULL), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(reported, 1);
	assert_int_equal(tutti_queue_reset(queue), 0);
	driver.query_fails = -ENOENT;
	driver.events = 2; /* another queue's */
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(tutti_queue_error(queue, NULL), 0);
	driver.query_fails = 0;
	driver.events = 3;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(reported, 1);
	driver.errors = 2;
	driver.events = 4;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(reported, 2);
	assert_int_equal(tutti_queue_reset(queue), 0);
	driver.errors = 1; /* the answer that another thread got before the second error, and comes with only now */
	driver.events = 5;
	assert_int_equal(tutti_queue_poll(queue), 0);
	driver.errors = 2;
	driver.events = 6;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(reported, 2);
	assert_int_equal(tutti_queue_error(queue, NULL), 0);
	tutti_queue_destroy(queue);
	tutti_device_close(device);
}

struct waiter {
	struct tutti_device *device;
	tutti_signal_t signal;
	int result;
};

static void *wait_forever(void *context)
{
	struct waiter *me = context;

	me->result = tutti_signal_wait(me->device, me->signal, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL);
	return NULL;
}

/* Nothing in the window shows that the driver has ended a context: it says so when it is asked about a queue. */
static void waits_end_with_the_context(void **state)
{
	struct waiter waiter = {.device = open_device()};
	struct timespec until;
	struct tutti_queue *queue;
	const uint64_t one = 1;
	pthread_t thread;

	assert_int_equal(tutti_queue_create(waiter.device, NULL, &queue), 0);
	driver.status->asleep = 1; /* or the missing heartbeat would end the wait */
	assert_int_equal(tutti_signal_create(waiter.device, 1, &waiter.signal), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_forever, &waiter), 0);
	usleep(2000);
	driver.query_fails = -EIO;
	__atomic_fetch_add(&driver.events, 1, __ATOMIC_RELEASE);
	assert_int_equal(write(driver.event.fd, &one, sizeof(one)), sizeof(one));
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	assert_int_equal(pthread_timedjoin_np(thread, NULL, &until), 0);
	assert_int_equal(waiter.result, -EIO);
	tutti_queue_destroy(queue);
	tutti_device_close(waiter.device);
}

static char said[512];

static void keep_line(const char *line)
{
	snprintf(said, sizeof(said), "%s", line);
}

/* A context that makes too many errors is ended. The driver's last answer about its queues still has the fault. */
static void the_last_fault_is_told(void **state)
{
	struct tutti_device *device = open_device();
	struct tutti_queue_options options = {.error = on_error};
	struct tutti_fault fault;
	struct tutti_queue *queue;

	tutti_message_handler(keep_line);
	reported = 0;
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	driver.fault = (struct tutti_fault){.code = TUTTI_ERROR_MEMORY_FAULT, .address = 0x1234000};
	driver.errors = driver.events = 1;
	driver.query_fails = -EIO;
	assert_int_equal(tutti_queue_poll(queue), -EIO);
	assert_int_equal(tutti_queue_error(queue, &fault), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(fault.address, 0x1234000);
	assert_int_equal(reported, 1);
	assert_non_null(strstr(said, "has ended this program's context"));
	tutti_queue_destroy(queue);
	tutti_device_close(device);
	tutti_message_handler(NULL);
}

/* Only the driver sees the crash record. Its place in the window is empty, which must not be taken for a record. */
static void a_crash_without_its_record(void **state)
{
	struct tutti_device *device = open_device();

	tutti_message_handler(keep_line);
	driver.status->state = TUTTI_STATE_CRASHED;
	assert_true(device_dead(device));
	assert_string_equal(said, "the firmware has died (state crashed)");
	tutti_device_close(device);
	tutti_message_handler(NULL);
}

/* The driver gives the same answer about a queue that another thread is destroying. */
static void a_queue_that_goes_is_no_lost_context(void **state)
{
	struct tutti_device *device = open_device();
	struct drm_card *card = drm_card_of(device);
	struct tutti_queue *queue;

	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	driver.query_forgets = &card->queue[queue->id];
	driver.query_fails = -EIO;
	driver.events = 1;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_false(device_dead(device));
	card->queue[queue->id] = QUEUE_FIRST;
	driver.query_forgets = NULL;
	driver.query_fails = 0;
	tutti_queue_destroy(queue);
	tutti_device_close(device);
}

static void rsb_is_read_to_an_address(void **state)
{
	struct tutti_device *device = open_device();
	struct tutti_rsb_object *rsb;
	struct tutti_rsb table;
	uint8_t want[sizeof(table)];

	assert_int_equal(tutti_rsb_create(device, false, &rsb), 0);
	assert_int_equal(tutti_rsb_read(rsb, &table), 0);
	memset(want, 0x5a, sizeof(want));
	assert_memory_equal(&table, want, sizeof(want));
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
	tutti_device_close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T("SYS-42: opening and closing leaves no address space taken", opens_again_and_again),
		T("SYS-42: what is mapped before the context exists is mapped with it", early_maps_wait_for_the_context),
		T("SYS-42, PKT-07: queues by their handles; rings in write-combined memory", queues_by_their_handles),
		T("SYS-56: interrupts and host threads wake all threads that sleep", all_sleepers_are_woken),
		T("SYS-56: a sync_file follows a signal", sync_files),
		T("SYS-42: an error of a queue is told once", errors_are_told_once),
		T("SYS-42: who waits learns that the driver has ended the context", waits_end_with_the_context),
		T("SYS-42: the fault of a queue whose context the driver has ended is told", the_last_fault_is_told),
		T("SYS-58: a crash whose record cannot be seen", a_crash_without_its_record),
		T("SYS-42: a queue that is being destroyed is no lost context", a_queue_that_goes_is_no_lost_context),
		T("PKT-10: an RSB is read to an address", rsb_is_read_to_an_address),
	};

	return cmocka_run_group_tests_name("drm transport", tests, NULL, NULL);
}
