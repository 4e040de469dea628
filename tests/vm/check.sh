#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh [PART]: for prove, the tests under Debian's 6.12 kernel as one test program (spec SYS-20, SYS-31); `make vm-check`
# is the same. They take minutes, so `make check` runs them in three parts, each in a guest of its own beside the others.
set -euo pipefail
cd "$(dirname "$0")/../.."
calls=/35,/39,/50 recovery=/36,/37,/38
others() { # the scripts of the guest that no other part has
	ls tests/vm/guest/*.sh | grep -vE "${calls//,/|}|${recovery//,/|}" | sed 's|.*\(/[0-9]*\).*|\1|' | paste -sd,
}
case ${1:-} in
'') ;;
calls | recovery) export VM_PART=$1 VM_ONLY=${!1} ;;
others) export VM_PART=$1 VM_ONLY=$(others) ;;
*) echo "there is no part $1" >&2 && exit 2 ;;
esac
OUT=${TUTTI_OUT:-build} VM_TIMEOUT=${VM_TIMEOUT:-1400} VM_TEST_TIMEOUT=${VM_TEST_TIMEOUT:-900} VM_ROUNDS=${VM_ROUNDS:-20} \
	VM_FUZZ_SECONDS=${VM_FUZZ_SECONDS:-5} exec tests/vm/run check "${KERNEL:-6.12}"
