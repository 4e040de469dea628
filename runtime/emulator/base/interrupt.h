/* SPDX-License-Identifier: MIT */
/** DOC: MSI-X interrupts */
#ifndef TUTTI_EMULATOR_BASE_INTERRUPT_H
#define TUTTI_EMULATOR_BASE_INTERRUPT_H

struct tutti_card;

/** card_interrupt() - raise MSI-X @vector, unless that is out of range or a fault is injected. */
void card_interrupt(struct tutti_card *card, unsigned vector);

#endif
