// SPDX-License-Identifier: MIT
/*
 * Every call in a context that has been killed, and on a card that has been given up: what the file still has says so,
 * what it makes anew works, and what it gives back is gone.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "table.h"

/* What is about the context, or lives in it. All other calls do not care; neither does who takes things apart. */
static int when_killed(const struct call *it)
{
	static const unsigned long lost[] = {
		DRM_IOCTL_TUTTI_MAP, DRM_IOCTL_TUTTI_UNMAP, DRM_IOCTL_TUTTI_CODE_INVALIDATE, DRM_IOCTL_TUTTI_QUEUE_CREATE,
		DRM_IOCTL_TUTTI_QUEUE_RESET, DRM_IOCTL_TUTTI_QUEUE_QUERY, DRM_IOCTL_TUTTI_RSB_CREATE,
		DRM_IOCTL_TUTTI_RSB_INVALIDATE, DRM_IOCTL_TUTTI_RSB_READ, DRM_IOCTL_TUTTI_FENCE, DRM_IOCTL_TUTTI_TASK_CANCEL,
	};

	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		if (lost[i] == it->request)
			return EIO;
	return 0;
}

static bool kill_context(const struct rig *rig)
{
	unsigned number;
	char text[32];

	CHECK(context_number(rig, &number));
	snprintf(text, sizeof(text), "context %u", number);
	CHECK(card_reset(text));
	return true;
}

static bool killed(struct rig *rig, const void *data)
{
	const struct call *it = data;
	struct rig fresh = {.fd = -1};
	uint8_t args[ARGS_MAX];

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(rig_queue(rig) && it->fill(rig, args) && kill_context(rig));
	EXPECT(when_killed(it), call(rig->fd, it->request, args));
	CHECK(rig_queue(&fresh) && rig_works(&fresh));
	rig_close(&fresh);
	return true;
}

/* Its owner is told by all that there is: the queue's state, its events, its fences. */
static bool told(struct rig *rig)
{
	struct drm_tutti_queue_query query = {0};
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_INTERRUPT, .value = -1, .deadline = 1};
	struct tutti_fault fault;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(rig_queue(rig) && rig_works(rig) && kill_context(rig));
	query.handle = rig->queue;
	EXPECT(EIO, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
	memcpy(&fault, query.fault, sizeof(fault));
	EXPECT(TUTTI_ERROR_CANCELLED, query.stopped);
	EXPECT(TUTTI_ERROR_CANCELLED, fault.code);
	EXPECT(rig->queue_number, fault.queue);
	EXPECT(1, (long)query.errors);
	EXPECT(0, (long)query.progress); /* the word may be another queue's by now */
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(1, (long)wait.events);
	EXPECT(ECANCELED, rig_progress(rig, 0, 0));
	return true;
}

/* The file has so many objects of the kind, by what its fdinfo says. */
static bool has(struct rig *rig, const char *kind, unsigned wanted)
{
	char path[64], line[128], format[32];
	unsigned number = ~0u;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", rig->fd);
	snprintf(format, sizeof(format), "tutti-%s: %%u of", kind);
	file = fopen(path, "re");
	while (file && number == ~0u && fgets(line, sizeof(line), file))
		sscanf(line, format, &number);
	if (file)
		fclose(file);
	EXPECT(wanted, number);
	return true;
}

/* What is refused when its handle has been chosen already takes neither handle nor place. */
static bool refused(struct rig *rig)
{
	struct drm_tutti_queue_create queue;
	struct drm_tutti_rsb_create rsb;
	struct drm_tutti_context_create context = {0};

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(rig_queue(rig));
	for (unsigned i = 0; i < 3; i++) {
		queue = queue_args(rig);
		queue.ring = 7 * BASE;
		EXPECT(EFAULT, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &queue));
	}
	CHECK(has(rig, "queues", 1));
	queue = queue_args(rig);
	queue.ring = BASE + SPARE_RING_AT;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &queue));
	EXPECT(rig->queue + 1, queue.handle);
	CHECK(kill_context(rig));
	for (unsigned i = 0; i < 3; i++) {
		rsb = (struct drm_tutti_rsb_create){.context = rig->context};
		EXPECT(EIO, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
	}
	CHECK(has(rig, "rsbs", 0) && has(rig, "queues", 2) && has(rig, "contexts", 1));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &context));
	rsb = (struct drm_tutti_rsb_create){.context = context.handle};
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
	EXPECT(1, rsb.handle);
	CHECK(has(rig, "rsbs", 1) && has(rig, "contexts", 2));
	return true;
}

static bool no_such_context(struct rig *rig)
{
	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(rig_queue(rig));
	CHECK(!card_reset("context 0") && !card_reset("context 60000") && !card_reset("context") && !card_reset("2"));
	CHECK(rig_works(rig));
	return true;
}

/* ---- how many errors a context may have in a second ---- */

static bool set_errors_max(const char *number)
{
	FILE *file = fopen("/sys/module/tutti/parameters/context_errors_max", "we");
	bool good = file && fputs(number, file) >= 0;

	return file && !fclose(file) && good;
}

static bool errors(struct rig *rig, unsigned number, unsigned pause_us)
{
	struct tutti_fault fault;

	for (unsigned i = 0; i < number; i++) {
		rig_publish(rig_slot(rig), 0x77);
		rig_ring(rig);
		EXPECT(0, queue_error(rig, &fault));
		EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET));
		usleep(pause_us);
	}
	return true;
}

/* As many as are allowed, many more if there is no limit, and more than that in the course of time. */
static bool few_errors(struct rig *rig)
{
	bool good;

	SKIP_UNLESS(!getuid() && set_errors_max("3"), "context_errors_max cannot be set");
	good = rig_queue(rig) && errors(rig, 3, 0) && rig_works(rig);
	rig_close(rig);
	good = good && rig_queue(rig) && errors(rig, 5, 1200000) && rig_works(rig);
	rig_close(rig);
	good = good && set_errors_max("0") && rig_queue(rig) && errors(rig, 12, 0) && rig_works(rig);
	CHECK(set_errors_max("1000"));
	return good;
}

/* ---- a card that has been given up ---- */

#define CALLS 32

/* Of a file from before, whose handles would be right, in the hands of one that has been opened since. */
static bool calls_on_wedged(uint64_t args[CALLS][ARGS_MAX / 8], const struct rig *before)
{
	struct drm_tutti_reset reset = {0};
	int fd = device_open();

	CHECK(fd >= 0);
	for (unsigned i = 0; calls[i].name; i++) {
		EXPECT(EIO, call(fd, calls[i].request, args[i]));
		EXPECT(EIO, call(before[i].fd, calls[i].request, args[i]));
	}
	EXPECT(EIO, call(fd, DRM_IOCTL_TUTTI_RESET, &reset));
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   (off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_DOORBELL, 1)) == MAP_FAILED);
	EXPECT(EIO, errno);
	close(fd);
	return true;
}

static bool wedged(struct rig *rig)
{
	static uint64_t args[CALLS][ARGS_MAX / 8];
	struct rig before[CALLS];
	bool good = true;

	for (unsigned i = 0; calls[i].name; i++) {
		before[i] = (struct rig){.fd = -1};
		good = good && rig_queue(&before[i]) && calls[i].fill(&before[i], args[i]);
	}
	good = good && card_reset("wedge") && calls_on_wedged(args, before);
	for (unsigned i = 0; calls[i].name; i++)
		rig_close(&before[i]);
	good = card_reset("1") && good;
	return good && rig_fresh(rig) && rig_works(rig);
}

static bool given_up(struct rig *rig, const void *data)
{
	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	CHECK(wedged(rig));
	return true;
}

void killed_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-28: the owner of a context that was killed is told", told},
		{"SYS-28: nobody is killed in the place of a context that is not there", no_such_context},
		{"SYS-28: errors that a context may have", few_errors},
		{"SYS-30: what is refused takes no handle", refused},
		{0},
	};
	enum outcome outcome;
	char name[100];

	for (const struct call *it = calls; it->name; it++) {
		snprintf(name, sizeof(name), "SYS-28 %s: %s, in a context that was killed", it->ids, it->name);
		table_note(it, "in a context that was killed", subtest(name, killed, it));
	}
	subtests(tests);
	outcome = subtest("SYS-28: every call on a card that was given up", given_up, NULL);
	for (const struct call *it = calls; it->name; it++)
		table_note(it, "on a card that was given up", outcome);
}
