// SPDX-License-Identifier: MIT
/* The recovery ladder, rung by rung: faulty work is stopped, other work goes on or is told (spec SYS-28, REL-04). */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

static const uint32_t endless[] = {0x0000006f};

/* A queue whose time limit is @ms, instead of the rig's ten seconds. */
static bool limited_queue(struct rig *rig, uint32_t ms)
{
	struct drm_tutti_queue_create args;

	CHECK(rig_queue(rig));
	args = queue_args(rig);
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	args.timeout_ms = ms;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	rig->queue = args.handle;
	rig->doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)args.doorbell_offset);
	CHECK(rig->doorbell != MAP_FAILED);
	return true;
}

/* Rung 1: a kernel that never ends stops its queue. Everything else goes on, and so does the queue after its reset. */
static bool hung_kernel(struct rig *rig)
{
	struct rig other = {.fd = -1};
	struct tutti_fault fault;

	CHECK(limited_queue(rig, 300) && rig_queue(&other));
	rig_code(rig, endless, sizeof(endless));
	rig_signal(rig, 1, 1);
	rig_dispatch(rig, 4, 0, 1);
	rig_ring(rig);
	for (unsigned i = 0; i < 20; i++)
		CHECK(rig_works(&other));
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(TUTTI_ERROR_TIMEOUT, fault.code);
	EXPECT(0, fault.packet);
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET));
	CHECK(rig_works(rig) && rig_works(&other));
	rig_close(&other);
	return true;
}

/* Twelve workgroups, one after the other; 0: one of them has taken longer than its queue allows. */
static bool run_twelve(struct rig *rig, uint64_t *took)
{
	uint64_t start = now_ns();
	struct tutti_fault fault;

	rig_signal(rig, 1, 12);
	for (unsigned i = 0; i < 12; i++)
		rig_dispatch(rig, 1, BASE + DATA_AT, 1);
	rig_ring(rig);
	if (!rig_wait(rig, 1, 0, PATIENCE)) {
		*took = now_ns() - start;
		return true;
	}
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(TUTTI_ERROR_TIMEOUT, fault.code);
	*took = 0;
	return true;
}

/* More and more work, until all of it takes the queue's limit twice over: on any card, a part takes a third of it at most. */
static bool takes_long(struct rig *rig, uint32_t ms, uint64_t *took)
{
	static const uint32_t count_down[] = {
		0x00053283, /* ld   t0, 0(a0) */
		0xfff28293, /* 1: addi t0, t0, -1 */
		0xfe029ee3, /* bnez t0, 1b */
		0x00008067, /* ret */
	};
	uint64_t *loops;

	CHECK(limited_queue(rig, ms));
	rig_code(rig, count_down, sizeof(count_down));
	loops = (void *)(rig->memory + DATA_AT);
	*took = 1;
	for (*loops = 1 << 20; *took && *took < 2 * 1000000ull * ms; *loops *= 2)
		CHECK(run_twelve(rig, took));
	return true;
}

/*
 * Slow work that makes progress: each workgroup is quick, all of them take many times the limit. A machine that is busy
 * otherwise may stop a quick one for longer than a short limit.
 */
static bool slow_kernel(struct rig *rig)
{
	uint64_t took = 0;

	for (uint32_t ms = 400; !took && ms <= 6400; ms *= 2) {
		rig_close(rig);
		CHECK(takes_long(rig, ms, &took));
	}
	CHECK(took);
	return true;
}

/* A fault of the card that one queue suffers from; the results of all others are exact. */
static bool injected_queue_error(struct rig *rig, const char *what, const char *off, unsigned code)
{
	static const uint32_t load[] = {0x00053283 /* ld t0, 0(a0) */, 0x00008067 /* ret */};
	struct rig other = {.fd = -1};
	struct tutti_fault fault;

	SKIP_UNLESS(inject_command, "needs --inject");
	CHECK(limited_queue(rig, 500) && rig_queue(&other));
	rig_code(rig, load, sizeof(load));
	for (unsigned i = 0; i < 60; i++) { /* until the access comes that it is waiting for */
		if (i % 20 == 0) /* once more, because the access that was hit may simply have been repeated */
			CHECK(inject(what));
		rig_signal(rig, 1, 1);
		rig_dispatch(rig, 32, BASE + DATA_AT, 1);
		rig_ring(rig);
		if (rig_wait(rig, 1, 0, SECOND))
			break;
	}
	EXPECT(0, queue_error(rig, &fault));
	if (off)
		CHECK(inject(off));
	if (fault.code != TUTTI_ERROR_RING_FAULT) /* the fetch of the packet, if that came first */
		EXPECT(code, fault.code);
	CHECK(rig_works(&other));
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET));
	CHECK(rig_works(rig));
	rig_close(&other);
	return true;
}

static bool kernel_trap(struct rig *rig)
{
	return injected_queue_error(rig, "kernel-trap", NULL, TUTTI_ERROR_KERNEL_TRAP);
}

static bool memory_error(struct rig *rig)
{
	return injected_queue_error(rig, "memory-error", NULL, TUTTI_ERROR_MEMORY);
}

static bool page_fault(struct rig *rig)
{
	return injected_queue_error(rig, "page-fault", NULL, TUTTI_ERROR_MEMORY_FAULT);
}

/* What is lost between host and card is found again by whoever waits for it. */
static bool lost(struct rig *rig, const char *what)
{
	SKIP_UNLESS(inject_command, "needs --inject");
	CHECK(rig_queue(rig) && rig_works(rig));
	for (unsigned i = 0; i < 3; i++) {
		CHECK(inject(what));
		CHECK(rig_works(rig));
	}
	return true;
}

/* A doorbell that was lost is not rung again by its program but by the driver. Others go on. */
static bool lost_doorbell(struct rig *rig)
{
	struct rig other = {.fd = -1};

	SKIP_UNLESS(inject_command, "needs --inject");
	CHECK(rig_queue(rig) && rig_queue(&other) && rig_works(rig));
	for (unsigned i = 0; i < 3; i++) {
		CHECK(inject("lost-doorbell"));
		rig_signal(rig, 0, 1);
		rig_fill(rig, BASE + DATA_AT, i, PAGE, 0);
		rig_ring(rig);
		EXPECT(0, rig_wait(rig, 0, 0, PATIENCE));
		CHECK(rig_works(&other));
	}
	rig_close(&other);
	return true;
}

static bool lost_interrupt(struct rig *rig)
{
	return lost(rig, "lost-interrupt");
}

static bool torn_fetch(struct rig *rig)
{
	return lost(rig, "torn-fetch");
}

static bool wait_for_reset(struct rig *rig, struct rig *fresh)
{
	EXPECT(EIO, rig_wait(rig, 5, 0, PATIENCE));
	CHECK(rig_fresh(fresh));
	for (unsigned i = 0; i < 5; i++)
		CHECK(rig_works(fresh));
	return true;
}

/* Rung 3: no context survives a reload of the firmware. All are told, and all can open the card again. */
static bool firmware_crash(struct rig *rig)
{
	struct rig fresh = {.fd = -1};
	bool good;

	SKIP_UNLESS(inject_command, "needs --inject");
	CHECK(rig_queue(rig) && rig_works(rig));
	rig_signal(rig, 5, 1);
	CHECK(inject("firmware-crash"));
	good = wait_for_reset(rig, &fresh);
	rig_close(&fresh);
	return good;
}

static bool firmware_hang(struct rig *rig)
{
	struct rig fresh = {.fd = -1};
	bool good;

	SKIP_UNLESS(inject_command, "needs --inject");
	CHECK(rig_queue(rig) && rig_works(rig));
	rig_signal(rig, 5, 1);
	CHECK(inject("firmware-hang 2")); /* until the driver starts it again */
	EXPECT(EIO, rig_wait(rig, 5, 0, PATIENCE));
	good = rig_fresh(&fresh) && rig_works(&fresh);
	rig_close(&fresh);
	CHECK(good);
	return true;
}

/* It is started again, and has the memory of before, or not. */
static bool crash_once(struct rig *rig, volatile uint32_t *word, uint32_t wanted)
{
	struct rig fresh = {.fd = -1};

	rig_signal(rig, 5, 1);
	CHECK(inject("firmware-crash"));
	EXPECT(EIO, rig_wait(rig, 5, 0, PATIENCE));
	CHECK(rig_fresh(&fresh));
	EXPECT(wanted, *word);
	rig_close(rig);
	*rig = fresh;
	return true;
}

/*
 * Three reloads in a row leave card memory alone, the first of which is the reset by request; the fourth, if it comes within
 * ten seconds of the third, is a reset of the function.
 */
static bool crash_after_crash(struct rig *rig)
{
	static const uint32_t wanted[] = {0xcafe, 0xcafe, 0};
	volatile uint32_t *word;
	uint64_t offset, start;
	uint32_t bo;

	SKIP_UNLESS(inject_command && !getuid(), "needs root and --inject");
	EXPECT(0, device_reset());
	CHECK(rig_queue(rig));
	EXPECT(0, bo_create(rig->fd, PAGE, DRM_TUTTI_PLACE_CARD, &bo, &offset));
	word = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(word != MAP_FAILED);
	*word = 0xcafe;
	for (unsigned i = 0; i < 3; i++) {
		start = now_ns();
		CHECK(crash_once(rig, word, wanted[i]));
		SKIP_UNLESS(now_ns() - start < 4 * SECOND, "the machine is too slow for crashes in a row");
	}
	munmap((void *)word, PAGE);
	CHECK(rig_works(rig));
	return true;
}

/* Calls and closes while the firmware does not answer: they end, and opens do not wait at all. */
static bool open_while_hung(struct rig *rig)
{
	struct rig fresh = {.fd = -1};
	uint64_t start;
	bool quick = false;

	SKIP_UNLESS(inject_command, "needs --inject");
	CHECK(rig_queue(rig) && rig_works(rig));
	CHECK(inject("firmware-silent 2"));
	for (unsigned i = 0; i < 20; i++) {
		int fd;

		start = now_ns();
		fd = device_open();
		close(fd);
		CHECK(fd >= 0);
		quick |= now_ns() - start < SECOND; /* one is enough, since a busy machine may delay the others */
	}
	start = now_ns();
	rig_close(rig); /* has a queue to destroy */
	CHECK(quick && now_ns() - start < 30 * SECOND);
	CHECK(rig_fresh(&fresh) && rig_works(&fresh));
	rig_close(&fresh);
	return true;
}

/* ---- the channel's ring is full ---- */

#define SENDERS 200u /* the ring holds 64 messages */

static void *send_one(void *data)
{
	struct drm_tutti_counters args = {0};
	const int *fd = data;

	return (void *)(long)call(*fd, DRM_IOCTL_TUTTI_COUNTERS, &args);
}

/* How long the driver waits for the firmware. */
static bool patience(const char *milliseconds)
{
	static const char *const names[] = {"heartbeat_timeout_ms", "request_timeout_ms"};
	char path[96];
	bool good = true;

	for (unsigned i = 0; i < 2; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/module/tutti/parameters/%s", names[i]);
		file = fopen(path, "we");
		good &= file && fputs(milliseconds, file) >= 0;
		good &= file && !fclose(file);
	}
	return good;
}

static bool send_all(int *fd)
{
	static pthread_t thread[SENDERS];
	unsigned started = 0, failed = 0;
	bool good;

	good = inject("firmware-silent");
	while (good && started < SENDERS && !pthread_create(&thread[started], NULL, send_one, fd))
		started++;
	sleep(2); /* until those that find room have sent, and the others wait */
	good &= inject("firmware-silent 0");
	for (unsigned i = 0; i < started; i++) {
		void *error;

		pthread_join(thread[i], &error);
		failed += error != NULL;
	}
	EXPECT(0, failed);
	CHECK(good && started == SENDERS);
	return true;
}

/*
 * There are more requests than the channel has room for, while the firmware takes none. Each is answered in the end.
 * The driver is given ten minutes, because on a slow machine two hundred threads that poll for their answers leave
 * little time for the command that lets the firmware go on.
 */
static bool full_ring(struct rig *rig)
{
	bool good;

	SKIP_UNLESS(inject_command && !getuid(), "needs --inject, and root");
	CHECK(rig_queue(rig) && patience("600000"));
	good = send_all(&rig->fd);
	CHECK(patience("5000"));
	if (!good)
		return false;
	CHECK(rig_works(rig)); /* there was no reset */
	return true;
}

static const struct subtest recover_tests[] = {
	{"SYS-28 REL-04: a kernel that never ends", hung_kernel},
	{"SYS-28: slow work that moves is let alone", slow_kernel},
	{"SYS-28 REL-04: a trapping kernel", kernel_trap},
	{"SYS-28 REL-04: a memory error", memory_error},
	{"SYS-28 REL-04: a page fault", page_fault},
	{"SYS-28 REL-04: lost doorbells", lost_doorbell},
	{"SYS-28 REL-04: lost interrupts", lost_interrupt},
	{"SYS-28 REL-04: torn packet fetches", torn_fetch},
	{"SYS-28 REL-04: firmware crash", firmware_crash},
	{"SYS-28 REL-04: firmware hang", firmware_hang},
	{"SYS-28: firmware that crashes again and again", crash_after_crash},
	{"SYS-28: open and close while the firmware hangs", open_while_hung},
	{"SYS-08 SYS-28: more requests than the channel has room for", full_ring},
	{0},
};

void recover_group(void)
{
	subtests(recover_tests);
}
