#!/bin/sh
# SPDX-License-Identifier: MIT
# The ioctl-level conformance suite, and an interrupt that never comes.
. /lib/vm.sh
echo "KTAP version 1"
if [ ! -e /lib/modules/tutti.ko ] || [ ! -x /programs/tutti-conformance ]; then
	echo "1..0 # SKIP no tutti.ko or no tutti-conformance"
	exit 0
fi
works() { /programs/tutti-conformance --only "packets run" | grep -q "^ok"; }

check "the module loads" insmod /lib/modules/tutti.ko
check "it binds by driver_override" card_bind tutti
check "debugfs" test -n "$(find /sys/kernel/debug -name tutti_status)"
/programs/tutti-conformance --pci "$(card_address)" >/tmp/conformance
take </tmp/conformance
control inject lost-interrupt >/dev/null
check "lost interrupt" works
check "it unbinds" card_unbind
check "the module unloads" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
