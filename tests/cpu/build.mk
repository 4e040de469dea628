# SPDX-License-Identifier: MIT
# The emulated card's processor: unit tests, guest programs that they run, and a bench.

CPU_TEST := $(T)/cpu
CPU_GUESTS := $(patsubst tests/cpu/guest/%.c,$(CPU_TEST)/%.bin,$(wildcard tests/cpu/guest/*.c))

$(UNIT_CPU): $(CPU_LIB) $(CPU_GUESTS)
$(UNIT_CPU): LIBS = $(CPU_LIB) -lm -pthread
$(UNIT_CPU:%=%.o): TEST_CFLAGS += -Iruntime/emulator/cpu -Itests/cpu -ffp-contract=off -DCPU_GUESTS='"$(CPU_TEST)"'

# Kernels translated at run time: the code of guest programs.
UNIT_TRANSLATED := $(addprefix $(T)/unit/,$(call units,emulator/translated))
$(UNIT_TRANSLATED): $(CPU_GUESTS)
$(UNIT_TRANSLATED:%=%.o): TEST_CFLAGS += -Iruntime/emulator/cpu -Itests/cpu -ffp-contract=off -DCPU_GUESTS='"$(CPU_TEST)"'

# Guest programs are plain images that start at their first byte.
$(CPU_TEST)/%.bin: tests/cpu/guest/%.c tests/cpu/guest.ld
	@mkdir -p $(@D)
	$(CROSS)gcc -march=rv64imafdc -mabi=lp64d -mcmodel=medany -O2 -ffreestanding -fno-builtin -fno-math-errno -ffp-contract=off -nostdlib -Wl,-T,tests/cpu/guest.ld,--no-warn-rwx-segments \
		$< -lgcc -o $(@:.bin=.elf)
	$(CROSS)objcopy -O binary $(@:.bin=.elf) $@
	$(CROSS)objcopy -O binary -j .text $(@:.bin=.elf) $(@:.bin=.text)

$(CPU_TEST)/loops32.elf: tests/cpu/guest/loops.c tests/cpu/guest.ld
	@mkdir -p $(@D)
	$(CROSS)gcc -march=rv32imc -mabi=ilp32 -O2 -ffreestanding -fno-builtin -nostdlib -Wl,-T,tests/cpu/guest.ld,--no-warn-rwx-segments \
		$< -lgcc -o $@
	$(CROSS)objcopy -O binary $@ $(@:.elf=.bin)

$(CPU_TEST)/loops32_translation_0.c: $(CPU_TEST)/loops32.elf $(RV2C)
	$(RV2C) $< $(CPU_TEST)/loops32_translation loops32_translation

# Code of a guest program, translated wherever it may be.
$(CPU_TEST)/%_translation_0.c: $(CPU_TEST)/%.bin $(RV2C)
	$(RV2C) --bare $(<:.bin=.text) $(@:_0.c=) $*_translation

$(CPU_TEST)/loops_translation_0.o: %.o: %.c $(wildcard runtime/emulator/cpu/*.h)
	$(CC) $(TRANSLATED64_CFLAGS) -O2 $(FMA) -c $< -o $@

$(CPU_TEST)/bench: tests/cpu/bench.c $(CPU_LIB) $(CPU_TEST)/loops.bin $(CPU_TEST)/loops32_translation_0.c $(CPU_TEST)/loops_translation_0.o
	@mkdir -p $(@D)
	$(CC) $(TRANSLATED_CFLAGS) -c $(CPU_TEST)/loops32_translation_0.c -o $(CPU_TEST)/loops32_translation_0.o
	$(CC) $(TEST_CFLAGS) -Iruntime/emulator/cpu -Itests/cpu -DCPU_GUESTS='"$(CPU_TEST)"' $< $(CPU_TEST)/loops32_translation_0.o $(CPU_TEST)/loops_translation_0.o \
		-o $@ $(CPU_LIB) -lunicorn -lm -pthread

.PHONY: bench-cpu
bench-cpu: $(CPU_TEST)/bench
	$<

# The test of the firmware's image on its target (tests/target) once more. The emulated card interprets that image; here it
# is given the translation in the place of the shipped firmware's.
TARGET_TRANSLATION := $(addprefix $(CPU_TEST)/target_translation_,0 1 2 3)
$(addsuffix .c,$(TARGET_TRANSLATION)) &: $(TARGET)/target.elf $(RV2C)
	@mkdir -p $(CPU_TEST)
	$(RV2C) --files 4 $< $(CPU_TEST)/target_translation tutti_fw_translation

$(addsuffix .o,$(TARGET_TRANSLATION)): %.o: %.c $(wildcard runtime/emulator/cpu/*.h)
	$(CC) $(TRANSLATED_CFLAGS) -c $< -o $@

CPU_LOCKSTEP := $(CPU_TEST)/core_lockstep.o
$(CPU_LOCKSTEP): tests/cpu/core_lockstep.c $(wildcard runtime/emulator/cpu/*.h)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -Wno-missing-prototypes -Iruntime/emulator/cpu -c $< -o $@
$(CPU_TEST)/test_target_lockstep $(CPU_TEST)/lockstep_%: private LDFLAGS += \
	$(CPU_LOCKSTEP) -Wl,--wrap=cpu_create,--wrap=cpu_destroy,--wrap=cpu_run

$(CPU_TEST)/test_target_lockstep: $(CPU_LOCKSTEP)
$(CPU_TEST)/test_target_translated $(CPU_TEST)/test_target_lockstep: $(addsuffix .o,$(TARGET_TRANSLATION)) $(TARGET_HOST_OBJECTS) \
		$(FW_HOST) $(CARD_LIB) $(TARGET)/target.bin
	$(CC) $(filter-out $(CPU_LOCKSTEP),$(filter %.o,$^)) -o $@ $(LDFLAGS) $(TARGET_WRAP) $(FW_HOST) $(CARD_LIB) $(TEST_LIBS)

# Integration tests once more with the shipped firmware in lock step.
LOCKSTEPS := $(addprefix $(CPU_TEST)/lockstep_,aql cga condensed deterministic inject metadata task tensor)
$(LOCKSTEPS): $(CPU_TEST)/lockstep_%: test_%.c $(CPU_LOCKSTEP) $(INTEGRATION_HELP) $(RT_LIB) $(CARD_LIB)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $< $(INTEGRATION_HELP) -o $@ $(LDFLAGS) $(WITH_CARD) $(TEST_LIBS) -lcmocka

# A random program, interpreted and translated in lock step.
CPU_SEED ?= 1
$(CPU_TEST)/generate: tests/cpu/generate.c tests/cpu/stream.h tests/cpu/walks.h
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -Itests/cpu $< -o $@

$(CPU_TEST)/random.elf: $(CPU_TEST)/generate tests/cpu/random.ld
	$< $(CPU_SEED) > $(@:.elf=.s)
	$(CROSS)gcc -march=rv32imc_zicsr -mabi=ilp32 -nostdlib -Wl,-T,tests/cpu/random.ld,--no-warn-rwx-segments $(@:.elf=.s) -o $@
	$(CROSS)objcopy -O binary $@ $(@:.elf=.image)

$(CPU_TEST)/random_translation_0.c: $(CPU_TEST)/random.elf $(RV2C)
	$(RV2C) $< $(CPU_TEST)/random_translation random_translation

$(CPU_TEST)/lockstep: tests/cpu/lockstep.c $(CPU_TEST)/random_translation_0.c $(CPU_LIB)
	$(CC) $(TRANSLATED_CFLAGS) -c $(CPU_TEST)/random_translation_0.c -o $(CPU_TEST)/random_translation_0.o
	$(CC) $(TEST_CFLAGS) -Iruntime/emulator/cpu -Itests/cpu -DCPU_GUESTS='"$(CPU_TEST)"' $< $(CPU_TEST)/random_translation_0.o -o $@ $(LDFLAGS) $(CPU_LIB) -lm -pthread

# The same for a hart: floating point, atomics, memory in pieces, code that may be anywhere.
# And for loops that are done in chunks.
$(CPU_TEST)/random64.elf: CPU_KIND = 64
$(CPU_TEST)/random_walks.elf: CPU_KIND = walks
$(CPU_TEST)/random64.elf $(CPU_TEST)/random_walks.elf: $(CPU_TEST)/generate tests/cpu/random.ld
	$< $(CPU_SEED) $(CPU_KIND) > $(@:.elf=.s)
	$(CROSS)gcc -march=rv64imafdc_zicsr -mabi=lp64d -mno-relax -nostdlib -Wl,-T,tests/cpu/random.ld,--no-warn-rwx-segments $(@:.elf=.s) -o $@
	$(CROSS)objcopy -O binary $@ $(@:.elf=.image)
	$(CROSS)objcopy -O binary -j .text $@ $(@:.elf=.text)

$(CPU_TEST)/random64_translation_0.c $(CPU_TEST)/random_walks_translation_0.c: %_translation_0.c: %.elf $(RV2C)
	$(RV2C) --bare $(<:.elf=.text) $*_translation random_translation

$(CPU_TEST)/random64_translation_0.o $(CPU_TEST)/random_walks_translation_0.o: %.o: %.c $(wildcard runtime/emulator/cpu/*.h)
	$(CC) $(TRANSLATED64_CFLAGS) -c $< -o $@

LOCKSTEP64 := $(addprefix $(CPU_TEST)/,lockstep64 walks_lockstep)
$(CPU_TEST)/walks_lockstep: $(CPU_TEST)/random_walks_translation_0.o
$(CPU_TEST)/walks_lockstep: LOCKSTEP_FLAGS = -DLOCKSTEP_WALKS=1
$(CPU_TEST)/lockstep64: $(CPU_TEST)/random64_translation_0.o
$(LOCKSTEP64): tests/cpu/lockstep.c tests/cpu/walks.h $(CPU_LIB)
	$(CC) $(TEST_CFLAGS) -DLOCKSTEP_XLEN=64 $(LOCKSTEP_FLAGS) -Iruntime/emulator/cpu -Itests/cpu -DCPU_GUESTS='"$(CPU_TEST)"' $< $(filter %.o,$^) -o $@ $(LDFLAGS) $(CPU_LIB) -lm -pthread

TARGET_TESTS += $(addprefix $(CPU_TEST)/,test_target_translated test_target_lockstep lockstep) $(LOCKSTEP64) $(LOCKSTEPS)
