/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cron.h"
#include "server/kinds/common.h"

/*
 * Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet, PodTemplate, Job, CronJob.
 * Spec: 14b sections 2.2, 2.3, 3.3 and 5.
 */

void bt_kinds_check_template_labels(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec, const struct bt_json_value *selector)
{
	const struct bt_json_value *labels = bt_json_find_path(spec, "template.metadata.labels");
	static const struct bt_json_value none = {.type = BT_JSON_NULL};
	if (selector == NULL ||
		(selector->count != 0 &&
			!bt_kinds_selector_matches(
				selector, bt_json_object_at(spec, "template.metadata.labels")))) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "metadata.labels"),
			labels != NULL ? labels : &none,
			"`selector` does not match template `labels`");
	}
}

const struct bt_json_value *bt_kinds_enter_template(struct bt_check *check,
	const struct bt_path *place, const struct bt_schema_message *message,
	const struct bt_json_value *spec)
{
	static const struct {
		const char *message;
		const char *workload;
	} rows[] = {
		{"DaemonSetSpec", "daemonset"},
		{"DeploymentSpec", "deployment"},
		{"ReplicaSetSpec", "replicaset"},
		{"StatefulSetSpec", "statefulset"},
	};
	const struct bt_json_value *template_ = bt_json_find(spec, "template");
	const struct bt_json_value *selector = bt_kinds_object(spec, "selector");
	const struct bt_json_value *claims = bt_json_array_at(spec, "volumeClaimTemplates");
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (strcmp(message->name, rows[i].message) != 0) {
			continue;
		}
		if (selector != NULL && selector->count == 0) {
			bt_kinds_error(check->errors, BT_FIELD_INVALID,
				BT_PATH_NAME(place, "selector"), selector,
				"empty selector is invalid for %s", rows[i].workload);
		}
		bt_kinds_check_template_labels(
			check->errors, BT_PATH_NAME(place, "template"), spec, selector);
	}
	if (template_ == NULL || claims->count == 0) {
		return template_;
	}
	/* The claim templates of a StatefulSet replace volumes of the same name. */
	struct bt_arena *arena = check->errors->arena;
	struct bt_json_value *copy = bt_json_clone(arena, template_, false);
	struct bt_json_value *pod_spec = bt_json_ensure_object(arena, copy, "spec");
	const struct bt_json_value *given = bt_json_array_at(pod_spec, "volumes");
	struct bt_json_value *volumes = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_text_set names = {0};
	for (uint32_t i = 0; i < claims->count; i++) {
		struct bt_str name = bt_json_text_at(claims->elements[i], "metadata.name");
		bt_json_put(arena, volumes, "[{name: %s, persistentVolumeClaim: {claimName: %s}}]",
			name, name);
		(void)bt_text_set_add(&names, name);
	}
	for (uint32_t i = 0; i < given->count; i++) {
		if (!bt_text_set_has(&names, bt_kinds_text(given->elements[i], "name"))) {
			bt_json_append(arena, volumes, given->elements[i]);
		}
	}
	bt_text_set_finish(&names);
	bt_json_set_value(arena, pod_spec, "volumes", volumes);
	return copy;
}

/** Deployments, ReplicaSets and CronJobs. */
const struct bt_strategy bt_strategy_workload = {
	.resets_status = true,
	.validates_spec_alone = true,
};

/** --- ReplicationController --- */

void bt_rule_replication_controller(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_json_value *selector = bt_json_new(check->errors->arena, BT_JSON_OBJECT);
	if (bt_kinds_object(spec, "selector") != NULL) {
		bt_json_set_value(check->errors->arena, selector, "matchLabels",
			bt_kinds_object(spec, "selector"));
	}
	if (bt_json_find(spec, "template") != NULL) {
		bt_kinds_check_template_labels(
			check->errors, BT_PATH_NAME(place, "template"), spec, selector);
	}
}

/** --- StatefulSet --- */

static void default_stateful_set(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	const struct bt_json_value *claims = bt_json_array_at(spec, "volumeClaimTemplates");
	for (uint32_t i = 0; i < claims->count; i++) {
		bt_kinds_default_c(arena, claims->elements[i], "kind", "PersistentVolumeClaim");
		bt_kinds_default_c(arena, claims->elements[i], "apiVersion", "v1");
	}
}

const struct bt_strategy bt_strategy_stateful_set = {
	.resets_status = true,
	.validates_spec_alone = true,
	.set_defaults = default_stateful_set,
};

/** --- DaemonSet --- */

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

static void prepare_daemon_set(const struct bt_write *write, struct bt_json_value *object)
{
	if (!write->restoring) {
		bt_json_put(write->arena, object,
			"{metadata: {annotations: {'" TEMPLATE_GENERATION "': '1'}}}");
	}
}

/* Counts the changes of the template in an annotation; ignores the client's value. */
static void prepare_daemon_set_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	const struct bt_json_value *annotation =
		bt_json_find(bt_json_find_path(old, "metadata.annotations"), TEMPLATE_GENERATION);
	int64_t generation = 0;
	if (annotation == NULL || !bt_str_parse_int64(annotation->text, &generation)) {
		generation = 0;
	}
	if (!bt_kinds_keeps_spec(write) &&
		!bt_kinds_same(bt_json_find_path(old, "spec.template"),
			bt_json_find_path(object, "spec.template")) &&
		generation < INT64_MAX) {
		generation++;
	}
	bt_json_put(write->arena, object,
		"{metadata: {annotations: {'" TEMPLATE_GENERATION "': %s}}}",
		bt_arena_printf(write->arena, "%lld", (long long)generation));
}

static void default_daemon_set(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *annotations = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, object, "metadata"), "annotations");
	bt_kinds_default_c(arena, annotations, TEMPLATE_GENERATION, "0");
}

const struct bt_strategy bt_strategy_daemon_set = {
	.resets_status = true,
	.validates_spec_alone = true,
	.prepare_create = prepare_daemon_set,
	.prepare_update = prepare_daemon_set_update,
	.set_defaults = default_daemon_set,
};

/** --- Job and CronJob --- */

#define CONTROLLER_UID_LABEL "batch.kubernetes.io/controller-uid"

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
	.prepare_create = prepare_job,
};

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
