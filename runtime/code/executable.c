// SPDX-License-Identifier: MIT
/* Loads code objects into card memory (spec SYS-07). elf_check.c has checked everything that is used here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/code_name.h"
#include "code/debug.h"
#include "code/elf_check.h"
#include "device/trace.h"
#include "memory/memory.h"

struct loaded_symbol {
	char *name; /* for kernels, without the suffix ".kd" */
	uint64_t address;
	uint64_t bytes;
	bool writable, global;
	struct loaded_descriptor *descriptor; /* kernels only */
};

/**
 * struct loaded_descriptor - a host copy of a kernel's descriptor, because reading card memory over a bus is slow.
 *
 * Applications have its address in struct tutti_kernel. When the executable is destroyed it loses its magic number,
 * and launches of the kernel are refused.
 */
struct loaded_descriptor {
	struct tutti_kernel_descriptor kernel;
	struct handle handle;
};

static struct handle_pool descriptors = HANDLE_POOL(struct loaded_descriptor);

/**
 * struct tutti_executable - a loaded code object.
 * @base: address of the image
 * @mapped: number of segments mapped so far
 * @file: a copy of the code object, for its debug information
 * @next: in device->executables, under device->lock
 */
struct tutti_executable {
	struct handle handle;
	struct tutti_device *device;
	uint8_t *base;
	uint64_t image_bytes;
	unsigned segments, mapped;
	struct elf_segment segment[ELF_SEGMENTS_MAX];
	struct debug_file file;
	struct loaded_symbol *kernel;
	size_t kernels;
	struct loaded_symbol *variable;
	size_t variables;
	struct loaded_symbol *function;
	size_t functions;
	struct tutti_executable *next;
};

static struct handle_pool pool = HANDLE_POOL(struct tutti_executable);

static bool executable_call(struct call *call, struct tutti_executable *executable)
{
	return call_begin(call, executable ? &executable->handle : NULL);
}

/*
 * Memory for code is zero, and stays so where the file says nothing. So the same code is the same bytes, up to the end of
 * its last page.
 */
static void copy_image(struct tutti_executable *executable, const struct elf_object *elf)
{
	for (unsigned i = 0; i < elf->segments; i++)
		memcpy(executable->base + elf->segment[i].address, elf->file + elf->segment[i].offset,
		       elf->segment[i].file_bytes);
	for (size_t i = 0; i < elf->relocations; i++) {
		uint64_t base = elf->relocation[i].absolute ? 0 : (uintptr_t)executable->base;
		uint64_t value = base + elf->relocation[i].value;

		memcpy(executable->base + elf->relocation[i].address, &value, sizeof(value));
	}
}

static int keep_file(struct tutti_executable *executable, const struct elf_object *elf)
{
	executable->file = (struct debug_file){.data = malloc(elf->bytes), .bytes = elf->bytes};
	if (!executable->file.data)
		return -ENOMEM;
	memcpy(executable->file.data, elf->file, elf->bytes);
	return 0;
}

static void segment_pages(const struct tutti_executable *executable, unsigned i, uint8_t **start,
			  size_t *bytes)
{
	const struct elf_segment *segment = &executable->segment[i];
	uint64_t first = segment->address & ~(uint64_t)(TUTTI_PAGE_SIZE - 1);
	uint64_t end = (segment->address + segment->memory_bytes + TUTTI_PAGE_SIZE - 1) &
		       ~(uint64_t)(TUTTI_PAGE_SIZE - 1);

	*start = executable->base + first;
	*bytes = end - first;
}

static int map_segments(struct tutti_executable *executable)
{
	struct tutti_device *device = executable->device;

	for (; executable->mapped < executable->segments; executable->mapped++) {
		uint32_t flags = executable->segment[executable->mapped].flags;
		unsigned access =
		    MAP_READ | (flags & PF_W ? MAP_WRITE : 0) | (flags & PF_X ? MAP_EXECUTE : 0);
		uint8_t *start;
		size_t bytes;
		int error;

		segment_pages(executable, executable->mapped, &start, &bytes);
		error = device->transport->map(device, start, bytes, TUTTI_MEMORY_CARD, access);
		if (error)
			return error;
	}
	return 0;
}

static bool in_writable_segment(const struct tutti_executable *executable, const Elf64_Sym *symbol)
{
	for (unsigned i = 0; i < executable->segments; i++)
		if (symbol->st_value - executable->segment[i].address < executable->segment[i].memory_bytes)
			return executable->segment[i].flags & PF_W;
	return false;
}

static bool is_variable(const struct elf_object *elf, const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_size && elf_segment_of(elf, symbol->st_value, symbol->st_size);
}

static int take_symbol(struct tutti_executable *executable, struct loaded_symbol *to, const Elf64_Sym *symbol,
		       const char *name, size_t length)
{
	to->name = strndup(name, length);
	to->address = (uintptr_t)executable->base + symbol->st_value;
	to->bytes = symbol->st_size;
	to->writable = in_writable_segment(executable, symbol);
	to->global = ELF64_ST_BIND(symbol->st_info) != STB_LOCAL;
	return to->name ? 0 : -ENOMEM;
}

static int take_kernel(struct tutti_executable *executable, struct loaded_symbol *to, const Elf64_Sym *symbol,
		       const char *name, size_t length)
{
	to->descriptor = handle_new(&descriptors, NULL);
	if (!to->descriptor)
		return -ENOMEM;
	memcpy(&to->descriptor->kernel, executable->base + symbol->st_value, sizeof(to->descriptor->kernel));
	return take_symbol(executable, to, symbol, name, length);
}

static int take_symbols(struct tutti_executable *executable, const struct elf_object *elf)
{
	size_t n = elf->symbol_count ? elf->symbol_count : 1;
	int error = 0;

	executable->kernel = calloc(n, sizeof(*executable->kernel));
	executable->variable = calloc(n, sizeof(*executable->variable));
	executable->function = calloc(n, sizeof(*executable->function));
	if (!executable->kernel || !executable->variable || !executable->function)
		return -ENOMEM;
	for (size_t i = 1; i < elf->symbol_count && !error; i++) {
		const char *name;
		Elf64_Sym symbol = elf_symbol(elf, i, &name);
		size_t length;

		if (elf_is_kernel(&symbol, name, &length)) {
			error = take_kernel(executable, &executable->kernel[executable->kernels++], &symbol,
					    name, length);
		} else if (is_variable(elf, &symbol)) {
			error = take_symbol(executable, &executable->variable[executable->variables++],
					    &symbol, name, strlen(name));
		} else if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF) {
			error = take_symbol(executable, &executable->function[executable->functions++],
					    &symbol, name, strlen(name));
		}
	}
	return error;
}

static void symbols_free(struct loaded_symbol *symbols, size_t n)
{
	for (size_t i = 0; symbols && i < n; i++) {
		if (symbols[i].descriptor) {
			symbols[i].descriptor->kernel.magic = 0;
			handle_free(&descriptors, &symbols[i].descriptor->handle);
		}
		free(symbols[i].name);
	}
	free(symbols);
}

/* Frees what the process has of it. */
static void executable_free(struct tutti_executable *executable)
{
	symbols_free(executable->kernel, executable->kernels);
	symbols_free(executable->variable, executable->variables);
	symbols_free(executable->function, executable->functions);
	free(executable->file.data);
	handle_free(&pool, &executable->handle);
}

static void name_in_trace(const struct tutti_executable *executable)
{
	for (size_t i = 0; i < executable->kernels; i++) {
		const struct loaded_symbol *kernel = &executable->kernel[i];

		trace_kernel(executable->device,
			     kernel->address + (uint64_t)kernel->descriptor->kernel.entry_offset, kernel->name);
	}
}

static void list(struct tutti_executable *executable)
{
	struct tutti_device *device = executable->device;

	pthread_mutex_lock(&device->lock);
	executable->next = device->executables;
	device->executables = executable;
	pthread_mutex_unlock(&device->lock);
}

static void unlist(struct tutti_executable *executable)
{
	struct tutti_executable **at;

	pthread_mutex_lock(&executable->device->lock);
	for (at = &executable->device->executables; *at && *at != executable;)
		at = &(*at)->next;
	if (*at)
		*at = executable->next;
	pthread_mutex_unlock(&executable->device->lock);
}

/* Frees what the card has of it. */
static void unload(struct tutti_executable *executable)
{
	struct tutti_device *device = executable->device;
	uint8_t *start;
	size_t bytes;

	unlist(executable);
	for (unsigned i = 0; i < executable->mapped; i++) {
		segment_pages(executable, i, &start, &bytes);
		device->transport->unmap(device, start, bytes);
	}
	if (executable->mapped)
		device->transport->code_invalidate(device, executable->base, executable->image_bytes);
	if (executable->base)
		memory_code_free(device, executable->base);
}

int tutti_executable_destroy(struct tutti_executable *executable)
{
	CALL_SCOPE(call);

	if (!executable)
		return 0;
	call_begin_owner(&call, &executable->handle);
	if (!handle_end(&executable->handle))
		return -EINVAL;
	if (call.owner)
		unload(executable);
	executable_free(executable);
	return 0;
}

static bool externals_ok(const struct tutti_external *externals, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!externals || !externals[i].name)
			return false;
	return true;
}

int tutti_executable_load_with(struct tutti_device *device, const void *file, size_t bytes,
			       const struct tutti_external *externals, size_t count, struct tutti_executable **out,
			       const char **message)
{
	CALL_SCOPE(call);
	struct tutti_executable *executable;
	struct elf_object elf;
	int error;

	if (!device_call(&call, device) || !file || !out || !externals_ok(externals, count))
		return -EINVAL;
	error = elf_open_with(&elf, file, bytes, device->known.contract_max, externals, count, message);
	if (error)
		return error;
	executable = handle_new(&pool, &device->handle);
	error = -ENOMEM;
	if (!executable)
		goto close_elf;
	executable->device = device;
	executable->image_bytes = elf.image_bytes;
	executable->segments = elf.segments;
	memcpy(executable->segment, elf.segment, sizeof(elf.segment));
	executable->base = memory_code_alloc(device, elf.image_bytes);
	error = -ENOSPC;
	if (!executable->base)
		goto destroy;
	copy_image(executable, &elf);
	error = take_symbols(executable, &elf);
	if (!error)
		error = keep_file(executable, &elf);
	if (!error)
		error = map_segments(executable);
	/* The pages may have held another code object before, of which the card still caches something. */
	if (!error)
		error = device->transport->code_invalidate(device, executable->base, executable->image_bytes);
	if (error)
		goto destroy;
	elf_close(&elf);
	name_in_trace(executable);
	list(executable);
	*out = executable;
	return 0;
destroy:
	unload(executable);
	executable_free(executable);
close_elf:
	elf_close(&elf);
	if (message)
		*message = error == -ENOSPC ? "no card memory left for code" : tutti_strerror(error);
	return error;
}

int tutti_executable_load(struct tutti_device *device, const void *file, size_t bytes,
			  struct tutti_executable **executable, const char **message)
{
	int error = tutti_executable_load_with(device, file, bytes, NULL, 0, executable, message);

	return error == -ENOLINK ? -ENOEXEC : error;
}

int tutti_executable_load_file(struct tutti_device *device, const char *path,
			       struct tutti_executable **executable, const char **message)
{
	CALL_SCOPE(call);
	FILE *file;
	size_t bytes = 0, room = 1 << 16;
	uint8_t *data = NULL, *grown;
	int error;

	if (!device_call(&call, device) || !path || !executable)
		return -EINVAL;
	file = fopen(path, "re");
	error = file ? 0 : -errno;
	while (file) {
		grown = realloc(data, room);
		if (!grown) {
			error = -ENOMEM;
			break;
		}
		data = grown;
		bytes += fread(data + bytes, 1, room - bytes, file);
		if (bytes < room)
			break;
		room *= 2;
		if (room > 2 * (size_t)ELF_IMAGE_MAX) {
			error = -EFBIG;
			break;
		}
	}
	if (file && ferror(file))
		error = -EIO;
	if (file)
		fclose(file);
	if (error && message)
		*message = strerror(-error); /* of the file */
	if (!error)
		error = tutti_executable_load(device, data, bytes, executable, message);
	free(data);
	return error;
}

static void fill_kernel(const struct tutti_executable *executable, size_t i, struct tutti_kernel *kernel)
{
	const struct tutti_kernel_descriptor *descriptor = &executable->kernel[i].descriptor->kernel;

	*kernel = (struct tutti_kernel){
	    .object = executable->kernel[i].address,
	    .kernarg_bytes = descriptor->kernarg_bytes,
	    .kernarg_align = descriptor->kernarg_align,
	    .group_bytes = descriptor->group_bytes,
	    .private_bytes = descriptor->private_bytes,
	    .descriptor = descriptor,
	};
}

static const struct loaded_symbol *find(const struct loaded_symbol *symbols, size_t n, const char *name,
					size_t length)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(symbols[i].name, name, length) && !symbols[i].name[length])
			return &symbols[i];
	return NULL;
}

/* "foo", "foo.kd" and "&foo" name the same kernel. */
static const struct loaded_symbol *find_kernel(const struct tutti_executable *executable, const char *name)
{
	size_t length;

	if (*name == '&')
		name++;
	length = strlen(name);
	if (length > 3 && !strcmp(name + length - 3, ".kd"))
		length -= 3;
	return find(executable->kernel, executable->kernels, name, length);
}

int tutti_executable_kernel(struct tutti_executable *executable, const char *name,
			    struct tutti_kernel *kernel)
{
	CALL_SCOPE(call);
	const struct loaded_symbol *found;

	if (!executable_call(&call, executable) || !name || !kernel)
		return -EINVAL;
	found = find_kernel(executable, name);
	if (!found)
		return -ENOENT;
	fill_kernel(executable, (size_t)(found - executable->kernel), kernel);
	return 0;
}

int tutti_executable_arguments(struct tutti_executable *executable, const char *name,
			       int (*visit)(const struct tutti_argument *argument, void *context), void *context)
{
	CALL_SCOPE(call);
	const struct loaded_symbol *found;

	if (!executable_call(&call, executable) || !name || !visit)
		return -EINVAL;
	found = find_kernel(executable, name);
	return found ? debug_arguments(&executable->file, found->name, visit, context) : -ENOENT;
}

int tutti_executable_variable(struct tutti_executable *executable, const char *name, void **address,
			      size_t *bytes)
{
	CALL_SCOPE(call);
	const struct loaded_symbol *found;

	if (!executable_call(&call, executable) || !name)
		return -EINVAL;
	found = find(executable->variable, executable->variables, name, strlen(name));
	if (!found)
		return -ENOENT;
	if (address)
		*address = (void *)(uintptr_t)found->address;
	if (bytes)
		*bytes = found->bytes;
	return 0;
}

int tutti_executable_iterate(struct tutti_executable *executable,
			     int (*visit)(const char *name, const struct tutti_kernel *kernel, void *context),
			     void *context)
{
	CALL_SCOPE(call);

	if (!executable_call(&call, executable) || !visit)
		return -EINVAL;
	for (size_t i = 0; i < executable->kernels; i++) {
		struct tutti_kernel kernel;
		int result;

		fill_kernel(executable, i, &kernel);
		result = visit(executable->kernel[i].name, &kernel, context);
		if (result)
			return result;
	}
	return 0;
}

static int visit_symbols(const struct loaded_symbol *symbols, size_t n, enum tutti_symbol_kind kind,
			 int (*visit)(const struct tutti_symbol *symbol, void *context), void *context)
{
	int result = 0;

	for (size_t i = 0; i < n && !result; i++) {
		const struct tutti_symbol symbol = {
		    .name = symbols[i].name,
		    .kind = kind,
		    .writable = symbols[i].writable,
		    .global = symbols[i].global,
		    .address = symbols[i].address,
		    .bytes = symbols[i].bytes,
		};

		result = visit(&symbol, context);
	}
	return result;
}

int tutti_executable_symbols(struct tutti_executable *executable,
			     int (*visit)(const struct tutti_symbol *symbol, void *context), void *context)
{
	CALL_SCOPE(call);
	int result;

	if (!executable_call(&call, executable) || !visit)
		return -EINVAL;
	result = visit_symbols(executable->kernel, executable->kernels, TUTTI_SYMBOL_KERNEL, visit, context);
	if (result)
		return result;
	return visit_symbols(executable->variable, executable->variables, TUTTI_SYMBOL_VARIABLE, visit, context);
}

/* The symbol that holds @address, or begins there if its size is not known. The caller holds device->lock. */
static const struct loaded_symbol *symbol_at(const struct loaded_symbol *symbols, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (address - symbols[i].address < (symbols[i].bytes ? symbols[i].bytes : 1))
			return &symbols[i];
	return NULL;
}

bool code_kernel_name(struct tutti_device *device, uint64_t object, char name[CODE_NAME_BYTES])
{
	const struct loaded_symbol *found = NULL;

	pthread_mutex_lock(&device->lock);
	for (const struct tutti_executable *e = device->executables; e && !found; e = e->next)
		found = symbol_at(e->kernel, e->kernels, object);
	if (found)
		snprintf(name, CODE_NAME_BYTES, "%s", found->name);
	pthread_mutex_unlock(&device->lock);
	return found;
}

bool code_function_name(struct tutti_device *device, uint64_t pc, char name[CODE_NAME_BYTES], uint64_t *offset)
{
	const struct loaded_symbol *found = NULL;

	pthread_mutex_lock(&device->lock);
	for (const struct tutti_executable *e = device->executables; e && !found; e = e->next)
		found = symbol_at(e->function, e->functions, pc);
	if (found) {
		snprintf(name, CODE_NAME_BYTES, "%s", found->name);
		*offset = pc - found->address;
	}
	pthread_mutex_unlock(&device->lock);
	return found;
}

/* Debug information is read without the lock, while the executable cannot go. */
bool code_line(struct tutti_device *device, uint64_t pc, char text[CODE_LINE_BYTES])
{
	CALL_SCOPE(call);
	struct tutti_executable *e;

	pthread_mutex_lock(&device->lock);
	for (e = device->executables; e; e = e->next)
		if (pc - (uintptr_t)e->base < e->image_bytes)
			break;
	if (e && !executable_call(&call, e))
		e = NULL;
	pthread_mutex_unlock(&device->lock);
	return e && debug_line(&e->file, pc - (uintptr_t)e->base, text, CODE_LINE_BYTES);
}
