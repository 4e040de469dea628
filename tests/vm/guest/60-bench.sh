#!/bin/sh
# SPDX-License-Identifier: MIT
# PERF-10: the driver's calls are compared with those of vgem in the same guest.
. /lib/vm.sh
echo "KTAP version 1"
if [ ! -e /lib/modules/tutti.ko ] || [ ! -e /lib/modules/vgem.ko ]; then
	echo "1..0 # SKIP no tutti.ko or no vgem"
	exit 0
fi
check "the module loads" insmod /lib/modules/tutti.ko
check "it binds by driver_override" card_bind tutti
check "vgem loads" insmod /lib/modules/vgem.ko
/programs/tutti-drm-bench >/tmp/bench
take </tmp/bench
rmmod vgem
card_unbind
check "the module unloads" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
