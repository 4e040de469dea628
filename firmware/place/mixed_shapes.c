// SPDX-License-Identifier: MIT
#include "place/mixed_shapes.h"

#include "core/counters.h"
#include "core/state.h"
#include "core/visit.h"
#include "place/gpc_slots.h"
#include "place/plain_grid.h"
#include "place/sm_match.h"

/* The steps (visit.h) it takes to look at the SMs that hold the same, and to read the table for one SM by each search. */
#define LOOK_STEPS 200u
#define SET_STEPS 5u   /* to note the answer, for each free slot */
static const uint16_t ask_steps[] = {
	[TUTTI_SEARCH_FULL] = 400, [TUTTI_SEARCH_GROUPED] = 600, [TUTTI_SEARCH_SAMPLED] = 700, [TUTTI_SEARCH_SHARED] = 600,
};

#define RUN_STEPS 4u   /* to count the room of one CTA in shared memory, for each word of its map */

/* To take CTAs that were placed out of a word of another lake, and for each of its rows. */
#define LOWER_STEPS 60u
#define LOWER_ROW_STEPS 4u
#define UNASKED_MOST 64u /* completions after which results that nobody asks for are forgotten */

static struct mixture mixtures[BESIDES];
static struct mixture *mixtures_end; /* of those that have been used since all were forgotten */
static uint32_t clock;
static uint32_t unasked; /* completions since somebody asked for a result */

/* ---- room on one SM ---- */

/* The CTAs that an SM holds, and what they use. SMs that hold the same are treated together. */
struct holding {
	uint32_t ctas;
	uint32_t waves;
	uint32_t barriers;
	uint32_t shared;      /* blocks */
	uint32_t runs;        /* CTAs with shared memory, each a run of blocks */
	bool tainted;         /* the SM is in shapes.tainted, and so is not like one that is not */
	bool same_shared;     /* all of them need as much as the wanted shape, and always did */
	bool same_scalar, same_vector;
	bool asked;           /* the answer is from the table, and so for this SM only */
	bool unsure;          /* the table was not up to date, so the answer is a lower bound */
	uint32_t scalar, vector; /* largest needs of a wave */
	uint8_t count[FW_SHAPES];
};

/* CTAs there is room for: @most if the free blocks lie well, @least however they lie. */
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
 * Limit the waves of all shapes that a PEU takes. The registers of a wave are a run of blocks, so every free run may
 * waste need - 1 blocks. If all waves need the same, the number is exact. Otherwise all wave slots can be used if
 * registers cannot run out; if they can, the lower limit is 0.
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
 * Free slots for @want on the SM at @position, and in @h what it holds. Counting tells them if it does not matter where
 * the blocks lie; otherwise the table of SM states is read, which may count completions whose events are still to come.
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
	/* A search that may overlook room must not keep a CGA off idle SMs, or it would never run (RES-09, RES-10). */
	if (n.least >= n.most && (!match_exact() || !(h->ctas | match.rotate)))
		return n.most;
	if (!n.most)
		return 0;
	if (match_ask()) {
		h->asked = true;
		n.most = min32(n.most, match_room(want->registers, want->shared, want->waves, position));
		/* Nor may it keep a CTA off an idle SM. */
		return n.most || h->ctas ? n.most : 1;
	}
	match_wait();
	h->unsure = true;
	return match.rotate ? 0 : min32(n.least, n.most);
}

/* SMs of @mask in word @w that hold the same as @h. */
static uint32_t alike(const struct holding *h, unsigned w, uint32_t mask)
{
	unsigned i;

	mask &= h->tainted ? shapes.tainted[w] : ~shapes.tainted[w];
	for (i = 0; i < shapes.shapes && mask; i++)
		if (shapes.shape[i].residents)
			mask &= lake_exact(&shapes.shape[i].lake, shapes.shape[i].capacity - h->count[i], w);
	return mask;
}

/* The table may be up to date now: look again at the SMs for which there was only a lower bound. */
static COLD void look_again(struct mixture *b)
{
	uint32_t w;

	b->unsure = false;
	for (w = 0; w < fw.words; w++) {
		b->dirty[w] |= b->bound[w];
		b->bound[w] = 0;
	}
}

/* In throttle mode shared memory has a map of several words, and there may be room for many CTAs in it. */
static uint32_t count_steps(const struct shape *shape, uint32_t levels)
{
	return (uint16_t)shape->shared ? RUN_STEPS * levels * tutti_map_words(shapes.shared_blocks) : 0;
}

/*
 * Find out the free slots of dirty SMs, for SMs that hold the same at once. What this visit has no time for stays dirty.
 * Return: false if there is any of that
 */
static bool survey(const struct shape *shape, struct mixture *b)
{
	uint32_t *todo = b->dirty, w, v, same, levels;
	struct holding h;
	bool more = true;

	if (b->unsure && match_ask())
		look_again(b);
	for (w = 0; w < fw.words; w++) {
		while (todo[w]) {
			if (!more)
				return false;
			more = visit_goes_on(LOOK_STEPS);
			levels = room_at(shape, 32 * w + lowest_bit(todo[w]), &h);
			if (h.asked) {
				more = visit_goes_on(ask_steps[match.search] + count_steps(shape, levels));
				same = todo[w] & -todo[w];
				todo[w] ^= same;
				lake_set(&b->lake, w, same, levels);
				continue;
			}
			b->unsure |= h.unsure;
			for (v = w; v < fw.words; v++) {
				same = alike(&h, v, todo[v]);
				if (!same)
					continue;
				todo[v] ^= same;
				lake_set(&b->lake, v, same, levels);
				more = visit_goes_on(SET_STEPS * levels);
				if (h.unsure)
					b->bound[v] |= same;
			}
		}
	}
	return true;
}

/* SMs that may get CTAs. */
static uint32_t open(uint32_t w)
{
	return shapes.enabled[w] & shapes.included[w];
}

static void all_open(uint32_t *todo)
{
	uint32_t w;

	for (w = 0; w < fw.words; w++)
		todo[w] = open(w);
}

static void dry(struct lake *lake)
{
	lake_init(lake, fw.words, shapes.enabled, 0);
	lake->top = lake->row;
}

static bool sound(const struct mixture *b)
{
	return b->shape && b->issued == counters.ctas_issued && b->residents == place_state.residents &&
	       b->changes == shapes.changes;
}

/* The entry for @shape: the one it has, else an unused one, else the one that was not used for longest. */
static struct mixture *entry(const struct shape *shape)
{
	struct mixture *b, *oldest = mixtures;

	for (b = mixtures; b < mixtures_end; b++) {
		if (b->shape == shape)
			return b;
		if (oldest->shape && (!b->shape || (int32_t)(b->used - oldest->used) < 0))
			oldest = b;
	}
	if (b == mixtures + BESIDES || (b > mixtures && !oldest->shape))
		return oldest;
	mixtures_end++;
	b->shape = NULL;
	return b;
}

/* The result kept for @shape if it is sound; else an entry with all SMs dirty. */
static struct mixture *find(const struct shape *shape)
{
	struct mixture *b = entry(shape);

	unasked = 0;
	b->used = ++clock;
	if (b->shape == shape && sound(b))
		return b;
	b->shape = shape;
	b->issued = counters.ctas_issued;
	b->residents = place_state.residents;
	b->changes = shapes.changes;
	all_open(b->dirty);
	words_clear(b->bound, fw.words);
	b->unsure = false;
	dry(&b->lake);
	place_state.detours |= DETOUR_BESIDE;
	return b;
}

COLD struct lake *shape_mixed(struct shape *shape)
{
	struct mixture *b;
	uint32_t free[LAKE_WORDS], w;

	domain_settle();
	b = find(shape);
	if (!survey(shape, b) || visit_late()) {
		visit_cut();
		return NULL;
	}
	if (!(place_state.detours & DETOUR_HOLDING))
		return &b->lake;
	for (w = 0; w < fw.words; w++)
		free[w] = ~shapes.held[w];
	return shape_masked(&b->lake, free);
}

/* ---- changes ---- */

void mixed_init(void)
{
	mixtures_end = mixtures;
	clock = unasked = 0;
}

COLD void mixed_forget(void)
{
	mixed_init();
	place_state.detours &= ~DETOUR_BESIDE;
}

COLD void mixed_replaced(const struct shape *shape)
{
	struct mixture *b;

	for (b = mixtures; b < mixtures_end; b++)
		if (b->shape == shape)
			b->shape = NULL;
}

COLD void mixed_ended(uint32_t ctas)
{
	bool any = false;
	struct mixture *b;

	for (b = mixtures; b < mixtures_end; b++)
		if (sound(b)) {
			any = true;
			b->residents -= ctas;
		}
	if (!any || place_state.residents == ctas || ++unasked > UNASKED_MOST)
		mixed_forget();
}

COLD void mixed_changed(uint32_t word, uint32_t mask)
{
	struct mixture *b;

	mask &= open(word);
	for (b = mixtures; b < mixtures_end; b++)
		b->dirty[word] |= mask;
}

COLD void mixed_completed(const struct tutti_event *event)
{
	uint32_t first = event->word[0] >> 16 & 0xff, n = event->word[0] >> 24, i;

	mixed_ended(event->word[2]);
	for (i = 0; i < n; i++)
		mixed_changed(first + i, event->word[3 + i]);
}

/* Forget what is not complete, before a placement. */
static void before(void)
{
	struct mixture *b;

	for (b = mixtures; b < mixtures_end; b++)
		if (!sound(b))
			b->shape = NULL;
}

/* Tell all lakes but @from that @ctas CTAs were placed on SMs @mask of word @word. */
static void note(const struct lake *from, uint32_t word, uint32_t mask, uint32_t ctas)
{
	struct mixture *b;

	for (b = mixtures; b < mixtures_end; b++) {
		if (!b->shape)
			continue;
		b->issued += ctas;
		b->residents += ctas;
		if (&b->lake != from || match_exact())
			b->dirty[word] |= mask;
	}
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

/* CTAs of @shape are about to be placed on SMs @mask of word @word, of which some may hold CTAs of other shapes. */
static void taint(const struct shape *shape, uint32_t word, uint32_t mask)
{
	uint32_t others;

	if (shape_truth(shape))
		return;
	others = holders(shape, word, true);
	if (shapes.tainted[word] & ~others)
		shapes.tainted[word] &= others | holders(shape, word, false);
	shapes.tainted[word] |= others & mask;
	if (shapes.tainted[word])
		place_state.any_tainted = 1;
}

/* ---- what a placement has put where ---- */

union placed placed;
static uint32_t touched; /* a bit for each word in which something was placed; in the others the planes are not clear */

_Static_assert(LAKE_WORDS <= 32, "a bit for each word");

COLD void placed_begin(void)
{
	before();
	touched = 0;
}

COLD void placed_add(uint32_t word, uint32_t mask, uint32_t repeat)
{
	uint32_t carry, sum;
	unsigned p, q;

	if (!(touched >> word & 1)) {
		touched |= 1u << word;
		for (p = 0; p < PLACED_PLANES; p++)
			placed.plane[p][word] = 0;
	}
	for (p = 0; repeat; p++, repeat >>= 1)
		for (q = p, carry = repeat & 1 ? mask : 0; carry; q++, carry = sum) {
			sum = placed.plane[q][word] & carry;
			placed.plane[q][word] ^= carry;
		}
}

/* Take what was placed in @word out of a lake that does not know of it. */
static void lower(struct lake *lake, uint32_t word)
{
	unsigned p;

	for (p = 0; p < PLACED_PLANES; p++) {
		if (!placed.plane[p][word])
			continue;
		visit_goes_on(LOWER_STEPS + LOWER_ROW_STEPS * (uint32_t)(lake->top - lake->row));
		lake_lower(lake, word, placed.plane[p][word], 1u << p);
	}
}

COLD void placed_end(struct shape *shape, const struct lake *from)
{
	uint32_t sms, ctas, w;
	unsigned p;

	for (; touched; touched &= touched - 1) {
		w = lowest_bit(touched);
		for (sms = ctas = p = 0; p < PLACED_PLANES; p++) {
			sms |= placed.plane[p][w];
			ctas += popcount32(placed.plane[p][w]) << p;
		}
		if (from != &shape->lake) {
			taint(shape, w, sms);
			lower(&shape->lake, w);
		}
		note(from, w, sms, ctas);
	}
}

void shape_poured(struct shape *shape, const struct lake *from, const uint32_t *segments, const uint32_t *end)
{
	uint32_t repeat, w, n;

	placed_begin();
	while (segments < end) {
		repeat = *segments & 0xffff;
		w = *segments >> 16 & 0xff;
		n = *segments >> 24;
		for (segments++; n; n--, w++, segments++)
			placed_add(w, *segments, repeat);
	}
	placed_end(shape, from);
}
