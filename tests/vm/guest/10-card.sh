#!/bin/sh
# SPDX-License-Identifier: MIT
# The probe module tests the card behind ivshmem: window, boot, kernel channel, MSI-X and DMA, at each load.
. /lib/vm.sh
results() { take <"$(card_path)/ktap"; }

echo "KTAP version 1"
check "the card is on the bus" card_address
check "the probe module loads" insmod /lib/modules/probe.ko
check "it binds by driver_override" card_bind tutti_probe
results
card_unbind
check "it binds again" card_bind tutti_probe
results
card_unbind
rmmod probe
check "it loads again" insmod /lib/modules/probe.ko
check "and binds" card_bind tutti_probe
results
card_unbind
rmmod probe
echo "1..$vm_number"
exit $vm_failed
