/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "server/cron.h"
#include "server/kinds/common.h"

/* Job and CronJob. Spec: 14b sections 2.2, 2.3, 3.3. */

#define DEFAULT_BACKOFF_LIMIT 6
#define CONTROLLER_UID_LABEL "batch.kubernetes.io/controller-uid"

static void default_job(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	const struct bt_json_value *labels = bt_json_object_at(spec, "template.metadata.labels");
	if (bt_json_find(spec, "parallelism") == NULL) {
		bt_kinds_default_int(arena, spec, "completions", 1);
	}
	bt_kinds_default_int(arena, spec, "parallelism", 1);
	/* With backoffLimitPerIndex the limit of the whole job does not apply. */
	bt_kinds_default_int(arena, spec, "backoffLimit",
		bt_json_find(spec, "backoffLimitPerIndex") != NULL ? INT32_MAX
								   : DEFAULT_BACKOFF_LIMIT);
	bt_kinds_default_c(arena, spec, "completionMode", "NonIndexed");
	bt_kinds_default_bool(arena, spec, "suspend", false);
	bt_kinds_default_c(arena, spec, "podReplacementPolicy",
		bt_json_find(spec, "podFailurePolicy") != NULL ? "Failed" : "TerminatingOrFailed");
	bt_kinds_default_bool(arena, spec, "manualSelector", false);
	bt_kinds_default_pod_template(arena, spec);
	if (labels->count != 0 && bt_json_object_at(metadata, "labels")->count == 0) {
		bt_json_set_value(arena, metadata, "labels", bt_json_clone(arena, labels, false));
	}
}

static void set_job_labels(struct bt_arena *arena, struct bt_json_value *metadata,
	struct bt_str name, struct bt_str uid)
{
	struct bt_json_value *labels = bt_json_ensure_object(arena, metadata, "labels");
	bt_json_set_str(arena, labels, CONTROLLER_UID_LABEL, uid);
	bt_json_set_str(arena, labels, "batch.kubernetes.io/job-name", name);
	bt_json_set_str(arena, labels, "controller-uid", uid);
	bt_json_set_str(arena, labels, "job-name", name);
}

/** Generates the selector from the uid, unless manualSelector is set. */
static void prepare_job(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	struct bt_str name = bt_kinds_text(metadata, "name");
	struct bt_str uid = bt_kinds_text(metadata, "uid");
	struct bt_json_value *template_ = bt_json_ensure_object(arena, spec, "template");
	struct bt_json_value *selector;
	if (bt_json_bool_at(spec, "manualSelector", false) ||
		(write->restoring && bt_json_object_at(spec, "selector")->count != 0)) {
		return;
	}
	set_job_labels(arena, bt_json_ensure_object(arena, template_, "metadata"), name, uid);
	if (bt_json_object_at(metadata, "labels")->count == 0) {
		set_job_labels(arena, metadata, name, uid);
	}
	selector = bt_json_ensure_object(arena, spec, "selector");
	bt_json_set_str(arena, bt_json_ensure_object(arena, selector, "matchLabels"),
		CONTROLLER_UID_LABEL, uid);
}

/** Larger values of parallelism and completions would make statuses too large. */
#define PARALLELISM_MAX 100000
#define COMPLETIONS_OF_MANY 100000
#define MANY_PARALLEL_MAX 10000

/** Checks the limits of indexed jobs, and that other jobs have no fields of indexed ones. */
static void check_indexes(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	static const char *const only_indexed[] = {
		"backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"};
	bool indexed = bt_str_equal_c(bt_kinds_text(spec, "completionMode"), "Indexed");
	bool counts_each = bt_json_find(spec, "backoffLimitPerIndex") != NULL;
	const struct bt_json_value *most = bt_json_find(spec, "maxFailedIndexes");
	const struct bt_json_value *parallelism = bt_json_find(spec, "parallelism");
	int64_t completions = bt_json_int64_at(spec, "completions", 0);
	bool is_many = counts_each && completions > COMPLETIONS_OF_MANY;
	int64_t parallel_max = is_many ? MANY_PARALLEL_MAX : PARALLELISM_MAX;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(only_indexed) && !indexed; i++) {
		const struct bt_json_value *value = bt_json_find(spec, only_indexed[i]);
		if (value != NULL) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_NAME(place, only_indexed[i]), value,
				"requires indexed completion mode");
		}
	}
	if (!indexed) {
		return;
	}
	if (bt_json_int64_at(spec, "parallelism", 0) > parallel_max) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "parallelism"),
			parallelism, "must be less than or equal to %" PRId64 "%s", parallel_max,
			is_many ? " when completions are above 100000 and backoffLimitPerIndex is "
				  "used"
				: " when completion mode is Indexed");
	}
	if (most != NULL && !counts_each) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED,
			BT_PATH_NAME(place, "backoffLimitPerIndex"), NULL,
			"when maxFailedIndexes is specified");
	}
	if (most != NULL && bt_json_int64_at(spec, "maxFailedIndexes", 0) > completions) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "maxFailedIndexes"),
			most, "must be less than or equal to completions");
	}
	if (is_many && most == NULL) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "maxFailedIndexes"),
			NULL, "when completions are above 100000");
	} else if (is_many && bt_json_int64_at(spec, "maxFailedIndexes", 0) > MANY_PARALLEL_MAX) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "maxFailedIndexes"),
			most,
			"must be less than or equal to 10000 when completions are above 100000");
	}
}

/** Checks other fields that podFailurePolicy and backoffLimitPerIndex restrict. */
static void check_failure_policy(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	static const char *const need_never[] = {"podFailurePolicy", "backoffLimitPerIndex"};
	const struct bt_json_value *policy = bt_json_find_path(spec, "template.spec.restartPolicy");
	const struct bt_json_value *replacement = bt_json_find(spec, "podReplacementPolicy");
	static const char *const only_failed[] = {"Failed", NULL};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(need_never); i++) {
		if (bt_json_find(spec, need_never[i]) != NULL && policy != NULL &&
			bt_str_equal_c(policy->text, "OnFailure")) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_NAME(BT_PATH_NAME(BT_PATH_NAME(place, "template"), "spec"),
					"restartPolicy"),
				policy, "only \"Never\" is supported when %s is specified",
				need_never[i]);
			break;
		}
	}
	if (bt_json_find(spec, "podFailurePolicy") != NULL && replacement != NULL) {
		bt_kinds_check_allowed(errors, BT_PATH_NAME(place, "podReplacementPolicy"),
			replacement, only_failed);
	}
}

void bt_rule_job(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	static const char *const restart_policies[] = {"OnFailure", "Never", NULL};
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *policy = bt_json_find_path(spec, "template.spec.restartPolicy");
	const struct bt_path *template_ = BT_PATH_NAME(place, "template");
	const struct bt_path *policy_place =
		BT_PATH_NAME(BT_PATH_NAME(template_, "spec"), "restartPolicy");
	if (bt_str_equal_c(bt_kinds_text(spec, "completionMode"), "Indexed") &&
		bt_json_find(spec, "completions") == NULL) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "completions"), NULL,
			"when completion mode is Indexed");
	}
	check_indexes(errors, place, spec);
	check_failure_policy(errors, place, spec);
	/* "Always" is usually the default, so report that a policy must be chosen. */
	if (policy != NULL && bt_str_equal_c(policy->text, "Always")) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, policy_place, NULL,
			"valid values: \"OnFailure\", \"Never\"");
	} else if (policy != NULL) {
		bt_kinds_check_allowed(errors, policy_place, policy, restart_policies);
	}
	if (place->parent == NULL) { /* not in a CronJob's template */
		if (bt_kinds_object(spec, "selector") == NULL) {
			bt_kinds_error_required(errors, BT_PATH_NAME(place, "selector"));
		}
		bt_kinds_check_template_labels(
			errors, template_, spec, bt_kinds_object(spec, "selector"));
	}
}

bool bt_kinds_job_is_gang(const struct bt_json_value *spec)
{
	int64_t parallelism = bt_json_int64_at(spec, "parallelism", 1);
	return parallelism > 1 && bt_json_int64_at(spec, "completions", 0) == parallelism &&
		bt_str_equal_c(bt_kinds_text(spec, "completionMode"), "Indexed") &&
		bt_json_find_path(spec, "template.spec.schedulingGroup") == NULL;
}

static void validate_job_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *before = bt_json_object_at(old, "spec");
	const struct bt_json_value *after = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	if (!bt_str_equal_c(bt_kinds_text(after, "completionMode"), "Indexed")) {
		bt_kinds_check_immutable(errors, place, before, after, "completions", NULL);
	} else if (bt_json_int64_at(before, "completions", 0) !=
			bt_json_int64_at(after, "completions", 0) &&
		bt_json_int64_at(after, "completions", 0) !=
			bt_json_int64_at(after, "parallelism", 1)) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "completions"),
			bt_json_find(after, "completions"),
			"can only be modified in tandem with parallelism: both must be equal");
	}
	bt_kinds_check_immutable(errors, place, before, after, "selector", NULL);
	/* The scheduling directives of a suspended job may change until it starts. */
	if (!bt_json_bool_at(before, "suspend", false) ||
		bt_json_find_path(old, "status.startTime") != NULL) {
		bt_kinds_check_immutable(errors, place, before, after, "template",
			bt_schema_field_find(bt_kinds_spec_message(write), BT_STR("template"), NULL)
				->message);
	}
	/* The size of a gang is immutable. */
	if (bt_api_options(write->api)->workload_with_job && bt_kinds_job_is_gang(after)) {
		bt_kinds_check_immutable(errors, place, before, after, "parallelism", NULL);
	}
}

const struct bt_strategy bt_strategy_job = {
	.resets_status = true,
	.validates_twice = true,
	.set_defaults = default_job,
	.prepare_create = prepare_job,
	.validate_update = validate_job_update,
};

static void default_cron_job(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	struct bt_json_value *template_ = bt_json_ensure_object(write->arena, spec, "jobTemplate");
	/* Other defaults are set when a Job is created from the template. */
	bt_kinds_default_pod_template(
		write->arena, bt_json_ensure_object(write->arena, template_, "spec"));
}

void bt_rule_cron_job(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_str schedule = bt_kinds_text(spec, "schedule");
	const struct bt_json_value *zone = bt_json_find(spec, "timeZone");
	const struct bt_path schedule_place = *BT_PATH_NAME(place, "schedule");
	const struct bt_path zone_place = *BT_PATH_NAME(place, "timeZone");
	const struct bt_json_value *given = bt_json_find(spec, "schedule");
	struct bt_cron cron;
	uint32_t words = 0;
	bool in_word = false;
	for (uint32_t i = 0; i < schedule.length; i++) {
		bool blank = schedule.data[i] == ' ' || schedule.data[i] == '\t';
		words += !blank && !in_word ? 1U : 0U;
		in_word = !blank;
	}
	if (bt_str_find(schedule, BT_STR("TZ")) >= 0) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, &schedule_place, given,
			"cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
	} else if (schedule.length != 0 && schedule.data[0] != '@' && words != 5) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, &schedule_place, given,
			"expected exactly 5 fields, found %u: [%.*s]", words, BT_STR_ARG(schedule));
	} else if (schedule.length != 0 && !bt_cron_parse(schedule, &cron)) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, &schedule_place, given,
			schedule.data[0] == '@' ? "unrecognized descriptor: %.*s"
						: "failed to parse: %.*s",
			BT_STR_ARG(schedule));
	}
	if (zone == NULL || zone->type != BT_JSON_STRING) {
		return;
	}
	if (zone->text.length == 0) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, &zone_place, zone,
			"timeZone must be nil or non-empty string");
	} else if (bt_str_equal_c(zone->text, "Local") ||
		bt_str_equal_c(zone->text, "local")) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, &zone_place, zone,
			"timeZone must be an explicit time zone as defined in "
			"https://www.iana.org/time-zones");
	} else if (!bt_cron_zone_exists(zone->text)) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, &zone_place, zone,
			"unknown time zone %.*s", BT_STR_ARG(zone->text));
	}
}

const struct bt_strategy bt_strategy_cron_job = {
	.resets_status = true,
	.validates_spec_alone = true,
	.set_defaults = default_cron_job,
};
