#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-51: on arm64, by cross compiler and user emulation, without warnings: libtutti, which a program links and calls; all
# unit tests; examples and integration tests, that is the whole stack with the shipped firmware, with kernels that are
# interpreted and kernels that the cross compiler has translated, and once more with larger pages. Arm64's libraries are
# unpacked in the user's cache folder. Arguments name the unit and integration tests to run.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/tap/tap.sh
out=${TUTTI_OUT:-build}/arm64
root=${XDG_CACHE_HOME:-$HOME/.cache}/tutti/arm64
packages="libcmocka0 libcmocka-dev zlib1g zlib1g-dev libdrm-dev libelf-dev libelf1 libunicorn2 libunicorn-dev"
units=$(cd tests/unit && ls ./*/test_*.c ./*/*/test_*.c | sed 's|.*/||; s|\.c$||')
whole="test_aql test_condensed test_record test_loader test_cga test_tensor"
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP no $tool"; exit 0; }
done

fetch() { # the libraries and headers of arm64
	local apt="apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State=$root/apt
		-o Dir::State::status=/dev/null -o Dir::Cache=$root/apt/cache" package
	rm -rf "$root" && mkdir -p "$root"/apt/{lists,cache}/partial && cd "$root" && $apt update >&2 &&
		$apt download $packages >&2 || return 1
	for package in ./*.deb; do dpkg-deb -x "$package" "$root" || return 1; done
	echo "$packages" >complete
}
[ "$(cat "$root/complete" 2>/dev/null)" = "$packages" ] || (fetch) || { echo "1..0 # SKIP no packages of arm64"; exit 0; }

libraries=$root/usr/lib/aarch64-linux-gnu
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
# What this is linked into has no rule that knows of it.
[ "$out/processes.o" -nt tests/roots/processes.c ] || rm -rf "$out"
mkdir -p "$out/firmware"
cp "${TUTTI_OUT:-build}/firmware/tutti-fw.bin" "$out/firmware/" # it is the same

# Firmware is interpreted: translating it takes the compiler as long as all the rest.
cross() { # GOAL...
	make -s -k -j2 --no-print-directory APT=no WERROR=1 TRANSLATE=no OUT="$out" CC=aarch64-linux-gnu-gcc \
		CFLAGS="-O2 -g -isystem $root/usr/include -isystem $root/usr/include/libdrm" \
		LDFLAGS="-L$libraries -L$root/lib/aarch64-linux-gnu $out/processes.o" "$@"
}

# The compiler that translates kernels when they are loaded is the cross compiler, which runs outside of the emulation.
mkdir "$work/bin"
printf '#!/bin/sh\nexec aarch64-linux-gnu-gcc "$@"\n' >"$work/bin/cc"
chmod +x "$work/bin/cc"

emulated() { # [OPTION OF QEMU...] PROGRAM [ARGUMENT...]: with a time that no busy machine needs
	PATH=$work/bin:$PATH TUTTI_OUT=$out TUTTI_DEVICE=emulator CMOCKA_MESSAGE_OUTPUT=TAP timeout 1800 \
		qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$libraries:$root/lib/aarch64-linux-gnu:$PWD/$out" "$@"
}

library() {
	cross "$out/libtutti.so.0" && cat >"$out/call.c" <<-'C' && aarch64-linux-gnu-gcc -Iinclude "$out/call.c" -o "$out/call" \
		"$out/libtutti.so.0" -L"$libraries" -Wl,--allow-shlib-undefined && emulated "$out/call"
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

# An example compares with the host itself. What is to be translated has to leave its translation behind.
example() { # TRANSLATE NAME [OPTION OF QEMU...]
	local mode=$1 name=$2
	shift 2
	TUTTI_TRANSLATE=$mode XDG_CACHE_HOME=$work/$name-$mode emulated "$@" "$out/examples/$name" || return 1
	[ "$mode" = off ] || [ -n "$(find "$work/$name-$mode" -name '*.so')" ]
}

asked() { # NAME: is it to be run?
	[ -z "$only" ] || grep -qw -- "$1" <<<"$only"
}
only=$*

[ -e "$out/processes.o" ] ||
	aarch64-linux-gnu-gcc -O2 -Wall -Werror -fPIC -c tests/roots/processes.c -o "$out/processes.o" || exit 2
check "SYS-51: libtutti on arm64" library
names=$(for name in $units; do asked "$name" && echo "$name"; done)
check "SYS-51: unit tests compile without warnings" cross $(printf "$out/tests/unit/%s " $names)
for name in $names; do check "SYS-51: $name on arm64" emulated "$out/tests/unit/$name"; done

names=$(for name in $whole; do asked "$name" && echo "$name"; done)
check "SYS-51: card, examples and integration tests compile without warnings" cross "$out/libtutti-card.so.0" \
	"$out"/examples/{vector_add,reduce}{,.tco} "$out/tests/integration/kernels/raw.bin" \
	"$out"/tests/integration/kernels/{cga,external,task,tensor,test}.tco \
	$(printf "$out/tests/integration/%s " $names)
for name in vector_add reduce; do
	check "SYS-51: $name on arm64, kernels interpreted" example off $name
	check "SYS-51: $name on arm64, kernels translated" example wait $name
	check "SYS-51: $name on arm64 with pages of 64 KiB" example wait $name -p 65536
done
for name in $names; do check "SYS-51: $name on arm64" emulated "$out/tests/integration/$name"; done
plan
