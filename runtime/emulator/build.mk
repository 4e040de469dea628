# SPDX-License-Identifier: MIT
# The emulated card as a library. Users link build/libtutti-card.a with $(CARD_LIBS).

CARD_SRC := $(wildcard runtime/emulator/*.c)
CARD_OBJ := $(CARD_SRC:%.c=$(OUT)/%.o)
CARD_LIB := $(OUT)/libtutti-card.a
CARD_LIBS := -lunicorn -pthread -ldl

all: $(CARD_LIB)

$(CARD_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -D_GNU_SOURCE -MMD -MP -c -o $@ $<

$(CARD_LIB): $(CARD_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

-include $(CARD_OBJ:.o=.d)
