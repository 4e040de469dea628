// SPDX-License-Identifier: MIT
/* SYS-43: hsa_init() and hsa_shut_down(), status strings, and which functions fail before hsa_init(). */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Finds, loads, launches: everything that a process does with the card. */
static void run_a_kernel(void)
{
	hsa_executable_t executable = load_code("test");

	pokes(executable, "poke", 5);
	OK(hsa_executable_destroy(executable));
}

/* Says in its status whether all was as it should be. */
static int child(hsa_queue_t *queue, void **state)
{
	uint16_t major;

	if (hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) != HSA_STATUS_ERROR_NOT_INITIALIZED ||
	    hsa_shut_down() != HSA_STATUS_ERROR_NOT_INITIALIZED)
		return 1;
	if (found_all(state))
		return 2;
	if (hsa_queue_destroy(queue) != HSA_STATUS_ERROR_INVALID_QUEUE)
		return 3;
	run_a_kernel();
	return hsa_shut_down() ? 4 : 0;
}

static void a_child_begins_anew(void **state)
{
	hsa_queue_t *queue = NULL;
	int status = -1;
	pid_t pid;

	assert_int_equal(found_all(state), 0);
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
	pid = fork();
	if (!pid)
		_exit(child(queue, state));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	run_a_kernel();
	OK(hsa_queue_destroy(queue));
	OK(hsa_shut_down());
}

static hsa_status_t on_event(const hsa_amd_event_t *event, void *calls)
{
	(void)event;
	++*(int *)calls;
	return HSA_STATUS_SUCCESS;
}

struct noting {
	char *memory;
	int over;
};

/* Other threads use the runtime at any time, and so also while the program calls fork(). */
static void *note(void *context)
{
	struct noting *noting = context;

	while (!__atomic_load_n(&noting->over, __ATOMIC_RELAXED)) {
		hsa_amd_pointer_info_set_userdata(noting->memory, noting);
		hsa_amd_register_system_event_handler(on_event, &noting->over);
	}
	return NULL;
}

static int child_that_notes(void **state)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	char *memory;

	alarm(60); /* nothing that another thread of the parent did keeps it waiting */
	if (found_all(state) || hsa_memory_allocate(found.fine, 64, (void **)&memory))
		return 1;
	if (hsa_amd_pointer_info_set_userdata(memory, state) || hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL))
		return 2;
	if (info.userData != state || hsa_amd_register_system_event_handler(on_event, NULL))
		return 3;
	return hsa_shut_down() ? 4 : 0;
}

static void a_child_of_a_program_with_threads(void **state)
{
	struct noting noting = {0};
	pthread_t thread[2];

	assert_int_equal(found_all(state), 0);
	noting.memory = fine_memory(64);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, note, &noting);
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();
		int status = -1;

		if (!pid)
			_exit(child_that_notes(state));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	__atomic_store_n(&noting.over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	OK(hsa_shut_down());
}

static void on_fault(hsa_status_t status, hsa_queue_t *queue, void *told)
{
	(void)status, (void)queue;
	hsa_signal_store_screlease(*(hsa_signal_t *)told, 0);
}

/* A kernel writes where nothing is. */
static void fault(void)
{
	hsa_executable_t executable = load_code("test");
	struct kernel poke = kernel_of(executable, "poke");
	struct word *args = fine_memory(sizeof(*args));
	hsa_signal_t told = new_signal(1);
	hsa_queue_t *queue = NULL;

	*args = (struct word){(uint64_t *)0x123000, 1};
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, on_fault, &told, UINT32_MAX, UINT32_MAX, &queue));
	launch(queue, &poke, 1, 1, args, (hsa_signal_t){0});
	wait_zero(told);
	OK(hsa_queue_destroy(queue));
}

/* A handler of system events goes with the runtime, however often that is started again. */
static void event_handlers_go_with_the_runtime(void **state)
{
	int before = 0, now = 0;

	assert_int_equal(found_all(state), 0);
	OK(hsa_amd_register_system_event_handler(on_event, &before));
	OK(hsa_shut_down());
	for (int i = 0; i < 70; i++) {
		assert_int_equal(found_all(state), 0);
		if (i >= 50) /* by then the memory of what there was before is used again */
			fault();
		OK(hsa_shut_down());
		assert_int_equal(before, 0);
	}
	assert_int_equal(found_all(state), 0);
	OK(hsa_amd_register_system_event_handler(on_event, &now));
	fault();
	OK(hsa_shut_down());
	assert_int_equal(now, 1);
	assert_int_equal(before, 0);
}

static void what_was_before_is_no_more(void **state)
{
	hsa_queue_t *queue = NULL;
	hsa_executable_t executable;
	hsa_signal_t signal;

	assert_int_equal(found_all(state), 0);
	executable = load_code("test");
	signal = new_signal(1);
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
	OK(hsa_shut_down());
	assert_int_equal(found_all(state), 0);
	FAILS(INVALID_QUEUE, hsa_queue_destroy(queue));
	FAILS(INVALID_SIGNAL, hsa_signal_destroy(signal));
	FAILS(INVALID_EXECUTABLE, hsa_executable_destroy(executable));
	run_a_kernel();
	OK(hsa_shut_down());
}

static bool shut_down(hsa_signal_value_t value, void *status)
{
	(void)value;
	__atomic_store_n((int *)status, (int)hsa_shut_down(), __ATOMIC_RELEASE);
	return false;
}

static void a_handler_may_shut_down(void **state)
{
	hsa_signal_t signal;
	int status = -1;

	assert_int_equal(found_all(state), 0);
	signal = new_signal(0);
	OK(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_EQ, 0, shut_down, &status));
	for (int i = 0; __atomic_load_n(&status, __ATOMIC_ACQUIRE) == -1; i++) {
		assert_true(i < 20000);
		usleep(1000);
	}
	assert_int_equal(status, 0);
	FAILS(NOT_INITIALIZED, hsa_shut_down());
}

struct meeting {
	int begun, go, status;
};

/* Has a handler called, and waits until it has set @begun. */
static void meet(bool (*handler)(hsa_signal_value_t value, void *meeting), struct meeting *meeting)
{
	OK(hsa_amd_signal_async_handler(new_signal(0), HSA_SIGNAL_CONDITION_EQ, 0, handler, meeting));
	while (!__atomic_load_n(&meeting->begun, __ATOMIC_ACQUIRE))
		usleep(100);
}

static bool shut_down_too(hsa_signal_value_t value, void *context)
{
	struct meeting *meeting = context;

	(void)value;
	__atomic_store_n(&meeting->begun, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&meeting->go, __ATOMIC_ACQUIRE))
		usleep(100);
	usleep(20000); /* the program closes the card by now, and waits for this function */
	meeting->status = (int)hsa_shut_down();
	return false;
}

/* The program shuts down while a handler runs that wants to do so, too: neither waits for the other for ever. */
static void handler_and_program_shut_down(void **state)
{
	struct meeting meeting = {0};

	assert_int_equal(found_all(state), 0);
	meet(shut_down_too, &meeting);
	__atomic_store_n(&meeting.go, 1, __ATOMIC_RELEASE);
	OK(hsa_shut_down());
	assert_int_equal(meeting.status, HSA_STATUS_ERROR_NOT_INITIALIZED);
}

static bool init_too(hsa_signal_value_t value, void *context)
{
	struct meeting *meeting = context;
	uint16_t major;

	(void)value;
	__atomic_store_n(&meeting->begun, 1, __ATOMIC_RELEASE);
	while (hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) != HSA_STATUS_ERROR_NOT_INITIALIZED)
		usleep(100);
	meeting->status = (int)hsa_init();
	return false;
}

/* A handler that wants the runtime while the program shuts it down does not get it, and both go on. */
static void a_handler_starts_what_is_shut_down(void **state)
{
	struct meeting meeting = {0};

	assert_int_equal(found_all(state), 0);
	meet(init_too, &meeting);
	OK(hsa_shut_down());
	assert_int_equal(meeting.status, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	assert_int_equal(found_all(state), 0);
	run_a_kernel();
	OK(hsa_shut_down());
}

static bool restart(hsa_signal_value_t value, void *context)
{
	struct meeting *meeting = context;

	(void)value;
	meeting->status = hsa_shut_down() || hsa_init() || hsa_shut_down();
	__atomic_store_n(&meeting->begun, 1, __ATOMIC_RELEASE);
	return false;
}

static void a_handler_may_start_again(void **state)
{
	struct meeting meeting = {0};

	assert_int_equal(found_all(state), 0);
	meet(restart, &meeting);
	assert_int_equal(meeting.status, 0);
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
		cmocka_unit_test(a_child_begins_anew),
		cmocka_unit_test(a_child_of_a_program_with_threads),
		cmocka_unit_test(event_handlers_go_with_the_runtime),
		cmocka_unit_test(what_was_before_is_no_more),
		cmocka_unit_test(a_handler_may_shut_down),
		cmocka_unit_test(handler_and_program_shut_down),
		cmocka_unit_test(a_handler_starts_what_is_shut_down),
		cmocka_unit_test(a_handler_may_start_again),
		cmocka_unit_test(each_status_has_a_text),
		cmocka_unit_test(nothing_works_before_init),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
