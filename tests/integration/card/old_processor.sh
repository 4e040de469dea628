#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-51: firmware and kernels that are translated run on an x86 processor without AVX and FMA, which user emulation stands
# for: neither does the build take more than every processor has, nor is a kernel's translation taken that was made on a
# processor with more.
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap/tap.sh
out=${TUTTI_OUT:-build}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export TUTTI_DEVICE=emulator XDG_CACHE_HOME=$work

[ "$(uname -m)" = x86_64 ] || { echo "1..0 # SKIP this is no x86 processor"; exit 0; }
command -v qemu-x86_64 >/dev/null || { echo "1..0 # SKIP no qemu-x86_64"; exit 0; }
gcc -O2 -Wall -Werror -fPIC -shared tests/roots/processes.c -o "$work/processes.so" || exit 2

old() { # PROGRAM
	qemu-x86_64 -cpu Nehalem -E "LD_PRELOAD=$work/processes.so" "$@" >"$work/said" 2>&1
	local status=$?
	cat "$work/said"
	! grep -q 'interprets its firmware' "$work/said" && return $status
}

translations() { find "$work" -name '*.so' -path '*/translations/*' | wc -l; }

# The newer processor fills the cache first.
translated_anew() {
	local has_fma
	has_fma=$(grep -qw fma /proc/cpuinfo && echo 1 || echo 0)
	TUTTI_TRANSLATE=wait "$out/examples/matmul" && [ "$(translations)" = 1 ] &&
		TUTTI_TRANSLATE=wait old "$out/examples/matmul" && [ "$(translations)" = $((1 + has_fma)) ]
}

TUTTI_TRANSLATE=off check "SYS-51: kernels interpreted on a processor without AVX" old "$out/examples/vector_add"
check "SYS-51: kernels are translated anew for a processor without FMA" translated_anew
TUTTI_TRANSLATE=wait check "SYS-51: CGAs and their kernels, translated, on a processor without AVX" old "$out/examples/reduce"
plan
