#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-59: what `make install` has put under a prefix works from any folder, after the prefix has been moved, and
# `make uninstall` takes all of it away.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/tap/tap.sh
top=$PWD
out=${TUTTI_OUT:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make=(make -s --no-print-directory APT=no "OUT=$out")
unset TUTTI_FIRMWARE TUTTI_HOME MAKEFLAGS # a jobserver that it cannot reach makes make complain
export TUTTI_DEVICE=emulator

install_and_move() {
	"${make[@]}" install "DESTDIR=$work/stage" PREFIX=/opt/tutti && mv "$work/stage/opt/tutti" "$work/moved"
}

# In a folder of its own, as a user who has the installation in PATH and PKG_CONFIG_PATH.
user() { # COMMAND...
	(cd "$work/user" && PATH=$work/moved/bin:$PATH PKG_CONFIG_PATH=$work/moved/lib/pkgconfig \
		LD_LIBRARY_PATH=$work/moved/lib "$@")
}

says() { # TEXT COMMAND...: one line of what it prints is TEXT
	local text=$1
	shift
	"$@" >"$work/said" 2>&1 && grep -qxF -- "$text" "$work/said" || { cat "$work/said"; return 1; }
}

no_traces_of_the_tree() { # neither the tree nor the build folder is named by what is installed as text
	! grep -rIlF -e "$top" "$work/moved"
}

# The README's kernel and program by its commands for an installed Tutti.
readme() {
	awk -v dir="$work/user" '/^```c$/ { n++; file = dir "/" (n == 1 ? "scale.c" : "main.c"); next }
		/^```/ { file = "" } file { print > file }' README.md
	grep -E '^    (tuttic|cc) ' README.md >"$work/commands"
	[ "$(wc -l <"$work/commands")" -eq 2 ] && user sh -e "$work/commands" && says 499.5 user ./main
}

missing_code_object() { # the README's program says what it lacks
	mv "$work/user/scale.tco" "$work/away"
	user ./main 2>"$work/said"
	[ $? -eq 1 ] && mv "$work/away" "$work/user/scale.tco" && grep -q '^scale.tco: ' "$work/said"
}

# Compilers to come know warnings that today's do not: they may stop whoever develops Tutti, but nobody who builds it.
errors_by_warnings() { # WERROR: how many commands of a whole build take warnings for errors
	make -n --no-print-directory APT=no "OUT=$work/nothing" "WERROR=$1" all check-programs 2>&1 >"$work/steps" &&
		grep -c -- -Werror "$work/steps"
}

only_by_request() { [ "$(errors_by_warnings "")" = 0 ] && [ "$(errors_by_warnings 1)" -gt 500 ]; }

library_is_the_installed_one() { user ldd ./main | grep -qF "$work/moved/lib/libtutti.so.0"; }

cxx() {
	user sh -ec "g++ -std=c++11 -Wall -Wextra -pedantic -Werror '$top/tests/load/installed.cc' -o cxx \
		\$(pkg-config --cflags --libs tutti)" && says 499.5 user ./cxx
}

static_library() { # a program that holds libtutti finds the installed card by its prefix only when it lies there, too
	user sh -ec 'cc main.c -o static $(pkg-config --cflags --libs-only-L tutti) -Wl,-Bstatic -ltutti -Wl,-Bdynamic \
		-lz -ldl -lm -pthread' && cp "$work/user/static" "$work/moved/bin/" && says 499.5 user static
}

examples() {
	cp -r "$work/moved/share/tutti/examples" "$work/user/" &&
		user make -s -C examples hello vector_add && user examples/bin/vector_add &&
		says 'hello from workgroup 0 of 4, wave 0 of 2, on SM 0' user env TUTTI_DETERMINISTIC=1 examples/bin/hello
}

tutorial() { # in a folder of its own, so that no file of another step helps
	mkdir "$work/user/tutorial" && (cd "$work/user/tutorial" && PATH=$work/moved/bin:$PATH \
		PKG_CONFIG_PATH=$work/moved/lib/pkgconfig LD_LIBRARY_PATH=$work/moved/lib \
		"$top/tests/load/tutorial.pl" "$top/runtime/examples/README.md")
}

# With the library by pkg-config; and by tutti hsa-run, in place of one whose functions fail.
hsa() {
	user sh -ec "cc '$top/tests/load/hsa.c' -o hsa \$(pkg-config --cflags --libs tutti-hsa)" && user ldd ./hsa |
		grep -q "=> $work/moved/.*/lib/tutti/hsa/libhsa-runtime64.so.1" && user ./hsa | grep -q tutti || return 1
	mkdir "$work/other" && for function in init shut_down iterate_agents agent_get_info; do
		echo "int hsa_$function(void) { return 1; }"
	done | cc -shared -x c - -Wl,-soname,libhsa-runtime64.so.1 -o "$work/other/libhsa-runtime64.so.1" &&
		user cc "$top/tests/load/hsa.c" -o other "$work/other/libhsa-runtime64.so.1" "-Wl,-rpath,$work/other" &&
		! user ./other && user tutti hsa-run ./other | grep -q tutti
}

# The examples as sources, and the header of what Tutti adds to HSA, alone.
hsa_sources() {
	local sources=$work/moved/share/tutti/hsa
	mkdir "$work/user/hsa-examples" && user sh -ec "cc -Wall -Werror '$sources/vector_copy.c' '$sources/example.c' -o hsa-examples/vector_copy \
		\$(pkg-config --cflags --libs tutti-hsa) && tuttic '$sources/kernels.c' -o hsa-examples/kernels.tco &&
		hsa-examples/vector_copy && echo '#include <hsa/hsa_ven_tutti.h>' >hsa-examples/alone.c &&
		cc -Wall -Werror -fsyntax-only hsa-examples/alone.c \$(pkg-config --cflags tutti-hsa)"
}

manual_pages() { # one for each program and command, with a synopsis, and what --help says
	local page command
	for command in $("$work/moved/bin/tutti" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
		page=$work/moved/share/man/man1/tutti-$command.1
		grep -A3 -x '.SH SYNOPSIS' "$page" | tr '\n' ' ' | grep -q "tutti .*$command" || { echo "$page"; return 1; }
	done
	grep -qF 'TUTTI_DEVICE' "$work/moved/share/man/man1/tutti.1" && [ -s "$work/moved/share/man/man1/tuttic.1" ] &&
		grep -q -- '--socket' "$work/moved/share/man/man1/tutti-card.1"
}

completes() { # EXPECTED WORD...: the last word, when it is completed
	local expected=$1
	shift
	user bash -c '. "$0/share/bash-completion/completions/${1##*/}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		_tutti "$1"; echo "${COMPREPLY[*]}"' "$work/moved" "$@" >"$work/said"
	[ "$(cat "$work/said")" = "$expected" ] || { cat "$work/said"; return 1; }
}

completion() {
	completes validate tutti va && completes --repeat tutti run --rep && completes --print-home tuttic --print &&
		completes scale tutti run scale.tco ''
}

uninstall() {
	"${make[@]}" install "DESTDIR=$work/again" PREFIX=/usr && touch "$work/again/usr/bin/other" &&
		"${make[@]}" uninstall "DESTDIR=$work/again" PREFIX=/usr &&
		[ "$(cd "$work/again" && find . ! -type d)" = ./usr/bin/other ] &&
		[ "$(cd "$work/again" && find . -type d | sort | tr '\n' ' ')" = '. ./usr ./usr/bin ' ]
}

architecture_folder() { # as Debian has it
	"${make[@]}" install "DESTDIR=$work/multi" PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu &&
		[ "$(PKG_CONFIG_PATH=$work/multi/usr/lib/x86_64-linux-gnu/pkgconfig pkg-config --variable=includedir tutti |
			xargs realpath)" = "$(realpath "$work/multi/usr/include")" ] &&
		python3 tests/load/opens.py "$work/multi/usr/lib/x86_64-linux-gnu/libtutti.so.0" "$out/examples/vector_add.tco"
}

mkdir "$work/user"
check "SYS-59: a build takes warnings for errors only if WERROR is set" only_by_request
check "SYS-59: make install with DESTDIR and PREFIX" install_and_move
check "SYS-59: nothing installed names the source tree" no_traces_of_the_tree
check "SYS-59: tutti info, with firmware and emulated card found below the prefix" user tutti info
check "SYS-59: tutti run finds an installed example" user tutti run vector_add
check "SYS-59: the README's kernel and program in a folder of its own, by pkg-config" readme
check "SYS-59: it runs with the installed library" library_is_the_installed_one
check "SYS-50: the README's program says what is missing" missing_code_object
check "SYS-55, SYS-59: a C++ program" cxx
check "SYS-55, SYS-59: Python's ctypes" user python3 "$top/tests/load/opens.py" libtutti.so.0 "$work/moved/lib/tutti/examples/vector_add.tco"
check "SYS-59: a program with the static library" static_library
check "SYS-59: the installed examples build and run outside of the tree" examples
check "STY-07: the tutorial's programs print what it says" tutorial
if [ -e /usr/include/hsa/hsa.h ]; then
	check "SYS-59: HSA programs, linked by pkg-config and run by tutti hsa-run" hsa
	check "SYS-59: the HSA examples and Tutti's extension, from where they are installed" hsa_sources
else
	skip "SYS-59: HSA programs, linked by pkg-config and run by tutti hsa-run" "no headers of HSA"
	skip "SYS-59: the HSA examples and Tutti's extension, from where they are installed" "no headers of HSA"
fi
check "SYS-59: a library in a folder of its architecture finds its parts" architecture_folder
check "SYS-59: a manual page for each command" manual_pages
check "SYS-59: completion of commands, options and kernels" completion
check "SYS-59: make uninstall takes away what was installed, and nothing else" uninstall
plan
