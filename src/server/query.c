/* SPDX-License-Identifier: Apache-2.0 */
#include "server/query.h"

#include "codec/json_edit.h"
#include "net/http_server.h"

#define FIELD_MANAGER_BYTES_MAX 128
#define DRY_RUNS_MAX 8
#define GRACE_SECONDS_MAX (INT64_C(1) << 40)

/* A row for a member of struct bt_query that is a text (TEXT) or a bool (FLAG). */
#define TEXT(name, member) \
	{ \
		name, offsetof(struct bt_query, member), false \
	}
#define FLAG(name, member) \
	{ \
		name, offsetof(struct bt_query, member), true \
	}
/* clang-format off */
static const struct {
	const char *name;
	size_t offset;
	bool is_flag;
} parameters[] = {
	TEXT("labelSelector", list.label_selector),
	TEXT("fieldSelector", list.field_selector),
	TEXT("limit", list.limit),
	TEXT("continue", list.continue_token),
	TEXT("resourceVersion", list.resource_version),
	TEXT("resourceVersionMatch", list.resource_version_match),
	TEXT("timeoutSeconds", list.timeout_seconds),
	TEXT("allowWatchBookmarks", list.allow_watch_bookmarks),
	TEXT("sendInitialEvents", list.send_initial_events),
	TEXT("includeObject", include_object),
	TEXT("fieldManager", field_manager),
	TEXT("fieldValidation", field_validation),
	TEXT("force", force),
	TEXT("gracePeriodSeconds", grace_period_seconds),
	TEXT("propagationPolicy", propagation_policy),
	TEXT("orphanDependents", orphan_dependents),
	TEXT("container", connect.container),
	TEXT("tailLines", connect.tail_lines),
	TEXT("sinceSeconds", connect.since_seconds),
	TEXT("sinceTime", connect.since_time),
	TEXT("limitBytes", connect.limit_bytes),
	TEXT("verbose", verbose),
	TEXT("hash", hash),
	TEXT("metricLabelSelector", metric_label_selector),
	FLAG("watch", watch),
	FLAG("follow", connect.follow),
	FLAG("previous", connect.previous),
	FLAG("timestamps", connect.timestamps),
	FLAG("stdin", connect.takes_input),
	FLAG("stdout", connect.takes_output),
	FLAG("stderr", connect.takes_errors),
	FLAG("tty", connect.is_terminal),
};
/* clang-format on */

void bt_query_parse(struct bt_str query, struct bt_arena *arena, struct bt_query *out)
{
	bool seen[BT_ARRAY_LENGTH(parameters)] = {false};
	*out = (struct bt_query){0};
	struct bt_str name;
	struct bt_str value;
	while (bt_http_query_next(&query, arena, &name, &value)) {
		size_t i = 0;
		while (i < BT_ARRAY_LENGTH(parameters) &&
			!bt_str_equal_c(name, parameters[i].name)) {
			i++;
		}
		if (i < BT_ARRAY_LENGTH(parameters)) {
			void *place = (char *)out + parameters[i].offset;
			if (!seen[i] && parameters[i].is_flag) {
				*(bool *)place = bt_parameter_is_true(value);
			} else if (!seen[i]) {
				*(struct bt_str *)place = value;
			}
			seen[i] = true; /* later values are ignored */
		} else if (bt_str_equal_c(name, "pretty") && !out->pretty_given) {
			out->pretty = bt_parameter_is_true(value);
			out->pretty_given = true;
		} else if (bt_str_equal_c(name, "dryRun") && value.length != 0 &&
			(out->dry_runs == NULL || out->dry_runs->count < DRY_RUNS_MAX)) {
			out->dry_runs = bt_json_put(arena, out->dry_runs, "[%s]", value);
		} else if (bt_str_equal_c(name, "command")) {
			out->connect.command =
				bt_json_put(arena, out->connect.command, "[%s]", value);
		}
	}
}

static bool accept(struct bt_field_errors *errors, const char *kind, struct bt_failure *out_failure)
{
	return errors->count == 0 ||
		bt_fail_invalid(out_failure, errors->arena, BT_STR("meta.k8s.io"),
			bt_str_from(kind), BT_STR(""), errors);
}

/*
 * Returns true if there are values (NULL: none) and all of them are "All". Adds an error if a value
 * differs.
 */
static bool dry_run_of(const struct bt_json_value *values, struct bt_field_errors *errors)
{
	for (uint32_t i = 0; values != NULL && i < values->count; i++) {
		if (values->elements[i]->type != BT_JSON_STRING ||
			!bt_str_equal_c(values->elements[i]->text, "All")) {
			bt_field_errors_add(errors, BT_FIELD_NOT_SUPPORTED, BT_STR("dryRun"),
				values, "\"All\"");
			return false;
		}
	}
	return values != NULL && values->count != 0;
}

bool bt_query_write_options(const struct bt_query *query, const char *kind, struct bt_arena *arena,
	struct bt_api_request *out_request, struct bt_failure *out_failure)
{
	struct bt_field_errors errors = {.arena = arena};
	struct bt_str manager = query->field_manager;
	bool is_printable = true;
	for (uint32_t i = 0; i < manager.length; i++) {
		unsigned char byte = (unsigned char)manager.data[i];
		is_printable = is_printable && byte >= 0x20 && byte != 0x7f;
	}
	out_request->dry_run = dry_run_of(query->dry_runs, &errors);
	out_request->field_manager = manager;
	if (manager.length > FIELD_MANAGER_BYTES_MAX) {
		bt_field_errors_add(&errors, BT_FIELD_TOO_LONG, BT_STR("fieldManager"), NULL,
			"may not be more than %d bytes", FIELD_MANAGER_BYTES_MAX);
	} else if (!is_printable) {
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("fieldManager"),
			bt_json_new_str(arena, manager),
			"should not contain non-printable characters");
	}
	if (query->field_validation.length == 0 ||
		bt_str_equal_c(query->field_validation, "Warn")) {
		out_request->field_validation = BT_FIELD_VALIDATION_WARN;
	} else if (bt_str_equal_c(query->field_validation, "Ignore")) {
		out_request->field_validation = BT_FIELD_VALIDATION_IGNORE;
	} else if (bt_str_equal_c(query->field_validation, "Strict")) {
		out_request->field_validation = BT_FIELD_VALIDATION_STRICT;
	} else {
		bt_field_errors_add(&errors, BT_FIELD_NOT_SUPPORTED, BT_STR("fieldValidation"),
			bt_json_new_str(errors.arena, query->field_validation),
			"\"\", \"Ignore\", \"Strict\", \"Warn\"");
	}
	out_request->force = bt_parameter_is_true(query->force);
	return accept(&errors, kind, out_failure);
}

/*
 * Returns the member, or NULL if it is absent or null. Clears *is_valid if the member has another
 * type.
 */
static const struct bt_json_value *find_member(const struct bt_json_value *object, const char *name,
	enum bt_json_type type, bool *is_valid)
{
	const struct bt_json_value *value = bt_json_find(object, name);
	if (value == NULL || value->type == BT_JSON_NULL) {
		return NULL;
	}
	*is_valid = *is_valid && value->type == type;
	return value;
}

bool bt_delete_options_read(const struct bt_json_value *body, struct bt_arena *arena,
	struct bt_api_request *out, struct bt_failure *out_failure)
{
	static const char *const propagations[] = {
		[BT_PROPAGATION_BACKGROUND] = "Background",
		[BT_PROPAGATION_FOREGROUND] = "Foreground",
		[BT_PROPAGATION_ORPHAN] = "Orphan",
	};
	struct bt_field_errors errors = {.arena = arena};
	bool is_valid = true;
	const struct bt_json_value *grace =
		find_member(body, "gracePeriodSeconds", BT_JSON_NUMBER, &is_valid);
	const struct bt_json_value *policy =
		find_member(body, "propagationPolicy", BT_JSON_STRING, &is_valid);
	const struct bt_json_value *orphan =
		find_member(body, "orphanDependents", BT_JSON_BOOL, &is_valid);
	const struct bt_json_value *conditions =
		find_member(body, "preconditions", BT_JSON_OBJECT, &is_valid);
	const struct bt_json_value *dry_run = find_member(body, "dryRun", BT_JSON_ARRAY, &is_valid);
	const struct bt_json_value *uid = find_member(conditions, "uid", BT_JSON_STRING, &is_valid);
	const struct bt_json_value *rv =
		find_member(conditions, "resourceVersion", BT_JSON_STRING, &is_valid);
	struct bt_str kind = bt_json_find_str(body, "kind");
	int64_t seconds = 0;
	if (kind.length != 0 && !bt_str_equal_c(kind, "DeleteOptions")) {
		struct bt_str shown = bt_str_sub(kind, 0, 256);
		return bt_fail(out_failure, arena, 400, "BadRequest",
			"the object provided is unrecognized (must be of type DeleteOptions): "
			"got kind \"%.*s\"",
			BT_STR_ARG(shown));
	}
	if (!is_valid || (grace != NULL && !bt_json_number_int64(grace->text, &seconds))) {
		return bt_fail(out_failure, arena, 400, "BadRequest",
			"DeleteOptions in version \"v1\" cannot be handled as a DeleteOptions: "
			"json: cannot unmarshal a value into Go struct field DeleteOptions");
	}
	if (grace != NULL) {
		/*
		 * Negative values become -2, because -1 means "not given" in requests. A delete
		 * treats -2 as one second. Spec 14 section 13.
		 */
		out->grace_period_seconds = seconds < 0 ? -2 : BT_MIN(seconds, GRACE_SECONDS_MAX);
	}
	if (dry_run != NULL) {
		out->dry_run = dry_run_of(dry_run, &errors);
	}
	bool is_known = policy == NULL || policy->text.length == 0;
	for (int i = BT_PROPAGATION_BACKGROUND; i <= BT_PROPAGATION_ORPHAN && !is_known; i++) {
		is_known = bt_str_equal_c(policy->text, propagations[i]);
		out->propagation = is_known ? (enum bt_propagation)i : out->propagation;
	}
	if (!is_known) {
		bt_field_errors_add(&errors, BT_FIELD_NOT_SUPPORTED, BT_STR("propagationPolicy"),
			bt_json_new_str(arena, policy->text),
			"\"Foreground\", \"Background\", \"Orphan\", \"nil\"");
	}
	if (orphan != NULL && policy != NULL) {
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("propagationPolicy"), NULL,
			"orphanDependents and deletionPropagation cannot be both set");
	} else if (orphan != NULL) {
		out->propagation =
			orphan->boolean ? BT_PROPAGATION_ORPHAN : BT_PROPAGATION_BACKGROUND;
	}
	if (uid != NULL) {
		out->precondition_uid = uid->text;
	}
	if (rv != NULL) {
		out->precondition_rv = rv->text;
	}
	return accept(&errors, "DeleteOptions", out_failure);
}

bool bt_query_delete_options(const struct bt_query *query, struct bt_arena *arena,
	struct bt_json_value **out_body, struct bt_failure *out_failure)
{
	struct bt_str grace = query->grace_period_seconds;
	int64_t seconds = 0;
	struct bt_json_value *body = bt_json_put(arena, NULL,
		"{propagationPolicy?: %s, dryRun: %v}", query->propagation_policy, query->dry_runs);
	if (grace.length != 0) {
		if (!bt_str_parse_int64(grace, &seconds)) {
			struct bt_str text = bt_failure_quoted(arena, bt_str_sub(grace, 0, 256));
			return bt_fail(out_failure, arena, 400, "BadRequest",
				"strconv.ParseInt: parsing %.*s: invalid syntax", BT_STR_ARG(text));
		}
		bt_json_set_int64(arena, body, "gracePeriodSeconds", seconds);
	}
	if (query->orphan_dependents.data != NULL) {
		bt_json_put(arena, body, "{orphanDependents: %b}",
			bt_parameter_is_true(query->orphan_dependents));
	}
	*out_body = body;
	return true;
}

bool bt_query_include_object(const struct bt_query *query, struct bt_arena *arena,
	enum bt_include_object *out, struct bt_failure *out_failure)
{
	struct bt_str text = query->include_object;
	if (text.length == 0 || bt_str_equal_c(text, "Metadata")) {
		*out = BT_INCLUDE_METADATA;
	} else if (bt_str_equal_c(text, "Object")) {
		*out = BT_INCLUDE_OBJECT;
	} else if (bt_str_equal_c(text, "None")) {
		*out = BT_INCLUDE_NONE;
	} else {
		struct bt_str shown = bt_failure_quoted(arena, bt_str_sub(text, 0, 256));
		return bt_fail(out_failure, arena, 400, "BadRequest",
			"Unable to convert to Table as requested: includeObject: Invalid value: "
			"%.*s: must be 'Metadata', 'Object', 'None', or empty",
			BT_STR_ARG(shown));
	}
	return true;
}
