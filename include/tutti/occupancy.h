/* SPDX-License-Identifier: MIT */
/**
 * DOC: How much of a kernel the card holds at once (spec CGA-29)
 *
 * The answers come from the firmware and from the code that will place the kernel: they are what an idle card
 * does, with the SMs and caps that are set now. Of a launch only kernel, workgroup and dynamic shared
 * memory count. @attributes: NULL or a task's, whose CGA levels and multicast mode then count in place
 * of the kernel's. All return 0, -EINVAL (the launch makes no sense) or -ENOTSUP (a driver older than the question).
 *
 * | here | CUDA |
 * |---|---|
 * | tutti_occupancy_max_active_ctas() | cudaOccupancyMaxActiveBlocksPerMultiprocessor() |
 * | tutti_occupancy_max_active_cgas() | cudaOccupancyMaxActiveClusters() |
 * | tutti_occupancy_max_cga_size() | cudaOccupancyMaxPotentialClusterSize() |
 */
#ifndef TUTTI_OCCUPANCY_H
#define TUTTI_OCCUPANCY_H

#include "tutti/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/** tutti_occupancy_max_active_ctas() - workgroups that one SM takes at once; 0 = not one. */
int tutti_occupancy_max_active_ctas(struct tutti_device *device, const struct tutti_launch *launch, uint32_t *ctas);
/** tutti_occupancy_max_active_cgas() - outermost CGAs that run at once on the card; without CGAs: workgroups. */
int tutti_occupancy_max_active_cgas(struct tutti_device *device, const struct tutti_launch *launch,
				    const struct tutti_task_attributes *attributes, uint32_t *cgas);
/**
 * tutti_occupancy_max_cga_size() - workgroups of the largest CGA of one level that can run.
 * @kind: TUTTI_CGA_CPC ... TUTTI_CGA_GPU; CGAs on one GPC or CPC have ranks, DSMEM and a barrier
 * @multicast: at most one workgroup of it on an SM
 * On a card with a GPC of 4 TPCs or more at least 8 whenever a workgroup fits an SM (GPC and larger).
 */
int tutti_occupancy_max_cga_size(struct tutti_device *device, const struct tutti_launch *launch, unsigned kind,
				 bool multicast, uint32_t *ctas);

#ifdef __cplusplus
}
#endif

#endif
