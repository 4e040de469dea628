#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-51: on arm64, by cross compiler and user emulation, without warnings: libtutti, which a program links and calls; all
# unit tests but those that the emulation is not able to run. Arm64's libraries are unpacked in the user's cache folder.
# Arguments name the tests to run.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/tap/tap.sh
out=${TUTTI_OUT:-build}/arm64
root=${XDG_CACHE_HOME:-$HOME/.cache}/tutti/arm64
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP no $tool"; exit 0; }
done

fetch() { # the libraries and headers of arm64
	local apt="apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State=$root/apt
		-o Dir::State::status=/dev/null -o Dir::Cache=$root/apt/cache" package
	rm -rf "$root" && mkdir -p "$root"/apt/{lists,cache}/partial && cd "$root" && $apt update >&2 &&
		$apt download libcmocka0 libcmocka-dev zlib1g zlib1g-dev libdrm-dev libelf-dev libelf1 >&2 || return 1
	for package in ./*.deb; do dpkg-deb -x "$package" "$root" || return 1; done
	touch complete
}
[ -e "$root/complete" ] || (fetch) || { echo "1..0 # SKIP no packages of arm64"; exit 0; }

libraries=$root/usr/lib/aarch64-linux-gnu
program=(qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$libraries:$root/lib/aarch64-linux-gnu:$PWD/$out")
mkdir -p "$out"

# Firmware is interpreted: translating it takes the compiler as long as all the rest.
cross() { # GOAL...
	make -s -k -j2 --no-print-directory APT=no WERROR=1 TRANSLATE=no OUT="$out" CC=aarch64-linux-gnu-gcc \
		CFLAGS="-O2 -g -isystem $root/usr/include -isystem $root/usr/include/libdrm" \
		LDFLAGS="-L$libraries -L$root/lib/aarch64-linux-gnu" "$@"
}

library() {
	cross "$out/libtutti.so.0" && cat >"$out/call.c" <<-'C' && aarch64-linux-gnu-gcc -Iinclude "$out/call.c" -o "$out/call" \
		"$out/libtutti.so.0" -L"$libraries" -Wl,--allow-shlib-undefined && "${program[@]}" "$out/call"
	#include <errno.h>
	#include "tutti.h"
	int main(void)
	{
		struct tutti_device_options options = { .name = "teapot" };
		struct tutti_device *device;

		return !tutti_version() || tutti_device_open(&options, &device) != -ENODEV;
	}
	C
}

unit() { # NAME
	TUTTI_OUT=$out CMOCKA_MESSAGE_OUTPUT=TAP timeout 180 "${program[@]}" "$out/tests/unit/$1"
}

cannot_run() { # NAME: why
	case $1 in
	test_cpu_unicorn) echo "libunicorn is one more emulator, which would run inside of one" ;;
	test_rt_drm) echo "it looks at the address space, of which the emulation uses parts" ;;
	test_translated) echo "the emulation has no processes that share memory, as the compiler's has" ;;
	*) return 1 ;;
	esac
}

check "SYS-51: libtutti on arm64" library
units=()
for name in ${*:-$(cd tests/unit && ls ./*/test_*.c ./*/*/test_*.c | sed 's|.*/||; s|\.c$||')}; do
	if reason=$(cannot_run "$name"); then skip "SYS-51: $name on arm64" "$reason"; else units+=("$name"); fi
done
mkdir -p "$out/firmware" && cp "${TUTTI_OUT:-build}/firmware/tutti-fw.bin" "$out/firmware/" # it is the same
check "SYS-51: unit tests compile without warnings" cross "${units[@]/#/$out/tests/unit/}"
for name in "${units[@]}"; do check "SYS-51: $name on arm64" unit "$name"; done
plan
