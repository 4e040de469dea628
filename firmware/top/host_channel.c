// SPDX-License-Identifier: MIT
#include "top/host_channel.h"

#include "core/command_ring.h"
#include "core/context.h"
#include "core/counters.h"
#include "core/log.h"
#include "core/outbox.h"
#include "core/state.h"
#include "groups/cga.h"
#include "groups/occupancy.h"
#include "place/kernel_cache.h"
#include "place/plain_grid.h"
#include "place/sm_match.h"
#include "place/sm_order.h"
#include "place/sm_score.h"
#include "queues/launch_plain.h"
#include "queues/queue.h"
#include "queues/queue_life.h"
#include "tasks/issue_rounds.h"
#include "tasks/priority_windows.h"
#include "tasks/throttle.h"
#include "tasks/tie_lots.h"
#include "tasks/wave_split.h"
#include "tasks/work_queue.h"
#include "tensor/descriptor_cache.h"
#include "tensor/mover_ring.h"

#define SUSPENDS 4u

static struct {
	volatile struct tutti_control *control;
	volatile struct tutti_status *status;
	const struct tutti_message *host_ring;
	uint32_t host_slots;
	uint32_t head;      /* next slot of the host ring */
	uint32_t suspend_id[SUSPENDS]; /* ids of requests SUSPEND that wait until nothing is in flight */
	uint32_t suspending;           /* how many of them there are */
} channel;

static uint32_t slots(struct tutti_region region)
{
	return region.bytes / (uint32_t)sizeof(struct tutti_message);
}

void channel_init(void)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;

	channel.control = hal_region(discovery->control);
	channel.status = hal_region(discovery->status);
	channel.host_ring = hal_region(discovery->host_ring);
	channel.host_slots = slots(discovery->host_ring);
	/* requests sent to the firmware that ran before get no answer */
	channel.head = channel.status->host_ring_head = channel.control->host_ring_tail;
	channel.suspending = 0;
}

void channel_event_fetch(unsigned number)
{
	outbox_event_fetch(number);
	wait_wake(WAIT_ROOM); /* queues that are destroyed once there is room for the reply */
	channel_event();
}

/* ---- contexts ---- */

/* channel_event() has asked for room for this and for all other commands of requests (REQUEST_WORDS). */
static void context_command(uint32_t asid, uint64_t root, uint64_t print)
{
	uint32_t words[4] = { (uint32_t)root, (uint32_t)(root >> 32), (uint32_t)print, (uint32_t)(print >> 32) };

	command_words(TUTTI_CMD_CONTEXT, asid, words, 4);
}

static int create(const struct tutti_msg_context *m)
{
	int status = !m->root || m->root & (TUTTI_PAGE_SIZE - 1) ? -TUTTI_EINVAL : context_create(m->asid);

	if (status)
		return status;
	context_command(m->asid, m->root, m->print_ring);
	return 0;
}

static int destroy(uint32_t asid)
{
	int status;

	/* Asked only whether there are any buffers. If so, it does no harm that their packets are expanded once more. */
	if (context_exists(asid) && reference_expand_again(asid))
		return -TUTTI_EBUSY;
	status = context_destroy(asid);
	if (status)
		return status;
	kernel_invalidate(asid, 0, 0);
	launch_forget();
	descriptor_forget(0, asid);
	context_command(asid, 0, 0);
	return 0;
}

static int invalidate(const uint64_t *arg, bool code)
{
	uint32_t asid = (uint32_t)arg[0];
	uint32_t words[4] = { (uint32_t)arg[1], (uint32_t)(arg[1] >> 32), (uint32_t)arg[2], (uint32_t)(arg[2] >> 32) };

	if (!context_exists(asid))
		return -TUTTI_ENOENT;
	/* a changed mapping may lead to other code, too */
	kernel_invalidate(asid, arg[1], arg[2]);
	reference_expand_again(asid);
	launch_forget();
	descriptor_forget(0, asid);
	command_words(TUTTI_CMD_TLB, asid | (code ? 0x8000u : 0), words, 4);
	return 0;
}

/* ---- SMs and policies ---- */

static int sm_enable(const uint64_t *arg)
{
	uint32_t first = (uint32_t)arg[0], n = (uint32_t)arg[1], sms[LAKE_WORDS] = { 0 }, i;

	if (arg[0] >= fw.sms || arg[1] > fw.sms - first || arg[2] > 1)
		return -TUTTI_EINVAL;
	for (i = 0; i < fw.sms; i++)
		if (sm_order_at(i) - first < n)
			sms[i / 32] |= 1u << (i % 32);
	shape_enable(sms, arg[2]);
	shape_enabled();
	throttle_update();
	rounds_run();
	return 0;
}

/* Tell the card which SM is at @position now. The command names SMs in pairs, so it names a neighbour once more. */
static void order_command(uint32_t position)
{
	uint32_t first = position + 1 < fw.sms ? position : position - 1;

	command_words(TUTTI_CMD_ORDER, 0, (uint32_t[2]){ first, sm_order_at(first) | sm_order_at(first + 1) << 16 }, 2);
}

static void enable_one(unsigned position, bool enable)
{
	uint32_t sms[LAKE_WORDS] = { 0 };

	sms[position / 32] = 1u << (position % 32);
	shape_enable(sms, enable);
}

/* Put an SM at a position of the order. The SM that was there takes the position that becomes free. */
static int sm_order(uint32_t value)
{
	uint32_t position = value >> 16, sm = value & 0xffff, i;
	bool enabled[2];

	if (position >= fw.sms || sm >= fw.sms)
		return -TUTTI_EINVAL;
	if (place_state.residents || task_any())
		return -TUTTI_EBUSY;
	if (sm_order_at(position) == sm)
		return 0;
	i = sm_order_swap(position, sm);
	enabled[0] = shapes.enabled[i / 32] >> (i % 32) & 1;
	enabled[1] = shapes.enabled[position / 32] >> (position % 32) & 1;
	enable_one(i, enabled[1]);
	enable_one(position, enabled[0]);
	shape_enabled();
	domain_swapped(i, position);
	order_command(i);
	order_command(position);
	return 0;
}

static bool up_to(uint32_t value, uint32_t most)
{
	return value <= most;
}

/* Policies that are one value: X(name, greatest value, how it is set to @value, its present value). */
#define PLAIN_POLICIES(X)                                                                                          \
	X(TUTTI_POLICY_ISSUE, 1, state_detour(DETOUR_ROUND_ROBIN, value), !!(place_state.detours & DETOUR_ROUND_ROBIN)) \
	X(TUTTI_POLICY_CTA_CAP, ~0u, shape_cap(value), shapes.next_cap)                                            \
	X(TUTTI_POLICY_LEVEL_SEARCH, 2, place_state.level_search = (uint8_t)value, place_state.level_search)       \
	X(TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST, cga_set_mode(value), cga_mode())                             \
	X(TUTTI_POLICY_CGA_PATIENCE, ~0u, cga_set_patience(value), cga_patience())                                 \
	X(TUTTI_POLICY_SPLIT_ROUNDS, ~0u, split_limit(value), split_limit_now())                                   \
	X(TUTTI_POLICY_SEED, ~0u, lots_seed(value), lots_seed_now())

#define ASK(name, most, set, now) case name: *answer = now; return 0;
#define SET(name, most, set, now) case name: if (!up_to(value, most)) return -TUTTI_EINVAL; set; return 0;

static int policy_ask(uint32_t policy, uint32_t which, uint64_t *answer)
{
	uint32_t value = 0;
	bool known = true;

	switch (policy) {
	PLAIN_POLICIES(ASK)
	case TUTTI_POLICY_SM_ORDER:
		known = which < fw.sms;
		value = known ? sm_order_at(which) : 0;
		break;
	case TUTTI_POLICY_SEARCH:
		value = match.search;
		break;
	case TUTTI_POLICY_SPLIT:
		value = match.rotate;
		break;
	case TUTTI_POLICY_WINDOW:
	case TUTTI_POLICY_CLASS:
		known = window_ask(policy, which, &value);
		break;
	default:
		known = score_ask(policy, which, &value);
	}
	*answer = value;
	return known ? 0 : -TUTTI_EINVAL;
}

static int policy_set(uint32_t policy, uint32_t value)
{
	switch (policy) {
	PLAIN_POLICIES(SET)
	case TUTTI_POLICY_SM_ORDER:
		return sm_order(value);
	case TUTTI_POLICY_SEARCH:
	case TUTTI_POLICY_SPLIT:
		return match_policy(policy, value);
	case TUTTI_POLICY_WINDOW:
		return window_length(value) ? 0 : -TUTTI_EINVAL;
	case TUTTI_POLICY_CLASS:
		return window_class(value) ? 0 : -TUTTI_EINVAL;
	default:
		return score_policy(policy, value);
	}
}

static int policy(const uint64_t *arg, uint64_t *answer)
{
	uint32_t policy = (uint32_t)arg[0], value = (uint32_t)arg[1];

	if (arg[0] >> 32 || arg[1] >> 32 || arg[2] > 1)
		return -TUTTI_EINVAL;
	return arg[2] ? policy_ask(policy, value, answer) : policy_set(policy, value);
}

/* ---- suspend ---- */

static bool all_quiet(void)
{
	unsigned i;

	for (i = 0; i < fw.max_queues; i++)
		if (queue_at(i)->state != QUEUE_NONE && (queue_at(i)->in_flight > work_quiet(queue_at(i)) ||
							 queue_at(i)->fetching || queue_at(i)->probing))
			return false;
	return true;
}

void channel_check_suspend(void)
{
	if (!channel.suspending || !all_quiet())
		return;
	while (channel.suspending && outbox_can_reply())
		outbox_reply_after(channel.suspend_id[--channel.suspending], 0);
}

static int query(const uint64_t *arg, struct tutti_message *answer)
{
	const struct queue *queue = queue_at(arg[0] & (TUTTI_MAX_QUEUES - 1));

	if (arg[0] >= fw.max_queues || queue->state == QUEUE_NONE)
		return -TUTTI_ENOENT;
	answer->value = queue->head - (uint32_t)((uint32_t)queue->head - queue->retired);
	answer->arg[0] = answer->value;
	answer->arg[1] = queue->state;
	answer->arg[2] = queue->error;
	return 0;
}

static int cancel(const uint64_t *arg)
{
	struct queue *queue = queue_at(arg[0] & (TUTTI_MAX_QUEUES - 1));
	int status = -TUTTI_ENOENT;

	if (arg[0] >= fw.max_queues || queue->state == QUEUE_NONE || queue->state == QUEUE_DYING)
		return -TUTTI_ENOENT;
	if (queue_cancel_run(queue, arg[1]))
		status = 0;
	return task_cancel(queue, arg[1]) ? status : 0;
}

static int load(struct tutti_message *answer)
{
	const struct task *task;
	unsigned i;

	for (task = task_table.free; task; task = task->next)
		answer->value++;
	for (task = task_table.held; task; task = task->next)
		answer->value++;
	answer->arg[0] = place_state.residents;
	for (i = 0; i < fw.sms; i++)
		answer->arg[1] += shapes.enabled[i / 32] >> (i % 32) & 1;
	return 0;
}

/* ---- requests ---- */

/* When a request is answered: at once, when the engines have done its commands, or by another unit later. */
enum answer { NOW, AFTER_COMMANDS, LATER };

static int request(const struct tutti_message *m, struct tutti_message *answer, enum answer *when)
{
	uint32_t first = m->arg[0] >> 32 ? ~0u : (uint32_t)m->arg[0];
	int status;

	switch (m->type) {
	case TUTTI_MSG_PING:
		answer->value = m->arg[0];
		return 0;
	case TUTTI_MSG_CONTEXT_CREATE:
		*when = AFTER_COMMANDS;
		return create(&m->context);
	case TUTTI_MSG_CONTEXT_DESTROY:
		*when = AFTER_COMMANDS;
		return destroy(first);
	case TUTTI_MSG_TLB_INVALIDATE:
	case TUTTI_MSG_CODE_INVALIDATE:
		*when = AFTER_COMMANDS;
		return invalidate(m->arg, m->type == TUTTI_MSG_CODE_INVALIDATE);
	case TUTTI_MSG_QUEUE_CREATE:
		return queue_create(&m->queue);
	case TUTTI_MSG_QUEUE_DESTROY:
		*when = LATER;
		return queue_destroy(first, m->id);
	case TUTTI_MSG_QUEUE_RESET:
		*when = AFTER_COMMANDS;
		return queue_reset(first);
	case TUTTI_MSG_QUEUE_QUERY:
		return query(m->arg, answer);
	case TUTTI_MSG_RSB_CREATE:
		return reference_create(&m->rsb);
	case TUTTI_MSG_RSB_DESTROY:
		return reference_destroy(first);
	case TUTTI_MSG_RSB_INVALIDATE:
		status = reference_invalidate(first, (uint32_t)m->arg[1]);
		reference_mirror();
		return status;
	case TUTTI_MSG_RSB_READ:
		return reference_read(first, m->arg[1]);
	case TUTTI_MSG_SM_ENABLE:
		return sm_enable(m->arg);
	case TUTTI_MSG_POLICY:
		*when = AFTER_COMMANDS;
		return policy(m->arg, &answer->value);
	case TUTTI_MSG_SUSPEND:
		if (channel.suspending == SUSPENDS)
			return -TUTTI_EBUSY;
		queue_suspend();
		channel.suspend_id[channel.suspending++] = m->id;
		*when = LATER;
		channel_check_suspend();
		return 0;
	case TUTTI_MSG_TASK_CANCEL:
		*when = AFTER_COMMANDS;
		return cancel(m->arg);
	case TUTTI_MSG_RESUME:
		queue_resume();
		return 0;
	case TUTTI_MSG_LOAD:
		return load(answer);
	case TUTTI_MSG_OCCUPANCY:
		return occupancy_answer(&m->occupancy, answer);
	case TUTTI_MSG_QUEUE_NOTIFY:
		return queue_notify(first, (uint32_t)m->arg[1]);
	case TUTTI_MSG_COUNTERS:
		counter_flush(place_state.residents, mover_tail());
		*when = AFTER_COMMANDS;
		command_words(TUTTI_CMD_SM_MODE, shapes.sm_mode | TUTTI_SM_UPDATE, NULL, 0);
		return 0;
	}
	return -TUTTI_ENOTSUP;
}

static void serve(const struct tutti_message *m)
{
	struct tutti_message answer = { .type = TUTTI_MSG_REPLY, .id = m->id };
	enum answer when = NOW;
	int status = request(m, &answer, &when);

	answer.status = (int16_t)status;
	if (status || when == NOW)
		outbox_send(&answer);
	else if (when == AFTER_COMMANDS)
		outbox_reply_after(m->id, answer.value);
}

/*
 * The most words that one request writes to the command ring without asking for room: the signals of a cancelled
 * condensed packet, or the commands for the slots that the reset of a queue retires. COMMAND_OWED_ANSWER reserves the
 * room for its answer, which comes after all commands that the request has led to.
 */
#define REQUEST_WORDS (TUTTI_CONDENSED_KERNELS * COMMAND_SIGNAL_WORDS + COMMAND_OWED_RETIRE)

/* The host could change its ring meanwhile, so each request is copied once, and the copy is checked and used. */
COLD void channel_event(void)
{
	struct tutti_message message;
	uint32_t tail = channel.control->host_ring_tail;

	/* until all requests are served the ring is looked at again whenever the firmware would sleep */
	attention.idle |= ATTEND_CHANNEL;
	if (channel.suspending)
		channel_check_suspend();
	if (outbox_flush())
		return;
	hal_acquire();
	while (channel.head != tail && tail - channel.head <= channel.host_slots) {
		if (outbox_busy() || outbox_full() || !command_ask(REQUEST_WORDS))
			return;
		words_copy(&message, (const void *)&channel.host_ring[channel.head % channel.host_slots],
			   sizeof(message) / 4);
		channel.status->host_ring_head = ++channel.head;
		serve(&message);
	}
	if (!outbox_flush() && !channel.suspending)
		attention.idle &= ~ATTEND_CHANNEL;
}
