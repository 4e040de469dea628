// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * DMA: an address space with 2 MiB of guest memory, a queue in it, and agent packets that copy. Everything the card
 * accesses lies in one coherent block.
 */
#include <linux/delay.h>

#include "probe.h"

#define ASID   1
#define QUEUE  3
#define VA     (1ull << 30) /* all table indexes but the second are 0 */
#define SLOTS  8

/** struct block - what the card reads and writes in guest memory. */
struct block {
	u64 table[4][512]; /* root first */
	struct tutti_agent_packet ring[4096 / sizeof(struct tutti_agent_packet)];
	u64 read_index[512];
	u8 source[4096];
	u8 target[4096];
};

static u64 va_of(size_t offset)
{
	return VA + offset - offsetof(struct block, ring);
}

static void build_tables(struct block *block, dma_addr_t bus)
{
	u32 flags = TUTTI_PTE_V | TUTTI_PTE_R | TUTTI_PTE_W | TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D;
	int level, page;

	for (level = 0; level < 3; level++)
		block->table[level][tutti_va_index(VA, 3 - level)] =
			tutti_pte(TUTTI_BUS_HOST | (bus + (level + 1) * 4096), TUTTI_PTE_V);
	for (page = 4; page < (int)(sizeof(*block) / 4096); page++)
		block->table[3][page - 4] = tutti_pte(TUTTI_BUS_HOST | (bus + page * 4096), flags);
}

static int create(struct probe *probe, dma_addr_t bus)
{
	struct tutti_message message = {.type = TUTTI_MSG_CONTEXT_CREATE};
	int error;

	message.context = (struct tutti_msg_context){.asid = ASID, .root = TUTTI_BUS_HOST | bus};
	error = probe_request(probe, &message);
	probe_check(probe, !error, "CONTEXT_CREATE, tables in guest memory (%d)", error);
	if (error)
		return error;
	message = (struct tutti_message){.type = TUTTI_MSG_QUEUE_CREATE};
	message.queue = (struct tutti_msg_queue){
		.queue = QUEUE,
		.asid = ASID,
		.ring = va_of(offsetof(struct block, ring)),
		.read_index = va_of(offsetof(struct block, read_index)),
		.size_log2 = ilog2(SLOTS),
		.priority = 5,
		.vector = 1,
	};
	error = probe_request(probe, &message);
	probe_check(probe, !error, "QUEUE_CREATE, ring in guest memory (%d)", error);
	return error;
}

static void publish(struct probe *probe, struct block *block, u64 index, const struct tutti_agent_packet *packet)
{
	struct tutti_agent_packet *slot = &block->ring[index % SLOTS];

	memcpy((u8 *)slot + 4, (const u8 *)packet + 4, sizeof(*packet) - 4);
	dma_wmb(); /* the packet, before its first word */
	WRITE_ONCE(*(u32 *)slot, *(const u32 *)packet);
	wmb(); /* the packet, before the doorbell */
	writeq(index, probe_region(probe, &probe->known.doorbells) + QUEUE * 4096);
	probe_kick(probe);
}

static bool retired(struct block *block, u64 index)
{
	int ms;

	for (ms = 0; ms < PROBE_PATIENCE_MS && READ_ONCE(block->read_index[0]) <= index; ms++)
		usleep_range(1000, 1500);
	dma_rmb(); /* the index, before what it announces */
	return READ_ONCE(block->read_index[0]) > index;
}

static void check_copy(struct probe *probe, struct block *block)
{
	struct tutti_agent_packet packet = {
		.header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM),
		.type = TUTTI_AGENT_COPY,
		.arg = {va_of(offsetof(struct block, target)), va_of(offsetof(struct block, source)), 4096},
	};
	bool good;
	int i;

	for (i = 0; i < 4096; i++)
		block->source[i] = i * 7 + 1;
	publish(probe, block, 0, &packet);
	good = retired(block, 0);
	probe_check(probe, good, "the packet is fetched and retired by DMA");
	probe_check(probe, good && !memcmp(block->source, block->target, 4096), "4 KiB are copied in guest memory");
}

static void check_fault(struct probe *probe, struct block *block)
{
	struct tutti_agent_packet packet = {
		.header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM),
		.type = TUTTI_AGENT_COPY,
		.arg = {VA + (64 << 20), va_of(offsetof(struct block, source)), 4096},
	};
	struct tutti_message message = {.type = TUTTI_MSG_QUEUE_QUERY, .arg = {QUEUE}};
	int ms, error = 0;

	publish(probe, block, 1, &packet);
	for (ms = 0; ms < PROBE_PATIENCE_MS && !error; ms += 10) {
		message = (struct tutti_message){.type = TUTTI_MSG_QUEUE_QUERY, .arg = {QUEUE}};
		error = probe_request(probe, &message);
		if (error || message.arg[2])
			break;
		msleep(10);
	}
	probe_check(probe, !error && message.arg[2], "an unmapped address stops the queue (error %llu)",
		    message.arg[2]);
}

static void destroy(struct probe *probe)
{
	struct tutti_message message = {.type = TUTTI_MSG_QUEUE_DESTROY, .arg = {QUEUE}};
	int error = probe_request(probe, &message);

	message = (struct tutti_message){.type = TUTTI_MSG_CONTEXT_DESTROY, .arg = {ASID}};
	if (!error)
		error = probe_request(probe, &message);
	probe_check(probe, !error, "queue and context are destroyed (%d)", error);
}

void probe_check_dma(struct probe *probe)
{
	struct device *device = &probe->pdev->dev;
	struct block *block;
	dma_addr_t bus;
	int i;

	BUILD_BUG_ON(sizeof(struct block) % 4096 || offsetof(struct block, ring) != 4 * 4096);
	block = dma_alloc_coherent(device, sizeof(*block), &bus, GFP_KERNEL);
	probe_check(probe, block, "coherent memory");
	if (!block)
		return;
	for (i = 0; i < SLOTS; i++)
		block->ring[i].header = TUTTI_PACKET_INVALID;
	build_tables(block, bus);
	if (!create(probe, bus)) {
		check_copy(probe, block);
		check_fault(probe, block);
		destroy(probe);
	}
	dma_free_coherent(device, sizeof(*block), block, bus);
}
