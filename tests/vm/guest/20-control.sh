#!/bin/sh
# SPDX-License-Identifier: MIT
# What the card's control socket does to the card, as the guest sees it.
. /lib/vm.sh
echo "KTAP version 1"
passes() { ! grep -q '^not ok' "$(card_path)/ktap"; }
count() { sed -n "s/^vector $1 //p" "$(card_path)/vectors"; }
interrupted() { [ "$(count 5)" -gt "$before" ]; }
answers() { "$@" >/dev/null; }

insmod /lib/modules/probe.ko
card_bind tutti_probe
check "status: running" state running
check "counters answer" answers control counters
before=$(count 5)
control interrupt 5 >/dev/null
check "an interrupt on vector 5 arrives on vector 5" soon 5 interrupted
check "a wrong command is refused" fails control nonsense
check "a wrong fault is refused" fails control inject nonsense
check "a vector that is not there is refused" fails control interrupt 4000

control inject firmware-crash >/dev/null
check "injected firmware crash" soon 5 state crashed
card_unbind
check "a new boot heals it" card_bind tutti_probe
check "all works again" passes

control inject firmware-hang >/dev/null
before=$(control_value heartbeat)
sleep 0.3
check "injected hang: no heartbeat" [ "$(control_value heartbeat)" = "$before" ]
control inject firmware-hang 0 >/dev/null
card_unbind

control reset >/dev/null
check "reset: no firmware" state off
check "boots after a reset" card_bind tutti_probe
check "all works after a reset" passes
card_unbind

control inject removed >/dev/null
check "surprise removal" state removed
check "no driver binds to all ones" fails card_bind tutti_probe
control replug >/dev/null
check "a new card is in" state off
check "it boots" card_bind tutti_probe
check "all works on the new card" passes
card_unbind
rmmod probe
echo "1..$vm_number"
exit $vm_failed
