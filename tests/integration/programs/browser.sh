#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-46: the page of `tutti trace html`, in a real browser.
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap/tap.sh
out=${TUTTI_OUT:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUTTI_DEVICE=emulator HOME=$work

browser=$(command -v chromium) || { echo "1..0 # SKIP no chromium"; exit 0; }

page() { # FILE: the page as it is when its scripts have run, and what they complain of
	"$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" --window-size=1200,1000 \
		--enable-logging=stderr --dump-dom "file://$1" 2>"$work/complaints"
	! grep 'CONSOLE.*Uncaught' "$work/complaints"
}

written() {
	"$out/tutti" trace run -o "$work/t.trace" --deterministic --topology runtime/tools/pictures/card.topology -- reduce &&
		[ "$("$out/tutti" trace html "$work/t.trace")" = "$work/t.html" ] &&
		"$out/tutti" trace html -o "$work/own.html" "$work/t.trace" && cmp "$work/t.html" "$work/own.html"
}

alone() { ! grep -nE '(src|href)=|https?:|@import|url\(' "$work/t.html"; }

used() {
	{
		cat "$work/t.html"
		echo "<script>"
		cat tests/integration/programs/page.js
		echo "</script>"
	} >"$work/used.html"
	page "$work/used.html" >"$work/dom" && sed -n '/<pre id="said">/,/<\/pre>/p' "$work/dom" | sed 's/.*<pre id="said">//' >"$work/said"
	cat "$work/said"
	[ "$(grep -c '^ok ' "$work/said")" -eq 13 ] && ! grep -q BAD "$work/said"
}

# A kernel that two queues launch has a colour in each.
queues_differ() {
	"$out/tutti" trace run -o "$work/q.trace" --deterministic -- priorities && "$out/tutti" trace html "$work/q.trace" &&
		page "$work/q.html" >"$work/dom" && grep 'id="legend"' "$work/dom" | tee "$work/legend" &&
		[ "$(grep -o 'background: rgb([^)]*)' "$work/legend" | sort -u | wc -l)" -eq 2 ] &&
		grep -q '>turn, queue 0 (2)<.*>turn, queue 1 (2)<' "$work/legend"
}

empty() {
	"$out/tutti" trace run -o "$work/e.trace" --topology runtime/tools/pictures/card.topology -- "$out/tutti" info >"$work/info" &&
		"$out/tutti" trace html "$work/e.trace" && page "$work/e.html" | grep '<title>0 workgroups of 0 tasks on 32 SMs</title>'
}

check "SYS-46: tutti trace html writes a page" written
check "SYS-46: it needs no other file and no network" alone
check "SYS-46: kernels by name and colour, tips, zoom, SMs at work, queue depth" used
check "SYS-46: the same kernel in two queues" queues_differ
check "SYS-46: a trace without any launch" empty
plan
