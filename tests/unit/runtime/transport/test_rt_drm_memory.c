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

int main(void)
{
	const struct CMUnitTest tests[] = {
		T("SYS-42: card and process see the same memory where freed memory is used again",
		  card_and_process_see_the_same_memory),
	};

	return cmocka_run_group_tests_name("drm memory", tests, NULL, NULL);
}
