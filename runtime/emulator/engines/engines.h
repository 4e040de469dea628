/* SPDX-License-Identifier: MIT */
/** DOC: The command ring, doorbells, messages from the host and the timer */
#ifndef TUTTI_EMULATOR_ENGINES_ENGINES_H
#define TUTTI_EMULATOR_ENGINES_ENGINES_H

#include "emulator/base/state.h"

void engines_reset(struct tutti_card *card);
/** engines_poll() - look at doorbells, messages and, with @timer, the timer. Return: true if an event was put. */
bool engines_poll(struct tutti_card *card, bool timer);
/** engines_commands() - execute the commands in the command ring. Return: true if there were any. */
bool engines_commands(struct tutti_card *card);
/**
 * engines_visible() - true if the host has rung, sent a message or asked for a boot, and the card can see it. Any thread
 * may call.
 */
bool engines_visible(struct tutti_card *card);
/** engines_timer() - the time at which the timer fires, ~0 if it is off, the link is down or the card was removed. */
uint64_t engines_timer(struct tutti_card *card);

#endif
