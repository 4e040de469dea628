/* SPDX-License-Identifier: MIT */
/* Requests of the host at their limits: the last value of each field that is accepted, and the first that is not. */
#include "core/context.h"
#include "core/state.h"
#include "fw_rig.h"
#include "packets/reference.h"

#define ASID 4u
#define OTHER 5u
#define SMS 5u

static const struct tutti_discovery *card(void)
{
	return (const void *)hal_host.window;
}

static void begin(void)
{
	rig_boot(SMS, ASID);
	assert_int_equal(rig_message(&(struct tutti_message){ .type = TUTTI_MSG_CONTEXT_CREATE,
							      .context = { .asid = OTHER, .root = 4096 } }), 0);
}

static struct tutti_message queue_message(void)
{
	return (struct tutti_message){ .type = TUTTI_MSG_QUEUE_CREATE,
				       .queue = { .queue = 3, .asid = ASID, .ring = RIG_RING, .read_index = 0x20000000,
						  .progress = 0x3000, .size_log2 = 6, .priority = 5 } };
}

static uint8_t log_of(uint32_t packets)
{
	return (uint8_t)__builtin_ctz(packets);
}

#define SHARED(which, what) (m.queue.flags = TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, m.queue.rsb = (which), what)
#define HIGHEST(p, high) (m.queue.priority = (p) | (high) << TUTTI_QUEUE_HIGHEST_SHIFT)

#define QUEUE_FIELDS(X)                                                                                  \
	X(0, (void)0)                                                                                    \
	X(0, m.queue.queue = 0)                                                                          \
	X(0, m.queue.queue = (uint16_t)(card()->max_queues - 1))                                         \
	X(-TUTTI_EINVAL, m.queue.queue = (uint16_t)card()->max_queues)                                   \
	X(0, m.queue.asid = OTHER)                                                                       \
	X(-TUTTI_ENOENT, m.queue.asid = OTHER + 1)                                                       \
	X(-TUTTI_ENOENT, m.queue.asid = 0)                                                               \
	X(-TUTTI_ENOENT, m.queue.asid = (uint16_t)card()->max_contexts)                                  \
	X(0, m.queue.size_log2 = log_of(card()->ring_packets_min))                                       \
	X(-TUTTI_EINVAL, m.queue.size_log2 = log_of(card()->ring_packets_min) - 1)                       \
	X(0, m.queue.size_log2 = log_of(card()->ring_packets_max))                                       \
	X(-TUTTI_EINVAL, m.queue.size_log2 = log_of(card()->ring_packets_max) + 1)                       \
	X(-TUTTI_EINVAL, m.queue.size_log2 = 32 + 6)                                                     \
	X(-TUTTI_EINVAL, m.queue.size_log2 = 31)                                                         \
	X(0, m.queue.flags = TUTTI_QUEUE_FLAGS & ~TUTTI_QUEUE_RSB)                                       \
	X(-TUTTI_EINVAL, m.queue.flags = TUTTI_QUEUE_FLAGS + 1)                                          \
	X(0, m.queue.priority = 1)                                                                       \
	X(-TUTTI_EINVAL, m.queue.priority = 0)                                                           \
	X(0, m.queue.priority = 10)                                                                      \
	X(-TUTTI_EINVAL, m.queue.priority = 11)                                                          \
	X(0, HIGHEST(5, 5))                                                                              \
	X(0, HIGHEST(5, 1))                                                                              \
	X(-TUTTI_EINVAL, HIGHEST(5, 6))                                                                  \
	X(0, m.queue.vector = (uint16_t)(card()->msix_vectors - 1))                                      \
	X(-TUTTI_EINVAL, m.queue.vector = (uint16_t)card()->msix_vectors)                                \
	X(-TUTTI_EINVAL, m.queue.ring += 32)                                                             \
	X(0, m.queue.ring = TUTTI_VA_END - 64 * TUTTI_PACKET_BYTES)                                      \
	X(-TUTTI_EINVAL, m.queue.ring = TUTTI_VA_END - 63 * TUTTI_PACKET_BYTES)                          \
	X(-TUTTI_EINVAL, m.queue.ring = TUTTI_VA_END)                                                    \
	X(-TUTTI_EINVAL, m.queue.ring = 0ull - 64 * TUTTI_PACKET_BYTES)                                  \
	X(-TUTTI_EINVAL, m.queue.ring += 1)                                                              \
	X(-TUTTI_EINVAL, m.queue.read_index += 1)                                                        \
	X(-TUTTI_EINVAL, m.queue.read_index += 2)                                                        \
	X(-TUTTI_EINVAL, m.queue.read_index += 4)                                                        \
	X(0, m.queue.read_index = TUTTI_VA_END - 8)                                                      \
	X(-TUTTI_EINVAL, m.queue.read_index = TUTTI_VA_END)                                              \
	X(-TUTTI_EINVAL, m.queue.progress += 1)                                                          \
	X(-TUTTI_EINVAL, m.queue.progress += 2)                                                          \
	X(-TUTTI_EINVAL, m.queue.progress += 4)                                                          \
	X(0, m.queue.progress = 0)                                                                       \
	X(0, SHARED(1, (void)0))                                                                         \
	X(-TUTTI_EINVAL, SHARED(1, m.queue.flags = TUTTI_QUEUE_RSB))                                     \
	X(-TUTTI_ENOENT, SHARED(2, (void)0))                                                             \
	X(-TUTTI_ENOENT, SHARED((uint16_t)card()->max_rsbs, (void)0))                                    \
	X(-TUTTI_EPERM, SHARED(1, m.queue.asid = OTHER))

/* What is refused leaves nothing behind; a queue that was accepted exists, and can be made again when it is gone. */
static void expect_queue(struct tutti_message *m, int status, const char *what)
{
	int answer = rig_message(m);
	unsigned id = m->queue.queue;

	if (answer != status)
		fail_msg("%s: %d", what, answer);
	if (answer) {
		assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, id, 0, 0), -TUTTI_ENOENT);
		return;
	}
	assert_int_equal(rig_message(m), -TUTTI_EEXIST);
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_QUERY, id, 0, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_RESET, id, 0, 0), -TUTTI_EINVAL); /* it has not stopped */
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_NOTIFY, id, 1, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, id, 0, 0), -TUTTI_ENOENT); /* it has no task */
	assert_int_equal(rig_request(TUTTI_MSG_CONTEXT_DESTROY, m->queue.asid, 0, 0), -TUTTI_EBUSY);
	if (m->queue.flags & TUTTI_QUEUE_RSB)
		assert_int_equal(rig_request(TUTTI_MSG_RSB_DESTROY, m->queue.rsb, 0, 0), -TUTTI_EBUSY);
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, id, 0, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, id, 0, 0), -TUTTI_ENOENT);
}

static void queues_at_limits(void **unused)
{
	struct tutti_message m;

	begin();
	rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
#define TRY(status, change)                    \
	m = queue_message();                   \
	(void)(change);                        \
	expect_queue(&m, status, #change);
	QUEUE_FIELDS(TRY)
#undef TRY
}

/* Every request that names a queue answers for one that is not there, for the first number that there is none of, and beyond. */
static void no_such_queue(void **unused)
{
	static const unsigned types[] = { TUTTI_MSG_QUEUE_DESTROY, TUTTI_MSG_QUEUE_RESET, TUTTI_MSG_QUEUE_QUERY,
					  TUTTI_MSG_QUEUE_NOTIFY, TUTTI_MSG_TASK_CANCEL };
	struct tutti_message m = queue_message();
	unsigned i;

	begin();
	m.queue.queue = 0; /* numbers that are cut to fewer bits would name this one */
	assert_int_equal(rig_message(&m), 0);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		assert_int_equal(rig_request(types[i], 1, 0, 0), -TUTTI_ENOENT);
		assert_int_equal(rig_request(types[i], card()->max_queues - 1, 0, 0), -TUTTI_ENOENT);
		assert_int_equal(rig_request(types[i], card()->max_queues, 0, 0), -TUTTI_ENOENT);
		assert_int_equal(rig_request(types[i], TUTTI_MAX_QUEUES, 0, 0), -TUTTI_ENOENT);
		assert_int_equal(rig_request(types[i], 1ull << 32, 0, 0), -TUTTI_ENOENT);
	}
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_QUERY, 0, 0, 0), 0);
}

static int context(uint32_t asid, uint64_t root)
{
	return rig_message(&(struct tutti_message){ .type = TUTTI_MSG_CONTEXT_CREATE,
						    .context = { .asid = asid, .root = root } });
}

static void contexts_at_limits(void **unused)
{
	uint32_t last;

	begin();
	last = min32(card()->max_contexts, TUTTI_MAX_CONTEXTS) - 1;
	assert_int_equal(context(0, 4096), -TUTTI_EINVAL);
	assert_int_equal(context(last + 1, 4096), -TUTTI_EINVAL);
	assert_int_equal(context(1, 0), -TUTTI_EINVAL);
	assert_int_equal(context(1, TUTTI_PAGE_SIZE / 2), -TUTTI_EINVAL);
	assert_int_equal(context(1, TUTTI_PAGE_SIZE + 8), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_CONTEXT_DESTROY, 1, 0, 0), -TUTTI_ENOENT); /* none of these made one */
	assert_int_equal(context(1, 3 * TUTTI_PAGE_SIZE), 0);
	assert_int_equal(context(1, 3 * TUTTI_PAGE_SIZE), -TUTTI_EEXIST);
	assert_int_equal(context(last, 4096), 0);
	assert_int_equal(rig_request(TUTTI_MSG_TLB_INVALIDATE, last, 0, ~0ull), 0);
	assert_int_equal(rig_request(TUTTI_MSG_CODE_INVALIDATE, last, 0, ~0ull), 0);
	/* a context is in use as long as it has a reference buffer */
	rig_rsb(1, last, TUTTI_RSB_SCRATCH);
	assert_int_equal(rig_request(TUTTI_MSG_CONTEXT_DESTROY, last, 0, 0), -TUTTI_EBUSY);
	assert_int_equal(rig_request(TUTTI_MSG_CONTEXT_DESTROY, 1, 0, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_DESTROY, 1, 0, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_CONTEXT_DESTROY, last, 0, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_CONTEXT_DESTROY, last, 0, 0), -TUTTI_ENOENT);
	assert_int_equal(rig_request(TUTTI_MSG_TLB_INVALIDATE, last, 0, ~0ull), -TUTTI_ENOENT);
	assert_int_equal(rig_request(TUTTI_MSG_TLB_INVALIDATE, 0, 0, ~0ull), -TUTTI_ENOENT);
	assert_int_equal(rig_request(TUTTI_MSG_TLB_INVALIDATE, last + 1, 0, ~0ull), -TUTTI_ENOENT);
}

static int buffer(unsigned id, unsigned asid, unsigned placement, uint64_t offset)
{
	return rig_message(&(struct tutti_message){ .type = TUTTI_MSG_RSB_CREATE,
						    .rsb = { .rsb = (uint16_t)id, .asid = (uint16_t)asid,
							     .placement = placement, .offset = offset } });
}

/* In memory a buffer lies below the firmware, up to its last byte. */
static void buffers_at_limits(void **unused)
{
	uint64_t end;
	unsigned last;

	begin();
	end = card()->reserved_bytes - TUTTI_FIRMWARE_BYTES;
	last = min32(card()->max_rsbs, TUTTI_MAX_RSBS) - 1;
	assert_int_equal(buffer(last + 1, ASID, TUTTI_RSB_MEMORY, 0), -TUTTI_EINVAL);
	assert_int_equal(buffer(last, OTHER + 1, TUTTI_RSB_MEMORY, 0), -TUTTI_ENOENT);
	assert_int_equal(buffer(last, ASID, TUTTI_RSB_MEMORY + 1, 0), -TUTTI_EINVAL);
	assert_int_equal(buffer(last, ASID, TUTTI_RSB_MEMORY, 32), -TUTTI_EINVAL);
	assert_int_equal(buffer(last, ASID, TUTTI_RSB_MEMORY, end), -TUTTI_EINVAL);
	assert_int_equal(buffer(last, ASID, TUTTI_RSB_MEMORY, end + 64), -TUTTI_EINVAL);
	assert_int_equal(buffer(last, ASID, TUTTI_RSB_MEMORY, end - sizeof(struct tutti_rsb) + 64), -TUTTI_EINVAL);
	assert_int_equal(buffer(last, ASID, TUTTI_RSB_MEMORY, 0ull - 64), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_DESTROY, last, 0, 0), -TUTTI_ENOENT);
	assert_int_equal(buffer(last, ASID, TUTTI_RSB_MEMORY, 64), 0);
	assert_int_equal(buffer(last, ASID, TUTTI_RSB_MEMORY, 64), -TUTTI_EEXIST);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_INVALIDATE, last, 0xff, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_READ, last, 4096, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_READ, last, 4098, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_READ, last, ~3ull, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_DESTROY, last, 0, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_DESTROY, last, 0, 0), -TUTTI_ENOENT);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_INVALIDATE, TUTTI_MAX_RSBS, 0xff, 0), -TUTTI_ENOENT);
	assert_int_equal(rig_request(TUTTI_MSG_RSB_INVALIDATE, 1ull << 32, 0xff, 0), -TUTTI_ENOENT);
	if (end - sizeof(struct tutti_rsb) < HAL_HOST_CARD)
		assert_int_equal(buffer(last, ASID, TUTTI_RSB_MEMORY, end - sizeof(struct tutti_rsb)), 0);
}

static unsigned enabled(void)
{
	struct tutti_message m = { .type = TUTTI_MSG_LOAD };

	assert_int_equal(rig_message(&m), 0);
	return __builtin_popcount(shapes.enabled[0]);
}

static void sms_at_limits(void **unused)
{
	begin();
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, SMS, 0, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, SMS, 1, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 0, SMS + 1, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 1, SMS, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 0, 1, 2), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 0, 1ull << 32 | 1, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 1ull << 32, 1, 0), -TUTTI_EINVAL);
	assert_int_equal(enabled(), SMS);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, SMS - 1, 1, 0), 0);
	assert_int_equal(shapes.enabled[0], 0xf);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 1, 0, 0), 0); /* none */
	assert_int_equal(shapes.enabled[0], 0xf);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 0, SMS, 0), 0);
	assert_int_equal(enabled(), 0);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 1, 3, 1), 0);
	assert_int_equal(shapes.enabled[0], 0xe);
}

static int occupancy(unsigned waves, unsigned mode, unsigned lmem, unsigned pad)
{
	return rig_message(&(struct tutti_message){ .type = TUTTI_MSG_OCCUPANCY,
						    .occupancy = { .waves = (uint16_t)waves, .mode = (uint8_t)mode,
								   .lmem = (uint8_t)lmem, .pad0 = pad } });
}

static void occupancy_at_limits(void **unused)
{
	begin();
	assert_int_equal(occupancy(1, 0, 0, 0), 0);
	assert_int_equal(occupancy(1, TUTTI_OCCUPANCY_MODE_CARD, 1, 0), 0);
	assert_int_equal(occupancy(0, 0, 0, 0), -TUTTI_EINVAL);
	assert_int_equal(occupancy(1, TUTTI_OCCUPANCY_MODE_CARD + 1, 0, 0), -TUTTI_EINVAL);
	assert_int_equal(occupancy(1, 0, 2, 0), -TUTTI_EINVAL);
	assert_int_equal(occupancy(1, 0, 0, 1), -TUTTI_EINVAL);
}

/* Words that are wider than their field are not cut. */
static void policies_are_not_cut(void **unused)
{
	begin();
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_ISSUE, 1, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, 1ull << 32 | TUTTI_POLICY_ISSUE, 0, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_ISSUE, 1ull << 32, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_ISSUE, 0, 2), -TUTTI_EINVAL);
	assert_true(place_state.detours & DETOUR_ROUND_ROBIN);
}

static uint32_t updates;

/* Note the command. It is not carried out, so the event that must come before the answer does not come. */
static void note_update(const uint32_t *w, unsigned words)
{
	(void)words;
	updates += (w[0] & 0xff) == TUTTI_CMD_SM_MODE && (w[0] >> 16 & TUTTI_SM_UPDATE);
}

/* The host reads the counters when it sees the answer, so the hardware has to bring its own up to date before. */
static void counters_before_answer(void **unused)
{
	const struct tutti_status *status = (const void *)(hal_host.window + card()->status.offset);
	uint32_t answers;

	begin();
	updates = 0;
	answers = status->card_ring_tail;
	rig_command = note_update;
	rig_request(TUTTI_MSG_COUNTERS, 0, 0, 0);
	rig_command = NULL;
	assert_int_equal(updates, 1);
	assert_int_equal(status->card_ring_tail, answers);
	assert_int_equal(rig_request(TUTTI_MSG_COUNTERS, 0, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-08 REL-02", queues_at_limits),
		RIG_TEST("SYS-08 REL-02", no_such_queue),
		RIG_TEST("SYS-08 REL-02", contexts_at_limits),
		RIG_TEST("SYS-08 PKT-10", buffers_at_limits),
		RIG_TEST("SYS-08 SYS-41", sms_at_limits),
		RIG_TEST("SYS-08 CGA-29", occupancy_at_limits),
		RIG_TEST("SYS-08", policies_are_not_cut),
		RIG_TEST("SYS-13 TMA-27", counters_before_answer),
	};

	return cmocka_run_group_tests_name("firmware: requests at their limits", tests, NULL, NULL);
}
