/* SPDX-License-Identifier: MIT */
/**
 * DOC: libtutti, the user-space runtime
 *
 * Everything starts with a device (a card, or the emulated one), from which
 * memory, executables (loaded code objects) with their kernels, signals and queues
 * are made. A kernel runs when a packet that names it is put into a queue; the
 * packet's signal tells when it has finished. Launches that come again and again
 * can be recorded once and replayed in fewer packets.
 *
 *	struct tutti_device *device;
 *	struct tutti_executable *executable;
 *	struct tutti_kernel kernel;
 *	struct tutti_queue *queue;
 *	tutti_signal_t done;
 *
 *	tutti_device_open(NULL, &device);
 *	tutti_executable_load_file(device, "scale.tco", &executable, NULL);
 *	tutti_executable_kernel(executable, "scale", &kernel);
 *	tutti_queue_create(device, NULL, &queue);
 *	tutti_signal_create(device, 1, &done);
 *	... allocate and fill what the kernel reads, with its arguments in args ...
 *	struct tutti_launch launch = {
 *		.kernel = &kernel, .grid = {1 << 20}, .workgroup = {256}, .kernarg = args, .signal = done,
 *		.acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM,
 *	};
 *	tutti_dispatch(queue, &launch);
 *	tutti_signal_wait(device, done, TUTTI_LT, 1, TUTTI_WAIT_FOREVER, NULL);
 *
 * Rules for all functions, unless their comment says otherwise:
 * - They return 0 or a negative errno value, and do not set errno.
 * - They may be called from any thread at any time.
 * - Handles are checked: a function that is given NULL, or an object that has been destroyed or whose device has been
 *   closed, returns -EINVAL, NULL or 0, whatever it returns otherwise, and does nothing. That holds until 64 more
 *   objects of the kind have been made and destroyed, after which the same handle may name a new one. Destroying
 *   something twice is such a mistake; destroying NULL is fine.
 * - Destroying an object ends the waits of other threads for it, with -EIO. Only functions that submit packets
 *   (tutti_dispatch(), tutti_replay(), those of tutti/queue.h) must not be running with a queue that is destroyed.
 * - After fork() the child process has no devices but those that it opens: handles of the parent are stale there.
 * - A function that needs the firmware's answer may return -EIO when the device has died and
 *   -ETIMEDOUT when the firmware does not answer; this is not repeated below.
 * - Output parameters are written only in case of success.
 * - Structures that applications fill grow at their end from version to version, and carry their size in the field
 *   `bytes`: a program that uses fields which came after version 0.1 sets it to the sizeof; 0 is right for all others.
 *   A function that is given a field it does not know, by a program that was built for a later version, returns
 *   -E2BIG. Structures that the library fills have room for later fields. (spec SYS-55)
 * - Sizes are in bytes, grids and workgroups in work-items.
 *
 * This header includes tutti/code_api.h for code, tutti/signal_api.h for signals, tutti/copy_api.h for copies,
 * tutti/queue.h with the submit path as inline functions, and tutti/record_api.h for recordings. Terms are explained in
 * the glossary of include/README.md. (spec SYS-40, SYS-41)
 */
#ifndef TUTTI_H
#define TUTTI_H

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>

#include "tutti/code_api.h"
#include "tutti/code_object.h"
#include "tutti/counter.h"
#include "tutti/discovery.h"
#include "tutti/fault.h"
#include "tutti/packet.h"
#include "tutti/signal_api.h"
#include "tutti/tensor_api.h"
#include "tutti/tmd.h"

#ifdef __cplusplus
extern "C" {
#endif

/** tutti_version() - version of the library, to be read with TUTTI_VERSION_MAJOR() and TUTTI_VERSION_MINOR(). */
uint32_t tutti_version(void);

/**
 * tutti_strerror() - text for an error.
 * @error: negative result of a function, or a TUTTI_ERROR_* code of a queue as it is (positive)
 *
 * Return: a static text, or that of strerror() for errors that have their usual meaning; never NULL.
 */
const char *tutti_strerror(int error);

/**
 * tutti_message_handler() - set where the library's messages go: those that explain an error or say which card is used.
 * @handler: is called with each message, one line without a newline, in the thread that caused it. NULL: messages go to
 *	stderr, each after "tutti: "
 *
 * There is one handler for the whole process. When this returns, another thread may still be in the previous one.
 */
void tutti_message_handler(void (*handler)(const char *line));

/* ---- devices ---------------------------------------------------------- */

struct tutti_device;

/**
 * struct tutti_device_options - how to open a device; what is zero gets its default.
 * @name: "emulator", "drm" (the first card), "drm:/dev/accel/accel0" or "xrt". NULL: the environment
 *	variable TUTTI_DEVICE, else a card if there is one, else the emulator, which is then
 *	said once on stderr.
 * @firmware: path of a firmware image. NULL: TUTTI_FIRMWARE, else the image of the build tree or the
 *	installed one. Not used by "drm", where the driver boots the card.
 * @topology: emulator: path of a topology file. NULL: TUTTI_TOPOLOGY, else 8 GPCs of 18 SMs.
 * @deterministic: emulator: one thread and a clock of its own, so that the same calls give the same
 *	counters and times. Also TUTTI_DETERMINISTIC=1.
 * @count: emulator: count the instructions of the soft core by function. Also TUTTI_COUNT=1.
 * @workers: emulator: threads that run kernels beside the calling one; 0 = one less than there are cores
 * @seed: emulator: seed of what is random in the card, such as how much energy each SM needs. Also TUTTI_SEED.
 * @bytes: sizeof the structure in the application, so that a later library reads no more; 0 = as in version 0.1
 */
struct tutti_device_options {
	const char *name;
	const char *firmware;
	const char *topology;
	bool deterministic;
	bool count;
	unsigned workers;
	uint64_t seed;
	uint32_t bytes;
};

/**
 * tutti_device_open() - open a card, and boot it if it is not running.
 * @options: NULL = all defaults
 * @device: gets the device
 *
 * Return: 0; -ENODEV: no such card, or an unknown name; -ENOENT: no firmware image; -EPROTO: card,
 * firmware and library speak different versions of the contract (both are said on stderr);
 * -EINVAL: a bad image or topology file; -ETIMEDOUT: the firmware did not start; -ENOMEM; or what
 * the operating system says.
 */
int tutti_device_open(const struct tutti_device_options *options, struct tutti_device **device);

/**
 * tutti_device_close() - close a device.
 *
 * Queues that are left are destroyed. Memory, signals and code are gone with the device; what else was made from it can
 * only be destroyed afterwards. Other threads that wait get -EIO. NULL is fine.
 *
 * Handlers of signals and error callbacks may close the device, too. When it returns none of them is running, unless it
 * is the one that has called it.
 *
 * Return: 0; -EINVAL: it is no open device; -EBUSY: called from the function of tutti_device_print_handler().
 */
int tutti_device_close(struct tutti_device *device);

/**
 * tutti_device_error_handler() - have a function called when the device dies.
 * @device: device
 * @handler: called once by the device's event thread (tutti_signal_handler()), with -EIO; soon, if the device has died
 *	already. NULL: none
 * @context: given to @handler
 *
 * When it returns an earlier handler is not running any more, unless it is the one that has called this.
 *
 * Return: 0; -EINVAL; -ENOMEM; -EAGAIN: no thread.
 */
int tutti_device_error_handler(struct tutti_device *device,
			       void (*handler)(struct tutti_device *device, int error, void *context), void *context);

/** tutti_device_discovery() - what the card is: topology, limits, features. Valid until the device is closed. */
const struct tutti_discovery *tutti_device_discovery(const struct tutti_device *device);

/** tutti_device_transport() - how the card is reached: "emulator", "drm" or "xrt". */
const char *tutti_device_transport(const struct tutti_device *device);

/**
 * tutti_device_pci_address() - where the card sits on the bus.
 * @device: device
 * @address: gets text such as "0000:03:00.0", NUL-terminated
 * @bytes: size of @address
 *
 * Return: 0; -ENOTSUP: the card is on no bus of this machine; -ENOSPC: @address is too small.
 */
int tutti_device_pci_address(struct tutti_device *device, char *address, size_t bytes);

/** tutti_device_firmware_version() - TUTTI_VERSION of the running firmware. */
uint32_t tutti_device_firmware_version(const struct tutti_device *device);

/**
 * tutti_device_time() - time of the card's timer, in ticks of tutti_discovery.timer_hz.
 *
 * An estimate: the firmware's last heartbeat and the time that has passed on the host since. It never goes
 * backwards. Exact times of kernels are those in signals (TUTTI_QUEUE_PROFILE).
 */
uint64_t tutti_device_time(struct tutti_device *device);

/**
 * tutti_device_counters() - all counters of the card, brought up to date first.
 * @device: device
 * @counters: gets TUTTI_COUNTERS numbers, by enum tutti_counter, counted since boot
 *
 * Return: 0, or -EACCES when the driver does not show them to this user. @counters is
 * written in any case.
 */
int tutti_device_counters(struct tutti_device *device, uint64_t counters[TUTTI_COUNTERS]);

/** tutti_counter_name() - lower-case name of a counter, for instance "packets_condensed"; NULL if there is none. */
const char *tutti_counter_name(enum tutti_counter counter);

/**
 * tutti_device_log() - newest part of the firmware's log.
 * @device: device
 * @text: gets the text, NUL-terminated
 * @bytes: size of @text
 *
 * Return: length of the text without the NUL.
 */
size_t tutti_device_log(struct tutti_device *device, char *text, size_t bytes);

/**
 * tutti_device_policy() - set a scheduling policy of the card, for all its users.
 * @device: device
 * @policy: enum tutti_policy (message.h, which says what values mean)
 * @value: new value
 *
 * Return: 0; -EINVAL: no such policy or value; -EACCES: the driver lets the administrator do that
 * only; -ENOTSUP: the card lacks the counters the policy needs; -EBUSY: TUTTI_POLICY_SM_ORDER and TUTTI_POLICY_SPLIT
 * change only while no workgroup is on the card. tutti_policy_get() reads it back.
 */
int tutti_device_policy(struct tutti_device *device, unsigned policy, uint32_t value);

/**
 * tutti_device_enable_sms() - let SMs take part in launches or not, for all users of the card.
 * @device: device
 * @first: number of the first SM
 * @count: how many of them
 * @enable: false: they get no new workgroups; those that run go on
 *
 * Return: 0; -EINVAL: no such SMs; -EACCES: as tutti_device_policy(). (spec CGA-04)
 */
int tutti_device_enable_sms(struct tutti_device *device, unsigned first, unsigned count, bool enable);

/** tutti_device_flush_print() - hand out at once what kernels have printed so far. Return: 0, -EINVAL. */
int tutti_device_flush_print(struct tutti_device *device);

/**
 * tutti_device_print_handler() - where the printf() of kernels goes.
 * @device: device
 * @handler: gets text, @bytes long and not NUL-terminated, in whichever thread waits for the device at
 *	that time, with no lock held; what it cannot wait for is said at tutti_signal_handler(). NULL: text goes
 *	to stdout.
 * @context: given to @handler
 * Return: 0, -EINVAL.
 */
int tutti_device_print_handler(struct tutti_device *device,
			       void (*handler)(void *context, const char *text, size_t bytes), void *context);

/* ---- memory ----------------------------------------------------------- */

/**
 * enum tutti_memory - where memory lies. It has the same address on host and card in any case.
 * @TUTTI_MEMORY_SYSTEM: host memory; coherent with the card: for signals, arguments and what both change
 * @TUTTI_MEMORY_CARD: card memory, which the host sees through the PCIe aperture: writing to it is
 *	fast, reading from it is slow
 */
enum tutti_memory {
	TUTTI_MEMORY_SYSTEM,
	TUTTI_MEMORY_CARD,
};

/**
 * tutti_memory_alloc() - allocate memory that host and card can use.
 * @device: device
 * @pool: where it shall lie
 * @bytes: how much; rounded up to at least 64 bytes
 * @address: gets the address, a multiple of 64, and of 4096 from 4096 bytes on
 *
 * The memory is zeroed.
 *
 * Return: 0; -EINVAL: 0 bytes or no such pool; -ENOMEM: no host memory; -ENOSPC: no card memory.
 */
int tutti_memory_alloc(struct tutti_device *device, enum tutti_memory pool, size_t bytes, void **address);

/**
 * tutti_memory_free() - free memory of tutti_memory_alloc().
 *
 * No packet that is still to run may use it. NULL is fine.
 *
 * Return: 0; -EINVAL: @address is not the start of an allocation.
 */
int tutti_memory_free(struct tutti_device *device, void *address);

/**
 * tutti_memory_lock() - let the card use memory of the program that is already there, at the same address.
 * @device: device
 * @address: start, of any alignment; whole pages around it become visible to the card
 * @bytes: size
 *
 * The pages must be readable and writable. Ranges may overlap; each lock needs its own unlock.
 * Compare cudaHostRegister(), hsa_amd_memory_lock().
 *
 * Return: 0; -EEXIST: it is memory of tutti_memory_alloc() and needs no lock, whatever @bytes is; -EINVAL: an empty
 * range or one beyond the addresses of the card; -EFAULT: it is not readable and writable; -ENOMEM; or what the
 * operating system says.
 */
int tutti_memory_lock(struct tutti_device *device, void *address, size_t bytes);

/**
 * tutti_memory_unlock() - end what tutti_memory_lock() with the same @address began.
 *
 * When it returns the card does not access the pages any more, unless another lock covers them.
 *
 * Return: 0; -EINVAL: nothing is locked that starts there.
 */
int tutti_memory_unlock(struct tutti_device *device, void *address);

/**
 * tutti_memory_info() - the allocation or locked range that holds an address.
 * @device: device
 * @address: any address in it
 * @start: gets its first address; may be NULL, as the following
 * @bytes: gets its size
 * @pool: gets where it lies
 *
 * Return: 0; -ENOENT: there is none.
 */
int tutti_memory_info(struct tutti_device *device, const void *address, void **start, size_t *bytes,
		      enum tutti_memory *pool);

/**
 * struct tutti_pool - one kind of memory of a device.
 * @bytes: size of the pool. For system memory, the most that can be allocated if the machine has that much
 * @used: how much is allocated, each allocation rounded up to what it takes. The rest may lie in several pieces
 * @granule: the least that an allocation takes
 * @alignment: alignment of allocations larger than half of it; smaller ones begin at multiples of @granule
 * @reserved: 0; room for later versions
 */
struct tutti_pool {
	uint64_t bytes, used;
	uint32_t granule, alignment;
	uint64_t reserved[5];
};

/**
 * tutti_memory_pool() - how much memory there is, and how much of it is allocated.
 * @device: device
 * @pool: the pool to describe
 * @info: receives the description
 *
 * Card memory also holds code objects, rings and whatever other programs have allocated. Its @bytes are the most that this
 * process can have. Return: 0; -EINVAL.
 */
int tutti_memory_pool(struct tutti_device *device, enum tutti_memory pool, struct tutti_pool *info);

/* ---- queues ----------------------------------------------------------- */

struct tutti_queue;	 /* its public part is in tutti/queue.h */
struct tutti_rsb_object; /* tutti/record_api.h */

/**
 * struct tutti_queue_options - how to make a queue; what is zero gets its default.
 * @packets: size of the ring, a power of two, rounded up to the card's minimum; 0 = 256
 * @flags: TUTTI_QUEUE_* of message.h. TUTTI_QUEUE_EXTENDED is needed for recordings and for tasks.
 * @priority: 1 (highest) to 10 (lowest); 0 = 5
 * @multi: several threads submit packets at the same time
 * @rsb_in_memory: extended queues: keep references in card memory instead of the soft core's local memory,
 *	which holds few of them
 * @rsb: extended queues: use this reference state buffer, which other queues may use as well; NULL = one of its own
 * @timeout_ms: a kernel of which no workgroup completes for so many milliseconds is stopped with
 *	TUTTI_ERROR_TIMEOUT; 0 = 10 000, UINT32_MAX = never
 * @ring: where the ring lies. In card memory (with TUTTI_FEATURE_CARD_RINGS) the card reads packets faster
 *	and the host writes them slower.
 * @error: called once when the queue stops, by the device's event thread (tutti_signal_handler()). It may destroy the
 *	queue, and close the device.
 * @context: given to @error
 * @bytes: sizeof the structure in the application, so that a later library reads no more; 0 = as in version 0.1
 */
struct tutti_queue_options {
	uint32_t packets;
	uint32_t flags;
	uint8_t priority;
	bool multi;
	bool rsb_in_memory;
	struct tutti_rsb_object *rsb;
	uint32_t timeout_ms;
	enum tutti_memory ring;
	void (*error)(struct tutti_queue *queue, const struct tutti_fault *fault, void *context);
	void *context;
	uint32_t bytes;
};

/**
 * tutti_queue_create() - make a queue.
 * @device: device
 * @options: NULL = all defaults
 * @queue: gets the queue
 *
 * Return: 0; -EINVAL: bad options; -ENOTSUP: the card cannot do what @options asks for; -ENOSPC: no
 * queue is left, or no room for its references; -ENOMEM.
 */
int tutti_queue_create(struct tutti_device *device, const struct tutti_queue_options *options,
		       struct tutti_queue **queue);

/**
 * tutti_queue_destroy() - destroy a queue.
 *
 * Kernels that run are stopped, and packets that have not started are dropped; use tutti_queue_drain() or
 * signals to wait for them first. When it returns the card does not touch anything of the queue
 * any more. Waits for signals that packets of the queue should have changed end with -EIO. NULL is fine.
 *
 * Return: 0, -EINVAL.
 */
int tutti_queue_destroy(struct tutti_queue *queue);

/**
 * tutti_queue_inactivate() - let the card forget a queue, but keep its memory until it is destroyed.
 *
 * What tutti_queue_destroy() says of packets, kernels and waits happens now. Packets that are written later are ignored:
 * waits for their signals end with -EIO. To other functions the queue is stopped with TUTTI_ERROR_CANCELLED, and
 * tutti_queue_reset() does not start it again. Its error callback is not called. Doing it twice is fine.
 *
 * Return: 0, -EINVAL.
 */
int tutti_queue_inactivate(struct tutti_queue *queue);

/**
 * tutti_queue_error() - why a queue has stopped.
 * @queue: queue
 * @fault: gets what is known about it; may be NULL
 *
 * Return: 0: it has not; TUTTI_ERROR_*, a positive number; -EINVAL: it is no queue.
 */
int tutti_queue_error(struct tutti_queue *queue, struct tutti_fault *fault);

/**
 * tutti_fault_text() - what a fault record of a queue means, in one line.
 * @queue: queue that has stopped
 * @fault: its record, of tutti_queue_error() or of the error callback
 * @text: gets the text, NUL-terminated, as much of it as there is room for
 * @bytes: size of @text; 0 = only measure
 *
 * It names the kernel, the cause, the address that was accessed and how, the allocation it belongs to or lies
 * behind, and the function, file and line, as far as they are known.
 *
 * Return: length of the whole text without the NUL; -EINVAL.
 */
int tutti_fault_text(struct tutti_queue *queue, const struct tutti_fault *fault, char *text, size_t bytes);

/** tutti_queue_reset() - clear the error of a stopped queue, which goes on behind the packet that failed. */
int tutti_queue_reset(struct tutti_queue *queue);

/**
 * tutti_queue_poll() - take what the card has sent, and print text of kernels.
 *
 * When it returns the error callbacks for what has been taken have been called, unless it is called by one of them or
 * by a handler. Return: 0; -EIO: the device has died, or one of them destroys the queue or closes the device; -EINVAL.
 */
int tutti_queue_poll(struct tutti_queue *queue);

/**
 * tutti_queue_drain() - wait until the card has taken every packet reserved so far, so that their slots are free.
 * @queue: queue
 * @timeout_ns: as for tutti_signal_wait()
 *
 * Kernels may still be running afterwards: signals tell when they have finished.
 *
 * Return: 0; -ETIMEDOUT; -EIO: the queue has stopped, or the device has died; -EBUSY: called by a handler
 * while its thread waits for room in @queue (tutti_signal_handler()).
 */
int tutti_queue_drain(struct tutti_queue *queue, uint64_t timeout_ns);

/** tutti_queue_device() - the device it was made from. */
struct tutti_device *tutti_queue_device(struct tutti_queue *queue);

/* ---- dispatch --------------------------------------------------------- */

/**
 * struct tutti_launch - one launch of a kernel.
 * @kernel: kernel
 * @grid: work-items along x, y, z; 0 along y and z means 1
 * @workgroup: work-items of a workgroup along x, y, z; 0 along y and z means 1. The grid need not be a multiple.
 * @dynamic_group_bytes: shared memory of a workgroup beyond what the kernel declares
 * @kernarg: arguments, in memory the card can see, unchanged until completion; may be NULL
 * @signal: decremented by 1 when the kernel has finished; may be NULL
 * @barrier: do not start before all earlier packets of the queue have finished
 * @acquire: TUTTI_SCOPE_*: what the kernel sees of others' writes, HSA's acquire fence scope
 * @release: TUTTI_SCOPE_*: who sees the kernel's writes after @signal, HSA's release fence scope
 * @bytes: sizeof the structure in the application, so that a later library reads no more; 0 = as in version 0.1
 * @tmd: tutti_task_tmd() of a task whose attributes the launch gets, on extended queues; may be NULL
 */
struct tutti_launch {
	const struct tutti_kernel *kernel;
	uint32_t grid[3];
	uint16_t workgroup[3];
	uint32_t dynamic_group_bytes;
	void *kernarg;
	tutti_signal_t signal;
	bool barrier;
	uint8_t acquire, release;
	uint32_t bytes;
	void *tmd;
};

/**
 * tutti_launch_packet() - encode a launch as an AQL packet, header included.
 *
 * Return: 0; -EINVAL: no card would take it; tutti_launch_check() tells what this card would not take.
 */
int tutti_launch_packet(const struct tutti_launch *launch, struct tutti_dispatch_packet *packet);

/**
 * tutti_launch_check() - would this card refuse a launch, and why?
 * @device: device
 * @launch: launch
 *
 * The sizes of workgroup, memory and CGA are compared with what the card has; tutti_dispatch() does so too.
 *
 * Return: 0: nothing speaks against it; TUTTI_ERROR_*, a positive number; -EINVAL: as tutti_launch_packet().
 */
int tutti_launch_check(struct tutti_device *device, const struct tutti_launch *launch);

/**
 * tutti_dispatch() - launch a kernel: encode, reserve, publish, ring.
 *
 * It returns when the packet is in the ring, and waits while the ring is full. While a recording is being
 * made on the queue the launch is recorded instead.
 *
 * Return: 0; -EINVAL: the launch cannot run (tutti_launch_check() says why), or its kernel or signal is gone;
 * -EIO: the queue has stopped or the device has died; -ENOMEM: while recording.
 */
int tutti_dispatch(struct tutti_queue *queue, const struct tutti_launch *launch);

#ifdef __cplusplus
}
#endif

#include "tutti/copy_api.h"
#include "tutti/queue.h"
#include "tutti/record_api.h"

#endif
