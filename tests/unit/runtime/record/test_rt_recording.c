/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* The packets that a recording sends, in which parts, and the signals it has yet to change (PKT-06, PKT-10, PKT-22). */
#include "lock_check.h"
#include "rt_rig.h"
#include "tutti/record_api.h"

#define MOST 130u

static struct tutti_launch launches[MOST];
static tutti_signal_t signals[4];

static int open_card(void **state)
{
	int error = open_fake(state);

	fake.deaf = true; /* the card takes no packets; the tests set how far it has read */
	for (unsigned i = 0; i < 4 && !error; i++)
		error = tutti_signal_create(device, 1, &signals[i]);
	return error;
}

static struct tutti_queue *queue_with(uint32_t flags, unsigned packets, bool multi, struct tutti_rsb_object *rsb)
{
	struct tutti_queue_options options = {
	    .packets = packets, .flags = TUTTI_QUEUE_EXTENDED | flags, .multi = multi, .rsb = rsb};
	struct tutti_queue *queue;

	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	return queue;
}

/* Records launches[0] to launches[n - 1], which puts nothing into the ring. */
static struct tutti_recording *recorded(struct tutti_queue *queue, unsigned n)
{
	struct tutti_recording *recording;
	uint64_t before = *queue->write_index;

	assert_int_equal(tutti_record_begin(queue), 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(tutti_dispatch(queue, &launches[i]), 0);
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	assert_int_equal(tutti_recording_kernels(recording), n);
	assert_true(*queue->write_index == before);
	return recording;
}

static struct tutti_recording *in_form(struct tutti_queue *queue, unsigned n, enum tutti_replay_form form)
{
	struct tutti_recording *recording = recorded(queue, n);

	assert_int_equal(tutti_recording_form(recording, form), 0);
	return recording;
}

/* Fills launches[] with @n launches of up to eight kernels, each with arguments of its own. */
static void different(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		launches[i] = a_launch(i % 8, 0x1000 + 64 * i, NULL);
}

/* Replays a recording. Return: how many packets that has put into the ring. */
static unsigned replay(struct tutti_queue *queue, struct tutti_recording *recording)
{
	uint64_t before = *queue->write_index;

	assert_int_equal(tutti_replay(recording), 0);
	return (unsigned)(*queue->write_index - before);
}

/* Checks that the packet at @index is that of launch @i, which stores a reference (in any entry) if @reference is set. */
static void assert_packet(struct tutti_queue *queue, uint64_t index, unsigned i, bool reference)
{
	union tutti_packet want = {0}, have = *tutti_queue_slot(queue, index);

	assert_int_equal(tutti_launch_packet(&launches[i], &want.dispatch), 0);
	assert_int_equal(have.dispatch.ref_num & ~TUTTI_REF_INDEX, reference ? TUTTI_REF_STORE : 0);
	want.dispatch.ref_num = have.dispatch.ref_num;
	assert_memory_equal(&have, &want, sizeof(want));
}

/* ---- what is sent ---- */

/* Each launch is sent as it was recorded, however many launches there are. */
static void all_launches(void **state)
{
	static const unsigned sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 128, 129};
	struct tutti_queue *queue = queue_with(0, 512, false, NULL);

	different(MOST);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (enum tutti_replay_form form = TUTTI_REPLAY_REFERENCE; form <= TUTTI_REPLAY_PLAIN; form++) {
			struct tutti_recording *recording = in_form(queue, sizes[i], form);

			for (unsigned round = 0; round < 2; round++) {
				uint64_t first = *queue->write_index;

				assert_int_equal(tutti_recording_packets(recording), sizes[i]);
				assert_int_equal(replay(queue, recording), sizes[i]);
				for (unsigned k = 0; k < sizes[i]; k++)
					assert_packet(queue, first + k, k, form == TUTTI_REPLAY_REFERENCE);
				take_packets(queue);
			}
			assert_int_equal(tutti_recording_destroy(recording), 0);
		}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

static void set_all(struct tutti_recording *recording, unsigned i)
{
	const struct tutti_launch *l = &launches[i];

	assert_int_equal(tutti_recording_set_kernarg(recording, i, l->kernarg), 0);
	assert_int_equal(tutti_recording_set_grid(recording, i, l->grid), 0);
	assert_int_equal(tutti_recording_set_signal(recording, i, l->signal), 0);
}

/* A changed launch is sent as if it had been recorded that way, whether or not its packet had been built before. */
static void changed_launches(void **state)
{
	static const uint32_t grids[][3] = {{5}, {5, 1, 1}, {7, 2}, {7, 1, 2}, {1, 0, 3}, {UINT32_MAX, 9, 9}, {1}};
	static const uint16_t workgroups[][3] = {{64}, {8, 2}, {4, 4, 2}, {4, 1, 2}, {1}};
	struct tutti_queue *queue = queue_with(0, 64, false, NULL);
	struct tutti_recording *recording;

	for (enum tutti_replay_form form = TUTTI_REPLAY_REFERENCE; form <= TUTTI_REPLAY_PLAIN; form++)
		for (unsigned w = 0; w < 5; w++) {
			different(3);
			memcpy(launches[1].workgroup, workgroups[w], sizeof(workgroups[w]));
			recording = in_form(queue, 3, form);
			for (unsigned g = 0; g < 7; g++) {
				uint64_t first = *queue->write_index;

				memcpy(launches[1].grid, grids[g], sizeof(grids[g]));
				launches[1].kernarg = (void *)(uintptr_t)(0x5000 + g);
				launches[1].signal = g % 3 ? signals[g % 4] : NULL;
				set_all(recording, 1);
				assert_int_equal(replay(queue, recording), 3);
				for (unsigned k = 0; k < 3; k++)
					assert_packet(queue, first + k, k, form == TUTTI_REPLAY_REFERENCE);
				take_packets(queue);
			}
			assert_int_equal(tutti_recording_destroy(recording), 0);
		}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* Replays a recording that sends one condensed packet, and decodes the diffs of its nine launches. */
static void diffs_of(struct tutti_queue *queue, struct tutti_recording *recording, bool table, struct diff diffs[31])
{
	uint64_t first = *queue->write_index;

	assert_int_equal(replay(queue, recording), 1);
	assert_int_equal(diff_decode(&tutti_queue_slot(queue, first)->condensed, table, diffs, NULL), 9);
	take_packets(queue);
}

/* A recording obeys the flags of its queue, which say what fields a diff has and whether kernels may overlap. */
static void as_the_queue_says(void **state)
{
	static const uint32_t flags[] = {0, TUTTI_QUEUE_OVERLAP, TUTTI_QUEUE_TABLE_DIFFS,
					 TUTTI_QUEUE_TABLE_DIFFS | TUTTI_QUEUE_OVERLAP};

	for (unsigned i = 0; i < 4; i++) {
		bool table = flags[i] & TUTTI_QUEUE_TABLE_DIFFS, overlap = flags[i] & TUTTI_QUEUE_OVERLAP;
		struct tutti_queue *queue = queue_with(flags[i], 64, false, NULL);
		struct tutti_recording *recording;
		struct diff diffs[31];

		different(8); /* the ninth launch differs only a little from the first one */
		launches[8] = launches[0];
		launches[8].dynamic_group_bytes = 2049;
		launches[8].barrier = false;
		recording = recorded(queue, 9);
		assert_int_equal(replay(queue, recording), 9);
		take_packets(queue);
		diffs_of(queue, recording, table, diffs);
		for (unsigned k = 0; k < 8; k++)
			assert_int_equal(diffs[k].vector, 0);
		assert_int_equal(diffs[8].reference, diffs[0].reference);
		if (table) {
			assert_int_equal(diffs[8].vector, TUTTI_TABLE_SHARED | (overlap ? TUTTI_TABLE_SCOPES : 0));
			assert_int_equal(diffs[8].value[7], 2 * 2048);
		} else {
			assert_int_equal(diffs[8].vector, TUTTI_DIFF_GROUP_BYTES | (overlap ? TUTTI_DIFF_SCOPES : 0));
			assert_int_equal(diffs[8].value[9], 2049);
		}
		assert_int_equal(tutti_recording_destroy(recording), 0);
		assert_int_equal(tutti_queue_destroy(queue), 0);
	}
}

/* References are sent by the first replay, and again after another form has been used, but not if the same form is set. */
static void references_are_sent_once(void **state)
{
	struct tutti_queue *queue = queue_with(0, 64, false, NULL);
	struct tutti_recording *recording;

	different(8);
	recording = recorded(queue, 8);
	for (unsigned round = 0; round < 3; round++) {
		assert_int_equal(replay(queue, recording), 8);
		assert_int_equal(replay(queue, recording), 1);
		assert_int_equal(tutti_recording_form(recording, TUTTI_REPLAY_CONDENSED), 0);
		assert_int_equal(tutti_recording_packets(recording), 1);
		assert_int_equal(replay(queue, recording), 1);
		assert_int_equal(tutti_recording_set_kernarg(recording, 3, &launches), 0);
		assert_int_equal(replay(queue, recording), 1);
		take_packets(queue);
		assert_int_equal(tutti_recording_form(recording, round ? TUTTI_REPLAY_PLAIN : TUTTI_REPLAY_REFERENCE),
				 0);
		assert_int_equal(tutti_recording_packets(recording), 8);
		if (round < 2)
			assert_int_equal(replay(queue, recording), 8);
		take_packets(queue);
		assert_int_equal(tutti_recording_form(recording, TUTTI_REPLAY_CONDENSED), 0);
		assert_int_equal(tutti_recording_set_kernarg(recording, 4, &launches), 0);
		assert_int_equal(tutti_recording_packets(recording), 1);
	}
	assert_int_equal(tutti_recording_destroy(recording), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* ---- the parts of a replay, and which replays take a lock ---- */

static struct tutti_queue *kicked;
static uint64_t rung[8];
static unsigned kicks, deepest;
static uint32_t calls; /* calls that were using the queue; destroying the queue waits until they end */

static void on_kick(struct tutti_device *of)
{
	unsigned depth = tutti_queue_rsb(kicked)->depth;

	rung[kicks++ % 8] = *kicked->doorbell;
	calls = queue_of(kicked)->handle.calls;
	deepest = depth > deepest ? depth : deepest;
}

/* Replays while the card sleeps, so that each doorbell wakes it. Return: how many times the doorbell was rung. */
static unsigned rings(struct tutti_queue *queue, struct tutti_recording *recording, unsigned packets)
{
	kicked = queue;
	kicks = deepest = 0;
	device->status->asleep = 1;
	transport.kick = on_kick;
	assert_int_equal(replay(queue, recording), packets);
	transport.kick = kick;
	device->status->asleep = 0;
	return kicks;
}

/*
 * A replay is sent in parts of at most half the ring, so that it does not have to wait until the ring is empty. The doorbell
 * is rung once for each part.
 */
static void parts(void **state)
{
	static const struct {
		unsigned packets, rings;
		uint64_t last[2];
	} rows[] = {{1, 1, {0}}, {31, 1, {30}}, {32, 1, {31}}, {33, 2, {31, 32}}, {63, 2, {31, 62}}, {64, 2, {31, 63}}};
	struct tutti_queue *queue = queue_with(0, 64, true, NULL);

	different(64);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tutti_recording *recording = in_form(queue, rows[i].packets, TUTTI_REPLAY_PLAIN);
		uint64_t first = *queue->write_index;

		assert_int_equal(rings(queue, recording, rows[i].packets), rows[i].rings);
		for (unsigned k = 0; k < rows[i].rings; k++)
			assert_true(rung[k] == first + rows[i].last[k]);
		take_packets(queue);
		assert_int_equal(tutti_recording_destroy(recording), 0);
	}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/*
 * Return: true if a replay holds the lock of its reference state buffer (RSB), even when its references are in the RSB
 * already. Replays that hold this lock are made one after the other.
 */
static bool in_order(struct tutti_queue *queue, unsigned n, enum tutti_replay_form form)
{
	struct tutti_recording *recording = in_form(queue, n, form);
	bool alone;

	replay(queue, recording);
	take_packets(queue);
	rings(queue, recording, tutti_recording_packets(recording));
	alone = deepest == 1;
	assert_int_equal(calls, alone ? 2 : 1); /* one of them rings the doorbell */
	take_packets(queue);
	assert_int_equal(tutti_recording_destroy(recording), 0);
	assert_int_equal(tutti_queue_rsb(queue)->depth, 0);
	return alone;
}

/*
 * A replay takes the lock if its references could be replaced before all its packets are in the ring: by other threads, by
 * other queues, or, if it is sent in several parts, by handlers.
 */
static void replays_in_order(void **state)
{
	struct tutti_queue *queue = queue_with(0, 64, false, NULL), *several = queue_with(0, 64, true, NULL), *other;

	different(33);
	assert_false(in_order(queue, 8, TUTTI_REPLAY_CONDENSED));
	assert_false(in_order(queue, 32, TUTTI_REPLAY_REFERENCE));
	assert_true(in_order(queue, 33, TUTTI_REPLAY_REFERENCE));
	assert_false(in_order(queue, 33, TUTTI_REPLAY_PLAIN));
	assert_true(in_order(several, 8, TUTTI_REPLAY_CONDENSED));
	assert_true(in_order(several, 8, TUTTI_REPLAY_REFERENCE));
	assert_false(in_order(several, 8, TUTTI_REPLAY_PLAIN));
	other = queue_with(0, 64, false, tutti_queue_rsb(queue));
	assert_true(in_order(queue, 8, TUTTI_REPLAY_CONDENSED));
	assert_true(in_order(other, 8, TUTTI_REPLAY_REFERENCE));
	assert_false(in_order(other, 8, TUTTI_REPLAY_PLAIN));
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_false(in_order(other, 8, TUTTI_REPLAY_CONDENSED)); /* only this queue uses the RSB now */
	assert_int_equal(tutti_queue_destroy(other), 0);
	assert_int_equal(tutti_queue_destroy(several), 0);
}

/* ---- signals that a recording still has to change ---- */

static unsigned visited[4];

static void visit(void *context, uint64_t signal)
{
	for (unsigned i = 0; i < 4; i++)
		visited[i] += signal == (uintptr_t)signals[i];
}

/* Return: true if recordings of the queue still have to change signal @i. Checks that there is no other such signal. */
static bool owed(struct tutti_queue *queue, unsigned i)
{
	bool any;

	memset(visited, 0, sizeof(visited));
	queue_of(queue)->each_recorded(queue_of(queue), visit, NULL);
	any = visited[i];
	for (unsigned k = 0; k < 4; k++)
		assert_int_equal(visited[k], k == i && any);
	return any;
}

/*
 * Return: true if signals[2] is still owed when the card has taken all packets before @taken, and the queue has stopped at
 * packet @failed. If @failed is negative, the queue has not stopped.
 */
static bool owed_when(struct tutti_queue *queue, uint64_t taken, int64_t failed)
{
	uint64_t before = *queue->read_index;
	bool answer;

	*(uint64_t *)queue->read_index = taken;
	queue_of(queue)->error.stopped = failed < 0 ? 0 : TUTTI_ERROR_PACKET;
	queue_of(queue)->error.fault.packet = (uint64_t)failed;
	answer = owed(queue, 2);
	queue_of(queue)->error.stopped = 0;
	*(uint64_t *)queue->read_index = before;
	return answer;
}

/* A recording knows which packets belong to its newest replay, however many parts that had: it owes only their signals. */
static void newest_replay(void **state)
{
	struct tutti_queue *queue = queue_with(0, 64, false, NULL);

	for (unsigned n = 1; n < 64; n += 31) {
		struct tutti_recording *recording;

		different(n);
		launches[n / 2].signal = signals[2];
		recording = in_form(queue, n, TUTTI_REPLAY_PLAIN);
		assert_false(owed(queue, 2)); /* nothing has been sent yet */
		for (unsigned round = 0; round < 3; round++) {
			int64_t first = (int64_t)*queue->write_index, last = first + n - 1;

			assert_int_equal(replay(queue, recording), n);
			assert_true(owed_when(queue, (uint64_t)last, -1));
			assert_false(owed_when(queue, (uint64_t)last + 1, -1));
			assert_true(owed_when(queue, (uint64_t)last + 2, first));
			assert_true(owed_when(queue, (uint64_t)last + 2, last));
			assert_false(owed_when(queue, (uint64_t)last + 2, last + 1));
			if (first) {
				assert_true(owed_when(queue, (uint64_t)last + 1, first - 1));
				assert_false(owed_when(queue, (uint64_t)last + 2, first - 1));
			}
			take_packets(queue);
		}
		assert_int_equal(tutti_recording_destroy(recording), 0);
	}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* A queue knows its recordings until they are destroyed, in whatever order that happens. */
static void known_to_the_queue(void **state)
{
	struct tutti_queue *queue = queue_with(0, 64, false, NULL);

	for (unsigned gone = 0; gone < 3; gone++) {
		struct tutti_recording *recording[3];

		for (unsigned i = 0; i < 3; i++) {
			launches[0] = a_launch(i, 0, signals[i]);
			recording[i] = recorded(queue, 1);
			replay(queue, recording[i]);
		}
		assert_int_equal(tutti_recording_destroy(recording[gone]), 0);
		memset(visited, 0, sizeof(visited));
		queue_of(queue)->each_recorded(queue_of(queue), visit, NULL);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(visited[i], i != gone);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(tutti_recording_destroy(recording[i]), i == gone ? -EINVAL : 0);
		assert_null(queue_of(queue)->recordings);
		take_packets(queue);
	}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

static unsigned entries_owned(const struct tutti_rsb_object *rsb)
{
	unsigned n = 0;

	for (unsigned e = 0; e < TUTTI_REFERENCES; e++)
		n += rsb->owner[e] != 0;
	return n;
}

/* The entries that a recording has in the RSB become free when the recording or its queue is destroyed. */
static void gives_its_entries_back(void **state)
{
	struct tutti_queue *queue = queue_with(0, 64, false, NULL),
			   *other = queue_with(0, 64, false, tutti_queue_rsb(queue));
	struct tutti_rsb_object *rsb = tutti_queue_rsb(queue);
	struct tutti_recording *recording[2];

	different(5);
	for (unsigned i = 0; i < 2; i++) {
		recording[i] = recorded(i ? other : queue, i ? 3 : 5);
		replay(i ? other : queue, recording[i]);
	}
	assert_int_equal(entries_owned(rsb), 8);
	take_packets(queue);
	assert_int_equal(tutti_recording_destroy(recording[0]), 0);
	assert_int_equal(entries_owned(rsb), 3);
	take_packets(other);
	assert_int_equal(tutti_queue_destroy(other), 0);
	assert_int_equal(entries_owned(rsb), 0);
	assert_int_equal(tutti_replay(recording[1]), -EINVAL);
	assert_int_equal(tutti_recording_kernels(recording[1]), 3);
	assert_int_equal(tutti_recording_set_kernarg(recording[1], 2, NULL), 0);
	for (enum tutti_replay_form form = TUTTI_REPLAY_CONDENSED; form <= TUTTI_REPLAY_PLAIN; form++) {
		assert_int_equal(tutti_recording_form(recording[1], form), 0);
		assert_int_equal(tutti_replay(recording[1]), -EINVAL);
	}
	assert_int_equal(tutti_recording_destroy(recording[1]), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* After a queue has been destroyed, a new queue may use its memory. Recordings of the old queue send nothing to it. */
static void never_to_another_queue(void **state)
{
	for (enum tutti_replay_form form = TUTTI_REPLAY_CONDENSED; form <= TUTTI_REPLAY_PLAIN; form++) {
		struct tutti_queue *queue = queue_with(0, 64, false, NULL), *gone = queue;
		struct tutti_recording *recording;

		different(3);
		recording = in_form(queue, 3, form);
		replay(queue, recording);
		do {
			assert_int_equal(tutti_queue_destroy(queue), 0);
			queue = queue_with(0, 64, false, NULL);
		} while (queue != gone);
		assert_int_equal(tutti_replay(recording), -EINVAL);
		assert_int_equal(tutti_recording_set_kernarg(recording, 0, NULL), 0);
		assert_int_equal(tutti_replay(recording), -EINVAL);
		assert_true(*queue->write_index == 0);
		assert_int_equal(tutti_recording_destroy(recording), 0);
		assert_int_equal(tutti_queue_destroy(queue), 0);
	}
}

/* ---- what is refused ---- */

static void refused(void **state)
{
	static const uint32_t none[3] = {0, 1, 1}, one[3] = {1, 1, 1};
	struct tutti_queue *queue = queue_with(0, 64, false, NULL), *plain = a_queue(0, false);
	struct tutti_recording *recording = NULL;

	different(2);
	assert_int_equal(tutti_record_begin(NULL), -EINVAL);
	assert_int_equal(tutti_record_begin(plain), -ENOTSUP);
	assert_int_equal(tutti_record_end(queue, &recording), -EINVAL);
	assert_int_equal(tutti_record_begin(queue), 0);
	assert_int_equal(tutti_record_begin(queue), -EBUSY);
	assert_int_equal(tutti_dispatch(queue, &launches[0]), 0);
	assert_int_equal(tutti_record_end(queue, NULL), -EINVAL); /* this does not end the recording */
	assert_int_equal(tutti_dispatch(queue, &launches[1]), 0);
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	assert_int_equal(tutti_record_end(queue, &recording), -EINVAL);
	assert_int_equal(tutti_recording_kernels(recording), 2);
	assert_int_equal(tutti_recording_set_kernarg(recording, 2, NULL), -EINVAL);
	assert_int_equal(tutti_recording_set_grid(recording, 2, one), -EINVAL);
	assert_int_equal(tutti_recording_set_grid(recording, 1, NULL), -EINVAL);
	assert_int_equal(tutti_recording_set_grid(recording, 1, none), -EINVAL);
	assert_int_equal(tutti_recording_set_signal(recording, 2, NULL), -EINVAL);
	for (uintptr_t odd = 1; odd < 64; odd *= 2)
		assert_int_equal(
		    tutti_recording_set_signal(recording, 1, (tutti_signal_t)((uintptr_t)signals[0] + odd)), -EINVAL);
	assert_int_equal(tutti_recording_form(recording, TUTTI_REPLAY_PLAIN + 1), -EINVAL);
	assert_int_equal(tutti_recording_form(recording, (enum tutti_replay_form) - 1), -EINVAL);
	assert_int_equal(tutti_recording_form(recording, TUTTI_REPLAY_PLAIN), 0);
	assert_int_equal(replay(queue, recording), 2);
	assert_packet(queue, 0, 0, false);
	assert_packet(queue, 1, 1, false); /* what was refused has changed nothing */
	assert_int_equal(tutti_recording_destroy(NULL), 0);
	assert_int_equal(tutti_recording_destroy(recording), 0);
	assert_int_equal(tutti_recording_kernels(recording), 0);
	assert_int_equal(tutti_recording_packets(recording), 0);
	assert_int_equal(tutti_replay(recording), -EINVAL);
	assert_int_equal(tutti_recording_form(recording, TUTTI_REPLAY_CONDENSED), -EINVAL);
	assert_int_equal(tutti_recording_set_kernarg(recording, 0, NULL), -EINVAL);
	assert_int_equal(tutti_recording_set_grid(recording, 0, one), -EINVAL);
	assert_int_equal(tutti_recording_set_signal(recording, 0, NULL), -EINVAL);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* A replay sends nothing to a stopped queue, whatever its form, and whether or not it is the first replay. */
static void stopped_queue(void **state)
{
	for (enum tutti_replay_form form = TUTTI_REPLAY_CONDENSED; form <= TUTTI_REPLAY_PLAIN; form++)
		for (unsigned earlier = 0; earlier < 2; earlier++) {
			struct tutti_queue *queue = queue_with(0, 64, false, NULL);
			struct tutti_recording *recording;
			uint64_t written;

			different(3);
			recording = in_form(queue, 3, form);
			if (earlier)
				replay(queue, recording);
			written = *queue->write_index;
			queue_error_take(device, &(struct tutti_fault){.code = TUTTI_ERROR_PACKET,
								       .queue = (uint16_t)queue->id,
								       .packet = written});
			assert_int_equal(tutti_replay(recording), -EIO);
			assert_true(*queue->write_index == written);
			assert_int_equal(tutti_queue_reset(queue), 0);
			take_packets(queue);
			assert_int_equal(replay(queue, recording),
					 3); /* the references are sent again, since the card has lost them */
			assert_int_equal(tutti_recording_destroy(recording), 0);
			assert_int_equal(tutti_queue_destroy(queue), 0);
		}
}

static void stops_in_sleep(struct tutti_device *of, uint64_t seen, uint64_t deadline)
{
	struct tutti_fault fault = {
	    .code = TUTTI_ERROR_PACKET, .queue = (uint16_t)kicked->id, .packet = *kicked->read_index};

	if (pthread_equal(pthread_self(), test_thread))
		queue_error_take(of, &fault);
}

/*
 * If the queue stops while a replay waits for room, the replay sends nothing more. The recording then owes its signals until
 * the card has taken the packets that were sent last.
 */
static void stops_meanwhile(void **state)
{
	struct tutti_queue *queue = queue_with(0, 64, false, NULL);
	struct tutti_recording *recording;

	kicked = queue;
	different(40);
	launches[0].signal = signals[2];
	recording = in_form(queue, 40, TUTTI_REPLAY_PLAIN);
	assert_int_equal(replay(queue, recording), 40);
	transport.sleep = stops_in_sleep;
	assert_int_equal(tutti_replay(recording), -EIO); /* there is no room for the first part */
	assert_true(*queue->write_index == 40);
	assert_true(owed_when(queue, 39, -1));
	assert_false(owed_when(queue, 40, -1));
	assert_int_equal(tutti_queue_reset(queue), 0);
	take_packets(queue);
	for (unsigned i = 0; i < 30; i++) {
		struct tutti_launch one = a_launch(0, 0, NULL);

		assert_int_equal(tutti_dispatch(queue, &one), 0);
	}
	assert_int_equal(tutti_replay(recording), -EIO); /* the first part is sent; the second has no room */
	assert_true(*queue->write_index == 70 + 32);
	transport.sleep = sleep_card;
	assert_true(owed_when(queue, 70, -1));
	assert_true(owed_when(queue, 101, -1));
	assert_false(owed_when(queue, 102, -1));
	assert_int_equal(tutti_recording_destroy(recording), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* Destroying a queue also destroys the recording that is in progress in it. */
static void queue_goes_meanwhile(void **state)
{
	struct tutti_queue *queue = queue_with(0, 64, false, NULL);
	struct tutti_recording *recording;

	different(1);
	recording = recorded(queue, 1);
	assert_int_equal(tutti_record_begin(queue), 0);
	assert_int_equal(tutti_dispatch(queue, &launches[0]), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	assert_int_equal(tutti_recording_destroy(recording), 0);
}

#define R(f) cmocka_unit_test_setup_teardown(f, open_card, close_fake)

int main(void)
{
	static const struct CMUnitTest tests[] = {R(all_launches),
						  R(changed_launches),
						  R(as_the_queue_says),
						  R(references_are_sent_once),
						  R(parts),
						  R(replays_in_order),
						  R(newest_replay),
						  R(known_to_the_queue),
						  R(gives_its_entries_back),
						  R(refused),
						  R(stopped_queue),
						  R(never_to_another_queue),
						  R(stops_meanwhile),
						  R(queue_goes_meanwhile)};

	return cmocka_run_group_tests_name("PKT-06, PKT-10, PKT-22 packets that a recording sends", tests, NULL, NULL);
}
