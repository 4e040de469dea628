/* SPDX-License-Identifier: MIT */
/* Which packets are valid, and which field is not: the same for tools and for tests of the firmware (PKT-02, PKT-05).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "packet/packet.h"

static union tutti_packet p;
static uint32_t field;

static void dispatch(unsigned dimensions)
{
	p = (union tutti_packet){.dispatch = {.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, true, 2, 2),
					      .setup = (uint16_t)dimensions,
					      .workgroup_x = 8,
					      .workgroup_y = dimensions > 1 ? 4 : 1,
					      .workgroup_z = dimensions > 2 ? 2 : 1,
					      .grid_x = 80,
					      .grid_y = dimensions > 1 ? 40 : 1,
					      .grid_z = dimensions > 2 ? 20 : 1,
					      .kernel_object = 0x10040}};
}

/* @change of a good launch of so many dimensions, in an extended queue: the error, and the offset of the field. */
#define DISPATCH(dimensions, want, at, change)                                                                         \
	do {                                                                                                           \
		dispatch(dimensions);                                                                                  \
		change;                                                                                                \
		field = 99;                                                                                            \
		if (packet_check(&p, TUTTI_QUEUE_EXTENDED, &field) != TUTTI_ERROR_##want ||                            \
		    (TUTTI_ERROR_##want && field != (at)))                                                             \
			fail_msg("%s: %u at %u", #change, packet_check(&p, TUTTI_QUEUE_EXTENDED, NULL), field);        \
	} while (0)
#define AT(member) offsetof(struct tutti_dispatch_packet, member)

static void launches(void **state)
{
	for (unsigned n = 1; n <= 3; n++)
		DISPATCH(n, NONE, 0, (void)0);
	DISPATCH(3, DIMENSIONS, AT(setup), p.dispatch.setup = 0);
	DISPATCH(3, DIMENSIONS, AT(setup), p.dispatch.setup = 4 | 3);
	DISPATCH(3, DIMENSIONS, AT(workgroup_x), p.dispatch.workgroup_x = 0);
	DISPATCH(3, DIMENSIONS, AT(workgroup_x), p.dispatch.workgroup_y = 0);
	DISPATCH(3, DIMENSIONS, AT(workgroup_x), p.dispatch.workgroup_z = 0);
	DISPATCH(3, DIMENSIONS, AT(grid_x), p.dispatch.grid_x = 0);
	DISPATCH(3, DIMENSIONS, AT(grid_x), p.dispatch.grid_y = 0);
	DISPATCH(3, DIMENSIONS, AT(grid_x), p.dispatch.grid_z = 0);
	DISPATCH(2, DIMENSIONS, AT(workgroup_z), p.dispatch.workgroup_z = 2);
	DISPATCH(2, DIMENSIONS, AT(workgroup_z), p.dispatch.grid_z = 2);
	DISPATCH(1, DIMENSIONS, AT(workgroup_y), p.dispatch.workgroup_y = 2);
	DISPATCH(1, DIMENSIONS, AT(workgroup_y), p.dispatch.grid_y = 2);
	DISPATCH(1, DIMENSIONS, AT(workgroup_z), p.dispatch.grid_z = 2);
	DISPATCH(1, CODE_OBJECT, AT(kernel_object), p.dispatch.kernel_object = 0);
	for (unsigned bit = 0; bit < 6; bit++) {
		DISPATCH(1, CODE_OBJECT, AT(kernel_object), p.dispatch.kernel_object |= 1u << bit);
		DISPATCH(1, PACKET, AT(signal), p.dispatch.signal = 64 | 1u << bit);
		DISPATCH(1, TMD, AT(tmd), p.dispatch.tmd = 64 | 1u << bit);
	}
	DISPATCH(1, NONE, 0, (p.dispatch.signal = 64, p.dispatch.tmd = 64));
	for (unsigned bit = 0; bit < 16; bit++) {
		if (1u << bit & (TUTTI_REF_STORE | TUTTI_REF_INDEX))
			DISPATCH(1, NONE, 0, p.dispatch.ref_num = (uint16_t)(1u << bit));
		else
			DISPATCH(1, PACKET, AT(ref_num), p.dispatch.ref_num = (uint16_t)(1u << bit));
	}
	/* in other queues there are no references and no metadata */
	dispatch(1);
	p.dispatch.ref_num = 0xffff;
	p.dispatch.tmd = 1;
	assert_int_equal(packet_check(&p, 0, &field), TUTTI_ERROR_NONE);
	p.dispatch.signal = 1;
	assert_int_equal(packet_check(&p, 0, &field), TUTTI_ERROR_PACKET);
}

static void headers(void **state)
{
	for (unsigned acquire = 0; acquire < 4; acquire++)
		for (unsigned release = 0; release < 4; release++) {
			dispatch(1);
			p.dispatch.header =
			    (uint16_t)tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, false, acquire, release);
			assert_int_equal(packet_check(&p, 0, &field),
					 acquire < 3 && release < 3 ? TUTTI_ERROR_NONE : TUTTI_ERROR_PACKET);
		}
	for (unsigned bit = 0; bit < 16; bit++)
		if (1u << bit & TUTTI_HEADER_RESERVED)
			DISPATCH(1, PACKET, 1, p.dispatch.header |= (uint16_t)(1u << bit));
	for (unsigned type = 0; type < 256; type++) {
		memset(&p, 0, sizeof(p));
		p.word[0] = type;
		p.word[1] = TUTTI_PACKET_CONDENSED; /* which says nothing */
		switch (type) {
		case TUTTI_PACKET_KERNEL_DISPATCH:
		case TUTTI_PACKET_BARRIER_AND:
		case TUTTI_PACKET_BARRIER_OR:
		case TUTTI_PACKET_AGENT_DISPATCH:
			assert_non_null(packet_type(&p));
			assert_string_equal(packet_type_name(&p), packet_type(&p)->name);
			break;
		case TUTTI_PACKET_CONDENSED:
			assert_string_equal(packet_type_name(&p), "condensed");
			break;
		default:
			assert_null(packet_type(&p));
			assert_string_equal(packet_type_name(&p),
					    type == TUTTI_PACKET_INVALID || type == TUTTI_PACKET_VENDOR ? "not ready"
													: "unknown");
			field = 99;
			assert_int_equal(packet_check(&p, TUTTI_QUEUE_EXTENDED, &field), TUTTI_ERROR_PACKET);
			assert_int_equal(field, 0);
		}
	}
}

/* What is reserved is 0, in each byte. */
static void reserved_fields(void **state)
{
	static const unsigned types[] = {TUTTI_PACKET_BARRIER_AND, TUTTI_PACKET_BARRIER_OR,
					 TUTTI_PACKET_AGENT_DISPATCH};

	for (unsigned t = 0; t < 3; t++) {
		bool barrier = types[t] != TUTTI_PACKET_AGENT_DISPATCH;

		for (unsigned byte = 2; byte < 64; byte++) {
			bool zero = barrier ? byte < 8 || (byte >= 48 && byte < 56)
					    : (byte >= 4 && byte < 8) || (byte >= 48 && byte < 56);

			memset(&p, 0, sizeof(p));
			p.word[0] = tutti_header(types[t], false, 0, 0);
			((uint8_t *)&p)[byte] = 64;
			field = 99;
			if (packet_check(&p, 0, &field) != (zero ? TUTTI_ERROR_PACKET : TUTTI_ERROR_NONE))
				fail_msg("type %u, byte %u", types[t], byte);
			if (zero)
				assert_in_range(byte - field, 0, 7);
		}
	}
}

/* Encoded values are found again, and nothing else is in the packet. */
static void round_trips(void **state)
{
	for (unsigned t = 0; t < 4; t++) {
		static const unsigned types[] = {TUTTI_PACKET_KERNEL_DISPATCH, TUTTI_PACKET_BARRIER_AND,
						 TUTTI_PACKET_BARRIER_OR, TUTTI_PACKET_AGENT_DISPATCH};
		const struct packet_type *type;
		uint64_t values[32], got[32];

		p.word[0] = types[t];
		type = packet_type(&p);
		for (unsigned i = 0; i < 32; i++)
			values[i] = got[i] = 0x0101010101010101ull * (i + 1);
		packet_encode(&p, type, values);
		packet_decode(&p, type, got);
		for (unsigned i = 0; i < 32; i++) {
			unsigned bits = i < type->fields ? 8 * type->field[i].bytes : 64;

			assert_int_equal(got[i], bits < 64 ? values[i] & ((1ull << bits) - 1) : values[i]);
		}
	}
}

static void condensed(void **state)
{
	struct diff diffs[2] = {{.reference = 1, .vector = TUTTI_DIFF_KERNARG},
				{.reference = 2, .vector = TUTTI_DIFF_GRID_X}};

	assert_true(diff_encode(&p.condensed, false, diffs, 2) > 0);
	assert_int_equal(packet_check(&p, TUTTI_QUEUE_EXTENDED, &field), TUTTI_ERROR_NONE);
	assert_int_equal(packet_check(&p, 0, &field), TUTTI_ERROR_PACKET);
	assert_int_equal(field, 0);
	p.condensed.num_kernels = 3; /* the third has no header, but units of 0 make one */
	assert_int_equal(packet_check(&p, TUTTI_QUEUE_EXTENDED, &field), TUTTI_ERROR_NONE);
	for (unsigned i = 0; i < 2; i++) {
		p.condensed.num_kernels = i ? TUTTI_CONDENSED_KERNELS + 1 : 0;
		field = 99;
		assert_int_equal(packet_check(&p, TUTTI_QUEUE_EXTENDED, &field), TUTTI_ERROR_PACKET);
		assert_int_equal(field, 0);
		assert_int_equal(diff_encode(&p.condensed, false, diffs, i ? TUTTI_CONDENSED_KERNELS + 1 : 0), -1);
	}
	/* a field that the form does not have */
	diffs[0].vector = 1u << (DIFF_FIELDS_MAX - 1);
	assert_int_equal(diff_encode(&p.condensed, true, diffs, 1) < 0,
			 diff_field_name(true, DIFF_FIELDS_MAX - 1) == NULL);
	assert_null(diff_field_name(false, DIFF_FIELDS_MAX));
	assert_null(diff_field_name(true, 31));
	assert_string_equal(diff_field_name(false, 11), "KERNARG");
	for (unsigned table = 0; table < 2; table++)
		for (unsigned bit = 0; bit < DIFF_FIELDS_MAX; bit++)
			assert_int_equal(diff_field_name(table, bit) != NULL, diff_field_units(table, bit) != 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    {"PKT-05: launches", launches, NULL, NULL, NULL},
	    {"PKT-01: headers and types", headers, NULL, NULL, NULL},
	    {"PKT-02, PKT-03: reserved fields", reserved_fields, NULL, NULL, NULL},
	    {"PKT-02: packets there and back", round_trips, NULL, NULL, NULL},
	    {"PKT-14: condensed packets", condensed, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("PKT-02, PKT-05 packets, field by field", tests, NULL, NULL);
}
