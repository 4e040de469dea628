// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Life of the device: each step is the list of the units that take part, in order. */
#include <linux/dma-mapping.h>
#include <drm/drm_managed.h>

#include "tutti_bo.h"
#include "tutti_context.h"
#include "tutti_queue.h"
#include "tutti_rsb.h"
#include "tutti_view.h"

/* ---- the card ---- */

/* ivshmem: the card is peer 0, its vector 0 is the kick. The card has its own way: it sees. */
void tutti_kick(struct tutti_device *tdev)
{
	if (tdev->registers)
		writel(0u << 16 | 0u, tdev->registers + 12);
}

/** tutti_kick_if_asleep() - the host's half of the sleep handshake (control.h). */
void tutti_kick_if_asleep(struct tutti_device *tdev)
{
	mb(); /* the work is visible before we ask whether the card sleeps */
	if (tutti_status(tdev, asleep))
		tutti_kick(tdev);
}

/* ---- calls ---- */

/*
 * tutti_enter() - begin what touches the card; no reset and no removal until tutti_exit().
 *
 * Does not wait for a reset that concerns the caller's file: that is -EIO at once.
 */
int tutti_enter(struct tutti_file *file, int *index)
{
	struct tutti_device *tdev = file->tdev;
	int error;

	if (!drm_dev_enter(&tdev->drm, index))
		return -ENODEV;
	error = tutti_file_check(file);
	if (!error)
		error = tutti_pm_wait(tdev);
	if (!error)
		error = down_read_interruptible(&tdev->reset_sem);
	if (error)
		goto exit;
	error = tutti_file_check(file);
	if (!error)
		return 0;
	up_read(&tdev->reset_sem);
exit:
	drm_dev_exit(*index);
	return error;
}

void tutti_exit(struct tutti_file *file, int index)
{
	up_read(&file->tdev->reset_sem);
	drm_dev_exit(index);
}

/* ---- life ---- */

static void free_progress(struct tutti_device *tdev)
{
	dma_free_coherent(tdev->drm.dev, PAGE_SIZE, tdev->progress, tdev->progress_bus);
}

static void init_locks(struct tutti_device *tdev)
{
	int i;

	init_rwsem(&tdev->reset_sem);
	init_rwsem(&tdev->view_sem);
	spin_lock_init(&tdev->objects_lock);
	mutex_init(&tdev->memory_lock);
	mutex_init(&tdev->scratch_lock);
	for (i = 0; i < TUTTI_KINDS; i++) {
		INIT_LIST_HEAD(&tdev->objects[i]);
		ida_init(&tdev->ids[i]);
	}
	INIT_LIST_HEAD(&tdev->bos);
	INIT_LIST_HEAD(&tdev->exports);
	init_waitqueue_head(&tdev->wait);
	ida_init(&tdev->file_ids);
}

static void release_memory(struct drm_device *drm, void *unused)
{
	struct tutti_device *tdev = to_tutti(drm);
	int i;

	if (drm_mm_node_allocated(&tdev->scratch))
		drm_mm_remove_node(&tdev->scratch);
	if (drm_mm_initialized(&tdev->memory))
		drm_mm_takedown(&tdev->memory);
	for (i = 0; i < TUTTI_KINDS; i++)
		ida_destroy(&tdev->ids[i]);
	ida_destroy(&tdev->file_ids);
}

/** tutti_device_init() - what needs neither card nor firmware; discovery data is known. */
int tutti_device_init(struct tutti_device *tdev)
{
	const struct tutti_discovery *known = &tdev->known;
	u64 visible = min(known->memory_bytes, known->aperture_bytes);
	int error;

	init_locks(tdev);
	tutti_channel_init(tdev);
	tutti_fence_init(tdev);
	tutti_recovery_init(tdev);
	error = drmm_add_action_or_reset(&tdev->drm, release_memory, NULL);
	if (error)
		return error;
	if (visible <= known->reserved_bytes)
		return -ENODEV;
	drm_mm_init(&tdev->memory, known->reserved_bytes, visible - known->reserved_bytes);
	error = drm_mm_insert_node(&tdev->memory, &tdev->scratch, PAGE_SIZE);
	if (error)
		return error;
	BUILD_BUG_ON(TUTTI_MAX_QUEUES * sizeof(u64) > PAGE_SIZE);
	tdev->progress = dma_alloc_coherent(tdev->drm.dev, PAGE_SIZE, &tdev->progress_bus, GFP_KERNEL);
	return tdev->progress ? 0 : -ENOMEM;
}

/** tutti_device_start() - boot, and one message there and back. */
int tutti_device_start(struct tutti_device *tdev)
{
	int error = tutti_fw_read(tdev);

	if (!error)
		error = tutti_fw_boot(tdev);
	if (error)
		return error;
	tutti_channel_post_reset(tdev);
	return tutti_msg_ping(tdev, 0x7475747469ull);
}

/* Everything the card knew is no more: what it could reach is free now. */
static void forget_all(struct tutti_device *tdev)
{
	tutti_object_lose_all(tdev, TUTTI_QUEUE);
	tutti_object_lose_all(tdev, TUTTI_RSB);
	tutti_object_lose_all(tdev, TUTTI_CONTEXT);
}

/*
 * tutti_device_pre_reset() - revoke everything; the caller gives reset_sem back.
 *
 * The generation first: from here on no old file gets anything new. Then whoever waits for
 * the firmware with reset_sem held is set free, then we can have it.
 */
void tutti_device_pre_reset(struct tutti_device *tdev)
{
	atomic64_inc(&tdev->generation);
	tutti_channel_pre_reset(tdev);
	wake_up_all(&tdev->wait);
	down_write(&tdev->reset_sem);
	tutti_view_revoke_all(tdev);
}

/** tutti_device_post_reset() - start again. Nothing is released before the card has been reset. */
int tutti_device_post_reset(struct tutti_device *tdev)
{
	int error;

	if (readq(tdev->window) != TUTTI_DISCOVERY_MAGIC)
		return -ENODEV;
	error = tutti_fw_boot(tdev);
	if (error)
		return error;
	tutti_channel_post_reset(tdev);
	forget_all(tdev);
	return tutti_msg_ping(tdev, atomic64_read(&tdev->generation));
}

/** tutti_device_stop() - the card does nothing and knows nothing; nobody has it open, or will again. */
void tutti_device_stop(struct tutti_device *tdev)
{
	tutti_channel_pre_reset(tdev);
	tutti_fw_stop(tdev);
	forget_all(tdev);
}

/** tutti_device_unplug() - the driver lets go of the card, which may be gone already. */
void tutti_device_unplug(struct tutti_device *tdev)
{
	tutti_channel_pre_reset(tdev); /* nobody waits for an answer any more */
	drm_dev_unplug(&tdev->drm);
	tutti_recovery_stop(tdev);
	tutti_pm_stop(tdev);
	tutti_fence_unplug(tdev);
	tutti_view_revoke_all(tdev);
	wake_up_all(&tdev->wait);
	if (readq(tdev->window) == TUTTI_DISCOVERY_MAGIC)
		tutti_fw_stop(tdev);
	pci_clear_master(tdev->pdev);
	forget_all(tdev);
	tutti_bo_unplug(tdev);
	free_progress(tdev);
	tutti_fw_fini(tdev);
}

/** tutti_device_fini() - undo tutti_device_start() and _init() when probe fails. */
void tutti_device_fini(struct tutti_device *tdev)
{
	tutti_channel_pre_reset(tdev);
	tutti_recovery_stop(tdev);
	if (tdev->boot_sequence)
		tutti_fw_stop(tdev);
	pci_clear_master(tdev->pdev);
	if (tdev->progress)
		free_progress(tdev);
	tutti_fw_fini(tdev);
}
