// SPDX-License-Identifier: MIT
#include "groups/cga.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/task_record.h"
#include "core/task_state.h"
#include "core/visit.h"
#include "groups/nested_search.h"
#include "groups/occupancy.h"
#include "place/sm_match.h"

#define DOMAIN_STEPS 128u /* visit.h: to find out whether an empty domain would have room for a CGA */

/* Policies, and tasks that cannot go on. */
static struct {
	uint32_t patience;   /* TUTTI_POLICY_CGA_PATIENCE */
	uint32_t hopeless;   /* slots of tasks that can never be placed any more */
} cga_state;

uint32_t cga_default_mode; /* TUTTI_POLICY_CGA_MODE */
struct cga cga_grids[FW_TASKS];

static struct cga *cga_of(const struct task *task)
{
	return &cga_grids[task->slot];
}

/* Grids that were found to fit an idle card, and with what capacity: a direct-mapped cache. */
struct fitting {
	uint32_t nesting[CGA_NESTING];
	uint32_t limits; /* capacity, and the mode in the high half; 0: none */
	uint32_t changes;
};

#define FITTING 8u

static struct fitting fitting[FITTING];

void cga_init(void)
{
	cga_default_mode = cga_state.hopeless = 0;
	for (unsigned i = 0; i < FW_TASKS; i++)
		cga_grids[i].one[1] = 0;
	cga_set_patience(0);
	for (unsigned i = 0; i < FITTING; i++)
		fitting[i].limits = 0;
	domain_init();
	cga_ids_init();
	search_init();
}

/* ---- policies ---- */

uint32_t cga_mode(void)
{
	return cga_default_mode;
}

void cga_set_mode(uint32_t mode)
{
	cga_default_mode = mode;
}

uint32_t cga_patience(void)
{
	return cga_state.patience;
}

void cga_set_patience(uint32_t sessions)
{
	cga_state.patience = sessions ? sessions : CGA_PATIENCE;
}

/* ---- checks ---- */

/* The identity CGA is of the outermost level that lies in one GPC. */
static void find_identity(struct cga *cga)
{
	unsigned i;

	cga->identity = SEARCH_NO_IDENTITY;
	cga->identities = 1;
	for (i = 0; i < cga->levels; i++)
		if (cga->kind[i] <= TUTTI_CGA_GPC) {
			cga->identity = (uint8_t)i;
			cga->identities = 1;
		} else if (i) {
			cga->identities *= cga->parts[i];
		}
	if (cga->identity == SEARCH_NO_IDENTITY)
		cga->identities = 0;
}

/*
 * In the worst case every row, or every CTA, is a segment of its own. See trial_launch.c for what CGAs
 * without identity need.
 */
static void find_words(struct cga *cga)
{
	uint32_t rows = cga->ask.multicast ? 1 : domains.levels, launches = 1, each, i, segment;

	if (rows > cga->ask.ctas)
		rows = cga->ask.ctas;
	for (i = 1; i < cga->levels; i++)
		launches *= cga->parts[i];
	each = 3 + 2 * (rows + 1);
	if (cga->kind[0] > TUTTI_CGA_GPC) {
		segment = 3 + 2 * (domains.scattered ? fw.words : 2);
		each = domains.gpcs * (each + (rows + 1) * segment);
		if (each > (cga->ask.ctas + domains.gpcs) * (segment + 2))
			each = (cga->ask.ctas + domains.gpcs) * (segment + 2);
	}
	cga->words = launches * each;
	cga->most = SEARCH_WORDS / (cga->words < SEARCH_CGA_WORDS ? SEARCH_CGA_WORDS : cga->words);
	if (!cga->most)
		cga->most = 1;
	cga->used_most = COMMAND_WORDS - SEARCH_MARGIN - min32(cga->most * cga->words, COMMAND_WORDS - SEARCH_MARGIN);
}

/* Describe the levels in @cga. Return: false if they make no sense or are too large for any card */
static bool make(const struct tutti_cga_shape *level, unsigned mode, bool lmem, struct cga *cga)
{
	unsigned i;
	uint32_t parts;

	*cga = (struct cga){ .ctas = 1, .lmem = lmem };
	for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind; i++) {
		if (level[i].kind > TUTTI_CGA_GPU || (i && level[i].kind <= level[i - 1].kind))
			return false;
		parts = (uint32_t)level[i].x * level[i].y;
		if (!parts || !level[i].z || parts > TUTTI_MAX_SMS * LAKE_LEVELS)
			return false;
		parts *= level[i].z;
		if (parts > TUTTI_MAX_SMS * LAKE_LEVELS || cga->ctas * parts > TUTTI_MAX_SMS * LAKE_LEVELS)
			return false;
		cga->ctas *= parts;
		cga->kind[i] = (uint8_t)level[i].kind;
		cga->parts[i] = (uint16_t)parts;
	}
	for (cga->levels = (uint8_t)i; i < TUTTI_CGA_LEVELS; i++)
		if (level[i].kind)
			return false;
	cga->ask = (struct query_ask){ .ctas = cga->parts[0], .kind = cga->kind[0],
				       .multicast = mode == TUTTI_CGA_MULTICAST };
	find_identity(cga);
	cga->ask.identity = !cga->identity;
	cga->usual = cga->ask.kind == TUTTI_CGA_GPC && cga->ask.identity && !lmem;
	cga->quick = cga->usual && cga->levels == 1;
	cga->log = cga->ctas & (cga->ctas - 1) ? CGA_UNEVEN : (uint8_t)lowest_bit(cga->ctas);
	find_words(cga);
	return cga->levels;
}

bool cga_divides(const struct tutti_cga_shape *level, const uint32_t *groups)
{
	uint32_t x = 1, y = 1, z = 1, i;

	for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind; i++) {
		x *= level[i].x;
		y *= level[i].y;
		z *= level[i].z;
	}
	return !(groups[0] % x || groups[1] % y || groups[2] % z);
}

static bool known(const struct fitting *f, const struct cga *cga, uint32_t limits)
{
	unsigned i;

	for (i = 0; i < CGA_NESTING; i++)
		if (f->nesting[i] != cga->nesting[i])
			return false;
	return f->limits == limits && f->changes == shapes.changes;
}

/* Let the rows show an idle card, as far as it matters for one CGA: no SM gets more CTAs than that has. */
static void idle_for_one(const struct cga *cga, uint32_t capacity, const uint32_t *mask)
{
	domain_idle(min32(capacity, cga->ctas), mask);
}

/* Whether the CGA fits an idle card, with the SMs that are enabled and the cap that holds now. */
static bool ever_fits(const struct cga *cga, uint32_t capacity)
{
	struct fitting *f = &fitting[(cga->ctas ^ cga->ctas >> 3 ^ capacity ^ cga->ask.multicast) % FITTING];
	uint32_t limits = capacity | (uint32_t)cga->ask.multicast << 16;

	if (!capacity)
		return false;
	if (known(f, cga, limits))
		return true;
	idle_for_one(cga, capacity, NULL);
	if (!occupancy_fits(cga, DOMAIN_KIND_CARD, 0))
		return false;
	words_copy(f->nesting, cga->nesting, CGA_NESTING);
	f->limits = limits;
	f->changes = shapes.changes;
	return true;
}

COLD bool cga_fits(const struct cga *cga, uint32_t capacity, const uint32_t *mask)
{
	if (!mask)
		return ever_fits(cga, capacity);
	idle_for_one(cga, capacity, mask);
	return capacity && occupancy_fits(cga, DOMAIN_KIND_CARD, 0);
}

COLD int cga_room(const struct cga *cga, struct shape *shape, const uint32_t *mask)
{
	if (!domain_sync_masked(shape, mask ? mask : shape->lake.row[0].mask))
		return PACKET_PARKED;
	return occupancy_fits(cga, DOMAIN_KIND_CARD, 0) ? 0 : PACKET_GROUPED;
}

/* CTAs of one identity CGA. */
static uint32_t together(const struct cga *cga)
{
	uint32_t n = 1, i;

	for (i = 0; i <= cga->identity; i++)
		n *= cga->parts[i];
	return n;
}

COLD int cga_check(const struct tutti_cga_shape *level, unsigned mode, bool lmem, const uint32_t *groups,
		   uint32_t capacity, struct cga *cga)
{
	const struct tutti_discovery *d = (const void *)HAL_WINDOW;

	if (!(d->features & TUTTI_FEATURE_CGA) || !domains.gpcs || mode > TUTTI_CGA_MULTICAST ||
	    !make(level, mode, lmem, cga) || (groups && !cga_divides(level, groups)))
		return TUTTI_ERROR_GRID;
	if (cga->words + SEARCH_MARGIN > COMMAND_WORDS) /* the margin covers what is lost at the ring's end */
		return TUTTI_ERROR_GRID;
	if (cga->identity != SEARCH_NO_IDENTITY && together(cga) > d->cga_ctas)
		return TUTTI_ERROR_GRID;
	if (lmem && (!cga->identities || cga->identities > cga_ids_lmem_slots()))
		return TUTTI_ERROR_GRID;
	return ever_fits(cga, capacity) ? 0 : TUTTI_ERROR_GRID;
}

void cga_levels(const struct tutti_cga_shape *one, struct tutti_cga_shape *level)
{
	unsigned i;

	for (i = 1; i < TUTTI_CGA_LEVELS; i++)
		level[i] = (struct tutti_cga_shape){ 0 };
	level[0] = *one;
}

/* ---- from packet to task ---- */

COLD void cga_tell(const struct cga *cga, const struct tutti_cga_shape *level, uint32_t *state)
{
	uint32_t x = 1, y = 1, z = 1, i;

	if (cga->identity == SEARCH_NO_IDENTITY)
		return;
	for (i = 0; i <= cga->identity; i++) {
		x *= level[i].x;
		y *= level[i].y;
		z *= level[i].z;
	}
	state[STATE_AT(cga_x)] = x | y << 16;
	state[STATE_AT(cga_z)] |= z;
}

COLD void cga_begin(struct task *task, const struct tutti_cga_shape *level, unsigned mode, bool lmem, const uint32_t *mask)
{
	struct cga *cga = cga_of(task);

	make(level, mode, lmem, cga);
	cga->mask = mask;
	if (mask)
		cga->quick = 0;
	search_bind(cga, task);
	nested_forget(task);
	task->rare |= TASK_CGA;
}

/* The words that CGAs of larger kinds need depend on the order of SMs as well. */
COLD bool cga_describe(const struct task *task, struct tutti_cga_shape one, bool lmem, const uint32_t *groups,
		       uint32_t capacity)
{
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	struct cga *cga = cga_of(task);

	if (one.kind > TUTTI_CGA_GPC)
		return false;
	cga_levels(&one, level);
	if (cga_check(level, cga_default_mode, lmem, groups, capacity, cga)) {
		cga->one[1] = 0;
		return false;
	}
	search_bind(cga, task);
	words_copy(cga->one, &one, 2);
	cga->limits = cga_limits(capacity, lmem);
	cga->changes = shapes.changes;
	return true;
}

/* ---- placement ---- */

/* How many CTAs an idle SM, that at @position, is sure to take. A rotated split may leave room for fewer (RES-12). */
static uint32_t sure_capacity(const struct shape *shape, unsigned position)
{
	if (!match.rotate)
		return shape->capacity;
	return match_room(shape->registers, shape->shared, shape->waves, position);
}

/* The card is idle and the CGA does not fit: SMs were disabled since it was checked, or the split rotates. */
static COLD bool hopeless(const struct task *task)
{
	const struct cga *cga = cga_of(task);
	uint32_t mask[LAKE_WORDS], w, some = 0;

	if (place_state.residents || !cga_ids_idle() || (match.rotate && !match_ask()))
		return false;
	for (w = 0; w < fw.words; w++) {
		mask[w] = shapes.limit[w] & (cga->mask ? cga->mask[w] : ~0u);
		if (mask[w] & shapes.enabled[w])
			some = 32 * w + lowest_bit(mask[w] & shapes.enabled[w]);
	}
	return !cga_fits(cga, sure_capacity(task->shape, some), mask);
}

/* Since it was noted, an event may have given the slot to another task, or SMs may have been enabled. */
COLD uint32_t cga_hopeless(void)
{
	uint32_t slots = cga_state.hopeless, rest;

	cga_state.hopeless = 0;
	for (rest = slots; rest; rest &= rest - 1)
		if (!hopeless(&tasks[lowest_bit(rest)]))
			slots ^= rest & -rest;
	return slots;
}

/* Search within the limits of the task: memory slots, an affinity mask. */
static COLD uint32_t search_limited(struct task *task, struct cga *cga, uint32_t n)
{
	uint32_t slots = cga_ids_lmem_free(), placed;

	if (cga->lmem && slots < cga->identities)
		return search_full();
	if (cga->lmem && n > slots / cga->identities * cga->ctas)
		n = slots / cga->identities * cga->ctas;
	if (!(cga->mask ? domain_sync_masked(task->shape, cga->mask) : domain_sync(task->shape)))
		return search_full();
	placed = search_run(task, cga, n);
	domains.issued = counters.ctas_issued;
	return placed;
}

/* If SMs have more free slots than there are rows, the rows are filled again and the search is repeated. */
static COLD uint32_t search_any(struct task *task, struct cga *cga, uint32_t n)
{
	uint32_t placed = 0, now;

	do {
		now = search_limited(task, cga, n - placed);
		placed += now;
	} while (now && placed + cga->ctas <= n && domains.clipped && search_end() == SEARCH_FULL && (domains.dirty = true));
	return placed;
}

/* At least one whole CGA of what was asked for has not been placed. */
static COLD void fell_short(struct task *task, uint32_t placed)
{
	if (search_end() == SEARCH_ROOM) {
		if (!(place_state.detours & DETOUR_CUT))
			state_retry();
	} else if (!placed && hopeless(task)) {
		cga_state.hopeless |= 1u << task->slot;
		attention.settle |= ATTEND_CGA;
	}
}

HOT uint32_t cga_place(struct task *task, uint32_t n)
{
	struct cga *cga = cga_of(task);
	uint32_t placed;

	/* While the rows lead they are exact, and no SMs are held for another task. */
	if (likely(gpc_rows_lead()) && likely(domains.shape == task->shape) && likely(cga->quick))
		placed = search_quick(task, cga, n);
	else
		placed = search_any(task, cga, n);
	if (unlikely(placed < n) && (!placed || n - placed >= cga->ctas))
		fell_short(task, placed);
	return placed;
}

/* ---- CGAs that would starve because others are placed (spec CGA-05) ---- */

static void add_domain(uint32_t *mask, unsigned kind, unsigned number)
{
	struct domain_range range = domain_inside(TUTTI_CGA_GPC, kind, number);
	const struct gpc *gpc = &domains.gpc[range.first];

	for (; range.n; range.n--, gpc++)
		domain_add(gpc, kind == TUTTI_CGA_CPC ? domains.cpc[number] : gpc->all, mask);
}

COLD void cga_domains(const struct task *task, uint32_t *mask)
{
	const struct cga *cga = cga_of(task);
	unsigned kind = cga->kind[cga->levels - 1], d;
	struct domain_range all = domain_inside(kind, DOMAIN_KIND_CARD, 0);

	/* What a domain takes from the rows is not missed by the others, since domains of one kind share no SM. */
	idle_for_one(cga, task->shape->capacity, cga->mask);
	for (d = all.first; d < all.first + (unsigned)all.n; d++)
		if (occupancy_fits(cga, kind, d))
			add_domain(mask, kind, d);
	visit_goes_on(DOMAIN_STEPS * all.n);
}

COLD bool cga_passed(struct task *task)
{
	return ++cga_of(task)->passed >= cga_state.patience;
}

COLD void cga_calm(struct task *task)
{
	cga_of(task)->passed = 0;
}
