// SPDX-License-Identifier: MIT
/*
 * SYS-43: the finalizer extension finds the code of a module in the registry. The registry is that of
 * TUTTI_HSAIL_REGISTRY, or one that is made here. HSA_MODULE_FILE=FILE: only write the module of the tests there.
 */
#include <fcntl.h>
#include <hsa/hsa_ext_finalize.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsa_test.h"

#define FAILS_EXT(status, call) assert_int_equal((call), HSA_EXT_STATUS_ERROR_##status)

/* A BRIG module of one directive, which says that it is called &test: header, section table, data, code, operands. */
struct brig {
	char identification[8];
	uint32_t major, minor;
	uint64_t bytes;
	uint8_t hash[64];
	uint32_t reserved, sections;
	uint64_t section_index;
	uint64_t section[3];
	struct {
		uint64_t bytes;
		uint32_t header_bytes, name_length;
		char name[16];
	} data, code, operands;
	struct {
		uint16_t bytes, kind;
		uint32_t name, major, minor;
		uint8_t profile, machine_model, rounding, reserved;
	} directive;
	struct {
		uint32_t bytes;
		char text[8];
	} name;
};

static struct brig module = {
	.identification = "HSA BRIG",
	.major = 1,
	.bytes = sizeof(module),
	.sections = 3,
	.section_index = offsetof(struct brig, section),
	.section = {offsetof(struct brig, data), offsetof(struct brig, code), offsetof(struct brig, operands)},
	.data = {32 + 12, offsetof(struct brig, name) - offsetof(struct brig, data), 9, "hsa_data"},
	.code = {32 + 20, offsetof(struct brig, directive) - offsetof(struct brig, code), 9, "hsa_code"},
	.operands = {32, 32, 12, "hsa_operand"},
	.directive = {20, 0x100b, 0, 1, 0, HSA_PROFILE_FULL, HSA_MACHINE_MODEL_LARGE, 1, 0},
	.name = {5, "&test"},
};

static char folder[] = "/tmp/tutti-hsail-XXXXXX";
static hsa_ext_finalizer_1_00_pfn_t finalizer;
static hsa_isa_t isa;

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void path_of(char *path, size_t bytes, const char *suffix)
{
	snprintf(path, bytes, "%s/m%s", folder, suffix);
}

/* What tuttic leaves in a registry. */
static int make_registry(void)
{
	char path[64], code[1 << 20];
	int file = open(code_path("test"), O_RDONLY);
	ssize_t bytes = file < 0 ? -1 : read(file, code, sizeof(code));

	if (bytes <= 0 || bytes == sizeof(code) || !mkdtemp(folder))
		return -1;
	close(file);
	path_of(path, sizeof(path), ".tco");
	write_file(path, code, (size_t)bytes);
	path_of(path, sizeof(path), ".brig");
	write_file(path, &module, sizeof(module));
	return setenv("TUTTI_HSAIL_REGISTRY", folder, 1);
}

static int begin(void **state)
{
	if (!getenv("TUTTI_HSAIL_REGISTRY") && make_registry())
		return -1;
	if (found_all(state))
		return -1;
	hsa_system_get_major_extension_table(HSA_EXTENSION_FINALIZER, 1, sizeof(finalizer), &finalizer);
	return hsa_agent_get_info(found.card, HSA_AGENT_INFO_ISA, &isa);
}

static int end(void **state)
{
	char path[64];

	path_of(path, sizeof(path), ".tco");
	unlink(path);
	path_of(path, sizeof(path), ".brig");
	unlink(path);
	rmdir(folder);
	return found_done(state);
}

static hsa_ext_program_t new_program(void)
{
	hsa_ext_program_t program = {0};

	OK(hsa_ext_program_create(HSA_MACHINE_MODEL_LARGE, HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
				  &program));
	assert_true(program.handle != 0);
	return program;
}

static hsa_status_t finalize(hsa_ext_program_t program, hsa_code_object_t *code)
{
	const hsa_ext_control_directives_t none = {0};

	return hsa_ext_program_finalize(program, isa, HSA_EXT_FINALIZER_CALL_CONVENTION_AUTO, none, "",
					HSA_CODE_OBJECT_TYPE_PROGRAM, code);
}

static void the_extension_is_there(void **state)
{
	uint8_t mask[128] = {0};
	uint16_t minor = 7;
	bool yes = false;
	hsa_ext_finalizer_1_00_pfn_t table = {0};

	(void)state;
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_EXTENSIONS, mask));
	assert_true(mask[0] & 1 << HSA_EXTENSION_FINALIZER);
	OK(hsa_system_extension_supported(HSA_EXTENSION_FINALIZER, 1, 0, &yes));
	assert_true(yes);
	OK(hsa_agent_major_extension_supported(HSA_EXTENSION_FINALIZER, found.card, 1, &minor, &yes));
	assert_true(yes && !minor);
	OK(hsa_agent_extension_supported(HSA_EXTENSION_FINALIZER, found.host, 1, 0, &yes));
	assert_false(yes);
	OK(hsa_system_extension_supported(HSA_EXTENSION_FINALIZER, 2, 0, &yes));
	assert_false(yes);
	OK(hsa_system_get_extension_table(HSA_EXTENSION_FINALIZER, 1, 0, &table));
	assert_memory_equal(&table, &finalizer, sizeof(table));
	memset(&table, 0, sizeof(table));
	OK(hsa_system_get_major_extension_table(HSA_EXTENSION_FINALIZER, 1, 2 * sizeof(void *), &table));
	assert_true(table.hsa_ext_program_destroy && !table.hsa_ext_program_add_module);
	assert_int_equal(hsa_system_get_extension_table(HSA_EXTENSION_FINALIZER, 2, 0, &table), HSA_STATUS_ERROR);
}

static void a_known_module_runs(void **state)
{
	hsa_ext_program_t program = new_program();
	struct brig copy = module; /* it is the content that counts */
	hsa_code_object_t code = {0};
	hsa_executable_t executable = {0};

	(void)state;
	assert_non_null(finalizer.hsa_ext_program_add_module);
	OK(finalizer.hsa_ext_program_add_module(program, (hsa_ext_module_t)&copy));
	OK(finalize(program, &code));
	OK(hsa_ext_program_destroy(program));
	memset(&copy, 0, sizeof(copy)); /* code objects live longer than modules */
	OK(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &executable));
	OK(hsa_executable_load_code_object(executable, found.card, code, NULL));
	OK(hsa_executable_freeze(executable, NULL));
	pokes(executable, "&poke", 4711);
	OK(hsa_executable_destroy(executable));
	OK(hsa_code_object_destroy(code));
}

static void other_content_has_no_code(void **state)
{
	hsa_ext_program_t program = new_program();
	struct brig other = module;
	hsa_code_object_t code = {0};

	(void)state;
	other.name.text[1] = 'n';
	FAILS_EXT(FINALIZATION_FAILED, finalize(program, &code));
	OK(hsa_ext_program_add_module(program, (hsa_ext_module_t)&other));
	FAILS_EXT(FINALIZATION_FAILED, finalize(program, &code));
	OK(hsa_ext_program_add_module(program, (hsa_ext_module_t)&module));
	FAILS_EXT(FINALIZATION_FAILED, finalize(program, &code));
	OK(hsa_ext_program_destroy(program));
}

static void each_broken_module_is_refused(void **state)
{
	hsa_ext_program_t program = new_program();
	struct brig bad;

	(void)state;
	FAILS_EXT(INVALID_MODULE, hsa_ext_program_add_module(program, NULL));
#define BAD_MODULE(field, value)                                                                         \
	do {                                                                                             \
		bad = module;                                                                            \
		bad.field = (value);                                                                     \
		FAILS_EXT(INVALID_MODULE, hsa_ext_program_add_module(program, (hsa_ext_module_t)&bad));  \
	} while (0)
	BAD_MODULE(identification[7], 'X');
	BAD_MODULE(major, 2);
	BAD_MODULE(bytes, 64);
	BAD_MODULE(bytes, offsetof(struct brig, directive));
	BAD_MODULE(sections, 1);
	BAD_MODULE(section_index, UINT64_MAX);
	BAD_MODULE(section_index, sizeof(module) - 4);
	BAD_MODULE(section[1], UINT64_MAX - 3);
	BAD_MODULE(code.header_bytes, UINT32_MAX);
	BAD_MODULE(directive.kind, 0x1002);
	BAD_MODULE(directive.machine_model, 2);
	BAD_MODULE(directive.profile, 2);
	bad = module;
	bad.directive.machine_model = HSA_MACHINE_MODEL_SMALL;
	FAILS_EXT(INCOMPATIBLE_MODULE, hsa_ext_program_add_module(program, (hsa_ext_module_t)&bad));
	OK(hsa_ext_program_destroy(program));
}

static hsa_status_t note_module(hsa_ext_program_t program, hsa_ext_module_t given, void *data)
{
	(void)program;
	assert_ptr_equal(given, &module);
	++*(int *)data;
	return HSA_STATUS_INFO_BREAK;
}

static void programs(void **state)
{
	hsa_ext_control_directives_t directives = {.required_dim = 1};
	hsa_ext_program_t program = new_program(), bad;
	hsa_code_object_t code = {0};
	hsa_profile_t profile = -1;
	const char *text = NULL;
	int modules = 0;

	(void)state;
	OK(hsa_ext_program_add_module(program, (hsa_ext_module_t)&module));
	FAILS_EXT(MODULE_ALREADY_INCLUDED, hsa_ext_program_add_module(program, (hsa_ext_module_t)&module));
	assert_int_equal(hsa_ext_program_iterate_modules(program, note_module, &modules), HSA_STATUS_INFO_BREAK);
	assert_int_equal(modules, 1);
	OK(hsa_ext_program_get_info(program, HSA_EXT_PROGRAM_INFO_PROFILE, &profile));
	assert_int_equal(profile, HSA_PROFILE_FULL);
	FAILS_EXT(DIRECTIVE_MISMATCH, hsa_ext_program_finalize(program, isa, 0, directives, NULL, 0, &code));
	OK(hsa_status_string((hsa_status_t)HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH, &text));
	assert_non_null(strstr(text, "HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH"));
	OK(hsa_ext_program_destroy(program));
	for (unsigned i = 0; i <= BAD_HANDLES; i++) {
		bad.handle = i < BAD_HANDLES ? bad_handles[i] : program.handle;
		FAILS_EXT(INVALID_PROGRAM, hsa_ext_program_destroy(bad));
		FAILS_EXT(INVALID_PROGRAM, hsa_ext_program_add_module(bad, (hsa_ext_module_t)&module));
		FAILS_EXT(INVALID_PROGRAM, hsa_ext_program_iterate_modules(bad, note_module, &modules));
		FAILS_EXT(INVALID_PROGRAM, hsa_ext_program_get_info(bad, HSA_EXT_PROGRAM_INFO_PROFILE, &profile));
		FAILS_EXT(INVALID_PROGRAM, finalize(bad, &code));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_extension_is_there),      cmocka_unit_test(a_known_module_runs),
		cmocka_unit_test(other_content_has_no_code),   cmocka_unit_test(each_broken_module_is_refused),
		cmocka_unit_test(programs),
	};
	const char *file = getenv("HSA_MODULE_FILE");

	if (file) {
		write_file(file, &module, sizeof(module));
		return 0;
	}
	return cmocka_run_group_tests(tests, begin, end);
}
