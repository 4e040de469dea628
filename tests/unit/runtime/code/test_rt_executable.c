/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock,--wrap=debug_line */
/* What is loaded of a code object, how the card sees it, and what remains when that fails (SYS-07, SYS-58, REL-01). */
#include "lock_check.h"
#include "rt_rig.h"

#include <fcntl.h>
#include <stdio.h>

#include "code/code_name.h"
#include "code/debug.h"
#include "code/elf_object.h"

#define IMAGE_BYTES 0x22000u /* up to the end of the last page of data */

/* What the card was told, in order. */
static struct {
	uint8_t *start;
	size_t bytes;
	unsigned access;
} mapped[8];
static unsigned maps, unmaps, invalidated, map_fails_at;
static int map_error, invalidate_error;
static bool many; /* do not record what is mapped */

static int map_code(struct tutti_device *d, void *address, size_t size, enum tutti_memory pool, unsigned access)
{
	assert_int_equal(pool, TUTTI_MEMORY_CARD);
	if (many)
		return 0;
	assert_true(maps < 8);
	if (map_error && maps == map_fails_at)
		return map_error;
	mapped[maps].start = address;
	mapped[maps].bytes = size;
	mapped[maps++].access = access;
	return 0;
}

static int unmap_code(struct tutti_device *d, void *address, size_t size)
{
	if (many)
		return 0;
	assert_ptr_equal(address, mapped[unmaps].start);
	assert_int_equal(size, mapped[unmaps].bytes);
	unmaps++;
	return 0;
}

static int invalidate(struct tutti_device *d, const void *address, size_t size)
{
	if (many)
		return 0;
	assert_ptr_equal(address, mapped[0].start);
	assert_int_equal(size, IMAGE_BYTES);
	assert_true(unmaps == 0 || unmaps == maps); /* after all unmappings */
	invalidated++;
	return invalidate_error;
}

static int open_card(void **state)
{
	int error = open_fake(state);

	device->known.contract_max = TUTTI_CONTRACT_VERSION;
	/* from now on only code is mapped */
	transport.map = map_code;
	transport.unmap = unmap_code;
	transport.code_invalidate = invalidate;
	maps = unmaps = invalidated = 0;
	map_error = invalidate_error = 0;
	good();
	return error;
}

static int close_code(void **state)
{
	transport.map = map;
	transport.unmap = unmap;
	return close_fake(state);
}

static struct tutti_executable *load(void)
{
	struct tutti_executable *executable;
	const char *message = NULL;
	int error = tutti_executable_load(device, &o, bytes, &executable, &message);

	if (error)
		fail_msg("%d: %s", error, message);
	return executable;
}

static void destroy(struct tutti_executable *executable)
{
	assert_int_equal(tutti_executable_destroy(executable), 0);
	assert_int_equal(unmaps, maps);
	maps = unmaps = invalidated = 0;
}

static void assert_mapped(unsigned i, size_t offset, size_t size, unsigned access)
{
	assert_int_equal(mapped[i].start - mapped[0].start, offset);
	assert_int_equal(mapped[i].bytes, size);
	assert_int_equal(mapped[i].access, access);
}

/* Each segment is mapped with its own rights, in whole pages, and what it held is no longer cached. */
static void segments(void **state)
{
	static const struct {
		uint64_t bytes, pages;
	} rows[] = {{32, 1}, {4095, 1}, {4096, 1}, {4097, 2}, {8192, 2}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tutti_executable *code;

		o.p[1].p_memsz = rows[i].bytes < 4096 ? 4096 : rows[i].bytes;
		o.p[1].p_filesz = rows[i].bytes < 4096 ? rows[i].bytes : 4096;
		code = load();
		assert_int_equal(maps, 3);
		assert_int_equal(invalidated, 1);
		assert_mapped(0, 0, 4096, MAP_READ);
		assert_mapped(1, 0x10000, rows[i].pages * 4096, MAP_READ | MAP_EXECUTE);
		assert_mapped(2, 0x20000, 8192, MAP_READ | MAP_WRITE);
		destroy(code);
	}
}

/* A segment that begins or ends within a page is mapped with all of that page. */
static void parts_of_pages(void **state)
{
	for (unsigned over = 0; over < 2; over++) {
		struct tutti_executable *code;

		o.p[2].p_offset = AT(data) + 16;
		o.p[2].p_vaddr = 0x20010;
		o.p[2].p_filesz = 16;
		o.p[2].p_memsz = 8192 - 16 - 1 + over;
		o.rela[0].r_offset = 0x20010;
		o.rela[1].r_offset = 0x20018;
		o.sym[2].st_value = 0x20018;
		code = load();
		assert_mapped(2, 0x20000, 8192, MAP_READ | MAP_WRITE);
		assert_int_equal(((uint64_t *)mapped[2].start)[2], (uintptr_t)mapped[2].start + 16);
		destroy(code);
	}
}

/* The image has the bytes of the file and is zero elsewhere, whatever the memory held before. */
static void image(void **state)
{
	for (unsigned round = 0; round < 2; round++) {
		struct tutti_executable *code;
		uint64_t *data;
		uint8_t *base;

		o.p[1].p_filesz = o.p[1].p_memsz = 100;
		memset(o.code, 0x55, sizeof(o.code));
		o.data[1] = 0x1111222233334444;
		code = load();
		base = mapped[0].start;
		data = (uint64_t *)(base + 0x20000);
		assert_memory_equal(base, &o, AT(pad));
		assert_memory_equal(base + 0x10000, o.code, 100);
		for (unsigned i = 100; i < 4096; i++)
			assert_int_equal(base[0x10000 + i], 0);
		assert_int_equal(data[0], (uintptr_t)base + 0x20010);
		assert_int_equal(data[1], 0x1111222233334444);
		assert_int_equal(data[2], (uintptr_t)base + 0x20008 + 4);
		for (unsigned i = 32; i < 8192; i++)
			assert_int_equal(base[0x20000 + i], 0);
		memset(base + 0x20000, 0xee, 8192); /* by a kernel */
		memset(base + 0x10000, 0xee, 4096);
		destroy(code);
	}
}

/* A value of the application is stored as it is, wherever the code lies. */
static void externals(void **state)
{
	const struct tutti_external own[] = {{"other_name", (void *)4096}, {"weak", (void *)0x1234}};
	const struct tutti_external nameless[] = {{NULL, NULL}};
	struct tutti_executable *code;
	const char *message = NULL;

	o.sym[3].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
	o.rela[1].r_info = ELF64_R_INFO(3, R_RISCV_64);
	assert_int_equal(tutti_executable_load_with(device, &o, bytes, own, 2, &code, &message), 0);
	assert_int_equal(((uint64_t *)mapped[2].start)[2], 0x1234 + 4);
	destroy(code);
	assert_int_equal(tutti_executable_load_with(device, &o, bytes, own, 1, &code, &message), -ENOLINK);
	assert_non_null(strstr(message, "weak"));
	assert_int_equal(tutti_executable_load(device, &o, bytes, &code, &message), -ENOEXEC);
	assert_int_equal(tutti_executable_load_with(device, &o, bytes, nameless, 1, &code, NULL), -EINVAL);
	assert_int_equal(tutti_executable_load_with(device, &o, bytes, NULL, 1, &code, NULL), -EINVAL);
	assert_int_equal(tutti_executable_load_with(device, NULL, bytes, NULL, 0, &code, NULL), -EINVAL);
	assert_int_equal(tutti_executable_load_with(device, &o, bytes, NULL, 0, NULL, NULL), -EINVAL);
	assert_int_equal(tutti_executable_load_with(NULL, &o, bytes, NULL, 0, &code, NULL), -EINVAL);
	assert_int_equal(maps, 0);
}

/* Every failure is reported, and leaves no mapping, no memory and no name behind. */
static void failures(void **state)
{
	struct tutti_executable *code, *untouched = (void *)1;
	char name[CODE_NAME_BYTES];
	const char *message;
	uint8_t *base;

	code = load();
	base = mapped[0].start;
	destroy(code);
	for (unsigned at = 0; at < 4; at++) { /* the last round: all is mapped, but not invalidated */
		map_error = at < 3 ? -EFAULT : 0;
		invalidate_error = at < 3 ? 0 : -ETIMEDOUT;
		map_fails_at = at;
		code = untouched;
		message = NULL;
		assert_int_equal(tutti_executable_load(device, &o, bytes, &code, &message), at < 3 ? -EFAULT : -ETIMEDOUT);
		assert_string_equal(message, tutti_strerror(at < 3 ? -EFAULT : -ETIMEDOUT));
		assert_ptr_equal(code, untouched);
		assert_int_equal(maps, at);
		assert_int_equal(unmaps, at);
		assert_int_equal(invalidated, at == 0 ? 0 : at < 3 ? 1 : 2);
		assert_false(code_kernel_name(device, (uintptr_t)base + AT(kd), name));
		assert_null(device->executables);
		maps = unmaps = invalidated = 0;
	}
	map_error = invalidate_error = 0;
	code = load();
	assert_ptr_equal(mapped[0].start, base);
	destroy(code);
}

/* Memory for code is limited, and the memory of destroyed executables is used again. */
static void no_room(void **state)
{
	struct tutti_executable *code[64], *more = NULL;
	const char *message = NULL;
	unsigned n = 0;
	int error;

	o.p[2].p_memsz = 1 << 20;
	many = true;
	for (; n < 64; n++) {
		error = tutti_executable_load(device, &o, bytes, &code[n], &message);
		if (error)
			break;
	}
	assert_true(n > 0 && n < 64);
	assert_int_equal(error, -ENOSPC);
	assert_string_equal(message, "no card memory left for code");
	assert_int_equal(tutti_executable_destroy(code[--n]), 0);
	assert_int_equal(tutti_executable_load(device, &o, bytes, &more, NULL), 0);
	assert_int_equal(tutti_executable_destroy(more), 0);
	while (n--)
		assert_int_equal(tutti_executable_destroy(code[n]), 0);
	many = false;
}

/* A kernel has several names, none of which is the beginning of another one. */
static void kernels(void **state)
{
	static const char *const names[] = {"foo", "foo.kd", "&foo", "&foo.kd"},
				 *const none[] = {"fo",	   "fooo",	"",    "&",	"foo.k", ".kd",
						  "var", "foo.kd.kd", "oo", "other", "&&foo"};
	struct tutti_executable *code = load();
	struct tutti_kernel kernel;

	o.kd.kernarg_bytes = 0; /* what was loaded counts */
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		memset(&kernel, 0xff, sizeof(kernel));
		assert_int_equal(tutti_executable_kernel(code, names[i], &kernel), 0);
		assert_int_equal(kernel.object, (uintptr_t)mapped[0].start + AT(kd));
		assert_int_equal(kernel.kernarg_bytes, 16);
		assert_int_equal(kernel.kernarg_align, 16);
		assert_int_equal(kernel.group_bytes | kernel.private_bytes, 0);
		assert_memory_equal(kernel.descriptor, mapped[0].start + AT(kd), sizeof(*kernel.descriptor));
	}
	for (unsigned i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(tutti_executable_kernel(code, none[i], &kernel), -ENOENT);
	assert_int_equal(tutti_executable_kernel(code, NULL, &kernel), -EINVAL);
	assert_int_equal(tutti_executable_kernel(code, "foo", NULL), -EINVAL);
	assert_int_equal(tutti_executable_kernel(NULL, "foo", &kernel), -EINVAL);
	destroy(code);
	assert_int_equal(kernel.descriptor->magic, 0); /* launches are refused */
	assert_int_equal(tutti_executable_kernel(code, "foo", &kernel), -EINVAL);
	assert_int_equal(tutti_executable_destroy(code), -EINVAL);
	assert_int_equal(tutti_executable_destroy(NULL), 0);
}

/* The shortest name there is. */
static void short_name(void **state)
{
	static const char *const names[] = {"k", "k.kd", "&k"}, *const none[] = {"kabc", "k.k", "", "kk.kd"};
	struct tutti_executable *code;
	struct tutti_kernel kernel;

	memcpy(o.names + 1, "k.kd\0", 6);
	code = load();
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(tutti_executable_kernel(code, names[i], &kernel), 0);
	for (unsigned i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(tutti_executable_kernel(code, none[i], &kernel), -ENOENT);
	destroy(code);
}

static void variables(void **state)
{
	struct tutti_executable *code = load();
	void *address = NULL;
	size_t size = 0;

	assert_int_equal(tutti_executable_variable(code, "var", &address, &size), 0);
	assert_ptr_equal(address, mapped[2].start + 8);
	assert_int_equal(size, 8);
	assert_int_equal(tutti_executable_variable(code, "var", NULL, NULL), 0);
	assert_int_equal(tutti_executable_variable(code, "va", &address, &size), -ENOENT);
	assert_int_equal(tutti_executable_variable(code, "vari", &address, &size), -ENOENT);
	assert_int_equal(tutti_executable_variable(code, "foo", &address, &size), -ENOENT);
	assert_int_equal(tutti_executable_variable(code, "other", &address, &size), -ENOENT);
	assert_int_equal(tutti_executable_variable(code, "weak", &address, &size), -ENOENT);
	assert_int_equal(tutti_executable_variable(code, NULL, &address, &size), -EINVAL);
	assert_int_equal(tutti_executable_variable(NULL, "var", &address, &size), -EINVAL);
	destroy(code);
	o.sym[2].st_size = 0; /* an empty symbol */
	code = load();
	assert_int_equal(tutti_executable_variable(code, "var", &address, &size), -ENOENT);
	destroy(code);
	assert_int_equal(tutti_executable_variable(code, "var", &address, &size), -EINVAL);
}

static struct tutti_symbol symbols[4];
static unsigned count, stop_at;

static int visit_symbol(const struct tutti_symbol *symbol, void *context)
{
	assert_ptr_equal(context, &count);
	assert_true(count < 4);
	symbols[count++] = *symbol;
	return count == stop_at ? 70 + (int)count : 0;
}

static int visit_kernel(const char *name, const struct tutti_kernel *kernel, void *context)
{
	assert_string_equal(name, "foo");
	assert_int_equal(kernel->kernarg_bytes, 16);
	return visit_symbol(&(struct tutti_symbol){.address = kernel->object}, context);
}

static int no_argument(const struct tutti_argument *argument, void *context)
{
	fail();
	return 0;
}

/* Kernels and variables are told with what is known of them, until the visitor has seen enough. */
static void visits(void **state)
{
	struct tutti_executable *code;

	code = load();
	count = stop_at = 0;
	assert_int_equal(tutti_executable_symbols(code, visit_symbol, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(symbols[0].name, "foo");
	assert_int_equal(symbols[0].kind, TUTTI_SYMBOL_KERNEL);
	assert_false(symbols[0].writable);
	assert_true(symbols[0].global);
	assert_int_equal(symbols[0].address, (uintptr_t)mapped[0].start + AT(kd));
	assert_int_equal(symbols[0].bytes, 64);
	assert_string_equal(symbols[1].name, "var");
	assert_int_equal(symbols[1].kind, TUTTI_SYMBOL_VARIABLE);
	assert_true(symbols[1].writable);
	assert_true(symbols[1].global);
	assert_int_equal(symbols[1].bytes, 8);
	for (stop_at = 1; stop_at <= 2; stop_at++) {
		count = 0;
		assert_int_equal(tutti_executable_symbols(code, visit_symbol, &count), 70 + stop_at);
		assert_int_equal(count, stop_at);
	}
	stop_at = count = 0;
	assert_int_equal(tutti_executable_iterate(code, visit_kernel, &count), 0);
	assert_int_equal(count, 1);
	count = 0;
	stop_at = 1;
	assert_int_equal(tutti_executable_iterate(code, visit_kernel, &count), 71);
	assert_int_equal(tutti_executable_arguments(code, "foo", no_argument, NULL), -ENODATA); /* it has no debug information */
	assert_int_equal(tutti_executable_arguments(code, "fo", no_argument, NULL), -ENOENT);
	assert_int_equal(tutti_executable_arguments(code, NULL, no_argument, NULL), -EINVAL);
	assert_int_equal(tutti_executable_arguments(code, "foo", NULL, NULL), -EINVAL);
	assert_int_equal(tutti_executable_arguments(NULL, "foo", no_argument, NULL), -EINVAL);
	assert_int_equal(tutti_executable_iterate(code, NULL, &count), -EINVAL);
	assert_int_equal(tutti_executable_symbols(code, NULL, &count), -EINVAL);
	destroy(code);
	assert_int_equal(tutti_executable_iterate(code, visit_kernel, &count), -EINVAL);
	assert_int_equal(tutti_executable_symbols(code, visit_symbol, &count), -EINVAL);
	o.sym[2].st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
	code = load();
	count = stop_at = 0;
	assert_int_equal(tutti_executable_symbols(code, visit_symbol, &count), 0);
	assert_false(symbols[1].global);
	destroy(code);
}

/* Addresses get the name of a symbol: each of its bytes if it has a size, otherwise only the first. */
static void names(void **state)
{
	for (unsigned size = 0; size <= 8; size += 4) {
		uint64_t end = 0x10000 + (size ? size : 1), offset = 77;
		char name[CODE_NAME_BYTES] = "";
		struct tutti_executable *code;
		uintptr_t base;

		o.sym[4].st_size = size;
		code = load();
		base = (uintptr_t)mapped[0].start;
		for (uint64_t at = 0x10000; at < end; at++) {
			assert_true(code_function_name(device, base + at, name, &offset));
			assert_string_equal(name, "other");
			assert_int_equal(offset, at - 0x10000);
		}
		assert_false(code_function_name(device, base + end, name, &offset));
		assert_false(code_function_name(device, base + 0xffff, name, &offset));
		assert_false(code_function_name(device, base + AT(kd), name, &offset));
		assert_true(code_kernel_name(device, base + AT(kd), name));
		assert_string_equal(name, "foo");
		assert_false(code_kernel_name(device, base + AT(kd) - 1, name));
		assert_false(code_kernel_name(device, base + AT(kd) + 64, name));
		assert_false(code_kernel_name(device, base + 0x10000, name));
		assert_false(code_kernel_name(device, 0, name)); /* as in a packet without a kernel */
		assert_false(code_function_name(device, 0, name, &offset));
		destroy(code);
		assert_false(code_function_name(device, base + 0x10000, name, &offset));
	}
	o.sym[4].st_shndx = SHN_UNDEF; /* it is somewhere else */
	o.sym[4].st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC);
	destroy(load());
}

static struct {
	uint64_t address, code;
	size_t size;
} line; /* what debug_line() was called with last: address, first word of the file's code, size of the file */

bool __wrap_debug_line(const struct debug_file *file, uint64_t address, char *text, size_t size);

bool __wrap_debug_line(const struct debug_file *file, uint64_t address, char *text, size_t size)
{
	line.address = address;
	line.code = ((const struct object *)file->data)->code[0];
	line.size = file->bytes;
	assert_int_equal(size, CODE_LINE_BYTES);
	return true;
}

#define SEVERAL 4u

static struct {
	struct tutti_executable *code; /* NULL: not loaded */
	uintptr_t start;
} one[SEVERAL];

/* Loads executable @k, which its kernel's name, its function's name and its first word of code identify. */
static void load_one(unsigned k)
{
	struct tutti_kernel kernel;

	o.names[1] = (char)('A' + k);
	o.names[17] = (char)('a' + k);
	o.code[0] = k;
	one[k].code = load();
	assert_int_equal(tutti_executable_kernel(one[k].code, o.names + 1, &kernel), 0);
	one[k].start = kernel.object - AT(kd);
}

static void assert_named(unsigned k)
{
	char name[CODE_NAME_BYTES], text[CODE_LINE_BYTES];
	bool there = one[k].code;
	uint64_t offset;

	assert_int_equal(code_kernel_name(device, one[k].start + AT(kd), name), there);
	assert_true(!there || name[0] == (char)('A' + k));
	assert_int_equal(code_function_name(device, one[k].start + 0x10000, name, &offset), there);
	assert_true(!there || name[0] == (char)('a' + k));
	for (uint64_t at = 0; at < IMAGE_BYTES; at += IMAGE_BYTES - 1) {
		memset(&line, 0xff, sizeof(line));
		assert_int_equal(code_line(device, one[k].start + at, text), there);
		assert_true(!there || (line.address == at && line.code == k && line.size == bytes));
	}
}

/* Of several executables, the one that an address lies in provides its names and lines, while it is loaded. */
static void several(void **state)
{
	static const unsigned orders[][SEVERAL] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
	char text[CODE_LINE_BYTES];

	many = true;
	for (unsigned i = 0; i < SEVERAL; i++) {
		for (unsigned k = 0; k < SEVERAL; k++)
			load_one(k);
		for (unsigned n = 0; n < 2 * SEVERAL; n++) { /* first each is loaded again, then all are destroyed */
			unsigned k = orders[i][n % SEVERAL];

			assert_int_equal(tutti_executable_destroy(one[k].code), 0);
			one[k].code = NULL;
			for (unsigned each = 0; each < SEVERAL; each++)
				assert_named(each);
			if (n < SEVERAL)
				load_one(k);
			for (unsigned each = 0; each < SEVERAL; each++)
				assert_named(each);
		}
		assert_null(device->executables);
	}
	assert_false(code_line(device, one[0].start - 1, text));
	many = false;
}

static const char *written(size_t size)
{
	static char path[64];
	int file;

	snprintf(path, sizeof(path), "/tmp/test_rt_executable.%d", (int)getpid());
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	assert_int_equal(write(file, &o, bytes), (ssize_t)bytes);
	assert_int_equal(ftruncate(file, (off_t)size), 0);
	close(file);
	return path;
}

/* Files of any length are read, also if they end where one read ends; what is not a file is refused. */
static void files(void **state)
{
	static const size_t sizes[] = {sizeof(o), 0xffff, 0x10000, 0x10001, 0x20000, 0x80000};
	struct tutti_executable *code;
	const char *message = NULL, *path = NULL;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		path = written(sizes[i]);
		assert_int_equal(tutti_executable_load_file(device, path, &code, &message), 0);
		assert_memory_equal(mapped[0].start, &o, AT(pad));
		destroy(code);
	}
	path = written(AT(data)); /* the data are missing */
	assert_int_equal(tutti_executable_load_file(device, path, &code, &message), -ENOEXEC);
	path = written(2 * (size_t)ELF_IMAGE_MAX + 1);
	assert_int_equal(tutti_executable_load_file(device, path, &code, &message), -EFBIG);
	assert_string_equal(message, strerror(EFBIG)); /* of the file, not of the card */
	unlink(path);
	assert_int_equal(tutti_executable_load_file(device, path, &code, &message), -ENOENT);
	assert_string_equal(message, strerror(ENOENT));
	assert_int_equal(tutti_executable_load_file(device, path, &code, NULL), -ENOENT);
	assert_int_equal(tutti_executable_load_file(device, "/", &code, &message), -EIO);
	assert_string_equal(message, strerror(EIO));
	assert_int_equal(tutti_executable_load_file(device, NULL, &code, &message), -EINVAL);
	assert_int_equal(tutti_executable_load_file(device, path, NULL, &message), -EINVAL);
	assert_int_equal(tutti_executable_load_file(NULL, path, &code, &message), -EINVAL);
}

#define L(f) cmocka_unit_test_setup_teardown(f, open_card, close_code)

/* The kernel that has failed is named as long as its packet is in the ring, until the slot is used again. */
static void kernel_of_a_fault(void **state)
{
	int (*maps_code)(struct tutti_device *, void *, size_t, enum tutti_memory, unsigned) = transport.map;
	struct tutti_executable *code = load();
	struct tutti_queue *queue;
	struct tutti_fault fault = {.code = TUTTI_ERROR_MEMORY_FAULT, .packet = 2};
	struct tutti_kernel named;
	char text[256];

	transport.map = map;
	queue = a_queue(0, false);
	transport.map = maps_code;
	assert_int_equal(tutti_executable_kernel(code, "foo", &named), 0);
	queue->ring[2].dispatch.kernel_object = named.object;
	for (uint64_t written = 3; written <= 2 + 64 + 1; written++) {
		*queue->write_index = written;
		assert_true(tutti_fault_text(queue, &fault, text, sizeof(text)) > 0);
		assert_int_equal(strstr(text, "in kernel foo") != NULL, written <= 2 + 64);
	}
	assert_int_equal(tutti_fault_text(queue, &fault, NULL, 0), strlen(text));
	assert_int_equal(tutti_fault_text(queue, &fault, NULL, 1), -EINVAL);
	assert_int_equal(tutti_fault_text(queue, NULL, text, sizeof(text)), -EINVAL);
	assert_int_equal(tutti_fault_text(NULL, &fault, text, sizeof(text)), -EINVAL);
	*queue->write_index = *queue->read_index;
	assert_int_equal(tutti_queue_destroy(queue), 0);
	destroy(code);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		L(segments), L(parts_of_pages), L(image), L(externals), L(failures), L(no_room), L(kernels),
		L(short_name), L(variables), L(visits), L(names), L(several), L(files),
		L(kernel_of_a_fault),
	};

	return cmocka_run_group_tests_name("SYS-07, SYS-58 code in card memory, over a played card", tests, NULL, NULL);
}
