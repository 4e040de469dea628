#!/bin/sh
# SPDX-License-Identifier: MIT
# An unused card loses its power (D3cold), and all that it knew: SYS-29, REL-06. In a guest with power.asl only.
. /lib/vm.sh
echo "KTAP version 1"
card=$(card_path)
port=$(dirname "$(readlink -f "$card")")
if [ ! -e /lib/modules/tutti.ko ] || [ ! -e "$port/firmware_node/power_resources_D0" ]; then
	echo "1..0 # SKIP no tutti.ko, or nothing switches the power of the card's port"
	exit 0
fi
power_states() { echo "$(cat "$card/power_state") $(cat "$port/firmware_node/real_power_state")"; }
is_cold() { [ "$(power_states)" = "D3cold D3cold" ]; }
has_power() { [ "$(power_states)" = "D0 D0" ]; }
cold() { soon 30 is_cold || { echo "# $(power_states)"; return 1; }; }
# What QEMU says: a device without power has no addresses.
has_addresses() {
	monitor human-monitor-command '{"command-line":"info pci"}' | sed 's/.*Bus  1, device//; s/Bus  0, .*//' |
		grep 'BAR2.* at 0x' | grep -qv 0xffffffffffffffff
}
# The card's process has power as before, and remembers; a card would not.
forget() { control inject removed >/dev/null && control replug >/dev/null; }
cold_and_empty() { cold && forget; }
resets() { cat "$card/resets"; }
no_resets() { [ "$(resets)" = 0 ]; }
interrupts() { awk '/tutti/ { n += $2 + $3 } END { print n }' /proc/interrupts; }
interrupted() { # by what works
	local before
	before=$(interrupts)
	works && [ "$(interrupts)" -gt "$before" ]
}
free() { cat /sys/kernel/debug/*/*/tutti_free | grep -v "^task\|^SM"; }
all_free() { [ "$(free)" = "$free_before" ]; } # by whoever has the card open
look() { cat "$card"/card_* "$card"/resets "$card"/tutti_counters/* /sys/kernel/debug/*/*/tutti_* >/dev/null 2>&1; is_cold; }
soon_works() { soon 60 works; }
opened_again_and_again() { # each time a little later after the last close
	local i
	for i in 0 1 2 3 4 5 6 7 8 9; do
		works || return 1
		sleep 0.$i
	done
}
delays=/sys/kernel/debug/tutti_delay
falls_asleep() { [ "$(cat $delays/sleep_reached)" -gt "$falls" ]; }
opened_while_it_is_switched_off() {
	local good=1
	falls=$(cat $delays/sleep_reached)
	echo 1500 >$delays/sleep
	works && soon 30 falls_asleep && works && good=0
	echo 0 >$delays/sleep
	return $good
}
two_at_once() {
	works &
	works
	local one=$?
	wait $! && [ $one = 0 ]
}
system_sleeps() {
	echo 1 >/sys/module/suspend/parameters/pm_test_delay # seconds
	echo platform >/sys/power/pm_test && echo freeze >/sys/power/state
	local slept=$?
	echo none >/sys/power/pm_test
	return $slept
}
gone() { [ ! -e "$card" ]; }
remove() { echo 1 >"$card/remove" && gone; }
rescan() { echo 1 >/sys/bus/pci/rescan && card_bind tutti; }
bound() { card_bind tutti && [ -n "$(node)" ]; }
plugged() { plug "${card##*/}" && soon 30 bound; }
# The kernel asks first whether devices that have no registers for power management may lose their power.
may_lose_power() {
	echo 1 >"$port/d3cold_allowed" && echo 1 >"$card/d3cold_allowed" && echo auto >"$card/power/control"
}

check "the module loads" insmod /lib/modules/tutti.ko autosuspend_ms=300
check "it binds by driver_override" card_bind tutti
check "it works" works
free_before=$(free)
check "SYS-29: it has power" has_power
check "SYS-29: and addresses, as QEMU says" has_addresses
check "SYS-29: it may lose it" may_lose_power
check "SYS-29: unused, it does" cold_and_empty
check "SYS-29: and it has no addresses" fails has_addresses
check "SYS-29: who only looks does not wake it" look
check "SYS-29: and is told that it sleeps" sh -c 'cat /sys/kernel/debug/*/*/tutti_status | grep -q "^the card sleeps"'
check "SYS-29: opened, it works" works
boot=$(control_value boot_sequence)
check "SYS-29: off again, and opened by two at once" cold_and_empty && check "SYS-29: both work" two_at_once
# By its number the driver knows after a sleep whether a firmware is the one that it has booted.
check "SYS-29: this boot has another number than the last" [ "$(control_value boot_sequence)" != "$boot" ]
check "SYS-29: it interrupts, after its power was off" interrupted
take_from /programs/tutti-driver-test "${card##*/}" "keeps the card's power"
exec 4<>"$(node)"
sleep 2
check "SYS-29: open, it keeps its power" has_power
check "SYS-27: nothing is lost on the card" soon 10 all_free
exec 4>&-
[ ! -e $delays ] || check "SYS-29: opened while it is being switched off" opened_while_it_is_switched_off
check "SYS-29: opened a little later each time" opened_again_and_again
check "SYS-28 SYS-29: nobody has taken that for an error" no_resets

check "SYS-29: off, and the system sleeps and wakes" cold_and_empty
check "SYS-29: it does" system_sleeps
check "SYS-29: and the card works" works

check "SYS-28: off, and its firmware will not start at once" cold_and_empty
control inject boot-failure 1 >/dev/null
works
check "SYS-28: the ladder makes it start" soon_works
check "SYS-28: by one reset" [ "$(resets)" = 1 ]
check "SYS-28: off, and reset by hand" cold_and_empty
check "SYS-28: that wakes it" sh -c "echo function >$card/card_reset"
check "SYS-28: and it works" works
check "SYS-28: off, and its function is reset by the bus" cold_and_empty
check "SYS-28: it is" sh -c "echo 1 >$card/reset"
check "SYS-28: and it works" works

insmod /lib/modules/aer_inject.ko 2>/dev/null # not if it is built in
if [ -e /dev/aer_inject ]; then
	check "REL-06: off, and the bus has an error" cold_and_empty
	check "REL-06: it is reported" bus_error "$(basename "$port")" 0x10 0
	check "REL-06: the card works" soon_works
	check "REL-06: and is switched off again" cold_and_empty
	check "REL-06: and works again" works
	rmmod aer_inject 2>/dev/null
fi

check "REL-06: off, and unbound" cold_and_empty
card_unbind
check "REL-06: bound" card_bind tutti
check "REL-06: it works" works
check "REL-06: off, and removed" cold_and_empty
check "REL-06: the device goes" remove
check "REL-06: it is found again" rescan
check "REL-06: and works" works
may_lose_power
check "REL-06: off, and the button beside its slot is pressed" cold_and_empty
monitor device_del '{"id":"card"}' >/dev/null
works # a port without power does not hear of the button before it wakes
# An empty slot is off, too. QEMU takes a card out of it again when the port wakes, which switches it on and off.
echo on >"$port/power/control"
check "REL-06: the card goes" soon 60 gone
check "REL-06: another is plugged in" plugged
check "REL-06: and works" works
echo auto >"$port/power/control"
may_lose_power
check "REL-06: off, and unloaded" cold_and_empty
check "REL-06: the module goes" rmmod tutti
check "REL-06: and comes" insmod /lib/modules/tutti.ko
check "REL-06: bound" card_bind tutti
check "REL-06: it works" works
echo on >"$card/power/control"
card_unbind
check "the module unloads" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
