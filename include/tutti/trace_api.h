/* SPDX-License-Identifier: MIT */
/**
 * DOC: Reading a card's trace (spec CGA-30, TSK-16, SYS-41)
 *
 * Trace records (trace.h) say where workgroups were placed and when they ran. A program
 * can read them itself with the functions below. Or it runs with the environment
 * variable TUTTI_TRACE=FILE: the library then writes the records of its devices into FILE
 * (of further devices into FILE.1, FILE.2, ...), while the program waits for signals, when
 * it closes the device, and when it exits or is ended by a signal that it does not handle
 * itself. `tutti trace` runs programs that way and draws pictures.
 *
 * Behind the kernel driver one program at a time reads the trace, and needs CAP_PERFMON: -EBUSY, -EACCES.
 */
#ifndef TUTTI_TRACE_API_H
#define TUTTI_TRACE_API_H

#include "../tutti.h"
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** TUTTI_TRACE_BIT() - bit of a kind (enum tutti_trace_kind) in masks of kinds. */
#define TUTTI_TRACE_BIT(kind) (1u << (kind))
#define TUTTI_TRACE_ALL ((1u << TUTTI_TRACE_KINDS) - 1)
/** TUTTI_TRACE_PLACEMENT - the kinds that pictures of placement and of SMs over time need. */
#define TUTTI_TRACE_PLACEMENT (TUTTI_TRACE_BIT(TUTTI_TRACE_STATE) | TUTTI_TRACE_BIT(TUTTI_TRACE_FREE) | \
			       TUTTI_TRACE_BIT(TUTTI_TRACE_PLACE) | TUTTI_TRACE_BIT(TUTTI_TRACE_CTA) | \
			       TUTTI_TRACE_BIT(TUTTI_TRACE_RUN) | TUTTI_TRACE_BIT(TUTTI_TRACE_CTA_DONE) | \
			       TUTTI_TRACE_BIT(TUTTI_TRACE_COMPLETE) | TUTTI_TRACE_BIT(TUTTI_TRACE_FAULT))

/**
 * tutti_trace_start() - record from now on.
 * @device: device
 * @kinds: mask of the kinds to record
 *
 * Records that were there and have not been read are dropped.
 *
 * Return: 0; -EINVAL: no kinds, or unknown ones; -EBUSY: TUTTI_TRACE is being written; -ENOTSUP: the card
 * has no trace.
 */
int tutti_trace_start(struct tutti_device *device, uint32_t kinds);

/** tutti_trace_stop() - record nothing more; what is there can still be read. Return: 0, -EBUSY, -ENOTSUP. */
int tutti_trace_stop(struct tutti_device *device);

/**
 * tutti_trace_read() - take the oldest records. One thread at a time.
 * @device: device
 * @records: gets the records
 * @count: how many at most
 * @lost: gets the number of records dropped since the last call because they were not read in time; may be NULL
 *
 * Return: number of records, -EBUSY, -ENOTSUP.
 */
int tutti_trace_read(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost);

/** tutti_trace_name() - lower-case name of a kind, for instance "cta_done"; NULL if there is none. */
const char *tutti_trace_name(unsigned kind);

#define TUTTI_TRACE_MAGIC 0x4543415254545554ull /* "TUTTRACE" */
#define TUTTI_TRACE_VERSION 2u

/**
 * struct tutti_trace_file - head of a trace file.
 * @magic: TUTTI_TRACE_MAGIC
 * @version: TUTTI_TRACE_VERSION
 * @kinds: mask of the kinds that were recorded
 * @lost: records that were dropped
 * @discovery_bytes: size of the discovery data behind the head
 * @places: entries of the table of SMs behind that; 0 = the card has none
 *
 * Behind the head follow the discovery data (struct tutti_discovery), the SMs' places (struct
 * tutti_sm_place, @places of them), and records (struct tutti_trace, struct tutti_trace_kernel) to the end of the file.
 */
struct tutti_trace_file {
	uint64_t magic;
	uint32_t version;
	uint32_t kinds;
	uint64_t lost;
	uint32_t discovery_bytes;
	uint32_t places;
};

/** TUTTI_TRACE_KERNEL - struct tutti_trace_kernel.kind. The card never writes it. */
#define TUTTI_TRACE_KERNEL 0x100u
#define TUTTI_TRACE_NAME_PART 20u

/**
 * struct tutti_trace_kernel - record of a file: (a part of) the name of a kernel that has been loaded.
 * @entry: address of its first instruction, as in records TUTTI_TRACE_ENTRY
 * @kind: TUTTI_TRACE_KERNEL, at the place where struct tutti_trace has its kind
 * @part: number of the part, from 0 on; parts of a name stand in order
 * @text: up to TUTTI_TRACE_NAME_PART characters of it, zeros behind the last
 */
struct tutti_trace_kernel {
	uint64_t entry;
	uint16_t kind;
	uint16_t part;
	char text[TUTTI_TRACE_NAME_PART];
};

#ifdef __cplusplus
}
#endif

#endif
