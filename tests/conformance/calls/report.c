// SPDX-License-Identifier: MIT
/* What the driver says of card and file: the right numbers, wherever they are asked for (spec SYS-29, SYS-30). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"
#include "tutti/counter.h"
#include "tutti/discovery.h"

static bool read_text(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, bytes - 1);

	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = 0;
	return got > 0;
}

static bool attribute(const char *name, char text[128])
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", pci_address, name);
	CHECK(read_text(path, text, 128));
	return true;
}

static int query(struct rig *rig, uint32_t what, void *to, uint32_t *size)
{
	struct drm_tutti_query args = {.what = what, .size = *size, .pointer = (uintptr_t)to};
	int error = call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &args);

	*size = args.size;
	return error;
}

static bool get(struct rig *rig, uint32_t what, void *to, uint32_t size)
{
	uint32_t all = size;

	EXPECT(0, query(rig, what, to, &all));
	EXPECT(size, all);
	return true;
}

/* ---- fdinfo ---- */

static bool says(const char *text, const char *line)
{
	if (!strstr(text, line))
		return fail(__FILE__, __LINE__, line, 0, 1);
	return true;
}

static unsigned lines_of(const char *text, const char *start)
{
	unsigned lines = 0;

	for (; (text = strstr(text, start)); text++)
		lines++;
	return lines;
}

static bool fdinfo_says(struct rig *rig, const char *const *lines)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", rig->fd);
	CHECK(read_text(path, text, sizeof(text)));
	for (; *lines; lines++)
		CHECK(says(text, *lines));
	EXPECT(3, lines_of(text, "drm-total-")); /* one line for each of three kinds of memory */
	EXPECT(6, lines_of(text, "\ntutti-"));
	return true;
}

static const char *const at_first[] = {
	"drm-total-system:\t96 KiB\n", "drm-shared-system:\t0 KiB\n", "drm-resident-system:\t64 KiB\n",
	"drm-total-card:\t1280 KiB\n", "drm-shared-card:\t256 KiB\n", "drm-resident-card:\t1280 KiB\n",
	"drm-total-user:\t8 KiB\n", "drm-shared-user:\t0 KiB\n", "drm-resident-user:\t8 KiB\n",
	"tutti-card-of-file:\t1280 of ", "tutti-contexts:\t1 of 32\n", "tutti-queues:\t1 of 64\n", "tutti-rsbs:\t2 of 64\n",
	"tutti-errors:\t0\n", NULL};
static const char *const at_last[] = {
	"drm-total-card:\t256 KiB\n", "drm-resident-card:\t256 KiB\n", "tutti-card-of-file:\t256 of ", "tutti-rsbs:\t1 of 64\n",
	"tutti-errors:\t1\n", NULL};

/* A file that has of everything, in numbers that differ; then with less of it. */
static bool fdinfo(struct rig *rig)
{
	static uint8_t own[2 * PAGE] __attribute__((aligned(4096)));
	struct drm_tutti_bo_userptr user = {.address = (uintptr_t)own, .bytes = sizeof(own)};
	struct drm_prime_handle shared = {.flags = DRM_CLOEXEC};
	struct drm_tutti_handle gone = {0};
	struct drm_tutti_rsb_create rsb;
	struct drm_gem_close large = {0};
	struct tutti_fault fault;
	uint32_t bo;

	CHECK(rig_queue(rig));
	EXPECT(0, bo_create(rig->fd, 8 * PAGE, DRM_TUTTI_PLACE_SYSTEM, &bo, NULL)); /* nobody has touched it */
	EXPECT(0, bo_create(rig->fd, 1 << 20, DRM_TUTTI_PLACE_CARD, &large.handle, NULL));
	EXPECT(0, bo_create(rig->fd, 1 << 18, DRM_TUTTI_PLACE_CARD, &shared.handle, NULL));
	EXPECT(0, call(rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &shared));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_USERPTR, &user));
	for (unsigned i = 0; i < 2; i++) {
		rsb = (struct drm_tutti_rsb_create){.context = rig->context};
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
	}
	CHECK(fdinfo_says(rig, at_first));
	gone.handle = rsb.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_DESTROY, &gone));
	EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &large));
	rig_publish(rig_slot(rig), 0x77);
	rig_ring(rig);
	EXPECT(0, queue_error(rig, &fault));
	CHECK(fdinfo_says(rig, at_last));
	close(shared.fd);
	return true;
}

/* ---- the card's state ---- */

static const void *window(struct rig *rig, uint32_t offset)
{
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig->fd,
			  (off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, offset / PAGE));

	return page == MAP_FAILED ? NULL : page;
}

static bool state_is_true(struct rig *rig, struct drm_tutti_state *state)
{
	const volatile struct tutti_status *status;
	char text[128], version[32];

	CHECK(rig_open(rig) && get(rig, DRM_TUTTI_QUERY_STATE, state, sizeof(*state)));
	status = window(rig, state->status_offset);
	CHECK(status && status->state == TUTTI_STATE_RUNNING);
	EXPECT(status->boot_sequence, state->boot_sequence);
	EXPECT(status->firmware_version, state->firmware_version);
	munmap((void *)status, PAGE);
	CHECK(state->vectors && !state->pad && state->status_offset != state->counters_offset);
	if (!pci_address)
		return true;
	snprintf(version, sizeof(version), "%u.%u\n", state->firmware_version >> 16, state->firmware_version & 0xffff);
	CHECK(attribute("firmware_version", text));
	EXPECT(0, strcmp(text, version));
	return true;
}

/* By call, by the pages that are mapped, by attributes: the same; and a reset counts. */
static bool state(struct rig *rig)
{
	struct drm_tutti_state before, after;
	struct tutti_discovery known;
	char text[128];
	long resets;

	SKIP_UNLESS(!getuid() && pci_address, "needs root and --pci");
	CHECK(state_is_true(rig, &before) && get(rig, DRM_TUTTI_QUERY_DISCOVERY, &known, sizeof(known)));
	CHECK(attribute("card_name", text));
	text[strcspn(text, "\n")] = 0;
	EXPECT(0, strcmp(text, known.name));
	CHECK(attribute("resets", text));
	resets = atol(text);
	EXPECT(0, device_reset());
	rig_close(rig);
	CHECK(state_is_true(rig, &after) && attribute("resets", text));
	EXPECT(resets + 1, atol(text));
	EXPECT((long)before.generation + 1, (long)after.generation);
	CHECK(after.boot_sequence != before.boot_sequence);
	return true;
}

/* The counters in their page are those of the attributes. */
static bool counters(struct rig *rig)
{
	struct drm_tutti_counters args = {0};
	struct drm_tutti_state state;
	const volatile uint64_t *page;
	char text[128];

	SKIP_UNLESS(pci_address, "needs --pci");
	CHECK(rig_queue(rig) && rig_works(rig) && get(rig, DRM_TUTTI_QUERY_STATE, &state, sizeof(state)));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_COUNTERS, &args));
	page = window(rig, state.counters_offset);
	CHECK(page && attribute("tutti_counters/PACKETS", text));
	CHECK(page[TUTTI_COUNTER_PACKETS]);
	EXPECT((long)page[TUTTI_COUNTER_PACKETS], atol(text));
	munmap((void *)page, PAGE);
	return true;
}

/* ---- where SMs are ---- */

/* Each in a GPC that has it, and no two in one place. Of part of the table no byte more than asked for is written. */
static bool places(struct rig *rig)
{
	static struct tutti_sm_place place[TUTTI_MAX_SMS + 1];
	struct tutti_discovery known;
	uint32_t size = sizeof(place[0]);

	CHECK(rig_open(rig) && get(rig, DRM_TUTTI_QUERY_DISCOVERY, &known, sizeof(known)));
	memset(place, 0xa5, sizeof(place));
	EXPECT(0, query(rig, DRM_TUTTI_QUERY_SM_PLACES, place, &size));
	EXPECT((long)(known.sms * sizeof(place[0])), size);
	CHECK(place[0].gpc < known.gpcs && place[1].gpc == 0xa5);
	CHECK(get(rig, DRM_TUTTI_QUERY_SM_PLACES, place, known.sms * sizeof(place[0])));
	for (uint32_t i = 0; i < known.sms; i++) {
		const struct tutti_gpc *gpc = &known.gpc[place[i].gpc];

		CHECK(place[i].gpc < known.gpcs && place[i].sm < 2);
		CHECK(i >= gpc->first_sm && i - gpc->first_sm < gpc->sms);
		for (uint32_t j = 0; j < i; j++)
			CHECK(memcmp(&place[i], &place[j], sizeof(place[i])));
	}
	EXPECT(0xa5, place[known.sms].gpc);
	EXPECT(EFAULT, query(rig, DRM_TUTTI_QUERY_SM_PLACES, NULL, &size));
	return true;
}

void report_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-29: fdinfo, line by line", fdinfo},
		{"SYS-29 SYS-30: state, name and version are the same everywhere", state},
		{"SYS-29 SYS-30: counters are the same everywhere", counters},
		{"SYS-30: places of SMs", places},
		{0},
	};

	subtests(tests);
}
