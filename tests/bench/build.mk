# SPDX-License-Identifier: MIT
# $(OUT)/tutti-bench, which `tutti bench` runs. It holds library and emulated card, whose instruction counts it reads.

BENCH_SOURCES := $(wildcard tests/bench/*.c tests/bench/firmware/*.c tests/bench/host/*.c) runtime/examples/packet_cost.c
BENCH_OBJECTS := $(BENCH_SOURCES:%.c=$(OUT)/%.o)

all: $(OUT)/tutti-bench

$(BENCH_OBJECTS): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -Itests/bench -MMD -MP -c $< -o $@

# From which file of the firmware is which code?
BENCH_RANGES := $(OUT)/tests/bench/ranges.inc $(OUT)/tests/bench/ranges_large.inc
$(OUT)/tests/bench/ranges.inc: $(FW)/tutti-fw.elf
$(OUT)/tests/bench/ranges_large.inc: $(FW)/tutti-fw-large.elf
$(BENCH_RANGES): tests/bench/firmware/ranges.pl
	@mkdir -p $(@D)
	perl $< $(filter %.map,$(patsubst %.elf,%.map,$^)) >$@
$(OUT)/tests/bench/firmware/units.o: $(BENCH_RANGES)
$(OUT)/tests/bench/firmware/units.o: HOST_CFLAGS += -I$(OUT)/tests/bench

# PERF-13 compares kernels with the same C of the host's compiler, without vectors.
BENCH_LOOPS := $(OUT)/tests/bench/loops.tco
$(BENCH_LOOPS): tests/bench/kernels/loops.c tests/bench/kernels/loops.h $(TUTTIC_DEPS)
	@mkdir -p $(@D)
	$(TUTTIC) -Wextra $(ERROR) -o $@ $<

$(OUT)/tests/bench/host/bench_kernels.o: $(BENCH_LOOPS)
$(OUT)/tests/bench/host/bench_kernels.o: HOST_CFLAGS += -D_GNU_SOURCE -DBENCH_LOOPS='"$(BENCH_LOOPS)"'
$(OUT)/tests/bench/host/loops_host.o: HOST_CFLAGS += -O2 -fno-tree-vectorize

BENCH_TOOLS := $(OUT)/runtime/tools/tool.o $(OUT)/runtime/tools/xclbin/write.o

$(OUT)/tutti-bench: $(BENCH_OBJECTS) $(BENCH_TOOLS) $(CARD_WHOLE) $(OUT)/libtutti.a $(OUT)/libtutti-image.a
	$(CC) $(HOST_CFLAGS) $(CARD_CFLAGS) $(LTO_FLAGS) $(BENCH_OBJECTS) $(BENCH_TOOLS) $(CARD_WHOLE) -o $@ $(LDFLAGS) $(OUT)/libtutti.a $(CARD_LIBS)

# A program of its own, since it uses two libraries that the benchmark must not hold.
BENCH_HSA := $(OUT)/tests/bench/hsa/hsa_launch
all: $(BENCH_HSA)
$(BENCH_HSA): tests/bench/hsa/hsa_launch.c $(HSA)/libhsa-runtime64.so.1 $(TOOL_KERNELS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) -Wall -Wextra $(ERROR) -Iinclude -DHSA_KERNELS='"$(abspath $(TOOL_KERNELS))"' $< -o $@ \
		-L$(HSA) -lhsa-runtime64 -L$(OUT) -ltutti -Wl,-rpath,'$$ORIGIN/../../..'

bench: $(OUT)/tutti $(OUT)/tutti-bench $(BENCH_HSA)
	$(OUT)/tutti bench --output $(OUT)/bench.json
	@perl tests/bench/compare.pl tests/bench/release.json $(OUT)/bench.json

# Minutes: all iterations of Kripke's default problem, in all modes, and the plain C to compare with.
.PHONY: bench-kripke
bench-kripke: $(EXAMPLES_OUT)/kripke $(EXAMPLES_OUT)/kripke.tco $(CARD_PLUGIN) $(OUT)/firmware/tutti-fw.bin $(OUT)/tutti
	$(OUT)/tutti translate $(EXAMPLES_OUT)/kripke.tco
	$(EXAMPLES_OUT)/kripke --check --no-count

-include $(BENCH_OBJECTS:.o=.d)
