// SPDX-License-Identifier: MIT
/* Boot: the card's loader checks the firmware image (firmware.h of the contract) and starts it. */
#include <stdlib.h>
#include <string.h>

#include "emulator/base/crash.h"
#include "emulator/base/inject.h"
#include "emulator/base/profile.h"
#include "emulator/card/firmware_load.h"
#include "emulator/card/round.h"

#define IMAGE_BYTES_MAX (4u << 20)

static uint32_t crc32(const uint8_t *p, size_t bytes)
{
	uint32_t table[16], crc = ~0u, i, k;

	for (i = 0; i < 16; i++) {
		table[i] = i;
		for (k = 0; k < 4; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	for (; bytes; bytes--, p++) {
		crc = table[(crc ^ *p) & 15] ^ crc >> 4;
		crc = table[(crc ^ *p >> 4) & 15] ^ crc >> 4;
	}
	return ~crc;
}

static uint32_t check_segment(const struct tutti_image *image, const struct tutti_image_segment *s, uint32_t local)
{
	unsigned i;

	if (s->file_offset > image->file_bytes || s->file_bytes > image->file_bytes - s->file_offset)
		return TUTTI_IMAGE_BAD_SEGMENT;
	if ((s->address & 3) || s->address > local || s->memory_bytes > local - s->address)
		return TUTTI_IMAGE_BAD_SEGMENT;
	for (i = 0; &image->segment[i] != s; i++)
		if (s->address < image->segment[i].address + image->segment[i].memory_bytes &&
		    image->segment[i].address < s->address + s->memory_bytes)
			return TUTTI_IMAGE_BAD_SEGMENT;
	return s->memory_bytes < s->file_bytes ? TUTTI_IMAGE_BAD_SEGMENT : TUTTI_IMAGE_OK;
}

/* TUTTI_IMAGE_* for the image of @bytes bytes; checks in the order of firmware.h. */
static uint32_t check_image(const struct tutti_image *image, uint64_t bytes, uint32_t local)
{
	uint32_t i, error;

	if (bytes < sizeof(*image))
		return TUTTI_IMAGE_BAD_SIZE;
	if (image->magic != TUTTI_IMAGE_MAGIC)
		return TUTTI_IMAGE_BAD_MAGIC;
	if (image->header_bytes != sizeof(*image) || image->file_bytes != bytes)
		return TUTTI_IMAGE_BAD_SIZE;
	if (image->crc != crc32((const uint8_t *)image + 8, bytes - 8))
		return TUTTI_IMAGE_BAD_CRC;
	if (image->contract_min > TUTTI_CONTRACT_VERSION || image->contract_max < TUTTI_VERSION(TUTTI_VERSION_MAJOR(TUTTI_CONTRACT_VERSION), 0))
		return TUTTI_IMAGE_BAD_VERSION;
	if (!image->segments || image->segments > TUTTI_IMAGE_SEGMENTS || (image->entry & 1) ||
	    image->entry >= local)
		return TUTTI_IMAGE_BAD_SEGMENT;
	for (i = 0; i < image->segments; i++) {
		error = check_segment(image, &image->segment[i], local);
		if (error)
			return error;
	}
	return TUTTI_IMAGE_OK;
}

/* A private copy of the image, since the host could change the one in card memory. NULL and @error if it has none. */
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

/* Symbols are for people and profilers: a bad table is ignored. */
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
	card->engines.taken = true; /* run it once */
}

void firmware_boot(struct tutti_card *card)
{
	uint32_t sequence = tutti_load_acquire(&card->control->boot_sequence), error;
	struct tutti_image *image;
	uint64_t bytes;

	card->boot_seen = sequence;
	card_power_on(card);
	if (!sequence)
		return;
	image = copy_image(card, &bytes, &error);
	if (image)
		error = check_image(image, bytes, card->discovery.local_bytes);
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
