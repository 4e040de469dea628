# SPDX-License-Identifier: MIT
# Guest tests: the card behind QEMU under Debian's kernels. See tests/vm/README.md.

KERNEL ?= 6.12

.PHONY: vm-check vm-shell vm-build debug-kernel-check
vm-build: $(OUT)/tutti-card $(OUT)/firmware/tutti-fw.bin $(OUT)/firmware/tutti-fw-large.bin $(OUT)/tutti $(EXAMPLE_BINS) $(EXAMPLE_TCOS) $(OUT)/libtutti.so.0 $(OUT)/tutti-conformance

vm-check: vm-build
	@OUT=$(OUT) tests/vm/run check $(KERNEL)

# KASAN, lockdep, kmemleak, fault injection: the kernel is built once (a quarter of an hour), into the cache of `kernel`.
debug-kernel-check: vm-build
	@OUT=$(OUT) VM_TIMEOUT=$${VM_TIMEOUT:-1500} tests/vm/run check debug

vm-shell: vm-build
	@OUT=$(OUT) tests/vm/run shell $(KERNEL)
