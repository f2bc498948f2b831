/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/*
 * Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet, PodTemplate. Spec: 14b
 * sections 2.2, 2.3, 3.3 and 5.
 */

/** {type, rollingUpdate} of Deployments and DaemonSets. */
static void default_rolling(struct bt_arena *arena, struct bt_json_value *spec, const char *name,
	struct bt_json_value *unavailable, struct bt_json_value *surge)
{
	struct bt_json_value *strategy = bt_json_ensure_object(arena, spec, name);
	struct bt_json_value *rolling;
	if (!bt_str_equal_c(bt_kinds_text(strategy, "type"), "RollingUpdate")) {
		return;
	}
	rolling = bt_json_ensure_object(arena, strategy, "rollingUpdate");
	if (bt_json_find(rolling, "maxUnavailable") == NULL) {
		bt_json_set_value(arena, rolling, "maxUnavailable", unavailable);
	}
	if (bt_json_find(rolling, "maxSurge") == NULL) {
		bt_json_set_value(arena, rolling, "maxSurge", surge);
	}
}

void bt_kinds_check_template_labels(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec, const struct bt_json_value *selector)
{
	const struct bt_json_value *labels = bt_json_object_at(spec, "template.metadata.labels");
	if (selector != NULL && selector->count != 0 &&
		!bt_kinds_selector_matches(errors->arena, selector, labels)) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(BT_PATH_NAME(place, "metadata"), "labels"), labels,
			"`selector` does not match template `labels`");
	}
}

static void check_template(struct bt_field_errors *errors, const struct bt_path *spec_place,
	const struct bt_json_value *spec, const struct bt_json_value *selector)
{
	static const char *const always_only[] = {"Always", NULL};
	const struct bt_path *place = BT_PATH_NAME(spec_place, "template");
	const struct bt_json_value *policy = bt_json_find_path(spec, "template.spec.restartPolicy");
	bt_kinds_check_template_labels(errors, place, spec, selector);
	if (policy != NULL) {
		bt_kinds_check_allowed(errors,
			BT_PATH_NAME(BT_PATH_NAME(place, "spec"), "restartPolicy"), policy,
			always_only);
	}
}

void bt_rule_workload(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	const struct bt_json_value *selector = bt_kinds_object(spec, "selector");
	if (selector != NULL && selector->count == 0) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "selector"),
			selector, "empty selector is invalid for this kind of workload");
	}
	check_template(check->errors, place, spec, selector);
}

void bt_rule_pod_template(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *template_)
{
	bt_kinds_check_labels(check->errors,
		BT_PATH_NAME(BT_PATH_NAME(place, "metadata"), "labels"),
		bt_json_object_at(template_, "metadata.labels"));
}

/** set_defaults of kinds that have a template and nothing else to default by hand. */
static void default_template(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_kinds_object(object, "spec");
	bt_kinds_default_pod_template(write->arena, spec != NULL ? spec : object);
}

const struct bt_strategy bt_strategy_pod_template = {.set_defaults = default_template};

const struct bt_strategy bt_strategy_replica_set = {
	.resets_status = true,
	.set_defaults = default_template,
};

/** --- Deployment --- */

static void default_deployment(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	default_rolling(arena, bt_json_ensure_object(arena, object, "spec"), "strategy",
		bt_json_new_c(arena, "25%"), bt_json_new_c(arena, "25%"));
	default_template(write, object);
}

static bool is_zero(const struct bt_json_value *object, const char *name)
{
	const struct bt_json_value *value = bt_json_find(object, name);
	return value == NULL || bt_str_equal_c(value->text, "0") ||
		bt_str_equal_c(value->text, "0%");
}

void bt_rule_deployment(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *strategy = bt_json_object_at(spec, "strategy");
	const struct bt_json_value *rolling = bt_kinds_object(strategy, "rollingUpdate");
	const struct bt_path *at = BT_PATH_NAME(BT_PATH_NAME(place, "strategy"), "rollingUpdate");
	bt_rule_workload(check, place, spec);
	if (rolling != NULL && bt_str_equal_c(bt_kinds_text(strategy, "type"), "Recreate")) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, at, NULL,
			"may not be specified when strategy `type` is 'Recreate'");
	} else if (rolling != NULL && is_zero(rolling, "maxUnavailable") &&
		is_zero(rolling, "maxSurge")) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(at, "maxUnavailable"),
			bt_json_find(rolling, "maxUnavailable"),
			"may not be 0 when `maxSurge` is 0");
	}
	if (bt_json_int64_at(spec, "progressDeadlineSeconds", INT64_MAX) <=
		bt_json_int64_at(spec, "minReadySeconds", 0)) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(place, "progressDeadlineSeconds"),
			bt_json_find(spec, "progressDeadlineSeconds"),
			"must be greater than minReadySeconds");
	}
}

const struct bt_strategy bt_strategy_deployment = {
	.resets_status = true,
	.set_defaults = default_deployment,
};

/** --- ReplicationController --- */

static void default_replication_controller(
	const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	const struct bt_json_value *labels = bt_json_object_at(spec, "template.metadata.labels");
	if (bt_json_find(spec, "template") != NULL) {
		bt_kinds_default_pod_template(arena, spec);
	}
	if (labels->count != 0 && bt_json_object_at(spec, "selector")->count == 0) {
		bt_json_set_value(arena, spec, "selector", bt_json_clone(arena, labels, false));
	}
	if (labels->count != 0 && bt_json_object_at(metadata, "labels")->count == 0) {
		bt_json_set_value(arena, metadata, "labels", bt_json_clone(arena, labels, false));
	}
}

void bt_rule_replication_controller(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_json_value *selector = bt_json_new(check->errors->arena, BT_JSON_OBJECT);
	if (bt_kinds_object(spec, "selector") != NULL) {
		bt_json_set_value(check->errors->arena, selector, "matchLabels",
			bt_kinds_object(spec, "selector"));
	}
	if (bt_json_find(spec, "template") != NULL) {
		check_template(check->errors, place, spec, selector);
	}
}

const struct bt_strategy bt_strategy_replication_controller = {
	.resets_status = true,
	.set_defaults = default_replication_controller,
};

/** --- StatefulSet --- */

static void default_stateful_set(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *update = bt_json_ensure_object(arena, spec, "updateStrategy");
	struct bt_json_value *retention =
		bt_json_ensure_object(arena, spec, "persistentVolumeClaimRetentionPolicy");
	const struct bt_json_value *claims = bt_json_array_at(spec, "volumeClaimTemplates");
	if (bt_str_equal_c(bt_kinds_text(update, "type"), "RollingUpdate")) {
		bt_kinds_default_int(arena, bt_json_ensure_object(arena, update, "rollingUpdate"),
			"partition", 0);
	}
	bt_kinds_default_c(arena, retention, "whenDeleted", "Retain");
	bt_kinds_default_c(arena, retention, "whenScaled", "Retain");
	for (uint32_t i = 0; i < claims->count; i++) {
		bt_kinds_default_c(arena, claims->elements[i], "kind", "PersistentVolumeClaim");
		bt_kinds_default_c(arena, claims->elements[i], "apiVersion", "v1");
	}
	bt_kinds_default_pod_template(arena, spec);
}

static void validate_stateful_set_update(const struct bt_write *write,
	const struct bt_json_value *old, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	static const char *const changeable[] = {"replicas", "ordinals", "template",
		"updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy",
		"minReadySeconds"};
	struct bt_json_value *before;
	struct bt_json_value *after;
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	before = bt_json_clone(write->arena, bt_json_object_at(old, "spec"), false);
	after = bt_json_clone(write->arena, bt_json_object_at(object, "spec"), false);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(changeable); i++) {
		(void)bt_json_remove_c(before, changeable[i]);
		(void)bt_json_remove_c(after, changeable[i]);
	}
	if (!bt_json_equal(before, after)) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, "spec"), NULL,
			"updates to statefulset spec for fields other than 'replicas', "
			"'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
			"'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
			"forbidden");
	}
}

const struct bt_strategy bt_strategy_stateful_set = {
	.resets_status = true,
	.set_defaults = default_stateful_set,
	.validate_update = validate_stateful_set_update,
};

/** --- DaemonSet --- */

static void default_daemon_set(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *annotations = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, object, "metadata"), "annotations");
	default_rolling(arena, bt_json_ensure_object(arena, object, "spec"), "updateStrategy",
		bt_json_new_int64(arena, 1), bt_json_new_int64(arena, 0));
	bt_kinds_default_c(arena, annotations, "deprecated.daemonset.template.generation", "1");
	default_template(write, object);
}

const struct bt_strategy bt_strategy_daemon_set = {
	.resets_status = true,
	.set_defaults = default_daemon_set,
};
