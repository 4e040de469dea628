// SPDX-License-Identifier: MIT
#include "groups/cga_search.h"
#include "place/visit.h"

#include "core/counters.h"
#include "core/task_record.h"

#define SEARCH_SLOWER 8u    /* how much longer a CGA takes that is not placed by search_quick() */
#define SLOW_WORD_STEPS 60u /* visit.h: for each word of its commands */
#define SLOW_SEARCH_STEPS 300u /* and for a search */

/* A CGA whose parts are being placed; the frame above the outermost level stands for the grid. */
struct frame {
	struct domain_range range;  /* domains in which the parts may be */
	const uint32_t *within;     /* for innermost parts: @range as a set; NULL: all domains */
	struct cached_set set;      /* memory for @within; for other parts: fastest domains without a part yet */
	uint32_t left;              /* parts still to be placed */
	int speed;                  /* of the last part */
	unsigned trial;             /* 1 + the domain that is being tried, or 0 */
	struct trial_mark mark;   /* before the part that is being placed */
};

static struct frame frames[TUTTI_CGA_LEVELS + 1];

void search_init(void)
{
	cached_init();
	trial.sequence = 0;
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

/* Place one part in @gpc. @outermost: the part is the whole outermost CGA */
static inline __attribute__((always_inline)) void place_gpc(const struct cga *cga, struct gpc *gpc, int speed, bool multicast,
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
		return;
	}
	if (query_paired(gpc))
		query_segment(p + 3, me->sms = query_cut_paired(gpc, n, speed));
	else
		query_take(gpc, gpc->all, n, true, speed, p + 3, &me->sms);
	p[0] = cga->head + (5 << 8);
	command_end(p + 5);
}

/*
 * Place the parts of one frame in rounds. Answers change between rounds only, so a round can read
 * the set of fastest domains in place.
 * @within: innermost domains, NULL: all; @speed_of: gets the speed of the last part; @single: all
 * domains of the card are in one word
 * Return: parts left
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
				place_gpc(cga, domain_gpc(gpcs, bit_number(bit)), speed, multicast, single || cga->step);
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

/* ---- any innermost parts ---- */

static uint32_t place_others(const struct cga *cga, const uint32_t *within, uint32_t left, int *speed)
{
	struct cached_word *word;
	uint32_t bits;

	while (left) {
		cached_refresh();
		*speed = cached_fastest(within, false);
		if (*speed < 0)
			break;
		for (word = query_cache.word; word < query_cache.end; word++) {
			bits = word->fast[*speed] & (within ? within[word - query_cache.word] : ~0u);
			for (; bits && left; bits &= bits - 1) {
				word->stale |= bits & -bits;
				left -= trial_part(cached_number(word) + lowest_bit(bits), *speed, cga->step);
			}
		}
	}
	return left;
}

static COLD uint32_t place_parts(const struct cga *cga, const uint32_t *within, uint32_t left, int *speed)
{
	return cga->usual ? place_gpcs(cga, within, left, speed) : place_others(cga, within, left, speed);
}

/* ---- CGAs of several levels ---- */

static inline bool set_empty(const struct cached_set *set)
{
	uint32_t any = 0, w;

	for (w = 0; w < CACHED_WORDS; w++)
		any |= set->word[w];
	return !any;
}

static inline unsigned set_pop(struct cached_set *set)
{
	unsigned w = 0, bit;

	while (!set->word[w])
		w++;
	bit = lowest_bit(set->word[w]);
	set->word[w] &= set->word[w] - 1;
	return 32 * w + bit;
}

static void set_range(struct cached_set *set, struct domain_range range)
{
	unsigned d;

	*set = (struct cached_set){ 0 };
	for (d = range.first; d < range.first + (unsigned)range.n; d++)
		set->word[d / 32] |= 1u << (d % 32);
}

/* Start a CGA of @level in @domain, so that its parts are placed next. Return: false if there is no credit for it */
static bool enter(unsigned level, unsigned domain)
{
	const struct cga *cga = trial.cga;
	struct frame *f = &frames[level];

	f->range = domain_inside(cga->kind[level - 1], cga->kind[level], domain);
	f->within = NULL;
	if (level > 1) {
		f->set = (struct cached_set){ 0 };
	} else if (cga->kind[1] != TUTTI_CGA_GPU) {
		set_range(&f->set, f->range);
		f->within = f->set.word;
	}
	f->left = cga->parts[level];
	f->trial = 0;
	f->speed = QUERY_INVALID;
	if (cga->identity != level)
		return true;
	if (!domains.gpc[domain].credits)
		return false;
	trial_identify(&domains.gpc[domain]);
	return true;
}

/* Take back the part of @f, of @level, that is being placed, and its identity even if no record has it yet. */
static void take_back(struct frame *f, unsigned level, bool entered)
{
	if (entered && trial.cga->identity == level && f->mark.next == command_ring.next)
		cga_ids_undo(trial.gpc, trial.id, trial.lmem);
	trial_undo(f->mark);
}

/*
 * The trial of a domain, for a part that has parts itself, has ended with @speed.
 * Return: whether all domains have been tried and none has room
 */
static bool tried(struct frame *f, int speed)
{
	unsigned domain = f->trial - 1;

	if (speed >= 0 && speed >= f->speed) {
		if (speed > f->speed)
			f->set = (struct cached_set){ 0 };
		f->speed = speed;
		f->set.word[domain / 32] |= 1u << (domain % 32);
	}
	f->trial = domain + 1u < f->range.first + (uint32_t)f->range.n ? domain + 2 : 0;
	return !f->trial && set_empty(&f->set);
}

/*
 * There is no room for the CGA at @level. Return: the level to go on with; 0 if there is no room for
 * another outermost CGA
 */
static unsigned fail(unsigned level, bool entered)
{
	for (; level < trial.cga->levels; level++, entered = true) {
		struct frame *f = &frames[level + 1];

		take_back(f, level, entered);
		if (f->trial && !tried(f, QUERY_INVALID))
			return level + 1;
		/* No domain can take this part, so there is no room for the CGA around it either. */
	}
	return 0;
}

/* The CGA at @level is complete. Return: the level to go on with */
static unsigned complete(unsigned level)
{
	struct frame *f = &frames[level + 1];
	int speed = frames[level].speed;

	if (f->trial) {
		take_back(f, level, true);
		tried(f, speed);
		return level + 1;
	}
	f->speed = speed;
	f->left--;
	if (level + 1 == trial.cga->levels)
		trial_end();
	return level + 1;
}

/* Go on with the CGA at @level, whose parts have parts themselves. Return: the level to go on with */
static unsigned step_down(unsigned level)
{
	struct frame *f = &frames[level];
	unsigned domain = f->range.first;

	f->mark = trial_mark();
	if (f->range.n > 1) {
		if (!f->trial && set_empty(&f->set)) {
			f->speed = QUERY_INVALID;
			f->trial = 1 + domain;
		}
		domain = f->trial ? f->trial - 1 : set_pop(&f->set);
	}
	return enter(level - 1, domain) ? level - 1 : fail(level - 1, false);
}

static COLD void run_levels(void)
{
	unsigned top = trial.cga->levels, level = top;
	struct frame *f;

	while (level) {
		f = &frames[level];
		if (!f->left && level == top)
			return;
		if (f->left && level > 1) {
			level = step_down(level);
			continue;
		}
		if (level == 1)
			f->left = place_parts(trial.cga, f->within, f->left, &f->speed);
		level = f->left ? fail(level, true) : complete(level);
	}
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

static COLD void run_grid(void)
{
	struct cga *cga = trial.cga;
	struct frame *top = &frames[cga->levels];

	top->range = domain_inside(cga->kind[cga->levels - 1], DOMAIN_KIND_CARD, 0);
	top->within = NULL;
	top->set = (struct cached_set){ 0 };
	top->left = trial.left;
	top->trial = 0;
	top->speed = QUERY_INVALID;
	run_levels();
	trial.left = top->left;
}

static inline uint32_t wanted(const struct cga *cga, uint32_t n)
{
	if (n < cga->ctas)
		return 1;
	return likely(cga->log != CGA_UNEVEN) ? n >> cga->log : n / cga->ctas;
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
		trial.n = n;
		trial.most = most;
		trial.left = left;
		if (most == left)
			return 0;
	}
	cga->passed = 0;
	return account(task, cga, most - left);
}

/*
 * The steps of a search for @most CGAs that has written @words. What a search for nested CGAs has tried may be gone
 * again. Without room for commands there is none, and the visit is not cut: the mark at its end would take room, too.
 */
static uint32_t steps(const struct cga *cga, uint32_t most, uint32_t words)
{
	if (!most)
		return 0;
	return SLOW_SEARCH_STEPS + (cga->step ? words : most * cga->words) * SLOW_WORD_STEPS;
}

uint32_t search_run(struct task *task, struct cga *cga, uint32_t n)
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
		trial.left = place_parts(cga, NULL, most, &speed);
	else
		run_grid();
	n = most - trial.left;
	visit_goes_on(steps(cga, most, command_tail() - tail));
	if (!n)
		return 0;
	cga->passed = 0;
	if (!gpc_rows_lead())
		trial_commit(n * cga->ctas);
	return account(task, cga, n);
}
