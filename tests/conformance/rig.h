/* SPDX-License-Identifier: MIT */
/* What a subtest starts from: an open card, a context, mapped memory, a queue that works. */
#ifndef CONFORMANCE_RIG_H
#define CONFORMANCE_RIG_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tutti/control.h"
#include "tutti/message.h"
#include "tutti/packet.h"
#include "tutti/reference.h"
#include "tutti/signal.h"
#include "tutti/tutti_drm.h"

#define PAGE 4096ull
#define SECOND 1000000000ull
#define BASE 0x100000000ull /* card address of the rig's buffer */
#define RING_LOG2 4u
#define RIG_BYTES (16 * PAGE)
/* places in the rig's buffer */
#define RING_AT 0u
#define INDEX_AT (1 * PAGE)
#define SIGNAL_AT (2 * PAGE)
#define DATA_AT (4 * PAGE)

/** struct rig - zero what was not made. */
struct rig {
	int fd;
	uint32_t context;
	uint32_t bo;
	uint8_t *memory;
	uint32_t queue;
	uint64_t doorbell_offset;
	volatile uint64_t *doorbell;
	const volatile uint32_t *asleep;
	uint64_t write_index;
};

/* rig.c */
extern const char *device_path;
extern const char *pci_address; /* may be unbound and bound again; NULL = leave it */
int device_open(void);
int call(int fd, unsigned long request, void *args); /* 0 or errno */
uint64_t now_ns(void);
bool rig_open(struct rig *rig);    /* file only */
bool rig_context(struct rig *rig); /* and a context */
bool rig_memory(struct rig *rig);  /* and a mapped buffer */
bool rig_queue(struct rig *rig);   /* and a queue */
void rig_close(struct rig *rig);
int bo_create(int fd, uint64_t size, uint32_t placement, uint32_t *handle, uint64_t *offset);
int bo_map(int fd, uint32_t context, uint32_t bo, uint64_t address, uint64_t bytes);
struct drm_tutti_queue_create queue_args(const struct rig *rig);
struct tutti_signal *rig_signal(struct rig *rig, unsigned number, int64_t value);
void rig_fill(struct rig *rig, uint64_t address, uint32_t pattern, uint32_t bytes, unsigned signal);
void rig_ring(struct rig *rig);
int rig_wait(struct rig *rig, unsigned signal, int64_t value, uint64_t timeout_ns);
bool rig_works(struct rig *rig); /* a packet runs and its data is right */

/* main.c */
bool fail(const char *file, int line, const char *text, long got, long wanted);
#define CHECK(condition) \
	do { \
		if (!(condition)) \
			return fail(__FILE__, __LINE__, #condition, 0, 0); \
	} while (0)
#define EXPECT(wanted, expression) \
	do { \
		long got_ = (expression); \
		if (got_ != (wanted)) \
			return fail(__FILE__, __LINE__, #expression, got_, (wanted)); \
	} while (0)

/** struct subtest - @run returns true when all is as it must be. */
struct subtest {
	const char *name;
	bool (*run)(struct rig *rig);
};
extern const struct subtest arguments_tests[], memory_tests[], queue_tests[], life_tests[];

#endif
