#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzzes the ioctls for a while (FUZZ_SECONDS, FUZZ_SEED of `run`); `parse` looks for what the kernel reports.
. /lib/vm.sh
echo "KTAP version 1"
if [ ! -e /lib/modules/tutti.ko ] || [ ! -x /programs/tutti-fuzz ]; then
	echo "1..0 # SKIP no tutti.ko or no tutti-fuzz"
	exit 0
fi
seconds=$(vm_option fuzz)
seed=$(vm_option seed)
check "the module loads" insmod /lib/modules/tutti.ko
check "it binds by driver_override" card_bind tutti
take_from /programs/tutti-fuzz --seconds "${seconds:-10}" ${seed:+--seed "$seed"} --pci "$(card_address)" --inject inject
check "it unbinds" card_unbind
check "the module unloads" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
