# SPDX-License-Identifier: MIT
# For tests in the guest: results, the card's PCI device, the card's control socket.
vm_option() { # NAME: what `run` has put on the kernel's command line
	sed -n "s/.*tutti\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}
vm_number=0
vm_failed=0

plan() { # TESTS
	echo "KTAP version 1"
	echo "1..$1"
}
# Each result is on the console, too, which shows how far the run is and to which subtest a report of the kernel belongs.
result() { # ok|"not ok" NAME
	vm_number=$((vm_number + 1))
	echo "$1 $vm_number - $2"
	echo "progress: $1 $vm_number - $2" >/dev/kmsg
}
ok() { # NAME
	result ok "$*"
}
not_ok() { # NAME
	vm_failed=1
	result "not ok" "$*"
}
skip() { # NAME REASON
	result ok "$1 # SKIP $2"
}
check() { # NAME COMMAND...
	local name=$1
	shift
	if "$@"; then ok "$name"; else not_ok "$name"; fi
}
# Results of a program that prints KTAP itself are taken over as they are, with new numbers.
take() { # lines on stdin
	local line
	while read -r line; do
		case $line in
		"ok "*) ok "${line#* - }" ;;
		"not ok "*) not_ok "${line#* - }" ;;
		*) echo "# $line" ;;
		esac
	done
}
take_from() { # PROGRAM ARGUMENT...: while it runs; its exit status
	local program
	rm -f /tmp/lines
	mkfifo /tmp/lines
	"$@" >/tmp/lines &
	program=$!
	take </tmp/lines
	wait $program
}

soon() { # SECONDS COMMAND...: true within so long, which is five times as long because the host may be busy
	local left=$(($1 * 5 * 5))
	shift
	while [ $left -gt 0 ]; do
		"$@" && return 0
		sleep 0.2
		left=$((left - 1))
	done
	return 1
}
fails() { ! "$@" >/dev/null 2>&1; }
said() { dmesg | grep -q "$1"; }

# What the driver has allocated and not freed, as the kernel's allocator has noted it (slub_debug=U).
allocator_notes() { [ -e /sys/kernel/debug/slab/kmalloc-64/alloc_traces ] && grep -q slub_debug= /proc/cmdline; }
allocations() { cat /sys/kernel/debug/slab/*/alloc_traces | grep '^ *[0-9][0-9]* tutti_.*\[tutti\]'; }
all_freed() { ! allocations >/tmp/allocations; }
check_all_freed() { # when the driver has let go of the card, and is still loaded
	if ! allocator_notes; then
		skip "REL-05: all that the driver has allocated is freed" "the kernel does not note who allocates"
		return
	fi
	check "REL-05: all that the driver has allocated is freed" soon 10 all_freed
	sed 's/^/# /' /tmp/allocations
}

ivshmem_devices() {
	local device
	for device in /sys/bus/pci/devices/*; do
		if [ "$(cat "$device/vendor")" = 0x1af4 ] && [ "$(cat "$device/device")" = 0x1110 ]; then
			basename "$device"
		fi
	done
}
# The first device; the one after it is not a card (see `run`).
card_address() { ivshmem_devices | head -1 | grep .; }
# The nodes are accel nodes if the kernel has them, otherwise render nodes.
node() { ls /dev/accel/accel* /dev/dri/renderD* 2>/dev/null | head -1; }
# Tests of the driver's calls, a queue and packets.
works() { /programs/tutti-conformance --only "packets run" 2>/dev/null | grep -q "^ok"; }
card_path() { echo "/sys/bus/pci/devices/$(card_address)"; }
card_bound() { [ "$(basename "$(readlink "$(card_path)/driver" 2>/dev/null)")" = "$1" ]; }
card_bind() { # DRIVER
	echo "$1" >"$(card_path)/driver_override"
	card_address >/sys/bus/pci/drivers_probe
	card_bound "$1"
}
# Its node is the first one if nobody holds any device of before.
card_bind_first() {
	card_bind tutti || return 1
	case $(node) in */accel0 | */renderD128) return 0 ;; *) return 1 ;; esac
}
card_unbind() {
	card_address >"$(card_path)/driver/unbind"
	echo >"$(card_path)/driver_override"
}

# control COMMAND...: prints the answer; status 0 if it ended with "ok". /dev/ttyS1 is raw since /init. Putting in a
# new card takes seconds on a busy host, so the answer has minutes.
control() {
	local line
	exec 8<>/dev/ttyS1
	echo "$*" >&8
	while read -r -t 300 line <&8; do
		case $line in
		ok) exec 8>&-; return 0 ;;
		error*) exec 8>&-; echo "$line"; return 1 ;;
		*) echo "$line" ;;
		esac
	done
	exec 8>&-
	echo "error no answer"
	return 2
}
state() { [ "$(control_value state)" = "$1" ]; }
control_value() { # NAME: one value of status
	control status | sed -n "s/^$1 //p"
}

# QEMU's monitor (QMP) is behind the serial line of the PCI bus.
monitor_line() { # its name
	local line
	for line in /sys/class/tty/ttyS*; do
		case $(readlink -f "$line/device") in
		*/pci*) echo "/dev/${line##*/}"; return 0 ;;
		esac
	done
	return 1
}
# Answers are known by their id: QEMU also sends events, and errors if a line has echoed its greeting before init had it.
monitor() { # COMMAND [ARGUMENTS]: prints the answer; status 0 if it is not an error
	local line id
	id=$(cat /proc/sys/kernel/random/uuid)
	exec 7<>"$(monitor_line)"
	echo "{\"execute\":\"$1\",\"id\":\"$id\"${2:+,\"arguments\":$2}}" >&7
	while read -r -t 300 line <&7; do
		case $line in
		*"$id"*'"error"'* | *'"error"'*"$id"*) exec 7>&-; echo "$line"; return 1 ;;
		*"$id"*) exec 7>&-; echo "$line"; return 0 ;;
		esac
	done
	exec 7>&-
	echo "no answer"
	return 2
}

# Errors of the PCIe bus, by the kernel's aer_inject, whose struct aer_error_inj this writes.
vm_byte() { printf "\\\\%03o" "$1"; }
vm_word() { echo "$(vm_byte $(($1 & 255)))$(vm_byte $(($1 >> 8 & 255)))$(vm_byte $(($1 >> 16 & 255)))$(vm_byte $(($1 >> 24 & 255)))"; }
bus_error() { # PORT'S-ADDRESS UNCORRECTABLE CORRECTABLE: bits of the status registers
	local where=${1#*:}
	printf "$(vm_byte 0x${where%%:*})$(vm_byte $((0x$(echo "${where#*:}" | cut -d. -f1))))$(vm_byte ${1##*.})$(vm_byte 0)$(vm_word $2)$(vm_word $3)$(vm_word 0)$(vm_word 0)$(vm_word 0)$(vm_word 0)$(vm_word 0)" >/dev/aer_inject
}

# The card's slot, for which the kernel's pciehp is responsible. While its thread has something to do there, a second of
# waiting included, it does not sleep interruptibly (S).
slot_of() { # CARD'S-ADDRESS
	local address
	for address in /sys/bus/pci/slots/*/address; do
		[ "$(cat "$address")" != "${1%.*}" ] || dirname "$address"
	done
}
pciehp_waits() {
	[ -z "$(sed -n 's/^[0-9]* (irq\/[0-9]*-pciehp) \([^S]\).*/\1/p' /proc/[0-9]*/stat 2>/dev/null)" ]
}
slot_says() { # SLOT POWER ADAPTER
	[ "$(cat "$1/power")" = "$2" ] && [ "$(cat "$1/adapter")" = "$3" ] && pciehp_waits
}
slot_empty() { [ ! -e "/sys/bus/pci/devices/$2" ] && slot_says "$1" 0 0; }     # SLOT ADDRESS
slot_full() { [ -e "/sys/bus/pci/devices/$2" ] && slot_says "$1" 1 1; }        # SLOT ADDRESS
slot_off() { [ ! -e "/sys/bus/pci/devices/$2" ] && slot_says "$1" 0 1; }       # SLOT ADDRESS: full, and without power
# Every processor has taken the interrupts that came before it did something for us.
processors_listen() {
	local cpu
	for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
		taskset -c "${cpu##*/cpu}" true || true
	done
}
stays() { # COMMAND...: true, and still so when all that has happened until now has been noticed
	local look
	for look in 1 2 3; do
		"$@" || return 1
		processors_listen
		sleep 0.1
	done
	"$@"
}
slot_settles() { # SLOT ADDRESS: prints what it has become: empty, full or off
	local look=0 what
	while [ $look -lt 2000 ]; do
		for what in empty full off; do
			! stays "slot_$what" "$@" || { echo $what; return 0; }
		done
		sleep 0.1
		look=$((look + 1))
	done
	return 1
}

# QEMU lets go of the old card in its own time; a try that failed may have removed what is behind it.
card_end_gone() {
	case $(monitor chardev-remove '{"id":"card"}') in
	*'"return"'* | *"not found"*) return 0 ;;
	esac
	return 1
}
# A card for the empty slot: a new one in the card's process, and a new connection to it.
card_insert() {
	local address="{\"type\":\"unix\",\"data\":{\"path\":\"$(vm_option socket)\"}}" backend
	backend="{\"type\":\"socket\",\"data\":{\"addr\":$address,\"server\":false}}"
	soon 200 card_end_gone && control replug >/dev/null &&
		monitor chardev-add "{\"id\":\"card\",\"backend\":$backend}" &&
		monitor device_add '{"driver":"ivshmem-doorbell","id":"card","chardev":"card","vectors":32,"bus":"bridge"}'
}
# QEMU presses the attention button, too, when it plugs a card in. To pciehp that is one event with the card's presence,
# upon which it switches the slot on at once; but if it is still busy with the removal, it takes the new card for the
# old one, whose power it switches off, which makes QEMU unplug it. Hence only a slot that has come to rest is plugged
# into, and one that comes to rest without a card gets another.
card_plug() { # ADDRESS
	local slot try=0
	slot=$(slot_of "$1")
	[ -n "$slot" ] || return 1
	while [ $try -lt 10 ]; do
		case $(slot_settles "$slot" "$1") in
		full) return 0 ;;
		off) echo 1 >"$slot/power" ;;
		empty) card_insert >/dev/null ;;
		*) break ;;
		esac
		try=$((try + 1))
	done
	echo "$slot does not settle: power $(cat "$slot/power"), adapter $(cat "$slot/adapter")" >&2
	return 1
}
