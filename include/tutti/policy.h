/* SPDX-License-Identifier: MIT */
/**
 * DOC: Scheduling policies of a card, what its SMs have done, calibration (spec RES-06 .. RES-15, SYS-41)
 *
 * Policies belong to the card, not to a program; whoever may set them is the driver's
 * affair. tutti_device_policy() and tutti_device_enable_sms() of tutti.h set them, here
 * they are read back. Weights for the policies that go by energy are measured once
 * a card (`tutti calibrate`) and kept in a file.
 */
#ifndef TUTTI_POLICY_H
#define TUTTI_POLICY_H

#include <stdio.h>

#include "tutti.h"
#include "tutti/message.h"
#include "tutti/sm_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * tutti_policy_get() - what is set.
 * @which: resource, class or position, for policies that have several values; else 0
 * Return: 0, -EINVAL (no such policy).
 */
int tutti_policy_get(struct tutti_device *device, enum tutti_policy policy, uint32_t which, uint32_t *value);

/**
 * tutti_device_sm_states() - what SMs have free and have done, brought up to date first.
 * @first, @count: SMs
 * Energy and instructions are 0 without TUTTI_FEATURE_ENERGY. Return: 0, -EINVAL,
 * -EACCES (drm: takes CAP_PERFMON), -ENOTSUP (the card does not show them).
 */
int tutti_device_sm_states(struct tutti_device *device, unsigned first, unsigned count, struct tutti_sm_state *states);

/** tutti_class_name() / tutti_resource_name() - lower case, as in weight files; NULL if there is none. */
const char *tutti_class_name(unsigned tutti_class);
const char *tutti_resource_name(unsigned resource);

/**
 * struct tutti_weights - weights of TUTTI_POLICY_REMAINING_WEIGHT and _POWER_WEIGHT.
 *
 * Only their ratios matter; 24 bits each.
 */
struct tutti_weights {
	uint32_t remaining[TUTTI_RESOURCES];
	uint32_t power[TUTTI_CLASSES];
};

/**
 * tutti_calibrate() - measure energies: jobs that use one resource or one class of instructions, on one SM
 * with the others off. The card must be idle and stay so.
 * @executable: has the kernels calibrate_* of runtime/tools/kernels.c
 * @jobs: of each kind; more are steadier on real cards
 * Return: 0, -ENOTSUP (no energy counters), -EACCES, -EIO (a kernel failed).
 */
int tutti_calibrate(struct tutti_device *device, struct tutti_executable *executable, unsigned jobs,
		    struct tutti_weights *weights);
/** tutti_weights_apply() - give them to the card. */
int tutti_weights_apply(struct tutti_device *device, const struct tutti_weights *weights);
/** tutti_weights_write() / tutti_weights_read() - text, one weight a line. -EINVAL: not such a file. */
int tutti_weights_write(const struct tutti_weights *weights, FILE *file);
int tutti_weights_read(struct tutti_weights *weights, FILE *file);

#ifdef __cplusplus
}
#endif

#endif
