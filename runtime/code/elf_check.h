/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_ELF_H
#define TUTTI_RUNTIME_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "tutti.h"

#define ELF_SEGMENTS_MAX 16u
#define ELF_IMAGE_MAX	 (256u << 20)

/** struct elf_segment - a PT_LOAD segment, checked against the file, the image and its neighbours. */
struct elf_segment {
	uint64_t address, memory_bytes;
	uint64_t offset, file_bytes;
	uint32_t flags; /* PF_* */
};

/** struct elf_relocation - a relocation that the loader has to apply. */
struct elf_relocation {
	uint64_t address;
	uint64_t value;
	bool absolute; /* @value is an address; else an offset in the image, to which the loader adds the image's address */
};

/**
 * struct elf_object - a code object that has passed all checks. It points into the file, which must outlive it.
 * @symbols, @names: the symbol table; every name is NUL-terminated inside @names
 * @external, @externals: what symbols that the file does not define stand for
 * @relocation, @relocations: the decoded relocations, in memory that elf_close() frees, and how many there are
 */
struct elf_object {
	const uint8_t *file;
	size_t bytes;
	unsigned segments;
	struct elf_segment segment[ELF_SEGMENTS_MAX];
	uint64_t image_bytes;
	const uint8_t *symbols;
	size_t symbol_count;
	const char *names;
	size_t name_bytes;
	const struct tutti_external *external;
	size_t externals;
	struct elf_relocation *relocation;
	size_t relocations;
};

/**
 * elf_open() - check a code object by every rule of code_object.h, for who does not load it: what it leaves undefined stays so.
 * @contract_max: newest contract version the card speaks
 * @message: receives what is wrong, as static text or in a buffer of the calling thread that its next call reuses
 * Return: 0, -ENOEXEC, -ENOMEM.
 */
int elf_open(struct elf_object *elf, const void *file, size_t bytes, uint32_t contract_max,
	     const char **message);
/** elf_open_with() - the same for its loader, with addresses for what it leaves undefined. Also -ENOLINK: one lacks. */
int elf_open_with(struct elf_object *elf, const void *file, size_t bytes, uint32_t contract_max,
		  const struct tutti_external *external, size_t externals, const char **message);
void elf_close(struct elf_object *elf);
/** elf_symbol() - return a copy of symbol @i and store its name in @name. */
Elf64_Sym elf_symbol(const struct elf_object *elf, size_t i, const char **name);
/** elf_is_kernel() - is the symbol a kernel descriptor, named `foo.kd`? @length receives the length of "foo". */
bool elf_is_kernel(const Elf64_Sym *symbol, const char *name, size_t *length);
/** elf_segment_of() - the segment that contains [address, address + bytes), or NULL. */
const struct elf_segment *elf_segment_of(const struct elf_object *elf, uint64_t address, uint64_t bytes);

#endif
