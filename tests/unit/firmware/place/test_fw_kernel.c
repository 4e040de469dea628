/* SPDX-License-Identifier: MIT */
/* Kernel descriptors lie in user memory: hostile, cached, evicted, invalidated (SYS-07, PKT-06). */
#include "fw_rig.h"

#include "core/wait.h"
#include "tasks/grouped_tasks.h"
#include "tasks/pending_tasks.h"

#define AT 0x7000000040ull

static struct queue *queue, *stranger;
static uint32_t state[STATE_WORDS];
static struct launch launch;

static void set_up(unsigned sms)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = 9, .root = 8192 } };

	rig_boot(sms, 3);
	assert_int_equal(rig_message(&m), 0);
	queue = rig_queue(0, 3, 0);
	stranger = rig_queue(1, 9, 0);
}

static int dispatch(struct queue *by, uint64_t address)
{
	struct tutti_dispatch_packet packet = rig_packet(address);

	struct pending p;
	int code;

	memset(state, 0, sizeof(state));
	code = packet_dispatch(by, &packet, state, &launch);
	if (code != PACKET_GROUPED)
		return code;
	assert_int_equal(packet_special(by, &packet, 0, state, &launch), 0);
	memcpy(p.state, state, sizeof(state));
	return grouped_pend(&p, NULL, kernel_cga(launch.kernel), launch.kernel->fetched.flags & TUTTI_KERNEL_LMEM,
			launch.shape->capacity);
}

static uint64_t entry(void)
{
	return state[STATE_AT(entry)] | (uint64_t)state[STATE_AT(entry) + 1] << 32;
}

static bool invalidate(unsigned asid, uint64_t address, uint64_t bytes, bool code)
{
	return !rig_request(code ? TUTTI_MSG_CODE_INVALIDATE : TUTTI_MSG_TLB_INVALIDATE, asid, address, bytes);
}

/* ---- hostile descriptors ---- */

static uint32_t wrong(const struct tutti_kernel_descriptor *d, uint64_t address)
{
	uint64_t at = address + (uint64_t)d->entry_offset;
	uint32_t bad = 0;

	if (d->magic != TUTTI_KERNEL_MAGIC || d->version != 1 || d->flags > 7 || d->pad0 || d->pad1)
		bad |= 1u << TUTTI_ERROR_CODE_OBJECT;
	if (d->kernarg_align != 16 && d->kernarg_align != 32 && d->kernarg_align != 64 && d->kernarg_align != 128 &&
	    d->kernarg_align != 256 && d->kernarg_align != 512 && d->kernarg_align != 1024 && d->kernarg_align != 2048 &&
	    d->kernarg_align != 4096)
		bad |= 1u << TUTTI_ERROR_CODE_OBJECT;
	if (!at || at % 2 || at >= 1ull << 47)
		bad |= 1u << TUTTI_ERROR_CODE_OBJECT;
	if (d->barriers > 16 || d->scalar_blocks > 32 || d->vector_blocks > 32)
		bad |= 1u << TUTTI_ERROR_CODE_OBJECT;
	if (d->cga_kind > 4 || (d->cga_kind && (!d->cga[0] || !d->cga[1] || !d->cga[2])))
		bad |= 1u << TUTTI_ERROR_CODE_OBJECT;
	if (bad)
		return bad;
	/* the grid has 10 CTAs in a row */
	if (d->cga_kind && (10 % d->cga[0] || d->cga[1] != 1 || d->cga[2] != 1 || (d->flags & 4 && d->cga_kind > 2)))
		bad |= 1u << TUTTI_ERROR_GRID;
	/* a good descriptor may still be more than this packet (64 items) or any packet can have */
	if (d->workgroup_max && d->workgroup_max < 64)
		bad |= 1u << TUTTI_ERROR_WORKGROUP;
	if ((d->workgroup[0] && d->workgroup[0] != 64) || d->workgroup[1] > 1 || d->workgroup[2] > 1)
		bad |= 1u << TUTTI_ERROR_WORKGROUP;
	if (d->private_bytes > 8192)
		bad |= 1u << TUTTI_ERROR_PRIVATE_MEMORY;
	if (d->group_bytes > 64 * 2048)
		bad |= 1u << TUTTI_ERROR_GROUP_MEMORY;
	return bad;
}

static uint64_t any64(void)
{
	return ((uint64_t)roll32() << 32 | roll32()) >> roll(64);
}

static void twist(struct tutti_kernel_descriptor *d)
{
	switch (roll(16)) {
	case 0: d->group_bytes = roll(2) ? 64 * 2048 - 2 + roll(5) : roll32(); break;
	case 1: d->private_bytes = roll(2) ? 8190 + roll(5) : roll32(); break;
	case 2: d->kernarg_bytes = roll32(); break;
	case 3: d->kernarg_align = roll(2) ? 1u << roll(32) : roll32() >> roll(32); break;
	case 4: d->entry_offset = (int64_t)(roll(2) ? any64() : 0 - any64()); break;
	case 5: d->entry_offset = -(int64_t)AT + (int64_t)roll(3); break;
	case 6: d->entry_offset = (int64_t)((1ull << 47) - AT + roll(8) - 4); break;
	case 7: d->magic ^= 1u << roll(32); break;
	case 8: d->flags = (uint16_t)roll(16); break;
	case 9: d->barriers = (uint16_t)(roll(2) ? roll(20) : roll32()); break;
	case 10: d->scalar_blocks = (uint16_t)(roll(2) ? roll(36) : roll32()); break;
	case 11: d->vector_blocks = (uint16_t)(roll(2) ? roll(36) : roll32()); break;
	case 12: d->workgroup[roll(3)] = (uint16_t)(roll(2) ? roll(3) : 63 + roll(3)); break;
	case 13: d->workgroup_max = (uint16_t)(roll(2) ? 62 + roll(4) : roll32()); break;
	case 14:
		d->cga_kind = (uint8_t)(roll(2) ? roll(6) : roll(256));
		d->cga[0] = d->cga[1] = d->cga[2] = 1;
		d->cga[roll(3)] = (uint16_t)(roll(2) ? roll(12) : roll32());
		d->version = (uint8_t)(roll(4) ? 1 : roll(256));
		break;
	default: roll(2) ? (d->pad0 = 1u << roll(32)) : (d->pad1 = 1ull << roll(64));
	}
}

static void hostile_descriptors(void **unused)
{
	unsigned round, i, accepted = 0;

	seed(3);
	set_up(10);
	for (round = 0; round < 60000; round++) {
		struct tutti_kernel_descriptor d = rig_descriptor();
		uint32_t bad;
		int code;

		if (!(round % 10)) /* any bytes, the magic number right */
			for (i = 0; i < 64; i++)
				if (i < 24 || i > 27)
					((uint8_t *)&d)[i] = (uint8_t)roll(256);
		for (i = round % 10 ? roll(4) : 0; i; i--)
			twist(&d);
		bad = wrong(&d, AT);
		assert_int_equal(dispatch(queue, AT), PACKET_PARKED);
		assert_int_equal(rig_kernel_answer(&d, 0), 1);
		code = dispatch(queue, AT);
		if (!bad && !code) {
			assert_int_equal(entry(), AT + (uint64_t)d.entry_offset);
			assert_int_equal(launch.kernel->group_bytes, d.group_bytes);
			assert_int_equal(launch.kernel->private_bytes, d.private_bytes);
			accepted++;
		} else if (!bad && d.cga_kind && code == TUTTI_ERROR_GRID) {
			/* more CTAs than the smallest of its domains has room for, a CPC of 4 SMs */
			assert_true(d.cga[0] > 4 * shape_capacity(d.scalar_blocks | (uint32_t)d.vector_blocks << 16,
								  (d.group_bytes + 2047) / 2048 | (uint32_t)d.barriers << 16, 2));
		} else if (!bad) {
			/* its registers or barriers leave no room for two waves: never fits */
			assert_int_equal(code, TUTTI_ERROR_WORKGROUP);
			assert_int_equal(shape_capacity(d.scalar_blocks | (uint32_t)d.vector_blocks << 16,
							(d.group_bytes + 2047) / 2048 | (uint32_t)d.barriers << 16, 2), 0);
		} else if (code <= 0 || !(bad >> code & 1)) {
			fail_msg("code %d, wanted one of %#x", code, bad);
		}
		assert_true(invalidate(3, AT, 64, true));
	}
	assert_true(accepted > 10000);
}

/* What was fetched is what counts: the user may change it at any time. */
static void copy_is_used(void **unused)
{
	struct tutti_kernel_descriptor d = rig_descriptor();

	set_up(4);
	assert_int_equal(rig_kernel(queue, AT, &d), 0);
	assert_int_equal(dispatch(queue, AT), 0);
	assert_int_equal(entry(), AT + 256);
	d.magic = 0;
	assert_int_equal(rig_kernel_answer(&d, 0), 0); /* no queue asks for it again */
	assert_int_equal(dispatch(queue, AT), 0);
	/* a bad one is reported once and then looked at again: its owner may have mended it */
	assert_true(invalidate(3, AT, 64, true));
	assert_int_equal(rig_kernel(queue, AT, &d), TUTTI_ERROR_CODE_OBJECT);
	assert_int_equal(packet_error.field, 32);
	d.magic = TUTTI_KERNEL_MAGIC;
	assert_int_equal(rig_kernel(queue, AT, &d), 0);
}

static void not_mapped(void **unused)
{
	struct tutti_kernel_descriptor d = rig_descriptor();
	unsigned cause;

	set_up(4);
	for (cause = TUTTI_CAUSE_UNMAPPED; cause <= TUTTI_CAUSE_ECC; cause++) {
		assert_int_equal(dispatch(queue, AT), PACKET_PARKED);
		assert_int_equal(rig_kernel_answer(&d, cause), 1);
		assert_int_equal(dispatch(queue, AT), TUTTI_ERROR_CODE_OBJECT);
		assert_int_equal(packet_error.cause, cause);
		assert_int_equal(packet_error.address, AT);
		assert_int_equal(packet_error.engine, TUTTI_ENGINE_FETCH);
	}
	assert_int_equal(rig_kernel(queue, AT, &d), 0);
}

/* Hundreds of kernels of two contexts in 16 entries: each gets its own, never another's. */
static void eviction(void **unused)
{
	struct tutti_kernel_descriptor d = rig_descriptor();
	unsigned round, k, hits = 0;

	seed(4);
	set_up(10);
	for (round = 0; round < 50000; round++) {
		struct queue *by = roll(2) ? queue : stranger;
		uint64_t address;
		int code;

		k = roll(4) ? roll(8) : roll(300);
		/* some differ in the high half only, some lie in one entry */
		address = 0x10000 + (uint64_t)(k % 20) * 64 + (uint64_t)(k / 20) * 0x100000000ull;
		d.entry_offset = by == queue ? 128 : 256;
		code = dispatch(by, address);
		if (code == PACKET_PARKED) {
			assert_int_equal(rig_kernel_answer(&d, 0), 1);
			code = dispatch(by, address);
		} else {
			hits++;
		}
		assert_int_equal(code, 0);
		assert_int_equal(entry(), address + (by == queue ? 128 : 256));
		assert_int_equal(state[STATE_AT(asid)], by == queue ? 3 : 9 | 1 << 16);
	}
	assert_true(hits > 1000);
}

static bool cached(struct queue *by, uint64_t address)
{
	struct tutti_kernel_descriptor d = rig_descriptor();
	int code = dispatch(by, address);

	if (code == PACKET_PARKED)
		rig_kernel_answer(&d, 0);
	return !code;
}

static void invalidations(void **unused)
{
	uint64_t a = 0x20000, b = 0x20000 + 64;
	unsigned round;

	seed(5);
	set_up(10);
	for (round = 0; round < 5000; round++) {
		uint64_t from = 0x20000 - 200 + roll(500), bytes = roll(4) ? roll(300) : roll(2) ? 0 : 1ull << roll(64);
		bool mine = roll(4), code = roll(2), overlap_a, overlap_b;

		cached(queue, a);
		cached(queue, b);
		assert_true(cached(queue, a) && cached(queue, b));
		assert_true(invalidate(mine ? 3 : 9, from, bytes, code));
		overlap_a = mine && (!bytes || (from < a + 64 && (a <= from || bytes > a - from)));
		overlap_b = mine && (!bytes || (from < b + 64 && (b <= from || bytes > b - from)));
		assert_int_equal(cached(queue, a), !overlap_a);
		assert_int_equal(cached(queue, b), !overlap_b);
	}
	/* a context that is gone takes its descriptors with it */
	cached(stranger, a);
	assert_true(cached(stranger, a));
	assert_int_equal(rig_request(TUTTI_MSG_CODE_INVALIDATE, 8, 0, 0), -TUTTI_ENOENT);
}

/* Invalidated on its way: the answer is old and is not used. */
static void invalidated_while_fetching(void **unused)
{
	struct tutti_kernel_descriptor old = rig_descriptor(), new = rig_descriptor();
	const uint32_t *w;
	uint32_t record[6];
	unsigned words, found;

	new.entry_offset = 1024;
	set_up(4);
	assert_int_equal(dispatch(queue, AT), PACKET_PARKED);
	command_publish();
	for (found = 0; (w = hal_host_command(&words));)
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) == TAG_KERNEL)
			memcpy(record, w, sizeof(record)), found++;
	assert_int_equal(found, 1);
	memcpy(hal_pointer(record[5]), &old, sizeof(old));
	assert_true(invalidate(3, AT, 64, true));
	rig_event(TUTTI_EVENT_FETCH | (record[0] & 0xffff0000u), 0, 0);
	assert_int_equal(dispatch(queue, AT), PACKET_PARKED);
	assert_int_equal(rig_kernel_answer(&new, 0), 1);
	assert_int_equal(dispatch(queue, AT), 0);
	assert_int_equal(entry(), AT + 1024);
	/* an answer that no queue waits for changes nothing */
	rig_event(TUTTI_EVENT_FETCH | (record[0] & 0xffff0000u), 0, 0);
	rig_event(TUTTI_EVENT_FETCH | (record[0] & 0xffff0000u) | TUTTI_CAUSE_ECC << 8, 0, 0);
	assert_int_equal(dispatch(queue, AT), 0);
}

/* ---- entries that several kernels share ---- */

/* The @n-th address whose descriptor can only be in entry @slot for queue @by. */
static uint64_t address_in(const struct queue *by, unsigned slot, unsigned n)
{
	return 0x30000ull + 64 * 16 * n + 64 * (slot ^ (by->asid_queue & 15));
}

/* A queue asks for a descriptor. Return: how many fetches that takes; they are answered */
static unsigned asks(struct queue *by, uint64_t address)
{
	struct tutti_kernel_descriptor d = rig_descriptor();

	assert_int_equal(dispatch(by, address), PACKET_PARKED);
	return rig_kernel_answer(&d, 0);
}

/* As many kernels as there are entries, one behind the other in memory, are all kept; one more takes the place of one. */
static void neighbours(void **unused)
{
	unsigned k, kept;

	set_up(4);
	for (k = 0; k < FW_KERNELS; k++)
		assert_int_equal(asks(queue, 0x40000 + 64 * k), 1);
	for (k = 0; k < FW_KERNELS; k++)
		assert_int_equal(dispatch(queue, 0x40000 + 64 * k), 0);
	assert_int_equal(asks(queue, 0x40000 + 64 * k), 1);
	for (kept = k = 0; k < FW_KERNELS; k++)
		kept += kernel_slot(0x40000 + 64 * k, queue->asid_queue)->low == 0x40000 + 64 * k;
	assert_int_equal(kept, FW_KERNELS - 1);
}

/* A descriptor that is on its way is not fetched twice, whoever asks for it, and for another one its entry is not free yet. */
static void one_fetch_at_a_time(void **unused)
{
	struct tutti_kernel_descriptor d = rig_descriptor();
	uint64_t a, b, misses;

	set_up(4);
	misses = counters.kernel_misses;
	a = address_in(queue, 5, 0);
	b = address_in(queue, 5, 1);
	assert_int_equal(dispatch(queue, a), PACKET_PARKED);
	assert_int_equal(dispatch(queue, a), PACKET_PARKED);
	assert_int_equal(dispatch(queue, b), PACKET_PARKED);
	assert_int_equal(rig_kernel_answer(&d, 0), 1);
	assert_int_equal(dispatch(queue, a), 0);
	assert_int_equal(counters.kernel_misses, misses + 1);
}

/* What was fetched for a queue that is ready to run is kept until it has run; the others are put off so long. */
static void kept_for_its_queue(void **unused)
{
	set_up(4);
	assert_int_equal(asks(queue, address_in(queue, 5, 0)), 1);
	wait_ready(queue);
	assert_int_equal(asks(stranger, address_in(stranger, 5, 0)), 0);
	assert_true(queue_set_has(&queue_table.ready, queue_id(stranger)));
	assert_int_equal(dispatch(queue, address_in(queue, 5, 0)), 0);
	assert_int_equal(asks(stranger, address_in(stranger, 5, 0)), 1);
	/* its own is no obstacle to a queue */
	wait_ready(stranger);
	assert_int_equal(asks(stranger, address_in(stranger, 5, 1)), 1);
}

/* A queue that is put off gives up what it has asked for and does not use now: two cannot wait for each other. */
static void put_off_gives_up(void **unused)
{
	set_up(4);
	assert_int_equal(asks(queue, address_in(queue, 5, 0)), 1);
	assert_int_equal(asks(stranger, address_in(stranger, 6, 0)), 1);
	wait_ready(queue);
	wait_ready(stranger);
	assert_int_equal(asks(queue, address_in(queue, 6, 0)), 0);
	assert_int_equal(asks(stranger, address_in(stranger, 5, 0)), 1);
	/* but the descriptor of the other one is still kept */
	assert_int_equal(dispatch(stranger, address_in(stranger, 6, 0)), 0);
}

/* Nothing is kept that is no longer valid. */
static void forgotten_is_not_kept(void **unused)
{
	set_up(4);
	assert_int_equal(asks(queue, address_in(queue, 5, 0)), 1);
	assert_true(invalidate(3, 0, 0, true));
	wait_ready(queue);
	assert_int_equal(asks(stranger, address_in(stranger, 5, 0)), 1);
}

/* The flags of a kernel are found by the address where it begins, in its own address space alone. */
static void flags_by_entry(void **unused)
{
	struct tutti_kernel_descriptor d = rig_descriptor();
	unsigned k;

	set_up(4);
	for (k = 0; k < FW_KERNELS; k++) {
		d.flags = (uint16_t)(1 + k % 7);
		d.entry_offset = (int64_t)k << 32 | 2048;
		assert_int_equal(rig_kernel(queue, 0x40000 + 64 * k, &d), 0);
	}
	for (k = 0; k < FW_KERNELS; k++) {
		uint32_t low = 0x40000 + 64 * k + 2048;

		assert_int_equal(kernel_flags_at(3, low, k), 1 + k % 7);
		assert_int_equal(kernel_flags_at(9, low, k), 0);
		assert_int_equal(kernel_flags_at(3, low + 4, k), 0);
		assert_int_equal(kernel_flags_at(3, low, k + 1), 0);
		assert_true(invalidate(3, 0x40000 + 64 * k, 64, true));
		assert_int_equal(kernel_flags_at(3, low, k), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-07 PKT-06", hostile_descriptors),
		RIG_TEST("SYS-07", copy_is_used),
		RIG_TEST("PKT-06", not_mapped),
		RIG_TEST("SYS-07", eviction),
		RIG_TEST("SYS-07", invalidations),
		RIG_TEST("SYS-07", invalidated_while_fetching),
		RIG_TEST("SYS-07", neighbours),
		RIG_TEST("SYS-07 RES-01", one_fetch_at_a_time),
		RIG_TEST("SYS-07 RES-01", kept_for_its_queue),
		RIG_TEST("SYS-07 RES-01", put_off_gives_up),
		RIG_TEST("SYS-07 RES-01", forgotten_is_not_kept),
		RIG_TEST("RES-07 SYS-07", flags_by_entry),
	};

	return cmocka_run_group_tests_name("firmware: kernel descriptors", tests, NULL, NULL);
}
