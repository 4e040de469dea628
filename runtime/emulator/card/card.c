// SPDX-License-Identifier: MIT
/* The emulated card: its creation and end, and the loop that drives soft core, engines and SMs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "emulator/base/clock.h"
#include "emulator/base/counters.h"
#include "emulator/base/crash.h"
#include "emulator/base/garbage.h"
#include "emulator/base/inject.h"
#include "emulator/base/interrupt.h"
#include "emulator/base/profile.h"
#include "emulator/base/trace.h"
#include "emulator/base/wake.h"
#include "emulator/base/window.h"
#include "emulator/card/card.h"
#include "emulator/card/firmware_load.h"
#include "emulator/card/round.h"
#include "emulator/card/thread.h"
#include "emulator/engines/engines.h"
#include "emulator/engines/mover.h"
#include "emulator/launch/array.h"
#include "emulator/launch/report.h"
#include "emulator/launch/state_sync.h"
#include "emulator/launch/state_table.h"
#include "emulator/memory/event_ring.h"
#include "emulator/memory/mmu.h"
#include "emulator/waves/schedule.h"

#define SLICE_NS 1000000ull                    /* longest tutti_card_run() in fast mode */
#define SLICE_VIRTUAL ((1ull << 20) * CARD_NS_PER_INSTRUCTION) /* the same in deterministic mode */
#define WATCHDOG_NS 1000000000ull              /* the firmware hangs if it neither idles nor takes events for so long */
#define STUCK_STEP_NS 1000000ull               /* virtual time of a turn of a core that an injected fault hangs */
#define CLOCK_ROUNDS 16u                       /* rounds between two readings of the clock */
#define SPIN_ROUNDS 256u                       /* rounds without work before waiting for the workers */
#define WORKER_WAIT_NS 50000u
#define LOCK_WAIT_NS 100000u

/* ---- power-on and crash ---- */

void card_power_on(struct tutti_card *card)
{
	card->alive = card->died = false;
	card->stuck_ns = 0;
	card->sm_table = false;
	if (card->sms)
		sm_array_reset(card->sms);
	mmu_reset(card);
	memset(card->print, 0, sizeof(card->print));
	garbage_fill(card, card->local, card->discovery.local_bytes);
	engines_reset(card);
	mover_reset(card);
	memset(card->status, 0, sizeof(*card->status));
	memset(card->counters + TUTTI_COUNTER_CORE_INSTRUCTIONS, 0,
	       (TUTTI_COUNTERS - TUTTI_COUNTER_CORE_INSTRUCTIONS) * sizeof(uint64_t));
	memset(card->counts, 0, sizeof(card->counts));
	memset(card->shared_counts, 0, sizeof(card->shared_counts));
	card->trace_tail = card->trace_lost = 0;
	card->trace_half = false;
	card->virtual_instructions = 0;
	card->late_head = card->late_tail;
}

/* The soft core has been stopped: empty the SMs and tell the host, which may be waiting. */
static void bury(struct tutti_card *card)
{
	card->died = false;
	sm_array_reset(card->sms);
	card_publish(card);
	tutti_store_release(&card->status->state, TUTTI_STATE_CRASHED);
	/* Programs may sleep on any vector. Vector 0 is the one that the driver itself listens to. */
	card_interrupt(card, 0);
}

/* ---- one round ---- */

/* Time that the core had to run. CPU time is used, since on a busy host this thread may not run for long. */
static uint64_t core_clock(struct tutti_card *card)
{
	struct timespec t;

	if (card->deterministic)
		return card_time(card);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Count @ns in which the core has neither idled nor freed an event slot, and stop it when it had too many. */
static void watchdog(struct tutti_card *card, uint64_t ns)
{
	if (!card->stuck_ns || engines_freed(card))
		card->stuck_ns = 1;
	else
		card->stuck_ns += ns;
	if (card->stuck_ns > WATCHDOG_NS)
		card_die(card, TUTTI_CRASH_WATCHDOG, 0, card->ops->reg(card->core, 32), 0, "no event taken");
}

static void account(struct tutti_card *card)
{
	uint64_t n = card->ops->instructions(card->core);

	card->virtual_time += (n - card->virtual_instructions) * CARD_NS_PER_INSTRUCTION;
	card->virtual_instructions = n;
}

/* An injected fault keeps the core from running, from now on and not only from its next event on. */
static inline bool core_is_faulty(const struct tutti_card *card)
{
	return inject_is(card, TUTTI_INJECT_FIRMWARE_HANG) || inject_is(card, TUTTI_INJECT_FIRMWARE_SILENT);
}

/* A turn of such a core. */
static void stand_still(struct tutti_card *card)
{
	uint64_t now;

	if (card->deterministic)
		card->virtual_time += STUCK_STEP_NS;
	now = card_time(card);
	/* It counts as running, so that the card does not sleep, and if it is silent it also seems to take events. */
	if (inject_is(card, TUTTI_INJECT_FIRMWARE_SILENT) || !card->hung_at)
		card->stuck_ns = 1;
	else
		watchdog(card, now - card->hung_at);
	card->hung_at = now;
}

/* Return: false if the core had nothing to do */
static bool run_core(struct tutti_card *card)
{
	struct core_trap trap;
	enum core_stop stop;
	uint64_t now, began;

	if (core_is_faulty(card)) {
		stand_still(card);
		return false;
	}
	if (unlikely(inject_is(card, TUTTI_INJECT_FIRMWARE_CRASH)) && inject_take(card, TUTTI_INJECT_FIRMWARE_CRASH))
		card->ops->trap(card->core, 2);
	if (unlikely(card->sm_table))
		sm_array_table(card->sms, card->sm_states);
	now = card_time(card);
	card->page->time_lo = (uint32_t)now;
	card->page->time_hi = (uint32_t)(now >> 32);
	count(card, TUTTI_COUNTER_CORE_WAKES, 1);
	began = unlikely(card->stuck_ns) ? core_clock(card) : 0;
	stop = card->ops->run(card->core, &trap);
	if (card->deterministic)
		account(card);
	switch (stop) {
	case CORE_IDLE:
		card->stuck_ns = 0;
		break;
	case CORE_WAITS:
		card->stuck_ns = 0;
		return false;
	case CORE_PREEMPTED:
		watchdog(card, core_clock(card) - began);
		break;
	case CORE_HALTED:
		card_die(card, card->crash->cause ? TUTTI_CRASH_NONE : TUTTI_CRASH_PANIC, 0,
			 card->ops->reg(card->core, 32), 0, "firmware halted without a record");
		break;
	case CORE_DEAD:
		card_die(card, TUTTI_CRASH_TRAP, trap.cause, trap.epc, trap.tval, "no trap handler, or it traps for ever");
		break;
	}
	return true;
}

static bool live_round(struct tutti_card *card)
{
	bool timer = !(++card->round % CLOCK_ROUNDS), work = false, ran, reported;

	if (unlikely(inject_is(card, TUTTI_INJECT_REMOVED)))
		return false;
	if (unlikely(tutti_load_acquire(&card->control->boot_sequence) != card->boot_seen) &&
	    !inject_is(card, TUTTI_INJECT_LINK_DOWN)) {
		firmware_boot(card);
		work = true;
	}
	if (unlikely(!card->alive))
		return work;
	work |= engines_poll(card, timer || card->deterministic);
	if (engines_pending(card) || unlikely(card->stuck_ns) || core_is_faulty(card))
		work |= run_core(card);
	work |= engines_commands(card);
	if (unlikely(!card->alive))
		return true;
	work |= front_run(card);
	work |= mover_run(card);
	if (engines_pending(card) && work && !(card->deterministic && card->config.slice))
		return true;
	work |= sm_array_acknowledge(card->sms);
	ran = sm_array_run(card->sms);
	reported = sm_array_report(card->sms);
	/* If waves ran but nothing completed, they have used up their time slice. */
	if (ran && card->deterministic)
		card->virtual_time += reported ? CARD_NS_PER_WAVE : CARD_NS_PER_WAVE_SLICE;
	if (work || ran || reported)
		return true;
	return engines_poll(card, true); /* the timer, before the card idles */
}

bool card_round(struct tutti_card *card)
{
	bool work = live_round(card);

	if (unlikely(card->died))
		bury(card);
	if (card->late_head != card->late_tail)
		work |= interrupts_arrive(card);
	return work;
}

/* ---- driving ---- */

static bool drive_deterministic(struct tutti_card *card, bool (*done)(void *), void *context)
{
	uint64_t end = card_time(card) + SLICE_VIRTUAL, timer;
	bool worked = false, idle = false;

	while (!idle && card_time(card) < end) {
		if ((done && done(context)) || trace_leave(card))
			break;
		idle = !card_round(card);
		worked |= !idle;
		if (!idle || worked)
			continue;
		/* The card has done nothing in this call, so nothing will happen before the timer fires. */
		timer = engines_timer(card);
		if (timer == ~0ull)
			break;
		if (card->virtual_time < timer)
			card->virtual_time = timer;
		end = timer + SLICE_VIRTUAL;
		worked = card_round(card);
		idle = !worked;
	}
	card_publish(card);
	return idle;
}

static bool drive_fast(struct tutti_card *card, bool (*done)(void *), void *context)
{
	uint64_t end = card_clock() + SLICE_NS;
	unsigned rounds = 0, spins = 0;
	uint32_t seq;

	for (;;) {
		if ((done && done(context)) || trace_leave(card))
			return false;
		seq = tutti_load_acquire(&card->wake_seq);
		if (card_round(card)) {
			spins = 0;
		} else if (!card->alive || !sm_array_busy(card->sms)) {
			card_publish(card);
			return true;
		} else if (++spins > SPIN_ROUNDS) {
			wake_wait(card, seq, WORKER_WAIT_NS);
			rounds = CLOCK_ROUNDS - 1;
		}
		if (unlikely(card->stuck_ns)) /* a core that does not idle makes long rounds */
			rounds = CLOCK_ROUNDS - 1;
		if (!(++rounds % CLOCK_ROUNDS) && card_clock() > end)
			return false;
	}
}

/* Take the lock. Return: false if another thread keeps it for longer than a moment. */
static bool lock_soon(struct tutti_card *card)
{
	struct timespec t;
	uint64_t until;
	bool got;

	if (likely(!pthread_mutex_trylock(&card->lock)))
		return true;
	__atomic_add_fetch(&card->wanted, 1, __ATOMIC_SEQ_CST);
	until = card_clock() + LOCK_WAIT_NS;
	t = (struct timespec){ (time_t)(until / 1000000000u), (long)(until % 1000000000u) };
	got = !pthread_mutex_clocklock(&card->lock, CLOCK_MONOTONIC, &t);
	__atomic_sub_fetch(&card->wanted, 1, __ATOMIC_SEQ_CST);
	return got;
}

bool tutti_card_run(struct tutti_card *card, bool (*done)(void *), void *context)
{
	bool idle;

	if (!lock_soon(card))
		return false;
	if (unlikely(card->status->asleep))
		tutti_store_release(&card->status->asleep, 0);
	idle = card->deterministic ? drive_deterministic(card, done, context) : drive_fast(card, done, context);
	tutti_store_relaxed(&card->driven, card->deterministic ? 0 : card_clock());
	pthread_mutex_unlock(&card->lock);
	/* Without asleep the host does not kick, so the background thread must watch the doorbells again. */
	if (unlikely(tutti_load_relaxed(&card->deep)))
		card_wake(card);
	return idle;
}

/* ---- creation and end ---- */

size_t tutti_card_bar_bytes(const struct tutti_card_config *config)
{
	struct tutti_discovery discovery;

	if (window_layout(config, &discovery))
		return 0;
	return discovery.aperture + discovery.memory_bytes;
}

void *tutti_card_bar(struct tutti_card *card)
{
	return card->bar;
}

void tutti_card_kick(struct tutti_card *card)
{
	if (!card->deterministic)
		card_wake(card);
}

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int build_memory(struct tutti_card *card)
{
	const struct tutti_discovery *d = &card->discovery;

	card->bar_bytes = d->aperture + d->memory_bytes;
	card->bar_own = !card->config.bar;
	card->bar = card->bar_own ? reserve(card->bar_bytes) : card->config.bar;
	card->local = reserve(card->discovery.local_bytes);
	card->page = reserve(TUTTI_PAGE_SIZE);
	card->sm_states = reserve(card_sm_bytes(card));
	if (!card->bar || !card->local || !card->page || !card->sm_states)
		return -ENOMEM;
	card->control = (void *)(card->bar + d->control.offset);
	card->status = (void *)(card->bar + d->status.offset);
	card->crash = (void *)(card->bar + d->crash.offset);
	card->counters = (void *)(card->bar + d->counters.offset);
	card->trace = (void *)(card->bar + d->trace.offset);
	card->trace_records = d->trace.bytes / sizeof(struct tutti_trace);
	card->doorbells = (void *)(card->bar + d->doorbells.offset);
	card->memory = card->bar + d->aperture;
	return 0;
}

static void free_memory(struct tutti_card *card)
{
	if (card->bar_own && card->bar)
		munmap(card->bar, card->bar_bytes);
	if (card->local)
		munmap(card->local, card->discovery.local_bytes);
	if (card->page)
		munmap(card->page, TUTTI_PAGE_SIZE);
	if (card->sm_states)
		munmap(card->sm_states, card_sm_bytes(card));
}

static int build(struct tutti_card *card)
{
	const struct tutti_discovery *d = &card->discovery;
	int error = window_layout(&card->config, &card->discovery);
	uint64_t garbage = d->reserved_bytes + card->config.garbage;

	if (!error)
		error = build_memory(card);
	if (!error)
		error = mmu_create(card);
	if (!error)
		error = inject_create(card);
	if (!error)
		error = mover_create(card);
	if (!error)
		error = card->ops->create(card, &card->core);
	if (error)
		return error;
	card_power_on(card);
	window_fill(card);
	garbage_fill(card, card->memory, garbage < d->memory_bytes ? garbage : d->memory_bytes);
	error = sm_array_create(card, &card->sms);
	if (!error)
		error = thread_create(card);
	return error;
}

int tutti_card_create(const struct tutti_card_config *config, struct tutti_card **out)
{
	struct tutti_card *card = aligned_alloc(64, (sizeof(*card) + 63) & ~63ull);
	int error;

	if (!card)
		return -ENOMEM;
	memset(card, 0, sizeof(*card));
	card->config = *config;
	card->deterministic = config->mode == TUTTI_CARD_DETERMINISTIC;
	card->counting = config->count;
	card->ops = &core_cpu;
	card->start_ns = card_clock();
	pthread_mutex_init(&card->lock, NULL);
	pthread_mutex_init(&card->trace_lock, NULL);
	error = build(card);
	if (error) {
		tutti_card_destroy(card);
		return error;
	}
	*out = card;
	return 0;
}

void tutti_card_destroy(struct tutti_card *card)
{
	if (!card)
		return;
	thread_destroy(card);
	if (card->sms)
		sm_array_destroy(card->sms);
	if (card->core)
		card->ops->destroy(card->core);
	profile_destroy(card);
	inject_destroy(card);
	mover_destroy(card);
	mmu_destroy(card);
	free_memory(card);
	pthread_mutex_destroy(&card->trace_lock);
	pthread_mutex_destroy(&card->lock);
	free(card);
}

void tutti_card_reset(struct tutti_card *card)
{
	card_lock(card);
	card->boot_seen = 0;
	card_power_on(card);
	if (!inject_is(card, TUTTI_INJECT_REMOVED))
		window_fill(card);
	pthread_mutex_unlock(&card->lock);
}

void tutti_card_count(struct tutti_card *card, bool on)
{
	card_lock(card);
	card->counting = on;
	card->ops->count(card->core, on);
	pthread_mutex_unlock(&card->lock);
}

const char *tutti_card_core(struct tutti_card *card)
{
	const char *kind;

	card_lock(card);
	kind = card->ops->kind(card->core);
	pthread_mutex_unlock(&card->lock);
	return kind;
}

int tutti_card_host_add(struct tutti_card *card, void *start, size_t bytes)
{
	return mmu_host_add(card, start, bytes);
}

void tutti_card_host_remove(struct tutti_card *card, void *start)
{
	mmu_host_remove(card, start);
}
