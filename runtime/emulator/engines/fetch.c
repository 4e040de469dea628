// SPDX-License-Identifier: MIT
/* The fetch engine (FETCH) and the post unit (WRITE, SCRUB, SIGNAL); see softcore.h of the contract. */
#include <string.h>

#include "emulator/base/clock.h"
#include "emulator/base/counters.h"
#include "emulator/base/inject.h"
#include "emulator/base/interrupt.h"
#include "emulator/base/local.h"
#include "emulator/base/trace.h"
#include "emulator/engines/fetch.h"
#include "emulator/memory/event_ring.h"
#include "emulator/memory/mmu.h"

#define FETCH_BYTES_MAX 4096u
#define SLOT 64u

static void bus_read(struct tutti_card *card, bool host, uint64_t bytes)
{
	if (!host)
		return;
	count(card, TUTTI_COUNTER_BUS_READS, 1);
	count(card, TUTTI_COUNTER_BUS_READ_BYTES, bytes);
}

static void bus_write(struct tutti_card *card, bool host, uint64_t bytes)
{
	if (!host)
		return;
	count(card, TUTTI_COUNTER_BUS_WRITES, 1);
	count(card, TUTTI_COUNTER_BUS_WRITE_BYTES, bytes);
}

static void event(struct tutti_card *card, uint32_t word0, uint64_t address)
{
	struct tutti_event e = { { word0, (uint32_t)address, (uint32_t)(address >> 32) } };

	/* There is room, which engines_commands() has checked. */
	engines_event(card, &e);
}

/* ---- FETCH ---- */

/*
 * The first word of each slot is read first, with acquire order: if it says that the packet is there, the body that is
 * read after it is complete.
 */
static void copy_packets(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	for (; bytes; bytes -= SLOT, to += SLOT, from += SLOT) {
		uint32_t first = tutti_load_acquire((const uint32_t *)from);

		memcpy(to, &first, sizeof(first));
		memcpy(to + 4, from + 4, SLOT - 4);
	}
}

static bool fetch_pieces(struct tutti_card *card, const uint32_t *w, uint8_t *to, struct mmu_fault *fault)
{
	uint32_t asid = w[1] & 0xffff, bytes = w[4], n;
	uint64_t va = w[2] | (uint64_t)w[3] << 32;
	bool packets = w[1] >> 16 & TUTTI_FETCH_PACKETS, host;
	const uint8_t *from;

	if ((va & 3) || (packets && ((va | bytes) & (SLOT - 1)))) {
		*fault = (struct mmu_fault){ TUTTI_CAUSE_ALIGNMENT, va };
		return false;
	}
	for (; bytes; bytes -= n, va += n, to += n) {
		from = mmu_page(card, asid, va, TUTTI_ACCESS_READ, &host, fault);
		if (unlikely(!from))
			return false;
		n = TUTTI_PAGE_SIZE - (va & (TUTTI_PAGE_SIZE - 1));
		if (n > bytes)
			n = bytes;
		if (packets)
			copy_packets(to, from, n);
		else
			memcpy(to, from, n);
		bus_read(card, host, n);
	}
	return true;
}

/* Injected fault: a fetch amid the producer's writes finds the old header, and half of the body new. */
static void tear(uint8_t *packet)
{
	uint16_t invalid = TUTTI_PACKET_INVALID;

	memcpy(packet, &invalid, sizeof(invalid));
	memset(packet + SLOT / 2, 0, SLOT / 2);
}

void fetch_fetch(struct tutti_card *card, const uint32_t *w)
{
	uint32_t tag = w[0] >> 16, bytes = w[4];
	uint8_t *to = card_local(card, w[5], bytes, 4);
	struct mmu_fault fault = { TUTTI_CAUSE_ALIGNMENT, 0 };

	if (card->deterministic)
		card->virtual_time += CARD_NS_PER_FETCH;
	if (unlikely(!to || !bytes || (bytes & 3) || bytes > FETCH_BYTES_MAX || !fetch_pieces(card, w, to, &fault))) {
		event(card, TUTTI_EVENT_FETCH | (uint32_t)fault.cause << 8 | tag << 16, fault.address);
		return;
	}
	if (inject_is(card, TUTTI_INJECT_MEMORY_ERROR) && inject_take(card, TUTTI_INJECT_MEMORY_ERROR)) {
		event(card, TUTTI_EVENT_FETCH | TUTTI_CAUSE_ECC << 8 | tag << 16, w[2] | (uint64_t)w[3] << 32);
		return;
	}
	if (inject_is(card, TUTTI_INJECT_TORN_FETCH) && (w[1] >> 16 & TUTTI_FETCH_PACKETS) &&
	    inject_take(card, TUTTI_INJECT_TORN_FETCH))
		tear(to);
	card_trace(card, TUTTI_TRACE_FETCH, 0xffff, 0xffff, 0, 0, 0, bytes);
	event(card, TUTTI_EVENT_FETCH | tag << 16, 0);
}

/* ---- post unit ---- */

static void post_fault(struct tutti_card *card, const uint32_t *w, const struct mmu_fault *fault)
{
	event(card, TUTTI_EVENT_POST_FAULT | (uint32_t)fault->cause << 8 | (w[1] & 0xffff0000u), fault->address);
}

/* Return: a pointer to an aligned object, or NULL after an event POST_FAULT. */
static void *post_target(struct tutti_card *card, const uint32_t *w, uint32_t align, unsigned access, bool *host)
{
	uint64_t va = w[2] | (uint64_t)w[3] << 32;
	struct mmu_fault fault = { TUTTI_CAUSE_ALIGNMENT, va };
	void *p = NULL;

	if (likely(!(va & (align - 1))))
		p = mmu_page(card, w[1] & 0xffff, va, access, host, &fault);
	if (unlikely(!p))
		post_fault(card, w, &fault);
	return p;
}

void fetch_write(struct tutti_card *card, const uint32_t *w)
{
	uint32_t bytes = w[0] >> 16 & 0xf;
	bool host;
	void *p;

	if (bytes != 4)
		bytes = 8;
	p = post_target(card, w, bytes, TUTTI_ACCESS_WRITE, &host);
	if (!p)
		return;
	if (bytes == 4)
		tutti_store_release((uint32_t *)p, w[4]);
	else
		tutti_store_release((uint64_t *)p, w[4] | (uint64_t)w[5] << 32);
	bus_write(card, host, bytes);
}

void fetch_block(struct tutti_card *card, const uint32_t *w, unsigned values)
{
	struct mmu_fault fault = { TUTTI_CAUSE_ALIGNMENT, w[2] | (uint64_t)w[3] << 32 };
	uint64_t *p;
	bool host;

	if ((w[2] & 63) / 8 + values > 8) {
		post_fault(card, w, &fault);
		return;
	}
	p = post_target(card, w, 8, TUTTI_ACCESS_WRITE, &host);
	if (!p)
		return;
	for (unsigned i = values; i--;)
		tutti_store_release(p + i, w[4 + 2 * i] | (uint64_t)w[5 + 2 * i] << 32);
	bus_write(card, host, 8 * values);
}

void fetch_scrub(struct tutti_card *card, const uint32_t *w)
{
	uint64_t va = w[2] | (uint64_t)w[3] << 32, end;
	bool reference = w[0] >> 16 & 1, host;
	struct mmu_fault fault = { TUTTI_CAUSE_ALIGNMENT, va };
	uint8_t *p = NULL;

	if ((va & (SLOT - 1)) || w[4] > card->discovery.ring_packets_max) {
		post_fault(card, w, &fault);
		return;
	}
	for (end = va + (uint64_t)w[4] * SLOT; va != end; va += SLOT, p += SLOT) {
		if (!p || !(va & (TUTTI_PAGE_SIZE - 1)))
			p = mmu_page(card, w[1] & 0xffff, va, TUTTI_ACCESS_WRITE, &host, &fault);
		if (unlikely(!p)) {
			post_fault(card, w, &fault);
			return;
		}
		if (reference)
			tutti_store_relaxed((uint16_t *)(p + 10), 0);
		tutti_store_release((uint16_t *)p, TUTTI_PACKET_INVALID);
		bus_write(card, host, reference ? 4 : 2);
	}
}

/* Programs may store any value, so differences are those of unsigned numbers. */
static void signal_cancel(struct tutti_signal *signal)
{
	if (signal->flags & TUTTI_SIGNAL_SPLIT)
		tutti_store_release((uint64_t *)&signal->card_done, (uint64_t)tutti_load_relaxed(&signal->value) -
									    (uint64_t)TUTTI_SIGNAL_CANCELLED);
	else
		__atomic_store_n(&signal->value, TUTTI_SIGNAL_CANCELLED, __ATOMIC_SEQ_CST);
	tutti_fence();
}

void fetch_signal(struct tutti_card *card, const uint32_t *w)
{
	bool host;
	struct tutti_signal *signal = post_target(card, w, sizeof(*signal), TUTTI_ACCESS_ATOMIC, &host);

	if (!signal)
		return;
	if (w[0] >> 16 & TUTTI_SIGNAL_TIMES)
		tutti_store_relaxed(&signal->end_time, card_time(card));
	if (unlikely(w[0] >> 16 & TUTTI_SIGNAL_CANCEL)) {
		signal_cancel(signal);
	} else if (signal->flags & TUTTI_SIGNAL_SPLIT) {
		tutti_store_release((uint64_t *)&signal->card_done, (uint64_t)tutti_load_relaxed(&signal->card_done) + 1);
		tutti_fence();
	} else {
		__atomic_fetch_sub(&signal->value, 1, __ATOMIC_SEQ_CST);
	}
	bus_write(card, host, 8);
	card_trace(card, TUTTI_TRACE_COMPLETE, w[1] >> 16, 0xffff, 0, w[2] | (uint64_t)w[3] << 32, 0, 1);
	/* Waiters are read after the decrement, because a waiter announces itself and then looks at the value again. */
	if (unlikely(tutti_load_relaxed(&signal->waiters))) {
		bus_read(card, host, 4);
		card_interrupt(card, w[0] >> 16 & 0x3fff);
	}
}
