/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state machine of assumed and assigned pods: spec 03b section 4, which also has the error
 * messages E0 to E8.
 */
#include "state/pod_groups.h"
#include "state/pod_index.h"
#include "state/state_private.h"

static int fail_empty_uid(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_INVALID, "cannot get cache key for pod with empty UID");
}

/* Sets the error `<lead>pod <uid>(<namespace>/<name>) <tail>`. Returns code. */
static int set_pod_error(struct berth_error *err, int code, const char *lead,
	const struct bt_pod *pod, const char *tail)
{
	struct bt_strbuf ref = {0};

	bt_object_ref(&pod->metadata, &ref);
	int result = bt_error_set(err, code, "%spod %.*s(%s) %s", lead,
		BT_STR_ARG(pod->metadata.uid), bt_strbuf_c(&ref), tail);
	bt_strbuf_finish(&ref);
	return result;
}

uint32_t bt_state_find_pod(const struct bt_state *state, struct bt_str uid)
{
	BT_MAP_EACH (&state->pods.by_uid, bt_str_hash(uid), pod_id) {
		if (bt_str_equal(bt_pod_record_uid(bt_state_pod_at(state, pod_id)), uid)) {
			return pod_id;
		}
	}
	return BT_POD_NONE;
}

static bool is_on(const struct bt_state *state, uint32_t slot, struct bt_str node_name)
{
	return bt_str_equal(bt_node_table_name(&state->nodes, slot), node_name);
}

static void remove_record(struct bt_state *state, uint32_t pod_id)
{
	struct bt_pod_record *record = &state->pods.records.items[pod_id];
	uint32_t slot = record->node;

	bt_state_detach_pod(state, pod_id);
	bt_pod_table_remove(&state->pods, pod_id);
	bt_pod_record_drop(state, record);
	bt_state_drop_empty_entry(state, slot);
}

/*
 * Makes the record of an assigned pod. The record holds references to the shape and the label set.
 * If the pod's node has no cache entry, makes the entry, too.
 */
static struct bt_pod_record make_record(struct bt_state *state, const struct bt_pod *pod)
{
	struct bt_pod_record record = {0};

	bt_pod_record_fill(state, &record, pod);
	record.shape = bt_shape_ref_pod(&state->shapes, pod, false);
	record.label_set = bt_label_set_ref_map(&state->label_sets, &pod->metadata.labels);
	record.node = bt_node_table_acquire(&state->nodes, pod->spec.node_name);
	bt_state_ensure_entry(state, record.node);
	return record;
}

/*
 * Upstream's replace(old, new): remove the pod, then add it without the assumed mark. If shape,
 * node and namespace are equal, only the record and the order of the node's pods change. The pod
 * keeps its id.
 */
static void replace_pod(struct bt_state *state, uint32_t pod_id, const struct bt_pod *pod)
{
	struct bt_pod_table *pods = &state->pods;
	struct bt_pod_record fresh = make_record(state, pod);
	struct bt_pod_record old = pods->records.items[pod_id];
	struct bt_str old_uid = bt_pod_record_uid(&old);
	struct bt_str fresh_uid = bt_pod_record_uid(&fresh);
	bool same_identity = bt_str_equal(old_uid, fresh_uid) &&
		bt_str_equal(bt_pod_record_name(&old), bt_pod_record_name(&fresh));

	if (same_identity) {
		/* Keep the old record's texts, because callers may have borrowed them. */
		bt_free(fresh.identity);
		fresh.identity = old.identity;
		old.identity = NULL;
	} else {
		/* Cannot fail: the record is in the map. */
		(void)bt_map_remove(&pods->by_uid, bt_str_hash(old_uid), pod_id);
		bt_map_insert(&pods->by_uid, bt_str_hash(fresh_uid), pod_id);
	}
	/* Claims are counted by namespace, so a pod with a new namespace is removed and added. */
	if (fresh.shape == old.shape && fresh.node == old.node &&
		bt_sym_equal(fresh.namespace_, old.namespace_)) {
		fresh.position = old.position;
		pods->records.items[pod_id] = fresh;
		bt_state_requeue_pod(state, pod_id);
		if (state->pod_index != NULL &&
			(old.label_set != fresh.label_set ||
				old.terminating != fresh.terminating)) {
			bt_pod_index_remove(state, pod_id, old.label_set);
			bt_pod_index_add(state, pod_id);
		}
		if (old.label_set != fresh.label_set || old.terminating != fresh.terminating ||
			old.preempted != fresh.preempted || old.priority != fresh.priority ||
			!bt_sym_equal(old.namespace_, fresh.namespace_) || !same_identity) {
			uint32_t kinds = BT_CHANGE_PODS;
			if (bt_shape_at(&state->shapes, fresh.shape)->has_affinity) {
				kinds |= BT_CHANGE_AFFINITY_PODS;
			}
			bt_change_log_append(&state->log, fresh.node, kinds);
		}
	} else {
		bt_state_detach_pod(state, pod_id);
		pods->records.items[pod_id] = fresh;
		bt_state_attach_pod(state, pod_id);
	}
	pods->assumed_count -= old.assumed;
	if (old.node != fresh.node) {
		bt_state_drop_empty_entry(state, old.node);
	}
	bt_pod_record_drop(state, &old);
}

int bt_state_assume_shaped(struct bt_state *state, const struct bt_pod *pod, uint32_t shape,
	uint32_t label_set, uint32_t slot, struct berth_error *err)
{
	struct bt_pod_record record = {
		.shape = shape, .label_set = label_set, .node = slot, .assumed = true};

	if (pod->metadata.uid.length == 0) {
		return fail_empty_uid(err);
	}
	if (bt_state_find_pod(state, pod->metadata.uid) != BT_POD_NONE) {
		return set_pod_error(
			err, BERTH_ERR_STATE, "", pod, "is in the cache, so can't be assumed");
	}
	bt_pod_record_fill(state, &record, pod);
	bt_shape_ref(&state->shapes, shape);
	bt_label_set_ref(&state->label_sets, label_set);
	bt_state_ensure_entry(state, slot);
	bt_state_attach_pod(state, bt_pod_table_add(&state->pods, &record));
	bt_pod_groups_assume(state, pod);
	return 0;
}

int bt_state_assume_pod(struct bt_state *state, const struct bt_pod *pod, struct berth_error *err)
{
	uint32_t shape = bt_shape_ref_pod(&state->shapes, pod, false);
	uint32_t label_set = bt_label_set_ref_map(&state->label_sets, &pod->metadata.labels);
	uint32_t slot = bt_node_table_acquire(&state->nodes, pod->spec.node_name);
	int result = bt_state_assume_shaped(state, pod, shape, label_set, slot, err);

	bt_shape_unref(&state->shapes, shape);
	bt_label_set_unref(&state->label_sets, label_set);
	if (result < 0) {
		bt_state_drop_empty_entry(state, slot);
	}
	return result;
}

int bt_state_forget_pod(struct bt_state *state, const struct bt_pod *pod, struct berth_error *err)
{
	if (pod->metadata.uid.length == 0) {
		return fail_empty_uid(err);
	}
	uint32_t pod_id = bt_state_find_pod(state, pod->metadata.uid);
	if (pod_id == BT_POD_NONE) {
		return 0;
	}
	if (!is_on(state, bt_state_pod_at(state, pod_id)->node, pod->spec.node_name)) {
		uint32_t slot = bt_state_pod_at(state, pod_id)->node;
		struct bt_strbuf ref = {0};
		struct bt_str node = bt_node_table_name(&state->nodes, slot);

		bt_object_ref(&pod->metadata, &ref);
		int result = bt_error_set(err, BERTH_ERR_STATE,
			"pod %.*s(%s) was assumed on %.*s but assigned to %.*s",
			BT_STR_ARG(pod->metadata.uid), bt_strbuf_c(&ref),
			BT_STR_ARG(pod->spec.node_name), BT_STR_ARG(node));
		bt_strbuf_finish(&ref);
		return result;
	}
	if (!bt_state_pod_at(state, pod_id)->assumed) {
		return set_pod_error(
			err, BERTH_ERR_STATE, "", pod, "wasn't assumed so cannot be forgotten");
	}
	remove_record(state, pod_id);
	bt_pod_groups_forget(state, pod);
	return 0;
}

int bt_state_add_pod(struct bt_state *state, const struct bt_pod *pod, struct berth_error *err)
{
	if (pod->metadata.uid.length == 0) {
		return fail_empty_uid(err);
	}
	uint32_t pod_id = bt_state_find_pod(state, pod->metadata.uid);
	if (pod_id != BT_POD_NONE && !bt_state_pod_at(state, pod_id)->assumed) {
		return set_pod_error(err, BERTH_ERR_STATE, "", pod, "was already in added state");
	}
	bt_pod_groups_assign(state, pod, pod_id != BT_POD_NONE);
	if (pod_id == BT_POD_NONE) {
		struct bt_pod_record record = make_record(state, pod);
		bt_state_attach_pod(state, bt_pod_table_add(&state->pods, &record));
		return 0;
	}
	if (!is_on(state, bt_state_pod_at(state, pod_id)->node, pod->spec.node_name)) {
		bt_state_warn(state, "Pod was added to a different node than it was assumed");
	}
	replace_pod(state, pod_id, pod);
	return 0;
}

int bt_state_update_pod(struct bt_state *state, const struct bt_pod *old_pod,
	const struct bt_pod *new_pod, struct berth_error *err)
{
	if (old_pod->metadata.uid.length == 0 || new_pod->metadata.uid.length == 0) {
		return fail_empty_uid(err);
	}
	uint32_t pod_id = bt_state_find_pod(state, old_pod->metadata.uid);
	if (pod_id == BT_POD_NONE) {
		return set_pod_error(err, BERTH_ERR_NOT_FOUND, "", old_pod,
			"is not added to scheduler cache, so cannot be updated");
	}
	if (bt_state_pod_at(state, pod_id)->assumed) {
		return set_pod_error(
			err, BERTH_ERR_STATE, "assumed ", old_pod, "should not be updated");
	}
	if (!is_on(state, bt_state_pod_at(state, pod_id)->node, new_pod->spec.node_name)) {
		return bt_error_set(err, BERTH_ERR_INTERNAL,
			"Pod updated on a different node than previously added to. Scheduler cache "
			"is corrupted and can "
			"badly affect scheduling decisions");
	}
	/*
	 * If another pod has the new uid, remove that pod: otherwise its requests would stay in the
	 * sums forever, because lookups by uid find only one pod.
	 */
	uint32_t other = bt_state_find_pod(state, new_pod->metadata.uid);
	if (other != BT_POD_NONE && other != pod_id) {
		bt_state_warn(state, "Updated pod takes the uid of another pod in the cache");
		remove_record(state, other);
	}
	if (!bt_str_equal(old_pod->metadata.uid, new_pod->metadata.uid)) {
		bt_pod_groups_remove(state, bt_state_pod_at(state, pod_id));
	}
	bt_pod_groups_assign(state, new_pod, true);
	replace_pod(state, pod_id, new_pod);
	return 0;
}

int bt_state_remove_pod(struct bt_state *state, const struct bt_pod *pod, struct berth_error *err)
{
	if (pod->metadata.uid.length == 0) {
		return fail_empty_uid(err);
	}
	uint32_t pod_id = bt_state_find_pod(state, pod->metadata.uid);
	if (pod_id == BT_POD_NONE) {
		return set_pod_error(err, BERTH_ERR_NOT_FOUND, "", pod,
			"is not found in scheduler cache, so cannot be removed from it");
	}
	if (!is_on(state, bt_state_pod_at(state, pod_id)->node, pod->spec.node_name)) {
		bt_state_warn(state, "Pod was added to a different node than it was assumed");
		if (pod->spec.node_name.length != 0) {
			return bt_error_set(err, BERTH_ERR_INTERNAL,
				"Scheduler cache is corrupted and can badly affect scheduling "
				"decisions");
		}
	}
	bt_pod_groups_remove(state, bt_state_pod_at(state, pod_id));
	remove_record(state, pod_id);
	return 0;
}

int bt_state_is_assumed_pod(const struct bt_state *state, const struct bt_pod *pod,
	bool *out_assumed, struct berth_error *err)
{
	if (pod->metadata.uid.length == 0) {
		return fail_empty_uid(err);
	}
	uint32_t pod_id = bt_state_find_pod(state, pod->metadata.uid);
	*out_assumed = pod_id != BT_POD_NONE && bt_state_pod_at(state, pod_id)->assumed;
	return 0;
}
