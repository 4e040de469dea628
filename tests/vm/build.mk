# SPDX-License-Identifier: MIT
# Guest tests: the card behind QEMU under Debian's kernels. See tests/vm/README.md.

KERNEL ?= 6.12
PACKAGES_VM := qemu-system-x86 busybox-static cpio kmod xz-utils

.PHONY: vm-check vm-shell vm-packages vm-build
# Only who runs a guest needs QEMU.
vm-packages:
	@missing=; for p in $(PACKAGES_VM); do \
		dpkg-query -W -f '$${db:Status-Status}' $$p 2>/dev/null | grep -q '^installed' || missing="$$missing $$p"; \
	done; [ -z "$$missing" ] && exit 0; \
	[ "$$(id -u)" = 0 ] || { echo "missing packages: run \"apt-get install$$missing\" as root"; exit 1; }; \
	apt-get update -q >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing >&2

vm-build: vm-packages $(OUT)/tutti-card $(OUT)/firmware/tutti-fw.bin $(OUT)/tutti $(EXAMPLE_BINS) $(EXAMPLE_TCOS) $(OUT)/libtutti.so.0 $(OUT)/tutti-conformance

vm-check: vm-build
	@OUT=$(OUT) tests/vm/run check $(KERNEL)

vm-shell: vm-build
	@OUT=$(OUT) tests/vm/run shell $(KERNEL)
