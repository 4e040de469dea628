/* SPDX-License-Identifier: MIT */
/**
 * DOC: Throttle mode (spec TSK-07)
 *
 * A throttle task runs while a few SMs share the shared memory of all. Switching needs an
 * empty card: nothing is issued, CTAs in flight end, SMs are told their new sizes, then
 * only tasks of that size go until none of them is left in the table. While the card is
 * being emptied child tasks go on: CTAs in flight may wait for them.
 */
#ifndef THROTTLE_H
#define THROTTLE_H

#include "tasks/task_table.h"

enum throttle_mode {
	THROTTLE_OFF,
	THROTTLE_DRAIN,  /* the card is being emptied, to switch on or to another size */
	THROTTLE_SWITCH, /* THROTTLE was sent */
	THROTTLE_ON,
};

struct throttle {
	uint8_t mode;     /* enum throttle_mode */
	uint16_t sms;     /* that share, while on */
	uint16_t tasks;   /* throttle tasks in the table */
};
extern struct throttle throttle;

void throttle_init(void);
/** throttle_allows() - the mode does not keep @task from issuing. */
bool throttle_allows(const struct task *task);
/** throttle_admit() / throttle_leave() - a task with metadata got a slot; gives it back. */
void throttle_admit(const struct task *task);
void throttle_leave(const struct task *task);
/** throttle_empty() - no CTA is left on the card. */
void throttle_empty(void);
/** throttle_blocks() - shared blocks of an SM when @sms share. */
uint32_t throttle_blocks(uint32_t sms);
void throttle_event(const struct tutti_event *event);

#endif
