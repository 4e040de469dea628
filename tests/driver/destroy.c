// SPDX-License-Identifier: MIT
/* Somebody destroys a queue, which may take long; others wait for what it has done. */
#include <linux/sync_file.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "driver.h"

/* ---- fences ---- */

static int status(int file)
{
	struct sync_fence_info fence = {0};
	struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uintptr_t)&fence};

	return ioctl(file, SYNC_IOC_FILE_INFO, &info) ? -errno : fence.status;
}

/* The signal in memory says that the packet is done; the queue is destroyed before anybody has looked at its fences. */
static bool done_before(struct rig *rig)
{
	struct pollfd ready = {.events = POLLIN};
	bool done, destroyed;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig));
	ready.fd = sync_file_of(rig, 1);
	CHECK(ready.fd >= 0);
	delay("fences", 5000);
	done = rig_works(rig);
	destroyed = !queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY);
	delay("fences", 0);
	CHECK(done && destroyed);
	EXPECT(1, poll(&ready, 1, PATIENCE_MS));
	EXPECT(1, status(ready.fd));
	close(ready.fd);
	return true;
}

const struct driver_test destroy_tests[] = {
	{"SYS-26: the fence of a packet that is done succeeds although its queue is destroyed", done_before},
	{0},
};
