// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The node: open, close, the table of calls (include/tutti/tutti_drm.h). */
#include <drm/drm_ioctl.h>
#include <drm/drm_prime.h>

#include "base/compat.h"
#include "base/delay.h"
#include "card/power.h"
#include "driver/drv.h"
#include "memory/account.h"
#include "memory/card_bo.h"
#include "memory/memory.h"
#include "memory/system_bo.h"
#include "memory/user_bo.h"
#include "objects/context.h"
#include "objects/handle.h"
#include "objects/mmap.h"
#include "objects/queue.h"
#include "objects/rsb.h"
#include "report/control.h"
#include "report/debugfs.h"
#include "report/fdinfo.h"
#include "report/query.h"
#include "report/tracing.h"
#include "sync/event.h"
#include "sync/fence.h"
#include "sync/wait.h"

/* ---- open and close ---- */

/* Vector 0 is the channel's; files share the others. */
static u32 tutti_drv_pick_vector(struct tutti_device *tdev, int id)
{
	return tdev->vectors > 1 ? 1 + id % (tdev->vectors - 1) : 0;
}

/* Never waits: not for a reset, not for the card. */
static int tutti_drv_open(struct drm_device *drm, struct drm_file *df)
{
	struct tutti_device *tdev = to_tutti(drm);
	struct tutti_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	int id, kind, error;

	if (!file)
		return -ENOMEM;
	error = -ENOMEM;
	file->account = tutti_account_open(tdev);
	if (!file->account)
		goto free;
	id = ida_alloc(&tdev->file_ids, GFP_KERNEL);
	error = min(id, 0);
	if (error)
		goto close_account;
	error = tutti_power_get(tdev);
	if (error)
		goto free_id;
	file->tdev = tdev;
	file->id = id;
	file->vector = tutti_drv_pick_vector(tdev, id);
	file->generation = atomic64_read(&tdev->generation);
	for (kind = 0; kind < TUTTI_KINDS; kind++)
		xa_init_flags(&file->handles[kind], XA_FLAGS_ALLOC1);
	df->driver_priv = file;
	return 0;
free_id:
	ida_free(&tdev->file_ids, id);
close_account:
	tutti_account_close(tdev, file->account);
free:
	kfree(file);
	return error;
}

static void tutti_drv_postclose(struct drm_device *drm, struct drm_file *df)
{
	struct tutti_file *file = df->driver_priv;

	tutti_tracing_close(file);
	tutti_queue_close(file);
	tutti_handle_close_all(file, TUTTI_RSB);
	tutti_handle_close_all(file, TUTTI_CONTEXT);
	tutti_power_put(file->tdev);
	ida_free(&file->tdev->file_ids, file->id);
	tutti_account_close(file->tdev, file->account);
	kfree(file);
}

/* ---- calls ---- */

static const struct drm_ioctl_desc ioctls[] = {
	DRM_IOCTL_DEF_DRV(TUTTI_QUERY, tutti_query_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_BO_CREATE, tutti_memory_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_BO_INFO, tutti_memory_info_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_CONTEXT_CREATE, tutti_context_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_CONTEXT_DESTROY, tutti_context_destroy_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_MAP, tutti_context_map_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_UNMAP, tutti_context_unmap_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_CODE_INVALIDATE, tutti_context_code_invalidate_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_QUEUE_CREATE, tutti_queue_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_QUEUE_DESTROY, tutti_queue_destroy_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_QUEUE_RESET, tutti_queue_reset_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_QUEUE_QUERY, tutti_queue_query_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_RSB_CREATE, tutti_rsb_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_RSB_DESTROY, tutti_rsb_destroy_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_RSB_INVALIDATE, tutti_rsb_invalidate_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_RSB_READ, tutti_rsb_read_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_WAIT, tutti_wait_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_EVENT, tutti_event_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_FENCE, tutti_fence_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_KICK, tutti_control_kick_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_COUNTERS, tutti_control_counters_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_BO_USERPTR, tutti_user_bo_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_TASK_CANCEL, tutti_control_task_cancel_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_SM_ENABLE, tutti_control_sm_enable_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_POLICY_SET, tutti_control_policy_set_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_POLICY_GET, tutti_control_policy_get_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_RESET, tutti_control_reset_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_OCCUPANCY, tutti_control_occupancy_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_TRACE_START, tutti_tracing_start_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_TRACE_READ, tutti_tracing_read_ioctl, DRM_RENDER_ALLOW),
};

/* ---- dma-bufs ---- */

/* Removal of the device detaches imported buffers, and the DRM core looks at their attachment without a lock. */
static int tutti_drv_handle_to_fd(struct drm_device *drm, struct drm_file *df, u32 handle, u32 flags, int *fd)
{
	int error, index;

	if (!drm_dev_enter(drm, &index))
		return -ENODEV;
	tutti_delay(TUTTI_DELAY_export);
	error = drm_gem_prime_handle_to_fd(drm, df, handle, flags, fd);
	drm_dev_exit(index);
	return error;
}

/* ---- the node ---- */

/*
 * DRM's own calls that a render node would refuse. An accel node lets them through, and has no
 * master: GET_MAGIC dereferences NULL there (found by tests/conformance/fuzz).
 */
static bool tutti_drv_refuses(struct file *filp, unsigned int cmd)
{
	unsigned int nr = DRM_IOCTL_NR(cmd), flags;

	/* beside a render node there is a primary one, where these calls are at home */
	if (drm_is_primary_client(filp->private_data))
		return false;
	return (nr < DRM_COMMAND_BASE || nr >= DRM_COMMAND_END) && drm_ioctl_flags(nr, &flags) &&
	       !(flags & DRM_RENDER_ALLOW);
}

static long tutti_drv_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	if (cmd == DRM_IOCTL_TUTTI_WAIT && tutti_wait_at_once(filp->private_data, (void __user *)arg))
		return 0;
	return tutti_drv_refuses(filp, cmd) ? -EACCES : drm_ioctl(filp, cmd, arg);
}

#ifdef CONFIG_COMPAT
static long tutti_drv_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return tutti_drv_refuses(filp, cmd) ? -EACCES : drm_compat_ioctl(filp, cmd, arg);
}
#else
#define tutti_drv_compat_ioctl NULL
#endif

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = tutti_drm_open,
	.release = drm_release,
	.unlocked_ioctl = tutti_drv_ioctl,
	.compat_ioctl = tutti_drv_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = tutti_mmap,
	.show_fdinfo = tutti_fop_show_fdinfo,
	TUTTI_FOP_FLAGS
};

const struct drm_driver tutti_drm_driver = {
	.driver_features = DRIVER_GEM | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE | TUTTI_DRIVER_NODE,
	.open = tutti_drv_open,
	.postclose = tutti_drv_postclose,
	.fops = &fops,
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.gem_create_object = tutti_system_bo_alloc,
	.prime_handle_to_fd = tutti_drv_handle_to_fd,
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,
	.gem_prime_import = tutti_card_bo_import,
	.gem_prime_import_sg_table = tutti_system_bo_import,
	TUTTI_DRIVER_FDINFO
	TUTTI_PRIME_MMAP
	.debugfs_init = tutti_debugfs_init,
	.name = "tutti",
	.desc = "Tutti compute accelerator",
	TUTTI_DRIVER_DATE
	.major = 1,
	.minor = 6,
};
