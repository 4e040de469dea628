/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Points where a test can make a race certain: whoever comes by waits for as many milliseconds as debugfs says. They
 * are compiled in by TUTTI_TEST=1 only. /sys/kernel/debug/tutti_delay/NAME holds the milliseconds, NAME_reached says
 * how often somebody has begun to wait there. Writers of the file `race` increment a word without a lock, as often as
 * they say.
 */
#ifndef TUTTI_KERNEL_DELAY_H
#define TUTTI_KERNEL_DELAY_H

#define TUTTI_DELAY_LIST(X) \
	X(event)          /* a message of the firmware has been taken off its ring, but not looked at */ \
	X(object_destroy) /* an object is about to be destroyed; its lock is held */ \
	X(off_card)       /* the card has let go of an object, which cannot be found any more; it is about to be freed */ \
	X(queue_destroy)  /* the firmware is about to be asked to destroy a queue; the queue's lock is held */ \
	X(queue_arm)      /* a waiter is about to look whether it has to ask for an interrupt */ \
	X(fences)         /* the progress of queues that have fences is about to be read */ \
	X(progress)       /* a waiter has looked at progress, but not whether the queue is still on the card */ \
	X(unplug_unpin)   /* the device is being removed: a buffer's DMA addresses are gone, its pages pinned yet */ \
	X(allocate)       /* the pages of a buffer in system memory are about to be allocated */ \
	X(mmap)           /* memory is about to be mapped, with the mmap_lock of the process held */ \
	X(export)         /* a file descriptor of a buffer is about to be made */ \
	X(import_free)    /* an imported buffer is being freed, and about to be detached */ \
	X(import_detached) /* the same, after it has been detached */ \
	X(card_zero)      /* a part of card memory is about to be zeroed, during which no reset begins */ \
	X(card_zero_piece) /* the same, a piece of that part */ \
	X(boot)           /* the card has been asked to boot, and nobody has looked for its answer */ \
	X(restarted)      /* the firmware has been loaded again, and nothing has been asked of it */ \
	X(function_reset) /* the function is about to be reset, for the first time or again */ \
	X(bus_frozen)     /* an error of the bus has closed the card; its reset comes next */ \
	X(watchdog)       /* the watchdog is about to look at the card */ \
	X(sleep)          /* nobody has the card open: it is about to be switched off */ \
	X(sleep_claim)    /* the same, after all that was seen to be going on has come to its end */

enum tutti_delay_point {
#define TUTTI_DELAY_POINT(name) TUTTI_DELAY_##name,
	TUTTI_DELAY_LIST(TUTTI_DELAY_POINT)
#undef TUTTI_DELAY_POINT
	TUTTI_DELAYS
};

#ifdef TUTTI_TEST
void tutti_delay_init(void);
void tutti_delay_fini(void);
void tutti_delay(enum tutti_delay_point point);
void tutti_delay_busy(enum tutti_delay_point point);
#else
static inline void tutti_delay_init(void)
{
}

static inline void tutti_delay_fini(void)
{
}

static inline void tutti_delay(enum tutti_delay_point point)
{
}

static inline void tutti_delay_busy(enum tutti_delay_point point)
{
}
#endif

#endif
