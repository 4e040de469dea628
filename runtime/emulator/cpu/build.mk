# SPDX-License-Identifier: MIT
# The processor of the emulated card, a library of its own: it knows nothing of Tutti.

CPU_SRC := $(wildcard runtime/emulator/cpu/*.c)
CPU_OBJ := $(CPU_SRC:%.c=$(OUT)/%.o)
CPU_LIB := $(OUT)/libtutti-cpu.a

$(CPU_LIB): $(CPU_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

# An optimized interpreter needs the jumps at the end of each instruction kept apart.
$(OUT)/runtime/emulator/cpu/interpret%.o: CPU_EXTRA = -fno-gcse -fno-crossjumping

$(CPU_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -ffp-contract=off $(if $(findstring clang,$(CC)),,$(CPU_EXTRA)) -MMD -MP -c -o $@ $<

-include $(CPU_OBJ:.o=.d)
