// SPDX-License-Identifier: GPL-2.0 OR MIT
/* drm_driver: open, close, ioctl table, mmap. */
#include <linux/capability.h>
#include <linux/uaccess.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_prime.h>

#include "compat.h"
#include "tutti_bo.h"
#include "tutti_context.h"
#include "tutti_drv.h"
#include "tutti_queue.h"
#include "tutti_rsb.h"
#include "tutti_view.h"

/* ---- open and close ---- */

/* Vector 0 is the channel's; files share the others. */
static u32 pick_vector(struct tutti_device *tdev, int id)
{
	return tdev->vectors > 1 ? 1 + id % (tdev->vectors - 1) : 0;
}

/* Never waits: not for a reset, not for the card. */
static int tutti_open(struct drm_device *drm, struct drm_file *df)
{
	struct tutti_device *tdev = to_tutti(drm);
	struct tutti_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	int id, kind, error;

	if (!file)
		return -ENOMEM;
	id = ida_alloc(&tdev->file_ids, GFP_KERNEL);
	if (id < 0)
		goto free;
	error = tutti_pm_get(tdev);
	if (error) {
		ida_free(&tdev->file_ids, id);
		id = error;
		goto free;
	}
	file->tdev = tdev;
	file->id = id;
	file->vector = pick_vector(tdev, id);
	file->generation = atomic64_read(&tdev->generation);
	for (kind = 0; kind < TUTTI_KINDS; kind++)
		xa_init_flags(&file->handles[kind], XA_FLAGS_ALLOC1);
	df->driver_priv = file;
	return 0;
free:
	kfree(file);
	return id;
}

static void tutti_postclose(struct drm_device *drm, struct drm_file *df)
{
	struct tutti_file *file = df->driver_priv;

	tutti_queue_close(file);
	tutti_handle_close_all(file, TUTTI_RSB);
	tutti_handle_close_all(file, TUTTI_CONTEXT);
	tutti_pm_put(file->tdev);
	ida_free(&file->tdev->file_ids, file->id);
	kfree(file);
}

/* ---- query ---- */

static void fill_state(struct tutti_device *tdev, struct drm_tutti_state *state)
{
	state->generation = atomic64_read(&tdev->generation);
	state->firmware_version = tdev->firmware_version;
	state->boot_sequence = tdev->boot_sequence;
	state->status_offset = tdev->known.status.offset;
	state->counters_offset = tdev->known.counters.offset;
	state->vectors = tdev->vectors;
}

static int query_answer(struct drm_tutti_query *args, const void *from, u32 size)
{
	if (copy_to_user(u64_to_user_ptr(args->pointer), from, min(size, args->size)))
		return -EFAULT;
	args->size = size;
	return 0;
}

static int read_sm_states(struct tutti_file *file, void *to, u32 size)
{
	struct tutti_device *tdev = file->tdev;
	int index, error = tutti_enter(file, &index);

	if (error)
		return error;
	error = tutti_msg_counters(tdev);
	if (!error)
		memcpy_fromio(to, tdev->window + tdev->known.sm_states.offset, size);
	tutti_exit(file, index);
	return error;
}

/* By a copy: user memory may take for ever, and a reset does not wait for it. */
static int query_sm_states(struct tutti_file *file, struct drm_tutti_query *args)
{
	const struct tutti_discovery *known = &file->tdev->known;
	u32 size = known->sms * sizeof(struct tutti_sm_state);
	void *copy;
	int error;

	if (!perfmon_capable())
		return -EACCES;
	if (known->sm_states.bytes < size)
		return -EOPNOTSUPP;
	copy = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	error = read_sm_states(file, copy, size);
	if (!error)
		error = query_answer(args, copy, size);
	kvfree(copy);
	return error;
}

static int query_occupancy(struct tutti_file *file, struct drm_tutti_query *args)
{
	struct tutti_message message = {};
	struct drm_tutti_occupancy occupancy;
	int index, error;

	BUILD_BUG_ON(sizeof(message.occupancy) != sizeof(occupancy.ask));
	if (args->size < sizeof(occupancy))
		return -EINVAL;
	if (copy_from_user(&occupancy, u64_to_user_ptr(args->pointer), sizeof(occupancy)))
		return -EFAULT;
	memcpy(&message.occupancy, occupancy.ask, sizeof(occupancy.ask));
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = tutti_msg_occupancy(file->tdev, &message);
	tutti_exit(file, index);
	if (error)
		return error;
	occupancy.cgas = message.value;
	occupancy.ctas = message.arg[0];
	occupancy.sms = message.arg[1];
	return query_answer(args, &occupancy, sizeof(occupancy));
}

static int tutti_ioctl_query(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct tutti_device *tdev = to_tutti(drm);
	struct drm_tutti_query *args = data;
	struct drm_tutti_state state = {};
	int error = tutti_file_check(df->driver_priv);

	if (!error)
		error = tutti_pm_wait(tdev);
	if (error)
		return error;
	switch (args->what) {
	case DRM_TUTTI_QUERY_DISCOVERY:
		return query_answer(args, &tdev->known, sizeof(tdev->known));
	case DRM_TUTTI_QUERY_STATE:
		fill_state(tdev, &state);
		return query_answer(args, &state, sizeof(state));
	case DRM_TUTTI_QUERY_SM_STATES:
		return query_sm_states(df->driver_priv, args);
	case DRM_TUTTI_QUERY_OCCUPANCY:
		return query_occupancy(df->driver_priv, args);
	default:
		return -EINVAL;
	}
}

/* ---- kick, control ---- */

static int tutti_ioctl_kick(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_kick *args = data;
	int error, index;

	if (args->pad)
		return -EINVAL;
	if (!drm_dev_enter(drm, &index))
		return -ENODEV;
	error = tutti_file_check(df->driver_priv);
	if (!error)
		tutti_kick(to_tutti(drm));
	drm_dev_exit(index);
	return error;
}

static int control_admin(struct tutti_device *tdev, const struct drm_tutti_control *args)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	switch (args->op) {
	case DRM_TUTTI_CONTROL_SM_ENABLE:
		return tutti_msg_sm_enable(tdev, args->arg[0], args->arg[1], args->arg[2]);
	case DRM_TUTTI_CONTROL_POLICY:
		return args->arg[2] ? -EINVAL : tutti_msg_policy(tdev, args->arg[0], args->arg[1]);
	default:
		if (args->arg[0] > DRM_TUTTI_RESET_FUNCTION || args->arg[1] || args->arg[2])
			return -EINVAL;
		tutti_recovery_trigger(tdev, args->arg[0] == DRM_TUTTI_RESET_FUNCTION ?
				       TUTTI_RUNG_FUNCTION : TUTTI_RUNG_FIRMWARE, "reset by request");
		return 0;
	}
}

static int control(struct tutti_file *file, struct drm_tutti_control *args)
{
	switch (args->op) {
	case DRM_TUTTI_CONTROL_COUNTERS:
		if (args->arg[0] || args->arg[1] || args->arg[2])
			return -EINVAL;
		return tutti_msg_counters(file->tdev);
	case DRM_TUTTI_CONTROL_CANCEL:
		return args->arg[2] ? -EINVAL : tutti_queue_cancel(file, args->arg[0], args->arg[1]);
	case DRM_TUTTI_CONTROL_POLICY_ASK:
		return args->arg[2] ? -EINVAL :
				      tutti_msg_policy_ask(file->tdev, args->arg[0], args->arg[1], &args->arg[2]);
	default:
		return control_admin(file->tdev, args);
	}
}

static int tutti_ioctl_control(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_control *args = data;
	struct tutti_file *file = df->driver_priv;
	int error, index;

	if (args->pad || args->op > DRM_TUTTI_CONTROL_POLICY_ASK)
		return -EINVAL;
	error = tutti_enter(file, &index);
	if (error)
		return error;
	error = control(file, args);
	tutti_exit(file, index);
	return error;
}

static const struct drm_ioctl_desc ioctls[] = {
	DRM_IOCTL_DEF_DRV(TUTTI_QUERY, tutti_ioctl_query, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_BO_CREATE, tutti_ioctl_bo_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_BO_INFO, tutti_ioctl_bo_info, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_CONTEXT_CREATE, tutti_ioctl_context_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_CONTEXT_DESTROY, tutti_ioctl_context_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_MAP, tutti_ioctl_map, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_UNMAP, tutti_ioctl_unmap, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_CODE_INVALIDATE, tutti_ioctl_code_invalidate, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_QUEUE_CREATE, tutti_ioctl_queue_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_QUEUE_DESTROY, tutti_ioctl_queue_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_QUEUE_RESET, tutti_ioctl_queue_reset, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_QUEUE_QUERY, tutti_ioctl_queue_query, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_RSB_CREATE, tutti_ioctl_rsb_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_RSB_DESTROY, tutti_ioctl_rsb_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_RSB_INVALIDATE, tutti_ioctl_rsb_invalidate, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_RSB_READ, tutti_ioctl_rsb_read, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_WAIT, tutti_ioctl_wait, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_EVENT, tutti_ioctl_event, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_FENCE, tutti_ioctl_fence, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_KICK, tutti_ioctl_kick, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_CONTROL, tutti_ioctl_control, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(TUTTI_BO_USERPTR, tutti_ioctl_bo_userptr, DRM_RENDER_ALLOW),
};

/* ---- mmap ---- */

/* A private copy of memory that a card writes has no meaning. */
static int tutti_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct drm_file *df = filp->private_data;

	if (is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	if (drm_dev_is_unplugged(df->minor->dev))
		return -ENODEV;
	if (vma->vm_pgoff >= DRM_TUTTI_MMAP_BASE >> PAGE_SHIFT)
		return tutti_view_mmap(df->driver_priv, vma);
	return drm_gem_mmap(filp, vma);
}

/* ---- the node ---- */

/*
 * DRM's own calls that a render node would refuse. An accel node lets them through, and has no
 * master: GET_MAGIC dereferences NULL there (found by tests/conformance/fuzz).
 */
static bool call_refused(struct file *filp, unsigned int cmd)
{
	unsigned int nr = DRM_IOCTL_NR(cmd), flags;

	/* beside a render node there is a primary one, where these calls are at home */
	if (drm_is_primary_client(filp->private_data))
		return false;
	return (nr < DRM_COMMAND_BASE || nr >= DRM_COMMAND_END) && drm_ioctl_flags(nr, &flags) &&
	       !(flags & DRM_RENDER_ALLOW);
}

static long tutti_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	if (cmd == DRM_IOCTL_TUTTI_WAIT && tutti_wait_at_once(filp->private_data, (void __user *)arg))
		return 0;
	return call_refused(filp, cmd) ? -EACCES : drm_ioctl(filp, cmd, arg);
}

#ifdef CONFIG_COMPAT
static long tutti_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return call_refused(filp, cmd) ? -EACCES : drm_compat_ioctl(filp, cmd, arg);
}
#else
#define tutti_compat_ioctl NULL
#endif

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = tutti_drm_open,
	.release = drm_release,
	.unlocked_ioctl = tutti_ioctl,
	.compat_ioctl = tutti_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = tutti_mmap,
	.show_fdinfo = tutti_fop_show_fdinfo,
	TUTTI_FOP_FLAGS
};

const struct drm_driver tutti_drm_driver = {
	.driver_features = DRIVER_GEM | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE | TUTTI_DRIVER_NODE,
	.open = tutti_open,
	.postclose = tutti_postclose,
	.fops = &fops,
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.gem_create_object = tutti_bo_create_object,
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd,
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,
	.gem_prime_import = tutti_bo_import,
	.gem_prime_import_sg_table = drm_gem_shmem_prime_import_sg_table,
	TUTTI_DRIVER_FDINFO
	TUTTI_PRIME_MMAP
	.debugfs_init = tutti_debugfs_init,
	.name = "tutti",
	.desc = "Tutti compute accelerator",
	TUTTI_DRIVER_DATE
	.major = 1,
	.minor = 3,
};
