// SPDX-License-Identifier: MIT
/* Condensed packets whose diffs name fields of the packet, against plain packets (PKT-10 .. PKT-19, PKT-21). */
#include "condensed_rig.h"

/* Every one of the 8192 vectors; with each also one bad value. */
static void every_vector(void **unused)
{
	unsigned placement, i, bad;
	uint32_t vector;

	for (placement = 0; placement < 2; placement++) {
		seed(11 + placement);
		set_up(placement ? TUTTI_RSB_MEMORY : TUTTI_RSB_SCRATCH, 0);
		for (vector = 0; vector <= TUTTI_DIFF_ALL; vector++) {
			struct tutti_dispatch_packet from = random_packet();

			if (!(vector % 64))
				for (i = 0; i < TUTTI_REFERENCES; i++)
					store(i);
			queue->head = (uint64_t)roll32() << 32 | roll32();
			start_packet();
			expand_and_compare(add(roll(8), vector, &from, FIELDS));
			assert_int_equal(diff_units(vector), units - 1);
			for (bad = 0; bad < FIELDS; bad++)
				if (vector >> bad & 1 && !roll(3)) {
					start_packet();
					expand_and_compare(add(roll(8), vector, &from, bad));
				}
		}
	}
}

/* Several kernels of all kinds; some packets with one that is bad, somewhere. */
static void mix(void)
{
	unsigned round, i, accepted = 0, refused = 0;

	seed(23);
	for (round = 0; round < 60000; round++) {
		bool good = true;

		if (!(round % 50))
			for (i = 0; i < TUTTI_REFERENCES; i++)
				store(i);
		start_packet();
		for (i = 1 + roll(roll(3) ? 5 : 31); i && room(); i--) {
			struct tutti_dispatch_packet from = random_packet();
			unsigned ref = roll(8), kind = roll(8), bad;
			uint32_t vector = kind < 3 ? 0 : kind < 6 ? 1u << (kind == 3 ? 5 : kind == 4 ? 11 : 12)
						   : kind == 6	  ? (roll(4) << 11 | roll(2) << 5) : roll(8192) & roll(8192);

			if (1 + diff_units(vector) > room())
				vector = 0;
			/* like the reference but for these: else hardly any diff of sizes would be good */
			if (roll(6)) {
				struct tutti_dispatch_packet same = reference[ref].packet;

				same.kernarg = from.kernarg, same.signal = from.signal, same.header = from.header;
				if (roll(2))
					same.grid_x = from.grid_x;
				from = same;
			}
			for (bad = !vector || roll(8) ? FIELDS : roll(FIELDS); bad < FIELDS && !(vector >> bad & 1);)
				bad = roll(FIELDS);
			good &= add(ref, vector, &from, bad);
		}
		expand_and_compare(good);
		good ? accepted++ : refused++;
	}
	assert_true(accepted > 10000 && refused > 10000);
}

static void mixed_packets(void **unused)
{
	set_up(TUTTI_RSB_SCRATCH, 0);
	mix();
}

/* Other queues need all blocks in local memory, so those in card memory hold the same. */
static void packets_in_card_memory(void **unused)
{
	const struct block *block;
	unsigned i;

	set_up(TUTTI_RSB_SCRATCH, 0);
	for (i = 0; i < FW_BLOCKS; i++)
		blocks[i].busy = 1;
	mix();
	block = condensed_block(queue);
	assert_true(block < blocks || block >= blocks + FW_BLOCKS);
}

/* num_kernels, references that are not stored, diffs that run over the end. */
static void malformed(void **unused)
{
	struct tutti_dispatch_packet from;
	unsigned n, ref, vector, i;

	seed(31);
	set_up(TUTTI_RSB_SCRATCH, 0);
	start_packet();
	packet.condensed.num_kernels = 1;
	packet.condensed.unit[0] = 0;
	expand_and_compare(false); /* nothing is stored yet */
	for (ref = 0; ref < 8; ref += 2)
		store(ref);
	for (n = 0; n < 256; n++) {
		start_packet();
		for (i = 0; i < TUTTI_CONDENSED_UNITS; i++)
			packet.condensed.unit[i] = (uint16_t)(2 * roll(4));
		packet.condensed.num_kernels = (uint8_t)n;
		for (i = 0; i < n && i < 31; i++)
			kernel[i] = reference[packet.condensed.unit[i]];
		for (i = 0; i < n && i < 31; i++)
			assert_int_equal(plain(&kernel[i]), 0);
		expand_and_compare(n >= 1 && n <= 31);
		if (n < 1 || n > 31) { /* the number itself is at fault */
			assert_int_equal(packet_error.kernel, 0);
			assert_int_equal(packet_error.field, offsetof(struct tutti_condensed_packet, num_kernels));
		}
	}
	for (ref = 0; ref < 8; ref++)
		for (vector = 0; vector <= TUTTI_DIFF_ALL; vector += 1 + roll(40)) {
			from = reference[ref & 6].packet;
			start_packet();
			packet.condensed.num_kernels = 0;
			add(ref & 6, 0, &from, FIELDS);
			if (ref & 1) { /* references with an odd number are not stored, whatever the diff says */
				reference[ref].packet = reference[ref & 6].packet;
				add(ref, vector, &from, FIELDS);
				expand_and_compare(false);
				continue;
			}
			/* fill up so that the last diff ends one unit behind the packet */
			while (units + diff_units(vector) < TUTTI_CONDENSED_UNITS)
				add(ref, 0, &from, FIELDS);
			add(ref, vector, &from, FIELDS);
			assert_true(units > TUTTI_CONDENSED_UNITS);
			expand_and_compare(false);
		}
}

/* The source's example, unit for unit; its addresses are beyond what the card maps, so they are run scaled down. */
static void source_example(void **unused)
{
	static const uint16_t source[10] = { 0x8004, 0xdead, 0xbeef, 0xfeed, 0x0bad,
					     0x4006, 0x1234, 0x5678, 0xdeed, 0xface };
	struct tutti_dispatch_packet from = { 0 };
	unsigned i;

	assert_int_equal(source[0] & TUTTI_DIFF_REF, 4);
	assert_int_equal(source[0] >> TUTTI_DIFF_VECTOR_SHIFT, TUTTI_DIFF_SIGNAL);
	assert_int_equal(diff_units(TUTTI_DIFF_SIGNAL), 4);
	assert_int_equal(unit_quad(source + 1), 0x0badfeedbeefdeadull);
	assert_int_equal(source[5] & TUTTI_DIFF_REF, 6);
	assert_int_equal(source[5] >> TUTTI_DIFF_VECTOR_SHIFT, TUTTI_DIFF_KERNARG);
	assert_int_equal(unit_quad(source + 6), 0xfacedeed56781234ull);
	seed(41);
	set_up(TUTTI_RSB_SCRATCH, 0);
	for (i = 0; i < TUTTI_REFERENCES; i++)
		store(i);
	start_packet();
	memcpy(packet.condensed.unit, source, sizeof(source));
	packet.condensed.num_kernels = 2;
	expand_and_compare(false); /* the packet is unchanged: there are no such addresses here */
	start_packet();
	from.signal = 0x00006eedbeefde80ull;
	from.kernarg = 0x00005eed56781234ull;
	assert_true(add(4, TUTTI_DIFF_SIGNAL, &from, FIELDS));
	assert_true(add(6, TUTTI_DIFF_KERNARG, &from, FIELDS));
	assert_int_equal(units, 10);
	assert_int_equal(packet.condensed.unit[0], source[0]);
	assert_int_equal(packet.condensed.unit[5], source[5]);
	expand_and_compare(true);
	assert_int_equal(kernel[0].state.kernarg, reference[4].packet.kernarg);
	assert_int_equal(kernel[1].packet.signal, reference[6].packet.signal);
}

/* Claims: one kernel unchanged, one changed, two unchanged, two changed by two different diffs; 31 empty diffs. */
static void forms_of_the_claims(void **unused)
{
	struct tutti_dispatch_packet from;
	unsigned i;

	seed(51);
	set_up(TUTTI_RSB_MEMORY, 0);
	for (i = 0; i < TUTTI_REFERENCES; i++)
		store(i);
	from = reference[1].packet;
	from.kernarg ^= 0x5000;
	from.grid_x++;
	from.signal = 0x123440;
	start_packet();
	assert_true(add(1, 0, &from, FIELDS));
	expand_and_compare(true);
	start_packet();
	assert_true(add(1, TUTTI_DIFF_KERNARG, &from, FIELDS));
	expand_and_compare(true);
	start_packet();
	assert_true(add(1, 0, &from, FIELDS));
	assert_true(add(2, 0, &from, FIELDS));
	expand_and_compare(true);
	start_packet();
	assert_true(add(1, TUTTI_DIFF_KERNARG | TUTTI_DIFF_GRID_X, &from, FIELDS));
	assert_true(add(2, TUTTI_DIFF_SIGNAL, &from, FIELDS));
	expand_and_compare(true);
	for (i = 0; i < 100; i++) {
		start_packet();
		while (room())
			assert_true(add(roll(8), 0, &from, FIELDS));
		assert_int_equal(packet.condensed.num_kernels, 31);
		expand_and_compare(true);
	}
	from = random_packet(); /* one kernel, all fields: 27 units and its header */
	start_packet();
	assert_true(add(3, TUTTI_DIFF_ALL, &from, FIELDS));
	assert_int_equal(units, 28);
	expand_and_compare(true);
}

/* The same packet again is recognised only while it means the same. */
static void same_packet_again(void **unused)
{
	struct block *block;
	unsigned round, i, used;
	bool good;

	seed(61);
	set_up(TUTTI_RSB_SCRATCH, 0);
	for (i = 0; i < TUTTI_REFERENCES; i++)
		store(i);
	for (round = 0; round < 3000; round++) {
		union tutti_packet other;

		start_packet();
		for (good = true, i = 1 + roll(6); i && room() > 10; i--) {
			struct tutti_dispatch_packet from = random_packet();

			good &= add(roll(8), (roll(4) << 11 | roll(2) << 5) & roll(8192), &from, FIELDS);
		}
		assert_true(good);
		expand_and_compare(true);
		block = condensed_block(queue);
		assert_true(condensed_same(queue, &packet, block));
		for (used = 0; used < units + 1; used++) { /* any unit that is used, and the first two bytes */
			other = packet;
			((uint16_t *)&other)[used] ^= (uint16_t)(1u << roll(16));
			assert_false(condensed_same(queue, &other, block));
		}
		switch (roll(4)) {
		case 0:
			store(roll(8));
			break;
		case 1:
			assert_int_equal(rig_request(TUTTI_MSG_RSB_INVALIDATE, 5, 1u << roll(8), 0), 0);
			break;
		case 2:
			condensed_forget(queue_id(queue));
			break;
		default: /* an entry stored with the same values is an entry stored */
			i = roll(8);
			reference_store(queue->rsb, i, &reference[i].packet, (const uint32_t *)&reference[i].state,
					&reference[i].launch);
		}
		assert_false(condensed_same(queue, &packet, condensed_block(queue)));
		for (i = 0; i < TUTTI_REFERENCES; i++)
			store(i);
	}
}

static void invalidated_references(void **unused)
{
	struct tutti_dispatch_packet from = { 0 };
	unsigned mask, ref, i;

	seed(71);
	set_up(TUTTI_RSB_MEMORY, 0);
	for (mask = 0; mask < 256; mask++) {
		for (i = 0; i < TUTTI_REFERENCES; i++)
			store(i);
		assert_int_equal(rig_request(TUTTI_MSG_RSB_INVALIDATE, 5, mask, 0), 0);
		for (ref = 0; ref < 8; ref++) {
			bool good;

			reference[ref].stored = !(mask >> ref & 1);
			start_packet();
			good = add(ref, roll(2) ? 0 : TUTTI_DIFF_KERNARG, &from, FIELDS);
			expand_and_compare(good);
			assert_int_equal(good, !(mask >> ref & 1));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-13 PKT-14 PKT-18 PKT-19 PKT-10", every_vector),
		RIG_TEST("PKT-12 PKT-13 PKT-17 PKT-18", mixed_packets),
		RIG_TEST("PKT-12 PKT-17 REL-11", packets_in_card_memory),
		RIG_TEST("PKT-12 PKT-18", malformed),
		RIG_TEST("PKT-15", source_example),
		RIG_TEST("PKT-14 PKT-21", forms_of_the_claims),
		RIG_TEST("PKT-11", same_packet_again),
		RIG_TEST("PKT-10 PKT-18", invalidated_references),
	};

	return cmocka_run_group_tests_name("firmware: condensed packets", tests, NULL, NULL);
}
