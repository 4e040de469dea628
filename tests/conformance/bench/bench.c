// SPDX-License-Identifier: MIT
/*
 * tutti-drm-bench: calls of the driver against the same ones of vgem, the smallest driver there is, in turns (spec
 * PERF-10). KTAP; a line "# bench {...}" has the figures.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

#define ROUNDS 101u
#define BYTES (16 * PAGE)

static int vgem, vgem_share;
static struct rig rig = {.fd = -1};

bool fail(const char *file, int line, const char *text, long got, long wanted)
{
	return false;
}

const char *fail_text(void)
{
	return "";
}

static int open_vgem(void)
{
	for (unsigned i = 0; i < 16; i++) {
		char path[32], name[16] = "";
		struct drm_version version = {.name = name, .name_len = sizeof(name) - 1};
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%u", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && !ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "vgem"))
			return fd;
		close(fd);
	}
	return -1;
}

static void map_and_close(int fd, uint32_t handle, uint64_t offset)
{
	struct drm_gem_close gone = {.handle = handle};
	void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	if (memory == MAP_FAILED)
		abort();
	munmap(memory, BYTES);
	ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gone);
}

static void tutti_buffer(void)
{
	struct drm_tutti_bo_create create = {.size = BYTES};

	if (ioctl(rig.fd, DRM_IOCTL_TUTTI_BO_CREATE, &create))
		abort();
	map_and_close(rig.fd, create.handle, create.mmap_offset);
}

static void vgem_buffer(void)
{
	struct drm_mode_create_dumb create = {.width = BYTES / 4, .height = 1, .bpp = 32};
	struct drm_mode_map_dumb map = {0};

	if (ioctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create))
		abort();
	map.handle = create.handle;
	if (ioctl(vgem, DRM_IOCTL_MODE_MAP_DUMB, &map))
		abort();
	map_and_close(vgem, create.handle, map.offset);
}

static void tutti_wait(void)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_SIGNAL, .handle = rig.bo, .offset = SIGNAL_AT};

	if (ioctl(rig.fd, DRM_IOCTL_TUTTI_WAIT, &wait))
		abort();
}

/* Waits for the fences of a buffer that has none. */
static void vgem_wait(void)
{
	struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ};

	if (ioctl(vgem_share, DMA_BUF_IOCTL_SYNC, &sync))
		abort();
}

/* The same, by the kernel's way to wait for files. */
static void vgem_poll(void)
{
	struct pollfd file = {.fd = vgem_share, .events = POLLIN};

	if (poll(&file, 1, -1) != 1)
		abort();
}

/* The cost of any call of a DRM driver: a query whose answer is a constant. */
static void capability(int fd)
{
	struct drm_get_cap cap = {.capability = DRM_CAP_PRIME};

	if (ioctl(fd, DRM_IOCTL_GET_CAP, &cap))
		abort();
}

static void tutti_nothing(void)
{
	capability(rig.fd);
}

static void vgem_nothing(void)
{
	capability(vgem);
}

static uint64_t time_of(void (*call)(void), unsigned calls)
{
	uint64_t start = now_ns();

	for (unsigned i = 0; i < calls; i++)
		call();
	return (now_ns() - start) / calls;
}

static int compare(const void *a, const void *b)
{
	return *(const uint64_t *)a < *(const uint64_t *)b ? -1 : 1;
}

/*
 * Short rounds in turns, so that both drivers meet the same load, and of each the fastest tenth, because interruptions
 * on a busy host are no part of the call. The limit is generous; the table has the ratio.
 */
static bool measure(unsigned number, const char *name, unsigned calls, void (*ours)(void), void (*theirs)(void))
{
	uint64_t mine[ROUNDS], vgems[ROUNDS];
	double ratio;

	for (unsigned i = 0; i < ROUNDS; i++) {
		mine[i] = time_of(ours, calls);
		vgems[i] = time_of(theirs, calls);
	}
	qsort(mine, ROUNDS, sizeof(*mine), compare);
	qsort(vgems, ROUNDS, sizeof(*vgems), compare);
	ratio = (double)mine[ROUNDS / 10] / (double)vgems[ROUNDS / 10];
	printf("%s %u - PERF-10: %s, %llu ns, %.2f of vgem's %llu ns\n", ratio < 3 ? "ok" : "not ok", number, name,
	       (unsigned long long)mine[ROUNDS / 10], ratio, (unsigned long long)vgems[ROUNDS / 10]);
	printf("# bench {\"id\":\"PERF-10\",\"case\":\"%s\",\"value\":%.3f,\"unit\":\"of vgem\",\"target\":1,\"better\":\"lower\"}\n",
	       name, ratio);
	return ratio < 3;
}

int main(int argc, char **argv)
{
	struct drm_mode_create_dumb create = {.width = BYTES / 4, .height = 1, .bpp = 32};
	struct drm_prime_handle share = {.flags = O_CLOEXEC | O_RDWR};
	bool good;

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("KTAP version 1");
	vgem = open_vgem();
	if (vgem < 0 || !rig_queue(&rig)) {
		puts("1..0 # SKIP needs vgem and a card");
		return 4;
	}
	if (ioctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create))
		abort();
	share.handle = create.handle;
	if (ioctl(vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &share))
		abort();
	vgem_share = share.fd;
	rig_signal(&rig, 0, 0);
	good = measure(1, "create, map, free a buffer", 10, tutti_buffer, vgem_buffer);
	good &= measure(2, "wait that is satisfied", 300, tutti_wait, vgem_wait);
	good &= measure(3, "wait that is satisfied, against poll()", 300, tutti_wait, vgem_poll);
	good &= measure(4, "call that asks for a constant", 300, tutti_nothing, vgem_nothing);
	rig_close(&rig);
	puts("1..4");
	return good ? 0 : 1;
}
