// SPDX-License-Identifier: MIT
/* The recovery ladder, rung by rung: who loses what, who does not, and what can be used afterwards. */
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

static uint32_t queue_number(struct rig *rig)
{
	struct drm_tutti_queue_create args = queue_args(rig);

	/* the error names the second queue of the context, as before the first one */
	return call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args) ? ~0u : args.id;
}

static bool kill_context(struct rig *rig)
{
	uint32_t asid = queue_asid(queue_number(rig));
	char text[32];

	CHECK(asid);
	snprintf(text, sizeof(text), "context %u", asid);
	CHECK(card_write("card_reset", text));
	return true;
}

/* What remains of a context that was killed: handles whose calls fail, and a file that works. */
static bool check_killed(struct rig *rig)
{
	struct drm_tutti_queue_query query = {.handle = rig->queue};
	struct drm_tutti_handle queue = {.handle = rig->queue}, context = {.handle = rig->context};
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_PROGRESS, .handle = rig->queue, .value = 1000,
				      .deadline = now_ns() + PATIENCE};
	struct drm_tutti_queue_create create = queue_args(rig);
	struct drm_tutti_context_create other = {0};

	EXPECT(EIO, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
	EXPECT(ECANCELED, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(EIO, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_RESET, &queue));
	EXPECT(EIO, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &create));
	EXPECT(EIO, bo_map(rig->fd, rig->context, rig->bo, 2 * BASE, PAGE));
	*rig->doorbell = 77; /* plain memory */
	CHECK(*rig->doorbell == 77);
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &queue));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &other));
	EXPECT(0, bo_map(rig->fd, other.handle, rig->bo, BASE, RIG_BYTES));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_DESTROY, &context));
	return true;
}

static bool killed(struct rig *rig)
{
	struct rig other = {.fd = -1};
	uint64_t before;

	CHECK(rig_queue(rig) && rig_works(rig) && rig_queue(&other) && rig_works(&other));
	before = generation(other.fd);
	for (unsigned i = 0; i < 8; i++)
		rig_fill(rig, BASE + DATA_AT, i, 8 * PAGE, i);
	rig_ring(rig);
	CHECK(kill_context(rig));
	CHECK(rig_works(&other));
	CHECK(check_killed(rig));
	CHECK(rig_works(&other) && generation(other.fd) == before);
	rig_close(&other);
	return fresh_works();
}

static void bad_packet(struct rig *rig)
{
	union tutti_packet *slot = (union tutti_packet *)(void *)(rig->memory + RING_AT) +
				   (rig->write_index++ & ((1u << RING_LOG2) - 1));

	__atomic_store_n(&slot->word[0], 0x77u, __ATOMIC_RELEASE);
	rig_ring(rig);
}

static bool errors_until_killed(struct rig *rig)
{
	struct drm_tutti_handle queue = {.handle = rig->queue};
	struct drm_tutti_queue_query query;
	uint64_t end = now_ns() + PATIENCE;
	int error = 0;

	while (!error && now_ns() < end) {
		bad_packet(rig);
		do {
			query = (struct drm_tutti_queue_query){.handle = rig->queue};
			error = call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query);
		} while (!error && !query.stopped && now_ns() < end);
		if (!error)
			error = call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_RESET, &queue);
	}
	EXPECT(EIO, error);
	return true;
}

static bool escalates(struct rig *rig)
{
	struct rig other = {.fd = -1};
	bool good;

	CHECK(rig_queue(rig) && rig_queue(&other) && rig_works(&other));
	CHECK(parameter_write("context_errors_max", "3"));
	good = errors_until_killed(rig);
	CHECK(parameter_write("context_errors_max", "1000"));
	CHECK(good && check_killed(rig) && rig_works(&other));
	rig_close(&other);
	return true;
}

/* Card and system memory with a mark in it, mapped. */
static bool marked(struct rig *rig, volatile uint32_t **card)
{
	uint64_t offset;
	uint32_t bo;

	CHECK(rig_queue(rig) && rig_works(rig));
	EXPECT(0, bo_create(rig->fd, 16 * PAGE, DRM_TUTTI_PLACE_CARD, &bo, &offset));
	*card = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(*card != MAP_FAILED);
	(*card)[1] = 0xcafe;
	rig->memory[RIG_BYTES - 1] = 0x77;
	return true;
}

static bool after_reset(struct rig *rig, volatile uint32_t *card, uint32_t wanted)
{
	uint32_t bo;

	EXPECT(EIO, bo_create(rig->fd, PAGE, 0, &bo, NULL));
	EXPECT(wanted, card[1]);
	CHECK(rig->memory[RIG_BYTES - 1] == 0x77);
	CHECK(fresh_works());
	munmap((void *)card, 16 * PAGE);
	return true;
}

static bool reload(struct rig *rig)
{
	volatile uint32_t *card;

	CHECK(marked(rig, &card) && card_write("card_reset", "firmware"));
	return after_reset(rig, card, 0xcafe);
}

static bool function(struct rig *rig)
{
	volatile uint32_t *card;

	CHECK(marked(rig, &card) && card_write("card_reset", "function"));
	return after_reset(rig, card, 0);
}

static bool function_by_call(struct rig *rig)
{
	struct drm_tutti_reset reset = {.rung = DRM_TUTTI_RESET_FUNCTION + 1};
	volatile uint32_t *card;

	CHECK(marked(rig, &card));
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_RESET, &reset));
	reset = (struct drm_tutti_reset){.rung = DRM_TUTTI_RESET_FUNCTION, .pad = 1};
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_RESET, &reset));
	reset.pad = 0;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RESET, &reset));
	rig_signal(rig, 0, 1);
	EXPECT(EIO, rig_wait(rig, 0, 0, PATIENCE));
	CHECK(fresh_works());
	return after_reset(rig, card, 0);
}

static bool function_by_others(struct rig *rig)
{
	volatile uint32_t *card;

	CHECK(marked(rig, &card) && card_has("reset") && card_write("reset", "1"));
	return after_reset(rig, card, 0);
}

/*
 * When the system wakes, the card does not run what it was left with: it was off. Here only its word says so; the other
 * words still hold, so that it falls asleep first.
 */
static bool lost_in_sleep(struct rig *rig)
{
	volatile uint32_t *card;
	struct window window;

	SKIP_UNLESS(can_sleep(), NEED_SLEEP);
	SKIP_UNLESS(window_open(&window), NEED_WINDOW);
	CHECK(marked(rig, &card));
	window.status->boot_sequence--;
	window_close(&window);
	CHECK(system_sleep());
	return after_reset(rig, card, 0);
}

static bool wedge(struct rig *rig)
{
	int events = uevents_open();
	uint32_t bo;

	CHECK(events >= 0 && rig_queue(rig) && rig_works(rig));
	CHECK(card_write("card_reset", "wedge") && card_state("wedged"));
	CHECK(hears_wedged(events));
	close(events);
	EXPECT(EIO, bo_create(rig->fd, PAGE, 0, &bo, NULL));
	rig_close(rig);
	CHECK(rig_open(rig));
	EXPECT(EIO, bo_create(rig->fd, PAGE, 0, &bo, NULL));
	CHECK(!card_write("card_reset", "nonsense") && card_state("wedged"));
	CHECK(card_write("card_reset", "1") && card_state("running"));
	return fresh_works();
}

static bool nonsense(struct rig *rig)
{
	uint64_t before, end = now_ns() + PATIENCE;
	struct window window;
	uint32_t bo;

	CHECK(rig_queue(rig) && rig_works(rig));
	before = generation(rig->fd);
	SKIP_UNLESS(window_open(&window), NEED_WINDOW);
	window.status->card_ring_tail += 0x100000;
	window_close(&window);
	while (bo_create(rig->fd, PAGE, 0, &bo, NULL) != EIO && now_ns() < end)
		usleep(50000);
	rig_close(rig);
	CHECK(fresh_works() && rig_open(rig));
	CHECK(generation(rig->fd) > before);
	return true;
}

/* A wedged card also works again after the PCI core has reset its function at the request of the user. */
static bool wedge_and_bus(struct rig *rig)
{
	SKIP_UNLESS(card_has("reset"), "the bus cannot reset the card");
	CHECK(card_write("card_reset", "wedge") && card_state("wedged"));
	CHECK(card_write("reset", "1") && card_state("running"));
	return fresh_works();
}

/*
 * The firmware is reloaded up to three times in a row before the function is reset, which would lose card memory. A reload
 * by hand counts as the first, so two crashes after it lose nothing.
 */
static bool crashes_after_hand(struct rig *rig)
{
	struct rig keeper = {.fd = -1};
	volatile uint32_t *card;
	uint64_t start;
	uint32_t seen;

	SKIP_UNLESS(inject_command, "needs --inject");
	CHECK(marked(&keeper, &card) && card_write("card_reset", "firmware"));
	for (unsigned i = 0; i < 2; i++) {
		start = now_ns();
		CHECK(crash_is_told(rig) && fresh_works());
		SKIP_UNLESS(now_ns() - start < 4 * SECOND, "the machine is too slow for crashes in a row");
	}
	seen = card[1];
	munmap((void *)card, 16 * PAGE);
	rig_close(&keeper);
	EXPECT(0xcafe, seen);
	return true;
}

/** struct told - by what a process hears that the card has been given up. */
struct told {
	int eventfd, sync_file;
	uint32_t *words;
};

static bool wait_to_be_told(struct rig *rig, struct told *told)
{
	struct drm_tutti_event event = {.handle = rig->queue, .flags = DRM_TUTTI_EVENT_ERROR};
	struct drm_tutti_fence fence = {.handle = rig->queue, .point = 1, .packet = 1ull << 40};
	struct drm_syncobj_transfer transfer = {.src_point = 1};
	struct drm_syncobj_handle file = {.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, .fd = -1};
	struct drm_tutti_bo_userptr memory = {.bytes = 16 * PAGE};
	struct drm_gem_close close_it = {0};

	event.fd = told->eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_EVENT, &event));
	fence.syncobj = transfer.src_handle = (uint32_t)syncobj_create(rig->fd);
	file.handle = transfer.dst_handle = (uint32_t)syncobj_create(rig->fd);
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_FENCE, &fence));
	EXPECT(0, call(rig->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer));
	EXPECT(0, call(rig->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file));
	told->sync_file = file.fd;
	told->words = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(told->words != MAP_FAILED);
	memory.address = (uintptr_t)told->words;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_USERPTR, &memory));
	EXPECT(0, bo_map(rig->fd, rig->context, memory.handle, 4 * BASE, 16 * PAGE));
	close_it.handle = memory.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &close_it));
	return true;
}

static bool has_been_told(const struct told *told, long pinned_before)
{
	struct sync_fence_info fence = {0};
	struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uintptr_t)&fence};
	struct pollfd ready[] = {{.fd = told->eventfd, .events = POLLIN}, {.fd = told->sync_file, .events = POLLIN}};

	EXPECT(1, poll(&ready[0], 1, 2000));
	EXPECT(1, poll(&ready[1], 1, 2000));
	CHECK(!ioctl(told->sync_file, SYNC_IOC_FILE_INFO, &info));
	EXPECT(-EIO, fence.status);
	EXPECT(pinned_before, pinned_kib());
	return true;
}

/* Nobody calls the driver: eventfd, fence and pinned memory show by themselves that the card is lost. */
static bool wedge_tells(struct rig *rig)
{
	long pinned = pinned_kib();
	struct told told = {.eventfd = -1, .sync_file = -1};
	bool good;

	CHECK(rig_queue(rig) && rig_works(rig) && wait_to_be_told(rig, &told));
	EXPECT(pinned + 64, pinned_kib());
	good = card_write("card_reset", "wedge") && card_state("wedged") && has_been_told(&told, pinned);
	good &= card_write("card_reset", "firmware");
	close(told.eventfd);
	close(told.sync_file);
	munmap(told.words, 16 * PAGE);
	return good && fresh_works();
}

const struct driver_test ladder_tests[] = {
	{"SYS-28: one context is killed, others go on", killed},
	{"SYS-28: errors without end cost one context its life", escalates},
	{"SYS-28: a reload of the firmware leaves memory as it was", reload},
	{"SYS-28: a function-level reset by hand", function},
	{"SYS-28: a function-level reset by call", function_by_call},
	{"SYS-28: a function-level reset by the bus", function_by_others},
	{"SYS-29 SYS-28: the card was off while the system slept", lost_in_sleep},
	{"SYS-28: a card whose messages make no sense is reset", nonsense},
	{"SYS-28: a wedged card and the way back", wedge},
	{"SYS-28: a wedged card works again after the bus has reset its function", wedge_and_bus},
	{"SYS-28: a reload by hand counts as a single reload", crashes_after_hand},
	{"SYS-28 SYS-26: a card that is given up tells who sleeps", wedge_tells},
	{0},
};
