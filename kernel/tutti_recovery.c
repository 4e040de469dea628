// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * When something is not well (spec SYS-28): the recovery ladder. Queue: the firmware stops a
 * queue that has an error, and its owner resets or destroys it. Context: all of one address
 * space is killed, nobody else notices. Firmware: reloaded; no context survives, memory does.
 * Function: reset of the PCI function, card memory is lost too. Wedged: calls fail at once
 * until a reset by hand works again.
 *
 * A rung that does not hold leads to the next; so do queue errors without end (context) and
 * reloads without end (function). By hand each is reached through the attribute card_reset.
 */
#include <linux/moduleparam.h>

#include "tutti_context.h"
#include "tutti_queue.h"
#include "tutti_trace.h"

#define WATCHDOG_PERIOD msecs_to_jiffies(500)
#define RELOADS_MAX 3u
#define RELOADS_JIFFIES (10 * HZ)

static uint heartbeat_timeout_ms = 5000;
module_param(heartbeat_timeout_ms, uint, 0644);
MODULE_PARM_DESC(heartbeat_timeout_ms, "no heartbeat for so long while awake = hung (5000)");

static const char *rung_name(enum tutti_rung rung)
{
	static const char *const names[] = {
		[TUTTI_RUNG_CONTEXT] = "context kill",
		[TUTTI_RUNG_FIRMWARE] = "firmware reload",
		[TUTTI_RUNG_FUNCTION] = "function-level reset",
		[TUTTI_RUNG_WEDGED] = "wedged",
	};

	return names[rung];
}

/* ---- the context rung ---- */

/** tutti_recovery_context() - the context shall be killed. From any thread, with any lock held. */
void tutti_recovery_context(struct tutti_context *context, const char *why)
{
	struct tutti_device *tdev = context->base.tdev;
	bool news;

	spin_lock(&tdev->objects_lock);
	news = !context->doomed;
	context->doomed = true;
	spin_unlock(&tdev->objects_lock);
	if (!news)
		return;
	drm_err(&tdev->drm, "context %u: %s: killing it\n", context->base.id, why);
	schedule_work(&tdev->context_work);
}

static bool fits_doomed(struct tutti_object *object, const void *with)
{
	return to_context(object)->doomed && !to_context(object)->lost;
}

static void kill_doomed(struct tutti_device *tdev, struct tutti_context *context)
{
	/* a firmware that is dead needs more than this */
	int error = tutti_msg_ping(tdev, context->base.id);

	if (!error)
		error = tutti_context_kill(context);
	trace_tutti_rung(TUTTI_RUNG_CONTEXT, error);
	if (!error)
		tdev->rungs[TUTTI_RUNG_CONTEXT]++;
	else if (error != -EIO && error != -ENODEV)
		tutti_recovery_trigger(tdev, TUTTI_RUNG_FIRMWARE, "a context cannot be killed");
}

static void context_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, context_work);
	struct tutti_object *object;
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return;
	down_read(&tdev->reset_sem);
	while (atomic_read(&tdev->state) == TUTTI_DEVICE_RUNNING &&
	       (object = tutti_object_first(tdev, TUTTI_CONTEXT, fits_doomed, NULL))) {
		kill_doomed(tdev, to_context(object));
		tutti_object_put(object);
	}
	up_read(&tdev->reset_sem);
	drm_dev_exit(index);
}

/** tutti_recovery_unanswered() - the firmware has not answered a message. */
void tutti_recovery_unanswered(struct tutti_device *tdev, u32 type, u64 arg)
{
	struct tutti_object *queue;

	switch (type) {
	case TUTTI_MSG_SUSPEND: /* who asks knows what to do */
		return;
	case TUTTI_MSG_QUEUE_DESTROY:
	case TUTTI_MSG_QUEUE_RESET:
	case TUTTI_MSG_TASK_CANCEL:
		queue = tutti_object_find(tdev, TUTTI_QUEUE, arg);
		if (!queue)
			break;
		tutti_recovery_context(tutti_queue_context(to_queue(queue)), "a queue does not come to an end");
		tutti_object_put(queue);
		return;
	}
	tutti_recovery_trigger(tdev, TUTTI_RUNG_FIRMWARE, "the firmware does not answer");
}

/* ---- the rungs above ---- */

static bool begin(struct tutti_device *tdev, enum tutti_state from)
{
	return atomic_cmpxchg(&tdev->state, from, TUTTI_DEVICE_RESETTING) == from;
}

/* A card whose firmware dies again and again may need more than a reload. */
static enum tutti_rung first_rung(struct tutti_device *tdev)
{
	if (tdev->rung != TUTTI_RUNG_FIRMWARE)
		return tdev->rung;
	if (time_after(jiffies, tdev->reload_at + RELOADS_JIFFIES))
		tdev->reloads = 0;
	tdev->reload_at = jiffies;
	return ++tdev->reloads > RELOADS_MAX ? TUTTI_RUNG_FUNCTION : TUTTI_RUNG_FIRMWARE;
}

/** tutti_recovery_trigger() - the only door to a reset; from anywhere, any number of times. */
void tutti_recovery_trigger(struct tutti_device *tdev, enum tutti_rung rung, const char *why)
{
	if (!begin(tdev, TUTTI_DEVICE_RUNNING))
		return;
	tdev->rung = rung;
	drm_err(&tdev->drm, "%s: resetting the card\n", why);
	schedule_work(&tdev->reset_work);
}

static int climb(struct tutti_device *tdev, enum tutti_rung rung)
{
	int error = 0;

	drm_info(&tdev->drm, "recovery: %s\n", rung_name(rung));
	if (rung == TUTTI_RUNG_FUNCTION)
		error = tutti_pci_reset(tdev);
	return error ? error : tutti_device_post_reset(tdev);
}

/* The rung that did it. */
static enum tutti_rung climb_from(struct tutti_device *tdev, enum tutti_rung rung)
{
	int error = 0;

	for (; rung < TUTTI_RUNG_WEDGED && error != -ENODEV; rung++) {
		error = climb(tdev, rung);
		trace_tutti_rung(rung, error);
		if (!error)
			return rung;
		drm_err(&tdev->drm, "%s does not help (%d)\n", rung_name(rung), error);
	}
	trace_tutti_rung(TUTTI_RUNG_WEDGED, error);
	if (error != -ENODEV)
		tutti_fw_stop(tdev); /* what it may still do, it shall not */
	return TUTTI_RUNG_WEDGED;
}

static void notify_wedged(struct tutti_device *tdev)
{
	char *event[] = { "WEDGED=reset", NULL };

	kobject_uevent_env(&tdev->drm.dev->kobj, KOBJ_CHANGE, event);
}

/* Gives back what tutti_device_pre_reset() took. */
static void finish(struct tutti_device *tdev, enum tutti_rung rung)
{
	bool wedged = rung == TUTTI_RUNG_WEDGED;

	tdev->resets++;
	tdev->rungs[rung]++;
	if (wedged)
		drm_err(&tdev->drm, "the card is wedged\n");
	else
		drm_info(&tdev->drm, "the card works again (reset %u)\n", tdev->resets);
	tdev->beat_seen = jiffies;
	atomic_set(&tdev->state, wedged ? TUTTI_DEVICE_WEDGED : TUTTI_DEVICE_RUNNING);
	up_write(&tdev->reset_sem);
	if (wedged)
		notify_wedged(tdev);
	wake_up_all(&tdev->wait);
}

static void reset_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, reset_work);
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return;
	tutti_dump(tdev);
	tutti_device_pre_reset(tdev);
	finish(tdev, climb_from(tdev, first_rung(tdev)));
	drm_dev_exit(index);
}

/**
 * tutti_recovery_by_hand() - by root; a wedged card too: that is what it is for.
 * @tdev: device
 * @rung: where to begin; TUTTI_RUNG_WEDGED: give the card up
 *
 * Return: 0 if afterwards all is as wished, else -EIO.
 */
int tutti_recovery_by_hand(struct tutti_device *tdev, enum tutti_rung rung)
{
	enum tutti_state wished = rung == TUTTI_RUNG_WEDGED ? TUTTI_DEVICE_WEDGED : TUTTI_DEVICE_RUNNING;

	if (begin(tdev, TUTTI_DEVICE_RUNNING) || begin(tdev, TUTTI_DEVICE_WEDGED)) {
		tdev->rung = rung;
		tdev->reloads = 0;
		drm_info(&tdev->drm, "reset by hand\n");
		tutti_fw_read(tdev); /* there may be a new one */
		schedule_work(&tdev->reset_work);
	}
	flush_work(&tdev->reset_work);
	return atomic_read(&tdev->state) == wished ? 0 : -EIO;
}

/* ---- a reset of the PCI function ---- */

/** tutti_recovery_reset_prepare() - somebody else resets the function (sysfs); or we do. */
void tutti_recovery_reset_prepare(struct tutti_device *tdev)
{
	if (tdev->resetter == current)
		return;
	while (!begin(tdev, TUTTI_DEVICE_RUNNING) && !begin(tdev, TUTTI_DEVICE_WEDGED))
		flush_work(&tdev->reset_work);
	drm_info(&tdev->drm, "the function is being reset\n");
	atomic64_inc(&tdev->memory_generation);
	tutti_device_pre_reset(tdev);
	tutti_fw_stop(tdev);
}

void tutti_recovery_reset_done(struct tutti_device *tdev)
{
	if (tdev->resetter != current)
		finish(tdev, tutti_device_post_reset(tdev) ? TUTTI_RUNG_WEDGED : TUTTI_RUNG_FUNCTION);
}

/* ---- watchdog ---- */

static bool has_doorbell(struct tutti_device *tdev)
{
	struct tutti_object *object;
	bool any = false;

	spin_lock(&tdev->objects_lock);
	list_for_each_entry(object, &tdev->objects[TUTTI_QUEUE], link)
		any |= readq(tdev->window + to_queue(object)->view->offset) != TUTTI_DOORBELL_EMPTY;
	spin_unlock(&tdev->objects_lock);
	return any;
}

static void watch(struct tutti_device *tdev)
{
	u64 beat = readq(tdev->window + tdev->known.status.offset + offsetof(struct tutti_status, heartbeat));
	u32 state = tutti_status(tdev, state);

	tutti_channel_poll(tdev); /* an interrupt may be lost */
	tutti_queue_ring_again(tdev); /* a doorbell as well */
	if (state != TUTTI_STATE_RUNNING) {
		tutti_recovery_trigger(tdev, TUTTI_RUNG_FIRMWARE,
				       state == TUTTI_STATE_CRASHED ? "the firmware has crashed" :
								      "the card does not run");
	} else if (beat != tdev->beat || tutti_status(tdev, asleep)) {
		tdev->beat = beat;
		tdev->beat_seen = jiffies;
		/* as may be a kick */
		if (tutti_status(tdev, asleep) && has_doorbell(tdev))
			tutti_kick(tdev);
	} else if (time_after(jiffies, tdev->beat_seen + msecs_to_jiffies(heartbeat_timeout_ms))) {
		tutti_recovery_trigger(tdev, TUTTI_RUNG_FIRMWARE, "no heartbeat");
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

/* ---- life ---- */

void tutti_recovery_init(struct tutti_device *tdev)
{
	INIT_WORK(&tdev->reset_work, reset_work);
	INIT_WORK(&tdev->context_work, context_work);
	INIT_DELAYED_WORK(&tdev->watchdog, watchdog);
}

void tutti_recovery_start(struct tutti_device *tdev)
{
	tdev->beat_seen = jiffies;
	queue_delayed_work(system_wq, &tdev->watchdog, WATCHDOG_PERIOD);
}

/** tutti_recovery_pause() - no watchdog; a reset that has begun comes to its end. */
void tutti_recovery_pause(struct tutti_device *tdev)
{
	cancel_delayed_work_sync(&tdev->watchdog);
	flush_work(&tdev->context_work);
	flush_work(&tdev->reset_work);
}

void tutti_recovery_stop(struct tutti_device *tdev)
{
	cancel_delayed_work_sync(&tdev->watchdog);
	cancel_work_sync(&tdev->context_work);
	cancel_work_sync(&tdev->reset_work);
}
