/* SPDX-License-Identifier: MIT */
/**
 * DOC: Setup: from a tensor descriptor to a template (spec TMA-19)
 *
 * All that does not depend on the request is computed once. The descriptor is user
 * memory: every rule of TMA-06, TMA-07 and TMA-11 is checked here, on the one copy that
 * was fetched, and nothing behind this point looks at it again.
 *
 * Coordinates count elements, but slices in dimension 0 of an interleaved tensor:
 * a slice is then what an element is otherwise, the unit of dimension 0.
 */
#ifndef DESCRIPTOR_COMPILE_H
#define DESCRIPTOR_COMPILE_H

#include "core/base.h"

#define SETUP_SPATIAL (TUTTI_TENSOR_RANK - 2) /* W, H, D */
#define SETUP_MATCH 0x00ffff00u /* mode and rank in word 2 of a request */
#define TENSOR_NO_MATCH 0xffffffffu
#define SETUP_BYTES_MAX 0x80000000u

/**
 * struct tensor_template - a compiled descriptor.
 * @used: is the owner's, not compiled
 * @limit: of a tile's coordinate, unsigned: below it the tile lies inside the tensor; [0] is 0 if
 *	the tensor crosses a border of 4 GiB, which only tile_start_clipped() can
 * @stride: bytes of a step of the coordinate
 * @last: largest coordinate inside
 * @count: elements a tile loads; im2col: [0] channels per pixel
 * @span: from the first to the last of them
 * @match: mode and rank, as in word 2 of a request; no request has those of a descriptor with an error
 * @bytes: of the dense side, SETUP_BYTES_MAX if there are more
 * @slice: dense bytes of a step of the fifth dimension
 */
struct tensor_template {
	struct tutti_mover_shape shape;
	uint32_t limit[TUTTI_TENSOR_RANK];
	uint32_t match;
	uint64_t stride[TUTTI_TENSOR_RANK];
	uint64_t base;
	uint32_t last[TUTTI_TENSOR_RANK];
	uint32_t bytes;
	uint64_t total;
	uint64_t slice;
	uint16_t count[TUTTI_TENSOR_RANK];
	uint16_t span[TUTTI_TENSOR_RANK];
	uint8_t step[TUTTI_TENSOR_RANK];
	uint8_t error;            /* enum tutti_tensor_error */
	uint8_t rank;
	int8_t path;              /* of tile_interior(), by rank: 2 and 3 are 0 and below, found by one branch; im2col: SETUP_PATH_ROWS */
	uint8_t origin;           /* of coordinate 0: bits that must be 0 for an aligned address */
	uint16_t reductions;      /* bit = enum tutti_reduce_op */
	bool flat;                /* no carry out of the low word of an address */
	/* im2col */
	bool storable;            /* corners allow stores */
	uint16_t pixels;
	uint16_t pixel_bytes;
	int16_t lower[SETUP_SPATIAL];
	uint16_t per[SETUP_SPATIAL + 1]; /* pixels of a full row, plane, ... before dimension d + 1 goes on; [0] = 1 */
	uint32_t range[SETUP_SPATIAL];   /* upper corner less lower, at most SETUP_RANGE_MAX */
	uint32_t used;            /* movers written when the last one with this shape was */
};

/*
 * Longer bounding boxes and tensors are cut: coordinates start below 2^31 and no column goes further than 1024
 * steps of 8, so nobody can tell.
 */
#define SETUP_RANGE_MAX 0xc0000000u
#define SETUP_LAST_MAX 0xbfffffffu /* im2col: so that what lies before 0, unsigned, lies behind the last one */

#define SETUP_PATH_ROWS 4 /* NHWC within 4 GiB */

/** descriptor_compile() - check @tensor, fill @t. @t->error says what is wrong. */
void descriptor_compile(struct tensor_template *t, const struct tutti_tensor *tensor);
/** descriptor_reductions() - reductions for elements of @type, bit = enum tutti_reduce_op. */
uint32_t descriptor_reductions(unsigned type);

#endif
