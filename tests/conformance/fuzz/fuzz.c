// SPDX-License-Identifier: MIT
/*
 * tutti-fuzz: calls of the driver with arguments that are nearly right, from threads of several processes that are
 * killed at random, with resets and removals meanwhile (spec REL-03). The kernel must not complain (who runs this looks
 * at its log), nobody may get a SIGBUS, and who plays by the rules must be served all the time. TAP.
 */
#include <getopt.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

#define PROCESSES 3
#define THREADS 2
#define RIGS 3
#define NOBODY 65534
#define CALLS_LEAST 1000 /* it goes on until it has made more calls than this, however busy the machine is */

/** struct tally - shared by all processes. */
static struct tally {
	uint64_t calls, good, buses, served, refused, deaths;
	uint64_t away, away_since; /* ns for which root has taken the card away; since when it does so now, or 0 */
} *tally;

static unsigned seconds = 10;

bool fail(const char *file, int line, const char *text, long got, long wanted)
{
	return false;
}

const char *fail_text(void)
{
	return "";
}

bool skip(const char *why)
{
	return true;
}

enum outcome subtest(const char *name, subtest_fn *run, const void *data)
{
	return NOT_RUN;
}

static void add(uint64_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

/** struct fuzzer - a thread, with files of its own and a random state of its own. */
struct fuzzer {
	struct rig rigs[RIGS];
	uint64_t state;
	pthread_t thread;
	sigjmp_buf *jump;
};
static __thread struct fuzzer *self;

static uint64_t random64(void)
{
	uint64_t x = self->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	self->state = x;
	return x * 0x2545f4914f6cdd1dull;
}

static uint32_t below(uint32_t limit)
{
	return (uint32_t)((random64() >> 32) % limit);
}

static uint64_t interesting(void)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 4, 7, 8, 16, 63, 64, 255, 256, 4095, PAGE, 2 * PAGE, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
		0xffffffff, 1ull << 32, BASE, BASE + PAGE, 2 * BASE, 1ull << 39, (1ull << 47) - PAGE, 1ull << 47, 1ull << 48,
		1ull << 63, 0 - PAGE, ~0ull, 0xffff888000000000ull,
		DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_DOORBELL, 1), DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_RSB, 1),
	};

	switch (below(4)) {
	case 0:
		return random64();
	case 1:
		return below(20);
	default:
		return values[below(sizeof(values) / sizeof(values[0]))];
	}
}

static void mutate(uint8_t *args, uint32_t bytes)
{
	for (uint32_t n = below(4); n; n--) {
		uint64_t value = interesting();
		uint32_t size = 1u << below(4), at;

		size = size > bytes ? bytes : size;
		at = below(bytes - size + 1) & ~(size - 1);
		memcpy(args + at, &value, size);
	}
}

static uint32_t call_count(void)
{
	uint32_t count = 0;

	while (calls[count].name)
		count++;
	return count;
}

/* A wait of a thread ends at the latest when the alarm thread sends it a signal. */
static void mutated_call(struct rig *rig)
{
	const struct call *it = &calls[below(call_count())];
	uint64_t args[ARGS_MAX / 8];
	unsigned long request = it->request;

	/* seldom what changes the card for everybody, and what first needs a kernel to run */
	if ((call_is_for_all(it) || request == DRM_IOCTL_TUTTI_TASK_CANCEL) && below(8))
		return;
	if (!it->fill(rig, (void *)args))
		return;
	mutate((uint8_t *)args, call_bytes(it));
	if (!below(16)) /* another size */
		request = (request & ~(0x3ffful << 16)) | (unsigned long)below(ARGS_MAX) << 16;
	add(&tally->calls);
	if (!ioctl(rig->fd, request, below(64) ? (void *)args : (void *)interesting()))
		add(&tally->good);
}

/* Any number, any size, any direction; also the calls of DRM's core. */
static void raw_call(struct rig *rig)
{
	uint64_t args[512];
	uint32_t nr = below(256);
	unsigned long request =
		(unsigned long)below(4) << 30 | (unsigned long)below(sizeof(args)) << 16 | 'd' << 8 | nr;

	if (nr >= 0xc3 && nr <= 0xcf) /* DRM's arrays of syncobjs: it allocates what a user asks for, with a warning */
		return;
	for (unsigned i = 0; i < 16; i++)
		args[i] = interesting();
	memset(args + 16, 0, sizeof(args) - 128);
	add(&tally->calls);
	if (!ioctl(rig->fd, request, args))
		add(&tally->good);
}

static void core_call(struct rig *rig)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_GEM_CLOSE, DRM_IOCTL_PRIME_HANDLE_TO_FD, DRM_IOCTL_PRIME_FD_TO_HANDLE, DRM_IOCTL_SYNCOBJ_CREATE,
		DRM_IOCTL_SYNCOBJ_DESTROY, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, DRM_IOCTL_SYNCOBJ_TRANSFER,
		DRM_IOCTL_GEM_FLINK, DRM_IOCTL_GET_CAP, DRM_IOCTL_VERSION,
	};
	unsigned long request = requests[below(sizeof(requests) / sizeof(requests[0]))];
	uint64_t args[16] = {0};
	int fd;

	((uint32_t *)args)[0] = below(6);
	((uint32_t *)args)[1] = below(4);
	mutate((uint8_t *)args, request >> 16 & 0x3fff);
	add(&tally->calls);
	if (ioctl(rig->fd, request, args))
		return;
	add(&tally->good);
	fd = (int)((uint32_t *)args)[2];
	if ((request == DRM_IOCTL_PRIME_HANDLE_TO_FD || request == DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD) && fd > 2)
		close(fd);
}

/* Mapped, touched, and unmapped; whatever it is, it can be accessed. */
static void map_touch(struct rig *rig)
{
	uint64_t offset = below(2) ? rig->doorbell_offset + below(2) * PAGE : interesting() & ~(PAGE - 1);
	size_t bytes = (1 + below(3)) * PAGE;
	struct drm_tutti_bo_create bo = {.size = bytes, .placement = below(2)};
	sigjmp_buf jump;
	volatile uint32_t *words;

	if (!below(3) && !ioctl(rig->fd, DRM_IOCTL_TUTTI_BO_CREATE, &bo))
		offset = bo.mmap_offset;
	words = mmap(NULL, bytes, below(2) ? PROT_READ | PROT_WRITE : PROT_READ, below(8) ? MAP_SHARED : MAP_PRIVATE, rig->fd,
		     (off_t)offset);
	add(&tally->calls);
	if (words == MAP_FAILED)
		return;
	add(&tally->good);
	self->jump = &jump;
	if (!sigsetjmp(jump, 1)) {
		(void)words[below((uint32_t)bytes / 4)];
		words[below((uint32_t)bytes / 4)] = (uint32_t)random64();
	}
	self->jump = NULL;
	munmap((void *)words, bytes);
}

/* Its own ring, signals and code; pages that are no longer mapped are skipped. */
static void scribble(struct rig *rig)
{
	sigjmp_buf jump;

	self->jump = &jump;
	if (!sigsetjmp(jump, 1)) {
		for (unsigned i = below(32); i; i--)
			((volatile uint32_t *)(void *)rig->memory)[below(RIG_BYTES / 4)] = (uint32_t)interesting();
		*rig->doorbell = below(2) ? rig->write_index++ : interesting();
	}
	self->jump = NULL;
}

static void work(struct rig *rig)
{
	rig_fill(rig, BASE + DATA_AT, (uint32_t)random64(), (1 + below(4)) * PAGE, below(8));
	rig_ring(rig);
	if (below(2))
		rig_wait(rig, below(8), 0, below(3000000));
}

static void one_step(void)
{
	struct rig *rig = &self->rigs[below(RIGS)];

	if (rig->fd < 0 && !rig_queue(rig)) {
		rig_close(rig);
		usleep(1000);
		return;
	}
	switch (below(32)) {
	case 0:
		rig_close(rig);
		break;
	case 1 ... 4:
		map_touch(rig);
		break;
	case 5 ... 7:
		scribble(rig);
		break;
	case 8 ... 10:
		work(rig);
		break;
	case 11 ... 14:
		core_call(rig);
		break;
	case 15 ... 18:
		raw_call(rig);
		break;
	default:
		mutated_call(rig);
	}
}

static void *run_thread(void *data)
{
	self = data;
	for (;;)
		one_step();
	return NULL;
}

/* SIGSEGV may be user space's own fault; SIGBUS never is. */
static void caught(int number)
{
	if (number == SIGBUS)
		add(&tally->buses);
	if (self && self->jump)
		siglongjmp(*self->jump, 1);
	_exit(3);
}

static void poked(int number)
{
}

static void fuzz_process(uint64_t state)
{
	static struct fuzzer fuzzers[THREADS];
	struct sigaction caught_action = {.sa_handler = caught, .sa_flags = SA_NODEFER};
	struct sigaction poked_action = {.sa_handler = poked};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!getuid() && (setgid(NOBODY) || setuid(NOBODY)))
		_exit(4);
	sigaction(SIGSEGV, &caught_action, NULL);
	sigaction(SIGBUS, &caught_action, NULL);
	sigaction(SIGUSR1, &poked_action, NULL);
	for (unsigned i = 0; i < THREADS; i++) {
		for (unsigned j = 0; j < RIGS; j++)
			fuzzers[i].rigs[j].fd = -1;
		fuzzers[i].state = state * 7919 + i + 1;
		pthread_create(&fuzzers[i].thread, NULL, run_thread, &fuzzers[i]);
	}
	for (;;) { /* no thread sleeps for long in any call */
		usleep(20000);
		for (unsigned i = 0; i < THREADS; i++)
			pthread_kill(fuzzers[i].thread, SIGUSR1);
	}
}

/* How long the card has been away so far: on a busy machine it takes long to unbind a driver that is in use (REL-09). */
static uint64_t away(void)
{
	uint64_t since = __atomic_load_n(&tally->away_since, __ATOMIC_ACQUIRE), away = __atomic_load_n(&tally->away, __ATOMIC_ACQUIRE);

	return since ? away + now_ns() - since : away;
}

/* A client without faults. Root resets or removes the card now and then; then it opens the card again. */
static void served(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct rig rig = {.fd = -1};
		uint64_t began = now_ns() - away();

		while (!rig_queue(&rig)) {
			rig_close(&rig);
			if (now_ns() - away() > began + PATIENCE) {
				add(&tally->refused);
				break;
			}
			usleep(5000);
		}
		for (unsigned i = 0; rig.fd >= 0 && i < 20 && rig_works(&rig); i++)
			add(&tally->served);
		rig_close(&rig);
	}
}

static pid_t start(unsigned number)
{
	uint64_t state = (uint64_t)random32() << 32 | random32() | 1;
	pid_t child = fork();

	if (child)
		return child;
	if (!number)
		served();
	fuzz_process(state);
	return 0;
}

/* What root does to the card while clients run. */
static void disturb(void)
{
	static const char *const faults[] = {"firmware-crash", "lost-interrupt", "lost-doorbell", "torn-fetch",
					     "page-fault",     "kernel-trap",	 "memory-error"};
	struct drm_tutti_reset reset = {.rung = DRM_TUTTI_RESET_FIRMWARE};
	uint32_t dice = random32() % 100;
	int fd;

	if (getuid())
		return;
	__atomic_store_n(&tally->away_since, now_ns(), __ATOMIC_RELEASE);
	if (dice < 2 && pci_address) {
		driver_unbind();
		driver_bind();
		allow_everybody();
	} else if (dice < 3 && pci_address) {
		card_remove();
		card_rescan();
		allow_everybody();
	} else if (dice < 6) {
		fd = device_open();
		call(fd, DRM_IOCTL_TUTTI_RESET, &reset);
		close(fd);
	} else if (dice < 12 && inject_command) {
		inject(faults[random32() % (sizeof(faults) / sizeof(faults[0]))]);
	}
	tally->away += now_ns() - tally->away_since;
	__atomic_store_n(&tally->away_since, 0, __ATOMIC_RELEASE);
}

static void fuzz(void)
{
	pid_t children[PROCESSES + 1];
	uint64_t end = now_ns() + seconds * SECOND;

	for (unsigned i = 0; i <= PROCESSES; i++)
		children[i] = start(i);
	while (now_ns() < end || __atomic_load_n(&tally->calls, __ATOMIC_RELAXED) <= CALLS_LEAST) {
		unsigned victim = 1 + random32() % PROCESSES;

		usleep(100000);
		disturb();
		for (unsigned i = 1; i <= PROCESSES; i++) {
			if ((i == victim && !(random32() % 8) && !kill(children[i], SIGKILL) &&
			     waitpid(children[i], NULL, 0) > 0) ||
			    waitpid(children[i], NULL, WNOHANG) > 0) {
				add(&tally->deaths);
				children[i] = start(i);
			}
		}
	}
	for (unsigned i = 0; i <= PROCESSES; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

static unsigned number, failures;

static void result(bool good, const char *name)
{
	failures += !good;
	printf("%s %u - REL-03: %s\n", good ? "ok" : "not ok", ++number, name);
}

static int options(int argc, char **argv)
{
	static const struct option longs[] = {
		{"device", required_argument, NULL, 'd'}, {"pci", required_argument, NULL, 'p'},
		{"inject", required_argument, NULL, 'i'}, {"seed", required_argument, NULL, 's'},
		{"seconds", required_argument, NULL, 't'}, {0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		switch (option) {
		case 'd': device_path = optarg; break;
		case 'p': pci_address = optarg; break;
		case 'i': inject_command = optarg; break;
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 't': seconds = (unsigned)atoi(optarg); break;
		default:
			fputs("usage: tutti-fuzz [--device NODE] [--pci ADDRESS] [--inject COMMAND] [--seed N] [--seconds N]\n",
			      stderr);
			return 2;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct rig rig = {.fd = -1};
	char name[200];

	seed = now_ns();
	if (options(argc, argv))
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n# seed %llu, %u s\n", (unsigned long long)seed, seconds);
	tally = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		return 2;
	allow_everybody();
	fuzz();
	snprintf(name, sizeof(name), "%llu calls, %llu of them good, %llu processes killed",
		 (unsigned long long)tally->calls, (unsigned long long)tally->good, (unsigned long long)tally->deaths);
	result(tally->calls > CALLS_LEAST && tally->good, name);
	snprintf(name, sizeof(name), "who plays by the rules was served %llu times", (unsigned long long)tally->served);
	result(tally->served && !tally->refused, name);
	result(!tally->buses, "nobody got a SIGBUS");
	result(rig_fresh(&rig) && rig_works(&rig), "the card works afterwards");
	rig_close(&rig);
	printf("1..%u\n", number);
	return failures ? 1 : 0;
}
