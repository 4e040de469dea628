/* SPDX-License-Identifier: MIT */
/** DOC: MSI-X interrupts */
#ifndef TUTTI_EMULATOR_BASE_INTERRUPT_H
#define TUTTI_EMULATOR_BASE_INTERRUPT_H

#include <stdbool.h>

struct tutti_card;

/**
 * card_interrupt() - raise MSI-X @vector, unless that is out of range or a fault is injected.
 *
 * In deterministic mode it arrives some rounds later, as drawn from the seed: on a bus it may come long after what it
 * tells of can be seen.
 */
void card_interrupt(struct tutti_card *card, unsigned vector);
/** interrupts_arrive() - deliver the interrupts that are due. Return: true if others are under way. */
bool interrupts_arrive(struct tutti_card *card);

#endif
