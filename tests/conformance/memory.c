// SPDX-License-Identifier: MIT
/* Buffers, mappings of the process, mappings of the card. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

static bool sizes(struct rig *rig)
{
	uint32_t handle;

	CHECK(rig_open(rig));
	EXPECT(EINVAL, bo_create(rig->fd, 0, DRM_TUTTI_PLACE_SYSTEM, &handle, NULL));
	EXPECT(EINVAL, bo_create(rig->fd, ~0ull, DRM_TUTTI_PLACE_SYSTEM, &handle, NULL));
	EXPECT(EINVAL, bo_create(rig->fd, 1ull << 60, DRM_TUTTI_PLACE_CARD, &handle, NULL));
	EXPECT(0, bo_create(rig->fd, 1, DRM_TUTTI_PLACE_CARD, &handle, NULL));
	return true;
}

/* What one process leaves in card memory, no other finds. */
static bool zeroed(struct rig *rig)
{
	for (unsigned placement = 0; placement < 2; placement++) {
		for (unsigned round = 0; round < 3; round++) {
			struct drm_gem_close gone = {0};
			uint64_t offset, *words;

			CHECK(rig->fd >= 0 || rig_open(rig));
			EXPECT(0, bo_create(rig->fd, 64 * PAGE, placement, &gone.handle, &offset));
			words = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
			CHECK(words != MAP_FAILED);
			for (unsigned i = 0; i < 64 * PAGE / 8; i++)
				CHECK(!words[i]);
			memset(words, 0xa5, 64 * PAGE);
			munmap(words, 64 * PAGE);
			EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &gone));
		}
	}
	return true;
}

static bool exhaustion(struct rig *rig)
{
	uint32_t handle;
	int error = 0;
	unsigned rounds;

	for (unsigned again = 0; again < 2; again++) {
		CHECK(rig_open(rig));
		for (rounds = 0; !error && rounds < 4096; rounds++)
			error = bo_create(rig->fd, 8ull << 20, DRM_TUTTI_PLACE_CARD, &handle, NULL);
		EXPECT(ENOSPC, error);
		CHECK(rounds > 1);
		rig_close(rig);
		error = 0;
	}
	return true;
}

static bool bad_mmap(struct rig *rig, uint64_t offset, size_t bytes, int protection, int flags, int wanted)
{
	void *page = mmap(NULL, bytes, protection, flags, rig->fd, (off_t)offset);

	CHECK(page == MAP_FAILED);
	EXPECT(wanted, errno);
	return true;
}

static bool mmap_doorbell(struct rig *rig)
{
	const int both = PROT_READ | PROT_WRITE;

	CHECK(rig_queue(rig));
	CHECK(bad_mmap(rig, rig->doorbell_offset, 2 * PAGE, both, MAP_SHARED, EINVAL));
	CHECK(bad_mmap(rig, rig->doorbell_offset, PAGE, both, MAP_PRIVATE, EINVAL));
	CHECK(bad_mmap(rig, rig->doorbell_offset + PAGE, PAGE, both, MAP_SHARED, EINVAL));
	CHECK(bad_mmap(rig, DRM_TUTTI_MMAP_OFFSET(5ull, 0), PAGE, both, MAP_SHARED, EINVAL));
	return true;
}

/* Only status and counters, and never to write. */
static bool mmap_window(struct rig *rig)
{
	CHECK(rig_queue(rig));
	for (unsigned i = 0; i < 8; i++)
		CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd,
			   (off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, i)) == MAP_FAILED);
	CHECK(bad_mmap(rig, DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, 0), PAGE, PROT_READ, MAP_SHARED, EINVAL));
	CHECK(mprotect((void *)((uintptr_t)rig->asleep & ~(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE));
	EXPECT(EACCES, errno);
	return true;
}

static bool mmap_buffer(struct rig *rig)
{
	struct drm_tutti_bo_info info = {0};

	CHECK(rig_memory(rig));
	info.handle = rig->bo;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_INFO, &info));
	EXPECT(RIG_BYTES, info.size);
	CHECK(bad_mmap(rig, info.mmap_offset, RIG_BYTES + PAGE, PROT_READ, MAP_SHARED, EINVAL));
	CHECK(bad_mmap(rig, info.mmap_offset, RIG_BYTES, PROT_READ, MAP_PRIVATE, EINVAL));
	return true;
}

static bool map_ranges(struct rig *rig)
{
	struct drm_tutti_map map;

	CHECK(rig_memory(rig));
	EXPECT(EINVAL, bo_map(rig->fd, rig->context, rig->bo, 2 * BASE, 0));
	EXPECT(EINVAL, bo_map(rig->fd, rig->context, rig->bo, 2 * BASE + 1, PAGE));
	EXPECT(EINVAL, bo_map(rig->fd, rig->context, rig->bo, 2 * BASE, PAGE + 8));
	EXPECT(EINVAL, bo_map(rig->fd, rig->context, rig->bo, 2 * BASE, RIG_BYTES + PAGE));
	EXPECT(EINVAL, bo_map(rig->fd, rig->context, rig->bo, 1ull << 47, PAGE));
	EXPECT(EINVAL, bo_map(rig->fd, rig->context, rig->bo, (1ull << 47) - PAGE, 2 * PAGE));
	EXPECT(EEXIST, bo_map(rig->fd, rig->context, rig->bo, BASE + PAGE, PAGE));
	map = (struct drm_tutti_map){.context = rig->context, .bo = rig->bo, .address = 2 * BASE,
				     .offset = -PAGE, .bytes = 2 * PAGE, .access = 1};
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_MAP, &map));
	map.offset = 0;
	map.access = 0;
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_MAP, &map));
	map.access = DRM_TUTTI_ACCESS_WRITE;
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_MAP, &map));
	map.access = 9;
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_MAP, &map));
	return true;
}

static int unmap(struct rig *rig, uint64_t address, uint64_t bytes)
{
	struct drm_tutti_range range = {.context = rig->context, .address = address, .bytes = bytes};

	return call(rig->fd, DRM_IOCTL_TUTTI_UNMAP, &range);
}

static bool unmap_ranges(struct rig *rig)
{
	CHECK(rig_queue(rig));
	EXPECT(EBUSY, unmap(rig, BASE, RIG_BYTES));
	EXPECT(EBUSY, unmap(rig, BASE + INDEX_AT, PAGE));
	EXPECT(ENOENT, unmap(rig, 2 * BASE, PAGE));
	EXPECT(EINVAL, unmap(rig, BASE, 0));
	/* a hole, and the hole filled again */
	EXPECT(0, unmap(rig, BASE + DATA_AT, PAGE));
	EXPECT(ENOENT, unmap(rig, BASE + DATA_AT, PAGE));
	EXPECT(EEXIST, bo_map(rig->fd, rig->context, rig->bo, BASE + DATA_AT, 2 * PAGE));
	struct drm_tutti_map map = {.context = rig->context, .bo = rig->bo, .address = BASE + DATA_AT,
				    .offset = DATA_AT, .bytes = PAGE, .access = 3};
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_MAP, &map));
	CHECK(rig_works(rig));
	return true;
}

/* A large leaf loses a page in its middle; what is beside it still works. */
static bool unmap_large(struct rig *rig)
{
	uint64_t offset, at = 0x200000000ull;
	volatile uint32_t *words;
	uint32_t handle;

	CHECK(rig_queue(rig));
	EXPECT(0, bo_create(rig->fd, 4ull << 20, DRM_TUTTI_PLACE_CARD, &handle, &offset));
	words = mmap(NULL, 4ull << 20, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(words != MAP_FAILED);
	EXPECT(0, bo_map(rig->fd, rig->context, handle, at, 4ull << 20));
	EXPECT(0, unmap(rig, at + 5 * PAGE, PAGE));
	for (unsigned page = 4; page <= 6; page += 2) {
		rig_signal(rig, 0, 1);
		rig_fill(rig, at + page * PAGE, 0x600d0000 + page, PAGE, 0);
		rig_ring(rig);
		EXPECT(0, rig_wait(rig, 0, 0, 10 * SECOND));
		EXPECT(0x600d0000 + page, words[page * PAGE / 4]);
		EXPECT(0x600d0000 + page, words[(page + 1) * PAGE / 4 - 1]);
	}
	munmap((void *)words, 4ull << 20);
	return true;
}

static bool card_buffer(struct rig *rig)
{
	uint64_t offset;
	uint32_t handle, *words;

	CHECK(rig_queue(rig));
	EXPECT(0, bo_create(rig->fd, 16 * PAGE, DRM_TUTTI_PLACE_CARD, &handle, &offset));
	words = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(words != MAP_FAILED);
	EXPECT(0, bo_map(rig->fd, rig->context, handle, 2 * BASE, 16 * PAGE));
	rig_signal(rig, 0, 1);
	rig_fill(rig, 2 * BASE, 0xcafe, 16 * PAGE, 0);
	rig_ring(rig);
	EXPECT(0, rig_wait(rig, 0, 0, 10 * SECOND));
	for (unsigned i = 0; i < 16 * PAGE / 4; i++)
		CHECK(words[i] == 0xcafe);
	munmap(words, 16 * PAGE);
	return true;
}

const struct subtest memory_tests[] = {
	{"sizes of a buffer", sizes},
	{"new buffers are zero", zeroed},
	{"card memory runs out and comes back", exhaustion},
	{"mmap of a doorbell", mmap_doorbell},
	{"mmap of the control window", mmap_window},
	{"mmap of a buffer", mmap_buffer},
	{"ranges of a map", map_ranges},
	{"ranges of an unmap", unmap_ranges},
	{"hole in a large leaf", unmap_large},
	{"buffer in card memory", card_buffer},
	{0},
};
