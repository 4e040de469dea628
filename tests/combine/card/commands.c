// SPDX-License-Identifier: MIT
/* Takes the commands that the firmware has written, and checks each of them. */
#include "card/card.h"

static unsigned movers_seen;

#define TAILS 64u

static uint32_t tails[TAILS]; /* tails of the command ring when the last events came */
static unsigned tail_next;

void commands_begin(void)
{
	movers_seen = tail_next = 0;
	memset(tails, 0, sizeof(tails));
}

void commands_event(void)
{
	if (tails[(tail_next - 1) % TAILS] != hal_host.engines.command_tail)
		tails[tail_next++ % TAILS] = hal_host.engines.command_tail;
}

/* The ring index of the first command that was written during the same event as the command at index @at. */
static uint32_t event_tail(uint32_t at)
{
	unsigned i = tail_next;

	while (i && tail_next - i < TAILS && (int32_t)(at - tails[(i - 1) % TAILS]) < 0)
		i--;
	return i ? tails[(i - 1) % TAILS] : 0;
}

static uint64_t pair(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

static void take_fetch(const uint32_t *c)
{
	struct tutti_event event = {{TUTTI_EVENT_FETCH | (c[0] & 0xffff0000u)}};
	static const uint32_t zero[1024];
	const void *from = (c[1] & 0xffff) == TUTTI_ASID_BUS ? zero : memory_at(pair(c + 2), c[4]);

	RULE(c[4] && c[4] <= 4096 && c[4] % 4 == 0, "command", "FETCH of %u bytes", c[4]);
	posts_before(event_tail(hal_host.engines.command_head));
	if (posts_waiting())
		feature_moment(F_POSTS_LATE);
	if (!from) {
		event.word[0] |= TUTTI_CAUSE_UNMAPPED << 8;
		event.word[1] = c[2];
		event.word[2] = c[3];
	}
	event_later(&event, -1, from ? fetch_read(from, c[4], c[5]) : 0);
}

static void take_state(const struct tutti_task_state *state, const struct tutti_cga_shape *level,
		       unsigned number, bool split)
{
	struct slot *slot = &slots[number];
	struct job *job;

	RULE(number < w.slots, "command", "STATE of slot %u of %u", number, w.slots);
	job = rules_state(number, state, level, split);
	if (slot->running || slot->late || slot->killing)
		RULE(slot->job == job && !slot->killing && !split && !slot->split, "once (TSK-03)",
		     "STATE of %s for slot %u, which has %u CTAs of %s", job_name(job), number,
		     slot->running + slot->late, job_name(slot->job));
	else
		memset(slot->on, 0, w.sms * sizeof(slot->on[0]));
	slot->state = *state;
	memset(slot->level, 0, sizeof(slot->level));
	if (level)
		memcpy(slot->level, level, sizeof(slot->level));
	slot->job = job;
	slot->known = true;
	slot->pinned = slot->pinned && slot->running;
	slot->split = split;
	if (split)
		slot->state.waves = 1;
	slot->next = state->first;
	slot->staged = 0;
	if (!(discovery()->features & TUTTI_FEATURE_ORDERED_STATES)) {
		slot->unacknowledged++;
		event_later(&(struct tutti_event){{TUTTI_EVENT_STATE | number << 8, 1}}, (int)number, 0);
	}
	fair_state(job);
}

static void take_task(const uint32_t *c)
{
	uint32_t words[sizeof(struct tutti_task_state) / 4] = {0};
	struct tutti_task_state state;
	const uint32_t *more = c + 5;

	if (c[0] >> 16 & 7)
		rules_fence((c[0] >> 16 & 3) | TUTTI_FENCE_ACQUIRE);
	memcpy(words, backend_memory(c[1]), TUTTI_TASK_WORDS * 4);
	memcpy(&state, words, sizeof(state));
	state.asid = (uint16_t)c[2];
	state.queue = (uint16_t)(c[2] >> 16);
	state.packet = pair(c + 3);
	if (c[0] >> 16 & TUTTI_TASK_NEW_GRID) {
		state.grid_x = more[0];
		state.groups_x = more[1];
		more += 2;
	}
	if (c[0] >> 16 & TUTTI_TASK_NEW_KERNARG)
		state.kernarg = pair(more);
	take_state(&state, NULL, c[0] >> 24, false);
}

/* Items are given out in order, each once; fewer than the minimum only when time is up or none will come
 * (TSK-10). */
static void check_work(struct job *job, const uint32_t *c, unsigned ctas)
{
	const struct tutti_work_queue *q = &works[job->work_queue];
	struct work_model *m = &work_models[job->work_queue];
	const struct tutti_tmd *t = &tmds[job->tmd - 1];
	uint64_t first = pair(c + 1);

	RULE(first == m->given, "items (TSK-10)", "%s takes item %lu, the next is %lu", job_name(job), first,
	     m->given);
	RULE(c[3] && c[3] <= t->coalesce_max, "items (TSK-10)", "%s takes %u items, at most %u",
	     job_name(job), c[3], t->coalesce_max);
	RULE(first + (uint64_t)ctas * c[3] <= q->write_index, "items (TSK-10)",
	     "%s takes items that are not there", job_name(job));
	if (c[3] < t->coalesce_min)
		RULE(q->closed || hal_host.time >= m->since + 1000ull * t->coalesce_us, "coalescing (TSK-10)",
		     "%s gets %u items of at least %u before its time", job_name(job), c[3], t->coalesce_min);
	m->given = first + (uint64_t)ctas * c[3];
}

static void take_launch(const uint32_t *c, unsigned words)
{
	unsigned number = c[0] >> 16 & 0xff, i = 1, j, b, r, n = 0;
	struct slot *slot = &slots[number % SLOTS];
	struct job *job = slot->job;
	uint32_t before = slot->running;

	RULE(number < w.slots && slot->known && !slot->killing, "command",
	     "LAUNCH for slot %u, which has no task", number);
	RULE(words > 1, "command", "LAUNCH of nothing");
	RULE(!slot->unacknowledged, "acknowledged (TSK-05)", "%s starts before its state is acknowledged", job_name(job));
	if (c[0] >> 24 & TUTTI_LAUNCH_CGA) {
		cga_launch(c, words);
	} else {
		RULE(!slot->level[0].kind, "command", "CTAs of %s without their CGA", job_name(job));
		if (c[0] >> 24 & TUTTI_LAUNCH_WORK)
			i += 3;
		RULE(!!(c[0] >> 24 & TUTTI_LAUNCH_WORK) == job->work, "command", "LAUNCH of %s: items?",
		     job_name(job));
		for (; i < words; i += 1 + (c[i] >> 24)) {
			RULE((c[i] & 0xffff) && c[i] >> 24 && i + (c[i] >> 24) < words, "command",
			     "segment %08x", c[i]);
			for (r = 0; r < (c[i] & 0xffff); r++)
				for (j = 0; j < c[i] >> 24; j++)
					for (b = 0; b < 32; b++)
						if (c[i + 1 + j] >> b & 1) {
							cta_start(number, 32 * ((c[i] >> 16 & 0xff) + j) + b);
							n++;
						}
		}
		if (job->work)
			check_work(job, c, n);
	}
	TRACE("    launch %s: %u CTAs\n", job_name(job), slot->running - before);
	fair_launched(job, slot->running - before, slot->split);
}

static void take_kill(unsigned number)
{
	struct slot *slot = &slots[number % SLOTS];

	RULE(number < w.slots && !slot->killing && slot->job, "command", "KILL of slot %u", number);
	slot->killing = true;
	TRACE("    kill %s\n", job_name(slot->job));
	rules_killed(slot->job);
	slot_killed_if_empty(number);
}

static void take_reply(const uint32_t *c)
{
	struct job *child = &w.job[c[1] % JOBS];

	RULE(child->child && child->parent, "command", "REPLY to %x", c[1]);
	if (child->parent->children && (c[2] || child->life >= DONE || !features_has(&child->features, F_PARENT_WAITS)))
		child->parent->children--;
	child->accepted = !c[2] && child->life <= RUNNING;
	if (c[2] && child->life == WAITING)
		job_over(child, LOST);
}

/* The first value becomes visible last. */
static void take_block(const uint32_t *c, unsigned words)
{
	unsigned values = (words - 4) / 2;

	RULE(words >= 6 && !(words & 1) && c[2] % 64 / 8 + values <= 8, "command", "BLOCK of %u words at %08x", words, c[2]);
	while (values--)
		rules_write(c[1] & 0xffff, c[1] >> 16, pair(c + 2) + 8 * values, pair(c + 4 + 2 * values));
}

static void take(const uint32_t *c, unsigned words)
{
	static const uint8_t lengths[] = {0, 1, 6, 6, 5, 4, 1, 0, 0, 1, 5, 5, 0, 3, 3, 0, 4, 1, 0, 0};
	unsigned op = c[0] & 0xff;

	RULE(op < sizeof(lengths) && (!lengths[op] || words == lengths[op]), "command",
	     "command %u of %u words", op, words);
	switch (op) {
	case TUTTI_CMD_FENCE:
		if (c[0] >> 16 & TUTTI_FENCE_RELEASE)
			posts_write(posts_waiting());
		rules_fence(c[0] >> 16);
		break;
	case TUTTI_CMD_FETCH:
		take_fetch(c);
		break;
	case TUTTI_CMD_WRITE:
		rules_write(c[1] & 0xffff, c[1] >> 16, pair(c + 2), pair(c + 4));
		break;
	case TUTTI_CMD_BLOCK:
		take_block(c, words);
		break;
	case TUTTI_CMD_SCRUB:
		rules_scrub(c[1] >> 16, pair(c + 2), c[4], c[0] >> 16 & 1);
		break;
	case TUTTI_CMD_SIGNAL:
		rules_signal(pair(c + 2), c[1], c[0] >> 16 & TUTTI_SIGNAL_CANCEL);
		break;
	case TUTTI_CMD_INTERRUPT:
		if (c[0] >> 16) /* vector 0 tells of messages */
			questions_interrupt(c[0] >> 16);
		break;
	case TUTTI_CMD_STATE:
		RULE(words >= 25, "command", "STATE of %u words", words);
		take_state((const void *)(c + 1),
			   c[0] >> 16 & TUTTI_STATE_CGA ? (const void *)(c + 25) : NULL, c[0] >> 24,
			   c[0] >> 16 & TUTTI_STATE_SPLIT);
		break;
	case TUTTI_CMD_TASK:
		take_task(c);
		break;
	case TUTTI_CMD_LAUNCH:
		take_launch(c, words);
		break;
	case TUTTI_CMD_KILL:
		take_kill(c[0] >> 16);
		break;
	case TUTTI_CMD_FLUSH:
		cga_flush(c);
		break;
	case TUTTI_CMD_THROTTLE:
		sms_throttle(c);
		break;
	case TUTTI_CMD_ORDER:
		sms_order(c, words);
		break;
	case TUTTI_CMD_SM_MODE:
		sms_mode(c[0] >> 16);
		break;
	case TUTTI_CMD_REPLY:
		take_reply(c);
		break;
	default:
		break;
	}
}

static void take_movers(void)
{
	const struct tutti_mover *ring = backend_memory(hal_host.engines.mover_base);

	for (; movers_seen != hal_host.engines.mover_tail; movers_seen++) {
		const struct tutti_mover *m = &ring[movers_seen % hal_host.engines.mover_slots];

		rules_mover(m);
		event_later(&(struct tutti_event){{TUTTI_EVENT_MOVER | (uint32_t)m->tag << 16}}, -1, m->global);
	}
	hal_host.engines.mover_head = movers_seen;
}

/*
 * The command ring, read by the contract alone: a record never wraps, and the firmware never writes more than is free.
 */
void card_take_commands(void)
{
	struct tutti_engines *e = &hal_host.engines;
	const uint32_t *ring = backend_memory(e->command_base);
	bool some = w.stall;
	unsigned words, at;

	while (e->command_head != e->command_tail) {
		if (some && (w.stall > 1 || roll(8)))
			break;
		at = e->command_head & (e->command_words - 1);
		words = (ring[at] & 0xff) == TUTTI_CMD_NOP ? ring[at] >> 8 : ring[at] >> 8 & 0xff;
		RULE(words && at + words <= e->command_words, "command", "record %08x at word %u of the ring",
		     ring[at], at);
		RULE(words <= e->command_tail - e->command_head, "command",
		     "record %08x ends behind the tail", ring[at]);
		w.now++;
		if ((ring[at] & 0xff) != TUTTI_CMD_NOP)
			take(ring + at, words);
		e->command_head += words;
	}
	if (!w.stall)
		take_movers();
}
