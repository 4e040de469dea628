/* SPDX-License-Identifier: MIT */
/**
 * DOC: Reading a card's trace (spec CGA-30, TSK-16, SYS-41)
 *
 * Records (trace.h) say how CTAs were placed and when they ran. A program reads them itself, or runs with
 * TUTTI_TRACE=FILE: then the library writes all that devices of the process record into FILE (FILE.1
 * ... for further devices), while the program waits for signals and at the end. `tutti trace` runs programs that way
 * and draws pictures. Over the driver traces cannot be read yet (-ENOTSUP).
 */
#ifndef TUTTI_TRACE_API_H
#define TUTTI_TRACE_API_H

#include "tutti.h"
#include "tutti/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** TUTTI_TRACE_BIT() - of a kind, in masks of them. */
#define TUTTI_TRACE_BIT(kind) (1u << (kind))
#define TUTTI_TRACE_ALL ((1u << TUTTI_TRACE_KINDS) - 1)
/** TUTTI_TRACE_PLACEMENT - what the pictures need. */
#define TUTTI_TRACE_PLACEMENT (TUTTI_TRACE_BIT(TUTTI_TRACE_STATE) | TUTTI_TRACE_BIT(TUTTI_TRACE_FREE) | \
			       TUTTI_TRACE_BIT(TUTTI_TRACE_PLACE) | TUTTI_TRACE_BIT(TUTTI_TRACE_CTA) | \
			       TUTTI_TRACE_BIT(TUTTI_TRACE_RUN) | TUTTI_TRACE_BIT(TUTTI_TRACE_CTA_DONE) | \
			       TUTTI_TRACE_BIT(TUTTI_TRACE_COMPLETE) | TUTTI_TRACE_BIT(TUTTI_TRACE_FAULT))

/**
 * tutti_trace_start() - record @kinds from now on; what was not read before is dropped.
 * Return: 0, -EINVAL (unknown kinds), -EBUSY (TUTTI_TRACE is being written), -ENOTSUP.
 */
int tutti_trace_start(struct tutti_device *device, uint32_t kinds);
/** tutti_trace_stop() - record nothing more; what is there can still be read. */
int tutti_trace_stop(struct tutti_device *device);
/**
 * tutti_trace_read() - the oldest records, at most @count. One thread at a time.
 * @lost: not NULL: records dropped since the last call, because nobody read in time
 * Return: how many, or -ENOTSUP.
 */
int tutti_trace_read(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost);
/** tutti_trace_name() - lower-case name of a kind, as in "cta_done"; NULL if there is none. */
const char *tutti_trace_name(unsigned kind);

#define TUTTI_TRACE_MAGIC 0x4543415254545554ull /* "TUTTRACE" */
#define TUTTI_TRACE_VERSION 1u

/**
 * struct tutti_trace_file - head of a trace file. Behind it stand the discovery data (struct tutti_discovery), the
 * SMs' places (struct tutti_sm_place[sms]), then records to the end of the file.
 */
struct tutti_trace_file {
	uint64_t magic;
	uint32_t version;
	uint32_t kinds;      /* that were recorded */
	uint64_t lost;       /* records dropped */
	uint32_t discovery_bytes;
	uint32_t places;     /* entries of the table of SMs, 0 = the card has none */
};

#ifdef __cplusplus
}
#endif

#endif
