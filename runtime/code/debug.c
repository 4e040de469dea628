// SPDX-License-Identifier: MIT
#include "code/debug.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define TYPE_BYTES 256u
#define TYPE_DEPTH 16u /* of pointers to constants of arrays ... */

#define FUNCTIONS(X)                                                                                                   \
	X(elf_version)                                                                                                 \
	X(elf_memory) X(elf_end) X(dwarf_begin_elf) X(dwarf_end) X(dwarf_nextcu) X(dwarf_offdie) X(dwarf_haspc)        \
	    X(dwarf_getsrc_die) X(dwarf_linesrc) X(dwarf_lineno) X(dwarf_getfuncs) X(dwarf_diename) X(dwarf_tag)       \
		X(dwarf_child) X(dwarf_siblingof) X(dwarf_attr_integrate) X(dwarf_formref_die) X(dwarf_formudata)      \
		    X(dwarf_aggregate_size)

/* The functions of libdw and libelf that are used here, by their names. */
static struct {
	bool complete;
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
} dw;

static void open_library(void)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	dw.complete = true;
#define X(name)                                                                                                        \
	dw.name = (__typeof__(dw.name))dlsym(library, #name);                                                          \
	dw.complete &= dw.name != NULL;
	FUNCTIONS(X)
#undef X
}

static bool has_library(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_library);
	return dw.complete && dw.elf_version(EV_CURRENT) != EV_NONE;
}

struct opened {
	Elf *elf;
	Dwarf *dwarf;
};

static bool open_file(struct opened *opened, const struct debug_file *file)
{
	*opened = (struct opened){0};
	if (!file->data)
		return false;
	opened->elf = dw.elf_memory(file->data, file->bytes);
	opened->dwarf = opened->elf ? dw.dwarf_begin_elf(opened->elf, DWARF_C_READ, NULL) : NULL;
	if (!opened->dwarf && opened->elf)
		dw.elf_end(opened->elf);
	return opened->dwarf;
}

static void close_file(struct opened *opened)
{
	dw.dwarf_end(opened->dwarf);
	dw.elf_end(opened->elf);
}

/* The next compilation unit from *@at on. */
static bool next_unit(Dwarf *dwarf, Dwarf_Off *at, Dwarf_Die *unit)
{
	Dwarf_Off start = *at;
	size_t header;

	return !dw.dwarf_nextcu(dwarf, start, at, &header, NULL, NULL, NULL) &&
	       dw.dwarf_offdie(dwarf, start + header, unit);
}

static bool line_in_unit(Dwarf_Die *unit, uint64_t address, char *text, size_t bytes)
{
	Dwarf_Line *line = dw.dwarf_haspc(unit, address) > 0 ? dw.dwarf_getsrc_die(unit, address) : NULL;
	const char *source = line ? dw.dwarf_linesrc(line, NULL, NULL) : NULL;
	int number;

	if (!source || dw.dwarf_lineno(line, &number))
		return false;
	if (!strncmp(source, "./", 2))
		source += 2;
	snprintf(text, bytes, "%s:%d", source, number);
	return true;
}

bool debug_line(const struct debug_file *file, uint64_t address, char *text, size_t bytes)
{
	struct opened opened;
	Dwarf_Off at = 0;
	Dwarf_Die unit;
	bool found = false;

	if (!has_library() || !open_file(&opened, file))
		return false;
	while (!found && next_unit(opened.dwarf, &at, &unit))
		found = line_in_unit(&unit, address, text, bytes);
	close_file(&opened);
	return found;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dw.dwarf_attr_integrate(die, DW_AT_type, &attribute) && dw.dwarf_formref_die(&attribute, type);
}

static uint64_t number(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dw.dwarf_attr_integrate(die, name, &attribute) || dw.dwarf_formudata(&attribute, &value))
		return otherwise;
	return value;
}

/* Text in front of what a type refers to, and behind it. */
struct words {
	const char *before, *behind;
};

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type;
}

/* Is it a pointer that this type qualifies? */
static bool qualifies_pointer(const Dwarf_Die *type)
{
	Dwarf_Die of = *type;
	int tag = DW_TAG_const_type;

	for (unsigned depth = 0; is_qualifier(tag) && depth < TYPE_DEPTH && type_of(&of, &of); depth++)
		tag = dw.dwarf_tag(&of);
	return tag == DW_TAG_pointer_type;
}

static struct words words_of(Dwarf_Die *type)
{
	switch (dw.dwarf_tag(type)) {
	case DW_TAG_pointer_type:
		return (struct words){"", " *"};
	case DW_TAG_const_type:
		return qualifies_pointer(type) ? (struct words){"", " const"} : (struct words){"const ", ""};
	case DW_TAG_volatile_type:
		return qualifies_pointer(type) ? (struct words){"", " volatile"} : (struct words){"volatile ", ""};
	case DW_TAG_array_type:
		return (struct words){"", "[]"};
	case DW_TAG_structure_type:
		return (struct words){"struct ", NULL};
	case DW_TAG_union_type:
		return (struct words){"union ", NULL};
	case DW_TAG_enumeration_type:
		return (struct words){"enum ", NULL};
	default:
		return (struct words){"", NULL};
	}
}

/* As in a declaration, except that what stands behind the name there stands at the end: "const float *", "int[]". */
static void type_text(Dwarf_Die type, bool known, char *text, size_t bytes)
{
	char behind[TYPE_BYTES] = "", outer[TYPE_BYTES];
	size_t used = 0;

	*text = 0;
	for (unsigned depth = 0; known && depth < TYPE_DEPTH; depth++) {
		struct words words = words_of(&type);
		const char *name = words.behind ? NULL : dw.dwarf_diename(&type);

		used += (size_t)snprintf(text + used, bytes - used, "%s%s", words.before, name ? name : "");
		if (used >= bytes)
			return;
		if (!words.behind)
			break;
		memcpy(outer, behind, sizeof(outer));
		snprintf(behind, sizeof(behind), "%s%.200s", words.behind, outer);
		known = type_of(&type, &type);
		if (!known)
			used += (size_t)snprintf(text + used, bytes - used, "void");
		if (used >= bytes)
			return;
	}
	snprintf(text + used, bytes - used, "%s", behind);
}

static void peel(Dwarf_Die *type)
{
	for (unsigned depth = 0; depth < TYPE_DEPTH; depth++) {
		int tag = dw.dwarf_tag(type);

		if ((tag != DW_TAG_typedef && !is_qualifier(tag)) || !type_of(type, type))
			return;
	}
}

struct search {
	const char *kernel;
	int (*visit)(const struct tutti_argument *argument, void *context);
	void *context;
	int result;
};

static int visit_one(const struct search *search, Dwarf_Die *die, uint64_t offset)
{
	struct tutti_argument argument = {.offset = (uint32_t)offset};
	char text[TYPE_BYTES];
	Dwarf_Die type;
	bool known = type_of(die, &type);
	Dwarf_Word bytes = 0;

	type_text(type, known, text, sizeof(text));
	if (known && !dw.dwarf_aggregate_size(&type, &bytes))
		argument.bytes = (uint32_t)bytes;
	argument.name = dw.dwarf_diename(die);
	argument.name = argument.name ? argument.name : "";
	argument.type = text;
	return search->visit(&argument, search->context);
}

static int visit_members(const struct search *search, Dwarf_Die *structure)
{
	Dwarf_Die member;
	int result = 0, more = dw.dwarf_child(structure, &member);

	for (; !more && !result; more = dw.dwarf_siblingof(&member, &member))
		if (dw.dwarf_tag(&member) == DW_TAG_member)
			result = visit_one(search, &member, number(&member, DW_AT_data_member_location, 0));
	return result;
}

/* The parameter of a kernel is a pointer to its arguments, in most cases to a structure. */
static int visit_parameter(const struct search *search, Dwarf_Die *parameter)
{
	Dwarf_Die pointer, type;

	if (!type_of(parameter, &pointer))
		return -ENODATA;
	peel(&pointer);
	if (dw.dwarf_tag(&pointer) != DW_TAG_pointer_type || !type_of(&pointer, &type))
		return -ENODATA;
	peel(&type);
	if (dw.dwarf_tag(&type) == DW_TAG_structure_type || dw.dwarf_tag(&type) == DW_TAG_union_type)
		return visit_members(search, &type);
	return visit_one(search, &pointer, 0);
}

static int each_function(Dwarf_Die *function, void *context)
{
	struct search *search = context;
	const char *name = dw.dwarf_diename(function);
	Dwarf_Die child;

	if (!name || strcmp(name, search->kernel) || dw.dwarf_child(function, &child))
		return DWARF_CB_OK;
	do {
		if (dw.dwarf_tag(&child) == DW_TAG_formal_parameter) {
			search->result = visit_parameter(search, &child);
			return DWARF_CB_ABORT;
		}
	} while (!dw.dwarf_siblingof(&child, &child));
	return DWARF_CB_OK;
}

int debug_arguments(const struct debug_file *file, const char *kernel,
		    int (*visit)(const struct tutti_argument *argument, void *context), void *context)
{
	struct search search = {.kernel = kernel, .visit = visit, .context = context, .result = -ENODATA};
	struct opened opened;
	Dwarf_Off at = 0;
	Dwarf_Die unit;

	if (!has_library())
		return -ENOTSUP;
	if (!open_file(&opened, file))
		return -ENODATA;
	while (next_unit(opened.dwarf, &at, &unit))
		if (dw.dwarf_getfuncs(&unit, each_function, &search, 0))
			break;
	close_file(&opened);
	return search.result;
}
