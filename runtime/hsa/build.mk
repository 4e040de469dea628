# SPDX-License-Identifier: MIT
# libhsa-runtime64.so.1, in a folder of its own, so that it never takes the place of another one by accident.

HSA := $(OUT)/hsa
HSA_SOURCES := $(filter-out runtime/hsa/examples/%,$(sort $(wildcard runtime/hsa/*/*.c)))
HSA_OBJECTS := $(HSA_SOURCES:%.c=$(OUT)/%.o)

HSA_EXAMPLES := $(addprefix $(HSA)/examples/,vector_copy barrier_graph async_copy callbacks)

# Only who has HSA's headers (Debian's libhsa-runtime-dev) gets it; tests install them.
ifneq ($(wildcard /usr/include/hsa/hsa_ext_amd.h),)
HSA_FILES := $(HSA)/libhsa-runtime64.so.1 $(HSA)/tutti-hsa.pc
all: $(HSA_FILES) $(HSA_EXAMPLES) $(HSA)/examples/kernels.tco
endif

# Debian's headers declare functions without arguments in the old way and use values beside those of their enumerations.
$(HSA_OBJECTS): HOST_CFLAGS += -Wno-strict-prototypes -Wno-missing-prototypes -Wno-switch
$(HSA_OBJECTS): $(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

# Uses libtutti as any program does. It is found one folder up, in the build tree, or two, where it is installed. Packages
# need no such path.
HSA_RPATH ?= -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..'
$(HSA)/libhsa-runtime64.so.1: $(HSA_OBJECTS) runtime/hsa/libhsa.map $(OUT)/libtutti.so.0
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libhsa-runtime64.so.1 -Wl,--version-script=runtime/hsa/libhsa.map -Wl,-Bsymbolic-functions \
		-Wl,-z,defs $(HSA_RPATH) $(LDFLAGS) -o $@ $(HSA_OBJECTS) -L$(OUT) -ltutti -pthread
	ln -sf libhsa-runtime64.so.1 $(HSA)/libhsa-runtime64.so

# As tutti.pc: the prefix is found from where the file lies, and it is made anew each time.
.PHONY: $(HSA)/tutti-hsa.pc
$(HSA)/tutti-hsa.pc: runtime/hsa/tutti-hsa.pc.in
	@mkdir -p $(@D)
	sed -e 's|@UP@|$(PC_UP)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=%)|' -e 's|@VERSION@|$(LIBTUTTI_VERSION)|' $< > $@

# Compiled as the programs of strangers are: with the headers of HSA and with nothing of Tutti's.
$(HSA_EXAMPLES): $(HSA)/examples/%: runtime/hsa/examples/%.c runtime/hsa/examples/example.c runtime/hsa/examples/example.h \
		$(HSA)/libhsa-runtime64.so.1
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) -Wall -Wextra $(ERROR) $(filter %.c,$^) -o $@ $(LDFLAGS) -L$(HSA) \
		-lhsa-runtime64 -Wl,-rpath-link,$(OUT)

$(HSA)/examples/kernels.tco: runtime/hsa/examples/kernels.c $(TUTTIC_DEPS)
	@mkdir -p $(@D)
	$(TUTTIC) -Wextra $(ERROR) -o $@ $<

-include $(HSA_OBJECTS:.o=.d)
