#!/bin/bash
# SPDX-License-Identifier: MIT
# Model checking of protocols that tests cannot exhaust. Each model holds, and each of its
# mutations fails: a model that cannot fail shows nothing.
set -u
cd "$(dirname "$0")" || exit 1
. ../tap/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# holds MODEL [MUTATION]: no assertion fails in any interleaving.
holds() {
	(cd "$work" && spin -a ${2:+-D"$2"} "$OLDPWD/$1.pml" >/dev/null &&
		gcc -O2 -w -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m1000000 -w22 >"$1.out" 2>&1) || return 2
	grep -q 'max search depth too small' "$work/$1.out" && return 2
	grep -q 'errors: 0' "$work/$1.out"
}

# refuted MODEL MUTATION: an assertion fails in some interleaving.
refuted() {
	holds "$@"
	[ $? = 1 ]
}

if ! command -v spin >/dev/null; then
	echo "1..0 # SKIP spin is not installed"
	exit 0
fi
model() { # MODEL TITLE MUTATION...
	local model=$1 title=$2 mutation
	shift 2
	check "$title" holds "$model"
	for mutation; do
		check "$title: $mutation is found" refuted "$model" "$mutation"
	done
}
model wake "SYS-02, CGA life cycle: sleep handshake loses no ring" NO_HOST_FENCE NO_CARD_FENCE LOOK_FIRST LATE_SEQUENCE
model cga_life "CGA-23, CGA-25, CGA-26: no id is reused too early" NO_FLUSH ONE_FLUSH NO_ANNOUNCE LATE_INVALID
plan
