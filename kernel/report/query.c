// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What user space may ask of the card: discovery data, state, what single SMs do. */
#include <linux/capability.h>
#include <linux/uaccess.h>

#include "card/gate.h"
#include "card/power.h"
#include "firmware/message.h"
#include "report/query.h"

static void tutti_query_fill_state(struct tutti_device *tdev, struct drm_tutti_state *state)
{
	state->generation = atomic64_read(&tdev->generation);
	state->firmware_version = READ_ONCE(tdev->firmware_version);
	state->boot_sequence = READ_ONCE(tdev->boot_sequence);
	state->status_offset = tdev->known.status.offset;
	state->counters_offset = tdev->known.counters.offset;
	state->vectors = tdev->vectors;
}

static int tutti_query_answer(struct drm_tutti_query *args, const void *from, u32 size)
{
	if (copy_to_user(u64_to_user_ptr(args->pointer), from, min(size, args->size)))
		return -EFAULT;
	args->size = size;
	return 0;
}

/* @update: the firmware brings the table up to date first. */
static int tutti_query_read_table(struct tutti_file *file, void *to, u32 offset, u32 size, bool update)
{
	struct tutti_device *tdev = file->tdev;
	int index, error = tutti_gate_enter(file, &index);

	if (error)
		return error;
	if (update)
		error = tutti_message_counters(tdev);
	if (!error)
		memcpy_fromio(to, tdev->window + offset, size);
	tutti_gate_exit(file, index);
	return error;
}

/* By a copy: user memory may take for ever, and a reset does not wait for it. */
static int tutti_query_table(struct tutti_file *file, struct drm_tutti_query *args, u32 offset, u32 size, bool update)
{
	void *copy = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	int error;

	if (!copy)
		return -ENOMEM;
	error = tutti_query_read_table(file, copy, offset, size, update);
	if (!error)
		error = tutti_query_answer(args, copy, size);
	kvfree(copy);
	return error;
}

static int tutti_query_sm_states(struct tutti_file *file, struct drm_tutti_query *args)
{
	const struct tutti_discovery *known = &file->tdev->known;
	u32 size = known->sms * sizeof(struct tutti_sm_state);

	if (!perfmon_capable())
		return -EACCES;
	if (known->sm_states.bytes < size)
		return -EOPNOTSUPP;
	return tutti_query_table(file, args, known->sm_states.offset, size, true);
}

static int tutti_query_sm_places(struct tutti_file *file, struct drm_tutti_query *args)
{
	const struct tutti_discovery *known = &file->tdev->known;
	u32 size = known->sms * sizeof(struct tutti_sm_place);

	if (known->sm_table.bytes < size)
		return -EOPNOTSUPP;
	return tutti_query_table(file, args, known->sm_table.offset, size, false);
}

int tutti_query_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct tutti_device *tdev = to_tutti(drm);
	struct drm_tutti_query *args = data;
	struct drm_tutti_state state = {};
	int error = tutti_gate_check(df->driver_priv);

	if (!error)
		error = tutti_power_wait(tdev);
	if (error)
		return error;
	switch (args->what) {
	case DRM_TUTTI_QUERY_DISCOVERY:
		return tutti_query_answer(args, &tdev->known, sizeof(tdev->known));
	case DRM_TUTTI_QUERY_STATE:
		tutti_query_fill_state(tdev, &state);
		return tutti_query_answer(args, &state, sizeof(state));
	case DRM_TUTTI_QUERY_SM_PLACES:
		return tutti_query_sm_places(df->driver_priv, args);
	case DRM_TUTTI_QUERY_SM_STATES:
		return tutti_query_sm_states(df->driver_priv, args);
	default:
		return -EINVAL;
	}
}
