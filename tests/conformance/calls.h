/* SPDX-License-Identifier: MIT */
/* Each call of the driver with valid arguments, for tests that spoil one of them. */
#ifndef CONFORMANCE_CALLS_H
#define CONFORMANCE_CALLS_H

#include "rig.h"

#define ARGS_MAX 128

enum object { NO_OBJECT, BO, CONTEXT, QUEUE, RSB };

/** struct call - a call. @fill needs a rig_queue(), and creates what the call destroys. */
struct call {
	const char *name;
	const char *ids; /* of the spec */
	unsigned long request;
	bool (*fill)(struct rig *rig, void *args);
	enum object object; /* kind of object that its first handle names */
	uint32_t handle_at; /* in the arguments */
	uint32_t bo_at;     /* offset of another buffer's handle, 0: none */
};
/* RESET is not among them: with right arguments it takes everybody's work away (life/process.c, life/reset.c). */
extern const struct call calls[]; /* the last one has no name */

static inline uint32_t call_bytes(const struct call *call)
{
	return (uint32_t)call->request >> 16 & 0x3fff;
}

const struct call *call_find(unsigned long request);

/** call_is_for_all() - wrong arguments may change the card for everybody, if root makes the call. */
static inline bool call_is_for_all(const struct call *call)
{
	return call->request == DRM_IOCTL_TUTTI_SM_ENABLE || call->request == DRM_IOCTL_TUTTI_POLICY_SET;
}

#endif
