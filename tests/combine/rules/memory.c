// SPDX-License-Identifier: MIT
/* What the firmware lets the card write for it: fences, signals, copies, retired slots, words of queues and metadata. */
#include "rules/rules.h"

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

void rules_signal_is(uint64_t number, int64_t value)
{
	signals[number].value = value;
	owners[number].zero |= !value;
	owners[number].given++;
}

/* The kernel that this completion belongs to: over, and not signalled yet. */
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
	RULE(owners[job->signal].timed == !!(w.program[job->queue].flags & TUTTI_QUEUE_PROFILE), "signal (PKT-04)",
	     "%s is signalled %s the time of its start", job_name(job), owners[job->signal].timed ? "with" : "without");
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
	RULE(!e->barrier || !program_packets_open(program, index), "barrier (PKT-03)",
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
	program_advance(program);
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
	card_post(queue, (struct post){.kind = POST_SIGNAL, .address = number, .cancel = cancel});
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
	RULE(!e->barrier || !program_packets_open(program, (uint64_t)(e - program->entry)), "barrier (PKT-03)",
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

	RULE(queue < QUEUES && program->alive && at < program->slots * 64 && at % 64 == 0 && at / 64 + count <= program->slots &&
		 count,
	     "retire (PKT-05)", "SCRUB of %u slots at %lx", count, address);
	for (i = 0; i < count; i++) {
		const struct entry *e = &program->entry[program->scrubbed % ENTRIES];

		RULE((program->first + program->scrubbed) % program->slots == at / 64 + i && program->scrubbed < program->write &&
			 e->published,
		     "retire (PKT-05)", "slot %lu of queue %u is retired, the next packet is %lu",
		     at / 64 + i, queue, program->scrubbed);
		RULE(!e->bad || e->skipped || (e->unskipped && program->busy_reset), "retire (PKT-06)",
		     "bad packet %lu of queue %u is retired", program->scrubbed, queue);
		RULE(e->kind != BARRIER_AND || e->done, "retire (PKT-05)",
		     "packet %lu of queue %u is retired before its end", program->scrubbed, queue);
		RULE(e->kind != BARRIER_OR || e->done, "retire (PKT-05)",
		     "packet %lu of queue %u is retired before its end", program->scrubbed, queue);
		program->scrubbed++;
	}
	card_post(queue, (struct post){.kind = POST_SCRUB, .address = address, .value = count, .references = references});
}

/* Only the firmware can say that a queue task is over; whether it may be is checked. */
static void tmd_written(uint64_t address, uint64_t value)
{
	unsigned number = (unsigned)((address - TMD_AT) / sizeof(tmds[0])), i;

	if ((address - TMD_AT) % sizeof(tmds[0]) != offsetof(struct tutti_tmd, state) ||
	    !(value & TUTTI_TMD_FINISHED))
		return;
	for (i = 0; i < w.jobs; i++)
		if (w.job[i].tmd == number + 1 && w.job[i].work) {
			w.job[i].reported = true;
			rules_ended(&w.job[i]);
		}
}

void rules_read_index(struct program *program, uint64_t value)
{
	uint64_t i;

	for (i = program->read; i < value; i++)
		RULE(program->entry[i].kind > CONDENSED ||
			 (!program->entry[i].reference && program->entry[i].kind != CONDENSED) ||
			 !program->ring[(program->first + i) % program->slots].dispatch.ref_num,
		     "retire (PKT-08)", "ref_num of packet %lu of queue %u was not cleared", i, program->id);
	program->read = value;
}

/* The progress word counts packets whose kernels have ended, whatever else was in them. */
static void progress(uint64_t address, uint64_t value)
{
	struct program *program = &w.program[(address - 4096) / 64 % QUEUES];

	RULE(address == 4096 + 64 * program->id && program->alive && program->progress_word, "command", "WRITE at %lx of the bus",
	     address);
	value -= program->first;
	RULE(value > program->progress && value <= program->write && !program_packets_open(program, value), "notice (SYS-26)",
	     "%lu packets of queue %u are said to have retired, after %lu; the first has number %lx", value, program->id,
	     program->progress, program->first);
	program->progress = value;
	TRACE("    %lu packets of queue %u have retired\n", value, program->id);
}

/* Programs that ask for it are told when each kernel that has a signal started. */
static void start_time(const struct program *program, uint64_t address)
{
	RULE(program->flags & TUTTI_QUEUE_PROFILE && address % sizeof(signals[0]) == offsetof(struct tutti_signal, start_time),
	     "command", "WRITE at %lx for queue %u", address, program->id);
	owners[(address - SIGNAL_AT) / sizeof(signals[0])].timed = true;
}

bool rules_write(unsigned asid, unsigned queue, uint64_t address, uint64_t value)
{
	struct program *program;

	if (asid == TUTTI_ASID_BUS) {
		progress(address, value);
		return true;
	}
	RULE(queue < QUEUES, "command", "WRITE for queue %u", queue);
	if (address >= TMD_AT && address < TMD_AT + sizeof(tmds)) {
		RULE((address - TMD_AT) % sizeof(tmds[0]) >= offsetof(struct tutti_tmd, state),
		     "metadata (TSK-01)", "WRITE at %lx", address);
		card_post(queue, (struct post){.address = address, .value = value});
		tmd_written(address, value);
		return true;
	}
	if (address >= WORK_AT && address < WORK_AT + sizeof(works)) {
		card_post(queue, (struct post){.address = address, .value = value});
		return true;
	}
	if (address >= SIGNAL_AT && address < SIGNAL_AT + sizeof(signals)) {
		start_time(&w.program[queue], address);
		return true;
	}
	RULE(address == INDEX_AT + 64 * queue, "command", "WRITE at %lx", address);
	program = &w.program[queue];
	value -= program->first;
	RULE(program->alive && value > program->read && value <= program->scrubbed, "retire (PKT-05)",
	     "read index of queue %u becomes %lu, slots are free up to %lu", queue, value, program->scrubbed);
	card_post(queue, (struct post){.kind = POST_READ_INDEX, .value = value});
	return true;
}
