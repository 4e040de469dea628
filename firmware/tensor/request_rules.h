/* SPDX-License-Identifier: MIT */
/** DOC: Rules that a tensor request must keep (spec TMA-04) */
#ifndef REQUEST_RULES_H
#define REQUEST_RULES_H

#include "tensor/descriptor_compile.h"

/** request_check_tensor() - @t is that of @call's descriptor, mode and rank fit. */
enum tutti_tensor_error request_check_tensor(const struct tutti_tensor_call *call, const struct tensor_template *t);
enum tutti_tensor_error request_check_block(const struct tutti_tensor_call *call, uint64_t *bytes);

#endif
