/* SPDX-License-Identifier: MIT */
/** DOC: Columns of pixels, as a convolution reads them (spec TMA-11 .. TMA-14) */
#ifndef IM2COL_H
#define IM2COL_H

#include "core/base.h"

/* These start or go on with tmau.job, at most @room descriptors. Return: true = all written. */
bool im2col_start(int room);
bool im2col_run(int room);

#endif
