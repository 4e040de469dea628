/* SPDX-License-Identifier: MIT */
/**
 * DOC: Runs of free blocks (spec RES-08 .. RES-11, PERF-08)
 *
 * Maps have the format of tutti/sm_state.h: in a map of @words words, block b is bit b / words of word b % words.
 * To shift a map by s blocks therefore means to read word (k + s) % words, shifted by (k + s) / words bits, instead of
 * word k; no bits have to be carried from one word to the next. SA_i of the spec is what remains of the map after ANDs
 * with shifted copies of itself whose shifts add up to i. Because SA_i AND (SA_i shifted by j <= i + 1) is SA_(i+j),
 * the largest i with SA_i != 0 is found by doubling j and then halving it.
 */
#ifndef FREE_RUNS_H
#define FREE_RUNS_H

#include "core/base.h"

/** free_run_full() - exact length of the largest free run (RES-08). @occupied: 0 or ~0, the mark of occupied blocks */
uint32_t free_run_full(const uint32_t *map, uint32_t words, uint32_t occupied);
/** free_run_grouped() - the same in whole groups of @group (a power of two) blocks; never too much (RES-09). */
uint32_t free_run_grouped(const uint32_t *map, uint32_t words, uint32_t group);
/** free_run_sampled() - the same, but only some lengths are tested; never too much (RES-10). */
uint32_t free_run_sampled(const uint32_t *map, uint32_t words);

/* Width of the time-shared engine, in blocks: as many as the largest resource of the default card has. */
#define FREE_RUN_WIDTH 128u
#define FREE_RUN_MAPS 4u

/** struct free_run_part - one resource in a pass of the time-shared engine. */
struct free_run_part {
	const uint32_t *map;
	uint32_t blocks;
};
/**
 * free_run_shared() - exact search of several maps by one engine (RES-11).
 * @part: @n maps of at most 128 blocks; rounded up to multiples of 4 they sum up to at most FREE_RUN_WIDTH
 * @length: gets the largest free run of each map
 */
void free_run_shared(const struct free_run_part *part, uint32_t n, uint32_t *length);

/** free_run_count() - how many runs of @need (not 0) blocks fit when they are allocated first fit; at most @most. */
uint32_t free_run_count(const uint32_t *map, uint32_t words, uint32_t need, uint32_t most);

#endif
