/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PodTopologySpread (PreFilter, Filter, PreScore, Score): pods of a kind spread over zones and
 * hosts. Spec: 06 section 2. Many nodes at once: common_spread_columns.c, scoring:
 * common_spread_score.c, hints: common_spread_hints.c.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "plugins/common_plugin.h"
#include "plugins/common_spread.h"
#include "plugins/common_spread_plugin.h"
#include "plugins/common_spread_selectors.h"
#include "plugins/common_topology.h"
#include "plugins/in_tree.h"

/** Least count over no domain at all. */
#define LOW_OF_NOTHING INT64_C(2147483647)

static const struct bt_spread_plugin *instance_of(const struct bt_plugin *plugin)
{
	return (const struct bt_spread_plugin *)(const void *)plugin;
}

/* --- the least count --- */

/** Of a table that was counted by walking. */
static void find_lows(struct bt_spread_limit *limit)
{
	limit->low = LOW_OF_NOTHING;
	limit->low_count = 0;
	limit->second_low = LOW_OF_NOTHING;
	limit->domain_count = 0;
	for (uint32_t i = 1; i < limit->table.size; i++) {
		int64_t count = limit->table.counts[i];

		if (count == BT_SPREAD_NO_DOMAIN) {
			continue;
		}
		limit->domain_count++;
		if (count < limit->low) {
			limit->second_low = limit->low;
			limit->low = count;
			limit->low_count = 1;
		} else if (count == limit->low) {
			limit->low_count++;
		} else if (count < limit->second_low) {
			limit->second_low = count;
		}
	}
}

/* --- PreFilter --- */

/** Whether a node counts depends on a constraint's two policies alone: asked once for each of them.
 * A pod may have any number of constraints, and of terms of its affinity. */
struct node_verdicts {
	bool known[4];
	bool counts[4];
};

static bool counts_node(const struct bt_spread_filter_data *data, uint32_t index,
	const struct bt_state *state, uint32_t slot, struct node_verdicts *verdicts)
{
	const struct bt_spread_constraint *constraint = &data->list.items[index];
	uint32_t policies =
		(constraint->honors_affinity ? 1U : 0U) | (constraint->honors_taints ? 2U : 0U);

	if (!verdicts->known[policies]) {
		verdicts->known[policies] = true;
		verdicts->counts[policies] = bt_spread_counts_node(&data->list, index, state, slot);
	}
	return verdicts->counts[policies];
}

/** Section 2.7 to the letter: every pod of every eligible node. */
static void count_by_walking(struct bt_spread_filter_data *data, const struct bt_state *state,
	const struct bt_pod_info *pod, struct bt_arena *arena)
{
	const struct bt_snapshot *snapshot = &state->snapshot;
	bt_sym namespace_ = bt_symbol_find(&state->symbols, pod->namespace_);

	for (uint32_t i = 0; i < data->list.count; i++) {
		bt_spread_table_init(&data->limits[i].table, data->list.items[i].column,
			BT_SPREAD_NO_DOMAIN, arena);
	}
	for (uint32_t n = 0; n < snapshot->count; n++) {
		uint32_t slot = snapshot->list[n];

		if (!bt_spread_has_all_keys(&data->list, slot)) {
			continue;
		}
		struct node_verdicts verdicts = {0};
		for (uint32_t i = 0; i < data->list.count; i++) {
			const struct bt_spread_constraint *constraint = &data->list.items[i];
			int64_t *count;

			if (!counts_node(data, i, state, slot, &verdicts)) {
				continue;
			}
			count = &data->limits[i].table.counts[bt_topology_domain(
				constraint->column, slot)];
			*count = (*count == BT_SPREAD_NO_DOMAIN ? 0 : *count) +
				bt_spread_count_pods(
					state, &constraint->selector, namespace_, slot);
		}
	}
	for (uint32_t i = 0; i < data->list.count; i++) {
		find_lows(&data->limits[i]);
	}
}

static int64_t low_of(uint32_t least)
{
	return least == UINT32_MAX ? LOW_OF_NOTHING : least;
}

/** The same from counters; false when there are none for this pod. */
static bool count_by_counters(struct bt_spread_filter_data *data, struct bt_state *state,
	const struct bt_pod_info *pod, const struct bt_cycle_state *cycle)
{
	for (uint32_t i = 0; i < data->list.count; i++) {
		struct bt_spread_limit *limit = &data->limits[i];

		if (!bt_spread_count(state, &data->list, i, pod, true, &limit->table)) {
			return false;
		}
		limit->domain_count = limit->table.sums.eligible_count;
		limit->low = low_of(limit->table.sums.least);
		limit->low_count = limit->table.sums.least_count;
		limit->second_low = low_of(limit->table.sums.second_least);
		if (!cycle->borrows_counters) {
			bt_spread_table_own(&limit->table, cycle->arena);
		}
	}
	return true;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	const struct bt_spread_plugin *instance = instance_of(plugin);
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_spread_filter_data *data;
	struct bt_spread_list list;

	if (bt_spread_resolve(&instance->source, pod, BT_SPREAD_HARD, cycle->arena, &list, &err) !=
		0) {
		(void)bt_error_wrap(&err, 0, "get constraints from pod");
		return bt_status_from_error(cycle->arena, &err);
	}
	if (list.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	data = BT_ARENA_NEW(cycle->arena, struct bt_spread_filter_data);
	data->list = list;
	data->limits = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_spread_limit, list.count);
	for (uint32_t i = 0; i < list.count; i++) {
		data->limits[i].self_matches =
			bt_selector_matches(&list.items[i].selector, pod->labels);
	}
	if (cycle->plain || !count_by_counters(data, instance->source.state, pod, cycle)) {
		count_by_walking(data, instance->source.state, pod, cycle->arena);
	}
	bt_plugin_set_pre_filter_data(plugin, cycle, data);
	return BT_STATUS_OK;
}

static void *clone_pre_filter_data(const void *data, struct bt_arena *arena)
{
	const struct bt_spread_filter_data *source = data;
	struct bt_spread_filter_data *copy = BT_ARENA_NEW(arena, struct bt_spread_filter_data);

	*copy = *source;
	copy->changes = bt_domain_changes_clone(&source->changes, arena);
	return copy;
}

/**
 * Section 2.8: neither a deletion timestamp nor an empty selector is special here, unlike in
 * PreFilter.
 */
static void change_by_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_pod_info *other,
	const struct bt_node_info *node, int64_t delta)
{
	struct bt_spread_filter_data *data = cycle->pre_filter_data[plugin->index];

	if (data == NULL || !bt_str_equal(pod->namespace_, other->namespace_) ||
		!bt_spread_has_all_keys(&data->list, node->slot)) {
		return;
	}
	for (uint32_t i = 0; i < data->list.count; i++) {
		const struct bt_spread_constraint *constraint = &data->list.items[i];

		if (bt_selector_matches(&constraint->selector, other->labels) &&
			bt_spread_counts_node(&data->list, i, node->state, node->slot)) {
			(void)bt_domain_changes_add(&data->changes, cycle->arena, i,
				bt_topology_domain(constraint->column, node->slot),
				delta); /* the sum before matters to nobody */
		}
	}
}

static struct bt_status add_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_add,
	const struct bt_node_info *node)
{
	change_by_pod(plugin, cycle, pod_to_schedule, pod_to_add, node, 1);
	return BT_STATUS_OK;
}

static struct bt_status remove_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_remove,
	const struct bt_node_info *node)
{
	change_by_pod(plugin, cycle, pod_to_schedule, pod_to_remove, node, -1);
	return BT_STATUS_OK;
}

/* --- Filter --- */

int64_t bt_spread_count_at(
	const struct bt_spread_filter_data *data, uint32_t index, uint32_t domain)
{
	int64_t count = bt_spread_table_at(&data->limits[index].table, domain);

	return (count == BT_SPREAD_NO_DOMAIN ? 0 : count) +
		bt_domain_changes_sum(&data->changes, index, domain);
}

/** The least count when several domains changed, or one appeared. */
static int64_t low_by_scanning(
	const struct bt_spread_filter_data *data, uint32_t index, uint32_t *out_domain_count)
{
	const struct bt_spread_limit *limit = &data->limits[index];
	int64_t low = LOW_OF_NOTHING;

	for (uint32_t i = 1; i < limit->table.size; i++) {
		if (bt_spread_table_at(&limit->table, i) != BT_SPREAD_NO_DOMAIN) {
			int64_t count = bt_spread_count_at(data, index, i);
			low = count < low ? count : low;
		}
	}
	*out_domain_count = limit->domain_count;
	for (uint32_t i = 0; i < data->changes.count; i++) {
		const struct bt_domain_change *change = &data->changes.items[i];

		if (change->table == index &&
			bt_spread_table_at(&limit->table, change->domain) == BT_SPREAD_NO_DOMAIN) {
			low = change->delta < low ? change->delta : low;
			(*out_domain_count)++;
		}
	}
	return low;
}

/** min of section 2.7: the least count, or 0 with fewer domains than wanted. */
static int64_t least_count(const struct bt_spread_filter_data *data, uint32_t index)
{
	const struct bt_spread_limit *limit = &data->limits[index];
	uint32_t domain_count = limit->domain_count;
	int64_t low = limit->low;
	uint32_t changed = 0;
	bool appeared = false;

	for (uint32_t i = 0; i < data->changes.count; i++) {
		const struct bt_domain_change *change = &data->changes.items[i];

		if (change->table == index) {
			int64_t before = bt_spread_table_at(&limit->table, change->domain);
			bool was_lowest = before == limit->low && limit->low_count == 1;
			int64_t others = was_lowest ? limit->second_low : limit->low;
			int64_t count = bt_spread_count_at(data, index, change->domain);

			low = count < others ? count : others;
			appeared = appeared || before == BT_SPREAD_NO_DOMAIN;
			changed++;
		}
	}
	if (changed > 1 || appeared) {
		low = low_by_scanning(data, index, &domain_count);
	}
	return (int64_t)domain_count < data->list.items[index].min_domains ? 0 : low;
}

int64_t bt_spread_highest_count(const struct bt_spread_filter_data *data, uint32_t index)
{
	return (int64_t)data->list.items[index].max_skew - data->limits[index].self_matches +
		least_count(data, index);
}

static struct bt_status detail_status(uint32_t detail)
{
	if (detail == BT_SPREAD_NO_LABEL) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_TOPOLOGY_SPREAD_LABEL);
	}
	return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_TOPOLOGY_SPREAD);
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct bt_spread_filter_data *data = bt_plugin_pre_filter_data(plugin, cycle);

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("reading \"PreFilterPodTopologySpread\" from cycleState: not "
			       "found"));
	}
	for (uint32_t i = 0; i < data->list.count; i++) {
		uint32_t domain = bt_topology_domain(data->list.items[i].column, node->slot);

		if (domain == 0) {
			return detail_status(BT_SPREAD_NO_LABEL);
		}
		if (bt_spread_count_at(data, i, domain) > bt_spread_highest_count(data, i)) {
			return detail_status(BT_SPREAD_SKEW);
		}
	}
	return BT_STATUS_OK;
}

static struct bt_status filter_detail_status(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const void *data, BT_UNUSED const struct bt_pod_info *pod, uint32_t detail,
	BT_UNUSED struct bt_arena *arena)
{
	return detail_status(detail);
}

/* --- the rest --- */

static bool never_signs(const struct bt_plugin *plugin)
{
	return instance_of(plugin)->source.default_count != 0;
}

static struct bt_status sign(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	BT_UNUSED struct bt_sign_fragments *out)
{
	if (bt_plugin_pod_spec(pod)->topology_spread_constraints.count > 0) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_TOPOLOGY_CONSTRAINTS);
	}
	if (instance_of(plugin)->source.default_count != 0) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_DEFAULT_TOPOLOGY_CONSTRAINTS);
	}
	return BT_STATUS_OK;
}

static int create(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	struct bt_spread_plugin *instance;
	int code = bt_plugin_args_expect(
		args, BT_ARGS_POD_TOPOLOGY_SPREAD, "want args to be of type", handle, err);

	if (code != 0) {
		return code;
	}
	instance = BT_NEW(struct bt_spread_plugin);
	instance->base.ops = &bt_pod_topology_spread_plugin;
	instance->handle = handle;
	instance->system_defaulted =
		bt_str_equal_c(args->pod_topology_spread.defaulting_type, "System");
	instance->source = (struct bt_spread_source){
		.state = handle->state,
		.selectors = bt_spread_selectors_create(),
		.gates = handle->gates,
		.defaults = args->pod_topology_spread.default_constraints.items,
		.default_count = args->pod_topology_spread.default_constraints.count,
	};
	if (instance->system_defaulted) {
		instance->source.defaults = bt_spread_system_defaults;
		instance->source.default_count = BT_ARRAY_LENGTH(bt_spread_system_defaults);
	}
	*out_plugin = &instance->base;
	return 0;
}

static void destroy(struct bt_plugin *plugin)
{
	struct bt_spread_plugin *instance = (struct bt_spread_plugin *)plugin;

	bt_spread_selectors_destroy(instance->source.selectors);
	bt_vec_finish(&instance->verdicts);
	bt_free(instance);
}

const struct bt_plugin_ops bt_pod_topology_spread_plugin = {
	.name = "PodTopologySpread",
	.create = create,
	.destroy = destroy,
	.hint_scope_of = bt_spread_hint_scope,
	.events_to_register = bt_spread_events_to_register,
	.sign = sign,
	.never_signs = never_signs,
	.pre_filter = pre_filter,
	.pre_filter_add_pod = add_pod,
	.pre_filter_remove_pod = remove_pod,
	.clone_pre_filter_data = clone_pre_filter_data,
	.filter = filter,
	.pre_score = bt_spread_pre_score,
	.pre_score_skips = bt_spread_pre_score_skips,
	.score = bt_spread_score,
	.normalize = BT_NORMALIZE_CUSTOM,
	.normalize_score = bt_spread_normalize_score,
	.columns_per_cycle = true,
	.filter_column = bt_spread_filter_column,
	.filter_detail_status = filter_detail_status,
	.score_slots = bt_spread_score_slots,
	.normalize_column = bt_spread_normalize_column,
	.cell_traits = bt_spread_cell_traits,
	.pre_score_cells = bt_spread_pre_score_cells,
};
