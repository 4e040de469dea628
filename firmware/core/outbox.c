// SPDX-License-Identifier: MIT
#include "core/outbox.h"

#include "core/card_memory.h"
#include "core/command_ring.h"
#include "core/log.h"
#include "core/state.h"

#define DEFERRED 16u
#define BACKLOG (CARD_OUTBOX_BYTES / sizeof(struct tutti_message))

/*
 * While messages are kept back no request is served (channel_event()), so a queue can add the report of an error and the reply
 * to the request that destroys it. There are also the replies to the last request, to SUSPEND, and the deferred ones.
 */
_Static_assert(BACKLOG >= 2 * TUTTI_MAX_QUEUES + 1 + 4 + DEFERRED, "no message is lost");

static struct {
	volatile struct tutti_control *control;
	volatile struct tutti_status *status;
	struct tutti_message *ring;
	uint32_t slots;
	uint32_t tail;
	uint32_t deferred_used;
	uint32_t backlog_first, backlog; /* the oldest of the messages that are kept back, and their number */
	bool silent;        /* the host has yet to be interrupted for the newest message */
	struct {
		uint32_t id;
		uint64_t value;
	} deferred[DEFERRED];
	uint32_t sink;      /* where the fetch behind a deferred reply goes */
} outbox;

static COLD struct tutti_message *kept_back(uint32_t number)
{
	return (struct tutti_message *)card_memory(CARD_OUTBOX) + (outbox.backlog_first + number) % BACKLOG;
}

void outbox_init(void)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;

	outbox.control = hal_region(discovery->control);
	outbox.status = hal_region(discovery->status);
	outbox.ring = hal_region(discovery->card_ring);
	outbox.slots = discovery->card_ring.bytes / (uint32_t)sizeof(struct tutti_message);
	/* Messages of an earlier run of the firmware have been read or are lost. */
	outbox.tail = outbox.status->card_ring_tail = outbox.control->card_ring_head;
	outbox.deferred_used = 0;
	outbox.silent = false;
	outbox.backlog_first = outbox.backlog = 0;
}

/* The interrupt is sent by a command, so that it follows the effects that messages report; one serves many messages. */
static void interrupt(void)
{
	outbox.silent = !command_ask(COMMAND_INTERRUPT_WORDS);
	if (outbox.silent) {
		attention.idle |= ATTEND_CHANNEL;
		return;
	}
	*command_begin(1) = TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 0);
	command_end(command_ring.next + 1);
}

static bool put(const struct tutti_message *message)
{
	if (outbox.tail - outbox.control->card_ring_head >= outbox.slots)
		return false;
	words_copy(&outbox.ring[outbox.tail % outbox.slots], message, sizeof(*message) / 4);
	hal_release();
	outbox.status->card_ring_tail = ++outbox.tail;
	interrupt();
	return true;
}

static COLD void keep_back(const struct tutti_message *message)
{
	if (outbox.backlog == BACKLOG) {
		log_line("message lost, type", message->type);
		return;
	}
	words_copy(kept_back(outbox.backlog++), message, sizeof(*message) / 4);
	attention.idle |= ATTEND_CHANNEL;
}

void outbox_send(const struct tutti_message *message)
{
	if (outbox.backlog || !put(message))
		keep_back(message);
}

bool outbox_full(void)
{
	return outbox.backlog;
}

bool outbox_flush(void)
{
	if (outbox.silent)
		interrupt();
	for (; outbox.backlog; outbox.backlog--) {
		if (!put(kept_back(0)))
			return true;
		outbox.backlog_first = (outbox.backlog_first + 1) % BACKLOG;
	}
	return outbox.silent;
}

static void reply(uint32_t id, uint64_t value)
{
	struct tutti_message message = { .type = TUTTI_MSG_REPLY, .id = id, .value = value };

	outbox_send(&message);
}

void outbox_fault(const struct tutti_fault *fault)
{
	struct tutti_message message = { .type = TUTTI_MSG_QUEUE_ERROR };

	message.fault = *fault;
	outbox_send(&message);
	log_line("queue error: queue", fault->queue);
	log_line("  code", fault->code);
}

static uint32_t deferred_free(void)
{
	return ~outbox.deferred_used & ((1u << DEFERRED) - 1);
}

bool outbox_busy(void)
{
	return !deferred_free();
}

COLD bool outbox_can_reply(void)
{
	return deferred_free() && command_ask(COMMAND_OWED_ANSWER);
}

COLD void outbox_reply_after(uint32_t id, uint64_t value)
{
	unsigned i = lowest_bit(deferred_free());

	outbox.deferred_used |= 1u << i;
	outbox.deferred[i].id = id;
	outbox.deferred[i].value = value;
	command_fence(TUTTI_SCOPE_SYSTEM | TUTTI_FENCE_RELEASE);
	command_fetch(TUTTI_ASID_BUS, 0, 0, 4, &outbox.sink, TAG_REPLY | i);
}

void outbox_event_fetch(unsigned number)
{
	unsigned i = number % DEFERRED;

	if (!(outbox.deferred_used >> i & 1))
		return;
	outbox.deferred_used &= ~(1u << i);
	reply(outbox.deferred[i].id, outbox.deferred[i].value);
}
