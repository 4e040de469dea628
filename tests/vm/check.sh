#!/bin/bash
# SPDX-License-Identifier: MIT
# For prove: the guest run of Debian's 6.12 kernel as one test program (spec SYS-20, SYS-31). `make vm-check` is the same.
set -euo pipefail
cd "$(dirname "$0")/../.."
# Next to other tests on two processors everything takes longer; a test that hangs is stopped all the same.
slower=${TUTTI_TEST_SLOWER:-1}
OUT=${TUTTI_OUT:-build} VM_TIMEOUT=${VM_TIMEOUT:-$((1400 * slower))} VM_TEST_TIMEOUT=${VM_TEST_TIMEOUT:-$((900 * slower))} VM_ROUNDS=${VM_ROUNDS:-20} \
	VM_FUZZ_SECONDS=${VM_FUZZ_SECONDS:-5} exec tests/vm/run check "${KERNEL:-6.12}"
