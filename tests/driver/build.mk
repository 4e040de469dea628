# SPDX-License-Identifier: MIT
# tutti-driver-test: what the driver does beyond its calls; run by tests/vm. Static, so that it runs in any guest.
DRIVER_SRC := $(wildcard tests/driver/*.c) tests/conformance/rig.c

$(OUT)/tutti-driver-test: $(DRIVER_SRC) tests/conformance/rig.h include/tutti/tutti_drm.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) $(WARN) -Iinclude -Itests/conformance -I/usr/include/libdrm -static -pthread -o $@ $(DRIVER_SRC)

all: $(OUT)/tutti-driver-test

.PHONY: kernel-lint
kernel-lint:
	tests/driver/lint.sh
