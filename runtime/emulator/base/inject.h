/* SPDX-License-Identifier: MIT */
/** DOC: Injection of faults (spec SYS-15) */
#ifndef TUTTI_EMULATOR_BASE_INJECT_H
#define TUTTI_EMULATOR_BASE_INJECT_H

#include "emulator/base/config.h"

int inject_create(struct tutti_card *card);
void inject_destroy(struct tutti_card *card);
/** inject_arm() - make @fault happen. Return: 0 or -EINVAL. */
int inject_arm(struct tutti_card *card, enum tutti_card_fault fault, uint64_t arg);
/** inject_parse() - read a fault of the form "kind[:arg]" from @text, which is changed. Return: 0 or -EINVAL. */
int inject_parse(char *text, enum tutti_card_fault *fault, uint64_t *arg);
/** inject_take() - use up one occurrence of @fault. Return: true if it was armed. Any thread may call. */
bool inject_take(struct tutti_card *card, enum tutti_card_fault fault);
/**
 * inject_booted() - the firmware is started again, which ends faults of it that were armed with argument 2.
 *
 * With argument 1 they last until cleared, so that no boot helps.
 */
void inject_booted(struct tutti_card *card);
/** inject_armed() - true if @fault is armed; does not use it up. @arg gets its argument unless it is NULL. */
bool inject_armed(struct tutti_card *card, enum tutti_card_fault fault, uint64_t *arg);

#endif
