#!/bin/bash
# SPDX-License-Identifier: MIT
# The commands and examples people use: SYS-07, SYS-40, SYS-42, SYS-48, SYS-50, PKT-23.
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap/tap.sh
out=${TUTTI_OUT:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUTTI_DEVICE=emulator

fails() { # STATUS COMMAND...
	local want=$1
	shift
	"$@"
	[ $? -eq "$want" ]
}

says() { # PATTERN COMMAND...
	local pattern=$1
	shift
	"$@" | tee "$work/said" | grep -qE "$pattern" || { cat "$work/said"; return 1; }
}

kernel_of_ones_own() {
	cat >"$work/twice.c" <<-'C'
	#include "tutti/device.h"
	struct args { int *x; };
	TUTTI_KERNEL(twice, struct args)
	{
		tutti_for_each_item(item)
			args->x[tutti_global_id(item, 0)] *= 2;
	}
	C
	"$out/tuttic" "$work/twice.c" -o "$work/twice.tco" && [ -s "$work/twice.tco" ]
}

bad_kernel_source() {
	echo 'this is not C' >"$work/bad.c"
	! "$out/tuttic" "$work/bad.c" -o "$work/bad.tco" && [ ! -e "$work/bad.tco" ]
}

versioned() {
	nm -D --defined-only "$out/libtutti.so.0" | grep -q 'tutti_device_open@@TUTTI_0' &&
		readelf -d "$out/libtutti.so.0" | grep -q 'SONAME.*libtutti.so.0'
}

links_from_c_and_cxx() {
	printf '#include "tutti.h"\nint main(void) { return tutti_version() == 0; }\n' >"$work/a.c"
	gcc -std=c11 -Wall -Wextra -Werror -Wno-unused-parameter -Iinclude "$work/a.c" -o "$work/a" -L"$out" -l:libtutti.so.0 -Wl,-rpath,"$PWD/$out" &&
		"$work/a"
}

# The README's kernel, its program and its commands, as they stand there, next to a build tree.
readme_works() {
	local dir=$work/readme
	mkdir -p "$dir"
	ln -sf "$PWD/include" "$PWD/$out" "$dir/"
	[ "$out" = build ] || ln -sfn "$PWD/$out" "$dir/build"
	awk -v dir="$dir" '/^```c$/ { n++; file = dir "/" (n == 1 ? "scale.c" : "main.c"); next }
		/^```/ { file = "" } file { print > file }' README.md
	grep -A2 '^    build/tuttic' README.md >"$dir/commands"
	[ "$(wc -l <"$dir/commands")" -eq 3 ] || { cat "$dir/commands"; return 1; }
	(cd "$dir" && TUTTI_FIRMWARE=build/firmware/tutti-fw.bin sh -e ./commands) | tee "$work/said" | grep -qx '499.5' ||
		{ cat "$work/said"; return 1; }
}

# In a tree where nothing has been built, the demonstration builds the card that its programs open.
demo_is_whole() {
	make -n APT=no "OUT=$work/fresh" demo 2>/dev/null | grep -q -- '-o [^ ]*libtutti-card.so.0'
}

traces() {
	"$out/tutti" trace run -o "$work/t" --deterministic -- vector_add && "$out/tutti" trace list "$work/t" >"$work/t.list" &&
		"$out/tutti" trace json "$work/t" >"$work/t.json" || return 1
	! grep -qE '^ *-' "$work/t.list" && grep -q ' entry .* kernel vector_add at 0x' "$work/t.list" || return 1
	local kind
	for kind in doorbell fetch state entry place cta run cta_done complete; do
		grep -q " $kind " "$work/t.list" || { echo "no record of kind $kind"; return 1; }
	done
	perl -MJSON::PP -0777 -ne '
		my $e = decode_json($_)->{traceEvents}; my %n; $n{$_->{ph}}++ for @$e; my %k; $k{$_->{name}}++ for @$e;
		my %named = map { ("$_->{pid} $_->{tid}" => 1) } grep { $_->{name} eq "thread_name" } @$e;
		$_->{ph} eq "M" or $_->{ts} >= 0 && $named{"$_->{pid} $_->{tid}"} or die "time $_->{ts}, $_->{pid} $_->{tid}" for @$e;
		exit !($n{X} && $n{i} && $k{doorbell} && $k{fetch} && $k{place} && $k{complete} && $k{vector_add})' "$work/t.json"
}

# A program that a signal ends leaves a whole trace. It runs in the background, where shells ignore SIGINT.
interrupted_traces() {
	local signal program head=$(($(stat -c %s "$work/t") % 32)) # of the file, before its records
	for signal in INT TERM SEGV ABRT; do
		rm -f "$work/i"
		perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$out/tutti" trace run -o "$work/i" -- "$PWD/$out/tutti" run "$work/twice.tco" \
			twice --arg 'i32[64]' --repeat 1000000000 &
		program=$!
		until [ "$(stat -c %s "$work/i" 2>/dev/null || echo 0)" -gt 100000 ]; do
			kill -0 $program || return 1
			sleep 0.1
		done
		kill -s "$signal" $program
		wait $program
		[ $? -eq $((128 + $(kill -l "$signal"))) ] && [ $(($(stat -c %s "$work/i") % 32)) -eq $head ] &&
			"$out/tutti" trace list "$work/i" >"$work/i.list" && grep -q ' entry .* kernel twice at ' "$work/i.list" &&
			grep -q ' cta_done ' "$work/i.list" || { echo "$signal"; return 1; }
	done
}

# A program that ends when its kernel has printed, before the library has read the trace ring: by exit(), or by a signal.
# One that handles the signal itself, and a child of fork(), are left alone.
sudden_ends() {
	cat >"$work/ends.c" <<-'C'
	#include <signal.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	#include "tutti.h"
	static const char *how;
	static void own(int signal) { _exit(42); }
	static void printed(void *context, const char *text, size_t bytes)
	{
		if (!strcmp(how, "child") && fork())
			wait(NULL), _exit(0);
		if (!strcmp(how, "exit") || !strcmp(how, "child"))
			exit(0);
		raise(SIGTERM);
	}
	int main(int argc, char **argv)
	{
		struct tutti_device *device;
		struct tutti_executable *code;
		struct tutti_kernel kernel;
		struct tutti_queue *queue;
		tutti_signal_t done;
		void *args;
		how = argv[1];
		if (!strcmp(how, "handler"))
			signal(SIGTERM, own);
		if (tutti_device_open(NULL, &device) || tutti_executable_load_file(device, argv[2], &code, NULL) ||
		    tutti_executable_kernel(code, "hello", &kernel) || tutti_queue_create(device, NULL, &queue) ||
		    tutti_signal_create(device, 1, &done) || tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 64, &args) ||
		    tutti_device_print_handler(device, printed, NULL))
			return 1;
		strcpy(args, "hello");
		struct tutti_launch launch = { .kernel = &kernel, .grid = { 32 }, .workgroup = { 32 }, .kernarg = args, .signal = done };
		return tutti_dispatch(queue, &launch) || tutti_signal_wait(device, done, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL);
	}
	C
	gcc -Werror -Iinclude "$work/ends.c" -o "$work/ends" -L"$out" -l:libtutti.so.0 -Wl,-rpath,"$PWD/$out" || return 1
	local how
	for how in exit:0 killed:143 handler:42 child:0; do
		TUTTI_DETERMINISTIC=1 TUTTI_TRACE=$work/e.${how%:*} fails "${how#*:}" "$work/ends" "${how%:*}" "$out/examples/hello.tco" &&
			"$out/tutti" trace list "$work/e.${how%:*}" >"$work/e.${how%:*}.list" || { echo "$how"; return 1; }
	done
	grep -q ' run ' "$work/e.exit.list" && grep -q ' run ' "$work/e.killed.list" && ! grep -q ' run ' "$work/e.child.list"
}

# So late that two lines of the axis lie closer together than numbers can.
late_pictures() {
	(ulimit -f 65536 && "$out/tutti" trace svg "$work/t" -o "$work/late" --from 999999999999999 --to 999999999999999.5)
}

damaged_traces_say() {
	: >"$work/empty" && head -c 100 "$work/t" >"$work/cut" &&
		says 'cut short' sh -c "$out/tutti trace list $work/empty 2>&1" &&
		says 'cut short' sh -c "$out/tutti trace json $work/cut 2>&1" &&
		says 'not a trace' sh -c "$out/tutti trace list LICENSE 2>&1" && fails 1 "$out/tutti" trace list "$work/empty"
}

# The table of GPCs: 320 bytes into the discovery data, which follow a head of 32 bytes; four numbers of 16 bits each.
foreign_gpcs_say() {
	local entry command
	for entry in 0:65535,1 0:0,65535 0:0,0 1:65535,65535; do
		perl -0777 -pe 'BEGIN { ($g, $first, $sms) = split /[:,]/, shift }
			substr($_, 32 + 248, 4) = pack "L", $g + 1; substr($_, 32 + 320 + 8 * $g, 4) = pack "S2", $first, $sms' \
			"$entry" "$work/t" >"$work/foreign.trace" || return 1
		for command in list json 'svg -o x' html; do
			fails 1 sh -c "cd $work && $PWD/$out/tutti trace $command foreign.trace >/dev/null 2>said" &&
				grep -q "foreign.trace: damaged: GPC ${entry%%:*} " "$work/said" || { cat "$work/said"; return 1; }
		done
	done
}

helps() { # every command and example; an argument that an example does not know is refused
	local command example
	for command in $("$out/tutti" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p') 'trace run' 'trace list' 'trace json' 'trace html' 'trace svg'; do
		"$out/tutti" $command --help | grep -qi '^usage: tutti ' || { echo "$command"; return 1; }
	done
	for example in "$out"/examples/*.tco; do
		example=${example##*/}
		"$out/tutti" run --help | grep -qw "${example%.tco}" && fails 2 "$out/examples/${example%.tco}" --nonsense ||
			{ echo "$example"; return 1; }
	done
}

kripke_modes() { # the three modes print the same particle counts
	local mode
	for mode in plain reference condensed; do
		"$out/examples/kripke" --zones 4,4,4 --groups 4 --quad 8 --niter 3 "--launch=$mode" >"$work/$mode" 2>&1 ||
			{ cat "$work/$mode"; return 1; }
		grep -iE 'particle' "$work/$mode" >"$work/$mode.count"
		[ -s "$work/$mode.count" ] || { cat "$work/$mode"; return 1; }
	done
	cmp "$work/plain.count" "$work/reference.count" && cmp "$work/plain.count" "$work/condensed.count"
}

refuses() { # OPTION VALUE COMMAND...: exit status 2 of the command with the option, within a few seconds
	local option=$1 value=$2
	shift 2
	tests/tap/limit 20 "$@" "$option" "$value"
	[ $? -eq 2 ] || { echo "$* $option $value is taken"; return 1; }
}

bad_numbers() {
	local run=("$out/tutti" run "$work/twice.tco" twice)
	refuses --repeat -3 "${run[@]}" && refuses --repeat 4294967297 "${run[@]}" && refuses --repeat 1x "${run[@]}" &&
		refuses --grid -18446744073709551615 "${run[@]}" && refuses --grid 1,,1 "${run[@]}" && refuses --grid 1,2,3,4 "${run[@]}" &&
		refuses --arg 'u8[ 4]' "${run[@]}" && refuses --arg 'u8[-1]' "${run[@]}" && refuses --timeout inf "${run[@]}" &&
		refuses --interval nan "$out/tutti" top --once && refuses --interval 0 "$out/tutti" top --once &&
		refuses --shared -1 "${run[@]}" && refuses --print x "${run[@]}" && refuses --timeout nan "${run[@]}" &&
		refuses --arg u8=300 "${run[@]}" && refuses --arg 'u8= 3' "${run[@]}" && refuses --arg i64=9223372036854775808 "${run[@]}" &&
		refuses --arg i8=--3 "${run[@]}" && refuses --arg u32=0x "${run[@]}" && refuses --arg u32=-1 "${run[@]}" && refuses --arg i16=40000 "${run[@]}" &&
		refuses --jobs -1 "$out/tutti" calibrate &&
		refuses --zones 4294967297,1,1 "$out/examples/kripke" && refuses --zones 1,-1,1 "$out/examples/kripke" &&
		refuses --sigt nan,1,1 "$out/examples/kripke" && refuses --to 50 "$out/tutti" trace svg x.trace --from 100
}

# What is wrong in the environment is said, with the value; in a file, with its line, too.
bad_environment() {
	local bad
	for bad in TUTTI_WORKERS=abc TUTTI_WORKERS=-1 TUTTI_WORKERS=99999999999 TUTTI_SEED=18446744073709551616 TUTTI_SEED=1x \
		TUTTI_SEED=' 1' TUTTI_DETERMINISTIC=yes TUTTI_COUNT=2; do
		fails 1 env "$bad" "$out/tutti" info 2>"$work/said" && grep -qF "tutti: $bad is not a number from 0 to " "$work/said" ||
			{ echo "$bad"; cat "$work/said"; return 1; }
	done
	printf 'gpc 4*2\n# comment\n\ncta_slots many\nmemory 1G\n' >"$work/bad.conf"
	says "topology .*bad.conf, line 4: \"cta_slots many\" is not understood" sh -c "TUTTI_TOPOLOGY=$work/bad.conf $out/tutti info 2>&1" &&
		says 'topology .*/none: No such file' sh -c "TUTTI_TOPOLOGY=$work/none $out/tutti info 2>&1" &&
		TUTTI_SEED=0x12 TUTTI_WORKERS='' TUTTI_COUNT=0 TUTTI_DETERMINISTIC=1 "$out/tutti" info
}

# What the flags ask for is there in both forms.
info_without_link() {
	! TUTTI_INJECT=link-down "$out/tutti" info >"$work/info" 2>"$work/error" && grep -q 'does not answer' "$work/error"
}

info_flags() {
	says '^144 of 144 SMs have run nothing' "$out/tutti" info --sms && says 'tutti firmware' "$out/tutti" info --log &&
		"$out/tutti" info --json --sms --log --counters >"$work/info.json" &&
		perl -MJSON::PP -0777 -ne 'my $i = decode_json($_); exit !(@{$i->{sm}} == 144 && $i->{sm}[143]{free_ctas} &&
			$i->{log} =~ /^tutti firmware/ && keys %{$i->{counters}} > 20 && $i->{sms} == 144 && $i->{contract}[1] =~ /^\d+\.\d+$/)' "$work/info.json"
}

# A sample of the emulated card as text and as JSON that another program reads.
top() {
	local json
	"$out/tutti" top --once --interval 0.05 | grep -q 'kernels a second' && json=$("$out/tutti" top --once --json --interval 0.05) &&
		perl -MJSON::PP -e 'my $t = decode_json($ARGV[0]); exit !(@{$t->{busy_slots}} == 144 && $t->{seconds} >= 0.05 &&
			exists $t->{per_second}{kernels} && $t->{transport} eq "emulator")' "$json"
}

# A card's folder in sysfs, played by files: mounted for this command alone.
with_cards() { # ADDRESS,... COMMAND...
	local cards=$1
	shift
	unshare -m bash -c 'mount -t tmpfs cards /sys/bus/pci/drivers && mkdir -p /sys/bus/pci/drivers/tutti &&
		for card in ${0//,/ }; do
			mkdir "/sys/bus/pci/drivers/tutti/$card" && : >"/sys/bus/pci/drivers/tutti/$card/card_reset"
		done
		"$@"; status=$?
		grep -H "" /sys/bus/pci/drivers/tutti/*/card_reset
		exit $status' "$cards" "$@"
}

resets() {
	local at=/sys/bus/pci/drivers/tutti
	[ "$(with_cards 0000:03:00.0 "$out/tutti" reset)" = "$at/0000:03:00.0/card_reset:firmware" ] &&
		[ "$(with_cards 0000:03:00.0,0000:04:00.0 "$out/tutti" reset -d 0000:04:00.0 --function)" = \
			"$at/0000:04:00.0/card_reset:function" ] &&
		fails 2 with_cards 0000:03:00.0,0000:04:00.0 "$out/tutti" reset &&
		fails 1 with_cards 0000:03:00.0 "$out/tutti" reset -d 0000:05:00.0 && fails 1 "$out/tutti" reset
}

chooses_device() { # -d beats the environment, in both places, and is not taken from an example
	TUTTI_DEVICE=teapot "$out/tutti" -d emulator info && TUTTI_DEVICE=teapot "$out/tutti" info -d emulator --json &&
		says "unknown device 'kettle'" sh -c "$out/tutti info --device=kettle 2>&1 || :" &&
		says 'no card that the driver tutti serves' sh -c "$out/tutti -d 0000:ff:1f.7 info 2>&1 || :" &&
		fails 2 "$out/tutti" info -d && fails 2 tests/tap/limit 20 "$out/tutti" --devices info &&
		fails 2 tests/tap/limit 20 "$out/tutti" -d-1 info && fails 2 "$out/tutti" run kripke -d emulator &&
		TUTTI_DEVICE=teapot "$out/tutti" trace run -d emulator -o "$work/d" -- vector_add && [ -s "$work/d" ] &&
		fails 2 "$out/tutti" trace run -o "$work/d" vector_add -d emulator && fails 2 "$out/tutti" bench -d &&
		fails 2 "$out/tutti" validate --only nothing && fails 2 "$out/tutti" info --bogus && fails 2 "$out/tutti" dump one two || return 1
	local command
	for command in info run validate dump calibrate top reset 'trace run' 'trace list' 'trace html'; do
		"$out/tutti" $command --help | grep -q -- ' -d, --device=' || { echo "$command"; return 1; }
	done
}

errors_say() { # in words about the card; where a file is meant, in those of the system
	says '^tutti run: arguments: no room left on the card' sh -c "$out/tutti run $work/twice.tco twice --arg 'u8[90000000000]' 2>&1" &&
		says "^tutti run: $work/none: No such file" sh -c "$out/tutti run $work/twice.tco twice --arg 'i32[4]=@$work/none' 2>&1" &&
		says 'has no kernel thrice; see --list' sh -c "$out/tutti run $work/twice.tco thrice 2>&1"
}

# While SMs are off for the measurement, a signal that ends the program waits: HUP, INT and TERM are blocked.
calibration_ends_whole() {
	local program mask
	printf 'gpc 2\nenergy 1\n' >"$work/energy.conf"
	TUTTI_TOPOLOGY=$work/energy.conf "$out/tutti" calibrate --jobs 100000 -o "$work/weights" &
	program=$!
	while mask=$(sed -n 's/^SigBlk:[[:space:]]*//p' "/proc/$program/status" 2>/dev/null) && [ -n "$mask" ]; do
		[ $((0x$mask & 0x4003)) -eq $((0x4003)) ] && break
	done
	kill -KILL $program 2>/dev/null
	wait $program 2>/dev/null
	[ -n "$mask" ]
}

faults_say() {
	local tco=$out/tests/integration/kernels/test.tco
	says 'memory fault in kernel poke: nothing is mapped there, write to 0x40, in no allocation; in function poke \+' \
		sh -c "$out/tutti run $tco poke --arg u64=64 --arg u64=1 2>&1" &&
		says 'memory fault.*: nothing is mapped there' \
			sh -c "$out/tutti run $tco poke --arg u64=64 --arg u64=1 --repeat 600 2>&1" && # more than the queue has room for
		says '^tutti run: workgroup too large' sh -c "$out/tutti run $tco empty --workgroup 2048 2>&1"
}

check "SYS-40: soname and symbol versions" versioned
check "SYS-40: a C11 program links" links_from_c_and_cxx
check "SYS-50: the README's kernel and program, by its own commands" readme_works
check "SYS-50, PERF-15: make demo builds all that it needs" demo_is_whole
check "SYS-07, SYS-50: a kernel of one's own compiles" kernel_of_ones_own
check "SYS-07: tuttic fails on bad source and leaves nothing" bad_kernel_source
check "SYS-03, SYS-42: tutti info" says 'SM' "$out/tutti" info
check "SYS-51: tutti info says that the firmware is translated" says "^firmware  *translated" env -u TUTTI_INTERPRET "$out/tutti" info
check "SYS-51: TUTTI_INTERPRET=1 is said by tutti info and once on stderr" says "^1 1\$" sh -c "TUTTI_INTERPRET=1 $out/tutti info >$work/info.txt 2>$work/info.err; echo \$(grep -c \"^firmware  *interpreted\" $work/info.txt) \$(grep -c interprets $work/info.err)"
check "SYS-42: tutti validate" "$out/tutti" validate
check "SYS-46: tutti validate --json" sh -c "$out/tutti validate --json | perl -MJSON::PP -ne '\$n += decode_json(\$_)->{result} eq q(ok); END { exit !(\$n > 5) }'"
check "SYS-07: tutti run lists kernels" "$out/tutti" run "$work/twice.tco" --list
check "CGA-30, SYS-46: tutti trace run, list, json of an example" traces
check "CGA-30: a picture of any time comes to an end" late_pictures
check "SYS-46: a program that a signal ends leaves its trace, with kernel names" interrupted_traces
check "SYS-46: what the card has recorded last is in it; own handlers and children are left alone" sudden_ends
check "SYS-46: a trace that is cut short, and a file that is none" damaged_traces_say
check "SYS-46: a trace of GPCs whose SMs the card does not have" foreign_gpcs_say
check "SYS-46: every command has help, which names every example; examples refuse what they do not know" helps
check "SYS-42: numbers that are none, or do not fit, are refused" bad_numbers
check "SYS-58: mistakes in the environment and in topologies are said, with value and line" bad_environment
check "SYS-46: tutti info tells when the card does not answer" info_without_link
check "SYS-46: tutti info with SMs, log and counters, as text and as JSON" info_flags
check "SYS-46: tutti top" top
if unshare -m true 2>/dev/null && [ -d /sys/bus/pci/drivers ]; then
	check "SYS-46: tutti reset asks the driver for the card that is meant" resets
else
	skip "SYS-46: tutti reset asks the driver for the card that is meant" "no mount namespaces or no PCI"
fi
check "RES-13, RES-14: a signal does not leave SMs off that are so for a calibration" calibration_ends_whole
check "SYS-46, SYS-57: -d chooses the device" chooses_device
check "SYS-58: a fault names kernel, access and function" faults_say
check "SYS-58: errors say what is missing" errors_say
check "SYS-42: unknown command: exit status 2" fails 2 "$out/tutti" nonsense
check "SYS-42: a missing file: not 0" says '[12]' sh -c "$out/tutti run $work/none.tco >/dev/null 2>&1; echo \$?"
check "SYS-42: an unknown device is refused" says '[12]' sh -c "TUTTI_DEVICE=teapot $out/tutti info >/dev/null 2>&1; echo \$?"
check "SYS-48: hello" says 'hello|Hello' "$out/examples/hello"
check "SYS-48: vector add" "$out/examples/vector_add"
check "TSK-10 SYS-41: a pipeline of queue tasks" says right "$out/examples/pipeline"
check "CGA-24, CGA-25: groups reduce through shared memory under load" says ' 0 wrong' "$out/examples/reduce"
check "CGA-03: without the guarantee groups wait for each other for ever, with it they do not" \
	says 'as CGAs: done, 2 sums right; as plain workgroups: stuck' env TUTTI_DETERMINISTIC=1 "$out/examples/reduce" --apart
check "RES-06, TSK-09: priorities by windows and by quotas" says 'quotas' "$out/examples/priorities"
check "SYS-48: matrix multiply" "$out/examples/matmul"
check "SYS-48, PKT-23: Kripke in three modes, the same particle counts" kripke_modes
check "PKT-23: Kripke equals plain C, bit for bit" "$out/examples/kripke" --small --check
plan
