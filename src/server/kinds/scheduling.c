/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* PriorityClass, PodGroup, Workload. Spec: 14b sections 2.3, 3.3, 4.4 and 5. */

#define PRIORITY_USER_MAX INT64_C(1000000000)
#define TEMPLATES_MAX 8

static const char *const preemption_policies[] = {"PreemptLowerPriority", "Never", NULL};
static const char *const disruption_modes[] = {"Pod", "PodGroup", NULL};

static const struct {
	const char *name;
	int64_t value;
} system_classes[] = {
	{"system-cluster-critical", 2000000000},
	{"system-node-critical", 2000001000},
};

static bool is_system_class(struct bt_str name, int64_t value)
{
	for (uint32_t i = 0; i < sizeof(system_classes) / sizeof(system_classes[0]); i++) {
		if (bt_str_equal_c(name, system_classes[i].name) &&
			value == system_classes[i].value) {
			return true;
		}
	}
	return false;
}

static void validate_class(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	struct bt_str name = bt_json_text_at(object, "metadata.name");
	int64_t value = bt_json_int64_at(object, "value", 0);
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (!is_system_class(name, value)) {
		if (bt_str_has_prefix(name, BT_STR("system-"))) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
				BT_PATH_NAME(BT_PATH_NAME(NULL, "metadata"), "name"), NULL,
				"priority class names with 'system-' prefix are reserved for "
				"system use only");
		}
		if (value > PRIORITY_USER_MAX) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, "value"),
				NULL,
				"maximum allowed value of a user defined priority is 1000000000");
		}
	}
	bt_kinds_check_text_in(
		errors, NULL, object, "preemptionPolicy", preemption_policies, false);
}

static void validate_class_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	(void)write;
	if (bt_json_int64_at(old, "value", 0) != bt_json_int64_at(object, "value", 0)) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, "value"), NULL,
			"may not be changed in an update.");
	}
	bt_kinds_check_immutable(errors, NULL, old, object, "preemptionPolicy");
}

const struct bt_strategy bt_strategy_priority_class = {
	.validate = validate_class,
	.validate_update = validate_class_update,
};

/** --- PodGroup --- */

static void default_group(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_json_ensure_object(write->arena, object, "status");
}

static void prepare_group(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_kinds_reset_status(write, object, bt_json_new(write->arena, BT_JSON_OBJECT));
}

/** Of a group, and of a group's template in a workload. */
static void check_group(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	const struct bt_json_value *policy = bt_kinds_object(spec, "schedulingPolicy");
	const struct bt_path *at = BT_PATH_NAME(place, "schedulingPolicy");
	const struct bt_json_value *gang = bt_kinds_object(policy, "gang");
	bool basic = bt_kinds_object(policy, "basic") != NULL;
	if (!basic && gang == NULL) {
		bt_kinds_error(errors, BT_FIELD_INVALID, at,
			policy != NULL ? policy : bt_json_object_at(NULL, ""),
			"must specify one of: `basic`, `gang`");
	} else if (basic && gang != NULL) {
		bt_kinds_error(errors, BT_FIELD_INVALID, at, policy,
			"must specify exactly one of: `basic`, `gang`");
	}
	if (gang != NULL && bt_json_int64_at(gang, "minCount", 0) < 1) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(BT_PATH_NAME(at, "gang"), "minCount"),
			bt_kinds_int_value(errors, bt_json_int64_at(gang, "minCount", 0)),
			"must be greater than or equal to 1");
	}
	bt_kinds_check_text_in(errors, place, spec, "disruptionMode", disruption_modes, false);
	if (bt_kinds_text(spec, "priorityClassName").length != 0) {
		bt_kinds_check_name(errors, BT_PATH_NAME(place, "priorityClassName"),
			bt_json_find(spec, "priorityClassName"), BT_NAME_SUBDOMAIN);
	}
}

static void validate_group(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_json_value *reference =
		bt_kinds_object(bt_kinds_object(spec, "podGroupTemplateRef"), "workload");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	check_group(errors, place, spec);
	if (reference != NULL) {
		const struct bt_path *at =
			BT_PATH_NAME(BT_PATH_NAME(place, "podGroupTemplateRef"), "workload");
		(void)bt_kinds_check_given(errors, at, reference, "workloadName");
		(void)bt_kinds_check_given(errors, at, reference, "podGroupTemplateName");
	}
}

static void validate_group_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	static const char *const names[] = {"podGroupTemplateRef", "schedulingPolicy",
		"schedulingConstraints", "resourceClaims", "priorityClassName", "priority"};
	const struct bt_json_value *before = bt_json_object_at(old, "spec");
	const struct bt_json_value *after = bt_json_object_at(object, "spec");
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bt_kinds_check_immutable(
			errors, BT_PATH_NAME(NULL, "spec"), before, after, names[i]);
	}
}

const struct bt_strategy bt_strategy_pod_group = {
	.set_defaults = default_group,
	.prepare_create = prepare_group,
	.validate = validate_group,
	.validate_update = validate_group_update,
};

/** --- Workload --- */

static void validate_workload(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_json_value *templates = bt_json_array_at(spec, "podGroupTemplates");
	const struct bt_path *place = BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "podGroupTemplates");
	struct bt_names seen = {.arena = errors->arena};
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (templates->count == 0) {
		bt_kinds_error_required(errors, place);
	} else if (templates->count > TEMPLATES_MAX) {
		bt_kinds_error(errors, BT_FIELD_TOO_MANY, place, NULL, "must have at most %d items",
			TEMPLATES_MAX);
	}
	for (uint32_t i = 0; i < templates->count; i++) {
		const struct bt_json_value *template_ = templates->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		if (bt_kinds_check_given(errors, &at, template_, "name")) {
			bt_kinds_check_name(errors, BT_PATH_NAME(&at, "name"),
				bt_json_find(template_, "name"), BT_NAME_LABEL);
			if (!bt_names_add(&seen, bt_kinds_text(template_, "name"))) {
				bt_kinds_error_duplicate(errors, BT_PATH_NAME(&at, "name"),
					bt_json_find(template_, "name"));
			}
		}
		check_group(errors, &at, template_);
	}
}

static void validate_workload_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_immutable(errors, BT_PATH_NAME(NULL, "spec"), bt_json_find(old, "spec"),
		bt_json_find(object, "spec"), "podGroupTemplates");
}

const struct bt_strategy bt_strategy_workload = {
	.validate = validate_workload,
	.validate_update = validate_workload_update,
};
