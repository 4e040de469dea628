// SPDX-License-Identifier: MIT
#include "place/cta_shape.h"

#include "core/state.h"
#include "core/visit.h"
#include "place/gpc_slots.h"
#include "place/mixed_shapes.h"
#include "place/shape_line.h"
#include "place/sm_match.h"
#include "place/sm_score.h"

struct shape_state shapes HOT_DATA_LONG;
struct shape *shape_last HOT_DATA;

static uint32_t fit(uint32_t have, uint32_t need)
{
	return need ? have / need : ~0u;
}

/* Waves that fit a PEU when all of them need the same registers. */
static uint32_t peu_waves(uint32_t registers)
{
	return min32(fw.peu_waves,
		     min32(fit(fw.scalar_blocks, registers & 0xffff), fit(fw.vector_blocks, registers >> 16)));
}

static inline __attribute__((always_inline)) uint32_t capacity_of(uint32_t registers, uint32_t shared, uint32_t waves, uint32_t shared_blocks)
{
	uint32_t n = min32(shapes.cap, fw.peus * peu_waves(registers) / waves);

	n = min32(n, fit(shared_blocks, shared & 0xffff));
	return min32(n, fit(fw.barriers, shared >> 16));
}

uint32_t shape_capacity(uint32_t registers, uint32_t shared, uint32_t waves)
{
	return capacity_of(registers, shared, waves, shapes.shared_blocks);
}

COLD uint32_t shape_capacity_with(uint32_t registers, uint32_t shared, uint32_t waves, uint32_t shared_blocks)
{
	return capacity_of(registers, shared, waves, shared_blocks);
}

static uint32_t cap_limit(uint32_t cap)
{
	return min32(cap ? cap : ~0u, min32(fw.cta_slots, LAKE_LEVELS));
}

void shape_init(void)
{
	unsigned i;

	shapes.shapes = place_state.residents = shapes.clock = shapes.sm_mode = 0;
	shape_last = &shapes.shape[0];
	shape_last->match = 0; /* matches no key, since every CTA has waves */
	shape_last->id = SHAPE_NO_ID;
	shapes.ids = 0;
	place_state.detours &= ~DETOUR_LAKES;
	shapes.grouped_ctas = shapes.changes = 0;
	shapes.cap = shapes.next_cap = cap_limit(0);
	shapes.shared_blocks = fw.shared_blocks;
	for (i = 0; i < LAKE_WORDS; i++)
		shapes.limit[i] = ~0u;
	for (i = 0; i < LAKE_WORDS; i++)
		shapes.enabled[i] = shapes.included[i] = shapes.tainted[i] = 0;
	for (i = 0; i < fw.sms; i++)
		shapes.enabled[i / 32] = shapes.included[i / 32] |= 1u << (i % 32);
	shape_line_init();
	mixed_init();
}

static void shape_fill(struct shape *shape)
{
	if (domains.shape == shape)
		domain_forget();
	shape->capacity = shape_capacity(shape->registers, shape->shared, shape->waves);
	lake_init(&shape->lake, fw.words, shapes.included, shape->capacity);
}

/* The entry for a new shape: one never used, else of those without tasks and CTAs the one not used for longest. */
static COLD struct shape *replaceable(void)
{
	struct shape *s, *oldest = NULL;

	if (shapes.shapes < FW_SHAPES)
		return &shapes.shape[shapes.shapes];
	for (s = shapes.shape; s < shapes.shape + shapes.shapes; s++)
		if (!s->tasks && !s->residents && (!oldest || (int32_t)(s->used - oldest->used) < 0))
			oldest = s;
	return oldest;
}

COLD uint32_t shape_new_id(void)
{
	if (shapes.ids != SHAPE_NO_ID)
		shapes.ids++;
	return shapes.ids;
}

bool shape_left(void)
{
	return replaceable();
}

static COLD struct shape *shape_create(uint32_t registers, uint32_t shared, uint32_t waves)
{
	struct shape *oldest;

	if (shape_line_decides(registers, shared, waves, &oldest))
		return oldest ? (shape_last = oldest) : NULL;
	oldest = replaceable();
	if (!oldest)
		return NULL;
	if (oldest == &shapes.shape[shapes.shapes])
		shapes.shapes++;
	oldest->registers = registers;
	oldest->shared = shared;
	oldest->waves = oldest->match = waves;
	oldest->tasks = oldest->residents = 0;
	oldest->used = ++shapes.clock;
	oldest->id = shape_new_id();
	shape_fill(oldest);
	mixed_replaced(oldest);
	shape_line_replaced(oldest);
	return shape_last = oldest;
}

struct shape *shape_find(uint32_t registers, uint32_t shared, uint32_t waves)
{
	struct shape *s = shapes.shape, *end = s + shapes.shapes;

	for (; s != end; s++)
		if (s->registers == registers && s->shared == shared && s->match == waves) {
			s->used = ++shapes.clock;
			return shape_last = s;
		}
	return shape_create(registers, shared, waves);
}

/* ---- which SMs get CTAs, and how many ---- */

COLD void shape_hold(const uint32_t *mask)
{
	domain_settle();
	state_detour(DETOUR_HOLDING, mask);
	if (mask)
		words_copy(shapes.held, mask, LAKE_WORDS);
	domains.dirty = true;
}

COLD void shape_hold_lift(bool lift)
{
	domain_settle();
	state_detour(DETOUR_HOLDING, !lift);
	domains.dirty = true;
}

COLD void shape_empty(void)
{
	struct shape *s;
	unsigned i;

	state_detour(DETOUR_TAINTED, shape_is_exact());
	for (i = 0; i < fw.words; i++)
		shapes.tainted[i] = 0;
	if (!(place_state.detours & DETOUR_SHAPES))
		return;
	state_detour(DETOUR_SHAPES, false);
	shapes.changes++;
	shapes.cap = shapes.next_cap;
	for (i = 0; i < fw.words; i++)
		shapes.included[i] = shapes.enabled[i] & shapes.limit[i];
	for (s = shapes.shape; s < shapes.shape + shapes.shapes; s++)
		shape_fill(s);
}

COLD void shape_enable(const uint32_t *sms, bool enable)
{
	struct shape *s;
	uint32_t w, add;

	domain_settle();
	shapes.changes++;
	state_detour(DETOUR_SHAPES, true);
	for (w = 0; w < fw.words; w++) {
		shapes.enabled[w] = enable ? shapes.enabled[w] | sms[w] : shapes.enabled[w] & ~sms[w];
		add = enable && place_state.residents ? sms[w] & shapes.limit[w] & ~shapes.included[w] : 0;
		shapes.included[w] |= add;
		for (s = shapes.shape; add && s < shapes.shape + shapes.shapes; s++)
			lake_add(&s->lake, w, add, s->capacity);
	}
}

COLD void shape_limit(const uint32_t *mask, uint32_t blocks)
{
	words_copy(shapes.limit, mask, fw.words);
	shapes.shared_blocks = blocks;
	state_detour(DETOUR_SHAPES, true);
	shape_empty();
}

#define MASK_STEPS 4u /* visit.h: for a word of a row */

/*
 * @from may be the lake that is returned: each row is read before it is written. Rows with equal counts are equal, as
 * most of them are.
 */
COLD struct lake *shape_masked(const struct lake *from, const uint32_t *mask)
{
	struct lake *lake = &shapes.mixed;
	unsigned k, w, levels = (unsigned)(from->top - from->row);
	uint32_t count, above = ~0u;

	visit_goes_on(MASK_STEPS * levels * from->words);
	lake->words = from->words;
	lake->top = lake->row;
	lake->row[0] = from->row[0];
	for (k = 1; k <= levels; k++, above = count) {
		count = from->row[k].count;
		lake->row[k].count = 0;
		for (w = 0; w < from->words && count != above; w++) {
			lake->row[k].mask[w] = from->row[k].mask[w] & mask[w];
			lake->row[k].count += popcount32(lake->row[k].mask[w]);
		}
		if (count == above)
			words_copy(&lake->row[k], &lake->row[k - 1], 1 + from->words);
		if (lake->row[k].count)
			lake->top = &lake->row[k];
	}
	return lake;
}

COLD bool shape_is_exact(void)
{
	return match_exact() || place_state.choice;
}

COLD void shape_exact(bool exact)
{
	domain_settle();
	state_detour(DETOUR_TAINTED, true);
	if (!exact && !place_state.residents)
		shape_empty();
}

COLD void shape_cap(uint32_t cap)
{
	domain_settle();
	shapes.next_cap = cap_limit(cap);
	shapes.changes++;
	state_detour(DETOUR_SHAPES, true);
	if (!place_state.residents)
		shape_empty();
}
