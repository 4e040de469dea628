# SPDX-License-Identifier: MIT
# Builds the examples against an installed Tutti. Copy this folder to a place of your own and run `make`; `make hello`
# builds one. PKG_CONFIG_PATH and PATH must name the installation if it is not where the system looks.

EXAMPLES := $(notdir $(patsubst %/kernels.c,%,$(wildcard */kernels.c)))
CFLAGS ?= -O2 -g
FLAGS := -std=gnu11 -ffp-contract=off -I. $(shell pkg-config --cflags tutti)
LIBS := $(shell pkg-config --libs tutti) -Wl,-rpath,$(shell pkg-config --variable=libdir tutti) -pthread -lm

.PHONY: all clean $(EXAMPLES)
all: $(EXAMPLES)
$(EXAMPLES): %: bin/% bin/%.tco

.SECONDEXPANSION:
bin/%.tco: %/kernels.c
	@mkdir -p bin
	tuttic -ffp-contract=off -o $@ $<

bin/kripke: packet_cost.c
bin/%: $$(filter-out $$*/kernels.c,$$(wildcard $$*/*.c))
	@mkdir -p bin
	$(CC) $(FLAGS) $(CFLAGS) $(filter %.c,$^) -o $@ $(LIBS)

clean:
	rm -rf bin
