#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-07: tuttic makes code objects of the form include/tutti/code_object.h says, says clearly what it
# cannot do, and finds its files wherever it lies.
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
. "$top/tests/tap/tap.sh"
out=${TUTTI_OUT:-build}
case $out in /*) ;; *) out=$top/$out ;; esac
tuttic=$out/tuttic
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# fails TEXT COMMAND... - the command fails and says TEXT
fails() {
	local text=$1 log
	shift
	log=$("$@" 2>&1) && { echo "no error"; return 1; }
	grep -qF -- "$text" <<<"$log" || { echo "$log"; return 1; }
}

kernel() {
	cat >"$1" <<-EOF
	#include "tutti/device.h"
	#include <math.h>
	#include <string.h>
	struct args { double *x; int n; };
	static int counter;
	int table[4] = { 1, 2, 3, 4 };
	int *inside = &table[2];
	TUTTI_KERNEL(first, struct args, .group_bytes = 4096, .private_bytes = 512, .flags = TUTTI_KERNEL_BARRIER,
		     .barriers = 2, .workgroup = { 64, 2, 1 })
	{
		tutti_for_each_item(item)
			args->x[tutti_global_id(item, 0)] = ${2:-exp(args->n) + pow(2.5, args->n)};
		tutti_barrier();
		tutti_assert(*inside == 3);
		__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
	}
	TUTTI_KERNEL(second, struct args)
	{
		tutti_printf("%d %f\n", args->n, args->x[0]);
		memset(args->x, 0, (size_t)args->n);
	}
	EOF
}

readelf=riscv64-unknown-elf-readelf
kernel k.c

compiles() { "$tuttic" -Wextra -Werror k.c && [ -s k.tco ]; }
check "compiles to FILE.tco without being told" compiles
check "every optimisation level but -O0" bash -c "for o in -Og -O1 -O2 -O3 -Os; do '$tuttic' -Werror \$o k.c -o o.tco || exit 1; done"
check "position-independent RISC-V" bash -c "$readelf -h k.tco | grep -q 'DYN' && $readelf -h k.tco | grep -q RISC-V"
segments() {
	[ "$($readelf -lW k.tco | awk '$1 == "LOAD" { f = ""; for (i = 7; i < NF; i++) f = f $i; print f }' | tr '\n' ';')" = "R;RE;RW;" ]
}
check "three segments: R, RX, RW" segments
pages() { ! $readelf -lW k.tco | awk '$1 == "LOAD" { print substr($3, length($3) - 2) }' | grep -v 000; }
check "each begins a page" pages
relocations() { $readelf -rW k.tco | awk '/R_RISCV/ { print $3 }' | sort -u | grep -qx R_RISCV_RELATIVE &&
	! $readelf -rW k.tco | awk '/R_RISCV/ { print $3 }' | grep -v R_RISCV_RELATIVE; }
check "relocations are RELATIVE only" relocations
check "symbols first.kd, second.kd, 64 bytes" bash -c "[ \$($readelf --dyn-syms -W k.tco | grep -cE ' 64 OBJECT .* (first|second).kd') = 2 ]"
check "note says the ISA" bash -c "$readelf -p .note.tutti k.tco | grep -q riscv64-tutti-sm1--rv64imafd"
check "no instruction outside the ISA" bash -c "! riscv64-unknown-elf-objdump -d k.tco | grep -E '\sc\.'"

# word OFFSET BYTES - of descriptor first.kd, decimal
word() {
	local at
	at=$((16#$($readelf --dyn-syms -W k.tco | awk '$8 == "first.kd" { print $2 }')))
	od -An -t "${3:-u}$2" -j $((at + $1)) -N "$2" k.tco | tr -d ' '
}
descriptor() {
	[ "$(word 0 4) $(word 4 4) $(word 8 4) $(word 12 4)" = "4096 512 16 16" ] &&
		[ "$(word 24 4 x)" = 4c4b5454 ] && [ "$(word 28 2) $(word 30 2)" = "1 2" ] &&
		[ "$(word 36 2) $(word 38 2) $(word 40 2)" = "64 2 1" ] && [ "$(word 51 1)" = 1 ]
}
check "descriptor holds the attributes" descriptor
entry() {
	local kd code
	kd=$((16#$($readelf --dyn-syms -W k.tco | awk '$8 == "first.kd" { print $2 }')))
	code=$((16#$($readelf --dyn-syms -W k.tco | awk '$8 == "first" { print $2 }')))
	[ "$(word 16 8 d)" = $((code - kd)) ]
}
check "its entry offset leads to the function" entry

cat >cga.c <<-EOF
	#include "tutti/cga.h"
	#include "tutti/work.h"
	struct args { struct tutti_tmd *tmd; struct tutti_work_queue *queue; };
	TUTTI_KERNEL_DECLARE(first);
	TUTTI_KERNEL(first, struct args, TUTTI_CGA_OF(TUTTI_CGA_CPC, 4, 2, 1), .group_bytes = 64)
	{
		*tutti_map_rank(tutti_shared(uint32_t, 0), tutti_cga_rank_at(1, 0, 0)) = tutti_cga_place(0, 0);
		tutti_cga_barrier();
		tutti_task_grid(args->tmd, TUTTI_KERNEL_OBJECT(first), args, 64, 64, NULL);
		tutti_task_create(args->tmd);
		tutti_work_put(args->tmd, tutti_work_item(args->queue, 0));
	}
EOF
cga() (
	mkdir cga && cd cga && "$tuttic" -Wextra -Werror ../cga.c -o k.tco &&
		[ "$(word 44 2) $(word 46 2) $(word 48 2) $(word 50 1)" = "4 2 1 1" ] &&
		! $readelf -rW k.tco | awk '/R_RISCV/ { print $3 }' | grep -v RELATIVE
)
check "CGA-01, CGA-24, TSK-11: a kernel's CGA shape is in its descriptor; ranks, work items, child tasks compile" cga

check "spaces in paths" bash -c "mkdir 'a b' && cp k.c 'a b/k k.c' && '$tuttic' 'a b/k k.c' -o 'a b/out file.tco' && [ -s 'a b/out file.tco' ]"
objects() { "$tuttic" -c k.c -o k.o && "$tuttic" k.o -o two.tco && cmp -s k.tco two.tco; }
check "-c, then linking, gives the same" objects
check "line numbers are kept, but for -g0" bash -c "'$tuttic' -g0 k.c -o g0.tco && $readelf -S k.tco | grep -q debug_line && ! $readelf -S g0.tco | grep -q debug_line"
check "--help" bash -c "'$tuttic' --help | grep -q usage"

check "no input is an error" fails "no source given" "$tuttic"
check "a missing file is named" fails "nowhere.c: no such file" "$tuttic" nowhere.c
check "-O0 is refused with the reason" fails "at least -Og" "$tuttic" -O0 k.c
check "-march is refused" fails "ISA is fixed" "$tuttic" -march=rv64gcv k.c
echo 'int nothing;' >none.c
check "a file without a kernel" fails "no kernel in this program" "$tuttic" none.c
kernel errno.c 'strtod("1", 0)'
sed -i '1i #include <stdlib.h>' errno.c
check "errno does not exist on the card" fails "thread-local" "$tuttic" errno.c
kernel undefined.c 'missing(args->n)'
sed -i '1i double missing(int n);' undefined.c
check "undefined functions are named" fails "undefined symbol: missing" "$tuttic" undefined.c
kernel syntax.c 'args->n +'
leaves() { ! "$tuttic" syntax.c -o syntax.tco 2>/dev/null && [ ! -e syntax.tco ]; }
check "after an error there is no output file" leaves

cat >lib.c <<'EOF'
#include "tutti/device.h"
#include "lib.h"
int more(int);
TUTTI_KERNEL(k, struct args) { args->x[0] = more(BASE); }
EOF
echo 'struct args { int *x; }; enum { BASE = 3 };' >lib.h
echo 'int more(int a); int more(int a) { return a + 1; }' >more.c
archive() {
	"$tuttic" -c more.c && riscv64-unknown-elf-ar rcs libmore.a more.o && "$tuttic" lib.c -L. -lmore -o a.tco &&
		"$tuttic" lib.c -L . -l more -o b.tco && cmp a.tco b.tco
}
check "-l and -L link an archive" archive
check "a library that is not there" fails "unable to find library -lzzz" "$tuttic" k.c -lzzz
dependencies() {
	"$tuttic" -MMD lib.c -L. -lmore -o out.tco && [ "$(cat out.d)" = "out.tco: lib.c lib.h" ] && mkdir -p d &&
		"$tuttic" -c -MMD -MP -MF d/x.d -MT target lib.c && [ "$(head -1 d/x.d)" = "target: lib.c lib.h" ]
}
check "-MMD writes the dependencies of what was asked for" dependencies
stages() {
	"$tuttic" -S lib.c && grep -q 'more' lib.s && "$tuttic" -E lib.c | grep -q 'BASE = 3' && [ ! -e lib.tco ] &&
		"$tuttic" -S lib.c -o other.s && cmp lib.s other.s
}
check "-S and -E stop at assembly and preprocessed C" stages
check "--version names the compiler, too" bash -c "'$tuttic' --version | grep -q '^tuttic [0-9]' && '$tuttic' --version | grep -q riscv64"
check "a C++ source is refused in one sentence" bash -c "touch a.cc && ! text=\$('$tuttic' a.cc 2>&1) && [ \$(wc -l <<<\"\$text\") = 1 ] && grep -q 'written in C' <<<\"\$text\""
check "an unknown option is refused" bash -c "'$tuttic' --bogus k.c 2>said; [ \$? = 2 ] && grep -q 'unknown option --bogus' said"
check "one output for several objects is refused" fails "takes one source" "$tuttic" -c k.c more.c -o x.o

# attribute FIELD KIND ATTRIBUTES... - the compiler's message names kernel and field, at the line of the kernel
attribute() {
	local field=$1 kind=$2 level
	shift 2
	printf '#include "tutti/device.h"\nstruct args { int x; };\nTUTTI_KERNEL(odd, struct args, %s)\n{\n}\n' "$*" >odd.c
	for level in -Og -O2 -Os; do
		"$tuttic" $level odd.c -o odd.tco 2>said
		case $?:$kind in 0:warning | 1:error) ;; *) echo "$* $level: no $kind"; cat said; return 1 ;; esac
		grep -q "^odd.c:3:.*$kind.*kernel odd: \\.$field " said || { cat said; return 1; }
	done
}
impossible() {
	attribute group_bytes error ".group_bytes = (1 << 24) + 1" && attribute group_bytes warning ".group_bytes = 200000" &&
		attribute private_bytes warning ".private_bytes = 9000" && attribute barriers error ".barriers = 17" &&
		attribute flags error ".flags = 64" && attribute kernarg_align error ".kernarg_align = 8" &&
		attribute kernarg_align error ".kernarg_align = 48" && attribute cga error ".cga = { 2, 1, 1 }" &&
		attribute cga error ".cga_kind = TUTTI_CGA_GPC" && attribute workgroup error ".workgroup = { 64, 2, 1 }, .workgroup_max = 64"
}
check "SYS-58: impossible attributes are told at compile time, with kernel and field" impossible
possible() {
	attribute group_bytes warning ".group_bytes = 200000" && "$tuttic" -Werror -Wno-attribute-warning odd.c &&
		sed -i 's/200000/131072, .private_bytes = 8192, .barriers = 16, .kernarg_align = 4096/' odd.c && "$tuttic" -Werror odd.c
}
check "SYS-58: possible ones are taken, and what most cards have not on request" possible

check "TUTTI_HOME without files" fails "has no lib/tutti/tutti.ld" env TUTTI_HOME=/nonexistent "$tuttic" k.c
check "a missing compiler" fails "not found (Debian: apt-get install gcc-riscv64" env TUTTI_CC=/nonexistent/gcc "$tuttic" k.c
check "a missing linker" fails "not found (Debian: apt-get install lld" env TUTTI_LD=/nonexistent/ld "$tuttic" k.c
installed() {
	mkdir -p usr/bin usr/lib/tutti link && cp "$tuttic" usr/bin/ && cp -r "$out/device" usr/lib/tutti/ &&
		ln -s ../usr/bin/tuttic link/tuttic && [ "$(link/tuttic --print-home)" = "$PWD/usr/lib/tutti/device" ] &&
		PATH=$PWD/link:$PATH tuttic k.c -o i.tco && cmp -s k.tco i.tco
}
check "works installed, through a symbolic link and PATH" installed
check "leaves nothing in TMPDIR" bash -c "mkdir t && TMPDIR=\$PWD/t '$tuttic' k.c && TMPDIR=\$PWD/t '$tuttic' none.c 2>/dev/null; [ -z \"\$(ls t)\" ]"
plan
