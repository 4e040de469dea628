/* SPDX-License-Identifier: MIT */
/**
 * DOC: Plain requests, which most are: one mover descriptor serves them, and they break no rule
 *
 * One chain of tail calls leads from the event to the tail of the mover ring: tmau_event_request() checks all rules at
 * once, tile_plain() writes the descriptor, and plain_written() publishes it. Whoever finds that
 * the request is not of that kind calls tmau_run(), which knows all kinds and starts from the beginning. Nothing has
 * been changed by then except for fields of the mover ring's next slot.
 */
#ifndef PLAIN_REQUEST_H
#define PLAIN_REQUEST_H

#include "tensor/tensor_requests.h"

/** plain_serve() - serve the first request, which waits alone and has not been begun. */
void plain_serve(void);
/** plain_written() - publish the next mover descriptor, which names @t, is complete and serves the first request. */
void plain_written(struct tensor_template *t);

#endif
