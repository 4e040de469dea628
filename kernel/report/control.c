// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Kicks, and what concerns the card as a whole: policies, SMs that are on, counters, resets (spec SYS-29, SYS-30). */
#include <linux/capability.h>

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

static int tutti_control_dispatch_admin(struct tutti_device *tdev, const struct drm_tutti_control *args)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	switch (args->op) {
	case DRM_TUTTI_CONTROL_SM_ENABLE:
		return tutti_settings_sm_enable(tdev, args->arg[0], args->arg[1], args->arg[2]);
	case DRM_TUTTI_CONTROL_POLICY:
		return args->arg[2] ? -EINVAL : tutti_settings_policy(tdev, args->arg[0], args->arg[1]);
	default:
		if (args->arg[0] > DRM_TUTTI_RESET_FUNCTION || args->arg[1] || args->arg[2])
			return -EINVAL;
		tutti_gate_request(tdev, args->arg[0] == DRM_TUTTI_RESET_FUNCTION ? TUTTI_RUNG_FUNCTION :
										    TUTTI_RUNG_FIRMWARE);
		return 0;
	}
}

static int tutti_control_dispatch(struct tutti_file *file, struct drm_tutti_control *args)
{
	switch (args->op) {
	case DRM_TUTTI_CONTROL_COUNTERS:
		if (args->arg[0] || args->arg[1] || args->arg[2])
			return -EINVAL;
		return tutti_message_counters(file->tdev);
	case DRM_TUTTI_CONTROL_CANCEL:
		return args->arg[2] ? -EINVAL : tutti_queue_cancel(file, args->arg[0], args->arg[1]);
	case DRM_TUTTI_CONTROL_POLICY_ASK:
		return args->arg[2] ? -EINVAL
				    : tutti_message_policy_ask(file->tdev, args->arg[0], args->arg[1], &args->arg[2]);
	default:
		return tutti_control_dispatch_admin(file->tdev, args);
	}
}

int tutti_control_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_control *args = data;
	struct tutti_file *file = df->driver_priv;
	int error, index;

	if (args->pad || args->op > DRM_TUTTI_CONTROL_POLICY_ASK)
		return -EINVAL;
	error = tutti_gate_enter(file, &index);
	if (error)
		return error;
	error = tutti_control_dispatch(file, args);
	tutti_gate_exit(file, index);
	return error;
}
