// SPDX-License-Identifier: MIT
/* Rules of requests one by one, block copies, the descriptor cache, order, and what happens when there is no room. */
#include "arithmetic_oracle.h"
#include "tensor_oracle.h"

static struct tutti_tensor matrix(void)
{
	return (struct tutti_tensor){ .base = 0x10000, .type = TUTTI_F32, .rank = 2, .size_less_1 = { 99, 99 }, .stride = { 400 },
				      .traversal = { 1, 1 }, .box = { 8, 8 }, .swizzle = TUTTI_SWIZZLE_32 };
}

static struct tutti_tensor image(void)
{
	return (struct tutti_tensor){ .base = 0x10000, .type = TUTTI_F16, .rank = 4, .mode = TUTTI_IM2COL,
				      .size_less_1 = { 63, 8, 13, 63 }, .stride = { 128, 1152, 16128 },
				      .traversal = { 1, 1, 1, 1 },
				      .column = { .lower = { -1, -1 }, .upper = { -1, -1 }, .channels = 8, .pixels = 64 } };
}

static struct tutti_tensor_request tile(unsigned op)
{
	return (struct tutti_tensor_request){ .descriptor = RIG_DESCRIPTORS, .op = (uint8_t)op, .rank = 2,
					      .flags = TUTTI_REQUEST_TENSOR, .coordinate = { 4, 5 }, .shared = 512,
					      .barrier = op == TUTTI_COPY_LOAD ? 64 : TUTTI_BARRIER_NONE };
}

static struct tutti_tensor_request column(unsigned op)
{
	struct tutti_tensor_request r = tile(op);

	r.descriptor = RIG_DESCRIPTORS + 128;
	r.mode = TUTTI_IM2COL;
	r.rank = 4;
	r.coordinate[0] = 0;
	return r;
}

static struct tutti_tensor_request block(unsigned op)
{
	return (struct tutti_tensor_request){ .descriptor = 0x40000, .op = (uint8_t)op, .shared = 512, .blocks = 10,
					      .barrier = op == TUTTI_COPY_LOAD ? 64 : TUTTI_BARRIER_NONE };
}

/* What the request is refused for, 0 = carried out; a refused one moves nothing. */
static unsigned refused(const struct tutti_tensor_request *r)
{
	unsigned cause;

	card_do(r);
	cause = card_fault();
	if (!cause) {
		assert_int_equal(card.movers + card.ends > 0, 1);
		return 0;
	}
	assert_int_equal(card.movers, 0);
	assert_int_equal(card.ends, 1);
	assert_int_equal(card.moved, 0);
	assert_int_equal(task_errors[RIG_TASK].sm_wave, 7 | 9 << 16);
	assert_true(task_errors[RIG_TASK].pc == 0x123456789a);
	assert_int_equal(task_errors[RIG_TASK].code, TUTTI_ERROR_TENSOR);
	assert_int_equal(task_errors[RIG_TASK].engine, TUTTI_ENGINE_WAVE);
	assert_true(task_errors[RIG_TASK].address == r->descriptor);
	return cause - TUTTI_CAUSE_TENSOR;
}

static void set_up(void)
{
	struct tutti_tensor d = matrix();

	card_boot();
	card_descriptor(0, &d);
	d = image();
	card_descriptor(1, &d);
}

#define REFUSED(error, form, change)                                      \
	do {                                                              \
		struct tutti_tensor_request r = form;                     \
		assert_int_equal(refused(&r), 0);                         \
		change;                                                   \
		assert_int_equal(refused(&r), TUTTI_TENSOR_ERROR_##error); \
		r = form;                                                 \
		assert_int_equal(refused(&r), 0);                         \
	} while (0)
#define GOOD(form, change)                                                \
	do {                                                              \
		struct tutti_tensor_request r = form;                     \
		change;                                                   \
		assert_int_equal(refused(&r), 0);                         \
	} while (0)

static void operations(void **state)
{
	set_up();
	REFUSED(REQUEST_OP, tile(TUTTI_COPY_LOAD), r.op = TUTTI_TENSOR_OPS);
	REFUSED(REQUEST_OP, block(TUTTI_COPY_LOAD), r.op = TUTTI_COPY_SCATTER);
	REFUSED(REQUEST_MODE, tile(TUTTI_COPY_LOAD), r.mode = TUTTI_IM2COL);
	REFUSED(REQUEST_RANK, tile(TUTTI_COPY_LOAD), r.rank = 3);
	REFUSED(REQUEST_FLAGS, tile(TUTTI_COPY_LOAD), r.flags |= 8);
	REFUSED(REQUEST_FLAGS, tile(TUTTI_COPY_LOAD), r.flags |= 1u << TUTTI_REQUEST_BLOCK_SHIFT);
	REFUSED(REQUEST_FLAGS, tile(TUTTI_COPY_STORE), (r.flags |= TUTTI_REQUEST_MULTICAST, r.cta_mask = 1));
	REFUSED(REQUEST_FLAGS, block(TUTTI_COPY_LOAD), r.flags |= TUTTI_REQUEST_INLINE);
	REFUSED(PLACE, tile(TUTTI_COPY_LOAD), r.descriptor += 32);
	REFUSED(PLACE, tile(TUTTI_COPY_LOAD), r.descriptor |= 1ull << 47);
	REFUSED(PLACE, tile(TUTTI_COPY_LOAD), (r.op = TUTTI_DESCRIPTOR_PREFETCH, r.descriptor |= 1ull << 63));
}

static void places(void **state)
{
	set_up();
	REFUSED(SHARED_ALIGN, tile(TUTTI_COPY_LOAD), r.shared += 8);
	REFUSED(SHARED_RANGE, tile(TUTTI_COPY_LOAD), r.shared = RIG_SHARED - 240);
	GOOD(tile(TUTTI_COPY_LOAD), r.shared = RIG_SHARED - 256);
	REFUSED(SHARED_RANGE, tile(TUTTI_COPY_STORE), r.shared = 0xfffffff0);
	REFUSED(BARRIER_NEEDED, tile(TUTTI_COPY_LOAD), r.barrier = TUTTI_BARRIER_NONE);
	REFUSED(BARRIER_UNUSED, tile(TUTTI_COPY_STORE), r.barrier = 64);
	REFUSED(BARRIER_UNUSED, tile(TUTTI_COPY_PREFETCH), r.barrier = 64);
	REFUSED(BARRIER_PLACE, tile(TUTTI_COPY_LOAD), r.barrier = 68);
	REFUSED(BARRIER_PLACE, tile(TUTTI_COPY_LOAD), r.barrier = RIG_SHARED);
	GOOD(tile(TUTTI_COPY_LOAD), r.barrier = RIG_SHARED - 8);
	REFUSED(BARRIER_PLACE, tile(TUTTI_COPY_LOAD), r.barrier = 0xfffffff8);
	REFUSED(ADDRESS, tile(TUTTI_COPY_GLOBAL), r.other = 8);
	REFUSED(ADDRESS, tile(TUTTI_COPY_SCATTER), r.other = (1ull << 47) - 240);
	GOOD(tile(TUTTI_COPY_SCATTER), r.other = (1ull << 47) - 256);
	REFUSED(ADDRESS, tile(TUTTI_COPY_GLOBAL), r.other = ~15ull);
	REFUSED(SHARED_ALIGN, tile(TUTTI_COPY_SHARED), r.other = 4);
	REFUSED(SHARED_RANGE, tile(TUTTI_COPY_SHARED), r.other = RIG_SHARED - 16);
	REFUSED(SHARED_RANGE, tile(TUTTI_COPY_SHARED), r.other = 1ull << 32);
}

/*
 * A request that an earlier one has made ready for the short way, by a CTA whose shared memory is smaller than the box:
 * differences of sizes and offsets must not wrap around.
 */
static void small_ctas(void **state)
{
	static const struct { uint32_t bytes, shared; bool good; } tries[] = {
		{ 256, 0, true }, { 255, 0, false }, { 128, 0, false }, { 16, 0, false }, { 8, 0, false }, { 7, 0, false },
		{ 0, 0, false }, { 128, 128, false }, { 0, 0xffffff00, false }, { 255, 0xfffffff0, false },
		{ 256, 16, false }, { 272, 16, true },
	};
	struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD);

	set_up();
	r.barrier = 0;
	assert_int_equal(refused(&r), 0);
	for (unsigned store = 0; store < 2; store++)
		for (unsigned i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
			unsigned cause;

			r = tile(store ? TUTTI_COPY_STORE : TUTTI_COPY_LOAD);
			r.barrier = store ? TUTTI_BARRIER_NONE : 0;
			r.shared = tries[i].shared;
			card.moved = 0;
			card_front(&r)->shared_bytes = tries[i].bytes;
			card_tell();
			card_idle();
			cause = card_fault();
			assert_int_equal(!cause, tries[i].good);
			assert_int_equal(card.moved, tries[i].good ? 256 : 0);
		}
}

/* Ranks 0, 1, 2, 4 and 5 are there. */
static void ctas(void **state)
{
	set_up();
	GOOD(tile(TUTTI_COPY_LOAD), (r.flags |= TUTTI_REQUEST_MULTICAST, r.cta_mask = 0x37));
	REFUSED(MASK, tile(TUTTI_COPY_LOAD), (r.flags |= TUTTI_REQUEST_MULTICAST, r.cta_mask = 0x3f));
	REFUSED(MASK, tile(TUTTI_COPY_LOAD), (r.flags |= TUTTI_REQUEST_MULTICAST, r.cta_mask = 0));
	GOOD(tile(TUTTI_COPY_LOAD), r.cta_mask = 0x8000); /* not valid, not looked at */
	GOOD(tile(TUTTI_COPY_SHARED), r.cta = 5);
	REFUSED(CTA, tile(TUTTI_COPY_SHARED), r.cta = 3);
	REFUSED(CTA, tile(TUTTI_COPY_SHARED), r.cta = 16);
	REFUSED(CTA, block(TUTTI_COPY_SHARED), r.cta = 255);
}

/* Reduction @op of elements of @type by @r: carried out if it is @good, else refused, and a mover is told the same. */
static void check_reduction(struct tutti_tensor_request r, unsigned type, unsigned op, bool good)
{
	r.type = (uint8_t)type;
	r.reduce = (uint8_t)op;
	good = good || (r.op == TUTTI_COPY_SHARED && !op);
	assert_int_equal(refused(&r), good ? 0 : TUTTI_TENSOR_ERROR_REDUCE);
	if (good) {
		assert_int_equal(card.reduce, op);
		assert_int_equal(card.type, type);
	}
}

/* What the firmware lets pass is what the table has, which the movers' test compares with the spec. */
static void reductions(void **state)
{
	struct tutti_tensor d = matrix();

	set_up();
	for (unsigned type = 0; type < 256; type++)
		for (unsigned op = 0; op < (type < 32 ? 256 : 16); op++) {
			bool good = op < 32 && tutti_block_reductions(type) >> op & 1;

			assert_int_equal(good, oracle_reduces(op, type, true));
			check_reduction(block(TUTTI_COPY_REDUCE), type, op, good);
			check_reduction(block(TUTTI_COPY_SHARED), type, op, good);
		}
	for (unsigned type = 0; type < TUTTI_TENSOR_TYPES; type++) {
		d.type = (uint8_t)type;
		d.box[0] = (uint16_t)(32 >> tutti_type_shift(type));
		card_descriptor_new(0, &d);
		for (unsigned op = 0; op < 256; op++) {
			struct tutti_tensor_request r = tile(TUTTI_COPY_REDUCE);
			bool good = op < 32 && tutti_tensor_reductions(type) >> op & 1;

			assert_int_equal(good, oracle_reduces(op, type, false));
			r.coordinate[0] = 16;
			check_reduction(r, type, op, good);
			r.op = TUTTI_COPY_SHARED;
			check_reduction(r, type, op, good);
		}
	}
	set_up();
	REFUSED(REDUCE, tile(TUTTI_COPY_STORE), r.reduce = TUTTI_REDUCE_ADD);
	REFUSED(REDUCE, tile(TUTTI_COPY_LOAD), r.reduce = TUTTI_REDUCE_ADD);
	REFUSED(REDUCE, tile(TUTTI_COPY_GLOBAL), r.reduce = TUTTI_REDUCE_ADD);
	REFUSED(REDUCE, tile(TUTTI_COPY_SCATTER), r.reduce = TUTTI_REDUCE_ADD);
	REFUSED(REDUCE, tile(TUTTI_COPY_PREFETCH), r.reduce = TUTTI_REDUCE_ADD);
	REFUSED(REDUCE, block(TUTTI_COPY_LOAD), r.reduce = TUTTI_REDUCE_ADD);
	REFUSED(REDUCE, block(TUTTI_COPY_STORE), r.reduce = TUTTI_REDUCE_ADD);
	REFUSED(REDUCE, block(TUTTI_COPY_GLOBAL), r.reduce = TUTTI_REDUCE_ADD);
	REFUSED(REDUCE, block(TUTTI_COPY_PREFETCH), r.reduce = TUTTI_REDUCE_ADD);
	GOOD(tile(TUTTI_COPY_REDUCE), r.reduce = TUTTI_REDUCE_ADD);
	GOOD(block(TUTTI_COPY_LOAD), r.type = 255); /* blocks are bytes unless they are reduced */
}

static void coordinates(void **state)
{
	set_up();
	REFUSED(ORIGIN, tile(TUTTI_COPY_LOAD), r.coordinate[0] = 5);
	REFUSED(ORIGIN, tile(TUTTI_COPY_STORE), r.coordinate[0] = -2);
	GOOD(tile(TUTTI_COPY_LOAD), r.coordinate[0] = -4);
	GOOD(tile(TUTTI_COPY_PREFETCH), r.coordinate[0] = 5);
	GOOD(tile(TUTTI_COPY_LOAD), (r.coordinate[0] = INT32_MIN, r.coordinate[1] = INT32_MAX));
	REFUSED(ORIGIN, column(TUTTI_COPY_LOAD), r.coordinate[0] = 4);
	REFUSED(BASE_PIXEL, column(TUTTI_COPY_LOAD), r.coordinate[1] = -2);
	REFUSED(BASE_PIXEL, column(TUTTI_COPY_LOAD), r.coordinate[1] = 8);
	GOOD(column(TUTTI_COPY_LOAD), r.coordinate[1] = 7);
	REFUSED(BASE_PIXEL, column(TUTTI_COPY_LOAD), r.coordinate[2] = 13);
	REFUSED(BASE_PIXEL, column(TUTTI_COPY_LOAD), r.coordinate[2] = INT32_MIN);
	REFUSED(BASE_PIXEL, column(TUTTI_COPY_PREFETCH), r.coordinate[2] = INT32_MAX);
	GOOD(column(TUTTI_COPY_LOAD), r.coordinate[3] = 1000);
	REFUSED(STORE_CORNER, column(TUTTI_COPY_LOAD), (r.op = TUTTI_COPY_STORE, r.barrier = TUTTI_BARRIER_NONE));
}

static void stores_of_columns(void **state)
{
	struct tutti_tensor d = image();

	set_up();
	d.column.lower[0] = d.column.lower[1] = 0;
	d.column.upper[0] = d.column.upper[1] = -1;
	card_descriptor(1, &d);
	GOOD(column(TUTTI_COPY_STORE), r.coordinate[1] = 0);
	REFUSED(OFFSET, column(TUTTI_COPY_STORE), r.offset = 1);
	REFUSED(STORE_COORDINATE, column(TUTTI_COPY_STORE), r.coordinate[3] = -1);
	REFUSED(STORE_COORDINATE, column(TUTTI_COPY_SCATTER), r.coordinate[0] = -8);
	d.rank = 5;
	d.size_less_1[4] = 3;
	d.stride[3] = 1 << 20;
	d.traversal[4] = 1;
	card_descriptor_new(1, &d);
	REFUSED(OFFSET, (struct tutti_tensor_request)column(TUTTI_COPY_LOAD); r.rank = 5, r.offset = 0x8000);
	d.column.upper[0] = 1;
	card_descriptor_new(1, &d);
	GOOD((struct tutti_tensor_request)column(TUTTI_COPY_LOAD); r.rank = 5, (void)0);
}

/* Errors of a descriptor that a kernel made; the reason is that of the descriptor. */
static void descriptors(void **state)
{
	struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD);
	struct tutti_tensor d = matrix();

	set_up();
	d.box[0] = 3;
	card_descriptor(0, &d);
	assert_int_equal(refused(&r), TUTTI_TENSOR_ERROR_BOX_BYTES);
	assert_int_equal(refused(&r), TUTTI_TENSOR_ERROR_BOX_BYTES); /* from the cache */
	card.descriptor[0].version = 9;
	descriptor_forget(r.descriptor, RIG_ASID);
	assert_int_equal(refused(&r), TUTTI_TENSOR_ERROR_VERSION);
	d = matrix();
	card_descriptor(0, &d);
	card_descriptor_new(0, &d);
	card.descriptor[0].base ^= 16;
	assert_int_equal(refused(&r), TUTTI_TENSOR_ERROR_CHECK);
	card_descriptor_new(0, &d);
	assert_int_equal(refused(&r), 0);
}

/*
 * Whatever mode and rank the request names, and also if the place of the descriptor in the cache has held a good one,
 * of which the template is left (TMA-04).
 */
static void wrong_descriptors(void **state)
{
	struct tutti_tensor d = matrix();

	set_up();
	GOOD(tile(TUTTI_COPY_LOAD), (void)0);
	d.box[0] = 3;
	card_descriptor_new(0, &d);
	for (unsigned mode = 0; mode < 256; mode++)
		for (unsigned rank = 0; rank < 256; rank += mode % 255 ? 51 : 1) {
			struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD);

			r.mode = (uint8_t)mode;
			r.rank = (uint8_t)rank;
			assert_int_equal(refused(&r), TUTTI_TENSOR_ERROR_BOX_BYTES);
		}
}

/* A descriptor that cannot be read is a memory fault of the kernel. */
static void unreadable(void **state)
{
	struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD);

	set_up();
	card.refuse_fetch = r.descriptor;
	card_do(&r);
	assert_int_equal(card_fault(), TUTTI_CAUSE_UNMAPPED);
	assert_int_equal(task_errors[RIG_TASK].code, TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(task_errors[RIG_TASK].engine, TUTTI_ENGINE_FETCH);
	assert_true(task_errors[RIG_TASK].address == r.descriptor);
	card.refuse_fetch = 0;
	assert_int_equal(refused(&r), 0);
}

static void block_copies(void **state)
{
	set_up();
	REFUSED(ADDRESS, block(TUTTI_COPY_LOAD), r.descriptor += 8);
	REFUSED(ADDRESS, block(TUTTI_COPY_STORE), r.descriptor = (1ull << 47) - 144);
	REFUSED(ADDRESS, block(TUTTI_COPY_GLOBAL), r.other = 4);
	REFUSED(SHARED_RANGE, block(TUTTI_COPY_LOAD), r.blocks = (RIG_SHARED - 512) / 16 + 1);
	REFUSED(SHARED_RANGE, block(TUTTI_COPY_LOAD), r.blocks = ~0u);
	REFUSED(BLOCK, block(TUTTI_COPY_LOAD), r.flags = 12u << TUTTI_REQUEST_BLOCK_SHIFT);
	GOOD(block(TUTTI_COPY_PREFETCH), r.descriptor += 5);
	for (unsigned op = TUTTI_COPY_LOAD; op <= TUTTI_COPY_PREFETCH; op++)
		for (unsigned shift = 0; shift < 4; shift++) {
			struct tutti_tensor_request r = block(op);

			r.other = op == TUTTI_COPY_SHARED ? 4096 : 0x80000;
			r.flags = (uint16_t)(shift << TUTTI_REQUEST_BLOCK_SHIFT);
			if (op == TUTTI_COPY_REDUCE)
				r.reduce = TUTTI_REDUCE_ADD, r.type = TUTTI_U32;
			assert_int_equal(refused(&r), 0);
			assert_int_equal(card.movers, 1);
			assert_int_equal(card.moved, 160u << shift);
			if (op == TUTTI_COPY_LOAD)
				for (unsigned i = 0; i < 160u << shift; i++)
					assert_int_equal(card.shared[512 + i], any_byte(0x40000 + i));
			if (op == TUTTI_COPY_STORE)
				for (unsigned i = 0; i < 160u << shift; i++)
					assert_int_equal(card.global.slot[byte_set_find(&card.global, 0x40000 + i)].value,
							 card.shared[512 + i]);
			if (op == TUTTI_COPY_SHARED)
				assert_memory_equal(card.target + 512, card.shared + 4096, 160u << shift);
			if (op == TUTTI_COPY_GLOBAL)
				for (unsigned i = 0; i < 160u << shift; i++)
					assert_int_equal(card.global.slot[byte_set_find(&card.global, 0x80000 + i)].value,
							 any_byte(0x40000 + i));
			/* zero blocks are nothing at all, whatever else is wrong */
			r.blocks = 0;
			r.shared = 3;
			assert_int_equal(refused(&r), 0);
			assert_int_equal(card.ends, 1);
			assert_int_equal(card.movers, 0);
		}
	assert_int_equal(card.fetches, 0); /* no descriptor */
}

/* More than a mover descriptor can say. */
static void large_blocks(void **state)
{
	struct tutti_tensor_request r = block(TUTTI_COPY_GLOBAL);
	const struct tutti_mover *ring;
	uint64_t bytes = 0;

	set_up();
	ring = hal_pointer(hal_host.engines.mover_base);
	r.flags = 11u << TUTTI_REQUEST_BLOCK_SHIFT;
	r.blocks = 100000;
	r.other = 1ull << 40;
	card_request(&r);
	assert_int_equal(hal_host.engines.mover_tail, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(ring[i].global == r.descriptor + bytes && ring[i].other == r.other + bytes);
		assert_int_equal(!!(ring[i].flags & TUTTI_MOVER_LAST), i == 3);
		bytes += ring[i].bytes;
	}
	assert_true(bytes == 100000ull * 32768);
}

static void shared_to_shared(void **state)
{
	struct tutti_tensor_request r = tile(TUTTI_COPY_SHARED);

	set_up();
	r.other = 2048;
	r.cta = 4;
	for (unsigned i = 0; i < RIG_SHARED; i++)
		card.shared[i] = (uint8_t)(i * 7 ^ i >> 8);
	assert_int_equal(refused(&r), 0);
	assert_int_equal(card.moved, 256);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(card.target[swizzled(512 + i, 1)], card.shared[swizzled(2048 + i, 1)]);
}

/* ---- cache */

static void cache(void **state)
{
	struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD);
	struct tutti_tensor d = matrix();

	set_up();
	card_do(&r);
	card_do(&r);
	assert_int_equal(card.fetches, 1);
	assert_int_equal(counters.tmau_requests - counters.tmau_not_hits, 1);
	assert_int_equal(counters.tmau_misses, 1);
	/* a change is not seen before it is asked for */
	d.base += 0x1000;
	card_descriptor(0, &d);
	card_do(&r);
	assert_int_equal(card.shared[swizzled(512, 1)], any_byte(0x10000 + 16 + 2000));
	r.op = TUTTI_DESCRIPTOR_INVALIDATE;
	card_do(&r);
	r = tile(TUTTI_COPY_LOAD);
	card_do(&r);
	assert_int_equal(card.shared[swizzled(512, 1)], any_byte(0x11000 + 16 + 2000));
	assert_int_equal(card.fetches, 2);
	/* an acquire fence, page tables, all of a context */
	counters.acquires++;
	card_do(&r);
	assert_int_equal(card.fetches, 3);
	descriptor_forget(0, RIG_ASID);
	card_do(&r);
	assert_int_equal(card.fetches, 4);
	r.op = TUTTI_DESCRIPTOR_INVALIDATE;
	r.descriptor = 0;
	card_do(&r);
	r = tile(TUTTI_COPY_LOAD);
	card_do(&r);
	assert_int_equal(card.fetches, 5);
}

/* No room for the fetch of a descriptor: the core may sleep, and the request goes on when there is some. */
static void fetch_without_room(void **state)
{
	struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD);
	unsigned words;

	(void)state;
	set_up();
	while (hal_host_command(&words))
		;
	hal_host.engines.command_head = command_tail() - COMMAND_WORDS + 32;
	card_front(&r);
	card_tell();
	main_settle();
	assert_false(attention.settle & ATTEND_TMAU);
	assert_int_equal(card.fetches, 0);
	hal_host.engines.command_head = command_tail();
	main_settle();
	card_idle();
	assert_int_equal(card.fetches, 1);
	assert_int_equal(card.shared[swizzled(512, 1)], any_byte(0x10000 + 16 + 2000));
}

/* Invalidated while it is on its way: what comes is old. */
static void stale(void **state)
{
	struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD), gone = r;
	struct tutti_tensor d = matrix();
	const uint32_t *w;
	unsigned words;

	set_up();
	r.op = TUTTI_DESCRIPTOR_PREFETCH;
	card_request(&r);
	gone.op = TUTTI_DESCRIPTOR_INVALIDATE;
	card_request(&gone);
	w = hal_host_command(&words);
	assert_int_equal(w[0] & 0xff, TUTTI_CMD_FETCH);
	card_fetch(w);
	d.base += 0x1000;
	card_descriptor(0, &d);
	r = tile(TUTTI_COPY_LOAD);
	card_do(&r);
	assert_int_equal(card.shared[swizzled(512, 1)], any_byte(0x11000 + 16 + 2000));
	assert_int_equal(card.fetches, 2);
}

static void prefetch(void **state)
{
	struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD), next = column(TUTTI_COPY_LOAD), early = r;
	const uint32_t *w;
	unsigned words;

	/* the descriptor of the second request is fetched while the first waits for its own */
	set_up();
	card_request(&r);
	card_request(&next);
	assert_int_equal(tmau_waiting(), 2);
	assert_int_equal(counters.tmau_misses, 2);
	w = hal_host_command(&words);
	card_fetch(w);
	assert_int_equal(tmau_waiting(), 1);
	card_idle();
	assert_int_equal(card.ended, 2);
	assert_int_equal(card.fetches, 2);
	/* explicitly; nothing is moved by it */
	descriptor_forget(0, RIG_ASID);
	early.op = TUTTI_DESCRIPTOR_PREFETCH;
	card_do(&early);
	assert_int_equal(card.movers, 0);
	assert_int_equal(card.ends, 1);
	card_do(&r);
	assert_int_equal(card.fetches, 3);
	/* a prefetch of memory that cannot be read is not an error */
	early.descriptor += 256;
	card.refuse_fetch = early.descriptor;
	card_do(&early);
	assert_int_equal(card_fault(), 0);
}

/* More descriptors than the cache holds, in turns, with slow movers: the shape a mover has not taken is never replaced. */
static void many_descriptors(void **state)
{
	struct tutti_tensor d[RIG_SETS];
	unsigned round, i;

	seed(1);
	card_boot();
	for (i = 0; i < RIG_SETS; i++) {
		d[i] = matrix();
		d[i].base += i << 20;
		d[i].box[1] = (uint16_t)(1 + i % 20);
		card_descriptor(i, &d[i]);
	}
	card.slow = true;
	for (round = 0; round < 3000; round++) {
		struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD);
		unsigned n = 1 + roll(4), first = card.ended;

		memcpy(oracle.shared, card.shared, RIG_SHARED);
		byte_set_clear(&oracle.global);
		byte_set_clear(&card.global);
		for (unsigned k = 0; k < n; k++) {
			i = roll(RIG_SETS);
			r.descriptor = RIG_DESCRIPTORS + 128 * i;
			r.coordinate[0] = 4 * (int)roll(20);
			r.coordinate[1] = (int)roll(100);
			r.shared = k * 8192;
			oracle_do(&d[i], &r);
			r.flags = TUTTI_REQUEST_TENSOR | (roll(4) ? 0 : TUTTI_REQUEST_INLINE);
			card_request(&r);
		}
		card_idle();
		assert_int_equal(card.ended, first + n);
		assert_int_equal(card_fault(), 0);
		assert_int_equal(memcmp(card.shared, oracle.shared, RIG_SHARED), 0);
	}
}

/* The request area is full and the movers have stopped: all requests are served in order, and none is lost. */
static void full_area(void **state)
{
	struct tutti_tensor d = matrix();
	unsigned lap, i, slots;

	d.rank = 5;
	for (i = 2; i < 5; i++) {
		d.size_less_1[i] = 19;
		d.stride[i - 1] = i == 2 ? 40000 : d.stride[i - 2] * 20;
		d.traversal[i] = 1;
		d.box[i] = i == 4 ? 15 : 1;
	}
	d.box[1] = 2;
	d.swizzle = TUTTI_SWIZZLE_NONE;
	seed(2);
	card_boot();
	card_descriptor(0, &d);
	slots = hal_host.engines.request_slots;
	for (lap = 0; lap < 40; lap++) {
		memcpy(oracle.shared, card.shared, RIG_SHARED);
		byte_set_clear(&card.global);
		for (i = 0; i < slots; i++) {
			struct tutti_tensor_request r = tile(TUTTI_COPY_LOAD);

			r.rank = 5;
			r.coordinate[4] = (int)roll(3 + lap % 20) - 2;
			r.shared = 2048 * i;
			oracle_do(&d, &r);
			card_request(&r);
			assert_true(hal_host.engines.mover_tail - card.head <= hal_host.engines.mover_slots - FW_AGENTS);
		}
		assert_true(tmau_waiting() > 0);
		card.slow = lap & 1;
		card_idle();
		assert_int_equal(card.ended, (lap + 1) * slots);
		assert_int_equal(memcmp(card.shared, oracle.shared, RIG_SHARED), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TMA-01 TMA-04", operations),
		RIG_TEST("TMA-04 TMA-21", places),
		RIG_TEST("TMA-04 TMA-21", small_ctas),
		RIG_TEST("TMA-04 TMA-23", ctas),
		RIG_TEST("TMA-04 TMA-25", reductions),
		RIG_TEST("TMA-04 TMA-07", coordinates),
		RIG_TEST("TMA-04 TMA-11 TMA-12", stores_of_columns),
		RIG_TEST("TMA-04 TMA-05", descriptors),
		RIG_TEST("TMA-04 REL-11", wrong_descriptors),
		RIG_TEST("TMA-04", unreadable),
		RIG_TEST("TMA-26", block_copies),
		RIG_TEST("TMA-26", large_blocks),
		RIG_TEST("TMA-01", shared_to_shared),
		RIG_TEST("TMA-18 TMA-27", cache),
		RIG_TEST("TMA-18 REL-11", fetch_without_room),
		RIG_TEST("TMA-18", stale),
		RIG_TEST("TMA-18", prefetch),
		RIG_TEST("TMA-18 TMA-19", many_descriptors),
		RIG_TEST("TMA-02 TMA-03", full_area),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
