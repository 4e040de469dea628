// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Kernel channel: one request at a time, its reply announced by vector 0. */
#include <linux/ktime.h>

#include "probe.h"

#define PINGS 200

/* Next message of the card; false = none. */
static bool take(struct probe *probe, struct tutti_message *message)
{
	u32 slots = probe->known.card_ring.bytes / sizeof(*message);

	if (probe_status(probe, card_ring_tail) == probe->head)
		return false;
	rmb(); /* the index, before the message */
	memcpy_fromio(message,
		      probe_region(probe, &probe->known.card_ring) + probe->head % slots * sizeof(*message),
		      sizeof(*message));
	writel(++probe->head, probe_control(probe, card_ring_head));
	return true;
}

int probe_request(struct probe *probe, struct tutti_message *message)
{
	u32 slots = probe->known.host_ring.bytes / sizeof(*message);
	unsigned long end = jiffies + msecs_to_jiffies(PROBE_PATIENCE_MS);
	u32 id = probe->tail + 1;

	message->id = id;
	memcpy_toio(probe_region(probe, &probe->known.host_ring) + probe->tail % slots * sizeof(*message),
		    message, sizeof(*message));
	wmb(); /* the message, before the index */
	writel(++probe->tail, probe_control(probe, host_ring_tail));
	probe_kick(probe);
	do {
		while (take(probe, message))
			if (message->type == TUTTI_MSG_REPLY && message->id == id)
				return message->status;
		wait_for_completion_timeout(&probe->interrupt, msecs_to_jiffies(100));
	} while (time_before(jiffies, end));
	return -ETIMEDOUT;
}

void probe_check_channel(struct probe *probe)
{
	struct tutti_message message = {.type = TUTTI_MSG_PING, .arg = {0x1234567890abcdefull}};
	int before = atomic_read(&probe->count[0]), error = probe_request(probe, &message), i;
	ktime_t start;

	probe_check(probe, !error && message.value == 0x1234567890abcdefull, "PING is answered (%d)", error);
	/* It may follow the reply by a moment. */
	for (i = 0; i < PROBE_PATIENCE_MS / 10 && atomic_read(&probe->count[0]) == before; i++)
		wait_for_completion_timeout(&probe->interrupt, msecs_to_jiffies(10));
	probe_check(probe, atomic_read(&probe->count[0]) > before, "its MSI-X interrupt arrives");
	start = ktime_get();
	for (i = 0; i < PINGS && !error; i++) {
		message = (struct tutti_message){.type = TUTTI_MSG_PING, .arg = {i}};
		error = probe_request(probe, &message);
		if (!error && message.value != i)
			error = -EPROTO;
	}
	probe_check(probe, !error, "%d pings, %lld us each, %d interrupts", PINGS,
		    ktime_us_delta(ktime_get(), start) / PINGS, atomic_read(&probe->count[0]));
	message = (struct tutti_message){.type = 4000};
	error = probe_request(probe, &message);
	probe_check(probe, error && error != -ETIMEDOUT, "an unknown message is refused (%d)", error);
}
