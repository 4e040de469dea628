/* SPDX-License-Identifier: MIT */
/**
 * DOC: Decoding of packets
 *
 * Everything is checked on a private copy of the packet. A kernel dispatch is
 * decoded straight into the payload of a STATE command (struct tutti_task_state)
 * and the few words the task keeps; nothing later looks at the packet again.
 */
#ifndef DISPATCH_PACKET_H
#define DISPATCH_PACKET_H

#include "core/base.h"

struct queue;
struct kernel;
struct shape;
struct tmd;

/* Words of struct tutti_task_state and struct tutti_reference, as 32-bit indexes. */
#define STATE_WORDS (sizeof(struct tutti_task_state) / 4)
#define STATE_AT(field) (offsetof(struct tutti_task_state, field) / 4)
#define REFERENCE_AT(field) (offsetof(struct tutti_reference, field) / 4)
#define REFERENCE_WORDS REFERENCE_AT(used)
#define RECORD_WORDS REFERENCE_AT(kernel_object) /* what launches read */

/* The start of an entry is what the command TASK reads. */
_Static_assert(STATE_AT(asid) == TUTTI_TASK_WORDS && REFERENCE_AT(signal) == TUTTI_TASK_WORDS &&
	       offsetof(struct tutti_reference, setup) == offsetof(struct tutti_task_state, dimensions) &&
	       offsetof(struct tutti_reference, waves) == offsetof(struct tutti_task_state, waves) &&
	       offsetof(struct tutti_reference, barriers) == offsetof(struct tutti_task_state, barriers),
	       "a reference starts with a task state");

/** struct launch - what is known of a kernel beside its task state. */
struct launch {
	uint32_t groups;     /* CTAs of the grid */
	uint32_t header;     /* barrier bit and scopes, as in the packet */
	uint32_t signal[2];
	struct shape *shape;
	const struct kernel *kernel;
};

/* Outcomes of working on a packet; positive: TUTTI_ERROR_* */
#define PACKET_DONE 0
#define PACKET_PARKED (-1)
#define PACKET_SPECIAL (-2) /* has metadata, or its kernel CGAs: launch_special() */

/** struct packet_error - details of the last refused packet. */
struct packet_error {
	uint32_t field;   /* byte or unit */
	uint32_t kernel;
	uint32_t cause;
	uint64_t address;
	uint8_t engine, access;
};
extern struct packet_error packet_error;

/**
 * packet_dispatch() - decode a kernel dispatch packet.
 * @state: payload of a STATE command
 * Return: 0, TUTTI_ERROR_*, PACKET_SPECIAL, or PACKET_PARKED (kernel descriptor on its way, or no shape free)
 */
int packet_dispatch(struct queue *queue, const struct tutti_dispatch_packet *packet, uint32_t *state,
		    struct launch *launch);
/** packet_special() - packet_dispatch() for what has no metadata (any more). The kernel may have CGAs. */
int packet_special(struct queue *queue, const struct tutti_dispatch_packet *packet, uint32_t *state,
		   struct launch *launch);
/** packet_throttle() - packets decoded from now on are of the task of @tmd, NULL: of plain ones. */
void packet_throttle(const struct tmd *tmd);
/** packet_refuse() - note where the fault lies; returns @code. */
int packet_refuse(int code, uint32_t field);

/** packet_groups() - workgroups along one dimension. */
static inline uint32_t packet_groups(uint32_t grid, uint32_t workgroup)
{
	return workgroup == 1 ? grid : (grid - 1) / workgroup + 1;
}

static inline bool packet_signal_ok(uint32_t low, uint32_t high)
{
	return !((low & 63) | high >> 15);
}

#endif
