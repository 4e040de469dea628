/* SPDX-License-Identifier: MIT */
/*
 * Reference state buffers (PKT-08 .. PKT-11): what an entry holds after each way to store it, where the tables lie, what the
 * host sees of them, and when an entry may be written over.
 */
#include "fw_direct.h"

#include "core/context.h"
#include "packets/reference.h"
#include "queues/launch_plain.h"

#define OFFSET(id) (4096 + (id) * 1024u) /* where rig_rsb() puts a buffer in card memory */
#define LAST (TUTTI_MAX_RSBS - 1)

static const struct tutti_discovery *card(void)
{
	return (const void *)hal_host.window;
}

static struct tutti_reference *page(unsigned id)
{
	return (void *)(hal_host.window + card()->rsb_window.offset + id * TUTTI_PAGE_SIZE);
}

/* ---- what an entry holds ---- */

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The entry as the contract describes it, out of the packet and its kernel. */
static struct tutti_reference entry_of(const struct tutti_dispatch_packet *p)
{
	const struct tutti_kernel_descriptor *d = user(p->kernel_object);
	uint32_t items = (uint32_t)p->workgroup_x * p->workgroup_y * p->workgroup_z, private, blocks;
	struct tutti_reference e = { 0 };

	private = larger(p->private_bytes, d->private_bytes);
	blocks = (larger(p->group_bytes, d->group_bytes) + 2047) / 2048;
	e.entry = p->kernel_object + (uint64_t)d->entry_offset;
	e.kernarg = p->kernarg;
	e.groups_x = (p->grid_x + p->workgroup_x - 1) / p->workgroup_x;
	e.groups_y = (p->grid_y + p->workgroup_y - 1) / p->workgroup_y;
	e.groups_z = (p->grid_z + p->workgroup_z - 1) / p->workgroup_z;
	e.grid_x = p->grid_x;
	e.grid_y = p->grid_y;
	e.grid_z = p->grid_z;
	e.workgroup_x = p->workgroup_x;
	e.workgroup_y = p->workgroup_y;
	e.workgroup_z = p->workgroup_z;
	e.waves = (uint16_t)((items + 31) / 32);
	e.shared_bytes = blocks * 2048;
	e.private_bytes = private * 32;
	e.scalar_blocks = d->scalar_blocks;
	e.vector_blocks = d->vector_blocks;
	e.shared_blocks = (uint16_t)blocks;
	e.barriers = d->barriers;
	e.setup = p->setup;
	e.signal = p->signal;
	e.groups = e.groups_x * e.groups_y * e.groups_z;
	e.header = p->header;
	e.flags = (uint16_t)(p->setup | TUTTI_REFERENCE_VALID);
	e.kernel_object = p->kernel_object;
	e.item_private = p->private_bytes;
	e.group_bytes = p->group_bytes;
	return e;
}

/* All of a valid entry but the address of metadata that it does not have, and what has no meaning to others. */
static void expect_entry(const struct tutti_reference *got, const struct tutti_reference *want)
{
	struct tutti_reference a = *got, b = *want;

	if (!(want->flags & TUTTI_REFERENCE_TMD))
		a.tmd = b.tmd = 0;
	if (!(want->flags & TUTTI_REFERENCE_VALID)) {
		assert_int_equal(got->flags, 0);
		return;
	}
	a.used = b.used = a.shape = b.shape = 0;
	assert_memory_equal(&a, &b, sizeof(a));
}

static struct tutti_dispatch_packet any_packet(void)
{
	struct tutti_dispatch_packet p = kernel_packet(roll(4), 1);
	unsigned dimensions = 1 + roll(3);

	p.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, roll(2), roll(3), roll(3));
	p.setup = (uint16_t)dimensions;
	p.workgroup_x = (uint16_t)(1 + roll(40));
	p.workgroup_y = (uint16_t)(dimensions > 1 ? 1 + roll(3) : 1);
	p.workgroup_z = (uint16_t)(dimensions > 2 ? 1 + roll(3) : 1);
	p.grid_x = 1 + roll(80);
	p.grid_y = dimensions > 1 ? 1 + roll(3) : 1;
	p.grid_z = dimensions > 2 ? 1 + roll(3) : 1;
	p.private_bytes = roll(2) ? 0 : roll(300);
	p.group_bytes = roll(2) ? 0 : roll(9000);
	p.kernarg = (uint64_t)roll32() << 15 & ((1ull << 47) - 1);
	p.signal = roll(2) ? (uint64_t)(roll32() >> 1) << 16 : 0;
	return p;
}

static void make_kernels(void)
{
	for (unsigned k = 0; k < 4; k++) {
		descriptor[k].scalar_blocks = (uint16_t)(k % 3);
		descriptor[k].vector_blocks = (uint16_t)(k % 2);
		descriptor[k].barriers = (uint16_t)(k % 2);
		descriptor[k].group_bytes = k * 1000;
		descriptor[k].private_bytes = k * 40;
	}
}

static void end_kernels(void)
{
	bool any;

	do {
		any = false;
		for (unsigned s = 0; s < SLOTS; s++) {
			any |= running[s].ctas;
			end_all(s);
		}
	} while (any);
}

/* Kernels with metadata, CGAs or independent waves keep more of themselves. Return: what @want has of that */
static struct tutti_reference make_special(struct tutti_dispatch_packet *p, struct tutti_reference want)
{
	unsigned what = 1 + roll(7);

	descriptor[4] = *(const struct tutti_kernel_descriptor *)user(p->kernel_object);
	p->kernel_object = KERNEL_AT + 64 * 4;
	want = entry_of(p);
	descriptor[4].flags = 0;
	descriptor[4].cga_kind = 0;
	if (what & 1 && !(what & 2)) { /* CGAs do not wait for waves of others */
		descriptor[4].flags = TUTTI_KERNEL_INDEPENDENT;
		want.flags |= TUTTI_REFERENCE_INDEPENDENT;
	}
	if (what & 2) { /* of the kind that SMs know nothing of */
		descriptor[4].cga_kind = TUTTI_CGA_GPU;
		descriptor[4].cga[0] = descriptor[4].cga[1] = descriptor[4].cga[2] = 1;
		want.cga = (struct tutti_cga_shape){ 1, 1, 1, TUTTI_CGA_GPU };
	}
	if (what & 4) {
		tmd[0] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
		p->tmd = want.tmd = TMD_AT;
		want.flags |= TUTTI_REFERENCE_TMD;
	}
	rig_command = take_one;
	assert_int_equal(rig_request(TUTTI_MSG_CODE_INVALIDATE, ASID, 0, 0), 0);
	rig_command = NULL;
	return want;
}

static void entries_as_packets_say(void **unused)
{
	static struct tutti_reference want[TUTTI_REFERENCES];
	unsigned stored = 0, placement, i;

	(void)unused;
	for (placement = 0; placement < 2; placement++) {
		start(16, 0);
		seed(91 + placement);
		make_kernels();
		rig_rsb(1, ASID, placement ? TUTTI_RSB_MEMORY : TUTTI_RSB_SCRATCH);
		rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		memset(want, 0, sizeof(want));
		for (unsigned round = 0; round < 600; round++) {
			struct tutti_dispatch_packet p = any_packet(), before = any_packet();
			unsigned index = roll(8);
			struct tutti_reference next = entry_of(&p);

			if (!roll(4))
				next = make_special(&p, next);
			if (!roll(3)) { /* it takes the place of the kernel before */
				write_packet(1, &before);
				p.header |= TUTTI_HEADER_BARRIER;
				next.header = p.header;
			}
			p.ref_num = (uint16_t)(TUTTI_REF_STORE | index);
			submit(1, &p);
			end_kernels();
			assert_int_equal(queue_at(1)->state, QUEUE_RUNNING);
			want[index] = next;
			stored++;
			for (i = 0; i < TUTTI_REFERENCES; i++)
				expect_entry(&queue_at(1)->table[i], &want[i]);
			if (!roll(8)) {
				unsigned mask = roll(256);

				assert_int_equal(rig_request(TUTTI_MSG_RSB_INVALIDATE, 1, mask, 0), 0);
				for (i = 0; i < TUTTI_REFERENCES; i++)
					if (mask >> i & 1)
						want[i].flags = 0;
			}
		}
	}
	assert_int_equal(stored, 1200);
}

/* The CGA sizes that SMs are told of the kernels that start, one after another. */
static unsigned told[8][3], tellings;

static void take_told(void)
{
	uint32_t copy[COMMAND_RECORD];
	struct tutti_task_state state;
	const uint32_t *w;
	unsigned words;

	tellings = 0;
	command_publish();
	while ((w = hal_host_command(&words))) {
		memcpy(copy, w, words * 4);
		if ((copy[0] & 0xff) == TUTTI_CMD_STATE || (copy[0] & 0xff) == TUTTI_CMD_TASK) {
			memcpy(&state, (copy[0] & 0xff) == TUTTI_CMD_STATE ? (const void *)(copy + 1) : hal_pointer(copy[1]),
			       TUTTI_TASK_WORDS * 4);
			assert_true(tellings < 8);
			told[tellings][0] = state.cga_x;
			told[tellings][1] = state.cga_y;
			told[tellings++][2] = state.cga_z;
			assert_int_equal(state.dimensions, 3);
		}
		take_one(copy, words);
		command_publish();
	}
}

static void submit_told(const void *packet)
{
	write_packet(1, packet);
	rig_event(TUTTI_EVENT_DOORBELL, 1u << 1, 0);
	take_told();
}

static void expect_told(unsigned kernels, unsigned z)
{
	assert_int_equal(queue_at(1)->state, QUEUE_RUNNING);
	assert_int_equal(tellings, kernels);
	for (unsigned i = 0; i < kernels; i++) {
		assert_int_equal(told[i][0], z ? 1 : 0);
		assert_int_equal(told[i][1], z ? 1 : 0);
		assert_int_equal(told[i][2], z);
	}
}

static void set_cga(bool metadata, unsigned kernel, unsigned z)
{
	uint8_t kind = z ? TUTTI_CGA_GPC : TUTTI_CGA_NONE;
	uint8_t one = z ? 1 : 0;

	if (metadata) {
		tmd[0].cga[0] = (struct tutti_cga_shape){ one, one, (uint16_t)z, kind };
	} else {
		descriptor[kernel].cga_kind = kind;
		descriptor[kernel].cga[0] = descriptor[kernel].cga[1] = one;
		descriptor[kernel].cga[2] = (uint8_t)z;
	}
}

/* A reference has CGAs of 1 x 1 x @first, and a kernel started from it, by a diff or by changed metadata, of 1 x 1 x @then. */
static void sizes_told(bool metadata, unsigned first, unsigned then)
{
	struct tutti_dispatch_packet reference = kernel_packet(0, 1);
	union tutti_packet p = condensed(1);
	uint64_t object = KERNEL_AT + 64 * 4;
	struct tutti_reference want;

	start(20, 0);
	rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
	rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
	tmd[0] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
	set_cga(metadata, 0, first);
	set_cga(metadata, 4, metadata ? first : then);
	reference.setup = 3;
	reference.grid_z = 12;
	reference.tmd = metadata ? TMD_AT : 0;
	reference.ref_num = TUTTI_REF_STORE;
	submit_told(&reference);
	expect_told(1, first);
	want = entry_of(&reference);
	want.tmd = reference.tmd;
	want.flags |= metadata ? TUTTI_REFERENCE_TMD : 0;
	if (first && !metadata)
		want.cga = (struct tutti_cga_shape){ 1, 1, (uint16_t)first, TUTTI_CGA_GPC };
	expect_entry(queue_at(1)->table, &want);
	submit_told(&p);
	expect_told(1, first);
	if (metadata) {
		set_cga(true, 0, then);
	} else {
		p.condensed.unit[0] = TUTTI_DIFF_KERNEL_OBJECT << TUTTI_DIFF_VECTOR_SHIFT;
		memcpy(&p.condensed.unit[1], &object, sizeof(object));
	}
	submit_told(&p);
	expect_told(1, then);
}

/* SMs are told the size of the CGAs that a kernel has, whatever those of its reference were. */
static void sizes_of_cgas(void **unused)
{
	static const unsigned z[] = { 0, 1, 2, 3, 4, 6 };
	enum { N = sizeof(z) / sizeof(*z) };

	(void)unused;
	for (unsigned i = 0; i < N * N * 2; i++)
		sizes_told(i / N / N, z[i / N % N], z[i % N]);
}

/*
 * A reference is invalidated between two kernels that a packet starts from it: the second one has CGAs like the first. The
 * next packet that names it is refused, until another reference is stored there, which has nothing of the old one.
 */
static void invalidated_between(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2; i++) {
		struct tutti_dispatch_packet reference = kernel_packet(0, 4), next = kernel_packet(1, 4);
		union tutti_packet p = condensed(2);
		struct tutti_reference want;

		start(20, 0);
		rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		set_cga(false, 0, 1);
		store(1, 0, reference);
		submit(1, &p);
		assert_int_equal(started[1], 1);
		assert_int_equal(rig_request(TUTTI_MSG_RSB_INVALIDATE, 1, 1, 0), 0);
		end_all((unsigned)slot_of(1, 1));
		assert_int_equal(started[1], 2);
		assert_true(tasks[slot_of(1, 1)].rare & TASK_CGA);
		end_all((unsigned)slot_of(1, 1));
		if (i) {
			submit(1, &p);
			assert_int_equal(queue_at(1)->error, TUTTI_ERROR_PACKET);
			continue;
		}
		next.ref_num = TUTTI_REF_STORE;
		submit(1, &next);
		want = entry_of(&next);
		expect_entry(queue_at(1)->table, &want);
		end_all((unsigned)slot_of(1, 2));
		submit(1, &p);
		assert_false(tasks[slot_of(1, 3)].rare & TASK_CGA);
		end_all((unsigned)slot_of(1, 3));
		assert_int_equal(started[1], 5);
	}
}

/* ---- where tables lie ---- */

static bool is_local(const struct tutti_reference *table)
{
	return (const uint8_t *)table < hal_host.card || (const uint8_t *)table >= hal_host.card + HAL_HOST_CARD;
}

/* Buffers come and go: as many tables as there is room for lie in local memory, no two in one place, and new ones are empty. */
static void tables_apart(void **unused)
{
	static const struct tutti_reference none;
	bool exists[TUTTI_MAX_RSBS] = { false }, near[TUTTI_MAX_RSBS] = { false };
	unsigned local = 0, i, k;

	(void)unused;
	start(2, 0);
	seed(5);
	for (unsigned round = 0; round < 3000; round++) {
		unsigned id = roll(3) ? roll(8) : roll(2) ? FW_RSBS - 2 + roll(4) : roll(TUTTI_MAX_RSBS);
		struct rsb *rsb;

		if (exists[id]) {
			assert_int_equal(rig_request(TUTTI_MSG_RSB_DESTROY, id, 0, 0), 0);
			assert_null(reference_buffer(id));
			exists[id] = false;
			local -= near[id];
			continue;
		}
		rig_rsb(id, ASID + roll(2), TUTTI_RSB_SCRATCH);
		rsb = reference_buffer(id);
		exists[id] = true;
		near[id] = is_local(rsb->table);
		assert_int_equal(near[id], local < FW_RSBS_SCRATCH);
		local += near[id];
		assert_int_equal(rsb->valid | rsb->special | rsb->release_agent | rsb->release_system, 0);
		for (i = 0; i < TUTTI_REFERENCES; i++) {
			rsb->table[i].used = 0;
			assert_memory_equal(&rsb->table[i], &none, sizeof(none));
		}
		memset(rsb->table, 0xa5, sizeof(struct tutti_rsb));
		for (k = 0; k < TUTTI_MAX_RSBS; k++)
			if (exists[k] && k != id)
				assert_true(reference_buffer(k)->table >= rsb->table + TUTTI_REFERENCES ||
					    reference_buffer(k)->table + TUTTI_REFERENCES <= rsb->table);
	}
}

/* A buffer in card memory lies where its creator has said; its size and place are those of the contract. */
static void table_in_memory(void **unused)
{
	static const struct tutti_rsb none;
	struct rsb *rsb;

	(void)unused;
	start(2, 0);
	memset(hal_host.card + OFFSET(3) - 64, 0xa5, sizeof(struct tutti_rsb) + 128);
	rig_rsb(3, ASID, TUTTI_RSB_MEMORY);
	rsb = reference_buffer(3);
	assert_ptr_equal(rsb->table, hal_host.card + OFFSET(3));
	for (unsigned i = 0; i < TUTTI_REFERENCES; i++)
		rsb->table[i].used = 0;
	assert_memory_equal(rsb->table, &none, sizeof(none));
	for (unsigned i = 0; i < 64; i++) {
		assert_int_equal(hal_host.card[OFFSET(3) - 64 + i], 0xa5);
		assert_int_equal(hal_host.card[OFFSET(3) + sizeof(none) + i], 0xa5);
	}
}

/* ---- what the host sees ---- */

/*
 * A packet that is refused stores nothing, and a copy of the table says so, whichever bits are set in the packet's number.
 * The second packet is decoded when the kernel before it ends, since its kernel would run in the place of that one.
 */
static void refused_are_not_shown(void **unused)
{
	static const uint64_t starts[] = { 0, 1ull << 32, 1ull << 50, ~0ull >> 1, ~0ull - 1 };
	struct tutti_message create = { .type = TUTTI_MSG_QUEUE_CREATE,
					.queue = { .queue = 1, .asid = ASID, .flags = TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB,
						   .rsb = 1, .ring = RIG_RING + 4096, .read_index = 0x20000000, .size_log2 = 6,
						   .priority = 5 } };
	const struct tutti_rsb *copy = (const void *)(hal_host.card + 65536);

	(void)unused;
	for (unsigned i = 0; i < 2 * sizeof(starts) / sizeof(*starts); i++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1), before = kernel_packet(1, 1);

		start(2, 0);
		rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
		descriptor[0].vector_blocks = 32; /* no SM has so many for 32 waves */
		create.queue.start = written[1] = starts[i / 2];
		assert_int_equal(rig_message(&create), 0);
		if (i & 1)
			write_packet(1, &before);
		p.header |= TUTTI_HEADER_BARRIER;
		p.workgroup_x = 1024;
		p.ref_num = TUTTI_REF_STORE | 3;
		submit(1, &p);
		end_kernels();
		assert_int_not_equal(queue_at(1)->state, QUEUE_RUNNING);
		assert_int_equal(rig_request(TUTTI_MSG_RSB_READ, 1, 65536, 0), 0);
		assert_int_equal(copy->reference[3].flags & TUTTI_REFERENCE_VALID, 0);
	}
}

static void store_directly(unsigned id, unsigned index)
{
	struct tutti_dispatch_packet p = any_packet();
	struct tutti_reference e = entry_of(&p);
	struct launch launch = { .groups = e.groups };

	reference_store(reference_buffer(id), index, &p, (const uint32_t *)&e, &launch);
}

/* After each change the page of a buffer in scratch RAM is its table; no other page changes, and none behind the window. */
static void pages_show_tables(void **unused)
{
	static const unsigned ids[] = { 0, 1, 2, FW_RSBS - 1, FW_RSBS, FW_RSBS + 1, LAST - 1, LAST };
	static struct tutti_rsb before[TUTTI_MAX_RSBS];
	enum { N = sizeof(ids) / sizeof(*ids) };
	unsigned id, i, windows;

	(void)unused;
	for (windows = 0; windows < 3; windows++) {
		unsigned pages = windows == 0 ? TUTTI_MAX_RSBS : windows == 1 ? LAST : 2;

		start(2, 0);
		seed(windows);
		make_kernels();
		((struct tutti_discovery *)hal_host.window)->rsb_window.bytes = pages * TUTTI_PAGE_SIZE;
		for (i = 0; i < N; i++)
			rig_rsb(ids[i], ASID, ids[i] == 1 ? TUTTI_RSB_MEMORY : TUTTI_RSB_SCRATCH);
		for (unsigned round = 0; round < 300; round++) {
			for (id = 0; id < TUTTI_MAX_RSBS; id++)
				memcpy(&before[id], page(id), sizeof(before[id]));
			id = ids[roll(N)];
			switch (roll(3)) {
			case 0:
				assert_int_equal(rig_request(TUTTI_MSG_RSB_INVALIDATE, id, 1u << roll(8), 0), 0);
				break;
			case 1:
				assert_int_equal(rig_request(TUTTI_MSG_RSB_DESTROY, id, 0, 0), 0);
				for (i = 0; i < TUTTI_REFERENCES && id != 1 && id < pages; i++)
					assert_int_equal(page(id)[i].flags & TUTTI_REFERENCE_VALID, 0);
				rig_rsb(id, ASID, id == 1 ? TUTTI_RSB_MEMORY : TUTTI_RSB_SCRATCH);
				break;
			default:
				store_directly(id, roll(8));
				reference_mirror();
			}
			for (i = 0; i < TUTTI_MAX_RSBS; i++)
				assert_memory_equal(page(i), i != id || id == 1 || id >= pages ? (void *)&before[i] :
						    (void *)reference_buffer(id)->table, sizeof(struct tutti_rsb));
		}
	}
}

/* The table is copied where the host wants it, whole, and no byte more. */
static void tables_are_read(void **unused)
{
	(void)unused;
	start(2, 0);
	seed(3);
	make_kernels();
	for (unsigned placement = 0; placement < 2; placement++) {
		rig_rsb(2, ASID, placement ? TUTTI_RSB_MEMORY : TUTTI_RSB_SCRATCH);
		for (unsigned i = 0; i < TUTTI_REFERENCES; i++)
			store_directly(2, i);
		memset(hal_host.card + 65536, 0x5a, 8192);
		assert_int_equal(rig_request(TUTTI_MSG_RSB_READ, 2, 65536 + 4, 0), 0);
		assert_memory_equal(hal_host.card + 65536 + 4, reference_buffer(2)->table, sizeof(struct tutti_rsb));
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(hal_host.card[65536 + i], 0x5a);
		for (unsigned i = 4 + sizeof(struct tutti_rsb); i < 8192; i++)
			assert_int_equal(hal_host.card[65536 + i], 0x5a);
		assert_int_equal(rig_request(TUTTI_MSG_RSB_READ, 2, 65536 + 2, 0), -TUTTI_EINVAL);
		assert_int_equal(rig_request(TUTTI_MSG_RSB_READ, 3, 65536, 0), -TUTTI_ENOENT);
		assert_int_equal(rig_request(TUTTI_MSG_RSB_DESTROY, 2, 0, 0), 0);
	}
}

/* ---- when an entry may be written over ---- */

/* Commands up to @used are not taken yet if they lie between what the engines have taken and what was written. */
static bool in_the_ring(uint32_t used, uint32_t head, uint32_t tail)
{
	return used != head && (uint64_t)(uint32_t)(used - head) <= (uint32_t)(tail - head);
}

/* Both the packet that used the buffer last and the entry itself count, also when the numbers wrap around. */
static void taken_when_the_engines_have(void **unused)
{
	static const uint32_t off[] = { 0, 1, 2, 3, 7, 8, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff8, 0xfffffffe, 0xffffffff };
	enum { N = sizeof(off) / sizeof(*off) };
	struct rsb *rsb;
	uint32_t tail;

	(void)unused;
	start(2, 0);
	rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
	rsb = reference_buffer(1);
	rig_drain();
	for (unsigned lap = 0; lap < 5; lap++) {
		for (unsigned i = 0; i < 4; i++)
			command_fence(TUTTI_FENCE_RELEASE | TUTTI_SCOPE_AGENT);
		tail = command_tail();
		for (unsigned left = 0; left <= 4; left++)
			for (unsigned a = 0; a < N; a++)
				for (unsigned b = 0; b < N; b++) {
					uint32_t head = tail - left;

					hal_host.engines.command_head = head;
					rsb->used = head + off[a];
					rsb->table[4].used = head + off[b];
					assert_int_equal(reference_taken(rsb, 4), !in_the_ring(rsb->used, head, tail) &&
							 !in_the_ring(rsb->table[4].used, head, tail));
				}
		hal_host.engines.command_head = tail - 4;
		command_publish();
		rig_drain();
		hal_host_skip(1u << 18);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-08 PKT-09 PKT-11", entries_as_packets_say),
		RIG_TEST("PKT-09 PKT-13 CGA-01", sizes_of_cgas),
		RIG_TEST("PKT-10 CGA-01", invalidated_between),
		RIG_TEST("PKT-10", tables_apart),
		RIG_TEST("PKT-10", table_in_memory),
		RIG_TEST("PKT-09 PKT-10", refused_are_not_shown),
		RIG_TEST("PKT-10", pages_show_tables),
		RIG_TEST("PKT-10", tables_are_read),
		RIG_TEST("PKT-11", taken_when_the_engines_have),
	};

	return cmocka_run_group_tests_name("firmware: reference state buffers", tests, NULL, NULL);
}
