/* SPDX-License-Identifier: MIT */
/**
 * DOC: One function of the shipped firmware image, called alone and counted
 *
 * An RV32 core with nothing around it: the image's segments in local memory, and a scratch area for arguments. Every
 * instruction of the function, from its first one to its return, is counted, on data made for the purpose.
 */
#ifndef TUTTI_TOOL_BENCH_CORE_H
#define TUTTI_TOOL_BENCH_CORE_H

#include <stdint.h>

struct bench_core;

#define BENCH_SCRATCH 0x50000000u /* address of the scratch area */
#define BENCH_SCRATCH_BYTES (1u << 20)

struct tutti_card;

/** bench_core_create() - a core with the firmware that @card has booted; NULL if it cannot be. */
struct bench_core *bench_core_create(struct tutti_card *card);
void bench_core_destroy(struct bench_core *core);
/** bench_core_scratch() - the scratch area, as the host sees it. */
void *bench_core_scratch(struct bench_core *core);
/**
 * bench_core_call() - call @function with a0 .. a4.
 * @result: gets a0, may be NULL
 * Return: instructions, negative if there is no such function or it does not return.
 */
int64_t bench_core_call(struct bench_core *core, const char *function, const uint32_t arg[5], uint32_t *result);

#endif
