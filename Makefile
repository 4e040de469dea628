# SPDX-License-Identifier: MIT
# Tutti: `make` builds, `make demo` runs the Kripke loop, `make check` runs all tests.
# Each folder adds its own rules in build.mk; everything made lies under build/.

OUT := build
CC ?= gcc
CROSS := riscv64-unknown-elf-
# Warnings are errors where Tutti is developed and tested: compilers to come know warnings that this one does not.
WERROR ?=
ERROR := $(if $(filter-out 0 no,$(WERROR)),-Werror)
WARN := -Wall -Wextra $(ERROR) -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
CFLAGS ?= -O2 -g
HOST_CFLAGS = -std=gnu11 $(CFLAGS) $(WARN) -fPIC -Iinclude -Iruntime -pthread

.DEFAULT_GOAL := all
.PHONY: all demo check bench fuzz clean help packages image-report

all:

# The packages a goal needs, by Debian's names; of `a|b` the first that the release has. Root gets what is missing before
# anything is built, others are told. APT=no leaves that out, as it is on systems without dpkg.
GOALS := $(or $(MAKECMDGOALS),all)
PACKAGES := gcc make gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf lld libelf-dev libdw-dev zlib1g-dev libdrm-dev libpci-dev libjansson-dev
PACKAGES_INSTALL := help2man
PACKAGES_DEB := build-essential debhelper dh-dkms lintian libhsa-runtime-dev # what debian/control names, but for PACKAGES
PACKAGES_TEST := g++ perl chromium pkgconf|pkg-config python3 libcmocka-dev pahole|dwarves sparse clang libclang-rt-dev spin qemu-user \
	pocl-opencl-icd ocl-icd-opencl-dev opencl-headers libdnnl-dev libopenblas-dev libhsa-runtime-dev rocminfo libunicorn-dev \
	$(if $(shell grep -s '^VERSION_CODENAME=bookworm' /etc/os-release),libxrt1 libxrt-dev) # later releases have no XRT
PACKAGES_ARM64 := gcc-aarch64-linux-gnu libc6-dev-arm64-cross
PACKAGES_GUEST := qemu-system-x86 acpica-tools busybox-static cpio kmod xz-utils
APT ?= $(if $(shell command -v dpkg-query),yes,no)
ifneq ($(filter-out clean help uninstall,$(GOALS)),)
ifneq ($(APT),no)
NEEDED := $(PACKAGES) $(if $(filter install installable deb check% packages,$(GOALS)),$(PACKAGES_INSTALL)) \
	$(if $(filter deb check-packages vm-packages,$(GOALS)),$(PACKAGES_DEB)) $(if $(filter check-arm64,$(GOALS)),$(PACKAGES_ARM64)) \
	$(if $(filter check% bench fuzz lint combine packages vm-% debug-% $(OUT)/tests/%,$(GOALS)),$(PACKAGES_TEST)) \
	$(if $(filter check check-loaded packages vm-% debug-%,$(GOALS)),$(PACKAGES_GUEST)) $(if $(filter vm-packages,$(GOALS)),dkms)
INSTALLED := $(shell dpkg-query -W -f '$${db:Status-Status} $${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
MISSING := $(strip $(foreach p,$(NEEDED),$(if $(filter $(subst |, ,$(p)),$(INSTALLED)),,$(p))))
endif
endif
ifndef V
MAKEFLAGS += --silent
endif
# Plain `make` and `make demo` use all processors unless -j says how many.
ifeq ($(MAKELEVEL)$(filter-out all demo,$(GOALS))$(filter -j% --job%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
ifneq ($(MISSING),)
ifneq ($(shell id -u),0)
$(error missing packages: $(MISSING) - run "make packages" as root)
endif
$(info installing: $(MISSING) ...)
INSTALL_STATUS := $(shell .ci/packages $(subst |,\|,$(MISSING)) >&2 && echo done)
ifneq ($(INSTALL_STATUS),done)
$(error apt-get could not install: $(MISSING))
endif
endif
packages:
	@echo "all packages are installed"

ifeq ($(wildcard $(OUT)/tutti)$(filter clean help packages,$(GOALS))$(MAKELEVEL),0)
$(info building, up to a minute (make V=1 shows the commands) ...)
endif

include firmware/build.mk
include runtime/build.mk
-include tests/conformance/build.mk
-include tests/driver/build.mk
include tests/bench/build.mk
include tests/build.mk

clean:
	rm -rf $(OUT)

help:
	@echo "make          build firmware, runtime, tools and examples into $(OUT)/"
	@echo "              TRANSLATE=no: the emulated card interprets its firmware, for who changes that often"
	@echo "make demo     run the Kripke loop in three launch modes and compare"
	@echo "make check    run all tests (TAP)"
	@echo "make check-loaded  the same while eight busy processes compete for the processors"
	@echo "make bench    measure; table on the screen, JSON in $(OUT)/bench.json"
	@echo "make bench-kripke  the Kripke example's default problem, all iterations in all launch modes (minutes)"
	@echo "make image-report  local memory, stack and command ring of both firmware images"
	@echo "make pictures draw the pictures of the READMEs anew (traces of the emulated card)"
	@echo "make fuzz     fuzz for longer (FUZZ_SECONDS=600)"
	@echo "make vm-check run the driver in a Debian guest (KERNEL=6.12, 6.1, testing); vm-shell: a prompt there"
	@echo "make vm-power     there, with a card that loses its power (D3cold)"
	@echo "make vm-packages  there, driver and firmware of the Debian packages, the driver built by DKMS for each kernel"
	@echo "make debug-kernel-check  the same under a kernel with KASAN, lockdep, kmemleak, or with KCSAN (KERNEL=kcsan)"
	@echo "make check-debian13, check-arm64  the build and tests in a root of Debian 13; for arm64 under user emulation"
	@echo "make check-compilers  the build and the tests of units with gcc 12 to 14 and clang 14 to 19, in roots of both releases"
	@echo "make install  PREFIX=/usr/local DESTDIR=; make uninstall"
	@echo "make deb      Debian packages, in $(OUT)/deb; make check-packages tries them in fresh roots of Debian 12 and 13"
	@echo "make packages install what a fresh Debian lacks (apt)"
