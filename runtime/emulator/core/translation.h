/* SPDX-License-Identifier: MIT */
/** DOC: Which translation fits the firmware that has been loaded */
#ifndef TUTTI_EMULATOR_CORE_TRANSLATION_H
#define TUTTI_EMULATOR_CORE_TRANSLATION_H

#include "emulator/core/core.h"

/**
 * core_translate() - let the core of @core execute what has been translated, if that was made from the image in local
 * memory. Otherwise the firmware is interpreted, which is said once on stderr.
 */
void core_translate(struct core *core);

#endif
