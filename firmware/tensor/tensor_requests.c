// SPDX-License-Identifier: MIT
#include "tensor/tensor_requests.h"

#include "core/command_ring.h"
#include "core/state.h"
#include "tensor/bulk_copy.h"
#include "tensor/descriptor_cache.h"
#include "tensor/im2col.h"
#include "tensor/plain_request.h"
#include "tensor/request_rules.h"
#include "tensor/tile.h"

#define FILL_PIECE 0x40000000u /* most bytes that one mover descriptor fills */
#define ROOM_LEAST 2           /* descriptors of one step: a box, and the fill before it */
#define ROOM_AGAIN 12u         /* a ring that was full is written again when only so many descriptors are left in it */

_Static_assert(sizeof(struct tensor_template) > sizeof(struct tutti_tensor) &&
	       offsetof(struct tensor_template, used) >= sizeof(struct tutti_tensor),
	       "a tensor is fetched into the place of its template");

struct tmau tmau;
uint32_t tmau_arrived HOT_DATA;
struct tutti_tensor_call tmau_calls[TMAU_SLOTS] __attribute__((aligned(64)));

/*
 * The result of an attempt to serve a request. MORE: a part is left, and the next visit can go on. WAITS: an event will
 * come. AGAIN: try again at once. REFUSED: the request is over, and its task must fail.
 */
enum progress { SERVED, MORE, WAITS, AGAIN, REFUSED };

/* The mover operation for each operation of a tensor request. */
static const uint8_t tensor_moves[TUTTI_TENSOR_OPS] = {
	[TUTTI_COPY_LOAD] = TUTTI_MOVE_LOAD, [TUTTI_COPY_STORE] = TUTTI_MOVE_STORE,
	[TUTTI_COPY_REDUCE] = TUTTI_MOVE_STORE, [TUTTI_COPY_GLOBAL] = TUTTI_MOVE_COPY,
	[TUTTI_COPY_SHARED] = TUTTI_MOVE_SHARED, [TUTTI_COPY_PREFETCH] = TUTTI_MOVE_PREFETCH,
	[TUTTI_COPY_SCATTER] = TUTTI_MOVE_SCATTER,
};

void tmau_init(void)
{
	mover_init();
	descriptor_init();
	tmau_arrived = counters.tmau_requests;
	tmau.missed = counters.tmau_requests - 1;
	tmau.job.kind = JOB_NONE;
	tmau.job.held = false;
	tmau.built.used = 0;
	HAL_ENGINES->request_base = hal_local(tmau_calls);
	HAL_ENGINES->request_slots = TMAU_SLOTS;
}

/* ---- mover descriptors that tile.c and im2col.c write in common */

static struct tutti_mover *part(struct job *job, uint32_t flags, uint64_t bytes)
{
	struct tutti_mover *m = mover_begin();

	*(uint32_t *)m = job->word | flags << 8;
	m->shape = hal_local(&job->t->shape);
	m->shared = job->shared;
	job->shared += (uint32_t)bytes;
	if (job->linear) {
		m->other = job->other;
		job->other += bytes;
	}
	return m;
}

int job_fill(struct job *job, int room)
{
	int written = 0;

	while (job->outside && written < room) {
		uint32_t bytes = job->outside < FILL_PIECE ? (uint32_t)job->outside : FILL_PIECE;
		struct tutti_mover *m = part(job, TUTTI_MOVER_LINEAR | TUTTI_MOVER_OUTSIDE, bytes);

		m->bytes = bytes;
		mover_end();
		job->outside -= bytes;
		written++;
	}
	return written;
}

void job_box(struct job *job, uint32_t flags, uint64_t global, uint64_t bytes)
{
	struct tutti_mover *m = part(job, TUTTI_MOVER_CLIPPED | flags, bytes);

	m->global = global;
	mover_end();
}

/* ---- how requests end */

static void end(unsigned slot)
{
	struct tutti_mover *m = mover_begin();

	*(uint32_t *)m = TUTTI_MOVE_END | (TUTTI_MOVER_CALL | TUTTI_MOVER_LAST) << 8 | slot << 24;
	mover_end();
}

static COLD enum progress refuse(const struct tutti_tensor_call *call, unsigned cause, unsigned engine, uint64_t address)
{
	tmau.fault = (struct tutti_event){ {
		TUTTI_EVENT_FAULT | (uint32_t)call->slot << 8 | cause << 16 | TUTTI_ACCESS_READ << 24,
		call->sm | (uint32_t)call->wave << 16, (uint32_t)call->pc, (uint32_t)(call->pc >> 32),
		(uint32_t)address, (uint32_t)(address >> 32), engine } };

	counters.tmau_not_tiles++;
	attention.settle |= ATTEND_FAULT;
	end(tmau_slot());
	return REFUSED;
}

static enum progress reject(const struct tutti_tensor_call *call, unsigned error)
{
	return refuse(call, TUTTI_CAUSE_TENSOR + error, TUTTI_ENGINE_WAVE, call->request.descriptor);
}

/* The request is refused before its descriptor has been looked for. */
static COLD enum progress reject_early(const struct tutti_tensor_call *call, unsigned error)
{
	counters.tmau_not_hits++;
	return reject(call, error);
}

/* The newest descriptor becomes the LAST one, if it belongs to this request and no mover can have taken it yet. */
static void finish(struct job *job, uint32_t mark)
{
	if (job->held || mover_tail() != mark)
		mover_newest()->flags |= TUTTI_MOVER_LAST;
	else
		end(tmau_slot());
	job->held = false;
}

/* ---- how requests start */

static enum progress start_job(struct job *job, const struct tutti_tensor_call *call, unsigned move)
{
	const struct tutti_tensor_request *r = &call->request;

	job->call = call;
	job->word = move | TUTTI_MOVER_CALL << 8 | (uint32_t)r->reduce << 16 | tmau_slot() << 24;
	job->shared = r->shared;
	job->other = r->other;
	job->outside = 0;
	job->linear = move == TUTTI_MOVE_COPY || move == TUTTI_MOVE_SCATTER;
	job->fills = move == TUTTI_MOVE_LOAD || move == TUTTI_MOVE_COPY;
	return MORE;
}

static enum progress start_block(struct job *job, const struct tutti_tensor_call *call, int room)
{
	unsigned error = request_check_block(call, &job->left);

	counters.tmau_not_hits++;
	if (error)
		return reject(call, error);
	counters.tmau_not_tiles++;
	start_job(job, call, tensor_moves[call->request.op]);
	return bulk_start(room) ? SERVED : MORE;
}

/* From shared memory to shared memory the box is copied as plain bytes, since both sides are dense. */
static enum progress start_shared(struct job *job)
{
	struct tutti_mover *m = part(job, TUTTI_MOVER_LINEAR, 0);

	counters.tmau_not_tiles++;

	m->bytes = job->t->bytes;
	m->source = (uint32_t)job->call->request.other;
	mover_end();
	job->kind = JOB_CLIPPED;
	return SERVED;
}

static enum progress start_tensor(struct job *job, const struct tutti_tensor_call *call, struct tensor_template *t,
				  int room)
{
	const struct tutti_tensor_request *r = &call->request;
	uint32_t wrong = (*(const uint32_t *)&r->op & SETUP_MATCH) ^ t->match;
	unsigned error;

	if (unlikely(wrong))
		return reject(call, t->error ? t->error : wrong & 0xff00 ? TUTTI_TENSOR_ERROR_REQUEST_MODE :
									   TUTTI_TENSOR_ERROR_REQUEST_RANK);
	error = request_check_tensor(call, t);
	if (unlikely(error))
		return reject(call, error);
	descriptor_used = t;
	start_job(job, call, tensor_moves[r->op]);
	job->t = t;
	if (r->op == TUTTI_COPY_SHARED)
		return start_shared(job);
	if (t->pixels) {
		counters.tmau_not_tiles++;
		return im2col_start(room) ? SERVED : MORE;
	}
	return tile_start(room) ? SERVED : MORE;
}

static COLD enum progress descriptor_op(const struct tutti_tensor_call *call)
{
	const struct tutti_tensor_request *r = &call->request;

	counters.tmau_not_hits++;
	if (r->op == TUTTI_DESCRIPTOR_INVALIDATE)
		descriptor_forget(r->descriptor, call->asid);
	else if (!descriptor_find(r->descriptor, call->asid))
		descriptor_fetch(r->descriptor, call->asid);
	counters.tmau_not_tiles++;
	end(tmau_slot());
	return SERVED;
}

/* Wait until movers have taken all descriptors; AGAIN if they have done so already. */
static enum progress drain(void)
{
	mover_publish(0);
	return mover_notice(0) ? WAITS : AGAIN;
}

static COLD enum progress start_built(struct job *job, const struct tutti_tensor_call *call, int room)
{
	struct tutti_tensor copy;

	if (!mover_taken(tmau.built.used))
		return drain();
	counters.tmau_not_hits++;
	descriptor_compile(&tmau.built, &copy, descriptor_copy(&copy, &call->descriptor));
	return start_tensor(job, call, &tmau.built, room);
}

static COLD enum progress missing(const struct tutti_tensor_call *call)
{
	uint32_t misses = counters.tmau_misses;
	enum descriptor_state state = descriptor_fetch(call->request.descriptor, call->asid);

	if (counters.tmau_misses != misses && tmau.missed != counters.tmau_requests) {
		tmau.missed = counters.tmau_requests;
		counters.tmau_not_hits++;
	}
	return state == DESCRIPTOR_BUSY ? drain() : WAITS;
}

static enum progress start(struct job *job, int room)
{
	const struct tutti_tensor_call *call = &tmau_calls[tmau_slot()];
	const struct tutti_tensor_request *r = &call->request;
	struct descriptor *d;

	job->kind = JOB_NONE;
	if (unlikely(!(r->flags & TUTTI_REQUEST_TENSOR)))
		return start_block(job, call, room);
	if (unlikely(r->op >= TUTTI_TENSOR_OPS))
		return reject_early(call, TUTTI_TENSOR_ERROR_REQUEST_OP);
	if (unlikely(r->flags & TUTTI_REQUEST_INLINE) && r->op < TUTTI_DESCRIPTOR_PREFETCH)
		return start_built(job, call, room);
	if (unlikely((uint32_t)r->descriptor & 63 || !fw_address_ok(r->descriptor)))
		return reject_early(call, TUTTI_TENSOR_ERROR_PLACE);
	if (unlikely(r->op >= TUTTI_DESCRIPTOR_PREFETCH))
		return descriptor_op(call);
	d = descriptor_find(r->descriptor, call->asid);
	if (unlikely(!d))
		d = descriptor_late(r->descriptor, call->asid);
	if (unlikely(!d))
		return missing(call);
	if (unlikely(d->cause)) {
		descriptor_forget(r->descriptor, call->asid);
		counters.tmau_not_hits += tmau.missed != counters.tmau_requests;
		return refuse(call, d->cause, TUTTI_ENGINE_FETCH, d->fault);
	}
	return start_tensor(job, call, &d->t, room);
}

static enum progress go_on(struct job *job, int room)
{
	bool done;

	switch (job->kind) {
	case JOB_SLICES:
		done = tile_slices(room);
		break;
	case JOB_CLIPPED:
		done = tile_clipped(room);
		break;
	case JOB_COLUMN:
		done = im2col_run(room);
		break;
	default:
		done = job->kind == JOB_BLOCK && bulk_run(room);
		break;
	}
	return done ? SERVED : MORE;
}

/* ---- serving requests in order */

static inline void served(struct job *job)
{
	job->kind = JOB_NONE;
	descriptor_used = NULL;
	counters.tmau_requests++;
}

/* Nothing goes on until the task fails: the next request may be of the same task, or be refused as well. */
static COLD void served_refused(struct job *job)
{
	served(job);
	job->kind = JOB_REFUSED;
	tmau.more = tmau_waiting();
}

/*
 * Serve the first request or a part of it, and set @tail to the tail of the mover ring. Return: false if the visit must
 * end.
 */
static bool serve(struct job *job, int room, uint32_t *tail)
{
	uint32_t mark = mover_tail();
	enum progress progress;

	do
		progress = job->kind ? go_on(job, room) : start(job, room);
	while (unlikely(progress == AGAIN));
	if (job->kind && progress == SERVED)
		finish(job, mark);
	*tail = mover_tail();
	if (likely(descriptor_used))
		descriptor_used->used = *tail;
	if (unlikely(progress != SERVED)) {
		if (progress == REFUSED) {
			served_refused(job);
			return false;
		}
		job->held = job->held || *tail != mark;
		tmau.more = progress == MORE;
		return false;
	}
	served(job);
	return true;
}

void tmau_run(void)
{
	struct job *job = &tmau.job;
	uint32_t tail = mover_tail(), end = tail + TMAU_VISIT;
	int room, visit;

	tmau.more = false;
	while (tmau_waiting()) {
		room = (int)(MOVER_SLOTS - MOVER_RESERVED - (tail - HAL_ENGINES->mover_head));
		visit = (int)(end - tail);
		if (unlikely(room < ROOM_LEAST)) {
			mover_publish(job->held);
			if (mover_notice(ROOM_AGAIN))
				break;
			continue;
		}
		if (unlikely(visit < ROOM_LEAST)) {
			tmau.more = true;
			break;
		}
		if (!serve(job, room < visit ? room : visit, &tail))
			break;
	}
	if (tail - job->held != HAL_ENGINES->mover_tail)
		mover_publish(job->held);
	if (unlikely(tmau.more))
		attention.settle |= ATTEND_TMAU;
}

COLD void tmau_look_ahead(void)
{
	const struct tutti_tensor_call *call = &tmau_calls[(tmau_arrived - 1) % TMAU_SLOTS];
	uint64_t address = call->request.descriptor;

	if ((call->request.flags & (TUTTI_REQUEST_TENSOR | TUTTI_REQUEST_INLINE)) == TUTTI_REQUEST_TENSOR &&
	    call->request.op < TUTTI_DESCRIPTOR_INVALIDATE && !((uint32_t)address & 63) && fw_address_ok(address) &&
	    !descriptor_find(address, call->asid))
		descriptor_fetch(address, call->asid);
}

bool tmau_take_fault(struct tutti_event *fault)
{
	if (tmau.job.kind != JOB_REFUSED)
		return false;
	tmau.job.kind = JOB_NONE;
	*fault = tmau.fault;
	return true;
}

void tmau_event_fetch(unsigned number, const struct tutti_event *event)
{
	descriptor_event_fetch(number, event);
	if (tmau_waiting() == 1 && tmau.job.kind == JOB_NONE)
		plain_serve();
	else
		tmau_run();
}
