/* SPDX-License-Identifier: MIT */
/**
 * DOC: CTA coordinates by counting launches (spec CGA-19, CGA-20, CGA-22)
 *
 * The distributor sends no coordinates. Every SM counts the launches of a grid,
 * its own and those of others, and converts the count to (x, y, z) only when it
 * starts a CTA itself: from its last coordinates and the launches since.
 */
#ifndef TUTTI_EMULATOR_RASTERISER_H
#define TUTTI_EMULATOR_RASTERISER_H

#include <stdint.h>

/** struct rasteriser - one SM's view of one task slot. */
struct rasteriser {
	uint64_t last;  /* launch count of the slot at the last conversion */
	uint32_t index; /* CTA number at the last conversion */
	uint32_t x, y, z;
};

/** rasteriser_start() - a task's state has arrived: the next launch is CTA number @first; @count launches were seen before. */
void rasteriser_start(struct rasteriser *raster, const uint32_t groups[3], uint32_t first, uint64_t count);
/** rasteriser_advance() - this SM starts the CTA launched as number @count of the slot: get its coordinates. */
void rasteriser_advance(struct rasteriser *raster, const uint32_t groups[3], uint64_t count);

#endif
