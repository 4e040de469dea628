// SPDX-License-Identifier: MIT
/*
 * The file that TUTTI_TRACE names. It is written without buffers of the C library, and the files that are open are
 * listed, so that what the card has recorded is saved by handlers of signals too.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/say.h"
#include "device/trace.h"

#define CHUNK 256u
#define PATIENCE 200u /* ms that a handler waits for a thread that is just writing */

/**
 * struct trace - the file that the trace records of a device are written to.
 * @busy: somebody writes
 * @error: errno of a write that failed, or 0
 * @process: a child made by fork() has a copy of this, and leaves the file alone
 * @next: in the list of open files
 */
struct trace {
	struct tutti_device *device;
	int file;
	bool busy;
	int error;
	pid_t process;
	struct tutti_trace_file head;
	struct trace *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace *list; /* handlers read it without the lock */

FREE_IN_CHILD(list_lock)

static bool begin_writing(struct trace *trace)
{
	return !__atomic_test_and_set(&trace->busy, __ATOMIC_ACQUIRE);
}

static bool wait_to_write(struct trace *trace, unsigned ms)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (unsigned i = 0; i < ms; i++) {
		if (begin_writing(trace))
			return true;
		nanosleep(&pause, NULL);
	}
	return begin_writing(trace);
}

static void end_writing(struct trace *trace)
{
	__atomic_clear(&trace->busy, __ATOMIC_RELEASE);
}

static void write_all(struct trace *trace, const void *data, size_t bytes)
{
	const char *from = data;

	while (bytes && !trace->error) {
		ssize_t n = write(trace->file, from, bytes);

		if (n < 0 && errno != EINTR)
			trace->error = errno;
		if (n > 0) {
			from += n;
			bytes -= (size_t)n;
		}
	}
}

static void drain(struct trace *trace)
{
	struct tutti_trace records[CHUNK];
	uint64_t lost;
	int n;

	do {
		n = trace_take(trace->device, records, CHUNK, &lost);
		trace->head.lost += lost;
		if (n > 0)
			write_all(trace, records, (size_t)n * sizeof(*records));
	} while (n == CHUNK);
}

static void write_lost(struct trace *trace)
{
	if (pwrite(trace->file, &trace->head, sizeof(trace->head), 0) != sizeof(trace->head) && !trace->error)
		trace->error = errno;
}

void trace_drain(struct tutti_device *device)
{
	struct trace *trace = device->trace;

	/* Another thread may be writing the records already. */
	if (!begin_writing(trace))
		return;
	drain(trace);
	end_writing(trace);
}

void trace_kernel(struct tutti_device *device, uint64_t entry, const char *name)
{
	struct trace *trace = device->trace;
	size_t length = strlen(name);

	if (!trace || !wait_to_write(trace, UINT32_MAX))
		return;
	/* Records of another kernel whose code lay at the same address stand before the name. */
	drain(trace);
	for (size_t part = 0; part == 0 || part * TUTTI_TRACE_NAME_PART < length; part++) {
		struct tutti_trace_kernel record = {.entry = entry, .kind = TUTTI_TRACE_KERNEL, .part = (uint16_t)part};
		size_t left = length - part * TUTTI_TRACE_NAME_PART;

		memcpy(record.text, name + part * TUTTI_TRACE_NAME_PART,
		       left < TUTTI_TRACE_NAME_PART ? left : TUTTI_TRACE_NAME_PART);
		write_all(trace, &record, sizeof(record));
	}
	end_writing(trace);
}

/* ---- programs that end without closing their devices ---- */

static const int fatal[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define FATAL (sizeof(fatal) / sizeof(fatal[0]))

static void save_all(void)
{
	for (struct trace *trace = __atomic_load_n(&list, __ATOMIC_ACQUIRE); trace; trace = trace->next) {
		if (trace->process != getpid() || !wait_to_write(trace, PATIENCE))
			continue;
		drain(trace);
		write_lost(trace);
		end_writing(trace);
	}
}

/* The signal's own action is in place again (SA_RESETHAND), and is taken when this returns. */
static void save_and_end(int signal)
{
	int error = errno;

	save_all();
	raise(signal);
	errno = error;
}

/* Only where @from is the handler: signals that the program handles or ignores are left to it. */
static void change_handlers(void (*from)(int), void (*to)(int), int flags)
{
	struct sigaction old, action = {.sa_handler = to, .sa_flags = flags};

	for (unsigned i = 0; i < FATAL; i++)
		if (!sigaction(fatal[i], NULL, &old) && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == from)
			sigaction(fatal[i], &action, NULL);
}

static void catch_signals(void)
{
	change_handlers(SIG_DFL, save_and_end, (int)SA_RESETHAND);
}

static void release_signals(void)
{
	change_handlers(save_and_end, SIG_DFL, 0);
}

/* At exit, and when the library is unloaded. */
__attribute__((destructor)) static void save_at_exit(void)
{
	save_all();
	release_signals();
}

/* ---- opening and closing ---- */

static int create(const char *path, int *file)
{
	static unsigned devices;
	unsigned number = __atomic_fetch_add(&devices, 1, __ATOMIC_RELAXED);
	char text[4096];

	if (number)
		snprintf(text, sizeof(text), "%s.%u", path, number);
	else
		snprintf(text, sizeof(text), "%s", path);
	*file = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return *file < 0 ? -errno : 0;
}

static void write_head(struct trace *trace)
{
	const struct tutti_device *device = trace->device;
	const struct tutti_discovery *known = &device->known;

	trace->head = (struct tutti_trace_file){
	    .magic = TUTTI_TRACE_MAGIC,
	    .version = TUTTI_TRACE_VERSION,
	    .kinds = TUTTI_TRACE_ALL,
	    .discovery_bytes = sizeof(*known),
	    .places = known->sm_table.bytes / sizeof(struct tutti_sm_place) >= known->sms ? known->sms : 0,
	};
	write_all(trace, &trace->head, sizeof(trace->head));
	write_all(trace, known, sizeof(*known));
	write_all(trace, device->bar + known->sm_table.offset, trace->head.places * sizeof(struct tutti_sm_place));
}

static void list_add(struct trace *trace)
{
	pthread_mutex_lock(&list_lock);
	if (!list)
		catch_signals();
	trace->next = list;
	__atomic_store_n(&list, trace, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&list_lock);
}

static void list_remove(struct trace *trace)
{
	struct trace **at;

	pthread_mutex_lock(&list_lock);
	for (at = &list; *at && *at != trace;)
		at = &(*at)->next;
	if (*at)
		__atomic_store_n(at, trace->next, __ATOMIC_RELEASE);
	if (!list)
		release_signals();
	pthread_mutex_unlock(&list_lock);
}

int trace_open(struct tutti_device *device)
{
	const char *path = getenv("TUTTI_TRACE");
	struct trace *trace;
	int error;

	if (!path || !*path)
		return 0;
	if (!trace_readable(device)) {
		say("TUTTI_TRACE: this card's trace cannot be read");
		return 0;
	}
	error = trace_begin(device, TUTTI_TRACE_ALL);
	if (error) {
		say("TUTTI_TRACE: the card's trace cannot be read: %s", tutti_strerror(error));
		return 0;
	}
	trace = calloc(1, sizeof(*trace));
	error = trace ? create(path, &trace->file) : -ENOMEM;
	if (error) {
		say("TUTTI_TRACE: %s: %s", path, strerror(-error));
		trace_begin(device, 0);
		free(trace);
		return error;
	}
	trace->device = device;
	trace->process = getpid();
	write_head(trace);
	device->trace = trace;
	list_add(trace);
	return 0;
}

void trace_close(struct tutti_device *device)
{
	struct trace *trace = device->trace;

	if (!trace)
		return;
	list_remove(trace);
	trace_begin(device, 0);
	drain(trace);
	write_lost(trace);
	if (trace->head.lost)
		say("TUTTI_TRACE: %llu records were dropped", (unsigned long long)trace->head.lost);
	if (close(trace->file) && !trace->error)
		trace->error = errno;
	if (trace->error)
		say("TUTTI_TRACE: not written: %s", strerror(trace->error));
	free(trace);
	device->trace = NULL;
}
