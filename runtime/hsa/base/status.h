/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_HSA_STATUS_H
#define TUTTI_HSA_STATUS_H

#include <hsa/hsa.h>
#include <stdint.h>

/** status_of() - status for a result of libtutti: 0 or a negative errno. */
hsa_status_t status_of(int error);

/** status_of_fault() - status that the callback of a queue gets for a TUTTI_ERROR_* code. */
hsa_status_t status_of_fault(uint32_t code);

#endif
