/* SPDX-License-Identifier: Apache-2.0 */
/** Creates the Workload and the PodGroup of a Job whose pods are a gang. Spec: 14b section 6.3. */
#include "cluster/tree.h"
#include "server/strategy.h"

#define TEMPLATE_NAME "workers"
/** Longest name of an object. */
#define NAME_BYTES_MAX 253
/** Length of the hash in a name, with the hyphen in front. */
#define HASH_BYTES 11

/** Returns "<base>-<hash of the Job's uid>"; base is cut so that the name is not too long. */
static struct bt_str make_name(const struct bt_sync *sync, struct bt_str base)
{
	const struct bt_json_value *uid = bt_json_find_path(sync->object, "metadata.uid");
	struct bt_str hash = bt_tree_template_hash(sync->arena, uid, NULL, 0);
	uint32_t length = NAME_BYTES_MAX - HASH_BYTES;

	length = BT_MIN(base.length, length);
	while (length > 1 && (base.data[length - 1] == '-' || base.data[length - 1] == '.')) {
		length--;
	}
	return bt_arena_printf(sync->arena, "%.*s-%.*s", BT_STR_ARG(bt_str_sub(base, 0, length)),
		BT_STR_ARG(hash));
}

static struct bt_str reference_of(enum bt_hub_kind kind, const struct bt_json_value *object)
{
	return kind == BT_HUB_WORKLOADS
		? bt_json_text_at(object, "spec.controllerRef.name")
		: bt_json_text_at(object, "spec.podGroupTemplateRef.workload.workloadName");
}

void bt_job_groups_observe(struct bt_job_groups *groups, const struct bt_observed *observed)
{
	struct bt_groups *index =
		observed->kind == BT_HUB_WORKLOADS ? &groups->workloads : &groups->pod_groups;
	struct bt_str name = reference_of(observed->kind, observed->after);
	struct bt_arena arena = {0};

	if (observed->type == BT_CHANGE_DELETED || name.length == 0) {
		bt_groups_remove(index, observed->key);
	} else {
		bt_groups_set(index, observed->key,
			bt_api_key(&arena, bt_key_namespace(observed->key), name));
	}
	bt_arena_finish(&arena);
}

/**
 * Counts the objects of this kind in the Job's namespace that refer to the Job or Workload `name`.
 * *out_first: one of these objects; unchanged if there are none.
 */
static uint32_t find_references(struct bt_sync *sync, const struct bt_groups *index,
	enum bt_hub_kind kind, struct bt_str name, const struct bt_json_value **out_first)
{
	struct bt_str group = bt_api_key(sync->arena, bt_key_namespace(sync->key), name);
	uint32_t object_count;
	struct bt_json_value **objects =
		bt_sync_read_group(sync, kind, index, group, &object_count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < object_count; i++) {
		/* The index may lag behind the store. */
		if (bt_str_equal(reference_of(kind, objects[i]), name)) {
			*out_first = objects[i];
			count++;
		}
	}
	return count;
}

/**
 * Creates the object. Returns NULL if the API server refused the object; the sync is then retried.
 */
static const struct bt_json_value *create(struct bt_sync *sync, enum bt_hub_kind kind,
	struct bt_str name, struct bt_json_value *object)
{
	struct bt_str namespace_ = bt_key_namespace(sync->key);
	struct bt_api_answer answer;

	bt_json_put(sync->arena, object, "{metadata: {name: %s}}", name);
	bool created =
		bt_hub_create(sync->hub, kind, namespace_, object, sync->arena, &answer) == 201;
	if (!created) {
		sync->failed = true;
		bt_sync_event(sync, "Warning", "FailedCreate", "Error creating: %.*s",
			BT_STR_ARG(answer.failure.message));
	}
	bt_api_answer_finish(&answer);
	return created ? bt_hub_read(sync->hub, kind, bt_api_key(sync->arena, namespace_, name),
				 sync->arena)
		       : NULL;
}

/** Creates the PodGroup from the Workload's only template. */
static const struct bt_json_value *create_group(
	struct bt_sync *sync, const struct bt_json_value *workload)
{
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *owner =
		bt_controller_owner_reference(arena, sync->hub->kinds[BT_HUB_WORKLOADS], workload);
	const struct bt_json_value *template_ =
		bt_json_array_at(workload, "spec.podGroupTemplates")->elements[0];
	struct bt_str workload_name = bt_json_text_at(workload, "metadata.name");
	struct bt_str template_name = bt_json_text_at(template_, "name");
	struct bt_str room = bt_str_sub(workload_name, 0,
		workload_name.length + template_name.length + 1 <= NAME_BYTES_MAX - HASH_BYTES
			? workload_name.length
			: NAME_BYTES_MAX - HASH_BYTES - template_name.length - 1);

	/* The Workload is only an owner, because the Job is the controller. */
	(void)bt_json_remove_c(owner, "controller");
	(void)bt_json_remove_c(owner, "blockOwnerDeletion");
	return create(sync, BT_HUB_POD_GROUPS,
		make_name(sync,
			bt_arena_printf(
				arena, "%.*s-%.*s", BT_STR_ARG(room), BT_STR_ARG(template_name))),
		bt_json_put(arena, NULL,
			"{metadata: {ownerReferences: [%v, %v]}, "
			"spec: {podGroupTemplateRef: {workload: {workloadName: %s, "
			"podGroupTemplateName: %s}}, schedulingPolicy: %t, "
			"schedulingConstraints: %t, resourceClaims: %t, disruptionMode: %t, "
			"priorityClassName: %t}}",
			bt_sync_owner_reference(sync, arena), owner, workload_name, template_name,
			bt_json_find(template_, "schedulingPolicy"),
			bt_json_find(template_, "schedulingConstraints"),
			bt_json_find(template_, "resourceClaims"),
			bt_json_find(template_, "disruptionMode"),
			bt_json_find(template_, "priorityClassName")));
}

/**
 * The Workload and the PodGroup are found by the references in their specs, not by their owners,
 * because users may have created the two objects. Pods name their PodGroup in spec.schedulingGroup
 * only. If the PodGroup were also their owner, pods would outlive their Job: the protection
 * finalizer keeps the PodGroup until its pods have ended, and the garbage collector keeps the pods
 * while an owner exists.
 */
bool bt_job_ensure_pod_group(struct bt_sync *sync, const struct bt_job_groups *groups,
	bool has_pods, struct bt_str *out_name)
{
	const struct bt_api_options *options = bt_api_options(sync->hub->api);
	const struct bt_json_value *workload = NULL;
	const struct bt_json_value *group = NULL;

	*out_name = BT_STR("");
	if (!options->workload_with_job ||
		!bt_kinds_job_is_gang(bt_json_object_at(sync->object, "spec"))) {
		return true;
	}
	uint32_t count = find_references(
		sync, &groups->workloads, BT_HUB_WORKLOADS, bt_key_name(sync->key), &workload);
	if (count == 0 && !has_pods) {
		struct bt_str job = bt_key_name(sync->key);

		workload = create(sync, BT_HUB_WORKLOADS, make_name(sync, job),
			bt_json_put(sync->arena, NULL,
				"{metadata: {ownerReferences: [%v]}, "
				"spec: {controllerRef: {apiGroup: 'batch', kind: 'Job', name: %s}, "
				"podGroupTemplates: [{name: '" TEMPLATE_NAME
				"', schedulingPolicy: {gang: {minCount: %d}}}]}}",
				bt_sync_owner_reference(sync, sync->arena), job,
				bt_json_int64_at(sync->object, "spec.parallelism", 1)));
		if (workload == NULL) {
			return false;
		}
		count = 1;
	}
	if (count == 0) {
		return true; /* the Job already has pods, scheduled one by one */
	}
	if (count > 1 || bt_json_array_at(workload, "spec.podGroupTemplates")->count != 1) {
		bt_sync_event(sync, "Warning", "UnsupportedWorkloadStructure",
			count > 1 ? "More than one Workload refers to the Job: its pods are "
				    "scheduled one by one"
				  : "The Workload of the Job has not exactly one pod group "
				    "template: its pods are scheduled one by one");
		return true;
	}
	count = find_references(sync, &groups->pod_groups, BT_HUB_POD_GROUPS,
		bt_json_text_at(workload, "metadata.name"), &group);
	if (count == 0 && !has_pods) {
		group = create_group(sync, workload);
		if (group == NULL) {
			return false;
		}
		count = 1;
	}
	if (count > 1) {
		bt_sync_event(sync, "Warning", "UnsupportedWorkloadStructure",
			"More than one PodGroup refers to the Workload of the Job: its pods are "
			"scheduled one by one");
	} else if (count == 1) {
		*out_name = bt_json_text_at(group, "metadata.name");
	}
	return true;
}
