// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Firmware image, boot handshake, versions (spec SYS-05; include/tutti/firmware.h, control.h). */
#include <linux/crc32.h>
#include <linux/delay.h>
#include <linux/firmware.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>

#include "base/delay.h"
#include "card/card.h"
#include "card/discovery.h"
#include "firmware/fw.h"

MODULE_FIRMWARE("tutti/" TUTTI_IMAGE_NAME);
MODULE_FIRMWARE("tutti/" TUTTI_IMAGE_NAME_LARGE);

static const char *tutti_fw_image_name(const struct tutti_device *tdev)
{
	return tdev->known.sms > TUTTI_SMALL_CARD_SMS ? "tutti/" TUTTI_IMAGE_NAME_LARGE : "tutti/" TUTTI_IMAGE_NAME;
}

static uint boot_timeout_ms = 10000;
module_param(boot_timeout_ms, uint, 0644);
MODULE_PARM_DESC(boot_timeout_ms, "longest wait for the firmware to start (10000)");

static const char *tutti_fw_image_error(u32 error)
{
	static const char *const text[] = {
		[TUTTI_IMAGE_OK] = "fine",
		[TUTTI_IMAGE_BAD_MAGIC] = "not a Tutti firmware image",
		[TUTTI_IMAGE_BAD_SIZE] = "wrong size",
		[TUTTI_IMAGE_BAD_CRC] = "wrong checksum",
		[TUTTI_IMAGE_BAD_VERSION] = "wrong contract version",
		[TUTTI_IMAGE_BAD_SEGMENT] = "bad segment",
		[TUTTI_IMAGE_BAD_PLACE] = "not inside card memory",
	};

	return error < ARRAY_SIZE(text) ? text[error] : "unknown error";
}

static u32 tutti_fw_crc(const void *data, u64 bytes)
{
	return ~crc32_le(~0u, data, bytes);
}

static u32 tutti_fw_image_check(const struct tutti_image *image, size_t bytes, u32 local_bytes)
{
	return tutti_image_check(image, bytes, tutti_fw_crc, local_bytes, TUTTI_CONTRACT_VERSION,
				 TUTTI_CONTRACT_VERSION);
}

/* In reserved memory the image lies between the RSBs and what is the firmware's own. */
static int tutti_fw_load_image(struct tutti_device *tdev)
{
	const struct tutti_image *image = tdev->firmware;
	const struct tutti_discovery *known = &tdev->known;
	u64 offset = PAGE_ALIGN((u64)known->max_rsbs * sizeof(struct tutti_rsb));
	u64 room = tutti_image_room(known, offset);
	u32 bad = tutti_fw_image_check(image, tdev->firmware_bytes, known->local_bytes);

	if (!bad && tdev->firmware_bytes > room)
		bad = TUTTI_IMAGE_BAD_PLACE;
	if (bad) {
		drm_err(&tdev->drm, "firmware %s: %s\n", tutti_fw_image_name(tdev), tutti_fw_image_error(bad));
		if (bad == TUTTI_IMAGE_BAD_VERSION)
			tutti_discovery_range_holds(tdev, tutti_fw_image_name(tdev), image->contract_min,
						    image->contract_max);
		return bad == TUTTI_IMAGE_BAD_VERSION ? -EPROTO : -EINVAL;
	}
	memcpy_toio(tdev->aperture + offset, image, tdev->firmware_bytes);
	writeq(offset, tutti_control_at(tdev, image_offset));
	writeq(tdev->firmware_bytes, tutti_control_at(tdev, image_bytes));
	return 0;
}

static bool tutti_fw_boot_answered(struct tutti_device *tdev)
{
	u32 state = tutti_status(tdev, state);

	return tutti_status(tdev, boot_sequence) == tdev->boot_sequence &&
	       state != TUTTI_STATE_LOADING && state != TUTTI_STATE_OFF;
}

static int tutti_fw_boot_wait(struct tutti_device *tdev)
{
	ktime_t end = ktime_add_ms(ktime_get(), READ_ONCE(boot_timeout_ms));

	tutti_delay(TUTTI_DELAY_boot);
	while (!tutti_fw_boot_answered(tdev)) {
		if (!tutti_card_is_there(tdev))
			return -ENODEV;
		if (ktime_after(ktime_get(), end))
			return -ETIMEDOUT;
		usleep_range(200, 500);
	}
	return 0;
}

static void tutti_fw_say_crash(struct tutti_device *tdev)
{
	struct tutti_crash crash;

	memcpy_fromio(&crash, tdev->window + tdev->known.crash.offset, sizeof(crash));
	drm_err(&tdev->drm, "firmware %s died while it started: %.63s (cause %u code %u, pc %#x)\n",
		tutti_fw_image_name(tdev), crash.text, crash.cause, crash.cause_code, crash.pc);
}

static int tutti_fw_boot_result(struct tutti_device *tdev, int error)
{
	u32 state = tutti_status(tdev, state), why = tutti_status(tdev, boot_error);

	if (error == -ENODEV)
		return error;
	if (error) {
		drm_err(&tdev->drm, "firmware %s: no answer to boot %u within %u ms (state %u of boot %u)\n",
			tutti_fw_image_name(tdev), tdev->boot_sequence, READ_ONCE(boot_timeout_ms), state,
			tutti_status(tdev, boot_sequence));
		return error;
	}
	if (state == TUTTI_STATE_CRASHED) {
		tutti_fw_say_crash(tdev);
		return -EIO;
	}
	if (state != TUTTI_STATE_RUNNING) {
		drm_err(&tdev->drm, "firmware %s: the card refuses it: %s (state %u)\n", tutti_fw_image_name(tdev),
			tutti_fw_image_error(why), state);
		return why == TUTTI_IMAGE_BAD_VERSION ? -EPROTO : -EIO;
	}
	if (!tutti_discovery_range_holds(tdev, "the firmware", tutti_status(tdev, contract_min),
					 tutti_status(tdev, contract_max)))
		return -EPROTO;
	WRITE_ONCE(tdev->firmware_version, tutti_status(tdev, firmware_version));
	return 0;
}

static int tutti_fw_keep(struct tutti_device *tdev, const struct firmware *fw)
{
	void *copy = kvmalloc(fw->size, GFP_KERNEL);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, fw->data, fw->size);
	tutti_fw_fini(tdev);
	tdev->firmware = copy;
	tdev->firmware_bytes = fw->size;
	return 0;
}

/**
 * tutti_fw_read() - the image as it is on the disk now; an earlier one is kept if there is none.
 * @tdev: device
 *
 * A copy is kept, and not what the kernel has read: as long as anybody has that, whoever asks for the file gets the same
 * again, whatever is on the disk by then.
 *
 * Return: 0, -ENOMEM, or what request_firmware() says.
 */
int tutti_fw_read(struct tutti_device *tdev)
{
	const struct firmware *fw;
	int error = request_firmware(&fw, tutti_fw_image_name(tdev), tdev->drm.dev);

	if (error) {
		drm_err(&tdev->drm, "firmware %s: not found (%d)\n", tutti_fw_image_name(tdev), error);
		return error;
	}
	error = tutti_fw_keep(tdev, fw);
	release_firmware(fw);
	return error;
}

void tutti_fw_fini(struct tutti_device *tdev)
{
	kvfree(tdev->firmware);
	tdev->firmware = NULL;
}

/*
 * The number is random. If each boot only added one, a card that had lost its power would begin with the same number again,
 * and the driver of a system that comes back from hibernation would mistake the firmware for its own that the kernel which
 * loads the system has booted.
 */
static u32 tutti_fw_new_sequence(struct tutti_device *tdev)
{
	u32 before = readl(tutti_control_at(tdev, boot_sequence)), sequence;

	do
		sequence = get_random_u32();
	while (!sequence || sequence == before);
	return sequence;
}

static void tutti_fw_request_boot(struct tutti_device *tdev)
{
	WRITE_ONCE(tdev->boot_sequence, tutti_fw_new_sequence(tdev));
	wmb(); /* image (write-combined) and its place before the word that starts the boot */
	writel(tdev->boot_sequence, tutti_control_at(tdev, boot_sequence));
	mb(); /* and that before the kick */
	tutti_card_kick(tdev);
}

/** tutti_fw_boot() - load and start the firmware; what the card did before is forgotten. */
int tutti_fw_boot(struct tutti_device *tdev)
{
	int error = tutti_fw_load_image(tdev);

	if (error)
		return error;
	writel(0, tutti_control_at(tdev, trace_enable)); /* nobody reads a trace yet */
	writeq(0, tutti_control_at(tdev, trace_head));
	tutti_fw_request_boot(tdev);
	return tutti_fw_boot_result(tdev, tutti_fw_boot_wait(tdev));
}

/* A boot request without an image is a stop (control.h). Bounded, as the card may be dead. False: it does not answer. */
bool tutti_fw_stop(struct tutti_device *tdev)
{
	ktime_t end = ktime_add_ms(ktime_get(), 1000);

	writeq(0, tutti_control_at(tdev, image_offset));
	writeq(0, tutti_control_at(tdev, image_bytes));
	tutti_fw_request_boot(tdev);
	while (!tutti_fw_boot_answered(tdev)) {
		if (!tutti_card_is_there(tdev) || ktime_after(ktime_get(), end))
			return false;
		usleep_range(200, 500);
	}
	return true;
}
