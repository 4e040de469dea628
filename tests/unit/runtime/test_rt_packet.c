/* SPDX-License-Identifier: MIT */
/* Packet tables: encode, decode, check, print (PKT-02, PKT-08, PKT-12 .. PKT-18). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packet/packet.h"

static uint64_t any(unsigned *seed)
{
	return (uint64_t)rand_r(seed) << 42 ^ (uint64_t)rand_r(seed) << 20 ^ (uint64_t)rand_r(seed);
}

static void whole_packets_round_trip(void **state)
{
	static const uint8_t types[] = {TUTTI_PACKET_KERNEL_DISPATCH, TUTTI_PACKET_BARRIER_AND,
					TUTTI_PACKET_BARRIER_OR, TUTTI_PACKET_AGENT_DISPATCH};
	unsigned seed = 1;

	for (int round = 0; round < 400; round++) {
		union tutti_packet in, out;
		uint64_t values[PACKET_FIELDS_MAX];
		unsigned bytes = 0;

		for (unsigned i = 0; i < 16; i++)
			in.word[i] = (uint32_t)any(&seed);
		in.word[0] = (in.word[0] & ~0xffu) | types[round % 4];
		const struct packet_type *type = packet_type(&in);
		assert_non_null(type);
		for (unsigned i = 0; i < type->fields; i++)
			bytes += type->field[i].bytes;
		assert_int_equal(bytes, 64); /* the table covers every byte */
		packet_decode(&in, type, values);
		packet_encode(&out, type, values);
		assert_memory_equal(&in, &out, sizeof(in));
	}
}

static void diffs_round_trip(void **state)
{
	unsigned seed = 2;

	for (int round = 0; round < 4000; round++) {
		bool table = round & 1;
		struct diff in[TUTTI_CONDENSED_KERNELS], out[TUTTI_CONDENSED_KERNELS];
		struct tutti_condensed_packet packet;
		unsigned kernels = 0, units = 0;

		memset(in, 0, sizeof(in));
		while (kernels < TUTTI_CONDENSED_KERNELS) {
			struct diff *d = &in[kernels];

			d->reference = any(&seed) & 7;
			d->vector = any(&seed) & any(&seed) & (table ? TUTTI_TABLE_ALL : TUTTI_DIFF_ALL);
			if (rand_r(&seed) % 3)
				d->vector = 0;
			if (units + diff_units(table, d->vector) > TUTTI_CONDENSED_UNITS)
				break;
			units += diff_units(table, d->vector);
			for (unsigned bit = 0; bit < DIFF_FIELDS_MAX; bit++)
				if (d->vector >> bit & 1)
					d->value[bit] =
					    any(&seed) & (~0ull >> (64 - 16 * diff_field_units(table, bit)));
			kernels++;
		}
		if (!kernels)
			continue;
		if (kernels < TUTTI_CONDENSED_KERNELS)
			in[kernels] = (struct diff){0};
		assert_int_equal(diff_encode(&packet, table, in, kernels), units);
		memset(out, 0, sizeof(out));
		assert_int_equal(diff_decode(&packet, table, out, NULL), kernels);
		assert_memory_equal(in, out, kernels * sizeof(in[0]));
		assert_int_equal(packet_check((union tutti_packet *)&packet,
					      TUTTI_QUEUE_EXTENDED | (table ? TUTTI_QUEUE_TABLE_DIFFS : 0),
					      NULL),
				 0);
		assert_int_equal(packet_check((union tutti_packet *)&packet, 0, NULL), TUTTI_ERROR_PACKET);
	}
}

static void worked_example(void **state)
{
	static const uint16_t want[] = {0x8004, 0xdead, 0xbeef, 0xfeed, 0x0bad,
					0x4006, 0x1234, 0x5678, 0xdeed, 0xface};
	struct diff diffs[2] = {
	    {.reference = 4, .vector = TUTTI_DIFF_SIGNAL, .value = {[12] = 0x0badfeedbeefdeadull}},
	    {.reference = 6, .vector = TUTTI_DIFF_KERNARG, .value = {[11] = 0xfacedeed56781234ull}},
	};
	struct tutti_condensed_packet packet;

	assert_int_equal(diff_encode(&packet, false, diffs, 2), 10);
	assert_int_equal(packet.type, TUTTI_PACKET_CONDENSED);
	assert_int_equal(packet.num_kernels, 2);
	assert_memory_equal(packet.unit, want, sizeof(want));
}

static void all_fields_fit(void **state)
{
	assert_int_equal(diff_units(false, TUTTI_DIFF_ALL), 28); /* 27 and the header */
	assert_true(diff_units(true, TUTTI_TABLE_ALL) <= 62);
}

static void malformed(void **state)
{
	struct tutti_condensed_packet p = {.type = TUTTI_PACKET_CONDENSED};
	struct diff diffs[TUTTI_CONDENSED_KERNELS];
	uint32_t field;

	assert_int_equal(diff_decode(&p, false, diffs, &field), -1);
	p.num_kernels = 32;
	assert_int_equal(diff_decode(&p, false, diffs, &field), -1);
	p.num_kernels = 31;
	assert_int_equal(diff_decode(&p, false, diffs, &field), 31);
	p.unit[30] = 1 << 3;
	assert_int_equal(diff_decode(&p, false, diffs, &field), -1);
	assert_int_equal(field, 30);
	p.num_kernels = 30;
	assert_int_equal(diff_decode(&p, false, diffs, &field), 30); /* unused units do not matter */
	p.num_kernels = 1;
	p.unit[0] = 1 << (3 + 11); /* the table form has 11 fields */
	assert_int_equal(diff_decode(&p, true, diffs, &field), -1);
	assert_int_equal(diff_decode(&p, false, diffs, &field), 1);
}

static struct tutti_dispatch_packet good(void)
{
	return (struct tutti_dispatch_packet){.header = tutti_header(2, 1, 2, 2),
					      .setup = 2,
					      .workgroup_x = 8,
					      .workgroup_y = 8,
					      .workgroup_z = 1,
					      .grid_x = 100,
					      .grid_y = 100,
					      .grid_z = 1,
					      .kernel_object = 0x1000};
}

static void checks(void **state)
{
#define DEFECT(field, v, want)                                                                               \
	do {                                                                                                 \
		union tutti_packet p = {.dispatch = good()};                                                 \
		p.dispatch.field = (v);                                                                      \
		assert_int_equal(packet_check(&p, TUTTI_QUEUE_EXTENDED, NULL), want);                        \
	} while (0)
	union tutti_packet fine = {.dispatch = good()};

	assert_int_equal(packet_check(&fine, 0, NULL), 0);
	DEFECT(setup, 0, TUTTI_ERROR_DIMENSIONS);
	DEFECT(setup, 4 | 2, TUTTI_ERROR_DIMENSIONS);
	DEFECT(setup, 1, TUTTI_ERROR_DIMENSIONS);
	DEFECT(workgroup_x, 0, TUTTI_ERROR_DIMENSIONS);
	DEFECT(grid_z, 0, TUTTI_ERROR_DIMENSIONS);
	DEFECT(grid_z, 2, TUTTI_ERROR_DIMENSIONS);
	DEFECT(kernel_object, 0, TUTTI_ERROR_CODE_OBJECT);
	DEFECT(kernel_object, 8, TUTTI_ERROR_CODE_OBJECT);
	DEFECT(signal, 8, TUTTI_ERROR_PACKET);
	DEFECT(ref_num, 8, TUTTI_ERROR_PACKET);
	DEFECT(ref_num, 0x8007, 0);
	DEFECT(tmd, 4, TUTTI_ERROR_TMD);
	DEFECT(header, 0xe002, TUTTI_ERROR_PACKET);
	DEFECT(header, 2 | 3 << 9, TUTTI_ERROR_PACKET);
	DEFECT(header, 6, TUTTI_ERROR_PACKET);
	fine.dispatch.ref_num = 0xffff; /* HSA clients may leave it unwritten */
	assert_int_equal(packet_check(&fine, 0, NULL), 0);
}

static void prints(void **state)
{
	union tutti_packet p = {.dispatch = good()};
	struct tutti_message m = {.type = TUTTI_MSG_QUEUE_DESTROY, .arg = {7}};
	char text[400], small[10];
	int n = tutti_packet_print(text, sizeof(text), &p, 0);

	assert_int_equal(n, strlen(text));
	assert_non_null(strstr(text, "kernel_dispatch"));
	assert_non_null(strstr(text, "grid_x 100"));
	assert_int_equal(tutti_packet_print(small, sizeof(small), &p, 0), n);
	assert_string_equal(small, "kernel_di");
	assert_int_equal(tutti_packet_print(NULL, 0, &p, 0), n);
	memset(&p, 0xff, sizeof(p));
	tutti_packet_print(text, sizeof(text), &p, 0);
	p.condensed.type = TUTTI_PACKET_CONDENSED;
	tutti_packet_print(text, sizeof(text), &p, TUTTI_QUEUE_EXTENDED);
	assert_non_null(strstr(text, "malformed"));
	tutti_message_print(text, sizeof(text), &m);
	assert_string_equal(text, "QUEUE_DESTROY queue 7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whole_packets_round_trip),
	    cmocka_unit_test(diffs_round_trip),
	    cmocka_unit_test(worked_example),
	    cmocka_unit_test(all_fields_fit),
	    cmocka_unit_test(malformed),
	    cmocka_unit_test(checks),
	    cmocka_unit_test(prints),
	};

	return cmocka_run_group_tests_name("PKT packets by table", tests, NULL, NULL);
}
