#!/bin/sh
# SPDX-License-Identifier: MIT
# The runtime's integration tests, which know nothing of drivers, run through the module (spec SYS-42).
. /lib/vm.sh
echo "KTAP version 1"
export TUTTI_DEVICE=drm TUTTI_OUT=/tmp/out CMOCKA_MESSAGE_OUTPUT=TAP
if [ ! -e /lib/modules/tutti.ko ] || [ ! -x /programs/test_wave ]; then
	echo "1..0 # SKIP no tutti.ko, or the integration tests are not built"
	exit 0
fi
mkdir -p $TUTTI_OUT/tests/integration/kernels $TUTTI_OUT/examples
ln -s /programs/test.tco /programs/task.tco /programs/cga.tco /programs/external.tco $TUTTI_OUT/tests/integration/kernels/
for code in /programs/*.tco; do ln -s "$code" $TUTTI_OUT/examples/; done
# On a busy host the card may be silent for long, and recovery is not tested here.
insmod /lib/modules/tutti.ko heartbeat_timeout_ms=30000 request_timeout_ms=30000
check "the card is bound" card_bind tutti
export TUTTI_MIXTURE_COUNT=10 # a sample (REL-10)
for name in test_signal test_record test_wave test_place test_loader test_device test_mixture; do
	[ -x "/programs/$name" ] || continue
	timeout 750 "$name" >/tmp/results 2>&1
	status=$?
	# cmocka marks skipped tests in a way of its own
	sed -e "s/^not ok \([0-9]*\) # SKIP \(.*\)/ok \1 - \2 # SKIP a card is as it is/" \
		-e "s/^\(ok\|not ok\) \([0-9]*\) - /\1 \2 - $name: /" /tmp/results >/tmp/named
	take </tmp/named
	check "$name ends" test $status -lt 120
done
card_unbind
check "nothing keeps the module" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
