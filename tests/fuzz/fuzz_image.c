/* SPDX-License-Identifier: MIT */
/*
 * REL-01, SYS-05: any bytes as a firmware image; now and then the CRC is corrected, to test what comes after its check.
 */
#include <zlib.h>

#include "emulator/card/firmware_load.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct tutti_card card;
static struct tutti_control control;
static struct tutti_status status;
static uint8_t memory[1 << 20], local[CARD_LOCAL_BYTES];

int profile_create(struct tutti_card *c, const struct tutti_image_symbol *symbols, uint32_t n)
{
	volatile uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += symbols[i].address;
	return 0;
}

bool inject_take(struct tutti_card *c, enum tutti_card_fault fault)
{
	return false;
}

void inject_booted(struct tutti_card *c)
{
}

void card_die(struct tutti_card *c, uint32_t cause, uint32_t code, uint32_t pc, uint32_t tval, const char *text)
{
}

void card_power_on(struct tutti_card *c)
{
	memset(local, 0, sizeof(local));
}

static int reset(struct core *core, uint32_t entry)
{
	return entry >= CARD_LOCAL_BYTES;
}

static const struct core_ops ops = { .reset = reset };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct tutti_image *image = (void *)memory;

	if (bytes < 1 || bytes > sizeof(memory) / 2)
		return 0;
	memcpy(memory, data + 1, bytes - 1);
	if (data[0] & 1 && bytes > sizeof(*image)) {
		image->magic = TUTTI_IMAGE_MAGIC;
		image->header_bytes = sizeof(*image);
		image->file_bytes = (uint32_t)bytes - 1;
		if (data[0] & 2) {
			image->contract_min = TUTTI_VERSION(1, 0);
			image->contract_max = TUTTI_VERSION(1, 9);
		}
		image->crc = (uint32_t)crc32(0, memory + 8, bytes - 9);
	}
	card.control = &control;
	card.status = &status;
	card.memory = memory;
	card.local = local;
	card.ops = &ops;
	card.discovery.memory_bytes = sizeof(memory);
	card.discovery.local_bytes = sizeof(local);
	control.boot_sequence++;
	control.image_offset = 0;
	control.image_bytes = bytes - 1;
	firmware_boot(&card);
	return 0;
}
