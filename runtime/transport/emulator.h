/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_EMULATOR_H
#define TUTTI_RUNTIME_EMULATOR_H

#include <stdbool.h>
#include <stdint.h>

struct tutti_device;
struct tutti_card;
struct translator_report;

/**
 * emulator_card() - the emulated card behind @device, or NULL if the device is another kind of card.
 * It is not exported: tests and benchmarks use it, which link the card and call emulator/card/card.h.
 */
struct tutti_card *emulator_card(struct tutti_device *device);
/** emulator_core() - how the emulated card behind @device executes the firmware, or NULL if it is another kind of card. */
const char *emulator_core(struct tutti_device *device);
/** emulator_kernels() - how it executes kernels. Return: false if it is another kind of card. */
bool emulator_kernels(struct tutti_device *device, struct translator_report *report);
/** emulator_translate() - see translator_fill() of the emulated card. Also -ENODEV: it is not installed. */
int emulator_translate(const uint8_t *code, uint64_t bytes);

#endif
