// SPDX-License-Identifier: MIT
/*
 * Movers (mover.h of the contract): COPY and FILL of boxes in global memory,
 * through the page tables of the descriptor's context. Shared-memory sides,
 * swizzle, reductions, padding and multicast belong to TUTTI_FEATURE_TMAU, which
 * this card does not claim: such a descriptor is answered with cause SERVICE.
 */
#include <string.h>

#include "hardware.h"

#define PIECE_BYTES (256u << 10) /* of one turn: the rest of the card wants to go on */
#define LINE 128u
#define SECTOR 32u
#define NS_PER_KIB 64u

static uint32_t extent(const struct mover *m, unsigned dimension)
{
	if (m->d.flags & TUTTI_MOVER_LINEAR)
		return dimension ? 1 : m->d.bytes;
	return dimension ? m->shape.count[dimension] : (uint32_t)m->shape.count[0] * m->shape.unit;
}

static bool supported(const struct mover *m)
{
	unsigned none = TUTTI_MOVER_CALL | TUTTI_MOVER_CLIPPED | TUTTI_MOVER_OUTSIDE;

	if ((m->d.op != TUTTI_MOVE_COPY && m->d.op != TUTTI_MOVE_FILL) || m->d.flags & none)
		return false;
	return m->shape.unit || m->d.flags & TUTTI_MOVER_LINEAR;
}

/* Address on the walked side of byte m->at of the row. */
static uint64_t walked(const struct mover *m)
{
	uint64_t va = m->d.global;
	unsigned k;

	if (m->d.flags & TUTTI_MOVER_LINEAR)
		return va + m->at;
	for (k = 0; k < TUTTI_MOVE_DIMENSIONS - 1; k++)
		va += m->index[k] * m->shape.stride[k + 1];
	return va + m->at / m->shape.unit * m->shape.stride[0] + m->at % m->shape.unit;
}

/* Bytes from @va to the end of its page, at most @n. */
static uint32_t clip(uint64_t va, uint32_t n)
{
	uint32_t left = TUTTI_PAGE_SIZE - (uint32_t)(va & (TUTTI_PAGE_SIZE - 1));

	return n < left ? n : left;
}

static void account(struct tutti_card *card, uint64_t va, uint32_t n, bool read_host, bool write_host)
{
	count(card, TUTTI_COUNTER_MOVER_BYTES, n);
	count(card, TUTTI_COUNTER_MOVER_LINES, (va + n - 1) / LINE - va / LINE + 1);
	count(card, TUTTI_COUNTER_MOVER_SECTORS, (va + n - 1) / SECTOR - va / SECTOR + 1);
	if (read_host) {
		count(card, TUTTI_COUNTER_BUS_READS, 1);
		count(card, TUTTI_COUNTER_BUS_READ_BYTES, n);
	}
	if (write_host) {
		count(card, TUTTI_COUNTER_BUS_WRITES, 1);
		count(card, TUTTI_COUNTER_BUS_WRITE_BYTES, n);
	}
}

static void fill(uint8_t *to, uint32_t n, uint64_t pattern, uint64_t phase)
{
	const uint8_t *bytes = (const uint8_t *)&pattern;
	uint32_t i;

	for (i = 0; i < n && ((uint64_t)(to + i) & 7); i++)
		to[i] = bytes[(phase + i) & 7];
	if (n - i >= 8) {
		uint8_t word[8];
		unsigned k;

		for (k = 0; k < 8; k++)
			word[k] = bytes[(phase + i + k) & 7];
		for (; n - i >= 8; i += 8)
			memcpy(to + i, word, 8);
	}
	for (; i < n; i++)
		to[i] = bytes[(phase + i) & 7];
}

/* The next contiguous piece, inside one page on either side. Return: its bytes, 0 = refused. */
static uint32_t step(struct tutti_card *card, struct mover *m, struct mmu_fault *fault)
{
	uint32_t n = extent(m, 0) - m->at;
	uint64_t va = walked(m), dense = m->d.other + m->done;
	bool host_from = false, host_to = false;
	uint8_t *from, *to;

	if (!(m->d.flags & TUTTI_MOVER_LINEAR) && n > m->shape.unit - m->at % m->shape.unit)
		n = m->shape.unit - m->at % m->shape.unit;
	n = clip(va, n);
	if (m->d.op == TUTTI_MOVE_FILL) {
		to = mmu_page(card, m->d.asid, va, TUTTI_ACCESS_WRITE, &host_to, fault);
		if (!to)
			return 0;
		fill(to, n, m->shape.fill, m->done);
	} else {
		n = clip(dense, n);
		from = mmu_page(card, m->d.asid, va, TUTTI_ACCESS_READ, &host_from, fault);
		to = from ? mmu_page(card, m->d.asid, dense, TUTTI_ACCESS_WRITE, &host_to, fault) : NULL;
		if (!to)
			return 0;
		memmove(to, from, n);
	}
	account(card, va, n, host_from, host_to);
	return n;
}

/* Behind @n more bytes. Return: true if the box is complete. */
static bool advance(struct mover *m, uint32_t n)
{
	unsigned k;

	m->done += n;
	m->at += n;
	if (m->at < extent(m, 0))
		return false;
	m->at = 0;
	for (k = 0; k < TUTTI_MOVE_DIMENSIONS - 1; k++) {
		if (++m->index[k] < extent(m, k + 1))
			return false;
		m->index[k] = 0;
	}
	return true;
}

static void finish(struct tutti_card *card, struct mover *m, uint8_t cause, uint64_t address)
{
	struct tutti_event event = { { TUTTI_EVENT_MOVER | (uint32_t)cause << 8 | (uint32_t)m->d.tag << 16,
				       (uint32_t)address, (uint32_t)(address >> 32) } };

	m->active = false;
	count(card, TUTTI_COUNTER_MOVER_DESCRIPTORS, 1);
	if (cause || (m->d.flags & TUTTI_MOVER_EVENT))
		engines_event(card, &event);
}

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
		e->movers = card_local(card, e->mover_base, (uint64_t)e->mover_slots * sizeof(struct tutti_mover), 4);
	return e->movers;
}

/* Shape of @d, NULL if it does not lie in local memory. */
static const struct tutti_mover_shape *mover_shape(struct tutti_card *card, const struct tutti_mover *d)
{
	static const struct tutti_mover_shape none;

	if (d->flags & TUTTI_MOVER_NO_SHAPE || d->op == TUTTI_MOVE_END)
		return &none;
	return card_local(card, d->shape, sizeof(none), 8);
}

/* Take the next descriptor out of the ring. Return: true if there was one. */
static bool take(struct tutti_card *card)
{
	struct engines *e = &card->engines;
	uint32_t tail = card->page->mover_tail;
	const struct tutti_mover_shape *shape = NULL;
	const struct tutti_mover *ring;

	if (likely(tail == e->mover_head))
		return false;
	ring = mover_ring(card);
	if (ring && tail - e->mover_head <= e->mover_slots)
		shape = mover_shape(card, &ring[e->mover_head & (e->mover_slots - 1)]);
	if (!shape) {
		card_die(card, TUTTI_CRASH_TRAP, CARD_CAUSE_COMMAND, card->ops->reg(card->core, 32), tail,
			 "mover ring is broken");
		return false;
	}
	memset(&e->mover, 0, sizeof(e->mover));
	e->mover.d = ring[e->mover_head & (e->mover_slots - 1)];
	e->mover.shape = *shape;
	e->mover.active = true;
	card->page->mover_head = ++e->mover_head;
	if (e->mover_head == card->page->mover_notice)
		e->mover_notice = true;
	return true;
}

static void notice(struct tutti_card *card)
{
	static const struct tutti_event event = { { TUTTI_EVENT_MOVER_ROOM } };

	if (!engines_room(card))
		return;
	engines_event(card, &event);
	card->engines.mover_notice = false;
}

bool mover_run(struct tutti_card *card)
{
	struct mover *m = &card->engines.mover;
	struct mmu_fault fault = { TUTTI_CAUSE_NONE, 0 };
	uint32_t n, left = PIECE_BYTES;

	if (unlikely(card->engines.mover_notice))
		notice(card);
	if (likely(!m->active) && likely(!take(card)))
		return false;
	if (!engines_room(card))
		return false;
	if (!supported(m)) {
		finish(card, m, TUTTI_CAUSE_SERVICE, m->d.global);
		return true;
	}
	do {
		n = step(card, m, &fault);
		if (!n) {
			finish(card, m, fault.cause, fault.address);
			return true;
		}
		if (advance(m, n)) {
			finish(card, m, TUTTI_CAUSE_NONE, 0);
			break;
		}
		left -= n < left ? n : left;
	} while (left);
	if (card->deterministic)
		card->virtual_time += (uint64_t)(PIECE_BYTES - left) * NS_PER_KIB / 1024;
	return true;
}
