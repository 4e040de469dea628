// SPDX-License-Identifier: MIT
/* Programs write packets of every form into their rings, good and bad, and publish them in any order. */
#include "programs/produce.h"

/* ---- barriers and agents ---- */

/* It depends on signals of earlier packets of any queue, so that no cycle of waits can arise. */
static void barrier(struct program *program, struct entry *e, union tutti_packet *p)
{
	bool or_packet = ALLOWED(BARRIER_OR) && (!ALLOWED(BARRIER_AND) || roll(2));
	uint32_t newest = w.signals, i;

	(void)program;
	e->kind = or_packet ? BARRIER_OR : BARRIER_AND;
	packet_scopes(NULL, e, p, or_packet ? TUTTI_PACKET_BARRIER_OR : TUTTI_PACKET_BARRIER_AND);
	for (i = 0; i < 5; i++)
		if (newest && !roll(2)) {
			e->dependency[i] = newest - roll(newest < 12 ? newest : 12);
			p->barrier.dependency[i] = signal_address(e->dependency[i]);
		}
	e->signal = new_signal();
	p->barrier.signal = signal_address(e->signal);
}

static void agent(struct program *program, struct entry *e, union tutti_packet *p)
{
	e->kind = roll(2) ? AGENT_NOP : AGENT_FILL;
	packet_scopes(NULL, e, p, TUTTI_PACKET_AGENT_DISPATCH);
	p->agent.type = e->kind == AGENT_NOP ? TUTTI_AGENT_NOP : TUTTI_AGENT_FILL;
	p->agent.arg[0] = FILL_AT + ((uint64_t)program->id << 32) + (program->write << 8);
	p->agent.arg[2] = 4 * (1 + roll(60));
	e->signal = new_signal();
	p->agent.signal = signal_address(e->signal);
}

/* ---- writing ---- */

static bool room(const struct program *program)
{
	return program->alive && !program->dying && program->write < ENTRIES &&
	       program->write - program->read < program->slots && w.jobs + TUTTI_CONDENSED_KERNELS < JOBS &&
	       w.signals + TUTTI_CONDENSED_KERNELS + 2 < SIGNALS;
}

static void write_packet(struct program *program, const struct entry *e, const union tutti_packet *p)
{
	union tutti_packet *slot = &program->ring[(program->first + program->write) % program->slots];

	((struct entry *)e)->first_word = p->word[0];
	memcpy(&slot->word[1], &p->word[1], sizeof(*p) - 4);
	program->write++;
}

static const char *const kind_name[] = {"dispatch",   "condensed", "barrier-AND",
					"barrier-OR", "agent nop", "agent fill"};

bool produce(struct program *program)
{
	struct entry *e = &program->entry[program->write % ENTRIES];
	union tutti_packet p = {{0}};
	bool may_condense, flood = program->flood;
	unsigned what = roll(12), i;

	if (!room(program))
		return false;
	memset(e, 0, sizeof(*e));
	may_condense = packet_has_reference(program) && (ALLOWED(COND_1) || ALLOWED(COND_6) || ALLOWED(COND_31));
	if (what < 5 && may_condense)
		packet_condensed(program, e, &p);
	else if (what == 5 && (ALLOWED(BARRIER_AND) || ALLOWED(BARRIER_OR)) && !flood)
		barrier(program, e, &p);
	else if (what == 6 && ALLOWED(AGENT))
		agent(program, e, &p);
	else
		packet_dispatch(program, e, &p, w.sms > 8 && !roll(4));
	TRACE("  queue %u packet %lu: %s%s", program->id, program->write, kind_name[e->kind],
	      e->reference ? ", stored" : "");
	for (i = 0; i < e->n && trace; i++)
		TRACE("%s %s", i ? "," : "", job_name(&w.job[e->job + i]));
	for (i = 0; i < 5 && e->kind >= BARRIER_AND; i++)
		if (e->dependency[i])
			TRACE(" waits for signal %u;", e->dependency[i]);
	TRACE("\n");
	write_packet(program, e, &p);
	return true;
}

struct job *produce_whole(struct program *program, unsigned level, unsigned kind)
{
	struct entry *e = &program->entry[program->write % ENTRIES];
	union tutti_packet p = {{0}};

	if (!room(program))
		return NULL;
	memset(e, 0, sizeof(*e));
	if (!packet_whole(program, e, &p, level, kind))
		return NULL;
	TRACE("  queue %u packet %lu: whole %s\n", program->id, program->write, job_name(&w.job[e->job]));
	write_packet(program, e, &p);
	return &w.job[e->job];
}

bool produce_small(struct program *program)
{
	struct entry *e = &program->entry[program->write % ENTRIES];
	union tutti_packet p = {{0}};

	if (!room(program))
		return false;
	memset(e, 0, sizeof(*e));
	packet_small(program, e, &p);
	TRACE("  queue %u packet %lu: %s\n", program->id, program->write, job_name(&w.job[e->job]));
	write_packet(program, e, &p);
	return true;
}

/* Metadata that their packet must be refused for: a priority above the queue's limit, a kernel's own CGAs (TSK-08, TSK-10). */
static bool bad_metadata(const struct program *program, struct entry *e, struct tutti_dispatch_packet *p)
{
	struct tutti_tmd *t = &tmds[w.tmds];
	unsigned kernel = CGA_KERNELS + roll(WHOLE_KERNELS - CGA_KERNELS);
	bool above = ALLOWED(HIGHEST) && program->highest > 1 && roll(2);

	if (!(program->flags & TUTTI_QUEUE_EXTENDED) || w.tmds >= TMDS ||
	    (!above && (!ALLOWED(OWN_CGA) || !kernels[kernel].cga_kind || w.works == WORKS)))
		return false;
	*t = (struct tutti_tmd){.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION};
	e->errors = 1u << TUTTI_ERROR_TMD;
	p->tmd = TMD_AT + w.tmds++ * sizeof(*t);
	if (above) {
		t->priority = (uint8_t)(1 + roll(program->highest - 1));
		return true;
	}
	feature_moment(F_OWN_CGA);
	p->kernel_object = KERNEL_AT + 64 * kernel;
	if (roll(2)) {
		t->flags = TUTTI_TMD_SEQUENCE;
		return true;
	}
	works[w.works] = (struct tutti_work_queue){.base = FILL_AT, .items = 64, .item_bytes = 16, .closed = 1};
	t->type = TUTTI_TASK_QUEUE;
	t->queue = WORK_AT + w.works++ * sizeof(works[0]);
	t->coalesce_min = t->coalesce_max = 1;
	return true;
}

/* A packet that must be refused, without an effect on other queues (PKT-06). */
void produce_bad(struct program *program)
{
	struct entry *e = &program->entry[program->write % ENTRIES];
	union tutti_packet p = {{0}};

	if (!room(program))
		return;
	memset(e, 0, sizeof(*e));
	e->kind = DISPATCH;
	e->bad = true;
	p.dispatch = (struct tutti_dispatch_packet){.header = TUTTI_PACKET_KERNEL_DISPATCH,
						    .setup = 1,
						    .workgroup_x = 32,
						    .workgroup_y = 1,
						    .workgroup_z = 1,
						    .grid_x = 32,
						    .grid_y = 1,
						    .grid_z = 1,
						    .kernel_object = KERNEL_AT};
	e->errors = 1u << TUTTI_ERROR_PACKET;
	switch ((ALLOWED(HIGHEST) || ALLOWED(OWN_CGA)) && roll(2) && bad_metadata(program, e, &p.dispatch) ? ~0u : roll(7)) {
	case ~0u:
		break;
	case 0:
		p.dispatch.grid_x = 0;
		e->errors = 1u << TUTTI_ERROR_DIMENSIONS;
		break;
	case 1:
		p.dispatch.group_bytes = discovery()->shared_blocks * 2048 + 1;
		e->errors = 1u << TUTTI_ERROR_GROUP_MEMORY;
		break;
	case 2:
		p.dispatch.workgroup_x = 1025;
		e->errors = 1u << TUTTI_ERROR_WORKGROUP;
		break;
	case 3:
		p.dispatch.kernel_object = roll(2) ? 0 : 0x5000000040ull;
		e->errors = 1u << TUTTI_ERROR_CODE_OBJECT;
		break;
	case 4:
		p.dispatch.signal = 0x1001;
		break;
	case 5:
		p.dispatch.header = 6 + (uint16_t)roll(50);
		break;
	default:
		p.condensed.type = TUTTI_PACKET_CONDENSED;
		p.condensed.num_kernels = (uint8_t)(32 + roll(200));
		break;
	}
	TRACE("  queue %u packet %lu: bad\n", program->id, program->write);
	write_packet(program, e, &p);
	publish(program, true);
}

static bool rung(const struct program *program)
{
	const struct tutti_discovery *d = discovery();

	(void)d;
	return hal_host.engines.doorbell_enable[program->id / 32] >> (program->id % 32) & 1;
}

void publish(struct program *program, bool all)
{
	static const uint8_t live[] = {F_COUNT, F_COUNT, F_BARRIER_AND, F_BARRIER_OR, F_AGENT, F_AGENT};
	uint64_t i;

	for (i = program->oldest; i < program->write; i++) {
		struct entry *e = &program->entry[i % ENTRIES];
		uint32_t *word = program->ring[(program->first + i) % program->slots].word;

		if (e->published || (!all && !roll(3)))
			continue;
		e->published = e->live = true;
		e->since = ++w.now;
		*word = e->first_word;
		if (live[e->kind] < F_COUNT && !e->bad)
			feature_on(live[e->kind]);
		if (rung(program)) {
			if (hal_host.engines.doorbell_index)
				((uint32_t *)backend_memory(hal_host.engines.doorbell_index))[program->id] =
				    (uint32_t)(program->first + i);
			card_later(&(struct tutti_event){
			    {TUTTI_EVENT_DOORBELL | (program->id / 32) << 8, 1u << (program->id % 32)}});
		}
	}
}
