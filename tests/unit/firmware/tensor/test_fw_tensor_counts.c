/* SPDX-License-Identifier: MIT */
/* What the counters of the card say after each kind of tensor request (TMA-27). */
#include "tensor_oracle.h"

/* Counters since the last look. */
struct counts {
	unsigned requests, hits, misses, interior, edge;
};

static uint64_t counter(unsigned number)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;

	return ((const uint64_t *)(hal_host.window + d->counters.offset))[number];
}

static struct counts look(void)
{
	static struct counts last;
	struct counts now, since;

	counter_flush(0, mover_tail());
	now = (struct counts){ (unsigned)counter(TUTTI_COUNTER_TMAU_REQUESTS), (unsigned)counter(TUTTI_COUNTER_TMAU_DESCRIPTOR_HITS),
			       (unsigned)counter(TUTTI_COUNTER_TMAU_DESCRIPTOR_MISSES), (unsigned)counter(TUTTI_COUNTER_TMAU_INTERIOR),
			       (unsigned)counter(TUTTI_COUNTER_TMAU_EDGE) };
	since = (struct counts){ now.requests - last.requests, now.hits - last.hits, now.misses - last.misses,
				 now.interior - last.interior, now.edge - last.edge };
	last = now;
	return since;
}

/* Tensors, by number of their descriptor: rank 2, rank 5, an image, one that is wrong, and one that cannot be read. */
enum { FLAT, DEEP, IMAGE, WRONG, UNREADABLE };

static void tensors(void)
{
	struct tutti_tensor d = { .base = 0x10000, .type = TUTTI_U32, .rank = 2, .size_less_1 = { 63, 63, 7, 7, 7 },
				  .stride = { 256, 16384, 1 << 17, 1 << 20 }, .traversal = { 1, 1, 1, 1, 1 }, .box = { 4, 4, 1, 1, 2 } };

	card_boot();
	card_descriptor(FLAT, &d);
	d.rank = 5;
	card_descriptor(DEEP, &d);
	d = (struct tutti_tensor){ .base = 0x10000, .type = TUTTI_U32, .rank = 3, .mode = TUTTI_IM2COL, .size_less_1 = { 63, 63, 7 },
				   .stride = { 256, 16384 }, .traversal = { 1, 1, 1 }, .column = { .channels = 4, .pixels = 8 } };
	card_descriptor(IMAGE, &d);
	d.column.channels = 3;
	card_descriptor(WRONG, &d);
	card.refuse_fetch = RIG_DESCRIPTORS + 128 * UNREADABLE;
}

static struct tutti_tensor_request about(unsigned tensor, unsigned op)
{
	bool column = tensor == IMAGE || tensor == WRONG;

	return (struct tutti_tensor_request){ .descriptor = RIG_DESCRIPTORS + 128 * tensor, .op = (uint8_t)op,
					      .mode = column ? TUTTI_IM2COL : TUTTI_TILE, .flags = TUTTI_REQUEST_TENSOR,
					      .rank = tensor == FLAT ? 2 : column ? 3 : 5, .coordinate = { 4, 2, 1 }, .cta = 1,
					      .barrier = op == TUTTI_COPY_LOAD ? 0 : TUTTI_BARRIER_NONE };
}

/* Serve a request. @hit: its descriptor was in the cache; @interior, @edge: it was such a tile */
static void served(const struct tutti_tensor_request *r, bool hit, bool miss, bool interior, bool edge)
{
	struct counts since;

	card_do(r);
	card_fault();
	since = look();
	if (since.requests != 1 || since.hits != hit || since.misses != miss || since.interior != interior || since.edge != edge)
		fail_msg("op %u, descriptor %u, flags %x: %u requests, %u hits, %u misses, %u inside, %u at an edge", r->op,
			 (unsigned)(r->descriptor - RIG_DESCRIPTORS) / 128, r->flags, since.requests, since.hits, since.misses,
			 since.interior, since.edge);
}

/* A tile is inside or at an edge, with dense sides in global memory at an edge; other requests are neither. */
static void tiles_and_others(void **state)
{
	struct tutti_tensor_request r;

	(void)state;
	tensors();
	look();
	for (unsigned again = 0; again < 3; again++)
		for (unsigned tensor = FLAT; tensor <= IMAGE; tensor++) {
			bool tile = tensor != IMAGE;

			r = about(tensor, TUTTI_COPY_LOAD);
			served(&r, again, !again, tile, false);
			r.op = TUTTI_COPY_STORE;
			r.barrier = TUTTI_BARRIER_NONE;
			served(&r, true, false, tile, false);
			r.op = TUTTI_COPY_PREFETCH;
			served(&r, true, false, tile, false);
			r.coordinate[0] = 62;
			r.op = TUTTI_COPY_PREFETCH; /* which may begin anywhere */
			served(&r, true, false, false, tile);
			r.coordinate[0] = 64; /* all of it is outside */
			served(&r, true, false, false, tile);
			r.coordinate[0] = 4;
			r.op = TUTTI_COPY_GLOBAL;
			served(&r, true, false, false, tile);
			r.op = TUTTI_COPY_SCATTER;
			served(&r, true, false, false, tile);
			r = about(tensor, TUTTI_COPY_LOAD);
			r.coordinate[0] = -4;
			served(&r, true, false, false, tile);
			r = about(tensor, TUTTI_COPY_SHARED);
			r.other = 8192;
			served(&r, true, false, false, false);
		}
}

/* Requests that ask no descriptor of the cache are no hits. */
static void without_cache(void **state)
{
	struct tutti_tensor_request r = { .descriptor = 0x40000, .blocks = 3 };
	struct counts since;

	(void)state;
	tensors();
	look();
	served(&r, false, false, false, false);
	r.blocks = 0;
	served(&r, false, false, false, false);
	for (unsigned again = 0; again < 2; again++) { /* fetched, or there already */
		r = about(FLAT, TUTTI_DESCRIPTOR_PREFETCH);
		served(&r, false, !again, false, false);
	}
	r = about(FLAT, TUTTI_COPY_LOAD);
	served(&r, true, false, true, false);
	r.op = TUTTI_DESCRIPTOR_INVALIDATE;
	served(&r, false, false, false, false);
	r = about(FLAT, TUTTI_COPY_LOAD);
	served(&r, false, true, true, false);
	r.flags |= TUTTI_REQUEST_INLINE;
	for (unsigned edge = 0; edge < 2; edge++) {
		r.coordinate[0] = edge ? -4 : 4;
		card_request(&r);
		card_idle();
		since = look();
		assert_int_equal(since.requests, 1);
		assert_int_equal(since.hits + since.misses, 0);
		assert_int_equal(since.interior, !edge);
		assert_int_equal(since.edge, edge);
	}
}

/* A request that is refused is a hit if its descriptor was in the cache, and it is no tile. */
static void refused(void **state)
{
	struct tutti_tensor_request r = about(FLAT, TUTTI_COPY_LOAD), wrong;

	(void)state;
	tensors();
	look();
	served(&r, false, true, true, false);
	wrong = r;
	wrong.shared = 8;
	served(&wrong, true, false, false, false);
	wrong = r;
	wrong.rank = 3;
	served(&wrong, true, false, false, false);
	wrong = r;
	wrong.op = TUTTI_TENSOR_OPS;
	served(&wrong, false, false, false, false);
	wrong = r;
	wrong.descriptor += 32;
	served(&wrong, false, false, false, false);
	wrong = (struct tutti_tensor_request){ .descriptor = 0x40008, .blocks = 3 };
	served(&wrong, false, false, false, false);
	for (unsigned again = 0; again < 2; again++) {
		wrong = about(WRONG, TUTTI_COPY_LOAD); /* stays in the cache */
		served(&wrong, again, !again, false, false);
		wrong = about(UNREADABLE, TUTTI_COPY_LOAD); /* is tried again */
		served(&wrong, false, true, false, false);
	}
	/* that it cannot be read is known already from a prefetch */
	wrong = about(UNREADABLE, TUTTI_DESCRIPTOR_PREFETCH);
	served(&wrong, false, true, false, false);
	wrong = about(UNREADABLE, TUTTI_COPY_LOAD);
	served(&wrong, false, false, false, false);
	served(&wrong, false, true, false, false);
	served(&r, true, false, true, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TMA-27", tiles_and_others),
		RIG_TEST("TMA-27 TMA-18", without_cache),
		RIG_TEST("TMA-27 TMA-04", refused),
	};

	return cmocka_run_group_tests_name("firmware: counters of tensor requests", tests, NULL, NULL);
}
