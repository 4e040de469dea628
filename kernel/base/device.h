/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/**
 * DOC: The device: its state, who keeps what alive, what is over, and in which order locks are taken
 *
 * This header holds data and rules that all units share; functions are in the header of their unit. Which unit may use
 * which is in the file `floors`.
 *
 * Who keeps what alive
 *
 * A context, queue or RSB (an *object*) has one reference for its handle and one for the card. The card's is dropped
 * when the firmware has acknowledged the object's destruction, or when the card has been reset or is gone: until then
 * the card may touch its memory. A queue and an RSB hold their context; a context holds the buffers mapped in it.
 *
 * Words for what is over
 *
 * =============  ==========================================================================================
 * unplugged      device: the driver has let go of it (drm_dev_unplug()). Calls give -ENODEV.
 * wedged         device: no rung of the recovery ladder helped; it is stopped. Calls give -EIO.
 * generation     number of device resets. A file keeps that of its open: after a reset its calls give -EIO.
 * memory loss    number of resets that lost card memory (@memory_losses). A buffer in card memory keeps that of its
 *                creation; afterwards it cannot be mapped any more, and existing mappings are revoked.
 * closed         channel: no message passes, and nobody waits for an answer. Each opening begins an epoch: a message
 *                about an object of an earlier one is not sent, since its number may be another's by now.
 * revoked        mapping of a doorbell, RSB, or card memory: it shows a page of plain memory instead.
 * off card       object: the card does not know it, because it was destroyed or lost.
 * lost           object: taken off the card without its owner's asking, by a reset or a kill; the owner is told.
 * condemned      context: it shall be killed. killed: its queues have been lost; nothing new is made in it.
 * stale          range of an address space: its leaves are cleared, but the card has not said that it knows. The
 *                memory behind it stays until the context is off the card.
 * =============  ==========================================================================================
 *
 * Lock order, outermost first
 *
 * =====================  ====================================================================================
 * device lock, pm        of the driver core: unbinding, reset of the function, sleep and wake
 * drm_dev_enter()        SRCU: the device is not unplugged meanwhile
 * @reset_sem             read: calls that change the card's state; written: a reset
 * object lock, context   it stays on the card; its mappings
 * object lock, others    a queue or an RSB stays on the card; never two of these
 * @scratch_lock          who uses @scratch
 * @settings_lock         @settings
 * lock of a buffer       who makes the DMA addresses of a buffer in system memory
 * mmap_lock              of a process: faults, and munmap, which may free a buffer
 * @memory_lock           @memory, @bos, @imports, @users
 * dma_resv, i_mmap       of the GEM helpers and of mappings that are being revoked
 * @view_sem              read: a fault handler looks whether it may map, and may allocate; written: revocation
 * lock of the channel    both rings, requests in flight
 * @objects_lock          which objects the card knows, their errors and eventfds
 * @fence_lock            all fences; the lock of each fence below it
 * =====================  ====================================================================================
 *
 * Below all of these, and with nothing below them: @trace_lock, locks of handle tables, of wait queues and of syncobjs,
 * and drm_file.table_lock, under which sync/wait.c looks into a buffer without pinning it.
 *
 * While the firmware is asked, none but reset_sem, object locks, scratch_lock and settings_lock may be held. Each of
 * those waits ends by its timeout, or at once when the channel is closed. tutti_life_teach_lockdep() says the same to
 * lockdep.
 */
#ifndef TUTTI_KERNEL_DEVICE_H
#define TUTTI_KERNEL_DEVICE_H

#include <linux/io.h>
#include <linux/idr.h>
#include <linux/kref.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_mm.h>
#include <drm/drm_print.h>

#include "tutti/control.h"
#include "tutti/counter.h"
#include "tutti/discovery.h"
#include "tutti/firmware.h"
#include "tutti/message.h"
#include "tutti/mmu.h"
#include "tutti/reference.h"
#include "tutti/signal.h"
#include "tutti/sm_state.h"
#include "tutti/trace.h"
#include "tutti/tutti_drm.h"

#define TUTTI_MAX_VECTORS 32u

struct tutti_device;
struct tutti_account;

/** enum tutti_kind - of objects that have handles. */
enum tutti_kind {
	TUTTI_CONTEXT,
	TUTTI_QUEUE,
	TUTTI_RSB,
	TUTTI_KINDS
};

/** enum tutti_rung - of the recovery ladder, above the queue, which its owner resets (spec SYS-28). */
enum tutti_rung {
	TUTTI_RUNG_CONTEXT,
	TUTTI_RUNG_FIRMWARE,
	TUTTI_RUNG_FUNCTION,
	TUTTI_RUNG_WEDGED,
	TUTTI_RUNGS
};

/** enum tutti_state - of the device. */
enum tutti_state {
	TUTTI_DEVICE_RUNNING,
	TUTTI_DEVICE_RESETTING,
	TUTTI_DEVICE_WEDGED,
};

/** typedef tutti_channel_event - told what the firmware says unasked, in its order; channel.lock is held. */
typedef void (*tutti_channel_event)(struct tutti_device *tdev, const struct tutti_message *message);

/** struct tutti_channel - messages to and from the firmware. */
struct tutti_channel {
	/** @lock: all below, and both rings. What is read without it as a hint is changed by WRITE_ONCE() */
	spinlock_t lock;
	/** @open: messages may be sent */
	bool open;
	/** @tail: of the host ring, @head: of the card ring; free running */
	u32 tail, head;
	/** @host_slots, @card_slots: sizes of the rings in messages */
	u32 host_slots, card_slots;
	/** @next_id: of the next request; 0 marks events */
	u32 next_id;
	/** @epoch: how often it has been opened: numbers of objects are the firmware's of one epoch */
	u32 epoch;
	/** @pending: requests that wait for their reply */
	struct list_head pending;
	/** @room: senders that found the host ring full */
	wait_queue_head_t room;
	/** @event: is told what the firmware says unasked */
	tutti_channel_event event;
};

/** struct tutti_device - one card. */
struct tutti_device {
	/** @drm: base */
	struct drm_device drm;
	struct pci_dev *pdev;
	/** @ivshmem: the emulated card behind QEMU's ivshmem-doorbell */
	bool ivshmem;
	/** @window: control window. All access between drm_dev_enter() and drm_dev_exit() */
	void __iomem *window;
	/** @aperture: card memory the host sees, write-combined */
	void __iomem *aperture;
	/** @registers: ivshmem BAR 0, or NULL */
	void __iomem *registers;
	/** @bar: bus address of the card's BAR, @bar_bytes: its size */
	resource_size_t bar, bar_bytes;
	/** @known: discovery data, read and checked once */
	struct tutti_discovery known;
	/** @vectors: interrupt vectors that are requested */
	u32 vectors;
	/** @vector_count: interrupts by vector */
	atomic64_t vector_count[TUTTI_MAX_VECTORS];
	/** @irq: what the handler of each vector is given */
	struct tutti_irq {
		struct tutti_device *tdev;
		u32 vector;
	} irq[TUTTI_MAX_VECTORS];

	struct tutti_channel channel;
	/** @firmware: a copy of the image, kept for resume and resets; @firmware_bytes: its size */
	void *firmware;
	size_t firmware_bytes;
	/** @firmware_version, @boot_sequence: of the firmware that runs; READ_ONCE() by who only asks */
	u32 firmware_version, boot_sequence;

	/** @state: enum tutti_state */
	atomic_t state;
	/** @generation: goes up by every reset; files keep that of their open */
	atomic64_t generation;
	/** @memory_losses: goes up when card memory is lost; buffers in card memory keep that of their creation */
	atomic64_t memory_losses;
	/** @reset_sem: read by calls that change the card's state, written by a reset */
	struct rw_semaphore reset_sem;
	/** @reset_work: all rungs above the context; @rung: where it begins */
	struct work_struct reset_work;
	enum tutti_rung rung;
	/** @resetter: whose reset of the PCI function is our own rung */
	struct task_struct *resetter;
	/** @lock_waits: the holder of the device's lock waits for @reset_work, which must not wait for that lock then */
	bool lock_waits;
	/** @handed_over: @reset_work has left the reset of the function, and the card that it had claimed, to that holder */
	bool handed_over;
	/** @bus_frozen: the bus has an error, for whose end calls wait; set with the device's lock and @reset_sem */
	bool bus_frozen;
	/**
	 * @bus_work: gives the card up if the error lasts. Holders of the device's lock cancel it before they read
	 * @bus_frozen
	 */
	struct delayed_work bus_work;
	/** @context_work: kills condemned contexts */
	struct work_struct context_work;
	/** @watchdog: looks at the heartbeat */
	struct delayed_work watchdog;
	/** @beat: last heartbeat seen, @beat_seen: when, in jiffies */
	u64 beat;
	unsigned long beat_seen;
	/** @resets: since probe; @rungs: how often each did it */
	u32 resets, rungs[TUTTI_RUNGS];
	/** @reloads: of the firmware in short time, the last one at @reload_at (jiffies) */
	u32 reloads;
	unsigned long reload_at;

	/** @objects_lock: the lists and the card's references */
	spinlock_t objects_lock;
	/** @objects: those the card knows, by enum tutti_kind */
	struct list_head objects[TUTTI_KINDS];
	struct ida ids[TUTTI_KINDS], file_ids;

	/** @memory_lock: @memory, @bos, @imports, @users */
	struct mutex memory_lock;
	/** @memory: card memory in [reserved_bytes, end) */
	struct drm_mm memory;
	/** @scratch: a page of card memory for what the firmware copies out */
	struct drm_mm_node scratch;
	/** @scratch_lock: who uses @scratch */
	struct mutex scratch_lock;
	/** @settings_lock: @settings, and that the firmware has been told of them */
	struct mutex settings_lock;
	/** @settings: what the administrator has set, see firmware/settings.c */
	struct xarray settings;
	/** @trace_lock: @tracer, @trace_lost */
	struct mutex trace_lock;
	/** @tracer: the file that reads the card's trace, or NULL; @trace_lost: what it has been told of lost records */
	struct tutti_file *tracer;
	u32 trace_lost;
	/** @bos: all system buffers that may have DMA mappings */
	struct list_head bos;
	/** @imports: buffers that are attached to another driver's dma-buf */
	struct list_head imports;
	/** @users: who has opened the card, with the card memory they have */
	struct list_head users;

	/** @view_sem: a view or buffer is not revoked while a fault handler reads it */
	struct rw_semaphore view_sem;

	/** @wait: sleepers of all kinds; woken by every interrupt */
	wait_queue_head_t wait;

	/** @progress: kernel-owned words, one per queue, written by the card */
	u64 *progress;
	dma_addr_t progress_bus;

	/** @fence_lock: @timelines, @fences, and all that is in them */
	spinlock_t fence_lock;
	/** @timelines: those that have fences; @fences: all, the oldest first */
	struct list_head timelines, fences;
	/** @fence_work: signals fences whose interrupt was lost or that are too old; alone on @fence_queue */
	struct delayed_work fence_work;
	struct workqueue_struct *fence_queue;
	/** @arm_work: asks the firmware for interrupts, without which fences are late; not while the system sleeps */
	struct work_struct arm_work;
	/** @work_queue: all other work; may wait for the firmware */
	struct workqueue_struct *work_queue;
};

#define to_tutti(d) container_of(d, struct tutti_device, drm)

/** struct tutti_file - an open of the device. */
struct tutti_file {
	struct tutti_device *tdev;
	/** @generation: of the device when it was opened */
	u64 generation;
	/** @vector: interrupt vector of its queues */
	u32 vector;
	int id;
	/** @handles: by enum tutti_kind, @handle_count: how many of each */
	struct xarray handles[TUTTI_KINDS];
	atomic_t handle_count[TUTTI_KINDS];
	/** @account: its card memory */
	struct tutti_account *account;
	/** @events: errors of its queues */
	atomic64_t events;
};

#endif
