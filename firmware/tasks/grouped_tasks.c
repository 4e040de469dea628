// SPDX-License-Identifier: MIT
#include "tasks/grouped_tasks.h"

#include "core/state.h"
#include "core/visit.h"
#include "tasks/metadata.h"
#include "tasks/task_table.h"
#include "tasks/throttle.h"

#define PEND_STEPS 400u /* visit.h: until the CGAs of a kernel are known, and its first search is over */

bool grouped_pending(const struct pending *p)
{
	return p->cga.kind || (p->tmd && tmd_static(p->tmd)->cga[0].kind);
}

COLD void grouped_levels(const struct pending *p, struct tutti_cga_shape *level)
{
	if (p->tmd && tmd_static(p->tmd)->cga[0].kind)
		words_copy(level, tmd_static(p->tmd)->cga, 2 * TUTTI_CGA_LEVELS);
	else
		cga_levels(&p->cga, level);
}

static unsigned mode_of(const struct tmd *tmd)
{
	return tmd ? tmd_static(tmd)->cga_mode : cga_mode();
}

/* How many CTAs of a task fit on an SM in throttle mode. */
static uint32_t throttle_capacity(const struct tmd *tmd, const uint32_t *state)
{
	return shape_capacity_with(state[STATE_AT(scalar_blocks)], state[STATE_AT(shared_blocks)],
				   state[STATE_AT(workgroup_z)] >> 16, throttle_limit(tmd));
}

/* Do the SMs that a task with metadata @tmd may use have room for one of its CGAs, if nothing else runs? */
static bool fits(const struct tmd *tmd, const struct cga *cga, uint32_t capacity)
{
	uint32_t sms[FW_MAX_SMS / 32];

	if (!tmd_flag(tmd, TUTTI_TMD_THROTTLE))
		return cga_fits(cga, capacity, tmd_affinity(tmd));
	throttle_sms(tmd, sms);
	return cga_fits(cga, capacity, sms);
}

/* A sequence task runs one CTA at a time, never a whole CGA; a queue task has no grid to group. See also metadata.c. */
static bool may_group(const struct tmd *tmd)
{
	return !tmd || !(tmd_is_queue(tmd) || tmd_flag(tmd, TUTTI_TMD_SEQUENCE));
}

COLD int grouped_pend(struct pending *p, const struct tmd *tmd, struct tutti_cga_shape one, uint32_t kernel_flags,
		      uint32_t capacity)
{
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	struct cga cga;
	int code;

	p->cga = one;
	p->kernel_flags = (uint8_t)kernel_flags;
	p->tmd = (struct tmd *)tmd;
	if (!grouped_pending(p))
		return 0;
	if (!may_group(tmd)) {
		p->tmd->field = offsetof(struct tutti_tmd, flags);
		return tmd_bad(tmd);
	}
	visit_goes_on(PEND_STEPS);
	grouped_levels(p, level);
	if (tmd && tmd_flag(tmd, TUTTI_TMD_THROTTLE))
		capacity = throttle_capacity(tmd, p->state);
	code = cga_check(level, mode_of(tmd), kernel_flags & TUTTI_KERNEL_LMEM, p->state + STATE_AT(groups_x), capacity, &cga);
	if (!code && tmd && !fits(tmd, &cga, capacity))
		code = TUTTI_ERROR_GRID;
	if (code)
		return packet_refuse(code, offsetof(struct tutti_dispatch_packet, grid_x));
	cga_tell(&cga, level, p->state);
	return 0;
}

/* They are made once more, since grouped_pend() has found nothing wrong with them. */
COLD int grouped_room(const struct pending *p, struct shape *shape)
{
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	uint32_t sms[FW_MAX_SMS / 32];
	struct cga cga;

	grouped_levels(p, level);
	cga_check(level, mode_of(p->tmd), p->kernel_flags & TUTTI_KERNEL_LMEM, p->state + STATE_AT(groups_x), shape->capacity, &cga);
	if (!(place_state.detours & DETOUR_SHAPES) && task_clear_sms(task_waiting(), p->tmd, sms) &&
	    cga_fits(&cga, shape->capacity, sms))
		return 0;
	return cga_room(&cga, shape, tmd_affinity(p->tmd));
}

COLD void grouped_begin(struct task *task, const struct pending *p)
{
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];

	grouped_levels(p, level);
	cga_begin(task, level, mode_of(p->tmd), p->kernel_flags & TUTTI_KERNEL_LMEM,
		  p->tmd ? tmd_affinity(p->tmd) : NULL);
}

COLD void grouped_keep(const struct task *task, struct pending *p, const uint32_t *command)
{
	words_copy(&p->cga, command + 1 + STATE_WORDS, sizeof(p->cga) / 4);
	p->kernel_flags = cga_grids[task->slot].lmem ? TUTTI_KERNEL_LMEM : 0;
}

COLD void grouped_settle(void)
{
	static const struct task_error never = { .code = TUTTI_ERROR_GRID, .sm_wave = ~0u };
	uint32_t slots = cga_hopeless();
	struct task *task;

	for (; slots; slots &= slots - 1) {
		task = &tasks[lowest_bit(slots)];
		/* in the mode of another throttle task it was looked for on the SMs of that one */
		if (task->rare & TASK_CGA && throttle_suits(task))
			task_fail(task, &never);
	}
}

/*
 * The SM that was accessed has found the fault, so there is no program counter. Errors of a CGA that is gone are
 * ignored (spec CGA-27).
 */
COLD void grouped_event_fault(const struct tutti_event *event)
{
	const uint32_t *w = event->word;
	int slot = cga_ids_task(w[0] >> 8 & 0xff, w[0] >> 16 & 0xff);
	struct task_error error = {
		.code = TUTTI_ERROR_CGA, .engine = TUTTI_ENGINE_WAVE, .cause = (uint8_t)(w[0] >> 24),
		.sm_wave = w[1], .address = w[2],
	};

	if (slot >= 0)
		task_fail(&tasks[slot], &error);
}
