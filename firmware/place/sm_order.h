/* SPDX-License-Identifier: MIT */
/**
 * DOC: The SM priority order (policy TUTTI_POLICY_SM_ORDER)
 *
 * A bit of an SM mask stands for a position in this order; the SM at the lowest bit is preferred. At any time the
 * order is a permutation of the card's SMs.
 */
#ifndef SM_ORDER_H
#define SM_ORDER_H

#include "core/base.h"

void sm_order_init(void);
/** sm_order_at() - the number of the SM at @position. */
unsigned sm_order_at(unsigned position);
/** sm_order_swap() - let @sm and the SM at @position change places. Return: the position @sm had before */
unsigned sm_order_swap(unsigned position, unsigned sm);

#endif
