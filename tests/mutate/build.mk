# SPDX-License-Identifier: MIT
# How many single changes of the sources the tests notice (REL-13): make mutate AREA=firmware SEED=7 COUNT=40

AREA ?= firmware
SEED ?= 1
COUNT ?= 40
.PHONY: mutate
mutate: check-build
	python3 -B tests/mutate/mutate.py --area $(AREA) --seed $(SEED) --count $(COUNT) $(if $(ONLY),--only '$(ONLY)') \
		$(if $(QUICK),--quick) --out $(OUT)/mutate-$(AREA)-$(firstword $(SEED)).json
