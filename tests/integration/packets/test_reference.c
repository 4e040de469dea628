// SPDX-License-Identifier: MIT
/* Reference packets and the buffer they are stored in, by the contract alone: PKT-08 .. PKT-11. */
#include "condensed_rig.h"

static void reference_runs_and_stores(void **state)
{
	struct raw_condensed c;

	stored(5, 10, 7);
	assert_int_equal(*cell, 7); /* it runs as usual */
	raw_condensed(&c);
	raw_diff(&c, 5, 0);
	send(&c);
	raw_retired(&queue);
	assert_true(raw_until(raw, cell, 77, RAW_PATIENCE)); /* and its state is kept */
}

static void reference_valid_at_once(void **state)
{
	uint64_t *words = raw_small(&space);
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	raw_submit(&queue, &p); /* the kernel is still running when its reference is used */
	raw_condensed(&c);
	raw_diff(&c, 1, TUTTI_DIFF_SIGNAL);
	raw_units(&c, (uintptr_t)signal, 4);
	send(&c);
	assert_true(raw_until(raw, &words[0], 2, RAW_PATIENCE));
	words[1] = 1;
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
}

static void ref_num_reserved_bits(void **state)
{
	unsigned bit;

	for (bit = 3; bit <= 14; bit++) {
		union tutti_packet p = raw_step(&space, cell, 1, 1, NULL);
		uint64_t index;

		p.dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | 1u << bit);
		index = raw_put(&queue, &p);
		raw_ring(&queue, index);
		raw_fault(&queue, TUTTI_ERROR_PACKET, index);
		raw_reset_queue(&queue);
	}
	assert_int_equal(*cell, 0);
}

static void field_ignored_on_plain_queues(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 1, 1, NULL);

	p.dispatch.ref_num = 0xffff;
	raw_submit(&plain, &p);
	raw_retired(&plain);
	assert_true(raw_until(raw, cell, 1, RAW_PATIENCE));
	raw_no_fault(raw);
}

static void retiring_clears_the_field(void **state)
{
	struct raw_condensed c;
	unsigned i;

	stored(2, 3, 4);
	assert_int_equal(queue.ring[0].dispatch.ref_num, 0);
	raw_condensed(&c);
	raw_diff(&c, 2, 0);
	for (i = c.units; i < 31; i++)
		c.packet.condensed.unit[i] = 0xffff;
	send(&c);
	raw_retired(&queue);
	assert_int_equal(queue.ring[1].dispatch.ref_num, 0);
	assert_int_equal(queue.ring[1].dispatch.header, TUTTI_PACKET_INVALID);
}

static const struct tutti_rsb *dump(void)
{
	static struct tutti_rsb table;
	uint64_t offset = raw->discovery->memory_bytes < (1u << 30) ? raw->discovery->memory_bytes - 4096 :
								      (1u << 30) - 4096;

	assert_int_equal(raw_ask(raw, TUTTI_MSG_RSB_READ, 2, offset, 0), 0);
	raw_settle(raw);
	memcpy(&table, raw->bar + raw->discovery->aperture + offset, sizeof(table));
	return &table;
}

static void table_holds_processed_state(void **state)
{
	union tutti_packet p = raw_dispatch(raw, RAW_COUNT, 1000, 96, raw_args(&space, raw_new(&space, 4096), 0, 0),
					    NULL);
	const struct tutti_reference *r;

	p.dispatch.setup = 2;
	p.dispatch.grid_y = 3;
	p.dispatch.workgroup_y = 2;
	p.dispatch.group_bytes = 2049;
	p.dispatch.private_bytes = 20;
	p.dispatch.ref_num = TUTTI_REF_STORE | 7;
	raw_submit(&queue, &p);
	raw_retired(&queue);
	r = &dump()->reference[7];
	assert_int_equal(r->flags & TUTTI_REFERENCE_VALID, TUTTI_REFERENCE_VALID);
	assert_int_equal(r->groups_x, 11);
	assert_int_equal(r->groups_y, 2);
	assert_int_equal(r->groups_z, 1);
	assert_int_equal(r->groups, 22);
	assert_int_equal(r->grid_x, 1000);
	assert_int_equal(r->waves, 6);
	assert_int_equal(r->shared_bytes, 4096);
	assert_int_equal(r->shared_blocks, 2);
	assert_int_equal(r->private_bytes, 640);
	assert_int_equal(r->entry, raw_kernel(raw, RAW_COUNT) + 64);
	assert_int_equal(r->kernel_object, raw_kernel(raw, RAW_COUNT));
	assert_int_equal(r->kernarg, p.dispatch.kernarg);
	assert_int_equal(r->header, p.dispatch.header);
	assert_int_equal(dump()->reference[0].flags & TUTTI_REFERENCE_VALID, 0);
}

static void invalidated_entry(void **state)
{
	struct raw_condensed c;

	stored(1, 10, 1);
	stored(2, 10, 2);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_RSB_INVALIDATE, 2, 1u << 1, 0), 0);
	raw_condensed(&c);
	raw_diff(&c, 2, 0);
	raw_diff(&c, 1, 0);
	send(&c);
	raw_fault(&queue, TUTTI_ERROR_PACKET, 2);
	assert_int_equal(*cell, 12);
	raw_reset_queue(&queue);
	raw_condensed(&c);
	raw_diff(&c, 2, 0);
	send(&c);
	assert_true(raw_until(raw, cell, 122, RAW_PATIENCE));
}

static void shared_by_two_queues(void **state)
{
	struct raw_queue second;
	struct raw_condensed c;

	make_queue(&second, 4, 0, 2);
	stored(6, 10, 3);
	raw_condensed(&c);
	raw_diff(&c, 6, 0);
	raw_submit(&second, &c.packet);
	assert_true(raw_until(raw, cell, 33, RAW_PATIENCE));
	assert_int_not_equal(raw_ask(raw, TUTTI_MSG_RSB_DESTROY, 2, 0, 0), 0); /* attached */
}

static void not_for_another_context(void **state)
{
	struct raw_space stranger;
	struct raw_queue thief;
	struct tutti_message create;

	raw_space_init(raw, &stranger, 2);
	create = raw_queue_message(&stranger, &thief, 5, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, 6);
	create.queue.rsb = 2;
	assert_int_not_equal(raw_call(raw, &create).status, 0);
}

static void replaced_entry(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 1, RAW_PATIENCE));
	store(&queue, 1, 10, 5, NULL, tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0));
	assert_true(raw_until(raw, cell, 5, RAW_PATIENCE));
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	send(&c);
	assert_true(raw_until(raw, cell, 55, RAW_PATIENCE)); /* later packets see the new one */
	words[1] = 1;
	assert_true(raw_until(raw, &words[2], 1, RAW_PATIENCE)); /* kernels already launched are not affected */
}

static void bad_reference_stores_nothing(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 1, 1, NULL);
	struct raw_condensed c;

	stored(3, 10, 1);
	p.dispatch.ref_num = TUTTI_REF_STORE | 3;
	p.dispatch.workgroup_x = 0;
	raw_submit(&queue, &p);
	raw_fault(&queue, TUTTI_ERROR_DIMENSIONS, 1);
	raw_reset_queue(&queue);
	raw_condensed(&c);
	raw_diff(&c, 3, 0);
	send(&c);
	assert_true(raw_until(raw, cell, 11, RAW_PATIENCE));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		BOTH("PKT-08: a reference packet runs and is stored", reference_runs_and_stores),
		BOTH("PKT-08: the entry is valid while its kernel still runs", reference_valid_at_once),
		BOTH("PKT-08: bits 14..3 of ref_num must be 0", ref_num_reserved_bits),
		BOTH("PKT-08: the field is ignored on plain queues", field_ignored_on_plain_queues),
		BOTH("PKT-08: retiring clears bytes 10-11", retiring_clears_the_field),
		BOTH("PKT-09: the table holds processed state", table_holds_processed_state),
		BOTH("PKT-10: entries can be invalidated", invalidated_entry),
		BOTH("PKT-10: one RSB for two queues", shared_by_two_queues),
		BOTH("PKT-10: another context cannot attach it", not_for_another_context),
		BOTH("PKT-11: storing over an entry", replaced_entry),
		BOTH("PKT-08: a bad reference packet leaves the entry alone", bad_reference_stores_nothing),
	};

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
