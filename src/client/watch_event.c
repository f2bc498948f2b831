/* SPDX-License-Identifier: Apache-2.0 */
#include "client/watch_event.h"

#include "codec/json.h"
#include "codec/wire.h"
#include "schema/schema.h"

int bt_watch_object_read(const struct bt_message *message, struct bt_str bytes, bool is_protobuf,
	struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct bt_json_reader reader;

	if (is_protobuf) {
		return bt_message_decode_protobuf(message, bytes, arena, out, err);
	}
	bt_json_reader_init(&reader, bytes);
	return bt_message_decode_json(message, &reader, arena, out, err);
}

static int read_type(
	struct bt_str text, enum bt_watch_event_type *out_type, struct berth_error *err)
{
	static const char *const names[] = {
		[BT_WATCH_ADDED] = "ADDED",
		[BT_WATCH_MODIFIED] = "MODIFIED",
		[BT_WATCH_DELETED] = "DELETED",
		[BT_WATCH_BOOKMARK] = "BOOKMARK",
		[BT_WATCH_ERROR] = "ERROR",
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		if (bt_str_equal_c(text, names[i])) {
			*out_type = (enum bt_watch_event_type)i;
			return 0;
		}
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "got invalid watch event type: %.*s",
		text.length > 40 ? 40 : (int)text.length, text.data != NULL ? text.data : "");
}

/**
 * Returns an object's kind if it is among the first two members, where servers write it; else "".
 */
static struct bt_str early_kind(struct bt_str json, struct bt_arena *arena)
{
	struct bt_json_reader reader;
	struct bt_str name;
	struct bt_str kind = BT_STR("");
	bool first = true;
	bool more;

	bt_json_reader_init(&reader, json);
	if (bt_json_enter_object(&reader, NULL) != 0) {
		return kind;
	}
	for (int i = 0; i < 2; i++) {
		enum bt_json_type type;
		if (bt_json_next_member(&reader, &first, arena, &more, &name, NULL) != 0 || !more ||
			bt_json_peek(&reader, &type, NULL) != 0 || type != BT_JSON_STRING) {
			return kind;
		}
		if (bt_str_equal(name, BT_STR("kind"))) {
			return bt_json_read_string(&reader, arena, &kind, NULL, NULL) == 0
				? kind
				: BT_STR("");
		}
		if (bt_json_skip(&reader, NULL, NULL) != 0) {
			return kind;
		}
	}
	return kind;
}

int bt_watch_event_read(struct bt_str bytes, bool is_protobuf, struct bt_arena *arena,
	struct bt_watch_event *out_event, struct berth_error *err)
{
	struct bt_watch_event event = {.object = BT_STR_INIT(""), .kind = BT_STR_INIT("")};
	int code;

	if (is_protobuf) {
		/*
		 * Field 1 is the type. Field 2 is the object, a RawExtension whose field 1 is an
		 * envelope.
		 */
		struct bt_wire_fields fields;
		struct bt_wire_fields object;
		struct bt_envelope envelope;

		code = bt_wire_read_fields(bytes, &fields, err);
		if (code == 0) {
			code = bt_wire_read_fields(fields.texts[2], &object, err);
		}
		if (code == 0) {
			code = read_type(fields.texts[1], &event.type, err);
		}
		if (code == 0) {
			code = bt_envelope_decode(object.texts[1], &envelope, err);
		}
		if (code == 0) {
			event.object = envelope.raw;
			event.kind = envelope.kind;
		}
	} else {
		struct bt_json_reader reader;
		struct bt_str type = {NULL, 0};
		struct bt_str name;

		bt_json_reader_init(&reader, bytes);
		BT_JSON_EACH_MEMBER (&reader, arena, name, code, err) {
			if (bt_str_equal(name, BT_STR("type"))) {
				code = bt_json_read_string(&reader, arena, &type, NULL, err);
			} else {
				bool is_object = bt_str_equal(name, BT_STR("object"));
				code = bt_json_skip(&reader, is_object ? &event.object : NULL, err);
			}
		}
		if (code == 0) {
			code = read_type(type, &event.type, err);
		}
		if (code == 0) {
			event.kind = early_kind(event.object, arena);
		}
	}
	if (code != 0) {
		return bt_error_wrap(err, code, "unable to decode an event from the watch stream");
	}
	*out_event = event;
	return 0;
}

int bt_list_meta_read(struct bt_str bytes, bool is_protobuf, struct bt_arena *arena,
	struct bt_strbuf *out_version, struct bt_strbuf *out_continue, struct berth_error *err)
{
	struct bt_list_meta meta = {.continue_token = {NULL, 0}};
	int code =
		bt_watch_object_read(&bt_list_meta_message, bytes, is_protobuf, arena, &meta, err);

	if (code == 0) {
		bt_strbuf_set(out_version, meta.resource_version);
		bt_strbuf_set(out_continue, meta.continue_token);
	}
	return code;
}

int bt_list_kind_read(struct bt_str bytes, bool is_protobuf, struct bt_arena *arena,
	struct bt_str *out_kind, struct berth_error *err)
{
	struct bt_wire_fields type_meta; /* apiVersion, kind */
	struct bt_json_reader reader;

	if (!is_protobuf) {
		bt_json_reader_init(&reader, bytes);
		return bt_json_read_string(&reader, arena, out_kind, NULL, err);
	}
	int code = bt_wire_read_fields(bytes, &type_meta, err);
	*out_kind = bt_arena_str(arena, type_meta.texts[2]);
	return code;
}
