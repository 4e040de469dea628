/* SPDX-License-Identifier: MIT */
/* Opening a device: the messages, and which settings apply (SYS-06, SYS-14, SYS-42). */
#include "emulator/base/config.h"
#include "emulator/card/card.h"
#include "rig.h"
#include "transport/emulator.h"

#define T(name, function) { name, function, NULL, NULL, NULL }

/* The text on stderr while @act opens devices. */
static const char *said_by(void (*act)(void))
{
	static char said[4096];
	FILE *log = tmpfile();
	int keep = dup(2);

	dup2(fileno(log), 2);
	act();
	dup2(keep, 2);
	close(keep);
	rewind(log);
	said[fread(said, 1, sizeof(said) - 1, log)] = 0;
	fclose(log);
	return said;
}

static void open_any(void)
{
	struct tutti_device_options o = { .firmware = rig_out("firmware/tutti-fw.bin") };
	struct tutti_device *device;

	assert_int_equal(tutti_device_open(&o, &device), 0);
	assert_int_equal(tutti_device_close(device), 0);
}

/* Neither a program's second device nor one that was asked for by name comes as a surprise, so nothing is said. */
static void says_emulator_once_to_a_program(void **state)
{
	const char *chosen = getenv("TUTTI_DEVICE");
	char kept[64] = "";

	rig_needs_emulator();
	snprintf(kept, sizeof(kept), "%s", chosen ? chosen : "");
	setenv("TUTTI_DEVICE", "emulator", 1);
	assert_string_equal(said_by(open_any), "");
	unsetenv("TUTTI_DEVICE");
	assert_non_null(strstr(said_by(open_any), "no card found"));
	assert_string_equal(said_by(open_any), "");
	if (chosen)
		setenv("TUTTI_DEVICE", kept, 1);
}

/* SYS-14: the message names the line that is wrong. */
static const char *topology;

static void open_topology(void)
{
	char path[64];
	struct tutti_device_options o = { .name = "emulator", .topology = path };
	struct tutti_device *device;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/tutti-lines-%d", (int)getpid());
	file = fopen(path, "w");
	fputs(topology, file);
	fclose(file);
	assert_int_equal(tutti_device_open(&o, &device), -EINVAL);
	unlink(path);
}

static void wrong_lines(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "gpc x\ngpc 2\n", "line 1: \"gpc x\" is" },
		{ "gpc 2\nteapot 1\nmemory 64M\n", "line 2: \"teapot 1\" is" },
		{ "gpc 2\n\n# a comment\npeus\n", "line 4: \"peus\" is" },
		{ "gpc 2\nmemory 1X", "line 2: \"memory 1X\" is" },
		{ "gpc 1024\ngpc 1\n", "up to line 2: \"gpc 1\" is" },
	};

	rig_needs_emulator();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *said;

		topology = rows[i].text;
		said = said_by(open_topology);
		if (!strstr(said, rows[i].says))
			fail_msg("row %u: %s", i, said);
	}
}

/* Environment variables decide what the options do not. */
static void settings_by_environment(void **state)
{
	static const struct {
		const char *name, *value;
		int error;
	} rows[] = {
		{ "TUTTI_DETERMINISTIC", "1", 0 }, { "TUTTI_DETERMINISTIC", "0", 0 },  { "TUTTI_DETERMINISTIC", "2", -EINVAL },
		{ "TUTTI_COUNT", "1", 0 },	   { "TUTTI_COUNT", "0", 0 },	       { "TUTTI_COUNT", "yes", -EINVAL },
		{ "TUTTI_WORKERS", "3", 0 },	   { "TUTTI_WORKERS", "1024", 0 },     { "TUTTI_WORKERS", "1025", -EINVAL },
		{ "TUTTI_SEED", "77", 0 },	   { "TUTTI_SEED", "seven", -EINVAL },
	};

	rig_needs_emulator();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tutti_device_options o = { .name = "emulator", .firmware = rig_out("firmware/tutti-fw.bin") };
		const char *name = rows[i].name, *before = getenv(name);
		uint64_t value = strtoull(rows[i].value, NULL, 0);
		const struct tutti_card_config *config;
		struct tutti_device *device;
		char kept[64];

		snprintf(kept, sizeof(kept), "%s", before ? before : "");
		setenv(name, rows[i].value, 1);
		device = (void *)&o;
		assert_int_equal(tutti_device_open(&o, &device), rows[i].error);
		assert_int_equal(!device, !!rows[i].error); /* also for a caller that checks only the device */
		setenv(name, kept, 1);
		if (!before)
			unsetenv(name);
		if (rows[i].error)
			continue;
		config = card_config(emulator_card(device));
		if (i < 2)
			assert_int_equal(config->mode, value ? TUTTI_CARD_DETERMINISTIC : TUTTI_CARD_FAST);
		else if (i < 5)
			assert_int_equal(config->count, value);
		else
			assert_int_equal(i < 9 ? config->workers : config->seed, value);
		assert_int_equal(tutti_device_close(device), 0);
	}
}

/* Page tables can use leaves of a gigabyte, since card memory begins at a multiple of that. */
static void card_memory_is_aligned(void **state)
{
	static const char *const texts[] = { "gpc 2\nmemory 64M\n", "gpc 2\nmemory 1G\n", "gpc 2\nmemory 1025M\n", "gpc 2\n" };

	rig_needs_emulator();
	for (unsigned i = 0; i < 4; i++) {
		struct rig *other = rig_topology(texts[i]);
		const uint8_t *window = tutti_card_bar(emulator_card(other->device));

		assert_int_equal((uint64_t)(window + tutti_device_discovery(other->device)->aperture) % (1u << 30), 0);
		rig_close(other);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("SYS-42: the emulator as default, said once to a program", says_emulator_once_to_a_program),
		T("SYS-14: the line of a topology that is wrong", wrong_lines),
		T("SYS-42: settings by environment", settings_by_environment),
		T("SYS-06: card memory is aligned for large pages", card_memory_is_aligned),
	};

	return cmocka_run_group_tests_name("opening devices", tests, rig_group_open, rig_group_close);
}
