#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-55: applications can include the public headers whatever they are written in. Each header alone, without a
# warning, in C99 to C17 and in C++11 to C++23, by gcc and clang; and a C++ program can use what it finds there.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$top/tests/tap/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

include="-I$top/include $(pkg-config --cflags libdrm | sed 's/-I/-isystem /g')"
strict="-pedantic -Wall -Wextra -Werror $include"
c="c99 c11 c17"
cxx="c++11 c++14 c++17 c++20 c++2b"
headers=(tutti.h $(cd "$top/include" && echo tutti/*.h))

# accepts COMPILER LANGUAGE STANDARDS HEADER... - a file that includes nothing but these headers, in each standard
accepts() {
	local compiler=$1 language=$2 standards=$3 standard text
	shift 3
	text=$(printf '#include "%s"\n' "$@")
	for standard in $standards; do
		echo "$standard:"
		$compiler -x "$language" -std="$standard" $strict -fsyntax-only - <<<"$text" || return 1
	done
}

# The strictness above is real: what C++ or C99 refuses is noticed.
notices() {
	mkdir -p "$work/tutti"
	echo '_Static_assert(1, "only C11");' >"$work/tutti/c11.h"
	! accepts "gcc -I$work" c c99 tutti/c11.h && ! accepts "g++ -I$work" c++ c++11 tutti/c11.h &&
		! accepts "clang -I$work" c c99 tutti/c11.h
}

# Functions the headers declare and leave to the library. gcc names each one's file by the path it was given. That is a
# relative one here, because a gcc that is really ccache makes relative ones of absolute ones (base_dir).
functions() {
	printf '#include "%s"\n' "${headers[@]}" >"$work/all.c"
	(cd "$top" && gcc -Iinclude $include -aux-info "$work/prototypes" -fsyntax-only "$work/all.c") &&
		sed -nE "s|^/\* include/.* extern .*\b(tutti_\w+) \(.*|\1|p" "$work/prototypes" | sort -u
}

# In C++ each of them is the C function of that name, which the library has.
c_linkage() {
	local names
	names=$(functions) && [ "$(wc -w <<<"$names")" -gt 50 ] || { echo "no prototypes found"; return 1; }
	{
		printf '#include "%s"\n' "${headers[@]}"
		echo 'extern void *const used[];'
		echo 'void *const used[] = {'
		sed 's/.*/(void *)\&&,/' <<<"$names"
		echo '};'
	} >"$work/used.cc"
	"$1" -std=c++11 $include -c "$work/used.cc" -o "$work/used.o" &&
		diff <(nm -u "$work/used.o" | awk '/tutti/ { print $2 }' | sort) - <<<"$names"
}

# The inline submit path and the signals' accessors, in a program that plays the card itself.
cxx_program() {
	"$1" -std="$2" $strict "$here/submit.cc" -o "$work/submit" && "$work/submit"
}

for header in "${headers[@]}"; do
	for compiler in gcc clang; do
		check "SYS-55: $header alone in C99, C11, C17 ($compiler)" accepts $compiler c "$c" "$header"
	done
	for compiler in g++ clang++; do
		check "SYS-55: $header alone in C++11 to C++23 ($compiler)" accepts $compiler c++ "$cxx" "$header"
	done
done
check "SYS-55: all headers in one file, in C" accepts gcc c c11 "${headers[@]}"
check "SYS-55: all headers in one file, the other way round, in C++" \
	accepts g++ c++ c++17 $(printf '%s\n' "${headers[@]}" | tac)
check "SYS-55: headers that are not clean are noticed" notices
for compiler in g++ clang++; do
	check "SYS-55: every function of the API has C linkage in C++ ($compiler)" c_linkage $compiler
	check "SYS-55: a C++11 program submits packets ($compiler)" cxx_program $compiler c++11
	check "SYS-55: a C++23 program submits packets ($compiler)" cxx_program $compiler c++2b
done
plan
