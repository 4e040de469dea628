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
	DATADIR='$(DATADIR)' TUTTIDIR='$(TUTTIDIR)' FIRMWAREDIR='$(FIRMWAREDIR)' runtime/packages/files

.PHONY: install uninstall
install: all
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
