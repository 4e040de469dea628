# SPDX-License-Identifier: MIT
# tutti-conformance: static, so that it runs in any guest.
CONFORMANCE_SRC := $(wildcard tests/conformance/*.c)

$(OUT)/tutti-conformance: $(CONFORMANCE_SRC) $(wildcard tests/conformance/*.h) $(wildcard include/tutti/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) $(WARN) -D_GNU_SOURCE -Iinclude -I/usr/include/libdrm -static -pthread -o $@ $(CONFORMANCE_SRC)

all: $(OUT)/tutti-conformance
