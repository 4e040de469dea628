/* SPDX-License-Identifier: MIT */
/**
 * DOC: The little of protocol buffers that XRT's software emulation speaks
 *
 * A message is a row of fields, each with its number: integers, and strings of bytes. That is all of the format that
 * the calls in xrt_device.c use, so there is no library for it.
 */
#ifndef TUTTI_WIRE_H
#define TUTTI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct wire_bytes - a string of bytes inside a message. */
struct wire_bytes {
	const uint8_t *data;
	size_t bytes;
};

/** wire_number() - the first integer with number @field in @message, or 0. */
uint64_t wire_number(struct wire_bytes message, unsigned field);
/** wire_string() - the first string with number @field, or an empty one. It lies inside @message. */
struct wire_bytes wire_string(struct wire_bytes message, unsigned field);

#define WIRE_BYTES_MAX (64u << 20)

/** struct wire_reply - a message that is being made; @used may exceed @room, and then it is not sent. */
struct wire_reply {
	uint8_t *data;
	size_t room, used;
};

void wire_put_number(struct wire_reply *reply, unsigned field, uint64_t value);
/** wire_put_string() - Return: where the @bytes go, or NULL if there is no room. */
uint8_t *wire_put_string(struct wire_reply *reply, unsigned field, size_t bytes);

#endif
