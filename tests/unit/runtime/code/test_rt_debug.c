/* SPDX-License-Identifier: MIT */
/* link: -Wl,--no-as-needed -ldw */
/*
 * Arguments of kernels and lines of code, from the debug information of this very program (SYS-58). It is linked with libdw,
 * since the search for leaks does not bear libraries that are opened later.
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "code/debug.h"

enum color { RED, GREEN };
union either {
	int whole;
	float real;
};
struct node;
typedef const volatile uint16_t flags_t;

struct arguments {
	struct node *next;
	const union either *either;
	enum color color;
	volatile int stop;
	void *any;
	const void *source;
	float matrix[3][4];
	const char *const *names;
	flags_t flags;
	long double wide;
	int *const volatile *const volatile *twice;
	bool last;
};

#define KERNEL __attribute__((noinline, used, externally_visible))

KERNEL void many_arguments(const struct arguments *a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

typedef union either *either_pointer;

KERNEL void of_a_union(const either_pointer a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

KERNEL void of_no_structure(const double *a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

KERNEL void of_nothing(void *a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

#define LONG_NAME a_name_that_is_longer_than_any_buffer_for_it_since_it_repeats_itself_again_and_again_until_it_has_three_hundred_characters_a_name_that_is_longer_than_any_buffer_for_it_since_it_repeats_itself_again_and_again_until_it_has_three_hundred_characters_a_name_that_is_longer_than_any_buffer_for_it_since
struct LONG_NAME;

KERNEL void of_a_long_name(struct LONG_NAME *const *a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

KERNEL void no_pointer(long a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

KERNEL void no_argument(void)
{
	int local = 0;

	__asm__ volatile("" : : "r"(&local) : "memory");
}

/* A chain of typedefs: name15 is the sixteenth name of the pointer type, and name16 is one more. */
typedef const struct arguments *name0;
typedef name0 name1;
typedef name1 name2;
typedef name2 name3;
typedef name3 name4;
typedef name4 name5;
typedef name5 name6;
typedef name6 name7;
typedef name7 name8;
typedef name8 name9;
typedef name9 name10;
typedef name10 name11;
typedef name11 name12;
typedef name12 name13;
typedef name13 name14;
typedef name14 name15;
typedef name15 name16;

KERNEL void of_sixteen_names(name15 a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

KERNEL void of_more_names(name16 a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

#define FIFTEEN *************** /* pointers */

KERNEL void of_fifteen_pointers(int FIFTEEN *a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

KERNEL void of_sixteen_pointers(int FIFTEEN **a)
{
	__asm__ volatile("" : : "r"(a) : "memory");
}

static struct debug_file file;

static int read_itself(void **state)
{
	FILE *self = fopen("/proc/self/exe", "re");
	size_t room = 64u << 20;

	file.data = malloc(room);
	file.bytes = fread(file.data, 1, room, self);
	fclose(self);
	file.data = realloc(file.data, file.bytes);
	return 0;
}

static int free_itself(void **state)
{
	free(file.data);
	return 0;
}

static struct {
	char name[32], type[64];
	uint32_t offset, bytes;
} told[16];
static unsigned n, stop_at;
static size_t type_length;

static int note(const struct tutti_argument *argument, void *context)
{
	assert_ptr_equal(context, &n);
	assert_true(n < 16);
	snprintf(told[n].name, sizeof(told[n].name), "%s", argument->name);
	snprintf(told[n].type, sizeof(told[n].type), "%s", argument->type);
	type_length = strlen(argument->type);
	told[n].offset = argument->offset;
	told[n].bytes = argument->bytes;
	return ++n == stop_at ? 77 : 0;
}

static int ask(const char *kernel)
{
	n = 0;
	return debug_arguments(&file, kernel, note, &n);
}

static void arguments(void **state)
{
#define ROW(type, member)                                                                                              \
	{                                                                                                              \
#member, type, offsetof(struct arguments, member), sizeof(((struct arguments *)0)->member)             \
	}
	static const struct {
		const char *name, *type;
		size_t offset, bytes;
	} rows[] = {
	    ROW("struct node *", next), ROW("const union either *", either),
	    ROW("enum color", color),	ROW("volatile int", stop),
	    ROW("void *", any),		ROW("const void *", source),
	    ROW("float[]", matrix),	ROW("const char * const *", names),
	    ROW("flags_t", flags),	ROW("long double", wide),
	    ROW("int * const volatile * const volatile *", twice),	ROW("_Bool", last),
	};
	const unsigned all = sizeof(rows) / sizeof(*rows);

	assert_int_equal(ask("many_arguments"), 0);
	assert_int_equal(n, all);
	for (unsigned i = 0; i < all; i++) {
		assert_string_equal(told[i].name, rows[i].name);
		assert_string_equal(told[i].type, rows[i].type);
		assert_int_equal(told[i].offset, rows[i].offset);
		assert_int_equal(told[i].bytes, rows[i].bytes);
	}
	for (stop_at = 1; stop_at <= all; stop_at++) {
		assert_int_equal(ask("many_arguments"), 77);
		assert_int_equal(n, stop_at);
	}
	stop_at = 0;
}

/* The parameter of a kernel need not point to a structure, and need not be there. */
static void other_parameters(void **state)
{
	assert_int_equal(ask("of_a_union"), 0);
	assert_int_equal(n, 2);
	assert_string_equal(told[1].type, "float");
	assert_int_equal(told[1].offset, 0);
	assert_int_equal(ask("of_no_structure"), 0);
	assert_int_equal(n, 1);
	assert_string_equal(told[0].type, "const double");
	assert_int_equal(told[0].bytes, 8);
	assert_string_equal(told[0].name, "");
	assert_int_equal(ask("of_a_long_name"), 0);
	assert_int_equal(type_length, 255); /* what there is room for */
	assert_memory_equal(told[0].type, "struct a_name_that", 18);
	assert_int_equal(ask("of_nothing"), -ENODATA);
	assert_int_equal(ask("no_pointer"), -ENODATA);
	assert_int_equal(ask("no_argument"), -ENODATA);
	assert_int_equal(ask("no_such_function"), -ENODATA);
	assert_int_equal(n, 0);
}

/* Nested types are followed 16 levels deep and no deeper, since a damaged file may nest them without end. */
static void deeply_nested(void **state)
{
	assert_int_equal(ask("of_sixteen_names"), 0);
	assert_string_equal(told[0].name, "next");
	assert_int_equal(ask("of_more_names"), -ENODATA);
	assert_int_equal(ask("of_fifteen_pointers"), 0);
	assert_string_equal(told[0].type, "int * * * * * * * * * * * * * * *");
	assert_int_equal(ask("of_sixteen_pointers"), 0);
	assert_string_equal(told[0].type, " * * * * * * * * * * * * * * * *");
}

/* Where the program was linked to lie. */
static uint64_t linked(const void *address)
{
	extern const char start[] __asm__("__executable_start");

	return (uintptr_t)address - (((const Elf64_Ehdr *)file.data)->e_type == ET_DYN ? (uintptr_t)start : 0);
}

static void lines(void **state)
{
	char text[256], small[8];
	uint64_t address = linked((const void *)no_argument);
	const char *end;

	assert_true(debug_line(&file, address, text, sizeof(text)));
	end = strstr(text, "code/test_rt_debug.c:");
	assert_non_null(end);
	assert_in_range(atoi(strchr(end, ':') + 1), 40, __LINE__);
	assert_int_not_equal(strncmp(text, "./", 2), 0);
	assert_true(debug_line(&file, address, small, sizeof(small)));
	assert_int_equal(strlen(small), sizeof(small) - 1);
	assert_memory_equal(small, text, sizeof(small) - 1);
	assert_false(debug_line(&file, 1, text, sizeof(text)));
	assert_false(debug_line(&file, UINT64_MAX, text, sizeof(text)));
}

/* Files without debug information, or none at all. */
static void nothing_known(void **state)
{
	struct debug_file keep = file;
	char text[64], garbage[100] = "no ELF file";
	Elf64_Ehdr bare = *(const Elf64_Ehdr *)file.data;

	file = (struct debug_file){0};
	assert_int_equal(ask("many_arguments"), -ENODATA);
	assert_false(debug_line(&file, 0, text, sizeof(text)));
	file = (struct debug_file){.data = (void *)garbage, .bytes = sizeof(garbage)};
	assert_int_equal(ask("many_arguments"), -ENODATA);
	assert_false(debug_line(&file, 0, text, sizeof(text)));
	bare.e_shnum = bare.e_phnum = bare.e_shstrndx = 0;
	bare.e_shoff = bare.e_phoff = 0;
	file = (struct debug_file){.data = (void *)&bare, .bytes = sizeof(bare)};
	assert_int_equal(ask("many_arguments"), -ENODATA);
	assert_false(debug_line(&file, 0, text, sizeof(text)));
	file = keep;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(arguments), cmocka_unit_test(other_parameters),
					   cmocka_unit_test(deeply_nested),
					   cmocka_unit_test(lines), cmocka_unit_test(nothing_known)};

	return cmocka_run_group_tests_name("SYS-58 debug information", tests, read_itself, free_itself);
}
