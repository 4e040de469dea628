// SPDX-License-Identifier: MIT
/*
 * A card behind tutti.ko. The driver has contexts, queues and buffers of its own; what the
 * library says in messages is translated into its calls. The control window is seen
 * only in parts: discovery data is a copy, status and counters are the card's own pages
 * (read-only), each queue's doorbell is mapped in its place, the rest is empty memory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <drm.h>

#include "queue/queue.h"
#include "tutti/sm_state.h"
#include "tutti/tutti_drm.h"

#define SYSTEM_RESERVE (64ull << 30)
#define ALIGN	       (2ull << 20)
#define NODES	       64
#define EARLY_MAPS     16u
#define CODE_BYTES_MAX (64ull << 20) /* as in memory.c: code is written before it is mapped */

/* A buffer and where it is mapped in the process. */
struct block {
	struct block *next;
	uint8_t *address;
	size_t bytes;
	uint32_t handle;
};

/**
 * struct drm_card - the transport's own state.
 * @context: 0 until the print ring is known; maps before that wait in @early
 * @seen, @events: newest interrupt count and error count the driver has told
 * @handled: error count up to which queues have been asked
 */
struct drm_card {
	int fd;
	uint32_t context;
	uint64_t seen, events, handled;
	void *pool[2];
	size_t pool_bytes[2];
	pthread_mutex_t lock; /* what follows */
	struct block *blocks;
	struct drm_tutti_map early[EARLY_MAPS];
	unsigned earlies;
	uint32_t queue[TUTTI_MAX_QUEUES]; /* handles */
	uint64_t queue_errors[TUTTI_MAX_QUEUES];
	uint32_t rsb[TUTTI_MAX_RSBS];
};

static int call(struct drm_card *card, unsigned long request, void *args)
{
	int result;

	do {
		result = ioctl(card->fd, request, args);
	} while (result && (errno == EINTR || errno == EAGAIN));
	return result ? -errno : 0;
}

/* ---- finding the node ---- */

static bool is_tutti(int fd)
{
	char name[16] = "";
	struct drm_version version = {.name = name, .name_len = sizeof(name) - 1};

	return !ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "tutti");
}

static int open_path(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0 && !is_tutti(fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_node(const char *name)
{
	static const char *const forms[] = {"/dev/accel/accel%u", "/dev/dri/renderD%u"};
	const char *path = name ? strchr(name, ':') : NULL;
	char text[32];

	if (path)
		return open_path(path + 1);
	for (unsigned form = 0; form < 2; form++) {
		for (unsigned i = 0; i < NODES; i++) {
			int fd;

			snprintf(text, sizeof(text), forms[form], i + (form ? 128 : 0));
			fd = open_path(text);
			if (fd >= 0)
				return fd;
		}
	}
	return -1;
}

static bool drm_present(void)
{
	int fd = open_node(NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The node's device in sysfs is a link to the PCI device's directory. */
static int drm_pci_address(struct tutti_device *device, char *address, size_t bytes)
{
	struct drm_card *card = device->private;
	char path[64], target[256];
	const char *name;
	struct stat stat;
	ssize_t n;

	if (fstat(card->fd, &stat))
		return -errno;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(stat.st_rdev), minor(stat.st_rdev));
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -ENOTSUP;
	target[n] = 0;
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (strlen(name) >= bytes)
		return -ENOSPC;
	memcpy(address, name, strlen(name) + 1);
	return 0;
}

/* ---- control window ---- */

static void *map_window_page(struct tutti_device *device, uint32_t offset)
{
	struct drm_card *card = device->private;

	return mmap(device->bar + offset, TUTTI_PAGE_SIZE, PROT_READ, MAP_SHARED | MAP_FIXED, card->fd,
		    (off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, offset / TUTTI_PAGE_SIZE));
}

static int open_window(struct tutti_device *device)
{
	struct drm_card *card = device->private;
	struct drm_tutti_state state = {0};
	struct drm_tutti_query query = {.what = DRM_TUTTI_QUERY_DISCOVERY,
					.size = sizeof(device->known),
					.pointer = (uintptr_t)&device->known};
	int error = call(card, DRM_IOCTL_TUTTI_QUERY, &query);

	if (error)
		return error;
	query = (struct drm_tutti_query){
	    .what = DRM_TUTTI_QUERY_STATE, .size = sizeof(state), .pointer = (uintptr_t)&state};
	error = call(card, DRM_IOCTL_TUTTI_QUERY, &query);
	if (error)
		return error;
	device->bar = mmap(NULL, device->known.window_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (device->bar == MAP_FAILED) {
		device->bar = NULL;
		return -ENOMEM;
	}
	memcpy(device->bar, &device->known, sizeof(device->known));
	if (map_window_page(device, device->known.status.offset) == MAP_FAILED ||
	    map_window_page(device, device->known.counters.offset) == MAP_FAILED)
		return -errno;
	device->control = (void *)(device->bar + device->known.control.offset);
	device->status = (void *)(device->bar + device->known.status.offset);
	device->boot_sequence = state.boot_sequence;
	return 0;
}

/* ---- memory ---- */

static struct block *find_block(struct drm_card *card, const uint8_t *address, size_t bytes)
{
	struct block *block = card->blocks;

	while (block && !(address >= block->address && address + bytes <= block->address + block->bytes))
		block = block->next;
	return block;
}

/* A new buffer at @address, which lies in a pool that nothing is mapped in there. */
static int add_block(struct drm_card *card, uint8_t *address, size_t bytes, enum tutti_memory pool)
{
	struct drm_tutti_bo_create create = {
	    .size = bytes,
	    .placement = pool == TUTTI_MEMORY_CARD ? DRM_TUTTI_PLACE_CARD : DRM_TUTTI_PLACE_SYSTEM};
	struct block *block = malloc(sizeof(*block));
	int error = block ? call(card, DRM_IOCTL_TUTTI_BO_CREATE, &create) : -ENOMEM;

	if (!error && mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, card->fd,
			   (off_t)create.mmap_offset) == MAP_FAILED) {
		struct drm_gem_close gone = {.handle = create.handle};

		error = -errno;
		call(card, DRM_IOCTL_GEM_CLOSE, &gone);
	}
	if (error) {
		free(block);
		return error;
	}
	*block = (struct block){
	    .next = card->blocks, .address = address, .bytes = bytes, .handle = create.handle};
	card->blocks = block;
	return 0;
}

static bool in_pool(const struct drm_card *card, const void *address)
{
	for (unsigned i = 0; i < 2; i++)
		if ((size_t)((const uint8_t *)address - (const uint8_t *)card->pool[i]) < card->pool_bytes[i])
			return true;
	return false;
}

static int map_locked(struct drm_card *card, uint8_t *address, size_t bytes, enum tutti_memory pool,
		      unsigned access)
{
	struct block *block = find_block(card, address, bytes);
	struct drm_tutti_map map = {.context = card->context,
				    .address = (uintptr_t)address,
				    .bytes = bytes,
				    .access = access | DRM_TUTTI_ACCESS_READ};
	int error;

	if (!block) {
		error = add_block(card, address, bytes, pool);
		if (error)
			return error;
		block = card->blocks;
	}
	map.bo = block->handle;
	map.offset = (uint64_t)(address - block->address);
	if (card->context)
		return call(card, DRM_IOCTL_TUTTI_MAP, &map);
	if (card->earlies == EARLY_MAPS)
		return -ENOMEM;
	card->early[card->earlies++] = map;
	return 0;
}

/* Memory the process has already. The mapping keeps the buffer, so its handle is not needed any more. */
static int map_user(struct drm_card *card, void *address, size_t bytes, unsigned access)
{
	struct drm_tutti_bo_userptr user = {.address = (uintptr_t)address, .bytes = bytes};
	struct drm_tutti_map map = {.context = card->context,
				    .address = (uintptr_t)address,
				    .bytes = bytes,
				    .access = access | DRM_TUTTI_ACCESS_READ};
	struct drm_gem_close gone = {0};
	int error = call(card, DRM_IOCTL_TUTTI_BO_USERPTR, &user);

	if (error)
		return error;
	map.bo = gone.handle = user.handle;
	error = call(card, DRM_IOCTL_TUTTI_MAP, &map);
	call(card, DRM_IOCTL_GEM_CLOSE, &gone);
	return error;
}

static int drm_map(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool,
		   unsigned access)
{
	struct drm_card *card = device->private;
	int error;

	if (!in_pool(card, address))
		return card->context ? map_user(card, address, bytes, access) : -ENOTSUP;
	pthread_mutex_lock(&card->lock);
	error = map_locked(card, address, bytes, pool, access);
	pthread_mutex_unlock(&card->lock);
	return error;
}

static int drm_unmap(struct tutti_device *device, void *address, size_t bytes)
{
	struct drm_card *card = device->private;
	struct drm_tutti_range range = {
	    .context = card->context, .address = (uintptr_t)address, .bytes = bytes};
	int error = card->context ? call(card, DRM_IOCTL_TUTTI_UNMAP, &range) : 0;

	return error == -ENOENT ? 0 : error;
}

static int reserve_range(struct drm_card *card, unsigned pool, size_t bytes)
{
	uint8_t *start = mmap(NULL, bytes + ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return -ENOMEM;
	card->pool[pool] = (void *)(((uintptr_t)start + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
	card->pool_bytes[pool] = bytes;
	return 0;
}

static int drm_reserve(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes)
{
	struct drm_card *card = device->private;
	const struct tutti_discovery *known = &device->known;
	unsigned i = pool == TUTTI_MEMORY_CARD;
	size_t size = SYSTEM_RESERVE, code;
	int error;

	if (i)
		size = (known->memory_bytes - known->reserved_bytes) & ~(size_t)(TUTTI_PAGE_SIZE - 1);
	error = reserve_range(card, i, size);
	if (!error && i) {
		code = size / 16 < CODE_BYTES_MAX ? (size / 16) & ~(size_t)(TUTTI_PAGE_SIZE - 1) : CODE_BYTES_MAX;
		error = add_block(card, (uint8_t *)card->pool[i] + size - code, code, pool);
	}
	*base = card->pool[i];
	*bytes = size;
	return error;
}

/* ---- queues ---- */

static uint8_t *doorbell_page(struct tutti_device *device, unsigned id)
{
	return device->bar + device->known.doorbells.offset + (size_t)id * TUTTI_PAGE_SIZE;
}

static void hide_doorbell(struct tutti_device *device, unsigned id)
{
	mmap(doorbell_page(device, id), TUTTI_PAGE_SIZE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static int queue_create(struct tutti_device *device, const struct tutti_msg_queue *message)
{
	struct drm_card *card = device->private;
	struct drm_tutti_queue_create create = {
	    .context = card->context,
	    .flags = message->flags & ~TUTTI_QUEUE_RSB,
	    .ring = message->ring,
	    .read_index = message->read_index,
	    .size_log2 = message->size_log2,
	    .priority = message->priority,
	    .timeout_ms = message->timeout_ms,
	    .rsb = message->flags & TUTTI_QUEUE_RSB ? card->rsb[message->rsb] : 0,
	};
	struct drm_tutti_handle gone = {0};
	int error = call(card, DRM_IOCTL_TUTTI_QUEUE_CREATE, &create);

	if (error)
		return error;
	if (mmap(doorbell_page(device, message->queue), TUTTI_PAGE_SIZE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, card->fd, (off_t)create.doorbell_offset) == MAP_FAILED) {
		error = -errno;
		gone.handle = create.handle;
		call(card, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &gone);
		return error;
	}
	pthread_mutex_lock(&card->lock);
	card->queue_errors[message->queue] = 0;
	card->queue[message->queue] = create.handle;
	pthread_mutex_unlock(&card->lock);
	return 0;
}

static int queue_destroy(struct tutti_device *device, unsigned id)
{
	struct drm_card *card = device->private;
	struct drm_tutti_handle handle = {.handle = card->queue[id]};

	pthread_mutex_lock(&card->lock);
	card->queue[id] = 0;
	pthread_mutex_unlock(&card->lock);
	hide_doorbell(device, id);
	return call(card, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle);
}

/* ---- requests ---- */

static int rsb_create(struct drm_card *card, const struct tutti_msg_rsb *message)
{
	struct drm_tutti_rsb_create create = {.context = card->context, .placement = message->placement};
	int error = call(card, DRM_IOCTL_TUTTI_RSB_CREATE, &create);

	if (!error)
		card->rsb[message->rsb] = create.handle;
	return error;
}

static int rsb_request(struct tutti_device *device, const struct tutti_message *message)
{
	struct drm_card *card = device->private;
	uint32_t handle = card->rsb[message->arg[0] % TUTTI_MAX_RSBS];
	struct drm_tutti_handle destroy = {.handle = handle};
	struct drm_tutti_rsb_invalidate invalidate = {.handle = handle, .mask = (uint32_t)message->arg[1]};
	/* the library gives card offsets by the distance to the BAR */
	struct drm_tutti_rsb_read read = {
	    .handle = handle,
	    .pointer = (uintptr_t)device->bar + device->known.aperture + message->arg[1],
	};

	switch (message->type) {
	case TUTTI_MSG_RSB_DESTROY:
		return call(card, DRM_IOCTL_TUTTI_RSB_DESTROY, &destroy);
	case TUTTI_MSG_RSB_INVALIDATE:
		return call(card, DRM_IOCTL_TUTTI_RSB_INVALIDATE, &invalidate);
	default:
		return call(card, DRM_IOCTL_TUTTI_RSB_READ, &read);
	}
}

static int control(struct drm_card *card, uint32_t op, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	struct drm_tutti_control args = {.op = op, .arg = {arg0, arg1, arg2}};

	return call(card, DRM_IOCTL_TUTTI_CONTROL, &args);
}

/* Set (CAP_SYS_ADMIN), or with a third argument ask. */
static int policy_request(struct drm_card *card, struct tutti_message *message)
{
	struct drm_tutti_control ask = {.op = DRM_TUTTI_CONTROL_POLICY_ASK,
					.arg = {message->arg[0], message->arg[1]}};
	int error;

	if (!message->arg[2])
		return control(card, DRM_TUTTI_CONTROL_POLICY, message->arg[0], message->arg[1], 0);
	error = call(card, DRM_IOCTL_TUTTI_CONTROL, &ask);
	message->value = ask.arg[2];
	return error;
}

/* The window is plain memory there. */
static int drm_sm_states(struct tutti_device *device)
{
	struct drm_tutti_query query = {.what = DRM_TUTTI_QUERY_SM_STATES,
					.size = device->known.sms * sizeof(struct tutti_sm_state),
					.pointer = (uintptr_t)device->bar + device->known.sm_states.offset};

	return call(device->private, DRM_IOCTL_TUTTI_QUERY, &query);
}

static int drm_occupancy(struct drm_card *card, struct tutti_message *message)
{
	struct drm_tutti_occupancy occupancy = {0};
	struct drm_tutti_query query = {.what = DRM_TUTTI_QUERY_OCCUPANCY,
					.size = sizeof(occupancy),
					.pointer = (uintptr_t)&occupancy};
	int error;

	memcpy(occupancy.ask, &message->occupancy, sizeof(occupancy.ask));
	error = call(card, DRM_IOCTL_TUTTI_QUERY, &query);
	*message = (struct tutti_message){
	    .type = TUTTI_MSG_REPLY, .value = occupancy.cgas, .arg = {occupancy.ctas, occupancy.sms}};
	return error;
}

static int drm_request(struct tutti_device *device, struct tutti_message *message)
{
	struct drm_card *card = device->private;
	const uint64_t *arg = message->arg;
	struct drm_tutti_range range = {.context = card->context, .address = arg[1], .bytes = arg[2]};
	struct drm_tutti_handle handle = {.handle = card->queue[arg[0] % TUTTI_MAX_QUEUES]};

	switch (message->type) {
	case TUTTI_MSG_QUEUE_CREATE:
		return queue_create(device, &message->queue);
	case TUTTI_MSG_QUEUE_DESTROY:
		return queue_destroy(device, arg[0] % TUTTI_MAX_QUEUES);
	case TUTTI_MSG_QUEUE_RESET:
		return call(card, DRM_IOCTL_TUTTI_QUEUE_RESET, &handle);
	case TUTTI_MSG_CODE_INVALIDATE:
		return call(card, DRM_IOCTL_TUTTI_CODE_INVALIDATE, &range);
	case TUTTI_MSG_RSB_CREATE:
		return rsb_create(card, &message->rsb);
	case TUTTI_MSG_RSB_DESTROY:
	case TUTTI_MSG_RSB_INVALIDATE:
	case TUTTI_MSG_RSB_READ:
		return rsb_request(device, message);
	case TUTTI_MSG_OCCUPANCY:
		return drm_occupancy(card, message);
	case TUTTI_MSG_COUNTERS:
		return control(card, DRM_TUTTI_CONTROL_COUNTERS, 0, 0, 0);
	case TUTTI_MSG_TASK_CANCEL:
		return control(card, DRM_TUTTI_CONTROL_CANCEL, handle.handle, arg[1], 0);
	case TUTTI_MSG_SM_ENABLE:
		return control(card, DRM_TUTTI_CONTROL_SM_ENABLE, arg[0], arg[1], arg[2]);
	case TUTTI_MSG_POLICY:
		return policy_request(card, message);
	}
	return -ENOTSUP;
}

/* ---- interrupts and events ---- */

static void drm_kick(struct tutti_device *device)
{
	struct drm_tutti_kick kick = {0};

	call(device->private, DRM_IOCTL_TUTTI_KICK, &kick);
}

/* The newest the driver has told: an interrupt since then ends the next sleep at once. */
static uint64_t drm_interrupts(struct tutti_device *device)
{
	return tutti_load_relaxed(&((struct drm_card *)device->private)->seen);
}

static void drm_sleep(struct tutti_device *device, uint64_t seen, uint64_t deadline)
{
	struct drm_card *card = device->private;
	struct drm_tutti_wait wait = {
	    .kind = DRM_TUTTI_WAIT_INTERRUPT, .value = (int64_t)seen, .deadline = deadline};
	int error = ioctl(card->fd, DRM_IOCTL_TUTTI_WAIT, &wait);

	/* the driver copies its answer out with an error as well */
	if (!error || errno == ETIME) {
		tutti_store_relaxed(&card->seen, (uint64_t)wait.value);
		tutti_store_relaxed(&card->events, wait.events);
	}
}

static void ask_queue(struct tutti_device *device, unsigned id)
{
	struct drm_card *card = device->private;
	struct drm_tutti_queue_query query = {.handle = card->queue[id]};
	struct tutti_fault fault;
	bool news;

	if (!query.handle)
		return;
	call(card, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query);
	pthread_mutex_lock(&card->lock);
	news = query.errors != card->queue_errors[id];
	card->queue_errors[id] = query.errors;
	pthread_mutex_unlock(&card->lock);
	if (!news)
		return;
	memcpy(&fault, query.fault, sizeof(fault));
	fault.queue = (uint16_t)id;
	queue_take_error(device, &fault);
}

static bool drm_poll(struct tutti_device *device)
{
	struct drm_card *card = device->private;
	uint64_t events;

	drm_sleep(device, drm_interrupts(device), 0);
	events = tutti_load_relaxed(&card->events);
	if (events == tutti_load_relaxed(&card->handled))
		return false;
	tutti_store_relaxed(&card->handled, events);
	for (unsigned i = 0; i < TUTTI_MAX_QUEUES; i++)
		ask_queue(device, i);
	return true;
}

/* ---- open and close ---- */

static void card_free(struct tutti_device *device)
{
	struct drm_card *card = device->private;

	while (card->blocks) {
		struct block *block = card->blocks;

		card->blocks = block->next;
		free(block);
	}
	for (unsigned i = 0; i < 2; i++)
		if (card->pool[i])
			munmap(card->pool[i], card->pool_bytes[i]);
	if (device->bar)
		munmap(device->bar, device->known.window_bytes);
	close(card->fd);
	pthread_mutex_destroy(&card->lock);
	free(card);
	device->private = NULL;
}

static int make_context(struct tutti_device *device)
{
	struct drm_card *card = device->private;
	struct drm_tutti_context_create create = {.print_ring = (uintptr_t)device->print.ring};
	int error = call(card, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &create);

	card->context = create.handle;
	for (unsigned i = 0; i < card->earlies && !error; i++) {
		card->early[i].context = card->context;
		error = call(card, DRM_IOCTL_TUTTI_MAP, &card->early[i]);
	}
	return error;
}

static int drm_start(struct tutti_device *device)
{
	int error = open_window(device);

	if (error)
		return error;
	error = memory_init(device);
	if (error)
		return error;
	error = print_init(device);
	if (error)
		goto fini_memory;
	error = make_context(device);
	if (!error)
		return 0;
	print_fini(device);
fini_memory:
	memory_fini(device);
	return error;
}

static int drm_open(struct tutti_device *device, const struct tutti_device_options *options)
{
	const char *name = options->name && *options->name ? options->name : getenv("TUTTI_DEVICE");
	struct drm_card *card = calloc(1, sizeof(*card));
	int error;

	if (!card)
		return -ENOMEM;
	card->fd = open_node(name);
	if (card->fd < 0) {
		free(card);
		say("device drm: no node of tutti.ko in /dev/accel or /dev/dri that can be opened");
		return -ENODEV;
	}
	pthread_mutex_init(&card->lock, NULL);
	device->private = card;
	device->asid = 1;
	error = drm_start(device);
	if (error)
		card_free(device);
	return error;
}

/* Closing the file destroys everything of it on the card, acknowledged by the firmware. */
static void drm_close(struct tutti_device *device)
{
	print_fini(device);
	memory_fini(device);
	card_free(device);
}

const struct transport transport_drm = {
    .name = "drm",
    .present = drm_present,
    .open = drm_open,
    .close = drm_close,
    .kick = drm_kick,
    .interrupts = drm_interrupts,
    .sleep = drm_sleep,
    .request = drm_request,
    .poll = drm_poll,
    .reserve = drm_reserve,
    .map = drm_map,
    .unmap = drm_unmap,
    .pci_address = drm_pci_address,
    .sm_states = drm_sm_states,
};
