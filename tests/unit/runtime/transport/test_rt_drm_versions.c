/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=ioctl */
/* A driver, a card or a firmware of another version than the library knows: the device is not opened (SYS-05). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include <drm.h>

#include "tutti.h"
#include "tutti/contract.h"
#include "tutti/tutti_drm.h"

#define STATUS	 0x2000u
#define COUNTERS 0x3000u
#define OWN	 TUTTI_CONTRACT_VERSION

/* What is behind the device file, which is a memfd. */
static int major;
static struct tutti_discovery card;
static struct tutti_status *firmware;

static int take_query(const struct drm_tutti_query *query)
{
	struct drm_tutti_state state = {0};

	if (query->what == DRM_TUTTI_QUERY_DISCOVERY)
		memcpy((void *)(uintptr_t)query->pointer, &card, sizeof(card));
	else if (query->what == DRM_TUTTI_QUERY_STATE)
		memcpy((void *)(uintptr_t)query->pointer, &state, sizeof(state));
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct drm_version *version;
	va_list list;
	void *args;

	va_start(list, request);
	args = va_arg(list, void *);
	va_end(list);
	if (request == DRM_IOCTL_TUTTI_QUERY)
		return take_query(args);
	if (request == DRM_IOCTL_VERSION) {
		version = args;
		snprintf(version->name, version->name_len, "tutti");
		version->version_major = major;
		return 0;
	}
	errno = EDQUOT; /* all calls after the versions have been compared */
	return -1;
}

static char said[2][256];
static unsigned lines;

static void on_message(const char *line)
{
	snprintf(said[lines++ % 2], sizeof(said[0]), "%s", line);
}

/* Opens the device. Return: the error */
static int open_with(int driver, uint32_t min, uint32_t max, uint32_t state, uint32_t firmware_min, uint32_t firmware_max)
{
	char name[64];
	struct tutti_device_options options = {.name = name};
	struct tutti_device *device;
	int error, fd = memfd_create("driver", 0);

	assert_int_equal(ftruncate(fd, 1ll << 44), 0);
	firmware = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			(off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, STATUS / 4096));
	assert_true(firmware != MAP_FAILED);
	*firmware = (struct tutti_status){.state = state, .contract_min = firmware_min, .contract_max = firmware_max};
	card = (struct tutti_discovery){
	    .magic = TUTTI_DISCOVERY_MAGIC, .bytes = sizeof(card), .contract_min = min, .contract_max = max,
	    .window_bytes = 0x40000, .memory_bytes = 1 << 20, .aperture_bytes = 1 << 20};
	card.status.offset = STATUS;
	card.counters.offset = COUNTERS;
	major = driver;
	lines = 0;
	memset(said, 0, sizeof(said));
	snprintf(name, sizeof(name), "drm:/proc/self/fd/%d", fd);
	error = tutti_device_open(&options, &device);
	munmap(firmware, 4096);
	close(fd);
	return error;
}

static void versions(void **state)
{
	const uint32_t running = TUTTI_STATE_RUNNING;

	tutti_message_handler(on_message);
	assert_int_equal(open_with(1, OWN, OWN, running, OWN, OWN), -EDQUOT);
	assert_int_equal(open_with(1, 0, UINT32_MAX, running, 0, UINT32_MAX), -EDQUOT);
	assert_int_equal(open_with(2, OWN, OWN, running, OWN, OWN), -EPROTO);
	assert_non_null(strstr(said[0], "version 2."));
	assert_int_equal(open_with(1, OWN + 1, OWN + 2, running, OWN, OWN), -EPROTO);
	assert_non_null(strstr(said[0], "the card speaks contract"));
	assert_int_equal(open_with(1, 0, OWN - 1, running, OWN, OWN), -EPROTO);
	assert_int_equal(open_with(1, OWN, OWN, running, OWN + 1, OWN + 1), -EPROTO);
	assert_non_null(strstr(said[0], "the firmware speaks contract"));
	/* a firmware that does not run has not written its versions; its state is reported later */
	assert_int_equal(open_with(1, OWN, OWN, TUTTI_STATE_LOADING, 0, 0), -EDQUOT);
	tutti_message_handler(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-05: versions of driver, card and firmware", versions, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SYS-05 versions behind the driver", tests, NULL, NULL);
}
