// SPDX-License-Identifier: MIT
#include "cga.h"

#include "command.h"
#include "counter.h"
#include "place.h"
#include "queue.h"

/* Commands of others between two looks at the room in the ring. */
#define MARGIN 512u

struct cga_state cga_state;

static struct cga grids[FW_TASKS];

/* The last grid that was found to fit, and on what. */
static struct {
	struct cga cga;
	uint32_t capacity, changes;
} known;

void cga_init(void)
{
	cga_state = (struct cga_state){ .patience = CGA_PATIENCE };
	known.capacity = 0;
	domain_init();
	gpm_init();
	session_init();
}

/* ---- checks ---- */

/* The identity CGA is the outermost that lies in one GPC. */
static void find_identity(struct cga *cga)
{
	unsigned i;

	cga->identity = SESSION_NO_IDENTITY;
	cga->identities = 1;
	for (i = 0; i < cga->levels; i++)
		if (cga->kind[i] <= TUTTI_CGA_GPC) {
			cga->identity = (uint8_t)i;
			cga->identities = 1;
		} else if (i) {
			cga->identities *= cga->parts[i];
		}
	if (cga->identity == SESSION_NO_IDENTITY)
		cga->identities = 0;
}

/* Worst: every row a segment of its own; see session.c for what CGAs without identity need. */
static void find_words(struct cga *cga)
{
	uint32_t rows = cga->ask.multicast ? 1 : domains.levels, launches = 1, each, i;

	if (rows > cga->ask.ctas)
		rows = cga->ask.ctas;
	for (i = 1; i < cga->levels; i++)
		launches *= cga->parts[i];
	each = 3 + 2 * (rows + 1);
	if (cga->kind[0] > TUTTI_CGA_GPC)
		each = domains.gpcs * (each + (rows + 1) * (3 + 2 * (domains.moved ? fw.words : 2)));
	cga->words = launches * each + COMMAND_RECORD + MARGIN;
}

/* Levels in use, their kinds and parts; false: they make no sense or are too large for any card. */
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
		cga_state.level[i] = level[i];
	}
	for (cga->levels = (uint8_t)i; i < TUTTI_CGA_LEVELS; i++)
		if (level[i].kind)
			return false;
		else
			cga_state.level[i] = level[i];
	cga->ask = (struct mimic_ask){ .ctas = cga->parts[0], .kind = cga->kind[0],
				       .multicast = mode == TUTTI_CGA_MULTICAST };
	find_identity(cga);
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

static bool same(const struct cga *a, const struct cga *b)
{
	unsigned i;

	for (i = 0; i < TUTTI_CGA_LEVELS; i++)
		if (a->kind[i] != b->kind[i] || a->parts[i] != b->parts[i])
			return false;
	return a->ask.multicast == b->ask.multicast;
}

/* On an idle card, with the SMs and caps of now. */
static bool ever_fits(const struct cga *cga, uint32_t capacity)
{
	if (known.capacity == capacity && capacity && known.changes == shapes.changes && same(cga, &known.cga))
		return true;
	domain_idle(capacity);
	if (!session_fits(cga, DOMAIN_KIND_CARD, 0, 1))
		return false;
	known.cga = *cga;
	known.capacity = capacity;
	known.changes = shapes.changes;
	return true;
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
	    !make(level, mode, lmem, cga) || !cga_divides(level, groups))
		return TUTTI_ERROR_GRID;
	if (cga->words > COMMAND_WORDS)
		return TUTTI_ERROR_GRID;
	if (cga->identity != SESSION_NO_IDENTITY && together(cga) > d->cga_ctas)
		return TUTTI_ERROR_GRID;
	if (lmem && (!cga->identities || cga->identities > gpm.lmem_slots))
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

COLD void cga_mark_queue(struct queue *queue)
{
	unsigned i;

	if (queue->flags & QUEUE_GROUPED)
		return;
	queue->flags |= QUEUE_GROUPED;
	if (!queue->rsb)
		return;
	queue->rsb->grouped = 1;
	for (i = 0; i < fw.max_queues; i++)
		if (queues[i].rsb == queue->rsb)
			queues[i].flags |= QUEUE_GROUPED;
}

COLD void cga_expect(struct queue *queue, struct tutti_reference *reference)
{
	cga_mark_queue(queue);
	cga_state.queue = queue;
	cga_state.packet = queue->head;
	cga_state.reference = reference;
}

/* Room behind the STATE record that was written last; it moves to the ring's start if there is none. */
static uint32_t *extend(unsigned words)
{
	uint32_t *state = command_ring.next - STATE_WORDS - 1, *p;

	if ((size_t)((char *)command_ring.end - (char *)command_ring.next) >= words * 4)
		return state;
	p = command_wrap();
	words_copy(p, state, STATE_WORDS + 1);
	*state = TUTTI_CMD_NOP | (STATE_WORDS + 1u) << 8;
	return p;
}

static COLD void begin(struct task *task, const struct cga *cga)
{
	const unsigned words = sizeof(cga_state.level) / 4;
	uint32_t *p = extend(words), *state = p + 1, x = 1, y = 1, z = 1;
	unsigned i;

	grids[task->slot] = *cga;
	task->cga = &grids[task->slot];
	shapes.grouped++;
	for (i = 0; i <= cga->identity && i < cga->levels; i++) {
		x *= cga_state.level[i].x;
		y *= cga_state.level[i].y;
		z *= cga_state.level[i].z;
	}
	if (cga->identity != SESSION_NO_IDENTITY) {
		state[STATE_AT(cga_x)] = x | y << 16;
		state[STATE_AT(cga_z)] |= z;
	}
	words_copy(state + STATE_WORDS, cga_state.level, words);
	*p = TUTTI_COMMAND(TUTTI_CMD_STATE, 1 + STATE_WORDS + words, (uint32_t)task->slot << 8 | TUTTI_STATE_CGA);
	command_end(state + STATE_WORDS + words);
}

COLD void cga_begin(struct queue *queue, struct task *task)
{
	if (cga_state.queue != queue || cga_state.packet != task->packet)
		return;
	cga_state.queue = NULL;
	begin(task, &cga_state.next);
	if (cga_state.reference) {
		cga_state.reference->cga = cga_state.level[0];
		if (cga_state.next.lmem)
			cga_state.reference->flags |= TUTTI_REFERENCE_LMEM;
	}
}

COLD void cga_begin_reference(struct task *task, const struct tutti_reference *entry)
{
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];

	if (!entry->cga.kind)
		return;
	cga_levels(&entry->cga, level);
	/* it was checked when it was stored or patched */
	if (make(level, cga_state.mode, entry->flags & TUTTI_REFERENCE_LMEM, &cga_state.next))
		begin(task, &cga_state.next);
}

/* ---- placement ---- */

/* Nothing is on the card or coming back, and still there is no room: SMs were disabled meanwhile. */
static COLD bool hopeless(const struct task *task)
{
	return !shapes.residents && gpm_idle() && !ever_fits(task->cga, task->shape->capacity);
}

static void give_up(struct task *task)
{
	static const struct task_error never = { .code = TUTTI_ERROR_GRID, .sm_wave = ~0u };

	task_fail(task, &never);
}

/* The card-wide lakes of the shape hold what the rows show while a session runs. */
static enum session_end session(struct task *task, uint32_t n, uint32_t *launched)
{
	const struct cga *cga = task->cga;
	enum session_end end;
	uint32_t slots = gpm.lmem_free;

	if (cga->lmem && slots < n * cga->identities)
		n = slots / cga->identities;
	domain_sync(task->shape);
	end = session_run(task, cga, n, launched);
	n = *launched * cga->ctas;
	task->unissued -= n;
	task->resident += n;
	domains.issued = counters.ctas_issued;
	if (n && cga->identity == SESSION_NO_IDENTITY)
		domains.dirty = true;
	return end;
}

static COLD void release_hold(void)
{
	cga_state.holder = NULL;
	shape_hold(NULL);
}

HOT uint32_t cga_place(struct task *task)
{
	bool held = cga_state.holder == task;
	uint32_t launched, any = 0;
	enum session_end end;

	if (unlikely(held))
		shape_hold_lift(true);
	do {
		end = session(task, task->unissued / task->cga->ctas, &launched);
		any |= launched;
		/* with more free slots than rows the rows are filled again */
	} while (unlikely(end == SESSION_FULL && domains.clipped) && launched && (domains.dirty = true));
	if (unlikely(held)) {
		shape_hold_lift(false);
		if (any)
			release_hold();
	}
	if (unlikely(end == SESSION_ROOM)) {
		place_state.blocked = true;
		attention.settle |= ATTEND_ROOM;
	} else if (unlikely(!any && task->unissued && hopeless(task))) {
		give_up(task);
	}
	return task->unissued;
}

/* ---- CGAs that others keep from starting (spec CGA-05) ---- */

static void hold_domain(uint32_t *mask, unsigned kind, unsigned number)
{
	struct domain_range range = domain_inside(TUTTI_CGA_GPC, kind, number);
	uint32_t part[32][2], within;
	unsigned i, n;

	for (i = 0; i < range.n; i++) {
		const struct gpc *gpc = &domains.gpc[range.first + i];

		within = kind == TUTTI_CGA_CPC ? domains.cpc[number] : gpc->all;
		for (n = domain_scatter(gpc, within, part); n--;)
			mask[part[n][0]] |= part[n][1];
	}
}

/* Domains that could take the CGA if they were empty take nothing else until it has found room. */
static COLD void hold(struct task *task)
{
	const struct cga *cga = task->cga;
	unsigned kind = cga->kind[cga->levels - 1], d;
	struct domain_range all = domain_inside(kind, DOMAIN_KIND_CARD, 0);
	uint32_t mask[LAKE_WORDS] = { 0 };

	for (d = all.first; d < all.first + (unsigned)all.n; d++) {
		domain_idle(task->shape->capacity);
		if (session_fits(cga, kind, d, 1))
			hold_domain(mask, kind, d);
	}
	cga_state.holder = task;
	shape_hold(mask);
}

COLD void cga_passed(struct task *task)
{
	if (++task->passed >= cga_state.patience && !cga_state.holder)
		hold(task);
}

COLD void cga_end(struct task *task)
{
	if (cga_state.holder == task)
		release_hold();
	task->cga = NULL;
	shapes.grouped--;
}

/* ---- events ---- */

static void raise_positions(struct shape *shape, const struct gpc *gpc, uint32_t repeat, uint32_t mask)
{
	uint32_t part[32][2], i, parts = domain_scatter(gpc, mask, part);

	while (parts--)
		for (i = repeat; i; i--)
			lake_raise(&shape->lake, part[parts][0], part[parts][1]);
}

HOT void cga_event(const struct tutti_event *event)
{
	uint32_t head = event->word[0], repeat = event->word[1], n = event->word[2], mask = event->word[3];
	struct task *task = &tasks[head >> 8 & (FW_TASKS - 1)];
	struct gpc *gpc = &domains.gpc[domains.index[head >> 16 & (TUTTI_MAX_GPCS - 1)]];

	if (likely(domains.shape == task->shape)) {
		domain_raise(gpc, repeat, mask);
		session_stale(gpc);
	} else {
		domains.dirty = true;
	}
	if (!shapes.ahead)
		raise_positions(task->shape, gpc, repeat, mask);
	shapes.grouped_ctas -= n;
	gpm_ended(gpc, head >> 24, n);
	task_ended(task, n);
}

void cga_event_flushed(const struct tutti_event *event)
{
	if (!gpm_event_flushed(event))
		return;
	session_stale(&domains.gpc[domains.index[event->word[0] >> 8 & (TUTTI_MAX_GPCS - 1)]]);
	if (place_state.hungry)
		place_hungry();
}

/* Found by the target: no program counter. A CGA that is gone has no errors any more (spec CGA-27). */
COLD void cga_event_fault(const struct tutti_event *event)
{
	const uint32_t *w = event->word;
	int slot = gpm_task(w[0] >> 8 & 0xff, w[0] >> 16 & 0xff);
	struct task_error error = {
		.code = TUTTI_ERROR_CGA, .engine = TUTTI_ENGINE_WAVE, .cause = (uint8_t)(w[0] >> 24),
		.sm_wave = w[1], .address = w[2],
	};

	if (slot >= 0)
		task_fail(&tasks[slot], &error);
}
