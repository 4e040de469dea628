/* SPDX-License-Identifier: MIT */
/**
 * DOC: Packets and messages by table: encode, decode, check, print
 *
 * For tools, tests and error messages. The tables are the contract's layout once
 * more as data (from offsetof), nothing here is on the submit path.
 */
#ifndef TUTTI_RUNTIME_PACKET_H
#define TUTTI_RUNTIME_PACKET_H

#include <stdbool.h>
#include <stddef.h>

#include "tutti/message.h"
#include "tutti/packet.h"

#define PACKET_FIELDS_MAX 16u
#define DIFF_FIELDS_MAX	  13u

/** struct packet_field - one field of a packet or message. */
struct packet_field {
	const char *name;
	uint8_t offset;
	uint8_t bytes;
	bool decimal; /* how to print it */
	bool zero;    /* must be 0 */
};

/** struct packet_type - a packet type and its fields in the order of their offsets. */
struct packet_type {
	uint16_t type;
	const char *name;
	unsigned fields;
	struct packet_field field[PACKET_FIELDS_MAX];
};

/** struct diff - one kernel of a condensed packet. @value in field order, unused ones 0. */
struct diff {
	uint8_t reference;
	uint16_t vector;
	uint64_t value[DIFF_FIELDS_MAX];
};

/** packet_type() - table entry of @packet's type; NULL for condensed and unknown types. */
const struct packet_type *packet_type(const union tutti_packet *packet);
/** packet_type_name() - "kernel_dispatch", "condensed", "not ready" ... */
const char *packet_type_name(const union tutti_packet *packet);
/** packet_get(), packet_set() - one field. packet_decode(), packet_encode() - all of a type. */
uint64_t packet_get(const void *packet, const struct packet_field *field);
void packet_set(void *packet, const struct packet_field *field, uint64_t value);
void packet_decode(const union tutti_packet *packet, const struct packet_type *type, uint64_t *values);
void packet_encode(union tutti_packet *packet, const struct packet_type *type, const uint64_t *values);

/** diff_field_units() - u16 units of field @bit, in either form; 0 = no such field. */
unsigned diff_field_units(bool table, unsigned bit);
const char *diff_field_name(bool table, unsigned bit);
/** diff_units() - units of a diff with @vector, its header included. */
unsigned diff_units(bool table, uint16_t vector);
/**
 * diff_decode() - diffs of a condensed packet.
 * @table: table form (spec PKT-20)
 * @field: if not NULL, first bad unit on error
 * Return: number of kernels, or -1 (malformed).
 */
int diff_decode(const struct tutti_condensed_packet *packet, bool table, struct diff *diffs, uint32_t *field);
/** diff_encode() - the opposite. Units left over are 0. Return: units used, or -1 (does not fit). */
int diff_encode(struct tutti_condensed_packet *packet, bool table, const struct diff *diffs,
		unsigned kernels);

/**
 * packet_check() - what any card would refuse.
 * @queue_flags: TUTTI_QUEUE_*
 * @field: first offending byte (dispatch) or unit (condensed)
 * Return: TUTTI_ERROR_NONE, TUTTI_ERROR_*.
 */
unsigned packet_check(const union tutti_packet *packet, unsigned queue_flags, uint32_t *field);

/** tutti_packet_print() - one line of text, NUL-terminated. Returns its length as snprintf does. */
int tutti_packet_print(char *text, size_t bytes, const union tutti_packet *packet, unsigned queue_flags);
/** tutti_message_print() - the same for a message of the kernel channel. */
int tutti_message_print(char *text, size_t bytes, const struct tutti_message *message);

#endif
