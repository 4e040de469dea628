/* SPDX-License-Identifier: MIT */
/** DOC: Command ring, doorbells, messages, timer */
#ifndef TUTTI_EMULATOR_ENGINES_ENGINES_H
#define TUTTI_EMULATOR_ENGINES_ENGINES_H

#include "emulator/base/state.h"

void engines_reset(struct tutti_card *card);
/** engines_poll() - doorbells, messages and (if @timer) the timer. Return: true if an event was put. */
bool engines_poll(struct tutti_card *card, bool timer);
/** engines_commands() - take what is in the command ring. Return: true if something was. */
bool engines_commands(struct tutti_card *card);
/** engines_visible() - the host has rung, written a message or asks for a boot. Any thread may ask. */
bool engines_visible(struct tutti_card *card);
/** engines_timer() - time at which the timer fires, ~0 = off. */
uint64_t engines_timer(struct tutti_card *card);

#endif
