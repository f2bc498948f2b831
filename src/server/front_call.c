/* SPDX-License-Identifier: Apache-2.0 */
/** Turns requests for resources into calls of the API. Spec: 14 sections 8, 9, 14 and 15. */
#include "base/assert.h"
#include "codec/json_edit.h"
#include "codec/yaml.h"
#include "server/front_private.h"
#include "server/service_account_token.h"
#include "server/strategy.h"

/** Decodes request bodies: JSON, YAML or protobuf become trees. Spec: 14 sections 8.1 and 9.3. */

/* Number of bytes of an invalid body that the message shows. */
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
		return bt_front_fail(call, 400, "BadRequest", "error decoding patch: %s", text);
	}
	if (body.length == 0) {
		bt_strbuf_append_c(&shown, "<empty>");
	}
	for (uint32_t i = 0; i < body.length && i < SHOWN_BYTES; i++) {
		bt_strbuf_printf(&shown, "%02x", (unsigned int)(unsigned char)body.data[i]);
	}
	(void)bt_front_fail(call, 400, "BadRequest",
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
		return bt_front_fail(call, 400, "BadRequest",
			"the body of the request nests deeper than %d levels", BT_API_DEPTH_MAX);
	}
	int result = bt_json_parse(&call->arena, text, false, out_body, &err);
	if (result == 0) {
		return true;
	}
	if (result == BERTH_ERR_TOO_LARGE) {
		(void)bt_front_fail(
			call, 413, "RequestEntityTooLarge", "%s", berth_error_message(&err));
	} else {
		(void)refuse_syntax(call, call->request.body, berth_error_message(&err));
	}
	berth_error_finish(&err);
	return false;
}

static bool decode_yaml(struct bt_front_call *call, struct bt_json_value **out_body)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_yaml_limits limits = {.output_bytes_max = 4 * (uint64_t)BT_API_BODY_BYTES_MAX};
	struct bt_strbuf repeated = {0};
	limits.duplicates = &repeated;
	int result = bt_yaml_first_document(call->request.body, &limits, &call->yaml, &err);
	call->repeated_keys = bt_arena_take_strbuf(&call->arena, &repeated);
	if (result == 0 && call->repeated_keys.length != 0 &&
		call->api.field_validation == BT_FIELD_VALIDATION_STRICT) {
		const char *kind = expected_kind(call);
		return bt_front_fail(call, 400, "BadRequest",
			"%s in version \"%s\" cannot be handled as a %s: strict decoding error: "
			"yaml: unmarshal errors:%.*s",
			kind, call->route.resource->version, kind, BT_STR_ARG(call->repeated_keys));
	}
	if (result != 0) {
		(void)refuse_syntax(call, call->request.body, berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	return decode_json(call, bt_strbuf_str(&call->yaml), out_body);
}

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
			return bt_front_fail(call, 400, "BadRequest",
				"no kind \"%.*s\" is registered for version \"%.*s\"",
				BT_STR_ARG(kind), BT_STR_ARG(version));
		}
		result = bt_schema_decode_protobuf(message, envelope.raw, arena, out_body, &err);
		call->api.is_normalised = true;
	}
	if (result != 0) {
		(void)bt_front_fail(call, 400, "BadRequest",
			"the object provided is unrecognized (must be of type %s): %s",
			expected_kind(call), berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	bt_json_set_str(arena, *out_body, "kind", bt_arena_str(arena, envelope.kind));
	bt_json_set_str(arena, *out_body, "apiVersion", bt_arena_str(arena, envelope.api_version));
	return true;
}

/** Parses the body into a tree (NULL: no body); false: sets call->failure. */
static bool decode(
	struct bt_front_call *call, enum bt_body_media media, struct bt_json_value **out_body)
{
	struct bt_str text = call->request.body;
	bool may_be_absent = call->verb != BT_VERB_CREATE && call->verb != BT_VERB_UPDATE &&
		call->verb != BT_VERB_PATCH;
	bool is_apply = media == BT_BODY_PATCH && call->api.patch_type == BT_PATCH_APPLY;
	bool is_list = media == BT_BODY_PATCH && call->api.patch_type == BT_PATCH_JSON;
	bool is_valid;
	*out_body = NULL;
	if (text.length == 0 && may_be_absent) {
		return true;
	}
	if (media == BT_BODY_OTHER) {
		return bt_front_fail(call, 415, "UnsupportedMediaType",
			"the body of the request was in an unknown format - accepted media types "
			"include: application/json, application/yaml, "
			"application/vnd.kubernetes.protobuf");
	}
	if (media == BT_BODY_PROTOBUF) {
		is_valid = decode_protobuf(call, out_body);
	} else if (media == BT_BODY_YAML ||
		(is_apply && !bt_str_has_prefix(bt_str_trim(text, " \t\r\n"), BT_STR("{")))) {
		is_valid = decode_yaml(call, out_body);
	} else {
		is_valid = decode_json(call, text, out_body);
	}
	if (is_valid && !is_list && (*out_body)->type != BT_JSON_OBJECT) {
		return bt_front_fail(call, 400, "BadRequest",
			"json: cannot unmarshal %s into Go value of type %s",
			bt_json_type_name((*out_body)->type), expected_kind(call));
	}
	return is_valid;
}

/* Lists up to this size are sent as one answer; longer lists are streamed as the client reads. */
#define GATHER_BYTES 262144
/*
 * The answer to a deletecollection may have any size, because the list holds all deleted objects in
 * memory anyway.
 */
#define GATHER_ALL ((size_t)1 << 40)
#define WARNING_BYTES_MAX 1024
/* Limits for Warning headers: some clients read no more than a hundred headers. */
#define WARNINGS_MAX 64
#define WARNINGS_BYTES_MAX 4096

/** --- the answer --- */

/* Adds a Warning header; false: the headers would exceed WARNINGS_BYTES_MAX. */
static bool add_warning(struct bt_front_call *call, struct bt_str text, uint32_t *bytes)
{
	struct bt_strbuf value = {0};
	text = bt_str_sub(text, 0, WARNING_BYTES_MAX);
	*bytes += text.length;
	if (*bytes > WARNINGS_BYTES_MAX) {
		return false;
	}
	bt_strbuf_append_c(&value, "299 - \"");
	for (uint32_t k = 0; k < text.length; k++) {
		if (text.data[k] == '"' || text.data[k] == '\\') {
			bt_strbuf_append_char(&value, '\\');
		}
		bt_strbuf_append_char(&value, text.data[k]);
	}
	bt_strbuf_append_char(&value, '"');
	bt_front_header(call, "Warning", bt_strbuf_str(&value));
	bt_strbuf_finish(&value);
	return true;
}

/* Warns about a kind, or a version that its CustomResourceDefinition calls deprecated. */
static void warn_deprecated(struct bt_front_call *call)
{
	const struct bt_api_resource *resource = call->route.resource;
	uint32_t bytes = 0;
	if (resource->group[0] == '\0' && strcmp(resource->name, "endpoints") == 0) {
		(void)add_warning(call,
			BT_STR("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 "
			       "EndpointSlice"),
			&bytes);
	} else if (resource->group[0] == '\0' && strcmp(resource->name, "componentstatuses") == 0) {
		(void)add_warning(
			call, BT_STR("v1 ComponentStatus is deprecated in v1.19+"), &bytes);
	}
	if (!bt_json_bool_at(resource->definition_version, "deprecated", false)) {
		return;
	}
	struct bt_str text = bt_json_text_at(resource->definition_version, "deprecationWarning");
	if (text.length == 0) {
		const struct bt_api_resource *preferred = bt_resources_of_collection(
			bt_api_resources(call->front->api), resource->collection);
		bool has_other =
			!bt_json_bool_at(preferred->definition_version, "deprecated", false);
		text = bt_arena_printf(&call->arena, "%s/%s %s is deprecated%s", resource->group,
			resource->version, resource->kind,
			!has_other ? ""
				   : bt_arena_printf(&call->arena, "; use %s/%s %s",
					     preferred->group, preferred->version, preferred->kind)
					     .data);
	}
	(void)add_warning(call, text, &bytes);
}

static void add_warnings(struct bt_front_call *call, const struct bt_api_answer *answer)
{
	struct bt_str rest = call->repeated_keys;
	uint32_t bytes = 0;
	uint32_t count = 0;
	while (rest.length != 0 && count < WARNINGS_MAX &&
		call->api.field_validation == BT_FIELD_VALIDATION_WARN) {
		struct bt_str line = bt_str_trim(bt_str_cut(&rest, '\n'), BT_STR_SPACE);
		if (line.length != 0 && !add_warning(call, line, &bytes)) {
			return;
		}
		count += line.length != 0;
	}
	for (uint32_t i = 0; i < answer->warning_count && count < WARNINGS_MAX; i++, count++) {
		if (!add_warning(call, answer->warnings[i], &bytes)) {
			return;
		}
	}
}

static void send_answer(struct bt_front_call *call, const struct bt_api_answer *answer)
{
	static const struct bt_api_resource scales = {.group = "autoscaling",
		.version = "v1",
		.name = "scales",
		.kind = "Scale",
		.strategy = &bt_strategy_custom};
	const struct bt_api_resource *resource = call->route.resource;
	struct bt_encoder encoder;
	if (answer->failure.code != 0) {
		call->failure = answer->failure;
		bt_front_send_failure(call);
		return;
	}
	if (answer->text.data != NULL) {
		bt_front_send_text(
			call, answer->code, bt_arena_str(&call->arena, answer->text).data);
		return;
	}
	if (call->route.subresource == BT_SUBRESOURCE_SCALE &&
		call->encoding.view == BT_VIEW_TABLE) {
		resource = &scales; /* the table has the columns of a Scale */
	} else if (answer->object == NULL &&
		((resource->flags & BT_RESOURCE_REVIEW) != 0 ||
			!bt_str_equal_c(
				bt_json_find_str(answer->document, "kind"), resource->kind))) {
		bt_front_send_document(call, answer->code, answer->document);
		return;
	}
	bt_encoder_init(&encoder, call->front->api, resource, &call->encoding);
	if (answer->object != NULL) {
		struct bt_str envelope =
			bt_watchers_find_envelope(call->front->watchers, &encoder, answer->object);
		if (envelope.length != 0) {
			bt_strbuf_append_str(&call->body, envelope);
		} else {
			bt_encode_object(&encoder, answer->object, &call->body);
		}
	} else {
		bt_encode_object_tree(&encoder, answer->document, &call->body);
	}
	bt_encoder_finish(&encoder);
	bt_front_send(call, answer->code, bt_media_content_type(call->encoding.media, false));
}

/*
 * Completes the answer to a TokenReview. The API has checked whether the token belongs to a
 * ServiceAccount; this function also accepts the configured tokens.
 */
static void review_token(struct bt_front_call *call, struct bt_json_value *review)
{
	struct bt_arena *arena = &call->arena;
	const struct bt_user *user =
		bt_front_user_of_token(call->front, bt_json_text_at(review, "spec.token"));
	const struct bt_json_value *wanted = bt_json_array_at(review, "spec.audiences");
	if (user == NULL ||
		(wanted->count != 0 && !bt_json_has_text(wanted, BT_STR(BT_TOKEN_ISSUER)))) {
		return;
	}
	bt_json_set_value(arena, review, "status",
		bt_json_put(arena, NULL, "{authenticated: true, user: %v, audiences: [%c]}",
			bt_user_info(user, arena), BT_TOKEN_ISSUER));
}

static void perform(struct bt_front_call *call)
{
	struct bt_api_answer answer;
	bt_api_perform(call->front->api, &call->api, &call->arena, &answer);
	add_warnings(call, &answer);
	if (answer.document != NULL && answer.failure.code == 0 &&
		bt_str_equal_c(BT_STR("TokenReview"), call->route.resource->kind)) {
		review_token(call, answer.document);
	}
	send_answer(call, &answer);
	bt_api_answer_finish(&answer);
}

/** --- single objects --- */

static void on_get_reached(void *context)
{
	struct bt_front_call *call = context;
	struct bt_api *api = call->front->api;
	call->wait = NULL;
	uint64_t rv = bt_get_future_rv(api, call->query.list.resource_version);
	if (rv != 0) {
		(void)bt_fail_future_rv(
			&call->failure, &call->arena, rv, bt_store_rv(bt_api_store(api)));
		bt_front_send_failure(call);
		return;
	}
	perform(call);
}

static void await(struct bt_front_call *call, uint64_t rv, void (*reached)(void *context))
{
	struct bt_front *front = call->front;
	if (rv == 0) {
		reached(call);
		return;
	}
	call->wait = bt_watchers_await(front->watchers, rv, bt_loop_now_ns(front->loop),
		BT_FUTURE_RV_WAIT_NS, reached, call);
}

/**
 * Reads the format of the body from Content-Type; false: the verb does not accept the format, and
 * call->failure is set.
 */
static bool read_media(struct bt_front_call *call, enum bt_body_media *out_media)
{
	*out_media = bt_body_media_parse(
		bt_front_find_header(call, "Content-Type"), &call->api.patch_type);
	bool is_patch = *out_media == BT_BODY_PATCH;
	if (call->verb == BT_VERB_PATCH) {
		return is_patch ||
			bt_front_fail(
				call, 415, "UnsupportedMediaType", "415: Unsupported Media Type");
	}
	*out_media = is_patch ? BT_BODY_OTHER : *out_media;
	return true;
}

static bool write_options(struct bt_front_call *call)
{
	const char *kind = call->verb == BT_VERB_CREATE ? "CreateOptions"
		: call->verb == BT_VERB_UPDATE          ? "UpdateOptions"
							: "PatchOptions";
	if (!bt_query_write_options(&call->query, kind, &call->arena, &call->api, &call->failure)) {
		return false;
	}
	struct bt_str agent = bt_front_find_header(call, "User-Agent");
	struct bt_str name = bt_str_cut(&agent, '/');
	call->api.user_agent = name.length != 0 ? bt_str_sub(name, 0, 128) : BT_STR("unknown");
	return true;
}

/** --- lists and watches --- */

static struct bt_list_request list_request(struct bt_front_call *call)
{
	struct bt_list_request request = {
		.api = call->front->api,
		.watchers = call->front->watchers,
		.resource = call->route.resource,
		.namespace_ = call->route.namespace_,
		.encoding = call->encoding,
		.parameters = call->query.list,
		.wake = bt_front_resume,
		.wake_context = call,
		.deletion = call->verb == BT_VERB_DELETE_COLLECTION ? &call->api : NULL,
	};
	return request;
}

static void send_list(struct bt_front_call *call, size_t gathered_bytes_max)
{
	struct bt_list *list = call->list;
	const char *type = bt_media_content_type(call->encoding.media, false);
	call->list = NULL;
	if (bt_list_gather(list, gathered_bytes_max)) {
		bt_list_take(list, &call->body);
		bt_front_send(call, 200, type);
		return;
	}
	struct bt_http_stream stream = {list, bt_list_read, bt_list_finish};
	bt_front_send_stream(call, type, &stream);
}

/* Deletes some objects per turn. Answers only after the last deletion, or after a failure. */
static void delete_some(void *context)
{
	struct bt_front_call *call = context;
	call->wait = NULL;
	if (bt_list_delete(call->list, &call->failure)) {
		call->wait = bt_watchers_await(
			call->front->watchers, 0, 0, INT64_MAX, delete_some, call);
	} else if (call->failure.code != 0) {
		bt_front_send_failure(call);
	} else {
		send_list(call, GATHER_ALL);
	}
}

static void open_list(void *context)
{
	struct bt_front_call *call = context;
	struct bt_list_request request = list_request(call);
	call->wait = NULL;
	if (!bt_list_open(&request, &call->arena, &call->list, &call->failure)) {
		bt_front_send_failure(call);
	} else if (request.deletion != NULL) {
		delete_some(call);
	} else {
		send_list(call, GATHER_BYTES);
	}
}

static void open_watch(void *context)
{
	struct bt_front_call *call = context;
	struct bt_front *front = call->front;
	struct bt_watch *watch;
	struct bt_list_request request = list_request(call);
	call->wait = NULL;
	if (bt_front_refuse_further(call) ||
		!bt_watch_open(&request, bt_loop_now_ns(front->loop), &call->arena, &watch,
			&call->failure)) {
		bt_front_send_failure(call);
		return;
	}
	struct bt_http_stream stream = {watch, bt_watch_read, bt_watch_finish};
	bt_front_send_stream(call, bt_media_content_type(call->encoding.media, true), &stream);
}

/** --- all verbs --- */

/** Sets the encoding of the answer from the Accept header; false: sets call->failure. */
static bool choose_encoding(struct bt_front_call *call)
{
	bool is_watch = call->verb == BT_VERB_WATCH;
	struct bt_str accept = bt_front_find_header(call, "Accept");
	if (!bt_accept_object(accept, call->route.resource, is_watch, &call->encoding)) {
		return bt_front_fail(call, 406, "NotAcceptable",
			"only the following media types are accepted: %s",
			is_watch ? "application/json, "
				   "application/vnd.kubernetes.protobuf;stream=watch"
				 : "application/json, application/yaml, "
				   "application/vnd.kubernetes.protobuf");
	}
	return call->encoding.view != BT_VIEW_TABLE ||
		bt_query_include_object(
			&call->query, &call->arena, &call->encoding.include_object, &call->failure);
}

bool bt_front_call_resource(struct bt_front_call *call)
{
	const struct bt_route *route = &call->route;
	const struct bt_api *api = call->front->api;
	struct bt_list_parameters *list = &call->query.list;
	enum bt_body_media media;
	struct bt_json_value *options;
	/* before the authorization, because the metrics count a refused request by its verb */
	bool has_verb = bt_route_verb(route, call->request.method, call->query.watch, &call->verb);
	if (!bt_front_authorize(call)) {
		return false;
	}
	if (!has_verb) {
		return bt_front_fail(call, 405, "MethodNotAllowed",
			"the server does not allow this method on the requested resource");
	}
	warn_deprecated(call);
	if (!choose_encoding(call)) {
		return false;
	}
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.verb = call->verb;
	request.resource = route->resource;
	request.subresource = route->subresource;
	request.namespace_ = route->namespace_;
	request.name = route->name;
	request.user = &call->user;
	request.checks_access = !bt_user_has_group(&call->user, "system:masters");
	request.warns = true;
	call->api = request;
	if (route->subresource == BT_SUBRESOURCE_LOG || route->subresource == BT_SUBRESOURCE_EXEC ||
		route->subresource == BT_SUBRESOURCE_ATTACH ||
		route->subresource == BT_SUBRESOURCE_PORT_FORWARD) {
		return bt_front_connect(call);
	}
	switch (call->verb) {
	case BT_VERB_GET:
		if (!bt_get_check_rv(list->resource_version, &call->arena, &call->failure)) {
			return false;
		}
		await(call, bt_get_future_rv(api, list->resource_version), on_get_reached);
		return true;
	case BT_VERB_CREATE:
	case BT_VERB_UPDATE:
	case BT_VERB_PATCH:
		if (!read_media(call, &media) || !write_options(call) ||
			!decode(call, media, &call->api.body)) {
			return false;
		}
		perform(call);
		return true;
	case BT_VERB_DELETE:
	case BT_VERB_DELETE_COLLECTION:
		if (!read_media(call, &media) || !decode(call, media, &options) ||
			(options == NULL &&
				!bt_query_delete_options(
					&call->query, &call->arena, &options, &call->failure)) ||
			!bt_delete_options_read(
				options, &call->arena, &call->api, &call->failure)) {
			return false;
		}
		if (call->verb == BT_VERB_DELETE) {
			perform(call);
			return true;
		}
		open_list(call);
		return true;
	case BT_VERB_LIST:
		await(call, bt_list_future_rv(api, list, false), open_list);
		return true;
	case BT_VERB_WATCH:
		if (route->name.length != 0) {
			/* the deprecated path /api/v1/watch/.../<name> */
			struct bt_str given = list->field_selector;
			list->field_selector = bt_arena_printf(&call->arena,
				"metadata.name=%.*s%s%.*s", BT_STR_ARG(route->name),
				given.length != 0 ? "," : "", BT_STR_ARG(given));
		}
		await(call, bt_list_future_rv(api, list, true), open_watch);
		return true;
	case BT_VERB__COUNT:
		break;
	}
	BT_ASSERT(false);
	return false;
}
