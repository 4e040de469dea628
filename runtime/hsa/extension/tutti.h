/* SPDX-License-Identifier: MIT */
/** DOC: The functions of hsa_ven_tutti.h, which programs reach by its table only, as hsa_ven_tutti_... */
#ifndef TUTTI_HSA_TUTTI_H
#define TUTTI_HSA_TUTTI_H

#include "hsa/include/hsa/hsa_ven_tutti.h"

hsa_status_t extended_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				   const hsa_ven_tutti_queue_options_t *options,
				   void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data), void *data,
				   hsa_queue_t **queue);
hsa_status_t task_create(hsa_agent_t agent, const struct tutti_task_attributes *attributes, hsa_ven_tutti_task_t *task);
hsa_status_t task_destroy(hsa_ven_tutti_task_t task);
hsa_status_t task_address(hsa_ven_tutti_task_t task, uint64_t *address);
hsa_status_t task_counters(hsa_ven_tutti_task_t task, struct tutti_task_counters *counters);
hsa_status_t tensor_tiled(struct tutti_tensor *tensor, const struct tutti_tiled *tiled);
hsa_status_t tensor_im2col(struct tutti_tensor *tensor, const struct tutti_im2col *im2col);

/* recording.c */
hsa_status_t record_begin(hsa_queue_t *queue);
hsa_status_t record_dispatch(hsa_queue_t *queue, const hsa_kernel_dispatch_packet_t *packet);
hsa_status_t record_end(hsa_queue_t *queue, hsa_ven_tutti_recording_t *recording);
hsa_status_t recording_destroy(hsa_ven_tutti_recording_t recording);
hsa_status_t recording_packets(hsa_ven_tutti_recording_t recording, uint32_t *packets);
hsa_status_t recording_set_kernarg(hsa_ven_tutti_recording_t recording, uint32_t index, void *kernarg);
hsa_status_t recording_set_grid(hsa_ven_tutti_recording_t recording, uint32_t index, hsa_dim3_t grid);
hsa_status_t recording_set_signal(hsa_ven_tutti_recording_t recording, uint32_t index, hsa_signal_t signal);
hsa_status_t recording_replay(hsa_ven_tutti_recording_t recording);

#endif
