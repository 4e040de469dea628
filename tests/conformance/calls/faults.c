// SPDX-License-Identifier: MIT
/*
 * Every allocation of every call fails once, in turn: the call returns the error, leaks nothing, and works the next
 * time.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "table.h"

#define MANY 400 /* allocations that no call has */

static bool set(const char *kind, const char *name, const char *value)
{
	char path[96];
	int fd;
	bool good;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", kind, name);
	fd = open(path, O_WRONLY);
	good = fd >= 0 && write(fd, value, strlen(value)) > 0;
	if (fd >= 0)
		close(fd);
	return good;
}

/* Allocations that may sleep fail, too, without a stack trace of each in the kernel's log. */
static bool fault_injection(void)
{
	static const char *const kinds[] = {"failslab", "fail_page_alloc", "fail_usercopy"};
	bool good = !access("/proc/self/fail-nth", W_OK);

	for (unsigned i = 0; good && i < 3; i++) {
		good = set(kinds[i], "verbose", "0");
		set(kinds[i], "ignore-gfp-wait", "N");
		set(kinds[i], "ignore-gfp-highmem", "N");
		set(kinds[i], "min-order", "0");
	}
	return good;
}

static bool arm(unsigned nth)
{
	char text[16];
	int fd = open("/proc/thread-self/fail-nth", O_WRONLY);
	bool good = fd >= 0 && write(fd, text, (size_t)snprintf(text, sizeof(text), "%u", nth)) > 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* Whether the fault was injected; it is disarmed in any case. */
static bool happened(void)
{
	char text[16] = "";
	int fd = open("/proc/thread-self/fail-nth", O_RDONLY);
	ssize_t got = read(fd, text, sizeof(text) - 1);

	close(fd);
	arm(0);
	return got > 0 && atoi(text) == 0;
}

static bool each_allocation(struct rig *rig, const void *data)
{
	const struct call *it = data;
	unsigned nth = 1;
	bool more = true;

	SKIP_UNLESS(fault_injection(), "this kernel injects no faults");
	for (; more && nth < MANY; nth++) {
		struct rig mine = {.fd = -1};
		uint8_t args[ARGS_MAX];
		int error;

		CHECK(rig_queue(&mine) && it->fill(&mine, args));
		CHECK(arm(nth));
		error = call(mine.fd, it->request, args);
		more = happened();
		if (error && error != ENOMEM && error != EFAULT)
			EXPECT(0, error);
		if (!more)
			EXPECT(0, error);
		rig_close(&mine);
	}
	CHECK(nth < MANY);
	CHECK(rig_queue(rig) && rig_works(rig));
	return true;
}

static bool each_open(struct rig *rig, const void *data)
{
	bool more = true;

	SKIP_UNLESS(fault_injection(), "this kernel injects no faults");
	for (unsigned nth = 1; more && nth < MANY; nth++) {
		int fd;

		CHECK(arm(nth));
		fd = device_open();
		more = happened();
		CHECK(fd >= 0 || more);
		if (fd >= 0)
			close(fd);
	}
	CHECK(!more && rig_queue(rig) && rig_works(rig));
	return true;
}

/*
 * mmap() and the first touch of each kind of page. Faults are armed for mmap() only, because a page fault without
 * memory calls the OOM killer.
 */
static bool each_mapping(struct rig *rig, const void *data)
{
	bool more = true;

	SKIP_UNLESS(fault_injection(), "this kernel injects no faults");
	CHECK(rig_queue(rig));
	for (unsigned nth = 1; more && nth < MANY; nth++) {
		void *page;

		CHECK(arm(nth));
		page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)rig->doorbell_offset);
		more = happened();
		CHECK(page != MAP_FAILED || more);
		if (page != MAP_FAILED)
			munmap(page, PAGE);
	}
	CHECK(!more && rig_works(rig));
	return true;
}

void faults_group(void)
{
	char name[100];

	for (const struct call *it = calls; it->name; it++) {
		snprintf(name, sizeof(name), "REL-03 %s: %s, each allocation fails in turn", it->ids, it->name);
		table_note(it, "each allocation fails in turn", subtest(name, each_allocation, it));
	}
	subtest("REL-03 SYS-24: open, each allocation fails in turn", each_open, NULL);
	subtest("REL-03 SYS-24: mmap, each allocation fails in turn", each_mapping, NULL);
}
