# SPDX-License-Identifier: MIT
# A clock for limits of time, which shell scripts source: it counts the time that a machine with nothing else to do would
# have given (REL-09). While more processes want to run than there are processors, it goes slower by that factor.

tap_processors=$(nproc)
tap_clock=0 # milliseconds

tap_clock_restart() {
	tap_clock=0
	tap_clock_seen=${EPOCHREALTIME/[.,]/}
}

tap_clock_advance() { # to be called every few seconds: what is measured is how many want to run at this moment
	local now=${EPOCHREALTIME/[.,]/} running
	read -r _ _ _ running _ </proc/loadavg
	running=${running%%/*} # this shell is one of them
	[ "$running" -gt "$tap_processors" ] || running=$tap_processors
	tap_clock=$((tap_clock + (now - tap_clock_seen) * tap_processors / running / 1000))
	tap_clock_seen=$now
}
