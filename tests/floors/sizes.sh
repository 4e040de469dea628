#!/bin/bash
# SPDX-License-Identifier: MIT
# STY-02, STY-06: no folder holds more than 12 .c files, and no source file has more than 650 lines. TAP.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit 2
. tests/tap/tap.sh
trees="firmware include kernel runtime tests"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find $trees -name '*.c' | sed 's,/[^/]*$,,' | sort | uniq -c | awk '$1 > 12 { print $2 " has " $1 " .c files" }' >"$work/folders"
report "STY-06: at most 12 .c files in a folder" "$work/folders"
find $trees -name '*.[chS]' -exec wc -l {} + | awk '$2 != "total" && $1 > 650 { print $2 " has " $1 " lines" }' >"$work/files"
report "STY-02: at most 650 lines in a source file" "$work/files"
plan
