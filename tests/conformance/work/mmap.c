// SPDX-License-Identifier: MIT
/* What a process may map, with which rights, and what becomes of the mapping. */
#include <fcntl.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

/** struct bad_map - a mapping that must fail. Offsets: of which object, and how many pages behind it. */
struct bad_map {
	const char *name;
	enum { DOORBELL, SYSTEM, CARD, WINDOW, RSB_SCRATCH, RAW } what;
	uint64_t offset;
	uint64_t bytes;
	int protection, flags, error;
};

#define RW (PROT_READ | PROT_WRITE)
#define BUFFER_BYTES (4 * PAGE)

static const struct bad_map bad_maps[] = {
	{"SYS-24: doorbell, length 0", DOORBELL, 0, 0, RW, MAP_SHARED, EINVAL},
	{"SYS-24: doorbell, two pages", DOORBELL, 0, 2 * PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-24: doorbell, whole card", DOORBELL, 0, 64ull << 20, RW, MAP_SHARED, EINVAL},
	{"SYS-24: doorbell, private", DOORBELL, 0, PAGE, RW, MAP_PRIVATE, EINVAL},
	{"SYS-24: doorbell of the handle behind", DOORBELL, PAGE, PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-24: doorbell, half a page behind", DOORBELL, PAGE / 2, PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-24: doorbell of handle 0", RAW, DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_DOORBELL, 0), PAGE, RW, MAP_SHARED,
	 EINVAL},
	{"SYS-24: doorbell of the last handle", RAW,
	 DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_DOORBELL, (1u << 28) - 1), PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-25: RSB of a handle nobody has", RAW, DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_RSB, 9), PAGE, PROT_READ,
	 MAP_SHARED, EINVAL},
	{"SYS-25 PKT-10: RSB, to write", RSB_SCRATCH, 0, PAGE, RW, MAP_SHARED, EACCES},
	{"SYS-25 PKT-10: RSB, two pages", RSB_SCRATCH, 0, 2 * PAGE, PROT_READ, MAP_SHARED, EINVAL},
	{"SYS-25 PKT-10: RSB, private", RSB_SCRATCH, 0, PAGE, PROT_READ, MAP_PRIVATE, EINVAL},
	{"SYS-24: unknown kind", RAW, DRM_TUTTI_MMAP_OFFSET(3ull, 0), PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-24: highest kind", RAW, DRM_TUTTI_MMAP_OFFSET(7ull, 1), PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-27: status page, to write", WINDOW, 0, PAGE, RW, MAP_SHARED, EACCES},
	{"SYS-27: status page, two pages", WINDOW, 0, 2 * PAGE, PROT_READ, MAP_SHARED, EINVAL},
	{"SYS-27: status page, private", WINDOW, 0, PAGE, PROT_READ, MAP_PRIVATE, EINVAL},
	{"SYS-22: buffer, length 0", SYSTEM, 0, 0, RW, MAP_SHARED, EINVAL},
	{"SYS-22: buffer, a page too long", SYSTEM, 0, BUFFER_BYTES + PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-22: buffer, private", SYSTEM, 0, BUFFER_BYTES, RW, MAP_PRIVATE, EINVAL},
	{"SYS-22: behind the buffer", SYSTEM, BUFFER_BYTES, PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-22: card buffer, a page too long", CARD, 0, BUFFER_BYTES + PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-22: card buffer, private", CARD, 0, BUFFER_BYTES, RW, MAP_PRIVATE, EINVAL},
	{"SYS-22: behind the card buffer", CARD, BUFFER_BYTES, PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-22: offset 0", RAW, 0, PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-22: offset of nothing", RAW, 1ull << 40, PAGE, RW, MAP_SHARED, EINVAL},
	{"SYS-22: highest offset", RAW, (1ull << 63) - PAGE, PAGE, RW, MAP_SHARED, EINVAL},
};

static bool window_offset(struct rig *rig, uint64_t *offset)
{
	struct drm_tutti_state state;
	struct drm_tutti_query query = {DRM_TUTTI_QUERY_STATE, sizeof(state), (uintptr_t)&state};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &query));
	*offset = DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, state.status_offset / PAGE);
	return true;
}

static bool offset_of(struct rig *rig, int what, uint64_t *offset)
{
	struct drm_tutti_rsb_create rsb = {.context = rig->context};
	uint32_t handle;

	*offset = 0;
	switch (what) {
	case DOORBELL:
		*offset = rig->doorbell_offset;
		return true;
	case SYSTEM:
		EXPECT(0, bo_create(rig->fd, BUFFER_BYTES, DRM_TUTTI_PLACE_SYSTEM, &handle, offset));
		return true;
	case CARD:
		EXPECT(0, bo_create(rig->fd, BUFFER_BYTES, DRM_TUTTI_PLACE_CARD, &handle, offset));
		return true;
	case WINDOW:
		return window_offset(rig, offset);
	case RSB_SCRATCH:
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
		*offset = rsb.mmap_offset;
		return true;
	default:
		return true;
	}
}

static bool refused(struct rig *rig, const void *data)
{
	const struct bad_map *bad = data;
	uint64_t offset;
	void *page;

	CHECK(rig_queue(rig) && offset_of(rig, bad->what, &offset));
	page = mmap(NULL, bad->bytes, bad->protection, bad->flags, rig->fd, (off_t)(offset + bad->offset));
	CHECK(page == MAP_FAILED);
	EXPECT(bad->error, errno);
	CHECK(rig_works(rig));
	return true;
}

/* Only two pages of the control window may be mapped; rings and doorbells of others are not among them. */
static bool window_pages(struct rig *rig)
{
	unsigned good = 0;

	CHECK(rig_queue(rig));
	for (unsigned i = 0; i < 4096; i++) {
		off_t offset = (off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, i);
		void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig->fd, offset);

		if (page == MAP_FAILED) {
			EXPECT(EINVAL, errno);
			continue;
		}
		good++;
		munmap(page, PAGE);
		CHECK(mmap(NULL, PAGE, RW, MAP_SHARED, rig->fd, offset) == MAP_FAILED);
	}
	EXPECT(2, good);
	return true;
}

static bool no_upgrade(struct rig *rig)
{
	CHECK(rig_queue(rig));
	CHECK(mprotect((void *)((uintptr_t)rig->asleep & ~(PAGE - 1)), PAGE, RW) && errno == EACCES);
	CHECK(mprotect((void *)rig->doorbell, PAGE, RW | PROT_EXEC) && errno == EACCES);
	return true;
}

/* If mremap() could enlarge it, it would show what lies behind. */
static bool no_growing(struct rig *rig)
{
	CHECK(rig_queue(rig));
	CHECK(mremap((void *)rig->doorbell, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT);
	CHECK(mremap(rig->memory, RIG_BYTES, 2 * RIG_BYTES, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT);
	CHECK(rig_works(rig));
	return true;
}

static bool moved(struct rig *rig)
{
	void *spot = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(spot != MAP_FAILED && rig_queue(rig));
	rig->doorbell = mremap((void *)rig->doorbell, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, spot);
	CHECK(rig->doorbell == spot);
	CHECK(rig_works(rig));
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	*rig->doorbell = 5;
	EXPECT(5, *rig->doorbell);
	return true;
}

static bool twice(struct rig *rig)
{
	volatile uint64_t *first;

	CHECK(rig_queue(rig));
	first = rig->doorbell;
	rig->doorbell = mmap(NULL, PAGE, RW, MAP_SHARED, rig->fd, (off_t)rig->doorbell_offset);
	CHECK(rig->doorbell != MAP_FAILED && rig_works(rig));
	munmap((void *)first, PAGE);
	CHECK(rig_works(rig));
	return true;
}

/* When a queue has been destroyed, all mappings of its doorbell show the same page of ordinary memory. */
static bool twice_in_vain(struct rig *rig)
{
	volatile uint64_t *other;

	CHECK(rig_queue(rig));
	other = mmap(NULL, PAGE, RW, MAP_SHARED, rig->fd, (off_t)rig->doorbell_offset);
	CHECK(other != MAP_FAILED);
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	*rig->doorbell = 0x1234;
	EXPECT(0x1234, (long)*other);
	munmap((void *)other, PAGE);
	return true;
}

/* A buffer can be mapped for reading only. */
static bool to_read(struct rig *rig)
{
	for (unsigned placement = 0; placement < 2; placement++) {
		volatile uint32_t *words, *seen;
		uint64_t offset;
		uint32_t bo;

		CHECK(rig->fd >= 0 || rig_open(rig));
		EXPECT(0, bo_create(rig->fd, PAGE, placement, &bo, &offset));
		words = mmap(NULL, PAGE, RW, MAP_SHARED, rig->fd, (off_t)offset);
		seen = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig->fd, (off_t)offset);
		CHECK(words != MAP_FAILED && seen != MAP_FAILED);
		words[5] = 0x55;
		EXPECT(0x55, seen[5]);
		munmap((void *)words, PAGE);
		munmap((void *)seen, PAGE);
	}
	return true;
}

/* Some pages of a buffer, whose parts are unmapped one by one. */
static bool partial(struct rig *rig)
{
	struct drm_tutti_bo_info info = {0};
	uint32_t *page;

	CHECK(rig_queue(rig) && rig_works(rig));
	info.handle = rig->bo;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_INFO, &info));
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig->fd, (off_t)info.mmap_offset);
	if (page == MAP_FAILED)
		return skip("shmem buffers of this kernel are mapped whole");
	munmap(page, PAGE);
	CHECK(!munmap(rig->memory + 12 * PAGE, PAGE));
	CHECK(rig_works(rig));
	return true;
}

/* A mapping that has been split shows the same pages as before, also in parts that had not been touched. */
static bool split(struct rig *rig)
{
	for (unsigned placement = 0; placement < 2; placement++) {
		volatile uint32_t *whole, *parts;
		uint64_t offset;
		uint32_t bo;

		CHECK(rig->fd >= 0 || rig_open(rig));
		EXPECT(0, bo_create(rig->fd, 16 * PAGE, placement, &bo, &offset));
		whole = mmap(NULL, 16 * PAGE, RW, MAP_SHARED, rig->fd, (off_t)offset);
		parts = mmap(NULL, 16 * PAGE, RW, MAP_SHARED, rig->fd, (off_t)offset);
		CHECK(whole != MAP_FAILED && parts != MAP_FAILED);
		for (unsigned i = 0; i < 16; i++)
			whole[i * PAGE / 4] = 100 + i;
		CHECK(!munmap((void *)(parts + 4 * PAGE / 4), PAGE));
		CHECK(!mprotect((void *)(parts + 8 * PAGE / 4), 2 * PAGE, PROT_READ));
		for (unsigned i = 0; i < 16; i++)
			if (i != 4)
				EXPECT(100 + i, parts[i * PAGE / 4]);
		munmap((void *)whole, 16 * PAGE);
		munmap((void *)parts, 16 * PAGE);
	}
	return true;
}

/* A mapping keeps its buffer alive as a handle does; a new mapping needs the handle. */
static bool closed_handle(struct rig *rig)
{
	for (unsigned placement = 0; placement < 2; placement++) {
		struct drm_gem_close gone = {0};
		volatile uint32_t *words;
		uint64_t offset;

		CHECK(rig->fd >= 0 || rig_open(rig));
		EXPECT(0, bo_create(rig->fd, PAGE, placement, &gone.handle, &offset));
		words = mmap(NULL, PAGE, RW, MAP_SHARED, rig->fd, (off_t)offset);
		CHECK(words != MAP_FAILED);
		words[7] = 77;
		EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &gone));
		CHECK(words[7] == 77 && !words[8]);
		CHECK(mmap(NULL, PAGE, RW, MAP_SHARED, rig->fd, (off_t)offset) == MAP_FAILED);
		EXPECT(EACCES, errno);
		munmap((void *)words, PAGE);
		CHECK(mmap(NULL, PAGE, RW, MAP_SHARED, rig->fd, (off_t)offset) == MAP_FAILED);
		EXPECT(EINVAL, errno);
	}
	return true;
}

/* No more than through the node: a private copy of memory that the card writes has no meaning. */
static bool private_dma_buf(struct rig *rig)
{
	CHECK(rig_open(rig));
	for (unsigned placement = 0; placement < 2; placement++) {
		struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
		int error;

		EXPECT(0, bo_create(rig->fd, PAGE, placement, &prime.handle, NULL));
		EXPECT(0, call(rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
		error = mmap(NULL, PAGE, RW, MAP_PRIVATE, prime.fd, 0) == MAP_FAILED ? errno : 0;
		close(prime.fd);
		EXPECT(EINVAL, error);
	}
	return true;
}

/* The offset is the same in all files, but only files with the handle may map it. */
static bool foreign_buffer(struct rig *rig)
{
	int other = device_open();

	CHECK(other >= 0 && rig_open(rig));
	for (unsigned placement = 0; placement < 2; placement++) {
		uint64_t offset;
		uint32_t handle;

		EXPECT(0, bo_create(rig->fd, PAGE, placement, &handle, &offset));
		CHECK(mmap(NULL, PAGE, RW, MAP_SHARED, other, (off_t)offset) == MAP_FAILED);
		EXPECT(EACCES, errno);
	}
	close(other);
	return true;
}

static bool foreign_doorbell(struct rig *rig)
{
	int other = device_open();

	CHECK(other >= 0 && rig_queue(rig));
	CHECK(mmap(NULL, PAGE, RW, MAP_SHARED, other, (off_t)rig->doorbell_offset) == MAP_FAILED);
	EXPECT(EINVAL, errno);
	close(other);
	CHECK(rig_works(rig));
	return true;
}

static bool outlives_file(struct rig *rig)
{
	volatile uint32_t *words;
	uint64_t offset;
	uint32_t handle;

	CHECK(rig_queue(rig));
	EXPECT(0, bo_create(rig->fd, PAGE, DRM_TUTTI_PLACE_CARD, &handle, &offset));
	words = mmap(NULL, PAGE, RW, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(words != MAP_FAILED);
	close(rig->fd);
	rig->fd = -1;
	words[0] = 1;
	*rig->doorbell = 3;
	rig->memory[0] = 2;
	CHECK(words[0] == 1 && rig->memory[0] == 2);
	munmap((void *)words, PAGE);
	return true;
}

/* A child process shares the buffer, but not the doorbell. */
static bool after_fork(struct rig *rig)
{
	int status;
	pid_t child;

	CHECK(rig_queue(rig));
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		rig->memory[DATA_AT] = 0x42;
		*rig->doorbell = 1; /* not mapped here */
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	EXPECT(0x42, rig->memory[DATA_AT]);
	CHECK(rig_works(rig));
	return true;
}

/* An RSB that is mapped read-only shows what the card keeps, and is plain memory after the RSB has been destroyed. */
static bool rsb_page(struct rig *rig)
{
	struct drm_tutti_rsb_create rsb = {0};
	struct drm_tutti_handle handle = {0};
	volatile uint32_t *words;

	CHECK(rig_queue(rig));
	rsb.context = rig->context;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
	CHECK(rsb.mmap_offset);
	words = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig->fd, (off_t)rsb.mmap_offset);
	CHECK(words != MAP_FAILED);
	(void)words[0];
	handle.handle = rsb.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_DESTROY, &handle));
	for (unsigned i = 0; i < PAGE / 4; i++)
		CHECK(!words[i]);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig->fd, (off_t)rsb.mmap_offset) == MAP_FAILED);
	munmap((void *)words, PAGE);
	return true;
}

static const struct subtest mmap_tests[] = {
	{"SYS-27: pages of the control window", window_pages},
	{"SYS-24 SYS-27: no more rights later", no_upgrade},
	{"SYS-24 SYS-27: no growing", no_growing},
	{"SYS-24: a moved doorbell rings, and is revoked", moved},
	{"SYS-24: a doorbell mapped twice", twice},
	{"SYS-24: a doorbell mapped twice, whose queue has been destroyed", twice_in_vain},
	{"SYS-22: a buffer can be mapped for reading only", to_read},
	{"SYS-22: parts of a buffer", partial},
	{"SYS-22: an area that has been split shows the same pages", split},
	{"SYS-22: a mapping outlives its handle", closed_handle},
	{"SYS-22: a dma-buf of a buffer, private", private_dma_buf},
	{"SYS-22 SYS-27: buffer of another file", foreign_buffer},
	{"SYS-24 SYS-27: doorbell of another file", foreign_doorbell},
	{"SYS-22 SYS-24: mappings outlive their file", outlives_file},
	{"SYS-24: after fork", after_fork},
	{"SYS-25 PKT-10: a mapped RSB", rsb_page},
	{0},
};

void mmap_group(void)
{
	for (size_t i = 0; i < sizeof(bad_maps) / sizeof(bad_maps[0]); i++)
		subtest(bad_maps[i].name, refused, &bad_maps[i]);
	subtests(mmap_tests);
}
