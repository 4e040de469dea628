/* SPDX-License-Identifier: MIT */
/**
 * DOC: A card behind tutti.ko
 *
 * The driver has contexts, queues and buffers of its own, and the operations of struct transport become its ioctls.
 * Only parts of the control window can be seen: discovery data is a copy, status and counters are the card's own
 * pages (read-only), each queue's doorbell is mapped at its place, and the rest is empty memory.
 */
#ifndef TUTTI_TRANSPORT_DRM_H
#define TUTTI_TRANSPORT_DRM_H

#include "device/device.h"
#include "tutti/tutti_drm.h"

#define DRM_EARLY_MAPS 16u

/**
 * struct drm_card - the transport's own state.
 * @context: 0 until the print ring is known; until then @early holds the mappings to be made
 * @wake_fd: eventfd that the driver adds to at interrupts and errors, and the library to wake threads
 * @seen, @events: newest interrupt count and error count that the driver has reported
 * @handled: error count up to which the queues have been checked
 * @pool, @pool_bytes: the address ranges of the pools, by enum tutti_memory
 * @blocks: list of buffers that back parts of the pools
 * @queue, @rsb: the driver's handles by the library's numbers; 0 if there is none
 * @queue_errors: for each queue, how many errors the driver has reported
 * @sleep_lock, @sleep_changed: of threads that sleep; one of them, if @watched, looks at @wake_fd for all
 * @wakes: how many times @wake_fd has been found readable. Also read without the lock
 */
struct drm_card {
	int fd, wake_fd;
	uint32_t context;
	uint64_t seen, events, handled;
	void *pool[2];
	size_t pool_bytes[2];
	pthread_mutex_t lock; /* protects the fields below */
	struct drm_backing *blocks;
	struct drm_tutti_map early[DRM_EARLY_MAPS];
	unsigned earlies;
	uint32_t queue[TUTTI_MAX_QUEUES];
	uint64_t queue_errors[TUTTI_MAX_QUEUES];
	uint32_t rsb[TUTTI_MAX_RSBS];
	pthread_mutex_t sleep_lock; /* protects the fields below */
	pthread_cond_t sleep_changed;
	bool watched;
	uint64_t wakes;
};

static inline struct drm_card *drm_card_of(const struct tutti_device *device)
{
	return device->private;
}

/** drm_call() - issue an ioctl, again if a signal interrupts it. 0 or -errno. */
int drm_call(struct drm_card *card, unsigned long request, void *args);

/* node.c */
/** drm_open_node() - open PATH if @name is "drm:PATH", else the first device node of tutti.ko. -1 if there is none. */
int drm_open_node(const char *name);
/** drm_pci_address() - implements transport.pci_address. */
int drm_pci_address(struct tutti_device *device, char *address, size_t bytes);

/* memory.c: as in struct transport */
int drm_reserve(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes);
int drm_back(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool);
int drm_map(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool,
	    unsigned access);
int drm_unmap(struct tutti_device *device, void *address, size_t bytes);
int drm_code_invalidate(struct tutti_device *device, const void *address, size_t bytes);
/**
 * drm_one_mapping() - let the card see a part of a pool in one mapping, even where chunks of the pool, or blocks that
 * were mapped one by one, meet. It gets a buffer of its own, full of zeros. 0 or -errno.
 */
int drm_one_mapping(struct drm_card *card, void *address, size_t bytes);
/** drm_memory_start() - make the mappings that were asked for before there was a context. 0 or -errno. */
int drm_memory_start(struct drm_card *card);
void drm_memory_fini(struct drm_card *card);

/* queue.c: as in struct transport */
int drm_queue_create(struct tutti_device *device, const struct transport_queue *queue);
int drm_queue_destroy(struct tutti_device *device, unsigned queue);
int drm_queue_reset(struct tutti_device *device, unsigned queue);
int drm_task_cancel(struct tutti_device *device, unsigned queue, uint64_t packet);
int drm_rsb_create(struct tutti_device *device, unsigned rsb, bool in_memory);
int drm_rsb_destroy(struct tutti_device *device, unsigned rsb);
int drm_rsb_invalidate(struct tutti_device *device, unsigned rsb, uint32_t entries);
int drm_rsb_read(struct tutti_device *device, unsigned rsb, struct tutti_rsb *copy);

/* control.c: as in struct transport */
int drm_counters(struct tutti_device *device);
int drm_sm_states(struct tutti_device *device);
int drm_sm_enable(struct tutti_device *device, unsigned first, unsigned count, bool enable);
int drm_policy_set(struct tutti_device *device, unsigned policy, uint32_t value);
int drm_policy_get(struct tutti_device *device, unsigned policy, uint32_t which, uint32_t *value);
int drm_occupancy(struct tutti_device *device, const struct tutti_msg_occupancy *ask,
		  struct transport_fit *fit);

int drm_trace_start(struct tutti_device *device, uint32_t kinds);
int drm_trace_read(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost);

/* sync.c: as in struct transport */
int drm_sync_file(struct tutti_device *device, unsigned queue, uint64_t packets, int *fd);

/* event.c: as in struct transport */
void drm_kick(struct tutti_device *device);
uint64_t drm_interrupts(struct tutti_device *device);
void drm_sleep(struct tutti_device *device, uint64_t seen, uint64_t deadline);
void drm_wake(struct tutti_device *device);
/** drm_sleep_init() - prepare sleeping; drm_sleep_queue() - interrupts for a queue end it. 0 or -errno. */
int drm_sleep_init(struct drm_card *card);
void drm_sleep_fini(struct drm_card *card);
int drm_sleep_queue(struct drm_card *card, uint32_t queue);
bool drm_pending(const struct tutti_device *device);
bool drm_poll(struct tutti_device *device);

#endif
