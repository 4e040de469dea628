/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernel channel (spec SYS-08)
 *
 * Requests come from the host ring; a reply is sent when the thing is done, which
 * for what goes through the command ring means behind the commands.
 */
#ifndef HOST_CHANNEL_H
#define HOST_CHANNEL_H

#include "core/base.h"

void channel_init(void);
/** channel_event() - the host ring has messages. */
void channel_event(void);
/** channel_event_fetch() - the commands before a deferred reply are done. */
void channel_event_fetch(unsigned number);
/** channel_check_suspend() - a kernel has ended: is everything quiet now? */
void channel_check_suspend(void);

#endif
