/* SPDX-License-Identifier: MIT */
/* Condensed packets whose diffs name table fields: PKT-20. */
#include "raw.h"

#define T(name, function) { name, function, setup, teardown, NULL }

static struct raw *raw;
static struct raw_space space;
static struct raw_queue first, second; /* packet fields, table fields */
static uint64_t *counts;

static int setup(void **state)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .topology = { 4, 2 }, .gpcs = 2 };

	raw = raw_create(&config);
	raw_space_init(raw, &space, 1);
	raw_queue_init(&space, &first, 1, TUTTI_QUEUE_EXTENDED, 6);
	raw_queue_init(&space, &second, 2, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_TABLE_DIFFS, 6);
	counts = raw_new(&space, 8 * 4096);
	return 0;
}

static int teardown(void **state)
{
	raw_destroy(raw);
	return 0;
}

/* RAW_COUNT over 100 x 3 x 1 work-items in workgroups of 32 x 1 x 1 as reference 4 */
static void store(struct raw_queue *queue)
{
	union tutti_packet p = raw_dispatch(raw, RAW_COUNT, 100, 32, raw_args(&space, counts, 0, 0), NULL);

	p.dispatch.setup = 3;
	p.dispatch.grid_y = 3;
	p.dispatch.ref_num = TUTTI_REF_STORE | 4;
	raw_submit(queue, &p);
	raw_retired(queue);
	raw_settle(raw);
}

static void run(struct raw_queue *queue, struct raw_condensed *c, uint64_t *result)
{
	memset(counts, 0, 8 * 4096);
	raw_submit(queue, &c->packet);
	raw_retired(queue);
	raw_settle(raw);
	raw_no_fault(raw);
	memcpy(result, counts, 4096 * 4);
}

static void same(struct raw_condensed *a, struct raw_condensed *b)
{
	static uint64_t x[2048], y[2048];

	run(&first, a, x);
	run(&second, b, y);
	assert_memory_equal(x, y, sizeof(x));
	assert_true(x[0] > 0);
}

static void both(struct raw_condensed *a, struct raw_condensed *b, unsigned va, unsigned vb)
{
	raw_condensed(a);
	raw_condensed(b);
	raw_diff(a, 4, va);
	raw_diff(b, 4, vb);
}

static void forms_agree(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 2);
	uint64_t *args = raw_args(&space, counts + 700, 0, 0);
	struct raw_condensed a, b;

	store(&first);
	store(&second);
	both(&a, &b, 0, 0);
	same(&a, &b);
	both(&a, &b, TUTTI_DIFF_GRID_X, TUTTI_TABLE_GRID_X);
	raw_units(&a, 1000, 2);
	raw_units(&b, 1000, 2);
	raw_units(&b, 32, 2);
	same(&a, &b);
	both(&a, &b, TUTTI_DIFF_GRID_Y | TUTTI_DIFF_GRID_Z, TUTTI_TABLE_GRID_Y | TUTTI_TABLE_GRID_Z);
	raw_units(&a, 2, 2);
	raw_units(&a, 5, 2);
	raw_units(&b, 2, 2);
	raw_units(&b, 2, 2);
	raw_units(&b, 5, 2);
	raw_units(&b, 5, 2);
	same(&a, &b);
	/* a new workgroup size changes the number of groups, too: 64 x 2 x 1, 4 waves */
	both(&a, &b, TUTTI_DIFF_WORKGROUP_X | TUTTI_DIFF_WORKGROUP_Y,
	     TUTTI_TABLE_WORKGROUP | TUTTI_TABLE_GRID_X | TUTTI_TABLE_GRID_Y);
	raw_units(&a, 64, 1);
	raw_units(&a, 2, 1);
	raw_units(&b, 64, 1);
	raw_units(&b, 2, 1);
	raw_units(&b, 1, 1);
	raw_units(&b, 4, 1);
	raw_units(&b, 100, 2);
	raw_units(&b, 2, 2);
	raw_units(&b, 3, 2);
	raw_units(&b, 2, 2);
	same(&a, &b);
	both(&a, &b, TUTTI_DIFF_PRIVATE_BYTES | TUTTI_DIFF_GROUP_BYTES, TUTTI_TABLE_PRIVATE | TUTTI_TABLE_SHARED);
	raw_units(&a, 100, 2);
	raw_units(&a, 5000, 2);
	raw_units(&b, 3200, 2);
	raw_units(&b, 6144, 2);
	same(&a, &b);
	both(&a, &b, TUTTI_DIFF_KERNARG | TUTTI_DIFF_SIGNAL | TUTTI_DIFF_SCOPES,
	     TUTTI_TABLE_KERNARG | TUTTI_TABLE_SIGNAL | TUTTI_TABLE_SCOPES);
	raw_units(&a, 0x15, 1);
	raw_units(&a, (uintptr_t)args, 4);
	raw_units(&a, (uintptr_t)signal, 4);
	raw_units(&b, 0x15, 1);
	raw_units(&b, (uintptr_t)args, 4);
	raw_units(&b, (uintptr_t)signal, 4);
	raw_submit(&first, &a.packet);
	raw_submit(&second, &b.packet);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(counts[700], 2);
}

static void kernel_object(void **state)
{
	uint64_t *word = raw_small(&space);
	struct raw_condensed b;

	store(&second);
	raw_condensed(&b);
	raw_diff(&b, 4, TUTTI_TABLE_KERNEL_OBJECT | TUTTI_TABLE_KERNARG);
	raw_units(&b, raw_kernel(raw, RAW_ADD), 4);
	raw_units(&b, (uintptr_t)raw_args(&space, word, 1, 0), 4);
	raw_submit(&second, &b.packet);
	raw_retired(&second);
	raw_settle(raw);
	assert_int_equal(*word, 12);
}

/* a state that no plain packet leads to makes the packet invalid */
static void claims_are_checked(void **state)
{
	static const struct {
		const char *what;
		unsigned vector, units;
		uint64_t value, value2;
	} bad[] = {
		{ "fewer groups than the grid needs", TUTTI_TABLE_GRID_X, 4, 100 | 3ull << 32, 0 },
		{ "more groups than the grid needs", TUTTI_TABLE_GRID_X, 4, 100 | 5ull << 32, 0 },
		{ "groups that overflow", TUTTI_TABLE_GRID_X, 4, 100 | (4ull + (1ull << 27)) << 32, 0 },
		{ "no work-items", TUTTI_TABLE_GRID_X, 4, 0 | 0ull << 32, 0 },
		{ "work-items without groups", TUTTI_TABLE_GRID_Y, 4, 3 | 0ull << 32, 0 },
		{ "groups without work-items", TUTTI_TABLE_GRID_Z, 4, 0 | 1ull << 32, 0 },
		{ "too few waves", TUTTI_TABLE_WORKGROUP | TUTTI_TABLE_GRID_X, 8, 64 | 1ull << 16 | 1ull << 32 | 1ull << 48,
		  100 | 2ull << 32 },
		{ "too many waves", TUTTI_TABLE_WORKGROUP | TUTTI_TABLE_GRID_X, 8, 64 | 1ull << 16 | 1ull << 32 | 3ull << 48,
		  100 | 2ull << 32 },
		{ "no waves", TUTTI_TABLE_WORKGROUP, 4, 32 | 1ull << 16 | 1ull << 32, 0 },
		{ "workgroup not that of the groups", TUTTI_TABLE_WORKGROUP, 4, 64 | 1ull << 16 | 1ull << 32 | 2ull << 48, 0 },
		{ "workgroup z 0", TUTTI_TABLE_WORKGROUP, 4, 32 | 1ull << 16 | 0ull << 32 | 1ull << 48, 0 },
		{ "workgroup too large", TUTTI_TABLE_WORKGROUP | TUTTI_TABLE_GRID_X, 8,
		  65535 | 1ull << 16 | 1ull << 32 | 2048ull << 48, 100 | 1ull << 32 },
		{ "private bytes not of whole work-items", TUTTI_TABLE_PRIVATE, 2, 3201, 0 },
		{ "private bytes too large", TUTTI_TABLE_PRIVATE, 2, 1u << 30, 0 },
		{ "shared bytes not whole blocks", TUTTI_TABLE_SHARED, 2, 5000, 0 },
		{ "shared bytes too large", TUTTI_TABLE_SHARED, 2, 65 * 2048, 0 },
		{ "bad scopes", TUTTI_TABLE_SCOPES, 1, 0xe0, 0 },
		{ "bad setup", TUTTI_TABLE_SETUP, 1, 0, 0 },
		{ "null kernel", TUTTI_TABLE_KERNEL_OBJECT, 4, 0, 0 },
		{ "signal misaligned", TUTTI_TABLE_SIGNAL, 4, 0x1004, 0 },
		{ "bit 11", 1u << 11, 1, 0, 0 },
		{ "bit 12", 1u << 12, 1, 0, 0 },
	};
	unsigned i;

	store(&second);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct raw_condensed c;
		uint64_t index;

		print_message("# %s\n", bad[i].what);
		memset(counts, 0, 4096);
		raw_condensed(&c);
		raw_diff(&c, 4, 0);
		raw_diff(&c, 4, bad[i].vector);
		raw_units(&c, bad[i].value, bad[i].units < 4 ? bad[i].units : 4);
		if (bad[i].units > 4)
			raw_units(&c, bad[i].value2, 4);
		index = raw_put(&second, &c.packet);
		raw_ring(&second, index);
		raw_fault(&second, TUTTI_ERROR_PACKET, index);
		raw_no_fault(raw);
		assert_int_equal(counts[0], 0);
		raw_reset_queue(&second);
	}
}

static void costs(void **state)
{
	struct raw_condensed a, b;
	uint64_t start, packet_form, table_form;
	unsigned i;

	store(&first);
	store(&second);
	raw_condensed(&a);
	raw_condensed(&b);
	for (i = 0; i < 6; i++) {
		raw_diff(&a, 4, TUTTI_DIFF_GRID_X);
		raw_units(&a, 100 + 32 * i, 2);
		raw_diff(&b, 4, TUTTI_TABLE_GRID_X);
		raw_units(&b, 100 + 32 * i, 2);
		raw_units(&b, 4 + i, 2);
	}
	raw_settle(raw);
	start = tutti_card_instructions(raw->card);
	raw_submit(&first, &a.packet);
	raw_retired(&first);
	raw_settle(raw);
	packet_form = tutti_card_instructions(raw->card) - start;
	start = tutti_card_instructions(raw->card);
	raw_submit(&second, &b.packet);
	raw_retired(&second);
	raw_settle(raw);
	table_form = tutti_card_instructions(raw->card) - start;
	print_message("# six new grids, instructions in all: packet fields %llu, table fields %llu\n",
		      (unsigned long long)packet_form, (unsigned long long)table_form);
	/* instructions per kernel: less than twice what one in packet fields took at first */
	assert_true(table_form < 6 * 3000);
	raw_no_fault(raw);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("PKT-20: both forms give the same results", forms_agree),
		T("PKT-20: another kernel", kernel_object),
		T("PKT-20: claims no packet could make are refused", claims_are_checked),
		T("PKT-20: measured beside the first form", costs),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
