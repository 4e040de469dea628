/* SPDX-License-Identifier: MIT */
/**
 * DOC: Counters in the control window
 *
 * Counters are numbers of 64 bits that count from boot on. The firmware brings its own
 * up to date when it has nothing to do and when TUTTI_MSG_COUNTERS asks for it, the
 * hardware its own whenever the card goes to sleep or raises an interrupt for a message,
 * and when the firmware asks for it (TUTTI_SM_UPDATE), as it does for TUTTI_MSG_COUNTERS
 * before it answers. Each of them sets its own to 0 at boot.
 */
#ifndef TUTTI_COUNTER_H
#define TUTTI_COUNTER_H

#include "types.h"

/** TUTTI_COUNTER_LIST() - all counters as X(NAME, "text"), in the order of their index. */
#define TUTTI_COUNTER_LIST(X)                                          \
	/* firmware */                                                 \
	X(PACKETS, "packets processed")                                \
	X(PACKETS_DISPATCH, "kernel dispatch packets")                 \
	X(PACKETS_REFERENCE, "reference packets")                      \
	X(PACKETS_CONDENSED, "condensed packets")                      \
	X(PACKETS_BARRIER, "barrier packets")                          \
	X(PACKETS_AGENT, "agent dispatch packets")                     \
	X(KERNELS, "kernels launched")                                 \
	X(CTAS_ISSUED, "workgroups issued")                            \
	X(CTAS_COMPLETED, "workgroups completed")                      \
	X(ACQUIRES, "acquire fences")                                  \
	X(RELEASES, "release fences")                                  \
	X(SIGNALS, "completion signals sent")                          \
	X(FETCHES, "fetch commands")                                   \
	X(QUEUE_ERRORS, "queues stopped by an error")                  \
	X(KERNEL_CACHE_MISSES, "kernel descriptors fetched")           \
	X(REPEATED, "condensed packets equal to the one before")       \
	X(PLACEMENTS, "placement decisions")                           \
	X(EVENTS, "events taken")                                      \
	X(TMD_EVICTIONS, "tasks evicted")                              \
	X(QUOTA_TURNS, "quota turns")                                  \
	X(COALESCE_TIMEOUTS, "coalescing timeouts")                    \
	X(STATE_SYNCS, "task states sent")                             \
	X(THROTTLE_SWITCHES, "throttle mode switches")                 \
	X(CGAS, "CGAs launched")                                       \
	X(TMAU_REQUESTS, "tensor requests")                            \
	X(TMAU_DESCRIPTOR_HITS, "tensor descriptor cache hits")        \
	X(TMAU_DESCRIPTOR_MISSES, "tensor descriptor cache misses")    \
	X(TMAU_INTERIOR, "interior tiles")                             \
	X(TMAU_EDGE, "edge tiles")                                     \
	X(TMAU_MOVERS, "mover descriptors written")                    \
	/* hardware */                                                 \
	X(CORE_INSTRUCTIONS, "soft-core instructions (if counted)")    \
	X(CORE_WAKES, "times the soft core woke up")                   \
	X(DOORBELLS, "doorbells taken")                                \
	X(BUS_READS, "bus reads by the card")                          \
	X(BUS_READ_BYTES, "bytes read by the card from the host")      \
	X(BUS_WRITES, "bus writes by the card")                        \
	X(BUS_WRITE_BYTES, "bytes written by the card to the host")    \
	X(INTERRUPTS, "interrupts raised")                             \
	X(WAVES, "waves run")                                          \
	X(WAVE_SWITCHES, "wave switches")                              \
	X(BARRIERS, "workgroup barriers completed")                    \
	X(FAULTS, "wave faults")                                       \
	X(MOVER_BYTES, "bytes moved by movers")                        \
	X(MOVER_LINES, "128-byte lines touched by movers")             \
	X(MOVER_SECTORS, "32-byte sectors touched by movers")          \
	X(MOVER_DESCRIPTORS, "mover descriptors executed")             \
	X(TMAU_STALLS, "tensor requests that had to wait for room")

#define TUTTI_COUNTER_ENUM(name, text) TUTTI_COUNTER_##name,
enum tutti_counter { TUTTI_COUNTER_LIST(TUTTI_COUNTER_ENUM) TUTTI_COUNTERS };
#undef TUTTI_COUNTER_ENUM

#endif
