/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Signals that follow files and files that follow signals, over a played card (SYS-56, SYS-58). */
#include "lock_check.h"
#include "open_files.h"
#include "rt_rig.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

static tutti_signal_t a_signal(int64_t value)
{
	tutti_signal_t signal;

	assert_int_equal(tutti_signal_create(device, value, &signal), 0);
	return signal;
}

static void assert_readable(int fd, uint64_t count)
{
	struct pollfd wanted = {.fd = fd, .events = POLLIN};
	uint64_t value = 0;

	assert_int_equal(poll(&wanted, 1, -1), 1);
	assert_int_equal(read(fd, &value, sizeof(value)), sizeof(value));
	assert_int_equal(value, count);
}

/* Each condition makes the file readable, once, and no file is left open. */
static void to_eventfd(void **state)
{
	static const struct {
		enum tutti_condition condition;
		int64_t before, after;
	} rows[] = {{TUTTI_EQ, 4, 5}, {TUTTI_NE, 5, 6}, {TUTTI_LT, 5, 4}, {TUTTI_GTE, 4, 5}};
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), kept;
	unsigned files;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		tutti_signal_t signal = a_signal(rows[i].before);
		uint64_t value;

		files = open_files();
		assert_int_equal(tutti_signal_to_eventfd(device, signal, rows[i].condition, 5, fd), 0);
		assert_int_equal(read(fd, &value, sizeof(value)), -1);
		tutti_signal_store(signal, rows[i].after);
		tutti_signal_wait(device, signal, TUTTI_EQ, 99, 0, NULL);
		assert_readable(fd, 1);
		tutti_signal_store(signal, rows[i].before);
		tutti_signal_store(signal, rows[i].after);
		assert_int_equal(read(fd, &value, sizeof(value)), -1);
		assert_int_equal(tutti_signal_destroy(device, signal), 0);
		if (i) /* the first one has started what calls handlers */
			assert_int_equal(open_files(), files);
	}
	/* the application may close its file while the signal is still to come; what it has copied becomes readable */
	{
		tutti_signal_t signal = a_signal(1);

		kept = dup(fd);
		assert_int_equal(tutti_signal_to_eventfd(device, signal, TUTTI_EQ, 0, fd), 0);
		close(fd);
		tutti_signal_store(signal, 0);
		assert_readable(kept, 1);
		close(kept);
		assert_int_equal(tutti_signal_destroy(device, signal), 0);
	}
}

static void refused(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC), none = open("/dev/null", O_RDWR | O_CLOEXEC);
	int named = memfd_create("a name that is longer than that of any eventfd", MFD_CLOEXEC);
	static struct tutti_signal foreign;
	tutti_signal_t signal = a_signal(1);
	unsigned files = open_files();

	assert_int_equal(tutti_signal_to_eventfd(NULL, signal, TUTTI_EQ, 0, fd), -EINVAL);
	assert_int_equal(tutti_signal_to_eventfd(device, NULL, TUTTI_EQ, 0, fd), -EINVAL);
	assert_int_equal(tutti_signal_to_eventfd(device, &foreign, TUTTI_EQ, 0, fd), -EINVAL);
	assert_int_equal(tutti_signal_to_eventfd(device, signal, TUTTI_GTE + 1, 0, fd), -EINVAL);
	assert_int_equal(tutti_signal_to_eventfd(device, signal, TUTTI_EQ, 0, none), -EINVAL);
	assert_int_equal(tutti_signal_to_eventfd(device, signal, TUTTI_EQ, 0, named), -EINVAL);
	assert_int_equal(tutti_signal_to_eventfd(device, signal, TUTTI_EQ, 0, -1), -EBADF);
	assert_int_equal(tutti_signal_from_fd(NULL, signal, fd), -EINVAL);
	assert_int_equal(tutti_signal_from_fd(device, NULL, fd), -EINVAL);
	assert_int_equal(tutti_signal_from_fd(device, &foreign, fd), -EINVAL);
	assert_int_equal(tutti_signal_from_fd(device, signal, -1), -EBADF);
	assert_int_equal(open_files(), files);
	assert_int_equal(tutti_signal_load(signal), 1);
	close(named);
	close(none);
	close(fd);
}

/* A file that becomes readable subtracts one, whatever else it holds. */
static void from_fd(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	tutti_signal_t signal = a_signal(7);
	const uint64_t three = 3;
	unsigned files = open_files();

	assert_int_equal(tutti_signal_from_fd(device, signal, fd), 0);
	assert_int_equal(open_files(), files + 1); /* a copy, as the application may close its own */
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_LT, 7, 0, NULL), -ETIMEDOUT);
	assert_int_equal(tutti_signal_load(signal), 7);
	assert_int_equal(write(fd, &three, sizeof(three)), sizeof(three));
	assert_int_equal(tutti_signal_wait(device, signal, TUTTI_LT, 7, TUTTI_WAIT_FOREVER, NULL), 0);
	assert_int_equal(tutti_signal_load(signal), 6);
	assert_readable(fd, 3);
	assert_int_equal(tutti_signal_destroy(device, signal), 0);
	assert_int_equal(open_files(), files);
	close(fd);
}

/* Copies are closed again even if the signal or the device is destroyed before its file was ever looked at. */
static void forgotten(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	unsigned files = open_files();

	for (unsigned closed = 0; closed < 2; closed++) {
		tutti_signal_t signal = a_signal(7);

		assert_int_equal(tutti_signal_to_eventfd(device, signal, TUTTI_EQ, 0, fd), 0);
		assert_int_equal(tutti_signal_from_fd(device, signal, fd), 0);
		assert_int_equal(open_files(), files + 2);
		if (closed)
			events_stop(device);
		else
			assert_int_equal(tutti_signal_destroy(device, signal), 0);
		assert_int_equal(open_files(), files);
	}
	assert_null(device->watches);
	close(fd);
}

/* In a program that has closed its standard input, a copy may get its number. */
static void number_zero(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC), input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	tutti_signal_t to = a_signal(1), from = a_signal(1);
	const uint64_t one = 1;

	close(STDIN_FILENO);
	assert_int_equal(tutti_signal_to_eventfd(device, to, TUTTI_EQ, 0, fd), 0);
	tutti_signal_store(to, 0);
	tutti_signal_wait(device, to, TUTTI_EQ, 99, 0, NULL);
	assert_readable(fd, 1);
	assert_int_equal(tutti_signal_destroy(device, to), 0);
	assert_int_equal(tutti_signal_from_fd(device, from, fd), 0);
	assert_int_equal(tutti_signal_wait(device, from, TUTTI_EQ, 0, 0, NULL), -ETIMEDOUT);
	assert_int_equal(write(fd, &one, sizeof(one)), sizeof(one));
	assert_int_equal(tutti_signal_wait(device, from, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL), 0);
	assert_int_equal(tutti_signal_destroy(device, from), 0);
	dup2(input, STDIN_FILENO);
	close(input);
	close(fd);
}

static unsigned asked_queue;
static uint64_t asked_index;

static int gives_file(struct tutti_device *d, unsigned queue, uint64_t index, int *fd)
{
	asked_queue = queue;
	asked_index = index;
	*fd = 77;
	return 0;
}

/* A sync_file stands for a barrier packet that waits for the signal. */
static void to_sync_file(void **state)
{
	struct tutti_queue *other = a_queue(0, false), *queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	static struct tutti_signal foreign;
	tutti_signal_t signal = a_signal(0);
	struct tutti_launch bad = a_launch(0, 0, NULL), good = a_launch(1, 0, NULL);
	struct tutti_recording *recording;
	int fd = -1;

	fake.deaf = true;
	assert_int_equal(tutti_signal_to_sync_file(queue, signal, &fd), -ENOTSUP);
	transport.sync_file = gives_file;
	assert_int_equal(tutti_dispatch(queue, &good), 0);
	assert_int_equal(tutti_signal_to_sync_file(queue, signal, &fd), 0);
	assert_int_equal(fd, 77);
	assert_int_equal(asked_queue, queue->id);
	assert_int_equal(asked_index, 2);
	assert_int_equal(*queue->write_index, 2);
	assert_int_equal(tutti_queue_slot(queue, 1)->barrier.header & 0xff, TUTTI_PACKET_BARRIER_AND);
	assert_int_equal(tutti_queue_slot(queue, 1)->barrier.dependency[0], (uintptr_t)signal);
	for (unsigned i = 1; i < 5; i++)
		assert_int_equal(tutti_queue_slot(queue, 1)->barrier.dependency[i], 0);
	assert_int_equal(tutti_signal_to_sync_file(NULL, signal, &fd), -EINVAL);
	assert_int_equal(tutti_signal_to_sync_file(queue, NULL, &fd), -EINVAL);
	assert_int_equal(tutti_signal_to_sync_file(queue, &foreign, &fd), -EINVAL);
	assert_int_equal(tutti_signal_to_sync_file(queue, signal, NULL), -EINVAL);
	assert_int_equal(tutti_record_begin(queue), 0);
	assert_int_equal(tutti_signal_to_sync_file(queue, signal, &fd), -EBUSY);
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	assert_int_equal(tutti_recording_destroy(recording), 0);
	assert_int_equal(*queue->write_index, 2);
	fake.deaf = false;
	kernel[0].object = BAD_KERNEL;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tutti_dispatch(other, &bad), 0);
	assert_int_equal(tutti_queue_drain(other, TUTTI_WAIT_FOREVER), -EIO);
	assert_int_equal(tutti_signal_to_sync_file(other, signal, &fd), -EIO);
	assert_int_equal(*other->write_index, 2);
	transport.sync_file = NULL;
}

/* No other thread looks at files and signals then: what is due is called in the waits of this one. */
static int open_deterministic(void **state)
{
	int error = open_fake(state);

	device->deterministic = true;
	return error;
}

#define DETERMINISTIC(f) cmocka_unit_test_setup_teardown(f, open_deterministic, close_fake)

int main(void)
{
	static const struct CMUnitTest tests[] = {T(to_eventfd),	  T(refused),
						  T(from_fd),		  DETERMINISTIC(from_fd),
						  T(forgotten),		  T(number_zero),
						  DETERMINISTIC(number_zero), T(to_sync_file)};

	return cmocka_run_group_tests_name("SYS-56, SYS-58 signals and files", tests, NULL, NULL);
}
