# SPDX-License-Identifier: MIT
# tutti-driver-test: what the driver does beyond its calls; run by tests/vm. Static, so that it runs in any guest.
DRIVER_SRC := $(wildcard tests/driver/*.c) tests/conformance/rig.c tests/conformance/bus.c

$(OUT)/tutti-driver-test: $(DRIVER_SRC) tests/conformance/rig.h include/tutti/tutti_drm.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) $(WARN) -Iinclude -Itests/conformance -I/usr/include/libdrm -static -pthread -o $@ $(DRIVER_SRC)

all: $(OUT)/tutti-driver-test

# The same as a program of 32 bits, where there is a compiler for one (gcc-multilib).
ifeq ($(shell echo 'int main(void) { return 0; }' | $(CC) -m32 -static -x c -o /dev/null - 2>/dev/null && echo yes),yes)
$(OUT)/tutti-driver-test32: $(DRIVER_SRC) tests/conformance/rig.h include/tutti/tutti_drm.h
	@mkdir -p $(@D)
	$(CC) -m32 -march=x86-64 -D_FILE_OFFSET_BITS=64 -std=gnu11 $(CFLAGS) $(WARN) -Wno-sign-compare \
		-Wno-int-to-pointer-cast -Iinclude -Itests/conformance -I/usr/include/libdrm -static -pthread -o $@ $(DRIVER_SRC)

all: $(OUT)/tutti-driver-test32
endif

.PHONY: kernel-lint
kernel-lint:
	tests/driver/lint.sh
