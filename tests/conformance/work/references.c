// SPDX-License-Identifier: MIT
/* Reference state buffers: what packets have stored there is read, and forgotten, entry by entry (spec SYS-25, PKT-10). */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

#define KERNARG(entry) (BASE + SPARE_DATA_AT + 64 * (entry))

/** struct buffer - an RSB, and the page that shows it if it lies in the soft core's memory. */
struct buffer {
	uint32_t handle;
	const volatile struct tutti_rsb *page;
};

static bool make(struct rig *rig, struct buffer *buffer, uint32_t placement)
{
	struct drm_tutti_rsb_create args = {.context = rig->context, .placement = placement};
	void *page;

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &args));
	*buffer = (struct buffer){.handle = args.handle};
	EXPECT(placement == TUTTI_RSB_MEMORY, !args.mmap_offset);
	if (!args.mmap_offset)
		return true;
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig->fd, (off_t)args.mmap_offset);
	CHECK(page != MAP_FAILED);
	buffer->page = page;
	return true;
}

/* Another queue in the place of the rig's, which uses the RSB. */
static bool use(struct rig *rig, const struct buffer *buffer)
{
	struct drm_tutti_queue_create args = queue_args(rig);

	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	munmap((void *)rig->doorbell, PAGE);
	rig->doorbell = NULL;
	for (unsigned i = 0; i < 1u << RING_LOG2; i++)
		*(uint32_t *)(void *)(rig->memory + RING_AT + 64 * i) = TUTTI_PACKET_INVALID;
	rig->write_index = 0;
	args.flags = TUTTI_QUEUE_EXTENDED;
	args.rsb = buffer->handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	rig->queue = args.handle;
	rig->doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)args.doorbell_offset);
	CHECK(rig->doorbell != MAP_FAILED);
	return true;
}

static bool store(struct rig *rig, unsigned entry)
{
	union tutti_packet packet, *slot = rig_slot(rig);

	rig_dispatch_at(&packet, 1, KERNARG(entry));
	packet.dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | entry);
	memcpy((uint8_t *)slot + 4, (uint8_t *)&packet + 4, sizeof(packet) - 4);
	rig_publish(slot, packet.word[0]);
	rig_ring(rig);
	EXPECT(0, rig_progress(rig, rig->write_index, PATIENCE));
	return true;
}

/* Exactly the entries in @mask are in use, by RSB_READ and in the page. */
static bool holds(struct rig *rig, const struct buffer *buffer, unsigned mask)
{
	struct tutti_rsb table;
	struct drm_tutti_rsb_read args = {.handle = buffer->handle, .pointer = (uintptr_t)&table};

	memset(&table, 0xa5, sizeof(table));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_READ, &args));
	for (unsigned i = 0; i < TUTTI_REFERENCES; i++) {
		const struct tutti_reference *r = &table.reference[i];

		EXPECT(mask >> i & 1, !!(r->flags & TUTTI_REFERENCE_VALID));
		if (mask >> i & 1)
			CHECK(r->kernel_object == BASE + CODE_AT && r->kernarg == KERNARG(i));
		if (buffer->page)
			EXPECT(mask >> i & 1, !!(buffer->page->reference[i].flags & TUTTI_REFERENCE_VALID));
		if (buffer->page && (mask >> i & 1))
			CHECK(buffer->page->reference[i].kernarg == KERNARG(i));
	}
	return true;
}

static bool forget(struct rig *rig, const struct buffer *buffer, uint32_t mask)
{
	struct drm_tutti_rsb_invalidate args = {.handle = buffer->handle, .mask = mask};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_INVALIDATE, &args));
	return true;
}

/* Two of a kind: what is done to one leaves the other alone. */
static bool stored(struct rig *rig, uint32_t placement)
{
	static const uint32_t ret[] = {0x00008067};
	struct buffer one, two;

	CHECK(rig_queue(rig) && make(rig, &one, placement) && make(rig, &two, placement));
	rig_code(rig, ret, sizeof(ret));
	CHECK(holds(rig, &one, 0) && holds(rig, &two, 0));
	CHECK(use(rig, &one) && store(rig, 0) && store(rig, 5) && store(rig, 7));
	CHECK(holds(rig, &one, 0xa1) && holds(rig, &two, 0));
	CHECK(use(rig, &two) && store(rig, 3) && store(rig, 5));
	CHECK(holds(rig, &one, 0xa1) && holds(rig, &two, 0x28));
	CHECK(forget(rig, &one, 0) && holds(rig, &one, 0xa1));
	CHECK(forget(rig, &one, 0x20) && holds(rig, &one, 0x81) && holds(rig, &two, 0x28));
	CHECK(forget(rig, &two, 0xff) && holds(rig, &one, 0x81) && holds(rig, &two, 0));
	if (one.page)
		munmap((void *)one.page, PAGE);
	if (two.page)
		munmap((void *)two.page, PAGE);
	return true;
}

/* The page of a destroyed RSB is ordinary memory: it does not show what is stored in the next RSB with the same number. */
static bool page_of_before(struct rig *rig)
{
	static const uint32_t ret[] = {0x00008067};
	struct drm_tutti_handle gone = {0};
	struct buffer before, after;

	CHECK(rig_queue(rig) && make(rig, &before, TUTTI_RSB_SCRATCH));
	SKIP_UNLESS(before.page, "the card shows no RSBs");
	rig_code(rig, ret, sizeof(ret));
	CHECK(holds(rig, &before, 0)); /* this also touches the page */
	gone.handle = before.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_DESTROY, &gone));
	CHECK(make(rig, &after, TUTTI_RSB_SCRATCH) && use(rig, &after) && store(rig, 2) && holds(rig, &after, 4));
	for (unsigned i = 0; i < TUTTI_REFERENCES; i++)
		CHECK(!before.page->reference[i].flags);
	munmap((void *)before.page, PAGE);
	munmap((void *)after.page, PAGE);
	return true;
}

static bool in_local_memory(struct rig *rig)
{
	return stored(rig, TUTTI_RSB_SCRATCH);
}

static bool in_card_memory(struct rig *rig)
{
	return stored(rig, TUTTI_RSB_MEMORY);
}

void references_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-25 PKT-10: what is stored in RSBs is read and forgotten", in_local_memory},
		{"SYS-25 PKT-10: what is stored in RSBs in card memory is read and forgotten", in_card_memory},
		{"SYS-25 SYS-27: the page of a destroyed RSB shows nothing of the next one", page_of_before},
		{0},
	};

	subtests(tests);
}
