/* SPDX-License-Identifier: Apache-2.0 */
#include "config/default.h"

#include <stdlib.h>

#include "base/duration.h"

struct default_plugin {
	struct bt_str name;
	int32_t weight; /* 0: the plugin has no default weight */
	enum bt_gate
		gate; /* the plugin is a default only if this gate is on; BT_GATE__COUNT: always */
};

/* The rows are in the order in which the plugins run. */
static const struct default_plugin default_plugins[] = {
	{BT_STR_INIT("SchedulingGates"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("PrioritySort"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("NodeUnschedulable"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("NodeName"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("TaintToleration"), 3, BT_GATE__COUNT},
	{BT_STR_INIT("NodeAffinity"), 2, BT_GATE__COUNT},
	{BT_STR_INIT("NodePorts"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("NodeResourcesFit"), 1, BT_GATE__COUNT},
	{BT_STR_INIT("VolumeRestrictions"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("NodeVolumeLimits"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("VolumeBinding"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("VolumeZone"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("PodTopologySpread"), 2, BT_GATE__COUNT},
	{BT_STR_INIT("InterPodAffinity"), 2, BT_GATE__COUNT},
	{BT_STR_INIT("DynamicResources"), 2, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_STR_INIT("DefaultPreemption"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("NodeResourcesBalancedAllocation"), 1, BT_GATE__COUNT},
	{BT_STR_INIT("ImageLocality"), 1, BT_GATE__COUNT},
	{BT_STR_INIT("DefaultBinder"), 0, BT_GATE__COUNT},
	{BT_STR_INIT("NodeDeclaredFeatures"), 0, BT_GATE_NODE_DECLARED_FEATURES},
	{BT_STR_INIT("GangScheduling"), 0, BT_GATE_GANG_SCHEDULING},
	{BT_STR_INIT("TopologyPlacementGenerator"), 0, BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING},
	{BT_STR_INIT("PodGroupPodsCount"), 1, BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING},
};

/* Spec: 10 section 5.7. */
static void default_i32(struct bt_opt_i32 *field, int32_t value)
{
	if (!field->present) {
		*field = (struct bt_opt_i32){true, value};
	}
}

static void default_resources(bt_resource_spec_list *resources, struct bt_arena *arena)
{
	if (resources->count == 0) {
		resources->items = BT_ARENA_NEW_ARRAY(arena, struct bt_resource_spec, 2);
		resources->items[0] = (struct bt_resource_spec){BT_STR("cpu"), 1};
		resources->items[1] = (struct bt_resource_spec){BT_STR("memory"), 1};
		resources->count = 2;
		resources->present = true;
	}
	for (uint32_t i = 0; i < resources->count; i++) {
		if (resources->items[i].weight == 0) {
			resources->items[i].weight = 1;
		}
	}
}

void bt_plugin_args_default(
	struct bt_plugin_args *args, const struct bt_gates *gates, struct bt_arena *arena)
{
	switch (args->kind) {
	case BT_ARGS_NODE_RESOURCES_FIT: {
		/*
		 * The type of a given strategy is not defaulted: if it is empty, the plugin's
		 * constructor rejects it.
		 */
		struct bt_scoring_strategy *strategy =
			BT_ARENA_NEW(arena, struct bt_scoring_strategy);
		if (args->node_resources_fit.scoring_strategy != NULL) {
			*strategy = *args->node_resources_fit.scoring_strategy;
		} else {
			strategy->type = BT_STR("LeastAllocated");
		}
		default_resources(&strategy->resources, arena);
		args->node_resources_fit.scoring_strategy = strategy;
		break;
	}
	case BT_ARGS_NODE_RESOURCES_BALANCED_ALLOCATION:
		default_resources(&args->node_resources_balanced_allocation.resources, arena);
		break;
	case BT_ARGS_INTER_POD_AFFINITY:
		default_i32(&args->inter_pod_affinity.hard_pod_affinity_weight, 1);
		break;
	case BT_ARGS_POD_TOPOLOGY_SPREAD:
		if (args->pod_topology_spread.defaulting_type.length == 0) {
			args->pod_topology_spread.defaulting_type = BT_STR("System");
		}
		break;
	case BT_ARGS_DEFAULT_PREEMPTION:
		default_i32(&args->default_preemption.min_candidate_nodes_percentage, 10);
		default_i32(&args->default_preemption.min_candidate_nodes_absolute, 100);
		break;
	case BT_ARGS_VOLUME_BINDING:
		if (!args->volume_binding.bind_timeout_seconds.present) {
			args->volume_binding.bind_timeout_seconds = (struct bt_opt_i64){true, 600};
		}
		if (bt_gate_enabled(gates, BT_GATE_STORAGE_CAPACITY_SCORING) &&
			args->volume_binding.shape.count == 0) {
			args->volume_binding.shape.items =
				BT_ARENA_NEW_ARRAY(arena, struct bt_utilization_shape_point, 2);
			args->volume_binding.shape.items[0] =
				(struct bt_utilization_shape_point){.utilization = 0, .score = 10};
			args->volume_binding.shape.items[1] =
				(struct bt_utilization_shape_point){.utilization = 100, .score = 0};
			args->volume_binding.shape.count = 2;
			args->volume_binding.shape.present = true;
		}
		break;
	case BT_ARGS_DYNAMIC_RESOURCES:
		if (!args->dynamic_resources.filter_timeout_ns.present &&
			bt_gate_enabled(gates, BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT)) {
			args->dynamic_resources.filter_timeout_ns =
				(struct bt_opt_i64){true, 10 * BT_NS_PER_SECOND};
		}
		if (!args->dynamic_resources.binding_timeout_ns.present &&
			bt_gate_enabled(gates, BT_GATE_DRA_DEVICE_BINDING_CONDITIONS) &&
			bt_gate_enabled(gates, BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS)) {
			args->dynamic_resources.binding_timeout_ns =
				(struct bt_opt_i64){true, 600 * BT_NS_PER_SECOND};
		}
		break;
	case BT_ARGS_NONE:
	case BT_ARGS_OTHER:
	case BT_ARGS_NODE_AFFINITY:
	case BT_ARGS__COUNT:
		break;
	}
}

/* Whether the profile disables the plugin. Spec: 10 sections 6.2 and 6.3. */
static bool is_disabled(const struct bt_config_plugin_set *custom, struct bt_str name)
{
	return BT_STR_FIND(&custom->disabled, name, name) != NULL;
}

/* Clears the weights of the disabled entries, because only the names of disabled entries count. */
static void strip_disabled(struct bt_config_plugin_set *set)
{
	for (uint32_t i = 0; i < set->disabled.count; i++) {
		set->disabled.items[i].weight = 0;
	}
}

struct merge {
	struct bt_arena *arena;
	const struct bt_gates *gates;
	bt_str_list *overridden; /* has room for every default plugin of every profile */
};

bt_str_list bt_plugins_enabled_names(
	const struct bt_config_plugins *plugins, struct bt_arena *arena)
{
	struct bt_text_set names = {0};
	bt_str_list list = {NULL, 0, true};
	for (uint32_t point = 0; point <= BT_POINT__COUNT; point++) {
		const struct bt_config_plugin_set *set =
			point < BT_POINT__COUNT ? &plugins->points[point] : &plugins->multi_point;
		for (uint32_t i = 0; i < set->enabled.count; i++) {
			(void)bt_text_set_add(
				&names, set->enabled.items[i].name); /* repetitions are expected */
		}
	}
	list.count = names.items.count;
	list.items =
		bt_arena_copy_array(arena, names.items.items, list.count, 0, sizeof(*list.items));
	bt_text_set_finish(&names);
	if (list.count > 1) {
		qsort(list.items, list.count, sizeof(*list.items), bt_str_compare_qsort);
	}
	return list;
}

static void append_plugin_configs(
	struct bt_config_profile *profile, const struct bt_gates *gates, struct bt_arena *arena)
{
	bt_str_list names = bt_plugins_enabled_names(profile->plugins, arena);
	struct bt_text_set given = {0};
	uint32_t count = 0;

	struct bt_config_plugin_config *items = BT_ARENA_NEW_ARRAY(arena,
		struct bt_config_plugin_config, profile->plugin_config.count + BT_ARGS__COUNT);
	for (uint32_t i = 0; i < profile->plugin_config.count; i++) {
		items[count++] = profile->plugin_config.items[i];
		(void)bt_text_set_add(
			&given, profile->plugin_config.items[i].name); /* may be repeated */
	}
	for (uint32_t i = 0; i < names.count; i++) {
		enum bt_plugin_args_kind kind = bt_config_schema_args_kind_of(names.items[i]);
		if (kind != BT_ARGS_OTHER && !bt_text_set_has(&given, names.items[i])) {
			items[count].name = names.items[i];
			items[count].args.kind = kind;
			bt_plugin_args_default(&items[count].args, gates, arena);
			count++;
		}
	}
	bt_text_set_finish(&given);
	profile->plugin_config.items = items;
	profile->plugin_config.count = count;
	profile->plugin_config.present = count > 0;
}

static void default_profile(struct bt_config_profile *profile, const struct merge *merge)
{
	struct bt_config_plugins *plugins = BT_ARENA_NEW(merge->arena, struct bt_config_plugins);
	if (profile->plugins != NULL) {
		*plugins = *profile->plugins;
	}
	/* Only multiPoint has default plugins; the other points keep the document's lists. */
	for (uint32_t point = 0; point < BT_POINT__COUNT; point++) {
		strip_disabled(&plugins->points[point]);
	}
	strip_disabled(&plugins->multi_point);

	struct bt_config_plugin_set result = {.disabled = plugins->multi_point.disabled};
	bool *used = BT_ARENA_NEW_ARRAY(merge->arena, bool, plugins->multi_point.enabled.count);
	bool all_disabled = is_disabled(&plugins->multi_point, BT_STR("*"));
	uint32_t count = 0;

	result.enabled.items = BT_ARENA_NEW_ARRAY(merge->arena, struct bt_config_plugin,
		plugins->multi_point.enabled.count + BT_ARRAY_LENGTH(default_plugins));
	for (uint32_t i = 0; !all_disabled && i < BT_ARRAY_LENGTH(default_plugins); i++) {
		const struct default_plugin *row = &default_plugins[i];
		if ((row->gate != BT_GATE__COUNT && !bt_gate_enabled(merge->gates, row->gate)) ||
			is_disabled(&plugins->multi_point, row->name)) {
			continue;
		}
		/* Of several entries with this name, the last counts. */
		const struct bt_config_plugin *custom = plugins->multi_point.enabled.items;
		uint32_t own = plugins->multi_point.enabled.count;
		while (own > 0 && !bt_str_equal(custom[own - 1].name, row->name)) {
			own--;
		}
		if (own == 0) {
			result.enabled.items[count++] =
				(struct bt_config_plugin){row->name, row->weight};
		} else {
			used[own - 1] = true;
			result.enabled.items[count++] = custom[own - 1];
			merge->overridden->items[merge->overridden->count++] = row->name;
		}
	}
	for (uint32_t i = 0; i < plugins->multi_point.enabled.count; i++) {
		if (!used[i]) {
			result.enabled.items[count++] = plugins->multi_point.enabled.items[i];
		}
	}
	result.enabled.count = count;
	result.enabled.present = count > 0;
	plugins->multi_point = result;
	profile->plugins = plugins;
	append_plugin_configs(profile, merge->gates, merge->arena);
}

/* Spec: 10 section 6.1. */
static void default_str(struct bt_str *field, struct bt_str value)
{
	if (field->length == 0) {
		*field = value;
	}
}

static void default_ns(int64_t *field, int64_t seconds)
{
	if (*field == 0) {
		*field = seconds * BT_NS_PER_SECOND;
	}
}

void bt_document_default(struct bt_config_document *document, const struct bt_gates *gates,
	struct bt_arena *arena, bt_str_list *overridden)
{
	struct merge merge = {arena, gates, overridden};
	if (document->profiles.count == 0) {
		document->profiles.items = BT_ARENA_NEW(arena, struct bt_config_profile);
		document->profiles.count = 1;
		document->profiles.present = true;
	}
	if (document->profiles.count == 1 &&
		document->profiles.items[0].scheduler_name.data == NULL) {
		document->profiles.items[0].scheduler_name = BT_STR("default-scheduler");
	}
	overridden->items = BT_ARENA_NEW_ARRAY(arena, struct bt_str,
		(size_t)document->profiles.count * BT_ARRAY_LENGTH(default_plugins));
	for (uint32_t i = 0; i < document->profiles.count; i++) {
		default_profile(&document->profiles.items[i], &merge);
	}

	struct bt_config_leader_election *election = &document->leader_election;
	struct bt_config_client_connection *client = &document->client_connection;

	default_i32(&document->percentage_of_nodes_to_score, 0);
	default_str(&election->resource_lock, BT_STR("leases"));
	default_str(&election->resource_namespace, BT_STR("kube-system"));
	default_str(&election->resource_name, BT_STR("kube-scheduler"));
	default_str(&client->content_type, BT_STR("application/vnd.kubernetes.protobuf"));
	if (!(client->qps < 0 || client->qps > 0)) {
		client->qps = 50;
	}
	if (client->burst == 0) {
		client->burst = 100;
	}
	default_ns(&election->lease_duration_ns, 15);
	default_ns(&election->renew_deadline_ns, 10);
	default_ns(&election->retry_period_ns, 2);
	if (!document->enable_contention_profiling.present) {
		document->enable_contention_profiling =
			(struct bt_opt_bool){true, document->enable_profiling};
	}
}
