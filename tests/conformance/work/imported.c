// SPDX-License-Identifier: MIT
/* Memory of another driver as a buffer; tests/driver takes the card away while it has such memory. */
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

#define BYTES (16 * PAGE)
#define AT (4 * BASE)

/** struct foreign - memory of udmabuf's, and the buffer that it is here. */
struct foreign {
	int fd;
	uint8_t *memory;
	uint32_t bo;
};

/* -1: this kernel has none. */
static int udmabuf(void)
{
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), memory, fd = -1;
	struct udmabuf_create create = {.size = BYTES, .flags = UDMABUF_FLAGS_CLOEXEC};

	if (device < 0)
		return -1;
	memory = memfd_create("imported", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	if (!ftruncate(memory, BYTES) && !fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK)) {
		create.memfd = (uint32_t)memory;
		fd = ioctl(device, UDMABUF_CREATE, &create);
	}
	close(memory);
	close(device);
	return fd;
}

static bool import(struct rig *rig, struct foreign *foreign)
{
	struct drm_prime_handle prime = {.fd = foreign->fd};

	foreign->memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, foreign->fd, 0);
	CHECK(foreign->memory != MAP_FAILED);
	EXPECT(0, call(rig->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime));
	foreign->bo = prime.handle;
	return true;
}

/* Nobody looks at a signal there for others; through the card's node it is the same memory. */
static bool seen(struct rig *rig, const struct foreign *foreign)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_SIGNAL, .handle = foreign->bo};
	struct drm_tutti_bo_info info = {.handle = foreign->bo};
	uint8_t *here;

	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_INFO, &info));
	EXPECT(DRM_TUTTI_PLACE_SYSTEM, info.placement);
	EXPECT((long)BYTES, (long)info.size);
	here = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)info.mmap_offset);
	CHECK(here != MAP_FAILED);
	here[5 * PAGE] = 0x51;
	EXPECT(0x51, foreign->memory[5 * PAGE]);
	foreign->memory[6 * PAGE] = 0x61;
	EXPECT(0x61, here[6 * PAGE]);
	munmap(here, BYTES);
	return true;
}

/* A queue whose ring lies in it, and whose lost doorbell is rung again though the driver cannot look into the ring. */
static bool with_ring(struct rig *rig, const struct foreign *foreign)
{
	struct drm_tutti_queue_create args = queue_args(rig);
	union tutti_packet *slot = (void *)(foreign->memory + 2 * PAGE);
	struct drm_tutti_kick kick = {0};
	volatile uint64_t *doorbell;

	for (unsigned i = 0; i < 1u << RING_LOG2; i++)
		slot[i].word[0] = TUTTI_PACKET_INVALID;
	EXPECT(0, bo_map(rig->fd, rig->context, foreign->bo, AT, BYTES));
	args.ring = AT + 2 * PAGE;
	args.read_index = BASE + SPARE_INDEX_AT;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)args.doorbell_offset);
	CHECK(doorbell != MAP_FAILED);
	for (unsigned i = 0; i < 4; i++, slot++) {
		if (inject_command)
			CHECK(inject("lost-doorbell"));
		rig_signal(rig, 1, 1);
		memset((uint8_t *)slot + 4, 0, sizeof(*slot) - 4);
		slot->agent.arg[0] = AT + 9 * PAGE;
		slot->agent.arg[1] = 0x01010101 * (i + 1);
		slot->agent.arg[2] = PAGE;
		slot->agent.signal = BASE + SIGNAL_AT + sizeof(struct tutti_signal);
		rig_publish(slot, tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM) |
					  TUTTI_AGENT_FILL << 16);
		*doorbell = i;
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_KICK, &kick));
		EXPECT(0, rig_wait(rig, 1, 0, PATIENCE));
		CHECK(foreign->memory[9 * PAGE] == i + 1 && foreign->memory[10 * PAGE - 1] == i + 1);
	}
	munmap((void *)doorbell, PAGE);
	return true;
}

static bool imported(struct rig *rig)
{
	struct foreign foreign = {.fd = udmabuf()};

	SKIP_UNLESS(foreign.fd >= 0, "this kernel has no udmabuf");
	CHECK(rig_queue(rig) && import(rig, &foreign) && seen(rig, &foreign) && with_ring(rig, &foreign));
	munmap(foreign.memory, BYTES);
	close(foreign.fd);
	CHECK(rig_works(rig));
	return true;
}

void imported_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-22 SYS-24 SYS-26: memory of another driver", imported},
		{0},
	};

	subtests(tests);
}
