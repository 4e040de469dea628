/* SPDX-License-Identifier: MIT */
/*
 * Limits of the symbols, descriptors and relocations of a code object: what is just accepted, what is refused one step
 * further, and which relocations the loader gets (SYS-07, REL-01).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "code/elf_verdict.h"

#define DATA 0x20000u
#define DATA_BYTES 5000u /* in memory */

/* ---- symbols ---- */

/* Names lie inside the string table, which ends with a zero byte. The name of symbol 0 is ignored. */
static void names(void **state)
{
	static const char table[] = "the symbol names are not a string table inside the file",
			  outside[] = "a symbol's name is outside the string table";

	GOOD(o.sym[2].st_name = sizeof(o.names) - 1);
	BAD(o.sym[2].st_name = sizeof(o.names), outside);
	BAD(o.sym[4].st_name = UINT32_MAX, outside);
	GOOD((o.sym[0].st_name = UINT32_MAX, o.sym[0].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)));
	BAD(o.s[2].sh_size = 0, table);
	BAD(o.s[2].sh_type = SHT_PROGBITS, table);
	BAD(o.s[2].sh_offset = bytes - sizeof(o.names) + 1, table);
	BAD((o.s[2].sh_offset = bytes - 1, ((uint8_t *)&o)[bytes - 1] = 1), table);
	BAD(o.names[sizeof(o.names) - 1] = 'x', table);
	BAD(o.s[1].sh_link = o.h.e_shnum, "the symbol table has no names");
	GOOD((o.sym[4].st_name = sizeof(o.names) - 3, memcpy(o.names + sizeof(o.names) - 3, "ab", 2)));
}

/* Names may end alike and share these bytes, but not so many that the copies of the names are much more than the file. */
static void overlapping_names(void **state)
{
	Elf64_Sym *symbol = (Elf64_Sym *)o.code;
	size_t in_table = AT(pad) - AT(names), left;
	unsigned i, more;

	for (more = 0; more < 2; more++) {
		good();
		memset(o.pad, 'x', sizeof(o.pad) - 1);
		o.s[2].sh_size = in_table + sizeof(o.pad);
		o.s[1].sh_offset = AT(code);
		memcpy(symbol, o.sym, sizeof(o.sym));
		left = 4 * bytes + more;
		for (i = 1; i < 5; i++)
			left -= strlen(o.names + symbol[i].st_name) + 1;
		for (; left; i++) {
			size_t n = left < sizeof(o.pad) ? left : sizeof(o.pad);

			symbol[i] = o.sym[4];
			symbol[i].st_name = (uint32_t)(in_table + sizeof(o.pad) - n);
			left -= n;
		}
		o.s[1].sh_size = i * sizeof(*symbol);
		if (more)
			assert_bad("the names of its symbols overlap");
		else
			assert_good();
	}
}

/* Only symbols that lie completely in the symbol table count. */
static void number_of_symbols(void **state)
{
	for (size_t size = sizeof(o.sym) - sizeof(*o.sym); size <= sizeof(o.sym); size++) {
		good();
		o.sym[4].st_name = UINT32_MAX;
		o.s[1].sh_size = size;
		if (size == sizeof(o.sym)) {
			assert_bad("a symbol's name is outside the string table");
			continue;
		}
		assert_good();
		assert_int_equal(elf.symbol_count, 4);
	}
}

/*
 * A full symbol table is preferred to a dynamic one wherever it stands, and of two dynamic ones the first is used. Only one
 * of the two tables has a kernel, which shows which of them was used.
 */
static void two_tables(void **state)
{
	for (unsigned i = 0; i < 8; i++) {
		bool full_first = i & 1, full_second = i & 2, kernel_in_first = i & 4;

		good();
		o.s[0] = o.s[1];
		o.s[0].sh_type = full_first ? SHT_SYMTAB : SHT_DYNSYM;
		o.s[1].sh_type = full_second ? SHT_SYMTAB : SHT_DYNSYM;
		o.s[kernel_in_first ? 1 : 0].sh_size = sizeof(*o.sym); /* only symbol 0 */
		o.s[3].sh_link = kernel_in_first ? 0 : 1;
		if (full_first && full_second)
			continue; /* no linker makes two full tables */
		if (full_second != kernel_in_first)
			assert_good();
		else
			assert_bad("no kernel in it");
	}
}

/* A kernel is an object symbol that is defined in this file and whose name has at least one character before ".kd". */
static void what_is_a_kernel(void **state)
{
	static const struct {
		const char *name;
		bool is;
	} rows[] = {{"f.kd", true}, {".kd", false}, {"kd", false}, {"", false}, {"f.kd2", false}, {"f.k", false},
		    {"f.kD", false}, {"f_kd", false}, {"f.kd.kd", true}, {"f", false}};
	size_t length;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Sym symbol = {.st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), .st_shndx = 1};

		good();
		o.sym[1].st_name = 30;
		strcpy(o.names + 30, rows[i].name);
		if (rows[i].is)
			assert_good();
		else
			assert_bad("no kernel in it");
		length = 99;
		assert_int_equal(elf_is_kernel(&symbol, rows[i].name, &length), rows[i].is);
		assert_int_equal(length, rows[i].is ? strlen(rows[i].name) - 3 : 99);
		symbol.st_shndx = SHN_UNDEF;
		assert_false(elf_is_kernel(&symbol, rows[i].name, &length));
		symbol = (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1};
		assert_false(elf_is_kernel(&symbol, rows[i].name, &length));
	}
	BAD(o.sym[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), "no kernel in it");
	BAD((o.sym[1].st_info = ELF64_ST_INFO(STB_WEAK, STT_OBJECT), o.sym[1].st_shndx = SHN_UNDEF), "no kernel in it");
}

/* ---- descriptors ---- */

static void needs(void **state)
{
	static const char text[] = "a kernel descriptor has impossible needs", unknown[] = "a kernel descriptor has unknown flags";

	for (unsigned align = 0; align <= 1 << 15; align++) {
		if (align & (align - 1) && align % 1024 && align > 64)
			continue; /* skips most numbers that are not powers of two, to save time */
		if (align >= 16 && align <= 4096 && !(align & (align - 1)))
			GOOD(o.kd.kernarg_align = align);
		else
			BAD(o.kd.kernarg_align = align, text);
	}
	GOOD(o.kd.barriers = 16);
	for (unsigned bit = 0; bit < 16; bit++)
		if (1u << bit & TUTTI_KERNEL_FLAGS)
			GOOD(o.kd.flags = (uint16_t)(1u << bit));
		else
			BAD(o.kd.flags = (uint16_t)(1u << bit), unknown);
	BAD(o.kd.pad0 = 1, unknown);
	for (unsigned kind = TUTTI_CGA_CPC; kind <= TUTTI_CGA_GPU; kind++)
		GOOD((o.kd.cga_kind = (uint8_t)kind, o.kd.cga[0] = 1, o.kd.cga[1] = 2, o.kd.cga[2] = 3));
	BAD((o.kd.cga_kind = TUTTI_CGA_GPU + 1, o.kd.cga[0] = o.kd.cga[1] = o.kd.cga[2] = 1), unknown);
	for (unsigned i = 0; i < 3; i++) /* without a CGA kind, one of the extents must be 0 */
		GOOD((o.kd.cga[0] = o.kd.cga[1] = o.kd.cga[2] = 2, o.kd.cga[i] = 0));
	BAD(o.kd.version = 0, "a kernel descriptor has a wrong magic or version");
}

/* A descriptor lies at a multiple of its size, in that part of a segment whose bytes are in the file. */
static void places_of_descriptors(void **state)
{
	static const char text[] = "a kernel descriptor is not in a loaded segment",
			  size[] = "a kernel descriptor has a wrong size or alignment";

	GOOD(o.p[0].p_filesz = AT(kd) + 64);
	GOOD(o.p[0].p_filesz = o.p[0].p_memsz = AT(kd) + 64);
	BAD(o.p[0].p_filesz = AT(kd) + 63, text);
	BAD(o.p[0].p_filesz = o.p[0].p_memsz = AT(kd) + 63, text);
	for (unsigned bit = 0; bit < 6; bit++)
		BAD(o.sym[1].st_value ^= 1u << bit, size);
	BAD(o.sym[1].st_size = 63, size);
	BAD(o.sym[1].st_size = 65, size);
	BAD(o.sym[1].st_value += 64, "a kernel descriptor has a wrong magic or version");
}

/* A kernel may start at any even address of an executable segment, up to the last two bytes. */
static void entries(void **state)
{
	static const char text[] = "a kernel's entry is not in executable code";
	static const struct {
		int64_t entry;
		bool good;
	} rows[] = {{0x10000, true},  {0x10002, true},	{0x10ffe, true},  {0x10fff, false}, {0x11000, false},
		    {0xfffe, false},  {0x10001, false}, {DATA, false},	  {0, false},	    {-2, false}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		good();
		o.kd.entry_offset = rows[i].entry - (int64_t)AT(kd);
		if (rows[i].good)
			assert_good();
		else
			assert_bad(text);
	}
	BAD((o.p[1].p_filesz = o.p[1].p_memsz = 1), text);
	GOOD((o.p[1].p_filesz = o.p[1].p_memsz = 2));
}

/* ---- relocations ---- */

static void assert_relocation(unsigned i, uint64_t address, uint64_t value)
{
	assert_true(i < elf.relocations);
	assert_true(elf.relocation[i].address == address && elf.relocation[i].value == value);
	assert_false(elf.relocation[i].absolute);
}

static void open_good(void)
{
	const char *message = NULL;

	assert_good();
	assert_int_equal(elf_open_with(&elf, &o, bytes, TUTTI_CONTRACT_VERSION, NULL, 0, &message), 0);
}

/* The loader gets the address and the value of each relocation, in the order of the file. */
static void values(void **state)
{
	good();
	o.rela[0] = (Elf64_Rela){DATA + DATA_BYTES - 8, ELF64_R_INFO(0, R_RISCV_RELATIVE), -1};
	open_good();
	assert_int_equal(elf.relocations, 2);
	assert_relocation(0, DATA + DATA_BYTES - 8, UINT64_MAX);
	assert_relocation(1, DATA + 16, DATA + 8 + 4);
	elf_close(&elf);
	assert_int_equal(elf.relocations, 0);
	assert_null(elf.relocation);
	o.rela[0].r_info = ELF64_R_INFO(4, R_RISCV_64); /* the last symbol */
	o.rela[0].r_addend = 2;
	o.rela[1].r_info = ELF64_R_INFO(500, R_RISCV_NONE); /* does nothing, so any address is accepted */
	o.rela[1].r_offset = UINT64_MAX;
	open_good();
	assert_int_equal(elf.relocations, 1);
	assert_relocation(0, DATA + DATA_BYTES - 8, 0x10002);
	elf_close(&elf);
}

/* A relocation's symbol lies in a segment or at its end; the eight bytes to be relocated lie completely in a segment. */
static void ends_of_segments(void **state)
{
	static const char outside[] = "a relocation's symbol is outside the image",
			  place[] = "a relocation is outside the image or not aligned";

	GOOD(o.sym[2].st_value = DATA);
	GOOD(o.sym[2].st_value = DATA + DATA_BYTES);
	BAD(o.sym[2].st_value = DATA + DATA_BYTES + 1, outside);
	BAD(o.sym[2].st_value = DATA - 1, outside);
	GOOD((o.p[2].p_memsz = 8192, o.rela[0].r_offset = DATA + 8192 - 8)); /* the end of the image */
	GOOD((o.p[2].p_filesz = 0, o.rela[0].r_offset = DATA + DATA_BYTES - 8));
	BAD(o.rela[0].r_offset = DATA + DATA_BYTES, place);
	BAD((o.p[2].p_memsz--, o.rela[0].r_offset = DATA + DATA_BYTES - 8), place);
	BAD(o.rela[0].r_offset = DATA - 8, place);
	for (unsigned bit = 0; bit < 3; bit++)
		BAD(o.rela[0].r_offset += 1u << bit, place);
	/* if the first segment starts at 64, nothing lies at address 0 */
	good();
	o.p[0].p_offset = 64;
	o.p[0].p_vaddr = 64;
	o.p[0].p_filesz = o.p[0].p_memsz = AT(kd);
	assert_good();
	o.sym[2].st_value = 64;
	assert_good();
	o.sym[2].st_value = 0;
	assert_bad(outside);
}

/* Relocations count only in sections that are loaded (SHF_ALLOC). */
static void sections(void **state)
{
	GOOD((o.s[3].sh_flags = 0, memset(o.rela, 0xff, sizeof(o.rela))));
	assert_int_equal(elf.relocations, 0);
	GOOD((o.s[3].sh_type = SHT_REL, o.s[3].sh_flags = 0));
	BAD(o.s[3].sh_type = SHT_REL, "relocations without addends");
	BAD(o.s[3].sh_entsize = 23, "relocations are not inside the file");
	BAD(o.s[3].sh_entsize = 25, "relocations are not inside the file");
	BAD(o.s[3].sh_offset = bytes - sizeof(o.rela) + 1, "relocations are not inside the file");
	GOOD((o.s[3].sh_offset = bytes - sizeof(o.rela), memcpy((uint8_t *)&o + o.s[3].sh_offset, o.rela, sizeof(o.rela))));
	/* an incomplete relocation at the end of a section is ignored */
	GOOD((o.s[3].sh_size -= 1, memset(&o.rela[1], 0xff, sizeof(*o.rela))));
	BAD(memset(&o.rela[1], 0xff, sizeof(*o.rela)), "relocation type 4294967295 is not allowed");
	GOOD((o.s[3].sh_size = 0, memset(o.rela, 0xff, sizeof(o.rela))));
	GOOD((o.s[0] = o.s[3], o.s[3].sh_type = SHT_NULL));
	assert_int_equal(elf.relocations, 0); /* 0, since assert_good() has closed it */
	BAD((o.s[0] = o.s[3], o.s[0].sh_type = SHT_REL), "relocations without addends");
	BAD((o.s[0] = o.s[3], o.s[0].sh_entsize = 23), "relocations are not inside the file");
	GOOD(o.s[1].sh_type = SHT_SYMTAB);
	BAD(o.s[3].sh_link = 3, "a relocation names no symbol");
}

static Elf64_Shdr *const many = (Elf64_Shdr *)o.code; /* room for more section headers */

/* Gives the relocations a symbol table and a string table of their own, behind the usual section headers. */
static void other_tables(void)
{
	good();
	memcpy(many, o.s, sizeof(o.s));
	o.h.e_shoff = AT(code);
	o.h.e_shnum = 6;
	many[4] = many[1];
	many[4].sh_link = 5;
	many[5] = many[2];
	many[5].sh_offset = AT(pad);
	memcpy(o.pad, o.names, sizeof(o.names));
	many[3].sh_link = 4;
	o.rela[1].r_info = ELF64_R_INFO(3, R_RISCV_64); /* "weak", whose name begins at 12 and ends with byte 16 */
}

static int open_linked(const char **message)
{
	const struct tutti_external weak[] = {{"wea", (void *)0x11110000}, {"weak", (void *)0x22220000}};

	return elf_open_with(&elf, &o, bytes, TUTTI_CONTRACT_VERSION, weak, 2, message);
}

/* An external symbol is looked up by its name in the string table of the relocation's own symbol table. */
static void names_of_externals(void **state)
{
	static const struct {
		uint32_t type, link;
		uint64_t offset, size;
		bool good;
	} rows[] = {{SHT_STRTAB, 5, AT(pad), 17, true},	   {SHT_STRTAB, 5, AT(pad), 12, false},
		    {SHT_STRTAB, 5, AT(pad), 16, false},   {SHT_STRTAB, 6, AT(pad), 17, false},
		    {SHT_PROGBITS, 5, AT(pad), 17, false}, {SHT_STRTAB, 5, sizeof(o) - 16, 17, false},
		    {SHT_STRTAB, 5, UINT64_MAX, 17, false}};
	const char *message = NULL;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		other_tables();
		many[4].sh_link = rows[i].link;
		many[5].sh_type = rows[i].type;
		many[5].sh_offset = rows[i].offset;
		many[5].sh_size = rows[i].size;
		assert_int_equal(open_linked(&message), rows[i].good ? 0 : -ENOEXEC);
		if (!rows[i].good) {
			assert_string_equal(message, "the symbol names are not a string table inside the file");
			continue;
		}
		assert_int_equal(elf.relocations, 2);
		assert_false(elf.relocation[0].absolute);
		assert_true(elf.relocation[1].absolute);
		assert_int_equal(elf.relocation[1].value, 0x22220000 + 4);
		elf_close(&elf);
	}
	other_tables();
	o.pad[15] = 'c';
	assert_int_equal(open_linked(&message), -ENOEXEC);
	assert_string_equal(message, "a relocation names an undefined or absolute symbol");
}

/* Sections of relocations may overlap, but together they must not have more relocations than the file has bytes. */
static void amount_of_relocations(void **state)
{
	const char *message;

	for (unsigned more = 0; more < 2; more++) {
		size_t left;

		good();
		left = bytes + more;
		memcpy(many, o.s, sizeof(o.s));
		o.h.e_shoff = AT(code);
		for (o.h.e_shnum = 3; left; o.h.e_shnum++) {
			size_t n = left < bytes / sizeof(Elf64_Rela) ? left : bytes / sizeof(Elf64_Rela);

			many[o.h.e_shnum] = o.s[3];
			many[o.h.e_shnum].sh_offset = 0;
			many[o.h.e_shnum].sh_size = n * sizeof(Elf64_Rela);
			left -= n;
		}
		assert_int_equal(check(&message), -ENOEXEC); /* in any case: the file's header is not a relocation */
		assert_int_equal(!strcmp(message, "more relocations than bytes"), more);
	}
}

/* A relocation must not change a descriptor, which was checked as it is in the file, but may change what is next to it. */
static void descriptors_stay(void **state)
{
	static const unsigned at[] = {0, 1, 6, 7, 8, 9, 31, 62, 63};

	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		uint64_t second = 0x10000 + at[i] * 64;

		good();
		o.sym[4] = o.sym[1];
		o.sym[4].st_value = second;
		memcpy((uint8_t *)o.code + at[i] * 64, &o.kd, sizeof(o.kd));
		((struct tutti_kernel_descriptor *)o.code)[at[i]].entry_offset = -(int64_t)at[i] * 64;
		assert_good();
		for (uint64_t place = 0; place < 0x11000; place += place == AT(pad) / 64 * 64 ? 0x10000 - place : 64) {
			const char *message;
			int error;

			o.rela[0].r_offset = place + 8 * (place / 64 % 8);
			error = elf_open_with(&elf, &o, bytes, TUTTI_CONTRACT_VERSION, NULL, 0, &message);
			if (place + 64 > AT(pad) && place < 0x10000)
				assert_true(!error || strstr(message, "outside the image"));
			else
				assert_int_equal(error, place == AT(kd) || place == second ? -ENOEXEC : 0);
			elf_close(&elf);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(overlapping_names),
	    cmocka_unit_test(names),		cmocka_unit_test(number_of_symbols),
	    cmocka_unit_test(two_tables),	cmocka_unit_test(what_is_a_kernel),
	    cmocka_unit_test(needs),		cmocka_unit_test(places_of_descriptors),
	    cmocka_unit_test(entries),		cmocka_unit_test(values),
	    cmocka_unit_test(ends_of_segments), cmocka_unit_test(sections),
	    cmocka_unit_test(names_of_externals), cmocka_unit_test(amount_of_relocations),
	    cmocka_unit_test(descriptors_stay),
	};

	return cmocka_run_group_tests_name("SYS-07, REL-01 limits of code objects: symbols", tests, NULL, NULL);
}
