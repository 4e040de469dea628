# SPDX-License-Identifier: MIT
# $(OUT)/tutti-card: the emulated card as a process, for QEMU. See runtime/tutti-card/README.md.

CARD_PROCESS_SRC := $(wildcard runtime/tutti-card/*.c)
CARD_PROCESS_OBJ := $(CARD_PROCESS_SRC:%.c=$(OUT)/%.o)

all: $(OUT)/tutti-card

$(CARD_PROCESS_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

# Whole archive: nothing but weak references asks for the translated firmware.
$(OUT)/tutti-card: $(CARD_PROCESS_OBJ) $(CARD_LIB)
	$(CC) $(HOST_CFLAGS) $(CARD_PROCESS_OBJ) -o $@ $(LDFLAGS) -Wl,--whole-archive $(CARD_LIB) -Wl,--no-whole-archive \
		$(CARD_LIBS)

-include $(CARD_PROCESS_OBJ:.o=.d)
