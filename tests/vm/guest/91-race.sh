#!/bin/sh
# SPDX-License-Identifier: MIT
# Would KCSAN report a data race of the driver? One is made on purpose (kernel/base/delay.c). `parse` checks that its report
# would have failed the run, and lets it pass.
. /lib/vm.sh
race=/sys/kernel/debug/tutti_delay/race
echo "KTAP version 1"
if [ ! -e /sys/kernel/debug/kcsan ] || [ ! -e /lib/modules/tutti.ko ]; then
	echo "1..0 # SKIP no kernel with KCSAN, or no tutti.ko"
	exit 0
fi
reported() {
	echo 100000 >$race &
	echo 100000 >$race
	wait
	said "KCSAN: data-race in tutti_delay_race"
}

check "the module loads" insmod /lib/modules/tutti.ko
echo "progress: a race is made on purpose" >/dev/kmsg
check "REL-03: KCSAN sees a race of the driver" soon 20 reported
check "the module unloads" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
