/* SPDX-License-Identifier: MIT */
/* REL-01, SYS-07: any bytes as a code object. */
#include <stdlib.h>

#include "code/elf_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const char *message = NULL, *name;
	struct elf_object elf;
	size_t i, length;

	if (!elf_open_with(&elf, data, bytes, TUTTI_CONTRACT_VERSION, NULL, 0, &message))
		elf_close(&elf);
	if (elf_open(&elf, data, bytes, TUTTI_CONTRACT_VERSION, &message))
		return 0;
	for (i = 0; i < elf.symbol_count; i++) {
		Elf64_Sym symbol = elf_symbol(&elf, i, &name);

		if (elf_is_kernel(&symbol, name, &length) && length > 1000000)
			abort();
	}
	for (i = 0; i < elf.segments; i++)
		if (elf.segment[i].address + elf.segment[i].memory_bytes > elf.image_bytes)
			abort();
	for (i = 0; i < elf.relocations; i++)
		if (elf.relocation[i].address + 8 > elf.image_bytes)
			abort();
	elf_close(&elf);
	return 0;
}
