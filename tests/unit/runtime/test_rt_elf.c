/* SPDX-License-Identifier: MIT */
/* Code objects as hostile input: a good one, one defect at a time, and random damage (SYS-07, REL-01). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "code/elf_verdict.h"

static void good_one(void **state)
{
	const char *message = "x";

	good();
	assert_int_equal(check(&message), 0);
	assert_null(message);
	o.rela[0].r_offset = AT(kd) - 8; /* beside the descriptor, on both sides */
	o.rela[1].r_offset = AT(kd) + 64;
	assert_int_equal(check(&message), 0);
}

static void one_defect_each(void **state)
{
	DEFECT(bytes = 0, "ELF");
	DEFECT(bytes = 63, "ELF");
	DEFECT(o.h.e_ident[0] = 0, "ELF");
	DEFECT(o.h.e_ident[EI_CLASS] = ELFCLASS32, "64-bit");
	DEFECT(o.h.e_ident[EI_DATA] = ELFDATA2MSB, "little-endian");
	DEFECT(o.h.e_machine = EM_X86_64, "RISC-V");
	DEFECT(o.h.e_type = ET_EXEC, "position-independent");
	DEFECT(o.h.e_phoff = sizeof(o) - 8, "program headers");
	DEFECT(o.h.e_phoff = UINT64_MAX - 8, "program headers");
	DEFECT(o.h.e_phnum = 0, "program headers");
	DEFECT(o.h.e_shoff = sizeof(o), "section headers");
	DEFECT(o.h.e_shnum = 0, "section headers");
	DEFECT(o.p[1].p_filesz = 4097, "segment");
	DEFECT(o.p[1].p_offset = UINT64_MAX - 100, "segment");
	DEFECT(o.p[1].p_offset = sizeof(o), "segment");
	DEFECT(o.p[2].p_memsz = UINT64_MAX, "too large");
	DEFECT(o.p[2].p_vaddr = UINT64_MAX - 5000, "too large");
	DEFECT(o.p[2].p_vaddr = 0x10800, "share a page");
	DEFECT(o.p[1].p_vaddr = 0, "overlap");
	DEFECT(o.p[1].p_flags = 7, "writable and executable");
	DEFECT(o.p[3].p_type = PT_NULL, "no TUTTI note");
	DEFECT(o.p[3].p_type = PT_INTERP, "interpreter");
	DEFECT(o.p[3].p_offset = sizeof(o), "note");
	DEFECT(o.note.n.n_descsz = 0xffffffff, "note");
	DEFECT(o.note.n.n_namesz = 0xffffffff, "note");
	DEFECT(o.note.n.n_descsz = 40, "too short");
	DEFECT(o.note.note.isa[0] = 'x', "ISA");
	DEFECT(memset(o.note.note.isa, 'a', 40), "ISA");
	DEFECT(o.note.note.contract = TUTTI_VERSION(2, 0), "contract");
	DEFECT(o.note.note.contract = TUTTI_VERSION(1, 9), "contract");
	DEFECT(o.note.note.flags = 1, "flags");
	DEFECT(o.s[1].sh_type = SHT_NULL, "no symbol table");
	DEFECT(o.s[1].sh_size = sizeof(o), "symbol table");
	DEFECT(o.s[1].sh_entsize = 23, "symbol table");
	DEFECT(o.s[1].sh_link = 77, "names");
	DEFECT(o.s[1].sh_link = 3, "names");
	DEFECT(memset(o.names, 'a', sizeof(o.names)), "names");
	DEFECT(o.sym[1].st_name = 4000, "name");
	DEFECT(o.sym[1].st_size = 60, "descriptor");
	DEFECT(o.sym[1].st_value += 8, "descriptor");
	DEFECT(o.sym[1].st_value = 0x90000, "descriptor");
	DEFECT(o.sym[1].st_value = 0x21000, "descriptor");
	DEFECT(o.names[1] = 0, "no kernel");
	DEFECT(o.kd.magic ^= 1, "magic");
	DEFECT(o.kd.version = 2, "version");
	DEFECT(o.kd.flags = 0x80, "flags");
	DEFECT(o.kd.pad1 = 1, "flags");
	DEFECT(o.kd.barriers = 17, "needs");
	DEFECT((o.kd.cga_kind = TUTTI_CGA_GPC, o.kd.cga[0] = 2), "CGA");
	DEFECT(o.kd.cga[0] = o.kd.cga[1] = o.kd.cga[2] = 1, "CGA");
	DEFECT(o.kd.kernarg_align = 8, "needs");
	DEFECT(o.kd.kernarg_align = 48, "needs");
	DEFECT(o.kd.kernarg_align = 8192, "needs");
	DEFECT(o.kd.entry_offset = 1 << 20, "entry");
	DEFECT(o.kd.entry_offset = INT64_MIN, "entry");
	DEFECT(o.kd.entry_offset = 0x20000 - (int64_t)AT(kd), "entry");
	DEFECT(o.kd.entry_offset += 1, "entry");
	DEFECT(o.s[3].sh_type = SHT_REL, "addends");
	DEFECT(o.s[3].sh_size = sizeof(o), "relocations");
	for (unsigned i = 0; i < 3; i++) /* a CGA has three extents */
		DEFECT((o.kd.cga_kind = TUTTI_CGA_GPC, o.kd.cga[0] = o.kd.cga[1] = o.kd.cga[2] = 2, o.kd.cga[i] = 0), "CGA");
	DEFECT((o.p[0] = o.p[2] = o.p[3] = (Elf64_Phdr){PT_NOTE, PF_R, AT(code), 0, 0, 4096, 4096, 4}), "more notes than bytes");
	DEFECT(o.s[3].sh_link = o.h.e_shnum, "without a symbol table");
	DEFECT(o.s[3].sh_link = 2, "names no symbol");
	DEFECT(o.rela[1].r_info = ELF64_R_INFO(sizeof(o.sym) / sizeof(*o.sym), R_RISCV_64), "names no symbol");
	DEFECT(o.sym[2].st_value = 0x40000, "outside the image");
	DEFECT(o.sym[2].st_shndx = SHN_ABS, "absolute symbol");
	DEFECT(o.rela[0].r_offset = 0x30000, "outside");
	DEFECT(o.rela[0].r_offset = 0x20000 + 4996, "outside");
	DEFECT(o.rela[0].r_offset = UINT64_MAX - 7, "outside");
	DEFECT(o.rela[0].r_offset = 0x20004, "aligned");
	for (unsigned i = 0; i < sizeof(o.kd); i += 8) /* what has been checked stays as it is */
		DEFECT(o.rela[i / 8 % 2].r_offset = AT(kd) + i, "changes a kernel's descriptor");
	DEFECT(o.rela[0].r_info = ELF64_R_INFO(0, R_RISCV_JUMP_SLOT), "relocation type");
	DEFECT(o.rela[1].r_info = ELF64_R_INFO(3, R_RISCV_64), "undefined");
	DEFECT(o.rela[1].r_info = ELF64_R_INFO(500, R_RISCV_64), "symbol");
	DEFECT(o.s[3].sh_link = 0, "symbol");
}

/* SYS-58: what the file leaves undefined is defined by the application, by name. */
static void externals(void **state)
{
	const struct tutti_external other = {"strange", (void *)8}, fitting = {"weak", (void *)0x123456789000};
	const char *message;
	struct elf_object elf;
	unsigned absolute = 0;

	good();
	o.sym[3].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
	o.rela[1].r_info = ELF64_R_INFO(3, R_RISCV_64);
	o.rela[1].r_addend = 16;
	assert_int_equal(elf_open_with(&elf, &o, bytes, TUTTI_CONTRACT_VERSION, &other, 1, &message), -ENOLINK);
	assert_non_null(strstr(message, "undefined symbol weak"));
	assert_int_equal(elf_open_with(&elf, &o, bytes, TUTTI_CONTRACT_VERSION, &fitting, 1, &message), 0);
	for (size_t i = 0; i < elf.relocations; i++)
		if (elf.relocation[i].absolute) {
			absolute++;
			assert_int_equal(elf.relocation[i].value, 0x123456789010);
		}
	assert_int_equal(absolute, 1);
	elf_close(&elf);
	o.s[2].sh_type = SHT_NULL;
	assert_int_equal(elf_open_with(&elf, &o, bytes, TUTTI_CONTRACT_VERSION, &fitting, 1, &message), -ENOEXEC);
}

/* SYS-51, SYS-58: a tool that only looks at the code, as the translator does, needs no definitions; it refuses the rest. */
static void undefined(void **state)
{
	const char *message;
	struct elf_object elf;

	good();
	o.sym[3].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
	o.rela[1].r_info = ELF64_R_INFO(3, R_RISCV_64);
	assert_int_equal(elf_open(&elf, &o, bytes, TUTTI_CONTRACT_VERSION, &message), 0);
	assert_int_equal(elf.segments, 3);
	elf_close(&elf);
	o.kd.magic ^= 1;
	assert_int_equal(elf_open(&elf, &o, bytes, TUTTI_CONTRACT_VERSION, &message), -ENOEXEC);
	assert_non_null(strstr(message, "magic"));
}

static void random_damage(void **state)
{
	unsigned seed = 5;
	const char *message;

	for (int round = 0; round < 100000; round++) {
		good();
		for (unsigned n = 1 + (unsigned)rand_r(&seed) % 4; n; n--) {
			size_t at = (unsigned)rand_r(&seed) % AT(pad);

			((uint8_t *)&o)[at] = rand_r(&seed) % 2 ? (uint8_t)rand_r(&seed) : 0xff;
		}
		if (!(rand_r(&seed) % 8))
			bytes = (unsigned)rand_r(&seed) % sizeof(o);
		check(&message); /* either way: no access outside, image consistent */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(good_one),
	    cmocka_unit_test(one_defect_each),
	    cmocka_unit_test(externals),
	    cmocka_unit_test(undefined),
	    cmocka_unit_test(random_damage),
	};

	return cmocka_run_group_tests_name("SYS-07 code objects are hostile", tests, NULL, NULL);
}
