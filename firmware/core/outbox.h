/* SPDX-License-Identifier: MIT */
/**
 * DOC: Messages to the host: the sending half of the kernel channel (spec SYS-08)
 *
 * Messages that do not fit into the card ring are kept in card memory and sent when the host has made room. A reply that
 * must follow earlier commands is deferred: a fence and a fetch are written behind them, and when the event of the fetch
 * arrives all of them are done.
 */
#ifndef OUTBOX_H
#define OUTBOX_H

#include "core/base.h"

void outbox_init(void);
/** outbox_send() - send @message to the host and interrupt it, or keep it until the host has made room. */
void outbox_send(const struct tutti_message *message);
/** outbox_full() - whether messages are kept back. No request is served then, so that there are never too many of them. */
bool outbox_full(void);
/** outbox_flush() - send the messages that did not fit. Return: true if a message or its interrupt is still left */
bool outbox_flush(void);
/**
 * outbox_reply_after() - reply success and @value to request @id once all commands written so far are done.
 *
 * COMMAND_OWED_ANSWER keeps room for the reply to the request that is being served; before any other reply the
 * caller must ask outbox_can_reply().
 */
void outbox_reply_after(uint32_t id, uint64_t value);
/** outbox_can_reply() - whether outbox_reply_after() may be called; if not, the caller is called again when it may. */
bool outbox_can_reply(void);
/** outbox_busy() - whether no more replies can be deferred now. */
bool outbox_busy(void);
/** outbox_event_fetch() - send deferred reply @number, because the commands before it are done. */
void outbox_event_fetch(unsigned number);
/** outbox_fault() - tell the host that a queue has stopped with an error. */
void outbox_fault(const struct tutti_fault *fault);

#endif
