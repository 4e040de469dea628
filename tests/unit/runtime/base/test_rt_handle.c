/* SPDX-License-Identifier: MIT */
/* Objects that the application names by their address: how long a stale handle is known to be one (SYS-40). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/handle.h"

struct thing {
	uint64_t before[3];
	struct handle handle;
	uint64_t behind[3];
};

static struct handle_pool pool = HANDLE_POOL(struct thing);
static struct handle owner;

static struct thing *new_thing(void)
{
	struct thing *thing = handle_new(&pool, &owner);

	assert_non_null(thing);
	assert_true(handle_live(&thing->handle));
	for (unsigned i = 0; i < 3; i++)
		assert_true(!thing->before[i] && !thing->behind[i]);
	memset(thing->before, 0x5a, sizeof(thing->before));
	memset(thing->behind, 0x5a, sizeof(thing->behind));
	return thing;
}

static void free_thing(struct thing *thing)
{
	handle_free(&pool, &thing->handle);
	assert_false(handle_live(&thing->handle));
}

#define MANY (HANDLES_KEPT + 8)

static void empty_pool(void)
{
	while (pool.first) {
		struct handle *gone = pool.first;

		pool.first = gone->next;
		free((uint8_t *)gone - offsetof(struct thing, handle));
	}
	pool = (struct handle_pool)HANDLE_POOL(struct thing);
}

/* Memory is used again in the order in which it has been given back, when enough younger objects have gone. */
static void used_again_in_turn(void **state)
{
	struct thing *first[MANY], *next[MANY];

	handle_begin(&owner, NULL);
	for (unsigned round = 0; round < 3; round++) {
		empty_pool();
		for (unsigned i = 0; i < MANY; i++)
			first[i] = new_thing();
		for (unsigned i = 0; i < MANY; i++)
			free_thing(first[i]);
		for (unsigned i = 0; i < MANY; i++) { /* all are live at once, so each has memory of its own */
			next[i] = new_thing();
			for (unsigned k = 0; k < MANY; k++)
				if (next[i] == first[k])
					assert_true(k == i && i < MANY - HANDLES_KEPT);
			if (i < MANY - HANDLES_KEPT)
				assert_ptr_equal(next[i], first[i]);
			for (unsigned k = 0; k < i; k++)
				assert_ptr_not_equal(next[i], next[k]);
		}
		for (unsigned i = 0; i < HANDLES_KEPT; i++) /* the last ones are still known to be stale */
			assert_false(handle_live(&first[MANY - 1 - i]->handle));
		for (unsigned i = 0; i < MANY; i++)
			free_thing(next[i]);
	}
	handle_end(&owner);
}

/* An object ends once, and with its owner; it is not the object of an owner that takes the place of that one. */
static void lives(void **state)
{
	struct thing *thing;

	assert_false(handle_live(NULL));
	assert_false(handle_live(&owner));
	assert_false(handle_end(&owner));
	handle_begin(&owner, NULL);
	assert_true(handle_live(&owner));
	thing = new_thing();
	assert_true(handle_end(&thing->handle));
	assert_false(handle_end(&thing->handle));
	assert_false(handle_live(&thing->handle));
	free_thing(thing);
	thing = new_thing();
	assert_true(handle_end(&owner));
	assert_false(handle_live(&thing->handle));
	handle_begin(&owner, NULL);
	assert_false(handle_live(&thing->handle));
	assert_true(handle_end(&thing->handle));
	assert_false(handle_end(&thing->handle));
	free_thing(thing);
	handle_end(&owner);
}

static uint32_t calls_of(const struct handle *handle)
{
	return tutti_load_relaxed(&handle->calls);
}

/* Calls count for the object and for its owner, and the thread that makes them knows of them until they end. */
static void calls(void **state)
{
	struct call outer, inner, refused, of_owner;
	struct thing *thing;

	handle_begin(&owner, NULL);
	thing = new_thing();
	assert_false(call_nested(&thing->handle) || call_nested(&owner));
	assert_true(call_begin(&outer, &thing->handle));
	assert_true(call_begin(&inner, &owner));
	assert_int_equal(calls_of(&thing->handle), 1);
	assert_int_equal(calls_of(&owner), 2);
	assert_true(call_nested(&thing->handle) && call_nested(&owner));
	call_end(&inner);
	assert_int_equal(calls_of(&owner), 1);
	assert_true(call_nested(&thing->handle) && call_nested(&owner));
	assert_true(handle_end(&thing->handle)); /* which does not wait for the calls of this thread */
	assert_false(call_begin(&refused, &thing->handle));
	call_end(&refused);
	assert_true(call_nested(&thing->handle) && call_nested(&owner)); /* the outer call goes on */
	assert_true(call_begin_owner(&of_owner, &thing->handle));
	assert_int_equal(calls_of(&owner), 2);
	assert_int_equal(calls_of(&thing->handle), 1);
	call_end(&of_owner);
	call_end(&outer);
	assert_false(call_nested(&thing->handle) || call_nested(&owner));
	assert_int_equal(calls_of(&thing->handle), 0);
	assert_int_equal(calls_of(&owner), 0);
	assert_true(handle_end(&owner));
	assert_false(call_begin_owner(&of_owner, &thing->handle));
	assert_false(call_begin(&refused, NULL));
	call_end(&of_owner);
	call_end(&refused);
	assert_int_equal(calls_of(&owner), 0);
	free_thing(thing);
}

/* After fork(), both parent and child can create and free objects, whichever runs first. */
static void after_a_fork(void **state)
{
	int status = 1;
	pid_t child;

	handle_begin(&owner, NULL);
	free_thing(new_thing());
	for (unsigned i = 0; i < 2; i++) {
		child = fork();
		free_thing(new_thing());
		if (!child)
			_exit(0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	handle_end(&owner);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(lives), cmocka_unit_test(calls),
						  cmocka_unit_test(used_again_in_turn), cmocka_unit_test(after_a_fork)};

	return cmocka_run_group_tests_name("SYS-40 handles", tests, NULL, NULL);
}
