// SPDX-License-Identifier: MIT
#include "wire.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, STRING = 2, FIXED32 = 5 };

/** struct field - one field of a message. */
struct field {
	unsigned number, kind;
	uint64_t value;
	struct wire_bytes string;
};

static bool take_varint(struct wire_bytes *rest, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && rest->bytes; shift += 7) {
		uint8_t byte = *rest->data;

		rest->data++;
		rest->bytes--;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_bytes(struct wire_bytes *rest, uint64_t bytes, struct wire_bytes *taken)
{
	if (bytes > rest->bytes)
		return false;
	*taken = (struct wire_bytes){rest->data, bytes};
	rest->data += bytes;
	rest->bytes -= bytes;
	return true;
}

static bool take_field(struct wire_bytes *rest, struct field *field)
{
	uint64_t tag, bytes;

	*field = (struct field){0};
	if (!take_varint(rest, &tag))
		return false;
	field->number = (unsigned)(tag >> 3);
	field->kind = tag & 7;
	if (field->kind == VARINT)
		return take_varint(rest, &field->value);
	if (field->kind == STRING)
		return take_varint(rest, &bytes) && take_bytes(rest, bytes, &field->string);
	if (field->kind != FIXED64 && field->kind != FIXED32)
		return false;
	bytes = field->kind == FIXED64 ? 8 : 4;
	if (!take_bytes(rest, bytes, &field->string))
		return false;
	memcpy(&field->value, field->string.data, bytes);
	return true;
}

static struct field find(struct wire_bytes message, unsigned number)
{
	struct field field;

	while (message.bytes && take_field(&message, &field))
		if (field.number == number)
			return field;
	return (struct field){0};
}

uint64_t wire_number(struct wire_bytes message, unsigned field)
{
	return find(message, field).value;
}

struct wire_bytes wire_string(struct wire_bytes message, unsigned field)
{
	return find(message, field).string;
}

static void put_byte(struct wire_reply *reply, uint8_t byte)
{
	if (reply->used < reply->room)
		reply->data[reply->used] = byte;
	reply->used++;
}

static void put_varint(struct wire_reply *reply, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_byte(reply, (uint8_t)(value | 0x80));
	put_byte(reply, (uint8_t)value);
}

void wire_put_number(struct wire_reply *reply, unsigned field, uint64_t value)
{
	put_varint(reply, (uint64_t)field << 3 | VARINT);
	put_varint(reply, value);
}

uint8_t *wire_put_string(struct wire_reply *reply, unsigned field, size_t bytes)
{
	size_t at;

	put_varint(reply, (uint64_t)field << 3 | STRING);
	put_varint(reply, bytes);
	at = reply->used;
	reply->used += bytes;
	return reply->used <= reply->room ? reply->data + at : NULL;
}
