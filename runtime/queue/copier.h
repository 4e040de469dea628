/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_QUEUE_COPIER_H
#define TUTTI_QUEUE_COPIER_H

#include "device/device.h"

struct queue;

/** copier_packet() - a copy or a fill that starts when all earlier packets have finished. */
union tutti_packet copier_packet(unsigned type, void *to, uint64_t what, size_t bytes, tutti_signal_t done);
/** copier_withdraw() - make a packet that the card has not taken do nothing. */
void copier_withdraw(struct queue *queue, uint64_t index);
/** copier_signals_ok() - may packets name these signals, of which each may be NULL? */
bool copier_signals_ok(struct tutti_device *device, const tutti_signal_t *after, size_t count, tutti_signal_t done);
/** copier_fini() - free what is left when the queues of the device are gone. */
void copier_fini(struct tutti_device *device);

#endif
