/* SPDX-License-Identifier: MIT */
/**
 * DOC: Runs of free blocks (spec RES-08 .. RES-11, PERF-08)
 *
 * Maps as in tutti/sm_state.h: @words words, block b is bit b / words of word
 * b % words. To shift a map by s blocks is to take word (k + s) % words shifted by
 * (k + s) / words, so that only the AND of a map with itself shifted is left to do.
 * SA_i of the spec is what remains after ANDs whose shifts add up to i; because SA_i
 * AND (SA_i shifted by j <= i + 1) is SA_(i+j), the largest i with SA_i != 0 is found
 * by doubling and then halving j.
 */
#ifndef FREE_RUNS_H
#define FREE_RUNS_H

#include "core/base.h"

/** free_run_full() - length of the largest free run, exact (RES-08). @occupied: 0 or ~0, how occupied blocks are marked. */
uint32_t free_run_full(const uint32_t *map, uint32_t words, uint32_t occupied);
/** free_run_grouped() - of whole groups of @group (power of two) blocks; never more than the truth (RES-09). */
uint32_t free_run_grouped(const uint32_t *map, uint32_t words, uint32_t group);
/** free_run_sampled() - only chosen lengths are tested; never more than the truth (RES-10). */
uint32_t free_run_sampled(const uint32_t *map, uint32_t words);

/* Width of the time-shared engine: the default card's largest resource, or more if a card has larger ones. */
#define FREE_RUN_WIDTH 128u
#define FREE_RUN_MAPS 4u

/** struct free_run_part - a resource in a pass of the time-shared engine. */
struct free_run_part {
	const uint32_t *map;
	uint32_t blocks;
};
/**
 * free_run_shared() - one pass: several maps side by side in one engine, exact (RES-11).
 * @part: @n maps of at most 128 blocks, rounded up to multiples of 4 at most FREE_RUN_WIDTH in all
 * @length: gets the largest free run of each
 */
void free_run_shared(const struct free_run_part *part, uint32_t n, uint32_t *length);

/** free_run_count() - how many runs of @need (not 0) blocks fit, first fit one after another; stops at @most. */
uint32_t free_run_count(const uint32_t *map, uint32_t words, uint32_t need, uint32_t most);

#endif
