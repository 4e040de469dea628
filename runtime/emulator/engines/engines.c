// SPDX-License-Identifier: MIT
/*
 * The engines around the soft core: command ring, doorbells, messages and timer (softcore.h of the contract).
 * Everything that the firmware puts into its rings is checked. What makes no sense stops the soft core and cannot
 * harm the emulator.
 */
#include <errno.h>
#include <string.h>

#include "emulator/base/clock.h"
#include "emulator/base/counters.h"
#include "emulator/base/crash.h"
#include "emulator/base/inject.h"
#include "emulator/base/interrupt.h"
#include "emulator/base/local.h"
#include "emulator/base/trace.h"
#include "emulator/engines/engines.h"
#include "emulator/engines/fetch.h"
#include "emulator/launch/array.h"
#include "emulator/launch/cga.h"
#include "emulator/launch/launch.h"
#include "emulator/launch/state_sync.h"
#include "emulator/launch/state_table.h"
#include "emulator/launch/stop.h"
#include "emulator/launch/task_state.h"
#include "emulator/launch/throttle.h"
#include "emulator/memory/event_ring.h"
#include "emulator/memory/mmu.h"
#include "emulator/waves/service_request.h"

#define STATE_WORDS (sizeof(struct tutti_task_state) / 4)
#define LEVEL_WORDS (TUTTI_CGA_LEVELS * sizeof(struct tutti_cga_shape) / 4)

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* ---- doorbells, messages, timer ---- */

/* Put an event. The caller has checked that there is room. */
static void put(struct tutti_card *card, uint32_t word0, uint32_t word1)
{
	struct tutti_event event = { { word0, word1 } };

	engines_event(card, &event);
}

static bool doorbell_take(struct tutti_card *card, unsigned queue)
{
	uint64_t *doorbell = &card->doorbells[queue].doorbell, index;
	uint32_t *told;

	if (likely(tutti_load_relaxed(doorbell) == TUTTI_DOORBELL_EMPTY))
		return false;
	index = __atomic_exchange_n(doorbell, TUTTI_DOORBELL_EMPTY, __ATOMIC_ACQ_REL);
	if (index == TUTTI_DOORBELL_EMPTY)
		return false;
	if (inject_is(card, TUTTI_INJECT_LOST_DOORBELL) && inject_take(card, TUTTI_INJECT_LOST_DOORBELL))
		return false;
	if (card->page->doorbell_index) {
		told = card_local(card, card->page->doorbell_index + 4 * queue, sizeof(*told), 4);
		if (told)
			*told = (uint32_t)index;
	}
	count(card, TUTTI_COUNTER_DOORBELLS, 1);
	card_trace(card, TUTTI_TRACE_DOORBELL, queue, 0xffff, 0, 0, 0, 0);
	return true;
}

static void doorbells_scan(struct tutti_card *card)
{
	struct engines *e = &card->engines;
	unsigned w, b;
	uint32_t mask;

	for (w = 0; w < TUTTI_MAX_QUEUES / 32; w++)
		for (mask = card->page->doorbell_enable[w]; mask; mask &= mask - 1) {
			b = (unsigned)__builtin_ctz(mask);
			if (unlikely(doorbell_take(card, 32 * w + b))) {
				e->doorbell_pending[w] |= 1u << b;
				e->doorbell_any |= 1u << w;
			}
		}
}

static bool doorbells_deliver(struct tutti_card *card)
{
	struct engines *e = &card->engines;
	bool any = false;

	while (e->doorbell_any && engines_room(card)) {
		unsigned w = (unsigned)__builtin_ctz(e->doorbell_any);

		put(card, TUTTI_EVENT_DOORBELL | w << 8, e->doorbell_pending[w]);
		e->doorbell_pending[w] = 0;
		e->doorbell_any &= e->doorbell_any - 1;
		any = true;
	}
	return any;
}

/* Return: true if neither the host nor time reaches the firmware: engines_poll() delivers nothing, and nothing boots. */
static bool cut_off(struct tutti_card *card)
{
	return inject_is(card, TUTTI_INJECT_LINK_DOWN) || inject_is(card, TUTTI_INJECT_REMOVED);
}

uint64_t engines_timer(struct tutti_card *card)
{
	const struct tutti_engines *page = card->page;

	if (page->timer_hi == TUTTI_TIMER_OFF || !card->alive || unlikely(cut_off(card)))
		return ~0ull;
	return (uint64_t)page->timer_hi << 32 | page->timer_lo;
}

bool engines_poll(struct tutti_card *card, bool timer)
{
	struct engines *e = &card->engines;
	uint32_t tail;
	bool any = false;

	if (inject_is(card, TUTTI_INJECT_LINK_DOWN))
		return false;
	doorbells_scan(card);
	if (unlikely(e->doorbell_any))
		any = doorbells_deliver(card);
	tail = tutti_load_acquire(&card->control->host_ring_tail);
	if (unlikely(tail != e->message_seen) && engines_room(card)) {
		e->message_seen = tail;
		put(card, TUTTI_EVENT_MESSAGE, 0);
		any = true;
	}
	if (timer && engines_timer(card) <= card_time(card) && engines_room(card)) {
		card->page->timer_hi = TUTTI_TIMER_OFF;
		put(card, TUTTI_EVENT_TIMER, 0);
		any = true;
	}
	return any;
}

bool engines_visible(struct tutti_card *card)
{
	unsigned w;
	uint32_t mask;

	if (cut_off(card))
		return false;
	if (tutti_load_acquire(&card->control->boot_sequence) != tutti_load_relaxed(&card->boot_seen))
		return true;
	if (!tutti_load_relaxed(&card->alive))
		return false;
	if (tutti_load_acquire(&card->control->host_ring_tail) != tutti_load_relaxed(&card->engines.message_seen))
		return true;
	for (w = 0; w < TUTTI_MAX_QUEUES / 32; w++)
		for (mask = tutti_load_relaxed(&card->page->doorbell_enable[w]); mask; mask &= mask - 1)
			if (tutti_load_acquire(&card->doorbells[32 * w + (unsigned)__builtin_ctz(mask)].doorbell) !=
			    TUTTI_DOORBELL_EMPTY)
				return true;
	return false;
}

/* ---- commands ---- */

static uint64_t pair(const uint32_t *w)
{
	return w[0] | (uint64_t)w[1] << 32;
}

static void command_broken(struct tutti_card *card, uint32_t word, const char *text)
{
	card_die(card, TUTTI_CRASH_TRAP, CARD_CAUSE_COMMAND, card->ops->reg(card->core, 32), word, text);
}

static void do_nothing(struct tutti_card *card, const uint32_t *w, unsigned n)
{
}

/* Commands are executed in order, so what a fence waits for is done already; the host and waves must see it now. */
static void do_fence(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	tutti_fence();
}

static void do_fetch(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	fetch_fetch(card, w);
}

static void do_write(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	fetch_write(card, w);
}

static void do_block(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	if (n & 1)
		command_broken(card, w[0], "BLOCK ends amid a value");
	else
		fetch_block(card, w, (n - 4) / 2);
}

static void do_scrub(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	fetch_scrub(card, w);
}

static void do_signal(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	fetch_signal(card, w);
}

static void do_interrupt(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	card_publish(card);
	card_interrupt(card, w[0] >> 16);
}

static void do_state(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	unsigned sub = w[0] >> 16, slot = sub >> 8;
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	struct tutti_task_state state;
	unsigned used = 1 + STATE_WORDS;
	bool cga = sub & TUTTI_STATE_CGA, masked = sub & TUTTI_STATE_MASK;

	memcpy(&state, w + 1, sizeof(state));
	if (cga && n >= used + LEVEL_WORDS) {
		memcpy(level, w + used, sizeof(level));
		used += LEVEL_WORDS;
	}
	if (cga && used == 1 + STATE_WORDS) {
		command_broken(card, w[0], "STATE without its CGA levels");
		return;
	}
	sm_array_state(card->sms, slot, sub & 0xff, &state, cga ? level : NULL, masked ? w + used : NULL, masked ? n - used : 0);
}

/* Find @bytes at @address of the soft core, which lie in local memory or in card memory. */
static const void *core_view(const struct tutti_card *card, uint32_t address, uint32_t bytes)
{
	uint64_t all = card->discovery.memory_bytes < TUTTI_CORE_CARD_BYTES ? card->discovery.memory_bytes : TUTTI_CORE_CARD_BYTES;

	if (address & 3)
		return NULL;
	if (address < TUTTI_CORE_CARD)
		return address <= card->discovery.local_bytes - bytes ? card->local + address : NULL;
	return address - TUTTI_CORE_CARD <= all - bytes ? card->memory + (address - TUTTI_CORE_CARD) : NULL;
}

static void do_task(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	uint32_t sub = w[0] >> 16;
	const void *base = core_view(card, w[1], 4 * TUTTI_TASK_WORDS);
	struct tutti_task_state state = {.asid = (uint16_t)w[2], .queue = (uint16_t)(w[2] >> 16), .packet = pair(w + 3)};

	if (!base || n != 5u + 2 * !!(sub & TUTTI_TASK_NEW_GRID) + 2 * !!(sub & TUTTI_TASK_NEW_KERNARG)) {
		command_broken(card, w[0], "TASK of no state");
		return;
	}
	memcpy(&state, base, 4 * TUTTI_TASK_WORDS);
	w += 5;
	if (sub & TUTTI_TASK_NEW_GRID) {
		state.grid_x = w[0];
		state.groups_x = w[1];
		w += 2;
	}
	if (sub & TUTTI_TASK_NEW_KERNARG)
		state.kernarg = pair(w);
	if (sub & 3)
		tutti_fence();
	sm_array_state(card->sms, sub >> 8, 0, &state, NULL, NULL, 0);
}

static void refused(struct tutti_card *card, uint32_t word, const char *text)
{
	card_die(card, TUTTI_CRASH_TRAP, CARD_CAUSE_LAUNCH, card->ops->reg(card->core, 32), word, text);
}

static void do_launch(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	unsigned sub = w[0] >> 16;

	int error = sm_array_launch(card->sms, sub & 0xff, sub >> 8, w + 1, n - 1);

	if (unlikely(error))
		refused(card, w[0], error == -EAGAIN ? "LAUNCH before the task's STATE is acknowledged" :
							"LAUNCH refused by the SMs");
}

static void do_kill(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	sm_array_kill(card->sms, w[0] >> 16 & 0xff);
}

static void do_context(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	uint32_t asid = w[0] >> 16;

	if (asid == TUTTI_ASID_BUS || asid >= TUTTI_MAX_CONTEXTS)
		return;
	tutti_store_relaxed(&card->print[asid], pair(w + 3));
	mmu_context(card, asid, pair(w + 1));
	sm_array_invalidate(card->sms, asid, 0, 0);
}

static void do_tlb(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	uint32_t sub = w[0] >> 16;

	mmu_invalidate(card);
	sm_array_invalidate(card->sms, sub & 0x7fff, pair(w + 1), pair(w + 3));
}

static void do_order(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	sm_array_order(card->sms, w[1], w + 2, n - 2);
}

static void do_trace(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	card_trace(card, w[0] >> 16, w[1] & 0xffff, 0xffff, 0, w[2], 0, w[2]);
}

static void do_reply(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	sm_array_reply(card->sms, w[1] & 0xffff, w[1] >> 16, pair(w + 2));
}

static void do_sm_mode(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	unsigned mode = w[0] >> 16;

	sm_array_mode(card->sms, mode);
	card->sm_table = mode & TUTTI_SM_TABLE;
	if (mode & (TUTTI_SM_TABLE | TUTTI_SM_UPDATE))
		sm_array_table(card->sms, card->sm_states);
	if (!(mode & TUTTI_SM_UPDATE))
		return;
	card_publish(card); /* the host may see the answer before the interrupt that follows it */
	sm_array_sync(card->sms, card->sm_states);
	memcpy(card->bar + card->discovery.sm_states.offset, card->sm_states,
	       card->discovery.sms * sizeof(*card->sm_states));
}

static void do_flush(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	uint32_t gpc = w[0] >> 16 & 0xff, kind = w[0] >> 24;
	struct tutti_event event = {{TUTTI_EVENT_FLUSHED | gpc << 8 | kind << 16, w[1], w[2]}};

	if (kind == TUTTI_FLUSH_LMEM ? sm_array_flush_lmem(card->sms, w[1])
				     : sm_array_flush(card->sms, gpc, w[1], w[2])) {
		refused(card, w[0], "FLUSH refused by the SMs");
		return;
	}
	engines_event(card, &event);
}

static void do_throttle(struct tutti_card *card, const uint32_t *w, unsigned n)
{
	bool on = w[0] >> 16 & 1;

	if ((on && !w[1]) || sm_array_throttle(card->sms, on ? w[1] : 0, w + 2, n - 2)) {
		refused(card, w[0], "THROTTLE refused by the SMs");
		return;
	}
	put(card, TUTTI_EVENT_THROTTLE | (uint32_t)on << 8, 0);
}

static const struct {
	void (*fn)(struct tutti_card *card, const uint32_t *w, unsigned n);
	uint8_t min, max; /* length of the record in words */
	uint8_t events;   /* events it may put, for which it waits until there is room */
} commands[] = {
	[TUTTI_CMD_NOP] = { do_nothing, 1, 255, 0 },
	[TUTTI_CMD_FENCE] = { do_fence, 1, 1, 0 },
	[TUTTI_CMD_FETCH] = { do_fetch, 6, 6, 1 },
	[TUTTI_CMD_WRITE] = { do_write, 6, 6, 1 },
	[TUTTI_CMD_SCRUB] = { do_scrub, 5, 5, 1 },
	[TUTTI_CMD_SIGNAL] = { do_signal, 4, 4, 1 },
	[TUTTI_CMD_INTERRUPT] = { do_interrupt, 1, 1, 0 },
	[TUTTI_CMD_STATE] = { do_state, 1 + STATE_WORDS, 1 + STATE_WORDS + LEVEL_WORDS + TUTTI_MAX_SMS / 32, 1 },
	[TUTTI_CMD_LAUNCH] = { do_launch, 2, 255, 0 },
	[TUTTI_CMD_KILL] = { do_kill, 1, 1, 0 },
	[TUTTI_CMD_CONTEXT] = { do_context, 5, 5, 0 },
	[TUTTI_CMD_TLB] = { do_tlb, 5, 5, 0 },
	[TUTTI_CMD_ORDER] = { do_order, 3, 255, 0 },
	[TUTTI_CMD_TRACE] = { do_trace, 3, 3, 0 },
	[TUTTI_CMD_FLUSH] = { do_flush, 3, 3, 1 },
	[TUTTI_CMD_THROTTLE] = { do_throttle, 2, 255, 1 },
	[TUTTI_CMD_REPLY] = { do_reply, 4, 4, 0 },
	[TUTTI_CMD_SM_MODE] = { do_sm_mode, 1, 1, 0 },
	[TUTTI_CMD_TASK] = { do_task, 5, 9, 0 },
	[TUTTI_CMD_BLOCK] = { do_block, 6, 20, 1 },
};

static const uint32_t *command_ring(struct tutti_card *card)
{
	const struct tutti_engines *page = card->page;
	struct engines *e = &card->engines;

	if (likely(page->command_base == e->command_base && page->command_words == e->command_words))
		return e->commands;
	e->command_base = page->command_base;
	e->command_words = page->command_words;
	e->commands = NULL;
	if (power_of_two(e->command_words))
		e->commands = card_local(card, e->command_base, (uint64_t)e->command_words * 4, 4);
	return e->commands;
}

/* Return: the length of the record at @w, or 0 if it is malformed. */
static uint32_t command_length(struct engines *e, const uint32_t *w, uint32_t ready)
{
	uint32_t op = w[0] & 0xff, n = op == TUTTI_CMD_NOP ? w[0] >> 8 : w[0] >> 8 & 0xff;

	if (op >= sizeof(commands) / sizeof(commands[0]) || n > ready ||
	    n > e->command_words - (e->command_head & (e->command_words - 1)))
		return 0;
	if (op != TUTTI_CMD_NOP && (n < commands[op].min || n > commands[op].max))
		return 0;
	return n;
}

bool engines_commands(struct tutti_card *card)
{
	struct engines *e = &card->engines;
	const uint32_t *ring = command_ring(card);
	uint32_t tail = card->page->command_tail, start = e->command_head;

	if (tail == start)
		return false;
	if (unlikely(!ring || tail - start > e->command_words)) {
		command_broken(card, tail, "command ring is broken");
		return true;
	}
	while (e->command_head != tail && card->alive) {
		const uint32_t *w = ring + (e->command_head & (e->command_words - 1));
		uint32_t n = command_length(e, w, tail - e->command_head);

		if (unlikely(!n)) {
			command_broken(card, w[0], "bad command");
			return true;
		}
		if (unlikely(commands[w[0] & 0xff].events && !engines_room(card)))
			break;
		e->command_head += n;
		commands[w[0] & 0xff].fn(card, w, n);
		if (card->deterministic)
			card->virtual_time += CARD_NS_PER_COMMAND;
	}
	card->page->command_head = e->command_head;
	return e->command_head != start;
}

void engines_reset(struct tutti_card *card)
{
	memset(&card->engines, 0, sizeof(card->engines));
	memset(card->page, 0, sizeof(*card->page));
	card->page->timer_hi = TUTTI_TIMER_OFF;
}
