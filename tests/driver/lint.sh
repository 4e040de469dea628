#!/bin/bash
# SPDX-License-Identifier: MIT
# REL-08: checkpatch --strict, W=1 and sparse over the driver, for each kernel whose headers are installed. TAP.
set -u
cd "$(dirname "$(realpath "$0")")/../.."
. tests/tap/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is justified: lists written as X-macros (COMPLEX_MACRO, MACRO_ARG_UNUSED); a macro with offsetof() on its
# device (MACRO_ARG_REUSE); the strings of a uevent, which the kernel takes as char * (STATIC_CONST_CHAR_ARRAY).
# The layout of tracepoint headers is the kernel's own, and not checkpatch's.
justified=COMPLEX_MACRO,MACRO_ARG_UNUSED,MACRO_ARG_REUSE,STATIC_CONST_CHAR_ARRAY
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tutti
checkpatch=${CHECKPATCH:-$(ls /usr/src/linux-*/scripts/checkpatch.pl "$cache"/*/scripts/checkpatch.pl \
	"$cache"/*/*/scripts/checkpatch.pl 2>/dev/null | tail -1)}
if [ -z "$checkpatch" ]; then
	skip "REL-08: checkpatch" "no kernel source: unpack Debian's linux-source-6.12 in /usr/src, or set CHECKPATCH"
fi
for file in kernel/*/*.[ch]; do
	[ -n "$checkpatch" ] || break
	ignore=$justified
	[ "$file" != kernel/base/trace.h ] || ignore+=,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT
	perl "$checkpatch" --strict --no-tree --no-summary --quiet --show-types --max-line-length=120 --ignore "$ignore" \
		-f "$file" 2>/dev/null >"$work/patch"
	report "REL-08: checkpatch --strict $file" "$work/patch"
done

for headers in /lib/modules/*/build /usr/src/linux-headers-*-amd64; do
	release=$(basename "${headers%/build}")
	release=${release#linux-headers-}
	{ [ -e "$headers/Makefile" ] && [ ! -e "$work/$release" ]; } || continue
	mkdir "$work/$release"
	cp -a Kbuild kernel include "$work/$release/"
	make -s -j2 -C "$headers" M="$work/$release" W=1 C=2 CHECK=sparse modules >"$work/log" 2>&1 || echo "does not build" >>"$work/log"
	grep -E "$work/$release/.*(warning|error)|does not build" "$work/log" | sed "s#$work/$release/##g" >"$work/new"
	report "REL-08: W=1 and sparse for $release" "$work/new"
done
# A page of 64 KiB would show sixteen doorbells. x86 has no such pages: the build only has to say what it refuses.
headers=$(ls -d /usr/src/linux-headers-6.12*-amd64 /lib/modules/6.12*/build 2>/dev/null | head -1)
if [ -n "$headers" ]; then
	mkdir "$work/pages"
	cp -a Kbuild kernel include "$work/pages/"
	printf '#undef CONFIG_PAGE_SHIFT\n#define CONFIG_PAGE_SHIFT 16\n' >"$work/pages/large.h"
	make -s -C "$headers" M="$work/pages" KCFLAGS="-include $work/pages/large.h" kernel/memory/view.o >"$work/log" 2>&1
	grep -q "the driver needs pages of 4 KiB" "$work/log" || echo "pages of 64 KiB are not refused"
else
	echo "no headers of 6.12"
fi >"$work/large"
report "SYS-24: pages larger than a doorbell are refused" "$work/large"

lines=$(find kernel -name "*.[ch]" ! -path "*/probe/*" -exec cat {} + | wc -l)
: >"$work/lines"
[ "$lines" -le 9000 ] || echo "$lines lines" >"$work/lines"
report "REL-08: the driver has $lines lines, 9000 at most" "$work/lines"
plan
