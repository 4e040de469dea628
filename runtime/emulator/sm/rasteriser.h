/* SPDX-License-Identifier: MIT */
/**
 * DOC: CTA coordinates by counting launches (spec CGA-19 .. CGA-22)
 *
 * The distributor sends no coordinates to SMs. Every SM counts the launches of a grid, those on other SMs included.
 * Only when it starts a CTA itself does it compute (x, y, z), from its last coordinates and the launches since then.
 * In a grid of nested CGAs the coordinates are the digits of a number: the lowest are those of the CTA in its innermost
 * CGA, then come those of that CGA in the next one, and last those of the outermost CGA in the grid.
 */
#ifndef TUTTI_EMULATOR_RASTERISER_H
#define TUTTI_EMULATOR_RASTERISER_H

#include <stdbool.h>
#include <stdint.h>

#include "tutti/code_object.h"

/** struct raster_shape - extents of each level of a grid, innermost first; the last level used is the grid itself. */
struct raster_shape {
	uint32_t extent[TUTTI_CGA_LEVELS + 1][3];
	uint32_t levels;   /* levels of CGAs; 0 in a grid without CGAs */
	uint32_t identity; /* levels up to and with the identity CGA, whose CTAs have ranks */
	uint32_t groups_x, groups_y;
};

/** struct rasteriser - one SM's view of one task slot. */
struct rasteriser {
	uint64_t last;     /* launch count of the task slot when coordinates were last computed */
	uint32_t count;    /* CTAs of the grid that were launched before that one */
	uint32_t outer[3]; /* coordinates in the grid, of the outermost CGA if there are CGAs */
	uint16_t inner[TUTTI_CGA_LEVELS][3];
};

/** struct raster_place - where a CTA is in its grid. @index is its flat number, @rank its rank in the identity CGA. */
struct raster_place {
	uint32_t x, y, z, index, rank;
};

/**
 * raster_shape_init() - describe a grid of @groups CTAs.
 * @level: TUTTI_CGA_LEVELS CGA shapes, innermost first, or NULL; unused levels have the kind TUTTI_CGA_NONE
 * Return: false if a level is empty or does not divide the grid.
 */
bool raster_shape_init(struct raster_shape *shape, const uint32_t groups[3], const struct tutti_cga_shape *level);
/** rasteriser_start() - begin a task, whose next launch is CTA @first; the slot has seen @count launches so far. */
void rasteriser_start(struct rasteriser *raster, const struct raster_shape *shape, uint32_t first, uint64_t count);
/** rasteriser_advance() - move on to the CTA that was launch number @count of the slot and starts on this SM. */
void rasteriser_advance(struct rasteriser *raster, const struct raster_shape *shape, uint64_t count);
/** rasteriser_place() - fill @place for the CTA of the last rasteriser_advance(). */
void rasteriser_place(const struct rasteriser *raster, const struct raster_shape *shape, struct raster_place *place);

#endif
