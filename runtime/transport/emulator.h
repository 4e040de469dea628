/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_EMULATOR_H
#define TUTTI_RUNTIME_EMULATOR_H

struct tutti_device;
struct tutti_card;

/**
 * emulator_card() - the emulated card behind @device, NULL if it is another kind of card.
 * For tests and benchmarks, which link the card and call emulator/card/card.h; not exported.
 */
struct tutti_card *emulator_card(struct tutti_device *device);

#endif
