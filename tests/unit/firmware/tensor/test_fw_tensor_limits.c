/* SPDX-License-Identifier: MIT */
/* Tensor requests at the limits of what one mover descriptor can say, and what is clipped where. */
#include "tensor_oracle.h"

#include "tensor/tensor_job.h"

#define MOST (MOVER_SLOTS - FW_AGENTS) /* mover descriptors that may wait at once */
#define VISIT 12u                      /* that a visit may write */

/* ---- elements inside and outside */

/* Elements of @n that come before 0, and behind @last; coordinates from @negative on stand for negative ones. */
static void count_plainly(uint32_t start, uint32_t n, uint32_t step, uint32_t last, uint32_t negative, uint32_t *before,
			  uint32_t *after)
{
	int64_t at = start >= negative ? (int64_t)start - (1ll << 32) : start;

	*before = *after = 0;
	for (; n--; at += step) {
		*before += at < 0;
		*after += at > (int64_t)last;
	}
}

/* Of the elements of a tile or a turn, those before a tensor, in it and behind it are counted (TMA-09, TMA-12). */
static void clipped(void **state)
{
	unsigned inside = 0, none = 0;

	for (unsigned round = 0; round < 200000; round++) {
		uint32_t negative = round & 1 ? 0x80000000u : 0xf0000000u, step = 1 + (roll(2) ? 0 : roll(8)), n = 1 + roll(roll(2) ? 4 : 256);
		uint32_t last = roll(3) ? roll(300) : roll(2) ? roll32() : 0xbfffffffu, reach = n * step + 3, start, before, after, left;
		uint32_t wanted_before, wanted_after;

		if (!(round % 1000))
			seed(round);
		switch (roll(5)) {
		case 0: start = roll(3) - 1; break;
		case 1: start = -roll(reach); break;
		case 2: start = last - roll(reach) + 2; break;
		case 3: start = roll(last < 0x7fffffffu ? last + 1 : 0x7fffffffu); break;
		default: start = negative - 1 - roll(9); break;
		}
		if (start < negative && start >= 0x80000000u && start != negative - 1)
			start &= 0x7fffffffu;
		left = clip(start, n, (n - 1) * step, step, last, negative, &before, &after);
		count_plainly(start, n, step, last, negative, &wanted_before, &wanted_after);
		assert_int_equal(left, n - wanted_before - wanted_after);
		none += !left;
		inside += left == n;
		if (!left)
			continue;
		assert_int_equal(before, wanted_before);
		assert_int_equal(after, wanted_after);
	}
	assert_true(inside > 20000 && none > 20000);
}

/* ---- turns of about as many pixels as a column can have */

/* An image along whose dimension @wheel a turn has @turn + 1 pixels, which are @step apart. */
static struct tutti_tensor image(unsigned rank, unsigned wheel, unsigned turn, unsigned step)
{
	struct tutti_tensor d = { .base = 0x40000000, .type = TUTTI_U8, .rank = (uint8_t)rank, .mode = TUTTI_IM2COL, .size_less_1 = { 15 },
				  .column = { .channels = 16, .pixels = (uint16_t)(1024 - roll(3)) } };
	uint64_t stride = 16;

	for (unsigned i = 0; i < 5; i++)
		d.traversal[i] = 1;
	for (unsigned i = 1; i < rank; i++) {
		d.size_less_1[i] = 1;
		if (i == wheel + 1) {
			d.traversal[i] = (uint8_t)step;
			d.column.lower[wheel] = (int16_t)(1 - (int)roll(3));
			d.column.upper[wheel] = (int16_t)(1 - (int)roll(3));
			d.size_less_1[i] = (uint32_t)((int)(turn * step + roll(step)) - d.column.upper[wheel] + d.column.lower[wheel]);
		}
		d.stride[i - 1] = stride;
		stride *= d.size_less_1[i] + 1ull;
	}
	return d;
}

/* Turns of 1023 to 1027 pixels, along each wheel, from pixels at their beginning and their end, on and off the lattice. */
static void long_turns(void **state)
{
	card_boot();
	for (unsigned round = 0; round < 400; round++) {
		unsigned rank = 3 + round % 3, wheel = round / 3 % (rank - 2), turn = 1022 + round / 9 % 5, step = round / 45 % 4;
		struct tutti_tensor_request r = { .op = TUTTI_COPY_LOAD, .mode = TUTTI_IM2COL, .rank = (uint8_t)rank,
						  .flags = TUTTI_REQUEST_TENSOR };
		struct tutti_tensor d;
		int32_t range;

		seed(round);
		step = step ? step * step - step + 1 : 1; /* 1, 1, 3, 7 */
		d = image(rank, wheel, turn, step);
		range = (int32_t)d.size_less_1[wheel + 1] + d.column.upper[wheel] - d.column.lower[wheel];
		r.coordinate[rank - 1] = (int32_t)roll(3) - 1;
		r.coordinate[wheel + 1] = d.column.lower[wheel];
		if (roll(4))
			r.coordinate[wheel + 1] += roll(2) ? (int32_t)roll(5) * (int32_t)step : range - (int32_t)roll(3 * step);
		r.descriptor = card_descriptor_new(roll(RIG_SETS), &d);
		oracle_compare(&d, &r);
	}
}

/* ---- more bytes than a mover descriptor can say */

static struct {
	struct tutti_mover mover[64];
	unsigned n;
} taken;

/* What the card does while movers have nothing to take. */
static void go_on(void)
{
	const uint32_t *w;
	unsigned words;

	for (unsigned i = 0; i < 9 && hal_host.engines.mover_tail == card.head; i++)
		if ((w = hal_host_command(&words)))
			card_fetch(w);
		else
			main_settle();
	assert_true(hal_host.engines.mover_tail != card.head);
}

/* Take the mover descriptors of a request without carrying them out. */
static void take(const struct tutti_tensor_request *r)
{
	const struct tutti_mover *ring = hal_pointer(hal_host.engines.mover_base), *m;

	taken.n = 0;
	card_request(r);
	do {
		go_on();
		assert_true(taken.n < 64);
		assert_true(mover_tail() - card.head <= MOST); /* the others are for agent dispatches */
		m = &ring[card.head % hal_host.engines.mover_slots];
		taken.mover[taken.n++] = *m;
		hal_host.engines.mover_head = ++card.head;
		if (card.head == hal_host.engines.mover_notice)
			hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_MOVER_ROOM } });
	} while (!(m->flags & TUTTI_MOVER_LAST));
	card.ended++;
	assert_int_equal(hal_host.engines.mover_tail, card.head);
	assert_int_equal(tmau_waiting(), 0);
	assert_int_equal(card_fault(), 0);
}

/* The next descriptor that was taken: @flags besides those that all of them have, @bytes if they are linear. */
static void next(unsigned *n, unsigned op, unsigned flags, uint64_t other, uint64_t bytes)
{
	const struct tutti_mover *m = &taken.mover[*n];

	assert_true(*n < taken.n);
	assert_int_equal(m->op, op);
	assert_int_equal(m->flags, flags | TUTTI_MOVER_CALL | (++*n == taken.n ? TUTTI_MOVER_LAST : 0));
	assert_true(m->other == other);
	if (flags & TUTTI_MOVER_LINEAR)
		assert_int_equal(m->bytes, bytes);
}

/* Linear pieces of at most 1 GiB. Return: where the next one begins */
static uint64_t pieces(unsigned *n, unsigned op, unsigned flags, uint64_t other, uint64_t bytes)
{
	while (bytes) {
		uint64_t piece = bytes < 1u << 30 ? bytes : 1u << 30;

		next(n, op, TUTTI_MOVER_LINEAR | flags, other, piece);
		other += piece;
		bytes -= piece;
	}
	return other;
}

/* Copies of blocks that are about as large as one, two or thirty descriptors can say. */
static void large_blocks(void **state)
{
	static const uint32_t blocks[] = { 1u << 15, (1u << 15) - 1, (1u << 15) + 1, 1u << 16, 30u << 15, (30u << 15) + 7 };

	card_boot();
	for (unsigned i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		struct tutti_tensor_request r = { .descriptor = 0x40000, .op = TUTTI_COPY_GLOBAL, .blocks = blocks[i],
						  .flags = 11u << TUTTI_REQUEST_BLOCK_SHIFT, .barrier = TUTTI_BARRIER_NONE,
						  .other = 1ull << 44 };
		unsigned n = 0;

		take(&r);
		pieces(&n, TUTTI_MOVE_COPY, TUTTI_MOVER_NO_SHAPE, r.other, (uint64_t)blocks[i] << 15);
		assert_int_equal(n, taken.n);
		for (uint64_t at = r.descriptor, k = 0; k < n; at += taken.mover[k++].bytes)
			assert_true(taken.mover[k].global == at);
	}
}

/*
 * A tile of five slices of 0.5 to 3.1 GiB, of which @before lie before the tensor and @after behind it: what is filled is cut
 * into pieces, and what comes before, between and behind lies one after the other.
 */
static void large_fill(unsigned depth, unsigned before, unsigned after)
{
	struct tutti_tensor d = { .base = 1ull << 33, .type = TUTTI_U64, .rank = 5, .size_less_1 = { 255, 255, 255, 255, 4 - before - after },
				  .traversal = { 1, 1, 1, 1, 1 }, .box = { 256, 256, 256, (uint16_t)depth, 5 },
				  .stride = { 2048, 1 << 19, 1 << 27, 1ull << 35 } };
	struct tutti_tensor_request r = { .op = TUTTI_COPY_GLOBAL, .rank = 5, .flags = TUTTI_REQUEST_TENSOR,
					  .barrier = TUTTI_BARRIER_NONE, .coordinate = { 0, 0, 0, 0, -(int32_t)before },
					  .other = 1ull << 44 };
	uint64_t slice = (uint64_t)depth << 27, other = r.other;
	unsigned n = 0;

	r.descriptor = card_descriptor_new(roll(RIG_SETS), &d);
	take(&r);
	other = pieces(&n, TUTTI_MOVE_COPY, TUTTI_MOVER_OUTSIDE, other, before * slice);
	for (unsigned i = before; i < 5 - after; i++, other += slice) {
		assert_true(taken.mover[n].global == d.base + (i - before) * d.stride[3]);
		next(&n, TUTTI_MOVE_COPY, TUTTI_MOVER_CLIPPED, other, 0);
	}
	pieces(&n, TUTTI_MOVE_COPY, TUTTI_MOVER_OUTSIDE, other, after * slice);
	assert_int_equal(n, taken.n);
}

static void large_fills(void **state)
{
	static const unsigned depths[] = { 4, 7, 8, 9, 16, 25 };

	seed(3);
	card_boot();
	for (unsigned i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		for (unsigned before = 0; before < 5; before++)
			for (unsigned after = 0; before + after < 5; after++)
				large_fill(depths[i], before, after);
}

/* ---- room in the mover ring */

/*
 * A request that needs @n mover descriptors: one visit writes at most @visit of them, and says if it is not done; the others
 * write the rest.
 */
static void request(const struct tutti_tensor_request *r, unsigned n, unsigned visit)
{
	card_front(r);
	card.front++;
	tmau_event_request();
	assert_int_equal(mover_tail() - card.head, n < visit ? n : visit);
	assert_int_equal(!!(attention.settle & ATTEND_TMAU), n > visit);
	while (attention.settle & ATTEND_TMAU)
		main_settle();
	assert_int_equal(mover_tail() - card.head, n);
}

/*
 * A request goes on while there is room for a step of it, which is two descriptors: a box, and what is filled before it. Of
 * these three a column of two images needs a box for each, a tile in global memory a fill and a box, and a block copy one.
 */
static void room_for_two(void **state)
{
	struct tutti_tensor deep = { .base = 1ull << 33, .type = TUTTI_U8, .rank = 5, .size_less_1 = { 15, 0, 0, 0, 255 },
				     .traversal = { 1, 1, 1, 1, 1 }, .box = { 16, 1, 1, 1, 1 }, .stride = { 16, 16, 16, 16 } };
	struct tutti_tensor edge = { .base = 0x40000000, .type = TUTTI_U8, .rank = 5, .mode = TUTTI_IM2COL, .size_less_1 = { 15, 7, 0, 0, 3 },
				     .traversal = { 1, 1, 1, 1, 1 }, .stride = { 16, 128, 128, 128 }, .column = { .channels = 16, .pixels = 12 } };
	struct tutti_tensor_request first = { .op = TUTTI_COPY_LOAD, .rank = 5, .flags = TUTTI_REQUEST_TENSOR };
	struct tutti_tensor_request second[] = {
		{ .op = TUTTI_COPY_LOAD, .mode = TUTTI_IM2COL, .rank = 5, .flags = TUTTI_REQUEST_TENSOR, .coordinate = { 0, 2 } },
		{ .op = TUTTI_COPY_GLOBAL, .rank = 5, .flags = TUTTI_REQUEST_TENSOR, .barrier = TUTTI_BARRIER_NONE,
		  .coordinate = { 0, 0, 0, 0, -1 }, .other = 1 << 20 },
		{ .op = TUTTI_COPY_LOAD, .descriptor = 1 << 20, .blocks = 3 },
	};

	card_boot();
	for (unsigned i = 0; i < 3; i++)
		for (unsigned n = MOST - 6; n <= MOST; n++) {
			unsigned room = MOST - n, written = room < 2 ? 0 : i == 2 || (i == 0 && room == 2) ? 1 : 2;

			deep.box[4] = (uint16_t)n;
			first.descriptor = card_descriptor_new(0, &deep);
			if (i < 2) { /* it and the first one have what they need in the cache */
				deep.box[4] = 2;
				second[i].descriptor = card_descriptor_new(1, i ? &deep : &edge);
				card_do(&second[i]);
			}
			first.coordinate[4] = -300; /* nothing is inside */
			card_do(&first);
			first.coordinate[4] = 0;
			request(&first, n, VISIT);
			card_request(&second[i]);
			assert_int_equal(mover_tail() - card.head, n + written);
			card_idle();
			assert_int_equal(card.ended, card.front);
			assert_int_equal(card_fault(), 0);
		}
}

/* Tensors of which a request needs @n mover descriptors: for slices that lie inside, slices at an edge, and images of a pixel. */
static struct tutti_tensor needs(unsigned n, unsigned way)
{
	struct tutti_tensor d = { .base = 1ull << 33, .type = TUTTI_U8, .rank = 5, .size_less_1 = { 15, 0, 0, 0, 255 },
				  .traversal = { 1, 1, 1, 1, 1 }, .stride = { 16, 16, 16, 16 } };

	if (way == 2) {
		d.mode = TUTTI_IM2COL;
		d.column = (struct tutti_column){ .channels = 16, .pixels = (uint16_t)n };
		return d;
	}
	d.box[0] = way ? 32 : 16;
	d.box[1] = d.box[2] = d.box[3] = 1;
	d.box[4] = (uint16_t)n;
	return d;
}

/*
 * However many descriptors a request needs, a visit writes twelve of them, or eleven if a step may need two, and the ring never
 * holds more than it may.
 */
static void visits(void **state)
{
	struct tutti_tensor_request r = { .op = TUTTI_COPY_LOAD, .rank = 5, .flags = TUTTI_REQUEST_TENSOR };

	card_boot();
	for (unsigned n = 1; n <= 40; n++)
		for (unsigned way = 0; way < 3; way++) {
			struct tutti_tensor d = needs(n, way);

			r.mode = d.mode;
			r.descriptor = card_descriptor_new(0, &d);
			take(&r);
			assert_int_equal(taken.n, n);
			if (n < MOST + (way != 2))
				request(&r, n, way == 2 ? VISIT - 1 : VISIT); /* now the descriptor is in the cache */
			card_idle();
		}
}

/*
 * A wrong request is refused at the end of a visit, in which a long one before it has been completed, and the next one, of
 * another task, is wrong as well. Both tasks fail.
 */
static void refused_in_a_row(void **state)
{
	struct tutti_tensor d = needs(VISIT + 1, 0);
	struct tutti_tensor_request r = { .op = TUTTI_COPY_LOAD, .rank = 5, .flags = TUTTI_REQUEST_TENSOR }, wrong;
	struct task *other = &tasks[RIG_TASK + 1];

	card_boot();
	r.descriptor = card_descriptor_new(0, &d);
	card_do(&r);
	*other = tasks[RIG_TASK];
	other->slot = RIG_TASK + 1;
	wrong = r;
	wrong.shared = 8;
	card_front(&r);
	card.front++;
	tmau_event_request();
	card_front(&wrong);
	card.front++;
	tmau_event_request();
	main_settle();
	wrong.rank = 4;
	card_front(&wrong)->slot = RIG_TASK + 1;
	card_tell();
	card_idle();
	main_settle();
	assert_int_equal(card.ended, card.front);
	assert_int_equal(card_fault(), TUTTI_CAUSE_TENSOR + TUTTI_TENSOR_ERROR_SHARED_ALIGN);
	assert_int_equal(other->state, TASK_KILLED);
	assert_int_equal(task_errors[RIG_TASK + 1].cause, TUTTI_CAUSE_TENSOR + TUTTI_TENSOR_ERROR_REQUEST_RANK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TMA-09 TMA-12", clipped),
		RIG_TEST("TMA-12 TMA-20", long_turns),
		RIG_TEST("TMA-26", large_blocks),
		RIG_TEST("TMA-09 TMA-20", large_fills),
		RIG_TEST("TMA-03 REL-11", room_for_two),
		RIG_TEST("TMA-03 TMA-20 REL-11", visits),
		RIG_TEST("TMA-04 SYS-06", refused_in_a_row),
	};

	return cmocka_run_group_tests_name("firmware: limits of tensor requests", tests, NULL, NULL);
}
