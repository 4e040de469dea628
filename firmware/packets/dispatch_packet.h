/* SPDX-License-Identifier: MIT */
/**
 * DOC: Decoding of packets
 *
 * Everything is checked on a private copy of the packet. A kernel dispatch is decoded straight into the payload of a
 * STATE command (struct tutti_task_state) and the few words that the task keeps. The packet is not looked at again.
 */
#ifndef DISPATCH_PACKET_H
#define DISPATCH_PACKET_H

#include "core/divisor.h"
#include "core/state.h"
#include "core/task_state.h"

struct queue;
struct kernel;
struct shape;

/** struct launch - what is known of a launch and is not part of its task state. */
struct launch {
	uint32_t groups;     /* CTAs of the grid */
	uint32_t header;     /* barrier bit and scopes, as in the packet */
	uint32_t signal[2];
	struct shape *shape;
	const struct kernel *kernel;
};

/**
 * packet_dispatch() - decode a kernel dispatch packet.
 * @state: payload of a STATE command
 * Return: 0, PACKET_GROUPED (the same, for a kernel that has CGAs), TUTTI_ERROR_*, PACKET_SPECIAL, or PACKET_PARKED (kernel
 * descriptor on its way, or no shape free)
 */
int packet_dispatch(struct queue *queue, const struct tutti_dispatch_packet *packet, uint32_t *state,
		    struct launch *launch);
/*
 * While it is set packet_dispatch() decodes what it otherwise returns PACKET_SPECIAL for. It is no argument, so that usual
 * packets do not pay for it.
 */
extern bool packet_any;
/**
 * packet_special() - decode any dispatch packet.
 * @shared_limit: shared blocks of an SM in the throttle mode of its task; 0: as many as an SM has now
 */
int packet_special(struct queue *queue, const struct tutti_dispatch_packet *packet, uint32_t shared_limit,
		   uint32_t *state, struct launch *launch);

/** packet_groups() - number of workgroups of size @size along one dimension of a grid; 0 if @grid is 0. */
static inline __attribute__((always_inline)) uint32_t packet_groups(const struct divisor *size, uint32_t grid)
{
	if (unlikely((int32_t)grid <= 0))
		return grid ? (grid - 1) / size->by + 1 : 0;
	return divisor_parts(size, grid);
}

/** packet_product() - number of workgroups of a grid, above 2^32 - 1 if there are too many. */
static inline uint64_t packet_product(uint32_t x, uint32_t y, uint32_t z)
{
	uint64_t all = (uint64_t)x * y;

	return all >> 32 ? all : all * z;
}

/** packet_signal_ok() - the address of a signal is a multiple of 64 and below the end of the address space. */
static inline bool packet_signal_ok(uint32_t low, uint32_t high)
{
	return !((low & 63) | high >> 15);
}

#endif
