/* SPDX-License-Identifier: MIT */
/**
 * DOC: libtutti, the user-space runtime
 *
 * Objects: device (a card), memory, executable (loaded code object), kernel,
 * signal, queue, recording. Functions return 0 or a negative errno, never set
 * errno, and may be called from any thread; what is one thread's at a time says
 * so. The submit path is inline (tutti/queue.h): no lock and no system call for a
 * queue with a single producer. (spec SYS-40, SYS-41)
 */
#ifndef TUTTI_H
#define TUTTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti/code_object.h"
#include "tutti/counter.h"
#include "tutti/discovery.h"
#include "tutti/fault.h"
#include "tutti/packet.h"
#include "tutti/signal.h"
#include "tutti/tensor_api.h"
#include "tutti/tmd.h"

#ifdef __cplusplus
extern "C" {
#endif

/** tutti_version() - version of the library, TUTTI_VERSION(major, minor). */
uint32_t tutti_version(void);
/** tutti_strerror() - text for a negative result or a TUTTI_ERROR_* code given as positive number. */
const char *tutti_strerror(int error);

/* ---- devices ---------------------------------------------------------- */

struct tutti_device;

/**
 * struct tutti_device_options - how to open a device; zero = defaults.
 * @name: "emulator", "drm", "drm:/dev/accel/accel0", "xrt"; NULL = $TUTTI_DEVICE, else
 *	a card if there is one, else the emulator (said once on stderr)
 * @firmware: path of the firmware image; NULL = $TUTTI_FIRMWARE, else the installed
 *	one or the one of the build tree
 * @topology: path of a topology file (emulator; $TUTTI_TOPOLOGY)
 * @deterministic: emulator in deterministic mode ($TUTTI_DETERMINISTIC=1)
 * @seed: for deterministic mode ($TUTTI_SEED)
 * @workers: emulator threads beside the driving one; 0 = cores - 1
 * @count: count soft-core instructions by function ($TUTTI_COUNT=1)
 */
struct tutti_device_options {
	const char *name;
	const char *firmware;
	const char *topology;
	bool deterministic;
	bool count;
	unsigned workers;
	uint64_t seed;
};

/** tutti_device_open() - open a card, boot it if it is not running. -ENODEV, -EPROTO (versions), ... */
int tutti_device_open(const struct tutti_device_options *options, struct tutti_device **device);
/** tutti_device_close() - everything made from the device must be gone. */
void tutti_device_close(struct tutti_device *device);
/** tutti_device_discovery() - what the card is. Valid until close. */
const struct tutti_discovery *tutti_device_discovery(const struct tutti_device *device);
/** tutti_device_transport() - "emulator", "drm", "xrt". */
const char *tutti_device_transport(const struct tutti_device *device);
/** tutti_device_pci_address() - "0000:03:00.0"; -ENOTSUP if the card is on no bus of this machine. */
int tutti_device_pci_address(struct tutti_device *device, char *address, size_t bytes);
/** tutti_device_firmware_version() - TUTTI_VERSION of the running firmware. */
uint32_t tutti_device_firmware_version(const struct tutti_device *device);
/** tutti_device_time() - card timer, in ticks of discovery.timer_hz. */
uint64_t tutti_device_time(struct tutti_device *device);
/** tutti_device_counters() - all TUTTI_COUNTERS counters, brought up to date first. */
int tutti_device_counters(struct tutti_device *device, uint64_t counters[TUTTI_COUNTERS]);
/** tutti_counter_name() - lower-case name of a counter, as in "packets_condensed". */
const char *tutti_counter_name(enum tutti_counter counter);
/** tutti_device_log() - newest firmware log text into @text, NUL-terminated. Returns its length. */
size_t tutti_device_log(struct tutti_device *device, char *text, size_t bytes);
/** tutti_device_policy() - set a policy (enum tutti_policy, message.h). */
int tutti_device_policy(struct tutti_device *device, unsigned policy, uint32_t value);
/** tutti_device_enable_sms() - let SMs take part or not (spec CGA-04). */
int tutti_device_enable_sms(struct tutti_device *device, unsigned first, unsigned count, bool enable);
/** tutti_device_flush_print() - write out what kernels have printed so far. */
void tutti_device_flush_print(struct tutti_device *device);
/** tutti_device_print_handler() - where printf of kernels goes; NULL = stdout. */
void tutti_device_print_handler(struct tutti_device *device,
				void (*handler)(void *context, const char *text, size_t bytes), void *context);
/** tutti_device_card() - the emulated card behind the emulator transport, else NULL. */
struct tutti_card *tutti_device_card(struct tutti_device *device);

/* ---- memory ----------------------------------------------------------- */

enum tutti_memory {
	TUTTI_MEMORY_SYSTEM, /* host memory, coherent, fine-grained: signals, rings, arguments */
	TUTTI_MEMORY_CARD,   /* card memory, visible to the host through the aperture */
};

/**
 * tutti_memory_alloc() - zeroed memory with the same address on host and card.
 * @bytes: rounded up to whole pages of its arena; alignment at least 64 bytes,
 *	4096 from 4096 bytes on
 * Return: 0, -EINVAL (0 bytes), -ENOMEM (system), -ENOSPC (card).
 */
int tutti_memory_alloc(struct tutti_device *device, enum tutti_memory pool, size_t bytes, void **address);
/** tutti_memory_free() - NULL is fine. -EINVAL if it is not the start of an allocation. */
int tutti_memory_free(struct tutti_device *device, void *address);
/** tutti_memory_lock() - let the card use host memory that is already there, at the same address. */
int tutti_memory_lock(struct tutti_device *device, void *address, size_t bytes);
int tutti_memory_unlock(struct tutti_device *device, void *address);
/** tutti_memory_info() - allocation that holds @address. -ENOENT if none. */
int tutti_memory_info(struct tutti_device *device, const void *address, void **start, size_t *bytes,
		      enum tutti_memory *pool);

/* ---- signals ---------------------------------------------------------- */

typedef struct tutti_signal *tutti_signal_t; /* also the handle in packets, as uint64_t */

enum tutti_condition { TUTTI_EQ, TUTTI_NE, TUTTI_LT, TUTTI_GTE };
#define TUTTI_WAIT_FOREVER UINT64_MAX

int tutti_signal_create(struct tutti_device *device, int64_t value, tutti_signal_t *signal);
void tutti_signal_destroy(struct tutti_device *device, tutti_signal_t signal);
/**
 * tutti_signal_wait() - wait until the condition holds.
 * @timeout_ns: relative; 0 = look once, TUTTI_WAIT_FOREVER
 * @seen: value that ended the wait; may be NULL
 * Return: 0, -ETIMEDOUT, -EIO (the device has died).
 */
int tutti_signal_wait(struct tutti_device *device, tutti_signal_t signal, enum tutti_condition condition,
		      int64_t value, uint64_t timeout_ns, int64_t *seen);
/* Value accessors are inline in tutti/queue.h: tutti_signal_load, _store, _add, _exchange, _cas. */

/* ---- code ------------------------------------------------------------- */

struct tutti_executable;

/** struct tutti_kernel - what a dispatch needs to know; filled by tutti_executable_kernel(). */
struct tutti_kernel {
	uint64_t object;         /* kernel_object of packets */
	uint32_t kernarg_bytes;
	uint32_t kernarg_align;
	uint32_t group_bytes;    /* static */
	uint32_t private_bytes;  /* per work-item */
	const struct tutti_kernel_descriptor *descriptor; /* as the card sees it; read-only */
};

/**
 * tutti_executable_load() - load a code object from memory (checked as hostile).
 * @message: if not NULL, says what is wrong with it (static text)
 * Return: 0, -ENOEXEC (not a valid code object), -ENOMEM, -ENOSPC, ...
 */
int tutti_executable_load(struct tutti_device *device, const void *elf, size_t bytes,
			  struct tutti_executable **executable, const char **message);
/** tutti_executable_load_file() - the same from a file. */
int tutti_executable_load_file(struct tutti_device *device, const char *path,
			       struct tutti_executable **executable, const char **message);
/** tutti_executable_destroy() - no packet may name its kernels any more. */
void tutti_executable_destroy(struct tutti_executable *executable);
/** tutti_executable_kernel() - look up "foo" (or "foo.kd", "&foo"). -ENOENT. */
int tutti_executable_kernel(struct tutti_executable *executable, const char *name, struct tutti_kernel *kernel);
/** tutti_executable_variable() - address and size of a global variable. -ENOENT. */
int tutti_executable_variable(struct tutti_executable *executable, const char *name, void **address,
			      size_t *bytes);
/** tutti_executable_iterate() - calls @visit for each kernel until it returns non-zero, which is returned. */
int tutti_executable_iterate(struct tutti_executable *executable,
			     int (*visit)(const char *name, const struct tutti_kernel *kernel, void *context),
			     void *context);

/* ---- queues ----------------------------------------------------------- */

struct tutti_queue; /* public part in tutti/queue.h */

/** struct tutti_queue_options - zero = defaults. */
struct tutti_queue_options {
	uint32_t packets;    /* power of two (rounded up to the card's minimum); 0 = 256 */
	uint32_t flags;      /* TUTTI_QUEUE_* of message.h */
	uint8_t priority;    /* 1 (highest) .. 10; 0 = 5 */
	bool multi;          /* several producers */
	bool rsb_in_memory;  /* RSB in card memory instead of scratch RAM */
	struct tutti_rsb_object *rsb; /* share this RSB; NULL = one of its own (extended queues) */
	uint32_t timeout_ms; /* hang limit; 0 = 10 000, UINT32_MAX = never */
	enum tutti_memory ring; /* where the ring lies */
	/* called once, from tutti_signal_wait() or tutti_queue_poll() of any thread, when the queue stops */
	void (*error)(struct tutti_queue *queue, const struct tutti_fault *fault, void *context);
	void *context;
};

/** tutti_queue_create() - -EINVAL, -ENOSPC (no queue or scratch RAM left), -ENOTSUP. */
int tutti_queue_create(struct tutti_device *device, const struct tutti_queue_options *options,
		       struct tutti_queue **queue);
/** tutti_queue_destroy() - stops what runs; packets not yet started are dropped. */
void tutti_queue_destroy(struct tutti_queue *queue);
/** tutti_queue_error() - 0, or TUTTI_ERROR_* once stopped; @fault (may be NULL) gets the record. */
int tutti_queue_error(struct tutti_queue *queue, struct tutti_fault *fault);
/** tutti_queue_reset() - clear the error; goes on behind the packet that failed. */
int tutti_queue_reset(struct tutti_queue *queue);
/** tutti_queue_poll() - deliver errors; gives the in-process card a chance to run. Returns 0 or -EIO. */
int tutti_queue_poll(struct tutti_queue *queue);
/** tutti_queue_drain() - wait until the card has retired every packet (not: finished it). */
int tutti_queue_drain(struct tutti_queue *queue, uint64_t timeout_ns);
/** tutti_queue_device() - the device it belongs to. */
struct tutti_device *tutti_queue_device(struct tutti_queue *queue);

/* Reference state buffers as objects (spec PKT-10) */
struct tutti_rsb_object;
int tutti_rsb_create(struct tutti_device *device, bool in_memory, struct tutti_rsb_object **rsb);
/** tutti_rsb_destroy() - -EBUSY while a queue uses it. */
int tutti_rsb_destroy(struct tutti_rsb_object *rsb);
/** tutti_rsb_invalidate() - forget entries (bit mask). */
int tutti_rsb_invalidate(struct tutti_rsb_object *rsb, uint32_t entries);
struct tutti_rsb;
/** tutti_rsb_read() - copy of the table as the firmware has it. */
int tutti_rsb_read(struct tutti_rsb_object *rsb, struct tutti_rsb *table);
/** tutti_queue_rsb() - the RSB of an extended queue, else NULL. */
struct tutti_rsb_object *tutti_queue_rsb(struct tutti_queue *queue);

/* ---- dispatch --------------------------------------------------------- */

/** struct tutti_launch - one kernel launch, in work-items; zero sizes along y, z mean 1. */
struct tutti_launch {
	const struct tutti_kernel *kernel;
	uint32_t grid[3];
	uint16_t workgroup[3];
	uint32_t dynamic_group_bytes; /* beyond the kernel's static ones */
	void *kernarg;                /* card-visible, alive until completion; may be NULL */
	tutti_signal_t signal;        /* may be NULL */
	bool barrier;                 /* wait for all earlier packets */
	uint8_t acquire, release;     /* TUTTI_SCOPE_* */
	void *tmd;                    /* struct tutti_tmd *, extended queues, may be NULL */
};

/** tutti_launch_packet() - encode a launch (header included). -EINVAL when no card would take it. */
int tutti_launch_packet(const struct tutti_launch *launch, struct tutti_dispatch_packet *packet);
/** tutti_dispatch() - encode, reserve, publish, ring. Waits while the ring is full. */
int tutti_dispatch(struct tutti_queue *queue, const struct tutti_launch *launch);
/** tutti_copy() - copy by the card, and wait. Any two card-visible addresses. */
int tutti_copy(struct tutti_queue *queue, void *to, const void *from, size_t bytes);

/* ---- recording and replay (spec PKT-22) ------------------------------- */

struct tutti_recording;

/** enum tutti_replay_form - how a recording is sent. */
enum tutti_replay_form {
	TUTTI_REPLAY_CONDENSED, /* as few condensed packets as possible */
	TUTTI_REPLAY_REFERENCE, /* one reference packet per kernel, each time */
	TUTTI_REPLAY_PLAIN,     /* plain packets */
};

/** tutti_record_begin() - from now on tutti_dispatch() on @queue is recorded, not run. Extended queues. */
int tutti_record_begin(struct tutti_queue *queue);
/** tutti_record_end() - -EINVAL when nothing is being recorded. */
int tutti_record_end(struct tutti_queue *queue, struct tutti_recording **recording);
void tutti_recording_destroy(struct tutti_recording *recording);
/** tutti_recording_kernels() - number of launches in it. */
unsigned tutti_recording_kernels(const struct tutti_recording *recording);
/** tutti_recording_form() - choose the form; default condensed. Falls back to plain where it must. */
int tutti_recording_form(struct tutti_recording *recording, enum tutti_replay_form form);
/** tutti_recording_packets() - packets one replay sends now. */
unsigned tutti_recording_packets(struct tutti_recording *recording);
/** tutti_recording_set_kernarg() and friends - change launch @index for the next replays. */
int tutti_recording_set_kernarg(struct tutti_recording *recording, unsigned index, void *kernarg);
int tutti_recording_set_grid(struct tutti_recording *recording, unsigned index, const uint32_t grid[3]);
int tutti_recording_set_signal(struct tutti_recording *recording, unsigned index, tutti_signal_t signal);
/**
 * tutti_replay() - run the recording once more on its queue. The first replay sends
 * the references. Waits while the ring is full. One thread at a time per recording.
 */
int tutti_replay(struct tutti_recording *recording);

#ifdef __cplusplus
}
#endif

#include "tutti/queue.h"

#endif
