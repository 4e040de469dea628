/* SPDX-License-Identifier: MIT */
/** DOC: Tiles: boxes of a tensor of up to five dimensions (spec TMA-08 .. TMA-10) */
#ifndef TILE_H
#define TILE_H

#include "tensor/descriptor_compile.h"

/**
 * tile_plain() - serve the first request by descriptor @m, which is mover_begin(): a tile of rank 1 to 4 in a tensor that
 * crosses no border of 4 GiB, or a column. The descriptor's first word, @shape and @shared are set.
 */
void tile_plain(struct tensor_template *t, const struct tutti_tensor_request *r, struct tutti_mover *m);
/** tile_edge() - the same for a tile that does not lie inside its tensor. */
void tile_edge(struct tensor_template *t, const struct tutti_tensor_request *r, struct tutti_mover *m);
/* These start or continue tmau.job with at most @room mover descriptors. Return: true if all are written. */
bool tile_start(int room);
bool tile_slices(int room);
bool tile_clipped(int room);

#endif
