# SPDX-License-Identifier: MIT
# The processor of the emulated card, a library of its own: it knows nothing of Tutti.

CPU_SRC := $(wildcard runtime/emulator/cpu/*.c)
CPU_OBJ := $(CPU_SRC:%.c=$(OUT)/%.o)
CPU_LIB := $(OUT)/libtutti-cpu.a

$(CPU_LIB): $(CPU_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

# Functions of the card and its processor cannot be replaced by a program's own, so calls need no indirection. Both have the
# same floating point, since either may become part of the other.
CPU_CFLAGS := -fvisibility=hidden -ffp-contract=off -fno-math-errno

# An optimized interpreter needs the jumps at the end of each instruction kept apart.
$(OUT)/runtime/emulator/cpu/interpret%.o $(OUT)/lto/runtime/emulator/cpu/interpret%.o: \
	CPU_EXTRA = $(if $(findstring clang,$(CC)),,-fno-gcse -fno-crossjumping)

$(CPU_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $(CPU_CFLAGS) $(CPU_EXTRA) -MMD -MP -c -o $@ $<

-include $(CPU_OBJ:.o=.d)

# rv2c, and how what it writes is compiled
RV2C := $(OUT)/rv2c
RV2C_SRC := $(wildcard runtime/emulator/cpu/translate/*.c)
RV2C_OBJ := $(RV2C_SRC:%.c=$(OUT)/%.o)
# -O1 takes half the time of -O2 and what it makes is as fast
TRANSLATED_CFLAGS = -O1 -w -fPIC -fno-strict-aliasing -Iruntime/emulator/cpu

# Kernels: no header but the compiler's own is needed, so that it is the same at run time.
TRANSLATED64_CFLAGS = $(TRANSLATED_CFLAGS) -ffreestanding -fno-math-errno -ffp-contract=off -fno-stack-protector

$(RV2C): $(RV2C_OBJ) $(addprefix $(OUT)/runtime/emulator/cpu/,decode.o decode_short.o)
	$(CC) $^ -o $@ $(LDFLAGS) -lelf

$(RV2C_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -D_GNU_SOURCE -MMD -MP -c -o $@ $<

-include $(RV2C_OBJ:.o=.d)
