/* SPDX-License-Identifier: MIT */
/**
 * DOC: Errors and fault records
 *
 * An error stops the queue it belongs to and no other. One record says what happened,
 * where, and to whom; the firmware sends it once for each time the queue stops.
 * (spec PKT-06, SYS-06)
 */
#ifndef TUTTI_FAULT_H
#define TUTTI_FAULT_H

#include "types.h"

/* Queue error codes: struct tutti_fault.code */
#define TUTTI_ERROR_NONE 0u
#define TUTTI_ERROR_DIMENSIONS 1u       /* the number of dimensions is not 1, 2 or 3, or a size is 0 */
#define TUTTI_ERROR_GROUP_MEMORY 2u     /* a workgroup needs more shared memory than an SM has */
#define TUTTI_ERROR_PRIVATE_MEMORY 3u   /* a wave needs more private memory than it may have */
#define TUTTI_ERROR_WORKGROUP 4u        /* the workgroup is too large, or not what the kernel requires */
#define TUTTI_ERROR_CODE_OBJECT 5u      /* the kernel object is null, unmapped or invalid */
#define TUTTI_ERROR_PACKET 6u           /* bad type or format, reserved bits set, bad reference or difference */
#define TUTTI_ERROR_KERNEL_TRAP 7u      /* illegal instruction, abort() or a failed assertion in a kernel */
#define TUTTI_ERROR_MEMORY_FAULT 8u     /* an access of a wave or mover was refused */
#define TUTTI_ERROR_TIMEOUT 9u          /* no workgroup has completed within the queue's limit */
#define TUTTI_ERROR_RING_FAULT 10u      /* ring, read index or signal cannot be accessed */
#define TUTTI_ERROR_GRID 11u            /* the grid or its CGA can never fit this card */
#define TUTTI_ERROR_TMD 12u             /* bad task metadata */
#define TUTTI_ERROR_TENSOR 13u          /* a tensor request was refused */
#define TUTTI_ERROR_CGA 14u             /* bad access to another workgroup's shared memory */
#define TUTTI_ERROR_CANCELLED 15u       /* the task was cancelled */
#define TUTTI_ERROR_AGENT 16u           /* unknown function or bad argument in an agent dispatch packet */
#define TUTTI_ERROR_SM 17u              /* an SM does not answer */
#define TUTTI_ERROR_MEMORY 18u          /* uncorrectable memory error */

/* struct tutti_fault.engine: which part of the card found it */
#define TUTTI_ENGINE_FIRMWARE 0u
#define TUTTI_ENGINE_FETCH 1u /* reads of packets, descriptors, metadata */
#define TUTTI_ENGINE_WAVE 2u  /* a kernel */
#define TUTTI_ENGINE_MOVER 3u /* copies and tensor requests */
#define TUTTI_ENGINE_POST 4u  /* writes of signals and indexes */

/* struct tutti_fault.access: what was tried */
#define TUTTI_ACCESS_NONE 0u
#define TUTTI_ACCESS_READ 1u
#define TUTTI_ACCESS_WRITE 2u
#define TUTTI_ACCESS_EXECUTE 3u
#define TUTTI_ACCESS_ATOMIC 4u

/* struct tutti_fault.cause: why it was refused */
#define TUTTI_CAUSE_NONE 0u
#define TUTTI_CAUSE_UNMAPPED 1u   /* nothing is mapped there */
#define TUTTI_CAUSE_PROTECTION 2u /* it is mapped, but not for that */
#define TUTTI_CAUSE_ALIGNMENT 3u
#define TUTTI_CAUSE_BUS 4u        /* a page table points outside memory, or the link is down */
#define TUTTI_CAUSE_ILLEGAL 5u    /* illegal instruction */
#define TUTTI_CAUSE_BREAK 6u      /* ebreak */
#define TUTTI_CAUSE_ABORT 7u      /* tutti_abort(code); the code is in the address field */
#define TUTTI_CAUSE_SERVICE 8u    /* a service that is unknown, or not allowed here */
#define TUTTI_CAUSE_WATCHDOG 9u   /* no progress within the time limit */
#define TUTTI_CAUSE_STACK 10u     /* beyond the private memory: the stack is full */
#define TUTTI_CAUSE_ECC 11u       /* a memory error that could not be corrected */
/*
 * Accesses to another CTA's shared memory (spec CGA-27). The first two are found where the wave runs, so that the pc
 * is known.
 */
#define TUTTI_CAUSE_CGA_RANK 12u    /* there is no CTA of that rank */
#define TUTTI_CAUSE_CGA_OFFSET 13u  /* the offset is larger than any CTA's memory can be */
#define TUTTI_CAUSE_CGA_EXITED 14u  /* the CTA has exited */
#define TUTTI_CAUSE_CGA_SEGMENT 15u /* past the end of the CTA's memory */
#define TUTTI_CAUSE_TENSOR 64u      /* + enum tutti_tensor_error */

/**
 * struct tutti_fault - an error, as it is reported to the host.
 * @code: TUTTI_ERROR_*
 * @engine: TUTTI_ENGINE_*
 * @access: TUTTI_ACCESS_*
 * @cause: TUTTI_CAUSE_*
 * @queue: queue that has stopped
 * @packet: index of the packet in it
 * @kernel: number of the kernel in a condensed packet, else 0
 * @context: address space
 * @sm: SM, 0xffff = none
 * @wave: wave slot in the SM
 * @pc: address of the instruction, if a wave is to blame
 * @address: address that was accessed
 * @field: offset of the first bad byte of the packet; in a condensed packet the number of the unit
 */
struct tutti_fault {
	uint16_t code;
	uint8_t engine;
	uint8_t access;
	uint16_t cause;
	uint16_t queue;
	uint64_t packet;
	uint16_t kernel;
	uint16_t context;
	uint16_t sm;
	uint16_t wave;
	uint64_t pc;
	uint64_t address;
	uint32_t field;
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
