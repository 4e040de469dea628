/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_IMAGE_H
#define TUTTI_RUNTIME_IMAGE_H

#include <stddef.h>

#include "tutti/firmware.h"

/** image_check() - firmware.h's checks in its order. TUTTI_IMAGE_OK or what is wrong. */
unsigned image_check(const void *image, size_t bytes, uint32_t local_bytes);
/** image_error() - text for TUTTI_IMAGE_*. */
const char *image_error(unsigned error);

#endif
