// SPDX-License-Identifier: MIT
/*
 * Which tasks wait, and for how many CTAs of others. A limit counts only while the waiting task could go on: it has a
 * slot, its turn and room on some SM, and nothing that it needs is in progress.
 */
#include "combine.h"

/* Limits; the README explains each of them. */
#define LOWER_MOST   64u  /* CTAs of lower priority while a task that fits waits (RES-01) */
#define EQUAL_MOST   256u /* CTAs of equals in other queues, when lots are drawn (RES-04) */
#define VISITS_MOST  2048u /* visits in which others of lower or equal priority got CTAs: 64 for each slot */
#define STARTED_MOST 100u /* packets of others begun while a queue's oldest one waits */
#define SHARE_HELD   8u   /* one in so many of the SMs that a task may use is held for it when it has been passed over */

#define VISIT_LAUNCHES 256u

static struct {
	struct job *job;
	uint32_t ctas;
	bool split; /* waves, rather than CTAs */
} launches[VISIT_LAUNCHES];
static unsigned launched;
static bool answered;    /* the firmware has answered all requests, so it knows which SMs are on */
static uint8_t filled;   /* level of the most important task that has taken the last free slot in this visit */

void fair_begin(void)
{
	launched = 0;
	filled = UINT8_MAX;
}

void fair_asked(void)
{
	answered = false;
}

void fair_launched(struct job *job, unsigned ctas, bool split)
{
	if (launched < VISIT_LAUNCHES) {
		launches[launched].job = job;
		launches[launched].split = split;
		launches[launched++].ctas = ctas;
	}
}

/*
 * The task has a slot and may issue CTAs (TSK-04) if it was not cancelled. Whether they fit is a question of its own. While
 * the driver has messages to read, one of them may say that the task's queue has stopped.
 */
static bool may_hold(const struct job *job)
{
	return job && job->life == RUNNING && job->slot >= 0 && !job->work && job_left(job) && !driver_behind() &&
	       card_acknowledged((unsigned)job->slot) && !job->faulted && !job->killed &&
	       !(job->sequence && (job->running || job->told)) && !w.program[job->queue].stopped &&
	       !w.program[job->queue].dying;
}

/* It may hold SMs, and nobody has asked to cancel it. The firmware refuses a request to cancel that comes too early. */
static bool may_issue(const struct job *job)
{
	return may_hold(job) && !job->cancelled;
}

/* It may issue, and it cannot have been evicted. */
static bool waits(const struct job *job)
{
	return may_issue(job) && !job->leaving;
}

/* What is searched in groups or samples may be overlooked (RES-09, RES-10); a rotated split fits less often
 * (RES-12). */
static bool room_is_known(void)
{
	return !w.throttles && !features_has(&w.scenario.allowed, F_SEARCH) &&
	       !features_has(&w.scenario.allowed, F_ROTATE) && !features_has(&w.scenario.allowed, F_THROTTLE);
}

/* Masks, records and shapes are held by tasks, which may end at any time. */
static bool records_are_held(void)
{
	return features_has(&w.scenario.allowed, F_LONG) || features_has(&w.scenario.allowed, F_WORK) ||
	       w.throttles || w.suspending;
}

bool fair_counts_visits(void)
{
	return !records_are_held();
}

/* A packet with the barrier bit waits for the children of those before it, which may have the lowest priority. */
static bool children_live(unsigned queue)
{
	unsigned i;

	for (i = 0; i < w.jobs; i++)
		if (w.job[i].child && w.job[i].queue == queue && w.job[i].life < DONE)
			return true;
	return false;
}

/*
 * A task can be split and evicted only if there was a record for its state when it was launched. Tasks of low priority have to
 * leave some records to others. A kernel that has not ended holds one record at most.
 */
#define RECORDS 28u

static bool is_recorded(const struct job *job)
{
	unsigned i, others = 0;

	for (i = 0; i < w.jobs; i++)
		others += &w.job[i] != job && w.job[i].life < DONE;
	return others + job->level <= RECORDS;
}

/* Whether this is the first kernel of its packet that starts. */
static bool begins(const struct job *job)
{
	struct entry *e = &w.program[job->queue].entry[job->entry];
	bool first = !e->begun;

	e->begun = true;
	return first;
}

/*
 * The oldest packet of a queue waits while packets of others begin: for a slot, a descriptor, a record, a shape. The firmware
 * takes turns by packets, so it does not matter how many kernels each of them has.
 */
void fair_state(struct job *job)
{
	unsigned i;

	if (card_slots_taken() == w.slots && job->level < filled)
		filled = job->level;
	if (job->independent)
		job->recorded |= is_recorded(job);
	if (job->child || !begins(job) || driver_behind())
		return;
	for (i = 0; i < QUEUES; i++) {
		struct program *program = &w.program[i];
		struct entry *e = &program->entry[program->oldest % ENTRIES];

		if (i == job->queue || !program->alive || program->dying || program->stopped ||
		    program->oldest >= program->write || !e->published || e->bad || e->kind > CONDENSED ||
		    w.job[e->job].life != WAITING || w.job[e->job].level > job->level || records_are_held() ||
		    children_live(i))
			continue;
		e->waited++;
		visits.waited = e->waited > visits.waited ? e->waited : visits.waited;
		RULE(e->waited <= STARTED_MOST, "starved queue (RES-01)",
		     "packet %lu is the oldest of queue %u and waits while %u packets of others of its "
		     "priority or lower begin",
		     program->oldest, i, e->waited);
	}
}

static uint32_t got(const struct job *job)
{
	uint32_t n = 0;
	unsigned i;

	for (i = 0; i < launched; i++)
		n += launches[i].job == job ? launches[i].ctas : 0;
	return n;
}

static bool same_shape(const struct job *job, const struct job *other)
{
	return other->waves == job->waves && other->scalar == job->scalar && other->vector == job->vector &&
	       other->shared == job->shared && other->barriers == job->barriers;
}

/* Without lots an older task of the same shape comes first until it has issued all (TSK-04). */
static bool older(const struct job *other, const struct job *job)
{
	return !w.lots && other->order < job->order && same_shape(job, other);
}

/*
 * While domains are held for a CGA (CGA-05), nobody else gets the card, so both wait. By score, SMs get one CTA after the
 * other, so that as many CTAs take many more visits. A CGA that needs a whole domain waits until the last CTA there has
 * ended, while in a crowd only one CTA of the whole card ends in each visit.
 */
static unsigned visits_most(void)
{
	bool domain = features_has(&w.scenario.allowed, F_WHOLE_DOMAIN);
	bool groups = features_has(&w.scenario.allowed, F_CGA_CPC) || features_has(&w.scenario.allowed, F_CGA_GPC) ||
		      features_has(&w.scenario.allowed, F_WHOLE_SM);

	return VISITS_MOST * (domain ? 4 : groups ? 2 : 1) * (features_has(&w.scenario.allowed, F_CHOICE) ? 4 : 1);
}

/*
 * When lots are drawn, or a visit is over before all tasks had their chance, a queue takes part with its oldest task
 * (RES-02). That its younger ones wait is up to their own.
 */
static bool own_queue_got(const struct job *job)
{
	unsigned i;

	for (i = 0; i < launched; i++)
		if (launches[i].job->queue == job->queue && launches[i].job->order < job->order)
			return true;
	return false;
}

/* How many of the SMs that the task may use are switched on. */
static unsigned open_sms(const struct job *job)
{
	unsigned i, n = 0;

	for (i = 0; i < w.sms; i++)
		n += card_sm_open(job, i);
	return n;
}

bool fair_waits_long(void)
{
	unsigned i;

	for (i = 0; i < SLOTS; i++)
		if (w.act[i] && w.act[i]->visits > VISITS_MOST / 2)
			return true;
	return false;
}

/*
 * SMs of the card that may be held for another task of its priority or a higher one that fits nowhere (RES-01, CGA-05).
 * A task that may have been evicted or cancelled counts as well, because it may just as well still be there.
 */
static unsigned may_be_held(const struct job *job)
{
	unsigned i, n = 0, sms;

	for (i = 0; i < SLOTS; i++) {
		const struct job *other = w.act[i];

		if (other == job || !may_hold(other) || other->level > job->level || card_fits(other, 1))
			continue;
		sms = other->cga[0].kind ? w.sms : (open_sms(other) + SHARE_HELD - 1) / SHARE_HELD;
		n = sms > n ? sms : n;
	}
	return n;
}

/* It would fit, whoever SMs are held for. */
static bool fits_beside_holds(const struct job *job)
{
	unsigned enough = may_be_held(job) + 1;

	return card_fits(job, enough) >= enough;
}

static void passed_over(struct job *job)
{
	uint32_t lower = 0, equal = 0;
	unsigned i;

	for (i = 0; i < launched; i++) {
		const struct job *other = launches[i].job;

		if (other->level > job->level)
			lower += launches[i].ctas;
		else if (other->level == job->level && other->queue != job->queue && !older(other, job))
			equal += launches[i].ctas;
	}
	if (!lower && !equal)
		return;
	/*
	 * In throttle mode other tasks go first (TSK-07). A task that has many CTAs on the SMs it may use waits for these.
	 * A CGA may need SMs whose CTAs wait for their children; if these never start, their own visits are too many.
	 */
	job->visits += fair_counts_visits() && 2 * job->told < open_sms(job) && !(job->cga[0].kind && card_parents_wait());
	visits.passed = job->visits > visits.passed ? job->visits : visits.passed;
	RULE(job->visits <= visits_most(), "starved (RES-01)",
	     "%s has waited %u visits in which others of its priority or lower got CTAs", job_name(job),
	     job->visits);
	if (w.stall || card_fetching() || !room_is_known())
		return;
	if (!card_fits(job, 1) || !fits_beside_holds(job)) {
		job->lower = job->equal = 0;
		return;
	}
	job->lower += w.windows ? 0 : lower;
	job->equal += w.lots ? equal : 0;
	RULE(job->lower <= LOWER_MOST, "priority (RES-01)",
	     "%s fits and waits while %u CTAs of lower priority start, of %s at last", job_name(job),
	     job->lower, job_name(launches[launched - 1].job));
	RULE(job->equal <= EQUAL_MOST, "lots (RES-04)",
	     "%s fits and waits while %u CTAs of its priority start, of %s at last", job_name(job),
	     job->equal, job_name(launches[launched - 1].job));
}

/*
 * Domains may be held for a CGA that does not fit, and what would fit only there waits too (CGA-05). A task that
 * may have been evicted or cancelled counts as well, because it may just as well still be there.
 */
static bool domains_held(void)
{
	unsigned i;

	for (i = 0; i < SLOTS; i++)
		if (may_hold(w.act[i]) && w.act[i]->cga[0].kind && !card_fits(w.act[i], 1))
			return true;
	return false;
}

/* It needs the same as @job, so that it would have fitted where @job's last CTAs are. */
static bool as_small(const struct job *other, const struct job *job)
{
	return same_shape(other, job) && !other->cga[0].kind && !job->cga[0].kind && !other->mask;
}

/* A task that has issued its quota, rounded up to whole CGAs, lets another one of its priority go (TSK-09). */
static bool others_wait(const struct job *job)
{
	unsigned i;

	for (i = 0; i < SLOTS; i++) {
		struct job *other = w.act[i];

		if (other && other != job && other->level == job->level && other->queue != job->queue &&
		    other->ready && waits(other) && other->order < job->order + 1000 &&
		    (as_small(other, job) || fits_beside_holds(other)))
			return true;
	}
	return false;
}

/* Count what a task issues while others of its priority issue nothing. @counts: whether they could issue in this visit */
static void turns(bool counts)
{
	unsigned i, k;

	for (i = 0; i < launched; i++)
		for (k = 0; k < SLOTS; k++)
			if (w.act[k] && w.act[k] != launches[i].job &&
			    w.act[k]->level == launches[i].job->level)
				w.act[k]->turn = 0;
			else if (counts && w.act[k] && w.act[k] == launches[i].job)
				w.act[k]->turn += launches[i].split ? 0 : launches[i].ctas;
}

static void quotas(void)
{
	unsigned i;

	for (i = 0; i < SLOTS; i++) {
		struct job *job = w.act[i];

		if (!job || !job->quota || job->work || job->sequence || job->turn <= job->quota + job->whole)
			continue;
		if (!others_wait(job) || domains_held())
			job->turn = 0;
		else
			RULE(job->turn <= 2 * (job->quota + job->whole), "quota (TSK-09)",
			     "%s of quota %u has issued %u CTAs in its turn while others of its priority fit "
			     "and wait",
			     job_name(job), job->quota, job->turn);
	}
}

/* While a throttle task has CTAs left only throttle tasks issue, and children of those that must end
 * (TSK-07). */
static void throttles(void)
{
	unsigned i, k, taken = card_slots_taken();

	for (k = 0; k < SLOTS; k++) {
		const struct job *job = w.act[k];

		if (!waits(job) || !job->throttle || !job->ready || job->sequence || !open_sms(job) ||
		    (taken == w.slots && !job->running && !job->told))
			continue; /* with no slot free it may have been evicted */
		for (i = 0; i < launched; i++)
			RULE(launches[i].job->throttle || launches[i].job->child, "throttle (TSK-07)",
			     "%s starts while %s waits", job_name(launches[i].job), job_name(job));
	}
}

/*
 * A task may have been evicted if all slots are taken and a task of higher priority has none, or got the last one in this
 * visit: then it issues nothing until its CTAs have ended (TSK-03). If it gets CTAs in a later visit, it was not evicted.
 */
static void evictions(void)
{
	uint8_t highest = filled;
	unsigned i, taken = card_slots_taken();

	for (i = 0; i < w.jobs && taken == w.slots; i++)
		if (w.job[i].life == WAITING && w.job[i].level < highest)
			highest = w.job[i].level;
	for (i = 0; i < SLOTS; i++)
		if (w.act[i])
			w.act[i]->leaving = (w.act[i]->leaving && !got(w.act[i])) || w.act[i]->level > highest;
	filled = UINT8_MAX;
}

void fair_visit(void)
{
	bool counts = !w.stall && !card_fetching() && room_is_known();
	unsigned i;

	evictions();
	if (launched && w.throttles && answered)
		throttles();
	if (launched) {
		for (i = 0; i < SLOTS; i++) {
			struct job *job = w.act[i];
			bool went = job && got(job);

			/* also if it does not wait: a sequence task does not while its CTA runs */
			if (went)
				job->lower = job->equal = job->visits = 0;
			if (!waits(job))
				continue;
			if (own_queue_got(job))
				job->visits = 0;
			if (!went && job->ready)
				passed_over(job);
		}
		turns(counts);
		if (counts)
			quotas();
	}
	for (i = 0; i < SLOTS; i++)
		if (w.act[i])
			w.act[i]->ready = waits(w.act[i]);
	launched = 0;
	answered = driver_idle();
}

/* A task that does not start although it fits, even without the SMs that may be held for others. */
const struct job *fair_idle(void)
{
	const struct job *found = NULL;
	unsigned i;

	if (!room_is_known() || w.suspended)
		return NULL;
	for (i = 0; i < SLOTS; i++)
		if (waits(w.act[i]) && fits_beside_holds(w.act[i]))
			found = w.act[i];
	return found && !domains_held() ? found : NULL;
}

/* It is the oldest task of its queue, and none of its CTAs is being launched wave by wave. */
static bool may_be_split(const struct job *job)
{
	unsigned i;

	if (!job->independent || !job->recorded || job->shared || job->barriers || job->cga[0].kind || job->waves < 2 || job->waves_left ||
	    job->told != job->running)
		return false;
	for (i = 0; i < SLOTS; i++)
		if (w.act[i] && w.act[i] != job && w.act[i]->queue == job->queue && waits(w.act[i]))
			return false;
	return true;
}

/*
 * Waves that are launched one by one need a slot and a shape of their own. The firmware for large cards keeps fewer
 * shapes.
 */
#define SHAPES_KEPT 4u

bool fair_shapes_left(const struct job *but)
{
	const struct job *seen[SLOTS];
	unsigned i, k, n = 0;

	for (i = 0; i < SLOTS; i++) {
		if (!w.act[i] || w.act[i] == but)
			continue;
		for (k = 0; k < n && !same_shape(w.act[i], seen[k]);)
			k++;
		if (k == n)
			seen[n++] = w.act[i];
	}
	return n < SHAPES_KEPT;
}

const struct job *fair_unsplit(void)
{
	const struct job *found = NULL;
	struct job wave;
	unsigned i;

	if (!room_is_known() || w.suspended || card_slots_taken() == w.slots || !fair_shapes_left(NULL))
		return NULL;
	for (i = 0; i < SLOTS && !found; i++) {
		if (!waits(w.act[i]) || !may_be_split(w.act[i]))
			continue;
		wave = *w.act[i];
		wave.waves = 1;
		if (card_fits(&wave, 1))
			found = w.act[i];
	}
	return found;
}

void fair_quiet(void)
{
	const struct job *job = fair_idle();

	RULE(!job, "idle (RES-01)", "%s fits and nothing happens any more", job_name(job));
	job = fair_unsplit();
	RULE(!job, "unsplit (RES-07)", "%s fits nowhere, its waves would, and it is not split", job_name(job));
}
