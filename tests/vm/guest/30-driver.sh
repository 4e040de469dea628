#!/bin/sh
# SPDX-License-Identifier: MIT
# tutti.ko and the card: bind, node, reload, recovery from a crash and a hang, surprise removal.
. /lib/vm.sh
echo "KTAP version 1"
if [ ! -e /lib/modules/tutti.ko ]; then
	echo "1..0 # SKIP no tutti.ko"
	exit 0
fi
has_node() { [ -n "$(node)" ]; }
no_node() { ! has_node; }
opens() { (exec 3<>"$(node)"); } 2>/dev/null
sequence() { control_value boot_sequence; }
booting() { [ "$(sequence)" != "$before" ]; }
rebooted() { [ "$(sequence)" != "$before" ] && state running; }
first_node() { case $(node) in */accel0 | */renderD128) return 0 ;; *) return 1 ;; esac; }
was_stopped() { [ -s /tmp/state_at_boot ] && ! grep -q running /tmp/state_at_boot; }
cycles() { # COUNT: bind, open, unbind
	local i
	for i in $(seq "$1"); do
		card_bind tutti && opens && card_unbind || return 1
	done
}
reloads() { # COUNT
	local i
	for i in $(seq "$1"); do
		insmod /lib/modules/tutti.ko && card_bind tutti && rmmod tutti || return 1
	done
}

check "SYS-21: the card was stopped before the machine was reset" was_stopped
check "the module loads" insmod /lib/modules/tutti.ko
if [ "$(vm_option packages)" ]; then
	check "SYS-47: it is the package's, where tests cannot delay it" [ ! -e /sys/kernel/debug/tutti_delay ]
fi
check "it binds by driver_override" card_bind tutti
check "the firmware runs" state running
check "there is a node" has_node
check "it opens" opens
card_unbind
check "unbound: no node" soon 2 no_node
check "ten times bind, open, unbind" cycles 10
check "the module unloads" rmmod tutti
check "ten times load, bind, unload" reloads 10

insmod /lib/modules/tutti.ko
card_bind tutti
before=$(sequence)
control inject firmware-crash >/dev/null
check "a crashed firmware is started again" soon 20 rebooted
check "the node still opens" soon 5 opens
before=$(sequence)
# It ends with the next boot: clearing it here might come too late, when the driver has given the card up.
control inject firmware-hang 2 >/dev/null
check "a hang is noticed" soon 20 booting
check "the hung firmware is started again" soon 20 rebooted
check "the node opens after that, too" soon 5 opens
before=$(sequence)
control reset >/dev/null
check "and one that a reset stopped" soon 20 state running
control interrupt 0 >/dev/null
control interrupt 3 >/dev/null
check "interrupts for no reason do no harm" opens

# A hang that no boot heals: the driver gives up, and works again after it has been unbound and bound.
control inject firmware-hang >/dev/null
check "a card that does not heal is given up" soon 30 said "the card is wedged"
control inject firmware-hang 0 >/dev/null
check "a wedged card still opens, to be asked" opens
exec 4<>"$(node)"
check "a wedged card is unbound, open or not" card_unbind
exec 4>&-
check "and bound" card_bind tutti
check "and works" soon 5 state running
check "nothing of the old device is left" first_node

# A file descriptor that was opened before outlives card and driver.
exec 4<>"$(node)"
control inject removed >/dev/null
sleep 1
# the watcher of timeout lives for another second and must not hold our descriptor
check "a removed card is unbound in time" timeout 150 sh -c '. /lib/vm.sh; card_unbind' 4>&-
check "the node has gone" soon 2 no_node
exec 4>&-
control replug >/dev/null
check "the driver binds to the new card" card_bind tutti
check "its node opens" opens
check "nothing of the removed device is left" first_node

# While the node is open, unloading the module is refused and unbinding is not.
exec 4<>"$(node)"
check "no unloading while the node is open" fails rmmod tutti
check "unbinding is possible" card_unbind
check "binding beside the old descriptor" card_bind tutti
exec 4>&-
card_unbind
check "closed and unbound: the next is the first again" card_bind tutti && check "as its node says" first_node
card_unbind
check_all_freed
check "the module unloads in the end" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
