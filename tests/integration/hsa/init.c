// SPDX-License-Identifier: MIT
/* SYS-43: hsa_init() and hsa_shut_down(), status strings, and which functions fail before hsa_init(). */
#include <dlfcn.h>
#include <pthread.h>

#include "hsa_test.h"

static void references_are_counted(void **state)
{
	uint16_t major;

	(void)state;
	FAILS(NOT_INITIALIZED, hsa_shut_down());
	OK(hsa_init());
	OK(hsa_init());
	OK(hsa_shut_down());
	OK(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major));
	assert_int_equal(major, 1);
	OK(hsa_shut_down());
	FAILS(NOT_INITIALIZED, hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major));
	FAILS(NOT_INITIALIZED, hsa_shut_down());
}

static void everything_comes_back_after_a_restart(void **state)
{
	void *memory;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(found_all(state), 0);
		OK(hsa_memory_allocate(found.fine, 100, &memory));
		memset(memory, 1, 100);
		OK(hsa_shut_down()); /* with the memory still there */
	}
}

static void *init_and_shut_down(void *count)
{
	for (int i = 0; i < 20; i++)
		if (!hsa_init() && !hsa_shut_down())
			__atomic_fetch_add((int *)count, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void threads_may_do_so_at_the_same_time(void **state)
{
	pthread_t thread[4];
	int count = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, init_and_shut_down, &count);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(count, 80);
	FAILS(NOT_INITIALIZED, hsa_shut_down());
}

static void each_status_has_a_text(void **state)
{
	const char *text = NULL, *other;

	(void)state;
	FAILS(NOT_INITIALIZED, hsa_status_string(HSA_STATUS_SUCCESS, &text));
	OK(hsa_init());
	FAILS(INVALID_ARGUMENT, hsa_status_string(HSA_STATUS_SUCCESS, NULL));
	FAILS(INVALID_ARGUMENT, hsa_status_string(0x7777, &text));
	OK(hsa_status_string(HSA_STATUS_INFO_BREAK, &other));
	for (unsigned status = HSA_STATUS_ERROR; status <= HSA_STATUS_ERROR_FATAL; status++) {
		if (status > HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL && status < HSA_STATUS_ERROR_INVALID_FILE)
			continue; /* these numbers are not used */
		OK(hsa_status_string(status, &text));
		assert_non_null(strstr(text, "HSA_STATUS_ERROR"));
		assert_string_not_equal(text, other);
		other = text;
	}
	OK(hsa_shut_down());
}

/* What dlsym() finds is called without arguments that matter, since nothing is looked at before the state. */
static void nothing_works_before_init(void **state)
{
	static const char *const names[] = {
#define NAME(name) #name,
#include "not_initialized.h"
#undef NAME
	};
	void *library = dlopen("libhsa-runtime64.so.1", RTLD_NOW);

	(void)state;
	assert_non_null(library);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int (*function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t) =
			dlsym(library, names[i]);
		int status = function ? function(0, 0, 0, 0, 0, 0, 0, 0) : -1;

		if (status != HSA_STATUS_ERROR_NOT_INITIALIZED)
			fail_msg("%s: %x", names[i], status);
	}
	dlclose(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_are_counted),
		cmocka_unit_test(everything_comes_back_after_a_restart),
		cmocka_unit_test(threads_may_do_so_at_the_same_time),
		cmocka_unit_test(each_status_has_a_text),
		cmocka_unit_test(nothing_works_before_init),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
