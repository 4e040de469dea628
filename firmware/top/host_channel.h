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
/** channel_reply_after() - reply 0 to request @id when all commands written so far are done. */
void channel_reply_after(uint32_t id, unsigned type, uint64_t value);
/** channel_fault() - tell the host of a queue error. */
void channel_fault(const struct tutti_fault *fault);
/** channel_flush() - send what did not fit into the card ring. True: something is left. */
bool channel_flush(void);
/** channel_check_suspend() - a kernel has ended: is everything quiet now? */
void channel_check_suspend(void);

#endif
