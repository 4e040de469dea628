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

/** code_path() - a code object of the tests, such as "test" or "external". */
const char *code_path(const char *name);
/** load_code() - a frozen executable with the kernels of such a file. */
hsa_executable_t load_code(const char *name);

/** struct kernel - what a packet says of a kernel. */
struct kernel {
	uint64_t object;
	uint32_t group, private, kernarg;
};
struct kernel kernel_of(hsa_executable_t executable, const char *name);

/** dispatch_packet() - the body of a packet for a one-dimensional grid; its header is still INVALID. */
hsa_kernel_dispatch_packet_t dispatch_packet(const struct kernel *kernel, uint32_t items, uint16_t workgroup,
					     void *kernarg, hsa_signal_t signal);
/** HEADER() - of a packet with system scopes. */
#define HEADER(type, barrier)                                                                           \
	((uint16_t)((type) << HSA_PACKET_HEADER_TYPE | (barrier) << HSA_PACKET_HEADER_BARRIER |          \
		    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                  \
		    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE))
/** put() - write any packet at @index, its first 32 bits last, without the doorbell. */
void put(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header);
/** launch() - reserve, put, ring. Return: the index. */
uint64_t launch(hsa_queue_t *queue, const struct kernel *kernel, uint32_t items, uint16_t workgroup, void *kernarg,
		hsa_signal_t signal);
/** new_signal() - a signal. */
hsa_signal_t new_signal(hsa_signal_value_t value);
/** wait_zero() - wait until a signal is 0, for at most 20 seconds. */
void wait_zero(hsa_signal_t signal);
/** fine_memory() - memory that host and card can change, zeroed. */
void *fine_memory(size_t bytes);

/** struct word - arguments of the kernels "poke" and "count": store or add @value. */
struct word {
	uint64_t *word, value;
};
/** pokes() - launch kernel @name, a "poke", on a queue of its own, and see that @value has been stored. */
void pokes(hsa_executable_t executable, const char *name, uint64_t value);

/** bad_handles - numbers that are no handle of any kind; @BAD_HANDLES of them. */
#define BAD_HANDLES 4u
extern const uint64_t bad_handles[BAD_HANDLES];

/* A handle of each kind that is none, for tables of misuse. */
#define BAD(type, i) ((type){bad_handles[i]})

#endif
