// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest_memory.h"

#define RESERVE	   (64ull << 30)
#define ABOVE_HOLE (4ull << 30)

int guest_memory_init(struct guest_memory *memory, const char *path, bool q35)
{
	memset(memory, 0, sizeof(*memory));
	memory->path = path;
	memory->q35 = q35;
	memory->base = mmap(NULL, RESERVE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory->base == MAP_FAILED) {
		memory->base = NULL;
		return -ENOMEM;
	}
	pthread_mutex_init(&memory->lock, NULL);
	return 0;
}

/* What QEMU does (pc_q35_init(), pc_init1()) when max-ram-below-4g is not given. */
static uint64_t low_bytes(bool q35, uint64_t bytes)
{
	uint64_t most = q35 ? 0xb0000000u : 0xe0000000u;

	if (bytes < most)
		return bytes;
	return q35 ? 0x80000000u : 0xc0000000u;
}

static int map_file(struct guest_memory *memory)
{
	int fd = open(memory->path, O_RDWR | O_CLOEXEC), error = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		error = -errno;
	else if (!st.st_size)
		error = -ENODATA;
	else if ((uint64_t)st.st_size > RESERVE)
		error = -EFBIG;
	else if (mmap(memory->base, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		      0) == MAP_FAILED)
		error = -errno;
	close(fd);
	if (error)
		return error;
	memory->low = low_bytes(memory->q35, (uint64_t)st.st_size);
	__atomic_store_n(&memory->bytes, (uint64_t)st.st_size, __ATOMIC_RELEASE);
	return 0;
}

/* QEMU makes the file after it has found its devices, so it is looked for when it is first used. */
static uint64_t map_first(struct guest_memory *memory)
{
	int error = 0;

	pthread_mutex_lock(&memory->lock);
	if (!memory->bytes)
		error = map_file(memory);
	if (error && !memory->refused)
		fprintf(stderr, "tutti-card: guest memory %s: %s\n", memory->path, strerror(-error));
	memory->refused = error != 0;
	pthread_mutex_unlock(&memory->lock);
	return memory->bytes;
}

void *guest_memory_pointer(struct guest_memory *memory, uint64_t bus, uint64_t bytes)
{
	uint64_t size = __atomic_load_n(&memory->bytes, __ATOMIC_ACQUIRE), low;

	if (!size && (!memory->path || !(size = map_first(memory))))
		return NULL;
	low = memory->low;
	if (bus < low)
		return bytes <= low - bus ? memory->base + bus : NULL;
	if (bus < ABOVE_HOLE)
		return NULL;
	bus -= ABOVE_HOLE;
	if (bus >= size - low || bytes > size - low - bus)
		return NULL;
	return memory->base + low + bus;
}

void guest_memory_drop(struct guest_memory *memory)
{
	pthread_mutex_lock(&memory->lock);
	if (memory->bytes)
		mmap(memory->base, memory->bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	__atomic_store_n(&memory->bytes, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&memory->lock);
}

void guest_memory_fini(struct guest_memory *memory)
{
	if (!memory->base)
		return;
	munmap(memory->base, RESERVE);
	pthread_mutex_destroy(&memory->lock);
	memory->base = NULL;
}
