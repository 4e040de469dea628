// SPDX-License-Identifier: MIT
/* Races that a delay in the driver makes certain (kernel/base/delay.h). */
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"

#define BYTES (16 * PAGE)

/* ---- removal ---- */

static void *unbind(void *data)
{
	*(bool *)data = driver_unbind();
	return NULL;
}

/* A buffer of a process' memory is closed just before the removal of the device unpins its pages. */
static bool close_in_unplug(struct rig *rig)
{
	struct drm_tutti_bo_userptr args = {.bytes = BYTES};
	uint32_t *words = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned before;
	pthread_t thread;
	bool unbound = false, there;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(words != MAP_FAILED && rig_queue(rig));
	args.address = (uintptr_t)words;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_USERPTR, &args));
	before = delay("unplug_unpin", 1500);
	CHECK(!pthread_create(&thread, NULL, unbind, &unbound));
	there = soon_reached("unplug_unpin", before);
	rig_close(rig);
	pthread_join(thread, NULL);
	delay("unplug_unpin", 0);
	memset(words, 1, BYTES); /* the pages still belong to this process alone */
	munmap(words, BYTES);
	CHECK(driver_bind() && there && unbound);
	return fresh_works();
}

/* ---- memory of processes ---- */

/** struct mapping_thread - maps the buffer at @offset of the file. */
struct mapping_thread {
	int fd;
	uint64_t offset;
	void *words;
	bool done;
};

static void *map_words(void *data)
{
	struct mapping_thread *thread = data;

	thread->words = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, thread->fd, (off_t)thread->offset);
	__atomic_store_n(&thread->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * A thread holds the mmap_lock of its process, as a page fault may do for as long as a user likes. Meanwhile the last
 * reference to pinned memory of that process is dropped inside a call, which must not wait for the lock.
 */
static bool freed_under_mmap_lock(struct rig *rig)
{
	struct drm_tutti_bo_userptr args = {.bytes = BYTES};
	struct drm_tutti_range range = {.address = 4 * BASE, .bytes = BYTES};
	struct mapping_thread mapping = {0};
	struct drm_gem_close gone = {0};
	uint32_t *words = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before = pinned_kib();
	pthread_t thread;
	bool there, first;
	uint32_t bo;
	int error;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(words != MAP_FAILED && rig_queue(rig));
	args.address = (uintptr_t)words;
	range.context = rig->context;
	mapping.fd = rig->fd;
	EXPECT(0, bo_create(rig->fd, PAGE, DRM_TUTTI_PLACE_SYSTEM, &bo, &mapping.offset));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_USERPTR, &args));
	EXPECT(0, bo_map(rig->fd, rig->context, args.handle, range.address, BYTES));
	gone.handle = args.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &gone));
	CHECK(pinned_kib() == before + (long)(BYTES >> 10));
	there = delayed_thread(&thread, "mmap", 5000, map_words, &mapping);
	error = call(rig->fd, DRM_IOCTL_TUTTI_UNMAP, &range);
	first = !__atomic_load_n(&mapping.done, __ATOMIC_ACQUIRE);
	pthread_join(thread, NULL);
	EXPECT(0, error);
	CHECK(there && first && mapping.words != MAP_FAILED && pinned_kib() == before);
	munmap(mapping.words, PAGE);
	munmap(words, BYTES);
	return true;
}

/* ---- progress ---- */

/** struct waiting - for the first packet of a queue. */
struct waiting {
	struct rig *rig;
	int error;
};

static void *wait_for_packet(void *data)
{
	struct waiting *waiting = data;

	waiting->error = rig_progress(waiting->rig, 1, PATIENCE);
	return NULL;
}

/* Asking for an interrupt reads the progress word, which is freed with the device: removal waits for it. */
static bool asked_in_removal(struct rig *rig)
{
	struct waiting waiting = {.rig = rig};
	bool unbound, there;
	pthread_t thread;
	uint64_t took;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig));
	there = delayed_thread(&thread, "queue_arm", 4000, wait_for_packet, &waiting);
	took = now_ns();
	unbound = driver_unbind();
	took = now_ns() - took;
	pthread_join(thread, NULL);
	rig_close(rig);
	CHECK(driver_bind() && there && unbound);
	EXPECT(ENODEV, waiting.error);
	CHECK(took > 2 * SECOND);
	return fresh_works();
}

/* A queue is destroyed while a thread reads its progress. The next queue has the same number, and makes progress. */
static bool late_progress(struct rig *rig)
{
	struct waiting waiting = {.rig = rig};
	struct rig other = {.fd = -1};
	pthread_t thread;
	bool there;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig));
	there = delayed_thread(&thread, "progress", 3000, wait_for_packet, &waiting);
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	CHECK(rig_queue(&other) && other.queue_number == rig->queue_number && rig_works(&other));
	pthread_join(thread, NULL);
	rig_close(&other);
	CHECK(there);
	EXPECT(ECANCELED, waiting.error);
	return true;
}

/* ---- events ---- */

static void bad_packet(struct rig *rig)
{
	rig_publish(rig_slot(rig), 0x77u);
	rig_ring(rig);
}

/*
 * The error of a queue is about to be delivered while the queue is destroyed and its file closed. The next queue gets the
 * same number, the lowest free one, and must not get the error.
 */
static bool late_error(struct rig *rig)
{
	struct drm_tutti_queue_query query = {0};
	struct rig other = {.fd = -1};
	uint32_t number;
	unsigned before;
	bool there;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig));
	before = delay("event", 2000);
	bad_packet(rig);
	there = soon_reached("event", before);
	delay("event", 0);
	CHECK(there);
	number = rig->queue_number;
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	rig_close(rig);
	CHECK(rig_queue(&other) && other.queue_number == number);
	sleep(3);
	query.handle = other.queue;
	EXPECT(0, call(other.fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
	EXPECT(0, (long)query.errors);
	EXPECT(0, query.stopped);
	CHECK(rig_works(&other));
	rig_close(&other);
	return true;
}

/* ---- close ---- */

/*
 * A file is being closed when the firmware is reloaded. By the time its queue is destroyed, the queue's number belongs
 * to a queue of another process, which must not be affected.
 */
static bool late_close(struct rig *rig)
{
	struct rig other = {.fd = -1};
	uint32_t number;
	pthread_t thread;
	bool there;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig));
	number = rig->queue_number;
	there = delayed_thread(&thread, "object_destroy", 4000, close_rig, rig);
	CHECK(card_write("card_reset", "firmware") && rig_queue(&other) && rig_works(&other));
	pthread_join(thread, NULL);
	EXPECT(number, other.queue_number);
	CHECK(there && rig_works(&other));
	rig_close(&other);
	return true;
}

/*
 * The device is removed while a file is being closed, so that its queue is lost before the firmware is asked to destroy it.
 * The next removal must still finish, although it waits for all users of the device.
 */
static bool removed_in_close(struct rig *rig)
{
	pthread_t thread;
	bool there, unbound;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig));
	there = delayed_thread(&thread, "object_destroy", 3000, close_rig, rig);
	unbound = driver_unbind();
	pthread_join(thread, NULL);
	CHECK(driver_bind() && there && unbound);
	CHECK(driver_unbind() && driver_bind());
	return fresh_works();
}

/* ---- resets ---- */

/** struct creation - of a buffer that takes long to zero. */
struct creation {
	struct rig *rig;
	uint64_t bytes, offset;
	int error;
};

static void *create_buffer(void *data)
{
	struct creation *creation = data;
	uint32_t bo;

	creation->error = bo_create(creation->rig->fd, creation->bytes, DRM_TUTTI_PLACE_CARD, &bo, &creation->offset);
	return NULL;
}

static bool reload(void)
{
	return card_write("card_reset", "firmware");
}

/* A buffer is zeroed in 64 parts, each of which takes a third of a second: a reset or a removal waits for one part only. */
static bool happens_while_zeroing(struct rig *rig, bool (*happen)(void), int wanted)
{
	struct creation creation = {.rig = rig, .bytes = 64 << 20};
	uint64_t start, took;
	unsigned before;
	pthread_t thread;
	bool good;

	CHECK(rig_open(rig));
	before = delay("card_zero", 300);
	CHECK(!pthread_create(&thread, NULL, create_buffer, &creation));
	good = soon_reached("card_zero", before);
	start = now_ns();
	good &= happen();
	took = now_ns() - start;
	delay("card_zero", 0);
	pthread_join(thread, NULL);
	CHECK(good && took < 10 * SECOND);
	EXPECT(wanted, creation.error);
	return true;
}

static bool reset_while_zeroing(struct rig *rig)
{
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(happens_while_zeroing(rig, reload, EIO));
	return fresh_works();
}

static bool removed_while_zeroing(struct rig *rig)
{
	bool good;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	good = happens_while_zeroing(rig, driver_unbind, ENODEV);
	rig_close(rig);
	CHECK(driver_bind() && good);
	return fresh_works();
}

/** struct mapping - of a buffer that takes long to allocate. */
struct mapping {
	struct rig *rig;
	uint32_t bo;
	int error;
};

static void *map_buffer(void *data)
{
	struct mapping *mapping = data;

	mapping->error = bo_map(mapping->rig->fd, mapping->rig->context, mapping->bo, 4 * BASE, BYTES);
	return NULL;
}

/* The first mapping of a buffer allocates its pages, which may take long; a reset does not wait for that. */
static bool reset_while_mapping(struct rig *rig)
{
	struct mapping mapping = {.rig = rig};
	uint64_t start, took;
	pthread_t thread;
	bool good;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig));
	EXPECT(0, bo_create(rig->fd, BYTES, DRM_TUTTI_PLACE_SYSTEM, &mapping.bo, NULL));
	good = delayed_thread(&thread, "allocate", 20000, map_buffer, &mapping);
	start = now_ns();
	good &= card_write("card_reset", "firmware");
	took = now_ns() - start;
	pthread_join(thread, NULL);
	CHECK(good && took < 15 * SECOND);
	EXPECT(EIO, mapping.error);
	return fresh_works();
}

/* ---- a link that is lost for a moment ---- */

#define ZEROED (32 * PAGE) /* eight pieces */

static uint8_t *see_buffer(int fd, uint64_t offset)
{
	void *memory = mmap(NULL, ZEROED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

/* What the next buffer of this size finds in its place. */
static bool leave_secret(int fd)
{
	struct drm_gem_close close_it = {0};
	uint64_t offset;
	uint8_t *memory;

	EXPECT(0, bo_create(fd, ZEROED, DRM_TUTTI_PLACE_CARD, &close_it.handle, &offset));
	memory = see_buffer(fd, offset);
	CHECK(memory);
	memset(memory, 0x5a, ZEROED);
	munmap(memory, ZEROED);
	EXPECT(0, call(fd, DRM_IOCTL_GEM_CLOSE, &close_it));
	return true;
}

static bool sees_secret(int fd, uint64_t offset)
{
	uint8_t *memory = see_buffer(fd, offset);
	bool seen = false;

	for (uint64_t i = 0; memory && i < ZEROED; i++)
		seen |= memory[i] != 0;
	if (memory)
		munmap(memory, ZEROED);
	return seen;
}

/* Lost when the third piece is about to be zeroed, and back some pieces later. */
static bool lose_link_for_a_moment(unsigned before)
{
	bool lost = true;

	for (unsigned i = 0; i < 3; i++)
		lost &= soon_reached("card_zero_piece", before + i);
	lost = lost && card_link(false);
	usleep(800000);
	card_link(true);
	delay("card_zero_piece", 0);
	return lost;
}

/* Nobody sees it but who zeroes memory: the watchdog waits meanwhile. What another has left there must not be seen. */
static bool link_lost_while_zeroing(struct rig *rig)
{
	struct creation creation = {.rig = rig, .bytes = ZEROED};
	unsigned before;
	pthread_t thread;
	bool lost;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	SKIP_UNLESS(card_link(true), "the card has no port of its own");
	CHECK(rig_open(rig) && leave_secret(rig->fd));
	before = delay("watchdog", 6000);
	CHECK(soon_reached("watchdog", before));
	before = delay("card_zero_piece", 300);
	CHECK(!pthread_create(&thread, NULL, create_buffer, &creation));
	lost = lose_link_for_a_moment(before);
	pthread_join(thread, NULL);
	delay("watchdog", 0);
	CHECK(lost && (creation.error == EIO || !creation.error));
	CHECK(creation.error || !sees_secret(rig->fd, creation.offset));
	CHECK(card_write("card_reset", "function")); /* should the watchdog have been so slow that it has noticed */
	return fresh_works();
}

/* ---- a reset that has to go on ---- */

/* Words in different pages; a buffer whose memory is lost has one page only. */
static bool holds_words(int fd, uint64_t offset)
{
	uint8_t *memory = see_buffer(fd, offset);

	CHECK(memory);
	for (unsigned page = 0; page < ZEROED / PAGE; page++)
		memory[page * PAGE] = (uint8_t)page;
	for (unsigned page = 0; page < ZEROED / PAGE; page++)
		EXPECT(page, memory[page * PAGE]);
	munmap(memory, ZEROED);
	return true;
}

/*
 * A program has noticed a reset, opens the card again and asks for memory, while the reset goes on: the firmware does
 * not start, and the next rung loses card memory. What the program gets afterwards is not lost.
 */
static bool created_in_reset(struct rig *rig)
{
	struct creation creation = {.rig = rig, .bytes = ZEROED};
	pthread_t thread;
	unsigned before;
	bool there;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	SKIP_UNLESS(inject_command, "needs --inject");
	before = delay("boot", 3000);
	CHECK(inject("boot-failure 1") && inject("firmware-crash"));
	there = soon_reached("boot", before);
	delay("boot", 0);
	CHECK(rig_open(rig) && !pthread_create(&thread, NULL, create_buffer, &creation));
	there &= soon_in_call(getpid());
	pthread_join(thread, NULL);
	CHECK(there);
	EXPECT(0, creation.error);
	CHECK(holds_words(rig->fd, creation.offset));
	return fresh_works();
}

/* ---- switched off ---- */

/* An unused card is about to be switched off when it interrupts, with messages that make no sense. */
static bool reset_begins_at_sleep(struct window *window)
{
	unsigned before = delay("sleep_claim", 4000), boots;
	bool there = card_write("power/control", "auto") && soon_reached("sleep_claim", before);

	boots = delay("boot", 6000);
	window->status->card_ring_tail += 0x100000;
	there = there && inject("interrupt 0") && soon_reached("boot", boots);
	delay("sleep_claim", 0);
	delay("boot", 0);
	return there;
}

/* The reset comes to its end while the card is on; then the card is switched off, and does not run. */
static bool reset_at_sleep(struct rig *rig)
{
	struct window window;
	bool good;
	uint32_t state;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	SKIP_UNLESS(inject_command, "needs --inject");
	SKIP_UNLESS(window_open(&window), NEED_WINDOW);
	CHECK(rig_queue(rig) && rig_works(rig));
	rig_close(rig);
	good = reset_begins_at_sleep(&window) && card_soon_says("card_state", "running") &&
	       card_soon_says("power/runtime_status", "suspended");
	state = window.status->state;
	window_close(&window);
	CHECK(card_write("power/control", "on") && good);
	CHECK(state != TUTTI_STATE_RUNNING);
	return fresh_works();
}

/* ---- fences ---- */

int sync_file_of(struct rig *rig, uint64_t packet)
{
	struct drm_tutti_fence fence = {.handle = rig->queue, .point = 1, .packet = packet};
	struct drm_syncobj_transfer transfer = {.src_point = 1};
	struct drm_syncobj_handle file = {.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, .fd = -1};

	fence.syncobj = transfer.src_handle = (uint32_t)syncobj_create(rig->fd);
	file.handle = transfer.dst_handle = (uint32_t)syncobj_create(rig->fd);
	call(rig->fd, DRM_IOCTL_TUTTI_FENCE, &fence);
	call(rig->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer);
	call(rig->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file);
	return file.fd;
}

/* Core dumps hold the module as well, until somebody has read them. */
static void drop_dumps(void)
{
	glob_t paths = {0};
	FILE *file;

	glob("/sys/class/devcoredump/devcd*/data", 0, NULL, &paths);
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		file = fopen(paths.gl_pathv[i], "we");
		if (file) {
			fputc('1', file);
			fclose(file);
		}
	}
	globfree(&paths);
	usleep(200000);
}

/* A sync file calls functions of the module. */
static bool fence_holds_module(struct rig *rig)
{
	bool unbound, unloaded;
	int file;

	drop_dumps();
	CHECK(rig_queue(rig));
	file = sync_file_of(rig, 1ull << 40);
	CHECK(file >= 0);
	rig_close(rig);
	unbound = driver_unbind();
	unloaded = !syscall(SYS_delete_module, "tutti", O_NONBLOCK);
	close(file);
	CHECK(unbound && !unloaded && driver_bind());
	return fresh_works();
}

static bool fence(struct rig *rig, uint32_t syncobj, uint64_t point, uint64_t packet)
{
	struct drm_tutti_fence args = {.handle = rig->queue, .syncobj = syncobj, .point = point, .packet = packet};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_FENCE, &args));
	return true;
}

static int wait_point(struct rig *rig, uint32_t syncobj, uint64_t point, uint64_t ns)
{
	struct drm_syncobj_timeline_wait args = {
		.handles = (uintptr_t)&syncobj, .points = (uintptr_t)&point, .count_handles = 1,
		.timeout_nsec = (int64_t)(now_ns() + ns),
	};

	return call(rig->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args);
}

static void *destroy_queue(void *data)
{
	queue_call(data, DRM_IOCTL_TUTTI_QUEUE_DESTROY);
	return NULL;
}

/*
 * A queue is locked for six seconds, and has a fence for which no interrupt has been requested, because the first
 * packet has used it up. The fence of another process must not wait for that.
 */
static bool stalled_tenant(struct rig *rig)
{
	struct rig other = {.fd = -1};
	uint32_t stalled, prompt;
	pthread_t thread;
	int error;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig) && rig_queue(&other));
	stalled = (uint32_t)syncobj_create(rig->fd);
	prompt = (uint32_t)syncobj_create(other.fd);
	CHECK(fence(rig, stalled, 1, 1) && fence(rig, stalled, 2, 1ull << 40));
	usleep(300000); /* the interrupt for the first packet has been asked for */
	CHECK(delayed_thread(&thread, "object_destroy", 6000, destroy_queue, rig));
	rig_fill(rig, BASE + DATA_AT, 1, 64, 0);
	rig_ring(rig);
	EXPECT(0, wait_point(rig, stalled, 1, 2 * SECOND));
	CHECK(fence(&other, prompt, 1, 1));
	usleep(300000);
	rig_fill(&other, BASE + DATA_AT, 1, 64, 0);
	rig_ring(&other);
	error = wait_point(&other, prompt, 1, 2 * SECOND);
	pthread_join(thread, NULL);
	EXPECT(0, error);
	rig_close(&other);
	return true;
}

const struct driver_test race_tests[] = {
	{"SYS-08 SYS-27: the error of a destroyed queue does not meet the next one", late_error},
	{"SYS-24 SYS-26: the progress of the next queue ends no wait for one that is destroyed", late_progress},
	{"REL-06 SYS-26: removed while an interrupt is asked for", asked_in_removal},
	{"SYS-27 SYS-28: a close that a reset overtakes does not meet the next queue", late_close},
	{"SYS-26: a stalled tenant does not delay another's fences", stalled_tenant},
	{"SYS-28: a reset does not wait until a large buffer has been zeroed", reset_while_zeroing},
	{"REL-06 SYS-22: removal does not wait until a large buffer has been zeroed", removed_while_zeroing},
	{"SYS-28: a reset does not wait until the pages of a buffer have been allocated", reset_while_mapping},
	{"SYS-22 SYS-28: memory that the link did not let be zeroed is not given away", link_lost_while_zeroing},
	{"SYS-22 SYS-28: card memory that is asked for while a reset goes on is not lost", created_in_reset},
	{"SYS-28 SYS-29: a reset begins while an unused card is being switched off", reset_at_sleep},
	{"REL-06: the module stays while there is a fence", fence_holds_module},
	{"SYS-41 REL-12: pinned memory goes while its process' mmap_lock is held", freed_under_mmap_lock},
	{"REL-06: the device is removed while a file is being closed", removed_in_close},
	{"REL-06: a buffer is closed while removal unpins it", close_in_unplug},
	{0},
};
