/* SPDX-License-Identifier: MIT */
/**
 * DOC: Recording launches and replaying them
 *
 * Launches that come again and again are recorded once and then replayed, as a CUDA graph
 * is. The card keeps up to eight kernels of a recording as references; a launch is then sent as
 * its difference from one of them, up to 31 launches in one packet of 64 bytes. Between
 * replays arguments, grids and signals can be changed, and only what has changed is sent.
 *
 *	tutti_record_begin(queue);
 *	tutti_dispatch(queue, &first);
 *	tutti_dispatch(queue, &second);
 *	tutti_record_end(queue, &recording);
 *	for (i = 0; i < 1000; i++)
 *		tutti_replay(recording);
 *
 * Replaying needs an extended queue (TUTTI_QUEUE_EXTENDED). A recording is used by one thread at a
 * time. On a deterministic device a replay that waits for room may call handlers; they cannot
 * replay, change or destroy the same recording (-EBUSY). tutti.h includes this header. (spec PKT-22)
 */
#ifndef TUTTI_RECORD_API_H
#define TUTTI_RECORD_API_H

#include "../tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_recording;

/**
 * enum tutti_replay_form - how a recording is sent.
 * @TUTTI_REPLAY_CONDENSED: in as few condensed packets as possible
 * @TUTTI_REPLAY_REFERENCE: one packet a launch, each of them stored as a reference again
 * @TUTTI_REPLAY_PLAIN: one plain AQL packet a launch
 */
enum tutti_replay_form {
	TUTTI_REPLAY_CONDENSED,
	TUTTI_REPLAY_REFERENCE,
	TUTTI_REPLAY_PLAIN,
};

/**
 * tutti_record_begin() - from now on tutti_dispatch() on @queue records launches and does not run them.
 *
 * Return: 0; -ENOTSUP: not an extended queue; -EBUSY: a recording is being made already; -ENOMEM.
 */
int tutti_record_begin(struct tutti_queue *queue);

/** tutti_record_end() - end a recording. Return: 0; -EINVAL: none is being made; -ENOMEM: and it is lost. */
int tutti_record_end(struct tutti_queue *queue, struct tutti_recording **recording);

/**
 * tutti_recording_destroy() - destroy a recording; replays that were sent still run. NULL is fine.
 *
 * Return: 0, -EINVAL, -EBUSY.
 */
int tutti_recording_destroy(struct tutti_recording *recording);

/** tutti_recording_kernels() - number of launches in it. */
unsigned tutti_recording_kernels(const struct tutti_recording *recording);

/**
 * tutti_recording_form() - choose how it is sent; TUTTI_REPLAY_CONDENSED unless this was called.
 *
 * Launches that a form cannot express are sent as plain packets.
 *
 * Return: 0; -EINVAL: no such form.
 */
int tutti_recording_form(struct tutti_recording *recording, enum tutti_replay_form form);

/** tutti_recording_packets() - packets that one replay sends now. */
unsigned tutti_recording_packets(struct tutti_recording *recording);

/** tutti_recording_set_kernarg() - change the arguments of launch @index for later replays. Return: 0, -EINVAL. */
int tutti_recording_set_kernarg(struct tutti_recording *recording, unsigned index, void *kernarg);
/**
 * tutti_recording_set_grid() - change the grid (work-items) of launch @index for later replays.
 * Return: 0; -EINVAL: there is no such launch, or the grid is empty or not made of whole CGAs of its kernel.
 */
int tutti_recording_set_grid(struct tutti_recording *recording, unsigned index, const uint32_t grid[3]);
/**
 * tutti_recording_set_signal() - change the signal of launch @index for later replays; NULL: none.
 * Return: 0; -EINVAL: there is no such launch, or @signal is not a signal of the queue's device; -ENOMEM.
 */
int tutti_recording_set_signal(struct tutti_recording *recording, unsigned index, tutti_signal_t signal);

/**
 * tutti_replay() - run a recording once more, on the queue it was made on.
 *
 * Like tutti_dispatch() it returns when the packets are in the ring. The first replay, and one after others have used
 * the references, sends the references too.
 *
 * Return: 0; -EINVAL: its queue has been destroyed; -EIO: the queue has stopped or the device has died.
 */
int tutti_replay(struct tutti_recording *recording);

/**
 * struct tutti_rsb_object - a reference state buffer, in which the card keeps kernels it has decoded.
 *
 * It holds TUTTI_REFERENCES entries, to which condensed packets refer. Every extended queue uses one;
 * recordings look after it, so that few programs need the functions below. (spec PKT-09, PKT-10)
 */
struct tutti_rsb_object;

/**
 * tutti_rsb_create() - make a reference state buffer.
 * @device: device
 * @in_memory: in card memory; else in the soft core's local memory, which has room for few
 * @rsb: gets it
 *
 * Return: 0; -ENOSPC: none is left; -EINVAL; -ENOMEM.
 */
int tutti_rsb_create(struct tutti_device *device, bool in_memory, struct tutti_rsb_object **rsb);

/** tutti_rsb_destroy() - destroy it. NULL is fine. Return: 0; -EBUSY: a queue uses it. */
int tutti_rsb_destroy(struct tutti_rsb_object *rsb);

/** tutti_rsb_invalidate() - forget the entries of a bit mask. Return: 0; -EINVAL: there are no such entries. */
int tutti_rsb_invalidate(struct tutti_rsb_object *rsb, uint32_t entries);

struct tutti_rsb;

/** tutti_rsb_read() - copy the table as the firmware has it (reference.h). Return: 0; -ENOSPC: no card memory. */
int tutti_rsb_read(struct tutti_rsb_object *rsb, struct tutti_rsb *table);

/**
 * tutti_queue_rsb() - the reference state buffer of an extended queue; NULL for other queues.
 *
 * Other queues may use it, too. One that was made with a queue goes with the last queue that uses it.
 */
struct tutti_rsb_object *tutti_queue_rsb(struct tutti_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
