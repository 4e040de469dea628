/* SPDX-License-Identifier: MIT */
/*
 * Packets whose kernels may overlap: one client leaves another what they need, however long they run (REL-11); and what
 * else may start while kernels of a packet run or wait.
 */
#include "fw_direct.h"

#include "core/wait.h"
#include "queues/fetch_buffers.h"
#include "tasks/metadata.h"

enum { PACKETS = 40 };

static void open_queue(unsigned q, unsigned asid)
{
	rig_rsb(q, asid, TUTTI_RSB_SCRATCH);
	rig_queue(q, asid, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | TUTTI_QUEUE_OVERLAP);
	store(q, 0, kernel_packet(0, 1));
}

/* So many packets of one kernel each. */
static void submit_many(unsigned q, unsigned packets)
{
	union tutti_packet one = condensed(1);

	while (packets--)
		submit(q, &one);
}

static void end_kernels(unsigned rounds)
{
	while (rounds--)
		for (unsigned slot = 0; slot < SLOTS; slot++)
			end_all(slot);
}

/* A client that is alone fills all task slots. */
static void one_client(void **unused)
{
	(void)unused;
	start(4, 0);
	open_queue(0, ASID);
	submit_many(0, PACKETS);
	assert_int_equal(started[0], FW_TASKS);
	end_kernels(2);
	assert_int_equal(started[0], PACKETS);
	assert_int_equal(queue_at(0)->flight, 0);
}

static void two_clients(void **unused)
{
	(void)unused;
	start(4, 0);
	open_queue(0, ASID);
	open_queue(1, ASID + 1);
	submit_many(0, PACKETS);
	assert_int_equal(started[0], FW_TASKS / 2);
	submit_many(1, 1);
	assert_int_equal(started[1], 1);
	submit_many(1, PACKETS - 1);
	assert_int_equal(started[1], FW_TASKS / 4); /* a third client finds some, too */
	end_kernels(8);
	assert_int_equal(started[0], PACKETS);
	assert_int_equal(started[1], PACKETS);
	assert_int_equal(queue_at(0)->flight | queue_at(1)->flight, 0);
}

/* ---- what comes behind a packet ---- */

/* A packet of @n kernels, of which the last one has other scopes if it is @patched, which come to the same. */
static union tutti_packet packet_of(unsigned n, bool patched)
{
	union tutti_packet p = condensed(n);

	if (patched)
		p.condensed.unit[n - 1] = TUTTI_DIFF_SCOPES << TUTTI_DIFF_VECTOR_SHIFT;
	return p;
}

static void open_shared(unsigned q, unsigned flags)
{
	struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
				   .queue = { .queue = (uint16_t)q, .asid = ASID, .rsb = 0, .ring = RIG_RING + q * 4096ull,
					      .flags = (uint16_t)(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | flags),
					      .read_index = 0x20000000ull + q * 64, .size_log2 = 6, .priority = 5 } };

	assert_int_equal(rig_message(&m), 0);
}

/*
 * Without overlap a kernel waits for the one before it, but the packet behind waits for none of them once the last has
 * started; with overlap all start at once.
 */
static void next_packet_need_not_wait(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * 2 * 3; i++) {
		bool overlap = i & 1, patched = i & 2;
		unsigned kernels = 1 + i / 4;
		struct tutti_dispatch_packet behind = kernel_packet(0, 1);
		union tutti_packet p = packet_of(kernels, patched);

		start(4, 0);
		rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
		open_shared(0, overlap ? TUTTI_QUEUE_OVERLAP : 0);
		store(0, 0, kernel_packet(0, 1));
		write_packet(0, &p);
		submit(0, &behind);
		if (overlap) {
			assert_int_equal(started[0], kernels + 1);
			continue;
		}
		for (unsigned k = 1; k < kernels; k++) {
			assert_int_equal(started[0], k);
			end_all((unsigned)slot_of(0, 1));
		}
		assert_int_equal(started[0], kernels + 1);
		assert_true(slot_of(0, 2) >= 0);
	}
}

/*
 * Queue 0 launches a packet of @kernels kernels from reference 0. Queue 1 shares this reference and then gets a packet that
 * stores a kernel of three CTAs in it. @patched: see packet_of()
 */
static void store_behind(unsigned kernels, bool patched)
{
	struct tutti_dispatch_packet other = kernel_packet(0, 3);
	union tutti_packet p = packet_of(kernels, patched);

	start(4, 0);
	rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
	open_shared(0, 0);
	open_shared(1, 0);
	store(0, 0, kernel_packet(0, 1));
	submit(0, &p);
	other.ref_num = TUTTI_REF_STORE;
	submit(1, &other);
}

/*
 * Two queues share references. A packet that stores one waits while kernels of another queue's packet are still to be
 * launched from it, and goes on when the last one has been launched and read. Those have started from the old reference.
 */
static void store_waits_for_readers(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * 3; i++) {
		unsigned kernels = 2 + i / 2;
		union tutti_packet p = condensed(1);

		store_behind(kernels, i & 1);
		for (unsigned k = 1; k < kernels; k++) {
			int slot = slot_of(0, 1);

			assert_int_equal(queue_at(1)->wait, WAIT_RSB);
			assert_int_equal(started[1], 0);
			assert_int_equal(running[slot].ctas, 1);
			end_all((unsigned)slot);
		}
		assert_int_equal(started[0], kernels);
		assert_int_equal(running[slot_of(0, 1)].ctas, 1);
		main_before_idle(); /* by now the engines have read it */
		take();
		assert_int_equal(started[1], 1);
		assert_int_equal(running[slot_of(1, 0)].ctas, 3);
		end_all((unsigned)slot_of(0, 1));
		end_all((unsigned)slot_of(1, 0));
		submit(0, &p);
		assert_int_equal(running[slot_of(0, 2)].ctas, 3);
	}
}

/* Queues that are destroyed, or stop because a kernel fails, while kernels of a packet are to come keep nobody waiting. */
static void dropped_readers(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * 2; i++) {
		store_behind(3, i & 1);
		assert_int_equal(queue_at(1)->wait, WAIT_RSB);
		if (i & 2) {
			rig_event(TUTTI_EVENT_FAULT | (uint32_t)slot_of(0, 1) << 8 | TUTTI_CAUSE_ILLEGAL << 16, 0, 0);
			take();
			assert_int_equal(queue_at(0)->error, TUTTI_ERROR_KERNEL_TRAP);
		} else {
			destroy(0);
		}
		assert_int_equal(started[0], 1);
		assert_int_equal(started[1], i & 2 ? 0 : 1); /* until the engines have read it, as they have when a queue is gone */
		main_before_idle();
		take();
		assert_int_equal(started[1], 1);
		/* nor is the room for expanded packets lost */
		for (unsigned b = 0; b < FW_BLOCKS; b++)
			assert_int_equal(blocks[b].busy, 0);
	}
}

/*
 * A packet is cancelled while it has kernels that run, that wait for a slot, and that have not even been looked at: the
 * signal of each of them, and of no other, is cancelled once.
 */
static void cancelled_once(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * 2 * 2; i++) {
		bool overlap = i & 1, patched = i & 2;
		unsigned kernels = i & 4 ? 3 : TUTTI_CONDENSED_KERNELS - patched;
		struct tutti_dispatch_packet r = kernel_packet(0, 1);
		union tutti_packet p = packet_of(kernels, patched);

		start(4, 2);
		rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
		open_shared(0, overlap ? TUTTI_QUEUE_OVERLAP : 0);
		r.signal = SIGNAL_AT + 64;
		store(0, 0, r);
		submit(0, &p);
		rig_command = take_one;
		assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, 0, 1, 0), 0);
		rig_command = NULL;
		take();
		end_kernels(4);
		assert_int_equal(started[0], overlap ? 2 : 1);
		assert_int_equal(signal_count, kernels);
		for (unsigned k = 0; k < kernels; k++) {
			assert_true(signals[k].cancelled);
			assert_int_equal(signals[k].address, SIGNAL_AT + 64);
		}
		assert_int_equal(queue_at(0)->flight, 0);
		/* the queue goes on */
		p = condensed(1);
		submit(0, &p);
		assert_int_equal(started[0], overlap ? 3 : 2);
	}
}

/* A queue with more kernels than there are task slots: each slot that becomes free gets the next one, in order. */
static void more_kernels_than_slots(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3 * 3; i++) {
		unsigned slots = 1 + i % 3, next = slots;
		bool metadata = i / 3 == 1, mixed = i / 3 == 2;

		start(4, slots);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
		tmd[0] = child(0);
		for (unsigned k = 0; k < 12; k++) {
			struct tutti_dispatch_packet p = kernel_packet(0, 1);

			if (metadata || (mixed && k % 2))
				p.tmd = TMD_AT;
			submit(0, &p);
		}
		for (unsigned k = 0; k < 12; k++) {
			assert_int_equal(started[0], next);
			assert_true(slot_of(0, k) >= 0);
			end_all((unsigned)slot_of(0, k));
			next += next < 12;
		}
		assert_int_equal(queue_at(0)->flight, 0);
		assert_int_equal(queue_at(0)->head, 12);
	}
}

/* ---- metadata of packets that are given up ---- */

static unsigned metadata_fetches;
static uint32_t held_fetch;      /* the first word of the fetch of metadata that was not answered, or 0 */
static uint32_t kernargs[RING];  /* of what starts, in this order */
static unsigned kernarg_count;

static unsigned hold;            /* which fetch of metadata is not answered, from 1 on; 0: all are */

static void take_one_holding(const uint32_t *w, unsigned words)
{
	unsigned type = w[0] & 0xff;
	const uint32_t *state;

	if (type == TUTTI_CMD_TASK || type == TUTTI_CMD_STATE) {
		state = type == TUTTI_CMD_STATE ? w + 1 : hal_pointer(w[1]);
		kernargs[kernarg_count++] = state[STATE_AT(kernarg)];
	}
	if (type == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) == TAG_TMD && ++metadata_fetches == hold) {
		memcpy(hal_pointer(w[5]), user(w[2] | (uint64_t)w[3] << 32), w[4]);
		held_fetch = TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u);
	} else {
		take_one(w, words);
	}
}

static void take_holding(unsigned fetch)
{
	hold = fetch;
	take_by(take_one_holding);
}

static void answer_held(void)
{
	rig_event(held_fetch, 0, 0);
	take_holding(0);
}

/* The only CTA of the kernel in @slot ends. */
static void end_holding(unsigned slot)
{
	struct tutti_event event = { { TUTTI_EVENT_CTA | slot << 8 | 1u << 24, 1, 1, 1 } };

	while (!(running[slot].on[lowest_bit(event.word[3])]))
		event.word[3] <<= 1;
	running[slot].ctas = 0;
	hal_host_event(&event);
	take_holding(0);
}

static void start_with_metadata(void)
{
	start(4, 0);
	metadata_fetches = kernarg_count = held_fetch = 0;
	tmd[0] = child(0);
	rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
	open_shared(0, 0);
}

/*
 * A condensed packet is cancelled while its kernel waits for its metadata. The record of these becomes free, and the next
 * packet that names them fetches them anew.
 */
static void cancelled_before_metadata(void **unused)
{
	struct tutti_dispatch_packet r = kernel_packet(0, 1);
	union tutti_packet p = condensed(1);

	(void)unused;
	start_with_metadata();
	r.tmd = TMD_AT;
	store(0, 0, r);
	write_packet(0, &p);
	rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
	take_holding(2); /* the first fetch is for the check of the whole packet */
	assert_int_equal(queue_at(0)->wait, WAIT_METADATA);
	rig_command = take_one;
	assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, 0, 1, 0), 0);
	rig_command = NULL;
	take();
	answer_held();
	assert_int_equal(queue_at(0)->tmd, 0);
	assert_int_equal(tmd_free_count, FW_TMDS);
	assert_int_equal(started[0], 0);
	write_packet(0, &p);
	rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
	take_holding(0);
	assert_int_equal(metadata_fetches, 4);
	assert_int_equal(started[0], 1);
}

/*
 * While a packet waits for its metadata its queue loses its packets, and the client replaces them. A packet with these
 * metadata that starts in the same visit as the plain one before it leaves what is said of that one alone.
 */
static void replaced_before_metadata(void **unused)
{
	(void)unused;
	for (unsigned k = 0; k < 2; k++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);

		start_with_metadata();
		p.tmd = TMD_AT;
		write_packet(0, &p);
		rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
		take_holding(1);
		buffer_drop(queue_at(0));
		written[0] = 0;
		for (unsigned i = 0; i < 3; i++) {
			p.header = TUTTI_PACKET_KERNEL_DISPATCH | (i == 1 ? TUTTI_HEADER_BARRIER : 0);
			p.kernarg = 16 * (i + 1);
			p.tmd = i == 2 ? TMD_AT : 0;
			p.kernel_object = KERNEL_AT + 64 * i * k; /* one that was launched before, or another one */
			write_packet(0, &p);
		}
		answer_held();
		assert_int_equal(started[0], 1);
		end_holding((unsigned)slot_of(0, 0));
		assert_int_equal(started[0], 3);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(kernargs[i], 16 * (i + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-21 REL-11", one_client),
		RIG_TEST("PKT-21 REL-11", two_clients),
		RIG_TEST("PKT-03 PKT-16", next_packet_need_not_wait),
		RIG_TEST("PKT-10 PKT-11", store_waits_for_readers),
		RIG_TEST("PKT-10 PKT-18 REL-11", dropped_readers),
		RIG_TEST("PKT-04 TSK-12", cancelled_once),
		RIG_TEST("PKT-03 TSK-02", more_kernels_than_slots),
		RIG_TEST("TSK-01 TSK-12 REL-11", cancelled_before_metadata),
		RIG_TEST("TSK-01 REL-12", replaced_before_metadata),
	};

	return cmocka_run_group_tests_name("firmware: condensed packets that overlap", tests, NULL, NULL);
}
