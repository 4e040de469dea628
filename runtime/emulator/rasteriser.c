// SPDX-License-Identifier: MIT
/* CTA coordinates by the delta method: see rasteriser.h. */
#include "rasteriser.h"

static void step(struct rasteriser *raster, const uint32_t groups[3], uint32_t delta)
{
	uint32_t gx = groups[0], gy = groups[1], gz = groups[2];
	uint32_t dx = delta, dy = 0, dz = 0, carry;

	if (!delta)
		return;
	/* Most steps stay inside one row: no division then. */
	if (delta >= gx) {
		uint64_t plane = (uint64_t)gx * gy;
		uint32_t rest = delta;

		if (delta >= plane) {
			dz = (uint32_t)(delta / plane);
			rest = (uint32_t)(delta % plane);
		}
		dy = rest / gx;
		dx = rest % gx;
	}
	carry = dx >= gx - raster->x;
	raster->x = carry ? raster->x - (gx - dx) : raster->x + dx;
	dy += carry;
	carry = dy >= gy - raster->y;
	raster->y = carry ? raster->y - (gy - dy) : raster->y + dy;
	dz += carry;
	raster->z = dz >= gz - raster->z ? raster->z - (gz - dz) : raster->z + dz;
}

void rasteriser_start(struct rasteriser *raster, const uint32_t groups[3], uint32_t first, uint64_t count)
{
	raster->last = count;
	raster->index = first;
	raster->x = raster->y = raster->z = 0;
	step(raster, groups, first);
}

void rasteriser_advance(struct rasteriser *raster, const uint32_t groups[3], uint64_t count)
{
	uint32_t delta = (uint32_t)(count - raster->last);

	raster->last = count;
	raster->index += delta;
	step(raster, groups, delta);
}
