// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Waiting in the kernel, until an absolute time (spec SYS-26). */
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "base/delay.h"
#include "card/card.h"
#include "card/gate.h"
#include "card/power.h"
#include "memory/bo.h"
#include "objects/handle.h"
#include "objects/queue.h"
#include "sync/wait.h"

/* An interrupt may be lost: how long a waiter sleeps at most. */
#define SLICE_NS (100 * NSEC_PER_MSEC)

/* How often a waiter tries again to ask for an interrupt, while another thread has the queue locked. */
#define BUSY_SLICE_NS NSEC_PER_MSEC

/* How often a split signal is read again because the card is changing it. */
#define SIGNAL_LOOKS 1000

/** struct waiter - one wait. */
struct waiter {
	struct tutti_file *file;
	struct drm_tutti_wait *args;
	struct tutti_queue *queue;
	struct tutti_bo *bo;
	/** @value: what is waited for; args->value is what was seen */
	s64 value;
	int (*look)(struct waiter *waiter);
	/** @arm: ask for the interrupt, before each sleep, and say how long to sleep at most; or NULL */
	u64 (*arm)(struct waiter *waiter);
};

/* Each look: 1 = it is so, 0 = not yet, negative = will never be. */

static int tutti_wait_look_interrupt(struct waiter *waiter)
{
	struct tutti_file *file = waiter->file;

	waiter->args->value = atomic64_read(&file->tdev->vector_count[file->vector]) +
			      atomic64_read(&file->events);
	return waiter->args->value != waiter->value;
}

static int tutti_wait_look_progress(struct waiter *waiter)
{
	struct tutti_queue *queue = waiter->queue;
	u64 progress;
	int index;

	if (!drm_dev_enter(&waiter->file->tdev->drm, &index)) /* the word goes with the device */
		return -ENODEV;
	progress = tutti_queue_progress(queue);
	drm_dev_exit(index);
	tutti_delay(TUTTI_DELAY_progress);
	smp_rmb(); /* if it is on the card now it was then, so the word was its own and not a later queue's */
	if (!tutti_object_is_on_card(&queue->base))
		return -ECANCELED;
	waiter->args->value = progress;
	if (progress >= (u64)waiter->value)
		return 1;
	return READ_ONCE(queue->stopped) ? -ECANCELED : 0;
}

static bool tutti_wait_signal_holds(const struct drm_tutti_wait *args, s64 wanted)
{
	switch (args->condition) {
	case DRM_TUTTI_EQ:
		return args->value == wanted;
	case DRM_TUTTI_NE:
		return args->value != wanted;
	case DRM_TUTTI_LT:
		return args->value < wanted;
	default:
		return args->value >= wanted;
	}
}

/* A program could change both words of a split signal for ever; then it gets a value that was not there. */
static s64 tutti_wait_signal_value(const struct tutti_signal *signal)
{
	unsigned int looks = 0;
	s64 value;

	/* the flags are read plainly: they are the program's, whatever it does with them */
	while (!data_race(tutti_signal_look(signal, &value)) && ++looks < SIGNAL_LOOKS)
		cpu_relax();
	return value;
}

static struct tutti_signal *tutti_wait_signal_map(struct waiter *waiter)
{
	u64 offset = waiter->args->offset;

	return kmap_local_page(tutti_bo_page(waiter->bo, offset)) + offset_in_page(offset);
}

/* Lost memory, or a card that has gone, may by chance read as the value that is waited for. */
static int tutti_wait_look_card(struct waiter *waiter)
{
	struct tutti_device *tdev = waiter->file->tdev;
	void __iomem *at = tdev->aperture + waiter->bo->node.start + waiter->args->offset;
	int holds, index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return -ENODEV;
	waiter->args->value = readq(at + offsetof(struct tutti_signal, value));
	rmb(); /* read the value first, then check whether the memory it came from is still valid */
	holds = tutti_wait_signal_holds(waiter->args, waiter->value);
	if (tutti_bo_pin(waiter->bo) || (holds && !tutti_card_is_there(tdev)))
		holds = -EIO;
	drm_dev_exit(index);
	return holds;
}

static int tutti_wait_look_signal(struct waiter *waiter)
{
	struct tutti_signal *signal;

	if (waiter->bo->placement == DRM_TUTTI_PLACE_CARD)
		return tutti_wait_look_card(waiter);
	signal = tutti_wait_signal_map(waiter);
	waiter->args->value = tutti_wait_signal_value(signal);
	kunmap_local(signal);
	return tutti_wait_signal_holds(waiter->args, waiter->value);
}

/* So that the card raises an interrupt. The word is the user's: wrong, it harms its owner only. */
static void tutti_wait_signal_waiters(struct waiter *waiter, int add)
{
	struct tutti_signal *signal;

	if (!waiter->bo || waiter->bo->placement == DRM_TUTTI_PLACE_CARD)
		return;
	signal = tutti_wait_signal_map(waiter);
	atomic_add(add, (atomic_t *)&signal->waiters);
	kunmap_local(signal);
	smp_mb(); /* the card reads @waiters after it has changed the value */
}

/* This reads the progress word, which goes with the device. */
static u64 tutti_wait_arm_progress(struct waiter *waiter)
{
	int error, index;

	if (!drm_dev_enter(&waiter->file->tdev->drm, &index))
		return SLICE_NS;
	error = tutti_queue_try_arm(waiter->queue, waiter->value);
	drm_dev_exit(index);
	return error == -EBUSY ? BUSY_SLICE_NS : SLICE_NS;
}

static int tutti_wait_loop(struct waiter *waiter)
{
	struct tutti_device *tdev = waiter->file->tdev;
	u64 deadline = min_t(u64, waiter->args->deadline, KTIME_MAX);
	int result = waiter->look(waiter);
	DEFINE_WAIT(wait);

	if (result)
		return min(result, 0);
	for (;;) {
		u64 slice = SLICE_NS;
		ktime_t now, end;

		if (waiter->arm && (u64)ktime_get() < deadline)
			slice = waiter->arm(waiter);
		prepare_to_wait(&tdev->wait, &wait, TASK_INTERRUPTIBLE);
		result = waiter->look(waiter);
		if (!result)
			result = tutti_gate_check(waiter->file);
		if (result)
			break;
		result = -ETIME;
		now = ktime_get();
		if ((u64)now >= deadline)
			break;
		result = -ERESTARTSYS;
		if (signal_pending(current))
			break;
		end = min_t(u64, deadline, now + slice);
		schedule_hrtimeout(&end, HRTIMER_MODE_ABS);
	}
	finish_wait(&tdev->wait, &wait);
	return min(result, 0);
}

static int tutti_wait_interrupt(struct waiter *waiter)
{
	if (waiter->args->handle || waiter->args->offset || waiter->args->condition)
		return -EINVAL;
	waiter->look = tutti_wait_look_interrupt;
	return tutti_wait_loop(waiter);
}

static int tutti_wait_progress(struct waiter *waiter)
{
	struct tutti_object *object;
	int error;

	if (waiter->args->offset || waiter->args->condition)
		return -EINVAL;
	object = tutti_handle_get(waiter->file, TUTTI_QUEUE, waiter->args->handle);
	if (!object)
		return -ENOENT;
	waiter->queue = to_queue(object);
	waiter->look = tutti_wait_look_progress;
	waiter->arm = tutti_wait_arm_progress;
	error = tutti_wait_loop(waiter);
	tutti_object_put(object);
	return error;
}

/* Pages stay during the wait, whatever happens to handle, mapping and device. */
static int tutti_wait_signal_pinned(struct waiter *waiter)
{
	bool system = waiter->bo->placement == DRM_TUTTI_PLACE_SYSTEM;
	int error = system ? drm_gem_shmem_pin(&waiter->bo->shmem) : 0;

	if (error)
		return error;
	error = tutti_wait_look_signal(waiter);
	if (!error) {
		tutti_wait_signal_waiters(waiter, 1);
		error = tutti_wait_loop(waiter);
		tutti_wait_signal_waiters(waiter, -1);
	}
	if (system)
		drm_gem_shmem_unpin(&waiter->bo->shmem);
	return min(error, 0);
}

static bool tutti_wait_signal_place_ok(const struct drm_tutti_wait *args)
{
	return args->condition <= DRM_TUTTI_GE && !(args->offset & (sizeof(struct tutti_signal) - 1));
}

/* Not others' memory: its pages may go while we look. */
static bool tutti_wait_signal_in(const struct tutti_bo *bo, const struct drm_tutti_wait *args)
{
	return !bo->imported && bo->placement != DRM_TUTTI_PLACE_USER &&
	       args->offset < bo->shmem.base.size;
}

static int tutti_wait_signal(struct waiter *waiter, struct drm_file *df)
{
	int error = -EINVAL;

	if (!tutti_wait_signal_place_ok(waiter->args))
		return -EINVAL;
	waiter->look = tutti_wait_look_signal;
	waiter->bo = tutti_bo_lookup(df, waiter->args->handle);
	if (!waiter->bo)
		return -ENOENT;
	if (tutti_wait_signal_in(waiter->bo, waiter->args))
		error = tutti_wait_signal_pinned(waiter);
	tutti_bo_put(waiter->bo);
	return error;
}

/* Field by field, once: a copy as a whole is checked as one of any size is. */
static bool tutti_wait_read(struct drm_tutti_wait *args, const struct drm_tutti_wait __user *user)
{
	if (!user_read_access_begin(user, sizeof(*user)))
		return false;
	unsafe_get_user(args->kind, &user->kind, fault);
	unsafe_get_user(args->handle, &user->handle, fault);
	unsafe_get_user(args->offset, &user->offset, fault);
	unsafe_get_user(args->condition, &user->condition, fault);
	unsafe_get_user(args->pad, &user->pad, fault);
	unsafe_get_user(args->value, &user->value, fault);
	unsafe_get_user(args->events, &user->events, fault);
	user_read_access_end();
	return true;
fault:
	user_read_access_end();
	return false;
}

/*
 * No pinning, no reference, no barrier: the handle keeps the buffer while the table is locked; the pages of a buffer
 * that the card knows stay until it is freed or the device goes, which waits for RCU, and so for who has a spinlock.
 */
static bool tutti_wait_signal_is_there(struct waiter *waiter, struct drm_file *df)
{
	struct drm_gem_object *obj;
	bool there = false;

	spin_lock(&df->table_lock);
	obj = idr_find(&df->object_idr, waiter->args->handle);
	if (obj && !tutti_gate_is_unplugged(obj->dev)) {
		waiter->bo = to_tutti_bo(obj);
		if (waiter->bo->placement == DRM_TUTTI_PLACE_SYSTEM && tutti_wait_signal_in(waiter->bo, waiter->args) &&
		    smp_load_acquire(&waiter->bo->sgt)) /* pairs with tutti_bo_map_dma() */
			there = tutti_wait_look_signal(waiter);
	}
	spin_unlock(&df->table_lock);
	return there;
}

/**
 * tutti_wait_at_once() - a wait for a signal that is satisfied already, which is what programs ask most often.
 * @df: who asks
 * @user: the call's arguments, not checked
 *
 * It goes past DRM's table of calls, which costs more than the look.
 *
 * Return: false if it is not so, or if anything is wrong: tutti_wait_ioctl() says what.
 */
bool tutti_wait_at_once(struct drm_file *df, struct drm_tutti_wait __user *user)
{
	struct drm_tutti_wait args;
	struct waiter waiter = { .file = df->driver_priv, .args = &args };
	u64 events;

	if (!tutti_wait_read(&args, user) || args.kind != DRM_TUTTI_WAIT_SIGNAL || args.pad || args.events ||
	    !tutti_wait_signal_place_ok(&args) || tutti_gate_check(waiter.file))
		return false;
	waiter.value = args.value;
	if (!tutti_wait_signal_is_there(&waiter, df) || put_user(args.value, &user->value))
		return false;
	events = atomic64_read(&waiter.file->events);
	return !events || !put_user(events, &user->events);
}

int tutti_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_wait *args = data;
	struct waiter waiter = {
		.file = df->driver_priv, .args = args, .value = args->value,
	};
	int error;

	if (args->pad || args->events)
		return -EINVAL;
	error = tutti_gate_check(waiter.file);
	if (error)
		return error;
	switch (args->kind) {
	case DRM_TUTTI_WAIT_SIGNAL:
		error = tutti_wait_signal(&waiter, df);
		break;
	case DRM_TUTTI_WAIT_PROGRESS:
		error = tutti_wait_progress(&waiter);
		break;
	case DRM_TUTTI_WAIT_INTERRUPT:
		error = tutti_wait_interrupt(&waiter);
		break;
	default:
		return -EINVAL;
	}
	/* a restart of the call compares with the same value */
	if (error == -ERESTARTSYS || error == -EINTR)
		args->value = waiter.value;
	else
		args->events = atomic64_read(&waiter.file->events);
	return error;
}
