// SPDX-License-Identifier: MIT
#include "groups/nested_search.h"

#include "core/counters.h"
#include "core/task_record.h"
#include "core/visit.h"
#include "groups/cga_search.h"

#define PART_STEPS 200u /* visit.h: for each innermost part that is placed, even if only on trial */

/* A CGA whose parts are being placed; the frame above the outermost level stands for the grid. */
struct frame {
	struct domain_range range; /* domains in which the parts may be */
	uint32_t left;             /* parts still to be placed */
	int speed;                 /* of the last part */
	unsigned domain;           /* where a part is being placed ... */
	bool trial;                /* ... and whether it is to be taken back */
	struct trial_mark mark;    /* before the part that is being placed */
};

static struct frame frames[TUTTI_CGA_LEVELS + 1];

/*
 * The speed that a part which has parts itself would have in each domain: in GPCs, and in µGPUs. Those that are to get a
 * part in this round are marked.
 */
#define UNTRIED (QUERY_INVALID - 1)
#define MARKED 64
_Static_assert(LAKE_LEVELS <= MARKED && 2 * MARKED - 1 <= INT8_MAX, "a speed and the mark");
static int8_t speeds[2][TUTTI_MAX_GPCS];

/*
 * A search that goes on in another visit. Its frames stay as they are, and so do the speeds, although domains may change
 * meanwhile: as in any session (CGA-14), what has become free may be overlooked, and a CGA that does not fit any more
 * goes elsewhere.
 */
static struct {
	const struct task *task;
	unsigned level; /* where it goes on */
	bool placed;    /* CGAs were placed in the last visit: if more has become free since, the search begins anew */
	bool worked;    /* some part was placed or tried in this visit */
	uint32_t freed; /* freed() when it began, or after the last visit in which CGAs were placed */
} session;

void nested_init(void)
{
	session.task = NULL;
}

void nested_forget(const struct task *task)
{
	if (session.task == task)
		session.task = NULL;
}

/* This changes whenever there may be room where there was none. */
static uint32_t freed(void)
{
	return counters.ctas_issued - place_state.residents + shapes.changes + trial.freed;
}

/* ---- CGAs of several levels ---- */

/* The speeds of the parts of the CGA at @level, which have parts themselves. */
static int8_t *speeds_of(unsigned level)
{
	return speeds[trial.cga->kind[level - 1] == TUTTI_CGA_UGPU];
}

/* Begin with the CGA at @level: @left parts of it are to be placed inside domain @number of kind @outer. */
static void begin(unsigned level, unsigned outer, unsigned number, uint32_t left)
{
	struct frame *f = &frames[level];
	unsigned i;

	f->range = domain_inside(trial.cga->kind[level - 1], outer, number);
	f->left = left;
	f->trial = false;
	f->speed = QUERY_INVALID;
	for (i = 0; level > 1 && i < f->range.n; i++)
		speeds_of(level)[f->range.first + i] = UNTRIED;
}

/* Start a CGA of @level in @domain, so that its parts are placed next. Return: false if there is no credit for it */
static bool enter(unsigned level, unsigned domain)
{
	const struct cga *cga = trial.cga;

	begin(level, cga->kind[level], domain, cga->parts[level]);
	if (cga->identity != level)
		return true;
	if (!domains.gpc[domain].credits)
		return false;
	trial_identify(&domains.gpc[domain]);
	return true;
}

/* Place the parts of the CGA at level 1. */
static void place_innermost(struct frame *f)
{
	struct cached_set within = { { 0 } };
	bool anywhere = trial.cga->kind[1] == TUTTI_CGA_GPU;
	unsigned d;

	for (d = f->range.first; !anywhere && d < f->range.first + (unsigned)f->range.n; d++)
		within.word[d / 32] |= 1u << (d % 32);
	visit_goes_on(PART_STEPS * f->left);
	session.worked = true;
	f->left = search_parts(trial.cga, anywhere ? NULL : within.word, f->left, &f->speed);
}

/* Take back the part of @f, of @level, that is being placed, and its identity even if no record has it yet. */
static void take_back(struct frame *f, unsigned level, bool entered)
{
	if (entered && trial.cga->identity == level && f->mark.next == command_ring.next)
		cga_ids_undo(trial.gpc, trial.id, trial.lmem);
	trial_undo(f->mark);
}

/* What was tried for a part of the CGA at @level has been taken back: it had @speed. Return: @level, to go on with */
static unsigned tried(unsigned level, int speed)
{
	speeds_of(level)[frames[level].domain] = (int8_t)speed;
	frames[level].trial = false;
	return level;
}

/*
 * There is no room for the CGA at @level. Return: the level to go on with; 0 if there is no room for
 * another outermost CGA
 */
static unsigned fail(unsigned level, bool entered)
{
	for (; level < trial.cga->levels; level++, entered = true) {
		take_back(&frames[level + 1], level, entered);
		if (frames[level + 1].range.n > 1)
			return tried(level + 1, QUERY_INVALID);
		/* No other domain can take this part, so there is no room for the CGA around it either. */
	}
	return 0;
}

/* The CGA at @level is complete. Return: the level to go on with */
static unsigned complete(unsigned level)
{
	struct frame *f = &frames[level + 1];

	if (f->trial) {
		take_back(f, level, true);
		return tried(level + 1, frames[level].speed);
	}
	f->speed = frames[level].speed;
	f->left--;
	if (level + 1 == trial.cga->levels)
		trial_end();
	return level + 1;
}

/*
 * Choose a domain for the next part. Each of the fastest gets one; then those that got one are tried again, because the
 * others are as they were. Return: false if none has room
 */
static bool choose(struct frame *f, int8_t *speed)
{
	unsigned d, first = f->range.first, end = first + f->range.n;
	int best = 0;

	f->domain = end;
	for (d = end; d-- > first;)
		if (speed[d] > best)
			best = speed[d];
		else if (speed[d] == UNTRIED)
			f->domain = d;
	f->trial = best < MARKED && f->domain < end;
	if (f->trial)
		return true;
	for (d = end; d-- > first;) {
		if (speed[d] != best)
			continue;
		f->domain = d;
		speed[d] = (int8_t)(best | MARKED);
	}
	if (f->domain == end)
		return false;
	speed[f->domain] = UNTRIED;
	return true;
}

/*
 * Whether the visit is over, has got somewhere, and has placed no part of the next outermost CGA for good: then the
 * search can go on at @level in another one.
 */
static bool pauses(unsigned level)
{
	if (!session.worked || command_ring.next != frames[trial.cga->levels].mark.next || visit_goes_on(0))
		return false;
	session.task = trial.task;
	session.level = level;
	return true;
}

/* Go on with the CGA at @level, whose parts have parts themselves. Return: the level to go on with; 0: not in this visit */
static unsigned step_down(unsigned level)
{
	struct frame *f = &frames[level];

	f->mark = trial_mark();
	if (pauses(level))
		return 0;
	f->domain = f->range.first;
	if (f->range.n > 1 && !choose(f, speeds_of(level)))
		return fail(level, true);
	return enter(level - 1, f->domain) ? level - 1 : fail(level - 1, false);
}

static void run_levels(unsigned level)
{
	unsigned top = trial.cga->levels;
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
			place_innermost(f);
		level = f->left ? fail(level, true) : complete(level);
	}
}

/* ---- visits ---- */

COLD void nested_run(void)
{
	unsigned top = trial.cga->levels, level = top;
	uint32_t now = freed();

	session.worked = false;
	if (session.task == trial.task && (!session.placed || session.freed == now)) {
		frames[top].left = trial.left;
		for (; level > session.level; level--)
			frames[level].mark = trial_mark();
	} else {
		session.freed = now;
		begin(top, DOMAIN_KIND_CARD, 0, trial.left);
	}
	session.task = NULL;
	run_levels(level);
	trial.left = frames[top].left;
}

/* What has become free while a search was under way was perhaps overlooked, so it is no proof that there is no room. */
COLD void nested_end(uint32_t n)
{
	uint32_t now = freed();

	session.placed = n;
	if (n)
		session.freed = now;
	else if (session.task)
		visit_cut();
	if (session.task || session.freed != now) {
		trial.most -= trial.left;
		trial.left = 0;
	}
}
