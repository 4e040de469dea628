// SPDX-License-Identifier: MIT
/* Coordinates of CTAs from the number of launches since the last one (see rasteriser.h). */
#include <string.h>

#include "emulator/sm/rasteriser.h"

bool raster_shape_init(struct raster_shape *shape, const uint32_t groups[3], const struct tutti_cga_shape *level)
{
	uint64_t size[3] = {1, 1, 1};

	memset(shape, 0, sizeof(*shape));
	shape->groups_x = groups[0];
	shape->groups_y = groups[1];
	if (!level) { /* most grids have no CGAs and need no division */
		memcpy(shape->extent[0], groups, sizeof(shape->extent[0]));
		return groups[0] && groups[1] && groups[2];
	}
	for (unsigned i = 0; i < TUTTI_CGA_LEVELS; i++) {
		const uint32_t part[3] = {level[i].x, level[i].y, level[i].z};

		if (level[i].kind == TUTTI_CGA_NONE)
			continue;
		memcpy(shape->extent[shape->levels++], part, sizeof(part));
		if (level[i].kind <= TUTTI_CGA_GPC)
			shape->identity = shape->levels;
		for (unsigned d = 0; d < 3; d++) {
			size[d] *= part[d];
			if (!size[d] || size[d] > groups[d])
				return false;
		}
	}
	for (unsigned d = 0; d < 3; d++) {
		if (!groups[d] || groups[d] % size[d])
			return false;
		shape->extent[shape->levels][d] = (uint32_t)(groups[d] / size[d]);
	}
	return true;
}

/* Add @delta, which is less than the extent, to a digit. Return: the carry. */
static uint32_t carry_into(uint32_t *digit, uint32_t extent, uint32_t delta)
{
	uint32_t carry = delta >= extent - *digit;

	*digit = carry ? *digit - (extent - delta) : *digit + delta;
	return carry;
}

/* Add @delta to three digits. Return: how often they have wrapped round. */
static uint32_t step(uint32_t digit[3], const uint32_t extent[3], uint32_t delta)
{
	uint32_t dx = delta, dy = 0, dz = 0, rounds = 0;

	if (!delta)
		return 0;
	/* Most steps stay inside one row, for which no division is needed. */
	if (delta >= extent[0]) {
		uint64_t plane = (uint64_t)extent[0] * extent[1];
		uint32_t rest = delta;

		if (delta >= plane) {
			dz = (uint32_t)(delta / plane);
			rest = (uint32_t)(delta % plane);
		}
		dy = rest / extent[0];
		dx = rest % extent[0];
	}
	if (dz >= extent[2]) {
		rounds = dz / extent[2];
		dz %= extent[2];
	}
	dy += carry_into(&digit[0], extent[0], dx);
	if (dy == extent[1]) {
		dy = 0;
		dz++;
	} else {
		dz += carry_into(&digit[1], extent[1], dy);
	}
	if (dz == extent[2])
		return rounds + 1;
	return rounds + carry_into(&digit[2], extent[2], dz);
}

/* Advance the levels below the grid's own; the carry of each goes on to the next one. */
static uint32_t step_inner(struct rasteriser *raster, const struct raster_shape *shape, uint32_t delta)
{
	for (unsigned i = 0; i < shape->levels && delta; i++) {
		uint32_t digit[3] = {raster->inner[i][0], raster->inner[i][1], raster->inner[i][2]};

		delta = step(digit, shape->extent[i], delta);
		for (unsigned d = 0; d < 3; d++)
			raster->inner[i][d] = (uint16_t)digit[d];
	}
	return delta;
}

static void add(struct rasteriser *raster, const struct raster_shape *shape, uint32_t delta)
{
	raster->count += delta;
	if (shape->levels)
		delta = step_inner(raster, shape, delta);
	step(raster->outer, shape->extent[shape->levels], delta);
}

void rasteriser_start(struct rasteriser *raster, const struct raster_shape *shape, uint32_t first, uint64_t count)
{
	memset(raster, 0, sizeof(*raster));
	raster->last = count;
	add(raster, shape, first);
}

void rasteriser_advance(struct rasteriser *raster, const struct raster_shape *shape, uint64_t count)
{
	uint32_t delta = (uint32_t)(count - raster->last);

	raster->last = count;
	add(raster, shape, delta);
}

static void place_nested(const struct rasteriser *raster, const struct raster_shape *shape,
			 struct raster_place *place)
{
	uint32_t at[3] = {0, 0, 0}, size[3] = {1, 1, 1}, ctas = 1;

	place->rank = 0;
	for (unsigned i = 0; i < shape->levels; i++) {
		const uint16_t *digit = raster->inner[i];
		const uint32_t *extent = shape->extent[i];

		if (i < shape->identity)
			place->rank += ctas * (digit[0] + extent[0] * (digit[1] + extent[1] * digit[2]));
		ctas *= extent[0] * extent[1] * extent[2];
		for (unsigned d = 0; d < 3; d++) {
			at[d] += size[d] * digit[d];
			size[d] *= extent[d];
		}
	}
	place->x = at[0] + size[0] * raster->outer[0];
	place->y = at[1] + size[1] * raster->outer[1];
	place->z = at[2] + size[2] * raster->outer[2];
	place->index = place->x + shape->groups_x * (place->y + shape->groups_y * place->z);
}

void rasteriser_place(const struct rasteriser *raster, const struct raster_shape *shape, struct raster_place *place)
{
	if (shape->levels) {
		place_nested(raster, shape, place);
		return;
	}
	place->x = raster->outer[0];
	place->y = raster->outer[1];
	place->z = raster->outer[2];
	place->index = raster->count;
	place->rank = 0;
}
