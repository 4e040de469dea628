// SPDX-License-Identifier: MIT
#include "place/gpc_slots.h"

#include "core/counters.h"
#include "core/state.h"
#include "core/visit.h"
#include "place/sm_order.h"

#define SCATTERED 32u
#define PAIRED 16u
/* The steps (visit.h) that it takes: */
#define ORDER_STEPS 20u     /* to look through the order of SMs, for each SM */
#define ROW_STEPS 4u        /* to fill a row of a GPC */
#define SETTLE_STEPS 20u    /* to find a row of the card from those of a GPC */
#define PAIRED_STEPS 100u   /* to find the pairs of SMs of a GPC whose SMs are scattered */
#define SCATTERED_STEPS 12u /* beside that, for each SM if the SMs of some GPC are scattered */

struct domain_table domains;

static struct domain_row rows[DOMAIN_ROWS];
#if FW_MAX_SMS > 256
typedef uint16_t sm_position;
#else
typedef uint8_t sm_position;
#endif
/* Positions of the SMs of each GPC, in priority order, from the number of its first SM on. */
static sm_position position[FW_MAX_SMS];
/* By position: the GPC of the SM, and its bit in masks of that; not in the image for large cards, which is short of memory. */
static struct {
	uint8_t gpc, bit;
} home[FW_LARGE ? 1 : FW_MAX_SMS];
/* By the same index as @position: the bit of the next SM of its TPC, in turn; its own bit if it is the only one. */
static uint8_t mate[FW_MAX_SMS];
/* What domain_pairs() was asked last where it takes long, and the answer: a direct-mapped cache by GPC. */
static struct paired {
	const struct gpc *gpc;
	uint32_t of, pairs;
} paired[PAIRED];

static const struct tutti_discovery *discovery(void)
{
	return (const void *)HAL_WINDOW;
}

/* The table of the places of all SMs; NULL: the card has none. */
static const struct tutti_sm_place *places(void)
{
	const struct tutti_discovery *d = discovery();

	return d->sm_table.bytes / sizeof(struct tutti_sm_place) < fw.sms ? NULL : hal_region(d->sm_table);
}

/* CPC and TPC of SM @local of a GPC. Without a table SMs are numbered in the order of CPCs and TPCs. */
static COLD struct tutti_sm_place place_by_number(unsigned local, const struct gpc *gpc)
{
	unsigned each = gpc->cpcs ? (popcount32(gpc->all) + gpc->cpcs - 1) / gpc->cpcs : 32;

	return (struct tutti_sm_place){ .cpc = (uint8_t)(local / each), .tpc = (uint8_t)(local / 2) };
}

unsigned domain_sm(const struct gpc *gpc, unsigned bit)
{
	return sm_order_at(position[gpc->first + bit]);
}

uint32_t domain_first(const struct gpc *gpc, uint32_t mask)
{
	unsigned b = gpc->first + lowest_bit(mask);

	return position[b] | (uint32_t)position[gpc->first + mate[b]] << 16;
}

/*
 * Find out where the SMs of a GPC are in the SM priority order, which of them are of one TPC, and the SMs of its CPCs.
 * A GPC of at most 32 SMs has no more TPCs.
 */
static void order_gpc(struct gpc *gpc, const struct tutti_sm_place *table)
{
	const sm_position *p = position + gpc->first;
	unsigned n = popcount32(gpc->all), b, last = 32;
	uint8_t first[32] = { 0 }, newest[32] = { 0 }, *mates = mate + gpc->first;
	uint32_t seen = 0, *cpc = domains.cpc + gpc->cpc;

	for (b = 0; b < gpc->cpcs; b++)
		cpc[b] = 0;
	gpc->word = (uint8_t)(p[0] / 32);
	gpc->shift = p[0] % 32;
	gpc->even = DOMAIN_EVEN;
	paired[gpc->index % PAIRED].gpc = NULL;
	for (b = 0; b < n; b++) {
		unsigned sm = sm_order_at(p[b]), tpc, inside;

		if (likely(table)) {
			tpc = table[sm].tpc % 32;
			inside = table[sm].cpc;
		} else {
			tpc = place_by_number(sm - gpc->first, gpc).tpc;
			inside = place_by_number(sm - gpc->first, gpc).cpc;
		}

		if (p[b] != p[0] + b)
			gpc->shift = SCATTERED;
		if (b & 1 ? tpc != last : tpc == last)
			gpc->even = ~0u;
		last = tpc;
		if (seen >> tpc & 1)
			mates[newest[tpc]] = (uint8_t)b;
		else
			first[tpc] = (uint8_t)b;
		seen |= 1u << tpc;
		newest[tpc] = (uint8_t)b;
		mates[b] = first[tpc]; /* unless another one follows */
		if (inside < gpc->cpcs)
			cpc[inside] |= 1u << b;
	}
}

#define NO_GPC 0xffu
#define NO_SM 0xffffu

/* Sort the positions of all SMs by GPC. No placement is being made, so there is space to note the GPC of each SM. */
static void order_positions(void)
{
	uint8_t have[TUTTI_MAX_GPCS] = { 0 }, *of = placed.ctas;
	const struct gpc *gpc;
	unsigned at, sm;

	for (sm = 0; sm < fw.sms; sm++)
		of[sm] = NO_GPC;
	for (gpc = domains.gpc; gpc < domains.end; gpc++)
		for (sm = gpc->first; gpc->all >> (sm - gpc->first) & 1; sm++) {
			of[sm] = gpc->index;
			if (sm - gpc->first == 31)
				break;
		}
	for (at = 0; at < fw.sms; at++) {
		sm = of[sm_order_at(at)];
		if (!FW_LARGE)
			home[at].gpc = (uint8_t)sm;
		if (sm == NO_GPC)
			continue;
		if (!FW_LARGE)
			home[at].bit = have[sm];
		position[domain_gpc(domains.gpc, sm)->first + have[sm]++] = (sm_position)at;
	}
}

/* The GPCs of which SM @one or @other is one, all if @one is NO_SM, have other positions now. */
static COLD void order(unsigned one, unsigned other)
{
	const struct tutti_sm_place *table = places();
	struct gpc *gpc;

	order_positions();
	domains.scattered = false;
	for (gpc = domains.gpc; gpc < domains.end; gpc++) {
		if (one == NO_SM || one - gpc->first < 32 || other - gpc->first < 32)
			order_gpc(gpc, table);
		domains.scattered |= gpc->shift == SCATTERED;
	}
	domains.dirty = true;
}

COLD void domain_swapped(unsigned one, unsigned other)
{
	visit_goes_on(ORDER_STEPS * fw.sms);
	order(sm_order_at(one), sm_order_at(other));
}

/* GPCs of more than 32 SMs get no CGAs, because their SMs do not fit a GPC-local mask. */
static unsigned add_gpc(const struct tutti_gpc *from, unsigned number)
{
	struct gpc *gpc = &domains.gpc[domains.gpcs];

	if (!from->sms || from->sms > 32 || from->first_sm + from->sms > fw.sms)
		return 0;
	*gpc = (struct gpc){
		.all = ~0u >> (32 - from->sms),
		.first = from->first_sm,
		.cpc = (uint16_t)domains.cpcs,
		.cpcs = (uint8_t)(from->cpcs <= DOMAIN_CPCS - domains.cpcs ? from->cpcs : 0),
		.number = (uint8_t)number,
		.index = (uint8_t)domains.gpcs,
	};
	for (unsigned i = 0; i < gpc->cpcs; i++)
		domains.cpc_gpc[domains.cpcs++] = (uint8_t)domains.gpcs;
	/* A µGPU consists of consecutive GPCs with the same µGPU number. */
	if (!domains.gpcs || discovery()->gpc[domains.gpc[domains.gpcs - 1].number].ugpu != from->ugpu)
		domains.ugpu[domains.ugpus++] = (uint8_t)domains.gpcs;
	gpc->ugpu = (uint8_t)(domains.ugpus - 1);
	domains.index[number] = (uint8_t)domains.gpcs;
	domains.ugpu[domains.ugpus] = (uint8_t)++domains.gpcs;
	return from->sms;
}

void domain_init(void)
{
	const struct tutti_discovery *d = discovery();
	unsigned i, each, all = 0;

	domains.gpcs = domains.cpcs = domains.ugpus = 0;
	domains.shape = NULL;
	domains.asked = 0;
	for (i = 0; i < d->gpcs && i < TUTTI_MAX_GPCS; i++)
		all += add_gpc(&d->gpc[i], i);
	each = domains.gpcs ? DOMAIN_ROWS / domains.gpcs : 1;
	if (each > LAKE_LEVELS + 1)
		each = LAKE_LEVELS + 1;
	domains.levels = each - 1;
	domains.whole = all == fw.sms;
	domains.end = domains.gpc + domains.gpcs;
	for (i = 0; i < domains.gpcs; i++) {
		rows[i * each] = (struct domain_row){ ~0u, ~0u };
		domains.gpc[i].row = rows + i * each + 1;
		domains.gpc[i].top = rows + i * each;
	}
	order(NO_SM, NO_SM);
}

struct domain_range domain_inside(unsigned kind, unsigned outer, unsigned number)
{
	unsigned first = 0, last = domains.gpcs - 1;

	if (outer == TUTTI_CGA_UGPU) {
		first = domains.ugpu[number];
		last = domains.ugpu[number + 1] - 1u;
	} else if (outer == TUTTI_CGA_GPC) {
		first = last = number;
	} else if (outer == TUTTI_CGA_CPC) {
		if (kind == TUTTI_CGA_CPC)
			return (struct domain_range){ (uint16_t)number, 1 };
		first = last = domains.cpc_gpc[number];
	}
	if (!domains.gpcs)
		return (struct domain_range){ 0 };
	if (kind == TUTTI_CGA_GPU)
		return (struct domain_range){ 0, 1 };
	if (kind == TUTTI_CGA_CPC) {
		last = domains.gpc[last].cpc + domains.gpc[last].cpcs;
		first = domains.gpc[first].cpc;
	} else {
		if (kind == TUTTI_CGA_UGPU) {
			first = domains.gpc[first].ugpu;
			last = domains.gpc[last].ugpu;
		}
		last++;
	}
	return (struct domain_range){ (uint16_t)first, (uint16_t)(last - first) };
}

/* ---- the rows ---- */

/* The SMs of a GPC that are in a mask by position. */
static uint32_t gather(const struct gpc *gpc, const uint32_t *mask)
{
	uint32_t at, b, m = 0;

	if (likely(gpc->shift < SCATTERED)) {
		m = mask[gpc->word] >> gpc->shift;
		if (gpc->shift && gpc->word + 1u < fw.words)
			m |= mask[gpc->word + 1] << (32 - gpc->shift);
		return m & gpc->all;
	}
	for (b = 0; b < 32 && gpc->all >> b & 1; b++) {
		at = position[gpc->first + b];
		m |= (mask[at / 32] >> (at % 32) & 1) << b;
	}
	return m;
}

/* Rows with equal counts are equal; most lakes have only two different rows. */
static void show_gpc(struct gpc *gpc, const struct lake *lake, unsigned levels, const uint32_t *only)
{
	const struct lake_row *row = lake->row + 1, *end = row + levels;
	struct domain_row *top = gpc->row - 1, now;
	uint32_t count, within = gather(gpc, only);

	while (row < end) {
		count = row->count;
		now.mask = gather(gpc, row->mask) & within;
		if (!now.mask)
			break;
		now.count = popcount32(now.mask);
		do
			*++top = now;
		while (++row < end && row->count == count);
	}
	gpc->top = top;
}

/* Add the SMs that have exactly @k free slots to the rows of their GPCs for that number. */
static void show_level(const struct lake *lake, unsigned k, unsigned levels, const uint32_t *only)
{
	struct domain_row *row;
	struct gpc *gpc;
	unsigned w, at;
	uint32_t exact, bit;

	for (w = 0; w < fw.words; w++) {
		exact = lake->row[k].mask[w] & ~(k < levels ? lake->row[k + 1].mask[w] : 0) & only[w];
		for (; exact; exact = without_bit(exact, bit)) {
			bit = single_bit(exact);
			at = 32 * w + bit_number(bit);
			if (home[at].gpc == NO_GPC)
				continue;
			gpc = domain_gpc(domains.gpc, home[at].gpc);
			row = gpc->row + (k - 1);
			row->mask |= 1u << home[at].bit;
			row->count++;
			if (gpc->top < row)
				gpc->top = row;
		}
	}
}

/*
 * The same for all GPCs where some have scattered SMs: to look for these row by row would take as many times longer as
 * there are rows. A row begins as the one above it; where the lake's rows are equal, so are these.
 */
static COLD void show_scattered(const struct lake *lake, unsigned levels, const uint32_t *only)
{
	struct gpc *gpc;
	unsigned k, below, i;

	for (gpc = domains.gpc; gpc < domains.end; gpc++)
		gpc->top = gpc->row - 1;
	for (k = levels; k; k = below) {
		for (gpc = domains.gpc; gpc < domains.end; gpc++)
			gpc->row[k - 1] = k == levels ? (struct domain_row){ 0, 0 } : gpc->row[k];
		show_level(lake, k, levels, only);
		for (below = k - 1; below && lake->row[below].count == lake->row[k].count; below--)
			;
		for (gpc = domains.gpc; gpc < domains.end; gpc++)
			for (i = below; i < k - 1; i++)
				gpc->row[i] = gpc->row[k - 1];
	}
}

/* Inline, it would cost the loops of sync() a register. */
static __attribute__((noinline)) bool is_truth(const struct shape *shape)
{
	return shape_truth(shape);
}

/*
 * Finding out what is free beside other shapes may have used up most of the visit. The search is then left to the next
 * visit, but only once, since by then there may be as much to look at again.
 */
static bool puts_off(void)
{
	domains.put_off = !domains.put_off && !visit_has(VISIT_STEPS / 2);
	if (!domains.put_off)
		return false;
	visit_cut();
	return true;
}

/*
 * Bring the rows of free slots up to date for the SMs of @only; row 0 of a lake means all SMs. Return: false if that takes
 * more time than this visit has left; the next sync() goes on with it
 */
static bool sync(struct shape *shape, const uint32_t *only)
{
	const struct lake *lake = &shape->lake;
	unsigned i, levels;

	domain_settle();
	if (!is_truth(shape))
		lake = shape_mixed(shape);
	if (!lake || (lake != &shape->lake && puts_off())) {
		domains.shape = NULL;
		return false;
	}
	levels = (unsigned)(lake->top - lake->row);
	domains.clipped = levels > domains.levels;
	if (domains.clipped)
		levels = domains.levels;
	if (!FW_LARGE && domains.scattered)
		show_scattered(lake, levels, only);
	else
		for (i = 0; i < domains.gpcs; i++)
			show_gpc(&domains.gpc[i], lake, levels, only);
	visit_goes_on(ROW_STEPS * levels * domains.gpcs + (domains.scattered ? SCATTERED_STEPS * fw.sms : 0));
	domains.shape = shape;
	domains.changes = shapes.changes;
	domains.asked = 0;
	domains.issued = counters.ctas_issued;
	/*
	 * Plain CTAs end without a call of this unit; and the table of SM states may already count completions
	 * whose events are still to come.
	 */
	domains.dirty = place_state.residents != shapes.grouped_ctas || lake != &shape->lake;
	return true;
}

/*
 * The rows stay exact while only CGAs are placed and only CGAs end, since those update the rows. @issued tells
 * whether anything else was placed; whether other CTAs are resident tells if any can end. If, besides, all
 * residents are of this shape and the rows show all SMs and all the slots that can become free, the rows may lead; but
 * not while another shape waits, whose kept result (mixed_shapes.h) has to know of every CTA.
 */
COLD bool domain_sync_slow(struct shape *shape)
{
	bool lead;

	if ((domains.shape != shape || domains.issued != counters.ctas_issued || domains.changes != shapes.changes ||
	     domains.dirty) && !sync(shape, shape->lake.row[0].mask))
		return false;
	lead = is_truth(shape) && place_state.residents == shapes.grouped_ctas && domains.whole &&
	       shape->capacity <= domains.levels && !domains.dirty && !(place_state.detours & DETOUR_BESIDE);
	state_detour(DETOUR_ROWS_LEAD, lead);
	domains.lake_is_behind = lead && place_state.residents;
	return true;
}

COLD bool domain_sync_masked(struct shape *shape, const uint32_t *mask)
{
	bool known = sync(shape, mask);

	domains.dirty = true; /* the rows do not show all SMs */
	return known;
}

void domain_forget(void)
{
	state_detour(DETOUR_ROWS_LEAD, false);
	domains.shape = NULL;
}

/* Let the SMs that have exactly @k free slots join @row. */
static void settle_row(struct lake_row *row, unsigned k)
{
	const struct gpc *gpc;
	const struct domain_row *own;
	uint32_t mask;

	for (gpc = domains.gpc; gpc < domains.end; gpc++) {
		own = gpc->row + (k - 1);
		if (own > gpc->top || (own < gpc->top && own->count == own[1].count))
			continue;
		mask = own->mask & ~(own < gpc->top ? own[1].mask : 0);
		row->count += popcount32(mask);
		domain_add(gpc, mask, row->mask);
	}
}

/* Only CGAs of this shape are resident, so its lake can be made from the rows, from the top down. */
COLD void domain_settle(void)
{
	struct shape *shape = domains.shape;
	struct lake_row *row;
	unsigned k;

	if (!gpc_rows_lead())
		return;
	state_detour(DETOUR_ROWS_LEAD, false);
	domains.issued = counters.ctas_issued;
	if (!place_state.residents) {
		if (domains.lake_is_behind)
			lake_init(&shape->lake, fw.words, shapes.included, shape->capacity);
		return;
	}
	visit_goes_on(SETTLE_STEPS * shape->capacity * domains.gpcs + (domains.scattered ? SCATTERED_STEPS * fw.sms : 0));
	shape->lake.top = shape->lake.row;
	row = &shape->lake.row[shape->capacity + 1];
	words_clear(row, 1 + fw.words);
	for (k = shape->capacity; k; k--) {
		words_copy(row - 1, row, 1 + fw.words);
		settle_row(--row, k);
		if (row->count && shape->lake.top == shape->lake.row)
			shape->lake.top = row;
	}
}

COLD bool domain_any_free(void)
{
	for (const struct gpc *gpc = domains.gpc; gpc < domains.end; gpc++)
		if (gpc->top >= gpc->row)
			return true;
	return false;
}

/* The bits of word @w of a mask by position that stand for SMs. */
static uint32_t positions_in(unsigned w)
{
	return w < fw.sms / 32 ? ~0u : ~(~0u << (fw.sms % 32));
}

/*
 * Set the mask of each GPC's first row to those of its SMs that are in @mask, a mask by position. If SMs are scattered,
 * all of them are taken and those that @mask lacks are removed, because these are usually few.
 */
static void show_first(const uint32_t *mask)
{
	bool scattered = !FW_LARGE && domains.scattered;
	struct gpc *gpc;
	uint32_t missing, bit;
	unsigned w, at;

	for (gpc = domains.gpc; gpc < domains.end; gpc++)
		gpc->row->mask = scattered ? gpc->all : gather(gpc, mask);
	for (w = 0; scattered && w < fw.words; w++)
		for (missing = positions_in(w) & ~mask[w]; missing; missing = without_bit(missing, bit)) {
			bit = single_bit(missing);
			at = 32 * w + bit_number(bit);
			if (home[at].gpc != NO_GPC)
				domain_gpc(domains.gpc, home[at].gpc)->row->mask &= ~(1u << home[at].bit);
		}
}

void domain_idle(uint32_t capacity, const uint32_t *mask)
{
	uint32_t usable[FW_MAX_SMS / 32];
	struct domain_row row;
	struct gpc *gpc;
	unsigned k;

	domain_settle();
	if (capacity > domains.levels)
		capacity = domains.levels;
	for (k = 0; k < fw.words; k++)
		usable[k] = shapes.enabled[k] & (mask ? mask[k] : ~0u);
	show_first(usable);
	for (gpc = domains.gpc; gpc < domains.end; gpc++) {
		row.mask = gpc->row->mask;
		row.count = popcount32(row.mask);
		gpc->top = gpc->row - 1;
		for (k = 0; row.mask && k < capacity; k++)
			*++gpc->top = row;
	}
	visit_goes_on(ROW_STEPS * capacity * domains.gpcs);
	domains.shape = NULL;
	domains.asked = 0;
}

/* Give SMs @mask of a GPC one more free slot. */
static void raise_once(struct gpc *gpc, uint32_t mask)
{
	struct domain_row *row;
	uint32_t add;

	for (row = gpc->top + 1; mask; row--) {
		/* SMs that are in the row below, but not in this one yet, join it. */
		add = mask & row[-1].mask;
		if (!add)
			continue;
		mask ^= add;
		if (row > gpc->top) {
			if ((unsigned)(row - gpc->row) == domains.levels) {
				domains.clipped = true;
				continue;
			}
			gpc->top = row;
			*row = (struct domain_row){ 0, 0 };
		}
		row->mask |= add;
		row->count += popcount32(add);
	}
}

void domain_raise(struct gpc *gpc, uint32_t repeat, uint32_t mask)
{
	do
		raise_once(gpc, mask);
	while (--repeat);
}

uint32_t domain_part[32][2];

unsigned domain_scatter(const struct gpc *gpc, uint32_t mask)
{
	unsigned n = 0, at, b;

	if (likely(gpc->shift < SCATTERED)) {
		domain_part[0][0] = gpc->word;
		domain_part[0][1] = mask << gpc->shift;
		n = !!domain_part[0][1];
		domain_part[n][0] = gpc->word + 1u;
		domain_part[n][1] = gpc->shift ? mask >> (32 - gpc->shift) : 0;
		return n + !!domain_part[n][1];
	}
	for (; mask; mask &= mask - 1) {
		b = lowest_bit(mask);
		at = position[gpc->first + b];
		if (!n || domain_part[n - 1][0] != at / 32) {
			domain_part[n][0] = at / 32;
			domain_part[n++][1] = 0;
		}
		domain_part[n - 1][1] |= 1u << (at % 32);
	}
	return n;
}

COLD void domain_add(const struct gpc *gpc, uint32_t sms, uint32_t *mask)
{
	unsigned n = domain_scatter(gpc, sms);

	while (n--)
		mask[domain_part[n][0]] |= domain_part[n][1];
}

static COLD uint32_t pairs_slow(const struct gpc *gpc, uint32_t mask)
{
	struct paired *last = &paired[gpc->index % PAIRED];
	uint32_t rest, bit, other, pairs = 0;

	/* Many CGAs in turn ask about the same SMs. */
	if (last->gpc == gpc && last->of == mask)
		return last->pairs;
	visit_goes_on(PAIRED_STEPS);
	for (rest = mask; rest; rest &= ~(bit | other)) {
		bit = single_bit(rest);
		other = 1u << mate[gpc->first + bit_number(bit)];
		if (mask & other & ~bit)
			pairs |= other | bit;
	}
	*last = (struct paired){ gpc, mask, pairs };
	return pairs;
}

uint32_t domain_pairs(const struct gpc *gpc, uint32_t mask)
{
	uint32_t even = mask & mask >> 1 & DOMAIN_EVEN;

	return likely(gpc->even == DOMAIN_EVEN) ? even | even << 1 : pairs_slow(gpc, mask);
}

/* The next SM by position is the first among the next ones of all GPCs. */
void domain_before(struct domain_range range, const uint32_t *masks, uint32_t n, uint16_t *share)
{
	uint32_t left[TUTTI_MAX_GPCS];
	unsigned i, best, at, least;

	for (i = 0; i < range.n; i++)
		left[i] = masks[i];
	while (n--) {
		for (best = 0, least = ~0u, i = 0; i < range.n; i++) {
			if (!left[i])
				continue;
			at = position[domains.gpc[range.first + i].first + lowest_bit(left[i])];
			if (at < least) {
				least = at;
				best = i;
			}
		}
		left[best] &= left[best] - 1;
		share[best]++;
	}
}
