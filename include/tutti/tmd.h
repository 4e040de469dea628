/* SPDX-License-Identifier: MIT */
/**
 * DOC: Task metadata (TMD)
 *
 * Describes a task: a grid, or a queue of work items. Named by a dispatch packet
 * on an extended queue (offset 48), made by host or by a kernel, 64-byte
 * aligned. Firmware copies and checks the static part; the dynamic part is the
 * firmware's, mirrored here when the task leaves the table or ends. (spec TSK-01)
 *
 * Every field is checked; what belongs to something not asked for (a quota without
 * TUTTI_TMD_QUOTA, coalescing of a grid ...) is 0. The fields of "a grid of its own" are
 * read for child tasks only; of a queue task only kernel, kernarg, signal and workgroup
 * count, its grid is endless.
 *
 * A work queue's item k lies in slot k % items. Its first 8 bytes say whose turn it is: k = the
 * writer of item k may write, k + 1 = item k is there, and k + items when its reader has
 * done with it; before first use slot s holds s. A writer takes number k by a compare-and-swap
 * of @write_index once the slot says k (else the queue is full), writes, stores k + 1 with
 * release order and notifies: a kernel by TUTTI_SERVICE_QUEUE_NOTIFY, the host by ringing
 * the doorbell of the AQL queue. A CTA is told numbers only (wave information block), and may be told
 * one whose writer is still at it: it reads the item when the slot says k + 1. (TSK-10)
 */
#ifndef TUTTI_TMD_H
#define TUTTI_TMD_H

#include "code_object.h"

#define TUTTI_TMD_MAGIC 0x444d5454u /* "TTMD" */
#define TUTTI_TMD_VERSION 1u

/* struct tutti_tmd.type */
#define TUTTI_TASK_GRID 0u
#define TUTTI_TASK_QUEUE 1u

/* struct tutti_tmd.flags */
#define TUTTI_TMD_HEAD 0x0001u        /* insert at the head of its priority list */
#define TUTTI_TMD_THROTTLE 0x0002u
#define TUTTI_TMD_SEQUENCE 0x0004u
#define TUTTI_TMD_QUOTA 0x0008u       /* quota is valid */
#define TUTTI_TMD_AFFINITY 0x0010u    /* affinity address is valid */
#define TUTTI_TMD_INDEPENDENT 0x0020u /* overrides the kernel's flag ... */
#define TUTTI_TMD_DEPENDENT 0x0040u   /* ... either way */
#define TUTTI_TMD_FLAGS 0x007fu

/* struct tutti_tmd.cga_mode */
#define TUTTI_CGA_LOAD_BALANCE 0u
#define TUTTI_CGA_MULTICAST 1u

/* struct tutti_tmd.state */
#define TUTTI_TMD_RESIDENT 1u  /* has a slot of the task table */
#define TUTTI_TMD_CANCELLED 2u /* deallocation was requested */
#define TUTTI_TMD_FINISHED 4u

/** struct tutti_work_queue - circular queue of work items, for queue tasks (spec TSK-10). */
struct tutti_work_queue {
	uint64_t write_index; /* items ever written (atomic add to reserve) */
	uint64_t pad0[7];
	uint64_t read_index;  /* items ever given to CTAs; card writes */
	uint64_t pad1[7];
	uint64_t base;        /* address of the items */
	uint32_t items;       /* capacity, power of two */
	uint32_t item_bytes;  /* multiple of 8, with the first 8 */
	uint32_t closed;      /* non-zero: no more items will come */
	uint32_t pad2;
	uint64_t pad3[5];
};
TUTTI_SIZE(struct tutti_work_queue, 192);
TUTTI_AT(struct tutti_work_queue, write_index, 0);
TUTTI_AT(struct tutti_work_queue, pad0, 8);
TUTTI_AT(struct tutti_work_queue, read_index, 64);
TUTTI_AT(struct tutti_work_queue, pad1, 72);
TUTTI_AT(struct tutti_work_queue, base, 128);
TUTTI_AT(struct tutti_work_queue, items, 136);
TUTTI_AT(struct tutti_work_queue, item_bytes, 140);
TUTTI_AT(struct tutti_work_queue, closed, 144);
TUTTI_AT(struct tutti_work_queue, pad2, 148);
TUTTI_AT(struct tutti_work_queue, pad3, 152);

/** struct tutti_tmd - task metadata, 256 bytes. */
struct tutti_tmd {
	/* quasi-static state: written by who makes the task */
	uint32_t magic;
	uint8_t version;
	uint8_t type;            /* TUTTI_TASK_* */
	uint8_t priority;        /* 1 (highest) .. 10; 0 = queue's */
	uint8_t cga_mode;
	uint32_t flags;          /* TUTTI_TMD_* */
	uint32_t quota;          /* CTAs per turn */
	uint64_t affinity;       /* address of a bit mask of SMs, TUTTI_MAX_SMS bits */
	uint64_t queue;          /* address of a struct tutti_work_queue (queue tasks) */
	uint32_t coalesce_min;   /* items per CTA, queue tasks */
	uint32_t coalesce_max;
	uint32_t coalesce_us;    /* timeout */
	uint32_t throttle_sms;   /* SMs that share the shared memory in throttle mode */
	struct tutti_cga_shape cga[TUTTI_CGA_LEVELS]; /* innermost first */
	/* a grid of its own, for tasks not made by a packet (child tasks) */
	uint64_t kernel_object;
	uint64_t kernarg;
	uint64_t signal;
	uint32_t grid[3];
	uint16_t workgroup[3];
	uint16_t setup;
	uint32_t group_bytes;
	uint32_t private_bytes;
	uint32_t pad0;
	/* dynamic state: written by firmware */
	uint32_t state;          /* TUTTI_TMD_RESIDENT, .. */
	uint32_t error;          /* TUTTI_ERROR_* */
	uint64_t issued;         /* CTAs issued */
	uint64_t completed;      /* CTAs completed */
	uint64_t resume;         /* next CTA to issue */
	uint64_t outstanding;    /* work items outstanding */
	uint32_t evictions;
	uint32_t turns;          /* quota turns */
	uint32_t timeouts;       /* coalescing timeouts */
	uint32_t pad1;
	uint64_t pad2[8];
};
TUTTI_SIZE(struct tutti_tmd, 256);
TUTTI_AT(struct tutti_tmd, magic, 0);
TUTTI_AT(struct tutti_tmd, version, 4);
TUTTI_AT(struct tutti_tmd, type, 5);
TUTTI_AT(struct tutti_tmd, priority, 6);
TUTTI_AT(struct tutti_tmd, cga_mode, 7);
TUTTI_AT(struct tutti_tmd, flags, 8);
TUTTI_AT(struct tutti_tmd, quota, 12);
TUTTI_AT(struct tutti_tmd, affinity, 16);
TUTTI_AT(struct tutti_tmd, queue, 24);
TUTTI_AT(struct tutti_tmd, coalesce_min, 32);
TUTTI_AT(struct tutti_tmd, coalesce_max, 36);
TUTTI_AT(struct tutti_tmd, coalesce_us, 40);
TUTTI_AT(struct tutti_tmd, throttle_sms, 44);
TUTTI_AT(struct tutti_tmd, cga, 48);
TUTTI_AT(struct tutti_tmd, kernel_object, 80);
TUTTI_AT(struct tutti_tmd, kernarg, 88);
TUTTI_AT(struct tutti_tmd, signal, 96);
TUTTI_AT(struct tutti_tmd, grid, 104);
TUTTI_AT(struct tutti_tmd, workgroup, 116);
TUTTI_AT(struct tutti_tmd, setup, 122);
TUTTI_AT(struct tutti_tmd, group_bytes, 124);
TUTTI_AT(struct tutti_tmd, private_bytes, 128);
TUTTI_AT(struct tutti_tmd, pad0, 132);
TUTTI_AT(struct tutti_tmd, state, 136);
TUTTI_AT(struct tutti_tmd, error, 140);
TUTTI_AT(struct tutti_tmd, issued, 144);
TUTTI_AT(struct tutti_tmd, completed, 152);
TUTTI_AT(struct tutti_tmd, resume, 160);
TUTTI_AT(struct tutti_tmd, outstanding, 168);
TUTTI_AT(struct tutti_tmd, evictions, 176);
TUTTI_AT(struct tutti_tmd, turns, 180);
TUTTI_AT(struct tutti_tmd, timeouts, 184);
TUTTI_AT(struct tutti_tmd, pad1, 188);
TUTTI_AT(struct tutti_tmd, pad2, 192);

#endif
