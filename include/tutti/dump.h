/* SPDX-License-Identifier: MIT */
/**
 * DOC: Device core dump
 *
 * What the driver writes (devcoredump) before it resets a card that is not well, and what
 * `tutti dump` reads: a header with a table of sections, then the sections, each of them
 * a structure or a region of the control window as it was. Little endian. Offsets count
 * from the start of the file and are multiples of 8. Readers skip kinds they do not know.
 */
#ifndef TUTTI_DUMP_H
#define TUTTI_DUMP_H

#include "fault.h"

#define TUTTI_DUMP_MAGIC 0x504d554449545554ull /* "TUTIDUMP" */
#define TUTTI_DUMP_VERSION 1u
#define TUTTI_DUMP_SECTIONS 16u

/* struct tutti_dump_section.kind */
#define TUTTI_DUMP_DISCOVERY 1u /* struct tutti_discovery */
#define TUTTI_DUMP_STATUS 2u    /* struct tutti_status */
#define TUTTI_DUMP_CONTROL 3u   /* struct tutti_control */
#define TUTTI_DUMP_CRASH 4u     /* struct tutti_crash */
#define TUTTI_DUMP_COUNTERS 5u  /* uint64_t each, as in counter.h */
#define TUTTI_DUMP_QUEUES 6u    /* struct tutti_dump_queue each */
#define TUTTI_DUMP_HOST_RING 7u /* struct tutti_message each */
#define TUTTI_DUMP_CARD_RING 8u /* likewise */
#define TUTTI_DUMP_LOG 9u       /* struct tutti_log and its text */

/** struct tutti_dump_section - one section of the file. */
struct tutti_dump_section {
	uint32_t kind; /* TUTTI_DUMP_* */
	uint32_t pad0;
	uint64_t offset; /* of its contents */
	uint64_t bytes;  /* size of its contents */
};
TUTTI_SIZE(struct tutti_dump_section, 24);
TUTTI_AT(struct tutti_dump_section, kind, 0);
TUTTI_AT(struct tutti_dump_section, pad0, 4);
TUTTI_AT(struct tutti_dump_section, offset, 8);
TUTTI_AT(struct tutti_dump_section, bytes, 16);

/**
 * struct tutti_dump_header - start of the file.
 * @magic: TUTTI_DUMP_MAGIC
 * @version: TUTTI_DUMP_VERSION
 * @sections: entries of @section in use
 * @bytes: size of the whole file
 * @time: real time, nanoseconds since 1970
 * @generation: number of resets before this one
 * @firmware_version: TUTTI_VERSION of the firmware
 * @contract: TUTTI_VERSION of the driver's contract
 * @section: table of the sections
 */
struct tutti_dump_header {
	uint64_t magic;
	uint32_t version;
	uint32_t sections;
	uint64_t bytes;
	uint64_t time;
	uint64_t generation;
	uint32_t firmware_version;
	uint32_t contract;
	struct tutti_dump_section section[TUTTI_DUMP_SECTIONS];
};
TUTTI_SIZE(struct tutti_dump_header, 432);
TUTTI_AT(struct tutti_dump_header, magic, 0);
TUTTI_AT(struct tutti_dump_header, version, 8);
TUTTI_AT(struct tutti_dump_header, sections, 12);
TUTTI_AT(struct tutti_dump_header, bytes, 16);
TUTTI_AT(struct tutti_dump_header, time, 24);
TUTTI_AT(struct tutti_dump_header, generation, 32);
TUTTI_AT(struct tutti_dump_header, firmware_version, 40);
TUTTI_AT(struct tutti_dump_header, contract, 44);
TUTTI_AT(struct tutti_dump_header, section, 48);

/**
 * struct tutti_dump_queue - a queue that the card knew, as the driver saw it.
 * @queue: id
 * @context: address space id of its owner
 * @ring: address of the ring
 * @ring_bytes: size of the ring
 * @progress: packets retired
 * @errors: how often it has stopped
 * @stopped: TUTTI_ERROR_* it has stopped with, 0 = it was running
 * @present: 1; 0 = there was no queue in this place
 * @fault: of its last error
 */
struct tutti_dump_queue {
	uint32_t queue;
	uint32_t context;
	uint64_t ring;
	uint64_t ring_bytes;
	uint64_t progress;
	uint64_t errors;
	uint32_t stopped;
	uint32_t present;
	struct tutti_fault fault;
};
TUTTI_SIZE(struct tutti_dump_queue, 96);
TUTTI_AT(struct tutti_dump_queue, queue, 0);
TUTTI_AT(struct tutti_dump_queue, context, 4);
TUTTI_AT(struct tutti_dump_queue, ring, 8);
TUTTI_AT(struct tutti_dump_queue, ring_bytes, 16);
TUTTI_AT(struct tutti_dump_queue, progress, 24);
TUTTI_AT(struct tutti_dump_queue, errors, 32);
TUTTI_AT(struct tutti_dump_queue, stopped, 40);
TUTTI_AT(struct tutti_dump_queue, present, 44);
TUTTI_AT(struct tutti_dump_queue, fault, 48);

#endif
