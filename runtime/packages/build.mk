# SPDX-License-Identifier: MIT
# `make install` and `make uninstall`: PREFIX=, DESTDIR= and the folders below are as in GNU's coding standards.
# What is installed may be moved as a whole afterwards: library, tools and tutti.pc find the rest from where they lie.

BINDIR ?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
LIBEXECDIR ?= $(PREFIX)/libexec
DATADIR ?= $(PREFIX)/share
TUTTIDIR ?= $(PREFIX)/lib/tutti
FIRMWAREDIR ?= $(PREFIX)/lib/firmware/tutti
INSTALLED_FILES = OUT='$(OUT)' BINDIR='$(BINDIR)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' LIBEXECDIR='$(LIBEXECDIR)' \
	DATADIR='$(DATADIR)' TUTTIDIR='$(TUTTIDIR)' FIRMWAREDIR='$(FIRMWAREDIR)' MAN_PAGES='$(MAN_PAGES)' HSA_FILES='$(HSA_FILES)' \
	runtime/packages/files

MAN_COMMANDS := info run validate dump calibrate trace top reset translate bench xclbin hsa-run
MAN_PAGES := $(patsubst %,$(OUT)/man/%.1,tutti tuttic tutti-card $(MAN_COMMANDS:%=tutti-%))

# The pages are what --help prints, in the form of man.
$(OUT)/man/%.1: $(OUT)/tutti $(OUT)/tuttic $(OUT)/tutti-card runtime/packages/man
	@mkdir -p $(@D)
	runtime/packages/man $(OUT) $* $(LIBTUTTI_VERSION) > $@

.PHONY: install uninstall installable
installable: $(addprefix $(OUT)/,libtutti.so.0 libtutti.a tutti.pc tutti tuttic tutti-card tutti-bench) $(CARD_PLUGIN) \
	$(addprefix $(OUT)/firmware/,tutti-fw.bin tutti-fw-large.bin) device examples $(MAN_PAGES) $$(HSA_FILES)

install: installable
	$(INSTALLED_FILES) | while read -r mode source to; do \
		mkdir -p "$(DESTDIR)$${to%/*}" || exit 1; \
		case $$mode in \
		link) ln -sfn "$$source" "$(DESTDIR)$$to" ;; \
		*) rm -f "$(DESTDIR)$$to"; cp "$$source" "$(DESTDIR)$$to" && chmod $$mode "$(DESTDIR)$$to" ;; \
		esac || exit 1; \
	done
	[ "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

# Folders go when they are empty: others may have put files beside ours.
uninstall:
	$(INSTALLED_FILES) | while read -r mode source to; do \
		rm -f "$(DESTDIR)$$to"; \
		(cd "$(DESTDIR)/" && folder=$${to%/*} && rmdir -p --ignore-fail-on-non-empty "$${folder#/}" 2>/dev/null) || :; \
	done

# Debian packages, in $(OUT)/deb. They are built from a copy of the tree, where the packaging files lie at the top.
DEB := $(OUT)/deb
.PHONY: deb
deb:
	rm -rf $(DEB) && mkdir -p $(DEB)/tutti
	tar -cf - --exclude=./$(OUT) --exclude=./build --exclude=./.git . | tar -C $(DEB)/tutti -xf -
	mv $(DEB)/tutti/runtime/packages/debian $(DEB)/tutti/debian
	cd $(DEB)/tutti && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -b -us -uc -j$(shell nproc) >../build.log 2>&1 || \
		{ tail -40 ../build.log; exit 1; }
	lintian --allow-root --fail-on error $(DEB)/*.changes
	ls $(DEB)/*.deb
