/* SPDX-License-Identifier: MIT */
/**
 * DOC: What the tests of the HSA runtime share
 *
 * The programs are written as any HSA program is: they include Debian's headers and nothing of Tutti, so that layouts
 * and values are the real ones. hsa.sh runs them a second time with a library whose functions do nothing and return 0,
 * and then every test must fail: so each test asks for something that such a library does not give.
 */
#ifndef HSA_TEST_H
#define HSA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

/** OK() - a call that has to succeed. */
#define OK(call) assert_int_equal((call), HSA_STATUS_SUCCESS)
/** FAILS() - a call that has to fail with HSA_STATUS_ERROR_@status. */
#define FAILS(status, call) assert_int_equal((call), HSA_STATUS_ERROR_##status)

/** struct found - what iterations have found; the tests' programs begin with found_all(). */
struct found {
	hsa_agent_t host, card;
	hsa_region_t fine, kernarg, local, readonly, group, private;
	hsa_amd_memory_pool_t host_pool, card_pool, group_pool;
	unsigned agents;
};
extern struct found found;

/** found_all() - for cmocka's group setup: hsa_init(), and what there is. */
int found_all(void **state);
/** found_done() - hsa_shut_down(). */
int found_done(void **state);

/** bad_handles - numbers that are no handle of any kind; @BAD_HANDLES of them. */
#define BAD_HANDLES 4u
extern const uint64_t bad_handles[BAD_HANDLES];

/* A handle of each kind that is none, for tables of misuse. */
#define BAD(type, i) ((type){bad_handles[i]})

#endif
