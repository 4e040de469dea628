// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * When the firmware is not well (spec SYS-28). Rungs: the firmware stops a queue that has an
 * error, and its owner resets or destroys it; everything above is one work item here:
 * dump, revoke, reload the firmware, tell everybody. After three failures in a row the
 * card is wedged: calls fail at once until a reset by hand (sysfs) works again.
 */
#include <linux/devcoredump.h>
#include <linux/moduleparam.h>
#include <linux/vmalloc.h>

#include "tutti_device.h"

#define WATCHDOG_PERIOD msecs_to_jiffies(500)
#define FAILURES_MAX 3u

static uint heartbeat_timeout_ms = 5000;
module_param(heartbeat_timeout_ms, uint, 0644);
MODULE_PARM_DESC(heartbeat_timeout_ms, "no heartbeat for so long while awake = hung (5000)");

/** tutti_recovery_trigger() - the only door to a reset; from anywhere, any number of times. */
void tutti_recovery_trigger(struct tutti_device *tdev, const char *why)
{
	if (atomic_cmpxchg(&tdev->state, TUTTI_DEVICE_RUNNING, TUTTI_DEVICE_RESETTING) != TUTTI_DEVICE_RUNNING)
		return;
	drm_err(&tdev->drm, "%s: resetting the card\n", why);
	schedule_work(&tdev->reset_work);
}

/* Text, so that any editor reads it; `crash` has the registers. */
static void coredump(struct tutti_device *tdev)
{
	const struct tutti_discovery *known = &tdev->known;
	u32 log_bytes = known->log.bytes - sizeof(struct tutti_log), i;
	struct tutti_crash crash;
	size_t room = log_bytes + 4096, n;
	char *text = vzalloc(room), *log;

	if (!text)
		return;
	memcpy_fromio(&crash, tdev->window + known->crash.offset, sizeof(crash));
	n = scnprintf(text, room, "tutti firmware %#x boot %u state %u asleep %u heartbeat %u\n",
		      tdev->firmware_version, tdev->boot_sequence, tutti_status(tdev, state),
		      tutti_status(tdev, asleep), tutti_status(tdev, heartbeat));
	n += scnprintf(text + n, room - n, "rings: host %u of %u, card %u of %u\n",
		       tutti_status(tdev, host_ring_head), readl(tutti_control_at(tdev, host_ring_tail)),
		       readl(tutti_control_at(tdev, card_ring_head)), tutti_status(tdev, card_ring_tail));
	n += scnprintf(text + n, room - n,
		       "crash: cause %u code %u pc %#x ra %#x sp %#x tval %#x queue %d packet %llu\n%.63s\n",
		       crash.cause, crash.cause_code, crash.pc, crash.ra, crash.sp, crash.tval, (int)crash.queue,
		       crash.packet, crash.text);
	for (i = 0; i < 32; i++)
		n += scnprintf(text + n, room - n, "x%u %#x\n", i, crash.x[i]);
	n += scnprintf(text + n, room - n, "log:\n");
	log = text + n;
	memcpy_fromio(log, tdev->window + known->log.offset + sizeof(struct tutti_log),
		      min_t(size_t, log_bytes, room - n - 1));
	for (i = 0; i < min_t(size_t, log_bytes, room - n - 1); i++)
		if (!log[i])
			log[i] = ' ';
	dev_coredumpv(tdev->drm.dev, text, n + strlen(log), GFP_KERNEL);
}

static void notify_wedged(struct tutti_device *tdev)
{
	char *event[] = { "WEDGED=reset", NULL };

	kobject_uevent_env(&tdev->drm.dev->kobj, KOBJ_CHANGE, event);
}

static void reset_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, reset_work);
	int error = -EIO, index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return;
	coredump(tdev);
	tutti_device_pre_reset(tdev);
	while (error && tdev->failed_resets < FAILURES_MAX && error != -ENODEV) {
		error = tutti_device_post_reset(tdev);
		tdev->failed_resets = error ? tdev->failed_resets + 1 : 0;
	}
	tdev->resets++;
	if (error)
		drm_err(&tdev->drm, "the card is wedged (%d)\n", error);
	else
		drm_info(&tdev->drm, "the card works again (reset %u)\n", tdev->resets);
	atomic_set(&tdev->state, error ? TUTTI_DEVICE_WEDGED : TUTTI_DEVICE_RUNNING);
	up_write(&tdev->reset_sem); /* taken by pre_reset */
	if (error)
		notify_wedged(tdev);
	wake_up_all(&tdev->wait);
	drm_dev_exit(index);
}

static bool has_doorbell(struct tutti_device *tdev)
{
	bool any = false;
	u32 i;

	spin_lock(&tdev->objects_lock);
	for (i = 0; i < tdev->known.max_queues && !any; i++)
		any = tdev->queue_by_id[i] &&
		      readq(tdev->window + tdev->known.doorbells.offset + i * TUTTI_PAGE_SIZE) !=
		      TUTTI_DOORBELL_EMPTY;
	spin_unlock(&tdev->objects_lock);
	return any;
}

static void watch(struct tutti_device *tdev)
{
	u64 beat = readq(tdev->window + tdev->known.status.offset + offsetof(struct tutti_status, heartbeat));
	u32 state = tutti_status(tdev, state);

	tutti_channel_poll(tdev); /* an interrupt may be lost */
	if (state != TUTTI_STATE_RUNNING) {
		tutti_recovery_trigger(tdev, state == TUTTI_STATE_CRASHED ? "the firmware has crashed"
									   : "the card does not run");
	} else if (beat != tdev->beat || tutti_status(tdev, asleep)) {
		tdev->beat = beat;
		tdev->beat_seen = jiffies;
		/* as may be a kick */
		if (tutti_status(tdev, asleep) && has_doorbell(tdev))
			tutti_kick(tdev);
	} else if (time_after(jiffies, tdev->beat_seen + msecs_to_jiffies(heartbeat_timeout_ms))) {
		tutti_recovery_trigger(tdev, "no heartbeat");
	}
}

static void watchdog(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, watchdog.work);
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return;
	if (atomic_read(&tdev->state) == TUTTI_DEVICE_RUNNING)
		watch(tdev);
	queue_delayed_work(system_wq, &tdev->watchdog, WATCHDOG_PERIOD);
	drm_dev_exit(index);
}

void tutti_recovery_init(struct tutti_device *tdev)
{
	INIT_WORK(&tdev->reset_work, reset_work);
	INIT_DELAYED_WORK(&tdev->watchdog, watchdog);
}

void tutti_recovery_start(struct tutti_device *tdev)
{
	tdev->beat_seen = jiffies;
	queue_delayed_work(system_wq, &tdev->watchdog, WATCHDOG_PERIOD);
}

void tutti_recovery_stop(struct tutti_device *tdev)
{
	cancel_delayed_work_sync(&tdev->watchdog);
	cancel_work_sync(&tdev->reset_work);
}
