/* SPDX-License-Identifier: MIT */
/*
 * Tests of condensed packets against plain ones: what a diff means is what packet_dispatch() makes of the reference's
 * packet with the fields patched, in both forms (PKT-12 .. PKT-20).
 */
#ifndef TUTTI_TEST_FW_CONDENSED_RIG_H
#define TUTTI_TEST_FW_CONDENSED_RIG_H

#include "fw_rig.h"

#define KERNELS 6u
#define KERNEL_AT 0x400000ull
#define FIELDS 13u

/* A kernel: its plain packet, and what the firmware made of it. */
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

static inline uint64_t address_of(unsigned k)
{
	return KERNEL_AT + 64 * k;
}

static inline void set_up(unsigned placement, unsigned flags)
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

static inline int plain(struct meaning *m)
{
	return packet_dispatch(queue, &m->packet, (uint32_t *)&m->state, &m->launch);
}

static inline struct tutti_dispatch_packet random_packet(void)
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

static inline void store(unsigned index)
{
	struct meaning *m = &reference[index];

	m->packet = random_packet();
	assert_int_equal(plain(m), 0);
	reference_store(queue->rsb, index, &m->packet, (const uint32_t *)&m->state, &m->launch);
	m->stored = true;
}

/* ---- writing packets ---- */

static inline void start_packet(void)
{
	unsigned i;

	units = 0;
	packet.condensed.type = TUTTI_PACKET_CONDENSED;
	packet.condensed.num_kernels = 0;
	for (i = 0; i < TUTTI_CONDENSED_UNITS; i++) /* unused units are ignored: let them hold anything */
		packet.condensed.unit[i] = (uint16_t)roll(65536);
}

static inline void put(uint64_t value, unsigned n)
{
	while (n--) {
		if (units < TUTTI_CONDENSED_UNITS)
			packet.condensed.unit[units] = (uint16_t)value;
		units++;
		value >>= 16;
	}
}

/* One field of a packet gets the value; @u: its units in diff_values. */
static inline void patch(struct tutti_dispatch_packet *p, unsigned field, uint64_t value)
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

static inline uint64_t field_of(const struct tutti_dispatch_packet *p, unsigned field)
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

/* A value that is never valid, or any value at all. Kernel objects stay in the cache or are refused at sight. */
static inline uint64_t bad_value(unsigned field)
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

static inline void compare_kernel(const struct meaning *m, const struct tutti_task_state *state, const struct launch *launch)
{
	assert_memory_equal(state, &m->state, sizeof(*state));
	assert_int_equal(launch->groups, m->launch.groups);
	assert_int_equal(launch->header & 0xffff, m->launch.header & 0xffff);
	assert_int_equal(launch->signal[0], m->launch.signal[0]);
	assert_int_equal(launch->signal[1], m->launch.signal[1]);
}

/* Expands the packet; @good: the task records say what the plain packets said. */
static inline void expand_and_compare(bool good)
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
static inline bool add(unsigned ref, uint32_t vector, const struct tutti_dispatch_packet *from, unsigned bad_field)
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

static inline uint32_t room(void)
{
	return units >= TUTTI_CONDENSED_UNITS ? 0 : TUTTI_CONDENSED_UNITS - units;
}

#endif
