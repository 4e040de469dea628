// SPDX-License-Identifier: MIT
#include "image/image.h"

#include <zlib.h>

#include "tutti/contract.h"

static uint32_t crc(const void *data, uint64_t bytes)
{
	return (uint32_t)crc32_z(0, data, bytes);
}

unsigned image_check(const void *data, size_t bytes, uint32_t local_bytes, uint32_t contract_min,
		     uint32_t contract_max)
{
	return tutti_image_check(data, bytes, crc, local_bytes, contract_min, contract_max);
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
