#!/bin/bash
# SPDX-License-Identifier: MIT
# For prove: the guest run in which the card loses its power (spec SYS-29). `make vm-power` is the same.
VM_POWER=yes exec "$(dirname "$0")/check.sh"
