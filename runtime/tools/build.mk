# SPDX-License-Identifier: MIT
# $(OUT)/tutti, the tool. Linked statically with library and emulated card: one file, and
# the benchmark can read the card's instruction counts.

TOOL_OUT := $(OUT)/tools
TOOL_SOURCES := $(filter-out runtime/tools/kernels.c,$(wildcard runtime/tools/*.c runtime/tools/trace/*.c tests/bench/*.c))
TOOL_OBJECTS := $(TOOL_SOURCES:%.c=$(OUT)/%.o)
TOOL_KERNELS := $(TOOL_OUT)/kernels.tco

all: $(OUT)/tutti

$(TOOL_KERNELS): runtime/tools/kernels.c runtime/tools/kernels.h $(TUTTIC_DEPS)
	@mkdir -p $(@D)
	$(TUTTIC) -Wextra -Werror -o $@ $<

$(TOOL_OBJECTS): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -Iruntime/tools -DTOOL_KERNELS='"$(TOOL_KERNELS)"' -MMD -MP -c $< -o $@

$(OUT)/runtime/tools/tool.o: $(TOOL_KERNELS)

# Whole archive: store_speed.o replaces functions of libunicorn that nothing else refers to.
$(OUT)/tutti: $(TOOL_OBJECTS) $(OUT)/libtutti.a
	$(CC) $(HOST_CFLAGS) $(TOOL_OBJECTS) -o $@ $(LDFLAGS) -Wl,--whole-archive $(OUT)/libtutti.a \
		-Wl,--no-whole-archive $(RUNTIME_LIBS) -lpci

bench: $(OUT)/tutti
	$(OUT)/tutti bench --output $(OUT)/bench.json

# The pictures of the READMEs, anew: figures 21 to 23 as the test sets them up, the examples on a card that fits a page.
PICTURES := runtime/tools/pictures
PICTURE = $(OUT)/tutti trace run -o $(TOOL_OUT)/$(1).trace --deterministic --topology $(PICTURES)/card.topology -- $(1) && \
	$(OUT)/tutti trace svg $(TOOL_OUT)/$(1).trace $(2) && cp $(TOOL_OUT)/$(1)-time.svg $(PICTURES)/$(1).svg
.PHONY: pictures
pictures: all $(OUT)/tests/integration/test_trace $(TEST_KERNELS)
	TUTTI_OUT=$(OUT) $(OUT)/tests/integration/test_trace
	cp $(OUT)/tests/integration/figure21-lake.svg $(PICTURES)/lake.svg
	$(call PICTURE,reduce,--to 9000)
	$(call PICTURE,priorities)

-include $(TOOL_OBJECTS:.o=.d)
