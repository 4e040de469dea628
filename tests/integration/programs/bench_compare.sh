#!/bin/bash
# SPDX-License-Identifier: MIT
# PERF-12: the comparison with the last release, on figures made for the purpose, and on the record that is kept.
set -u
cd "$(dirname "$0")/../../.." || exit 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
check() # result, text
{
	n=$((n + 1))
	[ "$1" = 0 ] && echo "ok $n - PERF-12: $2" || echo "not ok $n - PERF-12: $2"
}
figure() # case, value, unit
{
	echo "{\"id\":\"P\",\"case\":\"$1\",\"value\":$2,\"unit\":\"$3\",\"target\":null,\"better\":\"lower\"}"
}

{ figure down 10 instructions/kernel; figure up 10 cycles/kernel; figure still 7 instructions; figure gone 1 instructions
	figure time 5 us; } >"$dir/old"
{ figure down 9 instructions/kernel; figure up 11 cycles/kernel; figure still 7 instructions; figure first 1 instructions
	figure time 9 us; } >"$dir/new"
perl tests/bench/compare.pl "$dir/old" "$dir/new" >"$dir/said"
grep -q '^better P down .* 10 -> 9 .*-10.0 %$' "$dir/said"
check $? "a lower count is better"
grep -q '^worse  P up .* 10 -> 11 .*+10.0 %$' "$dir/said"
check $? "a higher count is worse"
[ "$(tail -1 "$dir/said")" = "counts since the last release: 1 better, 1 worse, 1 same, 1 not measured, 1 new" ]
check $? "what is new, gone or equal is counted, and times are not"
perl tests/bench/compare.pl tests/bench/release.json tests/bench/release.json >"$dir/said" &&
	grep -Eq ' 0 better, 0 worse, [1-9][0-9]+ same' "$dir/said"
check $? "the record of the last release can be read, and equals itself"
echo "1..$n"
