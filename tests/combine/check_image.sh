#!/bin/bash
# SPDX-License-Identifier: MIT
# REL-10, REL-11: the same scenarios on the firmware images that are shipped. Each visit is counted in instructions, and
# the worst are named with the functions that take them.
exec "$(dirname "$0")/check.sh" combine-image
