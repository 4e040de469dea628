/* SPDX-License-Identifier: MIT */
/**
 * DOC: Priority windows (spec RES-06)
 *
 * Time runs modulo a period, which is split into windows. In window y the levels of class y come first and the others
 * keep their order. So no level starves, and the shares of the card follow the lengths of the windows. This order
 * counts when CTAs are issued; eviction goes by priority alone.
 */
#ifndef PRIORITY_WINDOWS_H
#define PRIORITY_WINDOWS_H

#include "core/base.h"

#define WINDOWS 8u

void window_init(void);
/** window_order() - the levels in the order that holds now, with a 0 at the end. */
const uint8_t *window_order(void);
/** window_length() - set a value of TUTTI_POLICY_WINDOW. Return: false if the value is not valid */
bool window_length(uint32_t value);
/** window_class() - set a value of TUTTI_POLICY_CLASS. Return: false if the value is not valid */
bool window_class(uint32_t value);
/**
 * window_ask() - read what is set for @policy.
 * @which: a class, 255 (for the number of windows) or a level
 * Return: false if there is no such class or level
 */
bool window_ask(uint32_t policy, uint32_t which, uint32_t *value);

#endif
