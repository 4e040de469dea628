// SPDX-License-Identifier: MIT
/* Processes without privileges, side by side; signals; what root alone may do. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "tutti/tmd.h"

#define NOBODY 65534

static bool become_nobody(void)
{
	CHECK(!setgid(NOBODY) && !setuid(NOBODY));
	return true;
}

static bool ordinary(void *data)
{
	struct rig rig = {.fd = -1};

	CHECK(become_nobody() && rig_queue(&rig));
	for (unsigned i = 0; i < 20; i++)
		CHECK(rig_works(&rig));
	rig_close(&rig);
	return true;
}

static bool unprivileged(struct rig *rig)
{
	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	allow_everybody();
	return in_child(ordinary, NULL);
}

static bool admin_calls(void *data)
{
	struct drm_tutti_counters counters = {0};
	struct drm_tutti_sm_enable enable = {.enable = 1};
	struct drm_tutti_policy policy = {.policy = TUTTI_POLICY_CTA_CAP};
	struct drm_tutti_reset reset = {.rung = DRM_TUTTI_RESET_FIRMWARE};
	struct rig rig = {.fd = -1};

	CHECK(become_nobody() && rig_queue(&rig));
	EXPECT(EACCES, call(rig.fd, DRM_IOCTL_TUTTI_SM_ENABLE, &enable));
	EXPECT(EACCES, call(rig.fd, DRM_IOCTL_TUTTI_POLICY_SET, &policy));
	EXPECT(EACCES, call(rig.fd, DRM_IOCTL_TUTTI_RESET, &reset));
	reset.rung = DRM_TUTTI_RESET_FUNCTION;
	EXPECT(EACCES, call(rig.fd, DRM_IOCTL_TUTTI_RESET, &reset));
	EXPECT(0, call(rig.fd, DRM_IOCTL_TUTTI_COUNTERS, &counters));
	EXPECT(0, call(rig.fd, DRM_IOCTL_TUTTI_POLICY_GET, &policy));
	CHECK(rig_works(&rig));
	rig_close(&rig);
	return true;
}

static bool root_only(struct rig *rig)
{
	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	allow_everybody();
	return in_child(admin_calls, NULL);
}

/* Calls of DRM for displays and masters. On an accel node, which has neither, GET_MAGIC once was an oops. */
static bool core_calls(struct rig *rig)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_GET_MAGIC, DRM_IOCTL_AUTH_MAGIC, DRM_IOCTL_SET_MASTER, DRM_IOCTL_DROP_MASTER, DRM_IOCTL_SET_VERSION,
		DRM_IOCTL_GET_CLIENT, DRM_IOCTL_GET_STATS, DRM_IOCTL_GET_UNIQUE, DRM_IOCTL_GEM_FLINK, DRM_IOCTL_GEM_OPEN, DRM_IOCTL_MODE_GETRESOURCES, DRM_IOCTL_MODE_ADDFB,
	};
	uint64_t args[32] = {0};

	CHECK(rig_queue(rig));
	((uint32_t *)args)[0] = rig->bo;
	for (unsigned i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		EXPECT(EACCES, call(rig->fd, requests[i], args));
	CHECK(rig_works(rig));
	return true;
}

/* Everything of another process that has a name, used by a process without privileges. */
static bool burglar(void *data)
{
	const struct rig *victim = data;
	uint64_t offset, mine;
	struct rig rig = {.fd = -1};
	unsigned good = 0;
	uint32_t bo;

	CHECK(become_nobody() && rig_queue(&rig));
	for (uint32_t i = 0; i < 256; i++) {
		void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig.fd,
				  (off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_DOORBELL, i));

		good += page != MAP_FAILED;
	}
	EXPECT(1, good);
	EXPECT(0, bo_create(rig.fd, PAGE, DRM_TUTTI_PLACE_SYSTEM, &bo, &mine));
	/* the mmap offsets of buffers of all files lie in one space */
	for (offset = mine > 4096 * PAGE ? mine - 4096 * PAGE : PAGE; offset < mine + 64 * PAGE; offset += PAGE) {
		void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig.fd, (off_t)offset);

		if (page == MAP_FAILED)
			continue;
		CHECK(memcmp((uint8_t *)page, "secret", 6));
		munmap(page, PAGE);
	}
	CHECK(!victim->memory || rig_works(&rig));
	rig_close(&rig);
	return true;
}

static bool break_in(struct rig *rig)
{
	uint64_t offset;
	uint32_t bo;
	uint8_t *page;

	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	allow_everybody();
	CHECK(rig_queue(rig));
	for (unsigned placement = 0; placement < 2; placement++) {
		EXPECT(0, bo_create(rig->fd, PAGE, placement, &bo, &offset));
		page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
		CHECK(page != MAP_FAILED);
		memcpy(page, "secret", 6);
	}
	CHECK(in_child(burglar, rig));
	CHECK(rig_works(rig));
	return true;
}

static unsigned parameter(const char *name)
{
	char path[96];
	unsigned value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/tutti/parameters/%s", name);
	file = fopen(path, "re");
	if (file && fscanf(file, "%u", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

/* Contexts up to the limit; after one has been destroyed, another can be created. */
static bool limited_contexts(struct rig *rig)
{
	unsigned limit = parameter("file_contexts_max");
	struct drm_tutti_context_create args = {0};
	struct drm_tutti_handle one = {0};

	for (unsigned i = 1; i < limit; i++) { /* the rig has one */
		args = (struct drm_tutti_context_create){0};
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &args));
	}
	one.handle = args.handle;
	args = (struct drm_tutti_context_create){0};
	EXPECT(EDQUOT, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &args));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_DESTROY, &one));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &args));
	return true;
}

static bool limited_queues(struct rig *rig)
{
	unsigned limit = parameter("file_queues_max");
	struct drm_tutti_queue_create args;

	for (unsigned i = 1; i < limit; i++) {
		args = queue_args(rig);
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	}
	args = queue_args(rig);
	EXPECT(EDQUOT, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	return true;
}

static bool limited_fences(struct rig *rig)
{
	unsigned limit = parameter("queue_fences_max");
	struct drm_tutti_fence args = {.handle = rig->queue, .packet = 1ull << 40};

	args.syncobj = (uint32_t)syncobj_create(rig->fd);
	for (args.point = 1; args.point <= limit; args.point++)
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_FENCE, &args));
	EXPECT(EDQUOT, call(rig->fd, DRM_IOCTL_TUTTI_FENCE, &args));
	return true;
}

/* Card memory up to the limit, in two files; what is freed can be had again. */
static bool limited_card_memory(struct rig *rig)
{
	struct drm_gem_close one = {0};
	struct rig other = {.fd = -1};
	uint32_t bo;

	EXPECT(0, bo_create(rig->fd, 3 << 20, DRM_TUTTI_PLACE_CARD, &one.handle, NULL));
	EXPECT(EDQUOT, bo_create(rig->fd, 100 << 20, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	CHECK(rig_open(&other));
	EXPECT(EDQUOT, bo_create(other.fd, 24 << 20, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &one));
	EXPECT(0, bo_create(other.fd, 24 << 20, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	rig_close(&other);
	EXPECT(0, bo_create(rig->fd, 24 << 20, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	return true;
}

/* One file at its limit, another beside it with room. */
static bool card_tenant_of_two(void *data)
{
	struct rig one = {.fd = -1}, other = {.fd = -1};
	uint32_t bo;

	CHECK(become_nobody() && rig_open(&one) && rig_open(&other));
	EXPECT(0, bo_create(one.fd, 24 << 20, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	EXPECT(EDQUOT, bo_create(one.fd, 4 << 20, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	EXPECT(0, bo_create(other.fd, 4 << 20, DRM_TUTTI_PLACE_CARD, &bo, NULL));
	rig_close(&one);
	rig_close(&other);
	return true;
}

static bool card_tenant(void *data)
{
	struct rig rig = {.fd = -1};

	CHECK(become_nobody() && rig_queue(&rig));
	CHECK(limited_card_memory(&rig) && rig_works(&rig));
	rig_close(&rig);
	return true;
}

static bool set_parameter(const char *name, unsigned value)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/tutti/parameters/%s", name);
	file = fopen(path, "we");
	CHECK(file);
	fprintf(file, "%u\n", value);
	CHECK(!fclose(file));
	return true;
}

/* A tenth of 256 MiB for all files of a user, a fifth for one: the user's limit is met first. */
static bool card_limits(struct rig *rig)
{
	unsigned file = parameter("file_card_percent"), user = parameter("user_card_percent");
	uint32_t bo;
	bool good;

	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	SKIP_UNLESS(file && user, "the parameters cannot be read");
	allow_everybody();
	CHECK(rig_open(rig) && set_parameter("file_card_percent", 20) && set_parameter("user_card_percent", 10));
	good = in_child(card_tenant, NULL);
	good &= !bo_create(rig->fd, 100 << 20, DRM_TUTTI_PLACE_CARD, &bo, NULL); /* root may */
	CHECK(set_parameter("file_card_percent", 10) && set_parameter("user_card_percent", 20));
	good &= in_child(card_tenant_of_two, NULL);
	CHECK(set_parameter("file_card_percent", file) && set_parameter("user_card_percent", user));
	return good;
}

static bool tenant(void *data)
{
	struct rig rig = {.fd = -1};

	CHECK(become_nobody() && rig_queue(&rig));
	CHECK(limited_contexts(&rig) && limited_queues(&rig) && limited_fences(&rig));
	CHECK(rig_works(&rig));
	rig_close(&rig);
	return true;
}

/* Fences that end by themselves make room for others: none does, however long it takes to make them. */
static bool limits(struct rig *rig)
{
	unsigned fence_timeout_ms = parameter("fence_timeout_ms");
	bool good;

	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	SKIP_UNLESS(fence_timeout_ms, "the parameters cannot be read");
	allow_everybody();
	CHECK(set_parameter("fence_timeout_ms", 3600 * 1000));
	good = in_child(tenant, NULL);
	CHECK(set_parameter("fence_timeout_ms", fence_timeout_ms));
	return good;
}

static bool hasty(void *data)
{
	struct drm_tutti_queue_create args;
	struct rig rig = {.fd = -1};

	CHECK(become_nobody() && rig_queue(&rig));
	for (uint32_t priority = 1; priority <= 10; priority++) {
		args = queue_args(&rig);
		args.priority = priority;
		EXPECT(priority < 5 ? EACCES : 0, call(rig.fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	}
	rig_close(&rig);
	return true;
}

/* A priority above that of others needs CAP_SYS_NICE. */
static bool priorities(struct rig *rig)
{
	struct drm_tutti_queue_create args;

	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	allow_everybody();
	CHECK(rig_queue(rig));
	args = queue_args(rig);
	args.priority = 1;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	return in_child(hasty, NULL);
}

/* Another queue in the place of the rig's, one that takes task metadata. */
static bool extend_queue(struct rig *rig)
{
	struct drm_tutti_queue_create args = queue_args(rig);

	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	munmap((void *)rig->doorbell, PAGE);
	args.flags = TUTTI_QUEUE_EXTENDED;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	rig->queue = args.handle;
	rig->doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)args.doorbell_offset);
	CHECK(rig->doorbell != MAP_FAILED);
	return true;
}

/* A kernel whose metadata ask for that priority, on a queue of priority 5. 0 or the error that stops the queue. */
static bool task_error(uint8_t priority, unsigned *code)
{
	static const uint32_t ret[] = {0x00008067};
	struct tutti_fault fault = {0};
	struct rig rig = {.fd = -1};
	struct tutti_tmd *tmd;

	CHECK(rig_queue(&rig) && extend_queue(&rig));
	tmd = (void *)(rig.memory + DATA_AT);
	*tmd = (struct tutti_tmd){.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .priority = priority};
	rig_code(&rig, ret, sizeof(ret));
	rig_signal(&rig, 0, 1);
	rig_dispatch_task(&rig, 1, 0, BASE + DATA_AT, 0);
	rig_ring(&rig);
	if (rig_wait(&rig, 0, 0, SECOND))
		EXPECT(0, queue_error(&rig, &fault));
	*code = fault.code;
	rig_close(&rig);
	return true;
}

static bool hasty_tasks(void *data)
{
	unsigned code;

	CHECK(become_nobody());
	for (uint8_t priority = 0; priority <= 10; priority++) {
		CHECK(task_error(priority, &code));
		EXPECT(priority && priority < 5 ? TUTTI_ERROR_TMD : 0, code);
	}
	return true;
}

/* Nor may the metadata of a task ask for more than the queue's owner has leave for. */
static bool task_priorities(struct rig *rig)
{
	unsigned code;

	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	allow_everybody();
	CHECK(task_error(1, &code));
	EXPECT(0, code);
	return in_child(hasty_tasks, NULL);
}

static bool worker(void *data)
{
	struct rig rig = {.fd = -1};

	CHECK(become_nobody() && rig_queue(&rig));
	memset(rig.memory + 12 * PAGE, *(int *)data, PAGE);
	for (unsigned i = 0; i < 100; i++) {
		CHECK(rig_works(&rig));
		for (unsigned j = 0; j < PAGE; j++)
			EXPECT(*(int *)data, rig.memory[12 * PAGE + j]);
	}
	rig_close(&rig);
	return true;
}

static bool troublemaker(void *data)
{
	CHECK(become_nobody());
	for (unsigned i = 0; i < 40; i++) {
		struct rig rig = {.fd = -1};

		CHECK(rig_queue(&rig));
		rig_fill(&rig, random32() % 2 ? BASE + 12 * PAGE : (uint64_t)random32() << 12, 0, PAGE, 0);
		rig_ring(&rig);
		rig_fill(&rig, 7 * BASE, 0, PAGE, 0);
		rig_ring(&rig);
		rig_close(&rig);
	}
	return true;
}

/* Two processes with the same addresses and different data, one of which does harm all the time. */
static bool side_by_side(struct rig *rig)
{
	int marks[2] = {0x31, 0x32}, status;
	pid_t children[3];

	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	allow_everybody();
	for (unsigned i = 0; i < 3; i++) {
		children[i] = fork();
		CHECK(children[i] >= 0);
		if (!children[i])
			_exit(i < 2 ? !worker(&marks[i]) : !troublemaker(NULL));
	}
	for (unsigned i = 0; i < 3; i++) {
		CHECK(waitpid(children[i], &status, 0) == children[i]);
		EXPECT(0, status);
	}
	return true;
}

static bool no_files(void *data)
{
	static const char *const names[] = {"card_reset", "enable", "remove"};
	char path[96];

	CHECK(become_nobody());
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", pci_address, names[i]);
		CHECK(open(path, O_WRONLY) < 0 && errno == EACCES);
	}
	CHECK(!opendir("/sys/kernel/debug"));
	return true;
}

static bool sysfs(struct rig *rig)
{
	SKIP_UNLESS(!getuid() && pci_address, "needs root, and the card's address");
	return in_child(no_files, NULL);
}

/* ---- signals ---- */

static volatile sig_atomic_t heard;

static void hear(int number)
{
	heard++;
}

/* A child that sends SIGUSR1 until it is killed. */
static pid_t storm(void)
{
	struct sigaction action = {.sa_handler = hear};
	pid_t parent = getpid(), child;

	sigaction(SIGUSR1, &action, NULL); /* no SA_RESTART */
	child = fork();
	if (child)
		return child;
	for (;;) {
		if (kill(parent, SIGUSR1))
			_exit(0);
		usleep(200);
	}
}

static void calm(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Every call under many signals: repeated after -EINTR, each does its work once. */
static bool calls_in_storm(struct rig *rig)
{
	pid_t child = storm();
	uint8_t args[ARGS_MAX];

	heard = 0;
	for (const struct call *it = calls; it->name; it++) {
		for (unsigned i = 0; i < 5; i++) {
			struct rig mine = {.fd = -1};
			int error = !rig_queue(&mine) || !it->fill(&mine, args);

			if (!error)
				error = call(mine.fd, it->request, args);
			if (error || !rig_works(&mine)) {
				calm(child);
				return fail(__FILE__, __LINE__, it->name, error, 0);
			}
			rig_close(&mine);
		}
	}
	calm(child);
	CHECK(heard > 10);
	return true;
}

/* An interrupted wait returns -EINTR, and the same call again waits for the same thing until the same time. */
static bool wait_in_storm(struct rig *rig)
{
	struct drm_tutti_wait wait;
	unsigned interrupted = 0;
	pid_t child;
	uint64_t start;
	int result;

	CHECK(rig_queue(rig));
	rig_signal(rig, 1, 1);
	child = storm();
	start = now_ns();
	wait = (struct drm_tutti_wait){
		.kind = DRM_TUTTI_WAIT_SIGNAL, .handle = rig->bo, .condition = DRM_TUTTI_EQ, .value = 77,
		.offset = SIGNAL_AT + sizeof(struct tutti_signal), .deadline = start + 2 * SECOND};
	while ((result = ioctl(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait)) && errno == EINTR) {
		interrupted++;
		if (wait.value != 77 || wait.events)
			break;
	}
	result = result ? errno : 0;
	calm(child);
	EXPECT(ETIME, result);
	CHECK(interrupted > 2);
	CHECK(now_ns() - start >= 2 * SECOND && now_ns() - start < PATIENCE);
	return true;
}

static bool wait_for_ever(void *data)
{
	struct rig rig = {.fd = -1};

	CHECK(rig_queue(&rig));
	rig_signal(&rig, 1, 1);
	rig_wait(&rig, 1, 0, 1000 * SECOND);
	return true;
}

static bool killed_in_wait(struct rig *rig)
{
	uint64_t start;
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child)
		_exit(!wait_for_ever(NULL));
	CHECK(soon_in_call(child));
	start = now_ns();
	kill(child, SIGKILL);
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	CHECK(now_ns() - start < PATIENCE);
	return true;
}

/* A child that inherits the descriptor uses the same file; its exit closes nothing. */
static bool inherited(void *data)
{
	struct rig *rig = data;
	struct drm_tutti_queue_query query = {.handle = rig->queue};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
	return true;
}

static bool inheritance(struct rig *rig)
{
	CHECK(rig_queue(rig) && in_child(inherited, rig));
	CHECK(rig_works(rig));
	CHECK(fcntl(rig->fd, F_GETFD) & FD_CLOEXEC);
	return true;
}

static const struct subtest process_tests[] = {
	{"SYS-27: all ordinary work without privileges", unprivileged},
	{"SYS-27: calls for root only", root_only},
	{"SYS-27: no names of buffers, no master, no displays", core_calls},
	{"SYS-27: a break-in by mmap", break_in},
	{"REL-12: limits of a tenant", limits},
	{"REL-12 SYS-22: card memory of a file and of a user", card_limits},
	{"REL-12 SYS-24: priorities above the default", priorities},
	{"REL-12 TSK-01: priorities above the default, in metadata of tasks", task_priorities},
	{"SYS-27: two processes and a troublemaker", side_by_side},
	{"SYS-27 SYS-29: files for root only", sysfs},
	{"SYS-30: every call in a storm of signals", calls_in_storm},
	{"SYS-26: a wait in a storm of signals", wait_in_storm},
	{"SYS-26: killed in a wait", killed_in_wait},
	{"SYS-27: a child and the descriptor", inheritance},
	{0},
};

void process_group(void)
{
	subtests(process_tests);
}
