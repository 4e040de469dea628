/* SPDX-License-Identifier: MIT */
/* Kernels whose workgroups run together, for test_cga.c. */
#include "tutti/cga.h"
#include "cga_args.h"

/* Notes what a CTA sees of its CGA. All CTAs of a CGA wait for each other, so none can have started alone. */
static void look(const struct args_cga_seen *args)
{
	struct cga_seen *seen = &args->seen[tutti_cta_linear()];

	if (tutti_first_wave()) {
		seen->sm = tutti_wave()->sm;
		seen->gpc = tutti_gpc();
		seen->slot = tutti_cga_slot();
		seen->rank = tutti_cga_rank();
		seen->ctas = tutti_cga_ctas();
		seen->lmem = tutti_wave()->lmem;
		seen->linear = tutti_cta_linear();
		seen->cga_linear = tutti_cga_linear();
		for (unsigned d = 0; d < 3; d++) {
			seen->cta[d] = tutti_cga_cta(d);
			seen->cga[d] = tutti_cga_id(d);
			seen->count[d] = tutti_cga_count(d);
		}
		__atomic_fetch_add(&seen->runs, 1, __ATOMIC_RELAXED);
	}
	tutti_cga_barrier();
	if (args->wait)
		while (!__atomic_load_n(args->running, __ATOMIC_ACQUIRE))
			tutti_yield();
	tutti_cga_barrier();
}

TUTTI_KERNEL(cga_look, struct args_cga_seen)
{
	look(args);
}

TUTTI_KERNEL(cga_look_8, struct args_cga_seen, TUTTI_CGA(8, 1, 1))
{
	look(args);
}

TUTTI_KERNEL(cga_look_6, struct args_cga_seen, TUTTI_CGA(3, 2, 1))
{
	look(args);
}

TUTTI_KERNEL(cga_look_cpc, struct args_cga_seen, TUTTI_CGA_OF(TUTTI_CGA_CPC, 4, 1, 1))
{
	look(args);
}

TUTTI_KERNEL(cga_look_gpu, struct args_cga_seen, TUTTI_CGA_OF(TUTTI_CGA_GPU, 16, 1, 1))
{
	look(args);
}

/* Larger than any GPC of any card. */
TUTTI_KERNEL(cga_giant, struct args_cga_seen, TUTTI_CGA(1024, 1, 1))
{
	look(args);
}

/* Registers for one wave of each PEU. */
TUTTI_KERNEL(cga_greedy, struct args_cga_seen, TUTTI_CGA_OF(TUTTI_CGA_GPU, 256, 1, 1), .scalar_blocks = 32, .vector_blocks = 32)
{
	look(args);
}

struct board {
	uint64_t mail;   /* from the CTA before */
	uint64_t count;  /* atomic: all CTAs write it */
};

/* Ring of mail and a counter in rank 0, round after round; out[cta] = errors, out[CTAs + cga] = the counter. */
TUTTI_KERNEL(cga_exchange, struct args_cga_sum, TUTTI_CGA(4, 1, 1), .group_bytes = sizeof(struct board))
{
	struct board *mine = tutti_shared(struct board, 0);
	uint32_t rank = tutti_cga_rank(), ctas = tutti_cga_ctas(), before = (rank + ctas - 1) % ctas;
	struct board *next = tutti_map_rank(mine, (rank + 1) % ctas), *first = tutti_map_rank(mine, 0);
	uint64_t errors = 0;

	if (tutti_first_wave())
		mine->count = 0;
	tutti_cga_barrier();
	for (uint64_t round = 1; round <= args->rounds; round++) {
		if (tutti_first_wave())
			next->mail = round << 8 | rank;
		__atomic_fetch_add(&first->count, tutti_wave()->items, __ATOMIC_RELAXED);
		tutti_cga_arrive();
		tutti_cga_wait();
		errors += mine->mail != (round << 8 | before);
		tutti_cga_barrier();
	}
	__atomic_fetch_add(&args->out[tutti_cta_linear()], errors, __ATOMIC_RELAXED);
	if (tutti_first_wave() && !rank)
		args->out[tutti_cta_count(0) + tutti_cga_linear()] = first->count;
	tutti_cga_barrier();
}

/* Rank 0 reads from the address in the arguments. */
TUTTI_KERNEL(cga_bad, struct args_cga_bad, TUTTI_CGA(4, 1, 1), .group_bytes = 1024)
{
	if (tutti_first_wave() && !tutti_cga_rank() && !tutti_cga_linear())
		__atomic_store_n(args->flag, *tutti_dsmem(volatile uint64_t, args->rank, args->offset), __ATOMIC_RELAXED);
	tutti_cga_barrier();
}

/* Rank 1 exits, and rank 0 goes on to access its memory. */
TUTTI_KERNEL(cga_late, struct args_cga_bad, TUTTI_CGA(2, 1, 1), .group_bytes = 1024)
{
	volatile uint64_t *theirs = tutti_dsmem(volatile uint64_t, 1, 0);

	if (tutti_cga_rank())
		return;
	while (!__atomic_load_n(args->flag, __ATOMIC_ACQUIRE)) {
		tutti_yield();
		*theirs = 5;
	}
}

/* The CGA's linear memory: rank 0 writes, all read; out[cta] = what they saw, ~0 without a slot. */
TUTTI_KERNEL(cga_linear, struct args_cga_sum, TUTTI_CGA(4, 1, 1), .flags = TUTTI_KERNEL_LMEM)
{
	uint64_t *word = tutti_lmem(uint64_t, 64);

	if (!tutti_has_lmem()) {
		args->out[tutti_cta_linear()] = ~0ull;
		return;
	}
	if (!tutti_cga_rank())
		*word += 1 + tutti_cga_linear(); /* 0 before */
	tutti_cga_barrier();
	args->out[tutti_cta_linear()] = *word;
	tutti_cga_barrier();
}

/* Hangs until it is killed: rank 0 waits for a CTA that never comes. */
TUTTI_KERNEL(cga_hang, struct args_cga_sum, TUTTI_CGA(4, 1, 1))
{
	while (tutti_cga_rank() == 3)
		tutti_yield();
	tutti_cga_barrier();
}
