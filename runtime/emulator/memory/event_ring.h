/* SPDX-License-Identifier: MIT */
/** DOC: The event ring, by which the hardware tells the firmware what has happened */
#ifndef TUTTI_EMULATOR_MEMORY_EVENT_RING_H
#define TUTTI_EMULATOR_MEMORY_EVENT_RING_H

#include <stdbool.h>

#include "tutti/softcore.h"

struct tutti_card;

/** engines_event() - put an event into the ring. Return: false if the ring is full (try again later). */
bool engines_event(struct tutti_card *card, const struct tutti_event *event);
/** engines_room() - true if the event ring has a free slot. */
bool engines_room(struct tutti_card *card);
bool engines_pending(struct tutti_card *card);
/** engines_freed() - true if the firmware has freed slots since the last call. */
bool engines_freed(struct tutti_card *card);

#endif
