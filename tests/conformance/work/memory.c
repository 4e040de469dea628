// SPDX-License-Identifier: MIT
/* Buffers, mappings of the process, mappings of the card. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

static bool sizes(struct rig *rig)
{
	uint32_t handle;

	struct drm_tutti_bo_info info = {0};

	CHECK(rig_open(rig));
	for (unsigned placement = 0; placement < 2; placement++) {
		EXPECT(0, bo_create(rig->fd, 1, placement, &handle, NULL));
		info = (struct drm_tutti_bo_info){.handle = handle};
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_INFO, &info));
		EXPECT(PAGE, info.size);
		EXPECT(placement, info.placement);
	}
	EXPECT(EINVAL, bo_create(rig->fd, 1ull << 60, DRM_TUTTI_PLACE_CARD, &handle, NULL));
	return true;
}

/* No process finds in card memory what another one has left there. */
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

/* Zeroing a new buffer does not change the buffers before and after it. */
static bool neighbours(struct rig *rig)
{
	enum { BUFFERS = 12 };
	volatile uint32_t *words[BUFFERS];
	struct drm_gem_close gone[BUFFERS] = {0};
	uint64_t offset;
	uint32_t bo;

	CHECK(rig_open(rig));
	for (unsigned i = 0; i < BUFFERS; i++) {
		EXPECT(0, bo_create(rig->fd, PAGE, DRM_TUTTI_PLACE_CARD, &gone[i].handle, &offset));
		words[i] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
		CHECK(words[i] != MAP_FAILED);
		words[i][0] = words[i][PAGE / 4 - 1] = 0x1000 + i;
	}
	for (unsigned i = 1; i < BUFFERS; i += 2) { /* every second place is freed, and taken again below */
		munmap((void *)words[i], PAGE);
		EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &gone[i]));
	}
	for (unsigned i = 1; i < BUFFERS; i += 2)
		EXPECT(0, bo_create(rig->fd, PAGE, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	for (unsigned i = 0; i < BUFFERS; i += 2) {
		EXPECT(0x1000 + i, words[i][0]);
		EXPECT(0x1000 + i, words[i][PAGE / 4 - 1]);
		munmap((void *)words[i], PAGE);
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

/* A large page loses a small one in its middle; its other parts still work. */
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
		EXPECT(0, rig_wait(rig, 0, 0, PATIENCE));
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
	EXPECT(0, rig_wait(rig, 0, 0, PATIENCE));
	for (unsigned i = 0; i < 16 * PAGE / 4; i++)
		CHECK(words[i] == 0xcafe);
	munmap(words, 16 * PAGE);
	return true;
}

/*
 * Memory that the card has mapped is freed with its handle and its mapping, not earlier: pages stay while the card has
 * them.
 */
static bool closed_while_mapped(struct rig *rig)
{
	struct drm_gem_close gone = {0};
	uint64_t offset;

	CHECK(rig_queue(rig));
	for (unsigned placement = 0; placement < 2; placement++) {
		volatile uint32_t *words;
		uint64_t at = (2 + placement) * BASE;

		EXPECT(0, bo_create(rig->fd, 16 * PAGE, placement, &gone.handle, &offset));
		words = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
		CHECK(words != MAP_FAILED);
		EXPECT(0, bo_map(rig->fd, rig->context, gone.handle, at, 16 * PAGE));
		EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &gone));
		rig_signal(rig, 0, 1);
		rig_fill(rig, at, 0xbeef0000 + placement, 16 * PAGE, 0);
		rig_ring(rig);
		EXPECT(0, rig_wait(rig, 0, 0, PATIENCE));
		for (unsigned i = 0; i < 16 * PAGE / 4; i++)
			CHECK(words[i] == 0xbeef0000 + placement);
		munmap((void *)words, 16 * PAGE);
		/* the card has the only reference now: nobody else may be given these pages */
		for (unsigned i = 0; i < 8; i++)
			EXPECT(0, bo_create(rig->fd, 16 * PAGE, placement, &gone.handle, &offset));
		rig_signal(rig, 0, 1);
		rig_fill(rig, at, 0xdead, 16 * PAGE, 0);
		rig_ring(rig);
		EXPECT(0, rig_wait(rig, 0, 0, PATIENCE));
		words = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
		CHECK(words != MAP_FAILED);
		for (unsigned i = 0; i < 16 * PAGE / 4; i++)
			CHECK(!words[i]);
		munmap((void *)words, 16 * PAGE);
	}
	return true;
}

/* After UNMAP has returned the card does not write there, and reports the fault. */
static bool unmapped_is_untouched(struct rig *rig)
{
	struct tutti_fault fault;

	CHECK(rig_queue(rig));
	memset(rig->memory + DATA_AT, 0x11, PAGE);
	EXPECT(0, unmap(rig, BASE + DATA_AT, PAGE));
	rig_signal(rig, 0, 1);
	rig_fill(rig, BASE + DATA_AT, 0x22222222, PAGE, 0);
	rig_ring(rig);
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(TUTTI_ERROR_MEMORY_FAULT, fault.code);
	EXPECT(BASE + DATA_AT, fault.address);
	for (unsigned i = 0; i < PAGE; i++)
		CHECK(rig->memory[DATA_AT + i] == 0x11);
	return true;
}

/* Memory that is mapped read-only is not changed. */
static bool read_only_mapping(struct rig *rig)
{
	struct drm_tutti_map map = {.address = 2 * BASE, .offset = DATA_AT, .bytes = PAGE,
				    .access = DRM_TUTTI_ACCESS_READ};
	struct tutti_fault fault;

	CHECK(rig_queue(rig));
	map.context = rig->context;
	map.bo = rig->bo;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_MAP, &map));
	memset(rig->memory + DATA_AT, 0x11, PAGE);
	rig_fill(rig, 2 * BASE, 0x22222222, PAGE, 0);
	rig_ring(rig);
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(TUTTI_ERROR_MEMORY_FAULT, fault.code);
	EXPECT(TUTTI_CAUSE_PROTECTION, fault.cause);
	CHECK(rig->memory[DATA_AT] == 0x11);
	return true;
}

static bool queue_in_read_only_memory(struct rig *rig)
{
	struct drm_tutti_map map = {.address = 2 * BASE, .bytes = RIG_BYTES, .access = DRM_TUTTI_ACCESS_READ};
	struct drm_tutti_queue_create args;

	CHECK(rig_queue(rig));
	map.context = rig->context;
	map.bo = rig->bo;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_MAP, &map));
	args = queue_args(rig);
	args.ring = 2 * BASE + SPARE_RING_AT;
	EXPECT(EFAULT, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	args = queue_args(rig);
	args.read_index = 2 * BASE + SPARE_INDEX_AT;
	EXPECT(EFAULT, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	CHECK(rig_works(rig));
	return true;
}

/* dma-buf out and in again: the same memory, also for the card; wrong descriptors are refused. */
static bool share(struct rig *rig)
{
	struct drm_prime_handle out = {.flags = O_CLOEXEC | O_RDWR}, in = {0};
	struct rig other = {.fd = -1};
	uint32_t *words;

	CHECK(rig_queue(rig) && rig_queue(&other));
	out.handle = rig->bo;
	EXPECT(0, call(rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out));
	in.fd = out.fd;
	EXPECT(0, call(other.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in));
	EXPECT(0, bo_map(other.fd, other.context, in.handle, 2 * BASE, RIG_BYTES));
	rig_signal(&other, 0, 1);
	rig_fill(&other, 2 * BASE + DATA_AT, 0x5ea, PAGE, 0);
	rig_ring(&other);
	EXPECT(0, rig_wait(&other, 0, 0, PATIENCE));
	words = (void *)(rig->memory + DATA_AT);
	CHECK(words[0] == 0x5ea && words[PAGE / 4 - 1] == 0x5ea);
	close(out.fd);
	in.fd = rig->fd;
	EXPECT(EINVAL, call(other.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in));
	in.fd = 999;
	EXPECT(EBADF, call(other.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in));
	out.handle = 0x7777;
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out));
	rig_close(&other);
	CHECK(rig_works(rig));
	return true;
}

/* A dma-buf's descriptor stays valid after handle and file are closed. */
static bool share_outlives(struct rig *rig)
{
	struct drm_prime_handle out = {.flags = O_CLOEXEC | O_RDWR};
	uint8_t *bytes;

	CHECK(rig_queue(rig) && rig_works(rig));
	out.handle = rig->bo;
	EXPECT(0, call(rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out));
	rig_close(rig);
	bytes = mmap(NULL, RIG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, out.fd, 0);
	CHECK(bytes != MAP_FAILED);
	CHECK(bytes[DATA_AT] || bytes[DATA_AT + 1]);
	memset(bytes, 1, RIG_BYTES);
	munmap(bytes, RIG_BYTES);
	close(out.fd);
	return true;
}

static const struct subtest memory_tests[] = {
	{"SYS-22: smallest buffers", sizes},
	{"SYS-22 SYS-27: new buffers are zero", zeroed},
	{"SYS-22 SYS-27: a new buffer in card memory leaves its neighbours as they are", neighbours},
	{"SYS-22: card memory runs out and comes back", exhaustion},
	{"SYS-23: a hole in a mapping, and filled again", unmap_ranges},
	{"SYS-23: a hole in a large leaf", unmap_large},
	{"SYS-22: a buffer in card memory", card_buffer},
	{"SYS-23: buffer closed while the card has it mapped", closed_while_mapped},
	{"SYS-23: after an unmap the card touches nothing", unmapped_is_untouched},
	{"SYS-23: a mapping that may only be read", read_only_mapping},
	{"SYS-24: ring and index in memory that may only be read", queue_in_read_only_memory},
	{"SYS-22: dma-buf out and in again", share},
	{"SYS-22: a dma-buf outlives its file", share_outlives},
	{0},
};

void memory_group(void)
{
	subtests(memory_tests);
}
