// SPDX-License-Identifier: MIT
/* Memory of other drivers (vgem, udmabuf) on the card, and what becomes of it when the card goes, in every order. */
#define _GNU_SOURCE
#include <drm_mode.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"

#define BYTES (16 * PAGE)
#define IMPORTED_AT (4 * BASE)

/** struct foreign - a buffer of another driver. */
struct foreign {
	int fd; /* the dma-buf */
	volatile uint32_t *words;
};

/* ---- the other drivers ---- */

static bool see(struct foreign *foreign)
{
	foreign->words = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, foreign->fd, 0);
	CHECK(foreign->words != MAP_FAILED);
	return true;
}

static bool udmabuf_make(struct foreign *foreign)
{
	struct udmabuf_create create = {.size = BYTES, .flags = UDMABUF_FLAGS_CLOEXEC};
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);

	SKIP_UNLESS(device >= 0, "this kernel has no udmabuf");
	create.memfd = (uint32_t)memfd_create("import", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	CHECK(!ftruncate((int)create.memfd, BYTES) && !fcntl((int)create.memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	foreign->fd = ioctl(device, UDMABUF_CREATE, &create);
	close((int)create.memfd);
	close(device);
	CHECK(foreign->fd >= 0);
	return see(foreign);
}

static int vgem_open(void)
{
	glob_t paths = {0};
	int found = -1;

	glob("/dev/dri/card*", 0, NULL, &paths);
	for (size_t i = 0; i < paths.gl_pathc && found < 0; i++) {
		char name[16] = "";
		struct drm_version version = {.name = name, .name_len = sizeof(name) - 1};
		int fd = open(paths.gl_pathv[i], O_RDWR | O_CLOEXEC);

		if (fd >= 0 && !ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "vgem"))
			found = fd;
		else if (fd >= 0)
			close(fd);
	}
	globfree(&paths);
	return found;
}

/* Modules are loaded for one test only. */
static bool module_load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	bool good = file >= 0 && !syscall(SYS_finit_module, file, "", 0);

	if (file >= 0)
		close(file);
	return good;
}

static bool vgem_make(struct foreign *foreign)
{
	struct drm_mode_create_dumb dumb = {.width = BYTES / 4, .height = 1, .bpp = 32};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	int device;

	/* its nodes stand beside the card's until it is unloaded */
	SKIP_UNLESS(module_load("/lib/modules/vgem.ko"), "there is no vgem");
	device = vgem_open();
	CHECK(device >= 0);
	EXPECT(0, call(device, DRM_IOCTL_MODE_CREATE_DUMB, &dumb));
	prime.handle = dumb.handle;
	EXPECT(0, call(device, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	close(device);
	foreign->fd = prime.fd;
	return see(foreign);
}

/* False: somebody still holds the buffer. */
static bool vgem_unload(void)
{
	return !syscall(SYS_delete_module, "vgem", O_NONBLOCK);
}

static void foreign_close(struct foreign *foreign)
{
	if (foreign->words)
		munmap((void *)foreign->words, BYTES);
	if (foreign->fd >= 0)
		close(foreign->fd);
	*foreign = (struct foreign){.fd = -1};
}

/* ---- orders ---- */

/* Is the card attached to any dma-buf, by what debugfs says? */
static bool card_is_attached(void)
{
	FILE *file = fopen("/sys/kernel/debug/dma_buf/bufinfo", "re");
	char line[256];
	bool found = false;

	while (file && fgets(line, sizeof(line), file))
		found |= strstr(line, pci_address) != NULL;
	if (file)
		fclose(file);
	return found;
}

static bool import(struct rig *rig, struct foreign *foreign, uint32_t *handle)
{
	struct drm_prime_handle prime = {.fd = foreign->fd};

	EXPECT(0, call(rig->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime));
	*handle = prime.handle;
	CHECK(card_is_attached());
	return true;
}

/* The card writes there, and nowhere else. */
static bool use(struct rig *rig, struct foreign *foreign, uint32_t handle)
{
	foreign->words[0] = foreign->words[2 * PAGE / 4] = 7;
	EXPECT(0, bo_map(rig->fd, rig->context, handle, IMPORTED_AT, BYTES));
	rig_signal(rig, 0, 1);
	rig_fill(rig, IMPORTED_AT + PAGE, 0x4711, PAGE, 0);
	rig_ring(rig);
	EXPECT(0, rig_wait(rig, 0, 0, PATIENCE));
	CHECK(foreign->words[PAGE / 4] == 0x4711 && foreign->words[2 * PAGE / 4 - 1] == 0x4711);
	CHECK(foreign->words[0] == 7 && foreign->words[2 * PAGE / 4] == 7);
	return true;
}

/* What happens after the import: in the order of the letters. */
enum { CLOSE_BUFFER = 'b', CLOSE_FILE = 'f', UNBIND = 'u' };
static const struct order {
	bool map;
	const char *steps;
} orders[] = {
	{false, "ufb"}, {true, "ufb"}, {true, "ubf"}, {true, "fub"}, {true, "fbu"}, {true, "bfu"}, {true, "buf"},
};

static bool step(struct rig *rig, struct foreign *foreign, char what)
{
	switch (what) {
	case CLOSE_BUFFER:
		foreign_close(foreign);
		return true;
	case CLOSE_FILE:
		rig_close(rig);
		CHECK(!card_is_attached());
		return true;
	default:
		CHECK(driver_unbind() && !card_is_attached());
		if (foreign->words) /* it is its owner's, as before */
			foreign->words[0] = foreign->words[PAGE / 4] + 1;
		return true;
	}
}

static bool one_order(struct rig *rig, struct foreign *foreign, const struct order *order)
{
	uint32_t handle;

	CHECK(rig_queue(rig) && import(rig, foreign, &handle));
	CHECK(!order->map || use(rig, foreign, handle));
	for (const char *at = order->steps; *at; at++)
		if (!step(rig, foreign, *at))
			return false;
	CHECK(driver_bind());
	return fresh_works();
}

static bool udmabuf_orders(struct rig *rig)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct foreign foreign = {.fd = -1};

		if (!udmabuf_make(&foreign) || !one_order(rig, &foreign, &orders[i]))
			return false;
	}
	return true;
}

static bool vgem_orders(struct rig *rig)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct foreign foreign = {.fd = -1};
		bool good = vgem_make(&foreign) && one_order(rig, &foreign, &orders[i]);

		foreign_close(&foreign);
		rig_close(rig);
		CHECK(vgem_unload() || !good);
		if (!good)
			return false;
	}
	return true;
}

/* ---- a buffer is freed while the device is removed ---- */

static bool freed_in_unplug(struct rig *rig)
{
	struct foreign foreign = {.fd = -1};
	pthread_t thread;
	uint32_t handle;
	bool there;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	if (!udmabuf_make(&foreign))
		return false;
	CHECK(rig_queue(rig) && import(rig, &foreign, &handle));
	there = delayed_thread(&thread, "import_free", 1500, close_rig, rig);
	CHECK(driver_unbind() && !card_is_attached());
	pthread_join(thread, NULL);
	foreign_close(&foreign);
	CHECK(there && driver_bind());
	return fresh_works();
}

/*
 * Only the card still has the buffer when a reset takes it away. The other driver's buffer goes first, since the worker
 * that resets the card does not wait for that.
 */
static bool freed_in_reset(struct rig *rig)
{
	struct foreign foreign = {.fd = -1};
	struct drm_gem_close close_it = {0};
	unsigned before;
	bool there;
	int error;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	if (!udmabuf_make(&foreign))
		return false;
	CHECK(rig_queue(rig) && import(rig, &foreign, &close_it.handle));
	EXPECT(0, bo_map(rig->fd, rig->context, close_it.handle, IMPORTED_AT, BYTES));
	EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &close_it));
	foreign_close(&foreign);
	before = delay("import_detached", 1500);
	error = device_reset();
	there = soon_reached("import_detached", before);
	delay("import_detached", 0);
	EXPECT(0, error);
	CHECK(there && !card_is_attached());
	return fresh_works();
}

/** struct exporting - an imported buffer once more. */
struct exporting {
	struct rig *rig;
	uint32_t handle;
	int error;
};

static void *export(void *data)
{
	struct exporting *exporting = data;
	struct drm_prime_handle prime = {.handle = exporting->handle, .flags = DRM_CLOEXEC};

	exporting->error = call(exporting->rig->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	if (!exporting->error)
		close(prime.fd);
	return NULL;
}

/* What is exported is the attachment of the import, by which removal must not have detached the buffer. */
static bool exported_in_unplug(struct rig *rig)
{
	struct foreign foreign = {.fd = -1};
	struct exporting exporting = {.rig = rig};
	bool there, unbound;
	pthread_t thread;
	uint64_t took;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	if (!udmabuf_make(&foreign))
		return false;
	CHECK(rig_queue(rig) && import(rig, &foreign, &exporting.handle));
	there = delayed_thread(&thread, "export", 4000, export, &exporting);
	took = now_ns();
	unbound = driver_unbind();
	took = now_ns() - took;
	pthread_join(thread, NULL);
	foreign_close(&foreign);
	rig_close(rig);
	CHECK(driver_bind() && there && unbound);
	EXPECT(0, exporting.error);
	CHECK(took > 2 * SECOND);
	return fresh_works();
}

/* Only @bytes at @offset of the second page belong to the dma-buf. That page cannot be mapped, nor anything after it. */
static bool part_of_page(struct rig *rig, unsigned bytes, unsigned offset)
{
	int device = open("/dev/odd_buffer", O_RDWR | O_CLOEXEC);
	struct foreign odd = {.fd = ioctl(device, bytes, offset)};
	uint32_t handle;

	close(device);
	CHECK(odd.fd >= 0 && import(rig, &odd, &handle));
	EXPECT(0, bo_map(rig->fd, rig->context, handle, IMPORTED_AT, PAGE));
	EXPECT(EINVAL, bo_map(rig->fd, rig->context, handle, IMPORTED_AT + PAGE, 2 * PAGE));
	EXPECT(EEXIST, bo_map(rig->fd, rig->context, handle, IMPORTED_AT, PAGE));
	EXPECT(0, bo_map(rig->fd, rig->context, handle, IMPORTED_AT + PAGE, PAGE)); /* the failed call has left nothing mapped */
	close(odd.fd);
	return true;
}

static bool parts_of_pages(struct rig *rig)
{
	struct rig other = {.fd = -1};
	bool refused;

	SKIP_UNLESS(module_load("/lib/modules/odd_buffer.ko"), "there is no odd_buffer");
	refused = rig_queue(rig) && part_of_page(rig, 512, 0) && rig_works(rig) && rig_queue(&other) &&
		  part_of_page(&other, 2048, 2048) && rig_works(&other);
	rig_close(rig);
	rig_close(&other);
	CHECK(!syscall(SYS_delete_module, "odd_buffer", O_NONBLOCK) && refused);
	return true;
}

/* The size of what is mapped is checked, whoever has made it. */
static bool beyond(struct rig *rig)
{
	struct foreign foreign = {.fd = -1};
	uint32_t handle;

	if (!udmabuf_make(&foreign))
		return false;
	CHECK(rig_queue(rig) && import(rig, &foreign, &handle));
	EXPECT(EINVAL, bo_map(rig->fd, rig->context, handle, IMPORTED_AT, BYTES + PAGE));
	EXPECT(0, bo_map(rig->fd, rig->context, handle, IMPORTED_AT, BYTES));
	foreign_close(&foreign);
	CHECK(rig_works(rig));
	return true;
}

const struct driver_test import_tests[] = {
	{"SYS-22 REL-06: a buffer of udmabuf, and removal in every order", udmabuf_orders},
	{"SYS-22 REL-06: a buffer of vgem, and removal in every order", vgem_orders},
	{"REL-06: an imported buffer is freed while the device is removed", freed_in_unplug},
	{"SYS-22 SYS-28: an imported buffer that only the card has goes with a reset", freed_in_reset},
	{"REL-06: an imported buffer is exported while the device is removed", exported_in_unplug},
	{"SYS-22 SYS-23: no more is mapped than was imported", beyond},
	{"SYS-22 SYS-23: a buffer that is not made of whole pages", parts_of_pages},
	{0},
};
