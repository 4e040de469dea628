# SPDX-License-Identifier: MIT
# The emulated card: an archive for programs that hold it themselves ($(CARD_LIB), with $(CARD_LIBS)), and the plug-in
# that libtutti.so.0 opens. Both are the same sources.

CARD_FOLDERS := base translated core memory sm hart waves launch engines card plugin
CARD_SRC := $(wildcard $(CARD_FOLDERS:%=runtime/emulator/%/*.c))
CARD_OBJ := $(CARD_SRC:%.c=$(OUT)/%.o)
CARD_LIB := $(OUT)/libtutti-card.a
CARD_PLUGIN := $(OUT)/libtutti-card.so.0
CARD_LIBS := $(OUT)/libtutti-image.a -lz -pthread -ldl -lm

# The clock's anchor is thread-local and hot: no call to find it, in the plug-in either. That takes
# room in the static TLS block, of which a library that is opened late gets little: keep thread-local variables small.
CARD_CFLAGS := -D_GNU_SOURCE -ftls-model=initial-exec $(CPU_CFLAGS)

all: $(CARD_LIB) $(CARD_PLUGIN)

$(CARD_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $(CARD_CFLAGS) -MMD -MP -c -o $@ $<

# The translator of kernels carries the header that its output includes, all of it in one, and knows when it has changed.
TRANSLATED := $(OUT)/runtime/emulator/translated
TRANSLATED_PARTS := $(addprefix runtime/emulator/cpu/,cpu.h insn.h machine.h translation.h generated.h generated_real.h generated_chunk.h)
TRANSLATE_OBJ := $(filter-out %/rv2c.o %/elf.o,$(RV2C_OBJ))

$(TRANSLATED)/header.h: $(TRANSLATED_PARTS)
	@mkdir -p $(@D)
	sed '/^#include "/d' $^ > $@

$(TRANSLATED)/translated_version.h: $(TRANSLATED)/header.h $(RV2C_SRC) $(wildcard runtime/emulator/cpu/translate/*.h)
	cat $(sort $^) | cksum | sed 's/ /-/; s/.*/#define TRANSLATED_VERSION "&"/' > $@

$(TRANSLATED)/source.o: $(TRANSLATED)/header.h $(TRANSLATED)/translated_version.h
$(TRANSLATED)/source.o: CARD_CFLAGS += -I$(TRANSLATED) -DTRANSLATED_HEADER='"$(TRANSLATED)/header.h"'

# The check of firmware images, which libtutti has inside as well: an archive of its own, so that it is taken only where
# it is missing.
$(OUT)/libtutti-image.a: $(OUT)/runtime/image/image.o
	@rm -f $@
	$(AR) rcs $@ $^

# The shipped firmware images, translated to C. TRANSLATE=no leaves them out, so that they are interpreted: for who changes
# the firmware again and again and does not want to wait for the compiler.
TRANSLATE ?= yes
FW_TRANSLATED := $(OUT)/firmware/translated
FW_PARTS := 0 1 2 3 4 5
ifeq ($(TRANSLATE),yes)
CARD_TRANSLATION := $(foreach image,tutti-fw tutti-fw-large,$(FW_PARTS:%=$(FW_TRANSLATED)/$(image)_%.o))
endif

# How it was built last, so that a change of TRANSLATE is seen.
TRANSLATE_WAS := $(FW_TRANSLATED)/was
ifneq ($(file <$(TRANSLATE_WAS)),$(TRANSLATE))
$(shell mkdir -p $(FW_TRANSLATED) && echo $(TRANSLATE) > $(TRANSLATE_WAS))
endif

$(foreach part,$(FW_PARTS),$(FW_TRANSLATED)/%_$(part).c): $(OUT)/firmware/%.elf $(RV2C)
	@mkdir -p $(@D)
	$(RV2C) --files $(words $(FW_PARTS)) $< $(FW_TRANSLATED)/$* $(subst -,_,$*)_translation

$(CARD_TRANSLATION): %.o: %.c $(wildcard runtime/emulator/cpu/*.h)
	$(CC) $(TRANSLATED_CFLAGS) -c $< -o $@

.SECONDARY: $(CARD_TRANSLATION:.o=.c)

$(CARD_LIB): $(CARD_OBJ) $(CPU_OBJ) $(TRANSLATE_OBJ) $(CARD_TRANSLATION) $(TRANSLATE_WAS) | $(OUT)/libtutti-image.a
	@rm -f $@
	$(AR) rcs $@ $(filter %.o,$^)

# What runs with each kernel is optimised as a whole in the plug-in and in the benchmark, where compiler and linker can do
# that (lto.sh), which spares a twelfth of what is executed for an empty one. Tests take the archive, whose parts they replace.
LTO_CAN := $(OUT)/lto/can
ifeq ($(wildcard $(LTO_CAN))$(filter clean help packages uninstall,$(GOALS)),)
$(shell mkdir -p $(OUT)/lto && runtime/emulator/lto.sh $(CC) $(CFLAGS) $(filter -f%,$(LDFLAGS)) > $(LTO_CAN))
endif
LTO ?= $(file <$(LTO_CAN))
ifeq ($(LTO),yes)
LTO_FLAGS := -flto=auto
LTO_SRC := $(filter-out runtime/emulator/translated/%,$(CARD_SRC)) $(CPU_SRC)
LTO_OBJ := $(LTO_SRC:%.c=$(OUT)/lto/%.o)
endif

$(LTO_OBJ): $(OUT)/lto/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $(CARD_CFLAGS) $(CPU_EXTRA) $(LTO_FLAGS) -MMD -MP -c -o $@ $<

CARD_WHOLE := $(LTO_OBJ) $(filter-out $(LTO_SRC:%.c=$(OUT)/%.o),$(CARD_OBJ) $(CPU_OBJ)) $(TRANSLATE_OBJ) $(CARD_TRANSLATION)

# Undefined symbols are errors here, and nothing but the table is exported, see plugin.map.
$(CARD_PLUGIN): $(CARD_WHOLE) $(TRANSLATE_WAS) $(OUT)/libtutti-image.a runtime/emulator/plugin/plugin.map
	$(CC) $(HOST_CFLAGS) $(CARD_CFLAGS) $(LTO_FLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script=runtime/emulator/plugin/plugin.map \
		-Wl,-z,defs $(LDFLAGS) -o $@ $(CARD_WHOLE) $(CARD_LIBS)

-include $(CARD_OBJ:.o=.d) $(LTO_OBJ:.o=.d)
