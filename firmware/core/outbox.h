/* SPDX-License-Identifier: MIT */
/**
 * DOC: Messages to the host: the sending half of the kernel channel (spec SYS-08)
 *
 * What does not fit into the card ring is kept and sent when the host has made room. A reply to what went through
 * the command ring follows behind a fence and a fetch: when the fetch is answered all earlier commands are done.
 */
#ifndef OUTBOX_H
#define OUTBOX_H

#include "core/base.h"

void outbox_init(void);
void outbox_send(const struct tutti_message *message);
/** outbox_flush() - send what did not fit. Return: true if a message or its interrupt is left */
bool outbox_flush(void);
/**
 * outbox_reply_after() - reply 0 and @value to request @id when all commands written so far are done.
 * The answer to the request being served is owed (COMMAND_OWED_ANSWER); all others ask outbox_can_reply() first.
 */
void outbox_reply_after(uint32_t id, uint64_t value);
/** outbox_can_reply() - outbox_reply_after() may be called; if not the caller is called again when it may. */
bool outbox_can_reply(void);
/** outbox_busy() - no more replies can be deferred now. */
bool outbox_busy(void);
/** outbox_event_fetch() - the commands before deferred reply @number are done. */
void outbox_event_fetch(unsigned number);
/** outbox_fault() - tell the host of a queue error. */
void outbox_fault(const struct tutti_fault *fault);

#endif
