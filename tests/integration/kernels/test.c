/* SPDX-License-Identifier: MIT */
/* Kernels of the integration tests. */
#include <math.h>
#include <string.h>

#include "tutti/device.h"
#include "test.h"

TUTTI_KERNEL(empty, struct args_word)
{
}

TUTTI_KERNEL(fill, struct args_fill)
{
	tutti_for_each_item(item)
		args->out[tutti_global_id(item, 0)] = args->value + tutti_global_id(item, 0);
}

TUTTI_KERNEL(vadd, struct args_add)
{
	tutti_for_each_item(item) {
		uint32_t i = tutti_global_id(item, 0);

		if (i < args->n)
			args->c[i] = args->a[i] + args->b[i];
	}
}

/* one atomic add for each work-item */
TUTTI_KERNEL(count, struct args_word)
{
	tutti_for_each_item(item)
		__atomic_fetch_add(args->word, args->value, __ATOMIC_RELAXED);
}

TUTTI_KERNEL(step, struct args_step)
{
	if (tutti_cta_linear() == 0 && tutti_first_wave())
		*args->cell = *args->cell * args->mul + args->add;
}

/* reports that it runs, and waits until the host lets it end */
TUTTI_KERNEL(gate, struct args_gate)
{
	if (tutti_first_wave())
		__atomic_fetch_add(args->started, 1, __ATOMIC_ACQ_REL);
	while (!__atomic_load_n(args->go, __ATOMIC_ACQUIRE))
		tutti_yield();
	if (tutti_first_wave())
		__atomic_fetch_add(args->ended, 1, __ATOMIC_ACQ_REL);
}

/* one workgroup: writes all of its shared memory, waits for the host, and checks that nothing has changed */
TUTTI_KERNEL(keep, struct args_keep)
{
	uint8_t *shared = tutti_shared(uint8_t, 0);

	if (tutti_first_wave()) {
		args->where[0] = tutti_wave()->sm;
		args->where[1] = (uintptr_t)shared;
		memset(shared, (int)args->tag, args->bytes);
		__atomic_store_n(args->started, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(args->go, __ATOMIC_ACQUIRE))
		tutti_yield();
	if (tutti_first_wave())
		for (uint32_t i = 0; i < args->bytes; i++)
			*args->bad += shared[i] != (uint8_t)args->tag;
}

TUTTI_KERNEL(look, struct args_seen)
{
	const struct tutti_wave_info *wave = tutti_wave();
	struct seen *seen = &args->seen[wave->cta_linear];

	tutti_for_each_item(item) {
		uint32_t at = (tutti_global_id(item, 2) * wave->grid[1] + tutti_global_id(item, 1)) * wave->grid[0] +
			      tutti_global_id(item, 0);

		__atomic_fetch_add(&args->items[at], 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&seen->items, wave->items, __ATOMIC_RELAXED);
	if (!tutti_first_wave())
		return;
	for (int d = 0; d < 3; d++) {
		seen->cta[d] = wave->cta[d];
		seen->groups[d] = wave->groups[d];
		seen->grid[d] = wave->grid[d];
		seen->workgroup[d] = wave->workgroup[d];
		seen->current[d] = wave->extent[d];
	}
	seen->linear = wave->cta_linear;
	seen->sm = wave->sm;
	seen->waves = wave->waves;
	seen->dimensions = wave->dimensions;
	seen->packet = wave->packet;
	__atomic_fetch_add(&seen->runs, 1, __ATOMIC_RELAXED);
}

/* counts the workgroups that are on an SM at once: each counts up, waits, counts down */
TUTTI_KERNEL(crowd, struct args_seen, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1)
{
	const struct tutti_wave_info *wave = tutti_wave();

	if (tutti_first_wave()) {
		uint32_t now = __atomic_add_fetch(&args->sm_now[wave->sm], 1, __ATOMIC_ACQ_REL);
		uint32_t most = __atomic_load_n(&args->sm_most[wave->sm], __ATOMIC_RELAXED);

		while (most < now && !__atomic_compare_exchange_n(&args->sm_most[wave->sm], &most, now, false,
								  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			;
		for (int i = 0; i < 20; i++)
			tutti_yield();
		__atomic_fetch_sub(&args->sm_now[wave->sm], 1, __ATOMIC_ACQ_REL);
		__atomic_fetch_add(&args->seen[wave->cta_linear].runs, 1, __ATOMIC_RELAXED);
		args->seen[wave->cta_linear].sm = wave->sm;
	}
	tutti_barrier();
}

/* tree sum in shared memory: out[cta] = sum of the workgroup's global ids */
TUTTI_KERNEL(tree, struct args_word, .group_bytes = 4096, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1)
{
	uint32_t *part = tutti_shared(uint32_t, 0);

	tutti_for_each_item(item)
		part[item] = tutti_global_id(item, 0);
	for (uint32_t half = tutti_item_count() / 2; half; half /= 2) {
		tutti_barrier();
		tutti_for_each_item(item)
			if (item < half)
				part[item] += part[item + half];
	}
	tutti_barrier();
	if (tutti_first_wave())
		args->word[tutti_cta_linear()] = part[0];
}

/* fills all of the workgroup's shared memory, waits, and checks that nothing has changed */
TUTTI_KERNEL(own_shared, struct args_word, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1)
{
	uint32_t *words = tutti_shared(uint32_t, 0), n = tutti_shared_bytes() / 4, bad = 0;

	if (tutti_first_wave())
		for (uint32_t i = 0; i < n; i++)
			words[i] = tutti_cta_linear() * 65536 + i;
	tutti_barrier();
	for (int i = 0; i < 10; i++)
		tutti_yield();
	for (uint32_t i = 0; i < n; i++)
		bad += words[i] != tutti_cta_linear() * 65536 + i;
	if (bad)
		__atomic_fetch_add(&args->word[0], bad, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&args->word[1], 1, __ATOMIC_RELAXED);
}

/* barriers with waves that leave early: only those still running are waited for */
TUTTI_KERNEL(leavers, struct args_word, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1)
{
	for (uint32_t round = 0; round < 50; round++) {
		if (tutti_wave()->wave % 2 && round == 10 + tutti_wave()->wave)
			return;
		__atomic_fetch_add(&args->word[round], 1, __ATOMIC_RELAXED);
		tutti_barrier();
	}
}

TUTTI_KERNEL(say, struct args_text)
{
	if (tutti_first_wave())
		tutti_printf("%s %llu cta %u\n", args->text, (unsigned long long)args->value, tutti_cta_linear());
}

TUTTI_KERNEL(trap, struct args_word)
{
	__asm__ volatile("trap_here: .globl trap_here; .4byte 0" ::: "memory");
}

TUTTI_KERNEL(breakpoint, struct args_word)
{
	__asm__ volatile("ebreak" ::: "memory");
}

TUTTI_KERNEL(give_up, struct args_word)
{
	tutti_abort(args->value);
}

TUTTI_KERNEL(check, struct args_word)
{
	tutti_assert(args->value == 1);
	*args->word = 1;
}

TUTTI_KERNEL(peek, struct args_word)
{
	volatile uint64_t *from = (uint64_t *)args->value;

	*args->word = *from;
}

TUTTI_KERNEL(poke, struct args_word)
{
	*(volatile uint64_t *)args->word = args->value;
}

/* reads its shared memory at an offset */
TUTTI_KERNEL(peek_shared, struct args_word)
{
	*args->word = *(volatile uint64_t *)(tutti_wave()->shared + args->value);
}

TUTTI_KERNEL(jump, struct args_word)
{
	((void (*)(void))args->value)();
}

TUTTI_KERNEL(spin, struct args_word)
{
	for (;;)
		__asm__ volatile("");
}

/* waits for ever at a barrier that its other waves never reach, because they wait for a word */
TUTTI_KERNEL(hang, struct args_word, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1)
{
	if (tutti_first_wave())
		while (!__atomic_load_n(args->word, __ATOMIC_ACQUIRE))
			tutti_yield();
	tutti_barrier();
}

TUTTI_KERNEL(overrun, struct args_word)
{
	volatile char big[16384];

	for (unsigned i = 0; i < sizeof(big); i++)
		big[sizeof(big) - 1 - i] = (char)i;
	*args->word = (uint64_t)big[5];
}

TUTTI_KERNEL(bad_service, struct args_word)
{
	*args->word = (uint64_t)tutti_service(args->value, 0);
}

TUTTI_KERNEL(three_by_two, struct args_word, .workgroup = { 3, 2, 1 })
{
	tutti_for_each_item(item)
		__atomic_fetch_add(args->word, 1, __ATOMIC_RELAXED);
}

TUTTI_KERNEL(at_most_64, struct args_word, .workgroup_max = 64)
{
	tutti_for_each_item(item)
		__atomic_fetch_add(args->word, 1, __ATOMIC_RELAXED);
}

TUTTI_KERNEL(mathematics, struct args_math)
{
	tutti_for_each_item(item) {
		uint32_t i = tutti_global_id(item, 0);

		if (i < args->n)
			args->out[i] = sin(args->in[i]) * exp(-args->in[i]) + sqrt(args->in[i] + 1.0);
	}
}

uint32_t table[4] = { 11, 22, 33, 44 };
uint32_t zeroed[100];
uint32_t *pointer_to_table = &table[2];

TUTTI_KERNEL(globals, struct args_word)
{
	args->word[0] = table[0] + table[3];
	args->word[1] = *pointer_to_table;
	for (unsigned i = 0; i < 100; i++)
		args->word[2] += zeroed[i];
	zeroed[7] = (uint32_t)args->value;
}

/* needs many scalar registers, so few waves fit an SM */
TUTTI_KERNEL(greedy, struct args_seen, .scalar_blocks = 16, .vector_blocks = 16)
{
	const struct tutti_wave_info *wave = tutti_wave();
	uint32_t now = __atomic_add_fetch(&args->sm_now[wave->sm], 1, __ATOMIC_ACQ_REL);
	uint32_t most = __atomic_load_n(&args->sm_most[wave->sm], __ATOMIC_RELAXED);

	while (most < now && !__atomic_compare_exchange_n(&args->sm_most[wave->sm], &most, now, false,
							  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	for (int i = 0; i < 20; i++)
		tutti_yield();
	__atomic_fetch_sub(&args->sm_now[wave->sm], 1, __ATOMIC_ACQ_REL);
	if (tutti_first_wave())
		__atomic_fetch_add(&args->seen[wave->cta_linear].runs, 1, __ATOMIC_RELAXED);
}

/* notes on which SM each workgroup is, and stays there until the host lets it end */
TUTTI_KERNEL(park, struct args_park)
{
	const struct tutti_wave_info *wave = tutti_wave();

	args->sm_of[wave->cta_linear] = wave->sm;
	__atomic_fetch_add(&args->runs[wave->cta_linear], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(args->started, 1, __ATOMIC_ACQ_REL);
	while (!__atomic_load_n(args->go, __ATOMIC_ACQUIRE))
		tutti_yield();
}
