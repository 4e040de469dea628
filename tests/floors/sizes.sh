#!/bin/bash
# SPDX-License-Identifier: MIT
# STY-02, STY-06: no folder holds more than 12 .c files, and no source file has more than 650 lines. TAP.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit 2
. tests/tap/tap.sh
trees="firmware include kernel runtime tests"
# Lines "FILE REASON": sources that may be longer.
longer="
tests/unit/firmware/packets/test_fw_condensed.c	waits for changes that are under way"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find $trees -name '*.c' | sed 's,/[^/]*$,,' | sort | uniq -c | awk '$1 > 12 { print $2 " has " $1 " .c files" }' >"$work/folders"
report "STY-06: at most 12 .c files in a folder" "$work/folders"
find $trees -name '*.[chS]' -exec wc -l {} + | awk -v longer="$longer" '
	BEGIN { n = split(longer, line, "\n"); for (i = 1; i <= n; i++) { split(line[i], word, /[ \t]+/); may[word[1]] = 1 } }
	$2 != "total" && $1 > 650 && !($2 in may) { print $2 " has " $1 " lines" }' >"$work/files"
report "STY-02: at most 650 lines in a source file" "$work/files"
plan
