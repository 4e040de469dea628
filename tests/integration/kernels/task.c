/* SPDX-License-Identifier: MIT */
/* Kernels of the tests of tasks: CTAs that note when they ran, items, children. */
#include "tutti/device.h"
#include "tutti/work.h"
#include "task.h"

TUTTI_KERNEL_DECLARE(child);

/* a CTA that occupies its SM for a while; @most: the largest number of them that ran at once */
TUTTI_KERNEL(note, struct args_log)
{
	uint32_t cta = tutti_cta_linear();
	uint64_t now, most, i;

	if (!tutti_first_wave())
		return;
	now = __atomic_add_fetch(args->now, 1, __ATOMIC_ACQ_REL);
	most = __atomic_load_n(args->most, __ATOMIC_RELAXED);
	while (now > most && !__atomic_compare_exchange_n(args->most, &most, now, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	args->order[cta] = (uint32_t)__atomic_fetch_add(args->clock, 1, __ATOMIC_ACQ_REL);
	args->sm_of[cta] = tutti_wave()->sm;
	__atomic_fetch_add(&args->runs[cta], 1, __ATOMIC_RELAXED);
	for (i = 0; i < 20; i++)
		tutti_yield();
	__atomic_fetch_sub(args->now, 1, __ATOMIC_ACQ_REL);
}

TUTTI_KERNEL(consume, struct args_items)
{
	const struct tutti_work_queue *queue = (const struct tutti_work_queue *)(uintptr_t)args->tmd->queue;
	uint32_t i, n = tutti_work_items();
	uint64_t now;

	if (!tutti_first_wave())
		return;
	__atomic_fetch_add(args->ctas, 1, __ATOMIC_RELAXED);
	now = __atomic_load_n(args->least, __ATOMIC_RELAXED);
	while (n < now && !__atomic_compare_exchange_n(args->least, &now, n, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	now = __atomic_load_n(args->most, __ATOMIC_RELAXED);
	while (n > now && !__atomic_compare_exchange_n(args->most, &now, n, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	for (i = 0; i < n; i++) {
		uint32_t *item = tutti_work_item(queue, i);

		__atomic_fetch_add(&args->seen[*item], 1, __ATOMIC_RELAXED);
		tutti_work_done(queue, i);
		__atomic_fetch_add(args->items, 1, __ATOMIC_RELEASE);
	}
}

/* each CTA adds its share, waiting while the queue is full */
TUTTI_KERNEL(produce, struct args_make)
{
	uint32_t i;

	if (!tutti_first_wave())
		return;
	for (i = 0; i < args->count; i++) {
		uint64_t item = args->from + tutti_cta_linear() * args->count + i;

		while (tutti_work_put(args->tmd, &item) == -TUTTI_ENOSPC)
			tutti_yield();
	}
}

TUTTI_KERNEL(child, struct args_parent)
{
	tutti_for_each_item(item)
		__atomic_fetch_add(args->child_runs, 1, __ATOMIC_RELAXED);
}

TUTTI_KERNEL(parent, struct args_parent)
{
	uint32_t cta = tutti_cta_linear();
	struct tutti_signal *signal = &args->signal[cta];
	struct tutti_tmd *tmd = &args->child[cta];

	if (!tutti_first_wave())
		return;
	tutti_task_grid(tmd, TUTTI_KERNEL_OBJECT(child), args, args->items, 1, signal);
	args->result[cta] = tutti_task_create(tmd);
	if (args->wait && !args->result[cta])
		tutti_signal_wait(signal, 1);
}

/* every wave by itself: no barrier, no shared memory */
TUTTI_KERNEL(waves, struct args_waves)
{
	__atomic_fetch_add(&args->runs[tutti_cta_linear() * args->waves + tutti_wave()->wave], 1, __ATOMIC_RELAXED);
}
