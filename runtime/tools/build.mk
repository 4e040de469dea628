# SPDX-License-Identifier: MIT
# $(OUT)/tutti, the tool. It holds libtutti; the emulated card is opened when it is wanted.

TOOL_OUT := $(OUT)/tools
TOOL_SOURCES := $(filter-out runtime/tools/kernels.c,$(wildcard runtime/tools/*.c runtime/tools/*/*.c))
TOOL_OBJECTS := $(TOOL_SOURCES:%.c=$(OUT)/%.o)
TOOL_KERNELS := $(TOOL_OUT)/kernels.tco
TRACE_PAGE := runtime/tools/trace/page.html
TOOL_CFLAGS := -Iruntime/tools -DTOOL_KERNELS='"$(TOOL_KERNELS)"' -DTRACE_PAGE='"$(TRACE_PAGE)"' -DTUTTI_LIBEXECDIR='"$(PREFIX)/libexec"' -DTUTTI_LIBDIR='"$(LIBDIR)"'

all: $(OUT)/tutti

$(TOOL_KERNELS): runtime/tools/kernels.c runtime/tools/kernels.h $(TUTTIC_DEPS)
	@mkdir -p $(@D)
	$(TUTTIC) -Wextra $(ERROR) -o $@ $<

$(TOOL_OBJECTS): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $(TOOL_CFLAGS) -MMD -MP -c $< -o $@

$(OUT)/runtime/tools/tool.o: $(TOOL_KERNELS)
$(OUT)/runtime/tools/trace/trace_html.o: $(TRACE_PAGE)

$(OUT)/tutti: $(TOOL_OBJECTS) $(OUT)/libtutti.a
	$(CC) $(HOST_CFLAGS) $(TOOL_OBJECTS) -o $@ $(LDFLAGS) $(OUT)/libtutti.a $(RUNTIME_LIBS) -lpci -ljansson

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
