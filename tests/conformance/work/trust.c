// SPDX-License-Identifier: MIT
/* Memory that user space writes while driver or card read it: only its owner is harmed. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"

/** struct vandal - a thread that writes random words until told to stop. */
struct vandal {
	pthread_t thread;
	volatile uint32_t *words;
	unsigned count;
	uint32_t keep; /* bits of a word that stay */
	bool stop;
};

static void *wreck(void *data)
{
	struct vandal *vandal = data;

	while (!__atomic_load_n(&vandal->stop, __ATOMIC_RELAXED)) {
		unsigned at = random32() % vandal->count;

		vandal->words[at] = (vandal->words[at] & vandal->keep) | (random32() & ~vandal->keep);
		if (!(at % 64))
			usleep(1); /* the guest has few processors */
	}
	return NULL;
}

static bool start(struct vandal *vandal, void *words, size_t bytes)
{
	*vandal = (struct vandal){.words = words, .count = (unsigned)(bytes / 4), .keep = vandal->keep};
	return !pthread_create(&vandal->thread, NULL, wreck, vandal);
}

static void stop(struct vandal *vandal)
{
	__atomic_store_n(&vandal->stop, true, __ATOMIC_RELAXED);
	pthread_join(vandal->thread, NULL);
}

/* The queue may stop and is reset, any number of times; the other queue always works. */
static bool beside_vandal(struct rig *rig, size_t at, size_t bytes, unsigned work)
{
	struct rig other = {.fd = -1};
	struct vandal vandal = {0};

	CHECK(rig_queue(rig) && rig_queue(&other) && start(&vandal, rig->memory + at, bytes));
	for (unsigned i = 0; i < work; i++) {
		rig_fill(rig, BASE + DATA_AT, i, PAGE, 0);
		rig_ring(rig);
		if (i % 4 == 0)
			queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET);
		if (!rig_works(&other)) {
			stop(&vandal);
			return fail(__FILE__, __LINE__, "the other queue works", 0, 1);
		}
	}
	stop(&vandal);
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	CHECK(rig_works(&other));
	rig_close(&other);
	return true;
}

static bool ring(struct rig *rig)
{
	return beside_vandal(rig, RING_AT, 64u << RING_LOG2, 60);
}

static bool read_index(struct rig *rig)
{
	return beside_vandal(rig, INDEX_AT, 8, 30);
}

static bool signals(struct rig *rig)
{
	return beside_vandal(rig, SIGNAL_AT, 4 * sizeof(struct tutti_signal), 30);
}

static bool code(struct rig *rig)
{
	static const uint32_t ret[] = {0x00008067};
	struct rig other = {.fd = -1};
	struct vandal vandal = {0};

	CHECK(rig_queue(rig) && rig_queue(&other));
	rig_code(rig, ret, sizeof(ret));
	CHECK(start(&vandal, rig->memory + CODE_AT, 256));
	for (unsigned i = 0; i < 30; i++) {
		rig_dispatch(rig, 2, 0, 0);
		rig_ring(rig);
		queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET);
		if (!rig_works(&other)) {
			stop(&vandal);
			return fail(__FILE__, __LINE__, "the other queue works", 0, 1);
		}
	}
	stop(&vandal);
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	rig_close(&other);
	return true;
}

/* Doorbell values from the past, the far future, and all bits. */
static bool doorbell(struct rig *rig)
{
	static const uint64_t values[] = {0, 1, 1000, 1ull << 32, 1ull << 63, ~0ull, ~0ull - 1};
	struct rig other = {.fd = -1};

	CHECK(rig_queue(rig) && rig_queue(&other));
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			struct drm_tutti_kick kick = {0};

			*rig->doorbell = values[i];
			EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_KICK, &kick));
			CHECK(rig_works(&other) && rig_works(rig));
		}
	rig_close(&other);
	return true;
}

/* The kernel channel's messages have no meaning in a user's ring. */
static bool channel_messages(struct rig *rig)
{
	for (unsigned type = 0; type <= TUTTI_MSG_QUEUE_ERROR; type++) {
		union tutti_packet *slot;
		struct tutti_fault fault;

		if (type <= TUTTI_PACKET_BARRIER_OR) /* a valid packet runs */
			continue;
		CHECK(rig_queue(rig));
		slot = rig_slot(rig);
		memset((uint8_t *)slot + 4, 0x11, sizeof(*slot) - 4);
		rig_publish(slot, type);
		rig_ring(rig);
		EXPECT(0, queue_error(rig, &fault));
		EXPECT(TUTTI_ERROR_PACKET, fault.code);
		rig_close(rig);
	}
	return true;
}

/** struct race - arguments that change while they are read. */
struct race {
	struct vandal vandal;
	uint64_t args[ARGS_MAX / 8];
};

/* If the driver read them twice, it would check one handle or size and use another. */
static bool arguments(struct rig *rig)
{
	struct rig other = {.fd = -1};
	struct race race;

	CHECK(rig_queue(rig) && rig_queue(&other));
	for (const struct call *it = calls; it->name; it++) {
		if (call_is_for_all(it) || it->request == DRM_IOCTL_TUTTI_WAIT)
			continue; /* the latter may sleep for long */
		memset(&race, 0, sizeof(race));
		CHECK(it->fill(rig, race.args));
		race.vandal.keep = 0xfffffff0u; /* small changes, so that arguments are valid now and then */
		CHECK(start(&race.vandal, race.args, call_bytes(it)));
		for (unsigned i = 0; i < 60; i++)
			call(rig->fd, it->request, race.args);
		stop(&race.vandal);
		CHECK(rig_works(&other));
	}
	rig_close(rig);
	CHECK(rig_works(&other));
	rig_close(&other);
	return true;
}

/* The signal that a wait reads is the user's, too: value, waiters, flags, and the card's count. */
static bool waited_signal(struct rig *rig)
{
	struct vandal vandal = {0};

	CHECK(rig_queue(rig) && start(&vandal, rig->memory + SIGNAL_AT, sizeof(struct tutti_signal)));
	for (unsigned i = 0; i < 100; i++) {
		int error = rig_wait(rig, 0, 12345, SECOND / 500);

		CHECK(error == ETIME || !error);
	}
	stop(&vandal);
	CHECK(rig_works(rig));
	return true;
}

static const struct subtest trust_tests[] = {
	{"SYS-27: a ring that changes while it is read", ring},
	{"SYS-27: a read index that is overwritten", read_index},
	{"SYS-27: signals that change while the card posts", signals},
	{"SYS-27: a kernel that changes while it is launched", code},
	{"SYS-27: doorbell values out of nowhere", doorbell},
	{"SYS-27: messages of the kernel channel in a ring", channel_messages},
	{"SYS-27: arguments that change while they are read", arguments},
	{"SYS-27: a signal that changes while it is waited for", waited_signal},
	{0},
};

void trust_group(void)
{
	subtests(trust_tests);
}
