// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Address spaces and what is mapped in them (spec SYS-06, SYS-23). */
#include <linux/dma-mapping.h>

#include "tutti_queue.h"
#include "tutti_trace.h"

static void mapping_free(struct tutti_mapping *mapping)
{
	drm_mm_remove_node(&mapping->node);
	tutti_bo_put(mapping->bo);
	kfree(mapping);
}

/* ---- life ---- */

/* Its page tables are DMA memory: they go while there is a device. */
static void context_off_card(struct tutti_object *object)
{
	tutti_mmu_fini(&to_context(object)->mmu);
}

/* Nothing of the card can reach it any more. */
static void context_release(struct tutti_object *object)
{
	struct tutti_context *context = to_context(object);
	struct drm_mm_node *node, *next;

	drm_mm_for_each_node_safe(node, next, &context->space)
		mapping_free(container_of(node, struct tutti_mapping, node));
	drm_mm_takedown(&context->space);
	tutti_mmu_fini(&context->mmu);
	tutti_object_fini(object);
	kfree(context);
}

static int context_destroy(struct tutti_object *object)
{
	if (atomic_read(&object->users))
		return -EBUSY;
	return tutti_msg_context_destroy(object->tdev, object->id);
}

static const struct tutti_object_ops context_ops = {
	.destroy = context_destroy,
	.off_card = context_off_card,
	.release = context_release,
};

static struct tutti_context *context_alloc(struct tutti_device *tdev)
{
	struct tutti_context *context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	int error;

	if (!context)
		return ERR_PTR(-ENOMEM);
	drm_mm_init(&context->space, 0, TUTTI_VA_END);
	error = tutti_object_init(&context->base, tdev, TUTTI_CONTEXT, &context_ops);
	if (error) {
		drm_mm_takedown(&context->space);
		kfree(context);
		return ERR_PTR(error);
	}
	if (tutti_mmu_init(&context->mmu, tdev->drm.dev)) {
		tutti_object_put(&context->base);
		return ERR_PTR(-ENOMEM);
	}
	return context;
}

static int context_create(struct tutti_file *file, struct drm_tutti_context_create *args)
{
	struct tutti_device *tdev = file->tdev;
	struct tutti_context *context = context_alloc(tdev);
	u32 handle;
	int error;

	if (IS_ERR(context))
		return PTR_ERR(context);
	error = tutti_handle_reserve(file, TUTTI_CONTEXT, &handle);
	if (error)
		goto put;
	tutti_object_on_card(&context->base);
	error = tutti_msg_context_create(tdev, context->base.id, tutti_mmu_root(&context->mmu), args->print_ring);
	if (error)
		goto cancel;
	args->handle = handle;
	tutti_handle_publish(file, handle, &context->base);
	return 0;
cancel:
	if (error != -ETIMEDOUT && error != -EIO)
		tutti_object_off_card(&context->base); /* refused: the card has never known it */
	tutti_handle_cancel(file, TUTTI_CONTEXT, handle);
put:
	tutti_object_put(&context->base);
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

int tutti_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *df)
{
	return tutti_call_destroy(df, TUTTI_CONTEXT, data);
}

/* ---- the context rung of the recovery ladder ---- */

/* A queue that is being destroyed already answers to whoever began it: here only its end is waited for. */
static int kill_queue(struct tutti_object *object)
{
	int error;

	mutex_lock(&object->lock);
	error = object->on_card ? object->ops->destroy(object) : 0;
	if (error == -EBUSY)
		error = tutti_msg_queue_gone(object->tdev, object->id);
	if (!error || error == -ENOENT)
		tutti_object_lose(object);
	mutex_unlock(&object->lock);
	return error == -ENOENT ? 0 : error;
}

static int kill_all(struct tutti_context *context, enum tutti_kind kind, int (*kill)(struct tutti_object *object))
{
	struct tutti_object *object;
	int error = 0;

	while (!error && (object = tutti_object_child(&context->base, kind))) {
		error = kill(object);
		tutti_object_put(object);
	}
	return error;
}

/**
 * tutti_context_kill() - stop its queues and what they run, for good; nobody else notices.
 * @context: between drm_dev_enter() and _exit(), with reset_sem read
 *
 * Handles stay: calls that name them give -EIO. Return: 0, or what the firmware said.
 */
int tutti_context_kill(struct tutti_context *context)
{
	int error;

	mutex_lock(&context->base.lock);
	context->lost = true;
	error = kill_all(context, TUTTI_QUEUE, kill_queue);
	if (!error)
		error = kill_all(context, TUTTI_RSB, tutti_object_destroy);
	if (!error && context->base.on_card)
		error = tutti_msg_context_destroy(context->base.tdev, context->base.id);
	if (!error)
		tutti_object_off_card(&context->base);
	mutex_unlock(&context->base.lock);
	wake_up_all(&context->base.tdev->wait);
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

	lockdep_assert_held(&context->base.lock);
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
	if (bo->placement != DRM_TUTTI_PLACE_CARD)
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
	mapping->offset = args->offset;
	mapping->access = args->access;
	mapping->node.start = args->address;
	mapping->node.size = args->bytes;
	mutex_lock(&context->base.lock);
	error = -EIO;
	if (!tutti_context_works(context))
		goto unlock;
	error = drm_mm_reserve_node(&context->space, &mapping->node);
	if (error == -ENOSPC)
		error = -EEXIST;
	if (error)
		goto unlock;
	drm_gem_object_get(&bo->shmem.base);
	error = enter_leaves(context, bo, args);
	if (error && (tutti_mmu_unmap(&context->mmu, args->address, args->bytes) ||
		      tutti_msg_tlb_invalidate(context->base.tdev, context->base.id, args->address, args->bytes)))
		mapping->dead = true;
	else if (error)
		mapping_free(mapping);
	mutex_unlock(&context->base.lock);
	return error;
unlock:
	mutex_unlock(&context->base.lock);
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
	struct tutti_call call;
	struct tutti_bo *bo;
	int error = map_check(args);

	if (!error)
		error = tutti_call_begin(&call, df, TUTTI_CONTEXT, args->context);
	if (error)
		return error;
	error = -ENOENT;
	bo = tutti_bo_lookup(df, args->bo);
	if (!bo)
		goto end;
	error = -EINVAL;
	if (args->offset < bo->shmem.base.size && args->bytes <= bo->shmem.base.size - args->offset)
		error = context_map(to_context(call.object), bo, args);
	trace_tutti_map(call.object->id, args->address, args->bytes, error);
	tutti_bo_put(bo);
end:
	tutti_call_end(&call);
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
			part->offset = mapping->offset;
			drm_gem_object_get(&part->bo->shmem.base);
		}
		part->offset += end - start;
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

	if (!tutti_context_works(context))
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
		error = tutti_msg_tlb_invalidate(context->base.tdev, context->base.id, address, bytes);
	if (error && error != -ENOMEM)
		mark_dead(context, address, end);
	while (!error && (mapping = first_in_range(context, address, end)))
		cut_mapping(mapping, address, end, &tail);
	kfree(tail);
	trace_tutti_unmap(context->base.id, address, bytes, error);
	return error;
}

typedef int (*range_fn)(struct tutti_context *context, u64 address, u64 bytes);

static int range_call(struct drm_file *df, const struct drm_tutti_range *args, range_fn fn)
{
	struct tutti_call call;
	int error = tutti_call_begin(&call, df, TUTTI_CONTEXT, args->context);

	if (error)
		return error;
	mutex_lock(&call.object->lock);
	error = fn(to_context(call.object), args->address, args->bytes);
	mutex_unlock(&call.object->lock);
	tutti_call_end(&call);
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
	if (!tutti_context_works(context))
		return -EIO;
	return tutti_msg_code_invalidate(context->base.tdev, context->base.id, address, bytes);
}

int tutti_ioctl_code_invalidate(struct drm_device *drm, void *data, struct drm_file *df)
{
	const struct drm_tutti_range *args = data;

	if (args->pad || !args->bytes || args->address >= TUTTI_VA_END ||
	    args->bytes > TUTTI_VA_END - args->address)
		return -EINVAL;
	return range_call(df, args, context_code_invalidate);
}
