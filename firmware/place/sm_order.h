/* SPDX-License-Identifier: MIT */
/**
 * DOC: The SM priority order (policy TUTTI_POLICY_SM_ORDER)
 *
 * Masks of SMs go by position in this order: the lowest bit is the SM that is preferred. The order is a
 * permutation of the card's SMs at any time.
 */
#ifndef SM_ORDER_H
#define SM_ORDER_H

#include "core/base.h"

void sm_order_init(void);
/** sm_order_at() - the SM at @position. */
unsigned sm_order_at(unsigned position);
/** sm_order_swap() - @sm goes to @position; the SM that was there takes its place. Return: the place @sm came from */
unsigned sm_order_swap(unsigned position, unsigned sm);

#endif
