/* SPDX-License-Identifier: MIT */
/** DOC: Tiles: boxes of a tensor of up to five dimensions (spec TMA-08 .. TMA-10) */
#ifndef TILE_H
#define TILE_H

#include "tensor/descriptor_compile.h"

/** tile_interior() - a tile of rank 1 to 4 inside its tensor. Return: NULL = not such, nothing is written. */
const void *tile_interior(uint32_t word, const struct tensor_template *t, const struct tutti_tensor_request *r);
/** tile_edge() - a tile of rank 1 to 4 at the edge of a tensor within 4 GiB. Return: NULL = not such, or all outside. */
const void *tile_edge(uint32_t word, const struct tensor_template *t, const struct tutti_tensor_request *r);
/* These start or go on with tmau.job, at most @room descriptors. Return: true = all written. */
bool tile_start(int room);
bool tile_slices(int room);
bool tile_clipped(int room);

#endif
