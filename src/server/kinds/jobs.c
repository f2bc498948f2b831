/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Job and CronJob. Spec: 14b sections 2.2, 2.3, 3.3. */

#define DEFAULT_BACKOFF_LIMIT 6
#define CONTROLLER_UID_LABEL "batch.kubernetes.io/controller-uid"

static const char *const restart_policies[] = {"OnFailure", "Never", NULL};
static const char *const completion_modes[] = {"NonIndexed", "Indexed", NULL};
static const char *const concurrency_policies[] = {"Allow", "Forbid", "Replace", NULL};

static void default_job_spec(struct bt_arena *arena, struct bt_json_value *spec)
{
	if (bt_json_find(spec, "completions") == NULL &&
		bt_json_find(spec, "parallelism") == NULL) {
		bt_json_set_int64(arena, spec, "completions", 1);
		bt_json_set_int64(arena, spec, "parallelism", 1);
	}
	bt_kinds_default_int(arena, spec, "parallelism", 1);
	bt_kinds_default_int(arena, spec, "backoffLimit", DEFAULT_BACKOFF_LIMIT);
	bt_kinds_default_c(arena, spec, "completionMode", "NonIndexed");
	bt_kinds_default_bool(arena, spec, "suspend", false);
	bt_kinds_default_c(arena, spec, "podReplacementPolicy",
		bt_json_find(spec, "podFailurePolicy") != NULL ? "Failed" : "TerminatingOrFailed");
	bt_kinds_default_bool(arena, spec, "manualSelector", false);
	bt_kinds_default_pod_template(arena, spec);
}

static void default_job(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	const struct bt_json_value *labels = bt_json_object_at(spec, "template.metadata.labels");
	(void)bt_json_ensure_object(arena, object, "status");
	default_job_spec(arena, spec);
	if (labels->count != 0 && bt_json_object_at(metadata, "labels")->count == 0) {
		bt_json_set_value(arena, metadata, "labels", bt_json_clone(arena, labels, false));
	}
}

static void set_job_labels(
	struct bt_arena *arena, struct bt_json_value *labels, struct bt_str name, struct bt_str uid)
{
	bt_json_set_str(arena, labels, CONTROLLER_UID_LABEL, uid);
	bt_json_set_str(arena, labels, "batch.kubernetes.io/job-name", name);
	bt_json_set_str(arena, labels, "controller-uid", uid);
	bt_json_set_str(arena, labels, "job-name", name);
}

/** The selector is made from the uid, unless the sender has taken that upon himself. */
static void prepare_job(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	struct bt_str name = bt_kinds_text(metadata, "name");
	struct bt_str uid = bt_kinds_text(metadata, "uid");
	struct bt_json_value *template_metadata;
	struct bt_json_value *selector;
	(void)bt_kinds_reset_status(write, object, bt_json_new(arena, BT_JSON_OBJECT));
	if (bt_json_bool_at(spec, "manualSelector", false) ||
		(write->restoring && bt_json_object_at(spec, "selector")->count != 0)) {
		return;
	}
	template_metadata = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, spec, "template"), "metadata");
	set_job_labels(arena, bt_json_ensure_object(arena, template_metadata, "labels"), name, uid);
	if (bt_json_object_at(metadata, "labels")->count == 0) {
		set_job_labels(arena, bt_json_ensure_object(arena, metadata, "labels"), name, uid);
	}
	selector = bt_json_ensure_object(arena, spec, "selector");
	bt_json_set_str(arena, bt_json_ensure_object(arena, selector, "matchLabels"),
		CONTROLLER_UID_LABEL, uid);
}

static void validate_job_spec(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec, const struct bt_json_value *selector)
{
	static const char *const counters[] = {"parallelism", "completions", "backoffLimit",
		"activeDeadlineSeconds", "ttlSecondsAfterFinished"};
	const struct bt_json_value *template_ = bt_json_object_at(spec, "template");
	const struct bt_json_value *pod = bt_json_object_at(template_, "spec");
	const struct bt_path *pod_place = BT_PATH_NAME(BT_PATH_NAME(place, "template"), "spec");
	for (uint32_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		bt_kinds_check_not_negative(errors, place, spec, counters[i]);
	}
	bt_kinds_check_text_in(errors, place, spec, "completionMode", completion_modes, false);
	if (bt_str_equal_c(bt_kinds_text(spec, "completionMode"), "Indexed") &&
		bt_json_find(spec, "completions") == NULL) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "completions"), NULL,
			"when completion mode is Indexed");
	}
	bt_kinds_validate_pod_template(
		errors, BT_PATH_NAME(place, "template"), template_, selector);
	/* "Always" may be the default: then the sender has left the choice open. */
	if (bt_str_equal_c(bt_kinds_text(pod, "restartPolicy"), "Always")) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(pod_place, "restartPolicy"),
			NULL, "valid values: \"OnFailure\", \"Never\"");
	} else {
		bt_kinds_check_text_in(
			errors, pod_place, pod, "restartPolicy", restart_policies, false);
	}
}

static void validate_job(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	if (bt_kinds_object(spec, "selector") == NULL) {
		bt_kinds_error_required(errors, BT_PATH_NAME(place, "selector"));
	}
	bt_kinds_check_label_selector(
		errors, BT_PATH_NAME(place, "selector"), bt_kinds_object(spec, "selector"));
	validate_job_spec(errors, place, spec, bt_kinds_object(spec, "selector"));
}

/** Scheduling directives of a suspended job may change, in an update that starts nothing. */
static bool may_change_template(const struct bt_json_value *old, const struct bt_json_value *before)
{
	return bt_json_bool_at(before, "suspend", false) &&
		bt_json_find_path(old, "status.startTime") == NULL;
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
	bt_kinds_check_immutable(errors, place, before, after, "selector");
	bt_kinds_check_immutable(errors, place, before, after, "completionMode");
	if (!may_change_template(old, before)) {
		bt_kinds_check_immutable(errors, place, before, after, "template");
	}
	if (!bt_str_equal_c(bt_kinds_text(after, "completionMode"), "Indexed")) {
		bt_kinds_check_immutable(errors, place, before, after, "completions");
	}
}

const struct bt_strategy bt_strategy_job = {
	.set_defaults = default_job,
	.prepare_create = prepare_job,
	.validate = validate_job,
	.validate_update = validate_job_update,
};

static void default_cron_job(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *template_ = bt_json_ensure_object(arena, spec, "jobTemplate");
	struct bt_json_value *job = bt_json_ensure_object(arena, template_, "spec");
	(void)bt_json_ensure_object(arena, object, "status");
	(void)bt_json_ensure_object(arena, template_, "metadata");
	/* A job's own defaults come with each job. */
	bt_kinds_default_pod_template(arena, job);
}

static void prepare_cron_job(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_kinds_reset_status(write, object, bt_json_new(write->arena, BT_JSON_OBJECT));
}

static uint32_t word_count(struct bt_str text)
{
	uint32_t words = 0;
	for (uint32_t i = 0; i < text.length; i++) {
		bool blank = text.data[i] == ' ' || text.data[i] == '\t';
		bool before = i == 0 || text.data[i - 1] == ' ' || text.data[i - 1] == '\t';
		words += !blank && before ? 1U : 0U;
	}
	return words;
}

static void validate_cron_job(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	struct bt_str schedule = bt_kinds_text(spec, "schedule");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	if (bt_kinds_check_given(errors, place, spec, "schedule") && schedule.data[0] != '@' &&
		word_count(schedule) != 5) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "schedule"),
			bt_json_find(spec, "schedule"),
			"expected exactly 5 fields, found %u: [%.*s]", word_count(schedule),
			BT_STR_ARG(schedule));
	}
	bt_kinds_check_text_in(
		errors, place, spec, "concurrencyPolicy", concurrency_policies, true);
	bt_kinds_check_not_negative(errors, place, spec, "startingDeadlineSeconds");
	bt_kinds_check_not_negative(errors, place, spec, "successfulJobsHistoryLimit");
	bt_kinds_check_not_negative(errors, place, spec, "failedJobsHistoryLimit");
	validate_job_spec(errors, BT_PATH_NAME(BT_PATH_NAME(place, "jobTemplate"), "spec"),
		bt_json_object_at(spec, "jobTemplate.spec"), NULL);
}

const struct bt_strategy bt_strategy_cron_job = {
	.set_defaults = default_cron_job,
	.prepare_create = prepare_cron_job,
	.validate = validate_cron_job,
};
