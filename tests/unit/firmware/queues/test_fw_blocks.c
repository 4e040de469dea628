/* SPDX-License-Identifier: MIT */
/* Condensed packets of more queues than there are blocks in local memory to expand them in. */
#define RINGS 12u
#include "fw_direct.h"

#include "core/wait.h"
#include "packets/condensed_block.h"

enum { MORE = 3, LAST = FW_BLOCKS + MORE };

static bool in_local_memory(unsigned q)
{
	const struct block *block = queue_at(q)->block;

	return block >= blocks && block < blocks + FW_BLOCKS;
}

static void open_queue(unsigned q)
{
	rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
}

static void open_queues(unsigned queues)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	start(4, 0);
	for (unsigned q = 0; q < queues; q++) {
		rig_rsb(q, ASID, TUTTI_RSB_SCRATCH);
		open_queue(q);
		store(q, 0, p);
	}
}

/*
 * A packet whose kernels differ from their reference in a field that rarely does, and in their numbers of CTAs: two, three
 * and so on.
 */
static union tutti_packet rare(unsigned kernels)
{
	union tutti_packet p = condensed(kernels);

	for (unsigned k = 0; k < kernels; k++) {
		p.condensed.unit[5 * k] = (TUTTI_DIFF_GROUP_BYTES | TUTTI_DIFF_GRID_X) << TUTTI_DIFF_VECTOR_SHIFT;
		p.condensed.unit[5 * k + 1] = (uint16_t)(32 * (k + 2));
		p.condensed.unit[5 * k + 3] = 256;
	}
	return p;
}

/* Make @kernel one of those in the packet, behind so many units. Its descriptor has to be fetched. */
static void add_fetching(union tutti_packet *p, unsigned units, unsigned kernel)
{
	uint64_t address = KERNEL_AT + 64 * kernel;

	p->condensed.unit[units] = (uint16_t)(TUTTI_DIFF_KERNEL_OBJECT << TUTTI_DIFF_VECTOR_SHIFT);
	for (unsigned i = 0; i < 4; i++)
		p->condensed.unit[units + 1 + i] = (uint16_t)(address >> 16 * i);
}

/* A packet of two kernels, the first with a grid of 128 items, the second with another descriptor. */
static union tutti_packet fetching(unsigned kernel)
{
	union tutti_packet p = condensed(2);

	p.condensed.unit[0] = TUTTI_DIFF_GRID_X << TUTTI_DIFF_VECTOR_SHIFT;
	p.condensed.unit[1] = 128;
	add_fetching(&p, 3, kernel);
	return p;
}

/* How many CTAs run of the packet at the head of the queue. */
static unsigned ctas(unsigned q)
{
	int slot = slot_of(q, written[q] - 1);

	return slot < 0 ? 0 : running[slot].ctas;
}

static void end_everything(unsigned kernels)
{
	while (kernels--)
		for (unsigned s = 0; s < SLOTS; s++)
			end_all(s);
}

/* Every queue has a packet of two kernels, the second of which waits for the first: its block is needed meanwhile. */
static void fill_blocks(const union tutti_packet *packet, unsigned queues)
{
	for (unsigned q = queues; q--;)
		submit(q, packet);
}

/* No queue waits for what the kernels of another one keep. */
static void more_queues_than_blocks(void **unused)
{
	union tutti_packet two = condensed(2);

	(void)unused;
	open_queues(LAST);
	fill_blocks(&two, LAST);
	for (unsigned q = 0; q < LAST; q++) {
		assert_int_equal(started[q], 1);
		assert_int_equal(in_local_memory(q), q >= MORE);
	}
	end_everything(2);
	for (unsigned q = 0; q < LAST; q++) {
		assert_int_equal(started[q], 2);
		assert_int_equal(queue_at(q)->flight, 0);
	}
	/* blocks in card memory are slow, so they are used only then */
	submit(0, &two);
	assert_true(in_local_memory(0));
	end_everything(2);
	assert_int_equal(started[0], 4);
}

/* Nor for room for kernels that differ in much, of which there is little. */
static void more_packets_than_room(void **unused)
{
	union tutti_packet two = rare(2), four = rare(4);

	(void)unused;
	open_queues(FW_GENERAL_BLOCKS + 2);
	fill_blocks(&two, FW_GENERAL_BLOCKS);
	submit(FW_GENERAL_BLOCKS, &four);
	submit(FW_GENERAL_BLOCKS + 1, &two);
	for (unsigned q = 0; q < FW_GENERAL_BLOCKS + 2; q++) {
		assert_int_equal(started[q], 1);
		assert_int_equal(in_local_memory(q), q < FW_GENERAL_BLOCKS);
	}
	for (unsigned k = 0; k < 4; k++) {
		for (unsigned q = 0; q < FW_GENERAL_BLOCKS + 2; q++)
			assert_int_equal(ctas(q), k < 2 || q == FW_GENERAL_BLOCKS ? k + 2 : 0);
		end_everything(1);
	}
	for (unsigned q = 0; q < FW_GENERAL_BLOCKS + 2; q++)
		assert_int_equal(started[q], q == FW_GENERAL_BLOCKS ? 4 : 2);
	submit(FW_GENERAL_BLOCKS, &four);
	assert_true(in_local_memory(FW_GENERAL_BLOCKS));
	end_everything(4);
	assert_int_equal(started[FW_GENERAL_BLOCKS], 8);
}

/* A packet that waits for a descriptor keeps the room for the kernels before that one. */
static void room_of_an_expansion(void **unused)
{
	union tutti_packet two = rare(2), other = rare(2);

	(void)unused;
	open_queues(FW_GENERAL_BLOCKS + 1);
	add_fetching(&other, 5, 7);
	slow_kernels = true;
	submit(0, &other);
	assert_int_equal(kernel_answers, 1);
	for (unsigned q = 1; q <= FW_GENERAL_BLOCKS; q++) {
		submit(q, &two);
		assert_int_equal(ctas(q), 2);
		assert_int_equal(in_local_memory(q), q < FW_GENERAL_BLOCKS);
	}
	answer_kernels();
	assert_int_equal(ctas(0), 2);
	end_everything(2);
	assert_int_equal(started[0], 2);
}

/* An expansion that waits for a descriptor goes on where it was, even if a faster block has become free. */
static void expansion_in_card_memory(void **unused)
{
	union tutti_packet two = condensed(2), other = fetching(5);

	(void)unused;
	open_queues(LAST);
	fill_blocks(&two, FW_BLOCKS);
	slow_kernels = true;
	submit(FW_BLOCKS, &other);
	assert_int_equal(kernel_answers, 1);
	assert_int_equal(started[FW_BLOCKS], 0);
	end_everything(2);
	answer_kernels();
	assert_false(in_local_memory(FW_BLOCKS));
	assert_int_equal(started[FW_BLOCKS], 1);
	end_everything(2);
	assert_int_equal(started[FW_BLOCKS], 2);
}

/* A queue under the number of one that was expanding a packet begins its own at the start, even if it is the same. */
static void forgotten_expansions(void **unused)
{
	union tutti_packet two = condensed(2), other = fetching(6);

	(void)unused;
	for (unsigned far = 0; far < 2; far++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);
		unsigned q = FW_BLOCKS;

		open_queues(LAST);
		fill_blocks(&two, far ? FW_BLOCKS : 0);
		slow_kernels = true;
		submit(q, &other);
		assert_int_equal(in_local_memory(q), !far);
		assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, q, 0, 0), 0);
		take();
		answer_kernels();
		end_everything(2);
		open_queue(q);
		for (unsigned i = 0; i < RING; i++)
			ring[q][i].dispatch.header = TUTTI_PACKET_INVALID;
		written[q] = started[q] = 0;
		p.workgroup_x = 64; /* the references are others now */
		store(q, 0, p);
		fill_blocks(&two, far ? FW_BLOCKS : 0);
		submit(q, &other);
		answer_kernels();
		assert_int_equal(ctas(q), 2);
		end_everything(2);
		assert_int_equal(started[q], 2);
	}
}

/*
 * While a packet waits for a descriptor, another queue with the same references replaces the one of its first kernel. The
 * packet is expanded anew: all that its kernels have comes from the new reference.
 */
static void replaced_references(void **unused)
{
	union tutti_packet two = condensed(2), other = fetching(7);
	struct tutti_dispatch_packet r = kernel_packet(0, 1);

	(void)unused;
	r.workgroup_x = 64;
	r.ref_num = TUTTI_REF_STORE;
	for (unsigned far = 0; far < 2; far++) {
		unsigned q = FW_BLOCKS;

		open_queues(LAST);
		queue_at(q + 1)->rsb = queue_at(q)->rsb;
		queue_at(q + 1)->table = queue_at(q)->table;
		fill_blocks(&two, far ? FW_BLOCKS : 0);
		slow_kernels = true;
		submit(q, &other);
		assert_int_equal(in_local_memory(q), !far);
		submit(q + 1, &r);
		assert_int_equal(started[q + 1], 1);
		answer_kernels();
		assert_int_equal(ctas(q), 2);
		end_everything(2);
		assert_int_equal(started[q], 2);
	}
}

static uint32_t held_fetch[COMMAND_RECORD];

/* Carry out all but the fetch of the last metadata of a packet with three kernels. */
static void hold_metadata(const uint32_t *w, unsigned words)
{
	if ((w[0] & 0xff) == TUTTI_CMD_FETCH && (w[2] | (uint64_t)w[3] << 32) == TMD_AT + 2 * sizeof(tmd[0]))
		memcpy(held_fetch, w, words * 4);
	else
		take_one(w, words);
}

static struct tutti_dispatch_packet with_metadata(unsigned number)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	tmd[number] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
	p.tmd = TMD_AT + number * sizeof(tmd[0]);
	return p;
}

/* A packet of three kernels with metadata, of which those of the first two are checked when those of the third are held. */
static void submit_held(void)
{
	union tutti_packet p = condensed(3);

	open_queues(2);
	queue_at(1)->rsb = queue_at(0)->rsb;
	queue_at(1)->table = queue_at(0)->table;
	for (unsigned i = 0; i < 3; i++) {
		store(0, i, with_metadata(i));
		p.condensed.unit[i] = (uint16_t)i;
	}
	write_packet(0, &p);
	rig_event(TUTTI_EVENT_DOORBELL, 1u << 0, 0);
	take_by(hold_metadata);
	assert_int_equal(started[0], 0);
}

/* Meanwhile another queue replaces the reference of the second kernel, and then those metadata become bad: none of them runs. */
static void replaced_metadata(void **unused)
{
	(void)unused;
	submit_held();
	store(1, 1, with_metadata(3));
	tmd[3].magic = 0;
	take_fetch(held_fetch);
	take();
	assert_int_equal(started[0], 0);
	assert_int_equal(queue_at(0)->error, TUTTI_ERROR_PACKET);
}

/* Or no reference has metadata any more. The packet behind is a barrier, and that waits for what it depends on. */
static void no_metadata_any_more(void **unused)
{
	union tutti_packet barrier = { .barrier = { .header = TUTTI_PACKET_BARRIER_AND, .dependency = { [1] = SIGNAL_AT } } };

	(void)unused;
	submit_held();
	signal_memory[0].value = 1;
	for (unsigned i = 0; i < 3; i++)
		store(1, i, kernel_packet(0, 1));
	take_fetch(held_fetch);
	take();
	end_everything(3);
	assert_int_equal(started[0], 3);
	submit(0, &barrier);
	assert_int_equal(queue_at(0)->wait, WAIT_SIGNAL);
	signal_memory[0].value = 0;
}

/*
 * Other code lies where a kernel was, and that one needs workgroups of another size. So a packet that names it is refused,
 * whether it came before or waits for the descriptor of its next kernel.
 */
static void replaced_code(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 4; i++) {
		unsigned message = i & 1 ? TUTTI_MSG_TLB_INVALIDATE : TUTTI_MSG_CODE_INVALIDATE, before = i & 2 ? 3 : 0;
		union tutti_packet p = condensed(2);

		add_fetching(&p, 0, 5);
		add_fetching(&p, 5, 6);
		open_queues(1);
		for (unsigned n = 0; n < before; n++) {
			submit(0, &p);
			end_everything(2);
		}
		if (!before) {
			slow_kernels = true;
			submit(0, &p);
			assert_int_equal(kernel_answers, 1);
			hal_host_event(&kernel_answer[--kernel_answers]);
			take();
			assert_int_equal(kernel_answers, 1);
		}
		descriptor[5].workgroup[0] = 64;
		assert_int_equal(rig_request(message, ASID, KERNEL_AT, sizeof(descriptor)), 0);
		if (before)
			submit(0, &p);
		answer_kernels();
		assert_int_equal(started[0], 2 * before);
		assert_int_equal(queue_at(0)->error, TUTTI_ERROR_PACKET);
	}
}

/* Queues that are gone leave the blocks to others in which they were expanding packets. */
static void blocks_of_the_dead(void **unused)
{
	enum { DEAD = 2, BUSY = FW_BLOCKS - DEAD }; /* the others keep most fetch buffers */
	union tutti_packet two = condensed(2);

	(void)unused;
	open_queues(LAST);
	fill_blocks(&two, BUSY);
	slow_kernels = true;
	for (unsigned q = BUSY; q < FW_BLOCKS; q++) {
		union tutti_packet other = fetching(10 + q);

		submit(q, &other);
		assert_true(in_local_memory(q));
	}
	submit(FW_BLOCKS, &two); /* nobody takes a block in which another one is in the middle of a packet */
	assert_false(in_local_memory(FW_BLOCKS));
	for (unsigned q = BUSY; q < FW_BLOCKS; q++)
		assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, q, 0, 0), 0);
	take();
	submit(FW_BLOCKS + 1, &two);
	assert_true(in_local_memory(FW_BLOCKS + 1));
	answer_kernels();
	end_everything(2);
	assert_int_equal(started[FW_BLOCKS] + started[FW_BLOCKS + 1], 4);
}

/* A block that is not in use goes to another queue when all have an owner: that of the queue that has used it longest ago. */
static void oldest_block_goes(void **unused)
{
	union tutti_packet one = condensed(1);

	(void)unused;
	open_queues(LAST);
	for (unsigned n = 0; n < 4 * LAST; n++) {
		submit(n % LAST, &one);
		end_everything(1);
		for (unsigned q = 0; q < LAST; q++) {
			unsigned owned = 0, since = (n + LAST - q) % LAST; /* so many queues have had their turn since */

			for (unsigned b = 0; b < FW_BLOCKS; b++)
				owned += blocks[b].owner == q;
			assert_int_equal(owned, since <= n && since < FW_BLOCKS);
		}
	}
}

/* A packet that equals the one before the last is expanded anew, because its block holds the kernels of the last one by now. */
static void like_the_one_before_the_last(void **unused)
{
	struct tutti_dispatch_packet groups = kernel_packet(1, 2);
	union tutti_packet plain = condensed(1), special = condensed(1);

	(void)unused;
	open_queues(1);
	descriptor[1].cga_kind = TUTTI_CGA_GPC;
	descriptor[1].cga[0] = 2;
	descriptor[1].cga[1] = descriptor[1].cga[2] = 1;
	store(0, 1, groups);
	plain.condensed.unit[0] = TUTTI_DIFF_GRID_X << TUTTI_DIFF_VECTOR_SHIFT;
	plain.condensed.unit[1] = 32 * 3;
	special.condensed.unit[0] = TUTTI_DIFF_GRID_X << TUTTI_DIFF_VECTOR_SHIFT | 1;
	special.condensed.unit[1] = 32 * 4;
	for (unsigned i = 0; i < 6; i++) {
		submit(0, i % 3 == 1 ? &special : &plain);
		assert_int_equal(ctas(0), i % 3 == 1 ? 4 : 3);
		end_everything(1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-16 REL-11", more_queues_than_blocks),
		RIG_TEST("PKT-16 REL-11", more_packets_than_room),
		RIG_TEST("PKT-16 REL-11", room_of_an_expansion),
		RIG_TEST("PKT-16 REL-11", expansion_in_card_memory),
		RIG_TEST("PKT-16 REL-11", forgotten_expansions),
		RIG_TEST("PKT-10 PKT-16", replaced_references),
		RIG_TEST("PKT-10 PKT-18", replaced_metadata),
		RIG_TEST("PKT-10 PKT-18", no_metadata_any_more),
		RIG_TEST("PKT-14 SYS-08", replaced_code),
		RIG_TEST("PKT-16 REL-11", blocks_of_the_dead),
		RIG_TEST("PKT-16 REL-11", oldest_block_goes),
		RIG_TEST("PKT-16", like_the_one_before_the_last),
	};

	return cmocka_run_group_tests_name("firmware: blocks of condensed packets", tests, NULL, NULL);
}
