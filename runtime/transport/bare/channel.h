/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_CHANNEL_H
#define TUTTI_CHANNEL_H

#include "device/device.h"

/**
 * struct channel - the host's end of the kernel channel (spec SYS-08).
 * @lock: protects all other members
 * @pending: list of requests that have no reply yet; several may be in flight
 */
struct channel {
	pthread_mutex_t lock;
	struct tutti_message *host_ring, *card_ring;
	uint32_t host_slots, card_slots;
	uint32_t next_id;
	uint32_t tail, head;
	struct pending *pending;
};

void channel_init(struct tutti_device *device);
void channel_fini(struct tutti_device *device);
/**
 * channel_request() - send @message and wait for its reply, which replaces it.
 * Return: the reply's status, -EIO if the card is dead, or -ETIMEDOUT, which is also reported on stderr.
 */
int channel_request(struct tutti_device *device, struct tutti_message *message);
/** channel_ask() - the same for a message of up to three arguments; @value, if not NULL, receives the reply's value. */
int channel_ask(struct tutti_device *device, unsigned type, uint64_t arg0, uint64_t arg1, uint64_t arg2,
		uint64_t *value);
/** channel_poll() - handle the messages that the card has sent. True if there were any. */
bool channel_poll(struct tutti_device *device);
/** channel_pending() - are there messages of the card that have not been taken? Cheap; any thread may call it. */
bool channel_pending(const struct tutti_device *device);

#endif
