/* SPDX-License-Identifier: Apache-2.0 */
#include "client/status.h"

/** Limit of body text in a message. */
#define BODY_TEXT_BYTES_MAX 2048
/** A successful answer is searched for a Status only up to this size, because a Status is small. */
#define GOOD_STATUS_BYTES_MAX 65536

static const struct {
	const char *reason;
	enum bt_rest_class class_;
	uint16_t code; /* code that implies the class, or 0 */
} classes[] = {
	{"BadRequest", BT_REST_BAD_REQUEST, 400},
	{"Unauthorized", BT_REST_UNAUTHORIZED, 401},
	{"Forbidden", BT_REST_FORBIDDEN, 403},
	{"NotFound", BT_REST_NOT_FOUND, 404},
	{"MethodNotAllowed", BT_REST_METHOD_NOT_ALLOWED, 405},
	{"NotAcceptable", BT_REST_NOT_ACCEPTABLE, 406},
	{"AlreadyExists", BT_REST_ALREADY_EXISTS, 0},
	{"Conflict", BT_REST_CONFLICT, 409},
	{"Gone", BT_REST_GONE, 410},
	{"Expired", BT_REST_EXPIRED, 0},
	{"RequestEntityTooLarge", BT_REST_TOO_LARGE, 413},
	{"UnsupportedMediaType", BT_REST_UNSUPPORTED_MEDIA_TYPE, 415},
	{"Invalid", BT_REST_INVALID, 422},
	{"TooManyRequests", BT_REST_TOO_MANY_REQUESTS, 429},
	{"InternalError", BT_REST_INTERNAL_ERROR, 500},
	{"ServerTimeout", BT_REST_SERVER_TIMEOUT, 0},
	{"ServiceUnavailable", BT_REST_SERVICE_UNAVAILABLE, 503},
	{"Timeout", BT_REST_TIMEOUT, 504},
	{"StorageReadError", BT_REST_OTHER, 0},
};

/* Class by reason, else by code. */
static enum bt_rest_class class_of(struct bt_str reason, int64_t code)
{
	enum bt_rest_class by_code = BT_REST_OTHER;

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(classes); i++) {
		if (bt_str_equal_c(reason, classes[i].reason)) {
			return classes[i].class_;
		}
		if (classes[i].code != 0 && classes[i].code == code) {
			by_code = classes[i].class_;
		}
	}
	return by_code;
}

static struct bt_str reason_of(enum bt_rest_class wanted)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(classes); i++) {
		if (classes[i].class_ == wanted && wanted != BT_REST_OTHER) {
			return bt_str_from(classes[i].reason);
		}
	}
	return BT_STR("");
}

/* Media type without parameters: "application/json" of "application/json; charset=utf-8". */
static struct bt_str media_type_of(struct bt_str content_type)
{
	int64_t end = bt_str_find_char(content_type, ';');

	return bt_str_trim(
		bt_str_sub(content_type, 0, end >= 0 ? (uint32_t)end : content_type.length),
		BT_STR_SPACE);
}

bool bt_media_type_is(struct bt_str content_type, const char *media_type)
{
	return bt_str_equal_without_case(media_type_of(content_type), bt_str_from(media_type));
}

static struct bt_str text_at(
	const struct bt_json_value *value, const char *name, struct bt_arena *arena)
{
	struct bt_str text = bt_json_find_str(value, name);

	return text.data != NULL ? bt_arena_str(arena, text) : BT_STR("");
}

static bool has_too_large_cause(const struct bt_json_value *status)
{
	const struct bt_json_value *causes = bt_json_find_path(status, "details.causes");

	for (uint32_t i = 0; causes != NULL && causes->type == BT_JSON_ARRAY && i < causes->count;
		i++) {
		if (bt_str_equal_c(bt_json_find_str(causes->elements[i], "reason"),
			    "ResourceVersionTooLarge")) {
			return true;
		}
	}
	return false;
}

/* Returns true if the body is a Status other than Success. */
static bool read_status(struct bt_arena *arena, struct bt_rest_answer *answer)
{
	struct bt_json_value *value = NULL;

	if (answer->body.length == 0 || bt_rest_decode_body(answer, arena, &value, NULL) != 0 ||
		!bt_str_equal_c(bt_json_find_str(value, "kind"), "Status") ||
		bt_str_equal_c(bt_json_find_str(value, "status"), "Success")) {
		return false;
	}
	const struct bt_json_value *code = bt_json_find(value, "code");
	int64_t number = 0;

	if (code == NULL || code->type != BT_JSON_NUMBER ||
		!bt_json_number_int64(code->text, &number) || number == 0) {
		number = answer->code;
	}
	answer->message = text_at(value, "message", arena);
	answer->reason = text_at(value, "reason", arena);
	answer->continue_token = text_at(bt_json_find(value, "metadata"), "continue", arena);
	answer->class_ = class_of(answer->reason, number);
	answer->too_large_resource_version = answer->class_ == BT_REST_TIMEOUT &&
		(has_too_large_cause(value) ||
			bt_str_find(answer->message, BT_STR("Too large resource version")) >= 0);
	if (answer->message.length == 0) {
		answer->message = answer->reason.length != 0 ? answer->reason : BT_STR("unknown");
	}
	return true;
}

/* Text of a body that is not a Status; "unknown" if the body is not text. */
static struct bt_str body_text(const struct bt_rest_answer *answer)
{
	struct bt_str type = media_type_of(answer->content_type);

	if (type.length != 0 &&
		!bt_str_equal_without_case(bt_str_sub(type, 0, 5), BT_STR("text/"))) {
		return BT_STR("unknown");
	}
	return bt_str_trim(bt_str_sub(answer->body, 0, BODY_TEXT_BYTES_MAX), BT_STR_SPACE);
}

static const char *fixed_text(uint16_t code)
{
	switch (code) {
	case 400:
		return "the server rejected our request for an unknown reason";
	case 401:
		return "the server has asked for the client to provide credentials";
	case 404:
		return "the server could not find the requested resource";
	case 405:
		return "the server does not allow this method on the requested resource";
	case 409:
		return "the server reported a conflict";
	case 422:
		return "the server rejected our request due to an error in our request";
	case 429:
		return "the server has received too many requests and has asked us to try again "
		       "later";
	case 503:
		return "the server is currently unable to handle the request";
	case 504:
		return "the server was unable to return a response in the time allotted, but may "
		       "still be processing the request";
	default:
		return NULL;
	}
}

void bt_status_classify(const struct bt_status_subject *subject, struct bt_arena *arena,
	struct bt_rest_answer *answer)
{
	bool is_good = answer->code >= 200 && answer->code < 300;

	answer->class_ = BT_REST_OK;
	answer->message = BT_STR("");
	answer->reason = BT_STR("");
	answer->continue_token = BT_STR("");
	/* in a successful answer, skip bodies that cannot be a Status */
	if (is_good &&
		!(answer->body.length <= GOOD_STATUS_BYTES_MAX &&
			bt_str_find(answer->body, BT_STR("Status")) >= 0)) {
		return;
	}
	if (!read_status(arena, answer) && !is_good) {
		struct bt_strbuf text = {0};

		const char *fixed = fixed_text(answer->code);

		if (fixed != NULL) {
			bt_strbuf_append_c(&text, fixed);
		} else if (answer->code == 403 || answer->code == 406 || answer->code == 415) {
			bt_strbuf_append_str(&text, body_text(answer));
		} else if (answer->code >= 500) {
			bt_strbuf_append_c(&text, "an error on the server (");
			bt_strbuf_append_quoted(&text, body_text(answer));
			bt_strbuf_append_c(&text, ") has prevented the request from succeeding");
		} else {
			bt_strbuf_printf(&text,
				"the server responded with the status code %d but did not return "
				"more "
				"information",
				answer->code);
		}
		if (subject->resource.length != 0) {
			bt_strbuf_append_c(&text, " (");
			bt_strbuf_append_lower(&text, bt_str_from(subject->method));
			bt_strbuf_append_char(&text, ' ');
			bt_strbuf_append_str(&text, subject->resource);
			if (subject->name.length != 0) {
				bt_strbuf_append_char(&text, ' ');
				bt_strbuf_append_str(&text, subject->name);
			}
			bt_strbuf_append_char(&text, ')');
		}
		answer->message = bt_arena_take_strbuf(arena, &text);
		answer->class_ = class_of(BT_STR(""), answer->code);
		if (answer->code == 409 && bt_str_equal_c(bt_str_from(subject->method), "POST")) {
			answer->class_ = BT_REST_ALREADY_EXISTS;
		} else if (answer->class_ == BT_REST_OTHER && answer->code >= 500) {
			answer->class_ = BT_REST_INTERNAL_ERROR;
		}
		answer->reason = reason_of(answer->class_);
	}
}
