#!/bin/sh
# SPDX-License-Identifier: MIT
# tutti.ko in the guest: conformance, unplug, faults of the card, programs of the runtime, reload.
. /lib/vm.sh
echo "KTAP version 1"
state() { [ "$(cat "$(card_path)/card_state")" = "$1" ]; }
resets() { [ "$(cat "$(card_path)/resets")" -ge "$1" ]; }
soon() { # COMMAND...: true within fifteen seconds
	local i=0
	while [ $i -lt 150 ]; do
		"$@" && return 0
		sleep 0.1
		i=$((i + 1))
	done
	return 1
}
works() { /programs/tutti-conformance --only "packets run" | grep -q "^ok"; }
two_at_once() {
	/programs/vector_add >/tmp/one & /programs/vector_add >/tmp/two
	wait
	grep -q " 0 wrong" /tmp/one && grep -q " 0 wrong" /tmp/two
}
export TUTTI_DEVICE=drm
check "module loads" insmod /lib/modules/tutti.ko
check "card binds by driver_override" card_bind tutti
check "debugfs" test -n "$(find /sys/kernel/debug -name tutti_status)"
/programs/tutti-conformance --pci "$(card_address)" >/tmp/conformance
take </tmp/conformance

control inject lost-interrupt >/dev/null
check "lost interrupt" works
before=$(cat "$(card_path)/resets")
control inject firmware-crash >/dev/null
check "firmware crash: the card is reset" soon resets $((before + 1))
soon state running
check "firmware crash: all works again" works
check "firmware crash: core dump" test -e "$(card_path)/devcoredump/data"
control inject firmware-hang >/dev/null
check "a hang that no reset ends: wedged" soon state wedged
check "wedged: calls fail, and do not wait" sh -c '! /programs/tutti-conformance --only "packets run" | grep -q "^ok"'
control inject firmware-hang 0 >/dev/null
echo 1 >"$(card_path)/card_reset"
check "reset by hand" state running
check "after it all works again" works

if [ -x /programs/vector_add ]; then
	check "two programs at once" two_at_once
	/programs/kripke --small --check --no-count --niter 2 >/tmp/kripke 2>&1
	check "Kripke in three launch modes equals the CPU" test "$(grep -c 'equal to CPU' /tmp/kripke)" = 3
fi
check "driver unbinds" card_unbind
check "module unloads" rmmod tutti
check "module loads again" insmod /lib/modules/tutti.ko
check "card binds again" card_bind tutti
check "all works again" works
check "and goes" card_unbind
echo "1..$vm_number"
