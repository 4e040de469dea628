#!/bin/bash
# SPDX-License-Identifier: MIT
# For prove: the guest run of Debian's 6.12 kernel as one test program (spec SYS-20, SYS-31). `make vm-check` is the same.
set -euo pipefail
cd "$(dirname "$0")/../.."
OUT=${TUTTI_OUT:-build} VM_TIMEOUT=${VM_TIMEOUT:-1400} VM_TEST_TIMEOUT=${VM_TEST_TIMEOUT:-900} VM_ROUNDS=${VM_ROUNDS:-20} \
	VM_FUZZ_SECONDS=${VM_FUZZ_SECONDS:-5} exec tests/vm/run check "${KERNEL:-6.12}"
