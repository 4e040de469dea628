/* SPDX-License-Identifier: MIT */
/*
 * What waves find in their windows, to the byte, by the calls that the processor makes: shared memory of their own CTA and
 * of others, linear memory, stack, read-only memory, and the context's pages. Copies out of all of these are tested, too.
 */
#include "sm_cga_rig.h"

#define DSMEM(rank, offset) (TUTTI_WAVE_DSMEM + ((uint64_t)(rank) << 24) + (offset))
#define SEGMENT		    2000u /* bytes of shared memory of each CTA */
#define LMEM_SLOT	    5u
#define LMEM_BYTES	    4096u

static struct cta *rank_cta[4];

static struct hart *hart_of(const struct cta *cta)
{
	cta->hart->current = cta->live;
	return cta->hart;
}

/* Start a CGA of four CTAs, with the number @id, on two SMs. All of its waves wait. */
static int setup_numbered(uint32_t id)
{
	const uint32_t words[4] = {1 | id << 16, LMEM_SLOT, 2 | 1u << 24, 0x81};

	setup(NULL);
	cga_state(0, C_STAY, 4, 4, 1);
	assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA, words, 4), 0);
	for (unsigned i = 0; i < 20; i++)
		rig_step(card);
	for (unsigned i = 0; i < SMS * 32; i++)
		if (card->array->cta[i].used)
			rank_cta[card->array->cta[i].at.rank] = &card->array->cta[i];
	return 0;
}

static int setup_cga(void **state)
{
	return setup_numbered(9);
}

static int setup_first(void **state)
{
	return setup_numbered(0);
}

/* ---- shared memory of other CTAs ------------------------------------------ */

/* Check what rank @from finds when it accesses @bytes bytes at @offset in the shared memory of @rank. */
static void expect_access(unsigned from, unsigned rank, uint64_t offset, unsigned bytes)
{
	struct hart *hart = hart_of(rank_cta[from]);
	struct cga *cga = rank_cta[from]->cga;
	unsigned wakes = card->wakes;
	uint8_t cause = 0, *p;

	cga->faulted = false;
	hart->sink = ~0ull;
	p = dsmem_pointer(hart, DSMEM(rank, offset), bytes, &cause);
	if (offset >= card->array->shared_stride || rank >= 4) {
		assert_null(p);
		if (rank < 4 || offset < card->array->shared_stride)
			assert_int_equal(cause, rank < 4 ? TUTTI_CAUSE_CGA_OFFSET : TUTTI_CAUSE_CGA_RANK);
		assert_false(cga->faulted);
	} else if (offset + bytes > SEGMENT) {
		assert_ptr_equal(p, &hart->sink);
		assert_int_equal(hart->sink, 0);
		assert_true(cga->faulted);
		assert_int_equal(cga->fault.cause, TUTTI_CAUSE_CGA_SEGMENT);
		assert_int_equal(cga->fault.sm, rank_cta[rank]->sm);
		assert_int_equal(cga->fault.rank, rank);
		assert_int_equal(cga->fault.offset, offset);
	} else {
		assert_ptr_equal(p, cta_shared(card->array, rank_cta[rank]) + offset);
		assert_false(cga->faulted);
	}
	assert_int_equal(card->wakes - wakes, cga->faulted); /* a card that sleeps must wake up to report the fault */
	card->array->faulted_cgas = NULL; /* the card does not run here, so it does not report the fault */
}

static void segments(void **state)
{
	const uint64_t stride = card->array->shared_stride;
	const uint64_t around[] = {8, SEGMENT, 2048, 4096, stride, 1 << 23, (1 << 24) - 8};

	for (unsigned from = 0; from < 4; from++)
		for (unsigned rank = 0; rank < 20; rank++)
			for (unsigned i = 0; i < sizeof(around) / sizeof(*around); i++)
				for (uint64_t offset = around[i] - 8; offset < around[i] + 8; offset++)
					for (unsigned bytes = 1; bytes <= 8; bytes *= 2)
						expect_access(from, rank, offset, bytes);
	for (unsigned rank = 0; rank < 4; rank++)
		assert_ptr_equal(rank_cta[rank]->hart, rank_cta[0]->hart);
}

/* Only the CTAs that have exited cannot be reached any more, whatever the number of the CGA is. */
static void exited_ranks(void **state)
{
	const struct cga *cga = rank_cta[0]->cga;
	uint64_t at;

	for (unsigned gone = 0; gone < 4; gone++) {
		struct hart *hart = hart_of(rank_cta[(gone + 1) % 4]);
		uint8_t cause, *p;

		rank_cta[0]->cga->faulted = false;
		dsmem_invalidate(card->array, rank_cta[gone]);
		p = dsmem_pointer(hart, DSMEM(gone, 0), 8, &cause);
		assert_ptr_equal(p, &hart->sink);
		assert_true(cga->faulted);
		assert_int_equal(cga->fault.cause, TUTTI_CAUSE_CGA_EXITED);
		assert_int_equal(cga->fault.rank, gone);
		card->array->faulted_cgas = NULL;
		for (unsigned rank = 0; rank < 4; rank++) {
			assert_int_equal(dsmem_segment(card->array, cga, rank, &at), rank > gone);
			if (rank <= gone)
				continue;
			assert_true(at == (uint64_t)(cta_shared(card->array, rank_cta[rank]) - hart->shared));
			assert_ptr_equal(dsmem_pointer(hart, DSMEM(rank, 8), 8, &cause),
					 cta_shared(card->array, rank_cta[rank]) + 8);
		}
	}
}

/* A rank that has no SM yet cannot be reached either: for the accessing SM it does not exist, and movers do not find it. */
static void absent_ranks(void **state)
{
	struct cga *cga = rank_cta[0]->cga;
	struct sm_array *array = card->array;
	uint64_t at;

	for (unsigned rank = 1; rank < 4; rank++) {
		const unsigned sm = cga->rank_sm[0], first = array->limits->gpc[cga->gpc].first_sm;
		struct cga_route *route = (void *)(array->sm_cga[first + sm].cga_cta2sm_dir + cga->sm_slot[sm] * array->route_bytes);
		uint8_t cause = 0;

		cga->rank_sm[rank] = CGA_NO_SM;
		route->sm[rank] = CGA_NO_SM;
		for (unsigned k = 0; k < 4; k++) {
			assert_int_equal(dsmem_segment(array, cga, k, &at), k == 0 || k > rank);
			assert_int_equal(!!dsmem_pointer(hart_of(rank_cta[0]), DSMEM(k, 0), 8, &cause), k == 0 || k > rank);
			assert_int_equal(k == 0 || k > rank ? TUTTI_CAUSE_CGA_RANK : cause, TUTTI_CAUSE_CGA_RANK);
		}
		assert_false(cga->faulted);
	}
}

/* Loads and stores of every size and alignment access exactly their own bytes, and leave the adjacent ones alone. */
static void bytes_of_accesses(void **state)
{
	uint8_t *there = cta_shared(card->array, rank_cta[1]), want[32];
	struct hart *hart = hart_of(rank_cta[0]);

	for (unsigned bytes = 1; bytes <= 8; bytes *= 2)
		for (unsigned at = 8; at < 16; at++) {
			uint64_t value = 0x8182838485868788ull, got = ~0ull, mask = bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;

			memset(there, 0x5a, 32);
			memset(want, 0x5a, 32);
			memcpy(want + at, &value, bytes);
			assert_int_equal(dsmem_store(hart, DSMEM(1, at), bytes, value), 0);
			assert_memory_equal(there, want, 32);
			assert_int_equal(dsmem_load(hart, DSMEM(1, at), bytes, &got), 0);
			assert_true(got == (value & mask));
			assert_memory_equal(there, want, 32);
		}
	assert_int_equal(dsmem_load(hart, DSMEM(4, 0), 8, &(uint64_t){0}), TUTTI_CAUSE_CGA_RANK);
	assert_int_equal(dsmem_store(hart, DSMEM(4, 0), 8, 0), TUTTI_CAUSE_CGA_RANK);
}

/*
 * Adds 5 to the word whose address is the parameter, then 1 by LR/SC, and waits for the other ranks.
 *
 *	ld s1, 8(a0); li t0, 5; amoadd.w t1, t0, (s1); lr.w t2, (s1); addi t2, t2, 1; sc.w t3, t2, (s1)
 *	li a7, 32; ecall; ret
 */
static const uint32_t atomics_kernel[] = {
	0x00853483, 0x00500293, 0x0054a32f, 0x1004a3af, 0x00138393, 0x1874ae2f, 0x02000893, 0x00000073, 0x00008067,
};
#define DOUBLE 0x1000u /* bit that makes each of these atomics one of 8 bytes */

/* Atomics of both sizes reach every word of another CTA's memory, the last one included, and no other bytes. */
static void atomics(void **state)
{
	const uint32_t offsets[] = {0, 4, 8, 12, 1000, SEGMENT - 16, SEGMENT - 12, SEGMENT - 8, SEGMENT - 4};
	uint32_t *code = (uint32_t *)(card->map[0].host + 0xc00);
	uint8_t *there = cta_shared(card->array, rank_cta[1]), want[SEGMENT];
	unsigned done = 0;

	data[7] = 1; /* lets the waves of the setup end */
	finish(0, 0, 9, 4);
	for (unsigned size = 4; size <= 8; size += 4)
		for (unsigned i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
			uint64_t sum = 0x0102030405060708, mask = size == 8 ? ~0ull : 0xffffffff;

			if (offsets[i] % size)
				continue;
			memcpy(code, atomics_kernel, sizeof(atomics_kernel));
			for (unsigned k = 2; k < 6; k++)
				code[k] |= size == 8 && k != 4 ? DOUBLE : 0;
			memset(there, 0x5a, SEGMENT);
			memcpy(there + offsets[i], &sum, size);
			memcpy(want, there, SEGMENT);
			sum = (sum & mask) + 2 * 6; /* each of the two ranks adds 6 */
			memcpy(want + offsets[i], &sum, size);
			sm_array_invalidate(card->array, 1, CODE, 4096);
			cga_state(1, 0xc00, 2, 2, 1);
			PARAMETER(data) = DSMEM(1, offsets[i]);
			assert_int_equal(cga_launch_one(1, 0, 3, 1, 0x81), 0);
			finish(1, 0, 3, done += 2);
			assert_int_equal(card->faults + card->cga_faults, 0);
			assert_memory_equal(there, want, SEGMENT);
		}
}

/* A CTA's shared memory has the size that was asked for, rounded up to a multiple of 16 bytes. */
static void sizes(void **state)
{
	static const uint32_t asked[] = {1, 15, 16, 17, 1984, 1985, 1999, 2000, 2001, 2048};

	for (unsigned i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct tutti_task_state task = rig_state(1, C_STAY, 1, 1);
		uint32_t bytes = (asked[i] + 15) / 16 * 16;

		task.shared_bytes = asked[i];
		task.shared_blocks = 1;
		data[7] = 0;
		rig_launch_one(card, &task, 1);
		for (unsigned k = 0; k < 20; k++)
			rig_step(card);
		for (unsigned k = 0; k < SMS * 32; k++) {
			const struct cta *cta = &card->array->cta[k];
			uint8_t cause;

			if (!cta->used || cta->cga)
				continue;
			assert_non_null(dsmem_pointer(hart_of(cta), DSMEM(0, bytes - 1), 1, &cause));
			assert_null(dsmem_pointer(hart_of(cta), DSMEM(0, bytes), 1, &cause));
		}
		sm_array_kill(card->array, 1);
		rig_until(card, 1, i + 1);
	}
}

/*
 * A CTA outside of CGAs reaches its own shared memory as rank 0, up to its end, and no other CTA's. It has no linear memory.
 */
static void alone(void **state)
{
	const uint64_t stride = card->array->shared_stride;
	const struct {
		uint64_t va;
		unsigned bytes, cause;
	} rows[] = {
		{DSMEM(0, 0), 8, 0},
		{DSMEM(0, SEGMENT - 8), 8, 0},
		{DSMEM(0, SEGMENT - 1), 1, 0},
		{DSMEM(0, SEGMENT - 7), 8, TUTTI_CAUSE_CGA_OFFSET},
		{DSMEM(0, SEGMENT), 1, TUTTI_CAUSE_CGA_OFFSET},
		{DSMEM(0, stride - 1), 1, TUTTI_CAUSE_CGA_OFFSET},
		{DSMEM(0, stride), 1, TUTTI_CAUSE_CGA_OFFSET},
		{DSMEM(1, 0), 8, TUTTI_CAUSE_CGA_RANK},
		{DSMEM(15, SEGMENT), 8, TUTTI_CAUSE_CGA_RANK},
		{DSMEM(16, 0), 8, TUTTI_CAUSE_CGA_RANK},
		{TUTTI_WAVE_LMEM, 8, TUTTI_CAUSE_UNMAPPED},
	};

	cga_state(1, C_STAY, 4, 0, 1);
	assert_int_equal(rig_launch(card, 1, 2, 2), 0);
	for (unsigned i = 0; i < 20; i++)
		rig_step(card);
	for (unsigned i = 0; i < SMS * 32; i++) {
		const struct cta *cta = &card->array->cta[i];

		if (!cta->used || cta->cga)
			continue;
		for (unsigned k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
			uint8_t cause = 0, *p = dsmem_pointer(hart_of(cta), rows[k].va, rows[k].bytes, &cause);

			if (rows[k].cause) {
				assert_null(p);
				assert_int_equal(cause, rows[k].cause);
			} else {
				assert_ptr_equal(p, cta_shared(card->array, cta) + (rows[k].va - TUTTI_WAVE_DSMEM));
			}
		}
	}
}

/* ---- linear memory --------------------------------------------------------- */

/*
 * All CTAs of a CGA reach the same slot of linear memory, up to its last byte. An access marks the slot as used, so that a
 * flush clears it.
 */
static void linear_memory(void **state)
{
	uint8_t *slot = card->array->lmem + LMEM_SLOT * LMEM_BYTES;
	const uint64_t offsets[] = {0, 1, 8, LMEM_BYTES - 8, LMEM_BYTES - 4, LMEM_BYTES - 1, LMEM_BYTES, 1ull << 32};

	memset(card->array->lmem_used, 0, card->limits.lmem_slots);
	for (unsigned rank = 0; rank < 4; rank++)
		for (unsigned i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
			for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
				bool good = offsets[i] + bytes <= LMEM_BYTES;
				uint8_t cause = 0, *p;

				card->array->lmem_used[LMEM_SLOT] = 0;
				p = dsmem_pointer(hart_of(rank_cta[rank]), TUTTI_WAVE_LMEM + offsets[i], bytes, &cause);
				assert_ptr_equal(p, good ? slot + offsets[i] : NULL);
				assert_int_equal(good ? 0 : cause, good ? 0 : TUTTI_CAUSE_UNMAPPED);
				assert_int_equal(card->array->lmem_used[LMEM_SLOT], good);
			}
	for (unsigned i = 0; i < card->limits.lmem_slots; i++)
		assert_int_equal(card->array->lmem_used[i], 0); /* the last access was refused */
	for (unsigned i = 0; i < 10; i++) { /* there are eight slots */
		uint8_t cause, *p;

		rank_cta[0]->lmem = i;
		p = dsmem_pointer(hart_of(rank_cta[0]), TUTTI_WAVE_LMEM, 8, &cause);
		assert_ptr_equal(p, i < 8 ? card->array->lmem + i * LMEM_BYTES : NULL);
	}
	rank_cta[0]->lmem = LMEM_SLOT;
}

/* ---- code -------------------------------------------------------------------- */

/* Instructions can be fetched from executable pages and from the read-only memory, but from no other window. */
static void code(void **state)
{
	const struct cta *cta = rank_cta[2];
	struct hart *hart = hart_of(cta);
	const uint64_t none[] = {DATA, CODE + 4096, TUTTI_WAVE_ROM - 4, TUTTI_WAVE_ROM + 4096, cta->live->info_va,
				 TUTTI_WAVE_SHARED + (uint64_t)(cta_shared(card->array, cta) - hart->shared),
				 cta->live->stack->va, DSMEM(2, 0), DSMEM(0, 0), DSMEM(0, SEGMENT - 4),
				 TUTTI_WAVE_LMEM};
	struct cpu_span span;

	assert_true(hart_code(hart, CODE + 100, &span));
	assert_true(span.first == CODE && span.bytes == 4096);
	assert_ptr_equal(span.host, card->map[0].host);
	assert_int_equal(span.rights, CPU_MAY_LOAD | CPU_MAY_FETCH);
	assert_true(hart_code(hart, TUTTI_WAVE_ROM + 4092, &span));
	assert_true(span.first == TUTTI_WAVE_ROM && span.bytes == 4096);
	assert_int_equal(span.rights, CPU_MAY_LOAD | CPU_MAY_FETCH);
	for (unsigned i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (hart_code(hart, none[i], &span))
			fail_msg("%#llx", (unsigned long long)none[i]);
	assert_false(cta->cga->faulted); /* a fetch does not count as an access to another CTA's memory */
}

/* A jump into the memory of other CTAs faults with the same cause as a jump to an unmapped address. */
static void fetch_from_other_ctas(void **state)
{
	const uint64_t places[] = {DSMEM(0, 0), DSMEM(0, SEGMENT), TUTTI_WAVE_LMEM};

	for (unsigned i = 0; i < 3; i++) {
		struct tutti_task_state jump = rig_state(1, 0, 1, 1);

		jump.entry = places[i];
		jump.shared_bytes = SEGMENT;
		jump.shared_blocks = 1;
		card->faults = 0;
		rig_launch_one(card, &jump, 1);
		rig_until_fault(card);
		assert_int_equal(card->fault.word[0] >> 16, TUTTI_CAUSE_UNMAPPED | TUTTI_ACCESS_EXECUTE << 8);
		assert_true((card->fault.word[4] | (uint64_t)card->fault.word[5] << 32) == places[i]);
		sm_array_kill(card->array, 1);
		rig_until(card, 1, i + 1);
	}
}

/* Check that a copy from @va, which the hart has accessed before, is refused as well. */
static void expect_no_copy(uint64_t va)
{
	struct mmu_fault fault = {0};
	uint64_t got = 0x5a;

	assert_false(hart_copy_in(hart_of(rank_cta[0]), &got, va, 8, &fault));
	assert_int_equal(fault.cause, TUTTI_CAUSE_PROTECTION);
	assert_true(fault.address == va);
	assert_int_equal(got, 0x5a);
}

/* A page of code without the right to read cannot be read, even after instructions have been fetched from it. */
static void code_without_reads(void **state)
{
	card->map[0].prot = TUTTI_PTE_X;
	sm_array_invalidate(card->array, 1, CODE, 4096);
	cga_state(1, C_LOAD, 2, 2, 1);
	PARAMETER(data) = CODE;
	assert_int_equal(cga_launch_one(1, 1, 9, 1, 0x12), 0);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16, TUTTI_CAUSE_PROTECTION | TUTTI_ACCESS_READ << 8);
	assert_true((card->fault.word[4] | (uint64_t)card->fault.word[5] << 32) == CODE);
	expect_no_copy(CODE);
}

/*
 * Stores to the address that is the parameter, and then loads from it.
 *
 *	ld s0, 8(a0); sd zero, 0(s0); ld t0, 0(s0); ret
 */
static const uint32_t store_load_kernel[] = {0x00853403, 0x00043023, 0x00043283, 0x00008067};

/* A page that may only be written cannot be read, even after it has been written. */
static void writes_without_reads(void **state)
{
	uint64_t *blind = rig_map(card, 1, 0x38000000, 4096, TUTTI_PTE_W);
	struct tutti_task_state task = rig_state(1, 0xc00, 1, 1);

	memcpy(card->map[0].host + 0xc00, store_load_kernel, sizeof(store_load_kernel));
	sm_array_invalidate(card->array, 1, CODE, 4096);
	*blind = 5;
	PARAMETER(data) = 0x38000000;
	rig_launch_one(card, &task, 1);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16, TUTTI_CAUSE_PROTECTION | TUTTI_ACCESS_READ << 8);
	assert_int_equal(card->fault.word[2], CODE + 0xc08);
	assert_int_equal(card->fault.word[4], 0x38000000);
	assert_int_equal(*blind, 0);
	expect_no_copy(0x38000000);
}

/* ---- copies ------------------------------------------------------------------ */

#define PIECES	 0x30000000ull /* pages that are adjacent in the context, but not in memory */
#define NO_READS (PIECES + 3 * 4096)

/* Return: where the byte at @va is, or NULL if it may not be read; @cause is the cause then */
static const uint8_t *byte_at(const struct cta *cta, uint64_t va, uint8_t *cause)
{
	const struct stack *stack = cta->live->stack;
	uint64_t own = TUTTI_WAVE_SHARED + (uint64_t)(cta_shared(card->array, cta) - cta->hart->shared);
	const struct map *map = rig_find(card, 1, va);

	*cause = va == NO_READS ? TUTTI_CAUSE_PROTECTION : TUTTI_CAUSE_UNMAPPED;
	if (map)
		return map->prot & TUTTI_PTE_R ? map->host + (va - map->va) : NULL;
	if (va - own < SEGMENT)
		return cta->hart->shared + (va - TUTTI_WAVE_SHARED);
	if (va - stack->va < stack->bytes)
		return stack->host + (va - stack->va);
	if (va >= TUTTI_WAVE_PRIVATE && va < TUTTI_WAVE_DSMEM)
		*cause = TUTTI_CAUSE_STACK;
	if (va - DSMEM(1, 0) < SEGMENT)
		return cta_shared(card->array, rank_cta[1]) + (va - DSMEM(1, 0));
	if (va - TUTTI_WAVE_LMEM < LMEM_BYTES)
		return card->array->lmem + LMEM_SLOT * LMEM_BYTES + (va - TUTTI_WAVE_LMEM);
	return NULL;
}

/*
 * Copy @bytes bytes. All of them must arrive, or those before the first one that may not be read, which the fault must name.
 */
static void expect_copy(const struct cta *cta, uint64_t va, unsigned bytes)
{
	uint8_t got[600], cause = 0;
	struct mmu_fault fault = {0};
	bool whole;
	unsigned i;

	assert_true(bytes <= 512);
	memset(got, 0xee, sizeof(got));
	whole = hart_copy_in(hart_of(cta), got, va, bytes, &fault);
	for (i = 0; i < bytes; i++) {
		const uint8_t *p = byte_at(cta, va + i, &cause);

		if (!p)
			break;
		assert_int_equal(got[i], *p);
	}
	assert_int_equal(got[i], 0xee);
	assert_int_equal(whole, i == bytes);
	if (whole)
		return;
	assert_true(fault.address == va + i);
	assert_int_equal(fault.cause, cause);
}

static void fill(uint8_t *bytes, unsigned n, uint32_t seed)
{
	for (unsigned i = 0; i < n; i++)
		bytes[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 24) & 0x7f; /* never 0xee */
}

static void copies(void **state)
{
	const struct cta *cta = rank_cta[3];
	const uint64_t own = TUTTI_WAVE_SHARED + (uint64_t)(cta_shared(card->array, cta) - cta->hart->shared);
	const uint64_t around[] = {DATA + 4096, DATA + 65536, PIECES, PIECES + 4096, PIECES + 2 * 4096, NO_READS,
				   own + 300, own + SEGMENT, cta->live->stack->va, cta->live->stack->va + 8192,
				   DSMEM(1, 300), TUTTI_WAVE_LMEM + 300, TUTTI_WAVE_LMEM + LMEM_BYTES};

	for (unsigned i = 0; i < 4; i++)
		fill(rig_map(card, 1, PIECES + 4096 * i, 4096, i == 3 ? TUTTI_PTE_X : TUTTI_PTE_R), 4096, i);
	fill(cta_shared(card->array, cta), SEGMENT, 5);
	fill(cta_shared(card->array, rank_cta[1]), SEGMENT, 6);
	fill(cta->live->stack->host, 8192, 7);
	fill(card->array->lmem + LMEM_SLOT * LMEM_BYTES, LMEM_BYTES, 8);
	for (unsigned i = 0; i < sizeof(around) / sizeof(*around); i++)
		for (unsigned before = 0; before <= 256; before = before < 3 ? before + 1 : before + 127)
			for (unsigned bytes = 0; bytes <= 512; bytes = bytes < 5 ? bytes + 1 : bytes + 126)
				expect_copy(cta, around[i] - before, bytes);
}

#define WINDOWS(name, fn) {name, fn, setup_cga, teardown, NULL}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WINDOWS("CGA-24, CGA-27: shared memory of other CTAs, to the byte", segments),
		WINDOWS("CGA-24: ranks that have no SM", absent_ranks),
		WINDOWS("CGA-26: CTAs that have exited", exited_ranks),
		{"CGA-26: CTAs of CGA 0 that have exited", exited_ranks, setup_first, teardown, NULL},
		WINDOWS("CGA-24: bytes that loads and stores of other CTAs' memory access", bytes_of_accesses),
		WINDOWS("CGA-24: atomics of both sizes, up to the last word of another CTA's memory", atomics),
		WINDOWS("SYS-52: sizes of shared memory", sizes),
		WINDOWS("CGA-24: a CTA outside of CGAs reaches itself as rank 0", alone),
		WINDOWS("CGA-28: linear memory, to the byte", linear_memory),
		WINDOWS("SYS-52: windows from which instructions are fetched", code),
		WINDOWS("SYS-52: fetches from the memory of other CTAs", fetch_from_other_ctas),
		WINDOWS("SYS-52: code that may not be read", code_without_reads),
		WINDOWS("SYS-52: pages that may only be written", writes_without_reads),
		WINDOWS("SYS-52: copies out of the memory of waves", copies),
	};

	return cmocka_run_group_tests_name("SM: windows of waves", tests, NULL, NULL);
}
