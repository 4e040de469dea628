/* SPDX-License-Identifier: MIT */
/** DOC: A trace file as tasks, placements and CTAs, for `tutti trace` */
#ifndef TUTTI_TOOL_TRACE_MODEL_H
#define TUTTI_TOOL_TRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti/trace_api.h"

#define TRACE_NEVER UINT64_MAX

#define TRACE_NAMELESS UINT32_MAX
#define TRACE_NAME_BYTES 256u

/** struct trace_kernel - a kernel that was loaded; characters of names that are unusual in C are question marks. */
struct trace_kernel {
	uint64_t entry; /* address of its first instruction */
	uint32_t same;  /* number of the first kernel with this name */
	char name[TRACE_NAME_BYTES];
};

/** struct trace_task - one grid or queue task, from the STATE message that began it; times in ticks. */
struct trace_task {
	uint64_t packet;
	uint64_t begun, ended_last; /* STATE message, end of the last CTA so far */
	uint32_t kernel;            /* in the table, TRACE_NAMELESS = not known */
	uint32_t colour;            /* number of its kernel and queue among all pairs of them */
	uint16_t queue, waves;
	uint32_t ctas;         /* of the grid */
	uint32_t group, kind;  /* CTAs of an outermost CGA, 0 = none, and its TUTTI_CGA_* */
	uint32_t taken, ended; /* CTAs */
};

/** struct trace_cta - one CTA; times in ticks, TRACE_NEVER = not seen. */
struct trace_cta {
	uint32_t task, number;
	uint32_t group;  /* 1 + number of its CGA in the grid, 0 = none */
	uint16_t sm;
	uint16_t lane;   /* its lane among the CTAs on the SM at the same time */
	uint64_t taken, run, done;
	uint32_t next;   /* on the SM while it ran */
};

/** struct trace_placement - consecutive launch messages of one task, with no completion between them. */
struct trace_placement {
	uint64_t time;
	uint32_t task;
	uint32_t first, ctas; /* in the table of CTAs */
	uint8_t *free;        /* slots of each SM before; NULL = not recorded */
};

/** struct trace_model - the contents of a file. */
struct trace_model {
	struct tutti_trace_file head;
	struct tutti_discovery card;
	struct tutti_sm_place *places; /* NULL = none */
	struct tutti_trace *records;
	size_t count;
	struct trace_task *tasks;
	struct trace_cta *ctas;
	struct trace_placement *placements;
	struct trace_kernel *kernels;
	uint32_t task_count, cta_count, placement_count, kernel_count, colour_count;
	uint64_t first, last; /* time of the first task, of the last record */
};

/** trace_load() - read a file. 0 or -errno: -EINVAL = it is no trace, -ENODATA = it is cut short. */
int trace_load(struct trace_model *model, const char *path);
void trace_unload(struct trace_model *model);
/** trace_us() - time since the first task's state, µs; what was before it is negative. */
double trace_us(const struct trace_model *model, uint64_t time);
/** trace_from_start() - from now on trace_us() counts from the first record of any kind, so that no time is negative. */
void trace_from_start(struct trace_model *model);
/** trace_kernel_at() - number of the newest kernel whose code begins at @entry; TRACE_NAMELESS: not known. */
uint32_t trace_kernel_at(const struct trace_model *model, uint64_t entry);
/** trace_task_name() - its kernel, or queue and packet where the kernel is not known; a static buffer. */
const char *trace_task_name(const struct trace_model *model, const struct trace_task *task);
/** trace_gpc() - GPC of an SM. */
unsigned trace_gpc(const struct trace_model *model, unsigned sm);

#endif
