/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RECORD_H
#define TUTTI_RECORD_H

#include "queue/queue.h"

#include "tutti/code_object.h"

/**
 * record_launch() - append an encoded launch to a recording.
 * @descriptor: of its kernel: if that has CGAs, the grid can only be changed to whole ones; NULL: to any
 * Return: 0 or -ENOMEM.
 */
int record_launch(struct tutti_recording *recording, const struct tutti_dispatch_packet *packet,
		  const struct tutti_kernel_descriptor *descriptor);

#endif
