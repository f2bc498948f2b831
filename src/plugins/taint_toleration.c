/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TaintToleration (Filter, PreScore, Score): pods must tolerate NoSchedule and NoExecute taints;
 * untolerated PreferNoSchedule taints lower the score. Spec: 05 section 8.
 */
#include "api/toleration.h"
#include "base/alloc.h"
#include "plugins/common_columns.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

static bool allow_comparison(const struct bt_plugin *plugin)
{
	return bt_plugin_gate(plugin, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
}

static bool has_untolerated_hard_taint(
	const struct bt_plugin *plugin, const bt_taint_list *taints, const struct bt_pod_spec *spec)
{
	return bt_find_untolerated_taint(
		       taints, &spec->tolerations, BT_TAINT_HARD, allow_comparison(plugin)) != NULL;
}

static struct bt_status filter(struct bt_plugin *plugin, BT_UNUSED struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	if (has_untolerated_hard_taint(
		    plugin, bt_node_info_taints(node), bt_plugin_pod_spec(pod))) {
		return bt_plugin_rejection(plugin, BT_DETAIL_REJECTED);
	}
	return BT_STATUS_OK;
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	const bt_toleration_list *all = &bt_plugin_pod_spec(pod)->tolerations;
	bt_toleration_list *data = BT_ARENA_NEW(cycle->arena, bt_toleration_list);

	data->items = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_toleration, all->count);
	data->present = true;
	for (uint32_t i = 0; i < all->count; i++) {
		struct bt_str effect = all->items[i].effect;

		if (effect.length == 0 || bt_str_equal_c(effect, "PreferNoSchedule")) {
			data->items[data->count++] = all->items[i];
		}
	}
	cycle->pre_score_data[plugin->index] = data;
	return BT_STATUS_OK;
}

/* Returns the number of soft taints that are not tolerated; repeated taints count each time. */
static int64_t count_intolerable_soft_taints(
	const bt_taint_list *taints, const bt_toleration_list *soft, bool comparison)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < taints->count; i++) {
		if (bt_taint_in_filter(&taints->items[i], BT_TAINT_SOFT) &&
			!bt_tolerations_tolerate(soft, &taints->items[i], comparison)) {
			count++;
		}
	}
	return count;
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node,
	int64_t *out_score)
{
	const bt_toleration_list *data = cycle->pre_score_data[plugin->index];

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("failed to read \"PreScoreTaintToleration\" from cycleState: not "
			       "found"));
	}
	*out_score = count_intolerable_soft_taints(
		bt_node_info_taints(node), data, allow_comparison(plugin));
	return BT_STATUS_OK;
}

/** Nodes share lists of taints, so each list is checked once per pass. */
static bool filter_column(struct bt_plugin *plugin, BT_UNUSED const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	const struct bt_node_table *nodes = &state->nodes;
	bool any = false;

	if (range.slots != NULL) {
		for (uint32_t k = 0; k < range.count; k++) {
			const bt_taint_list *taints = bt_node_table_taints(nodes, range.slots[k]);
			detail[range.slots[k]] = has_untolerated_hard_taint(plugin, taints, spec);
		}
		return true;
	}
	uint8_t *rejected = BT_NEW_ARRAY(uint8_t, nodes->taint_sets.count);
	for (uint32_t i = 0; i < nodes->taint_sets.count; i++) {
		rejected[i] = has_untolerated_hard_taint(
			plugin, &nodes->taint_sets.items[i].taints, spec);
		any |= rejected[i] != 0;
	}
	if (any) {
		const uint8_t *restrict by_set = rejected;
		const uint32_t *restrict sets = nodes->taint_set + range.first;
		uint32_t count = range.count;
		uint32_t *restrict details = detail + range.first;
		for (uint32_t slot = 0; slot < count; slot++) {
			details[slot] = by_set[sets[slot]];
		}
	}
	bt_free(rejected);
	return any;
}

static bool score_column(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, int32_t *scores)
{
	const bt_toleration_list *prepared = data;
	const struct bt_node_table *nodes = &state->nodes;
	bool comparison = allow_comparison(plugin);
	bool any = false;

	if (range.slots != NULL) {
		for (uint32_t k = 0; k < range.count; k++) {
			const bt_taint_list *taints = bt_node_table_taints(nodes, range.slots[k]);
			int64_t found = count_intolerable_soft_taints(taints, prepared, comparison);
			scores[range.slots[k]] = (int32_t)found;
			any |= found != 0;
		}
		return any;
	}
	int32_t *counts = BT_NEW_ARRAY(int32_t, nodes->taint_sets.count);
	for (uint32_t i = 0; i < nodes->taint_sets.count; i++) {
		counts[i] = (int32_t)count_intolerable_soft_taints(
			&nodes->taint_sets.items[i].taints, prepared, comparison);
		any |= counts[i] != 0;
	}
	if (any) {
		for (uint32_t slot = 0; slot < range.count; slot++) {
			(scores + range.first)[slot] =
				counts[(nodes->taint_set + range.first)[slot]];
		}
	}
	bt_free(counts);
	return any;
}

static bool after_node_change(const struct bt_hint_call *call)
{
	const struct bt_node *old_node = call->old_object;
	const struct bt_node *new_node = call->new_object;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(call->pod);
	bool was_untolerated = old_node == NULL ||
		has_untolerated_hard_taint(call->plugin, &old_node->spec.taints, spec);

	if (was_untolerated &&
		!has_untolerated_hard_taint(call->plugin, &new_node->spec.taints, spec)) {
		return true;
	}
	return false;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_TAINT}, after_node_change},
	{{BT_RESOURCE_POD, BT_ACTION_UPDATE_POD_TOLERATION}, bt_hint_if_pod_itself},
};

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.columns_split = true,
	.hint_scope = BT_HINT_SCOPE_SHAPE,
	.filter_reads = BT_CHANGE_TAINTS,
	.filter_column = filter_column,
	.rejections = {{BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_UNTOLERATED_TAINT}},
	.score_reads = BT_CHANGE_TAINTS,
	.score_column = score_column,
};

const struct bt_plugin_ops bt_taint_toleration_plugin = {
	.name = "TaintToleration",
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = bt_sign_tolerations,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.normalize = BT_NORMALIZE_DEFAULT_REVERSE,
};
