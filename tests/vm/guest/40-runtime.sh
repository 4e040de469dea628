#!/bin/sh
# SPDX-License-Identifier: MIT
# The runtime's programs run through the module, as they do on the embedded card, and several at once.
. /lib/vm.sh
export TUTTI_DEVICE=drm
echo "KTAP version 1"
leave() { # REASON
	echo "1..0 # SKIP $1"
	exit 0
}
[ -e /lib/modules/tutti.ko ] || leave "no tutti.ko"
[ -x /programs/tutti ] || leave "the runtime's programs are not built (make)"
if tutti info 2>&1 | grep -q 'built without'; then
	leave "this library has no drm transport"
fi
run() { # COMMAND...: its output is shown when it fails
	"$@" >/tmp/output 2>&1 && return 0
	sed 's/^/# /' /tmp/output | tail -20
	return 1
}
two() { # COMMAND...: two processes at once
	"$@" >/tmp/one 2>&1 &
	local first=$! bad=0
	"$@" >/tmp/two 2>&1 || bad=1
	wait $first || bad=1
	[ $bad = 0 ] || sed 's/^/# /' /tmp/one /tmp/two | tail -20
	return $bad
}

# On a busy host the card may be silent for long, and recovery is not tested here.
insmod /lib/modules/tutti.ko heartbeat_timeout_ms=30000 request_timeout_ms=30000
check "the card is bound" card_bind tutti
check "tutti info" run tutti info
check "tutti validate" run tutti validate
for name in hello vector_add matmul; do
	check "$name" run "/programs/$name"
done
check "kripke, three launch modes" run kripke --small --check
check "two processes at once" two vector_add
check "SYS-46: tutti trace run" run tutti trace run -o /tmp/trace -- vector_add
check "SYS-46: there are records of workgroups" sh -c 'tutti trace json /tmp/trace | grep -q "cta"'
card_unbind
check "nothing keeps the module" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
