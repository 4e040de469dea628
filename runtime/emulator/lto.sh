#!/bin/sh
# SPDX-License-Identifier: MIT
# lto.sh COMPILER [OPTION...]: prints yes if it and its linker can optimise a library as a whole when it is linked, else no.
# The library is made and looked at, since compilers say that they can and then lack the linker's part of it. Sanitizers are
# to see the program as it is written.
case "$*" in *-fsanitize*) echo no; exit ;; esac
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
echo 'int twice(int a); int twice(int a) { return 2 * a; }' >"$work/a.c"
echo 'int twice(int a); int public(int a) { return twice(a); }' >"$work/b.c"
echo '{ global: public; local: *; };' >"$work/map"
for part in a b; do
	"$@" -O2 -g0 -fPIC -w -flto=auto -c "$work/$part.c" -o "$work/$part.o" || { echo no; exit; }
done 2>/dev/null
if "$@" -O2 -g0 -fPIC -w -flto=auto -shared -Wl,--version-script="$work/map" "$work/a.o" "$work/b.o" -o "$work/c.so" 2>/dev/null &&
	grep -q public "$work/c.so" && ! grep -q twice "$work/c.so"; then
	echo yes
else
	echo no
fi
