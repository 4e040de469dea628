# SPDX-License-Identifier: MIT
# Fuzz targets (REL-01), by clang's libFuzzer with ASan and UBSan. `make fuzz FUZZ_SECONDS=600` for longer.

FUZZ := $(OUT)/tests/fuzz
FUZZ_CC := clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -std=gnu11 -D_GNU_SOURCE \
	-fno-strict-aliasing -Wno-address-of-packed-member -Iinclude -Iruntime -Iruntime/emulator -Ifirmware
FUZZ_BINS := $(addprefix $(FUZZ)/,fuzz_code_object fuzz_image fuzz_topology fuzz_firmware)

$(FUZZ)/fuzz_code_object: tests/fuzz/fuzz_code_object.c runtime/elf_check.c runtime/elf_check.h
$(FUZZ)/fuzz_image: tests/fuzz/fuzz_image.c runtime/emulator/loader.c
$(FUZZ)/fuzz_topology: tests/fuzz/fuzz_topology.c runtime/emulator/config.c
$(FUZZ)/fuzz_firmware: tests/fuzz/fuzz_firmware.c $(addprefix firmware/,$(addsuffix .c,$(FW_UNITS))) firmware/host/hal.c

$(FUZZ_BINS):
	@mkdir -p $(@D)
	$(FUZZ_CC) $(filter-out %/loader.c,$(filter %.c,$^)) -o $@

fuzz: FUZZ_SECONDS = 60
fuzz: $(FUZZ_BINS)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) $(PROVE) -v tests/fuzz/run.sh
