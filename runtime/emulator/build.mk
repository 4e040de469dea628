# SPDX-License-Identifier: MIT
# The emulated card as a library. Users link build/libtutti-card.a with $(CARD_LIBS).

CARD_FOLDERS := card unicorn engines sm launch cga
CARD_SRC := $(wildcard $(CARD_FOLDERS:%=runtime/emulator/%/*.c))
CARD_OBJ := $(CARD_SRC:%.c=$(OUT)/%.o)
CARD_LIB := $(OUT)/libtutti-card.a
CARD_LIBS := -lunicorn -pthread -ldl

# The current fiber and the clock's anchor are thread-local and hot: no call to find them, in a shared library either.
CARD_CFLAGS := -D_GNU_SOURCE -ftls-model=initial-exec

all: $(CARD_LIB)

$(CARD_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $(CARD_CFLAGS) -MMD -MP -c -o $@ $<

$(CARD_LIB): $(CARD_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

-include $(CARD_OBJ:.o=.d)
