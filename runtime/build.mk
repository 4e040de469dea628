# SPDX-License-Identifier: MIT
# libtutti, shared and static. The emulated card is a plug-in beside it.

-include runtime/emulator/cpu/build.mk runtime/emulator/build.mk

RUNTIME_FOLDERS := base image packet device memory code queue record launch observe transport transport/bare transport/drm transport/xrt open
RUNTIME_SRC := $(sort $(wildcard $(RUNTIME_FOLDERS:%=runtime/%/*.c)))
RUNTIME_OBJ := $(RUNTIME_SRC:%.c=$(OUT)/%.o)
RUNTIME_LIBS := -lz -ldl -lm -pthread
LIBTUTTI_VERSION := 0.1

# Where `make install` puts things, and where the library looks for them when they are not beside it.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
# from LIBDIR/pkgconfig to PREFIX: one ".." for each folder between them
empty :=
PC_UP = $(subst $(empty) ,/,$(patsubst %,..,$(subst /, ,$(LIBDIR:$(PREFIX)/%=%)/pkgconfig)))

# What a program links that holds the emulated card instead of opening the plug-in. Whole archives: the library
# refers to the card's table only weakly.
WITH_CARD = -Wl,--whole-archive $(OUT)/libtutti.a $(CARD_LIB) -Wl,--no-whole-archive $(CARD_LIBS)

$(RUNTIME_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(OUT)/runtime/transport/drm/%.o: HOST_CFLAGS += -I/usr/include/libdrm
$(OUT)/runtime/transport/card_plugin.o: private HOST_CFLAGS += -DTUTTI_LIBDIR='"$(LIBDIR)"'

# Exports exactly what libtutti.map lists: tests/load compares the list with the public headers.
$(OUT)/libtutti.so.0: $(RUNTIME_OBJ) runtime/libtutti.map
	$(CC) -shared -Wl,-soname,libtutti.so.0 -Wl,--version-script=runtime/libtutti.map -Wl,-Bsymbolic-functions \
		-Wl,-z,defs $(LDFLAGS) -o $@ $(RUNTIME_OBJ) $(RUNTIME_LIBS)
	ln -sf libtutti.so.0 $(OUT)/libtutti.so

$(OUT)/libtutti.a: $(RUNTIME_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

# The prefix is found from where the file lies. Made anew each time, since it depends on variables.
.PHONY: $(OUT)/tutti.pc
$(OUT)/tutti.pc: runtime/tutti.pc.in
	@mkdir -p $(@D)
	sed -e 's|@UP@|$(PC_UP)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=%)|' -e 's|@VERSION@|$(LIBTUTTI_VERSION)|' $< > $@

all: $(OUT)/libtutti.so.0 $(OUT)/libtutti.a $(OUT)/tutti.pc

-include runtime/tutti-card/build.mk runtime/kernel-sdk/build.mk runtime/examples/build.mk runtime/tools/build.mk runtime/packages/build.mk runtime/hsa/build.mk
-include $(RUNTIME_OBJ:.o=.d)
