// SPDX-License-Identifier: MIT
#include "emulator/base/wake.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emulator/base/state.h"

void wake_wait(struct tutti_card *card, uint32_t seq, uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	__atomic_add_fetch(&card->sleepers, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &card->wake_seq, FUTEX_WAIT_PRIVATE, seq, &t, NULL, 0);
	__atomic_sub_fetch(&card->sleepers, 1, __ATOMIC_SEQ_CST);
}

void card_wake(struct tutti_card *card)
{
	__atomic_add_fetch(&card->wake_seq, 1, __ATOMIC_SEQ_CST);
	if (tutti_load_relaxed(&card->sleepers))
		syscall(SYS_futex, &card->wake_seq, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void card_lock(struct tutti_card *card)
{
	__atomic_add_fetch(&card->wanted, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&card->lock);
	__atomic_sub_fetch(&card->wanted, 1, __ATOMIC_SEQ_CST);
}
