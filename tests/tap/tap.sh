# SPDX-License-Identifier: MIT
# TAP output for shell scripts, which source this file: one call of check, report or skip for each test, and plan at the
# end.
tap_number=0
tap_failed=0

tap_result() { # STATUS NAME: one line of TAP; what follows on stdin becomes its comment if the test has failed
	tap_number=$((tap_number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_number - $2"
	else
		tap_failed=1
		echo "not ok $tap_number - $2"
		head -60 | sed 's/^/# /'
	fi
}

check() { # NAME COMMAND...: the command must succeed; its output is the comment
	local name=$1 text status=0
	shift
	text=$("$@" 2>&1) || status=$?
	tap_result $status "$name" <<<"$text"
}

report() { # NAME FILE: the file must be empty; its lines are the comment
	local status=0
	[ ! -s "$2" ] || status=1
	tap_result $status "$1" <"$2"
}

skip() { # NAME REASON
	tap_result 0 "$1 # SKIP $2" </dev/null
}

plan() { # after the last test; fails if one has failed, for those who look at nothing else
	echo "1..$tap_number"
	return $tap_failed
}
