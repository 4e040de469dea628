// SPDX-License-Identifier: MIT
#include "image/image.h"

#include <stdbool.h>
#include <zlib.h>

#include "tutti/contract.h"

static bool segment_ok(const struct tutti_image *image, uint32_t s, uint32_t local_bytes)
{
	const struct tutti_image_segment *a = &image->segment[s];

	if (a->address & 3 || a->file_bytes > a->memory_bytes || a->file_offset > image->file_bytes ||
	    a->file_bytes > image->file_bytes - a->file_offset || a->address > local_bytes ||
	    a->memory_bytes > local_bytes - a->address)
		return false;
	for (uint32_t i = 0; i < s; i++) {
		const struct tutti_image_segment *b = &image->segment[i];

		if (a->address < b->address + b->memory_bytes && b->address < a->address + a->memory_bytes)
			return false;
	}
	return true;
}

static bool segments_ok(const struct tutti_image *image, uint32_t local_bytes)
{
	if (!image->segments || image->segments > TUTTI_IMAGE_SEGMENTS || image->entry & 1 ||
	    image->entry >= local_bytes)
		return false;
	for (uint32_t s = 0; s < image->segments; s++)
		if (!segment_ok(image, s, local_bytes))
			return false;
	return true;
}

unsigned image_check(const void *data, size_t bytes, uint32_t local_bytes, uint32_t contract_min,
		     uint32_t contract_max)
{
	const struct tutti_image *image = data;
	const size_t covered = offsetof(struct tutti_image, header_bytes);

	if (bytes < sizeof(*image))
		return TUTTI_IMAGE_BAD_SIZE;
	if (image->magic != TUTTI_IMAGE_MAGIC)
		return TUTTI_IMAGE_BAD_MAGIC;
	if (image->header_bytes != sizeof(*image) || image->file_bytes != bytes)
		return TUTTI_IMAGE_BAD_SIZE;
	if (crc32_z(0, (const uint8_t *)data + covered, bytes - covered) != image->crc)
		return TUTTI_IMAGE_BAD_CRC;
	if (image->contract_min > contract_max || image->contract_max < contract_min)
		return TUTTI_IMAGE_BAD_VERSION;
	return segments_ok(image, local_bytes) ? TUTTI_IMAGE_OK : TUTTI_IMAGE_BAD_SEGMENT;
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
