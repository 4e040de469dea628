#!/bin/bash
# SPDX-License-Identifier: MIT
# REL-01: run every fuzz target for FUZZ_SECONDS (10), seeds first. What is found stays in build/tests/fuzz/found/.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=${TUTTI_OUT:-build}/tests/fuzz
seconds=${FUZZ_SECONDS:-10}
number=0
mkdir -p "$out/found"
[ -x "$out/fuzz_code_object" ] || { echo "1..0 # SKIP no libFuzzer here"; exit 0; }

seeds() { # TARGET DIRECTORY: seeds from what the build makes
	local dir=$2
	mkdir -p "$dir"
	[ -d "tests/fuzz/seeds/$1" ] && cp "tests/fuzz/seeds/$1/"* "$dir/"
	case $1 in
	fuzz_code_object) cp "${TUTTI_OUT:-build}"/examples/*.tco "$dir/" 2>/dev/null ;;
	fuzz_image) { printf '\003'; cat "${TUTTI_OUT:-build}/firmware/tutti-fw.bin"; } >"$dir/firmware" ;;
	fuzz_topology) cp runtime/emulator/topologies/* "$dir/" ;;
	esac
	return 0
}

for target in fuzz_code_object fuzz_image fuzz_topology fuzz_firmware fuzz_fw_packet fuzz_fw_tensor; do
	number=$((number + 1))
	seeds "$target" "$out/corpus/$target"
	if timeout $((seconds + 120)) "$out/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=65536 \
		-artifact_prefix="$out/found/$target-" "$out/corpus/$target" >"$out/$target.log" 2>&1; then
		echo "ok $number - REL-01: $target, $(grep -oE 'Done [0-9]+ runs' "$out/$target.log" | grep -oE '[0-9]+') runs"
	else
		echo "not ok $number - REL-01: $target"
		grep -vE '^#[0-9]' "$out/$target.log" | tail -25 | cut -c1-150 | sed 's/^/# /'
	fi
done
echo "1..$number"
