/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=ioctl */
/* Buffers of the driver behind the pools of memory, and how they are mapped for the card (SYS-42). */
#include "drm_rig.h"

static void *card_alloc(struct tutti_device *device, size_t bytes)
{
	void *address;

	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, bytes, &address), 0);
	return address;
}

/* What the process writes into each page of a mapping is in the buffer that the card was given for it. */
static void check_map(const struct drm_tutti_map *map)
{
	for (uint64_t at = 0; at < map->bytes; at += TUTTI_PAGE_SIZE) {
		uint64_t value = 0x5eed0000 + at / TUTTI_PAGE_SIZE, got = 0;
		off_t offset = (off_t)(driver.offset[map->bo - BUFFER_FIRST] + map->offset + at);

		*(volatile uint64_t *)(uintptr_t)(map->address + at) = value;
		assert_int_equal(pread(driver.fd, &got, sizeof(got), offset), sizeof(got));
		assert_int_equal(got, value);
	}
}

/* The maps from @first on are those of the range, one behind another. */
static void check_range(unsigned first, const void *address, size_t bytes)
{
	uint64_t at = (uintptr_t)address;

	for (unsigned i = first; i < driver.maps; i++) {
		assert_int_equal(driver.map[i].address, at);
		check_map(&driver.map[i]);
		at += driver.map[i].bytes;
	}
	assert_int_equal(at - (uintptr_t)address, bytes);
}

/* Memory is committed in chunks of 4 MiB, each a buffer. What is freed and used again may lie across two of them. */
static void card_and_process_see_the_same_memory(void **state)
{
	const size_t mib = 1u << 20;
	struct tutti_device *device = open_device();
	uint8_t *a = card_alloc(device, 3 * mib), *b = card_alloc(device, 3 * mib), *c;
	unsigned buffers = driver.buffers, maps;

	assert_ptr_equal(b, a + 3 * mib);
	assert_int_equal(tutti_memory_free(device, b), 0);
	maps = driver.maps;
	assert_ptr_equal(card_alloc(device, 3 * mib), b);
	assert_int_equal(driver.buffers, buffers);
	check_range(maps, b, 3 * mib);
	assert_int_equal(tutti_memory_free(device, b), 0);
	assert_int_equal(driver.unmapped.address, (uintptr_t)b);
	assert_int_equal(driver.unmapped.bytes, 3 * mib);
	assert_int_equal(tutti_memory_free(device, a), 0);
	maps = driver.maps;
	c = card_alloc(device, 7 * mib / 2);
	assert_ptr_equal(c, a);
	check_range(maps, c, 7 * mib / 2);
	assert_int_equal(tutti_memory_free(device, c), 0);
	/* If the second part cannot be mapped, the first one is unmapped again. */
	driver.maps_max = driver.maps + 1;
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 5 * mib, (void **)&c), -ENOSPC);
	assert_int_equal(driver.unmapped.address, (uintptr_t)a);
	assert_int_equal(driver.unmapped.bytes, 4 * mib);
	driver.maps_max = 0;
	maps = driver.maps;
	c = card_alloc(device, 5 * mib);
	check_range(maps, c, 5 * mib);
	assert_int_equal(driver.buffers, buffers);
	tutti_device_close(device);
}

/* A queue works, whose ring is what the process sees there and what the card was given. */
static struct tutti_queue *a_queue(struct tutti_device *device, enum tutti_memory pool, uint32_t packets)
{
	struct tutti_queue_options options = {.ring = pool, .packets = packets};
	union tutti_packet nothing = {.barrier = {.header = tutti_header(TUTTI_PACKET_BARRIER_AND, 0, 0, 0)}};
	struct tutti_queue *queue;

	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_int_equal(driver.queue.ring, (uintptr_t)queue->ring);
	assert_int_equal(tutti_queue_submit(queue, &nothing), 0);
	assert_int_equal(queue->ring[0].barrier.header & TUTTI_HEADER_TYPE, TUTTI_PACKET_BARRIER_AND);
	return queue;
}

/* The driver wants each ring in one mapping. The pool's memory there may come from two buffers. */
static void a_ring_where_two_chunks_meet(void **state)
{
	const size_t chunk = 4u << 20;
	struct tutti_device *device = open_device();
	uint8_t *before = card_alloc(device, chunk - TUTTI_PAGE_SIZE), *behind;
	unsigned buffers = driver.buffers;
	struct tutti_queue *queue = a_queue(device, TUTTI_MEMORY_CARD, 1024);
	const struct drm_tutti_map *map = &driver.map[driver.maps - 1];

	assert_ptr_equal((uint8_t *)queue->ring, before + chunk - TUTTI_PAGE_SIZE);
	assert_true(driver.buffers > buffers);
	assert_true(map->address <= (uintptr_t)queue->ring);
	tutti_queue_destroy(queue);
	/* what is allocated there afterwards is the same memory for both */
	behind = card_alloc(device, 3u << 20);
	assert_int_equal(tutti_memory_free(device, behind), 0);
	buffers = driver.maps;
	assert_ptr_equal(card_alloc(device, 3u << 20), behind);
	check_range(buffers, behind, 3u << 20);
	tutti_device_close(device);
}

#define PIECE (64u << 10)

/*
 * Blocks that were freed and used again have mappings of their own, even if they lie side by side in one buffer. Number 4
 * and 5 of these are free again. The first one's mapping is driver.map[*first].
 */
static uint8_t *free_pieces(struct tutti_device *device, unsigned *first)
{
	uint8_t *run = card_alloc(device, 16 * PIECE);

	card_alloc(device, TUTTI_PAGE_SIZE);
	assert_int_equal(tutti_memory_free(device, run), 0);
	*first = driver.maps + 4;
	for (unsigned i = 0; i < 16; i++)
		assert_ptr_equal(card_alloc(device, PIECE), run + i * PIECE);
	for (unsigned i = 4; i < 6; i++)
		assert_int_equal(tutti_memory_free(device, run + i * PIECE), 0);
	return run + 4 * PIECE;
}

static void a_ring_where_mappings_meet(void **state)
{
	struct tutti_device *device = open_device();
	unsigned first;
	uint8_t *pieces = free_pieces(device, &first);

	assert_ptr_equal(a_queue(device, TUTTI_MEMORY_CARD, 2048)->ring, pieces);
	tutti_device_close(device);
}

/* If the driver refuses the one mapping, what is allocated there afterwards is still the same memory for both. */
static void no_ring_where_mappings_meet(void **state)
{
	struct tutti_queue_options options = {.ring = TUTTI_MEMORY_CARD, .packets = 2048};
	struct tutti_device *device = open_device();
	struct tutti_queue *queue;
	unsigned first, maps;
	uint8_t *pieces = free_pieces(device, &first);

	driver.refuses = DRM_IOCTL_TUTTI_UNMAP;
	maps = driver.maps_max = driver.maps;
	assert_int_equal(tutti_queue_create(device, &options, &queue), -EDQUOT);
	driver.refuses = 0;
	driver.maps_max = 0;
	assert_ptr_equal(card_alloc(device, 2 * PIECE), pieces);
	assert_int_equal(driver.maps, maps);
	check_map(&driver.map[first]);
	check_map(&driver.map[first + 1]);
	assert_int_equal(tutti_memory_free(device, pieces), 0);
	driver.map_fails = true;
	assert_int_equal(tutti_queue_create(device, &options, &queue), -ENOSPC);
	assert_ptr_equal(card_alloc(device, 2 * PIECE), pieces);
	check_range(maps, pieces, 2 * PIECE);
	tutti_device_close(device);
}

/* A program may be allowed less card memory than is free, and not in whole chunks: it gets all that it may have. */
static void all_that_is_allowed(void **state)
{
	const size_t mib = 1u << 20;
	struct tutti_device *device = open_device();
	void *none;

	driver.card_bytes_max = driver.card_bytes + 11 * mib;
	card_alloc(device, 3 * mib);
	card_alloc(device, 3 * mib);
	card_alloc(device, 4 * mib + mib / 2);
	for (unsigned i = 0; i < 8; i++)
		card_alloc(device, mib / 16);
	assert_int_equal(driver.card_bytes, driver.card_bytes_max);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 4096, &none), -ENOSPC);
	driver.card_bytes_max += 2 * mib;
	card_alloc(device, mib);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, mib + 4096, &none), -ENOSPC);
	card_alloc(device, mib);
	tutti_device_close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T("SYS-42: card and process see the same memory where freed memory is used again",
		  card_and_process_see_the_same_memory),
		T("SYS-42, PKT-07: a ring where two chunks of a pool meet", a_ring_where_two_chunks_meet),
		T("SYS-42, PKT-07: a ring where mappings meet", a_ring_where_mappings_meet),
		T("SYS-42, PKT-07: no ring where mappings meet", no_ring_where_mappings_meet),
		T("SYS-42: all card memory that a program is allowed can be allocated", all_that_is_allowed),
	};

	return cmocka_run_group_tests_name("drm memory", tests, NULL, NULL);
}
