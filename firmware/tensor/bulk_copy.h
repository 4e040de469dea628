/* SPDX-License-Identifier: MIT */
/** DOC: Bulk copies: bytes without a tensor */
#ifndef BULK_COPY_H
#define BULK_COPY_H

#include "core/base.h"

/* These start or go on with tmau.job, at most @room descriptors. Return: true = all written. */
bool bulk_start(int room);
bool bulk_run(int room);

#endif
