#!/bin/sh
# SPDX-License-Identifier: MIT
# After all tests, no memory that the kernel allocated is lost. This runs on debug kernels only.
. /lib/vm.sh
leaks=/sys/kernel/debug/kmemleak
echo "KTAP version 1"
if [ ! -e $leaks ] || ! echo scan >$leaks 2>/dev/null; then
	echo "1..0 # SKIP this kernel has no kmemleak"
	exit 0
fi
sleep 6 # younger than five seconds: not counted
echo scan >$leaks
head -c 20000 $leaks >/tmp/leaks
sed 's/^/# /' /tmp/leaks | head -60
check "REL-03: kmemleak finds nothing" test ! -s /tmp/leaks
echo "1..$vm_number"
exit $vm_failed
