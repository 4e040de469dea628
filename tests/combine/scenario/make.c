// SPDX-License-Identifier: MIT
/* Makes scenarios from seeds: features, the card, operations. */
#include "scenario/scenario.h"

/* Which feature an operation needs, and how often it is drawn in comparison with others. */
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

static const char *const op_names[OP_KINDS] = {
    "packet",	  "burst",  "step",   "time",	"work",	   "cancel",
    "bad packet", "fault",  "reset",  "create", "destroy", "suspend or resume",
    "SMs off",	  "SMs on", "policy", "stall",	"flood",   "doorbell", "crowd"};

const char *op_name(unsigned kind)
{
	return op_names[kind];
}

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

static unsigned features_of(uint64_t seed)
{
	if (seed < SEEDS_OF_ALL)
		return F_SEEDS_OF_ALL;
	return seed < SEEDS_OF_MORE ? F_SEEDS_OF_MORE : seed < SEEDS_OF_DRIVER ? F_SEEDS_OF_DRIVER : F_COUNT;
}

static bool drawn(const struct scenario *s, unsigned f)
{
	if (f == F_CARD_GPCS)
		return !roll(12);
	if (f >= F_NOTIFY)
		return !roll(3);
	return f < F_WHOLE_SM ? roll(2) : !roll(12) && !features_has(&s->allowed, F_SHAPES_ONE);
}

/* The features that are drawn last. One operation becomes that which makes large CTAs compete with small ones. */
static void draw_last(struct scenario *s, const struct features *all)
{
	unsigned f;

	for (f = F_DRAWN_LAST; f < features_of(s->seed); f++)
		if (features_has(all, f) && drawn(s, f))
			features_add(&s->allowed, f);
	for (f = F_CARD_TINY; f <= F_CARD_LARGE && features_has(&s->allowed, F_CARD_GPCS); f++)
		features_remove(&s->allowed, f);
	if (features_has(&s->allowed, F_WHOLE_SM) || features_has(&s->allowed, F_WHOLE_DOMAIN))
		s->op[roll(s->ops)].kind = OP_CROWD;
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
	draw_last(s, &all);
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
		fprintf(file, "# %2u: %s, queue %u, seed %08x, then %u steps\n", i, op_name(s->op[i].kind),
			s->op[i].queue, s->op[i].seed, s->op[i].steps);
}
