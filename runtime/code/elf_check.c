// SPDX-License-Identifier: MIT
/*
 * Checks of a code object, which may be hostile. All data are copied out of the file by
 * read_at(), which checks the file's end; no pointer into the file is kept before its
 * range is checked; the buffer that holds the file may have any alignment.
 */
#include "code/elf_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tutti/mmu.h"

static _Thread_local char text[160];

struct check {
	struct elf_object *elf;
	Elf64_Ehdr header;
	uint32_t contract_max;
	bool leave_undefined; /* the file is not going to be loaded */
	bool note_seen;
	uint64_t note_bytes; /* of all segments of notes so far */
	const char *message;
};

static int bad(struct check *check, const char *message)
{
	check->message = message;
	return -ENOEXEC;
}

static bool inside(const struct elf_object *elf, uint64_t offset, uint64_t bytes)
{
	return offset <= elf->bytes && bytes <= elf->bytes - offset;
}

static bool read_at(const struct elf_object *elf, uint64_t offset, void *to, size_t bytes)
{
	if (!inside(elf, offset, bytes))
		return false;
	memcpy(to, elf->file + offset, bytes);
	return true;
}

const struct elf_segment *elf_segment_of(const struct elf_object *elf, uint64_t address, uint64_t bytes)
{
	for (unsigned i = 0; i < elf->segments; i++) {
		const struct elf_segment *s = &elf->segment[i];

		if (address >= s->address && address - s->address <= s->memory_bytes &&
		    bytes <= s->memory_bytes - (address - s->address))
			return s;
	}
	return NULL;
}

static int check_header(struct check *check)
{
	Elf64_Ehdr *h = &check->header;

	if (!read_at(check->elf, 0, h, sizeof(*h)) || memcmp(h->e_ident, ELFMAG, SELFMAG))
		return bad(check, "not an ELF file");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return bad(check, "not a 64-bit little-endian ELF file");
	if (h->e_machine != EM_RISCV)
		return bad(check, "not for RISC-V");
	if (h->e_type != ET_DYN)
		return bad(check, "not position-independent (ET_DYN)");
	if (h->e_phentsize != sizeof(Elf64_Phdr) || !h->e_phnum ||
	    !inside(check->elf, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr)))
		return bad(check, "program headers are not inside the file");
	if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum ||
	    !inside(check->elf, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
		return bad(check, "section headers are not inside the file");
	return 0;
}

static uint64_t page_down(uint64_t address)
{
	return address & ~(uint64_t)(TUTTI_PAGE_SIZE - 1);
}

static uint64_t page_up(uint64_t address)
{
	return page_down(address + TUTTI_PAGE_SIZE - 1);
}

static int add_segment(struct check *check, const Elf64_Phdr *p)
{
	struct elf_object *elf = check->elf;

	if (!p->p_memsz)
		return 0;
	if (elf->segments == ELF_SEGMENTS_MAX)
		return bad(check, "too many segments");
	if (p->p_filesz > p->p_memsz || !inside(elf, p->p_offset, p->p_filesz))
		return bad(check, "a segment is not inside the file");
	if (p->p_vaddr >= ELF_IMAGE_MAX || p->p_memsz > ELF_IMAGE_MAX - p->p_vaddr)
		return bad(check, "the image is too large");
	if ((p->p_flags & PF_W) && (p->p_flags & PF_X))
		return bad(check, "a segment is writable and executable");
	for (unsigned i = 0; i < elf->segments; i++) {
		const struct elf_segment *other = &elf->segment[i];

		if (page_down(p->p_vaddr) < page_up(other->address + other->memory_bytes) &&
		    page_down(other->address) < page_up(p->p_vaddr + p->p_memsz))
			return bad(check, "segments overlap or share a page");
	}
	elf->segment[elf->segments++] = (struct elf_segment){
	    .address = p->p_vaddr,
	    .memory_bytes = p->p_memsz,
	    .offset = p->p_offset,
	    .file_bytes = p->p_filesz,
	    .flags = p->p_flags,
	};
	if (page_up(p->p_vaddr + p->p_memsz) > elf->image_bytes)
		elf->image_bytes = page_up(p->p_vaddr + p->p_memsz);
	return 0;
}

static int check_code_note(struct check *check, uint64_t offset, uint32_t bytes)
{
	struct tutti_code_note note;

	if (bytes < sizeof(note) || !read_at(check->elf, offset, &note, sizeof(note)))
		return bad(check, "the TUTTI note is too short");
	if (note.flags)
		return bad(check, "unknown flags in the TUTTI note");
	if (note.isa[sizeof(note.isa) - 1] || strcmp(note.isa, TUTTI_CODE_ISA))
		return bad(check, "made for another ISA");
	if (TUTTI_VERSION_MAJOR(note.contract) != TUTTI_VERSION_MAJOR(TUTTI_CONTRACT_VERSION) ||
	    note.contract > check->contract_max)
		return bad(check, "made for another contract version");
	check->note_seen = true;
	return 0;
}

static int check_notes(struct check *check, const Elf64_Phdr *p)
{
	uint64_t at = p->p_offset, end = p->p_offset + p->p_filesz;

	if (!inside(check->elf, p->p_offset, p->p_filesz))
		return bad(check, "a note is not inside the file");
	check->note_bytes += p->p_filesz;
	if (check->note_bytes > check->elf->bytes) /* overlapping segments could otherwise multiply the work */
		return bad(check, "more notes than bytes");
	while (end - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		uint64_t name, content;
		char owner[6];
		int error = 0;

		read_at(check->elf, at, &n, sizeof(n));
		name = at + sizeof(n);
		content = name + (((uint64_t)n.n_namesz + 3) & ~3ull);
		at = content + (((uint64_t)n.n_descsz + 3) & ~3ull);
		if (content > end || n.n_descsz > end - content)
			return bad(check, "a note is longer than its segment");
		if (n.n_namesz == sizeof(owner) && n.n_type == TUTTI_CODE_NOTE_TYPE &&
		    read_at(check->elf, name, owner, sizeof(owner)) && !memcmp(owner, "TUTTI", sizeof(owner)))
			error = check_code_note(check, content, n.n_descsz);
		if (error)
			return error;
		if (at > end)
			break;
	}
	return 0;
}

static int check_segments(struct check *check)
{
	for (unsigned i = 0; i < check->header.e_phnum; i++) {
		Elf64_Phdr p;
		int error = 0;

		read_at(check->elf, check->header.e_phoff + i * sizeof(p), &p, sizeof(p));
		if (p.p_type == PT_LOAD)
			error = add_segment(check, &p);
		else if (p.p_type == PT_NOTE)
			error = check_notes(check, &p);
		else if (p.p_type == PT_INTERP || (p.p_type == PT_TLS && p.p_memsz))
			error = bad(check, "needs an interpreter or thread-local storage");
		if (error)
			return error;
	}
	if (!check->elf->segments)
		return bad(check, "nothing to load");
	if (!check->note_seen)
		return bad(check, "no TUTTI note: not made by tuttic");
	return 0;
}

static Elf64_Shdr section_at(const struct check *check, unsigned i)
{
	Elf64_Shdr section;

	read_at(check->elf, check->header.e_shoff + i * sizeof(section), &section, sizeof(section));
	return section;
}

static int use_symbols(struct check *check, const Elf64_Shdr *section)
{
	struct elf_object *elf = check->elf;
	Elf64_Shdr names;

	if (section->sh_entsize != sizeof(Elf64_Sym) || !inside(elf, section->sh_offset, section->sh_size))
		return bad(check, "the symbol table is not inside the file");
	if (section->sh_link >= check->header.e_shnum)
		return bad(check, "the symbol table has no names");
	names = section_at(check, section->sh_link);
	if (names.sh_type != SHT_STRTAB || !names.sh_size || !inside(elf, names.sh_offset, names.sh_size) ||
	    elf->file[names.sh_offset + names.sh_size - 1])
		return bad(check, "the symbol names are not a string table inside the file");
	elf->symbols = elf->file + section->sh_offset;
	elf->symbol_count = section->sh_size / sizeof(Elf64_Sym);
	elf->names = (const char *)elf->file + names.sh_offset;
	elf->name_bytes = names.sh_size;
	return 0;
}

Elf64_Sym elf_symbol(const struct elf_object *elf, size_t i, const char **name)
{
	Elf64_Sym symbol;

	memcpy(&symbol, elf->symbols + i * sizeof(symbol), sizeof(symbol));
	*name = symbol.st_name < elf->name_bytes ? elf->names + symbol.st_name : "";
	return symbol;
}

bool elf_is_kernel(const Elf64_Sym *symbol, const char *name, size_t *length)
{
	size_t n = strlen(name);

	if (n <= 3 || strcmp(name + n - 3, ".kd") || symbol->st_shndx == SHN_UNDEF ||
	    ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
		return false;
	*length = n - 3;
	return true;
}

static bool aligned_size(uint32_t align)
{
	return align >= 16 && align <= 4096 && !(align & (align - 1));
}

static int check_descriptor(struct check *check, const Elf64_Sym *symbol)
{
	struct elf_object *elf = check->elf;
	const struct elf_segment *segment = elf_segment_of(elf, symbol->st_value, 64), *code;
	struct tutti_kernel_descriptor d;
	uint64_t entry;

	if (symbol->st_size != sizeof(d) || (symbol->st_value & 63))
		return bad(check, "a kernel descriptor has a wrong size or alignment");
	if (!segment || symbol->st_value - segment->address + sizeof(d) > segment->file_bytes)
		return bad(check, "a kernel descriptor is not in a loaded segment");
	read_at(elf, segment->offset + (symbol->st_value - segment->address), &d, sizeof(d));
	if (d.magic != TUTTI_KERNEL_MAGIC || d.version != 1)
		return bad(check, "a kernel descriptor has a wrong magic or version");
	if ((d.flags & ~TUTTI_KERNEL_FLAGS) || d.pad0 || d.pad1 || d.cga_kind > TUTTI_CGA_GPU)
		return bad(check, "a kernel descriptor has unknown flags");
	if ((d.cga_kind != TUTTI_CGA_NONE) != (d.cga[0] && d.cga[1] && d.cga[2]))
		return bad(check, "a kernel descriptor has a CGA without extent, or an extent without CGA");
	if (d.barriers > 16 || !aligned_size(d.kernarg_align))
		return bad(check, "a kernel descriptor has impossible needs");
	entry = symbol->st_value + (uint64_t)d.entry_offset;
	code = elf_segment_of(elf, entry, 2);
	if ((entry & 1) || !code || !(code->flags & PF_X))
		return bad(check, "a kernel's entry is not in executable code");
	return 0;
}

static const struct tutti_external *find_external(const struct elf_object *elf, const char *name)
{
	for (size_t i = 0; i < elf->externals; i++)
		if (!strcmp(elf->external[i].name, name))
			return &elf->external[i];
	return NULL;
}

static bool is_missing(const struct elf_object *elf, const Elf64_Sym *symbol, const char *name)
{
	return symbol->st_shndx == SHN_UNDEF && *name && ELF64_ST_BIND(symbol->st_info) != STB_WEAK &&
	       !find_external(elf, name);
}

#define NAMES_SHARED 4u /* how many times the file's bytes the names of symbols may have in all */

static int check_symbols(struct check *check)
{
	struct elf_object *elf = check->elf;
	size_t kernels = 0, length, name_bytes = 0;

	for (size_t i = 1; i < elf->symbol_count; i++) {
		const char *name;
		Elf64_Sym symbol = elf_symbol(elf, i, &name);
		int error;

		if (symbol.st_name >= elf->name_bytes)
			return bad(check, "a symbol's name is outside the string table");
		name_bytes += strlen(name) + 1;
		if (name_bytes > NAMES_SHARED * elf->bytes) /* each is copied, so overlapping names multiply the memory */
			return bad(check, "the names of its symbols overlap");
		if (!check->leave_undefined && is_missing(elf, &symbol, name)) {
			snprintf(text, sizeof(text), "undefined symbol %s", name);
			bad(check, text);
			return -ENOLINK;
		}
		if (!elf_is_kernel(&symbol, name, &length))
			continue;
		kernels++;
		error = check_descriptor(check, &symbol);
		if (error)
			return error;
	}
	return kernels ? 0 : bad(check, "no kernel in it");
}

/* Prefers the full symbol table to the dynamic one, which may lack local symbols. */
static int find_symbols(struct check *check)
{
	int found = -1;

	for (unsigned i = 0; i < check->header.e_shnum; i++) {
		uint32_t type = section_at(check, i).sh_type;

		if (type == SHT_SYMTAB || (type == SHT_DYNSYM && found < 0))
			found = (int)i;
	}
	if (found < 0)
		return bad(check, "no symbol table");
	Elf64_Shdr section = section_at(check, (unsigned)found);

	return use_symbols(check, &section);
}

/* The address of a symbol that the file does not define; @table is the symbol table it is from. */
static int external_value(struct check *check, const Elf64_Shdr *table, const Elf64_Sym *symbol, uint64_t *value)
{
	struct elf_object *elf = check->elf;
	const struct tutti_external *external;
	Elf64_Shdr names = {0};

	if (table->sh_link < check->header.e_shnum)
		names = section_at(check, table->sh_link);
	if (names.sh_type != SHT_STRTAB || !inside(elf, names.sh_offset, names.sh_size) ||
	    symbol->st_name >= names.sh_size || elf->file[names.sh_offset + names.sh_size - 1])
		return bad(check, "the symbol names are not a string table inside the file");
	external = find_external(elf, (const char *)elf->file + names.sh_offset + symbol->st_name);
	if (!external && !check->leave_undefined)
		return bad(check, "a relocation names an undefined or absolute symbol");
	*value = external ? (uintptr_t)external->address : 0;
	return 0;
}

static int symbol_value(struct check *check, const Elf64_Shdr *rela, uint32_t index, uint64_t *value, bool *absolute)
{
	Elf64_Shdr table;
	Elf64_Sym symbol;

	if (rela->sh_link >= check->header.e_shnum)
		return bad(check, "relocations without a symbol table");
	table = section_at(check, rela->sh_link);
	if ((table.sh_type != SHT_DYNSYM && table.sh_type != SHT_SYMTAB) ||
	    index >= table.sh_size / sizeof(symbol) || !inside(check->elf, table.sh_offset, table.sh_size))
		return bad(check, "a relocation names no symbol");
	read_at(check->elf, table.sh_offset + index * sizeof(symbol), &symbol, sizeof(symbol));
	*absolute = symbol.st_shndx == SHN_UNDEF;
	if (*absolute)
		return external_value(check, &table, &symbol, value);
	if (symbol.st_shndx == SHN_ABS)
		return bad(check, "a relocation names an undefined or absolute symbol");
	if (!elf_segment_of(check->elf, symbol.st_value, 0))
		return bad(check, "a relocation's symbol is outside the image");
	*value = symbol.st_value;
	return 0;
}

static int add_relocation(struct check *check, const Elf64_Shdr *section, const Elf64_Rela *rela)
{
	struct elf_object *elf = check->elf;
	struct elf_relocation *relocation = &elf->relocation[elf->relocations];
	const struct elf_segment *segment = elf_segment_of(elf, rela->r_offset, 8);
	uint64_t value = 0;
	bool absolute = false;
	int error;

	switch (ELF64_R_TYPE(rela->r_info)) {
	case R_RISCV_NONE:
		return 0;
	case R_RISCV_RELATIVE:
		break;
	case R_RISCV_64:
		error = symbol_value(check, section, ELF64_R_SYM(rela->r_info), &value, &absolute);
		if (error)
			return error;
		break;
	default:
		snprintf(text, sizeof(text), "relocation type %u is not allowed",
			 (unsigned)ELF64_R_TYPE(rela->r_info));
		return bad(check, text);
	}
	if (!segment || (rela->r_offset & 7))
		return bad(check, "a relocation is outside the image or not aligned");
	*relocation = (struct elf_relocation){
	    .address = rela->r_offset, .value = value + (uint64_t)rela->r_addend, .absolute = absolute};
	elf->relocations++;
	return 0;
}

#define DESCRIPTOR_BYTES sizeof(struct tutti_kernel_descriptor) /* descriptors lie at multiples of their size */

/*
 * Descriptors were checked as they are in the file, so that no relocation may change them. Return: a bit for each
 * possible place, set where there is one
 */
static uint8_t *places_of_descriptors(const struct elf_object *elf)
{
	uint8_t *places = calloc(elf->image_bytes / DESCRIPTOR_BYTES / 8 + 1, 1);
	size_t length;

	for (size_t i = 1; places && i < elf->symbol_count; i++) {
		const char *name;
		Elf64_Sym symbol = elf_symbol(elf, i, &name);
		uint64_t place = symbol.st_value / DESCRIPTOR_BYTES;

		if (elf_is_kernel(&symbol, name, &length))
			places[place / 8] |= (uint8_t)(1u << place % 8);
	}
	return places;
}

static int check_descriptors_stay(struct check *check)
{
	const struct elf_object *elf = check->elf;
	uint8_t *places = places_of_descriptors(elf);
	bool stay = true;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < elf->relocations; i++) {
		uint64_t place = elf->relocation[i].address / DESCRIPTOR_BYTES;

		stay &= !(places[place / 8] >> place % 8 & 1);
	}
	free(places);
	return stay ? 0 : bad(check, "a relocation changes a kernel's descriptor");
}

/* Only relocations in sections that are loaded matter; others were left in the file for linkers. */
static int check_relocations(struct check *check)
{
	struct elf_object *elf = check->elf;
	size_t total = 0;

	for (unsigned i = 0; i < check->header.e_shnum; i++) {
		Elf64_Shdr section = section_at(check, i);

		if (section.sh_type == SHT_REL && (section.sh_flags & SHF_ALLOC))
			return bad(check, "relocations without addends");
		if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
			continue;
		if (section.sh_entsize != sizeof(Elf64_Rela) ||
		    !inside(elf, section.sh_offset, section.sh_size))
			return bad(check, "relocations are not inside the file");
		total += section.sh_size / sizeof(Elf64_Rela);
	}
	if (total > elf->bytes) /* overlapping sections could otherwise multiply the work */
		return bad(check, "more relocations than bytes");
	elf->relocation = calloc(total ? total : 1, sizeof(*elf->relocation));
	if (!elf->relocation)
		return -ENOMEM;
	for (unsigned i = 0; i < check->header.e_shnum; i++) {
		Elf64_Shdr section = section_at(check, i);

		if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
			continue;
		for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size; at += sizeof(Elf64_Rela)) {
			Elf64_Rela rela;
			int error;

			read_at(elf, section.sh_offset + at, &rela, sizeof(rela));
			error = add_relocation(check, &section, &rela);
			if (error)
				return error;
		}
	}
	return 0;
}

static int open_checked(struct check *check, const char **message)
{
	int error = check_header(check);

	if (!error)
		error = check_segments(check);
	if (!error)
		error = find_symbols(check);
	if (!error)
		error = check_symbols(check);
	if (!error)
		error = check_relocations(check);
	if (!error)
		error = check_descriptors_stay(check);
	if (error)
		elf_close(check->elf);
	if (message)
		*message = error ? check->message ? check->message : "out of memory" : NULL;
	return error;
}

int elf_open(struct elf_object *elf, const void *file, size_t bytes, uint32_t contract_max,
	     const char **message)
{
	struct check check = {.elf = elf, .contract_max = contract_max, .leave_undefined = true};

	*elf = (struct elf_object){.file = file, .bytes = bytes};
	return open_checked(&check, message);
}

int elf_open_with(struct elf_object *elf, const void *file, size_t bytes, uint32_t contract_max,
		  const struct tutti_external *external, size_t externals, const char **message)
{
	struct check check = {.elf = elf, .contract_max = contract_max};

	*elf = (struct elf_object){.file = file, .bytes = bytes, .external = external, .externals = externals};
	return open_checked(&check, message);
}

void elf_close(struct elf_object *elf)
{
	free(elf->relocation);
	elf->relocation = NULL;
	elf->relocations = 0;
}
