// SPDX-License-Identifier: MIT
#include "groups/cga_search.h"

#include "core/counters.h"
#include "core/task_record.h"
#include "core/visit.h"
#include "groups/nested_search.h"

#define SEARCH_SLOWER 8u    /* how much longer a CGA takes that is not placed by search_quick() */
#define SLOW_WORD_STEPS 60u /* visit.h: for each word of its commands */
#define SLOW_SEARCH_STEPS 300u /* and for a search */
#define PAIRS_STEPS 270u /* to place a multicast CGA where a TPC has room on one of its SMs only */

void search_init(void)
{
	cached_init();
	trial.sequence = 0;
	nested_init();
}

/* ---- innermost parts in the usual case: in GPCs, with ids of their own ---- */

/* Ask all GPCs again whose answers are stale. */
static inline __attribute__((always_inline)) void refresh_gpcs(uint32_t n, bool multicast, bool single)
{
	struct cached_word *word = query_cache.word;
	struct gpc *gpcs = domains.gpc;
	uint32_t stale, bit;
	unsigned number;

	do {
		for (stale = word->stale; stale; stale = without_bit(stale, bit)) {
			bit = single_bit(stale);
			number = bit_number(bit);
			cached_note(word, number, bit, cached_gpc(domain_gpc(gpcs, number), n, multicast));
		}
		word->stale = 0;
		gpcs += 32;
	} while (!single && ++word < query_cache.end);
}

/* Place one part in @gpc. @outermost: the part is the whole outermost CGA. Return: whether the next one may follow */
static inline __attribute__((always_inline)) bool place_gpc(const struct cga *cga, struct gpc *gpc, int speed, bool multicast,
							     bool outermost)
{
	uint32_t *p = command_begin(3 + QUERY_SEGMENTS), *end, n = cga->ask.ctas, id = gpc->id_next, sequence = trial.sequence;
	struct live_cga *me = &gpc->ids[id];

	gpc->id_next = me->next;
	gpc->credits--;
	me->life = cga->life;
	cga_ids_head(p, sequence, id, gpc->number);
	if (outermost)
		trial.sequence = (uint16_t)(sequence + 1);
	else
		trial.last = p;
	if (!multicast) {
		end = query_cut(gpc, n, p + 3, &me->sms);
		p[0] = cga->head + (uint32_t)((char *)end - (char *)p) * (0x100 / 4);
		command_end(end);
		return true;
	}
	p[0] = cga->head + (5 << 8);
	command_end(p + 5);
	if (query_paired(gpc)) {
		query_segment(p + 3, me->sms = query_cut_paired(gpc, n, speed));
		return true;
	}
	query_take(gpc, gpc->all, n, true, speed, p + 3, &me->sms);
	return visit_goes_on(PAIRS_STEPS) || !outermost;
}

/*
 * Place the parts of one frame in rounds. Answers change between rounds only, so a round can read
 * the set of fastest domains in place.
 * @within: innermost domains, NULL: all; @speed_of: gets the speed of the last part; @single: all
 * domains of the card are in one word
 * Return: parts left; trial.late is set if the visit has no time for them
 */
static inline __attribute__((always_inline)) uint32_t rounds(const struct cga *cga, const uint32_t *within, uint32_t left,
							      int *speed_of, bool multicast, bool single)
{
	struct cached_word *word;
	uint32_t now, bits, bit;
	struct gpc *gpcs;
	int speed = QUERY_INVALID;

	while (left) {
		refresh_gpcs(cga->ask.ctas, multicast, single);
		speed = cached_fastest(within, single);
		if (unlikely(speed < 0))
			break;
		word = query_cache.word;
		gpcs = domains.gpc;
		do {
			now = word->fast[speed];
			if (within)
				now &= within[word - query_cache.word];
			for (bits = now; bits && left; bits = without_bit(bits, bit), left--) {
				bit = single_bit(bits);
				if (place_gpc(cga, domain_gpc(gpcs, bit_number(bit)), speed, multicast, single || cga->step))
					continue;
				word->stale |= now ^ without_bit(bits, bit);
				trial.late = left > 1;
				return left - 1;
			}
			word->stale |= now ^ bits;
			gpcs += 32;
		} while (!single && ++word < query_cache.end && left);
	}
	if (speed_of)
		*speed_of = speed;
	return left;
}

static HOT uint32_t place_balanced(const struct cga *cga, uint32_t left)
{
	return rounds(cga, NULL, left, NULL, false, true);
}

static HOT uint32_t place_multicast(const struct cga *cga, uint32_t left)
{
	return rounds(cga, NULL, left, NULL, true, true);
}

/* For parts of larger CGAs, and for large cards. */
static HOT uint32_t place_gpcs(const struct cga *cga, const uint32_t *within, uint32_t left, int *speed)
{
	return rounds(cga, within, left, speed, cga->ask.multicast, false);
}

/* The image for large cards has only the general loop, because it is short of memory. */
static inline uint32_t place_all(const struct cga *cga, uint32_t left)
{
	if (FW_LARGE || unlikely(query_cache.end != query_cache.word + 1))
		return place_gpcs(cga, NULL, left, NULL);
	return unlikely(cga->ask.multicast) ? place_multicast(cga, left) : place_balanced(cga, left);
}

COLD uint32_t search_parts(const struct cga *cga, const uint32_t *within, uint32_t left, int *speed)
{
	return cga->usual ? place_gpcs(cga, within, left, speed) : trial_parts(within, left, speed);
}

void search_bind(struct cga *cga, const struct task *task)
{
	uint32_t flags = TUTTI_LAUNCH_CGA | (cga->levels == 1 ? TUTTI_LAUNCH_END_OF_CGA : 0);

	cga->head = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 0, task->slot | flags << 8);
	cga->life = cga->ask.ctas | (uint32_t)task->slot << 16;
	cga->step = cga->levels == 1;
}

enum search_end search_end(void)
{
	if (trial.left)
		return SEARCH_FULL;
	return trial.most == trial.n ? SEARCH_DONE : SEARCH_ROOM;
}

uint32_t search_full(void)
{
	trial.left = 1;
	return 0;
}

static COLD uint32_t room_left(const struct cga *cga, uint32_t used)
{
	return used < COMMAND_WORDS - SEARCH_MARGIN ?
		       min32((COMMAND_WORDS - SEARCH_MARGIN - used) / cga->words, cga->most) : 0;
}

/*
 * How many outermost CGAs a session may place: those that a visit has time for, if the command ring has room for them in
 * the worst case.
 */
static inline uint32_t room(const struct cga *cga)
{
	uint32_t used = command_tail() - HAL_ENGINES->command_head;

	return likely(used < cga->used_most) ? cga->most : room_left(cga, used);
}

static inline uint32_t account(struct task *task, const struct cga *cga, uint32_t n)
{
	struct shape *shape = task->shape;

	n *= cga->ctas;
	task->unissued -= n;
	task->resident += n;
	shape->residents += n;
	place_state.residents += n;
	shapes.grouped_ctas += n;
	counters.ctas_issued += n;
	counters.placements++;
	return n;
}

static inline uint32_t wanted(const struct cga *cga, uint32_t n)
{
	if (n < cga->ctas)
		return 1;
	return likely(cga->log != CGA_UNEVEN) ? n >> cga->log : n / cga->ctas;
}

/* A session that was to place @n CGAs, but at most @most, has not placed @left of these. */
static COLD void search_short(uint32_t n, uint32_t most, uint32_t left)
{
	trial.n = n;
	trial.most = trial.late ? most - left : most;
	trial.left = trial.late ? 0 : left;
	trial.late = false;
}

HOT uint32_t search_quick(struct task *task, struct cga *cga, uint32_t n)
{
	uint32_t most = room(cga), left;

	n = wanted(cga, n);
	if (likely(most > n))
		most = n;
	cached_begin(cga->ask);
	left = place_all(cga, most);
	if (unlikely(left) || unlikely(most < n)) {
		search_short(n, most, left);
		if (most == left)
			return 0;
	}
	cga->passed = 0;
	return account(task, cga, most - left);
}

COLD uint32_t search_run(struct task *task, struct cga *cga, uint32_t n)
{
	uint32_t most = room(cga), tail = command_tail();
	int speed;

	if (gpc_rows_lead() && cga->usual && cga->step)
		return search_quick(task, cga, n);
	/* Settle now: later its own placements would be in the rows already, and be counted twice. */
	if (!cga->identities)
		domain_settle();
	n = wanted(cga, n);
	most = min32(min32(most, n), (cga->most + SEARCH_SLOWER - 1) / SEARCH_SLOWER);
	cached_begin(cga->ask);
	trial.cga = cga;
	trial.task = task;
	trial.first = trial_mark();
	trial.n = n;
	trial.most = most;
	trial.left = most;
	if (cga->step)
		search_short(n, most, search_parts(cga, NULL, most, &speed));
	else if (most)
		nested_run();
	n = trial.most - trial.left;
	/* Without room for commands there is no search, and the visit is not cut: the mark at its end would take room, too. */
	if (most)
		visit_goes_on(SLOW_SEARCH_STEPS + (command_tail() - tail) * SLOW_WORD_STEPS);
	if (n) {
		cga->passed = 0;
		if (!gpc_rows_lead())
			trial_commit(n * cga->ctas);
		n = account(task, cga, n);
	}
	if (most && !cga->step)
		nested_end(n);
	return n;
}
