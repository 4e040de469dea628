# SPDX-License-Identifier: MIT
# Programs of tests/integration/xrt/xrt.sh.

XRT_FILES := $(T)/xrt/rounding.so $(T)/xrt/opens $(T)/xrt/buffers
check-programs: $(XRT_FILES)

$(T)/xrt/rounding.so: tests/integration/xrt/rounding.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -shared $< -o $@

$(T)/xrt/opens $(T)/xrt/buffers: $(T)/xrt/%: tests/integration/xrt/%.c $(OUT)/libtutti.a
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $< -o $@ $(LDFLAGS) $(OUT)/libtutti.a $(RUNTIME_LIBS)
