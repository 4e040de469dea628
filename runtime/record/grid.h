/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RECORD_GRID_H
#define TUTTI_RECORD_GRID_H

#include <stdbool.h>

#include "tutti/packet.h"

/** grid_groups() - workgroups of @workgroup work-items along one axis of a grid of @grid work-items. */
static inline uint32_t grid_groups(uint32_t grid, uint32_t workgroup)
{
	return grid / workgroup + !!(grid % workgroup);
}

/** grid_is_whole() - is the grid of @packet made of whole CGAs, which have @cga workgroups along x, y and z? */
static inline bool grid_is_whole(const struct tutti_dispatch_packet *packet, const uint16_t cga[3])
{
	return !(grid_groups(packet->grid_x, packet->workgroup_x) % cga[0] ||
		 grid_groups(packet->grid_y, packet->workgroup_y) % cga[1] ||
		 grid_groups(packet->grid_z, packet->workgroup_z) % cga[2]);
}

#endif
