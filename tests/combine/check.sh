#!/bin/bash
# SPDX-License-Identifier: MIT
# REL-10: a fixed set of seeds, about 40 seconds of one core, and one that splits a CTA on the largest card, which is
# rare.
cd "$(dirname "$0")/../.." || exit 2
exec "${TUTTI_OUT:-build}/tests/combine/combine" --seed 1 --count "${COMBINE_COUNT:-4000}" --also 8233 --known tests/combine/known
