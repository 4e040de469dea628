// SPDX-License-Identifier: MIT
#include "hsa/extension/module.h"

#include <stdint.h>
#include <string.h>

/* BRIG, HSA Programmer's Reference Manual 1.2, chapter 18; its own header is C++ only. */
#define IDENTIFICATION	 "HSA BRIG"
#define SECTION_CODE	 1u
#define DIRECTIVE_MODULE 0x100bu

struct module_header {
	char identification[8];
	uint32_t major, minor;
	uint64_t bytes;
	uint8_t hash[64];
	uint32_t reserved;
	uint32_t sections;
	uint64_t section_index; /* where the table of the sections' offsets lies */
};

struct section_header {
	uint64_t bytes;
	uint32_t header_bytes;
	uint32_t name_length;
};

/* First entry of the code section. */
struct module_directive {
	uint16_t bytes, kind;
	uint32_t name, major, minor;
	uint8_t profile, machine_model, rounding, reserved;
};

/* Copies @bytes at @offset, or returns false if they are not all inside. */
static bool take(const struct module *module, uint64_t offset, void *to, size_t bytes)
{
	if (offset > module->bytes || bytes > module->bytes - offset)
		return false;
	memcpy(to, (const char *)module->start + offset, bytes);
	return true;
}

bool module_read(const void *start, struct module *module)
{
	struct module_header header;
	struct section_header section;
	struct module_directive directive;
	uint64_t code;

	memcpy(&header, start, sizeof(header));
	if (memcmp(header.identification, IDENTIFICATION, sizeof(header.identification)) || header.major != 1 ||
	    header.bytes < sizeof(header) || header.sections <= SECTION_CODE)
		return false;
	*module = (struct module){.start = start, .bytes = header.bytes};
	if (header.section_index > header.bytes ||
	    !take(module, header.section_index + SECTION_CODE * sizeof(code), &code, sizeof(code)) ||
	    !take(module, code, &section, sizeof(section)) ||
	    !take(module, code + section.header_bytes, &directive, sizeof(directive)))
		return false;
	module->machine_model = directive.machine_model;
	module->profile = directive.profile;
	return directive.kind == DIRECTIVE_MODULE && directive.machine_model <= HSA_MACHINE_MODEL_LARGE &&
	       directive.profile <= HSA_PROFILE_FULL;
}
