// SPDX-License-Identifier: MIT
#include "place/sm_match.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "place/free_runs.h"
#include "place/mixed_shapes.h"
#include "place/plain_grid.h"
#include "place/sm_order.h"
#include "place/sm_score.h"

#define GROUP 4u /* blocks in a group (RES-09) */

struct match_state match;

void match_init(void)
{
	match = (struct match_state){ 0 };
	match.together = ((fw.scalar_blocks + 3) & ~3u) + ((fw.vector_blocks + 3) & ~3u) <= FREE_RUN_WIDTH;
}

/* ---- when the table is up to date ---- */

/*
 * Room in the command ring: to switch the table on is part of a placement or of a request of the host, to switch it
 * off is in COMMAND_OWED_MODE.
 */
void match_mode(bool on)
{
	match.on = on;
	shapes.sm_mode = (on ? TUTTI_SM_TABLE : 0) | (match.rotate ? TUTTI_SM_ROTATE : 0) | score_window() << 8;
	command_words(TUTTI_CMD_SM_MODE, shapes.sm_mode, NULL, 0);
	match.launches = command_tail();
}

/* The end of the last LAUNCH that is not published yet; without one, the end of what is published, or was known. */
static uint32_t last_launch(void)
{
	uint32_t at = command_ring.published, end, tail = command_tail(), head, n;

	if ((int32_t)(match.launches - at) > 0)
		at = match.launches;
	end = at;
	while (at != tail) {
		head = command_ring.word[at & (COMMAND_WORDS - 1)];
		n = (head & 0xff) == TUTTI_CMD_NOP ? head >> 8 : head >> 8 & 0xff;
		at += n;
		if ((head & 0xff) == TUTTI_CMD_LAUNCH)
			end = at;
	}
	return end;
}

bool match_ask(void)
{
	match.asked = 1;
	if (!match.on) {
		match_mode(true);
	} else if (match.issued != counters.ctas_issued) {
		match.issued = counters.ctas_issued;
		match.launches = last_launch();
	}
	return (int32_t)(HAL_ENGINES->command_head - match.launches) >= 0;
}

/* A fetch after the other commands: it completes when they have been taken. PLACE_OTHERS has room for it. */
void match_wait(void)
{
	if (match.waiting)
		return;
	match.waiting = 1;
	command_fetch(TUTTI_ASID_BUS, 0, 0, 4, &match.sink, TAG_TABLE);
}

void match_event(void)
{
	match.waiting = 0;
	place_state.blocked = true;
	attention.settle |= ATTEND_ROOM;
}

void match_beat(void)
{
	if (match.on && !match.asked)
		match_mode(false);
	match.asked = 0;
}

/* ---- what fits ---- */

static void copy_map(uint32_t *to, const volatile uint32_t *map, uint32_t words)
{
	while (words--)
		*to++ = *map++;
}

/* Runs of @need blocks, at most @most, that the selected search finds in the map. */
static uint32_t runs(const volatile uint32_t *map, uint32_t blocks, uint32_t need, uint32_t most)
{
	uint32_t copy[TUTTI_BLOCK_WORDS], words = tutti_map_words(blocks), n;
	struct free_run_part part = { copy, blocks };

	copy_map(copy, map, words);
	switch (match.search) {
	case TUTTI_SEARCH_GROUPED:
		need = (need + GROUP - 1) & ~(GROUP - 1);
		n = free_run_grouped(copy, words, GROUP) / need;
		break;
	case TUTTI_SEARCH_SAMPLED:
		n = free_run_sampled(copy, words) / need;
		break;
	case TUTTI_SEARCH_SHARED:
		if (blocks <= FREE_RUN_WIDTH) {
			free_run_shared(&part, 1, &n);
			n /= need;
			break;
		}
		/* fall through */
	default:
		return free_run_count(copy, words, need, most);
	}
	return min32(n, most);
}

/*
 * The waves that are resident in a PEU split its free blocks into at most one more run than they are, and each run may
 * waste need - 1 blocks. If there are enough blocks all the same, every free wave slot can be used.
 */
static bool plenty(uint32_t free, uint32_t need, uint32_t waves)
{
	return free >= waves * need + (fw.peu_waves - waves + 1) * (need ? need - 1 : 0);
}

static uint32_t peu_shared_pass(const volatile struct tutti_peu_state *peu, uint32_t scalar, uint32_t vector,
				uint32_t waves)
{
	uint32_t copy[2][TUTTI_BLOCK_WORDS], length[2];
	struct free_run_part part[2] = { { copy[0], fw.scalar_blocks }, { copy[1], fw.vector_blocks } };

	copy_map(copy[0], peu->scalar, tutti_map_words(fw.scalar_blocks));
	copy_map(copy[1], peu->vector, tutti_map_words(fw.vector_blocks));
	free_run_shared(part, 2, length);
	if (scalar)
		waves = min32(waves, length[0] / scalar);
	return vector ? min32(waves, length[1] / vector) : waves;
}

static uint32_t peu_room(const volatile struct tutti_peu_state *peu, uint32_t scalar, uint32_t vector)
{
	uint32_t waves = peu->free_waves;

	if (!waves)
		return 0;
	if (match.search == TUTTI_SEARCH_SHARED && match.together)
		return peu_shared_pass(peu, scalar, vector, waves);
	if (scalar && (match.search || !plenty(peu->scalar_free, scalar, waves)))
		waves = runs(peu->scalar, fw.scalar_blocks, scalar, waves);
	if (vector && waves && (match.search || !plenty(peu->vector_free, vector, waves)))
		waves = runs(peu->vector, fw.vector_blocks, vector, waves);
	return waves;
}

/*
 * Waves that the whole SM has room for. With rotation, wave i of those to come goes to PEU (split + 1 + i) % peus, so
 * the PEU that runs out first limits them.
 */
static uint32_t waves_room(const volatile struct tutti_sm_state *sm, uint32_t registers)
{
	uint32_t p, room, sum = 0, least = ~0u, turn = sm->split;

	for (p = 0; p < fw.peus; p++) {
		if (++turn >= fw.peus)
			turn = 0;
		room = peu_room(&sm->peu[turn], registers & 0xffff, registers >> 16);
		sum += room;
		least = min32(least, p + fw.peus * room);
	}
	return match.rotate ? least : sum;
}

uint32_t match_room(uint32_t registers, uint32_t shared, uint32_t waves, unsigned position)
{
	const volatile struct tutti_sm_state *sm = &HAL_SMS[sm_order_at(position)];
	uint32_t n = sm->cta_slots, barriers = shared >> 16;

	shared &= 0xffff;
	if (barriers)
		n = min32(n, sm->barriers / barriers);
	if (n)
		n = min32(n, waves_room(sm, registers) / waves);
	if (n && shared) /* last, since in throttle mode this map is the longest one */
		n = runs(sm->shared, sm->shared_blocks, shared, n);
	return n;
}

int match_policy(uint32_t policy, uint32_t value)
{
	if (value > (policy == TUTTI_POLICY_SEARCH ? TUTTI_SEARCH_SHARED : 1))
		return -TUTTI_EINVAL;
	if (policy == TUTTI_POLICY_SEARCH) {
		match.search = value;
		mixed_forget(); /* another search may have found more, or less */
	} else if (match.rotate != value) {
		/* CTAs that are on their way were placed by the other rule. */
		if (place_state.residents)
			return -TUTTI_EBUSY;
		match.rotate = value;
		match_mode(match.on);
	}
	shape_exact(shape_is_exact());
	return 0;
}
