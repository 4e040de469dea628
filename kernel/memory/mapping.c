// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What is mapped in an address space: ranges of buffers, at any page (spec SYS-06, SYS-23). */
#include <linux/dma-mapping.h>

#include "firmware/message.h"
#include "memory/mapping.h"

static void tutti_mapping_free(struct tutti_mapping *mapping)
{
	drm_mm_remove_node(&mapping->node);
	tutti_bo_put(mapping->bo);
	kfree(mapping);
}

/* ---- life ---- */

/** tutti_mapping_init() - an empty address space. 0 or -ENOMEM; then there is nothing to undo. */
int tutti_mapping_init(struct tutti_space *space, struct tutti_device *tdev, u32 asid)
{
	space->tdev = tdev;
	space->asid = asid;
	if (tutti_mmu_init(&space->mmu, tdev->drm.dev))
		return -ENOMEM;
	drm_mm_init(&space->mappings, 0, TUTTI_VA_END);
	return 0;
}

/** tutti_mapping_fini() - the card cannot reach anything through it any more. May be called twice. */
void tutti_mapping_fini(struct tutti_space *space)
{
	struct drm_mm_node *node, *next;

	if (!space->mmu.root)
		return;
	drm_mm_for_each_node_safe(node, next, &space->mappings)
		tutti_mapping_free(container_of(node, struct tutti_mapping, node));
	drm_mm_takedown(&space->mappings);
	tutti_mmu_fini(&space->mmu);
}

/* ---- map ---- */

static struct tutti_mapping *tutti_mapping_at(struct tutti_space *space, u64 address, u64 bytes)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node_in_range(node, &space->mappings, address, address + bytes) {
		if (node->start <= address && address + bytes <= node->start + node->size)
			return container_of(node, struct tutti_mapping, node);
		break;
	}
	return NULL;
}

/** tutti_mapping_find() - mapping that holds the whole range with @access, or NULL. Its context's lock is held. */
struct tutti_mapping *tutti_mapping_find(struct tutti_space *space, u64 address, u64 bytes, u32 access)
{
	struct tutti_mapping *mapping;

	if (!bytes || address >= TUTTI_VA_END || bytes > TUTTI_VA_END - address)
		return NULL;
	mapping = tutti_mapping_at(space, address, bytes);
	if (!mapping || mapping->stale || (mapping->access & access) != access)
		return NULL;
	return mapping;
}

static u64 tutti_mapping_leaf_flags(u32 access)
{
	return TUTTI_PTE_R | (access & DRM_TUTTI_ACCESS_WRITE ? TUTTI_PTE_W : 0) |
	       (access & DRM_TUTTI_ACCESS_EXECUTE ? TUTTI_PTE_X : 0);
}

static int tutti_mapping_enter_system(struct tutti_space *space, struct tutti_bo *bo, const struct drm_tutti_map *args)
{
	u64 skip = args->offset, done = 0;
	struct scatterlist *sg;
	int i, error;

	for_each_sgtable_dma_sg(bo->sgt, sg, i) {
		u64 bytes = sg_dma_len(sg), from = min(skip, bytes);

		/* of another driver's dma-buf: a page table has whole pages only */
		if ((sg_dma_address(sg) | bytes) & (TUTTI_PAGE_SIZE - 1))
			return -EINVAL;
		skip -= from;
		bytes = min(bytes - from, args->bytes - done);
		if (!bytes)
			continue;
		error = tutti_mmu_map(&space->mmu, args->address + done, TUTTI_BUS_HOST | (sg_dma_address(sg) + from),
				      bytes, tutti_mapping_leaf_flags(args->access));
		if (error)
			return error;
		done += bytes;
		if (done == args->bytes)
			break;
	}
	return 0;
}

static int tutti_mapping_enter_leaves(struct tutti_space *space, struct tutti_bo *bo, const struct drm_tutti_map *args)
{
	if (bo->placement != DRM_TUTTI_PLACE_CARD)
		return tutti_mapping_enter_system(space, bo, args);
	return tutti_mmu_map(&space->mmu, args->address, bo->node.start + args->offset, args->bytes,
			     tutti_mapping_leaf_flags(args->access));
}

static void tutti_mapping_keep(struct tutti_space *space, struct tutti_mapping *mapping)
{
	tutti_mmu_keep(&space->mmu);
	mapping->stale = true;
}

static void tutti_mapping_gone(struct tutti_space *space, struct tutti_mapping *mapping)
{
	tutti_mmu_reap(&space->mmu);
	tutti_mapping_free(mapping);
}

/* A range of which only a part has got its leaves. If the card may have seen them, their memory has to stay. */
static void tutti_mapping_undo(struct tutti_space *space, struct tutti_mapping *mapping)
{
	u64 address = mapping->node.start, bytes = mapping->node.size;

	if (tutti_mmu_unmap(&space->mmu, address, bytes) ||
	    tutti_message_tlb_invalidate(space->tdev, space->asid, address, bytes))
		tutti_mapping_keep(space, mapping);
	else
		tutti_mapping_gone(space, mapping);
}

static int tutti_mapping_enter(struct tutti_space *space, struct tutti_mapping *mapping,
			       const struct drm_tutti_map *args)
{
	int error = drm_mm_reserve_node(&space->mappings, &mapping->node);

	if (error) {
		kfree(mapping);
		return error == -ENOSPC ? -EEXIST : error;
	}
	drm_gem_object_get(&mapping->bo->shmem.base);
	error = tutti_mapping_enter_leaves(space, mapping->bo, args);
	if (error)
		tutti_mapping_undo(space, mapping);
	return error;
}

/**
 * tutti_mapping_create() - map a part of a buffer.
 * @space: address space
 * @bo: buffer that is pinned; gets a reference
 * @args: where, what and how; checked
 *
 * Return: 0, -EEXIST if something is mapped there, -ENOMEM, or -EINVAL for a dma-buf that is not made of whole pages.
 */
int tutti_mapping_create(struct tutti_space *space, struct tutti_bo *bo, const struct drm_tutti_map *args)
{
	struct tutti_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);

	if (!mapping)
		return -ENOMEM;
	mapping->bo = bo;
	mapping->offset = args->offset;
	mapping->access = args->access;
	mapping->node.start = args->address;
	mapping->node.size = args->bytes;
	return tutti_mapping_enter(space, mapping, args);
}

/* ---- unmap ---- */

/* A mapping that loses its middle becomes two: @tail is the new one, allocated beforehand. */
static void tutti_mapping_cut(struct tutti_mapping *mapping, u64 address, u64 end, struct tutti_mapping **tail)
{
	struct drm_mm *mm = mapping->node.mm;
	u64 start = mapping->node.start, stop = start + mapping->node.size;

	drm_mm_remove_node(&mapping->node);
	if (end < stop) {
		struct tutti_mapping *part = start < address ? *tail : mapping;

		if (part == *tail) {
			*tail = NULL;
			part->bo = mapping->bo;
			part->access = mapping->access;
			part->offset = mapping->offset;
			drm_gem_object_get(&part->bo->shmem.base);
		}
		part->offset += end - start;
		part->node.start = end;
		part->node.size = stop - end;
		drm_mm_reserve_node(mm, &part->node); /* was ours a moment ago: cannot fail */
	}
	if (start < address) {
		mapping->node.start = start;
		mapping->node.size = address - start;
		drm_mm_reserve_node(mm, &mapping->node);
	} else if (end >= stop) {
		tutti_bo_put(mapping->bo);
		kfree(mapping);
	}
}

static struct tutti_mapping *tutti_mapping_first(struct tutti_space *space, u64 address, u64 end)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node_in_range(node, &space->mappings, address, end)
		return container_of(node, struct tutti_mapping, node);
	return NULL;
}

static void tutti_mapping_mark_stale(struct tutti_space *space, u64 address, u64 end)
{
	struct drm_mm_node *node;

	tutti_mmu_keep(&space->mmu);
	drm_mm_for_each_node_in_range(node, &space->mappings, address, end)
		container_of(node, struct tutti_mapping, node)->stale = true;
}

/** tutti_mapping_any() - is anything mapped in the range? */
bool tutti_mapping_any(struct tutti_space *space, u64 address, u64 bytes)
{
	return tutti_mapping_first(space, address, address + bytes);
}

/**
 * tutti_mapping_destroy() - unmap a range; what it cuts keeps the rest.
 * @space: address space
 * @address: start, in whole pages
 * @bytes: size, in whole pages
 *
 * Leaves go first, the memory only when the card has said that it knows.
 *
 * Return: 0, -ENOMEM with nothing changed, or what the firmware said; then the range is stale.
 */
int tutti_mapping_destroy(struct tutti_space *space, u64 address, u64 bytes)
{
	struct tutti_mapping *mapping, *tail = kzalloc(sizeof(*tail), GFP_KERNEL_ACCOUNT);
	u64 end = address + bytes;
	int error;

	if (!tail)
		return -ENOMEM;
	error = tutti_mmu_unmap(&space->mmu, address, bytes);
	if (error)
		goto free;
	error = tutti_message_tlb_invalidate(space->tdev, space->asid, address, bytes);
	if (error)
		tutti_mapping_mark_stale(space, address, end);
	else
		tutti_mmu_reap(&space->mmu);
	while (!error && (mapping = tutti_mapping_first(space, address, end)))
		tutti_mapping_cut(mapping, address, end, &tail);
free:
	kfree(tail);
	return error;
}
