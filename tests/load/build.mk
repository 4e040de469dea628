# SPDX-License-Identifier: MIT
# Programs of tests/load/check.sh, none of which links libtutti.

LOAD := $(T)/load
LOAD_FILES := $(LOAD)/opens $(LOAD)/other_version.so

$(LOAD)/opens: tests/load/opens.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $< -o $@ -ldl

$(LOAD)/other_version.so: tests/load/other_version.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -shared $< -o $@
