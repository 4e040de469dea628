/* SPDX-License-Identifier: MIT */
/** DOC: Im2col requests: columns of pixels, as a convolution reads them (spec TMA-11 .. TMA-14) */
#ifndef IM2COL_H
#define IM2COL_H

#include "tensor/descriptor_compile.h"

/**
 * im2col_plain() - serve the first request by descriptor @m, which is mover_begin(): a column that one descriptor can
 * load. Its first word, @shape and @shared are set.
 */
void im2col_plain(struct tensor_template *t, const struct tutti_tensor_request *r, struct tutti_mover *m);
/* These start or continue tmau.job with at most @room mover descriptors. Return: true if all are written. */
bool im2col_start(int room);
bool im2col_run(int room);

#endif
