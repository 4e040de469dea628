# SPDX-License-Identifier: MIT
# Tests. `make check` runs all of them as TAP through prove; see tests/README.md.

T := $(OUT)/tests
TEST_CFLAGS = $(HOST_CFLAGS) -Itests -Itests/integration -Ifirmware -D_GNU_SOURCE
TEST_LIBS = $(CARD_LIBS) -lelf -lm

FW_HOST := $(OUT)/firmware/host/libtutti-fw-host.a
RT_LIB := $(OUT)/libtutti.a
whole = -Wl,--whole-archive $(1) -Wl,--no-whole-archive

# ---- unit tests: tests/unit/**/test_<unit>.c. The folder says what is tested and so which libraries a test gets, more by
# a line "/* link: ... */"; the programs lie side by side, since their names differ.
# libunicorn is one more oracle for the card's processor, where its version is the one whose faults the test knows.
UNICORN := $(shell pkg-config --modversion unicorn 2>/dev/null)
UNIT_SOURCES := $(filter-out $(if $(filter 2.0.1%,$(UNICORN)),,%/test_cpu_unicorn.c), \
	$(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c))
units = $(basename $(notdir $(filter tests/unit/$(1)/%,$(UNIT_SOURCES))))
UNITS := $(basename $(notdir $(UNIT_SOURCES)))
UNIT_BINS := $(addprefix $(T)/unit/,$(UNITS))
UNIT_FW := $(addprefix $(T)/unit/,$(call units,firmware))
UNIT_CPU := $(addprefix $(T)/unit/,$(call units,emulator/cpu))
UNIT_CARD := $(filter-out $(UNIT_CPU),$(addprefix $(T)/unit/,$(call units,emulator)))
UNIT_RT := $(addprefix $(T)/unit/,$(call units,runtime))
unit_link = $(shell sed -n 's|^/\* link: *\(.*\) \*/|\1|p' $(filter %/$(1).c,$(UNIT_SOURCES)))

$(UNIT_FW): $(FW_HOST)
$(UNIT_FW): LIBS = $(FW_HOST)
$(UNIT_FW:%=%.o): TEST_CFLAGS += -Itests/unit/firmware
$(UNIT_CARD): $(CARD_LIB)
$(UNIT_CARD): LIBS = $(CARD_LIB) $(TEST_LIBS)
$(UNIT_CARD:%=%.o): TEST_CFLAGS += -Itests/unit/emulator
$(UNIT_RT): $(RT_LIB) $(CARD_LIB)
$(UNIT_RT): LIBS = $(WITH_CARD) $(TEST_LIBS)
$(UNIT_RT:%=%.o): TEST_CFLAGS += -Itests/unit/runtime

$(T)/unit/test_rt_drm.o $(T)/unit/test_rt_drm_memory.o $(T)/unit/test_rt_drm_versions.o: TEST_CFLAGS += -I/usr/include/libdrm

# Objects are kept, so that a change of a library costs no compilation of tests.
vpath test_%.c $(sort $(dir $(UNIT_SOURCES)))
$(UNIT_BINS:%=%.o): $(T)/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(filter -D% -I% -f%,$(call unit_link,$*)) -Wno-missing-prototypes -MMD -MP -c $< -o $@

$(UNIT_BINS): $(T)/unit/%: $(T)/unit/%.o
	$(CC) $(TEST_CFLAGS) $< -o $@ $(LDFLAGS) $(call unit_link,$*) $(LIBS) -lcmocka

# ---- integration tests: one program for each tests/integration/*/test_*.c, side by side as well
INTEGRATION_SOURCES := $(wildcard tests/integration/*/test_*.c)
INTEGRATION := $(basename $(notdir $(INTEGRATION_SOURCES)))
INTEGRATION_BINS := $(addprefix $(T)/integration/,$(INTEGRATION))
INTEGRATION_HELP := $(addprefix $(T)/integration/,raw.o rig.o)
TEST_KERNELS := $(patsubst tests/integration/kernels/%.c,$(T)/integration/kernels/%.tco,$(wildcard tests/integration/kernels/*.c))
TEST_RAW := $(T)/integration/kernels/raw.bin

$(INTEGRATION_HELP) $(T)/integration/mixture/mixture_jobs.o: $(T)/integration/%.o: tests/integration/%.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -MMD -MP -c $< -o $@

vpath test_%.c $(sort $(dir $(INTEGRATION_SOURCES)))
$(INTEGRATION_BINS:%=%.o): $(T)/integration/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -MMD -MP -c $< -o $@

$(INTEGRATION_BINS): $(T)/integration/%: $(T)/integration/%.o $(INTEGRATION_HELP) $(RT_LIB) $(CARD_LIB)
	$(CC) $(TEST_CFLAGS) $(filter $(T)/integration/%.o,$^) -o $@ $(LDFLAGS) $(WITH_CARD) $(TEST_LIBS) -lcmocka
$(T)/integration/test_mixture: $(T)/integration/mixture/mixture_jobs.o

# Arithmetic of others to compare with.
$(T)/integration/test_tensor_math.o: TEST_CFLAGS += -Iruntime
$(T)/integration/test_tensor_math: private TEST_LIBS += -ldnnl -lopenblas

$(T)/integration/kernels/%.tco: tests/integration/kernels/%.c $(TUTTIC_DEPS)
	@mkdir -p $(@D)
	$(OUT)/tuttic -O2 $(KERNEL_OPTIONS) -o $@ $<

$(T)/integration/kernels/external.tco: private KERNEL_OPTIONS := --allow-undefined

$(TEST_RAW): tests/integration/kernels/raw.S
	@mkdir -p $(@D)
	$(CROSS)gcc -march=rv64imafd -mabi=lp64d -c $< -o $(@:.bin=.o)
	$(CROSS)objcopy -O binary -j .text $(@:.bin=.o) $@

-include $(wildcard $(T)/unit/*.d $(T)/integration/*.d)
# Dependencies of an older build may name a source that has been moved since.
tests/%.c: ;

# ---- sanitizers: everything again under $(OUT)/asan with -fsanitize=address,undefined
ASAN := $(OUT)/asan
ASAN_CC := gcc -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ASAN_BINS := $(addprefix $(ASAN)/tests/unit/,$(UNITS))
.PHONY: check-asan-build
check-asan-build:
	@[ -z "$(UNITS)" ] || $(MAKE) --no-print-directory OUT=$(ASAN) CC="$(ASAN_CC)" CFLAGS="-O1 -g" TRANSLATE=no $(ASAN_BINS)

-include tests/target/build.mk
-include tests/cpu/build.mk
-include tests/fuzz/build.mk
-include tests/combine/build.mk
-include tests/mutate/build.mk
-include tests/vm/build.mk
include tests/load/build.mk
include tests/integration/xrt/build.mk
-include tests/roots/build.mk
include tests/integration/hsa/build.mk

# ---- running
PROVE := 9>&2 CMOCKA_MESSAGE_OUTPUT=TAP TUTTI_OUT=$(OUT) \
	ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1 \
	prove --exec tests/tap/run
SCRIPTS := tests/contract/layout.sh tests/contract/headers.sh tests/combine/check.sh tests/combine/check_image.sh \
	tests/combine/check_waits.sh tests/floors/floors.pl tests/floors/kernel.sh tests/floors/sizes.sh \
	tests/load/check.sh tests/load/installed.sh tests/target/image.sh tests/target/image_large.sh \
	$(filter-out %/perf_bench.sh,$(wildcard tests/integration/*/*.sh))
PERF_SCRIPTS := $(wildcard tests/integration/*/perf_*.sh)
FUZZ_SECONDS ?= 10

.PHONY: check-build check-programs check-unit check-integration check-asan lint check-fuzz
check-programs: all $(T)/combine/combine $(T)/combine/combine-image $(UNIT_BINS) $(INTEGRATION_BINS) $(TEST_KERNELS) $(TEST_RAW) $(TARGET_TESTS) $(LOAD_FILES)
check-build: check-programs $(FUZZ_BINS) check-asan-build

# One prove, so that the closing line counts everything. The guests take longest, so they begin first. Tests that measure
# time are named by no rule: prove runs these at the end, one after the other.
TEST_JOBS ?= 2
GUEST_TESTS = $(wildcard tests/vm/check_*.sh) tests/vm/power.sh
BESIDE = tests/model/check.sh $(SCRIPTS) $(UNIT_BINS) $(TARGET_TESTS) $(INTEGRATION_BINS) $(ASAN_BINS) tests/lint.sh \
	tests/fuzz/run.sh
comma := ,
any_of = {$(subst $(eval) ,$(comma),$(strip $(1)))}
check: check-build vm-build
	@FUZZ_SECONDS=$(FUZZ_SECONDS) $(PROVE) -j$(TEST_JOBS) --rules='par=$(call any_of,$(GUEST_TESTS))' \
		--rules='par=$(call any_of,$(BESIDE))' $(GUEST_TESTS) $(BESIDE) $(PERF_SCRIPTS)

# The same while eight processes compete for the processors: no result may depend on time (REL-09). Twelve tests run at
# a time, of which seven are guests at first. It takes about 35 minutes.
.PHONY: check-loaded
check-loaded: check-build vm-build
	tests/tap/busy 8 $(MAKE) check TEST_JOBS=12

# What a change should pass before it is shown to others: all but sanitizers, analysis, fuzzing and timing.
.PHONY: check-quick
check-quick: check-programs
	@$(PROVE) -j2 $(SCRIPTS) $(UNIT_BINS) $(TARGET_TESTS) $(INTEGRATION_BINS)

# What depends on the host's compiler, in little time: all units, examples on the whole stack.
.PHONY: check-compiled
check-compiled: check-programs
	@$(PROVE) -j2 $(UNIT_BINS) $(TARGET_TESTS) tests/integration/programs/translated.sh

check-unit: $(UNIT_BINS)
	@$(PROVE) $(UNIT_BINS)
check-integration: all $(INTEGRATION_BINS) $(TEST_KERNELS) $(TEST_RAW)
	@$(PROVE) $(INTEGRATION_BINS)
check-asan: check-asan-build
	@$(PROVE) $(ASAN_BINS)
lint:
	@$(PROVE) -v tests/lint.sh
