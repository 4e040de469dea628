/* SPDX-License-Identifier: MIT */
/**
 * DOC: The emulated card as a library
 *
 * A struct tutti_card is the hardware that the contract describes (include/tutti): soft core, engines, MMU and SMs. It
 * runs the shipped firmware binary and makes no scheduling decision itself. There are two ways to attach it: inside a
 * process by libtutti's emulator transport, and to a QEMU guest by the program tutti-card. Both see the same BAR,
 * which is the control window followed by card memory.
 */
#ifndef TUTTI_CARD_H
#define TUTTI_CARD_H

#include "emulator/base/config.h"
#include "emulator/base/profile.h"

/** tutti_card_bar_bytes() - size of the BAR of a card of @config, in bytes. */
size_t tutti_card_bar_bytes(const struct tutti_card_config *config);

/** tutti_card_create() - build a card, which is in reset. Returns 0 or -errno. */
int tutti_card_create(const struct tutti_card_config *config, struct tutti_card **card);
/** tutti_card_destroy() - stop all threads of the card and free it. */
void tutti_card_destroy(struct tutti_card *card);
/** tutti_card_reset() - function-level reset: stops the soft core, empties SMs, restores the control window. */
void tutti_card_reset(struct tutti_card *card);

/** tutti_card_bar() - the BAR: control window at 0, card memory at discovery.aperture. */
void *tutti_card_bar(struct tutti_card *card);
/** tutti_card_kick() - wake the card; to be called by a host that has written something and saw asleep set. */
void tutti_card_kick(struct tutti_card *card);

/**
 * tutti_card_run() - let the calling thread be the card for a while.
 * @done: called often; the card stops when it returns true. May be NULL.
 *
 * Runs until @done returns true, nothing is left to do, or about a millisecond (fast mode) or the time of 2^20
 * soft-core instructions (deterministic mode) has passed. In deterministic mode an idle card advances its clock to
 * the next timer.
 * Return: true if nothing is left to do until a timer fires or the host acts, false otherwise. If another thread
 * drives the card already, the function waits for a moment and returns false.
 */
bool tutti_card_run(struct tutti_card *card, bool (*done)(void *), void *context);

/** tutti_card_host_add() - let the card access host memory, at bus addresses that equal the pointers. */
int tutti_card_host_add(struct tutti_card *card, void *start, size_t bytes);
void tutti_card_host_remove(struct tutti_card *card, void *start);

/** tutti_card_inject() - inject a fault; @arg as in enum tutti_card_fault. Returns 0 or -EINVAL. */
int tutti_card_inject(struct tutti_card *card, enum tutti_card_fault fault, uint64_t arg);
/** tutti_card_inject_string() - inject faults "kind[:arg],..."; kinds as in the enum, in lower case with dashes. */
int tutti_card_inject_string(struct tutti_card *card, const char *text);

/** tutti_card_count() - switch the counting of soft-core instructions by function on or off. */
void tutti_card_count(struct tutti_card *card, bool on);
/** tutti_card_core() - how the soft core executes the firmware: a constant text, "none" if there is no firmware. */
const char *tutti_card_core(struct tutti_card *card);

#endif
