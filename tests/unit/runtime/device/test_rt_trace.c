/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock,--wrap=nanosleep,--wrap=write */
/* The trace ring and the file it is written to, over a card whose records the test itself writes (CGA-30, SYS-41). */
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lock_check.h"
#include "trace_rig.h"


static void ring_is_read(void **state)
{
	static struct tutti_trace records[RING + 1];
	uint64_t lost = 99, next = 3;

	record(3); /* before anybody asks */
	assert_int_equal(tutti_trace_start(device, TUTTI_TRACE_ALL), 0);
	assert_int_equal(tutti_trace_read(device, records, RING, &lost), 0);
	assert_int_equal(lost, 0);
	for (unsigned round = 0; round < 5; round++) {
		record(RING);
		assert_int_equal(tutti_trace_read(device, NULL, 0, &lost), 0);
		assert_int_equal(tutti_trace_read(device, records, 1, NULL), 1);
		assert_int_equal(records[0].packet, next++);
		record(1); /* takes the place that has become free */
		assert_int_equal(tutti_trace_read(device, records, RING + 1, &lost), RING);
		assert_int_equal(lost, 0);
		for (unsigned i = 0; i < RING; i++)
			assert_int_equal(records[i].packet, next++);
	}
	record(RING + 7);
	assert_int_equal(tutti_trace_read(device, records, RING + 1, &lost), RING);
	assert_int_equal(lost, 7);
	assert_int_equal(tutti_trace_read(device, records, RING, &lost), 0);
	assert_int_equal(lost, 0);
	assert_int_equal(tutti_trace_stop(device), 0);
	record(5);
	assert_int_equal(tutti_trace_read(device, records, RING, NULL), 0);
	device->status->trace_tail += 2 * RING; /* more records than the ring can hold */
	assert_int_equal(tutti_trace_read(device, records, RING + 1, NULL), RING);
}

static void misuse(void **state)
{
	struct tutti_trace one;

	assert_int_equal(tutti_trace_start(device, 0), -EINVAL);
	assert_int_equal(tutti_trace_start(device, TUTTI_TRACE_ALL + 1), -EINVAL);
	assert_int_equal(tutti_trace_start(NULL, TUTTI_TRACE_ALL), -EINVAL);
	assert_int_equal(tutti_trace_read(device, NULL, 1, NULL), -EINVAL);
	assert_int_equal(tutti_trace_read(NULL, &one, 1, NULL), -EINVAL);
	assert_int_equal(tutti_trace_stop(NULL), -EINVAL);
	device->known.trace.bytes = sizeof(one) - 1;
	assert_int_equal(tutti_trace_start(device, TUTTI_TRACE_ALL), -ENOTSUP);
	device->known.trace.bytes = sizeof(one);
	assert_int_equal(tutti_trace_start(device, TUTTI_TRACE_ALL), 0);
	device->known.features &= ~(uint64_t)TUTTI_FEATURE_TRACE;
	assert_int_equal(tutti_trace_start(device, TUTTI_TRACE_ALL), -ENOTSUP);
	assert_int_equal(tutti_trace_read(device, &one, 1, NULL), -ENOTSUP);
	assert_int_equal(tutti_trace_stop(device), -ENOTSUP);
	device->known.features |= TUTTI_FEATURE_TRACE;
	transport.traces = false;
	assert_int_equal(tutti_trace_read(device, &one, 1, NULL), -ENOTSUP);
}

static unsigned pauses; /* of threads that wait until they may write to the file */

int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	__atomic_fetch_add(&pauses, 1, __ATOMIC_RELAXED);
	return __real_nanosleep(time, rest);
}

static void expect_name(uint64_t entry, const char *name)
{
	for (unsigned part = 0; !part || part * TUTTI_TRACE_NAME_PART < strlen(name); part++) {
		struct tutti_trace_kernel r;
		char text[TUTTI_TRACE_NAME_PART] = "";

		memcpy(&r, next_bytes(sizeof(r)), sizeof(r));
		memcpy(text, name + part * sizeof(text), strnlen(name + part * sizeof(text), sizeof(text)));
		assert_int_equal(r.kind, TUTTI_TRACE_KERNEL);
		assert_int_equal(r.entry, entry);
		assert_int_equal(r.part, part);
		assert_memory_equal(r.text, text, sizeof(text));
	}
}

/* Every record in order, names where they were given, and the sum of what was dropped. */
static void file_holds_all(void **state)
{
	static const char name[] = "a_kernel_of_which_the_name_is_long_enough_for_it";
	const struct tutti_trace_file *head;
	struct tutti_trace one;

	close(mkstemp(path));
	setenv("TUTTI_TRACE", path, 1);
	assert_int_equal(trace_open(device), 0);
	unsetenv("TUTTI_TRACE");
	assert_int_equal(device->control->trace_enable, TUTTI_TRACE_ALL);
	assert_int_equal(tutti_trace_read(device, &one, 1, NULL), -EBUSY);
	assert_int_equal(tutti_trace_start(device, TUTTI_TRACE_ALL), -EBUSY);
	assert_int_equal(tutti_trace_stop(device), -EBUSY);
	record(300);
	trace_drain(device);
	record(RING + 5);
	trace_kernel(device, 0x1000, name);
	for (size_t length = 0; length <= 2 * TUTTI_TRACE_NAME_PART; length += TUTTI_TRACE_NAME_PART)
		trace_kernel(device, 0x2000 + length, name + strlen(name) - length);
	record(RING + 7);
	trace_poll(device);
	trace_poll(device);
	record(2); /* those that are still in the ring are written when the device is closed */
	trace_close(device);
	assert_null(device->trace);
	assert_int_equal(device->control->trace_enable, 0);
	trace_close(device);

	slurp();
	head = next_bytes(sizeof(*head));
	assert_true(head->magic == TUTTI_TRACE_MAGIC);
	assert_int_equal(head->version, TUTTI_TRACE_VERSION);
	assert_int_equal(head->kinds, TUTTI_TRACE_ALL);
	assert_int_equal(head->lost, 5 + 7);
	assert_int_equal(head->places, SMS);
	assert_int_equal(head->discovery_bytes, sizeof(device->known));
	assert_memory_equal(next_bytes(sizeof(device->known)), &device->known, sizeof(device->known));
	assert_memory_equal(next_bytes(SMS * sizeof(struct tutti_sm_place)), bar + 0x3000, SMS * sizeof(struct tutti_sm_place));
	expect_records(0, 300 + RING);
	expect_name(0x1000, name);
	for (size_t length = 0; length <= 2 * TUTTI_TRACE_NAME_PART; length += TUTTI_TRACE_NAME_PART)
		expect_name(0x2000 + length, name + strlen(name) - length);
	expect_records(300 + RING + 5, RING);
	expect_records(300 + 2 * RING + 5 + 7, 2);
	assert_int_equal(file_at, file_bytes);
	unlink(path);
}

/* What is said while a trace of @records is written to a file that may have @most bytes. */
static const char *said_of(unsigned records, rlim_t most)
{
	static char said[1024];
	struct rlimit before, limit;
	FILE *log = tmpfile();
	int keep = dup(2);

	open_file();
	record(records);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit){ .rlim_cur = most, .rlim_max = before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	dup2(fileno(log), 2);
	setrlimit(RLIMIT_FSIZE, &limit);
	trace_drain(device);
	setrlimit(RLIMIT_FSIZE, &before);
	trace_close(device);
	dup2(keep, 2);
	close(keep);
	signal(SIGXFSZ, SIG_DFL);
	rewind(log);
	said[fread(said, 1, sizeof(said) - 1, log)] = 0;
	fclose(log);
	return said;
}

/* What is not in the file is told when it is closed: records that were dropped, and errors of the file system. */
static void tells_what_is_missing(void **state)
{
	assert_string_equal(said_of(RING, RLIM_INFINITY), "");
	assert_string_equal(said_of(RING + 9, RLIM_INFINITY), "tutti: TUTTI_TRACE: 9 records were dropped\n");
	assert_string_equal(said_of(RING, 4096), "tutti: TUTTI_TRACE: not written: File too large\n");
	unlink_others();
}

static void *drains(void *context)
{
	trace_drain(device);
	return NULL;
}

/* Reads all of a pipe, but not before somebody has waited for it. */
static void *reads_late(void *context)
{
	int fd = *(int *)context;
	ssize_t n;

	while (tutti_load_relaxed(&pauses) < 3)
		sched_yield();
	for (file_bytes = 0; (n = read(fd, file + file_bytes, sizeof(file) - file_bytes)) > 0;)
		file_bytes += (size_t)n;
	return NULL;
}

/* While one thread writes, others that have to write as well pause and wait; what need not be written by them is not. */
static void one_writes(void **state)
{
	struct pollfd room = {.events = POLLOUT};
	pthread_t writer, reader;
	int fd;

	snprintf(child_path, sizeof(child_path), "%s.1", path);
	assert_int_equal(mkfifo(child_path, 0600), 0);
	fd = open(child_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	fcntl(fd, F_SETFL, 0);
	open_file();
	assert_true(fcntl(fd, F_SETPIPE_SZ, 4 * 4096) > 0); /* which is less than the records take */
	room.fd = open(child_path, O_WRONLY | O_CLOEXEC);
	record(RING);
	pthread_create(&writer, NULL, drains, NULL);
	while (poll(&room, 1, 0)) /* until the writer is stuck in the middle */
		sched_yield();
	close(room.fd);
	trace_drain(device); /* it is being done */
	pauses = 0;
	pthread_create(&reader, NULL, reads_late, &fd);
	trace_kernel(device, 0x1000, "late");
	pthread_join(writer, NULL);
	trace_close(device);
	pthread_join(reader, NULL);
	close(fd);
	unlink(child_path);
	file_at = 0;
	next_bytes(sizeof(struct tutti_trace_file) + sizeof(device->known) + SMS * sizeof(struct tutti_sm_place));
	expect_records(0, RING);
	expect_name(0x1000, "late");
}

static bool in_parts;
static unsigned writes;

ssize_t __real_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n);

/*
 * Plays a file that takes only a few bytes at a time. Every third write takes none: it either returns 0 or is interrupted
 * by a signal.
 */
ssize_t __wrap_write(int fd, const void *data, size_t n)
{
	if (!in_parts)
		return __real_write(fd, data, n);
	if (++writes % 3 == 0) {
		errno = writes % 6 ? EINTR : EIO;
		return writes % 6 ? -1 : 0;
	}
	return __real_write(fd, data, n < 7 ? n : 7);
}

/* Reads the only numbered trace file and deletes it. All traces of a program but the first have a number in their names. */
static void slurp_other(void)
{
	char pattern[sizeof(path) + 2];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s.*", path);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	assert_int_equal(rename(found.gl_pathv[0], path), 0);
	globfree(&found);
	slurp();
	unlink(path);
}

/* The file contains the places of the SMs only if the card's table has an entry for every SM. */
static void places(void **state)
{
	const struct tutti_trace_file *head;

	for (unsigned more = 0; more < 3; more++) {
		device->known.sm_table.bytes = SMS * sizeof(struct tutti_sm_place) + more - 1;
		open_file();
		record(1);
		trace_close(device);
		slurp_other();
		head = next_bytes(sizeof(*head));
		assert_int_equal(head->places, more ? SMS : 0);
		next_bytes(sizeof(device->known));
		assert_memory_equal(next_bytes(head->places * sizeof(struct tutti_sm_place)), bar + 0x3000,
				    head->places * sizeof(struct tutti_sm_place));
		expect_records(more, 1);
		assert_int_equal(file_at, file_bytes);
	}
}

/* Bytes that the file does not take at once are written later, in the right order and only once. */
static void written_in_parts(void **state)
{
	char name[3 * TUTTI_TRACE_NAME_PART];

	memset(name, 'x', sizeof(name)); /* characters after the terminating zero must not be written */
	name[TUTTI_TRACE_NAME_PART + 1] = 0;
	in_parts = true;
	writes = 0;
	open_file();
	record(300);
	trace_kernel(device, 0x1000, name);
	record(5);
	trace_close(device);
	in_parts = false;
	assert_true(writes > 305 * sizeof(struct tutti_trace) / 7);
	slurp_other();
	next_bytes(sizeof(struct tutti_trace_file));
	assert_memory_equal(next_bytes(sizeof(device->known)), &device->known, sizeof(device->known));
	next_bytes(SMS * sizeof(struct tutti_sm_place));
	expect_records(0, 300);
	expect_name(0x1000, name);
	expect_records(300, 5);
	assert_int_equal(file_at, file_bytes);
}

static int refuses_to_start(struct tutti_device *of, uint32_t kinds)
{
	return -EACCES;
}

/* A file that cannot be made is an error, and nothing is recorded; without the variable there is no file. */
static void no_file(void **state)
{
	setenv("TUTTI_TRACE", "/nowhere/at/all", 1);
	assert_int_equal(trace_open(device), -ENOENT);
	assert_null(device->trace);
	assert_int_equal(device->control->trace_enable, 0);
	setenv("TUTTI_TRACE", "", 1);
	assert_int_equal(trace_open(device), 0);
	assert_null(device->trace);
	setenv("TUTTI_TRACE", "/nowhere/at/all", 1);
	transport.trace_start = refuses_to_start;
	assert_int_equal(trace_open(device), 0); /* the card refuses to start its trace: the program runs without it */
	assert_null(device->trace);
	transport.trace_start = NULL;
	device->known.features &= ~(uint64_t)TUTTI_FEATURE_TRACE;
	assert_int_equal(trace_open(device), 0); /* the card has no trace: the program runs without it */
	assert_null(device->trace);
	unsetenv("TUTTI_TRACE");
	assert_int_equal(trace_open(device), 0);
}

#define TRACED(f) cmocka_unit_test_setup_teardown(f, open_traced, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED(ring_is_read), TRACED(misuse), TRACED(file_holds_all), TRACED(one_writes),
		TRACED(tells_what_is_missing), TRACED(written_in_parts), TRACED(no_file),
		TRACED(places),
	};

	return cmocka_run_group_tests_name("CGA-30, SYS-41 the trace ring and its file", tests, NULL, NULL);
}
