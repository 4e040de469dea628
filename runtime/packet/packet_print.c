// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "packet/packet.h"

/* Text under construction. What does not fit is not stored but counted, as by snprintf. */
struct text {
	char *at;
	size_t room;
	int length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(text->at, text->room, format, list);
	va_end(list);
	text->length += n;
	if ((size_t)n >= text->room)
		n = text->room ? (int)text->room - 1 : 0;
	text->at += n;
	text->room -= (size_t)n;
}

static void put_header(struct text *text, uint16_t header)
{
	static const char *const scope[] = {"none", "agent", "system", "?"};

	put(text, " barrier %u acquire %s release %s", !!(header & TUTTI_HEADER_BARRIER),
	    scope[header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE],
	    scope[header >> TUTTI_HEADER_RELEASE_SHIFT & TUTTI_HEADER_SCOPE]);
	if (header & TUTTI_HEADER_RESERVED)
		put(text, " reserved 0x%x", header >> 13);
}

static void put_fields(struct text *text, const void *packet, const struct packet_field *field,
		       unsigned fields)
{
	for (unsigned i = 0; i < fields; i++) {
		uint64_t value = packet_get(packet, &field[i]);

		if (field[i].zero && !value)
			continue;
		if (field[i].decimal)
			put(text, " %s %" PRIu64, field[i].name, value);
		else
			put(text, " %s 0x%" PRIx64, field[i].name, value);
	}
}

static void put_condensed(struct text *text, const struct tutti_condensed_packet *packet, bool table)
{
	struct diff diffs[TUTTI_CONDENSED_KERNELS];
	uint32_t unit;
	int kernels = diff_decode(packet, table, diffs, &unit);

	put(text, " kernels %u", packet->num_kernels);
	if (kernels < 0) {
		put(text, " malformed at unit %u", unit);
		return;
	}
	for (int k = 0; k < kernels; k++) {
		put(text, " [ref %u", diffs[k].reference);
		for (unsigned bit = 0; bit < DIFF_FIELDS_MAX; bit++)
			if (diffs[k].vector >> bit & 1)
				put(text, " %s 0x%" PRIx64, diff_field_name(table, bit), diffs[k].value[bit]);
		put(text, "]");
	}
}

int tutti_packet_print(char *out, size_t bytes, const union tutti_packet *packet, unsigned queue_flags)
{
	struct text text = {out, bytes, 0};
	const struct packet_type *type = packet_type(packet);

	put(&text, "%s", packet_type_name(packet));
	if (type) {
		put_header(&text, (uint16_t)packet->word[0]);
		put_fields(&text, packet, &type->field[1], type->fields - 1);
	} else if ((packet->word[0] & TUTTI_HEADER_TYPE) == TUTTI_PACKET_CONDENSED) {
		put_condensed(&text, &packet->condensed, queue_flags & TUTTI_QUEUE_TABLE_DIFFS);
	} else {
		put(&text, " 0x%08x", packet->word[0]);
	}
	return text.length;
}

#define ARG(i, label)                                                                                        \
	{                                                                                                    \
		label, offsetof(struct tutti_message, arg) + 8 * (i), 8, true, false                         \
	}
#define PART(part, member, decimal)                                                                          \
	{                                                                                                    \
#member, offsetof(struct tutti_message, part.member),                                        \
		    sizeof(((struct tutti_message *)0)->part.member), decimal, false                         \
	}

static const struct packet_type messages[] = {
    {TUTTI_MSG_PING, "PING", 1, {ARG(0, "value")}},
    {TUTTI_MSG_CONTEXT_CREATE,
     "CONTEXT_CREATE",
     3,
     {PART(context, asid, true), PART(context, root, false), PART(context, print_ring, false)}},
    {TUTTI_MSG_CONTEXT_DESTROY, "CONTEXT_DESTROY", 1, {ARG(0, "asid")}},
    {TUTTI_MSG_TLB_INVALIDATE, "TLB_INVALIDATE", 3, {ARG(0, "asid"), ARG(1, "address"), ARG(2, "bytes")}},
    {TUTTI_MSG_CODE_INVALIDATE, "CODE_INVALIDATE", 3, {ARG(0, "asid"), ARG(1, "address"), ARG(2, "bytes")}},
    {TUTTI_MSG_QUEUE_CREATE,
     "QUEUE_CREATE",
     8,
     {PART(queue, queue, true), PART(queue, asid, true), PART(queue, flags, false), PART(queue, rsb, true),
      PART(queue, ring, false), PART(queue, size_log2, true), PART(queue, priority, true),
      PART(queue, timeout_ms, true)}},
    {TUTTI_MSG_QUEUE_DESTROY, "QUEUE_DESTROY", 1, {ARG(0, "queue")}},
    {TUTTI_MSG_QUEUE_RESET, "QUEUE_RESET", 1, {ARG(0, "queue")}},
    {TUTTI_MSG_QUEUE_QUERY, "QUEUE_QUERY", 1, {ARG(0, "queue")}},
    {TUTTI_MSG_RSB_CREATE,
     "RSB_CREATE",
     4,
     {PART(rsb, rsb, true), PART(rsb, asid, true), PART(rsb, placement, true), PART(rsb, offset, false)}},
    {TUTTI_MSG_RSB_DESTROY, "RSB_DESTROY", 1, {ARG(0, "rsb")}},
    {TUTTI_MSG_RSB_INVALIDATE, "RSB_INVALIDATE", 2, {ARG(0, "rsb"), ARG(1, "entries")}},
    {TUTTI_MSG_RSB_READ, "RSB_READ", 2, {ARG(0, "rsb"), ARG(1, "offset")}},
    {TUTTI_MSG_SM_ENABLE, "SM_ENABLE", 3, {ARG(0, "first"), ARG(1, "count"), ARG(2, "enable")}},
    {TUTTI_MSG_POLICY, "POLICY", 2, {ARG(0, "policy"), ARG(1, "value")}},
    {TUTTI_MSG_SUSPEND, "SUSPEND", 0, {{0}}},
    {TUTTI_MSG_RESUME, "RESUME", 0, {{0}}},
    {TUTTI_MSG_TASK_CANCEL, "TASK_CANCEL", 2, {ARG(0, "queue"), ARG(1, "packet")}},
    {TUTTI_MSG_COUNTERS, "COUNTERS", 0, {{0}}},
    {TUTTI_MSG_QUEUE_NOTIFY, "QUEUE_NOTIFY", 2, {ARG(0, "queue"), ARG(1, "packets")}},
    {TUTTI_MSG_LOAD, "LOAD", 0, {{0}}},
    {TUTTI_MSG_OCCUPANCY,
     "OCCUPANCY",
     5,
     {PART(occupancy, waves, true), PART(occupancy, scalar_blocks, true), PART(occupancy, vector_blocks, true),
      PART(occupancy, shared_blocks, true), PART(occupancy, barriers, true)}},
    {TUTTI_MSG_REPLY, "REPLY", 1, {{"value", offsetof(struct tutti_message, value), 8, false, false}}},
    {TUTTI_MSG_QUEUE_ERROR,
     "QUEUE_ERROR",
     8,
     {PART(fault, queue, true), PART(fault, code, true), PART(fault, packet, true), PART(fault, kernel, true),
      PART(fault, engine, true), PART(fault, cause, true), PART(fault, address, false),
      PART(fault, field, true)}},
};

int tutti_message_print(char *out, size_t bytes, const struct tutti_message *message)
{
	struct text text = {out, bytes, 0};

	for (unsigned i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		if (messages[i].type != message->type)
			continue;
		put(&text, "%s", messages[i].name);
		put_fields(&text, message, messages[i].field, messages[i].fields);
		return text.length;
	}
	put(&text, "message %u", message->type);
	return text.length;
}
