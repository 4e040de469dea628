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
echo "1..$(($(wc -w <<<"$examples") + 4))"
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
[ "$(find "$XDG_CACHE_HOME" -name '*.so' | wc -l)" -ge 6 ]
check $? "all were translated"

# What `tuttic --translate` keeps is what the card looks for.
export XDG_CACHE_HOME=$work/filled
translations() { (cd "$XDG_CACHE_HOME" && find . -name '*.so' | sort); }
"$out/tuttic" --translate -ffp-contract=off -o "$work/matmul.tco" runtime/examples/matmul/kernels.c &&
	"$out/tutti" translate "$out/examples/reduce.tco" && translations >"$work/before" && [ "$(wc -l <"$work/before")" = 2 ] &&
	trace wait matmul && trace wait reduce && translations | cmp "$work/before" -
check $? "tuttic --translate and tutti translate fill the cache"

# SYS-58: what the program defines when it loads the kernels is no part of the code.
XDG_CACHE_HOME=$work/external "$out/tuttic" --translate --allow-undefined -o "$work/external.tco" tests/integration/kernels/external.c &&
	[ "$(find "$work/external" -name '*.so' | wc -l)" = 1 ]
check $? "kernels with variables that are defined when they are loaded are translated beforehand, too"
TUTTI_DEVICE=emulator "$out/tutti" info >"$work/info" && grep -qE "^kernels +translated, compiled by /" "$work/info" &&
	grep -qF "2, " "$work/info" && grep -qF "in $work/filled/tutti/translations" "$work/info" &&
	TUTTI_TRANSLATE=off TUTTI_DEVICE=emulator "$out/tutti" info --json | grep -q '"kernels_are":"interpreted, since TUTTI_TRANSLATE is off"'
check $? "tutti info tells how kernels are executed, and where translations are"
