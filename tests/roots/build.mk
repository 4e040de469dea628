# SPDX-License-Identifier: MIT
# Other releases of Debian and other processors than the one at hand. See tests/roots/README.md.

# The demonstration alone first, so that what only tests need is not there yet.
.PHONY: check-debian13
check-debian13:
	tests/roots/in trixie build /source/tests/roots/release demo
	tests/roots/in trixie build /source/tests/roots/release $(if $(FULL),check,check-quick)

# The packages of each release, built there and tried in a fresh root.
.PHONY: check-packages
check-packages:
	$(foreach suite,$(or $(SUITES),bookworm trixie),tests/roots/in $(suite) packages /source/tests/roots/make_packages && \
		tests/roots/in $(suite) - /source/tests/roots/try_packages || exit 1;)

# Each compiler where it is a package: two releases have gcc 12 to 14 and clang 14 to 19 between them.
.PHONY: check-compilers
check-compilers:
	@mkdir -p $(OUT)
	$(foreach suite,$(or $(SUITES),bookworm trixie), \
		tests/roots/in $(suite) compilers /source/tests/roots/compilers $(COMPILERS) | tee $(OUT)/compilers-$(suite).tap;)
	@! grep -h '^not ok' $(patsubst %,$(OUT)/compilers-%.tap,$(or $(SUITES),bookworm trixie))

.PHONY: check-arm64
check-arm64: $(OUT)/firmware/tutti-fw.bin
	@$(PROVE) tests/roots/arm64.sh
