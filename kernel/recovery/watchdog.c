// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Looks at the card twice a second: does its firmware live, has an interrupt or a doorbell been lost (spec SYS-28)? */
#include <linux/moduleparam.h>

#include "base/delay.h"
#include "card/card.h"
#include "card/gate.h"
#include "firmware/channel.h"
#include "memory/view.h"
#include "objects/queue.h"
#include "recovery/watchdog.h"

#define PERIOD_JIFFIES msecs_to_jiffies(500)

static uint heartbeat_timeout_ms = 5000;
module_param(heartbeat_timeout_ms, uint, 0644);
MODULE_PARM_DESC(heartbeat_timeout_ms, "no heartbeat for so long while awake = hung (5000)");

/* A hint, no more: users write it. */
static bool tutti_watchdog_packet_waits(struct tutti_queue *queue, u64 index)
{
	u64 at = queue->ring_at + (index * TUTTI_PACKET_BYTES & (queue->ring_bytes - 1));

	return (tutti_bo_peek(queue->ring_bo, at) & TUTTI_HEADER_TYPE) != TUTTI_PACKET_INVALID;
}

/*
 * Rings for queues that stand still with a packet at their head. A doorbell only wakes (spec PKT-05): one too many does
 * no harm, one too few would be for ever.
 */
static void tutti_watchdog_ring_again(struct tutti_device *tdev)
{
	struct tutti_queue *queue;

	spin_lock(&tdev->objects_lock);
	list_for_each_entry(queue, &tdev->objects[TUTTI_QUEUE], base.link) {
		u64 progress = tutti_queue_progress(queue);

		/* without ring_bytes it is being made just now */
		if (progress == queue->watched && !queue->stopped && queue->ring_bytes &&
		    tutti_watchdog_packet_waits(queue, progress))
			writeq(progress, tdev->window + queue->base.view->offset);
		queue->watched = progress;
	}
	spin_unlock(&tdev->objects_lock);
}

static bool tutti_watchdog_has_doorbell(struct tutti_device *tdev)
{
	struct tutti_object *object;
	bool any = false;

	spin_lock(&tdev->objects_lock);
	list_for_each_entry(object, &tdev->objects[TUTTI_QUEUE], link)
		any |= readq(tdev->window + object->view->offset) != TUTTI_DOORBELL_EMPTY;
	spin_unlock(&tdev->objects_lock);
	return any;
}

static void tutti_watchdog_look(struct tutti_device *tdev)
{
	u64 beat = readq(tdev->window + tdev->known.status.offset + offsetof(struct tutti_status, heartbeat));
	unsigned long patience = msecs_to_jiffies(READ_ONCE(heartbeat_timeout_ms));
	u32 state = tutti_status(tdev, state);

	tutti_channel_poll(tdev); /* an interrupt may be lost */
	tutti_watchdog_ring_again(tdev); /* a doorbell as well */
	if (state != TUTTI_STATE_RUNNING) {
		tutti_gate_trigger(tdev, TUTTI_RUNG_FIRMWARE,
				   state == TUTTI_STATE_CRASHED ? "the firmware has crashed" : "the card does not run");
	} else if (beat != tdev->beat || tutti_status(tdev, asleep)) {
		tdev->beat = beat;
		WRITE_ONCE(tdev->beat_seen, jiffies);
		/* as may be a kick */
		if (tutti_status(tdev, asleep) && tutti_watchdog_has_doorbell(tdev))
			tutti_card_kick(tdev);
	} else if (time_after(jiffies, READ_ONCE(tdev->beat_seen) + patience)) {
		tutti_gate_trigger(tdev, TUTTI_RUNG_FIRMWARE, "no heartbeat");
	}
}

static void tutti_watchdog_work(struct work_struct *work)
{
	struct tutti_device *tdev = container_of(work, struct tutti_device, watchdog.work);
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return;
	tutti_delay(TUTTI_DELAY_watchdog);
	if (atomic_read(&tdev->state) == TUTTI_DEVICE_RUNNING)
		tutti_watchdog_look(tdev);
	queue_delayed_work(tdev->work_queue, &tdev->watchdog, PERIOD_JIFFIES);
	drm_dev_exit(index);
}

void tutti_watchdog_init(struct tutti_device *tdev)
{
	INIT_DELAYED_WORK(&tdev->watchdog, tutti_watchdog_work);
}

void tutti_watchdog_start(struct tutti_device *tdev)
{
	WRITE_ONCE(tdev->beat_seen, jiffies);
	queue_delayed_work(tdev->work_queue, &tdev->watchdog, PERIOD_JIFFIES);
}

void tutti_watchdog_stop(struct tutti_device *tdev)
{
	cancel_delayed_work_sync(&tdev->watchdog);
}
