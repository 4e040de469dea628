/* SPDX-License-Identifier: MIT */
/** DOC: Faults on demand (spec SYS-15) */
#ifndef TUTTI_EMULATOR_BASE_INJECT_H
#define TUTTI_EMULATOR_BASE_INJECT_H

#include "emulator/base/config.h"

int inject_create(struct tutti_card *card);
void inject_destroy(struct tutti_card *card);
/** inject_arm() - make @fault happen. Return: 0 or -EINVAL. */
int inject_arm(struct tutti_card *card, enum tutti_card_fault fault, uint64_t arg);
/** inject_parse() - "kind[:arg]". Return: 0 or -EINVAL. */
int inject_parse(char *text, enum tutti_card_fault *fault, uint64_t *arg);
/** inject_take() - true if @fault is armed; uses one up. Any thread, fast when nothing is armed. */
bool inject_take(struct tutti_card *card, enum tutti_card_fault fault);
/** inject_armed() - the same without using it up. @arg: if not NULL, gets its argument */
bool inject_armed(struct tutti_card *card, enum tutti_card_fault fault, uint64_t *arg);

#endif
