// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "card/gate.h"
#include "card/power.h"

/* @reset_sem, read; while the bus has an error nobody has it, and that may last. */
static int tutti_gate_pass(struct tutti_device *tdev)
{
	int error;

	for (;;) {
		error = wait_event_interruptible(tdev->wait, !READ_ONCE(tdev->bus_frozen));
		if (!error)
			error = down_read_interruptible(&tdev->reset_sem);
		if (error || !READ_ONCE(tdev->bus_frozen))
			return error;
		up_read(&tdev->reset_sem);
	}
}

/**
 * tutti_gate_enter() - begin what touches the card; neither reset nor removal until tutti_gate_exit().
 * @file: who asks
 * @index: for tutti_gate_exit()
 *
 * It does not wait for a reset that has begun: the file was opened before it, and gets -EIO at once.
 *
 * Return: 0, -EIO, -ENODEV (the device is gone), -ERESTARTSYS, or what waking the card up said.
 */
int tutti_gate_enter(struct tutti_file *file, int *index)
{
	struct tutti_device *tdev = file->tdev;
	int error;

	if (!drm_dev_enter(&tdev->drm, index))
		return -ENODEV;
	error = tutti_gate_check(file);
	if (!error)
		error = tutti_power_wait(tdev);
	if (!error)
		error = tutti_gate_pass(tdev);
	if (error)
		goto exit;
	error = tutti_gate_check(file);
	if (!error)
		return 0;
	up_read(&tdev->reset_sem);
exit:
	drm_dev_exit(*index);
	return error;
}

void tutti_gate_exit(struct tutti_file *file, int index)
{
	up_read(&file->tdev->reset_sem);
	drm_dev_exit(index);
}

/** tutti_gate_claim() - from that state into TUTTI_DEVICE_RESETTING. True for one caller, who resets the card. */
bool tutti_gate_claim(struct tutti_device *tdev, enum tutti_state from)
{
	return atomic_cmpxchg(&tdev->state, from, TUTTI_DEVICE_RESETTING) == from;
}

/** tutti_gate_release() - what has been claimed runs again. */
void tutti_gate_release(struct tutti_device *tdev)
{
	atomic_set(&tdev->state, TUTTI_DEVICE_RUNNING);
}

/**
 * tutti_gate_trigger() - the only door to an automatic reset; from any context, any number of times.
 * @tdev: device
 * @rung: of the recovery ladder, to begin with
 * @why: for the log
 */
void tutti_gate_trigger(struct tutti_device *tdev, enum tutti_rung rung, const char *why)
{
	if (!tutti_gate_claim(tdev, TUTTI_DEVICE_RUNNING))
		return;
	tdev->rung = rung;
	drm_err(&tdev->drm, "%s: resetting the card\n", why);
	queue_work(tdev->work_queue, &tdev->reset_work);
}

/**
 * tutti_gate_request() - somebody who may do so asks for a reset.
 * @tdev: device
 * @rung: to begin with
 *
 * It is no sign of a sick card: however often it is asked for, a reload of the firmware stays one.
 */
void tutti_gate_request(struct tutti_device *tdev, enum tutti_rung rung)
{
	if (!tutti_gate_claim(tdev, TUTTI_DEVICE_RUNNING))
		return;
	tdev->rung = rung;
	tdev->reloads = 0;
	drm_info(&tdev->drm, "reset by request\n");
	queue_work(tdev->work_queue, &tdev->reset_work);
}
