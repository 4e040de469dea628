# SPDX-License-Identifier: MIT
# Tutti: `make` builds, `make demo` runs the Kripke loop, `make check` runs all tests.
# Each folder adds its own rules in build.mk; everything made lies under build/.

OUT := build
CC ?= gcc
CROSS := riscv64-unknown-elf-
WARN := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
CFLAGS ?= -O2 -g
HOST_CFLAGS = -std=gnu11 $(CFLAGS) $(WARN) -fPIC -Iinclude -Iruntime -pthread

.DEFAULT_GOAL := all
.PHONY: all demo check bench fuzz clean help packages

all:

include firmware/build.mk
include runtime/build.mk
include tests/build.mk

# What a fresh Debian 12 needs; `make packages` installs what is missing.
PACKAGES := gcc make pkg-config perl libunicorn-dev gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
	libelf-dev libcmocka-dev dwarves sparse clang lld libclang-rt-14-dev pocl-opencl-icd ocl-icd-opencl-dev opencl-headers
packages:
	@missing=; for p in $(PACKAGES); do \
	    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then echo "installing:$$missing"; apt-get update -q >/dev/null && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing >/dev/null; fi

clean:
	rm -rf $(OUT)

help:
	@echo "make          build firmware, runtime, tools and examples into $(OUT)/"
	@echo "make demo     run the Kripke loop in three launch modes and compare"
	@echo "make check    run all tests (TAP)"
	@echo "make bench    measure; table on the screen, JSON in $(OUT)/bench.json"
	@echo "make fuzz     fuzz for longer (FUZZ_SECONDS=600)"
	@echo "make packages install what a fresh Debian 12 lacks (apt)"
