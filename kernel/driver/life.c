// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Life of the device: each step is the list of the units that take part, in order. */
#include <linux/dma-mapping.h>
#include <linux/sched/mm.h>
#include <drm/drm_managed.h>

#include "card/card.h"
#include "card/power.h"
#include "driver/life.h"
#include "firmware/channel.h"
#include "firmware/fw.h"
#include "firmware/message.h"
#include "firmware/settings.h"
#include "memory/bo.h"
#include "memory/system_bo.h"
#include "memory/view.h"
#include "objects/timeline.h"
#include "recovery/recovery.h"
#include "recovery/reset.h"
#include "recovery/watchdog.h"
#include "sync/event.h"
#include "sync/fence.h"

static void tutti_life_free_progress(struct tutti_device *tdev)
{
	dma_free_coherent(tdev->drm.dev, PAGE_SIZE, tdev->progress, tdev->progress_bus);
}

static void tutti_life_init_locks(struct tutti_device *tdev)
{
	int i;

	init_rwsem(&tdev->reset_sem);
	init_rwsem(&tdev->view_sem);
	spin_lock_init(&tdev->objects_lock);
	mutex_init(&tdev->memory_lock);
	mutex_init(&tdev->scratch_lock);
	mutex_init(&tdev->settings_lock);
	mutex_init(&tdev->trace_lock);
	xa_init(&tdev->settings);
	for (i = 0; i < TUTTI_KINDS; i++) {
		INIT_LIST_HEAD(&tdev->objects[i]);
		ida_init(&tdev->ids[i]);
	}
	INIT_LIST_HEAD(&tdev->bos);
	INIT_LIST_HEAD(&tdev->imports);
	INIT_LIST_HEAD(&tdev->users);
	init_waitqueue_head(&tdev->wait);
	ida_init(&tdev->file_ids);
}

/* The lock order of base/device.h, once: lockdep then reports the first step of a violation, not only the last. */
static void tutti_life_teach_lockdep(struct tutti_device *tdev)
{
	if (!IS_ENABLED(CONFIG_LOCKDEP))
		return;
	down_read(&tdev->reset_sem);
	mutex_lock(&tdev->scratch_lock);
	mutex_lock(&tdev->settings_lock);
	mutex_lock(&tdev->memory_lock);
	down_read(&tdev->view_sem);
	fs_reclaim_acquire(GFP_KERNEL);
	fs_reclaim_release(GFP_KERNEL);
	spin_lock(&tdev->channel.lock);
	spin_lock(&tdev->objects_lock);
	spin_lock(&tdev->fence_lock);
	spin_unlock(&tdev->fence_lock);
	spin_unlock(&tdev->objects_lock);
	spin_unlock(&tdev->channel.lock);
	up_read(&tdev->view_sem);
	mutex_unlock(&tdev->memory_lock);
	mutex_unlock(&tdev->settings_lock);
	mutex_unlock(&tdev->scratch_lock);
	up_read(&tdev->reset_sem);
}

static void tutti_life_release_memory(struct drm_device *drm, void *unused)
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
	tutti_settings_fini(tdev);
}

static void tutti_life_release_queues(struct drm_device *drm, void *unused)
{
	struct tutti_device *tdev = to_tutti(drm);

	if (tdev->fence_queue)
		destroy_workqueue(tdev->fence_queue);
	if (tdev->work_queue)
		destroy_workqueue(tdev->work_queue);
}

/* Fences and resets must get on when there is no memory: whoever frees some may wait for them. */
static int tutti_life_make_queues(struct tutti_device *tdev)
{
	tdev->fence_queue = alloc_ordered_workqueue("tutti-fence", WQ_MEM_RECLAIM);
	tdev->work_queue = alloc_workqueue("tutti", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	return tdev->fence_queue && tdev->work_queue ? 0 : -ENOMEM;
}

/** tutti_life_init() - what needs neither card nor firmware; discovery data is known. */
int tutti_life_init(struct tutti_device *tdev)
{
	const struct tutti_discovery *known = &tdev->known;
	u64 visible = min(known->memory_bytes, known->aperture_bytes);
	int error;

	tutti_life_init_locks(tdev);
	tutti_channel_init(tdev, tutti_event_message);
	tutti_timeline_setup(tdev);
	tutti_fence_init(tdev);
	tutti_watchdog_init(tdev);
	tutti_recovery_init(tdev);
	tutti_life_teach_lockdep(tdev);
	error = drmm_add_action_or_reset(&tdev->drm, tutti_life_release_memory, NULL);
	if (!error)
		error = drmm_add_action_or_reset(&tdev->drm, tutti_life_release_queues, NULL);
	if (!error)
		error = tutti_life_make_queues(tdev);
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

/** tutti_life_start() - boot, and one message there and back. */
int tutti_life_start(struct tutti_device *tdev)
{
	int error = tutti_fw_read(tdev);

	if (!error)
		error = tutti_fw_boot(tdev);
	if (error)
		return error;
	tutti_channel_open(tdev);
	return tutti_message_ping(tdev, 0x7475747469ull);
}

/** tutti_life_unplug() - the driver lets go of the card, which may be gone already. */
void tutti_life_unplug(struct tutti_device *tdev)
{
	tutti_channel_close(tdev); /* nobody waits for an answer any more */
	tutti_recovery_unplug(tdev);
	drm_dev_unplug(&tdev->drm);
	tutti_watchdog_stop(tdev);
	tutti_recovery_stop(tdev);
	tutti_power_stop(tdev);
	tutti_timeline_unplug(tdev);
	tutti_fence_unplug(tdev);
	tutti_view_revoke_all(tdev);
	wake_up_all(&tdev->wait);
	if (tutti_card_is_there(tdev))
		tutti_fw_stop(tdev);
	pci_clear_master(tdev->pdev);
	tutti_reset_forget(tdev);
	tutti_recovery_stop(tdev); /* what was lost just now may have condemned its context */
	tutti_bo_unplug(tdev);
	tutti_system_bo_detach_all(tdev);
	tutti_life_free_progress(tdev);
	tutti_fw_fini(tdev);
}

/** tutti_life_fini() - undo tutti_life_start() and _init() when probe fails. */
void tutti_life_fini(struct tutti_device *tdev)
{
	tutti_channel_close(tdev);
	tutti_watchdog_stop(tdev);
	tutti_recovery_stop(tdev);
	if (tdev->boot_sequence)
		tutti_fw_stop(tdev);
	pci_clear_master(tdev->pdev);
	if (tdev->progress)
		tutti_life_free_progress(tdev);
	tutti_fw_fini(tdev);
}
