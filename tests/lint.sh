#!/bin/bash
# SPDX-License-Identifier: MIT
# REL-08: static analysis. gcc -fanalyzer and sparse over the host's code and the firmware's, one test a file.
set -u
cd "$(dirname "$0")/.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-std=gnu11 -Iinclude -I/usr/include/libdrm -Iruntime -Ifirmware -Iruntime/examples -Iruntime/tools -Itests/bench -DTOOL_KERNELS=\"LICENSE\" -DTRACE_PAGE=\"LICENSE\" -DTUTTI_LIBDIR=\"/usr/lib\" -DTUTTI_LIBEXECDIR=\"/usr/libexec\" -DHSA_KERNELS=\"LICENSE\" -DTRANSLATED_HEADER=\"LICENSE\" -I${TUTTI_OUT:-build}/runtime/emulator/translated -I${TUTTI_OUT:-build}/tests/bench"
warn="-Wall -Wextra -Werror -Wno-unused-parameter"
device='kernels\.c$|runtime/kernel-sdk/|tests/bench/kernels/'

# Files of the host, then of the firmware (built for its own core).
host=$(find runtime tests/bench firmware/tools -name '*.c' | grep -vE "$device" | sort)
firmware=$(find firmware -name '*.c' ! -path '*/tools/*' ! -path '*/host/*' | sort)

analyze() { # FILE RESULT
	local file=$1 result=$2 cc
	case $file in
	firmware/tools/*) cc=gcc ;;
	firmware/*) cc="riscv64-unknown-elf-gcc -march=rv32imc -mabi=ilp32 -ffreestanding -Wno-sign-compare" ;;
	runtime/emulator/*) cc="gcc -D_GNU_SOURCE" ;;
	*) cc=gcc ;;
	esac
	# leaks: gcc 12 loses sight of what is stored through a pointer; LeakSanitizer looks for them. Later compilers see loops
	# without end where a core is halted, recursion in tail calls (tests/target/image.pl looks for it), and ends of arrays
	# passed by loops whose bound they do not know (AddressSanitizer looks for that)
	$cc $flags $warn -O1 -fanalyzer -Wno-analyzer-too-complex -Wno-analyzer-malloc-leak -Wno-analyzer-infinite-loop \
		-Wno-analyzer-infinite-recursion -Wno-analyzer-out-of-bounds -c "$file" -o /dev/null \
		>"$result" 2>&1 || echo FAILED >>"$result"
}

sparse_one() { # FILE RESULT
	# what sparse 0.6 does not know of glibc and gcc is not our error
	local gnu=
	[[ $1 != runtime/emulator/* ]] || gnu=-D_GNU_SOURCE
	sparse -std=gnu11 $gnu $flags -D__DBL_EPSILON__=2.2e-16 "-D__has_include(x)=0" "-D__builtin_cpu_supports(x)=0" -Wno-flexible-array-sizeof -Wsparse-all -Wno-declaration-after-statement -Wno-decl -Wno-ptr-subtraction-blows \
		-Wno-cast-truncate -Wno-non-pointer-null -Wno-external-function-has-definition \
		-Wno-pointer-arith -Wno-shadow -Wno-sparse-error -Wno-transparent-union -Wno-init-cstring \
		-Wno-constant-suffix -Wno-bitwise-pointer -Wno-unknown-attribute -Wno-universal-initializer \
		-Wno-designated-init -Wno-newline-eof -Wno-do-while -Wno-one-bit-signed-bitfield \
		-Wno-return-void -Wno-vla -Wno-override-init-all -Wno-override-init -Wno-unreplaced-macro-arg \
		-gcc-base-dir "$(gcc -print-file-name=)" "$1" >"$2.all" 2>&1
	grep -E "^$1:[0-9]+:[0-9]+: (error|warning)" "$2.all" |
		grep -vE 'non-constant initializer for static object|preprocessor token _GNU_SOURCE redefined' >"$2"
	[ ! -s "$2" ] || echo FAILED >>"$2"
}
export -f analyze sparse_one
export flags warn

number=0
report() { # NAME RESULT
	number=$((number + 1))
	if grep -q '^FAILED' "$2"; then
		echo "not ok $number - $1"
		sed 's/^/# /' "$2" | head -30
	else
		echo "ok $number - $1"
	fi
}

jobs=$(mktemp -p "$work")
for file in $host $firmware; do
	echo "analyze $file $work/$(tr / _ <<<"$file").analyzer" >>"$jobs"
	case $file in
	runtime/*|tests/bench/*) [ "$(command -v sparse)" ] && echo "sparse_one $file $work/$(tr / _ <<<"$file").sparse" >>"$jobs" ;;
	esac
done
xargs -P 2 -d '\n' -n 1 bash -c '$0' <"$jobs"
for file in $host $firmware; do
	report "REL-08: gcc -fanalyzer $file" "$work/$(tr / _ <<<"$file").analyzer"
	sparse=$work/$(tr / _ <<<"$file").sparse
	[ ! -e "$sparse" ] || report "REL-08: sparse $file" "$sparse"
done
echo "1..$number"
