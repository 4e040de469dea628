// SPDX-License-Identifier: MIT
#include "queues/child_tasks.h"

#include "core/card_memory.h"
#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"
#include "place/visit.h"
#include "queues/launch_special.h"
#include "queues/queue.h"
#include "tasks/grouped_tasks.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/throttle.h"
#include "tasks/work_queue.h"

/* SMs with waves whose answers wait for room in the command ring. answers_of() has the answers. */
static uint32_t late[FW_MAX_SMS / 32];
static bool any_late;

#define ANSWER_OK 0xffu /* stands for the answer 0; errors are kept as TUTTI_E*, and 0 means no answer */

/* The answers kept for an SM, a byte for each of its waves. */
static uint8_t *answers_of(uint32_t sm)
{
	return (uint8_t *)card_memory(CARD_ANSWERS) + sm * CARD_WAVES;
}

COLD void child_init(void)
{
	unsigned i;

	any_late = false;
	for (i = 0; i < FW_MAX_SMS / 32; i++)
		late[i] = 0;
}

/* The caller has made sure of room in the command ring. */
static void reply(uint32_t sm_wave, int32_t value)
{
	uint32_t words[3] = { sm_wave, (uint32_t)value, (uint32_t)(value >> 31) };

	command_words(TUTTI_CMD_REPLY, 0, words, 3);
}

/* Keep an answer for later. While the command ring is full every wave on the card may ask, so each has a place. */
static void reply_late(uint32_t sm_wave, int32_t value)
{
	uint32_t sm = sm_wave & (FW_MAX_SMS - 1), bit = 1u << (sm % 32), i;
	uint8_t *answer = answers_of(sm);

	for (i = 0; i < CARD_WAVES && !(late[sm / 32] & bit); i++)
		answer[i] = 0;
	late[sm / 32] |= bit;
	answer[sm_wave >> 16 & (CARD_WAVES - 1)] = value ? (uint8_t)-value : ANSWER_OK;
	any_late = true;
}

/* A wave has one request at a time, so an answer kept in its place was for an earlier wave, which was killed. */
static void forget_late(uint32_t sm_wave)
{
	uint32_t sm = sm_wave & (FW_MAX_SMS - 1);

	if (late[sm / 32] >> (sm % 32) & 1)
		answers_of(sm)[sm_wave >> 16 & (CARD_WAVES - 1)] = 0;
}

/* Send the answers of an SM. Return: false if there was no room for all of them */
static bool reply_sm(uint32_t sm)
{
	uint8_t *answer = answers_of(sm);
	uint32_t i;

	for (i = 0; i < CARD_WAVES; i++) {
		if (!answer[i])
			continue;
		if (!command_ask(COMMAND_REPLY_WORDS))
			return false;
		reply(sm | i << 16, answer[i] == ANSWER_OK ? 0 : -(int32_t)answer[i]);
		answer[i] = 0;
	}
	return true;
}

COLD void child_resume(void)
{
	uint32_t w;

	if (!any_late)
		return;
	for (w = 0; w < FW_MAX_SMS / 32; w++)
		for (; late[w]; late[w] &= late[w] - 1)
			if (!reply_sm(32 * w + lowest_bit(late[w])))
				return;
	any_late = false;
}

/* The wave that asked gets an error, unless its task is being killed and it does not wait any more. */
static void refuse(struct tmd *tmd, int error)
{
	if (tmd->parent && tmd->parent->state != TASK_KILLED)
		reply(tmd->sm_wave, -error);
	tmd_end(tmd);
}

/* ---- room ---- */

/* A child whose metadata have arrived, or are known to be unusable. */
static bool waits(const struct tmd *tmd)
{
	return tmd->child && (tmd->stage == TMD_FETCHED || tmd->stage == TMD_BAD || tmd->stage == TMD_BUSY);
}

/* Mask of the slots of tasks with a wave that waits for an answer. Two that waited for each other would do so for ever. */
static uint32_t asking(void)
{
	const struct tmd *tmd;
	uint32_t slots = 0;

	for (tmd = tmds; tmd < tmds + FW_TMDS; tmd++)
		if (waits(tmd) && tmd->parent)
			slots |= 1u << tmd->parent->slot;
	return slots;
}

/*
 * The CTAs of a task that are on the card. One that is issued wave by wave counts as resident before its waves are: these
 * are another task.
 */
static uint32_t on_card(const struct task *task)
{
	return task->resident - !!(task->rare & TASK_SPLITTING);
}

/* Whether a task has CTAs on the card that end without waiting for a child; @all: and has no others to issue. */
static bool one_is_independent(bool all)
{
	uint32_t waiting = asking();
	const struct task *task;

	for (task = tasks; task < tasks + fw.tasks; task++)
		if (task->state != TASK_FREE && on_card(task) && !task->children && !(waiting >> task->slot & 1) &&
		    !(all && (task->unissued || task->rare & TASK_SPLITTING)))
			return true;
	return false;
}

/* A task will end, with its slot and perhaps the last use of its shape, whatever happens to others. */
static bool one_will_end(void)
{
	return one_is_independent(true);
}

/* Return: 0, PACKET_PARKED if it takes another visit to know, 1: room may never come */
static int room_will_come(struct shape *shape)
{
	const struct lake *lake = &shape->lake;
	bool alone = shape_alone(shape);

	/* the usual case, in which there is no need to look at all tasks */
	if ((alone && lake->top != lake->row) || one_is_independent(false))
		return 0;
	if (!alone)
		lake = shape_mixed(shape);
	if (!lake)
		return PACKET_PARKED;
	return lake->top == lake->row;
}

/* ---- from metadata to a task ---- */

static struct tutti_dispatch_packet packet_of(const struct tutti_tmd *t)
{
	unsigned scopes = TUTTI_SCOPE_SYSTEM << TUTTI_HEADER_ACQUIRE_SHIFT | TUTTI_SCOPE_SYSTEM << TUTTI_HEADER_RELEASE_SHIFT;

	return (struct tutti_dispatch_packet){
		.header = (uint16_t)(TUTTI_PACKET_KERNEL_DISPATCH | scopes),
		.setup = t->setup,
		.workgroup_x = t->workgroup[0],
		.workgroup_y = t->workgroup[1],
		.workgroup_z = t->workgroup[2],
		.grid_x = t->grid[0],
		.grid_y = t->grid[1],
		.grid_z = t->grid[2],
		.private_bytes = t->private_bytes,
		.group_bytes = t->group_bytes,
		.kernel_object = t->kernel_object,
		.kernarg = t->kernarg,
		.signal = t->signal,
	};
}

/*
 * All shapes are in use: of waiting tasks, if none of them ends by itself, and those may wait for the parent. Return:
 * PACKET_PARKED, or 1 if the child is refused
 */
static int without_shape(struct tmd *tmd)
{
	if (!one_will_end())
		return 1;
	tmd->shapes_seen = shapes.ids + 1;
	return PACKET_PARKED;
}

/*
 * Nothing has changed for a child that found no free shape. To decode it again would fetch its kernel's descriptor again,
 * and two children whose descriptors share an entry of the cache would do that to each other all the time.
 */
static bool still_without_shape(const struct tmd *tmd)
{
	return tmd->shapes_seen == shapes.ids + 1 && !shape_left() && one_will_end();
}

/*
 * Decode with a copy of the queue, because this request parks if something is missing, not the queue. Return: 0,
 * PACKET_PARKED, or another value if the child is refused; then @error is the TUTTI_E* for the wave that asked.
 */
static int start(struct tmd *tmd, int *error)
{
	struct tutti_dispatch_packet packet = packet_of(tmd_static(tmd));
	struct queue queue = *tmd->queue;
	unsigned priority = tmd_static(tmd)->priority ? tmd_static(tmd)->priority : queue.priority;
	struct pending *p = pending_get(priority);
	struct launch launch;
	int code;

	*error = TUTTI_EBUSY;
	if (!p)
		return 1;
	queue.head = tmd->parent->packet;
	code = packet_special(&queue, &packet, 0, p->state, &launch);
	if (!code)
		code = grouped_pend(p, tmd, kernel_cga(launch.kernel), launch.kernel->fetched.flags,
				launch.shape->capacity);
	if (code) {
		pending_put(p);
		if (code == PACKET_PARKED && queue.wait == WAIT_SHAPE)
			return without_shape(tmd);
		*error = TUTTI_EINVAL;
		return code;
	}
	code = task_table.free || one_will_end() ? room_will_come(launch.shape) : 1;
	if (code) {
		pending_put(p);
		return code;
	}
	tmd->parent->children++;
	tmd->parent->rare |= TASK_PARENT;
	p->packet = queue.head;
	p->kernel = tmd->parent->kernel;
	p->rare = TASK_CHILD;
	launch_pending(p, tmd->queue, tmd, &launch);
	return 0;
}

#define ATTEMPT_STEPS 150u /* visit.h */

/* The room for an answer, and for a kernel descriptor that has to be fetched first. */
#define ATTEMPT_WORDS (COMMAND_REPLY_WORDS + COMMAND_FETCH_WORDS)

/* Accept or refuse a child. Return: false if that has to wait */
static bool attempt(struct tmd *tmd)
{
	int error, code;

	if (!tmd->parent || tmd->parent->state == TASK_KILLED) {
		tmd_end(tmd);
		return true;
	}
	if (!command_ask(ATTEMPT_WORDS))
		return false;
	if (tmd->stage == TMD_BUSY || tmd->queue->state != QUEUE_RUNNING) {
		refuse(tmd, TUTTI_EBUSY);
		return true;
	}
	if (tmd->stage == TMD_BAD || tmd_flag(tmd, TUTTI_TMD_THROTTLE)) {
		refuse(tmd, TUTTI_EINVAL);
		return true;
	}
	if (still_without_shape(tmd))
		return false;
	code = start(tmd, &error);
	if (code == PACKET_PARKED)
		return false;
	if (code)
		refuse(tmd, error);
	else
		reply(tmd->sm_wave, 0);
	return true;
}

COLD bool child_look(void)
{
	bool left = false;
	struct tmd *tmd;

	for (tmd = tmds; tmd < tmds + FW_TMDS; tmd++) {
		if (!waits(tmd))
			continue;
		if (!visit_goes_on(ATTEMPT_STEPS)) {
			command_mark(); /* its event begins another visit */
			return true;
		}
		left |= !attempt(tmd);
	}
	return left;
}

/* ---- requests ---- */

/* In throttle mode no other task may start CTAs, so a parent would wait for its child for ever. */
static int create(struct task *parent, uint64_t address, uint32_t sm_wave)
{
	struct tmd *tmd;

	if (address & 63 || !address || !fw_address_ok(address))
		return -TUTTI_EINVAL;
	if (throttle_on() || !(parent->queue->flags & TUTTI_QUEUE_EXTENDED))
		return -TUTTI_EPERM;
	if (parent->children == 0xff || !command_room(COMMAND_FETCH_WORDS))
		return -TUTTI_EBUSY;
	tmd = tmd_fetch(parent->queue, address);
	if (!tmd)
		return -TUTTI_EBUSY;
	tmd->child = 1;
	tmd->parent = parent;
	tmd->sm_wave = sm_wave;
	return 0;
}

COLD void child_request(const struct tutti_event *event)
{
	struct task *task = &tasks[event->word[0] >> 8 & (FW_TASKS - 1)];
	uint64_t address = event->word[3] | (uint64_t)event->word[4] << 32;
	int error = -TUTTI_ENOTSUP;

	forget_late(event->word[1]);
	if (task->state == TASK_FREE || task->state == TASK_KILLED)
		return;
	switch (event->word[0] >> 16) {
	case TUTTI_SERVICE_TASK:
		error = create(task, address, event->word[1]);
		if (!error)
			return;
		break;
	case TUTTI_SERVICE_QUEUE_NOTIFY:
		error = work_notify(queue_asid(task->queue), address);
		break;
	}
	if (command_ask(COMMAND_REPLY_WORDS))
		reply(event->word[1], error);
	else
		reply_late(event->word[1], error);
}
