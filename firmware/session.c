// SPDX-License-Identifier: MIT
#include "session.h"

#include "command.h"
#include "counter.h"
#include "task.h"

#define SET_WORDS (DOMAIN_CPCS / 32)

struct domain_set {
	uint32_t word[SET_WORDS];
};

/* Answers of the innermost domains, kept until something changes there. Speed s stands at bit 31 - s of @used. */
static struct {
	struct mimic_ask ask;
	bool identity;      /* a credit is needed as well */
	uint32_t epoch;
	uint32_t words;     /* of a set of domains */
	uint32_t used;      /* speeds that some domain has */
	struct domain_set stale;
	struct domain_set speed_of[LAKE_LEVELS];
	int8_t speed[DOMAIN_CPCS];
} answers;

/* Where the command ring was. */
struct mark {
	uint32_t *next;
	uint32_t bias;
};

/* A CGA that is being made of parts; the one of the highest level stands for the grid. */
struct frame {
	struct domain_range range; /* domains for the parts */
	struct domain_set round;   /* those of the highest speed that have not got one yet */
	uint32_t left;             /* parts to place */
	int speed;                 /* of the last one */
	unsigned trial;            /* 0, or 1 + the domain that is being tried */
	struct mark mark;          /* before the trial */
};

static struct {
	struct frame frame[TUTTI_CGA_LEVELS + 1];
	const struct cga *cga;
	struct task *task;
	struct mark mark;          /* before the outermost CGA */
	uint32_t *last;            /* its last record */
	uint16_t sequence;
	/* identity of the parts being placed */
	struct gpc *gpc;
	unsigned id;
	uint32_t lmem;
} session;

void session_init(void)
{
	unsigned i;

	answers.used = 0;
	for (i = 0; i < LAKE_LEVELS; i++)
		answers.speed_of[i] = (struct domain_set){ 0 };
	session.sequence = 0;
	answers.ask = (struct mimic_ask){ 0 };
}

/* ---- answers ---- */

static void reset(const struct cga *cga)
{
	struct domain_range all = domain_inside(cga->ask.kind, DOMAIN_KIND_CARD, 0);
	unsigned i;

	answers.ask = cga->ask;
	answers.identity = cga->identity == 0;
	answers.epoch = domains.epoch;
	answers.words = (all.n + 31u) / 32;
	for (; answers.used; answers.used &= answers.used - 1)
		answers.speed_of[31 - lowest_bit(answers.used)] = (struct domain_set){ 0 };
	for (i = 0; i < SET_WORDS; i++)
		answers.stale.word[i] = 0;
	for (i = 0; i < all.n; i++) {
		answers.stale.word[i / 32] |= 1u << (i % 32);
		answers.speed[i] = MIMIC_INVALID;
	}
}

static inline bool ask_same(const struct mimic_ask *a, const struct mimic_ask *b)
{
	return a->whole == b->whole;
}

static inline void stale(unsigned domain)
{
	answers.stale.word[domain / 32] |= 1u << (domain % 32);
}

void session_stale(const struct gpc *gpc)
{
	unsigned i;

	if (likely(answers.ask.kind == TUTTI_CGA_GPC))
		stale(gpc->index);
	else if (answers.ask.kind == TUTTI_CGA_CPC)
		for (i = 0; i < gpc->cpcs; i++)
			stale(gpc->cpc + i);
	else
		stale(answers.ask.kind == TUTTI_CGA_UGPU ? gpc->ugpu : 0);
}

static inline int query(unsigned domain)
{
	const struct mimic_ask *ask = &answers.ask;
	uint32_t within;
	const struct gpc *gpc;

	if (unlikely(ask->kind >= TUTTI_CGA_UGPU))
		return mimic_share(domain_inside(TUTTI_CGA_GPC, ask->kind, domain), ask->ctas, ask->multicast, NULL);
	gpc = mimic_gpc(ask->kind, domain, &within);
	if (unlikely(answers.identity && !gpc->credits))
		return MIMIC_INVALID;
	if (likely(within == gpc->all && !ask->multicast))
		return mimic_query_gpc(gpc, ask->ctas);
	return mimic_query(gpc, within, ask->ctas, ask->multicast);
}

static void answer(unsigned domain, int now)
{
	int old = answers.speed[domain];
	uint32_t bit = 1u << (domain % 32), *set;
	unsigned w = domain / 32, i;

	if (old == now)
		return;
	answers.speed[domain] = (int8_t)now;
	if (now >= 0) {
		answers.speed_of[now].word[w] |= bit;
		answers.used |= 0x80000000u >> now;
	}
	if (old >= 0) {
		set = answers.speed_of[old].word;
		set[w] ^= bit;
		for (i = 0; i < answers.words; i++)
			if (set[i])
				return;
		answers.used ^= 0x80000000u >> old;
	}
}

static inline __attribute__((always_inline)) void refresh(void)
{
	unsigned w, domain;

	for (w = 0; w < answers.words; w++)
		while (answers.stale.word[w]) {
			domain = 32 * w + lowest_bit(answers.stale.word[w]);
			answers.stale.word[w] &= answers.stale.word[w] - 1;
			answer(domain, query(domain));
		}
}

static inline uint32_t range_mask(struct domain_range range, unsigned w)
{
	unsigned first = range.first, end = range.first + range.n, base = 32 * w;
	uint32_t mask = ~0u;

	if (first >= base + 32 || end <= base)
		return 0;
	if (first > base)
		mask <<= first - base;
	if (end < base + 32)
		mask &= ~(~0u << (end - base));
	return mask;
}

/* The domains of the highest speed in a range. Return: that speed. */
static inline int fastest(struct frame *f)
{
	uint32_t used = answers.used, any;
	unsigned w, speed;

	while (used) {
		speed = 31 - lowest_bit(used);
		used &= used - 1;
		for (any = 0, w = 0; w < answers.words; w++) {
			f->round.word[w] = answers.speed_of[speed].word[w] & range_mask(f->range, w);
			any |= f->round.word[w];
		}
		if (any)
			return (int)speed;
	}
	return MIMIC_INVALID;
}

/* ---- records ---- */

static inline struct mark mark_here(void)
{
	return (struct mark){ command_ring.next, command_ring.bias };
}

static inline uint32_t *record_next(uint32_t *p)
{
	p += (*p & 0xff) == TUTTI_CMD_NOP ? *p >> 8 : *p >> 8 & 0xff;
	return p == command_ring.end ? command_ring.word : p;
}

static inline struct gpc *record_gpc(const uint32_t *p)
{
	return &domains.gpc[domains.index[p[1] >> 24]];
}

/* Take back what was placed since @mark, the last first: free lists are as before then. */
static COLD void undo(struct mark mark)
{
	uint32_t *p, *q, id = ~0u;

	for (p = mark.next; p != command_ring.next; p = record_next(p)) {
		struct gpc *gpc;

		if ((*p & 0xff) != TUTTI_CMD_LAUNCH)
			continue;
		gpc = record_gpc(p);
		for (q = p + 3; q < p + (*p >> 8 & 0xff); q += 2)
			domain_raise(gpc, *q & 0xffff, q[1]);
		session_stale(gpc);
		if (session.cga->identity != SESSION_NO_IDENTITY && p[1] != id) {
			id = p[1];
			gpm_undo(gpc, id >> 16 & 0xff, p[2]);
		}
	}
	command_ring.next = mark.next;
	command_ring.bias = mark.bias;
}

static inline void identify(struct gpc *gpc)
{
	session.gpc = gpc;
	session.id = gpm_take(gpc, session.task->slot);
	session.lmem = unlikely(session.cga->lmem) ? gpm_lmem_take(gpc, session.id) : GPM_NO_LMEM;
}

static inline void launch(struct gpc *gpc, uint32_t within, unsigned n)
{
	uint32_t *p = command_begin(3 + MIMIC_SEGMENTS), *end;

	p[1] = session.sequence | session.id << 16 | (uint32_t)gpc->number << 24;
	p[2] = session.lmem;
	end = mimic_take(gpc, within, n, session.cga->ask.multicast, p + 3);
	p[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, end - p, session.task->slot | TUTTI_LAUNCH_CGA << 8);
	command_end(end);
	session.last = p;
	session_stale(gpc);
}

static COLD void launch_shared(unsigned domain)
{
	struct domain_range range = domain_inside(TUTTI_CGA_GPC, session.cga->ask.kind, domain);
	static uint16_t share[TUTTI_MAX_GPCS];
	unsigned i;

	mimic_share(range, session.cga->ask.ctas, session.cga->ask.multicast, share);
	session.id = 0;
	session.lmem = GPM_NO_LMEM;
	for (i = 0; i < range.n; i++)
		if (share[i])
			launch(&domains.gpc[range.first + i], domains.gpc[range.first + i].all, share[i]);
}

/* One innermost CGA. */
static inline void launch_part(unsigned domain)
{
	uint32_t within;
	struct gpc *gpc;

	if (unlikely(session.cga->ask.kind >= TUTTI_CGA_UGPU)) {
		launch_shared(domain);
		return;
	}
	gpc = mimic_gpc(session.cga->ask.kind, domain, &within);
	if (likely(session.cga->identity == 0))
		identify(gpc);
	launch(gpc, within, session.cga->ask.ctas);
}

/* ---- what is launched is launched ---- */

/* The card-wide lake of the shape, and other shapes' view of it. */
static COLD void place_positions(struct shape *shape, const struct gpc *gpc, uint32_t repeat, uint32_t mask)
{
	uint32_t segment[2], i;
	unsigned n = domain_scatter(gpc, mask);

	while (n--) {
		if (!shape_truth(shape)) {
			segment[0] = repeat | domain_part[n][0] << 16 | 1u << 24;
			segment[1] = domain_part[n][1];
			shape_placed(shape, segment, segment + 2);
			continue;
		}
		for (i = repeat; i; i--)
			lake_lower(&shape->lake, domain_part[n][0], domain_part[n][1]);
	}
}

/* A CGA without identity: the same once more, by position. */
static COLD void translate(uint32_t *from, uint32_t *end)
{
	uint32_t *p, *q, *to;
	unsigned n, i;

	for (p = from; p != end; p = record_next(p)) {
		if ((*p & 0xff) != TUTTI_CMD_LAUNCH)
			continue;
		for (q = p + 3; q < p + (*p >> 8 & 0xff); q += 2) {
			n = domain_scatter(record_gpc(p), q[1]);
			to = command_begin(3 + 2 * 32);
			session.last = to;
			to[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3 + 2 * n, *p >> 16);
			to[1] = session.sequence | TUTTI_GPC_NONE << 24;
			to[2] = GPM_NO_LMEM;
			for (to += 3, i = 0; i < n; i++, to += 2) {
				to[0] = (*q & 0xffff) | domain_part[i][0] << 16 | 1u << 24;
				to[1] = domain_part[i][1];
			}
			command_end(to);
		}
		*p = TUTTI_CMD_NOP | (*p >> 8 & 0xff) << 8;
	}
}

static inline void account(struct shape *shape, uint32_t n)
{
	shape->residents += n;
	shapes.residents += n;
	counters.ctas_issued += n;
	counters.placements++;
}

static void commit(void)
{
	const struct cga *cga = session.cga;
	struct shape *shape = session.task->shape;
	uint32_t *p = session.mark.next, *q, *end = command_ring.next, sms, n;
	bool identity = cga->identity != SESSION_NO_IDENTITY, lead = identity && domain_lead(shape);

	if (!lead)
		domain_settle();

	for (; p != end; p = record_next(p)) {
		struct gpc *gpc;

		if (unlikely((*p & 0xff) != TUTTI_CMD_LAUNCH))
			continue;
		gpc = record_gpc(p);
		for (sms = 0, q = p + 3; q < p + (*p >> 8 & 0xff); q += 2) {
			if (!lead)
				place_positions(shape, gpc, *q & 0xffff, q[1]);
			sms |= q[1];
		}
		if (likely(identity))
			gpm_started(gpc, p[1] >> 16 & 0xff, sms, cga->ask.ctas);
	}
	if (unlikely(!identity))
		translate(session.mark.next, end);
	*session.last |= (uint32_t)TUTTI_LAUNCH_END_OF_CGA << 24;
	session.sequence++;
	n = cga->ctas;
	account(shape, n);
	if (likely(identity))
		shapes.grouped_ctas += n;
	session.mark = mark_here();
}

/* ---- the machine ---- */

static inline bool set_empty(const struct domain_set *set)
{
	uint32_t any = 0, w;

	for (w = 0; w < SET_WORDS; w++)
		any |= set->word[w];
	return !any;
}

static inline unsigned set_pop(struct domain_set *set)
{
	unsigned w = 0, bit;

	while (!set->word[w])
		w++;
	bit = lowest_bit(set->word[w]);
	set->word[w] &= set->word[w] - 1;
	return 32 * w + bit;
}

/* Start a CGA of @level in @domain: its parts come next. */
static void enter(unsigned level, unsigned domain)
{
	const struct cga *cga = session.cga;
	struct frame *f = &session.frame[level];

	f->range = domain_inside(cga->kind[level - 1], cga->kind[level], domain);
	f->round = (struct domain_set){ 0 };
	f->left = cga->parts[level];
	f->trial = 0;
	f->speed = MIMIC_INVALID;
	if (cga->identity == level) {
		if (domains.gpc[domain].credits)
			identify(&domains.gpc[domain]);
		else
			f->range.n = 0;
	}
}

/* An identity that was taken for a CGA of which no record was written. */
static void drop_identity(unsigned level, struct mark mark)
{
	if (session.cga->identity == level && session.frame[level].range.n && mark.next == command_ring.next)
		gpm_undo(session.gpc, session.id, session.lmem);
}

/* Parts that have parts: a trial of the domain has ended with @speed. Return: all have been tried. */
static bool tried(struct frame *f, unsigned level, int speed)
{
	unsigned domain = f->trial - 1;

	drop_identity(level - 1, f->mark);
	undo(f->mark);
	if (speed >= 0 && speed >= f->speed) {
		if (speed > f->speed)
			f->round = (struct domain_set){ 0 };
		f->speed = speed;
		f->round.word[domain / 32] |= 1u << (domain % 32);
	}
	f->trial = domain + 1u < f->range.first + (uint32_t)f->range.n ? domain + 2 : 0;
	return !f->trial;
}

/* Go on with the CGA at @level, whose parts have parts. Return: the level of the part that comes next. */
static COLD unsigned step_down(unsigned level)
{
	struct frame *f = &session.frame[level];

	if (!f->trial && set_empty(&f->round)) {
		f->speed = MIMIC_INVALID;
		f->trial = 1u + f->range.first;
		f->mark = mark_here();
	}
	if (f->trial) {
		enter(level - 1, f->trial - 1);
	} else {
		f->left--;
		enter(level - 1, set_pop(&f->round));
	}
	return level - 1;
}

/*
 * The CGA at @level is complete (its @speed), or there is no room for it. Return: the
 * level to go on with, 0 = no room for an outermost one.
 */
static COLD unsigned step_up(unsigned level, int speed)
{
	unsigned top = session.cga->levels;

	for (; level < top; level++, speed = MIMIC_INVALID) {
		struct frame *f = &session.frame[level + 1];

		if (!f->trial) {
			f->speed = speed;
			return level + 1;
		}
		if (!tried(f, level + 1, speed) || !set_empty(&f->round))
			return level + 1;
		/* no domain can take this part: nor is there room for the whole */
	}
	return 0;
}

/* CPCs of one GPC share its credits: one of the round may have taken the last. */
static inline bool still_valid(unsigned domain)
{
	return answers.ask.kind != TUTTI_CGA_CPC || !answers.identity ||
	       domains.gpc[domains.cpc_gpc[domain]].credits;
}

/* An innermost part. Return: false = no room. */
static inline bool place_part(struct frame *f)
{
	unsigned domain;

	do {
		if (set_empty(&f->round)) {
			refresh();
			f->speed = fastest(f);
			if (f->speed < 0)
				return false;
		}
		domain = set_pop(&f->round);
	} while (unlikely(!still_valid(domain)));
	f->left--;
	launch_part(domain);
	return true;
}

static inline bool room(void)
{
	return COMMAND_WORDS - (command_tail() - HAL_ENGINES->command_head) >= session.cga->words;
}

static void begin(struct task *task, const struct cga *cga, uint32_t n)
{
	struct frame *top = &session.frame[cga->levels];

	session.cga = cga;
	session.task = task;
	session.mark = mark_here();
	top->range = domain_inside(cga->kind[cga->levels - 1], DOMAIN_KIND_CARD, 0);
	top->round = (struct domain_set){ 0 };
	top->left = n;
	top->trial = 0;
}

static COLD enum session_end run_levels(struct task *task, const struct cga *cga, uint32_t n, uint32_t *launched)
{
	unsigned top = cga->levels, level = top;
	struct frame *f;

	*launched = 0;
	begin(task, cga, n);
	while (level) {
		f = &session.frame[level];
		if (level == top && !f->trial) {
			if (command_ring.next != session.mark.next) {
				commit();
				++*launched;
			}
			if (!f->left)
				return SESSION_DONE;
			if (!room())
				return SESSION_ROOM;
		}
		if (likely(level == 1)) {
			if (f->left && likely(place_part(f)))
				continue;
			level = step_up(1, f->left ? MIMIC_INVALID : f->speed);
		} else if (f->left && f->range.n) {
			level = step_down(level);
		} else {
			level = step_up(level, f->left ? MIMIC_INVALID : f->speed);
		}
	}
	return SESSION_FULL;
}

/* Multicast, a memory slot, or others on the card that look at its lakes. */
static __attribute__((noinline)) uint32_t *place_rare(struct task *task, const struct cga *cga, struct gpc *gpc, unsigned id,
						      uint32_t *p)
{
	uint32_t *end = mimic_take(gpc, gpc->all, cga->ask.ctas, cga->ask.multicast, p + 3), *q;

	if (cga->lmem)
		p[2] = gpm_lmem_take(gpc, id);
	if (!shapes.ahead)
		for (q = p + 3; q != end; q += 2)
			place_positions(task->shape, gpc, *q & 0xffff, q[1]);
	return end;
}

/*
 * Grids of GPC_CGAs of CTAs, the usual ones: the machine has one level, a CGA one record.
 * Answers change between rounds only, so a round reads its domains where they stand.
 */
static inline __attribute__((always_inline)) uint32_t run_gpcs(struct task *task, const struct cga *cga, uint32_t n)
{
	const uint32_t *set = NULL;
	uint32_t bits = 0, bit, words = 0, w = 0, sequence = session.sequence, *p, *q, *end, sms, head, life;
	bool rare = !domain_lead(task->shape) || cga->ask.multicast || cga->lmem;
	unsigned ctas = cga->ask.ctas, id;
	struct gpm_cga *me;
	struct gpc *gpc;

	life = ctas | (uint32_t)task->slot << 16;
	head = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 0, task->slot | (TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA) << 8);
	for (; n; n--) {
		while (unlikely(!bits)) {
			if (words) {
				words--;
				w++;
				bits = *++set;
				continue;
			}
			refresh();
			if (unlikely(!answers.used))
				goto out;
			set = answers.speed_of[31 - lowest_bit(answers.used)].word;
			words = answers.words - 1;
			w = 0;
			bits = *set;
		}
		bit = bits & -bits;
		bits ^= bit;
		answers.stale.word[w] |= bit;
		gpc = &domains.gpc[32 * w + lowest_bit(bit)];
		p = command_begin(3 + MIMIC_SEGMENTS);
		id = gpc->id_next;
		me = &gpm_cgas[gpc->id_base + id];
		gpc->id_next = (uint8_t)(me->life >> 24);
		gpc->credits--;
		me->life = life;
		p[1] = sequence | id << 16 | gpc->tag;
		sequence = (sequence + 1) & 0xffff;
		p[2] = GPM_NO_LMEM;
		if (unlikely(rare))
			end = place_rare(task, cga, gpc, id, p);
		else
			end = mimic_take_gpc(gpc, ctas, p + 3);
		p[0] = head | (uint32_t)((char *)end - (char *)p) << 6;
		command_end(end);
		sms = p[4];
		for (q = p + 6; unlikely(q < end); q += 2)
			sms |= *q;
		me->sms = sms;
	}
out:
	session.sequence = (uint16_t)sequence;
	return n;
}

/* As many CGAs as there is certainly room for. */
static HOT enum session_end run_simple(struct task *task, const struct cga *cga, uint32_t n, uint32_t *launched)
{
	uint32_t room = (COMMAND_WORDS - COMMAND_RECORD - (command_tail() - HAL_ENGINES->command_head)) / (3 + MIMIC_SEGMENTS);
	uint32_t wanted = n, left;

	if (unlikely(n > room))
		n = (int32_t)room > 0 ? room : 0;
	left = run_gpcs(task, cga, n);
	*launched = n - left;
	account(task->shape, (n - left) * cga->ask.ctas);
	shapes.grouped_ctas += (n - left) * cga->ask.ctas;
	return likely(n == wanted && !left) ? SESSION_DONE : left ? SESSION_FULL : SESSION_ROOM;
}

HOT enum session_end session_run(struct task *task, const struct cga *cga, uint32_t n, uint32_t *launched)
{
	if (unlikely(answers.epoch != domains.epoch || !ask_same(&answers.ask, &cga->ask) ||
		     answers.identity != (cga->identity == 0)))
		reset(cga);
	if (likely(cga->levels == 1 && cga->ask.kind == TUTTI_CGA_GPC))
		return run_simple(task, cga, n, launched);
	return run_levels(task, cga, n, launched);
}

/* ---- what would fit ---- */

/* Domain @number of @kind is the last one in its domain of the larger kind @outer. */
static bool last_inside(unsigned kind, unsigned outer, unsigned number)
{
	unsigned gpc = kind == TUTTI_CGA_CPC ? domains.cpc_gpc[number] : number, of;
	struct domain_range in;

	if (outer == TUTTI_CGA_GPU)
		of = 0;
	else if (outer == TUTTI_CGA_UGPU)
		of = domains.gpc[gpc].ugpu;
	else
		of = gpc;
	in = domain_inside(kind, outer, of);
	return number + 1 == in.first + (unsigned)in.n;
}

/*
 * Innermost CGAs are counted; where the domain of a larger one ends, as many of those as
 * they make up are what counts. Whichever domains are taken first, that many fit.
 */
COLD unsigned session_fits(const struct cga *cga, unsigned kind, unsigned number, unsigned enough)
{
	struct domain_range all = domain_inside(cga->ask.kind, kind, number);
	uint32_t have[TUTTI_CGA_LEVELS + 1] = { 0 }, needed = enough;
	unsigned level, d;

	for (level = 1; level < cga->levels; level++)
		needed *= cga->parts[level];
	for (d = 0; d < all.n; d++) {
		have[0] += mimic_count(&cga->ask, all.first + d, needed);
		for (level = 1; level < cga->levels; level++) {
			if (!last_inside(cga->ask.kind, cga->kind[level], all.first + d))
				break;
			have[level] += have[level - 1] / cga->parts[level];
			have[level - 1] = 0;
		}
	}
	return have[cga->levels - 1];
}
