// SPDX-License-Identifier: MIT
/*
 * What the driver holds of others, and lets go: eventfds, processes, files. The kernel's allocator notes who has
 * allocated what is in use (slub_debug=U); its own allocations are looked at when the driver has let go of the card.
 */
#include <glob.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

#define ROUNDS 64

/* How many there are in the caches that match, by who has allocated them. -1: that is not noted. */
static long in_use(const char *caches, const char *caller)
{
	char pattern[96], line[256], function[128];
	glob_t paths = {0};
	long all = -1, count;

	snprintf(pattern, sizeof(pattern), "/sys/kernel/debug/slab/%s/alloc_traces", caches);
	glob(pattern, 0, NULL, &paths);
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		FILE *file = fopen(paths.gl_pathv[i], "re");

		while (file && fgets(line, sizeof(line), file)) {
			if (line[0] && sscanf(line, "%ld %127s", &count, function) == 2 && strstr(function, caller))
				all = (all < 0 ? 0 : all) + count;
		}
		if (file)
			fclose(file);
	}
	globfree(&paths);
	return all;
}

/* What is freed may be so a little later. */
static bool soon_below(const char *caches, const char *caller, long most)
{
	for (unsigned i = 0; i < 100 && in_use(caches, caller) >= most; i++)
		usleep(50000);
	CHECK(in_use(caches, caller) < most);
	return true;
}

static bool set_event(struct rig *rig, int fd, uint32_t flags)
{
	struct drm_tutti_event event = {.handle = rig->queue, .fd = fd, .flags = flags};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_EVENT, &event));
	return true;
}

/* Replaced by another one, taken back, refused, and with the queue. */
static bool eventfds(struct rig *rig)
{
	struct drm_tutti_event refused = {.handle = 0x7777, .flags = DRM_TUTTI_EVENT_ERROR};
	int kept = eventfd(0, EFD_CLOEXEC);
	long before = in_use("kmalloc-*", "eventfd");

	SKIP_UNLESS(!getuid() && before > 0, "the kernel does not note who allocates");
	for (unsigned i = 0; i < ROUNDS; i++) {
		int fds[3] = {eventfd(0, 0), eventfd(0, 0), eventfd(0, 0)};

		CHECK(rig_queue(rig) && set_event(rig, fds[0], DRM_TUTTI_EVENT_ERROR));
		CHECK(set_event(rig, fds[1], DRM_TUTTI_EVENT_COMPLETION) && set_event(rig, -1, 0));
		refused.fd = fds[1];
		EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_EVENT, &refused));
		CHECK(set_event(rig, fds[2], DRM_TUTTI_EVENT_ERROR));
		rig_close(rig);
		for (unsigned j = 0; j < 3; j++)
			close(fds[j]);
	}
	CHECK(soon_below("kmalloc-*", "eventfd", before + ROUNDS));
	close(kept);
	return true;
}

/* A process that ends while the card has its memory. */
static bool own_memory(void *data)
{
	static uint8_t memory[4 * PAGE] __attribute__((aligned(4096)));
	struct drm_tutti_bo_userptr args = {.address = (uintptr_t)memory, .bytes = sizeof(memory)};
	struct rig rig = {.fd = -1};

	CHECK(rig_memory(&rig));
	EXPECT(0, call(rig.fd, DRM_IOCTL_TUTTI_BO_USERPTR, &args));
	EXPECT(0, bo_map(rig.fd, rig.context, args.handle, 2 * BASE, sizeof(memory)));
	args.address += 64; /* and one that is refused */
	EXPECT(EINVAL, call(rig.fd, DRM_IOCTL_TUTTI_BO_USERPTR, &args));
	args = (struct drm_tutti_bo_userptr){.address = PAGE, .bytes = PAGE};
	EXPECT(EFAULT, call(rig.fd, DRM_IOCTL_TUTTI_BO_USERPTR, &args));
	return true;
}

static bool processes(struct rig *rig)
{
	long before = in_use("mm_struct", "");

	SKIP_UNLESS(!getuid() && before > 0, "the kernel does not note who allocates");
	for (unsigned i = 0; i < ROUNDS; i++)
		CHECK(in_child(own_memory, NULL));
	return soon_below("mm_struct", "", before + ROUNDS);
}

/* Is this a kernel thread of the driver: the rescuer of one of its work queues, or the handler of an interrupt? */
static bool is_drivers_thread(const char *name)
{
	int end = 0;

	if (!strncmp(name, "tutti-conf", 10)) /* this program */
		return false;
	sscanf(name, "irq/%*d-tutti%n", &end);
	return end || !strncmp(name, "tutti", 5) || !strncmp(name, "kworker/R-tutti", 15);
}

static unsigned drivers_threads(void)
{
	unsigned threads = 0;
	glob_t paths = {0};
	char name[64];

	glob("/proc/[0-9]*/comm", 0, NULL, &paths);
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		FILE *file = fopen(paths.gl_pathv[i], "re");

		threads += file && fgets(name, sizeof(name), file) && is_drivers_thread(name);
		if (file)
			fclose(file);
	}
	globfree(&paths);
	return threads;
}

/* The kernel threads of the driver end when it has been unbound from the card and nobody has the card open. */
static bool threads(struct rig *rig)
{
	unsigned before, after;
	bool bound;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	before = drivers_threads();
	CHECK(driver_unbind());
	for (unsigned i = 0; (after = drivers_threads()) && i < 100; i++)
		usleep(50000);
	bound = driver_bind();
	CHECK(bound && before);
	EXPECT(0, after);
	return rig_queue(rig) && rig_works(rig);
}

void leaks_group(void)
{
	static const struct subtest tests[] = {
		{"REL-05 SYS-26: eventfds are let go", eventfds},
		{"REL-05 SYS-41: processes whose memory the card had are let go", processes},
		{"REL-05: the driver's kernel threads end with the device", threads},
		{0},
	};

	subtests(tests);
}
