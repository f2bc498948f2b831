/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/admission.h"

#include "api/defaulting.h"
#include "api/scheduling.h"
#include "cli/printable.h"

#define SYSTEM_CLUSTER_CRITICAL 2000000000
#define SYSTEM_NODE_CRITICAL 2000001000

void bt_admission_init(
	struct bt_admission *admission, const struct bt_cluster *cluster, bool pod_level)
{
	*admission = (struct bt_admission){.cluster = cluster, .pod_level = pod_level};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_cluster_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_PRIORITY_CLASS) {
			continue;
		}
		const struct bt_priority_class *class =
			bt_object_value(object->object, BT_KIND_PRIORITY_CLASS);
		if (class->global_default &&
			(admission->default_class == NULL ||
				class->value < admission->default_class->value)) {
			admission->default_class = class;
		}
	}
}

/** A class that every cluster has, also when the input does not list it. */
static bool find_system_class(struct bt_str name, int32_t *out_value)
{
	if (bt_str_equal_c(name, "system-cluster-critical")) {
		*out_value = SYSTEM_CLUSTER_CRITICAL;
		return true;
	}
	if (bt_str_equal_c(name, "system-node-critical")) {
		*out_value = SYSTEM_NODE_CRITICAL;
		return true;
	}
	return false;
}

static void apply_class(struct bt_pod_spec *spec, const struct bt_priority_class *class)
{
	spec->priority = (struct bt_opt_i32){true, class->value};
	if (spec->preemption_policy.data == NULL) {
		spec->preemption_policy = class->preemption_policy;
	}
}

static int resolve_priority(
	const struct bt_admission *admission, struct bt_pod_spec *spec, struct berth_error *err)
{
	if (spec->priority.present) {
		return 0;
	}
	struct bt_str name = spec->priority_class_name;
	if (name.length == 0) {
		if (admission->default_class != NULL) {
			apply_class(spec, admission->default_class);
			spec->priority_class_name = admission->default_class->metadata.name;
		} else {
			spec->priority = (struct bt_opt_i32){true, 0};
		}
		return 0;
	}
	uint32_t index =
		bt_cluster_find(admission->cluster, BT_KIND_PRIORITY_CLASS, BT_STR(""), name);
	if (index != BT_CLUSTER_NONE) {
		apply_class(spec,
			bt_object_value(admission->cluster->objects.items[index].object,
				BT_KIND_PRIORITY_CLASS));
		return 0;
	}
	if (find_system_class(name, &spec->priority.value)) {
		spec->priority.present = true;
		return 0;
	}
	struct bt_strbuf shown = {0};
	bt_printable_append(&shown, bt_str_sub(name, 0, BT_CLUSTER_NAME_BYTES_MAX));
	int result = bt_error_set(err, BERTH_ERR_INVALID,
		"spec.priorityClassName: no PriorityClass with name %s is in the input",
		bt_strbuf_c(&shown));
	bt_strbuf_finish(&shown);
	return result;
}

int bt_admission_admit(const struct bt_admission *admission, struct bt_pod *pod,
	struct bt_arena *arena, struct berth_error *err)
{
	int result = resolve_priority(admission, &pod->spec, err);
	if (result < 0) {
		return result;
	}
	bt_pod_spec_default(&pod->spec, admission->pod_level, arena);
	bt_pod_spec_add_default_tolerations(&pod->spec, arena);
	bt_pod_default_affinity(pod, arena);
	return 0;
}
