/* SPDX-License-Identifier: MIT */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "tutti/tmd.h"

/* One stage: consumes @self, adds what it makes to @next (NULL: the last one sums up). */
struct stage {
	const struct tutti_tmd *self, *next;
	uint64_t *sum, *count;
};

#endif
