#!/bin/sh
# SPDX-License-Identifier: MIT
# The ioctl-level conformance suite; subtests=TEXT on the command line (VM_SUBTESTS) picks some.
. /lib/vm.sh
echo "KTAP version 1"
if [ ! -e /lib/modules/tutti.ko ] || [ ! -x /programs/tutti-conformance ]; then
	echo "1..0 # SKIP no tutti.ko or no tutti-conformance"
	exit 0
fi
only=$(vm_option subtests)

check "the module loads" insmod /lib/modules/tutti.ko
check "it binds by driver_override" card_bind tutti
check "debugfs" test -n "$(find /sys/kernel/debug -name tutti_status)"
take_from /programs/tutti-conformance --pci "$(card_address)" --inject inject --only "$only" --rounds "$(vm_option rounds)"
exec 4<>"$(node)"
! allocator_notes || check "REL-05: what the driver allocates is noted" grep -q tutti_drv_open /sys/kernel/debug/slab/kmalloc-*/alloc_traces
exec 4>&-
check "it unbinds" card_unbind
check_all_freed
check "REL-05: nothing of the old device is left" card_bind_first
card_unbind
check "the module unloads" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
