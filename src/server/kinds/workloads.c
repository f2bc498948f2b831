/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/*
 * Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet. Spec: 14b sections 2.2,
 * 2.3, 3.3 and 5.
 */

static const char *const deployment_strategies[] = {"Recreate", "RollingUpdate", NULL};
static const char *const update_strategies[] = {"RollingUpdate", "OnDelete", NULL};
static const char *const pod_management_policies[] = {"OrderedReady", "Parallel", NULL};
static const char *const always_only[] = {"Always", NULL};

static struct bt_json_value *spec_of(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_json_ensure_object(write->arena, object, "status");
	return bt_json_ensure_object(write->arena, object, "spec");
}

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

/** "25%" or a number, not negative; at most 100%. */
void bt_kinds_check_int_or_percent(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, const char *name)
{
	const struct bt_json_value *value = bt_json_find(object, name);
	int64_t number = 0;
	if (value == NULL) {
		return;
	}
	if (value->type == BT_JSON_NUMBER) {
		bt_kinds_check_not_negative(errors, parent, object, name);
		return;
	}
	struct bt_str digits =
		bt_str_sub(value->text, 0, value->text.length > 0 ? value->text.length - 1 : 0);
	bool percent = value->type == BT_JSON_STRING &&
		bt_str_has_suffix(value->text, BT_STR("%")) && digits.length != 0 &&
		digits.data[0] >= '0' && digits.data[0] <= '9' &&
		bt_str_parse_int64(digits, &number);
	if (!percent) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(parent, name), value,
			"a valid percent string must be a numeric string followed by an ending "
			"'%%' (e.g. '1%%',  or '93%%', regex used for validation is '[0-9]+%%')");
	} else if (number > 100) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(parent, name), value,
			"must not be greater than 100%%");
	}
}

/** The selector is required, not empty, and that of the template's labels. */
void bt_kinds_check_workload_selector(struct bt_field_errors *errors,
	const struct bt_path *spec_place, const struct bt_json_value *spec)
{
	const struct bt_json_value *selector = bt_kinds_object(spec, "selector");
	const struct bt_path *place = BT_PATH_NAME(spec_place, "selector");
	if (selector == NULL) {
		bt_kinds_error_required(errors, place);
		return;
	}
	bt_kinds_check_label_selector(errors, place, selector);
	if (selector->count == 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, selector,
			"empty selector is invalid for this kind of workload");
	}
}

static void validate_template(struct bt_field_errors *errors, const struct bt_path *spec_place,
	const struct bt_json_value *spec, const struct bt_json_value *selector)
{
	const struct bt_path *place = BT_PATH_NAME(spec_place, "template");
	const struct bt_json_value *template_ = bt_json_object_at(spec, "template");
	bt_kinds_validate_pod_template(errors, place, template_, selector);
	bt_kinds_check_text_in(errors, BT_PATH_NAME(place, "spec"),
		bt_json_object_at(template_, "spec"), "restartPolicy", always_only, false);
}

/** What the four workloads of apps/v1 have in common. */
static const struct bt_json_value *validate_common(const struct bt_write *write,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_kinds_keeps_spec(write)) {
		return NULL;
	}
	bt_kinds_check_not_negative(errors, place, spec, "replicas");
	bt_kinds_check_not_negative(errors, place, spec, "minReadySeconds");
	bt_kinds_check_not_negative(errors, place, spec, "revisionHistoryLimit");
	bt_kinds_check_workload_selector(errors, place, spec);
	validate_template(errors, place, spec, bt_kinds_object(spec, "selector"));
	return spec;
}

static void validate_same_selector(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	if (!bt_kinds_keeps_spec(write)) {
		bt_kinds_check_immutable(errors, BT_PATH_NAME(NULL, "spec"),
			bt_json_find(old, "spec"), bt_json_find(object, "spec"), "selector");
	}
}

static struct bt_json_value *zeros(
	const struct bt_write *write, const char *const *names, uint32_t count)
{
	struct bt_json_value *status = bt_json_new(write->arena, BT_JSON_OBJECT);
	for (uint32_t i = 0; i < count; i++) {
		bt_json_set_int64(write->arena, status, names[i], 0);
	}
	return status;
}

/** --- Deployment --- */

static void default_deployment(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = spec_of(write, object);
	default_rolling(
		arena, spec, "strategy", bt_json_new_c(arena, "25%"), bt_json_new_c(arena, "25%"));
	bt_kinds_default_pod_template(arena, spec);
}

static void prepare_deployment(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_kinds_reset_status(write, object, bt_json_new(write->arena, BT_JSON_OBJECT));
}

static bool is_zero(const struct bt_json_value *object, const char *name)
{
	const struct bt_json_value *value = bt_json_find(object, name);
	return value == NULL || bt_str_equal_c(value->text, "0") ||
		bt_str_equal_c(value->text, "0%");
}

static void check_rolling(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *strategy)
{
	const struct bt_json_value *rolling = bt_kinds_object(strategy, "rollingUpdate");
	const struct bt_path *at = BT_PATH_NAME(place, "rollingUpdate");
	if (rolling == NULL) {
		return;
	}
	if (bt_str_equal_c(bt_kinds_text(strategy, "type"), "Recreate")) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, at, NULL,
			"may not be specified when strategy `type` is 'Recreate'");
		return;
	}
	bt_kinds_check_int_or_percent(errors, at, rolling, "maxUnavailable");
	bt_kinds_check_int_or_percent(errors, at, rolling, "maxSurge");
	if (is_zero(rolling, "maxUnavailable") && is_zero(rolling, "maxSurge")) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(at, "maxUnavailable"),
			bt_json_find(rolling, "maxUnavailable"),
			"may not be 0 when `maxSurge` is 0");
	}
}

static void validate_deployment(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = validate_common(write, object, errors);
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	if (spec == NULL) {
		return;
	}
	bt_kinds_check_text_in(errors, BT_PATH_NAME(place, "strategy"),
		bt_json_object_at(spec, "strategy"), "type", deployment_strategies, false);
	check_rolling(errors, BT_PATH_NAME(place, "strategy"), bt_json_object_at(spec, "strategy"));
	bt_kinds_check_not_negative(errors, place, spec, "progressDeadlineSeconds");
	if (bt_json_int64_at(spec, "progressDeadlineSeconds", INT64_MAX) <=
		bt_json_int64_at(spec, "minReadySeconds", 0)) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(place, "progressDeadlineSeconds"),
			bt_json_find(spec, "progressDeadlineSeconds"),
			"must be greater than minReadySeconds");
	}
}

const struct bt_strategy bt_strategy_deployment = {
	.set_defaults = default_deployment,
	.prepare_create = prepare_deployment,
	.validate = validate_deployment,
	.validate_update = validate_same_selector,
};

/** --- ReplicaSet --- */

static void default_replica_set(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = spec_of(write, object);
	bt_kinds_default_pod_template(write->arena, spec);
}

static void prepare_replicas(const struct bt_write *write, struct bt_json_value *object)
{
	static const char *const names[] = {"replicas"};
	(void)bt_kinds_reset_status(write, object, zeros(write, names, 1));
}

static void validate_replica_set(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)validate_common(write, object, errors);
}

const struct bt_strategy bt_strategy_replica_set = {
	.set_defaults = default_replica_set,
	.prepare_create = prepare_replicas,
	.validate = validate_replica_set,
	.validate_update = validate_same_selector,
};

/** --- ReplicationController --- */

static void default_replication_controller(
	const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = spec_of(write, object);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	const struct bt_json_value *labels = bt_json_object_at(spec, "template.metadata.labels");
	if (bt_json_find(spec, "template") != NULL) {
		bt_kinds_default_pod_template(arena, spec);
	}
	if (labels->count != 0) {
		if (bt_json_object_at(spec, "selector")->count == 0) {
			bt_json_set_value(
				arena, spec, "selector", bt_json_clone(arena, labels, false));
		}
		if (bt_json_object_at(metadata, "labels")->count == 0) {
			bt_json_set_value(
				arena, metadata, "labels", bt_json_clone(arena, labels, false));
		}
	}
}

static void validate_replication_controller(const struct bt_write *write,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	struct bt_json_value *selector;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	bt_kinds_check_not_negative(errors, place, spec, "replicas");
	bt_kinds_check_not_negative(errors, place, spec, "minReadySeconds");
	if (bt_json_object_at(spec, "selector")->count == 0) {
		bt_kinds_error_required(errors, BT_PATH_NAME(place, "selector"));
	}
	if (bt_json_find(spec, "template") == NULL) {
		bt_kinds_error_required(errors, BT_PATH_NAME(place, "template"));
		return;
	}
	selector = bt_json_new(errors->arena, BT_JSON_OBJECT);
	if (bt_kinds_object(spec, "selector") != NULL) {
		bt_json_set_value(
			errors->arena, selector, "matchLabels", bt_kinds_object(spec, "selector"));
	}
	validate_template(errors, place, spec, selector);
}

const struct bt_strategy bt_strategy_replication_controller = {
	.set_defaults = default_replication_controller,
	.prepare_create = prepare_replicas,
	.validate = validate_replication_controller,
};

/** --- StatefulSet --- */

static void default_claim_templates(struct bt_arena *arena, const struct bt_json_value *spec)
{
	const struct bt_json_value *claims = bt_json_array_at(spec, "volumeClaimTemplates");
	for (uint32_t i = 0; i < claims->count; i++) {
		struct bt_json_value *claim = claims->elements[i];
		if (claim->type != BT_JSON_OBJECT) {
			continue;
		}
		bt_kinds_default_c(arena, claim, "kind", "PersistentVolumeClaim");
		bt_kinds_default_c(arena, claim, "apiVersion", "v1");
	}
}

static void default_stateful_set(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = spec_of(write, object);
	struct bt_json_value *update = bt_json_ensure_object(arena, spec, "updateStrategy");
	struct bt_json_value *retention =
		bt_json_ensure_object(arena, spec, "persistentVolumeClaimRetentionPolicy");
	if (bt_str_equal_c(bt_kinds_text(update, "type"), "RollingUpdate")) {
		bt_kinds_default_int(arena, bt_json_ensure_object(arena, update, "rollingUpdate"),
			"partition", 0);
	}
	bt_kinds_default_c(arena, retention, "whenDeleted", "Retain");
	bt_kinds_default_c(arena, retention, "whenScaled", "Retain");
	default_claim_templates(arena, spec);
	bt_kinds_default_pod_template(arena, spec);
}

static void prepare_stateful_set(const struct bt_write *write, struct bt_json_value *object)
{
	static const char *const names[] = {"replicas", "availableReplicas"};
	(void)bt_kinds_reset_status(write, object, zeros(write, names, 2));
}

static void validate_stateful_set(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = validate_common(write, object, errors);
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	if (spec == NULL) {
		return;
	}
	bt_kinds_check_text_in(
		errors, place, spec, "podManagementPolicy", pod_management_policies, true);
	bt_kinds_check_text_in(errors, BT_PATH_NAME(place, "updateStrategy"),
		bt_json_object_at(spec, "updateStrategy"), "type", update_strategies, true);
	bt_kinds_check_not_negative(errors, BT_PATH_NAME(place, "ordinals"),
		bt_json_object_at(spec, "ordinals"), "start");
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
	for (uint32_t i = 0; i < sizeof(changeable) / sizeof(changeable[0]); i++) {
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
	.set_defaults = default_stateful_set,
	.prepare_create = prepare_stateful_set,
	.validate = validate_stateful_set,
	.validate_update = validate_stateful_set_update,
};

/** --- DaemonSet --- */

static void default_daemon_set(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = spec_of(write, object);
	struct bt_json_value *annotations = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, object, "metadata"), "annotations");
	default_rolling(arena, spec, "updateStrategy", bt_json_new_int64(arena, 1),
		bt_json_new_int64(arena, 0));
	bt_kinds_default_c(arena, annotations, "deprecated.daemonset.template.generation", "1");
	bt_kinds_default_pod_template(arena, spec);
}

static void prepare_daemon_set(const struct bt_write *write, struct bt_json_value *object)
{
	static const char *const names[] = {"currentNumberScheduled", "numberMisscheduled",
		"desiredNumberScheduled", "numberReady"};
	(void)bt_kinds_reset_status(write, object, zeros(write, names, 4));
}

static void validate_daemon_set(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = validate_common(write, object, errors);
	const struct bt_json_value *update = bt_json_object_at(spec, "updateStrategy");
	const struct bt_path *place = BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "updateStrategy");
	const struct bt_json_value *rolling = bt_kinds_object(update, "rollingUpdate");
	if (spec == NULL) {
		return;
	}
	bt_kinds_check_text_in(errors, place, update, "type", update_strategies, true);
	if (rolling != NULL) {
		const struct bt_path *at = BT_PATH_NAME(place, "rollingUpdate");
		bt_kinds_check_int_or_percent(errors, at, rolling, "maxUnavailable");
		bt_kinds_check_int_or_percent(errors, at, rolling, "maxSurge");
	}
}

const struct bt_strategy bt_strategy_daemon_set = {
	.set_defaults = default_daemon_set,
	.prepare_create = prepare_daemon_set,
	.validate = validate_daemon_set,
	.validate_update = validate_same_selector,
};
