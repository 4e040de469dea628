# SPDX-License-Identifier: MIT
# Fuzz targets (REL-01), by clang's libFuzzer with ASan and UBSan. `make fuzz FUZZ_SECONDS=600` for longer.

FUZZ := $(OUT)/tests/fuzz
FUZZ_CC := clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -std=gnu11 -D_GNU_SOURCE \
	-fno-strict-aliasing -Wno-address-of-packed-member -Iinclude -Iruntime -Ifirmware
FUZZ_BINS := $(addprefix $(FUZZ)/,fuzz_code_object fuzz_image fuzz_topology fuzz_firmware fuzz_fw_packet fuzz_fw_tensor)

$(FUZZ)/fuzz_code_object: tests/fuzz/fuzz_code_object.c runtime/code/elf_check.c runtime/code/elf_check.h
$(FUZZ)/fuzz_image: tests/fuzz/fuzz_image.c runtime/image/image.c runtime/emulator/card/firmware_load.c
$(FUZZ)/fuzz_topology: tests/fuzz/fuzz_topology.c runtime/emulator/base/config.c

# The firmware is one object whose variables lie in sections of their own: the fuzzer puts them back before each
# input, as a boot does on the card by loading the image. The card's memory is left out: hal_host_reset() clears it.
FUZZ_FW := $(patsubst %,$(FUZZ)/fw/%.o,$(FW_UNITS) $(FW_HOST_UNITS))
$(FUZZ)/fw/%.o: firmware/%.c
	@mkdir -p $(@D)
	$(FUZZ_CC:-fsanitize=fuzzer,%=-fsanitize=fuzzer-no-link,%) -MMD -MP -c $< -o $@
FUZZ_HAL := $(filter $(FUZZ)/fw/core/host/%,$(FUZZ_FW))
$(FUZZ)/firmware.o: $(filter-out $(FUZZ_HAL),$(FUZZ_FW))
	ld -r $^ -o $@.all
	objcopy --set-section-flags .bss=alloc,load,contents,data --rename-section .bss=fw_bss --rename-section .data=fw_data \
		$@.all $@
$(FUZZ)/fuzz_firmware: tests/fuzz/fuzz_firmware.c $(FUZZ)/firmware.o $(FUZZ_HAL)
$(FUZZ)/fuzz_fw_packet: tests/fuzz/fuzz_fw_packet.c $(FUZZ_FW)
$(FUZZ)/fuzz_fw_tensor: tests/fuzz/fuzz_fw_tensor.c $(FUZZ)/firmware.o $(FUZZ_HAL)
-include $(wildcard $(FUZZ)/fw/*/*.d $(FUZZ)/fw/*/*/*.d)

$(FUZZ_BINS):
	@mkdir -p $(@D)
	$(FUZZ_CC) $(filter-out %/firmware_load.c,$(filter %.c %.o,$^)) -o $@ -lz

fuzz: FUZZ_SECONDS = 60
fuzz: $(FUZZ_BINS)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) $(PROVE) -v tests/fuzz/run.sh
