/* SPDX-License-Identifier: MIT */
/* Programs that write packets of all kinds, good and bad, and publish them in any order. */
#ifndef TUTTI_TEST_FW_PRODUCER_H
#define TUTTI_TEST_FW_PRODUCER_H

#include "fw_world.h"

static uint32_t new_signal(struct model *q, struct entry *e, struct kern *k)
{
	assert_true(signals_used < SIGNALS);
	signals[signals_used].value = 1;
	owner[signals_used].kern = k;
	owner[signals_used].entry = e;
	owner[signals_used].queue = q;
	return signals_used++;
}

static uint64_t signal_address(uint32_t id)
{
	return id ? SIGNAL_AT + 64ull * id : 0;
}

static uint32_t some_groups(void)
{
	return roll(40) ? 1 + roll(24) : 1 + roll(1500);
}

static void fill_header(union tutti_packet *p, struct entry *e, unsigned type)
{
	e->barrier = !roll(4);
	e->acquire = (uint8_t)roll(3);
	e->release = (uint8_t)roll(3);
	p->word[0] = tutti_header(type, e->barrier, e->acquire, e->release);
}

static void fill_dispatch(struct model *q, struct entry *e, union tutti_packet *p)
{
	struct kern *k = &e->k[0];
	unsigned shape = roll(KERNELS), waves = 1 + shape % 4, ref = roll(8);

	e->kind = DISPATCH;
	e->n = 1;
	fill_header(p, e, TUTTI_PACKET_KERNEL_DISPATCH);
	k->barrier = e->barrier;
	k->acquire = e->acquire;
	k->release = e->widest = e->release;
	k->groups = some_groups();
	k->shape = (uint8_t)shape;
	k->grid_x = k->groups * 32 * waves - roll(32 * waves);
	k->kernarg = (uint64_t)roll32() << 4;
	k->signal = roll(3) ? 0 : new_signal(q, e, k);
	p->dispatch.setup = 1;
	p->dispatch.workgroup_x = (uint16_t)(32 * waves);
	p->dispatch.workgroup_y = p->dispatch.workgroup_z = 1;
	p->dispatch.grid_x = k->grid_x;
	p->dispatch.grid_y = p->dispatch.grid_z = 1;
	p->dispatch.group_bytes = roll(4) ? 0 : roll(12000);
	p->dispatch.kernel_object = KERNEL_AT + 64 * shape;
	p->dispatch.kernarg = k->kernarg;
	p->dispatch.signal = signal_address(k->signal);
	if (!(q->flags & TUTTI_QUEUE_EXTENDED)) {
		p->dispatch.ref_num = (uint16_t)roll(65536); /* ignored, as HSA says */
	} else if (roll(2)) {
		p->dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | ref);
		e->reference = true;
		q->reference[ref].k = *k;
		q->reference[ref].valid = true;
	}
}

/* The meaning of the packet now: its kernels, from the references as they are when its turn comes. */
static void read_condensed(struct model *q, struct entry *e, const union tutti_packet *p)
{
	const uint16_t *at = p->condensed.unit;
	unsigned i;

	e->kind = CONDENSED;
	e->n = p->condensed.num_kernels;
	for (i = 0; i < e->n; i++) {
		uint32_t head = *at++, vector = head >> 3;
		struct kern *k = &e->k[i];

		*k = q->reference[head & 7].k;
		if (vector & TUTTI_DIFF_SCOPES) {
			k->barrier = *at & 1;
			k->acquire = *at >> 1 & 3;
			k->release = *at++ >> 3 & 3;
		}
		if (vector & TUTTI_DIFF_GRID_X) {
			k->grid_x = at[0] | (uint32_t)at[1] << 16;
			k->groups = (k->grid_x - 1) / (32 * (1u + k->shape % 4)) + 1;
			at += 2;
		}
		if (vector & TUTTI_DIFF_KERNARG) {
			memcpy(&k->kernarg, at, 8);
			at += 4;
		}
		if (vector & TUTTI_DIFF_SIGNAL) {
			uint64_t signal;

			memcpy(&signal, at, 8);
			k->signal = signal ? (uint32_t)((signal - SIGNAL_AT) / 64) : 0;
			owner[k->signal].kern = k;
			at += 4;
		}
		if (k->release > e->widest)
			e->widest = k->release;
	}
	e->barrier = e->k[0].barrier;
}

static void fill_condensed(struct model *q, struct entry *e, union tutti_packet *p)
{
	unsigned n = roll(3) ? 1 + roll(4) : 1 + roll(31), at = 0, ref, i;
	bool signals_too = roll(3);
	uint64_t value;

	if (q->again_ok && !roll(2)) { /* the same packet again */
		unsigned named = 0;

		*p = q->same;
		read_condensed(q, e, p);
		for (i = 0; i < e->n; i++)
			named |= e->k[i].signal;
		if (!named)
			return;
		/* by now a reference names one */
		memset(e, 0, sizeof(*e));
		memset(p, 0, sizeof(*p));
	}
	p->condensed.type = TUTTI_PACKET_CONDENSED;
	for (i = 0; i < n && at < TUTTI_CONDENSED_UNITS; i++) {
		uint32_t vector = (roll(3) ? 0 : TUTTI_DIFF_GRID_X) | (roll(2) ? 0 : TUTTI_DIFF_KERNARG) |
				  (signals_too && !roll(3) ? TUTTI_DIFF_SIGNAL : 0) | (roll(5) ? 0 : TUTTI_DIFF_SCOPES);

		for (ref = roll(8); !q->reference[ref % 8].valid; ref++)
			;
		ref %= 8;
		/* each signal is decremented once here: that of a reference is never used again */
		if (q->reference[ref].k.signal)
			vector |= TUTTI_DIFF_SIGNAL;
		if (at + 1 + diff_units(vector) > TUTTI_CONDENSED_UNITS)
			break;
		p->condensed.unit[at++] = (uint16_t)(vector << 3 | ref);
		if (vector & TUTTI_DIFF_SCOPES)
			p->condensed.unit[at++] = tutti_header(0, !roll(4), roll(3), roll(3)) >> 8;
		if (vector & TUTTI_DIFF_GRID_X) {
			value = some_groups() * 32 * (1 + q->reference[ref].k.shape % 4);
			memcpy(&p->condensed.unit[at], &value, 4);
			at += 2;
		}
		if (vector & TUTTI_DIFF_KERNARG) {
			value = (uint64_t)roll32() << 4;
			memcpy(&p->condensed.unit[at], &value, 8);
			at += 4;
		}
		if (vector & TUTTI_DIFF_SIGNAL) {
			value = signals_too && roll(2) ? signal_address(new_signal(q, e, NULL)) : 0;
			memcpy(&p->condensed.unit[at], &value, 8);
			at += 4;
		}
	}
	p->condensed.num_kernels = (uint8_t)i;
	read_condensed(q, e, p);
	q->same = *p;
	for (q->again_ok = true, i = 0; i < e->n; i++)
		q->again_ok &= !e->k[i].signal;
}

/* Depends on signals of packets written before, in any queue, so that no cycle of waits can arise. */
static void fill_barrier(struct model *q, struct entry *e, union tutti_packet *p)
{
	uint32_t newest = signals_used, i;

	e->kind = roll(2) ? BARRIER_AND : BARRIER_OR;
	fill_header(p, e, e->kind == BARRIER_AND ? TUTTI_PACKET_BARRIER_AND : TUTTI_PACKET_BARRIER_OR);
	for (i = 0; i < 5; i++)
		if (newest > 1 && !roll(2)) {
			e->dependency[i] = newest - 1 - roll(newest - 1 < 30 ? newest - 1 : 30);
			p->barrier.dependency[i] = signal_address(e->dependency[i]);
		}
	e->signal = new_signal(q, e, NULL);
	p->barrier.signal = signal_address(e->signal);
}

static void fill_agent(struct model *q, struct entry *e, union tutti_packet *p)
{
	e->kind = roll(2) ? AGENT_NOP : AGENT_FILL;
	fill_header(p, e, TUTTI_PACKET_AGENT_DISPATCH);
	p->agent.type = e->kind == AGENT_NOP ? TUTTI_AGENT_NOP : TUTTI_AGENT_FILL;
	p->agent.arg[0] = FILL_AT + ((uint64_t)q->id << 32) + (q->write << 8);
	p->agent.arg[2] = 4 * (1 + roll(60));
	e->signal = new_signal(q, e, NULL);
	p->agent.signal = signal_address(e->signal);
}

/* A packet that must be refused. */
static void spoil(struct model *q, struct entry *e, union tutti_packet *p)
{
	e->bad = true;
	if (e->kind == CONDENSED) {
		p->condensed.num_kernels = (uint8_t)(roll(2) ? 0 : 32 + roll(224));
		e->errors = 1u << TUTTI_ERROR_PACKET;
		return;
	}
	if (e->kind != DISPATCH) {
		p->word[0] = e->kind == AGENT_NOP ? p->word[0] | 0x8000 : (p->word[0] & ~0xffu) | (6 + roll(50));
		e->errors = 1u << TUTTI_ERROR_PACKET;
		return;
	}
	switch (roll(6)) {
	case 0: p->dispatch.grid_x = 0; e->errors = 1u << TUTTI_ERROR_DIMENSIONS; break;
	case 1: p->dispatch.group_bytes = 64 * 2048 + 1; e->errors = 1u << TUTTI_ERROR_GROUP_MEMORY; break;
	case 2: p->dispatch.workgroup_x = 1025; e->errors = 1u << TUTTI_ERROR_WORKGROUP; break;
	case 3: p->dispatch.kernel_object = roll(2) ? 0 : 0x5000000040ull; e->errors = 1u << TUTTI_ERROR_CODE_OBJECT; break;
	case 4: p->dispatch.signal = 0x1001; e->errors = 1u << TUTTI_ERROR_PACKET; break;
	default: p->dispatch.setup |= 0x10; e->errors = 1u << TUTTI_ERROR_PACKET;
	}
}

static inline void produce(struct model *q, bool faults)
{
	struct entry *e = &q->entry[q->write % ENTRIES];
	union tutti_packet p = { { 0 } }, *slot = &q->ring[q->write % RING];
	bool references = false;
	unsigned i, kind = roll(12);

	if (!q->alive || q->write >= ENTRIES || q->write - q->read >= RING)
		return;
	assert_true(slot->dispatch.header == TUTTI_PACKET_INVALID || q->write < RING);
	memset(e, 0, sizeof(*e));
	for (i = 0; i < 8; i++)
		references |= q->reference[i].valid;
	if (kind < 6 && references)
		fill_condensed(q, e, &p);
	else if (kind < 9)
		fill_dispatch(q, e, &p);
	else if (kind < 11)
		fill_barrier(q, e, &p);
	else
		fill_agent(q, e, &p);
	if (faults && !e->reference && !roll(60))
		spoil(q, e, &p);
	e->first_word = p.word[0];
	memcpy(&slot->word[1], &p.word[1], 60);
	q->write++;
}

static void ring_doorbell(struct model *q)
{
	later(&(struct tutti_event){ { TUTTI_EVENT_DOORBELL, 1u << q->id } }, -1);
}

/* Publishing in any order: several producers (PKT-01). */
static inline void publish(struct model *q, bool all)
{
	uint64_t i;

	for (i = q->next; i < q->write; i++) {
		struct entry *e = &q->entry[i % ENTRIES];

		if (e->published || (!all && !roll(3)))
			continue;
		e->published = true;
		e->since = ++now;
		q->ring[i % RING].word[0] = e->first_word;
		ring_doorbell(q);
		if (!all)
			return;
	}
}

#endif
