#!/bin/sh
# SPDX-License-Identifier: MIT
# Bus errors, injected into the port above the card (aer_inject): REL-06, SYS-28. On q35 only.
. /lib/vm.sh
echo "KTAP version 1"
insmod /lib/modules/aer_inject.ko 2>/dev/null # not if it is built in
if [ ! -e /lib/modules/tutti.ko ] || [ ! -e /dev/aer_inject ]; then
	echo "1..0 # SKIP no tutti.ko, or a kernel without aer_inject"
	exit 0
fi
port=$(basename "$(dirname "$(readlink -f "$(card_path)")")") # 0000:00:02.0
case $port in
*:*:*.*) ;;
*) echo "1..0 # SKIP the card is on the root bus"; exit 0 ;;
esac
inject_error() { bus_error "$port" "$@"; } # UNCORRECTABLE CORRECTABLE
resets() { sed -n 's/.*function \([0-9]*\);.*/\1/p' /sys/kernel/debug/*/*/tutti_status | head -1; }
more_resets() { [ "$(resets)" -gt "$before" ]; }
soon_works() { soon 30 works; }

check "the module loads" insmod /lib/modules/tutti.ko
check "it binds by driver_override" card_bind tutti
check "it works" works
before=$(resets)
if ! inject_error 0 1; then # correctable: receiver error
	skip "REL-06: a corrected error" "the port has no error reporting"
	card_unbind
	rmmod tutti
	rmmod aer_inject 2>/dev/null
	echo "1..$vm_number"
	exit $vm_failed
fi
sleep 1
check "REL-06: a corrected error of the link is no reason for anything" [ "$(resets)" = "$before" ]
inject_error 0x4000 0 # completion timeout: not fatal
sleep 1
check "REL-06: nor is one that is not fatal" [ "$(resets)" = "$before" ]
check "REL-06: and the card works" works
exec 4<>"$(node)"
inject_error 0x10 0 # data link protocol error: fatal
check "REL-06 SYS-28: a fatal error costs a reset of the function" soon 20 more_resets
exec 4>&-
check "REL-06 SYS-28: and the card works again" soon_works
before=$(resets)
inject_error 0x10 0
check "REL-06 SYS-28: a second one as well" soon 20 more_resets
check "REL-06 SYS-28: and it works again" soon_works
card_unbind
check_all_freed
check "the module unloads" rmmod tutti
rmmod aer_inject 2>/dev/null
echo "1..$vm_number"
exit $vm_failed
