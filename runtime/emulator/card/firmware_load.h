/* SPDX-License-Identifier: MIT */
/** DOC: Check and load a firmware image */
#ifndef TUTTI_EMULATOR_CARD_FIRMWARE_LOAD_H
#define TUTTI_EMULATOR_CARD_FIRMWARE_LOAD_H

#include "emulator/base/state.h"

/** firmware_boot() - boot the firmware image that the host has put into card memory. */
void firmware_boot(struct tutti_card *card);

#endif
