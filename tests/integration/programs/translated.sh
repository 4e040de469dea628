#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-51: in deterministic mode the examples leave the same trace, bit for bit, whether their kernels are interpreted or
# translated: every event, and the count of instructions at which it happened. Traces hold addresses, which are to be alike.
set -u
cd "$(dirname "$0")/../../.." || exit 2
out=${TUTTI_OUT:-build}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
mkdir "$XDG_CACHE_HOME"
examples="conv gemm hello matmul reduce stencil"
echo "1..$(($(wc -w <<<"$examples") + 1))"
number=0
check() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then echo "ok $number - SYS-51: $2"; else echo "not ok $number - SYS-51: $2"; fi
}
trace() { # MODE EXAMPLE: leaves $work/MODE.trace
	rm -f "$work/$1.trace"
	TUTTI_DEVICE=emulator TUTTI_TRANSLATE=$1 setarch -R "$out/tutti" trace run -o "$work/$1.trace" --deterministic -- \
		"$out/examples/$2" >"$work/$1.log" 2>&1
}
for example in $examples; do
	trace off $example && trace wait $example &&
		[ -s "$work/off.trace" ] && cmp -s "$work/off.trace" "$work/wait.trace"
	check $? "$example interpreted and translated"
done
# or there was nothing to compare
[ "$(find "$XDG_CACHE_HOME/tutti" -name '*.so' | wc -l)" -ge 6 ]
check $? "all were translated"
