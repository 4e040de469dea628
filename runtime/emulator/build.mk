# SPDX-License-Identifier: MIT
# The emulated card: an archive for programs that hold it themselves ($(CARD_LIB), with $(CARD_LIBS)), and the plug-in
# that libtutti.so.0 opens. Both are the same objects.

CARD_FOLDERS := base memory sm unicorn waves launch engines card plugin
CARD_SRC := $(wildcard $(CARD_FOLDERS:%=runtime/emulator/%/*.c))
CARD_OBJ := $(CARD_SRC:%.c=$(OUT)/%.o)
CARD_LIB := $(OUT)/libtutti-card.a
CARD_PLUGIN := $(OUT)/libtutti-card.so.0
CARD_LIBS := $(OUT)/libtutti-image.a -lunicorn -lz -pthread -ldl -lm

# The current fiber and the clock's anchor are thread-local and hot: no call to find them, in the plug-in either. That takes
# room in the static TLS block, of which a library that is opened late gets little: keep thread-local variables small.
CARD_CFLAGS := -D_GNU_SOURCE -ftls-model=initial-exec

all: $(CARD_LIB) $(CARD_PLUGIN)

$(CARD_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $(CARD_CFLAGS) -MMD -MP -c -o $@ $<

# The check of firmware images, which libtutti has inside as well: an archive of its own, so that it is taken only where
# it is missing.
$(OUT)/libtutti-image.a: $(OUT)/runtime/image/image.o
	@rm -f $@
	$(AR) rcs $@ $^

$(CARD_LIB): $(CARD_OBJ) | $(OUT)/libtutti-image.a
	@rm -f $@
	$(AR) rcs $@ $^

# Undefined symbols are errors here, and nothing but the table is exported, see plugin.map.
$(CARD_PLUGIN): $(CARD_OBJ) $(OUT)/libtutti-image.a runtime/emulator/plugin/plugin.map
	$(CC) -shared -Wl,-soname,$(@F) -Wl,--version-script=runtime/emulator/plugin/plugin.map -Wl,-z,defs $(LDFLAGS) \
		-o $@ $(CARD_OBJ) $(CARD_LIBS)

-include $(CARD_OBJ:.o=.d)
