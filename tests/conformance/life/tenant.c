// SPDX-License-Identifier: MIT
/* The limits of a tenant, to the last object and the last page (spec REL-12). */
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "tutti/discovery.h"

static FILE *parameter(const char *name, const char *mode)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/module/tutti/parameters/%s", name);
	return fopen(path, mode);
}

static unsigned parameter_get(const char *name)
{
	FILE *file = parameter(name, "re");
	unsigned value = 0;

	if (file && fscanf(file, "%u", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

static bool parameter_set(const char *name, unsigned value)
{
	FILE *file = parameter(name, "we");
	bool good = file && fprintf(file, "%u\n", value) > 0;

	return file && !fclose(file) && good;
}

static bool become_nobody(void)
{
	CHECK(!setgid(65534) && !setuid(65534));
	return true;
}

/* ---- RSBs ---- */

static bool limited_rsbs(void *data)
{
	const unsigned *limit = data;
	struct drm_tutti_rsb_create args = {0};
	struct drm_tutti_handle gone = {0};
	struct rig rig = {.fd = -1}, other = {.fd = -1};

	CHECK(become_nobody() && rig_queue(&rig) && rig_queue(&other));
	for (unsigned i = 0; i < *limit; i++) {
		args = (struct drm_tutti_rsb_create){.context = rig.context};
		EXPECT(0, call(rig.fd, DRM_IOCTL_TUTTI_RSB_CREATE, &args));
	}
	gone.handle = args.handle;
	args = (struct drm_tutti_rsb_create){.context = rig.context};
	EXPECT(EDQUOT, call(rig.fd, DRM_IOCTL_TUTTI_RSB_CREATE, &args));
	EXPECT(0, call(rig.fd, DRM_IOCTL_TUTTI_RSB_DESTROY, &gone));
	EXPECT(0, call(rig.fd, DRM_IOCTL_TUTTI_RSB_CREATE, &args));
	args = (struct drm_tutti_rsb_create){.context = other.context};
	EXPECT(0, call(other.fd, DRM_IOCTL_TUTTI_RSB_CREATE, &args)); /* each file has its own limit */
	CHECK(rig_works(&rig));
	rig_close(&rig);
	rig_close(&other);
	return true;
}

static bool rsbs(struct rig *rig)
{
	unsigned limit = parameter_get("file_rsbs_max"), few = 5;
	bool good;

	SKIP_UNLESS(!getuid() && limit, "needs root, to set a limit and to be somebody else");
	allow_everybody();
	CHECK(parameter_set("file_rsbs_max", few));
	good = in_child(limited_rsbs, &few);
	CHECK(parameter_set("file_rsbs_max", limit));
	return good;
}

/* ---- card memory ---- */

static int card(int fd, uint64_t bytes)
{
	uint32_t bo;

	return bo_create(fd, bytes, DRM_TUTTI_PLACE_CARD, &bo, NULL);
}

/* Of all its files together, and of each of them: exactly the limit. What is closed can be had again. */
static bool card_to_the_page(void *data)
{
	const uint64_t limit = *(uint64_t *)data;
	struct rig one = {.fd = -1}, other = {.fd = -1};

	CHECK(become_nobody());
	for (unsigned round = 0; round < 2; round++) {
		CHECK(rig_open(&one) && rig_open(&other));
		EXPECT(EDQUOT, card(one.fd, limit + 1));
		EXPECT(0, card(one.fd, limit - PAGE));
		EXPECT(EDQUOT, card(one.fd, PAGE + 1));
		EXPECT(EDQUOT, card(other.fd, PAGE + 1));
		EXPECT(0, card(round ? one.fd : other.fd, PAGE));
		EXPECT(EDQUOT, card(one.fd, 1));
		EXPECT(EDQUOT, card(other.fd, 1));
		rig_close(&one);
		rig_close(&other);
	}
	return true;
}

static bool file_to_the_page(void *data)
{
	const uint64_t limit = *(uint64_t *)data;
	struct rig one = {.fd = -1}, other = {.fd = -1};

	CHECK(become_nobody() && rig_open(&one) && rig_open(&other));
	EXPECT(0, card(one.fd, limit));
	EXPECT(EDQUOT, card(one.fd, 1));
	EXPECT(0, card(other.fd, limit));
	EXPECT(EDQUOT, card(other.fd, 1));
	rig_close(&one);
	rig_close(&other);
	return true;
}

/* A hundredth of it, in whole pages; more than all of it is all of it. */
static bool card_memory(struct rig *rig)
{
	unsigned file = parameter_get("file_card_percent"), user = parameter_get("user_card_percent");
	struct tutti_discovery known;
	uint64_t limit;
	bool good;

	SKIP_UNLESS(!getuid() && file && user, "needs root, to set limits and to be somebody else");
	allow_everybody();
	CHECK(rig_open(rig) && discovery(rig->fd, &known));
	limit = (known.memory_bytes / 100 + PAGE - 1) & ~(PAGE - 1);
	CHECK(parameter_set("file_card_percent", 150) && parameter_set("user_card_percent", 1));
	good = in_child(card_to_the_page, &limit);
	CHECK(parameter_set("file_card_percent", 1) && parameter_set("user_card_percent", 150));
	good = good && in_child(file_to_the_page, &limit);
	CHECK(parameter_set("file_card_percent", file) && parameter_set("user_card_percent", user));
	return good;
}

void tenant_group(void)
{
	static const struct subtest tests[] = {
		{"REL-12 SYS-25: RSBs of a file", rsbs},
		{"REL-12 SYS-22: card memory of a file and of a user, to the page", card_memory},
		{0},
	};

	subtests(tests);
}
