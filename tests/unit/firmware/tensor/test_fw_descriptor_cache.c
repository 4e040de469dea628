/* SPDX-License-Identifier: MIT */
/* Which tensor descriptors are fetched into the firmware's cache, and which of them stay there. */
#include "tensor_oracle.h"

#include "tensor/descriptor_cache.h"
#include "tensor/mover_ring.h"

static struct tutti_tensor any_tensor(void)
{
	return (struct tutti_tensor){ .base = 0x1000000, .type = TUTTI_U32, .rank = 2, .size_less_1 = { 63, 63 }, .stride = { 256 },
				      .traversal = { 1, 1 }, .box = { 4, 4 } };
}

static struct tutti_tensor_request about(uint64_t address, unsigned op)
{
	return (struct tutti_tensor_request){ .descriptor = address, .op = (uint8_t)op, .rank = 2, .flags = TUTTI_REQUEST_TENSOR };
}

/* The address of descriptor @i. */
static uint64_t place(unsigned i)
{
	return RIG_DESCRIPTORS + 128ull * i;
}

/* Booted, with all descriptors in memory and the first one in the cache. */
static void begin(void)
{
	struct tutti_tensor d = any_tensor();
	struct tutti_tensor_request r = about(place(0), TUTTI_COPY_LOAD);

	card_boot();
	for (unsigned i = 0; i < RIG_SETS; i++)
		card_descriptor(i, &d);
	card_do(&r);
	assert_int_equal(card.fetches, 1);
}

/* Whether a load by this descriptor finds it in the cache. */
static bool is_cached(uint64_t address)
{
	struct tutti_tensor_request r = about(address, TUTTI_COPY_LOAD);
	unsigned before = card.fetches;

	card_do(&r);
	assert_int_equal(card_fault(), 0);
	return card.fetches == before;
}

/* Another descriptor that shares the place of the first one in the cache. */
static uint64_t rival(void)
{
	for (unsigned i = 1; i < RIG_SETS; i++)
		if (descriptor_entry((uint32_t)place(i)) == descriptor_entry((uint32_t)place(0)))
			return place(i);
	fail_msg("no two descriptors share a place");
	return 0;
}

/* To invalidate a descriptor concerns that address of that address space, not what has its place in the cache. */
static void invalidated_alone(void **state)
{
	begin();
	assert_true(is_cached(place(0)));
	descriptor_forget(rival(), RIG_ASID);
	descriptor_forget(place(0) + (1ull << 40), RIG_ASID);
	descriptor_forget(place(0), RIG_ASID + 1);
	descriptor_forget(place(0), DESCRIPTOR_NONE);
	assert_true(is_cached(place(0)));
	descriptor_forget(place(0), RIG_ASID);
	assert_false(is_cached(place(0)));
	assert_true(is_cached(place(0)));
	descriptor_forget(0, RIG_ASID + 1); /* all of them, of whatever address space */
	assert_false(is_cached(place(0)));
	assert_false(is_cached(rival()));
	assert_false(is_cached(place(0)));
}

/* The next command is the fetch of this descriptor. Return: its words */
static const uint32_t *fetch_of(uint64_t address, unsigned asid)
{
	unsigned words;
	const uint32_t *w;

	command_publish();
	w = hal_host_command(&words);
	assert_non_null(w);
	assert_int_equal(w[0], TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, TAG_TENSOR | (unsigned)(descriptor_entry((uint32_t)address) -
											descriptor_entries)));
	assert_int_equal(words, 6);
	assert_int_equal(w[1], asid);
	assert_true((w[2] | (uint64_t)w[3] << 32) == address);
	assert_int_equal(w[4], 128);
	assert_ptr_equal(hal_pointer(w[5]), &descriptor_entry((uint32_t)address)->t);
	return w;
}

static bool no_fetch(void)
{
	unsigned words;

	command_publish();
	return !hal_host_command(&words);
}

/* The bytes of a fetched descriptor arrive. */
static void arrives(uint64_t address)
{
	struct descriptor *d = descriptor_entry((uint32_t)address);

	memcpy(&d->t, (uint8_t *)card.descriptor + (address - RIG_DESCRIPTORS), 128);
	descriptor_event_fetch((unsigned)(d - descriptor_entries) | 0xff0, &(struct tutti_event){ { TUTTI_EVENT_FETCH } });
}

/*
 * An entry is of one address space. What was asked for while another descriptor was on its way to the same place is not
 * fetched, and is not there afterwards.
 */
static void of_one_space(void **state)
{
	begin();
	assert_non_null(descriptor_find(place(0), RIG_ASID));
	assert_null(descriptor_find(place(0), RIG_ASID + 1));
	assert_int_equal(descriptor_fetch(place(0), RIG_ASID + 1), DESCRIPTOR_COMES);
	fetch_of(place(0), RIG_ASID + 1);
	assert_null(descriptor_find(place(0), RIG_ASID + 1));
	assert_null(descriptor_find(place(0), RIG_ASID));
	assert_int_equal(descriptor_fetch(rival(), RIG_ASID), DESCRIPTOR_COMES);
	assert_true(no_fetch());
	arrives(place(0));
	assert_non_null(descriptor_find(place(0), RIG_ASID + 1));
	assert_null(descriptor_find(place(0), RIG_ASID));
	assert_null(descriptor_find(rival(), RIG_ASID));
}

/* What is on its way is stale if it, or everything, has been invalidated meanwhile, and not if something else has. */
static void on_its_way(void **state)
{
	for (unsigned i = 0; i < 7; i++) {
		begin();
		descriptor_forget(place(0), RIG_ASID);
		assert_int_equal(descriptor_fetch(place(0), RIG_ASID), DESCRIPTOR_COMES);
		fetch_of(place(0), RIG_ASID);
		switch (i) {
		case 0: descriptor_forget(place(0), RIG_ASID); break;
		case 1: descriptor_forget(0, RIG_ASID); break;
		case 2: counters.acquires++; break;
		case 3: descriptor_forget(place(0), RIG_ASID + 1); break;
		case 4: descriptor_forget(rival(), RIG_ASID); break;
		case 5: descriptor_forget(place(0) + (1ull << 32), RIG_ASID); break;
		}
		assert_null(descriptor_find(place(0), RIG_ASID));
		arrives(place(0));
		assert_int_equal(descriptor_find(place(0), RIG_ASID) != NULL, i > 2);
		/* an event without a fetch brings nothing back */
		descriptor_forget(place(0), RIG_ASID);
		arrives(place(0));
		assert_null(descriptor_find(place(0), RIG_ASID));
	}
}

/* The bytes of a fetched descriptor arrive, and the requests that wait for it go on. */
static void comes(uint64_t address)
{
	struct descriptor *d = descriptor_entry((uint32_t)address);

	memcpy(&d->t, (uint8_t *)card.descriptor + (address - RIG_DESCRIPTORS), 128);
	tmau_event_fetch((unsigned)(d - descriptor_entries), &(struct tutti_event){ { TUTTI_EVENT_FETCH } });
}

/*
 * Kernels with acquire fences may start so often that each descriptor is on its way meanwhile. It is good for the requests that
 * came before it was asked for, and for no later ones.
 */
static void fences_on_its_way(void **state)
{
	struct tutti_tensor_request r = about(place(1), TUTTI_COPY_LOAD), other = about(place(2), TUTTI_COPY_LOAD);

	begin();
	card_request(&r);
	for (unsigned i = 0; i < 1000; i++) {
		fetch_of(place(1), RIG_ASID);
		counters.acquires++;
		card_request(&r); /* perhaps of a kernel behind the fence */
		assert_int_equal(tmau_waiting(), 2);
		comes(place(1));
		assert_int_equal(tmau_waiting(), 1);
		while (hal_host.engines.mover_tail != card.head)
			card_move();
	}
	fetch_of(place(1), RIG_ASID);
	comes(place(1));
	assert_int_equal(tmau_waiting(), 0);
	assert_non_null(descriptor_find(place(1), RIG_ASID));

	for (unsigned forget = 0; forget < 3; forget++) {
		begin();
		card_request(&r);
		card_request(&other);
		fetch_of(place(1), RIG_ASID);
		fetch_of(place(2), RIG_ASID);
		counters.acquires++;
		comes(place(2));
		if (forget)
			descriptor_forget(forget == 1 ? 0 : place(2), RIG_ASID);
		assert_int_equal(tmau_waiting(), 2);
		comes(place(1));
		assert_int_equal(tmau_waiting(), forget == 1 ? 2 : forget == 2 ? 1 : 0);
		assert_int_equal(no_fetch(), !forget);
	}
}

/* A place whose template is in use, by the request that is being served or by movers, waits for its end. */
static void in_use(void **state)
{
	struct descriptor *d = descriptor_entry((uint32_t)place(0));
	unsigned misses;

	begin();
	misses = counters.tmau_misses;
	descriptor_used = &d->t;
	assert_int_equal(descriptor_fetch(rival(), RIG_ASID), DESCRIPTOR_BUSY);
	descriptor_used = NULL;
	mover_written++;
	d->t.used = mover_written;
	assert_int_equal(descriptor_fetch(rival(), RIG_ASID), DESCRIPTOR_BUSY);
	assert_true(no_fetch() && counters.tmau_misses == misses);
	assert_non_null(descriptor_find(place(0), RIG_ASID));
	hal_host.engines.mover_head++;
	hal_host_fill(COMMAND_ASK(COMMAND_FETCH_WORDS) - 1);
	assert_int_equal(descriptor_fetch(rival(), RIG_ASID), DESCRIPTOR_LATER);
	assert_true(command_ring.asked);
	assert_non_null(descriptor_find(place(0), RIG_ASID));
	assert_true(no_fetch() && counters.tmau_misses == misses);
	assert_int_equal(descriptor_fetch(rival(), RIG_ASID), DESCRIPTOR_COMES);
	fetch_of(rival(), RIG_ASID);
	assert_int_equal(counters.tmau_misses, misses + 1);
	assert_null(descriptor_find(place(0), RIG_ASID));
	arrives(rival());
	assert_non_null(descriptor_find(rival(), RIG_ASID));
}

/*
 * While a request waits, the descriptor of the next one is fetched, if it is going to ask for one that is not there: tensor
 * copies and explicit prefetches do, with a descriptor in memory where there can be one (TMA-18).
 */
static void looked_ahead(void **state)
{
	static const struct { unsigned op, flags; uint64_t address; bool fetched; } next[] = {
		{ TUTTI_COPY_LOAD, TUTTI_REQUEST_TENSOR, RIG_DESCRIPTORS + 256, true },
		{ TUTTI_COPY_SCATTER, TUTTI_REQUEST_TENSOR | TUTTI_REQUEST_MULTICAST, RIG_DESCRIPTORS + 256, true },
		{ TUTTI_DESCRIPTOR_PREFETCH, TUTTI_REQUEST_TENSOR, RIG_DESCRIPTORS + 256, true },
		{ TUTTI_DESCRIPTOR_INVALIDATE, TUTTI_REQUEST_TENSOR, RIG_DESCRIPTORS + 256, false },
		{ TUTTI_COPY_LOAD, 0, RIG_DESCRIPTORS + 256, false }, /* a block */
		{ TUTTI_COPY_LOAD, TUTTI_REQUEST_TENSOR | TUTTI_REQUEST_INLINE, RIG_DESCRIPTORS + 256, false },
		{ TUTTI_COPY_LOAD, TUTTI_REQUEST_TENSOR, RIG_DESCRIPTORS + 256 + 32, false },
		{ TUTTI_COPY_LOAD, TUTTI_REQUEST_TENSOR, 1ull << 47, false },
		{ TUTTI_COPY_LOAD, TUTTI_REQUEST_TENSOR, RIG_DESCRIPTORS, false }, /* is there */
	};

	for (unsigned i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		struct tutti_tensor_request first = about(place(1), TUTTI_COPY_LOAD), second = about(next[i].address, next[i].op);

		begin();
		second.flags = (uint16_t)next[i].flags;
		card_request(&first);
		fetch_of(place(1), RIG_ASID);
		assert_true(no_fetch());
		card_request(&second);
		if (next[i].fetched)
			fetch_of(next[i].address, RIG_ASID);
		assert_true(no_fetch());
		assert_int_equal(tmau_waiting(), 2);
	}
}

/* An array of as many descriptors as the cache has entries: each of them is fetched only once. */
static void an_array_of_them(void **state)
{
	begin();
	for (unsigned i = 1; i < 3 * DESCRIPTORS; i++)
		assert_int_equal(is_cached(place(i % DESCRIPTORS)), i >= DESCRIPTORS);
}

/* A boot forgets what was cached, what was on its way, and the request that was being served or refused. */
static void boot_forgets(void **state)
{
	struct tutti_tensor d = any_tensor();
	struct tutti_tensor_request r = about(place(0), TUTTI_COPY_LOAD);
	struct tutti_event fault;

	begin();
	assert_int_equal(descriptor_fetch(place(1), RIG_ASID), DESCRIPTOR_COMES);
	for (unsigned i = 0; i < DESCRIPTORS; i++)
		descriptor_entries[i].t.used = mover_written + 20;
	tmau.built.used = mover_written + 20;
	descriptor_used = &descriptor_entry((uint32_t)place(0))->t;
	tmau.job.kind = JOB_REFUSED;
	tmau.job.held = true;
	hal_host_boot(8);
	rig_drain();
	assert_false(tmau_take_fault(&fault));
	assert_int_equal(tmau_waiting(), 0);
	for (unsigned i = 0; i < DESCRIPTORS; i++)
		assert_null(descriptor_find(place(i), RIG_ASID));
	mover_written = 5; /* none of which has been taken */
	for (unsigned i = 0; i < DESCRIPTORS; i++) {
		assert_int_equal(descriptor_fetch(place(i), RIG_ASID), DESCRIPTOR_COMES);
		fetch_of(place(i), RIG_ASID);
		arrives(place(i));
		assert_non_null(descriptor_find(place(i), RIG_ASID));
	}
	mover_written = 0;
	card_boot();
	card_descriptor(0, &d);
	card_do(&r);
	assert_int_equal(card_fault(), 0);
	assert_int_equal(card.moved, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TMA-18", an_array_of_them),
		RIG_TEST("TMA-18", invalidated_alone),
		RIG_TEST("TMA-18", of_one_space),
		RIG_TEST("TMA-18", on_its_way),
		RIG_TEST("TMA-18 REL-11", fences_on_its_way),
		RIG_TEST("TMA-18 TMA-19", in_use),
		RIG_TEST("TMA-18", looked_ahead),
		RIG_TEST("TMA-18 TMA-04", boot_forgets),
	};

	return cmocka_run_group_tests_name("firmware: cache of tensor descriptors", tests, NULL, NULL);
}
