/* SPDX-License-Identifier: MIT */
/**
 * DOC: Firmware image file
 *
 * A header, a table of segments, the data of the segments, and a table of symbols that is
 * only for people and profilers. Little endian; all offsets count from the start of
 * the file. Host and card check an image in this order: magic; header_bytes is
 * sizeof(struct tutti_image) and file_bytes the size of the file; CRC-32 (IEEE 802.3,
 * reflected) of every byte behind the field; the contract range; the entry, which is even and
 * in local memory; then each segment: inside the file, inside local memory, 4-byte aligned,
 * overlapping no other, file_bytes not above memory_bytes. tutti_image_check() is that check.
 * (spec SYS-05)
 */
#ifndef TUTTI_FIRMWARE_H
#define TUTTI_FIRMWARE_H

#include "types.h"

#define TUTTI_IMAGE_MAGIC 0x57465454u /* "TTFW" */
#define TUTTI_IMAGE_SEGMENTS 8u

/** tutti_image_name() - file name of the image for a card with @sms SMs. */
#define TUTTI_IMAGE_NAME "tutti-fw.bin"
#define TUTTI_IMAGE_NAME_LARGE "tutti-fw-large.bin"
#define tutti_image_name(sms) ((sms) > TUTTI_SMALL_CARD_SMS ? TUTTI_IMAGE_NAME_LARGE : TUTTI_IMAGE_NAME)

/**
 * struct tutti_image_segment - a part of the soft core's local memory.
 * @address: local address, 4-byte aligned
 * @memory_bytes: room it takes there; what lies behind @file_bytes need not be written: the firmware clears it
 * @file_offset: where its bytes are in the file
 * @file_bytes: bytes to copy
 */
struct tutti_image_segment {
	uint32_t address;
	uint32_t memory_bytes;
	uint32_t file_offset;
	uint32_t file_bytes;
};
TUTTI_SIZE(struct tutti_image_segment, 16);
TUTTI_AT(struct tutti_image_segment, address, 0);
TUTTI_AT(struct tutti_image_segment, memory_bytes, 4);
TUTTI_AT(struct tutti_image_segment, file_offset, 8);
TUTTI_AT(struct tutti_image_segment, file_bytes, 12);

/** struct tutti_image - header of a firmware image. */
struct tutti_image {
	uint32_t magic;
	uint32_t crc;              /* of everything behind this field */
	uint32_t header_bytes;     /* sizeof(struct tutti_image) */
	uint32_t file_bytes;
	uint32_t firmware_version; /* TUTTI_VERSION */
	uint32_t contract_min;     /* contract range this firmware speaks */
	uint32_t contract_max;
	uint32_t entry;            /* address of the first instruction */
	uint32_t segments;         /* 1 .. TUTTI_IMAGE_SEGMENTS */
	uint32_t symbols_offset;   /* struct tutti_image_symbol[], 0 = none */
	uint32_t symbols;          /* number of symbols */
	uint32_t pad0;
	char build[16];            /* free text, NUL-terminated */
	struct tutti_image_segment segment[TUTTI_IMAGE_SEGMENTS];
};
TUTTI_SIZE(struct tutti_image, 192);
TUTTI_AT(struct tutti_image, magic, 0);
TUTTI_AT(struct tutti_image, crc, 4);
TUTTI_AT(struct tutti_image, header_bytes, 8);
TUTTI_AT(struct tutti_image, file_bytes, 12);
TUTTI_AT(struct tutti_image, firmware_version, 16);
TUTTI_AT(struct tutti_image, contract_min, 20);
TUTTI_AT(struct tutti_image, contract_max, 24);
TUTTI_AT(struct tutti_image, entry, 28);
TUTTI_AT(struct tutti_image, segments, 32);
TUTTI_AT(struct tutti_image, symbols_offset, 36);
TUTTI_AT(struct tutti_image, symbols, 40);
TUTTI_AT(struct tutti_image, pad0, 44);
TUTTI_AT(struct tutti_image, build, 48);
TUTTI_AT(struct tutti_image, segment, 64);

/** struct tutti_image_symbol - a function, for instruction counts by function. */
struct tutti_image_symbol {
	uint32_t address;
	uint32_t bytes;
	char name[40];
};
TUTTI_SIZE(struct tutti_image_symbol, 48);
TUTTI_AT(struct tutti_image_symbol, address, 0);
TUTTI_AT(struct tutti_image_symbol, bytes, 4);
TUTTI_AT(struct tutti_image_symbol, name, 8);

/* What is wrong with an image: struct tutti_status.boot_error */
#define TUTTI_IMAGE_OK 0u
#define TUTTI_IMAGE_BAD_MAGIC 1u
#define TUTTI_IMAGE_BAD_SIZE 2u
#define TUTTI_IMAGE_BAD_CRC 3u
#define TUTTI_IMAGE_BAD_VERSION 4u
#define TUTTI_IMAGE_BAD_SEGMENT 5u
#define TUTTI_IMAGE_BAD_PLACE 6u /* it does not lie inside card memory */

/** tutti_image_segment_check() - whether segment @n of an image fits the file, local memory and the segments before it. */
static inline bool tutti_image_segment_check(const struct tutti_image *image, uint32_t n, uint32_t local_bytes)
{
	const struct tutti_image_segment *a = &image->segment[n], *b;

	if ((a->address & 3) || a->address > local_bytes || a->memory_bytes > local_bytes - a->address ||
	    a->file_bytes > a->memory_bytes || a->file_offset > image->file_bytes ||
	    a->file_bytes > image->file_bytes - a->file_offset)
		return false;
	for (b = image->segment; b < a; b++)
		if (a->address < b->address + b->memory_bytes && b->address < a->address + a->memory_bytes)
			return false;
	return true;
}

/** tutti_image_segments_check() - the entry and the segments of an image, the last part of tutti_image_check(). */
static inline bool tutti_image_segments_check(const struct tutti_image *image, uint32_t local_bytes)
{
	uint32_t n;

	if ((image->entry & 1) || image->entry >= local_bytes || !image->segments ||
	    image->segments > TUTTI_IMAGE_SEGMENTS)
		return false;
	for (n = 0; n < image->segments; n++)
		if (!tutti_image_segment_check(image, n, local_bytes))
			return false;
	return true;
}

/**
 * tutti_image_check() - check whether a card can run a firmware image, by all rules above in their order.
 * @image: the whole file, which must not change meanwhile
 * @bytes: its size
 * @checksum: CRC-32 of so many bytes
 * @local_bytes: size of the soft core's local memory
 * @contract_min: oldest contract version that the caller speaks; the image has to speak one of its range
 * @contract_max: newest one
 *
 * Return: TUTTI_IMAGE_OK, or the first rule that is broken.
 */
static inline uint32_t tutti_image_check(const struct tutti_image *image, uint64_t bytes,
					 uint32_t (*checksum)(const void *data, uint64_t bytes), uint32_t local_bytes,
					 uint32_t contract_min, uint32_t contract_max)
{
	const uint64_t behind_crc = 8; /* offset of header_bytes */

	if (bytes >= sizeof(image->magic) && image->magic != TUTTI_IMAGE_MAGIC)
		return TUTTI_IMAGE_BAD_MAGIC;
	if (bytes < sizeof(*image) || image->header_bytes != sizeof(*image) || image->file_bytes != bytes)
		return TUTTI_IMAGE_BAD_SIZE;
	if (checksum((const uint8_t *)image + behind_crc, bytes - behind_crc) != image->crc)
		return TUTTI_IMAGE_BAD_CRC;
	if (image->contract_min > contract_max || image->contract_max < contract_min)
		return TUTTI_IMAGE_BAD_VERSION;
	return tutti_image_segments_check(image, local_bytes) ? TUTTI_IMAGE_OK : TUTTI_IMAGE_BAD_SEGMENT;
}

#endif
