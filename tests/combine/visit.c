// SPDX-License-Identifier: MIT
/* Visits of the firmware: what each must keep to, and the most expensive ones. */
#include "backend/backend.h"
#include "combine.h"

/* What visits cost on cards of more SMs, or of more GPCs with four SMs or fewer, is not held to anything. */
#define SMALL_SMS  144u
#define SMALL_GPCS (SMALL_SMS / 4)

struct visits visits;

static unsigned number;	       /* of the visit in its scenario */
static struct visit explained; /* the functions of this one are to be printed */

void firmware_boot(unsigned sms)
{
	number = 0;
	backend_boot(sms);
}

/* Keep the most expensive ones, of each seed one. */
static void note(struct visit visit)
{
	struct visit *at, *end = visits.worst + VISITS_WORST;
	uint64_t seed = visit.seed;

	for (at = visits.worst; at < end; at++) {
		struct visit lower = *at;
		bool same = lower.seed == seed;

		if (lower.cost < visit.cost) {
			*at = visit;
			visit = lower;
		}
		if (same)
			break;
	}
}

static void check_cost(uint64_t cost, const struct tutti_event *event)
{
	unsigned type = event->word[0] & 0xff;

	visits.over += cost > backend.aim;
	note((struct visit){cost, w.scenario.seed, number, type});
	RULE(cost <= backend.limit, "visit (REL-11)", "%lu %s in a visit for an event of type %u", cost, backend.unit, type);
}

void firmware_visit(const struct tutti_event *event)
{
	const struct tutti_engines *e = &hal_host.engines;
	uint64_t cost;

	visits.n++;
	number++;
	if (explained.number == number && explained.seed == w.scenario.seed)
		backend_explain(stdout);
	cost = backend_event(event);
	if (w.sms <= SMALL_SMS && w.gpcs <= SMALL_GPCS)
		check_cost(cost, event);
	if (e->command_tail - e->command_head > visits.ring)
		visits.ring = e->command_tail - e->command_head;
	RULE(!hal_host.halted, "crash", "the firmware has given up");
	RULE(e->command_tail - e->command_head <= e->command_words, "ring (REL-11)",
	     "%u words are in the command ring of %u after an event of type %u",
	     e->command_tail - e->command_head, e->command_words, event->word[0] & 0xff);
}

void visits_report(const struct features *only)
{
	struct visits seen = visits;
	const struct visit *v;
	struct scenario s;

	printf("# %lu visits, on cards of up to %u SMs in %u GPCs %lu of more than %lu %s\n", seen.n, SMALL_SMS, SMALL_GPCS,
	       seen.over, backend.aim, backend.unit);
	for (v = seen.worst; v < seen.worst + VISITS_WORST && v->cost; v++) {
		printf("# %8lu %s: seed %lu, visit %u, event of type %u\n", v->cost, backend.unit, v->seed, v->number,
		       v->type);
		explained = *v;
		scenario_make(&s, v->seed, only);
		if (backend_explain(NULL))
			scenario_run(&s);
	}
	explained.number = 0;
	visits = seen;
}
