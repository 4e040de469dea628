# SPDX-License-Identifier: MIT
# libtutti, shared and static, with the emulated card inside.

-include runtime/emulator/build.mk

RUNTIME_FOLDERS := device memory code queue record packet observe transport transport/bare
RUNTIME_SRC := $(sort $(wildcard $(RUNTIME_FOLDERS:%=runtime/%/*.c)))
RUNTIME_OBJ := $(RUNTIME_SRC:%.c=$(OUT)/%.o)
RUNTIME_LIBS := -lunicorn -ldl -lm -pthread
LIBTUTTI_VERSION := 0.1

$(RUNTIME_OBJ): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(OUT)/runtime/transport/drm.o: private HOST_CFLAGS += -I/usr/include/libdrm

# Whole archive: nothing refers to the emulator's unicorn/store_speed.o but libunicorn, at run time.
$(OUT)/libtutti.so.0: $(RUNTIME_OBJ) $(OUT)/libtutti-card.a runtime/libtutti.map
	$(CC) -shared -Wl,-soname,libtutti.so.0 -Wl,--version-script=runtime/libtutti.map -Wl,-Bsymbolic-functions \
		-Wl,-z,defs $(LDFLAGS) -o $@ $(RUNTIME_OBJ) -Wl,--whole-archive $(OUT)/libtutti-card.a \
		-Wl,--no-whole-archive $(RUNTIME_LIBS)
	ln -sf libtutti.so.0 $(OUT)/libtutti.so

$(OUT)/libtutti.a: $(RUNTIME_OBJ) $(OUT)/libtutti-card.a
	rm -f $@
	printf 'create %s\naddlib %s\n' $@ $(OUT)/libtutti-card.a > $@.mri
	printf 'addmod %s\n' $(RUNTIME_OBJ) >> $@.mri
	printf 'save\nend\n' >> $@.mri
	$(AR) -M < $@.mri

$(OUT)/tutti.pc: runtime/tutti.pc.in
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|/usr/local|' -e 's|@LIBDIR@|lib|' -e 's|@VERSION@|$(LIBTUTTI_VERSION)|' $< > $@

all: $(OUT)/libtutti.so.0 $(OUT)/libtutti.a $(OUT)/tutti.pc

-include runtime/tutti-card/build.mk runtime/kernel-sdk/build.mk runtime/examples/build.mk runtime/tools/build.mk
-include $(RUNTIME_OBJ:.o=.d)
