/* SPDX-License-Identifier: MIT */
/* The card without libtutti: see raw.h. */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"
#include "rig.h"

#define ARENA_BYTES (64u << 20)
#define LEAF (TUTTI_PTE_V | TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D)

uint64_t raw_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void *raw_read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	void *data;
	long size;

	if (!file)
		fail_msg("cannot open %s", path);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	data = malloc((size_t)size);
	assert_int_equal(fread(data, 1, (size_t)size, file), size);
	fclose(file);
	*bytes = (size_t)size;
	return data;
}

static void count_interrupt(void *context, unsigned vector)
{
	struct raw *raw = context;

	__atomic_fetch_add(&raw->interrupts, 1, __ATOMIC_RELAXED);
}

struct raw *raw_create_off(const struct tutti_card_config *config)
{
	struct tutti_card_config c = { .mode = TUTTI_CARD_FAST };
	struct raw *raw;
	const char *path = getenv("TUTTI_TEST_RAW");
	size_t bytes;
	void *code;

	/* shared, so that a forked client sees and writes the same queues */
	raw = mmap(NULL, sizeof(*raw), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(raw, MAP_FAILED);
	if (config)
		c = *config;
	if (!c.acknowledge)
		c.acknowledge = rig_acknowledge();
	c.idle_traps = rig_idle_traps();
	c.garbage = 16u << 20;
	c.slice = 400;
	if (!c.interrupt) {
		c.interrupt = count_interrupt;
		c.context = raw;
	}
	raw->fast = c.mode == TUTTI_CARD_FAST;
	raw->bar_bytes = tutti_card_bar_bytes(&c);
	c.bar = mmap(NULL, raw->bar_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(c.bar, MAP_FAILED);
	assert_int_equal(tutti_card_create(&c, &raw->card), 0);
	raw->bar = tutti_card_bar(raw->card);
	raw->discovery = (const void *)raw->bar;
	raw->control = (void *)(raw->bar + raw->discovery->control.offset);
	raw->status = (void *)(raw->bar + raw->discovery->status.offset);
	raw->arena_bytes = ARENA_BYTES;
	raw->arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(raw->arena, MAP_FAILED);
	assert_int_equal(tutti_card_host_add(raw->card, raw->arena, ARENA_BYTES), 0);
	code = raw_read_file(path ? path : rig_out("tests/integration/kernels/raw.bin"), &bytes);
	raw->code = raw_alloc(raw, bytes);
	memcpy(raw->code, code, bytes);
	free(code);
	return raw;
}

struct raw *raw_create(const struct tutti_card_config *config)
{
	struct raw *raw = raw_create_off(config);

	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
	return raw;
}

void raw_destroy(struct raw *raw)
{
	tutti_card_destroy(raw->card);
	munmap(raw->arena, raw->arena_bytes);
	munmap(raw->bar, raw->bar_bytes);
	munmap(raw, sizeof(*raw));
}

void raw_wake(struct raw *raw)
{
	tutti_fence();
	if (!tutti_load_relaxed(&raw->status->asleep))
		return;
	if (raw->kick)
		raw->kick(raw->kick_context);
	else
		tutti_card_kick(raw->card);
}

bool raw_pump(struct raw *raw, bool (*done)(void *), void *context, unsigned ms)
{
	uint64_t end = raw_ms() + ms;

	while (!done(context)) {
		if (raw_ms() > end)
			return done(context);
		if (raw->kick || tutti_card_run(raw->card, done, context))
			usleep(50);
	}
	return true;
}

static bool never(void *context)
{
	return false;
}

void raw_run(struct raw *raw, unsigned ms)
{
	raw_pump(raw, never, NULL, ms);
}

void raw_settle(struct raw *raw)
{
	uint64_t end = raw_ms() + 1000;
	unsigned quiet = 0;

	while (quiet < 3 && raw_ms() < end)
		quiet = tutti_card_run(raw->card, never, NULL) ? quiet + 1 : 0;
}

struct until {
	const int64_t *word;
	int64_t value;
};

static bool reached(void *context)
{
	struct until *until = context;

	return tutti_load_acquire(until->word) == until->value;
}

bool raw_until(struct raw *raw, const void *word, int64_t value, unsigned ms)
{
	struct until until = { word, value };

	return raw_pump(raw, reached, &until, ms);
}

static bool booted(void *context)
{
	struct raw *raw = context;
	uint32_t state = tutti_load_acquire(&raw->status->state);

	return tutti_load_acquire(&raw->status->boot_sequence) == raw->control->boot_sequence &&
	       (state == TUTTI_STATE_RUNNING || state == TUTTI_STATE_FAILED || state == TUTTI_STATE_CRASHED);
}

unsigned raw_boot_image(struct raw *raw, const void *image, size_t bytes)
{
	memcpy(raw->bar + raw->discovery->aperture, image, bytes);
	raw->card_used = (bytes + 4095) & ~4095ull;
	raw->control->image_offset = 0;
	raw->control->image_bytes = bytes;
	/* the card's indices are 0 after a boot, so the host's must be, too */
	raw->control->host_ring_tail = 0;
	raw->control->card_ring_head = 0;
	raw->next_id = 1;
	raw->in = 0;
	raw->crumb_bytes = 0; /* its mapping was lost with the old contexts */
	tutti_store_release(&raw->control->boot_sequence, raw->control->boot_sequence + 1);
	tutti_card_kick(raw->card);
	raw_pump(raw, booted, raw, 5000);
	return raw->status->state;
}

unsigned raw_boot(struct raw *raw, const char *path)
{
	const char *firmware = path ? path : getenv("TUTTI_FIRMWARE");
	size_t bytes;
	char name[64];
	void *image;
	unsigned state;

	snprintf(name, sizeof(name), "firmware/%s", tutti_image_name(raw->discovery->sms));
	image = raw_read_file(firmware ? firmware : rig_out(name), &bytes);
	state = raw_boot_image(raw, image, bytes);
	free(image);
	return state;
}

/* ---- kernel channel ---- */

static uint32_t ring_slots(struct tutti_region region)
{
	return region.bytes / (uint32_t)sizeof(struct tutti_message);
}

uint32_t raw_send(struct raw *raw, const struct tutti_message *message)
{
	struct tutti_region region = raw->discovery->host_ring;
	struct tutti_message *ring = (void *)(raw->bar + region.offset);
	uint32_t tail = raw->control->host_ring_tail;
	struct tutti_message *slot = &ring[tail % ring_slots(region)];

	assert_true(tail - tutti_load_acquire(&raw->status->host_ring_head) < ring_slots(region));
	*slot = *message;
	slot->id = raw->next_id++;
	tutti_store_release(&raw->control->host_ring_tail, tail + 1);
	raw_wake(raw);
	return slot->id;
}

/* move messages that have arrived from the card's ring to the inbox */
static void receive(struct raw *raw)
{
	struct tutti_region region = raw->discovery->card_ring;
	const struct tutti_message *ring = (const void *)(raw->bar + region.offset);
	uint32_t tail = tutti_load_acquire(&raw->status->card_ring_tail);

	while (raw->control->card_ring_head != tail) {
		assert_true(raw->in < 256);
		raw->inbox[raw->in++] = ring[raw->control->card_ring_head % ring_slots(region)];
		tutti_store_release(&raw->control->card_ring_head, raw->control->card_ring_head + 1);
	}
}

struct wanted {
	struct raw *raw;
	uint32_t id;
	unsigned type, at;
};

static bool arrived(void *context)
{
	struct wanted *wanted = context;

	receive(wanted->raw);
	for (wanted->at = 0; wanted->at < wanted->raw->in; wanted->at++) {
		const struct tutti_message *m = &wanted->raw->inbox[wanted->at];

		if (m->type == wanted->type && m->id == wanted->id)
			return true;
	}
	return false;
}

static struct tutti_message take(struct raw *raw, unsigned at)
{
	struct tutti_message message = raw->inbox[at];

	memmove(&raw->inbox[at], &raw->inbox[at + 1], (raw->in - at - 1) * sizeof(message));
	raw->in--;
	return message;
}

struct tutti_message raw_reply(struct raw *raw, uint32_t id)
{
	struct wanted wanted = { raw, id, TUTTI_MSG_REPLY, 0 };

	if (!raw_pump(raw, arrived, &wanted, RAW_PATIENCE))
		fail_msg("no reply to message %u", id);
	return take(raw, wanted.at);
}

struct tutti_message raw_call(struct raw *raw, const struct tutti_message *message)
{
	return raw_reply(raw, raw_send(raw, message));
}

int raw_ask(struct raw *raw, unsigned type, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	struct tutti_message message = { .type = (uint16_t)type };

	message.arg[0] = arg0;
	message.arg[1] = arg1;
	message.arg[2] = arg2;
	return raw_call(raw, &message).status;
}

bool raw_event(struct raw *raw, unsigned type, struct tutti_message *event, unsigned ms)
{
	struct wanted wanted = { raw, 0, type, 0 };

	if (!raw_pump(raw, arrived, &wanted, ms))
		return false;
	*event = take(raw, wanted.at);
	return true;
}

void raw_counters(struct raw *raw, uint64_t counters[TUTTI_COUNTERS])
{
	raw_settle(raw);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_COUNTERS, 0, 0, 0), 0);
	raw_settle(raw);
	memcpy(counters, raw->bar + raw->discovery->counters.offset, TUTTI_COUNTERS * sizeof(uint64_t));
}

/* ---- memory ---- */

void *raw_alloc(struct raw *raw, size_t bytes)
{
	uint8_t *memory = raw->arena + raw->arena_used;

	raw->arena_used += (bytes + 4095) & ~4095ull;
	assert_true(raw->arena_used <= raw->arena_bytes);
	return memory;
}

uint64_t raw_bus(const void *pointer)
{
	return TUTTI_BUS_HOST | (uintptr_t)pointer;
}

static uint64_t *leaf(struct raw_space *space, uint64_t va)
{
	uint64_t *table = space->root;
	unsigned level;

	for (level = TUTTI_MMU_LEVELS - 1; level > 0; level--) {
		uint64_t *pte = &table[tutti_va_index(va, level)];

		if (!*pte) {
			void *next = raw_alloc(space->raw, TUTTI_PAGE_SIZE);

			*pte = tutti_pte(raw_bus(next), TUTTI_PTE_V);
		}
		table = (void *)(uintptr_t)(tutti_pte_bus(*pte) & ~TUTTI_BUS_HOST);
	}
	return &table[tutti_va_index(va, 0)];
}

void raw_map(struct raw_space *space, uint64_t va, uint64_t bus, size_t bytes, uint64_t flags)
{
	uint64_t at;

	for (at = 0; at < bytes; at += TUTTI_PAGE_SIZE)
		*leaf(space, va + at) = tutti_pte(bus + at, LEAF | flags);
}

void raw_unmap(struct raw_space *space, uint64_t va, size_t bytes)
{
	uint64_t at;

	for (at = 0; at < bytes; at += TUTTI_PAGE_SIZE)
		*leaf(space, va + at) = 0;
}

void raw_share(struct raw_space *space, void *memory, size_t bytes)
{
	raw_map(space, (uintptr_t)memory, raw_bus(memory), bytes, TUTTI_PTE_R | TUTTI_PTE_W);
}

void *raw_new(struct raw_space *space, size_t bytes)
{
	void *memory = raw_alloc(space->raw, bytes);

	raw_share(space, memory, bytes);
	return memory;
}

void *raw_small(struct raw_space *space)
{
	struct raw *raw = space->raw;
	void *memory;

	/* a page belongs to the address space it was first allocated for */
	if (raw->crumb_bytes < 64 || raw->crumb_space != space) {
		raw->crumb = raw_new(space, TUTTI_PAGE_SIZE);
		raw->crumb_bytes = TUTTI_PAGE_SIZE;
		raw->crumb_space = space;
	}
	memory = raw->crumb;
	raw->crumb += 64;
	raw->crumb_bytes -= 64;
	return memory;
}

uint64_t *raw_args(struct raw_space *space, const void *arg0, uint64_t arg1, uint64_t arg2)
{
	uint64_t *args = raw_small(space);

	args[0] = (uintptr_t)arg0;
	args[1] = arg1;
	args[2] = arg2;
	return args;
}

struct tutti_signal *raw_signal(struct raw_space *space, int64_t value)
{
	struct tutti_signal *signal = raw_small(space);

	signal->value = value;
	return signal;
}

void raw_space_init(struct raw *raw, struct raw_space *space, uint32_t asid)
{
	struct tutti_message message = { .type = TUTTI_MSG_CONTEXT_CREATE };

	space->raw = raw;
	space->asid = asid;
	space->root = raw_alloc(raw, TUTTI_PAGE_SIZE);
	raw_map(space, (uintptr_t)raw->code, raw_bus(raw->code), RAW_KERNELS * RAW_KERNEL_BYTES,
		TUTTI_PTE_R | TUTTI_PTE_X);
	message.context.asid = asid;
	message.context.root = raw_bus(space->root);
	assert_int_equal(raw_call(raw, &message).status, 0);
}

uint64_t raw_kernel(struct raw *raw, enum raw_kernel kernel)
{
	return (uintptr_t)raw->code + kernel * RAW_KERNEL_BYTES;
}

/* ---- queues ---- */

struct tutti_message raw_queue_message(struct raw_space *space, struct raw_queue *queue, unsigned id,
				       unsigned flags, unsigned size_log2)
{
	struct raw *raw = space->raw;
	struct tutti_message message = { .type = TUTTI_MSG_QUEUE_CREATE };
	size_t i, packets = (size_t)1 << size_log2;

	memset(queue, 0, sizeof(*queue));
	queue->space = space;
	queue->id = id;
	queue->mask = packets - 1;
	queue->ring = raw_new(space, packets * sizeof(union tutti_packet));
	for (i = 0; i < packets; i++)
		queue->ring[i].dispatch.header = TUTTI_PACKET_INVALID;
	queue->read_index = raw_new(space, 64);
	queue->doorbell = (void *)(raw->bar + raw->discovery->doorbells.offset + id * TUTTI_PAGE_SIZE);
	*queue->doorbell = TUTTI_DOORBELL_EMPTY;
	message.queue.queue = (uint16_t)id;
	message.queue.asid = (uint16_t)space->asid;
	message.queue.flags = (uint16_t)flags;
	message.queue.rsb = (uint16_t)id;
	message.queue.ring = (uintptr_t)queue->ring;
	message.queue.read_index = (uintptr_t)queue->read_index;
	message.queue.size_log2 = (uint8_t)size_log2;
	message.queue.priority = 5;
	message.queue.timeout_ms = 10000;
	return message;
}

void raw_queue_init(struct raw_space *space, struct raw_queue *queue, unsigned id, unsigned flags,
		    unsigned size_log2)
{
	struct tutti_message create, rsb = { .type = TUTTI_MSG_RSB_CREATE };

	if (flags & TUTTI_QUEUE_EXTENDED && !(flags & TUTTI_QUEUE_RSB)) {
		rsb.rsb.rsb = (uint16_t)id;
		rsb.rsb.asid = (uint16_t)space->asid;
		rsb.rsb.placement = TUTTI_RSB_SCRATCH;
		assert_int_equal(raw_call(space->raw, &rsb).status, 0);
		flags |= TUTTI_QUEUE_RSB;
	}
	create = raw_queue_message(space, queue, id, flags, size_log2);
	assert_int_equal(raw_call(space->raw, &create).status, 0);
}

union tutti_packet raw_dispatch(struct raw *raw, enum raw_kernel kernel, uint32_t items, uint32_t workgroup,
				const void *kernarg, struct tutti_signal *signal)
{
	union tutti_packet packet = {
		.dispatch = {
			.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM),
			.setup = 1,
			.workgroup_x = (uint16_t)workgroup,
			.workgroup_y = 1,
			.workgroup_z = 1,
			.grid_x = items,
			.grid_y = 1,
			.grid_z = 1,
			.kernel_object = raw_kernel(raw, kernel),
			.kernarg = (uintptr_t)kernarg,
			.signal = (uintptr_t)signal,
		}
	};

	return packet;
}

uint64_t raw_put(struct raw_queue *queue, const union tutti_packet *packet)
{
	uint64_t index = queue->write++;
	union tutti_packet *slot = &queue->ring[index & queue->mask];

	memcpy(&slot->word[1], &packet->word[1], sizeof(*packet) - 4);
	tutti_store_release(&slot->word[0], packet->word[0]);
	return index;
}

void raw_ring(struct raw_queue *queue, uint64_t index)
{
	tutti_store_release(queue->doorbell, index);
	raw_wake(queue->space->raw);
}

void raw_submit(struct raw_queue *queue, const union tutti_packet *packet)
{
	raw_ring(queue, raw_put(queue, packet));
}

void raw_retired(struct raw_queue *queue)
{
	if (!raw_until(queue->space->raw, queue->read_index, (int64_t)queue->write, RAW_PATIENCE))
		fail_msg("queue %u: %llu of %llu packets retired", queue->id,
			 (unsigned long long)*queue->read_index, (unsigned long long)queue->write);
}

struct tutti_fault raw_fault(struct raw_queue *queue, unsigned code, uint64_t packet)
{
	struct tutti_message event;

	if (!raw_event(queue->space->raw, TUTTI_MSG_QUEUE_ERROR, &event, RAW_PATIENCE))
		fail_msg("queue %u: no error reported, expected code %u", queue->id, code);
	assert_int_equal(event.fault.code, code);
	assert_int_equal(event.fault.queue, queue->id);
	assert_int_equal(event.fault.packet, packet);
	assert_int_equal(event.fault.context, queue->space->asid);
	return event.fault;
}

void raw_no_fault(struct raw *raw)
{
	struct tutti_message event;

	raw_settle(raw);
	if (raw_event(raw, TUTTI_MSG_QUEUE_ERROR, &event, 0))
		fail_msg("unexpected error %u of queue %u, packet %llu", event.fault.code, event.fault.queue,
			 (unsigned long long)event.fault.packet);
}

void raw_reset_queue(struct raw_queue *queue)
{
	assert_int_equal(raw_ask(queue->space->raw, TUTTI_MSG_QUEUE_RESET, queue->id, 0, 0), 0);
}

union tutti_packet raw_step(struct raw_space *space, uint64_t *cell, uint64_t mul, uint64_t add,
			    struct tutti_signal *signal)
{
	return raw_dispatch(space->raw, RAW_STEP, 1, 1, raw_args(space, cell, mul, add), signal);
}

void raw_condensed(struct raw_condensed *condensed)
{
	memset(condensed, 0, sizeof(*condensed));
	condensed->packet.condensed.type = TUTTI_PACKET_CONDENSED;
}

void raw_units(struct raw_condensed *condensed, uint64_t value, unsigned units)
{
	unsigned i;

	for (i = 0; i < units; i++) {
		assert_true(condensed->units < TUTTI_CONDENSED_UNITS);
		condensed->packet.condensed.unit[condensed->units++] = (uint16_t)(value >> (16 * i));
	}
}

void raw_diff(struct raw_condensed *condensed, unsigned reference, unsigned vector)
{
	condensed->packet.condensed.num_kernels++;
	raw_units(condensed, reference | vector << TUTTI_DIFF_VECTOR_SHIFT, 1);
}
