# SPDX-License-Identifier: MIT
# How many single changes of the sources the tests notice (REL-13): make mutate AREA=firmware SEED=7 COUNT=40

# make mutate ... AGAIN=1 asks the tests of now about the changes that survived then

AREA ?= firmware
SEED ?= 1
COUNT ?= 40
MUTATED = $(OUT)/mutate-$(AREA)-$(firstword $(SEED)).json
.PHONY: mutate
mutate: check-build
	python3 -B tests/mutate/mutate.py --area $(AREA) --seed $(SEED) --count $(COUNT) $(if $(ONLY),--only '$(ONLY)') \
		$(if $(QUICK),--quick) $(if $(AGAIN),--again $(MUTATED)) --out $(MUTATED)
