/* SPDX-License-Identifier: MIT */
/**
 * DOC: The emulated card as a library
 *
 * A struct tutti_card is the hardware of the contract (include/tutti): soft core,
 * engines, MMU, SM array. It runs the shipped firmware binary; no scheduling
 * decision is made here. It is attached in two ways: by the emulator transport
 * inside the process, and by the tutti-card process behind QEMU. Both see the
 * same BAR: control window, then card memory.
 */
#ifndef TUTTI_CARD_H
#define TUTTI_CARD_H

#include "emulator/base/config.h"
#include "emulator/base/profile.h"

/** tutti_card_bar_bytes() - bytes of control window and card memory for @config. */
size_t tutti_card_bar_bytes(const struct tutti_card_config *config);

/** tutti_card_create() - build a card in reset. Returns 0 or -errno. */
int tutti_card_create(const struct tutti_card_config *config, struct tutti_card **card);
/** tutti_card_destroy() - stops all threads, then frees. */
void tutti_card_destroy(struct tutti_card *card);
/** tutti_card_reset() - function-level reset: soft core off, SMs empty, window as at power-on. */
void tutti_card_reset(struct tutti_card *card);

/** tutti_card_bar() - the BAR: control window at 0, card memory at discovery.aperture. */
void *tutti_card_bar(struct tutti_card *card);
/** tutti_card_kick() - the host has written something and saw asleep set. */
void tutti_card_kick(struct tutti_card *card);

/**
 * tutti_card_run() - let the calling thread be the card for a while.
 * @done: checked often; returns true = stop. May be NULL.
 *
 * Runs until @done says so, nothing is left to do, or about a millisecond (fast
 * mode) or 2^20 instructions (deterministic mode) have passed.
 * Return: true if there is nothing left to do (only timers or kicks can make
 * more), false otherwise. If another thread drives the card already, waits for a
 * moment and returns false. In deterministic mode an idle card moves its clock
 * to the next timer.
 */
bool tutti_card_run(struct tutti_card *card, bool (*done)(void *), void *context);

/** tutti_card_host_add() - host memory the card may reach, at bus address = pointer. */
int tutti_card_host_add(struct tutti_card *card, void *start, size_t bytes);
void tutti_card_host_remove(struct tutti_card *card, void *start);

/** tutti_card_inject() - make a fault happen; @arg as in enum tutti_card_fault. Returns 0 or -EINVAL. */
int tutti_card_inject(struct tutti_card *card, enum tutti_card_fault fault, uint64_t arg);
/** tutti_card_inject_string() - the same from "kind[:arg],..."; names as in the enum, lower case, dashes. */
int tutti_card_inject_string(struct tutti_card *card, const char *text);

/** tutti_card_count() - switch counting on or off (fast mode). */
void tutti_card_count(struct tutti_card *card, bool on);

#endif
