/* SPDX-License-Identifier: MIT */
/**
 * DOC: Compilation of a tensor descriptor into a template (spec TMA-19)
 *
 * Everything that does not depend on the request is computed once. The descriptor comes
 * from user memory: every rule of TMA-06, TMA-07 and TMA-11 is checked here, on the one
 * copy that was fetched, and later code uses only the template.
 *
 * Coordinates count elements. In dimension 0 of an interleaved tensor they count slices:
 * there a slice is what an element is otherwise, the unit of dimension 0.
 */
#ifndef DESCRIPTOR_COMPILE_H
#define DESCRIPTOR_COMPILE_H

#include "core/base.h"

#define SETUP_SPATIAL (TUTTI_TENSOR_RANK - 2) /* W, H, D */
#define SETUP_MATCH 0x00ffff00u /* mask of mode and rank in word 2 of a request */
#define TENSOR_NO_MATCH 0xffffffffu /* has bits outside SETUP_MATCH, so that no mode and rank of a request equal it */
#define TENSOR_NOT_PLAIN 1u /* operation 1, while @plain always names operation 0 */
#define SETUP_BYTES_MAX 0x80000000u

/**
 * struct tensor_template - a compiled descriptor.
 * @limit: a tile lies inside the tensor if each of its coordinates, taken as unsigned, is below this; all
 *	are 0 if the tensor crosses a border of 4 GiB, where only start_clipped() of tile.c computes addresses
 * @match: mode and rank, as in word 2 of a request; TENSOR_NO_MATCH, which equals none, if there is an error
 * @plain: the same if plain_request.c may serve the request, else TENSOR_NOT_PLAIN
 * @stride: bytes between neighbours along each dimension
 * @last: largest coordinate inside the tensor
 * @bytes: size of the dense side, or SETUP_BYTES_MAX if it is larger
 * @total: size of the dense side
 * @slice: dense bytes of one step along the fifth dimension; im2col: of a pixel
 * @count: elements that a tile loads along each dimension; im2col: [0] is the channels of a pixel, the others are the
 *	pixels of a turn: steps through the bounding box along W, H, D, or SETUP_TURN_LONG
 * @span: distance between the first and the last of them
 * @used: not compiled, but kept by the template's owner
 */
struct tensor_template {
	struct tutti_mover_shape shape;
	uint32_t limit[TUTTI_TENSOR_RANK];
	uint32_t match;
	uint32_t plain;
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
	/* Selects the code in tile_interior(): 0 is rank 2, below 0 is rank 3, each found by one branch. */
	int8_t path;
	uint8_t origin;           /* bits of coordinate 0 that must be 0, so that the address is aligned */
	uint16_t reductions;      /* allowed reductions, a bit for each enum tutti_reduce_op */
	bool flat;                /* all addresses have the same high word, so no sum carries into it */
	/* These are used in im2col mode. */
	bool storable;            /* the corners of the bounding box allow stores */
	uint16_t pixels;
	int16_t lower[SETUP_SPATIAL];
	uint32_t range[SETUP_SPATIAL];   /* upper corner minus lower corner, at most SETUP_RANGE_MAX */
	uint32_t used;            /* mover_tail() behind the last descriptor that names this shape */
};

/*
 * Longer bounding boxes and tensors are cut to these sizes. No request can tell the difference, because coordinates
 * start below 2^31 and no column goes further than 1024 steps of 8.
 */
#define SETUP_RANGE_MAX 0xc0000000u
#define SETUP_LAST_MAX 0xbfffffffu /* im2col: a coordinate below 0, taken as unsigned, is above this */

#define SETUP_PATH_COLUMN 4
#define SETUP_TURN_LONG 0xffffu /* a turn of more pixels than a column has */

/** descriptor_copy() - copy a tensor descriptor, which user memory may hold, once. Return: the sum of its words */
uint32_t descriptor_copy(struct tutti_tensor *to, const void *from);
/** descriptor_compile() - check @tensor, whose words add up to @sum, and compile it into @t; @t->error says what is wrong. */
void descriptor_compile(struct tensor_template *t, const struct tutti_tensor *tensor, uint32_t sum);

#endif
