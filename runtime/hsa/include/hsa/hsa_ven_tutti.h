/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tutti's own powers for programs written for HSA
 *
 * An extension of the HSA runtime with a table of functions:
 *
 *	hsa_ven_tutti_1_00_pfn_t tutti;
 *
 *	hsa_system_get_major_extension_table(HSA_EXTENSION_TUTTI, 1, sizeof(tutti), &tutti);
 *	tutti.hsa_ven_tutti_queue_create(card, 64, HSA_QUEUE_TYPE_MULTI, NULL, on_error, NULL, &queue);
 *
 * *Extended queues* take what a queue of hsa_queue_create() ignores or refuses. Their packets are those of HSA, and
 * in addition
 *
 * - bytes 10 and 11 of a kernel dispatch packet (reserved0), if not 0, are TUTTI_REF_STORE | entry: the card keeps the
 *   kernel as a *reference*, in one of eight entries;
 * - a *condensed packet* (struct tutti_condensed_packet) launches up to 31 kernels, each as its difference from a
 *   reference;
 * - bytes 48 to 55 (reserved2), if not 0, are the address of *task metadata*: hsa_ven_tutti_task_address().
 *
 * Programs that leave bytes 10 and 11 as they find them are safe: the card sets them to 0 when it retires a slot that
 * held a reference or a condensed packet. Layouts are in tutti/packet.h, attributes in tutti/task.h, tensor descriptors
 * in tutti/tensor_api.h. Functions return HSA_STATUS_ERROR_NOT_INITIALIZED and _OUT_OF_RESOURCES as all of HSA's do,
 * _INVALID_ARGUMENT for a NULL or a value that is not allowed, and what their comments say.
 */
#ifndef HSA_VEN_TUTTI_H
#define HSA_VEN_TUTTI_H

#include <hsa/hsa.h>

#include "tutti/packet.h"
#include "tutti/task.h"
#include "tutti/tensor_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** HSA_EXTENSION_TUTTI - its number, for hsa_system_extension_supported() and the like. */
#define HSA_EXTENSION_TUTTI 0x300

/** struct hsa_ven_tutti_recording_s - launches that are kept and sent again. */
typedef struct hsa_ven_tutti_recording_s {
	uint64_t handle;
} hsa_ven_tutti_recording_t;

/** struct hsa_ven_tutti_task_s - attributes of a launch that do not fit a packet. */
typedef struct hsa_ven_tutti_task_s {
	uint64_t handle;
} hsa_ven_tutti_task_t;

/**
 * struct hsa_ven_tutti_queue_options_s - how to make an extended queue; what is zero gets its default.
 * @flags: TUTTI_QUEUE_OVERLAP and TUTTI_QUEUE_TABLE_DIFFS of tutti/message.h
 * @priority: 1 (highest) to 10 (lowest); 0 = 5
 * @references_in_memory: keep references in card memory, of which there is more
 * @references_of: an extended queue whose references this one uses, too; NULL = references of its own
 */
typedef struct hsa_ven_tutti_queue_options_s {
	uint32_t flags;
	uint8_t priority;
	bool references_in_memory;
	const hsa_queue_t *references_of;
} hsa_ven_tutti_queue_options_t;

/**
 * struct hsa_ven_tutti_1_00_pfn_s - the functions.
 * @hsa_ven_tutti_queue_create: hsa_queue_create() for an extended queue, with its errors; @options may be NULL
 * @hsa_ven_tutti_record_begin: begin a recording on an extended queue. INVALID_QUEUE: it is none; RESOURCE_FREE: a
 *	recording is being made on it
 * @hsa_ven_tutti_record_dispatch: record a kernel dispatch packet, whose header is complete
 * @hsa_ven_tutti_record_end: end it. INVALID_QUEUE
 * @hsa_ven_tutti_recording_destroy: destroy it; what has been sent still runs. INVALID_ARGUMENT: there is none;
 *	RESOURCE_FREE: called by a handler, within a replay of it
 * @hsa_ven_tutti_recording_packets: how many packets a replay sends now
 * @hsa_ven_tutti_recording_set_kernarg: change the arguments of launch @index for later replays
 * @hsa_ven_tutti_recording_set_grid: change its grid
 * @hsa_ven_tutti_recording_set_signal: change its completion signal
 * @hsa_ven_tutti_replay: run it once more: packets and doorbell. INVALID_QUEUE: its queue is gone or has stopped
 * @hsa_ven_tutti_task_create: attributes, which are copied. CGAs are among them. INVALID_AGENT
 * @hsa_ven_tutti_task_destroy: no launch with it may be waiting or running
 * @hsa_ven_tutti_task_address: what goes into reserved2 of a packet; for one launch at a time
 * @hsa_ven_tutti_task_counters: how far it has come
 * @hsa_ven_tutti_tensor_tiled: make a tensor descriptor, which kernels are given as an argument
 * @hsa_ven_tutti_tensor_im2col: the same for im2col mode
 */
typedef struct hsa_ven_tutti_1_00_pfn_s {
	hsa_status_t (*hsa_ven_tutti_queue_create)(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
						   const hsa_ven_tutti_queue_options_t *options,
						   void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
						   void *data, hsa_queue_t **queue);
	hsa_status_t (*hsa_ven_tutti_record_begin)(hsa_queue_t *queue);
	hsa_status_t (*hsa_ven_tutti_record_dispatch)(hsa_queue_t *queue, const hsa_kernel_dispatch_packet_t *packet);
	hsa_status_t (*hsa_ven_tutti_record_end)(hsa_queue_t *queue, hsa_ven_tutti_recording_t *recording);
	hsa_status_t (*hsa_ven_tutti_recording_destroy)(hsa_ven_tutti_recording_t recording);
	hsa_status_t (*hsa_ven_tutti_recording_packets)(hsa_ven_tutti_recording_t recording, uint32_t *packets);
	hsa_status_t (*hsa_ven_tutti_recording_set_kernarg)(hsa_ven_tutti_recording_t recording, uint32_t index,
							    void *kernarg);
	hsa_status_t (*hsa_ven_tutti_recording_set_grid)(hsa_ven_tutti_recording_t recording, uint32_t index,
							 hsa_dim3_t grid);
	hsa_status_t (*hsa_ven_tutti_recording_set_signal)(hsa_ven_tutti_recording_t recording, uint32_t index,
							   hsa_signal_t signal);
	hsa_status_t (*hsa_ven_tutti_replay)(hsa_ven_tutti_recording_t recording);
	hsa_status_t (*hsa_ven_tutti_task_create)(hsa_agent_t agent, const struct tutti_task_attributes *attributes,
						  hsa_ven_tutti_task_t *task);
	hsa_status_t (*hsa_ven_tutti_task_destroy)(hsa_ven_tutti_task_t task);
	hsa_status_t (*hsa_ven_tutti_task_address)(hsa_ven_tutti_task_t task, uint64_t *address);
	hsa_status_t (*hsa_ven_tutti_task_counters)(hsa_ven_tutti_task_t task, struct tutti_task_counters *counters);
	hsa_status_t (*hsa_ven_tutti_tensor_tiled)(struct tutti_tensor *tensor, const struct tutti_tiled *tiled);
	hsa_status_t (*hsa_ven_tutti_tensor_im2col)(struct tutti_tensor *tensor, const struct tutti_im2col *im2col);
} hsa_ven_tutti_1_00_pfn_t;

#ifdef __cplusplus
}
#endif

#endif
