// SPDX-License-Identifier: MIT
/* Suspend and resume, and what the driver tells in files. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

static bool read_file(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, text, bytes - 1);

	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = 0;
	return got > 0;
}

#define SKIP_UNLESS_POWER SKIP_UNLESS(pci_address && can_sleep(), NEED_SLEEP)

/* Queues, memory of host and card, an RSB and a pending fence exist afterwards. */
static bool keeps(struct rig *rig)
{
	struct drm_tutti_rsb_create rsb = {0};
	struct drm_tutti_rsb_invalidate invalidate = {.mask = 1};
	volatile uint32_t *words;
	uint64_t offset;
	uint32_t bo;

	SKIP_UNLESS_POWER;
	CHECK(rig_queue(rig) && rig_works(rig));
	EXPECT(0, bo_create(rig->fd, 16 * PAGE, DRM_TUTTI_PLACE_CARD, &bo, &offset));
	words = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(words != MAP_FAILED);
	words[0] = 0x600d;
	rsb.context = rig->context;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
	for (unsigned i = 0; i < 3; i++) {
		CHECK(system_sleep());
		CHECK(rig_works(rig));
		EXPECT(0x600d, words[0]);
	}
	invalidate.handle = rsb.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_INVALIDATE, &invalidate));
	munmap((void *)words, 16 * PAGE);
	return true;
}

/* Running work ends before the card sleeps; packets whose doorbell rings meanwhile run afterwards. */
static bool in_flight(struct rig *rig)
{
	SKIP_UNLESS_POWER;
	CHECK(rig_queue(rig));
	for (unsigned round = 0; round < 3; round++) {
		rig_signal(rig, 1, 8);
		for (unsigned i = 0; i < 8; i++)
			rig_fill(rig, BASE + DATA_AT, i, 4 * PAGE, 1);
		rig_ring(rig);
		CHECK(system_sleep());
		EXPECT(0, rig_wait(rig, 1, 0, PATIENCE));
	}
	return true;
}

static void *submit(void *data)
{
	struct rig *rig = data;
	static bool good;

	good = true;
	for (unsigned i = 0; i < 200 && good; i++)
		good = rig_works(rig);
	return &good;
}

static bool under_load(struct rig *rig)
{
	pthread_t thread;
	void *good;

	SKIP_UNLESS_POWER;
	CHECK(rig_queue(rig) && !pthread_create(&thread, NULL, submit, rig));
	for (unsigned round = 0; round < 4; round++)
		CHECK(system_sleep());
	CHECK(!pthread_join(thread, &good) && *(bool *)good);
	return true;
}

/* A file that was closed while others stay open: resume must not look for it. */
static bool closed_before(struct rig *rig)
{
	struct rig gone = {.fd = -1};
	struct drm_tutti_handle handle = {0};

	SKIP_UNLESS_POWER;
	CHECK(rig_queue(&gone) && rig_queue(rig) && rig_works(&gone));
	rig_close(&gone);
	handle.handle = rig->queue;
	CHECK(system_sleep() && rig_works(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	CHECK(system_sleep());
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	return true;
}

/* The time asleep counts neither as time of a kernel nor as a missing heartbeat: nobody is reset. */
static bool no_reset(struct rig *rig)
{
	struct drm_tutti_state before, after;
	struct drm_tutti_query query = {DRM_TUTTI_QUERY_STATE, sizeof(before), (uintptr_t)&before};

	SKIP_UNLESS_POWER;
	CHECK(rig_queue(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &query));
	CHECK(system_sleep() && rig_works(rig));
	usleep(1500000);
	query.pointer = (uintptr_t)&after;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &query));
	EXPECT((long)before.generation, (long)after.generation);
	return true;
}

static bool fdinfo(struct rig *rig)
{
	char path[64], text[4096];
	uint32_t bo;

	CHECK(rig_queue(rig));
	EXPECT(0, bo_create(rig->fd, 1 << 20, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", rig->fd);
	CHECK(read_file(path, text, sizeof(text)));
	SKIP_UNLESS(strstr(text, "drm-driver:"), "this kernel's DRM has no fdinfo");
	CHECK(strstr(text, "drm-driver:\ttutti") && strstr(text, "drm-client-id:") && strstr(text, "drm-pdev:"));
	CHECK(strstr(text, "drm-total-card:\t1024 KiB"));
	return true;
}

static bool attributes(struct rig *rig)
{
	static const char *const names[] = {"card_name", "firmware_version", "card_state", "resets"};
	char path[96], text[4096];

	SKIP_UNLESS(pci_address, "needs --pci");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", pci_address, names[i]);
		CHECK(read_file(path, text, sizeof(text)) && strlen(text) > 1);
	}
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/card_state", pci_address);
	CHECK(read_file(path, text, sizeof(text)) && !strcmp(text, "running\n"));
	return true;
}

/* Each call of COUNTERS brings them up to date: packets of ours are among them. */
static bool counters(struct rig *rig)
{
	struct drm_tutti_counters args = {0};
	char path[96], text[64] = "";
	unsigned long before;

	SKIP_UNLESS(pci_address, "needs --pci");
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/tutti_counters/PACKETS", pci_address);
	CHECK(rig_queue(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_COUNTERS, &args));
	CHECK(read_file(path, text, sizeof(text)));
	before = strtoul(text, NULL, 10);
	for (unsigned i = 0; i < 5; i++)
		CHECK(rig_works(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_COUNTERS, &args));
	CHECK(read_file(path, text, sizeof(text)));
	CHECK(strtoul(text, NULL, 10) >= before + 5);
	return true;
}

static const struct subtest power_tests[] = {
	{"SYS-29: suspend and resume keep everything", keeps},
	{"SYS-29: suspend with work in flight", in_flight},
	{"SYS-29: suspend under load", under_load},
	{"SYS-29: suspend after a close", closed_before},
	{"SYS-29 SYS-28: sleep is not taken for a hang", no_reset},
	{"SYS-29: fdinfo", fdinfo},
	{"SYS-29: attributes", attributes},
	{"SYS-29: counters", counters},
	{0},
};

void power_group(void)
{
	subtests(power_tests);
}
