// SPDX-License-Identifier: MIT
/* The firmware says nothing: calls end in bounded time, and what they were to take away stays until a reset. */
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

#define NEED_INJECT "needs --inject"

/* Nothing but a call's own limit ends it soon; the watchdog comes so late that its reset is told from that. */
static bool only_calls_are_limited(const char *request_ms)
{
	return parameter_write("request_timeout_ms", request_ms) && parameter_write("heartbeat_timeout_ms", "60000");
}

static bool usual_limits(void)
{
	return parameter_write("request_timeout_ms", "5000") && parameter_write("heartbeat_timeout_ms", "5000");
}

static bool silence(void)
{
	return inject("firmware-silent 2"); /* until the next boot */
}

/* ---- a mapping that the card may still know ---- */

static int unmap(struct rig *rig, uint64_t address, uint64_t bytes)
{
	struct drm_tutti_range range = {.context = rig->context, .address = address, .bytes = bytes};

	return call(rig->fd, DRM_IOCTL_TUTTI_UNMAP, &range);
}

/* Memory of this process that only the mapping holds. */
static bool map_own_memory(struct rig *rig, void *memory, uint64_t address)
{
	struct drm_tutti_bo_userptr args = {.bytes = 16 * PAGE, .address = (uintptr_t)memory};
	struct drm_gem_close close_it = {0};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_USERPTR, &args));
	EXPECT(0, bo_map(rig->fd, rig->context, args.handle, address, 16 * PAGE));
	close_it.handle = args.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &close_it));
	return true;
}

/*
 * The card does not say that it has forgotten its translations. The call ends by its limit, and the reset that this
 * causes has to end before the memory is anybody else's.
 */
static bool unmap_unanswered(struct rig *rig)
{
	void *memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long pinned = pinned_kib(), while_lost;
	unsigned before;
	int error;
	bool there;

	SKIP_UNLESS(inject_command, NEED_INJECT);
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(memory != MAP_FAILED && rig_queue(rig) && rig_works(rig) && map_own_memory(rig, memory, 4 * BASE));
	before = delay("boot", 1500);
	CHECK(only_calls_are_limited("1000") && silence());
	error = unmap(rig, 4 * BASE, 16 * PAGE);
	there = soon_reached("boot", before);
	while_lost = pinned_kib();
	delay("boot", 0);
	CHECK(usual_limits());
	EXPECT(ETIMEDOUT, error);
	CHECK(there);
	EXPECT(pinned + 64, while_lost);
	EXPECT(EIO, unmap(rig, 4 * BASE, 16 * PAGE));
	CHECK(fresh_works());
	EXPECT(pinned, pinned_kib());
	munmap(memory, 16 * PAGE);
	return true;
}

/*
 * If the firmware does not start, the card has not been reset and may still use the memory that it knew before. So that
 * memory stays pinned until a boot has succeeded.
 */
static bool boot_fails(struct rig *rig)
{
	void *memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long pinned = pinned_kib(), while_lost;
	unsigned before;
	bool there;

	SKIP_UNLESS(inject_command, NEED_INJECT);
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(memory != MAP_FAILED && rig_queue(rig) && map_own_memory(rig, memory, 4 * BASE));
	before = delay("boot", 1500);
	CHECK(inject("boot-failure 1") && inject("firmware-crash"));
	there = soon_reached("boot", before) && soon_reached("boot", before + 1); /* the second boot succeeds */
	while_lost = pinned_kib();
	delay("boot", 0);
	CHECK(there);
	EXPECT(pinned + 64, while_lost);
	CHECK(fresh_works());
	EXPECT(pinned, pinned_kib());
	munmap(memory, 16 * PAGE);
	return true;
}

/* ---- objects that the card may or may not know ---- */

static int create_context(struct rig *rig)
{
	struct drm_tutti_context_create args = {0};

	return call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &args);
}

static int create_queue(struct rig *rig)
{
	struct drm_tutti_queue_create args = queue_args(rig);

	args.ring = BASE + SPARE_RING_AT;
	return call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args);
}

static int create_rsb(struct rig *rig)
{
	struct drm_tutti_rsb_create args = {.context = rig->context};

	return call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &args);
}

/* Does debugfs say that @wanted of @all numbers of a kind of object are in use? It shows how many are free. */
static bool on_card(const char *format, unsigned all, unsigned wanted)
{
	unsigned of;

	CHECK(debugfs_number("tutti_free", format, all - wanted, &of));
	EXPECT(all, of);
	return true;
}

/*
 * The firmware does not answer when it is asked to create an object. It may have created it all the same, so the object
 * keeps its number and its memory until the reset that the missing answer causes. @wanted counts it and those of the rig.
 */
static bool created_unanswered(struct rig *rig, int (*create)(struct rig *rig), const char *format, unsigned all,
			       unsigned wanted)
{
	unsigned before;
	bool there, kept;
	int error;

	CHECK(rig_queue(rig) && on_card(format, all, wanted - 1));
	before = delay("boot", 1500);
	CHECK(only_calls_are_limited("300") && silence());
	error = create(rig);
	there = soon_reached("boot", before);
	kept = on_card(format, all, wanted);
	delay("boot", 0);
	CHECK(usual_limits());
	EXPECT(ETIMEDOUT, error);
	CHECK(there && kept);
	rig_close(rig);
	CHECK(fresh_works());
	return on_card(format, all, 0);
}

/* The rig itself has a context and a queue. */
static bool objects_unanswered(struct rig *rig)
{
	struct window window;
	unsigned contexts, queues, rsbs;

	SKIP_UNLESS(inject_command, NEED_INJECT);
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	SKIP_UNLESS(window_open(&window), NEED_WINDOW);
	contexts = window.known->max_contexts - 1;
	queues = window.known->max_queues;
	rsbs = window.known->max_rsbs;
	window_close(&window);
	return created_unanswered(rig, create_context, "contexts %u of %u", contexts, 2) &&
	       created_unanswered(rig, create_queue, "queues %u of %u", queues, 2) &&
	       created_unanswered(rig, create_rsb, "rsbs %u of %u", rsbs, 1);
}

/* ---- a firmware that is slow, and not dead ---- */

#define SENDERS 12u
#define STEP_US 500000u /* two thirds of all steps take as long as a call may */

static void *cancel(void *data)
{
	struct rig *rig = data;
	struct drm_tutti_task_cancel args = {.handle = rig->queue};

	call(rig->fd, DRM_IOCTL_TUTTI_TASK_CANCEL, &args);
	return NULL;
}

/* One message after the other is taken off the full ring, each within the limit of a call. */
static uint32_t take_slowly(struct window *window)
{
	uint32_t first = window->control->host_ring_tail;

	for (unsigned i = 0; i < SENDERS; i++) {
		usleep(STEP_US);
		window->status->host_ring_head++;
	}
	usleep(STEP_US);
	return window->control->host_ring_tail - first;
}

static uint32_t send_into_full_ring(struct rig rigs[SENDERS], struct window *window)
{
	uint32_t slots = window->known->host_ring.bytes / sizeof(struct tutti_message), sent;
	pthread_t threads[SENDERS];

	window->status->host_ring_head = window->control->host_ring_tail - slots;
	for (unsigned i = 0; i < SENDERS; i++)
		pthread_create(&threads[i], NULL, cancel, &rigs[i]);
	sent = take_slowly(window);
	for (unsigned i = 0; i < SENDERS; i++)
		pthread_join(threads[i], NULL);
	return sent;
}

/*
 * A wait for room in the ring begins anew whenever the firmware takes a message. What it takes here is our doing: it
 * stands still, and we move its index in the card's window, as only root can.
 */
static bool slow_ring(struct rig *rig)
{
	struct rig rigs[SENDERS];
	struct window window;
	uint32_t sent;

	SKIP_UNLESS(inject_command, NEED_INJECT);
	SKIP_UNLESS(window_open(&window), NEED_WINDOW);
	for (unsigned i = 0; i < SENDERS; i++) {
		rigs[i] = (struct rig){.fd = -1};
		CHECK(rig_queue(&rigs[i]));
	}
	CHECK(only_calls_are_limited("4000") && silence());
	sent = send_into_full_ring(rigs, &window);
	window_close(&window);
	CHECK(usual_limits());
	for (unsigned i = 0; i < SENDERS; i++)
		rig_close(&rigs[i]);
	CHECK(sent >= SENDERS);
	return fresh_works();
}

/* ---- a context that shall be killed ---- */

/* For five seconds the firmware is asked whether it can still kill the context. Removal does not wait for an answer. */
static bool removed_while_condemned(struct rig *rig)
{
	bool unbound;
	int error;

	SKIP_UNLESS(inject_command, NEED_INJECT);
	CHECK(rig_queue(rig) && only_calls_are_limited("5000") && silence());
	error = queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY);
	unbound = driver_unbind();
	rig_close(rig);
	CHECK(usual_limits() && driver_bind() && unbound);
	EXPECT(ETIMEDOUT, error);
	return fresh_works();
}

const struct driver_test silent_tests[] = {
	{"SYS-08 SYS-23 SYS-28: an unmapping that is not answered ends, and its memory stays", unmap_unanswered},
	{"SYS-28: what the card knew stays while the firmware cannot be started", boot_fails},
	{"SYS-08 SYS-28: what the card may know stays until a reset", objects_unanswered},
	{"SYS-08 SYS-28: senders wait while messages are taken off a full ring", slow_ring},
	{"SYS-28 REL-06: removed while a context shall be killed", removed_while_condemned},
	{0},
};
