// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"
#include "tutti/code_object.h"

const char *device_path, *pci_address, *inject_command, *plug_command;
unsigned rounds = 20;
uint64_t seed;

/* xorshift64*, so that a seed gives the same run everywhere */
uint32_t random32(void)
{
	seed = seed ? seed : 1;
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * 0x2545f4914f6cdd1dull) >> 32);
}

bool inject(const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), "%s %s >/dev/null", inject_command, what);
	return !system(text);
}

int device_open(void)
{
	static const char *const forms[] = {"/dev/accel/accel%u", "/dev/dri/renderD%u"};
	char text[32], name[16];

	if (device_path)
		return open(device_path, O_RDWR | O_CLOEXEC);
	for (unsigned i = 0; i < 128; i++) {
		struct drm_version version = {.name = name, .name_len = sizeof(name) - 1};
		int fd;

		memset(name, 0, sizeof(name));
		snprintf(text, sizeof(text), forms[i / 64], i / 64 ? i % 64 + 128 : i);
		fd = open(text, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "tutti"))
			return fd;
		close(fd);
	}
	return -1;
}

int call(int fd, unsigned long request, void *args)
{
	int result;

	do {
		result = ioctl(fd, request, args);
	} while (result && errno == EINTR);
	return result ? errno : 0;
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

int bo_create(int fd, uint64_t size, uint32_t placement, uint32_t *handle, uint64_t *offset)
{
	struct drm_tutti_bo_create args = {.size = size, .placement = placement};
	int error = call(fd, DRM_IOCTL_TUTTI_BO_CREATE, &args);

	*handle = args.handle;
	if (offset)
		*offset = args.mmap_offset;
	return error;
}

int bo_map(int fd, uint32_t context, uint32_t bo, uint64_t address, uint64_t bytes)
{
	struct drm_tutti_map args = {
		.context = context, .bo = bo, .address = address, .bytes = bytes,
		.access = DRM_TUTTI_ACCESS_READ | DRM_TUTTI_ACCESS_WRITE | DRM_TUTTI_ACCESS_EXECUTE,
	};

	return call(fd, DRM_IOCTL_TUTTI_MAP, &args);
}

bool rig_open(struct rig *rig)
{
	rig->fd = device_open();
	return rig->fd >= 0;
}

bool rig_context(struct rig *rig)
{
	struct drm_tutti_context_create args = {0};

	if (!rig_open(rig) || call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &args))
		return false;
	rig->context = args.handle;
	return true;
}

bool rig_memory(struct rig *rig)
{
	uint64_t offset;

	if (!rig_context(rig) || bo_create(rig->fd, RIG_BYTES, DRM_TUTTI_PLACE_SYSTEM, &rig->bo, &offset))
		return false;
	rig->memory = mmap(NULL, RIG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	if (rig->memory == MAP_FAILED) {
		rig->memory = NULL;
		return false;
	}
	return !bo_map(rig->fd, rig->context, rig->bo, BASE, RIG_BYTES);
}

struct drm_tutti_queue_create queue_args(const struct rig *rig)
{
	return (struct drm_tutti_queue_create){
		.context = rig->context, .ring = BASE + RING_AT, .read_index = BASE + INDEX_AT,
		.size_log2 = RING_LOG2, .priority = 5, .timeout_ms = 10000,
	};
}

static const volatile uint32_t *map_asleep(int fd)
{
	struct drm_tutti_state state = {0};
	struct drm_tutti_query query = {
		.what = DRM_TUTTI_QUERY_STATE, .size = sizeof(state), .pointer = (uintptr_t)&state,
	};
	uint8_t *page;

	if (call(fd, DRM_IOCTL_TUTTI_QUERY, &query))
		return NULL;
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd,
		    (off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, state.status_offset / PAGE));
	return page == MAP_FAILED ? NULL : (const volatile void *)(page + offsetof(struct tutti_status, asleep));
}

bool rig_queue(struct rig *rig)
{
	struct drm_tutti_queue_create args;
	union tutti_packet *ring;
	void *page;

	if (!rig_memory(rig))
		return false;
	ring = (void *)(rig->memory + RING_AT);
	for (unsigned i = 0; i < 1u << RING_LOG2; i++)
		ring[i].word[0] = TUTTI_PACKET_INVALID;
	args = queue_args(rig);
	if (call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args))
		return false;
	rig->queue = args.handle;
	rig->queue_number = args.id;
	rig->doorbell_offset = args.doorbell_offset;
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)args.doorbell_offset);
	rig->doorbell = page == MAP_FAILED ? NULL : page;
	rig->asleep = map_asleep(rig->fd);
	return rig->doorbell && rig->asleep;
}

void rig_close(struct rig *rig)
{
	if (rig->memory)
		munmap(rig->memory, RIG_BYTES);
	if (rig->doorbell)
		munmap((void *)rig->doorbell, PAGE);
	if (rig->asleep)
		munmap((void *)((uintptr_t)rig->asleep & ~(PAGE - 1)), PAGE);
	if (rig->fd >= 0)
		close(rig->fd);
	memset(rig, 0, sizeof(*rig));
	rig->fd = -1;
}

struct tutti_signal *rig_signal(struct rig *rig, unsigned number, int64_t value)
{
	struct tutti_signal *signal = (struct tutti_signal *)(void *)(rig->memory + SIGNAL_AT) + number;

	memset(signal, 0, sizeof(*signal));
	signal->value = value;
	return signal;
}

union tutti_packet *rig_slot(struct rig *rig)
{
	return (union tutti_packet *)(void *)(rig->memory + RING_AT) + (rig->write_index++ & ((1u << RING_LOG2) - 1));
}

/* The header is written last, as producers must do. */
void rig_publish(union tutti_packet *slot, uint32_t header)
{
	__atomic_store_n(&slot->word[0], header, __ATOMIC_RELEASE);
}

static uint64_t signal_address(unsigned number)
{
	return BASE + SIGNAL_AT + number * sizeof(struct tutti_signal);
}

void rig_fill(struct rig *rig, uint64_t address, uint32_t pattern, uint32_t bytes, unsigned signal)
{
	union tutti_packet *slot = rig_slot(rig);

	memset((uint8_t *)slot + 4, 0, sizeof(*slot) - 4);
	slot->agent.arg[0] = address;
	slot->agent.arg[1] = pattern;
	slot->agent.arg[2] = bytes;
	slot->agent.signal = signal_address(signal);
	rig_publish(slot, tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM) |
				  TUTTI_AGENT_FILL << 16);
}

void rig_code(struct rig *rig, const uint32_t *code, size_t bytes)
{
	struct tutti_kernel_descriptor *kernel = (void *)(rig->memory + CODE_AT);
	struct drm_tutti_range range = {.context = rig->context, .address = BASE + CODE_AT, .bytes = PAGE};

	*kernel = (struct tutti_kernel_descriptor){
		.kernarg_bytes = 64, .kernarg_align = 16, .entry_offset = sizeof(*kernel),
		.magic = TUTTI_KERNEL_MAGIC, .scalar_blocks = 1, .vector_blocks = 1, .version = 1,
	};
	memcpy(kernel + 1, code, bytes);
	call(rig->fd, DRM_IOCTL_TUTTI_CODE_INVALIDATE, &range);
}

static void dispatch_publish(union tutti_packet *slot)
{
	rig_publish(slot, tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM) |
				  1 << 16);
}

static void dispatch_prepare(union tutti_packet *slot, uint32_t workgroups, uint64_t kernarg)
{
	memset((uint8_t *)slot + 4, 0, sizeof(*slot) - 4);
	slot->dispatch.workgroup_x = 32;
	slot->dispatch.workgroup_y = slot->dispatch.workgroup_z = 1;
	slot->dispatch.grid_x = 32 * workgroups;
	slot->dispatch.grid_y = slot->dispatch.grid_z = 1;
	slot->dispatch.kernel_object = BASE + CODE_AT;
	slot->dispatch.kernarg = kernarg;
}

void rig_dispatch_at(union tutti_packet *slot, uint32_t workgroups, uint64_t kernarg)
{
	dispatch_prepare(slot, workgroups, kernarg);
	dispatch_publish(slot);
}

void rig_dispatch(struct rig *rig, uint32_t workgroups, uint64_t kernarg, unsigned signal)
{
	rig_dispatch_task(rig, workgroups, kernarg, 0, signal);
}

void rig_dispatch_task(struct rig *rig, uint32_t workgroups, uint64_t kernarg, uint64_t tmd, unsigned signal)
{
	union tutti_packet *slot = rig_slot(rig);

	dispatch_prepare(slot, workgroups, kernarg);
	slot->dispatch.tmd = tmd;
	slot->dispatch.signal = signal_address(signal);
	dispatch_publish(slot);
}

void rig_ring(struct rig *rig)
{
	struct drm_tutti_kick kick = {0};

	__atomic_store_n(rig->doorbell, rig->write_index - 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (*rig->asleep)
		call(rig->fd, DRM_IOCTL_TUTTI_KICK, &kick);
}

int rig_wait(struct rig *rig, unsigned signal, int64_t value, uint64_t timeout_ns)
{
	struct drm_tutti_wait wait = {
		.kind = DRM_TUTTI_WAIT_SIGNAL, .handle = rig->bo,
		.offset = SIGNAL_AT + signal * sizeof(struct tutti_signal), .condition = DRM_TUTTI_EQ,
		.value = value, .deadline = now_ns() + timeout_ns,
	};

	return call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait);
}

bool rig_works(struct rig *rig)
{
	static uint32_t pattern = 0x1234;
	const uint32_t *data = (const void *)(rig->memory + DATA_AT);

	pattern++;
	rig_signal(rig, 0, 1);
	rig_fill(rig, BASE + DATA_AT, pattern, PAGE, 0);
	rig_ring(rig);
	if (rig_wait(rig, 0, 0, PATIENCE))
		return false;
	for (unsigned i = 0; i < PAGE / 4; i++)
		if (data[i] != pattern)
			return false;
	return true;
}

bool rig_fresh(struct rig *rig)
{
	uint64_t end = now_ns() + PATIENCE;

	while (!rig_queue(rig)) {
		rig_close(rig);
		if (now_ns() > end)
			return false;
		usleep(20000);
	}
	return true;
}

int rig_progress(struct rig *rig, uint64_t packets, uint64_t timeout_ns)
{
	struct drm_tutti_wait wait = {
		.kind = DRM_TUTTI_WAIT_PROGRESS, .handle = rig->queue, .value = (int64_t)packets,
		.deadline = now_ns() + timeout_ns,
	};

	return call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait);
}

int queue_error(struct rig *rig, struct tutti_fault *fault)
{
	struct drm_tutti_queue_query query = {.handle = rig->queue};
	int error = rig_progress(rig, 1ull << 62, PATIENCE);

	if (error != ECANCELED)
		return error;
	error = call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query);
	memcpy(fault, query.fault, sizeof(*fault));
	return error;
}

int queue_call(struct rig *rig, unsigned long request)
{
	struct drm_tutti_handle handle = {.handle = rig->queue};

	return call(rig->fd, request, &handle);
}

int device_reset(void)
{
	struct drm_tutti_reset reset = {.rung = DRM_TUTTI_RESET_FIRMWARE};
	struct rig fresh = {.fd = -1};
	int fd = device_open(), error = fd < 0 ? errno : call(fd, DRM_IOCTL_TUTTI_RESET, &reset);
	/* the generation changes a moment later: from then on this file is stale */
	for (unsigned i = 0; !error && i < 500; i++) {
		struct drm_tutti_bo_info info = {0};

		if (call(fd, DRM_IOCTL_TUTTI_BO_INFO, &info) == EIO)
			break;
		usleep(10000);
	}
	if (fd >= 0)
		close(fd);
	if (!error && !rig_fresh(&fresh))
		error = EIO;
	rig_close(&fresh);
	return error;
}

bool discovery(int fd, struct tutti_discovery *known)
{
	struct drm_tutti_query query = {DRM_TUTTI_QUERY_DISCOVERY, sizeof(*known), (uintptr_t)known};

	EXPECT(0, call(fd, DRM_IOCTL_TUTTI_QUERY, &query));
	return true;
}

uint64_t syncobj_create(int fd)
{
	struct drm_syncobj_create create = {0};

	return call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create) ? 0 : create.handle;
}

bool debugfs_number(const char *file, const char *format, unsigned key, unsigned *value)
{
	char pattern[64], line[256];
	glob_t paths = {0};
	bool found = false;
	unsigned number;

	snprintf(pattern, sizeof(pattern), "/sys/kernel/debug/[ad]*/*/%s", file); /* accel, dri */
	glob(pattern, 0, NULL, &paths);
	for (size_t i = 0; i < paths.gl_pathc && !found; i++) {
		FILE *text = fopen(paths.gl_pathv[i], "re");

		while (text && !found && fgets(line, sizeof(line), text))
			found = sscanf(line, format, &number, value) == 2 && number == key;
		if (text)
			fclose(text);
	}
	globfree(&paths);
	return found;
}

bool context_number(const struct rig *rig, unsigned *number)
{
	return debugfs_number("tutti_queues", "queue %u asid %u", rig->queue_number, number);
}

void allow_everybody(void)
{
	char text[32];

	for (unsigned i = 0; i < 64; i++) {
		snprintf(text, sizeof(text), "/dev/accel/accel%u", i);
		chmod(text, 0666);
		snprintf(text, sizeof(text), "/dev/dri/renderD%u", 128 + i);
		chmod(text, 0666);
	}
}

bool in_child(bool (*run)(void *data), void *data)
{
	int status = 0, pipes[2];
	char text[200] = "";
	pid_t child;

	CHECK(!pipe(pipes));
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		bool good = run(data);

		if (!good)
			(void)!write(pipes[1], fail_text(), strlen(fail_text()));
		_exit(good ? 0 : 1);
	}
	close(pipes[1]);
	(void)!read(pipes[0], text, sizeof(text) - 1);
	close(pipes[0]);
	CHECK(waitpid(child, &status, 0) == child);
	if (status && text[0])
		return fail("child", 0, text, 0, 0);
	EXPECT(0, status);
	return true;
}

/* For a thread that sleeps, the file begins with the number of its system call. */
static bool sleeps_in_ioctl(const char *path)
{
	FILE *file = fopen(path, "re");
	long number = -1;

	if (!file)
		return false; /* the thread has ended */
	if (fscanf(file, "%ld", &number) != 1)
		number = -1; /* it runs */
	fclose(file);
	return number == SYS_ioctl;
}

bool soon_in_call(pid_t pid)
{
	bool found = false;
	glob_t paths;
	char pattern[48];

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/syscall", (int)pid);
	for (unsigned i = 0; !found && i < 2000; i++) {
		usleep(10000);
		if (glob(pattern, 0, NULL, &paths))
			continue;
		for (size_t j = 0; j < paths.gl_pathc; j++)
			found |= sleeps_in_ioctl(paths.gl_pathv[j]);
		globfree(&paths);
	}
	return found;
}
