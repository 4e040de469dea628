#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs written for HSA, on the emulated card through libhsa-runtime64.so.1 (spec SYS-43).
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap/tap.sh
out=${TUTTI_OUT:-build}
programs=$out/tests/hsa
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUTTI_DEVICE=emulator CMOCKA_MESSAGE_OUTPUT=STDOUT

names=$(cd tests/integration/hsa && ls ./*.c | sed -n 's|^\./\(.*\)\.c$|\1|p' | grep -v '^hsa_test$')

# Each test of a program fails with a library whose functions only return 0; none of them enumerates nothing and passes.
fails_with_stub() { # PROGRAM
	LD_LIBRARY_PATH=$programs/stub timeout 60 "$programs/$1" >"$work/out" 2>&1 &&
		{ echo "the program has passed"; return 1; }
	! grep -E '^\[ +OK +\]' "$work/out"
}

for name in $names; do
	check "SYS-43 $name" timeout 120 "$out/tutti" hsa-run "$programs/$name"
	check "SYS-43 $name: every test fails with a library that does nothing" fails_with_stub "$name"
done
plan
