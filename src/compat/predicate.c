/* SPDX-License-Identifier: Apache-2.0 */
/** The cluster that predicates look at, and metadata of pods. */
#include "compat/predicate.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "lib/aggregate.h"
#include "plugins/common_legacy.h"

/* --- the cluster --- */

static void refresh(const struct berth_predicates *predicates)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_state_refresh_snapshot(predicates->state, &err);

	(void)result; /* a state of its own is in order */
	berth_error_finish(&err);
}

uint32_t bt_predicates_put_node(
	struct berth_predicates *predicates, const struct berth_node_info *outside)
{
	const struct bt_aggregate *aggregate = bt_alone_of(outside);
	const struct bt_node *node = bt_aggregate_node(aggregate);
	uint32_t slot = bt_node_table_find(&predicates->state->nodes, node->metadata.name);

	if (slot != BT_SLOT_NONE && slot < predicates->generations.count &&
		predicates->generations.items[slot] == aggregate->generation) {
		return slot;
	}
	bt_state_update_node(predicates->state, NULL, node);
	slot = bt_node_table_find(&predicates->state->nodes, node->metadata.name);
	while (predicates->generations.count <= slot) {
		bt_vec_push(&predicates->generations, 0);
	}
	if (predicates->generations.items[slot] == 0) {
		/* Pods as the cluster knows them: those it would refuse are not there for other
		 * nodes. */
		struct bt_state *state = predicates->state;
		for (uint32_t i = 0; i < aggregate->pods.count; i++) {
			struct bt_pod pod = *aggregate->pods.items[i]->pod;
			struct berth_error err = BERTH_ERROR_INIT;

			pod.spec.node_name = bt_aggregate_node(aggregate)->metadata.name;
			int result = bt_state_add_pod(state, &pod, &err);

			(void)result; /* see above */
			berth_error_finish(&err);
		}
	}
	predicates->generations.items[slot] = aggregate->generation;
	refresh(predicates);
	return slot;
}

/** state NULL: an empty one. */
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
	predicates->framework.profile = bt_config_profile_at(predicates->config, 0);
	predicates->handle = (struct bt_handle){
		.state = predicates->state,
		.gates = bt_config_gates(predicates->config),
		.framework = &predicates->framework,
		.snapshot = {.state = predicates->state},
	};
	for (uint32_t e = 0; e < bt_config_extender_count(predicates->config); e++) {
		const struct bt_config_extender *extender =
			bt_config_extender_at(predicates->config, e);

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

	if (given != NULL) {
		memcpy(&options, given,
			given->size < sizeof(options) ? given->size : sizeof(options));
	}
	if (options.snapshot != NULL) {
		/* A view is constant, what it looks at is not: plugins keep counters in it. */
		state = (struct bt_state *)bt_const_shared_lister_of(options.snapshot)->state;
	}
	struct berth_predicates *predicates = create(state, bt_config_of(options.config));

	predicates->handle.max_pd_volumes = options.max_pd_volumes;
	for (uint32_t i = 0; predicates->owns_state && options.node_infos != NULL &&
		i < berth_node_name_to_info_map_count(options.node_infos);
		i++) {
		const struct berth_node_info *node =
			berth_node_name_to_info_map_at(options.node_infos, i, NULL);

		if (bt_aggregate_node(bt_alone_of(node)) != NULL) {
			(void)bt_predicates_put_node(predicates, node);
		}
	}
	if (predicates->owns_state) {
		refresh(predicates);
	}
	return predicates;
}

struct berth_predicates *bt_predicates_create_around(const struct berth_node_info *node)
{
	struct berth_predicates *predicates;

	if (bt_alone_of(node) == NULL) {
		return create((struct bt_state *)bt_const_node_info_of(node)->state, NULL);
	}
	predicates = create(NULL, NULL);
	if (bt_aggregate_node(bt_alone_of(node)) != NULL) {
		(void)bt_predicates_put_node(predicates, node);
	}
	refresh(predicates);
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
			plugin->ops->destroy(plugin);
		}
	}
	for (uint32_t i = 0; i < predicates->registered.count; i++) {
		bt_free(predicates->registered.items[i].name);
	}
	bt_vec_finish(&predicates->registered);
	bt_vec_finish(&predicates->ignored);
	bt_vec_finish(&predicates->generations);
	if (predicates->owns_state) {
		bt_state_destroy(predicates->state);
	}
	bt_config_unref(predicates->config);
	bt_free(predicates);
}

/* --- names --- */

static struct bt_registered_predicate *find_registered(
	const struct berth_predicates *predicates, const char *name)
{
	for (uint32_t i = 0; i < predicates->registered.count; i++) {
		if (strcmp(predicates->registered.items[i].name, name) == 0) {
			return &predicates->registered.items[i];
		}
	}
	return NULL;
}

berth_predicate_fn bt_predicate_find_registered(
	const struct berth_predicates *predicates, const char *name)
{
	const struct bt_registered_predicate *known = find_registered(predicates, name);

	return known != NULL ? known->predicate : NULL;
}

int berth_predicate_register(struct berth_predicates *predicates, const char *name,
	berth_predicate_fn predicate, struct berth_error *err)
{
	if (name == NULL || name[0] == '\0' || predicate == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "a predicate needs a name and a function");
	}
	struct bt_registered_predicate *known = find_registered(predicates, name);

	if (known != NULL) {
		known->predicate = predicate;
		return BERTH_OK;
	}
	struct bt_registered_predicate added = {bt_strndup(name, strlen(name)), predicate};

	bt_vec_push(&predicates->registered, added);
	return BERTH_OK;
}

/* --- metadata --- */

static void set_request(
	const struct bt_pod *pod, struct bt_arena *arena, struct berth_resource *out_request)
{
	struct bt_resource request = bt_legacy_pod_resources(&pod->spec, false, arena);

	*out_request = (struct berth_resource){
		.cpu_milli = request.cpu_milli,
		.memory_bytes = request.memory_bytes,
		.ephemeral_storage_bytes = request.ephemeral_storage_bytes,
	};
	for (uint32_t i = 0; i < request.scalar_count; i++) {
		berth_resource_set_scalar(
			out_request, request.scalars[i].name, request.scalars[i].value);
	}
}

struct berth_predicate_metadata *bt_predicate_metadata_create(
	struct berth_predicates *predicates, const struct berth_pod *pod)
{
	struct berth_predicate_metadata *metadata = BT_NEW(struct berth_predicate_metadata);
	struct berth_predicate_data *data = BT_NEW(struct berth_predicate_data);

	metadata->pod = pod;
	metadata->predicates = predicates;
	metadata->data = data;
	metadata->ignored_extended_resources = predicates->ignored.items;
	metadata->ignored_extended_resource_count = predicates->ignored.count;
	bt_arena_init(&data->arena, 0);
	bt_cycle_state_init(&data->cycle, &data->arena, BERTH_PREDICATE__COUNT);
	bt_pod_info_init_pending(predicates->state, bt_const_pod_of(pod), &data->info);
	set_request(bt_const_pod_of(pod), &data->arena, &metadata->pod_request);
	return metadata;
}

struct berth_predicate_metadata *berth_predicate_metadata_produce(
	struct berth_predicates *predicates, struct berth_object *pod)
{
	BT_ASSERT(berth_object_pod(pod) != NULL);
	struct berth_predicate_metadata *metadata =
		bt_predicate_metadata_create(predicates, berth_object_pod(pod));

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
