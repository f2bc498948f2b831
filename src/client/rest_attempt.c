/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/rest_private.h"
#include "codec/json_edit.h"

bool bt_rest_writes_protobuf(const struct bt_rest_client *client)
{
	return client->writes_protobuf;
}

static bool is_unreserved(char byte)
{
	return bt_is_digit(byte) || bt_is_letter(byte) || byte == '-' || byte == '_' ||
		byte == '.' || byte == '~';
}

void bt_rest_append_segment(struct bt_strbuf *out, struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if (is_unreserved(byte) || byte == ':' || byte == '@' || byte == '$' ||
			byte == '&' || byte == '+' || byte == '=') {
			bt_strbuf_append_char(out, byte);
		} else {
			bt_strbuf_printf(out, "%%%02X", (unsigned int)(unsigned char)byte);
		}
	}
}

void bt_rest_append_object(
	struct bt_strbuf *out, struct bt_str namespace_, struct bt_str resource, struct bt_str name)
{
	if (namespace_.length != 0) {
		bt_strbuf_append_c(out, "/namespaces/");
		bt_rest_append_segment(out, namespace_);
	}
	bt_strbuf_append_char(out, '/');
	bt_rest_append_segment(out, resource);
	if (name.length != 0) {
		bt_strbuf_append_char(out, '/');
		bt_rest_append_segment(out, name);
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
			bt_strbuf_printf(out, "%%%02X", (unsigned int)(unsigned char)value.data[i]);
		}
	}
}

struct bt_str bt_rest_encode_body(const struct bt_rest_client *client,
	const struct bt_json_value *value, struct bt_strbuf *out)
{
	struct bt_str api_version = bt_json_find_str(value, "apiVersion");
	struct bt_str kind = bt_json_find_str(value, "kind");
	const struct bt_schema_message *message = NULL;

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
	bt_json_format(value, out);
	return BT_STR(BT_MEDIA_JSON);
}

/**
 * Returns the media type without parameters: "application/json" of "application/json;
 * charset=utf-8".
 */
static struct bt_str media_type_of(struct bt_str content_type)
{
	return bt_str_trim(bt_str_cut(&content_type, ';'), BT_STR_SPACE);
}

bool bt_media_type_is(struct bt_str content_type, const char *media_type)
{
	return bt_str_equal_without_case(media_type_of(content_type), bt_str_from(media_type));
}

int bt_rest_decode_body(const struct bt_rest_answer *answer, struct bt_arena *arena,
	struct bt_json_value **out_value, struct berth_error *err)
{
	static const char magic[] = {'k', '8', 's', 0};
	struct bt_str body = answer->body;
	bool is_protobuf = bt_media_type_is(answer->content_type, BT_MEDIA_PROTOBUF);

	/* detect protobuf if the server sends no content type */
	if (answer->content_type.length == 0 && body.length >= sizeof(magic)) {
		is_protobuf = memcmp(body.data, magic, sizeof(magic)) == 0;
	}
	if (!is_protobuf) {
		return bt_json_parse(arena, body, false, out_value, err);
	}
	struct bt_json_value *object = NULL;
	struct bt_envelope envelope;
	int code = bt_envelope_decode(body, &envelope, err);
	if (code != 0) {
		return code;
	}
	const struct bt_schema_message *message =
		bt_schema_find(envelope.api_version, envelope.kind);
	if (message == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no kind \"%.*s\" is registered for version \"%.*s\"",
			BT_STR_ARG(envelope.kind), BT_STR_ARG(envelope.api_version));
	}
	code = bt_schema_decode_protobuf(message, envelope.raw, arena, &object, err);
	if (code != 0) {
		return code;
	}
	/* Add kind and apiVersion in front, as in the object's JSON form. */
	struct bt_json_value *value = BT_ARENA_NEW(arena, struct bt_json_value);
	value->type = BT_JSON_OBJECT;
	value->count = object->count + 2;
	value->capacity = value->count;
	value->members = BT_ARENA_NEW_ARRAY(arena, struct bt_json_member, value->count);
	value->members[0] =
		(struct bt_json_member){BT_STR("kind"), bt_json_new_str(arena, envelope.kind)};
	value->members[1] = (struct bt_json_member){
		BT_STR("apiVersion"), bt_json_new_str(arena, envelope.api_version)};
	if (object->count != 0) {
		memcpy(value->members + 2, object->members,
			object->count * sizeof(*value->members));
	}
	*out_value = value;
	return 0;
}

/** --- turning answers into errors: spec 13 sections 9.1 to 9.3 --- */

/** Limit of body text in a message. */
#define BODY_TEXT_BYTES_MAX 2048
/** A successful answer is searched for a Status only up to this size, because a Status is small. */
#define GOOD_STATUS_BYTES_MAX 65536

static const struct {
	const char *reason;
	enum bt_rest_class class_;
	uint16_t code;    /* code that implies the class, or 0 */
	const char *text; /* message for this code if the body is not a Status; NULL: computed */
} classes[] = {
	{"BadRequest", BT_REST_BAD_REQUEST, 400,
		"the server rejected our request for an unknown reason"},
	{"Unauthorized", BT_REST_UNAUTHORIZED, 401,
		"the server has asked for the client to provide credentials"},
	{"Forbidden", BT_REST_FORBIDDEN, 403, NULL},
	{"NotFound", BT_REST_NOT_FOUND, 404, "the server could not find the requested resource"},
	{"MethodNotAllowed", BT_REST_METHOD_NOT_ALLOWED, 405,
		"the server does not allow this method on the requested resource"},
	{"NotAcceptable", BT_REST_NOT_ACCEPTABLE, 406, NULL},
	{"AlreadyExists", BT_REST_ALREADY_EXISTS, 0, NULL},
	{"Conflict", BT_REST_CONFLICT, 409, "the server reported a conflict"},
	{"Gone", BT_REST_GONE, 410, NULL},
	{"Expired", BT_REST_EXPIRED, 0, NULL},
	{"RequestEntityTooLarge", BT_REST_TOO_LARGE, 413, NULL},
	{"UnsupportedMediaType", BT_REST_UNSUPPORTED_MEDIA_TYPE, 415, NULL},
	{"Invalid", BT_REST_INVALID, 422,
		"the server rejected our request due to an error in our request"},
	{"TooManyRequests", BT_REST_TOO_MANY_REQUESTS, 429,
		"the server has received too many requests and has asked us to try again later"},
	{"InternalError", BT_REST_INTERNAL_ERROR, 500, NULL},
	{"ServerTimeout", BT_REST_SERVER_TIMEOUT, 0, NULL},
	{"ServiceUnavailable", BT_REST_SERVICE_UNAVAILABLE, 503,
		"the server is currently unable to handle the request"},
	{"Timeout", BT_REST_TIMEOUT, 504,
		"the server was unable to return a response in the time allotted, but may still be "
		"processing the request"},
	{"StorageReadError", BT_REST_OTHER, 0, NULL},
};

/* Returns the class that the reason implies, or else the class that the code implies. */
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

static struct bt_str text_at(
	const struct bt_json_value *value, const char *name, struct bt_arena *arena)
{
	struct bt_str text = bt_json_find_str(value, name);

	return text.data != NULL ? bt_arena_str(arena, text) : BT_STR("");
}

/*
 * Copies class, message, reason and the other fields of a Status in the body to answer. Returns
 * false and changes nothing if the body is not a Status, or is a Status of a success.
 */
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
	bool is_too_large = bt_str_find(answer->message, BT_STR("Too large resource version")) >= 0;
	const struct bt_json_value *causes = bt_json_find_path(value, "details.causes");
	for (uint32_t i = 0; causes != NULL && causes->type == BT_JSON_ARRAY && i < causes->count;
		i++) {
		is_too_large = is_too_large ||
			bt_str_equal_c(bt_json_find_str(causes->elements[i], "reason"),
				"ResourceVersionTooLarge");
	}
	answer->too_large_resource_version = is_too_large && answer->class_ == BT_REST_TIMEOUT;
	if (answer->message.length == 0) {
		answer->message = answer->reason.length != 0 ? answer->reason : BT_STR("unknown");
	}
	return true;
}

/* Returns the text of a body that is not a Status; "unknown" if the body is not text. */
static struct bt_str body_text(const struct bt_rest_answer *answer)
{
	struct bt_str type = media_type_of(answer->content_type);

	if (type.length != 0 &&
		!bt_str_equal_without_case(bt_str_sub(type, 0, 5), BT_STR("text/"))) {
		return BT_STR("unknown");
	}
	return bt_str_trim(bt_str_sub(answer->body, 0, BODY_TEXT_BYTES_MAX), BT_STR_SPACE);
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
		const char *fixed = NULL;

		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(classes); i++) {
			fixed = classes[i].code == answer->code ? classes[i].text : fixed;
		}
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
			struct bt_str group = subject->path;
			if (bt_str_has_prefix(group, BT_STR("/apis/"))) {
				group = bt_str_sub(group, 6, BT_STR_MAX);
				bt_strbuf_append_char(&text, '.');
				bt_strbuf_append_str(&text, bt_str_cut(&group, '/'));
			}
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
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(classes); i++) {
			if (classes[i].class_ == answer->class_ &&
				answer->class_ != BT_REST_OTHER) {
				answer->reason = bt_str_from(classes[i].reason);
				break;
			}
		}
	}
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

/* Limit of a collected body; the largest are lists of a whole cluster. */
#define BODY_BYTES_MAX (UINT64_C(1) << 30)
/* Limit of the kept body of a refused stream. */
#define ERROR_BODY_BYTES_MAX ((size_t)1 << 20)

/* Limits of server texts in a log line. */
#define MESSAGE_BYTES_MAX 1024
#define AUDIT_ID_BYTES_MAX 64

void bt_rest_append_url(const struct bt_rest_call *call, struct bt_strbuf *out)
{
	bt_strbuf_append_str(out, bt_transport_config(call->client->transport)->base_url);
	bt_strbuf_append_str(out, call->path);
	if (call->query.length != 0) {
		bt_strbuf_append_char(out, '?');
		bt_strbuf_append_str(out, call->query);
	}
}

/* Appends an error in Go's format: `Post "https://host/path": EOF`. */
static void append_failure(
	const struct bt_rest_call *call, const char *message, struct bt_strbuf *out)
{
	struct bt_strbuf url = {0};

	bt_strbuf_append_char(out, call->method[0]);
	bt_strbuf_append_lower(out, bt_str_from(call->method + 1));
	bt_rest_append_url(call, &url);
	bt_strbuf_append_char(out, ' ');
	bt_strbuf_append_quoted(out, bt_strbuf_str(&url));
	bt_strbuf_printf(out, ": %s", message);
	bt_strbuf_finish(&url);
}

/* Cuts a quoted text with its quotes off the value; false: there is none. text may be NULL. */
static bool cut_quoted(struct bt_str *value, struct bt_strbuf *text)
{
	uint32_t i = 1;

	if (value->length == 0 || value->data[0] != '"') {
		return false;
	}
	for (; i < value->length && value->data[i] != '"'; i++) {
		i += value->data[i] == '\\' && i + 1 < value->length ? 1 : 0;
		if (text != NULL) {
			bt_strbuf_append_char(text, value->data[i]);
		}
	}
	bool is_closed = i < value->length;
	*value = bt_str_trim(bt_str_sub(*value, i + 1, BT_STR_MAX), " ");
	return is_closed;
}

/*
 * Logs the texts of a Warning header, which is a list of `299 - "text"` (with escapes), each with
 * an optional date; ignores other codes, and the rest of the list after a syntax error. Spec: 13
 * section 9.5.
 */
static void take_warnings(void *context, struct bt_str value)
{
	struct bt_strbuf *text = context;

	while (value.length != 0) {
		struct bt_str code = bt_str_cut(&value, ' ');
		(void)bt_str_cut(&value, ' '); /* the agent */
		bt_strbuf_reset(text);
		if (!cut_quoted(&value, text)) {
			return;
		}
		(void)cut_quoted(&value, NULL); /* the date */
		if (bt_str_equal_c(code, "299")) {
			BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING, "Warning: %s", bt_strbuf_c(text));
		}
		value = bt_str_trim(value, " ,");
	}
}

static void schedule_resend(struct bt_rest_call *call, uint16_t code, int64_t wait_ns)
{
	int64_t now_ns = bt_loop_now_ns(call->client->loop);
	int64_t at_ns;

	call->resends++;
	bt_strbuf_reset(&call->error_body);
	bt_rest_metrics_resent(&call->client->metrics, call->verb, code);
	if (BT_ADD_OVERFLOW(now_ns, wait_ns, &at_ns)) {
		at_ns = INT64_MAX;
	}
	call->state = BT_REST_DELAYED;
	bt_heap_push(&call->client->delayed, call->slot, at_ns, 0);
	bt_loop_call_at(call->client->loop, at_ns);
}

/* Returns whether the call may wait and be sent again: the timeout covers all attempts. */
static bool may_resend(const struct bt_rest_call *call, int64_t wait_ns)
{
	return call->resends < BT_REST_RESENDS_MAX &&
		wait_ns < call->deadline_ns - bt_loop_now_ns(call->client->loop);
}

/* Schedules a retry after a response if the server asks for it; false: the call ends. */
static bool resend_answered(
	struct bt_rest_call *call, const struct bt_http_transfer *transfer, uint16_t code)
{
	int64_t seconds;
	struct bt_strbuf text = {0};

	/* Only whole seconds count, no dates. Spec: 13 section 7.4. */
	if ((code != 429 && code < 500) ||
		!bt_str_parse_int64(bt_http_transfer_header(transfer, "Retry-After"), &seconds)) {
		return false;
	}
	seconds = seconds > 0 ? seconds : 0;
	if (!may_resend(call, bt_ns_of_seconds(seconds)) ||
		(call->client->may_wait != NULL &&
			!call->client->may_wait(
				call->client->may_wait_context, bt_ns_of_seconds(seconds)))) {
		return false;
	}
	if (BT_LOG_ENABLED(4)) {
		bt_strbuf_printf(&text, "Got a Retry-After %lld response for attempt %d to ",
			(long long)seconds, call->resends + 1);
		bt_rest_append_url(call, &text);
		bt_log_text(BT_LOG_SEVERITY_INFO, 4, __FILE__, __LINE__, "%s", bt_strbuf_c(&text));
		bt_strbuf_finish(&text);
	}
	bt_free(call->previous);
	call->previous = NULL;
	schedule_resend(call, code, bt_ns_of_seconds(seconds));
	return true;
}

static bool is_end_of_file(const struct bt_rest_call *call, const struct bt_http_outcome *outcome)
{
	return outcome->failure == BT_HTTP_FAILURE_RESET ||
		(call->is_watch && outcome->failure == BT_HTTP_FAILURE_TIMEOUT);
}

/* Schedules a retry if there was no response and a retry is safe; false: the call ends. */
static bool resend_failed(struct bt_rest_call *call, const struct bt_http_outcome *outcome)
{
	struct bt_strbuf text = {0};

	if (outcome->answered || !bt_str_equal_c(bt_str_from(call->method), "GET") ||
		!is_end_of_file(call, outcome) || !may_resend(call, BT_NS_PER_SECOND)) {
		return false;
	}
	append_failure(call, outcome->message, &text);
	bt_free(call->previous);
	call->previous = bt_strbuf_steal(&text);
	schedule_resend(call, 0, BT_NS_PER_SECOND);
	return true;
}

/*
 * Logs a failed request with the audit ID that identifies it in the server's audit log. Spec 13
 * section 7.7.
 */
static void log_refusal(const struct bt_rest_call *call, const struct bt_http_transfer *transfer,
	const struct bt_rest_answer *answer)
{
	struct bt_str audit = bt_http_transfer_header(transfer, "Audit-Id");
	struct bt_strbuf url = {0};

	if (answer->class_ == BT_REST_OK || !BT_LOG_ENABLED(2)) {
		return;
	}
	bt_rest_append_url(call, &url);
	BT_LOG_INFO(2, "Request failed", BT_LOG_CSTR("verb", call->method),
		BT_LOG_STR("URL", bt_strbuf_str(&url)), BT_LOG_INT("code", answer->code),
		BT_LOG_STR("err", bt_str_sub(answer->message, 0, MESSAGE_BYTES_MAX)),
		BT_LOG_STR("auditID", bt_str_sub(audit, 0, AUDIT_ID_BYTES_MAX)));
	bt_strbuf_finish(&url);
}

static void count_attempt(struct bt_rest_call *call, const struct bt_http_outcome *outcome)
{
	int64_t duration_ns =
		call->is_watch ? -1 : bt_loop_now_ns(call->client->loop) - call->sent_at_ns;

	if (call->is_watch && call->opened) {
		return; /* counted when it was opened */
	}
	bt_rest_metrics_ended(&call->client->metrics, call->verb,
		outcome->answered ? outcome->code : 0, duration_ns, call->body.length,
		outcome->body.length + call->received_bytes);
	call->received_bytes = 0;
}

static void attempt_done(
	void *context, struct bt_http_transfer *transfer, const struct bt_http_outcome *outcome)
{
	struct bt_rest_call *call = context;
	bool failed = outcome->failure != BT_HTTP_FAILURE_NONE;

	bt_transport_ended(&call->transport, outcome);
	count_attempt(call, outcome);
	if (!failed) {
		struct bt_strbuf text = {0};

		bt_http_transfer_each_header(transfer, "Warning", take_warnings, &text);
		bt_strbuf_finish(&text);
		if (call->opened || !resend_answered(call, transfer, outcome->code)) {
			struct bt_str body = call->handler.opened != NULL
				? bt_strbuf_str(&call->error_body)
				: outcome->body;
			const struct bt_status_subject subject = {
				call->method, call->path, call->resource, call->name};
			struct bt_arena arena = {0};
			struct bt_rest_answer answer = {
				.code = outcome->code,
				.sent = true,
				.body = body,
				.content_type = bt_http_transfer_header(transfer, "Content-Type"),
			};

			if (call->opened) {
				answer.body = BT_STR("");
			}
			bt_status_classify(&subject, &arena, &answer);
			log_refusal(call, transfer, &answer);
			bt_rest_finish_call(call, &answer);
			bt_arena_finish(&arena);
		}
	} else if (call->opened || !resend_failed(call, outcome)) {
		if (call->is_watch && !outcome->answered && is_end_of_file(call, outcome)) {
			/*
			 * If the connection is lost before the watch opens, the watch counts as
			 * opened and ended at once.
			 */
			const struct bt_rest_answer answer = {.class_ = BT_REST_OK,
				.code = 200,
				.sent = true,
				.content_type = BT_STR("application/json"),
				.body = BT_STR(""),
				.message = BT_STR(""),
				.reason = BT_STR(""),
				.continue_token = BT_STR("")};

			bt_rest_finish_call(call, &answer);
		} else {
			struct bt_strbuf text = {0};
			struct bt_rest_answer answer = {
				.class_ = BT_REST_TRANSPORT,
				.failure = outcome->failure,
				.sent = outcome->sent,
				.code = outcome->answered ? outcome->code : 0,
				.content_type = BT_STR(""),
				.body = BT_STR(""),
				.reason = BT_STR(""),
				.continue_token = BT_STR(""),
			};

			append_failure(call, outcome->message, &text);
			if (call->previous != NULL &&
				!bt_str_equal_c(bt_strbuf_str(&text), call->previous)) {
				bt_strbuf_printf(&text, " - error from a previous attempt: %s",
					call->previous);
			}
			answer.message = bt_strbuf_str(&text);
			bt_rest_finish_call(call, &answer);
			bt_strbuf_finish(&text);
		}
	}
}

static bool may_send(void *context)
{
	const struct bt_rest_call *call = context;

	return call->may_send(call->handler.context);
}

static void stream_head(void *context, struct bt_http_transfer *transfer, uint16_t code)
{
	struct bt_rest_call *call = context;

	call->opened = code >= 200 && code < 300;
	if (call->opened) {
		if (call->is_watch) {
			/* count watches when they open: they end only after many minutes */
			bt_rest_metrics_ended(&call->client->metrics, call->verb, code, -1, 0, 0);
		}
		call->handler.opened(call->handler.context, call,
			bt_http_transfer_header(transfer, "Content-Type"));
	}
}

static void stream_data(void *context, struct bt_http_transfer *transfer, struct bt_str bytes)
{
	struct bt_rest_call *call = context;
	struct bt_strbuf *kept = &call->error_body;

	(void)transfer; /* the call identifies the transfer */
	call->received_bytes += bytes.length;
	if (call->opened) {
		call->handler.data(call->handler.context, call, bytes);
	} else if (kept->length < ERROR_BODY_BYTES_MAX) {
		size_t room = ERROR_BODY_BYTES_MAX - kept->length;
		bt_strbuf_append(kept, bytes.data, BT_MIN(bytes.length, room));
	}
}

void bt_rest_send(struct bt_rest_call *call)
{
	struct bt_rest_client *client = call->client;
	bool is_stream = call->handler.opened != NULL;
	bool has_type = call->body.length != 0 || call->content_type.length != 0;
	struct bt_http_header *headers = call->headers;

	call->transport = (struct bt_transport_call){
		.request = {.method = call->method,
			.path = call->path,
			.query = call->query,
			.headers = headers,
			.header_count = has_type ? 3 : 2,
			.body = call->body.length != 0 ? call->body : (struct bt_str){0},
			.is_endless = call->is_watch,
			.body_bytes_max = is_stream ? 0 : BODY_BYTES_MAX,
			.handler = {.context = call,
				.may_send = call->may_send != NULL ? may_send : NULL,
				.head = is_stream ? stream_head : NULL,
				.data = is_stream ? stream_data : NULL,
				.done = attempt_done}},
	};
	memcpy(headers, client->headers, sizeof(call->headers));
	if (call->accept.length != 0) {
		headers[1].value = call->accept;
	}
	if (call->content_type.length != 0) {
		headers[2].value = call->content_type;
	}
	call->state = BT_REST_RUNNING;
	call->sent_at_ns = bt_loop_now_ns(client->loop);
	if (call->resends == 0) {
		call->deadline_ns = call->is_watch || client->timeout_ns <= 0
			? INT64_MAX
			: call->sent_at_ns + client->timeout_ns;
	}
	if (call->deadline_ns != INT64_MAX) {
		/* at least 1 ns: the limiter may have held the call beyond its deadline */
		call->transport.request.timeout_ns =
			BT_MAX(call->deadline_ns - call->sent_at_ns, 1);
	}
	bt_transport_start(client->transport, &call->transport);
}
