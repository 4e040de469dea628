#!/bin/bash
# SPDX-License-Identifier: MIT
# STY-06: no unit of the driver uses a unit of a higher floor, or of its own, by symbol or by include; and every function
# bears the name of its unit, so that an oops says where it was. kernel/floors is the table. TAP.
# kernel.sh [DIRECTORY]: folder with the objects (FOLDER/UNIT.o). Default: those that a guest run has built; if there are
# none, they are built here when kernel headers are installed, else the checks of objects are skipped.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. tests/tap/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sources() { find kernel -mindepth 2 -name '*.[ch]' ! -path '*/probe/*' | sort; }
units() { sources | sed -n 's,^kernel/\(.*\)\.c$,\1,p'; } # as FOLDER/NAME
grep -v '^#' kernel/floors | awk '{ sub(":", "", $1); for (i = 2; i <= NF; i++) print $1 "/" $i, NR }' >"$work/floors"
diff <(units | sort) <(cut -d' ' -f1 "$work/floors" | sort) >"$work/result" || true
report "STY-06: kernel/floors names every unit of the driver once" "$work/result"
grep -v '^#' kernel/floors | cut -d: -f1 | uniq | sort | uniq -d >"$work/result"
report "STY-06: folders of the driver lie one above the other" "$work/result"

# Lines "USER USED WHAT" on stdin; prints those that do not lead downward.
upward() {
	awk -v floors="$work/floors" '
		BEGIN { while ((getline line < floors) > 0) { split(line, f, " "); floor[f[1]] = f[2] } }
		$1 != $2 && ($1 in floor) && ($2 in floor) && floor[$2] >= floor[$1] {
			printf "%s (floor %d) uses %s of %s (floor %d)\n", $1, floor[$1], $3, $2, floor[$2] }'
}

sources | while read -r file; do
	user=${file#kernel/}
	sed -n "s,^#include \"\([a-z_]*/[a-z_]*\)\.h\".*,${user%.[ch]} \1 its-header,p" "$file"
done >"$work/includes"
upward <"$work/includes" >"$work/result"
report "STY-06: no unit includes upward" "$work/result"

objects=${1:-}
if [ -z "$objects" ]; then
	for folder in build/tests/vm/*/module/kernel; do
		# only if they are of these sources, and no guest's run is building them at this moment
		[ -e "$folder/../tutti.ko" ] && [ -z "$(find kernel -name '*.[ch]' -newer "$folder/../tutti.ko")" ] && objects=$folder
	done
fi
if [ -z "$objects" ]; then
	for headers in /lib/modules/*/build /usr/src/linux-headers-*-amd64; do
		[ -e "$headers/Makefile" ] || continue
		mkdir "$work/module"
		cp -a Kbuild kernel include "$work/module/"
		make -s -j2 -C "$headers" M="$work/module" modules >"$work/log" 2>&1 || sed 's/^/# /' "$work/log"
		objects=$work/module/kernel
		break
	done
fi
if [ -z "$objects" ]; then
	skip "STY-06: no unit uses a symbol of a higher floor" "no objects and no kernel headers"
	skip "STY-06: functions bear the name of their unit" "no objects and no kernel headers"
	plan
	exit
fi

units | while read -r unit; do
	if [ ! -e "$objects/$unit.o" ]; then
		echo "missing $unit.o" >>"$work/missing"
		continue
	fi
	nm "$objects/$unit.o" | awk -v unit="$unit" -v defined="$work/defined" -v used="$work/used" '
		$1 == "U" { print unit, $2 >> used; next }
		$2 ~ /[A-Z]/ { print $3, unit >> defined }'
done
awk -v defined="$work/defined" '
	BEGIN { while ((getline line < defined) > 0) { split(line, f, " "); owner[f[1]] = f[2] } }
	($2 in owner) { print $1, owner[$2], $2 }' "$work/used" >"$work/edges"
# Tracepoints are called through symbols that the kernel names.
upward <"$work/edges" >"$work/result"
cat "$work/missing" >>"$work/result" 2>/dev/null || true
[ -s "$work/edges" ] || echo "no edges found" >>"$work/result"
report "STY-06: no unit uses a symbol of a higher floor ($(wc -l <"$work/edges") edges)" "$work/result"

# Exceptions: what macros and inline functions of the kernel name (attributes, entry and exit of the module, helpers).
for unit in $(units); do
	[ "$unit" != base/tracepoints ] || continue
	nm "$objects/$unit.o" 2>/dev/null | awk -v path="$unit" -v unit="${unit#*/}" '
		$2 ~ /^[tT]$/ && $3 !~ "^(__pfx_)?tutti_" unit "(_|$)" && $3 !~ /\.(cold|part|isra|constprop)/ &&
		!(unit == "sysfs" && $3 ~ /_(show|store)$/) &&
		$3 !~ /^(__pfx_)?(init_module|cleanup_module|__export_|drm_gem_shmem_object_|drm_dev_is_unplugged$)/ {
			print path ".c: " $3 }'
done >"$work/result"
report "STY-06: functions bear the name of their unit" "$work/result"
plan
