/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_spread.h"

#include "base/error.h"
#include "plugins/common_plugin.h"
#include "plugins/common_spread_selectors.h"
#include "plugins/common_topology.h"
#include "state/domain_counter.h"

const struct bt_topology_spread_constraint bt_spread_system_defaults[2] = {
	{.max_skew = 3,
		.topology_key = BT_STR_INIT("kubernetes.io/hostname"),
		.when_unsatisfiable = BT_STR_INIT("ScheduleAnyway")},
	{.max_skew = 5,
		.topology_key = BT_STR_INIT("topology.kubernetes.io/zone"),
		.when_unsatisfiable = BT_STR_INIT("ScheduleAnyway")},
};

/* --- constraints --- */

bool bt_spread_has_action(
	const struct bt_topology_spread_constraint *constraint, enum bt_spread_action action)
{
	return bt_str_equal_c(constraint->when_unsatisfiable,
		action == BT_SPREAD_HARD ? "DoNotSchedule" : "ScheduleAnyway");
}

static int parse_constraint(const struct bt_spread_source *source,
	const struct bt_topology_spread_constraint *from, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_spread_constraint *out, struct berth_error *err)
{
	int code =
		bt_selector_from_label_selector(from->label_selector, arena, &out->selector, err);

	if (code != 0) {
		return code;
	}
	if (from->match_label_keys.count != 0 &&
		bt_gate_enabled(source->gates, BT_GATE_MATCH_LABEL_KEYS_IN_POD_TOPOLOGY_SPREAD)) {
		/* matchLabelKeys: the pod's own values of these labels are required too. */
		struct bt_requirements own = {.arena = arena};

		for (uint32_t i = 0; i < from->match_label_keys.count; i++) {
			const struct bt_str *value =
				bt_str_map_find(pod->labels, from->match_label_keys.items[i]);

			if (value != NULL) {
				bt_requirements_add_pair(
					&own, from->match_label_keys.items[i], value);
			}
		}
		if (own.count != 0 && !out->selector.nothing) {
			bt_requirements_add_selector(&own, &out->selector);
			out->selector = bt_requirements_selector(&own);
		}
	}
	out->topology_key = from->topology_key;
	out->max_skew = from->max_skew;
	out->min_domains = from->min_domains.present ? from->min_domains.value : 1;
	out->honors_affinity = from->node_affinity_policy.data == NULL ||
		bt_str_equal_c(from->node_affinity_policy, "Honor");
	out->honors_taints = bt_str_equal_c(from->node_taints_policy, "Honor");
	return 0;
}

static int parse_constraints(const struct bt_spread_source *source,
	const struct bt_topology_spread_constraint *from, uint32_t from_count,
	const struct bt_pod_info *pod, enum bt_spread_action action, struct bt_arena *arena,
	struct bt_spread_list *out_list, struct berth_error *err)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < from_count; i++) {
		count += bt_spread_has_action(&from[i], action);
	}
	if (count == 0) {
		return 0;
	}
	out_list->items = BT_ARENA_NEW_ARRAY(arena, struct bt_spread_constraint, count);
	for (uint32_t i = 0; i < from_count; i++) {
		int code;

		if (!bt_spread_has_action(&from[i], action)) {
			continue;
		}
		code = parse_constraint(
			source, &from[i], pod, arena, &out_list->items[out_list->count++], err);
		if (code != 0) {
			return code;
		}
	}
	return 0;
}

static int resolve_defaults(const struct bt_spread_source *source, const struct bt_pod_info *pod,
	enum bt_spread_action action, struct bt_arena *arena, struct bt_spread_list *out_list,
	struct berth_error *err)
{
	struct bt_selector selector;
	int code = parse_constraints(
		source, source->defaults, source->default_count, pod, action, arena, out_list, err);

	if (code != 0) {
		return bt_error_wrap(err, code, "setting default %s topology spread constraints",
			action == BT_SPREAD_HARD ? "hard" : "soft");
	}
	if (out_list->count == 0) {
		return 0;
	}
	selector = bt_spread_default_selector(source->selectors, source->state, pod, arena);
	if (selector.requirement_count == 0) {
		out_list->count = 0;
		return 0;
	}
	for (uint32_t i = 0; i < out_list->count; i++) {
		out_list->items[i].selector = selector;
	}
	return 0;
}

int bt_spread_resolve(const struct bt_spread_source *source, const struct bt_pod_info *pod,
	enum bt_spread_action action, struct bt_arena *arena, struct bt_spread_list *out_list,
	struct berth_error *err)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct bt_spread_list list = {0};
	int code;

	if (spec->topology_spread_constraints.count != 0) {
		code = parse_constraints(source, spec->topology_spread_constraints.items,
			spec->topology_spread_constraints.count, pod, action, arena, &list, err);
		if (code != 0) {
			return bt_error_wrap(err, code,
				"obtaining pod's %s topology spread constraints",
				action == BT_SPREAD_HARD ? "hard" : "soft");
		}
	} else {
		code = resolve_defaults(source, pod, action, arena, &list, err);
		if (code != 0) {
			return code;
		}
	}
	/* A column of a new key is a walk over all nodes: not for constraints that fell away. */
	for (uint32_t i = 0; i < list.count; i++) {
		list.items[i].column =
			bt_state_label_column(source->state, list.items[i].topology_key);
	}
	if (list.count != 0) {
		list.affinity = bt_required_node_affinity_parse(spec, arena);
		list.tolerations = &spec->tolerations;
		list.allow_comparison = bt_gate_enabled(
			source->gates, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	}
	*out_list = list;
	return 0;
}
