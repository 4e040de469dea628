// SPDX-License-Identifier: MIT
/* Scenarios: made from a seed, run, brought to their end. */
#include "combine.h"
#include "top/host/drive.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

struct failure failure;
FILE *trace;
uint64_t random_state;
static sigjmp_buf broken;

#define ALLOWED(f) features_has(&w.scenario.allowed, F_##f)

void rule(const char *name, const char *format, ...)
{
	va_list args;

	snprintf(failure.rule, sizeof(failure.rule), "%s", name);
	va_start(args, format);
	vsnprintf(failure.text, sizeof(failure.text), format, args);
	va_end(args);
	siglongjmp(broken, 1);
}

static void crashed(int number)
{
	snprintf(failure.rule, sizeof(failure.rule), "crash");
	snprintf(failure.text, sizeof(failure.text), "signal %d", number);
	siglongjmp(broken, 1);
}

/* ---- making ---- */

/* What an operation is drawn for, and how often beside others. */
static const struct {
	uint8_t kind, feature, weight;
} kinds[] = {
    {OP_PACKET, F_COUNT, 14},	{OP_BURST, F_COUNT, 8},	   {OP_STEP, F_COUNT, 3},
    {OP_TIME, F_COUNT, 2},	{OP_RING, F_COUNT, 1},	   {OP_WORK, F_WORK, 4},
    {OP_CANCEL, F_CANCEL, 2},	{OP_BAD, F_BAD_PACKET, 2}, {OP_FAULT, F_FAULT, 2},
    {OP_RESET, F_RESET, 2},	{OP_CREATE, F_CREATE, 4},  {OP_DESTROY, F_DESTROY, 2},
    {OP_SUSPEND, F_SUSPEND, 2}, {OP_SM_OFF, F_SM_OFF, 2},  {OP_SM_ON, F_SM_ON, 2},
    {OP_POLICY, F_COUNT, 1},	{OP_STALL, F_STALL, 3},	   {OP_FLOOD, F_FLOOD, 2},
};

static const char *const op_name[OP_KINDS] = {
    "packet",	  "burst",  "step",   "time",	"work",	   "cancel",
    "bad packet", "fault",  "reset",  "create", "destroy", "suspend or resume",
    "SMs off",	  "SMs on", "policy", "stall",	"flood",   "doorbell"};

static unsigned some_op(const struct features *allowed)
{
	unsigned i, all = 0, at;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].feature == F_COUNT || features_has(allowed, kinds[i].feature))
			all += kinds[i].weight;
	at = roll(all);
	for (i = 0;; i++)
		if (kinds[i].feature == F_COUNT || features_has(allowed, kinds[i].feature)) {
			if (at < kinds[i].weight)
				return kinds[i].kind;
			at -= kinds[i].weight;
		}
}

/* One of each group that excludes others; @set has at most one of them so far. */
static void pick_one(struct features *set, const struct features *only, const uint8_t *of, unsigned n)
{
	unsigned i, tries;

	for (i = 0; i < n; i++)
		if (features_has(set, of[i]))
			return;
	i = of[roll(n)];
	for (tries = 0; tries < 20 && !features_has(only, i); tries++)
		i = of[roll(n)];
	features_add(set, i);
}

/* What a feature cannot be without. */
static void complete(struct features *set)
{
	static const uint8_t needs[][2] = {
	    {F_OVERLAP, F_COND_6},     {F_DIFF_EMPTY, F_COND_6},  {F_DIFF_SEVERAL, F_COND_6},
	    {F_COND_1, F_REF_STORE},   {F_COND_6, F_REF_STORE},	  {F_COND_31, F_REF_STORE},
	    {F_CGA_NESTED, F_CGA_GPU}, {F_CGA_NESTED, F_CGA_CPC}, {F_MULTICAST, F_CGA_GPC},
	    {F_LMEM, F_CGA_GPC},       {F_RESET, F_BAD_PACKET},	  {F_SM_ON, F_SM_OFF},
	    {F_CREATE, F_DESTROY},     {F_SPLIT, F_INDEPENDENT},  {F_SPLIT, F_SHAPES_TWO},
	    {F_SPLIT, F_LONG},	       {F_EVICTED, F_FEW_SLOTS},  {F_EVICTED, F_PRIORITY},
	};
	unsigned i;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (features_has(set, needs[i][0]))
			features_add(set, needs[i][1]);
}

/* Of these there is always one, whatever else is left out. */
static uint64_t needed(unsigned word)
{
	static const uint8_t always[] = {F_SHAPES_ONE,	F_SHAPES_TWO, F_SHAPES_MANY, F_BALANCE,
					 F_ROUND_ROBIN, F_LOTS,	      F_OLDEST,	     F_CARD_TINY,
					 F_CARD_RAGGED, F_CARD_144,   F_CARD_LARGE};
	struct features set = {{0}};
	unsigned i;

	for (i = 0; i < sizeof(always); i++)
		features_add(&set, always[i]);
	return set.word[word];
}

void scenario_make(struct scenario *s, uint64_t seed, const struct features *only)
{
	static const uint8_t cards[] = {F_CARD_TINY,   F_CARD_TINY, F_CARD_TINY, F_CARD_TINY,	F_CARD_TINY,
					F_CARD_TINY,   F_CARD_TINY, F_CARD_TINY, F_CARD_RAGGED, F_CARD_RAGGED,
					F_CARD_RAGGED, F_CARD_144,  F_CARD_LARGE};
	static const uint8_t shapes[] = {F_SHAPES_ONE, F_SHAPES_TWO, F_SHAPES_TWO, F_SHAPES_MANY};
	static const uint8_t issue[] = {F_BALANCE, F_BALANCE, F_ROUND_ROBIN};
	static const uint8_t lots[] = {F_LOTS, F_OLDEST};
	static const uint8_t orders[] = {F_ORDER, F_ORDER_ONE};
	struct features all = *only;
	unsigned a, b, i, more;

	memset(s, 0, sizeof(*s));
	seed_random(seed);
	s->seed = seed;
	if (!(all.word[0] | all.word[1]))
		all = (struct features){{~0ull, ~0ull}};
	features_pair((unsigned)(seed * 7919), &a, &b);
	if (features_has(&all, a))
		features_add(&s->allowed, a);
	if (features_has(&all, b))
		features_add(&s->allowed, b);
	complete(&s->allowed);
	pick_one(&s->allowed, &all, cards, sizeof(cards));
	pick_one(&s->allowed, &all, shapes, sizeof(shapes));
	pick_one(&s->allowed, &all, issue, sizeof(issue));
	pick_one(&s->allowed, &all, lots, sizeof(lots));
	for (more = 3 + roll(14), i = 0; i < more; i++) {
		a = roll(F_CARD_TINY);
		if (!features_has(&all, a) || (a >= F_SHAPES_ONE && a <= F_ROUND_ROBIN) || a == F_LOTS ||
		    a == F_OLDEST)
			continue;
		features_add(&s->allowed, a);
	}
	complete(&s->allowed);
	for (i = 0; i < FEATURE_WORDS; i++)
		s->allowed.word[i] &= all.word[i] | needed(i);
	if (features_has(&s->allowed, F_ORDER) && features_has(&s->allowed, F_ORDER_ONE))
		features_remove(&s->allowed, orders[roll(2)]);
	if (features_has(&s->allowed, F_SHAPES_ONE) && features_has(&s->allowed, F_SHAPES_TWO))
		features_remove(&s->allowed, F_SHAPES_ONE);
	s->config = roll(0x10000) << 16 | roll(0x10000);
	s->ops = 5 + roll(roll(6) ? 12 : OPS - 5);
	for (i = 0; i < s->ops; i++)
		s->op[i] =
		    (struct op){(uint8_t)some_op(&s->allowed), (uint8_t)roll(QUEUES),
				(uint16_t)roll(roll(4) ? 12 : 60), roll(0x10000) << 16 | roll(0x10000)};
	/* who goes away while the engines stand still is worth a try */
	for (i = 1; i < s->ops && features_has(&s->allowed, F_DESTROY); i++)
		if (s->op[i - 1].kind == OP_STALL && roll(2))
			s->op[i].kind = OP_DESTROY;
}

void scenario_print(FILE *file, const struct scenario *s)
{
	unsigned f, i;

	fprintf(file, "# seed %lu, card and policies %08x, features:", s->seed, s->config);
	for (f = 0; f < F_COUNT; f++)
		if (features_has(&s->allowed, f))
			fprintf(file, " %s", feature_name(f));
	fprintf(file, "\n");
	for (i = 0; i < s->ops; i++)
		fprintf(file, "# %2u: %s, queue %u, seed %08x, then %u steps\n", i, op_name[s->op[i].kind],
			s->op[i].queue, s->op[i].seed, s->op[i].steps);
}

/* ---- the card and its policies ---- */

static void boot(void)
{
	unsigned i, all = 0, g;

	if (ALLOWED(CARD_TINY)) {
		hal_host_gpcs = 1;
		hal_host_gpc[0] = (uint16_t)(1 + roll(8));
	} else if (ALLOWED(CARD_RAGGED)) {
		hal_host_gpcs = 2 + roll(4);
		for (i = 0; i < hal_host_gpcs; i++)
			hal_host_gpc[i] = (uint16_t)(2 + roll(11));
	} else if (ALLOWED(CARD_144)) {
		hal_host_gpcs = 8;
		for (i = 0; i < 8; i++)
			hal_host_gpc[i] = 18;
	} else {
		hal_host_gpcs = roll(4) ? 16 : 64;
		for (i = 0; i < hal_host_gpcs; i++)
			hal_host_gpc[i] = hal_host_gpcs == 64 ? 16 : (uint16_t)(17 + roll(3));
	}
	for (i = 0; i < hal_host_gpcs; i++)
		all += hal_host_gpc[i];
	w.sms = all;
	w.gpcs = hal_host_gpcs;
	w.slots = hal_host_slots = ALLOWED(FEW_SLOTS) ? 2 + roll(5) : SLOTS;
	firmware_load();
	hal_host_boot(all);
	hal_host_gpcs = hal_host_slots = 0;
	((struct tutti_discovery *)hal_host.window)->features |= TUTTI_FEATURE_ENERGY;
	card_begin(all);
	for (g = F_CARD_TINY; g < F_COUNT; g++)
		if (features_has(&w.scenario.allowed, g))
			feature_on(g);
}

static void policy(unsigned which, uint32_t value)
{
	int status = driver_ask(TUTTI_MSG_POLICY, which, value, 0);

	RULE(!status, "channel (SYS-08)", "policy %u = %x: status %d", which, value, status);
}

static void policies(void)
{
	static const uint8_t live[] = {F_BALANCE,    F_ROUND_ROBIN, F_CHOICE,	 F_SEARCH, F_ROTATE,
				       F_WINDOWS,    F_LOTS,	    F_OLDEST,	 F_CAP,	   F_SHAPES_ONE,
				       F_SHAPES_TWO, F_SHAPES_MANY, F_FEW_SLOTS, F_ORDER,  F_ORDER_ONE};
	static const uint8_t choices[] = {TUTTI_CHOICE_REMAINING, TUTTI_CHOICE_POWER, TUTTI_CHOICE_COMBINED,
					  TUTTI_CHOICE_REMAINING | TUTTI_CHOICE_LARGEST,
					  TUTTI_CHOICE_COMBINED | TUTTI_CHOICE_LARGEST};
	uint16_t order[144];
	unsigned i, k;

	policy(TUTTI_POLICY_ISSUE, ALLOWED(ROUND_ROBIN));
	if (ALLOWED(CHOICE)) {
		policy(TUTTI_POLICY_REMAINING_WEIGHT, roll(6) << 24 | roll(1000));
		policy(TUTTI_POLICY_POWER_WEIGHT, roll(7) << 24 | roll(1000));
		policy(TUTTI_POLICY_COMBINE, 1u << 16 | 2);
		policy(TUTTI_POLICY_CHOICE, choices[roll(5)]);
	}
	if (ALLOWED(SEARCH)) {
		policy(TUTTI_POLICY_SEARCH, roll(4));
		policy(TUTTI_POLICY_LEVEL_SEARCH, roll(3));
	}
	if (ALLOWED(ROTATE))
		policy(TUTTI_POLICY_SPLIT, 1);
	w.windows = ALLOWED(WINDOWS);
	if (!w.windows)
		policy(TUTTI_POLICY_WINDOW, 255u << 24);
	else
		for (i = 0; i < 4; i++)
			policy(TUTTI_POLICY_WINDOW, i << 24 | (1000 + roll(20000)));
	w.lots = ALLOWED(LOTS);
	policy(TUTTI_POLICY_SEED, w.lots ? 1 + roll(10000) : 0);
	w.cap = ALLOWED(CAP) ? 1 + roll(4) : 0;
	policy(TUTTI_POLICY_CTA_CAP, w.cap);
	if (ALLOWED(INDEPENDENT))
		policy(TUTTI_POLICY_SPLIT_ROUNDS, 1 + roll(6));
	if (ALLOWED(CGA_GPC) || ALLOWED(CGA_CPC) || ALLOWED(CGA_GPU))
		policy(TUTTI_POLICY_CGA_PATIENCE, roll(2) ? 0 : 1 + roll(20));
	for (i = 0; ALLOWED(ORDER_ONE) && i < 4; i++)
		policy(TUTTI_POLICY_SM_ORDER, roll(w.sms) << 16 | roll(w.sms));
	for (i = 0; ALLOWED(ORDER) && i < w.sms && w.sms <= 144; i++) {
		order[i] = (uint16_t)i;
		k = roll(i + 1);
		order[i] = order[k];
		order[k] = (uint16_t)i;
	}
	for (i = 0; ALLOWED(ORDER) && i < w.sms && w.sms <= 144; i++)
		policy(TUTTI_POLICY_SM_ORDER, i << 16 | order[i]);
	for (i = 0; i < sizeof(live); i++)
		if (features_has(&w.scenario.allowed, live[i]))
			feature_on(live[i]);
}

static void queues(void)
{
	unsigned i, late = roll(QUEUES);

	for (i = 0; i < QUEUES; i++) {
		struct program *program = &w.program[i];
		struct tutti_message m = {.type = TUTTI_MSG_CONTEXT_CREATE,
					  .context = {.asid = ASID + i / 2, .root = 4096}};

		program->id = i;
		program->asid = ASID + i / 2;
		program->priority = roll(2) ? 5 : 1 + roll(10);
		program->progress_word = roll(2);
		program->flags = i == QUEUES - 1 ? 0 : TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB;
		if (program->flags && ALLOWED(OVERLAP) && roll(2))
			program->flags |= TUTTI_QUEUE_OVERLAP;
		if (program->flags && !roll(4))
			program->flags |= TUTTI_QUEUE_TABLE_DIFFS;
		if (i % 2 == 0)
			RULE(!driver_call(&m), "channel (SYS-08)", "context: status %d", m.status);
		if (program->flags) {
			m = (struct tutti_message){.type = TUTTI_MSG_RSB_CREATE,
						   .rsb = {.rsb = (uint16_t)i,
							   .asid = (uint16_t)program->asid,
							   .placement = roll(2),
							   .offset = 4096 + i * 1024u}};
			RULE(!driver_call(&m), "channel (SYS-08)", "reference buffer: status %d", m.status);
		}
		if (!ALLOWED(CREATE) || i != late) /* that one comes later */
			driver_create(program, true);
	}
}

/* ---- operations ---- */

static void steps(unsigned n)
{
	unsigned i, k;

	while (n--) {
		hal_host.time += roll(2000);
		for (i = 0; i < QUEUES; i++)
			for (k = 0; w.program[i].flood && k < 4; k++)
				if (produce(&w.program[i])) {
					publish(&w.program[i], true);
					if (!--w.program[i].flood)
						feature_off(F_FLOOD);
				}
		if (!card_step())
			break;
	}
}

static void burst(struct program *program)
{
	unsigned n = 2 + roll(7);

	while (n--)
		produce(program);
	publish(program, roll(2));
	publish(program, true);
}

/* Items for a queue task, or the end of them. */
static void work(void)
{
	unsigned i = w.works ? roll(w.works) : 0;
	struct tutti_work_queue *q = &works[i];
	struct work_model *m = &work_models[i];

	if (!w.works || q->closed)
		return;
	if (!roll(6)) {
		q->closed = 1;
	} else {
		if (m->given == q->write_index)
			m->since = hal_host.time;
		q->write_index += roll((uint32_t)(64 - (q->write_index - m->given)) + 1);
	}
	for (i = 0; i < QUEUES;
	     i++) /* the doorbell of its queue tells; any queue's reads all its work queues */
		if (w.program[i].alive && !w.program[i].dying)
			card_later(&(struct tutti_event){{TUTTI_EVENT_DOORBELL, 1u << i}});
}

static void cancel(void)
{
	struct job *job = &w.job[w.jobs ? roll(w.jobs) : 0];
	struct program *program = &w.program[job->queue];
	struct entry *e;
	struct job *one;

	if (!w.jobs || job->life >= DONE || job->child || !program->alive || program->dying ||
	    job->life_of_queue != program->life)
		return;
	e = entry_of(job);
	if (!e->published || e->bad ||
	    !driver_request(TUTTI_MSG_TASK_CANCEL, program->id, job->entry, program->life))
		return;
	TRACE("  cancel packet %u of queue %u\n", job->entry, program->id);
	for (one = w.job; one < w.job + w.jobs; one++) {
		if (one->queue != program->id || one->life_of_queue != program->life ||
		    root_of(one)->entry != job->entry)
			continue;
		one->cancelled = true;
		if (!features_has(&one->features, F_CANCEL) && one->life < DONE) {
			features_add(&one->features, F_CANCEL);
			if (one->life == RUNNING)
				feature_on(F_CANCEL);
		}
	}
}

static unsigned enabled_sms(void)
{
	unsigned i, n = 0;

	for (i = 0; i < w.sms; i++)
		n += !(w.off[i / 32] >> (i % 32) & 1);
	return n;
}

static void enable(unsigned first, unsigned n, bool on)
{
	unsigned i;

	if (!driver_request(TUTTI_MSG_SM_ENABLE, first, n, on))
		return;
	for (i = first; i < first + n; i++) {
		if (on) {
			w.off[i / 32] &= ~(1u << (i % 32));
		} else {
			w.off[i / 32] |= 1u << (i % 32);
			/* it counts when the firmware has taken the request */
			w.off_since[i] = hal_host.engines.command_tail + (1u << 30);
		}
	}
	TRACE("  SMs %u..%u %s\n", first, first + n - 1, on ? "on" : "off");
}

static void sms_off(void)
{
	unsigned first = roll(w.sms), n = 1 + roll(3);

	if (first + n > w.sms || enabled_sms() < w.sms / 2 + n)
		return;
	enable(first, n, false);
	feature_on(F_SM_OFF);
}

static void sms_on(void)
{
	enable(0, w.sms, true);
	feature_on(F_SM_ON); /* and are there from now on */
}

static void reset(struct program *program)
{
	if (!program->alive || program->dying || !program->stopped || program->busy_reset)
		return;
	if (driver_request(TUTTI_MSG_QUEUE_RESET, program->id, 0, 0))
		program->busy_reset = true;
}

static void suspend(void)
{
	if (w.suspending) {
		if (driver_request(TUTTI_MSG_RESUME, 0, 0, 0)) {
			w.suspending = w.suspended = false;
			feature_off(F_SUSPEND);
		}
	} else if (driver_request(TUTTI_MSG_SUSPEND, 0, 0, 0)) {
		w.suspending = true;
		feature_on(F_SUSPEND);
	}
}

static void some_policy(void)
{
	switch (roll(3)) {
	case 0:
		driver_request(TUTTI_MSG_POLICY, TUTTI_POLICY_LEVEL_SEARCH, roll(3), 0);
		break;
	case 1:
		driver_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_PATIENCE, 1 + roll(40), 0);
		break;
	default:
		driver_request(TUTTI_MSG_COUNTERS, 0, 0, 0);
		break;
	}
}

/* The queue with the most packets that are not over. */
static struct program *fullest(void)
{
	struct program *program, *best = w.program;

	for (program = w.program; program < w.program + QUEUES; program++)
		if (program->alive &&
		    (!best->alive || program->write - program->oldest > best->write - best->oldest))
			best = program;
	return best;
}

static void op_run(const struct op *op)
{
	struct program *program = &w.program[op->queue];

	seed_random(op->seed);
	switch (op->kind) {
	case OP_PACKET:
		produce(program);
		publish(program, roll(2));
		break;
	case OP_BURST:
		burst(program);
		break;
	case OP_TIME:
		hal_host.time += roll(2) ? roll(50000) : roll(12000000);
		break;
	case OP_WORK:
		work();
		break;
	case OP_CANCEL:
		cancel();
		break;
	case OP_BAD:
		produce_bad(program);
		break;
	case OP_FAULT:
		card_fault();
		break;
	case OP_RESET:
		reset(program);
		break;
	case OP_CREATE:
		for (program = w.program; program->alive && program < w.program + QUEUES - 1; program++)
			;
		if (!program->alive) {
			if (program->flags)
				driver_ask(TUTTI_MSG_RSB_INVALIDATE, program->id, 0xff, 0);
			driver_create(program, true);
			feature_on(F_CREATE); /* and is there from now on */
		}
		break;
	case OP_DESTROY:
		driver_destroy(w.stall ? fullest() : program);
		break;
	case OP_SUSPEND:
		suspend();
		break;
	case OP_SM_OFF:
		sms_off();
		break;
	case OP_SM_ON:
		sms_on();
		break;
	case OP_POLICY:
		some_policy();
		break;
	case OP_STALL:
		if (!w.stall)
			feature_on(F_STALL);
		w.stall = roll(3) ? 2 + roll(30) : 1000 + roll(2500);
		steps(w.stall > 100 ? w.stall / 8 * 7 : 0);
		break;
	case OP_FLOOD:
		if (program->alive && !program->dying) {
			if (!program->flood)
				feature_on(F_FLOOD);
			program->flood += 20 + roll(roll(4) ? 40 : 500);
		}
		break;
	case OP_RING:
		card_later(&(struct tutti_event){{TUTTI_EVENT_DOORBELL, 1u << op->queue}});
		break;
	}
	steps(op->steps);
}

/* ---- the end ---- */

/* Until nothing happens, time passes @beats times in vain, or there is nothing left to do. */
static void run_down(unsigned beats)
{
	unsigned idle = 0, i;
	uint64_t n = 0;
	uint32_t before = 0;

	while (idle < beats) {
		if (card_step()) {
			RULE(++n < 60000, "end (REL-10)", "no end after 60 000 events");
			continue;
		}
		if (rules_all_over() && driver_idle() && card_quiet())
			return;
		idle = w.now - before < 60 ? idle + 1 : 0; /* polls are not progress */
		before = (uint32_t)w.now;
		for (i = 0; i < QUEUES; i++)
			reset(&w.program[i]);
		if (!driver_idle())
			card_event(&(struct tutti_event){{TUTTI_EVENT_MESSAGE}});
		card_timer();
	}
}

/* Who waits for signals that will never come is let go by the host. */
static bool release_signals(void)
{
	bool any = false;
	unsigned i, k;

	for (i = 0; i < QUEUES; i++) {
		struct entry *e = &w.program[i].entry[w.program[i].oldest % ENTRIES];

		if (!w.program[i].alive || w.program[i].oldest >= w.program[i].write ||
		    (e->kind != BARRIER_AND && e->kind != BARRIER_OR))
			continue;
		for (k = 0; k < 5; k++)
			if (e->dependency[k] && !owners[e->dependency[k]].zero) {
				signals[e->dependency[k]].value = 0;
				owners[e->dependency[k]].zero = any = true;
			}
	}
	return any;
}

static void say_what_is_left(void)
{
	unsigned i;

	for (i = 0; i < w.jobs; i++)
		if (w.job[i].life < DONE)
			rule("end (REL-10)", "%s never ends: %u run, slot %d%s; time %lu",
			     job_name(&w.job[i]), w.job[i].running, w.job[i].slot,
			     w.job[i].evicted ? ", evicted" : "", hal_host.time);
	for (i = 0; i < QUEUES; i++)
		if (w.program[i].alive && w.program[i].oldest < w.program[i].write)
			rule("end (REL-10)", "packet %lu of queue %u never ends", w.program[i].oldest, i);
	for (i = 0; i < QUEUES; i++)
		RULE(!w.program[i].alive || !w.program[i].stopped, "end (REL-10)", "queue %u is never reset",
		     i);
}

static void finish(void)
{
	uint64_t done;
	unsigned i;

	seed_random(w.scenario.config);
	w.stall = 0;
	while (w.suspending)
		suspend(), steps(1);
	for (i = 0; i < QUEUES; i++)
		if (w.program[i].alive)
			publish(&w.program[i], true);
	for (i = 0; i < w.works; i++)
		works[i].closed = 1;
	for (i = 0; i < QUEUES; i++) {
		card_later(&(struct tutti_event){{TUTTI_EVENT_DOORBELL, 1u << i}});
		w.program[i].flood = 0;
	}
	run_down(3);
	fair_quiet();
	w.draining = true;
	while (enabled_sms() < w.sms) {
		sms_on();
		steps(10);
	}
	for (i = 0; i < 60 && !rules_all_over(); i++) {
		run_down(i < 4 ? 2 : 8);
		if (!rules_all_over() && !release_signals() && i > 6)
			break;
	}
	if (!rules_all_over())
		say_what_is_left();
	done = hal_host.time;
	/* whoever looks at its work queue now and then has looked */
	for (i = 0; i < 3 || hal_host.time < done + 30000000; i++) {
		run_down(1);
		card_timer();
	}
	run_down(2);
	rules_end();
}

/* Everything is as before the first kernel: queues, buffers and contexts go away, no slot is taken. */
static void tear_down(void)
{
	struct tutti_message m = {.type = TUTTI_MSG_LOAD};
	unsigned i;

	RULE(!driver_call(&m), "channel (SYS-08)", "LOAD: status %d", m.status);
	RULE(m.value == w.slots && !m.arg[0] && m.arg[1] == w.sms, "leak (REL-05)",
	     "%lu slots of %u are free, %lu CTAs run, %lu SMs of %u", m.value, w.slots, m.arg[0], m.arg[1],
	     w.sms);
	for (i = 0; i < QUEUES; i++) {
		if (w.program[i].alive)
			RULE(!driver_ask(TUTTI_MSG_QUEUE_DESTROY, i, 0, 0), "leak (REL-05)",
			     "queue %u is not destroyed", i);
		if (w.program[i].flags)
			RULE(!driver_ask(TUTTI_MSG_RSB_DESTROY, i, 0, 0), "leak (REL-05)",
			     "reference buffer %u is not destroyed", i);
	}
	for (i = 0; i < QUEUES / 2; i++)
		RULE(!driver_ask(TUTTI_MSG_CONTEXT_DESTROY, ASID + i, 0, 0), "leak (REL-05)",
		     "context %u is not destroyed", ASID + i);
}

static void begin(const struct scenario *s)
{
	memory_reset();
	memset(&w.sms, 0, offsetof(struct world, program) - offsetof(struct world, sms));
	memset(&w.jobs, 0, sizeof(w) - offsetof(struct world, jobs));
	for (unsigned i = 0; i < QUEUES; i++)
		memset(&w.program[i], 0, offsetof(struct program, ring));
	w.scenario = *s;
	w.now = 1;
	features_begin();
	driver_reset();
	fair_begin();
	seed_random(s->config);
	w.in_order = !roll(3);
	w.shapes = ALLOWED(SHAPES_ONE) ? 1 : ALLOWED(SHAPES_TWO) ? 2 : 9;
	boot();
	produce_reset();
	produce_kernels();
	policies();
	queues();
}

bool scenario_run(const struct scenario *s)
{
	static bool handlers;
	unsigned i;

	if (!handlers) {
		signal(SIGSEGV, crashed);
		signal(SIGFPE, crashed);
		signal(SIGBUS, crashed);
		signal(SIGABRT, crashed);
		handlers = true;
	}
	failure.rule[0] = 0;
	if (sigsetjmp(broken, 1)) {
		features_end();
		return false;
	}
	begin(s);
	for (i = 0; i < s->ops; i++) {
		TRACE("%2u: %s\n", i, op_name[s->op[i].kind]);
		op_run(&s->op[i]);
	}
	TRACE("end\n");
	finish();
	features_end();
	tear_down();
	return true;
}
