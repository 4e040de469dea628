// SPDX-License-Identifier: MIT
/* The card: in each step something ends, faults or makes a request, and events are delivered in any order. */
#include "card/card.h"

void card_begin(unsigned sms)
{
	sms_begin(sms);
	ctas_begin(sms);
	cgas_begin();
	events_begin();
	fetches_begin();
	posts_begin();
	commands_begin();
}

/* ---- what happens on the SMs ---- */

static bool end_cga(unsigned gpc, unsigned id)
{
	unsigned gpcs = discovery()->gpcs, g;

	for (g = 0; g < gpcs; g++, gpc = (gpc + 1) % gpcs)
		if (cgas_end_one(gpc, id))
			return true;
	return false;
}

static bool end_plain(unsigned number)
{
	unsigned i;

	for (i = 0; i < SLOTS; i++, number = (number + 1) % SLOTS)
		if (slots[number].running && ctas_end_plain(number))
			return true;
	return false;
}

/* The slot with the most CTAs on the card. */
static unsigned fullest(void)
{
	unsigned i, most = 0;

	for (i = 1; i < SLOTS; i++)
		if (slots[i].running > slots[most].running)
			most = i;
	return most;
}

/*
 * CGAs end first. But no kernel may run for ever because others run CGAs, or because it has many CTAs, of which none ends
 * while those of small kernels do.
 */
static bool end_some(void)
{
	unsigned gpc = roll(discovery()->gpcs), id = roll(IDS), number = roll(SLOTS);

	if (!card_resident())
		return false;
	return (fair_waits_long() && roll(2) && end_plain(fullest())) || end_cga(gpc, id) || end_plain(number);
}

/* A wave of a running kernel executes an illegal instruction. @again: its queue has stopped already */
static void fault(bool again)
{
	unsigned number = roll(SLOTS), i, sm;

	for (i = 0; i < SLOTS; i++, number = (number + 1) % SLOTS) {
		struct slot *slot = &slots[number];

		if (!slot->running || slot->killing || slot->pinned || slot->split ||
		    (again && !w.program[slot->job->queue].stopped))
			continue;
		for (sm = 0; !slot->on[sm]; sm++)
			;
		slot->pinned = slot->job->faulted = true;
		feature_on(F_FAULT);
		if (w.program[slot->job->queue].stopped && !features_has(&slot->job->features, F_FAULT_AGAIN)) {
			features_add(&slot->job->features, F_FAULT_AGAIN);
			feature_on(F_FAULT_AGAIN);
		}
		TRACE("  fault of %s\n", job_name(slot->job));
		event_later(&(struct tutti_event){{TUTTI_EVENT_FAULT | number << 8 | TUTTI_CAUSE_ILLEGAL << 16, sm,
					     0x1234, 0, 0, 0, TUTTI_ENGINE_WAVE}},
		      -1, 0);
		return;
	}
}

void card_fault(void)
{
	fault(false);
}

void card_fault_again(void)
{
	fault(true);
}

static void ask_for_child(void)
{
	unsigned number = roll(SLOTS);
	struct slot *slot = &slots[number];
	uint64_t address;

	if (!features_has(&w.scenario.allowed, F_CHILD) || !slot->running || slot->killing || slot->pinned ||
	    slot->split || slot->level[0].kind || slot->job->hold || slot->job->cancelled ||
	    !(w.program[slot->job->queue].flags & TUTTI_QUEUE_EXTENDED) ||
	    w.program[slot->job->queue].dying || slot->running <= slot->job->children)
		return;
	address = child_make(slot->job);
	if (!address)
		return;
	slot->job->children++;
	slot->late++;
	TRACE("  child %s of %s\n", job_name(&w.job[w.jobs - 1]), job_name(slot->job));
	event_later(&(struct tutti_event){{TUTTI_EVENT_REQUEST | number << 8 | TUTTI_SERVICE_TASK << 16, w.jobs - 1,
				     0, (uint32_t)address, (uint32_t)(address >> 32)}},
		    (int)number, 0);
}

/* The driver takes the card's messages now, or later. */
static void look(bool later)
{
	if (later && driver_behind()) {
		if (!w.unread)
			feature_on(F_MESSAGES_LATE);
		w.unread = true;
		return;
	}
	driver_read();
	if (w.unread)
		feature_off(F_MESSAGES_LATE);
	w.unread = false;
}

/* ---- delivery ---- */

void card_event(const struct tutti_event *event)
{
	w.now++;
	hal_host.time += roll(300);
	posts_write(posts_waiting());
	commands_event();
	firmware_visit(event);
	card_take_commands();
	fair_visit();
	if (w.stall && !--w.stall)
		feature_off(F_STALL);
	look(features_has(&w.scenario.allowed, F_MESSAGES_LATE) && roll(8));
}

static void deliver(unsigned i)
{
	int number;
	uint64_t data;
	struct tutti_event event = event_take(i, &number, &data);
	unsigned type = event.word[0] & 0xff;

	if (type == TUTTI_EVENT_FAULT && !slots[event.word[0] >> 8 & 0xff].pinned)
		return; /* killed meanwhile */
	if (type == TUTTI_EVENT_FLUSHED)
		cga_flushed(&event);
	if (type == TUTTI_EVENT_CTA || type == TUTTI_EVENT_CGA) {
		ctas_told((unsigned)number, &event);
		rules_ended(slots[number].job);
	}
	if (type == TUTTI_EVENT_REQUEST)
		slots[number].late--;
	if (type == TUTTI_EVENT_MOVER)
		rules_moved(data);
	if (type == TUTTI_EVENT_FETCH)
		fetch_arrives(data);
	if (type == TUTTI_EVENT_STATE)
		slots[number].unacknowledged--;
	card_event(&event);
	if (type == TUTTI_EVENT_CTA || type == TUTTI_EVENT_CGA || type == TUTTI_EVENT_REQUEST)
		slot_killed_if_empty((unsigned)number);
}

/* The timer that the firmware has set; when nothing else happens, time jumps to it. */
void card_timer(void)
{
	struct tutti_engines *e = &hal_host.engines;
	uint64_t at = e->timer_lo | (uint64_t)e->timer_hi << 32;

	if (e->timer_hi == TUTTI_TIMER_OFF)
		return;
	if (hal_host.time < at)
		hal_host.time = at;
	e->timer_hi = TUTTI_TIMER_OFF;
	card_event(&(struct tutti_event){{TUTTI_EVENT_TIMER}});
}

static bool timer_due(void)
{
	const struct tutti_engines *e = &hal_host.engines;

	return e->timer_hi != TUTTI_TIMER_OFF && hal_host.time >= (e->timer_lo | (uint64_t)e->timer_hi << 32);
}

bool card_step(void)
{
	if (timer_due()) {
		card_timer();
		return true;
	}
	if (!roll(12))
		ask_for_child();
	if (posts_waiting() && !roll(4))
		posts_write(1 + roll(4));
	if (events_pending() && roll(4)) {
		deliver(w.in_order ? 0 : roll(events_pending()));
		return true;
	}
	if (end_some())
		return true;
	if (events_pending()) {
		deliver(w.in_order ? 0 : roll(events_pending()));
		return true;
	}
	if (posts_waiting()) {
		posts_write(posts_waiting());
		return true;
	}
	if (hal_host.engines.command_head != hal_host.engines.command_tail) {
		w.stall = 0;
		feature_off(F_STALL);
		card_take_commands();
		return true;
	}
	if (driver_behind()) {
		driver_read();
		return true;
	}
	return false;
}

bool card_quiet(void)
{
	return !events_pending() && !posts_waiting() && hal_host.engines.command_head == hal_host.engines.command_tail &&
	       !driver_behind();
}
