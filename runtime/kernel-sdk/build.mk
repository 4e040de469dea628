# SPDX-License-Identifier: MIT
# tuttic, the device header and the device library. $(DEVICE_HOME) looks like an installed tree.

DEVICE_HOME := $(OUT)/device
DEVICE_LIB := $(DEVICE_HOME)/lib/tutti
DEVICE_HEADERS := $(patsubst include/%,$(DEVICE_HOME)/include/%,$(wildcard include/tutti/*.h)) \
	$(patsubst runtime/kernel-sdk/%,$(DEVICE_HOME)/%,$(wildcard runtime/kernel-sdk/include/tutti/*.h))
TUTTIC := $(OUT)/tuttic
# What every code object depends on.
TUTTIC_DEPS := $(TUTTIC) $(DEVICE_LIB)/tutti.ld $(DEVICE_LIB)/note.o $(DEVICE_LIB)/libtutti-device.a $(DEVICE_HEADERS)

DEVICE_CFLAGS := --specs=picolibc.specs -march=rv64imafd -mabi=lp64d -mcmodel=medany -mno-relax -fpie -O2 -Wall -Wextra \
	$(ERROR) -fno-common -fno-math-errno -fno-asynchronous-unwind-tables -fno-stack-protector -ffunction-sections \
	-fdata-sections -isystem $(DEVICE_HOME)/include

.PHONY: device
device: $(TUTTIC_DEPS)
all: device

$(DEVICE_HOME)/include/tutti/%.h: runtime/kernel-sdk/include/tutti/%.h
	@mkdir -p $(@D)
	cp $< $@

$(DEVICE_HOME)/include/tutti/%.h: include/tutti/%.h
	@mkdir -p $(@D)
	cp $< $@

$(DEVICE_LIB)/tutti.ld: runtime/kernel-sdk/tutti.ld
	@mkdir -p $(@D)
	cp $< $@

$(TUTTIC): runtime/kernel-sdk/tuttic
	@mkdir -p $(@D)
	sed 's/@VERSION@/$(LIBTUTTI_VERSION)/' $< > $@ && chmod +x $@

$(DEVICE_LIB)/%.o: runtime/kernel-sdk/lib/%.c $(DEVICE_HEADERS)
	@mkdir -p $(@D)
	$(CROSS)gcc $(DEVICE_CFLAGS) -c $< -o $@

# Descriptors are made by the same code on both sides.
$(DEVICE_LIB)/tensor.o: runtime/code/tensor.c $(DEVICE_HEADERS)
	@mkdir -p $(@D)
	$(CROSS)gcc $(DEVICE_CFLAGS) -c $< -o $@

$(DEVICE_LIB)/libtutti-device.a: $(DEVICE_LIB)/print.o $(DEVICE_LIB)/tensor.o
	rm -f $@
	$(CROSS)ar rcs $@ $^
