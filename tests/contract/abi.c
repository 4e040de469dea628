/* SPDX-License-Identifier: MIT */
/*
 * Every structure of the contract, compiled for one ABI with debug information for
 * all types, so that layouts can be compared by pahole. Holds no code.
 */
#include "tutti/contract.h"

const unsigned tutti_contract_version = TUTTI_CONTRACT_VERSION;
