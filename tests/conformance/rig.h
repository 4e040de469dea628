/* SPDX-License-Identifier: MIT */
/* What a subtest starts from: an open card, a context, mapped memory, a working queue. */
#ifndef CONFORMANCE_RIG_H
#define CONFORMANCE_RIG_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "tutti/control.h"
#include "tutti/discovery.h"
#include "tutti/message.h"
#include "tutti/packet.h"
#include "tutti/reference.h"
#include "tutti/signal.h"
#include "tutti/tutti_drm.h"

#define PAGE 4096ull
#define SECOND 1000000000ull
/* How long to wait for something that happens at once on an idle machine (REL-09). */
#define PATIENCE (120 * SECOND)
#define PATIENCE_MS 120000
#define BASE 0x100000000ull /* card address of the rig's buffer */
#define RING_LOG2 4u
#define RIG_BYTES (16 * PAGE)
/* places in the rig's buffer */
#define RING_AT 0u
#define INDEX_AT (1 * PAGE)
#define SIGNAL_AT (2 * PAGE)
#define CODE_AT (3 * PAGE)
#define DATA_AT (4 * PAGE)
#define SPARE_RING_AT (8 * PAGE) /* for a second queue, with its index behind it */
#define SPARE_INDEX_AT (9 * PAGE)
#define SPARE_DATA_AT (10 * PAGE)

/** struct rig - fields are zero until something is created. */
struct rig {
	int fd;
	uint32_t context;
	uint32_t bo;
	uint8_t *memory;
	uint32_t queue, queue_number; /* handle, and number on the card */
	uint64_t doorbell_offset;
	volatile uint64_t *doorbell;
	const volatile uint32_t *asleep;
	uint64_t write_index;
};

/* rig.c */
extern const char *device_path;
extern const char *pci_address;    /* device that may be unbound and bound again; NULL: leave it alone */
extern const char *inject_command; /* command that injects faults; NULL: there is none */
extern const char *plug_command;   /* command that puts a card into the empty slot; NULL: nobody does that */
extern unsigned rounds;            /* how often the storms repeat */
extern uint64_t seed;
uint32_t random32(void);
bool inject(const char *what);
int device_open(void);
bool discovery(int fd, struct tutti_discovery *known); /* asks the driver for the discovery data */
int call(int fd, unsigned long request, void *args); /* 0 or errno */
uint64_t now_ns(void);
bool rig_open(struct rig *rig);    /* file only */
bool rig_context(struct rig *rig); /* and a context */
bool rig_memory(struct rig *rig);  /* and a mapped buffer */
bool rig_queue(struct rig *rig);   /* and a queue */
void rig_close(struct rig *rig);
int bo_create(int fd, uint64_t size, uint32_t placement, uint32_t *handle, uint64_t *offset);
int bo_map(int fd, uint32_t context, uint32_t bo, uint64_t address, uint64_t bytes);
struct drm_tutti_queue_create queue_args(const struct rig *rig);
struct tutti_signal *rig_signal(struct rig *rig, unsigned number, int64_t value);
void rig_fill(struct rig *rig, uint64_t address, uint32_t pattern, uint32_t bytes, unsigned signal);
void rig_ring(struct rig *rig);
int rig_wait(struct rig *rig, unsigned signal, int64_t value, uint64_t timeout_ns);
bool rig_works(struct rig *rig); /* a packet runs and its data is right */
bool rig_fresh(struct rig *rig); /* rig_queue() after a reset has ended, which is waited for, 20 s at most */
union tutti_packet *rig_slot(struct rig *rig); /* the next one, still INVALID */
void rig_publish(union tutti_packet *slot, uint32_t header);
void rig_code(struct rig *rig, const uint32_t *code, size_t bytes); /* a kernel at CODE_AT */
void rig_dispatch(struct rig *rig, uint32_t workgroups, uint64_t kernarg, unsigned signal);
void rig_dispatch_at(union tutti_packet *slot, uint32_t workgroups, uint64_t kernarg); /* in any ring; no signal */
void rig_dispatch_task(struct rig *rig, uint32_t workgroups, uint64_t kernarg, uint64_t tmd, unsigned signal);
int rig_progress(struct rig *rig, uint64_t packets, uint64_t timeout_ns); /* WAIT_PROGRESS */
int queue_error(struct rig *rig, struct tutti_fault *fault); /* waits 10 s for the queue to stop; 0 or errno */
int queue_call(struct rig *rig, unsigned long request); /* DESTROY or RESET of the rig's queue */
int device_reset(void); /* by ioctl of a file of its own; waits until it is over */
uint64_t syncobj_create(int fd);
void allow_everybody(void); /* nodes may be opened by any user */
bool soon_in_call(pid_t pid); /* waits until another thread, or a thread of another process, sleeps in an ioctl */
bool in_child(bool (*run)(void *data), void *data); /* in a process of its own; its CHECKs count */

/* The second number of the line of a debugfs file that has @key as its first; false: there is none. */
bool debugfs_number(const char *file, const char *format, unsigned key, unsigned *value);
bool context_number(const struct rig *rig, unsigned *number); /* on the card, of the rig's context */

/* bus.c: what root does to the card's PCI device. Only with --pci. */
bool driver_unbind(void);
bool driver_bind(void);
bool card_remove(void);
bool card_rescan(void); /* and bound again */
bool card_reset(const char *how); /* a rung of the recovery ladder, by hand */
/* The slot above the card, for which the kernel's pciehp is responsible. */
bool card_pull(void);         /* out of its slot, without a word to anybody; the kernel will notice */
bool card_soon(bool there);   /* the kernel has noticed that it is there, or that it is not; waits for it */
bool card_plug(void);         /* into the empty slot, and bound */
bool card_link(bool up);      /* whether accesses reach the card; nobody is told. False: it has no port of its own */

/* Suspends all devices and resumes them at once, the kernel's own test. */
bool can_sleep(void);
bool system_sleep(void);
#define NEED_SLEEP "needs root, --pci and a kernel with PM_DEBUG"

/* stale.c: every call on a file from before a reset */
void stale_calls(const char *when, bool (*happen)(void), int wanted);

/* main.c */
bool fail(const char *file, int line, const char *text, long got, long wanted);
const char *fail_text(void);
#define CHECK(condition) \
	do { \
		if (!(condition)) \
			return fail(__FILE__, __LINE__, #condition, 0, 0); \
	} while (0)
#define EXPECT(wanted, expression) \
	do { \
		long got_ = (expression); \
		if (got_ != (wanted)) \
			return fail(__FILE__, __LINE__, #expression, got_, (wanted)); \
	} while (0)

bool skip(const char *why); /* return skip("reason") when a test is not possible here */
#define SKIP_UNLESS(condition, why) \
	do { \
		if (!(condition)) \
			return skip(why); \
	} while (0)

/** struct subtest - @run returns true if everything is as it must be. */
struct subtest {
	const char *name;
	bool (*run)(struct rig *rig);
};
typedef bool subtest_fn(struct rig *rig, const void *data);
/** enum outcome - of a subtest; the worst is the highest. */
enum outcome { NO_SUBTEST, NOT_RUN, SKIPPED, PASSED, FAILED };
enum outcome subtest(const char *name, subtest_fn *run, const void *data);
void subtests(const struct subtest *tests); /* up to a nameless one */

void arguments_group(void), calls_group(void), defects_group(void), memory_group(void), mmap_group(void),
	queue_group(void), sync_group(void), trust_group(void), process_group(void), life_group(void),
	recover_group(void), reset_group(void), unplug_group(void), power_group(void), storm_group(void), faults_group(void),
	policy_group(void), core_group(void), tracing_group(void), limits_group(void), waits_group(void), spaces_group(void),
	killed_group(void), discovery_group(void), references_group(void), report_group(void), tenant_group(void),
	dump_group(void), prompt_group(void), leaks_group(void), imported_group(void);

#endif
