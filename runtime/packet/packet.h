/* SPDX-License-Identifier: MIT */
/**
 * DOC: Packets and messages by table: encode, decode, check, print
 *
 * This is for tools, tests and error messages. The tables repeat the contract's
 * layout as data (made by offsetof); the path that submits packets does not use them.
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
	bool decimal; /* printed as decimal, else as hexadecimal */
	bool zero;    /* reserved: must be 0 */
};

/** struct packet_type - a packet type and its fields in the order of their offsets. */
struct packet_type {
	uint16_t type;
	const char *name;
	unsigned fields;
	struct packet_field field[PACKET_FIELDS_MAX];
};

/**
 * struct diff - one kernel of a condensed packet: a reference, and the fields that differ from it.
 * @vector: bit mask of the fields that differ
 * @value: new values, in the order of the fields; 0 for fields that do not differ
 */
struct diff {
	uint8_t reference;
	uint16_t vector;
	uint64_t value[DIFF_FIELDS_MAX];
};

/** packet_type() - table entry for the type of @packet; NULL for condensed packets and unknown types. */
const struct packet_type *packet_type(const union tutti_packet *packet);
/** packet_type_name() - name of the packet's type: "kernel_dispatch", "condensed", "not ready" and so on. */
const char *packet_type_name(const union tutti_packet *packet);
/** packet_get(), packet_set() - access one field. packet_decode() and packet_encode() handle all fields of a type. */
uint64_t packet_get(const void *packet, const struct packet_field *field);
void packet_set(void *packet, const struct packet_field *field, uint64_t value);
void packet_decode(const union tutti_packet *packet, const struct packet_type *type, uint64_t *values);
void packet_encode(union tutti_packet *packet, const struct packet_type *type, const uint64_t *values);

/** diff_field_units() - size of field @bit in 16-bit units, in the form that @table selects; 0 if there is none. */
unsigned diff_field_units(bool table, unsigned bit);
const char *diff_field_name(bool table, unsigned bit);
/** diff_units() - size in 16-bit units of a diff with the fields of @vector, its header included. */
unsigned diff_units(bool table, uint16_t vector);
/**
 * diff_decode() - extract the diffs of a condensed packet.
 * @table: the packet has the table form (spec PKT-20)
 * @field: if not NULL, receives the index of the first bad unit on error
 * Return: number of kernels, or -1 if the packet is malformed.
 */
int diff_decode(const struct tutti_condensed_packet *packet, bool table, struct diff *diffs, uint32_t *field);
/** diff_encode() - the inverse; sets the rest of the packet to 0. Return: units used, or -1 if they do not fit. */
int diff_encode(struct tutti_condensed_packet *packet, bool table, const struct diff *diffs,
		unsigned kernels);

/**
 * packet_check() - find errors for which any card would refuse the packet.
 * @queue_flags: TUTTI_QUEUE_*
 * @field: receives the first offending byte (dispatch packets) or unit (condensed packets)
 * Return: TUTTI_ERROR_NONE or another TUTTI_ERROR_*.
 */
unsigned packet_check(const union tutti_packet *packet, unsigned queue_flags, uint32_t *field);

/** tutti_packet_print() - describe a packet in one line of text, NUL-terminated. Returns its length like snprintf. */
int tutti_packet_print(char *text, size_t bytes, const union tutti_packet *packet, unsigned queue_flags);
/** tutti_message_print() - the same for a message of the kernel channel. */
int tutti_message_print(char *text, size_t bytes, const struct tutti_message *message);

#endif
