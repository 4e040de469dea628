// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

static char reason[256];
static bool skipped;

bool fail(const char *file, int line, const char *text, long got, long wanted)
{
	snprintf(reason, sizeof(reason), "%s:%d: %s", file, line, text);
	if (got != wanted)
		snprintf(reason + strlen(reason), sizeof(reason) - strlen(reason), " gives %ld (%s), wanted %ld", got,
			 strerror((int)got), wanted);
	return false;
}

const char *fail_text(void)
{
	return reason;
}

bool skip(const char *why)
{
	skipped = true;
	return fail(__FILE__, __LINE__, why, 0, 0);
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

static char *card_path(const char *attribute)
{
	static char path[200];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", pci_address, attribute);
	return path;
}

bool card_write(const char *attribute, const char *text)
{
	return write_text(card_path(attribute), text);
}

bool card_has(const char *attribute)
{
	return !access(card_path(attribute), F_OK);
}

bool card_says(const char *attribute, const char *start)
{
	char text[32] = "";
	int fd = open(card_path(attribute), O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && !strncmp(text, start, strlen(start));

	if (fd >= 0)
		close(fd);
	return good;
}

bool card_state(const char *state)
{
	return card_says("card_state", state);
}

bool parameter_write(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/tutti/parameters/%s", name);
	return write_text(path, text);
}

bool card_soon_says(const char *attribute, const char *start)
{
	for (unsigned i = 0; i < 6000 && !card_says(attribute, start); i++)
		usleep(10000);
	return card_says(attribute, start);
}

long card_number(const char *attribute)
{
	FILE *file = fopen(card_path(attribute), "re");
	long number = -1;

	if (file && fscanf(file, "%ld", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number;
}

uint64_t generation(int fd)
{
	struct drm_tutti_state state = {0};
	struct drm_tutti_query query = {
		.what = DRM_TUTTI_QUERY_STATE, .size = sizeof(state), .pointer = (uintptr_t)&state,
	};

	return call(fd, DRM_IOCTL_TUTTI_QUERY, &query) ? ~0ull : state.generation;
}

uint32_t queue_asid(uint32_t queue_id)
{
	uint32_t id, asid, found = 0;
	glob_t paths = {0};
	char line[256];
	FILE *file;

	glob("/sys/kernel/debug/accel/*/tutti_queues", 0, NULL, &paths);
	glob("/sys/kernel/debug/dri/*/tutti_queues", GLOB_APPEND, NULL, &paths);
	for (size_t i = 0; i < paths.gl_pathc && !found; i++) {
		file = fopen(paths.gl_pathv[i], "re");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "queue %u asid %u", &id, &asid) == 2 && id == queue_id)
				found = asid;
		if (file)
			fclose(file);
	}
	globfree(&paths);
	return found;
}

long pinned_kib(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "VmPin: %ld", &kib);
	if (file)
		fclose(file);
	return kib;
}

bool crash_is_told(struct rig *rig)
{
	int error;

	CHECK(rig_queue(rig) && rig_works(rig));
	rig_signal(rig, 5, 1);
	CHECK(inject("firmware-crash"));
	error = rig_wait(rig, 5, 0, PATIENCE);
	rig_close(rig);
	EXPECT(EIO, error);
	return true;
}

bool fresh_works(void)
{
	uint64_t end = now_ns() + PATIENCE;
	struct rig fresh = {.fd = -1};
	bool good = false;

	while (!good && now_ns() < end) {
		good = rig_queue(&fresh) && rig_works(&fresh);
		rig_close(&fresh);
		if (!good)
			usleep(20000);
	}
	return good;
}

int main(int argc, char **argv)
{
	static const struct driver_test *const groups[] = {ladder_tests, memory_driver_tests, import_tests, race_tests,
							   destroy_tests, pull_tests, silent_tests, sleep_tests};
	unsigned number = 0, failed = 0;

	for (; argc > 3; argc -= 2, argv += 2) {
		if (!strcmp(argv[1], "--plug"))
			plug_command = argv[2];
		else if (!strcmp(argv[1], "--inject"))
			inject_command = argv[2];
		else
			break;
	}
	if (argc < 2) {
		fputs("usage: tutti-driver-test [--plug COMMAND] [--inject COMMAND] PCI-ADDRESS [TEXT]: as root, on a card that\n"
		      "is nobody else's. One COMMAND puts a card into the empty slot, the other makes faults happen.\n", stderr);
		return 2;
	}
	pci_address = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		for (const struct driver_test *test = groups[g]; test->name; test++) {
			struct rig rig = {.fd = -1};
			bool good;

			if (argc > 2 && !strstr(test->name, argv[2]))
				continue;
			reason[0] = 0;
			skipped = false;
			good = test->run(&rig) || skipped;
			rig_close(&rig);
			printf("%sok %u - %s%s%s\n", good ? "" : "not ", ++number, test->name, skipped ? " # SKIP " : "",
			       skipped ? reason : "");
			if (!good)
				printf("# %s\n", reason);
			failed += !good;
		}
	printf("1..%u\n", number);
	return failed ? 1 : 0;
}
