/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_ELF_H
#define TUTTI_RUNTIME_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "tutti/code_object.h"

#define ELF_SEGMENTS_MAX 16u
#define ELF_IMAGE_MAX	 (256u << 20)

/** struct elf_segment - a PT_LOAD: checked against file, image and its neighbours. */
struct elf_segment {
	uint64_t address, memory_bytes;
	uint64_t offset, file_bytes;
	uint32_t flags; /* PF_* */
};

/** struct elf_relocation - one that the loader has to apply. */
struct elf_relocation {
	uint64_t address;
	uint64_t value; /* offset in the image, to which the image's address is added */
};

/**
 * struct elf_object - a code object that has passed all checks. Points into the file.
 * @symbols, @names: the symbol table; every name is NUL-terminated inside @names
 * @relocations: of the file, decoded; owned
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
	struct elf_relocation *relocation;
	size_t relocations;
};

/**
 * elf_open() - check a code object, every rule of code_object.h.
 * @contract_max: newest contract the card speaks
 * @message: what is wrong; static text, or the calling thread's until its next call
 * Return: 0, -ENOEXEC, -ENOMEM.
 */
int elf_open(struct elf_object *elf, const void *file, size_t bytes, uint32_t contract_max,
	     const char **message);
void elf_close(struct elf_object *elf);
/** elf_symbol() - copy of symbol @i; @name gets its name. */
Elf64_Sym elf_symbol(const struct elf_object *elf, size_t i, const char **name);
/** elf_is_kernel() - symbol is `foo.kd`, a kernel descriptor. @length: of "foo". */
bool elf_is_kernel(const Elf64_Sym *symbol, const char *name, size_t *length);
/** elf_segment_of() - segment that holds [address, + bytes), or NULL. */
const struct elf_segment *elf_segment_of(const struct elf_object *elf, uint64_t address, uint64_t bytes);

#endif
