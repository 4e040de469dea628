#!/bin/sh
# SPDX-License-Identifier: MIT
# Firmware images that are not what they should be (SYS-05, SYS-21): the driver says what is wrong, does not bind, and
# binds when the right one is there.
. /lib/vm.sh
echo "KTAP version 1"
image=/lib/firmware/tutti/tutti-fw.bin
if [ ! -e /lib/modules/tutti.ko ] || [ ! -e $image ]; then
	echo "1..0 # SKIP no tutti.ko or no firmware"
	exit 0
fi
cp $image /tmp/image
bytes=$(wc -c </tmp/image)
patch() { # OFFSET BYTES-IN-OCTAL: the right image but for these
	cp /tmp/image $image
	printf "$2" | dd of=$image bs=1 seek="$1" conv=notrunc 2>/dev/null
}
refused() { # WHY: it does not bind, and says so
	dmesg -c >/dev/null
	! card_bind tutti && said "$1"
}
wedges() { # WHY: the card, which runs, is to be started with it
	dmesg -c >/dev/null
	! echo firmware >"$(card_path)/card_reset" && said "$1" && [ "$(cat "$(card_path)/card_state")" = wedged ]
}

check "the module loads" insmod /lib/modules/tutti.ko
rm $image
check "SYS-05: no image" refused "not found"
head -c 100 /tmp/image >$image
check "SYS-05: less than a header" refused "wrong size"
head -c $((bytes - 1)) /tmp/image >$image
check "SYS-05: an image without its last byte" refused "wrong size"
(cat /tmp/image && printf x) >$image
check "SYS-05: an image with a byte too many" refused "wrong size"
patch 0 '\0'
check "SYS-05: another kind of file" refused "not a Tutti firmware image"
patch 4 '\0\0\0\0'
check "SYS-05: another checksum" refused "wrong checksum"
patch $((bytes - 1)) '\252'
check "SYS-05: another last byte" refused "wrong checksum"
patch 50 '\252\252\252'
check "SYS-05: another header" refused "wrong checksum"

cp /tmp/image $image
check "SYS-05: the right image" card_bind tutti
check "SYS-05: runs" works
rm $image
check "SYS-05: a reload without an image on the disk takes the one of before" sh -c "echo firmware >$(card_path)/card_reset"
check "SYS-05: which runs" works
patch 0 '\0'
check "SYS-28: a reload of a bad image wedges the card" wedges "not a Tutti firmware image"
cp /tmp/image $image
check "SYS-28: until there is a good one" sh -c "echo firmware >$(card_path)/card_reset"
check "SYS-28: which runs" works
card_unbind
check_all_freed
check "the module unloads" rmmod tutti
echo "1..$vm_number"
exit $vm_failed
