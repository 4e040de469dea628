/* SPDX-License-Identifier: MIT */
/**
 * DOC: To which step of a kernel's way each function of the firmware belongs
 *
 * The linker's map says from which file a function is, and a table in units.c which step the code of that file is.
 */
#ifndef BENCH_UNITS_H
#define BENCH_UNITS_H

#include <stddef.h>
#include <stdint.h>

/**
 * enum unit - steps from the event of a doorbell to the last word of a completion.
 * @UNIT_FETCH: doorbells, and copying packets and descriptors
 * @UNIT_CHECK: is the packet valid?
 * @UNIT_DECODE: references and condensed packets; the order of packets in a queue
 * @UNIT_TASK: making the task
 * @UNIT_CHOOSE: which task, which GPC
 * @UNIT_PLACE: which SMs, and the state of their free slots
 * @UNIT_MESSAGE: commands, as far as the writer of a command does not do it itself
 * @UNIT_COMPLETION: taking the end of CTAs, and of tasks
 * @UNIT_SIGNAL: release fence and completion signal
 * @UNIT_INDEX: read index and progress of the queue
 * @UNIT_TENSOR: tensor requests
 * @UNIT_IDLE: the event loop: taking events, publishing commands, timers, counters, sleep
 * @UNIT_HOST: boot, requests of the driver, errors
 * @UNIT_LIBRARY: what the compiler calls: saving registers, division
 */
enum unit {
	UNIT_FETCH,
	UNIT_CHECK,
	UNIT_DECODE,
	UNIT_TASK,
	UNIT_CHOOSE,
	UNIT_PLACE,
	UNIT_MESSAGE,
	UNIT_COMPLETION,
	UNIT_SIGNAL,
	UNIT_INDEX,
	UNIT_TENSOR,
	UNIT_IDLE,
	UNIT_HOST,
	UNIT_LIBRARY,
	UNITS
};

extern const char *const unit_names[UNITS];

/** unit_image() - of which image is unit_of() to know the functions? @sms: of the card, which decides that. */
void unit_image(unsigned sms);
/** unit_of() - the unit of the function @name at @address, or -1 if no line of the table says. */
int unit_of(const char *name, uint32_t address);
/** unit_unused() - a line of the table that is about no file of the image, which is wrong; NULL if there is none. */
const char *unit_unused(void);

#endif
