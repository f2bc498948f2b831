/* SPDX-License-Identifier: Apache-2.0 */
#include "client/rest_private.h"
#include "client/status.h"

bool bt_rest_writes_protobuf(const struct bt_rest_client *client)
{
	return client->writes_protobuf;
}

/* --- parts of URLs --- */

static bool is_unreserved(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
		(byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_' || byte == '.' ||
		byte == '~';
}

static void append_escaped(struct bt_strbuf *out, char byte)
{
	bt_strbuf_printf(out, "%%%02X", (unsigned int)(unsigned char)byte);
}

void bt_rest_append_segment(struct bt_strbuf *out, struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if (is_unreserved(byte) || byte == ':' || byte == '@' || byte == '$' ||
			byte == '&' || byte == '+' || byte == '=') {
			bt_strbuf_append_char(out, byte);
		} else {
			append_escaped(out, byte);
		}
	}
}

void bt_rest_append_query(struct bt_strbuf *out, const char *name, struct bt_str value)
{
	if (out->length != 0) {
		bt_strbuf_append_char(out, '&');
	}
	bt_strbuf_append_c(out, name);
	bt_strbuf_append_char(out, '=');
	for (uint32_t i = 0; i < value.length; i++) {
		if (is_unreserved(value.data[i])) {
			bt_strbuf_append_char(out, value.data[i]);
		} else if (value.data[i] == ' ') {
			bt_strbuf_append_char(out, '+');
		} else {
			append_escaped(out, value.data[i]);
		}
	}
}

/* --- bodies --- */

struct bt_str bt_rest_encode_body(const struct bt_rest_client *client,
	const struct bt_json_value *value, struct bt_strbuf *out)
{
	struct bt_str api_version = bt_json_find_str(value, "apiVersion");
	struct bt_str kind = bt_json_find_str(value, "kind");
	const struct bt_schema_message *message = NULL;
	struct bt_json_writer writer;

	if (client->writes_protobuf) {
		message = bt_schema_find(api_version, kind);
	}
	if (message != NULL) {
		struct bt_strbuf raw = {0};
		struct bt_envelope envelope = {api_version, kind, {0}};
		bt_schema_encode_protobuf(message, value, &raw);
		envelope.raw = bt_strbuf_str(&raw);
		bt_envelope_encode(&envelope, out);
		bt_strbuf_finish(&raw);
		return BT_STR(BT_MEDIA_PROTOBUF);
	}
	bt_json_writer_init(&writer, out, 0);
	bt_json_write_value(&writer, value);
	return BT_STR(BT_MEDIA_JSON);
}

static struct bt_json_value *new_text(struct bt_arena *arena, struct bt_str text)
{
	struct bt_json_value *value = BT_ARENA_NEW(arena, struct bt_json_value);

	value->type = BT_JSON_STRING;
	value->text = text;
	return value;
}

static int decode_protobuf(struct bt_str body, struct bt_arena *arena,
	struct bt_json_value **out_value, struct berth_error *err)
{
	const struct bt_schema_message *message;
	struct bt_json_value *object = NULL;
	struct bt_envelope envelope;
	int code = bt_envelope_decode(body, &envelope, err);

	if (code != 0) {
		return code;
	}
	message = bt_schema_find(envelope.api_version, envelope.kind);
	if (message == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no kind \"%.*s\" is registered for version \"%.*s\"",
			BT_STR_ARG(envelope.kind), BT_STR_ARG(envelope.api_version));
	}
	code = bt_schema_decode_protobuf(message, envelope.raw, arena, &object, err);
	if (code == 0) {
		/* The object with kind and apiVersion in front, as its JSON form has them. */
		struct bt_json_value *value = BT_ARENA_NEW(arena, struct bt_json_value);

		value->type = BT_JSON_OBJECT;
		value->count = object->count + 2;
		value->capacity = value->count;
		value->members = BT_ARENA_NEW_ARRAY(arena, struct bt_json_member, value->count);
		value->members[0] =
			(struct bt_json_member){BT_STR("kind"), new_text(arena, envelope.kind)};
		value->members[1] = (struct bt_json_member){
			BT_STR("apiVersion"), new_text(arena, envelope.api_version)};
		if (object->count != 0) {
			memcpy(value->members + 2, object->members,
				object->count * sizeof(*value->members));
		}
		*out_value = value;
	}
	return code;
}

int bt_rest_decode_body(const struct bt_rest_answer *answer, struct bt_arena *arena,
	struct bt_json_value **out_value, struct berth_error *err)
{
	static const char magic[] = {'k', '8', 's', 0};
	struct bt_str body = answer->body;
	bool is_protobuf = bt_media_type_is(answer->content_type, BT_MEDIA_PROTOBUF);

	/* Servers that do not say what they send. */
	if (answer->content_type.length == 0 && body.length >= sizeof(magic)) {
		is_protobuf = memcmp(body.data, magic, sizeof(magic)) == 0;
	}
	return is_protobuf ? decode_protobuf(body, arena, out_value, err)
			   : bt_json_parse(arena, body, false, out_value, err);
}

int bt_rest_answer_error(const struct bt_rest_answer *answer, struct berth_error *err)
{
	int code = BERTH_ERR_INTERNAL;

	if (answer->class_ == BT_REST_OK) {
		return 0;
	}
	if (answer->class_ == BT_REST_TRANSPORT) {
		code = BERTH_ERR_IO;
	} else if (answer->class_ == BT_REST_NOT_FOUND) {
		code = BERTH_ERR_NOT_FOUND;
	} else if (answer->class_ == BT_REST_ALREADY_EXISTS) {
		code = BERTH_ERR_EXISTS;
	} else if (answer->class_ == BT_REST_CONFLICT) {
		code = BERTH_ERR_STATE;
	}
	return bt_error_set(err, code, "%.*s", BT_STR_ARG(answer->message));
}
