/* SPDX-License-Identifier: Apache-2.0 */
/** Decodes request bodies: JSON, YAML or protobuf become trees. Spec: 14 sections 8.1 and 9.3. */
#include "codec/json_edit.h"
#include "codec/yaml.h"
#include "server/front_private.h"

/* The part of an invalid body that the message shows. */
#define SHOWN_BYTES 30

static const char *expected_kind(const struct bt_front_call *call)
{
	if (call->verb == BT_VERB_DELETE || call->verb == BT_VERB_DELETE_COLLECTION) {
		return "DeleteOptions";
	}
	return bt_discovery_kind_of(call->route.resource, call->route.subresource).kind;
}

static bool refuse_syntax(struct bt_front_call *call, struct bt_str body, const char *text)
{
	struct bt_strbuf shown = {0};
	if (call->verb == BT_VERB_PATCH) {
		(void)bt_fail_bad_request(
			&call->failure, &call->arena, "error decoding patch: %s", text);
		return false;
	}
	if (body.length == 0) {
		bt_strbuf_append_c(&shown, "<empty>");
	}
	for (uint32_t i = 0; i < body.length && i < SHOWN_BYTES; i++) {
		bt_strbuf_printf(&shown, "%02x", (unsigned int)(unsigned char)body.data[i]);
	}
	(void)bt_fail_bad_request(&call->failure, &call->arena,
		"the object provided is unrecognized (must be of type %s): couldn't get "
		"version/kind; json parse error: %s (%s)",
		expected_kind(call), text, bt_strbuf_c(&shown));
	bt_strbuf_finish(&shown);
	return false;
}

static bool decode_json(
	struct bt_front_call *call, struct bt_str text, struct bt_json_value **out_body)
{
	struct berth_error err = BERTH_ERROR_INIT;
	if (bt_json_nests_deeper(text, BT_API_DEPTH_MAX)) {
		(void)bt_fail_bad_request(&call->failure, &call->arena,
			"the body of the request nests deeper than %d levels", BT_API_DEPTH_MAX);
		return false;
	}
	int result = bt_json_parse(&call->arena, text, false, out_body, &err);
	if (result == 0) {
		return true;
	}
	if (result == BERTH_ERR_TOO_LARGE) {
		(void)bt_fail(&call->failure, &call->arena, 413, "RequestEntityTooLarge", "%s",
			berth_error_message(&err));
	} else {
		(void)refuse_syntax(call, call->request.body, berth_error_message(&err));
	}
	berth_error_finish(&err);
	return false;
}

#if BT_HAVE_YAML
static bool decode_yaml(struct bt_front_call *call, struct bt_json_value **out_body)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_yaml_limits limits = {.output_bytes_max = 4 * (uint64_t)BT_API_BODY_BYTES_MAX};
	struct bt_strbuf repeated = {0};
	bool more = false;
	limits.duplicates = &repeated;
	struct bt_yaml_reader *reader = bt_yaml_reader_create(call->request.body, &limits);
	int result = bt_yaml_next_document(reader, &call->yaml, &more, NULL, &err);
	bt_yaml_reader_destroy(reader);
	call->repeated_keys = bt_arena_str(&call->arena, bt_strbuf_str(&repeated));
	bt_strbuf_finish(&repeated);
	if (result == 0 && call->repeated_keys.length != 0 &&
		call->api.field_validation == BT_FIELD_VALIDATION_STRICT) {
		const char *kind = expected_kind(call);
		(void)bt_fail_bad_request(&call->failure, &call->arena,
			"%s in version \"%s\" cannot be handled as a %s: strict decoding error: "
			"yaml: unmarshal errors:%.*s",
			kind, call->route.resource->version, kind, BT_STR_ARG(call->repeated_keys));
		return false;
	}
	if (result != 0) {
		(void)refuse_syntax(call, call->request.body, berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	return decode_json(call, more ? bt_strbuf_str(&call->yaml) : BT_STR(""), out_body);
}
#else
static bool decode_yaml(struct bt_front_call *call, struct bt_json_value **out_body)
{
	/* JSON is valid YAML */
	return decode_json(call, call->request.body, out_body);
}
#endif

static bool decode_protobuf(struct bt_front_call *call, struct bt_json_value **out_body)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_envelope envelope;
	struct bt_arena *arena = &call->arena;
	int result = bt_envelope_decode(call->request.body, &envelope, &err);
	if (result == 0) {
		const struct bt_schema_message *message =
			bt_schema_find(envelope.api_version, envelope.kind);
		if (message == NULL) {
			struct bt_str version = bt_str_sub(envelope.api_version, 0, 256);
			struct bt_str kind = bt_str_sub(envelope.kind, 0, 256);
			(void)bt_fail_bad_request(&call->failure, arena,
				"no kind \"%.*s\" is registered for version \"%.*s\"",
				BT_STR_ARG(kind), BT_STR_ARG(version));
			return false;
		}
		result = bt_schema_decode_protobuf(message, envelope.raw, arena, out_body, &err);
	}
	if (result != 0) {
		(void)bt_fail_bad_request(&call->failure, arena,
			"the object provided is unrecognized (must be of type %s): %s",
			expected_kind(call), berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	bt_json_set_str(arena, *out_body, "kind", bt_arena_str(arena, envelope.kind));
	bt_json_set_str(arena, *out_body, "apiVersion", bt_arena_str(arena, envelope.api_version));
	return true;
}

static bool starts_as_json(struct bt_str body)
{
	for (uint32_t i = 0; i < body.length; i++) {
		char byte = body.data[i];
		if (byte != ' ' && byte != '\t' && byte != '\r' && byte != '\n') {
			return byte == '{';
		}
	}
	return false;
}

static bool decode_any(
	struct bt_front_call *call, enum bt_body_media media, struct bt_json_value **out_body)
{
	switch (media) {
	case BT_BODY_JSON:
	case BT_BODY_JSON_PATCH:
	case BT_BODY_MERGE_PATCH:
	case BT_BODY_STRATEGIC_PATCH:
		return decode_json(call, call->request.body, out_body);
	case BT_BODY_APPLY_PATCH:
		if (starts_as_json(call->request.body)) {
			return decode_json(call, call->request.body, out_body);
		}
		return decode_yaml(call, out_body);
	case BT_BODY_YAML:
		return decode_yaml(call, out_body);
	case BT_BODY_PROTOBUF:
		return decode_protobuf(call, out_body);
	case BT_BODY_OTHER:
		break;
	}
	(void)bt_fail(&call->failure, &call->arena, 415, "UnsupportedMediaType",
		"the body of the request was in an unknown format - accepted media types include: "
		"application/json, application/yaml, application/vnd.kubernetes.protobuf");
	return false;
}

bool bt_front_decode(
	struct bt_front_call *call, enum bt_body_media media, struct bt_json_value **out_body)
{
	struct bt_json_value *body = NULL;
	bool may_be_absent = call->verb != BT_VERB_CREATE && call->verb != BT_VERB_UPDATE &&
		call->verb != BT_VERB_PATCH;
	*out_body = NULL;
	if (call->request.body.length == 0 && may_be_absent) {
		return true;
	}
	if (!decode_any(call, media, &body)) {
		return false;
	}
	if (media != BT_BODY_JSON_PATCH && body->type != BT_JSON_OBJECT) {
		(void)bt_fail_bad_request(&call->failure, &call->arena,
			"json: cannot unmarshal %s into Go value of type %s",
			bt_json_type_name(body->type), expected_kind(call));
		return false;
	}
	*out_body = body;
	return true;
}
