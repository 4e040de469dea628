// SPDX-License-Identifier: MIT
/* The loader of the card, which checks the firmware image (firmware.h of the contract) and starts it. */
#include <stdlib.h>
#include <string.h>

#include "emulator/base/crash.h"
#include "emulator/base/inject.h"
#include "emulator/base/profile.h"
#include "emulator/card/firmware_load.h"
#include "emulator/card/round.h"
#include "image/image.h"

#define IMAGE_BYTES_MAX (4u << 20)

/* Copy the image, since the host could change it in card memory after the check. Return: NULL, with @error, if bad. */
static struct tutti_image *copy_image(struct tutti_card *card, uint64_t *bytes, uint32_t *error)
{
	uint64_t offset = tutti_load_relaxed(&card->control->image_offset);
	struct tutti_image *image;

	*bytes = tutti_load_relaxed(&card->control->image_bytes);
	*error = TUTTI_IMAGE_BAD_PLACE;
	if (offset > card->discovery.memory_bytes || *bytes > card->discovery.memory_bytes - offset)
		return NULL;
	*error = TUTTI_IMAGE_BAD_SIZE;
	if (*bytes < sizeof(*image) || *bytes > IMAGE_BYTES_MAX)
		return NULL;
	image = malloc(*bytes);
	if (image)
		memcpy(image, card->memory + offset, *bytes);
	return image;
}

/* Symbols only serve profiles, so a bad table is ignored. */
static void load_symbols(struct tutti_card *card, const struct tutti_image *image)
{
	const struct tutti_image_symbol *symbols = NULL;
	uint32_t n = 0;

	if (image->symbols_offset && !(image->symbols_offset & 3) && image->symbols_offset <= image->file_bytes &&
	    image->symbols <= (image->file_bytes - image->symbols_offset) / sizeof(*symbols)) {
		symbols = (const void *)((const uint8_t *)image + image->symbols_offset);
		n = image->symbols;
	}
	profile_create(card, symbols, n);
}

static void start(struct tutti_card *card, const struct tutti_image *image)
{
	uint32_t i;

	for (i = 0; i < image->segments; i++) {
		const struct tutti_image_segment *s = &image->segment[i];

		memcpy(card->local + s->address, (const uint8_t *)image + s->file_offset, s->file_bytes);
	}
	load_symbols(card, image);
	card->status->firmware_version = image->firmware_version;
	card->status->contract_min = image->contract_min;
	card->status->contract_max = image->contract_max;
	tutti_store_release(&card->status->state, TUTTI_STATE_LOADING);
	tutti_store_release(&card->status->boot_sequence, card->boot_seen);
	if (card->ops->reset(card->core, image->entry)) {
		card_die(card, TUTTI_CRASH_TRAP, 0, image->entry, 0, "soft core does not start");
		return;
	}
	card->alive = true;
	card->stuck_ns = 1; /* the core runs, although no event waits for it, and the watchdog starts */
	card->hung_at = 0;
}

void firmware_boot(struct tutti_card *card)
{
	uint32_t sequence = tutti_load_acquire(&card->control->boot_sequence), error;
	struct tutti_image *image;
	uint64_t bytes;

	card->boot_seen = sequence;
	card_power_on(card);
	inject_booted(card);
	if (!sequence)
		return;
	image = copy_image(card, &bytes, &error);
	if (image)
		error = image_check(image, bytes, card->discovery.local_bytes, card->discovery.contract_min,
				    card->discovery.contract_max);
	if (!error && inject_take(card, TUTTI_INJECT_BOOT_FAILURE))
		error = TUTTI_IMAGE_BAD_CRC;
	if (!error) {
		start(card, image);
	} else {
		card->status->boot_error = error;
		tutti_store_release(&card->status->state, TUTTI_STATE_FAILED);
		tutti_store_release(&card->status->boot_sequence, sequence);
	}
	free(image);
}
