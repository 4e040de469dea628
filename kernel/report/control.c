// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Kicks, cancelling, and what concerns the card as a whole: policies, SMs that are on, counters, resets (SYS-30). */
#include <linux/capability.h>
#include <linux/nospec.h>

#include "card/card.h"
#include "card/gate.h"
#include "card/power.h"
#include "firmware/message.h"
#include "firmware/settings.h"
#include "objects/queue.h"
#include "report/control.h"

int tutti_control_kick_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_kick *args = data;
	int error, index;

	if (args->pad)
		return -EINVAL;
	if (!drm_dev_enter(drm, &index))
		return -ENODEV;
	error = tutti_gate_check(df->driver_priv);
	if (!error)
		error = tutti_power_wait(to_tutti(drm));
	if (!error)
		tutti_card_kick(to_tutti(drm));
	drm_dev_exit(index);
	return error;
}

/* What every call here begins with; tutti_gate_exit() ends it. @well_formed: its pads are zero. */
static int tutti_control_enter(struct drm_file *df, bool well_formed, int *index)
{
	return well_formed ? tutti_gate_enter(df->driver_priv, index) : -EINVAL;
}

/* For what is the administrator's alone. */
static int tutti_control_enter_admin(struct drm_file *df, bool well_formed, int *index)
{
	int error = tutti_control_enter(df, well_formed, index);

	if (error || capable(CAP_SYS_ADMIN))
		return error;
	tutti_gate_exit(df->driver_priv, *index);
	return -EACCES;
}

int tutti_control_counters_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_counters *args = data;
	int index, error = tutti_control_enter(df, !args->pad, &index);

	if (error)
		return error;
	error = tutti_message_counters(to_tutti(drm));
	tutti_gate_exit(df->driver_priv, index);
	return error;
}

int tutti_control_task_cancel_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_task_cancel *args = data;
	int index, error = tutti_control_enter(df, !args->pad, &index);

	if (error)
		return error;
	error = tutti_queue_cancel(df->driver_priv, args->handle, args->packet);
	tutti_gate_exit(df->driver_priv, index);
	return error;
}

int tutti_control_sm_enable_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_sm_enable *args = data;
	int index, error = tutti_control_enter_admin(df, !args->pad, &index);

	if (error)
		return error;
	error = args->enable > 1 ? -EINVAL :
				   tutti_settings_sm_enable(to_tutti(drm), args->first, args->count, args->enable);
	tutti_gate_exit(df->driver_priv, index);
	return error;
}

int tutti_control_policy_set_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_policy *args = data;
	int index, error = tutti_control_enter_admin(df, true, &index);

	if (error)
		return error;
	error = tutti_settings_policy(to_tutti(drm), args->policy, args->which, args->value);
	tutti_gate_exit(df->driver_priv, index);
	return error;
}

int tutti_control_policy_get_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_policy *args = data;
	int index, error = tutti_control_enter(df, true, &index);

	if (error)
		return error;
	error = tutti_settings_possible(args->policy, args->which, 0) ?
			tutti_message_policy_ask(to_tutti(drm), args->policy, args->which, &args->value) : -EINVAL;
	tutti_gate_exit(df->driver_priv, index);
	return error;
}

int tutti_control_reset_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	static const enum tutti_rung rungs[] = {
		[DRM_TUTTI_RESET_FIRMWARE] = TUTTI_RUNG_FIRMWARE,
		[DRM_TUTTI_RESET_FUNCTION] = TUTTI_RUNG_FUNCTION,
	};
	struct drm_tutti_reset *args = data;
	int index, error = tutti_control_enter_admin(df, !args->pad, &index);

	if (error)
		return error;
	if (args->rung < ARRAY_SIZE(rungs))
		tutti_gate_request(to_tutti(drm), rungs[array_index_nospec(args->rung, ARRAY_SIZE(rungs))]);
	else
		error = -EINVAL;
	tutti_gate_exit(df->driver_priv, index);
	return error;
}

/* The question in the firmware's words; false if it has no word for it. */
static bool tutti_control_occupancy_ask(const struct drm_tutti_occupancy *args, struct tutti_msg_occupancy *ask)
{
	u32 wide = args->waves | args->scalar_blocks | args->vector_blocks | args->shared_blocks | args->barriers;
	int i;

	BUILD_BUG_ON(DRM_TUTTI_CGA_LEVELS != TUTTI_CGA_LEVELS);
	*ask = (struct tutti_msg_occupancy){
		.waves = args->waves, .scalar_blocks = args->scalar_blocks, .vector_blocks = args->vector_blocks,
		.shared_blocks = args->shared_blocks, .barriers = args->barriers,
		.mode = args->mode, .lmem = args->lmem,
	};
	for (i = 0; i < TUTTI_CGA_LEVELS; i++) {
		const struct drm_tutti_cga *cga = &args->cga[i];

		wide |= cga->x | cga->y | cga->z | cga->kind;
		ask->cga[i] = (struct tutti_cga_shape){ .x = cga->x, .y = cga->y, .z = cga->z, .kind = cga->kind };
	}
	return wide <= U16_MAX && args->mode <= U8_MAX && args->lmem <= U8_MAX;
}

int tutti_control_occupancy_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_occupancy *args = data;
	struct tutti_message message = {};
	bool good = tutti_control_occupancy_ask(args, &message.occupancy);
	int index, error = tutti_control_enter(df, good && !args->pad, &index);

	if (error)
		return error;
	error = tutti_message_occupancy(to_tutti(drm), &message);
	tutti_gate_exit(df->driver_priv, index);
	if (error)
		return error;
	args->cgas = message.value;
	args->ctas = message.arg[0];
	args->sms = message.arg[1];
	return 0;
}
