/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission_private.h"

/*
 * Priority: sets the priority of pods and pod groups by their PriorityClass. Spec: 14b section 4.4.
 */

/** How a true globalDefault appears in a stored text: stored JSON has no blanks. */
#define GLOBAL_DEFAULT BT_STR("\"globalDefault\":true")

struct search {
	struct bt_str except; /* name of a class to ignore */
	const struct bt_json_value *found;
};

/** Finds the default class with the lowest value, since several may exist. */
static bool take_lowest(void *context, const struct bt_json_value *class_)
{
	struct search *search = context;
	if (bt_json_bool_at(class_, "globalDefault", false) &&
		!bt_str_equal(bt_json_text_at(class_, "metadata.name"), search->except) &&
		(search->found == NULL ||
			bt_json_int64_at(class_, "value", 0) <
				bt_json_int64_at(search->found, "value", 0))) {
		search->found = class_;
	}
	return true;
}

static const struct bt_json_value *global_default(
	const struct bt_admission *admission, struct bt_str except)
{
	struct search search = {.except = except};
	bt_admission_visit(admission, "scheduling.k8s.io", "priorityclasses", BT_STR(""),
		GLOBAL_DEFAULT, take_lowest, &search);
	return search.found;
}

/** Finds the PriorityClass of spec (NULL: none) and sets its name in spec. false: refused. */
static bool find_class(struct bt_admission *admission, struct bt_json_value *spec,
	const struct bt_json_value **out_class)
{
	struct bt_str name = bt_kinds_text(spec, "priorityClassName");
	if (name.length == 0) {
		*out_class = global_default(admission, BT_STR(""));
		if (*out_class != NULL) {
			bt_json_set_str(admission->write->arena, spec, "priorityClassName",
				bt_json_text_at(*out_class, "metadata.name"));
		}
		return true;
	}
	*out_class = bt_admission_read(admission, "scheduling.k8s.io", "priorityclasses", name);
	/* A dump may lack the classes, but its pods have their priority. */
	if (*out_class == NULL &&
		!(admission->write->restoring && bt_json_find(spec, "priority") != NULL)) {
		bt_admission_refuse(
			admission, "no PriorityClass with name %.*s was found", BT_STR_ARG(name));
		return false;
	}
	return true;
}

/** Sets spec.priority; refuses the request if spec has another value. */
static void set_priority(struct bt_admission *admission, struct bt_json_value *spec, int64_t value)
{
	const struct bt_json_value *given = bt_json_find(spec, "priority");
	if (given == NULL) {
		bt_json_set_int64(admission->write->arena, spec, "priority", value);
	} else if (bt_json_int64_at(spec, "priority", 0) != value && !admission->write->restoring) {
		bool is_pod = bt_admission_is(admission, "", "pods");
		bt_admission_refuse(admission,
			"the integer value of priority (%.*s) must not be provided in %s spec; "
			"priority admission controller computed %lld from the given PriorityClass "
			"name",
			BT_STR_ARG(given->text), is_pod ? "pod" : "pod group", (long long)value);
	}
}

/** Keeps the old value of a field that the update leaves out. */
static void keep(struct bt_admission *admission, struct bt_json_value *spec, const char *name)
{
	const struct bt_json_value *old_spec = bt_kinds_object(admission->old, "spec");
	struct bt_json_value *value = bt_json_find(old_spec, name);
	if (value != NULL && bt_json_find(spec, name) == NULL) {
		bt_json_set_value(admission->write->arena, spec, name, value);
	}
}

void bt_admission_set_pod_priority(struct bt_admission *admission, struct bt_json_value *pod)
{
	struct bt_json_value *spec = bt_json_ensure_object(admission->write->arena, pod, "spec");
	const struct bt_json_value *class_;
	struct bt_str policy;
	if (admission->old != NULL) {
		keep(admission, spec, "priority");
		keep(admission, spec, "preemptionPolicy");
		return;
	}
	if (!find_class(admission, spec, &class_)) {
		return;
	}
	policy = bt_kinds_text(class_, "preemptionPolicy");
	if (policy.length == 0) {
		policy = BT_STR("PreemptLowerPriority");
	}
	set_priority(admission, spec, bt_json_int64_at(class_, "value", 0));
	if (!bt_admission_is_refused(admission)) {
		struct bt_str given = bt_kinds_text(spec, "preemptionPolicy");
		if (given.length == 0) {
			bt_json_set_str(admission->write->arena, spec, "preemptionPolicy", policy);
		} else if (!bt_str_equal(given, policy) && !admission->write->restoring) {
			bt_admission_refuse(admission,
				"the string value of PreemptionPolicy (%.*s) must not be provided "
				"in pod "
				"spec; priority admission controller computed %.*s from the given "
				"PriorityClass name",
				BT_STR_ARG(given), BT_STR_ARG(policy));
		}
	}
}

void bt_admission_set_group_priority(struct bt_admission *admission, struct bt_json_value *group)
{
	struct bt_json_value *spec = bt_json_ensure_object(admission->write->arena, group, "spec");
	const struct bt_json_value *class_;
	if (admission->old != NULL) {
		keep(admission, spec, "priority");
	} else if (find_class(admission, spec, &class_)) {
		set_priority(admission, spec, bt_json_int64_at(class_, "value", 0));
	}
}

void bt_admission_check_priority_class(
	struct bt_admission *admission, const struct bt_json_value *class_)
{
	const struct bt_json_value *other;
	if (!bt_json_bool_at(class_, "globalDefault", false) || admission->write->restoring) {
		return;
	}
	other = global_default(admission, bt_json_text_at(class_, "metadata.name"));
	if (other != NULL) {
		bt_admission_refuse(admission,
			"PriorityClass %.*s is already marked as default. Only one default can "
			"exist",
			BT_STR_ARG(bt_json_text_at(other, "metadata.name")));
	}
}
