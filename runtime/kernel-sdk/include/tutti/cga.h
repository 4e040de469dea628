/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernels whose workgroups run together (CGAs; CUDA: thread block clusters)
 *
 * A kernel with TUTTI_CGA(x, y, z) among its attributes is launched in arrays of x * y * z
 * workgroups (CTAs) that start together or not at all, on SMs that reach each other's
 * shared memory. Attributes of the launch can give another shape.
 *
 *	TUTTI_KERNEL(halo, struct args, TUTTI_CGA(4, 1, 1), .group_bytes = 4096)
 *	{
 *		float *mine = tutti_shared(float, 0);
 *		float *next = tutti_map_rank(mine, (tutti_cga_rank() + 1) % tutti_cga_ctas());
 *
 *		...write mine...
 *		tutti_cga_barrier();
 *		...read next...
 *		tutti_cga_barrier();
 *	}
 *
 * The last barrier is necessary: the shared memory of a CTA is gone when it has exited,
 * and an access to it ends the whole CGA with an error. In a kernel launched without
 * CGAs, every CTA is a CGA of its own. (spec 3-cga)
 *
 * | here | CUDA |
 * |---|---|
 * | TUTTI_CGA(x, y, z) | __cluster_dims__(x, y, z) |
 * | tutti_cga_rank(), tutti_cga_ctas() | cluster_group::block_rank(), num_blocks() |
 * | tutti_cga_cta(d), tutti_cga_size(d) | block_index(), dim_blocks() |
 * | tutti_cga_id(d), tutti_cga_count(d) | clusterIdx, gridDim in clusters |
 * | tutti_cga_barrier(), _arrive(), _wait() | sync(), barrier_arrive(), barrier_wait() |
 * | tutti_map_rank(), tutti_rank_of() | map_shared_rank(), query_shared_rank() |
 */
#ifndef TUTTI_CGA_H
#define TUTTI_CGA_H

#include "tutti/device.h"

/** TUTTI_CGA() - attribute of TUTTI_KERNEL(): CGAs of @x * @y * @z CTAs, each on one GPC (a cluster of SMs). */
#define TUTTI_CGA(x, y, z) TUTTI_CGA_OF(TUTTI_CGA_GPC, x, y, z)
/** TUTTI_CGA_OF() - the same for a domain of @kind (TUTTI_CGA_CPC ...); ranks and DSMEM exist up to a GPC only. */
#define TUTTI_CGA_OF(kind, x, y, z) .cga = { x, y, z }, .cga_kind = kind

/* ---- ids and sizes: dimensions 0, 1, 2 are x, y, z ---------------------- */

/** tutti_cga_rank() - rank of this CTA in its CGA. */
static inline uint32_t tutti_cga_rank(void)
{
	return tutti_wave()->cga_rank;
}

/** tutti_cga_ctas() - number of CTAs in the CGA. */
static inline uint32_t tutti_cga_ctas(void)
{
	return tutti_wave()->cga_ctas;
}

/** tutti_cga_size() - number of CTAs in the CGA along @d. */
static inline uint32_t tutti_cga_size(unsigned d)
{
	return tutti_wave()->cga_size[d];
}

/** tutti_cga_cta() - index of this CTA in its CGA along @d. */
static inline uint32_t tutti_cga_cta(unsigned d)
{
	const struct tutti_wave_info *wave = tutti_wave();

	return wave->cta[d] - wave->cga[d] * wave->cga_size[d];
}

/** tutti_cga_id() - index of this CGA in the grid of CGAs along @d. */
static inline uint32_t tutti_cga_id(unsigned d)
{
	return tutti_wave()->cga[d];
}

/** tutti_cga_count() - number of CGAs in the grid along @d. */
static inline uint32_t tutti_cga_count(unsigned d)
{
	const struct tutti_wave_info *wave = tutti_wave();

	return wave->groups[d] / wave->cga_size[d];
}

/** tutti_cga_linear() - index of this CGA in the whole grid; x varies fastest. */
static inline uint32_t tutti_cga_linear(void)
{
	return tutti_cga_id(0) +
	       tutti_cga_count(0) * (tutti_cga_id(1) + tutti_cga_count(1) * tutti_cga_id(2));
}

/** tutti_cga_slot() - the number that the CGA has on its GPC while it runs (gpc_local_cga_id). */
static inline uint32_t tutti_cga_slot(void)
{
	return tutti_wave()->cga_id;
}

/** tutti_gpc() - number of the GPC that the CTA runs on. */
static inline uint32_t tutti_gpc(void)
{
	return tutti_wave()->gpc;
}

/* ---- nested CGAs: level 0 is the innermost ------------------------------ */

/** tutti_cga_levels() - number of levels of CGAs in this grid; 0 if it has no CGAs. */
static inline unsigned tutti_cga_levels(void)
{
	const struct tutti_wave_info *wave = tutti_wave();
	unsigned n = 0;

	for (unsigned i = 0; i < TUTTI_CGA_LEVELS; i++)
		n += wave->cga_level[i].kind != TUTTI_CGA_NONE;
	return n;
}

/** tutti_cga_level() - shape of level @level, counted in CGAs of the level below it; NULL if there is no such level. */
static inline const struct tutti_cga_shape *tutti_cga_level(unsigned level)
{
	const struct tutti_wave_info *wave = tutti_wave();

	for (unsigned i = 0; i < TUTTI_CGA_LEVELS; i++)
		if (wave->cga_level[i].kind != TUTTI_CGA_NONE && !level--)
			return &wave->cga_level[i];
	return NULL;
}

/** tutti_cga_extent() - how many CGAs of the level below (level 0: CTAs) a CGA of @level has along @d. */
static inline uint32_t tutti_cga_extent(unsigned level, unsigned d)
{
	const struct tutti_cga_shape *shape = tutti_cga_level(level);

	if (!shape)
		return 1;
	return d == 0 ? shape->x : d == 1 ? shape->y : shape->z;
}

/**
 * tutti_cga_place() - index along @d, in this CGA of level @level, of the CGA one level below (level 0: of the CTA).
 * With @level = tutti_cga_levels() it is the index of the outermost CGA in the grid.
 */
static inline uint32_t tutti_cga_place(unsigned level, unsigned d)
{
	uint32_t at = tutti_cta_id(d);

	for (unsigned i = 0; i < level; i++)
		at /= tutti_cga_extent(i, d);
	return tutti_cga_level(level) ? at % tutti_cga_extent(level, d) : at;
}

/** tutti_cga_rank_at() - rank of the CTA at (x, y, z) of this CGA. The CTAs of an inner CGA have successive ranks. */
static inline uint32_t tutti_cga_rank_at(uint32_t x, uint32_t y, uint32_t z)
{
	const struct tutti_wave_info *wave = tutti_wave();
	uint32_t rank = 0, ctas = 1;

	for (unsigned i = 0; i < TUTTI_CGA_LEVELS; i++) {
		const struct tutti_cga_shape *shape = &wave->cga_level[i];

		if (shape->kind == TUTTI_CGA_NONE || shape->kind > TUTTI_CGA_GPC)
			continue;
		rank += ctas * (x % shape->x + shape->x * (y % shape->y + shape->y * (z % shape->z)));
		ctas *= (uint32_t)shape->x * shape->y * shape->z;
		x /= shape->x;
		y /= shape->y;
		z /= shape->z;
	}
	return rank;
}

/* ---- barrier ----------------------------------------------------------- */

/** tutti_cga_arrive() - arrive at the CGA's barrier without waiting; the wave must call tutti_cga_wait() later. */
static inline void tutti_cga_arrive(void)
{
	tutti_fence();
	tutti_service(TUTTI_SERVICE_CGA_ARRIVE, 0);
}

/** tutti_cga_wait() - wait until all running waves of the CGA have arrived; what they wrote before is visible then. */
static inline void tutti_cga_wait(void)
{
	tutti_service(TUTTI_SERVICE_CGA_WAIT, 0);
	tutti_fence();
}

/** tutti_cga_barrier() - arrive and wait. */
static inline void tutti_cga_barrier(void)
{
	tutti_fence();
	tutti_service(TUTTI_SERVICE_CGA_BARRIER, 0);
	tutti_fence();
}

/* ---- shared memory of the other CTAs (DSMEM) --------------------------- */

#define TUTTI_DSMEM_RANK_SHIFT 24

/** tutti_dsmem() - pointer of type @type * to byte @offset of CTA @rank's shared memory. Atomics work there, too. */
#define tutti_dsmem(type, rank, offset)                                                            \
	((type *)(uintptr_t)(TUTTI_WAVE_DSMEM + ((uint64_t)(rank) << TUTTI_DSMEM_RANK_SHIFT) + (offset)))

/** tutti_map_rank() - pointer to the place in CTA @rank's shared memory that @pointer is to in this CTA's own. */
#define tutti_map_rank(pointer, rank)                                                              \
	((__typeof__(&*(pointer)))(uintptr_t)tutti_map_rank_address((uint64_t)(uintptr_t)(pointer), rank))

static inline uint64_t tutti_map_rank_address(uint64_t address, uint32_t rank)
{
	return TUTTI_WAVE_DSMEM + ((uint64_t)rank << TUTTI_DSMEM_RANK_SHIFT) + (address - tutti_wave()->shared);
}

/** tutti_rank_of() - rank of the CTA whose shared memory contains @pointer, perhaps this one's; ~0 if none does. */
static inline uint32_t tutti_rank_of(const volatile void *pointer)
{
	const struct tutti_wave_info *wave = tutti_wave();
	uint64_t address = (uint64_t)(uintptr_t)pointer;

	if (address - wave->shared < wave->shared_bytes)
		return wave->cga_rank;
	address -= TUTTI_WAVE_DSMEM;
	return address >> TUTTI_DSMEM_RANK_SHIFT < wave->cga_ctas ? (uint32_t)(address >> TUTTI_DSMEM_RANK_SHIFT) : ~0u;
}

/* ---- linear memory of the CGA ------------------------------------------ */

/** tutti_has_lmem() - does the CGA have a slot of linear memory? Which one it is makes no difference to the kernel. */
static inline bool tutti_has_lmem(void)
{
	return tutti_wave()->lmem != ~0u;
}

/** tutti_lmem() - pointer of type @type * to byte @offset of the CGA's linear memory, which is zeroed at its start. */
#define tutti_lmem(type, offset) ((type *)(uintptr_t)(TUTTI_WAVE_LMEM + (offset)))

#endif
