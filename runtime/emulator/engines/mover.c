// SPDX-License-Identifier: MIT
/*
 * Movers (mover.h of the contract) execute the descriptors of their ring in order, a part at a time, so that soft core
 * and waves go on meanwhile. mover_walk.c and mover_data.c do what a descriptor means byte by byte.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/counters.h"
#include "emulator/base/crash.h"
#include "emulator/base/local.h"
#include "emulator/engines/mover.h"
#include "emulator/engines/mover_parts.h"
#include "emulator/memory/event_ring.h"
#include "emulator/waves/blocked.h"

#define TURN_BYTES (256u << 10) /* bytes of one turn, after which the rest of the card goes on */
#define TURN_COST 512u          /* what each descriptor costs of a turn, in bytes */
#define NS_PER_KIB 64u

int mover_create(struct tutti_card *card)
{
	card->mover = calloc(1, sizeof(*card->mover));
	return card->mover ? 0 : -ENOMEM;
}

void mover_destroy(struct tutti_card *card)
{
	free(card->mover);
	card->mover = NULL;
}

void mover_reset(struct tutti_card *card)
{
	memset(card->mover, 0, sizeof(*card->mover));
}

/* ---- taking a descriptor ------------------------------------------------- */

static const struct tutti_mover *mover_ring(struct tutti_card *card)
{
	const struct tutti_engines *page = card->page;
	struct engines *e = &card->engines;

	if (likely(page->mover_base == e->mover_base && page->mover_slots == e->mover_slots))
		return e->movers;
	e->mover_base = page->mover_base;
	e->mover_slots = page->mover_slots;
	e->movers = NULL;
	if (e->mover_slots && !(e->mover_slots & (e->mover_slots - 1)))
		e->movers = card_local(card, e->mover_base, (uint64_t)e->mover_slots * sizeof(struct tutti_mover), 8);
	return e->movers;
}

static void broken(struct tutti_card *card, uint32_t word, const char *text)
{
	card->mover->active = false;
	card_die(card, TUTTI_CRASH_TRAP, CARD_CAUSE_COMMAND, card->ops->reg(card->core, 32), word, text);
}

/* Copy what the descriptor refers to. Return: false if that is an error of the firmware. */
static bool take_parts(struct tutti_card *card, struct mover *m)
{
	const struct tutti_mover *d = &m->d;
	const struct tutti_mover_shape *shape;
	struct engines_call *call = &card->engines.call[d->call];

	memset(&m->shape, 0, sizeof(m->shape));
	m->shape.type = d->reduce ? d->type : TUTTI_U8; /* of blocks, which are bytes unless they are reduced */
	if (d->op != TUTTI_MOVE_END && !(d->flags & TUTTI_MOVER_NO_SHAPE)) {
		shape = card_local(card, d->shape, sizeof(*shape), 8);
		if (!shape)
			return false;
		m->shape = *shape;
	}
	if (!(d->flags & TUTTI_MOVER_CALL)) {
		m->call = (struct engines_call){ .asid = d->asid };
		return true;
	}
	if (!call->busy)
		return false;
	m->call = *call;
	if (d->flags & TUTTI_MOVER_LAST)
		call->busy = false;
	return true;
}

/* Check a descriptor. One that makes no sense is reported like a refused access. Return: TUTTI_CAUSE_*, 0 if good */
static uint8_t check(struct mover *m)
{
	const struct tutti_mover *d = &m->d;
	bool linear = d->flags & TUTTI_MOVER_LINEAR, called = d->flags & TUTTI_MOVER_CALL;

	m->reduce = NULL;
	if (d->op == TUTTI_MOVE_END)
		return TUTTI_CAUSE_NONE;
	if (!d->op || d->op > TUTTI_MOVE_END || m->shape.swizzle > TUTTI_SWIZZLE_128 ||
	    m->shape.type >= TUTTI_TENSOR_TYPES)
		return TUTTI_CAUSE_SERVICE;
	if ((d->op == TUTTI_MOVE_SHARED || d->op == TUTTI_MOVE_FILL || d->flags & TUTTI_MOVER_NO_SHAPE) && !linear)
		return TUTTI_CAUSE_SERVICE;
	if (d->flags & TUTTI_MOVER_PART &&
	    (linear || (d->flags & (TUTTI_MOVER_CALL | TUTTI_MOVER_CLIPPED | TUTTI_MOVER_EVENT)) !=
			       (TUTTI_MOVER_CALL | TUTTI_MOVER_CLIPPED)))
		return TUTTI_CAUSE_SERVICE;
	if ((d->op == TUTTI_MOVE_LOAD || d->op == TUTTI_MOVE_STORE || d->op == TUTTI_MOVE_SHARED) && !called)
		return TUTTI_CAUSE_SERVICE;
	if (d->reduce && (d->op == TUTTI_MOVE_STORE || d->op == TUTTI_MOVE_SHARED)) {
		m->reduce = reduce_find(d->reduce, m->shape.type, d->flags & TUTTI_MOVER_NO_SHAPE);
		if (!m->reduce)
			return TUTTI_CAUSE_TENSOR + TUTTI_TENSOR_ERROR_REDUCE;
	}
	return TUTTI_CAUSE_NONE;
}

/* Take the next descriptor out of the ring. Return: true if there was one. */
static bool take(struct tutti_card *card)
{
	struct engines *e = &card->engines;
	uint32_t tail = card->page->mover_tail;
	const struct tutti_mover *ring;
	struct mover *m = card->mover;

	if (likely(tail == e->mover_head))
		return false;
	ring = mover_ring(card);
	if (!ring || tail - e->mover_head > e->mover_slots) {
		broken(card, tail, "mover ring is broken");
		return false;
	}
	m->d = ring[e->mover_head & (e->mover_slots - 1)];
	if (!take_parts(card, m)) {
		broken(card, e->mover_head, "mover descriptor is broken");
		return false;
	}
	m->refused = check(m);
	m->active = true;
	m->arrived = 0;
	if (!walk_start(&m->walk, &m->d, &m->shape) && !m->refused)
		m->refused = TUTTI_CAUSE_SERVICE;
	card->page->mover_head = ++e->mover_head;
	e->mover_notify |= e->mover_head == card->page->mover_notice;
	return true;
}

/* ---- ending a descriptor ------------------------------------------------- */

static void tell_fault(struct tutti_card *card, const struct mover *m, const struct mover_fault *fault)
{
	const struct engines_call *call = &m->call;
	struct tutti_event event = {{
		TUTTI_EVENT_FAULT | (uint32_t)call->slot << 8 | (uint32_t)fault->cause << 16 |
			(uint32_t)fault->access << 24,
		call->sm | (uint32_t)call->wave << 16, (uint32_t)call->pc, (uint32_t)(call->pc >> 32),
		(uint32_t)fault->address, (uint32_t)(fault->address >> 32), TUTTI_ENGINE_MOVER, 0,
	}};

	sm_array_call_failed(card->sms, call->cta);
	engines_event(card, &event);
}

static void tell_event(struct tutti_card *card, const struct mover *m, const struct mover_fault *fault)
{
	struct tutti_event event = {{
		TUTTI_EVENT_MOVER | (uint32_t)fault->cause << 8 | (uint32_t)m->d.tag << 16,
		(uint32_t)fault->address, (uint32_t)(fault->address >> 32),
	}};

	engines_event(card, &event);
}

/* Count bytes that have arrived on the mbarrier of each CTA that they went to. */
static void tell_barriers(struct mover *m)
{
	if (!m->arrived || m->call.barrier == TUTTI_BARRIER_NONE)
		return;
	for (unsigned i = 0; i < m->targets; i++)
		if (!(m->call.barrier & 7) && m->call.barrier + 8ull <= m->target[i].bytes)
			mbarrier_complete((uint64_t *)(m->target[i].base + m->call.barrier), m->arrived);
	m->arrived = 0;
}

static void finish(struct tutti_card *card, struct mover *m, const struct mover_fault *fault)
{
	m->active = false;
	count(card, TUTTI_COUNTER_MOVER_DESCRIPTORS, 1);
	if (!(m->d.flags & TUTTI_MOVER_CALL)) {
		if (fault->cause || (m->d.flags & TUTTI_MOVER_EVENT))
			tell_event(card, m, fault);
		return;
	}
	if (fault->cause)
		tell_fault(card, m, fault);
	else if (m->d.flags & TUTTI_MOVER_EVENT)
		tell_event(card, m, fault);
	if (m->d.flags & TUTTI_MOVER_LAST)
		sm_array_call_done(card->sms, m->call.cta);
}

/* ---- a turn -------------------------------------------------------------- */

static uint8_t add_target(struct tutti_card *card, struct mover *m, uint32_t rank)
{
	uint8_t cause = sm_array_shared(card->sms, m->call.cta, rank, &m->target[m->targets]);

	m->targets += !cause;
	return cause;
}

/* Look up shared memory in each turn, since CTAs may end in between. Return: 0 or TUTTI_CAUSE_*. */
static uint8_t find_shared(struct tutti_card *card, struct mover *m)
{
	uint32_t mask = m->call.mask;
	uint8_t cause = 0;

	m->targets = 0;
	if (m->d.op == TUTTI_MOVE_STORE || m->d.op == TUTTI_MOVE_SHARED)
		cause = sm_array_shared(card->sms, m->call.cta, SM_SELF, &m->source);
	if (m->d.op == TUTTI_MOVE_SHARED && !cause)
		return add_target(card, m, m->call.cta_rank);
	if (m->d.op == TUTTI_MOVE_LOAD && !m->call.multicast)
		return add_target(card, m, SM_SELF);
	for (; m->d.op == TUTTI_MOVE_LOAD && mask && !cause; mask &= mask - 1)
		cause = add_target(card, m, (uint32_t)__builtin_ctz(mask));
	return cause;
}

static void account_run(struct tutti_card *card, const struct mover *m, const struct piece *piece)
{
	if (piece->filled || !piece->fresh || m->d.op == TUTTI_MOVE_SHARED)
		return;
	mover_account(card, piece->va, piece->bytes);
	if (m->d.op == TUTTI_MOVE_COPY || m->d.op == TUTTI_MOVE_SCATTER)
		mover_account(card, m->d.other + m->walk.done, piece->bytes);
}

static uint32_t move_piece(struct tutti_card *card, struct mover *m, struct mover_fault *fault)
{
	struct piece piece;
	uint32_t n;

	walk_piece(&m->walk, &piece);
	account_run(card, m, &piece);
	n = mover_move(card, m, &piece, fault);
	walk_advance(&m->walk, n);
	if (!piece.filled)
		count(card, TUTTI_COUNTER_MOVER_BYTES, n);
	return n;
}

/* Move bytes until the descriptor is done or refused, or @left is used up. Return: what is left, 0 to end the turn. */
static uint32_t go_on(struct tutti_card *card, struct mover *m, uint32_t left)
{
	struct mover_fault fault = { TUTTI_CAUSE_NONE, TUTTI_ACCESS_NONE, 0 };
	uint32_t n;

	if (m->d.flags & TUTTI_MOVER_CALL && sm_array_call_dropped(card->sms, m->call.cta))
		m->walk.done = m->walk.total;
	else
		fault.cause = m->refused ? m->refused : find_shared(card, m);
	while (m->walk.done < m->walk.total && left && !fault.cause && m->d.op != TUTTI_MOVE_END) {
		n = mover_rows(card, m, left);
		if (!n)
			n = move_piece(card, m, &fault);
		m->arrived += n;
		left -= n < left ? n : left;
	}
	tell_barriers(m);
	if (m->walk.done < m->walk.total && !fault.cause && m->d.op != TUTTI_MOVE_END)
		return 0;
	finish(card, m, &fault);
	return left < TURN_COST ? 0 : left - TURN_COST;
}

bool mover_run(struct tutti_card *card)
{
	struct mover *m = card->mover;
	struct tutti_event room = {{ TUTTI_EVENT_MOVER_ROOM }};
	uint32_t left = TURN_BYTES;
	bool worked = false;

	for (;;) {
		if (unlikely(card->engines.mover_notify)) {
			if (!engines_event(card, &room))
				break;
			card->engines.mover_notify = false;
			worked = true;
		}
		if (!left || !engines_room(card) || (!m->active && !take(card)))
			break;
		worked = true;
		left = go_on(card, m, left);
	}
	if (!worked)
		return false;
	sm_array_progress(card->sms);
	if (card->deterministic)
		card->virtual_time += (uint64_t)(TURN_BYTES - left) * NS_PER_KIB / 1024;
	return true;
}
