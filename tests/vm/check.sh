#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh [PART]: for prove, the tests under Debian's 6.12 kernel as one test program (spec SYS-20, SYS-31); `make vm-check`
# is the same. They take minutes, so `make check` runs them in parts, each in a guest of its own beside the others: a busy
# machine shares its processors out among all that runs, so the part that takes longest decides how long all of it takes.
set -euo pipefail
cd "$(dirname "$0")/../.."
declare -A parts=([calls]=/35 [hotplug]=/39,/50 [recovery]=/36 [reload]=/37,/38 [runtime]=/40,/45,/46)
all=${parts[*]}
others() { # the scripts of the guest that no other part has
	ls tests/vm/guest/*.sh | grep -vE "${all//[, ]/|}" | sed 's|.*\(/[0-9]*\).*|\1|' | paste -sd,
}
parts[others]=$(others)
if [ -n "${1:-}" ]; then
	export VM_PART=$1 VM_ONLY=${parts[$1]:?there is no such part}
fi
OUT=${TUTTI_OUT:-build} VM_TIMEOUT=${VM_TIMEOUT:-1400} VM_TEST_TIMEOUT=${VM_TEST_TIMEOUT:-900} VM_ROUNDS=${VM_ROUNDS:-20} \
	VM_FUZZ_SECONDS=${VM_FUZZ_SECONDS:-5} exec tests/vm/run check "${KERNEL:-6.12}"
