/* SPDX-License-Identifier: MIT */
/**
 * DOC: Code objects
 *
 * A code object is what tuttic makes of kernels: ELF64, little endian, EM_RISCV (243),
 * ET_DYN. Kernel `foo` is described by the 64-byte object `foo.kd`, whose address is the
 * kernel_object of a dispatch packet. Its first 24 bytes are laid out like those of AMD's
 * kernel descriptor, so that tools find them. A note (name "TUTTI", type 1, struct
 * tutti_code_note) says for which ISA and contract the object was made. The only relocations
 * are R_RISCV_RELATIVE, R_RISCV_64 and R_RISCV_NONE. The loader trusts nothing in the file,
 * and the firmware nothing in the descriptor: it fetches it once, checks it and uses
 * its copy. (spec SYS-07)
 */
#ifndef TUTTI_CODE_OBJECT_H
#define TUTTI_CODE_OBJECT_H

#include "types.h"

#define TUTTI_KERNEL_MAGIC 0x4c4b5454u /* "TTKL" */

/* struct tutti_kernel_descriptor.flags */
#define TUTTI_KERNEL_BARRIER 1u     /* may use workgroup barriers */
#define TUTTI_KERNEL_INDEPENDENT 2u /* waves of a workgroup may run at different times (spec RES-07) */
#define TUTTI_KERNEL_LMEM 4u        /* each of its CGAs owns a linear memory slot (spec CGA-28) */
#define TUTTI_KERNEL_FLAGS 7u

/* Kinds of CGAs (groups of workgroups that run at the same time): what part of the card one lies in (spec CGA-01) */
#define TUTTI_CGA_NONE 0u
#define TUTTI_CGA_CPC 1u
#define TUTTI_CGA_GPC 2u
#define TUTTI_CGA_UGPU 3u
#define TUTTI_CGA_GPU 4u
#define TUTTI_CGA_LEVELS 4u

/** struct tutti_cga_shape - one level of nested CGAs: CTAs, or CGAs of the level below, along x, y, z. */
struct tutti_cga_shape {
	uint16_t x;
	uint16_t y;
	uint16_t z;
	uint16_t kind; /* TUTTI_CGA_*; NONE = the level is not used */
};
TUTTI_SIZE(struct tutti_cga_shape, 8);
TUTTI_AT(struct tutti_cga_shape, x, 0);
TUTTI_AT(struct tutti_cga_shape, y, 2);
TUTTI_AT(struct tutti_cga_shape, z, 4);
TUTTI_AT(struct tutti_cga_shape, kind, 6);

/** struct tutti_kernel_descriptor - `foo.kd`, 64-byte aligned. */
struct tutti_kernel_descriptor {
	uint32_t group_bytes;       /* shared memory that the kernel declares, bytes of a workgroup */
	uint32_t private_bytes;     /* private memory, bytes of a work-item; a wave gets 32 times that */
	uint32_t kernarg_bytes;     /* size of the arguments */
	uint32_t kernarg_align;     /* their alignment, a power of two from 16 to 4096 */
	int64_t entry_offset;       /* from the descriptor to the first instruction, bytes */
	uint32_t magic;             /* TUTTI_KERNEL_MAGIC */
	uint16_t flags;             /* TUTTI_KERNEL_* */
	uint16_t barriers;          /* workgroup barriers it needs, 0 to 16 */
	uint16_t scalar_blocks;     /* register blocks that one wave needs */
	uint16_t vector_blocks;
	uint16_t workgroup[3];      /* work-items it must be launched with, 0 = any number */
	uint16_t workgroup_max;     /* most work-items of a workgroup, 0 = as many as the card allows */
	uint16_t cga[3];            /* workgroups of a CGA along x, y, z; 0 = no CGA */
	uint8_t cga_kind;           /* TUTTI_CGA_* */
	uint8_t version;            /* 1 */
	uint32_t pad0;
	uint64_t pad1;
};
TUTTI_SIZE(struct tutti_kernel_descriptor, 64);
TUTTI_AT(struct tutti_kernel_descriptor, group_bytes, 0);
TUTTI_AT(struct tutti_kernel_descriptor, private_bytes, 4);
TUTTI_AT(struct tutti_kernel_descriptor, kernarg_bytes, 8);
TUTTI_AT(struct tutti_kernel_descriptor, kernarg_align, 12);
TUTTI_AT(struct tutti_kernel_descriptor, entry_offset, 16);
TUTTI_AT(struct tutti_kernel_descriptor, magic, 24);
TUTTI_AT(struct tutti_kernel_descriptor, flags, 28);
TUTTI_AT(struct tutti_kernel_descriptor, barriers, 30);
TUTTI_AT(struct tutti_kernel_descriptor, scalar_blocks, 32);
TUTTI_AT(struct tutti_kernel_descriptor, vector_blocks, 34);
TUTTI_AT(struct tutti_kernel_descriptor, workgroup, 36);
TUTTI_AT(struct tutti_kernel_descriptor, workgroup_max, 42);
TUTTI_AT(struct tutti_kernel_descriptor, cga, 44);
TUTTI_AT(struct tutti_kernel_descriptor, cga_kind, 50);
TUTTI_AT(struct tutti_kernel_descriptor, version, 51);
TUTTI_AT(struct tutti_kernel_descriptor, pad0, 52);
TUTTI_AT(struct tutti_kernel_descriptor, pad1, 56);

#define TUTTI_CODE_NOTE_TYPE 1u
#define TUTTI_CODE_ISA "riscv64-tutti-sm1--rv64imafd"

/** struct tutti_code_note - contents of the note "TUTTI" type 1. */
struct tutti_code_note {
	uint32_t contract; /* TUTTI_VERSION of the contract it was compiled for */
	uint32_t flags;    /* 0 */
	char isa[40];      /* TUTTI_CODE_ISA */
};
TUTTI_SIZE(struct tutti_code_note, 48);
TUTTI_AT(struct tutti_code_note, contract, 0);
TUTTI_AT(struct tutti_code_note, flags, 4);
TUTTI_AT(struct tutti_code_note, isa, 8);

#endif
