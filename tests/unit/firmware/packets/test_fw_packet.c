/* SPDX-License-Identifier: MIT */
/* Plain packets against an obvious checker: what is refused, with which code, and what is derived (PKT-06, PKT-09). */
#include "fw_rig.h"

#define KERNELS 12u
#define KERNEL_AT 0x400000ull

static struct tutti_kernel_descriptor kernel[KERNELS];
static struct queue *plain, *extended;
static uint32_t items_limit, shared_limit;

static uint64_t address_of(unsigned k)
{
	return KERNEL_AT + 0x1000000000ull * k + 64 * k;
}

static void make_kernels(void)
{
	unsigned k;

	for (k = 0; k < KERNELS; k++) {
		kernel[k] = rig_descriptor();
		kernel[k].flags = (uint16_t)roll(4);
		kernel[k].entry_offset = k % 3 ? 2 * (int64_t)roll(1000) : -2 * (int64_t)roll(1000);
		if (k > 1) {
			kernel[k].group_bytes = roll(3) ? 0 : roll(131072 + 5000);
			kernel[k].private_bytes = roll(3) ? 0 : roll(9000);
			kernel[k].barriers = (uint16_t)roll(17);
			kernel[k].scalar_blocks = (uint16_t)(roll(2) ? 0 : roll(33));
			kernel[k].vector_blocks = (uint16_t)(roll(2) ? 0 : roll(33));
			kernel[k].workgroup_max = (uint16_t)(roll(2) ? 0 : roll(2048));
			if (!roll(3))
				kernel[k].workgroup[roll(3)] = (uint16_t)(1 + roll(32));
		}
	}
}

static void set_up(unsigned sms, uint32_t items, uint32_t shared)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = 7, .root = 4096 } };
	struct tutti_discovery *d = (void *)hal_host.window;
	unsigned k;

	rig_load(sms);
	d->workgroup_items = items_limit = items;
	d->shared_blocks = shared_limit = shared;
	assert_true(fw_limits_init(d));
	shape_init();
	assert_int_equal(rig_message(&m), 0);
	plain = rig_queue(1, 7, 0);
	rig_rsb(2, 7, TUTTI_RSB_SCRATCH);
	extended = rig_queue(2, 7, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
	make_kernels();
	for (k = 0; k < KERNELS; k++)
		rig_kernel(plain, address_of(k), &kernel[k]);
}

/* ---- the checker ---- */

#define E(code) (1u << TUTTI_ERROR_##code)

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint64_t groups_of(uint32_t grid, uint32_t size)
{
	return ((uint64_t)grid + size - 1) / size;
}

static unsigned capacity(const struct tutti_task_state *s)
{
	unsigned peu = 8, n;

	while (peu && (peu * s->scalar_blocks > 32 || peu * s->vector_blocks > 32))
		peu--;
	n = 4 * peu / s->waves;
	while (n && (n * s->shared_blocks > shared_limit || n * s->barriers > 16))
		n--;
	return n;
}

/* Every fault there is, as a set of error codes; none: *s and *groups are what the packet means. */
static uint32_t check(const struct queue *queue, const struct tutti_dispatch_packet *p, struct tutti_task_state *s,
		      uint32_t *groups)
{
	const struct tutti_kernel_descriptor *d = NULL;
	uint32_t bad = 0, dimensions = p->setup & 3, items_max, private, group, i;
	uint64_t items = (uint64_t)p->workgroup_x * p->workgroup_y * p->workgroup_z, all;

	if (p->header >> 13 || (p->header >> 9 & 3) == 3 || (p->header >> 11 & 3) == 3)
		bad |= E(PACKET);
	if (p->setup >> 2)
		bad |= E(PACKET);
	if (!dimensions || !items || !p->grid_x || !p->grid_y || !p->grid_z)
		bad |= E(DIMENSIONS);
	if (dimensions < 2 && (p->workgroup_y != 1 || p->grid_y != 1))
		bad |= E(DIMENSIONS);
	if (dimensions < 3 && (p->workgroup_z != 1 || p->grid_z != 1))
		bad |= E(DIMENSIONS);
	if (p->kernarg >> 47 || p->signal >> 47 || p->signal % 64)
		bad |= E(PACKET);
	for (i = 0; i < KERNELS; i++)
		if (p->kernel_object == address_of(i))
			d = &kernel[i];
	if (!d)
		return bad | E(CODE_OBJECT);
	items_max = d->workgroup_max && d->workgroup_max < items_limit ? d->workgroup_max : items_limit;
	if (items > items_max || (d->workgroup[0] && d->workgroup[0] != p->workgroup_x) ||
	    (d->workgroup[1] && d->workgroup[1] != p->workgroup_y) || (d->workgroup[2] && d->workgroup[2] != p->workgroup_z))
		bad |= E(WORKGROUP);
	private = larger(p->private_bytes, d->private_bytes);
	if (private > (256 << 10) / 32)
		bad |= E(PRIVATE_MEMORY);
	group = larger(p->group_bytes, d->group_bytes);
	if (group > shared_limit * 2048ull)
		bad |= E(GROUP_MEMORY);
	if (p->workgroup_x && p->workgroup_y && p->grid_x && p->grid_y && /* whatever z is */
	    (groups_of(p->grid_x, p->workgroup_x) * groups_of(p->grid_y, p->workgroup_y)) >> 32)
		bad |= E(GRID);
	if (!items)
		return bad;
	all = groups_of(p->grid_x, p->workgroup_x) * groups_of(p->grid_y, p->workgroup_y);
	if (all >> 32 || (all * groups_of(p->grid_z, p->workgroup_z)) >> 32)
		bad |= E(GRID);
	if (bad)
		return bad;
	*groups = (uint32_t)(all * groups_of(p->grid_z, p->workgroup_z));
	memset(s, 0, sizeof(*s));
	s->entry = p->kernel_object + (uint64_t)d->entry_offset;
	s->kernarg = p->kernarg;
	s->groups_x = (uint32_t)groups_of(p->grid_x, p->workgroup_x);
	s->groups_y = (uint32_t)groups_of(p->grid_y, p->workgroup_y);
	s->groups_z = (uint32_t)groups_of(p->grid_z, p->workgroup_z);
	s->grid_x = p->grid_x;
	s->grid_y = p->grid_y;
	s->grid_z = p->grid_z;
	s->workgroup_x = p->workgroup_x;
	s->workgroup_y = p->workgroup_y;
	s->workgroup_z = p->workgroup_z;
	s->waves = (uint16_t)((items + 31) / 32);
	s->shared_blocks = (uint16_t)((group + 2047) / 2048);
	s->shared_bytes = s->shared_blocks * 2048u;
	s->private_bytes = private * 32;
	s->asid = 7;
	s->queue = queue == extended ? 2 : 1;
	s->scalar_blocks = d->scalar_blocks;
	s->vector_blocks = d->vector_blocks;
	s->barriers = d->barriers;
	s->dimensions = (uint16_t)dimensions;
	s->packet = queue->head;
	return capacity(s) ? 0 : E(WORKGROUP);
}

/* Return: whether it was accepted. */
static bool compare(struct queue *queue, const struct tutti_dispatch_packet *p)
{
	struct tutti_task_state want, got;
	uint32_t groups = 0, bad = check(queue, p, &want, &groups);
	struct tutti_dispatch_packet copy = *p;
	struct launch launch = { 0 };
	int code;

	memset(&got, 0xa5, sizeof(got));
	code = packet_dispatch(queue, &copy, (uint32_t *)&got, &launch);
	assert_memory_equal(&copy, p, sizeof(copy));
	if (bad) {
		if (code == PACKET_SPECIAL && p->tmd) /* what is left to be found is found after that */
			return false;
		if (code <= 0 || !(bad >> code & 1))
			fail_msg("code %d, wanted one of %#x", code, bad);
		assert_true(packet_error.field < 64);
		return false;
	}
	if (p->tmd && queue == extended) { /* metadata are another way (tmd.h) */
		assert_int_equal(code, PACKET_SPECIAL);
		return false;
	}
	if (code)
		fail_msg("refused with %d", code);
	assert_memory_equal(&got, &want, sizeof(got));
	assert_int_equal(launch.groups, groups);
	assert_int_equal(launch.header & 0xffff, p->header);
	assert_int_equal(launch.signal[0] | (uint64_t)launch.signal[1] << 32, p->signal);
	assert_non_null(launch.shape);
	assert_int_equal(launch.shape->capacity, capacity(&want));
	return true;
}

/* ---- values ---- */

static uint32_t any_size(void)
{
	static const uint32_t edge[] = { 0, 1, 2, 31, 32, 33, 63, 64, 255, 256, 1023, 1024, 1025, 65535, 65536, 65537,
					 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };

	return roll(2) ? edge[roll(sizeof(edge) / sizeof(edge[0]))] : roll(2) ? 1 + roll(64) : roll32();
}

static uint64_t any_address(unsigned align)
{
	static const uint64_t edge[] = { 0, 1, 63, 64, 0x7fffffffffc0, 0x7fffffffffff, 0x800000000000, 0xffffffffffffffc0,
					 0x0080000000000000, 0x8000000000000000, 0x00000000ffffffc0, 0x100000000 };

	if (roll(2))
		return edge[roll(sizeof(edge) / sizeof(edge[0]))];
	return ((uint64_t)roll32() << 32 | roll32()) >> roll(32) & ~(roll(4) ? align - 1ull : 0);
}

/* One that would be accepted, mostly. */
static struct tutti_dispatch_packet good(void)
{
	struct tutti_dispatch_packet p = rig_packet(address_of(roll(KERNELS)));
	const struct tutti_kernel_descriptor *d = &kernel[(p.kernel_object - KERNEL_AT) >> 36];
	unsigned dimensions = 1 + roll(3);

	p.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, roll(2), roll(3), roll(3));
	p.setup = (uint16_t)dimensions;
	p.workgroup_x = (uint16_t)(1 + roll(roll(2) ? 256 : 16));
	p.workgroup_y = (uint16_t)(dimensions > 1 ? 1 + roll(8) : 1);
	p.workgroup_z = (uint16_t)(dimensions > 2 ? 1 + roll(4) : 1);
	if (d->workgroup[0])
		p.workgroup_x = d->workgroup[0];
	if (d->workgroup[1] && dimensions > 1)
		p.workgroup_y = d->workgroup[1];
	if (d->workgroup[2] && dimensions > 2)
		p.workgroup_z = d->workgroup[2];
	p.ref_num = 0;
	p.grid_x = 1 + roll(100000);
	p.grid_y = dimensions > 1 ? 1 + roll(1000) : 1;
	p.grid_z = dimensions > 2 ? 1 + roll(100) : 1;
	p.private_bytes = roll(2) ? 0 : roll(8200);
	p.group_bytes = roll(2) ? 0 : roll(132000);
	p.kernarg = roll(3) ? (uint64_t)roll32() << 8 : 0;
	p.signal = roll(3) ? (uint64_t)roll32() << 6 : 0;
	return p;
}

static void damage(struct tutti_dispatch_packet *p)
{
	switch (roll(15)) {
	case 0: p->header = (uint16_t)((p->header & 0xff) | roll(256) << 8); break;
	case 1: p->setup = (uint16_t)(roll(2) ? roll(4) : roll(65536)); break;
	case 2: p->workgroup_x = (uint16_t)any_size(); break;
	case 3: p->workgroup_y = (uint16_t)any_size(); break;
	case 4: p->workgroup_z = (uint16_t)any_size(); break;
	case 5: p->grid_x = any_size(); break;
	case 6: p->grid_y = any_size(); break;
	case 7: p->grid_z = any_size(); break;
	case 8: p->private_bytes = roll(2) ? 8190 + roll(5) : any_size(); break;
	case 9: p->group_bytes = roll(2) ? shared_limit * 2048 - 2 + roll(5) : any_size(); break;
	case 10: p->kernel_object = roll(3) ? any_address(1) | 1 : 0; break;
	case 11: p->kernarg = any_address(1); break;
	case 12: p->signal = any_address(64); break;
	case 13: p->tmd = any_address(1); break;
	case 14: p->kernel_object |= 1ull << (47 + roll(17)); break;
	}
}

static void random_packets(void **unused)
{
	static const struct { uint32_t items, shared; } limits[] = { { 1024, 64 }, { 256, 64 }, { 1024, 5 }, { 1, 1 } };
	unsigned l, round, accepted = 0, refused = 0, i;

	for (l = 0; l < 4; l++)
		for (round = 0; round < 40; round++) {
			seed(50000 + 100 * l + round);
			set_up(1 + roll(200), limits[l].items, limits[l].shared);
			for (i = 0; i < 1500; i++) {
				struct tutti_dispatch_packet p = good();
				unsigned n = roll(4);

				while (n--)
					damage(&p);
				plain->head = extended->head = (uint64_t)roll32() << 32 | roll32();
				if (compare(roll(2) ? plain : extended, &p))
					accepted++;
				else
					refused++;
			}
		}
	assert_true(accepted > 30000 && refused > 30000);
}

/* Each field through all its edges, the others good. */
static void boundaries(void **unused)
{
	unsigned q, i, bit, dimensions;
	struct tutti_dispatch_packet p;

	seed(1);
	set_up(16, 1024, 64);
	for (q = 0; q < 2; q++) {
		struct queue *queue = q ? extended : plain;

		p = rig_packet(address_of(0));
		assert_true(compare(queue, &p));
		for (i = 0; i < 256; i++) {
			p = rig_packet(address_of(0));
			p.header = (uint16_t)(TUTTI_PACKET_KERNEL_DISPATCH | i << 8);
			assert_int_equal(compare(queue, &p), i < 0x20 && (i >> 1 & 3) != 3 && (i >> 3 & 3) != 3);
		}
		for (i = 0; i < 65536; i++) {
			p = rig_packet(address_of(0));
			p.setup = (uint16_t)i;
			assert_int_equal(compare(queue, &p), i >= 1 && i <= 3);
			p.setup = 3;
			p.workgroup_x = (uint16_t)i;
			assert_int_equal(compare(queue, &p), i >= 1 && i <= 1024);
			p.workgroup_x = 1;
			p.workgroup_y = (uint16_t)i;
			assert_int_equal(compare(queue, &p), i >= 1 && i <= 1024);
			p.workgroup_y = 1;
			p.workgroup_z = (uint16_t)i;
			assert_int_equal(compare(queue, &p), i >= 1 && i <= 1024);
			/* products that wrap around 32 bits */
			p.workgroup_x = p.workgroup_y = p.workgroup_z = (uint16_t)i;
			assert_int_equal(compare(queue, &p), i >= 1 && i <= 10);
		}
		for (dimensions = 1; dimensions <= 3; dimensions++)
			for (bit = 0; bit < 64; bit++) {
				p = rig_packet(address_of(0));
				p.setup = (uint16_t)dimensions;
				p.kernarg = 1ull << bit;
				assert_int_equal(compare(queue, &p), bit < 47);
				p.kernarg = 0;
				p.signal = 1ull << bit;
				assert_int_equal(compare(queue, &p), bit >= 6 && bit < 47);
				p.signal = 0;
				p.tmd = 1ull << bit;
				assert_int_equal(compare(queue, &p), queue == plain);
				p.tmd = 0;
				p.kernel_object = address_of(1) ^ 1ull << bit;
				if (bit < 6 || bit >= 47)
					assert_false(compare(queue, &p));
			}
	}
}

/* Grids around 2^32 CTAs, in one, two and three dimensions. */
static void grids(void **unused)
{
	static const uint32_t size[] = { 1, 2, 3, 255, 256, 65535, 65536, 65537, 0x1000000, 0x7fffffff, 0x80000000,
					 0xfffffffe, 0xffffffff };
	unsigned x, y, z, w, n = sizeof(size) / sizeof(size[0]);
	struct tutti_dispatch_packet p;

	seed(2);
	set_up(144, 1024, 64);
	for (x = 0; x < n; x++)
		for (y = 0; y < n; y++)
			for (z = 0; z < n; z++)
				for (w = 1; w <= 7; w += 3) {
					p = rig_packet(address_of(0));
					p.setup = 3;
					p.workgroup_x = p.workgroup_y = p.workgroup_z = (uint16_t)w;
					p.grid_x = size[x];
					p.grid_y = size[y];
					p.grid_z = size[z];
					compare(extended, &p);
					p.setup = 2;
					compare(plain, &p);
					p.setup = 1;
					compare(plain, &p);
				}
	/* 2^32 - 1 CTAs is the largest grid, 2^32 the first that is too large */
	p = rig_packet(address_of(0));
	p.workgroup_x = 1;
	p.grid_x = 0xffffffff;
	assert_true(compare(plain, &p));
	p.setup = 2;
	p.grid_x = p.grid_y = 65536;
	assert_false(compare(plain, &p));
	p.grid_y = 65535;
	assert_true(compare(plain, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-02 PKT-06 PKT-09", random_packets),
		RIG_TEST("PKT-02 PKT-06", boundaries),
		RIG_TEST("PKT-06", grids),
	};

	return cmocka_run_group_tests_name("firmware: plain packets", tests, NULL, NULL);
}
