# SPDX-License-Identifier: MIT
# On-target tests (REL-02): the firmware's own RV32 objects, main() of main.o renamed, a runner in its place.

TARGET := $(T)/target
TARGET_UNITS := check basic lake decode tensor
TARGET_TESTS := $(TARGET)/test_target
TARGET_OBJECTS := $(addprefix $(TARGET)/rv32/,$(addsuffix .o,runner $(TARGET_UNITS)))
TARGET_HOST_OBJECTS := $(addprefix $(TARGET)/host/,$(addsuffix .o,test_target $(TARGET_UNITS)))

$(TARGET)/rv32/%.o: tests/target/%.c
	@mkdir -p $(@D)
	$(CROSS)gcc $(FW_CFLAGS) -Os -Itests/target -MMD -MP -c $< -o $@

$(TARGET)/rv32/firmware.o: $(FW)/top/main.o
	@mkdir -p $(@D)
	$(CROSS)objcopy --redefine-sym main=firmware_main $< $@

# Tests of mover descriptors look at them before movers would (tensor.c).
TARGET_WRAP := -Wl,--wrap=plain_written,--wrap=tmau_run

# Tests and firmware together are more than 256 KiB.
$(TARGET)/link.ld: firmware/core/link.ld
	@mkdir -p $(@D)
	sed 's/LENGTH = 256K/LENGTH = 512K/' $< > $@

$(TARGET)/target.elf: $(FW_OBJECTS) $(TARGET_OBJECTS) $(TARGET)/rv32/firmware.o $(TARGET)/link.ld
	$(CROSS)gcc -march=rv32imc -mabi=ilp32 -nostdlib $(TARGET_WRAP) -Wl,--defsym=stack_bytes=16K-256,--gc-sections,-T,$(TARGET)/link.ld,--no-warn-rwx-segments \
		$(filter-out %/top/main.o %/link.ld,$^) -lgcc -o $@

$(TARGET)/target.bin: $(TARGET)/target.elf $(FW)/mkimage
	$(FW)/mkimage $< $@

$(TARGET)/host/%.o: tests/target/%.c
	@mkdir -p $(@D)
	$(CC) -Ifirmware -Itests/target $(TEST_CFLAGS) -fno-strict-aliasing -MMD -MP -c $< -o $@

$(TARGET)/test_target: $(TARGET_HOST_OBJECTS) $(FW_HOST) $(CARD_LIB) $(TARGET)/target.bin
	$(CC) $(TARGET_HOST_OBJECTS) -o $@ $(LDFLAGS) $(TARGET_WRAP) $(FW_HOST) $(call whole,$(CARD_LIB)) $(TEST_LIBS)

-include $(wildcard $(TARGET)/*/*.d)
