/* SPDX-License-Identifier: MIT */
/* The model of the card from inside: what its files ask of each other. What all others may ask is in combine.h. */
#ifndef COMBINE_CARD_H
#define COMBINE_CARD_H

#include "backend/backend.h"
#include "combine.h"

#define IDS 256u /* of a GPC */

/* A task slot, as the SMs know it. */
struct slot {
	struct tutti_task_state state;
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	struct job *job;
	bool known, killing, pinned, split;
	uint32_t next, running;
	uint32_t late; /* events of its CTAs that the firmware has not received yet */
	uint32_t unacknowledged; /* states of it that the SMs have not acknowledged to the firmware, see TSK-05 */
	unsigned sequence, staged; /* of the CGA being launched, and its CTAs so far */
	unsigned domain[TUTTI_CGA_LEVELS];
	uint16_t on[TUTTI_MAX_SMS];
};

/* ---- events.c: events that the card has to deliver ---- */

void events_begin(void);
/**
 * event_later() - @late_slot: slot whose CTAs have ended, -1: none.
 * @data: of MOVER the address of the data, of FETCH what fetch_read() has returned
 */
void event_later(const struct tutti_event *event, int late_slot, uint64_t data);
unsigned events_pending(void);
/** event_take() - the event at place @i leaves the list. */
struct tutti_event event_take(unsigned i, int *late_slot, uint64_t *data);

/* ---- posts.c ---- */

void posts_begin(void);
unsigned posts_waiting(void);
/** posts_write() - the oldest @n of them become visible. */
void posts_write(unsigned n);
/** posts_before() - what commands before index @tail of the ring have posted becomes visible. */
void posts_before(uint32_t tail);
/** commands_event() - the firmware gets an event: the commands that it writes from here on belong to that event. */
void commands_event(void);

/* ---- fetches.c: memory that has been read and has not arrived in the memory of the soft core ---- */

void fetches_begin(void);
/** fetch_read() - @bytes at @from are on their way to address @to of the soft core. Return: its number, 0: they are there */
uint64_t fetch_read(const void *from, uint32_t bytes, uint32_t to);
/** fetch_arrives() - fetches up to @number get there. */
void fetch_arrives(uint64_t number);

/* ---- commands.c ---- */

void commands_begin(void);

/* ---- sms.c: SMs by their position in the priority order ---- */

void sms_begin(unsigned sms);
/** sms_order() - command ORDER. */
void sms_order(const uint32_t *c, unsigned words);
/** sms_throttle() - command THROTTLE. */
void sms_throttle(const uint32_t *c);
/** sms_mode() - command SM_MODE. */
void sms_mode(unsigned sub);
/** sms_of_gpc() - the @nth SM of a GPC in the priority order. */
unsigned sms_of_gpc(unsigned gpc, unsigned nth);
const struct tutti_sm_place *sms_place(unsigned position);
/** sms_domain() - number of the domain of @kind that a position lies in. */
unsigned sms_domain(unsigned kind, unsigned position);
unsigned sms_ctas(unsigned position);
bool sms_put(const struct tutti_task_state *state, unsigned slot, unsigned position);
void sms_remove(const struct tutti_task_state *state, unsigned slot, unsigned position);
/** sms_room() - how many CTAs of @job, at most @enough, fit an SM beside those that run there, found by trying. */
unsigned sms_room(const struct job *job, unsigned position, unsigned enough);

/* ---- ctas.c: CTAs that run ---- */

extern struct slot slots[SLOTS];

void ctas_begin(unsigned sms);
void cta_start(unsigned number, unsigned position);
/** cta_gone() - a CTA leaves its SM; the firmware does not know yet. */
void cta_gone(struct slot *slot, unsigned number, unsigned position);
/** ctas_may_end() - how many CTAs of @slot may end now. */
uint32_t ctas_may_end(const struct slot *slot);
/** ctas_ended() - @event will tell that CTAs of @slot have ended. */
void ctas_ended(struct slot *slot, const struct tutti_event *event);
/** ctas_end_plain() - some CTAs of a kernel without small CGAs end. */
bool ctas_end_plain(unsigned number);
/** ctas_told() - the firmware is told that CTAs have ended. */
void ctas_told(unsigned number, const struct tutti_event *event);
/** ctas_late() - CTAs of an SM that have ended without the firmware's knowing yet. */
unsigned ctas_late(unsigned position);
void slot_killed_if_empty(unsigned number);

/* ---- cgas.c: CGAs and their ids ---- */

void cgas_begin(void);
/** cga_launch() - command LAUNCH of a kernel with CGAs. */
void cga_launch(const uint32_t *c, unsigned words);
/** cga_flush() - command FLUSH. */
void cga_flush(const uint32_t *c);
/** cga_flushed() - event FLUSHED is delivered. */
void cga_flushed(const struct tutti_event *event);
/** cgas_end_one() - some CTAs of a CGA of @gpc end; the ids from @id on are tried. False: there is none. */
bool cgas_end_one(unsigned gpc, unsigned id);

#endif
