// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Address spaces and what is mapped in them (spec SYS-06, SYS-23). */
#include <linux/dma-mapping.h>

#include "tutti_queue.h"

static void mapping_free(struct tutti_mapping *mapping)
{
	drm_mm_remove_node(&mapping->node);
	tutti_bo_put(mapping->bo);
	kfree(mapping);
}

/* ---- life ---- */

static struct tutti_context *context_alloc(struct tutti_device *tdev)
{
	struct tutti_context *context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	int asid;

	if (!context)
		return ERR_PTR(-ENOMEM);
	kref_init(&context->ref);
	context->tdev = tdev;
	mutex_init(&context->lock);
	INIT_LIST_HEAD(&context->link);
	asid = ida_alloc_range(&tdev->asids, 1, tdev->known.max_contexts - 1, GFP_KERNEL);
	if (asid < 0)
		goto free;
	context->asid = asid;
	if (tutti_mmu_init(&context->mmu, tdev->drm.dev))
		goto free_asid;
	drm_mm_init(&context->space, 0, TUTTI_VA_END);
	drm_dev_get(&tdev->drm);
	return context;

free_asid:
	ida_free(&tdev->asids, context->asid);
	asid = -ENOMEM;
free:
	mutex_destroy(&context->lock);
	kfree(context);
	return ERR_PTR(asid);
}

/* Nothing of the card can reach it any more. */
static void context_release(struct kref *ref)
{
	struct tutti_context *context = container_of(ref, struct tutti_context, ref);
	struct tutti_device *tdev = context->tdev;
	struct drm_mm_node *node, *next;

	drm_mm_for_each_node_safe(node, next, &context->space)
		mapping_free(container_of(node, struct tutti_mapping, node));
	drm_mm_takedown(&context->space);
	tutti_mmu_fini(&context->mmu);
	mutex_destroy(&context->lock);
	kfree(context);
	drm_dev_put(&tdev->drm);
}

void tutti_context_put(struct tutti_context *context)
{
	kref_put(&context->ref, context_release);
}

struct tutti_context *tutti_context_get(struct tutti_file *file, u32 handle)
{
	struct tutti_context *context;

	xa_lock(&file->contexts);
	context = xa_load(&file->contexts, handle);
	if (context && !kref_get_unless_zero(&context->ref))
		context = NULL;
	xa_unlock(&file->contexts);
	return context;
}

static void context_on_card(struct tutti_context *context)
{
	kref_get(&context->ref);
	spin_lock(&context->tdev->objects_lock);
	context->on_card = true;
	list_add_tail(&context->link, &context->tdev->contexts);
	spin_unlock(&context->tdev->objects_lock);
}

/** tutti_context_off_card() - the card has let go of it, for good. May be called twice. */
void tutti_context_off_card(struct tutti_context *context)
{
	struct tutti_device *tdev = context->tdev;
	bool was;

	spin_lock(&tdev->objects_lock);
	was = context->on_card;
	context->on_card = false;
	list_del_init(&context->link);
	spin_unlock(&tdev->objects_lock);
	if (!was)
		return;
	ida_free(&tdev->asids, context->asid);
	tutti_mmu_fini(&context->mmu);
	tutti_context_put(context);
}

static struct tutti_context *first_context(struct tutti_device *tdev)
{
	struct tutti_context *context;

	spin_lock(&tdev->objects_lock);
	context = list_first_entry_or_null(&tdev->contexts, struct tutti_context, link);
	if (context)
		kref_get(&context->ref);
	spin_unlock(&tdev->objects_lock);
	return context;
}

/** tutti_context_post_reset() - the card knows no context any more: after a reset, and for ever at unplug. */
void tutti_context_post_reset(struct tutti_device *tdev)
{
	struct tutti_context *context;

	while ((context = first_context(tdev))) {
		tutti_context_off_card(context);
		tutti_context_put(context);
	}
}

/* With the lock held; the handle's reference stays. */
static int context_destroy(struct tutti_context *context)
{
	int error = context->on_card ? tutti_msg_context_destroy(context->tdev, context->asid) : 0;

	if (!error)
		tutti_context_off_card(context);
	return error;
}

void tutti_context_close(struct tutti_file *file)
{
	struct tutti_context *context;
	unsigned long handle;

	xa_for_each(&file->contexts, handle, context) {
		mutex_lock(&context->lock);
		context_destroy(context);
		mutex_unlock(&context->lock);
		tutti_context_put(context);
	}
	xa_destroy(&file->contexts);
}

static int context_create(struct tutti_file *file, struct drm_tutti_context_create *args)
{
	struct tutti_device *tdev = file->tdev;
	struct tutti_context *context = context_alloc(tdev);
	u32 handle;
	int error;

	if (IS_ERR(context))
		return PTR_ERR(context);
	context_on_card(context);
	error = tutti_msg_context_create(tdev, context->asid, tutti_mmu_root(&context->mmu), args->print_ring);
	if (error && error != -ETIMEDOUT && error != -EIO)
		tutti_context_off_card(context); /* refused: the card has never known it */
	if (error)
		goto put;
	error = xa_alloc(&file->contexts, &handle, context, xa_limit_31b, GFP_KERNEL_ACCOUNT);
	if (error) {
		context_destroy(context);
		goto put;
	}
	args->handle = handle;
	return 0;
put:
	tutti_context_put(context);
	return error;
}

int tutti_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_context_create *args = data;
	struct tutti_file *file = df->driver_priv;
	int error, index;

	if (args->flags || args->handle || (args->print_ring & 63) || args->print_ring >= TUTTI_VA_END)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = context_create(file, args);
	tutti_exit(file, index);
	return error;
}

/* The handle goes first, so that nobody else can get at the context. */
static int context_destroy_handle(struct tutti_file *file, struct tutti_context *context, u32 handle)
{
	int error;

	mutex_lock(&context->lock);
	if (atomic_read(&context->users)) {
		error = -EBUSY;
		goto unlock;
	}
	error = -ENOENT;
	if (xa_cmpxchg(&file->contexts, handle, context, NULL, 0) != context)
		goto unlock;
	error = context_destroy(context);
	tutti_context_put(context);
unlock:
	mutex_unlock(&context->lock);
	return error;
}

int tutti_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_handle *args = data;
	struct tutti_file *file = df->driver_priv;
	struct tutti_context *context;
	int error, index;

	if (args->pad)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	context = tutti_context_get(file, args->handle);
	error = context ? context_destroy_handle(file, context, args->handle) : -ENOENT;
	if (context)
		tutti_context_put(context);
	tutti_exit(file, index);
	return error;
}

/* ---- mappings ---- */

static struct tutti_mapping *mapping_at(struct tutti_context *context, u64 address, u64 bytes)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node_in_range(node, &context->space, address, address + bytes) {
		if (node->start <= address && address + bytes <= node->start + node->size)
			return container_of(node, struct tutti_mapping, node);
		break;
	}
	return NULL;
}

/** tutti_context_find() - mapping that holds the whole range with @access, or NULL. Lock held. */
struct tutti_mapping *tutti_context_find(struct tutti_context *context, u64 address, u64 bytes, u32 access)
{
	struct tutti_mapping *mapping;

	lockdep_assert_held(&context->lock);
	if (!bytes || address >= TUTTI_VA_END || bytes > TUTTI_VA_END - address)
		return NULL;
	mapping = mapping_at(context, address, bytes);
	if (!mapping || mapping->dead || (mapping->access & access) != access)
		return NULL;
	return mapping;
}

static u64 leaf_flags(u32 access)
{
	return TUTTI_PTE_R | (access & DRM_TUTTI_ACCESS_WRITE ? TUTTI_PTE_W : 0) |
	       (access & DRM_TUTTI_ACCESS_EXECUTE ? TUTTI_PTE_X : 0);
}

static int enter_system(struct tutti_context *context, struct tutti_bo *bo, const struct drm_tutti_map *args)
{
	u64 skip = args->offset, done = 0;
	struct scatterlist *sg;
	int i, error;

	for_each_sgtable_dma_sg(bo->sgt, sg, i) {
		u64 bytes = sg_dma_len(sg), from = min(skip, bytes);

		skip -= from;
		bytes = min(bytes - from, args->bytes - done);
		if (!bytes)
			continue;
		error = tutti_mmu_map(&context->mmu, args->address + done,
				      TUTTI_BUS_HOST | (sg_dma_address(sg) + from), bytes,
				      leaf_flags(args->access));
		if (error)
			return error;
		done += bytes;
		if (done == args->bytes)
			break;
	}
	return 0;
}

static int enter_leaves(struct tutti_context *context, struct tutti_bo *bo, const struct drm_tutti_map *args)
{
	if (bo->placement == DRM_TUTTI_PLACE_SYSTEM)
		return enter_system(context, bo, args);
	return tutti_mmu_map(&context->mmu, args->address, bo->node.start + args->offset, args->bytes,
			     leaf_flags(args->access));
}

static int context_map(struct tutti_context *context, struct tutti_bo *bo, const struct drm_tutti_map *args)
{
	struct tutti_mapping *mapping;
	int error = tutti_bo_pin(bo);

	if (error)
		return error;
	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	if (!mapping)
		return -ENOMEM;
	mapping->bo = bo;
	mapping->access = args->access;
	mapping->node.start = args->address;
	mapping->node.size = args->bytes;
	mutex_lock(&context->lock);
	error = -EIO;
	if (!context->on_card)
		goto unlock;
	error = drm_mm_reserve_node(&context->space, &mapping->node);
	if (error == -ENOSPC)
		error = -EEXIST;
	if (error)
		goto unlock;
	drm_gem_object_get(&bo->shmem.base);
	error = enter_leaves(context, bo, args);
	if (error && (tutti_mmu_unmap(&context->mmu, args->address, args->bytes) ||
		      tutti_msg_tlb_invalidate(context->tdev, context->asid, args->address, args->bytes)))
		mapping->dead = true;
	else if (error)
		mapping_free(mapping);
	mutex_unlock(&context->lock);
	return error;
unlock:
	mutex_unlock(&context->lock);
	kfree(mapping);
	return error;
}

static bool range_ok(u64 address, u64 bytes)
{
	return bytes && !((address | bytes) & (TUTTI_PAGE_SIZE - 1)) && address < TUTTI_VA_END &&
	       bytes <= TUTTI_VA_END - address;
}

static int map_check(const struct drm_tutti_map *args)
{
	const u32 all = DRM_TUTTI_ACCESS_READ | DRM_TUTTI_ACCESS_WRITE | DRM_TUTTI_ACCESS_EXECUTE;

	if (args->pad || (args->access & ~all) || !(args->access & DRM_TUTTI_ACCESS_READ) ||
	    !range_ok(args->address, args->bytes) || (args->offset & (TUTTI_PAGE_SIZE - 1)))
		return -EINVAL;
	return 0;
}

int tutti_ioctl_map(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_map *args = data;
	struct tutti_file *file = df->driver_priv;
	struct tutti_context *context;
	struct tutti_bo *bo = NULL;
	int error = map_check(args), index;

	if (error)
		return error;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = -ENOENT;
	context = tutti_context_get(file, args->context);
	if (!context)
		goto exit;
	bo = tutti_bo_lookup(df, args->bo);
	if (!bo)
		goto put_context;
	error = -EINVAL;
	if (args->offset < bo->shmem.base.size && args->bytes <= bo->shmem.base.size - args->offset)
		error = context_map(context, bo, args);
	tutti_bo_put(bo);
put_context:
	tutti_context_put(context);
exit:
	tutti_exit(file, index);
	return error;
}

/* A mapping that loses its middle becomes two: @tail is the new one, allocated beforehand. */
static void cut_mapping(struct tutti_mapping *mapping, u64 address, u64 end, struct tutti_mapping **tail)
{
	struct drm_mm *space = mapping->node.mm;
	u64 start = mapping->node.start, stop = start + mapping->node.size;

	drm_mm_remove_node(&mapping->node);
	if (end < stop) {
		struct tutti_mapping *part = start < address ? *tail : mapping;

		if (part == *tail) {
			*tail = NULL;
			part->bo = mapping->bo;
			part->access = mapping->access;
			drm_gem_object_get(&part->bo->shmem.base);
		}
		part->node.start = end;
		part->node.size = stop - end;
		drm_mm_reserve_node(space, &part->node); /* was ours a moment ago: cannot fail */
	}
	if (start < address) {
		mapping->node.start = start;
		mapping->node.size = address - start;
		drm_mm_reserve_node(space, &mapping->node);
	} else if (end >= stop) {
		tutti_bo_put(mapping->bo);
		kfree(mapping);
	}
}

static struct tutti_mapping *first_in_range(struct tutti_context *context, u64 address, u64 end)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node_in_range(node, &context->space, address, end)
		return container_of(node, struct tutti_mapping, node);
	return NULL;
}

static void mark_dead(struct tutti_context *context, u64 address, u64 end)
{
	struct drm_mm_node *node;

	drm_mm_for_each_node_in_range(node, &context->space, address, end)
		container_of(node, struct tutti_mapping, node)->dead = true;
}

/* Leaves go first; the memory only when the card has said that it knows. */
static int context_unmap(struct tutti_context *context, u64 address, u64 bytes)
{
	struct tutti_mapping *mapping, *tail;
	u64 end = address + bytes;
	int error = 0;

	if (!context->on_card)
		return -EIO;
	if (!first_in_range(context, address, end))
		return -ENOENT;
	if (tutti_queue_uses(context, address, bytes))
		return -EBUSY;
	tail = kzalloc(sizeof(*tail), GFP_KERNEL_ACCOUNT);
	if (!tail)
		return -ENOMEM;
	error = tutti_mmu_unmap(&context->mmu, address, bytes);
	if (!error)
		error = tutti_msg_tlb_invalidate(context->tdev, context->asid, address, bytes);
	if (error && error != -ENOMEM)
		mark_dead(context, address, end);
	while (!error && (mapping = first_in_range(context, address, end)))
		cut_mapping(mapping, address, end, &tail);
	kfree(tail);
	return error;
}

typedef int (*range_fn)(struct tutti_context *context, u64 address, u64 bytes);

static int range_call(struct drm_file *df, const struct drm_tutti_range *args, range_fn fn)
{
	struct tutti_file *file = df->driver_priv;
	struct tutti_context *context;
	int error, index;

	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = -ENOENT;
	context = tutti_context_get(file, args->context);
	if (context) {
		mutex_lock(&context->lock);
		error = fn(context, args->address, args->bytes);
		mutex_unlock(&context->lock);
		tutti_context_put(context);
	}
	tutti_exit(file, index);
	return error;
}

int tutti_ioctl_unmap(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_range *args = data;

	if (args->pad || !range_ok(args->address, args->bytes))
		return -EINVAL;
	return range_call(df, args, context_unmap);
}

static int context_code_invalidate(struct tutti_context *context, u64 address, u64 bytes)
{
	if (!context->on_card)
		return -EIO;
	return tutti_msg_code_invalidate(context->tdev, context->asid, address, bytes);
}

int tutti_ioctl_code_invalidate(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_range *args = data;

	if (args->pad || !args->bytes || args->address >= TUTTI_VA_END ||
	    args->bytes > TUTTI_VA_END - args->address)
		return -EINVAL;
	return range_call(df, args, context_code_invalidate);
}
