// SPDX-License-Identifier: MIT
/* Address spaces: what of a mapping is left when a part of it goes, and memory that is larger or elsewhere than usual. */
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"
#include "tutti/mmu.h"

#define AT 0x200000000ull /* a multiple of any leaf */
#define LARGE 512u        /* pages of a large leaf */

static int map(struct rig *rig, uint32_t bo, uint64_t address, uint64_t offset, uint64_t bytes, uint32_t access)
{
	struct drm_tutti_map args = {
		.context = rig->context, .bo = bo, .address = address, .offset = offset, .bytes = bytes, .access = access};

	return call(rig->fd, DRM_IOCTL_TUTTI_MAP, &args);
}

static int unmap(struct rig *rig, uint64_t address, uint64_t bytes)
{
	struct drm_tutti_range range = {.context = rig->context, .address = address, .bytes = bytes};

	return call(rig->fd, DRM_IOCTL_TUTTI_UNMAP, &range);
}

static void fill(struct rig *rig, uint64_t address, uint32_t pattern)
{
	rig_signal(rig, 0, 1);
	rig_fill(rig, address, pattern, PAGE, 0);
	rig_ring(rig);
}

/* The card writes a page at @address, and it is this one that changes. */
static bool reaches(struct rig *rig, uint64_t address, const volatile uint32_t *page)
{
	static uint32_t pattern = 0x9a9e0000;

	fill(rig, address, ++pattern);
	EXPECT(0, rig_wait(rig, 0, 0, PATIENCE));
	EXPECT(pattern, page[0]);
	EXPECT(pattern, page[PAGE / 4 - 1]);
	return true;
}

/* Nothing is there: the queue stops, and goes on behind it. */
static bool misses(struct rig *rig, uint64_t address)
{
	struct tutti_fault fault = {0};

	fill(rig, address, 0xbadbad);
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(TUTTI_ERROR_MEMORY_FAULT, fault.code);
	CHECK(fault.address == address);
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET));
	return true;
}

/** struct memory - a buffer, and where this process sees it. */
struct memory {
	uint32_t bo;
	uint64_t bytes;
	volatile uint32_t *words;
};

static bool make(struct rig *rig, struct memory *memory, uint32_t placement, uint64_t bytes)
{
	uint64_t offset;

	memory->bytes = bytes;
	EXPECT(0, bo_create(rig->fd, bytes, placement, &memory->bo, &offset));
	memory->words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(memory->words != MAP_FAILED);
	return true;
}

static void drop(struct rig *rig, struct memory *memory)
{
	struct drm_gem_close gone = {.handle = memory->bo};

	munmap((void *)memory->words, memory->bytes);
	call(rig->fd, DRM_IOCTL_GEM_CLOSE, &gone);
}

static const volatile uint32_t *page_of(const struct memory *memory, unsigned page)
{
	return memory->words + page * PAGE / 4;
}

/* ---- parts that go ---- */

/* Pages [first, first + count) of a mapping of @all pages: they are gone, their neighbours are not, and they come back. */
static bool cut(struct rig *rig, const struct memory *memory, unsigned all, unsigned first, unsigned count)
{
	const unsigned end = first + count;

	EXPECT(0, map(rig, memory->bo, AT, 0, all * PAGE, 3));
	EXPECT(0, unmap(rig, AT + first * PAGE, count * PAGE));
	if (first)
		CHECK(reaches(rig, AT + (first - 1) * PAGE, page_of(memory, first - 1)));
	CHECK(misses(rig, AT + first * PAGE) && misses(rig, AT + (end - 1) * PAGE));
	if (end < all)
		CHECK(reaches(rig, AT + end * PAGE, page_of(memory, end)));
	if (count < all)
		EXPECT(EEXIST, map(rig, memory->bo, AT, 0, all * PAGE, 3));
	EXPECT(0, map(rig, memory->bo, AT + first * PAGE, first * PAGE, count * PAGE, 3));
	CHECK(reaches(rig, AT + first * PAGE, page_of(memory, first)));
	CHECK(reaches(rig, AT + (end - 1) * PAGE, page_of(memory, end - 1)));
	EXPECT(0, unmap(rig, AT, all * PAGE));
	CHECK(misses(rig, AT) && misses(rig, AT + (all - 1) * PAGE));
	EXPECT(ENOENT, unmap(rig, AT, all * PAGE));
	return true;
}

static bool small_leaves(struct rig *rig)
{
	static const unsigned cuts[][2] = {{0, 1}, {5, 3}, {15, 1}, {0, 16}};
	struct memory memory;

	CHECK(rig_queue(rig) && make(rig, &memory, DRM_TUTTI_PLACE_SYSTEM, 16 * PAGE));
	for (unsigned i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
		CHECK(cut(rig, &memory, 16, cuts[i][0], cuts[i][1]));
	munmap((void *)memory.words, memory.bytes);
	return true;
}

/* At the start, inside of a leaf, over the border of two, a whole one, parts of two and one between, at the end. */
static bool large_leaves(struct rig *rig)
{
	static const unsigned cuts[][2] = {
		{0, 1}, {7, 2}, {LARGE - 1, 2}, {LARGE, LARGE}, {LARGE - 1, LARGE + 2}, {0, LARGE}, {3 * LARGE - 1, 1},
	};
	struct memory memory;

	CHECK(rig_queue(rig) && make(rig, &memory, DRM_TUTTI_PLACE_CARD, 3 * LARGE * PAGE));
	for (unsigned i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
		CHECK(cut(rig, &memory, 3 * LARGE, cuts[i][0], cuts[i][1]));
	munmap((void *)memory.words, memory.bytes);
	return true;
}

/* One call takes the end of a mapping, the hole behind it, a whole one, and the start of another. */
static bool over_several(struct rig *rig)
{
	struct memory memory;

	CHECK(rig_queue(rig) && make(rig, &memory, DRM_TUTTI_PLACE_SYSTEM, 16 * PAGE));
	EXPECT(0, map(rig, memory.bo, AT, 0, 4 * PAGE, 3));
	EXPECT(0, map(rig, memory.bo, AT + 6 * PAGE, 6 * PAGE, 2 * PAGE, 3));
	EXPECT(0, map(rig, memory.bo, AT + 8 * PAGE, 8 * PAGE, 4 * PAGE, 3));
	EXPECT(0, unmap(rig, AT + 2 * PAGE, 8 * PAGE));
	CHECK(reaches(rig, AT + PAGE, page_of(&memory, 1)) && misses(rig, AT + 2 * PAGE));
	CHECK(misses(rig, AT + 6 * PAGE) && misses(rig, AT + 9 * PAGE));
	CHECK(reaches(rig, AT + 10 * PAGE, page_of(&memory, 10)) && reaches(rig, AT + 11 * PAGE, page_of(&memory, 11)));
	drop(rig, &memory); /* what is left keeps it */
	fill(rig, AT + 10 * PAGE, 1);
	EXPECT(0, rig_wait(rig, 0, 0, PATIENCE));
	EXPECT(0, unmap(rig, AT, 16 * PAGE));
	CHECK(misses(rig, AT + PAGE) && misses(rig, AT + 11 * PAGE));
	return true;
}

/* Page tables that a mapping of so many bytes has made. */
static bool tables_for(struct rig *rig, uint32_t bo, uint64_t bytes, unsigned *tables)
{
	unsigned number, before, after;

	CHECK(context_number(rig, &number));
	CHECK(debugfs_number("tutti_contexts", "context %u page tables %u", number, &before));
	EXPECT(0, map(rig, bo, AT, 0, bytes, 3));
	CHECK(debugfs_number("tutti_contexts", "context %u page tables %u", number, &after));
	EXPECT(0, unmap(rig, AT, bytes));
	*tables = after - before;
	return true;
}

static bool tables_of(unsigned context, unsigned *tables)
{
	CHECK(debugfs_number("tutti_contexts", "context %u page tables %u", context, tables));
	return true;
}

/*
 * Unmapping a whole large leaf does not split the leaf after it. A leaf that is unmapped in two parts is split by the first
 * unmapping, and the table for its parts is freed by the second.
 */
static bool splits_no_neighbour(struct rig *rig, const struct memory *large)
{
	unsigned number, none, both, one;

	CHECK(context_number(rig, &number) && tables_of(number, &none));
	EXPECT(0, map(rig, large->bo, AT, 0, LARGE * PAGE, 3));
	EXPECT(0, map(rig, large->bo, AT + LARGE * PAGE, 0, LARGE * PAGE, 3));
	CHECK(tables_of(number, &both));
	EXPECT(0, unmap(rig, AT, LARGE * PAGE));
	CHECK(tables_of(number, &one));
	EXPECT(both, one);
	EXPECT(0, unmap(rig, AT + LARGE * PAGE, PAGE));
	CHECK(tables_of(number, &one));
	EXPECT(both + 1, one);
	EXPECT(0, unmap(rig, AT + LARGE * PAGE, LARGE * PAGE));
	CHECK(tables_of(number, &one));
	EXPECT(none, one);
	return true;
}

/* Two megabytes of card memory are one leaf, wherever the buffer has found room; less, or scattered pages, are not. */
static bool leaf_sizes(struct rig *rig)
{
	struct memory odd, large;
	unsigned number, tables, small;

	CHECK(rig_queue(rig));
	SKIP_UNLESS(context_number(rig, &number), "debugfs cannot be read");
	CHECK(make(rig, &odd, DRM_TUTTI_PLACE_CARD, PAGE) && make(rig, &large, DRM_TUTTI_PLACE_CARD, LARGE * PAGE));
	CHECK(tables_for(rig, large.bo, LARGE * PAGE, &tables) && tables_for(rig, large.bo, (LARGE - 1) * PAGE, &small));
	EXPECT(small, tables + 1);
	CHECK(splits_no_neighbour(rig, &large));
	drop(rig, &odd);
	drop(rig, &large);
	return true;
}

/* Pages next to the ring and the read index of a queue may go, those that hold their first or last byte may not. */
static bool beside_queues(struct rig *rig)
{
	struct drm_tutti_queue_create args;

	CHECK(rig_queue(rig));
	EXPECT(0, map(rig, rig->bo, AT, 0, RIG_BYTES, 3));
	args = queue_args(rig);
	args.ring = AT + 4 * PAGE;
	args.size_log2 = 6; /* a page */
	args.read_index = AT + 9 * PAGE - 8;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	EXPECT(EBUSY, unmap(rig, AT + 4 * PAGE, PAGE));
	EXPECT(EBUSY, unmap(rig, AT + 8 * PAGE, PAGE));
	EXPECT(EBUSY, unmap(rig, AT + 3 * PAGE, 2 * PAGE));
	EXPECT(EBUSY, unmap(rig, AT + 4 * PAGE, 2 * PAGE));
	EXPECT(0, unmap(rig, AT + 3 * PAGE, PAGE));
	EXPECT(0, unmap(rig, AT + 5 * PAGE, PAGE));
	EXPECT(0, unmap(rig, AT + 7 * PAGE, PAGE));
	EXPECT(0, unmap(rig, AT + 9 * PAGE, PAGE));
	args = queue_args(rig);
	args.ring = AT + 12 * PAGE;
	args.read_index = AT + 11 * PAGE;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	EXPECT(0, unmap(rig, AT + 10 * PAGE, PAGE));
	EXPECT(EBUSY, unmap(rig, AT + 11 * PAGE, PAGE));
	CHECK(rig_works(rig));
	return true;
}

/* ---- rings elsewhere ---- */

/** struct ring - of a queue of its own, somewhere in a buffer that says everywhere else that no packet is ready. */
struct ring {
	union tutti_packet *slots;
	volatile uint64_t *doorbell;
	uint64_t next;
};

static bool ring_open(struct rig *rig, struct ring *ring, const struct memory *memory, uint64_t address, unsigned page)
{
	struct drm_tutti_queue_create args = queue_args(rig);

	for (uint64_t i = 0; i < memory->bytes / 4; i++)
		memory->words[i] = TUTTI_PACKET_INVALID;
	args.ring = address;
	args.read_index = BASE + SPARE_INDEX_AT;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	*ring = (struct ring){.slots = (void *)page_of(memory, page)};
	ring->doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)args.doorbell_offset);
	CHECK(ring->doorbell != MAP_FAILED);
	return true;
}

/* As a program does it, but that the ring is not the rig's. */
static bool ring_runs(struct rig *rig, struct ring *ring)
{
	union tutti_packet *slot = &ring->slots[ring->next & ((1u << RING_LOG2) - 1)], packet = {0};
	struct drm_tutti_kick kick = {0};

	packet.agent.arg[0] = BASE + DATA_AT;
	packet.agent.arg[1] = (uint32_t)ring->next;
	packet.agent.arg[2] = 64;
	packet.agent.signal = BASE + SIGNAL_AT + 2 * sizeof(struct tutti_signal);
	rig_signal(rig, 2, 1);
	memcpy((uint8_t *)slot + 4, (uint8_t *)&packet + 4, sizeof(packet) - 4);
	rig_publish(slot, tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM) |
				  TUTTI_AGENT_FILL << 16);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*ring->doorbell = ring->next++;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_KICK, &kick));
	EXPECT(0, rig_wait(rig, 2, 0, PATIENCE));
	return true;
}

/* It runs, round the ring, and a doorbell that is lost is rung again, which takes a look at the right packet. */
static bool ring_is_watched(struct rig *rig, const struct memory *memory, uint64_t address, unsigned page)
{
	struct ring ring;

	CHECK(ring_open(rig, &ring, memory, address, page));
	for (unsigned i = 0; i < (1u << RING_LOG2) + 3; i++)
		CHECK(ring_runs(rig, &ring));
	if (inject_command) {
		CHECK(inject("lost-doorbell") && ring_runs(rig, &ring));
		CHECK(inject("lost-doorbell") && ring_runs(rig, &ring));
	}
	munmap((void *)ring.doorbell, PAGE);
	return true;
}

static bool rings(struct rig *rig)
{
	struct memory system, card;

	CHECK(rig_queue(rig) && make(rig, &system, DRM_TUTTI_PLACE_SYSTEM, 16 * PAGE) &&
	      make(rig, &card, DRM_TUTTI_PLACE_CARD, 16 * PAGE));
	/* a part of a buffer; what is left of it when its start, and then its middle, is gone */
	EXPECT(0, map(rig, system.bo, AT, 3 * PAGE, 12 * PAGE, 3));
	CHECK(ring_is_watched(rig, &system, AT + 2 * PAGE, 5));
	EXPECT(0, unmap(rig, AT, PAGE));
	CHECK(ring_is_watched(rig, &system, AT + 4 * PAGE, 7));
	EXPECT(0, unmap(rig, AT + 6 * PAGE, PAGE));
	CHECK(ring_is_watched(rig, &system, AT + 5 * PAGE, 8) && ring_is_watched(rig, &system, AT + 9 * PAGE, 12));
	EXPECT(0, map(rig, card.bo, 2 * AT, PAGE, 8 * PAGE, 3));
	CHECK(ring_is_watched(rig, &card, 2 * AT + 4 * PAGE, 5));
	drop(rig, &system);
	drop(rig, &card);
	return true;
}

/* ---- code ---- */

/* An empty kernel in the rig's code page, by another address. */
static void dispatch(struct rig *rig, uint64_t code)
{
	union tutti_packet packet, *slot = rig_slot(rig);

	rig_dispatch_at(&packet, 1, 0);
	packet.dispatch.kernel_object = code;
	memcpy((uint8_t *)slot + 4, (uint8_t *)&packet + 4, sizeof(packet) - 4);
	rig_publish(slot, packet.word[0]);
	rig_ring(rig);
}

/* What may not be executed is not. */
static bool executable(struct rig *rig)
{
	static const uint32_t ret[] = {0x00008067};
	struct tutti_fault fault = {0};

	CHECK(rig_queue(rig));
	rig_code(rig, ret, sizeof(ret));
	EXPECT(0, map(rig, rig->bo, AT, 0, RIG_BYTES, 7));
	EXPECT(0, map(rig, rig->bo, 2 * AT, 0, RIG_BYTES, 3));
	dispatch(rig, AT + CODE_AT);
	EXPECT(0, rig_progress(rig, 1, PATIENCE));
	dispatch(rig, 2 * AT + CODE_AT);
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(TUTTI_ERROR_MEMORY_FAULT, fault.code);
	return true;
}

/* ---- large, old, and other memory ---- */

/* Longer than what is zeroed in one piece, and no multiple of it. */
static bool large_zeroed(struct rig *rig)
{
	struct memory memory;

	for (unsigned round = 0; round < 2; round++) {
		CHECK(rig_open(rig) && make(rig, &memory, DRM_TUTTI_PLACE_CARD, 7 * (1 << 19) + PAGE));
		for (uint64_t i = 0; i < memory.bytes / 4; i += 16)
			EXPECT(0, (long)memory.words[i]);
		EXPECT(0, (long)memory.words[memory.bytes / 4 - 1]);
		memset((void *)memory.words, 0xa5, memory.bytes);
		munmap((void *)memory.words, memory.bytes);
		rig_close(rig);
	}
	return true;
}

/* What a process has written stays when nobody has it mapped and the system wants its memory. */
static bool kept(struct rig *rig)
{
	struct drm_tutti_bo_info info = {0};
	struct memory memory;
	FILE *file;

	SKIP_UNLESS(!getuid() && (file = fopen("/proc/sys/vm/drop_caches", "we")), "only root drops caches");
	CHECK(rig_open(rig) && make(rig, &memory, DRM_TUTTI_PLACE_SYSTEM, 64 * PAGE));
	memset((void *)memory.words, 0x5a, memory.bytes);
	munmap((void *)memory.words, memory.bytes);
	fputs("3", file);
	CHECK(!fclose(file));
	info.handle = memory.bo;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_INFO, &info));
	memory.words = mmap(NULL, memory.bytes, PROT_READ, MAP_SHARED, rig->fd, (off_t)info.mmap_offset);
	CHECK(memory.words != MAP_FAILED);
	for (uint64_t i = 0; i < memory.bytes / 4; i++)
		EXPECT(0x5a5a5a5a, (long)memory.words[i]);
	munmap((void *)memory.words, memory.bytes);
	return true;
}

/* More pages than are pinned at a time; each of them is the one it should be, and only a part of them is mapped. */
static bool many_own_pages(struct rig *rig)
{
	const unsigned pages = 1300, skip = 3;
	static const unsigned looks[] = {3, 4, 511, 512, 513, 1023, 1024, 1299};
	uint32_t *words = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_tutti_bo_userptr args = {.bytes = pages * PAGE, .address = (uintptr_t)words};

	CHECK(words != MAP_FAILED && rig_queue(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_USERPTR, &args));
	EXPECT(0, map(rig, args.handle, AT, skip * PAGE, (pages - skip) * PAGE, 3));
	for (unsigned i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		CHECK(reaches(rig, AT + (looks[i] - skip) * PAGE, words + looks[i] * PAGE / 4));
	for (unsigned i = 0; i < skip * PAGE / 4; i++)
		CHECK(!words[i]);
	CHECK(misses(rig, AT + (pages - skip) * PAGE));
	munmap(words, pages * PAGE);
	return true;
}

/* How many large leaves a page table can hold. No machine takes less than a nanosecond to look at one of them. */
#define LEAVES (TUTTI_VA_END / (2u << 20))
#define TRIES 40u

/*
 * Unmapping the whole space does not take a step for each of the 67 million large leaves. Some calls may take longer: while a
 * busy machine keeps the guest's processors waiting, the guest counts that time as part of the call.
 */
static bool all_at_once(struct rig *rig)
{
	struct timespec from, to;
	struct memory memory;
	unsigned quick = 0;

	CHECK(rig_context(rig) && make(rig, &memory, DRM_TUTTI_PLACE_SYSTEM, PAGE));
	for (unsigned i = 0; i < TRIES; i++) {
		EXPECT(0, map(rig, memory.bo, AT, 0, PAGE, 3));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		EXPECT(0, unmap(rig, 0, TUTTI_VA_END));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		quick += (to.tv_sec - from.tv_sec) * (int64_t)SECOND + to.tv_nsec - from.tv_nsec < (int64_t)LEAVES;
	}
	drop(rig, &memory);
	CHECK(quick > TRIES / 2);
	return true;
}

void spaces_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-23: parts of a mapping go and come back", small_leaves},
		{"SYS-23: parts of a mapping in large leaves go and come back", large_leaves},
		{"SYS-23: one call unmaps parts of several mappings", over_several},
		{"SYS-23: two megabytes are one leaf", leaf_sizes},
		{"SYS-23 REL-12: a whole address space is unmapped at once", all_at_once},
		{"SYS-23 SYS-24: memory beside a queue may go", beside_queues},
		{"SYS-24 SYS-28: rings in parts of buffers and in card memory", rings},
		{"SYS-23 SYS-27: memory that may not be executed", executable},
		{"SYS-22 SYS-27: a large new buffer in card memory is zero", large_zeroed},
		{"SYS-22: a buffer keeps what nobody has mapped", kept},
		{"SYS-41: more of the process' pages than are pinned at a time", many_own_pages},
		{0},
	};

	subtests(tests);
}
