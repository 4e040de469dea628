// SPDX-License-Identifier: MIT
/* link: -Wl,--allow-multiple-definition */
/*
 * The inline functions of the public headers, without the library behind them: what each stores and returns, and which
 * functions of the library it calls. They are compiled into every program, so that a new library cannot repair them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tutti/barrier.h"

static unsigned fences, full_fences;
#define tutti_fence_write_combined() (fences++)
#undef tutti_fence
#define tutti_fence() (full_fences++, __atomic_thread_fence(__ATOMIC_SEQ_CST))

#include "tutti/firmware.h"
#include "tutti/queue.h"
#include "tutti/sm_state.h"
#include "tutti/task.h"
#include "tutti/tensor_type.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* ---- in place of the library ---- */

static struct {
	unsigned waits, kicks, wakes;
	struct tutti_queue *queue;
	uint64_t first;
	uint32_t count;
	int answer;
} called;

int tutti_queue_wait_room(struct tutti_queue *queue, uint64_t first, uint32_t count)
{
	called.waits++;
	called.queue = queue;
	called.first = first;
	called.count = count;
	return called.answer;
}

void tutti_queue_kick(struct tutti_queue *queue)
{
	called.kicks++;
}

void tutti_signal_wake(tutti_signal_t signal)
{
	called.wakes++;
}

/* ---- queues ---- */

#define PACKETS 8u

static union tutti_packet ring[PACKETS];
static uint64_t write_index, read_index, doorbell;
static uint32_t asleep;

static struct tutti_queue queue_of(bool multi, uint64_t at)
{
	memset(ring, 0, sizeof(ring));
	memset(&called, 0, sizeof(called));
	write_index = read_index = at;
	doorbell = ~0ull;
	asleep = fences = full_fences = 0;
	/* a single producer does not read the index while it knows of room, several always do */
	if (!multi)
		read_index = at - 100 * PACKETS;
	return (struct tutti_queue){.ring = ring, .mask = PACKETS - 1, .write_index = &write_index, .read_index = &read_index,
				    .doorbell = &doorbell, .room = multi ? 0 : at + PACKETS, .multi = multi};
}

/* Packets are reserved while there is room. When there is none, they get their indices, and the library waits for room. */
static void reservations(void **state)
{
	for (unsigned multi = 0; multi < 2; multi++)
		for (uint32_t count = 1; count <= PACKETS; count++) {
			struct tutti_queue queue = queue_of(multi, 1000);
			uint64_t index = 7, next = 1000;

			for (; next + count <= 1000 + PACKETS; next += count) {
				assert_int_equal(tutti_queue_reserve(&queue, count, &index), 0);
				assert_int_equal(index, next);
				assert_int_equal(write_index, next + count);
			}
			assert_int_equal(called.waits, 0);
			called.answer = -5;
			index = 7;
			assert_int_equal(tutti_queue_reserve(&queue, count, &index), -5);
			assert_int_equal(called.waits, 1);
			assert_ptr_equal(called.queue, &queue);
			assert_int_equal(called.first, next);
			assert_int_equal(called.count, count);
			assert_int_equal(index, next);
			assert_int_equal(write_index, next + count);
			/* the card has taken just enough */
			if (multi)
				read_index = next + 2 * count - PACKETS;
			else
				queue.room = next + 2 * count;
			called.answer = 0;
			assert_int_equal(tutti_queue_reserve(&queue, count, &index), 0);
			assert_int_equal(called.waits, 1);
			assert_int_equal(index, next + count);
		}
}

static void no_reservation(void **state)
{
	for (unsigned multi = 0; multi < 2; multi++) {
		struct tutti_queue queue = queue_of(multi, 0);
		uint64_t index = 7;

		called.answer = -22;
		assert_int_equal(tutti_queue_reserve(&queue, PACKETS + 1, &index), -22);
		assert_int_equal(called.waits, 1);
		assert_int_equal(called.first, 0);
		assert_int_equal(called.count, PACKETS + 1);
		assert_int_equal(index, 0);
		assert_int_equal(write_index, 0);
		index = 7;
		assert_int_equal(tutti_queue_reserve(NULL, 1, &index), -22);
		assert_null(called.queue);
		assert_int_equal(index, 0);
	}
}

/* A ring of one or two packets can be reserved as a whole. Reserving more fails and leaves the write index unchanged. */
static void no_reservation_in_small_rings(void **state)
{
	for (unsigned multi = 0; multi < 2; multi++)
		for (uint32_t packets = 1; packets <= 2; packets++) {
			struct tutti_queue queue = queue_of(multi, 0);
			uint64_t index = 7;

			queue.mask = packets - 1;
			queue.room = packets;
			called.answer = -22;
			assert_int_equal(tutti_queue_reserve(&queue, packets + 1, &index), -22);
			assert_int_equal(write_index, 0);
			assert_int_equal(tutti_queue_reserve(&queue, packets, &index), 0);
			assert_int_equal(write_index, packets);
		}
}

static void puts_packets(void **state)
{
	for (unsigned combined = 0; combined < 2; combined++) {
		struct tutti_queue queue = queue_of(false, 1000);
		union tutti_packet packet;
		uint64_t index;

		if (combined)
			queue.flags = TUTTI_QUEUE_WRITE_COMBINED;
		for (unsigned i = 0; i < 16; i++)
			packet.word[i] = 0x100 + i;
		for (unsigned i = 0; i < PACKETS; i++) {
			assert_int_equal(tutti_queue_put(&queue, &packet, &index), 0);
			assert_int_equal(index, 1000 + i);
			assert_ptr_equal(tutti_queue_slot(&queue, index), &ring[i]);
			assert_memory_equal(&ring[i], &packet, sizeof(packet));
			if (i + 1 < PACKETS)
				assert_int_equal(ring[i + 1].word[0] | ring[i + 1].word[1], 0);
			assert_int_equal(doorbell, 1000 + i);
			assert_int_equal(fences, combined * 2 * (i + 1)); /* before the head, and before the doorbell */
		}
		doorbell = 7;
		called.answer = -5;
		packet.word[3] = 9;
		assert_int_equal(tutti_queue_put(&queue, &packet, &index), -5);
		assert_int_equal(tutti_queue_submit(&queue, &packet), -5);
		assert_int_equal(doorbell, 7);
		assert_int_equal(ring[0].word[3], 0x103);
	}
}

/* The head alone makes a packet ready. */
static void publishes(void **state)
{
	struct tutti_queue queue = queue_of(false, 0);

	memset(ring, 0x55, sizeof(ring));
	tutti_queue_publish(&queue, PACKETS + 3, 0x12345678);
	assert_int_equal(ring[3].word[0], 0x12345678);
	for (unsigned i = 1; i < 16; i++)
		assert_int_equal(ring[3].word[i], 0x55555555);
	assert_int_equal(ring[2].word[0] & ring[4].word[0], 0x55555555);
}

static void rings(void **state)
{
	struct tutti_queue queue = queue_of(false, 0);

	tutti_queue_ring(NULL, 5);
	tutti_queue_ring(&queue, 5);
	assert_int_equal(doorbell, 5);
	assert_int_equal(called.kicks, 0);
	queue.asleep = &asleep;
	tutti_queue_ring(&queue, 6);
	assert_int_equal(called.kicks, 0);
	assert_int_equal(full_fences, 1); /* between the doorbell and the look whether the card sleeps */
	asleep = 1;
	tutti_queue_ring(&queue, 7);
	assert_int_equal(doorbell, 7);
	assert_int_equal(called.kicks, 1);
}

/* ---- signals ---- */

static const int64_t values[] = {0, 1, -1, 5, INT64_MAX, INT64_MIN, TUTTI_SIGNAL_CANCELLED};

/* Each operation on a signal of both kinds, with and without sleepers. */
static void operations(void **state)
{
	for (unsigned i = 0; i < LENGTH(values); i++)
		for (unsigned kind = 0; kind < 4; kind++) {
			const uint64_t v = (uint64_t)values[i], done = kind & 1 ? 1000 : 0;
			struct tutti_signal s = {.flags = kind & 1 ? TUTTI_SIGNAL_SPLIT : 0, .waiters = kind >> 1,
						 .card_done = kind & 1 ? 1000 : 77, .event = 9};
			int64_t seen = 77;
			unsigned wakes = 0;

#define HOLDS(expected, woken)                                                              \
	do {                                                                                \
		assert_true((uint64_t)tutti_signal_load(&s) == (uint64_t)(expected));       \
		assert_true((uint64_t)s.value == (uint64_t)(expected) + done);              \
		wakes += (woken) && s.waiters;                                              \
		assert_int_equal(called.wakes, wakes);                                      \
	} while (0)
			memset(&called, 0, sizeof(called));
			tutti_signal_store_silent(&s, values[i]);
			HOLDS(v, false);
			assert_int_equal(s.event, 0);
			s.event = 9;
			tutti_signal_store(&s, values[i]);
			HOLDS(v, true);
			assert_int_equal(s.event, 0);
			s.event = 9;
			tutti_signal_add(&s, 3);
			HOLDS(v + 3, true);
			tutti_signal_subtract(&s, 5);
			HOLDS(v - 2, true);
			assert_int_equal(s.event, 9);
			assert_true(tutti_signal_exchange(&s, values[i]) == (int64_t)(v - 2));
			HOLDS(v, true);
			assert_int_equal(s.event, 0);
			assert_true(tutti_signal_cas(&s, (int64_t)(v + 1), 42) == values[i]);
			HOLDS(v, false);
			assert_true(tutti_signal_cas(&s, values[i], 42) == values[i]);
			HOLDS(42, true);
			tutti_signal_and(&s, 0x2b);
			HOLDS(42 & 0x2b, true);
			tutti_signal_or(&s, 0x100);
			HOLDS((42 & 0x2b) | 0x100, true);
			tutti_signal_xor(&s, 0x1ff);
			HOLDS(((42 & 0x2b) | 0x100) ^ 0x1ff, true);
			assert_true(tutti_signal_look(&s, &seen) && seen == tutti_signal_load(&s));
			assert_int_equal(s.card_done, kind & 1 ? 1000 : 77);
#undef HOLDS
		}
}

static void replaces(void **state)
{
	struct tutti_signal s = {.value = 5, .waiters = 1};
	int64_t old = 4;

	memset(&called, 0, sizeof(called));
	assert_false(tutti_signal_replace(&s, &old, 9));
	assert_int_equal(old, 5);
	assert_int_equal(s.value, 5);
	assert_int_equal(called.wakes, 0);
	assert_true(tutti_signal_replace(&s, &old, 9));
	assert_int_equal(s.value, 9);
	assert_int_equal(called.wakes, 1);
}

/* An operation on a NULL signal does nothing and wakes nobody; if it has a result, that is 0. */
static void no_signal(void **state)
{
	memset(&called, 0, sizeof(called));
	tutti_signal_store_silent(NULL, 5);
	tutti_signal_store(NULL, 5);
	tutti_signal_add(NULL, 5);
	tutti_signal_subtract(NULL, 5);
	tutti_signal_and(NULL, 5);
	tutti_signal_or(NULL, 5);
	tutti_signal_xor(NULL, 5);
	assert_int_equal(tutti_signal_load(NULL), 0);
	assert_int_equal(tutti_signal_exchange(NULL, 5), 0);
	for (int64_t expected = -1; expected <= 1; expected++)
		assert_int_equal(tutti_signal_cas(NULL, expected, 5), 0);
	assert_int_equal(called.wakes, 0);
	assert_true(tutti_signal_cancelled(TUTTI_SIGNAL_CANCELLED) && tutti_signal_cancelled(TUTTI_SIGNAL_FAILED - 1));
	assert_false(tutti_signal_cancelled(TUTTI_SIGNAL_FAILED) || tutti_signal_cancelled(-1) || tutti_signal_cancelled(0));
}

/* ---- firmware images ---- */

#define LOCAL 0x40000u
#define IMAGE_BYTES 4096u

static const uint8_t *summed;
static uint64_t summed_bytes;

static uint32_t checksum(const void *data, uint64_t bytes)
{
	summed = data;
	summed_bytes = bytes;
	return 0xc0ffee;
}

static struct tutti_image good_image(void)
{
	return (struct tutti_image){
		.magic = TUTTI_IMAGE_MAGIC, .crc = 0xc0ffee, .header_bytes = sizeof(struct tutti_image), .file_bytes = IMAGE_BYTES,
		.contract_min = 10, .contract_max = 12, .entry = 0x100, .segments = 3,
		.segment = {{0x100, 0x1000, 200, 0x800}, {0x1100, 0x10, 0, 0x10}, {0x80, 0x80, 300, 0}},
	};
}

static uint32_t checked(const struct tutti_image *image, uint64_t bytes)
{
	return tutti_image_check(image, bytes, checksum, LOCAL, 9, 11);
}

static void whole_images(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t result;
	} sizes[] = {{IMAGE_BYTES, TUTTI_IMAGE_OK}, {IMAGE_BYTES - 1, TUTTI_IMAGE_BAD_SIZE}, {IMAGE_BYTES + 1, TUTTI_IMAGE_BAD_SIZE},
		     {3, TUTTI_IMAGE_BAD_SIZE}, {4, TUTTI_IMAGE_BAD_SIZE}, {0, TUTTI_IMAGE_BAD_SIZE}};
	struct tutti_image image = good_image();

	for (unsigned i = 0; i < LENGTH(sizes); i++)
		assert_int_equal(checked(&image, sizes[i].bytes), sizes[i].result);
	assert_int_equal(checked(&image, IMAGE_BYTES), TUTTI_IMAGE_OK);
	assert_ptr_equal(summed, (const uint8_t *)&image + 8);
	assert_int_equal(summed_bytes, IMAGE_BYTES - 8);
#define RESULT(expected, change)                                      \
	do {                                                          \
		image = good_image();                                 \
		change;                                               \
		assert_int_equal(checked(&image, image.file_bytes), expected); \
	} while (0)
	RESULT(TUTTI_IMAGE_OK, image.file_bytes = sizeof(image); image.segments = 1; image.segment[0].file_bytes = image.segment[0].file_offset = 0);
	RESULT(TUTTI_IMAGE_BAD_SIZE, image.file_bytes = sizeof(image) - 1);
	RESULT(TUTTI_IMAGE_BAD_SIZE, image.header_bytes++);
	RESULT(TUTTI_IMAGE_BAD_CRC, image.crc++);
	RESULT(TUTTI_IMAGE_BAD_MAGIC, image.magic++);
	image.file_bytes = 0;
	assert_int_equal(checked(&image, 4), TUTTI_IMAGE_BAD_MAGIC);
	assert_int_equal(checked(&image, 3), TUTTI_IMAGE_BAD_SIZE); /* the file is too short to hold one */
	RESULT(TUTTI_IMAGE_OK, image.contract_min = 11);
	RESULT(TUTTI_IMAGE_BAD_VERSION, image.contract_min = 12);
	RESULT(TUTTI_IMAGE_OK, image.contract_min = image.contract_max = 9);
	RESULT(TUTTI_IMAGE_BAD_VERSION, image.contract_min = image.contract_max = 8);
}

static void segments_of_images(void **state)
{
	struct tutti_image image;

	RESULT(TUTTI_IMAGE_OK, image.entry = LOCAL - 2);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.entry = LOCAL);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.entry = 0x101);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segments = 0);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segments = TUTTI_IMAGE_SEGMENTS + 1);
	/* the other segments are empty, and end where the first one begins */
	RESULT(TUTTI_IMAGE_OK, image.segments = TUTTI_IMAGE_SEGMENTS);
	for (unsigned odd = 1; odd < 4; odd++)
		RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[0].memory_bytes = 0x800; image.segment[0].address += odd);
	RESULT(TUTTI_IMAGE_OK, image.segment[0].memory_bytes = 0x800; image.segment[0].address += 4);
	RESULT(TUTTI_IMAGE_OK, image.segment[1].address = LOCAL - 0x10);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[1].address = LOCAL - 0xc);
	RESULT(TUTTI_IMAGE_OK, image.segment[2].address = LOCAL; image.segment[2].memory_bytes = 0);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[2].address = LOCAL + 4; image.segment[2].memory_bytes = 0);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[2].address = 0xfffffffcu; image.segment[2].memory_bytes = 8);
	RESULT(TUTTI_IMAGE_OK, image.segment[0].file_bytes = 0x800; image.segment[0].memory_bytes = 0x800);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[0].file_bytes = 0x801; image.segment[0].memory_bytes = 0x800);
	RESULT(TUTTI_IMAGE_OK, image.segment[0].file_offset = IMAGE_BYTES - 0x800);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[0].file_offset = IMAGE_BYTES - 0x7ff);
	RESULT(TUTTI_IMAGE_OK, image.segment[2].file_offset = IMAGE_BYTES);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[2].file_offset = IMAGE_BYTES + 1);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[0].file_offset = 0xfffff800u);
	/* segments may touch but not overlap, in whatever order they are listed */
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[1].address = 0x10fc);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[2].memory_bytes = 0x81);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[2].address = 0x1100);
	RESULT(TUTTI_IMAGE_OK, image.segment[2].address = 0x1110);
	RESULT(TUTTI_IMAGE_BAD_SEGMENT, image.segment[2].address = 0x110c);
#undef RESULT
}

/* ---- tables ---- */

static void tables(void **state)
{
	static const uint32_t shifts[] = {32, 32, 32, 16, 32, 32, 32, 32, 32, 32, 24, 8, 32, 24, 24, 32, 32};
	static const struct {
		unsigned shift, is_float, load, tensor, block;
	} types[] = { /* what the CUDA manual allows, as bits: ADD 2, MIN 4, MAX 8, INC 10, DEC 20, AND 40, OR 80, XOR 100 */
		{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {2, 0, 0, 0x1fe, 0x1fe}, {2, 0, 0, 0x1ce, 0x1ce}, {3, 0, 0, 0x1ce, 0x1ce},
		{3, 0, 0, 0x1cc, 0x1cc}, {1, 1, 0, 0xe, 0xe}, {2, 1, 0, 2, 2}, {3, 1, 0, 0, 2}, {1, 1, 0, 0xe, 0xe},
		{2, 1, 0, 2, 2}, {2, 1, 1, 0, 0}, {2, 1, 1, 0, 0},
	};

	for (unsigned i = 0; i < LENGTH(shifts); i++)
		assert_int_equal(tutti_policy_shift(i), shifts[i]);
	assert_int_equal(LENGTH(types), TUTTI_TENSOR_TYPES);
	for (unsigned i = 0; i < TUTTI_TENSOR_TYPES; i++) {
		assert_int_equal(tutti_type_shift(i), types[i].shift);
		assert_int_equal(tutti_type_is_float(i), types[i].is_float);
		assert_int_equal(tutti_type_load(i), types[i].load);
		assert_int_equal(tutti_tensor_reductions(i), types[i].tensor);
		assert_int_equal(tutti_block_reductions(i), types[i].block);
	}
	for (unsigned i = TUTTI_TENSOR_TYPES; i < 40; i++) /* unknown ones */
		assert_false(tutti_type_is_float(i) || tutti_type_load(i) || tutti_tensor_reductions(i) || tutti_block_reductions(i));
	for (unsigned blocks = 0; blocks <= 256; blocks++) {
		unsigned words = tutti_map_words(blocks);

		assert_true(words * 32 >= blocks && (words == 1 || words * 16 < blocks));
		assert_true(words == 1 || words == 2 || words == 4 || words == 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-41, PKT-01: packets are reserved as far as there is room", reservations, NULL, NULL, NULL},
		{"SYS-41: more packets than a ring has, no queue", no_reservation, NULL, NULL, NULL},
		{"SYS-41: reserving more packets than a small ring has", no_reservation_in_small_rings, NULL, NULL, NULL},
		{"PKT-01: one packet, ordered where memory is write-combined", puts_packets, NULL, NULL, NULL},
		{"PKT-01: the head makes a packet ready", publishes, NULL, NULL, NULL},
		{"SYS-40: the doorbell, and a card that sleeps", rings, NULL, NULL, NULL},
		{"PKT-04: operations on signals, and whom they wake", operations, NULL, NULL, NULL},
		{"PKT-04: a value that has changed meanwhile is not replaced", replaces, NULL, NULL, NULL},
		{"PKT-04: no signal; what tells that work was cancelled", no_signal, NULL, NULL, NULL},
		{"SYS-05: images, rule by rule", whole_images, NULL, NULL, NULL},
		{"SYS-05: segments of images", segments_of_images, NULL, NULL, NULL},
		{"RES-03, TMA-25: policies, types, maps", tables, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("inline functions", tests, NULL, NULL);
}
