// SPDX-License-Identifier: MIT
/*
 * The card is removed, in all orders of close, unbind and remove, while a file has everything that it can have (spec
 * REL-06).
 */
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define PULLS 4u /* the kernel takes three seconds for each */

/** struct order - as core_hotunplug of igt-gpu-tools has them, and with the card pulled out of its slot. */
struct order {
	const char *name;
	enum { UNBIND, REMOVE, PULL } how;
	enum { CLOSED, CLOSE_BEFORE, CLOSE_AFTER, CLOSE_LATE } close;
};

static const struct order orders[] = {
	{"REL-06: unbind-rebind", UNBIND, CLOSED},
	{"REL-06: unplug-rescan", REMOVE, CLOSED},
	{"REL-06: hotunbind-rebind", UNBIND, CLOSE_BEFORE},
	{"REL-06: hotunplug-rescan", REMOVE, CLOSE_BEFORE},
	{"REL-06: hotrebind", UNBIND, CLOSE_AFTER},
	{"REL-06: hotreplug", REMOVE, CLOSE_AFTER},
	{"REL-06: hotrebind-lateclose", UNBIND, CLOSE_LATE},
	{"REL-06: hotreplug-lateclose", REMOVE, CLOSE_LATE},
	{"REL-06: pull-plug", PULL, CLOSED},
	{"REL-06: hotpull-plug", PULL, CLOSE_BEFORE},
	{"REL-06: hotpull-hotplug", PULL, CLOSE_AFTER},
	{"REL-06: hotpull-hotplug-lateclose", PULL, CLOSE_LATE},
};

/** struct holder - a file with running work, mappings, a shared buffer, a fence and a sleeping thread. */
struct holder {
	struct rig rig;
	volatile uint32_t *card;
	int dma_buf, fence;
	pthread_t thread;
	int error;
};

static void *sleep_in_wait(void *data)
{
	struct holder *holder = data;

	holder->error = rig_wait(&holder->rig, 5, 0, PATIENCE);
	return NULL;
}

static bool hold_fence(struct holder *holder)
{
	struct drm_tutti_fence args = {.handle = holder->rig.queue, .point = 1, .packet = 1ull << 40};
	struct drm_syncobj_transfer transfer = {.src_point = 1};
	struct drm_syncobj_handle handle = {.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, .fd = -1};

	args.syncobj = transfer.src_handle = (uint32_t)syncobj_create(holder->rig.fd);
	handle.handle = transfer.dst_handle = (uint32_t)syncobj_create(holder->rig.fd);
	EXPECT(0, call(holder->rig.fd, DRM_IOCTL_TUTTI_FENCE, &args));
	EXPECT(0, call(holder->rig.fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer));
	EXPECT(0, call(holder->rig.fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle));
	holder->fence = handle.fd;
	return true;
}

static bool hold(struct holder *holder)
{
	struct drm_prime_handle out = {.flags = O_CLOEXEC | O_RDWR};
	struct rig *rig = &holder->rig;
	uint64_t offset;
	uint32_t bo;

	*holder = (struct holder){.rig.fd = -1};
	CHECK(rig_queue(rig) && rig_works(rig) && hold_fence(holder));
	EXPECT(0, bo_create(rig->fd, 16 * PAGE, DRM_TUTTI_PLACE_CARD, &bo, &offset));
	holder->card = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(holder->card != MAP_FAILED);
	holder->card[0] = 7;
	out.handle = rig->bo;
	EXPECT(0, call(rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out));
	holder->dma_buf = out.fd;
	rig_signal(rig, 5, 1);
	CHECK(!pthread_create(&holder->thread, NULL, sleep_in_wait, holder));
	usleep(20000);
	for (unsigned i = 0; i < 8; i++)
		rig_fill(rig, BASE + DATA_AT, i, 4 * PAGE, 6);
	rig_ring(rig);
	return true;
}

/* The driver may find out that a card no longer answers before the slot reports that it was pulled: then work ends with EIO. */
static bool is_gone(const struct order *order, int error)
{
	return error == ENODEV || (order->how == PULL && error == EIO);
}

/* No access through it reaches a card or raises SIGBUS, and every sleeper has been woken. */
static bool check_gone(struct holder *holder, const struct order *order)
{
	struct sync_fence_info fence = {0};
	struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uintptr_t)&fence};
	struct pollfd poll_fd = {.fd = holder->fence, .events = POLLIN};
	struct rig *rig = &holder->rig;
	uint32_t bo;
	void *page;

	CHECK(!pthread_join(holder->thread, NULL));
	CHECK(is_gone(order, holder->error));
	EXPECT(1, poll(&poll_fd, 1, PATIENCE_MS));
	CHECK(!ioctl(holder->fence, SYNC_IOC_FILE_INFO, &info));
	CHECK(is_gone(order, -fence.status));
	*rig->doorbell = 5;
	CHECK(*rig->doorbell == 5 && !*rig->asleep && !holder->card[0]);
	holder->card[0] = 9;
	rig->memory[0] = 1;
	EXPECT(9, holder->card[0]);
	EXPECT(ENODEV, rig_wait(rig, 0, 0, SECOND));
	EXPECT(ENODEV, bo_create(rig->fd, PAGE, 0, &bo, NULL));
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig->fd, (off_t)rig->doorbell_offset);
	CHECK(page == MAP_FAILED);
	page = mmap(NULL, RIG_BYTES, PROT_READ, MAP_SHARED, holder->dma_buf, 0);
	CHECK(page != MAP_FAILED && ((uint8_t *)page)[0] == 1);
	munmap(page, RIG_BYTES);
	return true;
}

static void let_go(struct holder *holder)
{
	rig_close(&holder->rig);
	munmap((void *)holder->card, 16 * PAGE);
	close(holder->dma_buf);
	close(holder->fence);
}

static bool take_out(const struct order *order)
{
	switch (order->how) {
	case UNBIND: return driver_unbind();
	case REMOVE: return card_remove();
	default: return card_pull() && card_soon(false);
	}
}

static bool bring_back(const struct order *order)
{
	switch (order->how) {
	case UNBIND: return driver_bind();
	case REMOVE: return card_rescan();
	default: return card_plug();
	}
}

static bool try_order(struct rig *rig, const struct order *order)
{
	struct holder holder;

	if (order->close != CLOSED)
		CHECK(hold(&holder));
	CHECK(take_out(order));
	EXPECT(-1, device_open());
	if (order->close != CLOSED)
		CHECK(check_gone(&holder, order));
	if (order->close == CLOSE_BEFORE)
		let_go(&holder);
	CHECK(bring_back(order));
	if (order->close == CLOSE_AFTER)
		let_go(&holder);
	CHECK(rig_queue(rig) && rig_works(rig));
	if (order->close == CLOSE_LATE) {
		let_go(&holder);
		CHECK(rig_works(rig));
	}
	return true;
}

/* A failure in the middle must not leave the other tests without a card. */
static bool in_order(struct rig *rig, const void *data)
{
	const struct order *order = data;
	bool good;
	int fd;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	SKIP_UNLESS(order->how != PULL || plug_command, "needs --plug");
	good = try_order(rig, order);
	fd = device_open();
	if (fd < 0)
		good = (card_rescan() || driver_bind() || (plug_command && card_plug())) && good;
	close(fd);
	return good;
}

static bool rebind(void)
{
	return driver_unbind() && driver_bind();
}

/* A process that uses the card whenever it is there, until it is killed. */
static pid_t client(void)
{
	pid_t child = fork();

	while (!child) {
		struct rig mine = {.fd = -1};

		if (rig_queue(&mine))
			while (rig_works(&mine))
				;
		rig_close(&mine);
	}
	return child;
}

/* The card is removed and found again while clients use it. */
static bool storm(struct rig *rig)
{
	pid_t children[2];
	bool good = true;

	SKIP_UNLESS(pci_address && !getuid(), "needs root and --pci");
	for (unsigned i = 0; i < 2; i++)
		children[i] = client();
	for (unsigned i = 0; good && i < rounds; i++)
		good = i & 1 ? card_remove() && card_rescan() : rebind();
	for (unsigned i = 0; i < 2; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	CHECK(good);
	CHECK(rig_queue(rig) && rig_works(rig));
	return true;
}

/* Nobody looks after the card but its clients, while it is there and while it is not. */
static bool pull_storm(struct rig *rig)
{
	pid_t child;
	bool good = true;

	SKIP_UNLESS(pci_address && plug_command && !getuid(), "needs root, --pci and --plug");
	child = client();
	for (unsigned i = 0; good && i < PULLS; i++) {
		usleep(random32() % 500000);
		good = card_pull() && card_soon(false) && card_plug();
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK(good);
	CHECK(rig_queue(rig) && rig_works(rig));
	return true;
}

static const struct subtest unplug_tests[] = {
	{"REL-06: pulled and plugged, again and again, under load", pull_storm},
	{"REL-06: removed and found again, again and again, under load", storm},
	{0},
};

void unplug_group(void)
{
	if (pci_address)
		stale_calls("from before a removal", rebind, ENODEV);
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		subtest(orders[i].name, in_order, &orders[i]);
	subtests(unplug_tests);
}
