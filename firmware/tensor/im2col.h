/* SPDX-License-Identifier: MIT */
/** DOC: Im2col requests: columns of pixels, as a convolution reads them (spec TMA-11 .. TMA-14) */
#ifndef IM2COL_H
#define IM2COL_H

#include "core/base.h"

/* These start or continue tmau.job with at most @room mover descriptors. Return: true if all are written. */
bool im2col_start(int room);
bool im2col_run(int room);

#endif
