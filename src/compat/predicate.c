/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Public predicates: the cluster that predicates read, the metadata of a pod, and the evaluation.
 */
#include "compat/predicate.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "lib/aggregate.h"
#include "lib/resource.h"
#include "plugins/common_legacy.h"
#include "plugins/in_tree.h"

static void refresh(const struct berth_predicates *predicates)
{
	int result = bt_state_refresh_snapshot(predicates->state, NULL);

	(void)result; /* after an error the snapshot is valid, too */
}

/**
 * Adds the node of a standalone aggregate to the owned state, or updates the node if the aggregate
 * changed. Returns the slot.
 */
static uint32_t put_node(struct berth_predicates *predicates, const struct berth_node_info *outside)
{
	const struct bt_aggregate *aggregate = bt_standalone_of(outside);
	const struct bt_node *node = bt_aggregate_node(aggregate);
	uint32_t slot = bt_node_table_find(&predicates->state->nodes, node->metadata.name);

	if (slot != BT_SLOT_NONE && slot < predicates->generations.count &&
		predicates->generations.items[slot] == aggregate->generation) {
		return slot;
	}
	bt_state_update_node(predicates->state, NULL, node);
	slot = bt_node_table_find(&predicates->state->nodes, node->metadata.name);
	bt_vec_pad(&predicates->generations, slot + 1, 0);
	if (predicates->generations.items[slot] == 0) {
		/*
		 * A new node: add the aggregate's pods, because predicates for other nodes read
		 * them. Leave out pods that the state refuses.
		 */
		struct bt_state *state = predicates->state;
		for (uint32_t i = 0; i < aggregate->pods.count; i++) {
			struct bt_pod pod = *aggregate->pods.items[i]->pod;

			pod.spec.node_name = node->metadata.name;
			int result = bt_state_add_pod(state, &pod, NULL);

			(void)result; /* a refused pod is left out */
		}
	}
	predicates->generations.items[slot] = aggregate->generation;
	refresh(predicates);
	return slot;
}

/**
 * Creates predicates that read this state. If `state` is NULL, they own an empty state; if `config`
 * is NULL, they use the default configuration.
 */
static struct berth_predicates *create(struct bt_state *state, struct bt_config *config)
{
	struct berth_predicates *predicates = BT_NEW(struct berth_predicates);

	predicates->config =
		bt_config_of(config != NULL ? berth_config_share(berth_config_of(config))
					    : berth_config_create_default());
	predicates->state = state;
	if (state == NULL) {
		struct bt_state_options options = {.resource_gates = bt_aggregate_default_gates};

		predicates->state = bt_state_create(&options);
		predicates->owns_state = true;
	}
	predicates->framework.config = predicates->config;
	predicates->framework.profile = &predicates->config->document.profiles.items[0];
	predicates->handle = (struct bt_handle){
		.state = predicates->state,
		.gates = &predicates->config->gates,
		.framework = &predicates->framework,
		.snapshot = {.state = predicates->state},
	};
	for (uint32_t e = 0; e < predicates->config->document.extenders.count; e++) {
		const struct bt_config_extender *extender =
			&predicates->config->document.extenders.items[e];

		for (uint32_t i = 0; i < extender->managed_resources.count; i++) {
			if (extender->managed_resources.items[i].ignored_by_scheduler) {
				bt_vec_push(&predicates->ignored,
					extender->managed_resources.items[i].name);
			}
		}
	}
	return predicates;
}

struct berth_predicates *berth_predicates_create(const struct berth_predicate_options *given)
{
	struct berth_predicate_options options = BERTH_PREDICATE_OPTIONS_INIT;
	struct bt_state *state = NULL;

	bt_lib_read_options(&options, sizeof(options), given);
	if (options.snapshot != NULL) {
		/* The lister is constant, but plugins add counters to its state. */
		state = (struct bt_state *)bt_const_shared_lister_of(options.snapshot)->state;
	}
	struct berth_predicates *predicates = create(state, bt_config_of(options.config));

	predicates->handle.max_pd_volumes = options.max_pd_volumes;
	for (uint32_t i = 0; predicates->owns_state && options.node_infos != NULL &&
		i < berth_node_name_to_info_map_count(options.node_infos);
		i++) {
		const struct berth_node_info *node =
			berth_node_name_to_info_map_at(options.node_infos, i, NULL);

		if (bt_aggregate_node(bt_standalone_of(node)) != NULL) {
			(void)put_node(predicates, node);
		}
	}
	if (predicates->owns_state) {
		refresh(predicates);
	}
	return predicates;
}

void berth_predicates_destroy(struct berth_predicates *predicates)
{
	if (predicates == NULL) {
		return;
	}
	for (int i = 0; i < BERTH_PREDICATE__COUNT; i++) {
		struct bt_plugin *plugin = predicates->plugins[i];

		if (plugin != NULL) {
			bt_plugin_destroy(plugin);
		}
	}
	bt_vec_finish_each(&predicates->registered, bt_free(each->name));
	bt_vec_finish(&predicates->ignored);
	bt_vec_finish(&predicates->generations);
	if (predicates->owns_state) {
		bt_state_destroy(predicates->state);
	}
	bt_config_unref(predicates->config);
	bt_free(predicates);
}

struct bt_registered_predicate *bt_predicate_find_registered(
	const struct berth_predicates *predicates, const char *name)
{
	for (uint32_t i = 0; i < predicates->registered.count; i++) {
		if (strcmp(predicates->registered.items[i].name, name) == 0) {
			return &predicates->registered.items[i];
		}
	}
	return NULL;
}

int berth_predicate_register(struct berth_predicates *predicates, const char *name,
	berth_predicate_fn predicate, struct berth_error *err)
{
	if (name == NULL || name[0] == '\0' || predicate == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "a predicate needs a name and a function");
	}
	struct bt_registered_predicate *known = bt_predicate_find_registered(predicates, name);

	if (known != NULL) {
		known->predicate = predicate;
		return BERTH_OK;
	}
	struct bt_registered_predicate added = {bt_strndup(name, strlen(name)), predicate};

	bt_vec_push(&predicates->registered, added);
	return BERTH_OK;
}

/** Creates the metadata of a pod. The pod must outlive the metadata. */
static struct berth_predicate_metadata *create_metadata(
	struct berth_predicates *predicates, const struct berth_pod *pod)
{
	struct berth_predicate_metadata *metadata = BT_NEW(struct berth_predicate_metadata);
	struct berth_predicate_data *data = BT_NEW(struct berth_predicate_data);

	metadata->pod = pod;
	metadata->predicates = predicates;
	metadata->data = data;
	metadata->ignored_extended_resources = predicates->ignored.items;
	metadata->ignored_extended_resource_count = predicates->ignored.count;
	bt_cycle_state_init(&data->cycle, &data->arena, BERTH_PREDICATE__COUNT);
	bt_pod_info_init_pending(predicates->state, bt_const_pod_of(pod), &data->info);
	struct bt_resource request =
		bt_legacy_pod_resources(&bt_const_pod_of(pod)->spec, false, &data->arena);

	bt_lib_resource_accumulate(&metadata->pod_request, &request, 1);
	return metadata;
}

struct berth_predicate_metadata *berth_predicate_metadata_produce(
	struct berth_predicates *predicates, struct berth_object *pod)
{
	BT_ASSERT(berth_object_pod(pod) != NULL);
	struct berth_predicate_metadata *metadata =
		create_metadata(predicates, berth_object_pod(pod));

	metadata->data->object = bt_object_share(bt_object_of(pod));
	return metadata;
}

void berth_predicate_metadata_destroy(struct berth_predicate_metadata *metadata)
{
	if (metadata == NULL) {
		return;
	}
	struct berth_predicate_data *data = metadata->data;

	bt_pod_info_finish_pending(metadata->predicates->state, &data->info);
	bt_cycle_state_finish(&data->cycle);
	bt_arena_finish(&data->arena);
	bt_object_release(data->object);
	bt_free(data);
	berth_resource_finish(&metadata->pod_request);
	bt_free(metadata);
}

/** A node in the form that plugins read. */
struct judged_node {
	struct bt_node_info memory; /* for a standalone aggregate */
	const struct bt_node_info *info;
	struct bt_pod_info
		*pods; /* pods of a standalone aggregate; each must be released from the state */
	uint32_t pod_count;
};

static int not_found(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_NODE_NOT_FOUND, "node not found");
}

static int open_node(struct berth_predicates *predicates, const struct berth_node_info *node,
	struct bt_arena *arena, struct judged_node *out_node, struct berth_error *err)
{
	const struct bt_aggregate *aggregate = bt_standalone_of(node);

	*out_node = (struct judged_node){0};
	if (aggregate == NULL) {
		const struct bt_node_info *view = bt_const_node_info_of(node);

		out_node->info = view;
		if (view->state != predicates->state) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"the node is not one of the metadata's cluster");
		}
		return view->state->nodes.rows[view->slot].has_node ? BERTH_OK : not_found(err);
	}
	if (bt_aggregate_node(aggregate) == NULL) {
		return not_found(err);
	}
	uint32_t slot = predicates->owns_state
		? put_node(predicates, node)
		: bt_node_table_find(
			  &predicates->state->nodes, bt_aggregate_node(aggregate)->metadata.name);
	if (slot == BT_SLOT_NONE || !predicates->state->nodes.rows[slot].has_node) {
		return not_found(err);
	}
	/*
	 * Make a view of the slot that has the aggregate's pods, because the pods in the state may
	 * be older.
	 */
	struct bt_node_info *info = &out_node->memory;

	bt_node_info_init_without_pods(info, predicates->state, slot, arena);
	out_node->pods = BT_ARENA_NEW_ARRAY(arena, struct bt_pod_info, aggregate->pods.count);
	for (uint32_t i = 0; i < aggregate->pods.count; i++) {
		bt_pod_info_init_pending(predicates->state, aggregate->pods.items[i]->pod,
			&out_node->pods[out_node->pod_count]);
		bt_node_info_add_pod(info, arena, &out_node->pods[out_node->pod_count++]);
	}
	out_node->info = info;
	return BERTH_OK;
}

/** Returns the amounts that belong to the reason "Insufficient <name>". */
static struct berth_insufficient_resource amounts_of(struct berth_str name,
	const struct berth_predicate_metadata *metadata, const struct bt_node_info *node)
{
	const struct berth_resource *request = &metadata->pod_request;

	if (bt_str_equal_c(name, "pods")) {
		return berth_insufficient_resource_make(
			name, 1, node->pod_count, node->allocatable_pods);
	}
	const int64_t requests[] = {[BT_CPU_MILLI] = request->cpu_milli,
		[BT_MEMORY_BYTES] = request->memory_bytes,
		[BT_EPHEMERAL_BYTES] = request->ephemeral_storage_bytes};

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(requests); i++) {
		if (bt_str_equal(name, bt_standard_names[i])) {
			return berth_insufficient_resource_make(
				name, requests[i], node->requested[i], node->allocatable[i]);
		}
	}
	uint32_t column = bt_node_table_find_scalar(&node->state->nodes, name);

	return berth_insufficient_resource_make(name, berth_resource_scalar(request, name),
		bt_node_info_scalar_requested(node, column),
		bt_node_info_scalar_allocatable(node, column));
}

static void set_result(const struct bt_status *status,
	const struct berth_predicate_metadata *metadata, const struct bt_node_info *node,
	struct berth_arena *outside, struct berth_predicate_result *out_result)
{
	static const struct bt_str prefix = BT_STR_INIT("Insufficient ");
	struct bt_arena *arena = bt_arena_of(outside);
	uint32_t count = bt_status_all_reason_count(status);
	struct berth_predicate_failure_reason *reasons =
		BT_ARENA_NEW_ARRAY(arena, struct berth_predicate_failure_reason, count);

	for (uint32_t i = 0; i < count; i++) {
		struct bt_str text = bt_status_all_reason_at(status, i);

		reasons[i] = berth_predicate_failure_reason_make(text, outside);
		text = reasons[i].text;
		if (node != NULL && bt_str_has_prefix(text, prefix)) {
			struct bt_str name = {
				text.data + prefix.length, text.length - prefix.length};

			reasons[i].is_insufficient_resource = true;
			reasons[i].insufficient = amounts_of(name, metadata, node);
		}
		/*
		 * Unresolvable: removing pods from the node would not help. The status has one code
		 * for all reasons, so exclude the reasons about resources and ports: removing pods
		 * frees resources and ports.
		 */
		reasons[i].unresolvable =
			status->code == BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE &&
			!reasons[i].is_insufficient_resource &&
			!bt_str_equal(text, bt_reason_texts[BT_REASON_NODE_PORTS]);
	}
	*out_result = (struct berth_predicate_result){false, reasons, count};
}

static struct bt_status run_predicate(struct bt_plugin *plugin, struct berth_predicate_data *data,
	enum berth_predicate predicate, const struct bt_node_info *node)
{
	struct bt_pre_filter_result result = {0};

	if (!data->pre_filter_ran[predicate] && plugin->ops->pre_filter != NULL) {
		data->pre_filter_statuses[predicate] =
			plugin->ops->pre_filter(plugin, &data->cycle, &data->info, &result);
		bool is_included = !result.restricted ||
			bt_str_is_among(bt_node_info_name(node), result.names, result.count);
		if (bt_status_is_success(&data->pre_filter_statuses[predicate]) && !is_included) {
			return bt_status_text(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				&data->arena, BT_STR("node(s) didn't satisfy the predicate"));
		}
	}
	data->pre_filter_ran[predicate] = true;
	struct bt_status status = data->pre_filter_statuses[predicate];
	if (!bt_status_is_success(&status)) {
		return status;
	}
	return plugin->ops->filter(plugin, &data->cycle, &data->info, node);
}

static int run(enum berth_predicate predicate, const struct berth_predicate_metadata *metadata,
	const struct berth_node_info *outside, struct berth_arena *arena,
	struct berth_predicate_result *out_result, struct berth_error *err)
{
	struct berth_predicates *predicates = metadata->predicates;
	struct bt_plugin *plugin = predicates->plugins[predicate];
	struct judged_node node;

	if (plugin == NULL) {
		/* Create the plugin at its first use. */
		const struct bt_plugin_ops *ops = bt_predicate_infos[predicate].plugin;
		static const struct bt_plugin_args none = {.kind = BT_ARGS_NONE};
		const struct bt_plugin_args *args = bt_config_profile_find_args(
			predicates->framework.profile, bt_str_from(ops->name));

		if (bt_plugin_create(ops, args != NULL ? args : &none, &predicates->handle, &plugin,
			    err) < 0) {
			return BERTH_ERR_INTERNAL;
		}
		if (plugin->ops == NULL) {
			plugin->ops = ops;
		}
		plugin->index = (uint16_t)predicate;
		predicates->plugins[predicate] = plugin;
	}
	int result = open_node(predicates, outside, bt_arena_of(arena), &node, err);
	if (result == BERTH_OK) {
		struct bt_status status =
			run_predicate(plugin, metadata->data, predicate, node.info);

		if (bt_status_is_success(&status) || status.code == BT_STATUS_SKIP) {
			*out_result = (struct berth_predicate_result){true, NULL, 0};
		} else if (bt_status_is_rejected(&status)) {
			set_result(&status, metadata, node.info, arena, out_result);
		} else {
			result = bt_error_set(err, BERTH_ERR_INTERNAL, "%.*s",
				BT_STR_ARG(bt_status_message_str(&status, &metadata->data->arena)));
		}
		while (node.pod_count > 0) {
			bt_pod_info_finish_pending(predicates->state, &node.pods[--node.pod_count]);
		}
	}
	return result;
}

int bt_predicate_run(enum berth_predicate predicate, BERTH_PREDICATE_PARAMETERS)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);

	if (predicate == BERTH_PREDICATE_CHECK_NODE_CONDITION && alone != NULL &&
		bt_aggregate_node(alone) == NULL) {
		/*
		 * If the aggregate has no node object, the conditions of the node are unknown: spec
		 * 05b B1.
		 */
		struct bt_status status = bt_status_text(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
			bt_arena_of(arena), BT_STR("node(s) had unknown conditions"));

		set_result(&status, NULL, NULL, arena, out_result);
		return BERTH_OK;
	}
	if (metadata != NULL) {
		if (metadata->pod != pod) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "the metadata is another pod's");
		}
		return run(predicate, metadata, node, arena, out_result, err);
	}
	/*
	 * Without metadata, the predicates read the state of the view. If the node is a standalone
	 * aggregate, they read a new cluster that has only this node.
	 */
	struct berth_predicates *around = create(
		alone == NULL ? (struct bt_state *)bt_const_node_info_of(node)->state : NULL, NULL);
	if (alone != NULL) {
		if (bt_aggregate_node(alone) != NULL) {
			(void)put_node(around, node);
		}
		refresh(around);
	}
	struct berth_predicate_metadata *own = create_metadata(around, pod);
	int result = run(predicate, own, node, arena, out_result, err);

	berth_predicate_metadata_destroy(own);
	berth_predicates_destroy(around);
	return result;
}

int berth_predicate_run_all(struct berth_predicates *predicates, const char *const *names,
	uint32_t name_count, bool always_check_all, BERTH_PREDICATE_PARAMETERS)
{
	BT_VEC(const char *) list = {0};
	struct berth_predicate_result all = {true, NULL, 0};
	int result = BERTH_OK;

	/* Collect the names: first the built-in predicates in their order, then the other names. */
	for (uint32_t p = 0; p < BERTH_PREDICATE__COUNT; p++) {
		bool wanted =
			names == NULL && (bt_predicate_infos[p].traits & BT_PREDICATE_DEFAULT) != 0;

		for (uint32_t i = 0; names != NULL && i < name_count && !wanted; i++) {
			wanted = bt_predicate_index(names[i]) == p;
		}
		if (wanted) {
			bt_vec_push(&list, berth_predicate_name((enum berth_predicate)p));
		}
	}
	if (names == NULL) {
		for (uint32_t i = 0; i < predicates->registered.count; i++) {
			const char *name = predicates->registered.items[i].name;

			if (bt_predicate_index(name) == BERTH_PREDICATE__COUNT) {
				bt_vec_push(&list, name);
			}
		}
	}
	for (uint32_t i = 0; names != NULL && i < name_count; i++) {
		if (bt_predicate_index(names[i]) == BERTH_PREDICATE__COUNT) {
			bt_vec_push(&list, names[i]);
		}
	}
	for (uint32_t i = 0; i < list.count && (all.fits || always_check_all); i++) {
		berth_predicate_fn predicate = berth_predicate_find(predicates, list.items[i]);
		struct berth_predicate_result one = {0};

		if (predicate == NULL) {
			result = bt_error_set(err, BERTH_ERR_NOT_FOUND,
				"no predicate named %s exists", list.items[i]);
		} else {
			result = predicate(pod, metadata, node, arena, &one, err);
		}
		if (result != BERTH_OK) {
			break;
		}
		if (!one.fits) {
			struct berth_predicate_failure_reason *reasons =
				bt_arena_copy_array(bt_arena_of(arena), all.reasons,
					all.reason_count, one.reason_count, sizeof(*reasons));

			for (uint32_t k = 0; k < one.reason_count; k++) {
				reasons[all.reason_count + k] = one.reasons[k];
			}
			all = (struct berth_predicate_result){
				false, reasons, all.reason_count + one.reason_count};
		}
	}
	bt_vec_finish(&list);
	if (result == BERTH_OK) {
		*out_result = all;
	}
	return result;
}
