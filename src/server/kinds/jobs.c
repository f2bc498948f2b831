/* SPDX-License-Identifier: Apache-2.0 */
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

void bt_rule_job_selector(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	const struct bt_json_value *selector = bt_kinds_object(spec, "selector");
	if (place->parent == NULL) { /* not in a CronJob's template */
		if (selector == NULL) {
			bt_kinds_error_required(check->errors, BT_PATH_NAME(place, "selector"));
		}
		bt_kinds_check_template_labels(
			check->errors, BT_PATH_NAME(place, "template"), spec, selector);
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
	/*
	 * The template of a suspended job may change until the job starts, so that a queue
	 * controller can set its scheduling directives.
	 */
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
	} else if (bt_str_equal_c(zone->text, "Local") || bt_str_equal_c(zone->text, "local")) {
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
