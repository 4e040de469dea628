#!/bin/sh
# SPDX-License-Identifier: MIT
# What the driver does apart from its calls: recovery ladder, core dump, runtime PM, lost doorbells.
. /lib/vm.sh
echo "KTAP version 1"
if [ ! -e /lib/modules/tutti.ko ] || [ ! -x /programs/tutti-driver-test ]; then
	echo "1..0 # SKIP no tutti.ko or no tutti-driver-test"
	exit 0
fi
dumps() { ls -d /sys/class/devcoredump/devcd* 2>/dev/null; }
no_dumps() { [ -z "$(dumps)" ]; }
drop_dumps() {
	local dump
	for dump in $(dumps); do echo 1 >"$dump/data"; done
	soon 5 no_dumps
}

check "the module loads" insmod /lib/modules/tutti.ko
check "it binds by driver_override" card_bind tutti
card=$(card_path)
take_from /programs/tutti-driver-test --inject inject "$(card_address)"

if [ -x /programs/tutti-driver-test32 ]; then
	for test in "one context is killed" "card memory is shared" "memory of the process on"; do
		/programs/tutti-driver-test32 "$(card_address)" "$test" >/tmp/driver32
		check "SYS-30: a program of 32 bits: $test" grep -q "^ok" /tmp/driver32
		grep -v "^ok" /tmp/driver32 | sed 's/^/# /'
	done
fi

# What users see.
look() { cat /sys/kernel/debug/*/*/"$1" 2>/dev/null; }
tracing=/sys/kernel/tracing
[ -e $tracing/events ] || mount -t tracefs tracing $tracing 2>/dev/null
if [ -e $tracing/events/tutti ]; then
	echo 1 >$tracing/events/tutti/enable
	check "SYS-29: it works while it is traced" works
	for event in on_card off_card message_send message_reply map; do
		check "SYS-29: tracepoint tutti_$event" grep -q "tutti_$event:" $tracing/trace
	done
	echo 0 >$tracing/events/tutti/enable
fi
look tutti_free >/tmp/free
check "SYS-29: debugfs, queues that are free" grep -q "^queues [1-9]" /tmp/free
check "SYS-29: debugfs, slots that are free" grep -q "^task slots [1-9]" /tmp/free
check "SYS-29: debugfs, log of the firmware" sh -c 'cat /sys/kernel/debug/*/*/tutti_log | grep -q .'
if [ -x /programs/tutti ]; then
	TUTTI_DEVICE=drm tutti info >/tmp/info 2>&1
	check "SYS-45: tutti info knows the bus" grep -q "^bus.*$(card_address)" /tmp/info
	check "SYS-45: and the BARs" grep -q "BAR2: $(($(stat -c %s "$(card_path)/resource2") / 1024)) KiB" /tmp/info
	check "SYS-45: JSON too" sh -c 'TUTTI_DEVICE=drm tutti info --json | grep -q "\"pci\":{\"address\":"'
	sed 's/^/# /' /tmp/info
fi

drop_dumps
check "SYS-28: no dump is left" no_dumps
control reset >/dev/null
check "SYS-28: a card that is off is started again" soon 20 state running
check "SYS-28: and leaves no core dump" no_dumps
dmesg -c >/dev/null
control inject boot-failure 1 >/dev/null
control inject firmware-crash >/dev/null
check "SYS-28: a reload that fails leads to the function-level reset" soon 30 said "recovery: function-level reset"
check "SYS-28: which helps" soon 30 works
check "SYS-28: a crash leaves a core dump" dumps
if [ -x /programs/tutti ]; then
	cp "$(dumps | head -1)/data" /tmp/dump
	check "SYS-28: tutti dump reads it" sh -c 'tutti dump /tmp/dump | grep -q "the firmware crashed"'
	check "SYS-28: and writes JSON" sh -c 'tutti dump --json /tmp/dump | grep -q "\"crash\""'
fi
control inject lost-doorbell 1 >/dev/null
check "SYS-15 SYS-28: a lost doorbell is rung again" works

# When no program has the card open it sleeps, if the system allows that.
check "SYS-29: awake by default" state running
echo auto >"$card/power/control"
check "SYS-29: unused, it is switched off" soon 20 state failed
check "SYS-29: runtime PM says so" grep -q suspended "$card/power/runtime_status"
for file in status counters log; do
	check "SYS-29: debugfs, tutti_$file: a card that sleeps is not read" sh -c "cat /sys/kernel/debug/*/*/tutti_$file | grep -q '^the card sleeps'"
done
check "SYS-29: what the driver knows without it is shown" sh -c 'cat /sys/kernel/debug/*/*/tutti_status | grep -q "^recovered by"'
check "SYS-29: sysfs, a counter of a card that sleeps" [ "$(cat "$card/tutti_counters/KERNELS")" = 0 ]
check "SYS-29: and looking has not woken it" grep -q suspended "$card/power/runtime_status"
check "SYS-29: opened, it works" works
exec 4<>"$(node)"
sleep 4
check "SYS-29: open, it stays awake" state running
exec 4>&-
check "SYS-29: closed, it is switched off again" soon 20 state failed
check "SYS-29: a reset by hand wakes it" sh -c "echo 1 >$card/card_reset"
check "SYS-29: unbound while it is off" sh -c "sleep 4; . /lib/vm.sh; card_unbind"
echo on >"$card/power/control"
check "SYS-29: bound again" card_bind tutti
check "SYS-29: and it works" works

# A card that does not acknowledge its stop may still write to memory that would be somebody else's.
dmesg -c >/dev/null
control inject removed >/dev/null
echo auto >"$card/power/control"
check "SYS-29 SYS-28: unused, and does not stop: it is reset" soon 60 said "the card does not stop: resetting the card"
check "SYS-29 SYS-28: in vain" soon 120 said "the card is wedged"
control replug >/dev/null
echo on >"$card/power/control"
check "SYS-28: when it answers again, a reset by hand brings it back" sh -c "echo function >$card/card_reset"
check "SYS-29: and it works" works
card_unbind
check_all_freed
check "the module unloads" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
