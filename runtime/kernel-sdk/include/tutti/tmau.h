/* SPDX-License-Identifier: MIT */
/**
 * DOC: Moving tensors and blocks
 *
 * One wave asks, the card's tensor memory access unit moves: between global memory
 * (address of a descriptor, or of a block) and shared memory, in tiles or im2col
 * columns. Nothing waits here but for room in the unit's queue.
 *
 *	loads     complete on a barrier, which has been told how many bytes to expect
 *	others    are done, and seen by everybody, when tutti_wait_all() returns
 *
 * Coordinates are the last arguments, dimension 0 first, as many as the tensor has
 * dimensions. `name_tile` takes any coordinates; `name_im2col` those of the base
 * pixel, and loads the offsets in the filter. A request that breaks a rule stops the
 * kernel's queue with TUTTI_ERROR_TENSOR and the rule. Those functions whose names
 * end in _built take the descriptor from any memory of the wave, with the request; the
 * others from global memory, through the unit's cache. (spec TMA-01, TMA-29)
 */
#ifndef TUTTI_TMAU_H
#define TUTTI_TMAU_H

#include "tutti/device.h"
#include "tutti/mbarrier.h"
#include "tutti/tensor.h"
#include "tutti/tensor_api.h"

/** tutti_shared_offset() - offset of a pointer in the workgroup's shared memory. */
static inline uint32_t tutti_shared_offset(const void *shared)
{
	return (uint32_t)((uintptr_t)shared - tutti_wave()->shared);
}

/** tutti_copy_request() - the instruction itself. */
static inline void tutti_copy_request(const struct tutti_tensor_request *request)
{
	tutti_service(TUTTI_SERVICE_TENSOR, (uintptr_t)request);
}

/** tutti_wait_all() - all requests this workgroup has made before are done. */
static inline void tutti_wait_all(void)
{
	tutti_service(TUTTI_SERVICE_WAIT_ALL, 0);
	tutti_fence();
}

static inline uint32_t tutti_barrier_offset(const uint64_t *barrier)
{
	return barrier ? tutti_shared_offset(barrier) : TUTTI_BARRIER_NONE;
}

/* Every request on a tensor comes by here; constant arguments leave little of it. */
static inline void tutti_copy_tensor(struct tutti_tensor_request request, const void *tensor, const uint64_t *barrier,
				     const int32_t *coordinate, uint32_t rank)
{
	request.descriptor = (uintptr_t)tensor;
	request.flags |= TUTTI_REQUEST_TENSOR;
	request.rank = (uint8_t)rank;
	request.barrier = tutti_barrier_offset(barrier);
	for (uint32_t d = 0; d < rank && d < TUTTI_TENSOR_RANK; d++)
		request.coordinate[d] = coordinate[d];
	tutti_copy_request(&request);
}

#define TUTTI_COORDINATES(...) (const int32_t[]){ __VA_ARGS__ }, sizeof((int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)
#define TUTTI_COPY(tensor, barrier, coordinates, ...) \
	tutti_copy_tensor((struct tutti_tensor_request){ __VA_ARGS__ }, tensor, barrier, coordinates)

/**
 * tutti_im2col_offset() - offsets of a pixel in the filter, packed as requests want them.
 * @rank: of the tensor: 3 (w), 4 (w, h), 5 (w, h, d)
 */
static inline uint16_t tutti_im2col_offset(uint32_t rank, uint32_t w, uint32_t h, uint32_t d)
{
	uint32_t bits = 16 / (rank - 2);

	return (uint16_t)(w | (rank > 3 ? h << bits : 0) | (rank > 4 ? d << 2 * bits : 0));
}

/* ---- global to shared ---------------------------------------------------- */

/** tutti_load_tile() - box at the coordinates to @to; @barrier gets the bytes. */
#define tutti_load_tile(tensor, to, barrier, ...)                                       \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .mode = TUTTI_TILE, .shared = tutti_shared_offset(to))
/** tutti_load_im2col() - column from the base pixel on, at @offset in the filter. */
#define tutti_load_im2col(tensor, to, barrier, filter_offset, ...)                      \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .mode = TUTTI_IM2COL, .offset = (filter_offset), .shared = tutti_shared_offset(to))
/** tutti_load_tile_built() - the same with a descriptor made by the wave. */
#define tutti_load_tile_built(tensor, to, barrier, ...)                                 \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .flags = TUTTI_REQUEST_INLINE, .mode = TUTTI_TILE, .shared = tutti_shared_offset(to))
#define tutti_load_im2col_built(tensor, to, barrier, filter_offset, ...)                \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .flags = TUTTI_REQUEST_INLINE, .mode = TUTTI_IM2COL, .offset = (filter_offset), \
		   .shared = tutti_shared_offset(to))
/**
 * tutti_multicast_tile() - one read, to the same place in each CTA of @mask (bit r = rank r of the CGA).
 * The barrier at the same place in each of them gets the bytes.
 */
#define tutti_multicast_tile(tensor, mask, to, barrier, ...)                            \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .flags = TUTTI_REQUEST_MULTICAST, .cta_mask = (mask), .mode = TUTTI_TILE, \
		   .shared = tutti_shared_offset(to))
#define tutti_multicast_im2col(tensor, mask, to, barrier, filter_offset, ...)           \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .flags = TUTTI_REQUEST_MULTICAST, .cta_mask = (mask), .mode = TUTTI_IM2COL, \
		   .offset = (filter_offset), .shared = tutti_shared_offset(to))

/* ---- shared to global ---------------------------------------------------- */

/** tutti_store_tile() - box at @from to the coordinates. What lies outside of the tensor is not written. */
#define tutti_store_tile(tensor, from, ...)                                             \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_STORE, \
		   .mode = TUTTI_TILE, .shared = tutti_shared_offset(from))
#define tutti_store_im2col(tensor, from, ...)                                           \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_STORE, \
		   .mode = TUTTI_IM2COL, .shared = tutti_shared_offset(from))
#define tutti_store_tile_built(tensor, from, ...)                                       \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_STORE, \
		   .flags = TUTTI_REQUEST_INLINE, .mode = TUTTI_TILE, .shared = tutti_shared_offset(from))
#define tutti_store_im2col_built(tensor, from, ...)                                     \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_STORE, \
		   .flags = TUTTI_REQUEST_INLINE, .mode = TUTTI_IM2COL, .shared = tutti_shared_offset(from))
/** tutti_reduce_tile() - the same, combined with what is there by @operator (enum tutti_reduce_op), atomically. */
#define tutti_reduce_tile(tensor, operator, from, ...)                                  \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_REDUCE, \
		   .reduce = (operator), .mode = TUTTI_TILE, .shared = tutti_shared_offset(from))
#define tutti_reduce_im2col(tensor, operator, from, ...)                                \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_REDUCE, \
		   .reduce = (operator), .mode = TUTTI_IM2COL, .shared = tutti_shared_offset(from))

/* ---- other ways ----------------------------------------------------------- */

/** tutti_gather_tile() - box at the coordinates to linear global memory at @linear. tutti_scatter_tile(): back. */
#define tutti_gather_tile(tensor, linear, ...)                                          \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_GLOBAL, \
		   .mode = TUTTI_TILE, .other = (uintptr_t)(linear))
#define tutti_scatter_tile(tensor, linear, ...)                                         \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_SCATTER, \
		   .mode = TUTTI_TILE, .other = (uintptr_t)(linear))
#define tutti_gather_im2col(tensor, linear, filter_offset, ...)                         \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_GLOBAL, \
		   .mode = TUTTI_IM2COL, .offset = (filter_offset), .other = (uintptr_t)(linear))
#define tutti_scatter_im2col(tensor, linear, ...)                                       \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_SCATTER, \
		   .mode = TUTTI_IM2COL, .other = (uintptr_t)(linear))
/** tutti_prefetch_tile() - bring the box into the card's cache. tutti_prefetch_im2col(): the column. */
#define tutti_prefetch_tile(tensor, ...)                                                \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_PREFETCH, .mode = TUTTI_TILE)
#define tutti_prefetch_im2col(tensor, filter_offset, ...)                               \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_PREFETCH, \
		   .mode = TUTTI_IM2COL, .offset = (filter_offset))

/**
 * tutti_send_tensor() - as many bytes as a request on @tensor moves, from here to CTA @rank of the CGA.
 * @mode: the descriptor's; @rank_of_tensor: likewise
 * @to: place in that CTA, given as the same place in this one
 * @operator: TUTTI_REDUCE_NONE, or how to combine with what is there
 * @barrier: in that CTA, given as the same place in this one; NULL = none
 */
static inline void tutti_send_tensor(const struct tutti_tensor *tensor, enum tutti_tensor_mode mode,
				     uint32_t rank_of_tensor, uint32_t rank, const void *to, const void *from,
				     enum tutti_reduce_op operator, const uint64_t *barrier)
{
	static const int32_t nowhere[TUTTI_TENSOR_RANK];

	tutti_copy_tensor((struct tutti_tensor_request){
		.op = TUTTI_COPY_SHARED, .mode = (uint8_t)mode, .reduce = (uint8_t)operator, .cta = (uint8_t)rank,
		.shared = tutti_shared_offset(to), .other = tutti_shared_offset(from),
	}, tensor, barrier, nowhere, rank_of_tensor);
}

/* ---- blocks of 16 bytes ----------------------------------------------------- */

static inline void tutti_copy_blocks(struct tutti_tensor_request request, const void *global, const uint64_t *barrier,
				     uint32_t blocks)
{
	request.descriptor = (uintptr_t)global;
	request.barrier = tutti_barrier_offset(barrier);
	request.blocks = blocks;
	tutti_copy_request(&request);
}

/** tutti_load_block() - @blocks of 16 bytes from global to shared memory. All addresses are multiples of 16. */
static inline void tutti_load_block(const void *global, void *to, const uint64_t *barrier, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_LOAD, .shared = tutti_shared_offset(to) }, global, barrier, blocks);
}

/** tutti_multicast_block() - to the same place in each CTA of @mask. */
static inline void tutti_multicast_block(const void *global, uint16_t mask, void *to, const uint64_t *barrier,
					 uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_LOAD, .flags = TUTTI_REQUEST_MULTICAST, .cta_mask = mask,
		.shared = tutti_shared_offset(to) }, global, barrier, blocks);
}

/** tutti_store_block() - from shared to global memory. */
static inline void tutti_store_block(void *global, const void *from, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_STORE, .shared = tutti_shared_offset(from) }, global, NULL, blocks);
}

/** tutti_reduce_block() - the same, combined with the elements of @type that are there. */
static inline void tutti_reduce_block(void *global, enum tutti_reduce_op operator, enum tutti_tensor_type type,
				      const void *from, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_REDUCE, .reduce = (uint8_t)operator, .type = (uint8_t)type,
		.shared = tutti_shared_offset(from) }, global, NULL, blocks);
}

/** tutti_copy_block() - from global to global memory. */
static inline void tutti_copy_block(void *to, const void *from, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_GLOBAL, .other = (uintptr_t)to }, from, NULL, blocks);
}

/** tutti_send_block() - to CTA @rank of the CGA; @to, @operator, @barrier as for tutti_send_tensor(). */
static inline void tutti_send_block(uint32_t rank, const void *to, const void *from, enum tutti_reduce_op operator,
				    enum tutti_tensor_type type, const uint64_t *barrier, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_SHARED, .reduce = (uint8_t)operator, .type = (uint8_t)type, .cta = (uint8_t)rank,
		.shared = tutti_shared_offset(to), .other = tutti_shared_offset(from) }, NULL, barrier, blocks);
}

/** tutti_prefetch_block() - bring @blocks into the card's cache. */
static inline void tutti_prefetch_block(const void *global, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){ .op = TUTTI_COPY_PREFETCH }, global, NULL, blocks);
}

/* ---- descriptors ------------------------------------------------------------- */

static inline void tutti_descriptor_request(enum tutti_tensor_op op, const struct tutti_tensor *tensor)
{
	tutti_copy_request(&(struct tutti_tensor_request){
		.descriptor = (uintptr_t)tensor, .op = (uint8_t)op, .flags = TUTTI_REQUEST_TENSOR,
		.barrier = TUTTI_BARRIER_NONE });
}

/** tutti_prefetch_descriptor() - bring a descriptor into the unit's cache: requests on it begin sooner. */
static inline void tutti_prefetch_descriptor(const struct tutti_tensor *tensor)
{
	tutti_descriptor_request(TUTTI_DESCRIPTOR_PREFETCH, tensor);
}

/**
 * tutti_descriptor_changed() - a descriptor in global memory has been changed (and sealed).
 * Requests of this workgroup behind it see the change; those of others after its
 * tutti_wait_all(). NULL: all descriptors.
 */
static inline void tutti_descriptor_changed(const struct tutti_tensor *tensor)
{
	tutti_fence();
	tutti_descriptor_request(TUTTI_DESCRIPTOR_INVALIDATE, tensor);
}

/* ---- filled elements ------------------------------------------------------------ */

static inline bool tutti_is_fill_16(uint16_t bits)
{
	return bits == TUTTI_FILL_NAN_LANE;
}

static inline bool tutti_is_fill_32(float x)
{
	uint32_t bits;

	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits == TUTTI_FILL_NAN_LANE * 0x10001u;
}

static inline bool tutti_is_fill_64(double x)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits == TUTTI_FILL_NAN_LANE * 0x0001000100010001ull;
}

/** tutti_is_fill() - @x comes from outside of a tensor with NaN fill. F16 and BF16 are given as uint16_t. (spec TMA-10) */
#define tutti_is_fill(x) \
	_Generic((x), uint16_t: tutti_is_fill_16, float: tutti_is_fill_32, double: tutti_is_fill_64)(x)

#endif
