/* SPDX-License-Identifier: MIT */
/** DOC: The rules that a tensor request must obey (spec TMA-04) */
#ifndef REQUEST_RULES_H
#define REQUEST_RULES_H

#include "tensor/descriptor_compile.h"

/** request_check_tensor() - check @call, whose descriptor is compiled into @t and whose mode and rank fit it. */
enum tutti_tensor_error request_check_tensor(const struct tutti_tensor_call *call, const struct tensor_template *t);
/** request_check_block() - check @call, which has no descriptor, and set @bytes to its size. */
enum tutti_tensor_error request_check_block(const struct tutti_tensor_call *call, uint64_t *bytes);

#endif
