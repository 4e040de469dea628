/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernel channel: the requests of the driver (spec SYS-08)
 *
 * Requests come through the host ring. A reply is sent when the request has been carried out: if that takes commands,
 * after the engines have done them.
 */
#ifndef HOST_CHANNEL_H
#define HOST_CHANNEL_H

#include "core/base.h"

void channel_init(void);
/** channel_event() - serve the requests in the host ring, as far as there is room for the answers. */
void channel_event(void);
/** channel_event_fetch() - the engines have done the commands before a deferred reply, which can be sent now. */
void channel_event_fetch(unsigned number);
/** channel_check_suspend() - reply to requests SUSPEND if no work of any queue is in flight any more. */
void channel_check_suspend(void);

#endif
