/* SPDX-License-Identifier: MIT */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "tutti/tmd.h"

/* Arguments of a stage: it takes items from @self and puts its results into @next; NULL: it adds them up. */
struct stage {
	const struct tutti_tmd *self, *next;
	uint64_t *sum, *count;
};

#endif
