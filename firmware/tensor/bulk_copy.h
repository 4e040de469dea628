/* SPDX-License-Identifier: MIT */
/** DOC: Bulk copies: tensor requests for contiguous bytes, without a tensor descriptor */
#ifndef BULK_COPY_H
#define BULK_COPY_H

#include "core/base.h"

/* These start or continue tmau.job with at most @room mover descriptors. Return: true if all are written. */
bool bulk_start(int room);
bool bulk_run(int room);

#endif
