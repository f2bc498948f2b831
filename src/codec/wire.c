/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/wire.h"

#include <string.h>

#define VARINT_BYTES_MAX 10
#define FIELD_NUMBER_MAX ((UINT64_C(1) << 29) - 1)

static int end_of_input(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF");
}

int bt_wire_read_varint(struct bt_wire *wire, uint64_t *out_value, struct berth_error *err)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < VARINT_BYTES_MAX; i++) {
		if (wire->at == wire->end) {
			return end_of_input(err);
		}
		unsigned char byte = *wire->at++;
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*out_value = value;
			return 0;
		}
	}
	return bt_error_set(err, BERTH_ERR_SYNTAX, "proto: integer overflow");
}

int bt_wire_read_tag(
	struct bt_wire *wire, uint32_t *out_number, uint32_t *out_type, struct berth_error *err)
{
	uint64_t tag;
	int code = bt_wire_read_varint(wire, &tag, err);

	if (code != 0) {
		return code;
	}
	if (tag >> 3 == 0 || tag >> 3 > FIELD_NUMBER_MAX) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "proto: illegal tag %llu",
			(unsigned long long)(tag >> 3));
	}
	*out_number = (uint32_t)(tag >> 3);
	*out_type = (uint32_t)(tag & 7);
	return 0;
}

int bt_wire_read_bytes(struct bt_wire *wire, struct bt_str *out_bytes, struct berth_error *err)
{
	uint64_t length;
	int code = bt_wire_read_varint(wire, &length, err);

	if (code != 0) {
		return code;
	}
	if (length > (uint64_t)(wire->end - wire->at)) {
		return end_of_input(err);
	}
	*out_bytes = (struct bt_str){(const char *)wire->at, (uint32_t)length};
	wire->at += length;
	return 0;
}

static int skip_fixed(struct bt_wire *wire, uint32_t count, struct berth_error *err)
{
	if ((size_t)(wire->end - wire->at) < count) {
		return end_of_input(err);
	}
	wire->at += count;
	return 0;
}

static int skip_scalar(struct bt_wire *wire, uint32_t type, struct berth_error *err)
{
	uint64_t number;
	struct bt_str bytes;

	switch (type) {
	case BT_WIRE_VARINT:
		return bt_wire_read_varint(wire, &number, err);
	case BT_WIRE_FIXED64:
		return skip_fixed(wire, 8, err);
	case BT_WIRE_BYTES:
		return bt_wire_read_bytes(wire, &bytes, err);
	case BT_WIRE_FIXED32:
		return skip_fixed(wire, 4, err);
	default:
		return bt_error_set(
			err, BERTH_ERR_SYNTAX, "proto: illegal wireType %u", (unsigned)type);
	}
}

int bt_wire_skip(struct bt_wire *wire, uint32_t number, uint32_t type, struct berth_error *err)
{
	uint32_t open[BT_WIRE_GROUP_DEPTH_MAX]; /* numbers of the open groups */
	uint32_t depth = 0;

	for (;;) {
		int code;

		if (type == BT_WIRE_GROUP) {
			if (depth == BT_WIRE_GROUP_DEPTH_MAX) {
				return bt_error_set(err, BERTH_ERR_TOO_LARGE, "exceeded max depth");
			}
			open[depth++] = number;
		} else if (type == BT_WIRE_GROUP_END) {
			if (depth == 0 || open[depth - 1] != number) {
				return bt_error_set(
					err, BERTH_ERR_SYNTAX, "proto: unexpected end of group");
			}
			depth--;
		} else {
			code = skip_scalar(wire, type, err);
			if (code != 0) {
				return code;
			}
		}
		if (depth == 0) {
			return 0;
		}
		code = bt_wire_read_tag(wire, &number, &type, err);
		if (code != 0) {
			return code;
		}
	}
}

int bt_wire_read_fields(struct bt_str bytes, struct bt_wire_fields *out, struct berth_error *err)
{
	struct bt_wire wire = bt_wire_from(bytes);
	int code = 0;

	*out = (struct bt_wire_fields){.numbers = {0}};
	while (code == 0 && wire.at < wire.end) {
		uint32_t number = 0;
		uint32_t type = 0;

		code = bt_wire_read_tag(&wire, &number, &type, err);
		if (code == 0 && type == BT_WIRE_VARINT && number < 4) {
			code = bt_wire_read_varint(&wire, &out->numbers[number], err);
		} else if (code == 0 && type == BT_WIRE_BYTES && number < 4) {
			code = bt_wire_read_bytes(&wire, &out->texts[number], err);
		} else if (code == 0) {
			code = bt_wire_skip(&wire, number, type, err);
		}
	}
	return code;
}

static char *put_varint(char *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (char)(unsigned char)(value | 0x80);
		value >>= 7;
	}
	*to++ = (char)(unsigned char)value;
	return to;
}

/* Reserves room for two varints and `extra` bytes; returns where to write them. */
static char *begin(struct bt_strbuf *out, size_t extra)
{
	bt_strbuf_reserve(out, 2 * VARINT_BYTES_MAX + extra);
	return out->data + out->length;
}

static void end(struct bt_strbuf *out, char *at)
{
	*at = '\0';
	out->length = (size_t)(at - out->data);
}

static char *put_tag(char *to, uint32_t number, enum bt_wire_type type)
{
	return put_varint(to, (uint64_t)number << 3 | (uint64_t)type);
}

void bt_wire_write_varint(struct bt_strbuf *out, uint64_t value)
{
	end(out, put_varint(begin(out, 0), value));
}

void bt_wire_write_bytes(struct bt_strbuf *out, uint32_t number, struct bt_str bytes)
{
	char *at = put_tag(begin(out, bytes.length), number, BT_WIRE_BYTES);

	at = put_varint(at, bytes.length);
	if (bytes.length != 0) {
		memcpy(at, bytes.data, bytes.length);
	}
	end(out, at + bytes.length);
}

void bt_wire_write_number(struct bt_strbuf *out, uint32_t number, uint64_t value)
{
	end(out, put_varint(put_tag(begin(out, 0), number, BT_WIRE_VARINT), value));
}

/* Reserve one byte for the length, which is enough for most messages. */
size_t bt_wire_open(struct bt_strbuf *out, uint32_t number)
{
	end(out, put_tag(begin(out, 0), number, BT_WIRE_BYTES) + 1);
	return out->length;
}

void bt_wire_close(struct bt_strbuf *out, size_t opened)
{
	size_t length = out->length - opened;
	uint32_t extra = 0;

	for (size_t rest = length; rest >= 0x80; rest >>= 7) {
		extra++;
	}

	if (extra != 0) {
		bt_strbuf_append(out, "\0\0\0\0\0\0\0\0\0", extra);
		memmove(out->data + opened + extra, out->data + opened, length);
	}
	(void)put_varint(out->data + opened - 1, length);
}
