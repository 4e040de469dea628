// SPDX-License-Identifier: MIT
/* The driver: its requests to the firmware, and the firmware's replies and events. */
#include "programs/produce.h"

#define PENDING 64u

static struct {
	struct tutti_message message;
	bool open;
} requests[PENDING];
static unsigned open_requests;
static uint32_t newest; /* id of the newest request */
static struct tutti_message last_reply;

bool reference_settled(const struct reference *reference)
{
	const struct program *owner = &w.program[reference->job.queue];

	return owner->life != reference->job.life_of_queue || owner->oldest > reference->job.entry;
}

/* A buffer that queues share keeps what this one has stored, if it has: in its next life it does not matter what it was. */
static void settle_references(const struct program *program)
{
	struct reference *reference = w.buffer[program->buffer].reference;
	unsigned i;

	for (i = 0; i < TUTTI_REFERENCES; i++)
		if (reference[i].job.queue == program->id && (!ALLOWED(SHARED_REFS) || !reference_settled(&reference[i])))
			reference[i].valid = false;
}

static struct tutti_control *control(void)
{
	return (void *)(hal_host.window + discovery()->control.offset);
}

void driver_reset(void)
{
	memset(requests, 0, sizeof(requests));
	open_requests = newest = 0;
}

bool driver_idle(void)
{
	return !open_requests;
}

uint32_t driver_send(struct tutti_message *message)
{
	struct tutti_message *to = (void *)(hal_host.window + discovery()->host_ring.offset);
	uint32_t tail = control()->host_ring_tail;

	if (open_requests > 8)
		return 0;
	do
		message->id = ++newest;
	while (requests[message->id % PENDING].open);
	to[tail % (discovery()->host_ring.bytes / 64)] = *message;
	requests[message->id % PENDING].message = *message;
	requests[message->id % PENDING].open = true;
	open_requests++;
	fair_asked();
	control()->host_ring_tail = tail + 1;
	card_later(&(struct tutti_event){{TUTTI_EVENT_MESSAGE}});
	return message->id;
}

uint32_t driver_request(unsigned type, uint64_t a, uint64_t b, uint64_t c)
{
	struct tutti_message m = {.type = (uint16_t)type, .arg = {a, b, c}};

	return driver_send(&m);
}

static void destroyed(unsigned queue)
{
	struct program *program = &w.program[queue];

	settle_references(program);
	rules_lost(program);
	program->alive = program->dying = program->stopped = false;
	feature_off(F_DESTROY);
	if (program->notices.live)
		feature_off(F_NOTIFY);
	program->notices = (struct notices){0};
}

static void replied(const struct tutti_message *m, const struct tutti_message *request)
{
	struct program *program = &w.program[request->arg[0] % QUEUES];

	switch (request->type) {
	case TUTTI_MSG_QUEUE_DESTROY:
		RULE(!m->status, "channel (SYS-08)", "destroy of queue %lu: status %d", request->arg[0],
		     m->status);
		destroyed((unsigned)request->arg[0]);
		break;
	case TUTTI_MSG_QUEUE_RESET:
		feature_on(F_RESET); /* the queue goes on from now on */
		if (!m->status && program->busy_reset)
			rules_reset(program);
		program->busy_reset = false;
		break;
	case TUTTI_MSG_SUSPEND:
		if (!w.suspending || m->id != w.suspend_id)
			break; /* one before may be answered late */
		if (m->status) { /* too many that were resumed before they were answered */
			RULE(m->status == -TUTTI_EBUSY, "channel (SYS-08)", "suspend: status %d", m->status);
			w.suspending = false;
			feature_off(F_SUSPEND);
		} else {
			RULE(!card_resident() || w.works, "suspend (SYS-08)", "suspended, and %u CTAs run",
			     card_resident());
			w.suspended = true;
		}
		break;
	case TUTTI_MSG_SM_ENABLE:
		for (uint64_t i = request->arg[0]; i < request->arg[0] + request->arg[1] && !request->arg[2];
		     i++)
			if (w.off_id[i] == m->id) /* an earlier request may be answered after the SM was enabled again */
				w.off_since[i] = hal_host.engines.command_tail;
		break;
	case TUTTI_MSG_TASK_CANCEL:
		if (!m->status && program->alive && program->life == request->arg[2])
			rules_cancelled(program, request->arg[1] - program->first);
		break;
	default:
		questions_answered(m, request);
	}
}

bool driver_behind(void)
{
	const struct tutti_status *status = (const void *)(hal_host.window + discovery()->status.offset);

	return control()->card_ring_head != status->card_ring_tail;
}

void driver_read(void)
{
	const struct tutti_message *from = (const void *)(hal_host.window + discovery()->card_ring.offset);
	const struct tutti_status *status = (const void *)(hal_host.window + discovery()->status.offset);

	for (; control()->card_ring_head != status->card_ring_tail; control()->card_ring_head++) {
		struct tutti_message m =
		    from[control()->card_ring_head % (discovery()->card_ring.bytes / 64)];

		if (m.type == TUTTI_MSG_QUEUE_ERROR) {
			rules_error(&m.fault);
			continue;
		}
		RULE(m.type == TUTTI_MSG_REPLY && requests[m.id % PENDING].open &&
			 requests[m.id % PENDING].message.id == m.id,
		     "channel (SYS-08)", "message %u with id %u", m.type, m.id);
		requests[m.id % PENDING].open = false;
		open_requests--;
		last_reply = m;
		TRACE("    reply to request %u: %d\n", requests[m.id % PENDING].message.type, m.status);
		replied(&m, &requests[m.id % PENDING].message);
	}
}

int driver_call(struct tutti_message *message)
{
	uint32_t id;
	unsigned i;

	for (i = 0; i < 20000 && !(id = driver_send(message)); i++)
		card_step();
	for (i = 0; i < 20000 && requests[id % PENDING].open; i++)
		if (!card_step()) {
			card_event(&(struct tutti_event){{TUTTI_EVENT_MESSAGE}});
			card_timer();
		}
	RULE(!requests[id % PENDING].open, "end (SYS-08)", "request %u is not answered", message->type);
	*message = last_reply;
	return last_reply.status;
}

int driver_ask(unsigned type, uint64_t a, uint64_t b, uint64_t c)
{
	struct tutti_message m = {.type = (uint16_t)type, .arg = {a, b, c}};

	return driver_call(&m);
}

void driver_create(struct program *program, bool wait)
{
	struct tutti_message m = {.type = TUTTI_MSG_QUEUE_CREATE,
				  .queue = {.queue = (uint16_t)program->id,
					    .asid = (uint16_t)program->asid,
					    .flags = (uint16_t)program->flags,
					    .rsb = (uint16_t)program->buffer,
					    .ring = RING_AT + 0x10000ull * program->id,
					    .read_index = INDEX_AT + 64 * program->id,
					    .progress = program->progress_word ? 4096 + 64 * program->id : 0,
					    .vector = (uint16_t)(program->id + 1),
					    .size_log2 = (uint8_t)__builtin_ctz(program->slots),
					    .priority = (uint8_t)(program->priority | program->highest << TUTTI_QUEUE_HIGHEST_SHIFT),
					    .start = program->first}};
	unsigned i;

	settle_references(program);
	program->life++;
	program->alive = true;
	program->write = program->read = program->scrubbed = program->oldest = program->progress = 0;
	program->flood = 0;
	for (i = 0; i < program->slots; i++)
		program->ring[i].word[0] = TUTTI_PACKET_INVALID;
	if (wait)
		RULE(!driver_call(&m), "channel (SYS-08)", "queue %u is not created: %d", program->id,
		     m.status);
	else if (!driver_send(&m))
		program->alive = false;
}

void driver_destroy(struct program *program)
{
	if (!program->alive || program->dying || !driver_request(TUTTI_MSG_QUEUE_DESTROY, program->id, 0, 0))
		return;
	program->dying = true;
	feature_on(F_DESTROY);
}
