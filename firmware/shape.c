// SPDX-License-Identifier: MIT
#include "shape.h"

#include "domain.h"
#include "choice.h"
#include "match.h"

struct shape_state shapes HOT_DATA_LONG;

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t fit(uint32_t have, uint32_t need)
{
	return need ? have / need : ~0u;
}

/* Waves of one shape a PEU takes when all its waves need the same. */
static uint32_t peu_waves(uint32_t registers)
{
	return min32(fw.peu_waves,
		     min32(fit(fw.scalar_blocks, registers & 0xffff), fit(fw.vector_blocks, registers >> 16)));
}

uint32_t shape_capacity(uint32_t registers, uint32_t shared, uint32_t waves)
{
	uint32_t n = min32(shapes.cap, fw.peus * peu_waves(registers) / waves);

	n = min32(n, fit(shapes.shared_blocks, shared & 0xffff));
	return min32(n, fit(fw.barriers, shared >> 16));
}

static uint32_t cap_limit(uint32_t cap)
{
	return min32(cap ? cap : ~0u, min32(fw.cta_slots, LAKE_LEVELS));
}

void shape_init(void)
{
	unsigned i;

	shapes.shapes = shapes.residents = shapes.clock = shapes.sm_mode = 0;
	shapes.last = &shapes.shape[0];
	shapes.last->waves = 0; /* no shape has */
	shapes.last->id = SHAPE_NO_ID;
	shapes.ids = 0;
	shapes.special = 0;
	shapes.grouped_ctas = shapes.changes = 0;
	shapes.cap = shapes.next_cap = cap_limit(0);
	shapes.shared_blocks = fw.shared_blocks;
	for (i = 0; i < LAKE_WORDS; i++)
		shapes.limit[i] = ~0u;
	for (i = 0; i < LAKE_WORDS; i++)
		shapes.enabled[i] = shapes.included[i] = shapes.tainted[i] = 0;
	for (i = 0; i < fw.sms; i++)
		shapes.enabled[i / 32] = shapes.included[i / 32] |= 1u << (i % 32);
}

static void shape_fill(struct shape *shape)
{
	if (domains.shape == shape)
		domain_forget();
	shape->capacity = shape_capacity(shape->registers, shape->shared, shape->waves);
	lake_init(&shape->lake, fw.words, shapes.included, shape->capacity);
}

static COLD struct shape *shape_create(uint32_t registers, uint32_t shared, uint32_t waves)
{
	struct shape *s, *oldest = NULL;

	for (s = shapes.shape; s < shapes.shape + shapes.shapes; s++)
		if (!s->tasks && !s->residents && (!oldest || (int32_t)(s->used - oldest->used) < 0))
			oldest = s;
	if (shapes.shapes < FW_SHAPES)
		oldest = &shapes.shape[shapes.shapes++];
	if (!oldest)
		return NULL;
	oldest->registers = registers;
	oldest->shared = shared;
	oldest->waves = waves;
	oldest->tasks = oldest->residents = 0;
	oldest->used = ++shapes.clock;
	if (shapes.ids != SHAPE_NO_ID)
		shapes.ids++;
	oldest->id = shapes.ids;
	shape_fill(oldest);
	return shapes.last = oldest;
}

struct shape *shape_find(uint32_t registers, uint32_t shared, uint32_t waves)
{
	struct shape *s = shapes.shape, *end = s + shapes.shapes;

	for (; s != end; s++)
		if (s->registers == registers && s->shared == shared && s->waves == waves) {
			s->used = ++shapes.clock;
			return shapes.last = s;
		}
	return shape_create(registers, shared, waves);
}

/* ---- several shapes at once ---- */

/* What one kind of SM holds: CTAs of each shape. */
struct holding {
	uint32_t ctas;
	uint32_t waves;
	uint32_t barriers;
	uint32_t shared;      /* blocks */
	uint32_t runs;        /* CTAs with shared memory */
	bool tainted;         /* SMs of both kinds are not alike */
	bool same_shared;     /* all of them need as much as we do, and always have */
	bool same_scalar, same_vector;
	bool asked;           /* the SM itself was: no other is like it */
	uint32_t scalar, vector; /* largest needs of a wave */
	uint8_t count[FW_SHAPES];
};

/* What there is room for, by counting: @most if free blocks lie well, @least however they lie. */
struct room {
	uint32_t least, most;
};

static void hold(struct holding *h, const struct shape *held, uint32_t n, const struct shape *want)
{
	uint32_t scalar = held->registers & 0xffff, vector = held->registers >> 16, shared = held->shared & 0xffff;

	if (!n)
		return;
	h->ctas += n;
	h->waves += n * held->waves;
	h->barriers += n * (held->shared >> 16);
	h->shared += n * shared;
	if (shared)
		h->runs += n;
	if (shared && shared != (want->shared & 0xffff))
		h->same_shared = false;
	if (scalar != (want->registers & 0xffff))
		h->same_scalar = false;
	if (vector != want->registers >> 16)
		h->same_vector = false;
	if (scalar > h->scalar)
		h->scalar = scalar;
	if (vector > h->vector)
		h->vector = vector;
}

/*
 * Waves a PEU takes in all, whoever's: registers are runs of blocks, so every free
 * run may waste need - 1 of them. With equal needs the count is exact; else all wave
 * slots when registers cannot run out, else at least none.
 */
static void peu_limit(struct room *limit, uint32_t blocks, uint32_t need, uint32_t others, bool same)
{
	uint32_t last = fw.peu_waves - 1;

	if (!need)
		return;
	if (same) {
		limit->most = min32(limit->most, blocks / need);
		limit->least = min32(limit->least, blocks / need);
		return;
	}
	if (others < need)
		others = need;
	if (last * others + fw.peu_waves * (need - 1) + need > blocks)
		limit->least = 0;
}

static uint32_t shared_room(const struct holding *h, uint32_t need, uint32_t waste)
{
	uint32_t free = shapes.shared_blocks - h->shared;

	if (!need)
		return ~0u;
	return free > waste ? (free - waste) / need : 0;
}

static uint32_t waves_room(const struct holding *h, uint32_t limit, uint32_t waves)
{
	return fw.peus * limit > h->waves ? (fw.peus * limit - h->waves) / waves : 0;
}

static struct room room(const struct holding *h, const struct shape *want)
{
	struct room n, limit = { fw.peu_waves, fw.peu_waves };
	uint32_t barriers = want->shared >> 16, shared = want->shared & 0xffff, cap = min32(shapes.cap, shapes.next_cap);

	if (h->ctas >= cap)
		return (struct room){ 0, 0 };
	n.most = cap - h->ctas;
	if (barriers)
		n.most = min32(n.most, (fw.barriers - h->barriers) / barriers);
	n.least = n.most;
	peu_limit(&limit, fw.scalar_blocks, want->registers & 0xffff, h->scalar, h->same_scalar);
	peu_limit(&limit, fw.vector_blocks, want->registers >> 16, h->vector, h->same_vector);
	n.most = min32(min32(n.most, waves_room(h, limit.most, want->waves)), shared_room(h, shared, 0));
	n.least = min32(min32(n.least, waves_room(h, limit.least, want->waves)),
			shared_room(h, shared, h->same_shared ? 0 : (h->runs + 1) * (shared - 1)));
	return n;
}

/*
 * Free slots for @want on the SM at @position, and what such an SM holds. Counting
 * says it if the blocks cannot matter; else the SM is asked, whose answer may know of
 * completions we have not heard of yet.
 */
static uint32_t room_at(const struct shape *want, unsigned position, struct holding *h)
{
	unsigned i;
	bool clean = !(shapes.tainted[position / 32] >> (position % 32) & 1);
	struct room n;

	*h = (struct holding){
		.tainted = !clean, .same_shared = clean, .same_scalar = clean, .same_vector = clean,
	};
	for (i = 0; i < shapes.shapes; i++) {
		const struct shape *s = &shapes.shape[i];

		if (!s->residents)
			continue;
		h->count[i] = (uint8_t)(s->capacity - lake_level(&s->lake, position));
		hold(h, s, h->count[i], want);
	}
	if (!h->ctas)
		h->same_shared = h->same_scalar = h->same_vector = true;
	n = room(h, want);
	n.most = min32(n.most, lake_level(&want->lake, position));
	if (n.least >= n.most && !match_exact())
		return n.most;
	if (!n.most)
		return 0;
	if (match_ask()) {
		h->asked = true;
		return min32(n.most, match_room(want->registers, want->shared, want->waves, position));
	}
	match_wait();
	return match.rotate ? 0 : min32(n.least, n.most);
}

/* SMs of word @w that hold the same as @h. */
static uint32_t alike(const struct holding *h, unsigned w, uint32_t mask)
{
	unsigned i;

	mask &= h->tainted ? shapes.tainted[w] : ~shapes.tainted[w];
	for (i = 0; i < shapes.shapes && mask; i++)
		if (shapes.shape[i].residents)
			mask &= lake_exact(&shapes.shape[i].lake, shapes.shape[i].capacity - h->count[i], w);
	return mask;
}

COLD struct lake *shape_mixed(struct shape *shape)
{
	struct lake *lake = &shapes.mixed;
	uint32_t todo[LAKE_WORDS], w, v, same, levels;
	struct holding h;

	domain_settle();
	lake_init(lake, fw.words, shapes.enabled, 0);
	lake->top = lake->row;
	for (w = 0; w < fw.words; w++)
		todo[w] = shapes.enabled[w] & shapes.included[w] & (shapes.holding ? ~shapes.held[w] : ~0u);
	for (w = 0; w < fw.words; w++)
		while (todo[w]) {
			levels = room_at(shape, 32 * w + lowest_bit(todo[w]), &h);
			if (h.asked) {
				same = todo[w] & -todo[w];
				todo[w] ^= same;
				if (levels)
					lake_add(lake, w, same, levels);
				continue;
			}
			for (v = w; v < fw.words; v++) {
				same = alike(&h, v, todo[v]);
				todo[v] ^= same;
				if (same && levels)
					lake_add(lake, v, same, levels);
			}
		}
	return lake;
}

/* SMs of word @w on which CTAs of @shape, or of any other shape, are resident. */
static uint32_t holders(const struct shape *shape, unsigned w, bool others)
{
	const struct shape *s;
	uint32_t mask = 0;

	for (s = shapes.shape; s < shapes.shape + shapes.shapes; s++)
		if (s->residents && (s != shape) == others)
			mask |= shapes.included[w] & ~lake_exact(&s->lake, s->capacity, w);
	return mask;
}

void shape_placed(struct shape *shape, const uint32_t *segments, const uint32_t *end)
{
	while (segments < end) {
		uint32_t repeat = *segments & 0xffff, w = *segments >> 16 & 0xff, n = *segments >> 24, i, others;

		for (segments++; n; n--, w++, segments++) {
			others = holders(shape, w, true);
			shapes.tainted[w] &= others | holders(shape, w, false);
			shapes.tainted[w] |= others & *segments;
			if (shapes.tainted[w])
				shapes.any_tainted = true;
			for (i = 0; i < repeat; i++)
				lake_lower(&shape->lake, w, *segments);
		}
	}
}

void shape_hold(const uint32_t *mask)
{
	domain_settle();
	shapes.holding = mask;
	if (mask)
		words_copy(shapes.held, mask, LAKE_WORDS);
	shapes.changes++;
}

void shape_hold_lift(bool lift)
{
	domain_settle();
	shapes.holding = !lift;
	shapes.changes++;
}

COLD void shape_empty(void)
{
	struct shape *s;
	unsigned i;

	shapes.any_tainted = shape_is_exact();
	for (i = 0; i < fw.words; i++)
		shapes.tainted[i] = 0;
	if (!shapes.pending)
		return;
	shapes.pending = false;
	shapes.changes++;
	shapes.cap = shapes.next_cap;
	for (i = 0; i < fw.words; i++)
		shapes.included[i] = shapes.enabled[i] & shapes.limit[i];
	for (s = shapes.shape; s < shapes.shape + shapes.shapes; s++)
		shape_fill(s);
}

void shape_enable(unsigned position, bool enable)
{
	uint32_t bit = 1u << (position % 32), *word = &shapes.enabled[position / 32];

	domain_settle();
	*word = enable ? *word | bit : *word & ~bit;
	shapes.changes++;
	shapes.pending = true;
	if (!shapes.residents)
		shape_empty();
	else if (enable && !(shapes.included[position / 32] & bit) && shapes.limit[position / 32] & bit) {
		struct shape *s;

		shapes.included[position / 32] |= bit;
		for (s = shapes.shape; s < shapes.shape + shapes.shapes; s++)
			lake_add(&s->lake, position / 32, bit, s->capacity);
	}
}

COLD void shape_limit(const uint32_t *mask, uint32_t blocks)
{
	words_copy(shapes.limit, mask, fw.words);
	shapes.shared_blocks = blocks;
	shapes.pending = true;
	shape_empty();
}

/* Rows may be cut in place: each is read before it is written. */
COLD struct lake *shape_masked(const struct lake *from, const uint32_t *mask)
{
	struct lake *lake = &shapes.mixed;
	unsigned k, w, levels = (unsigned)(from->top - from->row);

	lake->words = from->words;
	lake->top = lake->row;
	lake->row[0].count = ~0u;
	for (w = 0; w < LAKE_WORDS; w++)
		lake->row[0].mask[w] = ~0u;
	for (k = 1; k <= levels; k++) {
		lake->row[k].count = 0;
		for (w = 0; w < from->words; w++) {
			lake->row[k].mask[w] = from->row[k].mask[w] & mask[w];
			lake->row[k].count += popcount32(lake->row[k].mask[w]);
		}
		if (lake->row[k].count)
			lake->top = &lake->row[k];
	}
	return lake;
}

bool shape_is_exact(void)
{
	return match_exact() || choice.policy;
}

void shape_exact(bool exact)
{
	domain_settle();
	shapes.any_tainted = true;
	if (!exact && !shapes.residents)
		shape_empty();
}

void shape_cap(uint32_t cap)
{
	domain_settle();
	shapes.next_cap = cap_limit(cap);
	shapes.changes++;
	shapes.pending = true;
	if (!shapes.residents)
		shape_empty();
}
