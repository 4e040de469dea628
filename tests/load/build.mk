# SPDX-License-Identifier: MIT
# Programs of tests/load/check.sh. Only `application` links libtutti.

LOAD := $(T)/load
LOAD_FILES := $(LOAD)/application $(LOAD)/opens $(LOAD)/other_version.so

$(LOAD)/opens: tests/load/opens.c $(wildcard include/*.h include/tutti/*.h)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $< -o $@ -ldl

$(LOAD)/other_version.so: tests/load/other_version.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -shared $< -o $@

$(LOAD)/application: tests/load/application.c $(OUT)/libtutti.so.0
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $< -o $@ $(OUT)/libtutti.so.0
