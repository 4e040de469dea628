#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-01: headers are the contract. The same layout for every side (x86-64, i386, RV32, RV64),
# no hidden hole, each header stands alone, every field's offset asserted, each constant defined once.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$top/tests/tap/tap.sh"
inc=$top/include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compiler() {
	local flags="-ffreestanding -std=gnu11 -Wall -Wextra -Wpadded -Werror -I$inc"
	case $1 in
	x86-64) echo "gcc $flags" ;;
	i386) echo "gcc -m32 $flags" ;;
	rv32) echo "riscv64-unknown-elf-gcc -march=rv32imc -mabi=ilp32 $flags" ;;
	rv64) echo "riscv64-unknown-elf-gcc -march=rv64imafd -mabi=lp64d $flags" ;;
	esac
}

# layout ABI - all structures of the contract with offsets and sizes
layout() {
	local cc
	cc=$(compiler "$1")
	$cc -g -gdwarf-4 -fno-eliminate-unused-debug-types -c "$here/abi.c" -o "$work/$1.o" &&
		case $1 in
		rv*) riscv64-unknown-elf-ld -m elf"${1#rv}"lriscv -e 0 "$work/$1.o" -o "$work/$1.elf" ;;
		*) cp "$work/$1.o" "$work/$1.elf" ;;
		esac &&
		pahole "$work/$1.elf" 2>/dev/null | grep -v 'cacheline' | sed 's/[ \t]*$//' >"$work/$1.txt" &&
		grep -q 'struct tutti_dispatch_packet {' "$work/$1.txt"
}

same() {
	diff -u "$work/x86-64.txt" "$work/$1.txt"
}

alone() {
	local abi cc
	for abi in "${abis[@]}"; do
		cc=$(compiler "$abi")
		echo "#include \"tutti/$1\"" | ${cc/-Wpadded/} -x c -fsyntax-only - || return 1
	done
}

no_holes() {
	! grep -nE 'XXX|/\* (bit_)?hole' "$work/$1.txt" && ! grep -nE 'holes: [1-9]|padding: [1-9]' "$work/$1.txt"
}

# Every member of every named structure of one header must appear in a TUTTI_AT line.
fields_asserted() {
	perl -0777 -ne '
		my $file = $_; my $bad = 0;
		while ($file =~ /\bstruct ((?:drm_)?tutti_\w+) \{(.*?)\n\};/sg) {
			my ($name, $body) = ($1, $2);
			$body =~ s!/\*.*?\*/!!sg; $body =~ s/^#.*$//mg; $body =~ s/\b__extension__\b//g;
			$body =~ s/\b(?:union|struct)\s*\{//sg; $body =~ s/^\s*\}\s*$//mg; $body =~ s/\}\s*(?=;)//sg;
			for my $decl (split /;/, $body) {
				next unless $decl =~ /\w/;
				$decl =~ s/^\s*(?:const\s+)?(?:struct\s+)?\w+\s+//s;
				for my $field (split /,/, $decl) {
					next unless $field =~ /(\w+)/;
					next if $field =~ /^\s*$/;
					my $f = $1;
					next if $file =~ /TUTTI_AT\(struct $name, (?:\w+\.)?$f,/;
					print "struct $name: no TUTTI_AT for $f\n"; $bad = 1;
				}
			}
			next if $file =~ /TUTTI_SIZE\(struct $name,/;
			print "struct $name: no TUTTI_SIZE\n"; $bad = 1;
		}
		exit $bad' "$1"
}

# A constant of the contract is defined in one file of the whole tree. (Twice in it is what #if and #else are for; else
# the compiler says so.)
defined_once() {
	local twice names
	names=$(cd "$top" && grep -roE --include='*.h' '^[ \t]*#[ \t]*define[ \t]+TUTTI_[A-Z0-9_]+' include | sort -u | sed -E 's/.*define[ \t]+//' | sort)
	twice=$(uniq -d <<<"$names")$(cd "$top" && grep -rhoE --include='*.[chS]' '^[ \t]*#[ \t]*define[ \t]+TUTTI_[A-Z0-9_]+' firmware runtime |
		sed -E 's/.*define[ \t]+//' | sort -u | comm -12 - <(grep -v '_H$' <<<"$names" | uniq))
	[ -z "$twice" ] || { echo "defined more than once: $twice"; return 1; }
}

abis=(x86-64 rv32 rv64)
if echo 'int x;' | gcc -m32 -ffreestanding -x c -c -o /dev/null - 2>/dev/null; then
	abis+=(i386)
fi

for abi in "${abis[@]}"; do
	check "SYS-01: contract compiles without padding for $abi" layout "$abi"
done
for abi in "${abis[@]:1}"; do
	check "SYS-01: layouts of $abi equal those of x86-64" same "$abi"
done
for abi in "${abis[@]}"; do
	check "SYS-01: no structure has a hole in $abi" no_holes "$abi"
done
for header in "$inc"/tutti/*.h; do
	name=$(basename "$header")
	[ "$name" = queue.h ] || [ "$name" = policy.h ] || [ "$name" = task.h ] && continue # host only: they need a C library
	case $name in *_api.h | occupancy.h | profile.h | xrt_card.h) continue ;; esac # API on top of it, no layout between sides
	[ "$name" = tutti_drm.h ] && continue # the uAPI, Linux only: needs drm.h
	check "SYS-01: $name stands alone in every ABI" alone "$name"
	check "SYS-01: $name asserts size and offset of every field" fields_asserted "$header"
done
check "SYS-01: each constant is defined once" defined_once

# The uAPI: programs of 64 and of 32 bits talk to one kernel (spec SYS-30).
drm=$(pkg-config --cflags libdrm | sed "s/-I/-isystem /g")
uapi_layout() { # ABI
	local cc
	cc=$(compiler "$1")
	# Kernel headers of x86 are the same for 32 bits; gcc -m32 without multilib looks for them elsewhere.
	[ "$1" = i386 ] && cc+=" -idirafter /usr/include/x86_64-linux-gnu"
	echo '#include "tutti/tutti_drm.h"' | $cc $drm -g -gdwarf-4 -fno-eliminate-unused-debug-types \
		-x c -c -o "$work/uapi-$1.o" - &&
		pahole "$work/uapi-$1.o" 2>/dev/null | grep -v cacheline | sed 's/[ \t]*$//' |
		sed -n '/^struct drm_tutti_/,/^}/p' >"$work/uapi-$1.txt" && grep -q drm_tutti_wait "$work/uapi-$1.txt"
}
check "SYS-30: tutti_drm.h compiles without padding for x86-64" uapi_layout x86-64
check "SYS-30: no structure of tutti_drm.h has a hole" no_holes uapi-x86-64
check "SYS-30: tutti_drm.h asserts size and offset of every field" fields_asserted "$inc/tutti/tutti_drm.h"
if [[ " ${abis[*]} " = *" i386 "* ]] && [ -e /usr/include/asm/types.h -o -e /usr/include/x86_64-linux-gnu/asm/types.h ]; then
	check "SYS-30: tutti_drm.h compiles without padding for i386" uapi_layout i386
	check "SYS-30: the same layout for programs of 32 bits" diff -u "$work/uapi-x86-64.txt" "$work/uapi-i386.txt"
fi
plan
