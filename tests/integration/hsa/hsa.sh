#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs written for HSA, on the emulated card through libhsa-runtime64.so.1 (spec SYS-43).
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap/tap.sh
out=${TUTTI_OUT:-build}
programs=$out/tests/hsa
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUTTI_DEVICE=emulator CMOCKA_MESSAGE_OUTPUT=STDOUT

names=$(cd tests/integration/hsa && ls ./*.c | sed -n 's|^\./\(.*\)\.c$|\1|p' | grep -v '^hsa_test$')

# Each test of a program fails with a library whose functions only return 0; none of them enumerates nothing and passes.
fails_with_stub() { # PROGRAM
	[ -x "$programs/$1" ] || { echo "$programs/$1 is not there"; return 1; }
	LD_LIBRARY_PATH=$programs/stub tests/tap/limit 60 "$programs/$1" >"$work/out" 2>&1 &&
		{ echo "the program has passed"; return 1; }
	! grep -E '^\[ +OK +\]' "$work/out"
}

examples=$(cd runtime/hsa/examples && grep -l '^int main' ./*.c | sed 's|^\./\(.*\)\.c$|\1|')

example_fails_with_stub() { # EXAMPLE
	! LD_LIBRARY_PATH=$programs/stub tests/tap/limit 60 "$out/hsa/examples/$1"
}

exports_what_debian_has() {
	nm -D --defined-only "$out/hsa/libhsa-runtime64.so.1" | sed -n 's/.* \(hsa_.*\)/\1/p' | sort >"$work/ours"
	nm -D --defined-only /usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1 |
		sed -n 's/.* \(hsa_.*\)/\1/p' | sort >"$work/debian"
	comm -13 "$work/ours" "$work/debian" | grep -vE "$later" >"$work/missing"
	cat "$work/missing"
	[ -s "$work/debian" ] && [ ! -s "$work/missing" ]
}

# Later than the library of Debian 12, which is the one that is asked for.
later='hsa_amd_(vmem|spm|portable)_|hsa_amd_memory_(async_copy_on_engine|copy_engine_status)|hsa_amd_agent_set_async_scratch_limit'

# Debian's rocminfo looks for AMD's driver first: a stub of lsmod and an empty /dev/kfd, which only it sees, satisfy it.
rocminfo_lists_the_card() {
	printf '#!/bin/sh\necho amdgpu 1 0\n' >"$work/lsmod"
	chmod +x "$work/lsmod"
	PATH=$work:$PATH tests/tap/limit 60 unshare -rm sh -c "mount -t tmpfs none /dev && : >/dev/null && : >/dev/kfd &&
		'$out/tutti' hsa-run rocminfo" >"$work/rocminfo" 2>&1 || { cat "$work/rocminfo"; return 1; }
	grep -q 'Name: *tutti-sm1' "$work/rocminfo" && grep -q 'Segment: *GROUP' "$work/rocminfo" &&
		grep -q 'Name: *riscv64-tutti' "$work/rocminfo" && grep -q 'Done' "$work/rocminfo"
}

# Each error in the comments of the headers is tried, but for those that nothing can bring about.
every_error_is_tried() {
	local headers=/usr/include/hsa
	rm -f "$work/tried"
	for name in errors images; do
		HSA_ERRORS_LIST=$work/tried tests/tap/limit 60 "$out/tutti" hsa-run "$programs/$name" >/dev/null 2>&1
	done
	sort -u "$work/tried" >"$work/tried.sorted"
	perl tests/integration/hsa/statuses.pl --pairs "$out/hsa/libhsa-runtime64.so.1" $headers/hsa.h \
		$headers/hsa_ext_amd.h $headers/hsa_ext_finalize.h $headers/hsa_ext_image.h |
		grep -vE 'NOT_INITIALIZED|OUT_OF_RESOURCES|REFCOUNT_OVERFLOW' |
		grep -vE 'hsa_cache_get_info HSA_STATUS_ERROR_INVALID_ARGUMENT|max_dim HSA_STATUS_ERROR_INVALID_QUEUE' |
		sort -u >"$work/documented"
	comm -13 "$work/tried.sorted" "$work/documented" >"$work/untried"
	cat "$work/untried"
	[ -s "$work/documented" ] && [ ! -s "$work/untried" ]
}

# The registry's entry is made by tuttic, from a module that the program has written.
tuttic_fills_the_registry() {
	HSA_MODULE_FILE=$work/test.brig "$programs/finalizer" &&
		"$out/tuttic" --hsail "$work/test.brig" --hsail-registry "$work/registry" tests/integration/kernels/test.c &&
		TUTTI_HSAIL_REGISTRY=$work/registry tests/tap/limit 60 "$out/tutti" hsa-run "$programs/finalizer"
}

tuttic_refuses_what_is_no_module() {
	echo "HSA BRIG, but another one" >"$work/other/test.brig" &&
		! "$out/tuttic" --hsail "$work/other/test.brig" --hsail-registry "$work/registry" \
			tests/integration/kernels/test.c &&
		! "$out/tuttic" --hsail tests/integration/kernels/test.c tests/integration/kernels/test.c
}

for name in $names; do
	check "SYS-43 $name" tests/tap/limit 120 "$out/tutti" hsa-run "$programs/$name"
	check "SYS-43 $name: every test fails with a library that does nothing" fails_with_stub "$name"
done
check "SYS-43 dlopen and dlclose, again and again" tests/tap/limit 60 "$out/tutti" hsa-run "$programs/load"
for example in $examples; do
	check "SYS-43 example $example" tests/tap/limit 60 "$out/tutti" hsa-run "$out/hsa/examples/$example"
	check "SYS-43 example $example fails with a library that does nothing" example_fails_with_stub "$example"
done
check "SYS-43 tuttic --hsail fills the registry" tuttic_fills_the_registry
mkdir "$work/other"
check "SYS-43 tuttic --hsail refuses other modules of the same name, and files that are none" \
	tuttic_refuses_what_is_no_module
check "SYS-43 all functions of Debian's library, with the same version" exports_what_debian_has
check "SYS-43 every documented error of every function is tried" every_error_is_tried
if ! command -v rocminfo >/dev/null; then
	skip "SYS-43 rocminfo" "it is not installed"
elif ! unshare -rm true 2>/dev/null; then
	skip "SYS-43 rocminfo" "no mount namespaces here"
else
	check "SYS-43 Debian's rocminfo lists the card" rocminfo_lists_the_card
fi
plan
