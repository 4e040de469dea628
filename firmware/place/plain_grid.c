// SPDX-License-Identifier: MIT
#include "place/plain_grid.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/visit.h"
#include "place/gpc_slots.h"
#include "place/sm_score.h"

#define PLACE_STEPS 150u /* visit.h: to place CTAs, beside what is counted elsewhere */

/*
 * CTAs that are placed beside other shapes, or on the SMs of a mask, are counted for each SM in binary, and each digit costs a
 * pass over all rows of the shape's own lake. So a visit places no more of them than seven for each SM of a card of 144 SMs,
 * which three digits hold.
 */
#define CTAS_NOTED (FW_LARGE ? 7 * fw.sms : 1008)

/* A record is full when the next segment does not fit, so any two neighbours hold more than one record's words. */
#define SPLIT_RECORDS (2 * LAKE_MESSAGE(LAKE_WORDS) / COMMAND_RECORD + 2)

void place_init(void)
{
	place_state = (struct place_state){ .message_words = 1 + LAKE_MESSAGE(fw.words) };
	place_state.free_words = COMMAND_ASK(PLACE_ROOM);
}

/* Split segments that do not fit one record into several records, each with a first word of its own. */
static COLD uint32_t *split(uint32_t *p, uint32_t *end, unsigned slot)
{
	uint32_t *first[SPLIT_RECORDS], *at, *to, records = 0, words = 0, used = COMMAND_RECORD, i;

	for (at = p + 1; at < end; at += words) {
		words = 1 + (*at >> 24);
		if (used + words > COMMAND_RECORD) {
			first[records++] = at;
			used = 1;
		}
		used += words;
	}
	/* Each record moves up to make room for the first words of those before it; the last one moves first. */
	to = end + records - 1;
	for (at = end; records--;) {
		words = (uint32_t)(at - first[records]);
		at = first[records];
		for (i = words; i--;)
			at[records + i] = at[i];
		at[(int)records - 1] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 1 + words, slot);
	}
	return to;
}

static inline uint32_t *finish(uint32_t *p, uint32_t *end, unsigned slot)
{
	uint32_t words = (uint32_t)(end - p);

	if (unlikely(words > COMMAND_RECORD))
		return split(p, end, slot);
	*p = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, words, slot);
	return end;
}

static inline void account(struct task *task, uint32_t placed)
{
	task->unissued -= placed;
	task->resident += placed;
	task->shape->residents += placed;
	place_state.residents += placed;
	counters.ctas_issued += placed;
	counters.placements++;
}

/*
 * The lake of the SMs that @task may use now; NULL: it takes another visit to know. *@own: whether it is the lake of the
 * task's shape itself, and nobody has to be told what is taken from it.
 */
static struct lake *lake_for(const struct task *task, const uint32_t *mask, bool *own)
{
	struct shape *shape = task->shape;
	struct lake *lake;

	domain_settle();
	*own = shape_alone(shape);
	lake = *own ? &shape->lake : shape_mixed(shape);
	if (mask && lake) {
		*own = false;
		return shape_masked(lake, mask);
	}
	if (place_state.detours & DETOUR_BESIDE)
		*own = false;
	return lake;
}

/*
 * The lake of a shape is dry: whether no SM has a free slot for it even if CTAs of other shapes are left out of account.
 * While the rows of GPCs lead only they know of the CGAs that have ended since.
 */
static COLD bool is_full(void)
{
	return !gpc_rows_lead() || !domain_any_free();
}

uint32_t place_some(struct task *task, uint32_t n, const uint32_t *mask, const uint32_t *items)
{
	uint32_t lead = items ? PLACE_ITEM_WORDS : 0;
	uint32_t *p, *out, *end, left, most;
	struct lake *lake;
	bool own;

	if (task->shape->lake.top == task->shape->lake.row && is_full())
		return 0;
	lake = lake_for(task, mask, &own);
	if (!lake)
		return 0;
	most = own ? n : min32(n, CTAS_NOTED);
	p = command_begin(place_state.message_words + lead);
	out = p + 1 + lead;
	if (place_state.detours & DETOUR_ROUND_ROBIN)
		left = lake_pour_round(lake, most, &place_state.round_next, out, &end);
	else if (place_state.choice)
		left = score_pour(task->shape, lake, most, out, &end);
	else
		left = lake_pour(lake, most, out, &end);
	if (left == most)
		return 0;
	visit_goes_on(PLACE_STEPS);
	if (!own)
		shape_poured(task->shape, place_state.choice && !(place_state.detours & DETOUR_ROUND_ROBIN) ? NULL : lake, out, end);
	most -= left;
	if (items) {
		words_copy(p + 1, items, PLACE_ITEM_WORDS);
		*p = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, (uint32_t)(end - p), task->slot | TUTTI_LAUNCH_WORK << 8);
	} else {
		end = finish(p, end, task->slot);
	}
	command_end(end);
	account(task, most);
	if (most < n && lake->top != lake->row && (!left || place_state.detours & DETOUR_ROUND_ROBIN))
		visit_cut(); /* there is room for the others, but no time in this visit */
	return most;
}

HOT uint32_t place_now(struct task *task)
{
	struct shape *shape = task->shape;
	uint32_t *p, *end, left, n = task->unissued;

	if (unlikely(!shape_alone(shape) || place_state.detours & (DETOUR_ROUND_ROBIN | DETOUR_BESIDE))) {
		place_some(task, n, NULL, NULL);
		return task->unissued;
	}
	p = command_begin(place_state.message_words);
	left = lake_pour(&shape->lake, n, p + 1, &end);
	if (left == n)
		return left;
	command_end(finish(p, end, task->slot));
	account(task, n - left);
	return left;
}
