/* SPDX-License-Identifier: MIT */
/**
 * DOC: Affinity masks: the SMs a task may run on
 *
 * A mask is user memory by number of SM; it is fetched into a record of this table and turned into one by position
 * in the SM priority order, as all other masks are.
 */
#ifndef AFFINITY_H
#define AFFINITY_H

#include "core/base.h"

void affinity_init(void);
/** affinity_take() - a free record. Return: its number, from 1 on; 0: there is none */
unsigned affinity_take(void);
void affinity_put(unsigned number);
/** affinity_left() - there is a free record. */
bool affinity_left(void);
/** affinity_mask() - the words of record @number. */
uint32_t *affinity_mask(unsigned number);
/** affinity_order() - from SM numbers to positions. Return: false if no SM of this card is in the mask */
bool affinity_order(unsigned number);

#endif
