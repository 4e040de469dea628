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

soon() { # SECONDS COMMAND...: true within so long
	local left=$(($1 * 5))
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
card_unbind() {
	card_address >"$(card_path)/driver/unbind"
	echo >"$(card_path)/driver_override"
}

# control COMMAND...: prints the answer; status 0 if it ended with "ok". /dev/ttyS1 is raw since /init.
control() {
	local line
	exec 8<>/dev/ttyS1
	echo "$*" >&8
	while read -r -t 10 line <&8; do
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
monitor() { # COMMAND [ARGUMENTS]: prints the answer; status 0 if it is not an error
	local line
	exec 7<>"$(monitor_line)"
	echo "{\"execute\":\"$1\"${2:+,\"arguments\":$2}}" >&7
	while read -r -t 10 line <&7; do
		case $line in # there are events, too, which nobody waits for
		*'"return"'*) exec 7>&-; echo "$line"; return 0 ;;
		*'"error"'*) exec 7>&-; echo "$line"; return 1 ;;
		esac
	done
	exec 7>&-
	echo "no answer"
	return 2
}

# A card for the empty slot: a new connection to the card's process, which forgets what it knew of the last one.
card_plug() {
	local address="{\"type\":\"unix\",\"data\":{\"path\":\"$(vm_option socket)\"}}" backend
	backend="{\"type\":\"socket\",\"data\":{\"addr\":$address,\"server\":false}}"
	soon 20 monitor chardev-remove '{"id":"card"}' || return 1 # QEMU lets go of the old card in its own time
	monitor chardev-add "{\"id\":\"card\",\"backend\":$backend}" &&
		monitor device_add '{"driver":"ivshmem-doorbell","id":"card","chardev":"card","vectors":32,"bus":"bridge"}'
}
