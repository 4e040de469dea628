/* SPDX-License-Identifier: MIT */
/* What the text of a fault says about the memory that was accessed (SYS-58). A played card reports the faults. */
#include "rt_rig.h"

#include <stdio.h>

static struct tutti_queue *queue;
static char text[512];

__attribute__((format(printf, 2, 3))) static void says(uint64_t address, const char *format, ...)
{
	const struct tutti_fault fault = {.code = TUTTI_ERROR_MEMORY_FAULT, .cause = TUTTI_CAUSE_PROTECTION,
					  .access = TUTTI_ACCESS_WRITE, .address = address, .sm = 0xffff};
	char words[128];
	va_list list;

	va_start(list, format);
	vsnprintf(words, sizeof(words), format, list);
	va_end(list);
	assert_true(tutti_fault_text(queue, &fault, text, sizeof(text)) > 0);
	if (!strstr(text, words))
		fail_msg("\"%s\" without \"%s\"", text, words);
}

/* Each byte of an allocation is named by its number, and an address after the end by its distance from there. */
static void allocations(void **state)
{
	static const size_t sizes[] = {64, 128, 4096, 3 * 4096, 1 << 20};

	queue = a_queue(0, false);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const size_t size = sizes[i], at[] = {0, 1, 63, size / 2, size - 1};
		void *memory;
		uintptr_t start;

		assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, size, &memory), 0);
		start = (uintptr_t)memory;
		for (unsigned k = 0; k < sizeof(at) / sizeof(*at); k++)
			says(start + at[k], ", byte %zu of the %zu bytes allocated at %#zx;", at[k], size, start);
		for (unsigned k = 0; k < 2; k++)
			says(start + size + k, ", %u bytes behind the %zu bytes allocated at %#zx;", k, size, start);
		assert_int_equal(tutti_memory_free(device, memory), 0);
		says(start, ", in no allocation;");
	}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* Private and shared memory belong to no allocation, and neither does address 0. */
static void elsewhere(void **state)
{
	queue = a_queue(0, false);
	says(0, ", in no allocation;");
	says(TUTTI_WAVE_SHARED - 1, ", in no allocation;");
	says(TUTTI_WAVE_SHARED, ", shared memory;");
	says(TUTTI_WAVE_PRIVATE - 1, ", shared memory;");
	says(TUTTI_WAVE_PRIVATE, ", private memory;");
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {T(allocations), T(elsewhere)};

	return cmocka_run_group_tests_name("SYS-58 the memory of a fault", tests, NULL, NULL);
}
