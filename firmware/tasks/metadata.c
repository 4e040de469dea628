// SPDX-License-Identifier: MIT
#include "tasks/metadata.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/queue_record.h"
#include "core/state.h"
#include "core/task_record.h"
#include "core/wait.h"

struct tmd tmds[FW_TMDS];
static unsigned works; /* number of live queue tasks */
struct tmd *tmd_free HOT_DATA;
uint32_t tmd_free_count HOT_DATA;

#define STEP_MORE 1u /* value of struct tmd.step: what the record names is being fetched */
#define STEP_WAIT 2u /* this fetch waits for a free affinity mask, or for room in the command ring */
#define MORE_WORDS (3 * COMMAND_FETCH_WORDS) /* a mask, and two parts of a work queue */

/* Two parts of a struct tutti_work_queue are fetched at first: its read index; then base, sizes and "closed". */
#define WORK_READ offsetof(struct tutti_work_queue, read_index)
#define WORK_SIZES offsetof(struct tutti_work_queue, base)
#define WORK_SIZES_BYTES (offsetof(struct tutti_work_queue, pad3) - WORK_SIZES)

COLD void tmd_init(void)
{
	unsigned i;

	tmd_free = NULL;
	tmd_free_count = 0;
	for (i = FW_TMDS; i--;)
		tmd_give_back(&tmds[i]);
	works = 0;
}

struct tmd *tmd_next_work(struct tmd *tmd)
{
	if (!works)
		return NULL;
	for (tmd = tmd ? tmd + 1 : tmds; tmd < tmds + FW_TMDS; tmd++)
		if (tmd->stage == TMD_TASK && tmd_is_queue(tmd))
			return tmd;
	return NULL;
}

unsigned tmd_number(const struct tmd *tmd)
{
	return (unsigned)(tmd - tmds);
}

/* ---- checks ---- */

static bool levels_ok(const struct tutti_cga_shape *level)
{
	unsigned i, kind = TUTTI_CGA_NONE;

	for (i = 0; i < TUTTI_CGA_LEVELS && level[i].kind; i++) {
		if (level[i].kind <= kind || level[i].kind > TUTTI_CGA_GPU || !level[i].x || !level[i].y || !level[i].z)
			return false;
		kind = level[i].kind;
	}
	for (; i < TUTTI_CGA_LEVELS; i++)
		if (level[i].kind || level[i].x || level[i].y || level[i].z)
			return false;
	return true;
}

/* A value that counts only with its flag must be 1 .. @most with it, and 0 without. */
static bool only_with(bool flag, uint32_t value, uint32_t most)
{
	return flag ? value - 1 < most : !value;
}

#define CHECK(good, field) do { if (!(good)) return (int)offsetof(struct tutti_tmd, field); } while (0)

/* Return: byte offset of the first bad field, or -1 if there is none. @highest: priority that may be asked for; 0: any */
static int check(const struct tutti_tmd *t, unsigned highest)
{
	bool queue = t->type == TUTTI_TASK_QUEUE, cga = t->cga[0].kind;
	uint32_t f = t->flags;

	CHECK(t->magic == TUTTI_TMD_MAGIC, magic);
	CHECK(t->version == TUTTI_TMD_VERSION, version);
	CHECK(t->type <= TUTTI_TASK_QUEUE, type);
	CHECK(t->priority <= 10 && (!t->priority || t->priority >= highest), priority);
	CHECK(t->cga_mode <= TUTTI_CGA_MULTICAST, cga_mode);
	CHECK(!(f & ~TUTTI_TMD_FLAGS), flags);
	CHECK(!(f & TUTTI_TMD_INDEPENDENT) || !(f & TUTTI_TMD_DEPENDENT), flags);
	/* a sequence task runs one CTA at a time, never a whole CGA; a queue task has no grid to group */
	CHECK(!cga || !(f & TUTTI_TMD_SEQUENCE || queue), flags);
	CHECK(only_with(f & TUTTI_TMD_QUOTA, t->quota, ~0u), quota);
	CHECK(f & TUTTI_TMD_AFFINITY ? t->affinity && !(t->affinity & 3) && fw_address_ok(t->affinity) : !t->affinity,
	      affinity);
	CHECK(queue ? t->queue && !(t->queue & 63) && fw_address_ok(t->queue) : !t->queue, queue);
	CHECK(only_with(queue, t->coalesce_max, 0xffff), coalesce_max);
	CHECK(only_with(queue, t->coalesce_min, t->coalesce_max), coalesce_min);
	CHECK(queue || !t->coalesce_us, coalesce_us);
	CHECK(only_with(f & TUTTI_TMD_THROTTLE, t->throttle_sms, fw.sms), throttle_sms);
	CHECK(levels_ok(t->cga), cga);
	CHECK(!t->pad0, pad0);
	return -1;
}

static bool sizes_ok(struct work *work)
{
	const uint32_t *sizes = (const uint32_t *)&work->fetched[1];
	uint32_t items = sizes[2], bytes = sizes[3];

	work->read = work->written = work->fetched[0];
	work->items = items;
	work->each = work->issued = 0;
	work->deadline = ~0ull;
	return items > 1 && !(items & (items - 1)) && bytes >= 8 && !(bytes & 7) &&
	       !((sizes[0] & 7) | sizes[1] >> 15) && (uint64_t)items * bytes <= TUTTI_VA_END;
}

/* ---- fetching ---- */

/*
 * Room in the command ring was asked for by queue_run() (as part of PLACE_OTHERS), by child tasks, or by fetch_more().
 */
static void fetch(struct tmd *tmd, uint64_t address, unsigned bytes, void *to)
{
	tmd->answers++;
	counters.fetches++;
	command_fetch(queue_asid(tmd->queue), 0, address, bytes, to, TAG_TMD | (unsigned)(tmd - tmds));
}

/* Whether there is a free mask for @tmd. As with records, no context may hold more masks than it leaves free. */
static bool mask_left(const struct tmd *tmd)
{
	const struct tmd *other;
	unsigned own = 0;

	for (other = tmds; other < tmds + FW_TMDS; other++)
		own += other->stage != TMD_FREE && other->affinity && queue_asid(other->queue) == queue_asid(tmd->queue);
	return own < affinity_left();
}

/* Fetch what a valid record names. Return: false if no mask is free, or there is no room for the commands */
static bool fetch_more(struct tmd *tmd)
{
	const struct tutti_tmd *t = tmd_static(tmd);

	if (!tmd_flag(tmd, TUTTI_TMD_AFFINITY) && !tmd_is_queue(tmd))
		return true;
	if (!command_ask(MORE_WORDS))
		return false;
	if (tmd_flag(tmd, TUTTI_TMD_AFFINITY)) {
		if (!mask_left(tmd))
			return false;
		tmd->affinity = (uint8_t)affinity_take();
		fetch(tmd, t->affinity, fw.words * 4, affinity_mask(tmd->affinity));
	}
	if (tmd_is_queue(tmd)) {
		fetch(tmd, t->queue + WORK_READ, 8, &tmd->work.fetched[0]);
		fetch(tmd, t->queue + WORK_SIZES, WORK_SIZES_BYTES, &tmd->work.fetched[1]);
	}
	return true;
}

/*
 * Whether @queue may take a record. No context may hold more records than it leaves free, so there are some for others however
 * long its tasks run (REL-12). The last ones are kept for queues of higher priority, so that their tasks are accepted
 * however many others wait.
 */
static COLD bool few_own(const struct queue *queue)
{
	const struct tmd *tmd;
	unsigned own = 0;

	for (tmd = tmds; tmd < tmds + FW_TMDS; tmd++)
		own += tmd->stage != TMD_FREE && queue_asid(tmd->queue) == queue_asid(queue);
	return own + queue->priority / 2 < tmd_free_count;
}

/* The fields of the record that are not set here are set when what they are about begins. */
HOT void tmd_begin(struct queue *queue, uint64_t address)
{
	struct tmd *tmd = tmd_free;

	tmd_free = tmd->next_free;
	tmd_free_count--;
	tmd->address = address;
	tmd->queue = queue;
	tmd->progress = TMD_FIRST_FETCH;
	tmd->unusual = 0;
	tmd->evictions = tmd->turns = tmd->timeouts = 0;
	tmd->work.none = 0;
	counters.fetches++;
	command_end(command_put_fetch(command_ring.next, queue_asid(queue), address, TMD_WORDS * 4, tmd->word,
				      TAG_TMD | (unsigned)(tmd - tmds)));
	queue->tmd = (uint8_t)(tmd - tmds + 1);
}

/* A packet of the queue may wait for other metadata. */
COLD struct tmd *tmd_fetch(struct queue *queue, uint64_t address)
{
	unsigned other = queue->tmd;
	struct tmd *tmd;

	if (!tmd_many_free(queue) && !few_own(queue))
		return NULL;
	command_begin(COMMAND_FETCH_WORDS);
	tmd_begin(queue, address);
	tmd = &tmds[queue->tmd - 1];
	queue->tmd = (uint8_t)other;
	return tmd;
}

/* Get metadata for a packet that nothing was fetched for yet. */
static int ask(struct queue *queue, uint64_t address)
{
	struct tmd *tmd;

	if (address & 63 || !fw_address_ok(address))
		return packet_refuse(TUTTI_ERROR_TMD, offsetof(struct tutti_dispatch_packet, tmd));
	tmd = tmd_fetch(queue, address);
	if (!tmd)
		return wait_park(queue, WAIT_TMD);
	queue->tmd = (uint8_t)(tmd - tmds + 1);
	return wait_park(queue, WAIT_METADATA);
}

/* Return: the queue that goes on; NULL: the record belongs to a child task */
static struct queue *answered(struct tmd *tmd, enum tmd_stage stage)
{
	tmd->stage = (uint8_t)stage;
	return tmd->child ? NULL : tmd->queue;
}

static struct queue *bad(struct tmd *tmd, unsigned field)
{
	tmd->field = (uint8_t)field;
	return answered(tmd, TMD_BAD);
}

/*
 * The record itself has arrived and is valid. A child task's record never waits for a mask: its creator waits for the
 * answer, and the tasks that hold masks may wait for the creator.
 */
static struct queue *go_on(struct tmd *tmd)
{
	tmd->step = STEP_MORE;
	if (tmd->child && tmd_flag(tmd, TUTTI_TMD_AFFINITY) && !mask_left(tmd))
		return answered(tmd, TMD_BUSY);
	if (!fetch_more(tmd))
		tmd->step = STEP_WAIT;
	else if (!tmd->answers)
		return answered(tmd, TMD_FETCHED);
	return NULL;
}

static struct queue *fetched_record(struct tmd *tmd)
{
	int field = check(tmd_static(tmd), tmd->queue->highest);

	if (field >= 0)
		return bad(tmd, (unsigned)field);
	tmd->quota_left = tmd_static(tmd)->quota;
	return go_on(tmd);
}

COLD void tmd_resume(void)
{
	struct queue *queue;
	struct tmd *tmd;

	for (tmd = tmds; tmd < tmds + FW_TMDS; tmd++) {
		if (tmd->stage != TMD_FETCHING || tmd->step != STEP_WAIT)
			continue;
		queue = go_on(tmd);
		if (queue)
			wait_ready(queue);
		else
			attention.settle |= ATTEND_CHILD; /* it may be a child's */
	}
}

static struct queue *fetched_more(struct tmd *tmd)
{
	if (tmd->affinity && !affinity_order(tmd->affinity))
		return bad(tmd, offsetof(struct tutti_tmd, affinity));
	if (tmd_is_queue(tmd) && !sizes_ok(&tmd->work))
		return bad(tmd, offsetof(struct tutti_tmd, queue));
	return answered(tmd, TMD_FETCHED);
}

COLD struct queue *tmd_event_fetch(struct tmd *tmd, const struct tutti_event *event)
{
	unsigned cause = event->word[0] >> 8 & 0xff;

	if (tmd->stage != TMD_FETCHING || !tmd->answers)
		return NULL;
	if (cause)
		tmd->cause = (uint8_t)cause;
	if (--tmd->answers)
		return NULL;
	if (tmd->orphan) {
		tmd_put(tmd);
		return NULL;
	}
	if (tmd->cause)
		return bad(tmd, !tmd->step ? 0 : tmd->affinity ? offsetof(struct tutti_tmd, affinity)
								: offsetof(struct tutti_tmd, queue));
	return !tmd->step ? fetched_record(tmd) : fetched_more(tmd);
}

/* ---- owners ---- */

static struct tmd *own(const struct queue *queue)
{
	return queue->tmd ? &tmds[queue->tmd - 1] : NULL;
}

COLD int tmd_bad(const struct tmd *tmd)
{
	packet_refuse(TUTTI_ERROR_TMD, offsetof(struct tutti_dispatch_packet, tmd));
	packet_error.address = tmd->address + tmd->field;
	packet_error.cause = tmd->cause;
	packet_error.engine = tmd->cause ? TUTTI_ENGINE_FETCH : TUTTI_ENGINE_FIRMWARE;
	packet_error.access = tmd->cause ? TUTTI_ACCESS_READ : TUTTI_ACCESS_NONE;
	return TUTTI_ERROR_TMD;
}

COLD int tmd_refuse(struct queue *queue, const struct tmd *tmd)
{
	tmd_bad(tmd);
	tmd_drop(queue);
	return TUTTI_ERROR_TMD;
}

COLD int tmd_get(struct queue *queue, uint64_t address, struct tmd **out)
{
	struct tmd *tmd = own(queue);

	/* the packet was fetched again, and its slot holds another one now */
	if (tmd && tmd->address != address) {
		tmd_drop(queue);
		tmd = NULL;
	}
	if (!tmd)
		return ask(queue, address);
	if (tmd->stage == TMD_FETCHING)
		return wait_park(queue, WAIT_METADATA);
	if (tmd->stage == TMD_BAD)
		return tmd_refuse(queue, tmd);
	*out = tmd;
	return 0;
}

COLD void tmd_take_any(struct queue *queue, struct tmd *tmd, uint32_t groups)
{
	tmd->stage = TMD_TASK;
	tmd->groups = groups;
	works += tmd_is_queue(tmd);
	if (own(queue) == tmd)
		queue->tmd = 0;
}

COLD void tmd_put(struct tmd *tmd)
{
	tmd_give_back(tmd);
	if (tmd->affinity) {
		affinity_put(tmd->affinity);
		tmd->affinity = 0;
		command_later(); /* tmd_resume() serves those that wait for a mask */
	}
	wait_wake(WAIT_TMD);
}

COLD void tmd_child_ended(struct tmd *tmd)
{
	struct task *parent = tmd->parent;

	if (!parent || tmd->stage != TMD_TASK)
		return;
	if (!--parent->children)
		parent->rare &= (uint16_t)~TASK_PARENT;
}

COLD void tmd_orphan(struct task *parent)
{
	struct tmd *tmd;

	for (tmd = tmds; tmd < tmds + FW_TMDS; tmd++)
		if (tmd->parent == parent)
			tmd->parent = NULL;
	parent->children = 0;
}

COLD void tmd_drop_children(struct queue *queue)
{
	struct tmd *tmd;

	for (tmd = tmds; tmd < tmds + FW_TMDS; tmd++) {
		if (!tmd->child || tmd->queue != queue)
			continue;
		if (tmd->answers)
			tmd->orphan = 1;
		else if (tmd->stage != TMD_FREE && tmd->stage < TMD_TASK)
			tmd_put(tmd);
	}
}

static COLD void end_rare(struct tmd *tmd)
{
	if (tmd->child)
		tmd_child_ended(tmd);
	if (tmd->stage == TMD_TASK && tmd_is_queue(tmd)) {
		tmd->queue->works--;
		works--;
	}
	if (tmd->work.fetching)
		tmd->stage = TMD_ENDED;
	else
		tmd_put(tmd);
}

void tmd_end(struct tmd *tmd)
{
	if (unlikely(tmd->unusual) || unlikely(tmd_is_queue(tmd)) || unlikely(tmd->stage != TMD_TASK))
		return end_rare(tmd);
	tmd_give_back(tmd);
	wait_wake(WAIT_TMD);
}

COLD void tmd_drop(struct queue *queue)
{
	struct tmd *tmd = own(queue);

	queue->tmd = 0;
	if (!tmd)
		return;
	if (tmd->answers)
		tmd->orphan = 1;
	else
		tmd_put(tmd);
}

/* ---- writing back ---- */

COLD void tmd_write(const struct tmd *tmd, uint32_t state, uint32_t error, uint32_t issued, uint32_t completed)
{
	uint64_t left = tmd_is_queue(tmd) ? tmd->work.written - tmd->work.read : 0;

	command_end(tmd_write_at(command_begin(TMD_WRITE_WORDS), tmd, tmd->queue->asid_queue,
				 state | (uint64_t)error << 32, issued, completed, left));
}
