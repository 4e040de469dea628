/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_IMAGE_H
#define TUTTI_RUNTIME_IMAGE_H

#include <stddef.h>

#include "tutti/firmware.h"

/**
 * image_check() - does a card take this firmware image? Checks all that firmware.h demands, in its order.
 * @data, @bytes: the whole file; nobody may change it meanwhile
 * @local_bytes: the soft core's local memory
 * @contract_min, @contract_max: versions of the contract that whoever asks speaks; the image has to speak one
 * of them
 *
 * Return: TUTTI_IMAGE_OK, or what is wrong first.
 */
unsigned image_check(const void *data, size_t bytes, uint32_t local_bytes, uint32_t contract_min,
		     uint32_t contract_max);
/** image_error() - text for TUTTI_IMAGE_*. */
const char *image_error(unsigned error);

#endif
