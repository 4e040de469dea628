// SPDX-License-Identifier: MIT
/* What the driver asks and says at any moment while kernels run, and what must be answered. */
#include "programs/produce.h"

#define READ_AT 0x20000u /* in card memory: where tables of reference buffers are copied to */

/* ---- the state of a queue ---- */

static void ask_queue(void)
{
	const struct program *program = &w.program[roll(QUEUES)];

	if (driver_request(TUTTI_MSG_QUEUE_QUERY, program->id, program->life, program->read))
		feature_on(F_ASK);
}

/* The queue is the same as when it was asked about. */
static bool same_queue(const struct program *program, uint64_t life)
{
	return program->alive && !program->dying && program->life == life;
}

static void queue_answered(const struct tutti_message *m, const struct tutti_message *request)
{
	const struct program *program = &w.program[request->arg[0]];

	if (!same_queue(program, request->arg[1]))
		return;
	RULE(!m->status, "channel (SYS-08)", "query of queue %u: status %d", program->id, m->status);
	RULE(m->value == m->arg[0] && m->value - program->first >= request->arg[2] && m->value - program->first <= program->write,
	     "channel (SYS-08)",
	     "read index of queue %u is said to be %lu and %lu, it was %lu, and %lu packets were written", program->id,
	     m->value - program->first, m->arg[0] - program->first, request->arg[2], program->write);
	RULE(program->busy_reset || !!m->arg[2] == program->stopped, "channel (SYS-08)",
	     "the error of queue %u is said to be %lu, and it has %sstopped", program->id, m->arg[2],
	     program->stopped ? "" : "not ");
}

/* ---- how much an idle card holds (CGA-29) ---- */

static unsigned fit(unsigned have, unsigned need)
{
	return need ? have / need : ~0u;
}

/* CTAs that an empty SM has room for: all of them need the same, so that nothing is left over between them. */
static unsigned idle_sm(const struct tutti_msg_occupancy *ask)
{
	const struct tutti_discovery *d = discovery();
	unsigned waves = least(d->peu_waves, least(fit(d->scalar_blocks, ask->scalar_blocks), fit(d->vector_blocks, ask->vector_blocks)));
	unsigned n = least(w.cap ? w.cap : ~0u, least(d->cta_slots, 32));

	n = least(n, d->peus * waves / ask->waves);
	return least(n, least(fit(d->shared_blocks, ask->shared_blocks), fit(d->barriers, ask->barriers)));
}

/* Requests are served in order, so that it is the SMs enabled by requests so far that count. */
static void ask_occupancy(void)
{
	const struct tutti_kernel_descriptor *k = &kernels[roll(CGA_KERNELS)];
	unsigned kind = roll(2) ? kernel_some_kind() : 0;
	struct tutti_message m = {.type = TUTTI_MSG_OCCUPANCY, .value = op_enabled_sms()};

	m.occupancy = (struct tutti_msg_occupancy){.waves = (uint16_t)(1 + roll(32)),
						   .scalar_blocks = k->scalar_blocks,
						   .vector_blocks = k->vector_blocks,
						   .shared_blocks = (uint16_t)((k->group_bytes + 2047) / 2048),
						   .barriers = k->barriers,
						   .mode = (uint8_t)roll(2),
						   .lmem = kind && kind <= TUTTI_CGA_GPC && !roll(4)};
	if (kind)
		m.occupancy.cga[0] = (struct tutti_cga_shape){(uint16_t)kernel_some_parts(kind), 1, 1, (uint16_t)kind};
	TRACE("  occupancy of %u waves, CGA %u of kind %u, mode %u\n", m.occupancy.waves, m.occupancy.cga[0].x, kind, m.occupancy.mode);
	if (driver_send(&m))
		feature_on(F_ASK);
}

static void occupancy_answered(const struct tutti_message *m, const struct tutti_message *request)
{
	const struct tutti_msg_occupancy *ask = &request->occupancy;
	unsigned most = idle_sm(ask);
	uint64_t all = most * request->value;

	RULE(!m->status && m->arg[0] == most && m->arg[1] == request->value, "occupancy (CGA-29)",
	     "%u waves %u/%u/%u/%u: status %d, %lu CTAs on each of %lu SMs, and %u on %lu fit", ask->waves,
	     ask->scalar_blocks, ask->vector_blocks, ask->shared_blocks, ask->barriers, m->status, m->arg[0], m->arg[1],
	     most, request->value);
	if (!ask->cga[0].kind)
		RULE(m->value == all, "occupancy (CGA-29)", "%lu CTAs on the card, and %lu fit", m->value, all);
	else
		RULE(m->value * ask->cga[0].x <= all, "occupancy (CGA-29)", "%lu CGAs of %u CTAs, and only %lu CTAs fit",
		     m->value, ask->cga[0].x, all);
	/* the SMs of more GPCs than the firmware has places for take no CGAs */
	if (ask->cga[0].kind == TUTTI_CGA_GPU && ask->mode == TUTTI_CGA_LOAD_BALANCE && most && w.sms <= 144)
		RULE(m->value == all / ask->cga[0].x, "occupancy (CGA-29)", "%lu CGAs of %u CTAs, and %lu CTAs fit",
		     m->value, ask->cga[0].x, all);
}

/* ---- the table of a reference buffer ---- */

static void ask_references(void)
{
	const struct program *program = &w.program[roll(QUEUES)];

	if (program->flags & TUTTI_QUEUE_RSB &&
	    driver_request(TUTTI_MSG_RSB_READ, program->buffer, READ_AT + 1024 * program->buffer, 0))
		feature_on(F_ASK);
}

static bool stored(const struct job *job, unsigned buffer)
{
	const struct program *program = &w.program[job->queue];

	return !job->child && program->buffer == buffer && (job->life_of_queue != program->life || entry_of(job)->reference);
}

static void check_reference(unsigned buffer, const struct tutti_reference *r)
{
	uint64_t number = r->kernarg / 16 - 1;
	const struct job *job = &w.job[number % JOBS];

	RULE(number < w.jobs && stored(job, buffer), "state (PKT-09)",
	     "buffer %u has a reference with arguments at %lx, which no packet stored", buffer, r->kernarg);
	RULE(r->kernel_object == KERNEL_AT + 64 * job->shape && r->waves == job->waves && r->grid_x == job->grid_x &&
		 r->groups == job->groups && r->scalar_blocks == job->scalar && r->vector_blocks == job->vector &&
		 r->shared_blocks == job->shared && r->barriers == job->barriers && r->signal == signal_address(job->signal),
	     "state (PKT-09)", "buffer %u has another kernel than %s", buffer, job_name(job));
}

static void references_answered(const struct tutti_message *m, const struct tutti_message *request)
{
	unsigned buffer = (unsigned)request->arg[0];
	const struct tutti_rsb *rsb = (const void *)(hal_host.card + request->arg[1]);
	unsigned i;

	RULE(!m->status, "channel (SYS-08)", "reading reference buffer %u: status %d", buffer, m->status);
	for (i = 0; i < TUTTI_REFERENCES; i++)
		if (rsb->reference[i].flags & TUTTI_REFERENCE_VALID)
			check_reference(buffer, &rsb->reference[i]);
}

/* Packets that use these references may have been expanded or not when they go. */
static void doubt(struct program *program, unsigned mask)
{
	uint64_t i;

	for (i = program->oldest; i < program->write; i++)
		program->entry[i].unsure |= program->entry[i].kind == CONDENSED && program->entry[i].references & mask;
}

static void forget_references(void)
{
	unsigned mask = 1 + roll(255), number = roll(QUEUES), i;
	struct buffer *buffer = &w.buffer[w.program[number].buffer];

	number = w.program[number].buffer;
	if (!w.program[number].flags || !driver_request(TUTTI_MSG_RSB_INVALIDATE, number, mask, 1))
		return;
	TRACE("  references %02x of buffer %u are invalidated\n", mask, number);
	feature_on(F_FORGET);
	buffer->forgetting |= (uint8_t)mask;
	for (i = 0; i < TUTTI_REFERENCES; i++)
		buffer->reference[i].valid &= ~mask >> i & 1;
	for (i = 0; i < QUEUES; i++)
		if (w.program[i].buffer == number)
			doubt(&w.program[i], mask);
}

static void references_forgotten(const struct tutti_message *m, const struct tutti_message *request)
{
	RULE(!m->status, "channel (SYS-08)", "invalidation of references: status %d", m->status);
	w.buffer[request->arg[0]].forgetting &= (uint8_t)~request->arg[1];
	feature_off(F_FORGET);
}

/* ---- changes of code and mappings ---- */

static void invalidate(void)
{
	unsigned type = roll(2) ? TUTTI_MSG_CODE_INVALIDATE : TUTTI_MSG_TLB_INVALIDATE;
	uint64_t bytes = roll(2) ? 0 : 4096;

	if (driver_request(type, ASID + roll(QUEUES / 2), bytes ? KERNEL_AT : 0, bytes))
		feature_on(F_INVALIDATE);
}

/* ---- interrupts ---- */

static void notify(void)
{
	struct program *program = &w.program[roll(QUEUES)];
	struct notices *notices = &program->notices;
	uint64_t at = program->read + roll((uint32_t)(program->write - program->read) + 4);

	if (!program->alive || program->dying || !program->progress_word || notices->n == NOTICES ||
	    !driver_request(TUTTI_MSG_QUEUE_NOTIFY, program->id, program->first + at, 0))
		return;
	TRACE("  notice of queue %u at %lu\n", program->id, at);
	notices->at[notices->n++] = at;
	if (!notices->live)
		feature_on(F_NOTIFY);
	notices->live = true;
}

/* Requests that may have led to an interrupt by now. */
static unsigned due(const struct program *program)
{
	unsigned i, n = 0;

	for (i = 0; i < program->notices.n; i++)
		n += program->notices.at[i] <= program->progress;
	return n;
}

/* One interrupt may be the answer to several requests. */
void questions_interrupt(unsigned vector)
{
	struct program *program = &w.program[(vector - 1) % QUEUES];
	struct notices *notices = &program->notices;

	TRACE("    interrupt of queue %u\n", program->id);
	RULE(vector && vector <= QUEUES && program->alive && notices->interrupts < due(program), "notice (SYS-26)",
	     "interrupt %u of vector %u when %lu packets have retired, and %u are due", notices->interrupts + 1, vector,
	     program->progress, due(program));
	notices->interrupts++;
	notices->since = notices->n;
	if (notices->live)
		feature_off(F_NOTIFY);
	notices->live = false;
}

void questions_end(const struct program *program)
{
	unsigned i;

	for (i = program->notices.since; i < program->notices.n; i++)
		RULE(program->notices.at[i] > program->progress, "notice (SYS-26)",
		     "%lu packets of queue %u have retired, and no interrupt has come at %lu", program->progress,
		     program->id, program->notices.at[i]);
	RULE(!program->progress_word || program->progress == program->read, "notice (SYS-26)",
	     "%lu packets of queue %u have retired, and the progress word says %lu", program->read, program->id,
	     program->progress);
}

/* ---- */

void questions_ask(void)
{
	unsigned what = roll(7);

	if (what == 0 && MAYBE(NOTIFY, 2))
		notify();
	else if (what == 1 && MAYBE(INVALIDATE, 4))
		invalidate();
	else if (what == 2 && MAYBE(ASK, 2))
		ask_queue();
	else if (what == 3 && MAYBE(ASK, 2))
		ask_occupancy();
	else if (what == 4 && MAYBE(ASK, 2))
		ask_references();
	else if (what == 5 && MAYBE(FORGET, 8))
		forget_references();
}

void questions_answered(const struct tutti_message *m, const struct tutti_message *request)
{
	switch (request->type) {
	case TUTTI_MSG_QUEUE_QUERY:
		feature_off(F_ASK);
		queue_answered(m, request);
		break;
	case TUTTI_MSG_OCCUPANCY:
		feature_off(F_ASK);
		occupancy_answered(m, request);
		break;
	case TUTTI_MSG_RSB_READ:
		feature_off(F_ASK);
		references_answered(m, request);
		break;
	case TUTTI_MSG_RSB_INVALIDATE:
		if (request->arg[2])
			references_forgotten(m, request);
		break;
	case TUTTI_MSG_CODE_INVALIDATE:
	case TUTTI_MSG_TLB_INVALIDATE:
		feature_off(F_INVALIDATE);
		RULE(!m->status, "channel (SYS-08)", "invalidation of context %lu: status %d", request->arg[0], m->status);
		break;
	case TUTTI_MSG_QUEUE_NOTIFY:
		RULE(!m->status || m->status == -TUTTI_ENOENT, "channel (SYS-08)", "notice of queue %lu: status %d",
		     request->arg[0], m->status);
		break;
	}
}
