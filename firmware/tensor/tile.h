/* SPDX-License-Identifier: MIT */
/** DOC: Tiles: boxes of a tensor of up to five dimensions (spec TMA-08 .. TMA-10) */
#ifndef TILE_H
#define TILE_H

#include "tensor/descriptor_compile.h"

/**
 * tile_interior() - write the mover descriptor of a tile of rank 1 to 4 that lies inside its tensor.
 * Return: NULL if the tile is not of that kind; nothing is written then
 */
const void *tile_interior(uint32_t word, const struct tensor_template *t, const struct tutti_tensor_request *r);
/**
 * tile_edge() - write that of a tile of rank 1 to 4 at the edge of a tensor that crosses no border of 4 GiB.
 * Return: NULL if the tile is not of that kind, or lies outside entirely
 */
const void *tile_edge(uint32_t word, const struct tensor_template *t, const struct tutti_tensor_request *r);
/* These start or continue tmau.job with at most @room mover descriptors. Return: true if all are written. */
bool tile_start(int room);
bool tile_slices(int room);
bool tile_clipped(int room);

#endif
