/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission_private.h"

/* ServiceAccount, DefaultTolerationSeconds, RuntimeClass. Spec: 14b sections 4.3, 4.6, 4.9. */

#define DEFAULT_TOLERATION_SECONDS 300
/** A repeated toleration does no harm, comparing thousands with thousands would. */
#define COMPARED_TOLERATIONS_MAX 256

/** The name only: whether the account is there makes no difference to anything. */
void bt_admission_set_service_account(struct bt_admission *admission, struct bt_json_value *pod)
{
	struct bt_arena *arena = admission->write->arena;
	struct bt_json_value *spec;
	if (admission->old != NULL ||
		!bt_api_options(admission->write->api)->admit_service_account) {
		return;
	}
	spec = bt_json_ensure_object(arena, pod, "spec");
	if (bt_kinds_text(spec, "serviceAccountName").length == 0) {
		bt_json_set_c(arena, spec, "serviceAccountName", "default");
		bt_json_set_c(arena, spec, "serviceAccount", "default");
	}
}

static bool tolerates(const struct bt_json_value *tolerations, const char *taint_key)
{
	for (uint32_t i = 0; i < tolerations->count; i++) {
		struct bt_str key = bt_kinds_text(tolerations->elements[i], "key");
		struct bt_str effect = bt_kinds_text(tolerations->elements[i], "effect");
		if ((key.length == 0 || bt_str_equal_c(key, taint_key)) &&
			(effect.length == 0 || bt_str_equal_c(effect, "NoExecute"))) {
			return true;
		}
	}
	return false;
}

void bt_admission_set_tolerations(struct bt_admission *admission, struct bt_json_value *pod)
{
	static const char *const keys[] = {
		"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
	struct bt_arena *arena = admission->write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, pod, "spec");
	for (uint32_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!tolerates(bt_json_array_at(spec, "tolerations"), keys[i])) {
			struct bt_json_value *toleration = bt_json_new(arena, BT_JSON_OBJECT);
			bt_json_set_c(arena, toleration, "key", keys[i]);
			bt_json_set_c(arena, toleration, "operator", "Exists");
			bt_json_set_c(arena, toleration, "effect", "NoExecute");
			bt_json_set_int64(
				arena, toleration, "tolerationSeconds", DEFAULT_TOLERATION_SECONDS);
			bt_json_append(arena, bt_json_ensure_array(arena, spec, "tolerations"),
				toleration);
		}
	}
}

/** --- RuntimeClass --- */

static void set_overhead(
	struct bt_admission *admission, struct bt_json_value *spec, struct bt_json_value *fixed)
{
	const struct bt_json_value *given = bt_kinds_object(spec, "overhead");
	if (fixed == NULL || fixed->count == 0) {
		if (given != NULL && given->count != 0) {
			bt_admission_refuse(admission,
				"pod rejected: Pod Overhead set without corresponding "
				"RuntimeClass defined Overhead");
		}
		return;
	}
	bt_kinds_round_quantities(admission->write->arena, fixed);
	if (given != NULL && given->count != 0 && !bt_json_equal(given, fixed)) {
		bt_admission_refuse(admission,
			"pod rejected: Pod's Overhead doesn't match RuntimeClass's defined "
			"Overhead");
		return;
	}
	bt_json_set_value(admission->write->arena, spec, "overhead", fixed);
}

static void merge_node_selector(struct bt_admission *admission, struct bt_json_value *spec,
	const struct bt_json_value *selector)
{
	struct bt_arena *arena = admission->write->arena;
	if (selector == NULL || selector->count == 0) {
		return;
	}
	struct bt_json_value *own = bt_json_ensure_object(arena, spec, "nodeSelector");
	struct bt_names keys = bt_names_of_members(arena, own);
	for (uint32_t i = 0; i < selector->count; i++) {
		const struct bt_json_member *member = &selector->members[i];
		uint32_t index = bt_names_find(&keys, member->name);
		if (index == BT_NAMES_NONE) {
			bt_json_set(arena, own, member->name, member->value);
		} else if (!bt_str_equal(own->members[index].value->text, member->value->text)) {
			bt_admission_refuse(admission,
				"pod rejected: conflict: "
				"runtimeClass.scheduling.nodeSelector[%.*s] "
				"= %.*s; pod.spec.nodeSelector[%.*s] = %.*s",
				BT_STR_ARG(member->name), BT_STR_ARG(member->value->text),
				BT_STR_ARG(member->name),
				BT_STR_ARG(own->members[index].value->text));
			return;
		}
	}
}

/** Initial objects have been through this before. */
void bt_admission_set_runtime(struct bt_admission *admission, struct bt_json_value *pod)
{
	struct bt_json_value *spec = bt_json_ensure_object(admission->write->arena, pod, "spec");
	struct bt_str name = bt_kinds_text(spec, "runtimeClassName");
	const struct bt_json_value *class_;
	const struct bt_json_value *scheduling;
	if (admission->old != NULL || admission->write->restoring) {
		return;
	}
	if (name.length == 0) {
		set_overhead(admission, spec, NULL);
		return;
	}
	class_ = bt_admission_read(admission, "node.k8s.io", "runtimeclasses", name);
	if (class_ == NULL) {
		bt_admission_refuse(admission, "pod rejected: RuntimeClass \"%.*s\" not found",
			BT_STR_ARG(name));
		return;
	}
	set_overhead(
		admission, spec, bt_kinds_object(bt_kinds_object(class_, "overhead"), "podFixed"));
	scheduling = bt_kinds_object(class_, "scheduling");
	if (scheduling != NULL && !bt_admission_is_refused(admission)) {
		merge_node_selector(admission, spec, bt_kinds_object(scheduling, "nodeSelector"));
		const struct bt_json_value *tolerations =
			bt_json_array_at(scheduling, "tolerations");
		for (uint32_t i = 0; i < tolerations->count; i++) {
			struct bt_json_value *own =
				bt_json_ensure_array(admission->write->arena, spec, "tolerations");
			bool there = false;
			uint32_t compared = own->count < COMPARED_TOLERATIONS_MAX
				? own->count
				: COMPARED_TOLERATIONS_MAX;
			for (uint32_t n = 0; n < compared && !there; n++) {
				there = bt_json_equal(own->elements[n], tolerations->elements[i]);
			}
			if (!there) {
				bt_json_append(
					admission->write->arena, own, tolerations->elements[i]);
			}
		}
	}
}
