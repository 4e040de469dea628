#!/bin/bash
# SPDX-License-Identifier: MIT
# The commands and examples people use: SYS-07, SYS-40, SYS-42, SYS-48, SYS-50, PKT-23.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=${TUTTI_OUT:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUTTI_DEVICE=emulator
tests=0

ok() { # NAME COMMAND...
	local name=$1 text
	shift
	tests=$((tests + 1))
	if text=$("$@" 2>&1); then
		echo "ok $tests - $name"
	else
		echo "not ok $tests - $name"
		tail -15 <<<"$text" | sed 's/^/# /'
	fi
}

fails() { # STATUS COMMAND...
	local want=$1
	shift
	"$@"
	[ $? -eq "$want" ]
}

says() { # PATTERN COMMAND...
	local pattern=$1
	shift
	"$@" | tee "$work/said" | grep -qE "$pattern" || { cat "$work/said"; return 1; }
}

kernel_of_ones_own() {
	cat >"$work/twice.c" <<-'C'
	#include "tutti/device.h"
	struct args { int *x; };
	TUTTI_KERNEL(twice, struct args)
	{
		tutti_for_each_item(item)
			args->x[tutti_global_id(item, 0)] *= 2;
	}
	C
	"$out/tuttic" "$work/twice.c" -o "$work/twice.tco" && [ -s "$work/twice.tco" ]
}

bad_kernel_source() {
	echo 'this is not C' >"$work/bad.c"
	! "$out/tuttic" "$work/bad.c" -o "$work/bad.tco" && [ ! -e "$work/bad.tco" ]
}

only_contract_symbols() {
	local others
	others=$(nm -D --defined-only "$out/libtutti.so.0" | awk '{print $3}' | sed 's/@.*//' |
		grep -vE '^(tutti_|TUTTI_)|_riscv(32|64)$') # the latter: interposed for libunicorn
	[ -z "$others" ] || { echo "exported: $others"; return 1; }
}

versioned() {
	nm -D --defined-only "$out/libtutti.so.0" | grep -q 'tutti_device_open@@TUTTI_0' &&
		readelf -d "$out/libtutti.so.0" | grep -q 'SONAME.*libtutti.so.0'
}

links_from_c_and_cxx() {
	printf '#include "tutti.h"\nint main(void) { return tutti_version() == 0; }\n' >"$work/a.c"
	gcc -std=c11 -Wall -Wextra -Werror -Wno-unused-parameter -Iinclude "$work/a.c" -o "$work/a" -L"$out" -l:libtutti.so.0 -Wl,-rpath,"$PWD/$out" &&
		"$work/a"
}

kripke_modes() { # the three modes print the same particle counts
	local mode
	for mode in plain reference condensed; do
		"$out/examples/kripke" --zones 4,4,4 --groups 4 --quad 8 --niter 3 "--launch=$mode" >"$work/$mode" 2>&1 ||
			{ cat "$work/$mode"; return 1; }
		grep -iE 'particle' "$work/$mode" >"$work/$mode.count"
		[ -s "$work/$mode.count" ] || { cat "$work/$mode"; return 1; }
	done
	cmp "$work/plain.count" "$work/reference.count" && cmp "$work/plain.count" "$work/condensed.count"
}

ok "SYS-40: only tutti_* is exported" only_contract_symbols
ok "SYS-40: soname and symbol versions" versioned
ok "SYS-40: a C11 program links" links_from_c_and_cxx
ok "SYS-07, SYS-50: a kernel of one's own compiles" kernel_of_ones_own
ok "SYS-07: tuttic fails on bad source and leaves nothing" bad_kernel_source
ok "SYS-03, SYS-42: tutti info" says 'SM' "$out/tutti" info
ok "SYS-42: tutti validate" "$out/tutti" validate
ok "SYS-07: tutti run lists kernels" "$out/tutti" run "$work/twice.tco" --list
ok "SYS-42: unknown command: exit status 2" fails 2 "$out/tutti" nonsense
ok "SYS-42: a missing file: not 0" says '[12]' sh -c "$out/tutti run $work/none.tco >/dev/null 2>&1; echo \$?"
ok "SYS-42: an unknown device is refused" says '[12]' sh -c "TUTTI_DEVICE=teapot $out/tutti info >/dev/null 2>&1; echo \$?"
ok "SYS-48: hello" says 'hello|Hello' "$out/examples/hello"
ok "SYS-48: vector add" "$out/examples/vector_add"
ok "SYS-48: matrix multiply" "$out/examples/matmul"
ok "SYS-48, PKT-23: Kripke in three modes, the same particle counts" kripke_modes
ok "PKT-23: Kripke equals plain C, bit for bit" "$out/examples/kripke" --small --check
echo "1..$tests"
