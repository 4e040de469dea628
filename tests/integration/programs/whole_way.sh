#!/bin/bash
# SPDX-License-Identifier: MIT
# PERF-12, PERF-14: soft-core instructions of whole launches and whole tensor requests. They are exact; each limit is
# what was measured and a fiftieth more, or the target of the specification where that is met.
set -u
cd "$(dirname "$0")/../../.." || exit 2
out=${TUTTI_OUT:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TUTTI_DEVICE=emulator
margin=$(tests/bench/count_margin)
n=0
check() # result, text
{
	n=$((n + 1))
	[ "$1" = 0 ] && echo "ok $n - $2" || echo "not ok $n - $2"
}

"$out/tutti" bench --only PERF-12 --where --output "$dir/way" >"$dir/where" 2>"$dir/err"
check $? "PERF-12: every form of launch can be measured, and each function of the firmware has a unit"
"$out/tutti" bench --only PERF-12 --output "$dir/again" >/dev/null 2>&1
cmp -s "$dir/way" "$dir/again"
check $? "PERF-12: two runs count the same"
# after each form come its units, which add up
perl -ne 'sub out { $bad = 1 if defined $want && abs($want - $sum) > 0.2 }
	if (/^PERF-12\s+\S+\s+([\d.]+) instr/) { out(); ($want, $sum, $forms) = ($1, 0, $forms + 1) }
	elsif (/^\s+[a-z]+\s+([\d.]+) instructions/) { $sum += $1 }
	END { out(); exit($bad || $forms < 17) }' "$dir/where"
check $? "PERF-12: --where prints units that add up to the whole way"
"$out/tutti" bench --only PERF-14 --output "$dir/tensor" >/dev/null 2>&1
check $? "PERF-14: tensor requests can be measured"

perl tests/bench/growth.pl "$dir/svg" >/dev/null && grep -q '^</svg>' "$dir/svg"
check $? "PERF-06 PERF-12: no form of launch grows by half from 32 to 1024 SMs, a CGA by 1510 instructions; nor with shapes, little with queues"

while read -r id case limit; do
	value=$(sed -n "s/.*\"id\":\"$id\",\"case\":\"$case\",\"value\":\([-0-9.e+]*\).*/\1/p" "$dir/way" "$dir/tensor")
	perl -e 'exit !($ARGV[0] ne "" && $ARGV[0] <= $ARGV[1] * $ARGV[2])' -- "$value" "$limit" "$margin"
	check $? "$id: $case: ${value:-is missing}, at most $limit"
done <<LIMITS
PERF-12 plain_1d 373
PERF-12 reference_store_1d 817
PERF-12 reference_replace_1d 675
PERF-12 condensed_empty_1 450
PERF-12 condensed_empty_6 230
PERF-12 condensed_empty_31 194
PERF-12 condensed_same_6 225
PERF-12 condensed_same_31 187
PERF-12 own_metadata 881
PERF-12 cga_16 900
PERF-12 child_task 1472
PERF-12 work_item 1390
PERF-14 hot_tile_rank_2 200
PERF-14 first_use_of_descriptor 1200
PERF-14 im2col_3 350
PERF-14 im2col_5 600
LIMITS
echo "1..$n"
