// SPDX-License-Identifier: MIT
/* Call numbers, and the memory and files that arguments point to. */
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"
#include "tutti/discovery.h"

static bool unknown_calls(struct rig *rig)
{
	uint8_t args[256] = {0};

	CHECK(rig_open(rig));
	for (unsigned i = DRM_TUTTI_TRACE_READ + 1; i < DRM_COMMAND_END - DRM_COMMAND_BASE; i++)
		EXPECT(EINVAL, call(rig->fd, DRM_IOWR(DRM_COMMAND_BASE + i, struct drm_tutti_kick), args));
	EXPECT(EINVAL, call(rig->fd, DRM_IOWR(0xff, struct drm_tutti_kick), args));
	return true;
}

static int query(struct rig *rig, uint32_t what, void *pointer, uint32_t *size)
{
	struct drm_tutti_query args = {.what = what, .size = *size, .pointer = (uintptr_t)pointer};
	int error = call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &args);

	*size = args.size;
	return error;
}

/* No byte more than asked for is written, and the answer says how many there are. */
static bool query_sizes(struct rig *rig)
{
	const uint32_t all = sizeof(struct drm_tutti_state);
	uint8_t bytes[sizeof(struct drm_tutti_state) + 16];

	CHECK(rig_open(rig));
	for (uint32_t asked = 0; asked <= all + 8; asked++) {
		uint32_t size = asked;

		memset(bytes, 0xa5, sizeof(bytes));
		EXPECT(0, query(rig, DRM_TUTTI_QUERY_STATE, bytes, &size));
		EXPECT(all, size);
		for (uint32_t i = asked < all ? asked : all; i < sizeof(bytes); i++)
			CHECK(bytes[i] == 0xa5);
	}
	return true;
}

static bool query_nothing(struct rig *rig)
{
	uint32_t size = 0;

	CHECK(rig_open(rig));
	EXPECT(0, query(rig, DRM_TUTTI_QUERY_DISCOVERY, NULL, &size));
	EXPECT(sizeof(struct tutti_discovery), size);
	return true;
}

static bool query_pads(struct rig *rig)
{
	struct drm_tutti_state state;
	struct tutti_discovery card;
	uint32_t size = sizeof(state);

	memset(&state, 0xff, sizeof(state));
	CHECK(rig_open(rig));
	EXPECT(0, query(rig, DRM_TUTTI_QUERY_STATE, &state, &size));
	EXPECT(0, state.pad);
	size = sizeof(card);
	EXPECT(0, query(rig, DRM_TUTTI_QUERY_DISCOVERY, &card, &size));
	CHECK(card.magic == TUTTI_DISCOVERY_MAGIC && card.max_queues && card.sms);
	CHECK(memchr(card.name, 0, sizeof(card.name)));
	return true;
}

/* A buffer that ends with its page, read-only, cut off, at an odd address: QUERY and RSB_READ. */
static bool nested_pointers(struct rig *rig, bool (*set)(struct rig *rig, void *pointer, int wanted), uint32_t bytes)
{
	uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED && !mprotect(pages + PAGE, PAGE, PROT_NONE));
	CHECK(set(rig, pages + PAGE - bytes, 0));
	CHECK(set(rig, pages + 1, 0));
	CHECK(set(rig, pages + PAGE - bytes + 1, EFAULT));
	CHECK(set(rig, pages + PAGE, EFAULT));
	CHECK(!mprotect(pages + 2 * PAGE, PAGE, PROT_READ));
	CHECK(set(rig, pages + 2 * PAGE, EFAULT));
	munmap(pages, 3 * PAGE);
	return true;
}

static bool set_query(struct rig *rig, void *pointer, int wanted)
{
	uint32_t size = sizeof(struct drm_tutti_state);

	EXPECT(wanted, query(rig, DRM_TUTTI_QUERY_STATE, pointer, &size));
	return true;
}

static bool query_pointers(struct rig *rig)
{
	CHECK(rig_open(rig));
	return nested_pointers(rig, set_query, sizeof(struct drm_tutti_state));
}

static bool set_read(struct rig *rig, void *pointer, int wanted)
{
	struct drm_tutti_rsb_read args;

	CHECK(call_find(DRM_IOCTL_TUTTI_RSB_READ)->fill(rig, &args));
	args.pointer = (uintptr_t)pointer;
	EXPECT(wanted, call(rig->fd, DRM_IOCTL_TUTTI_RSB_READ, &args));
	return true;
}

static bool rsb_pointers(struct rig *rig)
{
	CHECK(rig_queue(rig));
	return nested_pointers(rig, set_read, sizeof(struct tutti_rsb));
}

static int event(struct rig *rig, int fd)
{
	struct drm_tutti_event args = {.handle = rig->queue, .flags = DRM_TUTTI_EVENT_ERROR, .fd = fd};

	return call(rig->fd, DRM_IOCTL_TUTTI_EVENT, &args);
}

static bool event_descriptors(struct rig *rig)
{
	int fd = eventfd(0, EFD_CLOEXEC), pipes[2];

	CHECK(fd >= 0 && !pipe(pipes) && rig_queue(rig));
	EXPECT(EINVAL, event(rig, rig->fd));
	EXPECT(EINVAL, event(rig, pipes[0]));
	EXPECT(EBADF, event(rig, 999));
	EXPECT(EBADF, event(rig, -2));
	EXPECT(0, event(rig, fd));
	EXPECT(0, event(rig, fd));
	close(fd);
	EXPECT(EBADF, event(rig, fd));
	close(pipes[0]);
	close(pipes[1]);
	CHECK(rig_works(rig));
	return true;
}

static bool version(struct rig *rig)
{
	char name[16] = "";
	struct drm_version args = {.name = name, .name_len = sizeof(name) - 1};

	CHECK(rig_open(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_VERSION, &args));
	CHECK(!strcmp(name, "tutti") && args.version_major == 1);
	return true;
}

static bool capabilities(struct rig *rig)
{
	struct drm_get_cap args = {.capability = DRM_CAP_SYNCOBJ_TIMELINE};

	CHECK(rig_open(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_GET_CAP, &args));
	EXPECT(1, args.value);
	args = (struct drm_get_cap){.capability = DRM_CAP_PRIME};
	EXPECT(0, call(rig->fd, DRM_IOCTL_GET_CAP, &args));
	EXPECT(DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT, args.value);
	return true;
}

static const struct subtest arguments_tests[] = {
	{"SYS-30: call numbers nobody has", unknown_calls},
	{"SYS-30: QUERY copies what was asked for", query_sizes},
	{"SYS-30: QUERY of nothing tells the size", query_nothing},
	{"SYS-27 SYS-30: QUERY leaks nothing in pads", query_pads},
	{"SYS-30: QUERY into all kinds of memory", query_pointers},
	{"SYS-25 SYS-30: RSB_READ into all kinds of memory", rsb_pointers},
	{"SYS-26: EVENT with descriptors that are no eventfd", event_descriptors},
	{"SYS-20: name and version", version},
	{"SYS-22 SYS-26: capabilities", capabilities},
	{0},
};

void arguments_group(void)
{
	subtests(arguments_tests);
}
