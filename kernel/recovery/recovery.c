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
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>

#include "base/compat.h"
#include "base/delay.h"
#include "base/trace.h"
#include "card/card.h"
#include "card/gate.h"
#include "card/power.h"
#include "firmware/channel.h"
#include "firmware/fw.h"
#include "firmware/message.h"
#include "objects/context.h"
#include "recovery/recovery.h"
#include "recovery/reset.h"
#include "report/dump.h"

#define RELOADS_MAX 3u
#define RELOADS_JIFFIES (10 * HZ)

/* The kernel itself waits up to a minute for a card to answer after a reset of its bus. */
static uint bus_timeout_ms = 120000;
module_param(bus_timeout_ms, uint, 0644);
MODULE_PARM_DESC(bus_timeout_ms, "a card is given up when its bus has had an error for so long (120000)");

static const char *tutti_recovery_rung_name(enum tutti_rung rung)
{
	static const char *const names[] = {
		[TUTTI_RUNG_CONTEXT] = "context kill",
		[TUTTI_RUNG_FIRMWARE] = "firmware reload",
		[TUTTI_RUNG_FUNCTION] = "function-level reset",
		[TUTTI_RUNG_WEDGED] = "wedged",
	};

	return names[rung];
}

/* One at a time counts; sysfs and debugfs look at any time. */
static void tutti_recovery_count(u32 *count)
{
	WRITE_ONCE(*count, *count + 1);
}

/* ---- the context rung ---- */

static bool tutti_recovery_fits_condemned(struct tutti_object *object, const void *with)
{
	return to_context(object)->condemned && !to_context(object)->killed;
}

static void tutti_recovery_kill_condemned(struct tutti_device *tdev, struct tutti_context *context)
{
	/* a firmware that is dead needs more than this */
	int error = tutti_message_ping(tdev, context->base.id);

	if (!error)
		error = tutti_context_kill(context);
	trace_tutti_rung(TUTTI_RUNG_CONTEXT, error);
	if (!error)
		tutti_recovery_count(&tdev->rungs[TUTTI_RUNG_CONTEXT]);
	else if (error != -EIO && error != -ENODEV)
		tutti_gate_trigger(tdev, TUTTI_RUNG_FIRMWARE, "a context cannot be killed");
}

/*
 * Can the firmware be asked to kill a context? If not, the card is being reset or removed, and all contexts end with
 * that. Removal waits for us.
 */
static bool tutti_recovery_may_kill(struct tutti_device *tdev)
{
	return atomic_read(&tdev->state) == TUTTI_DEVICE_RUNNING && READ_ONCE(tdev->channel.open) &&
	       !drm_dev_is_unplugged(&tdev->drm);
}

static void tutti_recovery_context_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, context_work);
	struct tutti_object *object;
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return;
	down_read(&tdev->reset_sem);
	while (tutti_recovery_may_kill(tdev) &&
	       (object = tutti_object_first(tdev, TUTTI_CONTEXT, tutti_recovery_fits_condemned, NULL))) {
		tutti_recovery_kill_condemned(tdev, to_context(object));
		tutti_object_put(object);
	}
	up_read(&tdev->reset_sem);
	drm_dev_exit(index);
}

/* ---- the rungs above ---- */

/* A card whose firmware dies again and again may need more than a reload. */
static enum tutti_rung tutti_recovery_first_rung(struct tutti_device *tdev)
{
	if (tdev->rung != TUTTI_RUNG_FIRMWARE)
		return tdev->rung;
	if (time_after(jiffies, tdev->reload_at + RELOADS_JIFFIES))
		tdev->reloads = 0;
	tdev->reload_at = jiffies;
	return ++tdev->reloads > RELOADS_MAX ? TUTTI_RUNG_FUNCTION : TUTTI_RUNG_FIRMWARE;
}

/*
 * Not the one that waits for the device's lock: its holder may wait for us. If it removes the device, no reset is needed;
 * any other goes on from here (-EDEADLK), see tutti_recovery_settle().
 */
static int tutti_recovery_try_reset(struct tutti_device *tdev)
{
	int error = -EAGAIN, left;

	for (left = 100; error == -EAGAIN && left; left--) {
		tutti_delay(TUTTI_DELAY_function_reset);
		if (drm_dev_is_unplugged(&tdev->drm) || !tutti_card_is_there(tdev))
			return -ENODEV;
		error = pci_try_reset_function(tdev->pdev);
		if (error == -EAGAIN && READ_ONCE(tdev->lock_waits))
			return -EDEADLK;
		if (error == -EAGAIN)
			msleep(100);
	}
	return error;
}

/*
 * The function rung: a function-level reset, or whatever reset the bus has. Card memory is lost. QEMU's ivshmem has no
 * reset of its own: unless a bridge above it does it, the stop of the card is all there is.
 */
static int tutti_recovery_reset_function(struct tutti_device *tdev)
{
	int error;

	tutti_reset_lose_memory(tdev);
	tutti_fw_stop(tdev);
	WRITE_ONCE(tdev->resetter, current);
	error = tutti_recovery_try_reset(tdev);
	WRITE_ONCE(tdev->resetter, NULL);
	drm_info(&tdev->drm, "reset of the function: %d\n", error);
	return error == -ENOTTY && tdev->ivshmem ? 0 : error;
}

static int tutti_recovery_climb(struct tutti_device *tdev, enum tutti_rung rung)
{
	int error = 0;

	drm_info(&tdev->drm, "recovery: %s\n", tutti_recovery_rung_name(rung));
	if (rung == TUTTI_RUNG_FUNCTION)
		error = tutti_recovery_reset_function(tdev);
	return error ? error : tutti_reset_restart(tdev);
}

/* What the card may still do it shall not; then, as after any reset, everybody is told and all that it knew is free. */
static void tutti_recovery_give_up(struct tutti_device *tdev, int error)
{
	trace_tutti_rung(TUTTI_RUNG_WEDGED, error);
	tutti_channel_close(tdev);
	if (error != -ENODEV)
		tutti_fw_stop(tdev);
	pci_clear_master(tdev->pdev);
	tutti_reset_forget(tdev);
}

/*
 * The rung that helped; TUTTI_RUNGS: somebody else goes on. A device that is being removed needs none: its removal, which
 * waits for us, stops the card and frees everything.
 */
static enum tutti_rung tutti_recovery_climb_from(struct tutti_device *tdev, enum tutti_rung rung)
{
	int error = 0;

	for (; rung < TUTTI_RUNG_WEDGED && error != -ENODEV; rung++) {
		error = tutti_recovery_climb(tdev, rung);
		trace_tutti_rung(rung, error);
		if (!error)
			return rung;
		if (error == -EDEADLK)
			return TUTTI_RUNGS;
		if (drm_dev_is_unplugged(&tdev->drm))
			return TUTTI_RUNG_WEDGED;
		drm_err(&tdev->drm, "%s does not help (%d)\n", tutti_recovery_rung_name(rung), error);
	}
	tutti_recovery_give_up(tdev, error);
	return TUTTI_RUNG_WEDGED;
}

/*
 * As drm_dev_wedged_event() would, which newer kernels have: it takes the primary node for granted, and beside an accel
 * node there is none. What else helps is said in kernel/README.md.
 */
static void tutti_recovery_notify_wedged(struct tutti_device *tdev)
{
	struct drm_minor *minor = tutti_accel_minor(&tdev->drm) ? tutti_accel_minor(&tdev->drm) : tdev->drm.primary;
	char *event[] = { "WEDGED=rebind,bus-reset", NULL };

	kobject_uevent_env(&minor->kdev->kobj, KOBJ_CHANGE, event);
}

/* Gives back what tutti_reset_begin() took. A card that cannot be reset because it is being removed is no news. */
static void tutti_recovery_finish(struct tutti_device *tdev, enum tutti_rung rung)
{
	bool wedged = rung == TUTTI_RUNG_WEDGED, tell = wedged && !drm_dev_is_unplugged(&tdev->drm);

	tutti_recovery_count(&tdev->resets);
	tutti_recovery_count(&tdev->rungs[rung]);
	if (tell)
		drm_err(&tdev->drm, "the card is wedged\n");
	else if (!wedged)
		drm_info(&tdev->drm, "the card works again (reset %u)\n", tdev->resets);
	WRITE_ONCE(tdev->beat_seen, jiffies);
	atomic_set(&tdev->state, wedged ? TUTTI_DEVICE_WEDGED : TUTTI_DEVICE_RUNNING);
	up_write(&tdev->reset_sem);
	if (tell)
		tutti_recovery_notify_wedged(tdev);
	wake_up_all(&tdev->wait);
}

static void tutti_recovery_reset_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, reset_work);
	enum tutti_rung rung;
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return;
	tutti_dump(tdev);
	tutti_reset_begin(tdev, 0);
	rung = tutti_recovery_climb_from(tdev, tutti_recovery_first_rung(tdev));
	if (rung < TUTTI_RUNGS) {
		tutti_recovery_finish(tdev, rung);
	} else {
		WRITE_ONCE(tdev->handed_over, true);
		up_write(&tdev->reset_sem);
	}
	drm_dev_exit(index);
}

/*
 * For who has the device's lock: a reset that has begun comes to its end. True: it needs that lock, and so it is ours
 * now, with the card claimed and stopped.
 */
static bool tutti_recovery_settle(struct tutti_device *tdev)
{
	bool ours;

	WRITE_ONCE(tdev->lock_waits, true);
	flush_work(&tdev->reset_work);
	WRITE_ONCE(tdev->lock_waits, false);
	ours = READ_ONCE(tdev->handed_over);
	WRITE_ONCE(tdev->handed_over, false);
	return ours;
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

	if (tutti_gate_claim(tdev, TUTTI_DEVICE_RUNNING) || tutti_gate_claim(tdev, TUTTI_DEVICE_WEDGED)) {
		tdev->rung = rung;
		tdev->reloads = 0;
		drm_info(&tdev->drm, "reset by hand\n");
		tutti_fw_read(tdev); /* there may be a new one */
		queue_work(tdev->work_queue, &tdev->reset_work);
	}
	flush_work(&tdev->reset_work);
	return atomic_read(&tdev->state) == wished ? 0 : -EIO;
}

/* ---- resets that others make ---- */

static void tutti_recovery_unfreeze(struct tutti_device *tdev)
{
	if (!tdev->bus_frozen)
		return;
	WRITE_ONCE(tdev->bus_frozen, false);
	tutti_power_put(tdev);
}

/*
 * The card is ours alone, after a reset of our own that has begun; tutti_recovery_end() gives it back. One that is
 * frozen is taken over: the caller has the lock of the device, without which nobody can say that the bus is back.
 */
static void tutti_recovery_begin(struct tutti_device *tdev, unsigned int subclass)
{
	cancel_delayed_work_sync(&tdev->bus_work);
	while (!tdev->bus_frozen && !tutti_gate_claim(tdev, TUTTI_DEVICE_RUNNING) &&
	       !tutti_gate_claim(tdev, TUTTI_DEVICE_WEDGED) && !tutti_recovery_settle(tdev))
		usleep_range(500, 1000); /* the card is being switched off or on, or the work is queued next */
	tutti_recovery_unfreeze(tdev);
	tutti_reset_begin(tdev, subclass);
	tutti_reset_lose_memory(tdev);
}

static void tutti_recovery_end(struct tutti_device *tdev, int error)
{
	if (error)
		tutti_recovery_give_up(tdev, error);
	tutti_recovery_finish(tdev, error ? TUTTI_RUNG_WEDGED : TUTTI_RUNG_FUNCTION);
}

/** tutti_recovery_reset_prepare() - somebody else resets the function (sysfs); or we do. */
void tutti_recovery_reset_prepare(struct tutti_device *tdev)
{
	if (READ_ONCE(tdev->resetter) == current)
		return;
	drm_info(&tdev->drm, "the function is being reset\n");
	tutti_recovery_begin(tdev, 0);
	tutti_fw_stop(tdev);
}

void tutti_recovery_reset_done(struct tutti_device *tdev)
{
	if (READ_ONCE(tdev->resetter) != current)
		tutti_recovery_end(tdev, tutti_reset_restart(tdev));
}

/**
 * tutti_recovery_bus_frozen() - the link does not work: nothing reaches the card until the bus has been reset.
 * @tdev: device; its lock is held
 *
 * Nobody promises that this comes: the reset of the bus may fail, and the card may be pulled out. So no lock is held
 * until then; calls wait at the gate, but not for ever.
 */
void tutti_recovery_bus_frozen(struct tutti_device *tdev)
{
	drm_err(&tdev->drm, "the bus has an error: waiting for its reset\n");
	tutti_power_hold(tdev); /* older kernels do not switch a card on before they reset its bus */
	tutti_recovery_begin(tdev, TUTTI_RESET_OF_BUS);
	WRITE_ONCE(tdev->bus_frozen, true);
	queue_delayed_work(tdev->work_queue, &tdev->bus_work, msecs_to_jiffies(READ_ONCE(bus_timeout_ms)));
	up_write(&tdev->reset_sem);
	tutti_delay(TUTTI_DELAY_bus_frozen);
}

static void tutti_recovery_thaw(struct tutti_device *tdev, int error)
{
	down_write_nested(&tdev->reset_sem, TUTTI_RESET_OF_BUS);
	WRITE_ONCE(tdev->bus_frozen, false);
	tutti_recovery_end(tdev, error ? error : tutti_reset_restart(tdev));
	tutti_power_put(tdev);
}

/* If the bus works again later, a reset by hand brings the card back. */
static void tutti_recovery_bus_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(to_delayed_work(work), struct tutti_device, bus_work);
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return;
	drm_err(&tdev->drm, "the bus has not been reset within %u ms\n", READ_ONCE(bus_timeout_ms));
	tutti_recovery_thaw(tdev, -ENODEV);
	drm_dev_exit(index);
}

/** tutti_recovery_bus_back() - the bus works again or, if @error is not 0, never will. */
void tutti_recovery_bus_back(struct tutti_device *tdev, int error)
{
	cancel_delayed_work_sync(&tdev->bus_work);
	if (tdev->bus_frozen)
		tutti_recovery_thaw(tdev, error);
}

/** tutti_recovery_unplug() - who waits for the bus need not wait any more: the device is being removed. */
void tutti_recovery_unplug(struct tutti_device *tdev)
{
	cancel_delayed_work_sync(&tdev->bus_work);
	if (!tdev->bus_frozen)
		return;
	atomic_set(&tdev->state, TUTTI_DEVICE_WEDGED);
	tutti_recovery_unfreeze(tdev);
	wake_up_all(&tdev->wait);
}

/* ---- life ---- */

void tutti_recovery_init(struct tutti_device *tdev)
{
	INIT_WORK(&tdev->reset_work, tutti_recovery_reset_work);
	INIT_WORK(&tdev->context_work, tutti_recovery_context_work);
	INIT_DELAYED_WORK(&tdev->bus_work, tutti_recovery_bus_work);
}

/** tutti_recovery_flush_kills() - contexts that were condemned are killed. */
void tutti_recovery_flush_kills(struct tutti_device *tdev)
{
	flush_work(&tdev->context_work);
}

/**
 * tutti_recovery_before_sleep() - what has begun comes to its end.
 * @tdev: device; its lock is held, without which its function cannot be reset
 *
 * Return: 0, or -EBUSY: the card is still being reset, which takes that lock.
 */
int tutti_recovery_before_sleep(struct tutti_device *tdev)
{
	WRITE_ONCE(tdev->lock_waits, true); /* kills may wait for a reset that has begun, which must not wait for our lock */
	tutti_recovery_flush_kills(tdev);
	if (tutti_recovery_settle(tdev)) {
		tdev->rung = TUTTI_RUNG_FUNCTION;
		queue_work(tdev->work_queue, &tdev->reset_work);
	}
	return atomic_read(&tdev->state) == TUTTI_DEVICE_RESETTING ? -EBUSY : 0;
}

/** tutti_recovery_stop() - for good. The device's lock is held, and a reset that needs it is not made any more. */
void tutti_recovery_stop(struct tutti_device *tdev)
{
	WRITE_ONCE(tdev->lock_waits, true);
	cancel_work_sync(&tdev->context_work);
	cancel_work_sync(&tdev->reset_work);
}
