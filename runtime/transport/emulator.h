/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_EMULATOR_H
#define TUTTI_RUNTIME_EMULATOR_H

struct tutti_device;
struct tutti_card;

/**
 * emulator_card() - the emulated card behind @device, or NULL if the device is another kind of card.
 * It is not exported: tests and benchmarks use it, which link the card and call emulator/card/card.h.
 */
struct tutti_card *emulator_card(struct tutti_device *device);
/** emulator_core() - how the emulated card behind @device executes the firmware, or NULL if it is another kind of card. */
const char *emulator_core(struct tutti_device *device);

#endif
