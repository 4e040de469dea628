// SPDX-License-Identifier: MIT
/* A failing scenario, with everything left out that the failure does not need. */
#include "combine.h"

static unsigned budget;

static bool fails(const struct scenario *s, const char *name)
{
	if (!budget)
		return false;
	budget--;
	return !scenario_run(s) && !strcmp(failure.rule, name);
}

static bool without_ops(struct scenario *s, const char *name, unsigned size)
{
	bool any = false;
	unsigned at;

	for (at = 0; at + size <= s->ops;) {
		struct scenario less = *s;

		memmove(&less.op[at], &less.op[at + size], (s->ops - at - size) * sizeof(s->op[0]));
		less.ops -= size;
		if (fails(&less, name)) {
			*s = less;
			any = true;
		} else {
			at += size;
		}
	}
	return any;
}

static void fewer_steps(struct scenario *s, const char *name)
{
	unsigned i;

	for (i = 0; i < s->ops; i++)
		while (s->op[i].steps) {
			struct scenario less = *s;

			less.op[i].steps /= 2;
			if (!fails(&less, name))
				break;
			*s = less;
		}
}

static void fewer_features(struct scenario *s, const char *name)
{
	unsigned f;

	for (f = 0; f < F_COUNT; f++) {
		struct scenario less = *s;

		if (!features_has(&s->allowed, f) || (f >= F_SHAPES_ONE && f <= F_SHAPES_MANY) ||
		    (f >= F_CARD_TINY && f <= F_CARD_LARGE) || f == F_CARD_GPCS ||
		    f == F_BALANCE || f == F_OLDEST)
			continue;
		features_remove(&less.allowed, f);
		if (f == F_LOTS)
			features_add(&less.allowed, F_OLDEST);
		if (fails(&less, name))
			*s = less;
	}
}

void scenario_shrink(struct scenario *s, const char *rule_name, unsigned runs)
{
	char name[sizeof(failure.rule)];
	unsigned size;
	bool again = true;

	snprintf(name, sizeof(name), "%s", rule_name);
	budget = runs;
	while (again && budget) {
		again = false;
		for (size = s->ops / 2; size; size /= 2)
			again |= without_ops(s, name, size);
		fewer_features(s, name);
	}
	fewer_steps(s, name);
	scenario_run(s);
}
