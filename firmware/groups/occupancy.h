/* SPDX-License-Identifier: MIT */
/** DOC: How much of a kernel an idle card holds at once (spec CGA-29) */
#ifndef OCCUPANCY_H
#define OCCUPANCY_H

#include "core/base.h"

struct cga;

/**
 * occupancy_fits() - whether the rows have room for one CGA in a domain. Changes the rows of the domain.
 * @outer, @number: a domain of the kind of the outermost CGAs, or DOMAIN_KIND_CARD and 0
 */
bool occupancy_fits(const struct cga *cga, unsigned outer, unsigned number);
/** occupancy_answer() - answer TUTTI_MSG_OCCUPANCY in @answer's value and arguments. Return: 0 or -TUTTI_EINVAL */
int occupancy_answer(const struct tutti_msg_occupancy *ask, struct tutti_message *answer);

#endif
