/* SPDX-License-Identifier: MIT */
/**
 * DOC: Errors and fault records
 *
 * One record describes every error of a queue: what, where, who. The firmware
 * sends it once per stopped queue (spec PKT-06, SYS-06).
 */
#ifndef TUTTI_FAULT_H
#define TUTTI_FAULT_H

#include "types.h"

/* Queue error codes: struct tutti_fault.code */
#define TUTTI_ERROR_NONE 0u
#define TUTTI_ERROR_DIMENSIONS 1u       /* setup: dimensions not 1..3, or a zero size */
#define TUTTI_ERROR_GROUP_MEMORY 2u     /* group segment larger than an SM's shared memory */
#define TUTTI_ERROR_PRIVATE_MEMORY 3u   /* private segment larger than a wave may have */
#define TUTTI_ERROR_WORKGROUP 4u        /* workgroup too large, or not what the kernel requires */
#define TUTTI_ERROR_CODE_OBJECT 5u      /* null, unmapped or invalid kernel object */
#define TUTTI_ERROR_PACKET 6u           /* bad type or format, reserved bits, bad reference or diff */
#define TUTTI_ERROR_KERNEL_TRAP 7u      /* illegal instruction, abort(), failed assertion */
#define TUTTI_ERROR_MEMORY_FAULT 8u     /* an access of a wave or mover was refused */
#define TUTTI_ERROR_TIMEOUT 9u          /* no CTA completed within the queue's limit */
#define TUTTI_ERROR_RING_FAULT 10u      /* ring, read index or signal not accessible */
#define TUTTI_ERROR_GRID 11u            /* CGA or grid can never fit this card */
#define TUTTI_ERROR_TMD 12u             /* bad task metadata */
#define TUTTI_ERROR_TENSOR 13u          /* rejected TMAU request */
#define TUTTI_ERROR_CGA 14u             /* bad access to another CTA's memory */
#define TUTTI_ERROR_CANCELLED 15u
#define TUTTI_ERROR_AGENT 16u           /* unknown agent dispatch function or bad argument */
#define TUTTI_ERROR_SM 17u              /* an SM does not answer */
#define TUTTI_ERROR_MEMORY 18u          /* uncorrectable memory error */

/* struct tutti_fault.engine */
#define TUTTI_ENGINE_FIRMWARE 0u
#define TUTTI_ENGINE_FETCH 1u
#define TUTTI_ENGINE_WAVE 2u
#define TUTTI_ENGINE_MOVER 3u
#define TUTTI_ENGINE_POST 4u /* signal updates, index writes */

/* struct tutti_fault.access */
#define TUTTI_ACCESS_NONE 0u
#define TUTTI_ACCESS_READ 1u
#define TUTTI_ACCESS_WRITE 2u
#define TUTTI_ACCESS_EXECUTE 3u
#define TUTTI_ACCESS_ATOMIC 4u

/* struct tutti_fault.cause, detail below the code */
#define TUTTI_CAUSE_NONE 0u
#define TUTTI_CAUSE_UNMAPPED 1u
#define TUTTI_CAUSE_PROTECTION 2u
#define TUTTI_CAUSE_ALIGNMENT 3u
#define TUTTI_CAUSE_BUS 4u        /* page table points outside memory, or link down */
#define TUTTI_CAUSE_ILLEGAL 5u    /* illegal instruction */
#define TUTTI_CAUSE_BREAK 6u      /* ebreak */
#define TUTTI_CAUSE_ABORT 7u      /* tutti_abort(code): address holds the code */
#define TUTTI_CAUSE_SERVICE 8u    /* unknown or misused ecall */
#define TUTTI_CAUSE_WATCHDOG 9u
#define TUTTI_CAUSE_STACK 10u     /* private memory overrun */
#define TUTTI_CAUSE_ECC 11u
/* accesses to another CTA's shared memory: the first two are found by the source, with a pc (spec CGA-27) */
#define TUTTI_CAUSE_CGA_RANK 12u    /* rank beyond the CGA, or without an SM */
#define TUTTI_CAUSE_CGA_OFFSET 13u  /* offset larger than any segment */
#define TUTTI_CAUSE_CGA_EXITED 14u  /* the CTA has exited */
#define TUTTI_CAUSE_CGA_SEGMENT 15u /* past the end of the CTA's segment */
#define TUTTI_CAUSE_TENSOR 64u    /* + enum tutti_tensor_error */

/** struct tutti_fault - an error, as told to the host. */
struct tutti_fault {
	uint16_t code;     /* TUTTI_ERROR_* */
	uint8_t engine;    /* TUTTI_ENGINE_* */
	uint8_t access;    /* TUTTI_ACCESS_* */
	uint16_t cause;    /* TUTTI_CAUSE_* */
	uint16_t queue;
	uint64_t packet;   /* packet index in the queue */
	uint16_t kernel;   /* kernel within a condensed packet, else 0 */
	uint16_t context;
	uint16_t sm;       /* 0xffff = none */
	uint16_t wave;     /* wave slot in the SM */
	uint64_t pc;
	uint64_t address;
	uint32_t field;    /* first offending byte or unit of the packet */
	uint32_t pad0;
};
TUTTI_SIZE(struct tutti_fault, 48);
TUTTI_AT(struct tutti_fault, code, 0);
TUTTI_AT(struct tutti_fault, engine, 2);
TUTTI_AT(struct tutti_fault, access, 3);
TUTTI_AT(struct tutti_fault, cause, 4);
TUTTI_AT(struct tutti_fault, queue, 6);
TUTTI_AT(struct tutti_fault, packet, 8);
TUTTI_AT(struct tutti_fault, kernel, 16);
TUTTI_AT(struct tutti_fault, context, 18);
TUTTI_AT(struct tutti_fault, sm, 20);
TUTTI_AT(struct tutti_fault, wave, 22);
TUTTI_AT(struct tutti_fault, pc, 24);
TUTTI_AT(struct tutti_fault, address, 32);
TUTTI_AT(struct tutti_fault, field, 40);
TUTTI_AT(struct tutti_fault, pad0, 44);

#endif
