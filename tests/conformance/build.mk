# SPDX-License-Identifier: MIT
# tutti-conformance: static, so that it runs in any guest.
CONFORMANCE_SRC := $(wildcard tests/conformance/*.c)

$(OUT)/tutti-conformance: $(CONFORMANCE_SRC) tests/conformance/rig.h include/tutti/tutti_drm.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) $(WARN) -Iinclude -I/usr/include/libdrm -static -o $@ $(CONFORMANCE_SRC)

all: $(OUT)/tutti-conformance
