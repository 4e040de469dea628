// SPDX-License-Identifier: MIT
/* User memory: what programs and the card share. */
#include "combine.h"

struct tutti_kernel_descriptor kernels[KERNELS];
struct tutti_signal signals[SIGNALS];
struct signal_owner owners[SIGNALS];
struct tutti_tmd tmds[TMDS];
uint32_t masks[TMDS][MASK_WORDS];
struct tutti_work_queue works[WORKS];
struct work_model work_models[WORKS];

static void *inside(uint64_t address, uint32_t bytes, uint64_t start, void *memory, uint64_t size)
{
	return address >= start && address + bytes <= start + size ? (uint8_t *)memory + (address - start)
								   : NULL;
}

static void *ring_at(uint64_t address, uint32_t bytes)
{
	uint64_t queue = (address - RING_AT) / 0x10000;

	if (address < RING_AT || queue >= QUEUES)
		return NULL;
	return inside(address, bytes, RING_AT + 0x10000 * queue, w.program[queue].ring,
		      sizeof(w.program[queue].ring));
}

void *memory_at(uint64_t address, uint32_t bytes)
{
	switch (address >> 28) {
	case RING_AT >> 28:
		return ring_at(address, bytes);
	case KERNEL_AT >> 28:
		return inside(address, bytes, KERNEL_AT, kernels, sizeof(kernels));
	case SIGNAL_AT >> 28:
		return inside(address, bytes, SIGNAL_AT, signals, sizeof(signals));
	case TMD_AT >> 28:
		return inside(address, bytes, TMD_AT, tmds, sizeof(tmds));
	case MASK_AT >> 28:
		return inside(address, bytes, MASK_AT, masks, sizeof(masks));
	case WORK_AT >> 28:
		return inside(address, bytes, WORK_AT, works, sizeof(works));
	}
	return NULL;
}

void memory_reset(void)
{
	memset(kernels, 0, sizeof(kernels));
	memset(signals, 0, sizeof(signals[0]) * (w.signals + 1));
	memset(owners, 0, sizeof(owners[0]) * (w.signals + 1));
	memset(tmds, 0, sizeof(tmds[0]) * (w.tmds + 1));
	memset(works, 0, sizeof(works));
	memset(work_models, 0, sizeof(work_models));
}
