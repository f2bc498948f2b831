/* SPDX-License-Identifier: Apache-2.0 */
#include "api/selector.h"
#include "base/duration.h"
#include "base/text_set.h"
#include "config/validate.h"

bool bt_label_key_check(
	struct bt_str key, const struct bt_path *path, struct bt_config_errors *errors)
{
	struct bt_error_list messages = {0};
	bt_label_key_errors(key, &errors->arena, &messages);
	for (uint32_t i = 0; i < messages.count; i++) {
		bt_config_errors_add(errors, path, "Invalid value: %s: %.*s",
			bt_config_errors_quote(errors, key), BT_STR_ARG(messages.items[i]));
	}
	return messages.count == 0;
}

void bt_duration_check(int64_t duration_ns, int64_t least_ns, const char *what,
	const struct bt_path *path, struct bt_config_errors *errors)
{
	struct bt_strbuf text = {0};
	if (duration_ns < least_ns) {
		bt_duration_format(duration_ns, &text);
		bt_config_errors_add(
			errors, path, "Invalid value: \"%s\": %s", bt_strbuf_c(&text), what);
	}
	bt_strbuf_finish(&text);
}

static void check_range(int32_t value, int32_t low, int32_t high, const struct bt_path *path,
	struct bt_config_errors *errors)
{
	if (value < low || value > high) {
		bt_config_errors_add(errors, path, "Invalid value: %d: not in valid range [%d, %d]",
			(int)value, (int)low, (int)high);
	}
}

static void check_default_preemption(const struct bt_default_preemption_args *args,
	const struct bt_path *path, struct bt_config_errors *errors)
{
	const struct bt_path *percentage_path = BT_PATH_NAME(path, "minCandidateNodesPercentage");
	const struct bt_path *absolute_path = BT_PATH_NAME(path, "minCandidateNodesAbsolute");
	int32_t percentage = args->min_candidate_nodes_percentage.value;
	int32_t absolute = args->min_candidate_nodes_absolute.value;

	check_range(percentage, 0, 100, percentage_path, errors);
	if (absolute < 0) {
		bt_config_errors_add(errors, absolute_path,
			"Invalid value: %d: not in valid range [0, inf)", (int)absolute);
	}
	if (percentage == 0 && absolute == 0) {
		bt_config_errors_add(errors, percentage_path,
			"Invalid value: 0: cannot be zero at the same time as "
			"minCandidateNodesAbsolute");
		bt_config_errors_add(errors, absolute_path,
			"Invalid value: 0: cannot be zero at the same time as "
			"minCandidateNodesPercentage");
	}
}

static void check_pod_topology_spread(const struct bt_pod_topology_spread_args *args,
	const struct bt_path *path, struct bt_config_errors *errors)
{
	const struct bt_path *type_path = BT_PATH_NAME(path, "defaultingType");
	const struct bt_path *list_path = BT_PATH_NAME(path, "defaultConstraints");
	struct bt_text_set pairs = {0};
	bool is_system = bt_str_equal_c(args->defaulting_type, "System");

	if (!is_system && !bt_str_equal_c(args->defaulting_type, "List")) {
		bt_config_errors_add(errors, type_path,
			"Unsupported value: %s: supported values: \"System\", \"List\"",
			bt_config_errors_quote_json(errors, args->defaulting_type));
	} else if (is_system && args->default_constraints.count > 0) {
		bt_config_errors_add(errors, type_path,
			"Invalid value: \"System\": when .defaultConstraints are not empty");
	}
	for (uint32_t i = 0; i < args->default_constraints.count; i++) {
		const struct bt_topology_spread_constraint *constraint =
			&args->default_constraints.items[i];
		const struct bt_path *here = BT_PATH_INDEX(list_path, i);
		if (constraint->max_skew <= 0) {
			bt_config_errors_add(errors, BT_PATH_NAME(here, "maxSkew"),
				"Invalid value: %d: not in valid range (0, inf)",
				(int)constraint->max_skew);
		}
		const struct bt_path *key_path = BT_PATH_NAME(here, "topologyKey");
		if (constraint->topology_key.length == 0) {
			bt_config_errors_add(errors, key_path, "Required value: can not be empty");
		} else {
			(void)bt_label_key_check(constraint->topology_key, key_path,
				errors); /* errors are collected */
		}
		const struct bt_path *when_path = BT_PATH_NAME(here, "whenUnsatisfiable");
		struct bt_str when = constraint->when_unsatisfiable;
		if (when.length == 0) {
			bt_config_errors_add(errors, when_path, "Required value: can not be empty");
		} else if (!bt_str_equal_c(when, "DoNotSchedule") &&
			!bt_str_equal_c(when, "ScheduleAnyway")) {
			bt_config_errors_add(errors, when_path,
				"Unsupported value: %s: supported values: "
				"\"DoNotSchedule\", \"ScheduleAnyway\"",
				bt_config_errors_quote_json(errors, when));
		}
		if (constraint->label_selector != NULL) {
			bt_config_errors_add(errors, BT_PATH_NAME(here, "labelSelector"),
				"Forbidden: constraint must not define a selector, as they "
				"deduced for each pod");
		}
		struct bt_str pair = bt_arena_printf(&errors->arena, "{%.*s, %.*s}",
			BT_STR_ARG(constraint->topology_key),
			BT_STR_ARG(constraint->when_unsatisfiable));
		if (!bt_text_set_add(&pairs, pair)) {
			bt_config_errors_add(errors, here, "Duplicate value: %s",
				bt_config_errors_quote(errors, pair));
		}
	}
	bt_text_set_finish(&pairs);
}

static void check_balanced_allocation(const struct bt_node_resources_balanced_allocation_args *args,
	const struct bt_path *path, struct bt_config_errors *errors)
{
	const struct bt_path *list_path = BT_PATH_NAME(path, "resources");
	struct bt_text_set names = {0};
	for (uint32_t i = 0; i < args->resources.count; i++) {
		const struct bt_resource_spec *resource = &args->resources.items[i];
		const struct bt_path *here = BT_PATH_INDEX(list_path, i);
		if (!bt_text_set_add(&names, resource->name)) {
			bt_config_errors_add(errors, BT_PATH_NAME(here, "name"),
				"Duplicate value: %s",
				bt_config_errors_quote(errors, resource->name));
		}
		if (resource->weight != 1) {
			bt_config_errors_add(errors, BT_PATH_NAME(here, "weight"),
				"Invalid value: %lld: must be 1", (long long)resource->weight);
		}
	}
	bt_text_set_finish(&names);
}

static void check_node_affinity(const struct bt_node_affinity_args *args,
	const struct bt_path *path, struct bt_config_errors *errors)
{
	const struct bt_path *affinity_path = BT_PATH_NAME(path, "addedAffinity");
	const struct bt_node_affinity *affinity = args->added_affinity;
	struct bt_error_list messages = {0};
	struct bt_strbuf prefix = {0};

	if (affinity == NULL) {
		return;
	}
	if (affinity->required != NULL) {
		bt_path_render(BT_PATH_NAME(affinity_path,
				       "requiredDuringSchedulingIgnoredDuringExecution"),
			&prefix);
		struct bt_parsed_node_selector parsed = bt_node_selector_parse(
			affinity->required, bt_strbuf_str(&prefix), &errors->arena);
		bt_node_selector_errors(&parsed, &errors->arena, &messages);
	}
	bt_strbuf_reset(&prefix);
	bt_path_render(
		BT_PATH_NAME(affinity_path, "preferredDuringSchedulingIgnoredDuringExecution"),
		&prefix);
	(void)bt_preferred_terms_parse(
		&affinity->preferred, bt_strbuf_str(&prefix), &errors->arena, &messages);
	bt_strbuf_finish(&prefix);
	for (uint32_t i = 0; i < messages.count; i++) {
		bt_config_errors_add_text(errors, messages.items[i]);
	}
}

static void check_shape(const bt_utilization_shape_point_list *shape, const struct bt_path *path,
	struct bt_config_errors *errors)
{
	if (shape->count == 0) {
		bt_config_errors_add(
			errors, path, "Required value: at least one point must be specified");
		return;
	}
	for (uint32_t i = 1; i < shape->count; i++) {
		if (shape->items[i - 1].utilization >= shape->items[i].utilization) {
			const struct bt_path *here = BT_PATH_INDEX(path, i);
			bt_config_errors_add(errors, BT_PATH_NAME(here, "utilization"),
				"Invalid value: %d: values must be sorted in increasing order",
				(int)shape->items[i].utilization);
			break;
		}
	}
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct bt_path *here = BT_PATH_INDEX(path, i);
		check_range(shape->items[i].utilization, 0, 100, BT_PATH_NAME(here, "utilization"),
			errors);
		check_range(shape->items[i].score, 0, 10, BT_PATH_NAME(here, "score"), errors);
	}
}

static void check_volume_binding(const struct bt_volume_binding_args *args,
	const struct bt_gates *gates, const struct bt_path *path, struct bt_config_errors *errors)
{
	const struct bt_path *shape_path = BT_PATH_NAME(path, "shape");
	if (args->bind_timeout_seconds.value < 0) {
		bt_config_errors_add(errors, BT_PATH_NAME(path, "bindTimeoutSeconds"),
			"Invalid value: %lld: invalid BindTimeoutSeconds, should not be a "
			"negative value",
			(long long)args->bind_timeout_seconds.value);
	}
	if (bt_gate_enabled(gates, BT_GATE_STORAGE_CAPACITY_SCORING)) {
		check_shape(&args->shape, shape_path, errors);
	} else if (args->shape.present) {
		/* Upstream prints the Go names of the fields, which begin with capitals. */
		struct bt_strbuf text = {0};
		for (uint32_t i = 0; i < args->shape.count; i++) {
			bt_strbuf_printf(&text, "%s{\"Utilization\":%d,\"Score\":%d}",
				i > 0 ? "," : "", (int)args->shape.items[i].utilization,
				(int)args->shape.items[i].score);
		}
		bt_config_errors_add(errors, shape_path,
			"Invalid value: [%s]: unexpected field `shape`, remove it or turn on the "
			"feature gate StorageCapacityScoring",
			bt_strbuf_c(&text));
		bt_strbuf_finish(&text);
	}
}

static void check_dynamic_resources(const struct bt_dynamic_resources_args *args,
	const struct bt_gates *gates, const struct bt_path *path, struct bt_config_errors *errors)
{
	const struct bt_path *filter_path = BT_PATH_NAME(path, "filterTimeout");
	const struct bt_path *binding_path = BT_PATH_NAME(path, "bindingTimeout");
	if (args->filter_timeout_ns.present) {
		bt_duration_check(args->filter_timeout_ns.value, 0, "must be zero or positive",
			filter_path, errors);
		if (!bt_gate_enabled(gates, BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT)) {
			/*
			 * Upstream quirk (spec 10 section 8.5): the gate's name in the message is
			 * not the name of the gate.
			 */
			bt_config_errors_add(errors, filter_path,
				"Forbidden: DRASchedulingFilterTimeout feature gate is disabled");
		}
	}
	if (args->binding_timeout_ns.present) {
		bt_duration_check(args->binding_timeout_ns.value, BT_NS_PER_SECOND,
			"must be at least 1 second", binding_path, errors);
		if (!bt_gate_enabled(gates, BT_GATE_DRA_DEVICE_BINDING_CONDITIONS) ||
			!bt_gate_enabled(gates, BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS)) {
			bt_config_errors_add(errors, binding_path,
				"Forbidden: DRADeviceBindingConditions or "
				"DRAResourceClaimDeviceStatus feature gate is disabled");
		}
	}
}

static void check_strategy(const struct bt_scoring_strategy *strategy, const struct bt_path *path,
	struct bt_config_errors *errors)
{
	const struct bt_path *resources_path = BT_PATH_NAME(path, "resources");
	const struct bt_path *ratio_path = BT_PATH_NAME(path, "requestedToCapacityRatio");
	bool is_ratio = bt_str_equal_c(strategy->type, "RequestedToCapacityRatio");

	if (!is_ratio && !bt_str_equal_c(strategy->type, "LeastAllocated") &&
		!bt_str_equal_c(strategy->type, "MostAllocated")) {
		bt_config_errors_add(errors, BT_PATH_NAME(path, "type"),
			"Unsupported value: %s: supported values: "
			"\"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\"",
			bt_config_errors_quote_json(errors, strategy->type));
	}
	for (uint32_t i = 0; i < strategy->resources.count; i++) {
		const struct bt_resource_spec *resource = &strategy->resources.items[i];
		if (resource->weight <= 0 || resource->weight > 100) {
			const struct bt_path *here = BT_PATH_INDEX(resources_path, i);
			bt_config_errors_add(errors, BT_PATH_NAME(here, "weight"),
				"Invalid value: %lld: resource weight of %.*s not in valid range "
				"(0, 100]",
				(long long)resource->weight, BT_STR_ARG(resource->name));
		}
	}
	if (is_ratio && strategy->requested_to_capacity_ratio == NULL) {
		bt_config_errors_add(errors, ratio_path,
			"Required value: must be specified when type is RequestedToCapacityRatio");
	} else if (is_ratio) {
		check_shape(&strategy->requested_to_capacity_ratio->shape,
			BT_PATH_NAME(ratio_path, "shape"), errors);
	} else if (strategy->requested_to_capacity_ratio != NULL) {
		bt_config_errors_add(errors, ratio_path,
			"Forbidden: must be nil when type is not RequestedToCapacityRatio");
	}
}

static void check_node_resources_fit(const struct bt_node_resources_fit_args *args,
	const struct bt_path *path, struct bt_config_errors *errors)
{
	const struct bt_path *ignored_path = BT_PATH_NAME(path, "ignoredResources");
	const struct bt_path *groups_path = BT_PATH_NAME(path, "ignoredResourceGroups");
	const struct bt_path *strategy_path = BT_PATH_NAME(path, "scoringStrategy");

	for (uint32_t i = 0; i < args->ignored_resources.count; i++) {
		(void)bt_label_key_check(
			args->ignored_resources.items[i], BT_PATH_INDEX(ignored_path, i), errors);
	}
	for (uint32_t i = 0; i < args->ignored_resource_groups.count; i++) {
		struct bt_str group = args->ignored_resource_groups.items[i];
		const struct bt_path *here = BT_PATH_INDEX(groups_path, i);
		if (bt_str_find_char(group, '/') >= 0) {
			bt_config_errors_add(errors, here,
				"Invalid value: %s: resource group name can't contain '/'",
				bt_config_errors_quote(errors, group));
		}
		(void)bt_label_key_check(group, here, errors);
	}
	if (args->scoring_strategy == NULL) {
		bt_config_errors_add(
			errors, strategy_path, "Required value: ScoringStrategy field is required");
	} else {
		check_strategy(args->scoring_strategy, strategy_path, errors);
	}
}

void bt_plugin_args_check(const struct bt_plugin_args *args, const struct bt_gates *gates,
	const struct bt_path *path, struct bt_config_errors *errors)
{
	switch (args->kind) {
	case BT_ARGS_NODE_RESOURCES_FIT:
		check_node_resources_fit(&args->node_resources_fit, path, errors);
		break;
	case BT_ARGS_NODE_RESOURCES_BALANCED_ALLOCATION:
		check_balanced_allocation(&args->node_resources_balanced_allocation, path, errors);
		break;
	case BT_ARGS_NODE_AFFINITY:
		check_node_affinity(&args->node_affinity, path, errors);
		break;
	case BT_ARGS_INTER_POD_AFFINITY:
		check_range(args->inter_pod_affinity.hard_pod_affinity_weight.value, 0, 100,
			BT_PATH_NAME(path, "hardPodAffinityWeight"), errors);
		break;
	case BT_ARGS_POD_TOPOLOGY_SPREAD:
		check_pod_topology_spread(&args->pod_topology_spread, path, errors);
		break;
	case BT_ARGS_DEFAULT_PREEMPTION:
		check_default_preemption(&args->default_preemption, path, errors);
		break;
	case BT_ARGS_VOLUME_BINDING:
		check_volume_binding(&args->volume_binding, gates, path, errors);
		break;
	case BT_ARGS_DYNAMIC_RESOURCES:
		check_dynamic_resources(&args->dynamic_resources, gates, path, errors);
		break;
	case BT_ARGS_NONE:
	case BT_ARGS_OTHER:
	case BT_ARGS__COUNT:
		break;
	}
}

int bt_plugin_args_validate(
	const struct bt_plugin_args *args, const struct bt_gates *gates, struct berth_error *err)
{
	struct bt_config_errors errors = BT_CONFIG_ERRORS_INIT;
	const struct bt_gates defaults = bt_gates_default();
	bt_plugin_args_check(args, gates != NULL ? gates : &defaults, NULL, &errors);
	return bt_config_errors_finish(&errors, err);
}
