/* SPDX-License-Identifier: MIT */
/**
 * DOC: The state of a task as 32-bit words
 *
 * What a STATE command carries (struct tutti_task_state) and what a reference entry holds (struct tutti_reference)
 * is written word by word as soon as each word is known. These are the indexes of their fields.
 */
#ifndef TASK_STATE_H
#define TASK_STATE_H

#include "core/base.h"

#define STATE_WORDS (sizeof(struct tutti_task_state) / 4)
#define STATE_AT(field) (offsetof(struct tutti_task_state, field) / 4)
#define REFERENCE_AT(field) (offsetof(struct tutti_reference, field) / 4)
#define REFERENCE_WORDS REFERENCE_AT(used)
#define RECORD_WORDS REFERENCE_AT(kernel_object) /* what launches read */

/* The start of an entry is what the command TASK reads. */
_Static_assert(STATE_AT(asid) == TUTTI_TASK_WORDS && REFERENCE_AT(signal) == TUTTI_TASK_WORDS &&
	       offsetof(struct tutti_reference, setup) == offsetof(struct tutti_task_state, dimensions) &&
	       offsetof(struct tutti_reference, waves) == offsetof(struct tutti_task_state, waves) &&
	       offsetof(struct tutti_reference, barriers) == offsetof(struct tutti_task_state, barriers),
	       "a reference starts with a task state");

#endif
