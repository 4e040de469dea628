// SPDX-License-Identifier: MIT
/* Card memory in several files, memory of the process on the card. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "driver.h"

#define BYTES (16 * PAGE)
#define SHARED_AT (4 * BASE)

/* ---- card memory ---- */

static volatile uint32_t *see(int fd, uint64_t offset)
{
	void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

/* The card fills the second page of what is mapped at SHARED_AT. */
static bool card_fills(struct rig *rig, uint32_t pattern)
{
	rig_signal(rig, 0, 1);
	rig_fill(rig, SHARED_AT + PAGE, pattern, PAGE, 0);
	rig_ring(rig);
	EXPECT(0, rig_wait(rig, 0, 0, PATIENCE));
	return true;
}

/** struct shared - a card buffer of one file, as a dma-buf. */
struct shared {
	volatile uint32_t *words, *exported;
	int fd;
};

static bool share(struct rig *rig, struct shared *shared)
{
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	uint64_t offset;

	EXPECT(0, bo_create(rig->fd, BYTES, DRM_TUTTI_PLACE_CARD, &prime.handle, &offset));
	shared->words = see(rig->fd, offset);
	EXPECT(0, call(rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	shared->fd = prime.fd;
	shared->exported = see(prime.fd, 0);
	CHECK(shared->words && shared->exported);
	shared->words[0] = 0xcafe;
	EXPECT(0xcafe, shared->exported[0]);
	return true;
}

static void stop_sharing(struct shared *shared)
{
	munmap((void *)shared->words, BYTES);
	munmap((void *)shared->exported, BYTES);
	close(shared->fd);
}

static int import(struct rig *rig, const struct shared *shared, uint32_t *handle)
{
	struct drm_prime_handle prime = {.fd = shared->fd};
	int error = call(rig->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	*handle = prime.handle;
	return error;
}

static bool exported(struct rig *rig)
{
	struct drm_tutti_bo_info info = {0};
	struct rig other = {.fd = -1};
	struct shared shared;
	volatile uint32_t *theirs;

	CHECK(rig_queue(rig) && rig_queue(&other) && share(rig, &shared));
	CHECK(mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, shared.fd, 0) == MAP_FAILED);
	EXPECT(0, import(&other, &shared, &info.handle));
	EXPECT(0, call(other.fd, DRM_IOCTL_TUTTI_BO_INFO, &info));
	EXPECT(DRM_TUTTI_PLACE_CARD, info.placement);
	theirs = see(other.fd, info.mmap_offset);
	CHECK(theirs && theirs[0] == 0xcafe);
	EXPECT(0, bo_map(other.fd, other.context, info.handle, SHARED_AT, BYTES));
	/* the file that made it may be closed */
	rig_close(rig);
	CHECK(card_fills(&other, 0x1234));
	EXPECT(0x1234, shared.words[PAGE / 4]);
	EXPECT(0x1234, shared.exported[PAGE / 4]);
	rig_close(&other);
	shared.exported[7] = 9;
	EXPECT(9, shared.words[7]);
	munmap((void *)theirs, BYTES);
	stop_sharing(&shared);
	return true;
}

#define OTHERS 500u

/* The private copy of a page of a file that nobody else has. */
static uint32_t *other_file(uint32_t value)
{
	int fd = memfd_create("other", MFD_CLOEXEC);
	uint32_t *words = MAP_FAILED;

	if (!ftruncate(fd, PAGE))
		words = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (words == MAP_FAILED)
		return NULL;
	words[0] = value;
	return words;
}

/*
 * An O_PATH descriptor keeps the dma-buf, but not its open file, whose memory the kernel gives to the next file. A
 * reset revokes what is mapped of the dma-buf, and nothing of that file.
 */
static bool seen_by_path(struct rig *rig)
{
	uint32_t *others[OTHERS];
	struct shared shared;
	unsigned kept = 0;
	char path[32];
	int seen;

	CHECK(rig_open(rig) && share(rig, &shared));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", shared.fd);
	seen = open(path, O_PATH | O_CLOEXEC);
	stop_sharing(&shared);
	rig_close(rig);
	CHECK(seen >= 0);
	for (uint32_t i = 0; i < OTHERS; i++)
		CHECK((others[i] = other_file(i + 1)));
	CHECK(card_write("card_reset", "function"));
	for (uint32_t i = 0; i < OTHERS; i++) {
		kept += others[i][0] == i + 1;
		munmap(others[i], PAGE);
	}
	close(seen);
	EXPECT(OTHERS, kept);
	return fresh_works();
}

/* ---- signals in it ---- */

bool card_signal(int fd, uint32_t *bo)
{
	volatile struct tutti_signal *signal;
	uint64_t offset;

	EXPECT(0, bo_create(fd, BYTES, DRM_TUTTI_PLACE_CARD, bo, &offset));
	signal = (volatile void *)see(fd, offset);
	CHECK(signal);
	signal->value = 1;
	munmap((void *)signal, BYTES);
	return true;
}

int card_signal_wait(int fd, uint32_t bo, uint64_t ns)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_SIGNAL, .handle = bo, .condition = DRM_TUTTI_LT, .value = 1,
				      .deadline = now_ns() + ns};

	return call(fd, DRM_IOCTL_TUTTI_WAIT, &wait);
}

/* The memory is lost, so nobody will change the signal any more, whatever it reads as. */
static bool lost_signal(struct rig *rig)
{
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC};
	struct shared shared;
	struct rig other = {.fd = -1};
	uint32_t bo;

	CHECK(rig_open(rig) && card_signal(rig->fd, &prime.handle));
	EXPECT(ETIME, card_signal_wait(rig->fd, prime.handle, SECOND / 10));
	EXPECT(0, call(rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	CHECK(card_write("card_reset", "function") && rig_open(&other));
	shared.fd = prime.fd;
	EXPECT(0, import(&other, &shared, &bo));
	EXPECT(EIO, card_signal_wait(other.fd, bo, SECOND));
	close(shared.fd);
	rig_close(&other);
	return true;
}

/* Nobody has the card open, but some of its memory is a dma-buf. */
static bool keeps_power(struct rig *rig)
{
	struct shared shared;

	SKIP_UNLESS(card_says("power/control", "auto"), "needs power/control auto");
	CHECK(rig_open(rig) && share(rig, &shared));
	munmap((void *)shared.words, BYTES);
	rig_close(rig);
	sleep(3); /* an unused card would be off by now */
	CHECK(card_says("power/runtime_status", "active"));
	EXPECT(0xcafe, shared.exported[0]);
	munmap((void *)shared.exported, BYTES);
	close(shared.fd);
	return card_soon_says("power/runtime_status", "suspended");
}

/* What survives a reload can be used in a new file. */
static bool rescued(struct rig *rig)
{
	struct rig fresh = {.fd = -1};
	struct shared shared;
	uint32_t handle;

	CHECK(rig_queue(rig) && share(rig, &shared) && card_write("card_reset", "firmware"));
	EXPECT(0xcafe, shared.exported[0]);
	rig_close(rig);
	CHECK(rig_queue(&fresh));
	EXPECT(0, import(&fresh, &shared, &handle));
	EXPECT(0, bo_map(fresh.fd, fresh.context, handle, SHARED_AT, BYTES));
	CHECK(card_fills(&fresh, 0x55));
	EXPECT(0x55, shared.exported[PAGE / 4]);
	stop_sharing(&shared);
	rig_close(&fresh);
	return true;
}

/* A reload that somebody asks for is no sign of a sick card, however often: it stays a reload, and memory stays. */
static bool rescued_again(struct rig *rig)
{
	struct shared shared;

	CHECK(rig_open(rig) && share(rig, &shared));
	for (unsigned i = 0; i < 5; i++)
		EXPECT(0, device_reset());
	EXPECT(0xcafe, shared.exported[0]);
	EXPECT(0xcafe, shared.words[0]);
	stop_sharing(&shared);
	return fresh_works();
}

/* Every mapping of lost card memory becomes plain memory, that of a dma-buf as well. */
static bool lost(struct rig *rig)
{
	struct rig fresh = {.fd = -1};
	struct shared shared;
	uint32_t handle;

	CHECK(rig_queue(rig) && share(rig, &shared) && card_write("card_reset", "function"));
	EXPECT(0, shared.exported[0]);
	EXPECT(0, shared.words[0]);
	shared.exported[0] = 3;
	CHECK(rig_queue(&fresh));
	EXPECT(0, import(&fresh, &shared, &handle));
	EXPECT(EIO, bo_map(fresh.fd, fresh.context, handle, SHARED_AT, BYTES));
	CHECK(rig_works(&fresh));
	stop_sharing(&shared);
	rig_close(&fresh);
	return true;
}

/* A dma-buf of a device that has been removed cannot be imported, not even by the device that takes its place. */
static bool of_removed_device(struct rig *rig)
{
	struct rig fresh = {.fd = -1};
	struct shared shared;
	uint32_t handle;
	bool rebound;
	int error;

	CHECK(rig_open(rig) && share(rig, &shared));
	rebound = driver_unbind() && driver_bind();
	rig_close(rig);
	CHECK(rebound && rig_open(&fresh));
	error = import(&fresh, &shared, &handle);
	rig_close(&fresh);
	stop_sharing(&shared);
	EXPECT(EOPNOTSUPP, error);
	return fresh_works();
}

/* ---- page tables ---- */

static unsigned page_tables(uint32_t asid)
{
	unsigned found = 0, id, tables;
	glob_t paths = {0};
	char line[128];
	FILE *file;

	glob("/sys/kernel/debug/accel/*/tutti_contexts", 0, NULL, &paths);
	glob("/sys/kernel/debug/dri/*/tutti_contexts", GLOB_APPEND, NULL, &paths);
	for (size_t i = 0; i < paths.gl_pathc && !found; i++) {
		file = fopen(paths.gl_pathv[i], "re");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "context %u page tables %u", &id, &tables) == 2 && id == asid)
				found = tables;
		if (file)
			fclose(file);
	}
	globfree(&paths);
	return found;
}

#define SPARSE 64u
#define SPARSE_STEP (1ull << 30)

/* A page at the start of each of so many gigabytes; what lies between is not mapped. */
static bool map_sparse(struct rig *rig, uint32_t bo)
{
	for (uint64_t i = 0; i < SPARSE; i++)
		EXPECT(0, bo_map(rig->fd, rig->context, bo, 1ull << 40 | i * SPARSE_STEP, PAGE));
	return true;
}

static bool unmap(struct rig *rig, uint64_t address, uint64_t bytes)
{
	struct drm_tutti_range range = {.context = rig->context, .address = address, .bytes = bytes};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_UNMAP, &range));
	return true;
}

/* Tables that have become empty are given back, one by one and all at once; those in use stay. */
static bool empty_tables(struct rig *rig)
{
	uint32_t asid, bo;
	unsigned before;

	CHECK(rig_queue(rig));
	asid = queue_asid(rig->queue_number);
	before = page_tables(asid);
	CHECK(asid && before);
	EXPECT(0, bo_create(rig->fd, PAGE, DRM_TUTTI_PLACE_SYSTEM, &bo, NULL));
	for (unsigned round = 0; round < 3; round++) {
		CHECK(map_sparse(rig, bo));
		CHECK(page_tables(asid) >= before + 2 * SPARSE);
		CHECK(unmap(rig, 1ull << 40, PAGE));
		EXPECT(before + 2 * (SPARSE - 1) + 1, page_tables(asid));
		CHECK(unmap(rig, 1ull << 40, SPARSE * SPARSE_STEP));
		EXPECT(before, page_tables(asid));
		CHECK(rig_works(rig));
	}
	return true;
}

/* ---- memory of the process ---- */

static int userptr(int fd, const void *address, uint64_t bytes, uint32_t *handle)
{
	struct drm_tutti_bo_userptr args = {.address = (uintptr_t)address, .bytes = bytes};
	int error = call(fd, DRM_IOCTL_TUTTI_BO_USERPTR, &args);

	if (handle)
		*handle = args.handle;
	return error;
}

static uint32_t *own_memory(void)
{
	void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void gem_close(int fd, uint32_t handle)
{
	struct drm_gem_close gone = {.handle = handle};

	call(fd, DRM_IOCTL_GEM_CLOSE, &gone);
}

static bool user_memory(struct rig *rig)
{
	struct drm_tutti_range range = {.address = SHARED_AT, .bytes = BYTES};
	uint32_t *words = own_memory(), handle;
	long before = pinned_kib();

	CHECK(words && rig_queue(rig));
	words[PAGE / 4] = 1;
	EXPECT(0, userptr(rig->fd, words, BYTES, &handle));
	EXPECT(before + (long)(BYTES >> 10), pinned_kib());
	EXPECT(0, bo_map(rig->fd, rig->context, handle, SHARED_AT, BYTES));
	gem_close(rig->fd, handle);
	CHECK(card_fills(rig, 0x4711));
	CHECK(words[PAGE / 4] == 0x4711 && words[2 * PAGE / 4 - 1] == 0x4711 && !words[2 * PAGE / 4] && !words[0]);
	/* the mapping keeps it pinned, not the handle */
	EXPECT(before + (long)(BYTES >> 10), pinned_kib());
	range.context = rig->context;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_UNMAP, &range));
	EXPECT(before, pinned_kib());
	munmap(words, BYTES);
	return true;
}

/* The card keeps writing to pages that nobody else gets. */
static bool user_memory_unmapped(struct rig *rig)
{
	uint32_t *words = own_memory(), *later, handle;

	CHECK(words && rig_queue(rig));
	memset(words, 1, BYTES);
	EXPECT(0, userptr(rig->fd, words, BYTES, &handle));
	EXPECT(0, bo_map(rig->fd, rig->context, handle, SHARED_AT, BYTES));
	munmap(words, BYTES);
	later = own_memory();
	CHECK(later);
	memset(later, 0, BYTES);
	CHECK(card_fills(rig, 0x99));
	for (unsigned i = 0; i < BYTES / 4; i++)
		CHECK(!later[i]);
	munmap(later, BYTES);
	return true;
}

static bool bad_user_memory(struct rig *rig)
{
	uint32_t *words = own_memory(), handle;
	struct drm_prime_handle prime = {0};
	struct drm_tutti_bo_info info = {0};
	struct drm_tutti_wait wait = {.condition = DRM_TUTTI_EQ};

	CHECK(words && rig_queue(rig));
	EXPECT(EINVAL, userptr(rig->fd, words, 0, NULL));
	EXPECT(EINVAL, userptr(rig->fd, words, PAGE / 2, NULL));
	EXPECT(EINVAL, userptr(rig->fd, (char *)words + 64, PAGE, NULL));
	EXPECT(EINVAL, userptr(rig->fd, words, 1ull << 60, NULL));
	EXPECT(EFAULT, userptr(rig->fd, (void *)(1ull << 63), PAGE, NULL));
	EXPECT(EFAULT, userptr(rig->fd, (void *)-PAGE, PAGE, NULL));
	EXPECT(EFAULT, userptr(rig->fd, NULL, PAGE, NULL));
	EXPECT(EFAULT, userptr(rig->fd, (void *)rig->doorbell, PAGE, NULL));
	munmap((char *)words + 8 * PAGE, PAGE);
	EXPECT(EFAULT, userptr(rig->fd, words, BYTES, NULL));
	mprotect(words, PAGE, PROT_READ);
	EXPECT(EFAULT, userptr(rig->fd, words, PAGE, NULL));
	EXPECT(0, userptr(rig->fd, words + PAGE / 4, PAGE, &handle));
	info.handle = prime.handle = wait.handle = handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_INFO, &info));
	EXPECT(DRM_TUTTI_PLACE_USER, info.placement);
	EXPECT(0, info.mmap_offset);
	EXPECT(EOPNOTSUPP, call(rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	CHECK(rig_works(rig));
	return true;
}

static bool in_limits(void *data)
{
	struct rlimit limit = {.rlim_cur = 4 * PAGE, .rlim_max = 4 * PAGE};
	struct rig *rig = data;
	uint32_t *words = own_memory();

	CHECK(words && !setrlimit(RLIMIT_MEMLOCK, &limit) && !setuid(65534));
	EXPECT(ENOMEM, userptr(rig->fd, words, 5 * PAGE, NULL));
	EXPECT(0, userptr(rig->fd, words, 4 * PAGE, NULL));
	EXPECT(ENOMEM, userptr(rig->fd, words, PAGE, NULL));
	return true;
}

static bool limited(struct rig *rig)
{
	CHECK(rig_queue(rig));
	return in_child(in_limits, rig);
}

const struct driver_test memory_driver_tests[] = {
	{"SYS-22: card memory is shared with another file", exported},
	{"SYS-22 SYS-28: a dma-buf of card memory that only an O_PATH descriptor keeps", seen_by_path},
	{"SYS-22 SYS-29: card memory that is a dma-buf keeps the card's power", keeps_power},
	{"SYS-22 SYS-28: card memory outlives a reload of the firmware", rescued},
	{"SYS-22 SYS-28: card memory outlives any number of reloads by request", rescued_again},
	{"SYS-22 SYS-28: card memory does not outlive a function-level reset", lost},
	{"SYS-22 REL-06: card memory of a device that has been removed cannot be imported", of_removed_device},
	{"SYS-22 SYS-26 SYS-28: a signal in card memory that was lost is no answer", lost_signal},
	{"SYS-23: empty page tables are given back", empty_tables},
	{"SYS-41: memory of the process on the card", user_memory},
	{"SYS-41: memory that goes while the card has it", user_memory_unmapped},
	{"SYS-41 SYS-30: memory the card cannot have", bad_user_memory},
	{"SYS-41: no more than RLIMIT_MEMLOCK", limited},
	{0},
};
