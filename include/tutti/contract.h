/* SPDX-License-Identifier: MIT */
/**
 * DOC: The whole card contract in one include
 *
 * include/README.md says what the contract is, include/HARDWARE.md what it asks of a card.
 */
#ifndef TUTTI_CONTRACT_H
#define TUTTI_CONTRACT_H

#include "code_object.h"
#include "control.h"
#include "counter.h"
#include "discovery.h"
#include "dump.h"
#include "fault.h"
#include "firmware.h"
#include "message.h"
#include "mmu.h"
#include "mover.h"
#include "packet.h"
#include "reference.h"
#include "signal.h"
#include "sm_state.h"
#include "softcore.h"
#include "tensor.h"
#include "tensor_type.h"
#include "tmd.h"
#include "trace.h"
#include "types.h"
#include "wave.h"

#endif
