#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-55: what libtutti exports and needs, and that it can be opened as a plug-in; the emulated card as a plug-in of it.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/tap/tap.sh
out=${TUTTI_OUT:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUTTI_DEVICE=emulator TUTTI_FIRMWARE=$PWD/$out/firmware/tutti-fw.bin
kernel=$out/examples/vector_add.tco

fails_saying() { # TEXT COMMAND...: it fails, and says TEXT, in one line
	local text=$1
	shift
	"$@" >"$work/said" 2>&1 && { echo "it works"; return 1; }
	[ "$(grep -c '^tutti' "$work/said")" -eq 1 ] && grep -qF "$text" "$work/said" || { cat "$work/said"; return 1; }
}

# Functions that the public headers declare and do not define.
declared() {
	printf '#include "%s"\n' $(cd include && ls tutti.h tutti/*.h) >"$work/all.c"
	gcc -std=gnu11 -Iinclude $(pkg-config --cflags libdrm) -fsyntax-only -aux-info "$work/aux" "$work/all.c" &&
		sed -nE 's|^/\* include/[^*]*:NC \*/ extern .*[ *](tutti_[a-z0-9_]+) \(.*|\1|p' "$work/aux" | sort -u
}

exported() { nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u; }

exports() {
	declared >"$work/declared" && exported "$out/libtutti.so.0" >"$work/exported" && [ -s "$work/declared" ] &&
		diff "$work/declared" "$work/exported"
}

no_wildcards() { ! sed 's|local:.*||; /^\t\t\*;/d' runtime/libtutti.map | grep '\*'; }

needs() {
	! readelf -dW "$out/libtutti.so.0" | grep -E 'NEEDED.*(unicorn|tutti-card)' && ! ldd "$out/libtutti.so.0" | grep unicorn &&
		! ldd "$out/tutti" | grep unicorn && ! ldd "$out/libtutti-card.so.0" | grep unicorn
}

# Whether the plug-in can be optimised as a whole; a compiler that is none cannot.
lto() { [ "$(runtime/emulator/lto.sh "${@:2}")" = "$1" ]; }
lto_is_known() {
	lto yes gcc -O2 -g && lto no gcc -fsanitize=address && lto no gcc -fno-lto && lto no false &&
		lto no gcc -fno-use-linker-plugin
}

plugin_exports() { [ "$(exported "$out/libtutti-card.so.0" | grep '^tutti')" = tutti_card_plugin ]; }

# A library moved elsewhere, with what is given as the plug-in beside it, or below it.
moved() { # DIRECTORY [PLUGIN NAME]
	mkdir -p "$1/tutti" && cp "$out/libtutti.so.0" "$1/" && { [ $# -eq 1 ] || cp "$2" "$1/$3"; }
}

without_plugin() {
	moved "$work/alone" &&
		fails_saying 'the emulated card is not installed: libtutti-card.so.0 is neither beside' \
			"$out/tests/load/opens" "$work/alone/libtutti.so.0" "$kernel"
}

other_version() {
	moved "$work/other" "$out/tests/load/other_version.so" libtutti-card.so.0 &&
		fails_saying 'belongs to another version of libtutti (interface 999' \
			"$out/tests/load/opens" "$work/other/libtutti.so.0" "$kernel"
}

not_a_plugin() {
	moved "$work/damaged" LICENSE libtutti-card.so.0 &&
		fails_saying 'the emulated card cannot be loaded' "$out/tests/load/opens" "$work/damaged/libtutti.so.0" "$kernel"
}

installed() {
	moved "$work/installed" "$out/libtutti-card.so.0" tutti/libtutti-card.so.0 &&
		"$out/tests/load/opens" "$work/installed/libtutti.so.0" "$kernel"
}

# The library as a later version would be: the structures that applications fill have more fields at their end.
next_library() {
	mkdir -p "$work/next" && cp -r include "$work/next/" &&
		perl -0pi -e 's/(\nstruct tutti_(?:device_options|queue_options|launch|task_attributes) \{.*?)\n\};/$1\n\tuint64_t next[64];\n};/gs' \
			"$work/next/include/tutti.h" "$work/next/include/tutti/task.h" &&
		[ "$(cat "$work/next/include/tutti.h" "$work/next/include/tutti/task.h" | grep -c 'next\[64\]')" = 4 ] &&
		make -s --no-print-directory APT=no OUT="$work/next/build" CC="gcc -I$work/next/include" CFLAGS=-O0 \
			"$work/next/build/libtutti.so.0" && cp "$work/next/build/libtutti.so.0" "$out/libtutti-card.so.0" "$work/next/"
}

application() { # FOLDER OF LIBTUTTI
	LD_LIBRARY_PATH=$1 "$out/tests/load/application" "$out/examples/hello.tco" >"$work/said" &&
		[ "$(grep -c '^application from workgroup' "$work/said")" = 4 ] || { cat "$work/said"; return 1; }
}

by_path() { # argv[0] says nothing of where the program lies
	(PATH=$PWD/$out:$PATH && unset TUTTI_FIRMWARE && cd / && exec -a nonsense tutti info)
}

bench_missing() {
	cp "$out/tutti" "$work/tutti" && fails_saying 'the benchmarks are not installed' "$work/tutti" bench
}

[ ! -e /usr/local/lib/tutti ] || { echo "1..0 # SKIP an emulated card is installed on this machine"; exit 0; }
check "SYS-40, SYS-55: libtutti exports the functions of the public headers, all and no others" exports
check "SYS-55: they are listed one by one" no_wildcards
check "SYS-51, SYS-55: neither libtutti nor the tool needs the emulated card, and nothing libunicorn" needs
check "SYS-55: of its own names the plug-in exports one" plugin_exports
check "SYS-51, PERF-03: it is known which compilers optimise it as a whole" lto_is_known
check "SYS-55: a C program opens libtutti with RTLD_LOCAL and runs a kernel; nothing leaks into the program" \
	"$out/tests/load/opens" "$out/libtutti.so.0" "$kernel"
if command -v python3 >/dev/null; then
	check "SYS-55: Python's ctypes does the same" python3 tests/load/opens.py "$out/libtutti.so.0" "$kernel"
else
	skip "SYS-55: Python's ctypes does the same" "no python3"
fi
check "SYS-42, SYS-55: the plug-in is found in the folder tutti beside the library" installed
check "SYS-42, SYS-55: without the plug-in one line says so" without_plugin
check "SYS-42, SYS-55: a plug-in of another version is refused" other_version
check "SYS-42, SYS-55: a file that is no plug-in is refused" not_a_plugin
check "SYS-55: an application gives the library nothing but its structures" application "$PWD/$out"
check "SYS-55: a library whose structures have more fields is built" next_library
check "SYS-55: the application, built for this version, runs with it" application "$work/next"
check "SYS-42: a program found through PATH finds firmware and emulated card" by_path
check "SYS-46: without tutti-bench, tutti bench says so" bench_missing
plan
