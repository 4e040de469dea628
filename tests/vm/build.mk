# SPDX-License-Identifier: MIT
# Guest tests: the card behind QEMU under Debian's kernels. See tests/vm/README.md.

KERNEL ?= 6.12

.PHONY: vm-check vm-power vm-packages vm-bench vm-storm vm-fuzz vm-shell vm-shell-check vm-build debug-kernel-check
VM_PROGRAMS := $(addprefix $(T)/integration/,test_device test_signal test_record test_wave test_place test_loader test_mixture) \
	$(TEST_KERNELS) $(EXAMPLE_BINS) $(EXAMPLE_TCOS) $(addprefix $(OUT)/,tutti-card firmware/tutti-fw.bin tutti libtutti.so.0 tutti-conformance tutti-fuzz tutti-drm-bench \
	tutti-driver-test firmware/tutti-fw-large.bin)
vm-build: $(VM_PROGRAMS)

vm-check: vm-build
	@OUT=$(OUT) tests/vm/run check $(KERNEL)

# SYS-29: the power of the card's port can be switched off there (D3cold).
vm-power: vm-build
	@OUT=$(OUT) VM_POWER=yes tests/vm/run check $(KERNEL)

# SYS-47: driver and firmware of the Debian packages, those of `make deb` or of the folder VM_PACKAGES. DKMS builds the
# driver for each kernel.
vm-packages: vm-build $(if $(VM_PACKAGES),,deb)
	@$(foreach kernel,$(if $(filter command line,$(origin KERNEL)),$(KERNEL),6.12 6.1 testing),OUT=$(OUT) \
		VM_PACKAGES=$(or $(VM_PACKAGES),$(DEB)) VM_ONLY=$${VM_ONLY:-/30\|/40} tests/vm/run check $(kernel) &&) :

# KASAN, lockdep, kmemleak, fault injection; or KCSAN, with KERNEL=kcsan. The kernel is built once (a quarter of an hour),
# into the cache of `kernel`. Everything of tutti.ko; not what is about the card alone or about time.
DEBUG_KERNEL = $(if $(filter command line,$(origin KERNEL)),$(KERNEL),debug)
debug-kernel-check: vm-build
	@OUT=$(OUT) VM_ONLY=$${VM_ONLY:-/3\|/40\|/50\|/9} VM_ROUNDS=$${VM_ROUNDS:-20} VM_FUZZ_SECONDS=$${VM_FUZZ_SECONDS:-60} \
		VM_TIMEOUT=$${VM_TIMEOUT:-2400} tests/vm/run check $(DEBUG_KERNEL)

# PERF-10, against vgem in the same guest: table on the screen, $(OUT)/bench-vm.json.
vm-bench: vm-build
	@OUT=$(OUT) VM_ONLY=60 tests/vm/run check $(KERNEL)

# REL-05 in full: a thousand kills, 10^5 openings, 10^6 buffers. VM_SUBTESTS=REL-06 removes the card a thousand times.
vm-storm: vm-build
	@OUT=$(OUT) VM_ONLY=35 VM_SUBTESTS=$${VM_SUBTESTS:-REL-05} VM_ROUNDS=$${VM_ROUNDS:-1000} VM_TEST_TIMEOUT=3600 \
		VM_TIMEOUT=4000 tests/vm/run check $(KERNEL)

# ioctl fuzzing for longer, under the kernel that sees most unless KERNEL says another: FUZZ_SECONDS, VM_FUZZ_SEED.
vm-fuzz: vm-build
	@OUT=$(OUT) VM_ONLY=50 VM_FUZZ_SECONDS=$${FUZZ_SECONDS:-600} VM_TEST_TIMEOUT=100000 VM_TIMEOUT=100000 \
		tests/vm/run check $(DEBUG_KERNEL)

vm-shell: vm-build
	@OUT=$(OUT) tests/vm/run shell $(KERNEL)

vm-shell-check: vm-build
	@OUT=$(OUT) tests/vm/shell.sh $(KERNEL)
