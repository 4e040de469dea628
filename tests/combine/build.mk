# SPDX-License-Identifier: MIT
# Combinations of features against the host build of the firmware (REL-10). `make combine SECONDS=600 SEED=...` for longer.

COMBINE := $(T)/combine
COMBINE_CFLAGS = $(HOST_CFLAGS) -D_GNU_SOURCE -Ifirmware -iquote tests/combine -Itests/unit/firmware -Iruntime/emulator/cpu \
	-DCOMBINE_IMAGES='"$(FW)"' -fno-strict-aliasing
COMBINE_OBJECTS := $(patsubst tests/combine/%.c,$(COMBINE)/%.o,$(wildcard tests/combine/*.c tests/combine/*/*.c))
COMBINE_HOST_OBJECTS := $(COMBINE)/backend/host.o
COMBINE_IMAGE_OBJECTS := $(addprefix $(COMBINE)/backend/,image.o cost.o)
COMBINE_FW := $(patsubst %,$(COMBINE)/fw/%.o,$(FW_UNITS))

# The firmware is one object whose variables lie in sections of their own, so that they can be put back as a boot finds
# them; of its symbols only those of the host's HAL can be seen. It counts the basic blocks it runs.
$(COMBINE)/fw/%.o: firmware/%.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -fno-strict-aliasing -fsanitize-coverage=trace-pc -Ifirmware -MMD -MP -c $< -o $@
$(COMBINE)/host/%.o: firmware/%.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -fno-strict-aliasing -Ifirmware -MMD -MP -c $< -o $@
$(COMBINE)/firmware_all.o: $(COMBINE_FW)
	$(LD) -r $^ -o $@.all
	objcopy --set-section-flags .bss=alloc,load,contents,data --rename-section .bss=fw_bss --rename-section .data=fw_data \
		$@.all $@
$(COMBINE)/firmware.o: $(COMBINE)/firmware_all.o $(FW_HOST_UNITS:%=$(COMBINE)/host/%.o)
	$(LD) -r $^ -o $@.all
	objcopy -w -G 'hal_host*' $@.all $@
$(COMBINE_OBJECTS): $(COMBINE)/%.o: tests/combine/%.c
	@mkdir -p $(@D)
	$(CC) $(COMBINE_CFLAGS) -MMD -MP -c $< -o $@
$(COMBINE)/combine: $(filter-out $(COMBINE_IMAGE_OBJECTS),$(COMBINE_OBJECTS)) $(COMBINE)/firmware.o
	$(CC) $(HOST_CFLAGS) $^ -o $@ $(LDFLAGS)
# The same with the images that are shipped, and the card's model of a processor.
$(COMBINE)/combine-image: $(filter-out $(COMBINE_HOST_OBJECTS),$(COMBINE_OBJECTS)) $(COMBINE)/host/core/host/discovery.o \
		$(CARD_TRANSLATION) $(CPU_LIB) | $(FW)/tutti-fw.bin $(FW)/tutti-fw-large.bin
	$(CC) $(HOST_CFLAGS) $^ -o $@ $(LDFLAGS) -lm -pthread
-include $(COMBINE_OBJECTS:.o=.d) $(wildcard $(COMBINE)/host/*/host/*.d $(COMBINE)/fw/*/*.d)

SECONDS ?= 600
.PHONY: combine
combine: $(COMBINE)/combine
	$(COMBINE)/combine --seconds $(SECONDS) --seed $(or $(SEED),$(shell date +%s)) --known tests/combine/known --table
