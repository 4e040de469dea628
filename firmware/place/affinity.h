/* SPDX-License-Identifier: MIT */
/**
 * DOC: Affinity masks: the SMs a task may run on
 *
 * In user memory a mask has a bit for each SM number. It is fetched into a record of this table and converted to
 * positions in the SM priority order, because all other masks of the firmware are by position.
 */
#ifndef AFFINITY_H
#define AFFINITY_H

#include "core/base.h"

void affinity_init(void);
/** affinity_take() - allocate a record. Return: its number, from 1 on; 0 if none is free */
unsigned affinity_take(void);
/** affinity_put() - free record @number. */
void affinity_put(unsigned number);
/** affinity_left() - number of free records. */
unsigned affinity_left(void);
/** affinity_mask() - the words of record @number. */
uint32_t *affinity_mask(unsigned number);
/** affinity_order() - convert a mask from SM numbers to positions. Return: false if it holds no SM of this card */
bool affinity_order(unsigned number);

#endif
