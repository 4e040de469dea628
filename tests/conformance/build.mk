# SPDX-License-Identifier: MIT
# tutti-conformance, tutti-fuzz and tutti-drm-bench: static, so that they run in any guest.
CONFORMANCE := tests/conformance
CONFORMANCE_SRC := $(wildcard $(addprefix $(CONFORMANCE)/,*.c calls/*.c work/*.c life/*.c))
FUZZ_SRC := $(addprefix $(CONFORMANCE)/,fuzz/fuzz.c rig.c calls.c table.c bus.c)
CONFORMANCE_HEADERS := $(wildcard $(CONFORMANCE)/*.h include/tutti/*.h)
CONFORMANCE_CC = $(CC) -std=gnu11 $(CFLAGS) $(WARN) -fno-strict-aliasing -D_GNU_SOURCE -Iinclude -I$(CONFORMANCE) -I/usr/include/libdrm -static -pthread

$(OUT)/tutti-conformance: $(CONFORMANCE_SRC) $(CONFORMANCE_HEADERS)
	@mkdir -p $(@D)
	$(CONFORMANCE_CC) -o $@ $(CONFORMANCE_SRC)

$(OUT)/tutti-fuzz: $(FUZZ_SRC) $(CONFORMANCE_HEADERS)
	@mkdir -p $(@D)
	$(CONFORMANCE_CC) -o $@ $(FUZZ_SRC)

$(OUT)/tutti-drm-bench: $(CONFORMANCE)/bench/bench.c $(CONFORMANCE)/rig.c $(CONFORMANCE_HEADERS)
	@mkdir -p $(@D)
	$(CONFORMANCE_CC) -o $@ $(filter %.c,$^)

all: $(OUT)/tutti-conformance $(OUT)/tutti-fuzz $(OUT)/tutti-drm-bench
