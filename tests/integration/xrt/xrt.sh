#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-44, SYS-42: the transport xrt with the real XRT. Its no-op mode shows opening, errors and lifetimes; in its software
# emulation tutti-card is the device process, so that XRT drives the shipped firmware.
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap/tap.sh
out=$PWD/${TUTTI_OUT:-build}
work=$(mktemp -d)
export USER=tutti-test-$$
trap 'rm -rf "$work" "/tmp/$USER"' EXIT
unset XILINX_XRT XILINX_VITIS XCL_EMULATION_MODE TUTTI_XCLBIN
card=$work/card.xclbin
mode=

if ! ldconfig -p | grep -q 'libxrt_coreutil\.so\.2'; then
	skip "SYS-44, a card behind XRT" "XRT is not installed (Debian's package libxrt1, where the release has it)"
	plan
	exit
fi

# The first lines of XRT's own text are not Tutti's.
xrt() { # COMMAND...: with the transport xrt, in the mode that is set
	(cd "$work" && env TUTTI_DEVICE=xrt ${mode:+XCL_EMULATION_MODE=$mode} "$@")
}

fails_saying() { # TEXT COMMAND...: exit status 1 and one sentence with TEXT, never a signal
	local text=$1 status=0
	shift
	"$@" >"$work/said" 2>&1 || status=$?
	[ $status -eq 1 ] && grep -q "^tutti: device xrt: .*$text" "$work/said" || { echo "status $status"; cat "$work/said"; return 1; }
}

# ---- what is missing is said before XRT can end the process
no_card() { fails_saying 'opening the card failed' xrt "$out/tutti" info; }
no_folder() { XILINX_XRT=/nowhere fails_saying 'XILINX_XRT=/nowhere has no lib/libxrt_core' xrt "$out/tutti" info; }
no_mode() { XCL_EMULATION_MODE=fpga fails_saying 'XCL_EMULATION_MODE=fpga is not a mode' xrt "$out/tutti" info; }
no_file() { mode=noop TUTTI_XCLBIN=/nowhere.xclbin fails_saying 'loading TUTTI_XCLBIN failed' xrt "$out/tutti" info; }

check "SYS-44, no card: one sentence" no_card
check "SYS-44, XILINX_XRT without XRT: one sentence, no abort" no_folder
check "SYS-44, an unknown emulation: one sentence, no abort" no_mode
check "SYS-44, no such xclbin: one sentence" no_file

# ---- files for XRT
garbled() { # no cut or changed file ends the tool with a signal
	local bytes i status
	bytes=$(stat -c %s "$card")
	for ((i = 0; i < bytes; i += 23)); do
		head -c "$i" "$card" >"$work/cut"
		cp "$card" "$work/odd" && printf '\377\377\377\377' | dd of="$work/odd" bs=1 seek="$i" conv=notrunc status=none
		for file in cut odd; do
			status=0
			"$out/tutti" xclbin show "$work/$file" >/dev/null 2>&1 || status=$?
			[ $status -lt 2 ] || { echo "$file at $i: status $status"; return 1; }
		done
	done
}
shown() { "$out/tutti" xclbin show "$card" | tee "$work/shown" && grep -q "it holds a Tutti card" "$work/shown" &&
	grep -q "argument 1 of kernel 0: bank 1" "$work/shown" && grep -q "kernel 0: tutti:tutti_1" "$work/shown"; }
layout() { # the structures are those of XRT's own header
	cat >"$work/layout.c" <<-C
	#include <stddef.h>
	#include <xclbin.h>
	#include "tools/xclbin/xclbin.h"
	#define SAME(a, b) _Static_assert((a) == (b), #a)
	SAME(sizeof(struct xclbin_section), sizeof(struct axlf_section_header));
	SAME(offsetof(struct xclbin_section, offset), offsetof(struct axlf_section_header, m_sectionOffset));
	SAME(sizeof(struct xclbin_header), offsetof(struct axlf, m_sections));
	SAME(offsetof(struct xclbin_header, bytes), offsetof(struct axlf, m_header.m_length));
	SAME(offsetof(struct xclbin_header, mode), offsetof(struct axlf, m_header.m_mode));
	SAME(offsetof(struct xclbin_header, platform), offsetof(struct axlf, m_header.m_platformVBNV));
	SAME(offsetof(struct xclbin_header, uuid), offsetof(struct axlf, m_header.uuid));
	SAME(offsetof(struct xclbin_header, sections), offsetof(struct axlf, m_header.m_numSections));
	SAME(sizeof(struct xclbin_bank), sizeof(struct mem_data));
	SAME(offsetof(struct xclbin_banks, bank), offsetof(struct mem_topology, m_mem_data));
	SAME(sizeof(struct xclbin_connection), sizeof(struct connection));
	SAME(sizeof(struct xclbin_ip), sizeof(struct ip_data));
	SAME(offsetof(struct xclbin_ips, ip), offsetof(struct ip_layout, m_ip_data));
	SAME((int)XCLBIN_SW_EMULATION, (int)XCLBIN_SW_EMU);
	SAME((int)XCLBIN_METADATA, (int)EMBEDDED_METADATA);
	SAME((int)XCLBIN_GROUP_CONNECTIVITY, (int)ASK_GROUP_CONNECTIVITY);
	SAME((int)XCLBIN_BANK_HOST, (int)MEM_HOST);
	C
	gcc -std=gnu11 -w -I/usr/include/xrt -Iinclude -Iruntime -fsyntax-only "$work/layout.c"
}

"$out/tutti" xclbin write "$card" || exit 1
check "SYS-44, an xclbin is written and shown" shown
check "SYS-44, xclbins that are cut or changed are refused or shown, never followed" garbled
if [ -f /usr/include/xrt/xclbin.h ]; then
	check "SYS-44, the structures of an xclbin are XRT's" layout
else
	skip "SYS-44, the structures of an xclbin are XRT's" "libxrt-dev is not installed"
fi

# ---- XRT's no-op mode has no registers, so that opening gets as far as the first of them
no_registers() { mode=noop TUTTI_XCLBIN=$card fails_saying 'xrtKernelReadRegister failed' xrt "$out/tutti" info; }
many_opens() { mode=noop TUTTI_XCLBIN=$card xrt "$out/tests/xrt/opens" 1000 2>/dev/null; }
check "SYS-44, no-op mode: the kernel opens, its registers do not answer, and that is said" no_registers
check "SYS-44, no-op mode: 1000 opens lose nothing" many_opens
buffers() { mode=noop xrt "$out/tests/xrt/buffers" "$card" 2>/dev/null; }
check "SYS-44, no-op mode: buffer objects are allocated, mapped and freed" buffers

# ---- software emulation: the real XRT drives the firmware
mode=sw_emu
model=$work/vitis/data/emulation/unified/cpu_em/generic_pcie/model
mkdir -p "$model"
printf 'memory 128M\n' >"$work/topology"
printf '#!/bin/sh\nexec "%s/tutti-card" --xrt --topology "%s/topology"\n' "$out" "$work" >"$model/genericpciemodel"
chmod +x "$model/genericpciemodel"
printf '[Runtime]\nkds_sw_emu=false\n[Emulation]\nkeep_run_dir=true\n' >"$work/xrt.ini"
export XILINX_VITIS=$work/vitis XRT_INI_PATH=$work/xrt.ini TUTTI_XCLBIN=$card TUTTI_XRT_HOST_MIB=128

emulated() { # COMMAND...: on XRT's software emulation
	xrt LD_PRELOAD="$out/tests/xrt/rounding.so" "$@"
}

validates() { emulated "$out/tutti" validate >"$work/validate" 2>&1 && grep -q '^everything works: 0 of' "$work/validate" || { cat "$work/validate"; return 1; }; }

example() { # NAME: same output as inside this process, but for times
	local numbers='s/[0-9.]+ (ms|us|s)\b//g; /^(CRITICAL|plain|reference|condensed) /d; /on SM/d'
	emulated "$PWD/tests/tap/limit" 120 "$out/tutti" run "$@" >"$work/xrt.out" 2>"$work/xrt.err" || { cat "$work/xrt.out" "$work/xrt.err"; return 1; }
	TUTTI_DEVICE=emulator TUTTI_TOPOLOGY=$work/topology "$out/tutti" run "$@" >"$work/own.out" || return 1
	diff <(sed -E "$numbers" "$work/own.out") <(sed -E "$numbers" "$work/xrt.out")
}

two_at_once() { # each process has a card of its own
	local status=0
	emulated "$out/tutti" run vector_add >"$work/one" 2>&1 &
	emulated "$out/tutti" run matmul >"$work/two" 2>&1 || status=1
	wait $! && grep -q ' 0 wrong' "$work/one" && grep -q ' 0 wrong' "$work/two" && [ $status = 0 ] || { cat "$work/one" "$work/two"; return 1; }
}

cards() { pgrep -fc "tutti-card --xrt --topology $work/topology"; }

killed() { # kill -9 of the program ends its card, and the next program works
	local tries
	(cd "$work" && exec env TUTTI_DEVICE=xrt XCL_EMULATION_MODE=sw_emu LD_PRELOAD="$out/tests/xrt/rounding.so" \
		"$out/tutti" run kripke --small --niter 100000 >/dev/null 2>&1) &
	for ((tries = 0; tries < 600; tries++)); do [ "$(cards)" -gt 0 ] && break; sleep 0.1; done
	sleep 1
	kill -9 $! && wait $! 2>/dev/null
	for ((tries = 0; tries < 600; tries++)); do [ "$(cards)" -eq 0 ] && break; sleep 0.1; done
	[ "$(cards)" -eq 0 ] && emulated "$out/tutti" run vector_add 2>/dev/null | grep -q ' 0 wrong'
}

check "SYS-44, tutti validate: launches, replays, faults and hangs through the real XRT" validates
for name in vector_add matmul reduce gemm conv stencil; do
	[ -e "$out/examples/$name" ] && check "SYS-44, example $name through the real XRT" example "$name"
done
ends_well() { emulated "$PWD/tests/tap/limit" 120 "$out/tutti" -d xrt:0 run "$1" >"$work/run" 2>&1 || { cat "$work/run"; return 1; }; }
for name in hello pipeline priorities gradient; do # what they print depends on time
	check "SYS-44, SYS-46, example $name through the real XRT, by tutti -d xrt:0" ends_well "$name"
done
check "SYS-44, Kripke in three modes: equal to the emulated card in this process" example kripke --small
check "SYS-44, two programs at once" two_at_once
check "SYS-44, a program that is killed takes its card along" killed
plan
