// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The interrupt from the host to the card, which wakes a card that sleeps, and the copy of the card's configuration. */
#include "card/card.h"

/**
 * tutti_card_kick() - interrupt the card.
 * @tdev: device
 *
 * Behind ivshmem the card is peer 0 and its vector 0 is the kick. A real card needs no such register: it sees the
 * stores to its own memory.
 */
void tutti_card_kick(struct tutti_device *tdev)
{
	if (tdev->registers)
		writel(0u << 16 | 0u, tdev->registers + 12);
}

/** tutti_card_kick_if_asleep() - the host's half of the sleep handshake that control.h describes. */
void tutti_card_kick_if_asleep(struct tutti_device *tdev)
{
	mb(); /* the work must be visible before we ask whether the card sleeps */
	if (tutti_status(tdev, asleep))
		tutti_card_kick(tdev);
}

/**
 * tutti_card_save() - make the copy of the card's configuration that the kernel restores after an error of the bus.
 * @tdev: device
 *
 * In older kernels a copy can be restored only once, so a new one is made whenever the card has been woken or reset.
 */
void tutti_card_save(struct tutti_device *tdev)
{
	if (tutti_card_is_there(tdev))
		pci_save_state(tdev->pdev);
}
