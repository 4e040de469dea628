// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Sleep of the system, and of the card while nobody has it open (spec SYS-29). Runtime PM
 * is off until power/control says "auto", as with any PCI device.
 */
#include <linux/moduleparam.h>
#include <linux/pm_runtime.h>

#include "tutti_device.h"

static uint autosuspend_ms = 2000;
module_param(autosuspend_ms, uint, 0444);
MODULE_PARM_DESC(autosuspend_ms, "an unused card is switched off after so long, if power/control is auto (2000)");

/* ---- sleep of the system ---- */

/* Processes are frozen already: nothing new comes. What does not end in time is lost with all else. */
static int quiesce(struct tutti_device *tdev)
{
	int error = tutti_msg_suspend(tdev);

	if (error != -ETIMEDOUT)
		return error;
	tutti_recovery_trigger(tdev, TUTTI_RUNG_FIRMWARE, "work in flight does not end before the system sleeps");
	tutti_recovery_pause(tdev);
	return atomic_read(&tdev->state) == TUTTI_DEVICE_RUNNING ? tutti_msg_suspend(tdev) : 0;
}

static int tutti_pm_suspend(struct device *dev)
{
	struct tutti_device *tdev = dev_get_drvdata(dev);
	int error;

	if (pm_runtime_suspended(dev))
		return 0;
	tutti_recovery_pause(tdev);
	if (atomic_read(&tdev->state) != TUTTI_DEVICE_RUNNING)
		return 0;
	error = quiesce(tdev);
	if (error)
		tutti_recovery_start(tdev);
	return error;
}

/* Files are told. */
static void lost_power(struct tutti_device *tdev)
{
	atomic64_inc(&tdev->memory_generation);
	tutti_recovery_trigger(tdev, TUTTI_RUNG_FIRMWARE, "the card was off while the system slept");
}

static int tutti_pm_resume(struct device *dev)
{
	struct tutti_device *tdev = dev_get_drvdata(dev);

	if (pm_runtime_suspended(dev))
		return 0;
	if (atomic_read(&tdev->state) != TUTTI_DEVICE_RUNNING)
		goto start;
	if (tutti_status(tdev, state) == TUTTI_STATE_RUNNING &&
	    tutti_status(tdev, boot_sequence) == tdev->boot_sequence)
		tutti_msg_resume(tdev);
	else
		lost_power(tdev);
start:
	tutti_recovery_start(tdev);
	return 0;
}

/* ---- while nobody has it open ---- */

static int tutti_pm_runtime_suspend(struct device *dev)
{
	struct tutti_device *tdev = dev_get_drvdata(dev);

	tutti_recovery_pause(tdev);
	if (atomic_read(&tdev->state) == TUTTI_DEVICE_RUNNING)
		tutti_device_stop(tdev);
	return 0;
}

static int tutti_pm_runtime_resume(struct device *dev)
{
	struct tutti_device *tdev = dev_get_drvdata(dev);
	int error;

	if (atomic_read(&tdev->state) != TUTTI_DEVICE_RUNNING)
		goto start;
	error = tutti_fw_boot(tdev);
	if (error)
		tutti_recovery_trigger(tdev, TUTTI_RUNG_FUNCTION, "the card does not wake up");
	else
		tutti_channel_post_reset(tdev);
start:
	tutti_recovery_start(tdev);
	return 0;
}

const struct dev_pm_ops tutti_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(tutti_pm_suspend, tutti_pm_resume)
	RUNTIME_PM_OPS(tutti_pm_runtime_suspend, tutti_pm_runtime_resume, NULL)
};

/* ---- users ---- */

/** tutti_pm_start() - the end of probe: the card may sleep from now on. */
void tutti_pm_start(struct tutti_device *tdev)
{
	struct device *dev = tdev->drm.dev;

	pm_runtime_set_autosuspend_delay(dev, autosuspend_ms);
	pm_runtime_use_autosuspend(dev);
	pm_runtime_mark_last_busy(dev);
	pm_runtime_put_autosuspend(dev);
}

/** tutti_pm_stop() - undo tutti_pm_start(); the card is left awake. */
void tutti_pm_stop(struct tutti_device *tdev)
{
	pm_runtime_get_noresume(tdev->drm.dev);
	pm_runtime_dont_use_autosuspend(tdev->drm.dev);
}

/** tutti_pm_get() - the card is awake, or will be; does not wait for it. */
int tutti_pm_get(struct tutti_device *tdev)
{
	int error = pm_runtime_get(tdev->drm.dev);

	if (error >= 0 || error == -EINPROGRESS || error == -EACCES)
		return 0;
	pm_runtime_put_noidle(tdev->drm.dev);
	return error;
}

void tutti_pm_put(struct tutti_device *tdev)
{
	pm_runtime_mark_last_busy(tdev->drm.dev);
	pm_runtime_put_autosuspend(tdev->drm.dev);
}

/** tutti_pm_wait() - until the card is awake, which it has been asked to be. */
int tutti_pm_wait(struct tutti_device *tdev)
{
	int error = pm_runtime_active(tdev->drm.dev) ? 0 : pm_runtime_resume(tdev->drm.dev);

	return error < 0 ? error : 0;
}

/** tutti_pm_is_awake() - registers can be read, with luck: for who only looks. */
bool tutti_pm_is_awake(struct tutti_device *tdev)
{
	return !pm_runtime_suspended(tdev->drm.dev);
}
