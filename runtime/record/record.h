/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RECORD_H
#define TUTTI_RECORD_H

#include "queue/queue.h"

/** record_launch() - append an encoded launch to a recording. 0 or -ENOMEM. */
int record_launch(struct tutti_recording *recording, const struct tutti_dispatch_packet *packet);

#endif
