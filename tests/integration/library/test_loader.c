/* SPDX-License-Identifier: MIT */
/* Hostile code objects and descriptors through libtutti: SYS-07. The loader and the card must survive all of it. */
#include <elf.h>

#include "rig.h"

#define T(name, function) { name, function, NULL, NULL, NULL }

static uint8_t *good;
static size_t good_bytes;

static uint8_t *read_kernels(const char *name, size_t *bytes)
{
	FILE *file = fopen(rig_out(name), "rb");
	uint8_t *content;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*bytes = (size_t)ftell(file);
	rewind(file);
	content = malloc(*bytes);
	assert_int_equal(fread(content, 1, *bytes, file), *bytes);
	fclose(file);
	return content;
}

static int open_rig(void **state)
{
	rig = rig_open(NULL);
	good = read_kernels("tests/integration/kernels/test.tco", &good_bytes);
	return 0;
}

static int close_rig(void **state)
{
	rig_close(rig);
	free(good);
	return 0;
}

static void alive(void)
{
	uint64_t *word = rig_alloc(rig, 64);

	rig_run(rig, "poke", 1, 1, rig_args(rig, word, 42, 0));
	assert_int_equal(*word, 42);
	tutti_memory_free(rig->device, word);
}

static int load(const void *elf, size_t bytes)
{
	struct tutti_executable *executable = NULL;
	const char *message = NULL;
	int error = tutti_executable_load(rig->device, elf, bytes, &executable, &message);

	if (!error) {
		assert_non_null(executable);
		tutti_executable_destroy(executable);
	} else if (error == -ENOEXEC) {
		assert_non_null(message);
		assert_true(strlen(message) > 4);
	}
	return error;
}

static uint8_t *copy(void)
{
	uint8_t *c = malloc(good_bytes);

	memcpy(c, good, good_bytes);
	return c;
}

static void loads_many_times(void **state)
{
	unsigned i;

	for (i = 0; i < 300; i++)
		assert_int_equal(load(good, good_bytes), 0);
	alive();
}

static void misaligned_file(void **state)
{
	uint8_t *c = malloc(good_bytes + 1);

	memcpy(c + 1, good, good_bytes);
	assert_int_equal(load(c + 1, good_bytes), 0);
	free(c);
}

static void truncated(void **state)
{
	size_t bytes;

	for (bytes = 0; bytes < good_bytes; bytes += bytes < 300 ? 1 : 97) {
		uint8_t *c = malloc(bytes ? bytes : 1); /* the exact size, so that a sanitizer sees overruns */

		memcpy(c, good, bytes);
		if (load(c, bytes) == 0 && bytes < good_bytes / 2)
			fail_msg("accepted the first %zu bytes", bytes);
		free(c);
	}
	alive();
}

struct header_case {
	const char *what;
	size_t offset;
	unsigned bytes;
	uint64_t value;
};

static void bad_headers(void **state)
{
	static const struct header_case cases[] = {
		{ "magic", 0, 1, 0x7e },
		{ "32-bit", EI_CLASS, 1, ELFCLASS32 },
		{ "big endian", EI_DATA, 1, ELFDATA2MSB },
		{ "type EXEC", offsetof(Elf64_Ehdr, e_type), 2, ET_EXEC },
		{ "type REL", offsetof(Elf64_Ehdr, e_type), 2, ET_REL },
		{ "machine", offsetof(Elf64_Ehdr, e_machine), 2, EM_X86_64 },
		{ "phoff out", offsetof(Elf64_Ehdr, e_phoff), 8, 1 << 30 },
		{ "phoff wraps", offsetof(Elf64_Ehdr, e_phoff), 8, ~0ull - 8 },
		{ "phentsize", offsetof(Elf64_Ehdr, e_phentsize), 2, 8 },
		{ "phnum 0", offsetof(Elf64_Ehdr, e_phnum), 2, 0 },
		{ "phnum 65535", offsetof(Elf64_Ehdr, e_phnum), 2, 65535 },
	};
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t *c = copy();

		memcpy(c + cases[i].offset, &cases[i].value, cases[i].bytes);
		if (load(c, good_bytes) != -ENOEXEC)
			fail_msg("accepted: %s", cases[i].what);
		free(c);
	}
}

static void bad_segments(void **state)
{
	static const struct header_case cases[] = {
		{ "offset out", offsetof(Elf64_Phdr, p_offset), 8, 1 << 30 },
		{ "offset wraps", offsetof(Elf64_Phdr, p_offset), 8, ~0ull - 4095 },
		{ "filesz beyond memsz", offsetof(Elf64_Phdr, p_memsz), 8, 1 },
		{ "filesz out", offsetof(Elf64_Phdr, p_filesz), 8, 1ull << 40 },
		{ "memsz huge", offsetof(Elf64_Phdr, p_memsz), 8, 1ull << 50 },
		{ "memsz wraps", offsetof(Elf64_Phdr, p_memsz), 8, ~0ull },
		{ "vaddr huge", offsetof(Elf64_Phdr, p_vaddr), 8, 1ull << 46 },
		{ "vaddr wraps", offsetof(Elf64_Phdr, p_vaddr), 8, ~0ull - 100 },
	};
	const Elf64_Ehdr *header = (const void *)good;
	unsigned i, k;

	for (k = 0; k < header->e_phnum; k++) {
		const Elf64_Phdr *segment = (const void *)(good + header->e_phoff + k * sizeof(*segment));

		if (segment->p_type != PT_LOAD)
			continue;
		for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			uint8_t *c = copy();

			memcpy(c + header->e_phoff + k * sizeof(*segment) + cases[i].offset, &cases[i].value,
			       cases[i].bytes);
			if (load(c, good_bytes) == 0)
				fail_msg("segment %u accepted: %s", k, cases[i].what);
			free(c);
		}
	}
	alive();
}

static void no_note(void **state)
{
	uint8_t *c = copy(), *at = memmem(c, good_bytes, TUTTI_CODE_ISA, strlen(TUTTI_CODE_ISA));

	assert_non_null(at);
	at[3] ^= 1;
	assert_int_equal(load(c, good_bytes), -ENOEXEC);
	free(c);
}

static void random_damage(void **state)
{
	unsigned seed = 11, i, k, accepted = 0;

	for (i = 0; i < 3000; i++) {
		uint8_t *c = copy();
		unsigned edits = 1 + (unsigned)rand_r(&seed) % 8;

		for (k = 0; k < edits; k++) {
			/* mostly in the headers and in the tables at both ends */
			size_t at = (unsigned)rand_r(&seed) % 3 ? (unsigned)rand_r(&seed) % 600 :
								  (unsigned)rand_r(&seed) % good_bytes;

			c[at] = (uint8_t)rand_r(&seed);
		}
		accepted += load(c, good_bytes) == 0;
		free(c);
	}
	print_message("# %u of 3000 damaged files loaded (damage outside what is checked)\n", accepted);
	alive();
}

/* the firmware checks a descriptor whatever the loader thought of it */
static void hostile_descriptors(void **state)
{
	static const struct header_case cases[] = {
		{ "magic", offsetof(struct tutti_kernel_descriptor, magic), 4, 0 },
		{ "version", offsetof(struct tutti_kernel_descriptor, version), 1, 9 },
		{ "flags", offsetof(struct tutti_kernel_descriptor, flags), 2, 0xfff0 },
		{ "barriers", offsetof(struct tutti_kernel_descriptor, barriers), 2, 17 },
		{ "registers of a wave", offsetof(struct tutti_kernel_descriptor, scalar_blocks), 2, 33 },
		{ "vector registers of a wave", offsetof(struct tutti_kernel_descriptor, vector_blocks), 2, 65535 },
		{ "group memory", offsetof(struct tutti_kernel_descriptor, group_bytes), 4, ~0u },
		{ "private memory", offsetof(struct tutti_kernel_descriptor, private_bytes), 4, ~0u },
		{ "kernarg alignment", offsetof(struct tutti_kernel_descriptor, kernarg_align), 4, 3 },
		{ "entry not mapped", offsetof(struct tutti_kernel_descriptor, entry_offset), 8, 1ull << 45 },
		{ "entry far below", offsetof(struct tutti_kernel_descriptor, entry_offset), 8, 1ull << 63 },
		{ "CGA kind", offsetof(struct tutti_kernel_descriptor, cga_kind), 1, 77 },
	};
	struct tutti_kernel kernel = rig_kernel(rig, "empty");
	uint8_t *copies = rig_alloc(rig, 4096 * 16);
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tutti_kernel_descriptor *d = (void *)(copies + i * 4096);
		struct tutti_dispatch_packet packet;
		struct tutti_launch launch = { .kernel = &kernel, .grid = { 64 }, .workgroup = { 64 } };
		tutti_signal_t signal = rig_signal(rig, 1);
		struct tutti_fault fault;

		*d = *kernel.descriptor;
		d->entry_offset += (int64_t)(kernel.object - (uintptr_t)d);
		memcpy((uint8_t *)d + cases[i].offset, &cases[i].value, cases[i].bytes);
		assert_int_equal(tutti_launch_packet(&launch, &packet), 0);
		packet.kernel_object = (uintptr_t)d;
		packet.signal = (uintptr_t)signal;
		assert_int_equal(tutti_queue_submit(rig->queue, (union tutti_packet *)&packet), 0);
		print_message("# %s\n", cases[i].what);
		fault = rig_fault(rig, rig->queue);
		assert_true(fault.code == TUTTI_ERROR_CODE_OBJECT || fault.code == TUTTI_ERROR_GROUP_MEMORY ||
			    fault.code == TUTTI_ERROR_PRIVATE_MEMORY || fault.code == TUTTI_ERROR_MEMORY_FAULT ||
			    fault.code == TUTTI_ERROR_GRID || fault.code == TUTTI_ERROR_WORKGROUP);
		assert_int_equal(tutti_signal_load(signal), 1);
		assert_int_equal(tutti_queue_reset(rig->queue), 0);
		alive();
	}
}

static void lookups(void **state)
{
	struct tutti_executable *executable;
	struct tutti_kernel kernel;

	assert_int_equal(tutti_executable_kernel(rig->code, "vadd.kd", &kernel), 0);
	assert_int_equal(tutti_executable_kernel(rig->code, "&vadd", &kernel), 0);
	assert_int_equal(tutti_executable_kernel(rig->code, "vad", &kernel), -ENOENT);
	assert_int_equal(tutti_executable_kernel(rig->code, "", &kernel), -ENOENT);
	assert_int_equal(tutti_executable_kernel(rig->code, "table", &kernel), -ENOENT);
	assert_int_equal(tutti_executable_load_file(rig->device, "/nonexistent.tco", &executable, NULL), -ENOENT);
}

static int count_kernels(const char *name, const struct tutti_kernel *kernel, void *context)
{
	assert_true(kernel->object % 64 == 0 && name[0]);
	++*(unsigned *)context;
	return !strcmp(name, "no such kernel");
}

static void iterate(void **state)
{
	unsigned n = 0;

	assert_int_equal(tutti_executable_iterate(rig->code, count_kernels, &n), 0);
	assert_true(n >= 25);
}

static int look_at_symbol(const struct tutti_symbol *symbol, void *context)
{
	assert_true(symbol->address && symbol->bytes);
	if (symbol->kind == TUTTI_SYMBOL_KERNEL)
		assert_string_equal(symbol->name, "scale_external");
	else if (!strncmp(symbol->name, "own_", 4))
		assert_true(symbol->global && symbol->writable == !strcmp(symbol->name, "own_offset"));
	++((unsigned *)context)[symbol->kind];
	return 0;
}

static void defined_by_the_program(void **state)
{
	int32_t *memory = rig_alloc(rig, 4096), *x = memory + 16;
	struct tutti_external externals[] = {
		{"no_such_variable", x}, {"external_table", memory}, {"external_factor", memory + 8}};
	struct tutti_executable *executable;
	struct tutti_kernel kernel;
	tutti_signal_t done;
	const char *message;
	unsigned count[2] = {0};
	size_t bytes;
	uint8_t *code = read_kernels("tests/integration/kernels/external.tco", &bytes);

	assert_int_equal(tutti_executable_load(rig->device, code, bytes, &executable, &message), -ENOEXEC);
	assert_int_equal(tutti_executable_load_with(rig->device, code, bytes, NULL, 1, &executable, &message), -EINVAL);
	assert_int_equal(tutti_executable_load_with(rig->device, code, bytes, &(struct tutti_external){NULL, x}, 1, &executable,
						    &message), -EINVAL);
	assert_int_equal(tutti_executable_load_with(rig->device, code, bytes, externals, 2, &executable, &message),
			 -ENOLINK);
	assert_non_null(strstr(message, "external_factor"));
	assert_int_equal(tutti_executable_load_with(rig->device, code, bytes, externals, 3, &executable, &message), 0);
	assert_int_equal(tutti_executable_kernel(executable, "scale_external", &kernel), 0);
	assert_int_equal(tutti_executable_symbols(executable, look_at_symbol, count), 0);
	assert_true(count[TUTTI_SYMBOL_KERNEL] == 1 && count[TUTTI_SYMBOL_VARIABLE] >= 2);
	memcpy(memory, (int32_t[]){10, 20, 30, 40}, 16);
	memory[8] = 3;
	*x = 100;
	*(int32_t **)(memory + 32) = x;
	done = rig_signal(rig, 1);
	assert_int_equal(tutti_dispatch(rig->queue, &(struct tutti_launch){.kernel = &kernel, .grid = {1}, .workgroup = {1},
									   .kernarg = memory + 32, .signal = done,
									   .release = TUTTI_SCOPE_SYSTEM}), 0);
	rig_wait(rig, done);
	assert_int_equal(*x, 3 * 100 + 10 + 1000 + 5);
	tutti_executable_destroy(executable);
	tutti_memory_free(rig->device, memory);
	free(code);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("SYS-07: load and unload, 300 times", loads_many_times),
		T("SYS-07: a file at an odd address", misaligned_file),
		T("SYS-07: truncated files", truncated),
		T("SYS-07: bad ELF headers", bad_headers),
		T("SYS-07: bad segments", bad_segments),
		T("SYS-07: made for another ISA", no_note),
		T("SYS-07: random damage", random_damage),
		T("SYS-07, PKT-06: hostile kernel descriptors", hostile_descriptors),
		T("SYS-07: kernels by name", lookups),
		T("SYS-07: all kernels of a code object", iterate),
		T("SYS-58: variables that the program defines", defined_by_the_program),
	};

	return cmocka_run_group_tests_name("loader", tests, open_rig, close_rig);
}
