/* SPDX-License-Identifier: MIT */
/*
 * The firmware's TMAU on the host: a front that puts requests into the request area, and
 * movers that execute descriptors byte by byte, written straight from mover.h. Global memory has
 * no storage: what is read is a function of the address, what is written is kept in a table.
 */
#ifndef TUTTI_TEST_TENSOR_RIG_H
#define TUTTI_TEST_TENSOR_RIG_H

#include "fw_rig.h"

#include "tensor/descriptor_cache.h"
#include "top/main.h"
#include "tasks/task_table.h"
#include "tensor/tensor_requests.h"

#define RIG_SHARED (40u << 10)
#define RIG_ASID 5u
#define RIG_TASK 3u
#define RIG_DESCRIPTORS 0x7000000000ull /* tensor descriptors lie here */
#define RIG_SETS 64u

/* ---- global memory: written or touched bytes */

#define TABLE_SLOTS (1u << 18)
struct byte_set {
	struct { uint64_t address; uint32_t epoch; uint8_t value; } *slot;
	uint32_t *used; /* slots in use, @count of them */
	uint32_t epoch, count;
	bool twice; /* a byte was put more than once */
};

static inline void byte_set_clear(struct byte_set *set)
{
	if (!set->slot)
		set->slot = calloc(TABLE_SLOTS, sizeof(*set->slot));
	if (!set->used)
		set->used = calloc(TABLE_SLOTS, sizeof(*set->used));
	set->epoch++;
	set->count = 0;
	set->twice = false;
}

static inline uint32_t byte_set_find(const struct byte_set *set, uint64_t address)
{
	/* neighbours stay neighbours: most of what is looked up next is in the cache */
	uint32_t i = (uint32_t)((address >> 6) * 0x9e3779b97f4a7c15ull >> 52) << 6 | (uint32_t)(address & 63);

	while (set->slot[i].epoch == set->epoch && set->slot[i].address != address)
		i = (i + 1) % TABLE_SLOTS;
	return i;
}

static inline void byte_set_put(struct byte_set *set, uint64_t address, uint8_t value)
{
	uint32_t i = byte_set_find(set, address);

	if (set->slot[i].epoch == set->epoch)
		set->twice = true;
	else
		set->used[set->count++] = i;
	assert_true(set->count < TABLE_SLOTS / 2);
	set->slot[i].address = address;
	set->slot[i].epoch = set->epoch;
	set->slot[i].value = value;
}

static inline bool byte_set_equal(const struct byte_set *a, const struct byte_set *b)
{
	uint32_t n;

	if (a->count != b->count)
		return false;
	for (n = 0; n < a->count; n++) {
		uint32_t i = a->used[n], k = byte_set_find(b, a->slot[i].address);

		if (b->slot[k].epoch != b->epoch || b->slot[k].value != a->slot[i].value)
			return false;
	}
	return true;
}

static inline uint8_t any_byte(uint64_t address)
{
	uint64_t x = (address >> 3) * 0xbf58476d1ce4e5b9ull;

	x ^= x >> 29;
	x *= 0x94d049bb133111ebull;
	x ^= x >> 32;
	return (uint8_t)(x >> 8 * (address & 7));
}

/* ---- the card around the firmware */

static struct rig_card {
	uint8_t (*memory)(uint64_t address);
	uint8_t shared[RIG_SHARED];      /* of the requesting CTA */
	uint8_t target[RIG_SHARED];      /* of CTA @cta of a request */
	struct byte_set global;          /* written, or prefetched */
	struct tutti_tensor descriptor[RIG_SETS] __attribute__((aligned(64))); /* at RIG_DESCRIPTORS */
	uint32_t head;                   /* movers taken */
	uint32_t front;                  /* requests put into the area */
	uint32_t ended;                  /* LAST taken */
	uint32_t filled, moved;          /* bytes on the dense side */
	uint32_t movers, ends, boxes;    /* descriptors by kind */
	uint32_t fetches;
	uint64_t refuse_fetch;           /* address whose fetch fails */
	uint8_t reduce, type;
	bool slow;                       /* movers take few at a time, fetches are late */
} card = { .memory = any_byte };

static inline struct tutti_tensor_call *card_call(uint32_t number)
{
	return (struct tutti_tensor_call *)hal_pointer(hal_host.engines.request_base) +
	       number % hal_host.engines.request_slots;
}

static inline uint32_t swizzled(uint32_t at, unsigned mode)
{
	static const uint32_t bits[] = { 0, 0x10, 0x30, 0x70 };

	return at ^ (at >> 3 & bits[mode]);
}

/* Byte number @n of the dense side of @m. */
static inline uint8_t *dense(const struct tutti_mover *m, uint8_t *memory, uint32_t at, uint64_t n, unsigned swizzle)
{
	uint32_t place = swizzled(at + (uint32_t)n, swizzle);

	assert_true(place < RIG_SHARED);
	return memory + place;
}

static inline void mover_byte(const struct tutti_mover *m, const struct tutti_mover_shape *s, uint64_t n, bool inside,
			      uint64_t global)
{
	const uint8_t *fill = (const uint8_t *)&s->fill;
	unsigned swizzle = s->swizzle;

	switch (m->op) {
	case TUTTI_MOVE_LOAD:
		*dense(m, card.shared, m->shared, n, swizzle) = inside ? card.memory(global) : fill[n & 7];
		break;
	case TUTTI_MOVE_COPY:
		byte_set_put(&card.global, m->other + n, inside ? card.memory(global) : fill[n & 7]);
		break;
	case TUTTI_MOVE_STORE:
		if (inside)
			byte_set_put(&card.global, global, *dense(m, card.shared, m->shared, n, swizzle));
		break;
	case TUTTI_MOVE_SCATTER:
		if (inside)
			byte_set_put(&card.global, global, card.memory(m->other + n));
		break;
	case TUTTI_MOVE_PREFETCH:
		if (inside)
			byte_set_put(&card.global, global, 0);
		break;
	case TUTTI_MOVE_SHARED:
		*dense(m, card.target, m->shared, n, swizzle) = *dense(m, card.shared, m->source, n, swizzle);
		break;
	default:
		fail_msg("mover op %u", m->op);
	}
	card.moved++;
	card.filled += !inside;
}

static inline void mover_linear(const struct tutti_mover *m, const struct tutti_mover_shape *s)
{
	uint64_t n;

	assert_false(m->flags & TUTTI_MOVER_CLIPPED);
	for (n = 0; n < m->bytes; n++)
		mover_byte(m, s, n, !(m->flags & TUTTI_MOVER_OUTSIDE), m->global + n);
}

/* What a box, or a part of it, consists of. */
struct rig_box {
	const uint16_t *before, *count, *after;
	uint32_t x[4]; /* the next element */
};

/* Return: false behind the last element */
static inline bool box_next(struct rig_box *box)
{
	for (unsigned k = 0; k < 4; k++) {
		if (++box->x[k] < (uint32_t)box->before[k] + box->count[k] + box->after[k])
			return true;
		box->x[k] = 0;
	}
	return false;
}

static inline void mover_element(const struct tutti_mover *m, const struct tutti_mover_shape *s, const struct rig_box *box,
				 uint64_t n)
{
	bool inside = true;
	uint64_t global = m->global;

	for (unsigned k = 0; k < 4; k++) {
		inside = inside && box->x[k] >= box->before[k] && box->x[k] < (uint32_t)box->before[k] + box->count[k];
		global += (uint64_t)((int64_t)box->x[k] - box->before[k]) * s->stride[k];
	}
	for (unsigned i = 0; i < s->unit; i++)
		mover_byte(m, s, n + i, inside, global + i);
}

static inline void mover_box(const struct tutti_mover *m, const struct tutti_mover_shape *s)
{
	static const uint16_t none[4];
	struct rig_box box = { none, s->count, none, { 0 } };
	bool part = m->flags & TUTTI_MOVER_PART, more = true;
	uint64_t n = 0;

	assert_false(m->flags & (TUTTI_MOVER_OUTSIDE | TUTTI_MOVER_NO_SHAPE));
	if (m->flags & TUTTI_MOVER_CLIPPED)
		box = (struct rig_box){ m->before, m->count, m->after, { 0 } };
	if (part)
		assert_true(m->flags & TUTTI_MOVER_CLIPPED && !(m->flags & TUTTI_MOVER_EVENT));
	for (unsigned k = 0; k < 4; k++) {
		uint32_t full = (uint32_t)box.before[k] + box.count[k] + box.after[k];

		box.x[k] = part ? m->start[k] : 0;
		assert_true(!part || box.x[k] < full);
		more = more && full;
	}
	card.boxes++;
	for (; more && (!part || n < m->bytes); n += s->unit) {
		mover_element(m, s, &box, n);
		more = box_next(&box);
	}
	assert_true(!part || n == m->bytes);
}

/* Take one descriptor. */
static inline void card_move(void)
{
	const struct tutti_mover *ring = hal_pointer(hal_host.engines.mover_base), *m;
	static const struct tutti_mover_shape none;
	const struct tutti_mover_shape *s = &none;

	m = &ring[card.head % hal_host.engines.mover_slots];
	assert_true(m->flags & TUTTI_MOVER_CALL);
	assert_int_equal(m->call, card.ended % hal_host.engines.request_slots);
	if (m->op == TUTTI_MOVE_END) {
		assert_true(m->flags & TUTTI_MOVER_LAST);
		card.ends++;
	} else {
		if (!(m->flags & TUTTI_MOVER_NO_SHAPE))
			s = hal_pointer(m->shape);
		card.reduce = m->reduce;
		card.type = m->flags & TUTTI_MOVER_NO_SHAPE ? m->type : s->type;
		card.movers++;
		if (m->flags & TUTTI_MOVER_LINEAR)
			mover_linear(m, s);
		else
			mover_box(m, s);
	}
	card.ended += !!(m->flags & TUTTI_MOVER_LAST);
	hal_host.engines.mover_head = ++card.head;
	if (card.head == hal_host.engines.mover_notice)
		hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_MOVER_ROOM } });
}

static inline void card_fetch(const uint32_t *w)
{
	uint64_t address = w[2] | (uint64_t)w[3] << 32;
	struct tutti_event event = { { TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u) } };

	assert_int_equal(w[1], RIG_ASID);
	assert_int_equal(w[4], sizeof(struct tutti_tensor));
	card.fetches++;
	if (address == card.refuse_fetch) {
		event.word[0] |= TUTTI_CAUSE_UNMAPPED << 8;
		event.word[1] = (uint32_t)address;
		event.word[2] = (uint32_t)(address >> 32);
	} else {
		assert_in_range(address, RIG_DESCRIPTORS, RIG_DESCRIPTORS + sizeof(card.descriptor) - 128);
		memcpy(hal_pointer(w[5]), (uint8_t *)card.descriptor + (address - RIG_DESCRIPTORS), 128);
	}
	hal_host_event(&event);
}

/* One thing that the hardware or the main loop does by itself. Return: false = nothing is left. */
static inline bool card_step(void)
{
	unsigned words;
	const uint32_t *w;

	if (hal_host.engines.mover_tail != card.head && (!card.slow || roll(2))) {
		unsigned n = card.slow ? 1 + roll(4) : ~0u;

		while (n-- && hal_host.engines.mover_tail != card.head)
			card_move();
		return true;
	}
	while ((!card.slow || roll(2)) && (w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) == TAG_TENSOR) {
			card_fetch(w);
			return true;
		}
	if (attention.settle & ATTEND_TMAU) {
		main_settle();
		return true;
	}
	return hal_host.engines.mover_tail != card.head || hal_host.engines.command_tail != hal_host.engines.command_head;
}

static inline void card_idle(void)
{
	while (card_step())
		;
}

/* A request as the front hands it over. */
static inline struct tutti_tensor_call *card_front(const struct tutti_tensor_request *request)
{
	struct tutti_tensor_call *call = card_call(card.front);

	assert_true(card.front - card.ended < hal_host.engines.request_slots);
	*call = (struct tutti_tensor_call){
		.request = *request, .sm = 7, .wave = 9, .asid = RIG_ASID, .slot = RIG_TASK, .rank = 1,
		.shared_bytes = RIG_SHARED, .present = 0x0037, .pc = 0x123456789a,
	};
	if (request->flags & TUTTI_REQUEST_INLINE)
		call->descriptor = card.descriptor[(request->descriptor - RIG_DESCRIPTORS) / sizeof(call->descriptor) % RIG_SETS];
	return call;
}

static inline void card_tell(void)
{
	uint32_t slot = card.front++ % hal_host.engines.request_slots;

	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_REQUEST | RIG_TASK << 8 | TUTTI_SERVICE_TENSOR << 16,
						7 | 9 << 16, slot } });
}

static inline void card_request(const struct tutti_tensor_request *request)
{
	card_front(request);
	card_tell();
}

/* A request, carried out. */
static inline void card_do(const struct tutti_tensor_request *request)
{
	card.filled = card.moved = card.movers = card.ends = card.boxes = 0;
	byte_set_clear(&card.global);
	card_request(request);
	card_idle();
	assert_int_equal(card.ended, card.front);
	assert_int_equal(tmau_waiting(), 0);
}

/* Cause with which the task was failed since the last call, 0 = none. */
static inline unsigned card_fault(void)
{
	static struct queue queue;
	struct task *task = &tasks[RIG_TASK];
	unsigned cause = task->state == TASK_RUNNING ? 0 : task_errors[RIG_TASK].cause;

	task->state = TASK_RUNNING;
	task->queue = &queue;
	task->unissued = 0;
	return cause;
}

static inline void card_boot(void)
{
	hal_host_boot(8);
	rig_drain();
	card.head = card.front = card.ended = card.fetches = 0;
	card.refuse_fetch = 0;
	card.slow = false;
	card.memory = any_byte;
	card_fault();
}

static inline uint64_t card_descriptor(unsigned n, const struct tutti_tensor *tensor)
{
	uint32_t sum = 0, i;

	card.descriptor[n] = *tensor;
	card.descriptor[n].version = TUTTI_TENSOR_VERSION;
	card.descriptor[n].check = 0;
	for (i = 0; i < 32; i++)
		sum += ((const uint32_t *)&card.descriptor[n])[i];
	card.descriptor[n].check = -sum;
	return RIG_DESCRIPTORS + n * sizeof(*tensor);
}

/* Its descriptor is not what the cache holds. */
static inline uint64_t card_descriptor_new(unsigned n, const struct tutti_tensor *tensor)
{
	uint64_t address = card_descriptor(n, tensor);

	descriptor_forget(address, RIG_ASID);
	return address;
}

#endif
