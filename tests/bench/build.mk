# SPDX-License-Identifier: MIT
# $(OUT)/tutti-bench, which `tutti bench` runs. It holds library and emulated card, whose instruction counts it reads.

BENCH_SOURCES := $(wildcard tests/bench/*.c tests/bench/*/*.c) runtime/examples/packet_cost.c
BENCH_OBJECTS := $(BENCH_SOURCES:%.c=$(OUT)/%.o)

all: $(OUT)/tutti-bench

$(BENCH_OBJECTS): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -Itests/bench -MMD -MP -c $< -o $@

BENCH_TOOLS := $(OUT)/runtime/tools/tool.o $(OUT)/runtime/tools/xclbin/write.o

$(OUT)/tutti-bench: $(BENCH_OBJECTS) $(BENCH_TOOLS) $(OUT)/libtutti.a $(CARD_LIB)
	$(CC) $(HOST_CFLAGS) $(BENCH_OBJECTS) $(BENCH_TOOLS) -o $@ $(LDFLAGS) $(WITH_CARD)

bench: $(OUT)/tutti $(OUT)/tutti-bench
	$(OUT)/tutti bench --output $(OUT)/bench.json

-include $(BENCH_OBJECTS:.o=.d)
