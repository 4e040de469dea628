# SPDX-License-Identifier: MIT
# $(OUT)/tutti, the tool. Linked statically with library and emulated card: one file, and
# the benchmark can read the card's instruction counts.

TOOL_OUT := $(OUT)/tools
TOOL_SOURCES := $(filter-out runtime/tools/kernels.c,$(wildcard runtime/tools/*.c))
TOOL_OBJECTS := $(patsubst runtime/tools/%.c,$(TOOL_OUT)/%.o,$(TOOL_SOURCES))
TOOL_KERNELS := $(TOOL_OUT)/kernels.tco

all: $(OUT)/tutti

$(TOOL_KERNELS): runtime/tools/kernels.c runtime/tools/kernels.h $(TUTTIC_DEPS)
	@mkdir -p $(@D)
	$(TUTTIC) -Wextra -Werror -o $@ $<

$(TOOL_OUT)/%.o: runtime/tools/%.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -DTOOL_KERNELS='"$(TOOL_KERNELS)"' -MMD -c $< -o $@

$(TOOL_OUT)/tool.o: $(TOOL_KERNELS)

# Whole archive: store_speed.o replaces functions of libunicorn that nothing else refers to.
$(OUT)/tutti: $(TOOL_OBJECTS) $(OUT)/libtutti.a
	$(CC) $(HOST_CFLAGS) $(TOOL_OBJECTS) -o $@ $(LDFLAGS) -Wl,--whole-archive $(OUT)/libtutti.a \
		-Wl,--no-whole-archive $(RUNTIME_LIBS) -lpci

bench: $(OUT)/tutti
	$(OUT)/tutti bench --output $(OUT)/bench.json

-include $(wildcard $(TOOL_OUT)/*.d)
