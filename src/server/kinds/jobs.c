/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cron.h"
#include "server/kinds/common.h"

/* Job and CronJob. Spec: 14b sections 2.2, 2.3, 3.3. */

#define CONTROLLER_UID_LABEL "batch.kubernetes.io/controller-uid"

static void default_job(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	const struct bt_json_value *labels = bt_json_object_at(spec, "template.metadata.labels");
	bt_kinds_default_pod_template(arena, spec);
	if (labels->count != 0 && bt_json_object_at(metadata, "labels")->count == 0) {
		bt_json_set_value(arena, metadata, "labels", bt_json_clone(arena, labels, false));
	}
}

static void set_job_labels(struct bt_arena *arena, struct bt_json_value *metadata,
	struct bt_str name, struct bt_str uid)
{
	bt_json_put(arena, metadata,
		"{labels: {'" CONTROLLER_UID_LABEL "': %s, 'batch.kubernetes.io/job-name': %s,"
		" 'controller-uid': %s, 'job-name': %s}}",
		uid, name, uid, name);
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
	if (bt_json_bool_at(spec, "manualSelector", false) ||
		(write->restoring && bt_json_object_at(spec, "selector")->count != 0)) {
		return;
	}
	set_job_labels(arena, bt_json_ensure_object(arena, template_, "metadata"), name, uid);
	if (bt_json_object_at(metadata, "labels")->count == 0) {
		set_job_labels(arena, metadata, name, uid);
	}
	bt_json_put(
		arena, spec, "{selector: {matchLabels: {'" CONTROLLER_UID_LABEL "': %s}}}", uid);
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

const struct bt_strategy bt_strategy_job = {
	.resets_status = true,
	.validates_twice = true,
	.set_defaults = default_job,
	.prepare_create = prepare_job,
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
	const struct bt_path schedule_place = *BT_PATH_NAME(place, "schedule");
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
}

const struct bt_strategy bt_strategy_cron_job = {
	.resets_status = true,
	.validates_spec_alone = true,
	.set_defaults = default_cron_job,
};
