/* SPDX-License-Identifier: MIT */
/*
 * Tests that run on the soft core (REL-02): checks, seeded numbers, TAP lines into
 * the log ring. The same C also runs on the host; both must log the same.
 */
#ifndef TUTTI_TARGET_CHECK_H
#define TUTTI_TARGET_CHECK_H

#include "core/hal.h"

/* What the host asks the image to do: a word of card memory, far behind the image. */
#define TARGET_REQUEST (16u << 20)
enum target_request {
	TARGET_TESTS, TARGET_FAIL, TARGET_ILLEGAL, TARGET_UNMAPPED, TARGET_PANIC, TARGET_BREAK, TARGET_DEEP, TARGET_LARGE,
	TARGET_AGAIN,
};

struct target_test {
	const char *name;
	void (*run)(void);
};
extern const struct target_test target_lake[], target_decode[], target_basic[], target_tensor[];

/* Marks of target_tensor: + rank; | 0x80 at the end. */
enum { TARGET_MARK_NOTHING = 1, TARGET_MARK_INTERIOR = 8, TARGET_MARK_EDGE = 16, TARGET_MARK_COLUMN = 24, TARGET_MARK_SETUP = 32 };

/** target_run() - all tests, TAP into the log; with TARGET_FAIL one more, which fails. */
void target_run(enum target_request request);
/** check_at() - note a failed check; the first one of a test is logged. */
void check_at(bool ok, const char *file, unsigned line, const char *text);
#define CHECK(condition) check_at((condition), __FILE__, __LINE__, #condition)
/** check_vector() - mix words into what the test logs at its end: equal on both machines. */
void check_vector(const void *words, unsigned n);
void check_word(uint32_t word);

void target_seed(uint32_t seed);
uint32_t target_random(void);
/** target_roll() - 0 .. n - 1 */
uint32_t target_roll(uint32_t n);

/** target_engines() - wait until the engines have taken all commands. */
bool target_engines(void);

#endif
