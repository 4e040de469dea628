// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Who needs the card awake (spec SYS-29). An unused card is switched off by runtime PM, if power/control says "auto";
 * as with any PCI device it says "on" at first. What is done when it sleeps and wakes is in driver/sleep.c.
 */
#include <linux/moduleparam.h>
#include <linux/pm_runtime.h>

#include "base/compat.h"
#include "card/power.h"

static uint autosuspend_ms = 2000;
module_param(autosuspend_ms, uint, 0444);
MODULE_PARM_DESC(autosuspend_ms, "an unused card is switched off after so long, if power/control is auto (2000)");

/** tutti_power_start() - the end of probe: the card may sleep from now on. */
void tutti_power_start(struct tutti_device *tdev)
{
	struct device *dev = tdev->drm.dev;

	pm_runtime_set_autosuspend_delay(dev, autosuspend_ms);
	pm_runtime_use_autosuspend(dev);
	pm_runtime_mark_last_busy(dev);
	pm_runtime_put_autosuspend(dev);
}

/** tutti_power_stop() - undo tutti_power_start(); the card is left awake. */
void tutti_power_stop(struct tutti_device *tdev)
{
	pm_runtime_get_noresume(tdev->drm.dev);
	pm_runtime_dont_use_autosuspend(tdev->drm.dev);
}

/** tutti_power_get() - the card is awake, or will be; does not wait for it. */
int tutti_power_get(struct tutti_device *tdev)
{
	int error = pm_runtime_get(tdev->drm.dev);

	if (error >= 0 || error == -EINPROGRESS || error == -EACCES)
		return 0;
	pm_runtime_put_noidle(tdev->drm.dev);
	return error;
}

/** tutti_power_hold() - wake the card if possible, and keep it awake until tutti_power_put(). */
void tutti_power_hold(struct tutti_device *tdev)
{
	pm_runtime_get_sync(tdev->drm.dev); /* the reference is taken even if waking fails */
}

void tutti_power_put(struct tutti_device *tdev)
{
	pm_runtime_mark_last_busy(tdev->drm.dev);
	pm_runtime_put_autosuspend(tdev->drm.dev);
}

/** tutti_power_wait() - until the card is awake, which it has been asked to be. */
int tutti_power_wait(struct tutti_device *tdev)
{
	/* the core's locks are not needed: a card that is awake stays so for who has asked */
	int error = data_race(pm_runtime_active(tdev->drm.dev)) ? 0 : pm_runtime_resume(tdev->drm.dev);

	return error < 0 ? error : 0;
}

/** tutti_power_get_if_on() - for who only looks: keeps a card awake that is. False: it sleeps, or is about to. */
bool tutti_power_get_if_on(struct tutti_device *tdev)
{
	return !IS_ENABLED(CONFIG_PM) || tutti_pm_get_if_active(tdev->drm.dev) > 0;
}

/** tutti_power_put_unused() - undo tutti_power_get_if_on(). To be looked at is not to be used: it sleeps as soon. */
void tutti_power_put_unused(struct tutti_device *tdev)
{
	/* newer kernels' pm_runtime_put_autosuspend() marks the device as used now */
	__pm_runtime_suspend(tdev->drm.dev, RPM_GET_PUT | RPM_ASYNC | RPM_AUTO);
}
