# SPDX-License-Identifier: MIT
# Other releases of Debian and other processors than the one at hand. See tests/roots/README.md.

# The demonstration alone first, so that what only tests need is not there yet.
.PHONY: check-debian13
check-debian13:
	tests/roots/in trixie build /source/tests/roots/release demo
	tests/roots/in trixie build /source/tests/roots/release check-quick
