/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RECORD_H
#define TUTTI_RECORD_H

#include "queue/queue.h"

#include "tutti/code_object.h"

/**
 * record_launch() - append an encoded launch to a recording.
 * @descriptor: says which CGAs the grid has to be made of, whenever it is changed; NULL: nothing is known of that
 * Return: 0 or -ENOMEM.
 */
int record_launch(struct tutti_recording *recording, const struct tutti_dispatch_packet *packet,
		  const struct tutti_kernel_descriptor *descriptor);

#endif
