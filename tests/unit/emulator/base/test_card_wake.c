// SPDX-License-Identifier: MIT
/* How threads of a card sleep and are woken (SYS-12): which system calls they make, and what other threads see meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "emulator/base/state.h"

static struct tutti_card *card;

/* The last system call that was made, and how many there were. */
static struct {
	long number;
	void *word;
	int op;
	unsigned value;
	struct timespec time;
	uint32_t sleepers, seq; /* the values that the card's fields had at that time */
} asked;
static unsigned calls;

static long play_syscall(long number, void *word, int op, unsigned value, const struct timespec *time, void *unused, int other)
{
	asked.number = number;
	asked.word = word;
	asked.op = op;
	asked.value = value;
	asked.time = time ? *time : (struct timespec){-1, -1};
	asked.sleepers = card->sleepers;
	asked.seq = card->wake_seq;
	assert_null(unused);
	assert_int_equal(other, 0);
	calls++;
	return 0;
}

static uint32_t wanted; /* how many threads wanted to drive the card when the lock was taken */

static int play_lock(pthread_mutex_t *mutex)
{
	assert_ptr_equal(mutex, &card->lock);
	wanted = card->wanted;
	return 0;
}

#define syscall(...) play_syscall(__VA_ARGS__)
#define pthread_mutex_lock(mutex) play_lock(mutex)
#include "emulator/base/wake.c"

static int setup(void **state)
{
	card = aligned_alloc(64, (sizeof(*card) + 63) & ~63ull);
	memset(card, 0, sizeof(*card));
	calls = 0;
	return 0;
}

static int teardown(void **state)
{
	free(card);
	return 0;
}

/* A thread asks to sleep for the given time, provided that the number of wake-ups is still the one that it has seen. */
static void sleeps(void **state)
{
	static const uint64_t times[] = {0, 1, 999999999, 1000000000, 1000000001, 250000, 3600ull * 1000000000, 7123456789};

	for (unsigned i = 0; i < sizeof(times) / sizeof(*times); i++)
		for (uint32_t others = 0; others < 3; others++) {
			card->sleepers = others;
			wake_wait(card, 77 + i, times[i]);
			assert_int_equal(asked.number, SYS_futex);
			assert_ptr_equal(asked.word, &card->wake_seq);
			assert_int_equal(asked.op, FUTEX_WAIT_PRIVATE);
			assert_int_equal(asked.value, 77 + i);
			assert_int_equal(asked.time.tv_sec, times[i] / 1000000000);
			assert_int_equal(asked.time.tv_nsec, times[i] % 1000000000);
			assert_int_equal(asked.sleepers, others + 1);
			assert_int_equal(card->sleepers, others);
		}
	assert_int_equal(calls, 3 * sizeof(times) / sizeof(*times));
}

/* Each wake-up adds 1 to the number of wake-ups. A system call is made only if threads sleep, and wakes all of them. */
static void wakes(void **state)
{
	for (uint32_t i = 0; i < 20; i++) {
		unsigned before = calls;

		card->wake_seq = i == 19 ? ~0u : i;
		card->sleepers = i % 3;
		card_wake(card);
		assert_int_equal(card->wake_seq, i == 19 ? 0 : i + 1);
		assert_int_equal(card->sleepers, i % 3);
		assert_int_equal(calls, before + !!(i % 3));
		if (calls == before)
			continue;
		assert_int_equal(asked.number, SYS_futex);
		assert_ptr_equal(asked.word, &card->wake_seq);
		assert_int_equal(asked.op, FUTEX_WAKE_PRIVATE);
		assert_int_equal(asked.value, INT_MAX);
		assert_int_equal(asked.seq, card->wake_seq);
	}
}

/* A thread that waits for the lock counts as one that wants to drive the card, so that the driving thread makes way. */
static void locks(void **state)
{
	for (uint32_t others = 0; others < 3; others++) {
		card->wanted = others;
		card_lock(card);
		assert_int_equal(wanted, others + 1);
		assert_int_equal(card->wanted, others);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    {"SYS-12: how long threads sleep", sleeps, setup, teardown, NULL},
	    {"SYS-12: which threads are woken", wakes, setup, teardown, NULL},
	    {"SYS-12: threads that want to drive the card", locks, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("card: sleep", tests, NULL, NULL);
}
