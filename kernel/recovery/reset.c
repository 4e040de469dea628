// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What a reset does to the units, as ordered lists. When there is one, and how deep it goes: recovery/recovery.c. */
#include "base/delay.h"
#include "card/card.h"
#include "firmware/channel.h"
#include "firmware/fw.h"
#include "firmware/message.h"
#include "firmware/settings.h"
#include "memory/view.h"
#include "objects/object.h"
#include "recovery/reset.h"

/**
 * tutti_reset_begin() - take everything away from everybody; the caller gives reset_sem back.
 * @tdev: device, whose gate the caller has claimed
 * @subclass: of reset_sem, for lockdep: 0 or TUTTI_RESET_OF_BUS
 *
 * The generation goes first: from here on no old file gets anything new. Then those are set free who wait for the
 * firmware with reset_sem held, and so we can have it.
 */
void tutti_reset_begin(struct tutti_device *tdev, unsigned int subclass)
{
	atomic64_inc(&tdev->generation);
	tutti_channel_close(tdev);
	wake_up_all(&tdev->wait);
	down_write_nested(&tdev->reset_sem, subclass);
	tutti_view_revoke_all(tdev);
}

/** tutti_reset_lose_memory() - card memory will not survive this reset. */
void tutti_reset_lose_memory(struct tutti_device *tdev)
{
	atomic64_inc(&tdev->memory_losses);
	tutti_view_revoke_all(tdev);
}

/** tutti_reset_forget() - the card knows nothing any more: what it could reach is free. */
void tutti_reset_forget(struct tutti_device *tdev)
{
	tutti_object_lose_all(tdev, TUTTI_QUEUE);
	tutti_object_lose_all(tdev, TUTTI_RSB);
	tutti_object_lose_all(tdev, TUTTI_CONTEXT);
}

/** tutti_reset_restart() - boot again. Nothing is released before the card has been reset by that. 0 or -errno. */
int tutti_reset_restart(struct tutti_device *tdev)
{
	int error;

	if (!tutti_card_is_there(tdev))
		return -ENODEV;
	pci_set_master(tdev->pdev); /* a card that had been given up has lost it */
	error = tutti_fw_boot(tdev);
	if (error)
		return error;
	tutti_delay(TUTTI_DELAY_restarted);
	tutti_channel_open(tdev);
	tutti_reset_forget(tdev);
	error = tutti_message_ping(tdev, atomic64_read(&tdev->generation));
	return error ? error : tutti_settings_restore(tdev);
}

/** tutti_reset_stop() - the card does nothing and knows nothing; nobody has it open. False: it may still do something. */
bool tutti_reset_stop(struct tutti_device *tdev)
{
	tutti_channel_close(tdev);
	if (!tutti_fw_stop(tdev))
		return false;
	tutti_reset_forget(tdev);
	return true;
}
