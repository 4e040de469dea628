/* SPDX-License-Identifier: MIT */
/**
 * DOC: Priority windows (spec RES-06)
 *
 * Time runs modulo a period that is split into windows. In window y the levels of class y come first and the
 * others keep their order; so nobody starves, and shares of the card follow the lengths of the windows. This order
 * counts when CTAs are issued, not for eviction.
 */
#ifndef PRIORITY_WINDOWS_H
#define PRIORITY_WINDOWS_H

#include "core/base.h"

#define WINDOWS 8u

void window_init(void);
/** window_order() - levels in the order that counts now, ended by 0. */
const uint8_t *window_order(void);
/** window_length() - value of TUTTI_POLICY_WINDOW. False: makes no sense. */
bool window_length(uint32_t value);
/** window_class() - value of TUTTI_POLICY_CLASS. False: makes no sense. */
bool window_class(uint32_t value);
/** window_ask() - what is set; @which: class, 255 or level. Return: false: there is no such. */
bool window_ask(uint32_t policy, uint32_t which, uint32_t *value);

#endif
