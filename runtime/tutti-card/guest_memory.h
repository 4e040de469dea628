/* SPDX-License-Identifier: MIT */
/**
 * DOC: The guest's memory, seen by the card
 *
 * QEMU keeps it in a file (memory-backend-file,share=on). A host bus address is a
 * guest physical address; memory that does not fit below the PCI hole continues at
 * 4 GiB, at a place that depends on the machine.
 */
#ifndef TUTTI_GUEST_MEMORY_H
#define TUTTI_GUEST_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct guest_memory
 * @path: the file, NULL = the card has no bus mastering
 * @q35: machine q35, else pc
 * @base: address range kept for the process's life, so that no stale pointer goes elsewhere
 * @lock: mapping and unmapping
 * @bytes: of the file that is mapped at @base, 0 = none yet
 * @low: bytes of it below the hole; valid when @bytes is not 0
 */
struct guest_memory {
	const char *path;
	bool q35;
	uint8_t *base;
	pthread_mutex_t lock;
	uint64_t bytes;
	uint64_t low;
	bool refused;
};

int guest_memory_init(struct guest_memory *memory, const char *path, bool q35);
/**
 * guest_memory_pointer() - @bytes at guest physical address @bus; NULL = not all of it is memory. Any thread may call
 * it.
 */
void *guest_memory_pointer(struct guest_memory *memory, uint64_t bus, uint64_t bytes);
/** guest_memory_drop() - the guest is gone; the card must have been reset. The next guest has a new file. */
void guest_memory_drop(struct guest_memory *memory);
void guest_memory_fini(struct guest_memory *memory);

#endif
