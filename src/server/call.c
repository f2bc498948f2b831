/* SPDX-License-Identifier: Apache-2.0 */
/** The steps that all requests share: decode, refuse, store, answer. */
#include <stdarg.h>
#include <stdlib.h>

#include "api/meta.h"
#include "api/time.h"
#include "base/assert.h"
#include "server/custom_schema.h"
#include "server/write.h"

/** Largest number of warnings of one answer; further warnings are dropped. */
#define WARNINGS_MAX 100
/**
 * Room for the fields that a deletion adds: a deletion must never fail because the object is too
 * large.
 */
#define REMOVAL_BYTES_MAX 512
/** Random characters after a generateName. */
#define GENERATED_BYTES 5

void bt_call_init(struct bt_call *call, struct bt_api *api, const struct bt_api_request *request,
	struct bt_arena *arena, struct bt_api_answer *answer)
{
	*answer = (struct bt_api_answer){0};
	*call = (struct bt_call){
		.api = api,
		.request = request,
		.arena = arena,
		.answer = answer,
		.write =
			{
				.api = api,
				.arena = arena,
				.resource = request->resource,
				.verb = request->verb,
				.subresource = request->subresource,
				.namespace_ = request->namespace_,
				.name = request->name,
				.user = request->user,
				.now_ns = bt_api_now_ns(api),
				.dry_run = request->dry_run,
				.restoring = request->restore,
			},
	};
	call->key = bt_api_key(arena, request->namespace_, request->name);
	call->same_owners = request->same_owners || request->subresource == BT_SUBRESOURCE_BINDING;
}

/** --- failures --- */

bool bt_call_refuse(
	struct bt_call *call, uint16_t code, const char *reason, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	call->answer->failure = (struct bt_failure){.code = code,
		.reason = reason,
		.message = bt_failure_vprintf(call->arena, format, arguments)};
	va_end(arguments);
	return false;
}

void bt_call_warn(struct bt_call *call, const char *format, ...)
{
	struct bt_api_answer *answer = call->answer;
	if (answer->warning_count >= WARNINGS_MAX) {
		return;
	}
	struct bt_str *warnings =
		BT_ARENA_NEW_ARRAY(call->arena, struct bt_str, answer->warning_count + 1);
	for (uint32_t i = 0; i < answer->warning_count; i++) {
		warnings[i] = answer->warnings[i];
	}
	va_list arguments;
	va_start(arguments, format);
	warnings[answer->warning_count] = bt_failure_vprintf(call->arena, format, arguments);
	va_end(arguments);
	answer->warnings = warnings;
	answer->warning_count++;
}

void bt_call_not_found(struct bt_call *call)
{
	(void)bt_fail_not_found(
		&call->answer->failure, call->arena, call->write.resource, call->write.name);
}

struct bt_stored *bt_call_find(struct bt_call *call)
{
	struct bt_stored *stored = bt_store_find(
		call->api->options.store, call->write.resource->collection, call->key);
	bool (*is_served)(const struct bt_stored *stored) =
		call->write.resource->strategy->is_served;

	if (stored != NULL && is_served != NULL && !is_served(stored)) {
		stored = NULL;
	}
	if (stored == NULL) {
		bt_call_not_found(call);
	}
	return stored;
}

bool bt_call_refuse_invalid(struct bt_call *call, const struct bt_field_errors *errors)
{
	if (errors->count == 0) {
		return false;
	}
	const struct bt_api_resource *resource = call->write.resource;
	(void)bt_fail_invalid(&call->answer->failure, call->arena, bt_str_from(resource->group),
		bt_str_from(resource->kind), call->write.name, errors);
	return true;
}

/** --- decoding --- */

/** Normalises an object that the server itself made by a conversion. */
static void normalise_converted(
	struct bt_call *call, const struct bt_api_resource *resource, struct bt_json_value *object)
{
	int result = bt_schema_normalise(
		resource->message, object, false, NULL, call->arena, NULL, NULL);
	(void)result; /* cannot fail: a converted object has only valid members */
}

struct bt_json_value *bt_call_parse(struct bt_call *call, const struct bt_stored *stored)
{
	const struct bt_strategy *strategy = call->write.resource->strategy;
	struct bt_json_value *object;
	if (stored->owners != NULL && !call->same_owners) {
		struct bt_strbuf text = {0};
		bt_stored_append_complete(stored, &text);
		int result = bt_json_parse(call->arena, bt_arena_take_strbuf(call->arena, &text),
			false, &object, NULL);
		BT_ASSERT(result == 0);
	} else if (strategy->from_stored == NULL && !call->write.dry_run) {
		return bt_api_parse_stored(stored, call->arena);
	} else {
		/* copied, because the answer's document may outlive the stored text */
		int result =
			bt_json_parse(call->arena, bt_stored_text(stored), true, &object, NULL);
		BT_ASSERT(result == 0);
	}
	if (strategy->from_stored != NULL) {
		strategy->from_stored(&call->write, object);
		if (call->write.resource->message != NULL) {
			normalise_converted(call, call->write.resource, object);
		}
	}
	return object;
}

/** Refuses the request with 400 `Pod in version "v1" cannot be handled as a Pod: <text>`. */
static void refuse_body(struct bt_call *call, struct bt_str version, struct bt_str kind,
	struct bt_str wanted_kind, const char *text)
{
	(void)bt_call_refuse(call, 400, "BadRequest",
		"%.*s in version \"%.*s\" cannot be handled as a %.*s: %s", BT_STR_ARG(kind),
		BT_STR_ARG(version), BT_STR_ARG(wanted_kind), text);
}

static bool check_kind(struct bt_call *call, struct bt_json_value *object,
	struct bt_str api_version, struct bt_str kind)
{
	struct bt_str given_kind = bt_json_find_str(object, "kind");
	struct bt_str given_version = bt_json_find_str(object, "apiVersion");
	if (given_kind.length != 0 && !bt_str_equal(given_kind, kind)) {
		struct bt_str given_group;
		struct bt_str version;
		/* Go's name of the group's internal types: "core", "apps", "storage" */
		struct bt_str group = BT_STR("core");
		if (bt_str_find_char(api_version, '/') >= 0) {
			struct bt_str rest = api_version;
			struct bt_str whole = bt_str_cut(&rest, '/');
			group = bt_str_cut(&whole, '.');
		}
		(void)bt_api_version_split(given_version, &given_group, &version);
		struct bt_str text = bt_arena_printf(call->arena,
			"converting (%.*s.%.*s) to (%.*s.%.*s): unknown conversion",
			BT_STR_ARG(version), BT_STR_ARG(given_kind), BT_STR_ARG(group),
			BT_STR_ARG(kind));
		refuse_body(call, given_version, given_kind, kind, text.data);
		return false;
	}
	if (given_version.length != 0 && api_version.data != NULL &&
		!bt_str_equal(given_version, api_version)) {
		return bt_call_refuse(call, 400, "BadRequest",
			"the API version in the data (%.*s) does not match the expected API "
			"version (%.*s)",
			BT_STR_ARG(given_version), BT_STR_ARG(api_version));
	}
	(void)bt_json_remove_c(object, "kind");
	(void)bt_json_remove_c(object, "apiVersion");
	return true;
}

/**
 * Rewords a decode error of a strategic patch's result: upstream converts that result with other
 * code, whose messages differ.
 */
static struct bt_str conversion_text(struct bt_arena *arena, struct bt_str text)
{
	static const char before_value[] = "json: cannot unmarshal ";
	static const char before_type[] = " of type ";
	int64_t type_at = bt_str_find(text, bt_str_from(before_type));
	if (!bt_str_has_prefix(text, bt_str_from(before_value)) || type_at < 0) {
		return text;
	}
	struct bt_str type =
		bt_str_sub(text, (uint32_t)type_at + (uint32_t)strlen(before_type), BT_STR_MAX);
	struct bt_str value = bt_str_sub(text, (uint32_t)strlen(before_value), BT_STR_MAX);
	value = bt_str_sub(value, 0, (uint32_t)bt_str_find_char(value, ' '));
	if (bt_str_equal_c(value, "array")) {
		value = BT_STR("slice");
	} else if (bt_str_equal_c(value, "object")) {
		value = BT_STR("map");
	} else if (bt_str_equal_c(value, "number")) {
		value = BT_STR("int64");
	}
	bool is_list = bt_str_has_prefix(type, BT_STR("[]"));
	bool is_map =
		bt_str_has_prefix(type, BT_STR("map[")) || bt_str_equal_c(type, "v1.ResourceList");
	if (is_list || is_map || bt_str_find_char(type, '.') >= 0) {
		return bt_arena_printf(arena, "cannot restore %s from: %.*s",
			is_list          ? "slice"
				: is_map ? "map"
					 : "struct",
			BT_STR_ARG(value));
	}
	return bt_arena_printf(arena, "unrecognized type: %.*s", BT_STR_ARG(type));
}

/**
 * Refuses with 422 a patch whose result is invalid. The message shows the result or, for a
 * strategic patch, the patch. Spec: 14 section 9.2.
 */
static void refuse_patched(struct bt_call *call, struct bt_json_value *object, struct bt_str text)
{
	struct bt_field_errors errors = {.arena = call->arena};
	struct bt_strbuf shown = {0};
	if (call->request->patch_type == BT_PATCH_STRATEGIC) {
		bt_schema_append_go(call->request->body, BT_STR_MAX, &shown);
		text = conversion_text(call->arena, text);
	} else {
		bt_api_set_kind(call->write.resource, object, call->arena);
		qsort(object->members, object->count, sizeof(*object->members),
			bt_str_compare_qsort);
		bt_json_format(object, &shown);
	}
	bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("patch"),
		bt_json_new_str(call->arena, bt_arena_str(call->arena, bt_strbuf_str(&shown))),
		"%.*s", BT_STR_ARG(text));
	bt_strbuf_finish(&shown);
	(void)bt_fail_invalid(
		&call->answer->failure, call->arena, BT_STR(""), BT_STR(""), BT_STR(""), &errors);
}

/**
 * Ignores, warns about or refuses the normaliser's problems, as the request's fieldValidation says.
 * Returns false if the request is refused.
 */
static bool accept_problems(struct bt_call *call, struct bt_json_value *object,
	const struct bt_json_value *problems, struct bt_str version, struct bt_str kind,
	enum bt_body_source source)
{
	if (problems->count == 0) {
		return true;
	}
	switch (call->request->field_validation) {
	case BT_FIELD_VALIDATION_IGNORE:
		return true;
	case BT_FIELD_VALIDATION_WARN:
		for (uint32_t i = 0; i < problems->count; i++) {
			bt_call_warn(call, "%.*s", BT_STR_ARG(problems->elements[i]->text));
		}
		return true;
	case BT_FIELD_VALIDATION_STRICT:
		break;
	}
	struct bt_strbuf buffer = {0};
	for (uint32_t i = 0; i < problems->count; i++) {
		if (i != 0) {
			bt_strbuf_append_c(&buffer, ", ");
		}
		bt_strbuf_append_str(&buffer, problems->elements[i]->text);
	}
	struct bt_str list = bt_arena_take_strbuf(call->arena, &buffer);
	struct bt_str text =
		bt_arena_printf(call->arena, "strict decoding error: %.*s", BT_STR_ARG(list));
	if (source == BT_BODY_PATCHED) {
		refuse_patched(call, object, text);
	} else {
		refuse_body(call, version, kind, kind, text.data);
	}
	return false;
}

bool bt_call_drop_repeated(struct bt_call *call)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_value *problems = bt_json_new(call->arena, BT_JSON_ARRAY);
	if (call->request->field_validation == BT_FIELD_VALIDATION_IGNORE) {
		return true;
	}
	if (bt_schema_drop_repeated(call->request->body, call->arena, problems, &err) != 0) {
		(void)bt_call_refuse(call, 400, "BadRequest", "error decoding patch: %s",
			berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	return accept_problems(
		call, call->request->body, problems, BT_STR(""), BT_STR(""), BT_BODY_PATCHED);
}

static bool normalise(struct bt_call *call, const struct bt_schema_message *message,
	struct bt_json_value *object, struct bt_str version, struct bt_str kind,
	enum bt_body_source source)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_value *problems = bt_json_new(call->arena, BT_JSON_ARRAY);
	if (object->type != BT_JSON_OBJECT) {
		return bt_call_refuse(call, 400, "BadRequest",
			"the object provided is unrecognized (must be of type %.*s): json: cannot "
			"unmarshal %s into Go value of type %.*s",
			BT_STR_ARG(kind), bt_json_type_name(object->type), BT_STR_ARG(kind));
	}
	if (call->request->is_normalised && object == call->request->body) {
		return true;
	}
	if (bt_schema_normalise(message, object, source == BT_BODY_APPLIED, call->old, call->arena,
		    problems, &err) != 0) {
		struct bt_str text = bt_arena_printf(call->arena, "%s", berth_error_message(&err));
		berth_error_finish(&err);
		const struct bt_api_resource *resource = call->write.resource;
		switch (source) {
		case BT_BODY_OBJECT:
			refuse_body(call, version, kind, kind, text.data);
			break;
		case BT_BODY_PATCHED:
			refuse_patched(call, object, text);
			break;
		case BT_BODY_APPLIED:
			(void)bt_call_refuse(call, 500, NULL,
				"failed to convert new object (%.*s) to proper version: unable to "
				"convert unstructured object to %s/%s, Kind=%s: %s",
				BT_STR_ARG(bt_call_apply_identity(call, object)), resource->group,
				resource->version, resource->kind, text.data);
			break;
		}
		return false;
	}
	return accept_problems(call, object, problems, version, kind, source);
}

bool bt_call_decode_as(struct bt_call *call, struct bt_json_value *object,
	struct bt_str api_version, struct bt_str kind)
{
	const struct bt_schema_message *message = bt_schema_find(
		api_version.data != NULL ? api_version : bt_json_find_str(object, "apiVersion"),
		kind);
	return check_kind(call, object, api_version, kind) &&
		normalise(call, message, object, api_version, kind, BT_BODY_OBJECT);
}

bool bt_call_decode(struct bt_call *call, struct bt_json_value *object, enum bt_body_source source)
{
	const struct bt_api_resource *resource = call->write.resource;
	struct bt_str api_version = bt_resource_api_version(resource, call->arena);
	struct bt_str kind = bt_str_from(resource->kind);
	if (object == NULL) {
		return bt_call_refuse(call, 400, "BadRequest",
			"the object provided is unrecognized (must be of type %s): couldn't get "
			"version/kind; json parse error: unexpected end of JSON input (<empty>)",
			resource->kind);
	}
	struct bt_str version = bt_str_from(resource->version);
	if (!check_kind(call, object, api_version, kind) ||
		!normalise(call, resource->message, object, version, kind, source)) {
		return false;
	}
	if (resource->message == NULL) {
		struct bt_json_value *metadata =
			bt_json_ensure_object(call->arena, object, "metadata");
		struct bt_json_value *problems = bt_json_new(call->arena, BT_JSON_ARRAY);
		uint64_t lookups = BT_CUSTOM_LOOKUPS_MAX;
		bt_custom_complete(bt_custom_root(resource), NULL, object,
			source != BT_BODY_APPLIED, call->arena, problems, &lookups);
		if (!normalise(
			    call, call->api->metadata_message, metadata, version, kind, source) ||
			!accept_problems(call, object, problems, version, kind, source)) {
			return false;
		}
	}
	if (resource == call->api->definitions) {
		struct bt_json_value *problems = bt_json_new(call->arena, BT_JSON_ARRAY);
		bt_definition_tidy(object, call->arena, problems);
		if (!accept_problems(call, object, problems, version, kind, source)) {
			return false;
		}
	}
	if (source == BT_BODY_APPLIED) {
		return true;
	}
	bt_kinds_set_defaults(&call->write, object);
	return true;
}

struct bt_json_value *bt_call_metadata(struct bt_call *call, struct bt_json_value *object)
{
	return bt_json_ensure_object(call->arena, object, "metadata");
}

/** --- answers --- */

void bt_api_set_kind(const struct bt_api_resource *resource, struct bt_json_value *object,
	struct bt_arena *arena)
{
	bt_json_put(arena, object, "{kind: %c, apiVersion: %s}", resource->kind,
		bt_resource_api_version(resource, arena));
}

void bt_call_answer_object(struct bt_call *call, struct bt_json_value *object, uint16_t code)
{
	bt_api_set_kind(call->write.resource, object, call->arena);
	call->answer->document = object;
	call->answer->code = code;
}

void bt_call_answer_stored(struct bt_call *call, struct bt_stored *stored, uint16_t code)
{
	if (call->write.resource->strategy->from_stored != NULL) {
		bt_call_answer_object(call, bt_call_parse(call, stored), code);
		return;
	}
	call->answer->object = bt_stored_share(stored);
	call->answer->code = code;
}

void bt_call_answer_success(struct bt_call *call, uint16_t code, struct bt_str uid)
{
	const struct bt_api_resource *resource = call->write.resource;
	struct bt_json_value *status = bt_json_put(call->arena, NULL,
		"{kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success'}");
	if (uid.data == NULL) {
		bt_json_put(call->arena, status, "{code: %d}", (int64_t)code);
	} else {
		bt_json_put(call->arena, status,
			"{details: {name: %s, group?: %c, kind: %c, uid: %s}}", call->write.name,
			resource->group, resource->name, uid);
	}
	call->answer->document = status;
	call->answer->code = code;
}

/** --- the store --- */

static void move_first(struct bt_json_value *object, struct bt_str name)
{
	for (uint32_t i = 1; i < object->count; i++) {
		if (bt_str_equal(object->members[i].name, name)) {
			struct bt_json_member member = object->members[i];
			memmove(&object->members[1], &object->members[0],
				i * sizeof(object->members[0]));
			object->members[0] = member;
			return;
		}
	}
}

/**
 * Writes the object, with the RV of the next commit, as text into the API's buffer. The result is
 * valid until the next call. Sets call->status_bytes and call->is_replaced.
 */
static struct bt_str render(struct bt_call *call, struct bt_json_value *object)
{
	struct bt_api *api = call->api;
	struct bt_json_value *metadata = bt_call_metadata(call, object);
	if (call->write.resource->strategy->to_stored != NULL) {
		call->write.resource->strategy->to_stored(&call->write, object);
		normalise_converted(call,
			bt_resources_of_collection(
				api->resources, call->write.resource->collection),
			object);
	}
	char *rv = bt_arena_alloc_bytes(call->arena, 20);
	bt_json_set_str(call->arena, metadata, "resourceVersion",
		(struct bt_str){
			rv, bt_str_format_uint64(bt_store_next_rv(api->options.store), rv)});
	/* the store expects managedFields first */
	move_first(object, BT_STR("metadata"));
	move_first(metadata, BT_STR("managedFields"));
	bt_strbuf_reset(&api->text);
	struct bt_json_writer writer;
	size_t last = 0;
	bt_json_writer_init(&writer, &api->text, 0);
	bt_json_begin_object(&writer);
	for (uint32_t i = 0; i < object->count; i++) {
		bt_json_write_name(&writer, object->members[i].name);
		last = api->text.length;
		bt_json_write_value(&writer, object->members[i].value);
	}
	bt_json_end_object(&writer);
	bool ends_with_status = bt_str_equal_c(object->members[object->count - 1].name, "status");
	call->status_bytes = ends_with_status ? (uint32_t)(api->text.length - last) : 0;
	call->is_replaced = writer.has_replaced;
	return bt_strbuf_str(&api->text);
}

static void after_commit(struct bt_call *call, const struct bt_json_value *object)
{
	if (call->write.resource == call->api->definitions) {
		bt_definition_changed(call->api, call->write.name, object);
	}
	bt_policies_changed(call->api, call->write.resource);
}

/**
 * Refuses a text or key that is too large for the store. The text may be larger than the request's
 * body, because some characters are escaped and invalid bytes are replaced.
 */
static bool is_storable(struct bt_call *call, struct bt_str text, uint32_t bytes_max)
{
	if (text.length <= bytes_max && call->key.length <= BT_STORE_KEY_BYTES_MAX) {
		return true;
	}
	return bt_call_refuse(call, 413, "RequestEntityTooLarge",
		"Request entity too large: limit is %u", BT_STORE_TEXT_BYTES_MAX);
}

void bt_call_store(struct bt_call *call, const struct bt_stored *old, struct bt_json_value *object,
	uint16_t code)
{
	struct bt_api *api = call->api;
	if (call->write.dry_run) {
		if (old == NULL) {
			(void)bt_json_remove_c(bt_call_metadata(call, object), "resourceVersion");
		}
		bt_call_answer_object(call, object, code);
		return;
	}
	struct bt_str text = render(call, object);
	if (!is_storable(call, text, BT_STORE_TEXT_BYTES_MAX - REMOVAL_BYTES_MAX)) {
		return;
	}
	uint32_t collection = call->write.resource->collection;
	struct bt_owned owned = {call->owners, BT_STR("")};
	if (call->owners != NULL) {
		owned.values = bt_time_text(call->arena, call->write.now_ns);
	}
	api->trees = (struct bt_api_trees){
		call->write.resource->strategy->from_stored == NULL ? call->old : NULL,
		call->is_replaced ? NULL : object};
	bool keeps_owners = call->owners == NULL && call->same_owners;
	struct bt_stored *stored = bt_store_put_owned(api->options.store, collection, call->key,
		text, keeps_owners ? NULL : &owned, call->write.now_ns);
	stored->status_bytes = call->status_bytes;
	api->trees = (struct bt_api_trees){NULL, NULL};
	bt_call_remember_owners(call, stored);
	bt_call_answer_stored(call, stored, code);
	after_commit(call, object);
}

void bt_call_remove(struct bt_call *call, struct bt_json_value *object)
{
	struct bt_api *api = call->api;
	if (call->write.dry_run) {
		bt_call_answer_object(call, object, 200);
		return;
	}
	struct bt_str text = render(call, object);
	if (!is_storable(call, text, BT_STORE_TEXT_BYTES_MAX)) {
		return;
	}
	struct bt_stored *last = bt_store_remove(api->options.store,
		call->write.resource->collection, call->key, text, call->write.now_ns);
	bt_call_answer_stored(call, last, 200);
	after_commit(call, NULL);
	if ((call->write.resource->flags & BT_RESOURCE_CUSTOM) != 0) {
		bt_definition_remove_if_empty(api,
			bt_store_collection_name(
				api->options.store, call->write.resource->collection),
			call->arena);
	}
}

/** --- text --- */

/** Reverses the order of the 16 hexadecimal digits. */
static uint64_t reverse_digits(uint64_t word)
{
	uint64_t reversed = 0;
	for (int i = 0; i < 16; i++) {
		reversed = reversed << 4 | (word >> (4 * i) & 15);
	}
	return reversed;
}

struct bt_str bt_api_new_uid(struct bt_api *api, struct bt_arena *arena)
{
	/* Uids begin with the lowest digit of a random number: a seed always gives these uids. */
	struct bt_strbuf text = {0};
	uint64_t high = reverse_digits(bt_prng_next(&api->prng));
	bt_strbuf_append_uuid(&text, high, reverse_digits(bt_prng_next(&api->prng)));
	return bt_arena_take_strbuf(arena, &text);
}

struct bt_str bt_api_generate_name(struct bt_api *api, struct bt_arena *arena, struct bt_str base)
{
	uint32_t length = base.length < 58 ? base.length : 58;
	char *name = bt_arena_alloc_bytes(arena, length + GENERATED_BYTES + 1);
	memcpy(name, base.data, length);
	for (uint32_t i = 0; i < GENERATED_BYTES; i++) {
		name[length++] = BT_NAME_LETTERS[bt_prng_below(&api->prng, BT_NAME_LETTER_COUNT)];
	}
	name[length] = '\0';
	return (struct bt_str){name, length};
}

int64_t bt_api_resource_version_of(const struct bt_json_value *metadata)
{
	struct bt_str text = bt_json_text_at(metadata, "resourceVersion");
	int64_t rv;
	if (text.length == 0) {
		return 0;
	}
	return bt_str_parse_int64(text, &rv) && rv >= 0 ? rv : -1;
}
