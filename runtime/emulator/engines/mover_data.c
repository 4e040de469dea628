// SPDX-License-Identifier: MIT
/*
 * How a mover handles one piece: bytes that are contiguous on both sides, or bytes to fill. Rows are copied as a whole.
 * Only swizzled rows go in atoms of 16 bytes, and only rounding and reductions work on elements.
 */
#include <string.h>

#include "emulator/engines/mover_parts.h"

#define LINE 128u
#define SECTOR 32u
#define ATOM 16u
#define BUFFER 4096u         /* most bytes at a time that go through a buffer */
#define MOST (256u << 10)    /* most bytes at a time otherwise */

void mover_account(struct tutti_card *card, uint64_t va, uint64_t bytes)
{
	count(card, TUTTI_COUNTER_MOVER_LINES, (va + bytes - 1) / LINE - va / LINE + 1);
	count(card, TUTTI_COUNTER_MOVER_SECTORS, (va + bytes - 1) / SECTOR - va / SECTOR + 1);
}

/* ---- shared memory ------------------------------------------------------ */

static uint32_t swizzled(unsigned swizzle, uint32_t at)
{
	return at ^ (at >> 3 & ((1u << swizzle) - 1) << 4);
}

/* Return: how many bytes from @at on stay contiguous, at most @n. */
static uint32_t together(unsigned swizzle, uint32_t at, uint32_t n)
{
	uint32_t left = ATOM - at % ATOM;

	return swizzle && n > left ? left : n;
}

/*
 * Swizzle the line that lies at @at in shared memory, or undo it, which is the same: all its atoms change places by the
 * same exclusive or.
 */
static inline void line_copy(uint8_t *to, const uint8_t *from, unsigned swizzle, uint32_t at)
{
	uint32_t turn = swizzled(swizzle, at) ^ at;

#pragma GCC unroll 8
	for (uint32_t k = 0; k < LINE; k += ATOM)
		memcpy(to + (k ^ turn), from + k, ATOM);
}

static void shared_write(const struct sm_shared *to, unsigned swizzle, uint32_t at, const uint8_t *from, uint32_t n)
{
	for (; swizzle && at % LINE == 0 && n >= LINE; at += LINE, from += LINE, n -= LINE)
		line_copy(to->base + at, from, swizzle, at);
	while (n) {
		uint32_t some = together(swizzle, at, n);

		memcpy(to->base + swizzled(swizzle, at), from, some);
		at += some;
		from += some;
		n -= some;
	}
}

static void shared_read(const struct sm_shared *from, unsigned swizzle, uint32_t at, uint8_t *to, uint32_t n)
{
	for (; swizzle && at % LINE == 0 && n >= LINE; at += LINE, to += LINE, n -= LINE)
		line_copy(to, from->base + at, swizzle, at);
	while (n) {
		uint32_t some = together(swizzle, at, n);

		memcpy(to, from->base + swizzled(swizzle, at), some);
		at += some;
		to += some;
		n -= some;
	}
}

/* Write to every target. The caller has checked that it lies in their memory. */
static void deliver(const struct mover *m, uint32_t at, const uint8_t *from, uint32_t n)
{
	for (unsigned i = 0; i < m->targets; i++)
		shared_write(&m->target[i], m->shape.swizzle, at, from, n);
}

/* ---- elements ------------------------------------------------------------ */

/* To nearest, ties to even. */
static uint32_t round_tf32(uint32_t bits)
{
	return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}

static bool converts(const struct mover *m)
{
	return tutti_type_load(m->shape.type) == TUTTI_LOAD_TF32;
}

/* Convert elements, as loads of some types do. Return: where the result is. */
static const uint8_t *converted(const struct mover *m, const uint8_t *from, uint32_t *buffer, uint32_t n)
{
	if (!converts(m))
		return from;
	memcpy(buffer, from, n);
	for (uint32_t i = 0; i < n / 4; i++)
		buffer[i] = round_tf32(buffer[i]);
	return (const uint8_t *)buffer;
}

/* Fill so that byte i of the dense side is byte i % 8 of the fill value. */
static void pattern(uint8_t *to, uint64_t value, uint64_t first, uint32_t n)
{
	unsigned turn = 8 * (first & 7);

	value = turn ? value >> turn | value << (64 - turn) : value;
	for (; n >= 8; n -= 8, to += 8)
		memcpy(to, &value, 8);
	memcpy(to, &value, n);
}

/* ---- global memory -------------------------------------------------------- */

static struct mover_extent *find_extent(struct tutti_card *card, uint64_t va, unsigned access)
{
	struct mover *m = card->mover;
	uint32_t generation = mmu_generation(card);

	for (unsigned i = 0; i < MOVER_EXTENTS; i++) {
		struct mover_extent *e = &m->extent[i];

		if (va - e->va < e->bytes && e->asid == m->call.asid && e->access == access &&
		    e->generation == generation && !inject_is(card, TUTTI_INJECT_PAGE_FAULT))
			return e;
	}
	return NULL;
}

static struct mover_extent *make_extent(struct tutti_card *card, uint64_t va, unsigned access,
					struct mover_fault *fault)
{
	struct mover *m = card->mover;
	struct mover_extent *e = &m->extent[m->extent_next++ % MOVER_EXTENTS];
	struct mmu_fault refused = { TUTTI_CAUSE_NONE, 0 };

	e->generation = mmu_generation(card);
	e->bytes = 0;
	e->at = mmu_page(card, m->call.asid, va, access, &e->bus, &refused);
	if (e->at)
		e->at = mmu_translate(card, m->call.asid, va, access, &e->bytes, &refused);
	if (!e->at) {
		e->bytes = 0;
		*fault = (struct mover_fault){ refused.cause, (uint8_t)access, refused.address };
		return NULL;
	}
	e->va = va;
	e->asid = m->call.asid;
	e->access = (uint8_t)access;
	return e;
}

static void account_bus(struct tutti_card *card, const struct mover_extent *e, uint64_t times, uint64_t bytes)
{
	bool read = e->access == TUTTI_ACCESS_READ;

	if (!e->bus)
		return;
	count(card, read ? TUTTI_COUNTER_BUS_READS : TUTTI_COUNTER_BUS_WRITES, times);
	count(card, read ? TUTTI_COUNTER_BUS_READ_BYTES : TUTTI_COUNTER_BUS_WRITE_BYTES, times * bytes);
}

/* Find @va in the emulator's memory. *@n is reduced to the bytes that are contiguous there. */
static uint8_t *reach(struct tutti_card *card, uint64_t va, unsigned access, uint32_t *n, struct mover_fault *fault)
{
	struct mover_extent *e = find_extent(card, va, access);

	if (unlikely(!e) && !(e = make_extent(card, va, access, fault)))
		return NULL;
	if (*n > e->bytes - (va - e->va))
		*n = (uint32_t)(e->bytes - (va - e->va));
	account_bus(card, e, 1, *n);
	return e->at + (va - e->va);
}

/*
 * The same for rows of @bytes that are @stride apart. *@rows is reduced to those which lie in the same contiguous memory.
 * Return: NULL if not even one does, or if its access is refused
 */
static uint8_t *reach_rows(struct tutti_card *card, uint64_t va, unsigned access, uint64_t bytes, uint64_t stride,
			   uint64_t *rows)
{
	struct mover_extent *e = find_extent(card, va, access);
	struct mover_fault refused;
	uint64_t left;

	if (unlikely(!e) && !(e = make_extent(card, va, access, &refused)))
		return NULL;
	left = e->bytes - (va - e->va);
	if (left < bytes)
		return NULL;
	if (stride && *rows > (left - bytes) / stride + 1)
		*rows = (left - bytes) / stride + 1;
	account_bus(card, e, *rows, bytes);
	return e->at + (va - e->va);
}

static uint32_t refuse(struct mover_fault *fault, uint64_t address)
{
	*fault = (struct mover_fault){ TUTTI_CAUSE_SERVICE, TUTTI_ACCESS_NONE, address };
	return 0;
}

/* ---- operations ---------------------------------------------------------- */

static uint32_t least(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

static uint32_t fill_shared(const struct mover *m, uint64_t bytes)
{
	uint8_t buffer[BUFFER];
	uint32_t n = least(bytes, BUFFER);

	pattern(buffer, m->shape.fill, m->walk.done, n);
	deliver(m, m->d.shared + (uint32_t)m->walk.done, buffer, n);
	return n;
}

static uint32_t fill_global(struct tutti_card *card, const struct mover *m, uint64_t va, uint64_t bytes,
			    struct mover_fault *fault)
{
	uint32_t n = least(bytes, MOST);
	uint8_t *to = reach(card, va, TUTTI_ACCESS_WRITE, &n, fault);

	if (!to)
		return 0;
	pattern(to, m->shape.fill, m->walk.done, n);
	return n;
}

static uint32_t load(struct tutti_card *card, const struct mover *m, const struct piece *piece,
		     struct mover_fault *fault)
{
	uint32_t buffer[BUFFER / 4], n = least(piece->bytes, converts(m) ? BUFFER : MOST);
	const uint8_t *from = reach(card, piece->va, TUTTI_ACCESS_READ, &n, fault);

	if (!from)
		return 0;
	deliver(m, m->d.shared + (uint32_t)m->walk.done, converted(m, from, buffer, n), n);
	return n;
}

static uint32_t store(struct tutti_card *card, const struct mover *m, const struct piece *piece,
		      struct mover_fault *fault)
{
	uint32_t at = m->d.shared + (uint32_t)m->walk.done, n = least(piece->bytes, m->reduce ? BUFFER : MOST);
	uint32_t buffer[BUFFER / 4];
	uint8_t *to = reach(card, piece->va, m->reduce ? TUTTI_ACCESS_ATOMIC : TUTTI_ACCESS_WRITE, &n, fault);

	if (!to)
		return 0;
	if (m->reduce) {
		shared_read(&m->source, m->shape.swizzle, at, (uint8_t *)buffer, n);
		m->reduce(to, buffer, n);
	} else {
		shared_read(&m->source, m->shape.swizzle, at, to, n);
	}
	return n;
}

/* COPY and SCATTER, which copy from @from to @to, both in global memory. */
static uint32_t copy(struct tutti_card *card, const struct mover *m, uint64_t from, uint64_t to, uint64_t bytes,
		     bool convert, struct mover_fault *fault)
{
	uint32_t n = least(bytes, convert ? BUFFER : MOST), buffer[BUFFER / 4];
	const uint8_t *source = reach(card, from, TUTTI_ACCESS_READ, &n, fault);
	uint8_t *target = source ? reach(card, to, TUTTI_ACCESS_WRITE, &n, fault) : NULL;

	if (!target)
		return 0;
	memmove(target, convert ? converted(m, source, buffer, n) : source, n);
	return n;
}

static uint32_t shared_to_shared(const struct mover *m, uint64_t bytes)
{
	uint32_t from = m->d.source + (uint32_t)m->walk.done, to = m->d.shared + (uint32_t)m->walk.done;
	uint32_t buffer[BUFFER / 4], n = least(bytes, BUFFER);
	const struct sm_shared *target = &m->target[0];

	shared_read(&m->source, m->shape.swizzle, from, (uint8_t *)buffer, n);
	if (!m->reduce) {
		shared_write(target, m->shape.swizzle, to, (const uint8_t *)buffer, n);
		return n;
	}
	for (uint32_t i = 0; i < n;) {
		uint32_t some = together(m->shape.swizzle, to + i, n - i);

		m->reduce(target->base + swizzled(m->shape.swizzle, to + i), (const uint8_t *)buffer + i, some);
		i += some;
	}
	return n;
}

/* Is [@at, @at + @bytes) the CTA's? Swizzling exchanges bytes in rows of 128, so the whole rows must be. */
static bool inside(const struct mover *m, const struct sm_shared *shared, uint64_t at, uint64_t bytes)
{
	uint64_t end = at + bytes;

	if (m->shape.swizzle)
		end = (end + LINE - 1) & ~(uint64_t)(LINE - 1);
	return end <= shared->bytes;
}

/* Does the dense side of the piece lie in the memory of every CTA that it goes to or comes from? */
static bool shared_ok(const struct mover *m, uint64_t bytes)
{
	uint64_t done = m->walk.done;

	for (unsigned i = 0; i < m->targets; i++)
		if (!inside(m, &m->target[i], m->d.shared + done, bytes))
			return false;
	if (m->d.op == TUTTI_MOVE_STORE)
		return inside(m, &m->source, m->d.shared + done, bytes);
	if (m->d.op == TUTTI_MOVE_SHARED)
		return inside(m, &m->source, m->d.source + done, bytes);
	return true;
}

/* Stores and scatters do not write elements outside the tensor. */
static uint32_t skip(uint64_t bytes)
{
	return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

uint32_t mover_move(struct tutti_card *card, struct mover *m, const struct piece *piece, struct mover_fault *fault)
{
	uint64_t dense = m->d.other + m->walk.done;

	switch (m->d.op) {
	case TUTTI_MOVE_LOAD:
		if (!shared_ok(m, piece->bytes))
			return refuse(fault, m->d.shared);
		return piece->filled ? fill_shared(m, piece->bytes) : load(card, m, piece, fault);
	case TUTTI_MOVE_STORE:
		if (!shared_ok(m, piece->bytes))
			return refuse(fault, m->d.shared);
		return piece->filled ? skip(piece->bytes) : store(card, m, piece, fault);
	case TUTTI_MOVE_SHARED:
		return shared_ok(m, piece->bytes) ? shared_to_shared(m, piece->bytes) : refuse(fault, m->d.shared);
	case TUTTI_MOVE_COPY:
		return piece->filled ? fill_global(card, m, dense, piece->bytes, fault) :
				       copy(card, m, piece->va, dense, piece->bytes, converts(m), fault);
	case TUTTI_MOVE_SCATTER:
		return piece->filled ? skip(piece->bytes) :
				       copy(card, m, dense, piece->va, piece->bytes, false, fault);
	case TUTTI_MOVE_FILL:
		return fill_global(card, m, piece->va, piece->bytes, fault);
	default: /* PREFETCH only counts, since this card has no cache */
		return skip(piece->bytes);
	}
}

/* ---- rows ------------------------------------------------------------------- */

static void account_rows(struct tutti_card *card, const struct walk *walk, uint64_t va, uint64_t rows)
{
	uint64_t stride = walk->outer[0].stride, bytes = walk->run.count;

	count(card, TUTTI_COUNTER_MOVER_BYTES, rows * bytes);
	if (stride % LINE == 0) { /* all rows are aligned to lines in the same way */
		count(card, TUTTI_COUNTER_MOVER_LINES, rows * ((va + bytes - 1) / LINE - va / LINE + 1));
		count(card, TUTTI_COUNTER_MOVER_SECTORS, rows * ((va + bytes - 1) / SECTOR - va / SECTOR + 1));
		return;
	}
	for (; rows; rows--, va += stride)
		mover_account(card, va, bytes);
}

/* Rows that are whole lines, swizzled, between @global and the memory of one CTA. */
static void move_lines(const struct mover *m, uint8_t *global, uint64_t stride, uint32_t at, uint32_t bytes,
		       uint64_t rows)
{
	bool load = m->d.op == TUTTI_MOVE_LOAD;
	uint8_t *shared = load ? m->target[0].base : m->source.base;
	unsigned swizzle = m->shape.swizzle;

	for (; rows; rows--, global += stride)
		for (uint32_t k = 0; k < bytes; k += LINE, at += LINE)
			line_copy(load ? shared + at : global + k, load ? global + k : shared + at, swizzle, at);
}

static void move_rows(const struct mover *m, uint8_t *global, uint64_t stride, uint32_t at, uint32_t bytes,
		      uint64_t rows)
{
	bool load = m->d.op == TUTTI_MOVE_LOAD, one = !load || m->targets == 1;

	if (one && m->shape.swizzle && !(at % LINE) && !(bytes % LINE)) {
		move_lines(m, global, stride, at, bytes, rows);
		return;
	}
	for (; rows; rows--, global += stride, at += bytes)
		if (load && one && !m->shape.swizzle)
			memcpy(m->target[0].base + at, global, bytes);
		else if (load)
			deliver(m, at, global, bytes);
		else
			shared_read(&m->source, m->shape.swizzle, at, global, bytes);
}

uint32_t mover_rows(struct tutti_card *card, struct mover *m, uint32_t most)
{
	struct walk *walk = &m->walk;
	uint64_t rows = walk_rows(walk), bytes = walk->run.count, stride = walk->outer[0].stride, done = 0;
	unsigned access = m->d.op == TUTTI_MOVE_LOAD ? TUTTI_ACCESS_READ : TUTTI_ACCESS_WRITE;
	struct piece piece;
	uint8_t *global;

	if (rows < 2 || bytes > most || converts(m) || m->reduce ||
	    (m->d.op != TUTTI_MOVE_LOAD && m->d.op != TUTTI_MOVE_STORE))
		return 0;
	/* An injected fault happens once, so that the access which it refuses must be one that is reported. */
	if (inject_is(card, TUTTI_INJECT_PAGE_FAULT))
		return 0;
	if (rows > most / bytes)
		rows = most / bytes;
	walk_piece(walk, &piece);
	if (piece.filled || !shared_ok(m, rows * bytes))
		return 0;
	while (done < rows) {
		uint64_t some = rows - done;

		global = reach_rows(card, piece.va + done * stride, access, bytes, stride, &some);
		if (!global)
			break;
		move_rows(m, global, stride, m->d.shared + (uint32_t)(walk->done + done * bytes), (uint32_t)bytes, some);
		done += some;
	}
	account_rows(card, walk, piece.va, done);
	walk_skip(walk, done);
	return (uint32_t)(done * bytes);
}
