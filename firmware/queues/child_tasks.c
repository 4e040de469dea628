// SPDX-License-Identifier: MIT
#include "queues/child_tasks.h"

#include "core/card_memory.h"
#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/visit.h"
#include "core/wait.h"
#include "place/shape_line.h"
#include "queues/launch_plain.h"
#include "queues/launch_special.h"
#include "tasks/grouped_tasks.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/throttle.h"
#include "tasks/wave_split.h"
#include "tasks/work_queue.h"

/* SMs with waves whose answers wait for room in the command ring. answers_of() has the answers. */
static uint32_t late[FW_MAX_SMS / 32];

#define ANSWER_OK 0xffu /* stands for the answer 0; errors are kept as TUTTI_E*, and 0 means no answer */

/* The answers kept for an SM, a byte for each of its waves. */
static uint8_t *answers_of(uint32_t sm)
{
	return (uint8_t *)card_memory(CARD_ANSWERS) + sm * CARD_WAVES;
}

COLD void child_init(void)
{
	unsigned i;

	for (i = 0; i < FW_MAX_SMS / 32; i++)
		late[i] = 0;
}

/* The caller has made sure of room in the command ring. */
static void reply(uint32_t sm_wave, int32_t value)
{
	uint32_t *p = command_begin(COMMAND_REPLY_WORDS);

	p[0] = TUTTI_COMMAND(TUTTI_CMD_REPLY, COMMAND_REPLY_WORDS, 0);
	p[1] = sm_wave;
	p[2] = (uint32_t)value;
	p[3] = (uint32_t)(value >> 31);
	command_end(p + COMMAND_REPLY_WORDS);
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

	for (w = 0; w < FW_MAX_SMS / 32; w++)
		for (; late[w]; late[w] &= late[w] - 1)
			if (!reply_sm(32 * w + lowest_bit(late[w])))
				return;
}

/* The wave that asked gets an error, unless its task is being killed and it does not wait any more. */
static void refuse(struct tmd *tmd, int error)
{
	if (tmd->parent && tmd->parent->state != TASK_KILLED)
		reply(tmd->sm_wave, -error);
	tmd_end(tmd);
}

/* ---- room ---- */

/*
 * Will there be room for a CTA of @shape when those CTAs have ended that do not wait for a child? There is if one of them has
 * that shape, and it may run on any SM. Otherwise there has to be an SM without any that stay, or it has to fit beside them on
 * the SM that has the fewest; a CTA of which n fit on an SM needs at most an nth of it. While SMs are about to be disabled, or
 * to take fewer CTAs, that is not known.
 */
static COLD bool room_ends(const struct shape *shape, const struct tmd *tmd)
{
	uint32_t waiting = task_waiting(), stay = 0, fit = shape->capacity, sms = shape->lake.sms.by, mask[FW_MAX_SMS / 32];
	bool ends = false, same = false;
	const struct task *task;

	if (place_state.detours & DETOUR_SHAPES)
		return false;
	if (tmd->affinity)
		sms = task_clear_sms(0, tmd, mask);
	for (task = tasks; task < tasks + fw.tasks; task++) {
		if (task->state == TASK_FREE || !split_on_card(task))
			continue;
		if (waiting >> task->slot & 1) {
			stay += split_on_card(task);
			fit = min32(fit, task->shape->capacity);
		} else {
			ends = true;
			same |= task->shape == shape && !tmd->affinity;
		}
	}
	return ends && (same || stay < sms * fit || task_clear_sms(waiting, tmd, mask));
}

/* There is room for a CTA, or there will be. */
static bool room_now(const struct shape *shape, const struct tmd *tmd)
{
	return (shape_alone(shape) && shape->lake.top != shape->lake.row) || room_ends(shape, tmd);
}

/* Return: 0, PACKET_PARKED if it takes another visit to know, 1: room may never come */
static int room_will_come(struct shape *shape, const struct tmd *tmd)
{
	struct lake *lake = &shape->lake;

	if (room_ends(shape, tmd))
		return 0;
	if (!shape_alone(shape))
		lake = shape_mixed(shape);
	if (!lake)
		return PACKET_PARKED;
	if (tmd->affinity)
		lake = shape_masked(lake, tmd_affinity(tmd));
	return lake->top == lake->row;
}

/* ---- from metadata to a task ---- */

#define CHILD_HEADER (TUTTI_PACKET_KERNEL_DISPATCH | TUTTI_SCOPE_SYSTEM << TUTTI_HEADER_ACQUIRE_SHIFT | \
		      TUTTI_SCOPE_SYSTEM << TUTTI_HEADER_RELEASE_SHIFT)

/* The words of metadata and of a packet that hold a field. */
#define FROM(field) (offsetof(struct tutti_tmd, field) / 4)
#define TO(field) (offsetof(struct tutti_dispatch_packet, field) / 4)

/* The packet that would ask for the grid of metadata @t. It is made of words, because most of its fields share one. */
static void packet_of(const uint32_t *t, uint32_t *p)
{
	p[TO(header)] = CHILD_HEADER | (t[FROM(setup)] >> 16 << 16);
	p[TO(workgroup_x)] = t[FROM(workgroup)];
	p[TO(workgroup_z)] = (uint16_t)t[FROM(setup)];
	p[TO(grid_x)] = t[FROM(grid)];
	p[TO(grid_y)] = t[FROM(grid) + 1];
	p[TO(grid_z)] = t[FROM(grid) + 2];
	p[TO(private_bytes)] = t[FROM(private_bytes)];
	p[TO(group_bytes)] = t[FROM(group_bytes)];
	p[TO(kernel_object)] = t[FROM(kernel_object)];
	p[TO(kernel_object) + 1] = t[FROM(kernel_object) + 1];
	p[TO(kernarg)] = t[FROM(kernarg)];
	p[TO(kernarg) + 1] = t[FROM(kernarg) + 1];
	p[TO(tmd)] = p[TO(tmd) + 1] = 0;
	p[TO(signal)] = t[FROM(signal)];
	p[TO(signal) + 1] = t[FROM(signal) + 1];
}

/*
 * Decode as if a packet had named the metadata, and this were the packet of the parent. If something is missing, the
 * request waits for it, and the queue goes on as before. Return: see packet_dispatch(); @wait: what is missing
 */
static int decode(const struct tmd *tmd, uint32_t *state, struct launch *launch, unsigned *wait)
{
	union tutti_packet packet;
	struct queue *queue = tmd->queue;
	uint32_t situation = queue->situation;
	uint64_t head = queue->head;
	int code;

	packet_of(tmd->word, packet.word);
	queue->head = tmd->parent->packet;
	shape_line_lifted = true;
	code = packet_dispatch(queue, &packet.dispatch, state, launch);
	shape_line_lifted = false;
	*wait = queue->wait;
	queue->head = head;
	queue->situation = situation;
	return code;
}

/* The parent has one child more. */
static void adopt(struct tmd *tmd)
{
	tmd->parent->children++;
	tmd->parent->rare |= TASK_PARENT;
}

/*
 * All shapes are in use: of waiting tasks, if none of them ends by itself, and those may wait for the parent. Return:
 * PACKET_PARKED, or 1 if the child is refused
 */
static int without_shape(struct tmd *tmd)
{
	if (!task_one_ends())
		return 1;
	tmd->shapes_seen = shapes.ids + 1;
	return PACKET_PARKED;
}

/* The decoded child, whose STATE is @command, gets the free slot @task. */
static void start_now(struct tmd *tmd, struct task *task, uint32_t *command, const struct launch *launch)
{
	struct queue *queue = tmd->queue;

	launch_take(queue, task, launch, TUTTI_SCOPE_SYSTEM);
	queue->flight += queue_of_run(queue, (uint32_t)tmd->parent->packet);
	counters.kernels++;
	task->rare = TASK_TMD | TASK_CHILD;
	task->packet = tmd->parent->packet;
	task->kernel = tmd->parent->kernel;
	task->tmd = tmd;
	tmd_take_any(queue, tmd, launch->groups);
	command[0] = TUTTI_COMMAND(TUTTI_CMD_STATE, STATE_WORDS + 1, (uint32_t)task->slot << 8);
	command[1 + STATE_AT(tmd)] = (uint32_t)tmd->address;
	command[2 + STATE_AT(tmd)] = (uint32_t)(tmd->address >> 32);
	command_end(command + 1 + STATE_WORDS);
	start_new(task, command, command + 1 + STATE_WORDS, launch->shape, launch->groups);
}

/*
 * The child is decoded straight into its STATE command, and starts at once if nothing else waits for anything, and there
 * is a slot and room for a CTA. Otherwise it goes through the lists of pending_tasks.h. Return: 0, PACKET_PARKED, or
 * another value if it is refused; then @error is the TUTTI_E* for the wave that asked.
 */
static int start(struct tmd *tmd, int *error)
{
	unsigned priority = tmd_priority(tmd, tmd->queue), wait;
	uint32_t *command = launch_begin(CHILD_HEADER) - 1;
	struct task *task = task_table.free;
	struct launch launch;
	struct pending *p;
	int code = decode(tmd, command + 1, &launch, &wait);

	*error = TUTTI_EBUSY;
	if (!code && task && pending_direct(priority) && !(tmd->queue->flags & TUTTI_QUEUE_PROFILE) && tmd_plain(tmd) &&
	    room_now(launch.shape, tmd)) {
		adopt(tmd);
		start_now(tmd, task, command, &launch);
		return 0;
	}
	launch_begin_undo(CHILD_HEADER);
	if (code == PACKET_PARKED && wait == WAIT_SHAPE)
		return without_shape(tmd);
	if (code && code != PACKET_GROUPED) {
		*error = TUTTI_EINVAL;
		return code;
	}
	p = pending_get(priority);
	if (!p)
		return 1;
	words_copy(p->state, command + 1, STATE_WORDS);
	code = grouped_pend(p, tmd, kernel_cga(launch.kernel), launch.kernel->fetched.flags, launch.shape->capacity);
	if (code)
		*error = TUTTI_EINVAL;
	else if (!task && !task_one_ends())
		code = 1;
	else
		code = grouped_pending(p) ? grouped_room(p, launch.shape) : room_will_come(launch.shape, tmd);
	if (code) {
		pending_put(p);
		return code;
	}
	adopt(tmd);
	p->packet = tmd->parent->packet;
	p->kernel = tmd->parent->kernel;
	p->rare = TASK_CHILD;
	launch_pending(p, tmd->queue, tmd, &launch);
	return 0;
}

#define ATTEMPT_STEPS 150u /* visit.h */

/* Accept or refuse a child. Return: false if that has to wait */
static bool attempt(struct tmd *tmd)
{
	int error, code;

	if (!tmd->parent || tmd->parent->state == TASK_KILLED) {
		tmd_end(tmd);
		return true;
	}
	if (!place_room()) {
		command_later();
		return false;
	}
	if (tmd->stage == TMD_BUSY || tmd->queue->state != QUEUE_RUNNING) {
		refuse(tmd, TUTTI_EBUSY);
		return true;
	}
	if (tmd->stage == TMD_BAD || tmd_flag(tmd, TUTTI_TMD_THROTTLE)) {
		refuse(tmd, TUTTI_EINVAL);
		return true;
	}
	code = start(tmd, &error);
	if (code == PACKET_PARKED)
		return false;
	if (code)
		refuse(tmd, error);
	else
		reply(tmd->sm_wave, 0);
	return true;
}

/* A child that found no free shape, and nothing has ended since for which it would be refused now. */
static bool lacks_shape(const struct tmd *tmd)
{
	return tmd->shapes_seen == shapes.ids + 1 && tmd->parent && tmd->parent->state != TASK_KILLED &&
	       tmd->queue->state == QUEUE_RUNNING;
}

/*
 * As long as nothing has changed for children that lack a shape, no attempt is made: it would fetch the descriptor of the
 * kernel again, and two children whose descriptors share an entry of the cache would do that to each other all the time.
 * Whether something has is the same for all of them and asked once, since there may be more of them than attempts in a
 * visit, and each visit begins with the first.
 */
COLD bool child_look(unsigned first, unsigned n)
{
	bool left = false, asked = false, same = false;
	struct tmd *tmd;

	for (tmd = tmd_at(first); n--; tmd++) {
		if (!tmd_asks(tmd))
			continue;
		if (lacks_shape(tmd)) {
			same = asked ? same : (!shape_left() && task_one_ends());
			asked = true;
			if (same) {
				left = true;
				continue;
			}
		}
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
	tmd->shapes_seen = 0;
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
