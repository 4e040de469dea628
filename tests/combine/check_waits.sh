#!/bin/bash
# SPDX-License-Identifier: MIT
# REL-10, TSK-07, RES-07: kernels that start children, CTAs that are issued wave by wave, and throttle mode, few features
# beside them: a child waited for a task that could not end. These two seeds found it, and the others look on.
cd "$(dirname "$0")/../.." || exit 2
exec "${TUTTI_OUT:-build}/tests/combine/combine" --seed 703600 --count 100 --also 704423 --only REF_STORE,COND_6,OVERLAP,\
THROTTLE,INDEPENDENT,CHILD,CGA_GPC,SHAPES_TWO,SHAPES_MANY,BALANCE,OLDEST,LONG,CARD_TINY,SPLIT
