/* SPDX-License-Identifier: MIT */
/**
 * DOC: The state of a task as 32-bit words
 *
 * The state in a STATE command (struct tutti_task_state) and that in a reference (struct tutti_reference) are written
 * word by word, each as soon as it is known. These are the word indexes of their fields.
 */
#ifndef TASK_STATE_H
#define TASK_STATE_H

#include "core/base.h"

#define STATE_WORDS (sizeof(struct tutti_task_state) / 4)
#define STATE_AT(field) (offsetof(struct tutti_task_state, field) / 4)
#define REFERENCE_AT(field) (offsetof(struct tutti_reference, field) / 4)
#define REFERENCE_WORDS REFERENCE_AT(used)
#define RECORD_WORDS REFERENCE_AT(kernel_object) /* the part that launches read */

/* The command TASK reads the start of a reference as the start of a task state. */
_Static_assert(STATE_AT(asid) == TUTTI_TASK_WORDS && REFERENCE_AT(signal) == TUTTI_TASK_WORDS &&
	       offsetof(struct tutti_reference, setup) == offsetof(struct tutti_task_state, dimensions) &&
	       offsetof(struct tutti_reference, waves) == offsetof(struct tutti_task_state, waves) &&
	       offsetof(struct tutti_reference, barriers) == offsetof(struct tutti_task_state, barriers),
	       "a reference starts with a task state");

#endif
