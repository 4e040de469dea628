/* SPDX-License-Identifier: MIT */
/**
 * DOC: Scheduling policies, the state of SMs, and energy calibration
 *
 * Policies say how the firmware chooses among SMs and among tasks (enum tutti_policy of
 * message.h). They hold for the whole card and all its users; on a real card the
 * driver decides who may change them. They are set by tutti_device_policy() and
 * tutti_device_enable_sms() of tutti.h, and read here.
 *
 * Two policies choose SMs by energy and need weights, which are measured once for
 * each card (`tutti calibrate`) and kept in a file.
 *
 * (spec RES-06 .. RES-15, SYS-41)
 */
#ifndef TUTTI_POLICY_H
#define TUTTI_POLICY_H

#include <stdio.h>

#include "../tutti.h"
#include "message.h"
#include "sm_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * tutti_policy_get() - value of a policy.
 * @device: device
 * @policy: which policy
 * @which: for policies with several values: the resource, instruction class, priority level or position meant; else 0
 * @value: gets the value
 *
 * Return: 0; -EINVAL: there is no such policy, or no such value of it.
 */
int tutti_policy_get(struct tutti_device *device, enum tutti_policy policy, uint32_t which, uint32_t *value);

/**
 * tutti_device_sm_states() - what SMs have free and what they have done, brought up to date first.
 * @device: device
 * @first: number of the first SM
 * @count: number of SMs
 * @states: gets @count states; without TUTTI_FEATURE_ENERGY their energy and instructions are 0
 *
 * Return: 0; -EINVAL: there are no such SMs; -EACCES: the driver asks for CAP_PERFMON, since this shows what others
 * do; -ENOTSUP: the card does not show it.
 */
int tutti_device_sm_states(struct tutti_device *device, unsigned first, unsigned count, struct tutti_sm_state *states);

/** tutti_class_name() - lower-case name of an instruction class (enum tutti_class); NULL if there is none. */
const char *tutti_class_name(unsigned tutti_class);
/** tutti_resource_name() - lower-case name of a resource (enum tutti_resource); NULL if there is none. */
const char *tutti_resource_name(unsigned resource);

/**
 * struct tutti_weights - weights for the policies that choose SMs by energy.
 * @remaining: TUTTI_POLICY_REMAINING_WEIGHT of each resource, 24 bits
 * @power: TUTTI_POLICY_POWER_WEIGHT of each instruction class, 24 bits
 *
 * Only the ratios within an array matter.
 */
struct tutti_weights {
	uint32_t remaining[TUTTI_RESOURCES];
	uint32_t power[TUTTI_CLASSES];
};

/**
 * tutti_calibrate() - measure weights: kernels that use one resource or one class of instructions run on
 * one SM while the others are off. Afterwards all SMs are on, including those that were off before.
 * @device: device; nobody else may use the card meanwhile
 * @executable: has the kernels calibrate_* (made from runtime/tools/kernels.c)
 * @jobs: how often each of them runs; more give steadier weights
 * @weights: gets the weights
 *
 * Return: 0; -ENOTSUP: the card has no energy counters; -EACCES: see tutti_device_policy(); -ENOENT: a kernel is
 * missing; -EIO: a kernel failed.
 */
int tutti_calibrate(struct tutti_device *device, struct tutti_executable *executable, unsigned jobs,
		    struct tutti_weights *weights);

/** tutti_weights_apply() - set both policies of the card to @weights. Return: 0; as tutti_device_policy(). */
int tutti_weights_apply(struct tutti_device *device, const struct tutti_weights *weights);

/** tutti_weights_write() - write weights as text, one to a line. Return: 0; -EIO: writing failed. */
int tutti_weights_write(const struct tutti_weights *weights, FILE *file);

/** tutti_weights_read() - read what tutti_weights_write() has written. Return: 0; -EINVAL: it is not such a file. */
int tutti_weights_read(struct tutti_weights *weights, FILE *file);

#ifdef __cplusplus
}
#endif

#endif
