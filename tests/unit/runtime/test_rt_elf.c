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

#include "code/elf_check.h"

/* A code object by hand: header page (note, symbols, descriptor), code page, data page. */
struct object {
	Elf64_Ehdr h;
	Elf64_Phdr p[4];
	struct {
		Elf64_Nhdr n;
		char owner[8];
		struct tutti_code_note note;
	} note;
	Elf64_Sym sym[5];
	char names[64];
	Elf64_Rela rela[2];
	struct tutti_kernel_descriptor kd __attribute__((aligned(64)));
	Elf64_Shdr s[4];
	uint8_t pad[4096 - 1600];
	uint32_t code[1024];
	uint64_t data[4];
};

static struct object o;
static size_t bytes;

#define AT(m) offsetof(struct object, m)

static void good(void)
{
	memset(&o, 0, sizeof(o));
	bytes = sizeof(o);
	uint64_t code = AT(code), data = AT(data);

	o.h = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_RISCV,
			   .e_version = 1,
			   .e_phoff = AT(p),
			   .e_shoff = AT(s),
			   .e_ehsize = 64,
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 4,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 4};
	o.p[0] = (Elf64_Phdr){PT_LOAD, PF_R, 0, 0, 0, AT(pad), AT(pad), 4096};
	o.p[1] = (Elf64_Phdr){PT_LOAD, PF_R | PF_X, code, 0x10000, 0, 4096, 4096, 4096};
	o.p[2] = (Elf64_Phdr){PT_LOAD, PF_R | PF_W, data, 0x20000, 0, 32, 5000, 4096};
	o.p[3] = (Elf64_Phdr){PT_NOTE, PF_R, AT(note), AT(note), 0, sizeof(o.note), sizeof(o.note), 4};
	o.note.n = (Elf64_Nhdr){6, sizeof(o.note.note), TUTTI_CODE_NOTE_TYPE};
	memcpy(o.note.owner, "TUTTI", 6);
	o.note.note.contract = TUTTI_CONTRACT_VERSION;
	strcpy(o.note.note.isa, TUTTI_CODE_ISA);
	memcpy(o.names, "\0foo.kd\0var\0weak\0other", 23);
	o.sym[1] = (Elf64_Sym){1, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 1, AT(kd), 64};
	o.sym[2] = (Elf64_Sym){8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 1, 0x20008, 8};
	o.sym[3] = (Elf64_Sym){12, ELF64_ST_INFO(STB_WEAK, STT_NOTYPE), 0, SHN_UNDEF, 0, 0};
	o.sym[4] = (Elf64_Sym){17, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x10000, 4};
	o.rela[0] = (Elf64_Rela){0x20000, ELF64_R_INFO(0, R_RISCV_RELATIVE), 0x20010};
	o.rela[1] = (Elf64_Rela){0x20010, ELF64_R_INFO(2, R_RISCV_64), 4};
	o.kd = (struct tutti_kernel_descriptor){.kernarg_bytes = 16,
						.kernarg_align = 16,
						.entry_offset = 0x10000 - (int64_t)AT(kd),
						.magic = TUTTI_KERNEL_MAGIC,
						.scalar_blocks = 1,
						.version = 1};
	o.s[1] = (Elf64_Shdr){.sh_type = SHT_DYNSYM,
			      .sh_flags = SHF_ALLOC,
			      .sh_offset = AT(sym),
			      .sh_size = sizeof(o.sym),
			      .sh_link = 2,
			      .sh_entsize = sizeof(Elf64_Sym)};
	o.s[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = AT(names), .sh_size = sizeof(o.names)};
	o.s[3] = (Elf64_Shdr){.sh_type = SHT_RELA,
			      .sh_flags = SHF_ALLOC,
			      .sh_offset = AT(rela),
			      .sh_size = sizeof(o.rela),
			      .sh_link = 1,
			      .sh_entsize = sizeof(Elf64_Rela)};
}

/* In a block of its own size, so that a sanitizer sees the first byte too many. */
static int check(const char **message)
{
	struct elf_object elf;
	uint8_t *copy = malloc(bytes ? bytes : 1);
	const char *ignored;
	int error, unlinked;

	memcpy(copy, &o, bytes);
	error = elf_open_with(&elf, copy, bytes, TUTTI_CONTRACT_VERSION, NULL, 0, message);
	if (!error) {
		for (size_t i = 0; i < elf.relocations; i++) {
			const struct elf_segment *s = elf_segment_of(&elf, elf.relocation[i].address, 8);

			assert_non_null(s);
			assert_true(elf.relocation[i].address + 8 <= elf.image_bytes);
		}
		for (unsigned i = 0; i < elf.segments; i++) {
			assert_true(elf.segment[i].offset + elf.segment[i].file_bytes <= bytes);
			assert_true(elf.segment[i].address + elf.segment[i].memory_bytes <= elf.image_bytes);
		}
		elf_close(&elf);
	}
	/* Who does not load it refuses the same, but for what is undefined. */
	unlinked = elf_open(&elf, copy, bytes, TUTTI_CONTRACT_VERSION, &ignored);
	assert_true(error ? unlinked == 0 || unlinked == -ENOEXEC : unlinked == 0);
	elf_close(&elf);
	free(copy);
	return error;
}

static void good_one(void **state)
{
	const char *message = "x";

	good();
	assert_int_equal(check(&message), 0);
	assert_null(message);
}

#define DEFECT(statement, text)                                                                              \
	do {                                                                                                 \
		const char *m = NULL;                                                                        \
		good();                                                                                      \
		assert_int_equal(check(&m), 0);                                                              \
		statement;                                                                                   \
		assert_int_equal(check(&m), -ENOEXEC);                                                       \
		if (!strstr(m, text))                                                                        \
			fail_msg("%s: said '%s'", #statement, m);                                            \
	} while (0)

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
	DEFECT(o.rela[0].r_offset = 0x30000, "outside");
	DEFECT(o.rela[0].r_offset = 0x20000 + 4996, "outside");
	DEFECT(o.rela[0].r_offset = UINT64_MAX - 7, "outside");
	DEFECT(o.rela[0].r_offset = 0x20004, "aligned");
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
