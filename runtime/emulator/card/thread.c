// SPDX-License-Identifier: MIT
/*
 * The background thread of fast mode drives the card when no host thread does, and sleeps when there is nothing to do
 * (control.h describes the handshake with asleep). Firmware that runs for ever does not hold it up: the core leaves each
 * of its runs after 2^20 instructions.
 */
#include <errno.h>
#include <time.h>

#include "emulator/base/clock.h"
#include "emulator/base/counters.h"
#include "emulator/base/wake.h"
#include "emulator/card/round.h"
#include "emulator/card/thread.h"
#include "emulator/engines/engines.h"
#include "emulator/launch/array.h"

#define GRACE_NS 1000000ull     /* poll instead of sleeping for so long after a host thread drove the card */
#define POLL_NS 250000ull
#define FOREVER_NS (3600ull * 1000000000)

/* Run rounds until nothing is left to do or another thread wants to drive. Return: true if nothing is left. */
static bool drive(struct tutti_card *card)
{
	while (!tutti_load_relaxed(&card->wanted) && !tutti_load_relaxed(&card->stop))
		if (!card_round(card))
			return true;
	return false;
}

/*
 * Set asleep, look for work once more, and sleep until a kick or the timer. The second look finds what the host wrote
 * before it could see asleep. The caller holds the lock, which is released.
 */
static void sleep_deep(struct tutti_card *card, uint32_t seq)
{
	uint64_t timer, now, ns = FOREVER_NS;

	card_publish(card);
	tutti_store_relaxed(&card->status->asleep, 1);
	tutti_fence();
	timer = engines_timer(card);
	now = card_time(card);
	if (timer <= now || engines_visible(card)) {
		tutti_store_release(&card->status->asleep, 0);
		pthread_mutex_unlock(&card->lock);
		return;
	}
	if (timer - now < ns)
		ns = timer - now;
	tutti_store_release(&card->deep, 1);
	pthread_mutex_unlock(&card->lock);
	wake_wait(card, seq, ns);
	tutti_store_release(&card->deep, 0);
}

/* Return: true if something may go on without a round of the card that finds work. */
static bool busy(struct tutti_card *card)
{
	if (inject_is(card, TUTTI_INJECT_REMOVED))
		return false; /* nothing of it goes on */
	return (card->alive && sm_array_busy(card->sms)) || card->stuck_ns;
}

static void turn(struct tutti_card *card)
{
	uint32_t seq = tutti_load_acquire(&card->wake_seq);
	bool idle;

	if (tutti_load_relaxed(&card->wanted) || pthread_mutex_trylock(&card->lock)) {
		wake_wait(card, seq, POLL_NS);
		return;
	}
	if (card->status->asleep)
		tutti_store_release(&card->status->asleep, 0);
	idle = drive(card);
	if (idle && !busy(card) && card_clock() - tutti_load_relaxed(&card->driven) > GRACE_NS) {
		sleep_deep(card, seq);
		return;
	}
	pthread_mutex_unlock(&card->lock);
	if (idle || tutti_load_relaxed(&card->wanted))
		wake_wait(card, seq, POLL_NS);
}

static void *background(void *data)
{
	struct tutti_card *card = data;

	while (!tutti_load_acquire(&card->stop))
		turn(card);
	return NULL;
}

int thread_create(struct tutti_card *card)
{
	if (card->deterministic)
		return 0;
	if (pthread_create(&card->thread, NULL, background, card))
		return -EAGAIN;
	card->thread_runs = true;
	return 0;
}

void thread_destroy(struct tutti_card *card)
{
	if (!card->thread_runs)
		return;
	tutti_store_release(&card->stop, 1);
	card_wake(card); /* the thread looks at stop between its look at wake_seq and its sleep */
	pthread_join(card->thread, NULL);
	card->thread_runs = false;
}
