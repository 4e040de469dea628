# SPDX-License-Identifier: MIT
# Examples: $(OUT)/examples/<name> and its code object <name>.tco beside it.

EXAMPLES_OUT := $(OUT)/examples
EXAMPLES := hello vector_add matmul gemm conv stencil gradient kripke pipeline reduce priorities
EXAMPLE_BINS := $(addprefix $(EXAMPLES_OUT)/,$(EXAMPLES))
EXAMPLE_TCOS := $(addsuffix .tco,$(EXAMPLE_BINS))

# Sums must round alike on card and CPU: no fused multiply-add on either side.
EXAMPLE_FLOAT := -ffp-contract=off

# The library lies one folder up in the build tree, two where `make install` puts it. Packages need no such path.
EXAMPLE_RPATH ?= -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..'

.PHONY: examples
examples: $(EXAMPLE_BINS) $(EXAMPLE_TCOS)
all: examples

.SECONDEXPANSION:
$(EXAMPLE_TCOS): $(EXAMPLES_OUT)/%.tco: runtime/examples/%/kernels.c $$(wildcard runtime/examples/$$*/*.h) $(TUTTIC_DEPS)
	@mkdir -p $(@D)
	$(TUTTIC) -Wextra $(ERROR) $(EXAMPLE_FLOAT) -o $@ $<

# Kripke's table tells what its packets cost the soft core.
$(EXAMPLES_OUT)/kripke: runtime/examples/packet_cost.c runtime/examples/packet_cost.h

$(EXAMPLE_BINS): $(EXAMPLES_OUT)/%: $$(filter-out runtime/examples/$$*/kernels.c,$$(wildcard runtime/examples/$$*/*.c)) \
		$$(wildcard runtime/examples/$$*/*.h) runtime/examples/example.h $(OUT)/libtutti.so.0
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $(EXAMPLE_FLOAT) -Iruntime/examples $(filter %.c,$^) -o $@ $(LDFLAGS) \
		-L$(OUT) -l:libtutti.so.0 $(EXAMPLE_RPATH) -lm

# The programs open the emulated card, which runs the firmware image.
demo: examples $(OUT)/firmware/tutti-fw.bin $(CARD_PLUGIN)
	@echo "== hello"; $(EXAMPLES_OUT)/hello
	@echo "== vector_add"; $(EXAMPLES_OUT)/vector_add
	@echo "== matmul"; $(EXAMPLES_OUT)/matmul
	@echo "== gemm"; $(EXAMPLES_OUT)/gemm
	@echo "== conv"; $(EXAMPLES_OUT)/conv
	@echo "== stencil"; $(EXAMPLES_OUT)/stencil
	@echo "== gradient"; $(EXAMPLES_OUT)/gradient
	@echo "== pipeline"; $(EXAMPLES_OUT)/pipeline
	@echo "== reduce"; $(EXAMPLES_OUT)/reduce
	@echo "== priorities"; $(EXAMPLES_OUT)/priorities
	@echo "== kripke"; $(EXAMPLES_OUT)/kripke --small --check
