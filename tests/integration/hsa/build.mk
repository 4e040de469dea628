# SPDX-License-Identifier: MIT
# Programs for the HSA runtime, compiled as those of strangers are: with Debian's headers and nothing of Tutti's.

HSA_TEST := $(T)/hsa
HSA_TEST_SOURCES := $(filter-out tests/integration/hsa/hsa_test.c,$(wildcard tests/integration/hsa/*.c))
HSA_TESTS := $(HSA_TEST_SOURCES:tests/integration/hsa/%.c=$(HSA_TEST)/%)
HSA_STUB := $(HSA_TEST)/stub/libhsa-runtime64.so.1
HSA_HEADERS := $(addprefix /usr/include/hsa/,hsa.h hsa_ext_amd.h hsa_ext_finalize.h hsa_ext_image.h)

$(HSA_TESTS): $(HSA_TEST)/%: tests/integration/hsa/%.c tests/integration/hsa/hsa_test.c tests/integration/hsa/hsa_test.h \
		tests/integration/hsa/errors.h \
		$(HSA)/libhsa-runtime64.so.1 $(HSA_TEST)/not_initialized.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) -Wall -Wextra $(ERROR) -I$(HSA_TEST) -pthread $< tests/integration/hsa/hsa_test.c -o $@ \
		-L$(HSA) -lhsa-runtime64 -Wl,-rpath-link,$(OUT) -lcmocka

# One loads the library by its name and is linked without it.
$(HSA_TEST)/load: tests/integration/hsa/load/load.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) -Wall -Wextra $(ERROR) $< -o $@

# One program is about what Tutti adds, and includes the header of it.
$(HSA_TEST)/extended: private CFLAGS += -Iruntime/hsa/include -Iinclude
$(HSA_TEST)/extended: runtime/hsa/include/hsa/hsa_ven_tutti.h

# The functions that the headers say fail without hsa_init(), as far as the library has them.
$(HSA_TEST)/not_initialized.h: tests/integration/hsa/statuses.pl $(HSA)/libhsa-runtime64.so.1
	@mkdir -p $(@D)
	perl $< --function HSA_STATUS_ERROR_NOT_INITIALIZED $(HSA)/libhsa-runtime64.so.1 $(HSA_HEADERS) > $@

# Every function of the library, as one that does nothing and returns 0.
$(HSA_STUB): $(HSA)/libhsa-runtime64.so.1
	@mkdir -p $(@D)
	nm -D --defined-only $< | sed -n 's/.* T \(hsa_[a-z0-9_]*\)@.*/long \1(void) { return 0; }/p' > $(@D)/stub.c
	$(CC) -shared -Wl,-soname,libhsa-runtime64.so.1 -Wl,--version-script=runtime/hsa/libhsa.map -o $@ $(@D)/stub.c

check-programs: $(HSA_TESTS) $(HSA_TEST)/load $(HSA_STUB)
$(HSA_TESTS): | $(TEST_KERNELS)
