/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ServiceAffinity (PreFilter, Filter, Score): pods of a service go to nodes with the same values of
 * the affinity labels, and spread over the values of the anti-affinity labels. Implements the
 * predicate CheckServiceAffinity and the priority ServiceAntiAffinity. Spec: 05b B7.
 */
#include <stdlib.h>

#include "api/types.h"
#include "base/alloc.h"
#include "base/error.h"
#include "plugins/common_legacy.h"
#include "plugins/in_tree.h"

#define KIND_NAME "ServiceAffinityArgs"

struct service_affinity_plugin {
	struct bt_legacy_plugin base;
	bt_str_list affinity_labels;
	bt_str_list anti_affinity_labels;
};

/**
 * Returns the first service whose selector matches the pod's labels, or NULL. Spec 05 section 3.11.
 */
static const struct bt_service *find_service(
	const struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	struct bt_object_store *objects = &bt_plugin_handle(plugin)->state->objects;
	struct bt_str namespace_ = pod->namespace_.data != NULL ? pod->namespace_ : BT_STR("");
	const struct bt_service *service;
	uint32_t cursor = 0;

	while ((service = bt_object_store_next(objects, BT_KIND_SERVICE, namespace_, &cursor)) !=
		NULL) {
		if (service->spec.selector.present &&
			bt_str_map_contains(pod->labels, &service->spec.selector)) {
			return service;
		}
	}
	return NULL;
}

/**
 * A pod that has all labels of the pod to be scheduled. Texts are borrowed from the state or, for a
 * pod of a what-if run, from the caller of AddPod.
 */
struct matching_pod {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str uid;
	uint32_t slot;
};

struct pre_filter_data {
	bool has_services; /* a service selects the pod */
	/*
	 * The pods in the order of the snapshot's nodes and of the pods on each node. Pods of a
	 * what-if run come last.
	 */
	struct matching_pod *items;
	uint32_t count;
	uint32_t capacity;
};

static bool is_matching(const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *other)
{
	return bt_str_equal(pod_to_schedule->namespace_, other->namespace_) &&
		bt_str_map_contains(other->labels, pod_to_schedule->labels);
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	const struct service_affinity_plugin *instance = bt_plugin_instance(plugin);

	if (instance->affinity_labels.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	struct pre_filter_data *data = BT_ARENA_NEW(cycle->arena, struct pre_filter_data);
	data->has_services = find_service(plugin, pod) != NULL;
	const struct bt_state *state = bt_plugin_handle(plugin)->state;
	bt_sym namespace_ = bt_symbol_find(&state->symbols, pod->namespace_);

	for (uint32_t i = 0; i < state->snapshot.count; i++) {
		uint32_t slot = bt_snapshot_list(&state->snapshot)[i];
		const struct bt_node_row *row = &state->nodes.rows[slot];

		for (uint32_t k = 0; k < row->pods.count; k++) {
			struct bt_pod_info other;

			if (!bt_sym_equal(bt_state_pod_at(state, row->pods.items[k])->namespace_,
				    namespace_)) {
				continue;
			}
			bt_pod_info_from_record(state, row->pods.items[k], &other);
			if (is_matching(pod, &other)) {
				struct matching_pod matching = {
					other.namespace_, other.name, other.uid, slot};

				bt_arena_push(cycle->arena, data, matching);
			}
		}
	}
	cycle->pre_filter_data[plugin->index] = data;
	return BT_STATUS_OK;
}

static void *clone_pre_filter_data(const void *data, struct bt_arena *arena)
{
	const struct pre_filter_data *source = data;
	struct pre_filter_data *copy = BT_ARENA_NEW(arena, struct pre_filter_data);

	*copy = *source;
	copy->items = BT_ARENA_NEW_ARRAY(arena, struct matching_pod, source->count);
	copy->capacity = source->count;
	if (source->count != 0) {
		memcpy(copy->items, source->items, source->count * sizeof(*copy->items));
	}
	return copy;
}

static struct bt_status change_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *other,
	const struct bt_node_info *node, int64_t step)
{
	struct pre_filter_data *data = cycle->pre_filter_data[plugin->index];

	if (data != NULL && step > 0 && is_matching(pod_to_schedule, other)) {
		struct matching_pod matching = {
			other->namespace_, other->name, other->uid, node->slot};

		bt_arena_push(cycle->arena, data, matching);
	}
	for (uint32_t i = 0; data != NULL && step < 0 && i < data->count; i++) {
		if (bt_str_equal(data->items[i].name, other->name) &&
			bt_str_equal(data->items[i].namespace_, other->namespace_)) {
			bt_vec_remove_ordered(data, i);
			break;
		}
	}
	return BT_STATUS_OK;
}

/**
 * Returns the first matching pod that the what-if run has not removed from this node; NULL: none.
 */
static const struct matching_pod *reference_pod(
	const struct pre_filter_data *data, const struct bt_node_info *node)
{
	for (uint32_t i = 0; i < data->count; i++) {
		const struct matching_pod *pod = &data->items[i];
		bool is_there = pod->slot != node->slot;

		for (uint32_t k = 0; !is_there && k < bt_node_info_pod_count(node); k++) {
			struct bt_pod_info other;

			bt_node_info_pod_at(node, k, &other);
			is_there = bt_str_equal(other.uid, pod->uid);
		}
		if (is_there) {
			return pod;
		}
	}
	return NULL;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct service_affinity_plugin *instance = bt_plugin_instance(plugin);
	const bt_str_list *keys = &instance->affinity_labels;
	const struct bt_str_map *selector = &bt_plugin_pod_spec(pod)->node_selector;
	const struct pre_filter_data *data = cycle->pre_filter_data[plugin->index];
	const struct bt_str_map *reference_labels = NULL;

	if (data == NULL) {
		return keys->count == 0
			? BT_STATUS_OK
			: bt_status_error_text(
				  cycle->arena, BT_STR("reading ServiceAffinity state: not found"));
	}
	bool has_all_keys = true; /* the nodeSelector of the pod names all keys */
	for (uint32_t i = 0; i < keys->count; i++) {
		has_all_keys &= bt_str_map_find(selector, keys->items[i]) != NULL;
	}
	if (data->has_services && !has_all_keys) {
		const struct matching_pod *reference = reference_pod(data, node);

		if (reference != NULL && !node->state->nodes.rows[reference->slot].has_node) {
			return bt_status_error_text(cycle->arena, BT_STR("node not found"));
		}
		if (reference != NULL) {
			reference_labels = &node->state->nodes.rows[reference->slot].labels;
		}
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		const struct bt_str *wanted = bt_str_map_find(selector, keys->items[i]);
		const struct bt_str *value =
			bt_str_map_find(bt_node_info_labels(node), keys->items[i]);

		if (wanted == NULL && reference_labels != NULL) {
			wanted = bt_str_map_find(reference_labels, keys->items[i]);
		}
		if (wanted != NULL && (value == NULL || !bt_str_equal(*wanted, *value))) {
			return bt_status_reason(
				BT_STATUS_UNSCHEDULABLE, BT_REASON_LEGACY_SERVICE_AFFINITY);
		}
	}
	return BT_STATUS_OK;
}

struct pre_score_data {
	const struct bt_service *service; /* selects the pod; NULL: no service does */
};

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	struct pre_score_data *data = BT_ARENA_NEW(cycle->arena, struct pre_score_data);

	data->service = find_service(plugin, pod);
	cycle->pre_score_data[plugin->index] = data;
	return BT_STATUS_OK;
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const struct pre_score_data *data = cycle->pre_score_data[plugin->index];
	int64_t count = 0;

	if (data == NULL) {
		return bt_status_error_text(
			cycle->arena, BT_STR("reading ServiceAffinity state: not found"));
	}
	for (uint32_t i = 0; data->service != NULL && i < bt_node_info_pod_count(node); i++) {
		struct bt_pod_info other;

		bt_node_info_pod_at(node, i, &other);
		bool is_terminating = other.pod_id != BT_POD_NONE
			? bt_state_pod_at(node->state, other.pod_id)->terminating
			: other.object != NULL && other.object->metadata.deletion_timestamp != NULL;
		count += !is_terminating && bt_str_equal(other.namespace_, pod->namespace_) &&
			bt_str_map_contains(other.labels, &data->service->spec.selector);
	}
	*out_score = count;
	return BT_STATUS_OK;
}

static struct bt_status normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const uint32_t *slots, int64_t *scores,
	uint32_t count)
{
	const struct service_affinity_plugin *instance = bt_plugin_instance(plugin);
	const bt_str_list *keys = &instance->anti_affinity_labels;
	const struct bt_node_table *nodes = &bt_plugin_handle(plugin)->state->nodes;
	struct bt_indexed_str *scratch =
		BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_indexed_str, count);
	double *sums = BT_ARENA_NEW_ARRAY(cycle->arena, double, count);
	int64_t total = 0; /* number of pods of the service on all nodes */

	for (uint32_t i = 0; i < count; i++) {
		total += scores[i];
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		/*
		 * Add the score for one label: the fewer pods of the service are on nodes with the
		 * same label value, the higher the score.
		 */
		uint32_t labelled = 0;

		for (uint32_t k = 0; k < count; k++) {
			const struct bt_str *value =
				bt_str_map_find(&nodes->rows[slots[k]].labels, keys->items[i]);

			if (value != NULL) {
				scratch[labelled++] = (struct bt_indexed_str){*value, k};
			}
		}
		if (labelled == 0) {
			continue;
		}
		qsort(scratch, labelled, sizeof(*scratch), bt_indexed_str_compare_qsort);
		for (uint32_t start = 0, end = 0; start < labelled; start = end) {
			int64_t in_group = 0;
			double share = 100.0;

			while (end < labelled &&
				bt_str_equal(scratch[end].text, scratch[start].text)) {
				in_group += scores[scratch[end++].index];
			}
			if (total > 0) {
				share = 100.0 * ((double)(total - in_group) / (double)total);
			}
			for (uint32_t k = start; k < end; k++) {
				sums[scratch[k].index] += share / (double)keys->count;
			}
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = bt_trunc_to_i64(sums[i]);
	}
	return BT_STATUS_OK;
}

static int init(struct bt_plugin *base, const struct bt_plugin_args *args, struct berth_error *err)
{
	struct service_affinity_plugin *plugin = (struct service_affinity_plugin *)(void *)base;
	static const char *const fields[] = {"affinityLabels", "antiAffinityLabelsPreference"};
	bt_str_list *const lists[] = {&plugin->affinity_labels, &plugin->anti_affinity_labels};

	return bt_legacy_args_str_lists(
		&plugin->base, args, KIND_NAME, fields, lists, BT_ARRAY_LENGTH(fields), err);
}

/*
 * There is no list of events, because the spec names none; every event may requeue a pod (spec 02
 * section 10.2).
 */
const struct bt_plugin_ops bt_legacy_service_affinity_plugin = {
	.name = "ServiceAffinity",
	.size = sizeof(struct service_affinity_plugin),
	.init = init,
	.destroy = bt_legacy_destroy,
	.pre_filter = pre_filter,
	.pre_filter_change_pod = change_pod,
	.clone_pre_filter_data = clone_pre_filter_data,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.normalize = BT_NORMALIZE_CUSTOM,
	.normalize_score = normalize_score,
};
