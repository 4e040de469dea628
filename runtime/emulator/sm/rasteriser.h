/* SPDX-License-Identifier: MIT */
/**
 * DOC: CTA coordinates by counting launches (spec CGA-19 .. CGA-22)
 *
 * The distributor sends no coordinates. Every SM counts the launches of a grid,
 * its own and those of others, and converts the count to (x, y, z) only when it
 * starts a CTA itself: from its last coordinates and the launches since. In a grid
 * of nested CGAs the coordinates are digits of a number: those of the CTA in its innermost
 * CGA first, then of that CGA in the next one, at last of the outermost CGA in the grid.
 */
#ifndef TUTTI_EMULATOR_RASTERISER_H
#define TUTTI_EMULATOR_RASTERISER_H

#include <stdbool.h>
#include <stdint.h>

#include "tutti/code_object.h"

/** struct raster_shape - a grid: extents of every level, innermost first; the last one used is the grid's own. */
struct raster_shape {
	uint32_t extent[TUTTI_CGA_LEVELS + 1][3];
	uint32_t levels;   /* of CGAs, 0 = plain */
	uint32_t identity; /* levels up to the CGA that has ranks */
	uint32_t groups_x, groups_y;
};

/** struct rasteriser - one SM's view of one task slot. */
struct rasteriser {
	uint64_t last;     /* launch count of the slot at the last conversion */
	uint32_t count;    /* CTAs of the grid launched before it */
	uint32_t outer[3]; /* coordinates in the grid, of the outermost CGA if there are any */
	uint16_t inner[TUTTI_CGA_LEVELS][3];
};

/** struct raster_place - where a CTA is in its grid. @index: flat number; @rank: in the CGA that has ranks. */
struct raster_place {
	uint32_t x, y, z, index, rank;
};

/**
 * raster_shape_init() - grid of @groups CTAs.
 * @level: TUTTI_CGA_LEVELS CGA shapes, innermost first, or NULL; kind TUTTI_CGA_NONE = level not used
 * Return: false if a level is empty or does not divide the grid.
 */
bool raster_shape_init(struct raster_shape *shape, const uint32_t groups[3], const struct tutti_cga_shape *level);
/** rasteriser_start() - a task's state has arrived: the next launch is CTA @first; @count launches were seen before. */
void rasteriser_start(struct rasteriser *raster, const struct raster_shape *shape, uint32_t first, uint64_t count);
/** rasteriser_advance() - this SM starts the CTA launched as number @count of the slot. */
void rasteriser_advance(struct rasteriser *raster, const struct raster_shape *shape, uint64_t count);
/** rasteriser_place() - where that CTA is. */
void rasteriser_place(const struct rasteriser *raster, const struct raster_shape *shape, struct raster_place *place);

#endif
