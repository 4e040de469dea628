/* SPDX-License-Identifier: MIT */
/* What code objects tell: arguments of kernels and lines of faults (SYS-58). */
#include "rig.h"

#include "code/code_name.h"

static struct told {
	unsigned count, stop;
	struct tutti_argument argument[8];
	char name[8][32], type[8][64];
} told;

static int note(const struct tutti_argument *argument, void *context)
{
	struct told *t = context;

	assert_true(t->count < 8);
	t->argument[t->count] = *argument;
	snprintf(t->name[t->count], sizeof(t->name[0]), "%s", argument->name);
	snprintf(t->type[t->count], sizeof(t->type[0]), "%s", argument->type);
	return ++t->count == t->stop ? 77 : 0;
}

static int ask(const char *kernel)
{
	told.count = 0;
	return tutti_executable_arguments(rig->code, kernel, note, &told);
}

static void assert_argument(unsigned i, const char *type, const char *name, unsigned offset, unsigned bytes)
{
	assert_string_equal(told.name[i], name);
	assert_string_equal(told.type[i], type);
	assert_int_equal(told.argument[i].offset, offset);
	assert_int_equal(told.argument[i].bytes, bytes);
}

static void arguments(void **state)
{
	assert_int_equal(ask("vadd"), 0);
	assert_int_equal(told.count, 5);
	assert_argument(0, "float *", "c", 0, 8);
	assert_argument(1, "const float *", "a", 8, 8);
	assert_argument(2, "const float *", "b", 16, 8);
	assert_argument(3, "uint32_t", "n", 24, 4);
	assert_int_equal(ask("&say"), 0);
	assert_argument(0, "const char *", "text", 0, 8);
	assert_int_equal(ask("look.kd"), 0);
	assert_argument(0, "struct seen *", "seen", 0, 8);
	told.stop = 2;
	assert_int_equal(ask("vadd"), 77);
	told.stop = 0;
	assert_int_equal(told.count, 2);
	assert_int_equal(ask("no_such_kernel"), -ENOENT);
	assert_int_equal(tutti_executable_arguments(rig->code, "vadd", NULL, NULL), -EINVAL);
	assert_int_equal(tutti_executable_arguments(rig->code, NULL, note, &told), -EINVAL);
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(rig_out(path), "rb");
	uint8_t *data = malloc(1 << 21);

	assert_non_null(file);
	*bytes = fread(data, 1, 1 << 21, file);
	fclose(file);
	return data;
}

/* Lines of functions that are inlined, in a file of their own, are told as well. */
static void lines(void **state)
{
	struct tutti_fault fault = rig_fails(rig, "poke", 1, 1, rig_args(rig, (void *)64, 1, 0), TUTTI_ERROR_MEMORY_FAULT);
	char text[512], *line;

	assert_true(tutti_fault_text(rig->queue, &fault, text, sizeof(text)) > 0);
	line = strstr(text, "tests/integration/kernels/test.c:");
	if (!line || atoi(strchr(line, ':') + 1) < 100)
		fail_msg("%s", text);
	/* where nothing is known there is no line */
	assert_false(code_line(rig->device, 0x1000, text));
}

/* Damage in the debug information harms nobody. */
static void damaged(void **state)
{
	struct tutti_executable *code = rig->code, *bad;
	struct tutti_kernel kernel;
	uint8_t *good, *copy;
	char text[CODE_LINE_BYTES];
	size_t bytes;

	good = read_file("tests/integration/kernels/test.tco", &bytes);
	copy = malloc(bytes);
	srand(1);
	for (unsigned round = 0; round < 200; round++) {
		memcpy(copy, good, bytes);
		for (unsigned i = 0; i < 1 + round % 50; i++)
			copy[bytes / 4 + (size_t)rand() % (bytes / 4 * 3)] = (uint8_t)rand();
		if (tutti_executable_load(rig->device, copy, bytes, &bad, NULL))
			continue;
		rig->code = bad;
		told.stop = 1;
		ask("vadd");
		told.stop = 0;
		if (!tutti_executable_kernel(bad, "poke", &kernel))
			for (unsigned at = 0; at < 4096; at += 512)
				code_line(rig->device, kernel.object + at, text);
		assert_int_equal(tutti_executable_destroy(bad), 0);
	}
	rig->code = code;
	free(copy);
	free(good);
}

/* A name is found while its code is loaded, and only then, in whatever order code objects are loaded and unloaded. */
static void names(void **state)
{
	static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	char name[CODE_NAME_BYTES], text[CODE_LINE_BYTES];

	for (unsigned n = 0; n < 6; n++) {
		struct tutti_executable *code[3];
		struct tutti_kernel kernel[3];
		bool there[3] = {true, true, true};

		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(tutti_executable_load_file(rig->device, rig_out("tests/integration/kernels/test.tco"),
								    &code[i], NULL), 0);
			assert_int_equal(tutti_executable_kernel(code[i], "poke", &kernel[i]), 0);
		}
		for (unsigned gone = 0; gone <= 3; gone++) {
			for (unsigned i = 0; i < 3; i++) {
				assert_int_equal(code_kernel_name(rig->device, kernel[i].object, name), there[i]);
				if (there[i])
					assert_string_equal(name, "poke");
				else
					assert_false(code_line(rig->device, kernel[i].object, text));
			}
			if (gone < 3) {
				assert_int_equal(tutti_executable_destroy(code[orders[n][gone]]), 0);
				there[orders[n][gone]] = false;
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments),
		cmocka_unit_test(lines),
		cmocka_unit_test(damaged),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("SYS-58 code objects", tests, rig_group_open, rig_group_close);
}
