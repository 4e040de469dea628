# SPDX-License-Identifier: MIT
# Firmware: the RV32IMC image, and the same logic as a library for the host.

FW := $(OUT)/firmware
FW_UNITS := $(filter-out mkimage memory,$(basename $(notdir $(wildcard firmware/*.c))))
FW_CFLAGS = -march=rv32imc -mabi=ilp32 -mcmodel=medlow -std=gnu11 -O2 -ffreestanding -fno-builtin -nostdlib \
	-fno-schedule-insns -fno-strict-aliasing -ffunction-sections -fdata-sections -fomit-frame-pointer -msmall-data-limit=0 $(WARN) -Iinclude -Ifirmware
# what is not part of every kernel or tile: small rather than fast
FW_SMALL := agent barrier channel child crash diff kernel log split throttle timer tmd tmu window work
FW_SMALL += block descriptor request setup cga domain gpm mimic session
$(addprefix $(FW)/,$(addsuffix .o,$(FW_SMALL))): FW_CFLAGS += -Os -msave-restore
FW_OBJECTS := $(addprefix $(FW)/,start.o memory.o $(addsuffix .o,$(FW_UNITS)))
FW_HOST_OBJECTS := $(addprefix $(FW)/host/,$(addsuffix .o,$(FW_UNITS)) hal.o)

all: $(FW)/tutti-fw.bin $(FW)/host/libtutti-fw-host.a

$(FW)/%.o: firmware/%.c
	@mkdir -p $(@D)
	$(CROSS)gcc $(FW_CFLAGS) -MMD -c $< -o $@

$(FW)/%.o: firmware/%.S
	@mkdir -p $(@D)
	$(CROSS)gcc -march=rv32imc_zicsr -mabi=ilp32 -MMD -c $< -o $@

$(FW)/tutti-fw.elf: $(FW_OBJECTS) firmware/link.ld
	$(CROSS)gcc -march=rv32imc -mabi=ilp32 -nostdlib -Wl,--gc-sections,-T,firmware/link.ld,--no-warn-rwx-segments \
		$(FW_OBJECTS) -lgcc -o $@

$(FW)/mkimage: firmware/mkimage.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $< -o $@ -lelf

$(FW)/tutti-fw.bin: $(FW)/tutti-fw.elf $(FW)/mkimage
	$(FW)/mkimage $< $@

$(FW)/host/%.o: firmware/%.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -fno-strict-aliasing -Ifirmware -MMD -c $< -o $@

$(FW)/host/hal.o: firmware/host/hal.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -fno-strict-aliasing -Ifirmware -MMD -c $< -o $@

$(FW)/host/libtutti-fw-host.a: $(FW_HOST_OBJECTS)
	@rm -f $@
	ar rcs $@ $^

-include $(wildcard $(FW)/*.d $(FW)/host/*.d)
