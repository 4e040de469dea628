#!/bin/bash
# SPDX-License-Identifier: MIT
# `make vm-shell` at a terminal, as a user would run it: a prompt, a command, the card's control socket, power off.
set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit 1
version=${1:-6.12} number=0 failed=0 text=''
command -v script >/dev/null || { echo "1..0 # SKIP no script(1)"; exit 0; }
result() { # NAME STATUS
	number=$((number + 1))
	[ "$2" = 0 ] || { printf 'not '; failed=1; }
	echo "ok $number - $version shell: $1"
}
coproc terminal { script -qfec "tests/vm/run shell $version" /dev/null 2>&1; }
# shellcheck disable=SC2154 # coproc sets it
pid=$terminal_PID
wait_for() { # TEXT SECONDS: what comes on the screen up to it is in $text
	local part end=$((SECONDS + $2))
	text=''
	while [ $SECONDS -lt $end ]; do
		part=''
		IFS= read -r -t 1 -N 1 -u "${terminal[0]}" part || { kill -0 "$pid" 2>/dev/null || return 1; }
		text+=$part
		[[ $text != *"$1"* ]] || return 0
	done
	return 1
}
say() { printf '%s\n' "$*" >&"${terminal[1]}"; }
answers() { # COMMAND TEXT: in what it prints, up to the next prompt; the echo of the command is not it
	say "$1"
	wait_for "${1: -8}" 20 && wait_for 'guest# ' 60 && [[ $text == *"$2"* ]]
}

wait_for 'guest# ' "${VM_TIMEOUT:-300}"
result "a prompt" $?
answers "control status" "state running"
result "the card runs, its process answers" $?
answers "TUTTI_DEVICE=drm tutti info" "Tutti emulated card"
result "tutti info" $?
answers "TUTTI_DEVICE=drm vector_add && echo well \$((40 + 2))" "well 42"
result "a program on the card" $?
say "poweroff -f"
for _ in $(seq 60); do
	kill -0 "$pid" 2>/dev/null || break
	sleep 0.5
done
! kill -0 "$pid" 2>/dev/null
result "power off ends it" $?
kill "$pid" 2>/dev/null
[ $failed = 0 ] || printf '%s\n' "$text" | tail -20 | sed 's/^/# /'
echo "1..$number"
exit $failed
