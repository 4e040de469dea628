#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests once more on cards that differ from the emulated one as it is by default:
#   TSK-05  SMs acknowledge task states, so that the firmware has to wait before each task's first launch. A launch too
#           early stops the card with a crash record.
#   SYS-04  The soft core has no idle unit: ecall traps to the firmware's handler, whose wfi wakes by what mie enables.
#   PKT-04  The card makes no atomic operations across the bus: signals are split, and the card counts in a word of its own.
set -u
cd "$(dirname "$0")/../../.." || exit 2
out=${TUTTI_OUT:-build}
export TUTTI_DEVICE=emulator CMOCKA_MESSAGE_OUTPUT=TAP
tests=0

again() { # ID NAME=VALUE PROGRAM: its tests with that variable, renumbered
	local line
	while read -r line; do
		case $line in
		ok\ * | not\ ok\ [0-9]*)
			tests=$((tests + 1))
			line="${line%% [0-9]*} $tests - $1: $3, $2: ${line#* - }"
			;;
		[0-9]*..*) continue ;;
		*) line="# $line" ;;
		esac
		echo "$line"
	done < <(env "$2" tests/tap/limit 240 "$out/tests/integration/$3" 2>&1 || echo "not ok 0 - $3 has failed")
}

again TSK-05 TUTTI_TEST_ACKNOWLEDGE=1 test_task
again TSK-05 TUTTI_TEST_ACKNOWLEDGE=2 test_task_items
again TSK-05 TUTTI_TEST_ACKNOWLEDGE=1 test_task_life
again TSK-05 TUTTI_TEST_ACKNOWLEDGE=4 test_place
again TSK-05 TUTTI_TEST_ACKNOWLEDGE=2 test_cga
again TSK-05 TUTTI_TEST_ACKNOWLEDGE=3 test_metadata
again TSK-05 TUTTI_TEST_ACKNOWLEDGE=3 test_aql
again TSK-05 TUTTI_TEST_ACKNOWLEDGE=3 test_aql_errors
for program in test_boot test_channel test_inject test_deterministic test_aql test_aql_errors test_condensed \
	test_task test_task_life test_place test_cga test_tensor test_wave; do
	again SYS-04 TUTTI_TEST_IDLE_TRAPS=1 "$program"
done
for program in test_signal test_waits test_handlers test_async test_record test_task_items; do
	again PKT-04 TUTTI_TEST_SPLIT_SIGNALS=1 "$program"
done
echo "1..$tests"
