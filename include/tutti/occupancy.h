/* SPDX-License-Identifier: MIT */
/**
 * DOC: How much of a kernel the card can hold at once (spec CGA-29)
 *
 * The firmware answers these questions with the code that will place the kernel. The
 * answers hold for an idle card with the SMs that are enabled and the policies
 * that are set now.
 *
 * | here | CUDA |
 * |---|---|
 * | tutti_occupancy_max_active_ctas() | cudaOccupancyMaxActiveBlocksPerMultiprocessor() |
 * | tutti_occupancy_max_active_cgas() | cudaOccupancyMaxActiveClusters() |
 * | tutti_occupancy_max_cga_size() | cudaOccupancyMaxPotentialClusterSize() |
 *
 * Of a launch, only kernel, workgroup and dynamic_group_bytes are looked at. A CTA is a
 * workgroup, a CGA a group of them that run at the same time (a cluster of CUDA).
 *
 * All functions return 0; -EINVAL: the card would not take the launch; -ENOTSUP: the driver is
 * too old to ask.
 */
#ifndef TUTTI_OCCUPANCY_H
#define TUTTI_OCCUPANCY_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/** tutti_occupancy_max_active_ctas() - workgroups that one SM runs at once; 0 = it cannot run any. */
int tutti_occupancy_max_active_ctas(struct tutti_device *device, const struct tutti_launch *launch, uint32_t *ctas);

/**
 * tutti_occupancy_max_active_cgas() - CGAs that the card runs at once, outermost ones if they are nested.
 * @device: device
 * @launch: launch
 * @attributes: attributes of a task, whose CGA shape and multicast mode then count instead of the kernel's;
 *	NULL = the launch has none
 * @cgas: gets their number; that of workgroups when they are not grouped into CGAs
 */
int tutti_occupancy_max_active_cgas(struct tutti_device *device, const struct tutti_launch *launch,
				    const struct tutti_task_attributes *attributes, uint32_t *cgas);

/**
 * tutti_occupancy_max_cga_size() - workgroups of the largest CGA that the card can run.
 * @device: device
 * @launch: launch
 * @kind: what the CGA may extend over: TUTTI_CGA_CPC, _GPC, _UGPU or _GPU. Those of a GPC or CPC have ranks, a
 *	barrier and access to each other's shared memory.
 * @multicast: at most one workgroup of it on an SM
 * @ctas: gets the number of workgroups
 *
 * If a workgroup fits an SM at all, at least 8 of them fit a CGA of kind GPC or larger on a card that has a GPC
 * of four TPCs or more.
 */
int tutti_occupancy_max_cga_size(struct tutti_device *device, const struct tutti_launch *launch, unsigned kind,
				 bool multicast, uint32_t *ctas);

#ifdef __cplusplus
}
#endif

#endif
