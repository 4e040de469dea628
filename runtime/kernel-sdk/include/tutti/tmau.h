/* SPDX-License-Identifier: MIT */
/**
 * DOC: Moving tensors and blocks
 *
 * A single wave makes a request, and the card's tensor memory access unit (CUDA: TMA)
 * copies asynchronously between global memory, given by a tensor descriptor or the
 * address of a block, and shared memory. Tensors are copied in tiles (boxes) or im2col
 * columns. Making a request only waits if the unit's queue is full.
 *
 *	loads            complete on a barrier (mbarrier.h), which must expect their bytes
 *	other requests   are complete, and visible to everybody, after tutti_wait_all()
 *
 * Coordinates are the last arguments, dimension 0 first, as many as the tensor has
 * dimensions. `name_tile` takes any coordinates; `name_im2col` takes those of the base
 * pixel and, for loads, the offsets in the filter. A request that breaks a rule stops
 * the kernel's queue with TUTTI_ERROR_TENSOR and tells the rule. Functions whose names
 * end in _built take a descriptor in any memory of the wave, which travels with the
 * request; the others take one in global memory, read through the unit's cache.
 * (spec TMA-01, TMA-29)
 */
#ifndef TUTTI_TMAU_H
#define TUTTI_TMAU_H

#include "tutti/device.h"
#include "tutti/mbarrier.h"
#include "tutti/tensor.h"
#include "tutti/tensor_api.h"

/** tutti_shared_offset() - byte offset of a pointer into the workgroup's shared memory. */
static inline uint32_t tutti_shared_offset(const void *shared)
{
	return (uint32_t)((uintptr_t)shared - tutti_wave()->shared);
}

/** tutti_copy_request() - hand a request to the unit; the functions below build the request. */
static inline void tutti_copy_request(const struct tutti_tensor_request *request)
{
	tutti_service(TUTTI_SERVICE_TENSOR, (uintptr_t)request);
}

/** tutti_wait_all() - wait until all requests that this workgroup has made before are complete. */
static inline void tutti_wait_all(void)
{
	tutti_service(TUTTI_SERVICE_WAIT_ALL, 0);
	tutti_fence();
}

static inline uint32_t tutti_barrier_offset(const uint64_t *barrier)
{
	return barrier ? tutti_shared_offset(barrier) : TUTTI_BARRIER_NONE;
}

/* All tensor requests are built here; inlined with constant arguments, little code is left of it. */
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
 * tutti_im2col_offset() - pack the offsets of a pixel in the filter in the format of requests.
 * @rank: number of the tensor's dimensions: 3 (w), 4 (w, h) or 5 (w, h, d)
 */
static inline uint16_t tutti_im2col_offset(uint32_t rank, uint32_t w, uint32_t h, uint32_t d)
{
	uint32_t bits = 16 / (rank - 2);

	return (uint16_t)(w | (rank > 3 ? h << bits : 0) | (rank > 4 ? d << 2 * bits : 0));
}

/* ---- global to shared ---------------------------------------------------- */

/** tutti_load_tile() - load the box at the coordinates to @to; its bytes are counted on @barrier. */
#define tutti_load_tile(tensor, to, barrier, ...)                                       \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .mode = TUTTI_TILE, .shared = tutti_shared_offset(to))
/** tutti_load_im2col() - load the im2col column that begins at the base pixel, for @filter_offset in the filter. */
#define tutti_load_im2col(tensor, to, barrier, filter_offset, ...)                      \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .mode = TUTTI_IM2COL, .offset = (filter_offset), .shared = tutti_shared_offset(to))
/** tutti_load_tile_built() - tutti_load_tile() with a descriptor that the wave has built. */
#define tutti_load_tile_built(tensor, to, barrier, ...)                                 \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .flags = TUTTI_REQUEST_INLINE, .mode = TUTTI_TILE, .shared = tutti_shared_offset(to))
#define tutti_load_im2col_built(tensor, to, barrier, filter_offset, ...)                \
	TUTTI_COPY(tensor, barrier, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_LOAD, \
		   .flags = TUTTI_REQUEST_INLINE, .mode = TUTTI_IM2COL, .offset = (filter_offset), \
		   .shared = tutti_shared_offset(to))
/**
 * tutti_multicast_tile() - load once, to the same place in each CTA of @mask (bit r is rank r of the CGA).
 * In each of these CTAs the bytes are counted on the barrier at the same place as @barrier.
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

/** tutti_store_tile() - store the box at @from to the coordinates. Elements outside of the tensor are not written. */
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
/**
 * tutti_reduce_tile() - the same, but combines with memory atomically by @operator (enum tutti_reduce_op).
 * Which types have which operators, and how they compute, is in tutti/tensor_type.h; for others the request is refused.
 */
#define tutti_reduce_tile(tensor, operator, from, ...)                                  \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_REDUCE, \
		   .reduce = (operator), .mode = TUTTI_TILE, .shared = tutti_shared_offset(from))
#define tutti_reduce_im2col(tensor, operator, from, ...)                                \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_REDUCE, \
		   .reduce = (operator), .mode = TUTTI_IM2COL, .shared = tutti_shared_offset(from))

/* ---- other directions ----------------------------------------------------- */

/** tutti_gather_tile() - copy the box at the coordinates to contiguous global memory. tutti_scatter_tile(): back. */
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
/** tutti_prefetch_tile() - fetch the box into the card's cache. tutti_prefetch_im2col() does so with a column. */
#define tutti_prefetch_tile(tensor, ...)                                                \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_PREFETCH, .mode = TUTTI_TILE)
#define tutti_prefetch_im2col(tensor, filter_offset, ...)                               \
	TUTTI_COPY(tensor, NULL, TUTTI_COORDINATES(__VA_ARGS__), .op = TUTTI_COPY_PREFETCH, \
		   .mode = TUTTI_IM2COL, .offset = (filter_offset))

/**
 * tutti_send_tensor() - copy from this CTA's shared memory to that of CTA @rank of the CGA.
 * @tensor: tells the number of bytes: as many as a request on it moves
 * @mode, @rank_of_tensor: mode and number of dimensions of the descriptor
 * @to: destination in the other CTA, given as a pointer to the same place in this one
 * @operator: TUTTI_REDUCE_NONE, or how to combine with the data at the destination
 * @barrier: barrier in the other CTA, given as a pointer to the same place in this one; NULL for none
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

/** tutti_load_block() - load @blocks of 16 bytes from global to shared memory; all addresses are multiples of 16. */
static inline void tutti_load_block(const void *global, void *to, const uint64_t *barrier, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_LOAD, .shared = tutti_shared_offset(to) }, global, barrier, blocks);
}

/** tutti_multicast_block() - load blocks once, to the same place in each CTA of @mask. */
static inline void tutti_multicast_block(const void *global, uint16_t mask, void *to, const uint64_t *barrier,
					 uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_LOAD, .flags = TUTTI_REQUEST_MULTICAST, .cta_mask = mask,
		.shared = tutti_shared_offset(to) }, global, barrier, blocks);
}

/** tutti_store_block() - store blocks from shared to global memory. */
static inline void tutti_store_block(void *global, const void *from, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_STORE, .shared = tutti_shared_offset(from) }, global, NULL, blocks);
}

/**
 * tutti_reduce_block() - the same, but combines with the elements of @type in memory by @operator.
 * Two additions differ from those of tensors: F64 is there, and F32 flushes subnormal numbers.
 */
static inline void tutti_reduce_block(void *global, enum tutti_reduce_op operator, enum tutti_tensor_type type,
				      const void *from, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_REDUCE, .reduce = (uint8_t)operator, .type = (uint8_t)type,
		.shared = tutti_shared_offset(from) }, global, NULL, blocks);
}

/** tutti_copy_block() - copy blocks from global to global memory. */
static inline void tutti_copy_block(void *to, const void *from, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_GLOBAL, .other = (uintptr_t)to }, from, NULL, blocks);
}

/** tutti_send_block() - copy blocks to CTA @rank of the CGA; @to, @operator, @barrier as for tutti_send_tensor(). */
static inline void tutti_send_block(uint32_t rank, const void *to, const void *from, enum tutti_reduce_op operator,
				    enum tutti_tensor_type type, const uint64_t *barrier, uint32_t blocks)
{
	tutti_copy_blocks((struct tutti_tensor_request){
		.op = TUTTI_COPY_SHARED, .reduce = (uint8_t)operator, .type = (uint8_t)type, .cta = (uint8_t)rank,
		.shared = tutti_shared_offset(to), .other = tutti_shared_offset(from) }, NULL, barrier, blocks);
}

/** tutti_prefetch_block() - fetch @blocks of 16 bytes into the card's cache. */
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

/** tutti_prefetch_descriptor() - fetch a descriptor into the unit's cache, so that requests on it start sooner. */
static inline void tutti_prefetch_descriptor(const struct tutti_tensor *tensor)
{
	tutti_descriptor_request(TUTTI_DESCRIPTOR_PREFETCH, tensor);
}

/**
 * tutti_descriptor_changed() - drop a cached descriptor after it was changed, and sealed, in global memory.
 * Later requests of this workgroup see the change, those of other workgroups once this
 * one's tutti_wait_all() has returned. NULL stands for all descriptors.
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

/**
 * tutti_is_fill() - was @x filled in, because it lies outside of a tensor with NaN fill? (spec TMA-10)
 * F16 and BF16 values are passed as uint16_t.
 */
#define tutti_is_fill(x) \
	_Generic((x), uint16_t: tutti_is_fill_16, float: tutti_is_fill_32, double: tutti_is_fill_64)(x)

#endif
