// SPDX-License-Identifier: MIT
/* Condensed packets whose diffs name fields of the table entry, with values of the processed state (PKT-20). */
#include "condensed_rig.h"

static const uint8_t table_field_units[11] = { 1, 1, 4, 4, 4, 4, 2, 2, 4, 4, 4 };

/* Values as the runtime would compute them from @from; @lie: one claimed number is off. */
static bool add_table(unsigned ref, uint32_t vector, const struct meaning *from, unsigned lie)
{
	struct meaning *m = &kernel[packet.condensed.num_kernels++];
	const struct tutti_task_state *s = &from->state, *r = &reference[ref].state;
	const struct tutti_dispatch_packet *p = &from->packet;
	struct tutti_task_state claim = *r;
	unsigned delta = lie ? 1 + roll(3) : 0;
	bool good = true;

	m->packet = reference[ref].packet;
	put(vector << 3 | ref, 1);
	if (vector & TUTTI_TABLE_SCOPES) {
		put(p->header >> 8, 1);
		patch(&m->packet, 0, p->header >> 8);
	}
	if (vector & TUTTI_TABLE_SETUP) {
		put(p->setup, 1);
		m->packet.setup = p->setup;
	}
	if (vector & TUTTI_TABLE_WORKGROUP) {
		claim.waves = (uint16_t)(s->waves + (lie == 1 ? delta : 0));
		m->packet.workgroup_x = p->workgroup_x;
		m->packet.workgroup_y = p->workgroup_y;
		m->packet.workgroup_z = p->workgroup_z;
		put(p->workgroup_x, 1), put(p->workgroup_y, 1), put(p->workgroup_z, 1), put(claim.waves, 1);
	}
	if (vector & TUTTI_TABLE_GRID_X) {
		claim.groups_x = s->groups_x + (lie == 2 ? delta : 0);
		m->packet.grid_x = p->grid_x;
		put(p->grid_x, 2), put(claim.groups_x, 2);
	}
	if (vector & TUTTI_TABLE_GRID_Y) {
		claim.groups_y = s->groups_y - (lie == 3 ? delta : 0);
		m->packet.grid_y = p->grid_y;
		put(p->grid_y, 2), put(claim.groups_y, 2);
	}
	if (vector & TUTTI_TABLE_GRID_Z) {
		claim.groups_z = lie == 4 ? roll32() : s->groups_z;
		m->packet.grid_z = p->grid_z;
		put(p->grid_z, 2), put(claim.groups_z, 2);
	}
	if (vector & TUTTI_TABLE_PRIVATE) {
		claim.private_bytes = s->private_bytes + (lie == 5 ? delta : lie == 6 ? 0u - 32 : 0);
		m->packet.private_bytes = claim.private_bytes / 32;
		put(claim.private_bytes, 2);
		good &= !(claim.private_bytes % 32);
	}
	if (vector & TUTTI_TABLE_SHARED) {
		claim.shared_bytes = s->shared_bytes + (lie == 7 ? delta : lie == 8 ? 0u - 2048 : 0);
		m->packet.group_bytes = claim.shared_bytes;
		put(claim.shared_bytes, 2);
		good &= !(claim.shared_bytes % 2048);
	}
	if (vector & TUTTI_TABLE_KERNEL_OBJECT) {
		m->packet.kernel_object = lie == 9 ? bad_value(10) : p->kernel_object;
		put(m->packet.kernel_object, 4);
	}
	if (vector & TUTTI_TABLE_KERNARG) {
		m->packet.kernarg = lie == 10 ? bad_value(11) : p->kernarg;
		put(m->packet.kernarg, 4);
	}
	if (vector & TUTTI_TABLE_SIGNAL) {
		m->packet.signal = lie == 11 ? bad_value(12) : p->signal;
		put(m->packet.signal, 4);
	}
	/* what a plain packet could not lead to is refused */
	if (vector & ~TUTTI_TABLE_ALL || plain(m) || units > TUTTI_CONDENSED_UNITS)
		return false;
	s = &m->state;
	return good && claim.waves == s->waves && claim.groups_x == s->groups_x && claim.groups_y == s->groups_y &&
	       claim.groups_z == s->groups_z && claim.private_bytes == s->private_bytes &&
	       claim.shared_bytes == s->shared_bytes;
}

static void table_form(void **unused)
{
	unsigned i, lie, accepted = 0, refused = 0, round;
	struct meaning from;
	uint32_t vector;
	bool good;

	seed(81);
	set_up(TUTTI_RSB_SCRATCH, TUTTI_QUEUE_TABLE_DIFFS);
	for (round = 0; round < 4; round++)
		for (vector = 0; vector <= 0x1fff; vector++) {
			if (!(vector % 16))
				for (i = 0; i < TUTTI_REFERENCES; i++)
					store(i);
			if (vector <= TUTTI_TABLE_ALL) {
				unsigned n = 0;

				for (i = 0; i < 11; i++)
					n += vector >> i & 1 ? table_field_units[i] : 0;
				assert_int_equal(table_units(vector), n);
			}
			for (lie = 0; lie < 12; lie++) {
				unsigned ref = roll(8);

				from.packet = reference[ref].packet;
				if (roll(2)) {
					from.packet = random_packet();
					if (roll(2))
						from.packet.kernel_object = reference[ref].packet.kernel_object;
				}
				from.packet.kernarg ^= 0x4000;
				assert_int_equal(plain(&from), 0);
				start_packet();
				good = add_table(ref, vector, &from, lie);
				if (roll(2) && room())
					good &= add_table(roll(8), room() > 4 && roll(2) ? TUTTI_TABLE_KERNARG : 0, &from, 0);
				if (!room() && packet.condensed.num_kernels > 2)
					continue;
				expand_and_compare(good);
				good ? accepted++ : refused++;
			}
		}
	assert_true(accepted > 20000 && refused > 20000);
}

/* The same kernels in both forms: the same task states. */
static void both_forms_agree(void **unused)
{
	struct tutti_task_state first[TUTTI_CONDENSED_KERNELS];
	struct meaning from;
	unsigned round, i, form;

	for (round = 0; round < 300; round++)
		for (form = 0; form < 2; form++) {
			seed(5000 + round);
			set_up(TUTTI_RSB_SCRATCH, form ? TUTTI_QUEUE_TABLE_DIFFS : 0);
			for (i = 0; i < TUTTI_REFERENCES; i++)
				store(i);
			from.packet = random_packet();
			from.packet.private_bytes = 512; /* more than any kernel's own need, in both forms the same number */
			from.packet.group_bytes = 8192;
			from.packet.kernel_object = reference[round % 8].packet.kernel_object;
			assert_int_equal(plain(&from), 0);
			start_packet();
			if (form)
				assert_true(add_table(round % 8, TUTTI_TABLE_ALL & ~(TUTTI_TABLE_KERNEL_OBJECT | TUTTI_TABLE_KERNARG),
						      &from, 0));
			else
				assert_true(add(round % 8, TUTTI_DIFF_ALL & ~(TUTTI_DIFF_KERNEL_OBJECT | TUTTI_DIFF_KERNARG),
						&from.packet, FIELDS));
			expand_and_compare(true);
			if (form)
				assert_memory_equal(first, &kernel[0].state, sizeof(first[0]));
			else
				first[0] = kernel[0].state;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-20", table_form),
		RIG_TEST("PKT-20", both_forms_agree),
	};

	return cmocka_run_group_tests_name("firmware: condensed packets, table fields", tests, NULL, NULL);
}
