// SPDX-License-Identifier: MIT
/* Functions and instructions of an ELF file. */
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
		if (!grown)
			abort();
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

/* ---- functions ---- */

static int by_start(const void *a, const void *b)
{
	const struct function *fa = a, *fb = b;

	return fa->start < fb->start ? -1 : fa->start > fb->start;
}

static void add_function(struct program *program, uint64_t start, const char *name)
{
	struct function *grown, *function;

	if (start - program->first >= program->bytes || start & 1)
		return;
	grown = realloc(program->function, (size_t)(program->functions + 1) * sizeof(*grown));
	if (!grown)
		abort();
	program->function = grown;
	function = &grown[program->functions++];
	memset(function, 0, sizeof(*function));
	function->start = start;
	snprintf(function->name, sizeof(function->name), "%s", name);
}

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

				add_function(program, symbol.st_value, name ? name : "");
			}
	}
}

/* By address, each address once, each function up to the next one. */
static void order_functions(struct program *program)
{
	int n = 0;

	qsort(program->function, (size_t)program->functions, sizeof(*program->function), by_start);
	for (int i = 0; i < program->functions; i++)
		if (!n || program->function[i].start != program->function[n - 1].start)
			program->function[n++] = program->function[i];
	program->functions = n;
	for (int i = 0; i < n; i++)
		program->function[i].end =
		    i + 1 < n ? program->function[i + 1].start : program->first + program->bytes;
}

static void decode_function(const struct program *program, struct function *function)
{
	uint64_t pc = function->start, left;

	function->step = calloc((function->end - function->start) / 2 + 1, sizeof(*function->step));
	if (!function->step)
		abort();
	while (pc < function->end) {
		struct step *step = &function->step[function->steps++];
		uint32_t raw = 0;

		left = program->first + program->bytes - pc;
		memcpy(&raw, program->code + (pc - program->first), left < 4 ? left : 4);
		cpu_decode(raw, program->xlen, &step->insn);
		step->pc = pc;
		pc += step->insn.bytes;
	}
}

int program_find(const struct program *program, uint64_t pc)
{
	int low = 0, high = program->functions;

	while (low < high) {
		int middle = (low + high) / 2;

		if (program->function[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && pc < program->function[low - 1].end ? low - 1 : NOWHERE;
}

int function_step(const struct function *function, uint64_t pc)
{
	int low = 0, high = function->steps;

	while (low < high) {
		int middle = (low + high) / 2;

		if (function->step[middle].pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < function->steps && function->step[low].pc == pc ? low : NOWHERE;
}

/* ---- life ---- */

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
	add_function(program, program->first, "");
	order_functions(program);
	for (int i = 0; i < program->functions; i++)
		decode_function(program, &program->function[i]);
	return true;
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
		fprintf(stderr, "%s: not a RISC-V program that can be translated\n", path);
	elf_end(elf);
	close(file);
	return good;
}

void program_fini(struct program *program)
{
	for (int i = 0; i < program->functions; i++)
		free(program->function[i].step);
	free(program->function);
	free(program->pointer);
	free(program->code);
}
