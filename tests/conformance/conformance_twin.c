/* SPDX-License-Identifier: Apache-2.0 */
/** The cluster of a case in another engine, loaded from changed objects. */
#include "conformance/conformance_explain.h"

#include "codec/json_edit.h"
#include "dra/dra.h"

/* --- loading --- */

/** Write a tree as JSON. */
static struct bt_str tree_text(struct bt_twin *twin, const struct bt_json_value *tree)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_str json;

	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, tree);
	json = bt_arena_str(&twin->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return json;
}

/**
 * Applies an assumed write of the case's engine to `object`, the JSON of a volume or claim. Does
 * nothing if the write is for another object.
 */
static void write_back(
	struct bt_twin *twin, const struct bt_case_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = &twin->arena;
	struct bt_str name = bt_json_text_at(object, "metadata.name");
	struct bt_json_value *annotations = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, object, "metadata"), "annotations");
	struct bt_json_value *ref;

	if (write->volume.length == 0) {
		if (bt_str_equal(name, write->claim) &&
			bt_str_equal(bt_json_text_at(object, "metadata.namespace"),
				write->claim_namespace)) {
			bt_json_set_str(arena, annotations, "volume.kubernetes.io/selected-node",
				write->selected_node);
		}
		return;
	}
	if (!bt_str_equal(name, write->volume)) {
		return;
	}
	ref = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, object, "spec"), "claimRef");
	bt_json_set_c(arena, ref, "kind", "PersistentVolumeClaim");
	bt_json_set_str(arena, ref, "namespace", write->claim_namespace);
	bt_json_set_str(arena, ref, "name", write->claim);
	bt_json_set_str(arena, ref, "uid", write->claim_uid);
	bt_json_set_c(arena, annotations, "pv.kubernetes.io/bound-by-controller", "yes");
}

static int load_stored(struct bt_twin *twin, struct berth_error *err)
{
	const struct bt_case_run *run = twin->run;

	for (uint32_t i = 0; i < run->text.objects.items.count; i++) {
		struct bt_json_value *object;
		int result = bt_json_parse(
			&twin->arena, run->text.objects.items.items[i], false, &object, err);
		struct bt_str kind =
			result == 0 ? bt_json_find_str(object, "kind") : (struct bt_str){NULL, 0};
		bool of_volume = bt_str_equal_c(kind, "PersistentVolume");
		bool of_claim = bt_str_equal_c(kind, "PersistentVolumeClaim");

		for (uint32_t k = 0; (of_volume || of_claim) && k < run->writes.count; k++) {
			if (of_volume == (run->writes.items[k].volume.length != 0)) {
				write_back(twin, &run->writes.items[k], object);
			}
		}
		if (result == 0 && !bt_str_equal_c(kind, "Pod") && !bt_str_equal_c(kind, "Node") &&
			!bt_str_equal_c(kind, "ResourceClaim")) {
			result = bt_case_store_object(twin->engine, tree_text(twin, object), err);
		}
		if (result != 0) {
			return result;
		}
	}
	return 0;
}

static bool names_pod(const struct bt_remedy *remedy, const struct bt_case_pod *entry)
{
	return remedy->kind == BT_REMEDY_REMOVE_POD && entry->placed &&
		bt_str_equal(entry->pod->metadata.namespace_, remedy->pod_namespace) &&
		bt_str_equal(entry->pod->metadata.name, remedy->pod_name) &&
		bt_str_equal(entry->pod->spec.node_name, remedy->node);
}

/** Whether a remedy removes the pod. */
static bool is_removed(const struct bt_twin *twin, const struct bt_case_pod *entry)
{
	for (uint32_t i = 0; i < twin->remedy_count; i++) {
		if (names_pod(&twin->remedies[i], entry)) {
			return true;
		}
	}
	return false;
}

/**
 * Loads the ResourceClaims of the case's engine with their assumed writes. Leaves out reservations
 * of pods that the remedies remove.
 */
static void load_claims(struct bt_twin *twin)
{
	const struct bt_case_run *run = twin->run;
	uint32_t cursor = 0;
	struct bt_object *object;

	while (run->engine->state->dra != NULL &&
		(object = bt_claim_cache_next(&run->engine->state->dra->claims, &cursor)) != NULL) {
		struct bt_resource_claim claim = *(const struct bt_resource_claim *)bt_object_value(
			object, BT_KIND_RESOURCE_CLAIM);

		for (uint32_t i = 0; i < run->pods.count; i++) {
			if (is_removed(twin, &run->pods.items[i])) {
				struct bt_resource_claim was = claim;

				(void)bt_claim_without_pod(&was,
					run->pods.items[i].pod->metadata.uid, &twin->arena, &claim);
			}
		}
		bt_object_store_put(&twin->engine->state->objects,
			bt_object_create(BT_KIND_RESOURCE_CLAIM, &claim));
	}
}

static int load_twin(struct bt_twin *twin, struct berth_error *err)
{
	const struct bt_case_run *run = twin->run;
	struct bt_state *state = twin->engine->state;
	int result = load_stored(twin, err);

	load_claims(twin);
	for (uint32_t i = 0; result == 0 && i < run->nodes.count; i++) {
		if (!run->nodes.items[i].deleted) {
			bt_state_add_node(state, run->nodes.items[i].node);
		}
	}
	for (uint32_t i = 0; result == 0 && i < run->pods.count; i++) {
		if (run->pods.items[i].placed && !is_removed(twin, &run->pods.items[i])) {
			result = bt_state_add_pod(state, run->pods.items[i].pod, err);
		}
	}
	for (uint32_t i = 0; result == 0 && i < run->queued.count; i++) {
		struct bt_pod_info *info = BT_ARENA_NEW(&twin->arena, struct bt_pod_info);

		bt_pod_info_init_pending(state, run->queued.items[i]->object, info);
		bt_vec_push(&twin->queued, info);
		bt_nominator_add(&twin->engine->nominator, info,
			info->object->status.nominated_node_name, true);
	}
	return result;
}

int bt_twin_load(struct bt_twin *twin, struct berth_error *err)
{
	int result = bt_case_create_engine(twin->run, false, &twin->engine, err);

	return result == 0 ? load_twin(twin, err) : result;
}

void bt_twin_finish(struct bt_twin *twin)
{
	for (uint32_t i = 0; i < twin->queued.count; i++) {
		bt_nominator_delete(&twin->engine->nominator, twin->queued.items[i]->uid);
		bt_pod_info_finish_pending(twin->engine->state, twin->queued.items[i]);
	}
	bt_engine_destroy(twin->engine);
	bt_vec_finish(&twin->queued);
	bt_vec_finish(&twin->changed);
	bt_vec_finish(&twin->now);
	bt_arena_finish(&twin->arena);
}

/* --- changes --- */

static const struct bt_case_node *find_node(const struct bt_case_run *run, struct bt_str name)
{
	for (uint32_t i = 0; i < run->nodes.count; i++) {
		if (!run->nodes.items[i].deleted && bt_str_equal(run->nodes.items[i].name, name)) {
			return &run->nodes.items[i];
		}
	}
	return NULL;
}

static bool is_changed(const struct bt_twin *twin, struct bt_str name)
{
	for (uint32_t i = 0; i < twin->changed.count; i++) {
		if (bt_str_equal(twin->changed.items[i].name, name)) {
			return true;
		}
	}
	return false;
}

static int change_node(struct bt_twin *twin, struct bt_str name, const struct bt_remedy *remedies,
	uint32_t count, struct berth_error *err)
{
	const struct bt_case_node *node = find_node(twin->run, name);
	struct bt_json_value *tree;
	void *now = NULL;
	int result;

	if (node == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "there is no node %.*s", BT_STR_ARG(name));
	}
	result = bt_json_parse(&twin->arena, node->json, true, &tree, err);
	if (result == 0) {
		result = bt_remedies_edit_node(&twin->arena, tree, name, remedies, count, err);
	}
	if (result == 0) {
		result = bt_case_decode(
			&bt_node_message, tree_text(twin, tree), &twin->arena, &now, err);
	}
	if (result == 0) {
		bt_state_update_node(twin->engine->state, node->node, now);
		bt_vec_push(&twin->changed, *node);
		bt_vec_push(&twin->now, (const struct bt_node *)now);
	}
	return result;
}

/**
 * Fails if a remedy removes a pod that is not on the remedy's node. *out_any: whether any remedy
 * removes a pod.
 */
static int check_removals(const struct bt_twin *twin, const struct bt_remedy *remedies,
	uint32_t count, bool *out_any, struct berth_error *err)
{
	*out_any = false;
	for (uint32_t i = 0; i < count; i++) {
		bool found = remedies[i].kind != BT_REMEDY_REMOVE_POD;

		*out_any = *out_any || !found;
		for (uint32_t k = 0; k < twin->run->pods.count && !found; k++) {
			found = names_pod(&remedies[i], &twin->run->pods.items[k]);
		}
		if (!found) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"RemovePod: no pod %.*s/%.*s is on node %.*s",
				BT_STR_ARG(remedies[i].pod_namespace),
				BT_STR_ARG(remedies[i].pod_name), BT_STR_ARG(remedies[i].node));
		}
	}
	return 0;
}

static int change_nodes(struct bt_twin *twin, const struct bt_remedy *remedies, uint32_t count,
	struct berth_error *err)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < count; i++) {
		if (remedies[i].kind != BT_REMEDY_REMOVE_POD &&
			!bt_remedy_is_of_pod(remedies[i].kind) &&
			!is_changed(twin, remedies[i].node)) {
			result = change_node(twin, remedies[i].node, remedies, count, err);
		}
	}
	return result;
}

static void change_back(struct bt_twin *twin)
{
	for (uint32_t i = 0; i < twin->changed.count; i++) {
		bt_state_update_node(
			twin->engine->state, twin->now.items[i], twin->changed.items[i].node);
	}
	twin->changed.count = 0;
	twin->now.count = 0;
}

/* --- verdicts --- */

static void read_evaluation(struct bt_twin *twin, const struct bt_evaluation *evaluation,
	struct bt_str node_name, struct bt_twin_verdict *out)
{
	struct bt_str *names =
		BT_ARENA_NEW_ARRAY(&twin->arena, struct bt_str, evaluation->feasible_count);

	out->why_not = bt_status_message_str(&evaluation->pre_filter.status, &twin->arena);
	if (!bt_status_is_success(&evaluation->error)) {
		out->why_not = bt_status_message_str(&evaluation->error, &twin->arena);
		return;
	}
	for (uint32_t i = 0; i < evaluation->node_count; i++) {
		const struct bt_node_evaluation *node = &evaluation->nodes[i];
		struct bt_str name = bt_node_table_name(&twin->engine->state->nodes, node->slot);
		bool fits = bt_status_is_success(&node->filter);

		if (fits) {
			names[out->feasible_count++] = bt_arena_str(&twin->arena, name);
		}
		if (bt_str_equal(name, node_name)) {
			out->node_fits = fits;
			out->why_not = bt_status_message_str(&node->filter, &twin->arena);
		}
	}
	out->feasible = names;
}

static void judge(struct bt_twin *twin, const struct bt_pod_info *info, struct bt_str node_name,
	struct bt_twin_verdict *out)
{
	struct bt_framework *framework =
		bt_engine_profile(twin->engine, info->object->spec.scheduler_name);
	struct bt_evaluation evaluation;
	struct bt_plugin *gating;
	struct bt_status status;

	out->why_not = BT_STR("no profile has its schedulerName");
	if (framework == NULL) {
		return;
	}
	status = bt_run_pre_enqueue(framework, info, &twin->arena, NULL, &gating);
	out->why_not = bt_status_message_str(&status, &twin->arena);
	if (bt_status_is_success(&status)) {
		bt_engine_evaluate(twin->engine, framework, info, &evaluation);
		read_evaluation(twin, &evaluation, node_name, out);
	}
}

/** Applies all remedies except removals of pods, tries the pod, and undoes the remedies. */
static int try_with(struct bt_twin *twin, const struct bt_remedy *remedies, uint32_t count,
	struct bt_str node_name, struct bt_twin_verdict *out, struct berth_error *err)
{
	struct bt_json_value *tree;
	struct bt_pod_info info;
	void *pod = NULL;
	int result = bt_json_parse(&twin->arena, twin->pod_json, true, &tree, err);

	if (result == 0) {
		result = bt_remedies_edit_pod(&twin->arena, tree, remedies, count, err);
	}
	if (result == 0) {
		result = bt_case_decode(
			&bt_pod_message, tree_text(twin, tree), &twin->arena, &pod, err);
	}
	if (result == 0) {
		result = change_nodes(twin, remedies, count, err);
	}
	if (result == 0) {
		bt_pod_info_init_pending(twin->engine->state, pod, &info);
		judge(twin, &info, node_name, out);
		bt_pod_info_finish_pending(twin->engine->state, &info);
	}
	change_back(twin);
	return result;
}

/**
 * Tries the pod in a new engine that does not load the removed pods. Removing them after
 * loading could give another result, because shared state such as host ports depends on the order
 * of additions and removals.
 */
static int try_anew(struct bt_twin *twin, const struct bt_remedy *remedies, uint32_t count,
	struct bt_str node_name, struct bt_twin_verdict *out, struct berth_error *err)
{
	struct bt_twin anew = {.run = twin->run,
		.pod_json = twin->pod_json,
		.remedies = remedies,
		.remedy_count = count};
	int result = bt_twin_load(&anew, err);

	if (result == 0) {
		result = try_with(&anew, remedies, count, node_name, out, err);
	}
	out->feasible = NULL;
	out->why_not = bt_arena_str(&twin->arena, out->why_not);
	bt_twin_finish(&anew);
	return result;
}

int bt_twin_try(struct bt_twin *twin, const struct bt_remedy *remedies, uint32_t count,
	struct bt_str node_name, struct bt_twin_verdict *out, struct berth_error *err)
{
	bool removes;
	int result = check_removals(twin, remedies, count, &removes, err);

	*out = (struct bt_twin_verdict){0};
	if (result != 0) {
		return result;
	}
	return removes ? try_anew(twin, remedies, count, node_name, out, err)
		       : try_with(twin, remedies, count, node_name, out, err);
}
