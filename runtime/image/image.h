/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_IMAGE_H
#define TUTTI_RUNTIME_IMAGE_H

#include <stddef.h>

#include "tutti/firmware.h"

/**
 * image_check() - check whether a card can run this firmware image, by all rules of firmware.h in their order.
 * @data, @bytes: the whole file, which must not change meanwhile
 * @local_bytes: size of the soft core's local memory
 * @contract_min, @contract_max: the range of contract versions that the caller speaks; the image has to speak one of
 *	them
 *
 * Return: TUTTI_IMAGE_OK, or the first rule that is broken.
 */
unsigned image_check(const void *data, size_t bytes, uint32_t local_bytes, uint32_t contract_min,
		     uint32_t contract_max);
/** image_error() - describe a TUTTI_IMAGE_* value in words. */
const char *image_error(unsigned error);

#endif
