/* SPDX-License-Identifier: MIT */
/**
 * DOC: The card without libtutti
 *
 * A second, minimal host side for tests: it drives struct tutti_card by the
 * contract alone (control window, kernel channel, Sv48 tables, rings, doorbells).
 * What it proves does not depend on the library; and it can do what the library
 * never would: wrong messages, two address spaces on one card, a client in
 * another process. Functions end the test (cmocka assertion) when they fail.
 */
#ifndef TUTTI_TEST_RAW_H
#define TUTTI_TEST_RAW_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "emulator/card/card.h"
#include "tutti/barrier.h"

/* Kernels of kernels/raw.S */
enum raw_kernel {
	RAW_EMPTY, RAW_STORE, RAW_ADD, RAW_STEP, RAW_GATE, RAW_TRAP, RAW_SPIN, RAW_LOAD, RAW_COUNT,
	RAW_EXCHANGE, RAW_SPAWN, RAW_APPEND, RAW_KERNELS
};
#define RAW_KERNEL_BYTES 256u
#define RAW_PATIENCE 60000u /* ms; long, because a busy host may take seconds for anything */

struct raw_space;

struct raw {
	struct tutti_card *card;
	uint8_t *bar;            /* shared over fork() */
	size_t bar_bytes;
	const struct tutti_discovery *discovery;
	struct tutti_control *control;
	struct tutti_status *status;
	uint8_t *arena;          /* host memory the card may reach, shared over fork() */
	size_t arena_bytes, arena_used;
	uint64_t card_used;      /* offset up to which card memory is allocated */
	uint32_t next_id;
	uint8_t *code;           /* kernels, in the arena */
	struct tutti_message inbox[256]; /* replies and events that no test has read yet */
	unsigned in;
	bool fast;
	unsigned interrupts;     /* interrupts so far */
	void (*kick)(void *context); /* used instead of tutti_card_kick() for a client in another process */
	void *kick_context;
	uint8_t *crumb;          /* rest of a page for raw_small() */
	size_t crumb_bytes;
	const struct raw_space *crumb_space;
};

struct raw_space {
	struct raw *raw;
	uint32_t asid;
	uint64_t *root;
};

struct raw_queue {
	struct raw_space *space;
	unsigned id;
	union tutti_packet *ring;
	uint64_t mask, write;
	uint64_t *read_index;
	uint64_t *doorbell;
};

/** raw_create() - card from @config (bar and mode honoured) with the firmware booted; raw_create_off() without. */
struct raw *raw_create(const struct tutti_card_config *config);
struct raw *raw_create_off(const struct tutti_card_config *config);
void raw_destroy(struct raw *raw);
/** raw_boot() - load an image file (NULL: the shipped firmware) and boot; returns the status state reached. */
unsigned raw_boot(struct raw *raw, const char *path);
/** raw_boot_image() - boot from bytes. */
unsigned raw_boot_image(struct raw *raw, const void *image, size_t bytes);
void *raw_read_file(const char *path, size_t *bytes);

/** raw_pump() - let the card run until @done or @ms have passed. Returns what @done says at the end. */
bool raw_pump(struct raw *raw, bool (*done)(void *), void *context, unsigned ms);
/** raw_run() - let the card run for @ms. */
void raw_run(struct raw *raw, unsigned ms);
/** raw_ms() - a monotonic clock in milliseconds. */
uint64_t raw_ms(void);
/** raw_settle() - let the card run until it has nothing to do, a second at most. */
void raw_settle(struct raw *raw);
/** raw_until() - until *word == value; returns false after @ms. */
bool raw_until(struct raw *raw, const void *word, int64_t value, unsigned ms);

/** raw_send() - put a message into the host ring; returns its id. */
uint32_t raw_send(struct raw *raw, const struct tutti_message *message);
/** raw_reply() - wait for the reply to @id. */
struct tutti_message raw_reply(struct raw *raw, uint32_t id);
/** raw_call() - send and wait. */
struct tutti_message raw_call(struct raw *raw, const struct tutti_message *message);
/** raw_ask() - message with plain arguments; returns its status. */
int raw_ask(struct raw *raw, unsigned type, uint64_t arg0, uint64_t arg1, uint64_t arg2);
/** raw_event() - wait up to @ms for an event of @type; false if none came. */
bool raw_event(struct raw *raw, unsigned type, struct tutti_message *event, unsigned ms);
void raw_wake(struct raw *raw);

/** raw_alloc() - zeroed host memory, 4 KiB aligned; raw_bus() its bus address. */
void *raw_alloc(struct raw *raw, size_t bytes);
uint64_t raw_bus(const void *pointer);
/** raw_counters() - refresh and copy. */
void raw_counters(struct raw *raw, uint64_t counters[TUTTI_COUNTERS]);

/** raw_space_init() - page tables and context @asid; nothing mapped but the kernels. */
void raw_space_init(struct raw *raw, struct raw_space *space, uint32_t asid);
/** raw_map() - map bytes at @va to bus address @bus with TUTTI_PTE_R/W/X; no invalidation. */
void raw_map(struct raw_space *space, uint64_t va, uint64_t bus, size_t bytes, uint64_t flags);
void raw_unmap(struct raw_space *space, uint64_t va, size_t bytes);
/** raw_share() - map host memory at its own address, readable and writable. */
void raw_share(struct raw_space *space, void *memory, size_t bytes);
/** raw_new() - raw_alloc() and raw_share(). */
void *raw_new(struct raw_space *space, size_t bytes);
/** raw_small() - 64 bytes of shared memory; raw_args(): filled with three words. */
void *raw_small(struct raw_space *space);
uint64_t *raw_args(struct raw_space *space, const void *arg0, uint64_t arg1, uint64_t arg2);
struct tutti_signal *raw_signal(struct raw_space *space, int64_t value);
/** raw_kernel() - kernel_object of a kernel of raw.S. */
uint64_t raw_kernel(struct raw *raw, enum raw_kernel kernel);

/** raw_queue_message() - the message that creates @queue (ring allocated and mapped). */
struct tutti_message raw_queue_message(struct raw_space *space, struct raw_queue *queue, unsigned id,
				       unsigned flags, unsigned size_log2);
/** raw_queue_init() - with an RSB of its own (same number) if TUTTI_QUEUE_EXTENDED is set. */
void raw_queue_init(struct raw_space *space, struct raw_queue *queue, unsigned id, unsigned flags,
		    unsigned size_log2);
/** raw_dispatch() - packet for @items work-items in workgroups of @workgroup. */
union tutti_packet raw_dispatch(struct raw *raw, enum raw_kernel kernel, uint32_t items, uint32_t workgroup,
				const void *kernarg, struct tutti_signal *signal);
/** raw_put() - write and publish a packet without ringing; raw_ring(): ring; raw_submit(): both. */
uint64_t raw_put(struct raw_queue *queue, const union tutti_packet *packet);
void raw_ring(struct raw_queue *queue, uint64_t index);
void raw_submit(struct raw_queue *queue, const union tutti_packet *packet);
/** raw_retired() - wait until all packets so far have been retired. */
void raw_retired(struct raw_queue *queue);
/** raw_fault() - wait for the error of this queue and check code and packet index. */
struct tutti_fault raw_fault(struct raw_queue *queue, unsigned code, uint64_t packet);
/** raw_no_fault() - no error message is waiting. */
void raw_no_fault(struct raw *raw);
/** raw_reset_queue() - clear the error. */
void raw_reset_queue(struct raw_queue *queue);
/** raw_step() - packet of RAW_STEP: *cell = *cell * mul + add. */
union tutti_packet raw_step(struct raw_space *space, uint64_t *cell, uint64_t mul, uint64_t add,
			    struct tutti_signal *signal);

/* Condensed packets by hand: raw_condensed() then raw_diff() and raw_unit*() for each kernel. */
struct raw_condensed {
	union tutti_packet packet;
	unsigned units;
};
void raw_condensed(struct raw_condensed *condensed);
void raw_diff(struct raw_condensed *condensed, unsigned reference, unsigned vector);
void raw_units(struct raw_condensed *condensed, uint64_t value, unsigned units);

#endif
