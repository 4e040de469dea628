#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-51: the processor's unit tests on arm64: cross compiler and user emulation (packages gcc-aarch64-linux-gnu,
# libc6-dev-arm64-cross, qemu-user), with cmocka's arm64 package unpacked next to them.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=${TUTTI_OUT:-build}/arm64
root=$PWD/$out/root
units="test_cpu_integer test_cpu_float test_cpu_run test_cpu_compiled test_cpu_qemu"
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP no $tool"; exit 0; }
done
if [ ! -d "$root/usr/include" ]; then
	mkdir -p "$out"/apt/{lists,cache}/partial "$root"
	apt="apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State=$PWD/$out/apt
		-o Dir::State::status=/dev/null -o Dir::Cache=$PWD/$out/apt/cache"
	(cd "$out" && $apt update && $apt download libcmocka0 libcmocka-dev) >/dev/null 2>&1
	for package in "$out"/*.deb; do
		dpkg-deb -x "$package" "$root" || { echo "1..0 # SKIP no cmocka for arm64"; exit 0; }
	done
fi
echo "1..$(wc -w <<<"$units")"
number=0
for unit in $units; do
	number=$((number + 1))
	make -s OUT="$out" CC=aarch64-linux-gnu-gcc CFLAGS="-O2 -g -isystem $root/usr/include" \
		LDFLAGS="-L$root/usr/lib/aarch64-linux-gnu" "$out/tests/unit/$unit" >"$out/$unit.log" 2>&1 &&
		qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$root/usr/lib/aarch64-linux-gnu" \
			"$out/tests/unit/$unit" >>"$out/$unit.log" 2>&1 && echo "ok $number - SYS-51: $unit on arm64" ||
		{ echo "not ok $number - SYS-51: $unit on arm64"; sed 's/^/# /' "$out/$unit.log" | tail -20; }
done
