/* SPDX-License-Identifier: MIT */
/*
 * Condensed packets against plain ones: what a diff means is what packet_dispatch() makes of the reference's packet
 * with the fields patched, in both forms (PKT-12 .. PKT-20).
 */
#include "fw_rig.h"

#define KERNELS 6u
#define KERNEL_AT 0x400000ull
#define FIELDS 13u

/* A kernel as one would write it down: the plain packet and what came of it. */
struct meaning {
	struct tutti_dispatch_packet packet;
	struct tutti_task_state state;
	struct launch launch;
	bool stored;
};

static struct queue *queue;
static struct meaning reference[TUTTI_REFERENCES], kernel[TUTTI_CONDENSED_KERNELS + 2];
static union tutti_packet packet;
static unsigned units;

static uint64_t address_of(unsigned k)
{
	return KERNEL_AT + 64 * k;
}

static void set_up(unsigned placement, unsigned flags)
{
	unsigned k;

	rig_boot(20, 3);
	rig_rsb(5, 3, placement);
	queue = rig_queue(5, 3, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | flags);
	for (k = 0; k < KERNELS; k++) {
		struct tutti_kernel_descriptor d = rig_descriptor();

		d.scalar_blocks = (uint16_t)(k % 3);
		d.barriers = (uint16_t)(k % 2);
		d.group_bytes = k * 1000;
		d.private_bytes = k / 2 * 40;
		d.workgroup_max = (uint16_t)(k == 4 ? 128 : 0);
		assert_int_equal(rig_kernel(queue, address_of(k), &d), 0);
	}
	memset(reference, 0, sizeof(reference));
}

static int plain(struct meaning *m)
{
	return packet_dispatch(queue, &m->packet, (uint32_t *)&m->state, &m->launch);
}

static struct tutti_dispatch_packet random_packet(void)
{
	struct tutti_dispatch_packet p = rig_packet(address_of(roll(KERNELS)));
	unsigned dimensions = 1 + roll(3);

	p.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, roll(2), roll(3), roll(3));
	p.setup = (uint16_t)dimensions;
	p.workgroup_x = (uint16_t)(1 + roll(32));
	p.workgroup_y = (uint16_t)(dimensions > 1 ? 1 + roll(2) : 1);
	p.workgroup_z = (uint16_t)(dimensions > 2 ? 1 + roll(2) : 1);
	p.grid_x = 1 + roll(5000);
	p.grid_y = dimensions > 1 ? 1 + roll(50) : 1;
	p.grid_z = dimensions > 2 ? 1 + roll(50) : 1;
	p.private_bytes = roll(2) ? 0 : roll(300);
	p.group_bytes = roll(2) ? 0 : roll(9000);
	p.kernarg = (uint64_t)roll32() << 8;
	p.signal = roll(2) ? (uint64_t)roll32() << 6 : 0;
	return p;
}

static void store(unsigned index)
{
	struct meaning *m = &reference[index];

	m->packet = random_packet();
	assert_int_equal(plain(m), 0);
	reference_store(queue->rsb, index, &m->packet, (const uint32_t *)&m->state, &m->launch);
	m->stored = true;
}

/* ---- writing packets ---- */

static void start_packet(void)
{
	unsigned i;

	units = 0;
	packet.condensed.type = TUTTI_PACKET_CONDENSED;
	packet.condensed.num_kernels = 0;
	for (i = 0; i < TUTTI_CONDENSED_UNITS; i++) /* unused units are ignored: let them hold anything */
		packet.condensed.unit[i] = (uint16_t)roll(65536);
}

static void put(uint64_t value, unsigned n)
{
	while (n--) {
		if (units < TUTTI_CONDENSED_UNITS)
			packet.condensed.unit[units] = (uint16_t)value;
		units++;
		value >>= 16;
	}
}

/* One field of a packet gets the value; @u: its units in diff_values. */
static void patch(struct tutti_dispatch_packet *p, unsigned field, uint64_t value)
{
	switch (field) {
	case 0: p->header = (uint16_t)((p->header & 0xff) | value << 8); break;
	case 1: p->setup = (uint16_t)value; break;
	case 2: p->workgroup_x = (uint16_t)value; break;
	case 3: p->workgroup_y = (uint16_t)value; break;
	case 4: p->workgroup_z = (uint16_t)value; break;
	case 5: p->grid_x = (uint32_t)value; break;
	case 6: p->grid_y = (uint32_t)value; break;
	case 7: p->grid_z = (uint32_t)value; break;
	case 8: p->private_bytes = (uint32_t)value; break;
	case 9: p->group_bytes = (uint32_t)value; break;
	case 10: p->kernel_object = value; break;
	case 11: p->kernarg = value; break;
	case 12: p->signal = value; break;
	}
}

static uint64_t field_of(const struct tutti_dispatch_packet *p, unsigned field)
{
	switch (field) {
	case 0: return p->header >> 8;
	case 1: return p->setup;
	case 2: return p->workgroup_x;
	case 3: return p->workgroup_y;
	case 4: return p->workgroup_z;
	case 5: return p->grid_x;
	case 6: return p->grid_y;
	case 7: return p->grid_z;
	case 8: return p->private_bytes;
	case 9: return p->group_bytes;
	case 10: return p->kernel_object;
	case 11: return p->kernarg;
	default: return p->signal;
	}
}

static const uint8_t field_units[FIELDS] = { 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 4, 4, 4 };

/* A value nobody may have, or any at all. Kernel objects stay in the cache or are refused at sight. */
static uint64_t bad_value(unsigned field)
{
	static const uint32_t sizes[] = { 0, 1, 1025, 65535, 65536, 0x80000000, 0xffffffff };

	switch (field) {
	case 0: return roll(65536);
	case 1: return roll(2) ? roll(5) : roll(65536);
	case 10: return roll(3) == 0 ? 0 : roll(2) ? address_of(0) | (1 + roll(63)) : address_of(0) | 1ull << (47 + roll(17));
	case 11: return 1ull << (40 + roll(24));
	case 12: return roll(2) ? 1ull << roll(64) : roll32();
	default: return sizes[roll(7)];
	}
}

static void compare_kernel(const struct meaning *m, const struct tutti_task_state *state, const struct launch *launch)
{
	assert_memory_equal(state, &m->state, sizeof(*state));
	assert_int_equal(launch->groups, m->launch.groups);
	assert_int_equal(launch->header & 0xffff, m->launch.header & 0xffff);
	assert_int_equal(launch->signal[0], m->launch.signal[0]);
	assert_int_equal(launch->signal[1], m->launch.signal[1]);
}

/* Expand; good: the records say what the plain packets said. */
static void expand_and_compare(bool good)
{
	struct tutti_task_state state;
	struct tutti_rsb before, after;
	struct launch launch;
	struct block *block = condensed_block(queue);
	const uint32_t *record;
	unsigned i, widest = 0;
	int code;

	assert_non_null(block);
	memcpy(&before, queue->rsb->table, sizeof(before));
	code = condensed_expand(queue, &packet, block);
	memcpy(&after, queue->rsb->table, sizeof(after));
	assert_memory_equal(&before, &after, sizeof(before));
	if (!good) {
		assert_true(code > 0);
		assert_false(condensed_same(queue, &packet, block)); /* nothing of it is kept (PKT-18) */
		block->at_unit = 0;
		return;
	}
	if (code)
		fail_msg("refused with %d, kernel %u, field %u", code, packet_error.kernel, packet_error.field);
	assert_int_equal(block->kernels, packet.condensed.num_kernels);
	queue->run_packet = queue->head;
	for (record = block->record, i = 0; i < block->kernels; i++) {
		memset(&state, 0x5a, sizeof(state));
		record = condensed_kernel(queue, record, (uint32_t *)&state, &launch);
		compare_kernel(&kernel[i], &state, &launch);
		if ((kernel[i].packet.header >> TUTTI_HEADER_RELEASE_SHIFT & 3) > widest)
			widest = kernel[i].packet.header >> TUTTI_HEADER_RELEASE_SHIFT & 3;
	}
	assert_int_equal(block->release, widest); /* PKT-17 */
	assert_true(record <= block->record + BLOCK_GENERAL_WORDS);
	/* a packet that comes a second time is kept */
	assert_int_equal(condensed_expand(queue, &packet, block), 0);
	assert_true(condensed_same(queue, &packet, block));
}

/* Add one kernel: @vector of reference @ref, values out of @from. false: it is not a kernel. */
static bool add(unsigned ref, uint32_t vector, const struct tutti_dispatch_packet *from, unsigned bad_field)
{
	struct meaning *m = &kernel[packet.condensed.num_kernels++];
	unsigned field;
	uint64_t value;
	bool good = reference[ref].stored;

	m->packet = reference[ref].packet;
	put(vector << 3 | ref, 1);
	for (field = 0; field < FIELDS; field++) {
		if (!(vector >> field & 1))
			continue;
		value = field == bad_field ? bad_value(field) : field_of(from, field);
		put(value, field_units[field]);
		if (field == 0 && value >> 8)
			good = false; /* high byte of the scopes is 0 */
		patch(&m->packet, field, value);
	}
	return plain(m) == 0 && good;
}

static uint32_t room(void)
{
	return units >= TUTTI_CONDENSED_UNITS ? 0 : TUTTI_CONDENSED_UNITS - units;
}

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
static void mixed_packets(void **unused)
{
	unsigned round, i, accepted = 0, refused = 0;

	seed(23);
	set_up(TUTTI_RSB_SCRATCH, 0);
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
	}
	for (ref = 0; ref < 8; ref++)
		for (vector = 0; vector <= TUTTI_DIFF_ALL; vector += 1 + roll(40)) {
			from = reference[ref & 6].packet;
			start_packet();
			packet.condensed.num_kernels = 0;
			add(ref & 6, 0, &from, FIELDS);
			if (ref & 1) { /* the odd ones are not stored, whatever the diff says */
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
	assert_int_equal(condensed_value(source + 1, 4), 0x0badfeedbeefdeadull);
	assert_int_equal(source[5] & TUTTI_DIFF_REF, 6);
	assert_int_equal(source[5] >> TUTTI_DIFF_VECTOR_SHIFT, TUTTI_DIFF_KERNARG);
	assert_int_equal(condensed_value(source + 6, 4), 0xfacedeed56781234ull);
	seed(41);
	set_up(TUTTI_RSB_SCRATCH, 0);
	for (i = 0; i < TUTTI_REFERENCES; i++)
		store(i);
	start_packet();
	memcpy(packet.condensed.unit, source, sizeof(source));
	packet.condensed.num_kernels = 2;
	expand_and_compare(false); /* as it stands: no such addresses here */
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

/* ---- the other form: fields of the table entry, values of the processed state (PKT-20) ---- */

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
		RIG_TEST("PKT-13 PKT-14 PKT-18 PKT-19 PKT-10", every_vector),
		RIG_TEST("PKT-12 PKT-13 PKT-17 PKT-18", mixed_packets),
		RIG_TEST("PKT-12 PKT-18", malformed),
		RIG_TEST("PKT-15", source_example),
		RIG_TEST("PKT-14 PKT-21", forms_of_the_claims),
		RIG_TEST("PKT-11", same_packet_again),
		RIG_TEST("PKT-10 PKT-18", invalidated_references),
		RIG_TEST("PKT-20", table_form),
		RIG_TEST("PKT-20", both_forms_agree),
	};

	return cmocka_run_group_tests_name("firmware: condensed packets", tests, NULL, NULL);
}
