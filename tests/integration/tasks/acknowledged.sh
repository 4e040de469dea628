#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests of tasks and CGAs once more on a card whose SMs acknowledge task states, so that the firmware has to wait
# before each task's first launch: TSK-05. A launch too early stops the card with a crash record.
set -u
cd "$(dirname "$0")/../../.." || exit 2
out=${TUTTI_OUT:-build}
export TUTTI_DEVICE=emulator CMOCKA_MESSAGE_OUTPUT=TAP
tests=0

again() { # TURNS PROGRAM: its tests, renumbered
	local line
	while read -r line; do
		case $line in
		ok\ * | not\ ok\ [0-9]*)
			tests=$((tests + 1))
			line="${line%% [0-9]*} $tests - TSK-05: $2, $1 turns: ${line#* - }"
			;;
		[0-9]*..*) continue ;;
		*) line="# $line" ;;
		esac
		echo "$line"
	done < <(TUTTI_TEST_ACKNOWLEDGE=$1 timeout 240 "$out/tests/integration/$2" 2>&1 || echo "not ok 0 - $2 has failed")
}

again 1 test_task
again 2 test_task_items
again 1 test_task_life
again 4 test_place
again 2 test_cga
again 3 test_metadata
again 3 test_aql
again 3 test_aql_errors
echo "1..$tests"
