/* SPDX-License-Identifier: MIT */
/** DOC: A small code object made by hand; includers change what they want to be wrong */
#ifndef ELF_OBJECT_H
#define ELF_OBJECT_H

#include <string.h>

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

#endif
