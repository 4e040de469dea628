#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs for HSA, which know nothing of Tutti, run through the module (spec SYS-43).
. /lib/vm.sh
echo "KTAP version 1"
export TUTTI_DEVICE=drm TUTTI_OUT=/tmp/out CMOCKA_MESSAGE_OUTPUT=TAP LD_LIBRARY_PATH=/programs
if [ ! -e /lib/modules/tutti.ko ] || [ ! -e /programs/libhsa-runtime64.so.1 ]; then
	echo "1..0 # SKIP no tutti.ko, or no HSA runtime is built"
	exit 0
fi
mkdir -p $TUTTI_OUT/tests/integration/kernels
for code in test external cga tensor; do ln -s /programs/$code.tco $TUTTI_OUT/tests/integration/kernels/; done
# On a busy host the card may be silent for long, and recovery is not tested here.
insmod /lib/modules/tutti.ko heartbeat_timeout_ms=30000 request_timeout_ms=30000
check "the card is bound" card_bind tutti
for name in info init queues signals errors images amd finalizer extended; do
	timeout 750 "/programs/$name" >/tmp/results 2>&1
	status=$?
	sed -e "s/^\(ok\|not ok\) \([0-9]*\) - /\1 \2 - hsa $name: /" /tmp/results >/tmp/named
	take </tmp/named
	check "hsa $name ends" test $status -lt 120
done
check "hsa: loaded by name" timeout 300 /programs/load
for example in vector_copy barrier_graph async_copy callbacks; do
	check "hsa example $example" timeout 300 "/programs/$example"
done
card_unbind
check "nothing keeps the module" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
