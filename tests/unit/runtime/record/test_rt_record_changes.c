/* SPDX-License-Identifier: MIT */
/* Changes of recorded launches: which are refused, and when a wait for a signal is in vain (PKT-10, PKT-22, SYS-41). */
#include "queue/lost.h"
#include "rt_rig.h"
#include "tutti/record_api.h"

#define LAUNCHES 40u

static struct tutti_queue *queue;
static tutti_signal_t signals[2];

static int open_with(void **state, bool deterministic)
{
	int error = open_fake(state);

	device->deterministic = deterministic;
	fake.deaf = true; /* the card takes no packets */
	for (unsigned i = 0; i < 2 && !error; i++)
		error = tutti_signal_create(device, 1, &signals[i]);
	if (!error)
		queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	return error;
}

static int open_queue(void **state)
{
	return open_with(state, false);
}

static int open_deterministic(void **state)
{
	return open_with(state, true);
}

static int close_queue(void **state)
{
	return tutti_queue_destroy(queue) || close_fake(state);
}

/* Records @n launches, of which the last has @signal. */
static struct tutti_recording *recorded(unsigned n, tutti_signal_t signal)
{
	struct tutti_recording *recording;

	assert_int_equal(tutti_record_begin(queue), 0);
	for (unsigned i = 0; i < n; i++) {
		struct tutti_launch launch = a_launch(0, 64 * i, i == n - 1 ? signal : NULL);

		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	}
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	return recording;
}

static bool given_up(tutti_signal_t signal)
{
	int error = tutti_signal_wait(device, signal, TUTTI_EQ, 0, 0, NULL);

	assert_true(error == -EIO || error == -ETIMEDOUT);
	return error == -EIO;
}

/* A signal that was given up is owed again once a replay names it, in each form, in the first replay and in later ones. */
static void owed_again(void **state)
{
	for (enum tutti_replay_form form = TUTTI_REPLAY_CONDENSED; form <= TUTTI_REPLAY_PLAIN; form++) {
		struct tutti_recording *recording = recorded(LAUNCHES, signals[0]);

		assert_int_equal(tutti_recording_form(recording, form), 0);
		for (unsigned round = 0; round < 3; round++) {
			lost_by_failure(device, signals[0], tutti_signal_load(signals[0]));
			lost_by_failure(device, signals[1], tutti_signal_load(signals[1]));
			assert_true(given_up(signals[0]));
			assert_int_equal(tutti_replay(recording), 0);
			take_packets(queue); /* the ring no longer says what is owed; the kernels still run */
			assert_false(given_up(signals[0]));
			assert_true(given_up(signals[1])); /* no launch names it */
		}
		assert_int_equal(tutti_recording_destroy(recording), 0);
	}
}

/* A signal is set only if a packet may name it: the card would change memory of somebody else. */
static void set_signals(void **state)
{
	static uint64_t words[8] __attribute__((aligned(64)));
	struct tutti_recording *recording = recorded(2, NULL);
	tutti_signal_t signal;
	void *own;

	assert_int_equal(tutti_signal_create(device, 1, &signal), 0);
	assert_int_equal(tutti_recording_set_signal(recording, 1, signal), 0);
	assert_int_equal(tutti_signal_destroy(device, signal), 0);
	assert_int_equal(tutti_recording_set_signal(recording, 1, signal), -EINVAL);
	assert_int_equal(tutti_recording_set_signal(recording, 1, (tutti_signal_t)words), -EINVAL);
	assert_int_equal(tutti_recording_set_signal(recording, 1, NULL), 0);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 4096, &own), 0);
	assert_int_equal(tutti_recording_set_signal(recording, 1, own), 0); /* one that the application keeps */
	assert_int_equal(tutti_recording_set_signal(recording, 1, (tutti_signal_t)((char *)own + 8)), -EINVAL);
	assert_int_equal(tutti_recording_set_signal(recording, 1, NULL), 0);
	assert_int_equal(tutti_memory_free(device, own), 0);
	/* to name a signal does not mean yet that it is owed */
	lost_by_failure(device, signals[0], tutti_signal_load(signals[0]));
	assert_int_equal(tutti_recording_set_signal(recording, 0, signals[0]), 0);
	assert_true(given_up(signals[0]));
	assert_int_equal(tutti_replay(recording), 0);
	assert_false(given_up(signals[0]));
	assert_int_equal(tutti_recording_destroy(recording), 0);
}

static void stop_at(uint64_t packet)
{
	struct tutti_fault fault = {
	    .code = TUTTI_ERROR_KERNEL_TRAP, .queue = (uint16_t)queue->id, .packet = packet};

	queue_error_take(device, &fault);
}

/* The card stops the queue at the packet sent last, of which it has taken all or none. */
static void stop(bool taken)
{
	if (taken)
		take_packets(queue);
	stop_at(*queue->write_index - 1);
}

/* Packets that were sent owe the signals they were sent with, whatever becomes of their recording. */
static void owed_as_sent(void **state)
{
	for (unsigned way = 0; way < 8; way++) {
		struct tutti_recording *recording = recorded(LAUNCHES, signals[0]);

		for (unsigned round = 0; round < 2; round++) { /* only the first replay sends references */
			take_packets(queue);
			assert_int_equal(tutti_replay(recording), 0);
		}
		if (way & 1)
			assert_int_equal(tutti_recording_set_signal(recording, LAUNCHES - 1, signals[1]), 0);
		if (way & 2)
			assert_int_equal(tutti_recording_destroy(recording), 0);
		assert_false(given_up(signals[0]));
		stop(way & 4);
		assert_true(given_up(signals[0]));
		assert_false(given_up(signals[1])); /* it would have been sent by the next replay */
		assert_int_equal(tutti_queue_reset(queue), 0);
		take_packets(queue);
		assert_false(given_up(signals[0]));
		for (unsigned i = 0; i < 63; i++) { /* the packet that failed is still in its slot */
			struct tutti_launch launch = a_launch(0, 0, NULL);

			assert_int_equal(tutti_dispatch(queue, &launch), 0);
			take_packets(queue);
		}
		stop(true);
		assert_false(given_up(signals[0]));
		assert_int_equal(tutti_queue_reset(queue), 0);
		assert_int_equal(tutti_recording_destroy(recording), way & 2 ? -EINVAL : 0);
	}
}

/* A kernel may fail when the card has taken later replays and other packets; it is told from those of other packets. */
static void owed_by_an_earlier_replay(void **state)
{
	struct tutti_recording *recording = recorded(LAUNCHES, signals[0]);
	struct tutti_launch launch = a_launch(1, 0, NULL);
	uint64_t replayed[3], dispatched[3];

	for (unsigned round = 0; round < 3; round++) {
		replayed[round] = *queue->write_index;
		assert_int_equal(tutti_replay(recording), 0);
		dispatched[round] = *queue->write_index;
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(tutti_dispatch(queue, &launch), 0);
		take_packets(queue);
	}
	for (unsigned round = 0; round < 3; round++) {
		stop_at(dispatched[round]);
		assert_false(given_up(signals[0]));
		assert_int_equal(tutti_queue_reset(queue), 0);
	}
	for (unsigned round = 1; round < 3; round++) { /* the first one sends other packets */
		stop_at(replayed[round]);
		assert_true(given_up(signals[0]));
		assert_false(given_up(signals[1]));
		assert_int_equal(tutti_queue_reset(queue), 0);
	}
	/* A signal that the launch has got since was not in that packet. */
	assert_int_equal(tutti_recording_set_signal(recording, LAUNCHES - 1, signals[1]), 0);
	assert_int_equal(tutti_replay(recording), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	take_packets(queue);
	stop_at(replayed[1]);
	assert_false(given_up(signals[1]));
	assert_int_equal(tutti_queue_reset(queue), 0);
	assert_int_equal(tutti_recording_destroy(recording), 0);
}

/* Signals in turn: what a replay was sent with is known until others have been written over its packets. */
static void signals_in_turn(void **state)
{
	struct tutti_recording *recording = recorded(LAUNCHES, signals[0]);
	unsigned kept = 0;

	for (unsigned round = 0; round < 1000; round++) {
		assert_int_equal(tutti_recording_set_signal(recording, LAUNCHES - 1, signals[round & 1]), 0);
		assert_int_equal(tutti_replay(recording), 0);
		take_packets(queue);
	}
	for (const struct owed *owed = queue_of(queue)->owed; owed; owed = owed->next)
		kept++;
	assert_in_range(kept, 1, 64);
	assert_int_equal(tutti_recording_destroy(recording), 0);
}

/* A grid that is not made of whole CGAs is refused when it is set, as the launch would have been, and changes nothing. */
static void set_grids(void **state)
{
	static const uint32_t whole[] = {128, 2, 3}, other[][3] = {{64, 2, 3}, {128, 3, 3}, {128, 2, 4}};
	struct tutti_launch launch = a_launch(0, 0, NULL);
	struct tutti_recording *recording;

	device->known.sms = 8;
	device->known.cta_slots = 16;
	device->known.peus = device->known.peu_waves = 8;
	device->known.cga_ctas = 12;
	device->known.gpcs = 1;
	device->known.gpc[0].sms = 8;
	assert_int_equal(tutti_record_begin(queue), 0);
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	descriptor.cga_kind = TUTTI_CGA_GPC;
	descriptor.cga[0] = 2;
	descriptor.cga[1] = 2;
	descriptor.cga[2] = 3;
	memcpy(launch.grid, whole, sizeof(whole));
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	descriptor.cga_kind = TUTTI_CGA_NONE;
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	memset(descriptor.cga, 0, sizeof(descriptor.cga));
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	assert_int_equal(tutti_recording_form(recording, TUTTI_REPLAY_PLAIN), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(tutti_recording_set_grid(recording, 0, other[i]), 0);
		assert_int_equal(tutti_recording_set_grid(recording, 1, other[i]), -EINVAL);
		assert_int_equal(tutti_recording_set_grid(recording, 2, other[i]), 0);
	}
	assert_int_equal(tutti_replay(recording), 0);
	assert_int_equal(tutti_queue_slot(queue, 1)->dispatch.grid_x, 128);
	assert_int_equal(tutti_queue_slot(queue, 1)->dispatch.grid_y, 2);
	assert_int_equal(tutti_queue_slot(queue, 1)->dispatch.grid_z, 3);
	assert_int_equal(tutti_recording_set_grid(recording, 1, (uint32_t[3]){256 - 63, 4, 6}), 0); /* the last one is not full */
	assert_int_equal(tutti_replay(recording), 0);
	assert_int_equal(tutti_queue_slot(queue, 4)->dispatch.grid_x, 256 - 63);
	assert_int_equal(tutti_recording_destroy(recording), 0);
}

static unsigned meddled;

/* Everything that a handler could do with the recording that is being replayed. */
static bool meddles(tutti_signal_t signal, int64_t value, int error, void *recording)
{
	meddled++;
	assert_int_equal(tutti_replay(recording), -EBUSY);
	assert_int_equal(tutti_recording_set_kernarg(recording, LAUNCHES - 1, NULL), -EBUSY);
	assert_int_equal(tutti_recording_set_grid(recording, LAUNCHES - 1, (uint32_t[3]){1}), -EBUSY);
	assert_int_equal(tutti_recording_set_signal(recording, LAUNCHES - 1, signal), -EBUSY);
	assert_int_equal(tutti_recording_form(recording, TUTTI_REPLAY_REFERENCE), -EBUSY);
	assert_int_equal(tutti_recording_destroy(recording), -EBUSY);
	assert_true(tutti_recording_packets(recording) > 0);
	return false;
}

/* Launches without a recording, so that a replay has to wait until the card takes them. */
static void fill_ring(void)
{
	struct tutti_launch launch = a_launch(1, 0, NULL);

	fake.deaf = true;
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	fake.deaf = false;
}

/*
 * Handlers of a deterministic device are called in the waits of any function, so also while a replay waits for room. They
 * find the recording busy, and the card gets what was recorded, in each form, by the first replay and by later ones.
 */
static void handlers_meddle(void **state)
{
	struct tutti_recording *recording = recorded(LAUNCHES, NULL);

	for (enum tutti_replay_form form = TUTTI_REPLAY_CONDENSED; form <= TUTTI_REPLAY_PLAIN; form++) {
		assert_int_equal(tutti_recording_form(recording, form), 0);
		for (unsigned round = 0; round < 3; round++) {
			unsigned before = fake.n + 64;

			fill_ring();
			meddled = 0;
			assert_int_equal(tutti_signal_handler(device, signals[0], TUTTI_EQ, 1, meddles, recording), 0);
			assert_int_equal(tutti_replay(recording), 0);
			assert_int_equal(meddled, 1);
			assert_int_equal(tutti_queue_drain(queue, TUTTI_WAIT_FOREVER), 0);
			assert_int_equal(fake.n - before, LAUNCHES);
			for (unsigned i = 0; i < LAUNCHES; i++)
				assert_int_equal(fake.ran[(before + i) % LOG].kernarg, 64 * i);
		}
	}
	assert_int_equal(tutti_recording_destroy(recording), 0);
}

#define R(f) cmocka_unit_test_setup_teardown(f, open_queue, close_queue)

int main(void)
{
	static const struct CMUnitTest tests[] = {R(owed_again), R(set_signals), R(owed_as_sent),
						  R(owed_by_an_earlier_replay),
						  R(signals_in_turn), R(set_grids),
						  cmocka_unit_test_setup_teardown(handlers_meddle, open_deterministic,
										  close_queue)};

	return cmocka_run_group_tests_name("PKT-10, PKT-22, SYS-41 changes of recorded launches", tests, NULL, NULL);
}
