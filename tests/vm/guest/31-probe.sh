#!/bin/sh
# SPDX-License-Identifier: MIT
# Which devices the driver binds to, which firmware files it accepts, how long it waits for a silent card (spec SYS-21).
. /lib/vm.sh
echo "KTAP version 1"
if [ ! -e /lib/modules/tutti.ko ] || [ ! -x /programs/tutti-conformance ]; then
	echo "1..0 # SKIP no tutti.ko or no tutti-conformance"
	exit 0
fi
image=/lib/firmware/tutti/tutti-fw.bin
parameters=/sys/module/tutti/parameters
has_alias() { grep -q "alias=pci:v0000$1" /lib/modules/tutti.ko; }
vectors() { ls "$(card_path)/msi_irqs" | wc -l; }
interrupts() { awk '/ tutti$/ { for (i = 2; i <= 3; i++) n += $i } END { print n + 0 }' /proc/interrupts; }
lines() { grep -c " tutti$" /proc/interrupts; }
refuses() { # WHY: to bind, with the image as it is
	dmesg -c >/dev/null
	card_bind tutti
	! card_bound tutti && said "$1"
}
rebooted() { [ "$(control_value boot_sequence)" != "$before" ] && state running; }

# The driver binds to its own id and to no other.
check "SYS-21: the card's PCI id is the module's" has_alias 1E57d00000001
check "SYS-21: ivshmem's is not" fails has_alias 1AF4
insmod /lib/modules/tutti.ko
card_address >/sys/bus/pci/drivers_probe
check "SYS-21: an ivshmem device is left alone" fails card_bound tutti
other=$(ivshmem_devices | tail -1)
check "SYS-21: there is another ivshmem device" [ "$other" != "$(card_address)" ]
dmesg -c >/dev/null
echo tutti >"/sys/bus/pci/devices/$other/driver_override"
echo "$other" >/sys/bus/pci/drivers_probe
check "SYS-21: without the magic not even driver_override binds it" [ ! -e "/sys/bus/pci/devices/$other/driver" ]
check "SYS-21: and the log says why" said "$other.*no card: discovery reads zero"
echo >"/sys/bus/pci/devices/$other/driver_override"

# The driver loads the image by request_firmware and checks it.
cp $image /tmp/image
rm $image
check "SYS-21 SYS-05: no firmware file" refuses "firmware.*failed\|Direct firmware load"
echo "this is no firmware" >$image
check "SYS-21 SYS-05: some other file" refuses "not a Tutti firmware image"
head -c 20000 /tmp/image >$image
check "SYS-21 SYS-05: half a file" refuses "wrong size"
cp /tmp/image $image
printf '\377\377\377\377' | dd of=$image bs=1 seek=30000 conv=notrunc 2>/dev/null
check "SYS-21 SYS-05: a damaged file" refuses "wrong checksum"
cp /tmp/image $image
check "SYS-21: the right one" card_bind tutti
check "SYS-21: it runs" soon 5 state running

# MSI-X.
check "SYS-21: several vectors" [ "$(vectors)" -gt 1 ]
check "SYS-21: each has a handler" [ "$(lines)" = "$(vectors)" ]
before=$(interrupts)
check "SYS-21: packets run" works
check "SYS-21: and interrupts came" [ "$(interrupts)" -gt "$before" ]

# The watchdog waits as long as it is told to. A silent firmware is not noticed by the card's own watchdog, and the next boot
# heals it: however slow this machine is, nothing has to be in time.
before=$(control_value boot_sequence)
dmesg -c >/dev/null
control inject firmware-silent 2 >/dev/null
echo 300 >$parameters/heartbeat_timeout_ms
check "SYS-21: a short patience: silence is not borne" soon 60 said "no heartbeat: resetting"
echo 60000 >$parameters/heartbeat_timeout_ms
check "SYS-21: the firmware is started again" soon 60 rebooted
check "SYS-21: and works" soon 60 works
# The other order: the card's own watchdog is first.
before=$(control_value boot_sequence)
dmesg -c >/dev/null
control inject firmware-hang 2 >/dev/null
check "SYS-21: what the card's watchdog ends is a crash" soon 60 said "the firmware has crashed: resetting"
check "SYS-21: and started again, too" soon 60 rebooted
check "SYS-21: and it works" soon 60 works
dmesg -c >/dev/null
control inject firmware-silent >/dev/null
sleep 3
check "SYS-21: a long one: it is" fails said "resetting the card"
control inject firmware-silent 0 >/dev/null
echo 5000 >$parameters/heartbeat_timeout_ms
check "SYS-21: and all works" soon 60 works
card_unbind
check "SYS-21: unbound, no handler is left" [ "$(lines)" = 0 ]
check "the module unloads" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
