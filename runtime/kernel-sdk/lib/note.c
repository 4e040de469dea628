/* SPDX-License-Identifier: MIT */
/* The note every code object carries: which ISA and contract it was made for. */
#include "tutti/code_object.h"

struct tutti_note {
	uint32_t name_bytes;
	uint32_t description_bytes;
	uint32_t type;
	char name[8];
	struct tutti_code_note note;
};

__attribute__((used, aligned(4), section(".note.tutti"))) static const struct tutti_note tutti_note = {
	.name_bytes = sizeof("TUTTI"),
	.description_bytes = sizeof(struct tutti_code_note),
	.type = TUTTI_CODE_NOTE_TYPE,
	.name = "TUTTI",
	.note = { .contract = TUTTI_CONTRACT_VERSION, .isa = TUTTI_CODE_ISA },
};
