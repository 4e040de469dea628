/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_QUEUE_HANDLER_H
#define TUTTI_QUEUE_HANDLER_H

#include "queue/event.h"
#include "queue/lost.h"

#define NO_FILE (-1) /* handler.fd: it follows a signal */

/**
 * struct handler - something to be called when a signal meets a condition, or a file is readable.
 * @fd: the file, or NO_FILE
 * @drop: called with @context if it is forgotten without its last call; may be NULL
 * @pass: the last pass over all handlers in which it has been looked at
 * @error: what its next call is told, since it is due
 * @removed: it is being called, for the last time
 */
struct handler {
	struct handler *next;
	struct signal_watch watch;
	int fd;
	tutti_signal_fn call;
	void *context;
	void (*drop)(void *context);
	uint64_t pass;
	int error;
	bool removed;
};

/** handler_add() - arm a copy of @wanted; -ENOMEM, -EAGAIN. In case of an error nothing is called. */
int handler_add(struct tutti_device *device, const struct handler *wanted);
/** handlers_forget() - remove the handlers of a signal, or all if it is NULL, and wait for those that run. */
void handlers_forget(struct tutti_device *device, tutti_signal_t signal);
/** handlers_due() - is one to be called? The caller holds events->lock. */
bool handlers_due(const struct events *events);
/** handlers_any() - are there any? */
bool handlers_any(struct events *events);
/** handlers_serve() - call those that are due, each once. */
void handlers_serve(struct events *events);

#endif
