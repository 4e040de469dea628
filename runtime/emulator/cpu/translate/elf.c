// SPDX-License-Identifier: MIT
/* Code and functions of an ELF file. */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../hash.h"
#include "program.h"

/* ---- sections ---- */

static bool add_code(struct program *program, const GElf_Shdr *header, const Elf_Data *data)
{
	uint64_t end = program->first + program->bytes;
	uint8_t *grown;

	/* Code comes in address order; what lies between two sections is never executed. */
	if (!program->bytes)
		program->first = end = header->sh_addr;
	if (header->sh_addr < end || header->sh_addr - end > 1 << 20)
		return false;
	grown = realloc(program->code, header->sh_addr + data->d_size - program->first);
	if (!grown)
		return false;
	memset(grown + program->bytes, 0, header->sh_addr - end);
	memcpy(grown + (header->sh_addr - program->first), data->d_buf, data->d_size);
	program->code = grown;
	program->bytes = header->sh_addr + data->d_size - program->first;
	return true;
}

/* Words of data that might be addresses of code: jump tables. */
static void add_pointers(struct program *program, const Elf_Data *data)
{
	size_t word = program->xlen / 8;
	uint64_t value = 0, *grown;

	for (size_t at = 0; at + word <= data->d_size; at += word) {
		memcpy(&value, (const uint8_t *)data->d_buf + at, word);
		if (value - program->first >= program->bytes || value & 1)
			continue;
		grown = realloc(program->pointer, (program->pointers + 1) * sizeof(*grown));
		if (!grown) {
			program->lacking = true;
			return;
		}
		program->pointer = grown;
		program->pointer[program->pointers++] = value;
	}
}

static bool read_sections(struct program *program, Elf *elf, bool code)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		const Elf_Data *data = elf_getdata(section, NULL);

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_ALLOC) || !data || !data->d_size)
			continue;
		if (code && header.sh_flags & SHF_EXECINSTR && !add_code(program, &header, data))
			return false;
		if (!code && !(header.sh_flags & SHF_EXECINSTR))
			add_pointers(program, data);
	}
	return true;
}

/* The one segment that holds all the code. Return: false if there are several. */
static bool read_segment(struct program *program, Elf *elf)
{
	size_t bytes, n = 0;
	const uint8_t *raw = (const uint8_t *)elf_rawfile(elf, &bytes);
	GElf_Phdr header;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; raw && i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    program->first - header.p_vaddr >= header.p_filesz)
			continue;
		if (program->first + program->bytes > header.p_vaddr + header.p_filesz || header.p_offset > bytes ||
		    header.p_filesz > bytes - header.p_offset)
			return false;
		program->loaded = header.p_vaddr;
		program->loaded_bytes = header.p_filesz;
		program->hash = cpu_hash(raw + header.p_offset, header.p_filesz);
		return true;
	}
	return false;
}

/* ---- symbols ---- */

static void read_symbols(struct program *program, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
			if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC) {
				const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

				program_add(program, symbol.st_value, name ? name : "");
			}
	}
}

/* ---- all of it ---- */

static bool read_elf(struct program *program, Elf *elf)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_RISCV)
		return false;
	program->xlen = header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	if (!read_sections(program, elf, true) || !program->bytes || !read_segment(program, elf))
		return false;
	read_sections(program, elf, false);
	read_symbols(program, elf);
	program_add(program, program->first, "");
	return program_order(program);
}

bool program_load(struct program *program, const char *path)
{
	int file = open(path, O_RDONLY);
	bool good = false;
	Elf *elf;

	*program = (struct program){0};
	if (file < 0) {
		perror(path);
		return false;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ, NULL);
	if (elf)
		good = read_elf(program, elf);
	if (!good)
		fprintf(stderr, "%s: %s\n", path, program->lacking ? "not enough memory"
							       : "not a RISC-V program that can be translated");
	elf_end(elf);
	close(file);
	return good;
}
