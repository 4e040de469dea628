/* SPDX-License-Identifier: MIT */
/** DOC: Checks that the code object made by hand is accepted or refused; cmocka.h must be included before */
#ifndef ELF_VERDICT_H
#define ELF_VERDICT_H

#include <errno.h>
#include <stdlib.h>

#include "code/elf_object.h"

/*
 * Opens a copy of the object in a block of exactly its size, so that a sanitizer sees any access behind its end. Return:
 * the error of elf_open_with(), or 0
 */
__attribute__((unused)) static int check(const char **message)
{
	struct elf_object elf;
	uint8_t *copy = malloc(bytes ? bytes : 1);
	const char *ignored;
	int error, unlinked;

	memcpy(copy, &o, bytes);
	error = elf_open_with(&elf, copy, bytes, TUTTI_CONTRACT_VERSION, NULL, 0, message);
	if (!error) {
		for (size_t i = 0; i < elf.relocations; i++) {
			const struct elf_segment *s = elf_segment_of(&elf, elf.relocation[i].address, 8);

			assert_non_null(s);
			assert_true(elf.relocation[i].address + 8 <= elf.image_bytes);
		}
		for (unsigned i = 0; i < elf.segments; i++) {
			assert_true(elf.segment[i].offset + elf.segment[i].file_bytes <= bytes);
			assert_true(elf.segment[i].address + elf.segment[i].memory_bytes <= elf.image_bytes);
		}
		elf_close(&elf);
	}
	/* elf_open(), which does not load the object, makes the same checks, except that it allows undefined symbols. */
	unlinked = elf_open(&elf, copy, bytes, TUTTI_CONTRACT_VERSION, &ignored);
	assert_true(error ? unlinked == 0 || unlinked == -ENOEXEC : unlinked == 0);
	elf_close(&elf);
	free(copy);
	return error;
}

#define DEFECT(statement, text)                                                                              \
	do {                                                                                                 \
		const char *m = NULL;                                                                        \
		good();                                                                                      \
		assert_int_equal(check(&m), 0);                                                              \
		statement;                                                                                   \
		assert_int_equal(check(&m), -ENOEXEC);                                                       \
		if (!strstr(m, text))                                                                        \
			fail_msg("%s: said '%s'", #statement, m);                                            \
	} while (0)

static struct elf_object elf __attribute__((unused)); /* what was found in the object that was opened last */

__attribute__((unused)) static void assert_good(void)
{
	const char *message = NULL;
	int error = elf_open_with(&elf, &o, bytes, TUTTI_CONTRACT_VERSION, NULL, 0, &message);

	if (error)
		fail_msg("%d: %s", error, message);
	elf_close(&elf);
	assert_int_equal(check(&message), 0);
}

__attribute__((unused)) static void assert_bad(const char *text)
{
	const char *message = NULL;

	assert_int_equal(check(&message), -ENOEXEC);
	assert_string_equal(message, text);
}

/* The good object is still accepted after this change. */
#define GOOD(change)                                                                                                   \
	do {                                                                                                           \
		good();                                                                                                \
		change;                                                                                                \
		assert_good();                                                                                         \
	} while (0)

/* The good object is refused with this text after this change. */
#define BAD(change, text)                                                                                              \
	do {                                                                                                           \
		good();                                                                                                \
		change;                                                                                                \
		assert_bad(text);                                                                                      \
	} while (0)

#endif
