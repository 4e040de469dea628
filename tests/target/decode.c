// SPDX-License-Identifier: MIT
/* From packet to task state: plain, reference, condensed; kernel descriptors. Nothing is launched. */
#include "check.h"
#include "core/command_ring.h"
#include "packets/condensed_block.h"
#include "queues/queue.h"

void *memset(void *to, int value, size_t bytes);

#define ASID 3u
#define KERNEL(n) (0x200000000ull + 64 * (n))

static struct tutti_reference table[TUTTI_REFERENCES] __attribute__((aligned(128)));
static struct rsb rsb;
static struct queue queue;
static struct block block;
static uint32_t state[STATE_WORDS], wanted[TUTTI_REFERENCES][STATE_WORDS];

static void descriptor(struct tutti_kernel_descriptor *d)
{
	memset(d, 0, sizeof(*d));
	d->magic = TUTTI_KERNEL_MAGIC;
	d->version = 1;
	d->kernarg_align = 16;
	d->entry_offset = 0x1000;
}

static struct kernel *kernel(unsigned n)
{
	uint64_t at = KERNEL(n);
	struct kernel *k = kernel_slot((uint32_t)at, ASID);

	memset(k, 0, sizeof(*k));
	k->low = (uint32_t)at;
	k->high = (uint32_t)(at >> 32) | ASID << 16;
	k->asked = k->high;
	k->state = KERNEL_READY;
	descriptor(&k->fetched);
	k->fetched.scalar_blocks = (uint16_t)(n % 4);
	k->fetched.group_bytes = 1000 * n;
	k->fetched.private_bytes = 8 * n;
	k->fetched.barriers = (uint16_t)(n & 1);
	CHECK(kernel_check(k) == 0);
	return k;
}

static void dispatch(struct tutti_dispatch_packet *p, unsigned n)
{
	memset(p, 0, sizeof(*p));
	p->header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 1, n % 3, (n + 1) % 3);
	p->setup = (uint16_t)(1 + n % 3);
	p->workgroup_x = (uint16_t)(1 + 5 * n);
	p->workgroup_y = p->workgroup_z = 1;
	p->grid_x = 1000 + 77 * n;
	p->grid_y = p->setup > 1 ? 3 + n : 1;
	p->grid_z = p->setup > 2 ? 2 : 1;
	p->group_bytes = 512;
	p->kernel_object = KERNEL(n);
	p->kernarg = 0x7f0000001000ull + 64 * n;
	p->signal = 0x7f0000100000ull + 64 * n;
}

/* Eight references of eight kernels, stored as the queue stores them. */
static void references(void)
{
	struct tutti_dispatch_packet p;
	struct launch launch = { 0 };

	memset(&rsb, 0, sizeof(rsb));
	memset(table, 0, sizeof(table));
	memset(&block, 0, sizeof(block));
	block.record = block.simple;
	memset(&queue, 0, sizeof(queue));
	queue.asid_queue = ASID | 5u << 16;
	queue.flags = TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB;
	queue.rsb = &rsb;
	rsb.table = table;
	rsb.asid = ASID;
	for (unsigned n = 0; n < TUTTI_REFERENCES; n++) {
		kernel(n);
		dispatch(&p, n);
		CHECK(packet_dispatch(&queue, &p, wanted[n], &launch) == 0);
		reference_store(&rsb, n, &p, wanted[n], &launch);
		CHECK(launch.signal[0] == (uint32_t)p.signal && launch.signal[1] == (uint32_t)(p.signal >> 32));
		check_vector(wanted[n], STATE_WORDS);
		check_vector(&table[n], REFERENCE_WORDS);
		check_word(launch.groups);
	}
	CHECK(rsb.valid == 0xff);
}

static void plain(void)
{
	struct tutti_dispatch_packet p;
	struct launch launch = { 0 };

	references();
	for (unsigned i = 0; i < 2000; i++) {
		uint32_t *w = (uint32_t *)&p;
		unsigned code, n = target_roll(8);

		dispatch(&p, n);
		for (unsigned k = target_roll(3); k--;) {
			unsigned at = target_roll(16);

			w[at] = target_roll(3) ? w[at] ^ 1u << target_roll(32) : target_roll(2) ? 0 : target_random();
		}
		/* other addresses would be fetched */
		p.kernel_object = KERNEL(n);
		code = (unsigned)packet_dispatch(&queue, &p, state, &launch);
		check_word(code);
		if (code)
			continue;
		check_vector(state, STATE_WORDS);
		check_word(launch.groups);
		CHECK(launch.groups == (uint64_t)((p.grid_x - 1) / p.workgroup_x + 1) *
					       ((p.grid_y - 1) / p.workgroup_y + 1) * ((p.grid_z - 1) / p.workgroup_z + 1));
	}
}

static void expect(const uint32_t **record, unsigned reference, uint64_t kernarg, uint64_t signal)
{
	struct launch launch = { 0 };

	wanted[reference][STATE_AT(kernarg)] = (uint32_t)kernarg;
	wanted[reference][STATE_AT(kernarg) + 1] = (uint32_t)(kernarg >> 32);
	memset(state, 0xee, sizeof(state));
	*record = condensed_kernel(&queue, *record, state, &launch);
	for (unsigned i = 0; i < STATE_WORDS; i++)
		CHECK(state[i] == wanted[reference][i]);
	CHECK(launch.signal[0] == (uint32_t)signal && launch.signal[1] == (uint32_t)(signal >> 32));
}

/*
 * The source's two kernels. Its addresses lie outside a 47-bit address space and the
 * signal is not aligned, so as printed the packet is refused; with what the card can
 * address of them it runs.
 */
static void worked_example(void)
{
	static const uint16_t units[10] = { 0x8004, 0xdead, 0xbeef, 0xfeed, 0x0bad,
					    0x4006, 0x1234, 0x5678, 0xdeed, 0xface };
	union tutti_packet p;
	const uint32_t *record;

	references();
	memset(&p, 0x99, sizeof(p));
	p.word[0] = 0;
	p.condensed.type = TUTTI_PACKET_CONDENSED;
	p.condensed.num_kernels = 2;
	for (unsigned i = 0; i < 10; i++)
		p.condensed.unit[i] = units[i];
	CHECK(unit_quad(p.condensed.unit + 1) == 0x0badfeedbeefdeadull);
	CHECK(unit_quad(p.condensed.unit + 6) == 0xfacedeed56781234ull);
	CHECK(condensed_expand(&queue, &p, &block) == TUTTI_ERROR_PACKET);
	CHECK(!condensed_same(&queue, &p, &block));
	p.condensed.unit[1] &= 0xffc0;
	p.condensed.unit[3] &= 0x7fff;
	p.condensed.unit[4] = 0;
	p.condensed.unit[8] &= 0x7fff;
	p.condensed.unit[9] = 0;
	CHECK(condensed_expand(&queue, &p, &block) == 0);
	CHECK(block.kernels == 2);
	record = block.record;
	expect(&record, 4, 0x7f0000001000ull + 64 * 4, 0x7eedbeefde80ull);
	expect(&record, 6, 0x5eed56781234ull, 0x7f0000100000ull + 64 * 6);
}

static void condensed_random(void)
{
	unsigned good = 0;

	references();
	for (unsigned i = 0; i < 3000; i++) {
		union tutti_packet p;
		unsigned at = 0, n = 0, code;

		memset(&p, 0, sizeof(p));
		p.condensed.type = TUTTI_PACKET_CONDENSED;
		while (n < 31 && at < TUTTI_CONDENSED_UNITS && target_roll(12)) {
			unsigned vector = target_roll(2) ? 0 : 1u << target_roll(13) | (target_roll(3) ? 0 : 1u << target_roll(13));
			unsigned k, units;

			vector &= ~(unsigned)TUTTI_DIFF_KERNEL_OBJECT;
			units = diff_units(vector);
			if (at + 1 + units > TUTTI_CONDENSED_UNITS)
				break;
			p.condensed.unit[at++] = (uint16_t)(target_roll(8) | vector << TUTTI_DIFF_VECTOR_SHIFT);
			for (k = 0; k < units; k++)
				p.condensed.unit[at++] = (uint16_t)(target_roll(4) ? 1 + target_roll(8) * (k ? 0 : 64) : target_roll(600));
			n++;
		}
		p.condensed.num_kernels = (uint8_t)(n + !target_roll(50));
		code = (unsigned)condensed_expand(&queue, &p, &block);
		check_word(code);
		CHECK((unsigned)condensed_expand(&queue, &p, &block) == code);
		CHECK(condensed_same(&queue, &p, &block) == !code);
		if (code)
			continue;
		good++;
		check_word(block.kernels | (uint32_t)block.release << 8 | (uint32_t)block.compare << 16);
		for (const uint32_t *record = block.record; n--;) {
			struct launch launch = { 0 };

			record = condensed_kernel(&queue, record, state, &launch);
			check_vector(state, STATE_WORDS);
			check_word(launch.groups);
			check_word(launch.signal[0]);
			check_word(launch.signal[1]);
		}
	}
	CHECK(good > 300 && good < 2900);
	check_word(good);
}

static void descriptors(void)
{
	static struct kernel k;
	unsigned good = 0;

	for (unsigned i = 0; i < 2000; i++) {
		uint32_t *w = (uint32_t *)&k.fetched;
		int code;

		descriptor(&k.fetched);
		k.low = (uint32_t)KERNEL(0);
		k.high = (uint32_t)(KERNEL(0) >> 32) | ASID << 16;
		w[target_roll(16)] ^= target_roll(2) ? 1u << target_roll(32) : target_roll(40);
		code = kernel_check(&k);
		good += !code;
		check_word((uint32_t)code);
		if (!code)
			check_vector(k.entry, 2);
		CHECK(!code || code == TUTTI_ERROR_CODE_OBJECT || code == TUTTI_ERROR_GRID);
	}
	CHECK(good > 100 && good < 1900);
}

static void invalidation(void)
{
	for (unsigned i = 0; i < FW_KERNELS; i++)
		kernel(i);
	kernel_invalidate(ASID + 1, 0, 0);
	kernel_invalidate(ASID, KERNEL(3) + 64, 128);
	for (unsigned i = 0; i < FW_KERNELS; i++)
		CHECK((kernel_slot((uint32_t)KERNEL(i), ASID)->state == KERNEL_READY) == (i != 4 && i != 5));
	kernel_invalidate(ASID, KERNEL(7) + 63, 1); /* its last byte */
	CHECK(kernel_slot((uint32_t)KERNEL(7), ASID)->state == KERNEL_NONE);
	CHECK(kernel_slot((uint32_t)KERNEL(8), ASID)->state == KERNEL_READY);
	kernel_invalidate(ASID, 0, 0);
	for (unsigned i = 0; i < FW_KERNELS; i++)
		CHECK(kernel_slot((uint32_t)KERNEL(i), ASID)->state == KERNEL_NONE);
}

const struct target_test target_decode[] = {
	{ "REL-02 PKT-09: references are the processed state", references },
	{ "REL-02 PKT-06: plain packets, good and bad", plain },
	{ "REL-02 PKT-15: the source's worked example", worked_example },
	{ "REL-02 PKT-14 PKT-18: random condensed packets", condensed_random },
	{ "REL-02 SYS-07: kernel descriptors, good and bad", descriptors },
	{ "REL-02: kernel cache, invalidation by range", invalidation },
	{ 0 },
};
