/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Reference state buffers: how long they live, and who gets which of their entries (PKT-09, PKT-10, PKT-22). */
#define AFTER_UNLOCK() note_unlock()
static void note_unlock(void);

#include "lock_check.h"
#include "rt_rig.h"

static unsigned made, in_memory_made;
static bool there[8];

static int make(struct tutti_device *device, unsigned rsb, bool in_memory)
{
	assert_false(there[rsb]);
	there[rsb] = true;
	made++;
	in_memory_made += in_memory;
	return 0;
}

static int make_none(struct tutti_device *device, unsigned rsb, bool in_memory)
{
	return -ENOSPC;
}

static int drop(struct tutti_device *device, unsigned rsb)
{
	assert_true(there[rsb]);
	there[rsb] = false;
	made--;
	return 0;
}

static int open_card(void **state)
{
	int error = open_fake(state);

	made = in_memory_made = 0;
	memset(there, 0, sizeof(there));
	transport.rsb_create = make;
	transport.rsb_destroy = drop;
	transport.rsb_invalidate = card_rsb_invalidate;
	return error;
}

static struct tutti_rsb_object *a_buffer(bool in_memory)
{
	struct tutti_rsb_object *rsb;

	assert_int_equal(tutti_rsb_create(device, in_memory, &rsb), 0);
	return rsb;
}

static struct tutti_queue *a_user(struct tutti_rsb_object *rsb, bool in_memory)
{
	struct tutti_queue_options options = {
	    .packets = 64, .flags = TUTTI_QUEUE_EXTENDED, .rsb = rsb, .rsb_in_memory = in_memory};
	struct tutti_queue *queue;

	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	return queue;
}

/* As many buffers can be made as the card has, each where the application wants it, and with a number of its own. */
static void as_many_as_there_are(void **state)
{
	struct tutti_rsb_object *all[8], *more;

	transport.rsb_create = make_none; /* a failure uses up no number */
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(tutti_rsb_create(device, false, &more), -ENOSPC);
	transport.rsb_create = make;
	for (unsigned i = 0; i < 8; i++) {
		all[i] = a_buffer(i % 4 == 1);
		assert_int_equal(in_memory_made, (i + 3) / 4);
		assert_int_equal(all[i]->id, i);
	}
	assert_int_equal(tutti_rsb_create(device, false, &more), -ENOSPC);
	assert_int_equal(tutti_rsb_create(device, false, NULL), -EINVAL);
	assert_int_equal(tutti_rsb_destroy(all[5]), 0);
	assert_false(there[5]);
	assert_int_equal(tutti_rsb_destroy(all[5]), -EINVAL);
	all[5] = a_buffer(false);
	assert_int_equal(all[5]->id, 5);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(tutti_rsb_destroy(all[i]), 0);
	assert_int_equal(tutti_rsb_destroy(NULL), 0);
	assert_int_equal(made, 0);
}

/* A buffer of the application lives until the application destroys it, which fails while a queue uses it. */
static void of_the_application(void **state)
{
	struct tutti_rsb_object *rsb = a_buffer(false);
	struct tutti_queue *user[3];

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 3; i++)
			user[i] = a_user(rsb, true);
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(tutti_rsb_destroy(rsb), -EBUSY);
			assert_int_equal(tutti_queue_destroy(user[i]), 0);
			assert_int_equal(made, 1);
		}
	}
	assert_int_equal(in_memory_made, 0);
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
	assert_int_equal(made, 0);
}

/* A buffer made for a queue is destroyed with the last queue that uses it, which may be another one. */
static void of_queues(void **state)
{
	for (unsigned first = 0; first < 2; first++) {
		struct tutti_queue *user[2] = {a_user(NULL, first)};

		assert_int_equal(in_memory_made, first);
		user[1] = a_user(tutti_queue_rsb(user[0]), false);
		assert_ptr_equal(tutti_queue_rsb(user[0]), tutti_queue_rsb(user[1]));
		assert_int_equal(tutti_queue_destroy(user[first]), 0);
		assert_int_equal(made, 1);
		assert_int_equal(tutti_queue_destroy(user[!first]), 0);
		assert_int_equal(made, 0);
	}
}

/* What another thread destroys while this one creates a queue, as soon as this one has let a mutex go. */
static struct tutti_rsb_object *goes;
static struct tutti_queue *goes_with;
static pthread_t destroyer;
static _Thread_local bool creating;

static void *destroys(void *context)
{
	return (void *)(intptr_t)(goes_with ? tutti_queue_destroy(goes_with) : tutti_rsb_destroy(goes));
}

static void note_unlock(void)
{
	if (!creating)
		return;
	creating = false;
	assert_int_equal(pthread_create(&destroyer, NULL, destroys, NULL), 0);
	while (handle_live(&goes->handle))
		sched_yield();
}

/* A queue never gets a buffer that is being destroyed, by the application or with the last queue that uses it. */
static void destroyed_meanwhile(void **state)
{
	for (unsigned with = 0; with < 2; with++) {
		struct tutti_queue_options options = {.packets = 64, .flags = TUTTI_QUEUE_EXTENDED};
		struct tutti_queue *queue;
		void *result;

		goes_with = with ? a_user(NULL, false) : NULL;
		goes = with ? tutti_queue_rsb(goes_with) : a_buffer(false);
		options.rsb = goes;
		creating = true;
		assert_int_equal(tutti_queue_create(device, &options, &queue), -EINVAL);
		pthread_join(destroyer, &result);
		assert_null(result);
		assert_int_equal(made, 0);
	}
}

static void claim(struct tutti_rsb_object *rsb, uint64_t owner, struct tutti_queue *queue, unsigned n,
		  const uint32_t *weight, uint8_t *entry)
{
	uint64_t before = rsb->epoch, claimed, now = 0;

	claimed = rsb_claim(rsb, owner, queue_of(queue), n, weight, entry);
	assert_true(claimed > before);
	assert_true(claimed == rsb->epoch);
	assert_true(rsb_holds(rsb, owner, n, entry, &now));
	assert_true(now == rsb->epoch);
}

static const uint32_t weights[TUTTI_REFERENCES] = {5, 3, 8, 0, 7, 2, 6, 4};

/* Free entries are taken first, then those used by the fewest kernels. A recording gives its own back for new ones. */
static void least_used_first(void **state)
{
	struct tutti_rsb_object *rsb = a_buffer(false);
	struct tutti_queue *queue = a_user(rsb, false);
	uint8_t all[TUTTI_REFERENCES], some[TUTTI_REFERENCES];
	uint64_t epoch;
	unsigned seen = 0;

	claim(rsb, 1, queue, 8, weights, all);
	for (unsigned i = 0; i < 8; i++)
		seen |= 1u << all[i];
	assert_int_equal(seen, 0xff);
	claim(rsb, 2, queue, 3, (const uint32_t[]){9, 9, 9}, some);
	assert_int_equal(some[0], all[3]); /* a weight of 0 counts as 1 */
	assert_int_equal(some[1], all[5]);
	assert_int_equal(some[2], all[1]);
	assert_false(rsb_holds(rsb, 1, 8, all, &epoch));
	assert_true(rsb_holds(rsb, 1, 1, &all[2], &epoch));
	assert_false(rsb_holds(rsb, 2, 1, &all[2], &epoch));
	rsb_forget(rsb, 0, 1u << all[2] | 1u << all[6]);
	assert_false(rsb_holds(rsb, 1, 1, &all[2], &epoch));
	assert_true(rsb_holds(rsb, 1, 1, &all[4], &epoch));
	claim(rsb, 3, queue, 3, (const uint32_t[]){1, 1, 1}, some);
	assert_int_equal(1u << some[0] | 1u << some[1], 1u << all[2] | 1u << all[6]);
	assert_int_equal(some[2], all[7]);
	claim(rsb, 3, queue, 1, weights, some);
	seen = 0;
	for (unsigned e = 0; e < 8; e++)
		seen += !rsb->owner[e];
	assert_int_equal(seen, 2); /* it has given back two of its three entries */
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
}

/* As long as any entry is free nobody loses one, however little it is used; nor does one that is used less than all others. */
static void free_ones_before_all_others(void **state)
{
	struct tutti_rsb_object *rsb = a_buffer(false);
	struct tutti_queue *queue = a_user(rsb, false);
	uint8_t first[TUTTI_REFERENCES], others[TUTTI_REFERENCES], last;
	uint64_t epoch;

	for (uint32_t weight = 0; weight < 2; weight++) {
		claim(rsb, 1, queue, 4, (const uint32_t[]){weight, weight, weight, weight}, first);
		claim(rsb, 2, queue, 4, (const uint32_t[]){2, 2, 2, 2}, others);
		assert_true(rsb_holds(rsb, 1, 4, first, &epoch));
		claim(rsb, 3, queue, 1, weights, &last);
		assert_false(rsb_holds(rsb, 1, 4, first, &epoch));
		assert_true(rsb_holds(rsb, 2, 4, others, &epoch));
		rsb_forget(rsb, 0, 0xff);
	}
	claim(rsb, 2, queue, 7, (const uint32_t[]){2, 2, 2, 2, 2, 2, 2}, others);
	claim(rsb, 1, queue, 1, (const uint32_t[]){0}, first); /* which counts as 1 */
	claim(rsb, 3, queue, 1, weights, &last);
	assert_int_equal(last, first[0]);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
}

/* The epoch changes whenever the owner of an entry does, and at no other time. */
static void epochs(void **state)
{
	struct tutti_rsb_object *rsb = a_buffer(false);
	struct tutti_queue *queue = a_user(rsb, false);
	uint8_t entry[TUTTI_REFERENCES];
	uint64_t epoch, now;

	claim(rsb, 1, queue, 4, weights, entry);
	epoch = rsb->epoch;
	rsb_forget(rsb, 2, 0);
	rsb_forget(rsb, 2, 0xff); /* all entries of an owner that has none */
	rsb_forget(rsb, 0, ~(1u << entry[0] | 1u << entry[1] | 1u << entry[2] | 1u << entry[3]));
	assert_true(rsb_holds(rsb, 1, 4, entry, &now));
	assert_true(now == epoch);
	rsb_forget(rsb, 1, 0);
	assert_false(rsb_holds(rsb, 1, 1, entry, &now));
	assert_true(now > epoch);
	claim(rsb, 1, queue, 4, weights, entry);
	epoch = rsb->epoch;
	assert_int_equal(tutti_rsb_invalidate(rsb, 0x100), -EINVAL);
	assert_int_equal(tutti_rsb_invalidate(rsb, 0), 0);
	assert_true(rsb->epoch == epoch);
	fake.stored[rsb->id][entry[2]] = fake.stored[rsb->id][entry[3]] = true;
	assert_int_equal(tutti_rsb_invalidate(rsb, 1u << entry[2]), 0);
	assert_false(fake.stored[rsb->id][entry[2]]); /* on the card as well */
	assert_true(fake.stored[rsb->id][entry[3]]);
	assert_false(rsb_holds(rsb, 1, 1, &entry[2], &now));
	assert_true(rsb_holds(rsb, 1, 1, &entry[3], &now));
	assert_true(now > epoch);
	assert_int_equal(tutti_rsb_invalidate(rsb, 0xff), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
}

/* Entries used by packets of another queue are kept until the card has taken these, or that queue is destroyed. */
static void used_by_another_queue(void **state)
{
	struct tutti_rsb_object *rsb = a_buffer(false);
	struct tutti_queue *first = a_user(rsb, false), *second = a_user(rsb, false);
	uint8_t entry[TUTTI_REFERENCES], other[TUTTI_REFERENCES];
	uint64_t epoch;

	for (unsigned round = 0; round < 3; round++) {
		claim(rsb, 1, first, 5, weights, entry);
		*first->write_index = *first->read_index + 1;
		epoch = rsb->epoch;
		assert_true(rsb_claim(rsb, 2, queue_of(second), 4, weights, other) == 0);
		assert_true(rsb->epoch == epoch);
		assert_true(rsb_holds(rsb, 1, 5, entry, &epoch));
		claim(rsb, 2, second, 3, weights, other);
		assert_true(rsb_holds(rsb, 1, 5, entry, &epoch));
		claim(rsb, 3, first, 5, weights, entry); /* packets of the same queue are in order, so it may */
		if (round < 2)
			*(uint64_t *)first->read_index = *first->write_index;
		else
			assert_int_equal(tutti_queue_destroy(first), 0);
		claim(rsb, 2, second, 8, weights, other);
		rsb_forget(rsb, 2, 0);
	}
	assert_int_equal(tutti_queue_destroy(second), 0);
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
}

/* Destroying a queue removes it as a user of entries, and leaves the users of other queues as they were. */
static void user_goes(void **state)
{
	struct tutti_rsb_object *rsb = a_buffer(false);
	struct tutti_queue *first = a_user(rsb, false), *second = a_user(rsb, false), *third = a_user(rsb, false), *gone;
	uint8_t entry[TUTTI_REFERENCES];

	claim(rsb, 3, third, 3, weights, entry);
	claim(rsb, 1, first, 5, weights, entry);
	*first->write_index = *first->read_index + 1;
	gone = third;
	do { /* until there is another one where it was */
		assert_int_equal(tutti_queue_destroy(third), 0);
		third = a_user(rsb, false);
	} while (third != gone);
	*third->write_index = *third->read_index + 1;
	assert_true(rsb_claim(rsb, 2, queue_of(second), 4, weights, entry) == 0);
	claim(rsb, 2, second, 3, weights, entry);
	assert_int_equal(tutti_queue_destroy(third), 0);
	assert_int_equal(tutti_queue_destroy(first), 0);
	assert_int_equal(tutti_queue_destroy(second), 0);
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
}

/* The card loses all references of a queue that stops, so nobody owns any of the entries afterwards. */
static void forgotten_by_a_stop(void **state)
{
	struct tutti_rsb_object *rsb = a_buffer(false);
	struct tutti_queue *queue = a_user(rsb, false);
	uint8_t entry[TUTTI_REFERENCES];
	uint64_t epoch;

	for (unsigned e = 0; e < TUTTI_REFERENCES; e++)
		claim(rsb, e + 1, queue, 1, weights, &entry[e]);
	for (unsigned e = 0; e < TUTTI_REFERENCES; e++)
		assert_true(rsb_holds(rsb, e + 1, 1, &entry[e], &epoch));
	queue_error_take(device, &(struct tutti_fault){.code = TUTTI_ERROR_PACKET, .queue = (uint16_t)queue->id});
	for (unsigned e = 0; e < TUTTI_REFERENCES; e++)
		assert_false(rsb_holds(rsb, e + 1, 1, &entry[e], &epoch));
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
}

static const void *read_to[2];
static int read_error;

static int read_table(struct tutti_device *device, unsigned rsb, struct tutti_rsb *table)
{
	memset(table, 0x30 + (int)rsb, sizeof(*table));
	read_to[0] = read_to[1];
	read_to[1] = table;
	return read_error;
}

/* The table is read from the card. If that fails it is left as it was. No memory is leaked in either case. */
static void tables_are_read(void **state)
{
	static struct tutti_rsb table;
	struct tutti_rsb_object *rsb = a_buffer(false), *next = a_buffer(false);
	void *block;

	transport.rsb_read = read_table;
	read_error = -EIO;
	assert_int_equal(tutti_rsb_read(rsb, &table), -EIO);
	assert_int_equal(((uint8_t *)&table)[0], 0);
	read_error = 0;
	assert_int_equal(tutti_rsb_read(next, &table), 0);
	assert_int_equal(((uint8_t *)&table)[0], 0x31);
	assert_int_equal(((uint8_t *)&table)[sizeof(table) - 1], 0x31);
	assert_ptr_equal(read_to[0], read_to[1]);
	assert_int_equal(tutti_rsb_read(rsb, &table), 0);
	assert_int_equal(((uint8_t *)&table)[0], 0x30);
	assert_ptr_equal(read_to[0], read_to[1]);
	assert_int_equal(tutti_rsb_read(rsb, NULL), -EINVAL);
	for (unsigned i = 0; i < 2; i++)
		while (!memory_alloc(device, TUTTI_MEMORY_CARD, i ? sizeof(table) : 1 << 16, &block))
			;
	assert_int_equal(tutti_rsb_read(rsb, &table), -ENOSPC);
	transport.rsb_read = NULL;
	assert_int_equal(tutti_rsb_destroy(next), 0);
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
}

#define R(f) cmocka_unit_test_setup_teardown(f, open_card, close_fake)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    R(as_many_as_there_are),  R(of_the_application), R(of_queues),	R(destroyed_meanwhile), R(least_used_first), R(free_ones_before_all_others), R(epochs),
	    R(used_by_another_queue), R(user_goes),	     R(forgotten_by_a_stop), R(tables_are_read)};

	return cmocka_run_group_tests_name("PKT-09, PKT-10, PKT-22 reference state buffers", tests, NULL, NULL);
}
