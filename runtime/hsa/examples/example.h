/* SPDX-License-Identifier: MIT */
/**
 * DOC: What the HSA examples share: any HSA program has something like it
 */
#ifndef HSA_EXAMPLE_H
#define HSA_EXAMPLE_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** CHECK() - a call that has to succeed; otherwise the program says which one did not, and ends. */
#define CHECK(call) check((call), #call)
void check(hsa_status_t status, const char *what);

/**
 * struct example - what every example needs of the system.
 * @host, @card: agents
 * @kernarg: region of kernel arguments
 * @system, @local: memory pools of the two agents
 * @executable: code of the kernels
 */
struct example {
	hsa_agent_t host, card;
	hsa_region_t kernarg;
	hsa_amd_memory_pool_t system, local;
	hsa_executable_t executable;
};

/** struct kernel - what a packet says of a kernel. */
struct kernel {
	uint64_t object;
	uint32_t group, private, kernarg;
};

/** struct combine - arguments of the kernel "combine", which stores *@a times @times_a plus *@b times @times_b. */
struct combine {
	uint64_t *out;
	const uint64_t *a, *b;
	uint64_t times_a, times_b;
};

/** example_begin() - hsa_init(), find agents and memory, load kernels.tco, which lies beside the program. */
void example_begin(struct example *example, const char *program);
/** example_kernel() - look a kernel up. */
struct kernel example_kernel(const struct example *example, const char *name);
/** example_queue() - create a queue of the card, with a callback for errors. */
hsa_queue_t *example_queue(const struct example *example, void (*callback)(hsa_status_t, hsa_queue_t *, void *),
			   void *data);
/** example_arguments() - allocate memory for kernel arguments. */
void *example_arguments(const struct example *example, size_t bytes);
/** example_signal() - create a signal that begins with @value. */
hsa_signal_t example_signal(hsa_signal_value_t value);
/** example_wait() - wait until a signal is 0, or negative because what would have completed it has failed. */
void example_wait(hsa_signal_t signal);

/** submit() - put a packet whose header is still 0 into a queue, and ring. */
void submit(hsa_queue_t *queue, const void *packet, uint16_t header);
/** launch() - put a packet that launches @kernel over @items work-items in one dimension into a queue, and ring. */
void launch(hsa_queue_t *queue, const struct kernel *kernel, uint32_t items, uint16_t workgroup, void *arguments,
	    hsa_signal_t done);
/** HEADER() - of a packet with system scopes and the barrier bit. */
#define HEADER(type)                                                                                     \
	((uint16_t)((type) << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |                   \
		    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                   \
		    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE))

#endif
