#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-04, REL-11: what the shipped image asks of a soft core, read from its code: RV32IMC, 256 KiB of which some are
# free, no heap, no recursion, a bounded stack, nothing of libc but mem*.
set -u
cd "$(dirname "$0")/../.." || exit 2
exec perl tests/target/image.pl "${1:-${TUTTI_OUT:-build}/firmware/tutti-fw.elf}"
