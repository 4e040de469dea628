#!/bin/bash
# SPDX-License-Identifier: MIT
# For prove: a part of the tests under Debian's 6.12 kernel.
exec "$(dirname "$0")/check.sh" runtime
