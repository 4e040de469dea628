/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "tool.h"

static const struct argument_type types[] = {
	{ "i8", KIND_SIGNED, 1 },   { "u8", KIND_UNSIGNED, 1 },	 { "i16", KIND_SIGNED, 2 }, { "u16", KIND_UNSIGNED, 2 },
	{ "i32", KIND_SIGNED, 4 },  { "u32", KIND_UNSIGNED, 4 }, { "i64", KIND_SIGNED, 8 }, { "u64", KIND_UNSIGNED, 8 },
	{ "f32", KIND_FLOAT, 4 },   { "f64", KIND_FLOAT, 8 },
};

static const struct argument_type *type_find(const char *text, size_t length)
{
	for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++)
		if (strlen(types[t].name) == length && !memcmp(types[t].name, text, length))
			return &types[t];
	return NULL;
}

static bool integer_fits(const struct argument_type *type, uint64_t integer)
{
	unsigned unused = 64 - 8 * type->bytes;

	if (type->kind == KIND_SIGNED)
		return (int64_t)(integer << unused) >> unused == (int64_t)integer;
	return integer << unused >> unused == integer;
}

static int integer_store(const struct argument_type *type, const char *text, void *to)
{
	bool negative = *text == '-' && type->kind == KIND_SIGNED;
	uint64_t most = type->kind == KIND_SIGNED ? (uint64_t)INT64_MAX + negative : UINT64_MAX, integer;

	if (!number_read(text + negative, most, &integer))
		return -EINVAL;
	if (negative)
		integer = -integer;
	if (!integer_fits(type, integer))
		return -EINVAL;
	memcpy(to, &integer, type->bytes);
	return 0;
}

/* Infinity and NaN are numbers for a kernel. */
static int real_store(const struct argument_type *type, const char *text, void *to)
{
	char *end;
	double real;
	float narrow;

	errno = 0;
	real = strtod(text, &end);
	if (end == text || *end || errno)
		return -EINVAL;
	narrow = (float)real;
	memcpy(to, type->bytes == 8 ? (const void *)&real : &narrow, type->bytes);
	return 0;
}

/* Number in @text as @type at @to. */
static int value_store(const struct argument_type *type, const char *text, void *to)
{
	return type->kind == KIND_FLOAT ? real_store(type, text, to) : integer_store(type, text, to);
}

static void number_store(const struct argument_type *type, uint64_t number, void *to)
{
	float narrow = (float)number;
	double real = (double)number;

	if (type->kind != KIND_FLOAT)
		memcpy(to, &number, type->bytes);
	else
		memcpy(to, type->bytes == 8 ? (const void *)&real : &narrow, type->bytes);
}

/* Number before ']' in @text, and what follows that; NULL if there is none. */
static const char *count_read(const char *text, uint64_t *count)
{
	size_t length = strcspn(text, "]");
	char number[24];

	if (length >= sizeof(number) || !text[length])
		return NULL;
	memcpy(number, text, length);
	number[length] = 0;
	return number_read(number, 1ull << 40, count) && *count ? text + length + 1 : NULL;
}

int arguments_add(struct arguments *arguments, const char *text)
{
	struct argument *argument = &arguments->item[arguments->count];
	size_t length = strcspn(text, "[=");
	uint64_t scratch;

	if (arguments->count == ARGUMENTS_MAX)
		return -EINVAL;
	argument->type = type_find(text, length);
	if (!argument->type)
		return -EINVAL;
	text += length;
	if (*text == '[') {
		text = count_read(text + 1, &argument->count);
		if (!text)
			return -EINVAL;
	}
	argument->how = *text == '=' ? text + 1 : NULL;
	if ((*text && !argument->how) || (!argument->count && !argument->how))
		return -EINVAL;
	if (!argument->count && value_store(argument->type, argument->how, &scratch))
		return -EINVAL;
	arguments->count++;
	return 0;
}

static int fill_file(const struct argument *argument, const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t want = argument->count * argument->type->bytes, got;
	int error = file ? 0 : -errno;

	if (error) {
		fprintf(stderr, "tutti run: %s: %s\n", path, strerror(-error));
		return error;
	}
	got = fread(argument->buffer, 1, want, file);
	fclose(file);
	if (got < want)
		fprintf(stderr, "tutti run: %s has %zu bytes, the rest of %zu stays zero\n", path, got, want);
	return 0;
}

static int fill(const struct argument *argument)
{
	const unsigned bytes = argument->type->bytes;
	uint64_t random = 88172645463325252ull;
	char *to = argument->buffer;

	if (!argument->how)
		return 0;
	if (*argument->how == '@')
		return fill_file(argument, argument->how + 1);
	for (uint64_t i = 0; i < argument->count; i++, to += bytes) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		if (!strcmp(argument->how, "iota"))
			number_store(argument->type, i, to);
		else if (!strcmp(argument->how, "random"))
			number_store(argument->type, random >> 40, to);
		else if (value_store(argument->type, argument->how, to))
			return -EINVAL;
	}
	return 0;
}

static int place_one(struct arguments *arguments, struct argument *argument, struct tutti_device *device)
{
	const unsigned bytes = argument->count ? 8 : argument->type->bytes;
	unsigned at = (arguments->bytes + bytes - 1) / bytes * bytes;
	int error;

	arguments->bytes = at + bytes;
	if (!argument->count)
		return value_store(argument->type, argument->how, (char *)arguments->kernarg + at);
	error = tutti_memory_alloc(device, TUTTI_MEMORY_CARD, argument->count * argument->type->bytes,
				   &argument->buffer);
	if (error)
		return error;
	memcpy((char *)arguments->kernarg + at, &argument->buffer, 8);
	return fill(argument);
}

int arguments_place(struct arguments *arguments, struct tutti_device *device, uint32_t bytes)
{
	uint32_t most = arguments->count * 16;
	int error = tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, (bytes > most ? bytes : most) + 16,
				       &arguments->kernarg);

	for (unsigned a = 0; a < arguments->count && !error; a++)
		error = place_one(arguments, &arguments->item[a], device);
	/* the end of a C struct is padded as its widest member asks for */
	if (arguments->bytes < bytes && bytes - arguments->bytes < 8)
		arguments->bytes = bytes;
	return error;
}

void arguments_fini(struct arguments *arguments, struct tutti_device *device)
{
	for (unsigned a = 0; a < arguments->count; a++)
		tutti_memory_free(device, arguments->item[a].buffer);
	tutti_memory_free(device, arguments->kernarg);
}

static void value_print(const struct argument_type *type, const char *at)
{
	uint64_t integer = 0;
	double real;
	float narrow;

	memcpy(&integer, at, type->bytes);
	memcpy(&narrow, at, sizeof(narrow) < type->bytes ? sizeof(narrow) : type->bytes);
	memcpy(&real, &integer, sizeof(real));
	if (type->kind == KIND_FLOAT)
		printf(" %.9g", type->bytes == 8 ? real : (double)narrow);
	else if (type->kind == KIND_SIGNED)
		printf(" %lld", (long long)(integer << (64 - 8 * type->bytes)) >> (64 - 8 * type->bytes));
	else
		printf(" %llu", (unsigned long long)integer);
}

void argument_print(const struct argument *argument, unsigned index, unsigned count)
{
	const char *at = argument->buffer;

	printf("arg %u, %s[%llu]:", index, argument->type->name, (unsigned long long)argument->count);
	for (uint64_t i = 0; i < argument->count && i < count; i++)
		value_print(argument->type, at + i * argument->type->bytes);
	printf(argument->count > count ? " ...\n" : "\n");
}
