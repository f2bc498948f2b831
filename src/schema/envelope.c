/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "schema/schema.h"
#include "codec/wire.h"

/* Fields of the envelope message Unknown, and of its TypeMeta. */
enum {
	UNKNOWN_TYPE_META = 1,
	UNKNOWN_RAW = 2,
	UNKNOWN_CONTENT_ENCODING = 3,
	UNKNOWN_CONTENT_TYPE = 4,
	TYPE_META_API_VERSION = 1,
	TYPE_META_KIND = 2,
};

static const char magic[] = {'k', '8', 's', 0};

/* Reads the bytes fields low and low + 1 into out[0] and out[1]; skips all others. */
static int read_pair(struct bt_str bytes, struct bt_str out[2], struct berth_error *err)
{
	struct bt_wire wire = bt_wire_from(bytes);

	while (wire.at < wire.end) {
		uint32_t number;
		uint32_t type;
		int code = bt_wire_read_tag(&wire, &number, &type, err);

		if (code == 0) {
			code = type == BT_WIRE_BYTES && number <= 2
				? bt_wire_read_bytes(&wire, &out[number - 1], err)
				: bt_wire_skip(&wire, number, type, err);
		}
		if (code != 0) {
			return code;
		}
	}
	return 0;
}

int bt_envelope_decode(
	struct bt_str bytes, struct bt_envelope *out_envelope, struct berth_error *err)
{
	struct bt_str unknown[2] = {BT_STR_INIT(""), BT_STR_INIT("")};
	struct bt_str type_meta[2] = {BT_STR_INIT(""), BT_STR_INIT("")};
	int code;

	if (bytes.length < sizeof(magic) || memcmp(bytes.data, magic, sizeof(magic)) != 0) {
		return bt_error_set(err, BERTH_ERR_SYNTAX,
			"provided data does not appear to be a protobuf message, expected prefix "
			"[107 56 115 0]");
	}
	code = read_pair(bt_str_sub(bytes, sizeof(magic), bytes.length - (uint32_t)sizeof(magic)),
		unknown, err);
	if (code == 0) {
		code = read_pair(unknown[UNKNOWN_TYPE_META - 1], type_meta, err);
	}
	if (code != 0) {
		return code;
	}
	out_envelope->api_version = type_meta[TYPE_META_API_VERSION - 1];
	out_envelope->kind = type_meta[TYPE_META_KIND - 1];
	out_envelope->raw = unknown[UNKNOWN_RAW - 1];
	return 0;
}

void bt_envelope_encode(const struct bt_envelope *envelope, struct bt_strbuf *out)
{
	size_t type_meta;

	bt_strbuf_append(out, magic, sizeof(magic));
	type_meta = bt_wire_open(out, UNKNOWN_TYPE_META);
	bt_wire_write_bytes(out, TYPE_META_API_VERSION, envelope->api_version);
	bt_wire_write_bytes(out, TYPE_META_KIND, envelope->kind);
	bt_wire_close(out, type_meta);
	bt_wire_write_bytes(out, UNKNOWN_RAW, envelope->raw);
	bt_wire_write_bytes(out, UNKNOWN_CONTENT_ENCODING, BT_STR(""));
	bt_wire_write_bytes(out, UNKNOWN_CONTENT_TYPE, BT_STR(""));
}
