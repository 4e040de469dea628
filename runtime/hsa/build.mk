# SPDX-License-Identifier: MIT
# libhsa-runtime64.so.1, in a folder of its own, so that it never takes the place of another one by accident.

HSA := $(OUT)/hsa
HSA_SOURCES := $(sort $(wildcard runtime/hsa/*/*.c))
HSA_OBJECTS := $(HSA_SOURCES:%.c=$(OUT)/%.o)

# Only who has HSA's headers (Debian's libhsa-runtime-dev) gets it; tests install them.
ifneq ($(wildcard /usr/include/hsa/hsa_ext_amd.h),)
all: $(HSA)/libhsa-runtime64.so.1 $(HSA)/tutti-hsa.pc
endif

# Debian's headers declare functions without arguments in the old way and use values beside those of their enumerations.
$(HSA_OBJECTS): HOST_CFLAGS += -Wno-strict-prototypes -Wno-missing-prototypes -Wno-switch
$(HSA_OBJECTS): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

# Uses libtutti as any program does. It is found one folder up, in the build tree, or two, where it is installed.
$(HSA)/libhsa-runtime64.so.1: $(HSA_OBJECTS) runtime/hsa/libhsa.map $(OUT)/libtutti.so.0
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libhsa-runtime64.so.1 -Wl,--version-script=runtime/hsa/libhsa.map -Wl,-Bsymbolic-functions \
		-Wl,-z,defs -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..' $(LDFLAGS) -o $@ $(HSA_OBJECTS) -L$(OUT) -ltutti -pthread
	ln -sf libhsa-runtime64.so.1 $(HSA)/libhsa-runtime64.so

$(HSA)/tutti-hsa.pc: runtime/hsa/tutti-hsa.pc.in
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=%)|' -e 's|@VERSION@|$(LIBTUTTI_VERSION)|' $< > $@

-include $(HSA_OBJECTS:.o=.d)
