/* SPDX-License-Identifier: MIT */
/**
 * DOC: Task metadata (TMD)
 *
 * A TMD describes a task, which is a grid or a queue of work items. A dispatch packet on an
 * extended queue names it by its address (offset 48 of the packet); a kernel that
 * creates a child task gives its address. Host or kernels make it in memory, 64-byte aligned.
 * The firmware copies and checks the static part when it takes the task; the dynamic part
 * is the firmware's, which writes it when the task leaves the task table and when it
 * ends. (spec TSK-01)
 *
 * Every field is checked. Fields of something that is not asked for must be 0: a quota
 * without TUTTI_TMD_QUOTA, coalescing of a grid, and so on. The fields under "a grid of its own"
 * are read for child tasks only; of a child task that is a queue only kernel, kernarg,
 * signal and workgroup count, since its grid has no end.
 *
 * Work queues. Item k is in slot k % items. The first 8 bytes of a slot say whose turn it is: k
 * when the writer of item k may write, k + 1 when item k is there, k + items when its
 * reader has done with it; at first slot s holds s. To add an item a writer looks at the slot
 * of @write_index, k: if it does not say k the queue is full; else the writer takes number k by a
 * compare-and-swap of @write_index, writes the item, stores k + 1 with release order, and notifies:
 * a kernel by TUTTI_SERVICE_QUEUE_NOTIFY, the host by ringing the doorbell of the AQL queue. A CTA is only
 * told numbers of items, and may be told one whose writer is not ready: it waits until the
 * slot says k + 1. (spec TSK-10)
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
#define TUTTI_TMD_HEAD 0x0001u        /* goes first among waiting tasks of its priority, not last */
#define TUTTI_TMD_THROTTLE 0x0002u    /* runs alone, on throttle_sms SMs that share all shared memory (spec TSK-07) */
#define TUTTI_TMD_SEQUENCE 0x0004u    /* one CTA at a time, in the order of the grid (spec TSK-08); no CGAs then */
#define TUTTI_TMD_QUOTA 0x0008u       /* quota is valid */
#define TUTTI_TMD_AFFINITY 0x0010u    /* affinity address is valid */
#define TUTTI_TMD_INDEPENDENT 0x0020u /* overrides TUTTI_KERNEL_INDEPENDENT ... */
#define TUTTI_TMD_DEPENDENT 0x0040u   /* ... either way */
#define TUTTI_TMD_FLAGS 0x007fu

/* struct tutti_tmd.cga_mode */
#define TUTTI_CGA_LOAD_BALANCE 0u /* CTAs of a CGA go to the SMs with most room (spec CGA-09) */
#define TUTTI_CGA_MULTICAST 1u    /* at most one of them on an SM (spec CGA-10) */

/* struct tutti_tmd.state */
#define TUTTI_TMD_RESIDENT 1u  /* it has a slot of the task table */
#define TUTTI_TMD_CANCELLED 2u /* it was cancelled */
#define TUTTI_TMD_FINISHED 4u  /* it has ended */

/** struct tutti_work_queue - ring of work items that a queue task consumes; the rules are above (spec TSK-10). */
struct tutti_work_queue {
	uint64_t write_index; /* number of the next item to be written */
	uint64_t pad0[7];
	uint64_t read_index;  /* items ever given to CTAs; the card writes it */
	uint64_t pad1[7];
	uint64_t base;        /* address of slot 0 */
	uint32_t items;       /* slots, a power of two, at least 2 */
	uint32_t item_bytes;  /* bytes of a slot, a multiple of 8, its first 8 included */
	uint32_t closed;      /* not 0: no more items will come */
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
	/* static part: written by who makes the task */
	uint32_t magic;
	uint8_t version;
	uint8_t type;            /* TUTTI_TASK_* */
	uint8_t priority;        /* 1 (highest; the queue may set a limit) to 10 (lowest); 0 = that of the queue */
	uint8_t cga_mode;        /* TUTTI_CGA_LOAD_BALANCE or _MULTICAST */
	uint32_t flags;          /* TUTTI_TMD_* */
	uint32_t quota;          /* CTAs it may start in its turn */
	uint64_t affinity;       /* address of a bit mask of SMs, TUTTI_MAX_SMS bits */
	uint64_t queue;          /* address of a struct tutti_work_queue (queue tasks) */
	uint32_t coalesce_min;   /* queue tasks: a CTA is started when there are so many items */
	uint32_t coalesce_max;   /* most items of a CTA */
	uint32_t coalesce_us;    /* after so many microseconds fewer are enough */
	uint32_t throttle_sms;   /* TUTTI_TMD_THROTTLE: number of SMs, the first usable ones; CGAs have to fit there */
	struct tutti_cga_shape cga[TUTTI_CGA_LEVELS]; /* innermost level first */
	/* a grid of its own, for child tasks: fields as in struct tutti_dispatch_packet */
	uint64_t kernel_object;
	uint64_t kernarg;
	uint64_t signal;
	uint32_t grid[3];        /* work-items */
	uint16_t workgroup[3];   /* work-items */
	uint16_t setup;
	uint32_t group_bytes;
	uint32_t private_bytes;
	uint32_t pad0;
	/* dynamic part: written by the firmware */
	uint32_t state;          /* TUTTI_TMD_RESIDENT, TUTTI_TMD_CANCELLED, TUTTI_TMD_FINISHED */
	uint32_t error;          /* TUTTI_ERROR_* */
	uint64_t issued;         /* CTAs started */
	uint64_t completed;      /* CTAs completed */
	uint64_t resume;         /* number of the next CTA to start */
	uint64_t outstanding;    /* queue tasks: items not given to a CTA yet */
	uint32_t evictions;      /* how often a task of higher priority took its slot */
	uint32_t turns;          /* turns that its quota ended */
	uint32_t timeouts;       /* CTAs started by coalesce_us */
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
