// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm.h>

#include "base/say.h"
#include "transport/drm/drm.h"

#define DRIVER_MAJOR 1

int drm_call(struct drm_card *card, unsigned long request, void *args)
{
	int result;

	do {
		result = ioctl(card->fd, request, args);
	} while (result && (errno == EINTR || errno == EAGAIN));
	return result ? -errno : 0;
}

static bool drm_present(void)
{
	int fd = drm_open_node(NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Within a major version the driver only adds calls. */
static int check_driver(struct drm_card *card)
{
	struct drm_version version = {0};
	int error = drm_call(card, DRM_IOCTL_VERSION, &version);

	if (error || version.version_major == DRIVER_MAJOR)
		return error;
	say("the driver tutti.ko has version %d.%d, this library needs version %d", version.version_major,
	    version.version_minor, DRIVER_MAJOR);
	return -EPROTO;
}

/* A firmware that does not run has not written its versions. */
static int check_firmware(const struct tutti_status *status)
{
	if (tutti_load_acquire(&status->state) != TUTTI_STATE_RUNNING)
		return 0;
	return contract_holds("the firmware", status->contract_min, status->contract_max) ? 0 : -EPROTO;
}

static void *map_window_page(struct tutti_device *device, uint32_t offset)
{
	struct drm_card *card = drm_card_of(device);

	return mmap(device->bar + offset, TUTTI_PAGE_SIZE, PROT_READ, MAP_SHARED | MAP_FIXED, card->fd,
		    (off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, offset / TUTTI_PAGE_SIZE));
}

static int open_window(struct tutti_device *device)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_state state = {0};
	struct drm_tutti_query query = {.what = DRM_TUTTI_QUERY_DISCOVERY,
					.size = sizeof(device->known),
					.pointer = (uintptr_t)&device->known};
	int error = drm_call(card, DRM_IOCTL_TUTTI_QUERY, &query);

	if (error)
		return error;
	if (!contract_holds("the card", device->known.contract_min, device->known.contract_max))
		return -EPROTO;
	query = (struct drm_tutti_query){
	    .what = DRM_TUTTI_QUERY_STATE, .size = sizeof(state), .pointer = (uintptr_t)&state};
	error = drm_call(card, DRM_IOCTL_TUTTI_QUERY, &query);
	if (error)
		return error;
	device->bar = mmap(NULL, device->known.window_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (device->bar == MAP_FAILED) {
		device->bar = NULL;
		return -ENOMEM;
	}
	memcpy(device->bar, &device->known, sizeof(device->known));
	/* A driver that does not say where the SMs are leaves the table zero. */
	query = (struct drm_tutti_query){.what = DRM_TUTTI_QUERY_SM_PLACES,
					 .size = device->known.sm_table.bytes,
					 .pointer = (uintptr_t)device->bar + device->known.sm_table.offset};
	(void)drm_call(card, DRM_IOCTL_TUTTI_QUERY, &query);
	if (map_window_page(device, device->known.status.offset) == MAP_FAILED ||
	    map_window_page(device, device->known.counters.offset) == MAP_FAILED)
		return -errno;
	device->control = (void *)(device->bar + device->known.control.offset);
	device->status = (void *)(device->bar + device->known.status.offset);
	device->boot_sequence = state.boot_sequence;
	return check_firmware(device->status);
}

/* When the file is closed, the driver destroys everything it has on the card and waits for the firmware's reply. */
static void drm_close(struct tutti_device *device)
{
	struct drm_card *card = drm_card_of(device);

	drm_memory_fini(card);
	if (device->bar)
		munmap(device->bar, device->known.window_bytes);
	close(card->fd);
	drm_sleep_fini(card);
	pthread_mutex_destroy(&card->lock);
	free(card);
	device->private = NULL;
}

static int drm_open(struct tutti_device *device, const struct tutti_device_options *options)
{
	const char *name = options->name && *options->name ? options->name : getenv("TUTTI_DEVICE");
	struct drm_card *card = calloc(1, sizeof(*card));
	int error;

	if (!card)
		return -ENOMEM;
	card->fd = drm_open_node(name);
	if (card->fd < 0) {
		free(card);
		say("device drm: no node of tutti.ko in /dev/accel or /dev/dri that can be opened");
		return -ENODEV;
	}
	pthread_mutex_init(&card->lock, NULL);
	device->private = card;
	error = drm_sleep_init(card);
	if (!error)
		error = check_driver(card);
	if (!error)
		error = open_window(device);
	if (error)
		drm_close(device);
	return error;
}

static int drm_start(struct tutti_device *device, const struct tutti_print_ring *print_ring)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_context_create create = {.print_ring = (uintptr_t)print_ring};
	int error = drm_call(card, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &create);

	if (error)
		return error;
	card->context = create.handle;
	return drm_memory_start(card);
}

const struct transport transport_drm = {
    .name = "drm",
    .write_combined = true,
    .zeroed = true, /* by the driver */
    .traces = true,
    .present = drm_present,
    .open = drm_open,
    .start = drm_start,
    .close = drm_close,
    .kick = drm_kick,
    .interrupts = drm_interrupts,
    .sleep = drm_sleep,
    .wake = drm_wake,
    .pending = drm_pending,
    .poll = drm_poll,
    .reserve = drm_reserve,
    .back = drm_back,
    .map = drm_map,
    .unmap = drm_unmap,
    .code_invalidate = drm_code_invalidate,
    .queue_create = drm_queue_create,
    .queue_destroy = drm_queue_destroy,
    .queue_reset = drm_queue_reset,
    .sync_file = drm_sync_file,
    .task_cancel = drm_task_cancel,
    .rsb_create = drm_rsb_create,
    .rsb_destroy = drm_rsb_destroy,
    .rsb_invalidate = drm_rsb_invalidate,
    .rsb_read = drm_rsb_read,
    .counters = drm_counters,
    .sm_states = drm_sm_states,
    .sm_enable = drm_sm_enable,
    .policy_set = drm_policy_set,
    .policy_get = drm_policy_get,
    .occupancy = drm_occupancy,
    .trace_start = drm_trace_start,
    .trace_read = drm_trace_read,
    .pci_address = drm_pci_address,
};
