// SPDX-License-Identifier: MIT
#include "place/kernel_cache.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"

struct kernel kernels[FW_KERNELS];

COLD void kernel_init(void)
{
	unsigned i;

	place_state.any_independent = false;
	for (i = 0; i < FW_KERNELS; i++)
		kernels[i] = (struct kernel){ .high = ~0u };
}

static void forget(struct kernel *kernel)
{
	kernel->state = KERNEL_NONE;
	kernel->high = ~0u;
	kernel->unused = 0;
}

static __attribute__((noinline)) int refuse(struct kernel *kernel)
{
	packet_refuse(kernel->code, offsetof(struct tutti_dispatch_packet, kernel_object));
	packet_error.cause = kernel->cause;
	packet_error.address = kernel->address;
	packet_error.engine = kernel->cause ? TUTTI_ENGINE_FETCH : TUTTI_ENGINE_FIRMWARE;
	packet_error.access = kernel->cause ? TUTTI_ACCESS_READ : TUTTI_ACCESS_NONE;
	/* The next packet with this descriptor fetches it again. */
	forget(kernel);
	return kernel->code;
}

/* From now on packet_dispatch() finds it by itself. */
static void use(struct kernel *kernel)
{
	kernel->unused = 0;
	kernel->high = kernel->asked;
}

/* Was it fetched for a queue that has yet to run? All queues that waited for a descriptor are ready when it arrives. */
static bool is_kept(const struct kernel *kernel, const struct queue *queue)
{
	return kernel->unused && kernel->owner != queue_id(queue) && queue_set_has(&queue_table.ready, kernel->owner);
}

/* Run @queue again behind those that are ready. What it has asked for and does not use now is kept no longer. */
static int put_off(struct queue *queue)
{
	struct kernel *kernel;

	for (kernel = kernels; kernel < kernels + FW_KERNELS; kernel++)
		if (kernel->owner == queue_id(queue))
			kernel->unused = 0;
	queue->wait = WAIT_KERNEL;
	wait_ready(queue);
	return PACKET_PARKED;
}

/* The caller has asked for room for the fetch: queue_run() in PLACE_OTHERS, or with a child task's answer. */
static int kernel_miss(struct queue *queue, struct kernel *kernel, uint32_t low, uint32_t high)
{
	uint64_t address = low | (uint64_t)(high & 0xffff) << 32;

	if (kernel->state == KERNEL_FETCHING)
		return wait_park(queue, WAIT_KERNEL);
	if (kernel->state == KERNEL_BAD && kernel->low == low && kernel->asked == high)
		return refuse(kernel);
	if (is_kept(kernel, queue))
		return put_off(queue);
	kernel->low = low;
	kernel->high = ~0u;
	kernel->asked = high;
	kernel->state = KERNEL_FETCHING;
	kernel->stale = 0;
	kernel->owner = (uint16_t)queue_id(queue);
	counters.kernel_misses++;
	counters.fetches++;
	command_fetch(high >> 16, 0, address, sizeof(kernel->fetched), &kernel->fetched,
		      TAG_KERNEL | (unsigned)(kernel - kernels));
	return wait_park(queue, WAIT_KERNEL);
}

COLD int kernel_get(struct queue *queue, uint64_t object, const struct kernel **found)
{
	uint32_t low = (uint32_t)object, high = (uint32_t)(object >> 32);
	struct kernel *kernel = kernel_slot(low, queue->asid_queue);

	if (!object || low & 63 || high >> 15)
		return packet_refuse(TUTTI_ERROR_CODE_OBJECT, offsetof(struct tutti_dispatch_packet, kernel_object));
	high |= queue->asid_queue << 16;
	if (kernel->low != low || kernel->asked != high || kernel->state != KERNEL_READY)
		return kernel_miss(queue, kernel, low, high);
	use(kernel);
	*found = kernel;
	return 0;
}

COLD const struct divisor *kernel_resize(const struct kernel *kernel, uint32_t x, uint32_t y, uint32_t z)
{
	struct divisor *size = (struct divisor *)kernel->size;
	const uint32_t by[3] = { x, y, z };

	for (unsigned i = 0; i < 3; i++)
		divisor_set(&size[i], by[i]);
	return size;
}

static bool power_of_two(uint32_t x)
{
	return x && !(x & (x - 1));
}

COLD int kernel_check(struct kernel *kernel)
{
	const struct tutti_kernel_descriptor *d = &kernel->fetched;
	uint64_t address = kernel->low | (uint64_t)(kernel->asked & 0xffff) << 32, entry;
	unsigned i;

	if (d->magic != TUTTI_KERNEL_MAGIC || d->version != 1 || d->flags & ~TUTTI_KERNEL_FLAGS || d->pad0 || d->pad1)
		return TUTTI_ERROR_CODE_OBJECT;
	if (!power_of_two(d->kernarg_align) || d->kernarg_align < 16 || d->kernarg_align > 4096)
		return TUTTI_ERROR_CODE_OBJECT;
	entry = address + (uint64_t)d->entry_offset;
	if (!entry || entry & 1 || !fw_address_ok(entry))
		return TUTTI_ERROR_CODE_OBJECT;
	if (d->barriers > 16 || d->scalar_blocks > fw.scalar_blocks || d->vector_blocks > fw.vector_blocks)
		return TUTTI_ERROR_CODE_OBJECT;
	if (d->cga_kind > TUTTI_CGA_GPU || (d->cga_kind && !(d->cga[0] && d->cga[1] && d->cga[2])))
		return TUTTI_ERROR_CODE_OBJECT;
	kernel->grouped = d->cga_kind != TUTTI_CGA_NONE;
	kernel->entry[0] = (uint32_t)entry;
	kernel->entry[1] = (uint32_t)(entry >> 32);
	kernel->registers = d->scalar_blocks | (uint32_t)d->vector_blocks << 16;
	kernel->barriers = (uint32_t)d->barriers << 16 | (kernel->grouped ? KERNEL_GROUPED : 0);
	kernel->group_bytes = d->group_bytes;
	kernel->private_bytes = d->private_bytes;
	kernel->items_max = fw.workgroup_items;
	if (d->workgroup_max && d->workgroup_max < kernel->items_max)
		kernel->items_max = d->workgroup_max;
	kernel->demands = d->flags & TUTTI_KERNEL_INDEPENDENT ? KERNEL_WAVES : 0;
	place_state.any_independent |= !!kernel->demands;
	for (i = 0; i < 3; i++) {
		kernel->workgroup[i] = d->workgroup[i];
		kernel->demands |= d->workgroup[i] ? KERNEL_SIZE : 0;
	}
	kernel_resize(kernel, 1, 1, 1);
	return 0;
}

COLD uint32_t kernel_flags_at(unsigned asid, uint32_t low, uint32_t high)
{
	const struct kernel *k;

	for (k = kernels; k < kernels + FW_KERNELS; k++)
		if (k->high != ~0u && k->high >> 16 == asid && k->entry[0] == low && k->entry[1] == high)
			return k->fetched.flags;
	return 0;
}

struct tutti_cga_shape kernel_cga(const struct kernel *kernel)
{
	const struct tutti_kernel_descriptor *d = &kernel->fetched;

	return (struct tutti_cga_shape){ d->cga[0], d->cga[1], d->cga[2], d->cga_kind };
}

COLD void kernel_event_fetch(unsigned number, const struct tutti_event *event)
{
	struct kernel *kernel = &kernels[number & (FW_KERNELS - 1)];

	if (kernel->state != KERNEL_FETCHING)
		return;
	kernel->cause = event->word[0] >> 8 & 0xff;
	kernel->address = event->word[1] | (uint64_t)event->word[2] << 32;
	wait_wake(WAIT_KERNEL);
	if (kernel->stale) {
		forget(kernel);
		return;
	}
	kernel->code = kernel->cause ? TUTTI_ERROR_CODE_OBJECT : (uint8_t)kernel_check(kernel);
	kernel->state = kernel->code ? KERNEL_BAD : KERNEL_READY;
	kernel->unused = 1;
}

COLD void kernel_invalidate(unsigned asid, uint64_t address, uint64_t bytes)
{
	struct kernel *kernel;

	for (kernel = kernels; kernel < kernels + FW_KERNELS; kernel++) {
		uint32_t high = kernel->asked;
		uint64_t at = kernel->low | (uint64_t)(high & 0xffff) << 32;

		if (kernel->state == KERNEL_NONE || high >> 16 != asid)
			continue;
		if (bytes && (at >= address ? at - address >= bytes : address - at >= sizeof(kernel->fetched)))
			continue;
		if (kernel->state == KERNEL_FETCHING) {
			kernel->stale = 1;
			continue;
		}
		forget(kernel);
	}
}
