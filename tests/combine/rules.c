// SPDX-License-Identifier: MIT
/* What a command may do: order, each CTA once, fences, signals, retiring, errors. */
#include "combine.h"

#include <stdlib.h>

struct world w;

const char *job_name(const struct job *job)
{
	static char text[4][200];
	static unsigned turn;
	char *to = text[turn++ % 4];
	unsigned i;
	int n;

	if (!job)
		return "nobody";
	n = snprintf(to, 200,
		     "[%u: queue %u %s%u.%u, level %u, %u of %d CTAs of %u waves %u/%u/%u/%u, kernel %u",
		     job->number, job->queue, job->child ? "child " : "packet ", job->child ? 0 : job->entry,
		     job->kernel, job->level, job->issued, (int)job->groups, job->waves, job->scalar,
		     job->vector, job->shared, job->barriers, job->shape);
	for (i = 0; i < TUTTI_CGA_LEVELS && job->cga[i].kind; i++)
		n += snprintf(to + n, 200 - n, " CGA %u of kind %u", job->cga[i].x, job->cga[i].kind);
	snprintf(to + n, 200 - n, "%s%s%s%s%s%s%s%s%s]", job->sequence ? " sequence" : "",
		 job->quota ? " quota" : "", job->throttle ? " throttle" : "", job->work ? " queue" : "",
		 job->mask ? " mask" : "", job->hold ? " long" : "", job->head ? " head" : "",
		 job->multicast ? " multicast" : "", job->cancelled ? " cancelled" : "");
	return to;
}

struct entry *entry_of(const struct job *job)
{
	return job->child ? NULL : &w.program[job->queue].entry[job->entry];
}

static bool of_this_life(const struct job *job)
{
	return job->life_of_queue == w.program[job->queue].life;
}

bool entry_over(const struct program *program, const struct entry *entry)
{
	unsigned i;

	if (!entry->published)
		return false;
	if (entry->bad)
		return entry->skipped || (entry->unskipped && program->busy_reset);
	if (entry->kind >= BARRIER_AND)
		return entry->done;
	for (i = 0; i < entry->n; i++)
		if (w.job[entry->job + i].life < DONE)
			return false;
	return true;
}

static void advance(struct program *program)
{
	static const uint8_t live[] = {F_COUNT, F_COUNT, F_BARRIER_AND, F_BARRIER_OR, F_AGENT, F_AGENT};

	while (program->oldest < program->write && entry_over(program, &program->entry[program->oldest])) {
		struct entry *e = &program->entry[program->oldest++];

		if (e->live && live[e->kind] < F_COUNT && !e->bad)
			feature_off(live[e->kind]);
		e->live = false;
	}
}

struct job *root_of(struct job *job)
{
	while (job->child && job->parent)
		job = job->parent;
	return job;
}

/* A kernel has failed: what has not started of its packet never will, children included (PKT-18). */
static void lose_rest(struct job *failed)
{
	struct job *job, *root = root_of(failed);

	for (job = w.job; job < w.job + w.jobs; job++)
		if (job != failed && job->queue == failed->queue &&
		    job->life_of_queue == failed->life_of_queue && root_of(job)->entry == root->entry &&
		    (job->life == WAITING || (job->life == RUNNING && job->slot < 0)) && !job->running &&
		    !job->told)
			job_over(job, LOST);
}

void job_over(struct job *job, enum life life)
{
	if (job->life == RUNNING)
		features_off(&job->features);
	if (job->faulted && life == FAILED)
		feature_off(F_FAULT);
	job->life = (uint8_t)life;
	job->finished = ++w.now;
	job->children = 0;
	if (job->throttle)
		w.throttles--;
	if (job->slot >= 0 && w.act[job->slot] == job)
		w.act[job->slot] = NULL;
	job->slot = -1;
	if (job->faulted && life == FAILED)
		lose_rest(job);
	if (job->child)
		return;
	if (of_this_life(job)) {
		entry_of(job)->last = job->finished;
		advance(&w.program[job->queue]);
	}
}

/* ---- a task gets a slot ---- */

static bool same_task(const struct job *job, const struct tutti_task_state *s, bool split)
{
	if (job->life > RUNNING || (split && job->slot < 0) || job->kernarg != s->kernarg ||
	    (!job->work && job->grid_x != s->grid_x))
		return false;
	if (split)
		return s->first == job->issued * job->waves;
	return job->work || s->first == job->issued;
}

/* Kernels of a packet that are alike are told apart by their order. */
static struct job *find(unsigned slot, const struct tutti_task_state *s, bool split)
{
	struct program *program = &w.program[s->queue];
	struct job *job, *best = NULL;
	struct entry *e;
	unsigned i;

	RULE(s->queue < QUEUES && program->alive, "order", "STATE for queue %u, which is gone", s->queue);
	if (s->tmd)
		for (i = 0; i < w.jobs; i++)
			if (w.job[i].child && TMD_AT + (w.job[i].tmd - 1) * sizeof(tmds[0]) == s->tmd)
				return &w.job[i];
	RULE(s->packet < program->write, "order (PKT-07)", "STATE for packet %lu of queue %u, which has %lu",
	     s->packet, s->queue, program->write);
	e = &program->entry[s->packet];
	RULE(e->published && !e->bad && e->kind <= CONDENSED, "order (PKT-07)",
	     "STATE for packet %lu of queue %u, which is %s", s->packet, s->queue,
	     e->bad ? "bad" : "not there");
	job = w.act[slot]; /* it goes on behind a CTA that was split */
	if (job && job->waves_left && job->queue == s->queue && !job->child && entry_of(job) == e &&
	    same_task(job, s, false))
		return job;
	for (i = 0; i < e->n; i++) {
		job = &w.job[e->job + i];
		if (!same_task(job, s, split))
			continue;
		/* one without a slot before one that has its slot still */
		if (!best || (best->slot >= 0 && job->slot < 0))
			best = job;
	}
	RULE(best, "once (TSK-03)", "STATE of packet %lu of queue %u at CTA %u: no kernel of it is there%s",
	     s->packet, s->queue, s->first, split ? " (waves)" : "");
	return best;
}

/* Of a cancelled packet nothing more will start, before the driver is told so. */
static bool cancelled_quietly(const struct entry *entry)
{
	unsigned i;

	for (i = 0; i < entry->n; i++) {
		const struct job *job = &w.job[entry->job + i];

		if (job->life < DONE && (!job->cancelled || job->running || job->told))
			return false;
	}
	return entry->n && !entry->bad;
}

static unsigned open_of(const struct program *program, uint64_t before)
{
	uint64_t i;
	unsigned n = 0;

	for (i = program->oldest; i < before; i++)
		n += !entry_over(program, &program->entry[i]) && !cancelled_quietly(&program->entry[i]);
	return n;
}

static void check_values(const struct job *job, const struct tutti_task_state *s,
			 const struct tutti_cga_shape *level)
{
	RULE(s->waves == job->waves && s->scalar_blocks == job->scalar && s->vector_blocks == job->vector &&
		 s->shared_blocks == job->shared && s->barriers == job->barriers,
	     "state (PKT-09)", "%s: state has %u waves, %u/%u/%u/%u blocks", job_name(job), s->waves,
	     s->scalar_blocks, s->vector_blocks, s->shared_blocks, s->barriers);
	RULE(job->work || s->groups_x * s->groups_y * s->groups_z == job->groups, "state (PKT-09)",
	     "%s: state has %u x %u x %u CTAs", job_name(job), s->groups_x, s->groups_y, s->groups_z);
	RULE(s->entry == KERNEL_AT + 64 * job->shape + 4096, "state (PKT-09)", "%s: entry %lx", job_name(job),
	     s->entry);
	RULE(s->asid == w.program[job->queue].asid, "state (PKT-10)", "%s: address space %u", job_name(job),
	     s->asid);
	RULE(!!level == !!job->cga[0].kind && (!level || !memcmp(level, job->cga, sizeof(job->cga))),
	     "state (CGA-01)", "%s: other CGAs than asked for", job_name(job));
}

/* One of its kernels has failed, and the others are dropped by and by. */
static bool failing(const struct entry *e)
{
	unsigned i;

	for (i = 0; i < e->n; i++)
		if (w.job[e->job + i].faulted || w.job[e->job + i].killed)
			return true;
	return false;
}

/* Who comes later in its queue waits its turn (PKT-03, PKT-16, RES-02). */
static void check_order(const struct job *job)
{
	const struct program *program = &w.program[job->queue];
	const struct entry *e = entry_of(job);
	uint64_t i, since = e->since;
	unsigned k;

	RULE(!w.suspended, "suspend (SYS-08)", "%s starts while the card is suspended", job_name(job));
	for (i = program->oldest; i < job->entry; i++) {
		const struct entry *before = &program->entry[i];

		if (before->kind >= BARRIER_AND && before->kind != AGENT_FILL)
			RULE(before->done, "order (PKT-03)", "%s starts before packet %lu is over",
			     job_name(job), i);
		RULE(!before->errors || before->skipped || (before->unskipped && program->busy_reset),
		     "order (PKT-06)", "%s starts behind bad packet %lu", job_name(job), i);
		for (k = 0; k < before->n && !before->bad; k++) {
			const struct job *other = &w.job[before->job + k];

			/* accepted in order, one list a level: TSK-02, RES-02 */
			if (other->life == WAITING && !failing(before) && other->level == job->level &&
			    !job->head && !other->head && !job->work && !other->work && !other->cancelled)
				rule("order (RES-02)", "%s starts before %s", job_name(job), job_name(other));
		}
	}
	if (job->barrier) {
		RULE(!open_of(program, job->entry), "barrier (PKT-03)",
		     "%s has the barrier bit, and %u packets before it are not over", job_name(job),
		     open_of(program, job->entry));
		for (i = 0; i < job->entry; i++)
			since = program->entry[i].last > since ? program->entry[i].last : since;
	}
	for (k = 0; k < job->kernel; k++) {
		const struct job *before = &w.job[e->job + k];

		if (!(program->flags & TUTTI_QUEUE_OVERLAP) || job->barrier)
			RULE(before->life >= DONE, "sequence (PKT-16)", "%s starts before %s has ended",
			     job_name(job), job_name(before));
		RULE(before->life != FAILED, "sequence (PKT-18)", "%s starts though %s has failed",
		     job_name(job), job_name(before));
		if (before->life >= DONE && before->finished > since &&
		    !(program->flags & TUTTI_QUEUE_OVERLAP))
			since = before->finished;
	}
	if (job->acquire)
		RULE(w.fence[0][job->acquire] > since, "acquire (PKT-04)",
		     "%s starts without its acquire fence (scope %u)", job_name(job), job->acquire);
}

static void check_eviction(const struct job *victim, const struct job *by)
{
	RULE(victim->work || victim->faulted || victim->killed || by->level < victim->level ||
		 victim->cancelled,
	     "evict (TSK-03)", "%s had to go for %s", job_name(victim), job_name(by));
}

struct job *rules_state(unsigned slot, const struct tutti_task_state *state,
			const struct tutti_cga_shape *level, bool split)
{
	struct job *job = find(slot, state, split), *before = w.act[slot];

	TRACE("    state slot %u: %s%s\n", slot, job_name(job), split ? " by waves" : "");
	RULE(job->life <= RUNNING, "once (TSK-03)", "STATE of %s, which has ended", job_name(job));
	if (before && before != job && before->life == RUNNING && before->slot == (int)slot) {
		check_eviction(before, job);
		before->slot = -1;
		before->evicted = true;
		feature_on(F_EVICTED);
		features_add(&before->features, F_EVICTED);
	}
	if (split) {
		RULE(job->independent && !job->shared && !job->barriers && !job->cga[0].kind,
		     "split (RES-07)", "%s by waves", job_name(job));
		features_add(&job->features, F_SPLIT);
		feature_on(F_SPLIT);
		job->issued++;
		job->waves_left += job->waves;
		return job;
	}
	check_values(job, state, level);
	if (job->life == WAITING) {
		if (!job->child)
			check_order(job);
		job->life = RUNNING;
		job->order = w.started++;
		features_on(&job->features);
	}
	job->evicted = false;
	job->slot = (int)slot;
	w.act[slot] = job;
	return job;
}

/* ---- CTAs ---- */

void rules_launch(struct job *job, bool split, unsigned position)
{
	unsigned sm = card_sm_number(position);

	w.ctas++;
	RULE(job->life == RUNNING, "once (TSK-03)", "LAUNCH of %s, which is not there", job_name(job));
	RULE(!job->mask || job->mask[sm / 32] >> (sm % 32) & 1, "affinity (TSK-04)", "%s on SM %u",
	     job_name(job), sm);
	if (split) {
		RULE(job->waves_left, "split (RES-07)", "more waves of %s than it has", job_name(job));
		job->waves_left--;
		return;
	}
	RULE(job->work || job->issued < job->groups, "once (TSK-03)", "more CTAs of %s than it has",
	     job_name(job));
	RULE(!job->sequence || (!job->running && !job->told), "sequence (TSK-08)",
	     "%s has two CTAs in flight", job_name(job));
	job->issued++;
}

static bool items_over(const struct job *job)
{
	const struct tutti_work_queue *q = &works[job->work_queue];

	return q->closed && work_models[job->work_queue].given == q->write_index;
}

/* CTAs have ended, or the firmware has been told: it may be over. */
void rules_ended(struct job *job)
{
	if (job->life != RUNNING || job->told || job->running ||
	    (job->waves_left && !job->faulted && !job->killed))
		return;
	if (job->faulted || job->killed)
		job_over(job, FAILED);
	else if (job->work ? job->reported && items_over(job) : job->issued == job->groups)
		job_over(job, DONE);
	else if (job->cancel_sure && !job->signal)
		job_over(job, CANCELLED);
}

/* The driver was told that the packet is cancelled: what had not started never will. */
void rules_cancelled(struct program *program, uint64_t packet)
{
	struct entry *e = &program->entry[packet % ENTRIES];
	unsigned i;

	for (i = 0; i < e->n; i++) {
		struct job *job = &w.job[e->job + i];

		job->cancel_sure = true;
		if (job->signal || job->life >= DONE)
			continue;
		if (job->life == WAITING || (job->slot < 0 && !job->running && !job->told))
			job_over(job, CANCELLED);
		else
			rules_ended(job);
	}
}

void rules_killed(struct job *job)
{
	/* its last completion and the KILL may have crossed */
	if (job->life != RUNNING)
		return;
	job->killed = true;
	rules_ended(job);
}

/* ---- fences and signals ---- */

void rules_fence(unsigned sub)
{
	unsigned scope = sub & 3, i;

	RULE(scope == TUTTI_SCOPE_AGENT || scope == TUTTI_SCOPE_SYSTEM, "command", "FENCE %x", sub);
	for (i = 1; i <= scope; i++) {
		if (sub & TUTTI_FENCE_ACQUIRE)
			w.fence[0][i] = w.now;
		if (sub & TUTTI_FENCE_RELEASE)
			w.fence[1][i] = w.now;
	}
}

static void signal_value(uint32_t number, int64_t value)
{
	signals[number].value = value;
	owners[number].zero |= !value;
	owners[number].given++;
}

/* The kernel whose completion this is: over, and not signalled yet. */
static struct job *signaller(uint32_t number)
{
	struct job *job, *found = NULL;

	for (job = w.job; job < w.job + w.jobs; job++)
		if (job->signal == number && !job->signalled &&
		    (!found || (found->life < DONE && job->life >= DONE)))
			found = job;
	return found;
}

static void job_signalled(struct job *job, bool cancel)
{
	struct entry *e = entry_of(job);
	bool last = e && job->kernel + 1u == e->n;
	unsigned release = last ? e->widest : job->release;
	uint64_t after = last ? e->last : job->finished;

	if (cancel) {
		RULE(job->cancelled && job->life <= RUNNING ? !job->running && !job->told : job->cancelled,
		     "cancel (TSK-12)", "%s is signalled as cancelled", job_name(job));
		if (job->life < DONE)
			job_over(job, CANCELLED);
		job->life = CANCELLED;
		job->signalled = true;
		return;
	}
	rules_ended(job);
	RULE(job->life == DONE, "signal (PKT-04)", "%s is signalled before its end", job_name(job));
	if (last)
		RULE(entry_over(&w.program[job->queue], e), "signal (PKT-17)",
		     "%s is signalled before the others of its packet", job_name(job));
	RULE(!release || w.fence[1][release] > after, "release (PKT-04)",
	     "%s is signalled without its release fence (scope %u)", job_name(job), release);
	job->signalled = true;
}

static void barrier_done(struct program *program, struct entry *e)
{
	unsigned i, wanted = 0, zero = 0;
	uint64_t index = (uint64_t)(e - program->entry);

	for (i = 0; i < 5; i++)
		if (e->dependency[i]) {
			wanted++;
			zero += owners[e->dependency[i]].zero;
		}
	RULE(e->kind != BARRIER_AND || zero == wanted, "barrier (PKT-03)",
	     "packet %lu of queue %u is over, %u of %u signals were 0", index, program->id, zero, wanted);
	RULE(e->kind != BARRIER_OR || zero || !wanted, "barrier (PKT-03)",
	     "packet %lu of queue %u is over, no signal was 0", index, program->id);
}

static void packet_signalled(struct program *program, struct entry *e)
{
	uint64_t index = (uint64_t)(e - program->entry), i;

	RULE(e->published && !e->bad && !e->done, "signal (PKT-04)",
	     "packet %lu of queue %u is signalled again", index, program->id);
	RULE(!e->barrier || !open_of(program, index), "barrier (PKT-03)",
	     "packet %lu of queue %u has the barrier bit, and packets before it are not over", index,
	     program->id);
	for (i = program->oldest; i < index; i++)
		RULE(program->entry[i].kind <= CONDENSED || program->entry[i].done || program->entry[i].bad ||
			 program->entry[i].kind == AGENT_FILL /* its mover is taken behind the commands */,
		     "order (PKT-03)", "packet %lu of queue %u is over before packet %lu", index, program->id,
		     i);
	if (e->kind <= BARRIER_OR && e->kind >= BARRIER_AND)
		barrier_done(program, e);
	RULE(e->kind != AGENT_FILL || (e->moved && e->last), "signal (PKT-04)",
	     "agent packet %lu of queue %u is not over", index, program->id);
	RULE(!e->release || w.fence[1][e->release] > (e->last ? e->last : e->since), "release (PKT-04)",
	     "packet %lu of queue %u is signalled without its release fence", index, program->id);
	e->done = true;
	advance(program);
}

static bool packet_with(uint32_t number, unsigned queue, bool cancel)
{
	struct program *program = &w.program[queue];
	uint64_t i;

	for (i = program->oldest; i < program->write; i++)
		if (program->entry[i].kind >= BARRIER_AND && program->entry[i].signal == number) {
			RULE(!cancel, "signal (PKT-04)", "packet %lu of queue %u is signalled as cancelled",
			     i, queue);
			packet_signalled(program, &program->entry[i]);
			return true;
		}
	return false;
}

void rules_signal(uint64_t address, unsigned asid_queue, bool cancel)
{
	uint32_t number = (uint32_t)((address - SIGNAL_AT) / 64);
	unsigned queue = asid_queue >> 16;
	struct job *job;

	RULE(address > SIGNAL_AT && number <= w.signals && address % 64 == 0 && queue < QUEUES,
	     "signal (PKT-04)", "SIGNAL at %lx", address);
	RULE((asid_queue & 0xffff) == w.program[queue].asid, "signal (PKT-10)",
	     "SIGNAL for queue %u in another address space", queue);
	signal_value(number, cancel ? TUTTI_SIGNAL_CANCELLED : signals[number].value - 1);
	TRACE("    signal %u%s\n", number, cancel ? " cancelled" : "");
	if (packet_with(number, queue, cancel))
		return;
	job = signaller(number);
	RULE(job, "signal (PKT-04)", "signal %u is decremented once more than asked for", number);
	RULE(w.program[queue].alive && job->queue == queue, "signal (PKT-04)", "%s is signalled by queue %u",
	     job_name(job), queue);
	job_signalled(job, cancel);
}

/* ---- agents ---- */

static struct entry *entry_at(uint64_t address, struct program **program)
{
	*program = &w.program[(address - FILL_AT) >> 32 & 7];
	return &(*program)->entry[((address - FILL_AT) >> 8 & 0xffffff) % ENTRIES];
}

void rules_mover(const struct tutti_mover *mover)
{
	struct program *program;
	struct entry *e = entry_at(mover->global, &program);

	RULE(e->published && e->kind == AGENT_FILL && !e->bad && !e->moved && program->alive,
	     "order (PKT-03)", "fill at %lx", mover->global);
	RULE(!e->barrier || !open_of(program, (uint64_t)(e - program->entry)), "barrier (PKT-03)",
	     "agent packet %ld of queue %u starts before those in front of it are over", e - program->entry,
	     program->id);
	e->moved = true;
}

void rules_moved(uint64_t address)
{
	struct program *program;
	struct entry *e = entry_at(address, &program);

	e->last = ++w.now;
}

/* ---- retiring ---- */

/* Slots become INVALID only when their packet was taken, and a bad one when it is skipped (PKT-05, PKT-06).
 */
void rules_scrub(unsigned queue, uint64_t address, unsigned count, bool references)
{
	struct program *program = &w.program[queue % QUEUES];
	uint64_t at = address - RING_AT - 0x10000ull * queue;
	unsigned i;

	RULE(queue < QUEUES && program->alive && at < RING * 64 && at % 64 == 0 && at / 64 + count <= RING &&
		 count,
	     "retire (PKT-05)", "SCRUB of %u slots at %lx", count, address);
	for (i = 0; i < count; i++) {
		union tutti_packet *p = &program->ring[at / 64 + i];
		const struct entry *e = &program->entry[program->scrubbed % ENTRIES];

		RULE(program->scrubbed % RING == at / 64 + i && program->scrubbed < program->write &&
			 e->published,
		     "retire (PKT-05)", "slot %lu of queue %u is retired, the next packet is %lu",
		     at / 64 + i, queue, program->scrubbed);
		RULE(!e->bad || e->skipped || (e->unskipped && program->busy_reset), "retire (PKT-06)",
		     "bad packet %lu of queue %u is retired", program->scrubbed, queue);
		RULE(e->kind != BARRIER_AND || e->done, "retire (PKT-05)",
		     "packet %lu of queue %u is retired before its end", program->scrubbed, queue);
		RULE(e->kind != BARRIER_OR || e->done, "retire (PKT-05)",
		     "packet %lu of queue %u is retired before its end", program->scrubbed, queue);
		if (references)
			p->dispatch.ref_num = 0;
		p->dispatch.header = TUTTI_PACKET_INVALID;
		program->scrubbed++;
	}
}

static void written(uint64_t address, uint64_t value)
{
	memcpy(memory_at(address, 8), &value, 8);
}

/* That a queue task is over only the firmware can say; whether it may is checked. */
static void tmd_written(uint64_t address, uint64_t value)
{
	unsigned number = (unsigned)((address - TMD_AT) / sizeof(tmds[0])), i;

	written(address, value);
	if ((address - TMD_AT) % sizeof(tmds[0]) != offsetof(struct tutti_tmd, state) ||
	    !(value & TUTTI_TMD_FINISHED))
		return;
	for (i = 0; i < w.jobs; i++)
		if (w.job[i].tmd == number + 1 && w.job[i].work) {
			w.job[i].reported = true;
			rules_ended(&w.job[i]);
		}
}

bool rules_write(unsigned asid, unsigned queue, uint64_t address, uint64_t value)
{
	struct program *program;
	uint64_t i;

	if (asid == TUTTI_ASID_BUS)
		return true; /* progress: the driver's word */
	if (address >= TMD_AT && address < TMD_AT + sizeof(tmds)) {
		RULE((address - TMD_AT) % sizeof(tmds[0]) >= offsetof(struct tutti_tmd, state),
		     "metadata (TSK-01)", "WRITE at %lx", address);
		tmd_written(address, value);
		return true;
	}
	if (address >= WORK_AT && address < WORK_AT + sizeof(works)) {
		written(address, value);
		return true;
	}
	RULE(queue < QUEUES && address == INDEX_AT + 64 * queue, "command", "WRITE at %lx", address);
	program = &w.program[queue];
	RULE(program->alive && value > program->read && value <= program->scrubbed, "retire (PKT-05)",
	     "read index of queue %u becomes %lu, slots are free up to %lu", queue, value, program->scrubbed);
	for (i = program->read; i < value; i++)
		RULE(program->entry[i].kind > CONDENSED ||
			 (!program->entry[i].reference && program->entry[i].kind != CONDENSED) ||
			 !program->ring[i % RING].dispatch.ref_num,
		     "retire (PKT-08)", "ref_num of packet %lu of queue %u was not cleared", i, queue);
	program->read = value;
	return true;
}

/* ---- errors ---- */

/* What may be refused though it is sound: CGAs may find no SMs that are enabled, or in its mask. */
static bool may_be_refused(const struct entry *e, unsigned code)
{
	unsigned i;

	for (i = 0; i < e->n; i++) {
		const struct job *job = &w.job[e->job + i];

		if (!job->cga[0].kind)
			continue;
		if ((code == TUTTI_ERROR_GRID || code == TUTTI_ERROR_PACKET) &&
		    (job->cga[1].kind || (job->cga[0].kind > TUTTI_CGA_GPC && w.sms > 144) || job->mask ||
		     features_has(&job->features, F_LMEM) || w.cap ||
		     kernels[job->shape].flags & TUTTI_KERNEL_LMEM ||
		     features_has(&w.scenario.allowed, F_SM_OFF)))
			return true;
	}
	return false;
}

void rules_error(const struct tutti_fault *fault)
{
	struct program *program = &w.program[fault->queue % QUEUES];
	struct entry *e = &program->entry[fault->packet % ENTRIES];
	bool faulted = false;
	unsigned i;

	TRACE("    error %u of queue %u packet %lu\n", fault->code, fault->queue, fault->packet);
	if (!program->alive || program->dying)
		return;
	if (program->stopped && program->busy_reset)
		rules_reset(program); /* its reply is behind the next error */
	RULE(!program->stopped, "error (PKT-06)", "queue %u reports two errors", fault->queue);
	for (i = 0; i < w.jobs; i++)
		faulted |= w.job[i].faulted && w.job[i].queue == fault->queue && of_this_life(&w.job[i]) &&
			   root_of(&w.job[i])->entry == (uint32_t)(e - program->entry);
	if (e->bad)
		RULE(e->errors >> fault->code & 1, "error (PKT-06)", "packet %lu of queue %u: code %u",
		     fault->packet, fault->queue, fault->code);
	else
		RULE(faulted || may_be_refused(e, fault->code), "error (PKT-06)",
		     "packet %lu of queue %u is sound and is refused: code %u, field %u", fault->packet,
		     fault->queue, fault->code, fault->field);
	program->stopped = true;
	if (e->bad) {
		feature_on(F_BAD_PACKET);
		program->bad_packet = true;
		e->unskipped = true;
	}
	for (i = 0; i < e->n && !faulted; i++)
		if (w.job[e->job + i].life == WAITING)
			job_over(&w.job[e->job + i], LOST);
	if (!faulted)
		e->bad = e->unskipped = true; /* the reset goes on behind it */
	advance(program);
}

void rules_reset(struct program *program)
{
	uint64_t i;

	if (program->bad_packet)
		feature_off(F_BAD_PACKET);
	program->stopped = program->busy_reset = program->bad_packet = false;
	for (i = program->oldest; i < program->write; i++)
		if (program->entry[i].unskipped)
			program->entry[i].skipped = true;
	advance(program);
}

/* What is left of a queue's packets goes with them: those in which a kernel has failed, or all if it is
 * destroyed. */
void rules_lost(struct program *program)
{
	unsigned i;

	for (i = 0; i < w.jobs; i++) {
		struct job *job = &w.job[i];

		if (job->queue != program->id || job->life_of_queue != program->life || job->life >= DONE)
			continue;
		RULE(!job->running && !job->told, "destroy (SYS-08)", "queue %u is gone and %s is not",
		     program->id, job_name(job));
		job_over(job, LOST);
	}
}

/* ---- the end ---- */

bool rules_all_over(void)
{
	unsigned i;

	for (i = 0; i < w.jobs; i++)
		if (w.job[i].life < DONE)
			return false;
	for (i = 0; i < QUEUES; i++)
		if (w.program[i].alive && (w.program[i].oldest < w.program[i].write || w.program[i].stopped))
			return false;
	return true;
}

static void check_metadata(const struct job *job)
{
	const struct tutti_tmd *t = &tmds[job->tmd - 1];
	uint32_t error = job->life == CANCELLED ? TUTTI_ERROR_CANCELLED : 0;

	if (job->kernels > 1 || (entry_of(job) && entry_of(job)->kind == CONDENSED) ||
	    job->features.word[0] >> F_REF_STORE & 1)
		return; /* several tasks used the record */
	if (job->life == DONE) {
		RULE(t->issued == job->issued && t->completed == job->issued, "metadata (TSK-16)",
		     "%s: its metadata say %lu and %lu CTAs", job_name(job), t->issued, t->completed);
		RULE(t->state & TUTTI_TMD_FINISHED && t->error == error, "metadata (TSK-16)",
		     "%s: its metadata say state %u, error %u", job_name(job), t->state, t->error);
	}
}

/* Of kernels that may overlap the last one's signal is that of the packet, which is not sent if one of them has failed. */
static bool fails_with_packet(const struct job *job)
{
	const struct entry *e = job->child ? NULL : &w.program[job->queue].entry[job->entry];
	const struct job *other;

	if (!e || !(w.program[job->queue].flags & TUTTI_QUEUE_OVERLAP) || job->number != e->job + e->n - 1)
		return false;
	for (other = w.job; other < w.job + w.jobs; other++)
		if (other->life == FAILED && other->queue == job->queue && other->entry == job->entry && !other->child &&
		    other->life_of_queue == job->life_of_queue)
			return true;
	return false;
}

void rules_end(void)
{
	unsigned i;

	for (i = 0; i < w.jobs; i++) {
		const struct job *job = &w.job[i];

		if (job->life == DONE && of_this_life(job) && w.program[job->queue].alive &&
		    !job->cancelled) {
			RULE(!job->signal || job->signalled || fails_with_packet(job), "signal (PKT-04)",
			     "%s has ended and is not signalled", job_name(job));
			if (job->tmd)
				check_metadata(job);
		}
	}
	for (i = 0; i < QUEUES; i++) {
		const struct program *program = &w.program[i];

		if (program->alive)
			RULE(program->read == program->write, "retire (PKT-05)",
			     "read index of queue %u is %lu, %lu packets were written", i, program->read,
			     program->write);
	}
}
