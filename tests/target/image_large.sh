#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-04, CGA-04: the same of the image for large cards.
exec "$(dirname "$0")/image.sh" "${TUTTI_OUT:-build}/firmware/tutti-fw-large.elf"
