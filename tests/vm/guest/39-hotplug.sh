#!/bin/sh
# SPDX-License-Identifier: MIT
# The card is pulled out of its slot and another is plugged in, with the kernel's own driver of slots (pciehp): REL-06,
# SYS-28. Machines with a slot for the card only (q35).
. /lib/vm.sh
echo "KTAP version 1"
slot() { readlink -f "$(card_path)" | grep -q '/[0-9a-f:.]*/0000:'; }
if [ ! -e /lib/modules/tutti.ko ] || ! slot || ! monitor_line >/dev/null; then
	echo "1..0 # SKIP no tutti.ko, or the card is on the root bus, or QEMU has no monitor"
	exit 0
fi
card=$(card_address)
gone() { [ ! -e "/sys/bus/pci/devices/$card" ]; }
has_node() { [ -n "$(node)" ]; }
no_node() { ! has_node; }
unplug() { monitor device_del '{"id":"card"}' >/dev/null; }
bound() { card_bind tutti && has_node; }
plug_in() { plug "$card" && soon 30 bound; }
answers() { monitor query-status >/dev/null; }
free() { cat /sys/kernel/debug/*/*/tutti_free | grep -v "^task\|^SM"; }

check "QEMU's monitor answers" answers
check "the module loads" insmod /lib/modules/tutti.ko
check "it binds by driver_override" card_bind tutti
check "it works" works
free_before=$(free)

# Somebody presses the button beside the slot: the driver lets go of a card that is still there.
exec 4<>"$(node)"
check "REL-06: the attention button is pressed while the node is open" unplug
check "REL-06: the card goes" soon 60 gone
check "REL-06: and its node" soon 10 no_node
check "REL-06: there is no unloading while the old node is open" fails rmmod tutti
check "REL-06: a card is plugged in beside the old descriptor" plug_in
check "REL-06: it works" works
exec 4>&-

insmod /lib/modules/aer_inject.ko 2>/dev/null # not if it is built in
take_from /programs/tutti-driver-test --plug "plug $card" --inject inject "$card" "REL-06 SYS-28"
take_from /programs/tutti-conformance --pci "$card" --plug "plug $card" --inject inject --only pull
check "REL-06: the new card has all that the first one had" [ "$(free)" = "$free_before" ]
card_unbind
check_all_freed
check "the module unloads" rmmod tutti
rmmod aer_inject 2>/dev/null
echo "1..$vm_number"
exit $vm_failed
