// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What is done when the system sleeps and wakes, and when an unused card is switched off and on (spec SYS-29). */
#include <linux/pm_runtime.h>

#include "base/delay.h"
#include "card/card.h"
#include "card/gate.h"
#include "driver/sleep.h"
#include "firmware/channel.h"
#include "firmware/fw.h"
#include "firmware/message.h"
#include "firmware/settings.h"
#include "recovery/recovery.h"
#include "recovery/reset.h"
#include "recovery/watchdog.h"

/* ---- sleep of the system ---- */

/* One that is wedged has been stopped already. */
static int tutti_sleep_ask(struct tutti_device *tdev)
{
	int error = tutti_recovery_before_sleep(tdev);

	if (error || atomic_read(&tdev->state) == TUTTI_DEVICE_WEDGED)
		return error;
	return tutti_message_suspend(tdev);
}

/* Processes are frozen already: nothing new comes. What does not end in time is lost with all else. */
static int tutti_sleep_quiesce(struct tutti_device *tdev)
{
	int error = tutti_sleep_ask(tdev);

	if (error != -ETIMEDOUT)
		return error;
	tutti_gate_trigger(tdev, TUTTI_RUNG_FIRMWARE, "work in flight does not end before the system sleeps");
	return tutti_sleep_ask(tdev);
}

static int tutti_sleep_suspend(struct device *dev)
{
	struct tutti_device *tdev = dev_get_drvdata(dev);
	int error;

	if (pm_runtime_suspended(dev))
		return 0;
	tutti_watchdog_stop(tdev);
	error = tutti_sleep_quiesce(tdev);
	if (error)
		tutti_watchdog_start(tdev);
	return error;
}

/* Files are told. */
static void tutti_sleep_lost_power(struct tutti_device *tdev)
{
	tutti_reset_lose_memory(tdev);
	tutti_gate_trigger(tdev, TUTTI_RUNG_FIRMWARE, "the card was off while the system slept");
}

static int tutti_sleep_resume(struct device *dev)
{
	struct tutti_device *tdev = dev_get_drvdata(dev);

	if (pm_runtime_suspended(dev))
		return 0;
	tutti_card_save(tdev);
	if (atomic_read(&tdev->state) != TUTTI_DEVICE_RUNNING)
		goto start;
	if (tutti_status(tdev, state) == TUTTI_STATE_RUNNING &&
	    tutti_status(tdev, boot_sequence) == tdev->boot_sequence)
		tutti_message_resume(tdev);
	else
		tutti_sleep_lost_power(tdev);
start:
	tutti_watchdog_start(tdev);
	return 0;
}

/* ---- while nobody has it open ---- */

/* Not while it is being reset, which needs it awake: tried again when it has been unused for as long again. */
static int tutti_sleep_not_now(struct tutti_device *tdev)
{
	pm_runtime_mark_last_busy(tdev->drm.dev);
	tutti_watchdog_start(tdev);
	return -EBUSY;
}

/* Claimed meanwhile: a reset that begins later would find no card. */
static int tutti_sleep_runtime_suspend(struct device *dev)
{
	struct tutti_device *tdev = dev_get_drvdata(dev);
	bool stopped;

	tutti_delay(TUTTI_DELAY_sleep);
	tutti_watchdog_stop(tdev);
	tutti_recovery_flush_kills(tdev);
	tutti_delay(TUTTI_DELAY_sleep_claim);
	if (!tutti_gate_claim(tdev, TUTTI_DEVICE_RUNNING))
		return atomic_read(&tdev->state) == TUTTI_DEVICE_WEDGED ? 0 : tutti_sleep_not_now(tdev);
	stopped = tutti_reset_stop(tdev);
	tutti_gate_release(tdev);
	if (stopped)
		return 0;
	tutti_gate_trigger(tdev, TUTTI_RUNG_FUNCTION, "the card does not stop");
	return tutti_sleep_not_now(tdev);
}

static void tutti_sleep_wake(struct tutti_device *tdev)
{
	int error = tutti_fw_boot(tdev);

	if (!error)
		tutti_channel_open(tdev);
	tutti_gate_release(tdev);
	if (error)
		tutti_gate_trigger(tdev, TUTTI_RUNG_FUNCTION, "the card does not wake up");
	else /* a firmware that does not answer has already caused a reset, which tells the next one */
		tutti_settings_restore(tdev);
}

static int tutti_sleep_runtime_resume(struct device *dev)
{
	struct tutti_device *tdev = dev_get_drvdata(dev);

	tutti_card_save(tdev);
	if (tutti_gate_claim(tdev, TUTTI_DEVICE_RUNNING))
		tutti_sleep_wake(tdev);
	tutti_watchdog_start(tdev);
	return 0;
}

const struct dev_pm_ops tutti_sleep_ops = {
	SYSTEM_SLEEP_PM_OPS(tutti_sleep_suspend, tutti_sleep_resume)
	RUNTIME_PM_OPS(tutti_sleep_runtime_suspend, tutti_sleep_runtime_resume, NULL)
};
