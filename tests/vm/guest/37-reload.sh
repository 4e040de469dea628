#!/bin/sh
# SPDX-License-Identifier: MIT
# The driver is unbound and bound while clients work, then the module is unloaded and loaded (spec REL-06, SYS-29).
. /lib/vm.sh
echo "KTAP version 1"
if [ ! -e /lib/modules/tutti.ko ] || [ ! -x /programs/kripke ]; then
	echo "1..0 # SKIP no tutti.ko or no programs"
	exit 0
fi
export TUTTI_DEVICE=drm
rounds=$(($(vm_option rounds) / 20))
[ $rounds -gt 4 ] || rounds=5
quiet() { "$@" >/tmp/output 2>&1; }
client() { # NAME COMMAND...: again and again; what comes to no end by itself is noted
	local name=$1 good=0 bad=0
	shift
	while [ ! -e /tmp/enough ]; do
		timeout -s KILL 1000 "$@" >/tmp/client.$name 2>&1
		case $? in
		0) good=$((good + 1)) ;;
		137) echo "$name: $(tail -3 /tmp/client.$name | tr '\n' ' ')" >>/tmp/stuck ;;
		*) bad=$((bad + 1)) ;;
		esac
	done
	echo "$name: $good good, $bad cut off" >>/tmp/clients
}
cycle() { card_unbind && card_bind tutti; }
cycles() { # COUNT
	local i
	for i in $(seq "$1"); do
		sleep "0.$((i * 7 % 10))"
		cycle || return 1
		[ $((i % 3)) != 0 ] || sleep 3 # long enough for a client to come to its work
	done
}
unload() { rmmod tutti 2>/dev/null; }
reloads() { # COUNT: who is cut off needs a moment to let go of the module
	local i
	for i in $(seq "$1"); do
		sleep "1.$((i * 3 % 10))"
		card_unbind && soon 60 unload && insmod /lib/modules/tutti.ko && card_bind tutti || return 1
	done
}
free() { cat /sys/kernel/debug/*/*/tutti_free | grep -v "^task\|^SM"; }
memory() { # KiB; what caches hold is free as well, and so are the pages that each processor keeps for its next requests
	local kept=0 pages
	echo 3 >/proc/sys/vm/drop_caches
	for pages in $(sed -n 's/^ *count: *//p' /proc/zoneinfo); do
		kept=$((kept + pages))
	done
	echo $(($(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo) + 4 * kept))
}
enough_memory() { [ "$(memory)" -gt $((memory_before - 16384)) ]; }
all_free() { [ "$(free)" = "$free_before" ]; }

rm -f /tmp/enough /tmp/stuck /tmp/clients
insmod /lib/modules/tutti.ko heartbeat_timeout_ms=30000 request_timeout_ms=30000
check "the card is bound" card_bind tutti
check "it works" works
check "kripke, before" quiet kripke --small --check
free_before=$(free) memory_before=$(memory)
client kripke kripke --small --check &
first=$!
client vectors vector_add &
second=$!
client packets tutti-conformance --only "packets run" &
third=$!
sleep 2
exec 4<>"$(node)"
check "REL-06: no unloading while a node is open" fails rmmod tutti
exec 4>&-
check "REL-06: unbind and bind, $rounds times, under clients at work" cycles $rounds
check "REL-06: unload and load, $((rounds / 2)) times, under clients that come back" reloads $((rounds / 2))
sleep 10 # some whole rounds of work
touch /tmp/enough
wait $first $second $third
check "REL-06: no client was stuck" [ ! -e /tmp/stuck ]
[ ! -e /tmp/stuck ] || sed 's/^/# /' /tmp/stuck
sed 's/^/# /' /tmp/clients
check "REL-06: clients were cut off" grep -q "[1-9][0-9]* cut off" /tmp/clients
check "REL-06: kripke is exact, afterwards" quiet kripke --small --check
check "REL-06: packets run, afterwards" works
check "REL-06: nothing is lost on the card" soon 10 all_free
check "REL-06: nor 16 MiB of memory" soon 30 enough_memory
echo "# $memory_before KiB before, $(memory) KiB now"
card_unbind
check "REL-06: nothing keeps the module" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
