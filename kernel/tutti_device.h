/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/**
 * DOC: Inside of tutti.ko
 *
 * drv (ioctl table) - device (life of all units) - pci (glue) - pm - fw (image, boot) - channel
 * (messages) - mmu (page tables) - object (handles, references) - context - bo - view (pages
 * user space maps: doorbells) - queue - rsb - wait - event - fence - recovery - dump -
 * debugfs - sysfs.
 *
 * Who keeps what alive. A queue, RSB or context (an object) has a reference for its handle and
 * one for the card, which is dropped when the firmware has acknowledged its destruction, or
 * when the card has been reset or is gone: until then the card may touch its memory. A queue
 * and an RSB hold their context, a context holds the buffers mapped in it.
 *
 * Locks, outermost first: reset_sem (read by every call that changes the card's state) >
 * context's lock > queue's lock > RSB's lock > objects_lock (spin). view_sem stands alone
 * below mmap_lock. No lock but these is held while the firmware is asked, and each of
 * those waits ends by its timeout or at once when a reset begins.
 */
#ifndef TUTTI_DEVICE_H
#define TUTTI_DEVICE_H

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
#include "tutti/tutti_drm.h"

#define TUTTI_MAX_VECTORS 32u

struct tutti_context;
struct tutti_queue;

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

/** struct tutti_channel - messages to and from the firmware. */
struct tutti_channel {
	/** @lock: all below, and both rings */
	spinlock_t lock;
	/** @open: messages may be sent */
	bool open;
	/** @tail: of the host ring, @head: of the card ring; free running */
	u32 tail, head;
	/** @host_slots, @card_slots: sizes of the rings in messages */
	u32 host_slots, card_slots;
	/** @next_id: of the next request; 0 marks events */
	u32 next_id;
	/** @pending: requests that wait for their reply */
	struct list_head pending;
	/** @room: senders that found the host ring full */
	wait_queue_head_t room;
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
	/** @firmware: the image, kept for resume and resets */
	const struct firmware *firmware;
	/** @firmware_version, @boot_sequence: of the firmware that runs */
	u32 firmware_version, boot_sequence;

	/** @state: enum tutti_state */
	atomic_t state;
	/** @generation: goes up by every reset; files keep that of their open */
	atomic64_t generation;
	/** @memory_generation: goes up when card memory is lost; card buffers keep it */
	atomic64_t memory_generation;
	/** @reset_sem: read by calls that change the card's state, written by a reset */
	struct rw_semaphore reset_sem;
	/** @reset_work: all rungs above the context; @rung: where it begins */
	struct work_struct reset_work;
	enum tutti_rung rung;
	/** @resetter: whose reset of the PCI function is our own rung */
	struct task_struct *resetter;
	/** @context_work: kills doomed contexts */
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

	/** @memory_lock: @memory, @bos, @exports */
	struct mutex memory_lock;
	/** @memory: card memory in [reserved_bytes, end) */
	struct drm_mm memory;
	/** @scratch: a page of card memory for what the firmware copies out */
	struct drm_mm_node scratch;
	/** @scratch_lock: who uses @scratch */
	struct mutex scratch_lock;
	/** @bos: all system buffers that may have DMA mappings */
	struct list_head bos;
	/** @exports: card buffers that are a dma-buf too */
	struct list_head exports;

	/** @view_sem: a view or buffer is not revoked while a fault handler reads it */
	struct rw_semaphore view_sem;

	/** @wait: sleepers of all kinds; woken by every interrupt */
	wait_queue_head_t wait;

	/** @progress: kernel-owned words, one per queue, written by the card */
	u64 *progress;
	dma_addr_t progress_bus;

	/** @fence_lock: list of all fences and their state */
	spinlock_t fence_lock;
	struct list_head fences;
	struct delayed_work fence_work;
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
	/** @handles: by enum tutti_kind */
	struct xarray handles[TUTTI_KINDS];
	/** @events: errors of its queues */
	atomic64_t events;
};

/** tutti_file_check() - the file belongs to the card as it is now. 0, -EIO or -ENODEV. */
static inline int tutti_file_check(struct tutti_file *file)
{
	struct tutti_device *tdev = file->tdev;

	/* drm_dev_is_unplugged() without its barriers: the answer is true for a moment only, either way */
	if (READ_ONCE(tdev->drm.unplugged))
		return -ENODEV;
	if (file->generation != (u64)atomic64_read(&tdev->generation) ||
	    atomic_read(&tdev->state) == TUTTI_DEVICE_WEDGED)
		return -EIO;
	return 0;
}

static inline u32 tutti_status_read(struct tutti_device *tdev, size_t field)
{
	return readl(tdev->window + tdev->known.status.offset + field);
}

#define tutti_status(tdev, field) tutti_status_read(tdev, offsetof(struct tutti_status, field))
#define tutti_control_at(tdev, field) \
	((tdev)->window + (tdev)->known.control.offset + offsetof(struct tutti_control, field))

/* device: tutti_enter() and tutti_exit() bracket every call that touches the card. */
int tutti_device_init(struct tutti_device *tdev);
int tutti_device_start(struct tutti_device *tdev);
void tutti_device_unplug(struct tutti_device *tdev);
void tutti_device_stop(struct tutti_device *tdev);
void tutti_device_pre_reset(struct tutti_device *tdev);
int tutti_device_post_reset(struct tutti_device *tdev);
void tutti_device_fini(struct tutti_device *tdev);
int tutti_enter(struct tutti_file *file, int *index);
void tutti_exit(struct tutti_file *file, int index);
void tutti_kick(struct tutti_device *tdev);
void tutti_kick_if_asleep(struct tutti_device *tdev);

/* fw: tutti_fw_stop() resets the card and leaves it without firmware. */
int tutti_fw_read(struct tutti_device *tdev);
void tutti_fw_stop(struct tutti_device *tdev);
int tutti_fw_boot(struct tutti_device *tdev);
void tutti_fw_fini(struct tutti_device *tdev);
bool tutti_fw_range_holds(struct tutti_device *tdev, const char *who, u32 min, u32 max);

/* channel: senders return 0, -errno of the firmware's reply, -ETIMEDOUT or -EIO (reset). */
void tutti_channel_init(struct tutti_device *tdev);
void tutti_channel_pre_reset(struct tutti_device *tdev);
void tutti_channel_post_reset(struct tutti_device *tdev);
void tutti_channel_poll(struct tutti_device *tdev);
int tutti_msg_ping(struct tutti_device *tdev, u64 value);
int tutti_msg_context_create(struct tutti_device *tdev, u32 asid, u64 root, u64 print_ring);
int tutti_msg_context_destroy(struct tutti_device *tdev, u32 asid);
int tutti_msg_tlb_invalidate(struct tutti_device *tdev, u32 asid, u64 address, u64 bytes);
int tutti_msg_code_invalidate(struct tutti_device *tdev, u32 asid, u64 address, u64 bytes);
int tutti_msg_queue_create(struct tutti_device *tdev, const struct tutti_msg_queue *queue);
int tutti_msg_queue_destroy(struct tutti_device *tdev, u32 queue);
int tutti_msg_queue_reset(struct tutti_device *tdev, u32 queue);
int tutti_msg_queue_gone(struct tutti_device *tdev, u32 queue);
int tutti_msg_queue_notify(struct tutti_device *tdev, u32 queue, u64 packet);
int tutti_msg_rsb_create(struct tutti_device *tdev, const struct tutti_msg_rsb *rsb);
int tutti_msg_rsb_destroy(struct tutti_device *tdev, u32 rsb);
int tutti_msg_rsb_invalidate(struct tutti_device *tdev, u32 rsb, u32 mask);
int tutti_msg_rsb_read(struct tutti_device *tdev, u32 rsb, u64 offset);
int tutti_msg_sm_enable(struct tutti_device *tdev, u64 first, u64 sms, u64 enable);
int tutti_msg_policy(struct tutti_device *tdev, u64 policy, u64 value);
int tutti_msg_policy_ask(struct tutti_device *tdev, u64 policy, u64 which, u64 *value);
int tutti_msg_task_cancel(struct tutti_device *tdev, u32 queue, u64 packet);
int tutti_msg_counters(struct tutti_device *tdev);
int tutti_msg_load(struct tutti_device *tdev, struct tutti_message *reply);
int tutti_msg_occupancy(struct tutti_device *tdev, struct tutti_message *message);
int tutti_msg_suspend(struct tutti_device *tdev);
int tutti_msg_resume(struct tutti_device *tdev);

/* recovery */
void tutti_recovery_init(struct tutti_device *tdev);
void tutti_recovery_start(struct tutti_device *tdev);
void tutti_recovery_pause(struct tutti_device *tdev);
void tutti_recovery_stop(struct tutti_device *tdev);
void tutti_recovery_trigger(struct tutti_device *tdev, enum tutti_rung rung, const char *why);
int tutti_recovery_by_hand(struct tutti_device *tdev, enum tutti_rung rung);
void tutti_recovery_context(struct tutti_context *context, const char *why);
void tutti_recovery_unanswered(struct tutti_device *tdev, u32 type, u64 arg);
void tutti_recovery_reset_prepare(struct tutti_device *tdev);
void tutti_recovery_reset_done(struct tutti_device *tdev);

/* dump, pm, pci */
void tutti_dump(struct tutti_device *tdev);
int tutti_pci_reset(struct tutti_device *tdev);
int tutti_pm_wait(struct tutti_device *tdev);
bool tutti_pm_is_awake(struct tutti_device *tdev);
int tutti_pm_get(struct tutti_device *tdev);
void tutti_pm_put(struct tutti_device *tdev);
void tutti_pm_start(struct tutti_device *tdev);
void tutti_pm_stop(struct tutti_device *tdev);
extern const struct dev_pm_ops tutti_pm_ops;

/* fence */
void tutti_fence_init(struct tutti_device *tdev);
void tutti_fence_unplug(struct tutti_device *tdev);
void tutti_fence_cancel(struct tutti_queue *queue, int error);
void tutti_fence_poll(struct tutti_device *tdev);
void tutti_fence_interrupt(struct tutti_device *tdev);
int tutti_ioctl_fence(struct drm_device *drm, void *data, struct drm_file *df);

/* wait, event */
bool tutti_wait_at_once(struct drm_file *df, struct drm_tutti_wait __user *user);
int tutti_ioctl_wait(struct drm_device *drm, void *data, struct drm_file *df);
int tutti_ioctl_event(struct drm_device *drm, void *data, struct drm_file *df);
void tutti_event_vector(struct tutti_device *tdev, u32 vector);
void tutti_event_error(struct tutti_device *tdev, const struct tutti_fault *fault);

/* debugfs, fdinfo, sysfs */
struct drm_printer;
void tutti_show_fdinfo(struct drm_printer *p, struct drm_file *df);
void tutti_show_fdinfo_all(struct seq_file *m, struct file *filp);
void tutti_debugfs_init(struct drm_minor *minor);
extern const struct attribute_group *tutti_sysfs_groups[];

#endif
