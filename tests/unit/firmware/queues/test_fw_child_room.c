/* SPDX-License-Identifier: MIT */
/*
 * Children that lack a shape slot or a task slot. They wait as long as some task will end whatever happens to others,
 * and are refused when none will, since their parents might wait for ever.
 */
#include "fw_direct.h"

#include "place/cta_shape.h"
#include "tasks/metadata.h"
#include "tasks/task_table.h"

#define OTHERS (FW_SHAPES - 1) /* tasks of queue 1, each with a shape of its own, as the parent has one */
#define WORK 7u                /* struct tmd[WORK] is used as a work queue */
#define WAITS 1                /* an answer that the wave does not have yet */

/* A kernel of @groups CTAs of @waves waves each. Each number of waves makes another shape. */
static struct tutti_dispatch_packet packet_of_shape(unsigned waves, unsigned groups)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	p.workgroup_x = (uint16_t)(32 * waves);
	p.grid_x = 32 * waves * groups;
	return p;
}

static struct tutti_tmd child_of_shape(unsigned waves, unsigned groups)
{
	struct tutti_tmd t = child(0);

	t.workgroup[0] = (uint16_t)(32 * waves);
	t.grid[0] = 32 * waves * groups;
	return t;
}

/* The parent is packet 0 of queue 0, of shape 1. Return: its slot */
static unsigned start_parent(unsigned sms, unsigned slots)
{
	struct tutti_dispatch_packet p = packet_of_shape(1, 1);

	start(sms, slots);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	for (unsigned i = 0; i < TMDS; i++)
		tmd[i] = child_of_shape(FW_SHAPES + 1, 1);
	return (unsigned)slot_of(0, 0);
}

/* Tasks of all shapes from @first on, so that no shape is left for another. */
static void fill_shapes(unsigned first, unsigned groups)
{
	for (unsigned waves = first; waves <= FW_SHAPES; waves++) {
		struct tutti_dispatch_packet p = packet_of_shape(waves, groups);

		submit(1, &p);
	}
	assert_false(shape_left());
}

/* The task in @slot asks for child @n. Return: the answer, or WAITS */
static int ask(unsigned slot, unsigned n)
{
	unsigned before = replies;

	ask_for_child(slot, TMD_AT + n * sizeof(tmd[0]));
	take();
	assert_in_range(replies, before, before + 1);
	return replies == before ? WAITS : reply_value;
}

/* Every running task returns its shape slot when it ends, so the child may wait for one. */
static void waits_for_a_shape(void **unused)
{
	(void)unused;
	for (unsigned ends = 0; ends < OTHERS; ends++) {
		unsigned parent = start_parent(4, 0);

		fill_shapes(2, 1);
		assert_int_equal(ask(parent, 0), WAITS);
		end_all((unsigned)slot_of(1, ends));
		assert_int_equal(replies, 1);
		assert_int_equal(reply_value, 0);
		assert_int_equal(started[0], 2);
	}
}

/*
 * Every task asks for a child for which there is no shape slot. The last one to ask is refused, since otherwise all would
 * wait. When it ends its shape slot becomes free, and the others go on.
 */
static void refused_after_the_others(void **unused)
{
	unsigned parent = start_parent(4, 0);

	(void)unused;
	fill_shapes(2, 1);
	for (unsigned i = 0; i < OTHERS; i++)
		assert_int_equal(ask((unsigned)slot_of(1, i), i), WAITS);
	assert_int_equal(ask(parent, OTHERS), -TUTTI_EBUSY);
	end_all(parent);
	assert_int_equal(replies, 1 + OTHERS);
	assert_int_equal(reply_value, 0);
	assert_int_equal(started[1], 2 * OTHERS);
}

/* The last task that was not waiting ends, but its shape is still in use. Then one of the waiting tasks is refused. */
static void refused_while_it_waits(void **unused)
{
	struct tutti_dispatch_packet same = packet_of_shape(2, 1);
	unsigned parent = start_parent(4, 0);

	(void)unused;
	fill_shapes(2, 1);
	submit(1, &same);
	for (unsigned i = 0; i < OTHERS; i++)
		assert_int_equal(ask((unsigned)slot_of(1, i), i), WAITS);
	assert_int_equal(ask(parent, OTHERS), WAITS);
	end_all((unsigned)slot_of(1, OTHERS));
	assert_int_equal(replies, 1);
	assert_int_equal(reply_value, -TUTTI_EBUSY);
}

/* A task that has CTAs to issue needs room, which others may take. Once all its CTAs are on the card it will end. */
static void more_to_issue(void **unused)
{
	unsigned parent = start_parent(1, 0), fit;
	struct tutti_dispatch_packet p;

	(void)unused;
	fill_shapes(2, 100);
	fit = running[slot_of(1, 0)].ctas;
	assert_int_equal(tasks[slot_of(1, 0)].unissued, 100 - fit);
	assert_int_equal(slot_of(1, 1), -1);
	assert_int_equal(ask(parent, 0), -TUTTI_EBUSY);

	parent = start_parent(1, 0);
	p = packet_of_shape(2, fit);
	submit(1, &p);
	fill_shapes(3, 100);
	assert_int_equal(slot_of(1, 1), -1);
	assert_int_equal(ask(parent, 0), WAITS);
	end_all((unsigned)slot_of(1, 0));
	assert_int_equal(replies, 1);
	assert_int_equal(reply_value, 0);
}

/* A queue task of shape 2, whose work queue has @items items, one for each CTA. */
static void start_consumer(unsigned items)
{
	struct tutti_work_queue *work = (void *)&tmd[WORK];
	struct tutti_dispatch_packet p = packet_of_shape(2, 1);

	*work = (struct tutti_work_queue){ .base = TMD_AT, .items = 64, .item_bytes = 16, .write_index = items };
	tmd[WORK - 1] = (struct tutti_tmd){
		.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .type = TUTTI_TASK_QUEUE,
		.queue = TMD_AT + WORK * sizeof(tmd[0]), .coalesce_min = 1, .coalesce_max = 1,
	};
	p.tmd = TMD_AT + (WORK - 1) * sizeof(tmd[0]);
	submit(1, &p);
}

/* A queue task does not end by itself, whether it is idle or has CTAs on the card: there may always be more items. */
static void consumer_goes_on(void **unused)
{
	(void)unused;
	for (unsigned items = 0; items < 2; items++) {
		unsigned parent = start_parent(1, 0);

		start_consumer(items);
		fill_shapes(3, 100);
		assert_int_equal(ask(parent, 0), -TUTTI_EBUSY);

		/* nor would its slot become free */
		parent = start_parent(4, 2);
		start_consumer(items);
		tmd[0] = child_of_shape(1, 1);
		assert_int_equal(ask(parent, 0), -TUTTI_EBUSY);
	}
}

/* A task may wait for its child, and the child has CTAs that still need room: it is not certain that the task ends. */
static void parent_of_another(void **unused)
{
	struct tutti_dispatch_packet p = packet_of_shape(2, 1);
	unsigned parent = start_parent(1, 0), other;

	(void)unused;
	submit(1, &p);
	other = (unsigned)slot_of(1, 0);
	tmd[1] = child_of_shape(2, 100);
	assert_int_equal(ask(other, 1), 0);
	assert_int_equal(tasks[other].children, 1);
	fill_shapes(3, 100);
	assert_int_equal(ask(parent, 0), -TUTTI_EBUSY);
}

/*
 * Ask for child @n of @parent while one CTA of the task in @slot is being issued wave by wave (wave_split.c). Until all of
 * its waves are issued the CTA counts as resident, while its waves belong to another task. Return: the answer
 */
static int ask_while_split(unsigned parent, unsigned slot, unsigned n)
{
	int answer;

	tasks[slot].rare |= TASK_SPLITTING;
	answer = ask(parent, n);
	tasks[slot].rare &= (uint16_t)~TASK_SPLITTING;
	return answer;
}

/* A task that is being split has waves to issue, so it is not known to end. */
static void split_lacks_shape(void **unused)
{
	(void)unused;
	for (unsigned ctas = 1; ctas <= 2; ctas++) {
		struct tutti_dispatch_packet p = packet_of_shape(2, ctas);
		unsigned parent = start_parent(1, 0), other;

		submit(1, &p);
		fill_shapes(3, 100);
		other = (unsigned)slot_of(1, 0);
		assert_int_equal(tasks[other].resident, ctas);
		assert_int_equal(ask_while_split(parent, other, 0), -TUTTI_EBUSY);
		assert_int_equal(ask(parent, 1), WAITS);
	}
}

/* There is no room for a child until a CTA ends other than the one that is being split. */
static void split_lacks_room(void **unused)
{
	(void)unused;
	for (unsigned ctas = 1; ctas <= 2; ctas++) {
		struct tutti_dispatch_packet p = packet_of_shape(30 / ctas, ctas);
		unsigned parent = start_parent(1, 0), other;

		tmd[0] = tmd[1] = child_of_shape(2, 1);
		submit(1, &p);
		other = (unsigned)slot_of(1, 0);
		assert_int_equal(running[other].ctas, ctas);
		assert_int_equal(ask_while_split(parent, other, 0), ctas == 1 ? -TUTTI_EBUSY : 0);
		assert_int_equal(ask(parent, 1), 0);
	}
}

/* Two parents have the card's two task slots, and each asks for a child: the second would wait for ever. */
static void without_slot(void **unused)
{
	struct tutti_dispatch_packet p = packet_of_shape(1, 1);
	unsigned first = start_parent(4, 2), second;

	(void)unused;
	submit(1, &p);
	second = (unsigned)slot_of(1, 0);
	assert_null(task_table.free);
	assert_int_equal(ask(first, 0), 0);
	assert_int_equal(started[0], 1);
	assert_int_equal(ask(second, 1), -TUTTI_EBUSY);
	end_all(second);
	assert_int_equal(started[0], 2);
	assert_int_equal(started[1], 1);
}

/*
 * The SMs are full, and what ends there leaves less room than the child needs, unless its parent ended: it is refused. It is
 * accepted if a CTA of its shape ends, if it fits beside its parent, or if there is another SM.
 */
static void larger_than_what_ends(void **unused)
{
	static const struct { unsigned sms, waves, groups, child, mask; int answer; } c[] = {
		{ 1, 31, 1, 32, 0, -TUTTI_EBUSY }, { 1, 31, 1, 31, 0, 0 }, { 1, 1, 31, 32, 0, -TUTTI_EBUSY }, { 1, 1, 31, 7, 0, 0 },
		{ 2, 1, 63, 32, 0, 0 }, { 2, 1, 63, 32, 2, -TUTTI_EBUSY }, { 2, 1, 63, 1, 2, 0 },
	};

	(void)unused;
	for (unsigned i = 0; i < sizeof(c) / sizeof(*c); i++) {
		struct tutti_dispatch_packet p = packet_of_shape(c[i].waves, c[i].groups);
		unsigned parent = start_parent(c[i].sms, 0);

		submit(1, &p);
		assert_int_equal(running[slot_of(1, 0)].ctas, c[i].groups);
		tmd[0] = child_of_shape(c[i].child, 1);
		if (c[i].mask) {
			tmd[0].flags = TUTTI_TMD_AFFINITY;
			tmd[0].affinity = TMD_AT + sizeof(tmd[0]);
			memcpy(&tmd[1], &c[i].mask, sizeof(c[i].mask));
		}
		if (ask(parent, 0) != c[i].answer)
			fail_msg("case %u: %d", i, reply_value);
	}
}

/* Metadata @n of a kernel, or of a child, that may run on the SMs of @mask alone. */
static uint64_t pin(unsigned n, uint32_t mask)
{
	tmd[n].flags = TUTTI_TMD_AFFINITY;
	tmd[n].affinity = TMD_AT + (n + 1) * sizeof(tmd[0]);
	memset(&tmd[n + 1], 0, sizeof(tmd[0]));
	memcpy(&tmd[n + 1], &mask, sizeof(mask));
	return TMD_AT + n * sizeof(tmd[0]);
}

/* A parent of 32 CTAs of shape 1 fills SM 0 of @sms. Return: its slot */
static unsigned fill_first(unsigned sms)
{
	struct tutti_dispatch_packet p = packet_of_shape(1, 32);

	end_all(start_parent(sms, 0));
	p.tmd = pin(6, 1);
	submit(0, &p);
	return (unsigned)slot_of(0, 1);
}

/*
 * The parent has all of SM 0. A child that may run there alone is refused, whatever ends elsewhere, and one that may run
 * elsewhere, too, is not. It is refused as well if the other SM gets no more CTAs once those that are there have ended.
 */
static void pinned_to_its_parent(void **unused)
{
	static const struct { unsigned waves, mask, off; int answer; } c[] = {
		{ 0, 1, 2, -TUTTI_EBUSY }, { 0, 3, 2, 0 }, { 1, 1, 2, -TUTTI_EBUSY }, { 32, 1, 2, -TUTTI_EBUSY }, { 1, 2, 2, 0 },
		{ 32, 2, 2, 0 }, { 32, 2, 1, -TUTTI_EBUSY }, { 32, 0, 1, -TUTTI_EBUSY },
	};

	(void)unused;
	for (unsigned i = 0; i < sizeof(c) / sizeof(*c); i++) {
		struct tutti_dispatch_packet p = packet_of_shape(c[i].waves, 1);
		unsigned parent = fill_first(2);

		if (c[i].waves)
			submit(1, &p);
		if (c[i].off < 2)
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, c[i].off, 1, 0), 0);
		tmd[0] = child_of_shape(1, 1);
		if (c[i].mask)
			pin(0, c[i].mask);
		if (ask(parent, 0) != c[i].answer)
			fail_msg("case %u: %d", i, reply_value);
	}
}

/* A child that may run on an SM alone that is off is refused as well, whatever ends on another one. */
static void pinned_to_an_sm_that_is_off(void **unused)
{
	struct tutti_dispatch_packet p = packet_of_shape(1, 1);

	(void)unused;
	end_all(start_parent(2, 0));
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 1, 1, 0), 0);
	submit(0, &p);
	submit(1, &p);
	tmd[0] = child_of_shape(1, 1);
	pin(0, 2);
	assert_int_equal(ask((unsigned)slot_of(0, 1), 0), -TUTTI_EBUSY);
}

/* Another CTA of the child's shape ends, but from then on an SM takes no more than its parent has there. */
static void capped(void **unused)
{
	struct tutti_dispatch_packet p = packet_of_shape(1, 1);
	unsigned parent = start_parent(1, 0);

	(void)unused;
	submit(1, &p);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CTA_CAP, 1, 0), 0);
	tmd[0] = child_of_shape(1, 1);
	assert_int_equal(ask(parent, 0), -TUTTI_EBUSY);
}

/*
 * A CGA of a child needs room for all of its four CTAs: on SMs without its parent, of which another task may have some still,
 * or beside it. Otherwise it is refused, although one of the CTAs would fit.
 */
static void groups_beside_their_parent(void **unused)
{
	static const struct { unsigned sms, waves, busy; int answer; } c[] = {
		{ 4, 32, 0, -TUTTI_EBUSY }, { 5, 32, 0, 0 }, { 5, 32, 1, 0 }, { 1, 7, 0, 0 }, { 1, 8, 0, -TUTTI_EBUSY },
	};

	(void)unused;
	for (unsigned i = 0; i < sizeof(c) / sizeof(*c); i++) {
		struct tutti_dispatch_packet p = packet_of_shape(2, 1);
		unsigned parent = start_parent(c[i].sms, 0);

		if (c[i].busy)
			submit(1, &p);
		tmd[0] = child_of_shape(c[i].waves, 4);
		tmd[0].cga[0] = (struct tutti_cga_shape){ 4, 1, 1, TUTTI_CGA_GPC };
		if (ask(parent, 0) != c[i].answer)
			fail_msg("case %u: %d", i, reply_value);
		assert_int_equal(running[1 + c[i].busy].ctas, c[i].answer || c[i].busy ? 0 : 4);
		if (c[i].busy)
			end_all((unsigned)slot_of(1, 0));
		assert_int_equal(running[1 + c[i].busy].ctas, c[i].answer ? 0 : 4);
		tmd[1] = child_of_shape(1, 1); /* for which there is room all the same */
		assert_int_equal(ask(parent, 1), 0);
	}
}

/* Kernel 0 of queue 1 that nothing runs beside: in throttle mode, or one of an SM's 32 waves; metadata @n. */
static void submit_alone(bool throttle, unsigned n)
{
	struct tutti_dispatch_packet p = packet_of_shape(throttle ? 1 : 32, 1);

	tmd[n] = child(0);
	tmd[n].priority = 1;
	if (throttle) {
		tmd[n].flags = TUTTI_TMD_THROTTLE;
		tmd[n].throttle_sms = 1;
	}
	p.tmd = TMD_AT + n * sizeof(tmd[0]);
	submit(1, &p);
}

/*
 * A child was accepted since the other task would end, and its slot become free. It goes to the child, though a task that
 * cannot start beside the parent came first: if that got it, it would wait for the parent, and the parent for its child.
 */
static void last_slot(void **unused)
{
	struct tutti_dispatch_packet p = packet_of_shape(1, 1);

	(void)unused;
	for (unsigned throttle = 0; throttle < 2; throttle++) {
		unsigned parent = start_parent(1, 2);

		submit(1, &p);
		submit_alone(throttle, 1);
		tmd[0] = child_of_shape(1, 1);
		assert_int_equal(ask(parent, 0), 0);
		end_all((unsigned)slot_of(1, 0));
		assert_int_equal(started[0], 2);
		assert_int_equal(started[1], 1);
		end_all(!parent); /* the child */
		assert_int_equal(started[1], 2);
	}
}

/* A child that was evicted gets its slot back, too. */
static void evicted_child(void **unused)
{
	(void)unused;
	for (unsigned throttle = 0; throttle < 2; throttle++) {
		unsigned parent = start_parent(1, 2);

		tmd[0] = child_of_shape(1, 40);
		assert_int_equal(ask(parent, 0), 0);
		assert_int_equal(running[!parent].ctas, 31);
		submit_alone(throttle, 1);
		assert_int_equal(counters.evictions, 1);
		end_all(!parent);
		assert_int_equal(started[1], 0);
		assert_int_equal(running[!parent].ctas, 9);
	}
}

/* ---- why a child is refused ---- */

struct refusal {
	const char *what;
	int answer;
	void (*change)(struct tutti_tmd *t);
};

static void nothing(struct tutti_tmd *t) { (void)t; }
static void magic(struct tutti_tmd *t) { t->magic++; }
static void throttles(struct tutti_tmd *t) { t->flags |= TUTTI_TMD_THROTTLE; }
static void no_dimensions(struct tutti_tmd *t) { t->setup = 0; }
static void no_grid(struct tutti_tmd *t) { t->grid[2] = 0; }
static void too_large(struct tutti_tmd *t) { t->workgroup[0] = 1025; }
static void too_much_memory(struct tutti_tmd *t) { t->group_bytes = (fw.shared_blocks << fw.shared_shift) + 1; }
static void too_much_private(struct tutti_tmd *t) { t->private_bytes = fw.item_private + 1; }
static void no_kernel(struct tutti_tmd *t) { t->kernel_object = 0; }
static void bad_kernarg(struct tutti_tmd *t) { t->kernarg = 1ull << 47; }
static void bad_signal(struct tutti_tmd *t) { t->signal = 32; }
static void uneven(struct tutti_tmd *t) { t->cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC }; }

static const struct refusal refusals[] = {
	{ "nothing", 0, nothing },
	{ "no metadata", -TUTTI_EINVAL, magic },
	{ "throttle mode", -TUTTI_EINVAL, throttles },
	{ "no dimensions", -TUTTI_EINVAL, no_dimensions },
	{ "no grid", -TUTTI_EINVAL, no_grid },
	{ "workgroup too large", -TUTTI_EINVAL, too_large },
	{ "too much shared memory", -TUTTI_EINVAL, too_much_memory },
	{ "too much private memory", -TUTTI_EINVAL, too_much_private },
	{ "no kernel", -TUTTI_EINVAL, no_kernel },
	{ "kernarg too high", -TUTTI_EINVAL, bad_kernarg },
	{ "signal not aligned", -TUTTI_EINVAL, bad_signal },
	{ "CGAs that do not divide the grid", -TUTTI_EINVAL, uneven },
};

/* A child that would be no packet either is an invalid argument. Nothing is left of it, and the parent is not harmed. */
static void invalid_children(void **unused)
{
	unsigned parent;

	(void)unused;
	for (unsigned i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		for (unsigned busy = 0; busy < 2; busy++) { /* with and without a free slot */
			parent = start_parent(4, 3 - busy);
			if (busy) {
				struct tutti_dispatch_packet p = packet_of_shape(2, 1);

				submit(1, &p);
			}
			tmd[0] = child_of_shape(2, 3);
			refusals[i].change(&tmd[0]);
			if (ask(parent, 0) != refusals[i].answer)
				fail_msg("%s: %d", refusals[i].what, reply_value);
			assert_int_equal(queue_at(0)->state, QUEUE_RUNNING);
			assert_int_equal(tasks[parent].children, !refusals[i].answer);
			assert_int_equal(tmd_free_count, FW_TMDS - !refusals[i].answer);
			assert_int_equal(started[0], refusals[i].answer || busy ? 1 : 2);
			tmd[1] = child_of_shape(2, 1); /* a valid child is accepted afterwards */
			if (!busy)
				assert_int_equal(ask(parent, 1), 0);
		}
}

/* Addresses that no metadata can have are refused before anything is read; so are children of queues that may have none. */
static void impossible_children(void **unused)
{
	static const struct { uint64_t address; int answer; } at[] = {
		{ 0, -TUTTI_EINVAL }, { TMD_AT + 1, -TUTTI_EINVAL }, { TMD_AT + 32, -TUTTI_EINVAL },
		{ 1ull << 47, -TUTTI_EINVAL }, { 1ull << 63, -TUTTI_EINVAL }, { TMD_AT, 0 },
	};
	struct tutti_dispatch_packet p = packet_of_shape(1, 1);
	unsigned parent, slot;

	(void)unused;
	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		parent = start_parent(4, 0);
		ask_for_child(parent, at[i].address);
		if (at[i].answer) /* at once */
			assert_int_equal(tmd_free_count, FW_TMDS);
		take();
		assert_int_equal(replies, 1);
		assert_int_equal(reply_value, at[i].answer);
	}
	parent = start_parent(4, 0);
	rig_queue(2, ASID, 0);
	submit(2, &p);
	slot = (unsigned)slot_of(2, 0);
	assert_int_equal(ask(slot, 0), -TUTTI_EPERM);
	assert_int_equal(tasks[slot].children, 0);
	assert_int_equal(ask(parent, 0), 0);
	/* a service that there is not, and a work queue that there is not */
	ask_for(99, parent, TMD_AT);
	take();
	assert_int_equal(reply_value, -TUTTI_ENOTSUP);
	ask_for(TUTTI_SERVICE_QUEUE_NOTIFY, parent, TMD_AT);
	take();
	assert_true(reply_value < 0);
	assert_int_equal(replies, 4);
}

/* A wave whose task is gone, or is being killed, waits for no answer. */
static void nobody_to_answer(void **unused)
{
	unsigned parent = start_parent(4, 0);

	(void)unused;
	ask_for_child(parent + 1, TMD_AT);
	take();
	assert_int_equal(replies, 0);
	ask_for_child(parent, TMD_AT); /* its metadata are on their way */
	slow_kills = true;
	rig_event(TUTTI_EVENT_FAULT | parent << 8 | TUTTI_CAUSE_ILLEGAL << 16, 0, 0);
	take();
	ask_for_child(parent, TMD_AT);
	take();
	assert_int_equal(replies, 0);
	assert_int_equal(started[0], 1);
	assert_int_equal(tmd_free_count, FW_TMDS);
	killed(parent);
	take();
	assert_int_equal(queue_at(0)->error, TUTTI_ERROR_KERNEL_TRAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-11 REL-11", waits_for_a_shape),
		RIG_TEST("TSK-11 REL-11", refused_after_the_others),
		RIG_TEST("TSK-11 REL-11", refused_while_it_waits),
		RIG_TEST("TSK-11 REL-11", more_to_issue),
		RIG_TEST("TSK-11 TSK-10 REL-11", consumer_goes_on),
		RIG_TEST("TSK-11 REL-11", parent_of_another),
		RIG_TEST("TSK-11 RES-07 REL-11", split_lacks_shape),
		RIG_TEST("TSK-11 RES-07 REL-11", split_lacks_room),
		RIG_TEST("TSK-11 REL-11", larger_than_what_ends),
		RIG_TEST("TSK-11 TSK-04 REL-11", pinned_to_its_parent),
		RIG_TEST("TSK-11 TSK-04 REL-11", pinned_to_an_sm_that_is_off),
		RIG_TEST("TSK-11 REL-11", capped),
		RIG_TEST("TSK-11 CGA-05 REL-11", groups_beside_their_parent),
		RIG_TEST("TSK-11 TSK-03 REL-11", without_slot),
		RIG_TEST("TSK-11 TSK-07 REL-11", last_slot),
		RIG_TEST("TSK-11 TSK-03 REL-11", evicted_child),
		RIG_TEST("TSK-11", invalid_children),
		RIG_TEST("TSK-11", impossible_children),
		RIG_TEST("TSK-11", nobody_to_answer),
	};

	return cmocka_run_group_tests_name("firmware: room for children", tests, NULL, NULL);
}
