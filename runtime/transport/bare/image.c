// SPDX-License-Identifier: MIT
#include "transport/bare/image.h"

#include <string.h>

static uint32_t crc32(const uint8_t *data, size_t bytes)
{
	uint32_t crc = 0xffffffffu;

	for (size_t i = 0; i < bytes; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
	}
	return ~crc;
}

static int segment_ok(const struct tutti_image *image, uint32_t s, uint32_t local_bytes)
{
	const struct tutti_image_segment *a = &image->segment[s];

	if (a->address & 3 || a->file_bytes > a->memory_bytes || a->file_offset > image->file_bytes ||
	    a->file_bytes > image->file_bytes - a->file_offset || a->address > local_bytes ||
	    a->memory_bytes > local_bytes - a->address)
		return 0;
	for (uint32_t i = 0; i < s; i++) {
		const struct tutti_image_segment *b = &image->segment[i];

		if (a->address < b->address + b->memory_bytes && b->address < a->address + a->memory_bytes)
			return 0;
	}
	return 1;
}

unsigned image_check(const void *data, size_t bytes, uint32_t local_bytes)
{
	const struct tutti_image *image = data;
	const size_t covered = offsetof(struct tutti_image, header_bytes);

	if (bytes < sizeof(*image))
		return TUTTI_IMAGE_BAD_SIZE;
	if (image->magic != TUTTI_IMAGE_MAGIC)
		return TUTTI_IMAGE_BAD_MAGIC;
	if (image->header_bytes < sizeof(*image) || image->file_bytes < image->header_bytes ||
	    image->file_bytes > bytes)
		return TUTTI_IMAGE_BAD_SIZE;
	if (crc32((const uint8_t *)data + covered, image->file_bytes - covered) != image->crc)
		return TUTTI_IMAGE_BAD_CRC;
	if (TUTTI_CONTRACT_VERSION < image->contract_min || TUTTI_CONTRACT_VERSION > image->contract_max)
		return TUTTI_IMAGE_BAD_VERSION;
	if (!image->segments || image->segments > TUTTI_IMAGE_SEGMENTS)
		return TUTTI_IMAGE_BAD_SEGMENT;
	for (uint32_t s = 0; s < image->segments; s++)
		if (!segment_ok(image, s, local_bytes))
			return TUTTI_IMAGE_BAD_SEGMENT;
	return TUTTI_IMAGE_OK;
}

const char *image_error(unsigned error)
{
	static const char *const text[] = {
	    [TUTTI_IMAGE_OK] = "good",
	    [TUTTI_IMAGE_BAD_MAGIC] = "not a firmware image",
	    [TUTTI_IMAGE_BAD_SIZE] = "truncated, or larger than the room for it",
	    [TUTTI_IMAGE_BAD_CRC] = "checksum does not match",
	    [TUTTI_IMAGE_BAD_VERSION] = "contract versions do not match",
	    [TUTTI_IMAGE_BAD_SEGMENT] = "bad segment",
	    [TUTTI_IMAGE_BAD_PLACE] = "not inside card memory",
	};

	return error < sizeof(text) / sizeof(text[0]) ? text[error] : "unknown defect";
}
