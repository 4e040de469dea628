/* SPDX-License-Identifier: MIT */
/*
 * Split signals (PKT-04): the host changes one word, the card the other, and a reader must get a value that the
 * signal had while it was reading. Instead of hoping for races the test makes them: between any two loads of the reader
 * host and card do something, in every combination.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tutti/barrier.h"

static void meanwhile(void);

#undef tutti_load_acquire
#define tutti_load_acquire(p) (meanwhile(), __atomic_load_n((p), __ATOMIC_ACQUIRE))

#include "tutti/queue.h"

/* What may happen before a load. */
enum { NOTHING, CARD, UP, DOWN, UP_THEN_CARD, CARD_THEN_UP, CARD_THEN_DOWN, CARD_CANCELS, KINDS };

#define LOADS 5u /* of a reader that are disturbed; what comes later finds quiet */
#define VALUES 64u

static struct tutti_signal signal;
static unsigned script;
static int64_t had[VALUES];
static unsigned values;

static void note(void)
{
	assert_true(values < VALUES);
	had[values++] = (int64_t)((uint64_t)signal.value - (uint64_t)signal.card_done);
}

static void card(void)
{
	signal.card_done = (int64_t)((uint64_t)signal.card_done + 1);
	note();
}

static void host(int64_t delta)
{
	signal.value = (int64_t)((uint64_t)signal.value + (uint64_t)delta);
	note();
}

static void meanwhile(void)
{
	unsigned kind = script % KINDS;

	script /= KINDS;
	switch (kind) {
	case CARD:
		card();
		break;
	case UP:
		host(10);
		break;
	case DOWN:
		host(-10);
		break;
	case UP_THEN_CARD:
		host(10);
		card();
		break;
	case CARD_THEN_UP:
		card();
		host(10);
		break;
	case CARD_THEN_DOWN:
		card();
		host(-10);
		break;
	case CARD_CANCELS:
		signal.card_done = (int64_t)((uint64_t)signal.value - (uint64_t)TUTTI_SIGNAL_CANCELLED);
		note();
		break;
	}
}

static bool was(int64_t value)
{
	for (unsigned i = 0; i < values; i++)
		if (had[i] == value)
			return true;
	return false;
}

/* Also where the card's count wraps around, as it does for one signal that is cancelled again and again. */
static void a_read_gives_a_value_that_was(void **state)
{
	static const int64_t begin[] = {0, 7, INT64_MAX - 1};
	unsigned scripts = 1;

	for (unsigned i = 0; i < LOADS; i++)
		scripts *= KINDS;
	for (unsigned b = 0; b < sizeof(begin) / sizeof(begin[0]); b++)
		for (unsigned i = 0; i < scripts; i++) {
			signal = (struct tutti_signal){.flags = TUTTI_SIGNAL_SPLIT, .card_done = begin[b]};
			signal.value = (int64_t)((uint64_t)begin[b] + 100);
			script = i;
			values = 0;
			note();
			if (!was(tutti_signal_load(&signal)))
				fail_msg("begin %u, script %u", b, i);
		}
}

static void a_whole_signal_is_read_once(void **state)
{
	script = UP + KINDS * UP;
	signal = (struct tutti_signal){.value = 4, .card_done = 3};
	values = 0;
	assert_int_equal(tutti_signal_load(&signal), 14);
	assert_int_equal(signal.value, 14);
}

static void a_split_signal_is_stored_behind_the_cards_count(void **state)
{
	static const int64_t done[] = {0, 3, INT64_MAX};

	script = 0;
	for (unsigned i = 0; i < 3; i++) {
		signal = (struct tutti_signal){.flags = TUTTI_SIGNAL_SPLIT, .card_done = done[i]};
		tutti_signal_store(&signal, 9);
		assert_int_equal(tutti_signal_load(&signal), 9);
		tutti_signal_store(&signal, TUTTI_SIGNAL_CANCELLED);
		assert_int_equal(tutti_signal_load(&signal), TUTTI_SIGNAL_CANCELLED);
		assert_int_equal(signal.card_done, done[i]);
	}
}

/* The operations that use the old value, each with 100 or near it as the operand. */
enum { EXCHANGE, CAS, CAS_OTHER, AND, OR, XOR, OPERATIONS };

static int64_t expected(unsigned operation, int64_t old)
{
	switch (operation) {
	case EXCHANGE:
		return 55;
	case CAS:
		return old == 100 ? 55 : old;
	case CAS_OTHER:
		return old == 110 ? 55 : old;
	case AND:
		return old & 6;
	case OR:
		return old | 3;
	default:
		return old ^ 5;
	}
}

/* Return: the old value, as far as the operation tells. */
static int64_t operate(unsigned operation, int64_t otherwise)
{
	switch (operation) {
	case EXCHANGE:
		return tutti_signal_exchange(&signal, 55);
	case CAS:
		return tutti_signal_cas(&signal, 100, 55);
	case CAS_OTHER:
		return tutti_signal_cas(&signal, 110, 55);
	case AND:
		tutti_signal_and(&signal, 6);
		break;
	case OR:
		tutti_signal_or(&signal, 3);
		break;
	default:
		tutti_signal_xor(&signal, 5);
	}
	return otherwise;
}

static int64_t true_value(void)
{
	return (int64_t)((uint64_t)signal.value - (uint64_t)(signal.flags & TUTTI_SIGNAL_SPLIT ? signal.card_done : 0));
}

/* Whatever host and card do between any two loads, the operation is applied to the value of that moment. */
static void an_operation_is_applied_to_the_value_that_is(void **state)
{
	unsigned scripts = KINDS * KINDS * KINDS * KINDS * KINDS;

	for (unsigned operation = 0; operation < OPERATIONS; operation++)
		for (unsigned i = 0; i < scripts; i++) {
			int64_t last, old;
			bool unchanged;

			signal = (struct tutti_signal){.flags = TUTTI_SIGNAL_SPLIT, .card_done = 7, .value = 107};
			script = i;
			values = 0;
			note();
			old = operate(operation, INT64_MIN);
			last = had[values - 1];
			/* a cas that fails only reads */
			unchanged = (operation == CAS || operation == CAS_OTHER) && old != (operation == CAS ? 100 : 110);
			if (unchanged ? !was(old) || true_value() != last : true_value() != expected(operation, last))
				fail_msg("operation %u, script %u: %lld", operation, i, (long long)true_value());
			if (!unchanged && old != INT64_MIN)
				assert_int_equal(old, last);
		}
}

static void whole_and_split_signals_have_the_same_operations(void **state)
{
	script = 0;
	for (unsigned split = 0; split < 2; split++) {
		for (unsigned operation = 0; operation < OPERATIONS; operation++) {
			signal = (struct tutti_signal){.flags = split, .card_done = 7, .value = split ? 107 : 100};
			assert_int_equal(operate(operation, 100), 100);
			assert_int_equal(true_value(), expected(operation, 100));
		}
		tutti_signal_store(&signal, 5);
		tutti_signal_add(&signal, 3);
		assert_int_equal(tutti_signal_load(&signal), 8);
		tutti_signal_subtract(&signal, 9);
		assert_int_equal(tutti_signal_load(&signal), -1);
		tutti_signal_store_silent(&signal, INT64_MIN);
		assert_int_equal(tutti_signal_load(&signal), INT64_MIN);
		assert_int_equal(tutti_signal_exchange(&signal, INT64_MAX), INT64_MIN);
		assert_int_equal(tutti_signal_load(&signal), INT64_MAX);
	}
}

static void no_signal_is_left_alone(void **state)
{
	tutti_signal_store(NULL, 1);
	tutti_signal_store_silent(NULL, 1);
	tutti_signal_add(NULL, 1);
	tutti_signal_subtract(NULL, 1);
	tutti_signal_and(NULL, 1);
	tutti_signal_or(NULL, 1);
	tutti_signal_xor(NULL, 1);
	assert_int_equal(tutti_signal_exchange(NULL, 1), 0);
	assert_int_equal(tutti_signal_cas(NULL, 0, 1), 0);
	tutti_signal_wake(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_read_gives_a_value_that_was),
	    cmocka_unit_test(a_whole_signal_is_read_once),
	    cmocka_unit_test(a_split_signal_is_stored_behind_the_cards_count),
	    cmocka_unit_test(an_operation_is_applied_to_the_value_that_is),
	    cmocka_unit_test(whole_and_split_signals_have_the_same_operations),
	    cmocka_unit_test(no_signal_is_left_alone),
	};

	return cmocka_run_group_tests_name("PKT-04, SYS-56: split signals", tests, NULL, NULL);
}
